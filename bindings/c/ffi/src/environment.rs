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

/// The effort that `VIEM_PRESET` says, with that number of threads.
pub fn effort() -> Config {
    let preset = match std::env::var("VIEM_PRESET").as_deref() {
        Ok("fast") => PartitionPreset::Fast,
        Ok("strong") => PartitionPreset::Strong,
        _ => PartitionPreset::Eco,
    };
    Config::from(preset).with_threads(threads())
}

/// The machine that the environment names, to whose PEs so many parts are mapped. If its PEs are not as many, or it cannot be made, there is none, and a
/// line on stderr says so, once in a process: the callers have no other place for it.
pub fn machine(num_parts: usize) -> Option<&'static dyn Machine> {
    static SAID: Once = Once::new();
    let say = |message: &str| {
        SAID.call_once(|| eprintln!("viem: {message}; parts are not mapped to it"));
        None
    };
    match MACHINE.as_ref()? {
        Ok(machine) if machine.num_pes() == num_parts => Some(machine.as_ref()),
        Ok(machine) => {
            let pes = machine.num_pes();
            say(&format!("VIEM_MACHINE has {pes} PEs, but {num_parts} parts are asked for"))
        }
        Err(reason) => say(reason),
    }
}
