//! From the place of each rank in a file to a processing element.

use std::collections::HashMap;

use super::fault::{Fault, PlacementFault};
use super::lines::shown;
use viem::base::text::Place;
use viem::base::types::{NodeId, PeId};
use viem::machine::{Nodes, Site};
use viem_cluster::files::names::Names;
use viem_io::mapping::Room;

/// Hosts that a message lists at most.
const SHOWN: usize = 5;

/// The place of a rank in the file.
#[derive(Clone, Debug)]
pub(super) struct Seat {
    /// Its node, if the file names one.
    pub(super) node: Option<usize>,
    pub(super) cores: Cores,
    /// Its text in the file, for messages.
    pub(super) text: String,
    pub(super) place: Place,
}

/// Cores of a node.
#[derive(Clone, Debug)]
pub(super) enum Cores {
    /// Any that are free.
    Any,
    /// Ranges of cores of a package, or of the node.
    Logical(Vec<(Option<u32>, u32, u32)>),
    /// CPUs by the numbers of the operating system.
    Cpus(Vec<u32>),
    /// The place in the order of all nodes, and of the CPUs of each.
    Slot(usize),
    /// The place in the order of the GPUs of its node, or else of the CPUs.
    Nth(u64),
    /// This processing element.
    Pe(PeId),
}

/// The PEs of all ranks, and the assumptions.
pub(super) struct Assigned {
    pub(super) pes: Vec<PeId>,
    pub(super) notes: Vec<String>,
}

/// The hosts of a machine.
pub(super) struct Seats<'a> {
    nodes: &'a Nodes,
    names: Names<'a>,
}

impl<'a> Seats<'a> {
    pub(super) fn new(nodes: &'a Nodes) -> Self {
        Self { nodes, names: Names::new(nodes.hosts().iter().map(String::as_str)) }
    }

    /// The node of a host.
    pub(super) fn node(&self, host: &str, place: Place) -> Result<usize, Fault> {
        let hosts = self.nodes.hosts();
        // A single node without a name is that where the job runs.
        if !self.nodes.are_named() {
            return if hosts.len() == 1 { Ok(0) } else { Err((place, PlacementFault::NoHosts)) };
        }
        match self.names.find(host) {
            Ok(Some(node)) => Ok(node),
            Ok(None) => {
                let more = if hosts.len() > SHOWN { ", …" } else { "" };
                let known = hosts.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ") + more;
                Err((place, PlacementFault::UnknownHost { host: shown(host), known }))
            }
            Err(unclear) => Err((place, unclear.into())),
        }
    }
}

/// Package and number of each core that a PE has threads of.
fn cores_of<'a>(site: &Site<'a>) -> impl Iterator<Item = (u32, u32)> + use<'a> {
    site.cores.iter().flat_map(|run| (run.first..run.first + run.count).map(|core| (run.package, core)))
}

/// The PEs of each node.
struct Index {
    pes: Vec<Vec<PeId>>,
    /// The cores of each node: package, core, and a PE on it, ascending.
    cores: Vec<Vec<(u32, u32, PeId)>>,
    on_cpu: HashMap<(usize, u32), Vec<PeId>>,
    /// All PEs by node, in the order in which slots are given out, and CPUs.
    slots: Vec<PeId>,
    /// The same by GPUs, or else CPUs.
    by_number: Vec<PeId>,
    /// The first slot of each node, and its place in `by_number`.
    first_slot: Vec<usize>,
}

impl Index {
    /// `order` has the nodes in the order in which slots are given out.
    fn new(nodes: &Nodes, order: &[usize]) -> Self {
        let count = nodes.hosts().len();
        let mut index = Self {
            pes: vec![Vec::new(); count],
            cores: vec![Vec::new(); count],
            on_cpu: HashMap::new(),
            slots: Vec::with_capacity(nodes.num_pes()),
            by_number: Vec::new(),
            first_slot: vec![0; count],
        };
        for pe in 0..nodes.num_pes() as PeId {
            let site = nodes.site(pe);
            index.pes[site.node].push(pe);
            index.cores[site.node].extend(cores_of(&site).map(|(package, core)| (package, core, pe)));
            for &cpu in site.cpus {
                index.on_cpu.entry((site.node, cpu)).or_default().push(pe);
            }
        }
        index.cores.iter_mut().for_each(|cores| cores.sort_unstable());
        let site = |&pe: &PeId| nodes.site(pe);
        for &node in order {
            index.first_slot[node] = index.slots.len();
            let mut pes = index.pes[node].clone();
            pes.sort_by_key(|pe| (site(pe).cpus, site(pe).gpus));
            index.slots.extend(&pes);
            pes.sort_by_key(|pe| (site(pe).gpus, site(pe).cpus));
            index.by_number.extend(&pes);
        }
        index
    }

    /// The PEs on some cores of a node, each once.
    fn on(&self, node: usize, cores: &Cores) -> Vec<PeId> {
        let mut pes: Vec<PeId> = match cores {
            Cores::Any => self.pes[node].clone(),
            Cores::Logical(ranges) => ranges.iter().flat_map(|&range| self.in_range(node, range)).collect(),
            Cores::Cpus(cpus) => {
                cpus.iter().filter_map(|&cpu| self.on_cpu.get(&(node, cpu))).flatten().copied().collect()
            }
            Cores::Slot(slot) => self.slots.get(*slot).copied().into_iter().collect(),
            Cores::Nth(number) => self.nth(node, *number).into_iter().collect(),
            Cores::Pe(pe) => vec![*pe],
        };
        let mut seen = hashbrown::HashSet::new();
        pes.retain(|&pe| seen.insert(pe));
        pes
    }

    /// The PE of a node at a place in the order of its GPUs, or else of its CPUs.
    fn nth(&self, node: usize, number: u64) -> Option<PeId> {
        let of_node = &self.by_number[self.first_slot[node]..][..self.pes[node].len()];
        of_node.get(usize::try_from(number).ok()?).copied()
    }

    /// The PEs on cores from a first to a last one.
    fn in_range(&self, node: usize, (package, first, last): (Option<u32>, u32, u32)) -> Vec<PeId> {
        let cores = &self.cores[node];
        let Some(package) = package else {
            let mut distinct = cores.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
            let count = (last as usize).saturating_add(1).saturating_sub(first as usize);
            let skipped = distinct.by_ref().skip(first as usize).take(count);
            return skipped.flatten().map(|&(_, _, pe)| pe).collect();
        };
        let start = cores.partition_point(|&(own, core, _)| (own, core) < (package, first));
        let end = cores.partition_point(|&(own, core, _)| (own, core) <= (package, last));
        cores[start..end.max(start)].iter().map(|&(_, _, pe)| pe).collect()
    }
}

/// The processes on each PE so far.
struct Taken<'a> {
    room: Room<'a>,
    count: Vec<u32>,
}

impl Taken<'_> {
    fn has_room(&self, pe: PeId) -> bool {
        self.count[pe as usize] < (self.room.capacity)(pe)
    }

    /// The first of some PEs that have room with the fewest processes.
    fn take(&mut self, pes: &[PeId]) -> Option<PeId> {
        let free = pes.iter().copied().filter(|&pe| self.has_room(pe));
        let pe = free.min_by_key(|&pe| self.count[pe as usize])?;
        self.count[pe as usize] += 1;
        Some(pe)
    }
}

/// A PE for each rank. `order` has the nodes in the order in which slots are given out.
pub(super) fn assign(
    seats: Vec<Seat>,
    nodes: &Nodes,
    order: &[usize],
    room: Room<'_>,
) -> Result<Assigned, Fault> {
    let index = Index::new(nodes, order);
    let mut pes: Vec<Option<PeId>> = vec![None; seats.len()];
    let mut taken = Taken { room, count: vec![0; nodes.num_pes()] };
    // Ranks with cores, and from how many PEs each can choose; the others by node.
    let mut bound: Vec<(usize, NodeId)> = Vec::new();
    let mut free: Vec<Vec<NodeId>> = vec![Vec::new(); nodes.hosts().len()];
    let candidates = |seat: &Seat| index.on(seat.node.unwrap_or(0), &seat.cores);
    for (rank, seat) in (0..).zip(&seats) {
        if matches!(seat.cores, Cores::Any) {
            free[seat.node.unwrap_or(0)].push(rank);
            continue;
        }
        match candidates(seat).len() {
            0 => return Err((seat.place, lost(seat, (nodes, &index), seats.len()))),
            count => bound.push((count, rank)),
        }
    }
    bound.sort_unstable();
    for &(_, rank) in &bound {
        let seat = &seats[rank as usize];
        let pe = taken.take(&candidates(seat)).ok_or_else(|| full(seat, nodes, rank))?;
        pes[rank as usize] = Some(pe);
    }
    for (node, ranks) in free.iter().enumerate() {
        place_in_order(ranks, &index.pes[node], &mut taken, &mut pes)
            .map_err(|rank| full(&seats[rank as usize], nodes, rank))?;
    }
    let is_wide = bound.last().is_some_and(|&(count, _)| count > 1);
    let notes = notes(&seats, nodes, is_wide);
    let pes = pes.into_iter().map(|pe| pe.expect("each rank has cores or none")).collect();
    Ok(Assigned { pes, notes })
}

/// Returns the assumptions; `is_wide`: some rank could choose from several PEs.
fn notes(seats: &[Seat], nodes: &Nodes, is_wide: bool) -> Vec<String> {
    let (ranks, pes) = (seats.len(), nodes.num_pes());
    let mut notes = Vec::new();
    if seats.iter().any(|seat| matches!(seat.cores, Cores::Any)) {
        notes.push(
            "where only the host of a rank is given, ranks are on its processing elements in order"
                .to_owned(),
        );
    }
    if is_wide {
        notes.push("ranks that may be on several processing elements are on the first free one".to_owned());
    }
    if ranks < pes && seats.iter().any(|seat| matches!(seat.cores, Cores::Slot(_))) {
        let text = format!(
            "which {ranks} of {pes} processing elements the slots are is not given; the first ones are assumed"
        );
        notes.push(text);
    }
    notes
}

/// Puts ranks on the PEs of a node in order: one on each, or stretches of them where they are more. Fails at a rank without room.
fn place_in_order(
    ranks: &[NodeId],
    on_node: &[PeId],
    taken: &mut Taken<'_>,
    pes: &mut [Option<PeId>],
) -> Result<(), NodeId> {
    let mut next = 0;
    for (index, &rank) in ranks.iter().enumerate() {
        next = next.max(index * on_node.len() / ranks.len().max(on_node.len()));
        while on_node.get(next).is_some_and(|&pe| !taken.has_room(pe)) {
            next += 1;
        }
        // Behind the last one, those before that still have room.
        let pe = taken.take(on_node.get(next..=next).unwrap_or(on_node)).ok_or(rank)?;
        pes[rank as usize] = Some(pe);
    }
    Ok(())
}

/// The reason why no PE has the cores of a rank.
fn lost(seat: &Seat, (nodes, index): (&Nodes, &Index), ranks: usize) -> PlacementFault {
    match seat.cores {
        Cores::Nth(number) => {
            let count = index.pes[seat.node.unwrap_or(0)].len();
            PlacementFault::NoSuchGpu { host: host(seat, nodes), number, count }
        }
        Cores::Slot(_) => PlacementFault::NoRoom { pes: nodes.num_pes(), ranks },
        _ => PlacementFault::NoSuchCores { host: host(seat, nodes), text: shown(&seat.text) },
    }
}

fn full(seat: &Seat, nodes: &Nodes, rank: NodeId) -> Fault {
    (seat.place, PlacementFault::Full { host: host(seat, nodes), rank })
}

fn host(seat: &Seat, nodes: &Nodes) -> String {
    nodes.hosts().get(seat.node.unwrap_or(0)).cloned().unwrap_or_default()
}

/// Gives a rank its seat. `place` is the place of the rank in the file.
pub(super) fn give_seat(
    seats: &mut [Option<Seat>],
    rank: NodeId,
    seat: Seat,
    place: Place,
) -> Result<(), Fault> {
    match seats[rank as usize].replace(seat) {
        Some(_) => Err((place, PlacementFault::RankTwice { rank })),
        None => Ok(()),
    }
}

/// The seats of all ranks, once each has one.
pub(super) fn complete(seats: Vec<Option<Seat>>, end: Place) -> Result<Vec<Seat>, Fault> {
    let expected = seats.len();
    let found = seats.iter().flatten().count();
    let seats: Option<Vec<Seat>> = seats.into_iter().collect();
    seats.ok_or((end, PlacementFault::TooFew { found, expected }))
}
