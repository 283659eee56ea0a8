//! Fixed processes and vertices, as a user asks for them.

use std::fs;

use crate::common::{Folder, given, says};

/// A folder with a ring of sixteen processes with chords.
fn folder() -> Folder {
    const N: usize = 16;
    let row = |v: usize| {
        let neighbours = [(v + 1) % N, (v + N - 1) % N, (v + 5) % N, (v + N - 5) % N];
        neighbours.map(|u| (u + 1).to_string()).join(" ") + "\n"
    };
    let folder = Folder::new();
    folder.write("ring", format!("{N} {}\n{}", 2 * N, (0..N).map(row).collect::<String>()));
    folder
}

/// Maps the ring with further options; returns what is printed, and the mapping.
fn map(folder: &Folder, more: &str) -> (String, Vec<usize>) {
    (folder.stdout(on_tree(more)), folder.numbers("mapping"))
}

fn on_tree(more: &str) -> String {
    format!("viem map ring --machine=4:4 --distances=1:10 -o mapping {more}")
}

#[test]
fn processes_are_mapped_around_fixed_ones() {
    let folder = folder();
    folder.write_lines(
        "list",
        (0..16).map(|v| match v {
            3 => 9,
            8 => 0,
            _ => -1,
        }),
    );
    folder.write("pairs", "# process, PE\n8,0\n3,9\n");
    let (text, mapping) = map(&folder, "--fixed=list --verify --json=report");
    says(&text, ["2 of 16 processes are fixed", "verified: all 2 fixed processes are where they must be"]);
    assert_eq!((mapping[3], mapping[8]), (9, 0));
    let report = folder.report("report");
    assert_eq!(report["fixed"]["number"], 2);
    assert!(report["cost"].as_i64() <= report["cost_of_identity"].as_i64());
    assert_eq!(map(&folder, "--fixed=pairs").1, mapping);
    // A mapping to improve that respects them is improved in place.
    let improved = map(&folder, "--fixed=pairs --initial=mapping --verify").1;
    assert_eq!((improved[3], improved[8]), (9, 0));
}

#[test]
fn every_order_and_construction_respects_fixed_processes() {
    let folder = folder();
    folder.write("fixed", "5 15\n6 2\n");
    folder.write_lines("points", (0..16).map(|v| format!("{} {}", v % 4, v / 4)));
    for name in [
        "random",
        "identity",
        "growing",
        "treematch",
        "multilevel",
        "linear",
        "rsb",
        "hilbert --coordinates=points",
    ] {
        let options = "--fixed=fixed --verify --neighbourhood=none";
        let (_, mapping) = map(&folder, &format!("{options} --construction={name}"));
        assert_eq!((mapping[5], mapping[6]), (15, 2), "{name}");
    }
}

#[test]
fn contradictory_files_are_refused_where_they_are() {
    let folder = folder();
    let free = "-1\n".repeat(14);
    for (text, message) in [
        (&*format!("3\n3\n{free}"), "fixed, line 2, column 1: PE 3 is taken by line 1 already"),
        (&format!("3\n16\n{free}"), "fixed, line 2, column 1: there is no PE 16; they are 0 to 15"),
        ("0 1\n0 2\n", "fixed, line 2, column 1: process 0 is listed twice"),
        ("0 1\n16 2\n", "fixed, line 2, column 1: there is no process 16"),
        (&free, "fixed, line 15, column 1: the file ends after 14 of 16 lines"),
        (&"-1\n".repeat(17), "fixed, line 17, column 1: there are more than 16 lines"),
        ("0 x\n", "fixed, line 1, column 3: `x` is not a PE"),
    ] {
        folder.write("fixed", text);
        folder.fails(on_tree("--fixed=fixed"), 65, message);
    }
    folder.write("fixed", "2 7\n");
    folder.write_lines("start", 0..16);
    let both = "--fixed and --initial contradict each other: process 2 is fixed on PE 7, but";
    folder.fails(on_tree("--fixed=fixed --initial=start"), 65, both);
    folder.fails(on_tree("--fixed=missing"), 66, "");
    // An input is never overwritten.
    folder.write("mapping", "2 7\n");
    folder.fails(on_tree("--fixed=mapping"), 2, "");
    assert_eq!(folder.read("mapping"), "2 7\n");
}

#[test]
fn rank_0_is_on_the_first_host_if_that_is_asked_for() {
    let folder = folder();
    let on_nodes = |more: &str| {
        let machine = "--machine=torus:4/2:2 --distances=1:2:9";
        format!("viem map ring {machine} -o mapping --first-host=rank0 {more}")
    };
    for seed in 0..4 {
        let text = folder.stdout(on_nodes(&format!("--verify --json=report --seed={seed}")));
        says(&text, ["1 of 16 processes is fixed, rank 0 on PE 0 of the first host"]);
        assert!(folder.numbers("mapping")[0] < 4);
        assert_eq!(folder.report("report")["fixed"]["rank0_on_first_host"], 0);
    }
    // Others that are fixed leave it the rest of the host.
    folder.write("fixed", "5 0\n6 1\n");
    folder.stdout(on_nodes("--fixed=fixed --verify"));
    assert_eq!(folder.numbers("mapping")[0], 2);
    for (fixed, expected) in [
        ("5 0\n6 1\n7 2\n8 3\n", "other processes are fixed on all PEs of node0"),
        ("0 9\n", "fixed fixes process 0 on PE 9 of node2, but the first host is node0"),
    ] {
        folder.write("fixed", fixed);
        folder.fails(on_nodes("--fixed=fixed"), 2, expected);
    }
    // A mapping to improve decides which PE it is.
    folder.write_lines("start", (0..16).map(|v| (v + 3) % 16));
    folder.stdout(on_nodes("--initial=start"));
    assert_eq!(folder.numbers("mapping")[0], 3);
}

#[test]
fn groups_stay_on_a_node_if_that_is_asked_for() {
    let folder = folder();
    folder.write("hosts", "a slots=5\nb slots=3\nc slots=7\nd slots=4\n");
    let on_hosts = |keep: &str| format!("viem map ring --machine=hosts:hosts -o mapping --together={keep}");
    let node = |pe: usize| [5, 8, 15, 19].iter().filter(|&&end| end <= pe).count();
    for size in 1..=3usize {
        let text = folder.stdout(on_hosts(&format!("{size} --first-host=rank0 --verify --json=report")));
        let groups = 16usize.div_ceil(size);
        let processes = if size == 1 { "process" } else { "processes" };
        says(&text, [format!("each of {groups} groups of {size} {processes} shares a node")]);
        let pes = folder.numbers("mapping");
        assert!((0..16).all(|process| node(pes[process]) == node(pes[process / size * size])), "{pes:?}");
        assert_eq!(node(pes[0]), 0);
        assert_eq!(folder.report("report")["options"]["together"], size);
        // It is a mapping to improve.
        fs::copy(folder.file("mapping"), folder.file("start")).unwrap();
        folder.stdout(on_hosts(&format!("{size} --initial=start --seed=3")));
    }
    // The groups of a file: every fifth process, and the last one alone.
    folder.write_lines("groups", (0..16).map(|process| if process < 15 { process % 5 } else { 9 }));
    let text = folder.stdout(on_hosts("groups --verify --json=report"));
    says(&text, ["each of 6 groups of 3 processes shares a node"]);
    let pes = folder.numbers("mapping");
    assert!((0..15).all(|process| node(pes[process]) == node(pes[process % 5])), "{pes:?}");
    assert_eq!(folder.report("report")["options"]["together"], "groups");
    folder.write("uneven", "0\n1\n2\n2\n".repeat(4));
    folder.write("fixed", "0 0\n1 6\n");
    let apart = "of one group of 2, which must share a node, but they are fixed on a and b";
    for (options, code, expected) in [
        ("uneven", 65, "group 0 has 4 processes, but 2 has 8"),
        ("missing", 66, ""),
        ("4", 65, "the nodes have room for 3 of 4 groups; the largest has room for 7"),
        ("2 --construction=linear", 2, "leave out --construction"),
        ("0", 2, ""),
        ("2 --fixed=fixed", 65, apart),
    ] {
        folder.fails(on_hosts(options), code, expected);
    }
}

#[test]
fn vertices_stay_in_their_parts_and_on_their_processing_elements() {
    let folder = Folder::with(&[("fixed", "0 5\n3071 5\n64 2\n1500 0\n")]);
    let fixed = [(0, 5), (3071, 5), (64, 2), (1500, 0)];
    let check = |name: &str, more: &str| {
        let mesh = given("mesh_64x48.graph");
        let text = folder.stdout(format!("{name} {mesh} --fixed=fixed --verify {more}"));
        says(&text, ["4 of 3072 vertices are fixed"]);
        says(&text, ["verified: all 4 fixed vertices are where they must be"]);
        let blocks = folder.numbers("blocks");
        assert!(fixed.iter().all(|&(vertex, block)| blocks[vertex] == block), "{name} {more}");
    };
    let outputs = "--model=model --output=blocks --preset=fast";
    let machine = "--machine=2:4 --distances=1:10";
    for more in ["--blocks=8", "--blocks=8 --algorithm=linear", "--blocks=8 --imbalance=0"] {
        check("viem partition", &format!("{outputs} {more}"));
    }
    check("viem map", &format!("{outputs} {machine}"));
    for more in [machine, &format!("{machine} --construction=linear"), "--machine=torus:4x2"] {
        check("viem map", &format!("-o blocks --preset=fast {more}"));
    }
    fs::copy(folder.file("blocks"), folder.file("old")).unwrap();
    for more in ["--blocks=8", machine, "--machine=torus:4x2"] {
        check("viem remap", &format!("old --migration-weight=0.5 {outputs} {more}"));
    }
}

#[test]
fn fixed_vertices_that_are_too_heavy_are_warned_of() {
    let folder = folder();
    folder.write_lines("fixed", (0..10).map(|v| format!("{v} 1")));
    let line = "viem partition ring --fixed=fixed --model=model";
    let expected = "the vertices that are fixed to block 1 weigh 10, more than its bound of 8";
    says(&folder.stderr(format!("{line} --blocks=2 --imbalance=0")), [expected]);
    folder.write("fixed", "3 1\n");
    let full = "fixed, line 1, column 3: part 1 has no room";
    folder.fails(format!("{line} --capacities=1,0,1"), 65, full);
    let index = "--fixed does not go with --write-index";
    folder.fails(format!("{line} --blocks=2 --write-index=order"), 2, index);
}

#[test]
fn objects_of_quadratic_assignment_problems_stay_at_their_places() {
    let folder = Folder::with(&[("fixed", "4 0\n0 8\n")]);
    let entry = |seed: usize, i: usize, j: usize| if i == j { 0 } else { 1 + (seed * i * j + i + j) % 9 };
    let matrix = |seed: usize| -> String {
        let row =
            |i: usize| (0..9).map(|j| entry(seed, i, j).to_string()).collect::<Vec<_>>().join(" ") + "\n";
        (0..9).map(row).collect()
    };
    folder.write("problem.dat", format!("9\n\n{}\n{}", matrix(3), matrix(5)));
    for (format, first) in [("mapping", 0), ("sln", 1)] {
        let options = format!("--fixed=fixed --verify -o places --format={format}");
        let text = folder.stdout(format!("viem qap problem.dat {options}"));
        says(&text, ["2 of 9 objects are fixed", "proved optimal"]);
        says(&text, ["verified: all 2 fixed objects are where they must be"]);
        let text = folder.read("places");
        let places: Vec<usize> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
        let places = &places[places.len() - 9..];
        assert_eq!((places[4], places[0]), (first, 8 + first));
    }
}

#[test]
fn numbers_of_every_spelling_and_names_of_columns_are_verified_too() {
    let folder = folder();
    let list = |first: &str, free: &str| format!("{first}\n{}", format!("{free}\n").repeat(15));
    for text in [
        &*list("9.0", "-1"),
        &list("9", "-1.0"),
        &list("+9", "-1e0"),
        "0 0.9D+01\n",
        "process;pe\r\n0;9\r\n",
        "\u{feff}\"process\",\"pe\"\n0,9\n",
    ] {
        folder.write("fixed", text);
        let (printed, mapping) = map(&folder, "--fixed=fixed --verify");
        assert!(printed.contains("verified: all 1 fixed"), "{text:?}: {printed}");
        assert_eq!(mapping[0], 9, "{text:?}");
    }
    folder.write("fixed", "0 9\nprocess pe\n");
    let expected = "fixed, line 2, column 1: `process` is not a process";
    folder.fails(on_tree("--fixed=fixed"), 65, expected);
}
