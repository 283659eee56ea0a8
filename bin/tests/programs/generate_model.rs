//! `generate_model` as a user runs it.

use crate::common::{Folder, after, given, instance, names, said_by, says, stdout_of};
use viem::graph::{CsrGraph, quotient};
use viem::partition::PartitionPreset;
use viem_io::Source;
use viem_io::metis::{self, NodeWeights};

fn read(path: &std::path::Path) -> CsrGraph {
    metis::read(Source::open(path).unwrap(), NodeWeights::Read).unwrap()
}

#[test]
fn the_model_is_the_quotient_graph_of_the_blocks() {
    let folder = Folder::new();
    let graph = read(&instance("mesh_64x48.graph"));
    for preset in PartitionPreset::ALL.map(|preset| preset.name()) {
        let options = format!("--k=48 --mapping_filename=blocks --json=report --preconfiguration={preset}");
        let text = folder.stdout(format!("generate_model {} {options}", given("mesh_64x48.graph")));
        let blocks: Vec<u32> = folder.numbers("blocks").iter().map(|&block| block as u32).collect();
        let expected = quotient::contract(&graph, &blocks, 48);
        assert!(expected.node_weights().iter().all(|&weight| (1..=65).contains(&weight)), "3 % above 64");
        let model = read(&folder.file("model.graph"));
        assert_eq!(model, expected.with_unit_node_weights());
        let cut = model.total_arc_weight() / 2;
        assert_eq!(after(&text, "cut ").parse::<i64>().unwrap(), cut);
        let report = folder.report("report");
        assert_eq!((&report["cut"], &report["options"]["k"]), (&cut.into(), &48.into()));
        let header = format!("48 {} 11", model.num_edges());
        assert_eq!(folder.read("model.graph").lines().next().unwrap(), header);
    }
}

#[test]
fn perfect_balance_and_no_empty_block_for_any_k() {
    let folder = Folder::with(&[("star.graph", "7 6\n2 3 4 5 6 7\n1\n1\n1\n1\n1\n1\n")]);
    for k in 1..=7 {
        folder.stdout(format!("generate_model star.graph --imbalance=0 --mapping_filename=blocks --k={k}"));
        let mut sizes = vec![0; k];
        folder.numbers("blocks").iter().for_each(|&block| sizes[block] += 1);
        assert!(sizes.iter().all(|&size| size == 7 / k || size == 7_usize.div_ceil(k)), "{sizes:?}");
        assert_eq!(read(&folder.file("model.graph")).num_nodes(), k);
    }
}

#[test]
fn imbalance_is_reported() {
    let folder = Folder::new();
    let run = |[a, b, c]: [u32; 3], more: &str| {
        folder.write("path.graph", format!("3 2 10\n{a} 2\n{b} 1 3\n{c} 2\n"));
        let line = format!("generate_model path.graph --k=2 --json=report {more}");
        (said_by(&mut folder.command(line)).1, folder.report("report"))
    };
    let (message, report) = run([100, 1, 1], "");
    let expected = "warning: no balance as asked was found: blocks exceed their bounds by 48 in sum: vertex 1 (counted from 1) \
                    weighs 100, more than any part may";
    says(&message, [expected]);
    assert_eq!((&report["loads"]["greatest"], &report["loads"]["bound"]), (&100.into(), &52.into()));
    assert_eq!(report["loads"]["overload"], 48);
    assert_eq!(run([100, 1, 1], "--quiet").0, "");
    let (message, report) = run([2, 1, 1], "");
    assert_eq!((message.as_str(), &report["loads"]["overload"]), ("", &0.into()));
    // No vertex is too heavy by itself.
    let (message, report) = run([2, 2, 2], "--imbalance=0");
    assert_eq!(report["loads"]["overload"], 1);
    says(&message, ["by 1 in sum; allow more --imbalance"]);
}

#[test]
fn a_model_can_be_piped_into_viem() {
    let folder = Folder::new();
    let mesh = given("mesh_64x48.graph");
    let model = folder.stdout(format!("generate_model {mesh} --k=32 -o - --threads=2"));
    let mut command = folder.command("viem - --hier=4:8 --distance_p=1:10");
    says(&stdout_of(command.write_stdin(model)), ["model has 32 nodes"]);
}

#[test]
fn options_of_graphs_are_rejected_for_other_inputs() {
    // Recognised below any licence.
    let comments = "# Permission is hereby granted ...\n".repeat(500);
    let two = format!("{comments}PROCESS 0 SEND 1 4 STOP\nPROCESS 1 RECEIVE 0 4 STOP\n");
    let folder = Folder::with(&[("p", &two), ("flows.csv", "source,target,weight\n0,1,5\n")]);
    for input in ["p", "flows.csv", "--generate=ring:8"] {
        for (name, value, use_of) in [
            ("--mapping_filename", "=blocks", "graphs that are partitioned"),
            ("--machine", "=mesh:2x4", "many-to-one mappings"),
            ("--verify", "", "graphs that are partitioned"),
            ("--k", "=2", "graphs that are partitioned"),
        ] {
            let expected = format!("{name} is for {use_of}");
            folder.fails(format!("generate_model {input} {name}{value} -o out"), 2, &expected);
        }
    }
    for input in ["p", "--generate=ring:8"] {
        let line = format!("generate_model {input} --weight=msgs -o out");
        folder.fails(line, 2, "--weight is for recorded traffic");
    }
    assert_eq!(names(folder.path()), ["flows.csv", "p"]);
}

#[test]
fn unused_options_are_rejected() {
    let folder = Folder::new();
    let refused = |options: &str, expected: &str| {
        let sphere = given("openfoam_sphere_16.msgs.graph");
        folder.fails(format!("generate_model {sphere} {options}"), 2, expected);
    };
    for option in ["--pes=0-5", "--pe_weights=missing", "--distance_parameter_string=1:2"] {
        refused(&format!("--k=4 {option}"), "--machine");
    }
    let parts = "--k is for graphs that are partitioned; this mapping is many-to-one: it has a part";
    refused("--k=4 --machine=mesh:4", parts);
    for option in ["--shuffle", "--rounds=5", "--flits=5", "--cycles=3"] {
        refused(&format!("--k=4 {option}"), "--generate");
    }
    refused("--generate=ring:8", "--generate makes a workload and reads nothing");
    for option in ["--weight=bytes", "--include=E", "--top=0.5", "--ranks=16", "--first_rank=0"] {
        let name = option.split('=').next().unwrap();
        for other in ["--k=4", "--machine=mesh:4"] {
            refused(&format!("{other} {option}"), &format!("{name} is for recorded traffic"));
        }
    }
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn impossible_partitions_are_rejected() {
    let folder = Folder::new();
    for (options, code, expected) in [
        ("--k=17", 65, "16"),
        ("--k=0", 2, ""),
        ("--k=two", 2, ""),
        ("", 2, ""),
        ("--k=2 --imbalance=-1", 2, ""),
        ("--k=2 --imbalance=nan", 2, ""),
        ("--k=2 --preconfiguration=magic", 2, ""),
    ] {
        let sphere = given("openfoam_sphere_16.msgs.graph");
        folder.fails(format!("generate_model {sphere} {options}"), code, expected);
        assert!(!folder.has("model.graph"), "{options}");
    }
    // Errors that no graph can fix are reported before one is read.
    for options in ["--k=0", "--k=2 --imbalance=-1"] {
        let message = folder.fails(format!("generate_model missing.graph {options}"), 2, "");
        assert!(!message.contains("missing.graph"), "{message}");
    }
}

const TRAINED: &str = "layers=8,hidden=64,sequence=128,microbatches=4";

#[test]
fn the_traffic_of_a_training_job_is_a_model() {
    let folder = Folder::new();
    let job = "generate_model --parallel=tp:2,dp:4";
    let printed = folder.stdout(format!("{job} --model={TRAINED} --json=report"));
    assert_eq!(after(&printed, "communication graph has "), "8 nodes, 24 edges");
    let report = folder.report("report");
    assert_eq!((report["num_processes"].as_u64(), report["num_edges"].as_u64()), (Some(8), Some(12)));
    let classes = report["classes"].as_array().unwrap();
    let bytes = |class: &serde_json::Value| class["bytes"].as_u64().unwrap();
    assert_eq!(classes.iter().map(bytes).sum::<u64>(), report["bytes"].as_u64().unwrap());
    assert_eq!(classes[0]["class"], "tensor");
    folder.stdout("graphchecker model.graph");

    // The same from a file, where names and values may have blanks around them.
    folder.write("model.txt", TRAINED.replace(',', "  # more\n").replace('=', " = "));
    folder.stdout(format!("{job} --order=tp-cp-ep-dp-pp --model=model.txt -o again.graph"));
    assert!(folder.read("model.graph") == folder.read("again.graph"));
}

#[test]
fn faults_of_training_jobs_are_placed() {
    let folder = Folder::new();
    folder.write("model.txt", format!("{}\nhiden = 5\n", TRAINED.replace(',', "\n")));
    let model = format!("--model={TRAINED}");
    for (arguments, code, expected) in [
        ("--parallel=tp:2 --model=model.txt", 65, "model.txt, line 5, column 1: a model has no `hiden`"),
        ("--parallel=tp:2 --model=layers=2,hidden=x", 65, "--model, line 1, column 17: hidden is `x`"),
        ("--parallel=tp:2 --model=layers=2", 65, "line 1, column 9: the model has no hidden"),
        ("--parallel=tp:2 --model=missing", 66, "missing: cannot be read"),
        ("--parallel=tp:2", 2, "give --model"),
        (&*format!("--parallel=ep:2,dp:2 {model}"), 2, "this one has none"),
        (&format!("--parallel=tp:2 --generate=ring:4 {model}"), 2, "--generate and --parallel"),
        (&format!("graph --parallel=tp:2 {model}"), 2, "--parallel makes a model"),
        ("--parallel=tp:2 --output_filename=model.txt --model=model.txt", 2, "model.txt"),
    ] {
        folder.fails(format!("generate_model {arguments}"), code, expected);
    }
}
