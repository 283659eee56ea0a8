//! Lists in documents are complete: `docs/SUMMARY.md` has the chapters of the book, as mdBook reads it; `docs/DESIGN.md` the packages and the
//! modules of the engine; `docs/GUARANTEES.md` the fuzz targets. Recipes in `CONTRIBUTING.md` have as many steps as they say, and name what exists.

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

/// Returns whether a path of a recipe leads to a file of the project; NAME stands for the name of any member.
fn is_file(path: &str) -> bool {
    match path.split_once("NAME") {
        None => root().join(path).is_file(),
        Some((folder, ending)) => root().join(folder).is_dir() && !names(folder, ending).is_empty(),
    }
}

/// Faults of the recipes in a document: a heading such as `### A machine: 5` without that many steps, a file that does not exist, and an identifier
/// that is not in the file that is said to have it, as in "`TABLE` in `file.rs`".
fn faults_of_recipes(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for recipe in text.split("\n### ").skip(1) {
        let recipe = recipe.split("\n## ").next().unwrap_or(recipe);
        let heading = recipe.lines().next().unwrap_or_default();
        let is_step =
            |line: &&str| line.split_once(". ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
        let steps = recipe.lines().filter(is_step).count();
        if heading.rsplit_once(": ").is_some_and(|(_, number)| number.parse() != Ok(steps)) {
            faults.push(format!("{heading}: there are {steps} steps"));
        }
        let pieces: Vec<&str> = recipe.split('`').collect();
        let is_path = |code: &str| code.contains('/') && !code.contains(' ') && !code.starts_with('.');
        let paths = (1..pieces.len()).step_by(2).filter(|&at| is_path(pieces[at]));
        for at in paths.filter(|&at| Path::new(pieces[at]).extension().is_some()) {
            let path = pieces[at];
            if !is_file(path) {
                faults.push(format!("{heading}: {path} does not exist"));
            } else if at >= 3 && [" in ", " of "].contains(&pieces[at - 1]) && !path.contains("NAME") {
                let name = pieces[at - 2];
                if !name.contains("NAME") && !read(path).contains(name) {
                    faults.push(format!("{heading}: {name} is not in {path}"));
                }
            }
        }
    }
    faults
}

#[test]
fn recipes_have_their_steps_and_name_what_exists() {
    let contributing = read("CONTRIBUTING.md");
    let recipes = contributing.split_once("## A new member of a family").unwrap().1;
    let recipes = recipes.split_once("\n## ").unwrap().0;
    assert!(recipes.matches("\n### ").count() > 10);
    assert_eq!(faults_of_recipes(recipes), [""; 0]);
}

#[test]
fn faults_of_recipes_are_found() {
    let recipe = "\n### A thing: 3\n\n1. `tests/house/NAME.rs`.\n2. A line of `fn faults` in `tests/house/documents.rs`, `NOWHERE` in \
                  `tests/house/main.rs`.\n\n### Another\n\n1. `tests/house/nothing.rs` or `tests/nowhere/NAME.rs`.";
    let expected = [
        "A thing: 3: there are 2 steps",
        "A thing: 3: NOWHERE is not in tests/house/main.rs",
        "Another: tests/house/nothing.rs does not exist",
        "Another: tests/nowhere/NAME.rs does not exist",
    ];
    assert_eq!(faults_of_recipes(recipe), expected);
}

#[test]
fn faults_of_lists_are_found() {
    let all = ["a.md", "b.md", "c.md"].map(str::to_owned);
    let summary = "# Summary\n\n- [A](a.md)\n- [B](b.md)\n  - [B](b.md)\n- [D](d.md)\n";
    let expected = ["d.md does not exist", "b.md is listed 2 times", "c.md is listed 0 times"];
    assert_eq!(faults(&listed(summary, "- [", "](", ")"), &all), expected);
    assert!(faults(&["a.md", "b.md", "c.md"], &all).is_empty());
}
