//! `viem traffic` as a user runs it.

use std::fs;

use crate::common::{Folder, after, given, instance, objective, says, stdout_of};

const RECORDING: &str = "gromacs_water_pme_16.prof.gz";

/// The command on a recording with further options.
fn recorded(more: &str) -> String {
    format!("viem traffic {} {more}", given(RECORDING))
}

#[test]
fn a_recording_becomes_a_graph_and_a_table() {
    let folder = Folder::new();
    let text = folder.stdout(recorded("-o job.graph --json=report"));
    let expected = fs::read(instance("gromacs_water_pme_16.bytes.graph")).unwrap();
    assert_eq!(folder.bytes("job.graph"), expected);
    assert_eq!(after(&text, "files of kind openmpi:"), "1");
    let row =
        |class: &str| after(&text, class).split_whitespace().rev().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(row("E, point-to-point")[0], "summed");
    assert_eq!(row("C, ")[..2], ["out", "left"]);
    let made = "graph of 16 processes, 79 edges, total weight 42891590, written to ";
    says(&text, [made]);
    let report = folder.report("report");
    assert_eq!(
        (&report["num_processes"], &report["num_edges"], &report["format"]),
        (&16.into(), &79.into(), &"openmpi".into())
    );
    assert_eq!(report["classes"][0]["tally"]["lines"], 84);
}

#[test]
fn options_choose_what_is_summed_and_how() {
    let folder = Folder::new();
    for (options, expected) in [
        ("--weight=msgs", "gromacs_water_pme_16.msgs.graph"),
        ("--include=E --from=openmpi", "gromacs_water_pme_16_p2p.bytes.graph"),
        ("--weight=0+1", "gromacs_water_pme_16.bytes.graph"),
        ("--top=100%", "gromacs_water_pme_16.bytes.graph"),
    ] {
        let graph = folder.stdout(recorded(options) + " -o -");
        assert_eq!(graph, fs::read_to_string(instance(expected)).unwrap(), "{options}");
    }
    let text = folder.stdout(recorded("--weight=1.5e-6+2.5e-10 --top=0.9"));
    says(&text, ["weights are costs times 10^11, rounded", "light edges left out"]);
    folder.stdout(recorded("--ranks=20 --quiet"));
    assert!(folder.read("model.graph").starts_with("20 79 1\n"));
}

#[test]
fn reports_have_the_options_and_the_seed_that_decide_the_result() {
    let folder = Folder::new();
    folder.stdout(recorded("--weight=1.5e-6+2e-10 --include=E --top=95% --ranks=20 --json=report"));
    let report = folder.report("report");
    let options = serde_json::json!({
        "workload": false, "weight": "1.5e-6+2e-10", "sizes": null, "include": ["E"], "top": "95%", "ranks": 20,
        "first_rank": null, "nics": null, "renumber": null
    });
    assert_eq!((&report["options"], &report["seed"]), (&options, &serde_json::Value::Null));
    folder.stdout("viem traffic --pattern=ring:8 --shuffle --seed=3 --workload --json=report");
    let report = folder.report("report");
    let given = &report["options"];
    assert_eq!(report["seed"], 3);
    assert_eq!(
        (&given["workload"], &given["pattern"], &given["shuffle"]),
        (&true.into(), &"ring:8".into(), &true.into())
    );
    assert!(["rounds", "flits", "cycles"].iter().all(|name| given[name].is_u64()), "{given}");
    folder.stdout("viem traffic job.workload -o job.graph --json=report");
    assert_eq!(folder.report("report")["options"], serde_json::json!({ "workload": false }));
}

#[test]
fn several_files_and_standard_input_are_summed() {
    let folder = Folder::with(&[("a.csv", "1,2,5\n")]);
    let mut command = folder.command("viem traffic a.csv - -o job.graph");
    let text = stdout_of(command.write_stdin("source,target,weight\n2,3,7\n3,3,1\n"));
    says(&text, ["ranks are assumed to count from 1"]);
    assert_eq!(after(&text, "to itself").split_whitespace().next(), Some("1"));
    assert_eq!(folder.read("job.graph"), "3 2 1\n2 5\n1 5 3 7\n2 7\n");
}

#[test]
fn torn_and_missing_files_are_reported() {
    let folder = Folder::new();
    let stream = "E\t0\t3\t5 bytes\t1 msgs sent\nE\t0\t1\t5 byhello\nI\t3\t0\t1 bytes\t1 msgs sent\n";
    let text = stdout_of(folder.command("viem traffic - --from=openmpi").write_stdin(stream));
    says(&text, ["lines that are torn or hold no traffic, left out: 1; the first is standard input, line 2"]);
    says(&text, ["ranks of which nothing was recorded: 2 (1-2): "]);
}

#[test]
fn wrong_use_and_wrong_files_are_rejected() {
    let folder = Folder::with(&[
        ("a.csv", "1,2,5\n"),
        ("cut.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 9\n1 2 5\n"),
        ("large.csv", "0,1,9223372036854775807\n"),
        ("model.graph", "kept"),
    ]);
    folder.copy("openfoam_sphere_16.msgs.graph", "sphere");
    for (arguments, code, expected) in [
        ("cut.mtx", 65, "cut.mtx, line 4, column 1: an entry of the matrix is missing"),
        ("a.csv cut.mtx", 65, "cut.mtx, line 1"),
        ("large.csv", 65, "2^63"),
        ("a.csv gone.csv", 66, "gone.csv"),
        ("a.csv --weight=msgs", 2, "messages"),
        ("a.csv --include=E", 2, "no class `E`"),
        ("a.csv --ranks=1", 2, "2 ranks"),
        ("a.csv --from=magic", 2, ""),
        ("a.csv --weight=fast", 2, ""),
        ("a.csv --top=0", 2, ""),
        ("- - --from=edges", 2, ""),
        ("sphere", 65, "sphere, line 1"),
        ("sphere --from=trace", 65, "line 1"),
    ] {
        folder.fails(format!("viem traffic {arguments}"), code, expected);
        assert_eq!(folder.read("model.graph"), "kept", "{arguments}");
    }
}

#[test]
fn logs_of_nccl_and_traces_of_pytorch_become_graphs() {
    let log = "n1:5:6 [0] NCCL INFO ncclCommInitRank comm 0x7 rank 0 nranks 3 cudaDev 0 commId 0x9 - Init START\n\
               n1:5:6 [0] NCCL INFO Channel 00/01 :    0   1   2\n\
               n1:5:6 [0] NCCL INFO comm 0x7 rank 0 nranks 3 cudaDev 0 commId 0x9 - Init COMPLETE\n\
               n1:5:8 [0] NCCL INFO ncclCommSplit comm 0x8 rank 1 nranks 2 cudaDev 0 commId 0xa - Init START\n\
               n1:5:9 [0] NCCL INFO Channel 00/1 : 1[0] -> 0[0] [send] via NET/IB/0\n";
    let trace = "{\"schemaVersion\": 1, \"deviceProperties\": [], \"distributedInfo\": {\"rank\": 1, \"world_size\": 3},\n\
                 \"traceEvents\": [{\"name\": \"record_param_comms\", \"args\": {\"Collective name\": \"allreduce\",\n\
                 \"dtype\": \"Float\", \"In msg nelems\": 30, \"Out msg nelems\": 30, \"Group size\": 3,\n\
                 \"Process Group Ranks\": \"[0, 1, 2]\"}}]}\n";
    let folder = Folder::with(&[("nccl.log", log), ("trace.json", trace)]);
    let text = folder.stdout("viem traffic nccl.log -o job.graph");
    assert_eq!(after(&text, "files of kind nccl:"), "1");
    says(&text, ["connections of communicators whose ranks are not known, left out: 1\n"]);
    says(&text, ["graph of 3 processes, 3 edges"]);
    let text = folder.stdout("viem traffic trace.json -o job.graph");
    assert_eq!(after(&text, "files of kind kineto:"), "1");
    says(&text, ["ranks of which nothing was recorded: 2 (0, 2)"]);
    says(&text, ["total weight 160,"]);
}

#[test]
fn a_goal_schedule_is_read_mapped_and_written_as_mapped() {
    let folder = Folder::new();
    // Ranks r and r + 4 exchange much.
    let block = |r: usize| {
        format!("rank {r} {{\nl1: send 1000b to {0} tag 3\nl2: recv 1000b from {0}\n}}\n", (r + 4) % 8)
    };
    folder.write("job.goal", format!("num_ranks 8\n{}", (0..8).map(block).collect::<String>()));
    let text = folder.stdout("viem traffic job.goal -o job.graph");
    assert_eq!(after(&text, "files of kind goal:"), "1");
    says(&text, ["total weight 8000,"]);
    let as_workload = "viem traffic job.goal --workload --flit-bytes=100 -o job.workload";
    says(&folder.stdout(as_workload), ["a flit is 100 bytes; a cycle is the unit of calc\n"]);
    let text = folder.stdout("viem simulate job.workload --machine=mesh:8");
    says(&text, ["workload has 8 tasks, 8 messages, 80 flits"]);
    folder.fails(format!("{as_workload} job.goal"), 2, "give one file");
    let machine = "--machine=2:5 --distances=1:10";
    let map = |goal: &str| format!("viem map job.graph {machine} --goal={goal}");
    let text = folder.stdout(map("job.goal"));
    says(&text, ["schedule with the ranks as mapped: mapped.goal\n"]);
    let cost = objective(&text);
    // The schedule as mapped costs in the order of its ranks what the mapping costs.
    folder.stdout("viem traffic mapped.goal -o mapped.graph");
    folder.write_lines("order", 0..10);
    let score = format!("viem score mapped.graph {machine} order");
    assert_eq!(objective(&folder.stdout(score)), cost);
    assert_eq!(cost, 2 * 4 * 2000);
    says(&folder.stderr(map("job.goal")), ["note: replaced mapped.goal"]);
    folder.stdout(map("job.goal,mapped.goal"));
    folder.fails(map("job.goal,job.goal"), 2, "job.goal");
    folder.fails(map("job.graph,other.goal"), 65, "job.graph, line 1");
    folder.write("small.goal", "num_ranks 7\n");
    folder.fails(map("small.goal,other.goal"), 65, "the schedule has 7 ranks, but 8 are mapped");
    assert!(!folder.has("other.goal"));
}

#[test]
fn what_a_recording_does_not_hold_is_said() {
    let schedule =
        "num_ranks 2\nrank 0 {\nsend 10b to 1 tag 0 nic 1\n}\nrank 1 {\nrecv 10b from 0 tag 0 nic 1\n}\n";
    let folder = Folder::with(&[
        ("zeros.mat", "0 0 0 0 0\n0 0 0 0 0\n0 0 0 0 0\n0 0 0 0 0\n0 0 0 0 0\n"),
        ("none.trace", "viem_trace 1\nrank 0 of 2\nend 0\n"),
        ("job.goal", schedule),
        ("two.graph", "2 1 010 2\n1 5 2\n1 7 1\n"),
        ("links.csv", "startContainer,endContainer\nrank0,rank1\n"),
    ]);
    let nothing = "warning: nothing is exchanged: the files hold no traffic";
    let adapters = "network adapters of ranks (`nic`, up to 1) are passed over";
    let on_complete = "viem map two.graph --machine=complete:2 --distances";
    for (line, expected) in [
        ("viem traffic zeros.mat", nothing),
        ("viem traffic none.trace", &*format!("{nothing}; the job made no calls")),
        ("viem traffic none.trace", "warning: what ranks 1 send is not in the graph"),
        ("viem traffic job.goal", adapters),
        ("viem traffic job.goal", "--nics=2 makes each a vertex of its own"),
        ("viem traffic job.goal --workload -o job.workload", adapters),
        ("viem traffic job.goal --workload -o job.workload", "--nics=2 makes each a vertex of its own"),
        ("viem traffic links.csv", "messages have no sizes in the files: each weighs 1"),
        (
            "viem partition two.graph --blocks=2 --algorithm=linear",
            "warning: two.graph: each vertex has 2 weights, of which all but the first are ignored",
        ),
        (&format!("{on_complete}=1.0"), "all but the first are ignored"),
    ] {
        says(&folder.stderr(line), [expected]);
    }
    assert_eq!(folder.stderr("viem traffic job.goal --nics=2 -o job.graph"), "");
    assert_eq!(folder.read("job.graph"), "4 1 1\n\n4 10\n\n2 10\n");
    folder.fails("viem traffic job.goal --nics=1", 65, "--nics=2 or more");
    folder.fails("viem traffic zeros.mat --nics=1", 2, "--nics is for");
    folder.fails(format!("{on_complete}=1.25"), 2, "multiply all of them by 100");
}

#[test]
fn files_of_other_tools_are_named() {
    let folder = Folder::new();
    let paje = "%EventDef PajeDefineContainerType 0\n% Alias string\n%EndEventDef\n0 1 2\n";
    for (text, name) in [
        (paje, "a trace in the Paje format"),
        ("@ mpiP\n@ Command : ./app\n@ Version : 3.5\n", "a report of mpiP"),
        ("\n=== OTF2-PRINT ===\n\n=== Events ===\n", "the text of an OTF2 trace"),
        ("#Paraver (01/01/26 at 10:00):1000_ns:1(2):1:2(1:1,1:1)\n1:1:1:1:1:0:10:1\n", "a trace of Paraver"),
        ("# darshan log version: 3.41\n# compression method: ZLIB\nPOSIX\t0\t1\tx\n", "darshan"),
    ] {
        folder.write("file", text);
        folder.fails("viem partition file --blocks=2", 65, name);
        folder.fails("viem traffic file", 65, name);
    }
}
