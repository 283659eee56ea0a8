//! Partitions of distributed graphs.

use viem::machine::Machine;
use viem::partition::MigrationWeight;
use viem::solve::LoadLimits;
use viem_distributed::comm::Comm;
use viem_distributed::error::{DistError, agree};
use viem_distributed::graph::{DistGraph, Rows};
use viem_distributed::mesh::{Elements, dual};
use viem_distributed::solve::{DistConfig, Given, Goal, Old, divide};
use viem_distributed::{alike, loose};
use viem_ffi::{Divided, environment, targets_by_weight};

use crate::arguments::{Function, Lists};
use crate::input::{Found, Input, Parts};

/// Partitions the graph, or the mesh, of all ranks.
pub(crate) fn partition(comm: &impl Comm, mut input: Input) -> Result<Found, DistError> {
    check_alike(comm, &input)?;
    let rows = rows(comm, &mut input)?;
    let (node_weights, num_weights) = (input.vertex_weights.take(), input.parts.num_weights);
    let graph = loose::graph(comm, Rows { node_weights, num_weights, ..rows })?;
    match graph.ranges().total() {
        0 => Ok(Found { parts: Vec::new(), cut: 0 }),
        _ => divided(comm, &graph, &input),
    }
}

/// Refuses the call unless all ranks ask for the same.
fn check_alike(comm: &impl Comm, input: &Input) -> Result<(), DistError> {
    let Parts { num_weights, num_parts, shares, imbalances, seed, price, is_coupled } = &input.parts;
    let digest = |numbers: &[f64]| alike::digest(numbers.iter().map(|number| number.to_bits()));
    let [starts, base] = input.layout.shared();
    let given = [
        ("function", input.function as u64),
        starts,
        base,
        ("`ncon`", *num_weights as u64),
        ("`nparts`", *num_parts as u64),
        ("`tpwgts`", shares.as_deref().map_or(0, digest)),
        ("`ubvec`", digest(imbalances)),
        ("seed", *seed),
        ("`ipc2redist`", price.to_bits()),
        ("coupling", u64::from(*is_coupled)),
        ("`ncommonnodes`", input.common as u64),
    ];
    alike::check(comm, &given)
}

/// The rows of the graph, without weights of vertices.
fn rows(comm: &impl Comm, input: &mut Input) -> Result<Rows, DistError> {
    if input.function == Function::PartMeshKway {
        return dual(comm, &elements(std::mem::take(&mut input.lists)), input.common);
    }
    let targets = agree(comm, input.neighbours())?;
    let Lists { offsets, .. } = std::mem::take(&mut input.lists);
    Ok(Rows { offsets, targets, edge_weights: input.edge_weights.take(), ..Rows::default() })
}

/// The elements that lists of their nodes are.
pub(crate) fn elements(Lists { offsets, entries }: Lists) -> Elements {
    Elements { offsets, nodes: entries.into_iter().map(|node| node as u64).collect() }
}

/// Partitions a graph.
fn divided(comm: &impl Comm, graph: &DistGraph, input: &Input) -> Result<Found, DistError> {
    let &Parts { num_parts, seed, price, .. } = &input.parts;
    let num_vertices = graph.ranges().total() as usize;
    let divided: Vec<Divided> = graph.totals().iter().map(|&total| Divided { total, num_vertices }).collect();
    let Parts { shares, imbalances, .. } = &input.parts;
    let targets = agree(comm, targets_by_weight(&divided, num_parts, shares.as_deref(), imbalances))?;
    let limits: Vec<LoadLimits<'_>> = targets.iter().map(LoadLimits::from).collect();
    let goal = machine(comm.rank(), num_parts).map_or(Goal::Blocks(num_parts), Goal::Pes);
    let weight = MigrationWeight::rounded(price);
    let old = input.old.as_deref().map(|blocks| Old { blocks, weight });
    let sizes = input.sizes();
    let given = Given::default().with_old(old).with_sizes(Some(&sizes)).with_limits(&limits);
    let solution = divide(comm, graph, goal, given, &config(seed))?;
    Ok(Found { parts: solution.blocks, cut: solution.report.cut })
}

/// The effort that the environment says; without, the least, since programs that call ParMETIS do it while they run.
fn config(seed: u64) -> DistConfig {
    let preset = environment::preset().map(|preset| DistConfig::preset(preset.into()));
    let mut config = preset.unwrap_or_else(DistConfig::brief);
    (config.seed, config.threads) = (seed, environment::threads());
    config
}

/// The machine to whose PEs parts are mapped. Where there is none that fits, the first rank says why.
fn machine(rank: usize, num_parts: usize) -> Option<&'static dyn Machine> {
    match rank {
        0 => environment::machine(num_parts),
        _ => environment::fitting(num_parts).ok().flatten(),
    }
}
