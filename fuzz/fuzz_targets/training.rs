//! Any first line as a parallelism, and any bytes below it as a model: traffic whose classes add up to the graph, or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use viem_io::Source;
use viem_training::jobs::{ParallelConfig, TrainingConfig, step_traffic, text};

/// Ranks, and layers, of jobs whose traffic is computed.
const FEW: u64 = 1 << 10;

fn model(bytes: &[u8]) -> Result<TrainingConfig, String> {
    let source = Source::new("fuzz", bytes).map_err(|error| error.to_string())?;
    text::read(source).map_err(|error| error.to_string())
}

fuzz_target!(|input: &[u8]| {
    let end = input.iter().position(|&byte| byte == b'\n').unwrap_or(input.len());
    let parallel = ParallelConfig::parse(&String::from_utf8_lossy(&input[..end]));
    let model = model(&input[end..]);
    if let Err(error) = &parallel {
        assert!(!error.to_string().is_empty());
    }
    if let Err(error) = &model {
        assert!(!error.is_empty());
    }
    let (Ok(parallel), Ok(mut model)) = (parallel, model) else { return };
    if parallel.num_ranks() > FEW || model.layers > FEW {
        return;
    }
    model.unit = 1;
    match step_traffic(&parallel, &model) {
        Ok(traffic) => {
            assert_eq!(traffic.graph.num_nodes() as u64, parallel.num_ranks());
            assert_eq!(traffic.graph.total_arc_weight() as u64, 2 * traffic.bytes());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
