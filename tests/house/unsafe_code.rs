//! Unsafe code is only where `docs/DESIGN.md` says, and each function that has some says why it is sound.

use std::fs;
use std::path::Path;

use crate::code::{sources, tokens};
use crate::documents::folders;

/// Whether code before an unsafe block says why that is sound: in its function, or in the comment of that.
fn is_justified(before: &[&str]) -> bool {
    let is_head = |line: &&str| line.split_whitespace().any(|word| word == "fn");
    let head = before.iter().rposition(is_head).unwrap_or(0);
    let is_comment = |line: &&&str| line.trim_start().starts_with(['/', '#']);
    let comment = before[..head].iter().rev().take_while(is_comment);
    before[head..].iter().chain(comment).any(|line| line.contains("SAFETY: ") || line.contains("# Safety"))
}

/// The lines, counted from 1, of unsafe blocks without a reason.
fn unjustified(code: &str) -> Vec<usize> {
    let lines: Vec<&str> = code.lines().collect();
    let has_block = |line: &str| line.contains("unsafe {") && !line.trim_start().starts_with("//");
    let blocks = (0..lines.len()).filter(|&at| has_block(lines[at]));
    blocks.filter(|&at| !is_justified(&lines[..=at])).map(|at| at + 1).collect()
}

#[test]
fn unsafe_code_is_in_few_files_and_justified() {
    let (mut places, mut faults) = (Vec::new(), Vec::new());
    for folder in folders() {
        let folder = if folder == "." { "src".to_owned() } else { format!("{folder}/src") };
        for source in sources(&folder).iter().filter(|source| tokens(&source.text).contains(&"unsafe")) {
            let file = format!("{folder}/{}", source.path.join("/"));
            faults.extend(unjustified(&source.text).iter().map(|line| format!("{file}, line {line}")));
            if !folder.starts_with("bindings/") {
                places.push(file);
            }
        }
    }
    places.sort();
    let allowed =
        ["bin/src/console", "bin/src/memory", "crates/io/src/output", "crates/partition/src/base/vector"];
    assert_eq!(places, allowed);
    assert_eq!(faults, [""; 0], "unsafe without a reason");
}

#[test]
fn every_package_denies_unsafe_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in folders() {
        let manifest = fs::read_to_string(root.join(&folder).join("Cargo.toml")).unwrap();
        assert!(manifest.contains("[lints]\nworkspace = true"), "{folder}");
    }
    let workspace = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    assert!(workspace.contains("unsafe_code = \"deny\""));
}

#[test]
fn reasons_are_found_around_blocks() {
    let code = "/// # Safety\n/// None.\nunsafe fn f() {\n    unsafe { g() }\n}\n\
                fn g() {\n    // SAFETY: it is.\n    unsafe { h() }\n}\n\
                fn h() {\n    unsafe { h() }\n}\n";
    assert_eq!(unjustified(code), [11]);
}
