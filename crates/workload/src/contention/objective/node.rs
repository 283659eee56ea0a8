//! The traffic that leaves each node.

use crate::contention::loads::{Carriers, CarriersVisitor};
use viem::base::types::{Cost, PeId};
use viem::machine::Nodes;
use viem::mapping::objective::ScoreError;
use viem::solve::PreparedMachine;

/// Runs a visitor over the nodes of a machine; each PE is one where the machine does not know its nodes.
pub(super) fn visit<V: CarriersVisitor>(
    machine: &PreparedMachine<'_>,
    visitor: V,
) -> Result<V::Output, ScoreError> {
    let (nodes, num_pes) = (machine.nodes(), machine.machine().num_pes());
    visitor.visit(Leaving { nodes, num_pes })
}

/// A message to another node loads the node that it leaves. As edges have the same weight in both directions, as much arrives.
struct Leaving<'a> {
    nodes: &'a Nodes,
    num_pes: usize,
}

impl Carriers for Leaving<'_> {
    fn num_pes(&self) -> usize {
        self.num_pes
    }

    fn count(&self) -> usize {
        self.nodes.hosts().len()
    }

    fn most(&self) -> Cost {
        1
    }

    #[inline]
    fn both_ways(&mut self, one: PeId, other: PeId, mut carried: impl FnMut(usize, Cost)) {
        let [one, other] = [one, other].map(|pe| self.nodes.node(pe));
        if one != other {
            carried(one, 1);
            carried(other, 1);
        }
    }

    fn are_few(&self) -> bool {
        true
    }
}
