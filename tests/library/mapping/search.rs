//! Local search: every neighbourhood, on random graphs and machines of many shapes.

use crate::common::{SHAPES, StopAfter, naive_cost, random_graph, random_mapping};
use viem::base::observer::Seeded;
use viem::base::rng::Rng;
use viem::base::threads;
use viem::base::types::{NodeId, PeId};
use viem::graph::{CsrGraph, generate};
use viem::machine::{Distances, Hierarchy, OwnDistances, StoredDistances};
use viem::mapping::Mapping;
use viem::mapping::problem::Problem;
use viem::mapping::search::{Neighbourhood, SearchConfig, SearchOutcome, local_search};

/// The hops between every two vertices; 0 if there is no path.
fn hops(graph: &CsrGraph) -> Vec<Vec<usize>> {
    let n = graph.num_nodes();
    let mut all = vec![vec![0; n]; n];
    for (source, hops) in all.iter_mut().enumerate() {
        let mut layer = vec![source];
        for step in 1..n {
            let mut next = Vec::new();
            for u in layer {
                for &v in graph.neighbours(u as NodeId) {
                    if v as usize != source && hops[v as usize] == 0 {
                        hops[v as usize] = step;
                        next.push(v as usize);
                    }
                }
            }
            layer = next;
        }
    }
    all
}

/// The pairs of a neighbourhood, by definition.
fn pairs(graph: &CsrGraph, config: &SearchConfig) -> Vec<(NodeId, NodeId)> {
    let hops = hops(graph);
    let contains = |u: NodeId, v: NodeId| match config.neighbourhood {
        Neighbourhood::None => false,
        Neighbourhood::NSquare => true,
        Neighbourhood::NSquarePruned => u as usize / config.block_size == v as usize / config.block_size,
        Neighbourhood::Communication => (1..=config.max_hops).contains(&hops[u as usize][v as usize]),
    };
    graph.nodes().flat_map(|v| (0..v).map(move |u| (u, v))).filter(|&(u, v)| contains(u, v)).collect()
}

fn configs() -> Vec<SearchConfig> {
    let mut configs = Vec::new();
    for neighbourhood in Neighbourhood::ALL {
        let base = SearchConfig::of(neighbourhood);
        match neighbourhood {
            Neighbourhood::NSquarePruned => {
                configs.extend([1, 7, 16, usize::MAX].map(|size| base.with_block_size(size)));
            }
            Neighbourhood::Communication => {
                configs.extend([1, 2, 10, usize::MAX].map(|hops| base.with_max_hops(hops)));
            }
            _ => configs.push(base),
        }
    }
    configs
}

fn search(graph: &CsrGraph, oracle: &Distances, start: &Mapping, config: &SearchConfig) -> SearchOutcome {
    local_search(&Problem::new(graph, oracle).unwrap(), start, config, Seeded::new(3))
}

/// Runs `check` on each neighbourhood and shape, a sparse and a dense random graph, and a random and a good
/// start.
fn for_all(check: impl Fn(&CsrGraph, &Hierarchy, &Mapping, &SearchConfig)) {
    let mut rng = Rng::new(1);
    for (arities, distances) in SHAPES {
        let hierarchy = Hierarchy::parse(arities, distances).unwrap();
        let n = hierarchy.num_pes();
        for mean_degree in [2, 7] {
            let graph = random_graph(n, mean_degree, 20, &mut rng);
            let random = random_mapping(n, &mut rng);
            let nsquare = SearchConfig::of(Neighbourhood::NSquare);
            let descended =
                search(&graph, &Distances::WideTree(hierarchy.online64()), &random, &nsquare).mapping;
            let mut disturbed = descended.into_pes();
            for _ in 0..3 {
                disturbed.swap(rng.below(n as u32) as usize, rng.below(n as u32) as usize);
            }
            for start in [random, Mapping::from_pes(disturbed).unwrap()] {
                for config in configs() {
                    check(&graph, &hierarchy, &start, &config);
                }
            }
        }
    }
}

#[test]
fn the_end_is_a_local_optimum_of_the_neighbourhood() {
    for_all(|graph, hierarchy, start, config| {
        let outcome = search(graph, &Distances::Tree(hierarchy.online32().unwrap()), start, config);
        let mut pe_of = outcome.mapping.pes().to_vec();
        let cost = i128::from(outcome.cost);
        assert_eq!(cost, naive_cost(graph, hierarchy, &pe_of));
        assert!(!outcome.stopped);
        let before = naive_cost(graph, hierarchy, start.pes());
        assert!(cost <= before && (outcome.made == 0) == (cost == before));
        for (u, v) in pairs(graph, config) {
            pe_of.swap(u as usize, v as usize);
            assert!(naive_cost(graph, hierarchy, &pe_of) >= cost, "{config:?} {hierarchy:?} {u} {v}");
            pe_of.swap(u as usize, v as usize);
        }
    });
}

#[test]
fn stored_and_online_distances_lead_to_the_same_mapping() {
    for_all(|graph, hierarchy, start, config| {
        let online = search(graph, &Distances::Tree(hierarchy.online32().unwrap()), start, config);
        let online64 = search(graph, &Distances::WideTree(hierarchy.online64()), start, config);
        let stored =
            search(graph, &Distances::StoredTree(StoredDistances::new(hierarchy).unwrap()), start, config);
        assert_eq!(online, stored, "{config:?} {hierarchy:?}");
        assert_eq!(online, online64, "{config:?} {hierarchy:?}");
    });
}

/// Large enough for parallel work.
#[test]
fn the_result_does_not_depend_on_the_threads() {
    let hierarchy = Hierarchy::parse("4:16:160", "1:10:100").unwrap();
    let n = hierarchy.num_pes();
    let graph = generate::mesh(128, 80, 3);
    let oracle = Distances::Tree(hierarchy.online32().unwrap());
    // Rows of the mesh are consecutive, so the identity is a fairly good start.
    let with_threads = |threads| {
        let start = Mapping::identity(n);
        threads::run(threads, || search(&graph, &oracle, &start, &SearchConfig::default())).unwrap()
    };
    let single = with_threads(1);
    assert!(single.made > 0);
    assert_eq!(single, with_threads(2));
    assert_eq!(single, with_threads(8));
}

/// N² by the plainest loop: the search may skip only pairs that cannot gain.
#[test]
fn nsquare_visits_the_mappings_of_the_plain_loop() {
    for_all(|graph, hierarchy, start, config| {
        if config.neighbourhood != Neighbourhood::NSquare {
            return;
        }
        let mut pe_of = start.pes().to_vec();
        let mut cost = naive_cost(graph, hierarchy, &pe_of);
        let mut made = 0;
        let mut improved = true;
        while improved {
            improved = false;
            for i in 0..pe_of.len() {
                for j in i + 1..pe_of.len() {
                    pe_of.swap(i, j);
                    let swapped = naive_cost(graph, hierarchy, &pe_of);
                    if swapped < cost {
                        (cost, improved, made) = (swapped, true, made + 1);
                    } else {
                        pe_of.swap(i, j);
                    }
                }
            }
        }
        let outcome = search(graph, &Distances::Tree(hierarchy.online32().unwrap()), start, config);
        assert_eq!(outcome.mapping.pes(), pe_of);
        assert_eq!((i128::from(outcome.cost), outcome.made), (cost, made));
    });
}

/// If pairs are tried individually, each is tried once if none improves.
#[test]
fn every_pair_is_tried_once() {
    let n = 12;
    let graph = CsrGraph::from_edges(n, (1..n as NodeId).map(|u| (u - 1, u, 1))).unwrap();
    // All distances are equal, but no two PEs are known to be alike: nothing gains, everything is tried.
    let oracle = Distances::own(n, Uniform).unwrap();
    let start = Mapping::identity(n);
    for config in configs().into_iter().filter(|config| config.neighbourhood != Neighbourhood::NSquare) {
        let outcome = search(&graph, &oracle, &start, &config);
        assert_eq!(outcome.tried, pairs(&graph, &config).len() as u64, "{config:?}");
        assert_eq!(outcome.mapping, start);
    }
}

/// Every two PEs are at distance 1.
#[derive(Debug)]
struct Uniform;

impl OwnDistances for Uniform {
    fn distance(&self, _a: PeId, _b: PeId) -> i64 {
        1
    }

    fn max_distance(&self) -> i64 {
        1
    }
}

#[test]
fn pairs_of_an_innermost_group_are_not_tried() {
    let graph = random_graph(40, 6, 20, &mut Rng::new(4));
    let hierarchy = Hierarchy::parse("40", "10").unwrap();
    for config in configs() {
        let outcome =
            search(&graph, &Distances::Tree(hierarchy.online32().unwrap()), &Mapping::identity(40), &config);
        assert_eq!(outcome.made, 0, "{config:?}");
        let one_by_one = matches!(config.neighbourhood, Neighbourhood::None | Neighbourhood::NSquarePruned);
        assert!(outcome.tried == 0 || !one_by_one, "{config:?}");
    }
}

#[test]
fn a_stopped_search_returns_the_best_so_far() {
    for_all(|graph, hierarchy, start, config| {
        let oracle = Distances::Tree(hierarchy.online32().unwrap());
        let problem = Problem::new(graph, &oracle).unwrap();
        let complete = search(graph, &oracle, start, config);
        for questions in [0, 1, 19] {
            let outcome = local_search(
                &problem,
                start,
                config,
                Seeded::new(3).observed(&StopAfter::questions(questions)),
            );
            assert_eq!(i128::from(outcome.cost), naive_cost(graph, hierarchy, outcome.mapping.pes()));
            assert!(outcome.made <= complete.made);
            assert!(outcome.stopped || outcome == complete);
            if questions == 0 && config.neighbourhood != Neighbourhood::None {
                assert!(outcome.stopped && outcome.mapping == *start);
            }
        }
    });
}
