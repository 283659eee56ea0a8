//! Packages that are built together in one folder share what they depend on: with one set of features, it is compiled once.

use std::collections::BTreeMap;
use std::process::Command;

use crate::documents::{folders, read};

/// The engine, and the programs and libraries that are built after one another.
const BUILT_TOGETHER: [&[&str]; 2] = [
    &[
        "viem",
        "viem-cli",
        "viem-capi",
        "viem-metis",
        "viem-kahip",
        "viem-scotch",
        "viem-dist-capi",
        "viem-parmetis",
    ],
    &["viem-capi", "viem-metis", "viem-kahip", "viem-scotch", "viem-dist-capi", "viem-parmetis"],
];

/// The dependencies of a package with their features, as cargo lists them.
fn features_of(package: &str) -> BTreeMap<String, String> {
    let arguments =
        ["tree", "--offline", "--locked", "--edges=normal", "--prefix=none", "--format={p}|{f}", "--package"];
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .arg(package)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        // Where features are unified for all packages, there is nothing to find.
        .env_remove("CARGO_UNSTABLE_FEATURE_UNIFICATION")
        .env_remove("CARGO_RESOLVER_FEATURE_UNIFICATION")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let row = |line: &str| {
        let (name, features) = line.trim_end_matches(" (*)").split_once('|')?;
        let version: Vec<&str> = name.split(' ').take(2).collect();
        Some((version.join(" "), features.to_owned()))
    };
    text.lines().filter_map(row).collect()
}

/// Dependencies of the first package have the same features for all.
#[test]
fn dependencies_are_compiled_once() {
    for packages in BUILT_TOGETHER {
        let first = features_of(packages[0]);
        assert!(first.len() > 10, "{first:?}");
        for package in &packages[1..] {
            let other = features_of(package);
            let differ = |(name, features): (&String, &String)| {
                let found = other.get(name).filter(|found| *found != features)?;
                Some(format!("{name}: {features} for {}, {found} for {package}", packages[0]))
            };
            let differences: Vec<String> = first.iter().filter_map(differ).collect();
            assert!(differences.is_empty(), "{differences:#?}");
        }
    }
}

/// Packages of the library have no features, and those for C, MPI and Python are not built with the programs.
#[test]
fn the_programs_compile_each_package_once_and_nothing_for_c_or_mpi() {
    let is_apart =
        |folder: &String| folder.starts_with("bindings/") || folder.starts_with("crates/distributed");
    let (apart, built): (Vec<String>, Vec<String>) = folders().into_iter().partition(is_apart);
    let manifest = read("Cargo.toml");
    let listed = manifest.split_once("default-members = [").unwrap().1.split_once(']').unwrap().0;
    let mut listed: Vec<&str> = listed.split('"').skip(1).step_by(2).collect();
    listed.sort_unstable();
    let mut expected = built.clone();
    expected.sort_unstable();
    assert_eq!(listed, expected);
    assert!(apart.len() > 5);
    for folder in built {
        assert!(!read(&format!("{folder}/Cargo.toml")).contains("[features]"), "{folder}");
    }
}
