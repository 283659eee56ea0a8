//! The script that binds ranks: the CPUs of each, one line per rank, behind a line that announces them.

use super::fault::{Fault, PlacementFault};
use super::kind::Binding;
use super::lines::{end_of, lines, shown};
use crate::script::CPUS;
use viem::base::text::Place;

pub(super) fn read(text: &str, num_ranks: usize) -> Result<Vec<Binding>, Fault> {
    let Some(head) = text.split('\n').position(|line| line.trim_end() == CPUS) else {
        return Err((Place { line: 1, column: 1 }, PlacementFault::NoBindings { line: CPUS }));
    };
    let mut bindings = Vec::new();
    for line in lines(text).skip_while(|line| line.number <= head as u64) {
        let cpus: Result<Vec<u32>, _> = line.text.split(',').map(str::parse).collect();
        let fault = |_| (line.place(line.text), PlacementFault::CpuLine { text: shown(line.text) });
        bindings.push(Binding { cpus: cpus.map_err(fault)?, text: line.text.to_owned() });
        if bindings.len() > num_ranks {
            return Err((line.place(line.text), PlacementFault::TooMany { expected: num_ranks }));
        }
    }
    match bindings.len() {
        found if found < num_ranks => {
            Err((end_of(text), PlacementFault::TooFew { found, expected: num_ranks }))
        }
        _ => Ok(bindings),
    }
}
