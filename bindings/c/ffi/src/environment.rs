//! What the environment says to libraries whose callers cannot: effort, threads, a machine.

use std::sync::{LazyLock, Once};

use viem::machine::Machine;
use viem::{Config, PartitionPreset};

/// The machine that `VIEM_MACHINE` and `VIEM_DISTANCES` name, as they are at the first call; none without them, or why there is none.
static MACHINE: LazyLock<Option<Result<Box<dyn Machine>, String>>> = LazyLock::new(|| {
    let spec = std::env::var("VIEM_MACHINE").ok().filter(|spec| !spec.is_empty())?;
    let distances = std::env::var("VIEM_DISTANCES").ok();
    let machine = viem_cluster::build(&spec, distances.as_deref());
    Some(machine.map_err(|error| format!("VIEM_MACHINE={spec}: {error}")))
});

/// The number of threads that `VIEM_THREADS` says, or 1.
pub fn threads() -> usize {
    let threads = std::env::var("VIEM_THREADS").ok().and_then(|threads| threads.parse().ok());
    threads.filter(|threads| (1..=1024).contains(threads)).unwrap_or(1)
}

/// The preset that `VIEM_PRESET` says, if it says one.
pub fn preset() -> Option<PartitionPreset> {
    match std::env::var("VIEM_PRESET").as_deref() {
        Ok("fast") => Some(PartitionPreset::Fast),
        Ok("eco") => Some(PartitionPreset::Eco),
        Ok("strong") => Some(PartitionPreset::Strong),
        _ => None,
    }
}

/// The effort that `VIEM_PRESET` says, else `eco`, with that number of threads.
pub fn effort() -> Config {
    Config::from(preset().unwrap_or(PartitionPreset::Eco)).with_threads(threads())
}

/// The machine that the environment names, to whose PEs so many parts are mapped. If its PEs are not as many, or it cannot be made, there is none, and a
/// line on stderr says so, once in a process: the callers have no other place for it.
pub fn machine(num_parts: usize) -> Option<&'static dyn Machine> {
    static SAID: Once = Once::new();
    fitting(num_parts).unwrap_or_else(|reason| {
        SAID.call_once(|| eprintln!("viem: {reason}; parts are not mapped to it"));
        None
    })
}

/// The same, or why there is none, for callers that run in many processes.
pub fn fitting(num_parts: usize) -> Result<Option<&'static dyn Machine>, String> {
    match MACHINE.as_ref() {
        None => Ok(None),
        Some(Ok(machine)) if machine.num_pes() == num_parts => Ok(Some(machine.as_ref())),
        Some(Ok(machine)) => {
            let pes = machine.num_pes();
            Err(format!("VIEM_MACHINE has {pes} PEs, but {num_parts} parts are asked for"))
        }
        Some(Err(reason)) => Err(reason.clone()),
    }
}
