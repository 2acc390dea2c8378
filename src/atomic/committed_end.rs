//! The committed end of an HDF5 file.

use crate::ondisk::{Cursor, OndiskError, ReadAt, Structure, Superblock};

/// Bytes in front of a file by which a commit shows: as much as any superblock has.
pub(super) const HEAD: usize = 96;

/// Bytes of a superblock up to the end of file: version 1 with 8-byte addresses, which has most.
const READ_SIZE: usize = 28 + 3 * 8;

/// The absolute byte behind all that the superblock says is allocated (specification II.A, "End of File Address").
///
/// The stored end counts from the byte that the stored base address counts from, not from the base address; both
/// are stale in a file that had a user block put in front of it (`H5F__super_read`, `H5F__cache_superblock_serialize`).
///
/// # Errors
/// Those of [`Superblock::read`]; [`OndiskError::Invalid`] for an end that no file has.
pub(crate) fn committed_end(file: &dyn ReadAt) -> Result<u64, OndiskError> {
    let structure = Structure::Superblock;
    let superblock = Superblock::read(file)?;
    let mut bytes = [0; READ_SIZE];
    let count = file.read_up_to(&mut bytes, superblock.base_address, structure)?;
    let mut cursor = Cursor::new(&bytes[..count], structure, superblock.base_address);
    // What stands before the addresses.
    cursor.take(match superblock.version {
        0 => 24,
        1 => 28,
        _ => 12,
    })?;
    let stored_base = cursor.field(superblock.offset_size)?;
    let _extension = cursor.field(superblock.offset_size)?;
    let address = cursor.address();
    let value = cursor.field(superblock.offset_size)?;
    let relative = value
        .checked_sub(stored_base)
        .filter(|_| value != superblock.offset_size.all_ones())
        .ok_or(OndiskError::Invalid { structure, address, field: "end of file", value })?;
    superblock.absolute(relative, structure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ondisk::{FieldWidth, lookup3};

    /// A superblock whose addresses are the stored base, none, the end and 0.
    fn superblock(version: u8, width: FieldWidth, base: u64, end: u64) -> Vec<u8> {
        let size = u8::try_from(width.bytes()).unwrap();
        let mut bytes = b"\x89HDF\r\n\x1a\n".to_vec();
        match version {
            0 => bytes.extend([0, 0, 0, 0, 0, size, size, 0, 4, 0, 16, 0, 0, 0, 0, 0]),
            1 => bytes.extend([1, 0, 0, 0, 0, size, size, 0, 4, 0, 16, 0, 0, 0, 0, 0, 32, 0, 0, 0]),
            version => bytes.extend([version, size, size, 0]),
        }
        for address in [base, u64::MAX, end, 0] {
            bytes.extend(&address.to_le_bytes()[..width.bytes()]);
        }
        if version >= 2 {
            bytes.extend(lookup3(&bytes).to_le_bytes());
        }
        bytes
    }

    #[test]
    fn the_end_is_absolute_whatever_the_version_the_width_and_the_user_block() {
        for version in 0..=3 {
            for width in [FieldWidth::Two, FieldWidth::Four, FieldWidth::Eight] {
                for (front, base, end) in [(0, 0, 5000), (512, 512, 5000), (512, 0, 4488)] {
                    let mut image = vec![b'u'; front];
                    image.extend(superblock(version, width, base, end));
                    assert_eq!(committed_end(&image.as_slice()).unwrap(), 5000);
                }
            }
        }
    }

    #[test]
    fn an_end_that_no_file_has_is_refused() {
        for (base, end) in [(0, u64::MAX), (512, 100)] {
            let image = superblock(3, FieldWidth::Eight, base, end);
            assert!(matches!(
                committed_end(&image.as_slice()),
                Err(OndiskError::Invalid { field: "end of file", address: 28, .. })
            ));
        }
    }
}
