//! Resuming older partitions and mappings, as a user does it.

use crate::common::{Folder, failure_of, given, names, objective, says};

const MACHINE: &str = "--machine=4:3 --distance_parameter_string=1:10";

/// The command of a program on the mesh of 3072 vertices in `instances/`.
fn on_mesh(name: &str, more: &str) -> String {
    format!("{name} {} {more}", given("mesh_64x48.graph"))
}

/// The same on the machine.
fn onto(name: &str, more: &str) -> String {
    on_mesh(name, &format!("{MACHINE} {more}"))
}

fn divide(folder: &Folder, more: &str) -> String {
    folder.stdout(on_mesh("generate_model", &format!("--preconfiguration=fast -o model {more}")))
}

fn away(one: &[usize], other: &[usize]) -> usize {
    one.iter().zip(other).filter(|(one, other)| one != other).count()
}

#[test]
fn a_partition_follows_speeds_and_the_curve_is_drawn() {
    let folder = Folder::new();
    divide(&folder, "--k=8 --mapping_filename=old");
    let changed = "--speeds=1,2,2,2,2,2,2,2 --remap_from=old";
    let outputs = "--mapping_filename=new --json=report --curve=curve.svg";
    let text = divide(&folder, &format!("{changed} --migration_weight=0.25 {outputs}"));
    let (old, new, report) = (folder.numbers("old"), folder.numbers("new"), folder.report("report"));
    let moved = away(&old, &new);
    says(&text, [format!("migration: {moved} vertices of weight {moved} change place")]);
    assert!((100..1000).contains(&moved), "{moved}");
    let remap = &report["remap"];
    assert_eq!((&report["migration"]["weight"], &remap["migration_weight"]), (&moved.into(), &0.25.into()));
    let curve = remap["curve"].as_array().unwrap();
    assert_eq!(curve.len(), text.lines().filter(|line| line.contains(" % ")).count() - 1);
    assert_eq!(curve[0]["migration_weight"], 0.0);
    for point in [&curve[0], &curve[4], &curve[10]] {
        let weight = &point["migration_weight"];
        let outputs = "--mapping_filename=single --json=single.json";
        divide(&folder, &format!("{changed} --migration_weight={weight} {outputs}"));
        let single = folder.report("single.json");
        let found = (&single["cut"], &single["migration"]);
        assert_eq!(found, (&point["cost"], &point["migration"]), "{weight}");
    }
    let picture = folder.read("curve.svg");
    assert!(picture.starts_with("<svg") && picture.contains("old remapped: cut against migration"));
    // The same without a picture, in place, and with another number of threads.
    let again = "--mapping_filename=old --curve --threads=2";
    divide(&folder, &format!("{changed} --migration_weight=0.25 {again}"));
    assert_eq!(folder.numbers("old"), new);
}

#[test]
fn parts_are_removed_and_added_and_meshes_are_refined() {
    let folder = Folder::with(&[("left", "2 # slow\n5\n")]);
    divide(&folder, "--k=8 --mapping_filename=old");
    let resume = |more: &str| {
        divide(&folder, &format!("--remap_from=old --migration_weight=1 --mapping_filename=new {more}"));
        folder.numbers("new")
    };
    let new = resume("--k=6 --remap_left=2,5");
    let stayed = [0, 1, usize::MAX, 2, 3, usize::MAX, 4, 5];
    let homes: Vec<usize> = folder.numbers("old").iter().map(|&block| stayed[block]).collect();
    assert!(away(&homes, &new) < 1300, "{}", away(&homes, &new));
    assert!(new.iter().all(|&block| block < 6));
    assert_eq!(resume("--k=6 --remap_left=left"), new);
    assert_eq!(resume("--k=9").iter().max(), Some(&8));
    // A part that was empty may be removed, too.
    divide(&folder, "--speeds=1,1,1,0 --mapping_filename=old");
    assert_eq!(resume("--k=3 --remap_left=3 --verify"), folder.numbers("old"));
    divide(&folder, "--k=8 --mapping_filename=old");
    // The mesh is the refinement of one with a quarter of its vertices.
    folder.write_lines("parents", (0..3072).map(|node| node % 64 / 2 + node / 64 / 2 * 32));
    folder.write_lines("coarse", (0..768).map(|node| node % 32 / 16 + node / 32 / 12 * 2));
    let refined = "--remap_from=coarse --parents=parents --migration_weight=10 --k=4";
    says(&divide(&folder, refined), ["migration: 0 vertices"]);
}

#[test]
fn a_mapping_follows_its_machine_and_is_verified() {
    let folder = Folder::new();
    folder.stdout(onto("viem", "-o mapping --preconfiguration_mapping=fast"));
    let old = folder.numbers("mapping");
    folder.write("speeds", "2\n2\n1\n".repeat(4));
    let mut piped = folder.command(onto("viem", "--remap_from=- --migration_weight=5 --verify"));
    says(&failure_of(piped.write_stdin("0\n"), 2), ["none of them can be a stream"]);
    let options = "--pe_weights=speeds --remap_from=mapping --migration_weight=5 --verify";
    let outputs = "-o mapping --json=report --curve=curve.svg";
    let text = folder.stdout(onto("viem", &format!("{options} {outputs}")));
    let (new, report) = (folder.numbers("mapping"), folder.report("report"));
    let moved = away(&old, &new);
    says(&text, [format!("verified: so is the migration, {moved}")]);
    assert_eq!(report["migration"]["vertices"], moved);
    assert_eq!(report["cost"], objective(&text));
    says(&folder.read("curve.svg"), ["J against migration"]);
    let loads = new.iter().fold([0; 12], |mut loads, &pe| {
        loads[pe] += 1;
        loads
    });
    assert!((0..12).all(|pe| loads[pe] <= if pe % 3 == 2 { 158 } else { 317 }), "{loads:?}");
    // PE 3 has been removed from a list of all.
    let listed = "--pes=0-2,4-11 --remap_from=mapping --remap_left=3 --migration_weight=5 --verify -o fewer";
    says(&folder.stdout(onto("viem", listed)), ["verified: so is the migration"]);
}

/// The model of a resumed mapping, when `viem` resumes it.
#[test]
fn a_model_follows_its_machine_and_is_verified() {
    let folder = Folder::new();
    folder.write("speeds", "2\n2\n1\n".repeat(4));
    let first = "--preconfiguration=fast --verify --mapping_filename=old -o model";
    let text = folder.stdout(onto("generate_model", first));
    says(&text, ["and so are all loads and the model"]);
    let resumed = "--pe_weights=speeds --remap_from=old --migration_weight=5 --verify";
    let model = "--preconfiguration=fast --mapping_filename=new -o model --json=report --curve=curve.svg";
    let text = folder.stdout(onto("generate_model", &format!("{resumed} {model}")));
    let (old, new, report) = (folder.numbers("old"), folder.numbers("new"), folder.report("report"));
    let moved = away(&old, &new);
    assert!((1..2000).contains(&moved), "{moved}");
    says(&text, [format!("verified: so is the migration, {moved}")]);
    assert_eq!(report["migration"]["vertices"], moved);
    says(&text, [format!("verified: J of the files is {} too", report["cost"])]);
    says(&folder.read("curve.svg"), ["J against migration"]);
    // What is found for the points of a curve may be better for this weight too.
    let viem = "--preconfiguration_mapping=fast -o viem --imbalance=3 --curve=again.svg";
    folder.stdout(onto("viem", &format!("{resumed} {viem}")));
    assert_eq!(folder.numbers("viem"), new);
}

#[test]
fn a_time_limit_ends_a_remapping() {
    let folder = Folder::new();
    folder.write_lines("old", (0..3072).map(|node| node / 256));
    folder.write("speeds", "2\n2\n1\n".repeat(4));
    let resumed = "--pe_weights=speeds --remap_from=old --migration_weight=5 --verify";
    for (limit, is_stopped) in [("0.001", true), ("1h", false)] {
        let more = format!("--time_limit={limit} -o new --json=report --preconfiguration_mapping=strong");
        folder.stdout(onto("viem", &format!("{resumed} {more}")));
        let report = folder.report("report");
        assert_eq!((&report["stopped"], &report["loads"]["overload"]), (&is_stopped.into(), &0.into()));
    }
}

#[test]
fn meaningless_options_are_rejected_and_nothing_is_written() {
    let folder = Folder::with(&[
        ("short", "0\n1\n"),
        ("high", &"9\n".repeat(3072)),
        ("zeros", &"0\n".repeat(3072)),
        ("words", "zero\n"),
    ]);
    for (more, code, reason) in [
        ("--remap_from=short", 65, "short, line 3, column 1: the partition ends after 2 of 3072"),
        ("--remap_from=words", 65, "`zero` is not a block"),
        ("--remap_from=high", 65, "vertex 0 was in block 9, which is block 9 now, but there are 4 blocks"),
        ("--remap_from=none", 66, "none: cannot be read"),
        ("--remap_from=zeros --remap_left=16777216", 2, "there is no block 16777216"),
        ("--remap_from=zeros --remap_left=0,0", 2, "block 0 is listed before"),
        ("--remap_from=zeros --remap_left=1x", 66, "1x: cannot be read: it is neither a list of numbers"),
        ("--remap_from=zeros --remap_left=", 2, "no block is listed"),
        ("--remap_from=zeros --parents=short", 65, "the parents end after 2 of 3072"),
        ("--remap_from=short --parents=high", 65, "there is no parent 9; the older partition has 2"),
        ("--remap_from=zeros --curve=zeros", 2, "zeros"),
        ("--remap_from=zeros --mapping_filename=m --curve=m", 2, "m"),
        ("", 2, "--remap_from"),
    ] {
        folder.fails(on_mesh("generate_model", &format!("--k=4 --migration_weight=1 {more}")), code, reason);
    }
    for weight in ["-1", "1e3", "x", "0.0000001", "1000000001", "99999999999999999999"] {
        let options = format!("--k=4 --remap_from=zeros --migration_weight={weight}");
        folder.fails(on_mesh("generate_model", &options), 2, "is no weight of migration");
    }
    folder.fails(on_mesh("generate_model", "--k=4 --remap_from=zeros"), 2, "--migration_weight");
    folder.fails(on_mesh("generate_model", "--k=4 --curve"), 2, "--remap_from");
    let started = "--input_mapping is not for mappings that are remapped: it starts where";
    let constructed = "this mapping is remapped: it starts where its vertices were";
    for (options, reason) in [
        ("--input_mapping=zeros", started),
        ("--time_limit=1 --curve", "--time_limit does not go with --curve"),
        ("--construction_algorithm=linear", constructed),
    ] {
        let options = format!("--remap_from=zeros --migration_weight=1 {options}");
        folder.fails(onto("viem", &options), 2, reason);
    }
    let sphere = given("openfoam_sphere_16.msgs.graph");
    let machine = "--machine=4:4 --distance_parameter_string=1:10";
    let one_to_one = format!("viem {sphere} {machine} --remap_from=zeros --migration_weight=1");
    let reason = "--remap_from is for mappings that are remapped and experts; this mapping is one-to-one";
    folder.fails(one_to_one, 2, reason);
    assert_eq!(names(folder.path()), ["high", "short", "words", "zeros"], "nothing is written");
}
