"""What a version's dataset points to is missing or does not fit."""

from collections.abc import Callable
from typing import Any

import h5py
import numpy as np

from ..handmade import Handmade
from .folder import RIGHT, SHAPE, SOURCE, Broken, sound, whole


def storage(broken: Broken) -> None:
    """What a version's dataset points to is missing or does not fit."""
    with sound(broken.add("no-raw-data", "raw_data is missing", "read", "data", "raw_data")) as made:
        made.link_mappings("bad", "data", SHAPE, whole(made))
        del made.file["_version_data/data/raw_data"]
    with sound(
        broken.add("contiguous-raw-data", "raw_data is not chunked", "read", "data", "raw_data", or_sha256=RIGHT)
    ) as made:
        made.link_mappings("bad", "data", SHAPE, whole(made))
        replace_raw_data(made, data=np.arange(12, dtype="<i4"))
    with sound(
        broken.add("raw-data-of-another-type", "raw_data has another type", "read", "data", or_sha256=RIGHT)
    ) as made:
        made.link_mappings("bad", "data", SHAPE, whole(made))
        replace_raw_data(made, data=np.arange(12.0), chunks=(4,), maxshape=(None,))
    with sound(broken.add("raw-data-of-another-rank", "raw_data has another rank", "read", "data")) as made:
        made.link_mappings("bad", "data", SHAPE, whole(made))
        replace_raw_data(made, data=np.zeros((12, 2), "<i4"), chunks=(4, 2), maxshape=(None, 2))
    with sound(broken.add("scalar", "a dataset of rank 0", "shape", "data", "scalar")) as made:
        dataset = made.versions["bad"].create_dataset("data", data=5)
        dataset.attrs["raw_data"] = SOURCE.decode()
    with sound(broken.add("dangling-soft-link", "a soft link to nothing", "read", "data")) as made:
        made.versions["bad"]["data"] = h5py.SoftLink("/nowhere")
    with sound(broken.add("external-link", "a link into a file that is not there", "read", "data")) as made:
        made.versions["bad"]["data"] = h5py.ExternalLink("nowhere.h5", "/data")


def replace_raw_data(made: Handmade, **options: Any) -> None:
    del made.file["_version_data/data/raw_data"]
    made.file.create_dataset("_version_data/data/raw_data", **options).attrs["chunks"] = (4,)


def attributes(broken: Broken) -> None:
    """The two attributes by which a version's dataset names its storage: an engine may also do without them."""

    def changed(name: str, wrong: str, change: Callable[[h5py.AttributeManager], object], *says: str) -> None:
        with sound(broken.add(name, wrong, "read", "data", *says, or_sha256=RIGHT)) as made:
            change(made.link_mappings("bad", "data", SHAPE, whole(made)).attrs)

    def put(name: str, value: object) -> Callable[[h5py.AttributeManager], object]:
        return lambda attrs: attrs.__setitem__(name, value)

    changed("no-chunks-attribute", "no attribute chunks", lambda attrs: attrs.pop("chunks"), "chunks")
    changed("no-raw-data-attribute", "no attribute raw_data", lambda attrs: attrs.pop("raw_data"), "raw_data")
    changed("chunks-differ", "chunks is not raw_data's chunk shape", put("chunks", (5,)), "chunk")
    changed("chunks-of-another-rank", "chunks has another rank", put("chunks", (4, 4)), "chunk")
    changed("chunks-zero", "a chunk without elements", put("chunks", (0,)), "chunk")
    changed("chunks-negative", "a chunk of negative size", put("chunks", (-4,)), "chunk")
    changed("chunks-text", "chunks is text", put("chunks", "four"), "chunk")
    changed("raw-data-attribute-wrong", "raw_data names nothing", put("raw_data", "/nowhere"), "/nowhere")
