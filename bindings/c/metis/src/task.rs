//! A graph, the blocks that are asked for, and its partition.

use std::borrow::Cow;

use viem::base::types::{BlockId, NodeId, Weight};
use viem::machine::Blocks;
use viem::partition::Volume;
use viem::solve::Objective as Goal;
use viem::{Config, CsrGraph, PartitionPreset, PreparedMachine, Request, Targets};
use viem_ffi::{LooseGraph, check_memory, memory_of_run};

use crate::options::{Objective, Options};
use crate::{Fault, Idx};

/// The least load of a part with any imbalance, as a part of its share. On motorBike (353 525 cells) in 256 parts it costs nothing in cut (77 153
/// instead of 77 233), where a part had one cell without it.
const LEAST: f64 = 0.9;

/// A problem of one constraint.
pub(crate) struct Task<'a> {
    pub options: Options,
    pub graph: LooseGraph<'a, Idx>,
    /// The data that each vertex sends, for the volume; all 1 without.
    pub sizes: Option<&'a [Idx]>,
    pub num_parts: usize,
    /// The share of the weight that each part gets; all equal without.
    pub shares: Option<&'a [f32]>,
    /// Instead of that of the options.
    pub imbalance: Option<f32>,
}

/// A partition and its cost.
pub(crate) struct Solution {
    pub parts: Vec<BlockId>,
    pub objective: Weight,
    /// True if all parts are connected, if that was asked for.
    pub is_contiguous: bool,
}

impl Task<'_> {
    pub fn solve(&self) -> Result<Solution, Fault> {
        let graph = self.graph.symmetric_graph()?;
        check_memory(memory_of_run(graph.num_nodes(), graph.num_arcs()) + 64 * self.num_parts as u128)?;
        let volume = match self.options.objective {
            Objective::Cut => None,
            Objective::Volume => Some(Volume::new(&graph, self.sizes()).map_err(|_| Fault::Input)?),
        };
        let imbalance = self.imbalance.map_or(self.options.imbalance, f64::from);
        let bounds = Bounds { num_parts: self.num_parts, shares: self.shares, imbalance };
        let targets = bounds.targets(&graph)?;
        let weighed = match &volume {
            None => Cow::Borrowed(&graph),
            Some(volume) => Cow::Owned(volume.weighed()),
        };
        let blocks = Blocks::equal(self.num_parts).map_err(|_| Fault::Input)?;
        let machine = PreparedMachine::new(&blocks);
        let request = Request::new(&weighed, &machine).balanced(&targets).minimise(Goal::Cut);
        // As with METIS, nothing is asked of a graph that is not connected itself.
        let is_asked = self.options.is_contiguous && is_contiguous(&graph, &vec![0; graph.num_nodes()]);
        let request = if is_asked { request.connected() } else { request };
        let solution = request.solve(&effort().with_seed(self.options.seed)).map_err(|_| Fault::Memory)?;
        let mut parts = solution.mapping.into_pes();
        let objective = match volume {
            None => solution.report.cut,
            Some(volume) => volume.lower(&mut parts, &targets, self.options.seed),
        };
        let is_contiguous = !is_asked || is_contiguous(&graph, &parts);
        Ok(Solution { parts, objective, is_contiguous })
    }

    /// Returns the data that each vertex sends.
    fn sizes(&self) -> Vec<Weight> {
        let num_nodes = self.graph.offsets.len() - 1;
        self.sizes.map_or_else(|| vec![1; num_nodes], |sizes| sizes.iter().map(|&size| size.into()).collect())
    }
}

/// What METIS says about the weights of the parts.
pub(crate) struct Bounds<'a> {
    pub num_parts: usize,
    /// The share of the weight that each part gets; all equal without.
    pub shares: Option<&'a [f32]>,
    /// 1.03 lets parts be 3 % heavier than their share.
    pub imbalance: f64,
}

impl Bounds<'_> {
    /// The weights that METIS allows each part: at most `imbalance * share * total`, not rounded up, but never less than a whole vertex of its fair
    /// share. METIS keeps parts from 0.94 of their share on; here it is as far below as a part may be above, but not below [`LEAST`].
    pub fn targets(&self, graph: &CsrGraph) -> Result<Targets, Fault> {
        let total = graph.total_node_weight();
        let equal = 1.0 / self.num_parts as f64;
        let share = |part: usize| self.shares.map_or(equal, |shares| f64::from(shares[part]));
        let sum: f64 = (0..self.num_parts).map(share).sum();
        let mut sizes = Vec::with_capacity(self.num_parts);
        let (mut before, mut given) = (0.0, 0);
        for part in 0..self.num_parts {
            before += share(part);
            let until = if part + 1 == self.num_parts {
                total
            } else {
                (total as f64 * before / sum).round() as Weight
            };
            sizes.push(until.clamp(given, total) - given);
            given = until.clamp(given, total);
        }
        let sizes = with_one_each(sizes, graph.num_nodes());
        // METIS adds half a digit, so that 1.03 as a float is 1.03.
        let imbalance = self.imbalance + 0.0000499;
        let bound = |(part, &size): (usize, &Weight)| {
            let most = imbalance * (share(part) / sum) * total as f64;
            size.max((most + 1e-9 * most.abs()).floor() as Weight)
        };
        let bounds = sizes.iter().enumerate().map(bound).collect();
        let least = |(part, &size): (usize, &Weight)| {
            let least = (2.0 - imbalance).max(LEAST) * (share(part) / sum) * total as f64;
            size.min(least.floor() as Weight)
        };
        let least = sizes.iter().enumerate().map(least).collect();
        let targets = Targets::sizes(graph, sizes, 0.0).and_then(|targets| targets.with_bounds(bounds));
        targets.and_then(|targets| targets.with_least_loads(least)).map_err(|_| Fault::Input)
    }
}

/// No part is meant to be empty if there are vertices for all: the largest gives up the deficit of the smallest.
fn with_one_each(mut sizes: Vec<Weight>, num_nodes: usize) -> Vec<Weight> {
    let total: Weight = sizes.iter().sum();
    if num_nodes < sizes.len() || total < sizes.len() as Weight {
        return sizes;
    }
    let mut lacking = sizes.iter().filter(|&&size| size == 0).count() as Weight;
    sizes.iter_mut().filter(|size| **size == 0).for_each(|size| *size = 1);
    while lacking > 0 {
        let Some(largest) = sizes.iter_mut().max_by_key(|size| **size) else { break };
        *largest -= 1;
        lacking -= 1;
    }
    sizes
}

/// Effort and threads, as the environment says: programs that link METIS cannot.
pub(crate) fn effort() -> Config {
    let preset = match std::env::var("VIEM_PRESET").as_deref() {
        Ok("fast") => PartitionPreset::Fast,
        Ok("strong") => PartitionPreset::Strong,
        _ => PartitionPreset::Eco,
    };
    let threads = std::env::var("VIEM_THREADS").ok().and_then(|threads| threads.parse().ok());
    Config::from(preset).with_threads(threads.filter(|threads| (1..=1024).contains(threads)).unwrap_or(1))
}

/// Returns whether each part is connected; O(n + m).
fn is_contiguous(graph: &CsrGraph, parts: &[BlockId]) -> bool {
    let mut reached = vec![false; graph.num_nodes()];
    let mut has_begun = vec![false; parts.iter().max().map_or(0, |&part| part as usize + 1)];
    let mut queue: Vec<NodeId> = Vec::new();
    for node in graph.nodes() {
        if reached[node as usize] {
            continue;
        }
        let part = parts[node as usize];
        if std::mem::replace(&mut has_begun[part as usize], true) {
            return false;
        }
        reached[node as usize] = true;
        queue.push(node);
        while let Some(next) = queue.pop() {
            let inside = |&&other: &&NodeId| parts[other as usize] == part;
            for &other in graph.neighbours(next).iter().filter(inside) {
                if !std::mem::replace(&mut reached[other as usize], true) {
                    queue.push(other);
                }
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use viem::Partitioner;

    use super::*;
    use crate::options::Way;

    /// Runs a test on a task whose graph is a path of vertices of these weights.
    fn on_path<R>(weights: &[Idx], num_parts: usize, way: Way, test: impl FnOnce(&Task<'_>) -> R) -> R {
        let last = weights.len() - 1;
        let around = |node: usize| [node.checked_sub(1), (node < last).then_some(node + 1)];
        let rows = (0..=last).map(|node| around(node).into_iter().flatten().collect::<Vec<usize>>());
        let (mut offsets, mut targets) = (vec![0], Vec::new());
        for row in rows {
            targets.extend(row.into_iter().map(|target| target as Idx));
            offsets.push(targets.len());
        }
        let vertex_weights = Some(weights);
        let graph =
            LooseGraph { base: 0, offsets: &offsets, targets: &targets, edge_weights: None, vertex_weights };
        let options = Options::new(None, Some(way)).expect("the defaults");
        test(&Task { options, graph, sizes: None, num_parts, shares: None, imbalance: None })
    }

    fn parts(task: &Task<'_>) -> Vec<BlockId> {
        task.solve().expect("there is a partition").parts
    }

    #[test]
    fn parts_are_those_of_the_partitioner_within_the_weights_of_metis() {
        let weights: Vec<Idx> = (0..400).map(|node| 1 + node * node % 7).collect();
        for (num_parts, way) in [(2, Way::Recursive), (5, Way::KWay), (16, Way::KWay)] {
            on_path(&weights, num_parts, way, |task| {
                let graph = task.graph.symmetric_graph().expect("a path");
                let bounds = Bounds { num_parts, shares: None, imbalance: task.options.imbalance };
                let targets = bounds.targets(&graph).expect("shares are equal");
                let partitioner = Partitioner::new(PartitionPreset::Eco, task.options.seed);
                let direct = partitioner.partition(&graph, &targets);
                assert_eq!(parts(task), direct.blocks(), "{num_parts} {way:?}");
                assert!(
                    targets.bounds().iter().zip(direct.block_weights()).all(|(bound, load)| load <= bound)
                );
            });
        }
    }

    #[test]
    fn no_part_is_empty_whatever_vertices_weigh() {
        for (weights, num_parts) in [
            ([1, 0, 0, 0, 0, 0], 2),
            ([2, 0, 0, 0, 0, 0], 3),
            ([0, 0, 1, 0, 0, 0], 3),
            ([1, 1, 0, 0, 0, 0], 3),
            ([1, 0, 0, 0, 0, 1], 3),
            ([0, 0, 0, 0, 0, 0], 4),
            ([9, 0, 0, 0, 0, 0], 6),
        ] {
            for way in [Way::KWay, Way::Recursive] {
                let parts = on_path(&weights, num_parts, way, parts);
                let is_used = |part: BlockId| parts.contains(&part);
                assert!((0..num_parts as BlockId).all(is_used), "{weights:?} {way:?}: {parts:?}");
            }
        }
    }
}
