//! Rails as machines.

use crate::base::types::PeId;
use crate::machine::parts::Parts;
use crate::machine::spec::MachineKind;
use crate::machine::{Distances, Division, Interconnect, Located, Location, Machine, MachineError, Rails};

impl Machine for Rails {
    fn num_pes(&self) -> usize {
        self.tree().num_pes()
    }

    fn distances(&self) -> Result<Distances, MachineError> {
        Distances::own(self.num_pes(), self.clone())
    }

    fn interconnect(&self) -> Interconnect {
        Interconnect::Rails(self.clone())
    }

    /// Nodes, pods and so on, also where distances are the same.
    fn division(&self) -> Division {
        let order = (0..self.num_pes() as PeId).collect();
        Division::Parts(Parts::divide(order, |pes| self.tree().children_of(pes.len())))
    }

    fn room(&self) -> u64 {
        self.num_pes() as u64
    }

    fn describe(&self) -> String {
        let arities: Vec<String> = self.tree().arities().iter().map(u32::to_string).collect();
        format!("rails {}", arities.join(":"))
    }

    fn located(&self) -> Option<&dyn Located> {
        Some(self)
    }
}

impl Located for Rails {
    fn location(&self, pe: PeId) -> Location {
        let of_node = self.tree().arities()[0];
        Location::of_gpus(pe / of_node, vec![pe % of_node])
    }
}

pub(super) const KINDS: &[MachineKind] = &[MachineKind {
    name: "rails",
    example: "rails:8:4:16",
    distances: Some("1:5:6:10"),
    about: "nodes of GPUs in pods, of which those with the same number in their nodes are on one rail",
    make: |request| {
        let distances = request.distances(request.rest.split(':').count() + 1)?;
        request.machine(Rails::parse(request.rest, distances))
    },
}];
