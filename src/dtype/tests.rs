//! Types as text, and casts and literals where there is nothing of NumPy's to compare with.

use super::*;

fn parsed(text: &str) -> Dtype {
    text.parse().unwrap()
}

fn cast(from: &str, to: &str, input: &[u8]) -> Vec<u8> {
    let cast = Cast::new(&parsed(from), &parsed(to)).unwrap();
    let (before, after) = cast.sizes();
    let mut out = vec![0xaa; input.len() / before * after];
    cast.apply(input, &mut out);
    out
}

fn literal(dtype: &str, literal: Literal<'_>) -> Result<Vec<u8>, LiteralError> {
    let mut out = vec![7];
    let outcome = parsed(dtype).push_literal(literal, &mut out);
    assert_eq!(out[0], 7);
    assert!(outcome.is_ok() || out.len() == 1, "something was appended");
    outcome.map(|()| out.split_off(1))
}

#[test]
fn bits_of_numbers_of_one_kind_survive_a_change_of_order() {
    // A signalling NaN with a payload, which arithmetic would make quiet.
    assert_eq!(cast("<f4", ">f4", &[1, 2, 0x80, 0x7f]), [0x7f, 0x80, 2, 1]);
    assert_eq!(cast("<c8", ">c8", &[1, 2, 0x80, 0x7f, 5, 6, 7, 8]), [0x7f, 0x80, 2, 1, 8, 7, 6, 5]);
    assert!(Cast::new(&parsed("<i4"), &parsed("<u4")).unwrap().is_identity());
    assert!(!Cast::new(&parsed("|i1"), &parsed("|b1")).unwrap().is_identity());
}

#[test]
fn floats_beyond_an_integers_range_are_its_lowest() {
    let inputs = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300];
    for value in inputs {
        assert_eq!(cast("<f8", "<i4", &value.to_le_bytes()), i32::MIN.to_le_bytes());
        assert_eq!(cast("<f8", "<i8", &value.to_le_bytes()), i64::MIN.to_le_bytes());
        assert_eq!(cast("<f8", "<u8", &value.to_le_bytes()), (1_u64 << 63).to_le_bytes());
        assert_eq!(cast("<f8", "|i1", &value.to_le_bytes()), [0]);
    }
    assert_eq!(cast("<f8", "|u1", &(-1.0_f64).to_le_bytes()), [255]);
}

#[test]
fn members_and_arrays_are_cast_one_by_one() {
    let found = cast(
        "[('a', '<i2'), ('b', '|S2', (2,))]",
        "[('a', '>i4'), ('b', '|S3', (2,))]",
        b"\x01\x00xyz\0",
    );
    assert_eq!(found, b"\0\0\0\x01xy\0z\0\0");
}

#[test]
fn strings_are_cut_or_filled_up_as_their_type_does() {
    let string = |size, padding| Dtype::FixedString { size, charset: Charset::Ascii, padding };
    for (to, expected) in [
        (string(5, Padding::SpacePadded), &b"ab   "[..]),
        (string(5, Padding::NullPadded), b"ab\0\0\0"),
        (string(2, Padding::NullTerminated), b"a\0"),
        (string(1, Padding::SpacePadded), b"a"),
    ] {
        let mut out = vec![0xaa; expected.len()];
        Cast::new(&string(4, Padding::NullTerminated), &to).unwrap().apply(b"ab\0z", &mut out);
        assert_eq!(out, expected);
    }
}

#[test]
fn what_has_no_cast_is_refused() {
    for (from, to) in [
        ("<c8", "<f8"),
        ("<f8", "|S8"),
        ("|S8", "<f8"),
        ("str", "str"),
        ("<f16", "<f8"),
        ("<M8[ns]", "<M8[s]"),
        ("[('a', '<i4')]", "[('b', '<i4')]"),
        ("[('a', '<i4')]", "[('a', '|S4')]"),
        ("('<i4', (2,))", "('<i4', (3,))"),
    ] {
        assert!(Cast::new(&parsed(from), &parsed(to)).is_err(), "{from} as {to}");
    }
    assert!(Cast::new(&parsed("<f16"), &parsed("<f16")).unwrap().is_identity());
}

#[test]
fn literals_become_elements() {
    for (dtype, value, expected) in [
        ("<i2", Literal::Integer(-2), &[0xfe, 0xff][..]),
        (">u2", Literal::Float(258.0), &[1, 2]),
        ("<u8", Literal::Unsigned(u64::MAX), &[0xff; 8]),
        ("|b1", Literal::Bool(true), &[1]),
        ("|b1", Literal::Integer(1), &[1]),
        (">f4", Literal::Integer(1), &[0x3f, 0x80, 0, 0]),
        (">f2", Literal::Text("-inf"), &[0xfc, 0]),
        (">c8", Literal::Float(1.0), &[0x3f, 0x80, 0, 0, 0, 0, 0, 0]),
        ("|S4", Literal::Text("abc"), b"abc\0"),
    ] {
        assert_eq!(literal(dtype, value).as_deref(), Ok(expected), "{value} as {dtype}");
    }
    let members = vec![("on".to_owned(), vec![1, 0]), ("off".to_owned(), vec![9, 0])];
    let switch = Dtype::Enum { base: Box::new(parsed("<i2")), members };
    let mut out = Vec::new();
    switch.push_literal(Literal::Text("off"), &mut out).unwrap();
    assert_eq!(out, [9, 0]);
    assert!(switch.push_literal(Literal::Text("high"), &mut out).is_err());
}

#[test]
fn literals_that_a_type_cannot_hold_are_refused() {
    for (dtype, value, message) in [
        ("|i1", Literal::Integer(128), "type |i1 cannot hold 128"),
        ("<u4", Literal::Integer(-1), "type <u4 cannot hold -1"),
        ("<i8", Literal::Unsigned(1 << 63), "type <i8 cannot hold 9223372036854775808"),
        ("<i8", Literal::Float(1.5), "type <i8 cannot hold 1.5"),
        ("<i8", Literal::Float(1e30), "type <i8 cannot hold 1e30"),
        ("<f4", Literal::Float(1e300), "type <f4 cannot hold 1e300"),
        ("<f2", Literal::Integer(70_000), "type <f2 cannot hold 70000"),
        ("|b1", Literal::Integer(2), "type |b1 cannot hold 2"),
        ("<i8", Literal::Bool(true), "true is no value of type <i8"),
        ("<i8", Literal::Text("1"), "\"1\" is no value of type <i8"),
        ("<f8", Literal::Text("x"), "\"x\" is no value of type <f8"),
        ("|S3", Literal::Integer(1), "1 is no value of type |S3"),
        ("|S3", Literal::Text("abcd"), "type |S3 has no room for \"abcd\", 4 bytes long"),
        ("|S3", Literal::Text("é"), "type |S3 holds ASCII alone: \"é\""),
        ("str", Literal::Text("a"), "values of type str cannot be given as text or number"),
        ("|V8", Literal::Integer(1), "values of type |V8 cannot be given as text or number"),
    ] {
        assert_eq!(literal(dtype, value).unwrap_err().to_string(), message);
    }
}

fn int(size: usize) -> Dtype {
    Dtype::Integer { size, signed: true, order: ByteOrder::Little }
}

#[test]
fn text_is_numpys() {
    let compound = Dtype::Compound {
        size: 24,
        fields: vec![
            Field { name: "a".into(), offset: 0, dtype: int(4) },
            Field {
                name: "b".into(),
                offset: 4,
                dtype: Dtype::Array { base: Box::new(int(8)), shape: vec![2] },
            },
        ],
    };
    for (dtype, text) in [
        (int(8), "<i8"),
        (int(1), "|i1"),
        (Dtype::Integer { size: 2, signed: false, order: ByteOrder::Big }, ">u2"),
        (Dtype::Float { size: 4, order: ByteOrder::Big }, ">f4"),
        (Dtype::Bool, "|b1"),
        (Dtype::Complex { size: 16, order: ByteOrder::Little }, "<c16"),
        (Dtype::VariableString { charset: Charset::Utf8 }, "str"),
        (Dtype::Opaque { size: 8, tag: "NUMPY:<M8[ns]".into() }, "<M8[ns]"),
        (Dtype::Opaque { size: 4, tag: String::new() }, "|V4"),
        (compound.clone(), "[('a', '<i4'), ('b', '<i8', (2,))]"),
    ] {
        assert_eq!(dtype.to_string(), text);
    }
    assert_eq!(compound.short_name(), "compound");
}
