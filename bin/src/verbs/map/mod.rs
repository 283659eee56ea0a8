//! `viem map`: maps the processes of a graph to the PEs of a machine.
//!
//! | member | what it holds |
//! |---|---|
//! | `options` | the options |
//! | `one_to_one` | mappings that give each process a place of its own |
//! | `many_to_one` | mappings that put many vertices on a PE |
//! | `task` | what they share: what is read, and where the results go |
//! | `together` | groups of processes that must share a node |
//! | `goal` | GOAL schedules whose ranks are named as mapped |
//! | `initial` | how the initial mapping is made |

mod goal;
mod initial;
mod many_to_one;

mod one_to_one;
mod options;
mod task;
mod together;

pub(crate) use options::{Options, SIGNALS};

use crate::end::End;
use crate::error::Result;
use crate::job::Plan;
use crate::verb::{Form, Verb};
use goal::Goal;
use many_to_one::Scratch;
pub(crate) use many_to_one::{ManyToOne, Way};
use one_to_one::OneToOne;
pub(crate) use task::{Asked, Outputs, Task};
use viem::PreparedMachine;
use viem::base::text::counted;
use viem::machine::Machine;

impl Verb for Options {
    fn set_form(&mut self, form: Form) {
        self.results.report.form = form;
    }

    fn run(&self) -> Result<End> {
        self.construction.check()?;
        let mut plan = Plan::new(self.read_only(), self.mappings())?;
        let to = Outputs {
            mapping: plan.successor("--output", &self.output)?,
            model: plan.optional("--model", self.results.model.as_deref())?,
            picture: plan.optional("--picture", self.picture.file())?,
        };
        let goal = plan.optional("--goal", self.goal.as_ref().map(Goal::mapped))?;
        let planned = self.launch.plan(&mut plan)?;
        let job = plan.start(&self.results.report)?;
        if self.results.verify {
            job.check_verifiable(to.mapping)?;
        }
        let (asked, console, threads) = (self.asked(), job.console, self.search.random.threads()?);
        let machine = asked.machine(threads, console)?;
        let machine = machine.as_ref();
        let config = self.config(machine)?;
        self.sharing.balance.check()?;
        let prepared = &PreparedMachine::new(machine);
        let (application, is_many_to_one) = asked.graph(machine, threads, console)?;
        let graph = &application.graph;
        let bottleneck = self.bottleneck(self.objective_on(machine, is_many_to_one))?;
        let task = Task { asked, machine, prepared, config, to, job };
        let shortage = shortage(graph.num_nodes(), machine);
        if !is_many_to_one {
            self.check_one_to_one()?;
            return one_to_one::map(
                OneToOne { options: self, task, bottleneck, goal },
                planned,
                &application,
            );
        }
        self.check_many_to_one(shortage.as_deref())?;
        // Other machines have fewer PEs than there are vertices because their users want it so.
        if let Some(shortage) = shortage.filter(|_| is_slurm(machine)) {
            console.note(format_args!("{shortage}"));
        }
        let scratch = Scratch::read(self, bottleneck, (&application, machine), console)?;
        ManyToOne::new(task, &application, Way::Scratch(scratch))?.run()
    }
}

/// Whether the machine is a job of Slurm.
fn is_slurm(machine: &dyn Machine) -> bool {
    machine.located().is_some_and(|located| located.slurm_job().is_some())
}

/// What to do if a machine has too few places for the processes, each on a PE of its own.
fn shortage(processes: usize, machine: &dyn Machine) -> Option<String> {
    let room = machine.room();
    if processes as u64 <= room {
        return None;
    }
    let job = machine.located().and_then(|located| located.slurm_job());
    let (from, hint) = match job.and_then(|job| job.ranks_from.as_deref()) {
        Some(from) => (
            format!(" in the Slurm job ({from})"),
            format!(
                "ask Slurm for {tasks}, or give ranks= (slurm:ranks=4 for 4 on each node)",
                tasks = counted(processes, "task", "tasks")
            ),
        ),
        None => (
            String::new(),
            "take a machine with a PE for each process, or map what --model writes".to_owned(),
        ),
    };
    Some(format!(
        "the graph has {processes}, and there is room for {room}{from}: {hint}",
        processes = counted(processes, "process", "processes")
    ))
}
