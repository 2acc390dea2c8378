//! Elements of the old settings as those of the new ones.

use super::error::RewriteFault;
use crate::dtype::{Cast, Dtype};

/// What becomes of an element: the old fill value becomes the new one, and every other value is cast.
///
/// What is the old fill value is decided on its bits, before the cast: a zero with a sign is none, and neither is a value
/// that only becomes equal to it.
#[derive(Clone, Debug)]
pub(super) struct Convert {
    cast: Cast,
    /// The old and the new fill value, if that is not what the cast makes of it.
    fill: Option<(Vec<u8>, Vec<u8>)>,
}

impl Convert {
    /// Of elements of `from` that are filled with `old`; `fill`: the new fill value, if it is not the old one cast.
    ///
    /// # Errors
    /// [`RewriteFault::Cast`] if no cast leads from one type to the other, [`RewriteFault::FillSize`].
    pub(super) fn new(
        (from, old): (&Dtype, &[u8]),
        to: &Dtype,
        fill: Option<&[u8]>,
    ) -> Result<Self, RewriteFault> {
        let cast = Cast::new(from, to)?;
        let (_, expected) = cast.sizes();
        let mut made = vec![0; expected];
        cast.apply(old, &mut made);
        let fill = match fill {
            Some(fill) if fill.len() != expected => {
                return Err(RewriteFault::FillSize { expected, found: fill.len() });
            }
            Some(fill) if fill != made => Some((old.to_vec(), fill.to_vec())),
            _ => None,
        };
        Ok(Self { cast, fill })
    }

    /// The new fill value, which the old one becomes.
    pub(super) fn fill(&self, old: &[u8]) -> Vec<u8> {
        let mut fill = vec![0; self.cast.sizes().1];
        self.apply(old, &mut fill);
        fill
    }

    /// Bytes of an element before and after.
    pub(super) fn sizes(&self) -> (usize, usize) {
        self.cast.sizes()
    }

    /// Converts elements one by one, as many as both slices hold whole.
    pub(super) fn apply(&self, elements: &[u8], out: &mut [u8]) {
        self.cast.apply(elements, out);
        let Some((old, new)) = &self.fill else { return };
        let elements = elements.chunks_exact(old.len().max(1));
        for (element, out) in elements.zip(out.chunks_exact_mut(new.len().max(1))) {
            if element == old {
                out.copy_from_slice(new);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(values: &[f64]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    fn convert(to: &str, old: f64, fill: Option<&[u8]>, values: &[f64]) -> Vec<u8> {
        let (from, to): (Dtype, Dtype) = ("<f8".parse().unwrap(), to.parse().unwrap());
        let convert = Convert::new((&from, &old.to_le_bytes()), &to, fill).unwrap();
        let mut out = vec![0; values.len() * to.size().unwrap()];
        convert.apply(&bytes(values), &mut out);
        out
    }

    #[test]
    fn only_the_bits_of_the_old_fill_value_become_the_new_one() {
        let nan = f64::from_bits(0x7ff8_0000_0000_0001);
        let fill = 9f64.to_le_bytes();
        let values = [0.0, -0.0, 1.0, nan];
        assert_eq!(convert("<f8", 0.0, Some(&fill), &values), bytes(&[9.0, -0.0, 1.0, nan]));
        assert_eq!(convert("<f8", nan, Some(&fill), &values), bytes(&[0.0, -0.0, 1.0, 9.0]));
    }

    #[test]
    fn values_that_only_become_the_old_fill_value_are_kept() {
        let out = convert("<i2", 0.0, Some(&7i16.to_le_bytes()), &[0.0, 0.3, 1.9, 7.0]);
        assert_eq!(out, [7i16, 0, 1, 7].map(i16::to_le_bytes).concat());
    }

    #[test]
    fn a_fill_value_that_is_not_named_is_cast() {
        let (from, to): (Dtype, Dtype) = ("<f8".parse().unwrap(), ">i4".parse().unwrap());
        let old = 2.5f64.to_le_bytes();
        let convert = Convert::new((&from, &old), &to, None).unwrap();
        assert_eq!(convert.fill(&old), 2i32.to_be_bytes());
        assert_eq!(convert.sizes(), (8, 4));
    }

    #[test]
    fn strings_and_numbers_are_not_cast_to_each_other() {
        let (number, string): (Dtype, Dtype) = ("<f8".parse().unwrap(), "|S4".parse().unwrap());
        let refused = Convert::new((&number, &[0; 8]), &string, None);
        assert!(matches!(refused, Err(RewriteFault::Cast(_))), "{refused:?}");
    }
}
