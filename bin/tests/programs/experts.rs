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
        assert_eq!(own["placements"][0]["cost"], again["placements"][0]["cost"]);
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
        assert_eq!(report["options"]["time_limit"], limit.split_once('=').unwrap().1.parse::<f64>().unwrap());
        report["placements"][0]["cost"].as_f64().unwrap()
    };
    assert!(cost("--time_limit=0.5") < cost("--time_limit=0"));
}

#[test]
fn counts_are_loads_that_are_made_even() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let loads = [5, 3, 7, 1, 6, 2, 0, 4];
    let lines: String =
        loads.iter().enumerate().map(|(expert, load)| format!("0,{expert},{load}\n")).collect();
    fs::write(path("named.csv"), format!("layer_id,expert_id,count\n{lines}")).unwrap();
    fs::write(path("open.csv"), &lines).unwrap();
    fs::write(path("halves.csv"), lines.replace('\n', ".5\n")).unwrap();
    let step = |step: u32, load: fn(&i32) -> i32| -> String {
        loads.iter().enumerate().map(|(expert, own)| format!("{step},{expert},{}\n", load(own))).collect()
    };
    let steps = step(3, |load| 2 * load) + &step(9, |load| 9 - load);
    fs::write(path("steps.csv"), format!("step,expert_id,count\n{}", steps)).unwrap();
    let machine = ["--machine=2:2", "--distance_parameter_string=1:10", "--experts=8"];
    for (file, more, greatest) in [
        ("named.csv", None, 7.0),
        ("open.csv", Some("--read_as=loads"), 7.0),
        ("halves.csv", None, 8.0),
        ("steps.csv", None, 25.0),
    ] {
        let mut command = program("viem", folder.path());
        let output =
            command.args([file, "--verify", "--json=report"]).args(more).args(machine).assert().success();
        let (said, noted) = (&output.get_output().stdout, &output.get_output().stderr);
        assert!(String::from_utf8_lossy(said).contains("verified: all loads of the files are the same"));
        assert!(
            String::from_utf8_lossy(noted).contains("note: the file holds how many tokens each expert has")
        );
        let summed = String::from_utf8_lossy(noted).contains(
            "loads are summed over all lines of a layer and an expert, whatever is in columns step",
        );
        assert_eq!(summed, file == "steps.csv");
        let report = report_in(&path("report"));
        assert_eq!(report["placements"][0]["loads"][0]["greatest"], greatest, "{file}");
        assert!(report["placements"][0]["cost"].is_null() && report["tokens"].is_null());
        let mut score = program("evaluator", folder.path());
        score.args([file, "--input_mapping=experts.json", "--json=score"]).args(more).args(machine);
        stdout_of(&mut score);
        assert_eq!(report_in(&path("score"))["placements"][0]["loads"][0]["greatest"], greatest);
    }
    let message = failure_of(program("viem", folder.path()).arg("open.csv").args(machine), 65);
    assert!(message.contains("open.csv, line 1, column 1: this may hold choices"), "{message}");
    assert!(message.ends_with("say which it holds with --read_as=choices or --read_as=loads\n"), "{message}");
}

#[test]
fn an_older_placement_is_resumed_with_few_moves() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("trace.npy"), array()).unwrap();
    let place = |more: &[&str]| {
        let mut command = program("viem", folder.path());
        command.args(["trace.npy", "--experts=16", "--json=report", "--verify"]).args(MACHINE).args(more);
        (stdout_of(&mut command), report_in(&path("report")))
    };
    place(&["-o", "old.json"]);
    // The nodes in the other order, and the GPUs of each the other way round.
    let old = fs::read_to_string(path("old.json")).unwrap();
    let slots = old.split('[').nth(2).unwrap().split(']').next().unwrap();
    let mut slots: Vec<&str> = slots.split(", ").collect();
    slots.reverse();
    let renamed = format!("{{\"physical_to_logical_map\": [[{}]]}}", slots.join(","));
    fs::write(path("renamed.json"), renamed).unwrap();
    for name in ["old.json", "renamed.json"] {
        let (said, report) = place(&["--remap_from", name, "--migration_weight=1"]);
        assert!(said.contains("migration: 0 of 16 copies of experts change place, 0.00 % of all"), "{said}");
        assert!(said.contains(", and so are all loads, and so is the migration\n"), "{said}");
        assert_eq!(report["remap"]["moved"], 0);
    }
    let score = |old: &str| {
        let mut command = program("evaluator", folder.path());
        command
            .args(["trace.npy", "--experts=16", "--input_mapping=experts.json", "--json=score", old])
            .args(MACHINE);
        command
    };
    let order = "{\"physical_to_logical_map\": [[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]]}";
    fs::write(path("order.json"), order).unwrap();
    let (_, free) = place(&["--remap_from=order.json", "--migration_weight=0"]);
    let (_, dear) = place(&["--remap_from=order.json", "--migration_weight=1000000"]);
    let said = stdout_of(&mut score("--remap_from=order.json"));
    let moved = &dear["remap"]["moved"];
    assert!(said.contains(&format!("migration: {moved} of 16 copies of experts change place")), "{said}");
    assert_eq!(report_in(&path("score"))["remap"]["moved"], *moved);
    assert!(free["remap"]["moved"].as_u64() > dear["remap"]["moved"].as_u64());
    assert!(free["placements"][0]["cost"].as_f64() < dear["placements"][0]["cost"].as_f64());
    fs::write(path("short.json"), "{\"physical_to_logical_map\": [[0, 1]]}").unwrap();
    let short = "short.json, line 1, column 1: layer 0 has no copy of expert 2";
    assert!(failure_of(&mut score("--remap_from=short.json"), 65).contains(short));
    let more = order.replace("15]", "15,0,1,2,3,4,5,6,7]");
    fs::write(path("more.json"), more).unwrap();
    let refused = failure_of(&mut score("--remap_from=more.json"), 2);
    assert!(refused.contains("the older placement has 24 slots in each layer"), "{refused}");
    let mut command = program("viem", folder.path());
    command
        .args(["trace.npy", "--experts=16", "--remap_from=short.json", "--migration_weight=1"])
        .args(MACHINE);
    assert!(failure_of(&mut command, 65).contains(short));
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
