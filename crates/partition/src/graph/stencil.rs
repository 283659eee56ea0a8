//! Graphs that are Cartesian grids with a stencil.
//!
//! *Problem.* Cells of a grid of any dimension are the vertices, numbered in lexicographic order: the last coordinate changes fastest, as for ranks
//! of a Cartesian communicator of MPI. Each cell is joined to those at some offsets, as far as they are cells; closed dimensions continue at the
//! other end. All edges of an offset weigh the same. The last cells may be missing, so that the last layer along the outermost dimension is incomplete.
//! Given the graph alone, find lengths, closed dimensions, offsets and weights.
//!
//! *Algorithm.* Take the edges whose ends differ by one number. They exist for runs of vertices, and runs repeat with the stride of the dimension
//! outside of the innermost one that the offset leads along. The first period of each difference thus yields a stride. Strides divide each other
//! and the number of cells, which leaves one list of lengths. If that is no grid, strides that do not divide the number of cells are tried. Where all differences inside of a dimension are multiples of a number, that number is a stride, too: no offset
//! leads along the dimension inside of it. Then every vertex is checked: it has as many edges as there are offsets that lead to a cell, each is one of
//! them, and has its weight. So what is found is exact.
//!
//! *Cost.* O(n + m) for the periods, O((n + m) · dimensions) for the check; a graph with many differences is refused after few of its edges. Memory: O(offsets).

use hashbrown::HashMap;

use super::CsrGraph;
use crate::base::types::{NodeId, Weight};

/// A grid with more differences of numbers than this is not recognised. Stencils of 26 neighbours in three closed dimensions have 2 · 4³, those of
/// reach two in three open dimensions 62; orders of unstructured graphs have thousands.
const MOST_DIFFERENCES: usize = 512;

/// Of this many dimensions that may be closed, all subsets are tried; of more, only all and none.
const MOST_TRIED: usize = 4;

/// A Cartesian grid with a stencil, whose cells are numbered in lexicographic order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stencil {
    lengths: Vec<usize>,
    is_closed: Vec<bool>,
    offsets: Vec<Offset>,
    num_cells: usize,
}

/// Where a stencil leads from a cell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Offset {
    /// The steps along each dimension, the outermost first. In a closed one of length l, they are from -(l - 1) / 2 to l / 2.
    pub steps: Vec<i64>,
    /// The weight of the edge.
    pub weight: Weight,
}

impl Stencil {
    /// The grid and the stencil of a graph; `None` if it is no such graph. Vertices without edges behind all others are left out.
    ///
    /// ```
    /// use viem::graph::{generate, stencil::Stencil};
    ///
    /// let stencil = Stencil::of(&generate::grid(8, 5)).expect("five rows of eight");
    /// assert_eq!((stencil.lengths(), stencil.offsets().len()), (&[5, 8][..], 4));
    /// assert!(Stencil::of(&generate::mesh(8, 5, 1)).is_none());
    /// ```
    pub fn of(graph: &CsrGraph) -> Option<Self> {
        let count = graph.nodes().rev().find(|&node| graph.degree(node) > 0)? as usize + 1;
        let runs = runs(graph)?;
        let whole = strides(&runs, count, true);
        let of_strides = |strides: &[usize]| {
            let lengths: Vec<usize> = strides.windows(2).map(|pair| pair[0] / pair[1]).collect();
            let seen = Seen::of(graph, Cells { lengths: &lengths, count })?;
            seen.may_be_closed().into_iter().find_map(|is_closed| seen.checked(graph, is_closed))
        };
        of_strides(&whole).or_else(|| {
            let incomplete = strides(&runs, count, false);
            if incomplete == whole { None } else { of_strides(&incomplete) }
        })
    }

    /// The number of cells along each dimension, at least two, the outermost first. The last layer along the outermost one may be incomplete.
    pub fn lengths(&self) -> &[usize] {
        &self.lengths
    }

    /// Whether each dimension continues at its other end.
    pub fn is_closed(&self) -> &[bool] {
        &self.is_closed
    }

    /// Where the stencil leads, in ascending order; with each offset, the opposite one.
    pub fn offsets(&self) -> &[Offset] {
        &self.offsets
    }

    /// Number of cells.
    pub fn num_cells(&self) -> usize {
        self.num_cells
    }

    /// By how much the numbers of cells differ that are next to each other along a dimension.
    pub fn stride(&self, dimension: usize) -> usize {
        self.lengths[dimension + 1..].iter().product()
    }

    /// The coordinate of a cell along a dimension.
    pub fn coordinate(&self, cell: NodeId, dimension: usize) -> usize {
        cell as usize / self.stride(dimension) % self.lengths[dimension]
    }

    /// The cell to which an offset leads, if there is one; O(dimensions).
    pub fn cell_at(&self, cell: NodeId, offset: &Offset) -> Option<NodeId> {
        let (mut left, mut unit, mut number) = (cell as usize, 1, 0);
        for (dimension, &length) in self.lengths.iter().enumerate().rev() {
            let there = (left % length) as i64 + offset.steps[dimension];
            let around = there.rem_euclid(length as i64);
            if !self.is_closed[dimension] && there != around {
                return None;
            }
            (number, unit, left) = (number + around as usize * unit, unit * length, left / length);
        }
        (number < self.num_cells).then_some(number as NodeId)
    }
}

/// The strides of a grid that a graph of these runs may be, descending to 1. The first one is the number of cells, including those that are missing unless
/// the grid is whole.
fn strides(runs: &HashMap<NodeId, Run>, count: usize, is_whole: bool) -> Vec<usize> {
    let mut periods: Vec<usize> = runs.values().filter_map(|run| run.period).collect();
    periods.sort_unstable();
    let mut strides = vec![1];
    for stride in periods {
        let last = strides[strides.len() - 1];
        if stride > last && stride.is_multiple_of(last) && (!is_whole || count.is_multiple_of(stride)) {
            strides.push(stride);
        }
    }
    let last = strides[strides.len() - 1];
    if count > last {
        strides.push(count.next_multiple_of(last));
    }
    let between = |inner: usize, outer: usize| {
        let differences = runs.keys().map(|&difference| difference as usize);
        let inside = differences.filter(|&by| by < outer && by.is_multiple_of(inner));
        let common = inside.fold(0, greatest_common_divisor);
        (common > inner && outer.is_multiple_of(common)).then_some(common)
    };
    let further: Vec<usize> = strides.windows(2).filter_map(|pair| between(pair[0], pair[1])).collect();
    strides.extend(further);
    strides.sort_unstable_by(|a, b| b.cmp(a));
    strides
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// The vertices that have an edge to the one whose number is greater by a difference.
struct Run {
    first: NodeId,
    last: NodeId,
    /// From the beginning of the first run of consecutive ones to that of the second.
    period: Option<usize>,
}

/// The first run of each difference of numbers; `None` if there are too many.
fn runs(graph: &CsrGraph) -> Option<HashMap<NodeId, Run>> {
    let mut runs: HashMap<NodeId, Run> = HashMap::new();
    for node in graph.nodes() {
        for &other in graph.neighbours(node).iter().filter(|&&other| other > node) {
            let begin = Run { first: node, last: node, period: None };
            let run = runs.entry(other - node).or_insert(begin);
            if run.period.is_none() && node > run.last + 1 {
                run.period = Some((node - run.first) as usize);
            }
            run.last = node;
        }
        if runs.len() > MOST_DIFFERENCES {
            return None;
        }
    }
    Some(runs)
}

/// The cells of a grid.
#[derive(Clone, Copy)]
struct Cells<'a> {
    lengths: &'a [usize],
    count: usize,
}

impl Cells<'_> {
    /// The coordinates of a cell, the innermost first.
    fn coordinates(self, cell: NodeId) -> impl Iterator<Item = (usize, i64)> {
        let mut left = cell as usize;
        self.lengths.iter().enumerate().rev().map(move |(dimension, &length)| {
            let coordinate = left % length;
            left /= length;
            (dimension, coordinate as i64)
        })
    }

    /// The steps from one cell to another as one number.
    fn code(self, from: NodeId, to: NodeId) -> u64 {
        let pairs = self.coordinates(from).zip(self.coordinates(to));
        let digits = pairs.map(|((dimension, here), (_, there))| (self.lengths[dimension], there - here));
        digits
            .fold((0, 1), |(code, unit), (length, step)| {
                (code + (step + length as i64 - 1) as u64 * unit, unit * (2 * length as u64 - 1))
            })
            .0
    }

    fn steps(self, from: NodeId, to: NodeId) -> Vec<i64> {
        let mut steps = vec![0; self.lengths.len()];
        let pairs = self.coordinates(from).zip(self.coordinates(to));
        pairs.for_each(|((dimension, here), (_, there))| steps[dimension] = there - here);
        steps
    }
}

/// The steps between the ends of edges, as if no dimension were closed.
struct Seen<'a> {
    cells: Cells<'a>,
    /// The index of steps in the next list, by their code.
    index: HashMap<u64, usize>,
    steps: Vec<Offset>,
}

impl<'a> Seen<'a> {
    /// `None` if steps have edges of different weight, or if there are too many.
    fn of(graph: &CsrGraph, cells: Cells<'a>) -> Option<Self> {
        let mut seen = Self { cells, index: HashMap::new(), steps: Vec::new() };
        for node in graph.nodes() {
            for (other, weight) in graph.arcs(node) {
                let next = seen.steps.len();
                let index = *seen.index.entry(cells.code(node, other)).or_insert(next);
                if index == next {
                    seen.steps.push(Offset { steps: cells.steps(node, other), weight });
                }
                if seen.steps[index].weight != weight || next > 2 * MOST_DIFFERENCES {
                    return None;
                }
            }
        }
        Some(seen)
    }

    /// The sets of closed dimensions that are possible. What leads further than half around is a sign of one.
    fn may_be_closed(&self) -> Vec<Vec<bool>> {
        let is_far = |dimension: usize| {
            let length = self.cells.lengths[dimension] as i64;
            self.steps.iter().any(|offset| 2 * offset.steps[dimension].abs() > length)
        };
        let far: Vec<usize> = (0..self.cells.lengths.len()).filter(|&dimension| is_far(dimension)).collect();
        let all = (1usize << far.len().min(MOST_TRIED)) - 1;
        let subsets =
            (0..=all).rev().filter(|&subset| far.len() <= MOST_TRIED || subset == 0 || subset == all);
        subsets
            .map(|subset| {
                let mut is_closed = vec![false; self.cells.lengths.len()];
                (0..).zip(&far).for_each(|(bit, &dimension): (usize, _)| {
                    is_closed[dimension] = subset >> bit.min(MOST_TRIED - 1) & 1 == 1;
                });
                is_closed
            })
            .collect()
    }

    /// The stencil, if the graph is that of the grid with these closed dimensions.
    fn checked(&self, graph: &CsrGraph, is_closed: Vec<bool>) -> Option<Stencil> {
        let Cells { lengths, .. } = self.cells;
        let around = |(dimension, &step): (usize, &i64)| {
            let length = lengths[dimension] as i64;
            let forward = step.rem_euclid(length);
            match is_closed[dimension] {
                true if 2 * forward > length => forward - length,
                true => forward,
                false => step,
            }
        };
        let shortest = |offset: &Offset| Offset {
            steps: offset.steps.iter().enumerate().map(around).collect(),
            weight: offset.weight,
        };
        let mut offsets: Vec<Offset> = self.steps.iter().map(shortest).collect();
        offsets.sort_unstable();
        offsets.dedup();
        // The same steps with two weights.
        if offsets.windows(2).any(|pair| pair[0].steps == pair[1].steps) {
            return None;
        }
        let stencil = Stencil { lengths: lengths.to_vec(), is_closed, offsets, num_cells: self.cells.count };
        let is_whole = |cell: NodeId| {
            let leads_to_cell = |offset: &&Offset| stencil.cell_at(cell, offset).is_some();
            stencil.offsets.iter().filter(leads_to_cell).count() == graph.degree(cell)
        };
        let all_are_whole = (0..self.cells.count as NodeId).all(is_whole);
        all_are_whole.then_some(stencil)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::graph::generate;
    use crate::testing::{first_vertices, random_graph};

    /// Offsets with their opposites, for lengths of at least this many times their reach.
    fn offsets(halves: &[(&[i64], Weight)]) -> Vec<Offset> {
        let both = halves.iter().flat_map(|&(steps, weight)| {
            [1, -1].map(|sign| Offset { steps: steps.iter().map(|step| sign * step).collect(), weight })
        });
        both.collect()
    }

    #[test]
    fn grids_are_found_with_lengths_closed_dimensions_and_weights() {
        let cases: [(&[usize], &[bool], Vec<Offset>); 8] = [
            (&[50, 48], &[false, false], offsets(&[(&[1, 0], 1), (&[0, 1], 1)])),
            (&[50, 48], &[false, false], offsets(&[(&[1, 0], 1), (&[0, 1], 1), (&[2, 0], 1), (&[3, 0], 1)])),
            (&[50, 48], &[false, false], offsets(&[(&[1, 0], 7)])),
            (&[16, 5, 10], &[false, false, false], offsets(&[(&[1, 0, 0], 2), (&[0, 0, 1], 3)])),
            (&[6, 5, 7], &[true, false, true], offsets(&[(&[1, 0, 0], 2), (&[0, 1, 0], 3), (&[0, 0, 1], 4)])),
            (&[9, 8], &[true, true], offsets(&[(&[1, 0], 1), (&[0, 1], 1), (&[1, 1], 5), (&[1, -1], 5)])),
            (&[9, 8], &[false, false], offsets(&[(&[1, 0], 1), (&[0, 1], 1), (&[1, 1], 5), (&[1, -1], 2)])),
            (
                &[5, 6, 7, 4],
                &[false; 4],
                offsets(&[(&[1, 0, 0, 0], 1), (&[0, 1, 0, 0], 1), (&[0, 0, 1, 0], 1), (&[0, 0, 0, 1], 1)]),
            ),
        ];
        for (lengths, is_closed, mut expected) in cases {
            let graph = generate::stencil(lengths, is_closed, &expected);
            let found = Stencil::of(&graph).unwrap_or_else(|| panic!("{lengths:?} is a grid"));
            expected.sort();
            assert_eq!(
                (found.lengths(), found.is_closed(), found.offsets()),
                (lengths, is_closed, &expected[..])
            );
            assert_eq!(found.num_cells(), graph.num_nodes());
            assert_eq!(Stencil::of(&graph.with_isolated_nodes(graph.num_nodes() + 3)), Some(found));
        }
    }

    /// Grids whose last layer is incomplete are found; cells that are missing elsewhere, and edges that are, make a graph no grid.
    #[test]
    fn the_last_layer_may_be_incomplete() {
        let cases: [(&[usize], &[bool], Vec<Offset>); 5] = [
            (&[50, 48], &[false, false], offsets(&[(&[1, 0], 1), (&[0, 1], 1)])),
            (&[50, 48], &[false, false], offsets(&[(&[1, 0], 1), (&[0, 1], 2), (&[2, 0], 1), (&[3, 0], 1)])),
            (&[9, 8], &[false, true], offsets(&[(&[1, 0], 1), (&[0, 1], 1), (&[1, 1], 5), (&[1, -1], 5)])),
            (&[16, 5, 10], &[false; 3], offsets(&[(&[1, 0, 0], 2), (&[0, 1, 0], 1), (&[0, 0, 1], 3)])),
            (
                &[6, 5, 7],
                &[false, false, true],
                offsets(&[(&[1, 0, 0], 2), (&[0, 1, 0], 3), (&[0, 0, 1], 4)]),
            ),
        ];
        for (lengths, is_closed, mut expected) in cases {
            expected.sort();
            let grid = generate::stencil(lengths, is_closed, &expected);
            let layer = grid.num_nodes() / lengths[0];
            for missing in (1..layer).step_by(3) {
                let count = grid.num_nodes() - missing;
                let first = first_vertices(&grid, count);
                let found = Stencil::of(&first).unwrap_or_else(|| panic!("{lengths:?} without {missing}"));
                assert_eq!(
                    (found.lengths(), found.is_closed(), found.offsets(), found.num_cells()),
                    (lengths, is_closed, &expected[..], count)
                );
                let edges = |graph: &CsrGraph, left_out: usize| {
                    let pairs =
                        graph.nodes().flat_map(|u| graph.arcs(u).map(move |(v, weight)| (u, v, weight)));
                    let mut builder = crate::graph::GraphBuilder::new(count);
                    let kept =
                        pairs.filter(|&(u, v, _)| u < v).enumerate().filter(|&(index, _)| index != left_out);
                    kept.for_each(|(_, (u, v, weight))| builder.add_edge(u, v, weight));
                    builder.build().unwrap()
                };
                let left_out = missing * 7 % (first.num_arcs() / 2 - 1);
                assert_eq!(Stencil::of(&edges(&first, left_out)), None, "{lengths:?} without {missing}");
            }
        }
    }

    /// Lengths and offsets may be found in another form, such as one dimension instead of two, but their graph is the same.
    #[test]
    fn what_is_found_has_the_edges_of_the_graph() {
        let mut rng = Rng::new(5);
        let mut found = 0;
        for _ in 0..400 {
            let dimensions = 1 + rng.below(4) as usize;
            let lengths: Vec<usize> = (0..dimensions).map(|_| 2 + rng.below(5) as usize).collect();
            let is_closed: Vec<bool> = lengths.iter().map(|_| rng.below(2) == 0).collect();
            let half =
                |rng: &mut Rng| lengths.iter().map(|_| i64::from(rng.below(3)) - 1).collect::<Vec<i64>>();
            let halves: Vec<(Vec<i64>, Weight)> = (0..3).map(|_| (half(&mut rng), 1)).collect();
            let halves: Vec<(&[i64], Weight)> =
                halves.iter().map(|(steps, weight)| (&steps[..], *weight)).collect();
            let graph = generate::stencil(&lengths, &is_closed, &offsets(&halves));
            let missing = rng.below(graph.num_nodes() as u32 / 3) as usize * (rng.below(2) as usize);
            let graph = first_vertices(&graph, graph.num_nodes() - missing);
            let Some(stencil) = Stencil::of(&graph) else { continue };
            found += 1;
            let again = generate::stencil(stencil.lengths(), stencil.is_closed(), stencil.offsets());
            let [again, cells] = [&again, &graph].map(|graph| first_vertices(graph, stencil.num_cells()));
            assert_eq!(again, cells, "{lengths:?} {is_closed:?} {halves:?}");
            assert_eq!(cells.num_arcs(), graph.num_arcs(), "{lengths:?} {is_closed:?} {halves:?}");
        }
        assert!(found > 200, "{found}");
    }

    #[test]
    fn what_is_no_grid_is_refused() {
        let grid = generate::grid(7, 6);
        let edges: Vec<(NodeId, NodeId, Weight)> = grid
            .nodes()
            .flat_map(|u| grid.arcs(u).map(move |(v, weight)| (u, v, weight)))
            .filter(|&(u, v, _)| u < v)
            .collect();
        let with = |change: &dyn Fn(usize, Weight) -> Weight| {
            let mut builder = crate::graph::GraphBuilder::new(42);
            for (index, &(u, v, weight)) in edges.iter().enumerate() {
                let weight = change(index, weight);
                if weight > 0 {
                    builder.add_edge(u, v, weight);
                }
            }
            builder.build().unwrap()
        };
        assert!(Stencil::of(&with(&|_, weight| weight)).is_some());
        for broken in 0..edges.len() {
            let changed = |by: Weight| with(&|index, weight| if index == broken { by } else { weight });
            assert_eq!((Stencil::of(&changed(2)), Stencil::of(&changed(0))), (None, None), "edge {broken}");
        }
        let mut rng = Rng::new(1);
        assert!((0..20).all(|_| Stencil::of(&random_graph(60, 5, 3, &mut rng)).is_none()));
        assert_eq!(Stencil::of(&generate::random_geometric(3000, 6.0, 1)), None);
        assert_eq!(Stencil::of(&crate::graph::GraphBuilder::new(4).build().unwrap()), None);
    }
}
