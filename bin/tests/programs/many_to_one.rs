//! Many-to-one mapping as a user runs it.

use crate::common::{Folder, after, given, names, objective, says};

const MACHINE: &str = "--machine=4:3 --distances=1:10";

/// The command of a program on the mesh of 3072 vertices that comes with the project, and on the machine.
fn on_mesh(name: &str, more: &str) -> String {
    format!("{name} {} {MACHINE} {more}", given("mesh_64x48.graph"))
}

fn loads(pe_of: &[usize], num_pes: usize) -> Vec<usize> {
    let mut loads = vec![0; num_pes];
    pe_of.iter().for_each(|&pe| loads[pe] += 1);
    loads
}

#[test]
fn a_mesh_is_mapped_verified_scored_and_improved() {
    let folder = Folder::new();
    let text = folder.stdout(on_mesh("viem map", "--verify --json=report --threads=2 -o mapping"));
    says(&text, ["many-to-one mapping, 256.0 vertices per PE"]);
    let (cost, report) = (objective(&text), folder.report("report"));
    says(&text, [format!("verified: J of the files is {cost} too, and so are all loads")]);
    assert_eq!((&report["cost"], &report["loads"]["bound"]), (&cost.into(), &263.into()));
    assert!(loads(&folder.numbers("mapping"), 12).iter().all(|&load| (1..=263).contains(&load)));

    let text = folder.stdout(on_mesh("viem score", "mapping --json=score"));
    let score = folder.report("score");
    assert_eq!(objective(&text), cost);
    assert_eq!(score["loads"], report["loads"]);
    let levels: i64 =
        score["levels"].as_array().unwrap().iter().map(|level| level["cost"].as_i64().unwrap()).sum();
    assert_eq!(levels, cost);
    assert!(score["by_pe"]["greatest_neighbours"].as_u64().unwrap() <= 11);
    says(&text, ["load of a PE: "]);

    let improve = "--initial=mapping -o mapping --seed=3 --time-limit=0.2";
    let text = folder.stdout(on_mesh("viem map", improve));
    assert!(objective(&text) <= cost);
    assert!(after(&text, "J  ").trim().starts_with(&cost.to_string()), "{text}");
}

#[test]
fn a_higher_j_than_that_of_a_mapping_that_breaks_the_rules_is_said() {
    let folder = Folder::with(&[("cycle", "4 4\n2 4\n1 3\n2 4\n1 3\n"), ("all", "0\n0\n0\n0\n")]);
    let line = "viem map cycle -m 2 -d 1 -i 100 --initial=all";
    says(&folder.stderr(line), ["J is higher than that of --initial, which exceeds bounds or leaves PEs"]);
    folder.write("all", "0\n0\n1\n1\n");
    assert_eq!(folder.stderr(line), "");
}

#[test]
fn the_same_seed_gives_the_same_bytes_at_any_number_of_threads() {
    let folder = Folder::new();
    let mapping = |options: &str| {
        folder.stdout(on_mesh("viem map", options) + " -o mapping");
        folder.bytes("mapping")
    };
    let one = mapping("--threads=1 --seed=5");
    assert_eq!(mapping("--threads=2 --seed=5"), one);
    assert_ne!(mapping("--threads=2 --seed=6"), one);
}

#[test]
fn with_a_process_for_each_element_the_mapping_is_one_to_one() {
    let folder = Folder::new();
    let machine = "--machine=4:4 -o mapping --distances=1:10";
    let line = format!("viem map {} {machine}", given("openfoam_sphere_16.msgs.graph"));
    says(&folder.stdout(&line), ["graph: 16 processes"]);
    let mut pes = folder.numbers("mapping");
    pes.sort_unstable();
    assert_eq!(pes, (0..16).collect::<Vec<_>>());
    let expected = "--imbalance is for graphs with many vertices on a PE";
    folder.fails(line + " --imbalance=3", 2, expected);
}

#[test]
fn work_follows_the_weights_of_the_elements() {
    let folder = Folder::new();
    let weights: Vec<usize> = (0..12).map(|pe| 1 + pe % 4).collect();
    folder.write_lines("weights", &weights);
    folder.stdout(on_mesh("viem map", "--capacities=weights --imbalance=0 --verify -o mapping"));
    for (load, weight) in loads(&folder.numbers("mapping"), 12).into_iter().zip(weights) {
        let share = 3072.0 * weight as f64 / 30.0;
        assert!((load as f64 - share).abs() < 1.0, "{load} for {share}");
    }
    for (content, reason) in [
        ("1\n2\n", "weights, line 3, column 1: the weights end after 2 of 12"),
        ("1\n0\n", "line 2, column 1: `0` is not a weight"),
        ("1 1\n", "`1` is too much"),
        ("x\n", "`x` is not a weight"),
        (&*"1\n".repeat(13), "go on after 12"),
    ] {
        folder.write("weights", content);
        folder.fails(on_mesh("viem map", "--capacities=weights"), 65, reason);
        assert!(!folder.has("permutation"), "{content}");
    }
}

#[test]
fn a_model_of_a_many_to_one_mapping_is_its_quotient_graph() {
    let folder = Folder::new();
    let onto = "-o mapping --json=report --model=model.graph";
    folder.stdout(on_mesh("viem map", onto));
    let report = folder.report("report");
    // The identity on the model has the cost of the mapping of the mesh.
    folder.write_lines("identity", 0..12);
    let text = folder.stdout(format!("viem score model.graph identity {MACHINE}"));
    assert_eq!(report["cost"], objective(&text));
    let text = folder.stdout(on_mesh("viem score", "mapping"));
    assert_eq!(report["cost"], objective(&text));
    folder.fails(on_mesh("viem map", "--blocks=5"), 2, "");
    folder.fails(format!("viem partition {} --pes=0-3", given("mesh_64x48.graph")), 2, "");
}

#[test]
fn a_many_to_one_mapping_is_compared_with_others_and_drawn() {
    let folder = Folder::new();
    let text = folder.stdout(on_mesh("viem map", "-o mapping --picture=a.svg"));
    let score = "--json=report --compare=block,cyclic,socket,random,mapping --picture=b.svg";
    let scored = folder.stdout(on_mesh("viem score", "mapping ") + score);
    says(&scored, ["than block"]);
    let report = folder.report("report");
    let rows = report["compared"].as_array().unwrap();
    let costs: Vec<i64> = rows.iter().map(|row| row["cost"].as_i64().unwrap()).collect();
    assert_eq!((costs[0], costs[5]), (objective(&text), objective(&text)));
    // In the order of the mesh, ranges of vertices are bands; random ranges are far apart.
    assert!(costs[0] < costs[1] && costs[1] <= costs[2] && costs[1] < costs[4], "{costs:?}");
    // A band of four rows for each element.
    folder.write_lines("bands", (0..3072).map(|v| v / 256));
    folder.stdout(on_mesh("viem score", "bands --quiet --json=report"));
    assert_eq!(folder.report("report")["cost"], costs[1]);
    for picture in ["a.svg", "b.svg"] {
        let text = folder.read(picture);
        assert!(text.starts_with("<svg "), "{text}");
        says(&text, ["block", "of mapping"]);
    }
    folder.fails(on_mesh("viem map", "--launch=openmpi"), 2, "--launch is for one-to-one mappings");
}

/// Ranges along the order of the machine: unchanged without the search, otherwise improved.
#[test]
fn the_first_mapping_may_be_made_along_the_machine() {
    let folder = Folder::new();
    folder.write_lines("points", (0..3072).map(|node| format!("{} {}", node % 64, node / 64)));
    folder.write("weights", "1\n2\n1\n".repeat(4));
    let options = "--capacities=weights --preset=fast --verify --json=report";
    for algorithm in ["rcb", "zcurve", "hilbert", "rsb", "linear"] {
        let has_points = ["rcb", "zcurve", "hilbert"].contains(&algorithm);
        let coordinates = if has_points { "--coordinates=points" } else { "" };
        let run = |more: &str| {
            let along = format!("--construction={algorithm} {coordinates}");
            let text = folder.stdout(on_mesh("viem map", &format!("{options} {along} {more}")));
            (text, folder.report("report"))
        };
        let (text, kept) = run("--neighbourhood=none -o kept");
        assert_eq!(kept["cost_of_construction"], kept["cost"]);
        assert_eq!(kept["options"]["construction"], algorithm);
        says(&text, [format!("{}", kept["cost_of_construction"])]);
        // The shares are met exactly: 192 vertices per unit of weight.
        let pe_of = folder.numbers("kept");
        assert_eq!(loads(&pe_of, 12), [192, 384, 192].repeat(4));
        if algorithm == "linear" {
            assert!(pe_of.is_sorted());
        }
        let (_, improved) = run("-o improved");
        assert_eq!(improved["cost_of_construction"], kept["cost"]);
        assert!(improved["cost"].as_i64() <= kept["cost"].as_i64());
    }
    let refused = "--construction=linear --initial=kept";
    folder.fails(on_mesh("viem map", refused), 2, "--initial names it");
    folder.fails(on_mesh("viem map", "--construction=rcb"), 2, "give --coordinates=FILE");
}

#[test]
fn meaningless_options_are_rejected() {
    let folder = Folder::new();
    folder.write("short", "0\n1\n");
    folder.write("high", "12\n".repeat(3072));
    for (option, code, reason) in [
        ("--imbalance=-1", 2, ""),
        ("--imbalance=nan", 2, ""),
        ("--imbalance=much", 2, ""),
        ("--initial=short", 65, "ends after 2 of 3072"),
        ("--initial=high", 65, ""),
    ] {
        folder.fails(on_mesh("viem map", option), code, reason);
    }
    assert_eq!(names(folder.path()), ["high", "short"], "nothing is written");
}

#[test]
fn the_vertices_of_a_pe_are_connected_on_demand() {
    let folder = Folder::new();
    let in_pieces = |name: &str| folder.report(name)["in_pieces"].as_u64();
    let text = folder
        .stdout(on_mesh("viem map", "--connected --json=report --preset=fast --imbalance=1 -o mapping"));
    assert_eq!(
        (in_pieces("report"), folder.report("report")["options"]["connected"].as_bool()),
        (Some(0), Some(true))
    );
    assert!(!text.contains("PEs in pieces"));
    folder.stdout(on_mesh(
        "viem map",
        "--connected --initial=mapping --json=report --time-limit=0.1 -o mapping",
    ));
    assert_eq!(in_pieces("report"), Some(0));
    // Two paths of four vertices on three PEs of at most three: one PE has to take from both.
    folder.write("paths", "8 6\n2\n1 3\n2 4\n3\n6\n5 7\n6 8\n7\n");
    let text = folder.stdout("viem map paths -m 3 -d 1 --imbalance=0 --connected -o mapping");
    says(&text, ["PEs in pieces"]);
    folder.stdout("viem score paths mapping -m 3 -d 1 --imbalance=0 --json=score");
    assert_eq!(in_pieces("score"), Some(1));
    let fails = |line: &str, expected: &str| folder.fails(line, 2, expected);
    fails("viem map paths -m 8 -d 1 --connected", "--connected is for many vertices on a PE");
    fails(
        "viem map paths -m 3 -d 1 --connected --objective=mixed",
        "a secondary objective would take connected",
    );
    fails(
        "viem map paths -m 3 -d 1 --connected --construction=linear --neighbourhood=none",
        "need not be connected",
    );
}
