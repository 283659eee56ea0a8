//! What the tests of the programs share.

#![allow(dead_code)] // each test program uses a part of it

mod stop_after;

use std::path::{Path, PathBuf};

use assert_cmd::Command;

#[allow(unused_imports)] // as above
pub use stop_after::StopAfter;

/// A program of this package, to be run in `folder`.
pub fn program(name: &str, folder: &Path) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("viem").with_file_name(name));
    command.current_dir(folder);
    command
}

/// A file of `instances/`.
pub fn instance(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("instances").join(name)
}

/// What a command printed to stdout, once it has succeeded.
pub fn stdout_of(command: &mut Command) -> String {
    let output = command.assert().success().get_output().stdout.clone();
    String::from_utf8(output).expect("programs print UTF-8")
}

/// What a command printed to stderr, once it has failed with `code` and printed nothing to stdout about it.
pub fn failure_of(command: &mut Command, code: i32) -> String {
    let output = command.assert().code(code).get_output().stderr.clone();
    let message = String::from_utf8(output).expect("programs print UTF-8");
    assert!(!message.trim().is_empty(), "a failure says why");
    assert!(!message.contains("panicked"), "{message}");
    message
}

/// The rest of the line that starts with `prefix`.
pub fn after<'a>(text: &'a str, prefix: &str) -> &'a str {
    let line = text.lines().find_map(|line| line.strip_prefix(prefix));
    line.unwrap_or_else(|| panic!("no line starts with `{prefix}` in:\n{text}")).trim()
}
