//! Resuming older partitions and mappings, as a user does it.

use crate::common::{Folder, failure_of, given, names, objective, says};

const MACHINE: &str = "--machine=4:3 --distances=1:10";

/// The command of a program on the mesh of 3072 vertices in `instances/`.
fn on_mesh(name: &str, more: &str) -> String {
    format!("{name} {} {more}", given("mesh_64x48.graph"))
}

/// The same on the machine.
fn onto(name: &str, more: &str) -> String {
    on_mesh(name, &format!("{MACHINE} {more}"))
}

fn divide(folder: &Folder, more: &str) -> String {
    folder.stdout(on_mesh("viem partition", &format!("--preset=fast --model=model {more}")))
}

fn resume(folder: &Folder, more: &str) -> String {
    folder.stdout(on_mesh("viem remap", &format!("--preset=fast --model=model {more}")))
}

fn away(one: &[usize], other: &[usize]) -> usize {
    one.iter().zip(other).filter(|(one, other)| one != other).count()
}

#[test]
fn a_partition_follows_speeds_and_the_curve_is_drawn() {
    let folder = Folder::new();
    divide(&folder, "--blocks=8 --output=old");
    let changed = "old --capacities=1,2,2,2,2,2,2,2";
    let outputs = "--output=new --json=report --curve=curve.svg";
    let text = resume(&folder, &format!("{changed} --migration-weight=0.25 {outputs}"));
    let (old, new, report) = (folder.numbers("old"), folder.numbers("new"), folder.report("report"));
    let moved = away(&old, &new);
    says(&text, [format!("migration: {moved} vertices of weight {moved} move")]);
    assert!((100..1000).contains(&moved), "{moved}");
    let remap = &report["remap"];
    assert_eq!((&report["migration"]["weight"], &remap["migration_weight"]), (&moved.into(), &0.25.into()));
    let curve = remap["curve"].as_array().unwrap();
    let is_point =
        |line: &&str| line.split_whitespace().next().is_some_and(|word| word.parse::<f64>().is_ok());
    assert_eq!(curve.len(), text.lines().filter(is_point).count());
    assert_eq!(curve[0]["migration_weight"], 0.0);
    for point in [&curve[0], &curve[4], &curve[10]] {
        let weight = &point["migration_weight"];
        let outputs = "--output=single --json=single.json";
        resume(&folder, &format!("{changed} --migration-weight={weight} {outputs}"));
        let single = folder.report("single.json");
        let found = (&single["cut"], &single["migration"]);
        assert_eq!(found, (&point["cost"], &point["migration"]), "{weight}");
    }
    let picture = folder.read("curve.svg");
    assert!(picture.starts_with("<svg") && picture.contains("old remapped: cut against migration"));
    // The same without a picture, in place, and with another number of threads.
    let again = "--output=old --curve --threads=2";
    resume(&folder, &format!("{changed} --migration-weight=0.25 {again}"));
    assert_eq!(folder.numbers("old"), new);
}

#[test]
fn parts_are_removed_and_added_and_meshes_are_refined() {
    let folder = Folder::with(&[("left", "2 # slow\n5\n")]);
    divide(&folder, "--blocks=8 --output=old");
    let resumed = |more: &str| {
        resume(&folder, &format!("old --migration-weight=1 --output=new {more}"));
        folder.numbers("new")
    };
    let new = resumed("--blocks=6 --removed=2,5");
    let stayed = [0, 1, usize::MAX, 2, 3, usize::MAX, 4, 5];
    let homes: Vec<usize> = folder.numbers("old").iter().map(|&block| stayed[block]).collect();
    assert!(away(&homes, &new) < 1300, "{}", away(&homes, &new));
    assert!(new.iter().all(|&block| block < 6));
    assert_eq!(resumed("--blocks=6 --removed=left"), new);
    assert_eq!(resumed("--blocks=9").iter().max(), Some(&8));
    // A part that was empty may be removed, too.
    divide(&folder, "--capacities=1,1,1,0 --output=old");
    assert_eq!(resumed("--blocks=3 --removed=3 --verify"), folder.numbers("old"));
    divide(&folder, "--blocks=8 --output=old");
    // The mesh is the refinement of one with a quarter of its vertices.
    folder.write_lines("parents", (0..3072).map(|node| node % 64 / 2 + node / 64 / 2 * 32));
    folder.write_lines("coarse", (0..768).map(|node| node % 32 / 16 + node / 32 / 12 * 2));
    let refined = "coarse --parents=parents --migration-weight=10 --blocks=4";
    says(&resume(&folder, refined), ["migration: 0 vertices"]);
}

#[test]
fn a_mapping_follows_its_machine_and_is_verified() {
    let folder = Folder::new();
    folder.stdout(onto("viem map", "-o mapping --preset=fast"));
    let old = folder.numbers("mapping");
    folder.write("speeds", "2\n2\n1\n".repeat(4));
    let mut piped = folder.command(onto("viem remap", "- --migration-weight=5 --verify"));
    says(&failure_of(piped.write_stdin("0\n"), 2), ["none of them can be a stream"]);
    let options = "mapping --capacities=speeds --migration-weight=5 --verify";
    let outputs = "-o mapping --json=report --curve=curve.svg";
    let text = folder.stdout(onto("viem remap", &format!("{options} {outputs}")));
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
    let listed = "mapping --pes=0-2,4-11 --removed=3 --migration-weight=5 --verify -o fewer";
    says(&folder.stdout(onto("viem remap", listed)), ["verified: so is the migration"]);
    let message = folder.stderr(onto("viem remap", "mapping --removed=12 --migration-weight=5 -o same"));
    says(&message, ["warning: --removed has 12, where the previous file has no vertex"]);
}

#[test]
fn a_model_follows_its_machine_and_is_verified() {
    let folder = Folder::new();
    folder.write("speeds", "2\n2\n1\n".repeat(4));
    let first = "--preset=fast --verify --output=old --model=model";
    let text = folder.stdout(onto("viem map", first));
    says(&text, ["and so are all loads and the model"]);
    let resumed = "old --capacities=speeds --migration-weight=5 --verify";
    let model = "--preset=fast --output=new --model=model --json=report --curve=curve.svg";
    let text = folder.stdout(onto("viem remap", &format!("{resumed} {model}")));
    let (old, new, report) = (folder.numbers("old"), folder.numbers("new"), folder.report("report"));
    let moved = away(&old, &new);
    assert!((1..2000).contains(&moved), "{moved}");
    says(&text, [format!("verified: so is the migration, {moved}")]);
    assert_eq!(report["migration"]["vertices"], moved);
    says(&text, [format!("verified: J of the files is {} too", report["cost"])]);
    says(&folder.read("curve.svg"), ["J against migration"]);
    // What is found for the points of a curve may be better for this weight too.
    let viem = "--preset=fast -o viem --imbalance=3 --curve=again.svg";
    folder.stdout(onto("viem remap", &format!("{resumed} {viem}")));
    assert_eq!(folder.numbers("viem"), new);
}

#[test]
fn a_time_limit_ends_a_remapping() {
    let folder = Folder::new();
    folder.write_lines("old", (0..3072).map(|node| node / 256));
    folder.write("speeds", "2\n2\n1\n".repeat(4));
    let onto = [format!("{MACHINE} --capacities=speeds"), "--blocks=12".to_owned()];
    let cases = onto.iter().flat_map(|onto| [(onto, "0.001", true), (onto, "1h", false)]);
    for (onto, limit, is_stopped) in cases {
        let more = format!("--time-limit={limit} -o new --json=report --verify");
        let text = folder.stdout(on_mesh("viem remap", &format!("old {onto} --migration-weight=5 {more}")));
        assert_eq!(text.contains("stopped early: this is the best"), is_stopped, "{text}");
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
        ("short", 65, "short, line 3, column 1: the partition ends after 2 of 3072"),
        ("short", 65, "; if that was refined, give the parents of its vertices: --parents=FILE"),
        ("words", 65, "`zero` is not a block"),
        (
            "high",
            65,
            "high: vertex 0 was in block 9, now number 9, but the last block is 3; say which blocks have left: --removed=LIST",
        ),
        ("none", 66, "none: cannot be read"),
        ("zeros --removed=16777216", 2, "there is no block 16777216"),
        ("zeros --removed=0,0", 2, "block 0 is listed before"),
        ("zeros --removed=1x", 66, "1x: cannot be read: it is neither a list of numbers"),
        ("zeros --removed=", 2, "no block is listed"),
        ("zeros --parents=short", 65, "the parents end after 2 of 3072"),
        ("short --parents=high", 65, "there is no parent 9; the older partition has 2"),
        ("zeros --curve=zeros", 2, "zeros"),
        ("zeros --output=m --curve=m", 2, "m"),
        ("zeros --curve --time-limit=1", 2, "cannot be used with '--time-limit <TIME>'"),
        ("zeros --distances=1:10", 2, "cannot be used with"),
        ("zeros --picture=p.svg", 2, "<--machine <SPEC>|--coordinates <FILE>>"),
        ("zeros --coordinates=short", 2, "--picture <FILE.svg>"),
        ("zeros --initial=zeros", 2, "there is no option --initial"),
        ("zeros --algorithm=linear", 2, "there is no option --algorithm"),
        ("", 2, "<PREVIOUS>"),
    ] {
        folder.fails(on_mesh("viem remap", &format!("--blocks=4 --migration-weight=1 {more}")), code, reason);
    }
    for weight in ["-1", "1e3", "x", "0.0000001", "1000000001", "99999999999999999999"] {
        let options = format!("zeros --blocks=4 --migration-weight={weight}");
        folder.fails(on_mesh("viem remap", &options), 2, "is no weight of migration");
    }
    folder.fails(on_mesh("viem remap", "zeros --blocks=4"), 2, "--migration-weight");
    let weighted = "zeros --migration-weight=1";
    for (options, reason) in [
        ("", "give a machine (-m SPEC), or the number of blocks (-k INT) or their --capacities"),
        ("--capacities=1,2 --distances=1:10", "--machine <SPEC>"),
        ("--machine=4:3 --distances=1:10 --blocks=12", "cannot be used with"),
        ("--machine=4:3 --distances=1:10 --from=mtx", "cannot be used with"),
        ("--machine=4:3 --distances=1:10 --picture=p.svg --coordinates=zeros", "cannot be used with"),
        ("--machine=4:3 --distances=1:10 --objective=mixed", "there is no option --objective"),
    ] {
        folder.fails(on_mesh("viem remap", &format!("{weighted} {options}")), 2, reason);
    }
    let sphere = given("openfoam_sphere_16.msgs.graph");
    let one_to_one = format!("viem remap {sphere} {weighted} --machine=4:4 --distances=1:10");
    folder.fails(one_to_one, 2, "viem map --initial=FILE improves one");
    assert_eq!(names(folder.path()), ["high", "short", "words", "zeros"], "nothing is written");
}

#[test]
fn other_verbs_name_this_one() {
    let folder = Folder::with(&[("zeros", &"0\n".repeat(3072))]);
    for option in ["--previous=zeros", "--migration-weight=1", "--removed=1", "--parents=zeros", "--curve"] {
        for verb in ["viem map -m 4:3 -d 1:10", "viem partition --blocks=4"] {
            let line = format!("{verb} {} {option}", given("mesh_64x48.graph"));
            let name = option.split('=').next().unwrap();
            let expected = format!("there is no option {name}; viem remap FILE PREVIOUS resumes");
            assert_eq!(folder.fails(line, 2, &expected).lines().count(), 1);
        }
    }
    assert_eq!(names(folder.path()), ["zeros"], "nothing is written");
}

#[test]
fn costs_before_and_after_are_shown_where_all_places_are_left() {
    let folder = Folder::new();
    divide(&folder, "--blocks=8 --output=old --json=first");
    let first = folder.report("first");
    let text = resume(&folder, "old --blocks=12 --migration-weight=1 --output=new --json=report");
    let (report, old) = (folder.report("report"), &folder.report("report")["remap"]["before"]);
    assert_eq!((&old["cut"], &old["cost"]), (&first["cut"], &first["cost"]));
    let line = words_of(&text, "cut");
    assert_eq!(line[1..3], [first["cut"].to_string(), report["cut"].to_string()]);
    // Bounds are for twelve blocks, and only eight had something.
    let loads = (0..8).map(|block| folder.numbers("old").iter().filter(|&&home| home == block).count());
    let excess: usize = loads.map(|load| load.saturating_sub(263)).sum();
    says(&text, [format!("the previous loads exceed their bounds by {excess} in total")]);
    // J of the same places, by `viem score`.
    let on = format!("{MACHINE} --imbalance=3 --json=report");
    folder.stdout(on_mesh("viem score", &format!("old {on}")));
    let cost = folder.report("report")["cost"].clone();
    let text =
        folder.stdout(on_mesh("viem remap", &format!("old {on} --migration-weight=1 -o new --preset=fast")));
    assert_eq!(folder.report("report")["remap"]["before"]["cost"], cost);
    assert_eq!(words_of(&text, "J")[1], cost.to_string());
    // Two blocks are gone, so their vertices are nowhere.
    let text =
        resume(&folder, "old --blocks=6 --removed=2,5 --migration-weight=1 --output=new --json=report");
    assert!(folder.report("report")["remap"].get("before").is_none());
    assert!(!text.contains("previous"), "{text}");
}

/// The words of the first line with this beginning.
fn words_of<'a>(text: &'a str, beginning: &str) -> Vec<&'a str> {
    let words = |line: &'a str| line.split_whitespace().collect::<Vec<_>>();
    text.lines().map(words).find(|words| words.first() == Some(&beginning)).unwrap()
}
