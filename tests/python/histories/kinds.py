"""The element types of histories: their texts, their values, how they are compared."""

from typing import Any

import h5py
import numpy as np

NUMBERS = [
    *("|i1", "|u1", "<i2", ">i2", "<u2", ">u2", "<i4", ">i4", "<u4", ">u4", "<i8", ">i8", "<u8", ">u8"),
    *("<f2", ">f2", "<f4", ">f4", "<f8", ">f8", "<c8", ">c8", "<c16", ">c16", "|b1"),
]
#: x86's 10 bytes in 16: NumPy leaves garbage in the other 6, which are stored and hashed.
LONG_DOUBLE = "<f16"
OTHERS = [
    "|S1",
    "|S5",
    "|V3",
    "[('a', '<i4'), ('b', '>f8')]",
    "[('x', '|u1'), ('point', [('y', '<f4'), ('name', '|S3')]), ('m', '<i2', (2, 3)), ('ok', '|b1')]",
]
STRING = "str"
#: Known to versioned-hdf5 alone: no text of a type has an enumeration's names.
ENUM = "enum"
_H5PY_TYPES: dict[str, np.dtype] = {
    STRING: h5py.string_dtype(),
    ENUM: h5py.enum_dtype({"LOW": -1, "NONE": 0, "HIGH": 300}, basetype="<i2"),
}


def dtype_of(text: str) -> np.dtype:
    """The NumPy type of a type's text; strings are objects."""
    if text in _H5PY_TYPES:
        return _H5PY_TYPES[text]
    return np.dtype(eval(text, {}) if text.startswith("[") else text)


def wider(text: str) -> list[str]:
    """Types that a type is cast to in one way only, itself among them."""
    dtype = dtype_of(text)
    if dtype.kind == "S":
        return [text, f"|S{dtype.itemsize + 3}"]
    if text not in NUMBERS:
        return [text]
    others = [other for other in NUMBERS if np.can_cast(dtype, other, "safe")]
    # NumPy casts halves itself, and leaves a signalling NaN signalling, which no processor does.
    return [other for other in others if dtype.str[1:] != "f2" or other[1:] == "f2"]


def is_exact(text: str) -> bool:
    """Whether equal values are equal bytes, and so equal digests."""
    return text != LONG_DOUBLE


def fill_of(text: str, fill: Any) -> np.ndarray:
    """The fill value as a 0-dimensional array, from its JSON form; `None` is zero."""
    if text == STRING:
        return np.array("", dtype=object)
    dtype = dtype_of(text)
    out = np.zeros((), dtype)
    if fill is not None:
        out[()] = scalar(text, fill)
    return out


def scalar(text: str, value: Any) -> Any:
    """A JSON value as NumPy takes it."""
    kind = dtype_of(text).kind
    if kind == "S":
        return value.encode()
    if kind in "fc" and isinstance(value, str):
        return float(value)
    return value


def palette(text: str, rng: np.random.Generator) -> np.ndarray:
    """A few values; histories draw from few, so that chunks are often equal."""
    dtype = dtype_of(text)
    if text == STRING:
        return np.array(["", "a", "b", "ab", "ünï ☃", "x" * 300, "line\n", "0"], dtype=object)
    if text == ENUM:
        return np.array([-1, 0, 300], dtype)
    if text == LONG_DOUBLE:
        return np.array(["0", "-0.0", "1.5", "nan", "-inf", "1e4000"], dtype)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind == "S":
        return np.array([b"", b"a", b"ab", b"hello"], dtype)
    values = np.frombuffer(rng.bytes(6 * dtype.itemsize), np.uint8).copy()
    values[: 2 * dtype.itemsize] = 0
    if dtype.kind in "fc":
        part = np.dtype(dtype.str.replace("c8", "f4").replace("c16", "f8"))
        numbers = values.view(part)
        numbers[1] = -0.0
        numbers[2] = np.nan
        # Another NaN: all bits of the exponent, the sign and the lowest bit of the mantissa.
        bits = np.dtype(part.str.replace("f", "u"))
        infinite = np.array([-np.inf], part).view(bits) | np.array([1], bits)
        numbers[3:4] = infinite.astype(bits).view(part)
    if dtype.kind == "V":
        canonical = np.zeros(6, dtype)
        _fill_fields(canonical, rng)
        return canonical
    return values.view(dtype)


def _fill_fields(array: np.ndarray, rng: np.random.Generator) -> None:
    """Values for all members but the first element's, which stay zero."""
    if array.dtype.names is None:
        if array.dtype.kind == "S":
            array[1:] = b"ab"
        elif array.dtype.kind == "V":
            array[1:] = np.frombuffer(rng.bytes(array[1:].nbytes), array.dtype)
        else:
            array[1:] = rng.integers(0, 100, array[1:].shape)
        return
    for name in array.dtype.names:
        _fill_fields(array[name], rng)


def same(left: np.ndarray, right: np.ndarray, text: str) -> bool:
    """Whether two arrays hold the same elements: bit for bit."""
    if left.shape != right.shape:
        return False
    if text == STRING:
        return strings(left) == strings(right)
    if text == LONG_DOUBLE:
        return significant(left) == significant(right)
    return np.ascontiguousarray(left).tobytes() == np.ascontiguousarray(right).tobytes()


def equal_elements(array: np.ndarray, element: np.ndarray) -> np.ndarray:
    """Which elements of an array are an element of its type, bit for bit."""
    size = array.dtype.itemsize
    rows = np.ascontiguousarray(array).reshape(-1, 1).view(np.uint8).reshape(-1, size)
    equal = (rows == np.frombuffer(element.astype(array.dtype).tobytes(), np.uint8)).all(axis=1)
    return np.asarray(equal).reshape(array.shape)


def significant(array: np.ndarray) -> bytes:
    """The bytes of long doubles that mean something."""
    return np.ascontiguousarray(array).reshape(-1, 1).view(np.uint8).reshape(-1, 16)[:, :10].tobytes()


def strings(array: np.ndarray) -> list[bytes]:
    """The UTF-8 of strings in C order."""
    return [item.encode() if isinstance(item, str) else bytes(item) for item in array.ravel()]
