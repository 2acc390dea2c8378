//! One filter as a dataset's creation property list states it, and the registered filter ids.

use std::ffi::CStr;
use std::fmt;

/// Registered filter ids that mean something here.
///
/// 1 to 255 are libhdf5's own (`H5Zpublic.h`), the rest is The HDF Group's public registry.
pub(crate) mod id {
    pub(crate) const DEFLATE: u16 = 1;
    pub(crate) const SHUFFLE: u16 = 2;
    pub(crate) const FLETCHER32: u16 = 3;
    pub(crate) const SZIP: u16 = 4;
    pub(crate) const NBIT: u16 = 5;
    pub(crate) const SCALE_OFFSET: u16 = 6;
    pub(crate) const BZIP2: u16 = 307;
    pub(crate) const LZF: u16 = 32000;
    pub(crate) const BLOSC: u16 = 32001;
    pub(crate) const LZ4: u16 = 32004;
    pub(crate) const BITSHUFFLE: u16 = 32008;
    pub(crate) const ZSTD: u16 = 32015;
}

/// One filter of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// The registered id.
    pub id: u16,
    /// Whether a chunk may be stored without it (`H5Z_FLAG_OPTIONAL`).
    pub optional: bool,
    /// The client data values.
    pub params: Vec<u32>,
    /// The name stored in the file; may be empty.
    pub name: String,
}

impl Filter {
    /// The filter as users write it: `gzip(4)`, `shuffle`, `blosc(lz4, 5, shuffle)`, `32123
    /// (name)`.
    #[must_use]
    pub fn display_name(&self) -> impl fmt::Display + '_ {
        DisplayName(self)
    }

    /// The name stored in the file, else the registered name, else an empty string.
    pub(super) fn best_name(&self) -> &str {
        if self.name.is_empty() { known_name(self.id).unwrap_or("") } else { &self.name }
    }
}

/// Writes a [`Filter`] the way listings show it.
struct DisplayName<'a>(&'a Filter);

impl fmt::Display for DisplayName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let filter = self.0;
        let param = |index: usize| filter.params.get(index).copied();
        match filter.id {
            id::DEFLATE => with_level(f, "gzip", param(0)),
            id::BZIP2 => with_level(f, "bzip2", param(0)),
            // A signed level, stored as its 32-bit pattern.
            id::ZSTD => with_level(f, "zstd", param(0).map(u32::cast_signed)),
            id::BLOSC => {
                let shuffle = match param(5).unwrap_or(1) {
                    0 => "noshuffle",
                    2 => "bitshuffle",
                    _ => "shuffle",
                };
                let codec = blosc_codec_name(param(6).unwrap_or(0));
                write!(f, "blosc({codec}, {}, {shuffle})", param(4).unwrap_or(5))
            }
            id::BITSHUFFLE => match param(4) {
                Some(2) => f.write_str("bitshuffle(lz4)"),
                Some(3) => match param(5) {
                    Some(level) => write!(f, "bitshuffle(zstd, {})", level.cast_signed()),
                    None => f.write_str("bitshuffle(zstd)"),
                },
                _ => f.write_str("bitshuffle"),
            },
            known => match (known_name(known), filter.name.as_str()) {
                (Some(name), _) if known < 256 || is_decoded(known) => f.write_str(name),
                (None, "") => known.fmt(f),
                (Some(name), "") | (_, name) => write!(f, "{known} ({name})"),
            },
        }
    }
}

/// `name(level)`, or the bare name where the level is not stored.
fn with_level(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    level: Option<impl fmt::Display>,
) -> fmt::Result {
    match level {
        Some(level) => write!(f, "{name}({level})"),
        None => f.write_str(name),
    }
}

/// Whether this program has the filter.
fn is_decoded(filter: u16) -> bool {
    matches!(
        filter,
        id::DEFLATE
            | id::SHUFFLE
            | id::FLETCHER32
            | id::SZIP
            | id::BZIP2
            | id::LZF
            | id::BLOSC
            | id::LZ4
            | id::BITSHUFFLE
            | id::ZSTD
    )
}

/// The compressors of Blosc by the code in the filter's parameters (`blosc.h`).
fn blosc_codec_name(code: u32) -> &'static str {
    match code {
        0 => "blosclz",
        1 => "lz4",
        2 => "lz4hc",
        3 => "snappy",
        4 => "zlib",
        5 => "zstd",
        _ => "unknown",
    }
}

/// The name a filter id is registered under, for the ids met in practice.
pub(super) fn known_name(filter: u16) -> Option<&'static str> {
    Some(match filter {
        id::DEFLATE => "gzip",
        id::SHUFFLE => "shuffle",
        id::FLETCHER32 => "fletcher32",
        id::SZIP => "szip",
        id::NBIT => "nbit",
        id::SCALE_OFFSET => "scaleoffset",
        257 => "lzo",
        id::BZIP2 => "bzip2",
        id::LZF => "lzf",
        id::BLOSC => "blosc",
        32002 => "mafisc",
        32003 => "snappy",
        id::LZ4 => "lz4",
        32005 => "apax",
        32006 => "cbf",
        32007 => "jpeg-xr",
        id::BITSHUFFLE => "bitshuffle",
        32009 => "spdp",
        32010 => "lpc-rice",
        32011 => "ccsds-123",
        32012 => "jpeg-ls",
        32013 => "zfp",
        32014 => "fpzip",
        id::ZSTD => "zstd",
        32016 => "b3d",
        32017 => "sz",
        32018 => "fcidecomp",
        32019 => "jpeg",
        32020 => "vbz",
        32021 => "fapec",
        32022 => "bitgroom",
        32023 => "granular-bitround",
        32024 => "sz3",
        32025 => "delta-rice",
        32026 => "blosc2",
        32027 => "flac",
        32028 => "sperr",
        _ => return None,
    })
}

/// The name that libhdf5 stores with a filter: that of the class registered for it, by libhdf5 itself,
/// h5py and hdf5plugin. Empty for filters this program does not have.
pub(crate) const fn stored_name(filter: u16) -> &'static CStr {
    match filter {
        id::DEFLATE => c"deflate",
        id::SHUFFLE => c"shuffle",
        id::FLETCHER32 => c"fletcher32",
        id::SZIP => c"szip",
        id::BZIP2 => c"bzip2",
        id::LZF => c"lzf",
        id::BLOSC => c"blosc",
        id::LZ4 => {
            c"HDF5 lz4 filter; see https://github.com/HDFGroup/hdf5_plugins/blob/master/docs/RegisteredFilterPlugins.md"
        }
        id::BITSHUFFLE => c"bitshuffle; see https://github.com/kiyo-masui/bitshuffle",
        id::ZSTD => {
            c"HDF5 zstd filter; see https://github.com/HDFGroup/hdf5_plugins/blob/master/docs/RegisteredFilterPlugins.md"
        }
        _ => c"",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(id: u16, params: &[u32], name: &str) -> String {
        let filter = Filter { id, optional: true, params: params.to_vec(), name: name.into() };
        filter.display_name().to_string()
    }

    #[test]
    fn filters_are_shown_as_users_write_them() {
        let table: &[(u16, &[u32], &str, &str)] = &[
            (1, &[4], "deflate", "gzip(4)"),
            (1, &[], "deflate", "gzip"),
            (2, &[8], "shuffle", "shuffle"),
            (3, &[], "", "fletcher32"),
            (4, &[141, 32], "szip", "szip"),
            (5, &[], "", "nbit"),
            (307, &[9], "bzip2", "bzip2(9)"),
            (32000, &[4, 261, 800], "lzf", "lzf"),
            (32015, &[3], "Zstandard compression", "zstd(3)"),
            (32015, &[u32::MAX], "", "zstd(-1)"),
            (32001, &[2, 2, 8, 800, 5, 1, 1], "blosc", "blosc(lz4, 5, shuffle)"),
            (32001, &[2, 2, 8, 800, 9, 2, 5], "blosc", "blosc(zstd, 9, bitshuffle)"),
            (32001, &[2, 2, 8, 800], "blosc", "blosc(blosclz, 5, shuffle)"),
            (32008, &[0, 5, 4, 0, 2], "bitshuffle", "bitshuffle(lz4)"),
            (32008, &[0, 5, 4, 0, 3, 7], "bitshuffle", "bitshuffle(zstd, 7)"),
            (32008, &[0, 5, 4], "bitshuffle", "bitshuffle"),
            (32013, &[], "", "32013 (zfp)"),
            (32013, &[], "H5Z-ZFP-1.1.1", "32013 (H5Z-ZFP-1.1.1)"),
            (40000, &[], "mine", "40000 (mine)"),
            (40000, &[], "", "40000"),
        ];
        for &(id, params, name, expected) in table {
            assert_eq!(shown(id, params, name), expected);
        }
    }
}
