"""Files that are no versioned HDF5 files, and trees of versions that make no history."""

import h5py

from ..package import Writer
from .folder import SHAPE, VALUES, Broken, sound, whole


def containers(broken: Broken) -> None:
    """Files that are no HDF5 files, or no versioned ones."""
    broken.add("not-hdf5", "a text file", "open", "not-hdf5.h5").write_text("version,dataset\n" * 200)
    broken.add("no-bytes", "an empty file", "open", "no-bytes.h5").write_bytes(b"")
    broken.add("signature-only", "eight bytes", "open", "signature-only.h5").write_bytes(b"\x89HDF\r\n\x1a\n")
    with sound(broken.folder / "whole.h5") as made:
        made.link_mappings("bad", "data", SHAPE, whole(made))
    content = (broken.folder / "whole.h5").read_bytes()
    (broken.folder / "whole.h5").unlink()
    for name, size in {
        "in-superblock": 48,
        "quarter": len(content) // 4,
        "half": len(content) // 2,
        "last-byte": len(content) - 1,
    }.items():
        path = broken.add(f"truncated-{name}", f"cut after {size} bytes", "open", f"truncated-{name}.h5")
        path.write_bytes(content[:size])
    with h5py.File(
        broken.add("not-versioned", "a plain HDF5 file", "open", "not-versioned.h5", "version"), "w"
    ) as plain:
        plain["data"] = VALUES
    with h5py.File(
        broken.add("no-versions-group", "no versions group", "open", "no-versions-group.h5", "version"), "w"
    ) as plain:
        plain.create_group("_version_data/data")
    with h5py.File(
        broken.add("versions-is-a-dataset", "a dataset named versions", "open", "versions-is-a-dataset.h5"), "w"
    ) as plain:
        plain["_version_data/versions"] = VALUES


def data_versions(broken: Broken) -> None:
    for number in (0, 2, 3, 5, -4):
        path = broken.add(f"data-version-{number}", f"data_version {number}", "open", "data_version", str(number))
        with Writer(path) as writer:
            with writer.stage("sound") as group:
                group.create_dataset("intact", data=VALUES, chunks=(4,))
            writer.file["_version_data/versions"].attrs["data_version"] = number
    path = broken.add("data-version-text", "data_version is text", "open", "data_version")
    with sound(path) as made:
        made.versions.attrs["data_version"] = "four"


def version_tree(broken: Broken) -> None:
    with sound(broken.add("no-current-version", "no attribute current_version", "current", "current_version")) as made:
        del made.versions.attrs["current_version"]
    with sound(broken.add("current-version-missing", "current_version names no version", "current", "nowhere")) as made:
        made.versions.attrs["current_version"] = "nowhere"
    with sound(
        broken.add("current-version-number", "current_version is a number", "current", "current_version")
    ) as made:
        made.versions.attrs["current_version"] = 7
    with sound(
        broken.add("no-prev-version", "a version without prev_version", "parent", "bad", "prev_version")
    ) as made:
        del made.versions["bad"].attrs["prev_version"]
    with sound(broken.add("dangling-parent", "prev_version names no version", "parent", "bad", "nowhere")) as made:
        made.versions["bad"].attrs["prev_version"] = "nowhere"
    with sound(broken.add("cyclic-parents", "two versions are each other's parent", "history", "bad")) as made:
        made.versions["sound"].attrs["prev_version"] = "bad"
    with sound(broken.add("own-parent", "a version is its own parent", "history", "bad")) as made:
        made.versions["bad"].attrs["prev_version"] = "bad"
    with sound(broken.add("not-committed", "a version staged and never committed", "version", "bad", "commit")) as made:
        made.versions["bad"].attrs["committed"] = False
    with sound(broken.add("version-is-a-dataset", "a dataset where a version should be", "version", "bad")) as made:
        del made.versions["bad"]
        made.versions["bad"] = VALUES
