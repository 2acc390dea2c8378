//! What is written behind the committed end of a file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::page::at_most;
use super::room::Room;

/// Bytes of a write from which it goes to the file by itself: copying it once more would cost as much as it saves.
const LARGE: usize = 32 << 10;

/// Bytes that are held back at most.
const LIMIT: usize = 512 << 10;

/// Writes to a file, those that continue one another gathered: the kernel takes much longer for many short ones.
#[derive(Debug, Default)]
pub(super) struct Tail {
    /// Where the bytes go that are held back.
    start: u64,
    held: Vec<u8>,
    room: Room,
}

impl Tail {
    /// Writes bytes, now or later.
    ///
    /// # Errors
    /// Of this write or of one before.
    pub(super) fn write(&mut self, file: &File, bytes: &[u8], address: u64) -> io::Result<()> {
        if let Some(at) = self.position(address, bytes.len()) {
            let within = (self.held.len() - at).min(bytes.len());
            let (over, behind) = bytes.split_at(within);
            self.held[at..at + within].copy_from_slice(over);
            self.held.extend_from_slice(behind);
            return Ok(());
        }
        self.flush(file)?;
        if bytes.len() >= LARGE {
            return put(&mut self.room, file, bytes, address);
        }
        self.start = address;
        self.held.extend_from_slice(bytes);
        Ok(())
    }

    /// Where among the held bytes a write begins that can join them.
    fn position(&self, address: u64, length: usize) -> Option<usize> {
        let at = usize::try_from(address.checked_sub(self.start)?).ok()?;
        let joins = !self.held.is_empty() && at <= self.held.len();
        let fits = length < LARGE && at.saturating_add(length) <= LIMIT;
        (joins && fits).then_some(at)
    }

    /// Writes what is held back.
    ///
    /// # Errors
    /// Those of the operating system; what could not be written is given up.
    pub(super) fn flush(&mut self, file: &File) -> io::Result<()> {
        let written = match self.held.as_slice() {
            [] => Ok(()),
            held => put(&mut self.room, file, held, self.start),
        };
        self.held.clear();
        written
    }

    /// Has the file, of this size, give back what was set aside behind its end and not written.
    ///
    /// # Errors
    /// Those of the operating system.
    pub(super) fn give_room_back(&mut self, file: &File, size: u64) -> io::Result<()> {
        if std::mem::take(&mut self.room).is_left(size) { file.set_len(size) } else { Ok(()) }
    }

    /// Gives up what is held back.
    pub(super) fn forget(&mut self) {
        self.held.clear();
    }

    /// Puts what is held back over bytes that were read from `address` on.
    pub(super) fn lay_over(&self, address: u64, out: &mut [u8]) {
        let (skipped, at) =
            (self.start.saturating_sub(address), address.saturating_sub(self.start));
        let held = self.held.get(at_most(at, usize::MAX)..).unwrap_or_default();
        let out = out.get_mut(at_most(skipped, usize::MAX)..).unwrap_or_default();
        let length = held.len().min(out.len());
        out[..length].copy_from_slice(&held[..length]);
    }
}

fn put(room: &mut Room, file: &File, bytes: &[u8], address: u64) -> io::Result<()> {
    room.make(file, address, address.saturating_add(bytes.len() as u64));
    file.write_all_at(bytes, address)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn a_file_shows_every_write_in_its_order() {
        let file = tempfile::tempfile().unwrap();
        let mut tail = Tail::default();
        let mut expected = vec![0u8; 3 << 20];
        let mut random = 7u64;
        let mut next = |below: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(random >> 33).unwrap() % below
        };
        let mut end = 0;
        for round in 0..2000u32 {
            let length = [1, 100, 8000, LARGE, 3 * LARGE][next(5)];
            // Mostly behind the last one, else anywhere.
            let most = expected.len() - length;
            let start = if next(4) > 0 { end } else { next(most) }.min(most);
            let bytes = vec![u8::try_from(round % 251).unwrap(); length];
            tail.write(&file, &bytes, start as u64).unwrap();
            expected[start..start + length].copy_from_slice(&bytes);
            end = if start == most { 0 } else { start + length };
            let (from, count) = (next(most), 1 + next(length));
            let mut out = vec![0; count];
            let found = super::super::merge::read_up_to(&file, from as u64, &mut out).unwrap();
            out[found..].fill(0);
            tail.lay_over(from as u64, &mut out);
            assert_eq!(out, expected[from..from + count], "round {round}");
        }
        tail.flush(&file).unwrap();
        let mut out = vec![0; expected.len()];
        super::super::merge::read_or_zero(&file, 0, &mut out).unwrap();
        assert!(out == expected);
    }

    #[test]
    fn what_was_set_aside_and_not_written_is_given_back() {
        let file = tempfile::tempfile().unwrap();
        let mut tail = Tail::default();
        let bytes = vec![7; 1 << 20];
        let mut end = 0;
        while end < 33 << 20 {
            tail.write(&file, &bytes, end).unwrap();
            end += bytes.len() as u64;
            assert_eq!(file.metadata().unwrap().len(), end, "what is set aside does not show");
        }
        tail.give_room_back(&file, end).unwrap();
        let metadata = file.metadata().unwrap();
        assert_eq!(metadata.len(), end);
        assert!(metadata.blocks() * 512 <= end + (1 << 20), "{} blocks", metadata.blocks());
    }
}
