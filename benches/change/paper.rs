//! Tables 1 to 5 of Kaddoura, Ou and Ranka on their Graph 1, which is `3elt`: parts of unequal speeds.
//!
//! Speeds are drawn evenly from 1 to the ratio. Means over the ratios 1, 2, 3, 4 and 8 and all draws.

use std::path::Path;

use viem::base::rng::{Rng, derive};
use viem::graph::{Coordinates, CsrGraph};
use viem::partition::{
    Grouping, OrderIndex, PartitionAlgorithm, PartitionInput, PartitionPreset, PartitionQuality, Targets,
};
use viem_io::metis::NodeWeights;
use viem_io::{Source, coordinates};

use super::Run;
use crate::common::{Table, fail, read_graph};

const PARTS: [usize; 5] = [4, 5, 10, 15, 20];
const RATIOS: [u32; 5] = [1, 2, 3, 4, 8];

/// An algorithm, and the printed cut edges for each number of parts, if any.
struct Way {
    name: &'static str,
    algorithm: PartitionAlgorithm,
    /// True if an order is computed once and cut repeatedly.
    is_index: bool,
    printed: [[Option<f64>; 5]; 2],
}

/// The printed values with simple grouping and with bin packing.
const fn printed(simple: [f64; 5], packed: [f64; 5]) -> [[Option<f64>; 5]; 2] {
    let mut cells = [[None; 5]; 2];
    let mut place = 0;
    while place < 5 {
        cells[0][place] = Some(simple[place]);
        cells[1][place] = Some(packed[place]);
        place += 1;
    }
    cells
}

const NOT_PRINTED: [[Option<f64>; 5]; 2] = [[None; 5]; 2];

const WAYS: [Way; 9] = [
    Way {
        name: "rsb",
        algorithm: PartitionAlgorithm::Rsb,
        is_index: false,
        printed: printed([269.0, 343.0, 530.0, 726.0, 861.0], [269.0, 313.0, 544.0, 724.0, 880.0]),
    },
    Way {
        name: "rcb",
        algorithm: PartitionAlgorithm::Rcb,
        is_index: false,
        printed: printed([413.0, 736.0, 1143.0, 1544.0, 1876.0], [423.0, 736.0, 1149.0, 1662.0, 1960.0]),
    },
    Way {
        name: "hilbert",
        algorithm: PartitionAlgorithm::Hilbert,
        is_index: false,
        printed: printed([569.0, 661.0, 962.0, 1200.0, 1395.0], [590.0, 664.0, 969.0, 1227.0, 1396.0]),
    },
    Way { name: "zcurve", algorithm: PartitionAlgorithm::ZCurve, is_index: false, printed: NOT_PRINTED },
    Way {
        name: "multilevel",
        algorithm: PartitionAlgorithm::Multilevel,
        is_index: false,
        printed: NOT_PRINTED,
    },
    Way { name: "linear", algorithm: PartitionAlgorithm::Linear, is_index: false, printed: NOT_PRINTED },
    Way {
        name: "rsb index",
        algorithm: PartitionAlgorithm::Rsb,
        is_index: true,
        printed: printed([388.0, 489.0, 798.0, 1059.0, 1244.0], [364.0, 485.0, 764.0, 1017.0, 1211.0]),
    },
    Way { name: "rcb index", algorithm: PartitionAlgorithm::Rcb, is_index: true, printed: NOT_PRINTED },
    Way {
        name: "multilevel index",
        algorithm: PartitionAlgorithm::Multilevel,
        is_index: true,
        printed: NOT_PRINTED,
    },
];

/// The printed values of both curves for parts of equal speed (Table 1).
const EQUAL: [(&str, [f64; 5]); 2] =
    [("hilbert", [620.0, 604.0, 868.0, 1157.0, 1346.0]), ("zcurve", [687.0, 748.0, 1090.0, 1479.0, 1566.0])];

pub(super) fn measure(run: &Run) {
    let Ok(folder) = std::env::var("VIEM_GRAPHS") else {
        return println!("paper: set VIEM_GRAPHS to a folder with 3elt.graph and 3elt.xyz");
    };
    let graph = read_graph(&Path::new(&folder).join("3elt.graph"), NodeWeights::Read);
    let source = Source::open(&Path::new(&folder).join("3elt.xyz")).unwrap_or_else(|error| fail(error));
    let points = coordinates::read(source, graph.num_nodes()).unwrap_or_else(|error| fail(error));
    let columns =
        [("way, grouping", 28), ("parts", 5), ("edges", 8), ("setups", 6), ("printed", 8), ("over it", 7)];
    let table = Table::new(columns);
    let is_asked =
        |way: &&Way| run.ways.is_empty() || run.ways.iter().any(|name| name == way.algorithm.name());
    for way in WAYS.iter().filter(is_asked) {
        let groupings = if way.algorithm.is_recursive() && !way.is_index {
            &Grouping::ALL[..]
        } else {
            &Grouping::ALL[..1]
        };
        for (&grouping, printed) in groupings.iter().zip(&way.printed) {
            rows(&table, (&graph, &points), way, grouping, (&RATIOS, printed), run);
        }
    }
    for (name, printed) in EQUAL {
        let Some(way) = WAYS.iter().filter(is_asked).find(|way| way.name == name) else { continue };
        rows(&table, (&graph, &points), way, Grouping::Simple, (&[1], &printed.map(Some)), run);
    }
}

/// One row for each number of parts.
fn rows(
    table: &Table,
    (graph, points): (&CsrGraph, &Coordinates),
    way: &Way,
    grouping: Grouping,
    (ratios, printed): (&[u32], &[Option<f64>; 5]),
    run: &Run,
) {
    let input = PartitionInput::new(graph)
        .with_coordinates(points)
        .with_grouping(grouping)
        .with_preset(PartitionPreset::Eco);
    let order = way.is_index.then(|| way.algorithm.order(&input).unwrap_or_else(|error| fail(error)));
    let index = order.map(|order| OrderIndex::of_order(&order).expect("an order of the vertices"));
    for (&parts, printed) in PARTS.iter().zip(printed) {
        let [edges, setups] = means(&input, way, index.as_ref(), ratios, parts, run.draws);
        let cell =
            |value: Option<f64>, digits| value.map_or("-".to_owned(), |value| format!("{value:.digits$}"));
        let label =
            format!("{}, {}{}", way.name, grouping.name(), if ratios.len() == 1 { ", equal" } else { "" });
        table.row([
            label,
            parts.to_string(),
            format!("{edges:.0}"),
            format!("{setups:.1}"),
            cell(*printed, 0),
            cell(printed.map(|printed| edges / printed), 3),
        ]);
    }
}

/// Mean cut edges and setups over this number of draws of speeds for each ratio.
fn means(
    input: &PartitionInput<'_>,
    way: &Way,
    index: Option<&OrderIndex>,
    ratios: &[u32],
    parts: usize,
    draws: u64,
) -> [f64; 2] {
    let (mut edges, mut setups, mut count) = (0.0, 0.0, 0.0);
    for &ratio in ratios {
        // Equal speeds are the same in every draw.
        let (different, weight) = if ratio == 1 { (1, draws as f64) } else { (draws, 1.0) };
        for draw in 0..different {
            let seed = derive(derive(parts as u64, u64::from(ratio)), draw);
            let targets = Targets::proportional(input.graph, &speeds(parts, ratio, seed), 0.0);
            let targets = targets.unwrap_or_else(|error| fail(error));
            let blocks = match index {
                Some(index) => index.cut(input.graph.node_weights(), &targets),
                None => {
                    let found = way.algorithm.partition(&input.with_seed(seed), &targets);
                    found.unwrap_or_else(|error| fail(error)).into_blocks()
                }
            };
            let quality = PartitionQuality::of(input.graph, &blocks, parts);
            assert_eq!(quality.loads, targets.block_sizes());
            edges += weight * quality.cut_edges as f64;
            setups += weight * quality.setups as f64;
            count += weight;
        }
    }
    [edges / count, setups / count]
}

/// Speeds whose largest ratio is about the given one.
fn speeds(parts: usize, ratio: u32, seed: u64) -> Vec<u32> {
    let mut rng = Rng::new(seed);
    (0..parts).map(|_| 1000 + rng.below(1000 * (ratio - 1) + 1)).collect()
}
