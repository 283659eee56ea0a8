//! J and its changes on random problems: machines of up to six levels, with arities of 1 and primes.

use crate::common::{naive_cost, random_graph, random_mapping};
use proptest::prelude::*;
use viem::base::rng::Rng;
use viem::graph::CsrGraph;
use viem::machine::{DistanceOracle, Distances, Hierarchy, StoredDistances};
use viem::mapping::Mapping;
use viem::mapping::objective::{cost, keys, swap_delta};
use viem::mapping::problem::Problem;

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

fn check<O: DistanceOracle + Clone>(
    graph: &CsrGraph,
    hierarchy: &Hierarchy,
    oracle: &O,
    kind: fn(O) -> Distances,
    rng: &mut Rng,
) {
    let distances = kind(oracle.clone());
    let problem = Problem::new(graph, &distances).unwrap();
    let n = graph.num_nodes();
    let mut pe_of = random_mapping(n, rng).into_pes();
    for _ in 0..20 {
        let mapping = Mapping::from_pes(pe_of.clone()).unwrap();
        let before = i128::from(cost(&problem, &mapping));
        assert_eq!(before, naive_cost(graph, hierarchy, &pe_of));
        // Neighbours in half of the cases, if there are any: their edge is the special case.
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
        mean_degree in 0usize..12,
        max_weight in prop::sample::select(vec![1u32, 10, 100_000]),
        seed in any::<u64>(),
    ) {
        let mut rng = Rng::new(seed);
        let graph = random_graph(hierarchy.num_pes(), mean_degree, max_weight, &mut rng);
        check(&graph, &hierarchy, &hierarchy.online64(), Distances::WideTree, &mut rng);
        let stored = StoredDistances::new(&hierarchy).unwrap();
        check(&graph, &hierarchy, &stored, Distances::StoredTree, &mut rng);
        if let Some(oracle) = hierarchy.online32() {
            check(&graph, &hierarchy, &oracle, Distances::Tree, &mut rng);
        }
    }
}
