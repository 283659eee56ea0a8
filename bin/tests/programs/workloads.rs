//! Workloads, given to the programs as a user does.

use std::fs;
use std::path::Path;

use crate::common::{after, failure_of, program, report_in, stdout_of};

/// A workload of a pattern in a file `p` of a folder.
fn generated(folder: &Path, pattern: &str) {
    let arguments = ["--generate", pattern, "--shuffle", "-o", "p", "--seed=5"];
    stdout_of(program("generate_model", folder).args(arguments));
}

/// Two nodes of two PEs at routers, which are joined by a link that is dear but fast.
#[test]
fn links_of_a_network_have_times_apart_from_their_costs() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let network = |between: u32| {
        format!("6 5 11\n0 2 {between} 3 1 4 1\n0 1 {between} 5 1 6 1\n1 1 1\n1 1 1\n1 2 1\n1 2 1\n")
    };
    fs::write(at.join("n.graph"), network(40)).unwrap();
    fs::write(at.join("t.graph"), network(3)).unwrap();
    fs::write(at.join("u.graph"), "6 5 1\n2 3 4 1 6 1\n1 3 3 1 5 1\n2 1\n1 1\n2 1\n1 1\n").unwrap();
    fs::write(at.join("w"), "// Number of Nodes: 2\n").unwrap();
    fs::write(at.join("m"), "0\n1\n2\n3\n").unwrap();
    generated(at, "ring:4");
    let simulated = |more: &[&str]| {
        let score =
            ["p", "--machine=n.graph", "--input_mapping=m", "--simulate", "--sharing=fair", "--json=score"];
        stdout_of(program("evaluator", at).args(score).args(more));
        let report = report_in(&at.join("score"));
        (report["cost"].as_u64().unwrap(), report["simulation"]["completion_time"].as_u64().unwrap())
    };
    let (slow, fast) = (simulated(&[]), simulated(&["--link_cycles=t.graph"]));
    assert_eq!(slow.0, fast.0, "J counts costs");
    assert!(slow.1 > 4 * fast.1, "{slow:?} {fast:?}");
    assert_eq!(report_in(&at.join("score"))["machine"]["link_cycles"], "t.graph");
    stdout_of(program("viem", at).args(["p", "--machine=n.graph", "--link_cycles=t.graph", "--verify"]));

    let refused = |arguments: &[&str]| failure_of(program("viem", at).arg("p").args(arguments), 2);
    let message = refused(&["--machine=mesh:2x2", "--link_cycles=t.graph"]);
    assert!(message.contains("--link_cycles is for networks in files only"), "{message}");
    let message =
        failure_of(program("viem", at).args(["p", "--machine=n.graph", "--link_cycles=u.graph"]), 65);
    assert!(message.contains("`u.graph`: vertex 1 has other links"), "{message}");
}

#[test]
fn a_workload_is_generated_mapped_verified_and_simulated() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    generated(at, "mesh:4x4");
    let map = ["p", "--machine=torus:4x4", "--preconfiguration_mapping=fast", "--verify", "--json=map.json"];
    let printed = stdout_of(program("viem", at).args(map));
    assert_eq!(after(&printed, "workload has "), "16 tasks, 192 messages, 12288 flits");
    let report = report_in(&at.join("map.json"));
    assert_eq!(report["estimate"], report["ideal"], "a mesh fits a torus");
    let cost = after(&printed, "verified: J of the files is ");
    assert_eq!(cost, format!("{} too", report["cost"]));
    let estimate = after(&printed, "verified: F of the files is ");
    assert_eq!(estimate, format!("{:.1} too", report["estimate"].as_f64().unwrap()));

    let score = [
        "p",
        "--machine=torus:4x4",
        "--input_mapping=permutation",
        "--simulate",
        "--trace=t.json",
        "--json=score.json",
    ];
    let printed = stdout_of(program("evaluator", at).args(score));
    let score = report_in(&at.join("score.json"));
    assert_eq!(score["cost"], report["cost"]);
    assert_eq!(score["estimate"], report["estimate"]);
    assert_eq!(score["simulation"]["completion_time"].as_f64(), report["ideal"].as_f64());
    assert_eq!(score["simulation"]["busiest_links"].as_array().unwrap().len(), 10);
    assert_eq!(
        after(&printed, "simulated completion time = "),
        score["simulation"]["completion_time"].to_string()
    );
    let trace = report_in(&at.join("t.json"));
    assert!(trace["traceEvents"].as_array().unwrap().len() > 192 * 2);

    // Its communication graph is a mesh, and can be mapped and simulated as one phase.
    stdout_of(program("generate_model", at).args(["p", "-o", "g"]));
    assert!(fs::read_to_string(at.join("g")).unwrap().starts_with("16 24 11\n"));
    let phase = ["g", "--machine=torus:4x4", "--input_mapping=permutation", "--simulate"];
    let printed = stdout_of(program("evaluator", at).args(phase));
    // Each pair exchanges 64 flits in each of four rounds, in both directions: the same in each direction at
    // once.
    assert_eq!(after(&printed, "simulated completion time = "), (2 * 4 * 64).to_string());
}

#[test]
fn the_same_seed_gives_the_same_files_and_the_estimate_may_judge() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    generated(at, "random:30");
    let run = |threads: &str, output: &str, judge: &str| {
        let arguments = ["p", "--machine=mesh:6x6", "--preconfiguration_mapping=fast", "--seed=3"];
        let outputs = [
            format!("--threads={threads}"),
            format!("--output_filename={output}"),
            format!("--judge={judge}"),
        ];
        stdout_of(program("viem", at).args(arguments).args(outputs))
    };
    let printed = run("1", "a", "simulation");
    assert_eq!(after(&run("2", "b", "simulation"), "simulated "), after(&printed, "simulated "));
    run("4", "b4", "simulation");
    assert_eq!(fs::read(at.join("a")).unwrap(), fs::read(at.join("b")).unwrap());
    assert_eq!(fs::read(at.join("a")).unwrap(), fs::read(at.join("b4")).unwrap());
    let printed = run("2", "c", "estimate");
    assert!(!printed.contains("simulated completion time"), "{printed}");
    // A mapping is improved in place.
    let improve =
        ["p", "--machine=mesh:6x6", "--preconfiguration_mapping=fast", "--input_mapping=c", "-o", "c"];
    assert!(stdout_of(program("viem", at).args(improve)).contains("input_mapping"));
}

#[test]
fn more_tasks_than_pes_share_them() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    generated(at, "ring:20");
    let map = ["p", "--machine=mesh:3x3", "--preconfiguration_mapping=fast", "--verify", "--tasks_per_pe=4"];
    stdout_of(program("viem", at).args(map));
    let mapping = fs::read_to_string(at.join("permutation")).unwrap();
    let on = |pe: &str| mapping.lines().filter(|line| *line == pe).count();
    assert!(mapping.lines().all(|pe| on(pe) <= 4));
    let score = ["p", "--machine=mesh:3x3", "--input_mapping=permutation", "--simulate"];
    stdout_of(program("evaluator", at).args(score));
    // Capacity that no task can need costs nothing.
    let ample = ["p", "--machine=mesh:3x3", "--preconfiguration_mapping=fast", "--tasks_per_pe=1048576"];
    stdout_of(program("viem", at).args(ample));
    for (name, more) in [("viem", "-oq"), ("evaluator", "--input_mapping=permutation")] {
        let weighed = ["p", "--machine=mesh:3x3", "--pe_weights=weights", more];
        fs::write(at.join("weights"), "2\n1\n3\n1\n1\n4\n2\n3\n3\n").unwrap();
        let message = failure_of(program(name, at).args(weighed), 2);
        assert!(
            message.contains("--pe_weights is for many-to-one mappings; this is a workload"),
            "{message}"
        );
    }
    let few = ["p", "--machine=mesh:3x3", "--tasks_per_pe=2"];
    let message = failure_of(program("viem", at).args(few), 2);
    assert!(message.contains("leaves room for 18 of 20 tasks; give 3 or more"), "{message}");
}

/// The simulated completion time of a mapping.
fn simulated(folder: &Path, machine: &str, mapping: &str) -> u64 {
    let mapping = format!("--input_mapping={mapping}");
    let printed = stdout_of(program("evaluator", folder).args(["p", machine, &mapping, "--simulate"]));
    after(&printed, "simulated completion time = ").parse().unwrap()
}

#[test]
fn the_result_is_not_slower_than_the_input_mapping() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    generated(at, "random:25");
    let machine = "--machine=mesh:5x5";
    for (name, shift) in [("identity", 0), ("shifted", 7)] {
        let lines: String = (0..25).map(|task| format!("{}\n", (task * 6 + shift) % 25)).collect();
        fs::write(at.join(name), lines).unwrap();
        let start = format!("--input_mapping={name}");
        let arguments =
            ["p", machine, "--preconfiguration_mapping=fast", &start, "--json=report", "-o", "out"];
        stdout_of(program("viem", at).args(arguments));
        let (before, after) = (simulated(at, machine, name), simulated(at, machine, "out"));
        assert!(after <= before, "{name}: {before} -> {after}");
        let report = report_in(&at.join("report"));
        assert_eq!(report["completion_time"], after);
        let starts = report["starts"].as_array().unwrap();
        assert!(starts.iter().any(|start| start["start"] == "input_mapping"), "{report}");
    }
    // A mapping that exceeds the capacity is rejected: three tasks are on PE 4, which has capacity 2.
    fs::write(at.join("full"), "4\n".repeat(3) + &"0\n".repeat(22)).unwrap();
    let full = ["p", machine, "--input_mapping=full", "--tasks_per_pe=2"];
    let message = failure_of(program("viem", at).args(full), 65);
    assert!(message.contains("full, line 3"), "{message}");
}

#[test]
fn a_workload_is_drawn_and_launched() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    generated(at, "mesh:4x4");
    let fast = "--preconfiguration_mapping=fast";
    let map =
        ["p", "--machine=torus:4x4", fast, "--picture=a.svg", "--launch=inverse:ranks", "--json=report"];
    let printed = stdout_of(program("viem", at).args(map));
    assert_eq!(after(&printed, "launch files for inverse: "), "ranks");
    let report = report_in(&at.join("report"));
    assert_eq!(report["launch"]["files"][0], "ranks");
    let numbers = |name: &str| -> Vec<usize> {
        let text = fs::read_to_string(at.join(name)).unwrap();
        text.lines().map(|line| line.parse().unwrap()).collect()
    };
    let ranks = numbers("ranks");
    assert!(numbers("permutation").into_iter().enumerate().all(|(rank, pe)| ranks[pe] == rank));
    let picture = fs::read_to_string(at.join("a.svg")).unwrap();
    assert!(picture.contains(&format!("of permutation {}", report["cost"])), "{picture}");
    assert!(picture.contains("J of identity"), "{picture}");

    // The same picture as that of the communication graph and the mapping.
    stdout_of(program("generate_model", at).args(["p", "-o", "g"]));
    let score = ["g", "--machine=torus:4x4", "--input_mapping=permutation", "--picture=b.svg"];
    stdout_of(program("evaluator", at).args(score));
    assert_eq!(picture, fs::read_to_string(at.join("b.svg")).unwrap());

    // A launcher that starts programs through a script.
    let machine = "--machine=hosts:hosts,node=4";
    fs::write(at.join("hosts"), "n1\nn2\nn3\nn4\n").unwrap();
    let printed = stdout_of(program("viem", at).args(["p", machine, fast, "--launch=openmpi"]));
    assert!(after(&printed, "launch with: ").starts_with("mpirun -n 16 "), "{printed}");
    assert_eq!(fs::read_to_string(at.join("rankfile")).unwrap().lines().count(), 16);

    // Tasks that share processing elements are drawn, but not launched; this is detected before any work.
    let shared = ["p", "--machine=mesh:3x3", fast, "-o", "shared"];
    stdout_of(program("viem", at).args(shared).arg("--picture=c.svg"));
    assert!(fs::read_to_string(at.join("c.svg")).unwrap().contains("J of block"));
    let refused = ["p", "--machine=mesh:3x3", fast, "-o", "refused", "--launch=inverse:r"];
    let message = failure_of(program("viem", at).args(refused), 2);
    assert!(message.contains("--launch is for one process per processing element"), "{message}");
    assert!(!at.join("refused").exists() && !at.join("r").exists());
    // The same if the machine itself has capacity for several tasks.
    fs::write(at.join("m.tgt"), "cmpltw 3 6 6 6\n").unwrap();
    let shared = ["p", "--machine=m.tgt", fast, "-o", "shared", "--picture=d.svg", "--json=report"];
    stdout_of(program("viem", at).args(shared));
    assert!(fs::read_to_string(at.join("d.svg")).unwrap().contains("J of block"));
    assert_eq!(report_in(&at.join("report"))["options"]["tasks_per_pe"], 6);
    let message = failure_of(program("viem", at).args(shared).arg("--launch=inverse:r"), 2);
    assert!(message.contains("--launch is for one process per processing element"), "{message}");
    let nameless = ["p", "--machine=torus:4x4", fast, "-o", "refused", "--launch=openmpi:r"];
    let message = failure_of(program("viem", at).args(nameless), 2);
    assert!(message.contains("needs the names of the hosts"), "{message}");
    assert!(!at.join("refused").exists());
}

#[test]
fn timelines_are_drawn_for_pes_of_any_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    generated(at, "ring:4");
    fs::write(at.join("far"), "100\n101\n117\n116\n").unwrap();
    let score = ["p", "--machine=mesh:16x16", "--input_mapping=far", "--simulate", "--picture=t.svg"];
    stdout_of(program("evaluator", at).args(score));
    let picture = fs::read_to_string(at.join("t.svg")).unwrap();
    let rows: Vec<&str> = picture.split(">PE ").skip(1).map(|rest| rest.split('<').next().unwrap()).collect();
    assert_eq!(rows, ["100", "101", "116", "117"]);
    assert!(picture.contains("class=\"h6\""), "{picture}");
}

/// A table of all phases on all links would have at least 2^28 entries.
#[test]
fn without_memory_for_f_j_and_the_simulation_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    stdout_of(program("generate_model", at).args(["--generate", "random:200", "--rounds=80", "-o", "p"]));
    let machine = "--machine=mesh:128x128";
    let message = failure_of(program("viem", at).args(["p", machine]), 71);
    assert!(message.contains("phases on 65536 links need more memory than is available"), "{message}");
    fs::write(at.join("m"), (0..200).map(|task| format!("{task}\n")).collect::<String>()).unwrap();
    let score = ["p", machine, "--input_mapping=m", "--simulate", "--json=score"];
    let printed = stdout_of(program("evaluator", at).args(score));
    let (_, reason) = message.trim_end().split_once(": ").unwrap();
    assert!(after(&printed, "no estimate F (ideal: ").ends_with(reason), "{printed}");
    let report = report_in(&at.join("score"));
    assert!(report["estimate"].is_null() && report["ideal"].is_number());
    assert_eq!(after(&printed, "quadratic assignment objective J(C,D,Pi') = "), report["cost"].to_string());
    let time = report["simulation"]["completion_time"].to_string();
    assert_eq!(after(&printed, "simulated completion time = "), time);
}

#[test]
fn errors_are_reported_and_leave_files_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("permutation"), "precious").unwrap();
    fs::write(
        at.join("p"),
        "PROCESS 0\n RECEIVE 1 4\n SEND 1 4\nSTOP\nPROCESS 1\n RECEIVE 0 4\n SEND 0 4\nSTOP\n",
    )
    .unwrap();
    let message = failure_of(program("viem", at).args(["p", "--machine=mesh:2"]), 65);
    assert!(message.contains("p, line 2, column 2: deadlock: task 0 waits for task 1"), "{message}");
    assert_eq!(fs::read_to_string(at.join("permutation")).unwrap(), "precious");
    for (wrong, text) in [
        ("rings:5", "a workload is one of"),
        ("ring:x", "such as ring:64"),
        ("ring:2", "a number of tasks from 3"),
    ] {
        let message = failure_of(program("generate_model", at).args(["--generate", wrong, "-o", "q"]), 2);
        assert!(message.contains(text), "{message}");
        assert!(!at.join("q").exists());
    }
    // Where a graph is expected, a workload is reported by its kind.
    let message = failure_of(program("graphchecker", at).args(["p", "--fix=q"]), 65);
    assert!(!message.is_empty());
    let message = failure_of(
        program("evaluator", at).args(["p", "--machine=mesh:2", "--input_mapping=permutation", "--trace=t"]),
        2,
    );
    assert!(message.contains("--simulate"), "{message}");
}

#[test]
fn numbers_of_a_workload_may_have_fractions_and_exponents() {
    let folder = tempfile::tempdir().unwrap();
    let text = "PROCESS 0 INT_OP 1.0D+02 SEND 1 16.0 STOP\r\nPROCESS 1 RECEIVE 0 16 STOP\r\n";
    fs::write(folder.path().join("p"), text).unwrap();
    let printed =
        stdout_of(program("viem", folder.path()).args(["p", "--machine=complete:2", "--verify", "-o", "m"]));
    assert!(printed.contains("verified: F of the files is "), "{printed}");
}
