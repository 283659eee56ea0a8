//! Dual recursive bipartitioning (Pellegrini and Lachat, "Process mapping onto complex architectures and
//! partitions thereof", 2017): machine and graph are bisected together.
//!
//! A domain is a part of the machine, or a run of adjacent parts, with as many processes as places. Its parts
//! and its processes are bisected, and so on until all places of a domain are equivalent. Large domains are
//! bisected first. The weight of an edge is scaled by the additional distance if its ends are in different
//! halves. Edges that leave the domain pull their process towards the half nearer to the other end, as far as
//! its place is known.
//!
//! # Departures from the source
//!
//! - The distance of two domains is that of their centres.
//! - The domains of a round are bisected in two batches, the domains of a batch in parallel. Bisections of
//!   the same batch do not see each other's results, so the result does not depend on the number of threads.
//! - After each round, domains of equal size exchange all their processes if that lowers J
//!   ([annealing](crate::mapping::annealing) of the quotient graph). Early mistakes are thus fixed while only
//!   few domains have to move.
//!
//! Takes a bisection of the whole graph for each of log n rounds; memory O(n + m).

use std::ops::Range;

use crate::base::observer::Observer;
use crate::base::rng::derive;
use crate::base::threads;
use crate::base::types::{BlockId, Cost, NodeId, PeId, Weight};
use crate::graph::{CsrGraph, quotient};
use crate::machine::{DistanceOracle, Distances, Metric as _, Parts, centre, spread, with_oracle};
use crate::mapping::Mapping;
use crate::mapping::annealing::{AnnealingContext, FIXED, Near};
use crate::mapping::construct::task::{ConstructionError, Effort, Task};
use crate::mapping::problem::Problem;
use crate::partition::{FixedVertices, PartitionConfig, Partitioner, Targets};

/// Upper limit on the domains exchanged as wholes: finding out which are near each other takes quadratic
/// time.
const MOST_BLOCKS: usize = 1 << 11;

/// Places sampled per half to estimate the distances inside it.
const SAMPLES: usize = 4;

/// Sums of scaled weights stay below this.
const GREATEST_SUM: f64 = (1u64 << 60) as f64;

/// Factor applied to weights, so that fractional distances keep their precision.
const SCALE: f64 = 64.0;

pub(super) fn construct(task: &Task<'_>) -> Result<Mapping, ConstructionError> {
    let Task { problem, machine, effort, seed, observer, .. } = *task;
    let mut state = DualRecursion::new(problem, machine.parts(), effort, observer);
    let mut round = 0;
    while state.round(derive(seed, round)) {
        round += 1;
    }
    Ok(Mapping::from_permutation(state.place_of))
}

/// A run of sibling parts, or one part.
#[derive(Clone, Debug)]
struct Domain {
    places: Range<usize>,
    /// Its parts; empty if all its places are equivalent.
    parts: Range<usize>,
}

impl Domain {
    fn whole(parts: &Parts) -> Self {
        Self { places: parts.range(0), parts: parts.children(0) }
    }

    fn is_divisible(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Splits into two domains of sizes as equal as the parts allow.
    fn halves(&self, parts: &Parts) -> [Self; 2] {
        let Range { start, end } = self.places;
        let cost = |cut: usize| (parts.range(cut).start - start).abs_diff(end - parts.range(cut).start);
        // The cost first falls and then rises.
        let (mut low, mut high) = (self.parts.start + 1, self.parts.end - 1);
        while low < high {
            let middle = low.midpoint(high);
            if cost(middle) <= cost(middle + 1) { high = middle } else { low = middle + 1 }
        }
        let border = parts.range(low).start;
        let run = |places, run: Range<usize>| {
            let parts = if run.len() == 1 { parts.children(run.start) } else { run };
            Self { places, parts }
        };
        [run(start..border, self.parts.start..low), run(border..end, low..self.parts.end)]
    }
}

struct DualRecursion<'a> {
    problem: &'a Problem<'a>,
    parts: &'a Parts,
    effort: Effort,
    /// How the domains are bisected. What pulls to a half is a hub, which says nothing about the degrees of the graph.
    bisections: PartitionConfig,
    observer: &'a dyn Observer,
    /// The keys of all places, in order.
    places: Vec<PeId>,
    /// All current domains, in the order of their places.
    domains: Vec<Domain>,
    /// The centre of the domain of each place.
    centre_of: Vec<PeId>,
    /// For each process, a place of its domain.
    place_of: Vec<PeId>,
    process_on: Vec<NodeId>,
}

impl<'a> DualRecursion<'a> {
    fn new(problem: &'a Problem<'a>, parts: &'a Parts, effort: Effort, observer: &'a dyn Observer) -> Self {
        let n = problem.size() as PeId;
        let mut bisections = PartitionConfig::preset(effort.inner).basic().suited_to(problem.graph(), None);
        // One initial partition each: several take half as long again, and after annealing there is no difference.
        bisections.initial.bisections = 1;
        Self {
            problem,
            parts,
            effort,
            bisections,
            observer,
            places: (0..n).collect(),
            domains: vec![Domain::whole(parts)],
            centre_of: vec![0; n as usize],
            place_of: (0..n).collect(),
            process_on: (0..n).collect(),
        }
    }

    /// Bisects the larger domains; returns whether there were any.
    fn round(&mut self, seed: u64) -> bool {
        let divisible = self.domains.iter().filter(|domain| domain.is_divisible());
        let largest = divisible.map(|domain| domain.places.len()).max().unwrap_or(0);
        let is_large = |domain: &Domain| domain.is_divisible() && 2 * domain.places.len() > largest;
        if largest == 0 || self.observer.should_stop() {
            return false;
        }
        let domains = std::mem::take(&mut self.domains);
        let large: Vec<&Domain> = domains.iter().filter(|&domain| is_large(domain)).collect();
        for batch in 0..2 {
            let of_batch = large.iter().enumerate().skip(batch).step_by(2).collect();
            let bisected: Vec<([Domain; 2], Vec<NodeId>)> =
                threads::map_each(of_batch, &|(index, domain): (usize, &&Domain)| {
                    let halves = domain.halves(self.parts);
                    let processes = self.bisect(&halves, derive(seed, index as u64));
                    (halves, processes)
                });
            for (halves, processes) in bisected {
                self.settle(halves[0].places.start, &processes);
                for half in halves {
                    let centre = centre(self.problem.oracle(), &self.places, half.places.clone());
                    self.centre_of[half.places].fill(centre);
                }
            }
        }
        self.domains = domains
            .into_iter()
            .flat_map(|domain| match is_large(&domain) {
                true => domain.halves(self.parts).into(),
                false => vec![domain],
            })
            .collect();
        self.exchange_domains(derive(seed, u64::MAX));
        true
    }

    /// Puts processes on consecutive places.
    fn settle(&mut self, first: usize, processes: &[NodeId]) {
        for (place, &process) in (first..).zip(processes) {
            self.process_on[place] = process;
            self.place_of[process as usize] = place as PeId;
        }
    }

    /// The processes of a domain, the first half first.
    fn bisect(&self, halves: &[Domain; 2], seed: u64) -> Vec<NodeId> {
        let places = halves[0].places.start..halves[1].places.end;
        let processes = &self.process_on[places];
        let bisection = Bisection::new(self, halves);
        let is_second = bisection.solve(&self.bisections, seed, self.observer);
        let of_half = |half: bool| {
            let members = processes.iter().zip(&is_second).filter(move |&(_, &second)| second == half);
            members.map(|(&process, _)| process)
        };
        of_half(false).chain(of_half(true)).collect()
    }

    /// Exchanges the processes of domains of equal size if that lowers J.
    fn exchange_domains(&mut self, seed: u64) {
        let count = self.domains.len();
        let is_final = !self.domains.iter().any(Domain::is_divisible);
        if is_final || !(3..=MOST_BLOCKS).contains(&count) || self.effort.domains.proposals == 0 {
            return;
        }
        let mut block_of: Vec<BlockId> = vec![0; self.place_of.len()];
        for (block, domain) in self.domains.iter().enumerate() {
            for &process in &self.process_on[domain.places.clone()] {
                block_of[process as usize] = block as BlockId;
            }
        }
        let graph = quotient::contract(self.problem.graph(), &block_of, count);
        let centres: Vec<PeId> =
            self.domains.iter().map(|domain| self.centre_of[domain.places.start]).collect();
        let mut kinds: Vec<u32> = self.domains.iter().map(|domain| domain.places.len() as u32).collect();
        for (process, _) in self.problem.fixed().into_iter().flat_map(FixedVertices::iter) {
            kinds[block_of[process as usize] as usize] = FIXED;
        }
        let annealed = with_oracle!(self.problem.oracle(), |oracle| {
            let key_of: Vec<_> = centres.iter().map(|&centre| oracle.key(centre)).collect();
            let near = Near::among(oracle, &key_of, self.observer);
            let site = AnnealingContext {
                metric: oracle,
                key_of: &key_of,
                near: &near,
                kinds: &kinds,
                observer: self.observer,
            };
            let identity: Vec<PeId> = graph.nodes().collect();
            let places = 0..count as PeId;
            site.anneal(&graph, &identity, &identity, places, &self.effort.domains, seed)
        });
        if annealed.gain == 0 {
            return;
        }
        let before = self.process_on.clone();
        for (from, &to) in annealed.place_of.iter().enumerate() {
            let first = self.domains[to as usize].places.start;
            self.settle(first, &before[self.domains[from].places.clone()]);
        }
    }
}

/// The bisection of the processes of a domain.
///
/// Besides the processes, the graph has two vertices of weight 0 that stand for everything outside the
/// domain, one per half. If one half has fewer places, artificial vertices fill it up to the size of the
/// other.
struct Bisection {
    graph: CsrGraph,
    sizes: [usize; 2],
    /// The half of each process that is fixed; empty if none is.
    fixed_half: Vec<Option<BlockId>>,
    /// How much better each process is placed in the first half than in the second, counting edges that leave
    /// the domain.
    pull: Vec<Cost>,
}

impl Bisection {
    fn new(state: &DualRecursion<'_>, halves: &[Domain; 2]) -> Self {
        let (graph, oracle) = (state.problem.graph(), state.problem.oracle());
        let sizes = halves.each_ref().map(|half| half.places.len());
        let (first, count) = (halves[0].places.start, sizes[0] + sizes[1]);
        let centres = halves.each_ref().map(|half| centre(oracle, &state.places, half.places.clone()));
        let greatest = graph.total_arc_weight() as f64 * oracle.max_distance().max(1) as f64;
        let scale = SCALE.min(GREATEST_SUM / greatest.max(1.0));
        let inside = scale * apart(oracle, halves);
        let mut rows = Rows::default();
        let mut pull = Vec::with_capacity(count);
        for &process in &state.process_on[first..first + count] {
            let mut outside = 0.0;
            for (target, weight) in graph.arcs(process) {
                let place = state.place_of[target as usize] as usize;
                if (first..first + count).contains(&place) {
                    rows.push(place - first, ((weight as f64 * inside) as Weight).max(1));
                } else {
                    let there = state.centre_of[place];
                    let [to_first, to_second] = centres.map(|centre| oracle.between(centre, there));
                    outside += weight as f64 * (to_second - to_first) as f64;
                }
            }
            let outside = (outside * scale) as Cost;
            if outside != 0 {
                rows.push(count + usize::from(outside < 0), outside.abs());
            }
            pull.push(outside);
            rows.end();
        }
        rows.add_outside(sizes, &pull);
        let fixed_half = state.problem.fixed().map_or_else(Vec::new, |fixed| {
            let half = |place: PeId| BlockId::from(halves[1].places.contains(&(place as usize)));
            state.process_on[first..first + count]
                .iter()
                .map(|&process| fixed.of(process).map(half))
                .collect()
        });
        Self { graph: rows.graph(count), sizes, fixed_half, pull }
    }

    /// For each process, whether it is in the second half; the halves have the required sizes.
    fn solve(&self, settings: &PartitionConfig, seed: u64, observer: &dyn Observer) -> Vec<bool> {
        let size = self.sizes[0].max(self.sizes[1]) as Weight;
        let targets = Targets::sizes(&self.graph, vec![size; 2], 0.0).expect("the halves hold all");
        let has_fixed = self.fixed_half.iter().any(Option::is_some);
        let targets = if has_fixed { self.with_fixed(targets) } else { targets };
        let partitioner = Partitioner::with_valid_settings(*settings, seed).observed(observer);
        let blocks = partitioner.partition(&self.graph, &targets).into_blocks();
        // The two halves may be swapped; the edges that leave the domain decide.
        let pulled = |block: BlockId| -> i128 {
            let inside = self.pull.iter().zip(&blocks).filter(|&(_, &other)| other == block);
            inside.map(|(&pull, _)| i128::from(pull)).sum()
        };
        let first = if has_fixed { 0 } else { BlockId::from(pulled(1) > pulled(0)) };
        let mut is_second: Vec<bool> =
            blocks[..self.pull.len()].iter().map(|&block| block != first).collect();
        self.enforce_sizes(&mut is_second);
        is_second
    }

    /// Targets with the fixed processes, and with what pulls to a half in that half.
    fn with_fixed(&self, targets: Targets) -> Targets {
        let others = (0..self.graph.num_nodes() - self.pull.len()).map(|index| match index {
            0 | 1 => Some(index as BlockId),
            _ => None,
        });
        let fixed = FixedVertices::known(self.fixed_half.iter().copied().chain(others), 2);
        targets.with_fixed(&self.graph, fixed).expect("there are two halves")
    }

    /// Moves the processes with the smallest loss until the halves have their sizes.
    fn enforce_sizes(&self, is_second: &mut [bool]) {
        let in_second = is_second.iter().filter(|&&second| second).count();
        let excess = in_second.abs_diff(self.sizes[1]);
        if excess == 0 {
            return;
        }
        let from_second = in_second > self.sizes[1];
        let loss = |local: usize| -> i128 {
            let arcs =
                self.graph.arcs(local as NodeId).filter(|&(target, _)| (target as usize) < is_second.len());
            let inside: i128 = arcs
                .map(|(target, weight)| {
                    let stays = is_second[target as usize] == from_second;
                    i128::from(if stays { weight } else { -weight })
                })
                .sum();
            let pull = i128::from(self.pull[local]);
            inside + if from_second { -pull } else { pull }
        };
        let mut movable: Vec<(i128, usize)> = (0..is_second.len())
            .filter(|&local| is_second[local] == from_second)
            .filter(|&local| self.fixed_half.get(local).is_none_or(Option::is_none))
            .map(|local| (loss(local), local))
            .collect();
        movable.sort_unstable();
        for (_, local) in movable.into_iter().take(excess) {
            is_second[local] = !from_second;
        }
    }
}

/// The rows of the graph of a bisection.
#[derive(Default)]
struct Rows {
    ends: Vec<usize>,
    targets: Vec<NodeId>,
    weights: Vec<Weight>,
}

impl Rows {
    fn push(&mut self, target: usize, weight: Weight) {
        self.targets.push(target as NodeId);
        self.weights.push(weight);
    }

    fn end(&mut self) {
        self.ends.push(self.targets.len());
    }

    /// The rows of the artificial vertices: the two that pull, and those that fill up the smaller half, which
    /// are attached to the vertex that pulls to it.
    fn add_outside(&mut self, sizes: [usize; 2], pull: &[Cost]) {
        let count = pull.len();
        let missing = sizes[0].abs_diff(sizes[1]);
        let smaller = usize::from(sizes[1] < sizes[0]);
        let heaviest = self.weights.iter().copied().max().unwrap_or(1);
        let strong = heaviest.min((GREATEST_SUM / (missing + 1) as f64) as Weight);
        for side in 0..2 {
            let towards = |pull: Cost| if side == 0 { pull } else { -pull };
            for (local, &pull) in pull.iter().enumerate().filter(|&(_, &pull)| towards(pull) > 0) {
                self.push(local, pull.abs());
            }
            if side == smaller {
                (0..missing).for_each(|stand_in| self.push(count + 2 + stand_in, strong));
            }
            self.end();
        }
        for _ in 0..missing {
            self.push(count + smaller, strong);
            self.end();
        }
    }

    /// The graph; the vertices that pull weigh nothing.
    fn graph(self, count: usize) -> CsrGraph {
        let mut node_weights = vec![1; self.ends.len()];
        node_weights[count..count + 2].fill(0);
        let offsets = std::iter::once(0).chain(self.ends).collect();
        CsrGraph::from_symmetric(offsets, self.targets, self.weights, node_weights)
            .expect("the weights are scaled to fit")
    }
}

/// The mean additional distance of two processes in different halves compared with the same half; bounded
/// from below near 1.
fn apart(distances: &Distances, halves: &[Domain; 2]) -> f64 {
    let samples = |half: &Domain| -> Vec<PeId> { spread(half.places.clone(), SAMPLES).collect() };
    let mean = |a: &[PeId], b: &[PeId]| -> f64 {
        let pairs = a.iter().flat_map(|&p| b.iter().map(move |&q| distances.between(p, q) as f64));
        pairs.sum::<f64>() / (a.len() * b.len()) as f64
    };
    let [first, second] = halves.each_ref().map(samples);
    let inside = (mean(&first, &first) + mean(&second, &second)) / 2.0;
    (mean(&first, &second) - inside).max(0.25)
}
