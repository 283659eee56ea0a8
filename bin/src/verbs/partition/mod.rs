//! `viem partition`: partitions a graph.
//!
//! | member | what it holds |
//! |---|---|
//! | `options` | the options |
//! | `capacities` | how much weight each block takes |
//! | `run` | the run: reading, dividing, writing |

mod capacities;
mod options;
mod run;

pub(crate) use options::Options;

use crate::end::End;
use crate::error::Result;
use crate::verb::{Form, Verb};

impl Verb for Options {
    fn set_form(&mut self, form: Form) {
        self.report.form = form;
    }

    fn run(&self) -> Result<End> {
        run::partition(self)
    }
}
