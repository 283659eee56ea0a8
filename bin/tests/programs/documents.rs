//! The documents are correct: their commands are run as written, and print the lines below them.
//!
//! In a block that begins with ```console, a line after `$ ` is a command, which continues on the next line
//! after a `\`. The lines below it, if any, are its complete output. A line `…` stands for any lines, and `…`
//! inside a line for any text.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{instance, names, program, root, without_job};

/// A command and the lines below it.
struct Step {
    command: String,
    output: Vec<String>,
}

fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let blocks = text.split("```console\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    for line in blocks.flat_map(str::lines) {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => steps.push(Step { command: command.to_owned(), output: Vec::new() }),
            (None, Some(step)) if step.command.ends_with('\\') => {
                step.command.truncate(step.command.len() - 1);
                step.command += line.trim_start();
            }
            (None, Some(step)) => step.output.push(line.to_owned()),
            (None, None) => panic!("a block begins with `{line}` instead of a command"),
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

/// Whether a line matches a pattern in which `…` stands for any text.
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

/// Whether lines match patterns in which `…` stands for any lines.
fn are_like(lines: &[&str], patterns: &[String]) -> bool {
    match patterns.split_first() {
        None => lines.is_empty(),
        Some((any, rest)) if any == "…" => {
            (0..=lines.len()).any(|skipped| are_like(&lines[skipped..], rest))
        }
        Some((pattern, rest)) => {
            lines.split_first().is_some_and(|(line, others)| is_like(line, pattern) && are_like(others, rest))
        }
    }
}

/// Runs a document in a folder with these links to files or folders of the project. Returns the number of
/// commands.
fn check(document: &Path, links: &[(&str, PathBuf)]) -> usize {
    let steps = steps(&fs::read_to_string(document).unwrap());
    let folder = tempfile::tempdir().unwrap();
    for (name, target) in links {
        std::os::unix::fs::symlink(target, folder.path().join(name)).unwrap();
    }
    for Step { command, output } in &steps {
        let printed = run(command, folder.path());
        let lines: Vec<&str> = printed.lines().map(str::trim_end).collect();
        let expected = output.join("\n");
        assert!(
            output.is_empty() || are_like(&lines, output),
            "{}: `{command}` does not print\n{expected}\nbut\n{printed}",
            document.display()
        );
    }
    steps.len()
}

#[test]
fn the_tutorial_is_correct() {
    let recording = "gromacs_water_pme_16.prof.gz";
    let tutorial = root().join("docs/TUTORIAL.md");
    assert!(check(&tutorial, &[(recording, instance(recording))]) >= 6);
}

#[test]
fn the_guide_is_correct() {
    let guide = root().join("docs/guide");
    let chapters = names(&guide).into_iter().filter(|name| name.ends_with(".md"));
    let steps = chapters.map(|chapter| check(&guide.join(chapter), &[("instances", instance(""))]));
    assert!(steps.sum::<usize>() >= 22);
}

#[test]
fn lines_match_patterns() {
    assert!(
        is_like("a b c", "a b c")
            && is_like("a b c", "a…c")
            && is_like("a b c", "a…")
            && is_like("a b c", "…")
    );
    assert!(!is_like("a b c", "a b") && !is_like("a b c", "a…d") && !is_like("a b c", "b…"));
    let patterns = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(
        are_like(&["a", "b", "c"], &patterns("a\n…\nc"))
            && are_like(&["a"], &patterns("…\na\n…"))
            && are_like(&[], &[])
    );
    assert!(!are_like(&["a", "b", "c"], &patterns("a\nc")) && !are_like(&["a", "b"], &patterns("a")));
}
