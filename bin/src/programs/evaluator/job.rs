//! A score as it was asked for: what is read, and where the results go.

use serde::Serialize;

use super::options::{NAME, Options};
use crate::console::Console;
use crate::files;
use crate::given::Given;
use crate::report::JsonReport;
use viem::machine::Machine;
use viem::solve::Balance;
use viem_io::Outputs;
use viem_io::output::OutputId;

/// What is to be done, with the outputs that were asked for.
pub(super) struct Job<'a> {
    pub options: &'a Options,
    pub given: &'a Given,
    pub outputs: &'a Outputs,
    pub json: Option<OutputId>,
    pub trace: Option<OutputId>,
    pub picture: Option<OutputId>,
    pub console: Console,
}

/// The options that decide the result.
#[derive(Serialize)]
pub(super) struct JsonOptions {
    input_mapping: String,
    /// Where PEs have many vertices: in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    imbalance: Option<f64>,
    /// In percent of the share.
    #[serde(skip_serializing_if = "Option::is_none")]
    least_load: Option<f64>,
}

impl JsonOptions {
    pub fn of(options: &Options) -> Self {
        Self { input_mapping: files::name(&options.input_mapping), imbalance: None, least_load: None }
    }

    /// The same where PEs have many vertices.
    pub fn balanced(self, balance: Balance) -> Self {
        let (imbalance, least_load) = (100.0 * balance.imbalance, 100.0 * balance.least_load);
        Self { imbalance: Some(imbalance), least_load: Some(least_load), ..self }
    }
}

impl Job<'_> {
    /// The report of what was found of a mapping to a machine.
    pub fn json_report<R: Serialize>(
        &self,
        machine: &dyn Machine,
        named: JsonOptions,
        report: R,
    ) -> JsonReport<JsonOptions, R> {
        let options = self.options;
        JsonReport::new(NAME, options.file.as_path(), named, report).on(options.machine.report(machine))
    }
}
