//! Programs in C that test one thing each, and say on which line they fail.

use crate::tools::{Program, STRICT};

/// Address and undefined behaviour sanitizers, which end the program at the first fault.
pub const SANITIZED: [&str; 3] = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g"];

fn strict(options: &[&str]) -> Program {
    Program::compile(
        "cc",
        options[0],
        &[&STRICT[..], &["-std=c99", "-D_POSIX_C_SOURCE=200809L"], &options[1..]].concat(),
    )
}

#[test]
fn results_are_right() {
    strict(&["tests/programs/results.c"]).run(&[]);
}

#[test]
fn results_are_right_under_sanitizers() {
    strict(&[&["tests/programs/results.c"], &SANITIZED[..]].concat()).run(&[]);
}

#[test]
fn hostile_arguments_are_errors() {
    strict(&[&["tests/programs/hostile.c"], &SANITIZED[..]].concat()).run(&[]);
}

#[test]
fn random_arguments_are_errors_or_give_results() {
    strict(&[&["tests/programs/random.c"], &SANITIZED[..]].concat()).run(&[]);
}

#[test]
fn missing_memory_is_an_error() {
    strict(&["tests/programs/memory.c"]).run(&[]);
}

#[test]
fn the_header_is_valid_cpp() {
    let options = [&STRICT[..], &["-std=c++98", "-Wno-long-long", "-x", "c++"]].concat();
    Program::compile("c++", "tests/programs/header.c", &options).run(&[]);
    strict(&["tests/programs/header.c"]).run(&[]);
}
