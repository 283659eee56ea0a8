//! Networks as machines.

use crate::base::types::PeId;
use crate::machine::metric::table::AnyTable;
use crate::machine::{Distances, Division, Interconnect, Machine, MachineError, Network};

impl Machine for Network {
    fn num_pes(&self) -> usize {
        self.vertices.len()
    }

    fn capacity(&self, pe: PeId) -> u32 {
        self.graph().node_weight(self.vertex(pe)) as u32
    }

    fn distances(&self) -> Result<Distances, MachineError> {
        Ok(match self.table.clone() {
            AnyTable::Narrow(table) => Distances::Routes(self.placed(table)),
            AnyTable::Wide(table) => Distances::WideRoutes(self.placed(table)),
        })
    }

    fn interconnect(&self) -> Interconnect {
        Interconnect::Network(self.clone())
    }

    /// The network, to be cut across few links, preferably expensive ones.
    fn division(&self) -> Division {
        let vertex_of = (0..self.vertices.len() as PeId).map(|pe| self.attached_to(pe)).collect();
        Division::Network { graph: self.graph().clone(), vertex_of }
    }

    fn describe(&self) -> String {
        let routers = self.graph().num_nodes() - self.vertices.len();
        format!("network of {} processing elements and {routers} routers", self.vertices.len())
    }
}
