"""Builds the engine, the C programs and the command line, and finds where Cargo has put them."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = "h5strata-benches"
ENGINE = "h5strata-engine"
CLI = "h5strata"


@dataclass(frozen=True)
class Programs:
    """Where the built programs are."""

    engine: Path | None
    c_folder: Path
    cli: Path | None


def built(*what: str) -> list[dict[str, Any]]:
    """Builds in release mode; what Cargo tells of it."""
    command = ["cargo", "build", "--release", "--locked", *what, "--message-format=json-render-diagnostics"]
    output = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [json.loads(line) for line in output.splitlines()]


def build(with_cli: bool = False) -> Programs:
    """Builds with the bundled libhdf5 for all of them; the command line where it is wanted."""
    engine = c_folder = cli = None
    for message in built("--package", PACKAGE):
        if PACKAGE not in message.get("package_id", ""):
            continue
        if message["reason"] == "build-script-executed":
            c_folder = Path(message["out_dir"]) / "bin"
        elif message["reason"] == "compiler-artifact" and message["target"]["name"] == ENGINE:
            engine = Path(message["executable"])
    assert c_folder is not None, f"{PACKAGE} has a build script"
    for message in built("--package", CLI, "--bin", CLI) if with_cli else ():
        if message["reason"] == "compiler-artifact" and message["target"]["name"] == CLI and message["executable"]:
            cli = Path(message["executable"])
    return Programs(engine, c_folder, cli)
