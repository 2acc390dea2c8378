//! Takes a datatype apart.

use hdf5_sys::h5t::{
    H5Tget_array_dims2, H5Tget_array_ndims, H5Tget_ebias, H5Tget_fields, H5Tget_member_name,
    H5Tget_member_offset, H5Tget_member_value, H5Tget_offset, H5Tget_precision, H5Tget_tag,
};

use super::{
    ByteOrder, CharacterSet, Class, Description, EnumMember, Float, MAX_DEPTH, Member,
    Normalization, StringPadding, TypeClass, base, deeper, is_variable_string, member_count,
    member_type, reference, size,
};
use crate::error::{Error, check, failure};
use crate::h5s::{MAX_RANK, PerAxis};
use crate::id::Datatype;
use crate::lock::Lock;
use crate::sys;
use crate::text::taken;

/// Everything HDF5 knows of a datatype, as plain data.
///
/// # Errors
/// [`Error::Call`]; [`Error::UnknownValue`] for what later versions of HDF5 may add;
/// [`Error::NotUtf8`] for the name of a member; [`Error::Limit`] above [`MAX_DEPTH`].
pub fn describe(lock: &Lock, datatype: &Datatype) -> Result<Description, Error> {
    describe_within(lock, datatype, MAX_DEPTH)
}

fn describe_within(lock: &Lock, datatype: &Datatype, depth: usize) -> Result<Description, Error> {
    let depth = deeper(depth)?;
    let base_of = || describe_within(lock, &base(lock, datatype)?, depth).map(Box::new);
    let class = match Class::of(lock, datatype)? {
        Class::Integer => TypeClass::Integer {
            order: order(lock, datatype)?,
            signed: signed(lock, datatype)?,
            precision: precision(lock, datatype)?,
            offset: offset(lock, datatype)?,
        },
        Class::Float => TypeClass::Float(float(lock, datatype)?),
        Class::Time => {
            TypeClass::Time { order: order(lock, datatype)?, precision: precision(lock, datatype)? }
        }
        Class::String => string(lock, datatype)?,
        Class::Bitfield => TypeClass::Bitfield {
            order: order(lock, datatype)?,
            precision: precision(lock, datatype)?,
            offset: offset(lock, datatype)?,
        },
        Class::Opaque => TypeClass::Opaque { tag: tag(lock, datatype)? },
        Class::Compound => {
            let members = (0..member_count(lock, datatype)?).map(|index| {
                let inner = member_type(lock, datatype, index)?;
                Ok(Member {
                    name: member_name(lock, datatype, index)?,
                    // SAFETY: the lock is held; `datatype` is a live compound with more than
                    // `index` members.
                    offset: unsafe { H5Tget_member_offset(datatype.raw(), index) },
                    datatype: describe_within(lock, &inner, depth)?,
                })
            });
            TypeClass::Compound { members: members.collect::<Result<_, Error>>()? }
        }
        Class::Reference => TypeClass::Reference(reference(lock, datatype)?),
        Class::Enumeration => {
            TypeClass::Enumeration { base: base_of()?, members: enum_members(lock, datatype)? }
        }
        Class::VariableLength => TypeClass::VariableLength { base: base_of()? },
        Class::Array => TypeClass::Array { dims: array_dims(lock, datatype)?, base: base_of()? },
        Class::Complex => TypeClass::Complex { base: base_of()? },
    };
    Ok(Description { size: size(lock, datatype)?, class })
}

fn order(lock: &Lock, datatype: &Datatype) -> Result<ByteOrder, Error> {
    // SAFETY: the lock is held; `datatype` is live.
    let order = unsafe { sys::H5Tget_order(datatype.raw()) };
    // H5T_order_t of H5Tpublic.h.
    Ok(match check(lock, "H5Tget_order", order)? {
        0 => ByteOrder::Little,
        1 => ByteOrder::Big,
        2 => ByteOrder::Vax,
        3 | 4 => ByteOrder::None,
        value => return Err(Error::UnknownValue { call: "H5Tget_order", value: value.into() }),
    })
}

fn signed(lock: &Lock, datatype: &Datatype) -> Result<bool, Error> {
    // SAFETY: the lock is held; `datatype` is live.
    let sign = unsafe { sys::H5Tget_sign(datatype.raw()) };
    // H5T_SGN_NONE and H5T_SGN_2 of H5Tpublic.h.
    match check(lock, "H5Tget_sign", sign)? {
        0 => Ok(false),
        1 => Ok(true),
        value => Err(Error::UnknownValue { call: "H5Tget_sign", value: value.into() }),
    }
}

fn precision(lock: &Lock, datatype: &Datatype) -> Result<usize, Error> {
    // SAFETY: the lock is held; `datatype` is live.
    match unsafe { H5Tget_precision(datatype.raw()) } {
        0 => Err(failure(lock, "H5Tget_precision")),
        bits => Ok(bits),
    }
}

fn offset(lock: &Lock, datatype: &Datatype) -> Result<usize, Error> {
    // SAFETY: the lock is held; `datatype` is live.
    let bits = unsafe { H5Tget_offset(datatype.raw()) };
    usize::try_from(bits).map_err(|_| failure(lock, "H5Tget_offset"))
}

fn float(lock: &Lock, datatype: &Datatype) -> Result<Float, Error> {
    let mut float = Float {
        order: order(lock, datatype)?,
        precision: precision(lock, datatype)?,
        offset: offset(lock, datatype)?,
        sign_position: 0,
        exponent_position: 0,
        exponent_size: 0,
        // SAFETY: the lock is held; `datatype` is a live floating point type.
        exponent_bias: unsafe { H5Tget_ebias(datatype.raw()) },
        mantissa_position: 0,
        mantissa_size: 0,
        normalization: normalization(lock, datatype)?,
    };
    // SAFETY: the lock is held; `datatype` is live, the pointers are to live integers.
    let status = unsafe {
        H5Tget_fields(
            datatype.raw(),
            &mut float.sign_position,
            &mut float.exponent_position,
            &mut float.exponent_size,
            &mut float.mantissa_position,
            &mut float.mantissa_size,
        )
    };
    check(lock, "H5Tget_fields", status)?;
    Ok(float)
}

fn normalization(lock: &Lock, datatype: &Datatype) -> Result<Normalization, Error> {
    // SAFETY: the lock is held; `datatype` is live.
    let normalization = unsafe { sys::H5Tget_norm(datatype.raw()) };
    // H5T_norm_t of H5Tpublic.h.
    Ok(match check(lock, "H5Tget_norm", normalization)? {
        0 => Normalization::Implied,
        1 => Normalization::MostSignificantBitSet,
        2 => Normalization::None,
        value => return Err(Error::UnknownValue { call: "H5Tget_norm", value: value.into() }),
    })
}

fn string(lock: &Lock, datatype: &Datatype) -> Result<TypeClass, Error> {
    // SAFETY: the lock is held; `datatype` is live.
    let charset = unsafe { sys::H5Tget_cset(datatype.raw()) };
    // H5T_cset_t of H5Tpublic.h; the file has four bits for it.
    let charset = match small(lock, "H5Tget_cset", charset)? {
        0 => CharacterSet::Ascii,
        1 => CharacterSet::Utf8,
        other => CharacterSet::Reserved(other),
    };
    if is_variable_string(lock, datatype)? {
        return Ok(TypeClass::VariableString { charset });
    }
    // SAFETY: the lock is held; `datatype` is live.
    let padding = unsafe { sys::H5Tget_strpad(datatype.raw()) };
    // H5T_str_t of H5Tpublic.h; the file has four bits for it.
    let padding = match small(lock, "H5Tget_strpad", padding)? {
        0 => StringPadding::NullTerminated,
        1 => StringPadding::NullPadded,
        2 => StringPadding::SpacePadded,
        other => StringPadding::Reserved(other),
    };
    Ok(TypeClass::FixedString { padding, charset })
}

/// A code of a few bits.
fn small(lock: &Lock, call: &'static str, value: i32) -> Result<u8, Error> {
    u8::try_from(check(lock, call, value)?)
        .map_err(|_| Error::UnknownValue { call, value: value.into() })
}

fn tag(lock: &Lock, datatype: &Datatype) -> Result<String, Error> {
    // SAFETY: the lock is held; `datatype` is live.
    let tag = unsafe { H5Tget_tag(datatype.raw()) };
    // SAFETY: H5Tget_tag returned it: null, or a copy that is ours.
    unsafe { taken(lock, "H5Tget_tag", "the tag of an opaque type", tag) }
}

fn member_name(lock: &Lock, datatype: &Datatype, index: u32) -> Result<String, Error> {
    // SAFETY: the lock is held; `datatype` is live; the index is checked there.
    let name = unsafe { H5Tget_member_name(datatype.raw(), index) };
    // SAFETY: H5Tget_member_name returned it: null, or a copy that is ours.
    unsafe { taken(lock, "H5Tget_member_name", "the name of a member", name) }
}

fn enum_members(lock: &Lock, datatype: &Datatype) -> Result<Vec<EnumMember>, Error> {
    let bytes = size(lock, datatype)?;
    let member = |index| {
        let name = member_name(lock, datatype, index)?;
        let mut value = vec![0; bytes];
        // SAFETY: the lock is held; `datatype` is a live enumeration, and `value` has room for an
        // element of it: the call copies as many bytes as `datatype` has.
        let status =
            unsafe { H5Tget_member_value(datatype.raw(), index, value.as_mut_ptr().cast()) };
        check(lock, "H5Tget_member_value", status)?;
        Ok(EnumMember { name, value })
    };
    (0..member_count(lock, datatype)?).map(member).collect()
}

fn array_dims(lock: &Lock, datatype: &Datatype) -> Result<Vec<u64>, Error> {
    // SAFETY: the lock is held; `datatype` is live.
    let rank = check(lock, "H5Tget_array_ndims", unsafe { H5Tget_array_ndims(datatype.raw()) })?;
    let rank = usize::try_from(rank)
        .ok()
        .filter(|rank| *rank <= MAX_RANK)
        .ok_or(Error::UnknownValue { call: "H5Tget_array_ndims", value: rank.into() })?;
    let mut dims = PerAxis::zeros(rank);
    // SAFETY: the lock is held; there is room for MAX_RANK numbers, and `rank` is no more than
    // that.
    let status = unsafe { H5Tget_array_dims2(datatype.raw(), dims.as_mut_ptr()) };
    check(lock, "H5Tget_array_dims2", status)?;
    Ok(dims.to_vec())
}
