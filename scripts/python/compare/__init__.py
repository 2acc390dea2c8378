"""Measures h5strata beside its rivals: see `scripts/compare --help`."""
