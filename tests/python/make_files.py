"""Writes versioned HDF5 files for the interop tests, with what plain h5py reads from each.

usage: make_files.py DIRECTORY
       make_files.py DIRECTORY FILE...

With FILEs, these are copied and described in place of files that are made here.

Files are made into a subdirectory named after a hash of these sources, of the packages' versions and of the given
files, and only when it is not there yet; its path is the one line on standard output. It takes the place of those that
other sources, packages or contents of files of the same names led to. Processes that ask at the same time wait for the
first.

Beside NAME.h5 stand NAME.jsonl (a digest of each dataset of each version), NAME.reads.json (selections and the digest
of their answers) and NAME.meta.json (versions, datasets, attributes). broken/manifest.json lists the broken files.

Two runs differ only in the timestamp of the first, hidden version, and in padding bytes inside elements.
"""

import fcntl
import hashlib
import json
import multiprocessing
import shutil
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from interop.registry import Read

PACKAGES = ["h5py", "hdf5plugin", "numpy", "versioned-hdf5"]
SOURCES = Path(__file__).parent


def main(arguments: list[str]) -> int:
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    root, *given = map(Path, arguments)
    root.mkdir(parents=True, exist_ok=True)
    kind = f"described-{key_of_names(given)}" if given else "made"
    finished = root / f"{kind}-{key(given)}"
    with (root / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not finished.exists():
            scratch = root / "unfinished"
            for old in [scratch, *root.glob(f"{kind}-*")]:
                shutil.rmtree(old, ignore_errors=True)
            scratch.mkdir()
            if given:
                describe_copies(given, scratch)
            else:
                make(scratch)
            scratch.rename(finished)
    print(finished)
    return 0


def key_of_names(given: list[Path]) -> str:
    """A name for files of these names, whatever is in them."""
    return hashlib.sha256(b"\0".join(path.name.encode() for path in given)).hexdigest()[:8]


def key(given: list[Path]) -> str:
    """A name for what these sources and packages write about the files that are given."""
    sha = hashlib.sha256()
    for path in given:
        sha.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    for path in sorted(SOURCES.rglob("*.py")):
        if "histories" in path.relative_to(SOURCES).parts:
            # They make files of their own.
            continue
        sha.update(str(path.relative_to(SOURCES)).encode() + b"\0" + path.read_bytes() + b"\0")
    for package in PACKAGES:
        sha.update(f"{package} {version(package)}\0".encode())
    return sha.hexdigest()[:16]


def describe_copies(given: list[Path], scratch: Path) -> None:
    """Copy files that come from elsewhere, and write their answers beside the copies."""
    for path in given:
        copy = scratch / path.name
        shutil.copyfile(path, copy)
        describe(copy)


def make(scratch: Path) -> None:
    """Make all files."""
    # Imported late: loading the packages takes longer than finding the files already there.
    from interop import (  # noqa: F401
        dtypes,
        encodings,
        filters,
        history,
        layouts,
        measured,
        random_datasets,
        reports,
        shapes,
    )
    from interop.broken.make import make as make_broken
    from interop.registry import FILES

    began = time.monotonic()
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("fork")) as pool:
        list(pool.map(make_one, [scratch / f"{name}.h5" for name in FILES]))
    make_broken(scratch / "broken")
    print(f"made {len(FILES)} files in {time.monotonic() - began:.1f} s", file=sys.stderr)


def make_one(path: Path) -> None:
    """Make the file that is registered under the path's name, and its answers."""
    from interop.registry import FILES

    entry = FILES[path.stem]
    entry.maker(path)
    describe(path, entry.reads)


def describe(path: Path, asked: "tuple[Read, ...]" = ()) -> None:
    """Write the answers that belong to a file beside it: all values, random reads, and those that are `asked` for."""
    import h5py

    from interop import oracle, selections

    lines, reads = [], []
    # A copy, opened for writing: HDF5 cannot read variable-length strings with a fill value from a read-only file.
    copy = path.with_suffix(".copy")
    shutil.copyfile(path, copy)
    with h5py.File(copy, "r+") as file:
        for name in oracle.versions(file):
            group = file["_version_data/versions"][name]
            for dataset_path in oracle.datasets(group):
                dataset = group[dataset_path]
                values = oracle.read_values(dataset)
                lines.append(
                    {
                        "version": name,
                        "dataset": dataset_path,
                        "shape": list(dataset.shape),
                        "dtype": oracle.dtype_text(dataset.dtype),
                        "sha256": oracle.digest(values),
                    }
                )
                reads += selections.reads(name, dataset_path, values)
                reads += [
                    selections.read(name, dataset_path, values, axes)
                    for version_name, path_, axes in asked
                    if (version_name, path_) == (name, dataset_path)
                ]
        meta = oracle.metadata(file)
    copy.unlink()
    path.with_suffix(".jsonl").write_text("".join(json.dumps(line, sort_keys=True) + "\n" for line in lines))
    path.with_suffix(".reads.json").write_text(json.dumps(reads, indent=1) + "\n")
    path.with_suffix(".meta.json").write_text(json.dumps(meta, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
