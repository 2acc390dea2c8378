//! H5FD: a virtual file driver whose bytes are somebody else's.

use std::io;

/// What the bytes of an open HDF5 file are read from and written to. Addresses are bytes from the start of the file,
/// user block included.
pub trait Storage: Send {
    /// Fills `out` from byte `address` on; what lies behind the end reads as 0.
    ///
    /// # Errors
    /// Whatever the operating system says.
    fn read(&mut self, address: u64, out: &mut [u8]) -> io::Result<()>;

    /// Writes `bytes` from byte `address` on.
    ///
    /// # Errors
    /// Whatever the operating system says.
    fn write(&mut self, address: u64, bytes: &[u8]) -> io::Result<()>;

    /// The size in bytes.
    ///
    /// # Errors
    /// Whatever the operating system says.
    fn size(&mut self) -> io::Result<u64>;

    /// Cuts the file off at `size` bytes, or lets it grow with zeros.
    ///
    /// # Errors
    /// Whatever the operating system says.
    fn set_size(&mut self, size: u64) -> io::Result<()>;
}
