//! Workloads, given to the programs as a user does.

use crate::common::{Folder, after, figure, says};

/// A folder with a workload of a pattern in a file `p`.
fn folder(pattern: &str) -> Folder {
    let folder = Folder::new();
    folder.stdout(format!("viem traffic --pattern {pattern} --shuffle -o p --seed=5 --workload"));
    folder
}

/// The command that maps the workload by the fastest preset.
fn fast(machine: &str, more: &str) -> String {
    format!("viem simulate p --machine={machine} --preset=fast {more}")
}

/// Two nodes of two PEs at routers, which are joined by a link that is dear but fast.
#[test]
fn links_of_a_network_have_times_apart_from_their_costs() {
    let folder = folder("ring:4");
    let network = |between: u32| {
        format!("6 5 11\n0 2 {between} 3 1 4 1\n0 1 {between} 5 1 6 1\n1 1 1\n1 1 1\n1 2 1\n1 2 1\n")
    };
    folder.write("n.graph", network(40));
    folder.write("t.graph", network(3));
    folder.write("u.graph", "6 5 1\n2 3 4 1 6 1\n1 3 3 1 5 1\n2 1\n1 1\n2 1\n1 1\n");
    folder.write_lines("m", 0..4);
    let simulated = |more: &str| {
        let options = "--score=m --sharing=fair --json=score";
        folder.stdout(format!("viem simulate p --machine=n.graph {options} {more}"));
        let report = folder.report("score");
        (report["cost"].as_u64().unwrap(), report["simulation"]["completion_time"].as_u64().unwrap())
    };
    let (slow, fast) = (simulated(""), simulated("--link-cycles=t.graph"));
    assert_eq!(slow.0, fast.0, "J counts costs");
    assert!(slow.1 > 4 * fast.1, "{slow:?} {fast:?}");
    assert_eq!(folder.report("score")["machine"]["link_cycles"], "t.graph");
    folder.stdout("viem simulate p --machine=n.graph --link-cycles=t.graph --verify");
    let mesh = "viem simulate p --machine=mesh:2x2 --link-cycles=t.graph";
    folder.fails(mesh, 2, "--link-cycles is for networks in files only");
    let other = "viem simulate p --machine=n.graph --link-cycles=u.graph";
    folder.fails(other, 65, "`u.graph`: vertex 1 has other links");
}

#[test]
fn a_workload_is_generated_mapped_verified_and_simulated() {
    let folder = folder("mesh:4x4");
    let printed = folder.stdout(fast("torus:4x4", "--verify --json=map.json"));
    assert_eq!(after(&printed, "workload has "), "16 tasks, 192 messages, 12288 flits");
    let report = folder.report("map.json");
    assert_eq!(report["estimate"], report["ideal"], "a mesh fits a torus");
    let cost = after(&printed, "verified: J of the files is ");
    assert_eq!(cost, format!("{} too", report["cost"]));
    let estimate = after(&printed, "verified: F of the files is ");
    assert_eq!(estimate, format!("{:.1} too", report["estimate"].as_f64().unwrap()));

    let scored = "--machine=torus:4x4 --score=permutation";
    let printed = folder.stdout(format!("viem simulate p {scored} --trace=t.json --json=score.json"));
    let score = folder.report("score.json");
    assert_eq!(score["cost"], report["cost"]);
    assert_eq!(score["estimate"], report["estimate"]);
    let simulation = &score["simulation"];
    assert_eq!(simulation["completion_time"].as_f64(), report["ideal"].as_f64());
    assert_eq!(simulation["busiest_links"].as_array().unwrap().len(), 10);
    assert_eq!(after(&printed, "simulated completion time = "), simulation["completion_time"].to_string());
    let trace = folder.report("t.json");
    assert!(trace["traceEvents"].as_array().unwrap().len() > 192 * 2);

    // Its communication graph is a mesh, and can be mapped and simulated as one phase.
    folder.stdout("viem traffic p -o g");
    assert!(folder.read("g").starts_with("16 24 11\n"));
    let printed = folder.stdout("viem score g permutation --machine=torus:4x4 --simulate");
    // Each pair exchanges 64 flits in each of four rounds, in both directions: the same in each direction at
    // once.
    assert_eq!(after(&printed, "simulated completion time = "), (2 * 4 * 64).to_string());
}

#[test]
fn the_same_seed_gives_the_same_files_and_the_estimate_may_judge() {
    let folder = folder("random:30");
    let run = |threads: u32, output: &str, judge: &str| {
        let options = format!("--threads={threads} --output={output} --criterion={judge}");
        folder.stdout(fast("mesh:6x6", &format!("--seed=3 {options}")))
    };
    let printed = run(1, "a", "simulation");
    assert_eq!(after(&run(2, "b", "simulation"), "simulated "), after(&printed, "simulated "));
    run(4, "b4", "simulation");
    assert_eq!(folder.bytes("a"), folder.bytes("b"));
    assert_eq!(folder.bytes("a"), folder.bytes("b4"));
    let printed = run(2, "c", "estimate");
    assert!(!printed.contains("simulated completion time"), "{printed}");
    // A mapping is improved in place.
    says(&folder.stdout(fast("mesh:6x6", "--initial=c -o c")), ["input_mapping"]);
}

#[test]
fn more_tasks_than_pes_share_them() {
    let folder = folder("ring:20");
    folder.stdout(fast("mesh:3x3", "--verify --tasks-per-pe=4"));
    let mapping = folder.numbers("permutation");
    let on = |pe: usize| mapping.iter().filter(|&&other| other == pe).count();
    assert!(mapping.iter().all(|&pe| on(pe) <= 4));
    folder.stdout("viem simulate p --machine=mesh:3x3 --score=permutation");
    // Capacity that no task can need costs nothing.
    folder.stdout(fast("mesh:3x3", "--tasks-per-pe=1048576"));
    let few = "viem simulate p --machine=mesh:3x3 --tasks-per-pe=2";
    folder.fails(few, 2, "leaves room for 18 of 20 tasks; give 3 or more");
}

#[test]
fn the_result_is_not_slower_than_the_input_mapping() {
    let folder = folder("random:25");
    let simulated = |mapping: &str| -> u64 {
        let score = format!("viem simulate p --machine=mesh:5x5 --score={mapping}");
        after(&folder.stdout(score), "simulated completion time = ").parse().unwrap()
    };
    for (name, shift) in [("identity", 0), ("shifted", 7)] {
        folder.write_lines(name, (0..25).map(|task| (task * 6 + shift) % 25));
        folder.stdout(fast("mesh:5x5", &format!("--initial={name} --json=report -o out")));
        let (before, after) = (simulated(name), simulated("out"));
        assert!(after <= before, "{name}: {before} -> {after}");
        let report = folder.report("report");
        assert_eq!(report["completion_time"], after);
        assert!(report["completion_time_of_identity"].as_u64().unwrap() >= after, "{report}");
        let starts = report["starts"].as_array().unwrap();
        assert!(starts.iter().any(|start| start["start"] == "input_mapping"), "{report}");
    }
    // A mapping that exceeds the capacity is rejected: three tasks are on PE 4, which has capacity 2.
    folder.write("full", "4\n".repeat(3) + &"0\n".repeat(22));
    let full = "viem simulate p --machine=mesh:5x5 --initial=full --tasks-per-pe=2";
    folder.fails(full, 65, "full, line 3");
}

#[test]
fn a_workload_is_drawn_and_launched() {
    let folder = folder("mesh:4x4");
    let options = "--picture=a.svg --launch=inverse:ranks --json=report";
    let printed = folder.stdout(fast("torus:4x4", options));
    assert_eq!(after(&printed, "launch files for inverse: "), "ranks");
    let report = folder.report("report");
    assert_eq!(report["launch"]["files"][0], "ranks");
    let ranks = folder.numbers("ranks");
    assert!(folder.numbers("permutation").into_iter().enumerate().all(|(rank, pe)| ranks[pe] == rank));
    let picture = folder.read("a.svg");
    says(&picture, [&*format!("of permutation {}", report["cost"]), "J of identity"]);

    // The same picture as that of the communication graph and the mapping.
    folder.stdout("viem traffic p -o g");
    folder.stdout("viem score g permutation --machine=torus:4x4 --picture=b.svg");
    assert_eq!(picture, folder.read("b.svg"));

    // A launcher that starts programs through a script.
    folder.write("hosts", "n1\nn2\nn3\nn4\n");
    let printed = folder.stdout(fast("hosts:hosts,node=4", "--launch=openmpi"));
    assert!(after(&printed, "launch with: ").starts_with("mpirun -n 16 "), "{printed}");
    assert_eq!(folder.read("rankfile").lines().count(), 16);

    // Tasks that share processing elements are drawn, but not launched; this is detected before any work.
    folder.stdout(fast("mesh:3x3", "-o shared --picture=c.svg"));
    says(&folder.read("c.svg"), ["J of block"]);
    let one = "--launch is for one process per PE";
    folder.fails(fast("mesh:3x3", "-o refused --launch=inverse:r"), 2, one);
    assert!(!folder.has("refused") && !folder.has("r"));
    // The same if the machine itself has capacity for several tasks.
    folder.write("m.tgt", "cmpltw 3 6 6 6\n");
    let shared = fast("m.tgt", "-o shared --picture=d.svg --json=report");
    folder.stdout(&shared);
    says(&folder.read("d.svg"), ["J of block"]);
    assert_eq!(folder.report("report")["options"]["tasks_per_pe"], 6);
    folder.fails(shared + " --launch=inverse:r", 2, one);
    let nameless = fast("torus:4x4", "-o refused --launch=openmpi:r");
    folder.fails(nameless, 2, "needs the names of the hosts");
    assert!(!folder.has("refused"));
}

#[test]
fn timelines_are_drawn_for_pes_of_any_numbers() {
    let folder = folder("ring:4");
    folder.write("far", "100\n101\n117\n116\n");
    folder.stdout("viem simulate p --machine=mesh:16x16 --score=far --picture=t.svg");
    let picture = folder.read("t.svg");
    let rows: Vec<&str> = picture.split(">PE ").skip(1).map(|rest| rest.split('<').next().unwrap()).collect();
    assert_eq!(rows, ["100", "101", "116", "117"]);
    says(&picture, ["class=\"h6\""]);
}

/// A table of all phases on all links would have at least 2^28 entries.
#[test]
fn without_memory_for_f_j_and_the_simulation_are_reported() {
    let folder = Folder::new();
    folder.stdout("viem traffic --pattern random:200 --rounds=80 -o p --workload");
    let expected = "phases on 65536 links need more memory than is available";
    let message = folder.fails("viem simulate p --machine=mesh:128x128", 71, expected);
    folder.write_lines("m", 0..200);
    let score = "viem simulate p --machine=mesh:128x128 --score=m --json=score";
    let printed = folder.stdout(score);
    let (_, reason) = message.trim_end().split_once(": ").unwrap();
    assert!(after(&printed, "no estimate F (ideal: ").ends_with(reason), "{printed}");
    let report = folder.report("score");
    assert!(report["estimate"].is_null() && report["ideal"].is_number());
    assert_eq!(figure(&printed, "J"), report["cost"].to_string());
    let time = report["simulation"]["completion_time"].to_string();
    assert_eq!(after(&printed, "simulated completion time = "), time);
}

#[test]
fn errors_are_reported_and_leave_files_unchanged() {
    let deadlock = "PROCESS 0\n RECEIVE 1 4\n SEND 1 4\nSTOP\nPROCESS 1\n RECEIVE 0 4\n SEND 0 4\nSTOP\n";
    let folder = Folder::with(&[("permutation", "precious"), ("p", deadlock)]);
    let expected = "p, line 2, column 2: deadlock: task 0 waits for task 1";
    folder.fails("viem simulate p --machine=mesh:2", 65, expected);
    assert_eq!(folder.read("permutation"), "precious");
    for (wrong, expected) in [
        ("rings:5", "a pattern is one of"),
        ("ring:x", "such as ring:64"),
        ("ring:2", "a number of tasks from 3"),
    ] {
        folder.fails(format!("viem traffic --pattern {wrong} -o q --workload"), 2, expected);
        assert!(!folder.has("q"));
    }
    // Where a graph is expected, a workload is reported by its kind.
    folder.fails("viem check p --fix=q", 65, "");
    for more in ["--trace=t", "--trace=t -o q", "--compare=block --seed=1"] {
        folder.fails(format!("viem simulate p --machine=mesh:2 {more}"), 2, "give --score=FILE");
    }
    assert!(!folder.has("t") && !folder.has("q"));
}

#[test]
fn files_of_other_kinds_are_named_with_the_verb_that_reads_them() {
    let order = "viem_order 1 0\n";
    let files = [
        ("g", "3 2\n2\n1 3\n2\n"),
        ("s", "num_ranks 1\nrank 0 {\n}\n"),
        ("o", order),
        ("e", "source,target,weight\n2,3,7\n"),
    ];
    let folder = Folder::with(&files);
    for (file, expected) in [
        ("g", "g, line 1, column 1: this looks like a graph in METIS format, not like a workload"),
        ("g", "which begins with PROCESS; viem map maps the processes of a graph"),
        ("s", "which begins with PROCESS; viem traffic --workload makes a workload of it"),
        ("o", "which begins with PROCESS; viem traffic --workload makes a workload of it"),
        ("e", "which begins with PROCESS; viem traffic sums recorded traffic into a graph, for viem map"),
    ] {
        folder.fails(format!("viem simulate {file} --machine=mesh:3"), 65, expected);
        assert!(!folder.has("permutation"));
    }
    let expected = "g, line 1, column 1: this looks like a graph in METIS format, not like a quadratic assignment problem, which \
                    has n and two matrices; viem map maps the processes of a graph";
    folder.fails("viem qap g", 65, expected);
    let expected =
        "g, line 1, column 1: this looks like a graph in METIS format, not like a file of a known kind";
    folder.fails("viem traffic g", 65, expected);
}

#[test]
fn numbers_of_a_workload_may_have_fractions_and_exponents() {
    let text = "PROCESS 0 INT_OP 1.0D+02 SEND 1 16.0 STOP\r\nPROCESS 1 RECEIVE 0 16 STOP\r\n";
    let folder = Folder::with(&[("p", text)]);
    says(
        &folder.stdout("viem simulate p --machine=complete:2 --verify -o m"),
        ["verified: F of the files is "],
    );
}
