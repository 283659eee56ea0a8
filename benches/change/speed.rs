//! The time of orders and bisections on large inputs.

use viem::base::rng::Rng;
use viem::graph::{Coordinates, CsrGraph, GraphBuilder, generate};
use viem::partition::{OrderIndex, PartitionAlgorithm, PartitionInput, PartitionQuality, Targets};

use super::Run;
use crate::common::{Stopwatch, Table, fail};

const POINTS: usize = 10_000_000;
const PARTS: usize = 1024;
/// Side length of the mesh for spectral bisection.
const SIDE: usize = 1000;
const SPECTRAL_PARTS: usize = 64;

pub(super) fn measure(run: &Run) {
    let table = Table::new([("what", 48), ("seconds", 8), ("cut edges", 9)]);
    let mut rng = Rng::new(1);
    let points = Coordinates::new(2, (0..2 * POINTS).map(|_| rng.unit()).collect());
    let points = points.unwrap_or_else(|error| fail(error));
    let edgeless = GraphBuilder::new(POINTS).build().unwrap_or_else(|error| fail(error));
    let input = PartitionInput::new(&edgeless).with_coordinates(&points);
    let targets =
        |graph: &CsrGraph, parts| Targets::equal(graph, parts, 0.0).unwrap_or_else(|error| fail(error));
    let order = |algorithm: PartitionAlgorithm| {
        let watch = Stopwatch::start(run.threads);
        let order = algorithm.order(&input).unwrap_or_else(|error| fail(error));
        table.row([
            format!("{algorithm}: order of 10^7 points"),
            format!("{:.2}", watch.seconds()),
            "-".to_owned(),
        ]);
        order
    };
    order(PartitionAlgorithm::ZCurve);
    let index = OrderIndex::of_order(&order(PartitionAlgorithm::Hilbert)).expect("an order of the vertices");
    let watch = Stopwatch::start(run.threads);
    let found = PartitionAlgorithm::Rcb.partition(&input, &targets(&edgeless, PARTS));
    assert!(found.is_ok());
    table.row([
        format!("rcb: 10^7 points, {PARTS} parts"),
        format!("{:.2}", watch.seconds()),
        "-".to_owned(),
    ]);
    for (kind, weights) in
        [("1", vec![1; POINTS]), ("1 to 9", (0..POINTS).map(|_| 1 + i64::from(rng.below(9))).collect())]
    {
        let speeds: Vec<u32> = (0..64).map(|_| 1 + rng.below(8)).collect();
        let mut builder = GraphBuilder::new(1);
        builder.set_node_weight(0, weights.iter().sum());
        let whole = builder.build().unwrap_or_else(|error| fail(error));
        let targets = Targets::proportional(&whole, &speeds, 0.0).unwrap_or_else(|error| fail(error));
        let watch = Stopwatch::start(run.threads);
        let blocks = index.cut(&weights, &targets);
        let seconds = watch.seconds();
        assert_eq!(blocks.len(), POINTS);
        table.row([
            format!("index: 10^7 vertices of weight {kind}, 64 parts"),
            format!("{seconds:.3}"),
            "-".to_owned(),
        ]);
    }
    drop((points, edgeless, index));
    let mesh = generate::mesh(SIDE, SIDE, 1);
    let watch = Stopwatch::start(run.threads);
    let targets = targets(&mesh, SPECTRAL_PARTS);
    let found = PartitionAlgorithm::Rsb
        .partition(&PartitionInput::new(&mesh), &targets)
        .unwrap_or_else(|error| fail(error));
    let seconds = watch.seconds();
    let quality = PartitionQuality::of(&mesh, found.blocks(), SPECTRAL_PARTS);
    table.row([
        format!("rsb: mesh of 10^6 vertices, {SPECTRAL_PARTS} parts"),
        format!("{seconds:.1}"),
        quality.cut_edges.to_string(),
    ]);
}
