//! `viem qap`: solves quadratic assignment problems of QAPLIB, or scores an assignment.
//!
//! | member | what it holds |
//! |---|---|
//! | `options` | the options |
//! | `problem` | the problem, and what its file says of J |
//! | `solve` | a search |
//! | `score` | an assignment, scored |

mod options;
mod problem;
mod score;
mod solve;

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
            Some(assignment) => score::score(self, assignment),
            None => solve::solve(self),
        }
    }
}
