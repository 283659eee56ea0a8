//! Library, programs, C and Python need no particular system: what only some have is marked `#[cfg(...)]`, and files of one system are read where others
//! have an answer, too. The libraries that stand in for others, and those for MPI, are for Unix.

use crate::code::{Source, sources, tokens, without_items, without_tests};
use crate::documents::folders;

/// Packages of one system: they stand in for libraries that are loaded by `dlopen`, or call MPI.
const OF_UNIX: [&str; 6] = [
    "bindings/c/kahip",
    "bindings/c/metis",
    "bindings/c/scotch",
    "bindings/mpi/distributed",
    "bindings/mpi/parmetis",
    "crates/distributed/mpi",
];

/// Crates that have functions of one system only.
const CRATES: [&str; 5] = ["ctor", "libc", "nix", "rustix", "windows_sys"];

/// Modules whose parents mark them.
const MARKED: [&str; 1] = ["bindings/c/ffi/src/original"];

/// Files that read those of Linux, and have another answer where there are none.
const READERS: [&str; 3] =
    ["crates/cluster/src/spec/cluster/inside", "crates/io/src/place", "crates/partition/src/base/memory"];

/// The files of all packages that need no particular system, with their paths; without tests.
fn portable() -> Vec<(String, Source)> {
    let folders = folders().into_iter().filter(|folder| !OF_UNIX.contains(&folder.as_str()));
    let files = folders.flat_map(|folder| {
        let folder = if folder == "." { "src".to_owned() } else { format!("{folder}/src") };
        let sources = sources(&folder).into_iter();
        sources.map(move |source| (format!("{folder}/{}", source.path.join("/")), source))
    });
    let is_test = |path: &str| path.split('/').any(|part| part == "tests");
    files.filter(|(path, _)| !is_test(path)).collect()
}

/// What code names of one system without a mark.
fn unmarked(code: &str) -> Vec<String> {
    let tokens = without_tests(&tokens(code));
    let names_system = |token: &&str| matches!(*token, "unix" | "windows" | "target_os");
    let tokens = without_items(&tokens, |condition| condition.iter().any(names_system));
    let modules = tokens.windows(3).filter(|path| path[..2] == ["os", "::"]).map(|path| path[2]);
    let modules = modules.filter(|module| matches!(*module, "unix" | "linux" | "fd" | "windows"));
    let crates = tokens.windows(2).filter(|path| path[1] == "::" && CRATES.contains(&path[0]));
    modules.map(|module| format!("os::{module}")).chain(crates.map(|path| path[0].to_owned())).collect()
}

#[test]
fn functions_of_one_system_are_marked() {
    let files = portable();
    assert!(files.len() > 300);
    let faults = files.iter().filter(|(path, _)| !MARKED.contains(&path.as_str()));
    let faults = faults.flat_map(|(path, source)| {
        unmarked(&source.text).into_iter().map(move |name| format!("{path}: {name}"))
    });
    assert_eq!(faults.collect::<Vec<_>>(), [""; 0], "names of one system without `#[cfg(...)]`");
}

#[test]
fn files_of_linux_are_read_in_few_places() {
    let names = ["\"/proc", "\"/sys", "\"/dev"];
    let code = |text: &str| text.split("#[cfg(test)]\nmod ").next().unwrap_or_default().to_owned();
    let reads = |text: &str| {
        code(text)
            .lines()
            .any(|line| !line.trim_start().starts_with("//") && names.iter().any(|name| line.contains(name)))
    };
    let mut readers: Vec<String> =
        portable().into_iter().filter(|(_, source)| reads(&source.text)).map(|(path, _)| path).collect();
    readers.sort();
    assert_eq!(readers, READERS);
}

/// Sizes and positions are counted by `usize`: with fewer bits, sums of them would have to be checked anywhere.
#[test]
fn addresses_of_fewer_bits_are_refused() {
    for file in ["crates/partition/src/lib.rs", "crates/verify/src/lib.rs"] {
        let text = crate::documents::read(file);
        assert!(text.contains("#[cfg(not(target_pointer_width = \"64\"))]\ncompile_error!("), "{file}");
    }
}

#[test]
fn bytes_are_ordered_alike_on_all_systems() {
    let native = ["from_ne_bytes", "to_ne_bytes", "align_to"];
    let files = portable();
    let named = |source: &Source| tokens(&source.text).iter().any(|token| native.contains(token));
    let faults: Vec<&String> =
        files.iter().filter(|(_, source)| named(source)).map(|(path, _)| path).collect();
    assert_eq!(faults, [""; 0], "the order of bytes depends on the processor");
}

#[test]
fn marks_are_found() {
    let marked =
        "#[cfg(unix)]\nuse std::os::fd::AsFd;\n#[cfg(any(unix, windows))]\nfn f() { rustix::io::f(); }\n";
    assert_eq!(unmarked(marked), [""; 0]);
    let code = format!(
        "{marked}fn g() {{\n    #[cfg(not(unix))]\n    return;\n    libc::free(std::os::unix::f())\n}}"
    );
    assert_eq!(unmarked(&code), ["os::unix", "libc"]);
}
