//! Any bytes as a workload: one that survives a round trip and ends in the simulator, or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use viem::machine::Grid;
use viem_io::Source;
use viem_workload::routing::Routing;
use viem_workload::simulate::{SimulationConfig, simulate};
use viem_workload::{Workload, text};

/// Largest number of instructions of workloads that are simulated.
const FEW: u64 = 1 << 10;

fn read(text: &[u8]) -> Result<Workload, String> {
    let source = Source::new("fuzz", text).map_err(|error| error.to_string())?;
    text::read(source).map_err(|error| error.to_string())
}

fuzz_target!(|input: (u8, &[u8])| {
    let (shape, text) = input;
    let workload = match read(text) {
        Ok(workload) => workload,
        Err(error) => return assert!(!error.is_empty()),
    };
    if workload.num_tasks() > 1 << 8 || workload.num_instructions() > FEW {
        return;
    }
    let mut written = Vec::new();
    text::write(&mut written, &workload).expect("memory");
    assert_eq!(read(&written).as_ref(), Ok(&workload));
    let side = 1 + u32::from(shape % 5);
    let grid = if shape < 128 { Grid::mesh(&[side, 3]) } else { Grid::torus(&[side, 3]) };
    let routing = Routing::new(&grid.expect("few vertices")).expect("few links");
    let pe_of: Vec<u32> = (0..workload.num_tasks() as u32).map(|task| task * 7 % (3 * side)).collect();
    let simulated =
        simulate(&workload, &routing, &pe_of, SimulationConfig::default()).expect("there is no deadlock");
    let busy: u64 = simulated.pes.iter().map(|pe| pe.busy).sum();
    let work: u64 = (0..workload.num_tasks() as u32).map(|task| workload.work(task)).sum();
    assert_eq!(busy, work + 2 * workload.num_messages());
});
