//! `viem` and `evaluator` on machines of every kind, as a user runs them.

use std::fs;
use std::path::Path;

use crate::common::{failure_of, instance, objective, program, random_graph, report_in, stdout_of, text_of};
use viem::ground::rng::Rng;

/// A folder with a graph of 24 processes.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let graph = random_graph(24, 5, 60, &mut Rng::new(3));
    fs::write(folder.path().join("graph"), text_of(&graph)).unwrap();
    folder
}

/// Maps with `--verify` and evaluates the mapping; returns the report of the evaluator.
fn map_and_score(folder: &Path, machine: &[&str]) -> serde_json::Value {
    let mut viem = program("viem", folder);
    viem.args(["graph", "--verify", "--json=run", "--threads=1", "--preconfiguration_mapping=fast"]);
    let text = stdout_of(viem.args(machine));
    let cost = objective(&text);
    assert!(text.contains(&format!("verified: J of the files is {cost} too")), "{text}");
    let mut evaluator = program("evaluator", folder);
    evaluator.args(["graph", "--input_mapping=permutation", "--json=score"]);
    assert_eq!(objective(&stdout_of(evaluator.args(machine))), cost, "{machine:?}");
    let (run, mut score) = (report_in(&folder.join("run")), report_in(&folder.join("score")));
    score["seconds"].take();
    assert_eq!(run["cost_of_identity"], score["cost_of_identity"], "{machine:?}");
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
    let files = ["dragonfly_9x4x4.graph", "hypercube_8.tgt", "sub_tree_uneven_128.tgt"];
    let files: Vec<String> =
        files.map(|name| instance(&format!("machines/{name}")).display().to_string()).to_vec();
    let matrix: String = (0..30i32)
        .map(|p| (0..30i32).map(|q| format!("{} ", (p - q).abs())).collect::<String>() + "\n")
        .collect();
    fs::write(folder.path().join("line.matrix"), matrix).unwrap();
    let specs = ["mesh:6x4", "torus:3x3x3", "hypercube:5", "complete:25", "line.matrix"];
    for spec in specs.into_iter().chain(files.iter().map(String::as_str)) {
        let score = map_and_score(folder.path(), &[&format!("--machine={spec}")]);
        assert_eq!(score["machine"]["spec"], *spec);
        let rows = if score["levels"].is_null() { &score["by_distance"] } else { &score["levels"] };
        assert_eq!(sum(rows, "cost"), score["cost"].as_i64().unwrap(), "{spec}");
        let used = score["machine"]["num_pes"].as_u64().unwrap() as usize
            - score["empty_pes"].as_array().unwrap().len();
        assert!(used <= 24 && (used == 24 || spec.ends_with(".graph")), "{spec}: {used}");
    }
    let nodes = ["--machine=torus:3x3/4", "--distance_parameter_string=1:10"];
    assert!(map_and_score(folder.path(), &nodes)["levels"].is_null());
}

#[test]
fn a_tree_is_the_same_however_it_is_given() {
    let folder = folder();
    let strings = ["--hierarchy_parameter_string=4:3:2", "--distance_parameter_string=1:10:100"];
    let by_strings = map_and_score(folder.path(), &strings);
    for spec in ["--machine=4:3:2", "--machine=tree:4:3:2"] {
        let by_spec = map_and_score(folder.path(), &[spec, strings[1]]);
        assert_eq!((&by_spec["cost"], &by_spec["levels"]), (&by_strings["cost"], &by_strings["levels"]));
        assert_eq!(by_spec["machine"]["hierarchy"], serde_json::json!([4, 3, 2]));
    }
    assert!(by_strings["machine"]["pes"].is_null() && by_strings["empty_pes"] == serde_json::json!([]));
}

#[test]
fn lists_of_pes_are_mapped_to_by_position() {
    let folder = folder();
    fs::write(folder.path().join("job"), "# two nodes and a half\n32-47, 8-15\n0\n").unwrap();
    let tree = ["--machine=8:8", "--distance_parameter_string=1:10"];
    let by_file = map_and_score(folder.path(), &[tree[0], tree[1], "--pes=job"]);
    let by_list = map_and_score(folder.path(), &[tree[0], tree[1], "--pes=32-47,8-15,0"]);
    assert_eq!(by_file, by_list);
    let numbers: Vec<u32> = (32..48).chain(8..16).chain([0]).collect();
    assert_eq!(by_file["machine"]["pes"], serde_json::json!(numbers));
    assert_eq!(by_file["empty_pes"].as_array().unwrap().len(), 1);
    // The PEs of a whole node, in order, are equivalent to that node; strings take lists too.
    let strings = ["--hierarchy_parameter_string=24:2", "--distance_parameter_string=1:10", "--pes=24-47"];
    let node = map_and_score(folder.path(), &strings);
    assert_eq!(node["cost"], map_and_score(folder.path(), &["--machine=complete:24"])["cost"]);
}

#[test]
fn mappings_to_machines_with_capacities_are_improved() {
    let folder = folder();
    // Twelve PEs for two processes each, in a star.
    let pes: String = (0..12).map(|_| "2 1 5\n").collect();
    let centre: String = (2..14).map(|vertex| format!("{vertex} 5 ")).collect();
    fs::write(folder.path().join("star.graph"), format!("13 12 11\n0 {centre}\n{pes}")).unwrap();
    let start: String = (0..24).map(|process| format!("{}\n", process % 12)).collect();
    fs::write(folder.path().join("start"), start).unwrap();
    let machine = "--machine=star.graph";
    let score = |mapping: &str| {
        let mut evaluator = program("evaluator", folder.path());
        objective(&stdout_of(evaluator.args(["graph", machine, "--input_mapping", mapping])))
    };
    let mut viem = program("viem", folder.path());
    viem.args(["graph", machine, "--input_mapping=start", "--verify", "--json=run", "--threads=1"]);
    assert_eq!(objective(&stdout_of(&mut viem)), score("permutation"));
    assert_eq!(report_in(&folder.path().join("run"))["cost_of_start"], score("start"));
    assert!(score("permutation") <= score("start"));
    fs::write(folder.path().join("start"), "3\n".repeat(24)).unwrap();
    let mut viem = program("viem", folder.path());
    let message = failure_of(viem.args(["graph", machine, "--input_mapping=start"]), 65);
    assert!(message.contains("start, line 3, column 1: PE 3 is full: it has room for 2"), "{message}");
}

#[test]
fn impossible_machines_are_rejected_with_a_reason_and_position() {
    let folder = folder();
    fs::write(folder.path().join("routers.graph"), "2 1 11\n0 2 1\n0 1 1\n").unwrap();
    fs::write(folder.path().join("torn.tgt"), "tleaf 3 8").unwrap();
    fs::write(folder.path().join("text"), "hello world\n").unwrap();
    fs::write(folder.path().join("twice"), "1-3\n2\n").unwrap();
    fs::write(folder.path().join("comments"), format!("{}hcub 5\n", "# why\n".repeat(11_000))).unwrap();
    fs::write(folder.path().join("sub.tgt"), "sub 1 0 cmplt 4294967295\n").unwrap();
    let next_to = |v: i32| format!("{} {}\n", (v + 4096) % 4097 + 1, (v + 1) % 4097 + 1);
    let ring: String = (0..4097).map(next_to).collect();
    fs::write(folder.path().join("ring.graph"), format!("4097 4097\n{ring}")).unwrap();
    let cases: [(&[&str], i32, &str); 28] = [
        (&["--machine=sub.tgt"], 71, "a machine of 4294967295 processing elements needs"),
        (&["--machine=ring.graph"], 65, "the network has 4097 vertices between which distances are stored"),
        (&["--machine=nothing"], 2, "neither a file that exists nor one of"),
        (
            &["--machine=tours:4x4", "--distance_parameter_string=1"],
            2,
            "neither a file that exists nor one of",
        ),
        (
            &["--machine=complete:4294967295", "--pes=0-23"],
            71,
            "a machine of 4294967295 processing elements needs",
        ),
        (&["--machine=missing.tgt"], 66, "missing.tgt: cannot be read"),
        (&["--machine=mesh:8xa"], 2, "`a` at column 8"),
        (&["--machine=mesh:0x8"], 2, "`0` at column 6"),
        (&["--machine=4:16"], 2, "needs 2 distances"),
        (&["--machine=hypercube:5", "--distance_parameter_string=1"], 2, "its own distances"),
        (&["--machine=torus:70000x70000"], 2, "more than 4294967295"),
        (&["--machine=complete:4294967295"], 71, "a machine of 4294967295 processing elements needs"),
        (&["--machine=routers.graph"], 65, "all are routers"),
        (&["--machine=torn.tgt"], 65, "torn.tgt, line 1"),
        (&["--machine=text"], 65, "text"),
        (&["--machine=mesh:8x8", "--pes=0-64"], 2, "there is no processing element 0-64"),
        (&["--machine=mesh:8x8", "--pes=1,1"], 2, "column 3: processing element 1 is listed before"),
        (&["--machine=mesh:8x8", "--pes=twice"], 65, "twice, line 2, column 1"),
        (&["--machine=mesh:8x8", "--pes=missing"], 66, "missing: cannot be read"),
        (
            &["--machine=mesh:8x8", "--pes=0-11x"],
            66,
            "0-11x: cannot be read: it is neither a list of numbers",
        ),
        (&["--machine=mesh:8x8", "--pes=0:11"], 66, "nor a file that is there"),
        (&["--machine=mesh:8x8", "--pes="], 2, "no processing element is listed"),
        (&["--machine=mesh:3x8/"], 2, "`` at column 10 is not a number of members"),
        (&["--machine=comments"], 65, "comments: the comments at the start are too long"),
        (&["--machine=mesh:8x8", "--hierarchy_parameter_string=8:8"], 2, "cannot be used with"),
        (&["--pes=0-3"], 2, "--hierarchy_parameter_string"),
        (&["--hierarchy_parameter_string=8:8"], 2, "--distance_parameter_string"),
        (&["--machine=-", "--pes=-"], 2, "only one input can come from standard input"),
    ];
    for (options, code, what) in cases {
        for (name, more) in [("viem", "--quiet"), ("evaluator", "--input_mapping=permutation")] {
            let mut command = program(name, folder.path());
            let message = failure_of(command.arg("graph").args(options).arg(more), code);
            assert!(message.contains(what), "{name} {options:?}: {message}");
            assert!(!folder.path().join("permutation").exists());
        }
    }
}

/// If the content is ambiguous, or comments hide it, the name decides.
#[test]
fn file_extensions_identify_machines_in_any_case() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("graph"), "3 1\n2\n1\n\n").unwrap();
    // A leading number of rows could be the header of a graph.
    fs::write(path("D.MATRIX"), "3 0 1 2\n1 0 3\n2 3 0\n").unwrap();
    fs::write(path("cube.Tgt"), format!("{}hcub 2\n", "# why\n".repeat(11_000))).unwrap();
    for (machine, about) in [("D.MATRIX", "3 entities"), ("cube.Tgt", "4 entities")] {
        let mut viem = program("viem", folder.path());
        let text = stdout_of(viem.args(["graph", "--verify", &format!("--machine={machine}")]));
        assert!(text.contains(about) && text.contains("verified"), "{text}");
    }
}

#[test]
fn options_for_trees_are_rejected_elsewhere() {
    let folder = folder();
    for (option, what) in [
        (
            "--construction_algorithm=hierarchybottomup",
            "hierarchybottomup works only on machines that are regular trees",
        ),
        ("--distance_construction_algorithm=hierarchy", "is for regular trees only"),
    ] {
        let mut viem = program("viem", folder.path());
        let message = failure_of(viem.args(["graph", "--machine=mesh:6x4", option]), 2);
        assert!(message.contains(what), "{message}");
    }
    let construction = |machine: &[&str]| {
        let mut viem = program("viem", folder.path());
        stdout_of(viem.args(["graph", "--json=run", "--preconfiguration_mapping=fast"]).args(machine));
        report_in(&folder.path().join("run"))["options"]["construction_algorithm"].clone()
    };
    assert_eq!(construction(&["--machine=complete:24"]), "hierarchytopdown");
    assert_eq!(construction(&["--machine=mesh:6x4"]), "multilevel");
}

#[test]
fn no_output_overwrites_the_machine_or_the_list() {
    let folder = folder();
    fs::write(folder.path().join("cube.tgt"), "hcub 5\n").unwrap();
    fs::write(folder.path().join("job"), "0-30\n").unwrap();
    for output in ["--output_filename=cube.tgt", "--json=job"] {
        let mut viem = program("viem", folder.path());
        let message = failure_of(viem.args(["graph", "--machine=cube.tgt", "--pes=job", output]), 2);
        assert!(message.contains("would overwrite the input"), "{message}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("cube.tgt")).unwrap(), "hcub 5\n");
    let mut viem = program("viem", folder.path());
    viem.args(["graph", "--machine=-", "--verify"]).write_stdin("hcub 5\n");
    assert!(failure_of(&mut viem, 2).contains("--verify"));
}

#[test]
fn a_cost_beyond_64_bits_is_rejected() {
    let folder = folder();
    let machine = ["--machine=mesh:6x4", "--distance_parameter_string=999999999999999999"];
    fs::write(folder.path().join("start"), (0..24).map(|pe| format!("{pe}\n")).collect::<String>()).unwrap();
    for (name, more) in [("viem", "--quiet"), ("evaluator", "--input_mapping=start")] {
        let mut command = program(name, folder.path());
        let message = failure_of(command.arg("graph").args(machine).arg(more), 65);
        assert!(message.contains("J can be as large as"), "{name}: {message}");
    }
}
