//! Runs that are ended early by signals.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::common::signals::{send, start, told_after};
use crate::common::{Folder, names, objective, says, text_of, to_spawn};
use viem::graph::{CsrGraph, GraphBuilder, generate};

/// A machine of 2^14 PEs.
const DEEP: &str = "--machine=2:2:2:2:2:2:2:2:2:2:2:2:2:2 \
                    --distances=1:2:3:4:5:6:7:8:9:10:11:12:13:14";

/// A search that would take hours.
const LONG_SEARCH: &str = "--construction=random --neighbourhood=nsquare";

/// A construction so long that the signal comes before it is complete, and no search.
const LONG_CONSTRUCTION: &str = "--preset=strong --neighbourhood=none";

/// A folder with a graph.
fn folder(graph: &CsrGraph) -> Folder {
    let folder = Folder::new();
    folder.write("model", text_of(graph));
    folder
}

/// A folder with a grid of 2^14 vertices.
fn with_grid() -> Folder {
    folder(&generate::grid(128, 128))
}

/// A run that has just read its model; `output` is the destination of the mapping.
fn long_run(folder: &Folder, output: &str, options: &str) -> (Child, BufReader<ChildStdout>) {
    run_until(folder, &format!("--output {output} {DEEP} {options}"), "graph: ")
}

/// A run that has just printed a line with this beginning.
fn run_until(folder: &Folder, options: &str, beginning: &str) -> (Child, BufReader<ChildStdout>) {
    start(folder, &format!("viem map model --seed=3 --json=report {options}"), beginning)
}

/// J of a mapping, from `evaluator`.
fn evaluated(folder: &Folder, mapping: &str, machine: &str) -> i64 {
    objective(&folder.stdout(format!("viem score model {mapping} {machine}")))
}

#[test]
fn the_first_signal_saves_the_best_mapping() {
    let runs = ["-INT", "-TERM", "-USR1", "-USR2"].map(|signal| (signal, LONG_SEARCH));
    for (signal, options) in runs.into_iter().chain([("-TERM", LONG_CONSTRUCTION)]) {
        let folder = with_grid();
        let text = told_after(signal, long_run(&folder, "out", options));
        assert!(text.contains("stopped early"), "{signal}: {text}");
        let report = folder.report("report");
        assert_eq!(report["stopped"], true);
        assert_eq!(objective(&text), evaluated(&folder, "out", DEEP));
        assert_eq!(report["cost"], objective(&text));
    }
}

/// With an hour left, or before the first mapping is complete: all vertices are mapped, and loads are within
/// their bounds.
#[test]
fn a_signal_saves_the_best_many_to_one_mapping() {
    let machine = "--machine=4:8 --distances=1:10";
    for more in ["--time-limit=1h", "--imbalance=0"] {
        let folder = with_grid();
        let options = "--output=out --threads=2 --preset=strong";
        let run = run_until(&folder, &format!("{machine} {options} {more}"), "many-to-one mapping");
        let text = told_after("-USR1", run);
        says(&text, ["stopped early"]);
        let report = folder.report("report");
        assert_eq!((&report["stopped"], &report["loads"]["overload"]), (&true.into(), &0.into()));
        assert_eq!(objective(&text), evaluated(&folder, "out", machine));
        assert_eq!(report["cost"], objective(&text));
    }
}

/// All vertices were on the first half of the PEs.
#[test]
fn a_signal_saves_the_best_remapping() {
    let machine = "--machine=4:8 --distances=1:10";
    let folder = with_grid();
    folder.write_lines("old", (0..1 << 14).map(|cell| cell >> 10));
    let options = "--migration-weight=1 --output=out --json=report --threads=1 --preset=strong";
    let run = start(&folder, &format!("viem remap model old {machine} {options}"), "many-to-one mapping");
    let text = told_after("-TERM", run);
    says(&text, ["stopped early"]);
    let report = folder.report("report");
    assert_eq!((&report["stopped"], &report["loads"]["overload"]), (&true.into(), &0.into()));
    assert_eq!(report["cost"], evaluated(&folder, "out", machine));
}

/// A workload whose mapping would take minutes, just after it was read.
fn long_workload_run(folder: &Folder, options: &str) -> (Child, BufReader<ChildStdout>) {
    folder.stdout("viem traffic --pattern=random:1000 --seed=2 --output=p --workload");
    let run = "viem simulate p --machine=torus:32x32 --preset=strong --json=report";
    start(folder, &format!("{run} --output=out --verify {options}"), "workload has")
}

/// The output and files of a stopped run agree with its report and with the evaluator.
fn check_stopped_workload(folder: &Folder, text: &str) {
    says(text, ["stopped early"]);
    let report = folder.report("report");
    assert_eq!(report["stopped"], true);
    folder.stdout("viem simulate p --machine=torus:32x32 --score=out --json=score");
    let score = folder.report("score");
    assert_eq!((&score["cost"], &score["estimate"]), (&report["cost"], &report["estimate"]));
}

#[test]
fn a_signal_saves_the_best_mapping_of_a_workload() {
    for signal in ["-INT", "-TERM"] {
        let folder = Folder::new();
        let text = told_after(signal, long_workload_run(&folder, ""));
        check_stopped_workload(&folder, &text);
    }
}

#[test]
fn a_time_limit_ends_the_mapping_of_a_workload() {
    let folder = Folder::new();
    let (mut child, mut lines) = long_workload_run(&folder, "--time-limit=0.5 --threads=1");
    let mut text = String::new();
    lines.read_to_string(&mut text).unwrap();
    assert!(child.wait().unwrap().success());
    check_stopped_workload(&folder, &text);
    // A loaded machine may take longer than the promised second.
    let seconds = folder.report("report")["seconds"].as_f64().unwrap();
    assert!(seconds < 10.0, "{seconds} s");
}

#[test]
fn the_second_signal_ends_at_once() {
    let folder = with_grid();
    // Nobody reads the pipe, so the stopped program waits to open it until the second signal.
    assert!(Command::new("mkfifo").arg(folder.file("pipe")).status().unwrap().success());
    let (mut child, mut lines) = long_run(&folder, "pipe", LONG_SEARCH);
    send(&child, "-INT");
    let mut text = String::new();
    while !text.contains("\nJ ") {
        assert!(lines.read_line(&mut text).unwrap() > 0, "the program ended at the first signal");
    }
    send(&child, "-TERM");
    assert_eq!(child.wait().unwrap().signal(), Some(15));
    assert!(!folder.has("report"));
}

/// The requested name can no longer be replaced once the work is done: the result is kept under the name in
/// the message.
#[test]
fn a_result_that_cannot_be_put_in_place_is_kept_under_a_reported_name() {
    let folder = with_grid();
    let (mut child, lines) = long_run(&folder, "out", LONG_SEARCH);
    fs::create_dir(folder.file("out")).unwrap();
    send(&child, "-TERM");
    drop(lines);
    let mut message = String::new();
    child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(74), "{message}");
    let all = names(folder.path());
    let kept: Vec<&String> = all.iter().filter(|name| name.ends_with(".tmp")).collect();
    let [kept] = kept[..] else { panic!("one file is kept: {all:?}") };
    says(&message, [kept]);
    evaluated(&folder, kept, DEEP);
    // The other output is in place.
    assert_eq!(folder.report("report")["stopped"], true);
}

/// Single steps are long around hubs, but signals are handled at any point of a run.
#[test]
fn signals_are_handled_anywhere_around_hubs() {
    let n = 30_000;
    let mut graph = GraphBuilder::new(n);
    for hub in 0..3 {
        (hub + 1..n as u32).for_each(|node| graph.add_edge(hub, node, 1));
    }
    (3..n as u32 - 1).step_by(3).for_each(|node| graph.add_edge(node, node + 1, 2));
    let folder = folder(&graph.build().unwrap());
    let machine = "--machine=10:10:300 --distances=1:10:100";
    for moment in [0, 50, 150, 400, 900] {
        let run = format!("viem map model --time-limit=1h --output=out {machine}");
        let (mut child, mut lines) = start(&folder, &run, "graph: ");
        let mut text = String::new();
        std::thread::sleep(Duration::from_millis(moment));
        send(&child, "-TERM");
        lines.read_to_string(&mut text).unwrap();
        assert!(child.wait().unwrap().success() && text.contains("stopped early"), "{moment}: {text}");
        assert_eq!(objective(&text), evaluated(&folder, "out", machine), "{moment}");
    }
}

/// The initial order of the processes is part of the result.
#[test]
fn a_time_limit_ends_the_order_that_a_mapping_follows() {
    let folder = folder(&generate::random_geometric(1 << 14, 9.0, 1));
    let run = |options: &str| {
        let along = "--construction=rsb --neighbourhood=none";
        folder.stdout(format!("viem map model {along} {DEEP} --output {options}"))
    };
    let (whole, ended) = (run("whole"), run("ended --time-limit=0.001"));
    assert!(!whole.contains("stopped early") && ended.contains("stopped early"), "{whole} {ended}");
    assert_ne!(folder.read("whole"), folder.read("ended"));
}

#[test]
fn a_closed_pipe_loses_no_result() {
    let folder = with_grid();
    let (mut child, lines) = long_run(&folder, "out", LONG_SEARCH);
    drop(lines);
    send(&child, "-TERM");
    let mut message = String::new();
    child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
    assert!(child.wait().unwrap().success(), "{message}");
    assert_eq!(message, "");
    assert_eq!(folder.read("out").lines().count(), 128 * 128);
}

/// There is nothing to save while any input is still being read.
#[test]
fn the_first_signal_ends_a_run_that_is_still_reading() {
    let folder = Folder::with(&[("model", "2 1\n2\n1\n"), ("many", "3 1\n2\n1\n\n")]);
    for inputs in [
        "-",
        "model --initial=-",
        "model --construction=rcb --coordinates=-",
        "many --construction=rcb --coordinates=-",
    ] {
        let machine = "--machine=2 --distances=1";
        let viem = folder.command(format!("viem map {inputs} {machine}"));
        let mut child =
            to_spawn(&viem, folder.path()).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        // A comment that does not end: once much more than the capacity of a pipe is consumed, the program is
        // reading.
        let mut input = child.stdin.take().unwrap();
        for _ in 0..100 {
            input.write_all(&[b'%'; 1 << 16]).unwrap();
        }
        send(&child, "-TERM");
        drop(input);
        assert_eq!(child.wait().unwrap().signal(), Some(15), "{inputs}");
        assert!(!folder.has("permutation"));
    }
}

/// Needs `script`, which provides a terminal; skipped otherwise.
#[test]
fn the_progress_line_is_gone_at_the_end() {
    let folder = with_grid();
    let viem = format!("{} map model {DEEP} {LONG_SEARCH}", env!("CARGO_BIN_EXE_viem"));
    let partition = "--blocks=8000 --preset=strong --imbalance=0";
    let partition = format!("{} partition model {partition}", env!("CARGO_BIN_EXE_viem"));
    for (command, end) in [(viem, "permutation"), (partition, "partitioning")] {
        let command = format!("timeout --foreground --signal=INT 2 {command}; kill -0 $$");
        let mut script = Command::new("script");
        script.args(["-qec", &command, "/dev/null"]).current_dir(folder.path()).env("TERM", "xterm");
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
    let folder = folder(&generate::grid(200, 200));
    let run = "viem partition model --blocks=4000 --preset=strong --json=report --output=blocks";
    // Without SIGINT: a shell starts background jobs with that signal ignored, and programs inherit this.
    for (signal, number) in [("-TERM", 15), ("-USR1", 10), ("-USR2", 12)] {
        let (mut child, _lines) = start(&folder, run, "graph: ");
        send(&child, signal);
        assert_eq!(child.wait().unwrap().signal(), Some(number), "{signal}");
        assert_eq!(names(folder.path()), ["model"]);
    }
}
