//! Hosts in the order of the ranks: a line per rank, as Slurm, Flux and Intel MPI take them, or `n1:2` for the next two ranks, with their
//! CPUs behind `binding=user:` for MPICH. Where the ranks are not in the order of the lines, a comment `# rank map:` has the line of each
//! rank, counted from 0.

use super::fault::{Fault, PlacementFault};
use super::kind::{PlacementKind, Task};
use super::lines::{end_of, lines, rank, shown};
use super::seats::{Cores, Seat, Seats};
use crate::mpich::RANK_MAP;
use viem::base::text::{Place, counted};
use viem_cluster::files::hostfile::{self, HostEntry};
use viem_io::Source;

pub(super) const KIND: PlacementKind = PlacementKind {
    name: "hosts",
    about: "a list of hosts in the order of the ranks",
    resembles: |start| {
        let Some(line) = lines(start).next() else { return false };
        let first = line.text.split_whitespace().next().unwrap_or_default();
        let is_host = first.contains(|c: char| c.is_alphabetic()) || first.matches('.').count() == 3;
        // Names with commas between them are more often the heads of a table, and a word in front of a number is a workload.
        let is_other =
            first.contains(',') && !first.contains(['[', ':']) || first.eq_ignore_ascii_case("process");
        let source = Source::new("start", line.text.as_bytes());
        is_host && !is_other && source.is_ok_and(|source| hostfile::read_entries(source).is_ok())
    },
    is_doubtful: |_| false,
    read,
};

fn read(text: &str, task: &Task<'_>) -> Result<Vec<Seat>, Fault> {
    let source = Source::new("hosts", text.as_bytes());
    let entries = source.and_then(hostfile::read_entries);
    let entries = entries.map_err(|error| bad_line(text, &error))?;
    let hosts = Seats::new(task.nodes);
    let mut lists: Vec<std::vec::IntoIter<Seat>> = Vec::new();
    let mut places = 0;
    for (entry, place) in entries {
        places += u64::from(entry.slots.unwrap_or(1));
        lists.push(seats(&entry, hosts.node(&entry.name, place)?, place, task.num_ranks)?.into_iter());
    }
    let expected = task.num_ranks;
    let map = rank_map(text, lists.len())?;
    let mut seats: Vec<Seat> = match map.is_empty() {
        true => lists.into_iter().flatten().collect(),
        false => map.into_iter().map_while(|line| lists[line].next()).collect(),
    };
    if seats.len() < expected {
        return Err((end_of(text), PlacementFault::TooFew { found: seats.len(), expected }));
    }
    if places > expected as u64 {
        let note = format!(
            "the file has places for {ranks}; the first {expected} are taken",
            ranks = counted(places, "rank", "ranks")
        );
        task.notes.borrow_mut().push(note);
        seats.truncate(expected);
    }
    for (seat, binding) in seats.iter_mut().zip(task.bindings.iter().flatten()) {
        (seat.cores, seat.text) = (Cores::Cpus(binding.cpus.clone()), binding.text.clone());
    }
    Ok(seats)
}

/// The places that an entry gives, at most as many as there are ranks.
fn seats(entry: &HostEntry, node: usize, place: Place, most: usize) -> Result<Vec<Seat>, Fault> {
    let count = (entry.slots.unwrap_or(1) as usize).min(most);
    let text = entry.binding.as_deref().and_then(|binding| binding.strip_prefix("user:")).unwrap_or_default();
    let mut bindings = text.split(',');
    let seat = |_| {
        let text = bindings.next().unwrap_or_default();
        let cpus: Result<Vec<u32>, _> = text.split('+').map(str::parse).collect();
        let cores = match cpus {
            Ok(cpus) => Cores::Cpus(cpus),
            Err(_) if text.is_empty() => Cores::Any,
            Err(_) => return Err((place, PlacementFault::Slot { text: shown(text) })),
        };
        Ok(Seat { node: Some(node), cores, text: text.to_owned(), place })
    };
    (0..count).map(seat).collect()
}

/// The lines of the ranks, if a comment has them.
fn rank_map(text: &str, num_lines: usize) -> Result<Vec<usize>, Fault> {
    let mut map = Vec::new();
    for (number, line) in (1..).zip(text.split('\n')) {
        let Some(list) = line.trim_end().strip_prefix(RANK_MAP) else { continue };
        for entry in list.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
            let place =
                Place { line: number, column: (entry.as_ptr() as usize - line.as_ptr() as usize) as u64 + 1 };
            map.push(rank(entry, place, num_lines)? as usize);
        }
    }
    Ok(map)
}

/// The fault of a line that names no host.
fn bad_line(text: &str, error: &viem_io::ReadError) -> Fault {
    match error {
        viem_io::ReadError::Invalid { line, column, kind, .. } => {
            (Place { line: *line, column: *column }, PlacementFault::Hosts { reason: kind.to_string() })
        }
        other => (end_of(text), PlacementFault::Hosts { reason: other.to_string() }),
    }
}
