//! From specifications and files to machines: valid input, the same understood by the auditor, and errors.

use std::collections::BTreeSet;
use std::path::PathBuf;

use viem::base::rng::Rng;
use viem::base::types::{Distance, PeId};
use viem::machine::{DistanceOracle, Division, Machine, MachineError};
use viem_cluster::spec::FILES;
use viem_cluster::{MachineSpec, SpecError};
use viem_verify::{MachineText, audit_on};

use crate::table;

fn made(wanted: MachineSpec<'_>) -> Box<dyn Machine> {
    viem_cluster::build_wanted(&wanted).unwrap_or_else(|error| panic!("{wanted:?}: {error}"))
}

fn build(spec: &str) -> Box<dyn Machine> {
    made(MachineSpec::new(spec))
}

fn refused_wanted(wanted: MachineSpec<'_>) -> SpecError {
    match viem_cluster::build_wanted(&wanted) {
        Ok(machine) => panic!("{wanted:?} is {}", machine.describe()),
        Err(error) => error,
    }
}

fn refused<'a>(spec: &'a str, distances: impl Into<Option<&'a str>>) -> SpecError {
    refused_wanted(MachineSpec::new(spec).with_distances(distances))
}

/// Compares all distances with those of the auditor, one pair of processes at a time, and F of random
/// workloads.
fn check_with_auditor(text: &MachineText<'_>, machine: &dyn Machine) {
    let mut rng = Rng::new(machine.num_pes() as u64);
    (0..10).for_each(|_| crate::estimate::check_random_estimate(machine, text, &mut rng));
    for (p, row) in table(machine).into_iter().enumerate() {
        for (q, distance) in row.into_iter().enumerate() {
            let audited = audit_on("2 1\n2\n1\n", &format!("{p}\n{q}\n"), text);
            if p == q && machine.capacity(p as PeId) == 1 {
                assert!(audited.is_err(), "{text:?} {p}");
            } else {
                assert_eq!(audited, Ok(2 * distance as u128), "{text:?} {p} {q}");
            }
        }
        let crowd = machine.capacity(p as PeId) as usize;
        let on_one = |processes: usize| {
            let mapping = format!("{p}\n").repeat(processes);
            audit_on(&format!("{processes} 0\n{}", "\n".repeat(processes)), &mapping, text)
        };
        assert_eq!(on_one(crowd), Ok(0), "{text:?} {p}");
        assert!(on_one(crowd + 1).is_err(), "{text:?} {p}");
    }
}

#[test]
fn the_auditor_understands_specifications_the_same_way() {
    let specs = [
        ("4:2:3", Some("1:10:100")),
        ("tree:4:2:3", Some("7:1:9")),
        ("mesh:5x3", None),
        ("mesh:7", Some("4")),
        ("torus:5x3x2", None),
        ("torus:3x2/2:2", Some("1:10:100")),
        ("mesh:2x2/3", Some("5:3")),
        ("hypercube:4", None),
        ("rails:2:3:2", Some("1:5:6:10")),
        ("rails:3:2", Some("7:1:9")),
        ("rails:1:3:2:2", Some("1:2:3:4:5")),
        ("complete:6", None),
        ("complete:6", Some("9")),
    ];
    for (spec, distances) in specs {
        for pes in [None, Some("0"), Some("3,0-2"), Some("5,1 4 0")] {
            let machine = made(MachineSpec::new(spec).with_distances(distances).with_pes(pes));
            check_with_auditor(
                &MachineText { spec, distances, file: None, pes, link_cycles: None },
                &*machine,
            );
        }
    }
    assert_eq!(build("hypercube:0").num_pes(), 1);
}

const FILES_OF_MACHINES: [(&str, &str); 35] = [
    ("a.tgt", "tleaf 3 2 90 3 9 4 1"),
    ("b.tgt", "mesh2D 3 4"),
    ("c.tgt", "torusXD 3 5 1 3\n"),
    ("d.tgt", "hcub 3"),
    ("e.tgt", "cmplt 5"),
    ("f.tgt", "cmpltw 4 1 3 2 1"),
    ("g.tgt", "deco 0\n4 7\n0 1 4\n1 2 5\n2 1 6\n3 1 7\n1\n2 3\n4 5 6\n"),
    ("h.tgt", "sub 3 5 0 7 hcub 3"),
    ("i.tgt", "sub 2 2 0 sub 3 5 0 7 tleaf 2 3 9 4 1"),
    ("j.tgt", "sub 3 0 3 2 cmpltw 4 1 3 2 1"),
    ("a.graph", "3 2\n2\n1 3\n2\n"),
    ("b.graph", "5 4 11\n0 2 3 3 4\n1 1 3 4 1\n2 1 4 5 9\n1 2 1\n3 3 9\n"),
    ("c.graph", "% a comment\n2 1 10\n1 2\n0 1\n"),
    ("d.graph", "1 0\n\n"),
    ("a.txt", "0 3 4\n3 0 5\n4 5 0\n"),
    ("b.txt", "3\n0 3 4\n3 0 5\n4 5 0\n"),
    ("c", "# one number a line\n0\n3\n3\n0\n"),
    ("d.tgt", "0 3 4\n3 0 5\n4 5 0\n"),
    ("e.graph", "0 3 4\n3 0 5\n4 5 0\n"),
    ("f.txt", "hcub 2"),
    ("g.tgt", "3 2\n2\n1 3\n2\n"),
    ("h", "3 2 1\n2 7\n1 7 3 8\n2 8\n"),
    ("k.tgt", "ltleaf 2 4 9 4 1 4 2 0 3 1"),
    ("l.tgt", "LTLEAF 2 2 9 3 1 6 5 0 3 1 2 4\n"),
    ("m.tgt", "sub 3 5 0 4 ltleaf 2 2 9 3 1 3 0 2 1"),
    ("n.tgt", "ltleaf 1 3 5 1 0"),
    ("a.csv", "0,3,4\n3,0,5\n4,5,0\n"),
    ("b.csv", "3\n0; 3; 4\n3; 0; 5\n4; 5; 0\n"),
    ("c.csv", "10,20\r\n20,10\r\n"),
    ("numactl", NUMACTL),
    (
        "likwid",
        "CPU name:\tX\nNUMA Topology\nDomain:\t\t0\nDistances:\t10 21 31\nDomain:\t\t1\nDistances:\t21 10 21\nDomain:\t\t2\nDistances:\t31 21 10\n",
    ),
    (
        "lstopo",
        "Relative bandwidth matrix (name B kind 9) between 2 NUMANodes (depth -3) by logical indexes:\n index 0 1\n 0 7 5\n 1 5 7\nRelative \
         latency matrix (name NUMALatency kind 5) between 2 NUMANodes (depth -3) by logical indexes:\n index     0     1\n     0    10    40\n     \
         1    40    10\n",
    ),
    ("nvidia-smi", NVIDIA),
    ("rocm-smi", ROCM),
    ("slit", "10 12 20 20\n12 10 20 20\n20 20 10 12\n20 20 12 10\n"),
];

const NVIDIA: &str = "\t\u{1b}[4mGPU0\tGPU1\tGPU2\tNIC0\tCPU Affinity\tNUMA Affinity\u{1b}[0m\nGPU0\t X \tNV12\tSYS\tPIX\t0-31\t0\nGPU1\tNV12\t X \tPHB\tPIX\t0-31\t0\nGPU2\tSYS\tPHB\t X \tSYS\t32-63\t1\nNIC0\tPIX\tPIX\tSYS\t X \n\nLegend:\n\n  X    = Self\n";

const ROCM: &str = "\n==== Weight between two GPUs ====\n       GPU0         GPU1         GPU2\nGPU0   0            15           30\nGPU1   15           0            45\nGPU2   30           45           0\n==== Hops between two GPUs ====\n       GPU0         GPU1         GPU2\nGPU0   0            1            1\n";

const NUMACTL: &str = "available: 3 nodes (0-2)\nnode 0 cpus: 0 1\nnode 0 size: 100 MB\nnode 1 cpus:\nnode 1 size: 7 MB\nnode distances:\nnode   0   1   8 \n  0:  \
     10  21  17 \n  1:  21  10  28 \n  8:  17  28  10 \n";

#[test]
fn files_are_recognised_by_content_and_audited() {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in FILES_OF_MACHINES {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        let spec = path.to_str().unwrap();
        let whole = build(spec);
        check_with_auditor(
            &MachineText { spec, distances: None, file: Some(content), pes: None, link_cycles: None },
            &*whole,
        );
        if whole.num_pes() > 2 {
            let list = Some("2,0");
            let part = made(MachineSpec::new(spec).with_pes(list));
            let numbers = [0, 1].map(|pe| part.number(pe));
            assert_eq!(numbers, [whole.number(2), whole.number(0)]);
            check_with_auditor(
                &MachineText { spec, distances: None, file: Some(content), pes: list, link_cycles: None },
                &*part,
            );
        }
    }
}

#[test]
fn the_name_decides_only_if_the_content_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let describe = |name: &str, content: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        viem_cluster::build(path.to_str().unwrap(), None)
            .map(|machine| machine.describe())
            .map_err(|error| error.to_string())
    };
    // A graph of two vertices, or a matrix whose diagonal is not 0.
    let both = "2 1\n2\n1\n";
    assert!(describe("both.graph", both).unwrap().contains("network"));
    assert!(describe("both", both).unwrap().contains("network"));
    assert!(describe("both.matrix", both).unwrap_err().contains("to itself is 2"));
    // Tables of NUMA distances, with their diagonal; a graph and a matrix that are none.
    let table = describe("table", "10 12 20\n12 10 20\n20 20 10\n").unwrap();
    assert_eq!(table, "distance matrix of 3 processing elements (the 10 from each to itself is taken as 0)");
    let tool = describe("tool", NUMACTL).unwrap();
    assert_eq!(tool, "3 NUMA nodes with the distances of numactl (the 10 from each to itself is taken as 0)");
    let links = "3 GPUs with the links of nvidia-smi, distances NV12 3, PHB 44, SYS 72 (assumed)";
    assert_eq!(describe("nvidia", NVIDIA).unwrap(), links);
    assert_eq!(describe("rocm", ROCM).unwrap(), "3 GPUs with the distances of rocm-smi");
    assert!(describe("nvidia", &NVIDIA.replace("NV12", "NVX")).unwrap_err().contains("no link"));
    assert!(describe("graph", "2 1 1\n2 5\n1 5\n").unwrap().contains("network"));
    assert!(describe("below", "10 9\n9 10\n").unwrap_err().contains("to itself is 10"));
    let labelled = describe("l.tgt", "ltleaf 1 3 5 3 2 0 1").unwrap();
    assert_eq!(labelled, "tree of 3 processing elements in the order of their labels");
    assert!(describe("word.graph", "graph {\n").unwrap_err().contains("Graphviz"));
    assert!(describe("word", "graph {\n").unwrap_err().contains("Graphviz"));
    assert!(describe("misspelt", "tleave 1 4 1\n").unwrap_err().contains("known are tleaf"));
    assert!(describe("text", "No NUMA available\n").unwrap_err().contains("this is no machine"));
    let named = "distance matrix of 2 processing elements";
    for table in ["a b\n0 3\n3 0\n", ";a;b\na;0;3\nb;3;0\n", "x 0 3\ny 3 0\n", "0 1\n0 0 3\n1 3 0\n"] {
        assert_eq!(describe("named", table).unwrap(), named, "{table:?}");
    }
    assert!(describe("nothing", "").unwrap_err().contains("this is no machine"));
    assert!(describe("nothing", "% but a comment\n").unwrap_err().contains("this is no machine"));
    assert!(describe("nothing.tgt", "").unwrap_err().contains("the file ends"));
    assert!(describe("program", "\x7fELF\x02\x01").unwrap_err().contains("this is no machine"));
}

/// Labels number the leaves of a tree in each stretch of as many leaves.
#[test]
fn labels_are_the_numbers_of_leaves() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.tgt");
    let mut rng = Rng::new(3);
    for _ in 0..50 {
        let (groups, members) = (1 + rng.below(4), 1 + rng.below(4));
        let count = [members, groups * members][rng.below(2) as usize];
        let mut labels: Vec<u32> = (0..count).collect();
        rng.shuffle(&mut labels);
        let text = labels.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
        std::fs::write(&path, format!("ltleaf 2 {groups} 9 {members} 1 {count} {text}\n")).unwrap();
        let labelled = build(path.to_str().unwrap());
        assert!((0..groups * members).all(|pe| labelled.number(pe) == pe));
        let (labelled, tree) = (
            table(&*labelled),
            table(&*made(MachineSpec::new(&format!("{members}:{groups}")).with_distances("1:10"))),
        );
        let label = |leaf: usize| leaf - leaf % count as usize + labels[leaf % count as usize] as usize;
        for (p, row) in tree.iter().enumerate() {
            for (q, &distance) in row.iter().enumerate() {
                assert_eq!(labelled[label(p)][label(q)], distance, "{labels:?}");
            }
        }
    }
}

#[test]
fn packed_files_are_unpacked() {
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("torus.tgt.gz");
    let mut encoder = GzEncoder::new(std::fs::File::create(&path).unwrap(), Compression::best());
    encoder.write_all(b"torus2D 4 5\n").unwrap();
    encoder.finish().unwrap();
    assert_eq!(build(path.to_str().unwrap()).num_pes(), 20);
    let packed = std::fs::read(&path).unwrap();
    std::fs::write(&path, &packed[..packed.len() - 9]).unwrap();
    let error = refused(path.to_str().unwrap(), None).to_string();
    assert!(error.contains("unpacked") && error.contains("torus.tgt.gz"), "{error}");
}

#[test]
fn instances() {
    let path = |name: &str| crate::files::instance(&format!("machines/{name}")).to_str().unwrap().to_owned();
    // Facts from the definitions: number of PEs, sum of all distances, greatest distance.
    let facts = |name: &str| {
        let machine = build(&path(name));
        let table = table(&*machine);
        let all = table.iter().flatten();
        (machine.num_pes(), all.clone().sum::<Distance>() as u64, *all.max().unwrap())
    };
    assert_eq!(facts("mesh_8x8.tgt"), (64, 64 * 64 * 2 * 21 / 8, 14));
    assert_eq!(facts("hypercube_8.tgt"), (256, 256 * 1024, 8));
    assert_eq!(facts("torus_4x4x4x2x2.tgt"), (256, 256 * 256 * 4, 8));
    assert_eq!(facts("dragonfly_9x4x4.graph").0, 144);
    assert_eq!(facts("torus_of_nodes_4x4x2x16.graph").0, 512);
    let listed = build(&path("sub_tree_uneven_128.tgt"));
    let numbers: Vec<PeId> = (0..128).map(|pe| listed.number(pe)).collect();
    assert_eq!((numbers[0], numbers[127]), (16, 611));
    let tree = made(MachineSpec::new("4:4:5:8").with_distances("1:4:20:60")).distances().unwrap();
    for (p, row) in table(&*listed).into_iter().enumerate() {
        for (q, found) in row.into_iter().enumerate() {
            assert_eq!(found, tree.distance(numbers[p], numbers[q]));
        }
    }
}

#[test]
fn regular_targets_are_hierarchies_and_decompositions_keep_their_parts() {
    let folder = tempfile::tempdir().unwrap();
    let of = |content: &str| {
        let path: PathBuf = folder.path().join("machine");
        std::fs::write(&path, content).unwrap();
        build(path.to_str().unwrap())
    };
    let tree = of("tleaf 3 8 90 16 9 4 1");
    let hierarchy = tree.hierarchy().unwrap();
    assert_eq!((hierarchy.arities(), hierarchy.distances()), (&[4, 16, 8][..], &[1, 10, 100][..]));
    assert!(of("cmplt 4").hierarchy().is_some());
    assert!(of("sub 1 0 cmplt 4").hierarchy().is_none());
    let divided = of("deco 0 4 15 0 1 3 1 1 4 2 1 10 3 3 11 1 1 1 1 1 1");
    let Division::Parts(parts) = divided.division() else { panic!("there are parts") };
    assert_eq!(parts.order(), [1, 2, 3, 0]);
    let ranges = |part| parts.children(part).map(|child| parts.range(child)).collect::<Vec<_>>();
    assert_eq!(ranges(0), [0..3, 3..4]);
    assert_eq!(ranges(1), [0..1, 1..3]);
    assert_eq!(parts.num_parts(), 7);
    assert_eq!((0..4).map(|pe| divided.capacity(pe)).collect::<Vec<_>>(), [1, 1, 1, 3]);
}

#[test]
fn errors_say_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let file = |content: &str| {
        let path = folder.path().join("machine");
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let says = |error: SpecError, words: &[&str]| {
        let message = error.to_string();
        assert!(words.iter().all(|word| message.contains(word)), "{message} does not say {words:?}");
    };
    says(refused("mesh:8x0", None), &["`0` at column 8", "a length", "torus:16x8x8"]);
    says(refused("mesh:", None), &["`` at column 6"]);
    says(refused("mesh:8x", None), &["column 8"]);
    says(refused("mesh:8*8", None), &["`8*8`"]);
    says(refused("torus:-4", None), &["`-4`"]);
    says(refused("torus:4294967296", None), &["4294967296"]);
    says(refused("torus:65536x65536", None), &["more than 4294967295"]);
    says(refused("torus:99999x99999x99999", None), &["more than 4294967295"]);
    says(refused("torus:4294967295", None), &["too long"]);
    says(refused("mesh:4x4/4:16", None), &["needs 3 distances", "1:10:100", "none are given"]);
    says(refused("mesh:4x4/4:16", "1:2"), &["needs 3 distances", "2 are given"]);
    says(refused("mesh:4x4/4:0", "1:2:3"), &["`0` at column 12"]);
    says(refused("mesh:3x4/", None), &["`` at column 10", "a number of members", "torus:4x4x2/4:16"]);
    says(refused("mesh:4x4/4", "1:x"), &["distance `x`"]);
    says(refused("mesh:4x4", "1:2"), &["needs 1 distance"]);
    says(refused("mesh:1000", "9223372036854775807"), &["common factor"]);
    says(refused("hypercube:32", None), &["from 0 to 31"]);
    says(refused("hypercube:4", "1"), &["leave out `1`"]);
    says(refused("rails:8:4", None), &["needs 3 distances"]);
    says(refused("rails:8", "1:5"), &["at least 2 levels", "1 level and 2 distances"]);
    says(refused("rails:8:0", "1:5:6"), &["`0` at column 3"]);
    says(refused("complete:0", None), &["from 1"]);
    says(refused("4:16:8", None), &["needs 3 distances"]);
    says(refused("4:0:8", "1:2:3"), &["`0` at column 3"]);
    says(refused("meshes:4", None), &["neither a file", "mesh:8x8", "hypercube:10"]);
    says(refused("missing.tgt", None), &["missing.tgt", "cannot be read"]);
    says(refused(&file("hcub 4"), "1"), &["leave out `1`"]);
    says(refused(&file("2 0 11\n0\n0\n"), None), &["machine", "all 2 vertices", "routers"]);
    says(refused(&file("3 1\n2\n1\n\n"), None), &["from vertex 1 to vertex 3", "processing element 2"]);
    says(refused(&file("0 1\n2 0\n"), None), &["both ways"]);
    says(refused(&file("0 1\n1 4\n"), None), &["itself is 4"]);
    says(refused(&file("deco 1"), None), &["line 1, column 6", "the network itself"]);
    let four = MachineSpec::new("4:4").with_distances("1:2");
    says(
        refused_wanted(four.with_pes("3,16")),
        &["list of processing elements, line 1, column 3", "0 to 15"],
    );
    says(refused_wanted(four.with_pes("3,3")), &["column 3", "once"]);
    says(refused_wanted(four.with_pes("5-2")), &["2-5"]);
    says(
        refused_wanted(four.with_pes("nowhere.txt")),
        &[
            "nowhere.txt",
            "cannot be read",
            "neither a list of numbers and ranges",
            "nor a file that is there",
        ],
    );
    says(refused_wanted(four.with_pes(file("0\n1\nx").as_str())), &["line 3, column 1"]);
    says(refused_wanted(four.with_pes("")), &["no processing element is listed"]);
    let huge = refused_wanted(MachineSpec::new("mesh:2").with_pes("0-4294967295"));
    says(huge, &["0 to 1"]);
}

#[test]
fn every_kind_in_the_table_works() {
    // Clusters need files; `cluster.rs` covers them.
    let mut rng = Rng::new(1);
    for kind in viem::machine::spec::kinds() {
        let (spec, distances) = (kind.example, kind.distances);
        let wanted = MachineSpec::new(spec).with_distances(distances);
        let machine = made(wanted);
        let pes: Vec<String> = (0..9).map(|_| rng.below(machine.num_pes() as u32).to_string()).collect();
        let some: BTreeSet<&str> = pes.iter().map(String::as_str).collect();
        let list = some.into_iter().collect::<Vec<_>>().join(",");
        let text = MachineText { spec, distances, file: None, pes: Some(&list), link_cycles: None };
        check_with_auditor(&text, made(wanted.with_pes(&*list)).as_ref());
        assert!(machine.num_pes() > 1 && !kind.about.is_empty());
        assert_eq!(viem_cluster::file_of(kind.example), None);
        assert!(!machine.describe().is_empty());
    }
    for kind in &FILES {
        assert!(!kind.about.is_empty() && kind.endings.iter().all(|ending| ending.starts_with('.')));
    }
    assert!(viem_cluster::file_of("a.tgt").is_some() && viem_cluster::file_of_pes("pes.txt").is_some());
    assert!(viem_cluster::file_of_pes("0-3").is_none());
}

#[test]
fn whole_mappings_are_audited_on_every_machine() {
    // A path of six processes, on PEs with capacity 2 if possible.
    let graph = "6 5 1\n2 3\n1 3 3 5\n2 5 4 1\n3 1 5 2\n4 2 6 7\n5 7\n";
    let text = |spec, distances, file, pes| MachineText { spec, distances, file, pes, link_cycles: None };
    let weighted = text("x", None, Some("cmpltw 4 2 2 1 2"), None);
    assert_eq!(audit_on(graph, "0\n0\n1\n1\n2\n3\n", &weighted), Ok(2 * (5 + 2 + 7)));
    assert!(audit_on(graph, "0\n0\n1\n2\n2\n3\n", &weighted).is_err());
    let listed = text("torus:4x4", None, None, Some("0,1,5,4,8,12,15"));
    // Numbers 0 1 5 4 8 12: each next to the one before.
    assert_eq!(audit_on(graph, "0\n1\n2\n3\n4\n5\n", &listed), Ok(2 * (3 + 5 + 1 + 2 + 7)));
    let network = text("x", None, Some("4 3 11\n0 2 1 3 2 4 3\n2 1 1\n2 1 2\n2 1 3\n"), None);
    assert_eq!(audit_on(graph, "0\n0\n1\n1\n2\n2\n", &network), Ok(2 * (5 * 3 + 2 * 5)));
    assert_eq!(MachineError::NoPes.to_string(), "a machine has at least 1 processing element");
}
