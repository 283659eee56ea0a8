//! Rankfiles of Open MPI: `rank 3=n1 slot=0:12`, `rank 4=+n0 slot=1:0-3;1:8`.
//!
//! Cores are counted logically: in a package, or in the node where no package is named. `+n0` is the first node.

use super::fault::{Fault, PlacementFault};
use super::kind::{PlacementKind, Task};
use super::lines::{Line, end_of, lines, rank, shown};
use super::seats::{Cores, Seat, Seats, complete, give_seat};

pub(super) const KIND: PlacementKind = PlacementKind {
    name: "rankfile",
    about: "a rankfile of Open MPI: host and cores of each rank",
    resembles: |start| lines(start).next().is_some_and(|line| rank_of(line.text).is_some()),
    is_doubtful: |_| false,
    read,
};

/// The text of the rank and what follows its sign.
fn rank_of(line: &str) -> Option<(&str, &str)> {
    let (rank, rest) = line.strip_prefix("rank")?.split_once('=')?;
    let is_rank =
        rank.starts_with(char::is_whitespace) && rank.trim().bytes().all(|byte| byte.is_ascii_digit());
    (is_rank && !rank.trim().is_empty()).then_some((rank.trim(), rest))
}

fn read(text: &str, task: &Task<'_>) -> Result<Vec<Seat>, Fault> {
    let hosts = Seats::new(task.nodes);
    let mut seats: Vec<Option<Seat>> = (0..task.num_ranks).map(|_| None).collect();
    for line in lines(text) {
        let fault = || (line.place(line.text), PlacementFault::RankLine { text: shown(line.text) });
        let (number, rest) = rank_of(line.text).ok_or_else(fault)?;
        let rank = rank(number, line.place(number), task.num_ranks)?;
        let (host, slot) = match rest.split_once('=') {
            Some((host, slot)) => {
                let (host, key) = host.trim().rsplit_once(char::is_whitespace).ok_or_else(fault)?;
                (
                    host.trim(),
                    Some(slot).filter(|_| matches!(key, "slot" | "slots")).ok_or_else(fault)?.trim(),
                )
            }
            None => (rest.trim(), ""),
        };
        let place = line.place(host);
        let node = match host.strip_prefix("+n").and_then(|number| number.parse::<usize>().ok()) {
            Some(number) if number < task.nodes.hosts().len() => number,
            _ => hosts.node(host, place)?,
        };
        let seat = Seat { node: Some(node), cores: cores(&line, slot)?, text: slot.to_owned(), place };
        give_seat(&mut seats, rank, seat, line.place(number))?;
    }
    complete(seats, end_of(text))
}

/// The cores of a slot list such as `0:4-7;1:0` or `0:0,1`.
fn cores(line: &Line<'_>, slots: &str) -> Result<Cores, Fault> {
    if slots.is_empty() {
        return Ok(Cores::Any);
    }
    let (mut ranges, mut package) = (Vec::new(), None);
    for slot in slots.split([',', ';']) {
        let slot = slot.trim();
        let fault = || (line.place(slot), PlacementFault::Slot { text: shown(slot) });
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| fault());
        let range = match slot.split_once(':') {
            Some((own, range)) => {
                package = Some(number(own)?);
                range
            }
            None => slot,
        };
        let (first, last) = match range.split_once('-') {
            Some((first, last)) => (number(first)?, number(last)?),
            None if range.trim() == "*" => (0, u32::MAX),
            None => (number(range)?, number(range)?),
        };
        if first > last {
            return Err(fault());
        }
        ranges.push((package, first, last));
    }
    Ok(Cores::Logical(ranges))
}
