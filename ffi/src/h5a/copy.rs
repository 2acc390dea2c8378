//! Attributes copied, whatever they hold.

use hdf5_sys::h5a::H5Aread;

use super::write::{replace, write_elements};
use super::{datatype, open, space};
use crate::error::{Error, check};
use crate::id::{Attribute, Container, Dataspace, Datatype, Id};
use crate::lock::Lock;
use crate::memory::{total, zeroed};
use crate::strings::reclaim;
use crate::{h5s, h5t};

/// Copies an attribute of the object at `from_path`, seen from `from_at`, to the object at
/// `to_path`, seen from `to_at`, in place of one that has the name there: with its type and shape,
/// whatever its elements are.
///
/// References are copied as they are: in another file, or after their object has moved, they lead
/// somewhere else.
///
/// # Errors
/// [`Error::Call`] also when there is no such object or attribute; [`Error::ReadOnly`];
/// [`Error::InteriorNul`]; [`Error::Limit`] and [`Error::Memory`] for more than fits.
pub fn copy<F: Container, T: Container>(
    lock: &Lock,
    from_at: &Id<F>,
    from_path: &str,
    to_at: &Id<T>,
    to_path: &str,
    name: &str,
) -> Result<(), Error> {
    let elements = Elements::read(lock, &open(lock, from_at, from_path, name)?)?;
    let Elements { datatype, space, points, bytes, .. } = &elements;
    let attribute = replace(lock, to_at, to_path, name, datatype, space).or_else(|error| {
        // The file may be one of older format bounds.
        let portable = h5t::copy_portable(lock, datatype)?;
        replace(lock, to_at, to_path, name, &portable, space).map_err(|_| error)
    })?;
    // SAFETY: the attribute was created with `space`, and `bytes` are the elements that libhdf5 made
    // of the attribute that is copied; what they point to lives as long as `elements`.
    unsafe { write_elements(lock, &attribute, datatype, *points, bytes.as_ptr()) }
}

/// The elements of an attribute, with what they point to.
struct Elements<'l> {
    lock: &'l Lock,
    datatype: Datatype,
    space: Dataspace,
    points: u64,
    bytes: Vec<u8>,
    has_pointers: bool,
}

impl<'l> Elements<'l> {
    fn read(lock: &'l Lock, attribute: &Attribute) -> Result<Self, Error> {
        let what = "the values of an attribute";
        let (datatype, space) = (datatype(lock, attribute)?, space(lock, attribute)?);
        let has_pointers = h5t::has_pointers(lock, &datatype)?;
        let points = h5s::selected(lock, &space)?;
        let mut bytes = zeroed(what, total(what, points, h5t::size(lock, &datatype)?)?)?;
        if points > 0 {
            // SAFETY: the lock is held; both ids are live, and `bytes` has room for all elements of
            // that type, which is what the call writes.
            let status =
                unsafe { H5Aread(attribute.raw(), datatype.raw(), bytes.as_mut_ptr().cast()) };
            check(lock, "H5Aread", status)?;
        }
        Ok(Self { lock, datatype, space, points, bytes, has_pointers })
    }
}

impl Drop for Elements<'_> {
    fn drop(&mut self) {
        if self.has_pointers && self.points > 0 {
            let elements = self.bytes.as_mut_ptr().cast();
            // SAFETY: the lock is held for as long as `self` lives; the buffer has as many elements
            // of `datatype` as `space`, all filled in by libhdf5, and is not used after this. A
            // failure cannot be reported here; it would leak what they point to.
            let _ = unsafe { reclaim(self.lock, &self.datatype, &self.space, elements) };
        }
    }
}
