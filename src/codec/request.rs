//! What a user asks for, as filters in order.

use super::error::CodecError;
use super::filter::Filter;
use super::layout::ChunkLayout;

/// Filters for a new dataset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilterRequest {
    /// Bytes are shuffled first.
    pub shuffle: bool,
    /// What makes chunks smaller, or any other filter.
    pub compression: Option<Filter>,
    /// A checksum of what is stored.
    pub fletcher32: bool,
}

impl FilterRequest {
    /// The filters on a dataset of this layout, in h5py's order (`fill_dcpl`): shuffle, compression,
    /// checksum.
    ///
    /// # Errors
    /// [`CodecError::VariableLength`]: elements of variable length have no checksum.
    pub fn filters(&self, layout: &ChunkLayout) -> Result<Vec<Filter>, CodecError> {
        let shuffle = self.shuffle.then(Filter::shuffle);
        let fletcher32 = self.fletcher32.then(Filter::fletcher32);
        let asked = shuffle.into_iter().chain(self.compression.clone()).chain(fletcher32);
        asked.map(|filter| filter.localised(layout)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{
        BitshuffleCompression, BloscCodec, BloscShuffle, Pipeline, Scratch, id, stored_name,
    };

    const LAYOUT: ChunkLayout =
        ChunkLayout::Fixed { element_size: 8, base_size: 8, chunk_bytes: 1680 };

    /// Every filter there is a constructor for.
    fn compressions() -> Vec<Filter> {
        vec![
            Filter::gzip(4),
            Filter::lzf(),
            Filter::zstd(-5),
            Filter::lz4(0),
            Filter::bzip2(9),
            Filter::blosc(BloscCodec::Lz4, 5, BloscShuffle::Bytes),
            Filter::bitshuffle(BitshuffleCompression::None, 0),
            Filter::bitshuffle(BitshuffleCompression::Lz4, 64),
            Filter::bitshuffle(BitshuffleCompression::Zstd(8), 0),
            Filter::raw(id::BITSHUFFLE, vec![]),
            Filter::raw(id::BLOSC, vec![]),
            Filter::raw(id::LZF, vec![1, 2, 3]),
            Filter::raw(40000, vec![1, 2]),
        ]
    }

    #[test]
    fn the_order_is_shuffle_compression_checksum() {
        let request =
            FilterRequest { shuffle: true, compression: Some(Filter::gzip(4)), fletcher32: true };
        let filters = request.filters(&LAYOUT).unwrap();
        let shown: Vec<_> = filters.iter().map(|f| (f.id, f.optional, &f.params[..])).collect();
        assert_eq!(shown, [(2, true, &[8][..]), (1, true, &[4]), (3, false, &[])]);
        assert_eq!(FilterRequest::default().filters(&LAYOUT), Ok(Vec::new()));
    }

    #[test]
    fn a_filter_follows_its_dataset_from_layout_to_layout() {
        let other = ChunkLayout::Fixed { element_size: 4, base_size: 4, chunk_bytes: 64 };
        for filter in compressions().into_iter().chain([Filter::shuffle(), Filter::fletcher32()]) {
            let once = filter.clone().localised(&LAYOUT).unwrap();
            assert_eq!(once.clone().localised(&LAYOUT).unwrap(), once);
            let moved = once.localised(&other).unwrap();
            assert_eq!(moved, filter.localised(&other).unwrap());
        }
    }

    #[test]
    fn values_of_variable_length_have_optional_filters_as_they_are_and_no_other() {
        for filter in compressions() {
            assert_eq!(filter.clone().localised(&ChunkLayout::Variable), Ok(filter));
        }
        let checksum = FilterRequest { fletcher32: true, ..FilterRequest::default() };
        let refused = checksum.filters(&ChunkLayout::Variable);
        assert_eq!(refused, Err(CodecError::VariableLength { id: id::FLETCHER32 }));
    }

    #[test]
    fn what_cannot_be_applied_is_told_before_writing() {
        let pipeline = |filter| Pipeline::new(vec![Filter::shuffle(), filter], 64, 8).can_encode();
        for filter in compressions() {
            let known = !stored_name(filter.id).is_empty();
            let filter = filter.localised(&LAYOUT).unwrap();
            assert_eq!(pipeline(filter.clone()).is_ok(), known, "{filter:?}");
            let mut stored = Vec::new();
            let encoded = Pipeline::new(vec![filter], 64, 8).encode(
                &[1; 64],
                &mut Scratch::default(),
                &mut stored,
            );
            assert_eq!(encoded, Ok(u32::from(!known)));
        }
        let szip = Filter::raw(id::SZIP, vec![141, 8, 64, 8]);
        assert_eq!(pipeline(szip), Err(CodecError::NoEncoder { id: id::SZIP }));
        for id in [id::NBIT, id::SCALE_OFFSET] {
            assert_eq!(pipeline(Filter::raw(id, vec![])), Err(CodecError::NeedsLibrary { id }));
        }
        let blosc2 = CodecError::UnknownFilter { id: 32026, name: "blosc2".into() };
        assert_eq!(pipeline(Filter::raw(32026, vec![])), Err(blosc2));
        assert!(matches!(pipeline(Filter::gzip(10)), Err(CodecError::BadParams { .. })));
    }
}
