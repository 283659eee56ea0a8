//! `viem partition`: partitions a graph.
//!
//! | member | what it holds |
//! |---|---|
//! | `options` | the options |
//! | `run` | the run: reading, dividing, writing |

mod options;
mod run;

pub(crate) use options::{Options, PARTITION};
pub(crate) use run::{Asked, Outputs, Way, run};

use crate::end::End;
use crate::error::Result;
use crate::job::Plan;
use crate::verb::{Form, Verb};

impl Verb for Options {
    fn set_form(&mut self, form: Form) {
        self.results.report.form = form;
    }

    fn run(&self) -> Result<End> {
        self.check()?;
        let mut plan = Plan::new(self.read_only(), [])?;
        let to = Outputs {
            blocks: self.output().map(|path| plan.successor("--output", path)).transpose()?,
            model: plan.optional("--model", self.results.model.as_deref())?,
            picture: plan.optional("--picture", self.picture.as_deref())?,
        };
        let index = plan.optional("--write-index", self.order.write_index.as_deref())?;
        let job = plan.start(&self.results.report)?;
        if let Some(result) = to.blocks.or(to.model).filter(|_| self.results.verify) {
            job.check_verifiable(result)?;
        }
        run(self.asked(), Way::Order(&self.order, index), self.config()?, (to, job))
    }
}

impl Options {
    /// The request, in the form that `viem remap` uses, too.
    fn asked(&self) -> Asked<'_> {
        Asked {
            verb: "partition",
            file: &self.file,
            from: self.from,
            blocks: self.blocks,
            preset: self.preset,
            sharing: &self.sharing,
            is_connected: self.connected,
            fixed: &self.fixed,
            coordinates: &self.order.coordinates,
            mesh: &self.mesh,
            results: &self.results,
        }
    }
}
