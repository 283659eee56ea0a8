//! The table of objectives, and what carries the traffic that each of them looks at.

use super::link;
use super::loads::{Carriers, CarriersVisitor, Loads};
use viem::base::settings::members;
use viem::base::types::{Cost, PeId};
use viem::graph::CsrGraph;
use viem::mapping::objective::ScoreError;
use viem::solve::PreparedMachine;

members! {
    /// What a job minimises. Carriers of traffic are the links of the machine, or its nodes where links are not known.
    #[derive(Default)]
    pub enum JobObjective: "objective" {
        /// J.
        #[default]
        J = "J" by links_or_nodes;
        /// The greatest load of a carrier, then J.
        Bottleneck = "bottleneck" by links_or_nodes;
        /// The greatest traffic that leaves a node, then J.
        BusiestNode = "busiest_node" in mod node;
        /// J, and the power mean of the loads of all carriers times their number.
        Mixed = "mixed" by links_or_nodes;
    }

    /// Runs a visitor over the carriers of a machine.
    pub(super) fn visit<V: CarriersVisitor>(
        self,
        machine: &PreparedMachine<'_>,
        visitor: V
    ) -> Result<V::Output, ScoreError> = function(machine, visitor)
}

impl JobObjective {
    /// The greatest load of the carriers under a mapping, process i on PE `pe_of[i]`; 0 without traffic. O(carriers + m · carriers of a message).
    ///
    /// ```
    /// use viem::graph::generate;
    /// use viem::{Grid, PreparedMachine};
    /// use viem_workload::contention::JobObjective;
    ///
    /// let (path, mesh) = (generate::grid(4, 1), Grid::mesh(&[4])?);
    /// let machine = PreparedMachine::new(&mesh);
    /// assert_eq!(JobObjective::Bottleneck.greatest_load(&path, &machine, &[0, 2, 1, 3])?, 3);
    /// assert_eq!(JobObjective::BusiestNode.greatest_load(&path, &machine, &[0, 2, 1, 3])?, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A process has no PE, a PE does not exist, or loads could overflow.
    pub fn greatest_load(
        self,
        graph: &CsrGraph,
        machine: &PreparedMachine<'_>,
        pe_of: &[PeId],
    ) -> Result<Cost, ScoreError> {
        self.visit(machine, Greatest { graph, pe_of })
    }
}

/// The links of a machine where they are known, or else its nodes.
fn links_or_nodes<V: CarriersVisitor>(
    machine: &PreparedMachine<'_>,
    visitor: V,
) -> Result<V::Output, ScoreError> {
    match link::routing_of(machine.machine())? {
        Some(routing) => link::visit(&routing, visitor),
        None => node::visit(machine, visitor),
    }
}

/// The greatest load of a mapping.
struct Greatest<'a> {
    graph: &'a CsrGraph,
    pe_of: &'a [PeId],
}

impl CarriersVisitor for Greatest<'_> {
    type Output = Cost;

    fn visit<C: Carriers>(self, carriers: C) -> Result<Cost, ScoreError> {
        Ok(Loads::of(self.graph, carriers, self.pe_of)?.greatest())
    }
}
