//! Machines that are written in full, such as `torus:4x4x2/4:16`: a file each.

mod shape;

pub(crate) use cube::Cube;
pub(crate) use grid::Grid;
pub(crate) use shape::{Lane, Result, Route, Written, fault, number};
pub(crate) use tree::{Tree, hops_in_groups};

use shape::{Read, numbers};

/// Declares the file of each machine, and the names by which its functions read it.
macro_rules! files {
    ($(mod $file:ident: $($name:literal by $read:ident),+;)+) => {
        $(mod $file;)+

        const NAMES: &[(&str, Read)] = &[$($(($name, $file::$read)),+),+];
    };
}

files! {
    mod cube: "hypercube" by read;
    mod grid: "mesh" by read_mesh, "torus" by read_torus;
    mod rails: "rails" by read;
    mod tree: "complete" by read_complete, "tree" by read;
}

/// The machine of a text, with these distances where it needs some.
pub(crate) fn read(spec: &str, distances: Option<&str>) -> Result<Box<dyn Written>> {
    let distances = distances.map_or(Ok(Vec::new()), |distances| numbers(distances, ':'))?;
    let (name, rest) = match spec.split_once(':') {
        Some((name, rest)) if name.starts_with(char::is_alphabetic) => (name, rest),
        _ => ("tree", spec),
    };
    match NAMES.iter().find(|(known, _)| *known == name) {
        Some((_, read)) => read(rest, distances),
        None => fault("unknown kind of machine"),
    }
}
