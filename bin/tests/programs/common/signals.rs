//! Runs that receive signals.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{self, Child, ChildStdout, Stdio};

use super::{Folder, to_spawn};

/// A run of a command that has just printed a line with this beginning.
pub fn start(folder: &Folder, line: &str, beginning: &str) -> (Child, BufReader<ChildStdout>) {
    let mut command = to_spawn(&folder.command(line), folder.path());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut printed = String::new();
    while !printed.starts_with(beginning) {
        printed.clear();
        assert!(lines.read_line(&mut printed).unwrap() > 0, "the program ended early");
    }
    (child, lines)
}

/// Sends a signal, given by its name for `kill`.
pub fn send(child: &Child, signal: &str) {
    let status = process::Command::new("kill").arg(signal).arg(child.id().to_string()).status().unwrap();
    assert!(status.success());
}

/// The output of a run after a signal. A shell that runs a loop must see that Ctrl-C ended the program; a
/// batch system takes a result for success.
pub fn told_after(signal: &str, (mut child, mut lines): (Child, BufReader<ChildStdout>)) -> String {
    send(&child, signal);
    let mut text = String::new();
    lines.read_to_string(&mut text).unwrap();
    let status = child.wait().unwrap();
    match signal {
        "-INT" => assert_eq!(status.signal(), Some(2)),
        _ => assert!(status.success(), "{signal}: {status}"),
    }
    text
}
