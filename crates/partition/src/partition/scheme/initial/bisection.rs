//! Initial partitions: recursive multilevel bisection.
//!
//! A bisection coarsens its graph to a few dozen vertices, grows several bisections there, keeps the
//! best one after refinement, and refines it on the way back. The set of blocks is halved until one is left.
//! O((n + m) log k).

use super::interface::{Coarsest, InitialPartition};
use crate::base::observer::Observer;
use crate::base::rng::{Rng, derive};
use crate::base::threads;
use crate::base::types::{BlockId, NodeId, Weight};
use crate::partition::assignment::{Assignment, Problem};
use crate::partition::coarsen::{self, Coarsening, Contraction};
use crate::partition::compact::{CompactGraph, Stored};
use crate::partition::fixed::FREE;
use crate::partition::objective::{Cut, Objective};
use crate::partition::refine::flow::Flow;
use crate::partition::refine::two_way::{Bisection, Bounds, Goal, TwoWay};
use crate::partition::settings::{BalanceConfig, BisectionConfig, FlowConfig, PartitionConfig};
use crate::partition::targets::in_order;

/// From this many arcs on, the two halves run in parallel. Balances the cost of a task against its work; the result does not
/// depend on it.
const LEAST_PARALLEL_ARCS: usize = 4_000;

/// Recursive bisection.
///
/// With vertices of weight 1 and bounds equal to the sizes, which sum up to the weight of the graph, the result is exact. Halves may
/// run in parallel: each draws from a random stream of its own, so the result does not depend on it. Once the observer asks to stop,
/// the remaining parts are divided in the order of their vertices.
pub(crate) enum RecursiveBisection {
    /// Of the coarsest graph: quick, and k-way refinement decides where the blocks lie in the end.
    OfCoarsest,
    /// Of the whole graph: each bisection is refined on the finest level before its halves are divided, so that the first borders are long and
    /// straight. No refinement of small blocks makes them so later.
    OfWhole,
}

impl<W: Stored, O: Objective> InitialPartition<W, O> for RecursiveBisection {
    fn blocks(&self, coarsest: &Coarsest<'_, W, O>, seed: u64) -> Vec<BlockId> {
        let Coarsest { level, sizes, bounds, settings, observer, .. } = *coarsest;
        let tolerance = if level.max_node_weight() > 1 { level.max_node_weight() } else { 0 };
        let division = match self {
            Self::OfCoarsest => None,
            Self::OfWhole => Some(Division {
                attempts: settings.division.attempts / depth(sizes.len()).max(1) as usize,
                flow: &settings.division.flow,
                balance: &settings.balance,
            }),
        };
        let PartitionConfig { contraction, bisection: settings, .. } = settings;
        let contraction = contraction.of_coarse_levels();
        let recursion = Recursion { contraction, settings, division, tolerance, observer };
        let fixed_block = |node| level.objective.fixed_block(node).unwrap_or(FREE);
        let fixed =
            if level.objective.has_fixed() { level.nodes().map(fixed_block).collect() } else { Vec::new() };
        recursion.run((level.graph, &fixed), (sizes, bounds.most), seed, &mut Refiners::default())
    }
}

/// The depth of the recursion for `num_blocks` blocks, at least 1: log2, rounded up.
pub(in crate::partition::scheme) fn depth(num_blocks: usize) -> u32 {
    usize::BITS - (num_blocks - 1).leading_zeros()
}

/// The vertices of a graph divided by this number are those of the coarse graph that several attempts bisect. Balances more of them
/// against better ones. Tuned on grids, meshes and random geometric graphs, from 8 to 32.
const ATTEMPTED: usize = 32;

/// The refinement of bisections, with its working memory.
#[derive(Default)]
struct Refiners {
    two_way: TwoWay,
    flow: Flow,
}

/// Further settings for the division of the whole graph.
#[derive(Clone, Copy)]
struct Division<'a> {
    /// The number of bisections of a coarse graph, of which one is refined; 0 counts as 1.
    attempts: usize,
    flow: &'a FlowConfig,
    balance: &'a BalanceConfig,
}

struct Recursion<'a> {
    contraction: Contraction,
    settings: &'a BisectionConfig,
    division: Option<Division<'a>>,
    tolerance: Weight,
    observer: &'a dyn Observer,
}

impl Recursion<'_> {
    /// The block of each vertex of a graph. `fixed` are the blocks that vertices are fixed to, empty if none is.
    fn run<W: Stored>(
        &self,
        (graph, fixed): (&CompactGraph<'_, W>, &[BlockId]),
        (sizes, bounds): (&[Weight], &[Weight]),
        seed: u64,
        refiners: &mut Refiners,
    ) -> Vec<BlockId> {
        if sizes.len() == 1 {
            return vec![0; graph.num_nodes()];
        }
        if self.observer.should_stop() {
            let fixed =
                graph.nodes().map(|node| fixed.get(node as usize).copied().filter(|&block| block != FREE));
            return in_order(graph.node_weights(), fixed, sizes);
        }
        let half = sizes.len().div_ceil(2);
        let halves = bisection_bounds(graph.total_node_weight(), sizes, bounds, half);
        let side =
            |&block: &BlockId| if block == FREE { FREE } else { BlockId::from(block as usize >= half) };
        let held: Vec<BlockId> = fixed.iter().map(side).collect();
        let mut blocks = self.halve((graph, &held), &halves, refiners, &mut Rng::new(seed)).sides;
        if sizes.len() == 2 {
            return blocks;
        }
        let parts: [_; 2] = graph.split(&blocks, 2).try_into().ok().expect("two halves");
        let [left, right] = parts;
        // The blocks of a half are numbered from its first one.
        let within = |nodes: &[NodeId], first: usize| -> Vec<BlockId> {
            let own = |&node: &NodeId| fixed.get(node as usize).copied();
            let number = |block: BlockId| if block == FREE { FREE } else { block - first as BlockId };
            nodes.iter().filter_map(own).map(number).collect()
        };
        let first = |refiners: &mut Refiners| {
            let part = (&left.0, &within(&left.1, 0)[..]);
            self.run(part, (&sizes[..half], &bounds[..half]), derive(seed, 0), refiners)
        };
        let second = |refiners: &mut Refiners| {
            let part = (&right.0, &within(&right.1, half)[..]);
            self.run(part, (&sizes[half..], &bounds[half..]), derive(seed, 1), refiners)
        };
        let (first, second) = if graph.num_arcs() >= LEAST_PARALLEL_ARCS {
            threads::join(|| first(refiners), || second(&mut Refiners::default()))
        } else {
            (first(refiners), second(refiners))
        };
        for (&node, block) in left.1.iter().zip(first) {
            blocks[node as usize] = block;
        }
        for (&node, block) in right.1.iter().zip(second) {
            blocks[node as usize] = half as BlockId + block;
        }
        blocks
    }

    /// A bisection for the blocks of a part, of which each half is divided further.
    fn halve<W: Stored>(
        &self,
        graph: Held<'_, W>,
        bounds: &Bounds,
        refiners: &mut Refiners,
        rng: &mut Rng,
    ) -> Bisection {
        let attempts = self.division.map_or(1, |division| division.attempts);
        let mut bisection =
            self.bisect(graph, Aim { bounds, attempts, is_finest: true }, &mut refiners.two_way, rng);
        if self.division.is_some() && graph.1.is_empty() {
            self.refine_by_flow(graph.0, &mut bisection, bounds, refiners);
        }
        bisection
    }

    /// Multilevel bisection.
    fn bisect<W: Stored>(
        &self,
        (graph, held): Held<'_, W>,
        aim: Aim<'_>,
        two_way: &mut TwoWay,
        rng: &mut Rng,
    ) -> Bisection {
        let attempted = if aim.attempts > 1 { graph.num_nodes() / ATTEMPTED } else { 0 };
        let enough = self.settings.coarsest.max(attempted);
        let classes = Some(held).filter(|held| !held.is_empty());
        let coarsening = Coarsening::build(graph, self.contraction, enough, classes, self.observer, rng);
        let mut held_on = vec![held.to_vec()];
        for (coarse_of, coarse) in coarsening.steps.iter().filter(|_| classes.is_some()) {
            let finer = held_on.last().expect("there is a level");
            held_on.push(coarsen::restrict(finer, coarse_of, coarse.num_nodes()));
        }
        let held = |steps: usize| held_on.get(steps).map_or(&[][..], Vec::as_slice);
        let coarsest = (coarsening.coarsest(graph), held(coarsening.steps.len()));
        let is_finest = |index: usize| aim.is_finest && index == 0;
        let mut bisection = if enough == attempted && !coarsening.steps.is_empty() {
            let attempt = |two_way: &mut TwoWay, rng: &mut Rng| {
                self.bisect(coarsest, Aim { attempts: 1, is_finest: false, ..aim }, two_way, rng)
            };
            self.best(aim.attempts, self.goal(coarsest.0, aim.bounds, false), two_way, rng, &attempt)
        } else {
            let goal = self.goal(coarsest.0, aim.bounds, is_finest(coarsening.steps.len()));
            self.best(self.settings.tries, goal, two_way, rng, &|two_way, rng| {
                let mut grown = two_way.grow(coarsest, aim.bounds, rng);
                two_way.refine(coarsest, &mut grown, goal, self.observer);
                grown
            })
        };
        for index in (0..coarsening.steps.len()).rev() {
            let level = coarsening.level(graph, index);
            bisection.sides = coarsen::project(&bisection.sides, &coarsening.steps[index].0);
            let goal = self.goal(level, aim.bounds, is_finest(index));
            two_way.refine((level, held(index)), &mut bisection, goal, self.observer);
        }
        bisection
    }

    fn goal<'b, W: Stored>(
        &self,
        level: &CompactGraph<'_, W>,
        bounds: &'b Bounds,
        is_finest: bool,
    ) -> Goal<'b, Bounds> {
        let least = if is_finest { 0 } else { level.max_node_weight() };
        let BisectionConfig { passes, patience, .. } = *self.settings;
        Goal { bounds, tolerance: self.tolerance.max(least), passes, patience }
    }

    /// The best of several bisections.
    fn best(
        &self,
        tries: usize,
        goal: Goal<'_, Bounds>,
        two_way: &mut TwoWay,
        rng: &mut Rng,
        bisect: &dyn Fn(&mut TwoWay, &mut Rng) -> Bisection,
    ) -> Bisection {
        let mut best = bisect(two_way, rng);
        for _ in 1..tries {
            if self.observer.should_stop() {
                break;
            }
            let next = bisect(two_way, rng);
            if goal.score(&next) < goal.score(&best) {
                best = next;
            }
        }
        best
    }

    /// Replaces a bisection by one of smaller cut that flows find; nothing happens if there is none within the bounds.
    fn refine_by_flow<W: Stored>(
        &self,
        graph: &CompactGraph<'_, W>,
        bisection: &mut Bisection,
        bounds: &Bounds,
        Refiners { two_way, flow }: &mut Refiners,
    ) {
        let Some(Division { flow: settings, balance, .. }) = self.division else { return };
        let goal = self.goal(graph, bounds, true);
        // Flows see more with some slack, which tight bounds do not leave.
        let slack = graph.max_node_weight().saturating_mul(balance.slack_nodes);
        let most = [0, 1].map(|side| {
            let slack = slack.min((bounds.target[side] as f64 * balance.slack) as Weight);
            let relaxed = bounds.target[side].saturating_add(slack);
            relaxed.max(bounds.max[side].saturating_add(goal.tolerance))
        });
        let Bisection { sides, weights, cut } = bisection.clone();
        let mut assignment = Assignment { blocks: sides, weights: weights.to_vec(), cost: cut };
        let level = Problem { graph, objective: &Cut };
        if !flow.refine(level, &mut assignment, (&most[..]).into(), settings, self.observer) {
            return;
        }
        let Assignment { blocks: sides, weights, cost: cut } = assignment;
        let mut next = Bisection { sides, weights: [weights[0], weights[1]], cut };
        two_way.refine((graph, &[]), &mut next, goal, self.observer);
        if goal.score(&next) < goal.score(bisection) {
            *bisection = next;
        }
    }
}

/// A graph, and the sides that its vertices are fixed to, empty if none is.
type Held<'a, W> = (&'a CompactGraph<'a, W>, &'a [BlockId]);

/// The aim of a multilevel bisection.
#[derive(Clone, Copy)]
struct Aim<'a> {
    bounds: &'a Bounds,
    /// The number of bisections of a coarse graph, of which the best is refined on the finer levels.
    attempts: usize,
    /// False for such an attempt: all of its levels are coarse.
    is_finest: bool,
}

/// What the two halves of the blocks may weigh so that later bisections still have room.
///
/// Of the room that all bounds leave together, each remaining level of the recursion gets an equal factor.
pub(in crate::partition) fn bisection_bounds(
    total: Weight,
    sizes: &[Weight],
    bounds: &[Weight],
    half: usize,
) -> Bounds {
    let sum = |weights: &[Weight]| weights.iter().map(|&weight| i128::from(weight)).sum::<i128>();
    let size = [sum(&sizes[..half]), sum(&sizes[half..])];
    let bound = [sum(&bounds[..half]), sum(&bounds[half..])];
    let total = i128::from(total);
    // Half of no size at all is half of the total.
    let scale = (size[0] + size[1]).max(1);
    let target0 = (total * size[0] + scale / 2) / scale;
    let target = [target0 as Weight, (total - target0) as Weight];
    let room = (bound[0] + bound[1]) as f64 / total.max(1) as f64;
    let levels = f64::from(depth(sizes.len()));
    let factor = if room > 1.0 { room.powf(1.0 / levels) } else { 1.0 };
    let max = [0, 1].map(|side| {
        let relaxed = (target[side] as f64 * factor) as Weight;
        let own = bound[side].min(i128::from(Weight::MAX)) as Weight;
        relaxed.max(target[side]).min(own.max(target[side]))
    });
    Bounds { target, max }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::generate;
    use crate::partition::PartitionPreset;
    use crate::testing::random_graph;

    /// Calls `check` with a recursion that divides whole graphs.
    fn of_whole(check: impl FnOnce(Recursion<'_>)) {
        let settings = PartitionConfig::preset(PartitionPreset::Eco);
        let division = Division { attempts: 3, flow: &settings.division.flow, balance: &settings.balance };
        check(Recursion {
            contraction: settings.contraction,
            settings: &settings.bisection,
            division: Some(division),
            tolerance: 0,
            observer: &(),
        });
    }

    fn check_bisection(graph: &CompactGraph<'_, i32>, bisection: &Bisection) {
        assert_eq!(bisection.cut, graph.cut(&bisection.sides));
        assert_eq!(bisection.weights.to_vec(), graph.block_weights(&bisection.sides, 2));
    }

    #[test]
    fn halves_are_what_they_are_counted_as_and_exact() {
        let mut rng = Rng::new(7);
        for round in 0..40 {
            let num_nodes = 2 + rng.below(400) as usize;
            let csr = match round % 2 {
                0 => random_graph(num_nodes, 5, 9, &mut rng).with_unit_node_weights(),
                _ => generate::random_geometric(num_nodes, 8.0, round),
            };
            let graph = CompactGraph::<i32>::new(&csr);
            let first = 1 + Weight::from(rng.below(num_nodes as u32 - 1));
            let target = [first, num_nodes as Weight - first];
            let bounds = Bounds { target, max: target };
            of_whole(|recursion| {
                let bisection = recursion.halve((&graph, &[]), &bounds, &mut Refiners::default(), &mut rng);
                check_bisection(&graph, &bisection);
                assert_eq!(bisection.weights, target);
            });
        }
    }

    #[test]
    fn flows_straighten_a_border_and_keep_the_sizes() {
        // A grid of 12 x 6, cut along a saw tooth of 18 edges.
        let csr = generate::grid(12, 6);
        let graph = CompactGraph::<i32>::new(&csr);
        let sides: Vec<BlockId> =
            graph.nodes().map(|node| u32::from(node % 12 >= 5 + 2 * (node / 12 % 2))).collect();
        let mut bisection = Bisection { weights: [36, 36], cut: graph.cut(&sides), sides };
        check_bisection(&graph, &bisection);
        let bounds = Bounds { target: [36, 36], max: [36, 36] };
        of_whole(|recursion| {
            recursion.refine_by_flow(&graph, &mut bisection, &bounds, &mut Refiners::default());
        });
        check_bisection(&graph, &bisection);
        assert_eq!((bisection.cut, bisection.weights), (6, [36, 36]));
    }
}
