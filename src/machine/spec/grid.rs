//! Meshes and tori, whose vertices may hold trees: `mesh:8x8`, `torus:4x4x2/4:16`.

use crate::machine::spec::{MachineKind, Request, SpecError, distance};
use crate::machine::{Dimension, Grid, Hierarchy, Machine};

pub(super) const MESH: MachineKind = MachineKind {
    name: "mesh",
    example: "mesh:8x8",
    about: "a grid of any number of dimensions; /4:16 behind it puts a tree on each vertex",
    make: |request| make(request, false),
};

pub(super) const TORUS: MachineKind = MachineKind {
    name: "torus",
    example: "torus:16x8x8",
    about: "the same, with the ends of each dimension joined",
    make: |request| make(request, true),
};

fn make(request: &Request<'_>, is_closed: bool) -> Result<Box<dyn Machine>, SpecError> {
    let (grid, tree) = match request.rest.split_once('/') {
        Some((grid, tree)) => (grid, Some(tree)),
        None => (request.rest, None),
    };
    let mut dimensions = Vec::new();
    for token in grid.split('x') {
        let length = request.number(token, "a length", 1, u32::MAX, TORUS.example)?;
        dimensions.push(Dimension { length, is_closed });
    }
    let (vertex, hop) = match tree {
        Some(tree) => vertex(request, tree)?,
        None => (Hierarchy::single(), request.only_distance()?),
    };
    request.machine(Grid::new(dimensions, vertex, hop))
}

/// The tree of a vertex and the length of a hop, which is the last distance.
fn vertex(request: &Request<'_>, tree: &str) -> Result<(Hierarchy, i64), SpecError> {
    for token in tree.split(':') {
        request.number(token, "a number of members", 1, u32::MAX, "torus:4x4x2/4:16")?;
    }
    let distances = request.distances(tree.split(':').count() + 1)?;
    let (inside, hop) = distances.rsplit_once(':').expect("there are two or more");
    Ok((request.valid(Hierarchy::parse(tree, inside))?, distance(hop)?))
}
