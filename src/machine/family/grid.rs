//! Grids as machines, whose parts are boxes.

use super::hierarchy::location_in;
use crate::base::types::PeId;
use crate::machine::metric::grid::Pes;
use crate::machine::parts::{Members, PartTree, Parts};
use crate::machine::spec::{MachineKind, Request, SpecError, distance};
use crate::machine::{
    Dimension, Distances, Division, Grid, Hierarchy, Interconnect, Located, Location, Machine, MachineError,
};

/// Fewer processes than places are mapped to a box if that is at most one part in this many of the machine: a mapping may need another shape.
const LEAST_SHARE: usize = 2;

/// Longer lists than one part in this many of the machine are divided as the whole is. Balances the time for the whole against J, which is the
/// same within 0.3 percent, on 36 lists.
const FEW_PES_SHARE: usize = 64;

impl Grid {
    fn distances_of(&self, pes: Pes<'_>) -> Result<Distances, MachineError> {
        if let Some(differences) = self.differences(pes)? {
            return Ok(Distances::Differences(differences));
        }
        let strides = self.strides();
        let is_narrow =
            strides.len() <= 8 && strides.iter().all(|(dimension, _)| dimension.length <= 1 << 14);
        Ok(if is_narrow {
            Distances::Hops(self.metric(pes)?)
        } else {
            Distances::WideHops(self.metric(pes)?)
        })
    }

    /// The parts of some PEs: the least box around them is halved across its longest side. If that is odd, the larger half is the first one
    /// or the second one, and in the two halves the other way round, so that no look at the rest of the machine is needed. O(n) for n
    /// PEs, for each halving.
    fn boxes_among(&self, sides: &[(Dimension, u32)], members: Members, is_first_larger: bool) -> PartTree {
        let size = self.vertex().num_pes() as PeId;
        let coordinate =
            |pe: PeId, (dimension, stride): (Dimension, u32)| pe / size / stride % dimension.length;
        let span = |&side| {
            let span = members.span(|pe| coordinate(pe, side));
            span.map(|(least, greatest)| (greatest - least, least, side))
        };
        // Among equals that of the longest step.
        let longest = sides.iter().filter_map(span).max_by_key(|&(steps, ..)| steps);
        let Some((steps, least, side)) = longest.filter(|&(steps, ..)| steps > 0) else {
            return self.vertex().tree_of(&members.renumbered(|pe| pe % size));
        };
        let half = if is_first_larger { (steps + 1).div_ceil(2) } else { steps.div_ceil(2) };
        let turn = is_first_larger ^ (steps % 2 == 0);
        let [first, second] = members.separated(|pe| coordinate(pe, side) - least < half);
        PartTree::Divided(vec![self.boxes_among(sides, first, turn), self.boxes_among(sides, second, !turn)])
    }

    /// Boxes, halved across their longest side. If that is odd, the larger half is alternately the first and the second.
    fn boxes(&self) -> Parts {
        let size = self.vertex().num_pes();
        let strides = self.strides();
        let mut is_first_larger = true;
        let mut rest = Vec::new();
        // Every part is a box of vertices, or the PEs of a group of one.
        Parts::divide((0..self.num_pes as PeId).collect(), |pes| {
            if pes.len() <= size {
                return self.vertex().children_of(pes.len());
            }
            // The order inside a box is that of the numbers, so its first and last PE are its corners.
            let [first, last] = [pes[0], pes[pes.len() - 1]].map(|pe| pe / size as PeId);
            // The longest side, and how many PEs a step along it goes over; among equals that of the longest step.
            let (mut longest, mut step, mut volume) = (0, size, size);
            for &(dimension, stride) in &strides {
                let coordinate = |vertex: u32| vertex / stride % dimension.length;
                let length = (coordinate(last) - coordinate(first) + 1) as usize;
                if length >= longest {
                    (longest, step) = (length, volume);
                }
                volume *= length;
            }
            let half = if is_first_larger { longest.div_ceil(2) } else { longest / 2 };
            is_first_larger ^= longest % 2 == 1;
            bring_forward(pes, longest * step, half * step, &mut rest);
            let first = pes.len() / longest * half;
            vec![first, pes.len() - first]
        })
    }
}

/// Moves the first `run` of each `row` PEs before all others, which are buffered in `rest`; the order is otherwise kept. O(n), and O(1) for a
/// single row.
fn bring_forward(pes: &mut [PeId], row: usize, run: usize, rest: &mut Vec<PeId>) {
    if row == pes.len() {
        return;
    }
    rest.clear();
    let mut end = 0;
    for begin in (0..pes.len()).step_by(row) {
        rest.extend_from_slice(&pes[begin + run..begin + row]);
        pes.copy_within(begin..begin + run, end);
        end += run;
    }
    pes[end..].copy_from_slice(rest);
}

impl Machine for Grid {
    fn num_pes(&self) -> usize {
        self.num_pes
    }

    fn distances(&self) -> Result<Distances, MachineError> {
        self.distances_of(Pes::All(self.num_pes))
    }

    fn distances_among(&self, list: &[PeId]) -> Result<Distances, MachineError> {
        self.distances_of(Pes::Listed(list))
    }

    fn room(&self) -> u64 {
        self.num_pes as u64
    }

    fn interconnect(&self) -> Interconnect {
        Interconnect::Grid(self.clone())
    }

    fn division(&self) -> Division {
        Division::Parts(self.boxes())
    }

    fn division_among(&self, list: &[PeId]) -> Division {
        if self.num_pes / FEW_PES_SHARE <= list.len() {
            return self.division().listed(list);
        }
        let tree = self.boxes_among(&self.strides(), Members::all_of(list), true);
        Division::Parts(Parts::from_tree(&tree))
    }

    /// A box whose sides are equal, or as long as the machine where that is narrower.
    fn compact_pes(&self, least: usize) -> Option<Vec<PeId>> {
        let size = self.vertex().num_pes();
        let volume = |side: u32| -> usize {
            let lengths = self.dimensions().iter().map(|dimension| dimension.length.min(side) as usize);
            lengths.product()
        };
        let most = self.num_pes / size / LEAST_SHARE;
        let side = (1..).find(|&side| volume(side) >= least.div_ceil(size).min(most + 1))?;
        if volume(side) > most {
            return None;
        }
        let mut pes: Vec<PeId> = (0..size as PeId).collect();
        let mut stride = size as PeId;
        for dimension in self.dimensions() {
            let steps = 0..dimension.length.min(side);
            pes = steps.flat_map(|step| pes.iter().map(move |pe| pe + step * stride)).collect();
            stride *= dimension.length;
        }
        Some(pes)
    }

    fn describe(&self) -> String {
        let lengths: Vec<String> = self.dimensions().iter().map(|side| side.length.to_string()).collect();
        let kind = match self.dimensions().iter().filter(|side| side.is_closed).count() {
            0 => "mesh",
            closed if closed == self.dimensions().len() => "torus",
            _ => "grid",
        };
        match self.vertex().num_pes() {
            1 => format!("{kind} of {}", lengths.join(" x ")),
            pes => format!("{kind} of {} vertices with {pes} processing elements each", lengths.join(" x ")),
        }
    }

    fn located(&self) -> Option<&dyn Located> {
        Some(self)
    }
}

impl Located for Grid {
    /// Vertices are nodes.
    fn location(&self, pe: PeId) -> Location {
        location_in(self.vertex().arities(), pe)
    }
}

pub(super) const KINDS: &[MachineKind] = &[
    MachineKind {
        name: "mesh",
        example: "mesh:8x8",
        distances: None,
        about: "a grid of any number of dimensions; /4:16 behind it puts a tree on each vertex",
        make: |request| written(request, false),
    },
    MachineKind {
        name: "torus",
        example: "torus:16x8x8",
        distances: None,
        about: "the same, with the ends of each dimension joined",
        make: |request| written(request, true),
    },
];

fn written(request: &Request<'_>, is_closed: bool) -> Result<Box<dyn Machine>, SpecError> {
    let (grid, tree) = match request.rest.split_once('/') {
        Some((grid, tree)) => (grid, Some(tree)),
        None => (request.rest, None),
    };
    let mut dimensions = Vec::new();
    for token in grid.split('x') {
        let length = request.number(token, "a length", 1, u32::MAX, "torus:16x8x8")?;
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
