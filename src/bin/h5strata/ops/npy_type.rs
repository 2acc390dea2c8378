//! The header of a `.npy` file: a Python dictionary with the type, the shape and the order of the elements.
//!
//! The format is NumPy's NEP 1. Types are written as `numpy.dtype.descr`: a name, or a list of members, where
//! one without a name is a gap.

use h5strata::dtype::{ByteOrder, Dtype, Field};
use py_literal::Value;

use super::error::NpyFault;

/// How deep a header may be nested.
const MAX_DEPTH: usize = 64;

/// What a header says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: Kind,
    pub(super) shape: Vec<u64>,
    /// Whether the first axis is the fastest.
    pub(super) fortran_order: bool,
}

/// The type of the elements.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// One that HDF5 has.
    Stored(Dtype),
    /// Strings of so many characters, four bytes each, filled up with zeros.
    Unicode { characters: usize, order: ByteOrder },
}

impl Kind {
    /// Bytes of an element.
    pub(super) fn size(&self) -> Option<usize> {
        match self {
            Self::Stored(dtype) => dtype.size(),
            Self::Unicode { characters, .. } => characters.checked_mul(4),
        }
    }
}

impl Header {
    /// Reads the dictionary.
    pub(super) fn parse(text: &str) -> Result<Self, NpyFault> {
        if depth(text) > MAX_DEPTH {
            return Err(NpyFault::Header("it is nested too deep"));
        }
        let value = text.trim_end().parse();
        let Ok(Value::Dict(entries)) = value else {
            return Err(NpyFault::Header("it is no dictionary"));
        };
        let entry = |name: &str| {
            let is = |key: &Value| key.as_string().is_some_and(|key| key == name);
            entries.iter().find(|(key, _)| is(key)).map(|(_, value)| value)
        };
        let (Some(descr), Some(order), Some(shape)) =
            (entry("descr"), entry("fortran_order"), entry("shape"))
        else {
            return Err(NpyFault::Header("\"descr\", \"fortran_order\" or \"shape\" is missing"));
        };
        let fortran_order = order.as_boolean();
        Ok(Self {
            kind: kind(descr)?,
            shape: self::shape(shape)?,
            fortran_order: fortran_order
                .ok_or(NpyFault::Header("\"fortran_order\" is no boolean"))?,
        })
    }
}

/// How deep brackets are nested, those in strings counted too.
fn depth(text: &str) -> usize {
    let (mut depth, mut most) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        most = most.max(depth);
    }
    most
}

fn kind(descr: &Value) -> Result<Kind, NpyFault> {
    let name = descr.as_string().map(String::as_str).unwrap_or_default();
    let order = if name.starts_with('>') { ByteOrder::Big } else { ByteOrder::Little };
    let code = name.trim_start_matches(['<', '>', '|', '=']);
    match code.strip_prefix('U').map(str::parse) {
        Some(Ok(characters)) => Ok(Kind::Unicode { characters, order }),
        Some(Err(_)) => Err(NpyFault::Header("a string type without a length")),
        None => dtype(descr).map(Kind::Stored),
    }
}

fn dtype(descr: &Value) -> Result<Dtype, NpyFault> {
    match descr {
        Value::String(name) if name.trim_start_matches('|') == "O" => Err(NpyFault::Objects),
        Value::String(name) => Ok(name.parse()?),
        Value::List(members) => compound(members),
        _ => Err(NpyFault::Header("\"descr\" is no type")),
    }
}

fn compound(members: &[Value]) -> Result<Dtype, NpyFault> {
    let wrong = || NpyFault::Header("a member is no tuple of name, type and shape");
    let mut fields = Vec::new();
    let mut size = 0_usize;
    for member in members {
        let (name, descr, shape) = match member.as_tuple().map(Vec::as_slice) {
            Some([name, descr]) => (name, descr, None),
            Some([name, descr, shape]) => (name, descr, Some(shape)),
            _ => return Err(wrong()),
        };
        // A member with a title has two names, the title first.
        let name = match name {
            Value::Tuple(names) => names.last().and_then(Value::as_string),
            name => name.as_string(),
        };
        let name = name.ok_or_else(wrong)?.clone();
        let mut dtype = dtype(descr)?;
        if let Some(shape) = shape {
            dtype = Dtype::Array { base: Box::new(dtype), shape: self::shape(shape)? };
        }
        let end = dtype.size().and_then(|bytes| size.checked_add(bytes));
        let end = end.ok_or(NpyFault::Memory)?;
        if !name.is_empty() {
            fields.push(Field { name, offset: size, dtype });
        }
        size = end;
    }
    if fields.is_empty() {
        return Err(NpyFault::Header("a type without members"));
    }
    Ok(Dtype::Compound { size, fields })
}

fn shape(shape: &Value) -> Result<Vec<u64>, NpyFault> {
    let wrong = || NpyFault::Header("a shape is no tuple of lengths");
    let axes = shape.as_tuple().ok_or_else(wrong)?;
    let length = |axis: &Value| axis.as_integer().and_then(|axis| u64::try_from(axis).ok());
    axes.iter().map(|axis| length(axis).ok_or_else(wrong)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(descr: &str) -> Result<Header, NpyFault> {
        Header::parse(&format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (3, 2), }}\n"))
    }

    #[test]
    fn types_are_those_of_numpy() {
        for (descr, expected) in [
            ("'<f8'", "<f8"),
            ("'|b1'", "|b1"),
            ("'|S5'", "|S5"),
            ("'<M8[ns]'", "<M8[ns]"),
            ("[('a', '<i4'), ('b', '>f2', (2, 3))]", "[('a', '<i4'), ('b', '>f2', (2, 3))]"),
            ("[(('title', 'a'), [('x', '|u1')])]", "[('a', [('x', '|u1')])]"),
        ] {
            let found = header(descr).unwrap();
            let kind = Kind::Stored(expected.parse().unwrap());
            assert_eq!(found, Header { kind, shape: vec![3, 2], fortran_order: false });
        }
        let unicode = header("'>U7'").unwrap().kind;
        assert_eq!(unicode, Kind::Unicode { characters: 7, order: ByteOrder::Big });
    }

    #[test]
    fn members_without_a_name_are_gaps() {
        let Kind::Stored(Dtype::Compound { size, fields }) =
            header("[('a', '|i1'), ('', '|V3'), ('b', '<i4'), ('', '|V8')]").unwrap().kind
        else {
            panic!("no compound");
        };
        let places: Vec<_> = fields.iter().map(|f| (f.name.as_str(), f.offset)).collect();
        assert_eq!((size, places), (16, vec![("a", 0), ("b", 4)]));
    }

    #[test]
    fn broken_headers_are_refused() {
        for text in [
            "",
            "[]",
            "{'descr': '<f8', 'shape': (1,)}",
            "{'descr': '<f8', 'fortran_order': 0, 'shape': (1,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (36893488147419103232,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': 1}",
            "{'descr': [], 'fortran_order': False, 'shape': (1,)}",
            "{'descr': [('a',)], 'fortran_order': False, 'shape': (1,)}",
            "{'descr': '<U', 'fortran_order': False, 'shape': (1,)}",
            "{'descr': [('a', '<U3')], 'fortran_order': False, 'shape': (1,)}",
            "{'descr': [('a', '<i8', (9223372036854775807, 9))], 'fortran_order': False, 'shape': (1,)}",
            &"(".repeat(9000),
        ] {
            assert!(Header::parse(text).is_err(), "{text:.60}");
        }
        assert!(matches!(header("'|O'"), Err(NpyFault::Objects)));
    }
}
