//! The programs, run as a user runs them.

use std::path::Path;
use std::process;

use assert_cmd::Command;

/// A machine of 64 PEs, as options.
pub const MACHINE: &str = "--machine=4:4:4 --distances=1:10:100";

/// A program of this package, to be run in `folder`.
pub fn program(name: &str, folder: &Path) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("viem").with_file_name(name));
    command.current_dir(folder);
    command
}

/// The same program with the same arguments, to be watched while it runs.
pub fn to_spawn(command: &Command, folder: &Path) -> process::Command {
    let mut spawned = process::Command::new(command.get_program());
    spawned.args(command.get_args()).current_dir(folder);
    spawned
}

/// The stdout of a command, which must succeed.
pub fn stdout_of(command: &mut Command) -> String {
    said_by(command).0
}

/// The stdout and the stderr of a command, which must succeed.
pub fn said_by(command: &mut Command) -> (String, String) {
    let output = command.assert().success().get_output().clone();
    let text = |bytes| String::from_utf8(bytes).expect("programs print UTF-8");
    (text(output.stdout), text(output.stderr))
}

/// Asserts that a text holds all of these.
#[track_caller]
pub fn says(text: &str, expected: impl IntoIterator<Item: AsRef<str>>) {
    for expected in expected {
        let expected = expected.as_ref();
        assert!(text.contains(expected), "`{expected}` is not in:\n{text}");
    }
}

/// The stderr of a command, which must fail with `code`.
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

/// The text between the first occurrences of two texts.
pub fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let rest = text.split_once(start).map(|(_, rest)| rest);
    let found = rest.and_then(|rest| rest.split_once(end)).map(|(found, _)| found);
    found.unwrap_or_else(|| panic!("nothing between `{start}` and `{end}` in:\n{text}"))
}

/// A figure of a summary, of the result, by its label.
pub fn figure<'a>(text: &'a str, label: &str) -> &'a str {
    let rest = after(text, &format!("{label}  "));
    let is_number = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit() || b".-".contains(&byte));
    let mut numbers: Vec<&str> = rest.split_whitespace().take_while(is_number).collect();
    if rest.split_whitespace().nth(numbers.len()) == Some("%") {
        numbers.pop();
    }
    numbers.pop().unwrap_or_else(|| panic!("no figure in `{rest}`"))
}

/// J of the mapping that a verb printed.
pub fn objective(text: &str) -> i64 {
    figure(text, "J").parse().unwrap()
}
