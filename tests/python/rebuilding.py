"""What is done to files, and looked at in them, around deleting versions and repacking.

python rebuilding.py STEP FILE [ARGUMENT...]
"""

import sys
from pathlib import Path

import h5py
import numpy as np

CORNER = 5
HIDDEN = [1234567890123, 1234567890124, 1234567890125]


def fill_padding(path: str) -> None:
    """Puts values into the padding of the chunk whose one element is 5, as old versions of versioned-hdf5 left them."""
    with h5py.File(path, "r+") as file:
        raw = file["_version_data/x/raw_data"]
        (row,) = [row for row in range(0, raw.shape[0], 2) if raw[row, 0] == CORNER]
        raw[row : row + 2, :] = [[CORNER, HIDDEN[0]], HIDDEN[1:]]


def check_padding(path: str) -> None:
    """Checks that nothing of it is left."""
    with h5py.File(path, "r") as file:
        values = file["_version_data/x/raw_data"][()]
        assert not set(HIDDEN) & set(values.ravel().tolist()), values


def add_beside(path: str) -> None:
    """Puts objects and attributes beside those of the format."""
    with h5py.File(path, "r+") as file:
        file.attrs["title"] = "prices"
        file["plain/values"] = np.arange(10)
        file["plain/words"] = ["one", "two"]
        file["plain"].attrs["unit"] = "EUR"
        file["soft"] = h5py.SoftLink("/plain/values")
        file["away"] = h5py.ExternalLink("other.h5", "/x")
        data = file["_version_data"]
        data.attrs["ours"] = 0
        data["x"].attrs["ours"] = 1
        data["x/raw_data"].attrs["ours"] = 2
        data["versions"].attrs["ours"] = 3


def check_beside(path: str) -> None:
    """Checks that they are there."""
    with h5py.File(path, "r") as file:
        assert file.attrs["title"] == "prices"
        assert list(file["plain/values"]) == list(range(10))
        assert list(file["plain/words"].asstr()) == ["one", "two"]
        assert file["plain"].attrs["unit"] == "EUR"
        assert file.get("soft", getlink=True).path == "/plain/values"
        link = file.get("away", getlink=True)
        assert (link.filename, link.path) == ("other.h5", "/x")
        data = file["_version_data"]
        found = [one.attrs["ours"] for one in (data, data["x"], data["x/raw_data"], data["versions"])]
        assert found == [0, 1, 2, 3], found


def add_reference(path: str) -> None:
    """Has an attribute refer to an object."""
    with h5py.File(path, "r+") as file:
        file["plain"] = [1, 2]
        file["plain"].attrs["to"] = file["_version_data"].ref


def add_user_block(path: str) -> None:
    """Puts a user block in front of a file."""
    file = Path(path)
    file.write_bytes(b"a user's block, " * 64 + file.read_bytes())


def leave_behind(path: str) -> None:
    """Leaves what stopped writers leave: chunks without versions, and a version that was never committed."""
    with h5py.File(path, "r+") as file:
        raw = file["_version_data/x/raw_data"]
        raw.resize(raw.shape[0] + 30, axis=0)
        raw[-30:] = 123456789
        left = file["_version_data/versions"].create_group("left")
        left.attrs["prev_version"] = "r19"
        left.attrs["committed"] = False


def continue_with_package(path: str, deleted: str) -> None:
    """Reads everything with versioned-hdf5 and compares it with HDF5's own view, then commits and deletes a version."""
    from versioned_hdf5 import VersionedHDF5File, delete_versions

    def datasets(group: h5py.Group) -> list[str]:
        found: list[str] = []
        group.visititems(lambda name, one: found.append(name) if isinstance(one, h5py.Dataset) else None)
        return found

    with h5py.File(path, "r+") as file:
        versions = VersionedHDF5File(file)
        plain = file["_version_data/versions"]
        names = [name for name in plain if name != "__first_version__"]
        for name in names:
            for dataset in datasets(plain[name]):
                np.testing.assert_array_equal(versions[name][dataset][()], plain[name][dataset][()])
        with versions.stage_version("by the package") as stage:
            for dataset in datasets(plain[versions.current_version]):
                if stage[dataset].ndim == 1:
                    stage[dataset].resize((stage[dataset].shape[0] + 3,))
        if deleted in names:
            delete_versions(file, [deleted])


if __name__ == "__main__":
    globals()[sys.argv[1].replace("-", "_")](*sys.argv[2:])
