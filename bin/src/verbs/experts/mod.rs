//! `viem experts`: places the experts of a model on GPUs, or scores a placement.
//!
//! | member | what it holds |
//! |---|---|
//! | `options` | the options |
//! | `rows` | the trace, and placements side by side |
//! | `place` | a search |
//! | `score` | a placement, scored |

mod options;
mod place;
mod rows;
mod score;

pub(crate) use options::Options;

use crate::end::End;
use crate::error::Result;
use crate::verb::{Form, Verb};

impl Verb for Options {
    fn set_form(&mut self, form: Form) {
        self.report.form = form;
    }

    fn run(&self) -> Result<End> {
        match &self.score {
            Some(placement) => score::score(self, placement),
            None => place::place(self),
        }
    }
}
