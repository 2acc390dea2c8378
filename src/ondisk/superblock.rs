//! Superblock, versions 0 to 3 (specification II.A).

use super::{Cursor, FieldWidth, OndiskError, ReadAt, Structure, lookup3};

const SIGNATURE: [u8; 8] = *b"\x89HDF\r\n\x1a\n";

/// Bytes of a superblock that are needed at most: versions 2 and 3 with 8-byte addresses.
const READ_SIZE: usize = 48;

/// Where the signature is looked for behind byte 0: here and at every doubling.
const FIRST_USER_BLOCK: u64 = 512;

/// What is needed of a superblock to find and decode other structures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Superblock {
    /// Version of the superblock, 0 to 3.
    pub version: u8,
    /// Absolute byte that all addresses in the file count from: the size of the user block.
    ///
    /// It is where the signature was found, not the stored number, which is stale in a file that had a user
    /// block put in front of it; libhdf5 does the same (`H5F__super_read`).
    pub base_address: u64,
    /// Width of an address.
    pub offset_size: FieldWidth,
    /// Width of a length.
    pub length_size: FieldWidth,
}

impl Superblock {
    /// Finds and decodes the superblock; the checksum of versions 2 and 3 is checked.
    ///
    /// # Errors
    /// [`OndiskError::NotHdf5`] without a signature; [`OndiskError::Unsupported`] for addresses or lengths
    /// of 16 or 32 bytes; [`OndiskError::Version`], [`OndiskError::Invalid`], [`OndiskError::Checksum`],
    /// [`OndiskError::Truncated`] and [`OndiskError::Read`].
    pub fn read(file: &dyn ReadAt) -> Result<Self, OndiskError> {
        let base_address = find_signature(file)?;
        let mut bytes = [0; READ_SIZE];
        let count = file.read_up_to(&mut bytes, base_address, Structure::Superblock)?;
        decode(&bytes[..count], base_address)
    }

    /// Whether the file is marked as open for writing: since version 3 (the file consistency flags of the specification's
    /// II.A, `H5F_SUPER_WRITE_ACCESS` and `H5F_SUPER_SWMR_WRITE_ACCESS`).
    ///
    /// # Errors
    /// [`OndiskError::Truncated`], [`OndiskError::Read`].
    pub fn is_marked_open(&self, file: &dyn ReadAt) -> Result<bool, OndiskError> {
        const FLAGS_AT: usize = 11;
        const OPEN: u8 = 0b101;
        let mut bytes = [0; FLAGS_AT + 1];
        file.read_exact_at(&mut bytes, self.base_address, Structure::Superblock)?;
        Ok(self.version >= 3 && bytes[FLAGS_AT] & OPEN != 0)
    }

    /// Bytes of a reference to a sequence or string of variable length (specification IV.B, "Variable-length"):
    /// its length as u32, the address of a collection and the index of an object as u32.
    pub fn reference_size(&self) -> usize {
        4 + self.offset_size.bytes() + 4
    }

    /// Checks that a reference of that size does not lead to the undefined address.
    pub(super) fn check_reference(
        &self,
        reference: &[u8],
        structure: Structure,
        address: u64,
    ) -> Result<(), OndiskError> {
        let undefined = self.offset_size.all_ones();
        if reference.get(4..).and_then(|rest| self.offset_size.decode(rest)) == Some(undefined) {
            let (field, value) = ("address of a string", undefined);
            return Err(OndiskError::Invalid { structure, address, field, value });
        }
        Ok(())
    }

    /// The absolute address of an address in the file.
    ///
    /// # Errors
    /// [`OndiskError::Invalid`] where the sum does not fit 64 bits; it names `structure`.
    pub fn absolute(&self, relative: u64, structure: Structure) -> Result<u64, OndiskError> {
        self.base_address.checked_add(relative).ok_or(OndiskError::Invalid {
            structure,
            address: self.base_address,
            field: "address",
            value: relative,
        })
    }
}

fn find_signature(file: &dyn ReadAt) -> Result<u64, OndiskError> {
    let file_size = file.size().map_err(|source| OndiskError::FileSize { source })?;
    let mut address = 0u64;
    while address < file_size {
        let mut found = [0; SIGNATURE.len()];
        file.read_up_to(&mut found, address, Structure::Superblock)?;
        if found == SIGNATURE {
            return Ok(address);
        }
        address = match address {
            0 => FIRST_USER_BLOCK,
            _ => address.checked_mul(2).ok_or(OndiskError::NotHdf5 { file_size })?,
        };
    }
    Err(OndiskError::NotHdf5 { file_size })
}

fn decode(bytes: &[u8], base_address: u64) -> Result<Superblock, OndiskError> {
    let mut cursor = Cursor::new(bytes, Structure::Superblock, base_address);
    cursor.take(SIGNATURE.len())?;
    let version_address = cursor.address();
    let version = cursor.u8()?;
    match version {
        // Versions of the free space, the root group and the shared headers, and a reserved byte.
        0 | 1 => cursor.take(4).map(|_| ())?,
        2 | 3 => {}
        found => {
            return Err(OndiskError::Version {
                structure: Structure::Superblock,
                address: version_address,
                found,
            });
        }
    }
    let offset_size = decode_width(&mut cursor, "size of offsets")?;
    let length_size = decode_width(&mut cursor, "size of lengths")?;
    if version >= 2 {
        check_checksum(bytes, base_address, offset_size)?;
    }
    Ok(Superblock { version, base_address, offset_size, length_size })
}

fn decode_width(cursor: &mut Cursor<'_>, field: &'static str) -> Result<FieldWidth, OndiskError> {
    let address = cursor.address();
    let structure = Structure::Superblock;
    let size = cursor.u8()?;
    match size {
        16 | 32 => Err(OndiskError::Unsupported { structure, address, what: field }),
        _ => FieldWidth::from_byte(size).ok_or(OndiskError::Invalid {
            structure,
            address,
            field,
            value: size.into(),
        }),
    }
}

/// Versions 2 and 3: four addresses behind the fixed 12 bytes, then the checksum of all before it.
fn check_checksum(bytes: &[u8], address: u64, offset_size: FieldWidth) -> Result<(), OndiskError> {
    let structure = Structure::Superblock;
    let mut cursor = Cursor::new(bytes, structure, address);
    let covered = cursor.take(12 + 4 * offset_size.bytes())?;
    let stored = cursor.u32()?;
    let computed = lookup3(covered);
    if stored != computed {
        return Err(OndiskError::Checksum { structure, address, stored, computed });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::test_image;
    use super::*;

    const WIDTHS: [FieldWidth; 3] = [FieldWidth::Two, FieldWidth::Four, FieldWidth::Eight];

    fn read(image: &[u8]) -> Result<Superblock, OndiskError> {
        Superblock::read(&image)
    }

    #[test]
    fn every_version_width_and_user_block_is_read() {
        for version in 0..=3 {
            for offset_size in WIDTHS {
                for length_size in WIDTHS {
                    for user_block in [0, 512, 1024, 8192] {
                        let mut image = vec![b'u'; user_block];
                        image.extend(test_image::superblock(version, offset_size, length_size));
                        let base_address = user_block as u64;
                        let expected =
                            Superblock { version, base_address, offset_size, length_size };
                        assert_eq!(read(&image).unwrap(), expected);
                    }
                }
            }
        }
    }

    #[test]
    fn only_new_superblocks_tell_that_the_file_is_open() {
        for (version, flags, expected) in
            [(3, 1, true), (3, 4, true), (3, 5, true), (3, 0, false), (2, 1, false), (0, 1, false)]
        {
            let mut image = test_image::superblock(version, FieldWidth::Eight, FieldWidth::Eight);
            let superblock = read(&image).unwrap();
            image[11] = flags;
            assert_eq!(superblock.is_marked_open(&image.as_slice()).unwrap(), expected);
        }
    }

    #[test]
    fn the_signature_is_looked_for_at_powers_of_two_alone() {
        for user_block in [8, 256, 1536] {
            let mut image = vec![0; user_block];
            image.extend(test_image::superblock(0, FieldWidth::Eight, FieldWidth::Eight));
            let file_size = image.len() as u64;
            let error = read(&image).unwrap_err();
            assert!(
                matches!(error, OndiskError::NotHdf5 { file_size: size } if size == file_size),
                "{error:?}"
            );
        }
        assert!(matches!(read(&[]), Err(OndiskError::NotHdf5 { file_size: 0 })));
    }

    #[test]
    fn broken_superblocks_give_their_error() {
        let broken = |version, at: usize, value| {
            let mut image = test_image::superblock(version, FieldWidth::Eight, FieldWidth::Eight);
            image[at] = value;
            format!("{:?}", read(&image).unwrap_err())
        };
        assert_eq!(broken(0, 8, 4), "Version { structure: Superblock, address: 8, found: 4 }");
        assert_eq!(
            broken(0, 13, 3),
            "Invalid { structure: Superblock, address: 13, field: \"size of offsets\", value: 3 }"
        );
        assert_eq!(
            broken(1, 14, 16),
            "Unsupported { structure: Superblock, address: 14, what: \"size of lengths\" }"
        );
        assert!(broken(2, 20, 1).starts_with("Checksum { structure: Superblock, address: 0"));
        let image = test_image::superblock(3, FieldWidth::Eight, FieldWidth::Eight);
        assert_eq!(
            format!("{:?}", read(&image[..46]).unwrap_err()),
            "Truncated { structure: Superblock, address: 44, needed: 4, available: 2 }"
        );
    }

    #[test]
    fn addresses_beyond_64_bits_are_refused() {
        let superblock = Superblock {
            version: 0,
            base_address: 512,
            offset_size: FieldWidth::Eight,
            length_size: FieldWidth::Eight,
        };
        assert_eq!(superblock.absolute(88, Structure::ObjectHeader).unwrap(), 600);
        assert!(matches!(
            superblock.absolute(u64::MAX - 1, Structure::ObjectHeader),
            Err(OndiskError::Invalid { structure: Structure::ObjectHeader, .. })
        ));
    }
}
