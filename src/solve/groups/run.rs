//! The run: groups to nodes, processes to the PEs of each node, exchanges.

use std::time::Instant;

use super::exchanges::{Exchanges, Setting};
use super::process_groups::{GroupError, ProcessGroups};
use super::rooms::{Groups, Rooms};
use crate::base::exchange::Counts;
use crate::base::observer::{Limited, Observer};
use crate::base::threads;
use crate::base::types::{Cost, NodeId, PeId};
use crate::graph::{CsrGraph, quotient, subgraph};
use crate::machine::{Capacities, Listed, Metric as _};
use crate::mapping::Mapping;
use crate::mapping::objective::evaluate;
use crate::mapping::problem;
use crate::partition::{FixedVertices, cut};
use crate::solve::error::SolveError;
use crate::solve::one_to_one::{Given, OneToOneConfig, Task, check_size, identity, prefer_given};
use crate::solve::prepared::PreparedMachine;
use crate::solve::report::{Report, Seconds, Solution};

/// One part in this many of a time limit is reserved for what comes after the mapping of the groups.
const LAST_PART: u32 = 4;

/// The mapping of a task that keeps these groups. The start must keep them.
pub(in crate::solve) fn solve(task: Task<'_>, groups: &ProcessGroups) -> Result<Solution, SolveError> {
    let Task { graph, machine, given, .. } = task;
    let (found, expected) = (groups.num_processes(), graph.num_nodes());
    if found != expected {
        return Err(GroupError::OtherCount { found, expected }.into());
    }
    if groups.size() == 1 || expected == 0 {
        return task.solve();
    }
    problem::check_room(expected, machine.machine())?;
    given.check_fixed(expected, machine.machine())?;
    problem::check_cost(graph, machine.distances()?.max_distance())?;
    let groups = Groups::new(groups, given.fixed, machine.nodes())?;
    if let Some(start) = given.start {
        check_size(start, expected)?;
        Mapping::on(machine.machine(), start.pes().to_vec())?;
        groups.check_kept(start)?;
    }
    let rooms = Rooms::of(machine.machine(), &groups)?;
    let setting = Setting {
        graph,
        machine: machine.machine(),
        distances: machine.distances()?,
        groups: &groups,
        fixed: given.fixed,
    };
    Run { task, setting }.with(&rooms)
}

/// A run: the task, and what its parts look at.
struct Run<'a> {
    task: Task<'a>,
    setting: Setting<'a>,
}

impl Run<'_> {
    fn with(&self, rooms: &Rooms) -> Result<Solution, SolveError> {
        let Task { begin, time_limit, observer, given: Given { start, .. }, .. } = self.task;
        let Setting { graph, machine, distances, groups, fixed } = self.setting;
        let (node_of_group, mut report) = self.map_groups(rooms)?;
        let limited = Limited::silent(observer, begin, time_limit);
        let node_of = |process| node_of_group[groups.group_of(process) as usize];
        let node_of: Vec<PeId> = graph.nodes().map(node_of).collect();
        let constructed = self.map_inside(rooms, &node_of, &limited)?;
        let cost_of = |mapping: &Mapping| evaluate(graph, distances, mapping);
        let identity = identity(graph, machine, fixed);
        report.cost_of_identity = cost_of(&identity)?;
        report.cost_of_start = start.map(cost_of).transpose()?;
        let cost_of_construction = cost_of(&constructed)?;
        let construction_done = Instant::now();

        let identity = groups.split_pair(&identity).is_none().then_some((report.cost_of_identity, &identity));
        let given: Vec<(Cost, &Mapping)> =
            report.cost_of_start.zip(start).into_iter().chain(identity).collect();
        let all = [(cost_of_construction, &constructed)].into_iter().chain(given.iter().copied());
        let (_, best) = all.min_by_key(|&(cost, _)| cost).expect("there is a construction");
        let mut exchanges = Exchanges::new(self.setting, rooms, best, &limited);
        let Counts { tried, made } = exchanges.search();
        let mapping = Mapping::from_places(exchanges.pe_of);
        let cost = cost_of(&mapping)?;
        let mapping = prefer_given(&given, cost, mapping);
        let seconds = |from: Instant, to: Instant| (to - from).as_secs_f64();
        let end = Instant::now();
        observer.reached(cost);
        let report = Report {
            num_processes: graph.num_nodes(),
            num_edges: graph.num_edges(),
            cost,
            cut: cut(graph, mapping.pes()),
            cost_of_construction: Some(cost_of_construction),
            swaps_tried: report.swaps_tried + tried,
            swaps_made: report.swaps_made + made,
            stopped: report.stopped || observer.should_stop(),
            seconds: Seconds {
                construction: seconds(begin, construction_done) - report.seconds.distances,
                search: seconds(construction_done, end),
                total: seconds(begin, end),
                ..report.seconds
            },
            ..report
        };
        Ok(Solution { mapping, report })
    }

    /// The node of each group, and the report of the mapping of the quotient graph.
    fn map_groups(&self, rooms: &Rooms) -> Result<(Vec<PeId>, Report), SolveError> {
        let Groups { ref tied, .. } = *self.setting.groups;
        let Task { graph, begin, time_limit, observer, .. } = self.task;
        let used: Vec<usize> = (0..rooms.pes.len()).filter(|&node| rooms.groups[node] > 0).collect();
        let nodes = Listed::new(self.setting.machine, used.iter().map(|&node| rooms.pes[node][0]).collect())?;
        let nodes = Capacities::new(nodes, used.iter().map(|&node| rooms.groups[node]).collect())?;
        let mut fixed = FixedVertices::none(tied.len(), used.len());
        let last = rooms.last.map(|node| (tied.len() - 1, node));
        let all = (0..).zip(tied).filter_map(|(group, &node)| Some((group, node?))).chain(last);
        for (group, node) in all {
            fixed.fix(group as NodeId, used.partition_point(|&used| used < node) as PeId)?;
        }
        let group_of: Vec<PeId> =
            graph.nodes().map(|process| self.setting.groups.group_of(process)).collect();
        let quotient = quotient::contract(graph, &group_of, tied.len());
        let given = Given { fixed: Some(&fixed).filter(|fixed| !fixed.is_empty()), ..Given::default() };
        let task = Task {
            graph: &quotient,
            machine: &PreparedMachine::new(&nodes),
            given,
            begin: Instant::now(),
            time_limit: time_limit.map(|limit| limit - limit / LAST_PART),
            observer: &Limited::silent(observer, begin, None),
            ..self.task
        };
        let Solution { mapping, report } = task.solve()?;
        Ok((mapping.pes().iter().map(|&node| used[node as usize] as PeId).collect(), report))
    }

    /// The PE of each process, whose node is known.
    fn map_inside(
        &self,
        rooms: &Rooms,
        node_of: &[PeId],
        observer: &dyn Observer,
    ) -> Result<Mapping, SolveError> {
        let inside =
            subgraph::split(self.setting.graph, node_of, rooms.pes.len()).into_iter().zip(&rooms.pes);
        let filled = inside.filter(|((_, processes), _)| !processes.is_empty()).collect();
        let map = |((graph, processes), pes): ((CsrGraph, Vec<NodeId>), &Vec<PeId>)| {
            let own = self.map_node(&graph, &processes, pes, observer)?;
            Ok::<_, SolveError>((processes, own))
        };
        let mut pe_of = vec![0; self.setting.graph.num_nodes()];
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
        let config = OneToOneConfig { distances: None, ..*self.task.config };
        let pes: Vec<PeId> =
            pes.iter().copied().filter(|&pe| self.setting.machine.capacity(pe) > 0).collect();
        let node = Listed::new(self.setting.machine, pes.clone())?;
        let mut fixed = FixedVertices::none(processes.len(), pes.len());
        for (index, &process) in (0..).zip(processes) {
            let pe = self.setting.fixed.and_then(|fixed| fixed.of(process));
            if let Some(place) = pes.iter().position(|&own| Some(own) == pe) {
                fixed.fix(index, place as PeId)?;
            }
        }
        let given = Given { fixed: Some(&fixed).filter(|fixed| !fixed.is_empty()), ..Given::default() };
        let task = Task {
            graph,
            machine: &PreparedMachine::new(&node),
            config: &config,
            given,
            begin: Instant::now(),
            time_limit: None,
            observer,
            ..self.task
        };
        let mapping = task.solve()?.mapping;
        Ok(mapping.pes().iter().map(|&place| pes[place as usize]).collect())
    }
}
