//! A machine whose PEs have room for more than one process.

use crate::base::types::PeId;
use crate::machine::{
    Audited, Distances, Division, Hierarchy, Interconnect, Located, Location, Machine, MachineError,
    SlurmJob, nodes,
};

/// A machine with a capacity for each PE.
#[derive(Clone, Debug)]
pub struct Capacities<M> {
    machine: M,
    capacities: Vec<u32>,
    /// True if all of them are 1.
    are_plain: bool,
}

impl<M: Machine> Capacities<M> {
    /// The PEs of `machine` with room for these numbers of processes, each at least 1.
    pub fn new(machine: M, capacities: Vec<u32>) -> Result<Self, MachineError> {
        let (num_pes, found) = (machine.num_pes(), capacities.len());
        if found != num_pes {
            return Err(MachineError::CapacitiesDiffer { num_pes, found });
        }
        if let Some(pe) = capacities.iter().position(|&capacity| capacity == 0) {
            return Err(MachineError::NoCapacity { pe });
        }
        let are_plain = capacities.iter().all(|&capacity| capacity == 1);
        Ok(Self { machine, capacities, are_plain })
    }
}

impl<M: Machine> Machine for Capacities<M> {
    fn num_pes(&self) -> usize {
        self.machine.num_pes()
    }

    fn distances(&self) -> Result<Distances, MachineError> {
        self.machine.distances()
    }

    fn distances_among(&self, list: &[PeId]) -> Result<Distances, MachineError> {
        self.machine.distances_among(list)
    }

    fn division_among(&self, list: &[PeId]) -> Division {
        self.machine.division_among(list)
    }

    fn interconnect(&self) -> Interconnect {
        self.machine.interconnect()
    }

    fn division(&self) -> Division {
        self.machine.division()
    }

    fn capacity(&self, pe: PeId) -> u32 {
        self.capacities[pe as usize]
    }

    fn number(&self, pe: PeId) -> PeId {
        self.machine.number(pe)
    }

    /// With PEs that have room for several processes, the machine is no longer a regular tree.
    fn hierarchy(&self) -> Option<&Hierarchy> {
        self.machine.hierarchy().filter(|_| self.are_plain)
    }

    fn describe(&self) -> String {
        self.machine.describe()
    }

    fn located(&self) -> Option<&dyn Located> {
        Some(self)
    }

    fn whole(&self) -> Option<&dyn Machine> {
        self.machine.whole()
    }

    fn audited(&self) -> Option<&dyn Audited> {
        self.machine.audited()
    }
}

impl<M: Machine> Located for Capacities<M> {
    fn location(&self, pe: PeId) -> Location {
        nodes::location(&self.machine, pe)
    }

    fn host(&self, node: u32) -> Option<&str> {
        nodes::host(&self.machine, node)
    }

    fn num_nodes(&self) -> Option<u32> {
        nodes::num_nodes(&self.machine)
    }

    fn slurm_job(&self) -> Option<&SlurmJob> {
        nodes::slurm_job(&self.machine)
    }
}
