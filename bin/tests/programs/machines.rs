//! `viem` and `evaluator` on machines of every kind, as a user runs them.

use crate::common::{Folder, failure_of, instance, objective, random_graph, says, text_of};
use viem::base::rng::Rng;

/// A folder with a graph of 24 processes.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("graph", text_of(&random_graph(24, 5, 60, &mut Rng::new(3))));
    folder
}

/// Maps with `--verify` and evaluates the mapping; returns the report of the evaluator.
fn map_and_score(folder: &Folder, machine: &str) -> serde_json::Value {
    let options = "--verify --json=run --threads=1 --preset=fast";
    let text = folder.stdout(format!("viem map graph {options} {machine}"));
    let cost = objective(&text);
    says(&text, [format!("verified: J of the files is {cost} too")]);
    let options = "permutation --json=score";
    let text = folder.stdout(format!("viem score graph {options} {machine}"));
    assert_eq!(objective(&text), cost, "{machine}");
    let (run, mut score) = (folder.report("run"), folder.report("score"));
    score["seconds"].take();
    assert_eq!(run["cost_of_identity"], score["cost_of_identity"], "{machine}");
    assert_eq!(run["machine"], score["machine"]);
    assert!(run["cost"].as_i64() <= run["cost_of_identity"].as_i64());
    score
}

/// The sum of a field over all rows of a table.
fn sum(rows: &serde_json::Value, key: &str) -> i64 {
    rows.as_array().unwrap().iter().map(|row| row[key].as_i64().unwrap()).sum()
}

#[test]
fn every_kind_of_machine_is_mapped_to_verified_and_scored() {
    let folder = folder();
    let row = |p: i32| (0..30).map(|q| (p - q).abs().to_string()).collect::<Vec<_>>().join(" ");
    folder.write_lines("line.matrix", (0..30).map(row));
    let files = ["dragonfly_9x4x4.graph", "hypercube_8.tgt", "sub_tree_uneven_128.tgt"];
    let files = files.map(|name| instance(&format!("machines/{name}")).display().to_string());
    let specs = ["mesh:6x4", "torus:3x3x3", "hypercube:5", "complete:25", "line.matrix"];
    for spec in specs.into_iter().chain(files.iter().map(String::as_str)) {
        let score = map_and_score(&folder, &format!("'--machine={spec}'"));
        assert_eq!(score["machine"]["spec"], *spec);
        let rows = if score["levels"].is_null() { &score["by_distance"] } else { &score["levels"] };
        assert_eq!(sum(rows, "cost"), score["cost"].as_i64().unwrap(), "{spec}");
        let used = score["machine"]["num_pes"].as_u64().unwrap() as usize
            - score["empty_pes"].as_array().unwrap().len();
        assert!(used <= 24 && (used == 24 || spec.ends_with(".graph")), "{spec}: {used}");
    }
    let nodes = "--machine=torus:3x3/4 --distances=1:10";
    assert!(map_and_score(&folder, nodes)["levels"].is_null());
}

#[test]
fn a_tree_is_the_same_however_it_is_given() {
    let folder = folder();
    let distances = "--distances=1:10:100";
    let by_strings = map_and_score(&folder, &format!("--machine=4:3:2 {distances}"));
    for spec in ["4:3:2", "tree:4:3:2"] {
        let by_spec = map_and_score(&folder, &format!("--machine={spec} {distances}"));
        assert_eq!((&by_spec["cost"], &by_spec["levels"]), (&by_strings["cost"], &by_strings["levels"]));
        assert_eq!(by_spec["machine"]["hierarchy"], serde_json::json!([4, 3, 2]));
    }
    assert!(by_strings["machine"]["pes"].is_null() && by_strings["empty_pes"] == serde_json::json!([]));
}

#[test]
fn lists_of_pes_are_mapped_to_by_position() {
    let folder = folder();
    folder.write("job", "# two nodes and a half\n32-47, 8-15\n0\n");
    let tree = "--machine=8:8 --distances=1:10";
    let by_file = map_and_score(&folder, &format!("{tree} --pes=job"));
    let by_list = map_and_score(&folder, &format!("{tree} --pes=32-47,8-15,0"));
    assert_eq!(by_file, by_list);
    let numbers: Vec<u32> = (32..48).chain(8..16).chain([0]).collect();
    assert_eq!(by_file["machine"]["pes"], serde_json::json!(numbers));
    assert_eq!(by_file["empty_pes"].as_array().unwrap().len(), 1);
    // The PEs of a whole node, in order, are equivalent to that node; strings take lists too.
    let strings = "--machine=24:2 --distances=1:10 --pes=24-47";
    let node = map_and_score(&folder, strings);
    let whole = map_and_score(&folder, "--machine=complete:24");
    assert_eq!(node["cost"], whole["cost"]);
}

#[test]
fn mappings_to_machines_with_capacities_are_improved() {
    let folder = folder();
    // Twelve PEs for two processes each, in a star.
    let centre: String = (2..14).map(|vertex| format!("{vertex} 5 ")).collect();
    folder.write("star.graph", format!("13 12 11\n0 {centre}\n{}", "2 1 5\n".repeat(12)));
    folder.write_lines("start", (0..24).map(|process| process % 12));
    let score = |mapping: &str| {
        let line = format!("viem score graph --machine=star.graph {mapping}");
        objective(&folder.stdout(line))
    };
    let start = "viem map graph --machine=star.graph --initial=start";
    let text = folder.stdout(format!("{start} --verify --json=run --threads=1"));
    assert_eq!(objective(&text), score("permutation"));
    assert_eq!(folder.report("run")["cost_of_start"], score("start"));
    assert!(score("permutation") <= score("start"));
    folder.write("start", "3\n".repeat(24));
    folder.fails(start, 65, "start, line 3, column 1: PE 3 is full: it has room for 2");
}

#[test]
fn impossible_machines_are_rejected_with_a_reason_and_position() {
    let folder = folder();
    let next_to = |v: i32| format!("{} {}\n", (v + 4096) % 4097 + 1, (v + 1) % 4097 + 1);
    let ring: String = (0..4097).map(next_to).collect();
    folder.write("ring.graph", format!("4097 4097\n{ring}"));
    folder.write("comments", format!("{}hcub 5\n", "# why\n".repeat(11_000)));
    for (name, text) in [
        ("routers.graph", "2 1 11\n0 2 1\n0 1 1\n"),
        ("torn.tgt", "tleaf 3 8"),
        ("text", "hello world\n"),
        ("twice", "1-3\n2\n"),
        ("sub.tgt", "sub 1 0 cmplt 4294967295\n"),
    ] {
        folder.write(name, text);
    }
    let large = "a machine of 4294967295 processing elements needs";
    let unknown = "neither a file that exists nor one of";
    let stored = "the network has 4097 vertices between which distances are stored";
    let no_list = "0-11x: cannot be read: it is neither a list of numbers";
    let cases = [
        ("--machine=sub.tgt", 71, large),
        ("--machine=ring.graph", 65, stored),
        ("--machine=nothing", 2, unknown),
        ("--machine=tours:4x4 --distances=1", 2, unknown),
        ("--machine=complete:4294967295 --pes=0-23", 71, large),
        ("--machine=missing.tgt", 66, "missing.tgt: cannot be read"),
        ("--machine=mesh:8xa", 2, "`a` at column 8"),
        ("--machine=mesh:0x8", 2, "`0` at column 6"),
        ("--machine=4:16", 2, "needs 2 distances"),
        ("--machine=hypercube:5 --distances=1", 2, "its own distances"),
        ("--machine=torus:70000x70000", 2, "more than 4294967295"),
        ("--machine=complete:4294967295", 71, large),
        ("--machine=routers.graph", 65, "all are routers"),
        ("--machine=torn.tgt", 65, "torn.tgt, line 1"),
        ("--machine=text", 65, "text"),
        ("--machine=mesh:8x8 --pes=0-64", 2, "there is no processing element 0-64"),
        ("--machine=mesh:8x8 --pes=1,1", 2, "column 3: processing element 1 is listed before"),
        ("--machine=mesh:8x8 --pes=twice", 65, "twice, line 2, column 1"),
        ("--machine=mesh:8x8 --pes=missing", 66, "missing: cannot be read"),
        ("--machine=mesh:8x8 --pes=0-11x", 66, no_list),
        ("--machine=mesh:8x8 --pes=0:11", 66, "nor a file that is there"),
        ("--machine=mesh:8x8 --pes=", 2, "no processing element is listed"),
        ("--machine=mesh:3x8/", 2, "`` at column 10 is not a number of members"),
        ("--machine=comments", 65, "comments: the comments at the start are too long"),
        ("--machine=mesh:8x8 --machine=8:8", 2, "cannot be used multiple times"),
        ("--pes=0-3", 2, "--machine"),
        ("--machine=8:8", 2, "needs 2 distances"),
        ("--machine=- --pes=-", 2, "only one input can come from standard input"),
    ];
    for (options, code, expected) in cases {
        folder.fails(format!("viem map graph {options} --quiet"), code, expected);
        folder.fails(format!("viem score graph {options} permutation"), code, expected);
        assert!(!folder.has("permutation"), "{options}");
    }
}

/// If the content is ambiguous, or comments hide it, the name decides.
#[test]
fn file_extensions_identify_machines_in_any_case() {
    let folder = Folder::new();
    folder.write("graph", "3 1\n2\n1\n\n");
    // A leading number of rows could be the header of a graph.
    folder.write("D.MATRIX", "3 0 1 2\n1 0 3\n2 3 0\n");
    folder.write("cube.Tgt", format!("{}hcub 2\n", "# why\n".repeat(11_000)));
    for (machine, about) in [("D.MATRIX", "3 PEs"), ("cube.Tgt", "4 PEs")] {
        says(&folder.stdout(format!("viem map graph --verify --machine={machine}")), [about, "verified"]);
    }
}

#[test]
fn options_for_trees_are_rejected_elsewhere() {
    let folder = folder();
    let mesh = "viem map graph --machine=mesh:6x4";
    let of_trees = "hierarchybottomup works only on machines that are regular trees";
    folder.fails(format!("{mesh} --construction=hierarchybottomup"), 2, of_trees);
    let stored = format!("{mesh} --distance-construction=hierarchy");
    folder.fails(stored, 2, "is for regular trees only");
    for (machine, construction) in [("complete:24", "hierarchytopdown"), ("mesh:6x4", "multilevel")] {
        let options = "--json=run --preset=fast";
        folder.stdout(format!("viem map graph {options} --machine={machine}"));
        assert_eq!(folder.report("run")["options"]["construction"], construction);
    }
}

#[test]
fn no_output_overwrites_the_machine_or_the_list() {
    let folder = folder();
    folder.write("cube.tgt", "hcub 5\n");
    folder.write("job", "0-30\n");
    for output in ["--output=cube.tgt", "--json=job"] {
        let line = format!("viem map graph --machine=cube.tgt --pes=job {output}");
        folder.fails(line, 2, "would overwrite the input");
    }
    assert_eq!(folder.read("cube.tgt"), "hcub 5\n");
    let mut viem = folder.command("viem map graph --machine=- --verify");
    says(&failure_of(viem.write_stdin("hcub 5\n"), 2), ["--verify"]);
}

#[test]
fn a_cost_beyond_64_bits_is_rejected() {
    let folder = folder();
    let machine = "--machine=mesh:6x4 --distances=999999999999999999";
    folder.write_lines("start", 0..24);
    for line in ["viem map graph --quiet", "viem score graph start"] {
        folder.fails(format!("{line} {machine}"), 65, "J can be as large as");
    }
}

/// The machine of a file that `viem machine` writes is the machine that was given: mappings in order cost the same.
#[test]
fn machines_are_written_in_forms_that_are_read_again() {
    let folder = folder();
    folder.write_lines("start", 0..24);
    let score = |machine: &str| {
        let text = folder.stdout(format!("viem score graph start --machine={machine} --json=report"));
        assert_eq!(objective(&text), folder.report("report")["cost"].as_i64().unwrap());
        objective(&text)
    };
    for (machine, target) in [
        ("4:3:2 --distances=1:10:100", "tleaf 3 2 90 3 9 4 1\n"),
        ("mesh:6x4", "meshXD 2 6 4\n"),
        ("torus:3x4x2", "torusXD 3 3 4 2\n"),
        ("hypercube:5", "meshXD 5 2 2 2 2 2\n"),
        ("torus:3x4/2 --distances=1:10", "deco 0\n24 "),
        ("complete:24", "tleaf 1 24 1\n"),
        ("rails:2:3:4 --distances=1:2:3:4", "deco 0\n24 "),
    ] {
        let files = "--scotch=out.tgt --matrix=out.matrix --picture=out.svg --json=report";
        let text = folder.stdout(format!("viem machine {machine} {files}"));
        says(&text, ["written: out.svg, out.tgt, out.matrix"]);
        assert!(folder.read("out.tgt").starts_with(target), "{machine}: {}", folder.read("out.tgt"));
        let pairs = folder.report("report")["distances"].as_array().unwrap().clone();
        let counted: u64 = pairs.iter().map(|pairs| pairs["pairs"].as_u64().unwrap()).sum();
        let pes = folder.report("report")["machine"]["num_pes"].as_u64().unwrap();
        assert_eq!(counted, pes * (pes - 1), "{machine}");
        let cost = score(machine);
        assert_eq!((score("out.tgt"), score("out.matrix")), (cost, cost), "{machine}");
        assert!(folder.read("out.svg").starts_with("<svg "));
    }
}

#[test]
fn a_tree_is_written_as_hwloc_takes_it_and_printed_level_by_level() {
    let folder = Folder::new();
    let text = folder.stdout("viem machine 4:16:2 -d 1:10:100 --hwloc=topology");
    says(
        &text,
        [
            "machine: hierarchy 4:16:2, 128 PEs",
            "    3        2          128          100",
            "2 nodes of 64 PEs",
        ],
    );
    assert_eq!(folder.read("topology"), "group:2 package:16 core:4 pu:1\n");
    let lstopo = std::process::Command::new("lstopo-no-graphics")
        .args(["-i", folder.read("topology").trim(), "--only", "core"])
        .output();
    match lstopo {
        Ok(output) => assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 128),
        Err(_) => eprintln!("skipped: there is no lstopo-no-graphics"),
    }
    says(&folder.stdout("viem machine mesh:8x8"), ["distance   pairs of PEs", "           1"]);
    folder.fails("viem machine mesh:8x8 --hwloc=out", 2, "--hwloc is for regular trees");
    folder.fails(
        "viem machine mesh:200x200 --matrix=out",
        2,
        "the distances of 40000 PEs are too many to write",
    );
    folder.stdout("viem machine mesh:200x200 --scotch=out --picture=large.svg");
    assert_eq!(folder.read("out"), "meshXD 2 200 200\n");
    folder.write("m.tgt", "hcub 3\n");
    folder.fails("viem machine m.tgt --scotch=m.tgt", 2, "would overwrite the input");
}
