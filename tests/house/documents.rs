//! Lists in documents are complete: `docs/SUMMARY.md` has the chapters of the book, as mdBook reads it; `docs/DESIGN.md` the packages, the
//! modules of the engine and the dependencies; `docs/GUARANTEES.md` the fuzz targets, and tests that exist. Recipes in `CONTRIBUTING.md` have
//! as many steps as they say, and name what exists.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::layers::LAYERS;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

pub fn read(path: &str) -> String {
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

/// The part of a document below a heading.
fn section<'a>(document: &'a str, heading: &str) -> &'a str {
    let below = document.split_once(heading).unwrap_or_else(|| panic!("no heading `{heading}`")).1;
    below.split("\n## ").next().unwrap()
}

/// The folders of all packages of the workspace but those that only hold tests.
pub fn folders() -> Vec<String> {
    let manifest = read("Cargo.toml");
    let members = manifest.split_once("members = [").unwrap().1.split_once(']').unwrap().0;
    let members = members.split('"').skip(1).step_by(2).filter(|member| !member.ends_with("/tests"));
    members.chain(["."]).map(str::to_owned).collect()
}

fn name_of(manifest: &str) -> String {
    listed(manifest.split_once("[package]").unwrap().1, "name = ", "\"", "\"")[0].to_owned()
}

/// The packages that a package depends on, also where only its tests do if they are asked for.
fn dependencies(manifest: &str, with_tests: bool) -> BTreeSet<String> {
    let sections = manifest.split("\n[").filter_map(|section| section.split_once("]\n"));
    let sections = sections.filter(|(heading, _)| {
        heading.ends_with("dependencies")
            && !heading.starts_with("workspace")
            && (with_tests || !heading.ends_with("dev-dependencies"))
    });
    let lines = sections.flat_map(|(_, lines)| lines.lines());
    let lines = lines.filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()));
    lines.map(|line| line.split(['.', ' ', '=']).next().unwrap().to_owned()).collect()
}

/// The packages in the order of the table in the design.
fn packages(design: &str) -> Vec<&str> {
    let rows = section(design, "## Packages").lines();
    let cells = rows.filter_map(|row| row.split('|').nth(2));
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect()
}

#[test]
fn the_design_lists_each_package_once_above_those_that_use_it() {
    let design = read("docs/DESIGN.md");
    let packages = packages(&design);
    let manifests: Vec<String> = folders().iter().map(|it| read(&format!("{it}/Cargo.toml"))).collect();
    let all: Vec<String> = manifests.iter().map(|manifest| name_of(manifest)).collect();
    assert_eq!(faults(&packages, &all), [""; 0]);
    let row = |name: &str| packages.iter().position(|&package| package == name);
    for manifest in &manifests {
        let name = name_of(manifest);
        let below = dependencies(manifest, false).into_iter().filter(|used| row(used) > row(&name));
        assert_eq!(below.collect::<Vec<_>>(), [""; 0], "used by {name}, and below it in the table");
    }
}

#[test]
fn the_auditor_uses_no_other_package() {
    let used = dependencies(&read("crates/verify/Cargo.toml"), false);
    assert_eq!(used.iter().filter(|name| name.starts_with("viem")).count(), 0, "{used:?}");
}

#[test]
fn the_design_lists_each_dependency_once() {
    let design = read("docs/DESIGN.md");
    let rows = section(&design, "## Dependencies").lines().skip_while(|line| !line.starts_with("|--"));
    let cells = rows.skip(1).filter_map(|row| row.split('|').nth(1));
    let named: Vec<&str> =
        cells.flat_map(|cell| cell.split(" (").next().unwrap().split(", ")).map(str::trim).collect();
    let manifests = folders().into_iter().chain(["bindings/c/tests".to_owned()]);
    let used = manifests.flat_map(|folder| dependencies(&read(&format!("{folder}/Cargo.toml")), true));
    let others: BTreeSet<String> = used.filter(|name| name != "viem" && !name.starts_with("viem-")).collect();
    assert_eq!(faults(&named, &Vec::from_iter(others)), [""; 0]);
}

#[test]
fn the_design_lists_the_modules_of_the_engine_in_their_order() {
    let design = read("docs/DESIGN.md");
    let table = section(&design, "### The engine").split("\n\nContents").next().unwrap();
    let mut modules = listed(table, "| `", "| `", "`");
    modules.reverse();
    assert_eq!(modules, LAYERS);
}

#[test]
fn the_guarantees_list_each_fuzz_target_once() {
    let guarantees = read("docs/GUARANTEES.md");
    let rows = listed(section(&guarantees, "## Fuzzing"), "| `", "| `", "`");
    assert_eq!(faults(&rows, &names("fuzz/fuzz_targets", ".rs")), [""; 0]);
}

/// The items of lists in a text, each with the lines that continue it.
fn items(text: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    let mut is_item = false;
    for line in text.lines() {
        is_item = line.starts_with("- ") || is_item && line.starts_with("  ");
        match items.last_mut() {
            Some(item) if is_item && !line.starts_with("- ") => *item += &line[1..],
            _ if is_item => items.push(line.to_owned()),
            _ => {}
        }
    }
    items
}

/// The tests that an item names: functions behind the file that has them.
fn named_tests(item: &str) -> Vec<(&str, &str)> {
    let mut file = None;
    let mut tests = Vec::new();
    for word in item.split('`').skip(1).step_by(2) {
        match file {
            _ if word.ends_with(".rs") => file = Some(word),
            // Tests in Python are not looked up.
            _ if word.ends_with(".py") => file = None,
            Some(file) if word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => {
                tests.push((file, word))
            }
            _ => {}
        }
    }
    tests
}

/// Returns whether code has a test of this name.
fn has_test(code: &str, name: &str) -> bool {
    let mut pieces = code.split("#[test]").skip(1);
    pieces.any(|piece| {
        let head = piece.split_once('{').map_or(piece, |(head, _)| head);
        head.split_once("fn ").is_some_and(|(_, rest)| rest.split('(').next() == Some(name))
    })
}

/// Each section up to the long runs names tests, and each test is where it is said to be.
#[test]
fn the_guarantees_name_tests_that_exist() {
    let guarantees = read("docs/GUARANTEES.md");
    let mut missing = Vec::new();
    for part in guarantees.split("\n## ").skip(1).take_while(|part| !part.starts_with("Fuzzing")) {
        let items = items(part);
        assert!(items.iter().any(|item| item.contains(".rs`")), "no tests: {part}");
        let tests: Vec<_> = items.iter().flat_map(|item| named_tests(item)).collect();
        missing.extend(
            tests
                .iter()
                .filter(|(file, test)| !has_test(&read(file), test))
                .map(|(file, test)| format!("{file}: {test}")),
        );
    }
    assert_eq!(missing, [""; 0]);
}

#[test]
fn names_of_tests_are_read() {
    let text =
        "Prose `a`.\n\n- one: `t/a.rs`: `first`,\n  `second`; `t/b.rs`: `third`\n- run `map`: `t/c.rs`\n";
    let found: Vec<(String, String)> = items(text)
        .iter()
        .flat_map(|item| named_tests(item))
        .map(|(file, test)| (file.to_owned(), test.to_owned()))
        .collect();
    let expected = [("t/a.rs", "first"), ("t/a.rs", "second"), ("t/b.rs", "third")];
    assert_eq!(found, expected.map(|(file, test)| (file.to_owned(), test.to_owned())));
    let code =
        "fn helper() {}\n#[test]\n#[cfg(unix)]\nfn first() {}\n    #[test]\n    fn second(n in 0..9) {}\n";
    assert!(has_test(code, "first") && has_test(code, "second"));
    assert!(!has_test(code, "helper") && !has_test(code, "firs"));
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
