//! `viem map` as a user runs it, and what all verbs have in common.

use std::fs;
use std::io::Write;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::common::{
    Folder, MACHINE, after, failure_of, given, instance, names, objective, said_by, says, stdout_of, text_of,
    to_spawn,
};
use serde_json::Value;
use viem::graph::generate;
use viem::machine::DistanceKind;
use viem::mapping::construct::Construction;
use viem::mapping::search::Neighbourhood;
use viem::solve::MapPreset;

const SPHERE: &str = "openfoam_sphere_64.msgs.graph";
const MELT: &str = "lammps_melt_64.bytes.graph";

/// The command that maps a model with further options.
fn viem(model: &str, more: &str) -> String {
    format!("viem map {} {MACHINE} {more}", given(model))
}

/// The command that maps the model of OpenFOAM.
fn sphere(more: &str) -> String {
    viem(SPHERE, more)
}

fn evaluated(folder: &Folder, model: &str, mapping: &str) -> i64 {
    objective(&folder.stdout(format!("viem score {} {MACHINE} {mapping}", given(model))))
}

/// The report of a command on stdout.
fn printed(folder: &Folder, line: &str) -> Value {
    serde_json::from_str(&folder.stdout(line)).expect("stdout carries nothing but the report")
}

#[test]
fn the_bottleneck_is_minimised_and_its_rise_is_said() {
    let folder = Folder::new();
    let racks = "--machine=tree:2:2:8:2 --distances=1:3:30:40";
    let mapped = |more: &str| {
        folder.stdout(format!("viem map {} {racks} --verify --json=report {more}", given(SPHERE)));
        folder.report("report")
    };
    let options = [
        "",
        "--objective=J",
        "--objective=bottleneck",
        "--objective=mixed",
        "--objective=bottleneck --excess=1",
    ];
    let [plain, same, bottleneck, mixed, little] = options.map(mapped);
    let load = |report: &Value| report["busiest"]["mapping"]["link"]["load"].as_i64().unwrap();
    let cost = |report: &Value| report["cost"].as_f64().unwrap();
    assert_eq!((cost(&plain), load(&plain)), (cost(&same), load(&same)));
    assert_eq!(plain["busiest"]["identity"], bottleneck["busiest"]["identity"]);
    assert!(load(&bottleneck) < load(&plain) && load(&bottleneck) <= load(&mixed));
    assert!(load(&mixed) < load(&plain) && cost(&bottleneck).max(cost(&mixed)) <= 1.03 * cost(&plain));
    assert!(load(&little) < load(&plain) && cost(&little) <= 1.01 * cost(&plain));
    assert_eq!(bottleneck["options"]["objective"]["objective"], "bottleneck");
    assert_eq!(little["options"]["objective"]["excess"], 0.01);
    folder.fails(sphere("--excess=1"), 2, "--excess is for another --objective than J");
    folder.fails(sphere("--objective=bottleneck --excess=101"), 2, "not a percentage from 0 to 100");

    // What leaves the busiest node is another objective than its link, also with groups that share a node.
    let leaving = |more: &str, machine: &str| {
        folder.stdout(format!(
            "viem map {} --machine={machine} --distances=1:10 --verify --json=report {more}",
            given(SPHERE)
        ));
        folder.report("report")["busiest"]["mapping"]["node"].as_i64().unwrap()
    };
    assert!(leaving("--objective=busiest_node", "4:16") < leaving("", "4:16"));
    assert!(leaving("--together=2 --objective=busiest_node", "8:8") < leaving("--together=2", "8:8"));

    // The least J of three nodes is 14, of which one sends 7; in their order, none sends more than 6.
    folder.write("six.graph", "6 5 1\n\n3 2 6 3\n2 2 4 2 5 3\n3 2\n3 3 6 3\n2 3 5 3\n");
    let six = "viem map six.graph --machine=2:3 --distances=0:1";
    let warning = "the busiest node carries 7, more than the 6 of processes in their order";
    assert!(folder.stderr(six).contains(warning));
    assert!(!folder.stderr(format!("{six} --objective=bottleneck")).contains("carries"));
}

/// What is minimised where nobody asks for anything else; what that was is said, and it is the same as if it had been asked for.
#[test]
fn jobs_on_real_machines_minimise_the_bottleneck() {
    let folder = Folder::new();
    folder.write_lines("hosts", (0..8).map(|host| format!("n{host}")));
    folder.write_lines("order", 0..64);
    let (hosts, tree) = ("-m hosts:hosts,node=4:2", "-m 4:2:8 -d 1:3:30");
    let line = |more: &str| format!("viem map {} --preset=fast --json=report {more}", given(SPHERE));
    let objective = |more: &str| {
        let text = folder.stdout(line(more));
        let is_said = text.contains("objective: bottleneck");
        let report = folder.report("report");
        let name = report["options"]["objective"]["objective"].as_str().unwrap_or("J").to_owned();
        assert_eq!(is_said, name == "bottleneck" && !more.contains("--objective"), "{more}");
        (name, folder.bytes("permutation"))
    };
    let (name, mapping) = objective(hosts);
    assert_eq!(
        (name.as_str(), &mapping),
        ("bottleneck", &objective(&format!("{hosts} --objective=bottleneck")).1)
    );
    for more in [
        tree.to_owned(),
        format!("{hosts} --objective=J"),
        format!("{hosts} --initial=order"),
        format!("{hosts} --neighbourhood=none"),
    ] {
        assert_eq!(objective(&more).0, "J", "{more}");
    }
    assert_eq!(objective(&format!("{tree} --launch=plain --objective=mixed")).0, "mixed");
    assert_eq!(objective(&format!("{tree} --launch=plain")).0, "bottleneck");
}

#[test]
fn loads_of_nodes_and_switches_are_reported() {
    let folder = Folder::new();
    let text = folder.stdout(format!("viem map {} -m 4:2:8 -d 1:3:30 -v --json=report", given(SPHERE)));
    let busiest = &folder.report("report")["busiest"];
    let loads = |what: &str, when: &str| -> Vec<i64> {
        let loads = busiest["loads"][what][when].as_array().unwrap();
        loads.iter().map(|load| load.as_i64().unwrap()).collect()
    };
    for (when, of) in [("before", "identity"), ("after", "mapping")] {
        let leaving = loads("nodes", when);
        assert_eq!((leaving.len(), leaving.iter().max()), (8, busiest[of]["node"].as_i64().as_ref()));
        assert_eq!(loads("switches", when), [leaving.iter().sum::<i64>()]);
    }
    let row = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap().split_whitespace();
    let [before, after] = ["before", "after"].map(|when| loads("nodes", when)[7].to_string());
    assert_eq!(row("node7").skip(1).take(2).collect::<Vec<_>>(), [before, after]);
    let quiet = folder.stdout(format!("viem map {} -m 4:2:8 -d 1:3:30", given(SPHERE)));
    assert!(!quiet.contains("node7") && text.contains("passes switch"));
}

/// Whatever J fits, the loads of links fit, too: none is greater than J. Only cycles that are not costs can be too many.
#[test]
fn weights_that_j_allows_are_allowed_by_every_objective() {
    let folder = Folder::new();
    // The only edge is the one between the ends: twice 4e16 times 100 is J at most.
    let rows = (0..128).map(|vertex| match vertex {
        0 => "128 40000000000000000",
        127 => "1 40000000000000000",
        _ => "",
    });
    folder.write_lines("great", ["128 1 1"].into_iter().chain(rows));
    folder.write_lines("hosts", (0..2).map(|host| format!("n{host}")));
    let machines = ["-m 4:16:2 -d 1:10:100", "-m hosts:hosts,node=4:16 -d 1:10:100"];
    for (machine, objective) in machines.iter().flat_map(|machine| {
        ["", "--objective=J", "--objective=bottleneck", "--objective=busiest_node", "--objective=mixed"]
            .map(|objective| (machine, objective))
    }) {
        folder.stdout(format!("viem map great {machine} {objective} --launch=plain --verify --json=report"));
        let report = folder.report("report");
        assert_eq!(report["cost"].as_i64(), Some(80_000_000_000_000_000), "{machine} {objective}");
        let before = &report["busiest"]["identity"];
        let loads = [&before["node"], &before["link"]["load"]].map(|load| load.as_i64().unwrap());
        assert_eq!(loads, [40_000_000_000_000_000, 45 * 40_000_000_000_000_000], "{machine} {objective}");
    }
    folder.write("costs", "3 2 11\n0 2 1 3 1\n1 1 1\n1 1 1\n");
    folder.write("cycles", "3 2 1\n2 200 3 200\n1 200\n1 200\n");
    folder.write("pair", "2 1 1\n2 40000000000000000\n1 40000000000000000\n");
    let line = "viem map pair -m costs --link-cycles=cycles";
    folder.stdout(line);
    folder.fails(
        format!("{line} --objective=bottleneck"),
        65,
        "the load of a link can be as large as 80000000000000000 (edge weights, both directions) times 200 (cycles of the slowest link), \
         which exceeds 9223372036854775807; divide the edge weights or the cycles of all links by a common factor, or minimise J alone with \
         --objective=J",
    );
}

#[test]
fn the_bottleneck_of_many_vertices_on_a_pe_is_minimised_within_the_bounds() {
    let folder = Folder::new();
    folder.stdout(format!("viem map {} --machine=mesh:3x3 --preset=fast --output=start", given(SPHERE)));
    let mapped = |more: &str| {
        folder.stdout(format!("viem map {} --machine=mesh:3x3 --verify --json=report {more}", given(SPHERE)));
        folder.report("report")
    };
    let (plain, lowered) = (mapped("--initial=start"), mapped("--initial=start --objective=bottleneck"));
    let load = |report: &Value, of: &str| report["busiest"][of]["link"]["load"].as_i64().unwrap();
    assert!(load(&lowered, "mapping") < load(&plain, "mapping"));
    assert_eq!(load(&lowered, "initial"), load(&plain, "initial"));
    assert!(lowered["cost"].as_f64() <= plain["cost"].as_f64().map(|cost| 1.03 * cost));
    assert_eq!(lowered["loads"]["overload"], 0);
}

#[test]
fn every_value_of_every_option_works() {
    let folder = Folder::new();
    let model = "qe_si8_nk4_64.msgs.graph";
    let options = ["max-hops=1", "interval=8", "seed=-1", "threads=3", "verify"];
    let mut options: Vec<String> = options.map(str::to_owned).to_vec();
    options.extend(MapPreset::ALL.map(|value| format!("preset={}", value.name())));
    options.extend(Construction::ALL.map(|value| format!("construction={}", value.name())));
    options.extend(Neighbourhood::ALL.map(|value| format!("neighbourhood={}", value.name())));
    options.extend(DistanceKind::ALL.map(|value| format!("distance-construction={}", value.name())));
    for option in options {
        let text = folder.stdout(viem(model, &format!("--{option}")));
        assert_eq!(evaluated(&folder, model, "permutation"), objective(&text), "{option}");
    }
}

#[test]
fn the_first_mapping_can_follow_an_order() {
    let folder = Folder::new();
    folder.write_lines("points", (0..64).map(|u| format!("{} {} {}", u % 4, u / 4 % 4, u / 16)));
    for algorithm in ["rcb", "zcurve", "hilbert", "rsb", "linear"] {
        let options = "--neighbourhood=none --json=report --verify";
        let mut line = sphere(&format!("--construction={algorithm} {options}"));
        if ["rcb", "zcurve", "hilbert"].contains(&algorithm) {
            folder.fails(&line, 2, "give --coordinates=FILE");
            line += " --coordinates=points";
        }
        let text = folder.stdout(line);
        assert_eq!(evaluated(&folder, SPHERE, "permutation"), objective(&text), "{algorithm}");
        let report = folder.report("report");
        assert_eq!(report["options"]["construction"], algorithm);
        let cost = |of: &str| report[of].as_i64().unwrap();
        assert_eq!(cost("cost_of_construction").min(cost("cost_of_identity")), objective(&text));
    }
    let points = sphere("--coordinates=points");
    folder.fails(&points, 2, "--coordinates is for --construction=rcb");
    folder.fails(points + " --construction=rsb", 2, "leave it out");
    folder.write("program", "PROCESS 0 STOP");
    folder.fails("viem map program --machine=mesh:2", 65, "viem simulate maps a workload");
}

#[test]
fn the_mapping_depends_only_on_the_seed() {
    let folder = Folder::new();
    folder.write("model", text_of(&generate::random_geometric(128, 9.0, 1)));
    let run = |options: &str| {
        let machine = "--machine=2:8:8 --distances=1:10:100";
        let outputs = "--output=mapping --json=report";
        folder.stdout(format!("viem map model {machine} {outputs} --preset={options}"));
        let mut report = folder.report("report");
        report.as_object_mut().unwrap().remove("seconds");
        (folder.bytes("mapping"), report.to_string())
    };
    let stored = "--distance-construction=hierarchy";
    let online = "--distance-construction=hierarchyonline";
    for preset in MapPreset::ALL.map(|preset| preset.name()) {
        let expected = run(&format!("{preset} --threads=1 {online}"));
        for [threads, distances] in [["2", stored], ["8", online]] {
            let other = format!("{preset} --threads {threads} {distances}");
            assert_eq!(run(&other), expected, "{other}");
        }
        assert_ne!(run(&format!("{preset} --seed=1")).0, expected.0);
    }
}

#[test]
fn the_report_describes_the_run() {
    let folder = Folder::new();
    let report = printed(&folder, &viem(MELT, "--json=- --seed=5"));
    assert_eq!(
        (&report["num_processes"], &report["num_edges"], &report["seed"]),
        (&64.into(), &284.into(), &5.into())
    );
    assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(report["options"]["construction"], "hierarchytopdown");
    assert_eq!(report["options"]["time_limit"], Value::Null);
    assert_eq!(report["input"], instance(MELT).display().to_string());
    let cost = |key: &str| report[key].as_i64().unwrap();
    assert!(cost("cost") <= cost("cost_of_construction").min(cost("cost_of_identity")));
    assert_eq!(cost("cost"), evaluated(&folder, MELT, "permutation"));
    assert!(report["swaps_tried"].as_u64() >= report["swaps_made"].as_u64());
    assert_eq!(report["stopped"], false);
    for phase in ["construction", "search", "total"] {
        assert!(report["seconds"][phase].as_f64().unwrap() >= 0.0);
    }
}

#[test]
fn results_can_go_to_stdout_and_the_model_can_come_from_stdin() {
    let folder = Folder::new();
    let mut command = folder.command(format!("viem map - {MACHINE} -o -"));
    let mapping = stdout_of(command.write_stdin(fs::read(instance(SPHERE)).unwrap()));
    let pes: Vec<u32> = mapping.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(pes.len(), 64);
    assert_eq!(names(folder.path()), [""; 0], "no file is left behind");
    folder.stdout(sphere("--quiet"));
    assert_eq!(folder.read("permutation"), mapping);
}

#[test]
fn quiet_prints_nothing() {
    assert_eq!(said_by(&mut Folder::new().command(sphere("--quiet"))), Default::default());
}

#[test]
fn the_result_is_not_worse_than_the_identity_nor_than_the_start() {
    let folder = Folder::new();
    let none = "--neighbourhood=none --construction=random";
    let text = folder.stdout(viem(MELT, none));
    folder.write_lines("identity", 0..64);
    assert!(objective(&text) <= evaluated(&folder, MELT, "identity"));

    let best = folder.stdout(viem(MELT, "--output=best"));
    let again = folder.stdout(viem(MELT, &format!("{none} --initial=best")));
    assert!(objective(&again) <= objective(&best));
}

#[test]
fn sums_beyond_32_bits_are_exact_and_beyond_64_bits_rejected() {
    let folder = Folder::new();
    let cycle = |weight: u64| {
        let rows = [(2, 4), (1, 3), (2, 4), (1, 3)].map(|(u, v)| format!("{u} {weight} {v} {weight}\n"));
        folder.write("cycle.graph", format!("4 4 1\n{}", rows.concat()));
        "viem map cycle.graph -m 2:2 -d 10:100 --construction=identity --neighbourhood=none"
    };
    assert_eq!(objective(&folder.stdout(cycle(30_000_000))), 13_200_000_000);
    folder.fails(cycle(i64::MAX as u64 / 100), 65, "9223372036854775807");
    folder.fails(cycle(u64::MAX), 65, "");
}

#[test]
fn failures_have_one_message_and_the_right_code_and_leave_files_unchanged() {
    let folder = Folder::with(&[("permutation", "precious"), ("bad.graph", "2 1 1\n2 0\n1 0\n")]);
    let good = given(SPHERE);
    let cases = [
        (format!("bad.graph {MACHINE}"), 65, "line 2"),
        (format!("missing.graph {MACHINE}"), 66, "missing.graph"),
        (format!("'{}' {MACHINE}", folder.path().display()), 66, "cannot be read"),
        (format!("{good} --machine=4:x:4 --distances=1:2:3"), 2, "is neither"),
        (format!("{good} --machine=4:4:4 --distances=1:2"), 2, "needs 3 distances"),
        (format!("{good} --machine=4:4:4"), 2, "needs 3 distances"),
        (format!("{good} {MACHINE} --threads=0"), 2, ""),
        (format!("{good} {MACHINE} --construction=magic"), 2, ""),
        (format!("{good} {MACHINE} -o - --json=-"), 2, ""),
        (format!("{good} {MACHINE} --output=no/such/folder/permutation"), 73, ""),
        (format!("{good} --machine=64 --distances=9223372036854775807"), 65, "J can be as large as"),
    ];
    for (arguments, code, expected) in cases {
        folder.fails(format!("viem map {arguments}"), code, expected);
        assert_eq!(folder.read("permutation"), "precious", "{arguments}");
    }
}

#[test]
fn the_end_of_a_run_reports_the_gain_and_the_output() {
    let folder = Folder::new();
    folder.write_lines("identity", 0..64);
    let before = evaluated(&folder, MELT, "identity");
    let text = folder.stdout(viem(MELT, "--verify -o result"));
    let after = objective(&text);
    let less = 100.0 * (before - after) as f64 / before as f64;
    let row = text.lines().find(|line| line.starts_with("J ")).unwrap();
    let words: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(words, ["J", &before.to_string(), &after.to_string(), &format!("{less:.1}"), "%", "less"]);
    assert_eq!(text.lines().last().unwrap(), "mapping written to result");
    says(&text, [format!("verified: J of the files is {after} too")]);
    // Nothing to gain, and no value to divide by.
    folder.write("empty", "4 0\n\n\n\n\n");
    let text = folder.stdout("viem map empty --machine=4 --distances=1");
    let row = text.lines().find(|line| line.starts_with("J ")).unwrap();
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["J", "0", "0", "the", "same"]);
}

#[test]
fn decreasing_distances_cause_a_warning() {
    let folder = Folder::new();
    let run = |distances: &str| {
        let line = "--machine=4:4:4:1 --distances";
        folder.stderr(format!("viem map {} {line} {distances}", given(SPHERE)))
    };
    says(&run("100:10:1:1"), ["warning: the distances 100:10:1:1 fall from the inside out"]);
    // A level of one member makes no difference.
    for distances in ["1:10:100:0", "1:1:1:1", "0:0:5:5", "100:10:1:1 --quiet"] {
        assert_eq!(run(distances), "");
    }
}

/// A time limit begins once the inputs are read, and the audit comes on top of it.
#[test]
fn a_time_limit_is_for_the_mapping_alone() {
    let folder = Folder::new();
    folder.write("path", text_of(&generate::grid(12, 1)));
    let stopped = || folder.report("report")["stopped"] == true;
    let line = "--machine=mesh:5x4 --json=report --time-limit";
    says(&folder.stdout(format!("viem map path {line}=0 --verify")), ["verified: J of the files"]);
    assert!(stopped());
    let viem = folder.command(format!("viem map - {line}=2"));
    let mut child =
        to_spawn(&viem, folder.path()).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    thread::sleep(Duration::from_millis(2500));
    input.write_all(&folder.bytes("path")).unwrap();
    drop(input);
    assert!(child.wait().unwrap().success() && !stopped());
}

#[test]
fn times_have_units() {
    let folder = Folder::new();
    // Without a search, a run ends long before its time limit.
    let limit = |time: &str| {
        let mut command = folder.command(sphere("--json=- --neighbourhood=none --time-limit"));
        command.arg(time);
        command
    };
    for (time, seconds) in
        [("90", 90.0), ("1.5", 1.5), ("90s", 90.0), ("2m", 120.0), ("1h", 3600.0), ("0.5h", 1800.0)]
    {
        let report: Value = serde_json::from_str(&stdout_of(&mut limit(time))).unwrap();
        assert_eq!(report["options"]["time_limit"], seconds, "{time}");
    }
    for time in ["", "s", "ten", "1d", "-1", "90ss", "inf", "nan", "1e99", "0x10"] {
        assert!(failure_of(&mut limit(time), 2).contains("90s, 2m, 1h"), "{time}");
    }
}

#[test]
fn every_seed_is_accepted() {
    let folder = Folder::new();
    let run = |seed: &str| {
        let line = viem(MELT, &format!("--json=- --seed {seed}"));
        printed(&folder, &line)["seed"].as_u64().unwrap()
    };
    assert_eq!(run("18446744073709551615"), u64::MAX);
    assert_eq!(run("9223372036854775808"), 1 << 63);
    assert_eq!(run("-1"), u64::MAX);
    for seed in ["18446744073709551616", "-9223372036854775809", "1.5", "x", ""] {
        let mut command = folder.command(viem(MELT, "--seed"));
        assert!(failure_of(command.arg(seed), 2).contains("18446744073709551615"), "{seed}");
    }
    let model = given("openfoam_sphere_16.msgs.graph");
    folder.stdout(format!("viem partition {model} --blocks=2 --seed=18446744073709551615"));
}

#[test]
fn unknown_options_are_answered_with_suggestions() {
    let folder = Folder::new();
    for (option, meant) in [
        ("--prset=strong", "--preset"),
        ("--treads=2", "--threads"),
        ("--outptu_filename=x", "--output"),
        ("--timelimit=1", "--time-limit"),
        ("--verfy", "--verify"),
    ] {
        let name = option.split('=').next().unwrap();
        let expected = format!("there is no option {name}; did you mean {meant}");
        let message = folder.fails(sphere(option), 2, &expected);
        assert!(!message.contains("-- --"), "{message}");
    }
    folder.fails(sphere("--qqqq"), 2, "there is no option --qqqq (--help");
    // Unknown options are reported as always.
    folder.fails(sphere("another_file"), 2, "another_file");
}

#[test]
fn launch_files_are_written_completely_and_replaced_by_the_same_command() {
    let folder = Folder::new();
    let run = |more: &str| {
        let options = "--preset=fast --distances=1:10";
        format!("viem map {} {options} --machine={more}", given("gromacs_water_pme_16.msgs.graph"))
    };
    let text = folder.stdout(run("8:2 --launch=cray --json=report"));
    let line = after(&text, "launch with: ");
    says(line, ["MPICH_RANK_REORDER_FILE=MPICH_RANK_ORDER srun -N 2 -n 16"]);
    // The last line answers the question.
    assert!(text.lines().last().unwrap().starts_with("mapping written to "), "{text}");
    let order = folder.read("MPICH_RANK_ORDER");
    let pe_of = folder.numbers("permutation");
    for (pe, rank) in order.trim().split(',').enumerate() {
        assert_eq!(pe_of[rank.parse::<usize>().unwrap()], pe);
    }
    let report = folder.report("report");
    assert_eq!(report["launch"]["kind"], "cray");
    assert_eq!(report["launch"]["line"], line);
    // The same command again replaces them, and says so.
    folder.write("MPICH_RANK_ORDER", "older");
    says(&folder.stderr(run("8:2 --launch=cray")), ["note: replaced MPICH_RANK_ORDER"]);
    assert_eq!(folder.read("MPICH_RANK_ORDER"), order);
    assert_eq!(folder.stderr(run("8:2 --launch=cray:MPICH_RANK_ORDER")), "");
    // Two files, one of them a program.
    folder.stdout(run("16:1 '--launch=slurm:my hosts,run me' --picture=a.svg"));
    assert_eq!(folder.read("my hosts"), "localhost\n".repeat(16));
    assert!(folder.read("run me").starts_with("#!/bin/sh\n"));
    says(&folder.read("a.svg"), ["of permutation"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |name| fs::metadata(folder.file(name)).unwrap().permissions().mode();
        assert_eq!(mode("run me") & 0o111, (mode("my hosts") & 0o444) >> 2);
    }
    // A mapping that cannot be launched is reported before any work, and nothing is written.
    let before = names(folder.path());
    let nameless = "needs the names of the hosts, but the machine has 2 nodes without names";
    folder.fails(run("8:2 --launch=openmpi:new -o new2"), 2, nameless);
    for wrong in ["lsf", "openmpi:", "openmpi:a,b", "slurm:a,,"] {
        folder.fails(run(&format!("8:2 --launch={wrong}")), 2, "");
    }
    let same = "--output (same) and --launch (same) write to the same place";
    folder.fails(run("8:2 --launch=cray:same -o same"), 2, same);
    assert_eq!(names(folder.path()), before);
    // If PEs stay free, the mapping may turn out to be unsuitable for the launcher; it is written
    // nevertheless.
    let spare = folder.command(run("12:2 --launch=cray:order -o kept")).output().unwrap();
    assert!(folder.has("kept"));
    assert_eq!(folder.has("order"), spare.status.success());
}
