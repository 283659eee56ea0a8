//! The simulated completion time as a measure of mappings.
//!
//! Each evaluated mapping is simulated as a whole, so this is for workloads of a few thousand messages. It
//! captures what F does not: how long messages wait for each other, and which tasks that delays.

use super::descent::Measure;
use super::view::MachineView;
use crate::simulate::{SimulationConfig, SimulationError, simulate_watched};
use crate::{TaskId, Workload};
use viem::base::observer::Observer;
use viem::base::types::PeId;

/// Simulates one mapping after another.
pub(super) struct SimulatedTime<'a> {
    workload: &'a Workload,
    view: &'a MachineView,
    settings: SimulationConfig,
    observer: &'a dyn Observer,
    pe_of: Vec<PeId>,
    /// Completion time and J of the mapping, once they are known.
    value: Option<(i64, i64)>,
    /// Simulated hops of messages and instructions.
    work: u64,
}

impl<'a> SimulatedTime<'a> {
    /// A mapping that can be simulated.
    pub(super) fn of(
        workload: &'a Workload,
        view: &'a MachineView,
        settings: SimulationConfig,
        observer: &'a dyn Observer,
        pe_of: &[PeId],
    ) -> Result<Self, SimulationError> {
        let mut simulated =
            Self { workload, view, settings, observer, pe_of: pe_of.to_vec(), value: None, work: 0 };
        simulated.value = Some(simulated.run()?);
        Ok(simulated)
    }

    fn run(&mut self) -> Result<(i64, i64), SimulationError> {
        let simulation =
            simulate_watched(self.workload, &self.view.routing, &self.pe_of, self.settings, self.observer)?;
        let hops: u64 = simulation.links.iter().map(|link| link.messages).sum();
        self.work += 1 + hops + self.workload.num_instructions() / 2;
        let cost = self.view.cost(self.workload, &self.pe_of);
        Ok((simulation.completion_time as i64, i64::try_from(cost).unwrap_or(i64::MAX)))
    }
}

impl Measure for SimulatedTime<'_> {
    /// Completion time, then J. Where the workload is the start of a longer run, that predicts the rest better than latencies do.
    fn value(&mut self) -> (i64, i64) {
        match self.value {
            Some(value) => value,
            None => {
                // If the run is asked to stop, the mapping counts as no better.
                let value = self.run().unwrap_or((i64::MAX, i64::MAX));
                *self.value.insert(value)
            }
        }
    }

    fn place(&mut self, task: TaskId, pe: PeId) {
        self.pe_of[task as usize] = pe;
        self.value = None;
    }

    fn returned_to(&mut self, value: (i64, i64)) {
        self.value = Some(value);
    }

    fn pe_of(&self) -> &[PeId] {
        &self.pe_of
    }

    fn work(&self) -> u64 {
        self.work
    }
}
