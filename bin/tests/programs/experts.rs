//! Placements of experts as a user makes them.

use std::fs;

use crate::common::{failure_of, program, report_in, stdout_of};

const MACHINE: [&str; 2] = ["--machine=4:2", "--distance_parameter_string=1:10"];

/// Two choices of 16 experts for each of some tokens.
fn choices() -> Vec<[u8; 2]> {
    (0..600u32)
        .map(|token| [token % 16, (token + 4 + 4 * (token / 16 % 2) + token % 7 / 6) % 16])
        .map(|pair| pair.map(|expert| expert as u8))
        .collect()
}

/// The same as an array of NumPy of one layer.
fn array() -> Vec<u8> {
    let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({}, 2), }}\n", choices().len());
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.bytes());
    file.extend(choices().concat());
    file
}

#[test]
fn placements_are_verified_from_any_form_of_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let text: String = choices().iter().map(|[a, b]| format!("0,{a},{b}\n")).collect();
    fs::write(path("trace.csv"), text).unwrap();
    fs::write(path("trace.npy"), array()).unwrap();
    for (trace, more) in
        [("trace.csv", "--replicas=0"), ("trace.npy", "--replicas=0"), ("trace.npy", "--replicas=8")]
    {
        let mut command = program("viem", folder.path());
        command
            .args([trace, "--experts=16", "--verify", "--token_bytes=512", "--json=report", more])
            .args(MACHINE);
        let said = stdout_of(&mut command);
        assert!(said.contains("verified: J of the files is the same, and so are all loads"), "{said}");
        let mut score = program("evaluator", folder.path());
        score.args([
            trace,
            "--experts=16",
            "--input_mapping=experts.json",
            "--json=score",
            "--token_bytes=512",
        ]);
        stdout_of(score.args(MACHINE));
        let (own, again) = (report_in(&path("report")), report_in(&path("score")));
        assert_eq!(own["placements"][0]["J"], again["placements"][0]["J"]);
    }
}

#[test]
fn a_time_limit_is_kept_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("trace.npy"), array()).unwrap();
    let cost = |limit: &str| {
        let mut command = program("viem", folder.path());
        command.args([
            "trace.npy",
            "--experts=16",
            "--json=report",
            "--preconfiguration_mapping=fast",
            limit,
        ]);
        stdout_of(command.args(MACHINE));
        let report = report_in(&folder.path().join("report"));
        assert_eq!(report["time_limit"], limit.split_once('=').unwrap().1.parse::<f64>().unwrap());
        report["placements"][0]["J"].as_f64().unwrap()
    };
    assert!(cost("--time_limit=0.5") < cost("--time_limit=0"));
}

#[test]
fn what_cannot_be_read_again_is_not_verified() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("trace.npy"), array()).unwrap();
    for (trace, output) in [("trace.npy", "-"), ("-", "experts.json")] {
        let mut command = program("viem", folder.path());
        command.args([trace, "--experts=16", "--verify", "-o", output]).args(MACHINE).write_stdin(array());
        let message = failure_of(&mut command, 2);
        assert!(message.contains("--verify reads the files again"), "{message}");
    }
}
