//! Outputs that are written whole or not at all.
//!
//! A regular file is written under a temporary name in the folder where it shall stand and renamed: whatever
//! fails, the file that stood there is untouched, and no reader ever sees half a file. It is not forced to the
//! disk, which would take longer than mapping some hundred processes; the common file systems order the
//! content of a renamed file before its name themselves. A replaced file keeps its permissions and, where the system lets us, its owner. Through a
//! symbolic link the file it points to is replaced and the link stays. What cannot be renamed to (pipes,
//! devices, the standard output under whatever name) is written directly.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// Why an output was not written.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum WriteError {
    /// There can be no such file: the folder is missing or may not be written to, or the name is taken.
    #[error("{file}: cannot be created: {source}")]
    CannotCreate { file: String, source: io::Error },
    /// Writing began and failed: the disk is full, or who was to read has gone.
    #[error("{file}: cannot be written: {source}")]
    WriteFailed { file: String, source: io::Error },
}

impl WriteError {
    /// Whether the output was a pipe that nobody reads any more, which is no news to the user.
    pub fn is_broken_pipe(&self) -> bool {
        let (Self::CannotCreate { source, .. } | Self::WriteFailed { source, .. }) = self;
        source.kind() == io::ErrorKind::BrokenPipe
    }
}

/// Where an output goes.
enum Target {
    /// The standard output.
    Stdout,
    /// The standard error output.
    Stderr,
    /// A pipe or a device: opened and written as it is.
    Direct(PathBuf),
    /// A file that does not exist yet.
    New(PathBuf),
    /// A regular file, to be replaced.
    Replaced(PathBuf, Metadata),
}

/// Writes with `fill` to a file, a pipe, a device, or the standard output if the path is `-`.
pub fn write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), WriteError> {
    let cannot_create = |source| WriteError::CannotCreate { file: name(path), source };
    let write_failed = |source| WriteError::WriteFailed { file: name(path), source };
    let target = resolve(path).map_err(cannot_create)?;
    match &target {
        Target::Stdout => fill_buffered(io::stdout().lock(), fill).map_err(write_failed),
        Target::Stderr => fill_buffered(io::stderr().lock(), fill).map_err(write_failed),
        Target::Direct(path) => {
            let file = OpenOptions::new().write(true).open(path).map_err(cannot_create)?;
            fill_buffered(file, fill).map_err(write_failed)
        }
        Target::New(path) | Target::Replaced(path, _) => {
            let mut temporary = create_beside(path).map_err(cannot_create)?;
            fill_buffered(temporary.as_file_mut(), fill).map_err(write_failed)?;
            if let Target::Replaced(_, replaced) = &target {
                keep_attributes(temporary.as_file(), replaced).map_err(write_failed)?;
            }
            temporary.persist(path).map_err(|error| write_failed(error.error))?;
            Ok(())
        }
    }
}

/// Whether a path names the standard output: `-`, or what systems call it.
pub fn is_standard_output(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name))
}

/// Finds out whether [`write()`] could create the output, so that no long work is done for nothing; returns the file that
/// it would create or replace, links resolved, if it is one.
///
/// Changes nothing that lasts, and opens neither pipes nor devices.
pub fn probe(path: &Path) -> Result<Option<PathBuf>, WriteError> {
    let created = resolve(path).and_then(|target| match target {
        Target::Stdout | Target::Stderr | Target::Direct(_) => Ok(None),
        Target::New(path) | Target::Replaced(path, _) => {
            create_beside(&path)?;
            let name = path.file_name().map(PathBuf::from).unwrap_or_default();
            Ok(Some(fs::canonicalize(folder_of(&path))?.join(name)))
        }
    });
    created.map_err(|source| WriteError::CannotCreate { file: name(path), source })
}

fn name(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard output".to_owned() } else { path.display().to_string() }
}

fn resolve(path: &Path) -> io::Result<Target> {
    if is_standard_output(path) {
        return Ok(Target::Stdout);
    }
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let path = follow_links(path)?;
            return if path.file_name().is_some() { Ok(Target::New(path)) } else { Err(error) };
        }
        Err(error) => return Err(error),
    };
    if metadata.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder; name a file in it"));
    }
    if !metadata.is_file() {
        return Ok(Target::Direct(path.to_owned()));
    }
    // The file that the shell has opened for us must not be replaced while we write to it.
    if is_same_file(&metadata, io::stdout()) {
        return Ok(Target::Stdout);
    }
    if is_same_file(&metadata, io::stderr()) {
        return Ok(Target::Stderr);
    }
    // Renaming needs no right to write to the file, but it would be rude to replace a protected one.
    OpenOptions::new().write(true).open(path)?;
    Ok(Target::Replaced(fs::canonicalize(path)?, metadata))
}

/// The path where a symbolic link to a missing file would have it created.
fn follow_links(path: &Path) -> io::Result<PathBuf> {
    /// As many links in a row as Linux follows.
    const MAX_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(next) => path = folder_of(&path).join(next),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

#[cfg(unix)]
fn is_same_file(metadata: &Metadata, stream: impl std::os::fd::AsFd) -> bool {
    use std::os::unix::fs::MetadataExt;
    let opened = stream.as_fd().try_clone_to_owned().and_then(|stream| File::from(stream).metadata());
    opened.is_ok_and(|opened| (opened.dev(), opened.ino()) == (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn is_same_file<S>(_: &Metadata, _: S) -> bool {
    false
}

/// A temporary file in the folder of `path`, with the permissions of any new file; it vanishes when it is
/// dropped.
fn create_beside(path: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".viem-").suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(<Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o666));
    builder.tempfile_in(folder_of(path))
}

#[cfg(unix)]
fn keep_attributes(file: &File, replaced: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (replaced.uid(), replaced.gid()) {
        // Only the superuser may give files away; for others the file becomes theirs.
        let _ = fchown(file, Some(replaced.uid()), Some(replaced.gid()));
    }
    file.set_permissions(replaced.permissions())
}

#[cfg(not(unix))]
fn keep_attributes(file: &File, replaced: &Metadata) -> io::Result<()> {
    file.set_permissions(replaced.permissions())
}

fn fill_buffered(out: impl Write, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    fill(&mut out)?;
    out.flush()
}
