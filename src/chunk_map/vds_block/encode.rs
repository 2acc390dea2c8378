//! Encoding of a list: block version 0 with selections that HDF5 1.8 and newer read.

use super::decode::Mapping;
use super::error::{EntryFault, UnsupportedMapping, VdsBlockError};
use super::selection::{HYPERSLAB, REGULAR};
use crate::dims::MAX_RANK;
use crate::ondisk::{FieldWidth, lookup3};

/// Encodes mappings as a block of version 0, selections as version 1, or 2 where the last element is beyond 32 bits.
///
/// # Errors
/// [`VdsBlockError::EntryCount`] if the number of mappings does not fit a length of this file;
/// [`VdsBlockError::Entry`] for a name with a NUL, for axes that differ in number between start and extent or that
/// are none or too many, for an extent of 0 and for an end beyond 64 bits.
pub(super) fn encode_block_v0<'m>(
    mappings: impl IntoIterator<Item = Mapping<'m>>,
    length_size: FieldWidth,
) -> Result<Vec<u8>, VdsBlockError> {
    let mut block = vec![0; 1 + length_size.bytes()];
    let mut entries = 0u64;
    for mapping in mappings {
        encode_entry(&mut block, &mapping)
            .map_err(|fault| VdsBlockError::Entry { entry: entries, fault })?;
        entries += 1;
    }
    if entries > length_size.all_ones() {
        return Err(VdsBlockError::EntryCount { entries, len: block.len() as u64 });
    }
    let count = entries.to_le_bytes();
    block[1..=length_size.bytes()].copy_from_slice(&count[..length_size.bytes()]);
    block.extend(lookup3(&block).to_le_bytes());
    Ok(block)
}

fn encode_entry(block: &mut Vec<u8>, mapping: &Mapping<'_>) -> Result<(), EntryFault> {
    encode_name(block, mapping.source_file)?;
    encode_name(block, mapping.source_dataset)?;
    encode_selection(block, mapping.source_start, mapping.extent)?;
    encode_selection(block, mapping.virtual_start, mapping.extent)
}

/// A `%` begins a format specifier; doubled it stands for itself.
fn encode_name(block: &mut Vec<u8>, name: &[u8]) -> Result<(), EntryFault> {
    for &byte in name {
        match byte {
            0 => return Err(EntryFault::NameFormat),
            b'%' => block.extend(b"%%"),
            _ => block.push(byte),
        }
    }
    block.push(0);
    Ok(())
}

fn encode_selection(block: &mut Vec<u8>, start: &[u64], extent: &[u64]) -> Result<(), EntryFault> {
    let rank = match u32::try_from(start.len()) {
        Ok(rank @ 1..) if start.len() == extent.len() && start.len() <= MAX_RANK => rank,
        _ => return Err(UnsupportedMapping::Rank.into()),
    };
    let mut narrow = true;
    for (&start, &extent) in start.iter().zip(extent) {
        let Some(length) = extent.checked_sub(1) else {
            return Err(UnsupportedMapping::NoneSelected.into());
        };
        let end = start.checked_add(extent).map(|_| start + length);
        let end = end.ok_or(EntryFault::Selection { field: "start", value: start })?;
        narrow &= u32::try_from(end).is_ok();
    }
    block.extend(HYPERSLAB.to_le_bytes());
    match narrow {
        true => encode_corners(block, rank, start, extent),
        false => encode_regular(block, rank, start, extent),
    }
    Ok(())
}

/// Version 1: first and last element, 32 bits each.
fn encode_corners(block: &mut Vec<u8>, rank: u32, start: &[u64], extent: &[u64]) {
    for word in [1, 0, 8 + 8 * rank, rank, 1] {
        block.extend(word.to_le_bytes());
    }
    let last = start.iter().zip(extent).map(|(&start, &extent)| start + extent - 1);
    for corner in start.iter().copied().chain(last) {
        block.extend(&corner.to_le_bytes()[..4]);
    }
}

/// Version 2: start, stride, count and block, 64 bits each.
fn encode_regular(block: &mut Vec<u8>, rank: u32, start: &[u64], extent: &[u64]) {
    block.extend(2u32.to_le_bytes());
    block.push(REGULAR);
    block.extend((4 + 32 * rank).to_le_bytes());
    block.extend(rank.to_le_bytes());
    for (&start, &extent) in start.iter().zip(extent) {
        for field in [start, 1, 1, extent] {
            block.extend(field.to_le_bytes());
        }
    }
}
