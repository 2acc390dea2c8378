# Sourced by every script: where the project is, and its own tools first on PATH.
# shellcheck shell=bash

H5STRATA_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
H5STRATA_VENV=$H5STRATA_ROOT/.venv
H5STRATA_TOOLS=$H5STRATA_ROOT/target/tools
export H5STRATA_ROOT
# What is built is looked for here, whatever the caller's own settings for Cargo are.
export CARGO_TARGET_DIR=$H5STRATA_ROOT/target
# What the scripts build they build once: notes for the next build would only take room.
export CARGO_INCREMENTAL=${CARGO_INCREMENTAL-0}
export PATH=$H5STRATA_VENV/bin:$H5STRATA_TOOLS/bin:$PATH

# Prints the pinned requirement (NAME==VERSION) of each package named.
pinned() {
    local name
    for name in "$@"; do
        grep "^$name==" "$H5STRATA_ROOT/scripts/requirements.txt" ||
            { echo "scripts/requirements.txt pins no $name" >&2; return 1; }
    done
}

# Installs pinned packages into the project's virtual environment; those that are there are left alone.
# Usage: install_pinned [PIP OPTION...] -- NAME...
install_pinned() {
    local options=() wanted missing=() requirement
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    wanted=$(pinned "$@") || return 1
    for requirement in $wanted; do
        "$H5STRATA_VENV/bin/python" - "$requirement" <<'PY' || missing+=("$requirement")
import sys
from importlib.metadata import PackageNotFoundError, version

name, wanted = sys.argv[1].split("==")
try:
    sys.exit(version(name) != wanted)
except PackageNotFoundError:
    sys.exit(1)
PY
    done
    if [ ${#missing[@]} -gt 0 ]; then
        echo "installing into .venv: ${missing[*]}"
        "$H5STRATA_VENV/bin/python" -m pip install --quiet --disable-pip-version-check "${options[@]}" "${missing[@]}"
    fi
}
