//! `viem simulate`: maps a program in time by its simulated completion time, or scores a mapping of it.
//!
//! | member | what it holds |
//! |---|---|
//! | `options` | the options |
//! | `map` | a search for a mapping |
//! | `score` | a mapping, scored |

mod map;
mod options;
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
        self.check()?;
        match &self.score {
            Some(mapping) => score::score(self, mapping),
            None => map::map(self),
        }
    }
}
