//! `viem partition` with speeds, algorithms, coordinates and indices, as a user runs it.

use crate::common::{Folder, figure, given, instance, says};
use viem::partition::{PartitionAlgorithm, PartitionQuality};
use viem_io::Source;
use viem_io::metis::{self, NodeWeights};

/// A folder with the coordinates of the mesh in `instances/`.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write_lines("mesh.xyz", (0..3072).map(|node| format!("{} {}.5", node % 64, node / 64)));
    folder
}

/// The command on that mesh of 64 x 48 vertices.
fn on_mesh(more: &str) -> String {
    format!("viem partition {} {more}", given("mesh_64x48.graph"))
}

fn loads(parts: &[usize], count: usize) -> Vec<usize> {
    let mut loads = vec![0; count];
    parts.iter().for_each(|&part| loads[part] += 1);
    loads
}

#[test]
fn every_algorithm_partitions_by_speed_and_reports_its_cost() {
    let folder = folder();
    let graph = Source::open(&instance("mesh_64x48.graph")).unwrap();
    let graph = metis::read(graph, NodeWeights::Read).unwrap();
    for algorithm in PartitionAlgorithm::ALL {
        let options = "--capacities=1,2,3 --imbalance=0 --output=parts --json=report";
        let more = format!("{options} --algorithm={algorithm} --coordinates=mesh.xyz --picture=parts.svg");
        let text = folder.stdout(on_mesh(&more));
        let (parts, report) = (folder.numbers("parts"), folder.report("report"));
        assert_eq!(loads(&parts, 3), [512, 1024, 1536], "{algorithm}");
        let blocks: Vec<u32> = parts.iter().map(|&part| part as u32).collect();
        let quality = PartitionQuality::of(&graph, &blocks, 3);
        assert_eq!(figure(&text, "cut").parse::<usize>().unwrap(), quality.cut_edges);
        for (key, value) in [
            ("cut_edges", quality.cut_edges),
            ("setups", quality.setups),
            ("boundary", quality.boundary),
            ("largest_volume", quality.largest_volume),
            ("in_pieces", quality.in_pieces),
        ] {
            assert_eq!(report["quality"][key], value, "{algorithm}: {key}");
        }
        assert_eq!(report["quality"]["loads"], serde_json::json!([512, 1024, 1536]));
        let options = &report["options"];
        assert_eq!((&options["blocks"], &options["capacities"]), (&3.into(), &serde_json::json!([1, 2, 3])));
        assert_eq!(options["algorithm"], algorithm.name());
        let picture = folder.read("parts.svg");
        assert!(picture.starts_with("<svg") && picture.contains(&format!("{algorithm}: 3 blocks, ")));
    }
}

#[test]
fn blocks_are_connected_on_demand() {
    let folder = folder();
    let pieces = || folder.report("report")["quality"]["in_pieces"].as_u64().unwrap();
    for algorithm in PartitionAlgorithm::ALL {
        let points = if algorithm.needs_coordinates() { "--coordinates=mesh.xyz" } else { "" };
        let line =
            format!("--blocks=24 --algorithm={algorithm} {points} --connected --json=report --preset=fast");
        folder.stdout(on_mesh(&line));
        let loads = &folder.report("report")["loads"];
        assert_eq!((pieces(), &loads["overload"]), (0, &0.into()), "{algorithm}");
    }
    // Two paths of four vertices: one block of three has to take from both.
    folder.write("paths", "8 6\n2\n1 3\n2 4\n3\n6\n5 7\n6 8\n7\n");
    let text = folder.stdout("viem partition paths --blocks=3 --imbalance=0 --connected --json=report");
    assert_eq!((figure(&text, "cut"), figure(&text, "blocks in pieces"), pieces()), ("2", "1", 1));
    assert_eq!(folder.report("report")["options"]["connected"], true);
    let index = "--connected does not go with --write-index";
    folder.fails("viem partition paths --blocks=2 --connected --write-index=index", 2, index);
}

#[test]
fn an_index_is_cut_again() {
    let folder = folder();
    folder.write("speeds", "4\n0\n2\n");
    for algorithm in PartitionAlgorithm::ALL {
        let points = if algorithm.needs_coordinates() { "--coordinates=mesh.xyz" } else { "" };
        let written = "--blocks=5 --write-index=index --output=parts --preset=fast";
        folder.stdout(on_mesh(&format!("{written} --algorithm={algorithm} {points}")));
        let again = "--index=index --output=again";
        folder.stdout(on_mesh(&format!("--blocks=5 {again} --json=report")));
        assert_eq!(folder.numbers("parts"), folder.numbers("again"), "{algorithm}");
        assert_eq!(folder.report("report")["options"]["algorithm"], "index");
        folder.stdout(on_mesh(&format!("--capacities=speeds {again}")));
        let parts = folder.numbers("again");
        assert_eq!(loads(&parts, 3), [2048, 0, 1024]);
        let positions = folder.numbers("index");
        assert!(positions.iter().zip(&parts).all(|(&position, &part)| (position < 2048) == (part == 0)));
    }
}

#[test]
fn written_files_are_verified() {
    let folder = folder();
    for more in [
        "--blocks=7 --output=parts --preset=fast",
        "--capacities=1,2,4 --algorithm=linear --preset=fast",
        "--blocks=5 --algorithm=rsb --write-index=index --preset=fast",
        "--blocks=3 --index=index",
    ] {
        let text = folder.stdout(on_mesh(&format!("--verify --json=report {more}")));
        let cut = &folder.report("report")["cut"];
        says(&text, [format!("verified: the cut of the files is {cut} too, and so are all loads")]);
    }
    folder.fails(on_mesh("--blocks=2 --verify -o -"), 2, "--verify reads the files again");
}

#[test]
fn groups_of_parts_are_as_asked() {
    let folder = folder();
    let parts = |grouping: &str| {
        let options = "--capacities=3,3,1,1 --algorithm=rcb --coordinates=mesh.xyz --output=parts";
        folder.stdout(on_mesh(&format!("{options} --grouping={grouping}")));
        folder.numbers("parts")
    };
    // Halves of 3 + 1 and 3 + 1, or three eighths and the rest.
    assert!(parts("binpacking").iter().enumerate().all(|(node, part)| (node % 64 < 32) == (part % 2 == 0)));
    let simple = parts("simple");
    assert!(simple.iter().enumerate().all(|(node, &part)| (node % 64 < 24) == (part == 0)));
    assert_eq!(loads(&simple, 4), [1152, 1152, 384, 384]);
}

#[test]
fn the_same_at_any_number_of_threads() {
    let folder = folder();
    let run = |algorithm: &str, threads: u32| {
        let options = "--blocks=7 --output=parts --write-index=index --quiet";
        folder.stdout(on_mesh(&format!("{options} --algorithm={algorithm} --threads={threads}")));
        (folder.numbers("parts"), folder.numbers("index"))
    };
    for algorithm in ["multilevel", "rsb"] {
        assert_eq!(run(algorithm, 1), run(algorithm, 3), "{algorithm}");
    }
}

#[test]
fn inconsistent_input_is_rejected() {
    let folder = folder();
    folder.write("points", "0 1\n1 x\n");
    folder.write("order", "0\n1\n1\n");
    folder.write("slow", "3\n-1\n");
    let of_coordinates = "--coordinates is for --algorithm=rcb, zcurve, hilbert";
    let of_partitions = "there is no option --machine";
    let onto = "--machine=4:3 --distances=1:10";
    for (options, code, expected) in [
        ("--blocks=2 --algorithm=rcb", 2, "give --coordinates=FILE"),
        ("--blocks=2 --algorithm=zcurve", 2, "give --coordinates=FILE"),
        ("--blocks=2 --algorithm=hilbert", 2, "give --coordinates=FILE"),
        ("--blocks=2 --coordinates=mesh.xyz", 2, of_coordinates),
        ("--blocks=2 --coordinates=mesh.xyz --index=index", 2, "--coordinates is for"),
        ("--blocks=2 --grouping=simple", 2, "--grouping is for --algorithm=rcb, rsb"),
        ("--blocks=2 --grouping=simple --algorithm=rsb --write-index=index", 2, "without --write-index"),
        ("--blocks=2 --algorithm=rsb --index=index", 2, "--index"),
        ("--blocks=2 --write-index=a --index=b", 2, "--index"),
        ("--blocks=2 --picture=a.svg", 2, "--coordinates"),
        ("--blocks=2 --capacities=1,2,3", 2, "--blocks=2, but --capacities has 3 numbers"),
        ("--capacities=0,0", 2, "every block has speed 0"),
        ("--capacities=1,0.5", 2, "`0.5` is not a speed"),
        ("--capacities=1,1000001", 2, "`1000001` is not a speed"),
        ("--capacities=missing", 66, "missing"),
        (&*format!("{onto} --algorithm=rsb"), 2, of_partitions),
        (
            "--blocks=2 --algorithm=rcb --coordinates=points",
            65,
            "points, line 2, column 3: `x` is not a coordinate",
        ),
        ("--blocks=2 --index=order", 65, "order, line 3, column 1: two vertices have position 1"),
        ("--capacities=slow", 65, "slow, line 2, column 1: `-1` is not a speed"),
        ("--blocks=2 --algorithm=magic", 2, "magic"),
    ] {
        folder.fails(on_mesh(options), code, expected);
        assert!(!folder.has("partition"), "{options}");
    }
}
