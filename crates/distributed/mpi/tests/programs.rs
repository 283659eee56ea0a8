//! The program, and the calls, on ranks of MPI.
//!
//! `VIEM_MPIRUN` names the launcher of the MPI that the package was built with; `mpirun` by default.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use mpi::traits::Communicator;
use tempfile::TempDir;
use viem::graph::{CsrGraph, generate};
use viem::machine::Hierarchy;
use viem_distributed::comm::{Comm, Reduction};
use viem_io::GraphFormat;
use viem_mpi::{
    DistConfig, Given, Goal, Homes, Mpi, Old, Rows, viem_dist_map, viem_dist_partition, viem_dist_remap,
};
use viem_verify::{MachineText, audit_many};

const MACHINE: [&str; 2] = ["--machine=4:2", "--distance_parameter_string=1:10"];

/// The launcher of so many ranks, which ends after a while in any case.
fn launcher(ranks: usize) -> Command {
    let name = std::env::var("VIEM_MPIRUN").unwrap_or_else(|_| "mpirun".to_owned());
    let mut command = Command::new("timeout");
    command.arg("120").arg(name).args(["-n", &ranks.to_string()]).stdin(Stdio::null());
    for (name, value) in [
        ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ("OMPI_MCA_btl_vader_single_copy_mechanism", "none"),
        ("OMPI_MCA_mpi_yield_when_idle", "1"),
        ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
        ("OMPI_MCA_hwloc_base_binding_policy", "none"),
    ] {
        command.env(name, value);
    }
    command
}

/// So many ranks, or two where ranks that wait keep a core busy, as under MPICH: more of them than cores take minutes.
fn few(ranks: usize) -> usize {
    let is_patient = !mpi::environment::library_version().unwrap().contains("MPICH");
    if is_patient { ranks } else { ranks.min(2) }
}

/// Runs the program on so many ranks.
fn run(ranks: usize, options: &[&str]) -> Output {
    launcher(ranks).arg(env!("CARGO_BIN_EXE_viem_mpi")).args(options).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs the program, which must succeed; what it has printed.
fn expect(ranks: usize, options: &[&str]) -> String {
    let output = run(ranks, options);
    assert!(output.status.success(), "{options:?}: {}\n{}", output.status, text(&output.stderr));
    text(&output.stdout)
}

/// Runs the program on two ranks, each with its own options.
fn run_differently(options: [&[&str]; 2]) -> Output {
    let program = env!("CARGO_BIN_EXE_viem_mpi");
    let mut command = launcher(1);
    command.arg(program).args(options[0]).args([":", "-n", "1", program]).args(options[1]);
    command.output().unwrap()
}

#[test]
fn ranks_with_other_options_are_refused() {
    let folder = TempDir::new().unwrap();
    let (_, out) = path(&folder, "out");
    let usual = ["--generate=40x30", "--k=4", "--output_filename", &out];
    let with = |option: &'static str| [&usual[..], &[option]].concat();
    let cases = [
        (with("--seed=1"), 2, "rank 1 gives another --seed than rank 0"),
        (with("--imbalance=7"), 2, "rank 1 gives another --imbalance than rank 0"),
        (vec!["--generate=40x31", "--k=4", "--output_filename", &out], 2, "another --generate"),
        (vec!["--generate=40x30", "--k=5", "--output_filename", &out], 2, "another --k "),
        (vec!["--generate=40x30", "--machine=4", "--output_filename", &out], 2, "another --k "),
        (with("--no_such_option"), 2, "--no_such_option"),
    ];
    for (other, code, expected) in cases {
        for options in [[&usual[..], &other[..]], [&other[..], &usual[..]]] {
            let output = run_differently(options);
            let message = text(&output.stderr);
            assert_eq!(output.status.code(), Some(code), "{options:?}: {message}");
            assert!(message.contains(expected), "{options:?}: {message}");
            assert!(!Path::new(&out).exists());
        }
    }
    let output = run_differently([&usual, &with("--threads=2")]);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

fn path(folder: &TempDir, name: &str) -> (PathBuf, String) {
    let path = folder.path().join(name);
    let text = path.display().to_string();
    (path, text)
}

fn write_graph(folder: &TempDir, name: &str, graph: &CsrGraph, format: GraphFormat) -> String {
    let (path, text) = path(folder, name);
    viem_io::write_graph(&mut std::fs::File::create(path).unwrap(), graph, format).unwrap();
    text
}

fn json(path: &Path) -> serde_json::Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The names of the files in a folder.
fn listing(folder: &TempDir) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn mappings_are_the_same_on_any_number_of_ranks_and_have_the_costs_they_report() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = generate::mesh(60, 40, 3);
    let files = [
        write_graph(&folder, "mesh.graph", &mesh, GraphFormat::Metis),
        write_graph(&folder, "mesh.bin", &mesh, GraphFormat::Parhip32),
    ];
    let (result, output) = path(&folder, "result");
    let (report, json_file) = path(&folder, "report");
    let mut first: Option<String> = None;
    for (ranks, file) in [(1, 0), (2, 0), (4, 1), (8, 0), (8, 1)].map(|(ranks, file)| (few(ranks), file)) {
        let (output, json_file) = (format!("--output_filename={output}"), format!("--json={json_file}"));
        let options = [&files[file][..], MACHINE[0], MACHINE[1], "--coarsest=200", &output, &json_file];
        let printed = expect(ranks, &options);
        assert!(printed.contains(&format!("on {ranks} ranks")), "{printed}");
        let mapping = std::fs::read_to_string(&result).unwrap();
        let machine =
            MachineText { spec: "4:2", distances: Some("1:10"), file: None, pes: None, link_cycles: None };
        let graph = std::fs::read_to_string(folder.path().join("mesh.graph")).unwrap();
        let audit = audit_many(&graph, &mapping, &machine).unwrap();
        let report = json(&report);
        assert_eq!(report["cost"], audit.cost as u64);
        assert_eq!(report["loads"]["greatest"], *audit.loads.iter().max().unwrap() as u64);
        assert!(audit.loads.iter().all(|&load| load <= 309), "{:?}", audit.loads);
        assert_eq!((&report["ranks"], &report["num_processes"]), (&ranks.into(), &2400.into()));
        assert_eq!(*first.get_or_insert(mapping.clone()), mapping, "{ranks} ranks");
    }
}

#[test]
fn partitions_are_printed_on_stdout_and_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let (old, old_file) = path(&folder, "old");
    let options = ["--generate=30x20x4", "--k=6", "--coarsest=300", "--imbalance=0"];
    let printed = expect(few(3), &[&options[..], &["-o", "-"]].concat());
    let blocks: Vec<usize> = printed.lines().map(|line| line.parse().unwrap()).collect();
    let mut loads = [0; 6];
    blocks.iter().for_each(|&block| loads[block] += 1);
    assert_eq!(loads, [400; 6]);
    std::fs::write(&old, &printed).unwrap();
    let (report, json_file) = path(&folder, "report");
    let resumed = [
        "--remap_from",
        &old_file,
        "--migration_weight=5",
        "--seed=3",
        "-o",
        &old_file,
        "--json",
        &json_file,
        "--quiet",
    ];
    assert_eq!(expect(few(4), &[&options[..], &resumed].concat()), "");
    let report = json(&report);
    assert!(report["migration"]["weight"].as_u64().unwrap() < 100, "{report}");
    assert_eq!(report["loads"]["overload"], 0);
}

#[test]
fn fixed_vertices_are_where_they_must_be() {
    let folder = tempfile::tempdir().unwrap();
    let (fixed, fixed_file) = path(&folder, "fixed");
    let (result, output) = path(&folder, "result");
    let (report, json_file) = path(&folder, "report");
    // Every ninth vertex, and all of the last row, which one PE has more of than it may.
    let places: Vec<i64> = (0..1200)
        .map(|v| {
            if v >= 1170 {
                7
            } else if v % 9 == 0 {
                v % 5
            } else {
                -1
            }
        })
        .collect();
    let lines: String = places.iter().map(|place| format!("{place}\n")).collect();
    std::fs::write(&fixed, lines).unwrap();
    let number = places.iter().filter(|place| **place >= 0).count();
    for divided in [&MACHINE[..], &["--k=8"]] {
        let mut first: Option<String> = None;
        for ranks in [1, 3].map(few) {
            let given = [
                "--generate=40x30",
                "--coarsest=200",
                "--fixed",
                &fixed_file,
                "-o",
                &output,
                "--json",
                &json_file,
            ];
            let printed = expect(ranks, &[&given[..], divided].concat());
            assert!(printed.contains(&format!("{number} of 1200 vertices are fixed")), "{printed}");
            let text = std::fs::read_to_string(&result).unwrap();
            let blocks: Vec<i64> = text.lines().map(|line| line.parse().unwrap()).collect();
            assert!(places.iter().zip(&blocks).all(|(&place, &block)| place < 0 || place == block));
            let report = json(&report);
            assert_eq!(
                (&report["fixed"]["number"], &report["loads"]["overload"]),
                (&number.into(), &0.into())
            );
            assert_eq!(*first.get_or_insert(text.clone()), text, "{ranks} ranks");
        }
    }
    // More than a part may weigh: all of them are there, and the program warns.
    std::fs::write(&fixed, "1\n".repeat(20) + &"-1\n".repeat(10)).unwrap();
    let warned = run(few(3), &["--generate=6x5", "--k=3", "--fixed", &fixed_file, "-o", "-"]);
    let (blocks, printed) = (text(&warned.stdout), text(&warned.stderr));
    assert!(warned.status.success() && blocks.lines().take(20).all(|block| block == "1"), "{blocks}");
    assert!(printed.contains("fixed to part 1 weigh 20, more than its bound of 10"), "{printed}");
}

#[test]
fn there_may_be_more_ranks_than_vertices() {
    let folder = tempfile::tempdir().unwrap();
    let (empty, empty_file) = path(&folder, "empty.graph");
    std::fs::write(&empty, "0 0\n").unwrap();
    let refused = run(4, &[&empty_file, "--k=2", "-o", "-"]);
    assert!(text(&refused.stderr).contains("cannot partition 0 vertices into 2 blocks"));
    let (pair, pair_file) = path(&folder, "pair.graph");
    std::fs::write(&pair, "% two vertices\n2 1\n2\n1\n").unwrap();
    for options in [["--k=2", "--imbalance=0"], MACHINE] {
        let printed = expect(8, &[&[&pair_file[..], "-o", "-"][..], &options].concat());
        assert_eq!(printed.lines().count(), 2);
    }
}

#[test]
fn failures_end_all_ranks_with_one_message_and_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let grid = generate::grid(30, 30);
    let graph = write_graph(&folder, "grid.graph", &grid, GraphFormat::Metis);
    let binary = write_graph(&folder, "grid.bin", &grid, GraphFormat::Parhip);
    let whole = std::fs::read(&graph).unwrap();
    let (cut, cut_text) = path(&folder, "cut.graph");
    std::fs::write(&cut, &whole[..whole.len() - 100]).unwrap();
    let (cut_bytes, cut_binary) = path(&folder, "cut.bin");
    let bytes = std::fs::read(&binary).unwrap();
    std::fs::write(&cut_bytes, &bytes[..bytes.len() - 100]).unwrap();
    let (bad, bad_text) = path(&folder, "bad.graph");
    let mut text_of_bad = text(&whole);
    text_of_bad.insert(whole.len() - 3, 'x');
    std::fs::write(&bad, text_of_bad).unwrap();
    let (fixed_path, fixed) = path(&folder, "fixed");
    std::fs::write(fixed_path, "0 1\n5 2\n").unwrap();
    let output = format!("--output_filename={}", folder.path().join("result").display());
    let before = listing(&folder);
    let missing = folder.path().join("none/result").display().to_string();
    let elsewhere = format!("--output_filename={missing}");
    let cases: [(&[&str], i32, &str); 10] = [
        (&[&cut_text, "--k=2", &output], 65, "cut.graph, line "),
        (&[&cut_binary, "--k=2", &output], 65, "the file ends here"),
        (&[&bad_text, "--k=2", &output], 65, "bad.graph, line 901"),
        (&["/no/such/graph", "--k=2", &output], 66, "/no/such/graph"),
        (&[&graph, &output], 2, "--k"),
        (&[&graph, "--k=0", &output], 2, "0"),
        (&[&graph, "--machine=mesh:8y8", &output], 2, "8y8"),
        (&[&graph, "--k=2", &output, "--fixed", &fixed], 65, "there is no part 2; they are 0 to 1"),
        (&[&graph, "--k=2", &elsewhere], 73, "cannot be created"),
        (&[&graph, "--k=2", "--output_filename=/dev/full"], 74, "cannot be written"),
    ];
    for (options, code, message) in cases {
        let result = run(few(4), options);
        let printed = text(&result.stderr);
        assert_eq!(result.status.code(), Some(code), "{options:?}\n{printed}");
        assert_eq!(printed.matches(message).count().min(1), 1, "{options:?}\n{printed}");
        assert!(printed.matches("viem_mpi: ").count() <= 1, "{printed}");
        assert_eq!(listing(&folder), before, "{options:?}");
    }
}

/// The processes of the program that are below a launcher.
fn ranks_below(launcher: u32) -> Vec<u32> {
    let parent = |pid: u32| -> Option<u32> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit(") ").next()?.split(' ').nth(1)?.parse().ok()
    };
    let is_below = |pid: u32| {
        let mut above = parent(pid);
        while let Some(pid) = above.filter(|&pid| pid > 1 && pid != launcher) {
            above = parent(pid);
        }
        above == Some(launcher)
    };
    let program = Path::new(env!("CARGO_BIN_EXE_viem_mpi")).canonicalize().unwrap();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_rank = |pid: &u32| std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == program);
    pids.filter(is_rank).filter(|&pid| is_below(pid)).collect()
}

#[test]
fn a_rank_that_is_killed_ends_all_and_leaves_no_result() {
    let folder = tempfile::tempdir().unwrap();
    let (result, output) = path(&folder, "result");
    let count = few(3);
    let mut job = launcher(count)
        .arg(env!("CARGO_BIN_EXE_viem_mpi"))
        .args(["--generate=1500x1000", "--k=32", "-o", &output])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    let ranks = loop {
        let ranks = ranks_below(job.id());
        if ranks.len() == count || begin.elapsed() > Duration::from_secs(60) {
            break ranks;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    std::thread::sleep(Duration::from_millis(300));
    let killed = Command::new("kill").args(["-KILL", &ranks[1].to_string()]).status().unwrap();
    assert!(killed.success());
    let status = job.wait().unwrap();
    assert!(!status.success() && status.code() != Some(124), "{status}");
    assert!(!result.exists());
}

/// Runs this test alone on so many ranks, unless this is one of them.
fn is_on_ranks(test: &str, ranks: usize) -> bool {
    const MARK: &str = "VIEM_TEST_ON_RANKS";
    if std::env::var_os(MARK).is_some() {
        return true;
    }
    let mut command = launcher(ranks);
    command.env(MARK, "1").arg(std::env::current_exe().unwrap()).args(["--exact", test, "--nocapture"]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    false
}

#[test]
fn words_reach_those_they_are_sent_to() {
    if !is_on_ranks("words_reach_those_they_are_sent_to", 5) {
        return;
    }
    let universe = mpi::initialize().unwrap();
    let world = universe.world();
    for most in [1, 3, 7, 50, 1 << 20] {
        let comm = Mpi::comm(&world).with_most_words(most);
        let (own, size) = (comm.rank() as u64, comm.size());
        let words = |from: u64, to: u64| {
            let count = (3 * from + 5 * to) % 11;
            (0..count).map(move |index| 1000 * from + 100 * to + index)
        };
        let sent: Vec<u64> = (0..size as u64).flat_map(|to| words(own, to)).collect();
        let counts: Vec<usize> = (0..size as u64).map(|to| words(own, to).count()).collect();
        let received = comm.all_to_all(&sent, &counts);
        let gathered = comm.all_gather(&sent);
        for from in 0..size {
            assert!(words(from as u64, own).eq(received.from(from).iter().copied()));
            let all: Vec<u64> = (0..size as u64).flat_map(|to| words(from as u64, to)).collect();
            assert_eq!(gathered.from(from), all);
        }
        let mut numbers: Vec<u64> = (0..20).map(|index| index * (own + 1)).collect();
        comm.all_reduce(&mut numbers, Reduction::Sum);
        assert!(numbers.iter().enumerate().all(|(index, &number)| number == 15 * index as u64));
        let mut least = [u64::MAX - own, own, if own == 2 { 5 } else { u64::MAX }];
        comm.all_reduce(&mut least, Reduction::Least);
        assert_eq!(least, [u64::MAX - 4, 0, 5]);
        let mut greatest = [u64::MAX - own, own, if own == 2 { u64::MAX } else { 0 }];
        comm.all_reduce(&mut greatest, Reduction::Greatest);
        assert_eq!(greatest, [u64::MAX, 4, u64::MAX]);
        let mut said = if own == 3 { sent.clone() } else { vec![7; 2] };
        comm.broadcast(3, &mut said);
        assert_eq!(said, gathered.from(3));
        comm.barrier();
    }
}

/// The rows of a rank of a whole graph, in equal parts.
fn rows_of(graph: &CsrGraph, rank: usize, size: usize) -> Rows {
    let n = graph.num_nodes();
    let nodes = n * rank / size..n * (rank + 1) / size;
    let mut rows = Rows { offsets: vec![0], ..Rows::default() };
    for node in nodes {
        rows.targets.extend(graph.neighbours(node as u32));
        rows.offsets.push(rows.targets.len());
    }
    rows
}

#[test]
fn graphs_are_divided_in_the_middle_of_a_program() {
    if !is_on_ranks("graphs_are_divided_in_the_middle_of_a_program", few(3)) {
        return;
    }
    let universe = mpi::initialize().unwrap();
    let world = universe.world();
    let (rank, size) = (world.rank() as usize, world.size() as usize);
    let mesh = generate::mesh(40, 30, 5);
    let rows = rows_of(&mesh, rank, size);
    let config = DistConfig::default();
    let parts = viem_dist_partition(&world, rows.clone(), 4, None, &config).unwrap();
    assert_eq!(parts.blocks.len(), rows.offsets.len() - 1);
    assert!(parts.report.loads.iter().all(|&load| load <= 309));
    let machine = Hierarchy::parse("2:2", "1:10").unwrap();
    let mapped = viem_dist_map(&world, rows.clone(), &machine, None, &config).unwrap();
    assert!(mapped.report.cost.is_some() && mapped.report.overload == 0);
    let mut old = mapped.blocks.clone();
    old.iter_mut().step_by(20).for_each(|home| *home = Homes::NONE);
    let weight = "3".parse().unwrap();
    let (goal, blocks) = (Goal::Pes(&machine), &old[..]);
    // The first vertex of this rank goes to another PE.
    let mut fixed = vec![Given::FREE; old.len()];
    fixed[0] = (mapped.blocks[0] + 1) % 4;
    let again =
        viem_dist_remap(&world, rows.clone(), goal, Old { blocks, weight }, Some(&fixed), &config).unwrap();
    assert_eq!((again.blocks[0], again.report.fixed.unwrap().number), (fixed[0], size as u64));
    assert!(again.report.migration.unwrap() < 60, "{:?}", again.report.migration);
    // One rank lists a neighbour that does not exist.
    let mut wrong = rows;
    if rank == 1 {
        wrong.targets[0] = 5000;
    }
    let error = viem_dist_partition(&world, wrong, 4, None, &config).unwrap_err();
    assert!(error.rank == 1 && error.message.contains("lists 5000"), "{error}");
}
