//! Rank orders of Cray MPICH: `0,4,1,5`, or with ranges `0-3,8`: the rank in each slot, node by node.

use super::fault::Fault;
use super::kind::{PlacementKind, Task};
use super::lines::{end_of, lines, rank};
use super::seats::{Cores, Seat, complete, give_seat};

pub(super) const KIND: PlacementKind = PlacementKind {
    name: "rank_order",
    about: "a rank order of Cray MPICH: the rank in each slot",
    resembles: |start| {
        let is_part = |c: char| c.is_ascii_digit() || c.is_whitespace() || ",-".contains(c);
        let first = lines(start).next().map_or("", |line| line.text);
        // The last line may be cut.
        let are_all = lines(start).all(|line| line.text.chars().all(is_part));
        let divides = |sign: char| first.trim_start_matches('-').contains(sign);
        are_all && first.starts_with(|c: char| c.is_ascii_digit()) && (divides(',') || divides('-'))
    },
    // A table of two columns.
    is_doubtful: |text| {
        lines(text).nth(1).is_some() && lines(text).all(|line| line.text.matches(',').count() == 1)
    },
    read,
};

fn read(text: &str, task: &Task<'_>) -> Result<Vec<Seat>, Fault> {
    let mut seats: Vec<Option<Seat>> = (0..task.num_ranks).map(|_| None).collect();
    let mut slot = 0;
    for line in lines(text) {
        let entries = line.text.split(|c: char| c == ',' || c.is_whitespace());
        for entry in entries.filter(|entry| !entry.is_empty()) {
            let place = line.place(entry);
            let (first, last) = entry.split_once('-').unwrap_or((entry, entry));
            let (first, last) = (rank(first, place, task.num_ranks)?, rank(last, place, task.num_ranks)?);
            // A range may run backwards.
            for step in 0..=first.abs_diff(last) {
                let rank = if first <= last { first + step } else { first - step };
                let seat = Seat { node: None, cores: Cores::Slot(slot), text: String::new(), place };
                give_seat(&mut seats, rank, seat, place)?;
                slot += 1;
            }
        }
    }
    complete(seats, end_of(text))
}
