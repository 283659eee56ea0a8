//! Fixed processes and vertices, as a user asks for them.

use std::fs;
use std::path::Path;

use crate::common::{failure_of, instance, program, report_in, stdout_of};
use assert_cmd::Command;

/// A ring of sixteen processes with chords.
fn write_ring(folder: &Path) {
    const N: usize = 16;
    let row = |v: usize| {
        let neighbours = [(v + 1) % N, (v + N - 1) % N, (v + 5) % N, (v + N - 5) % N];
        neighbours.map(|u| (u + 1).to_string()).join(" ") + "\n"
    };
    let rows: String = (0..N).map(row).collect();
    fs::write(folder.join("ring"), format!("{N} {}\n{rows}", 2 * N)).unwrap();
}

fn numbers(path: &Path) -> Vec<usize> {
    fs::read_to_string(path).unwrap().lines().map(|line| line.parse().unwrap()).collect()
}

fn viem(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = program("viem", folder);
    command.args(["ring", "--machine=4:4", "--distance_parameter_string=1:10", "-o", "mapping"]);
    command.args(arguments);
    command
}

#[test]
fn processes_are_mapped_around_fixed_ones() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    write_ring(folder.path());
    let list: String = (0..16)
        .map(|v| {
            if v == 3 {
                "9\n"
            } else if v == 8 {
                "0\n"
            } else {
                "-1\n"
            }
        })
        .collect();
    fs::write(path("list"), list).unwrap();
    fs::write(path("pairs"), "# process, PE\n8,0\n3,9\n").unwrap();
    let text = stdout_of(&mut viem(folder.path(), &["--fixed=list", "--verify", "--json=report"]));
    assert!(text.contains("2 of 16 processes are fixed"), "{text}");
    assert!(text.contains("verified: all 2 fixed processes are where they must be"), "{text}");
    let mapping = numbers(&path("mapping"));
    assert_eq!((mapping[3], mapping[8]), (9, 0));
    let report = report_in(&path("report"));
    assert_eq!(report["fixed"]["number"], 2);
    assert!(report["cost"].as_i64() <= report["cost_of_identity"].as_i64());
    stdout_of(&mut viem(folder.path(), &["--fixed=pairs"]));
    assert_eq!(numbers(&path("mapping")), mapping);
    // A mapping to improve that respects them is improved in place.
    stdout_of(&mut viem(folder.path(), &["--fixed=pairs", "--input_mapping=mapping", "--verify"]));
    let improved = numbers(&path("mapping"));
    assert_eq!((improved[3], improved[8]), (9, 0));
}

#[test]
fn every_order_and_construction_respects_fixed_processes() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    write_ring(folder.path());
    fs::write(path("fixed"), "5 15\n6 2\n").unwrap();
    fs::write(path("points"), (0..16).map(|v| format!("{} {}\n", v % 4, v / 4)).collect::<String>()).unwrap();
    for name in ["random", "identity", "growing", "treematch", "multilevel", "linear", "rsb", "hilbert"] {
        let construction = format!("--construction_algorithm={name}");
        let mut more = vec!["--fixed=fixed", "--verify", "--local_search_neighborhood=none", &construction];
        more.extend((name == "hilbert").then_some("--coordinates=points"));
        stdout_of(&mut viem(folder.path(), &more));
        let mapping = numbers(&path("mapping"));
        assert_eq!((mapping[5], mapping[6]), (15, 2), "{name}");
    }
}

#[test]
fn contradictory_files_are_refused_where_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    write_ring(folder.path());
    let free = "-1\n".repeat(14);
    let cases = [
        (format!("3\n3\n{free}"), "fixed, line 2, column 1: PE 3 is taken by line 1 already"),
        (format!("3\n16\n{free}"), "fixed, line 2, column 1: there is no PE 16; they are 0 to 15"),
        ("0 1\n0 2\n".to_owned(), "fixed, line 2, column 1: process 0 is listed twice"),
        ("0 1\n16 2\n".to_owned(), "fixed, line 2, column 1: there is no process 16"),
        (free, "fixed, line 15, column 1: the file ends after 14 of 16 lines"),
        ("-1\n".repeat(17), "fixed, line 17, column 1: there are more than 16 lines"),
        ("0 x\n".to_owned(), "fixed, line 1, column 3: `x` is not a PE"),
    ];
    for (text, message) in cases {
        fs::write(path("fixed"), text).unwrap();
        let failure = failure_of(&mut viem(folder.path(), &["--fixed=fixed"]), 65);
        assert!(failure.contains(message), "{failure}");
    }
    fs::write(path("fixed"), "2 7\n").unwrap();
    fs::write(path("start"), (0..16).map(|v| format!("{v}\n")).collect::<String>()).unwrap();
    let both = ["--fixed=fixed", "--input_mapping=start"];
    let failure = failure_of(&mut viem(folder.path(), &both), 65);
    assert!(
        failure
            .contains("--fixed and --input_mapping contradict each other: process 2 is fixed on PE 7, but"),
        "{failure}"
    );
    failure_of(&mut viem(folder.path(), &["--fixed=missing"]), 66);
    // An input is never overwritten.
    fs::write(path("mapping"), "2 7\n").unwrap();
    failure_of(&mut viem(folder.path(), &["--fixed=mapping"]), 2);
    assert_eq!(fs::read_to_string(path("mapping")).unwrap(), "2 7\n");
}

#[test]
fn rank_0_is_on_the_first_host_if_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    write_ring(folder.path());
    let on_nodes = |more: &[&str]| {
        let mut command = program("viem", folder.path());
        command.args(["ring", "--machine=torus:4/2:2", "--distance_parameter_string=1:2:9", "-o", "mapping"]);
        command.args(more);
        command
    };
    for seed in 0..4 {
        let seed = format!("--seed={seed}");
        let text = stdout_of(&mut on_nodes(&["--first_host=rank0", "--verify", "--json=report", &seed]));
        assert!(text.contains("1 of 16 processes are fixed, rank 0 on PE 0 of the first host"), "{text}");
        assert!(numbers(&path("mapping"))[0] < 4);
        assert_eq!(report_in(&path("report"))["fixed"]["rank0_on_first_host"], 0);
    }
    // Others that are fixed leave it the rest of the host.
    fs::write(path("fixed"), "5 0\n6 1\n").unwrap();
    stdout_of(&mut on_nodes(&["--first_host=rank0", "--fixed=fixed", "--verify"]));
    assert_eq!(numbers(&path("mapping"))[0], 2);
    fs::write(path("fixed"), "5 0\n6 1\n7 2\n8 3\n").unwrap();
    let failure = failure_of(&mut on_nodes(&["--first_host=rank0", "--fixed=fixed"]), 2);
    assert!(failure.contains("other processes are fixed on all PEs of node0"), "{failure}");
    fs::write(path("fixed"), "0 9\n").unwrap();
    let failure = failure_of(&mut on_nodes(&["--first_host=rank0", "--fixed=fixed"]), 2);
    assert!(
        failure.contains("fixed fixes process 0 on PE 9 of node2, but the first host is node0"),
        "{failure}"
    );
    // A mapping to improve decides which PE it is.
    let start: String = (0..16).map(|v| format!("{}\n", (v + 3) % 16)).collect();
    fs::write(path("start"), start).unwrap();
    stdout_of(&mut on_nodes(&["--first_host=rank0", "--input_mapping=start"]));
    assert_eq!(numbers(&path("mapping"))[0], 3);
}

#[test]
fn groups_stay_on_a_node_if_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    write_ring(folder.path());
    fs::write(path("hosts"), "a slots=5\nb slots=3\nc slots=7\nd slots=4\n").unwrap();
    let on_hosts = |more: &[&str]| {
        let mut command = program("viem", folder.path());
        command.args(["ring", "--machine=hosts:hosts", "-o", "mapping"]).args(more);
        command
    };
    let node = |pe: usize| [5, 8, 15, 19].iter().filter(|&&end| end <= pe).count();
    for size in 1..=3usize {
        let keep = format!("--keep={size}");
        let options = [keep.as_str(), "--first_host=rank0", "--verify", "--json=report"];
        let text = stdout_of(&mut on_hosts(&options));
        let groups = 16usize.div_ceil(size);
        assert!(
            text.contains(&format!("each of {groups} groups of {size} processes is kept on a node")),
            "{text}"
        );
        let pes = numbers(&path("mapping"));
        assert!((0..16).all(|process| node(pes[process]) == node(pes[process / size * size])), "{pes:?}");
        assert_eq!(node(pes[0]), 0);
        assert_eq!(report_in(&path("report"))["options"]["keep"], size);
        // It is a mapping to improve.
        fs::copy(path("mapping"), path("start")).unwrap();
        stdout_of(&mut on_hosts(&[keep.as_str(), "--input_mapping=start", "--seed=3"]));
    }
    // The groups of a file: every fifth process, and the last one alone.
    fs::write(
        path("groups"),
        (0..16)
            .map(|process| format!("{}\n", if process < 15 { process % 5 } else { 9 }))
            .collect::<String>(),
    )
    .unwrap();
    let text = stdout_of(&mut on_hosts(&["--keep=groups", "--verify", "--json=report"]));
    assert!(text.contains("each of 6 groups of 3 processes is kept on a node"), "{text}");
    let pes = numbers(&path("mapping"));
    assert!((0..15).all(|process| node(pes[process]) == node(pes[process % 5])), "{pes:?}");
    assert_eq!(report_in(&path("report"))["options"]["keep"], "groups");
    fs::write(path("uneven"), "0\n1\n2\n2\n".repeat(4)).unwrap();
    let failure = failure_of(&mut on_hosts(&["--keep=uneven"]), 65);
    assert!(failure.contains("group 0 has 4 processes, but 2 has 8"), "{failure}");
    failure_of(&mut on_hosts(&["--keep=missing"]), 66);
    let failure = failure_of(&mut on_hosts(&["--keep=4"]), 65);
    assert!(
        failure.contains("the nodes have room for 3 of 4 groups; the largest has room for 7"),
        "{failure}"
    );
    let failure = failure_of(&mut on_hosts(&["--keep=2", "--construction_algorithm=linear"]), 2);
    assert!(failure.contains("leave out --construction_algorithm"), "{failure}");
    failure_of(&mut on_hosts(&["--keep=2", "--secondary=busiest_link"]), 2);
    failure_of(&mut on_hosts(&["--keep=0"]), 2);
    fs::write(path("fixed"), "0 0\n1 6\n").unwrap();
    let failure = failure_of(&mut on_hosts(&["--keep=2", "--fixed=fixed"]), 65);
    assert!(
        failure.contains("of one group of 2, which must share a node, but they are fixed on a and b"),
        "{failure}"
    );
}

#[test]
fn vertices_stay_in_their_parts_and_on_their_processing_elements() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("fixed"), "0 5\n3071 5\n64 2\n1500 0\n").unwrap();
    let fixed = [(0, 5), (3071, 5), (64, 2), (1500, 0)];
    let check = |name: &str, more: &[&str]| {
        let mut command = program(name, folder.path());
        command.arg(instance("mesh_64x48.graph")).args(["--fixed=fixed", "--verify"]).args(more);
        let text = stdout_of(&mut command);
        assert!(text.contains("4 of 3072 vertices are fixed"), "{text}");
        assert!(text.contains("verified: all 4 fixed vertices are where they must be"), "{text}");
        let blocks = numbers(&path("blocks"));
        assert!(fixed.iter().all(|&(vertex, block)| blocks[vertex] == block), "{name} {more:?}");
    };
    let model = ["-o", "model", "--mapping_filename=blocks", "--preconfiguration=fast"];
    check("generate_model", &[&model[..], &["--k=8"]].concat());
    check("generate_model", &[&model[..], &["--k=8", "--algorithm=linear"]].concat());
    check("generate_model", &[&model[..], &["--k=8", "--imbalance=0"]].concat());
    let machine = ["--machine=2:4", "--distance_parameter_string=1:10"];
    check("generate_model", &[&model[..], &machine].concat());
    fs::copy(path("blocks"), path("old")).unwrap();
    let resumed = ["--remap_from=old", "--migration_weight=0.5"];
    check("generate_model", &[&model[..], &["--k=8"], &resumed].concat());
    check("generate_model", &[&model[..], &machine, &resumed].concat());
    let mapping = ["-o", "blocks", "--preconfiguration_mapping=fast"];
    check("viem", &[&mapping[..], &machine].concat());
    check("viem", &[&mapping[..], &machine, &["--construction_algorithm=linear"]].concat());
    check("viem", &[&mapping[..], &["--machine=torus:4x2"]].concat());
    check("viem", &[&mapping[..], &machine, &resumed].concat());
}

#[test]
fn fixed_vertices_that_are_too_heavy_are_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    write_ring(folder.path());
    fs::write(folder.path().join("fixed"), (0..10).map(|v| format!("{v} 1\n")).collect::<String>()).unwrap();
    let mut command = program("generate_model", folder.path());
    command.args(["ring", "--k=2", "--fixed=fixed", "--imbalance=0", "-o", "model"]);
    let output = command.output().unwrap();
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{messages}");
    let expected = "the vertices that are fixed to part 1 weigh 10, more than its bound of 8";
    assert!(messages.contains(expected), "{messages}");
    fs::write(folder.path().join("fixed"), "3 1\n").unwrap();
    let mut command = program("generate_model", folder.path());
    command.args(["ring", "--speeds=1,0,1", "--fixed=fixed", "-o", "model"]);
    assert!(failure_of(&mut command, 65).contains("fixed, line 1, column 3: part 1 has no room"));
    let mut command = program("generate_model", folder.path());
    command.args(["ring", "--k=2", "--fixed=fixed", "--write_index=order", "-o", "model"]);
    assert!(failure_of(&mut command, 2).contains("--fixed does not go with --write_index"));
}

#[test]
fn objects_of_quadratic_assignment_problems_stay_at_their_places() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let entry = |seed: usize, i: usize, j: usize| if i == j { 0 } else { 1 + (seed * i * j + i + j) % 9 };
    let matrix = |seed: usize| -> String {
        let row =
            |i: usize| (0..9).map(|j| entry(seed, i, j).to_string()).collect::<Vec<_>>().join(" ") + "\n";
        (0..9).map(row).collect()
    };
    fs::write(path("problem.dat"), format!("9\n\n{}\n{}", matrix(3), matrix(5))).unwrap();
    fs::write(path("fixed"), "4 0\n0 8\n").unwrap();
    for (format, first) in [("mapping", 0), ("sln", 1)] {
        let mut command = program("viem", folder.path());
        command.args(["problem.dat", "--fixed=fixed", "--verify", "-o", "places"]);
        command.arg(format!("--output_format={format}"));
        let text = stdout_of(&mut command);
        assert!(text.contains("2 of 9 objects are fixed") && text.contains("proved optimal"), "{text}");
        assert!(text.contains("verified: all 2 fixed objects are where they must be"), "{text}");
        let text = fs::read_to_string(path("places")).unwrap();
        let places: Vec<usize> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
        let places = &places[places.len() - 9..];
        assert_eq!((places[4], places[0]), (first, 8 + first));
    }
}

#[test]
fn numbers_of_every_spelling_and_names_of_columns_are_verified_too() {
    let folder = tempfile::tempdir().unwrap();
    write_ring(folder.path());
    let list = |first: &str, free: &str| format!("{first}\n{}", format!("{free}\n").repeat(15));
    for text in [
        list("9.0", "-1"),
        list("9", "-1.0"),
        list("+9", "-1e0"),
        "0 0.9D+01\n".to_owned(),
        "process;pe\r\n0;9\r\n".to_owned(),
        "\u{feff}\"process\",\"pe\"\n0,9\n".to_owned(),
    ] {
        fs::write(folder.path().join("fixed"), &text).unwrap();
        let printed = stdout_of(&mut viem(folder.path(), &["--fixed=fixed", "--verify"]));
        assert!(printed.contains("verified: all 1 fixed"), "{text:?}: {printed}");
        assert_eq!(numbers(&folder.path().join("mapping"))[0], 9, "{text:?}");
    }
    fs::write(folder.path().join("fixed"), "0 9\nprocess pe\n").unwrap();
    let message = failure_of(&mut viem(folder.path(), &["--fixed=fixed"]), 65);
    assert!(message.contains("fixed, line 2, column 1: `process` is not a process"), "{message}");
}
