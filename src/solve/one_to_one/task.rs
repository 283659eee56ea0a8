//! A problem of a one-to-one mapping: the part of the machine that it needs, and the places there.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use super::config::OneToOneConfig;
use super::run::Run;
use super::starts::STARTS;
use crate::base::observer::{Limited, Observer};
use crate::base::types::{NodeId, PeId};
use crate::graph::CsrGraph;
use crate::machine::{
    DistanceKind, Distances, Listed, Machine, MachineError, Places, StoredDistances, divide,
};
use crate::mapping::problem;
use crate::mapping::{Mapping, process_on_each};
use crate::partition::{FixedError, FixedVertices, cut};
use crate::solve::error::SolveError;
use crate::solve::prepared::PreparedMachine;
use crate::solve::report::Solution;

/// Upper limit on the places per process, on machines that offer a compact part of that size: all effort is
/// proportional to the number of places. A lower limit misses good mappings that leave places free. For a
/// mesh of 64 processes, a tree 4:16:m with distances 1:10:100 gives J between 4294 and 4348 for m up to 3,
/// and 4294 for m = 4, 8 and 16, with any seed.
const ENOUGH_PLACES: usize = 8;

/// The mappings given to a run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Given<'a> {
    /// A mapping that the result must not be worse than.
    pub start: Option<&'a Mapping>,
    /// The initial mapping, instead of a construction. If fixed processes are elsewhere, it is repaired.
    pub initial: Option<&'a Mapping>,
    /// Processes that must be on given PEs. The start must respect them. The result does, and is not worse than
    /// the identity around them: the other processes, in order, on the remaining places.
    pub fixed: Option<&'a FixedVertices>,
}

impl Given<'_> {
    /// Fails if fixed processes do not fit the machine, or the start does not respect them.
    pub fn check_fixed(&self, num_processes: usize, machine: &dyn Machine) -> Result<(), FixedError> {
        let Some(fixed) = self.fixed else { return Ok(()) };
        fixed.check(num_processes, machine.num_pes())?;
        fixed.check_room(|pe| machine.capacity(pe))?;
        self.start.map_or(Ok(()), |start| fixed.check_respected(start.pes()))
    }
}

/// A one-to-one mapping to be found, by a request or as a part of another run. It uses the threads of the current pool.
#[derive(Clone, Copy)]
pub(crate) struct Task<'a> {
    pub graph: &'a CsrGraph,
    pub machine: &'a PreparedMachine<'a>,
    pub config: &'a OneToOneConfig,
    pub seed: u64,
    pub given: Given<'a>,
    /// The beginning of the run that this is a part of, and the time that it may take.
    pub begin: Instant,
    pub time_limit: Option<Duration>,
    pub observer: &'a dyn Observer,
}

impl Task<'_> {
    /// The mapping. If the observer asks to stop, it is the best found so far.
    pub fn solve(&self) -> Result<Solution, SolveError> {
        let Self { graph, machine, given: Given { start, initial, fixed }, .. } = *self;
        let (num_processes, whole) = (graph.num_nodes(), machine.machine());
        problem::check_room(num_processes, whole)?;
        self.given.check_fixed(num_processes, whole)?;
        let part = whole.first_pes(num_processes.saturating_mul(ENOUGH_PLACES)).filter(|part| {
            let is_inside = |given: &Mapping| given.pes().iter().all(|&pe| (pe as usize) < part.num_pes());
            let holds_fixed =
                |fixed: &FixedVertices| fixed.iter().all(|(_, pe)| (pe as usize) < part.num_pes());
            start.into_iter().chain(initial).all(is_inside) && fixed.is_none_or(holds_fixed)
        });
        match part {
            Some(part) => Task { machine: &PreparedMachine::new(&*part), ..*self }.solve_on_all(),
            None => match self.few_pes()? {
                Some(list) => self.solve_on(&list),
                None => self.solve_on_all(),
            },
        }
    }

    /// The PEs of a machine that few processes need: a compact part, those of the identity, and those of the given mappings. `None` if all PEs may
    /// be needed.
    fn few_pes(&self) -> Result<Option<Vec<PeId>>, SolveError> {
        let Given { start, initial, fixed } = self.given;
        let (num_processes, machine) = (self.graph.num_nodes(), self.machine.machine());
        let Some(mut list) = machine.compact_pes(num_processes.saturating_mul(ENOUGH_PLACES)) else {
            return Ok(None);
        };
        list.extend(0..num_processes as PeId);
        for given in start.into_iter().chain(initial) {
            check_size(given, num_processes)?;
            list.extend(Mapping::on(machine, given.pes().to_vec())?.pes());
        }
        list.sort_unstable();
        list.dedup();
        let holds = |fixed: &FixedVertices| fixed.iter().all(|(_, pe)| list.binary_search(&pe).is_ok());
        Ok(fixed.is_none_or(holds).then_some(list))
    }

    /// The mapping to listed PEs, which include those of the given mappings.
    fn solve_on(&self, list: &[PeId]) -> Result<Solution, SolveError> {
        let Given { start, initial, fixed } = self.given;
        let position = |pe: PeId| list.partition_point(|&listed| listed < pe) as PeId;
        let among =
            |given: &Mapping| Mapping::from_places(given.pes().iter().map(|&pe| position(pe)).collect());
        let (start, initial) = (start.map(among), initial.map(among));
        let fixed = fixed.map(|fixed| fixed.in_others(list));
        let given = Given { start: start.as_ref(), initial: initial.as_ref(), fixed: fixed.as_ref() };
        let listed = Listed::new(self.machine.machine(), list.to_vec())?;
        let machine = &PreparedMachine::new(&listed);
        let Solution { mapping, report } = Task { machine, given, ..*self }.solve()?;
        let pe_of = mapping.pes().iter().map(|&position| list[position as usize]).collect();
        Ok(Solution { mapping: Mapping::from_places(pe_of), report })
    }

    /// The mapping to all PEs, which may have more places than there are processes.
    fn solve_on_all(&self) -> Result<Solution, SolveError> {
        let Self { graph, machine, config, seed, given, begin, time_limit, observer } = *self;
        let num_processes = graph.num_nodes();
        let silent = Limited::silent(observer, begin, time_limit);
        let places = self.places(&silent)?;
        let padded = (num_processes < places.len()).then(|| graph.with_isolated_nodes(places.len()));
        let graph = padded.as_ref().unwrap_or(graph);
        let fixed = given.fixed.map(|fixed| fixed_places(fixed, &places));
        let fixed = fixed.as_ref().filter(|fixed| !fixed.is_empty());
        let seat = |given: &Mapping| -> Result<Mapping, SolveError> {
            check_size(given, num_processes)?;
            let given = Mapping::on(machine.machine(), given.pes().to_vec())?;
            Ok(seated(&given, fixed, &places))
        };
        let (start, initial) = (given.start.map(seat).transpose()?, given.initial.map(seat).transpose()?);
        let (start, initial) = (start.as_ref(), initial.as_ref());
        let run = Run {
            graph,
            machine: &places,
            config,
            starts: STARTS,
            seed,
            start,
            initial,
            fixed,
            observer,
            begin,
            time_limit,
        };
        let (outcome, mut report) = run.with(places.distances(), num_processes)?;
        let seats = &outcome.pes()[..num_processes];
        let pe_of: Vec<PeId> = seats.iter().map(|&place| places.pe_of()[place as usize]).collect();
        report.cut = cut(self.graph, &pe_of);
        Ok(Solution { mapping: Mapping::from_places(pe_of), report })
    }

    /// The places of the machine, with distances of the kind that the settings select.
    fn places(&self, observer: &dyn Observer) -> Result<Cow<'_, Places>, SolveError> {
        let machine = self.machine.machine();
        let (Some(DistanceKind::Stored), Some(hierarchy)) = (self.config.distances, machine.hierarchy())
        else {
            return Ok(self.machine.places(observer)?);
        };
        // The matrix takes n² bytes, so detect an unsolvable problem first.
        problem::check_cost(self.graph, hierarchy.max_distance())?;
        let stored = StoredDistances::new(hierarchy).map_err(MachineError::from)?;
        let distances = Distances::StoredTree(stored);
        let parts = divide(machine, &distances, observer);
        Ok(Cow::Owned(Places::new(machine, Cow::Owned(distances), parts)?))
    }
}

/// The processes in order, but for the fixed ones, on the places in order that those leave free. There must be room for all.
pub(crate) fn identity(graph: &CsrGraph, machine: &dyn Machine, fixed: Option<&FixedVertices>) -> Mapping {
    let of = |process: NodeId| fixed.and_then(|fixed| fixed.of(process));
    let mut left = machine.capacities();
    fixed.into_iter().flat_map(FixedVertices::iter).for_each(|(_, pe)| left[pe as usize] -= 1);
    let mut places =
        (0..).zip(left).flat_map(|(pe, left): (PeId, u32)| std::iter::repeat_n(pe, left as usize));
    let place = |process| of(process).or_else(|| places.next()).expect("there is room for all");
    Mapping::from_places(graph.nodes().map(place).collect())
}

/// Checks that a given mapping is one of this number of processes.
pub(crate) fn check_size(given: &Mapping, expected: usize) -> Result<(), SolveError> {
    let found = given.num_processes();
    if found == expected { Ok(()) } else { Err(SolveError::StartSize { found, expected }) }
}

/// A place for each process of a mapping. Fixed processes that are on their PEs have the places where they are fixed.
fn seated(mapping: &Mapping, fixed: Option<&FixedVertices>, places: &Places) -> Mapping {
    let mut place_of = places.seats(mapping.pes());
    let Some(fixed) = fixed else { return Mapping::from_permutation(place_of) };
    let mut process_on = process_on_each(&place_of);
    let pe = |place: PeId| places.pe_of()[place as usize];
    for (process, place) in fixed.iter() {
        let (own, other) = (place_of[process as usize], process_on[place as usize]);
        if pe(own) == pe(place) {
            (place_of[process as usize], place_of[other as usize]) = (place, own);
            (process_on[place as usize], process_on[own as usize]) = (process, other);
        }
    }
    Mapping::from_permutation(place_of)
}

/// A place for each fixed process on its PE, which has room for it; processes without edges fill the places.
fn fixed_places(fixed: &FixedVertices, places: &Places) -> FixedVertices {
    let pes: Vec<PeId> = fixed.iter().map(|(_, pe)| pe).collect();
    let mut seats = places.seats(&pes).into_iter();
    let is_fixed = |process: NodeId| (process as usize) < fixed.num_vertices() && fixed.of(process).is_some();
    let seat = |process| is_fixed(process).then(|| seats.next()).flatten();
    FixedVertices::known((0..places.len() as NodeId).map(seat), places.len())
}
