//! Elements as text: alone, in JSON, and in arrays as NumPy prints them.

mod array_text;
mod attribute;
mod column;
mod date;
mod float_column;
mod json;
mod number;
mod plain;

pub(crate) use array_text::{ArrayWriter, EDGE, THRESHOLD};
pub(crate) use attribute::{attribute_json, attribute_text};
pub(crate) use column::Column;
pub(crate) use date::DateType;
pub(crate) use json::json;
pub(crate) use plain::{hex_digits, member, plain};
