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

/// Time and memory of each node of four PEs.
fn of_nodes(loads: &[(usize, usize)]) -> Vec<(usize, usize)> {
    loads.chunks(4).map(|pes| pes.iter().fold((0, 0), |sum, pe| (sum.0 + pe.0, sum.1 + pe.1))).collect()
}

#[test]
fn each_weight_has_its_capacities() {
    let folder = folder();
    let given = "--capacities=1,1,1,1 --capacities=3,1,1,1 --imbalance=5 --verify --json=report";
    folder.write("memory", "3\n1\n1\n1\n");
    for line in [
        format!("viem partition grid.graph {given} -o blocks"),
        format!("viem remap grid.graph blocks --migration-weight=1 {given} -o blocks"),
        format!("viem map grid.graph -m 2:2 -d 1:10 {} -o blocks", given.replace("3,1,1,1", "memory")),
    ] {
        folder.stdout(&line);
        let loads = loads(&folder.numbers("blocks"), 4);
        let bounds = [201, 69, 69, 69];
        let keep = |(&(time, memory), bound): (&(usize, usize), usize)| time <= 67 && memory <= bound;
        assert!(loads.iter().zip(bounds).all(keep), "{line}: {loads:?}");
        assert!(loads[0].1 > 69, "{line}: {loads:?}");
        if !line.contains(" map ") {
            // Of the first weight, of which all blocks have an equal share.
            let greatest = loads.iter().map(|&(time, _)| time).max().unwrap();
            assert_eq!(folder.report("report")["quality"]["balance"], greatest as f64 / 64.0, "{line}");
        }
        let names = match line.contains(" map ") {
            true => serde_json::json!(["1,1,1,1", "memory"]),
            false => serde_json::json!([[1, 1, 1, 1], [3, 1, 1, 1]]),
        };
        assert_eq!(folder.report("report")["options"]["capacities"], names, "{line}");
    }
    let on = "viem partition grid.graph";
    folder.fails(
        format!("{on} --capacities=1,1 --capacities=1"),
        2,
        "2 numbers for one weight, and 1 for another",
    );
    let thrice = "--capacities=1,1 --capacities=1,1 --capacities=1,1";
    let reason =
        "--capacities is given 3 times, but each vertex has 2 weights; give it once, or once for each";
    folder.fails(format!("{on} {thrice}"), 2, reason);
    folder.fails(format!("{on} --capacities=1,1 --capacities=0,0"), 2, "every block has speed 0");
}

#[test]
fn nodes_have_capacities_beside_those_of_pes() {
    let folder = folder();
    let on = "-m 4:2 -d 1:10 --imbalance=3,none --node-capacity=none --node-capacity";
    folder.write("memory", "120\n300\n");
    folder.write_lines("old", (0..256).map(|node| node / 32));
    for line in [
        format!("viem map grid.graph {on}=120,300 -o mapping"),
        format!("viem map grid.graph {on}=memory -o mapping"),
        format!("viem remap grid.graph old --migration-weight=1 {on}=memory -o mapping"),
    ] {
        let text = folder.stdout(format!("{line} --verify --json=report"));
        says(&text, ["weight 2 of a node: ", "; bound 300", "verified: so are the loads of the nodes"]);
        let loads = loads(&folder.numbers("mapping"), 8);
        let nodes = of_nodes(&loads);
        assert!(loads.iter().all(|&(time, _)| time == 32), "{line}: {loads:?}");
        assert!(nodes[0].1 <= 120 && nodes[1].1 <= 300, "{line}: {nodes:?}");
        let report = folder.report("report");
        assert!(report["loads_by_weight"][0]["nodes"].is_null());
        assert_eq!(report["loads_by_weight"][1]["nodes"]["greatest"], nodes[0].1.max(nodes[1].1));
        folder.stdout(format!("viem score grid.graph mapping {on}=120,300 --json=score"));
        assert_eq!(report["loads_by_weight"], folder.report("score")["loads_by_weight"]);
    }
    // All memory together is 384.
    let text = folder.stderr(format!("viem map grid.graph {on}=100 -o mapping --verify"));
    let exceeded = "PEs and nodes exceed their bounds by 184 in total: weight 2 of the vertices exceeds its bound of a node most";
    says(&text, [exceeded]);
}

#[test]
fn nodes_have_capacities_of_one_weight_too_and_wrong_ones_are_refused() {
    let folder = folder();
    folder.stdout("viem convert grid.graph -o plain.graph");
    folder.stdout(
        "viem map plain.graph -m 4:2 -d 1:10 --imbalance=none --node-capacity=100,200 -o mapping --verify",
    );
    let nodes = of_nodes(&loads(&folder.numbers("mapping"), 8));
    assert!(nodes[0].0 <= 100 && nodes[1].0 <= 200, "{nodes:?}");
    let on = "viem map grid.graph -m 4:2 -d 1:10";
    folder.write("memory", "120\n-3\n");
    for (options, code, reason) in [
        ("--node-capacity=5", 2, "--node-capacity is given 1 time, but each vertex has 2 weights"),
        ("--node-capacity=none --node-capacity=1,2,3", 2, "has 3 numbers, but the machine has 2 nodes"),
        ("--node-capacity=none --node-capacity=1,-2", 2, "`1,-2` is not a list of whole numbers from 0 on"),
        (
            "--node-capacity=none --node-capacity=memory",
            65,
            "memory, line 2, column 1: `-3` is not a capacity",
        ),
        ("--node-capacity=none --node-capacity=missing", 66, "missing"),
        ("--imbalance=inf", 2, "is not a percentage of 0 or more"),
    ] {
        folder.fails(format!("{on} {options}"), code, reason);
    }
    let into = "viem remap grid.graph mapping -k 8 --migration-weight=1 --node-capacity=5";
    folder.fails(into, 2, "--node-capacity");
}

#[test]
fn remapping_keeps_all_weights_balanced_and_moves_little() {
    let folder = folder();
    folder.write_lines("old", (0..256).map(|node| node / 64));
    // What is on the left takes memory: the rows of a block have as much of it as others.
    for line in [
        "viem remap grid.graph old -k 4 --migration-weight=10 --imbalance=5 -o new",
        "viem remap grid.graph old -m 2:2 -d 1:10 --migration-weight=10 --imbalance=5 -o new",
    ] {
        let text = folder.stdout(format!("{line} --verify --json=report"));
        says(&text, ["verified: so are the loads by all 2 weights", "verified: so is the migration"]);
        assert_eq!(folder.report("report")["migration"]["vertices"], 0, "{line}");
    }
    folder.write_lines("columns", (0..256).map(|node| node % 16 / 4));
    let line = "viem remap grid.graph columns -k 4 --migration-weight=5 --imbalance=5,10 -o new --verify --json=report";
    let text = folder.stdout(line);
    assert!(!text.contains("ignored"), "{text}");
    let loads = loads(&folder.numbers("new"), 4);
    assert!(loads.iter().all(|&(time, memory)| time <= 67 && memory <= 105), "{loads:?}");
    let report = folder.report("report");
    let moved = report["migration"]["vertices"].as_u64().unwrap();
    // Half of the memory of the left blocks must leave.
    assert!((58..180).contains(&moved), "{moved}");
    assert_eq!(report["loads_by_weight"][1]["overload"], 0);
}

#[test]
fn each_weight_has_its_least_loads() {
    let folder = folder();
    folder.write_lines("memory", [20, 0, 0, 90]);
    let limits = "--imbalance=100,300 --least-loads=none --least-loads=memory --verify --json=report";
    folder.write_lines("old", (0..256).map(|node| node / 64));
    for line in [
        "partition grid.graph -k 4 -o parts",
        "map grid.graph -m 2:2 -d 1:10 -o parts",
        "remap grid.graph old -m 2:2 -d 1:10 --migration-weight=0.01 -o parts",
    ] {
        folder.stdout(format!("viem {line} {limits}"));
        let (loads, report) = (loads(&folder.numbers("parts"), 4), folder.report("report"));
        assert!(loads[0].1 >= 20 && loads[3].1 >= 90, "{line}: {loads:?}");
        assert_eq!(report["options"]["least_loads"], serde_json::json!(["none", "memory"]));
    }
    let score = "viem score grid.graph columns -m 2:2 -d 1:10 --imbalance=100,300 --json=report";
    folder.write_lines("much", [0, 96, 0, 0]);
    folder.write_lines("columns", (0..256).map(|node| if node % 16 < 8 { 0 } else { 1 + node / 86 }));
    folder.stdout(format!("{score} --least-loads=none --least-loads=much"));
    assert_eq!(folder.report("report")["loads_by_weight"][1]["shortfall"], 96);
}

#[test]
fn a_mapping_by_several_weights_begins_where_it_should() {
    let folder = folder();
    let on = "viem map grid.graph -m 4:2 -d 1:10 --imbalance=5 --json=report";
    folder.stdout(format!("{on} --preset=strong -o slow"));
    let slow = folder.report("report")["cost"].as_i64().unwrap();
    folder.stdout(format!("{on} --preset=fast --initial=slow -o quick --verify"));
    let report = folder.report("report");
    assert!(report["cost"].as_i64().unwrap() <= slow && report["cost_of_start"] == slow, "{report}");
    assert_eq!(report["loads_by_weight"][1]["overload"], 0);
    folder.stdout(format!("{on} --construction=linear --neighbourhood=none -o rows --verify"));
    assert_eq!(folder.numbers("rows"), (0..256).map(|node| node / 32).collect::<Vec<_>>());
    folder.stdout(format!("{on} --construction=linear -o found --verify"));
    assert_eq!(folder.report("report")["loads_by_weight"][1]["overload"], 0);
}

/// Each process on a PE of its own, and no node beyond its memory.
#[test]
fn one_to_one_mappings_keep_the_memory_of_nodes() {
    let folder = folder();
    let on = "viem map grid.graph -m 16:16 -d 1:10 --one-to-one --node-capacity=none";
    folder.stdout(format!("{on} --node-capacity=1000 -o loose --verify --json=loose.json"));
    folder.write(
        "plain.graph",
        folder.read("grid.graph").lines().enumerate().fold(String::new(), |text, (number, line)| {
            let kept = if number == 0 { "256 480" } else { line.splitn(3, ' ').nth(2).unwrap_or("") };
            text + kept + "\n"
        }),
    );
    folder.stdout("viem map plain.graph -m 16:16 -d 1:10 -o plain");
    assert_eq!(folder.numbers("loose"), folder.numbers("plain"));
    let text = folder.stdout(format!("{on} --node-capacity=30 -o tight --verify --json=tight.json"));
    says(&text, ["one-to-one mapping within bounds of the weights", "verified"]);
    let mut tight = folder.numbers("tight");
    let nodes: Vec<usize> = tight.iter().map(|pe| pe / 16).collect();
    assert!(loads(&nodes, 16).iter().all(|&(count, memory)| count == 16 && memory <= 30));
    tight.sort_unstable();
    assert!(tight.into_iter().eq(0..256));
    let (loose, tight) = (folder.report("loose.json"), folder.report("tight.json"));
    assert_eq!(tight["options"]["one_to_one"], true);
    assert!(tight["cost"].as_i64() > loose["cost"].as_i64());
    let text = folder.stderr(format!("{on} --node-capacity=20 -o tight"));
    says(&text, ["exceed"]);
    folder.fails(format!("{on} --node-capacity=30 --connected"), 2, "blocks are connected where");
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
    folder.fails(
        format!("{on} --least-loads=least"),
        2,
        "--least-loads is given 1 time, but each vertex has 2 weights; give it once for each",
    );
    folder.fails(format!("{on} --least-loads=none --least-loads=missing"), 66, "missing");
    let bottleneck = "viem map grid.graph -m 4:2 -d 1:10 --objective=bottleneck";
    folder.fails(bottleneck, 2, "where vertices have several weights, there is no secondary objective");
    let ignored = "grid.graph: each vertex has 2 weights, of which all but the first are ignored";
    for line in [
        "viem partition grid.graph -k 4 --algorithm=linear -o new",
        "viem convert grid.graph -o new --format=parhip",
    ] {
        says(&folder.stderr(line), [ignored]);
    }
    folder.write("heavy", "2 1 010 2\n1 9223372036854775807 2\n1 1 1\n");
    folder.fails("viem partition heavy -k 2", 65, "heavy, line 3, column 1: ");
}

#[test]
fn an_imbalance_may_be_that_of_each_division() {
    let folder = folder();
    let rows = (1..=64).map(|v: u32| {
        let next: Vec<u32> = [v - 1, v + 1].into_iter().filter(|&other| (1..=64).contains(&other)).collect();
        let next: Vec<String> = next.iter().map(u32::to_string).collect();
        format!("{} {}", 1 + 13 * v % 40, next.join(" "))
    });
    let rows: Vec<String> = std::iter::once("64 63 10".to_owned()).chain(rows).collect();
    folder.write_lines("heavy.graph", rows);
    let on = |imbalance: &str, out: &str| {
        folder.stdout(format!(
            "viem partition heavy.graph -k 16 --imbalance={imbalance} -o {out} --json={out}.json --verify"
        ));
        let report = folder.report(&format!("{out}.json"));
        (report["options"].clone(), report["loads"].clone())
    };
    let (strict, wide) = (on("3", "strict"), on("3/division", "wide"));
    assert_eq!(
        (&strict.0["imbalance_per_division"], &wide.0["imbalance_per_division"]),
        (&serde_json::Value::Null, &true.into())
    );
    assert!(wide.1["bound"].as_u64() > strict.1["bound"].as_u64());
    folder.stdout("viem map heavy.graph -m 4:4 -d 1:10 --imbalance=3/division -o pes --verify");
    folder.stdout("viem score heavy.graph pes -m 4:4 -d 1:10 --imbalance=3/division");
    folder.fails("viem partition heavy.graph -k 4 --imbalance=3/block", 2, "--imbalance <PERCENT> is");
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
