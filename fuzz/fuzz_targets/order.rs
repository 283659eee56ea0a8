//! Any bytes as a schedule of GOAL, which is renamed as well, or as the recorded order of messages, files divided by `=`: an error,
//! or a workload that ends in the simulator.
#![no_main]

use libfuzzer_sys::fuzz_target;
use viem::machine::Grid;
use viem_io::{ReadError, Source};
use viem_traffic::{Recording, is_goal, read_goal, relabel_goal};
use viem_workload::recorded;
use viem_workload::routing::Routing;
use viem_workload::simulate::{Costs, Sharing, SimulationConfig, simulate};

/// Limits the run time.
const MOST_RANKS: u64 = 64;

/// Checks that errors name a place, and returns the result.
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

/// The ranks of a schedule, renamed, have the same steps.
fn check_renamed(text: &[u8], schedule: &Recording) {
    let count = schedule.num_ranks();
    if count > MOST_RANKS {
        return;
    }
    let places: Vec<u32> = (0..count as u32).rev().collect();
    let renamed = Source::new("fuzz", text).and_then(|source| relabel_goal(source, &places, places.len()));
    let renamed = renamed.expect("the schedule was read");
    let again = Source::new("renamed", renamed.as_bytes()).and_then(read_goal).expect("a schedule");
    for (rank, &place) in places.iter().enumerate() {
        let of = |recording: &Recording, rank| recording.steps(rank).unwrap_or_default().to_vec();
        let mut steps = of(schedule, rank as u64);
        steps.iter_mut().for_each(|step| step.peer = places[step.peer as usize]);
        assert_eq!(steps, of(&again, place.into()), "rank {rank}");
    }
}

fuzz_target!(|text: &[u8]| {
    let recording = if is_goal(text) {
        let schedule = checked(Source::new("fuzz", text).and_then(read_goal));
        schedule.inspect(|schedule| check_renamed(text, schedule))
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
