//! Lists in documents are complete: `docs/SUMMARY.md` has the chapters of the book, as mdBook reads it; `docs/DESIGN.md` the packages and the
//! modules of the engine; `docs/GUARANTEES.md` the fuzz targets.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The names in a folder that end with `ending`, without the ending.
fn names(folder: &str, ending: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter_map(|name| name.strip_suffix(ending).map(str::to_owned)).collect()
}

/// The texts between `start` and `end` in lines that begin with `prefix`, one for each line.
fn listed<'a>(text: &'a str, prefix: &str, start: &str, end: &str) -> Vec<&'a str> {
    let lines = text.lines().filter(|line| line.trim_start().starts_with(prefix));
    lines.filter_map(|line| Some(line.split_once(start)?.1.split_once(end)?.0)).collect()
}

/// Faults of a list in which each of `all` should occur once.
fn faults(list: &[&str], all: &[String]) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = all.iter().map(|name| (name.as_str(), 0)).collect();
    let mut faults = Vec::new();
    for name in list {
        match counts.get_mut(name) {
            Some(count) => *count += 1,
            None => faults.push(format!("{name} does not exist")),
        }
    }
    let wrong = counts.into_iter().filter(|&(_, count)| count != 1);
    faults.extend(wrong.map(|(name, count)| format!("{name} is listed {count} times")));
    faults
}

#[test]
fn the_summary_lists_each_chapter_once() {
    let mut chapters: Vec<String> = Vec::new();
    for folder in ["", "guide/", "benchmarks/"] {
        let names = names(&format!("docs/{folder}"), ".md");
        chapters.extend(names.into_iter().map(|name| format!("{folder}{name}.md")));
    }
    chapters.retain(|chapter| chapter != "SUMMARY.md");
    let summary = read("docs/SUMMARY.md");
    let links: Vec<&str> =
        ["[", "- ["].iter().flat_map(|prefix| listed(&summary, prefix, "](", ")")).collect();
    assert_eq!(faults(&links, &chapters), [""; 0]);
}

#[test]
fn the_design_lists_each_package_once() {
    let design = read("docs/DESIGN.md");
    let rows = design.split_once("## Packages").unwrap().1.split_once("\n## ").unwrap().0;
    let packages: Vec<&str> = rows
        .lines()
        .filter_map(|row| row.split('|').nth(2))
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .collect();
    let manifest = read("Cargo.toml");
    let members = manifest.split_once("members = [").unwrap().1.split_once(']').unwrap().0;
    let members = members.split('"').skip(1).step_by(2).filter(|member| !member.ends_with("/tests"));
    let name = |folder: &str| {
        let manifest = read(&format!("{folder}/Cargo.toml"));
        let package = manifest.split_once("[package]").unwrap().1;
        listed(package, "name = ", "\"", "\"")[0].to_owned()
    };
    let all: Vec<String> = members.chain(["."]).map(name).collect();
    assert_eq!(faults(&packages, &all), [""; 0]);
}

#[test]
fn the_guarantees_list_each_fuzz_target_once() {
    let guarantees = read("docs/GUARANTEES.md");
    let fuzzing = guarantees.split_once("## Fuzzing").unwrap().1.split_once("\n## ").unwrap().0;
    let rows = listed(fuzzing, "| `", "| `", "`");
    assert_eq!(faults(&rows, &names("fuzz/fuzz_targets", ".rs")), [""; 0]);
}

#[test]
fn faults_of_lists_are_found() {
    let all = ["a.md", "b.md", "c.md"].map(str::to_owned);
    let summary = "# Summary\n\n- [A](a.md)\n- [B](b.md)\n  - [B](b.md)\n- [D](d.md)\n";
    let expected = ["d.md does not exist", "b.md is listed 2 times", "c.md is listed 0 times"];
    assert_eq!(faults(&listed(summary, "- [", "](", ")"), &all), expected);
    assert!(faults(&["a.md", "b.md", "c.md"], &all).is_empty());
}
