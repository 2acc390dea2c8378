use ndarray::{ArrayBase, ArrayD, Data, Dimension};

use super::super::element::{Element, bytes_of, turn};
use super::super::error::Error;
use super::super::read::array;
use super::Stage;
use super::content::Content;
use super::error::StageFault;
use super::strings::{HANDLE, StringArena};
use super::tree::NodeKind;
use crate::chunking::{self, Advice};
use crate::dims::{Dims, element_count};
use crate::dtype::Dtype;
use crate::selection::Selection;
use crate::staged::StagedError;

/// A dataset of a version that is being made, to be changed and read. Changes stand in memory until the commit.
pub struct StagedDataset<'s> {
    content: &'s mut Content,
    path: String,
    file: std::path::PathBuf,
    version: String,
}

impl<'s> StagedDataset<'s> {
    pub(super) fn new(stage: &'s mut Stage<'_>, path: &str) -> Result<Self, Error> {
        let missing = stage.fault(path, StageFault::NoDataset);
        let (file, version) = (stage.file.inner.path.clone(), stage.name.clone());
        match stage.tree.get_mut(path).map(|node| &mut node.kind) {
            Some(NodeKind::Staged(content)) => {
                Ok(Self { content, path: path.to_owned(), file, version })
            }
            _ => Err(missing),
        }
    }

    /// Path in the version, without a slash in front.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Shape in elements.
    pub fn shape(&self) -> &[u64] {
        self.content.array.shape()
    }

    /// Type of the elements.
    pub fn dtype(&self) -> &Dtype {
        &self.content.settings.dtype
    }

    /// Shape of a chunk in elements.
    pub fn chunk_shape(&self) -> &[u64] {
        &self.content.settings.chunk_shape
    }

    /// What would be better about the chunk shape, if it wastes most of its storage or cuts the values into crumbs.
    pub fn chunk_advice(&self) -> Option<Advice> {
        chunking::waste(self.shape(), self.chunk_shape(), self.content.settings.element_size())
    }

    /// Gives the dataset another shape of the same rank. What is new holds the fill value, what is cut off is gone.
    ///
    /// # Errors
    /// [`Error::Stage`].
    pub fn resize(&mut self, shape: &[u64]) -> Result<(), Error> {
        let resized = self.content.array.resize(shape);
        resized.map_err(|fault| self.fault(fault.into()))
    }

    /// Brings all of it into memory.
    ///
    /// # Errors
    /// [`Error::Stage`].
    pub fn load(&mut self) -> Result<(), Error> {
        let loaded = self.content.array.load();
        loaded.map_err(|fault| self.fault(fault.into()))
    }

    /// Writes an array to the selected elements; its shape is broadcast to that of the selection by NumPy's rules. Of
    /// an element that an index array names twice the last value stays.
    ///
    /// # Errors
    /// [`Error::Stage`]: the selection or the shape does not fit, or the elements are of another type. The values
    /// are then as before.
    pub fn write<T, S, D>(
        &mut self,
        selection: impl Into<Selection>,
        values: &ArrayBase<S, D>,
    ) -> Result<(), Error>
    where
        T: Element,
        S: Data<Elem = T>,
        D: Dimension,
    {
        self.check_type::<T>()?;
        let shape: Dims = values.shape().iter().map(|&axis| axis as u64).collect();
        self.write_bytes(selection, &bytes_of(values, self.dtype()), &shape)
    }

    /// Writes one value to all selected elements.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_scalar<T: Element>(
        &mut self,
        selection: impl Into<Selection>,
        value: T,
    ) -> Result<(), Error> {
        self.check_type::<T>()?;
        let value = ndarray::arr0(value);
        let element = bytes_of(&value, self.dtype());
        let written = self.content.array.write_scalar(&selection.into(), &element);
        written.map_err(|fault| self.fault(fault.into()))
    }

    /// Writes elements given as bytes, in C order and the byte order of the dataset's type, as an array of `shape`.
    ///
    /// # Errors
    /// As [`write`](Self::write); strings of variable length are refused.
    pub fn write_bytes(
        &mut self,
        selection: impl Into<Selection>,
        values: &[u8],
        shape: &[u64],
    ) -> Result<(), Error> {
        self.refuse_strings()?;
        let written = self.content.array.write(&selection.into(), values, shape);
        written.map_err(|fault| self.fault(fault.into()))
    }

    /// Writes strings of variable length, given in C order, as an array of `shape`; `&[]` is a single one.
    ///
    /// # Errors
    /// As [`write`](Self::write); a string with a zero byte is refused, HDF5 would end it there.
    pub fn write_strings(
        &mut self,
        selection: impl Into<Selection>,
        strings: &[impl AsRef<[u8]>],
        shape: &[u64],
    ) -> Result<(), Error> {
        let arena = self.content.strings.as_deref();
        let handles = match handles(arena, shape, strings) {
            Ok(handles) => handles,
            Err(fault) => return Err(self.fault(fault)),
        };
        let written = self.content.array.write(&selection.into(), &handles, shape);
        written.map_err(|fault| self.fault(fault.into()))
    }

    /// Reads selected elements as they are staged.
    ///
    /// # Errors
    /// As [`Dataset::read`](crate::Dataset::read).
    pub fn read<T: Element>(&self, selection: impl Into<Selection>) -> Result<ArrayD<T>, Error> {
        self.check_type::<T>()?;
        let read = self.content.array.read_as::<T::Stored>(&selection.into());
        let (mut values, shape) = read.map_err(|fault| self.fault(fault.into()))?;
        turn::<T>(self.dtype(), bytemuck::cast_slice_mut(&mut values));
        array(shape, T::from_stored(values)).map_err(|fault| self.dataset_error(fault))
    }

    /// Reads selected elements as they are staged, as bytes, with their shape.
    ///
    /// # Errors
    /// As [`read`](Self::read); strings of variable length are refused.
    pub fn read_bytes(&self, selection: impl Into<Selection>) -> Result<(Vec<u8>, Dims), Error> {
        self.refuse_strings()?;
        let read = self.content.array.read(&selection.into());
        read.map_err(|fault| self.fault(fault.into()))
    }

    /// Reads selected strings of variable length as they are staged.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_byte_strings(
        &self,
        selection: impl Into<Selection>,
    ) -> Result<ArrayD<Vec<u8>>, Error> {
        let Some(arena) = &self.content.strings else {
            return Err(self.wrong_type("strings of variable length"));
        };
        let read = self.content.array.read(&selection.into());
        let (handles, shape) = read.map_err(|fault| self.fault(fault.into()))?;
        let arena = arena.read();
        let strings = handles.chunks_exact(HANDLE).map(|handle| arena.get(handle).to_vec());
        array(shape, strings.collect()).map_err(|fault| self.dataset_error(fault))
    }

    fn check_type<T: Element>(&self) -> Result<(), Error> {
        if T::accepts(self.dtype()) { Ok(()) } else { Err(self.wrong_type(T::NAME)) }
    }

    fn refuse_strings(&self) -> Result<(), Error> {
        match self.content.strings {
            Some(_) => Err(self.wrong_type("bytes")),
            None => Ok(()),
        }
    }

    fn wrong_type(&self, found: &'static str) -> Error {
        self.fault(StageFault::ValueType { expected: self.dtype().clone(), found })
    }

    fn fault(&self, fault: StageFault) -> Error {
        let (file, version) = (self.file.clone(), self.version.clone());
        Error::Stage { file, version, path: self.path.clone(), fault: Box::new(fault) }
    }

    fn dataset_error(&self, fault: super::super::error::DatasetFault) -> Error {
        Error::Dataset {
            file: self.file.clone(),
            version: self.version.clone(),
            dataset: self.path.clone(),
            fault: Box::new(fault),
        }
    }
}

/// Handles of strings that make up an array of `shape`.
pub(super) fn handles(
    arena: Option<&StringArena>,
    shape: &[u64],
    strings: &[impl AsRef<[u8]>],
) -> Result<Vec<u8>, StageFault> {
    let dtype = Dtype::VariableString { charset: crate::dtype::Charset::Utf8 };
    let Some(arena) = arena else {
        return Err(StageFault::ValueType { expected: dtype, found: "strings" });
    };
    let expected = element_count(shape).map_err(StagedError::from)?;
    if expected != strings.len() as u64 {
        let shape = shape.to_vec();
        return Err(StageFault::StringCount { shape, found: strings.len() });
    }
    if let Some(element) = strings.iter().position(|string| string.as_ref().contains(&0)) {
        return Err(StageFault::ZeroByte { element });
    }
    let mut arena = arena.write();
    Ok(strings.iter().flat_map(|string| arena.add(string.as_ref())).collect())
}
