//! How much a preset does on a problem of a size.

use crate::graph::CsrGraph;

/// Problems of fewer processes are always divided down to the innermost groups, which takes negligible time
/// and finds regular structures.
pub(super) const SMALL: usize = 1024;

/// Small problems of more processes and arcs for each process than this are dense.
const DENSE: usize = 10;

/// Problems of at most this many processes are improved best by many cheap partitions.
pub(super) const TINY: usize = 128;

/// From this many processes on, a preset does less for each,
const LARGE: usize = 1 << 16;

/// and from this many on less still.
const HUGE: usize = 1 << 19;

/// The effort for a problem of this size, where `effort` is that for some thousands of processes: small ones
/// take no time to speak of and get `small` times as much, tiny ones a third of that, so that the program has hardly
/// started when it ends, and large ones shall not take minutes. Efforts are spent the faster, the denser a
/// graph is; small dense ones need some rounds nevertheless, and so do tiny ones, however little is to be spent.
pub(super) fn scaled(effort: usize, small: usize, graph: &CsrGraph) -> usize {
    match graph.num_nodes() {
        0..=TINY => (effort.saturating_mul(small) / 3).max(32),
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
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
}

impl Constructions {
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
            let constructions = Constructions { effort: usize::MAX, size: usize::MAX, careful: 0 };
            assert!(constructions.number(&graph) > 1 << 32);
        }
    }
}
