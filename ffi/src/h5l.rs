//! H5L: links, the names of objects.

mod change;

use std::ffi::{CStr, c_char, c_void};
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use hdf5_sys::h5::{H5_INDEX_NAME, H5_ITER_INC, herr_t};
use hdf5_sys::h5i::hid_t;
use hdf5_sys::h5p::H5P_DEFAULT;

pub use self::change::{copy, delete};

use crate::error::{Error, check, check_truth, failure};
use crate::id::{Container, Id};
use crate::lock::Lock;
use crate::sys;
use crate::text::c_string;

/// What a link leads to, without following it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// An object of this file.
    Hard {
        /// Address of the object's header in bytes from the base address: the user block is not
        /// counted.
        address: u64,
    },
    /// A path in this file, which may lead nowhere.
    Soft,
    /// A path in another file.
    External,
    /// A link of a class that some program defined.
    UserDefined,
}

/// Whether there is a link at `path`, seen from `at` (`H5Lexists`).
///
/// Asks for the links on the way one after the other, so that a missing one is no failure. The link
/// may be soft and lead nowhere. The root group, `/`, exists.
///
/// # Errors
/// [`Error::Call`] when something on the way is no group; [`Error::InteriorNul`].
pub fn exists<C: Container>(lock: &Lock, at: &Id<C>, path: &str) -> Result<bool, Error> {
    for (end, _) in path.match_indices('/').chain([(path.len(), "")]) {
        let part = &path[..end];
        // What HDF5 skips in a path has no link of its own (H5G__component).
        if matches!(part.rsplit('/').next(), None | Some("" | ".")) {
            continue;
        }
        let part = c_string(part)?;
        // SAFETY: the lock is held; `at` is live, `part` ends in a zero byte.
        let found = unsafe { hdf5_sys::h5l::H5Lexists(at.raw(), part.as_ptr(), H5P_DEFAULT) };
        if !check_truth(lock, "H5Lexists", found)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What the link at `path` is, seen from `at` (`H5Lget_info`).
///
/// Reads the group that holds the link, not the object it leads to. The root group has no link.
///
/// # Errors
/// [`Error::Call`] when there is none; [`Error::InteriorNul`].
pub fn link<C: Container>(lock: &Lock, at: &Id<C>, path: &str) -> Result<Link, Error> {
    let path = c_string(path)?;
    let mut info = MaybeUninit::<sys::LinkInfo>::zeroed();
    // SAFETY: the lock is held; `at` is live, `path` ends in a zero byte, `info` has room for the
    // struct.
    let status =
        unsafe { sys::H5Lget_info(at.raw(), path.as_ptr(), info.as_mut_ptr(), H5P_DEFAULT) };
    check(lock, "H5Lget_info", status)?;
    // SAFETY: it was zeroed, which is a valid value, and then filled by the call.
    let info = unsafe { info.assume_init() };
    link_of(lock, at, &info)
}

/// What libhdf5 says of a link that was found from `at`.
fn link_of<C: Container>(lock: &Lock, at: &Id<C>, info: &sys::LinkInfo) -> Result<Link, Error> {
    Ok(match info.kind {
        // H5L_TYPE_HARD, H5L_TYPE_SOFT and H5L_TYPE_EXTERNAL of H5Lpublic.h.
        0 => Link::Hard { address: crate::h5o::address_of(lock, at, info.target)? },
        1 => Link::Soft,
        64 => Link::External,
        _ => Link::UserDefined,
    })
}

/// Names of the links in a group, in ascending order of their bytes (`H5Literate`).
///
/// # Errors
/// [`Error::Call`]; [`Error::NotUtf8`].
pub fn names<C: Container>(lock: &Lock, group: &Id<C>) -> Result<Vec<String>, Error> {
    iterate(lock, group, |name, _| name)
}

/// The links in a group by their names, in ascending order of these (`H5Literate`).
///
/// # Errors
/// As [`names`].
pub fn links<C: Container>(lock: &Lock, group: &Id<C>) -> Result<Vec<(String, Link)>, Error> {
    let links = iterate(lock, group, |name, info| (name, *info))?;
    links.into_iter().map(|(name, info)| Ok((name, link_of(lock, group, &info)?))).collect()
}

/// What `make` makes of each link in a group, in ascending order of the bytes of their names.
fn iterate<C: Container, T, M: FnMut(String, &sys::LinkInfo) -> T>(
    lock: &Lock,
    group: &Id<C>,
    make: M,
) -> Result<Vec<T>, Error> {
    let mut collected = Collected { make, made: Vec::new(), failure: None };
    // SAFETY: the lock is held; `group` is live; `collect` gets back the pointer to `collected`,
    // which is of the type that it expects, outlives the call and is not touched during it.
    let status = unsafe {
        sys::H5Literate(
            group.raw(),
            H5_INDEX_NAME as i32,
            H5_ITER_INC as i32,
            ptr::null_mut(),
            Some(collect::<T, M>),
            (&raw mut collected).cast(),
        )
    };
    if status < 0 {
        let failure = failure(lock, "H5Literate");
        return Err(collected.failure.unwrap_or(failure));
    }
    Ok(collected.made)
}

/// What `collect` has gathered so far.
struct Collected<T, M> {
    make: M,
    made: Vec<T>,
    failure: Option<Error>,
}

/// Appends what is made of one link to the `Collected` behind `data`.
unsafe extern "C" fn collect<T, M: FnMut(String, &sys::LinkInfo) -> T>(
    _group: hid_t,
    name: *const c_char,
    info: *const sys::LinkInfo,
    data: *mut c_void,
) -> herr_t {
    // SAFETY: `data` is what `iterate` passed to the iteration, used by nobody else during it.
    let collected = unsafe { &mut *data.cast::<Collected<T, M>>() };
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: libhdf5 passes a name that ends in a zero byte, and what it knows of the link.
        let (name, info) = unsafe { (CStr::from_ptr(name), &*info) };
        match name.to_str() {
            Ok(name) => {
                collected.made.push((collected.make)(name.to_owned(), info));
                Ok(())
            }
            Err(_) => Err(Error::NotUtf8 {
                what: "the name of a link",
                name: name.to_string_lossy().into_owned(),
            }),
        }
    }));
    collected.failure = match outcome {
        Ok(Ok(())) => return 0,
        Ok(Err(error)) => Some(error),
        Err(_) => Some(Error::CallbackPanicked { call: "H5Literate" }),
    };
    -1
}
