//! Runs that are ended early by signals.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::common::signals::{send, start, told_after};
use crate::common::{names, objective, program, report_in, stdout_of, text_of, to_spawn};
use viem::graph::{GraphBuilder, generate};

/// A machine of 2^14 PEs.
const DEEP: [&str; 2] = [
    "--hierarchy_parameter_string=2:2:2:2:2:2:2:2:2:2:2:2:2:2",
    "--distance_parameter_string=1:2:3:4:5:6:7:8:9:10:11:12:13:14",
];

/// A search that would take hours.
const LONG_SEARCH: [&str; 2] = ["--construction_algorithm=random", "--local_search_neighborhood=nsquare"];

/// A construction so long that the signal comes before it is complete, and no search.
const LONG_CONSTRUCTION: [&str; 2] =
    ["--preconfiguration_mapping=strong", "--local_search_neighborhood=none"];

/// A run that has just read its model; `output` is the destination of the mapping.
fn long_run(folder: &Path, output: &str, options: [&str; 2]) -> (Child, BufReader<ChildStdout>) {
    run_until(folder, &[&["--output_filename", output], &DEEP[..], &options].concat(), "model has")
}

/// A run on a grid of 2^14 vertices that has just printed a line with this beginning.
fn run_until(folder: &Path, options: &[&str], beginning: &str) -> (Child, BufReader<ChildStdout>) {
    fs::write(folder.join("model"), text_of(&generate::grid(128, 128))).unwrap();
    let mut command = program("viem", folder);
    command.args(["model", "--seed=3", "--json=report"]).args(options);
    start(&command, folder, beginning)
}

#[test]
fn the_first_signal_saves_the_best_mapping() {
    let runs = ["-INT", "-TERM", "-USR1", "-USR2"].map(|signal| (signal, LONG_SEARCH));
    for (signal, options) in runs.into_iter().chain([("-TERM", LONG_CONSTRUCTION)]) {
        let folder = tempfile::tempdir().unwrap();
        let text = told_after(signal, long_run(folder.path(), "out", options));
        assert!(text.contains("stopped early"), "{signal}: {text}");
        let report = report_in(&folder.path().join("report"));
        assert_eq!(report["stopped"], true);
        let mut evaluator = program("evaluator", folder.path());
        let evaluated = stdout_of(evaluator.args(["model", "--input_mapping=out"]).args(DEEP));
        assert_eq!(objective(&text), objective(&evaluated));
        assert_eq!(report["cost"], objective(&text));
    }
}

/// With an hour left, or before the first mapping is complete: all vertices are mapped, and loads are within
/// their bounds.
#[test]
fn a_signal_saves_the_best_many_to_one_mapping() {
    let machine = ["--machine=4:8", "--distance_parameter_string=1:10"];
    let options = ["--output_filename=out", "--threads=2", "--preconfiguration_mapping=strong"];
    for more in [&["--time_limit=1h"][..], &["--imbalance=0"]] {
        let folder = tempfile::tempdir().unwrap();
        let run = run_until(folder.path(), &[&machine[..], &options, more].concat(), "many-to-one mapping");
        let text = told_after("-USR1", run);
        assert!(text.contains("stopped early"), "{text}");
        let report = report_in(&folder.path().join("report"));
        assert_eq!((&report["stopped"], &report["loads"]["overload"]), (&true.into(), &0.into()));
        let mut evaluator = program("evaluator", folder.path());
        let evaluated = stdout_of(evaluator.args(["model", "--input_mapping=out"]).args(machine));
        assert_eq!(objective(&text), objective(&evaluated));
        assert_eq!(report["cost"], objective(&text));
    }
}

/// A workload whose mapping would take minutes, just after it was read.
fn long_workload_run(folder: &Path, options: &[&str]) -> (Child, BufReader<ChildStdout>) {
    let generate = ["--generate=random:1000", "--seed=2", "--output_filename=p"];
    stdout_of(program("generate_model", folder).args(generate));
    let mut command = program("viem", folder);
    command.args(["p", "--machine=torus:32x32", "--preconfiguration_mapping=strong", "--json=report"]);
    command.args(["--output_filename=out", "--verify"]).args(options);
    start(&command, folder, "workload has")
}

/// The output and files of a stopped run agree with its report and with the evaluator.
fn check_stopped_workload(folder: &Path, text: &str) {
    assert!(text.contains("stopped early"), "{text}");
    let report = report_in(&folder.join("report"));
    assert_eq!(report["stopped"], true);
    let score = ["p", "--machine=torus:32x32", "--input_mapping=out", "--json=score"];
    stdout_of(program("evaluator", folder).args(score));
    let score = report_in(&folder.join("score"));
    assert_eq!((&score["cost"], &score["estimate"]), (&report["cost"], &report["estimate"]));
}

#[test]
fn a_signal_saves_the_best_mapping_of_a_workload() {
    for signal in ["-INT", "-TERM"] {
        let folder = tempfile::tempdir().unwrap();
        let text = told_after(signal, long_workload_run(folder.path(), &[]));
        check_stopped_workload(folder.path(), &text);
    }
}

#[test]
fn a_time_limit_ends_the_mapping_of_a_workload() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, mut lines) = long_workload_run(folder.path(), &["--time_limit=0.5", "--threads=1"]);
    let mut text = String::new();
    lines.read_to_string(&mut text).unwrap();
    assert!(child.wait().unwrap().success());
    check_stopped_workload(folder.path(), &text);
    // A loaded machine may take longer than the promised second.
    let seconds = report_in(&folder.path().join("report"))["seconds"].as_f64().unwrap();
    assert!(seconds < 10.0, "{seconds} s");
}

#[test]
fn the_second_signal_ends_at_once() {
    let folder = tempfile::tempdir().unwrap();
    // Nobody reads the pipe, so the stopped program waits to open it until the second signal.
    assert!(Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap().success());
    let (mut child, mut lines) = long_run(folder.path(), "pipe", LONG_SEARCH);
    send(&child, "-INT");
    let mut text = String::new();
    while !text.contains("objective") {
        assert!(lines.read_line(&mut text).unwrap() > 0, "the program ended at the first signal");
    }
    send(&child, "-TERM");
    assert_eq!(child.wait().unwrap().signal(), Some(15));
    assert!(!folder.path().join("report").exists());
}

/// The requested name can no longer be replaced once the work is done: the result is kept under the name in
/// the message.
#[test]
fn a_result_that_cannot_be_put_in_place_is_kept_under_a_reported_name() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, lines) = long_run(folder.path(), "out", LONG_SEARCH);
    fs::create_dir(folder.path().join("out")).unwrap();
    send(&child, "-TERM");
    drop(lines);
    let mut message = String::new();
    child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(74), "{message}");
    let all = names(folder.path());
    let kept: Vec<&String> = all.iter().filter(|name| name.ends_with(".tmp")).collect();
    let [kept] = kept[..] else { panic!("one file is kept: {all:?}") };
    assert!(message.contains(kept.as_str()), "{message} does not name {kept}");
    let mut evaluator = program("evaluator", folder.path());
    stdout_of(evaluator.args(["model", "--input_mapping", kept]).args(DEEP));
    // The other output is in place.
    assert_eq!(report_in(&folder.path().join("report"))["stopped"], true);
}

/// Single steps are long around hubs, but signals are handled at any point of a run.
#[test]
fn signals_are_handled_anywhere_around_hubs() {
    let folder = tempfile::tempdir().unwrap();
    let n = 30_000;
    let mut graph = GraphBuilder::new(n);
    for hub in 0..3 {
        (hub + 1..n as u32).for_each(|node| graph.add_edge(hub, node, 1));
    }
    (3..n as u32 - 1).step_by(3).for_each(|node| graph.add_edge(node, node + 1, 2));
    fs::write(folder.path().join("model"), text_of(&graph.build().unwrap())).unwrap();
    let machine = ["--hierarchy_parameter_string=10:10:300", "--distance_parameter_string=1:10:100"];
    for moment in [0, 50, 150, 400, 900] {
        let mut command = program("viem", folder.path());
        command.args(["model", "--time_limit=1h", "--output_filename=out"]).args(machine);
        let mut child = to_spawn(&command, folder.path()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut text = String::new();
        while !text.contains("model has") {
            assert!(lines.read_line(&mut text).unwrap() > 0, "the program ended early");
        }
        std::thread::sleep(Duration::from_millis(moment));
        send(&child, "-TERM");
        lines.read_to_string(&mut text).unwrap();
        assert!(child.wait().unwrap().success() && text.contains("stopped early"), "{moment}: {text}");
        let mut evaluator = program("evaluator", folder.path());
        let evaluated = stdout_of(evaluator.args(["model", "--input_mapping=out"]).args(machine));
        assert_eq!(objective(&text), objective(&evaluated), "{moment}");
    }
}

/// The initial order of the processes is part of the result.
#[test]
fn a_time_limit_ends_the_order_that_a_mapping_follows() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("model"), text_of(&generate::random_geometric(1 << 14, 9.0, 1))).unwrap();
    let run = |output: &str, more: &[&str]| {
        let mut command = program("viem", folder.path());
        command.args(["model", "--construction_algorithm=rsb", "--local_search_neighborhood=none"]);
        stdout_of(command.args(DEEP).args(["--output_filename", output]).args(more))
    };
    let (whole, ended) = (run("whole", &[]), run("ended", &["--time_limit=0.001"]));
    assert!(!whole.contains("stopped early") && ended.contains("stopped early"), "{whole} {ended}");
    let text = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_ne!(text("whole"), text("ended"));
}

#[test]
fn a_closed_pipe_loses_no_result() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, lines) = long_run(folder.path(), "out", LONG_SEARCH);
    drop(lines);
    send(&child, "-TERM");
    let mut message = String::new();
    child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
    assert!(child.wait().unwrap().success(), "{message}");
    assert_eq!(message, "");
    assert_eq!(fs::read_to_string(folder.path().join("out")).unwrap().lines().count(), 128 * 128);
}

/// There is nothing to save while any input is still being read.
#[test]
fn the_first_signal_ends_a_run_that_is_still_reading() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("model"), "2 1\n2\n1\n").unwrap();
    let machine = ["--hierarchy_parameter_string=2", "--distance_parameter_string=1"];
    fs::write(folder.path().join("many"), "3 1\n2\n1\n\n").unwrap();
    let of_coordinates = ["--construction_algorithm=rcb", "--coordinates=-"];
    let [of_two, of_many] = ["model", "many"].map(|model| [&[model], &of_coordinates[..]].concat());
    for inputs in [&["-"][..], &["model", "--input_mapping=-"], &of_two, &of_many] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_viem"))
            .current_dir(folder.path())
            .args(inputs)
            .args(machine)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // A comment that does not end: once much more than the capacity of a pipe is consumed, the program is
        // reading.
        let mut input = child.stdin.take().unwrap();
        for _ in 0..100 {
            input.write_all(&[b'%'; 1 << 16]).unwrap();
        }
        send(&child, "-TERM");
        drop(input);
        assert_eq!(child.wait().unwrap().signal(), Some(15), "{inputs:?}");
        assert!(!folder.path().join("permutation").exists());
    }
}

/// Needs `script`, which provides a terminal; skipped otherwise.
#[test]
fn the_progress_line_is_gone_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("graph"), text_of(&generate::grid(128, 128))).unwrap();
    let viem = [env!("CARGO_BIN_EXE_viem"), "graph", DEEP[0], DEEP[1], LONG_SEARCH[0], LONG_SEARCH[1]];
    let partition = ["--k=8000", "--preconfiguration=strong", "--imbalance=0"];
    let generate_model = [&[env!("CARGO_BIN_EXE_generate_model"), "graph"], &partition[..]].concat();
    for (command, end) in [(viem.to_vec(), "permutation"), (generate_model, "partitioning")] {
        let command = format!("timeout --foreground --signal=INT 2 {}; kill -0 $$", command.join(" "));
        let mut script = Command::new("script");
        script.args(["-qec", &command, "/dev/null"]).current_dir(&folder).env("TERM", "xterm");
        let run = script.output();
        let Ok(run) = run else { return eprintln!("skipped: there is no `script`") };
        let text = String::from_utf8_lossy(&run.stdout).into_owned();
        let spinner = text.rfind(" 0s ").unwrap_or_else(|| panic!("no progress line in {text:?}"));
        assert!(text[spinner..].contains("\x1b[2K"), "{text:?}");
        assert!(text.contains(end), "{text:?}");
    }
}

#[test]
fn a_model_that_is_not_finished_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("graph"), text_of(&generate::grid(200, 200))).unwrap();
    let mut command = program("generate_model", folder.path());
    command.args(["graph", "--k=4000", "--preconfiguration=strong"]);
    command.args(["--json=report", "--mapping_filename=blocks"]);
    // Without SIGINT: a shell starts background jobs with that signal ignored, and programs inherit this.
    for (signal, number) in [("-TERM", 15), ("-USR1", 10), ("-USR2", 12)] {
        let mut child = to_spawn(&command, folder.path()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        lines.read_line(&mut line).unwrap();
        send(&child, signal);
        assert_eq!(child.wait().unwrap().signal(), Some(number), "{line}");
        assert_eq!(names(folder.path()), ["graph"]);
    }
}
