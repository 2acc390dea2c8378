//! The attributes by which versioned-hdf5 knows a version's dataset (format-v4.md, "A version's dataset").

use super::super::attribute::{Attribute, AttributeValue};
use super::super::dataset::Dataset;
use super::super::error::FormatFault;
use super::super::names::{CHUNKS, RAW_DATA};
use crate::dtype::{ByteOrder, Dtype};

/// What is wrong with the attributes of a dataset, of which `attributes` are all: without them versioned-hdf5 cannot
/// read it or go on with it.
pub(super) fn faults(dataset: &Dataset, attributes: &[Attribute]) -> Vec<FormatFault> {
    let value = |name: &str| attributes.iter().find(|attribute| attribute.name == name);
    let chunks = match value(CHUNKS) {
        None => Some(FormatFault::MissingAttribute { name: CHUNKS }),
        Some(chunks) => {
            let is_shape = integers(chunks).is_some_and(|axes| {
                let shape = dataset.chunk_shape().iter();
                axes.into_iter().eq(shape.map(|&axis| i128::from(axis)))
            });
            let expected = "the shape of its stored chunks";
            (!is_shape).then_some(FormatFault::Attribute { name: CHUNKS, expected })
        }
    };
    let raw_data = match value(RAW_DATA).map(|attribute| &attribute.value) {
        None => Some(FormatFault::MissingAttribute { name: RAW_DATA }),
        Some(AttributeValue::Strings(paths))
            if paths.iter().eq([dataset.inner.storage.path.as_bytes()]) =>
        {
            None
        }
        Some(_) => {
            let expected = "the path of its stored chunks";
            Some(FormatFault::Attribute { name: RAW_DATA, expected })
        }
    };
    chunks.into_iter().chain(raw_data).collect()
}

/// The numbers of an attribute of integers; `None` if they are none.
fn integers(attribute: &Attribute) -> Option<Vec<i128>> {
    let (Dtype::Integer { size, signed, order }, AttributeValue::Bytes(bytes)) =
        (&attribute.dtype, &attribute.value)
    else {
        return None;
    };
    let integer = |bytes: &[u8]| {
        let mut wide = [0; 16];
        wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
        if *order == ByteOrder::Big {
            wide.get_mut(..bytes.len())?.reverse();
        }
        let empty = 128 - 8 * u32::try_from(bytes.len()).ok()?;
        let top = i128::from_le_bytes(wide).checked_shl(empty)?;
        Some(if *signed { top >> empty } else { (top.cast_unsigned() >> empty).cast_signed() })
    };
    bytes.chunks_exact((*size).max(1)).map(integer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_all_kinds_are_numbers() {
        let of = |dtype: &str, bytes: &[u8]| {
            let value = AttributeValue::Bytes(bytes.to_vec());
            let dtype = dtype.parse().unwrap();
            integers(&Attribute { name: String::new(), dtype, shape: vec![], value })
        };
        assert_eq!(of("<i8", &[7, 0, 0, 0, 0, 0, 0, 0]), Some(vec![7]));
        assert_eq!(of(">u2", &[1, 2, 0, 3]), Some(vec![258, 3]));
        assert_eq!(of("|i1", &[0xFF]), Some(vec![-1]));
        assert_eq!(of("|u1", &[0xFF]), Some(vec![255]));
        assert_eq!(of("<f8", &[0; 8]), None);
    }
}
