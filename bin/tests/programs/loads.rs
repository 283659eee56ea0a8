//! Least loads, and what programs say of loads that are not as asked.

use std::fs;
use std::path::Path;

use crate::common::{failure_of, program, report_in, stdout_of};
use assert_cmd::Command;
use viem::graph::generate;
use viem_io::metis::{self, GraphContent};

const MACHINE: [&str; 2] = ["--machine=4:4:4", "--distance_parameter_string=1:10:100"];

/// 2^14 cells.
fn write_grid(folder: &Path) {
    let mut text = Vec::new();
    metis::write(&mut text, &generate::grid(128, 128), GraphContent::NO_WEIGHTS).unwrap();
    fs::write(folder.join("grid"), text).unwrap();
}

/// A path of vertices of these weights.
fn write_path(folder: &Path, weights: &[u32]) {
    let last = weights.len();
    let line = |(index, weight): (usize, &u32)| {
        let around = [index, index + 2].into_iter().filter(|&other| other > 0 && other <= last);
        format!("{weight} {}\n", around.map(|other| other.to_string()).collect::<Vec<_>>().join(" "))
    };
    let lines: String = weights.iter().enumerate().map(line).collect();
    fs::write(folder.join("path"), format!("{last} {} 10\n{lines}", last - 1)).unwrap();
}

fn loads(path: &Path) -> Vec<usize> {
    let mut loads = vec![0; 64];
    let text = fs::read_to_string(path).unwrap();
    text.lines().for_each(|line| loads[line.parse::<usize>().unwrap()] += 1);
    loads
}

fn on_grid(name: &str, folder: &Path, more: &[&str]) -> Command {
    let mut command = program(name, folder);
    command.arg("grid").args(more);
    command
}

#[test]
fn no_place_gets_less_than_the_least_load() {
    let folder = tempfile::tempdir().unwrap();
    write_grid(folder.path());
    let path = |name: &str| folder.path().join(name);
    let common = ["--imbalance=100", "--verify", "--json=report"];
    let model = ["--preconfiguration=fast", "-o", "model", "--mapping_filename=parts"];
    let mapping = ["--preconfiguration_mapping=fast", "-o", "parts"];
    let resumed = ["--remap_from=old", "--migration_weight=0.01"];
    // All was on the first half of the PEs.
    fs::write(path("old"), (0..1 << 14).map(|cell| format!("{}\n", cell >> 9)).collect::<String>()).unwrap();
    for (name, options) in [
        ("generate_model", [&model[..], &["--k=64"]].concat()),
        ("generate_model", [&model[..], &["--k=64"], &resumed].concat()),
        ("generate_model", [&model[..], &MACHINE].concat()),
        ("generate_model", [&model[..], &MACHINE, &resumed].concat()),
        ("viem", [&mapping[..], &MACHINE].concat()),
        ("viem", [&mapping[..], &MACHINE, &resumed].concat()),
    ] {
        let options = [&options[..], &common].concat();
        let below = |report: &serde_json::Value| {
            ["below_half", "below_least", "shortfall"].map(|field| report["loads"][field].as_u64().unwrap())
        };
        let text = stdout_of(&mut on_grid(name, folder.path(), &options));
        let (report, found) = (report_in(&path("report")), loads(&path("parts")));
        let half = found.iter().filter(|&&load| load < 128).count();
        assert_eq!(
            (below(&report), &report["options"]["least_load"]),
            ([half as u64, 0, 0], &0.0.into()),
            "{options:?}"
        );
        assert!(text.contains(&format!("{half} of 64 p")) && text.contains("less than half"), "{text}");
        assert!(half > 0, "{options:?}");

        let text = stdout_of(on_grid(name, folder.path(), &options).arg("--least_load=50"));
        let report = report_in(&path("report"));
        assert!(loads(&path("parts")).iter().all(|load| (128..=512).contains(load)), "{options:?}");
        assert_eq!(
            (below(&report), &report["options"]["least_load"]),
            ([0, 0, 0], &50.0.into()),
            "{options:?}"
        );
        assert!(text.contains("0 of 64 p"), "{text}");
    }
    let score = ["--input_mapping=parts", "--json=report", "--least_load=50", "--imbalance=100"];
    stdout_of(&mut on_grid("evaluator", folder.path(), &[&MACHINE[..], &score].concat()));
    assert_eq!(report_in(&path("report"))["loads"]["below_half"], 0);
}

#[test]
fn what_is_missing_is_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    write_path(folder.path(), &[10, 1, 1, 10]);
    let mut command = program("generate_model", folder.path());
    command.args(["path", "--k=3", "--imbalance=50", "--least_load=100", "--json=report", "-o", "model"]);
    let output = command.output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    assert!(message.contains("1 of 3 parts are below their least load, by 5 in total"), "{message}");
    let report = report_in(&folder.path().join("report"));
    assert_eq!((&report["loads"]["below_least"], &report["loads"]["shortfall"]), (&1.into(), &5.into()));
}

#[test]
fn a_vertex_is_named_only_if_it_is_too_heavy() {
    let folder = tempfile::tempdir().unwrap();
    let warnings = |name: &str, weights: &[u32], options: &[&str]| {
        write_path(folder.path(), weights);
        let mut command = program(name, folder.path());
        command.arg("path").args(["--machine=complete:3", "-o", "out"]).args(options);
        let output = command.output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    for name in ["generate_model", "viem"] {
        let text = warnings(name, &[1, 1, 20, 1, 1], &[]);
        assert!(
            text.contains("vertex 3 (counted from 1) weighs 20, more than any processing element may"),
            "{text}"
        );
        let text = warnings(name, &[4, 4, 4, 4], &["--imbalance=0"]);
        assert!(text.contains("exceed their bounds by 2 in total; allow more --imbalance"), "{text}");
        // Any of the others may take it, but it is fixed.
        fs::write(folder.path().join("speeds"), "1\n8\n8\n").unwrap();
        fs::write(folder.path().join("fixed"), "1 0\n").unwrap();
        let text = warnings(name, &[1, 6, 1, 1, 8], &["--pe_weights=speeds", "--fixed=fixed"]);
        let expected =
            "vertex 2 (counted from 1) weighs 6, more than processing element 0, to which it is fixed, may";
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn a_least_load_is_refused_where_it_means_nothing() {
    let folder = tempfile::tempdir().unwrap();
    write_grid(folder.path());
    let index = ["--k=4", "--write_index=index", "-o", "model"];
    stdout_of(&mut on_grid("generate_model", folder.path(), &index));
    let refused = |name: &str, options: &[&str]| failure_of(&mut on_grid(name, folder.path(), options), 2);
    let message = refused("generate_model", &["--k=4", "--index=index", "--least_load=50"]);
    assert!(message.contains("--least_load"), "{message}");
    let message = refused("generate_model", &[&index[..], &["--least_load=50"]].concat());
    assert!(message.contains("--least_load does not go with --write_index"), "{message}");
    for bad in ["-1", "101", "nan"] {
        let option = format!("--least_load={bad}");
        refused("generate_model", &["--k=4", &option]);
        refused("viem", &[&MACHINE[..], &[&option]].concat());
    }
    let message = refused("viem", &["--machine=hypercube:14", "--least_load=50"]);
    assert!(message.contains("--least_load is for many-to-one mappings"), "{message}");
}

/// How many different numbers stand in a file.
fn used(path: &Path) -> usize {
    let text = fs::read_to_string(path).unwrap();
    text.lines().collect::<std::collections::BTreeSet<_>>().len()
}

#[test]
fn no_place_is_empty_while_there_are_vertices_enough() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mut text = Vec::new();
    metis::write(&mut text, &generate::grid(8, 8), GraphContent::NO_WEIGHTS).unwrap();
    fs::write(path("grid"), text).unwrap();
    // One of twelve vertices has a load.
    write_path(folder.path(), &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    fs::write(path("points"), (0..12).map(|x| format!("{x} 0\n")).collect::<String>()).unwrap();
    let model = ["-o", "model", "--mapping_filename=parts", "--json=report", "--verify"];
    for algorithm in ["multilevel", "linear", "rsb", "rcb", "zcurve", "hilbert"] {
        for index in [&[][..], &["--write_index=index"], &["--index=index"]] {
            let algorithm = format!("--algorithm={algorithm}");
            let with_points =
                algorithm.ends_with("rcb") || algorithm.ends_with("curve") || algorithm.ends_with("bert");
            let mut command = program("generate_model", folder.path());
            command.args(["path", "--k=5"]).args(model).args(index);
            if index != ["--index=index"] {
                command.arg(&algorithm);
                command.args(with_points.then_some("--coordinates=points"));
            }
            stdout_of(&mut command);
            assert_eq!(used(&path("parts")), 5, "{algorithm} {index:?}");
            assert_eq!(report_in(&path("report"))["loads"]["empty"], 0);
        }
    }
    for (machine, distances) in [("5:4", "1:10"), ("mesh:20", "1")] {
        let machine = [format!("--machine={machine}"), format!("--distance_parameter_string={distances}")];
        let mut command = program("viem", folder.path());
        stdout_of(command.arg("grid").args(&machine).args(["-o", "parts", "--json=report"]));
        assert_eq!(used(&path("parts")), 20, "{machine:?}");
        assert_eq!(report_in(&path("report"))["loads"]["empty"], 0);
    }
}

#[test]
fn what_is_rounded_to_nothing_and_what_stays_empty_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = Vec::new();
    metis::write(&mut text, &generate::grid(8, 8), GraphContent::NO_WEIGHTS).unwrap();
    fs::write(folder.path().join("grid"), text).unwrap();
    let said = |name: &str, options: &[&str]| {
        let output = program(name, folder.path()).args(options).output().unwrap();
        assert!(output.status.success(), "{options:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let machine = ["--machine=5:4", "--distance_parameter_string=1:10"];
    let note =
        "note: a least load of 10 % of 3.2 is 0, as it is rounded down; --least_load=32 is at least 1\n";
    assert_eq!(said("generate_model", &["grid", "--k=20", "--least_load=10", "-o", "model"]), note);
    assert_eq!(said("viem", &[&["grid", "--least_load=10", "-o", "parts"], &machine[..]].concat()), note);
    assert_eq!(said("generate_model", &["grid", "--k=20", "--least_load=40", "-o", "model"]), "");
    // Three vertices, of which one is heavy, on four PEs.
    write_path(folder.path(), &[3, 1, 1]);
    let few = ["path", "--imbalance=100", "--machine=2:2", "--distance_parameter_string=1:10", "-o", "parts"];
    assert_eq!(said("viem", &few), "note: there are 3 vertices for 4 processing elements: 1 stays empty\n");
}
