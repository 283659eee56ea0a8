//! A minimal reader of Rust code for the house tests: tokens, and the paths that a file uses.

use std::path::{Path, PathBuf};

/// A path from the root of a crate, such as `partition::refine::flow`; the last segments may be an item. `*`
/// stands for a glob.
pub type CratePath = Vec<String>;

/// A file of a crate.
pub struct Source {
    /// The module of the file, from the root of the crate: `["partition", "refine", "flow"]`; empty for
    /// `lib.rs`.
    pub path: CratePath,
    /// True if the file is the root module of a folder: `mod.rs` or `lib.rs`.
    pub is_face: bool,
    pub text: String,
}

/// A `use` or a path in the code.
pub struct Mention {
    /// The target, from the root of the crate.
    pub path: CratePath,
    /// The name under which the module re-exports it, if it does.
    pub exported: Option<String>,
}

/// All files of the crate below a folder of the project.
pub fn sources(folder: &str) -> Vec<Source> {
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
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files = Vec::new();
    collect(&root, &mut files);
    let source = |file: PathBuf| {
        let inside = file.strip_prefix(&root).unwrap().with_extension("");
        let mut path: CratePath = inside.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
        let is_face = path.pop_if(|last| *last == "mod" || *last == "lib").is_some();
        Source { path, is_face, text: std::fs::read_to_string(&file).unwrap() }
    };
    files.into_iter().map(source).collect()
}

impl Source {
    /// The uses of paths from `crate`, `self`, `super` or a module below. Code compiled only for tests does not count.
    pub fn mentions(&self) -> Vec<Mention> {
        mentions(&without_tests(&tokens(&self.text)), &self.path)
    }

    /// Returns whether the file has code of its own in which a name stands, besides the lines that declare and import it.
    pub fn names(&self, name: &str) -> bool {
        let tokens = without_tests(&tokens(&self.text));
        let mut lines = tokens.split(|&token| token == ";" || token == "}");
        lines.any(|line| {
            let imports = line.iter().position(|&token| token == "use" || token == "mod");
            line[..imports.unwrap_or(line.len())].contains(&name)
        })
    }
}

/// The tokens outside items marked `#[cfg(test)]`.
pub fn without_tests<'a>(tokens: &[&'a str]) -> Vec<&'a str> {
    without_items(tokens, |condition| condition == ["test"])
}

/// The tokens outside items marked `#[cfg(CONDITION)]` whose condition is one of those.
pub fn without_items<'a>(tokens: &[&'a str], is_meant: impl Fn(&[&str]) -> bool) -> Vec<&'a str> {
    let mut kept = Vec::new();
    let mut rest = tokens;
    while let Some((&first, after)) = rest.split_first() {
        let condition = rest.strip_prefix(["#", "[", "cfg", "("].as_slice());
        let end = condition.and_then(|condition| condition.windows(2).position(|pair| pair == [")", "]"]));
        if let (Some(condition), Some(end)) = (condition, end)
            && is_meant(&condition[..end])
        {
            let item = &condition[end + 2..];
            rest = &item[length_of_item(item)..];
        } else {
            kept.push(first);
            rest = after;
        }
    }
    kept
}

/// The number of tokens of an item, up to its semicolon or to the end of its braces; or of a field, up to its comma.
fn length_of_item(tokens: &[&str]) -> usize {
    const ITEMS: [&str; 9] = ["const", "enum", "fn", "impl", "mod", "static", "struct", "type", "use"];
    let is_field = !tokens.iter().take_while(|&&token| token != ":").any(|token| ITEMS.contains(token));
    let mut depth = 0;
    for (index, &token) in tokens.iter().enumerate() {
        match token {
            "{" | "(" | "[" => depth += 1,
            "}" if depth == 1 => return index + 1,
            "}" | ")" | "]" => depth -= 1,
            ";" if depth == 0 => return index + 1,
            "," if depth == 0 && is_field => return index + 1,
            _ => {}
        }
    }
    tokens.len()
}

/// The tokens of Rust code: words, `::`, and other characters one by one, without white space, comments, and
/// quoted text.
pub fn tokens(code: &str) -> Vec<&str> {
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
pub fn word(code: &str) -> usize {
    code.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(code.len())
}

/// The length of the white space, comment, or quoted text at the start of the code, if there is one.
pub fn passed_over(code: &str) -> Option<usize> {
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

/// Returns whether a single quotation mark begins a character rather than a lifetime.
fn is_character(code: &str) -> bool {
    let mut inside = code.chars().skip(1);
    inside.next() == Some('\\') || inside.next() == Some('\'')
}

/// The uses in the code of the module `own`.
fn mentions(tokens: &[&str], own: &[String]) -> Vec<Mention> {
    let mut found = Vec::new();
    let children: Vec<&str> =
        tokens.windows(3).filter(|line| line[0] == "mod" && line[2] == ";").map(|line| line[1]).collect();
    // The brace depths at which modules inside the file begin.
    let (mut depth, mut inner) = (0, Vec::new());
    let mut at = 0;
    while at < tokens.len() {
        let is_visibility = at > 1 && tokens[at - 2..at] == ["(", "in"];
        let is_start = (at == 0 || tokens[at - 1] != "::") && !is_visibility;
        // Modules inside the file are one level down, whatever their names.
        let here: CratePath = own.iter().cloned().chain(inner.iter().map(|_| String::new())).collect();
        match tokens[at..] {
            ["{", ..] => depth += 1,
            ["}", ..] => {
                depth -= 1;
                inner.pop_if(|begin| *begin == depth);
            }
            ["mod", _, "{", ..] => inner.push(depth),
            // A table of members declares the file of each, and calls it.
            ["mod", name, ";", ..] if depth > inner.len() => {
                found.push(Mention { path: [&here[..], &[name.to_owned()]].concat(), exported: None });
            }
            ["use", ref rest @ ..] if !rest.starts_with(&["<"]) => {
                let length = rest.iter().position(|&token| token == ";").unwrap_or(rest.len());
                let is_exported = at > 0 && matches!(tokens[at - 1], "pub" | ")");
                follow(&rest[..length], None, &here, is_exported, &mut found);
                at += length;
            }
            ["crate" | "super" | "self", "::", ..] if is_start => {
                follow(&tokens[at..], None, &here, false, &mut found);
            }
            [name, "::", ..] if is_start && inner.is_empty() && children.contains(&name) => {
                follow(&tokens[at..], None, &here, false, &mut found);
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Resolves a path, or all paths of a group. `from` is the resolved prefix, `own` the module of the code. A
/// path that starts with a name starts at a child of the module, or belongs to another crate.
pub fn follow(
    tokens: &[&str],
    from: Option<&[String]>,
    own: &[String],
    is_exported: bool,
    found: &mut Vec<Mention>,
) {
    let here = from.unwrap_or(own);
    let outer = &here[..here.len().saturating_sub(1)];
    match tokens {
        ["crate", "::", rest @ ..] => follow(rest, Some(&[]), own, is_exported, found),
        ["self", "::", rest @ ..] => follow(rest, Some(here), own, is_exported, found),
        ["super", "::", rest @ ..] => follow(rest, Some(outer), own, is_exported, found),
        ["{", rest @ ..] => {
            members(rest).into_iter().for_each(|path| follow(path, from, own, is_exported, found));
        }
        ["crate", ..] => found.push(Mention { path: vec!["*".to_owned()], exported: None }),
        ["super", ..] => {
            found.push(Mention { path: [outer, &["*".to_owned()]].concat(), exported: None });
        }
        ["self", rest @ ..] if from.is_some() => push(here.to_vec(), rest, is_exported, found),
        [name, "::", rest @ ..] if *name != "self" => {
            let path = [here, &[(*name).to_owned()]].concat();
            follow(rest, Some(&path), own, is_exported, found);
        }
        [name, rest @ ..] => push([here, &[(*name).to_owned()]].concat(), rest, is_exported, found),
        [] => {}
    }
}

fn push(path: CratePath, rest: &[&str], is_exported: bool, found: &mut Vec<Mention>) {
    let name = match rest {
        ["as", alias, ..] => Some((*alias).to_owned()),
        _ => path.last().cloned(),
    };
    found.push(Mention { exported: name.filter(|_| is_exported), path });
}

/// The paths of a group; its opening brace has been consumed.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The uses in `code` inside the module `path`.
    fn named_by(code: &str, path: &str) -> Vec<String> {
        let path: CratePath = path.split("::").map(String::from).collect();
        let mentions = mentions(&without_tests(&tokens(code)), &path);
        mentions.into_iter().map(|mention| mention.path.join("::")).collect()
    }

    #[test]
    fn paths_from_the_root_are_followed() {
        let code = "use crate::graph::{CsrGraph, bfs};\nuse crate::{rng, types::{NodeId, PeId}, io};\n\
                    pub(crate) fn f() { crate::solve::solve() }";
        let expected =
            ["graph::CsrGraph", "graph::bfs", "rng", "types::NodeId", "types::PeId", "io", "solve::solve"];
        assert_eq!(named_by(code, "model"), expected);
        assert_eq!(named_by("use crate::*;", "model"), ["*"]);
        assert_eq!(named_by("use crate::{self as all, io};", "model"), ["", "io"]);
    }

    #[test]
    fn supers_lead_out_of_the_module() {
        assert_eq!(named_by("use super::graph::CsrGraph;", "io"), ["graph::CsrGraph"]);
        assert_eq!(named_by("use super::graph::CsrGraph;", "io::metis"), ["io::graph::CsrGraph"]);
        assert_eq!(named_by("fn f() { super::super::super::cli::run() }", "io::metis::read"), ["cli::run"]);
        assert_eq!(named_by("use self::super::super::solve::x;", "io::metis"), ["solve::x"]);
        let code = "use super::{a, super::{solve::b, model}, d};";
        assert_eq!(named_by(code, "io::metis"), ["io::a", "solve::b", "model", "io::d"]);
        assert_eq!(named_by("use super::*;", "io"), ["*"]);
        assert_eq!(named_by("use super::super as root;", "io::metis"), ["*"]);
        assert_eq!(named_by("pub(super) fn f() {} pub(in crate::graph) fn g() {}", "io"), [""; 0]);
        assert_eq!(named_by("use child::Item;", "io"), ["io::child::Item"]);
        assert_eq!(named_by("fn f() -> impl Sized + use<> { super::g(); }", "io"), ["g"]);
    }

    #[test]
    fn modules_inside_a_file_are_a_step_down() {
        let code = "mod parts { use super::super::objective; fn f() { if x { y } } }\nuse super::verify;";
        assert_eq!(named_by(code, "mapping"), ["objective", "verify"]);
        assert_eq!(named_by("mod parts { mod deep { use super::super::super::cli; } }", "io"), ["cli"]);
    }

    #[test]
    fn modules_below_are_a_step_down() {
        assert_eq!(named_by("mod read; fn f() { read::all(); other::all() }", "io"), ["io::read::all"]);
    }

    #[test]
    fn tables_use_the_files_that_they_declare() {
        let code = "mod a; members! { pub enum B { C = \"c\" in mod c; } fn f(self) } mod d;";
        assert_eq!(named_by(code, "io"), ["io::c"]);
    }

    #[test]
    fn names_stand_in_code_of_a_file() {
        let names = |text: &str| Source { path: Vec::new(), is_face: true, text: text.to_owned() }.names("C");
        assert!(names("mod c; pub use c::{B, C}; fn f() -> C { C::new() }"));
        assert!(!names(
            "mod c;\npub use c::{B, C};\n/// C.\nfn f() { use d::C; }\n#[cfg(test)] mod tests { C }"
        ));
    }

    #[test]
    fn comments_quotes_and_tests_are_skipped() {
        let code = "// crate::a\n/* crate::b /* */ crate::c */ /// crate::d\n\"crate::e \\\" crate::f\" 'c' '\\'' \
                    r#\"crate::g \" crate::h\"# b\"crate::i\" fn f<'a>(x: &'a str) { '{' } mod m { use super::io; }";
        assert_eq!(named_by(code, "model"), ["model::io"]);
        assert_eq!(named_by("let x = '\"'; crate::io::x(\"\")", "model"), ["io::x"]);
        let code = "#[cfg(test)]\nmod tests { use crate::a; }\n#[cfg(test)] use crate::b;\nuse crate::c;";
        assert_eq!(named_by(code, "model"), ["c"]);
        let code =
            "struct S { #[cfg(test)] f: fn(crate::a, crate::b), #[cfg(test)] g: crate::c, } use crate::d;";
        assert_eq!(named_by(code, "model"), ["d"]);
    }

    #[test]
    fn re_exports_have_a_name() {
        let tokens = tokens("pub use a::{B, C as D}; pub(crate) use e::F; use g::H;");
        let exported: Vec<_> =
            mentions(&tokens, &[]).into_iter().map(|mention| mention.exported.unwrap_or_default()).collect();
        assert_eq!(exported, ["B", "D", "F", ""]);
    }
}
