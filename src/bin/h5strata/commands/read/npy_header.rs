//! The header of a `.npy` file: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>.

use h5strata::dtype::{ByteOrder, Dtype, Field};

use crate::output::tuple;
use crate::values::DateType;

/// What every file starts with.
const MAGIC: &[u8] = b"\x93NUMPY";

/// The data starts at a multiple of this.
const ALIGNMENT: usize = 64;

/// NumPy's description of a type, as the Python literal that stands in the header, and the axes that a type
/// brings with it. `None` for types that NumPy cannot describe.
pub(super) fn describe(dtype: &Dtype) -> Option<(String, Vec<u64>)> {
    match dtype {
        Dtype::Array { base, shape } => {
            let (description, inner) = describe(base)?;
            Some((description, [shape.as_slice(), &inner].concat()))
        }
        Dtype::Compound { size, fields } => Some((fields_text(fields, *size)?, Vec::new())),
        dtype => Some((format!("'{}'", name(dtype)?), Vec::new())),
    }
}

/// The name of a type without members.
fn name(dtype: &Dtype) -> Option<String> {
    Some(match dtype {
        Dtype::Integer { size: 1 | 2 | 4 | 8, .. }
        | Dtype::Float { size: 2 | 4 | 8 | 16, .. }
        | Dtype::Complex { size: 8 | 16 | 32, .. }
        | Dtype::Bool
        | Dtype::FixedString { .. } => dtype.to_string(),
        Dtype::Enum { base, .. } => name(base)?,
        Dtype::Opaque { tag, size } if DateType::from_tag(tag, *size).is_some() => {
            dtype.to_string()
        }
        dtype if dtype.has_pointers() => return None,
        // Sizes that no type of NumPy has, and bytes without meaning.
        dtype => format!("|V{}", dtype.size()?),
    })
}

/// The members in the order they lie in memory, with what lies between them; `None` if they overlap.
fn fields_text(fields: &[Field], size: usize) -> Option<String> {
    let mut sorted: Vec<&Field> = fields.iter().collect();
    sorted.sort_by_key(|field| field.offset);
    let mut items = Vec::new();
    let mut end = 0;
    let gap = |from: usize, to: usize| match to.checked_sub(from)? {
        0 => Some(None),
        bytes => Some(Some(format!("('', '|V{bytes}')"))),
    };
    for field in sorted {
        items.extend(gap(end, field.offset)?);
        let (description, shape) = describe(&field.dtype)?;
        let shape = if shape.is_empty() { String::new() } else { format!(", {}", tuple(&shape)) };
        items.push(format!("({}, {description}{shape})", literal(&field.name)));
        end = field.offset.checked_add(field.dtype.size()?)?;
    }
    items.extend(gap(end, size)?);
    Some(format!("[{}]", items.join(", ")))
}

/// A name as a Python string literal.
fn literal(name: &str) -> String {
    let mut text = String::from("'");
    for character in name.chars() {
        match character {
            '\'' | '\\' => text.extend(['\\', character]),
            _ if character.is_control() => {
                text.push_str(&format!("\\x{:02x}", u32::from(character)));
            }
            _ => text.push(character),
        }
    }
    text.push('\'');
    text
}

/// The type of strings of `characters` code points.
pub(super) fn unicode(characters: u64) -> String {
    let order = if ByteOrder::NATIVE == ByteOrder::Little { '<' } else { '>' };
    format!("'{order}U{characters}'")
}

/// The header of an array in C order.
pub(super) fn header(description: &str, shape: &[u64]) -> Vec<u8> {
    let text =
        format!("{{'descr': {description}, 'fortran_order': False, 'shape': {}, }}", tuple(shape));
    // Version 3 for names that are not ASCII, 2 for headers too long for 16 bits.
    let padded = |length_bytes: usize| {
        let front = MAGIC.len() + 2 + length_bytes;
        (front + text.len() + 1).next_multiple_of(ALIGNMENT) - front
    };
    let mut header = MAGIC.to_vec();
    let length = match u16::try_from(padded(2)) {
        Ok(length) if text.is_ascii() => {
            header.extend([1, 0]);
            header.extend(length.to_le_bytes());
            usize::from(length)
        }
        _ => {
            header.extend([if text.is_ascii() { 2 } else { 3 }, 0]);
            let length = padded(4);
            header.extend(u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
            length
        }
    };
    let end = header.len() + length;
    header.extend(text.into_bytes());
    header.resize(end - 1, b' ');
    header.push(b'\n');
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_aligned() {
        for description in ["'<f8'".to_owned(), format!("'{}'", "x".repeat(70_000)), "'ü'".into()]
        {
            let header = header(&description, &[3, 4]);
            assert!(header.len().is_multiple_of(ALIGNMENT));
            assert_eq!(header.last(), Some(&b'\n'));
        }
        assert_eq!(header("'<f8'", &[])[6..8], [1, 0]);
    }

    #[test]
    fn gaps_are_kept_and_overlaps_refused() {
        let field = |name: &str, offset| Field {
            name: name.into(),
            offset,
            dtype: Dtype::Integer { size: 2, signed: true, order: ByteOrder::Big },
        };
        let text = fields_text(&[field("late", 6), field("it's", 1)], 10).unwrap();
        let gap = |bytes| format!("('', '|V{bytes}')");
        let expected =
            format!("[{}, ('it\\'s', '>i2'), {}, ('late', '>i2'), {}]", gap(1), gap(3), gap(2));
        assert_eq!(text, expected);
        assert_eq!(fields_text(&[field("a", 0), field("b", 1)], 4), None);
        assert_eq!(fields_text(&[field("a", 3)], 4), None);
    }
}
