//! Any bytes as a schedule of GOAL, or as the recorded order of messages, files divided by `=`: an error, or a workload that ends in the simulator.
#![no_main]

use libfuzzer_sys::fuzz_target;
use viem::io::traffic::{Recording, is_goal, read_goal};
use viem::io::{ReadError, Source};
use viem::machine::Grid;
use viem::workload::recorded;
use viem::workload::routing::Routing;
use viem::workload::simulate::{Costs, Sharing, SimulationConfig, simulate};

/// Limits the run time.
const MOST_RANKS: u64 = 64;

/// What was read; errors must name a place.
fn checked<T>(read: Result<T, ReadError>) -> Option<T> {
    match read {
        Ok(value) => Some(value),
        Err(ReadError::Invalid { line, column, kind, .. }) => {
            assert!(line > 0 && column > 0 && !kind.to_string().is_empty());
            None
        }
        Err(error) => panic!("a slice can be read: {error}"),
    }
}

fuzz_target!(|text: &[u8]| {
    let recording = if is_goal(text) {
        checked(Source::new("fuzz", text).and_then(read_goal))
    } else {
        let mut recording = Recording::default();
        let mut files = text.split(|&byte| byte == b'=');
        let are_read = files.all(|file| {
            checked(Source::new("fuzz", file).and_then(|source| recording.read(source))).is_some()
        });
        are_read.then_some(recording)
    };
    let Some(recording) = recording else { return };
    if recording.num_ranks() > MOST_RANKS {
        return;
    }
    let Ok(made) = recorded::workload(&recording, 1 << 40) else { return };
    let routing = Routing::new(&Grid::mesh(&[8, 8]).expect("a mesh")).expect("its routes");
    let pe_of: Vec<u32> = (0..recording.num_ranks() as u32).collect();
    let config = SimulationConfig::new(Costs::default()).with_sharing(Sharing::Fair { latency: 1 });
    let simulated = simulate(&made.workload, &routing, &pe_of, config).expect("there is no deadlock");
    assert_eq!(simulated.latency.messages, made.workload.num_messages());
});
