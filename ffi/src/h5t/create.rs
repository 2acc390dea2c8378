//! Makes a datatype of its description.

use hdf5_sys::h5i::hid_t;
use hdf5_sys::h5t::{
    H5T_C_S1, H5T_IEEE_F64LE, H5T_STD_B8LE, H5T_STD_I8LE, H5T_STD_U8LE, H5T_VARIABLE, H5T_VAX_F64,
    H5T_class_t, H5T_cset_t, H5T_norm_t, H5T_order_t, H5T_str_t, H5Tarray_create2, H5Tcopy,
    H5Tcreate, H5Tenum_create, H5Tenum_insert, H5Tinsert, H5Tset_cset, H5Tset_ebias, H5Tset_fields,
    H5Tset_norm, H5Tset_offset, H5Tset_order, H5Tset_precision, H5Tset_size, H5Tset_strpad,
    H5Tset_tag,
};

use super::{
    ByteOrder, CharacterSet, Description, EnumMember, Float, MAX_DEPTH, Member, Normalization,
    StringPadding, TypeClass, deeper, describe,
};
use crate::error::{Error, check};
use crate::h5s::MAX_RANK;
use crate::id::{Datatype, Id};
use crate::lock::Lock;
use crate::text::c_string;

/// Makes a datatype: what [`describe`] then says of it is `description`.
///
/// Bits of a number that carry no value are zero; no other padding can be asked for.
///
/// # Errors
/// [`Error::UnsupportedClass`] for references, sequences of variable length and times;
/// [`Error::NotInThisVersion`] for complex numbers before HDF5 2.0; [`Error::NoSuchType`] and
/// [`Error::Call`] for descriptions that contradict themselves; [`Error::InteriorNul`];
/// [`Error::Limit`] above [`MAX_DEPTH`].
pub fn create(lock: &Lock, description: &Description) -> Result<Datatype, Error> {
    let datatype = create_within(lock, description, MAX_DEPTH)?;
    if describe(lock, &datatype)? == *description {
        Ok(datatype)
    } else {
        Err(Error::NoSuchType { what: "its parts do not go together" })
    }
}

fn create_within(lock: &Lock, description: &Description, depth: usize) -> Result<Datatype, Error> {
    let depth = deeper(depth)?;
    let size = description.size;
    match &description.class {
        TypeClass::Integer { order, signed, precision, offset } => {
            // Both are built into the library.
            let model = if *signed { *H5T_STD_I8LE } else { *H5T_STD_U8LE };
            bits(lock, model, size, *order, *precision, *offset)
        }
        TypeClass::Bitfield { order, precision, offset } => {
            bits(lock, *H5T_STD_B8LE, size, *order, *precision, *offset)
        }
        TypeClass::Float(float) => floating_point(lock, size, float),
        TypeClass::FixedString { padding, charset } => fixed_string(lock, size, *padding, *charset),
        TypeClass::VariableString { charset } => string(lock, H5T_VARIABLE, *charset),
        TypeClass::Opaque { tag } => opaque(lock, size, tag),
        TypeClass::Compound { members } => compound(lock, size, members, depth),
        TypeClass::Enumeration { base, members } => {
            enumeration(lock, base.size, &create_within(lock, base, depth)?, members)
        }
        TypeClass::Array { dims, base } => {
            let bytes = dims.iter().try_fold(base.size, |bytes, dim| {
                usize::try_from(*dim).ok().and_then(|dim| bytes.checked_mul(dim))
            });
            if bytes != Some(size) {
                return Err(Error::NoSuchType { what: "an array of another size than its parts" });
            }
            array(lock, dims, &create_within(lock, base, depth)?)
        }
        TypeClass::Complex { base } => complex(lock, &create_within(lock, base, depth)?),
        TypeClass::Reference(_) => Err(Error::UnsupportedClass { class: "reference" }),
        TypeClass::VariableLength { .. } => {
            Err(Error::UnsupportedClass { class: "sequence of variable length" })
        }
        TypeClass::Time { .. } => Err(Error::UnsupportedClass { class: "time" }),
    }
}

/// A copy of a type built into the library.
fn copy_of(lock: &Lock, model: hid_t) -> Result<Datatype, Error> {
    // SAFETY: the lock is held; the callers pass a type built into the library; the id returned is
    // fresh or negative.
    unsafe { Id::from_call(lock, "H5Tcopy", H5Tcopy(model)) }
}

fn set_size(lock: &Lock, datatype: &Datatype, size: usize) -> Result<(), Error> {
    // SAFETY: the lock is held; `datatype` is live.
    check(lock, "H5Tset_size", unsafe { H5Tset_size(datatype.raw(), size) }).map(|_| ())
}

fn set_precision(lock: &Lock, datatype: &Datatype, bits: usize) -> Result<(), Error> {
    // SAFETY: the lock is held; `datatype` is live.
    check(lock, "H5Tset_precision", unsafe { H5Tset_precision(datatype.raw(), bits) }).map(|_| ())
}

fn set_offset(lock: &Lock, datatype: &Datatype, bits: usize) -> Result<(), Error> {
    // SAFETY: the lock is held; `datatype` is live.
    check(lock, "H5Tset_offset", unsafe { H5Tset_offset(datatype.raw(), bits) }).map(|_| ())
}

fn set_order(lock: &Lock, datatype: &Datatype, order: ByteOrder) -> Result<(), Error> {
    let order = match order {
        ByteOrder::Little => H5T_order_t::H5T_ORDER_LE,
        ByteOrder::Big => H5T_order_t::H5T_ORDER_BE,
        ByteOrder::Vax => H5T_order_t::H5T_ORDER_VAX,
        ByteOrder::None => H5T_order_t::H5T_ORDER_NONE,
    };
    // SAFETY: the lock is held; `datatype` is live.
    check(lock, "H5Tset_order", unsafe { H5Tset_order(datatype.raw(), order) }).map(|_| ())
}

/// Refuses bits that an element of `size` bytes does not have.
fn check_bits(size: usize, precision: usize, offset: usize) -> Result<(), Error> {
    let end = precision.checked_add(offset);
    let room = size.checked_mul(8);
    match (end, room) {
        (Some(end), Some(room)) if end <= room => Ok(()),
        _ => Err(Error::NoSuchType { what: "a number with more bits than its bytes have" }),
    }
}

/// An integer or bitfield.
fn bits(
    lock: &Lock,
    model: hid_t,
    size: usize,
    order: ByteOrder,
    precision: usize,
    offset: usize,
) -> Result<Datatype, Error> {
    check_bits(size, precision, offset)?;
    let datatype = copy_of(lock, model)?;
    set_size(lock, &datatype, size)?;
    set_precision(lock, &datatype, precision)?;
    set_offset(lock, &datatype, offset)?;
    set_order(lock, &datatype, order)?;
    Ok(datatype)
}

/// A floating point number of any layout.
fn floating_point(lock: &Lock, size: usize, float: &Float) -> Result<Datatype, Error> {
    check_bits(size, float.precision, float.offset)?;
    check_bits(size, 1, float.sign_position)?;
    check_bits(size, float.exponent_size, float.exponent_position)?;
    check_bits(size, float.mantissa_size, float.mantissa_position)?;
    // Only the library's own VAX types are of the version of the format that has that byte order.
    let model = if float.order == ByteOrder::Vax { *H5T_VAX_F64 } else { *H5T_IEEE_F64LE };
    let datatype = copy_of(lock, model)?;
    // libhdf5 checks the parts against the bits there are at the time, so there have to be enough
    // for the parts of the model and for those asked for, until these are set.
    let wide = size.max(8).checked_mul(16).ok_or(Error::NoSuchType { what: "its size" })?;
    set_size(lock, &datatype, wide / 8)?;
    set_precision(lock, &datatype, wide / 2)?;
    set_offset(lock, &datatype, float.offset)?;
    // SAFETY: the lock is held; `datatype` is a live floating point type.
    let status = unsafe {
        H5Tset_fields(
            datatype.raw(),
            float.sign_position,
            float.exponent_position,
            float.exponent_size,
            float.mantissa_position,
            float.mantissa_size,
        )
    };
    check(lock, "H5Tset_fields", status)?;
    set_precision(lock, &datatype, float.precision)?;
    set_size(lock, &datatype, size)?;
    // SAFETY: as above.
    let status = unsafe { H5Tset_ebias(datatype.raw(), float.exponent_bias) };
    check(lock, "H5Tset_ebias", status)?;
    let normalization = match float.normalization {
        Normalization::Implied => H5T_norm_t::H5T_NORM_IMPLIED,
        Normalization::MostSignificantBitSet => H5T_norm_t::H5T_NORM_MSBSET,
        Normalization::None => H5T_norm_t::H5T_NORM_NONE,
    };
    // SAFETY: as above.
    let status = unsafe { H5Tset_norm(datatype.raw(), normalization) };
    check(lock, "H5Tset_norm", status)?;
    set_order(lock, &datatype, float.order)?;
    Ok(datatype)
}

/// A string of `size` bytes, or of variable length for `H5T_VARIABLE`.
fn string(lock: &Lock, size: usize, charset: CharacterSet) -> Result<Datatype, Error> {
    let charset = match charset {
        CharacterSet::Ascii => H5T_cset_t::H5T_CSET_ASCII,
        CharacterSet::Utf8 => H5T_cset_t::H5T_CSET_UTF8,
        CharacterSet::Reserved(_) => {
            return Err(Error::NoSuchType { what: "a string of unknown characters" });
        }
    };
    let datatype = copy_of(lock, *H5T_C_S1)?;
    set_size(lock, &datatype, size)?;
    // SAFETY: the lock is held; `datatype` is a live string type.
    check(lock, "H5Tset_cset", unsafe { H5Tset_cset(datatype.raw(), charset) })?;
    Ok(datatype)
}

fn fixed_string(
    lock: &Lock,
    size: usize,
    padding: StringPadding,
    charset: CharacterSet,
) -> Result<Datatype, Error> {
    let padding = match padding {
        StringPadding::NullTerminated => H5T_str_t::H5T_STR_NULLTERM,
        StringPadding::NullPadded => H5T_str_t::H5T_STR_NULLPAD,
        StringPadding::SpacePadded => H5T_str_t::H5T_STR_SPACEPAD,
        StringPadding::Reserved(_) => {
            return Err(Error::NoSuchType { what: "a string of unknown padding" });
        }
    };
    if size == H5T_VARIABLE {
        return Err(Error::NoSuchType { what: "a string of that many bytes" });
    }
    let datatype = string(lock, size, charset)?;
    // SAFETY: the lock is held; `datatype` is a live string type.
    check(lock, "H5Tset_strpad", unsafe { H5Tset_strpad(datatype.raw(), padding) })?;
    Ok(datatype)
}

/// An opaque or compound type, empty.
fn of_class(lock: &Lock, class: H5T_class_t, size: usize) -> Result<Datatype, Error> {
    // SAFETY: the lock is held; the id returned is fresh or negative.
    unsafe { Id::from_call(lock, "H5Tcreate", H5Tcreate(class, size)) }
}

fn opaque(lock: &Lock, size: usize, tag: &str) -> Result<Datatype, Error> {
    let (datatype, tag) = (of_class(lock, H5T_class_t::H5T_OPAQUE, size)?, c_string(tag)?);
    // SAFETY: the lock is held; `datatype` is a live opaque type, `tag` ends in a zero byte.
    check(lock, "H5Tset_tag", unsafe { H5Tset_tag(datatype.raw(), tag.as_ptr()) })?;
    Ok(datatype)
}

fn compound(lock: &Lock, size: usize, members: &[Member], depth: usize) -> Result<Datatype, Error> {
    let datatype = of_class(lock, H5T_class_t::H5T_COMPOUND, size)?;
    for member in members {
        let end = member.offset.checked_add(member.datatype.size);
        if end.is_none_or(|end| end > size) {
            return Err(Error::NoSuchType { what: "a member reaches beyond its compound" });
        }
        let inner = create_within(lock, &member.datatype, depth)?;
        let name = c_string(&member.name)?;
        // SAFETY: the lock is held; both types are live, `name` ends in a zero byte.
        let status =
            unsafe { H5Tinsert(datatype.raw(), name.as_ptr(), member.offset, inner.raw()) };
        check(lock, "H5Tinsert", status)?;
    }
    Ok(datatype)
}

fn enumeration(
    lock: &Lock,
    size: usize,
    base: &Datatype,
    members: &[EnumMember],
) -> Result<Datatype, Error> {
    // SAFETY: the lock is held; `base` is live; the id returned is fresh or negative.
    let datatype: Datatype =
        unsafe { Id::from_call(lock, "H5Tenum_create", H5Tenum_create(base.raw())) }?;
    // What the call below reads is as many bytes as `base` really has.
    if super::size(lock, base)? != size {
        return Err(Error::NoSuchType { what: "the size of an enumeration's integers" });
    }
    for member in members {
        if member.value.len() != size {
            return Err(Error::NoSuchType { what: "a value of another size than its integers" });
        }
        let name = c_string(&member.name)?;
        // SAFETY: the lock is held; `datatype` is a live enumeration, `name` ends in a zero byte, and
        // the value is an element of its base type.
        let status =
            unsafe { H5Tenum_insert(datatype.raw(), name.as_ptr(), member.value.as_ptr().cast()) };
        check(lock, "H5Tenum_insert", status)?;
    }
    Ok(datatype)
}

fn array(lock: &Lock, dims: &[u64], base: &Datatype) -> Result<Datatype, Error> {
    let rank = u32::try_from(dims.len())
        .ok()
        .filter(|_| dims.len() <= MAX_RANK)
        .ok_or(Error::Rank { what: "H5Tarray_create2", expected: MAX_RANK, found: dims.len() })?;
    // SAFETY: the lock is held; `base` is live, `dims` has `rank` numbers; the id returned is fresh
    // or negative.
    unsafe {
        let id = H5Tarray_create2(base.raw(), rank, dims.as_ptr());
        Id::from_call(lock, "H5Tarray_create2", id)
    }
}

#[cfg(hdf5_2_0)]
fn complex(lock: &Lock, base: &Datatype) -> Result<Datatype, Error> {
    // SAFETY: the lock is held; `base` is live; the id returned is fresh or negative.
    unsafe {
        let id = hdf5_sys::h5t::H5Tcomplex_create(base.raw());
        Id::from_call(lock, "H5Tcomplex_create", id)
    }
}

#[cfg(not(hdf5_2_0))]
fn complex(_lock: &Lock, _base: &Datatype) -> Result<Datatype, Error> {
    Err(Error::NotInThisVersion { call: "H5Tcomplex_create", since: "2.0" })
}
