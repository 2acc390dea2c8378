"""SHA-256 of the values of every dataset in every version, as plain h5py reads them.

The same lines as `h5strata digest --json` prints, by an independent way: values in C order and file byte order;
of variable-length strings each element's byte length as u64 little-endian, then its bytes.
"""

import argparse
import hashlib
import json
import struct
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import h5py
import hdf5plugin  # noqa: F401  registers its filters with libhdf5

VERSIONS = "_version_data/versions"
FIRST_VERSION = "__first_version__"

Digests = dict[tuple[str, str], dict[str, Any]]


def digest_values(dataset: h5py.Dataset) -> tuple[str, str]:
    """The type in NumPy's words and the digest of the values."""
    digest = hashlib.sha256()
    if h5py.check_string_dtype(dataset.dtype) and dataset.dtype.kind == "O":
        for element in dataset[()].reshape(-1):
            digest.update(struct.pack("<Q", len(element)))
            digest.update(element)
        return "str", digest.hexdigest()
    digest.update(dataset[()].tobytes())
    return "compound" if dataset.dtype.names else dataset.dtype.str, digest.hexdigest()


def datasets_below(group: h5py.Group) -> Iterator[h5py.Dataset]:
    """Every dataset of a group and of the groups in it."""
    for item in group.values():
        if isinstance(item, h5py.Group):
            yield from datasets_below(item)
        elif isinstance(item, h5py.Dataset):
            yield item


def digests(path: Path) -> Iterator[dict[str, Any]]:
    """One record a version and dataset."""
    with h5py.File(path, "r") as file:
        for version, group in file[VERSIONS].items():
            if version == FIRST_VERSION:
                continue
            for dataset in datasets_below(group):
                dtype, sha256 = digest_values(dataset)
                yield {
                    "version": version,
                    "dataset": dataset.name.removeprefix(f"{group.name}/"),
                    "shape": list(dataset.shape),
                    "dtype": dtype,
                    "sha256": sha256,
                }


def keyed(records: Iterable[dict[str, Any]]) -> Digests:
    """Records by version and dataset, so that neither their order nor that of their fields counts."""
    return {(record["version"], record["dataset"]): record for record in records}


def differences(ours: Digests, theirs: Digests) -> list[str]:
    """What one side has otherwise than the other, one sentence each."""
    return [
        f"{version} {dataset}: h5py {ours.get((version, dataset))}, given {theirs.get((version, dataset))}"
        for version, dataset in sorted(ours.keys() | theirs.keys())
        if ours.get((version, dataset)) != theirs.get((version, dataset))
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--against", metavar="LINES", help="compare with these JSON lines (- for standard input)")
    arguments = parser.parse_args()

    if arguments.against is None:
        for record in digests(arguments.file):
            print(json.dumps(record))
        return 0

    text = sys.stdin.read() if arguments.against == "-" else Path(arguments.against).read_text()
    theirs = keyed(json.loads(line) for line in text.splitlines())
    ours = keyed(digests(arguments.file))
    faults = differences(ours, theirs)
    for fault in faults:
        print(fault, file=sys.stderr)
    if not ours:
        print(f"{arguments.file}: no dataset in any version", file=sys.stderr)
        return 1
    if not faults:
        print(f"{arguments.file}: all {len(ours)} digests equal to h5py's")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
