//! The table of secondary objectives, each of which is the greatest load of a carrier of traffic.

use super::loads::{Carriers, CarriersVisitor, Loads};
use super::{link, node};
use viem::base::settings::members;
use viem::base::types::{Cost, PeId};
use viem::graph::CsrGraph;
use viem::mapping::objective::ScoreError;
use viem::solve::PreparedMachine;

members! {
    /// An objective that is lowered after J: the greatest load of one kind of carriers.
    #[derive(Default)]
    pub enum SecondaryObjective: "secondary objective" {
        /// The greatest load of a link of a tree, a grid or a network.
        #[default]
        BusiestLink = "busiest_link" by link::visit,
        /// The greatest traffic that leaves a node.
        BusiestNode = "busiest_node" by node::visit,
    }

    /// Runs a visitor over the carriers of a machine; nothing if these are not known.
    pub(super) fn visit<V: CarriersVisitor>(
        self,
        machine: &PreparedMachine<'_>,
        visitor: V
    ) -> Result<Option<V::Output>, ScoreError> = function(machine, visitor)
}

impl SecondaryObjective {
    /// The value of the objective under a mapping, process i on PE `pe_of[i]`; `None` if the carriers of the machine are not known.
    ///
    /// ```
    /// use viem::graph::generate;
    /// use viem::{Grid, PreparedMachine};
    /// use viem_workload::contention::SecondaryObjective;
    ///
    /// let (path, mesh) = (generate::grid(4, 1), Grid::mesh(&[4])?);
    /// let machine = PreparedMachine::new(&mesh);
    /// assert_eq!(SecondaryObjective::BusiestLink.evaluate(&path, &machine, &[0, 2, 1, 3])?, Some(3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A process has no PE, a PE does not exist, or loads could overflow.
    pub fn evaluate(
        self,
        graph: &CsrGraph,
        machine: &PreparedMachine<'_>,
        pe_of: &[PeId],
    ) -> Result<Option<Cost>, ScoreError> {
        self.visit(machine, Greatest { graph, pe_of })
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
