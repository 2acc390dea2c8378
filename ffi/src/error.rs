//! What a failed call leaves: the H5E error stack, copied at once into plain data.

use std::ffi::{CStr, c_char, c_uint, c_void};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use hdf5_sys::h5::herr_t;
use hdf5_sys::h5e::{self, H5E_error2_t};
use hdf5_sys::h5i::hid_t;

use crate::lock::Lock;

/// Why a call of this crate failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// libhdf5 reported a failure.
    #[error("{call}: {stack}")]
    Call {
        /// The C function that was called.
        call: &'static str,
        /// What it said, innermost frame first.
        stack: ErrorStack,
    },
    /// A name or string with a zero byte inside cannot be passed to C.
    #[error("{name:?} has a zero byte inside")]
    InteriorNul {
        /// The name or string as it was given, bytes that are not UTF-8 replaced.
        name: String,
    },
    /// A name in the file is not UTF-8.
    #[error("{what} is not UTF-8: {name:?}")]
    NotUtf8 {
        /// What the name names.
        what: &'static str,
        /// The name, with the bad bytes replaced.
        name: String,
    },
    /// A buffer does not have the length that the operation moves.
    #[error("{what}: the buffer has {found} bytes, needed are {expected}")]
    BufferLength {
        /// What was to be put into the buffer.
        what: &'static str,
        /// Bytes needed.
        expected: usize,
        /// Bytes given.
        found: usize,
    },
    /// The file is open for reading only.
    #[error("{call}: the file is open for reading only")]
    ReadOnly {
        /// The C function that would write.
        call: &'static str,
    },
    /// There is not one value for each element.
    #[error("{what}: {found} values given, needed are {expected}")]
    Count {
        /// What the values were for.
        what: &'static str,
        /// Values needed.
        expected: u64,
        /// Values given.
        found: u64,
    },
    /// Coordinates do not have one value an axis.
    #[error("{what}: {found} axes given, the dataspace has {expected}")]
    Rank {
        /// What the coordinates were for.
        what: &'static str,
        /// Axes of the dataspace.
        expected: usize,
        /// Axes given.
        found: usize,
    },
    /// A place outside of the extent of a dataset.
    #[error("{what}: {found} is out of bounds on axis {axis}, which has {extent} elements")]
    OutOfBounds {
        /// What was to be done there.
        what: &'static str,
        /// The axis, from 0.
        axis: usize,
        /// Coordinate on it, in elements from 0.
        found: u64,
        /// Elements on it.
        extent: u64,
    },
    /// Elements that hold pointers cannot be moved as plain bytes.
    #[error("{what}: elements of this datatype hold pointers and cannot be moved as bytes")]
    PointersInType {
        /// What was to be moved.
        what: &'static str,
    },
    /// A datatype of another class than the operation is for.
    #[error("{what}: the datatype is not {expected}")]
    TypeClass {
        /// What was to be done.
        what: &'static str,
        /// The class it is for.
        expected: &'static str,
    },
    /// A class of datatypes that this crate does not make.
    #[error("datatypes of the class {class} cannot be made")]
    UnsupportedClass {
        /// What an element is.
        class: &'static str,
    },
    /// A description that contradicts itself.
    #[error("no datatype is as described: {what}")]
    NoSuchType {
        /// Where it does.
        what: &'static str,
    },
    /// A count or size from the file is above what this crate or the machine handles.
    #[error("{what} is {found}, above the limit of {limit}")]
    Limit {
        /// What was counted.
        what: &'static str,
        /// The count found.
        found: u64,
        /// The highest accepted.
        limit: u64,
    },
    /// libhdf5 returned a value this crate does not know.
    #[error("{call} returned the unknown value {value}")]
    UnknownValue {
        /// The C function.
        call: &'static str,
        /// What it returned.
        value: i64,
    },
    /// The linked libhdf5 is too old to have the function.
    #[error("{call} is in HDF5 {since} and newer, and an older one is linked")]
    NotInThisVersion {
        /// The C function.
        call: &'static str,
        /// The first version that has it.
        since: &'static str,
    },
    /// Memory for the result could not be had.
    #[error("{what}: no memory for {bytes} bytes")]
    Memory {
        /// What it was for.
        what: &'static str,
        /// Bytes asked for.
        bytes: usize,
    },
    /// The path leads through an external link into another file.
    #[error("{path:?} is an object of another file")]
    OtherFile {
        /// The path as it was given.
        path: String,
    },
    /// A function that libhdf5 called back panicked.
    #[error("{call}: the function called back panicked")]
    CallbackPanicked {
        /// The C function that called back.
        call: &'static str,
    },
    /// The operating system refused.
    #[error("{call}: {source}")]
    Os {
        /// The system call.
        call: &'static str,
        /// Its error.
        source: std::io::Error,
    },
}

impl Error {
    /// Whether any frame of the error stack carries this minor code.
    #[must_use]
    pub fn has_minor(&self, minor: Minor) -> bool {
        matches!(self, Self::Call { stack, .. } if stack.has_minor(minor))
    }
}

/// The error stack of one failed call, innermost frame first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ErrorStack {
    frames: Vec<Frame>,
}

/// One function of libhdf5 that a failure passed through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Name of the C function.
    pub function: String,
    /// Name of the C source file.
    pub file: String,
    /// Line in it, from 1.
    pub line: u32,
    /// Text of the major code: the part of the library.
    pub major: String,
    /// The minor code: the kind of failure.
    pub minor: Minor,
    /// Text of the minor code.
    pub minor_text: String,
    /// What the function said itself.
    pub description: String,
}

/// The minor error codes that callers tell apart (`H5Epubgen.h`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Minor {
    /// `H5E_NOTFOUND`: no such object, link or attribute.
    NotFound,
    /// `H5E_CANTOPENFILE`: the operating system would not open the file.
    CantOpenFile,
    /// `H5E_CANTLOCKFILE`, before it existed `H5E_CANTLOCK`: another process holds the file.
    CantLock,
    /// `H5E_NOTHDF5`: no superblock where one may be.
    NotHdf5,
    /// `H5E_TRUNCATED`: shorter than its superblock says.
    Truncated,
    /// `H5E_NOFILTER`: a filter of the pipeline is not there.
    NoFilter,
    /// `H5E_READERROR`: bytes could not be read.
    Read,
    /// `H5E_WRITEERROR`: bytes could not be written.
    Write,
    /// `H5E_EXISTS`: the name is taken.
    Exists,
    /// `H5E_FILEEXISTS`: there is such a file.
    FileExists,
    /// Any other code; its text is in the frame.
    Other,
}

impl Minor {
    fn of_id(id: hid_t) -> Self {
        let known = [
            (Self::NotFound, *h5e::H5E_NOTFOUND),
            (Self::CantOpenFile, *h5e::H5E_CANTOPENFILE),
            (Self::CantLock, *h5e::H5E_CANTLOCKFILE),
            (Self::CantLock, *h5e::H5E_CANTLOCK),
            (Self::NotHdf5, *h5e::H5E_NOTHDF5),
            (Self::Truncated, *h5e::H5E_TRUNCATED),
            (Self::NoFilter, *h5e::H5E_NOFILTER),
            (Self::Read, *h5e::H5E_READERROR),
            (Self::Write, *h5e::H5E_WRITEERROR),
            (Self::Exists, *h5e::H5E_EXISTS),
            (Self::FileExists, *h5e::H5E_FILEEXISTS),
        ];
        known.iter().find(|(_, code)| *code == id).map_or(Self::Other, |(minor, _)| *minor)
    }
}

impl ErrorStack {
    /// More frames than any version of libhdf5 pushes (`H5E_NSLOTS` is 32 in 1.10).
    const MAX_FRAMES: usize = 256;

    /// Moves the stack of the call that has just failed on this thread out of libhdf5.
    ///
    /// What a thread leaves on its stack when it ends is never released by a thread-safe libhdf5
    /// (Debian's is one), which then complains of an infinite loop when the process ends.
    fn take(_lock: &Lock) -> Self {
        let mut stack = Self::default();
        // SAFETY: the lock is held; `push_frame` gets back the pointer to `stack`, which outlives
        // the walk and is not touched during it.
        unsafe {
            h5e::H5Ewalk2(
                h5e::H5E_DEFAULT,
                h5e::H5E_WALK_UPWARD,
                Some(push_frame),
                (&raw mut stack).cast(),
            );
            h5e::H5Eclear2(h5e::H5E_DEFAULT);
        };
        stack
    }

    /// The frames, innermost first; empty when libhdf5 gave no reason.
    #[must_use]
    pub fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// Whether any frame carries this minor code.
    #[must_use]
    pub fn has_minor(&self, minor: Minor) -> bool {
        self.frames.iter().any(|frame| frame.minor == minor)
    }
}

/// One line: the innermost description, and its minor text.
impl fmt::Display for ErrorStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.frames.first() {
            Some(frame) => {
                // Descriptions of system errors bring line breaks of their own.
                let mut words = frame.description.split_whitespace();
                if let Some(first) = words.next() {
                    f.write_str(first)?;
                }
                words.try_for_each(|word| write!(f, " {word}"))?;
                write!(f, " ({})", frame.minor_text)
            }
            None => f.write_str("no reason given"),
        }
    }
}

/// Appends the frame that libhdf5 shows to the `ErrorStack` behind `data`.
unsafe extern "C" fn push_frame(
    _n: c_uint,
    frame: *const H5E_error2_t,
    data: *mut c_void,
) -> herr_t {
    let copied = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: `data` is the stack that `ErrorStack::take` passed to the walk and does not
        // touch meanwhile; `frame` is valid during this call.
        let (stack, frame) = unsafe { (&mut *data.cast::<ErrorStack>(), &*frame) };
        if stack.frames.len() < ErrorStack::MAX_FRAMES {
            stack.frames.push(Frame {
                function: text(frame.func_name),
                file: text(frame.file_name),
                line: frame.line,
                major: message(frame.maj_num),
                minor: Minor::of_id(frame.min_num),
                minor_text: message(frame.min_num),
                description: text(frame.desc),
            });
        }
    }));
    if copied.is_ok() { 0 } else { -1 }
}

/// A C string of the error stack; null stands for nothing said.
fn text(string: *const c_char) -> String {
    if string.is_null() {
        return String::new();
    }
    // SAFETY: the strings of a frame are null or end in a zero byte and live as long as the frame.
    unsafe { CStr::from_ptr(string) }.to_string_lossy().into_owned()
}

/// Text of a major or minor code.
fn message(id: hid_t) -> String {
    let mut buffer = [0_u8; 128];
    // SAFETY: called in the walk, so under the lock; at most `buffer.len()` bytes are written, the
    // ending zero byte included. The kind of message is not asked for.
    let length = unsafe {
        h5e::H5Eget_msg(id, std::ptr::null_mut(), buffer.as_mut_ptr().cast(), buffer.len())
    };
    match CStr::from_bytes_until_nul(&buffer) {
        Ok(message) if length > 0 => message.to_string_lossy().into_owned(),
        _ => String::new(),
    }
}

/// The error of the call `call` that has just failed.
pub(crate) fn failure(lock: &Lock, call: &'static str) -> Error {
    Error::Call { call, stack: ErrorStack::take(lock) }
}

/// Turns a negative `herr_t`, `hid_t` or count into an error.
pub(crate) fn check<T: PartialOrd + Default>(
    lock: &Lock,
    call: &'static str,
    value: T,
) -> Result<T, Error> {
    if value < T::default() { Err(failure(lock, call)) } else { Ok(value) }
}

/// Turns an `htri_t` into a truth value.
pub(crate) fn check_truth(
    lock: &Lock,
    call: &'static str,
    value: hdf5_sys::h5::htri_t,
) -> Result<bool, Error> {
    check(lock, call, value).map(|value| value > 0)
}
