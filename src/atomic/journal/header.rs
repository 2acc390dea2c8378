//! Header of a journal.

use sha2::{Digest as _, Sha256};

use super::super::identity::Identity;
use super::super::page::PAGE_SIZE;
use super::Digest;

pub(super) const HEADER_SIZE: usize = 512;

const MAGIC: [u8; 8] = *b"\x89h5sj\r\n\x1a";
const VERSION: u32 = 2;
/// The digest covers what is in front of it.
const DIGEST_AT: usize = HEADER_SIZE - 32;

/// What a journal says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Header {
    /// The committed end before the commit, in bytes.
    pub(in super::super) old_end: u64,
    /// The size of the file after it, in bytes.
    pub(in super::super) new_end: u64,
    /// Number of entries of the index.
    pub(in super::super) page_count: u64,
    /// First byte of the index in the journal; the slots end here.
    pub(in super::super) index_start: u64,
    /// Digest of the index.
    pub(in super::super) index_digest: Digest,
    /// The file that the journal is for.
    pub(in super::super) identity: Identity,
}

/// What stands where a header should.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DecodedHeader {
    /// A header.
    Whole(Header),
    /// A header of another format version.
    Version(u32),
    /// None, or a damaged one.
    None,
}

impl Header {
    pub(in super::super) fn encode(&self) -> [u8; HEADER_SIZE] {
        let mut bytes = Vec::with_capacity(HEADER_SIZE);
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend([0; 4]);
        for number in [PAGE_SIZE, self.old_end, self.new_end, self.page_count, self.index_start] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(self.index_digest);
        bytes.extend(self.identity.device.to_le_bytes());
        bytes.extend(self.identity.inode.to_le_bytes());
        bytes.extend(self.identity.fingerprint);
        bytes.resize(DIGEST_AT, 0);
        let digest = Sha256::digest(&bytes);
        bytes.extend(digest);
        let mut header = [0; HEADER_SIZE];
        header.copy_from_slice(&bytes);
        header
    }

    pub(super) fn decode(bytes: &[u8; HEADER_SIZE]) -> DecodedHeader {
        let (body, digest) = bytes.split_at(DIGEST_AT);
        if !body.starts_with(&MAGIC) || Sha256::digest(body).as_slice() != digest {
            return DecodedHeader::None;
        }
        let mut fields = Fields { rest: &body[MAGIC.len()..] };
        let version = u32::from_le_bytes(fields.take());
        if version != VERSION {
            return DecodedHeader::Version(version);
        }
        let _reserved: [u8; 4] = fields.take();
        if fields.number() != PAGE_SIZE {
            return DecodedHeader::None;
        }
        DecodedHeader::Whole(Self {
            old_end: fields.number(),
            new_end: fields.number(),
            page_count: fields.number(),
            index_start: fields.number(),
            index_digest: fields.take(),
            identity: Identity {
                device: fields.number(),
                inode: fields.number(),
                fingerprint: fields.take(),
            },
        })
    }
}

/// Fields of a structure of fixed size, one after the other; what is missing reads as 0.
pub(super) struct Fields<'a> {
    pub(super) rest: &'a [u8],
}

impl Fields<'_> {
    pub(super) fn take<const N: usize>(&mut self) -> [u8; N] {
        let Some((field, rest)) = self.rest.split_first_chunk() else { return [0; N] };
        self.rest = rest;
        *field
    }

    pub(super) fn number(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        Header {
            old_end: 5000,
            new_end: 9000,
            page_count: 2,
            index_start: 12288,
            index_digest: [7; 32],
            identity: Identity { device: 3, inode: 4, fingerprint: [8; 32] },
        }
    }

    #[test]
    fn what_was_encoded_is_decoded() {
        assert_eq!(Header::decode(&header().encode()), DecodedHeader::Whole(header()));
    }

    #[test]
    fn no_changed_bit_is_overlooked() {
        let bytes = header().encode();
        for bit in 0..8 * HEADER_SIZE {
            let mut changed = bytes;
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Header::decode(&changed), DecodedHeader::None, "bit {bit}");
        }
        assert_eq!(Header::decode(&[0; HEADER_SIZE]), DecodedHeader::None);
    }

    #[test]
    fn a_whole_header_of_a_later_format_is_told_from_a_damaged_one() {
        let mut bytes = header().encode();
        bytes[8] = 3;
        let digest = Sha256::digest(&bytes[..DIGEST_AT]);
        bytes[DIGEST_AT..].copy_from_slice(&digest);
        assert_eq!(Header::decode(&bytes), DecodedHeader::Version(3));
    }
}
