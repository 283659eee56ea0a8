//! A mapping as it was asked for: what is read, and where the results go.

use std::path::Path;

use serde::Serialize;

use crate::application::{Application, Input};
use crate::capacities::NodeOptions;
use crate::compare::PictureOptions;
use crate::console::Console;
use crate::error::Result;
use crate::fixed::FixedOptions;
use crate::job::Job;
use crate::machine::MachineOptions;
use crate::many_to_one::SharingOptions;
use crate::mesh::MeshOptions;
use crate::options::ResultOptions;
use crate::report;
use viem::base::threads;
use viem::machine::Machine;
use viem::solve::{Config, MapPreset, PreparedMachine};
use viem_io::output::OutputId;
use viem_report::envelope::Envelope;

/// Where the results go.
pub(crate) struct Outputs {
    pub(crate) mapping: OutputId,
    pub(crate) model: Option<OutputId>,
    pub(crate) picture: Option<OutputId>,
}

/// The options that `viem map` and `viem remap` share.
pub(crate) struct Asked<'a> {
    pub(crate) verb: &'static str,
    pub(crate) file: &'a Path,
    pub(crate) on: &'a MachineOptions,
    pub(crate) preset: MapPreset,
    pub(crate) sharing: &'a SharingOptions,
    pub(crate) nodes: &'a NodeOptions,
    pub(crate) fixed: &'a FixedOptions,
    pub(crate) picture: &'a PictureOptions,
    pub(crate) mesh: &'a MeshOptions,
    pub(crate) results: &'a ResultOptions,
}

impl Asked<'_> {
    /// Reads the machine with the capacities of its PEs, on `threads` threads.
    pub(crate) fn machine(&self, threads: usize, console: Console) -> Result<Box<dyn Machine>> {
        self.sharing.weigh(threads::run(threads, || self.on.build(console))??)
    }

    /// Reads the graph, and decides whether many of its vertices share a PE.
    pub(crate) fn graph(
        &self,
        machine: &dyn Machine,
        threads: usize,
        console: Console,
    ) -> Result<(Application, bool)> {
        let mesh = (self.mesh, self.results.verify, self.nodes);
        self.sharing.read(Input::open(self.file)?, machine, mesh, (threads, console))
    }
}

/// A graph that is to be mapped to a machine.
pub(crate) struct Task<'a> {
    pub(crate) asked: Asked<'a>,
    pub(crate) machine: &'a dyn Machine,
    pub(crate) prepared: &'a PreparedMachine<'a>,
    pub(crate) config: Config,
    pub(crate) to: Outputs,
    pub(crate) job: Job<'a>,
}

impl Task<'_> {
    /// What people call the file of the mapping.
    pub(super) fn name(&self) -> &str {
        self.job.name(self.to.mapping)
    }

    /// The time limit in seconds, if there is one.
    pub(super) fn time_limit(&self) -> Option<f64> {
        self.config.time_limit.map(|limit| limit.as_secs_f64())
    }

    /// The report of the run: its options, and what is known of the result.
    pub(super) fn json_report<O: Serialize, R: Serialize>(&self, options: O, report: R) -> Envelope<O, R> {
        let Self { asked, config, machine, .. } = self;
        let report = report::of_verb(asked.verb, asked.file, options, report);
        report.on(asked.on.report(*machine)).seeded(config.seed)
    }
}
