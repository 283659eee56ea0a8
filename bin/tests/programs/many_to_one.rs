//! Many-to-one mapping as a user runs it.

use std::fs;
use std::path::Path;

use crate::common::{after, failure_of, instance, objective, program, report_in, stdout_of};
use assert_cmd::Command;

const MACHINE: [&str; 2] = ["--machine=4:3", "--distance_parameter_string=1:10"];

/// A program on the mesh of 3072 vertices that comes with the project.
fn on_mesh(name: &str, folder: &Path, more: &[&str]) -> Command {
    let mut command = program(name, folder);
    command.arg(instance("mesh_64x48.graph")).args(more);
    command
}

fn pes_in(path: &Path) -> Vec<usize> {
    fs::read_to_string(path).unwrap().lines().map(|line| line.parse().unwrap()).collect()
}

fn loads(pe_of: &[usize], num_pes: usize) -> Vec<usize> {
    let mut loads = vec![0; num_pes];
    pe_of.iter().for_each(|&pe| loads[pe] += 1);
    loads
}

#[test]
fn a_mesh_is_mapped_verified_scored_and_improved() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let options = ["--verify", "--json=report", "--threads=2", "-o", "mapping"];
    let text = stdout_of(on_mesh("viem", folder.path(), &MACHINE).args(options));
    assert!(text.contains("many-to-one mapping, 256.0 vertices per processing element"), "{text}");
    let (cost, report) = (objective(&text), report_in(&path("report")));
    assert!(text.contains(&format!("verified: J of the files is {cost} too, and so are all loads")));
    assert_eq!((&report["cost"], &report["loads"]["bound"]), (&cost.into(), &263.into()));
    assert!(loads(&pes_in(&path("mapping")), 12).iter().all(|&load| (1..=263).contains(&load)));

    let score = ["--input_mapping=mapping", "--json=score"];
    let text = stdout_of(on_mesh("evaluator", folder.path(), &MACHINE).args(score));
    let score = report_in(&path("score"));
    assert_eq!(objective(&text), cost);
    assert_eq!(score["loads"], report["loads"]);
    let levels: i64 =
        score["levels"].as_array().unwrap().iter().map(|level| level["cost"].as_i64().unwrap()).sum();
    assert_eq!(levels, cost);
    assert!(score["by_pe"]["greatest_neighbours"].as_u64().unwrap() <= 11);
    assert!(text.contains("load of the processing elements: "), "{text}");

    let improve = ["--input_mapping=mapping", "-o", "mapping", "--seed=3", "--time_limit=0.2"];
    let text = stdout_of(on_mesh("viem", folder.path(), &MACHINE).args(improve));
    assert!(objective(&text) <= cost);
    assert_eq!(after(&text, &format!("input mapping {cost} -> ")).parse::<i64>().unwrap(), objective(&text));
}

#[test]
fn the_same_seed_gives_the_same_bytes_at_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let mapping = |options: &[&str]| {
        stdout_of(on_mesh("viem", folder.path(), &MACHINE).args(options).args(["-o", "mapping"]));
        fs::read(folder.path().join("mapping")).unwrap()
    };
    let one = mapping(&["--threads=1", "--seed=5"]);
    assert_eq!(mapping(&["--threads=2", "--seed=5"]), one);
    assert_ne!(mapping(&["--threads=2", "--seed=6"]), one);
}

#[test]
fn with_a_process_for_each_element_the_mapping_is_one_to_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = program("viem", folder.path());
    command.arg(instance("openfoam_sphere_16.msgs.graph")).args(["--machine=4:4", "-o", "mapping"]);
    command.arg("--distance_parameter_string=1:10");
    let text = stdout_of(&mut command);
    assert!(text.contains("model has 16 nodes"), "{text}");
    let mut pes = pes_in(&folder.path().join("mapping"));
    pes.sort_unstable();
    assert_eq!(pes, (0..16).collect::<Vec<_>>());
    let message = failure_of(command.arg("--imbalance=3"), 2);
    assert!(
        message.contains("--imbalance is for many-to-one mappings and experts; this mapping is one-to-one"),
        "{message}"
    );
}

#[test]
fn work_follows_the_weights_of_the_elements() {
    let folder = tempfile::tempdir().unwrap();
    let weights: Vec<usize> = (0..12).map(|pe| 1 + pe % 4).collect();
    let lines: Vec<String> = weights.iter().map(usize::to_string).collect();
    fs::write(folder.path().join("weights"), lines.join("\n")).unwrap();
    let options = ["--pe_weights=weights", "--imbalance=0", "--verify", "-o", "mapping"];
    stdout_of(on_mesh("viem", folder.path(), &MACHINE).args(options));
    let pe_of = pes_in(&folder.path().join("mapping"));
    for (load, weight) in loads(&pe_of, 12).into_iter().zip(weights) {
        let share = 3072.0 * weight as f64 / 30.0;
        assert!((load as f64 - share).abs() < 1.0, "{load} for {share}");
    }
    let fails = |content: &str, reason: &str| {
        fs::write(folder.path().join("weights"), content).unwrap();
        let message = failure_of(on_mesh("viem", folder.path(), &MACHINE).arg("--pe_weights=weights"), 65);
        assert!(message.contains(reason), "{message}");
        assert!(!folder.path().join("permutation").exists());
    };
    fails("1\n2\n", "weights, line 3, column 1: the weights end after 2 of 12");
    fails("1\n0\n", "line 2, column 1: `0` is not a weight");
    fails("1 1\n", "`1` is too much");
    fails("x\n", "`x` is not a weight");
    fails(&"1\n".repeat(13), "go on after 12");
}

#[test]
fn a_model_of_a_many_to_one_mapping_is_its_quotient_graph() {
    let folder = tempfile::tempdir().unwrap();
    let onto = ["--mapping_filename=mapping", "--json=report", "-o", "model.graph"];
    stdout_of(on_mesh("generate_model", folder.path(), &MACHINE).args(onto));
    let report = report_in(&folder.path().join("report"));
    // The identity on the model has the cost of the mapping of the mesh.
    let identity: String = (0..12).map(|pe| format!("{pe}\n")).collect();
    fs::write(folder.path().join("identity"), identity).unwrap();
    let mut command = program("evaluator", folder.path());
    let text = stdout_of(command.args(["model.graph", "--input_mapping=identity"]).args(MACHINE));
    assert_eq!(report["cost"], objective(&text));
    let score = ["--input_mapping=mapping"];
    let text = stdout_of(on_mesh("evaluator", folder.path(), &MACHINE).args(score));
    assert_eq!(report["cost"], objective(&text));
    failure_of(on_mesh("generate_model", folder.path(), &MACHINE).arg("--k=5"), 2);
    failure_of(&mut on_mesh("generate_model", folder.path(), &["--pes=0-3"]), 2);
}

#[test]
fn a_many_to_one_mapping_is_compared_with_others_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let text = stdout_of(on_mesh("viem", folder.path(), &MACHINE).args(["-o", "mapping", "--picture=a.svg"]));
    let score = ["--input_mapping=mapping", "--json=report", "--compare=block,cyclic,socket,random,mapping"];
    let scored = stdout_of(on_mesh("evaluator", folder.path(), &MACHINE).args(score).arg("--picture=b.svg"));
    assert!(scored.contains("gain is how much less it is than that of block"), "{scored}");
    let report = report_in(&folder.path().join("report"));
    let rows = report["compared"].as_array().unwrap();
    let costs: Vec<i64> = rows.iter().map(|row| row["cost"].as_i64().unwrap()).collect();
    assert_eq!((costs[0], costs[5]), (objective(&text), objective(&text)));
    // In the order of the mesh, ranges of vertices are bands; random ranges are far apart.
    assert!(costs[0] < costs[1] && costs[1] <= costs[2] && costs[1] < costs[4], "{costs:?}");
    // A band of four rows for each element.
    fs::write(folder.path().join("bands"), (0..3072).map(|v| format!("{}\n", v / 256)).collect::<String>())
        .unwrap();
    let bands = ["--input_mapping=bands", "--quiet", "--json=report"];
    stdout_of(on_mesh("evaluator", folder.path(), &MACHINE).args(bands));
    assert_eq!(report_in(&folder.path().join("report"))["cost"], costs[1]);
    for picture in ["a.svg", "b.svg"] {
        let text = fs::read_to_string(folder.path().join(picture)).unwrap();
        assert!(text.starts_with("<svg ") && text.contains("block") && text.contains("of mapping"), "{text}");
    }
    let message = failure_of(on_mesh("viem", folder.path(), &MACHINE).arg("--launch=openmpi"), 2);
    assert!(message.contains("generate_model --machine"), "{message}");
}

/// Parts along the order of the machine: unchanged without the search, otherwise improved.
#[test]
fn the_first_mapping_may_be_made_along_the_machine() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let points: String = (0..3072).map(|node| format!("{} {}\n", node % 64, node / 64)).collect();
    fs::write(path("points"), points).unwrap();
    fs::write(path("weights"), "1\n2\n1\n".repeat(4)).unwrap();
    let options = ["--pe_weights=weights", "--preconfiguration_mapping=fast", "--verify", "--json=report"];
    for algorithm in ["rcb", "zcurve", "hilbert", "rsb", "linear"] {
        let along = format!("--construction_algorithm={algorithm}");
        let coordinates = ["rcb", "zcurve", "hilbert"].contains(&algorithm).then_some("--coordinates=points");
        let run = |more: &[&str]| {
            let mut command = on_mesh("viem", folder.path(), &MACHINE);
            let text = stdout_of(command.args(options).arg(&along).args(coordinates).args(more));
            (text, report_in(&path("report")))
        };
        let (text, kept) = run(&["--local_search_neighborhood=none", "-o", "kept"]);
        assert_eq!(kept["cost_of_construction"], kept["cost"]);
        assert_eq!(kept["options"]["construction_algorithm"], algorithm);
        assert!(text.contains(&format!("{algorithm} {} -> ", kept["cost_of_construction"])), "{text}");
        // The shares are met exactly: 192 vertices per unit of weight.
        let pe_of = pes_in(&path("kept"));
        assert_eq!(loads(&pe_of, 12), [192, 384, 192].repeat(4));
        if algorithm == "linear" {
            assert!(pe_of.is_sorted());
        }
        let (_, improved) = run(&["-o", "improved"]);
        assert_eq!(improved["cost_of_construction"], kept["cost"]);
        assert!(improved["cost"].as_i64() <= kept["cost"].as_i64());
    }
    let refused = ["--construction_algorithm=linear", "--input_mapping=kept"];
    let message = failure_of(on_mesh("viem", folder.path(), &MACHINE).args(refused), 2);
    assert!(message.contains("--input_mapping names it"), "{message}");
    let missing = failure_of(on_mesh("viem", folder.path(), &MACHINE).arg("--construction_algorithm=rcb"), 2);
    assert!(missing.contains("give --coordinates=FILE"), "{missing}");
}

#[test]
fn meaningless_options_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    for imbalance in ["--imbalance=-1", "--imbalance=nan", "--imbalance=much"] {
        failure_of(on_mesh("viem", folder.path(), &MACHINE).arg(imbalance), 2);
    }
    fs::write(folder.path().join("short"), "0\n1\n").unwrap();
    let start =
        on_mesh("viem", folder.path(), &MACHINE).arg("--input_mapping=short").unwrap_err().to_string();
    assert!(start.contains("ends after 2 of 3072"), "{start}");
    let out_of_range = "12\n".repeat(3072);
    fs::write(folder.path().join("high"), out_of_range).unwrap();
    failure_of(on_mesh("viem", folder.path(), &MACHINE).arg("--input_mapping=high"), 65);
    let names = crate::common::names(folder.path());
    assert_eq!(names, ["high", "short"], "nothing is written");
}
