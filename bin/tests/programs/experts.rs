//! Placements of experts as a user makes them.

#[cfg(unix)]
use std::{thread, time::Duration};

#[cfg(unix)]
use crate::common::signals::{start, told_after};
use crate::common::{Folder, failure_of, said_by, says};

const MACHINE: &str = "--machine=4:2 --distances=1:10";

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

/// A folder with the choices as an array.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("trace.npy", array());
    folder
}

#[test]
fn placements_are_verified_from_any_form_of_a_trace() {
    let folder = folder();
    folder.write_lines("trace.csv", choices().iter().map(|[a, b]| format!("0,{a},{b}")));
    for trace in ["trace.csv --replicas=0", "trace.npy --replicas=0", "trace.npy --replicas=8"] {
        let common = format!("--experts=16 --token-bytes=512 {MACHINE}");
        let said = folder.stdout(format!("viem experts {trace} {common} --verify --json=report"));
        says(&said, ["verified: J of the files is the same, and so are all loads"]);
        let trace = trace.split(' ').next().unwrap();
        folder.stdout(format!("viem experts {trace} {common} --score=experts.json --json=score"));
        let (own, again) = (folder.report("report"), folder.report("score"));
        assert_eq!(own["placements"][0]["cost"], again["placements"][0]["cost"]);
    }
}

#[test]
fn a_time_limit_is_kept_and_reported() {
    let folder = folder();
    let cost = |limit: f64| {
        let options = "--experts=16 --json=report --preset=fast";
        folder.stdout(format!("viem experts trace.npy {options} --time-limit={limit} {MACHINE}"));
        let report = folder.report("report");
        assert_eq!(report["options"]["time_limit"], limit);
        report["placements"][0]["cost"].as_f64().unwrap()
    };
    assert!(cost(0.5) < cost(0.0));
}

#[cfg(unix)]
#[test]
fn a_signal_saves_the_best_placement() {
    let folder = folder();
    let run =
        |more: &str| format!("viem experts trace.npy --experts=16 --json=report --verify {MACHINE} {more}");
    let text = folder.stdout(run(""));
    assert!(!text.contains("stopped early") && folder.report("report")["stopped"] == false);
    for signal in ["-INT", "-TERM"] {
        let started = start(&folder, &run("--time-limit=1h"), "machine: ");
        // The machine is printed just before the search begins.
        thread::sleep(Duration::from_millis(300));
        let text = told_after(signal, started);
        says(
            &text,
            [
                "stopped early: this is the best placement found so far",
                "verified: J of the files is the same",
            ],
        );
        assert_eq!(folder.report("report")["stopped"], true);
    }
}

#[test]
fn counts_are_loads_that_are_made_even() {
    let loads = [5, 3, 7, 1, 6, 2, 0, 4];
    let lines: String =
        loads.iter().enumerate().map(|(expert, load)| format!("0,{expert},{load}\n")).collect();
    let step = |step: u32, load: fn(&i32) -> i32| -> String {
        loads.iter().enumerate().map(|(expert, own)| format!("{step},{expert},{}\n", load(own))).collect()
    };
    let steps = step(3, |load| 2 * load) + &step(9, |load| 9 - load);
    let folder = Folder::with(&[
        ("named.csv", &format!("layer_id,expert_id,count\n{lines}")),
        ("open.csv", &lines),
        ("halves.csv", &lines.replace('\n', ".5\n")),
        ("steps.csv", &format!("step,expert_id,count\n{steps}")),
    ]);
    let machine = "--machine=2:2 --distances=1:10 --experts=8";
    for (file, greatest) in
        [("named.csv", 7.0), ("open.csv --read-as=loads", 7.0), ("halves.csv", 8.0), ("steps.csv", 25.0)]
    {
        let run = format!("viem experts {file} --verify --json=report {machine}");
        let (said, noted) = said_by(&mut folder.command(run));
        says(&said, ["verified: all loads of the files are the same"]);
        says(&noted, ["note: the file holds how many tokens each expert has"]);
        let summed = noted.contains(
            "loads are summed over all lines of a layer and an expert, whatever is in columns step",
        );
        assert_eq!(summed, file == "steps.csv");
        let report = folder.report("report");
        assert_eq!(report["placements"][0]["loads"][0]["greatest"], greatest, "{file}");
        assert!(report["placements"][0]["cost"].is_null() && report["tokens"].is_null());
        folder.stdout(format!("viem experts {file} --score=experts.json --json=score {machine}"));
        assert_eq!(folder.report("score")["placements"][0]["loads"][0]["greatest"], greatest);
    }
    let unknown = "open.csv, line 1, column 1: this may hold choices";
    let message = folder.fails(format!("viem experts open.csv {machine}"), 65, unknown);
    assert!(message.ends_with("say which it holds with --read-as=choices or --read-as=loads\n"), "{message}");
}

#[test]
fn an_older_placement_is_resumed_with_few_moves() {
    let folder = folder();
    let common = format!("trace.npy --experts=16 {MACHINE}");
    let place = |more: &str| {
        let said = folder.stdout(format!("viem experts {common} --json=report --verify {more}"));
        (said, folder.report("report"))
    };
    place("-o old.json");
    // The nodes in the other order, and the GPUs of each the other way round.
    let old = folder.read("old.json");
    let slots = old.split('[').nth(2).unwrap().split(']').next().unwrap();
    let mut slots: Vec<&str> = slots.split(", ").collect();
    slots.reverse();
    folder.write("renamed.json", format!("{{\"physical_to_logical_map\": [[{}]]}}", slots.join(",")));
    for name in ["old.json", "renamed.json"] {
        let (said, report) = place(&format!("--previous {name} --migration-weight=1"));
        says(&said, ["migration: 0 of 16 copies of experts move, 0.00 % of all"]);
        says(&said, [", and so are all loads, and so is the migration\n"]);
        assert_eq!(report["remap"]["moved"], 0);
    }
    let score = format!("viem experts {common} --score=experts.json --json=score --previous");
    let order = "{\"physical_to_logical_map\": [[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]]}";
    folder.write("order.json", order);
    let (_, free) = place("--previous=order.json --migration-weight=0");
    let (_, dear) = place("--previous=order.json --migration-weight=1000000");
    let said = folder.stdout(format!("{score} order.json"));
    let moved = &dear["remap"]["moved"];
    says(&said, [format!("migration: {moved} of 16 copies of experts move")]);
    assert_eq!(folder.report("score")["remap"]["moved"], *moved);
    assert!(free["remap"]["moved"].as_u64() > dear["remap"]["moved"].as_u64());
    assert!(free["placements"][0]["cost"].as_f64() < dear["placements"][0]["cost"].as_f64());
    folder.write("short.json", "{\"physical_to_logical_map\": [[0, 1]]}");
    let short = "short.json, line 1, column 1: layer 0 has no copy of expert 2";
    folder.fails(format!("{score} short.json"), 65, short);
    folder.write("more.json", order.replace("15]", "15,0,1,2,3,4,5,6,7]"));
    folder.fails(format!("{score} more.json"), 2, "the older placement has 24 slots in each layer");
    folder.fails(format!("viem experts {common} --previous=short.json --migration-weight=1"), 65, short);
}

#[test]
fn what_cannot_be_read_again_is_not_verified() {
    let folder = folder();
    for files in ["trace.npy -o -", "- -o experts.json"] {
        let mut command = folder.command(format!("viem experts {files} --experts=16 --verify {MACHINE}"));
        says(&failure_of(command.write_stdin(array()), 2), ["--verify reads the files again"]);
    }
}
