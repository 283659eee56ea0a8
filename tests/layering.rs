//! The modules import each other from left to right only, as docs/DESIGN.md lays down.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Modules of one row do not import each other; those of a later row may import those of earlier ones.
const LAYERS: [&[&str]; 10] = [
    &["types", "rng", "threads"],
    &["graph", "observer"],
    &["io", "topology", "partition"],
    &["machine"],
    &["problem", "mapping"],
    &["objective"],
    &["annealing"],
    &["construct", "search", "traffic"],
    &["solve", "model", "verify"],
    &["cli"],
];

/// Crates for the programs only.
const PROGRAM_CRATES: [&str; 3] = ["clap", "anyhow", "indicatif"];

/// Modules that share no code with the rest: they may import nothing of the crate.
const INDEPENDENT: [&str; 1] = ["verify"];

fn layer(module: &str) -> usize {
    LAYERS
        .iter()
        .position(|layer| layer.contains(&module))
        .unwrap_or_else(|| panic!("`{module}` stands in no layer; give it one"))
}

/// All Rust files below a folder, each with its module at the top level of the crate.
fn sources(folder: &Path) -> Vec<(String, PathBuf)> {
    fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, files);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    let mut files = Vec::new();
    collect(folder, &mut files);
    let module = |path: &PathBuf| {
        let first = path.strip_prefix(folder).unwrap().iter().next().unwrap().to_str().unwrap();
        first.trim_end_matches(".rs").to_string()
    };
    files.iter().map(|path| (module(path), path.clone())).collect()
}

fn code_of(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    text.lines().filter(is_code).map(|line| format!("{line}\n")).collect()
}

/// The modules named after `crate::` anywhere in the code, those in `use crate::{a, b}` included.
fn imports(code: &str) -> BTreeSet<String> {
    let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut modules = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        if let Some(list) = rest.strip_prefix('{') {
            let mut depth = 1;
            let mut item = String::new();
            for c in list.chars() {
                depth += i32::from(c == '{') - i32::from(c == '}');
                if depth == 0 || (depth == 1 && c == ',') {
                    modules.insert(word(item.trim()));
                    item.clear();
                } else {
                    item.push(c);
                }
                if depth == 0 {
                    break;
                }
            }
        } else {
            modules.insert(word(rest));
        }
    }
    modules.remove("");
    modules
}

#[test]
fn modules_import_from_left_to_right_only() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut breaches = Vec::new();
    for (module, path) in sources(&src) {
        if module == "lib" {
            continue;
        }
        for import in imports(&code_of(&path)) {
            let own = import == module;
            if !own && (layer(&import) >= layer(&module) || INDEPENDENT.contains(&module.as_str())) {
                breaches.push(format!("{} imports {import}", path.display()));
            }
        }
    }
    assert!(breaches.is_empty(), "{breaches:#?}");
}

#[test]
fn crates_of_the_programs_stay_out_of_the_library() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (module, path) in sources(&src) {
        let code = code_of(&path);
        for name in PROGRAM_CRATES {
            let named = code.contains(&format!("{name}::")) || code.contains(&format!("use {name};"));
            assert!(module == "cli" || !named, "{} names {name}", path.display());
        }
    }
}

#[test]
fn imports_are_found() {
    let code = "use crate::graph::{CsrGraph, bfs};\nuse crate::{rng, types::{NodeId, PeId}, io};\n\
                fn f() { crate::solve::solve() }";
    let expected = ["graph", "io", "rng", "solve", "types"].map(String::from);
    assert_eq!(imports(code), BTreeSet::from(expected));
}
