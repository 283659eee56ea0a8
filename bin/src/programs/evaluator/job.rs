//! A score as it was asked for: what is read, and where the results go.

use super::options::Options;
use crate::console::Console;
use crate::given::Given;
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
