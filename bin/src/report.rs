//! Reports: the library's, in the [envelope](viem_report::envelope) of all programs.

use std::path::Path;

use serde::Serialize;

use crate::compare::Busiest;
use crate::console::Console;
use crate::files;
use crate::fixed::JsonFixed;
use crate::launch::JsonLaunch;
use crate::memory::JsonMemory;
use crate::remap::JsonRemap;
use viem::Report;
use viem::partition::PartitionQuality;
use viem_report::envelope::Envelope;
use viem_report::traffic::PeTraffic;

/// A report of a verb on a file, or on a problem that it makes, as `--json` writes it.
pub(crate) fn of_verb<'a, O: Serialize, R: Serialize>(
    verb: &'static str,
    input: impl Into<Option<&'a Path>>,
    options: O,
    report: R,
) -> Envelope<O, R> {
    Envelope::new(verb, input.into().map(files::name), options, report)
}

/// Prints a line if a run was stopped. `result` is the kind of its result.
pub(crate) fn print_stopped(console: Console, stopped: bool, result: &str) {
    if stopped {
        console.line(format_args!("stopped early: this is the best {result} found so far"));
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
