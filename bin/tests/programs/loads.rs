//! Least loads, and what programs say of loads that are not as asked.

use std::collections::BTreeSet;

use crate::common::{Folder, says};
use viem::graph::generate;
use viem::partition::PartitionAlgorithm;
use viem_io::metis::{self, GraphContent};

const MACHINE: &str = "--machine=4:4:4 --distances=1:10:100";

/// A folder with a square grid of this length.
fn folder(length: usize) -> Folder {
    let folder = Folder::new();
    let mut text = Vec::new();
    metis::write(&mut text, &generate::grid(length, length), GraphContent::NO_WEIGHTS).unwrap();
    folder.write("grid", text);
    folder
}

/// A path of vertices of these weights.
fn write_path(folder: &Folder, weights: &[u32]) {
    let last = weights.len();
    let line = |(index, weight): (usize, &u32)| {
        let around = [index, index + 2].into_iter().filter(|&other| other > 0 && other <= last);
        format!("{weight} {}\n", around.map(|other| other.to_string()).collect::<Vec<_>>().join(" "))
    };
    let lines: String = weights.iter().enumerate().map(line).collect();
    folder.write("path", format!("{last} {} 10\n{lines}", last - 1));
}

fn loads(folder: &Folder) -> Vec<usize> {
    let mut loads = vec![0; 64];
    folder.numbers("parts").into_iter().for_each(|part| loads[part] += 1);
    loads
}

#[test]
fn no_place_gets_less_than_the_least_load() {
    let folder = folder(128);
    let model = "partition grid --preset=fast --model=model --output=parts";
    let mapping = "map grid --preset=fast -o parts";
    let onto = "map grid --preset=fast --model=model --output=parts";
    // All was on the first half of the PEs.
    folder.write_lines("old", (0..1 << 14).map(|cell| cell >> 9));
    let resumed = "remap grid old --migration-weight=0.01 --preset=fast --output=parts";
    for line in [
        format!("{model} --blocks=64"),
        format!("{resumed} --blocks=64"),
        format!("{onto} {MACHINE}"),
        format!("{resumed} --model=model {MACHINE}"),
        format!("{mapping} {MACHINE}"),
        format!("{resumed} {MACHINE}"),
    ] {
        let line = format!("viem {line} --imbalance=100 --verify --json=report");
        let below = |report: &serde_json::Value| {
            ["below_half", "below_least", "shortfall"].map(|field| report["loads"][field].as_u64().unwrap())
        };
        let text = folder.stdout(&line);
        let (report, found) = (folder.report("report"), loads(&folder));
        let half = found.iter().filter(|&&load| load < 128).count();
        assert_eq!(
            (below(&report), &report["options"]["least_load"]),
            ([half as u64, 0, 0], &0.0.into()),
            "{line}"
        );
        says(&text, [format!("{half} of 64 "), "less than half".to_owned()]);
        assert!(half > 0, "{line}");

        let text = folder.stdout(format!("{line} --least-load=50"));
        let report = folder.report("report");
        assert!(loads(&folder).iter().all(|load| (128..=512).contains(load)), "{line}");
        assert_eq!((below(&report), &report["options"]["least_load"]), ([0, 0, 0], &50.0.into()), "{line}");
        assert!(!text.contains("less than half"), "{text}");
    }
    let score = "parts --json=report --least-load=50 --imbalance=100";
    folder.stdout(format!("viem score grid {MACHINE} {score}"));
    assert_eq!(folder.report("report")["loads"]["below_half"], 0);
}

/// Bounds leave room for empty places; the file asks for something on some of them.
#[test]
fn each_place_has_a_least_load_of_its_own() {
    let folder = folder(64);
    let least = |place: usize| if place.is_multiple_of(3) { 60 } else { place % 7 };
    folder.write_lines("least", (0..64).map(least));
    let limits = "--imbalance=100 --least-loads=least --verify --json=report";
    for line in [
        "partition grid --blocks=64 --output=parts".to_owned(),
        format!("map grid {MACHINE} -o parts"),
        format!("remap grid old {MACHINE} -o parts --migration-weight=0.01"),
    ] {
        folder.stdout(format!("viem {line} --preset=fast {limits}"));
        let (report, found) = (folder.report("report"), loads(&folder));
        assert!(
            found.iter().enumerate().all(|(place, &load)| (least(place)..=128).contains(&load)),
            "{line}"
        );
        assert_eq!(report["options"]["least_loads"], "least", "{line}");
        assert_eq!((&report["loads"]["below_least"], &report["loads"]["shortfall"]), (&0.into(), &0.into()));
        folder.write_lines("old", folder.numbers("parts"));
    }
    // What is on the first 32 PEs alone is too little for the others.
    folder.write_lines("half", (0..1 << 12).map(|cell| cell >> 7));
    let message = folder.stderr(format!("viem score grid half {MACHINE} {limits}").replace("--verify ", ""));
    let lack: usize = (32..64).map(least).sum();
    let below = (32..64).filter(|&place| least(place) > 0).count();
    says(&message, [format!("{below} of 64 PEs are below their least load, by {lack} in total")]);
}

#[test]
fn what_is_missing_is_warned_of() {
    let folder = Folder::new();
    write_path(&folder, &[10, 1, 1, 10]);
    let options = "--blocks=3 --imbalance=50 --least-load=100 --json=report --model=model";
    let message = folder.stderr(format!("viem partition path {options}"));
    says(&message, ["1 of 3 blocks is below its least load, by 5 in total"]);
    let report = folder.report("report");
    assert_eq!((&report["loads"]["below_least"], &report["loads"]["shortfall"]), (&1.into(), &5.into()));
}

#[test]
fn a_vertex_is_named_only_if_it_is_too_heavy() {
    let folder = Folder::with(&[("speeds", "1\n8\n8\n"), ("fixed", "1 0\n")]);
    let warned = |name: &str, weights: &[u32], options: &str, expected: &str| {
        write_path(&folder, weights);
        says(&folder.stderr(format!("{name} path --machine=complete:3 -o out {options}")), [expected]);
    };
    for name in ["viem map --model=model", "viem map"] {
        let heavy = "vertex 3 (counted from 1) weighs 20, more than any PE may";
        warned(name, &[1, 1, 20, 1, 1], "", heavy);
        let exceeded = "exceed their bounds by 2 in total; allow more --imbalance";
        warned(name, &[5, 5, 4, 4], "--imbalance=0", exceeded);
        // Any of the others may take it, but it is fixed.
        let fixed = "vertex 2 (counted from 1) weighs 6, more than PE 0, to which it is fixed, may";
        warned(name, &[1, 6, 1, 1, 8], "--capacities=speeds --fixed=fixed", fixed);
    }
}

#[test]
fn a_least_load_is_refused_where_it_means_nothing() {
    let folder = folder(128);
    let index = "viem partition grid --blocks=4 --write-index=index --model=model";
    folder.stdout(index);
    folder.fails("viem partition grid --blocks=4 --index=index --least-load=50", 2, "--least-load");
    let index = format!("{index} --least-load=50");
    folder.fails(index, 2, "--least-load does not go with --write-index");
    for bad in ["-1", "101", "nan"] {
        folder.fails(format!("viem partition grid --blocks=4 --least-load={bad}"), 2, "");
        folder.fails(format!("viem map grid {MACHINE} --least-load={bad}"), 2, "");
    }
    let one_to_one = "viem map grid --machine=hypercube:14";
    folder.fails(
        format!("{one_to_one} --least-load=50"),
        2,
        "--least-load is for graphs with many vertices on a PE",
    );
    folder.write_lines("least", [5000, 0, 0, 0]);
    let lists = format!("{one_to_one} --least-loads=least");
    folder.fails(lists, 2, "--least-loads is for graphs with many vertices on a PE");
    let partition = "viem partition grid --blocks=4 --least-loads=least";
    let above = "block 0 has size 4096, but shall weigh 5000 at least; a least load is not above the size";
    folder.fails(partition, 2, above);
    folder.fails("viem map grid --machine=4 --distances=1 --least-loads=least", 2, above);
    folder.fails(
        format!("{partition} --write-index=index"),
        2,
        "--least-loads does not go with --write-index",
    );
    folder.fails(format!("{partition} --least-load=5"), 2, "cannot be used with");
    folder.fails(
        "viem partition grid --blocks=5 --least-loads=least",
        65,
        "the least loads end after 4 of 5",
    );
}

/// How many different numbers stand in the file of the parts.
fn used(folder: &Folder) -> usize {
    folder.numbers("parts").into_iter().collect::<BTreeSet<_>>().len()
}

#[test]
fn no_place_is_empty_while_there_are_vertices_enough() {
    let folder = folder(8);
    // One of twelve vertices has a load.
    write_path(&folder, &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    folder.write_lines("points", (0..12).map(|x| format!("{x} 0")));
    for algorithm in [
        "multilevel",
        "linear",
        "rsb",
        "rcb --coordinates=points",
        "zcurve --coordinates=points",
        "hilbert --coordinates=points",
    ] {
        for more in [
            format!("--algorithm={algorithm}"),
            format!("--algorithm={algorithm} --write-index=index"),
            "--index=index".to_owned(),
        ] {
            let outputs = "--model=model --output=parts --json=report --verify";
            folder.stdout(format!("viem partition path --blocks=5 {outputs} {more}"));
            assert_eq!(used(&folder), 5, "{algorithm} {more}");
            assert_eq!(folder.report("report")["loads"]["empty"], 0);
        }
    }
    for machine in ["5:4 --distances=1:10", "mesh:20 --distances=1"] {
        folder.stdout(format!("viem map grid --machine={machine} -o parts --json=report"));
        assert_eq!(used(&folder), 20, "{machine}");
        assert_eq!(folder.report("report")["loads"]["empty"], 0);
    }
}

#[test]
fn what_is_rounded_to_nothing_and_what_stays_empty_is_said() {
    let folder = folder(8);
    let note =
        "note: a least load of 10 % of 3.2 is 0, as it is rounded down; --least-load=32 is at least 1\n";
    let machine = "--machine=5:4 --distances=1:10";
    assert_eq!(folder.stderr("viem partition grid --blocks=20 --least-load=10 --model=model"), note);
    assert_eq!(folder.stderr(format!("viem map grid --least-load=10 -o parts {machine}")), note);
    assert_eq!(folder.stderr("viem partition grid --blocks=20 --least-load=40 --model=model"), "");
    // Three vertices, of which one is heavy, on four PEs.
    write_path(&folder, &[3, 1, 1]);
    let few = "viem map path --imbalance=100 --machine=2:2 --distances=1:10 -o parts";
    let empty = "note: the graph has 3 vertices for 4 PEs: 1 stays empty\n";
    assert_eq!(folder.stderr(few), empty);
}

#[test]
fn small_shares_get_a_vertex_by_any_verb() {
    let folder = Folder::new();
    folder.write(
        "ring",
        (0..12).fold("12 12\n".to_owned(), |text, u| {
            text + &format!("{} {}\n", (u + 1) % 12 + 1, (u + 11) % 12 + 1)
        }),
    );
    folder.write_lines("points", (0..12).map(|u| format!("{u} 0")));
    // Of 12 vertices, the share of a small block is a hundredth of one.
    let (into, on) =
        ("--capacities=1000,1,1,0,1 --imbalance=0", "-m 4 -d 1 --capacities=1000,1,1,1 --imbalance=0");
    let mut lines: Vec<String> = PartitionAlgorithm::ALL
        .into_iter()
        .map(|algorithm| {
            let points = if algorithm.needs_coordinates() { "--coordinates=points" } else { "" };
            format!("viem partition ring {into} --algorithm={algorithm} {points}")
        })
        .collect();
    folder.write_lines("before", [0; 12]);
    lines.push(format!("viem partition ring {into} --write-index=index"));
    lines.push(format!("viem partition ring {into} --index=index"));
    lines.push(format!("viem remap ring before {into} --migration-weight=100"));
    lines.push(format!("viem map ring {on}"));
    lines.push(format!("viem map ring {on} --construction=linear --neighbourhood=none"));
    lines.push(format!("viem remap ring before {on} --migration-weight=100"));
    for line in lines {
        folder.stdout(format!("{line} -o found --json=report"));
        let mut counts = [0; 5];
        folder.numbers("found").into_iter().for_each(|block| counts[block] += 1);
        let expected = if line.contains("1000,1,1,0,1") { [9, 1, 1, 0, 1] } else { [9, 1, 1, 1, 0] };
        assert_eq!(counts, expected, "{line}");
        let loads = &folder.report("report")["loads"];
        assert_eq!((&loads["empty"], &loads["overload"]), (&0.into(), &0.into()), "{line}");
    }
}
