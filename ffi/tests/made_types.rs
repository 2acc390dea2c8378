//! Datatypes are made of their descriptions.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail by panicking")]

mod support;

use h5strata_ffi::h5t::{
    self, ByteOrder, CharacterSet, Description, EnumMember, Float, Member, Normalization,
    Reference, StringPadding, TypeClass,
};
use h5strata_ffi::id::Datatype;
use h5strata_ffi::{Error, h5a, lock};
use hdf5_sys::h5i::hid_t;
use hdf5_sys::h5t as sys;
use support::fresh::{Fresh, bytes};
use support::{Writer, ok};

/// Describes a type of libhdf5, makes another one of that, and compares the two: in memory, and the
/// type of an attribute as it comes back from a file.
fn remade(original: hid_t) -> Description {
    let writer = Writer::new();
    // SAFETY: the writer holds the lock; the type is live.
    let size = unsafe { sys::H5Tget_size(original) };
    writer.bytes("/", Some("a"), original, None, &vec![0; size]);
    let written = writer.finish();
    let lock = &written.lock;
    let attribute = h5a::open(lock, &written.file, "/", "a").unwrap();
    let original = h5a::datatype(lock, &attribute).unwrap();
    let description = h5t::describe(lock, &original).unwrap();
    let made = h5t::create(lock, &description).unwrap();
    assert_eq!(h5t::describe(lock, &made).unwrap(), description);
    assert!(h5t::equal(lock, &made, &original).unwrap(), "{description:?}");
    if !h5t::has_pointers(lock, &made).unwrap() {
        stored(&description);
    }
    description
}

/// Makes a type and takes it through a file.
fn stored(description: &Description) {
    let fresh = Fresh::new();
    let made = h5t::create(&fresh.lock, description).unwrap();
    let element = vec![0; description.size];
    h5a::write(&fresh.lock, &fresh.file, "/", "a", &made, Some(&[]), &element).unwrap();
    let fresh = fresh.read_only();
    let attribute = h5a::open(&fresh.lock, &fresh.file, "/", "a").unwrap();
    let found = h5a::datatype(&fresh.lock, &attribute).unwrap();
    assert_eq!(h5t::describe(&fresh.lock, &found).unwrap(), *description);
    assert!(h5t::equal(&fresh.lock, &found, &made).unwrap(), "{description:?}");
}

fn integer(
    size: usize,
    order: ByteOrder,
    signed: bool,
    precision: usize,
    offset: usize,
) -> Description {
    Description { size, class: TypeClass::Integer { order, signed, precision, offset } }
}

fn i32_le() -> Description {
    integer(4, ByteOrder::Little, true, 32, 0)
}

fn f16() -> Float {
    Float {
        order: ByteOrder::Little,
        precision: 16,
        offset: 0,
        sign_position: 15,
        exponent_position: 10,
        exponent_size: 5,
        exponent_bias: 15,
        mantissa_position: 0,
        mantissa_size: 10,
        normalization: Normalization::Implied,
    }
}

fn text(size: usize, padding: StringPadding, charset: CharacterSet) -> Description {
    Description { size, class: TypeClass::FixedString { padding, charset } }
}

fn make(description: &Description) -> Result<Datatype, Error> {
    h5t::create(&lock(), description)
}

#[test]
fn what_libhdf5_has_built_in_is_made_alike() {
    drop(lock());
    let types = [
        *sys::H5T_STD_I8LE,
        *sys::H5T_STD_I8BE,
        *sys::H5T_STD_U16BE,
        *sys::H5T_STD_I64LE,
        *sys::H5T_STD_U64BE,
        *sys::H5T_IEEE_F32LE,
        *sys::H5T_IEEE_F32BE,
        *sys::H5T_IEEE_F64LE,
        *sys::H5T_IEEE_F64BE,
        *sys::H5T_NATIVE_LDOUBLE,
        *sys::H5T_VAX_F32,
        *sys::H5T_VAX_F64,
        *sys::H5T_STD_B8LE,
        *sys::H5T_STD_B64BE,
        *sys::H5T_C_S1,
        *sys::H5T_FORTRAN_S1,
    ];
    for datatype in types {
        remade(datatype);
    }
}

#[test]
fn numbers_of_any_layout_are_made() {
    use ByteOrder::{Big, Little};
    for (size, precision, offset) in [(1, 3, 2), (3, 24, 0), (4, 17, 5), (8, 1, 63), (16, 100, 28)]
    {
        for (order, signed) in [(Little, true), (Big, false)] {
            stored(&integer(size, order, signed, precision, offset));
            let class = TypeClass::Bitfield { order, precision, offset };
            stored(&Description { size, class });
        }
    }
}

#[test]
fn floats_of_any_layout_are_made() {
    let bfloat16 = Float {
        exponent_position: 7,
        exponent_size: 8,
        exponent_bias: 127,
        mantissa_size: 7,
        ..f16()
    };
    let e4m3 = Float {
        precision: 8,
        sign_position: 7,
        exponent_position: 3,
        exponent_size: 4,
        exponent_bias: 7,
        mantissa_size: 3,
        ..f16()
    };
    let quadruple = Float {
        precision: 128,
        sign_position: 127,
        exponent_position: 112,
        exponent_size: 15,
        exponent_bias: 16_383,
        mantissa_size: 112,
        ..f16()
    };
    // The N-bit filter's example of the HDF5 reference: 20 bits in the middle of 32.
    let shifted = Float {
        precision: 20,
        offset: 7,
        sign_position: 26,
        exponent_position: 20,
        exponent_size: 6,
        exponent_bias: 31,
        mantissa_position: 7,
        mantissa_size: 13,
        ..f16()
    };
    let explicit = Float { normalization: Normalization::MostSignificantBitSet, ..f16() };
    let none = Float { normalization: Normalization::None, order: ByteOrder::Big, ..f16() };
    for (size, float) in [
        (2, f16()),
        (2, bfloat16),
        (1, e4m3),
        (16, quadruple),
        (4, shifted),
        (4, explicit),
        (2, none),
    ] {
        stored(&Description { size, class: TypeClass::Float(float) });
    }
}

#[test]
fn strings_and_opaque_bytes_are_made() {
    use CharacterSet::{Ascii, Utf8};
    use StringPadding::{NullPadded, NullTerminated, SpacePadded};
    for padding in [NullTerminated, NullPadded, SpacePadded] {
        for charset in [Ascii, Utf8] {
            stored(&text(1, padding, charset));
            stored(&text(77, padding, charset));
        }
    }
    for tag in ["", "NUMPY:datetime64[ns]"] {
        stored(&Description { size: 8, class: TypeClass::Opaque { tag: tag.into() } });
    }
    for charset in [Ascii, Utf8] {
        let description =
            Description { size: size_of::<usize>(), class: TypeClass::VariableString { charset } };
        let lock = lock();
        let made = h5t::create(&lock, &description).unwrap();
        assert!(h5t::is_variable_string(&lock, &made).unwrap());
    }
    // SAFETY: the lock is held during each call; the type is a fresh copy.
    let original = unsafe {
        let _lock = lock();
        let original = ok(sys::H5Tcopy(*sys::H5T_C_S1));
        ok(sys::H5Tset_size(original, sys::H5T_VARIABLE));
        ok(sys::H5Tset_cset(original, sys::H5T_cset_t::H5T_CSET_UTF8));
        original
    };
    remade(original);
}

#[test]
fn types_of_types_are_made() {
    let member = |name: &str, offset, datatype| Member { name: name.into(), offset, datatype };
    let boolean = Description {
        size: 1,
        class: TypeClass::Enumeration {
            base: Box::new(integer(1, ByteOrder::Little, true, 8, 0)),
            members: [("FALSE", 0), ("TRUE", 1)]
                .map(|(name, value)| EnumMember { name: name.into(), value: vec![value] })
                .to_vec(),
        },
    };
    let big = Description {
        size: 2,
        class: TypeClass::Enumeration {
            base: Box::new(integer(2, ByteOrder::Big, false, 16, 0)),
            members: vec![
                EnumMember { name: "z".into(), value: vec![1, 2] },
                EnumMember { name: "ä".into(), value: vec![0, 1] },
            ],
        },
    };
    let array = Description {
        size: 24,
        class: TypeClass::Array { dims: vec![2, 3], base: Box::new(i32_le()) },
    };
    // Members out of order, with gaps between and behind them.
    let compound = Description {
        size: 64,
        class: TypeClass::Compound {
            members: vec![
                member("array", 8, array.clone()),
                member("flag", 1, boolean.clone()),
                member(
                    "inner",
                    40,
                    Description {
                        size: 8,
                        class: TypeClass::Compound {
                            members: vec![member("n", 0, i32_le()), member("e", 6, big.clone())],
                        },
                    },
                ),
            ],
        },
    };
    let of_compounds = Description {
        size: 128,
        class: TypeClass::Array { dims: vec![2], base: Box::new(compound.clone()) },
    };
    for description in [boolean, big, array, compound, of_compounds] {
        stored(&description);
    }
}

#[test]
fn classes_that_are_not_made_are_named() {
    let order = ByteOrder::Little;
    let unmade = [
        TypeClass::Reference(Reference::Object),
        TypeClass::VariableLength { base: Box::new(i32_le()) },
        TypeClass::Time { order, precision: 64 },
    ];
    for class in unmade {
        let error = make(&Description { size: 8, class: class.clone() }).unwrap_err();
        assert!(matches!(error, Error::UnsupportedClass { .. }), "{error:?}");
        let members =
            vec![Member { name: "m".into(), offset: 0, datatype: Description { size: 8, class } }];
        let error =
            make(&Description { size: 8, class: TypeClass::Compound { members } }).unwrap_err();
        assert!(matches!(error, Error::UnsupportedClass { .. }), "{error:?}");
    }
}

#[test]
fn descriptions_that_contradict_themselves_are_refused() {
    let little = ByteOrder::Little;
    let float = |float| Description { size: 2, class: TypeClass::Float(float) };
    let array = |size, dims| Description {
        size,
        class: TypeClass::Array { dims, base: Box::new(i32_le()) },
    };
    let member = |size, offset| Description {
        size,
        class: TypeClass::Compound {
            members: vec![Member { name: "m".into(), offset, datatype: i32_le() }],
        },
    };
    let enumeration = |size, value| Description {
        size,
        class: TypeClass::Enumeration {
            base: Box::new(i32_le()),
            members: vec![EnumMember { name: "m".into(), value }],
        },
    };
    let (null, ascii) = (StringPadding::NullPadded, CharacterSet::Ascii);
    let wrong = [
        integer(0, little, true, 8, 0),
        integer(4, little, true, 0, 0),
        integer(4, little, true, 33, 0),
        integer(4, little, true, 30, 3),
        integer(4, little, true, 1, usize::MAX),
        integer(usize::MAX, little, true, 8, 0),
        integer(4, ByteOrder::None, true, 32, 0),
        float(Float { precision: 17, ..f16() }),
        float(Float { sign_position: 16, ..f16() }),
        float(Float { exponent_size: 6, ..f16() }),
        float(Float { exponent_position: usize::MAX, exponent_size: 2, ..f16() }),
        Description { size: usize::MAX, class: TypeClass::Float(f16()) },
        Description { size: 3, class: TypeClass::VariableString { charset: ascii } },
        text(0, null, ascii),
        text(usize::MAX, null, ascii),
        text(4, StringPadding::Reserved(3), ascii),
        text(4, null, CharacterSet::Reserved(2)),
        Description { size: 0, class: TypeClass::Opaque { tag: String::new() } },
        Description { size: 4, class: TypeClass::Opaque { tag: "x".repeat(300) } },
        array(8, vec![3]),
        array(0, vec![0]),
        array(4, vec![]),
        array(4, vec![1; 33]),
        array(0, vec![1 << 62]),
        member(4, 1),
        member(4, usize::MAX - 3),
        enumeration(4, vec![0; 3]),
        enumeration(2, vec![0; 4]),
    ];
    for description in wrong {
        assert!(make(&description).is_err(), "{description:?}");
    }
    let twice = Member { name: "m".into(), offset: 0, datatype: i32_le() };
    let twice = TypeClass::Compound { members: vec![twice.clone(), Member { offset: 4, ..twice }] };
    assert!(make(&Description { size: 8, class: twice }).is_err());
    let tag = TypeClass::Opaque { tag: "a\0b".into() };
    let error = make(&Description { size: 8, class: tag }).unwrap_err();
    assert!(matches!(error, Error::InteriorNul { .. }), "{error:?}");
}

#[test]
fn types_nested_too_deep_are_not_made() {
    let deep = (0..h5t::MAX_DEPTH).fold(i32_le(), |inner, _| {
        let class = TypeClass::Array { dims: vec![1], base: Box::new(inner) };
        Description { size: 4, class }
    });
    assert!(matches!(make(&deep), Err(Error::Limit { .. })));
}

#[cfg(hdf5_2_0)]
#[test]
fn complex_numbers_are_made() {
    let lock = lock();
    let float = Description { size: 2, class: TypeClass::Float(f16()) };
    let description = Description { size: 4, class: TypeClass::Complex { base: Box::new(float) } };
    drop(h5t::create(&lock, &description).unwrap());
    let wrong = Description { size: 5, ..description };
    assert!(matches!(h5t::create(&lock, &wrong), Err(Error::NoSuchType { .. })));
}

#[test]
fn a_copy_of_a_named_type_has_no_name() {
    let writer = Writer::new();
    // SAFETY: the writer holds the lock; the type is a fresh copy.
    let datatype = unsafe { ok(sys::H5Tcopy(*sys::H5T_NATIVE_INT)) };
    writer.name_type("named", datatype);
    writer.bytes("/", Some("a"), datatype, Some(1), &bytes(&[7]));
    let written = writer.finish();
    let lock = &written.lock;
    let attribute = h5a::open(lock, &written.file, "/", "a").unwrap();
    let named = h5a::datatype(lock, &attribute).unwrap();
    let copy = h5t::copy(lock, &named).unwrap();
    assert!(h5t::equal(lock, &copy, &named).unwrap());
    let fresh = Fresh::new();
    h5a::write(lock, &fresh.file, "/", "a", &copy, Some(&[]), &bytes(&[7])).unwrap();
}
