//! Quadratic assignment problems, run as a user runs them.

#[cfg(unix)]
use std::process;

#[cfg(unix)]
use crate::common::signals::{start, told_after};
use crate::common::{Folder, objective, said_by, says};
use viem::base::rng::Rng;

/// Five machines in a row and the asymmetric flows between five jobs, with the minimum of J by enumeration.
const PROBLEM: &str = "5 71\n0 1 9 0 2\n1 0 0 4 0\n3 0 0 1 0\n0 4 1 0 8\n2 0 0 0 0\n
0 1 2 3 4\n1 0 1 2 3\n2 1 0 1 2\n3 2 1 0 1\n4 3 2 1 0\n";

fn folder() -> Folder {
    Folder::with(&[("jobs.dat", PROBLEM)])
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
    let printed = folder.stdout("viem qap jobs.dat --verify --json=report");
    assert_eq!(objective(&printed), least);
    says(&printed, ["proved optimal", "verified"]);
    let report = folder.report("report");
    assert_eq!(report["cost"], least);
    assert_eq!(report["is_optimal"], true);
    assert_eq!(scored(&folder, "jobs.dat", "permutation"), least);
}

#[test]
fn solution_files_are_written_and_read_in_both_conventions() {
    let folder = folder();
    let printed = folder.stdout("viem qap jobs.dat --format=sln --output=jobs.sln --verify");
    let solution = folder.read("jobs.sln");
    assert!(solution.starts_with(&format!("5 {}\n", objective(&printed))), "{solution}");
    // An assignment whose inverse has a different cost.
    let inverse = |order: &[usize]| -> Vec<usize> {
        (0..5).map(|place| order.iter().position(|&at| at == place).unwrap()).collect()
    };
    let all = costs();
    let cost_of = |order: &[usize]| all.iter().find(|(other, _)| other == order).unwrap().1;
    let (order, cost) = all.iter().find(|(order, cost)| cost_of(&inverse(order)) != *cost).unwrap();
    let score = |solution: &str| {
        folder.write("given.sln", solution);
        said_by(&mut folder.command("viem qap jobs.dat --score=given.sln"))
    };
    for written in [order.clone(), inverse(order)] {
        let places: Vec<String> = written.iter().map(|place| (place + 1).to_string()).collect();
        let (printed, notes) = score(&format!("5 {cost}\n{}\n", places.join(" ")));
        assert_eq!(objective(&printed), *cost);
        assert!(!notes.contains("claims"), "{notes}");
    }
    says(&score("5 1\n1 2 3 4 5\n").1, ["claims J = 1"]);
}

#[test]
fn a_known_value_is_reported_unless_it_is_impossible() {
    let folder = folder();
    folder.write_lines("start", 0..5);
    let score = |claim: &str| {
        folder.write("claim.dat", PROBLEM.replacen("5 71", claim, 1));
        folder.stdout("viem qap claim.dat --score=start")
    };
    let identity = costs()[0].1.max(objective(&score("5")));
    says(&score(&format!("5 {identity}")), ["% above it"]);
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
    folder.write("random", format!("{n}\n{}\n{}\n", matrix(0), matrix(5)));
    let viem = "viem qap random";
    let run = |threads: u32| {
        folder.stdout(format!("{viem} --preset=fast --seed=4 --threads={threads}"));
        folder.bytes("permutation")
    };
    assert_eq!(run(1), run(2));
    let reached = "--time-limit=1h --target=999999999 --initial=permutation";
    assert!(objective(&folder.stdout(format!("{viem} {reached}"))) > 0);
}

/// Writes a problem that cannot be solved in an hour, with a J claimed by its file.
fn write_long_problem(folder: &Folder) {
    let n = 60usize;
    let mut rng = Rng::new(11);
    let entries: Vec<String> = (0..2 * n * n).map(|_| rng.below(90).to_string()).collect();
    folder.write("long.dat", format!("{n} 6000000\n{}\n", entries.join(" ")));
}

/// J of a mapping by definition, from `evaluator`.
fn scored(folder: &Folder, problem: &str, mapping: &str) -> i64 {
    objective(&folder.stdout(format!("viem qap {problem} --score={mapping}")))
}

#[test]
fn a_time_limit_ends_a_run() {
    let folder = folder();
    write_long_problem(&folder);
    let run = "viem qap long.dat --time-limit=1 --threads=2 --json=report";
    let (printed, notes) = said_by(&mut folder.command(run));
    // Without a terminal, there is no progress line.
    assert_eq!(notes, "");
    let report = folder.report("report");
    assert_eq!(report["stopped"], false);
    let seconds = report["seconds"].as_f64().unwrap();
    assert!((1.0..60.0).contains(&seconds), "{seconds}");
    assert_eq!(scored(&folder, "long.dat", "permutation"), objective(&printed));
}

#[test]
fn a_target_ends_a_run() {
    let folder = folder();
    write_long_problem(&folder);
    folder.write_lines("first", 0..60);
    let target = scored(&folder, "long.dat", "first") * 95 / 100;
    let run = format!("viem qap long.dat --time-limit=1h --target={target} --json=report");
    let reached = objective(&folder.stdout(run));
    assert!(reached <= target, "{reached} {target}");
    assert_eq!(folder.report("report")["stopped"], false);
}

#[cfg(unix)]
#[test]
fn a_signal_saves_the_best_assignment() {
    let folder = folder();
    write_long_problem(&folder);
    for signal in ["-INT", "-TERM", "-USR1"] {
        let run = "viem qap long.dat --time-limit=1h --json=report --output=out";
        let text = told_after(signal, start(&folder, run, "problem: "));
        assert!(text.contains("stopped early"), "{signal}: {text}");
        assert_eq!(folder.report("report")["stopped"], true);
        assert_eq!(scored(&folder, "long.dat", "out"), objective(&text), "{signal}");
    }
}

/// Needs `script`, which provides a terminal; skipped otherwise.
#[cfg(unix)]
#[test]
fn a_terminal_sees_the_progress_until_the_end() {
    let folder = folder();
    write_long_problem(&folder);
    let command = format!("{} qap long.dat --time-limit=2", env!("CARGO_BIN_EXE_viem"));
    let mut script = process::Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).current_dir(folder.path()).env("TERM", "xterm");
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
    folder.write("mesh.dat", format!("{n}\n{}\n{mesh}\n", matrix(&traffic)));
    let run = |arguments: &str| {
        let common = "--preset=fast --time-limit=0.5 --verify --json=report";
        folder.stderr(format!("viem qap {arguments} {common}"))
    };
    let notes = run("mesh.dat");
    assert_eq!(notes.lines().count(), 1, "{notes}");
    let mapped = "note: matrix B holds the distances of a mesh of 12 x 12, to which";
    assert!(notes.starts_with(mapped), "{notes}");
    let machine = &folder.report("report")["recognised"];
    assert_eq!((&machine["matrix"], &machine["mapped"]), (&"B".into(), &true.into()));
    assert_eq!(run("mesh.dat --quiet"), "");
    says(&run("jobs.dat"), ["matrix B holds the distances of a mesh of 5, but"]);
    assert_eq!(folder.report("report")["recognised"]["mapped"], false);
}

#[test]
fn bad_problems_are_rejected_with_a_position_and_leave_files_unchanged() {
    let folder = folder();
    folder.write("permutation", "kept");
    for (text, expected) in [
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
    ] {
        folder.write("bad.dat", text);
        folder.fails("viem qap bad.dat", 65, expected);
        folder.fails("viem qap bad.dat --score=permutation", 65, expected);
    }
    assert_eq!(folder.read("permutation"), "kept");
    folder.write("one.dat", "1\n5\n7\n");
    assert_eq!(objective(&folder.stdout("viem qap one.dat")), 35);
}

#[test]
fn options_that_do_not_apply_are_rejected() {
    let folder = folder();
    for (arguments, code, expected) in [
        ("jobs.dat --machine=mesh:5", 2, "there is no option --machine"),
        ("jobs.dat --verify --output=-", 2, "--verify reads"),
        ("missing.dat", 66, "missing.dat"),
        ("jobs.dat --score=permutation --seed=2", 2, "cannot be used with"),
        ("jobs.dat --score=permutation --output=out", 2, "cannot be used with"),
    ] {
        folder.fails(format!("viem qap {arguments}"), code, expected);
    }
    folder.write("p.dat", "3\n\n0 5 2\n5 0 1\n2 1 0\n\n0 1 1\n1 0 1\n1 1 0\n");
    folder.fails("viem map p.dat --machine=mesh:3", 65, "viem qap");
}

#[test]
fn what_is_amiss_in_a_problem_is_said() {
    let folder = Folder::new();
    folder.write_lines("identity", 0..3);
    let rows = "0 5 2\n5 0 3\n2 3 0\n\n0 15 8\n15 0 13\n8 13 0\n";
    let score = "viem qap p.dat --score=identity";
    for line in ["viem qap p.dat", score] {
        let notes = |head: &str, tail: &str| {
            folder.write("p.dat", format!("{head}\n\n{rows}{tail}"));
            String::from_utf8(folder.command(line).output().unwrap().stderr).unwrap()
        };
        assert!(!notes("3 218", "").contains("warning"));
        assert!(!notes("3", "").contains("warning"));
        let below = "p.dat, line 1: the file names J = 100, but no assignment has a J below";
        says(&notes("3 100", ""), [below]);
        // Twice a sum of products, as both matrices are symmetric.
        let odd = "p.dat, line 11: the file names J = 219, but every J of these matrices is a multiple of 2";
        says(&notes("3", "\n219\n"), [odd]);
        let above = "p.dat, line 1: the file names J = 9998, but an assignment has J = 2";
        says(&notes("3 9998", ""), [above]);
    }
    let shifted = format!("3\n\n{}218\n", rows.replace("5 0 3", "5 0"));
    let long = format!("3\n\n{}", rows.replace("5 0 3", "5 0 3 7"));
    for (text, found) in [(shifted, 2), (long, 4)] {
        folder.write("p.dat", text);
        for line in ["viem qap p.dat", "viem qap p.dat --verify"] {
            let expected = format!("p.dat, line 4, column 1: the line holds {found} numbers");
            folder.fails(line, 65, &expected);
        }
        folder.fails(score, 65, "");
    }
    folder.write("p.dat", format!("3 9998\n{rows}"));
    says(&folder.stdout("viem qap p.dat"), ["the file names J = 9998: 97.8196 % below it"]);
}
