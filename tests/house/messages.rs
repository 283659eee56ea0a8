//! Messages of the library name fields and values, never options or programs: programs add the hint about
//! options. The library prints none of them itself, and never ends the process.

use crate::code::{Source, passed_over, sources, tokens, without_tests, word};

/// The folders of the library.
const LIBRARY: [&str; 10] = [
    "src",
    "crates/cluster/src",
    "crates/io/src",
    "crates/launch/src",
    "crates/mesh/src",
    "crates/partition/src",
    "crates/report/src",
    "crates/traffic/src",
    "crates/training/src",
    "crates/workload/src",
];

/// Programs of this project, except the one with the name of the library.
const PROGRAMS: [&str; 3] = ["evaluator", "generate_model", "graphchecker"];

/// Options of launchers and system tools that the library writes into launch files and command lines.
const OF_OTHERS: [&str; 24] = [
    "--bind-to",
    "--count",
    "--cpu-bind",
    "--disallowed",
    "--exclusive",
    "--het-group",
    "--hostfile",
    "--map-by",
    "--mca",
    "--mpi",
    "--nnodes",
    "--no-python",
    "--nproc-per-node",
    "--ntasks-per-node",
    "--of",
    "--overcommit",
    "--overlap",
    "--prtemca",
    "--rankfile",
    "--rdzv-backend",
    "--rdzv-endpoint",
    "--report-bindings",
    "--requires",
    "--taskmap",
];

/// The files of the library, without those of its tests.
fn library() -> impl Iterator<Item = Source> {
    let is_test = |source: &Source| source.path.contains(&"tests".to_owned());
    LIBRARY.into_iter().flat_map(sources).filter(move |source| !is_test(source))
}

/// Macros that print.
const PRINTING: [&str; 5] = ["println", "print", "eprintln", "eprint", "dbg"];

/// Whether code that is not compiled for tests only prints, or ends the process.
fn prints_or_exits(code: &str) -> bool {
    let tokens = tokens(code);
    without_tests(&tokens).windows(3).any(|three| match *three {
        ["process", "::", name] => name == "exit" || name == "abort",
        [name, "!", _] => PRINTING.contains(&name),
        _ => false,
    })
}

#[test]
fn the_library_neither_prints_nor_exits() {
    let breaches: Vec<String> =
        library().filter(|it| prints_or_exits(&it.text)).map(|it| it.path.join("::")).collect();
    assert!(breaches.is_empty(), "{breaches:#?}");
    for code in ["println!(\"\")", "std::process::exit(1)", "fn f() { eprint!(\"{x}\"); }"] {
        assert!(prints_or_exits(code), "{code}");
    }
    assert!(!prints_or_exits("#[cfg(test)]\nmod tests { fn f() { println!() } }\n// println!()"));
}

#[test]
fn messages_name_no_option_and_no_program() {
    let mut breaches = Vec::new();
    for source in library() {
        for literal in literals(&source.text) {
            let names = options(literal).into_iter().filter(|option| !OF_OTHERS.contains(option));
            let programs = PROGRAMS.into_iter().filter(|program| literal.contains(program));
            breaches.extend(names.chain(programs).map(|name| format!("{}: {name}", source.path.join("::"))));
        }
    }
    assert!(breaches.is_empty(), "{breaches:#?}");
}

/// The text in double quotes of a file, without its tests.
fn literals(code: &str) -> Vec<&str> {
    let mut rest = code.split("#[cfg(test)]\nmod ").next().unwrap_or(code);
    let mut literals = Vec::new();
    while let Some(first) = rest.chars().next() {
        let length = passed_over(rest).unwrap_or_else(|| word(rest).max(first.len_utf8()));
        let (text, after) = rest.split_at(length);
        if text.ends_with(['"', '#']) && text.contains('"') && !text.starts_with('/') {
            literals.push(text);
        }
        rest = after;
    }
    literals
}

/// The options in a text: two dashes and a name, not inside a word.
fn options(text: &str) -> Vec<&str> {
    let is_name = |c: char| c.is_ascii_lowercase() || c == '_' || c == '-';
    let starts = text.match_indices("--").map(|(at, _)| at);
    let begins = |&at: &usize| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '-');
    starts
        .filter(begins)
        .map(|at| &text[at..at + 2 + text[at + 2..].find(|c| !is_name(c)).unwrap_or(text.len() - at - 2)])
        .filter(|option| option[2..].starts_with(|c: char| c.is_ascii_lowercase()))
        .collect()
}

#[test]
fn options_are_found_in_literals_only() {
    let code = "// \"--comment\"\n/// \"--doc\"\nlet x = \"give --seed=1 or --pe_weights\"; r#\"--raw \"quoted\" --more\"#\n\
                '\"' \"a -- b, a--b\" \"---\"\n#[cfg(test)]\nmod tests { \"--test\" }";
    let found: Vec<&str> = literals(code).into_iter().flat_map(options).collect();
    assert_eq!(found, ["--seed", "--pe_weights", "--raw", "--more"]);
}
