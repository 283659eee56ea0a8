//! The order of pods as JSON: `{"pods": [{"host": "n1", "gpus": [0, 1], "ranks": [5, 0]}]}`, in which GPU 1 of n1 has rank 0.

use serde_json::Value;

use super::fault::{Fault, PlacementFault};
use super::kind::{PlacementKind, Task};
use super::lines::{end_of, rank};
use super::seats::{Cores, Seat, Seats, complete, give_seat};
use viem::base::text::{Place, place};

pub(super) const KIND: PlacementKind = PlacementKind {
    name: "pods",
    about: "an order of pods: host and GPU of each rank",
    resembles: |start| start.trim_start().starts_with('{') && start.contains("\"pods\""),
    is_doubtful: |_| false,
    read,
};

fn read(text: &str, task: &Task<'_>) -> Result<Vec<Seat>, Fault> {
    let parsed: Value = serde_json::from_str(text).map_err(|error| {
        let place = Place { line: error.line().max(1) as u64, column: error.column().max(1) as u64 };
        (place, PlacementFault::Json { reason: error.to_string() })
    })?;
    let start = Place { line: 1, column: 1 };
    let pods = parsed.get("pods").and_then(Value::as_array).ok_or((start, PlacementFault::NoPods))?;
    let hosts = Seats::new(task.nodes);
    let mut seats: Vec<Option<Seat>> = (0..task.num_ranks).map(|_| None).collect();
    for (number, pod) in pods.iter().enumerate() {
        let (host, gpus, ranks) = parts(pod).ok_or((start, PlacementFault::Pod { number }))?;
        // If the name of the host comes first.
        let offset = text.find(&Value::from(host).to_string()).unwrap_or(0);
        let place = place(text.as_bytes(), offset);
        let node = hosts.node(host, place)?;
        for (gpu, number) in gpus.into_iter().zip(ranks) {
            let rank = rank(&number.to_string(), place, task.num_ranks)?;
            let seat = Seat { node: Some(node), cores: Cores::Nth(gpu), text: String::new(), place };
            give_seat(&mut seats, rank, seat, place)?;
        }
    }
    complete(seats, end_of(text))
}

/// The host of a pod, its GPUs, and as many ranks.
fn parts(pod: &Value) -> Option<(&str, Vec<u64>, Vec<u64>)> {
    let numbers = |key: &str| pod.get(key)?.as_array()?.iter().map(Value::as_u64).collect::<Option<Vec<_>>>();
    let (gpus, ranks) = (numbers("gpus")?, numbers("ranks")?);
    (gpus.len() == ranks.len()).then_some((pod.get("host")?.as_str()?, gpus, ranks))
}
