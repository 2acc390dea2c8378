//! Values in JSON as arrays.

use h5strata::dtype::{ByteOrder, Charset, Dtype, Literal};
use serde_json::{Number, Value};

use super::array::{Array, Elements};
use super::error::ValueFault;

/// Values as an array of a type. Nested lists are its axes; a single value has none. Nothing is cut or wrapped.
pub(super) fn array(value: &Value, dtype: &Dtype) -> Result<Array, ValueFault> {
    let (mut shape, values) = flatten(value)?;
    if dtype.is_variable_string() {
        let strings = values.into_iter().map(string).collect::<Result<_, _>>()?;
        return Ok(Array { shape, elements: Elements::Strings(strings) });
    }
    // The innermost lists are elements, if those are arrays.
    let (mut element, mut inner) = (dtype, Vec::new());
    while let Dtype::Array { base, shape } = element {
        inner.extend_from_slice(shape);
        element = base;
    }
    if !shape.ends_with(&inner) {
        return Err(ValueFault::Inner { dtype: dtype.clone(), shape: inner });
    }
    shape.truncate(shape.len() - inner.len());
    let mut bytes = Vec::new();
    for value in values {
        push(element, value, &mut bytes)?;
    }
    Ok(Array { shape, elements: Elements::Fixed { dtype: dtype.clone(), bytes } })
}

/// Values as an array of the type that NumPy would give it: booleans, `i8`, `u8` where that is too small, `f8`, or
/// strings of any length. Without any it is `f8`.
pub(super) fn array_of_own_type(value: &Value) -> Result<Array, ValueFault> {
    let (_, values) = flatten(value)?;
    array(value, &own_type(&values)?)
}

/// The bytes of one element.
pub(super) fn element(value: &Value, dtype: &Dtype) -> Result<Vec<u8>, ValueFault> {
    let Array { shape, elements } = array(value, dtype)?;
    match elements {
        Elements::Fixed { bytes, .. } if shape.is_empty() => Ok(bytes),
        Elements::Strings(mut strings) if shape.is_empty() => Ok(strings.pop().unwrap_or_default()),
        _ => Err(ValueFault::List),
    }
}

/// The shape of nested lists, and what is in them.
fn flatten(value: &Value) -> Result<(Vec<u64>, Vec<&Value>), ValueFault> {
    let mut shape = Vec::new();
    let mut level = vec![value];
    while level.first().is_some_and(|first| first.is_array()) {
        let length = level[0].as_array().map_or(0, Vec::len);
        let mut next = Vec::with_capacity(level.len() * length);
        for value in level {
            let list = value.as_array().filter(|list| list.len() == length);
            next.extend(list.ok_or(ValueFault::Ragged)?);
        }
        shape.push(length as u64);
        level = next;
    }
    if level.iter().any(|value| value.is_array()) {
        return Err(ValueFault::Ragged);
    }
    Ok((shape, level))
}

fn own_type(values: &[&Value]) -> Result<Dtype, ValueFault> {
    let order = ByteOrder::NATIVE;
    let float = Dtype::Float { size: 8, order };
    let Some(first) = values.first() else { return Ok(float) };
    let all = |is: fn(&Value) -> bool| values.iter().all(|value| is(value));
    match first {
        _ if values.iter().any(|value| value.is_null()) => Err(ValueFault::Null),
        _ if values.iter().any(|value| value.is_object()) => Err(ValueFault::Object),
        Value::String(_) if all(Value::is_string) => {
            Ok(Dtype::VariableString { charset: Charset::Utf8 })
        }
        Value::Bool(_) if all(Value::is_boolean) => Ok(Dtype::Bool),
        Value::Number(_) if all(Value::is_number) => Ok(match () {
            () if all(Value::is_i64) => Dtype::Integer { size: 8, signed: true, order },
            () if all(Value::is_u64) => Dtype::Integer { size: 8, signed: false, order },
            () => float,
        }),
        _ => Err(ValueFault::Mixed),
    }
}

/// Appends an element that is no list.
fn push(dtype: &Dtype, value: &Value, out: &mut Vec<u8>) -> Result<(), ValueFault> {
    let Dtype::Compound { size, fields } = dtype else {
        return Ok(dtype.push_literal(literal(value)?, out)?);
    };
    let wrong = || ValueFault::Members {
        dtype: dtype.clone(),
        members: fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>().join(", "),
    };
    let members = value.as_object().filter(|object| object.len() == fields.len());
    let members = members.ok_or_else(wrong)?;
    let start = out.len();
    out.resize(start + size, 0);
    for field in fields {
        let bytes = element(members.get(&field.name).ok_or_else(wrong)?, &field.dtype)?;
        let place = out[start..].get_mut(field.offset..).ok_or_else(wrong)?;
        place.get_mut(..bytes.len()).ok_or_else(wrong)?.copy_from_slice(&bytes);
    }
    Ok(())
}

fn literal(value: &Value) -> Result<Literal<'_>, ValueFault> {
    Ok(match value {
        Value::Bool(value) => Literal::Bool(*value),
        Value::String(text) => Literal::Text(text),
        Value::Number(number) => number_literal(number)?,
        Value::Null => return Err(ValueFault::Null),
        Value::Array(_) => return Err(ValueFault::List),
        Value::Object(_) => return Err(ValueFault::Object),
    })
}

fn number_literal(number: &Number) -> Result<Literal<'static>, ValueFault> {
    let integer = number.as_i64().map(Literal::Integer);
    let integer = integer.or_else(|| number.as_u64().map(Literal::Unsigned));
    integer.or_else(|| number.as_f64().map(Literal::Float)).ok_or(ValueFault::Mixed)
}

fn string(value: &Value) -> Result<Vec<u8>, ValueFault> {
    match value {
        Value::String(text) => Ok(text.clone().into_bytes()),
        Value::Null => Err(ValueFault::Null),
        other => Err(ValueFault::NoString { found: other.to_string() }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fixed(value: Value, dtype: &str) -> (Vec<u64>, Vec<u8>) {
        let array = array(&value, &dtype.parse().unwrap()).unwrap();
        match array.elements {
            Elements::Fixed { bytes, .. } => (array.shape, bytes),
            Elements::Strings(_) => panic!("strings"),
        }
    }

    #[test]
    fn lists_are_axes_and_their_values_elements() {
        assert_eq!(fixed(json!(7), "|u1"), (vec![], vec![7]));
        assert_eq!(fixed(json!([[1, 2, 3], [4, 5, 6]]), ">u2").0, [2, 3]);
        assert_eq!(fixed(json!([[], []]), "<f8"), (vec![2, 0], vec![]));
        assert_eq!(fixed(json!([[1, 2], [3, 4]]), "('|u1', (2,))"), (vec![2], vec![1, 2, 3, 4]));
        let compound = json!([{"a": 1, "b": [true, false]}, {"a": 2, "b": [false, true]}]);
        let bytes = vec![1, 0, 1, 0, 2, 0, 0, 1];
        assert_eq!(fixed(compound, "[('a', '<i2'), ('b', '|b1', (2,))]"), (vec![2], bytes));
    }

    #[test]
    fn values_have_the_type_that_numpy_would_give_them() {
        for (value, expected) in [
            (json!([1, -2]), "int64"),
            (json!([u64::MAX, 1]), "uint64"),
            (json!([1, 2.5]), "float64"),
            (json!([]), "float64"),
            (json!(true), "bool"),
        ] {
            let array = array_of_own_type(&value).unwrap();
            let expected: Dtype = expected.parse().unwrap();
            assert!(
                matches!(array.elements, Elements::Fixed { dtype, .. } if dtype == expected),
                "{value}"
            );
        }
        let strings = Elements::Strings(vec![b"a".to_vec(), b"".to_vec()]);
        assert_eq!(array_of_own_type(&json!(["a", ""])).unwrap().elements, strings);
    }

    #[test]
    fn what_is_no_array_is_refused() {
        let byte: Dtype = "|u1".parse().unwrap();
        for value in [json!([1, [2]]), json!([[1], [2, 3]]), json!([[1], 2]), json!([[[]], [1]])] {
            assert!(matches!(array(&value, &byte), Err(ValueFault::Ragged)), "{value}");
        }
        for value in [
            json!(256),
            json!(-1),
            json!(1.5),
            json!("1"),
            json!(true),
            json!(null),
            json!({"a": 1}),
        ] {
            assert!(array(&value, &byte).is_err(), "{value}");
        }
        for value in [json!([1, "a"]), json!([true, 1]), json!([null]), json!([{"a": 1}])] {
            assert!(array_of_own_type(&value).is_err(), "{value}");
        }
        let pair: Dtype = "('|u1', (2,))".parse().unwrap();
        assert!(matches!(array(&json!([1, 2, 3]), &pair), Err(ValueFault::Inner { .. })));
    }
}
