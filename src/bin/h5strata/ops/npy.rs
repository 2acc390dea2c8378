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

/// Reads the array of a file.
pub(super) fn read(path: &Path) -> Result<Array, OpFault> {
    let file = File::open(path).map_err(NpyFault::from);
    let array = file.and_then(|file| read_from(BufReader::new(file)));
    array.map_err(|source| OpFault::Npy { path: path.to_owned(), source })
}

fn read_from(mut file: impl Read) -> Result<Array, NpyFault> {
    let header = header(&mut file)?;
    let size = header.kind.size().ok_or(NpyFault::Memory)?;
    if size == 0 {
        return Err(NpyFault::Header("its elements have no bytes"));
    }
    let expected =
        header.shape.iter().try_fold(size as u64, |bytes, &axis| bytes.checked_mul(axis));
    let expected = expected.ok_or(NpyFault::Memory)?;
    // Memory grows with what the file really holds.
    let mut bytes = Vec::new();
    file.take(expected).read_to_end(&mut bytes)?;
    let found = bytes.len() as u64;
    if found < expected {
        return Err(NpyFault::Short { expected, found });
    }
    if header.fortran_order {
        bytes = in_c_order(&bytes, &header.shape, size);
    }
    let elements = match header.kind {
        Kind::Stored(dtype) => Elements::Fixed { dtype, bytes },
        Kind::Unicode { order, .. } => Elements::Strings(strings(&bytes, size, order)?),
    };
    Ok(Array { shape: header.shape, elements })
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

/// Strings of four bytes a character, without the zeros that fill them up.
fn strings(bytes: &[u8], size: usize, order: ByteOrder) -> Result<Vec<Vec<u8>>, NpyFault> {
    let one = |(element, bytes): (usize, &[u8])| {
        let codes = bytes.as_chunks().0.iter().map(|&code| match order {
            ByteOrder::Little => u32::from_le_bytes(code),
            ByteOrder::Big => u32::from_be_bytes(code),
        });
        let text: Option<String> = codes.map(char::from_u32).collect();
        let text = text.ok_or(NpyFault::Character { element })?;
        Ok(text.trim_end_matches('\0').as_bytes().to_vec())
    };
    bytes.chunks_exact(size).enumerate().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
