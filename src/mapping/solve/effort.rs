//! How much a preset does on a problem of a size.

use crate::graph::CsrGraph;

/// Problems of fewer processes are always divided down to the innermost groups, which takes negligible time
/// and finds regular structures.
pub(super) const SMALL: usize = 1024;

/// Small problems of more processes and arcs for each process than this are dense.
const DENSE: usize = 10;

/// Problems of at most this many processes are improved best by many cheap partitions.
pub(super) const TINY: usize = 128;

/// From this many processes on, a preset has half of its effort for each process.
const LARGE: usize = 1 << 16;

/// From this many processes on, a preset has a quarter of its effort for each process.
const HUGE: usize = 1 << 19;

/// The share of its effort that a preset has for each process of a tiny problem.
const TINY_SHARE: usize = 3;

/// The effort of a tiny problem at least.
const LEAST_FOR_TINY: usize = 32;

/// The effort for a problem of this size, where `effort` is that for some thousands of processes.
///
/// The run time of small problems is negligible beside the start of a program, so they get `small` times as much, and
/// tiny ones a third of that. Large ones shall not take minutes, so they get less. The time for a unit of effort falls with
/// the density of a graph, so small dense problems get more, to have some rounds nevertheless; tiny ones have a least
/// effort for the same reason. docs/TUNING.md has the commands that show what each of these numbers balances.
pub(super) fn scaled(effort: usize, small: usize, graph: &CsrGraph) -> usize {
    match graph.num_nodes() {
        0..=TINY => (effort.saturating_mul(small) / TINY_SHARE).max(LEAST_FOR_TINY),
        n if n < SMALL => effort.saturating_mul(small * size(graph).max(DENSE * n)) / (DENSE * n),
        n if n < LARGE => effort,
        n if n < HUGE => effort / 2,
        _ => effort / 4,
    }
}

/// The effort of rebuilding the best of some constructions: the best of many needs it less than the only one.
pub(super) fn rebuilding(effort: u32, constructions: usize, graph: &CsrGraph) -> u32 {
    let effort = (effort as usize).saturating_mul(constructions.saturating_add(1)) / constructions / 2;
    u32::try_from(scaled(effort, 4, graph)).unwrap_or(u32::MAX)
}

/// Processes and arcs.
pub(super) fn size(graph: &CsrGraph) -> usize {
    graph.num_nodes() + graph.num_arcs()
}

/// How many constructions are tried: the smaller a problem, the more one differs from the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Constructions {
    /// Their number times (1 + mean degree) at most, as the time of one grows with the edges; at least one is
    /// tried.
    pub effort: usize,
    /// If they are more than one, the processes and arcs of all of them together are about as many at most, twice as
    /// many for small problems.
    pub size: usize,
    /// Problems of more processes and arcs are divided into the outermost groups with no more effort than inside
    /// of those.
    pub careful: usize,
    /// Constructions where the machine is no regular tree; problems of fewer than 512 processes get the more of them, the
    /// smaller they are, up to eight times as many.
    pub anywhere: usize,
}

/// Problems of fewer processes get more constructions where the machine is no regular tree,
pub(super) const SMALL_ANYWHERE: usize = 512;

/// but not more than so many times as many.
const MOST_ANYWHERE: usize = 8;

impl Constructions {
    /// How many are tried where the machine is no regular tree.
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
