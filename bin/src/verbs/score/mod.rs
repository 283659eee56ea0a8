//! `viem score`: scores a mapping of a graph.
//!
//! | member | what it holds |
//! |---|---|
//! | `options` | the options |
//! | `report` | what is found, as lines and as a report |

mod options;
mod report;

pub(crate) use options::Options;

use crate::end::End;
use crate::error::Result;
use crate::verb::{Form, Verb};

impl Verb for Options {
    fn set_form(&mut self, form: Form) {
        self.report.form = form;
    }

    fn run(&self) -> Result<End> {
        report::score(self)
    }
}
