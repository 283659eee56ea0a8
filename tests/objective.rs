//! J and its changes on random problems: machines of up to six levels, with ones and primes.

use proptest::prelude::*;
use viem::graph::{CsrGraph, GraphBuilder};
use viem::mapping::Mapping;
use viem::objective::{cost, keys, swap_delta};
use viem::problem::Problem;
use viem::rng::Rng;
use viem::topology::{DistanceOracle, Hierarchy, StoredDistances};
use viem::types::PeId;

fn hierarchies() -> impl Strategy<Value = Hierarchy> {
    let arity = prop::sample::select(vec![1u32, 1, 2, 2, 3, 4, 5, 7]);
    let distance = prop_oneof![0i64..5, 0i64..1000, Just(1i64 << 34)];
    prop::collection::vec((arity, distance), 1..=6)
        .prop_filter("few PEs", |levels| levels.iter().map(|level| level.0).product::<u32>() <= 240)
        .prop_map(|levels| {
            let (arities, distances) = levels.into_iter().unzip();
            Hierarchy::new(arities, distances).unwrap()
        })
}

fn random_graph(n: usize, mean_degree: u32, max_weight: u32, rng: &mut Rng) -> CsrGraph {
    let mut builder = GraphBuilder::new(n);
    for u in 1..n as u32 {
        for v in 0..u {
            if rng.below(n as u32) < mean_degree {
                builder.add_edge(u, v, i64::from(rng.below(max_weight)) + 1);
            }
        }
    }
    builder.build().unwrap()
}

/// J by the definition, in 128 bits, distances by division.
fn naive_cost(graph: &CsrGraph, hierarchy: &Hierarchy, pe_of: &[PeId]) -> i128 {
    let distance = |mut p: PeId, mut q: PeId| {
        let mut distance = 0;
        for (&arity, &of_level) in hierarchy.arities().iter().zip(hierarchy.distances()) {
            if p != q {
                distance = of_level;
            }
            p /= arity;
            q /= arity;
        }
        i128::from(distance)
    };
    let arcs = graph.nodes().flat_map(|u| graph.arcs(u).map(move |(v, weight)| (u, v, weight)));
    arcs.map(|(u, v, weight)| i128::from(weight) * distance(pe_of[u as usize], pe_of[v as usize])).sum()
}

fn check(graph: &CsrGraph, hierarchy: &Hierarchy, oracle: &impl DistanceOracle, rng: &mut Rng) {
    let problem = Problem::new(graph, oracle).unwrap();
    let n = graph.num_nodes();
    let mut pe_of: Vec<PeId> = (0..n as PeId).collect();
    rng.shuffle(&mut pe_of);
    for _ in 0..20 {
        let mapping = Mapping::new(pe_of.clone()).unwrap();
        let before = i128::from(cost(&problem, &mapping));
        assert_eq!(before, naive_cost(graph, hierarchy, &pe_of));
        // Neighbours half of the time, where there are any: their edge is the special case.
        let u = rng.below(n as u32);
        let neighbours = graph.neighbours(u);
        let v = match neighbours.len() {
            0 => rng.below(n as u32),
            _ if rng.below(2) == 0 => rng.below(n as u32),
            degree => neighbours[rng.below(degree as u32) as usize],
        };
        let keys = keys(oracle, &mapping);
        let delta = if u == v { 0 } else { swap_delta(graph, oracle, &keys, u, v) };
        pe_of.swap(u as usize, v as usize);
        assert_eq!(before + i128::from(delta), naive_cost(graph, hierarchy, &pe_of));
        if oracle.interchangeable(keys[u as usize], keys[v as usize]) {
            assert_eq!(delta, 0);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn costs_and_deltas_agree_with_the_definition(
        hierarchy in hierarchies(),
        mean_degree in 0u32..12,
        max_weight in prop::sample::select(vec![1u32, 10, 100_000]),
        seed in any::<u64>(),
    ) {
        let mut rng = Rng::new(seed);
        let graph = random_graph(hierarchy.num_pes(), mean_degree, max_weight, &mut rng);
        check(&graph, &hierarchy, &hierarchy.online64(), &mut rng);
        check(&graph, &hierarchy, &StoredDistances::new(&hierarchy).unwrap(), &mut rng);
        if let Some(oracle) = hierarchy.online32() {
            check(&graph, &hierarchy, &oracle, &mut rng);
        }
    }
}
