//! `generate_model` as a user runs it.

use std::fs;
use std::path::Path;

use crate::common::{after, failure_of, instance, program, report_in, stdout_of};
use viem::graph::{CsrGraph, quotient};
use viem::partition::PartitionPreset;
use viem_io::Source;
use viem_io::metis::{self, NodeWeights};

fn read(path: &Path) -> CsrGraph {
    metis::read(Source::open(path).unwrap(), NodeWeights::Read).unwrap()
}

fn read_blocks(path: &Path) -> Vec<u32> {
    fs::read_to_string(path).unwrap().lines().map(|line| line.parse().unwrap()).collect()
}

#[test]
fn the_model_is_the_quotient_graph_of_the_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let graph = read(&instance("mesh_64x48.graph"));
    for preset in PartitionPreset::ALL {
        let mut command = program("generate_model", folder.path());
        command.arg(instance("mesh_64x48.graph")).args([
            "--k=48",
            "--mapping_filename=blocks",
            "--json=report",
        ]);
        let text = stdout_of(command.arg(format!("--preconfiguration={}", preset.name())));
        let blocks = read_blocks(&folder.path().join("blocks"));
        let expected = quotient::contract(&graph, &blocks, 48);
        assert!(expected.node_weights().iter().all(|&weight| (1..=65).contains(&weight)), "3 % above 64");
        let model = read(&folder.path().join("model.graph"));
        assert_eq!(model, expected.with_unit_node_weights());
        let cut = model.total_arc_weight() / 2;
        assert_eq!(after(&text, "cut ").parse::<i64>().unwrap(), cut);
        let report = report_in(&folder.path().join("report"));
        assert_eq!((&report["cut"], &report["options"]["k"]), (&cut.into(), &48.into()));
        let header = fs::read_to_string(folder.path().join("model.graph")).unwrap();
        assert_eq!(header.lines().next().unwrap(), format!("48 {} 11", model.num_edges()));
    }
}

#[test]
fn perfect_balance_and_no_empty_block_for_any_k() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("star.graph"), "7 6\n2 3 4 5 6 7\n1\n1\n1\n1\n1\n1\n").unwrap();
    for k in 1..=7 {
        let mut command = program("generate_model", folder.path());
        command.args(["star.graph", "--imbalance=0", "--mapping_filename=blocks"]);
        stdout_of(command.arg(format!("--k={k}")));
        let mut sizes = vec![0; k];
        read_blocks(&folder.path().join("blocks")).iter().for_each(|&block| sizes[block as usize] += 1);
        assert!(sizes.iter().all(|&size| size == 7 / k || size == 7_usize.div_ceil(k)), "{sizes:?}");
        assert_eq!(read(&folder.path().join("model.graph")).num_nodes(), k);
    }
}

#[test]
fn imbalance_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let run = |weights: [u32; 3], more: &[&str]| {
        let [a, b, c] = weights;
        fs::write(folder.path().join("path.graph"), format!("3 2 10\n{a} 2\n{b} 1 3\n{c} 2\n")).unwrap();
        let mut command = program("generate_model", folder.path());
        command.args(["path.graph", "--k=2", "--json=report"]).args(more);
        let output = command.assert().success().get_output().clone();
        (String::from_utf8(output.stderr).unwrap(), report_in(&folder.path().join("report")))
    };
    let (message, report) = run([100, 1, 1], &[]);
    let expected = "warning: no balance as asked was found: blocks exceed their bounds by 48 in sum: vertex 1 (counted from 1) \
                    weighs 100, more than any part may";
    assert!(message.contains(expected), "{message}");
    assert_eq!((&report["loads"]["greatest"], &report["loads"]["bound"]), (&100.into(), &52.into()));
    assert_eq!(report["loads"]["overload"], 48);
    assert_eq!(run([100, 1, 1], &["--quiet"]).0, "");
    let (message, report) = run([2, 1, 1], &[]);
    assert_eq!((message.as_str(), &report["loads"]["overload"]), ("", &0.into()));
    // No vertex is too heavy by itself.
    let (message, report) = run([2, 2, 2], &["--imbalance=0"]);
    assert_eq!(report["loads"]["overload"], 1);
    assert!(message.contains("by 1 in sum; allow more --imbalance"), "{message}");
}

#[test]
fn a_model_can_be_piped_into_viem() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = program("generate_model", folder.path());
    command.arg(instance("mesh_64x48.graph")).args(["--k=32", "-o", "-", "--threads=2"]);
    let model = stdout_of(&mut command);
    let mut command = program("viem", folder.path());
    command.args(["-", "--hier=4:8", "--distance_p=1:10"]).write_stdin(model);
    assert!(stdout_of(&mut command).contains("model has 32 nodes"));
}

#[test]
fn options_of_graphs_are_rejected_for_other_inputs() {
    let folder = tempfile::tempdir().unwrap();
    // Recognised below any licence.
    let comments = "# Permission is hereby granted ...\n".repeat(500);
    let two = format!("{comments}PROCESS 0 SEND 1 4 STOP\nPROCESS 1 RECEIVE 0 4 STOP\n");
    fs::write(folder.path().join("p"), two).unwrap();
    fs::write(folder.path().join("flows.csv"), "source,target,weight\n0,1,5\n").unwrap();
    for input in ["p", "flows.csv", "--generate=ring:8"] {
        for option in ["--mapping_filename=blocks", "--machine=mesh:2x4", "--verify", "--k=2"] {
            let message =
                failure_of(program("generate_model", folder.path()).args([input, option, "-o", "out"]), 2);
            let name = option.split('=').next().unwrap();
            let use_of =
                if name == "--machine" { "many-to-one mappings" } else { "graphs that are partitioned" };
            assert!(message.contains(&format!("{name} is for {use_of}")), "{message}");
        }
    }
    for input in ["p", "--generate=ring:8"] {
        let message = failure_of(
            program("generate_model", folder.path()).args([input, "--weight=msgs", "-o", "out"]),
            2,
        );
        assert!(message.contains("--weight is for recorded traffic"), "{message}");
    }
    assert_eq!(crate::common::names(folder.path()), ["flows.csv", "p"]);
}

#[test]
fn unused_options_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |options: &[&str], says: &str| {
        let mut command = program("generate_model", folder.path());
        let message = failure_of(command.arg(instance("openfoam_sphere_16.msgs.graph")).args(options), 2);
        assert!(message.contains(says), "{options:?}: {message}");
    };
    for option in ["--pes=0-5", "--pe_weights=missing", "--distance_parameter_string=1:2"] {
        refused(&["--k=4", option], "--machine");
    }
    refused(
        &["--k=4", "--machine=mesh:4"],
        "--k is for graphs that are partitioned; this mapping is many-to-one: it has a part",
    );
    for option in ["--shuffle", "--rounds=5", "--flits=5", "--cycles=3"] {
        refused(&["--k=4", option], "--generate");
    }
    refused(&["--generate=ring:8"], "--generate makes a workload and reads nothing");
    let of_traffic = ["--weight=bytes", "--include=E", "--top=0.5", "--ranks=16", "--first_rank=0"];
    for option in of_traffic {
        let name = option.split('=').next().unwrap();
        refused(&["--k=4", option], &format!("{name} is for recorded traffic"));
        refused(&["--machine=mesh:4", option], &format!("{name} is for recorded traffic"));
    }
    assert_eq!(crate::common::names(folder.path()), [""; 0]);
}

#[test]
fn impossible_partitions_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let fails = |arguments: &[&str], code| {
        let mut command = program("generate_model", folder.path());
        let message =
            failure_of(command.arg(instance("openfoam_sphere_16.msgs.graph")).args(arguments), code);
        assert!(!folder.path().join("model.graph").exists());
        message
    };
    assert!(fails(&["--k=17"], 65).contains("16"));
    fails(&["--k=0"], 2);
    fails(&["--k=two"], 2);
    // Errors that no graph can fix are reported before one is read.
    for options in [&["--k=0"][..], &["--k=2", "--imbalance=-1"]] {
        let mut command = program("generate_model", folder.path());
        assert!(!failure_of(command.arg("missing.graph").args(options), 2).contains("missing.graph"));
    }
    fails(&[], 2);
    fails(&["--k=2", "--imbalance=-1"], 2);
    fails(&["--k=2", "--imbalance=nan"], 2);
    fails(&["--k=2", "--preconfiguration=magic"], 2);
}

const TRAINED: &str = "layers=8,hidden=64,sequence=128,microbatches=4";

#[test]
fn the_traffic_of_a_training_job_is_a_model() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let model = format!("--model={TRAINED}");
    let printed =
        stdout_of(program("generate_model", at).args(["--parallel=tp:2,dp:4", &model, "--json=report"]));
    assert_eq!(after(&printed, "communication graph has "), "8 nodes, 24 edges");
    let report = report_in(&at.join("report"));
    assert_eq!((report["num_processes"].as_u64(), report["num_edges"].as_u64()), (Some(8), Some(12)));
    let classes = report["classes"].as_array().unwrap();
    let bytes = |class: &serde_json::Value| class["bytes"].as_u64().unwrap();
    assert_eq!(classes.iter().map(bytes).sum::<u64>(), report["bytes"].as_u64().unwrap());
    assert_eq!(classes[0]["class"], "tensor");
    stdout_of(program("graphchecker", at).arg("model.graph"));

    // The same from a file, where names and values may have blanks around them.
    fs::write(at.join("model.txt"), TRAINED.replace(',', "  # more\n").replace('=', " = ")).unwrap();
    let from_file =
        ["--parallel=tp:2,dp:4", "--order=tp-cp-ep-dp-pp", "--model=model.txt", "-o", "again.graph"];
    stdout_of(program("generate_model", at).args(from_file));
    let read = |name: &str| fs::read(at.join(name)).unwrap();
    assert!(read("model.graph") == read("again.graph"));
}

#[test]
fn faults_of_training_jobs_are_placed() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("model.txt"), format!("{}\nhiden = 5\n", TRAINED.replace(',', "\n"))).unwrap();
    let model = format!("--model={TRAINED}");
    let cases: &[(&[&str], i32, &str)] = &[
        (
            &["--parallel=tp:2", "--model=model.txt"],
            65,
            "model.txt, line 5, column 1: a model has no `hiden`",
        ),
        (&["--parallel=tp:2", "--model=layers=2,hidden=x"], 65, "--model, line 1, column 17: hidden is `x`"),
        (&["--parallel=tp:2", "--model=layers=2"], 65, "line 1, column 9: the model has no hidden"),
        (&["--parallel=tp:2", "--model=missing"], 66, "missing: cannot be read"),
        (&["--parallel=tp:2"], 2, "give --model"),
        (&["--parallel=ep:2,dp:2", &model], 2, "this one has none"),
        (&["--parallel=tp:2", "--generate=ring:4", &model], 2, "--generate and --parallel"),
        (&["graph", "--parallel=tp:2", &model], 2, "--parallel makes a model"),
        (&["--parallel=tp:2", "--output_filename=model.txt", "--model=model.txt"], 2, "model.txt"),
    ];
    for (arguments, code, expected) in cases {
        let message = failure_of(program("generate_model", at).args(*arguments), *code);
        assert!(message.contains(expected), "{arguments:?}: {message}");
    }
}
