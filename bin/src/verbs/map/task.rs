//! A mapping as it was asked for: what is read, and where the results go.

use serde::Serialize;

use super::options::Options;
use crate::job::Job;
use crate::report;
use viem::machine::Machine;
use viem::solve::{Config, PreparedMachine, Secondary};
use viem_io::output::OutputId;
use viem_report::envelope::Envelope;
use viem_workload::contention::{BottleneckConfig, JobObjective};

/// Where the results go.
pub(super) struct Outputs {
    pub(super) mapping: OutputId,
    pub(super) model: Option<OutputId>,
    pub(super) picture: Option<OutputId>,
    /// The picture of a curve of remappings.
    pub(super) curve: Option<OutputId>,
    /// The schedule in which ranks are named as they are mapped.
    pub(super) goal: Option<OutputId>,
}

/// A graph that is to be mapped to a machine.
pub(super) struct Task<'a> {
    pub(super) options: &'a Options,
    pub(super) machine: &'a dyn Machine,
    pub(super) prepared: &'a PreparedMachine<'a>,
    pub(super) config: Config,
    /// The search for the objective, if that is not J alone.
    pub(super) bottleneck: Option<BottleneckConfig>,
    pub(super) to: Outputs,
    pub(super) job: Job<'a>,
}

impl Task<'_> {
    /// What people call the file of the mapping.
    pub(super) fn name(&self) -> &str {
        self.job.name(self.to.mapping)
    }

    /// What is minimised.
    pub(super) fn objective(&self) -> JobObjective {
        self.bottleneck.map_or(JobObjective::J, |bottleneck| bottleneck.objective)
    }

    /// What is lowered once J is minimised.
    pub(super) fn secondary(&self) -> Option<&dyn Secondary> {
        self.bottleneck.as_ref().map(|bottleneck| bottleneck as &dyn Secondary)
    }

    /// The report of the run: its options, and what is known of the result.
    pub(super) fn json_report<O: Serialize, R: Serialize>(&self, options: O, report: R) -> Envelope<O, R> {
        let Self { options: all, config, machine, .. } = self;
        let report = report::of_verb("map", all.file.as_path(), options, report);
        report.on(all.machine.report(*machine)).seeded(config.seed)
    }
}
