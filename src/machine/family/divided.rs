//! A machine whose division into parts is given.

use crate::base::types::PeId;
use crate::machine::{
    Audited, Distances, Division, Hierarchy, Interconnect, Located, Location, Machine, MachineError, Parts,
    SlurmJob, nodes,
};

/// A machine with given parts.
#[derive(Clone, Debug)]
pub struct Divided<M> {
    machine: M,
    parts: Parts,
}

impl<M: Machine> Divided<M> {
    /// `machine` with these parts, which must be a division of all its PEs.
    pub fn new(machine: M, parts: Parts) -> Result<Self, MachineError> {
        let (num_pes, found) = (machine.num_pes(), parts.order().len());
        if found != num_pes {
            return Err(MachineError::PartsDiffer { num_pes, found });
        }
        Ok(Self { machine, parts })
    }
}

impl<M: Machine> Machine for Divided<M> {
    fn num_pes(&self) -> usize {
        self.machine.num_pes()
    }

    fn distances(&self) -> Result<Distances, MachineError> {
        self.machine.distances()
    }

    fn distances_among(&self, list: &[PeId]) -> Result<Distances, MachineError> {
        self.machine.distances_among(list)
    }

    fn interconnect(&self) -> Interconnect {
        self.machine.interconnect()
    }

    fn division(&self) -> Division {
        Division::Parts(self.parts.clone())
    }

    fn capacity(&self, pe: PeId) -> u32 {
        self.machine.capacity(pe)
    }

    fn number(&self, pe: PeId) -> PeId {
        self.machine.number(pe)
    }

    fn hierarchy(&self) -> Option<&Hierarchy> {
        self.machine.hierarchy()
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

impl<M: Machine> Located for Divided<M> {
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
