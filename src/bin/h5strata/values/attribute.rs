//! A user's attribute as text and as JSON.

use h5strata::store::{Attribute, AttributeValue};
use serde_json::Value;

use super::{json, plain};

/// Elements shown of an attribute.
const SHOWN: usize = 6;

/// The attribute's value in one line, long ones cut in the middle.
pub(crate) fn attribute_text(attribute: &Attribute) -> String {
    let Some(elements) = elements(attribute) else {
        return match attribute.value {
            AttributeValue::Empty => "(empty)".to_owned(),
            _ => "(holds addresses in the file)".to_owned(),
        };
    };
    let text = |bytes: &&[u8]| plain(&attribute.dtype, bytes);
    if attribute.shape.is_empty() {
        return elements.first().map(text).unwrap_or_default();
    }
    if elements.len() <= SHOWN {
        return format!("[{}]", elements.iter().map(text).collect::<Vec<_>>().join(", "));
    }
    let (head, tail) = (&elements[..SHOWN / 2], &elements[elements.len() - SHOWN / 2..]);
    let words = head.iter().map(text).chain(["...".to_owned()]).chain(tail.iter().map(text));
    format!("[{}] ({} values)", words.collect::<Vec<_>>().join(", "), elements.len())
}

/// The attribute's value: of a scalar the value, else all of them in C order.
pub(crate) fn attribute_json(attribute: &Attribute) -> Value {
    let Some(elements) = elements(attribute) else { return Value::Null };
    let mut values = elements.into_iter().map(|bytes| json(&attribute.dtype, bytes));
    if attribute.shape.is_empty() {
        values.next().unwrap_or(Value::Null)
    } else {
        Value::Array(values.collect())
    }
}

/// The bytes of each element; `None` if there is nothing to read.
fn elements(attribute: &Attribute) -> Option<Vec<&[u8]>> {
    match &attribute.value {
        AttributeValue::Bytes(bytes) => {
            let size = attribute.dtype.size().unwrap_or(1).max(1);
            Some(bytes.chunks_exact(size).collect())
        }
        AttributeValue::Strings(strings) => Some(strings.iter().map(Vec::as_slice).collect()),
        _ => None,
    }
}
