//! `evaluator` as a user runs it.

mod common;

use std::fs;

use common::{after, failure_of, objective, program, report_in, stdout_of};
use serde_json::Value;

const CYCLE: &str = "4 4 1\n2 5 4 8\n1 5 3 6\n2 6 4 7\n1 8 3 7\n";
const MACHINE: [&str; 2] = ["--hierarchy_parameter_string=2:2", "--distance_parameter_string=10:100"];

#[test]
fn objective_identity_and_traffic_of_each_level() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("cycle.graph"), CYCLE).unwrap();
    fs::write(folder.path().join("mapping"), "0\n2\n3\n1\n").unwrap();
    let run = |extra: &str| {
        let mut command = program("evaluator", folder.path());
        stdout_of(command.args(["cycle.graph", "--input_mapping=mapping", extra]).args(MACHINE))
    };
    // Processes 0 and 3 share a group, and so do 1 and 2: 8 and 6 stay inside, 5 and 7 do not.
    let text = run("--json=report");
    assert_eq!(objective(&text), 2680);
    assert_eq!(after(&text, "J of the identity = "), "3040");
    assert!(text.contains("model has 4 nodes, 8 edges"));
    let report = report_in(&folder.path().join("report"));
    assert_eq!(report["J"]["mapping"], 2680);
    assert_eq!(report["J"]["identity"], 3040);
    let level = |index: usize, key: &str| report["levels"][index][key].as_f64().unwrap();
    assert_eq!((level(0, "weight"), level(1, "weight")), (14.0, 12.0));
    assert_eq!((level(0, "cost"), level(1, "cost")), (280.0, 2400.0));
    assert!((level(0, "share") - 14.0 / 26.0).abs() < 1e-12);
    assert_eq!(serde_json::from_str::<Value>(&run("--json=-")).unwrap(), report);
}

#[test]
fn what_is_no_permutation_is_refused_at_its_first_offending_line() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("cycle.graph"), CYCLE).unwrap();
    let cases = [
        ("0\n1\n1\n3\n", 3),
        ("0\n1\n2\n4\n", 4),
        ("0\nx\n2\n3\n", 2),
        ("0\n1 2\n3\n", 2),
        ("-1\n0\n1\n2\n", 1),
        ("0\n1\n2\n3\n3\n", 5),
        ("0\n\n1\n2\n3\n", 2),
    ];
    for (mapping, line) in cases {
        fs::write(folder.path().join("mapping"), mapping).unwrap();
        let mut command = program("evaluator", folder.path());
        command.args(["cycle.graph", "--input_mapping=mapping"]).args(MACHINE);
        let message = failure_of(&mut command, 65);
        assert!(message.contains(&format!("mapping, line {line},")), "{mapping:?}: {message}");
    }
    fs::write(folder.path().join("mapping"), "0\n1\n2").unwrap();
    let mut command = program("evaluator", folder.path());
    command.args(["cycle.graph", "--input_mapping=mapping"]).args(MACHINE);
    assert!(failure_of(&mut command, 65).contains("after 3 of 4 processes"));
    let mut command = program("evaluator", folder.path());
    failure_of(command.args(["cycle.graph", "--input_mapping=missing"]).args(MACHINE), 66);
}

#[test]
fn what_is_given_for_a_mapping_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("cycle.graph"), CYCLE).unwrap();
    let files: [(&str, &str); 3] = [
        (CYCLE, "a graph in METIS format"),
        ("0,2\n1,3\n2,0\n3,1\n", "CSV"),
        ("0 1 1 1\n1 0 1 1\n1 1 0 1\n1 1 1 0\n", "a dense matrix"),
    ];
    for (text, kind) in files {
        fs::write(folder.path().join("mapping"), text).unwrap();
        let mut command = program("evaluator", folder.path());
        let message = failure_of(command.args(["cycle.graph", "--input_mapping=mapping"]).args(MACHINE), 65);
        assert!(message.contains(kind), "{message}");
    }
}
