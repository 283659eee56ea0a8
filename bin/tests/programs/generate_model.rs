//! Models: of partitions, and of training jobs.

use crate::common::{Folder, after, figure, given, instance, names, said_by, says, stdout_of};
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
        let options =
            format!("--blocks=48 --model=model.graph --output=blocks --json=report --preset={preset}");
        let text = folder.stdout(format!("viem partition {} {options}", given("mesh_64x48.graph")));
        let blocks: Vec<u32> = folder.numbers("blocks").iter().map(|&block| block as u32).collect();
        let expected = quotient::contract(&graph, &blocks, 48);
        assert!(expected.node_weights().iter().all(|&weight| (1..=65).contains(&weight)), "3 % above 64");
        let model = read(&folder.file("model.graph"));
        assert_eq!(model, expected.with_unit_node_weights());
        let cut = model.total_arc_weight() / 2;
        assert_eq!(figure(&text, "cut").parse::<i64>().unwrap(), cut);
        let report = folder.report("report");
        assert_eq!((&report["cut"], &report["options"]["blocks"]), (&cut.into(), &48.into()));
        let header = format!("48 {} 11", model.num_edges());
        assert_eq!(folder.read("model.graph").lines().next().unwrap(), header);
    }
}

#[test]
fn perfect_balance_and_no_empty_block_for_any_k() {
    let folder = Folder::with(&[("star.graph", "7 6\n2 3 4 5 6 7\n1\n1\n1\n1\n1\n1\n")]);
    for k in 1..=7 {
        folder.stdout(format!(
            "viem partition star.graph --imbalance=0 --model=model.graph --output=blocks --blocks={k}"
        ));
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
        let line = format!("viem partition path.graph --blocks=2 --json=report {more}");
        (said_by(&mut folder.command(line)).1, folder.report("report"))
    };
    let (message, report) = run([100, 1, 1], "");
    let expected = "warning: no balance as asked was found: blocks exceed their bounds by 48 in sum: vertex 1 (counted from 1) \
                    weighs 100, more than any block may";
    says(&message, [expected]);
    assert_eq!((&report["loads"]["greatest"], &report["loads"]["bound"]), (&100.into(), &52.into()));
    assert_eq!(report["loads"]["overload"], 48);
    assert_eq!(run([100, 1, 1], "--quiet").0, "");
    let (message, report) = run([2, 1, 1], "");
    assert_eq!((message.as_str(), &report["loads"]["overload"]), ("", &0.into()));
    // No vertex is too heavy by itself.
    let (message, report) = run([3, 3, 2], "--imbalance=0");
    assert_eq!(report["loads"]["overload"], 1);
    says(&message, ["by 1 in sum; allow more --imbalance"]);
}

#[test]
fn a_model_can_be_piped_into_viem() {
    let folder = Folder::new();
    let mesh = given("mesh_64x48.graph");
    let model = folder.stdout(format!("viem partition {mesh} --blocks=32 --model=- --threads=2"));
    let mut command = folder.command("viem map - -m 4:8 -d 1:10");
    says(&stdout_of(command.write_stdin(model)), ["graph: 32 processes"]);
}

#[test]
fn options_about_recordings_are_refused_where_nothing_is_summed() {
    // Recognised below any licence.
    let comments = "# Permission is hereby granted ...\n".repeat(500);
    let two = format!("{comments}PROCESS 0 SEND 1 4 STOP\nPROCESS 1 RECEIVE 0 4 STOP\n");
    let folder = Folder::with(&[("p", &two), ("flows.csv", "source,target,weight\n0,1,5\n")]);
    for input in ["p", "--pattern=ring:8"] {
        let line = format!("viem traffic {input} --weight=msgs -o out");
        folder.fails(line, 2, "--weight is for sums of recorded traffic");
    }
    for option in ["--shuffle", "--rounds=5", "--flits=5", "--cycles=3", "--seed=1"] {
        folder.fails(format!("viem traffic flows.csv {option} -o out"), 2, "--pattern");
    }
    folder.fails(
        "viem traffic flows.csv --pattern=ring:8",
        2,
        "--pattern makes a workload and reads nothing",
    );
    folder.fails("viem traffic p --workload", 2, "this is a workload already");
    folder.fails("viem traffic flows.csv --workload", 2, "--workload needs the order of messages");
    folder.fails("viem traffic flows.csv --flit-bytes=8", 2, "--workload");
    assert_eq!(names(folder.path()), ["flows.csv", "p"]);
}

#[test]
fn impossible_partitions_are_rejected() {
    let folder = Folder::new();
    for (options, code, expected) in [
        ("--blocks=17", 65, "16"),
        ("--blocks=0", 2, ""),
        ("--blocks=two", 2, ""),
        ("", 2, ""),
        ("--blocks=2 --imbalance=-1", 2, ""),
        ("--blocks=2 --imbalance=nan", 2, ""),
        ("--blocks=2 --preset=magic", 2, ""),
    ] {
        let sphere = given("openfoam_sphere_16.msgs.graph");
        folder.fails(format!("viem partition {sphere} {options}"), code, expected);
        assert!(!folder.has("partition"), "{options}");
    }
    // No memory is taken for blocks that there cannot be.
    let huge = format!("viem partition {} --blocks=4294967295", given("openfoam_sphere_16.msgs.graph"));
    folder.fails(huge, 65, "16");
    // Errors that no graph can fix are reported before one is read.
    for options in ["--blocks=0", "--blocks=2 --imbalance=-1"] {
        let message = folder.fails(format!("viem partition missing.graph {options}"), 2, "");
        assert!(!message.contains("missing.graph"), "{message}");
    }
}

const TRAINED: &str = "layers=8,hidden=64,sequence=128,microbatches=4";

#[test]
fn the_traffic_of_a_training_job_is_a_model() {
    let folder = Folder::new();
    let job = "viem training --parallel=tp:2,dp:4";
    let printed = folder.stdout(format!("{job} --model={TRAINED} --json=report"));
    assert!(after(&printed, "graph of ").starts_with("8 processes, 12 edges"), "{printed}");
    let report = folder.report("report");
    assert_eq!((report["num_processes"].as_u64(), report["num_edges"].as_u64()), (Some(8), Some(12)));
    let classes = report["classes"].as_array().unwrap();
    let bytes = |class: &serde_json::Value| class["bytes"].as_u64().unwrap();
    assert_eq!(classes.iter().map(bytes).sum::<u64>(), report["bytes"].as_u64().unwrap());
    assert_eq!(classes[0]["class"], "tensor");
    folder.stdout("viem check model.graph");

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
        ("--parallel=tp:2", 2, "--model"),
        (&*format!("--parallel=ep:2,dp:2 {model}"), 2, "this one has none"),
        ("--parallel=tp:2 --output=model.txt --model=model.txt", 2, "model.txt"),
    ] {
        folder.fails(format!("viem training {arguments}"), code, expected);
    }
}
