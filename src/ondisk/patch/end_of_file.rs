//! The superblock's end of file: where allocation ends, and whether it may be moved (specification II.A).
//!
//! ```text
//! version 0, 1: ... | consistency flags u32 at 20 | [4 bytes] | base O | extension O | end of file O | driver O ...
//! version 2, 3: ... | consistency flags u8 at 11              | base O | extension O | end of file O | root O | checksum
//! ```
//!
//! The end counts from the byte that the stored base address counts from, not from the base address
//! (`H5F__super_read`, `H5F__cache_superblock_serialize`).

use super::super::object_header::{Message, Search, search};
use super::super::read_at::check_inside_file;
use super::super::write_at::write;
use super::super::{
    Cursor, FieldWidth, OndiskError, ReadAt, Structure, Superblock, WriteAt, lookup3,
};

/// Message types of a superblock extension that tell of messages which are not where they belong, or of other ends than
/// one (specification IV.A.2).
const SHARED_MESSAGE_TABLE: u16 = 0x000F;
const DRIVER_INFORMATION: u16 = 0x0014;
const FILE_SPACE_INFORMATION: u16 = 0x0017;
const CACHE_IMAGE: u16 = 0x0018;

/// Bytes before the first address: version 1, which has the most.
const MAX_FIXED_SIZE: usize = 28;
/// Four addresses and a checksum.
const MAX_SIZE: usize = MAX_FIXED_SIZE + 4 * 8 + 4;

/// The end of file, which moves as space is allocated.
#[derive(Debug)]
pub(super) struct EndOfFile {
    /// The superblock up to its checksum, or, without one, up to the end of file.
    superblock: Vec<u8>,
    /// Absolute address of the superblock.
    address: u64,
    has_checksum: bool,
    /// Where the end of file stands in the superblock.
    field_at: usize,
    width: FieldWidth,
    /// What the stored end counts in front of the base address.
    stored_base: u64,
    /// The end in bytes relative to the base address.
    relative: u64,
}

impl EndOfFile {
    /// Reads the end of file of a file in which it is the end of allocation.
    pub(super) fn read(file: &dyn ReadAt, superblock: &Superblock) -> Result<Self, OndiskError> {
        let structure = Structure::Superblock;
        let address = superblock.base_address;
        let mut bytes = [0; MAX_SIZE];
        let count = file.read_up_to(&mut bytes, address, structure)?;
        let mut cursor = Cursor::new(&bytes[..count], structure, address);
        let (flags_at, flags_size, fixed_size) = match superblock.version {
            0 => (20, 4, 24),
            1 => (20, 4, MAX_FIXED_SIZE),
            _ => (11, 1, 12),
        };
        let fixed = cursor.take(fixed_size)?;
        if fixed[flags_at..flags_at + flags_size].iter().any(|&flags| flags != 0) {
            return Err(unsupported(address, "a file that is open for writing or was not closed"));
        }
        let width = superblock.offset_size;
        let stored_base = cursor.field(width)?;
        let extension = cursor.relative_address(width)?;
        let field_at = fixed_size + 2 * width.bytes();
        let field_address = cursor.address();
        let stored = cursor.field(width)?;
        let last = cursor.relative_address(width)?;
        let has_checksum = superblock.version >= 2;
        if !has_checksum && last.is_some() {
            return Err(unsupported(address, "driver information"));
        }
        let end = stored.checked_sub(stored_base).filter(|_| stored != width.all_ones());
        let relative = end.ok_or(OndiskError::Invalid {
            structure,
            address: field_address,
            field: "end of file",
            value: stored,
        })?;
        check_inside_file(file, address, relative, structure)?;
        if let Some(extension) = extension {
            search(file, superblock, extension, &mut Extension { superblock })?;
        }
        let size = field_at + width.bytes() * if has_checksum { 2 } else { 1 };
        let superblock = bytes[..size].to_vec();
        Ok(Self { superblock, address, has_checksum, field_at, width, stored_base, relative })
    }

    /// The end in bytes relative to the base address.
    pub(super) fn relative(&self) -> u64 {
        self.relative
    }

    /// Allocates `size` bytes at the end. Returns their address relative to the base address, and their absolute one.
    pub(super) fn allocate(
        &mut self,
        size: u64,
        superblock: &Superblock,
    ) -> Result<(u64, u64), OndiskError> {
        let relative = self.relative;
        let absolute = superblock.absolute(relative, Structure::HeapCollection)?;
        let end = relative.checked_add(size).filter(|end| {
            // The largest value is no address, and positions in a file are signed.
            let stored = end.checked_add(self.stored_base);
            let last = superblock.base_address.checked_add(*end);
            stored.is_some_and(|stored| stored < self.width.all_ones())
                && last.is_some_and(|last| i64::try_from(last).is_ok())
        });
        let what = "an end of file beyond the size of offsets";
        self.relative = end.ok_or_else(|| unsupported(self.address, what))?;
        Ok((relative, absolute))
    }

    /// Writes the end, and the superblock's checksum if it has one.
    pub(super) fn write(&mut self, file: &mut dyn WriteAt) -> Result<(), OndiskError> {
        let stored = self.relative.saturating_add(self.stored_base).to_le_bytes();
        let width = self.width.bytes();
        if let Some(field) = self.superblock.get_mut(self.field_at..self.field_at + width) {
            field.copy_from_slice(&stored[..width]);
        }
        let mut bytes = self.superblock.get(self.field_at..).unwrap_or(&[]).to_vec();
        if self.has_checksum {
            bytes.extend(lookup3(&self.superblock).to_le_bytes());
        }
        let address = self.address.saturating_add(self.field_at as u64);
        write(file, &bytes, address, Structure::Superblock)
    }
}

/// A look at all messages of a superblock extension (specification II.C).
struct Extension<'s> {
    superblock: &'s Superblock,
}

impl Search for Extension<'_> {
    fn see(&mut self, message: Message<'_>) -> Result<(), OndiskError> {
        let Message { kind, shared, address, body, .. } = message;
        match kind {
            SHARED_MESSAGE_TABLE => Err(unsupported(address, "shared messages")),
            DRIVER_INFORMATION => Err(unsupported(address, "driver information")),
            CACHE_IMAGE => Err(unsupported(address, "an image of the metadata cache")),
            FILE_SPACE_INFORMATION if shared => Err(unsupported(address, "a shared message")),
            FILE_SPACE_INFORMATION => self.check_file_space(body, address),
            _ => Ok(()),
        }
    }

    fn is_over(&self) -> bool {
        false
    }
}

impl Extension<'_> {
    /// Free space that is not kept is no concern: it is lost when the file is closed (`H5O__fsinfo_decode`).
    fn check_file_space(&self, body: &[u8], address: u64) -> Result<(), OndiskError> {
        let mut cursor = Cursor::new(body, Structure::Superblock, address);
        let [version, strategy] = cursor.array()?;
        let simple = match version {
            // 1 keeps free space; 2 to 4 do not.
            0 => matches!(strategy, 2..=4),
            // 1 has pages; 0, 2 and 3 have not. Then follows whether free space is kept.
            1 => matches!(strategy, 0 | 2 | 3) && cursor.u8()? == 0,
            _ => false,
        };
        let _threshold = cursor.field(self.superblock.length_size)?;
        match simple {
            true => Ok(()),
            false => Err(unsupported(address, "pages or free space that is kept")),
        }
    }
}

fn unsupported(address: u64, what: &'static str) -> OndiskError {
    OndiskError::Unsupported { structure: Structure::Superblock, address, what }
}
