//! Fill value messages (specification IV.A.2.e and IV.A.2.f) of variable-length strings.
//!
//! ```text
//! old:            size u32 | value
//! version 1 or 2: version | when to allocate | when to write | whether there is one | size u32 | value
//! version 3:      version | flags | size u32 | value
//! ```

use super::object_header::{Message, Search, search};
use super::{Cursor, OndiskError, ReadAt, Structure, Superblock};

/// Types of fill value messages.
const OLD_FILL_VALUE: u16 = 0x0004;
const FILL_VALUE: u16 = 0x0005;

/// Flags of version 3: size and value follow.
const HAS_VALUE: u8 = 1 << 5;

/// The fill values of a dataset of variable-length strings as they are stored: references into the global heap as in
/// [`variable_string_references`](super::variable_string_references), none, or one of each message.
///
/// `header`: address of the object's header in bytes relative to the base address.
///
/// # Errors
/// [`OndiskError::Unsupported`] for messages that are shared; [`OndiskError::Invalid`] for values that are no
/// references; else as [`ObjectHeader::read`](super::ObjectHeader::read).
pub fn variable_string_fill_values(
    file: &dyn ReadAt,
    superblock: &Superblock,
    header: u64,
) -> Result<Vec<u8>, OndiskError> {
    let mut values = Values { superblock, found: Vec::new() };
    search(file, superblock, header, &mut values)?;
    Ok(values.found)
}

struct Values<'s> {
    superblock: &'s Superblock,
    found: Vec<u8>,
}

impl Search for Values<'_> {
    fn see(&mut self, message: Message<'_>) -> Result<(), OndiskError> {
        if ![OLD_FILL_VALUE, FILL_VALUE].contains(&message.kind) {
            return Ok(());
        }
        let structure = Structure::FillValue;
        let Message { kind, shared, address, body, .. } = message;
        if shared {
            return Err(OndiskError::Unsupported { structure, address, what: "a shared message" });
        }
        let mut cursor = Cursor::new(body, structure, address);
        if kind == FILL_VALUE && !has_value(&mut cursor)? {
            return Ok(());
        }
        let size = cursor.u32()?;
        if size == 0 || size == u32::MAX {
            // The default value, and in old versions an undefined one.
            return Ok(());
        }
        let reference_size = self.superblock.reference_size();
        if usize::try_from(size) != Ok(reference_size) {
            let (field, value) = ("size", size.into());
            return Err(OndiskError::Invalid { structure, address, field, value });
        }
        let reference = cursor.take(reference_size)?;
        self.superblock.check_reference(reference, structure, address)?;
        self.found.extend(reference);
        Ok(())
    }

    fn is_over(&self) -> bool {
        false
    }
}

/// Whether a size follows what stands in front of it.
fn has_value(cursor: &mut Cursor<'_>) -> Result<bool, OndiskError> {
    let address = cursor.address();
    match cursor.u8()? {
        1 | 2 => {
            let [_allocation, _writing, defined] = cursor.array()?;
            Ok(defined != 0)
        }
        3 => Ok(cursor.u8()? & HAS_VALUE != 0),
        found => Err(OndiskError::Version { structure: Structure::FillValue, address, found }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::FieldWidth;
    use super::super::test_image::{MessageImage, header_v2};
    use super::*;

    const REFERENCE: [u8; 16] = [3, 0, 0, 0, 0x90, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0];

    fn values(messages: &[MessageImage]) -> Result<Vec<u8>, OndiskError> {
        let width = FieldWidth::Eight;
        let superblock =
            Superblock { version: 0, base_address: 0, offset_size: width, length_size: width };
        variable_string_fill_values(&header_v2(2, messages).as_slice(), &superblock, 0)
    }

    fn message(kind: u16, start: &[u8], size: u32, value: &[u8]) -> MessageImage {
        (kind, 0, [start, &size.to_le_bytes(), value].concat())
    }

    #[test]
    fn values_of_all_versions_are_found() {
        for start in [&[1, 2, 0, 1][..], &[2, 2, 0, 1], &[3, 0b10_1001]] {
            let found = values(&[(1, 0, vec![]), message(FILL_VALUE, start, 16, &REFERENCE)]);
            assert_eq!(found.unwrap(), REFERENCE, "{start:?}");
        }
        let old = message(OLD_FILL_VALUE, &[], 16, &REFERENCE);
        assert_eq!(values(&[old]).unwrap(), REFERENCE);
    }

    #[test]
    fn what_is_not_defined_has_no_value() {
        let undefined: [(u16, &[u8]); 6] = [
            (FILL_VALUE, &[1, 2, 0, 0]),
            (FILL_VALUE, &[2, 2, 0, 1, 0, 0, 0, 0]),
            (FILL_VALUE, &[2, 2, 0, 1, 0xff, 0xff, 0xff, 0xff]),
            (FILL_VALUE, &[3, 0b01_0000]),
            (FILL_VALUE, &[3, 0]),
            (OLD_FILL_VALUE, &[0; 4]),
        ];
        for (kind, body) in undefined {
            assert_eq!(values(&[(kind, 0, body.to_vec())]).unwrap(), [0; 0], "{kind}: {body:?}");
        }
    }

    #[test]
    fn damaged_messages_give_their_error() {
        let shared = (FILL_VALUE, 0b10, vec![0; 8]);
        assert!(matches!(values(&[shared]), Err(OndiskError::Unsupported { .. })));
        let version = (FILL_VALUE, 0, vec![4, 0]);
        assert!(matches!(values(&[version]), Err(OndiskError::Version { found: 4, .. })));
        let size = message(FILL_VALUE, &[3, HAS_VALUE], 12, &REFERENCE);
        assert!(matches!(values(&[size]), Err(OndiskError::Invalid { field: "size", .. })));
        let short = message(FILL_VALUE, &[3, HAS_VALUE], 16, &REFERENCE[..15]);
        assert!(matches!(values(&[short]), Err(OndiskError::Truncated { .. })));
        let undefined = message(FILL_VALUE, &[3, HAS_VALUE], 16, &[0xff; 16]);
        assert!(matches!(values(&[undefined]), Err(OndiskError::Invalid { .. })));
    }
}
