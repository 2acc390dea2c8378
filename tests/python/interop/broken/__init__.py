"""Broken files, each with the call that must fail on it and what the error must say.

`manifest.json` lists them. A row: `file`; `broken` (what is wrong); `call` (what must fail: "open", "version",
"current", "parent", "history", "shape" or "read"); `version` and `dataset` where the call takes them; `says` (texts
that the error must contain, whatever the case of letters); `or_sha256` (the digest of the right answer, where an
engine may also give that).
Files that open at all keep a sound dataset "intact" in version "sound", whose values are 0 to 9 as little-endian i32.
"""
