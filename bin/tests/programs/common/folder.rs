//! Folders in which programs run.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;

use super::{failure_of, instance, program, said_by, stdout_of};

/// A temporary folder. Commands in it are written as in a shell: words are separated by blanks, unless these stand between single quotes.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A folder with these files.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self::new();
        files.iter().for_each(|(name, text)| folder.write(name, text));
        folder
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub fn has(&self, name: &str) -> bool {
        self.file(name).exists()
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.file(name), content).unwrap();
    }

    /// Writes a line for each item.
    pub fn write_lines<T: ToString>(&self, name: &str, items: impl IntoIterator<Item = T>) {
        self.write(name, items.into_iter().map(|item| item.to_string() + "\n").collect::<String>());
    }

    /// Copies a file of `instances/`.
    pub fn copy(&self, name: &str, to: &str) {
        fs::copy(instance(name), self.file(to)).unwrap();
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.file(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn read(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    /// The numbers in a file, one on each line.
    pub fn numbers(&self, name: &str) -> Vec<usize> {
        self.read(name).lines().map(|line| line.parse().unwrap()).collect()
    }

    /// A report that `--json` wrote.
    pub fn report(&self, name: &str) -> Value {
        serde_json::from_slice(&self.bytes(name)).unwrap()
    }

    /// The program that the first word of a command names, with the other words as arguments.
    pub fn command(&self, line: impl AsRef<str>) -> Command {
        let words = words(line.as_ref());
        let mut command = program(&words[0], self.path());
        command.args(&words[1..]);
        command
    }

    /// The stdout of a command, which must succeed.
    pub fn stdout(&self, line: impl AsRef<str>) -> String {
        stdout_of(&mut self.command(line))
    }

    /// The stderr of a command, which must succeed.
    pub fn stderr(&self, line: impl AsRef<str>) -> String {
        said_by(&mut self.command(line)).1
    }

    /// The stderr of a command, which must fail with `code` and say this.
    #[track_caller]
    pub fn fails(&self, line: impl AsRef<str>, code: i32, expected: &str) -> String {
        let message = failure_of(&mut self.command(line.as_ref()), code);
        assert!(message.contains(expected), "{}: `{expected}` is not in:\n{message}", line.as_ref());
        message
    }
}

/// The words of a command.
pub fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for (index, piece) in line.split('\'').enumerate() {
        let mut parts = if index % 2 == 0 { piece.split(' ').collect() } else { vec![piece] }.into_iter();
        words.last_mut().unwrap().extend(parts.next());
        words.extend(parts.map(str::to_owned));
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A file of `instances/` as a word of a command.
pub fn given(name: &str) -> String {
    format!("'{}'", instance(name).display())
}
