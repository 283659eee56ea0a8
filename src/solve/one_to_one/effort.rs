//! The effort of a preset, by problem size.

use crate::graph::CsrGraph;

/// Smaller problems are always partitioned down to the innermost groups, which takes negligible time and
/// finds regular structures.
pub(super) const SMALL: usize = 1024;

/// Small problems with at least this many processes and with more arcs per process than this are dense.
const DENSE: usize = 10;

/// Problems of at most this many processes are improved best by many cheap partitions.
pub(super) const TINY: usize = 128;

/// From this many processes on, a preset spends half of its effort per process.
const LARGE: usize = 1 << 16;

/// From this many processes on, a preset spends a quarter of its effort per process.
const HUGE: usize = 1 << 19;

/// Divisor of the effort per process for a tiny problem.
const TINY_SHARE: usize = 3;

/// Smallest effort for a tiny problem.
const LEAST_FOR_TINY: usize = 32;

/// The effort for a problem of this size; `effort` is that for a few thousand processes.
///
/// The run time of small problems is negligible compared with the start-up time of a program, so they get the
/// effort times `small`, and tiny ones a third of that. Large problems must not take minutes, so they get
/// less. The time per unit of effort falls with the density of a graph. Small dense problems therefore get
/// more, to have at least a few rounds; tiny ones have a minimum effort for the same reason. docs/TUNING.md
/// lists the commands that show what each of these constants balances.
pub(super) fn scaled(effort: usize, small: usize, graph: &CsrGraph) -> usize {
    match graph.num_nodes() {
        0..=TINY => (effort.saturating_mul(small) / TINY_SHARE).max(LEAST_FOR_TINY),
        n if n < SMALL => effort.saturating_mul(small * size(graph).max(DENSE * n)) / (DENSE * n),
        n if n < LARGE => effort,
        n if n < HUGE => effort / 2,
        _ => effort / 4,
    }
}

/// The effort of rebuilding the best of several constructions. The best of many needs less rebuilding than a
/// single one.
pub(super) fn rebuilding(effort: u32, constructions: usize, graph: &CsrGraph) -> u32 {
    let effort = (effort as usize).saturating_mul(constructions.saturating_add(1)) / constructions / 2;
    u32::try_from(scaled(effort, 4, graph)).unwrap_or(u32::MAX)
}

/// Number of processes plus number of arcs.
pub(super) fn size(graph: &CsrGraph) -> usize {
    graph.num_nodes() + graph.num_arcs()
}

/// Number of constructions. The smaller a problem, the more its constructions differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Constructions {
    /// Upper limit on the number of constructions times (1 + mean degree), since the time of a construction
    /// grows with the number of edges. At least one is made.
    pub effort: usize,
    /// Approximate upper limit on the processes and arcs of all constructions together if there is more than
    /// one; small problems have twice this limit.
    pub size: usize,
    /// In problems with more processes and arcs, the partitions into outermost groups get no more effort than
    /// those inside the groups.
    pub careful: usize,
    /// Constructions on a machine that is not a regular tree. Problems of fewer than 512 processes get up to
    /// eight times as many, increasing as the size decreases, unless they have few places.
    pub anywhere: usize,
}

/// Problems of fewer processes get more constructions if the machine is not a regular tree,
pub(super) const SMALL_ANYWHERE: usize = 512;

/// by at most this factor.
const MOST_ANYWHERE: usize = 8;

impl Constructions {
    /// The number of constructions on a machine that is not a regular tree.
    pub(super) fn number_anywhere(self, num_processes: usize) -> usize {
        let times = (SMALL_ANYWHERE / num_processes.max(1)).clamp(1, MOST_ANYWHERE);
        self.anywhere.saturating_mul(times).max(1)
    }

    pub(super) fn number(self, graph: &CsrGraph) -> usize {
        let size = size(graph).max(1);
        let greatest = if graph.num_nodes() < SMALL { self.size.saturating_mul(2) } else { self.size };
        let all = scaled(self.effort, 1, graph).saturating_mul(graph.num_nodes()).min(greatest);
        (all.saturating_add(size / 2) / size).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::generate;

    #[test]
    fn efforts_do_not_wrap() {
        for n in [96, 1000] {
            let graph = generate::random_geometric(n, 6.0, 1);
            // Three quarters of 2^32, and the like: times 4, or 4 thirds, this is a multiple of 2^32.
            for effort in [3 << 30, 1 << 30, u32::MAX] {
                assert!(rebuilding(effort, 1, &graph) >= effort, "{n} {effort}");
            }
            let constructions =
                Constructions { effort: usize::MAX, size: usize::MAX, careful: 0, anywhere: 1 };
            assert!(constructions.number(&graph) > 1 << 32);
        }
    }
}
