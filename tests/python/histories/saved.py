"""Histories in directories: `history.json`, with arrays as .npy files beside it."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from .model import Step


def save(steps: list[Step], directory: Path) -> None:
    """Writes a history, over any other there."""
    directory.mkdir(parents=True, exist_ok=True)
    count = 0
    out = []
    for step in steps:
        step = dict(step)
        if "ops" in step:
            step["ops"] = [dict(op) for op in step["ops"]]
        for op in step.get("ops", []):
            if "array" in op:
                op["npy"] = f"{count}.npy"
                np.save(directory / op["npy"], op.pop("array"), allow_pickle=False)
                count += 1
        out.append(step)
    (directory / "history.json").write_text(json.dumps(out, indent=1, ensure_ascii=False))


def load(directory: Path) -> list[Step]:
    """Reads a history."""
    steps: list[dict[str, Any]] = json.loads((directory / "history.json").read_text())
    for step in steps:
        for op in step.get("ops", []):
            if "npy" in op:
                op["array"] = np.load(directory / op.pop("npy"), allow_pickle=False)
    return steps
