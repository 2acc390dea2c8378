//! One element as text, as Python writes a value that stands alone.

use h5strata::dtype::{ByteOrder, Dtype, Field};

use super::date::DateType;
use super::number::{Float, float, integer};

/// The element as text: `1`, `0.1`, `True`, `(1+2j)`, `'text'`, `(1, 2.5)`, `[1, 2]`, `0x00ff`.
pub(crate) fn plain(dtype: &Dtype, bytes: &[u8]) -> String {
    match dtype {
        Dtype::Integer { signed, order, .. } => {
            integer(bytes, *signed, *order).map_or_else(|| hex(bytes), |value| value.to_string())
        }
        Dtype::Float { order, .. } => float(bytes, *order).map_or_else(|| hex(bytes), Float::repr),
        Dtype::Bool => {
            if bytes.iter().any(|&byte| byte != 0) { "True" } else { "False" }.to_owned()
        }
        Dtype::Enum { base, .. } => plain(base, bytes),
        Dtype::Complex { order, .. } => match complex(bytes, *order) {
            Some((real, imaginary)) => format!("({}{}j)", bare(real), with_sign(&bare(imaginary))),
            None => hex(bytes),
        },
        Dtype::FixedString { padding, .. } => quoted(padding.trim(bytes)),
        Dtype::VariableString { .. } => quoted(bytes),
        Dtype::Compound { fields, .. } => {
            let texts: Vec<String> =
                fields.iter().map(|field| plain(&field.dtype, member(field, bytes))).collect();
            format!("({}{})", texts.join(", "), if texts.len() == 1 { "," } else { "" })
        }
        Dtype::Array { base, shape } => {
            nested(shape, bytes, &|element| plain(base, element), base.size().unwrap_or(1))
        }
        Dtype::Opaque { tag, size } => match DateType::from_tag(tag, *size) {
            Some(date) => date.text(bytes),
            None => hex(bytes),
        },
        _ => hex(bytes),
    }
}

/// The bytes of a member; none where the type's own size is too small for it.
pub(crate) fn member<'b>(field: &Field, bytes: &'b [u8]) -> &'b [u8] {
    let size = field.dtype.size().unwrap_or(0);
    field.offset.checked_add(size).and_then(|end| bytes.get(field.offset..end)).unwrap_or_default()
}

/// An array in an element as nested lists.
pub(crate) fn nested(
    shape: &[u64],
    bytes: &[u8],
    text: &dyn Fn(&[u8]) -> String,
    size: usize,
) -> String {
    let Some((&count, inner)) = shape.split_first() else { return text(bytes) };
    let count = usize::try_from(count).unwrap_or(0);
    let part = bytes.len() / count.max(1);
    let texts: Vec<String> = bytes
        .chunks_exact(part.max(size.max(1)))
        .take(count)
        .map(|part| nested(inner, part, text, size))
        .collect();
    format!("[{}]", texts.join(", "))
}

/// Real and imaginary part.
pub(crate) fn complex(bytes: &[u8], order: ByteOrder) -> Option<(Float, Float)> {
    let (real, imaginary) = bytes.split_at(bytes.len() / 2);
    Some((float(real, order)?, float(imaginary, order)?))
}

/// A part of a complex number: without the `.0` of whole numbers.
fn bare(value: Float) -> String {
    let text = value.repr();
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

fn with_sign(text: &str) -> String {
    if text.starts_with('-') { text.to_owned() } else { format!("+{text}") }
}

/// A string between quotes, as Python writes it; `b'...'` if it is not UTF-8.
pub(crate) fn quoted(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    match std::str::from_utf8(bytes) {
        Ok(text) => {
            let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
            out.push(quote);
            for character in text.chars() {
                match character {
                    '\\' => out.push_str("\\\\"),
                    '\n' => out.push_str("\\n"),
                    '\r' => out.push_str("\\r"),
                    '\t' => out.push_str("\\t"),
                    _ if character == quote => out.extend(['\\', character]),
                    _ if character.is_ascii_control() => {
                        out.push_str(&format!("\\x{:02x}", u32::from(character)));
                    }
                    _ if character.is_control() => out.extend(character.escape_unicode()),
                    _ => out.push(character),
                }
            }
            out.push(quote);
        }
        Err(_) => {
            out.push_str("b'");
            for &byte in bytes {
                match byte {
                    b'\\' | b'\'' => out.extend(['\\', char::from(byte)]),
                    b' '..=b'~' => out.push(char::from(byte)),
                    _ => out.push_str(&format!("\\x{byte:02x}")),
                }
            }
            out.push('\'');
        }
    }
    out
}

/// Bytes that are not interpreted.
fn hex(bytes: &[u8]) -> String {
    format!("0x{}", hex_digits(bytes))
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex_digits(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        out.push_str(&format!("{byte:02x}"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_pythons() {
        for (bytes, text) in [
            (&b"plain"[..], "'plain'"),
            (b"it's", "\"it's\""),
            (b"'\"", "'\\'\"'"),
            (b"a\n\x1b\\", "'a\\n\\x1b\\\\'"),
            ("ünïcödé ☃".as_bytes(), "'ünïcödé ☃'"),
            (b"\xff'a\n", "b'\\xff\\'a\\x0a'"),
        ] {
            assert_eq!(quoted(bytes), text);
        }
    }

    #[test]
    fn compounds_are_tuples_and_arrays_are_lists() {
        let byte = Dtype::Integer { size: 1, signed: false, order: ByteOrder::Little };
        let matrix = Dtype::Array { base: Box::new(byte.clone()), shape: vec![2, 2] };
        let fields = vec![
            Field { name: "late".into(), offset: 5, dtype: byte.clone() },
            Field { name: "matrix".into(), offset: 1, dtype: matrix },
        ];
        let compound = Dtype::Compound { size: 6, fields };
        assert_eq!(plain(&compound, &[0, 1, 2, 3, 4, 5]), "(5, [[1, 2], [3, 4]])");
        let outside = Field { name: "x".into(), offset: usize::MAX, dtype: byte };
        assert_eq!(member(&outside, &[1]), b"");
    }

    #[test]
    fn complex_numbers_are_pythons() {
        let dtype = Dtype::Complex { size: 8, order: ByteOrder::Big };
        let bytes = [1.5f32.to_be_bytes(), (-2.0f32).to_be_bytes()].concat();
        assert_eq!(plain(&dtype, &bytes), "(1.5-2j)");
    }
}
