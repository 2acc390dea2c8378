use super::super::attribute::{ATTRIBUTE, AttributeMessage};
use super::super::message::{decode_dataspace, decode_layout};
use super::super::object_header::{DATASPACE, LAYOUT, Message, Search, search};
use super::super::read_at::check_inside_file;
use super::super::write_at::write;
use super::extent::first_extent_at;
use crate::ondisk::{
    ChunkBTree, Dataspace, FieldWidth, Layout, OndiskError, ReadAt, Structure, Superblock, WriteAt,
};

/// Where the parts of a table stand that change when rows are added to its last chunk and that keeps its length: the
/// number of rows in the dataspace, an integer attribute, and the chunk. In object headers of version 1 nothing else
/// depends on them.
///
/// To libhdf5 opening and closing such a dataset alone is more work than everything that is written here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TablePlace {
    /// Absolute addresses.
    extent: u64,
    attribute: u64,
    chunk: u64,
    /// Bytes of the chunk as it is stored.
    chunk_len: usize,
}

impl TablePlace {
    /// The places of the dataset whose object header is at `header`, in bytes relative to the base address. It has `rows`
    /// rows, as many as the attribute `name` says, one little-endian integer of 8 bytes; `last`: the first row of its last
    /// chunk, which no filter was left out for. `None` if it is another kind of dataset.
    ///
    /// # Errors
    /// As [`ObjectHeader::read`](crate::ondisk::ObjectHeader::read), and as
    /// [`ChunkBTree::visit_rows`](crate::ondisk::ChunkBTree::visit_rows).
    pub(crate) fn find(
        file: &dyn ReadAt,
        superblock: &Superblock,
        header: u64,
        name: &str,
        rows: u64,
        last: u64,
    ) -> Result<Option<Self>, OndiskError> {
        let name = name.as_bytes();
        let (extent, attribute, index) = (None, None, None);
        let mut parts = Parts { superblock, name, rows, extent, attribute, index };
        search(file, superblock, header, &mut parts)?;
        let Parts { extent: Some(extent), attribute: Some(attribute), index: Some(index), .. } =
            parts
        else {
            return Ok(None);
        };
        let mut chunk = None;
        index.visit_rows(file, &[last], |entry| chunk = Some(entry))?;
        let Some(chunk) = chunk.filter(|chunk| chunk.filter_mask == 0) else { return Ok(None) };
        check_inside_file(file, chunk.address, chunk.size.into(), Structure::Chunk)?;
        let chunk_len = usize::try_from(chunk.size).ok();
        Ok(chunk_len.map(|chunk_len| Self { extent, attribute, chunk: chunk.address, chunk_len }))
    }

    /// Bytes of the last chunk as it is stored.
    pub(crate) fn chunk_len(&self) -> usize {
        self.chunk_len
    }

    /// Writes the number of rows in both places, and the last chunk from its byte `start` to its end: it has the length
    /// that it had. libhdf5 must not have the file open.
    ///
    /// # Errors
    /// [`OndiskError::Write`].
    pub(crate) fn write(
        &self,
        file: &mut dyn WriteAt,
        rows: u64,
        start: usize,
        chunk: &[u8],
    ) -> Result<(), OndiskError> {
        write(file, chunk, self.chunk.saturating_add(start as u64), Structure::Chunk)?;
        write(file, &rows.to_le_bytes(), self.extent, Structure::Dataspace)?;
        write(file, &rows.to_le_bytes(), self.attribute, Structure::Attribute)
    }
}

/// The search for the messages of such a table.
struct Parts<'s> {
    superblock: &'s Superblock,
    name: &'s [u8],
    rows: u64,
    extent: Option<u64>,
    attribute: Option<u64>,
    index: Option<ChunkBTree>,
}

impl Search for Parts<'_> {
    fn see(&mut self, message: Message<'_>) -> Result<(), OndiskError> {
        let Message { kind, shared, address, body, block } = message;
        if shared || block.has_checksum {
            return Ok(());
        }
        match kind {
            DATASPACE if self.extent.is_none() => self.extent = self.extent_of(address, body)?,
            ATTRIBUTE if self.attribute.is_none() => self.attribute = self.integer(message)?,
            LAYOUT if self.index.is_none() => {
                if let Layout::Chunked { index, .. } =
                    decode_layout(body, address, self.superblock)?
                {
                    self.index = index;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.extent.is_some() && self.attribute.is_some() && self.index.is_some()
    }
}

impl Parts<'_> {
    /// Where the extent of the only axis stands in a dataspace message.
    fn extent_of(&self, address: u64, body: &[u8]) -> Result<Option<u64>, OndiskError> {
        let length_size = self.superblock.length_size;
        let Dataspace::Simple { shape, .. } = decode_dataspace(body, address, length_size)? else {
            return Ok(None);
        };
        let is_one = shape[..] == [self.rows] && length_size == FieldWidth::Eight;
        Ok(is_one.then(|| address.saturating_add(first_extent_at(body))))
    }

    /// Where the element of the attribute stands, if it is the one that is looked for.
    fn integer(&self, message: Message<'_>) -> Result<Option<u64>, OndiskError> {
        /// Version 1 of class fixed-point; little-endian, and 8 bytes (specification IV.A.2.d).
        const CLASS: u8 = 0x10;
        let Some(attribute) = AttributeMessage::named(self.name, message)? else { return Ok(None) };
        let AttributeMessage { datatype, dataspace, dataspace_address, elements, .. } = attribute;
        let is_integer = matches!(datatype, &[CLASS, bits, _, _, 8, 0, 0, 0, ..] if bits & 1 == 0);
        let space = decode_dataspace(dataspace, dataspace_address, self.superblock.length_size)?;
        let value = elements.first_chunk().map(|value| u64::from_le_bytes(*value));
        let is_wanted = is_integer && space == Dataspace::Scalar && value == Some(self.rows);
        Ok(is_wanted.then_some(attribute.elements_address))
    }
}
