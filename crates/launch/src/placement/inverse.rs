//! The inverse of a mapping: line i has the rank on processing element i, -1 if there is none.

use super::fault::{Fault, PlacementFault};
use super::kind::{PlacementKind, Task};
use super::lines::{end_of, lines, rank};
use super::seats::{Cores, Seat, complete, give_seat};

pub(super) const KIND: PlacementKind = PlacementKind {
    name: "inverse",
    about: "the rank on each processing element",
    // Without -1 it looks like a mapping.
    resembles: |start| {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let mut has_none = false;
        let are_all = lines(start).all(|line| {
            let is_none = line.text == "-1";
            has_none |= is_none;
            // The last line may be cut.
            is_none || line.text == "-" || is_number(line.text)
        });
        are_all && has_none
    },
    is_doubtful: |_| true,
    read,
};

fn read(text: &str, task: &Task<'_>) -> Result<Vec<Seat>, Fault> {
    let mut seats: Vec<Option<Seat>> = (0..task.num_ranks).map(|_| None).collect();
    let expected = task.nodes.num_pes();
    let mut found = 0;
    for line in lines(text) {
        found += 1;
        let place = line.place(line.text);
        if found > expected {
            let found = lines(text).count();
            return Err((place, PlacementFault::Lines { found, expected }));
        }
        if line.text == "-1" {
            continue;
        }
        let rank = rank(line.text, place, task.num_ranks)?;
        let seat = Seat { node: None, cores: Cores::Pe(found as u32 - 1), text: String::new(), place };
        give_seat(&mut seats, rank, seat, place)?;
    }
    if found < expected {
        return Err((end_of(text), PlacementFault::Lines { found, expected }));
    }
    complete(seats, end_of(text))
}
