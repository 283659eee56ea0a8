//! Reports: the library's, with a head that is the same for all runs.

use std::io::Write;
use std::path::Path;

use serde::Serialize;

use crate::compare::Busiest;
use crate::files;
use crate::fixed::JsonFixed;
use crate::launch::JsonLaunch;
use crate::machine::JsonMachine;
use crate::memory::JsonMemory;
use crate::remap::JsonRemap;
use viem::Report;
use viem::partition::PartitionQuality;
use viem_report::traffic::PeTraffic;

/// A report as `--json` writes it: what only the program knows, and then what is known of the result. Of the options it holds those that decide the
/// result, so that, times and memory aside, the same result has the same report.
#[derive(Serialize)]
pub(crate) struct JsonReport<O, R> {
    program: &'static str,
    version: &'static str,
    /// The file of the problem, as it was named; nothing if the problem is made.
    input: Option<String>,
    machine: Option<JsonMachine>,
    seed: Option<u64>,
    /// By their names.
    options: O,
    #[serde(flatten)]
    report: R,
}

impl<O: Serialize, R: Serialize> JsonReport<O, R> {
    /// The report of a program on a file, or on a problem that it makes.
    pub(crate) fn new<'a>(
        program: &'static str,
        input: impl Into<Option<&'a Path>>,
        options: O,
        report: R,
    ) -> Self {
        let input = input.into().map(files::name);
        Self {
            program,
            version: env!("CARGO_PKG_VERSION"),
            input,
            machine: None,
            seed: None,
            options,
            report,
        }
    }

    /// The same of a run on a machine.
    pub(crate) fn on(self, machine: JsonMachine) -> Self {
        Self { machine: Some(machine), ..self }
    }

    /// The same of a run with random choices.
    pub(crate) fn seeded(self, seed: u64) -> Self {
        Self { seed: Some(seed), ..self }
    }

    /// Writes it as JSON.
    pub(crate) fn write(&self, out: &mut dyn Write) -> std::io::Result<()> {
        files::write_json(out, self)
    }
}

/// The costs of a partition besides its cut.
#[derive(Serialize)]
pub(crate) struct JsonQuality {
    #[serde(flatten)]
    pub(crate) quality: PartitionQuality,
    /// The greatest weight of a part over its own share, rounded up.
    pub(crate) balance: f64,
}

/// The report of a request, and what the programs add to it.
#[derive(Serialize)]
#[serde(bound = "S: Serialize")]
pub(crate) struct Found<'a, S = ()> {
    #[serde(flatten)]
    pub(crate) report: &'a Report,
    /// What decides the result besides, whether an option names it or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) settings: Option<S>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) busiest: Option<Busiest>,
    /// The traffic between PEs, where they have many vertices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) by_pe: Option<PeTraffic>,
    /// The costs of a partition besides its cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) quality: Option<JsonQuality>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fixed: Option<JsonFixed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) remap: Option<JsonRemap>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) launch: Option<JsonLaunch>,
    /// The edges of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model_edges: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) memory: Option<JsonMemory>,
}

impl<'a, S> Found<'a, S> {
    /// Nothing besides the report of the library.
    pub(crate) fn new(report: &'a Report) -> Self {
        Self {
            report,
            settings: None,
            busiest: None,
            by_pe: None,
            quality: None,
            fixed: None,
            remap: None,
            launch: None,
            model_edges: None,
            memory: None,
        }
    }
}
