//! The tutorial is true: its commands are run as they stand, and print what stands below them.
//!
//! In a block of docs/TUTORIAL.md that begins with ```console, a line after `$ ` is a command, and the lines below it are in what it
//! prints, in this order. A line `…` stands for any lines, and `…` in a line for any text.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{instance, program, without_job};

/// A command and what is below it.
struct Step {
    command: String,
    output: Vec<String>,
}

fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let blocks = text.split("```console\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    for line in blocks.flat_map(str::lines) {
        match line.strip_prefix("$ ") {
            Some(command) => steps.push(Step { command: command.to_owned(), output: Vec::new() }),
            None => steps.last_mut().expect("a block begins with a command").output.push(line.to_owned()),
        }
    }
    steps
}

fn run(command: &str, folder: &Path) -> String {
    let programs = Path::new(program("viem", folder).get_program()).parent().unwrap().to_owned();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("bash");
    without_job(&mut shell);
    shell.env("PATH", format!("{}:{path}", programs.display()));
    shell.args(["-e", "-o", "pipefail", "-c", command]).current_dir(folder).stdin(Stdio::null());
    let output = shell.output().unwrap();
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{command}\n{text}");
    text
}

/// Whether a line is like one in which `…` stands for any text.
fn is_like(line: &str, pattern: &str) -> bool {
    let parts: Vec<&str> = pattern.split('…').collect();
    let Some(mut rest) = line.strip_prefix(parts[0]) else { return false };
    for part in &parts[1..] {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.is_empty() || pattern.ends_with('…')
}

#[test]
fn the_tutorial_is_true() {
    let text = include_str!("../docs/TUTORIAL.md");
    let folder = tempfile::tempdir().unwrap();
    fs::copy(instance("gromacs_water_pme_16.prof.gz"), folder.path().join("gromacs_water_pme_16.prof.gz"))
        .unwrap();
    let steps = steps(text);
    assert!(steps.len() >= 6, "{}", steps.len());
    for Step { command, output } in steps {
        let printed = run(&command, folder.path());
        let mut lines = printed.lines();
        for pattern in output.iter().filter(|pattern| *pattern != "…") {
            let found = lines.any(|line| is_like(line.trim_end(), pattern.trim_end()));
            assert!(found, "`{pattern}` is not in what `{command}` prints:\n{printed}");
        }
    }
}

#[test]
fn lines_are_compared_as_the_tutorial_says() {
    assert!(
        is_like("a b c", "a b c")
            && is_like("a b c", "a…c")
            && is_like("a b c", "a…")
            && is_like("a b c", "…")
    );
    assert!(!is_like("a b c", "a b") && !is_like("a b c", "a…d") && !is_like("a b c", "b…"));
}
