//! `generate_model` with speeds, algorithms, coordinates and indices, as a user runs it.

use std::fs;
use std::path::Path;

use crate::common::{after, failure_of, instance, program, report_in, stdout_of};
use assert_cmd::Command;
use viem::partition::{PartitionAlgorithm, PartitionQuality};
use viem_io::Source;
use viem_io::metis::{self, NodeWeights};

/// The program on the mesh of 64 x 48 vertices in `instances/`, which has coordinates.
fn on_mesh(folder: &Path, more: &[&str]) -> Command {
    let points: String = (0..3072).map(|node| format!("{} {}.5\n", node % 64, node / 64)).collect();
    fs::write(folder.join("mesh.xyz"), points).unwrap();
    let mut command = program("generate_model", folder);
    command.arg(instance("mesh_64x48.graph")).args(more);
    command
}

fn numbers_in(path: &Path) -> Vec<u32> {
    fs::read_to_string(path).unwrap().lines().map(|line| line.parse().unwrap()).collect()
}

fn loads(parts: &[u32], count: usize) -> Vec<usize> {
    let mut loads = vec![0; count];
    parts.iter().for_each(|&part| loads[part as usize] += 1);
    loads
}

#[test]
fn every_algorithm_partitions_by_speed_and_reports_its_cost() {
    let folder = tempfile::tempdir().unwrap();
    let graph = Source::open(&instance("mesh_64x48.graph")).unwrap();
    let graph = metis::read(graph, NodeWeights::Read).unwrap();
    for algorithm in PartitionAlgorithm::ALL {
        let options = ["--speeds=1,2,3", "--imbalance=0", "--mapping_filename=parts", "--json=report"];
        let mut command = on_mesh(folder.path(), &options);
        command.args([format!("--algorithm={algorithm}"), "--coordinates=mesh.xyz".to_owned()]);
        let text = stdout_of(command.arg("--picture=parts.svg"));
        let parts = numbers_in(&folder.path().join("parts"));
        assert_eq!(loads(&parts, 3), [512, 1024, 1536], "{algorithm}");
        let (quality, report) =
            (PartitionQuality::of(&graph, &parts, 3), report_in(&folder.path().join("report")));
        assert_eq!(after(&text, "cut ").parse::<usize>().unwrap(), quality.cut_edges);
        for (key, value) in [
            ("cut_edges", quality.cut_edges),
            ("setups", quality.setups),
            ("boundary", quality.boundary),
            ("largest_volume", quality.largest_volume),
        ] {
            assert_eq!(report["quality"][key], value, "{algorithm}: {key}");
        }
        assert_eq!(report["quality"]["loads"], serde_json::json!([512, 1024, 1536]));
        let options = &report["options"];
        assert_eq!((&options["k"], &options["speeds"]), (&3.into(), &serde_json::json!([1, 2, 3])));
        assert_eq!(options["algorithm"], algorithm.name());
        let picture = fs::read_to_string(folder.path().join("parts.svg")).unwrap();
        assert!(picture.starts_with("<svg") && picture.contains(&format!("{algorithm}: 3 parts, ")));
    }
}

#[test]
fn an_index_is_cut_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for algorithm in PartitionAlgorithm::ALL {
        let mut options =
            vec!["--k=5", "--write_index=index", "--mapping_filename=parts", "--preconfiguration=fast"];
        let name = format!("--algorithm={algorithm}");
        options.push(&name);
        if algorithm.needs_coordinates() {
            options.push("--coordinates=mesh.xyz");
        }
        stdout_of(&mut on_mesh(folder.path(), &options));
        let again = ["--k=5", "--index=index", "--mapping_filename=again", "--json=report"];
        stdout_of(&mut on_mesh(folder.path(), &again));
        assert_eq!(numbers_in(&path("parts")), numbers_in(&path("again")), "{algorithm}");
        assert_eq!(report_in(&path("report"))["options"]["algorithm"], "index");
        fs::write(path("speeds"), "4\n0\n2\n").unwrap();
        let again = ["--speeds=speeds", "--index=index", "--mapping_filename=again"];
        stdout_of(&mut on_mesh(folder.path(), &again));
        let parts = numbers_in(&path("again"));
        assert_eq!(loads(&parts, 3), [2048, 0, 1024]);
        let positions = numbers_in(&path("index"));
        assert!(positions.iter().zip(&parts).all(|(&position, &part)| (position < 2048) == (part == 0)));
    }
}

#[test]
fn written_files_are_verified() {
    let folder = tempfile::tempdir().unwrap();
    let verified = ["--verify", "--json=report"];
    for more in [
        &["--k=7", "--mapping_filename=parts", "--preconfiguration=fast"][..],
        &["--speeds=1,2,4", "--algorithm=linear", "--preconfiguration=fast"],
        &["--k=5", "--algorithm=rsb", "--write_index=index", "--preconfiguration=fast"],
        &["--k=3", "--index=index"],
    ] {
        let text = stdout_of(on_mesh(folder.path(), &verified).args(more));
        let cut = &report_in(&folder.path().join("report"))["cut"];
        assert!(
            text.contains(&format!("verified: the cut of the files is {cut} too, and so are all loads")),
            "{text}"
        );
    }
    let refused = |command: &mut Command, reason: &str| {
        let message = failure_of(command, 2);
        assert!(message.contains(reason), "{message}");
    };
    refused(&mut on_mesh(folder.path(), &["--k=2", "--verify", "-o", "-"]), "--verify reads the files again");
    let generate = ["--generate=ring:8", "--verify", "-o", "ring"];
    refused(program("generate_model", folder.path()).args(generate), "--verify is for graphs");
}

#[test]
fn groups_of_parts_are_as_asked() {
    let folder = tempfile::tempdir().unwrap();
    let parts = |grouping: &str| {
        let options =
            ["--speeds=3,3,1,1", "--algorithm=rcb", "--coordinates=mesh.xyz", "--mapping_filename=parts"];
        stdout_of(on_mesh(folder.path(), &options).arg(format!("--grouping={grouping}")));
        numbers_in(&folder.path().join("parts"))
    };
    // Halves of 3 + 1 and 3 + 1, or three eighths and the rest.
    assert!(parts("binpacking").iter().enumerate().all(|(node, part)| (node % 64 < 32) == (part % 2 == 0)));
    let simple = parts("simple");
    assert!(simple.iter().enumerate().all(|(node, &part)| (node % 64 < 24) == (part == 0)));
    assert_eq!(loads(&simple, 4), [1152, 1152, 384, 384]);
}

#[test]
fn the_same_at_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let run = |algorithm: &str, threads: &str| {
        let options = ["--k=7", "--mapping_filename=parts", "--write_index=index", "--quiet"];
        let mut command = on_mesh(folder.path(), &options);
        command.args([format!("--algorithm={algorithm}"), format!("--threads={threads}")]);
        stdout_of(&mut command);
        (numbers_in(&folder.path().join("parts")), numbers_in(&folder.path().join("index")))
    };
    for algorithm in ["multilevel", "rsb"] {
        assert_eq!(run(algorithm, "1"), run(algorithm, "3"), "{algorithm}");
    }
}

#[test]
fn inconsistent_input_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let fails = |options: &[&str], code, says: &str| {
        let message = failure_of(&mut on_mesh(folder.path(), options), code);
        assert!(message.contains(says), "{options:?}: {message}");
        assert!(!folder.path().join("model.graph").exists());
    };
    for algorithm in ["rcb", "zcurve", "hilbert"] {
        let option = format!("--algorithm={algorithm}");
        fails(&["--k=2", &option], 2, "give --coordinates=FILE");
    }
    fails(&["--k=2", "--coordinates=mesh.xyz"], 2, "--coordinates is for --algorithm=rcb, zcurve, hilbert");
    fails(&["--k=2", "--coordinates=mesh.xyz", "--index=index"], 2, "leave it out");
    fails(&["--k=2", "--grouping=simple"], 2, "--grouping is for --algorithm=rcb, rsb");
    fails(
        &["--k=2", "--grouping=simple", "--algorithm=rsb", "--write_index=index"],
        2,
        "without --write_index",
    );
    fails(&["--k=2", "--algorithm=rsb", "--index=index"], 2, "--index");
    fails(&["--k=2", "--write_index=a", "--index=b"], 2, "--index");
    fails(&["--k=2", "--picture=a.svg"], 2, "--coordinates");
    fails(&["--k=2", "--speeds=1,2,3"], 2, "--k=2, but --speeds has 3 numbers");
    fails(&["--speeds=0,0"], 2, "every block has speed 0");
    fails(&["--speeds=1,0.5"], 2, "`0.5` is not a speed");
    fails(&["--speeds=1,1000001"], 2, "`1000001` is not a speed");
    fails(&["--speeds=missing"], 66, "missing");
    let machine = ["--machine=4:3", "--distance_parameter_string=1:10"];
    fails(&[&machine[..], &["--speeds=1,2"]].concat(), 2, "--pe_weights");
    fails(
        &[&machine[..], &["--algorithm=rsb"]].concat(),
        2,
        "--algorithm=rsb is for graphs that are partitioned; this mapping is many-to-one",
    );
    fs::write(folder.path().join("bad"), "0 1\n1 x\n").unwrap();
    fails(
        &["--k=2", "--algorithm=rcb", "--coordinates=bad"],
        65,
        "bad, line 2, column 3: `x` is not a coordinate",
    );
    fs::write(folder.path().join("bad"), "0\n1\n1\n").unwrap();
    fails(&["--k=2", "--index=bad"], 65, "bad, line 3, column 1: two vertices have position 1");
    fs::write(folder.path().join("bad"), "3\n-1\n").unwrap();
    fails(&["--speeds=bad"], 65, "bad, line 2, column 1: `-1` is not a speed");
    fails(&["--k=2", "--algorithm=magic"], 2, "magic");
}
