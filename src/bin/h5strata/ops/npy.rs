//! Arrays from `.npy` files.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use h5strata::dtype::ByteOrder;

use super::array::{Array, Elements};
use super::error::{NpyFault, OpFault};
use super::npy_type::{Header, Kind};

/// What each file starts with.
const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Bytes of a header that NumPy would read (`max_header_size` of `numpy.load`).
const MAX_HEADER: usize = 10_000;

/// Bytes that are read together where a file is read piece by piece.
pub(super) const PIECE_BYTES: u64 = 16 << 20;

/// Reads the array of a file.
pub(super) fn read(path: &Path) -> Result<Array, OpFault> {
    Npy::open(path)?.array().map_err(fault(path))
}

/// Tells of which file a fault is.
pub(super) fn fault(path: &Path) -> impl FnOnce(NpyFault) -> OpFault {
    |source| OpFault::Npy { path: path.to_owned(), source }
}

/// A file whose header has been read.
pub(super) struct Npy<R> {
    file: R,
    header: Header,
    /// Bytes of an element, never 0.
    size: usize,
    /// Bytes of all elements.
    expected: u64,
    /// Bytes of the elements that have been read.
    found: u64,
}

impl Npy<BufReader<File>> {
    pub(super) fn open(path: &Path) -> Result<Self, OpFault> {
        let file = File::open(path).map_err(NpyFault::from);
        file.and_then(|file| Self::new(BufReader::new(file))).map_err(fault(path))
    }
}

impl<R: Read> Npy<R> {
    fn new(mut file: R) -> Result<Self, NpyFault> {
        let header = header(&mut file)?;
        let size = header.kind.size().ok_or(NpyFault::Memory)?;
        if size == 0 {
            return Err(NpyFault::Header("its elements have no bytes"));
        }
        let expected =
            header.shape.iter().try_fold(size as u64, |bytes, &axis| bytes.checked_mul(axis));
        let expected = expected.ok_or(NpyFault::Memory)?;
        Ok(Self { file, header, size, expected, found: 0 })
    }

    /// Shape in elements.
    pub(super) fn shape(&self) -> &[u64] {
        &self.header.shape
    }

    /// Whether the elements stand in C order, so that it can be read in [rows](Self::rows).
    pub(super) fn has_rows(&self) -> bool {
        !self.header.fortran_order && !self.header.shape.is_empty()
    }

    /// Bytes of what one index of the first axis stands for.
    pub(super) fn row_bytes(&self) -> u64 {
        self.expected.checked_div(self.header.shape.first().copied().unwrap_or(1)).unwrap_or(0)
    }

    /// Reads so many more indices of the first axis.
    pub(super) fn rows(&mut self, count: u64) -> Result<Array, NpyFault> {
        let mut shape = self.header.shape.clone();
        if let Some(axis) = shape.first_mut() {
            *axis = count;
        }
        let bytes = self.bytes(self.row_bytes().checked_mul(count).ok_or(NpyFault::Memory)?)?;
        self.elements(shape, bytes)
    }

    /// Reads all of it.
    pub(super) fn array(mut self) -> Result<Array, NpyFault> {
        let mut bytes = self.bytes(self.expected)?;
        if self.header.fortran_order {
            bytes = in_c_order(&bytes, &self.header.shape, self.size);
        }
        let shape = std::mem::take(&mut self.header.shape);
        self.elements(shape, bytes)
    }

    /// Reads the next bytes. Beyond [`PIECE_BYTES`] memory grows with what the file really holds.
    fn bytes(&mut self, count: u64) -> Result<Vec<u8>, NpyFault> {
        let mut bytes = Vec::new();
        // No steps for what is read piece by piece: they leave holes between the chunks that pieces are copied to.
        let first = usize::try_from(count.min(PIECE_BYTES)).map_err(|_| NpyFault::Memory)?;
        bytes.try_reserve_exact(first).map_err(|_| NpyFault::Memory)?;
        self.file.by_ref().take(count).read_to_end(&mut bytes)?;
        self.found += bytes.len() as u64;
        if (bytes.len() as u64) < count {
            return Err(NpyFault::Short { expected: self.expected, found: self.found });
        }
        Ok(bytes)
    }

    /// The bytes that were read last, as elements.
    fn elements(&self, shape: Vec<u64>, bytes: Vec<u8>) -> Result<Array, NpyFault> {
        let elements = match &self.header.kind {
            Kind::Stored(dtype) => Elements::Fixed { dtype: dtype.clone(), bytes },
            Kind::Unicode { order, .. } => {
                let first = (self.found - bytes.len() as u64) / self.size as u64;
                Elements::Strings(strings(&bytes, self.size, *order, first)?)
            }
        };
        Ok(Array { shape, elements })
    }
}

fn header(file: &mut impl Read) -> Result<Header, NpyFault> {
    let mut start = [0; 8];
    read_exact(file, &mut start)?;
    let (magic, version) = start.split_at(MAGIC.len());
    if magic != MAGIC {
        return Err(NpyFault::Magic);
    }
    let length = match *version {
        [1, 0] => {
            let mut length = [0; 2];
            read_exact(file, &mut length)?;
            usize::from(u16::from_le_bytes(length))
        }
        [2 | 3, 0] => {
            let mut length = [0; 4];
            read_exact(file, &mut length)?;
            usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX)
        }
        [major, minor] => return Err(NpyFault::Version(major, minor)),
        _ => return Err(NpyFault::Magic),
    };
    if length > MAX_HEADER {
        return Err(NpyFault::LongHeader { found: length });
    }
    let mut text = vec![0; length];
    read_exact(file, &mut text)?;
    // Versions 1 and 2 are Latin-1, in which NumPy writes what ASCII cannot say as escapes.
    let text = std::str::from_utf8(&text).map_err(|_| NpyFault::Header("it is not UTF-8"))?;
    Header::parse(text)
}

/// A file that ends within what each file has is none.
fn read_exact(file: &mut impl Read, bytes: &mut [u8]) -> Result<(), NpyFault> {
    file.read_exact(bytes).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => NpyFault::Magic,
        _ => error.into(),
    })
}

/// Elements whose first axis was the fastest, with the last one as the fastest.
fn in_c_order(bytes: &[u8], shape: &[u64], size: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let lengths: Vec<usize> = shape.iter().map(|&n| usize::try_from(n).unwrap_or(0)).collect();
    let mut strides = Vec::with_capacity(lengths.len());
    let mut stride = size;
    for length in &lengths {
        strides.push(stride);
        stride *= length;
    }
    let mut index = vec![0; lengths.len()];
    let mut at = 0;
    for _ in 0..bytes.len() / size {
        out.extend_from_slice(&bytes[at..at + size]);
        for axis in (0..index.len()).rev() {
            index[axis] += 1;
            at += strides[axis];
            if index[axis] < lengths[axis] {
                break;
            }
            at -= index[axis] * strides[axis];
            index[axis] = 0;
        }
    }
    out
}

/// Strings of four bytes a character, without the zeros that fill them up; `first` is the number of the first one.
fn strings(
    bytes: &[u8],
    size: usize,
    order: ByteOrder,
    first: u64,
) -> Result<Vec<Vec<u8>>, NpyFault> {
    let one = |(element, bytes): (u64, &[u8])| {
        let codes = bytes.as_chunks().0.iter().map(|&code| match order {
            ByteOrder::Little => u32::from_le_bytes(code),
            ByteOrder::Big => u32::from_be_bytes(code),
        });
        let text: Option<String> = codes.map(char::from_u32).collect();
        let text = text.ok_or(NpyFault::Character { element })?;
        Ok(text.trim_end_matches('\0').as_bytes().to_vec())
    };
    (first..).zip(bytes.chunks_exact(size)).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_from(bytes: &[u8]) -> Result<Array, NpyFault> {
        Npy::new(bytes)?.array()
    }

    fn file(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
        let mut file = MAGIC.to_vec();
        file.extend([version, 0]);
        let length = u32::try_from(header.len()).unwrap().to_le_bytes();
        file.extend(if version == 1 { &length[..2] } else { &length[..] });
        file.extend(header.as_bytes());
        file.extend(data);
        file
    }

    fn header(descr: &str, fortran_order: &str, shape: &str) -> String {
        format!("{{'descr': {descr}, 'fortran_order': {fortran_order}, 'shape': {shape}, }}\n")
    }

    #[test]
    fn elements_are_given_in_c_order() {
        let shape = "(2, 3)";
        for version in [1, 2, 3] {
            let c = file(version, &header("'|u1'", "False", shape), &[0, 1, 2, 3, 4, 5]);
            let fortran = file(version, &header("'|u1'", "True", shape), &[0, 3, 1, 4, 2, 5]);
            assert_eq!(read_from(&c[..]).unwrap(), read_from(&fortran[..]).unwrap());
        }
        let three = file(1, &header("'|u1'", "True", "(2, 2, 2)"), &[0, 4, 2, 6, 1, 5, 3, 7]);
        let Elements::Fixed { bytes, .. } = read_from(&three[..]).unwrap().elements else {
            panic!("strings");
        };
        assert_eq!(bytes, [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn unicode_strings_become_utf8() {
        let codes = ['a', 'é', '\0', '日', '\0', '\0'];
        let little: Vec<u8> = codes.iter().flat_map(|&c| u32::from(c).to_le_bytes()).collect();
        let big: Vec<u8> = codes.iter().flat_map(|&c| u32::from(c).to_be_bytes()).collect();
        for (descr, data) in [("'<U3'", &little), ("'>U3'", &big)] {
            let array = read_from(&file(1, &header(descr, "False", "(2,)"), data)[..]).unwrap();
            let strings = ["aé", "日"].map(|text| text.as_bytes().to_vec()).to_vec();
            assert_eq!(array.elements, Elements::Strings(strings));
        }
        let wrong = file(1, &header("'<U1'", "False", "(1,)"), &[0xff; 4]);
        assert!(matches!(read_from(&wrong[..]), Err(NpyFault::Character { element: 0 })));
    }

    #[test]
    fn rows_are_read_one_after_the_other() {
        let whole = file(1, &header("'|u1'", "False", "(3, 2)"), &[0, 1, 2, 3, 4, 5]);
        let mut npy = Npy::new(&whole[..]).unwrap();
        assert!(npy.has_rows());
        for (count, expected) in [(2, &[0, 1, 2, 3][..]), (0, &[]), (1, &[4, 5])] {
            let Array { shape, elements } = npy.rows(count).unwrap();
            assert_eq!(shape, [count, 2]);
            assert!(matches!(elements, Elements::Fixed { bytes, .. } if bytes == expected));
        }
        assert!(matches!(npy.rows(1), Err(NpyFault::Short { expected: 6, found: 6 })));
        let codes = [u32::from('a'), u32::MAX].map(u32::to_le_bytes).concat();
        let wrong = file(1, &header("'<U1'", "False", "(2,)"), &codes);
        let mut npy = Npy::new(&wrong[..]).unwrap();
        npy.rows(1).unwrap();
        assert!(matches!(npy.rows(1), Err(NpyFault::Character { element: 1 })));
        for (order, shape) in [("True", "(3, 2)"), ("False", "()")] {
            let bytes = file(1, &header("'|u1'", order, shape), &[0; 6]);
            assert!(!Npy::new(&bytes[..]).unwrap().has_rows());
        }
    }

    #[test]
    fn broken_files_are_refused() {
        let whole = file(1, &header("'<f8'", "False", "(2,)"), &[0; 16]);
        for length in 0..whole.len() {
            assert!(read_from(&whole[..length]).is_err(), "{length}");
        }
        assert!(matches!(read_from(&b"PK\x03\x04 a zip"[..]), Err(NpyFault::Magic)));
        assert!(matches!(read_from(&file(4, "", &[])[..]), Err(NpyFault::Version(4, 0))));
        let long = file(2, &" ".repeat(10_001), &[]);
        assert!(matches!(read_from(&long[..]), Err(NpyFault::LongHeader { .. })));
        let huge = header("'<f8'", "False", "(4611686018427387904, 4611686018427387904)");
        assert!(matches!(read_from(&file(1, &huge, &[])[..]), Err(NpyFault::Memory)));
    }
}
