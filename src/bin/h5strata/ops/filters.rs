//! Filters of a new dataset.

use h5strata::codec::{BitshuffleCompression, BloscCodec, BloscShuffle, Filter, FilterRequest};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::error::OpFault;

/// Filters as JSON names them, each by its settings or by `true`. At most one of them compresses.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Filters {
    shuffle: bool,
    fletcher32: bool,
    lzf: bool,
    #[serde(deserialize_with = "gzip")]
    gzip: Option<u8>,
    #[serde(deserialize_with = "zstd")]
    zstd: Option<i32>,
    /// Bytes of a block; 0 for the default.
    #[serde(deserialize_with = "lz4")]
    lz4: Option<u32>,
    #[serde(deserialize_with = "bzip2")]
    bzip2: Option<u8>,
    #[serde(deserialize_with = "blosc")]
    blosc: Option<Blosc>,
    #[serde(deserialize_with = "bitshuffle")]
    bitshuffle: Option<Bitshuffle>,
    raw: Option<Raw>,
}

/// With hdf5plugin's defaults.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Blosc {
    codec: Codec,
    level: u8,
    shuffle: Shuffle,
}

impl Default for Blosc {
    fn default() -> Self {
        Self { codec: Codec::Lz4, level: 5, shuffle: Shuffle::Bytes }
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Codec {
    BloscLz,
    Lz4,
    Lz4Hc,
    Snappy,
    Zlib,
    Zstd,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Shuffle {
    None,
    Bytes,
    Bits,
}

/// With hdf5plugin's defaults.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Bitshuffle {
    codec: BitshuffleCodec,
    /// Of Zstandard.
    level: i32,
    /// Elements of a block; 0 for the default.
    block: u32,
}

impl Default for Bitshuffle {
    fn default() -> Self {
        Self { codec: BitshuffleCodec::Lz4, level: 3, block: 0 }
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum BitshuffleCodec {
    None,
    Lz4,
    Zstd,
}

/// Any filter, by its number.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    id: u16,
    #[serde(default)]
    params: Vec<u32>,
}

/// `true` is the filter as h5py and hdf5plugin have it when nothing more is said, `false` none.
fn switch<'de, D, T>(value: D, default: T) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    match Value::deserialize(value)? {
        Value::Bool(true) => Ok(Some(default)),
        Value::Bool(false) | Value::Null => Ok(None),
        value => serde_json::from_value(value).map(Some).map_err(D::Error::custom),
    }
}

/// Declares how a filter's field is read: with what `true` stands for.
macro_rules! switches {
    ($($field:ident: $kind:ty = $default:expr;)*) => {$(
        fn $field<'de, D: Deserializer<'de>>(value: D) -> Result<Option<$kind>, D::Error> {
            switch(value, $default)
        }
    )*};
}

switches! {
    gzip: u8 = 4;
    zstd: i32 = 3;
    lz4: u32 = 0;
    bzip2: u8 = 9;
    blosc: Blosc = Blosc::default();
    bitshuffle: Bitshuffle = Bitshuffle::default();
}

impl Filters {
    /// The request that they are.
    pub(super) fn request(&self) -> Result<FilterRequest, OpFault> {
        let asked = [
            self.lzf.then(|| ("lzf", Filter::lzf())),
            self.gzip.map(|level| ("gzip", Filter::gzip(level))),
            self.zstd.map(|level| ("zstd", Filter::zstd(level))),
            self.lz4.map(|block| ("lz4", Filter::lz4(block))),
            self.bzip2.map(|level| ("bzip2", Filter::bzip2(level))),
            self.blosc.as_ref().map(|blosc| ("blosc", blosc.filter())),
            self.bitshuffle.as_ref().map(|bitshuffle| ("bitshuffle", bitshuffle.filter())),
            self.raw.as_ref().map(|raw| ("raw", Filter::raw(raw.id, raw.params.clone()))),
        ];
        let (names, mut filters): (Vec<_>, Vec<_>) = asked.into_iter().flatten().unzip();
        if names.len() > 1 {
            return Err(OpFault::Compressions { names: names.join(" and ") });
        }
        let (shuffle, fletcher32) = (self.shuffle, self.fletcher32);
        Ok(FilterRequest { shuffle, compression: filters.pop(), fletcher32 })
    }
}

impl Blosc {
    fn filter(&self) -> Filter {
        let codec = match self.codec {
            Codec::BloscLz => BloscCodec::BloscLz,
            Codec::Lz4 => BloscCodec::Lz4,
            Codec::Lz4Hc => BloscCodec::Lz4Hc,
            Codec::Snappy => BloscCodec::Snappy,
            Codec::Zlib => BloscCodec::Zlib,
            Codec::Zstd => BloscCodec::Zstd,
        };
        let shuffle = match self.shuffle {
            Shuffle::None => BloscShuffle::None,
            Shuffle::Bytes => BloscShuffle::Bytes,
            Shuffle::Bits => BloscShuffle::Bits,
        };
        Filter::blosc(codec, self.level, shuffle)
    }
}

impl Bitshuffle {
    fn filter(&self) -> Filter {
        let compression = match self.codec {
            BitshuffleCodec::None => BitshuffleCompression::None,
            BitshuffleCodec::Lz4 => BitshuffleCompression::Lz4,
            BitshuffleCodec::Zstd => BitshuffleCompression::Zstd(self.level),
        };
        Filter::bitshuffle(compression, self.block)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn request(value: Value) -> FilterRequest {
        serde_json::from_value::<Filters>(value).unwrap().request().unwrap()
    }

    #[test]
    fn filters_are_those_that_are_named() {
        for (value, filter) in [
            (json!({"gzip": 4}), Filter::gzip(4)),
            (json!({"lzf": true}), Filter::lzf()),
            (json!({"zstd": -3}), Filter::zstd(-3)),
            (json!({"lz4": 0}), Filter::lz4(0)),
            (json!({"bzip2": 9}), Filter::bzip2(9)),
            (json!({"blosc": {}}), Filter::blosc(BloscCodec::Lz4, 5, BloscShuffle::Bytes)),
            (
                json!({"blosc": {"codec": "zstd", "level": 9, "shuffle": "bits"}}),
                Filter::blosc(BloscCodec::Zstd, 9, BloscShuffle::Bits),
            ),
            (
                json!({"bitshuffle": {"codec": "zstd", "level": 7}}),
                Filter::bitshuffle(BitshuffleCompression::Zstd(7), 0),
            ),
            (json!({"raw": {"id": 32015, "params": [3]}}), Filter::zstd(3)),
        ] {
            assert_eq!(request(value).compression, Some(filter));
        }
        let both = request(json!({"shuffle": true, "fletcher32": true, "lzf": false}));
        assert_eq!(both, FilterRequest { shuffle: true, compression: None, fletcher32: true });
    }

    #[test]
    fn two_compressions_are_one_too_many() {
        let filters: Filters = serde_json::from_value(json!({"gzip": 4, "lzf": true})).unwrap();
        let error = filters.request().unwrap_err().to_string();
        assert!(error.contains("lzf and gzip"), "{error}");
    }
}
