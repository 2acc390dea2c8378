"""Files that h5strata has given other settings, as versioned-hdf5 sees them.

rewritten.py make FILE            versions of strings, strings of fixed length, floats with an attribute, integers
rewritten.py check OLD NEW CHANGES
                                  the versions of NEW are those of OLD, changed as CHANGES says: JSON, for each dataset
                                  {dtype, chunks, fill, compression, compression_opts, shuffle, fletcher32}, all of them
                                  optional; then versions are added to NEW and deleted from it
"""

import datetime
import json
import sys
from typing import Any

import h5py
import numpy as np
from versioned_hdf5 import VersionedHDF5File, delete_versions

START = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)


def make(path: str) -> None:
    """Three versions in a row, a branch, and one with another shape."""
    with h5py.File(path, "w") as opened:
        file = VersionedHDF5File(opened)
        with file.stage_version("r0", timestamp=START) as version:
            strings = np.array(["one", "", "two"], dtype=object)
            version.create_dataset("text", data=strings, chunks=(2,), dtype=h5py.string_dtype())
            version.create_dataset("fixed", data=np.array([b"abcd", b"", b"x", b"yz"], dtype="S4"), chunks=(2,))
            floats = version.create_dataset("floats", data=np.arange(6.0), chunks=(2,), fillvalue=2.0)
            floats.attrs["units"] = "metres"
            packed = np.arange(60).reshape(6, 10) // 7
            version.create_dataset(
                "group/packed", data=packed, chunks=(4, 4), compression="gzip", compression_opts=3, shuffle=True
            )
        for number, parent in ((1, "r0"), (2, "r1"), (3, "r1")):
            stamp = START + datetime.timedelta(hours=number)
            with file.stage_version(f"r{number}", prev_version=parent, timestamp=stamp) as version:
                version["text"].resize((3 + number,))
                version["text"][number] = "w" * number
                version["fixed"][number] = b"new"
                version["floats"].resize((6 + 3 * number,))
                version["floats"][number] = -float(number)
                version["group/packed"][number, 2:7] = 100 + number
        stamp = START + datetime.timedelta(hours=4)
        with file.stage_version("r4", prev_version="r3", timestamp=stamp) as version:
            version["group/packed"].resize((9, 7))
            version["floats"].resize((0,))


def names(opened: h5py.File) -> list[str]:
    """All versions, in order of time."""
    versions = opened["_version_data/versions"]
    found = [name for name in versions if name != "__first_version__"]
    return sorted(found, key=lambda name: str(versions[name].attrs["timestamp"]))


def datasets(group: Any) -> list[str]:
    """Paths of all datasets of a version."""
    found: list[str] = []
    group.visititems(lambda path, thing: found.append(path) if not hasattr(thing, "visititems") else None)
    return found


def contents(path: str) -> dict[str, dict[str, Any]]:
    """Values, chunk shape, fill value and attributes of each dataset of each version."""
    found: dict[str, dict[str, Any]] = {}
    with h5py.File(path, "r") as opened:
        file = VersionedHDF5File(opened)
        for name in names(opened):
            for dataset in datasets(file[name]):
                stored = opened[f"_version_data/versions/{name}/{dataset}"]
                raw_data = opened[stored.attrs["raw_data"]]
                found.setdefault(name, {})[dataset] = (
                    np.asarray(file[name][dataset][:]),
                    tuple(int(edge) for edge in stored.attrs["chunks"]),
                    raw_data.fillvalue,
                    {key: stored.attrs[key] for key in stored.attrs if key not in ("raw_data", "chunks")},
                )
    return found


def expected(old: np.ndarray[Any, Any], fill: Any, change: dict[str, Any]) -> np.ndarray[Any, Any]:
    """Values after a change."""
    new = old.astype(change["dtype"]) if "dtype" in change else old.copy()
    if "fill" in change:
        new[old == fill] = change["fill"]
    return new


def same(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    """Whether arrays have one type, one shape and equal values, NaNs too."""
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    return bool(np.array_equal(one, other, equal_nan=one.dtype.kind in "fc"))


def check_filters(path: str, changes: dict[str, dict[str, Any]], old_path: str) -> None:
    """The filters of the stored chunks are those that were asked for, and the others those that were."""
    with h5py.File(path, "r") as new, h5py.File(old_path, "r") as old:
        for dataset, change in changes.items():
            stored, before = (file[f"_version_data/{dataset}/raw_data"] for file in (new, old))
            for name in ("compression", "compression_opts", "shuffle", "fletcher32"):
                wanted = change.get(name, getattr(before, name))
                assert getattr(stored, name) == wanted, (dataset, name, getattr(stored, name), wanted)
            assert tuple(stored.attrs["chunks"]) == stored.chunks, dataset


def check(old_path: str, new_path: str, changes: dict[str, dict[str, Any]]) -> None:
    """Compares all versions, and goes on with the new file."""
    old = contents(old_path)
    wanted: dict[str, dict[str, Any]] = {}
    for name, found in old.items():
        for dataset, (values, chunks, fill, attributes) in found.items():
            change = changes.get(dataset, {})
            new_fill = change.get("fill", fill)
            wanted.setdefault(name, {})[dataset] = (
                expected(values, fill, change),
                tuple(change.get("chunks", chunks)),
                new_fill,
                attributes,
            )
    compare(contents(new_path), wanted)
    check_filters(new_path, changes, old_path)
    # The next versions.
    with h5py.File(new_path, "r+") as opened:
        file = VersionedHDF5File(opened)
        last = file.current_version
        for number in range(2):
            with file.stage_version(f"next {number}") as version:
                for dataset in datasets(version):
                    data = version[dataset]
                    shape = list(data.shape)
                    data.resize((shape[0] + 1, *shape[1:]))
                    data[-1] = data[0] if shape[0] else data.fillvalue
    for number in range(2):
        source = wanted[last if number == 0 else f"next {number - 1}"]
        grown = {}
        for dataset, (values, chunks, fill, attributes) in source.items():
            row = values[:1] if len(values) else np.full((1, *values.shape[1:]), fill, dtype=values.dtype)
            grown[dataset] = (np.concatenate([values, row]).astype(values.dtype), chunks, fill, attributes)
        wanted[f"next {number}"] = grown
    compare(contents(new_path), wanted)
    # Versions that go.
    with h5py.File(new_path, "r+") as opened:
        delete_versions(opened, ["r0", "r2", "next 0"])
    for name in ("r0", "r2", "next 0"):
        del wanted[name]
    compare(contents(new_path), wanted)


def compare(found: dict[str, dict[str, Any]], wanted: dict[str, dict[str, Any]]) -> None:
    """Compares what two files hold."""
    assert found.keys() == wanted.keys(), (found.keys(), wanted.keys())
    for name, version in wanted.items():
        assert found[name].keys() == version.keys(), name
        for dataset, (values, chunks, fill, attributes) in version.items():
            data, found_chunks, found_fill, found_attributes = found[name][dataset]
            assert same(data, values), (name, dataset, data, values)
            assert found_chunks == chunks, (name, dataset, found_chunks)
            assert same(np.asarray(found_fill), np.asarray(fill).astype(np.asarray(found_fill).dtype)), (
                name,
                dataset,
                found_fill,
                fill,
            )
            assert found_attributes == attributes, (name, dataset, found_attributes)


def main() -> None:
    command, *arguments = sys.argv[1:]
    if command == "make":
        make(arguments[0])
    elif command == "check":
        check(arguments[0], arguments[1], json.loads(arguments[2]))
    else:
        sys.exit(f"no command {command}")


if __name__ == "__main__":
    main()
