//! Chunks written by h5py 3.16 and hdf5plugin 7.1, read back with `read_direct_chunk`.
//!
//! Every chunk holds little-endian `i32` values, element `i` being `i / 3 * 257`.

/// A chunk as a file stores it.
pub(super) struct Vector {
    /// What it shows.
    pub(super) name: &'static str,
    /// Ids and parameters of the filters.
    pub(super) filters: &'static [(u16, &'static [u32])],
    /// The filters skipped.
    pub(super) filter_mask: u32,
    /// Number of elements of the chunk.
    pub(super) elements: i32,
    /// The stored bytes.
    pub(super) stored: &'static [u8],
}

impl Vector {
    /// The chunk's bytes.
    pub(super) fn chunk(&self) -> Vec<u8> {
        (0..self.elements).flat_map(|i| (i / 3 * 257).to_le_bytes()).collect()
    }
}

pub(super) const VECTORS: &[Vector] = &[
    Vector {
        name: "gzip",
        filters: &[(1, &[4])],
        filter_mask: 0,
        elements: 20,
        stored: &[
            120, 94, 99, 96, 64, 0, 70, 70, 4, 102, 98, 66, 96, 102, 102, 4, 102, 97, 65, 96, 86,
            86, 4, 102, 99, 131, 96, 0, 11, 231, 0, 115,
        ],
    },
    Vector {
        name: "shuffle and gzip",
        filters: &[(2, &[4]), (1, &[9])],
        filter_mask: 0,
        elements: 20,
        stored: &[
            120, 218, 99, 96, 96, 96, 100, 100, 100, 98, 98, 98, 102, 102, 102, 97, 97, 97, 101,
            101, 101, 99, 99, 192, 46, 70, 20, 0, 0, 25, 136, 0, 115,
        ],
    },
    Vector {
        name: "fletcher32",
        filters: &[(3, &[])],
        filter_mask: 0,
        elements: 20,
        stored: &[
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 2, 2, 0, 0, 2,
            2, 0, 0, 2, 2, 0, 0, 3, 3, 0, 0, 3, 3, 0, 0, 3, 3, 0, 0, 4, 4, 0, 0, 4, 4, 0, 0, 4, 4,
            0, 0, 5, 5, 0, 0, 5, 5, 0, 0, 5, 5, 0, 0, 6, 6, 0, 0, 6, 6, 0, 0, 57, 57, 246, 246,
        ],
    },
    Vector {
        name: "lzf",
        filters: &[(32000, &[4, 261, 80])],
        filter_mask: 0,
        elements: 20,
        stored: &[
            1, 0, 0, 224, 1, 0, 2, 1, 1, 0, 224, 0, 3, 2, 2, 2, 0, 224, 0, 3, 2, 3, 3, 0, 224, 0,
            3, 2, 4, 4, 0, 224, 0, 3, 2, 5, 5, 0, 224, 0, 3, 2, 6, 6, 0, 32, 3, 1, 0, 0,
        ],
    },
    Vector {
        name: "shuffle, gzip and fletcher32",
        filters: &[(2, &[4]), (1, &[4]), (3, &[])],
        filter_mask: 0,
        elements: 20,
        stored: &[
            120, 94, 99, 96, 96, 96, 100, 100, 100, 98, 98, 98, 102, 102, 102, 97, 97, 97, 101,
            101, 101, 99, 99, 192, 46, 70, 20, 0, 0, 25, 136, 0, 115, 91, 1, 188, 225,
        ],
    },
    Vector {
        name: "shuffle, lzf and fletcher32",
        filters: &[(2, &[4]), (32000, &[4, 261, 80]), (3, &[])],
        filter_mask: 0,
        elements: 20,
        stored: &[
            20, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 0, 224, 13, 19, 224,
            26, 0, 1, 0, 0, 9, 65, 199, 69,
        ],
    },
];
