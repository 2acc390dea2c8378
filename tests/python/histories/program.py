"""Steps of a history by h5strata's command line."""

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from .model import Step


class ProgramError(Exception):
    """The program said no to what it must be able to do."""


def write_ops(ops: list[dict[str, Any]], directory: Path) -> Path:
    """The JSON of operations, with arrays as .npy files beside it."""
    out = []
    for number, op in enumerate(ops):
        op = dict(op)
        if "array" in op:
            name = f"{number}.npy"
            np.save(directory / name, op.pop("array"), allow_pickle=False)
            op["npy"] = name
            if op["op"] == "create":
                del op["dtype"]
        out.append(op)
    path = directory / "ops.json"
    path.write_text(json.dumps(out, ensure_ascii=False))
    return path


def apply(program: Path, path: Path, steps: list[Step]) -> None:
    """Does steps on a file, which is made if there is none: one run of the program each."""
    if not path.exists():
        run(program, "init", path)
    for step in steps:
        match step["step"]:
            case "version":
                pass
            case "delete":
                run(program, "delete", path, *step["versions"])
                continue
            case "repack":
                run(program, "repack", path)
                continue
            case "rewrite":
                run(program, "rewrite", path, step["dataset"], *_settings(step))
                continue
            case other:
                raise NotImplementedError(other)
        with tempfile.TemporaryDirectory() as directory:
            ops = write_ops(step["ops"], Path(directory))
            options: list[str] = []
            if step["parent"] is not None:
                options += ["--parent", step["parent"]]
            if step["timestamp"] is not None:
                options += ["--timestamp", step["timestamp"]]
            if not step["make_current"]:
                options += ["--no-current"]
            run(program, "commit", path, step["name"], "--ops", ops, "--json", *options)


def _settings(step: Step) -> list[str]:
    """The options of a rewrite."""
    options: list[str] = []
    if "chunks" in step:
        options += ["--chunks", ",".join(map(str, step["chunks"]))]
    if "dtype" in step:
        options += ["--dtype", step["dtype"]]
    if "fill" in step:
        fill = step["fill"]
        options += ["--fill", fill if isinstance(fill, str) else json.dumps(fill)]
    if "filters" in step:
        options += ["--filters", json.dumps(step["filters"])]
    return options


def run(program: Path, *arguments: str | Path) -> str:
    """What the program prints."""
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ProgramError(f"{' '.join(map(str, arguments))}: exit code {done.returncode}: {done.stderr.strip()}")
    return done.stdout
