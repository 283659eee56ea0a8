//! Reads back where a job's ranks are: the files that launchers take, as mappings.
//!
//! The kind of a file shows in its content; any other file of numbers is a [mapping](viem_io::mapping). Only a list without -1 looks
//! the same in both directions: it is a mapping unless the caller says otherwise.
//!
//! A list of hosts may come with the script that binds its ranks, which has their CPUs ([`read_bound`]).
//!
//! Each member returns the place of every rank in its file: a node, and cores or CPUs of it if there are some. A rank gets a processing element
//! that has one of them, those with the fewest to choose from first. O(n log n + PEs) for n ranks.

mod bind_script;
mod fault;
mod kind;
mod lines;
mod seats;

pub use fault::PlacementFault;
pub use kind::PlacementKind;

use std::cell::RefCell;
use std::collections::HashMap;

use crate::srun;
use viem::base::settings::listed;
use viem::base::text::Place;
use viem::base::types::PeId;
use viem::machine::{Located, Machine, Nodes};
use viem_io as io;
use viem_io::mapping::Room;
use viem_io::{ContentError, ReadError, Source, Text};

use fault::Fault;
use kind::{Binding, Task};
use seats::Assigned;

listed! {
    /// All kinds, in the order in which they are tried.
    pub const KINDS: [PlacementKind] = KIND in {
        mod rankfile;
        mod rank_script;
        mod pods;
        mod inverse;
        mod rank_order;
        mod hosts;
    }
}

/// A mapping that was read, with notes about it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Placement {
    /// The PE of each rank.
    pub pes: Vec<PeId>,
    /// The kind of the file, unless it is a plain mapping.
    pub kind: Option<&'static str>,
    /// The assumptions.
    pub notes: Vec<String>,
}

/// The kind with this name.
pub fn kind(name: &str) -> Option<&'static PlacementKind> {
    const ALL: &[PlacementKind] = &KINDS;
    ALL.iter().find(|kind| kind.name == name)
}

/// The kind of a file that begins so, if it is none that only has the number of a PE in each line.
pub fn recognise(start: &[u8]) -> Option<&'static PlacementKind> {
    const ALL: &[PlacementKind] = &KINDS;
    let text = String::from_utf8_lossy(start);
    ALL.iter().find(|kind| (kind.resembles)(&text))
}

/// Reads where `num_ranks` ranks are, in a file of a kind, or of the kind that its content shows. `room` has the PEs of the machine.
///
/// ```
/// use viem_io::Source;
/// use viem_io::mapping::Room;
/// use viem_launch::placement;
///
/// let machine = viem::machine::build("2:2", "1:10")?;
/// let source = Source::new("order", "3,1,0,2\n".as_bytes())?;
/// let placement = placement::read(source, 4, &machine, Room::plain(4), None)?;
/// assert_eq!(placement.pes, [2, 1, 3, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(
    mut source: Source<'_>,
    num_ranks: usize,
    machine: &dyn Machine,
    room: Room<'_>,
    kind: Option<&'static PlacementKind>,
) -> Result<Placement, ReadError> {
    let start = source.start();
    let is_given = kind.is_some();
    let Some(kind) = kind.or_else(|| recognise(&start)) else {
        return numbers(source, num_ranks, machine, room);
    };
    let text = Text::read(source)?;
    let assigned = assign(&text, kind, num_ranks, machine, room, None);
    if assigned.is_err() && !is_given && (kind.is_doubtful)(text.as_str()) {
        let source = Source::new(text.name(), text.as_str().as_bytes())?;
        return Ok(Placement {
            pes: io::mapping::read(source, num_ranks, room)?,
            kind: None,
            notes: Vec::new(),
        });
    }
    assigned
}

/// Reads where `num_ranks` ranks are in a list of hosts and the script that binds the ranks, as Slurm, Intel MPI and Flux take them.
pub fn read_bound(
    hosts: Source<'_>,
    script: Source<'_>,
    num_ranks: usize,
    machine: &dyn Machine,
    room: Room<'_>,
) -> Result<Placement, ReadError> {
    let (hosts, script) = (Text::read(hosts)?, Text::read(script)?);
    match recognise(hosts.as_str().as_bytes()) {
        Some(kind) if kind.name != hosts::KIND.name => {
            let fault = PlacementFault::NotBound { kind: kind.about };
            return Err(invalid(&hosts, (Place { line: 1, column: 1 }, fault)));
        }
        _ => (),
    }
    let bindings = bind_script::read(script.as_str(), num_ranks).map_err(|fault| invalid(&script, fault))?;
    const HOSTS: &PlacementKind = &hosts::KIND;
    assign(&hosts, HOSTS, num_ranks, machine, room, Some(bindings))
}

/// The PEs of the ranks by a file of a kind.
fn assign(
    text: &Text,
    kind: &'static PlacementKind,
    num_ranks: usize,
    machine: &dyn Machine,
    room: Room<'_>,
    bindings: Option<Vec<Binding>>,
) -> Result<Placement, ReadError> {
    let nodes = Nodes::of(machine);
    let task = Task { num_ranks, nodes: &nodes, notes: RefCell::default(), bindings };
    let order = srun::order(machine.located().and_then(Located::slurm_job), &nodes);
    let assigned =
        (kind.read)(text.as_str(), &task).and_then(|seats| seats::assign(seats, &nodes, &order, room));
    let Assigned { pes, mut notes } = assigned.map_err(|fault| invalid(text, fault))?;
    notes.extend(task.notes.into_inner());
    Ok(Placement { pes, kind: Some(kind.about), notes })
}

/// A fault of a file.
fn invalid(text: &Text, (Place { line, column }, fault): Fault) -> ReadError {
    let kind = ContentError::new(fault);
    ReadError::Invalid { file: text.name().to_owned(), line, column, kind }
}

/// Reads the PE of each rank. In a part of a machine, PEs may have the numbers that they have in the whole, as `plain` writes them.
fn numbers(
    source: Source<'_>,
    num_ranks: usize,
    machine: &dyn Machine,
    room: Room<'_>,
) -> Result<Placement, ReadError> {
    let placement = |pes, kind| Placement { pes, kind, notes: Vec::new() };
    let pes = 0..machine.num_pes() as PeId;
    if pes.clone().all(|pe| machine.number(pe) == pe) {
        return Ok(placement(io::mapping::read(source, num_ranks, room)?, None));
    }
    let text = Text::read(source)?;
    let read =
        |text: &str, name: &str| io::mapping::read(Source::new(name, text.as_bytes())?, num_ranks, room);
    let error = match read(text.as_str(), text.name()) {
        Ok(pes) => return Ok(placement(pes, None)),
        Err(error) => error,
    };
    let place_of: HashMap<PeId, PeId> = pes.map(|pe| (machine.number(pe), pe)).collect();
    let place = |line: &str| line.trim().parse().ok().and_then(|number| place_of.get(&number));
    let places: Option<String> =
        text.as_str().lines().map(|line| Some(format!("{}\n", place(line)?))).collect();
    match places.map(|places| read(&places, text.name())) {
        Some(Ok(pes)) => {
            Ok(placement(pes, Some("processing elements by their numbers in the whole machine")))
        }
        _ => Err(error),
    }
}
