//! Datatypes come apart into plain data.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail by panicking")]

mod support;

use h5strata_ffi::h5a;
use h5strata_ffi::h5t::{
    self, ByteOrder, CharacterSet, Description, EnumMember, Float, Normalization, Reference,
    StringPadding, TypeClass,
};
use hdf5_sys::h5i::hid_t;
use hdf5_sys::h5t as sys;
use support::{Writer, c, ok};

/// Stores one element of zero bytes of a type and describes the type as it comes back.
fn stored(make: impl FnOnce() -> hid_t) -> Description {
    let writer = Writer::new();
    let datatype = make();
    // SAFETY: the writer holds the lock; the type is live.
    let size = unsafe { sys::H5Tget_size(datatype) };
    writer.bytes("/", Some("a"), datatype, None, &vec![0; size]);
    let written = writer.finish();
    let attribute = h5a::open(&written.lock, &written.file, "/", "a").unwrap();
    let datatype = h5a::datatype(&written.lock, &attribute).unwrap();
    assert_eq!(h5t::size(&written.lock, &datatype).unwrap(), size);
    assert!(h5t::equal(&written.lock, &datatype, &datatype).unwrap());
    h5t::describe(&written.lock, &datatype).unwrap()
}

fn integer(size: usize, signed: bool, order: ByteOrder) -> Description {
    let precision = size * 8;
    Description { size, class: TypeClass::Integer { order, signed, precision, offset: 0 } }
}

/// A compound of these members, one behind the other.
fn compound(members: &[(&str, hid_t)]) -> hid_t {
    // SAFETY: the writer of the caller holds the lock; the types are live, the names end in a zero
    // byte.
    unsafe {
        let size = members.iter().map(|(_, member)| sys::H5Tget_size(*member)).sum();
        let compound = ok(sys::H5Tcreate(sys::H5T_class_t::H5T_COMPOUND, size));
        let mut offset = 0;
        for (name, member) in members {
            ok(sys::H5Tinsert(compound, c(name).as_ptr(), offset, *member));
            offset += sys::H5Tget_size(*member);
        }
        compound
    }
}

#[test]
fn integers_have_size_sign_and_order() {
    let little = ByteOrder::Little;
    assert_eq!(stored(|| *sys::H5T_STD_I64LE), integer(8, true, little));
    assert_eq!(stored(|| *sys::H5T_STD_U16BE), integer(2, false, ByteOrder::Big));
    assert_eq!(stored(|| *sys::H5T_STD_I8LE), integer(1, true, little));
}

#[test]
fn floats_have_their_fields() {
    let TypeClass::Float(float) = stored(|| *sys::H5T_IEEE_F64BE).class else { panic!() };
    let expected = Float {
        order: ByteOrder::Big,
        precision: 64,
        offset: 0,
        sign_position: 63,
        exponent_position: 52,
        exponent_size: 11,
        exponent_bias: 1023,
        mantissa_position: 0,
        mantissa_size: 52,
        normalization: Normalization::Implied,
    };
    assert_eq!(float, expected);
}

#[test]
fn strings_have_padding_and_characters() {
    let fixed = |size, padding, charset| {
        stored(|| {
            // SAFETY: the writer of `stored` holds the lock; the copy is fresh.
            unsafe {
                let datatype = ok(sys::H5Tcopy(*sys::H5T_C_S1));
                ok(sys::H5Tset_size(datatype, size));
                ok(sys::H5Tset_strpad(datatype, padding));
                ok(sys::H5Tset_cset(datatype, charset));
                datatype
            }
        })
    };
    let found = fixed(5, sys::H5T_str_t::H5T_STR_SPACEPAD, sys::H5T_cset_t::H5T_CSET_UTF8);
    let (padding, charset) = (StringPadding::SpacePadded, CharacterSet::Utf8);
    assert_eq!(found, Description { size: 5, class: TypeClass::FixedString { padding, charset } });
    let variable =
        fixed(sys::H5T_VARIABLE, sys::H5T_str_t::H5T_STR_NULLTERM, sys::H5T_cset_t::H5T_CSET_ASCII);
    assert_eq!(variable.class, TypeClass::VariableString { charset: CharacterSet::Ascii });
}

#[test]
fn an_enumeration_has_names_and_raw_values() {
    let found = stored(|| {
        // SAFETY: the writer of `stored` holds the lock; each value is one element of the base
        // type.
        unsafe {
            let datatype = ok(sys::H5Tenum_create(*sys::H5T_STD_I16BE));
            for (name, value) in [("FALSE", 0_i16), ("TRUE", 1)] {
                let bytes = value.to_be_bytes();
                ok(sys::H5Tenum_insert(datatype, c(name).as_ptr(), bytes.as_ptr().cast()));
            }
            datatype
        }
    });
    let member = |name: &str, value: &[u8]| EnumMember { name: name.into(), value: value.into() };
    let base = Box::new(integer(2, true, ByteOrder::Big));
    let members = vec![member("FALSE", &[0, 0]), member("TRUE", &[0, 1])];
    assert_eq!(found, Description { size: 2, class: TypeClass::Enumeration { base, members } });
}

#[test]
fn a_compound_has_members_with_types_within() {
    let found = stored(|| {
        // SAFETY: the writer of `stored` holds the lock; the array has as many numbers as axes.
        let array = ok(unsafe { sys::H5Tarray_create2(*sys::H5T_STD_U8LE, 2, [2, 3].as_ptr()) });
        compound(&[("n", *sys::H5T_STD_I32LE), ("a", array)])
    });
    assert_eq!(found.size, 10);
    let TypeClass::Compound { members } = found.class else { panic!() };
    assert_eq!(members.iter().map(|member| member.name.as_str()).collect::<Vec<_>>(), ["n", "a"]);
    assert_eq!(members.iter().map(|member| member.offset).collect::<Vec<_>>(), [0, 4]);
    assert_eq!(members[0].datatype, integer(4, true, ByteOrder::Little));
    let base = Box::new(integer(1, false, ByteOrder::Little));
    assert_eq!(members[1].datatype.class, TypeClass::Array { dims: vec![2, 3], base });
}

#[test]
fn opaque_bits_and_references_are_told_apart() {
    let found = stored(|| {
        // SAFETY: the writer of `stored` holds the lock; the type is fresh, the tag ends in a zero
        // byte.
        unsafe {
            let datatype = ok(sys::H5Tcreate(sys::H5T_class_t::H5T_OPAQUE, 8));
            ok(sys::H5Tset_tag(datatype, c("NUMPY:datetime64[ns]").as_ptr()));
            datatype
        }
    });
    assert_eq!(found.class, TypeClass::Opaque { tag: "NUMPY:datetime64[ns]".into() });
    let bits = stored(|| *sys::H5T_STD_B16LE);
    let order = ByteOrder::Little;
    assert_eq!(bits.class, TypeClass::Bitfield { order, precision: 16, offset: 0 });
    let object = stored(|| *sys::H5T_STD_REF_OBJ);
    assert_eq!(object.class, TypeClass::Reference(Reference::Object));
}

#[test]
fn a_sequence_has_its_base_and_pointers() {
    // SAFETY: the writer of `stored` holds the lock; the base is built in.
    let found = stored(|| ok(unsafe { sys::H5Tvlen_create(*sys::H5T_STD_I32LE) }));
    let base = Box::new(integer(4, true, ByteOrder::Little));
    assert_eq!(found.class, TypeClass::VariableLength { base });
}

#[test]
fn pointers_are_found_however_deep() {
    let writer = Writer::new();
    // SAFETY: the writer holds the lock; the copy is fresh; the array has as many numbers as axes.
    let text = unsafe {
        let text = ok(sys::H5Tcopy(*sys::H5T_C_S1));
        ok(sys::H5Tset_size(text, sys::H5T_VARIABLE));
        ok(sys::H5Tarray_create2(text, 1, [2].as_ptr()))
    };
    let number = *sys::H5T_STD_I32LE;
    let inner = compound(&[("n", number), ("t", text)]);
    let deep = compound(&[("n", number), ("inner", inner)]);
    let plain = compound(&[("n", number), ("inner", compound(&[("m", number)]))]);
    writer.bytes("/", Some("deep"), deep, None, &[0; 24]);
    writer.bytes("/", Some("plain"), plain, None, &[0; 8]);
    let written = writer.finish();
    for (name, expected) in [("deep", true), ("plain", false)] {
        let attribute = h5a::open(&written.lock, &written.file, "/", name).unwrap();
        let datatype = h5a::datatype(&written.lock, &attribute).unwrap();
        assert_eq!(h5t::has_pointers(&written.lock, &datatype).unwrap(), expected, "{name}");
    }
}

#[test]
fn types_nested_too_deep_are_an_error() {
    let writer = Writer::new();
    let mut datatype = *sys::H5T_STD_I8LE;
    for _ in 0..h5t::MAX_DEPTH {
        datatype = compound(&[("m", datatype)]);
    }
    writer.bytes("/", Some("a"), datatype, None, &[0]);
    let written = writer.finish();
    let attribute = h5a::open(&written.lock, &written.file, "/", "a").unwrap();
    let datatype = h5a::datatype(&written.lock, &attribute).unwrap();
    assert!(h5t::describe(&written.lock, &datatype).is_err());
    assert!(h5t::has_pointers(&written.lock, &datatype).is_err());
}

#[cfg(hdf5_2_0)]
#[test]
fn a_complex_number_has_the_type_of_its_parts() {
    let found = stored(|| *sys::H5T_COMPLEX_IEEE_F32LE);
    assert_eq!(found.size, 8);
    let TypeClass::Complex { base } = found.class else { panic!("{found:?}") };
    assert_eq!(base.size, 4);
}
