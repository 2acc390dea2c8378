"""Random histories of versions, driven through h5strata and through versioned-hdf5, and compared.

    python -m histories --help

A history is a list of steps. A step of kind `version` has the operations of `h5strata commit --ops`, in its JSON
format, but with arrays in place of the paths of .npy files. A step `delete` is
done by either, `repack` and `rewrite` by h5strata alone, and `modify`, which changes settings too, by versioned-hdf5.
`model` says what every version must hold, `check` compares a file with it, `generate` makes histories up.
"""
