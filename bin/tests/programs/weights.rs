//! Graphs whose vertices have several weights, as a user partitions, maps and scores them.

use crate::common::{Folder, says};

/// A grid of 16 x 16 vertices: each takes time 1, and the left half needs memory 3.
fn folder() -> Folder {
    let folder = Folder::new();
    let mut lines = vec!["256 480 010 2".to_owned()];
    for node in 0..256usize {
        let (x, y) = (node % 16, node / 16);
        let around = [(x > 0, node.wrapping_sub(1)), (x < 15, node + 1)];
        let around = around.into_iter().chain([(y > 0, node.wrapping_sub(16)), (y < 15, node + 16)]);
        let neighbours = around.filter(|(exists, _)| *exists).map(|(_, other)| format!(" {}", other + 1));
        lines.push(format!("1 {}{}", if x < 8 { 3 } else { 0 }, neighbours.collect::<String>()));
    }
    folder.write_lines("grid.graph", lines);
    folder
}

/// Time and memory of each block.
fn loads(blocks: &[usize], count: usize) -> Vec<(usize, usize)> {
    let mut loads = vec![(0, 0); count];
    for (node, &block) in blocks.iter().enumerate() {
        loads[block].0 += 1;
        loads[block].1 += if node % 16 < 8 { 3 } else { 0 };
    }
    loads
}

#[test]
fn all_weights_are_balanced_each_with_its_imbalance() {
    let folder = folder();
    let line = "viem partition grid.graph -k 4 --imbalance=0,25 --verify --json=report -o blocks";
    let text = folder.stdout(line);
    says(&text, ["weight 2 of a block: ", "verified: so are the loads by all 2 weights"]);
    let (blocks, report) = (folder.numbers("blocks"), folder.report("report"));
    let loads = loads(&blocks, 4);
    assert!(loads.iter().all(|&(time, memory)| time == 64 && memory <= 120), "{loads:?}");
    let greatest = loads.iter().map(|&(_, memory)| memory).max().unwrap();
    assert_eq!(report["loads_by_weight"][1]["greatest"], greatest);
    assert_eq!(report["loads_by_weight"][1]["bound"], 120);
    assert_eq!(report["options"]["imbalance"], serde_json::json!([0.0, 25.0]));
    let one = folder.stdout("viem partition grid.graph -k 4 --algorithm=linear -o blocks --json=report");
    assert!(!one.contains("weight 2"));
    assert!(folder.report("report")["loads_by_weight"].is_null());
}

#[test]
fn mappings_balance_and_score_all_weights() {
    let folder = folder();
    let on = "-m 4:2 -d 1:10 --imbalance=5";
    let text = folder.stdout(format!("viem map grid.graph {on} --verify --json=report -o mapping"));
    says(&text, ["weight 1 of a PE: ", "verified: so are the loads by all 2 weights"]);
    let loads = loads(&folder.numbers("mapping"), 8);
    assert!(loads.iter().all(|&(time, memory)| time <= 33 && memory <= 50), "{loads:?}");
    folder.stdout(format!("viem score grid.graph mapping {on} --json=score"));
    let (report, score) = (folder.report("report"), folder.report("score"));
    assert_eq!(report["loads_by_weight"], score["loads_by_weight"]);
    assert_eq!(report["cost"], score["cost"]);
}

#[test]
fn the_bound_that_is_exceeded_most_is_named() {
    let folder = Folder::with(&[("pair", "2 1 010 2\n1 9 2\n1 1 1\n"), ("fixed", "-1\n1\n")]);
    let text = folder.stderr("viem partition pair -k 2 --imbalance=0");
    says(
        &text,
        ["exceed their bounds by 4 in sum: weight 2 of the vertices exceeds its bound most, 1.80000 times"],
    );
    folder.stdout("viem partition pair -k 2 --imbalance=100 --fixed=fixed -o blocks");
    assert_eq!(folder.numbers("blocks"), [0, 1]);
}

#[test]
fn lists_of_another_length_and_other_ways_are_refused_or_said() {
    let folder = folder();
    let on = "viem partition grid.graph -k 4";
    folder.fails(
        format!("{on} --imbalance=1,2,3"),
        2,
        "--imbalance has 3 numbers, but each vertex has 2 weights",
    );
    folder.fails(format!("{on} --algorithm=linear --imbalance=1,2"), 2, "each vertex has 1 weight");
    folder.fails(format!("{on} --imbalance=1,-2"), 2, "is not a percentage of 0 or more");
    folder.fails(format!("{on} --imbalance=1,x"), 2, "--imbalance <PERCENT> is a number, not `1,x`");
    folder.write_lines("least", [1; 4]);
    folder.fails(format!("{on} --least-loads=least"), 2, "--least-loads is for vertices of one weight");
    folder.stdout(format!("{on} -o blocks"));
    let ignored = "grid.graph: each vertex has 2 weights, of which all but the first are ignored";
    for line in [
        "viem remap grid.graph blocks -k 4 --migration-weight=1 -o new",
        "viem partition grid.graph -k 4 --algorithm=linear -o new",
        "viem convert grid.graph -o new --format=parhip",
    ] {
        says(&folder.stderr(line), [ignored]);
    }
    folder.write("heavy", "2 1 010 2\n1 9223372036854775807 2\n1 1 1\n");
    folder.fails("viem partition heavy -k 2", 65, "heavy, line 3, column 1: ");
}

#[test]
fn conversions_keep_all_weights_where_the_format_has_them() {
    let folder = folder();
    folder.stdout("viem convert grid.graph -o kept --format=metis --json=report");
    let rows = |name: &str| {
        let row = |line: &str| {
            let mut row: Vec<usize> = line.split(' ').map(|word| word.parse().unwrap()).collect();
            row[2..].sort_unstable();
            row
        };
        folder.read(name).lines().skip(1).map(row).collect::<Vec<_>>()
    };
    assert_eq!(folder.read("kept").lines().next(), Some("256 480 10 2"));
    assert_eq!(rows("kept"), rows("grid.graph"));
    assert_eq!(folder.report("report")["num_weights"], 2);
    let text = folder.stdout("viem convert grid.graph -o first");
    says(&text, ["--format=metis keeps all weights"]);
    folder.stdout("viem convert first -o first.graph");
    assert_eq!(folder.read("first.graph").lines().next(), Some("256 480"));
}
