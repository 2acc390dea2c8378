use std::borrow::Cow;

use bytemuck::Pod;
use half::f16;
use ndarray::{Array, ArrayBase, Data, Dimension};
use num_complex::Complex;

use crate::dtype::{ByteOrder, Dtype};

/// A Rust type that elements can be read as, whatever their byte order in the file.
pub trait Element: Sized + Clone + Send + 'static {
    /// What stands in memory while bytes are read.
    #[doc(hidden)]
    type Stored: Pod + Send + Sync;

    /// Name of the type in errors.
    const NAME: &'static str;

    /// Whether elements of this type can be read as `Self`.
    #[doc(hidden)]
    fn accepts(dtype: &Dtype) -> bool;

    /// The type that arrays of `Self` are stored as, in this machine's byte order.
    #[doc(hidden)]
    fn dtype() -> Dtype;

    /// The values of bytes in native order.
    #[doc(hidden)]
    fn from_stored(stored: Vec<Self::Stored>) -> Vec<Self>;

    /// What stands in memory for values.
    #[doc(hidden)]
    fn to_stored(values: Vec<Self>) -> Vec<Self::Stored>;

    /// What stands in memory for values, where they stand.
    #[doc(hidden)]
    fn as_stored(values: &[Self]) -> &[Self::Stored];

    /// Bytes of a part whose order may have to be turned.
    #[doc(hidden)]
    const PART: usize;
}

/// Declares numbers: their name, what they are in a file, and the size of the part that has a byte order.
macro_rules! numbers {
    ($($number:ty, $part:expr, $own:expr, $dtype:pat => $accepted:expr;)*) => {$(
        impl Element for $number {
            type Stored = Self;
            const NAME: &'static str = stringify!($number);
            const PART: usize = $part;

            fn accepts(dtype: &Dtype) -> bool {
                match dtype {
                    // h5py reads an enumeration as the integers it names.
                    Dtype::Enum { base, .. } => Self::accepts(base),
                    $dtype => $accepted,
                    _ => false,
                }
            }

            fn dtype() -> Dtype {
                $own
            }

            fn from_stored(stored: Vec<Self>) -> Vec<Self> {
                stored
            }

            fn to_stored(values: Vec<Self>) -> Vec<Self> {
                values
            }

            fn as_stored(values: &[Self]) -> &[Self] {
                values
            }
        }
    )*};
}

numbers! {
    i8, 1, integer(1, true), Dtype::Integer { size, signed, .. } => *size == 1 && *signed;
    i16, 2, integer(2, true), Dtype::Integer { size, signed, .. } => *size == 2 && *signed;
    i32, 4, integer(4, true), Dtype::Integer { size, signed, .. } => *size == 4 && *signed;
    i64, 8, integer(8, true), Dtype::Integer { size, signed, .. } => *size == 8 && *signed;
    u8, 1, integer(1, false), Dtype::Integer { size, signed, .. } => *size == 1 && !*signed;
    u16, 2, integer(2, false), Dtype::Integer { size, signed, .. } => *size == 2 && !*signed;
    u32, 4, integer(4, false), Dtype::Integer { size, signed, .. } => *size == 4 && !*signed;
    u64, 8, integer(8, false), Dtype::Integer { size, signed, .. } => *size == 8 && !*signed;
    f16, 2, Dtype::Float { size: 2, order: ByteOrder::NATIVE }, Dtype::Float { size, .. } => *size == 2;
    f32, 4, Dtype::Float { size: 4, order: ByteOrder::NATIVE }, Dtype::Float { size, .. } => *size == 4;
    f64, 8, Dtype::Float { size: 8, order: ByteOrder::NATIVE }, Dtype::Float { size, .. } => *size == 8;
    Complex<f32>, 4, Dtype::Complex { size: 8, order: ByteOrder::NATIVE }, Dtype::Complex { size, .. } => *size == 8;
    Complex<f64>, 8, Dtype::Complex { size: 16, order: ByteOrder::NATIVE }, Dtype::Complex { size, .. } => *size == 16;
}

impl Element for bool {
    type Stored = u8;
    const NAME: &'static str = "bool";
    const PART: usize = 1;

    fn accepts(dtype: &Dtype) -> bool {
        matches!(dtype, Dtype::Bool)
    }

    fn dtype() -> Dtype {
        Dtype::Bool
    }

    fn from_stored(stored: Vec<u8>) -> Vec<Self> {
        stored.into_iter().map(|byte| byte != 0).collect()
    }

    fn to_stored(values: Vec<Self>) -> Vec<u8> {
        values.into_iter().map(u8::from).collect()
    }

    fn as_stored(values: &[Self]) -> &[u8] {
        bytemuck::cast_slice(values)
    }
}

/// The elements of an array in C order and the byte order of `dtype`, without a copy if they stand like that.
pub(super) fn bytes_of<'v, T, S, D>(values: &'v ArrayBase<S, D>, dtype: &Dtype) -> Cow<'v, [u8]>
where
    T: Element,
    S: Data<Elem = T>,
    D: Dimension,
{
    let mut bytes = match values.as_slice() {
        Some(values) => Cow::Borrowed(bytemuck::cast_slice(T::as_stored(values))),
        None => {
            let values: Vec<T> = values.iter().cloned().collect();
            Cow::Owned(bytemuck::cast_slice(T::as_stored(&values)).to_vec())
        }
    };
    if is_turned::<T>(dtype) {
        turn::<T>(dtype, bytes.to_mut());
    }
    bytes
}

/// The elements of an array in C order and this machine's byte order, without a copy if they stand like that.
pub(super) fn into_elements<T: Element, D: Dimension>(values: Array<T, D>) -> Elements {
    let values =
        if values.is_standard_layout() { values } else { values.as_standard_layout().into_owned() };
    let count = values.len();
    let (mut values, offset) = values.into_raw_vec_and_offset();
    // An array can be a part of its vector.
    values.truncate(offset.unwrap_or(0) + count);
    values.drain(..offset.unwrap_or(0));
    Elements(Box::new(Stored(T::to_stored(values))))
}

/// Elements in C order, wherever they are kept.
pub(super) struct Elements(Box<dyn AsRef<[u8]> + Send + Sync>);

impl From<Vec<u8>> for Elements {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Box::new(bytes))
    }
}

impl AsRef<[u8]> for Elements {
    fn as_ref(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

/// Elements as bytes.
struct Stored<P>(Vec<P>);

impl<P: Pod> AsRef<[u8]> for Stored<P> {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
}

fn integer(size: usize, signed: bool) -> Dtype {
    Dtype::Integer { size, signed, order: ByteOrder::NATIVE }
}

/// Turns the bytes of numbers from the order of `dtype` to this machine's, or back.
pub(super) fn turn<T: Element>(dtype: &Dtype, bytes: &mut [u8]) {
    if is_turned::<T>(dtype) {
        bytes.chunks_exact_mut(T::PART).for_each(<[u8]>::reverse);
    }
}

/// Whether elements of `dtype` have another byte order than this machine's.
fn is_turned<T: Element>(dtype: &Dtype) -> bool {
    match dtype {
        Dtype::Integer { order, .. }
        | Dtype::Float { order, .. }
        | Dtype::Complex { order, .. } => *order != ByteOrder::NATIVE && T::PART > 1,
        Dtype::Enum { base, .. } => is_turned::<T>(base),
        _ => false,
    }
}
