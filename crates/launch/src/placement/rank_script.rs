//! The script that sets the rank of each GPU for `torchrun`: a host, the number of one of its GPUs and a rank in each line of its table.

use super::fault::{Fault, PlacementFault};
use super::kind::{PlacementKind, Task};
use super::lines::{end_of, lines, rank, shown};
use super::seats::{Cores, Seat, Seats, complete, give_seat};
use crate::torchrun::TABLE;

pub(super) const KIND: PlacementKind = PlacementKind {
    name: "torchrun",
    about: "a script for torchrun: host and GPU of each rank",
    resembles: |start| start.starts_with("#!") && start.contains(TABLE),
    is_doubtful: |_| false,
    read,
};

fn read(text: &str, task: &Task<'_>) -> Result<Vec<Seat>, Fault> {
    let hosts = Seats::new(task.nodes);
    let mut seats: Vec<Option<Seat>> = (0..task.num_ranks).map(|_| None).collect();
    let head = text.split('\n').take_while(|line| line.trim_end() != TABLE).count() as u64;
    for line in lines(text).skip_while(|line| line.number <= head) {
        let mut fields = line.text.split_whitespace();
        let row = [fields.next(), fields.next(), fields.next(), fields.next()];
        let [Some(host), Some(gpu), Some(number), None] = row else {
            return Err((line.place(line.text), PlacementFault::GpuLine { text: shown(line.text) }));
        };
        let place = line.place(host);
        let node = hosts.node(host, place)?;
        let Ok(gpu) = gpu.parse() else {
            return Err((line.place(gpu), PlacementFault::GpuLine { text: shown(gpu) }));
        };
        let rank = rank(number, line.place(number), task.num_ranks)?;
        let seat = Seat { node: Some(node), cores: Cores::Nth(gpu), text: String::new(), place };
        give_seat(&mut seats, rank, seat, line.place(number))?;
    }
    complete(seats, end_of(text))
}
