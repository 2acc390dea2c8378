//! h5strata: versioned arrays in HDF5 files, fast and safe.
//!
//! Reads the files of the Python package versioned-hdf5: any version, any selection, straight from
//! the stored chunks; tells what differs between versions; makes new versions, and new files.
//!
//! ```no_run
//! use h5strata::{Selection, VersionedFile};
//! use ndarray::{ArrayD, s};
//!
//! let file = VersionedFile::open("prices.h5")?;
//! let close = file.version("2026-11-30")?.dataset("equity/close")?;
//! let last_year: ArrayD<f64> = close.read(s![-250.., ..;7])?;
//! let some: ArrayD<f64> = close.read("0:100, [3, 5, 9]".parse::<Selection>()?)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ```no_run
//! # use h5strata::VersionedFile;
//! # use ndarray::{Array1, s};
//! let mut file = VersionedFile::open_rw("prices.h5")?;
//! let mut stage = file.stage("2026-12-01")?;
//! stage.dataset_mut("equity/close")?.write(s![-1, ..], &Array1::<f64>::zeros(3000))?;
//! let report = stage.commit()?;
//! # Ok::<(), h5strata::Error>(())
//! ```
//!
//! # How a read goes
//!
//! ```text
//! selection ──► plan ──► chunk map ──► raw chunks ──► codec ──► kernel ──► your buffer
//! ```
//!
//! One direction, one unit of work: a [*transfer*](plan::Transfer), the part of a selection that lies
//! in one chunk. [`selection`], [`plan`], [`kernel`] and [`codec`] are pure: they need no file. [`ondisk`]
//! and [`chunk_map`] find which stored chunk stands behind which chunk of a version, [`raw`] brings
//! the bytes, [`store`] knows the format. libhdf5 is called through the crate `h5strata-ffi` alone,
//! under its global lock, and never while decoding or copying.
//!
//! # How a version is made
//!
//! ```text
//! staged writes ──► staged array ──► digest, known chunks ──► encode ──► stored chunks ──► new version
//! ```
//!
//! [`staged`] holds what is changed, in memory and copy-on-write; the same plans say which elements of a value go
//! to which chunk. A commit stores the chunks that no version has stored yet, and then the version.
//!
//! # How a commit becomes real
//!
//! ```text
//! libhdf5 ──► file driver ──► overlay ──► lists of mappings ──► journal ──► readers out ──► file
//!                     └─────► what lies behind the file's end ──► synced ──┘
//! ```
//!
//! All or nothing: [`atomic`] has libhdf5 write to an overlay, and the overlay to the file by way of a journal beside
//! it. What a commit outlives is its [`Durability`]; whoever opens a file next finishes or takes back what a stopped
//! writer has left, and [`RecoverOptions`] does just that. Locks keep writers apart, and readers out while a journal
//! is applied.
//!
//! Shapes and indices count elements from 0, slowest axis first; sizes are bytes where they are said
//! to be. Everything that is read from a file is checked before it is used.

pub mod atomic;
pub mod chunk_map;
pub mod chunking;
pub mod codec;
pub mod dims;
pub mod dtype;
pub mod kernel;
mod memory;
pub mod ondisk;
pub mod plan;
pub mod raw;
pub mod selection;
pub mod snapshot;
pub mod staged;
pub mod store;

pub use atomic::{Durability, Recovery};
pub use dtype::Dtype;
pub use plan::ReadPlan;
pub use raw::RawPath;
pub use selection::Selection;
pub use snapshot::{ImportOptions, ImportReport, NotCarried, Snapshot};
pub use store::{
    Dataset, DeleteOptions, DeleteReport, DeleteSelection, Error, OpenOptions, RebuildReport,
    RecoverOptions, RecoveryReport, RepackOptions, RepairOptions, RepairReport, RewriteOptions,
    RewriteReport, Stage, StageOptions, StagedDataset, Stats, StatsOptions, UpgradeOptions,
    UpgradeReport, VerifyOptions, VerifyReport, Version, VersionedFile,
};

/// Compiles the example in README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
