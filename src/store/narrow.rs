//! Integers that use only some bits of their bytes (`H5Tset_precision`, `H5Tset_offset`), as the nbit
//! filter packs them.

use h5strata_ffi::h5t::{ByteOrder, Description, TypeClass};

/// Where the value's bits lie in an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NarrowInteger {
    size: usize,
    signed: bool,
    big_endian: bool,
    /// Bits of the value.
    precision: usize,
    /// Bits below them.
    offset: usize,
}

impl NarrowInteger {
    /// What is narrow about the integers of a type, also where they have names or stand in arrays; `None` if
    /// they fill their bytes, or the type is of another class.
    pub(crate) fn of(description: &Description) -> Option<Self> {
        let (order, signed, precision, offset) = match &description.class {
            TypeClass::Integer { order, signed, precision, offset } => {
                (*order, *signed, *precision, *offset)
            }
            // Bits are read as the unsigned number they make.
            TypeClass::Bitfield { order, precision, offset } => {
                (*order, false, *precision, *offset)
            }
            TypeClass::Enumeration { base, .. } | TypeClass::Array { base, .. } => {
                return Self::of(base);
            }
            _ => return None,
        };
        let size = description.size;
        let bits = size * 8;
        let big_endian = order == ByteOrder::Big;
        let narrow = Self { size, signed, big_endian, precision, offset };
        let fits = precision > 0 && precision + offset <= bits;
        (fits && size <= size_of::<u64>() && precision < bits).then_some(narrow)
    }

    /// Turns stored elements into integers that fill their bytes, as a conversion by libhdf5 does.
    pub(crate) fn widen(self, elements: &mut [u8]) {
        let empty = u64::BITS as usize - self.precision;
        for element in elements.chunks_exact_mut(self.size) {
            let mut word = [0; size_of::<u64>()];
            if self.big_endian {
                element.reverse();
            }
            word[..self.size].copy_from_slice(element);
            let top = (u64::from_le_bytes(word) >> self.offset) << empty;
            let value = if self.signed {
                (top.cast_signed() >> empty).cast_unsigned()
            } else {
                top >> empty
            };
            element.copy_from_slice(&value.to_le_bytes()[..self.size]);
            if self.big_endian {
                element.reverse();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shifted_down_and_their_sign_fills_up() {
        let mut narrow =
            NarrowInteger { size: 4, signed: true, big_endian: false, precision: 12, offset: 4 };
        // -3 and 1000 in 12 bits above 4 bits of noise, with noise above them too.
        let stored = |value: i32| ((value & 0xFFF) << 4 | 0x7A00_000F).to_le_bytes();
        let mut elements = [stored(-3), stored(1000)].concat();
        narrow.widen(&mut elements);
        assert_eq!(elements, [(-3i32).to_le_bytes(), 1000i32.to_le_bytes()].concat());

        narrow.signed = false;
        narrow.big_endian = true;
        let mut elements = stored(-3);
        elements.reverse();
        narrow.widen(&mut elements);
        assert_eq!(elements, 0xFFDu32.to_be_bytes());
    }

    #[test]
    fn whole_integers_are_left_alone() {
        let class = |precision, offset| TypeClass::Integer {
            order: ByteOrder::Little,
            signed: true,
            precision,
            offset,
        };
        assert_eq!(NarrowInteger::of(&Description { size: 4, class: class(32, 0) }), None);
        assert!(NarrowInteger::of(&Description { size: 4, class: class(31, 0) }).is_some());
        assert_eq!(NarrowInteger::of(&Description { size: 4, class: class(31, 9) }), None);
        let base = Box::new(Description { size: 4, class: class(20, 0) });
        let narrow = NarrowInteger::of(&base);
        let array = TypeClass::Array { dims: vec![3], base };
        assert_eq!(NarrowInteger::of(&Description { size: 12, class: array }), narrow);
    }
}
