//! `viem score` as a user runs it.

use crate::common::{Folder, after, objective, says};
use serde_json::Value;

const CYCLE: &str = "4 4 1\n2 5 4 8\n1 5 3 6\n2 6 4 7\n1 8 3 7\n";
const MACHINE: &str = "--machine=2:2 --distances=10:100";

/// A folder with a cycle and a mapping of it.
fn folder() -> Folder {
    Folder::with(&[("cycle.graph", CYCLE), ("mapping", "0\n2\n3\n1\n")])
}

/// The command that scores the mapping with further options.
fn score(more: &str) -> String {
    format!("viem score cycle.graph mapping {MACHINE} {more}")
}

#[test]
fn objective_identity_and_traffic_of_each_level() {
    let folder = folder();
    // Processes 0 and 3 share a group, and so do 1 and 2: 8 and 6 stay inside, 5 and 7 do not.
    let text = folder.stdout(score("--json=report"));
    assert_eq!(objective(&text), 2680);
    assert_eq!(after(&text, "J  ").split_whitespace().next(), Some("3040"));
    says(&text, ["graph: 4 processes, 4 edges"]);
    let report = folder.report("report");
    assert_eq!(report["cost"], 2680);
    assert_eq!(report["cost_of_identity"], 3040);
    let level = |index: usize, key: &str| report["levels"][index][key].as_f64().unwrap();
    assert_eq!((level(0, "weight"), level(1, "weight")), (14.0, 12.0));
    assert_eq!((level(0, "cost"), level(1, "cost")), (280.0, 2400.0));
    assert!((level(0, "share") - 14.0 / 26.0).abs() < 1e-12);
    let mut again: Value = serde_json::from_str(&folder.stdout(score("--json=-"))).unwrap();
    again["seconds"] = report["seconds"].clone();
    assert_eq!(again, report);
}

#[test]
fn files_that_are_no_mapping_are_rejected_at_the_first_offending_line_or_named() {
    let folder = folder();
    let cases = [
        ("0\n1\n1\n3\n", "mapping, line 3,"),
        ("0\n1\n2\n4\n", "mapping, line 4,"),
        ("0\nx\n2\n3\n", "mapping, line 2,"),
        ("0\n1 2\n3\n", "mapping, line 2,"),
        ("-1\n0\n1\n2\n", "mapping, line 1,"),
        ("0\n1\n2\n3\n3\n", "mapping, line 5,"),
        ("0\n\n1\n2\n3\n", "mapping, line 2,"),
        ("0\n1\n2", "after 3 of 4 processes"),
        (CYCLE, "a graph in METIS format"),
        ("0,2\n1,3\n2,0\n3,1\n", "CSV"),
        ("0 1 1 1\n1 0 1 1\n1 1 0 1\n1 1 1 0\n", "a dense matrix"),
    ];
    for (mapping, expected) in cases {
        folder.write("mapping", mapping);
        folder.fails(score(""), 65, expected);
    }
    folder.fails(format!("viem score cycle.graph missing {MACHINE}"), 66, "");
}

#[test]
fn a_balance_is_for_many_vertices_on_a_pe() {
    let folder = folder();
    folder.fails(score("--imbalance=3"), 2, "--imbalance is for graphs with many vertices on a PE");
}

#[test]
fn mappings_are_compared() {
    let folder = folder();
    let text = folder.stdout(score("--compare=block,cyclic,socket,mapping,random --json=report"));
    says(&text, ["J is a model of communication, not a run time"]);
    let rows: Vec<Vec<&str>> = text
        .lines()
        .skip_while(|line| !line.starts_with("mapping "))
        .map(|line| line.split_whitespace().collect())
        .collect();
    let (columns, more) = rows[0].split_at(11);
    let heads =
        ["mapping", "J", "than", "identity", "level", "1", "level", "2", "busiest", "node", "partners"];
    assert_eq!(columns, heads);
    assert_eq!(more, ["busiest", "link"]);
    // The two groups are nodes. Their outgoing traffic is 5 + 7; in the order of the processes it is 8 + 6,
    // and round-robin nearly everything is outgoing.
    assert_eq!(
        rows[1][..11],
        ["mapping", "2680", "11.8", "%", "less", "53.85", "%", "46.15", "%", "12", "1"]
    );
    assert_eq!(rows[2][..10], ["block", "3040", "the", "same", "46.15", "%", "53.85", "%", "14", "1"]);
    assert_eq!(rows[3][..11], ["cyclic", "5200", "71.1", "%", "more", "0.00", "%", "100.00", "%", "26", "1"]);
    assert_eq!(rows[4][..2], ["socket", "3040"]);
    assert_eq!(rows[5], rows[1]);
    // What all rows have is what the report of each mapping alone has.
    let whole = folder.report("report");
    assert_eq!(rows[1][11], whole["busiest"]["mapping"]["link"]["load"].to_string());
    assert_eq!(rows[2][10], whole["busiest"]["identity"]["link"]["load"].to_string());
    let compared = &whole["compared"];
    assert_eq!(compared[0]["busiest_link"], whole["busiest"]["mapping"]["link"]);
    let text = folder.stdout(score("--compare=node-major,rail --simulate --json=report"));
    says(&text, ["busiest link        simulated"]);
    let simulated = folder.report("report");
    let times = |row: usize| simulated["compared"][row]["completion_time"].as_u64().unwrap();
    assert_eq!(simulated["simulation"]["completion_time"], times(0));
    assert!(times(1) > 0 && simulated["compared"][2]["cost"] == compared[2]["cost"]);
    assert_eq!(compared.as_array().unwrap().len(), 6);
    assert_eq!((&compared[1]["name"], &compared[1]["cost"]), (&Value::from("block"), &Value::from(3040)));
    assert_eq!((&compared[0]["busiest"], &compared[0]["most_partners"]), (&Value::from(12), &Value::from(1)));
    // Files are inputs: they must exist, and must not be overwritten.
    let names = "it is neither one of block, socket, cyclic, node, node-major, megatron, rail, random nor a file that is there";
    folder.fails(score("--compare=block,blok"), 66, &format!("blok: cannot be read: {names}"));
    folder.fails(score("--compare=mapping --json=mapping"), 2, "would overwrite the input");
    folder.fails(score("--compare=block,,random"), 2, "");
}

#[test]
fn a_picture_is_drawn_for_machines_of_any_kind() {
    let folder = folder();
    for machine in [MACHINE, "--machine=torus:3x2", "--machine=complete:4"] {
        let picture = "mapping --picture=out.svg";
        folder.stdout(format!("viem score cycle.graph {picture} {machine}"));
        let text = folder.read("out.svg");
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
        says(&text, ["of mapping", "prefers-color-scheme:dark"]);
    }
    folder.fails(score("--picture=mapping"), 2, "would overwrite the input");
}
