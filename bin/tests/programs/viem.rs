//! `viem` as a user runs it.

use std::fs;
use std::path::Path;

use crate::common::{
    MACHINE, after, failure_of, instance, objective, program, report_in, stdout_of, text_of,
};
use assert_cmd::Command;
use serde_json::Value;
use viem::graph::generate;
use viem::machine::DistanceKind;
use viem::mapping::construct::Construction;
use viem::mapping::search::Neighbourhood;
use viem::solve::MapPreset;

fn viem(folder: &Path, model: &str) -> Command {
    let mut command = program("viem", folder);
    command.arg(instance(model)).args(MACHINE);
    command
}

fn evaluated(folder: &Path, model: &str, mapping: &str) -> i64 {
    let mut command = program("evaluator", folder);
    command.arg(instance(model)).args(MACHINE).arg(format!("--input_mapping={mapping}"));
    objective(&stdout_of(&mut command))
}

#[test]
fn scripts_find_the_lines_of_viem() {
    let folder = tempfile::tempdir().unwrap();
    let text = stdout_of(&mut viem(folder.path(), "openfoam_sphere_64.msgs.graph"));
    assert!(text.contains("model has 64 nodes, 1172 edges"), "{text}");
    let constructed: i64 = after(&text, "J(C,D,Pi) = ").parse().unwrap();
    for seconds in ["construction took ", "local search took ", "time spent for mapping "] {
        assert!(after(&text, seconds).parse::<f64>().unwrap() >= 0.0);
    }
    assert!(objective(&text) <= constructed);
    assert_eq!(evaluated(folder.path(), "openfoam_sphere_64.msgs.graph", "permutation"), objective(&text));
}

/// The report of a mapping of OpenFOAM.
fn mapped(folder: &Path, machine: [&str; 2], more: &[&str]) -> Value {
    let mut command = program("viem", folder);
    command.arg(instance("openfoam_sphere_64.msgs.graph")).args(["--verify", "--json=report"]);
    stdout_of(command.args(machine).args(more));
    report_in(&folder.join("report"))
}

/// The same to racks.
fn on_racks(folder: &Path, more: &[&str]) -> Value {
    mapped(folder, ["--machine=tree:2:2:8:2", "--distance_parameter_string=1:3:30:40"], more)
}

#[test]
fn the_busiest_link_or_node_is_lowered_while_j_hardly_rises() {
    let folder = tempfile::tempdir().unwrap();
    let (plain, relieved) = (
        on_racks(folder.path(), &[]),
        on_racks(folder.path(), &["--secondary=busiest_link", "--secondary_excess=1"]),
    );
    let load = |report: &Value, of: &str| report["busiest"][of]["link"]["load"].as_i64().unwrap();
    let cost = |report: &Value| report["cost"].as_i64().unwrap();
    assert_eq!(load(&plain, "identity"), load(&relieved, "identity"));
    assert!(load(&relieved, "mapping") < load(&plain, "mapping"));
    assert!(cost(&relieved) <= cost(&plain) + cost(&plain) / 100);
    assert_eq!(relieved["options"]["secondary"]["excess"], 0.01);
    assert_eq!(relieved["options"]["secondary"]["objective"], "busiest_link");
    let on_nodes =
        |more: &[&str]| mapped(folder.path(), ["--machine=8:8", "--distance_parameter_string=1:10"], more);
    let (plain, relieved) = (on_nodes(&[]), on_nodes(&["--secondary=busiest_node"]));
    let leaving = |report: &Value| report["busiest"]["mapping"]["node"].as_i64().unwrap();
    assert!(leaving(&relieved) < leaving(&plain));
    assert!(cost(&relieved) <= cost(&plain) + cost(&plain) / 200);
    let mut command = viem(folder.path(), "openfoam_sphere_64.msgs.graph");
    let message = failure_of(command.args(["--secondary=busiest_link", "--secondary_excess=101"]), 2);
    assert!(message.contains("not a percentage from 0 to 100"), "{message}");
}

#[test]
fn every_value_of_every_option_works() {
    let folder = tempfile::tempdir().unwrap();
    let model = "qe_si8_nk4_64.msgs.graph";
    let mut options: Vec<String> = Vec::new();
    options.extend(MapPreset::ALL.map(|value| format!("--preconfiguration_mapping={}", value.name())));
    options.extend(Construction::ALL.map(|value| format!("--construction_algorithm={}", value.name())));
    options.extend(Neighbourhood::ALL.map(|value| format!("--local_search_neighborhood={}", value.name())));
    options
        .extend(DistanceKind::ALL.map(|value| format!("--distance_construction_algorithm={}", value.name())));
    options.extend(
        ["--communication_neighborhood_dist=1", "--search_space_s=8", "--seed=-1", "--threads=3", "--verify"]
            .map(String::from),
    );
    for option in options {
        let mut command = viem(folder.path(), model);
        let text = stdout_of(command.arg(&option));
        assert_eq!(evaluated(folder.path(), model, "permutation"), objective(&text), "{option}");
    }
}

#[test]
fn unused_options_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |options: &[&str], says: &str| {
        let message = failure_of(viem(folder.path(), "openfoam_sphere_64.msgs.graph").args(options), 2);
        assert!(message.contains(says), "{options:?}: {message}");
    };
    for option in ["--judge=estimate", "--send_cycles=2", "--receive_cycles=1", "--tasks_per_pe=2"] {
        let name = option.split('=').next().unwrap();
        refused(&[option], &format!("{name} is for workloads; this mapping is one-to-one"));
    }
    assert_eq!(crate::common::names(folder.path()), [""; 0]);
}

#[test]
fn the_first_mapping_can_follow_an_order() {
    let folder = tempfile::tempdir().unwrap();
    let model = "openfoam_sphere_64.msgs.graph";
    let points: String = (0..64).map(|u| format!("{} {} {}\n", u % 4, u / 4 % 4, u / 16)).collect();
    fs::write(folder.path().join("points"), points).unwrap();
    for algorithm in ["rcb", "zcurve", "hilbert", "rsb", "linear"] {
        let mut command = viem(folder.path(), model);
        command.args([&format!("--construction_algorithm={algorithm}"), "--local_search_neighborhood=none"]);
        command.args(["--json=report", "--verify"]);
        if ["rcb", "zcurve", "hilbert"].contains(&algorithm) {
            let message = failure_of(&mut command, 2);
            assert!(message.contains("give --coordinates=FILE"), "{message}");
            command.arg("--coordinates=points");
        }
        let text = stdout_of(&mut command);
        assert_eq!(evaluated(folder.path(), model, "permutation"), objective(&text), "{algorithm}");
        let report = report_in(&folder.path().join("report"));
        assert_eq!(report["options"]["construction_algorithm"], algorithm);
        assert_eq!(
            report["cost_of_construction"]
                .as_i64()
                .unwrap()
                .min(report["cost_of_identity"].as_i64().unwrap()),
            objective(&text)
        );
    }
    let refused = |options: &[&str], says: &str| {
        let message = failure_of(viem(folder.path(), model).args(options), 2);
        assert!(message.contains(says), "{message}");
    };
    refused(&["--coordinates=points"], "--coordinates is for --construction_algorithm=rcb");
    refused(&["--coordinates=points", "--construction_algorithm=rsb"], "leave it out");
    fs::write(folder.path().join("program"), "PROCESS 0 STOP").unwrap();
    let of_program = ["program", "--machine=mesh:2", "--construction_algorithm=rsb"];
    let message = failure_of(program("viem", folder.path()).args(of_program), 2);
    assert!(message.contains("--construction_algorithm=rsb is for one-to-one mappings and many-to-one mappings; this is a workload"), "{message}");
}

#[test]
fn prefixes_of_options_work_if_they_fit_one_option_only() {
    let folder = tempfile::tempdir().unwrap();
    let model = instance("openfoam_sphere_16.msgs.graph");
    let short = ["--hier", "4:4", "--distance_p=1:10", "--prec=fast", "--output=short"];
    stdout_of(program("viem", folder.path()).arg(&model).args(short));
    assert!(folder.path().join("short").exists());
    let ambiguous = ["--hierarchy=4:4", "--distance=1:10"];
    failure_of(program("viem", folder.path()).arg(&model).args(ambiguous), 2);
}

#[test]
fn the_mapping_depends_only_on_the_seed() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("model"), text_of(&generate::random_geometric(128, 9.0, 1))).unwrap();
    let run = |options: &[&str]| {
        let mut command = program("viem", folder.path());
        command.args(["model", "--hierarchy_parameter_string=2:8:8", MACHINE[1]]);
        command.args(["--output_filename=mapping", "--json=report"]);
        stdout_of(command.args(options));
        let mut report = report_in(&folder.path().join("report"));
        report.as_object_mut().unwrap().remove("seconds");
        (fs::read(folder.path().join("mapping")).unwrap(), report.to_string())
    };
    let stored = "--distance_construction_algorithm=hierarchy";
    let online = "--distance_construction_algorithm=hierarchyonline";
    for preset in MapPreset::ALL {
        let preset = format!("--preconfiguration_mapping={}", preset.name());
        let expected = run(&[&preset, "--threads=1", online]);
        for [threads, distances] in [["2", stored], ["8", online]] {
            assert_eq!(
                run(&[&preset, "--threads", threads, distances]),
                expected,
                "{preset} {threads} {distances}"
            );
        }
        assert_ne!(run(&[&preset, "--seed=1"]).0, expected.0);
    }
}

#[test]
fn the_report_describes_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let text = stdout_of(viem(folder.path(), "lammps_melt_64.bytes.graph").args(["--json=-", "--seed=5"]));
    let report: Value = serde_json::from_str(&text).expect("stdout carries nothing but the report");
    assert_eq!(
        (&report["num_processes"], &report["num_edges"], &report["seed"]),
        (&64.into(), &284.into(), &5.into())
    );
    assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(report["options"]["construction_algorithm"], "hierarchytopdown");
    assert_eq!(report["options"]["time_limit"], Value::Null);
    assert_eq!(report["input"], instance("lammps_melt_64.bytes.graph").display().to_string());
    let cost = |key: &str| report[key].as_i64().unwrap();
    assert!(cost("cost") <= cost("cost_of_construction").min(cost("cost_of_identity")));
    assert_eq!(cost("cost"), evaluated(folder.path(), "lammps_melt_64.bytes.graph", "permutation"));
    assert!(report["swaps_tried"].as_u64() >= report["swaps_made"].as_u64());
    assert_eq!(report["stopped"], false);
    for phase in ["construction", "search", "total"] {
        assert!(report["seconds"][phase].as_f64().unwrap() >= 0.0);
    }
}

#[test]
fn results_can_go_to_stdout_and_the_model_can_come_from_stdin() {
    let folder = tempfile::tempdir().unwrap();
    let model = fs::read(instance("openfoam_sphere_64.msgs.graph")).unwrap();
    let mut command = program("viem", folder.path());
    command.arg("-").args(MACHINE).args(["-o", "-"]).write_stdin(model);
    let mapping = stdout_of(&mut command);
    let pes: Vec<u32> = mapping.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(pes.len(), 64);
    assert!(fs::read_dir(folder.path()).unwrap().next().is_none(), "no file is left behind");
    stdout_of(viem(folder.path(), "openfoam_sphere_64.msgs.graph").arg("--quiet"));
    assert_eq!(fs::read_to_string(folder.path().join("permutation")).unwrap(), mapping);
}

#[test]
fn quiet_prints_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = viem(folder.path(), "openfoam_sphere_64.msgs.graph");
    command.arg("--quiet").assert().success().stdout("").stderr("");
}

#[test]
fn the_result_is_not_worse_than_the_identity_nor_than_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let model = "lammps_melt_64.bytes.graph";
    let none = ["--local_search_neighborhood=none", "--construction_algorithm=random"];
    let text = stdout_of(viem(folder.path(), model).args(none));
    let identity: String = (0..64).map(|pe| format!("{pe}\n")).collect();
    fs::write(folder.path().join("identity"), identity).unwrap();
    assert!(objective(&text) <= evaluated(folder.path(), model, "identity"));

    let best = stdout_of(viem(folder.path(), model).arg("--output_filename=best"));
    let again = stdout_of(viem(folder.path(), model).args(none).arg("--input_mapping=best"));
    assert!(objective(&again) <= objective(&best));
}

#[test]
fn sums_beyond_32_bits_are_exact_and_beyond_64_bits_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let cycle = |weight: u64| {
        let rows = [(2, 4), (1, 3), (2, 4), (1, 3)].map(|(u, v)| format!("{u} {weight} {v} {weight}\n"));
        fs::write(folder.path().join("cycle.graph"), format!("4 4 1\n{}", rows.concat())).unwrap();
        let mut command = program("viem", folder.path());
        command.args(["cycle.graph", "--hierarchy=2:2", "--distance_p=10:100"]);
        command.args(["--construction_algorithm=identity", "--local_search_neighborhood=none"]);
        command
    };
    assert_eq!(objective(&stdout_of(&mut cycle(30_000_000))), 13_200_000_000);
    assert!(failure_of(&mut cycle(i64::MAX as u64 / 100), 65).contains("9223372036854775807"));
    failure_of(&mut cycle(u64::MAX), 65);
}

#[test]
fn failures_have_one_message_and_the_right_code_and_leave_files_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("permutation"), "precious").unwrap();
    fs::write(path("bad.graph"), "2 1 1\n2 0\n1 0\n").unwrap();
    let fails = |file: &Path, arguments: &[&str], code| {
        let message = failure_of(program("viem", folder.path()).arg(file).args(arguments), code);
        assert_eq!(fs::read_to_string(path("permutation")).unwrap(), "precious");
        message
    };
    let good = instance("openfoam_sphere_64.msgs.graph");
    assert!(fails(Path::new("bad.graph"), &MACHINE, 65).contains("line 2"));
    assert!(fails(Path::new("missing.graph"), &MACHINE, 66).contains("missing.graph"));
    assert!(fails(folder.path(), &MACHINE, 66).contains("cannot be read"));
    assert!(fails(&good, &["--hier=4:x:4", "--distance_p=1:2:3"], 2).contains("column 3"));
    assert!(fails(&good, &["--hier=4:4:4", "--distance_p=1:2"], 2).contains("3 levels"));
    assert!(fails(&good, &["--hier=4:4:4"], 2).contains("--distance_parameter_string"));
    fails(&good, &[MACHINE[0], MACHINE[1], "--threads=0"], 2);
    fails(&good, &[MACHINE[0], MACHINE[1], "--construction_algorithm=magic"], 2);
    fails(&good, &[MACHINE[0], MACHINE[1], "-o", "-", "--json=-"], 2);
    fails(&good, &[MACHINE[0], MACHINE[1], "--output_filename=no/such/folder/permutation"], 73);
    let unmappable = ["--hier=64", "--distance_p=9223372036854775807"];
    assert!(fails(&good, &unmappable, 65).contains("J can be as large as"));
}

#[test]
fn the_end_of_a_run_reports_the_gain_and_the_output() {
    let folder = tempfile::tempdir().unwrap();
    let model = "openfoam_sphere_64.msgs.graph";
    let identity: String = (0..64).map(|pe| format!("{pe}\n")).collect();
    fs::write(folder.path().join("identity"), identity).unwrap();
    let before = evaluated(folder.path(), model, "identity");
    let text = stdout_of(viem(folder.path(), model).args(["--verify", "-o", "result"]));
    let after = objective(&text);
    let less = 100.0 * (before - after) as f64 / before as f64;
    let end = format!("identity {before} -> {after} ({less:.1} % less); written to result");
    assert_eq!(text.lines().last().unwrap(), end);
    assert!(text.contains(&format!("verified: J of the files is {after} too")), "{text}");
    // Nothing to gain, and no value to divide by.
    fs::write(folder.path().join("empty"), "4 0\n\n\n\n\n").unwrap();
    let machine = ["--hierarchy_parameter_string=4", "--distance_parameter_string=1"];
    let text = stdout_of(program("viem", folder.path()).arg("empty").args(machine));
    assert_eq!(text.lines().last().unwrap(), "identity 0 -> 0 (0.0 % less); written to permutation");
}

#[test]
fn decreasing_distances_cause_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let model = instance("openfoam_sphere_64.msgs.graph");
    let run = |distances: &str, extra: &[&str]| {
        let mut command = program("viem", folder.path());
        command.arg(&model).args(["--hierarchy_parameter_string=4:4:4:1", "--distance_parameter_string"]);
        let output = command.arg(distances).args(extra).assert().success().get_output().clone();
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(run("100:10:1:1", &[]).contains("warning: the distances 100:10:1:1 fall from the inside out"));
    // A level of one member makes no difference.
    for distances in ["1:10:100:0", "1:1:1:1", "0:0:5:5"] {
        assert_eq!(run(distances, &[]), "");
    }
    assert_eq!(run("100:10:1:1", &["--quiet"]), "");
}

#[test]
fn times_have_units() {
    let folder = tempfile::tempdir().unwrap();
    // Without a search, a run ends long before its time limit.
    let limit = |time: &str| {
        let mut command = viem(folder.path(), "openfoam_sphere_64.msgs.graph");
        command.args(["--json=-", "--local_search_neighborhood=none", "--time_limit", time]);
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
    let folder = tempfile::tempdir().unwrap();
    let run = |seed: &str| {
        let text =
            stdout_of(viem(folder.path(), "lammps_melt_64.bytes.graph").args(["--json=-", "--seed", seed]));
        serde_json::from_str::<Value>(&text).unwrap()["seed"].as_u64().unwrap()
    };
    assert_eq!(run("18446744073709551615"), u64::MAX);
    assert_eq!(run("9223372036854775808"), 1 << 63);
    assert_eq!(run("-1"), u64::MAX);
    for seed in ["18446744073709551616", "-9223372036854775809", "1.5", "x", ""] {
        let mut command = viem(folder.path(), "lammps_melt_64.bytes.graph");
        assert!(failure_of(command.args(["--seed", seed]), 2).contains("18446744073709551615"), "{seed}");
    }
    let mut model = program("generate_model", folder.path());
    stdout_of(
        model.arg(instance("openfoam_sphere_16.msgs.graph")).args(["--k=2", "--seed=18446744073709551615"]),
    );
}

#[test]
fn unknown_options_are_answered_with_suggestions() {
    let folder = tempfile::tempdir().unwrap();
    let hint = |option: &str| failure_of(viem(folder.path(), "openfoam_sphere_64.msgs.graph").arg(option), 2);
    for (option, meant) in [
        ("--preset=strong", "--preconfiguration_mapping"),
        ("--treads=2", "--threads"),
        ("--outptu_filename=x", "--output_filename"),
        ("--timelimit=1", "--time_limit"),
        ("--verfy", "--verify"),
    ] {
        let message = hint(option);
        let name = option.split('=').next().unwrap();
        assert!(message.contains(&format!("there is no option {name}; did you mean {meant}")), "{message}");
        assert!(!message.contains("-- --"), "{message}");
    }
    let message = hint("--distance=1");
    let both = "--distance_construction_algorithm, --distance_parameter_string";
    assert!(
        message.contains(&format!("--distance is the beginning of several options, {both};")),
        "{message}"
    );
    assert!(hint("--qqqq").contains("there is no option --qqqq (--help"));
    // Unknown options are reported as always.
    assert!(hint("another_file").contains("another_file"));
}

#[test]
fn abbreviated_options_are_accepted_with_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let warnings = |options: &[&str]| {
        let run = viem(folder.path(), "openfoam_sphere_64.msgs.graph").args(options).assert().success();
        String::from_utf8(run.get_output().stderr.clone()).unwrap()
    };
    assert_eq!(
        warnings(&["--thr=1", "--verif"]),
        "warning: --thr is taken for --threads, --verif is taken for --verify; scripts should give the names of options in full\n"
    );
    assert_eq!(warnings(&["--thr=1", "--quiet"]), "");
    assert_eq!(warnings(&["--threads=1", "--output=other"]), "");
}

#[test]
fn help_and_version_go_to_stdout() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["viem", "evaluator", "generate_model", "graphchecker"] {
        let help = stdout_of(program(name, folder.path()).arg("--help"));
        assert!(help.contains("Usage:") && help.contains("Exit codes: 0 done"), "{help}");
        let version = stdout_of(program(name, folder.path()).arg("--version"));
        assert_eq!(version.trim(), format!("{name} {}", env!("CARGO_PKG_VERSION")));
        failure_of(&mut program(name, folder.path()), 2);
    }
}

/// The options listed in a help text, each below its heading.
fn options_by_heading(help: &str) -> Vec<(&str, &str)> {
    let mut heading = "";
    let mut options = Vec::new();
    for line in help.lines() {
        if let Some(title) = line.strip_suffix(':').filter(|title| !title.starts_with(' ')) {
            heading = title;
        }
        // The names of options are indented less than their descriptions.
        let name = line.trim_start();
        if name.starts_with("--") && line.len() - name.len() <= 6 {
            options.push((heading, name.split([' ', '[', '=']).next().unwrap()));
        }
    }
    options
}

#[test]
fn options_stand_below_their_own_headings() {
    let folder = tempfile::tempdir().unwrap();
    let of_remapping = ["--remap_from", "--migration_weight", "--remap_left", "--parents", "--curve"];
    let of_traffic = [
        "--from",
        "--weight",
        "--sizes",
        "--include",
        "--top",
        "--nics",
        "--ranks",
        "--first_rank",
        "--renumber",
    ];
    let of_workloads = [
        "--send_cycles",
        "--receive_cycles",
        "--sharing",
        "--latency_cycles",
        "--workload",
        "--flit_bytes",
        "--tasks_per_pe",
        "--judge",
        "--simulate",
        "--trace",
        "--generate",
        "--rounds",
        "--flits",
        "--cycles",
        "--shuffle",
    ];
    for name in ["viem", "evaluator", "generate_model", "graphchecker"] {
        let help = stdout_of(program(name, folder.path()).arg("--help"));
        let options = options_by_heading(&help);
        for general in ["--quiet", "--completions", "--man"] {
            assert!(options.contains(&("Options", general)), "{general} in {help}");
        }
        for (heading, option) in options {
            let own: &[&str] = match heading {
                "Remapping" => &of_remapping,
                "Recorded traffic" => &of_traffic,
                "Workloads" => &of_workloads,
                "Experts" => &["--experts", "--read_as", "--replicas", "--token_bytes"],
                "Training jobs" => &["--parallel", "--order", "--model", "--overlap"],
                _ => {
                    assert_eq!(heading, "Options", "{help}");
                    continue;
                }
            };
            assert!(own.contains(&option), "{name} has {option} below {heading}");
        }
    }
}

#[test]
fn launch_files_are_written_completely_and_replace_only_named_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let run = |extra: &[&str]| {
        let mut command = program("viem", folder.path());
        command.arg(instance("gromacs_water_pme_16.msgs.graph")).args(extra);
        command.args(["--preconfiguration_mapping=fast", "--distance_parameter_string=1:10"]);
        command
    };
    let text = stdout_of(&mut run(&["--machine=8:2", "--launch=cray", "--json=report"]));
    let line = after(&text, "launch with: ");
    assert!(line.contains("MPICH_RANK_REORDER_FILE=MPICH_RANK_ORDER srun -N 2 -n 16"), "{line}");
    // The last line answers the question.
    assert!(text.lines().last().unwrap().starts_with("identity "), "{text}");
    let order = fs::read_to_string(path("MPICH_RANK_ORDER")).unwrap();
    let mapping = fs::read_to_string(path("permutation")).unwrap();
    let pe_of: Vec<usize> = mapping.lines().map(|pe| pe.parse().unwrap()).collect();
    for (pe, rank) in order.trim().split(',').enumerate() {
        assert_eq!(pe_of[rank.parse::<usize>().unwrap()], pe);
    }
    let report = report_in(&path("report"));
    assert_eq!(report["launch"]["kind"], "cray");
    assert_eq!(report["launch"]["line"], line);
    // Existing files stay unless they are named.
    fs::write(path("MPICH_RANK_ORDER"), "precious").unwrap();
    let message = failure_of(&mut run(&["--machine=8:2", "--launch=cray"]), 2);
    assert!(message.contains("to replace it, name it: --launch=cray:MPICH_RANK_ORDER"), "{message}");
    assert_eq!(fs::read_to_string(path("MPICH_RANK_ORDER")).unwrap(), "precious");
    run(&["--machine=8:2", "--launch=cray:MPICH_RANK_ORDER"]).assert().success();
    assert_eq!(fs::read_to_string(path("MPICH_RANK_ORDER")).unwrap(), order);
    // Two files, one of them a program.
    run(&["--machine=16:1", "--launch=slurm:my hosts,run me", "--picture=a.svg"]).assert().success();
    assert_eq!(fs::read_to_string(path("my hosts")).unwrap(), "localhost\n".repeat(16));
    assert!(fs::read_to_string(path("run me")).unwrap().starts_with("#!/bin/sh\n"));
    assert!(fs::read_to_string(path("a.svg")).unwrap().contains("of permutation"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |name| fs::metadata(path(name)).unwrap().permissions().mode();
        assert_eq!(mode("run me") & 0o111, (mode("my hosts") & 0o444) >> 2);
    }
    // A mapping that cannot be launched is reported before any work, and nothing is written.
    let before = crate::common::names(folder.path());
    let message = failure_of(&mut run(&["--machine=8:2", "--launch=openmpi:new", "-o", "new2"]), 2);
    assert!(
        message.contains("needs the names of the hosts, but the machine has 2 nodes without names"),
        "{message}"
    );
    for wrong in ["lsf", "openmpi:", "openmpi:a,b", "slurm:a,,"] {
        failure_of(&mut run(&["--machine=8:2", &format!("--launch={wrong}")]), 2);
    }
    let message = failure_of(&mut run(&["--machine=8:2", "--launch=cray:same", "-o", "same"]), 2);
    assert!(message.contains("two outputs cannot go to the same place"), "{message}");
    assert_eq!(crate::common::names(folder.path()), before);
    // If PEs stay free, the mapping may turn out to be unsuitable for the launcher; it is written
    // nevertheless.
    let spare = run(&["--machine=12:2", "--launch=cray:order", "-o", "kept"]).output().unwrap();
    assert!(path("kept").exists());
    assert_eq!(path("order").exists(), spare.status.success());
}

#[test]
fn programs_print_completions_and_man_pages() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["viem", "evaluator", "generate_model", "graphchecker"] {
        let printed_by = |option: &str| stdout_of(program(name, folder.path()).arg(option));
        for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
            let text = printed_by(&format!("--completions={shell}"));
            assert!(text.contains(name) && text.contains("quiet"), "{name} {shell}");
        }
        // zsh evaluates the text after a colon, so colons in names of values are escaped.
        let zsh = printed_by("--completions=zsh");
        for value in ["a1:a2:...", "d1:d2:...", "KIND[:FILE[,FILE]]", "PATTERN:SIZE"] {
            assert!(!zsh.contains(&format!(":{value}:")), "{name}: {value}");
        }
        assert_eq!(zsh.contains(r":a1\:a2\:...:"), ["viem", "evaluator"].contains(&name));
        let page = printed_by("--man");
        assert!(
            page.contains(&format!(".TH {name} 1")) && page.contains(r"\fB\-\-quiet\fR"),
            "{name}:\n{page}"
        );
        failure_of(program(name, folder.path()).arg("--completions=tcsh"), 2);
        failure_of(program(name, folder.path()).args(["--man", "file"]), 2);
        failure_of(&mut program(name, folder.path()), 2);
    }
    assert_eq!(crate::common::names(folder.path()), [""; 0]);
}
