"""Random histories of versions, driven through h5strata and through versioned-hdf5, and compared.

    python -m histories --help

A history is a list of steps. A step of kind `version` has the operations of `h5strata commit --ops`, in its JSON
format, but with arrays in place of the paths of .npy files. The steps `delete` and `modify` are calls of
versioned-hdf5 alone.
`model` says what every version must hold, `check` compares a file with it, `generate` makes histories up.
"""
