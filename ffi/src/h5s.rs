//! H5S: dataspaces, the extents of datasets and selections in them.

use std::fmt;
use std::ops::Deref;
use std::ptr;

use hdf5_sys::h5s::{H5S_MAX_RANK, H5S_SELECT_SET, H5S_class_t};

use crate::error::{Error, check, check_truth};
use crate::id::{Dataspace, Id};
use crate::lock::Lock;
use crate::sys;

/// The highest number of dimensions (`H5S_MAX_RANK`).
pub const MAX_RANK: usize = H5S_MAX_RANK as usize;

/// The size of a dimension without limit (`H5S_UNLIMITED`).
pub const UNLIMITED: u64 = hdf5_sys::h5s::H5S_UNLIMITED;

/// One number an axis, slowest axis first, inline. Dereferences to a slice of as many as there are
/// axes.
#[derive(Clone, Copy)]
pub struct PerAxis {
    rank: usize,
    values: [u64; MAX_RANK],
}

impl PerAxis {
    /// `rank` zeros; `rank` is at most [`MAX_RANK`].
    pub(crate) fn zeros(rank: usize) -> Self {
        Self { rank: rank.min(MAX_RANK), values: [0; MAX_RANK] }
    }

    /// The first `rank` numbers, unless there are fewer.
    pub(crate) fn truncated(self, rank: usize) -> Option<Self> {
        (rank <= self.rank).then_some(Self { rank, ..self })
    }

    /// Room for [`MAX_RANK`] numbers, for C to fill.
    pub(crate) fn as_mut_ptr(&mut self) -> *mut u64 {
        self.values.as_mut_ptr()
    }
}

impl Deref for PerAxis {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &self.values[..self.rank]
    }
}

impl fmt::Debug for PerAxis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl PartialEq for PerAxis {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for PerAxis {}

/// What a dataspace holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "one at a time, on the stack, never in a list")]
pub enum Extent {
    /// No elements at all.
    Null,
    /// One element without axes.
    Scalar,
    /// An array.
    Simple {
        /// Elements an axis.
        dims: PerAxis,
        /// Elements an axis can grow to, [`UNLIMITED`] for no limit.
        max_dims: PerAxis,
    },
}

impl Extent {
    /// Elements an axis; empty for null and scalar dataspaces.
    #[must_use]
    pub fn dims(&self) -> &[u64] {
        match self {
            Self::Null | Self::Scalar => &[],
            Self::Simple { dims, .. } => dims,
        }
    }
}

/// A regular selection to make: `count` blocks of `block` elements, the starts of the blocks
/// `stride` apart.
#[derive(Debug, Clone, Copy)]
pub struct Hyperslab<'a> {
    /// First element, in elements from 0, one value an axis as all here.
    pub start: &'a [u64],
    /// Elements from the start of a block to the start of the next; 1 if not given.
    pub stride: Option<&'a [u64]>,
    /// Blocks.
    pub count: &'a [u64],
    /// Elements of a block; 1 if not given.
    pub block: Option<&'a [u64]>,
}

/// A regular selection found: see [`Hyperslab`]. libhdf5 may give it in another form than it was
/// made in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegularHyperslab {
    /// First element, in elements from 0.
    pub start: PerAxis,
    /// Elements from the start of a block to the start of the next.
    pub stride: PerAxis,
    /// Blocks.
    pub count: PerAxis,
    /// Elements of a block.
    pub block: PerAxis,
}

/// What is selected in a dataspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "one at a time, on the stack, never in a list")]
pub enum Selection {
    /// Nothing.
    None,
    /// Every element.
    All,
    /// A regular hyperslab.
    Regular(RegularHyperslab),
    /// Points, or blocks without regularity.
    Irregular,
}

/// Extent of a dataspace (`H5Sget_simple_extent_dims`).
///
/// # Errors
/// [`Error::Call`]; [`Error::UnknownValue`].
pub fn extent(lock: &Lock, space: &Dataspace) -> Result<Extent, Error> {
    // SAFETY: the lock is held; `space` is live.
    let class = unsafe { sys::H5Sget_simple_extent_type(space.raw()) };
    // H5S_SCALAR, H5S_SIMPLE and H5S_NULL of H5Spublic.h.
    match check(lock, "H5Sget_simple_extent_type", class)? {
        0 => Ok(Extent::Scalar),
        1 => {
            let rank = rank(lock, space)?;
            let (mut dims, mut max_dims) = (PerAxis::zeros(rank), PerAxis::zeros(rank));
            // SAFETY: the lock is held; both arrays have room for MAX_RANK numbers, and no
            // dataspace has more axes.
            let status = unsafe {
                hdf5_sys::h5s::H5Sget_simple_extent_dims(
                    space.raw(),
                    dims.as_mut_ptr(),
                    max_dims.as_mut_ptr(),
                )
            };
            check(lock, "H5Sget_simple_extent_dims", status)?;
            Ok(Extent::Simple { dims, max_dims })
        }
        2 => Ok(Extent::Null),
        value => {
            Err(Error::UnknownValue { call: "H5Sget_simple_extent_type", value: value.into() })
        }
    }
}

/// Axes of a dataspace; 0 for null and scalar ones (`H5Sget_simple_extent_ndims`).
///
/// # Errors
/// [`Error::Call`].
pub fn rank(lock: &Lock, space: &Dataspace) -> Result<usize, Error> {
    // SAFETY: the lock is held; `space` is live.
    let rank = unsafe { hdf5_sys::h5s::H5Sget_simple_extent_ndims(space.raw()) };
    let rank = check(lock, "H5Sget_simple_extent_ndims", rank)?;
    usize::try_from(rank)
        .ok()
        .filter(|rank| *rank <= MAX_RANK)
        .ok_or(Error::UnknownValue { call: "H5Sget_simple_extent_ndims", value: rank.into() })
}

/// Makes a dataspace of these dimensions, everything selected (`H5Screate_simple`).
///
/// # Errors
/// [`Error::Call`]; [`Error::Rank`] for more than [`MAX_RANK`] axes.
pub fn simple(lock: &Lock, dims: &[u64]) -> Result<Dataspace, Error> {
    create_simple(lock, dims, None)
}

/// Makes a dataspace of these dimensions that can grow to `max_dims`, [`UNLIMITED`] for no limit,
/// everything selected (`H5Screate_simple`).
///
/// # Errors
/// As [`simple`]; [`Error::Rank`] also unless both have as many axes; [`Error::Call`] also for a
/// maximum below its dimension.
pub fn growable(lock: &Lock, dims: &[u64], max_dims: &[u64]) -> Result<Dataspace, Error> {
    create_simple(lock, dims, Some(max_dims))
}

fn create_simple(lock: &Lock, dims: &[u64], max_dims: Option<&[u64]>) -> Result<Dataspace, Error> {
    let what = "H5Screate_simple";
    let rank = i32::try_from(dims.len())
        .ok()
        .filter(|_| dims.len() <= MAX_RANK)
        .ok_or(Error::Rank { what, expected: MAX_RANK, found: dims.len() })?;
    if let Some(max_dims) = max_dims.filter(|max_dims| max_dims.len() != dims.len()) {
        return Err(Error::Rank { what, expected: dims.len(), found: max_dims.len() });
    }
    let max_dims = max_dims.map_or(ptr::null(), <[u64]>::as_ptr);
    // SAFETY: the lock is held; `dims` has `rank` numbers, and so has `max_dims` unless it is null,
    // which means the same dimensions.
    let id = unsafe { hdf5_sys::h5s::H5Screate_simple(rank, dims.as_ptr(), max_dims) };
    // SAFETY: H5Screate_simple returned it, fresh or negative.
    unsafe { Id::from_call(lock, what, id) }
}

/// Makes a dataspace of no elements at all (`H5Screate`).
///
/// # Errors
/// [`Error::Call`].
pub fn null(lock: &Lock) -> Result<Dataspace, Error> {
    create(lock, H5S_class_t::H5S_NULL)
}

/// Makes a dataspace of one element without axes (`H5Screate`).
///
/// # Errors
/// [`Error::Call`].
pub fn scalar(lock: &Lock) -> Result<Dataspace, Error> {
    create(lock, H5S_class_t::H5S_SCALAR)
}

fn create(lock: &Lock, class: H5S_class_t) -> Result<Dataspace, Error> {
    // SAFETY: the lock is held; the id returned is fresh or negative.
    unsafe { Id::from_call(lock, "H5Screate", hdf5_sys::h5s::H5Screate(class)) }
}

/// Selects a hyperslab, in place of what was selected before (`H5Sselect_hyperslab`).
///
/// # Errors
/// [`Error::Rank`] unless every part has one number an axis; [`Error::Call`].
pub fn select_hyperslab(
    lock: &Lock,
    space: &Dataspace,
    hyperslab: &Hyperslab<'_>,
) -> Result<(), Error> {
    let rank = rank(lock, space)?;
    let parts = [Some(hyperslab.start), hyperslab.stride, Some(hyperslab.count), hyperslab.block];
    if let Some(part) = parts.into_iter().flatten().find(|part| part.len() != rank) {
        return Err(Error::Rank { what: "hyperslab", expected: rank, found: part.len() });
    }
    let or_null = |part: Option<&[u64]>| part.map_or(ptr::null(), <[u64]>::as_ptr);
    // SAFETY: the lock is held; `space` is live, and every array that is given has a number an
    // axis.
    let status = unsafe {
        hdf5_sys::h5s::H5Sselect_hyperslab(
            space.raw(),
            H5S_SELECT_SET,
            hyperslab.start.as_ptr(),
            or_null(hyperslab.stride),
            hyperslab.count.as_ptr(),
            or_null(hyperslab.block),
        )
    };
    check(lock, "H5Sselect_hyperslab", status).map(|_| ())
}

/// Selects every element (`H5Sselect_all`).
///
/// # Errors
/// [`Error::Call`].
pub fn select_all(lock: &Lock, space: &Dataspace) -> Result<(), Error> {
    // SAFETY: the lock is held; `space` is live.
    let status = unsafe { hdf5_sys::h5s::H5Sselect_all(space.raw()) };
    check(lock, "H5Sselect_all", status).map(|_| ())
}

/// Number of elements selected (`H5Sget_select_npoints`).
///
/// # Errors
/// [`Error::Call`], also for a selection without limit.
pub fn selected(lock: &Lock, space: &Dataspace) -> Result<u64, Error> {
    // SAFETY: the lock is held; `space` is live.
    let points = unsafe { hdf5_sys::h5s::H5Sget_select_npoints(space.raw()) };
    let points = check(lock, "H5Sget_select_npoints", points)?;
    Ok(points.unsigned_abs())
}

/// What is selected (`H5Sget_select_type`, `H5Sget_regular_hyperslab`).
///
/// # Errors
/// [`Error::Call`]; [`Error::UnknownValue`].
pub fn selection(lock: &Lock, space: &Dataspace) -> Result<Selection, Error> {
    // SAFETY: the lock is held; `space` is live.
    let kind = unsafe { sys::H5Sget_select_type(space.raw()) };
    // H5S_SEL_NONE, H5S_SEL_POINTS, H5S_SEL_HYPERSLABS and H5S_SEL_ALL of H5Spublic.h.
    match check(lock, "H5Sget_select_type", kind)? {
        0 => Ok(Selection::None),
        1 => Ok(Selection::Irregular),
        2 => regular_hyperslab(lock, space),
        3 => Ok(Selection::All),
        value => Err(Error::UnknownValue { call: "H5Sget_select_type", value: value.into() }),
    }
}

/// The hyperslab selected in `space`, if it is a regular one.
fn regular_hyperslab(lock: &Lock, space: &Dataspace) -> Result<Selection, Error> {
    // SAFETY: the lock is held; `space` is live.
    let regular = unsafe { hdf5_sys::h5s::H5Sis_regular_hyperslab(space.raw()) };
    if !check_truth(lock, "H5Sis_regular_hyperslab", regular)? {
        return Ok(Selection::Irregular);
    }
    let zeros = PerAxis::zeros(rank(lock, space)?);
    let mut found = RegularHyperslab { start: zeros, stride: zeros, count: zeros, block: zeros };
    // SAFETY: the lock is held; each array has room for MAX_RANK numbers, and no dataspace has more
    // axes.
    let status = unsafe {
        hdf5_sys::h5s::H5Sget_regular_hyperslab(
            space.raw(),
            found.start.as_mut_ptr(),
            found.stride.as_mut_ptr(),
            found.count.as_mut_ptr(),
            found.block.as_mut_ptr(),
        )
    };
    check(lock, "H5Sget_regular_hyperslab", status)?;
    Ok(Selection::Regular(found))
}
