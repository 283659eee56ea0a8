//! The identity of a path or standard stream, whatever its name: two names of one thing have one [`Identity`].
//!
//! `-`, `/dev/stdout`, `/dev/fd/1` and a file that the shell has opened as the standard output are one thing;
//! so are the names of a file through links.

use std::ffi::OsString;
use std::fs::{self, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// The destination of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// The standard output.
    Stdout,
    /// The standard error output.
    Stderr,
    /// A pipe, a device, or a descriptor that the shell has opened: written as it is.
    Stream(PathBuf),
    /// A regular file, links resolved, that is replaced or created.
    File(PathBuf),
}

/// The key by which two names are recognised as one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Identity {
    /// Device and inode of what exists.
    Node(u64, u64),
    /// A file that does not exist yet: its folder and its name.
    New(Box<Identity>, OsString),
    /// On systems without inodes: the path, links resolved.
    #[cfg(not(unix))]
    Path(PathBuf),
}

/// A thing and what kind of thing it is.
type Identified = (Identity, Medium);

/// The behaviour of results that share a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Medium {
    /// A regular file: what is written replaces what was there.
    File,
    /// A pipe or a socket: what is written twice is mixed.
    Pipe,
    /// A terminal or another device: what is written twice is mixed too, but lines for people may join.
    Device,
    /// The null device: nothing is kept.
    Null,
}

/// A place that is written to or read from.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) target: Target,
    identity: Identity,
    medium: Medium,
}

impl Place {
    /// The place of an output. Fails if it cannot be written there; opens neither pipes nor devices.
    pub(super) fn of_output(path: &Path) -> io::Result<Self> {
        if path.as_os_str() == "-" {
            return Ok(Self::new(Target::Stdout, identify_stream(io::stdout())?));
        }
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Self::of_new(path, error),
            Err(error) => return Err(error),
        };
        if metadata.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder; name a file in it"));
        }
        let identified = identify(path, &metadata)?;
        // What the shell has opened for us must not be replaced while it is written to. (The null device is nobody's.)
        let is_named = identified.1 != Medium::Null || names_descriptor(path);
        let is_stream = |stream: io::Result<Identified>| {
            is_named && stream.is_ok_and(|(identity, _)| identity == identified.0)
        };
        if is_stream(identify_stream(io::stdout())) {
            return Ok(Self::new(Target::Stdout, identified));
        }
        if is_stream(identify_stream(io::stderr())) {
            return Ok(Self::new(Target::Stderr, identified));
        }
        if !metadata.is_file() || names_descriptor(path) {
            #[cfg(unix)]
            rustix::fs::access(path, rustix::fs::Access::WRITE_OK)?;
            return Ok(Self::new(Target::Stream(path.to_owned()), identified));
        }
        // Renaming needs no right to write to the file, but it would be rude to replace a protected one.
        OpenOptions::new().write(true).open(path)?;
        Ok(Self::new(Target::File(fs::canonicalize(path)?), identified))
    }

    /// The place of an input; fails if it does not exist.
    pub(super) fn of_input(path: &Path) -> io::Result<Self> {
        let identified = match path.as_os_str() == "-" {
            true => identify_stream(io::stdin())?,
            false => identify(path, &fs::metadata(path)?)?,
        };
        Ok(Self::new(Target::Stream(path.to_owned()), identified))
    }

    fn new(target: Target, (identity, medium): Identified) -> Self {
        Self { target, identity, medium }
    }

    /// A file that is still to be created.
    fn of_new(path: &Path, missing: io::Error) -> io::Result<Self> {
        let path = follow_links(path)?;
        let Some(name) = path.file_name() else { return Err(missing) };
        if names_folder(&path) {
            return Err(io::Error::new(missing.kind(), "there is no such folder; name a file"));
        }
        let folder = fs::canonicalize(folder_of(&path))?;
        let (of_folder, _) = identify(&folder, &fs::metadata(&folder)?)?;
        let identity = Identity::New(Box::new(of_folder), name.to_owned());
        Ok(Self::new(Target::File(folder.join(name)), (identity, Medium::File)))
    }

    /// Returns whether results written to both would be mixed or lost.
    pub(super) fn collides(&self, other: &Self) -> bool {
        self.identity == other.identity && self.medium != Medium::Null
    }

    /// Returns whether this is a regular file that writing to `other` would overwrite.
    pub(super) fn is_overwritten_by(&self, other: &Self) -> bool {
        self.identity == other.identity && self.medium == Medium::File
    }

    /// Returns whether lines for people on the standard output would get into what is written here.
    pub(super) fn is_stdout(&self) -> bool {
        self.target == Target::Stdout || self.gets_lines_of(identify_stream(io::stdout()))
    }

    /// Returns whether lines for people on the standard error output would get into what is written here.
    pub(super) fn is_stderr(&self) -> bool {
        self.target == Target::Stderr || self.gets_lines_of(identify_stream(io::stderr()))
    }

    fn gets_lines_of(&self, stream: io::Result<Identified>) -> bool {
        let is_kept = matches!(self.medium, Medium::File | Medium::Pipe);
        is_kept && stream.is_ok_and(|(identity, _)| identity == self.identity)
    }
}

/// Returns whether two inputs (`-` is stdin) are one pipe or device, whose content only one reader gets.
pub fn are_one_stream(first: &Path, second: &Path) -> bool {
    let are_dashes = [first, second].iter().all(|path| path.as_os_str() == "-");
    are_dashes
        || match (Place::of_input(first), Place::of_input(second)) {
            (Ok(first), Ok(second)) => first.identity == second.identity && first.medium != Medium::File,
            _ => false,
        }
}

/// Returns whether an input (`-` is stdin) can be read only once: it is no regular file, or it has no name of its own.
pub fn is_stream(path: &Path) -> bool {
    path.as_os_str() == "-" || Place::of_input(path).is_ok_and(|place| place.medium != Medium::File)
}

/// The folder that holds a path.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Returns whether a path can only be a folder: it ends in a separator, or in a dot behind one.
fn names_folder(path: &Path) -> bool {
    let text = path.as_os_str().as_encoded_bytes();
    let last = text.rsplit(|&byte| std::path::is_separator(char::from(byte))).next();
    matches!(last, Some(b"" | b"."))
}

/// The number of links in a row that Linux follows.
const MAX_LINKS: usize = 40;

/// The path where a symbolic link to a missing file would have it created.
fn follow_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(next) => path = folder_of(&path).join(next),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// Returns whether a path is a name of an open descriptor, such as `/dev/fd/5`.
fn names_descriptor(path: &Path) -> bool {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        if let Ok(folder) = fs::canonicalize(folder_of(&path))
            && (folder.starts_with("/proc") || folder.starts_with("/dev"))
            && folder.ends_with("fd")
        {
            return true;
        }
        match fs::read_link(&path) {
            Ok(next) => path = folder_of(&path).join(next),
            Err(_) => return false,
        }
    }
    false
}

#[cfg(unix)]
use std::os::fd::AsFd;

/// Returns the identity of a standard stream.
#[cfg(unix)]
fn identify_stream(stream: impl AsFd) -> io::Result<Identified> {
    let file = std::fs::File::from(stream.as_fd().try_clone_to_owned()?);
    identify(Path::new("-"), &file.metadata()?)
}

/// Returns the identity of a path with these metadata.
#[cfg(unix)]
fn identify(_: &Path, metadata: &Metadata) -> io::Result<Identified> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let kind = metadata.file_type();
    let is_null = || fs::metadata("/dev/null").is_ok_and(|null| null.rdev() == metadata.rdev());
    let medium = match () {
        () if kind.is_file() || kind.is_dir() => Medium::File,
        () if kind.is_char_device() && is_null() => Medium::Null,
        () if kind.is_char_device() || kind.is_block_device() => Medium::Device,
        () => Medium::Pipe,
    };
    Ok((Identity::Node(metadata.dev(), metadata.ino()), medium))
}

/// Returns an identity of its own for each standard stream, on systems without inodes.
#[cfg(not(unix))]
fn identify_stream<S: std::fmt::Debug>(stream: S) -> io::Result<Identified> {
    Ok((Identity::Path(format!("{stream:?}").into()), Medium::Pipe))
}

#[cfg(not(unix))]
fn identify(path: &Path, metadata: &Metadata) -> io::Result<Identified> {
    let medium = if metadata.is_file() || metadata.is_dir() { Medium::File } else { Medium::Device };
    Ok((Identity::Path(fs::canonicalize(path)?), medium))
}
