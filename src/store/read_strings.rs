//! Reading strings, of fixed and of variable length.

use bumpalo::Bump;
use h5strata_ffi::h5z;
use ndarray::ArrayD;

use super::dataset::{Dataset, DatasetInner};
use super::error::{DatasetFault, Error};
use super::file::Direct;
use super::read::{array, chunk_fault};
use crate::dims::Dims;
use crate::dtype::Dtype;
use crate::plan::ReadPlan;
use crate::raw::{RawPath, StringFault, read_strings_by_library, resolve_strings};
use crate::selection::Selection;

impl Dataset {
    /// Reads the selected strings, of fixed or variable length. What fills a fixed-length string up is
    /// left out.
    ///
    /// # Errors
    /// As [`read`](Self::read); a string that is not UTF-8 is an error.
    pub fn read_strings(&self, selection: impl Into<Selection>) -> Result<ArrayD<String>, Error> {
        let read = |selection: &Selection| {
            let (strings, shape) = self.inner.read_strings(selection, |bytes| {
                std::str::from_utf8(bytes).ok().map(str::to_owned)
            })?;
            array(shape, strings)
        };
        read(&selection.into()).map_err(self.inner.error())
    }

    /// Reads the selected strings as bytes, whatever their encoding.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_byte_strings(
        &self,
        selection: impl Into<Selection>,
    ) -> Result<ArrayD<Vec<u8>>, Error> {
        let read = |selection: &Selection| {
            let (strings, shape) =
                self.inner.read_strings(selection, |bytes| Some(bytes.to_vec()))?;
            array(shape, strings)
        };
        read(&selection.into()).map_err(self.inner.error())
    }
}

impl DatasetInner {
    /// The selected strings, each made into a value by `make` (`None` if it is not UTF-8), and the result's
    /// shape.
    fn read_strings<T: Send>(
        &self,
        selection: &Selection,
        make: impl Fn(&[u8]) -> Option<T> + Sync,
    ) -> Result<(Vec<T>, Dims), DatasetFault> {
        let arena = Bump::new();
        let plan = self.plan(selection, &arena)?;
        let shape = Dims::from_slice(plan.output_shape());
        let strings = match (&self.storage.dtype, &self.version.file.direct) {
            (Dtype::FixedString { size, padding, .. }, _) => {
                let mut stored = self.result::<u8>(&plan, self.storage.raw.element_size())?;
                self.fetch(&plan, &mut stored)?;
                let strings = stored.chunks_exact((*size).max(1));
                make_all(strings.map(|string| padding.trim(string)), make)?
            }
            (Dtype::VariableString { .. }, Some(direct)) if !self.strings_by_library()? => {
                self.read_references(&plan, direct, make)?
            }
            (Dtype::VariableString { .. }, _) => {
                let strings = self.read_strings_by_library(&plan)?;
                make_all(strings.iter().map(Vec::as_slice), make)?
            }
            (dtype, _) => {
                return Err(DatasetFault::Type { expected: "strings", found: dtype.clone() });
            }
        };
        Ok((strings, shape))
    }

    /// Whether strings go through libhdf5: if that was asked for, and it can undo all filters.
    fn strings_by_library(&self) -> Result<bool, h5strata_ffi::Error> {
        if self.version.file.raw_path == RawPath::Auto {
            return Ok(false);
        }
        let lock = h5strata_ffi::lock();
        for filter in self.storage.raw.pipeline().filters() {
            if !h5z::is_available(&lock, filter.id.into())? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Strings straight from the file: their references first, then the global heap.
    fn read_references<T: Send>(
        &self,
        plan: &ReadPlan<'_>,
        direct: &Direct,
        make: impl Fn(&[u8]) -> Option<T> + Sync,
    ) -> Result<Vec<T>, DatasetFault> {
        let mut references = self.result::<u8>(plan, self.storage.raw.element_size())?;
        self.fetch(plan, &mut references)?;
        let fill = self.storage.fill.as_bytes();
        let threads = self.version.file.threads();
        let Direct { bytes, superblock } = direct;
        // Heaps are filled up by later commits.
        bytes.read_whole(|| {
            resolve_strings(bytes, superblock, &references, fill, threads, &make)
                .map_err(|(element, fault)| DatasetFault::String { element: element as u64, fault })
        })
    }

    fn read_strings_by_library(&self, plan: &ReadPlan<'_>) -> Result<Vec<Vec<u8>>, DatasetFault> {
        let map = self.map_of(plan)?;
        let count = plan.output_count();
        let bytes = count.saturating_mul(size_of::<Vec<u8>>() as u64);
        let mut strings = Vec::new();
        match usize::try_from(count) {
            Ok(count) if strings.try_reserve_exact(count).is_ok() => {
                strings.resize(count, Vec::new());
            }
            _ => return Err(DatasetFault::Memory { bytes }),
        }
        read_strings_by_library(&self.fetcher(&map), plan, &mut strings)
            .map_err(|error| chunk_fault(plan, error))?;
        Ok(strings)
    }
}

fn make_all<'s, T>(
    strings: impl Iterator<Item = &'s [u8]>,
    make: impl Fn(&[u8]) -> Option<T>,
) -> Result<Vec<T>, DatasetFault> {
    let not_utf8 = |element| DatasetFault::String { element, fault: StringFault::NotUtf8 };
    (0u64..).zip(strings).map(|(at, string)| make(string).ok_or_else(|| not_utf8(at))).collect()
}
