//! What constructions in two steps share: the settings, and the second step, inside parts whose processes are known.

use super::stepwise::Slots;
use super::top_down::TopDown;
use crate::base::observer::Observer;
use crate::base::rng::derive;
use crate::base::threads;
use crate::base::types::{NodeId, PeId};
use crate::graph::{CsrGraph, subgraph};
use crate::machine::Places;
use crate::mapping::construct::task::Effort;
use crate::mapping::{Mapping, process_on_each};

/// The machine and the settings of a construction in two steps.
pub(crate) struct InParts<'a> {
    /// As many places as the graph has processes, none of them fixed.
    pub machine: &'a Places,
    pub effort: Effort,
    pub seed: u64,
    /// Once it asks to stop, the remaining processes take the remaining places in order.
    pub observer: &'a dyn Observer,
}

impl InParts<'_> {
    /// The mapping of processes, as many in each part as it has places; `part_of` has the index of the part of each. Together the
    /// parts have all places, in the order of these.
    pub(super) fn inside(&self, parts: &[usize], graph: &CsrGraph, part_of: &[PeId]) -> Mapping {
        let Self { machine, effort, seed, observer } = *self;
        let top_down = TopDown { parts: machine.parts(), effort, observer, fixed: None };
        let mut process_of: Vec<NodeId> = vec![0; graph.num_nodes()];
        let (mut rest, mut all) = (&mut process_of[..], Vec::with_capacity(parts.len()));
        for &part in parts {
            let range = machine.parts().range(part);
            let (own, others) = rest.split_at_mut(range.len());
            all.push((part, Slots { begin: range.start, process_of: own }));
            rest = others;
        }
        let subgraphs = subgraph::split(graph, part_of, parts.len());
        let all = all.into_iter().zip(subgraphs).enumerate().collect();
        threads::map_each(all, &|(index, ((part, slots), (graph, nodes)))| {
            top_down.place(&graph, &nodes, part, effort.inner, derive(seed, 1 + index as u64), slots);
        });
        // The inverse of a permutation.
        Mapping::from_permutation(process_on_each(&process_of))
    }
}
