//! `viem` and `evaluator` with quadratic assignment problems, run as a user runs them.

use std::fs;
use std::path::Path;
#[cfg(unix)]
use std::process;

#[cfg(unix)]
use crate::common::signals::{start, told_after};
use crate::common::{failure_of, objective, program, report_in, stdout_of};
use assert_cmd::Command;
use tempfile::{TempDir, tempdir};
use viem::ground::rng::Rng;

/// Five machines in a row and the asymmetric flows between five jobs, with the minimum of J by enumeration.
const PROBLEM: &str = "5 71\n0 1 9 0 2\n1 0 0 4 0\n3 0 0 1 0\n0 4 1 0 8\n2 0 0 0 0\n
0 1 2 3 4\n1 0 1 2 3\n2 1 0 1 2\n3 2 1 0 1\n4 3 2 1 0\n";

fn folder() -> TempDir {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("jobs.dat"), PROBLEM).unwrap();
    folder
}

fn viem(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = program("viem", folder);
    command.args(arguments);
    command
}

fn evaluator(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = program("evaluator", folder);
    command.args(arguments);
    command
}

/// J of all assignments of the problem above, numbered from 0.
fn costs() -> Vec<(Vec<usize>, i64)> {
    let numbers: Vec<i64> = PROBLEM.split_whitespace().map(|word| word.parse().unwrap()).collect();
    let (a, b) = (&numbers[2..27], &numbers[27..]);
    let mut all = Vec::new();
    for code in 0..5usize.pow(5) {
        let order: Vec<usize> = (0..5u32).map(|digit| code / 5usize.pow(digit) % 5).collect();
        if (0..5).all(|place| order.contains(&place)) {
            let pairs = (0..25).map(|at| (at / 5, at % 5));
            let cost = pairs.map(|(i, j)| a[i * 5 + j] * b[order[i] * 5 + order[j]]).sum();
            all.push((order, cost));
        }
    }
    all
}

#[test]
fn a_problem_is_solved_proved_verified_and_scored() {
    let folder = folder();
    let least = costs().iter().map(|&(_, cost)| cost).min().unwrap();
    let printed = stdout_of(&mut viem(folder.path(), &["jobs.dat", "--verify", "--json=report"]));
    assert_eq!(objective(&printed), least);
    assert!(printed.contains("proved optimal") && printed.contains("verified"), "{printed}");
    let report = report_in(&folder.path().join("report"));
    assert_eq!(report["cost"], least);
    assert_eq!(report["is_optimal"], true);
    let scored = stdout_of(&mut evaluator(folder.path(), &["jobs.dat", "--input_mapping=permutation"]));
    assert_eq!(objective(&scored), least);
}

#[test]
fn solution_files_are_written_and_read_in_both_conventions() {
    let folder = folder();
    let arguments = ["jobs.dat", "--output_format=sln", "--output_filename=jobs.sln", "--verify"];
    let least = objective(&stdout_of(&mut viem(folder.path(), &arguments)));
    let solution = fs::read_to_string(folder.path().join("jobs.sln")).unwrap();
    assert!(solution.starts_with(&format!("5 {least}\n")), "{solution}");
    // An assignment whose inverse has a different cost.
    let inverse = |order: &[usize]| -> Vec<usize> {
        (0..5).map(|place| order.iter().position(|&at| at == place).unwrap()).collect()
    };
    let all = costs();
    let cost_of = |order: &[usize]| all.iter().find(|(other, _)| other == order).unwrap().1;
    let (order, cost) = all.iter().find(|(order, cost)| cost_of(&inverse(order)) != *cost).unwrap();
    for written in [order.clone(), inverse(order)] {
        let places: Vec<String> = written.iter().map(|place| (place + 1).to_string()).collect();
        fs::write(folder.path().join("given.sln"), format!("5 {cost}\n{}\n", places.join(" "))).unwrap();
        let scored = evaluator(folder.path(), &["jobs.dat", "--input_mapping=given.sln"]).assert().success();
        let output = scored.get_output();
        assert_eq!(objective(std::str::from_utf8(&output.stdout).unwrap()), *cost);
        assert!(!String::from_utf8_lossy(&output.stderr).contains("claims"));
    }
    fs::write(folder.path().join("wrong.sln"), "5 1\n1 2 3 4 5\n").unwrap();
    let scored = evaluator(folder.path(), &["jobs.dat", "--input_mapping=wrong.sln"]).assert().success();
    assert!(String::from_utf8_lossy(&scored.get_output().stderr).contains("claims J = 1"));
}

#[test]
fn a_known_value_is_reported_unless_it_is_impossible() {
    let folder = folder();
    fs::write(folder.path().join("start"), "0\n1\n2\n3\n4\n").unwrap();
    let score = |claim: &str| {
        fs::write(folder.path().join("claim.dat"), PROBLEM.replacen("5 71", claim, 1)).unwrap();
        stdout_of(&mut evaluator(folder.path(), &["claim.dat", "--input_mapping=start"]))
    };
    let identity = costs()[0].1.max(objective(&score("5")));
    assert!(score(&format!("5 {identity}")).contains("% above it"));
    assert!(!score("5").contains("above it"));
    assert!(!score("5 1").contains("above it"));
}

#[test]
fn the_seed_decides_and_threads_do_not() {
    let folder = folder();
    let n = 30usize;
    let entry = |i: usize, j: usize| (i * i * 7 + j * j * 7 + i * j * 13) % 31;
    let matrix = |shift: usize| -> String {
        (0..n * n).map(|at| (entry(at / n + shift, at % n + shift)).to_string() + " ").collect()
    };
    fs::write(folder.path().join("random"), format!("{n}\n{}\n{}\n", matrix(0), matrix(5))).unwrap();
    let run = |threads: &str| {
        let arguments =
            ["random", "--input_format=qaplib", "--preconfiguration_mapping=fast", "--seed=4", threads];
        stdout_of(&mut viem(folder.path(), &arguments));
        fs::read(folder.path().join("permutation")).unwrap()
    };
    assert_eq!(run("--threads=1"), run("--threads=2"));
    let printed = stdout_of(&mut viem(
        folder.path(),
        &[
            "random",
            "--input_format=qaplib",
            "--time_limit=1h",
            "--target=999999999",
            "--input_mapping=permutation",
        ],
    ));
    assert!(objective(&printed) > 0);
}

/// A problem that cannot be solved in an hour, with a J claimed by its file.
fn write_long_problem(folder: &Path) {
    let n = 60usize;
    let mut rng = Rng::new(11);
    let entries: Vec<String> = (0..2 * n * n).map(|_| rng.below(90).to_string()).collect();
    fs::write(folder.join("long.dat"), format!("{n} 6000000\n{}\n", entries.join(" "))).unwrap();
}

/// J of a mapping by definition, from `evaluator`.
fn scored(folder: &Path, problem: &str, mapping: &str) -> i64 {
    let input = format!("--input_mapping={mapping}");
    objective(&stdout_of(&mut evaluator(folder, &[problem, &input])))
}

#[test]
fn a_time_limit_ends_a_run() {
    let folder = folder();
    write_long_problem(folder.path());
    let arguments = ["long.dat", "--time_limit=1", "--threads=2", "--json=report"];
    let run = viem(folder.path(), &arguments).assert().success();
    // Without a terminal, there is no progress line.
    assert_eq!(String::from_utf8_lossy(&run.get_output().stderr), "");
    let printed = String::from_utf8(run.get_output().stdout.clone()).unwrap();
    let report = report_in(&folder.path().join("report"));
    assert_eq!(report["stopped"], false);
    let seconds = report["seconds"].as_f64().unwrap();
    assert!((1.0..60.0).contains(&seconds), "{seconds}");
    assert_eq!(scored(folder.path(), "long.dat", "permutation"), objective(&printed));
}

#[test]
fn a_target_ends_a_run() {
    let folder = folder();
    write_long_problem(folder.path());
    fs::write(folder.path().join("first"), (0..60).map(|i| format!("{i}\n")).collect::<String>()).unwrap();
    let target = scored(folder.path(), "long.dat", "first") * 95 / 100;
    let option = format!("--target={target}");
    let arguments = ["long.dat", "--time_limit=1h", &option, "--json=report"];
    let reached = objective(&stdout_of(&mut viem(folder.path(), &arguments)));
    assert!(reached <= target, "{reached} {target}");
    assert_eq!(report_in(&folder.path().join("report"))["stopped"], false);
}

#[cfg(unix)]
#[test]
fn a_signal_saves_the_best_assignment() {
    let folder = folder();
    write_long_problem(folder.path());
    for signal in ["-INT", "-TERM", "-USR1"] {
        let command =
            viem(folder.path(), &["long.dat", "--time_limit=1h", "--json=report", "--output_filename=out"]);
        let text = told_after(signal, start(&command, folder.path(), "quadratic assignment problem"));
        assert!(text.contains("stopped early"), "{signal}: {text}");
        assert_eq!(report_in(&folder.path().join("report"))["stopped"], true);
        assert_eq!(scored(folder.path(), "long.dat", "out"), objective(&text), "{signal}");
    }
}

/// Needs `script`, which provides a terminal; skipped otherwise.
#[cfg(unix)]
#[test]
fn a_terminal_sees_the_progress_until_the_end() {
    let folder = folder();
    write_long_problem(folder.path());
    let command = format!("{} long.dat --time_limit=2", env!("CARGO_BIN_EXE_viem"));
    let mut script = process::Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).current_dir(&folder).env("TERM", "xterm");
    let Ok(run) = script.output() else { return eprintln!("skipped: there is no `script`") };
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    let last =
        text.rfind("improving the assignment, J = ").unwrap_or_else(|| panic!("no progress in {text:?}"));
    assert!(text[last..].contains("% above 6000000") && text[last..].contains("\x1b[2K"), "{text:?}");
}

#[test]
fn a_recognised_machine_is_reported() {
    let folder = folder();
    let n = 144usize;
    let hops = |i: usize, j: usize| (i % 12).abs_diff(j % 12) + (i / 12).abs_diff(j / 12);
    // Shuffled rows, and a ring of traffic with a few chords, in one direction.
    let row = |k: usize| k * 5 % n;
    let traffic = |i: usize, j: usize| usize::from(j == (i + 1) % n) * 3 + usize::from(j == (i * 7 + 30) % n);
    let matrix = |entry: &dyn Fn(usize, usize) -> usize| -> String {
        (0..n * n).map(|at| entry(at / n, at % n).to_string() + " ").collect()
    };
    let mesh = matrix(&|k, l| hops(row(k), row(l)));
    fs::write(folder.path().join("mesh.dat"), format!("{n}\n{}\n{mesh}\n", matrix(&traffic))).unwrap();
    let run = |arguments: &[&str]| {
        let run = viem(folder.path(), arguments).assert().success();
        String::from_utf8(run.get_output().stderr.clone()).unwrap()
    };
    let common = ["--preconfiguration_mapping=fast", "--time_limit=0.5", "--verify", "--json=report"];
    let stderr = run(&[&["mesh.dat"], &common[..]].concat());
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(
        stderr.starts_with("note: matrix B holds the distances of a mesh of 12 x 12, to which"),
        "{stderr}"
    );
    let machine = &report_in(&folder.path().join("report"))["recognised"];
    assert_eq!((&machine["matrix"], &machine["mapped"]), (&"B".into(), &true.into()));
    assert_eq!(run(&[&["mesh.dat", "--quiet"], &common[..]].concat()), "");
    let stderr = run(&[&["jobs.dat"], &common[..]].concat());
    assert!(stderr.contains("matrix B holds the distances of a mesh of 5, but"), "{stderr}");
    assert_eq!(report_in(&folder.path().join("report"))["recognised"]["mapped"], false);
}

#[test]
fn the_name_of_an_input_may_be_short() {
    let folder = folder();
    fs::write(folder.path().join("start"), "4\n3\n2\n1\n0\n").unwrap();
    let short = stdout_of(&mut evaluator(folder.path(), &["jobs.dat", "--input=start"]));
    assert_eq!(objective(&short), scored(folder.path(), "jobs.dat", "start"));
    let printed = stdout_of(&mut viem(folder.path(), &["jobs.dat", "--input=start"]));
    assert!(objective(&printed) <= objective(&short));
}

#[test]
fn bad_problems_are_rejected_with_a_position_and_leave_files_unchanged() {
    let folder = folder();
    fs::write(folder.path().join("permutation"), "kept").unwrap();
    let cases: [(&str, &str); 10] = [
        ("", "empty"),
        ("0\n", "expected n, the number of rows"),
        ("-2\n", "expected n, the number of rows"),
        ("x\n", "expected n, the number of rows"),
        ("2\n0 1 1 0\n0 1 1", "ends after 7 entries"),
        ("2\n0 1 1 0\n0 1 1 0\n5 6", "goes on"),
        ("2\n0 1 1 0\n0 1.5 1 0\n", "line 3, column 3"),
        ("2\n0 1 1 0\n0 99999999999999999999 1 0\n", "not an entry"),
        ("2\n0 9000000000000000000 1 0\n0 3 1 0\n", "divide the entries"),
        ("99999999999\n0", "expected n, the number of rows"),
    ];
    for (text, message) in cases {
        fs::write(folder.path().join("bad.dat"), text).unwrap();
        let stderr = failure_of(&mut viem(folder.path(), &["bad.dat"]), 65);
        assert!(stderr.contains(message), "{text:?}: {stderr}");
        let stderr =
            failure_of(&mut evaluator(folder.path(), &["bad.dat", "--input_mapping=permutation"]), 65);
        assert!(stderr.contains(message), "{text:?}: {stderr}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("permutation")).unwrap(), "kept");
    fs::write(folder.path().join("one.dat"), "1\n5\n7\n").unwrap();
    assert_eq!(objective(&stdout_of(&mut viem(folder.path(), &["one.dat"]))), 35);
}

#[test]
fn options_that_do_not_apply_are_rejected() {
    let folder = folder();
    fs::write(folder.path().join("graph"), "2 1\n2\n1\n").unwrap();
    let cases: [(&[&str], i32, &str); 8] = [
        (&["graph"], 2, "give the machine"),
        (&["graph", "--machine=mesh:2", "--target=3"], 2, "--target is for"),
        (&["graph", "--machine=mesh:2", "--output_format=sln"], 2, "--output_format=sln is for"),
        (&["jobs.dat", "--input_format=qaplib", "--machine=mesh:5"], 2, "holds its own distances"),
        (
            &["jobs.dat", "--construction_algorithm=random"],
            2,
            "--construction_algorithm=random is for one-to-one mappings",
        ),
        (
            &["jobs.dat", "--remap_from=old", "--migration_weight=1"],
            2,
            "--remap_from is for mappings that are remapped",
        ),
        (&["jobs.dat", "--verify", "--output_filename=-"], 2, "--verify reads"),
        (&["missing.dat"], 66, "missing.dat"),
    ];
    for (arguments, code, message) in cases {
        let stderr = failure_of(&mut viem(folder.path(), arguments), code);
        assert!(stderr.contains(message), "{arguments:?}: {stderr}");
    }
    let of_both = ["--send_cycles=2", "--receive_cycles=2", "--pe_weights=weights", "--imbalance=1"];
    let of_viem = [
        "--local_search_neighborhood=none",
        "--search_space_s=8",
        "--communication_neighborhood_dist=2",
        "--tasks_per_pe=2",
        "--judge=estimate",
    ];
    let refuses = |stderr: &str, option: &str| {
        stderr.contains(option.split('=').next().unwrap()) && stderr.contains("quadratic assignment problem")
    };
    for option in of_both.iter().chain(&of_viem) {
        let stderr = failure_of(&mut viem(folder.path(), &["jobs.dat", option]), 2);
        assert!(refuses(&stderr, option), "{option}: {stderr}");
    }
    let score = ["jobs.dat", "--input_mapping=permutation"];
    for option in of_both.iter().chain(&["--simulate", "--compare=block"]) {
        let stderr = failure_of(evaluator(folder.path(), &score).arg(option), 2);
        assert!(refuses(&stderr, option), "{option}: {stderr}");
    }
    for option in ["--pu", "--pe=core", "--pes=0-3", "--latency=missing", "--distance_parameter_string=1"] {
        for mut command in [viem(folder.path(), &["jobs.dat"]), evaluator(folder.path(), &score)] {
            let stderr = failure_of(command.arg(option), 2);
            assert!(stderr.contains("holds its own distances"), "{option}: {stderr}");
        }
    }
}

#[test]
fn what_is_amiss_in_a_problem_is_said() {
    let folder = tempdir().unwrap();
    let rows = "0 5 2\n5 0 3\n2 3 0\n\n0 15 8\n15 0 13\n8 13 0\n";
    let stderr_of = |program: &str, head: &str, tail: &str| {
        fs::write(folder.path().join("p.dat"), format!("{head}\n\n{rows}{tail}")).unwrap();
        let mut command = crate::common::program(program, folder.path());
        command.arg("p.dat");
        if program == "evaluator" {
            fs::write(folder.path().join("identity"), "0\n1\n2\n").unwrap();
            command.arg("--input_mapping=identity");
        }
        String::from_utf8(command.output().unwrap().stderr).unwrap()
    };
    for program in ["viem", "evaluator"] {
        assert!(!stderr_of(program, "3 218", "").contains("warning"));
        assert!(!stderr_of(program, "3", "").contains("warning"));
        let message = stderr_of(program, "3 100", "");
        assert!(
            message.contains("p.dat, line 1: the file names J = 100, but no assignment has a J below"),
            "{message}"
        );
        // Twice a sum of products, as both matrices are symmetric.
        let message = stderr_of(program, "3", "\n219\n");
        assert!(
            message.contains(
                "p.dat, line 11: the file names J = 219, but every J of these matrices is a multiple of 2"
            ),
            "{message}"
        );
        let message = stderr_of(program, "3 9998", "");
        assert!(
            message.contains("p.dat, line 1: the file names J = 9998, but an assignment has J = 2"),
            "{message}"
        );
    }
    let shifted = format!("3\n\n{}218\n", rows.replace("5 0 3", "5 0"));
    let long = format!("3\n\n{}", rows.replace("5 0 3", "5 0 3 7"));
    for (text, found) in [(shifted, 2), (long, 4)] {
        fs::write(folder.path().join("p.dat"), text).unwrap();
        for arguments in [&["p.dat"][..], &["p.dat", "--verify"]] {
            let message = failure_of(&mut viem(folder.path(), arguments), 65);
            assert!(
                message.contains(&format!("p.dat, line 4, column 1: the line holds {found} numbers")),
                "{message}"
            );
        }
        failure_of(&mut evaluator(folder.path(), &["p.dat", "--input_mapping=identity"]), 65);
    }
    fs::write(folder.path().join("p.dat"), format!("3 9998\n{rows}")).unwrap();
    let printed = stdout_of(&mut viem(folder.path(), &["p.dat"]));
    assert!(printed.contains("the file names J = 9998: 97.8196 % below it"), "{printed}");
}
