//! Resuming older partitions and mappings, as a user does it.

use std::fs;
use std::path::Path;

use crate::common::{failure_of, instance, names, objective, program, report_in, stdout_of};
use assert_cmd::Command;

const MACHINE: [&str; 2] = ["--machine=4:3", "--distance_parameter_string=1:10"];

/// A program on the mesh of 3072 vertices in `instances/`.
fn on_mesh(name: &str, folder: &Path, more: &[&str]) -> Command {
    let mut command = program(name, folder);
    command.arg(instance("mesh_64x48.graph")).args(more);
    command
}

fn divide(folder: &Path, more: &[&str]) -> String {
    stdout_of(on_mesh("generate_model", folder, &["--preconfiguration=fast", "-o", "model"]).args(more))
}

fn blocks_in(path: &Path) -> Vec<usize> {
    fs::read_to_string(path).unwrap().lines().map(|line| line.parse().unwrap()).collect()
}

fn away(one: &[usize], other: &[usize]) -> usize {
    one.iter().zip(other).filter(|(one, other)| one != other).count()
}

#[test]
fn a_partition_follows_speeds_and_the_curve_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    divide(folder.path(), &["--k=8", "--mapping_filename=old"]);
    let changed = ["--speeds=1,2,2,2,2,2,2,2", "--remap_from=old", "--migration_weight=0.25"];
    let outputs = ["--mapping_filename=new", "--json=report", "--curve=curve.svg"];
    let text = divide(folder.path(), &[&changed[..], &outputs].concat());
    let (old, new, report) = (blocks_in(&path("old")), blocks_in(&path("new")), report_in(&path("report")));
    let moved = away(&old, &new);
    assert!(text.contains(&format!("migration: {moved} vertices of weight {moved} change place")), "{text}");
    assert!((100..1000).contains(&moved), "{moved}");
    let remap = &report["remap"];
    assert_eq!((&report["migration"]["weight"], &remap["migration_weight"]), (&moved.into(), &0.25.into()));
    let curve = remap["curve"].as_array().unwrap();
    assert_eq!(curve.len(), text.lines().filter(|line| line.contains(" % ")).count() - 1);
    assert_eq!(curve[0]["migration_weight"], 0.0);
    for point in [&curve[0], &curve[4], &curve[10]] {
        let weight = format!("--migration_weight={}", point["migration_weight"]);
        let single = [changed[0], changed[1], &weight, "--mapping_filename=single", "--json=single.json"];
        divide(folder.path(), &single);
        let single = report_in(&path("single.json"));
        let found = (&single["cut"], &single["migration"]);
        assert_eq!(found, (&point["cost"], &point["migration"]), "{weight}");
    }
    let picture = fs::read_to_string(path("curve.svg")).unwrap();
    assert!(picture.starts_with("<svg") && picture.contains("old remapped: cut against migration"));
    // The same without a picture, in place, and with another number of threads.
    let again = ["--mapping_filename=old", "--curve", "--threads=2"];
    divide(folder.path(), &[&changed[..], &again].concat());
    assert_eq!(blocks_in(&path("old")), new);
}

#[test]
fn parts_are_removed_and_added_and_meshes_are_refined() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    divide(folder.path(), &["--k=8", "--mapping_filename=old"]);
    let from = ["--remap_from=old", "--migration_weight=1", "--mapping_filename=new"];
    divide(folder.path(), &[&from[..], &["--k=6", "--remap_left=2,5"]].concat());
    let new = blocks_in(&path("new"));
    let stayed = [0, 1, usize::MAX, 2, 3, usize::MAX, 4, 5];
    let homes: Vec<usize> = blocks_in(&path("old")).iter().map(|&block| stayed[block]).collect();
    assert!(away(&homes, &new) < 1300, "{}", away(&homes, &new));
    assert!(new.iter().all(|&block| block < 6));
    fs::write(path("left"), "2 # slow\n5\n").unwrap();
    divide(folder.path(), &[&from[..], &["--k=6", "--remap_left=left"]].concat());
    assert_eq!(blocks_in(&path("new")), new);
    divide(folder.path(), &[&from[..], &["--k=9"]].concat());
    assert_eq!(blocks_in(&path("new")).iter().max(), Some(&8));
    // A part that was empty may be removed, too.
    divide(folder.path(), &["--speeds=1,1,1,0", "--mapping_filename=old"]);
    divide(folder.path(), &[&from[..], &["--k=3", "--remap_left=3", "--verify"]].concat());
    assert_eq!(blocks_in(&path("new")), blocks_in(&path("old")));
    divide(folder.path(), &["--k=8", "--mapping_filename=old"]);
    // The mesh is the refinement of one with a quarter of its vertices.
    let parents: String = (0..3072).map(|node| format!("{}\n", node % 64 / 2 + node / 64 / 2 * 32)).collect();
    fs::write(path("parents"), parents).unwrap();
    let coarse: String = (0..768).map(|node| format!("{}\n", node % 32 / 16 + node / 32 / 12 * 2)).collect();
    fs::write(path("coarse"), coarse).unwrap();
    let refined = ["--remap_from=coarse", "--parents=parents", "--migration_weight=10", "--k=4"];
    let text = divide(folder.path(), &refined);
    assert!(text.contains("migration: 0 vertices"), "{text}");
}

#[test]
fn a_mapping_follows_its_machine_and_is_verified() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    stdout_of(on_mesh("viem", folder.path(), &MACHINE).args([
        "-o",
        "mapping",
        "--preconfiguration_mapping=fast",
    ]));
    let old = blocks_in(&path("mapping"));
    fs::write(path("speeds"), "2\n2\n1\n".repeat(4)).unwrap();
    let options = ["--pe_weights=speeds", "--remap_from=mapping", "--migration_weight=5", "--verify"];
    let piped = ["--remap_from=-", "--migration_weight=5", "--verify"];
    let message = failure_of(on_mesh("viem", folder.path(), &MACHINE).args(piped).write_stdin("0\n"), 2);
    assert!(message.contains("none of them can be a stream"), "{message}");
    let outputs = ["-o", "mapping", "--json=report", "--curve=curve.svg"];
    let text = stdout_of(on_mesh("viem", folder.path(), &MACHINE).args(options).args(outputs));
    let (new, report) = (blocks_in(&path("mapping")), report_in(&path("report")));
    let moved = away(&old, &new);
    assert!(text.contains(&format!("verified: so is the migration, {moved}")), "{text}");
    assert_eq!(report["migration"]["vertices"], moved);
    assert_eq!(report["cost"], objective(&text));
    assert!(fs::read_to_string(path("curve.svg")).unwrap().contains("J against migration"));
    let loads = new.iter().fold([0; 12], |mut loads, &pe| {
        loads[pe] += 1;
        loads
    });
    assert!((0..12).all(|pe| loads[pe] <= if pe % 3 == 2 { 158 } else { 317 }), "{loads:?}");
    // PE 3 has been removed from a list of all.
    let listed =
        ["--pes=0-2,4-11", "--remap_from=mapping", "--remap_left=3", "--migration_weight=5", "--verify"];
    let text = stdout_of(on_mesh("viem", folder.path(), &MACHINE).args(listed).args(["-o", "fewer"]));
    assert!(text.contains("verified: so is the migration"), "{text}");
}

/// The model of a resumed mapping, when `viem` resumes it.
#[test]
fn a_model_follows_its_machine_and_is_verified() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("speeds"), "2\n2\n1\n".repeat(4)).unwrap();
    let fast = "--preconfiguration=fast";
    let first = [fast, "--verify", "--mapping_filename=old", "-o", "model"];
    let text = stdout_of(on_mesh("generate_model", folder.path(), &MACHINE).args(first));
    assert!(text.contains("and so are all loads and the model"), "{text}");
    let resumed = ["--pe_weights=speeds", "--remap_from=old", "--migration_weight=5", "--verify"];
    let model = [fast, "--mapping_filename=new", "-o", "model", "--json=report", "--curve=curve.svg"];
    let text = stdout_of(on_mesh("generate_model", folder.path(), &MACHINE).args(resumed).args(model));
    let (old, new, report) = (blocks_in(&path("old")), blocks_in(&path("new")), report_in(&path("report")));
    let moved = away(&old, &new);
    assert!((1..2000).contains(&moved), "{moved}");
    assert!(text.contains(&format!("verified: so is the migration, {moved}")), "{text}");
    assert_eq!(report["migration"]["vertices"], moved);
    assert!(text.contains(&format!("verified: J of the files is {} too", report["cost"])), "{text}");
    assert!(fs::read_to_string(path("curve.svg")).unwrap().contains("J against migration"));
    // What is found for the points of a curve may be better for this weight too.
    let viem = ["--preconfiguration_mapping=fast", "-o", "viem", "--imbalance=3", "--curve=again.svg"];
    stdout_of(on_mesh("viem", folder.path(), &MACHINE).args(resumed).args(viem));
    assert_eq!(blocks_in(&path("viem")), new);
}

#[test]
fn a_time_limit_ends_a_remapping() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let old: String = (0..3072).map(|node| format!("{}\n", node / 256)).collect();
    fs::write(path("old"), old).unwrap();
    fs::write(path("speeds"), "2\n2\n1\n".repeat(4)).unwrap();
    let resumed = ["--pe_weights=speeds", "--remap_from=old", "--migration_weight=5", "--verify"];
    for (limit, is_stopped) in [("--time_limit=0.001", true), ("--time_limit=1h", false)] {
        let more = [limit, "-o", "new", "--json=report", "--preconfiguration_mapping=strong"];
        stdout_of(on_mesh("viem", folder.path(), &MACHINE).args(resumed).args(more));
        let report = report_in(&path("report"));
        assert_eq!((&report["stopped"], &report["loads"]["overload"]), (&is_stopped.into(), &0.into()));
    }
}

#[test]
fn meaningless_options_are_rejected_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("short", "0\n1\n");
    write("high", &"9\n".repeat(3072));
    write("zeros", &"0\n".repeat(3072));
    write("words", "zero\n");
    let fails = |name: &str, more: &[&str], code: i32, reason: &str| {
        let message = failure_of(&mut on_mesh(name, folder.path(), more), code);
        assert!(message.contains(reason), "{message}");
    };
    let divide = |more: &[&str], code, reason: &str| {
        let options = [&["--k=4", "--migration_weight=1"][..], more].concat();
        fails("generate_model", &options, code, reason);
    };
    divide(&["--remap_from=short"], 65, "short, line 3, column 1: the partition ends after 2 of 3072");
    divide(&["--remap_from=words"], 65, "`zero` is not a block");
    divide(
        &["--remap_from=high"],
        65,
        "vertex 0 was in block 9, which is block 9 now, but there are 4 blocks",
    );
    divide(&["--remap_from=none"], 66, "none: cannot be read");
    divide(&["--remap_from=zeros", "--remap_left=16777216"], 2, "there is no block 16777216");
    divide(&["--remap_from=zeros", "--remap_left=0,0"], 2, "block 0 is listed before");
    divide(
        &["--remap_from=zeros", "--remap_left=1x"],
        66,
        "1x: cannot be read: it is neither a list of numbers",
    );
    divide(&["--remap_from=zeros", "--remap_left="], 2, "no block is listed");
    divide(&["--remap_from=zeros", "--parents=short"], 65, "the parents end after 2 of 3072");
    divide(&["--remap_from=short", "--parents=high"], 65, "there is no parent 9; the older partition has 2");
    divide(&["--remap_from=zeros", "--curve=zeros"], 2, "zeros");
    divide(&["--remap_from=zeros", "--mapping_filename=m", "--curve=m"], 2, "m");
    divide(&[], 2, "--remap_from");
    let from = |weight: &'static str| ["--k=4", "--remap_from=zeros", weight];
    for weight in ["-1", "1e3", "x", "0.0000001", "1000000001", "99999999999999999999"] {
        let option = format!("--migration_weight={weight}");
        let options = ["--k=4", "--remap_from=zeros", &option];
        fails("generate_model", &options, 2, "is no weight of migration");
    }
    fails("generate_model", &["--k=4", "--remap_from=zeros"], 2, "--migration_weight");
    fails("generate_model", &["--k=4", "--curve"], 2, "--remap_from");
    let onto = [&MACHINE[..], &from("--migration_weight=1")[1..]].concat();
    for (options, reason) in [
        (
            &["--input_mapping=zeros"][..],
            "--input_mapping is not for mappings that are remapped: it starts where",
        ),
        (&["--time_limit=1", "--curve"], "--time_limit does not go with --curve"),
        (&["--construction_algorithm=linear"], "this mapping is remapped: it starts where its vertices were"),
    ] {
        fails("viem", &[&onto[..], options].concat(), 2, reason);
    }
    let mut command = program("viem", folder.path());
    command
        .arg(instance("openfoam_sphere_16.msgs.graph"))
        .args(["--machine=4:4", "--distance_parameter_string=1:10"]);
    let message = failure_of(command.args(["--remap_from=zeros", "--migration_weight=1"]), 2);
    assert!(
        message.contains(
            "--remap_from is for mappings that are remapped and experts; this mapping is one-to-one"
        ),
        "{message}"
    );
    assert_eq!(names(folder.path()), ["high", "short", "words", "zeros"], "nothing is written");
}
