//! The axes of machines that are built regularly.

use crate::base::types::Distance;
use crate::machine::{Grid, Hierarchy, Interconnect, Machine};

/// One coordinate of the PEs of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    /// The number of coordinates, at least 2.
    pub length: usize,
    /// The distance of PEs next to each other along the axis.
    pub unit: Distance,
    pub shape: AxisShape,
}

/// How distances grow along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AxisShape {
    /// They do not.
    Level,
    /// By a unit for each step.
    Open,
    /// The same, the shorter way round.
    Closed,
}

/// The axes of the PEs of a tree or of a grid of trees, the fastest varying one in the numbers of PEs first. Empty for other machines.
pub(super) fn axes_of(machine: &dyn Machine) -> Vec<Axis> {
    let axes = match machine.interconnect() {
        Interconnect::Grid(grid) => of_grid(&grid),
        Interconnect::Tree(tree) => of_tree(&tree),
        _ => Vec::new(),
    };
    let axes: Vec<Axis> = axes.into_iter().filter(|axis| axis.length > 1).collect();
    let num_pes: usize = axes.iter().map(|axis| axis.length).product();
    if num_pes == machine.num_pes() { axes } else { Vec::new() }
}

fn of_tree(tree: &Hierarchy) -> Vec<Axis> {
    let levels = tree.arities().iter().zip(tree.distances());
    let axis =
        |(&arity, &unit): (&u32, &Distance)| Axis { length: arity as usize, unit, shape: AxisShape::Level };
    levels.map(axis).collect()
}

fn of_grid(grid: &Grid) -> Vec<Axis> {
    let dimensions = grid.dimensions().iter().map(|dimension| Axis {
        length: dimension.length as usize,
        unit: grid.hop(),
        shape: if dimension.is_closed { AxisShape::Closed } else { AxisShape::Open },
    });
    of_tree(grid.vertex()).into_iter().chain(dimensions).collect()
}
