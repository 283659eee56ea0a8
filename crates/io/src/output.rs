//! The outputs of a run: probed before any work, written whole or not at all, replaced last.
//!
//! [`Outputs`] holds where each output goes. What cannot be written, two outputs in one place, and an output that would
//! overwrite an input are refused before any work. At the end, all files are written under temporary names in the
//! folders in which they belong ([`Outputs::stage`]); then pipes and devices are written; and only then are the files
//! renamed ([`Staged::publish`]). So a failure before that leaves every file as it was, and no reader ever sees half a
//! file. What replaces a file is forced to the disk first, so that even a machine that stops keeps one of the two; a new file has none to lose,
//! and forcing it takes longer than partitioning ten thousand vertices. A replaced file keeps its permissions and, where the system lets us, its
//! owner. Through a symbolic link the file it points to is replaced and the link stays.
//!
//! Some steps are not atomic: several files are renamed one after the other; what pipes and devices were sent cannot be taken back; and a file
//! that cannot be renamed to (a mount point, another user's file in a sticky folder, a file in a folder that cannot be
//! written to) is written in place. If that fails too, the result stays under the name that the error states.
//!
//! # Design
//!
//! - *All outputs of a run are one value* (`crates/io/src/output.rs`). It compares what paths and descriptors refer to (`crates/io/src/place.rs`: device and inode),
//!   not their names, stages all files, and publishes them last. The four programs write results in no other way. The auditor reads the staged
//!   files, before anything is replaced.
//! - *A program ends in one place* (`bin/src/exit.rs`): with a code, or by the signal that asked for it (`bin/src/signals.rs`). A thread waits
//!   for signals, because a handler must not remove the progress line.
//! - *Running out of memory* in arrays as large as the input is an error like any other (`base/memory.rs`). Elsewhere Rust aborts; the
//!   programs turn that abort into the same exit code, unless something has panicked before.
//! - *Files of other kinds* are recognised in one place (`crates/io/src/recognise.rs`), whichever reader is given them.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use super::place::{Place, Target, folder_of};
use viem::base::error::{ErrorKind, HasKind};

/// The reason why an output was refused or not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum WriteError {
    /// There can be no such file: the folder is missing or may not be written to, or the name is taken.
    #[error("{file}: cannot be created: {source}")]
    CannotCreate { file: String, source: io::Error },
    /// Two outputs in one place would be mixed, or one lost.
    #[error(
        "two outputs cannot go to the same place: {first} and {second}; name another file for one of them"
    )]
    SamePlace { first: String, second: String },
    /// The output would replace what the run reads.
    #[error("{file}: this output would overwrite the input {input}; name another file")]
    OverwritesInput { file: String, input: String },
    /// Writing began and failed: the disk is full, or a limit is reached.
    #[error("{file}: cannot be written: {source}")]
    WriteFailed { file: String, source: io::Error },
    /// All was written, but not in its place.
    #[error("{file}: cannot be written: {source}; the result was kept as {kept}")]
    Kept { file: String, source: io::Error, kept: String },
}

impl HasKind for WriteError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::CannotCreate { .. } => ErrorKind::CannotCreate,
            Self::SamePlace { .. } | Self::OverwritesInput { .. } => ErrorKind::Usage,
            Self::WriteFailed { .. } | Self::Kept { .. } => ErrorKind::CannotWrite,
        }
    }
}

/// A function that writes the content of an output.
pub type Fill<'a> = &'a dyn Fn(&mut dyn Write) -> io::Result<()>;

/// An output, if it was asked for, and what fills it.
pub type Content<'a> = (Option<OutputId>, Fill<'a>);

/// One of the [`Outputs`] of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputId(usize);

/// The outputs of a run.
#[derive(Clone, Debug, Default)]
pub struct Outputs {
    places: Vec<(String, Place)>,
    /// Those that are run.
    programs: Vec<OutputId>,
}

impl Outputs {
    /// No output yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an output: a file, a pipe, a device, or the standard output if the path is `-`.
    ///
    /// Refused if it cannot be written, if an earlier output goes to the same place, or if it would overwrite one of
    /// `inputs`, whatever their names. Changes nothing that lasts, and opens neither pipes nor devices.
    pub fn add(&mut self, path: &Path, inputs: &[&Path]) -> Result<OutputId, WriteError> {
        let file = name(path);
        let cannot_create = |source| WriteError::CannotCreate { file: file.clone(), source };
        let place = Place::of_output(path).map_err(cannot_create)?;
        if let Some((first, _)) = self.places.iter().find(|(_, other)| place.collides(other)) {
            return Err(WriteError::SamePlace { first: first.clone(), second: file });
        }
        let is_overwritten =
            |input: &&&Path| Place::of_input(input).is_ok_and(|input| input.is_overwritten_by(&place));
        if let Some(input) = inputs.iter().find(is_overwritten) {
            return Err(WriteError::OverwritesInput { file, input: input.display().to_string() });
        }
        if let Target::File(path) = &place.target {
            create_temporary(path).map_err(cannot_create)?;
        }
        self.places.push((file, place));
        Ok(OutputId(self.places.len() - 1))
    }

    /// Makes the output executable for everyone who may read it, if it is a file.
    pub fn make_program(&mut self, id: OutputId) {
        self.programs.push(id);
    }

    /// Returns the name of an output in messages.
    pub fn name(&self, id: OutputId) -> &str {
        &self.places[id.0].0
    }

    /// Returns whether an output is a regular file of its own, which can be read again.
    pub fn is_file(&self, id: OutputId) -> bool {
        matches!(self.places[id.0].1.target, Target::File(_))
    }

    /// Returns whether lines on the standard output would get into an output.
    pub fn use_stdout(&self) -> bool {
        self.places.iter().any(|(_, place)| place.is_stdout())
    }

    /// Returns whether lines on the standard error output would get into an output.
    pub fn use_stderr(&self) -> bool {
        self.places.iter().any(|(_, place)| place.is_stderr())
    }

    /// Writes all that goes to files, under temporary names, which vanish unless the files are published.
    pub fn stage<'a>(&'a self, contents: &'a [Content<'a>]) -> Result<Staged<'a>, WriteError> {
        let mut files = Vec::new();
        for (id, file, place, fill) in self.of(contents) {
            if let Target::File(path) = &place.target {
                let failed = |source| WriteError::WriteFailed { file: file.to_owned(), source };
                let temporary = write_temporary(path, fill).map_err(failed)?;
                if self.programs.contains(&id) {
                    let_run(temporary.as_file()).map_err(failed)?;
                }
                files.push((id, path.as_path(), temporary));
            }
        }
        Ok(Staged { outputs: self, contents, files })
    }

    /// Each output that there is: its name, its place, and what fills it.
    fn of<'a>(
        &'a self,
        contents: &'a [Content<'a>],
    ) -> impl Iterator<Item = (OutputId, &'a str, &'a Place, Fill<'a>)> {
        contents.iter().filter_map(|&(id, fill)| {
            let id = id?;
            let (name, place) = &self.places[id.0];
            Some((id, name.as_str(), place, fill))
        })
    }

    /// Writes all outputs.
    pub fn write(&self, contents: &[Content<'_>]) -> Result<(), WriteError> {
        self.stage(contents)?.publish()
    }
}

/// Outputs that are written but not yet where they shall be.
pub struct Staged<'a> {
    outputs: &'a Outputs,
    contents: &'a [Content<'a>],
    files: Vec<(OutputId, &'a Path, NamedTempFile)>,
}

impl Staged<'_> {
    /// Returns the path at which the content of an output is now, if it is a regular file.
    pub fn path(&self, id: OutputId) -> Option<&Path> {
        self.files.iter().find(|(of, ..)| *of == id).map(|(.., temporary)| temporary.path())
    }

    /// Writes pipes and devices, then puts the files where they belong.
    ///
    /// A pipe whose reader has gone is no failure. Of the files, as many as possible are put in place; the first error
    /// is returned.
    pub fn publish(self) -> Result<(), WriteError> {
        for (_, file, place, fill) in self.outputs.of(self.contents) {
            match write_stream(&place.target, fill) {
                Err(source) if source.kind() != io::ErrorKind::BrokenPipe => {
                    return Err(WriteError::WriteFailed { file: file.to_owned(), source });
                }
                _ => {}
            }
        }
        let mut result = Ok(());
        for (id, path, temporary) in self.files {
            result = result.and(replace(temporary, path, self.outputs.name(id)));
        }
        result
    }
}

fn name(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard output".to_owned() } else { path.display().to_string() }
}

fn write_stream(target: &Target, fill: Fill<'_>) -> io::Result<()> {
    match target {
        Target::Stdout => fill_buffered(io::stdout().lock(), fill),
        Target::Stderr => fill_buffered(io::stderr().lock(), fill),
        // A descriptor may stand for a file that holds something already.
        Target::Stream(path) => fill_buffered(OpenOptions::new().append(true).open(path)?, fill),
        Target::File(_) => Ok(()),
    }
}

fn fill_buffered(out: impl Write, fill: Fill<'_>) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    fill(&mut out)?;
    out.flush()
}

/// An empty temporary file, with the permissions of any new file, that vanishes when it is dropped: in the folder of `path`, or if that is not
/// possible and `path` can be written in place, in the folder for temporary files.
fn create_temporary(path: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".viem-").suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(<Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o666));
    builder.tempfile_in(folder_of(path)).or_else(|error| match path.exists() {
        true => builder.tempfile_in(std::env::temp_dir()).map_err(|_| error),
        false => Err(error),
    })
}

/// A temporary file with this content. If there is a file at `path`, it has the attributes of that and is safe on the disk.
fn write_temporary(path: &Path, fill: Fill<'_>) -> io::Result<NamedTempFile> {
    let mut temporary = create_temporary(path)?;
    fill_buffered(temporary.as_file_mut(), fill)?;
    let file = temporary.as_file();
    match fs::metadata(path) {
        Ok(replaced) => {
            keep_attributes(file, &replaced)?;
            file.sync_all()?;
        }
        Err(_) => close(file.try_clone()?)?,
    }
    Ok(temporary)
}

/// Closes a file, and returns what dropping it would hide: network file systems write then, and may have no room.
#[cfg(unix)]
#[allow(unsafe_code)]
fn close(file: File) -> io::Result<()> {
    let descriptor = std::os::fd::IntoRawFd::into_raw_fd(file);
    // SAFETY: nobody else owns the descriptor, and it is not used again.
    Ok(unsafe { rustix::io::try_close(descriptor) }?)
}

#[cfg(not(unix))]
fn close(file: File) -> io::Result<()> {
    file.sync_all()
}

/// Puts a temporary file at `path`: by renaming, else by writing in place, else it keeps its name.
fn replace(temporary: NamedTempFile, path: &Path, file: &str) -> Result<(), WriteError> {
    let Err(error) = temporary.persist(path) else { return Ok(()) };
    let mut temporary = error.file;
    let Err(source) = write_in_place(temporary.as_file_mut(), path) else { return Ok(()) };
    let file = file.to_owned();
    match temporary.keep() {
        Ok((_, kept)) => Err(WriteError::Kept { file, source, kept: kept.display().to_string() }),
        Err(_) => Err(WriteError::WriteFailed { file, source }),
    }
}

fn write_in_place(content: &mut File, path: &Path) -> io::Result<()> {
    content.rewind()?;
    // Some systems do not let one "create" another user's file that is there already.
    let mut how = OpenOptions::new();
    how.write(true).truncate(true).create(!path.exists());
    let mut out = how.open(path)?;
    io::copy(content, &mut out)?;
    out.sync_all()
}

#[cfg(unix)]
fn let_run(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = file.metadata()?.permissions().mode();
    file.set_permissions(Permissions::from_mode(mode | (mode & 0o444) >> 2))
}

#[cfg(not(unix))]
fn let_run(_: &File) -> io::Result<()> {
    Ok(())
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
