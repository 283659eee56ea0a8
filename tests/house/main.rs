//! The modules import each other from left to right only, as docs/DESIGN.md lays down.

mod messages;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// From the ground up: a module imports those before it only.
const LAYERS: [&[&str]; 11] = [
    &["ground"],
    &["graph"],
    &["partition"],
    &["io"],
    &["machine"],
    &["mapping"],
    &["workload"],
    &["qap"],
    &["report"],
    &["launch"],
    &["lib"],
];

/// Compiled for tests only, so every module may import it.
const FOR_TESTS: &str = "testing";

/// What is imported where a path ends at the root of the crate, as in `use crate::*`.
const WHOLE_CRATE: &str = "*";

#[test]
fn modules_import_from_left_to_right_only() {
    let mut breaches = Vec::new();
    for source in sources().iter().filter(|source| source.module() != "lib") {
        let module = source.module();
        for import in imports(&tokens(&source.text), &source.path) {
            let is_allowed = match import.as_str() {
                FOR_TESTS => true,
                WHOLE_CRATE => false,
                own if own == module => true,
                other => layer(other) < layer(module),
            };
            if !is_allowed {
                breaches.push(format!("{} imports {import}", source.path.join("::")));
            }
        }
    }
    assert!(breaches.is_empty(), "{breaches:#?}");
}

fn layer(module: &str) -> usize {
    LAYERS
        .iter()
        .position(|layer| layer.contains(&module))
        .unwrap_or_else(|| panic!("`{module}` stands in no layer; give it one"))
}

struct Source {
    /// The module in the file, from the root of the crate: `["partition", "refine", "flow"]`.
    path: Vec<String>,
    text: String,
}

impl Source {
    /// The module at the top level of the crate.
    fn module(&self) -> &str {
        &self.path[0]
    }
}

/// All files of `src/`.
fn sources() -> Vec<Source> {
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
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&src, &mut files);
    let source = |file: PathBuf| {
        let inside = file.strip_prefix(&src).unwrap().with_extension("");
        let mut path: Vec<String> = inside.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
        path.pop_if(|last| last == "mod");
        Source { path, text: std::fs::read_to_string(&file).unwrap() }
    };
    files.into_iter().map(source).collect()
}

/// The words of Rust code, `::`, and other characters one by one; without white space, comments, and what stands in quotes.
fn tokens(code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = code;
    while !rest.is_empty() {
        let (length, is_token) = match passed_over(rest) {
            Some(length) => (length, false),
            None if rest.starts_with("::") => (2, true),
            None => (word(rest).max(rest.chars().next().map_or(1, char::len_utf8)), true),
        };
        let (token, after) = rest.split_at(length);
        if is_token {
            tokens.push(token);
        }
        rest = after;
    }
    tokens
}

/// The length of the word at the start of the code; 0 if there is none.
fn word(code: &str) -> usize {
    code.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(code.len())
}

/// The length of the white space, comment, or quoted text at the start of the code, if there is one.
fn passed_over(code: &str) -> Option<usize> {
    let first = code.chars().next()?;
    match first {
        '/' if code.starts_with("//") => Some(code.find('\n').unwrap_or(code.len())),
        '/' if code.starts_with("/*") => Some(block_comment(code)),
        '"' => Some(quoted(code, first)),
        '\'' if is_character(code) => Some(quoted(code, first)),
        'b' | 'r' => raw_string(code),
        _ => first.is_whitespace().then(|| first.len_utf8()),
    }
}

/// The length of the raw string at the start of the code, if there is one.
fn raw_string(code: &str) -> Option<usize> {
    let opening = code.strip_prefix("br").or(code.strip_prefix('r'))?;
    let hashes = opening.find(|c| c != '#')?;
    let body = opening[hashes..].strip_prefix('"')?;
    let closing = format!("\"{}", "#".repeat(hashes));
    let end = body.find(&closing)? + closing.len();
    Some(code.len() - body.len() + end)
}

/// The length of the block comment at the start of the code; such comments nest.
fn block_comment(code: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < code.len() {
        match &code.as_bytes()[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// The length of the text in quotes at the start of the code, the quotes included.
fn quoted(code: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in code.char_indices().skip(1) {
        if c == quote && !is_escaped {
            return at + 1;
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    code.len()
}

/// Whether a single quotation mark begins a character rather than a lifetime.
fn is_character(code: &str) -> bool {
    let mut inside = code.chars().skip(1);
    inside.next() == Some('\\') || inside.next() == Some('\'')
}

/// The modules at the top level of the crate that the code of the module `path` names, be it from `crate` or by as many
/// `super` as lead out of its own top-level module.
fn imports(tokens: &[&str], path: &[String]) -> BTreeSet<String> {
    let mut imports = BTreeSet::new();
    // At which depths of braces modules inside the file begin.
    let (mut depth, mut inner) = (0, Vec::new());
    let mut at = 0;
    while at < tokens.len() {
        let own = path.len() + inner.len();
        let is_start = at == 0 || tokens[at - 1] != "::";
        match tokens[at..] {
            ["{", ..] => depth += 1,
            ["}", ..] => {
                depth -= 1;
                inner.pop_if(|begin| *begin == depth);
            }
            ["mod", _, "{", ..] => inner.push(depth),
            ["use", ref rest @ ..] => {
                let length = rest.iter().position(|&token| token == ";").unwrap_or(rest.len());
                follow(&rest[..length], None, own, &mut imports);
                at += length;
            }
            ["crate" | "super", "::", ..] if is_start => follow(&tokens[at..], None, own, &mut imports),
            _ => {}
        }
        at += 1;
    }
    imports
}

/// Follows a path, or all those of a group, to the module that it names at the top level of the crate, if it does. `depth` is
/// how many steps below the root the path has led so far, `own` how many the module stands that the path is in.
fn follow(tokens: &[&str], depth: Option<usize>, own: usize, imports: &mut BTreeSet<String>) {
    let here = depth.unwrap_or(own);
    match tokens {
        ["crate", "::", rest @ ..] => follow(rest, Some(0), own, imports),
        ["self", "::", rest @ ..] => follow(rest, Some(here), own, imports),
        ["super", "::", rest @ ..] => follow(rest, Some(here.saturating_sub(1)), own, imports),
        ["{", rest @ ..] => members(rest).into_iter().for_each(|path| follow(path, depth, own, imports)),
        ["self" | "*", ..] if depth == Some(0) => drop(imports.insert(WHOLE_CRATE.to_owned())),
        ["super", ..] if here == 1 => drop(imports.insert(WHOLE_CRATE.to_owned())),
        ["crate", ..] => drop(imports.insert(WHOLE_CRATE.to_owned())),
        [name, ..] if depth == Some(0) => drop(imports.insert((*name).to_owned())),
        _ => {}
    }
}

/// The paths of a group, whose opening brace has been passed.
fn members<'a>(tokens: &'a [&'a str]) -> Vec<&'a [&'a str]> {
    let mut members = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, &token) in tokens.iter().enumerate() {
        match token {
            "{" => depth += 1,
            "}" if depth > 0 => depth -= 1,
            "," | "}" if depth == 0 => {
                members.push(&tokens[start..at]);
                start = at + 1;
                if token == "}" {
                    break;
                }
            }
            _ => {}
        }
    }
    members
}

mod checker {
    use super::*;

    /// What `code` imports where it stands in the module `path`.
    fn imports_of(code: &str, path: &str) -> Vec<String> {
        let path: Vec<String> = path.split("::").map(String::from).collect();
        imports(&tokens(code), &path).into_iter().collect()
    }

    #[test]
    fn paths_from_the_root_are_imports() {
        let code = "use crate::graph::{CsrGraph, bfs};\nuse crate::{rng, types::{NodeId, PeId}, io};\n\
                    pub(crate) fn f() { crate::solve::solve() }";
        assert_eq!(imports_of(code, "model"), ["graph", "io", "rng", "solve", "types"]);
        assert_eq!(imports_of("use crate::*;", "model"), ["*"]);
        assert_eq!(imports_of("use crate::{self as all, io};", "model"), ["*", "io"]);
    }

    #[test]
    fn as_many_supers_as_lead_out_of_the_module_are_imports() {
        assert_eq!(imports_of("use super::graph::CsrGraph;", "io"), ["graph"]);
        assert_eq!(imports_of("use super::graph::CsrGraph;", "io::metis"), [""; 0]);
        assert_eq!(imports_of("use super::super::solve;", "io::metis"), ["solve"]);
        assert_eq!(imports_of("fn f() { super::super::super::cli::run() }", "io::metis::read"), ["cli"]);
        assert_eq!(imports_of("use self::super::super::solve::x;", "io::metis"), ["solve"]);
        assert_eq!(
            imports_of("use super::{a, super::{solve::b, model}, d};", "io::metis"),
            ["model", "solve"]
        );
        assert_eq!(imports_of("use super::{super::{model, cli::x}, d};", "io::metis"), ["cli", "model"]);
        assert_eq!(imports_of("use super::*;", "io"), ["*"]);
        assert_eq!(imports_of("use super::super as root;", "io::metis"), ["*"]);
        assert_eq!(imports_of("pub(super) fn f() {}", "io"), [""; 0]);
    }

    #[test]
    fn modules_inside_a_file_are_a_step_down() {
        let code = "mod tests { use super::*; use super::super::objective; fn f() { if x { y } } }\n\
                    use super::verify;";
        assert_eq!(imports_of(code, "mapping"), ["objective", "verify"]);
        assert_eq!(imports_of("mod tests { mod deep { use super::super::super::cli; } }", "io"), ["cli"]);
    }

    #[test]
    fn comments_and_quotes_name_nothing() {
        let code = "// crate::a\n/* crate::b /* */ crate::c */ /// crate::d\n\"crate::e \\\" crate::f\" 'c' '\\'' \
                    r#\"crate::g \" crate::h\"# b\"crate::i\" fn f<'a>(x: &'a str) { '{' } mod m { use super::io; }";
        assert_eq!(imports_of(code, "model"), [""; 0]);
        assert_eq!(imports_of("let x = '\"'; crate::io::x(\"\")", "model"), ["io"]);
    }

    #[test]
    fn crates_are_found_in_any_position() {
        for code in ["use clap;", "use {anyhow::Result, clap::Parser};", "#[clap(long)]", "x: clap::Id"] {
            assert!(tokens(code).contains(&"clap"), "{code}");
        }
        assert!(!tokens("// clap\nlet clapped = \"clap\";").contains(&"clap"));
    }
}
