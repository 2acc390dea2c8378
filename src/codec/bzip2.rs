//! Filter 307, bzip2: one stream a chunk.

use ::bzip2::{Action, Compress, Compression, Decompress, Status};

use super::buffer::Buffer;
use super::error::{Corruption, Fault};

/// Effort spent on repetitive input before the fallback sort; the library's own default.
const WORK_FACTOR: u32 = 30;

/// Decompresses a stream into the start of `out`.
pub(super) fn decode(input: &[u8], out: &mut [u8]) -> Result<usize, Fault> {
    let mut stream = Decompress::new(false);
    loop {
        let (read, written) = progress(stream.total_in(), stream.total_out())?;
        let (rest, room) = (&input[read..], &mut out[written..]);
        let (exhausted, full) = (rest.is_empty(), room.is_empty());
        let status = stream.decompress(rest, room).map_err(|_| Corruption::Stream)?;
        let now = progress(stream.total_in(), stream.total_out())?;
        match status {
            Status::StreamEnd => return Ok(now.1),
            _ if now != (read, written) => {}
            _ if full => return Err(Fault::TooLong),
            _ if exhausted => return Err(Corruption::Truncated.into()),
            _ => return Err(Corruption::Stream.into()),
        }
    }
}

/// Compresses to one stream at `level`, 1 to 9.
pub(super) fn encode(level: u8, input: &[u8], out: &mut Buffer) -> Result<(), Fault> {
    // The bound of `BZ2_bzBuffToBuffCompress`.
    let room = out.prepare(input.len() + input.len() / 100 + 601)?;
    let mut stream = Compress::new(Compression::new(u32::from(level)), WORK_FACTOR);
    loop {
        let (read, written) = progress(stream.total_in(), stream.total_out())?;
        let status = stream
            .compress(&input[read..], &mut room[written..], Action::Finish)
            .map_err(|_| Fault::Encode)?;
        let now = progress(stream.total_in(), stream.total_out())?;
        match status {
            Status::StreamEnd => {
                out.set_len(now.1);
                return Ok(());
            }
            _ if now != (read, written) => {}
            _ => return Err(Fault::Encode),
        }
    }
}

/// Totals of a stream as positions in slices.
fn progress(read: u64, written: u64) -> Result<(usize, usize), Fault> {
    match (usize::try_from(read), usize::try_from(written)) {
        (Ok(read), Ok(written)) => Ok((read, written)),
        _ => Err(Fault::TooLong),
    }
}
