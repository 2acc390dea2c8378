"""Writes all broken files and their manifest."""

import json
from pathlib import Path

from .chunks import stored_chunks
from .containers import containers, data_versions, version_tree
from .folder import Broken
from .mappings import mappings, patched_mappings
from .storage import attributes, storage

KINDS = [containers, data_versions, version_tree, storage, attributes, mappings, patched_mappings, stored_chunks]


def make(folder: Path) -> None:
    """Write all broken files and their manifest into a new folder."""
    broken = Broken(folder)
    for kind in KINDS:
        kind(broken)
    (folder / "manifest.json").write_text(json.dumps(broken.rows, indent=1) + "\n")
