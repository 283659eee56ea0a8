//! Mapping groups of processes, each of which stays on one node.
//!
//! Each group is contracted to a vertex and the quotient graph mapped to the nodes, each of which has room for as many
//! groups as fit. Then the processes of each node are mapped to its PEs, as a problem of their own. At last, exchanges inside
//! nodes and of groups take into account where the neighbours on other nodes are. Where a mapping that was given keeps the
//! groups, the result is not worse than it.
//!
//! Takes a mapping of the groups, one of the processes of each node, and O(s² m / n) distances for each node of s places.

use std::time::Instant;

use super::{Given, MapConfig, MapReport, MapSeconds, Solution, SolveError, check_size, solve_watched};
use crate::graph::{CsrGraph, quotient, subgraph};
use crate::ground::error::{ErrorKind, HasKind};
use crate::ground::observer::{Limited, Observer, Watch};
use crate::ground::threads;
use crate::ground::types::{Cost, NodeId, PeId};
use crate::machine::{
    Capacities, DistanceOracle as _, Distances, Listed, Machine, Metric as _, Nodes, distances_of,
};
use crate::mapping::Mapping;
use crate::mapping::objective::evaluate;
use crate::mapping::problem;
use crate::partition::FixedVertices;

/// One part in this many of a time limit is reserved for what comes after the mapping of the groups.
const LAST_PART: u32 = 4;

/// Arcs that exchanges of groups look at, at most: a second.
const MOST_ARCS: usize = 1 << 26;

/// Why groups cannot be kept. Processes and groups are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum GroupError {
    #[error("a group has at least one process")]
    NoSize,
    #[error(
        "group {group} has {size} processes, but {largest} has {most}; groups that must share a node have one size, but for one that may be \
         smaller"
    )]
    OtherSize { group: NodeId, size: usize, largest: NodeId, most: usize },
    #[error("there are groups of {found} processes, but the graph has {expected}")]
    OtherCount { found: usize, expected: usize },
    #[error(
        "groups of {size} processes must share a node, but the nodes have room for {room} of {groups} groups; the largest has room for \
         {largest} processes"
    )]
    NoRoom { size: usize, groups: usize, room: u64, largest: u64 },
    #[error(
        "processes {first} and {second} are of one group of {size}, which must share a node, but they are fixed on {host} and {other}"
    )]
    FixedApart { size: usize, first: NodeId, second: NodeId, host: String, other: String },
    #[error("processes of {groups} groups of {size} are fixed on {host}, which has room for {room}")]
    FixedTogether { size: usize, groups: usize, room: u32, host: String },
    #[error(
        "the start mapping has the processes {first} and {second} on {host} and {other}, but they are of one group of {size}, which must share a node"
    )]
    StartApart { size: usize, first: NodeId, second: NodeId, host: String, other: String },
    #[error("groups of processes are mapped without a first mapping")]
    FirstMapping,
}

impl HasKind for GroupError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoSize | Self::FirstMapping | Self::OtherCount { .. } => ErrorKind::Usage,
            Self::OtherSize { .. }
            | Self::NoRoom { .. }
            | Self::FixedApart { .. }
            | Self::FixedTogether { .. }
            | Self::StartApart { .. } => ErrorKind::BadData,
        }
    }
}

/// Groups of processes of one size; one of them may be smaller.
///
/// ```
/// use viem::mapping::solve::ProcessGroups;
///
/// let groups = ProcessGroups::of_list(&[7, 2, 7, 2, 5])?;
/// assert_eq!(groups.members(0), [1, 3]);
/// assert_eq!(groups.members(2), [4]);
/// assert_eq!(ProcessGroups::of_size(5, 2)?.members(2), [4]);
/// # Ok::<(), viem::mapping::solve::GroupError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessGroups {
    size: usize,
    /// The group of each process, counted from 0.
    group_of: Vec<NodeId>,
    /// The processes, group by group; the last group has what remains.
    members: Vec<NodeId>,
}

impl ProcessGroups {
    /// Groups of so many consecutive processes; the last group has what remains. O(n).
    pub fn of_size(num_processes: usize, size: usize) -> Result<Self, GroupError> {
        if size == 0 {
            return Err(GroupError::NoSize);
        }
        let group_of = (0..num_processes).map(|process| (process / size) as NodeId).collect();
        Ok(Self { size, group_of, members: (0..num_processes as NodeId).collect() })
    }

    /// The processes with the same number are a group; any numbers will do. Groups are counted in the order of their numbers, but
    /// for the smaller one, which is the last. O(n log n).
    pub fn of_list(numbers: &[NodeId]) -> Result<Self, GroupError> {
        let mut members: Vec<NodeId> = (0..numbers.len() as NodeId).collect();
        let number = |process: &NodeId| numbers[*process as usize];
        members.sort_by_key(number);
        let mut groups: Vec<&[NodeId]> = members.chunk_by(|a, b| number(a) == number(b)).collect();
        let size = groups.iter().map(|group| group.len()).max().unwrap_or(1);
        groups.sort_by_key(|group| group.len() < size);
        // Of two smaller ones, the last but one is not whole.
        let others = &groups[..groups.len().saturating_sub(1)];
        if let Some(other) = others.iter().find(|group| group.len() < size) {
            let (group, largest) = (number(&other[0]), number(&groups[0][0]));
            return Err(GroupError::OtherSize { group, size: other.len(), largest, most: size });
        }
        let members: Vec<NodeId> = groups.concat();
        let mut group_of = vec![0; members.len()];
        for (place, &process) in members.iter().enumerate() {
            group_of[process as usize] = (place / size) as NodeId;
        }
        Ok(Self { size, group_of, members })
    }

    /// The number of groups.
    pub fn count(&self) -> usize {
        self.members.len().div_ceil(self.size)
    }

    /// The number of processes of a group; one may have fewer.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The group of a process.
    pub fn group_of(&self, process: NodeId) -> NodeId {
        self.group_of[process as usize]
    }

    /// The processes of a group, in ascending order.
    pub fn members(&self, group: usize) -> &[NodeId] {
        let begin = group * self.size;
        &self.members[begin..(begin + self.size).min(self.members.len())]
    }
}

/// As [`solve_watched`], but each group stays on one node of the machine.
///
/// The result is never worse than the start, which must keep the groups, nor than the identity around the fixed processes if that
/// keeps them. A first mapping is refused if groups have more than one process.
///
/// ```
/// use viem::graph::generate;
/// use viem::machine::{self, Nodes};
/// use viem::mapping::solve::{Given, MapConfig, ProcessGroups, solve_keeping_groups};
///
/// let (graph, machine) = (generate::grid(8, 4), machine::build("8:4", Some("1:10"), None)?);
/// let groups = ProcessGroups::of_size(32, 4)?;
/// let solution = solve_keeping_groups(&graph, &machine, &MapConfig::default(), &groups, Given::default(), &())?;
/// let nodes = Nodes::of(&machine);
/// let node = |process| nodes.node(solution.mapping.pe_of(process));
/// assert!((0..32).all(|process| node(process) == node(process / 4 * 4)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn solve_keeping_groups<'a>(
    graph: &CsrGraph,
    machine: &dyn Machine,
    config: &MapConfig,
    groups: &ProcessGroups,
    given: impl Into<Given<'a>>,
    observer: &dyn Observer,
) -> Result<Solution, SolveError> {
    config.validate()?;
    let (given, begin) = (given.into(), Instant::now());
    let (found, expected) = (groups.members.len(), graph.num_nodes());
    if found != expected {
        return Err(GroupError::OtherCount { found, expected }.into());
    }
    if groups.size == 1 || graph.num_nodes() == 0 {
        return solve_watched(graph, machine, config, given, observer);
    }
    problem::check_room(graph.num_nodes(), machine)?;
    given.check_fixed(graph.num_nodes(), machine)?;
    let distances = distances_of(machine)?;
    problem::check_cost(graph, distances.max_distance())?;
    let nodes = Nodes::of(machine);
    let groups = Groups::new(groups, given.fixed, &nodes)?;
    if given.first.is_some() {
        return Err(GroupError::FirstMapping.into());
    }
    if let Some(start) = given.start {
        check_size(start, graph.num_nodes())?;
        Mapping::on(machine, start.pes().to_vec())?;
        groups.check_kept(start)?;
    }
    let rooms = Rooms::of(machine, &groups)?;
    let run =
        Run { graph, machine, config, groups: &groups, fixed: given.fixed, distances: &distances, begin };
    threads::run(config.threads, || run.with(&rooms, given.start, observer))?
}

/// Groups of processes, and what decides on which node each may be.
struct Groups<'a> {
    groups: &'a ProcessGroups,
    nodes: &'a Nodes,
    /// The node that fixed processes tie each group to.
    tied: Vec<Option<usize>>,
}

impl<'a> Groups<'a> {
    fn new(
        groups: &'a ProcessGroups,
        fixed: Option<&FixedVertices>,
        nodes: &'a Nodes,
    ) -> Result<Self, GroupError> {
        let size = groups.size;
        let mut tied_by: Vec<Option<(usize, NodeId)>> = vec![None; groups.count()];
        for (second, pe) in fixed.into_iter().flat_map(FixedVertices::iter) {
            let node = nodes.node(pe);
            let (earlier, first) = *tied_by[groups.group_of(second) as usize].get_or_insert((node, second));
            if earlier != node {
                let host = |node: usize| nodes.hosts()[node].clone();
                return Err(GroupError::FixedApart {
                    size,
                    first,
                    second,
                    host: host(earlier),
                    other: host(node),
                });
            }
        }
        let tied = tied_by.into_iter().map(|tied| tied.map(|(node, _)| node)).collect();
        Ok(Self { groups, nodes, tied })
    }

    fn count(&self) -> usize {
        self.tied.len()
    }

    fn group_of(&self, process: NodeId) -> NodeId {
        self.groups.group_of(process)
    }

    fn members(&self, group: usize) -> &[NodeId] {
        self.groups.members(group)
    }

    /// The number of processes of the last group if that is smaller than the others, else 0.
    fn rest(&self) -> usize {
        self.groups.members.len() % self.groups.size
    }

    /// Two processes of a group that a mapping has on different nodes.
    fn torn_by(&self, mapping: &Mapping) -> Option<(NodeId, NodeId)> {
        let node = |process: NodeId| self.nodes.node(mapping.pe_of(process));
        let members = (0..self.count()).map(|group| self.members(group));
        let mut pairs = members.flat_map(|members| members.iter().map(|&second| (members[0], second)));
        pairs.find(|&(first, second)| node(first) != node(second))
    }

    fn check_kept(&self, start: &Mapping) -> Result<(), GroupError> {
        let Some((first, second)) = self.torn_by(start) else { return Ok(()) };
        let host = |process| self.nodes.site(start.pe_of(process)).host.to_owned();
        Err(GroupError::StartApart {
            size: self.groups.size,
            first,
            second,
            host: host(first),
            other: host(second),
        })
    }
}

/// The nodes with room for groups.
struct Rooms {
    /// The PEs of each node.
    pes: Vec<Vec<PeId>>,
    /// The groups that each node has room for.
    groups: Vec<u32>,
    /// The node that the last group is tied to if it is in what others leave free.
    last: Option<usize>,
}

impl Rooms {
    fn of(machine: &dyn Machine, groups: &Groups<'_>) -> Result<Self, GroupError> {
        let mut pes = vec![Vec::new(); groups.nodes.hosts().len()];
        (0..machine.num_pes() as PeId).for_each(|pe| pes[groups.nodes.node(pe)].push(pe));
        let places = |pes: &Vec<PeId>| pes.iter().map(|&pe| u64::from(machine.capacity(pe))).sum::<u64>();
        let places: Vec<u64> = pes.iter().map(places).collect();
        let (size, rest, count) = (groups.groups.size as u64, groups.rest() as u64, groups.count());
        let mut rooms: Vec<u64> = places.iter().map(|places| places / size).collect();
        let mut last = None;
        if rest > 0 {
            let is_tied = |node: &usize| groups.tied[count - 1] == Some(*node);
            let is_short = rooms.iter().sum::<u64>() < count as u64;
            let has_left = |node: &usize| places[*node] % size >= rest;
            let all = 0..places.len();
            last = all.clone().find(is_tied).or_else(|| all.rev().filter(|_| is_short).find(has_left));
            if let Some(node) = last {
                rooms[node] = places[node].checked_sub(rest).map_or(0, |left| left / size + 1);
            }
        }
        let room = rooms.iter().sum::<u64>();
        if room < count as u64 {
            let largest = places.iter().copied().max().unwrap_or(0);
            return Err(GroupError::NoRoom { size: groups.groups.size, groups: count, room, largest });
        }
        let mut tied = vec![0; rooms.len()];
        groups.tied.iter().flatten().for_each(|&node| tied[node] += 1);
        let rooms: Vec<u32> = rooms.into_iter().map(|room| room.min(count as u64) as u32).collect();
        match (0..rooms.len()).find(|&node| tied[node] > rooms[node] as usize) {
            Some(node) => Err(GroupError::FixedTogether {
                size: groups.groups.size,
                groups: tied[node],
                room: rooms[node],
                host: groups.nodes.hosts()[node].clone(),
            }),
            None => Ok(Self { pes, groups: rooms, last }),
        }
    }
}

/// The input of a run.
struct Run<'a> {
    graph: &'a CsrGraph,
    machine: &'a dyn Machine,
    config: &'a MapConfig,
    groups: &'a Groups<'a>,
    fixed: Option<&'a FixedVertices>,
    distances: &'a Distances,
    begin: Instant,
}

impl Run<'_> {
    fn with(
        &self,
        rooms: &Rooms,
        start: Option<&Mapping>,
        observer: &dyn Observer,
    ) -> Result<Solution, SolveError> {
        let Self { graph, distances, begin, .. } = *self;
        let limit = self.config.time_limit;
        let of_groups =
            MapConfig { time_limit: limit.map(|limit| limit - limit / LAST_PART), ..*self.config };
        let (node_of_group, mut report) = self.map_groups(rooms, &of_groups, observer)?;
        let limited = Limited::silent(observer, begin, limit);
        let node_of = |process| node_of_group[self.groups.group_of(process) as usize];
        let node_of: Vec<PeId> = graph.nodes().map(node_of).collect();
        let constructed = self.map_inside(rooms, &node_of, &limited)?;
        let cost_of = |mapping: &Mapping| evaluate(graph, distances, mapping);
        let identity = self.identity();
        report.num_processes = graph.num_nodes();
        report.num_edges = graph.num_edges();
        report.cost_of_identity = cost_of(&identity)?;
        report.cost_of_start = start.map(cost_of).transpose()?;
        report.cost_of_construction = cost_of(&constructed)?;
        let construction_done = Instant::now();

        let identity =
            self.groups.torn_by(&identity).is_none().then_some((report.cost_of_identity, &identity));
        let given: Vec<(Cost, &Mapping)> =
            report.cost_of_start.zip(start).into_iter().chain(identity).collect();
        let all = [(report.cost_of_construction, &constructed)].into_iter().chain(given.iter().copied());
        let (_, best) = all.min_by_key(|&(cost, _)| cost).expect("there is a construction");
        let mut exchanges = Exchanges::new(self, rooms, best, &limited);
        exchanges.search();
        let mapping = Mapping::from_places(exchanges.pe_of);
        report.cost = cost_of(&mapping)?;
        // Nobody moves for nothing.
        let kept = given.iter().find(|&&(cost, _)| cost == report.cost).map(|&(_, mapping)| mapping.clone());
        report.swaps_tried += exchanges.tried;
        report.swaps_made += exchanges.made;
        report.stopped |= observer.should_stop();
        let seconds = |from: Instant, to: Instant| (to - from).as_secs_f64();
        let end = Instant::now();
        report.seconds = MapSeconds {
            construction: seconds(begin, construction_done) - report.seconds.distances,
            search: seconds(construction_done, end),
            total: seconds(begin, end),
            ..report.seconds
        };
        observer.reached(report.cost);
        Ok(Solution { mapping: kept.unwrap_or(mapping), report })
    }

    /// The node of each group, and the report of the mapping of the quotient graph.
    fn map_groups(
        &self,
        rooms: &Rooms,
        config: &MapConfig,
        observer: &dyn Observer,
    ) -> Result<(Vec<PeId>, MapReport), SolveError> {
        let Groups { ref tied, .. } = *self.groups;
        let used: Vec<usize> = (0..rooms.pes.len()).filter(|&node| rooms.groups[node] > 0).collect();
        let nodes = Listed::new(self.machine, used.iter().map(|&node| rooms.pes[node][0]).collect())?;
        let nodes = Capacities::new(nodes, used.iter().map(|&node| rooms.groups[node]).collect())?;
        let mut fixed = FixedVertices::none(tied.len(), used.len());
        let last = rooms.last.map(|node| (tied.len() - 1, node));
        let all = (0..).zip(tied).filter_map(|(group, &node)| Some((group, node?))).chain(last);
        for (group, node) in all {
            fixed.fix(group as NodeId, used.partition_point(|&used| used < node) as PeId)?;
        }
        let group_of: Vec<PeId> = self.graph.nodes().map(|process| self.groups.group_of(process)).collect();
        let quotient = quotient::contract(self.graph, &group_of, tied.len());
        let given = Given::default().with_fixed(Some(&fixed).filter(|fixed| !fixed.is_empty()));
        let silent = Limited::silent(observer, self.begin, None);
        let Solution { mapping, report } = solve_watched(&quotient, &nodes, config, given, &silent)?;
        Ok((mapping.pes().iter().map(|&node| used[node as usize] as PeId).collect(), report))
    }

    /// The PE of each process, whose node is known.
    fn map_inside(
        &self,
        rooms: &Rooms,
        node_of: &[PeId],
        observer: &dyn Observer,
    ) -> Result<Mapping, SolveError> {
        let inside = subgraph::split(self.graph, node_of, rooms.pes.len()).into_iter().zip(&rooms.pes);
        let filled = inside.filter(|((_, processes), _)| !processes.is_empty()).collect();
        let map = |((graph, processes), pes): ((CsrGraph, Vec<NodeId>), &Vec<PeId>)| {
            let own = self.map_node(&graph, &processes, pes, observer)?;
            Ok::<_, SolveError>((processes, own))
        };
        let mut pe_of = vec![0; self.graph.num_nodes()];
        for node in threads::map_each(filled, &map) {
            let (processes, own) = node?;
            processes.into_iter().zip(own).for_each(|(process, pe)| pe_of[process as usize] = pe);
        }
        Ok(Mapping::from_places(pe_of))
    }

    /// The PE of each process of a node, which has these PEs.
    fn map_node(
        &self,
        graph: &CsrGraph,
        processes: &[NodeId],
        pes: &[PeId],
        observer: &dyn Observer,
    ) -> Result<Vec<PeId>, SolveError> {
        let config = MapConfig { time_limit: None, distances: None, ..*self.config };
        let pes: Vec<PeId> = pes.iter().copied().filter(|&pe| self.machine.capacity(pe) > 0).collect();
        let node = Listed::new(self.machine, pes.clone())?;
        let mut fixed = FixedVertices::none(processes.len(), pes.len());
        for (index, &process) in (0..).zip(processes) {
            let pe = self.fixed.and_then(|fixed| fixed.of(process));
            if let Some(place) = pes.iter().position(|&own| Some(own) == pe) {
                fixed.fix(index, place as PeId)?;
            }
        }
        let given = Given::default().with_fixed(Some(&fixed).filter(|fixed| !fixed.is_empty()));
        let mapping = solve_watched(graph, &node, &config, given, observer)?.mapping;
        Ok(mapping.pes().iter().map(|&place| pes[place as usize]).collect())
    }

    /// The processes in order, but for the fixed ones, on the places that those leave free.
    fn identity(&self) -> Mapping {
        let is_free = |process: NodeId| self.fixed.is_none_or(|fixed| fixed.of(process).is_none());
        let mut left: Vec<u32> =
            (0..self.machine.num_pes() as PeId).map(|pe| self.machine.capacity(pe)).collect();
        self.fixed.into_iter().flat_map(FixedVertices::iter).for_each(|(_, pe)| left[pe as usize] -= 1);
        let mut places =
            (0..).zip(left).flat_map(|(pe, left): (PeId, u32)| std::iter::repeat_n(pe, left as usize));
        let place = |process| match is_free(process) {
            true => places.next().expect("there is room for all"),
            false => self.fixed.and_then(|fixed| fixed.of(process)).expect("it is fixed"),
        };
        Mapping::from_places(self.graph.nodes().map(place).collect())
    }
}

/// A place of a node, and what is on it.
type Place = (PeId, Option<NodeId>);

/// A process, and the PE that it moves to.
type Move = (NodeId, PeId);

/// Exchanges that keep the groups.
struct Exchanges<'a> {
    run: &'a Run<'a>,
    pe_of: Vec<PeId>,
    /// The same with the exchange that is looked at.
    after: Vec<PeId>,
    /// The places of each node.
    nodes: Vec<Vec<Place>>,
    watch: Watch<'a>,
    tried: u64,
    made: u64,
}

impl<'a> Exchanges<'a> {
    fn new(run: &'a Run<'a>, rooms: &Rooms, start: &Mapping, observer: &'a dyn Observer) -> Self {
        let mut on_pe: Vec<Vec<NodeId>> = vec![Vec::new(); run.machine.num_pes()];
        (0..).zip(start.pes()).for_each(|(process, &pe)| on_pe[pe as usize].push(process));
        let places = |pes: &Vec<PeId>| -> Vec<Place> {
            // More places than processes are never needed.
            let capacity = |pe| (run.machine.capacity(pe) as usize).min(run.graph.num_nodes());
            let on = |pe: PeId| on_pe[pe as usize].iter().copied().map(Some).chain(std::iter::repeat(None));
            pes.iter().flat_map(|&pe| on(pe).take(capacity(pe)).map(move |process| (pe, process))).collect()
        };
        let nodes = rooms.pes.iter().map(places).collect();
        let pe_of = start.pes().to_vec();
        Self { run, after: pe_of.clone(), pe_of, nodes, watch: Watch::new(observer), tried: 0, made: 0 }
    }

    /// Exchanges what is on two places of a node, and then groups, until no exchange lowers J.
    fn search(&mut self) {
        let mut before = u64::MAX;
        while before != self.made {
            before = self.made;
            if self.search_nodes() || self.made == before && self.search_groups() {
                return;
            }
        }
    }

    /// Makes the exchanges inside nodes that lower J. Returns whether the search should end.
    fn search_nodes(&mut self) -> bool {
        for node in 0..self.nodes.len() {
            let count = self.nodes[node].len();
            for (first, second) in
                (0..count).flat_map(|first| (first + 1..count).map(move |second| (first, second)))
            {
                let (a, b) = (self.nodes[node][first], self.nodes[node][second]);
                if a.0 == b.0 || !self.may_move(a.1) || !self.may_move(b.1) {
                    continue;
                }
                let moves: Vec<Move> =
                    a.1.map(|process| (process, b.0))
                        .into_iter()
                        .chain(b.1.map(|process| (process, a.0)))
                        .collect();
                if self.makes(&moves) {
                    (self.nodes[node][first].1, self.nodes[node][second].1) = (b.1, a.1);
                }
                if self.watch.stops_after(1) {
                    return true;
                }
            }
        }
        false
    }

    /// Makes the exchanges of a group with another of its size, or with free places of a node, that lower J. Returns whether the search
    /// should end.
    fn search_groups(&mut self) -> bool {
        let count = self.run.groups.count();
        for group in 0..count {
            for other in group + 1..count {
                let moves = self.exchange(group, other);
                if self.tries(&moves) {
                    return true;
                }
            }
            for node in 0..self.nodes.len() {
                let moves = self.move_to(group, node);
                if self.tries(&moves) {
                    return true;
                }
            }
        }
        false
    }

    /// Moves groups if that lowers J. Returns whether the search should end.
    fn tries(&mut self, moves: &[Move]) -> bool {
        if self.makes(moves) {
            self.settle(moves);
        }
        self.watch.stops_after(1) || self.watch.work() > MOST_ARCS
    }

    fn node_of_group(&self, group: usize) -> usize {
        self.run.groups.nodes.node(self.pe_of[self.run.groups.members(group)[0] as usize])
    }

    /// The exchange of two groups of one size on different nodes; nothing if there is none.
    fn exchange(&self, group: usize, other: usize) -> Vec<Move> {
        let (a, b) = (self.run.groups.members(group), self.run.groups.members(other));
        let is_one = a.len() == b.len() && self.node_of_group(group) != self.node_of_group(other);
        if !is_one || !self.may_all_move(a) || !self.may_all_move(b) {
            return Vec::new();
        }
        let pe = |process: NodeId| self.pe_of[process as usize];
        a.iter().zip(b).flat_map(|(&a, &b)| [(a, pe(b)), (b, pe(a))]).collect()
    }

    /// The move of a group to free places of another node; nothing if there is none.
    fn move_to(&self, group: usize, node: usize) -> Vec<Move> {
        let members = self.run.groups.members(group);
        let free = self.nodes[node].iter().filter(|place| place.1.is_none()).map(|place| place.0);
        let moves: Vec<Move> = members.iter().copied().zip(free).collect();
        let is_one = moves.len() == members.len() && self.node_of_group(group) != node;
        if is_one && self.may_all_move(members) { moves } else { Vec::new() }
    }

    fn may_move(&self, process: Option<NodeId>) -> bool {
        let is_fixed = |process| self.run.fixed.is_some_and(|fixed| fixed.of(process).is_some());
        !process.is_some_and(is_fixed)
    }

    fn may_all_move(&self, processes: &[NodeId]) -> bool {
        processes.iter().all(|&process| self.may_move(Some(process)))
    }

    /// Moves processes to other PEs if that lowers J.
    fn makes(&mut self, moves: &[Move]) -> bool {
        if moves.is_empty() {
            return false;
        }
        self.tried += 1;
        moves.iter().for_each(|&(process, pe)| self.after[process as usize] = pe);
        let (graph, distances) = (self.run.graph, self.run.distances);
        let mut change: Cost = 0;
        for &(process, _) in moves {
            for (other, weight) in graph.arcs(process) {
                let distance =
                    |pe_of: &[PeId]| distances.distance(pe_of[process as usize], pe_of[other as usize]);
                // The arc back counts by itself if the other end moves, too.
                let times = if self.after[other as usize] == self.pe_of[other as usize] { 2 } else { 1 };
                change += times * weight * (distance(&self.after) - distance(&self.pe_of));
            }
        }
        let _ = self.watch.stops_after(moves.iter().map(|&(process, _)| graph.degree(process)).sum());
        let (from, to) =
            if change < 0 { (&self.after, &mut self.pe_of) } else { (&self.pe_of, &mut self.after) };
        moves.iter().for_each(|&(process, _)| to[process as usize] = from[process as usize]);
        self.made += u64::from(change < 0);
        change < 0
    }

    /// Puts processes that have moved on the places of their PEs.
    fn settle(&mut self, moves: &[Move]) {
        let has_moved = |process: NodeId| moves.iter().any(|&(moved, _)| moved == process);
        for place in self.nodes.iter_mut().flatten() {
            place.1 = place.1.filter(|&process| !has_moved(process));
        }
        for &(process, pe) in moves {
            let places = &mut self.nodes[self.run.groups.nodes.node(pe)];
            let free = places.iter_mut().find(|place| place.0 == pe && place.1.is_none());
            free.into_iter().for_each(|place| place.1 = Some(process));
        }
    }
}
