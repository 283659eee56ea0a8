//! `generate_model` as a user runs it on recorded traffic.

use std::fs;

use crate::common::{after, failure_of, instance, objective, program, stdout_of};
use serde_json::Value;

const RECORDING: &str = "gromacs_water_pme_16.prof.gz";

#[test]
fn a_recording_becomes_a_graph_and_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = program("generate_model", folder.path());
    let text = stdout_of(command.arg(instance(RECORDING)).args(["-o", "job.graph", "--json=report"]));
    let expected = fs::read(instance("gromacs_water_pme_16.bytes.graph")).unwrap();
    assert_eq!(fs::read(folder.path().join("job.graph")).unwrap(), expected);
    assert_eq!(after(&text, "files of kind openmpi:"), "1");
    let row =
        |class: &str| after(&text, class).split_whitespace().rev().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(row("E, point-to-point")[0], "summed");
    assert_eq!(row("C, ")[..2], ["out", "left"]);
    assert_eq!(after(&text, "communication graph has"), "16 nodes, 158 edges");
    assert_eq!(after(&text, "total weight "), "42891590");
    let report: Value = serde_json::from_slice(&fs::read(folder.path().join("report")).unwrap()).unwrap();
    assert_eq!(
        (&report["num_processes"], &report["num_edges"], &report["format"]),
        (&16.into(), &79.into(), &"openmpi".into())
    );
    assert_eq!(report["classes"][0]["tally"]["lines"], 84);
}

#[test]
fn options_choose_what_is_summed_and_how() {
    let folder = tempfile::tempdir().unwrap();
    for (options, expected) in [
        (&["--weight=msgs"][..], "gromacs_water_pme_16.msgs.graph"),
        (&["--include=E", "--from=openmpi"], "gromacs_water_pme_16_p2p.bytes.graph"),
        (&["--weight=0+1"], "gromacs_water_pme_16.bytes.graph"),
        (&["--top=100%"], "gromacs_water_pme_16.bytes.graph"),
    ] {
        let mut command = program("generate_model", folder.path());
        let graph = stdout_of(command.arg(instance(RECORDING)).args(options).args(["-o", "-"]));
        assert_eq!(graph, fs::read_to_string(instance(expected)).unwrap(), "{options:?}");
    }
    let mut command = program("generate_model", folder.path());
    let text = stdout_of(command.arg(instance(RECORDING)).args(["--weight=1.5e-6+2.5e-10", "--top=0.9"]));
    assert!(text.contains("weights are costs times 10^11, rounded"), "{text}");
    assert!(text.contains("light edges left out"), "{text}");
    let mut command = program("generate_model", folder.path());
    stdout_of(command.arg(instance(RECORDING)).args(["--ranks=20", "--quiet"]));
    assert!(fs::read_to_string(folder.path().join("model.graph")).unwrap().starts_with("20 79 1\n"));
}

#[test]
fn several_files_and_standard_input_are_summed() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.csv"), "1,2,5\n").unwrap();
    let mut command = program("generate_model", folder.path());
    command.args(["a.csv", "-", "-o", "job.graph"]).write_stdin("source,target,weight\n2,3,7\n3,3,1\n");
    let text = stdout_of(&mut command);
    assert!(text.contains("ranks are assumed to count from 1"), "{text}");
    assert_eq!(after(&text, "to itself").split_whitespace().next(), Some("1"));
    assert_eq!(fs::read_to_string(folder.path().join("job.graph")).unwrap(), "3 2 1\n2 5\n1 5 3 7\n2 7\n");
}

#[test]
fn torn_and_missing_files_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let stream = "E\t0\t3\t5 bytes\t1 msgs sent\nE\t0\t1\t5 byhello\nI\t3\t0\t1 bytes\t1 msgs sent\n";
    let mut command = program("generate_model", folder.path());
    let text = stdout_of(command.args(["-", "--from=openmpi"]).write_stdin(stream));
    assert!(text.contains(
        "lines that are torn or hold no traffic, left out: 1; the first is standard input, line 2"
    ));
    assert!(text.contains("ranks of which nothing was recorded: 2 (1-2): "), "{text}");
}

#[test]
fn wrong_use_and_wrong_files_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.csv"), "1,2,5\n").unwrap();
    fs::write(
        folder.path().join("cut.mtx"),
        "%%MatrixMarket matrix coordinate integer general\n2 2 9\n1 2 5\n",
    )
    .unwrap();
    fs::write(folder.path().join("large.csv"), "0,1,9223372036854775807\n").unwrap();
    fs::write(folder.path().join("model.graph"), "kept").unwrap();
    let fails = |arguments: &[&str], code| {
        let message = failure_of(program("generate_model", folder.path()).args(arguments), code);
        assert_eq!(fs::read_to_string(folder.path().join("model.graph")).unwrap(), "kept");
        message
    };
    assert!(fails(&["cut.mtx"], 65).contains("cut.mtx, line 4, column 1: an entry of the matrix is missing"));
    assert!(fails(&["a.csv", "cut.mtx"], 65).contains("cut.mtx, line 1"));
    assert!(fails(&["large.csv"], 65).contains("2^63"));
    assert!(fails(&["a.csv", "gone.csv"], 66).contains("gone.csv"));
    assert!(fails(&["a.csv", "--k=2"], 2).contains("--k"));
    assert!(fails(&["a.csv", "--mapping_filename=m"], 2).contains("--mapping_filename"));
    assert!(fails(&["a.csv", "--weight=msgs"], 2).contains("messages"));
    assert!(fails(&["a.csv", "--include=E"], 2).contains("no class `E`"));
    assert!(fails(&["a.csv", "--ranks=1"], 2).contains("2 ranks"));
    fails(&["a.csv", "--from=magic"], 2);
    fails(&["a.csv", "--weight=fast"], 2);
    fails(&["a.csv", "--top=0"], 2);
    fails(&["-", "-", "--from=edges"], 2);
    let graph = instance("openfoam_sphere_16.msgs.graph");
    let graph = graph.to_str().unwrap();
    assert!(fails(&[graph, graph, "--k=2"], 2).contains("one graph"));
    assert!(fails(&[graph], 2).contains("--k"));
    assert!(fails(&[graph, "--from=trace"], 65).contains("line 1"));
}

#[test]
fn logs_of_nccl_and_traces_of_pytorch_become_graphs() {
    let folder = tempfile::tempdir().unwrap();
    let log = "n1:5:6 [0] NCCL INFO ncclCommInitRank comm 0x7 rank 0 nranks 3 cudaDev 0 commId 0x9 - Init START\n\
               n1:5:6 [0] NCCL INFO Channel 00/01 :    0   1   2\n\
               n1:5:6 [0] NCCL INFO comm 0x7 rank 0 nranks 3 cudaDev 0 commId 0x9 - Init COMPLETE\n\
               n1:5:8 [0] NCCL INFO ncclCommSplit comm 0x8 rank 1 nranks 2 cudaDev 0 commId 0xa - Init START\n\
               n1:5:9 [0] NCCL INFO Channel 00/1 : 1[0] -> 0[0] [send] via NET/IB/0\n";
    fs::write(folder.path().join("nccl.log"), log).unwrap();
    let text = stdout_of(program("generate_model", folder.path()).args(["nccl.log", "-o", "job.graph"]));
    assert_eq!(after(&text, "files of kind nccl:"), "1");
    assert!(text.contains("connections of communicators whose ranks are not known, left out: 1\n"), "{text}");
    assert_eq!(after(&text, "communication graph has"), "3 nodes, 6 edges");
    let trace = "{\"schemaVersion\": 1, \"deviceProperties\": [], \"distributedInfo\": {\"rank\": 1, \"world_size\": 3},\n\
                 \"traceEvents\": [{\"name\": \"record_param_comms\", \"args\": {\"Collective name\": \"allreduce\",\n\
                 \"dtype\": \"Float\", \"In msg nelems\": 30, \"Out msg nelems\": 30, \"Group size\": 3,\n\
                 \"Process Group Ranks\": \"[0, 1, 2]\"}}]}\n";
    fs::write(folder.path().join("trace.json"), trace).unwrap();
    let text = stdout_of(program("generate_model", folder.path()).args(["trace.json", "-o", "job.graph"]));
    assert_eq!(after(&text, "files of kind kineto:"), "1");
    assert!(text.contains("ranks of which nothing was recorded: 2 (0, 2)"), "{text}");
    assert_eq!(after(&text, "total weight "), "160");
}

#[test]
fn a_goal_schedule_is_read_mapped_and_written_as_mapped() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    // Ranks r and r + 4 exchange much.
    let block = |r: usize| {
        format!("rank {r} {{\nl1: send 1000b to {0} tag 3\nl2: recv 1000b from {0}\n}}\n", (r + 4) % 8)
    };
    fs::write(path("job.goal"), format!("num_ranks 8\n{}", (0..8).map(block).collect::<String>())).unwrap();
    let text = stdout_of(program("generate_model", folder.path()).args(["job.goal", "-o", "job.graph"]));
    assert_eq!(after(&text, "files of kind goal:"), "1");
    assert_eq!(after(&text, "total weight "), "8000");
    let as_workload = |more: &[&str]| {
        let mut command = program("generate_model", folder.path());
        command.args(["job.goal", "--workload", "--flit_bytes=100", "-o", "job.workload"]).args(more);
        command
    };
    let text = stdout_of(&mut as_workload(&[]));
    assert!(text.contains("a flit is 100 bytes; a cycle is the unit of calc\n"), "{text}");
    let text = stdout_of(program("viem", folder.path()).args(["job.workload", "--machine=mesh:8"]));
    assert!(text.contains("workload has 8 tasks, 8 messages, 80 flits"), "{text}");
    assert!(failure_of(&mut as_workload(&["job.goal"]), 2).contains("give one file"));
    let map = |more: &[&str]| {
        let mut command = program("viem", folder.path());
        command.args(["job.graph", "--machine=2:5", "--distance_parameter_string=1:10"]).args(more);
        command
    };
    let text = stdout_of(&mut map(&["--goal=job.goal"]));
    assert!(text.contains("schedule with the ranks as mapped: mapped.goal\n"), "{text}");
    let cost = objective(&text);
    // The schedule as mapped costs in the order of its ranks what the mapping costs.
    stdout_of(program("generate_model", folder.path()).args(["mapped.goal", "-o", "mapped.graph"]));
    fs::write(path("order"), (0..10).map(|rank| format!("{rank}\n")).collect::<String>()).unwrap();
    let mut score = program("evaluator", folder.path());
    score.args([
        "mapped.graph",
        "--machine=2:5",
        "--distance_parameter_string=1:10",
        "--input_mapping=order",
    ]);
    assert_eq!(objective(&stdout_of(&mut score)), cost);
    assert_eq!(cost, 2 * 4 * 2000);
    let fails = |more: &[&str], code| failure_of(&mut map(more), code);
    let message = fails(&["--goal=job.goal"], 2);
    assert!(message.contains("--goal=job.goal,mapped.goal"), "{message}");
    stdout_of(&mut map(&["--goal=job.goal,mapped.goal"]));
    assert!(fails(&["--goal=job.goal,job.goal"], 2).contains("job.goal"));
    assert!(fails(&["--goal=job.graph,other.goal"], 65).contains("job.graph, line 1"));
    fs::write(path("small.goal"), "num_ranks 7\n").unwrap();
    assert!(
        fails(&["--goal=small.goal,other.goal"], 65).contains("the schedule has 7 ranks, but 8 are mapped")
    );
    assert!(!path("other.goal").exists());
}

/// What a program prints on stderr where it does not fail.
fn warnings_of(arguments: &[&str], folder: &std::path::Path) -> String {
    let output = program("generate_model", folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn what_a_recording_does_not_hold_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("zeros.mat", "0 0 0 0 0\n0 0 0 0 0\n0 0 0 0 0\n0 0 0 0 0\n0 0 0 0 0\n");
    write("none.trace", "viem_trace 1\nrank 0 of 2\nend 0\n");
    write(
        "job.goal",
        "num_ranks 2\nrank 0 {\nsend 10b to 1 tag 0 nic 1\n}\nrank 1 {\nrecv 10b from 0 tag 0 nic 1\n}\n",
    );
    write("two.graph", "2 1 010 2\n1 5 2\n1 7 1\n");
    write("links.csv", "startContainer,endContainer\nrank0,rank1\n");
    let warnings = |arguments: &[&str]| warnings_of(arguments, folder.path());
    assert!(warnings(&["zeros.mat"]).contains("warning: nothing is exchanged: the files hold no traffic"));
    let message = warnings(&["none.trace"]);
    assert!(
        message.contains("warning: nothing is exchanged: the files hold no traffic; the job made no calls"),
        "{message}"
    );
    assert!(message.contains("warning: what ranks 1 send is not in the graph"), "{message}");
    for arguments in [&["job.goal"][..], &["job.goal", "--workload", "-o", "job.workload"]] {
        let message = warnings(arguments);
        assert!(message.contains("network adapters of ranks (`nic`, up to 1) are passed over"), "{message}");
        assert!(message.contains("--nics=2 makes each a vertex of its own"), "{message}");
    }
    assert_eq!(warnings(&["job.goal", "--nics=2", "-o", "job.graph"]), "");
    assert_eq!(fs::read_to_string(folder.path().join("job.graph")).unwrap(), "4 1 1\n\n4 10\n\n2 10\n");
    assert!(
        failure_of(program("generate_model", folder.path()).args(["job.goal", "--nics=1"]), 65)
            .contains("--nics=2 or more")
    );
    assert!(
        failure_of(program("generate_model", folder.path()).args(["zeros.mat", "--nics=1"]), 2)
            .contains("--nics is for")
    );
    assert!(warnings(&["links.csv"]).contains("messages have no sizes in the files: each weighs 1"));
    let message = warnings(&["two.graph", "--k=2"]);
    assert!(
        message.contains(
            "warning: two.graph: each vertex has 2 weights, of which all but the first are ignored"
        ),
        "{message}"
    );
    let arguments = ["two.graph", "--machine=complete:2", "--distance_parameter_string=1.0"];
    let output = program("viem", folder.path()).args(arguments).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("all but the first are ignored"), "{message}");
    let mut command = program("viem", folder.path());
    let message = failure_of(
        command.args(["two.graph", "--machine=complete:2", "--distance_parameter_string=1.25"]),
        2,
    );
    assert!(message.contains("multiply all of them by 100"), "{message}");
}

#[test]
fn files_of_other_tools_are_named() {
    let folder = tempfile::tempdir().unwrap();
    for (text, name) in [
        (
            "%EventDef PajeDefineContainerType 0\n% Alias string\n%EndEventDef\n0 1 2\n",
            "a trace in the Paje format",
        ),
        ("@ mpiP\n@ Command : ./app\n@ Version : 3.5\n", "a report of mpiP"),
        ("\n=== OTF2-PRINT ===\n\n=== Events ===\n", "the text of an OTF2 trace"),
        ("#Paraver (01/01/26 at 10:00):1000_ns:1(2):1:2(1:1,1:1)\n1:1:1:1:1:0:10:1\n", "a trace of Paraver"),
        ("# darshan log version: 3.41\n# compression method: ZLIB\nPOSIX\t0\t1\tx\n", "darshan"),
    ] {
        fs::write(folder.path().join("file"), text).unwrap();
        let message = failure_of(program("generate_model", folder.path()).args(["file", "--k=2"]), 65);
        assert!(message.contains(name), "{message}");
        let message = failure_of(program("generate_model", folder.path()).arg("file"), 65);
        assert!(message.contains(name), "{message}");
    }
}
