//! Groups of processes that stay on a node: against enumeration, with fixed processes, and what is refused.

use crate::common::random_graph;
use viem::Mapping;
use viem::base::rng::Rng;
use viem::base::types::{Cost, NodeId, PeId};
use viem::graph::{CsrGraph, generate};
use viem::machine::{
    Capacities, DistanceMatrix, Distances, Listed, Located, Location, Machine, MachineError, Nodes,
};
use viem::mapping::objective::score;
use viem::partition::FixedVertices;
use viem::solve::{
    Config, GroupError, Initial, MapPreset, PreparedMachine, ProcessGroups, Request, RequestError, Solution,
    SolveError,
};

/// Nodes with PEs in any order; distances between nodes differ, and so do those inside.
#[derive(Clone, Debug)]
struct Cluster {
    node_of: Vec<u32>,
    distances: DistanceMatrix,
    capacities: Vec<u32>,
}

impl Machine for Cluster {
    fn num_pes(&self) -> usize {
        self.node_of.len()
    }
    fn distances(&self) -> Result<Distances, MachineError> {
        self.distances.distances()
    }
    fn capacity(&self, pe: PeId) -> u32 {
        self.capacities[pe as usize]
    }
    fn located(&self) -> Option<&dyn Located> {
        Some(self)
    }
}

impl Located for Cluster {
    fn location(&self, pe: PeId) -> Location {
        Location::new(self.node_of[pe as usize], vec![pe])
    }
}

impl Cluster {
    fn random(sizes: &[usize], are_plain: bool, rng: &mut Rng) -> Self {
        let mut node_of: Vec<u32> =
            (0..).zip(sizes).flat_map(|(node, &size)| std::iter::repeat_n(node, size)).collect();
        rng.shuffle(&mut node_of);
        let count = sizes.len();
        let mut between = vec![0; count * count];
        for a in 0..count {
            for b in 0..=a {
                between[a * count + b] = 5 + i64::from(rng.below(20));
                between[b * count + a] = between[a * count + b];
            }
        }
        let pes = node_of.len();
        let inside: Vec<i64> = (0..pes).map(|_| i64::from(rng.below(3))).collect();
        let distance = |p: PeId, q: PeId| {
            let (a, b) = (node_of[p as usize], node_of[q as usize]);
            let near = 1 + (inside[p as usize] - inside[q as usize]).abs();
            if a == b { near } else { between[a as usize * count + b as usize] + near }
        };
        let distances = DistanceMatrix::from_fn(pes, distance).unwrap();
        let capacities = (0..pes).map(|_| if are_plain { 1 } else { rng.below(3) }).collect();
        Self { node_of, distances, capacities }
    }
}

fn keep(
    graph: &CsrGraph,
    machine: &dyn Machine,
    size: usize,
    fixed: Option<&FixedVertices>,
) -> Result<Solution, GroupError> {
    keep_by(MapPreset::Fast, graph, machine, size, fixed)
}

fn keep_by(
    preset: MapPreset,
    graph: &CsrGraph,
    machine: &dyn Machine,
    size: usize,
    fixed: Option<&FixedVertices>,
) -> Result<Solution, GroupError> {
    let groups = ProcessGroups::of_size(graph.num_nodes(), size)?;
    match Request::new(graph, &PreparedMachine::new(machine))
        .together(&groups)
        .fixed(fixed)
        .solve(&Config::preset(preset))
    {
        Ok(solution) => Ok(solution),
        Err(SolveError::Groups(error)) => Err(error),
        Err(error) => panic!("{error}"),
    }
}

fn are_kept(machine: &dyn Machine, mapping: &Mapping, size: usize) -> bool {
    let nodes = Nodes::of(machine);
    let node = |process: usize| nodes.node(mapping.pe_of(process as NodeId));
    (0..mapping.num_processes()).all(|process| node(process) == node(process / size * size))
}

/// The least J of the mappings that keep the groups and respect fixed processes, if there are any, by enumeration.
fn optimum(graph: &CsrGraph, machine: &Cluster, size: usize, fixed: Option<&FixedVertices>) -> Option<Cost> {
    fn place(
        pe_of: &mut Vec<PeId>,
        left: &mut [u32],
        all: (&CsrGraph, &Cluster, usize, Option<&FixedVertices>),
    ) -> Option<Cost> {
        let (graph, machine, size, fixed) = all;
        let process = pe_of.len();
        if process == graph.num_nodes() {
            return Some(score(graph, machine, pe_of).unwrap());
        }
        let mut least = None;
        for pe in 0..machine.num_pes() {
            let is_elsewhere = !process.is_multiple_of(size)
                && machine.node_of[pe] != machine.node_of[pe_of[process / size * size] as usize];
            let is_fixed_elsewhere =
                fixed.and_then(|fixed| fixed.of(process as NodeId)).is_some_and(|fixed| fixed as usize != pe);
            if left[pe] == 0 || is_elsewhere || is_fixed_elsewhere {
                continue;
            }
            left[pe] -= 1;
            pe_of.push(pe as PeId);
            let cost = place(pe_of, left, all);
            least = match (least, cost) {
                (Some(least), Some(cost)) => Some(std::cmp::min(least, cost)),
                (least, cost) => least.or(cost),
            };
            pe_of.pop();
            left[pe] += 1;
        }
        least
    }
    place(&mut Vec::new(), &mut machine.capacities.clone(), (graph, machine, size, fixed))
}

#[test]
fn small_problems_are_solved_nearly_as_well_as_by_enumeration() {
    let mut rng = Rng::new(3);
    let (mut optimal, mut solved, mut refused, mut ratio) = (0, 0, 0, 0.0);
    for case in 0..120 {
        let sizes: Vec<usize> = (0..2 + rng.below(2)).map(|_| 1 + rng.below(4) as usize).collect();
        let machine = Cluster::random(&sizes, case % 4 > 0, &mut rng);
        let room = machine.room() as usize;
        let n = room.saturating_sub(rng.below(3) as usize).min(6);
        if n < 2 {
            continue;
        }
        let graph = random_graph(n, 3, 9, &mut rng);
        let size = 1 + rng.below(4) as usize;
        let mut fixed = FixedVertices::none(n, machine.num_pes());
        if case % 3 == 0 {
            for _ in 0..1 + rng.below(2) {
                let (process, pe) = (rng.below(n as u32), rng.below(machine.num_pes() as u32));
                let is_full = fixed.iter().filter(|&(_, other)| other == pe).count() as u32
                    >= machine.capacities[pe as usize];
                if !is_full {
                    let _ = fixed.fix(process, pe);
                }
            }
        }
        let fixed = Some(&fixed).filter(|fixed| !fixed.is_empty());
        let least = optimum(&graph, &machine, size, fixed);
        let found = keep_by(MapPreset::Eco, &graph, &machine, size, fixed);
        assert_eq!(found.is_ok(), least.is_some(), "case {case}: {found:?}, {machine:?} {size} {fixed:?}");
        let (Ok(Solution { mapping, report, .. }), Some(least)) = (found, least) else {
            refused += 1;
            continue;
        };
        assert!(are_kept(&machine, &mapping, size));
        assert!(Mapping::on(&machine, mapping.pes().to_vec()).is_ok());
        assert!(fixed.is_none_or(|fixed| fixed.violated_by(mapping.pes()).is_none()));
        let cost = score(&graph, &machine, mapping.pes()).unwrap();
        assert_eq!(report.cost, cost);
        assert!(cost >= least);
        solved += 1;
        assert!(least > 0 || cost == 0);
        optimal += u32::from(cost == least);
        ratio += (cost.max(1) as f64 / least.max(1) as f64).ln();
    }
    let mean = (ratio / f64::from(solved)).exp();
    assert!(refused > 15 && solved > 50, "{refused} refused, {solved} solved");
    assert!(optimal * 10 > solved * 8 && mean < 1.01, "{optimal} of {solved} optimal, mean {mean}");
}

/// As many places as PEs, but some PEs have two and others none.
#[test]
fn pes_without_room_stay_empty() {
    let mut machine = Cluster::random(&[3, 3], true, &mut Rng::new(2));
    machine.capacities = vec![2, 0, 1, 0, 2, 1];
    let graph = generate::grid(3, 2);
    for preset in MapPreset::ALL {
        let mapping = solved!(&graph, &machine, &Config::preset(preset)).mapping;
        assert!(Mapping::on(&machine, mapping.pes().to_vec()).is_ok(), "{mapping:?}");
    }
}

/// Rings of groups, as pipelines of tensor-parallel groups are.
#[test]
fn groups_of_rings_stay_whole_on_machines_of_all_kinds() {
    let mut rng = Rng::new(8);
    let graph = generate::grid(8, 12);
    let tree = viem_cluster::build("8:4:4", "1:10:100").unwrap();
    let mut pes: Vec<PeId> = (0..128).collect();
    rng.shuffle(&mut pes);
    pes.truncate(118);
    let listed = Listed::new(&tree, pes).unwrap();
    let grid = viem_cluster::build("torus:4x4/8", "1:10").unwrap();
    let wide = Capacities::new(viem_cluster::build("4:4:2", "1:5:30").unwrap(), vec![4; 32]).unwrap();
    for machine in [&tree as &dyn Machine, &listed, &grid, &wide] {
        for size in [1, 4, 8] {
            let nodes = Nodes::of(machine);
            let mut room = vec![0; nodes.hosts().len()];
            (0..machine.num_pes() as PeId)
                .for_each(|pe| room[nodes.node(pe)] += machine.capacity(pe) as usize);
            let solution = match keep(&graph, machine, size, None) {
                Ok(solution) => solution,
                Err(GroupError::NoRoom { .. }) => {
                    assert!(room.iter().map(|room| room / size).sum::<usize>() < 96 / size);
                    continue;
                }
                Err(error) => panic!("{error}"),
            };
            assert!(are_kept(machine, &solution.mapping, size), "{size}");
            assert_eq!(score(&graph, machine, solution.mapping.pes()).unwrap(), solution.report.cost);
        }
        // A single process is always on one node.
        let free = solved!(&graph, machine, &Config::preset(MapPreset::Fast));
        assert_eq!(keep(&graph, machine, 1, None).unwrap().mapping, free.mapping);
    }
    let same = keep(&graph, &listed, 4, None).unwrap();
    let fours = ProcessGroups::of_size(graph.num_nodes(), 4).unwrap();
    for threads in [1, 3] {
        let mut config = Config::preset(MapPreset::Fast);
        config.threads = threads;
        let other = solved!(&graph, &listed, &config, together(&fours));
        assert_eq!(other.mapping, same.mapping);
    }
}

#[test]
fn a_start_and_an_identity_that_keep_groups_are_never_worsened() {
    let mut rng = Rng::new(5);
    let machine = viem_cluster::build("4:4:2", "1:10:100").unwrap();
    let pairs = ProcessGroups::of_size(32, 2).unwrap();
    for _ in 0..20 {
        let graph = random_graph(32, 5, 9, &mut rng);
        let mut config = Config::preset(MapPreset::Fast);
        config.seed = u64::from(rng.below(1000));
        let found = solved!(&graph, &machine, &config, together(&pairs));
        assert!(found.report.cost <= found.report.cost_of_identity);
        let start = Some(&found.mapping);
        config.seed += 1;
        let again = solved!(&graph, &machine, &config, together(&pairs), start(start));
        assert!(again.report.cost <= found.report.cost);
        assert_eq!(again.report.cost_of_start, Some(found.report.cost));
        assert!(again.report.cost < found.report.cost || again.mapping == found.mapping);
    }
}

#[test]
fn what_cannot_be_kept_is_refused_with_the_reason() {
    let machine = viem_cluster::build("4:3", "1:10").unwrap();
    let graph = generate::grid(4, 3);
    let kept = |size, fixed: &[(NodeId, PeId)]| {
        let mut all = FixedVertices::none(12, 12);
        fixed.iter().for_each(|&(process, pe)| all.fix(process, pe).unwrap());
        keep(&graph, &machine, size, Some(&all))
    };
    let refused = |size, fixed: &[(NodeId, PeId)]| kept(size, fixed).unwrap_err().to_string();
    assert!(kept(4, &[(0, 11), (11, 0)]).is_ok());
    assert_eq!(
        refused(3, &[]),
        "groups of 3 processes must share a node, but the nodes have room for 3 of 4 groups; the largest has room for 4 processes"
    );
    assert!(refused(5, &[]).contains("room for 1 of 3 groups; the largest has room for 4"));
    assert!(refused(4, &[(0, 3), (2, 4)]).contains("processes 0 and 2 are of one group of 4"));
    assert!(refused(4, &[(0, 3), (2, 4)]).ends_with("fixed on node0 and node1"));
    assert_eq!(
        refused(4, &[(0, 3), (4, 2)]),
        "processes of 2 groups of 4 are fixed on node0, which has room for 1"
    );
    assert_eq!(refused(0, &[]), "a group has at least one process");
    let fours = ProcessGroups::of_size(12, 4).unwrap();
    let torn = Mapping::from_pes((0..12).rev().map(|pe| (pe + 1) % 12).collect()).unwrap();
    let config = Config::preset(MapPreset::Fast);
    let error = Request::new(&graph, &PreparedMachine::new(&machine))
        .together(&fours)
        .start(&torn)
        .solve(&config)
        .unwrap_err();
    assert!(error.to_string().contains("the start mapping has the processes 0 and 1 on node0 and node2"));
    let prepared = PreparedMachine::new(&machine);
    let request = Request::new(&graph, &prepared).together(&fours).initial(Initial::Mapping(&torn));
    let error = request.solve(&config).unwrap_err();
    assert!(matches!(error, SolveError::Request(RequestError::GroupsHaveInitial)));
    let none = generate::grid(0, 0);
    assert_eq!(keep(&none, &machine, 4, None).unwrap().mapping.num_processes(), 0);
}

#[test]
fn groups_of_any_processes_are_kept_as_consecutive_ones() {
    let mut rng = Rng::new(11);
    let machine = viem_cluster::build("4:4:2", "1:10:100").unwrap();
    let nodes = Nodes::of(&machine);
    let config = Config::preset(MapPreset::Fast);
    for size in [2, 3, 4] {
        let graph = random_graph(30, 5, 9, &mut rng);
        let mut numbers: Vec<NodeId> = (0..30).map(|process| 100 + process / size).collect();
        let consecutive = ProcessGroups::of_list(&numbers).unwrap();
        assert_eq!(consecutive, ProcessGroups::of_size(30, size as usize).unwrap());
        rng.shuffle(&mut numbers);
        let groups = ProcessGroups::of_list(&numbers).unwrap();
        let found = Request::new(&graph, &PreparedMachine::new(&machine)).together(&groups).solve(&config);
        let Solution { mapping, report, .. } = found.unwrap();
        for group in 0..groups.count() {
            let members = groups.members(group);
            assert!(members.iter().all(|&process| groups.group_of(process) as usize == group));
            assert!(members.iter().all(|&process| numbers[process as usize] == numbers[members[0] as usize]));
            let node = |process: NodeId| nodes.node(mapping.pe_of(process));
            assert!(members.iter().all(|&process| node(process) == node(members[0])), "{size}");
        }
        assert_eq!(score(&graph, &machine, mapping.pes()).unwrap(), report.cost);
    }
    let refused = |numbers: &[NodeId]| ProcessGroups::of_list(numbers).unwrap_err().to_string();
    assert!(refused(&[9, 9, 9, 1, 1, 4]).starts_with("group 1 has 2 processes, but 9 has 3"));
    let other = ProcessGroups::of_size(29, 2).unwrap();
    let graph = random_graph(30, 5, 9, &mut rng);
    let error =
        Request::new(&graph, &PreparedMachine::new(&machine)).together(&other).solve(&config).unwrap_err();
    assert!(error.to_string().contains("groups of 29 processes, but the graph has 30"));
}
