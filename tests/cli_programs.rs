//! Programs in time, given to the programs as a user does.

mod common;

use std::fs;
use std::path::Path;

use common::{after, failure_of, program, report_in, stdout_of};

/// A program of a pattern in a file `p` of a folder.
fn generated(folder: &Path, pattern: &str) {
    let arguments = ["--generate", pattern, "--shuffle", "-o", "p", "--seed=5"];
    stdout_of(program("generate_model", folder).args(arguments));
}

#[test]
fn a_program_is_generated_mapped_verified_and_simulated() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    generated(at, "mesh:4x4");
    let map = ["p", "--machine=torus:4x4", "--preconfiguration_mapping=fast", "--verify", "--json=map.json"];
    let told = stdout_of(program("viem", at).args(map));
    assert_eq!(after(&told, "program has "), "16 tasks, 192 messages, 12288 flits");
    let report = report_in(&at.join("map.json"));
    assert_eq!(report["estimate"], report["ideal"], "a mesh fits a torus");
    let cost = after(&told, "verified: J of the files is ");
    assert_eq!(cost, format!("{} too", report["cost"]));
    let estimate = after(&told, "verified: F of the files is ");
    assert_eq!(estimate, format!("{:.1} too", report["estimate"].as_f64().unwrap()));

    let score = [
        "p",
        "--machine=torus:4x4",
        "--input_mapping=permutation",
        "--simulate",
        "--trace=t.json",
        "--json=score.json",
    ];
    let told = stdout_of(program("evaluator", at).args(score));
    let score = report_in(&at.join("score.json"));
    assert_eq!(score["J"], report["cost"]);
    assert_eq!(score["estimate"], report["estimate"]);
    assert_eq!(score["simulation"]["completion_time"].as_f64(), report["ideal"].as_f64());
    assert_eq!(score["simulation"]["busiest_links"].as_array().unwrap().len(), 10);
    assert_eq!(
        after(&told, "simulated completion time = "),
        score["simulation"]["completion_time"].to_string()
    );
    let trace = report_in(&at.join("t.json"));
    assert!(trace["traceEvents"].as_array().unwrap().len() > 192 * 2);

    // Its communication graph is a mesh, and can be mapped and simulated as one phase.
    stdout_of(program("generate_model", at).args(["p", "-o", "g"]));
    assert!(fs::read_to_string(at.join("g")).unwrap().starts_with("16 24 11\n"));
    let phase = ["g", "--machine=torus:4x4", "--input_mapping=permutation", "--simulate"];
    let told = stdout_of(program("evaluator", at).args(phase));
    // Each pair exchanges 64 flits in each of four rounds, both ways: that much in each direction at once.
    assert_eq!(after(&told, "simulated completion time = "), (2 * 4 * 64).to_string());
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
    run("1", "a", "simulation");
    run("2", "b", "simulation");
    assert_eq!(fs::read(at.join("a")).unwrap(), fs::read(at.join("b")).unwrap());
    let told = run("2", "c", "estimate");
    assert!(!told.contains("simulated completion time"), "{told}");
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
    let few = ["p", "--machine=mesh:3x3", "--tasks_per_pe=2"];
    let message = failure_of(program("viem", at).args(few), 2);
    assert!(message.contains("leaves room for 18 of 20 tasks; give 3 or more"), "{message}");
}

#[test]
fn what_is_wrong_is_told_and_costs_no_file() {
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
        ("rings:5", "a program is one of"),
        ("ring:x", "such as ring:64"),
        ("ring:2", "a number of tasks from 3"),
    ] {
        let message = failure_of(program("generate_model", at).args(["--generate", wrong, "-o", "q"]), 2);
        assert!(message.contains(text), "{message}");
        assert!(!at.join("q").exists());
    }
    // Where a graph is asked for, a program is called by its name.
    let message = failure_of(program("graphchecker", at).args(["p", "--fix=q"]), 65);
    assert!(!message.is_empty());
    let message = failure_of(
        program("evaluator", at).args(["p", "--machine=mesh:2", "--input_mapping=permutation", "--trace=t"]),
        2,
    );
    assert!(message.contains("--simulate"), "{message}");
}
