//! Files and folders.

use std::fs;
use std::path::{Path, PathBuf};

/// The names of the entries of a folder, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A file of `instances/`.
pub fn instance(name: &str) -> PathBuf {
    root().join("instances").join(name)
}

/// The root of the project, from whichever package this is compiled in.
pub fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().find(|folder| folder.join("instances").is_dir()).expect("a checkout with instances")
}
