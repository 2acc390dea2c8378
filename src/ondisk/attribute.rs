//! Attribute messages (specification IV.A.2.m) of variable-length strings, and of integers.
//!
//! ```text
//! version 1: 1 | reserved | sizes of name, datatype, dataspace u16 | name | datatype | dataspace | elements
//!            each of name, datatype and dataspace padded to a multiple of 8
//! version 2: the same with flags for the reserved byte, and nothing padded
//! version 3: as version 2, with the name's character set behind the sizes
//! ```
//!
//! Of the datatype (IV.A.2.d) only what tells these from the rest is looked at, and the size of an element.

use super::message::{Dataspace, decode_dataspace};
use super::object_header::{Message, Search, search};
use super::{Cursor, OndiskError, ReadAt, Structure, Superblock};

/// Type of attribute messages.
pub(super) const ATTRIBUTE: u16 = 0x000c;

/// Type of the message that tells where attributes outside of the header are (specification IV.A.2.v).
const ATTRIBUTE_INFO: u16 = 0x0015;

/// Flags of that message: the largest creation order is told as well.
const HAS_CREATION_ORDER: u8 = 1;

/// Flags: datatype or dataspace is a reference to where it is shared.
const SHARED_PARTS: u8 = 0b11;

/// Classes of types, in the lower half of a datatype's first byte.
const INTEGER: u8 = 0;
const ENUMERATION: u8 = 8;
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
    let [found] = stored_attributes(file, superblock, header, [name])?;
    match found {
        Some(attribute) => attribute.string_references(),
        None => Ok(None),
    }
}

/// The attributes of some names, as they are stored in the header of their object, in one look at it. `header` and `None`
/// as for [`variable_string_references`].
///
/// # Errors
/// [`OndiskError::Unsupported`] for attributes that are shared or whose type is; else as
/// [`ObjectHeader::read`](super::ObjectHeader::read).
pub fn stored_attributes<const N: usize>(
    file: &dyn ReadAt,
    superblock: &Superblock,
    header: u64,
    names: [&str; N],
) -> Result<[Option<StoredAttribute>; N], OndiskError> {
    let found = [const { None }; N];
    let mut by_name = ByName { superblock, names: names.map(str::as_bytes), found };
    search(file, superblock, header, &mut by_name)?;
    Ok(by_name.found)
}

/// An attribute of an object header, not decoded yet.
#[derive(Clone, Debug)]
pub struct StoredAttribute {
    superblock: Superblock,
    datatype: Vec<u8>,
    dataspace: Vec<u8>,
    /// Absolute addresses of the dataspace and the elements.
    dataspace_address: u64,
    elements_address: u64,
    /// The elements, and what pads the message.
    elements: Vec<u8>,
}

impl StoredAttribute {
    /// As [`variable_string_references`].
    ///
    /// # Errors
    /// [`OndiskError::Invalid`] also for a reference to the undefined address; [`OndiskError::Version`],
    /// [`OndiskError::Truncated`].
    pub fn string_references(&self) -> Result<Option<Vec<u8>>, OndiskError> {
        let reference_size = self.superblock.reference_size();
        if !is_variable_string(&self.datatype, reference_size) {
            return Ok(None);
        }
        let references = self.elements(reference_size)?;
        for reference in references.chunks_exact(reference_size) {
            let (structure, address) = (Structure::Attribute, self.elements_address);
            self.superblock.check_reference(reference, structure, address)?;
        }
        Ok(Some(references.to_vec()))
    }

    /// The elements of an attribute of integers, or of an enumeration of them such as truth values; `None` if it is of
    /// another type.
    ///
    /// # Errors
    /// [`OndiskError::Invalid`], [`OndiskError::Version`], [`OndiskError::Truncated`].
    pub fn integers(&self) -> Result<Option<&[u8]>, OndiskError> {
        let [class, _, _, _, size @ ..] = self.datatype.as_slice() else { return Ok(None) };
        let size = size.first_chunk().map(|size| u32::from_le_bytes(*size));
        match size.and_then(|size| usize::try_from(size).ok()) {
            Some(size) if [INTEGER, ENUMERATION].contains(&(class & 0xf)) => {
                self.elements(size).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The elements, of so many bytes each.
    fn elements(&self, size: usize) -> Result<&[u8], OndiskError> {
        let Self { superblock, dataspace, dataspace_address, .. } = self;
        let count = match decode_dataspace(dataspace, *dataspace_address, superblock.length_size)? {
            Dataspace::Null => Some(0),
            Dataspace::Scalar => Some(1),
            Dataspace::Simple { shape, .. } => {
                shape.iter().try_fold(1u64, |count, &length| count.checked_mul(length))
            }
        };
        // More than a message can hold is caught when its bytes are taken.
        let count = count.and_then(|count| usize::try_from(count).ok()).unwrap_or(usize::MAX);
        let mut cursor = Cursor::new(&self.elements, Structure::Attribute, self.elements_address);
        cursor.take(count.saturating_mul(size))
    }
}

/// The search for the attributes of some names.
struct ByName<'n, const N: usize> {
    superblock: &'n Superblock,
    names: [&'n [u8]; N],
    found: [Option<StoredAttribute>; N],
}

impl<const N: usize> Search for ByName<'_, N> {
    fn see(&mut self, message: Message<'_>) -> Result<(), OndiskError> {
        if message.kind != ATTRIBUTE {
            return Ok(());
        }
        for (name, found) in self.names.iter().zip(&mut self.found) {
            if found.is_some() {
                continue;
            }
            let Some(attribute) = AttributeMessage::named(name, message)? else { continue };
            *found = Some(StoredAttribute {
                superblock: *self.superblock,
                datatype: attribute.datatype.to_vec(),
                dataspace: attribute.dataspace.to_vec(),
                dataspace_address: attribute.dataspace_address,
                elements_address: attribute.elements_address,
                elements: attribute.elements.to_vec(),
            });
            break;
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.found.iter().all(Option::is_some)
    }
}

/// Whether an object has attributes but those of these names, in its header or elsewhere. `header` as for
/// [`variable_string_references`].
///
/// # Errors
/// [`OndiskError::Unsupported`] for attributes that are shared or whose type is; else as
/// [`ObjectHeader::read`](super::ObjectHeader::read).
pub fn has_other_attributes(
    file: &dyn ReadAt,
    superblock: &Superblock,
    header: u64,
    names: &[&str],
) -> Result<bool, OndiskError> {
    let mut others = Others { superblock, names, found: false };
    search(file, superblock, header, &mut others)?;
    Ok(others.found)
}

/// The search for attributes but those of some names.
struct Others<'n> {
    superblock: &'n Superblock,
    names: &'n [&'n str],
    found: bool,
}

impl Search for Others<'_> {
    fn see(&mut self, message: Message<'_>) -> Result<(), OndiskError> {
        match message.kind {
            ATTRIBUTE => {
                for name in self.names {
                    if AttributeMessage::named(name.as_bytes(), message)?.is_some() {
                        return Ok(());
                    }
                }
                self.found = true;
            }
            ATTRIBUTE_INFO => self.found |= self.are_elsewhere(message)?,
            _ => {}
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.found
    }
}

impl Others<'_> {
    /// Whether there is a heap of attributes: version | flags | largest creation order u16, if flagged | its address O.
    fn are_elsewhere(&self, message: Message<'_>) -> Result<bool, OndiskError> {
        let Message { shared, address, body, .. } = message;
        let structure = Structure::Attribute;
        if shared {
            let what = "a shared message";
            return Err(OndiskError::Unsupported { structure, address, what });
        }
        let mut cursor = Cursor::new(body, structure, address);
        let [version, flags] = cursor.array()?;
        if version != 0 {
            return Err(OndiskError::Version { structure, address, found: version });
        }
        cursor.take(if flags & HAS_CREATION_ORDER == 0 { 0 } else { 2 })?;
        let offset_size = self.superblock.offset_size;
        Ok(cursor.field(offset_size)? != offset_size.all_ones())
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
