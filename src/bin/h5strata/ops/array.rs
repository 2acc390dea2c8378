//! Values on their way into a dataset or attribute.

use h5strata::dtype::{Cast, Dtype};

use super::error::ValueFault;

/// An array in C order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Array {
    pub(super) shape: Vec<u64>,
    pub(super) elements: Elements,
}

/// The elements of an [`Array`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Elements {
    /// Of a fixed size, side by side.
    Fixed { dtype: Dtype, bytes: Vec<u8> },
    /// Strings of any length.
    Strings(Vec<Vec<u8>>),
}

impl Array {
    /// The values as another type, where NumPy's rule `same_kind` allows it. Strings of a fixed number of bytes
    /// become strings of any length, but not the other way round.
    pub(super) fn cast(self, to: &Dtype) -> Result<Self, ValueFault> {
        let elements = match (self.elements, to) {
            (Elements::Strings(strings), Dtype::VariableString { .. }) => {
                Elements::Strings(strings)
            }
            (Elements::Strings(_), _) => {
                return Err(ValueFault::SameKind { from: "str".to_owned(), to: to.clone() });
            }
            (
                Elements::Fixed { dtype: Dtype::FixedString { size, padding, .. }, bytes },
                Dtype::VariableString { .. },
            ) => {
                let strings = bytes.chunks_exact(size.max(1));
                Elements::Strings(strings.map(|string| padding.trim(string).to_vec()).collect())
            }
            (Elements::Fixed { dtype, bytes }, to) => {
                let bytes = converted(&dtype, to, bytes)?;
                Elements::Fixed { dtype: to.clone(), bytes }
            }
        };
        Ok(Self { shape: self.shape, elements })
    }
}

fn converted(from: &Dtype, to: &Dtype, bytes: Vec<u8>) -> Result<Vec<u8>, ValueFault> {
    let refused = |_| ValueFault::SameKind { from: from.to_string(), to: to.clone() };
    let cast = Cast::same_kind(from, to).map_err(refused)?;
    if cast.is_identity() {
        return Ok(bytes);
    }
    let (before, after) = cast.sizes();
    let count = bytes.len() / before.max(1);
    let mut out = Vec::new();
    let len = count.checked_mul(after).ok_or(ValueFault::Memory)?;
    out.try_reserve_exact(len).map_err(|_| ValueFault::Memory)?;
    out.resize(len, 0);
    cast.apply(&bytes, &mut out);
    Ok(out)
}
