"""Journals know their file by its inode, which a file that was built anew has another of.

After a loss of power a file has the inode that it had. The journal of one that was built here is told so, which is all
that is changed in it: a journal that is not whole stays as it is.
"""

from hashlib import sha256
from pathlib import Path

#: See the format in src/atomic/journal/mod.rs.
SUFFIX = ".h5strata-journal"
MAGIC = bytes([0x89, 0x68, 0x35, 0x73, 0x6A, 0x0D, 0x0A, 0x1A])
HEADER_SIZE, DIGEST_AT, DEVICE_AT = 512, 480, 88


def adopt(folder: Path) -> None:
    """Has the journals in a folder belong to the files beside them."""
    for journal in folder.glob(f"*{SUFFIX}"):
        file = folder / journal.name.removesuffix(SUFFIX)
        with journal.open("r+b") as stream:
            header = stream.read(HEADER_SIZE)
            body, digest = header[:DIGEST_AT], header[DIGEST_AT:]
            if not file.exists() or not body.startswith(MAGIC) or sha256(body).digest() != digest:
                continue
            place = file.stat()
            ids = b"".join(number.to_bytes(8, "little") for number in (place.st_dev, place.st_ino))
            body = body[:DEVICE_AT] + ids + body[DEVICE_AT + len(ids) :]
            stream.seek(0)
            stream.write(body + sha256(body).digest())
