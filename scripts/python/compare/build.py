"""Builds the engine and the C programs, and finds where Cargo has put them."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = "h5strata-benches"
ENGINE = "h5strata-engine"


@dataclass(frozen=True)
class Programs:
    """Where the built programs are."""

    engine: Path | None
    c_folder: Path


def build() -> Programs:
    """Builds in release mode, with the bundled libhdf5 for all of them."""
    command = ["cargo", "build", "--release", "--locked", "--package", PACKAGE]
    output = subprocess.run(
        [*command, "--message-format=json-render-diagnostics"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    engine = c_folder = None
    for message in map(json.loads, output.splitlines()):
        if PACKAGE not in message.get("package_id", ""):
            continue
        if message["reason"] == "build-script-executed":
            c_folder = Path(message["out_dir"]) / "bin"
        elif message["reason"] == "compiler-artifact" and message["target"]["name"] == ENGINE:
            engine = Path(message["executable"])
    assert c_folder is not None, f"{PACKAGE} has a build script"
    return Programs(engine, c_folder)
