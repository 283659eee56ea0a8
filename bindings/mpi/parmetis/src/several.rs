//! Partitions of graphs whose vertices have several weights: on the first rank, which has all of the graph.

use viem::base::linear_assignment::cheapest_assignment;
use viem::base::types::{BlockId, Cost, Weight};
use viem::graph::VertexWeights;
use viem::partition::{MigrationWeight, cut};
use viem::{Config, CsrGraph, PartitionPreset};
use viem_dist_c::Refused;
use viem_distributed::comm::{Comm, Ranges, gather_words};
use viem_distributed::error::{DistError, agree};
use viem_distributed::gather::gather;
use viem_distributed::graph::DistGraph;
use viem_ffi::{Several, check_memory, environment, memory_of_graph};

use crate::input::{Found, Input, Parts};

/// Most parts whose labels are chosen to keep vertices where they are.
const MOST_RELABELLED: usize = 1 << 11;

/// Partitions a graph on the first rank.
pub(crate) fn partition(comm: &impl Comm, graph: &DistGraph, input: &Input) -> Result<Found, DistError> {
    let num_weights = input.parts.num_weights;
    let arcs = viem_distributed::comm::sum(comm, graph.num_arcs() as i64) as usize;
    let vertices = graph.ranges().total() as usize;
    let needed = memory_of_graph(vertices, 2 * arcs) + 24 * (vertices * num_weights) as u128;
    let fits = if comm.rank() == 0 { check_memory(needed) } else { Ok(()) };
    agree(comm, fits)?;
    let whole = gather(comm, graph, 1)?;
    let all = |numbers: &[Weight]| -> Vec<Weight> {
        let words: Vec<u64> = numbers.iter().map(|&number| number as u64).collect();
        gather_words(comm, &words, 1).into_iter().map(|word| word as Weight).collect()
    };
    let weights = match &input.vertex_weights {
        Some(weights) => all(weights),
        None => all(&vec![1; input.layout.count * num_weights]),
    };
    let old = input.old.as_ref().map(|old| {
        let numbers: Vec<Weight> = old.iter().map(|&part| part.into()).collect();
        (all(&numbers), all(&input.sizes()))
    });
    let found = whole.map(|graph| {
        let old = old.map(|(parts, sizes)| OldParts {
            parts: parts.into_iter().map(|part| part as BlockId).collect(),
            sizes,
            price: input.parts.price,
        });
        on_one(&graph, weights, old, &input.parts)
    });
    let found = agree(comm, found.transpose())?;
    Ok(scattered(comm, graph.ranges(), found))
}

/// Where the vertices are, and what moves with them at which price.
struct OldParts {
    parts: Vec<BlockId>,
    sizes: Vec<Weight>,
    price: f64,
}

impl OldParts {
    /// The cut and what moves, in a unit of its own.
    fn cost(&self, graph: &CsrGraph, parts: &[BlockId]) -> i128 {
        let moved = self.parts.iter().zip(parts).zip(&self.sizes).filter(|((old, new), _)| old != new);
        let moved = moved.map(|(_, &size)| size).fold(0, Weight::saturating_add);
        MigrationWeight::rounded(self.price).objective(cut(graph, parts), moved)
    }
}

/// Partitions the whole graph. If there was a partition that keeps all bounds, the result does not cost more.
fn on_one(
    graph: &CsrGraph,
    weights: Vec<Weight>,
    old: Option<OldParts>,
    parts: &Parts,
) -> Result<Found, Refused> {
    let &Parts { num_weights, num_parts, seed, .. } = parts;
    let weights =
        VertexWeights::new(num_weights, weights).map_err(|error| Refused::because(error.to_string()))?;
    let (shares, imbalances) = (parts.shares.as_deref(), &parts.imbalances[..]);
    let several = Several { graph, weights: &weights, num_parts, shares, imbalances };
    let refused = |error: viem_ffi::SeveralError| Refused::because(error.to_string());
    let effort = Config::from(environment::preset().unwrap_or(PartitionPreset::Fast));
    let effort = effort.with_seed(seed).with_threads(environment::threads());
    let solution = several.solve(&effort).map_err(refused)?;
    let mut found = solution.mapping.into_pes();
    if let Some(old) = &old {
        relabel(&mut found, old, parts);
        let may_stay = several.keeps_bounds(&old.parts).map_err(refused)?;
        if may_stay && old.cost(graph, &old.parts) <= old.cost(graph, &found) {
            found.clone_from(&old.parts);
        }
    }
    Ok(Found { cut: cut(graph, &found), parts: found })
}

/// Gives parts the labels by which least moves, of parts of the same shares. O(n + k³) for k parts.
fn relabel(found: &mut [BlockId], old: &OldParts, parts: &Parts) {
    let &Parts { num_weights, num_parts, .. } = parts;
    if num_parts > MOST_RELABELLED {
        return;
    }
    let mut stays: Vec<Weight> = vec![0; num_parts * num_parts];
    for ((&new, &old), &size) in found.iter().zip(&old.parts).zip(&old.sizes) {
        let stays = &mut stays[new as usize * num_parts + old as usize];
        *stays = stays.saturating_add(size);
    }
    let shares = |part: usize| {
        parts.shares.as_ref().map(|shares| &shares[part * num_weights..(part + 1) * num_weights])
    };
    let cost = |new: usize, old: usize| match shares(new) == shares(old) {
        true => -stays[new * num_parts + old],
        false => Weight::MAX,
    };
    let (labels, _) = cheapest_assignment(num_parts, cost);
    found.iter_mut().for_each(|part| *part = labels[*part as usize] as BlockId);
}

/// Gives each rank the parts of its own vertices, and the cut, which the first rank has.
fn scattered(comm: &impl Comm, ranges: &Ranges, found: Option<Found>) -> Found {
    let mut cut = found.iter().map(|found| found.cut as u64).collect();
    comm.broadcast(0, &mut cut);
    let counts: Vec<usize> =
        (0..comm.size()).map(|rank| if found.is_some() { ranges.of(rank).len() } else { 0 }).collect();
    let words: Vec<u64> = found.into_iter().flat_map(|found| found.parts).map(u64::from).collect();
    let parts = comm.all_to_all(&words, &counts).words.into_iter().map(|word| word as BlockId).collect();
    Found { parts, cut: cut[0] as Cost }
}
