//! Any bytes as a program: one that is written and read again the same and that ends in the simulator, or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use viem::io::Source;
use viem::machine::Grid;
use viem::workload::Program;
use viem::workload::routing::Routing;
use viem::workload::simulate::{Settings, simulate};
use viem::workload::text;

/// Instructions of programs that are simulated.
const FEW: u64 = 1 << 10;

fn read(text: &[u8]) -> Result<Program, String> {
    let source = Source::new("fuzz", text).map_err(|error| error.to_string())?;
    text::read(source).map_err(|error| error.to_string())
}

fuzz_target!(|input: (u8, &[u8])| {
    let (shape, text) = input;
    let program = match read(text) {
        Ok(program) => program,
        Err(error) => return assert!(!error.is_empty()),
    };
    if program.num_tasks() > 1 << 8 || program.num_instructions() > FEW {
        return;
    }
    let mut written = Vec::new();
    text::write(&mut written, &program).expect("memory");
    assert_eq!(read(&written).as_ref(), Ok(&program));
    let side = 1 + u32::from(shape % 5);
    let grid = if shape < 128 { Grid::mesh(&[side, 3]) } else { Grid::torus(&[side, 3]) };
    let routing = Routing::new(&grid.expect("few vertices")).expect("few links");
    let pe_of: Vec<u32> = (0..program.num_tasks() as u32).map(|task| task * 7 % (3 * side)).collect();
    let simulated =
        simulate(&program, &routing, &pe_of, Settings::default(), &()).expect("nobody waits for ever");
    let busy: u64 = simulated.pes.iter().map(|pe| pe.busy).sum();
    let work: u64 = (0..program.num_tasks() as u32).map(|task| program.work(task)).sum();
    assert_eq!(busy, work + 2 * program.num_messages());
});
