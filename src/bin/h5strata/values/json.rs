//! One element as a JSON value.

use h5strata::dtype::Dtype;
use serde_json::{Map, Number, Value};

use super::number::{float, integer};
use super::plain::{complex, member, plain};

/// The element as JSON: numbers and booleans as such, compounds as objects, arrays and complex numbers as
/// lists, strings and all else as text. What JSON has no number for (`nan`, `inf`) is text as well.
pub(crate) fn json(dtype: &Dtype, bytes: &[u8]) -> Value {
    let number = match dtype {
        Dtype::Integer { signed, order, .. } => {
            integer(bytes, *signed, *order).and_then(Number::from_i128).map(Value::Number)
        }
        Dtype::Float { order, .. } => float(bytes, *order).and_then(|value| {
            // The shortest text of the stored precision, not the digits of a wider one.
            let value = value.repr().parse::<f64>().ok()?;
            Number::from_f64(value).map(Value::Number)
        }),
        Dtype::Bool => Some(Value::Bool(bytes.iter().any(|&byte| byte != 0))),
        Dtype::Enum { base, .. } => Some(json(base, bytes)),
        Dtype::Complex { size, order } if complex(bytes, *order).is_some() => {
            let part = Dtype::Float { size: size / 2, order: *order };
            let (real, imaginary) = bytes.split_at(size / 2);
            Some(Value::Array(vec![json(&part, real), json(&part, imaginary)]))
        }
        Dtype::FixedString { padding, .. } => text(padding.trim(bytes)),
        Dtype::VariableString { .. } => text(bytes),
        Dtype::Compound { fields, .. } => Some(Value::Object(
            fields
                .iter()
                .map(|field| (field.name.clone(), json(&field.dtype, member(field, bytes))))
                .collect::<Map<_, _>>(),
        )),
        Dtype::Array { base, .. } => {
            let elements = bytes.chunks_exact(base.size().unwrap_or(1).max(1));
            Some(Value::Array(elements.map(|element| json(base, element)).collect()))
        }
        _ => None,
    };
    number.unwrap_or_else(|| Value::String(plain(dtype, bytes)))
}

fn text(bytes: &[u8]) -> Option<Value> {
    std::str::from_utf8(bytes).ok().map(|text| Value::String(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use h5strata::dtype::ByteOrder;

    use super::*;

    #[test]
    fn values_are_those_of_json() {
        let float = Dtype::Float { size: 4, order: ByteOrder::Little };
        assert_eq!(json(&float, &0.1f32.to_le_bytes()).to_string(), "0.1");
        assert_eq!(json(&float, &f32::NAN.to_le_bytes()), "nan");
        let integer = Dtype::Integer { size: 8, signed: false, order: ByteOrder::Little };
        assert_eq!(json(&integer, &[0xff; 8]).to_string(), u64::MAX.to_string());
        assert_eq!(json(&Dtype::Bool, &[1]), true);
        let long = Dtype::Float { size: 16, order: ByteOrder::Little };
        assert_eq!(json(&long, &[0; 16]), format!("0x{}", "00".repeat(16)));
        let complex = Dtype::Complex { size: 8, order: ByteOrder::Big };
        let bytes = [1.5f32.to_be_bytes(), 2f32.to_be_bytes()].concat();
        assert_eq!(json(&complex, &bytes).to_string(), "[1.5,2.0]");
    }
}
