use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Stdout, Write, stdout};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

use tempfile::{Builder, NamedTempFile};

use crate::failure::Failure;

/// The name that stands for standard output.
const STDOUT: &str = "-";

/// Bytes gathered before they are written.
const BUFFER: usize = 1 << 16;

/// Exit code of an interrupted program: 128 and the number of SIGINT.
const INTERRUPTED: i32 = 130;

/// The file that an interrupted run must not leave behind.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Where elements are written.
///
/// A file comes into being at the end and at once: it is written under another name beside its place,
/// and moved there when it is complete.
#[derive(Debug)]
pub(crate) struct Target {
    name: PathBuf,
    sink: Sink,
}

#[derive(Debug)]
enum Sink {
    Stdout(BufWriter<Stdout>),
    /// A file that becomes `place`.
    New {
        file: BufWriter<NamedTempFile>,
        place: PathBuf,
    },
    /// A device or a pipe, which cannot be replaced.
    Device(BufWriter<File>),
}

impl Target {
    /// Opens a place for output; `None` and `-` are standard output. `input` is the file that is read.
    pub(crate) fn open(output: Option<&Path>, input: &Path) -> Result<Self, Failure> {
        let Some(name) = output.filter(|path| *path != Path::new(STDOUT)) else {
            let sink = Sink::Stdout(BufWriter::with_capacity(BUFFER, stdout()));
            return Ok(Self { name: "standard output".into(), sink });
        };
        let failure = |error| Failure::output(name)(error);
        // What a link points to is replaced, not the link.
        let place = fs::canonicalize(name).unwrap_or_else(|_| name.to_owned());
        if fs::canonicalize(input).is_ok_and(|input| input == place) {
            return Err(Failure::OutputIsInput { target: name.to_owned() });
        }
        let sink = match fs::metadata(&place) {
            Ok(found) if found.is_dir() => {
                return Err(failure(io::Error::from(io::ErrorKind::IsADirectory)));
            }
            Ok(found) if !found.is_file() => {
                let file = File::options().write(true).open(&place).map_err(failure)?;
                Sink::Device(BufWriter::with_capacity(BUFFER, file))
            }
            _ => {
                let file = temporary_beside(&place).map_err(failure)?;
                Sink::New { file: BufWriter::with_capacity(BUFFER, file), place }
            }
        };
        Ok(Self { name: name.to_owned(), sink })
    }

    /// Whether a person would see the bytes.
    pub(crate) fn is_terminal(&self) -> bool {
        matches!(&self.sink, Sink::Stdout(out) if out.get_ref().is_terminal())
    }

    /// Ends the output and puts a file in its place.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let failure = Failure::output(self.name);
        let finish = || match self.sink {
            Sink::Stdout(mut out) => out.flush(),
            Sink::Device(mut out) => out.flush(),
            Sink::New { file, place } => {
                let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
                file.persist(place).map_err(|error| error.error)?;
                remember(None);
                Ok(())
            }
        };
        finish().map_err(failure)
    }

    /// Names the target of a failed write.
    pub(crate) fn failure(&self) -> impl Fn(io::Error) -> Failure + use<> {
        let name = self.name.clone();
        move |error| Failure::output(&name)(error)
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.sink {
            Sink::Stdout(out) => out.write(bytes),
            Sink::New { file, .. } => file.write(bytes),
            Sink::Device(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Stdout(out) => out.flush(),
            Sink::New { file, .. } => file.flush(),
            Sink::Device(out) => out.flush(),
        }
    }
}

/// A new file in the folder of `place`, which goes away unless it is kept.
fn temporary_beside(place: &Path) -> io::Result<NamedTempFile> {
    let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    fs::metadata(folder)?;
    let mut builder = Builder::new();
    builder.prefix(".h5strata-").suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any new file: the user's mask takes away what it does.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    // The temporary name in the error would tell the user nothing.
    let file = builder.tempfile_in(folder).map_err(|error| io::Error::from(error.kind()))?;
    remember(Some(file.path().to_owned()));
    remove_when_interrupted();
    Ok(file)
}

fn remember(path: Option<PathBuf>) {
    *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = path;
}

/// A signal ends the program without running destructors: this removes the unfinished file first.
fn remove_when_interrupted() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Without a handler the file stays behind under its temporary name, which is no harm.
        drop(ctrlc::set_handler(|| {
            if let Some(path) = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).take() {
                drop(fs::remove_file(path));
            }
            std::process::exit(INTERRUPTED);
        }));
    });
}
