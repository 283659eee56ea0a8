//! Per-node summary of a mapping to a cluster: how many ranks each has, how many cores or GPUs a rank has, and which nodes stay empty.

use std::collections::HashSet;
use std::fmt;

use crate::console::Console;
use viem::base::types::PeId;
use viem::machine::{Machine, Nodes};

/// Different numbers of ranks that are listed node by node, at most.
const MOST_RUNS: usize = 8;

/// Empty nodes that are named, at most.
const MOST_NAMED: usize = 8;

/// Prints, in one line, what the processing elements in use make of the nodes of a cluster; of other machines nothing.
pub(crate) fn print(console: Console, machine: &dyn Machine, pes: &[PeId]) {
    if let Some(ranks) = Ranks::new(machine, pes) {
        console.line(format_args!("{ranks}"));
    }
}

struct Ranks {
    /// Of the nodes that have some, in order.
    per_node: Vec<u32>,
    /// The fewest and the most of a rank.
    cores: (u32, u32),
    /// What these are.
    unit: &'static str,
    empty: Vec<String>,
}

impl Ranks {
    fn new(machine: &dyn Machine, pes: &[PeId]) -> Option<Self> {
        let located = machine.located()?;
        let num_nodes = located.num_nodes()?;
        let nodes = Nodes::of(machine);
        let mut used = pes.to_vec();
        used.sort_unstable();
        used.dedup();
        let are_threads = share_cores(&nodes, nodes.node(*used.first()?));
        let mut ranks_of = vec![0; num_nodes as usize];
        let mut sizes = Vec::with_capacity(used.len());
        for &pe in &used {
            *ranks_of.get_mut(located.location(pe).node as usize)? += 1;
            let site = nodes.site(pe);
            let num_cores: u32 = site.cores.iter().map(|cores| cores.count).sum();
            sizes.push(match (site.gpus.len() as u32, are_threads) {
                (0, true) => site.cpus.len() as u32,
                (0, false) => num_cores,
                (num_gpus, _) => num_gpus,
            });
        }
        let name = |node: u32| located.host(node).map_or_else(|| format!("node{node}"), str::to_owned);
        let empty = (0..num_nodes).filter(|&node| ranks_of[node as usize] == 0).map(name).collect();
        ranks_of.retain(|&ranks| ranks > 0);
        let cores = (sizes.iter().min().copied()?, sizes.iter().max().copied()?);
        let unit = match are_threads {
            _ if used.iter().all(|&pe| !nodes.site(pe).gpus.is_empty()) => "GPUs",
            true => "hardware threads",
            false => "cores",
        };
        Some(Self { per_node: ranks_of, cores, unit, empty })
    }
}

/// Whether a core of this node has hardware threads of two processing elements.
fn share_cores(nodes: &Nodes, node: usize) -> bool {
    let mut seen = HashSet::new();
    (0..nodes.num_pes() as PeId).filter(|&pe| nodes.node(pe) == node).any(|pe| {
        let ranges = nodes.site(pe).cores.iter();
        let mut cores =
            ranges.flat_map(|cores| (cores.first..=cores.last()).map(|core| (cores.package, core)));
        cores.any(|core| !seen.insert(core))
    })
}

impl fmt::Display for Ranks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = self.unit;
        let runs: Vec<&[u32]> = self.per_node.chunk_by(|a, b| a == b).collect();
        let ranks = match runs.as_slice() {
            [run] => run[0].to_string(),
            runs if runs.len() <= MOST_RUNS => {
                runs.iter().map(|run| counted(run)).collect::<Vec<_>>().join(",")
            }
            _ => range(
                self.per_node.iter().min().copied().unwrap_or(0),
                self.per_node.iter().max().copied().unwrap_or(0),
            ),
        };
        let others = self.empty.len().saturating_sub(MOST_NAMED);
        let mut empty = self.empty[..self.empty.len() - others].join(", ");
        if others > 0 {
            empty += &format!(" and {others} more");
        }
        let empty = if empty.is_empty() { "none" } else { empty.as_str() };
        let cores = range(self.cores.0, self.cores.1);
        write!(f, "ranks per node: {ranks}; {unit} per rank: {cores}; empty nodes: {empty}")
    }
}

/// `4(x2)`, as Slurm writes it, or `4`.
fn counted(run: &[u32]) -> String {
    if run.len() > 1 { format!("{}(x{})", run[0], run.len()) } else { run[0].to_string() }
}

fn range(least: u32, most: u32) -> String {
    if least == most { least.to_string() } else { format!("{least} to {most}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(per_node: &[u32], cores: (u32, u32), empty: usize) -> String {
        let empty = (0..empty).map(|node| format!("n{node}")).collect();
        Ranks { per_node: per_node.to_vec(), cores, unit: "cores", empty }.to_string()
    }

    #[test]
    fn one_line_says_it_all() {
        assert_eq!(told(&[4, 4], (8, 8), 0), "ranks per node: 4; cores per rank: 8; empty nodes: none");
        assert_eq!(
            told(&[4, 4, 3], (8, 10), 2),
            "ranks per node: 4(x2),3; cores per rank: 8 to 10; empty nodes: n0, n1"
        );
        let many: Vec<u32> = (1..=9).collect();
        let text = told(&many, (1, 1), 10);
        assert_eq!(
            text,
            "ranks per node: 1 to 9; cores per rank: 1; empty nodes: n0, n1, n2, n3, n4, n5, n6, n7 and 2 more"
        );
    }
}
