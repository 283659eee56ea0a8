//! Machines of one's own, whose distances are computed by code outside of the library.

use crate::common::random_graph;
use viem::base::rng::Rng;
use viem::base::types::{Distance, PeId};
use viem::machine::{
    DistanceMatrix, DistanceOracle as _, Distances, Listed, Machine, MachineError, Metric as _, OwnDistances,
};
use viem::mapping::objective::score;
use viem::solve::{Balance, Config, MapPreset, PreparedMachine, Request};

/// Distances that a function computes.
#[derive(Clone, Copy, Debug)]
struct Computed {
    num_pes: usize,
    distance: fn(PeId, PeId) -> Distance,
    greatest: Distance,
    has_triangle_inequality: bool,
}

impl OwnDistances for Computed {
    fn distance(&self, a: PeId, b: PeId) -> Distance {
        (self.distance)(a, b)
    }
    fn max_distance(&self) -> Distance {
        self.greatest
    }
    fn has_triangle_inequality(&self) -> bool {
        self.has_triangle_inequality
    }
}

impl Machine for Computed {
    fn num_pes(&self) -> usize {
        self.num_pes
    }
    fn distances(&self) -> Result<Distances, MachineError> {
        Distances::own(self.num_pes, *self)
    }
}

impl Computed {
    fn new(num_pes: usize, distance: fn(PeId, PeId) -> Distance) -> Self {
        let pes = 0..num_pes as PeId;
        let pairs = pes.clone().flat_map(|p| pes.clone().map(move |q| (p, q)));
        let all = pairs.filter(|(p, q)| p != q).map(|(p, q)| distance(p, q));
        Self { num_pes, distance, greatest: all.max().unwrap(), has_triangle_inequality: false }
    }

    /// The same distances, in a table.
    fn matrix(&self) -> DistanceMatrix {
        DistanceMatrix::from_fn(self.num_pes, self.distance).unwrap()
    }
}

/// Distances that fit a byte, and others.
const DISTANCES: [fn(PeId, PeId) -> Distance; 3] = [
    |p, q| Distance::from(p.abs_diff(q)),
    |p, q| Distance::from((p.max(q) * 31 + p.min(q) * 17) % 100),
    |p, q| Distance::from((p ^ q) * 1000 + p.max(q)),
];

/// Every preset.
fn configs() -> impl Iterator<Item = Config> {
    MapPreset::ALL.into_iter().map(|preset| {
        let mut config = Config::preset(preset);
        // Few proposals: what is tested does not depend on how good a mapping is.
        let cooling = &mut config.one_to_one.improvement.anywhere.cooling;
        cooling.proposals = cooling.proposals.min(20);
        let multilevel = &mut config.one_to_one.construction.multilevel;
        multilevel.cooling.proposals = multilevel.cooling.proposals.min(40);
        multilevel.tries = multilevel.tries.min(2);
        let small_instance = &mut config.one_to_one.improvement.small_instance;
        small_instance.children = small_instance.children.min(4);
        config.one_to_one.improvement.anywhere.rounds = config.one_to_one.improvement.anywhere.rounds.min(2);
        config.one_to_one.improvement.rebuilding = config.one_to_one.improvement.rebuilding.min(20);
        config
    })
}

#[test]
fn a_machine_of_ones_own_is_mapped_to_as_its_matrix_is() {
    let mut rng = Rng::new(1);
    // Each preset with one kind of distances.
    let presets = [MapPreset::Fast, MapPreset::Eco, MapPreset::Fast];
    for ((distance, config), preset) in DISTANCES.into_iter().zip(configs()).zip(presets) {
        let own = Computed::new(13, distance);
        let matrix = own.matrix();
        for num_processes in [13, 10] {
            let graph = random_graph(num_processes, 4, 9, &mut rng);
            let config = config.with_seed(num_processes as u64);
            let (computed, stored) = (
                Request::new(&graph, &PreparedMachine::new(&own)).solve(&config),
                Request::new(&graph, &PreparedMachine::new(&matrix)).solve(&config),
            );
            let (computed, stored) = (computed.unwrap(), stored.unwrap());
            assert_eq!(computed.mapping, stored.mapping, "{config:?}");
            assert_eq!(computed.report.cost, stored.report.cost);
            let pe_of = computed.mapping.pes();
            assert_eq!(score(&graph, &own, pe_of).unwrap(), computed.report.cost);
        }
        let mesh = random_graph(60, 5, 9, &mut rng);
        let config = Config::preset(preset);
        let computed = solved!(&mesh, &own, &config, balanced(Balance::default()));
        assert_eq!(computed.mapping, solved!(&mesh, &matrix, &config, balanced(Balance::default())).mapping);
    }
}

#[test]
fn parts_of_a_machine_of_ones_own_have_its_distances() {
    let mut rng = Rng::new(2);
    for distance in DISTANCES {
        let own = Computed::new(30, distance);
        let mut list: Vec<PeId> = (0..30).collect();
        rng.shuffle(&mut list);
        list.truncate(12);
        let (computed, stored) =
            (Listed::new(own, list.clone()).unwrap(), Listed::new(own.matrix(), list.clone()).unwrap());
        let (few, table) = (computed.distances().unwrap(), stored.distances().unwrap());
        assert_eq!(few.num_pes(), 12);
        for (p, &of_p) in (0..).zip(&list) {
            for (q, &of_q) in (0..).zip(&list) {
                assert_eq!(few.distance(p, q), if p == q { 0 } else { distance(of_p, of_q) });
                assert_eq!(few.distance(p, q), table.distance(p, q));
            }
        }
        let graph = random_graph(12, 4, 9, &mut rng);
        let config = Config::default();
        assert_eq!(solved!(&graph, &computed, &config).mapping, solved!(&graph, &stored, &config).mapping);
    }
}

/// Distances that break the rules are bounded and made symmetric, so nothing panics.
#[test]
fn broken_rules_do_no_harm() {
    let asymmetric = |p: PeId, q: PeId| Distance::from(p * 7 + q);
    let negative = |p: PeId, q: PeId| -Distance::from(p.abs_diff(q)) - 1;
    let huge = |p: PeId, q: PeId| if p % 2 == q % 2 { Distance::MAX } else { Distance::MIN };
    let far_from_itself = |p: PeId, q: PeId| Distance::from(p == q) * 100;
    let mut rng = Rng::new(3);
    for distance in [asymmetric, negative, huge, far_from_itself] {
        for (greatest, has_triangle_inequality) in
            [(-5, false), (0, true), (50, true), (1000, false), (1000, true)]
        {
            let own = Computed { num_pes: 10, distance, greatest, has_triangle_inequality };
            let distances = own.distances().unwrap();
            for (p, q) in (0..10).flat_map(|p| (0..10).map(move |q| (p, q))) {
                assert!((0..=greatest.max(0)).contains(&distances.distance(p, q)));
                assert_eq!(distances.distance(p, q), distances.distance(q, p));
                assert!(p != q || distances.distance(p, q) == 0);
            }
            assert_eq!(distances.max_distance(), greatest.max(0));
            for config in configs() {
                let graph = random_graph(10, 4, 9, &mut rng);
                let mapping = solved!(&graph, &own, &config).mapping;
                assert_eq!(mapping.num_processes(), 10);
            }
            let mesh = random_graph(50, 5, 9, &mut rng);
            solved!(&mesh, &own, &Config::preset(MapPreset::Fast), balanced(Balance::default()));
        }
    }
    // Bounds so large that J could overflow are refused.
    let own = Computed { greatest: Distance::MAX, ..Computed::new(20, DISTANCES[0]) };
    let graph = random_graph(20, 4, 9, &mut rng);
    assert!(
        Request::new(&graph, &PreparedMachine::new(&own))
            .solve(&Config::default())
            .unwrap_err()
            .to_string()
            .contains("exceeds")
    );
    assert!(matches!(Distances::own(1 << 40, own), Err(MachineError::TooManyPes)));
}

/// Distances of another number of PEs than the machine has.
struct Contradictory(Computed, usize);

impl Machine for Contradictory {
    fn num_pes(&self) -> usize {
        self.1
    }
    fn distances(&self) -> Result<Distances, MachineError> {
        self.0.distances()
    }
}

#[test]
fn distances_of_another_number_of_pes_are_refused() {
    let mut rng = Rng::new(1);
    let (graph, pair) = (random_graph(6, 3, 9, &mut rng), random_graph(2, 1, 9, &mut rng));
    for num_pes in [5, 7] {
        let machine = Contradictory(Computed::new(6, DISTANCES[0]), num_pes);
        let message = format!("the machine has {num_pes} processing elements, but distances of 6");
        let listed = Listed::new(&machine, vec![0, 4]).unwrap();
        let outcomes = [
            Request::new(&pair, &PreparedMachine::new(&machine))
                .solve(&Config::default())
                .err()
                .map(|error| error.to_string()),
            Request::new(&pair, &PreparedMachine::new(&listed))
                .solve(&Config::default())
                .err()
                .map(|error| error.to_string()),
            Request::new(&graph, &PreparedMachine::new(&machine))
                .balanced(Balance::default())
                .solve(&Config::preset(MapPreset::Fast))
                .err()
                .map(|error| error.to_string()),
            score(&pair, &machine, &[0, 1]).err().map(|error| error.to_string()),
        ];
        for outcome in outcomes {
            let outcome = outcome.expect("an error");
            assert!(outcome.contains(&message), "{outcome}");
        }
    }
}
