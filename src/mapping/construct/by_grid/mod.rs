//! Construction by cuts of a grid: what is cut is known, where graphs of any other kind have to be partitioned.
//!
//! *Problem.* The communication graph is a Cartesian grid with a stencil ([`Stencil`]). Its cells are mapped to the parts of a machine, such as nodes, of
//! equal or of different sizes.
//!
//! *Algorithm.* A member of [`GridOrder`] puts the cells in an order whose ranges are compact. Parts take consecutive ranges, so orders need no divisible
//! lengths. Each height of the tree of parts is tried, as its parts may be what costs; the order of least J is arranged inside its parts by bisection.
//! Where PEs have coordinates, as in a torus, the grid is also folded into these (`folding`). The caller improves the best like any other mapping.
//!
//! *Cost.* O(n + m) for each order that is tried, and O(m log n) for each bisection; memory O(n).
//!
//! *Source.* Strips, hyperplanes and k-d trees are those of Hunold, von Kirchbach, Lehr, Schulz and Träff, *Efficient Process-to-Node Mapping
//! Algorithms for Stencil Computations*, IEEE Cluster 2020 (arXiv 2005.09521). Departures: strips of many widths are tried, also different ones side by side;
//! hyperplanes are between parts of any size; bisection cuts off layers that are not whole.

mod folding;
mod grid;

pub use grid::GridTask;

use crate::base::observer::Observer;
use crate::base::settings::members;
use crate::base::types::{Cost, NodeId, PeId};
use crate::graph::CsrGraph;
use crate::graph::stencil::Stencil;
use crate::machine::{Parts, Places};
use crate::mapping::Mapping;
use crate::mapping::objective::cost;
use crate::mapping::problem::Problem;
use folding::Folding;

members! {
    /// An order of the cells of a grid, of which parts of a machine take consecutive ranges.
    pub enum GridOrder: "order of a grid" {
        /// Along strips of many widths, forth and back; O(n) for each.
        Strips = "strips" in mod strips;
        /// Recursively cut by hyperplanes between parts; O(n log n).
        Hyperplane = "hyperplane" in mod hyperplane;
        /// Recursively cut in half, across the longest dimension in steps of the stencil; O(n log n).
        KdTree = "kdtree" in mod kd_tree;
        /// Recursively cut in exact halves of the parts, where the cut is least; O(m log n).
        Bisection = "bisection" in mod bisection;
    }

    fn orders(self, task: &GridTask<'_>) -> Vec<Vec<NodeId>> = function(task)
}

impl GridOrder {
    /// The orders that the member proposes, those that it expects to be best first; at least one.
    ///
    /// ```
    /// use viem::graph::{generate, stencil::Stencil};
    /// use viem::mapping::construct::{GridOrder, GridTask};
    ///
    /// let stencil = Stencil::of(&generate::grid(4, 4)).expect("a grid");
    /// let task = GridTask { stencil: &stencil, sizes: &[4; 4], most: 1 };
    /// assert_eq!(GridOrder::KdTree.of(&task)[0], [0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15]);
    /// ```
    pub fn of(self, task: &GridTask<'_>) -> Vec<Vec<NodeId>> {
        self.orders(task)
    }
}

/// Most foldings that are compared.
const MOST_FOLDED: usize = 32;

/// The machine and the effort of a construction by cuts.
pub(crate) struct ByGrid<'a> {
    pub places: &'a Places,
    /// About how many processes and arcs are looked at.
    pub effort: usize,
    /// Once it asks to stop, the best order so far is the last.
    pub observer: &'a dyn Observer,
}

/// An order of the cells of a grid, and the parts that take ranges of it.
struct Cut {
    parts: Vec<usize>,
    order: Vec<NodeId>,
}

impl ByGrid<'_> {
    /// The best mapping that is found, with its J; none if the graph is no grid.
    pub fn construct(&self, problem: &Problem<'_>) -> Option<(Cost, Mapping)> {
        let num_processes = problem.size();
        let stencil = Stencil::of(problem.graph())?;
        let with_cost = |order: &[NodeId]| {
            let mapping = along(order, num_processes);
            (cost(problem, &mapping), mapping)
        };
        let of_height = |cuts: Vec<Cut>| {
            let Cut { parts, mut order } = cuts.into_iter().min_by_key(|cut| with_cost(&cut.order).0)?;
            let plain = with_cost(&order);
            bisection::arrange(&stencil, self.places.parts(), &parts, &mut order);
            [plain, with_cost(&order)].into_iter().min_by_key(|&(cost, _)| cost)
        };
        let cut = self.cuts(problem.graph(), &stencil).filter_map(of_height);
        let folded = std::iter::once_with(|| self.folded(problem.graph(), &stencil)).flatten();
        let folded = folded.map(|mapping| (cost(problem, &mapping), mapping));
        cut.chain(folded).min_by_key(|&(cost, _)| cost)
    }

    /// The foldings of the grid along the axes of the machine, if it has any; processes that are no cells are behind.
    fn folded(&self, graph: &CsrGraph, stencil: &Stencil) -> Vec<Mapping> {
        let axes = self.places.axes();
        if axes.is_empty() || self.observer.should_stop() {
            return Vec::new();
        }
        let mut shares = vec![0; axes.iter().map(|axis| axis.length).product()];
        self.places.pe_of().iter().for_each(|&pe| shares[pe as usize] += 1);
        let most = (self.effort / (graph.num_nodes() + graph.num_arcs())).clamp(2, MOST_FOLDED);
        let folded = Folding { stencil, axes, shares: &shares }.mappings(most).into_iter();
        folded.map(|pe_of| Mapping::from_permutation(self.places.seats(&pe_of))).collect()
    }

    /// All orders, by the height of the parts.
    fn cuts(&self, graph: &CsrGraph, stencil: &Stencil) -> impl Iterator<Item = Vec<Cut>> {
        let heights = self.places.parts().heights();
        let most = self.effort / (graph.num_nodes() + graph.num_arcs()) / (heights[0] as usize).max(1);
        (0..heights[0].max(1)).map_while(move |height| {
            let parts = self.places.parts().up_to(&heights, height);
            let sizes = sizes(self.places.parts(), &parts, stencil.num_cells());
            let is_worth_it = sizes.iter().any(|&size| size > 1);
            let members = GridOrder::ALL.into_iter().filter(|_| is_worth_it);
            let orders = members.flat_map(|member| member.of(&GridTask { stencil, sizes: &sizes, most }));
            let cuts = orders.map(|order| Cut { parts: parts.clone(), order }).collect();
            (!self.observer.should_stop()).then_some(cuts)
        })
    }
}

/// Mappings of a grid to the places of a machine along all orders that are worth about this effort, in processes and arcs that are looked at; none if the
/// graph is no grid. For those who look for other qualities than a small J. There must be a place for each process.
///
/// ```
/// use viem::graph::generate;
/// use viem::machine::{Hierarchy, Places};
/// use viem::mapping::construct::grid_mappings;
///
/// let tree = Hierarchy::parse("8:6", "1:10")?;
/// let mappings = grid_mappings(&generate::grid(8, 6), &Places::of(&tree)?, 1 << 16);
/// assert!(mappings.len() > 4 && mappings.iter().all(|mapping| mapping.num_processes() == 48));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn grid_mappings(graph: &CsrGraph, places: &Places, effort: usize) -> Vec<Mapping> {
    let Some(stencil) = Stencil::of(graph) else { return Vec::new() };
    let by_grid = ByGrid { places, effort, observer: &() };
    let pe = |place: &PeId| places.pe_of()[*place as usize];
    let cuts = by_grid.cuts(graph, &stencil).flatten().map(|cut| along(&cut.order, graph.num_nodes()));
    let mappings = cuts.chain(by_grid.folded(graph, &stencil));
    let on_pes = |mapping: Mapping| mapping.pes()[..graph.num_nodes()].iter().map(pe).collect();
    mappings.map(on_pes).map(Mapping::from_places).collect()
}

/// The places that some parts have for the cells, in order; those behind take none.
fn sizes(parts: &Parts, of: &[usize], num_cells: usize) -> Vec<usize> {
    let ranges = of.iter().map(|&part| parts.range(part));
    ranges
        .map(|range| range.end.min(num_cells).saturating_sub(range.start))
        .take_while(|&size| size > 0)
        .collect()
}

/// The i-th cell of an order on the i-th place, and the processes that are no cells behind.
fn along(order: &[NodeId], num_processes: usize) -> Mapping {
    let mut place_of: Vec<PeId> = (0..num_processes as PeId).collect();
    order.iter().zip(0..).for_each(|(&cell, place)| place_of[cell as usize] = place);
    Mapping::from_permutation(place_of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::graph::generate;
    use crate::graph::stencil::Offset;
    use crate::machine::{Listed, Machine, build};
    use crate::testing::first_vertices;
    use crate::{Config, PreparedMachine, Request};

    /// One step along each of the first dimensions, and as many along the first as there are further steps.
    pub(super) fn stencil(lengths: &[usize], is_closed: bool, dimensions: usize, further: i64) -> CsrGraph {
        let single = (0..dimensions).map(|dimension| (dimension, 1));
        let steps = single.chain((0..further).map(|step| (0, step + 2)));
        let offset = |(dimension, step): (usize, i64)| {
            [step, -step].map(|step| {
                let mut steps = vec![0; lengths.len()];
                steps[dimension] = step;
                Offset { steps, weight: 1 }
            })
        };
        let offsets: Vec<Offset> = steps.flat_map(offset).collect();
        generate::stencil(lengths, &vec![is_closed; lengths.len()], &offsets)
    }

    /// What is sent between parts of these sizes along an order, and by the busiest.
    fn sent(graph: &CsrGraph, sizes: &[usize], order: &[NodeId]) -> (Cost, Cost) {
        let mut part_of = vec![0; order.len()];
        let parts = (0..).zip(sizes).flat_map(|(part, &size)| std::iter::repeat_n(part, size));
        order.iter().zip(parts).for_each(|(&cell, part): (_, usize)| part_of[cell as usize] = part);
        let mut sent = vec![0; sizes.len()];
        for u in graph.nodes() {
            let leaves = |&(v, _): &(NodeId, Cost)| part_of[v as usize] != part_of[u as usize];
            sent[part_of[u as usize]] += graph.arcs(u).filter(leaves).map(|(_, weight)| weight).sum::<Cost>();
        }
        (sent.iter().sum(), sent.into_iter().max().unwrap_or(0))
    }

    /// Half of them have an incomplete last layer.
    fn random_grid(rng: &mut Rng) -> CsrGraph {
        let dimensions = 1 + rng.below(4) as usize;
        let lengths: Vec<usize> = (0..dimensions).map(|_| 3 + rng.below(7) as usize).collect();
        let steps = 1 + rng.below(dimensions as u32) as usize;
        let grid = stencil(&lengths, rng.below(2) == 0, steps, i64::from(rng.below(2)));
        let layer = grid.num_nodes() / lengths[0];
        let missing = (rng.below(layer as u32) * rng.below(2)) as usize;
        first_vertices(&grid, grid.num_nodes() - missing)
    }

    /// Sizes whose sum is a number.
    fn random_sizes(count: usize, rng: &mut Rng) -> Vec<usize> {
        let (mut sizes, mut left) = (Vec::new(), count);
        let most = 1 + rng.below(40);
        while left > 0 {
            sizes.push(left.min(1 + rng.below(most) as usize));
            left -= sizes[sizes.len() - 1];
        }
        sizes
    }

    #[test]
    fn every_order_names_each_cell_once() {
        let mut rng = Rng::new(1);
        for _ in 0..200 {
            let graph = random_grid(&mut rng);
            let Some(stencil) = Stencil::of(&graph) else { continue };
            let sizes = random_sizes(stencil.num_cells(), &mut rng);
            for member in GridOrder::ALL {
                let orders =
                    member.of(&GridTask { stencil: &stencil, sizes: &sizes, most: rng.below(9) as usize });
                assert!(!orders.is_empty());
                for mut order in orders {
                    order.sort_unstable();
                    assert!(
                        order.into_iter().eq(0..stencil.num_cells() as NodeId),
                        "{member} {stencil:?} {sizes:?}"
                    );
                }
            }
        }
    }

    /// Lengths and nodes of this size, the steps of a stencil, and the sums and the busiest nodes of hyperplanes, tree and strips.
    type Case = (&'static [usize], usize, (usize, i64), [(Cost, Cost); 3]);

    /// What the authors' library computes, run beside this project: sums over nodes, and the busiest node.
    #[test]
    fn hyperplanes_and_trees_are_those_of_their_authors() {
        let cases: [Case; 7] = [
            (&[50, 48], 48, (2, 0), [(1328, 38), (1732, 46), (1244, 28)]),
            (&[50, 48], 48, (2, 2), [(3268, 108), (4364, 114), (3868, 88)]),
            (&[50, 48], 48, (1, 0), [(288, 16), (96, 2), (96, 2)]),
            (&[16, 16, 10], 32, (3, 0), [(4352, 84), (4736, 80), (4208, 68)]),
            (&[32, 30], 24, (2, 0), [(692, 22), (900, 28), (716, 22)]),
            (&[32, 30], 24, (2, 2), [(1816, 50), (2232, 72), (1656, 52)]),
            (&[32, 30], 24, (1, 0), [(100, 3), (60, 2), (60, 2)]),
        ];
        for (lengths, size, (dimensions, further), [of_hyperplanes, of_tree, of_strips]) in cases {
            let graph = stencil(lengths, false, dimensions, further);
            let stencil = Stencil::of(&graph).unwrap();
            let sizes = vec![size; graph.num_nodes() / size];
            let task = GridTask { stencil: &stencil, sizes: &sizes, most: 1 };
            let of = |member: GridOrder| sent(&graph, &sizes, &member.of(&task)[0]);
            assert_eq!(
                (of(GridOrder::Hyperplane), of(GridOrder::KdTree)),
                (of_hyperplanes, of_tree),
                "{lengths:?}"
            );
            // Of strips they turn otherwise, and send more or as much.
            let (sum, greatest) = of(GridOrder::Strips);
            assert!(sum <= of_strips.0 && greatest <= of_strips.1, "{lengths:?} {sum} {greatest}");
        }
    }

    /// Strips of different widths fill nodes with whole layers where equal ones cannot: 1204 is the least surface of 50 pieces of 6 x 8.
    #[test]
    fn strips_of_different_widths_are_tried() {
        let graph = stencil(&[50, 48], false, 2, 0);
        let stencil = Stencil::of(&graph).unwrap();
        let sizes = [48; 50];
        let orders = GridOrder::Strips.of(&GridTask { stencil: &stencil, sizes: &sizes, most: 16 });
        assert_eq!(orders.iter().map(|order| sent(&graph, &sizes, order)).min(), Some((1204, 28)));
    }

    #[test]
    fn the_construction_is_as_good_as_each_order_and_as_the_mapper_on_nodes_of_any_size() {
        let mut rng = Rng::new(3);
        for (index, lengths) in [&[12, 10][..], &[6, 7, 5], &[9, 11], &[4, 5, 3, 4]].into_iter().enumerate() {
            let graph = stencil(lengths, index % 2 == 1, lengths.len(), 0);
            let tree = build("16:40", "1:10").unwrap();
            // PEs that are left out make nodes of different sizes.
            let mut list: Vec<PeId> = (0..640).collect();
            rng.shuffle(&mut list);
            list.truncate(graph.num_nodes() + 3 * (index % 3));
            list.sort_unstable();
            let machine = Listed::new(tree, list).unwrap();
            let places = Places::of(&machine).unwrap();
            let padded = graph.with_isolated_nodes(places.len());
            let problem = Problem::new(&padded, places.distances()).unwrap();
            let by_grid = ByGrid { places: &places, effort: 1 << 20, observer: &() };
            let (found, mapping) = by_grid.construct(&problem).unwrap();
            assert_eq!(found, cost(&problem, &mapping));
            let stencil = Stencil::of(&graph).unwrap();
            let heights = places.parts().heights();
            let sizes = sizes(places.parts(), &places.parts().up_to(&heights, 1), stencil.num_cells());
            for member in GridOrder::ALL {
                let order = &member.of(&GridTask { stencil: &stencil, sizes: &sizes, most: 1 })[0];
                assert!(found <= cost(&problem, &along(order, places.len())), "{member} {lengths:?}");
            }
            let prepared = PreparedMachine::new(&machine);
            let solved = Request::new(&graph, &prepared).solve(&Config::fast()).unwrap();
            assert!(solved.report.cost <= found, "{lengths:?} on {}", machine.describe());
        }
    }
}
