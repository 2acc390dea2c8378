"""Mapping lists that make no chunk map."""

from collections.abc import Callable

from h5py import h5s

from ..handmade import Mapped, block, plain_mappings
from ..patch import patch_mappings
from .folder import RIGHT, SHAPE, SOURCE, Broken, sound, whole


def mappings(broken: Broken) -> None:
    """Mapping lists that HDF5 writes, and that make no chunk map."""

    def linked(name: str, wrong: str, change: Callable[[list[Mapped]], list[Mapped]], *says: str, **row: str) -> None:
        with sound(broken.add(name, wrong, "read", "data", *says, **row)) as made:
            made.link_mappings("bad", "data", SHAPE, change(whole(made)))

    def second(**changes: object) -> Callable[[list[Mapped]], list[Mapped]]:
        """The middle mapping with another virtual selection, file, dataset or source selection."""

        def change(right: list[Mapped]) -> list[Mapped]:
            fields = dict(zip(("virtual", "file", "dataset", "source"), right[1], strict=True)) | changes
            return [right[0], tuple(fields.values()), right[2]]

        return change

    linked(
        "missing-source",
        "a mapping into a missing dataset",
        second(dataset=b"/_version_data/nowhere/raw_data"),
        "nowhere",
    )
    linked(
        "corrupted-source-name",
        "one letter of a source name is wrong",
        second(dataset=b"/_version_data/dat\x01/raw_data"),
    )
    linked("source-is-a-group", "a mapping into a group", second(dataset=b"/_version_data/data"), "/_version_data/data")
    linked(
        "source-is-another-dataset",
        "a mapping into another raw_data",
        second(dataset=b"/_version_data/intact/raw_data"),
        "intact",
    )
    linked("foreign-file", "a mapping into another file", second(file=b"elsewhere.h5"), "elsewhere.h5")
    linked("foreign-file-that-exists", "a mapping into another file", second(file=b"no-raw-data.h5"), "no-raw-data.h5")
    linked("own-file-by-name", "a mapping that names its own file", second(file=b"./own-file-by-name.h5"), "./own-file")
    linked("source-out-of-range", "a source range beyond raw_data", second(source=block((400,), (396,), (4,))))
    linked(
        "source-partly-out-of-range", "a source range that leaves raw_data", second(source=block((400,), (10,), (4,)))
    )
    linked("source-not-aligned", "a source range across two raw chunks", second(source=block((12,), (6,), (4,))))
    linked("not-aligned", "a mapping off the chunk grid", second(virtual=block(SHAPE, (3,), (4,))))
    linked(
        "part-of-a-chunk",
        "a mapping of half a chunk",
        second(virtual=block(SHAPE, (4,), (2,)), source=block((12,), (4,), (2,))),
    )
    linked("two-mappings-for-one-chunk", "a chunk that is mapped twice", lambda right: [right[0], *right])
    both = block(SHAPE, (0,), (8,)), b".", SOURCE, block((12,), (0,), (8,))
    linked("merged-chunks", "two chunks in one mapping", lambda list_: [both, list_[2]], or_sha256=RIGHT)

    gaps = h5s.create_simple(SHAPE)
    gaps.select_hyperslab((0,), (1,), block=(3,))
    gaps.select_hyperslab((5,), (1,), block=(1,), op=h5s.SELECT_OR)
    linked("irregular", "a selection of two unlike blocks", lambda list_: [(gaps, b".", SOURCE, list_[0][3])])
    strided = h5s.create_simple(SHAPE)
    strided.select_hyperslab((0,), (4,), stride=(2,))
    linked("strided", "a selection of every other element", lambda list_: [(strided, b".", SOURCE, list_[0][3])])
    everything = h5s.create_simple((12,)), b".", SOURCE, h5s.create_simple((12,))
    with sound(broken.add("select-all", "a mapping of everything to everything", "read", "data")) as made:
        made.link_mappings("bad", "data", (12,), [everything])

    unlimited = h5s.create_simple((10,), (h5s.UNLIMITED,))
    unlimited.select_hyperslab((0,), (1,), block=(h5s.UNLIMITED,))
    endless = h5s.create_simple((12,), (h5s.UNLIMITED,))
    endless.select_hyperslab((0,), (1,), block=(h5s.UNLIMITED,))
    with sound(broken.add("unlimited", "a selection without end", "read", "data")) as made:
        made.link_mappings("bad", "data", SHAPE, [(unlimited, b".", SOURCE, endless)])
    counted = h5s.create_simple((10,), (h5s.UNLIMITED,))
    counted.select_hyperslab((0,), (h5s.UNLIMITED,), stride=(4,), block=(4,))
    with sound(broken.add("printf-name", "a source name with a block counter", "read", "data")) as made:
        source = block((12,), (0,), (4,))
        made.link_mappings("bad", "data", SHAPE, [(counted, b".", b"/_version_data/data%b/raw_data", source)])


def patched_mappings(broken: Broken) -> None:
    """Mapping lists that HDF5 would not write: bytes changed, the checksum mended unless said."""
    # A mapping in the first format: file name, dataset name, source selection: type, version, padding, length, rank,
    # number of blocks, first and last element of the block.
    entry = b".\0/_version_data/data/raw_data\0"
    hyperslab = entry + b"\2\0\0\0\1\0\0\0\0\0\0\0\x10\0\0\0\1\0\0\0\1\0\0\0\4\0\0\0\7\0\0\0"

    def patched(name: str, wrong: str, at: int, new: bytes, *, mend: bool = True) -> None:
        path = broken.add(name, wrong, "read", "data")
        with sound(path) as made:
            chunk = plain_mappings(made.raw("data"), SHAPE, {(1,): 1})
            made.link_mappings("bad", "data", SHAPE, chunk)
        at += len(entry)
        patch_mappings(path, hyperslab, hyperslab[:at] + new + hyperslab[at + len(new) :], mend)

    patched("points", "a selection of points", 0, b"\1")
    patched("unknown-selection-type", "selection type 9", 0, b"\x09")
    patched("unknown-selection-version", "selection version 77", 4, b"\x4d")
    patched("selection-of-rank-3", "a selection of another rank", 16, b"\3")
    patched("selection-of-huge-rank", "rank 4294967295", 16, b"\xff\xff\xff\xff")
    patched("selection-of-many-blocks", "4294967295 blocks", 20, b"\xff\xff\xff\xff")
    first_chunk = b"\0\0\0\0\3\0\0\0"
    patched("wrong-checksum", "a mapping moved to another raw chunk, the checksum left", 24, first_chunk, mend=False)

    path = broken.add("hostile-mapping-count", "2^64 - 1 mappings", "read", "data")
    with sound(path) as made:
        made.link_mappings("bad", "data", SHAPE, plain_mappings(made.raw("data"), SHAPE, {(1,): 1}))
    count = b"\0" + (1).to_bytes(8, "little") + entry
    patch_mappings(path, count, b"\0" + b"\xff" * 8 + entry)
