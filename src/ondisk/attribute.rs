//! Attribute messages (specification IV.A.2.m) of variable-length strings.
//!
//! ```text
//! version 1: 1 | reserved | sizes of name, datatype, dataspace u16 | name | datatype | dataspace | elements
//!            each of name, datatype and dataspace padded to a multiple of 8
//! version 2: the same with flags for the reserved byte, and nothing padded
//! version 3: as version 2, with the name's character set behind the sizes
//! ```
//!
//! Of the datatype (IV.A.2.d) only what tells strings of variable length from the rest is looked at.

use super::message::{Dataspace, decode_dataspace};
use super::object_header::{Message, Search, search};
use super::{Cursor, OndiskError, ReadAt, Structure, Superblock};

/// Type of attribute messages.
pub(super) const ATTRIBUTE: u16 = 0x000c;

/// Flags: datatype or dataspace is a reference to where it is shared.
const SHARED_PARTS: u8 = 0b11;

/// Class of variable-length types, in the lower half of a datatype's first byte.
const VARIABLE_LENGTH: u8 = 9;

/// Kind of a variable-length type, in the lower half of its second byte: a string, not a sequence.
const STRING: u8 = 1;

/// The elements of an attribute of variable-length strings as they are stored: references into the global heap
/// (IV.B), each `length u32 | address of the collection O | index u32`, in C order.
///
/// `header`: address of the object's header in bytes relative to the base address. `None` if the header holds no
/// such attribute, which may then be stored elsewhere (densely), or if it is of another type.
///
/// # Errors
/// [`OndiskError::Unsupported`] for attributes that are shared or whose type is; [`OndiskError::Invalid`] also for
/// a reference to the undefined address; else as [`ObjectHeader::read`](super::ObjectHeader::read).
pub fn variable_string_references(
    file: &dyn ReadAt,
    superblock: &Superblock,
    header: u64,
    name: &str,
) -> Result<Option<Vec<u8>>, OndiskError> {
    let mut by_name = ByName { superblock, name: name.as_bytes(), found: Found::Nothing };
    search(file, superblock, header, &mut by_name)?;
    Ok(match by_name.found {
        Found::References(references) => Some(references),
        Found::Nothing | Found::OtherType => None,
    })
}

/// The search for the attribute of one name.
struct ByName<'n> {
    superblock: &'n Superblock,
    name: &'n [u8],
    found: Found,
}

enum Found {
    Nothing,
    OtherType,
    References(Vec<u8>),
}

impl Search for ByName<'_> {
    fn see(&mut self, message: Message<'_>) -> Result<(), OndiskError> {
        if message.kind == ATTRIBUTE && !self.is_over() {
            self.found = self.decode(message)?;
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        !matches!(self.found, Found::Nothing)
    }
}

impl ByName<'_> {
    fn decode(&self, message: Message<'_>) -> Result<Found, OndiskError> {
        let Some(attribute) = AttributeMessage::named(self.name, message)? else {
            return Ok(Found::Nothing);
        };
        let AttributeMessage { datatype, dataspace, dataspace_address, .. } = attribute;
        let structure = Structure::Attribute;
        let reference_size = self.superblock.reference_size();
        if !is_variable_string(datatype, reference_size) {
            return Ok(Found::OtherType);
        }
        let count =
            match decode_dataspace(dataspace, dataspace_address, self.superblock.length_size)? {
                Dataspace::Null => Some(0),
                Dataspace::Scalar => Some(1),
                Dataspace::Simple { shape, .. } => {
                    shape.iter().try_fold(1u64, |count, &length| count.checked_mul(length))
                }
            };
        // More than a message can hold is caught when its bytes are taken.
        let count = count.and_then(|count| usize::try_from(count).ok()).unwrap_or(usize::MAX);
        let elements_address = attribute.elements_address;
        let mut cursor = Cursor::new(attribute.elements, structure, elements_address);
        let references = cursor.take(count.saturating_mul(reference_size))?;
        for reference in references.chunks_exact(reference_size) {
            self.superblock.check_reference(reference, structure, elements_address)?;
        }
        Ok(Found::References(references.to_vec()))
    }
}

/// An attribute as it stands in a message, its parts as they are stored.
pub(super) struct AttributeMessage<'m> {
    pub(super) datatype: &'m [u8],
    pub(super) dataspace: &'m [u8],
    /// Absolute addresses of the dataspace and the elements.
    pub(super) dataspace_address: u64,
    pub(super) elements_address: u64,
    /// The elements, and what pads the message.
    pub(super) elements: &'m [u8],
}

impl<'m> AttributeMessage<'m> {
    /// The attribute in an attribute message; `None` if it has another name.
    pub(super) fn named(name: &[u8], message: Message<'m>) -> Result<Option<Self>, OndiskError> {
        let Message { shared, address, body, .. } = message;
        let structure = Structure::Attribute;
        let unsupported = |what| OndiskError::Unsupported { structure, address, what };
        if shared {
            return Err(unsupported("a shared message"));
        }
        let mut cursor = Cursor::new(body, structure, address);
        let [version, flags] = cursor.array()?;
        let sizes = [cursor.u16()?, cursor.u16()?, cursor.u16()?].map(usize::from);
        let [name_size, datatype, dataspace] = match version {
            1 => sizes.map(|size| size.next_multiple_of(8)),
            2 => sizes,
            3 => {
                let _character_set = cursor.u8()?;
                sizes
            }
            found => return Err(OndiskError::Version { structure, address, found }),
        };
        let found = cursor.take(name_size)?;
        if found.split(|&byte| byte == 0).next() != Some(name) {
            return Ok(None);
        }
        if version > 1 && flags & SHARED_PARTS != 0 {
            return Err(unsupported("a shared datatype or dataspace"));
        }
        let datatype = cursor.take(datatype)?;
        let dataspace_address = cursor.address();
        let dataspace = cursor.take(dataspace)?;
        let (elements_address, elements) = (cursor.address(), cursor.rest());
        Ok(Some(Self { datatype, dataspace, dataspace_address, elements_address, elements }))
    }
}

/// Whether a datatype message is one of strings of variable length: class and version, three bytes of class bits, and
/// the size of an element, which is a reference.
fn is_variable_string(datatype: &[u8], reference_size: usize) -> bool {
    let [class, kind, _, _, size @ ..] = datatype else { return false };
    class & 0xf == VARIABLE_LENGTH
        && kind & 0xf == STRING
        && size.first_chunk().map(|size| u32::from_le_bytes(*size)).map(usize::try_from)
            == Some(Ok(reference_size))
}

#[cfg(test)]
mod tests;
