//! Some PEs of a machine, in any order: those that a batch system has given to a job.

use crate::base::types::PeId;
use crate::machine::{
    Audited, Distances, Division, Interconnect, Located, Location, Machine, MachineError, SlurmJob, nodes,
};

/// The listed PEs of a machine. PE i is the i-th of the list; distances are those of the whole machine.
///
/// ```
/// use viem::machine::{Hierarchy, Listed, Machine as _};
///
/// // Two nodes of 16 cores out of 64, and half of a third.
/// let cluster = Hierarchy::parse("16:64", "1:10")?;
/// let pes: Vec<u32> = (32..64).chain(512..520).collect();
/// let job = Listed::new(&cluster, pes)?;
/// assert_eq!(job.num_pes(), 40);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Listed<M> {
    machine: M,
    list: Vec<PeId>,
}

impl<M: Machine> Listed<M> {
    /// The PEs of `machine` with these numbers; each at most once, and at least one.
    pub fn new(machine: M, list: Vec<PeId>) -> Result<Self, MachineError> {
        if list.is_empty() {
            return Err(MachineError::NoPes);
        }
        let count = machine.num_pes();
        if let Some(index) = list.iter().position(|&pe| pe as usize >= count) {
            return Err(MachineError::PeOutOfRange { index, pe: list[index], count });
        }
        // The machine may be far larger than the list.
        let mut sorted: Vec<(PeId, usize)> = list.iter().copied().zip(0..).collect();
        sorted.sort_unstable();
        let repeats = sorted.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| pair[1].1);
        if let Some(index) = repeats.min() {
            return Err(MachineError::PeListedTwice { index, pe: list[index] });
        }
        Ok(Self { machine, list })
    }

    /// The numbers of the PEs in the whole machine.
    pub fn list(&self) -> &[PeId] {
        &self.list
    }

    /// The numbers, in the whole machine, of some of these PEs.
    fn among(&self, list: &[PeId]) -> Vec<PeId> {
        list.iter().map(|&pe| self.list[pe as usize]).collect()
    }
}

impl<M: Machine> Machine for Listed<M> {
    fn num_pes(&self) -> usize {
        self.list.len()
    }

    fn number(&self, pe: PeId) -> PeId {
        self.machine.number(self.list[pe as usize])
    }

    fn capacity(&self, pe: PeId) -> u32 {
        self.machine.capacity(self.list[pe as usize])
    }

    fn distances(&self) -> Result<Distances, MachineError> {
        self.machine.distances_among(&self.list)
    }

    fn distances_among(&self, list: &[PeId]) -> Result<Distances, MachineError> {
        self.machine.distances_among(&self.among(list))
    }

    fn interconnect(&self) -> Interconnect {
        match self.machine.interconnect() {
            Interconnect::Ports => Interconnect::Ports,
            whole => Interconnect::Listed { whole: Box::new(whole), list: self.list.clone() },
        }
    }

    fn division(&self) -> Division {
        self.machine.division_among(&self.list)
    }

    fn division_among(&self, list: &[PeId]) -> Division {
        self.machine.division_among(&self.among(list))
    }

    fn describe(&self) -> String {
        format!("{} processing elements of a {}", self.list.len(), self.machine.describe())
    }

    fn located(&self) -> Option<&dyn Located> {
        Some(self)
    }

    fn whole(&self) -> Option<&dyn Machine> {
        Some(&self.machine)
    }

    fn audited(&self) -> Option<&dyn Audited> {
        self.machine.audited()
    }
}

impl<M: Machine> Located for Listed<M> {
    fn location(&self, pe: PeId) -> Location {
        nodes::location(&self.machine, self.list[pe as usize])
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
