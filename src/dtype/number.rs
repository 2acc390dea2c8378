//! Single numbers, read from bytes of one type and written as another.

use half::f16;

use super::{ByteOrder, Dtype};

/// A number on its way between two types; every number of HDF5's fixed types fits one of these.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    /// Of an integer type.
    Integer(i128),
    /// Of a float type of up to 8 bytes.
    Float(f64),
}

/// The type of a number of at most 8 bytes, or of a part of a complex one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Format {
    /// What the bytes are.
    pub(super) kind: Kind,
    /// Bytes.
    pub(super) size: usize,
    /// Byte order.
    pub(super) order: ByteOrder,
}

/// What the bytes of a number are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Two's complement.
    Signed,
    /// Without a sign.
    Unsigned,
    /// IEEE 754.
    Float,
    /// One byte, 0 or 1.
    Bool,
}

impl Format {
    /// The format of real numbers; `None` for what is none and for `long double`.
    pub(super) fn of(dtype: &Dtype) -> Option<Self> {
        match *dtype {
            Dtype::Integer { size: size @ (1 | 2 | 4 | 8), signed, order } => {
                let kind = if signed { Kind::Signed } else { Kind::Unsigned };
                Some(Self { kind, size, order })
            }
            Dtype::Float { size: size @ (2 | 4 | 8), order } => {
                Some(Self { kind: Kind::Float, size, order })
            }
            Dtype::Bool => Some(Self { kind: Kind::Bool, size: 1, order: ByteOrder::Little }),
            Dtype::Enum { ref base, .. } => Self::of(base),
            _ => None,
        }
    }

    /// The number in the first bytes.
    pub(super) fn read(self, bytes: &[u8]) -> Number {
        let mut low = [0; 8];
        let bytes = &bytes[..self.size];
        low[..self.size].copy_from_slice(bytes);
        if self.order == ByteOrder::Big {
            low[..self.size].reverse();
        }
        let bits = u64::from_le_bytes(low);
        let unused = 64 - 8 * self.size;
        match (self.kind, low) {
            (Kind::Unsigned, _) => Number::Integer(bits.into()),
            (Kind::Signed, _) => Number::Integer((bits.cast_signed() << unused >> unused).into()),
            (Kind::Bool, _) => Number::Integer(i128::from(bits != 0)),
            (Kind::Float, [a, b, ..]) if self.size == 2 => {
                Number::Float(f16::from_le_bytes([a, b]).to_f64())
            }
            (Kind::Float, [a, b, c, d, ..]) if self.size == 4 => {
                Number::Float(f32::from_le_bytes([a, b, c, d]).into())
            }
            (Kind::Float, _) => Number::Float(f64::from_bits(bits)),
        }
    }

    /// Writes a number into the first bytes, as NumPy's `astype` does.
    pub(super) fn write(self, number: Number, out: &mut [u8]) {
        let mut low = match (self.kind, number) {
            (Kind::Bool, number) => u64::from(number.is_true()).to_le_bytes(),
            (Kind::Float, number) => self.float_bytes(number),
            (Kind::Signed | Kind::Unsigned, Number::Integer(value)) => low_bytes(value),
            (Kind::Signed | Kind::Unsigned, Number::Float(value)) => {
                low_bytes(self.truncated(value))
            }
        };
        if self.order == ByteOrder::Big {
            low[..self.size].reverse();
        }
        out[..self.size].copy_from_slice(&low[..self.size]);
    }

    /// The bytes of the nearest float.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "rounding to the nearest float is what a conversion is for"
    )]
    fn float_bytes(self, number: Number) -> [u8; 8] {
        let bits = match (self.size, number) {
            (2, Number::Integer(value)) => f16::from_f64(value as f64).to_bits().into(),
            (2, Number::Float(value)) => f16::from_f64(value).to_bits().into(),
            (4, Number::Integer(value)) => (value as f32).to_bits().into(),
            (4, Number::Float(value)) => (value as f32).to_bits().into(),
            (_, Number::Integer(value)) => (value as f64).to_bits(),
            (_, Number::Float(value)) => value.to_bits(),
        };
        bits.to_le_bytes()
    }

    /// A float without its fraction, as the conversions of x86-64 that NumPy's loops compile to: through
    /// 32 bits for the shorter types and 64 for the longer; what does not fit is the lowest number of
    /// that width.
    #[expect(clippy::cast_possible_truncation, reason = "the range is checked first")]
    fn truncated(self, value: f64) -> i128 {
        let whole = value.trunc();
        let through_32 = self.size < 4 || (self.size, self.kind) == (4, Kind::Signed);
        let lowest = i128::from(if through_32 { i64::from(i32::MIN) } else { i64::MIN });
        let end = match self {
            Self { kind: Kind::Unsigned, size: 8, .. } => 1 << 64,
            _ => -lowest,
        };
        // A NaN converts to 0; everything else outside of 128 bits to their end.
        let integer = whole as i128;
        if (lowest..end).contains(&integer) && !value.is_nan() { integer } else { lowest }
    }
}

impl Number {
    /// Whether it is not zero; a NaN is not.
    pub(super) fn is_true(self) -> bool {
        match self {
            Self::Integer(value) => value != 0,
            Self::Float(value) => value != 0.0,
        }
    }
}

/// The lowest 8 bytes, least significant first: integers wrap.
fn low_bytes(value: i128) -> [u8; 8] {
    let [a, b, c, d, e, f, g, h, ..] = value.to_le_bytes();
    [a, b, c, d, e, f, g, h]
}
