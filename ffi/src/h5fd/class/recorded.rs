//! What a C compiler makes of the headers of other releases than the linked one, where pointers and `long` have 64 bits.
//! It was found once, by the probe of the test beside this, and is written down so that no headers are needed.
//!
//! | releases | found in |
//! |---|---|
//! | 1.10.8, 1.14.4, 2.0.0, 2.1.0, 2.2.0 | their headers |
//! | 1.12.2, 1.14.2 | the driver that their libraries open a file with: its name, its callbacks and `fl_map` are where these tables say |

/// Sizes of types and offsets of fields, under the names that the probe gives them.
pub(super) type Recorded = [(&'static str, usize)];

/// `H5FD_t` of all of them.
pub(super) const FILE: &Recorded = &[
    ("H5FD_t", 80),
    ("H5FD_t.driver_id", 0),
    ("H5FD_t.cls", 8),
    ("H5FD_t.fileno", 16),
    ("H5FD_t.access_flags", 24),
    ("H5FD_t.feature_flags", 32),
    ("H5FD_t.maxaddr", 40),
    ("H5FD_t.base_addr", 48),
    ("H5FD_t.threshold", 56),
    ("H5FD_t.alignment", 64),
    ("H5FD_t.paged_aggr", 72),
];

/// `H5FD_class_t` of 1.10.8 and 1.12.2.
#[cfg(not(hdf5_versioned_driver))]
pub(super) const CLASS: &Recorded = &[
    ("H5FD_class_t", 280),
    ("H5FD_class_t.name", 0),
    ("H5FD_class_t.maxaddr", 8),
    ("H5FD_class_t.fc_degree", 16),
    ("H5FD_class_t.terminate", 24),
    ("H5FD_class_t.sb_size", 32),
    ("H5FD_class_t.sb_encode", 40),
    ("H5FD_class_t.sb_decode", 48),
    ("H5FD_class_t.fapl_size", 56),
    ("H5FD_class_t.fapl_get", 64),
    ("H5FD_class_t.fapl_copy", 72),
    ("H5FD_class_t.fapl_free", 80),
    ("H5FD_class_t.dxpl_size", 88),
    ("H5FD_class_t.dxpl_copy", 96),
    ("H5FD_class_t.dxpl_free", 104),
    ("H5FD_class_t.open", 112),
    ("H5FD_class_t.close", 120),
    ("H5FD_class_t.cmp", 128),
    ("H5FD_class_t.query", 136),
    ("H5FD_class_t.get_type_map", 144),
    ("H5FD_class_t.alloc", 152),
    ("H5FD_class_t.free", 160),
    ("H5FD_class_t.get_eoa", 168),
    ("H5FD_class_t.set_eoa", 176),
    ("H5FD_class_t.get_eof", 184),
    ("H5FD_class_t.get_handle", 192),
    ("H5FD_class_t.read", 200),
    ("H5FD_class_t.write", 208),
    ("H5FD_class_t.flush", 216),
    ("H5FD_class_t.truncate", 224),
    ("H5FD_class_t.lock", 232),
    ("H5FD_class_t.unlock", 240),
    ("H5FD_class_t.fl_map", 248),
];

/// `H5FD_class_t` of 1.14.2, 1.14.4, 2.0.0, 2.1.0 and 2.2.0.
#[cfg(hdf5_versioned_driver)]
pub(super) const CLASS: &Recorded = &[
    ("H5FD_class_t", 336),
    ("H5FD_class_t.version", 0),
    ("H5FD_class_t.value", 4),
    ("H5FD_class_t.name", 8),
    ("H5FD_class_t.maxaddr", 16),
    ("H5FD_class_t.fc_degree", 24),
    ("H5FD_class_t.terminate", 32),
    ("H5FD_class_t.sb_size", 40),
    ("H5FD_class_t.sb_encode", 48),
    ("H5FD_class_t.sb_decode", 56),
    ("H5FD_class_t.fapl_size", 64),
    ("H5FD_class_t.fapl_get", 72),
    ("H5FD_class_t.fapl_copy", 80),
    ("H5FD_class_t.fapl_free", 88),
    ("H5FD_class_t.dxpl_size", 96),
    ("H5FD_class_t.dxpl_copy", 104),
    ("H5FD_class_t.dxpl_free", 112),
    ("H5FD_class_t.open", 120),
    ("H5FD_class_t.close", 128),
    ("H5FD_class_t.cmp", 136),
    ("H5FD_class_t.query", 144),
    ("H5FD_class_t.get_type_map", 152),
    ("H5FD_class_t.alloc", 160),
    ("H5FD_class_t.free", 168),
    ("H5FD_class_t.get_eoa", 176),
    ("H5FD_class_t.set_eoa", 184),
    ("H5FD_class_t.get_eof", 192),
    ("H5FD_class_t.get_handle", 200),
    ("H5FD_class_t.read", 208),
    ("H5FD_class_t.write", 216),
    ("H5FD_class_t.read_vector", 224),
    ("H5FD_class_t.write_vector", 232),
    ("H5FD_class_t.read_selection", 240),
    ("H5FD_class_t.write_selection", 248),
    ("H5FD_class_t.flush", 256),
    ("H5FD_class_t.truncate", 264),
    ("H5FD_class_t.lock", 272),
    ("H5FD_class_t.unlock", 280),
    ("H5FD_class_t.del", 288),
    ("H5FD_class_t.ctl", 296),
    ("H5FD_class_t.fl_map", 304),
];
