//! Element types from the text NumPy writes for them.

use std::str::FromStr;

use super::text::Cursor;
use super::{ByteOrder, Charset, Dtype, Field, Padding};

/// How deep types may be nested.
const MAX_DEPTH: usize = 32;

/// Why a text is no element type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseDtypeError {
    /// Something else should stand at a position.
    #[error("type {text:?}: expected {expected} at byte {position}")]
    Syntax {
        /// The text.
        text: String,
        /// Where, in bytes from 0.
        position: usize,
        /// What should stand there.
        expected: &'static str,
    },
    /// A name that stands for no type of HDF5.
    #[error("unknown type {name:?}: expected one such as <i8, >f4, |b1, |S5, str or float64")]
    Unknown {
        /// The name.
        name: String,
    },
    /// A string of NumPy's own kind, four bytes a character, which HDF5 does not have.
    #[error("type {name:?} does not exist in HDF5: use str, or S and a number of bytes")]
    FixedUnicode {
        /// The name.
        name: String,
    },
    /// A size that the type cannot have.
    #[error("type {name:?} cannot have this size")]
    Size {
        /// The name.
        name: String,
    },
    /// Two members of one name.
    #[error("two members named {name:?}")]
    DuplicateField {
        /// The name.
        name: String,
    },
    /// Types nested too deep.
    #[error("types nested deeper than {MAX_DEPTH}")]
    TooDeep,
}

/// Reads what [`Display`](std::fmt::Display) writes, and NumPy's other names: `i8`, `int64`, `float32`,
/// `complex128`, `bool`.
///
/// Without a byte order it is this machine's. What the text does not tell is as h5py has it:
/// `|S5` is ASCII filled up with zeros, `str` is UTF-8, `|V4` has no tag, members stand without gaps;
/// the text of an enumeration gives the integers below it.
impl FromStr for Dtype {
    type Err = ParseDtypeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut cursor = Cursor::new(text);
        match cursor.peek() {
            Some('[' | '(' | '\'' | '"') => {
                let dtype = nested(&mut cursor, 0)?;
                match cursor.peek() {
                    None => Ok(dtype),
                    Some(_) => Err(cursor.unexpected("the end")),
                }
            }
            _ => named(text.trim()),
        }
    }
}

/// A name in quotes, a list of members, or an array as `(type, shape)`.
fn nested(cursor: &mut Cursor<'_>, depth: usize) -> Result<Dtype, ParseDtypeError> {
    if depth == MAX_DEPTH {
        return Err(ParseDtypeError::TooDeep);
    }
    match cursor.peek() {
        Some('[') => compound(cursor, depth),
        Some('(') => {
            cursor.expect('(', "a type")?;
            let base = nested(cursor, depth + 1)?;
            cursor.expect(',', "a comma and a shape")?;
            let dtype = array(cursor, base)?;
            cursor.expect(')', "a closing parenthesis")?;
            Ok(dtype)
        }
        Some('\'' | '"') => named(cursor.quoted()?),
        _ => Err(cursor.unexpected("a type")),
    }
}

/// Members: `[('a', '<i4'), ('b', '<i8', (2,))]`.
fn compound(cursor: &mut Cursor<'_>, depth: usize) -> Result<Dtype, ParseDtypeError> {
    cursor.expect('[', "a list")?;
    let mut fields: Vec<Field> = Vec::new();
    let mut size = 0_usize;
    while !cursor.take(']') {
        if !fields.is_empty() {
            cursor.expect(',', "a comma or the end of the list")?;
            if cursor.take(']') {
                break;
            }
        }
        cursor.expect('(', "a member")?;
        let name = cursor.quoted()?.to_owned();
        cursor.expect(',', "a comma and a type")?;
        let mut dtype = nested(cursor, depth + 1)?;
        if cursor.take(',') {
            dtype = array(cursor, dtype)?;
        }
        cursor.expect(')', "a closing parenthesis")?;
        if fields.iter().any(|field| field.name == name) {
            return Err(ParseDtypeError::DuplicateField { name });
        }
        let wrong = || ParseDtypeError::Size { name: dtype.to_string() };
        let end = dtype.size().and_then(|bytes| size.checked_add(bytes)).ok_or_else(wrong)?;
        fields.push(Field { name, offset: size, dtype });
        size = end;
    }
    if fields.is_empty() {
        return Err(cursor.unexpected("a member"));
    }
    Ok(Dtype::Compound { size, fields })
}

/// An array of `base` with the shape that follows: `(2,)`, `(2, 3)` or `2`.
fn array(cursor: &mut Cursor<'_>, base: Dtype) -> Result<Dtype, ParseDtypeError> {
    let mut shape = Vec::new();
    if cursor.take('(') {
        while !cursor.take(')') {
            if !shape.is_empty() {
                cursor.expect(',', "a comma or the end of the shape")?;
                if cursor.take(')') {
                    break;
                }
            }
            shape.push(cursor.number()?);
        }
    } else {
        shape.push(cursor.number()?);
    }
    let is_empty = shape.is_empty() || shape.contains(&0);
    let dtype = Dtype::Array { base: Box::new(base), shape };
    match dtype.size() {
        Some(_) if !is_empty => Ok(dtype),
        _ => Err(ParseDtypeError::Size { name: dtype.to_string() }),
    }
}

/// A type by its name: `<i8`, `int64`, `str`.
fn named(name: &str) -> Result<Dtype, ParseDtypeError> {
    let order = match name.chars().next() {
        Some('<') => ByteOrder::Little,
        Some('>') => ByteOrder::Big,
        _ => ByteOrder::NATIVE,
    };
    let code = name.strip_prefix(['<', '>', '|', '=']).unwrap_or(name);
    let unknown = || ParseDtypeError::Unknown { name: name.to_owned() };
    let (kind, bytes) = match code {
        "str" if code == name => return Ok(Dtype::VariableString { charset: Charset::Utf8 }),
        "bool" | "?" => ('b', "1"),
        _ => match long_name(code) {
            Some(kind_and_bytes) if code == name => kind_and_bytes,
            _ => {
                let mut rest = code.chars();
                (rest.next().ok_or_else(unknown)?, rest.as_str())
            }
        },
    };
    if let ('M' | 'm', Some(unit)) = (kind, bytes.strip_prefix('8')) {
        return date(kind, unit, order).ok_or_else(unknown);
    }
    if kind == 'U' {
        return Err(ParseDtypeError::FixedUnicode { name: name.to_owned() });
    }
    if !matches!(kind, 'i' | 'u' | 'f' | 'c' | 'b' | 'S' | 'V') {
        return Err(unknown());
    }
    let is_number = bytes.bytes().all(|byte| byte.is_ascii_digit());
    let size = bytes.parse().ok().filter(|_| is_number).ok_or_else(unknown)?;
    // HDF5 has no order for a single byte but this.
    let order = if size == 1 { ByteOrder::Little } else { order };
    Ok(match (kind, size) {
        ('i' | 'u', 1 | 2 | 4 | 8) => Dtype::Integer { size, signed: kind == 'i', order },
        ('f', 2 | 4 | 8 | 16) => Dtype::Float { size, order },
        ('c', 4 | 8 | 16 | 32) => Dtype::Complex { size, order },
        ('b', 1) => Dtype::Bool,
        ('S', 1..) => {
            Dtype::FixedString { size, charset: Charset::Ascii, padding: Padding::NullPadded }
        }
        ('V', 1..) => Dtype::Opaque { size, tag: String::new() },
        _ => return Err(ParseDtypeError::Size { name: name.to_owned() }),
    })
}

/// NumPy's long names of numbers.
fn long_name(name: &str) -> Option<(char, &'static str)> {
    Some(match name {
        "int8" => ('i', "1"),
        "int16" => ('i', "2"),
        "int32" => ('i', "4"),
        "int64" => ('i', "8"),
        "uint8" => ('u', "1"),
        "uint16" => ('u', "2"),
        "uint32" => ('u', "4"),
        "uint64" => ('u', "8"),
        "float16" => ('f', "2"),
        "float32" => ('f', "4"),
        "float64" => ('f', "8"),
        "complex64" => ('c', "8"),
        "complex128" => ('c', "16"),
        _ => return None,
    })
}

/// A date or span, `<M8[ns]`, as h5py keeps it: opaque, with NumPy's name as tag.
fn date(kind: char, unit: &str, order: ByteOrder) -> Option<Dtype> {
    let inside = unit.strip_prefix('[')?.strip_suffix(']')?;
    let unit_name = inside.trim_start_matches(|c: char| c.is_ascii_digit());
    const UNITS: [&str; 13] =
        ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"];
    let order = if order == ByteOrder::Little { '<' } else { '>' };
    UNITS
        .contains(&unit_name)
        .then(|| Dtype::Opaque { size: 8, tag: format!("NUMPY:{order}{kind}8{unit}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        for text in [
            "|i1",
            "<i2",
            ">i4",
            "<i8",
            "|u1",
            "<u2",
            ">u4",
            ">u8",
            "<f2",
            ">f4",
            "<f8",
            "<f16",
            "<c8",
            ">c16",
            "<c4",
            "|b1",
            "|S1",
            "|S300",
            "str",
            "|V8",
            "<M8[ns]",
            ">m8[25s]",
            "[('a', '<i4'), ('b', '<i8', (2,))]",
            "[('a', [('x', '|S3'), ('y', '|b1')], (2, 3))]",
            "('<i4', (3,))",
            "(('<i8', (2,)), (3, 4))",
            "([('a', '<f2')], (2,))",
        ] {
            let dtype: Dtype = text.parse().unwrap();
            assert_eq!(dtype.to_string(), text);
        }
    }

    #[test]
    fn other_names_of_numpy_are_known() {
        for (text, written) in [
            ("i8", "<i8"),
            ("=u2", "<u2"),
            ("int64", "<i8"),
            ("uint8", "|u1"),
            ("float16", "<f2"),
            ("float32", "<f4"),
            ("complex128", "<c16"),
            ("bool", "|b1"),
            ("?", "|b1"),
            ("S5", "|S5"),
            (">i1", "|i1"),
            (" f8 ", "<f8"),
            ("[ ( \"a\" , 'f8' , 3 ) , ]", "[('a', '<f8', (3,))]"),
        ] {
            let native = if ByteOrder::NATIVE == ByteOrder::Big { '>' } else { '<' };
            let dtype: Dtype = text.parse().unwrap();
            assert_eq!(dtype.to_string(), written.replace('<', &native.to_string()), "{text}");
        }
    }

    #[test]
    fn members_stand_side_by_side() {
        let dtype: Dtype = "[('a', '|i1'), ('b', '<i8', (2,)), ('c', '<f4')]".parse().unwrap();
        let Dtype::Compound { size, fields } = dtype else { panic!("{dtype:?}") };
        let offsets: Vec<_> = fields.iter().map(|field| field.offset).collect();
        assert_eq!((size, offsets), (21, vec![0, 1, 17]));
    }

    #[test]
    fn anything_else_is_refused_by_what_is_wrong_with_it() {
        let unknown = |name: &str| ParseDtypeError::Unknown { name: name.into() };
        let size = |name: &str| ParseDtypeError::Size { name: name.into() };
        let syntax = |text: &str, position, expected| ParseDtypeError::Syntax {
            text: text.into(),
            position,
            expected,
        };
        for (text, error) in [
            ("", unknown("")),
            ("int", unknown("int")),
            ("enum", unknown("enum")),
            ("|O", unknown("|O")),
            ("<str", unknown("<str")),
            ("<int64", unknown("<int64")),
            ("i+8", unknown("i+8")),
            ("é8", unknown("é8")),
            ("<M8[parsec]", unknown("<M8[parsec]")),
            ("<i3", size("<i3")),
            ("f1", size("f1")),
            ("S0", size("S0")),
            ("V0", size("V0")),
            ("<U5", ParseDtypeError::FixedUnicode { name: "<U5".into() }),
            ("[]", syntax("[]", 2, "a member")),
            ("[('a', 'i4'", syntax("[('a', 'i4'", 11, "a closing parenthesis")),
            ("[('a, 'i4')]", syntax("[('a, 'i4')]", 7, "a comma and a type")),
            ("('i4', (2)) x", syntax("('i4', (2)) x", 12, "the end")),
            ("('i4', (-2,))", syntax("('i4', (-2,))", 8, "a number")),
            ("('i4', (0,))", size("('<i4', (0,))")),
            ("('i4', ())", size("('<i4', ())")),
            ("[('a', 'str')]", size("str")),
            ("('i8', (9223372036854775807, 9))", size("('<i8', (9223372036854775807, 9))")),
            ("[('a', 'i4'), ('a', 'i4')]", ParseDtypeError::DuplicateField { name: "a".into() }),
            (&*"(".repeat(100_000), ParseDtypeError::TooDeep),
        ] {
            assert_eq!(text.parse::<Dtype>(), Err(error), "{text:.40}");
        }
    }
}
