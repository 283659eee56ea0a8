//! Files do not import each other in circles, anywhere in the workspace.
//!
//! A name counts as an import of the file that defines it, whoever re-exports it. The root module of a folder (`mod.rs`, `lib.rs`) may list
//! what is below: there a re-exported name counts only if code of that file uses it, too.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::{CratePath, Mention, Source, sources};

/// The crates of the workspace with more than one file, by their folders.
const CRATES: [&str; 20] = [
    "src",
    "bin/src",
    "bindings/c/src",
    "bindings/c/ffi/src",
    "bindings/c/metis/src",
    "bindings/mpi/distributed/src",
    "bindings/mpi/parmetis/src",
    "bindings/python/src",
    "crates/cluster/src",
    "crates/distributed/src",
    "crates/distributed/mpi/src",
    "crates/io/src",
    "crates/launch/src",
    "crates/mesh/src",
    "crates/partition/src",
    "crates/report/src",
    "crates/traffic/src",
    "crates/training/src",
    "crates/verify/src",
    "crates/workload/src",
];

#[test]
fn files_do_not_import_each_other_in_circles() {
    for folder in CRATES {
        let left = in_circles(arrows(&sources(folder)));
        assert!(left.is_empty(), "in {folder}, these files and those they are imported by: {left:#?}");
    }
}

/// The imports of each module.
type Arrows = BTreeMap<String, BTreeSet<String>>;

fn arrows(sources: &[Source]) -> Arrows {
    let modules: BTreeMap<&[String], &Source> =
        sources.iter().map(|source| (&source.path[..], source)).collect();
    let mentions: Vec<_> = sources.iter().map(|source| (source, source.mentions())).collect();
    let mut exports: BTreeMap<(CratePath, String), CratePath> = BTreeMap::new();
    for (source, mentions) in &mentions {
        for mention in mentions {
            if let Some(name) = &mention.exported {
                exports.insert((source.path.clone(), name.clone()), mention.path.clone());
            }
        }
    }
    let mut arrows = Arrows::new();
    for (source, mentions) in &mentions {
        for mention in mentions {
            let target = modules[&defining(&mention.path, &modules, &exports)[..]];
            if source.path != target.path && !is_listed(source, mention) {
                let from = arrows.entry(source.path.join("::")).or_default();
                from.insert(target.path.join("::"));
            }
        }
    }
    arrows
}

/// The module in whose file the item of a path is defined.
fn defining(
    path: &[String],
    modules: &BTreeMap<&[String], &Source>,
    exports: &BTreeMap<(CratePath, String), CratePath>,
) -> CratePath {
    // Names are re-exported a few times at most.
    let mut path = path.to_vec();
    for _ in 0..8 {
        let length = (0..=path.len()).rev().find(|&length| modules.contains_key(&path[..length]));
        let length = length.expect("the root is a module");
        let Some(name) = path.get(length) else { return path };
        match exports.get(&(path[..length].to_vec(), name.clone())) {
            // A macro is handed on by the file that defines it.
            Some(target) if path.starts_with(target) => return path[..length].to_vec(),
            Some(target) => path = [target, &path[length + 1..]].concat(),
            None => return path[..length].to_vec(),
        }
    }
    panic!("{} is handed on in a circle", path.join("::"))
}

/// Returns whether a root module only lists a name.
fn is_listed(source: &Source, mention: &Mention) -> bool {
    source.is_face && mention.exported.as_ref().is_some_and(|name| !source.names(name))
}

/// The modules that import each other in circles, or that connect circles.
fn in_circles(mut arrows: Arrows) -> Arrows {
    loop {
        let sources: BTreeSet<String> = arrows.keys().cloned().collect();
        let targets: BTreeSet<String> = arrows.values().flatten().cloned().collect();
        let before = arrows.clone();
        // A module without imports among the remaining ones, or not imported by any, is in no circle.
        arrows.retain(|source, imports| {
            imports.retain(|target| sources.contains(target));
            !imports.is_empty() && targets.contains(source)
        });
        if arrows == before {
            return arrows;
        }
    }
}

#[test]
fn circles_are_found() {
    let source = |path: &str, is_face: bool, text: &str| {
        let path = path.split("::").filter(|part| !part.is_empty()).map(String::from).collect();
        Source { path, is_face, text: text.to_owned() }
    };
    let files = |c: &str| {
        vec![
            source("", true, "mod a; mod b; mod f;"),
            source("a", false, "use crate::b::x;"),
            source("b", false, "use crate::f::C;"),
            source("f", true, "mod c; pub use c::C;"),
            source("f::c", false, c),
        ]
    };
    let circle = in_circles(arrows(&files("use crate::a::y;")));
    assert_eq!(circle.keys().collect::<Vec<_>>(), ["a", "b", "f::c"]);
    // A root module lists what is below, but no code of it may use that if it is used there itself.
    let circle = |face: &str| {
        let files = [source("f", true, face), source("f::c", false, "use super::D;"), source("", true, "")];
        in_circles(arrows(&files)).into_keys().collect::<Vec<_>>()
    };
    assert!(circle("mod c; pub use c::C; pub struct D;").is_empty());
    assert_eq!(circle("mod c; pub use c::C; pub struct D(C);"), ["f", "f::c"]);
    assert_eq!(circle("mod c; pub struct D(c::C);"), ["f", "f::c"]);
}
