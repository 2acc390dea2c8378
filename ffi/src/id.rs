//! Owned ids of libhdf5, one type a kind, closed when dropped.

use std::fmt;
use std::marker::PhantomData;

use hdf5_sys::h5::herr_t;
use hdf5_sys::h5i::hid_t;

use crate::error::{Error, failure};
use crate::lock::{Lock, lock};

/// What an id stands for, and how it is closed.
pub trait Kind: sealed::Sealed {}

/// Kinds of what has attributes: files (their root group), groups and datasets. A path that starts at a dataset is `.`.
pub trait Object: Kind {}

/// Kinds in whose place a path starts: files (their root group) and groups.
pub trait Container: Object {}

mod sealed {
    use super::{herr_t, hid_t};

    /// Keeps other crates from inventing kinds, and holds what they must not call.
    pub trait Sealed {
        /// Name for `Debug`.
        const NAME: &'static str;
        /// The C function that releases an id of this kind.
        const CLOSE: unsafe extern "C" fn(hid_t) -> herr_t;
    }
}

/// An id of libhdf5 that this value owns. A wrong kind of id does not compile:
///
/// ```compile_fail,E0308
/// fn size_of_a_group(lock: &h5strata_ffi::Lock, group: &h5strata_ffi::id::Group) {
///     let _ = h5strata_ffi::h5f::size(lock, group);
/// }
/// ```
///
/// Dropping it takes the lock and closes it; that the close failed cannot be reported there.
///
/// Ids may be sent to and shared between threads: an id is a number that libhdf5 resolves in its
/// tables, and every function that passes it on does so under the global [`Lock`].
#[must_use = "the id is closed when this value is dropped"]
pub struct Id<K: Kind> {
    raw: hid_t,
    kind: PhantomData<fn() -> K>,
}

impl<K: Kind> Id<K> {
    /// Takes over what `call` returned.
    ///
    /// # Errors
    /// The error stack of `call` when it returned no id.
    ///
    /// # Safety
    /// `raw` is what `call` has just returned: no id, or a fresh id of kind `K` that nobody else
    /// closes.
    pub(crate) unsafe fn from_call(
        lock: &Lock,
        call: &'static str,
        raw: hid_t,
    ) -> Result<Self, Error> {
        if raw < 0 { Err(failure(lock, call)) } else { Ok(Self { raw, kind: PhantomData }) }
    }

    /// The number, for a call made under the lock while `self` lives.
    pub(crate) fn raw(&self) -> hid_t {
        self.raw
    }
}

impl<K: Kind> Drop for Id<K> {
    fn drop(&mut self) {
        let lock = lock();
        // SAFETY: the lock is held; `raw` is owned by `self`, of the kind that CLOSE is for, and
        // not used after this.
        let status = unsafe { K::CLOSE(self.raw) };
        if status < 0 {
            // Nobody to tell; but the thread's error stack is not left filled.
            drop(failure(&lock, "close"));
        }
    }
}

impl<K: Kind> fmt::Debug for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({:#x})", K::NAME, self.raw)
    }
}

/// Declares a kind: its marker, the name of its ids and the function that closes them.
macro_rules! kinds {
    ($($(#[$doc:meta])* $id:ident = $marker:ident, $close:path;)*) => {$(
        #[doc = concat!("Marks ids of the kind [`", stringify!($id), "`].")]
        #[derive(Debug)]
        pub enum $marker {}
        impl sealed::Sealed for $marker {
            const NAME: &'static str = stringify!($id);
            const CLOSE: unsafe extern "C" fn(hid_t) -> herr_t = $close;
        }
        impl Kind for $marker {}
        $(#[$doc])*
        pub type $id = Id<$marker>;
    )*};
}

kinds! {
    /// An open file. The file stays open in libhdf5 until its last object is closed.
    File = FileKind, hdf5_sys::h5f::H5Fclose;
    /// An open group.
    Group = GroupKind, hdf5_sys::h5g::H5Gclose;
    /// An open dataset, without its rank: see [`crate::h5d::Dataset`].
    DatasetId = DatasetKind, hdf5_sys::h5d::H5Dclose;
    /// A dataspace: an extent and a selection in it.
    Dataspace = DataspaceKind, hdf5_sys::h5s::H5Sclose;
    /// A datatype.
    Datatype = DatatypeKind, hdf5_sys::h5t::H5Tclose;
    /// An open attribute.
    Attribute = AttributeKind, hdf5_sys::h5a::H5Aclose;
    /// A dataset creation property list.
    DatasetCreation = DatasetCreationKind, hdf5_sys::h5p::H5Pclose;
    /// An attribute creation property list.
    AttributeCreation = AttributeCreationKind, hdf5_sys::h5p::H5Pclose;
    /// A link creation property list.
    LinkCreation = LinkCreationKind, hdf5_sys::h5p::H5Pclose;
    /// A file creation property list.
    FileCreation = FileCreationKind, hdf5_sys::h5p::H5Pclose;
    /// A file access property list.
    FileAccess = FileAccessKind, hdf5_sys::h5p::H5Pclose;
}

impl Object for FileKind {}
impl Object for GroupKind {}
impl Object for DatasetKind {}
impl Container for FileKind {}
impl Container for GroupKind {}
