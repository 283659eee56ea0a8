//! The program, and the calls, on ranks of MPI.
//!
//! `VIEM_MPIRUN` names the launcher of the MPI that the package was built with; `mpirun` by default.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use mpi::traits::Communicator;
use tempfile::TempDir;
use viem::graph::{CsrGraph, generate};
use viem::machine::Hierarchy;
use viem_distributed::comm::{Comm, Reduction};
use viem_io::GraphFormat;
use viem_mpi::{
    DistConfig, Given, Goal, Mpi, Old, PreviousAssignment, Rows, viem_dist_map, viem_dist_partition,
    viem_dist_remap,
};
use viem_verify::{MachineText, audit_many};

const MACHINE: &str = "--machine=4:2 --distances=1:10";

/// The launcher of this many ranks, which ends after a while in any case.
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

/// This many ranks, or two where ranks that wait keep a core busy, as under MPICH: more of them than cores take minutes.
fn few(ranks: usize) -> usize {
    let is_patient = !mpi::environment::library_version().unwrap().contains("MPICH");
    if is_patient { ranks } else { ranks.min(2) }
}

/// A folder in which the program runs. Words of its options are separated by blanks.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    fn write_graph(&self, name: &str, graph: &CsrGraph, format: GraphFormat) {
        viem_io::write_graph(&mut std::fs::File::create(self.path(name)).unwrap(), graph, format).unwrap();
    }

    fn report(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// The names of the files, sorted.
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Runs the program on this many ranks.
    fn run(&self, ranks: usize, options: &str) -> Said {
        let mut command = launcher(ranks);
        command.arg(env!("CARGO_BIN_EXE_viem_mpi")).args(options.split_whitespace());
        Said::by(command.current_dir(self.0.path()))
    }

    /// Runs the program, which must succeed; what it has printed.
    fn expect(&self, ranks: usize, options: &str) -> String {
        let said = self.run(ranks, options);
        assert_eq!(said.code, Some(0), "{options}: {}", said.err);
        said.out
    }

    /// Runs the program on two ranks, each with its own options.
    fn run_differently(&self, [first, second]: [&str; 2]) -> Said {
        let program = env!("CARGO_BIN_EXE_viem_mpi");
        let mut command = launcher(1);
        command.arg(program).args(first.split_whitespace()).args([":", "-n", "1", program]);
        Said::by(command.args(second.split_whitespace()).current_dir(self.0.path()))
    }
}

/// The exit status and the output of a command.
struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Said {
    fn by(command: &mut Command) -> Self {
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }
}

#[test]
fn ranks_with_other_options_are_refused() {
    let folder = Folder::new();
    let usual = "--generate=40x30 --blocks=4 --output out";
    for (other, expected) in [
        (&*format!("{usual} --seed=1"), "rank 1 gives another --seed than rank 0"),
        (&format!("{usual} --imbalance=7"), "rank 1 gives another --imbalance than rank 0"),
        ("--generate=40x31 --blocks=4 --output out", "another --generate"),
        ("--generate=40x30 --blocks=5 --output out", "another --blocks "),
        ("--generate=40x30 --machine=4 --output out", "another --blocks "),
        (&format!("{usual} --no_such_option"), "--no_such_option"),
    ] {
        for options in [[usual, other], [other, usual]] {
            let said = folder.run_differently(options);
            assert_eq!(said.code, Some(2), "{options:?}: {}", said.err);
            assert!(said.err.contains(expected), "{options:?}: {}", said.err);
            assert_eq!(folder.names(), [""; 0]);
        }
    }
    let said = folder.run_differently([usual, &format!("{usual} --threads=2")]);
    assert_eq!(said.code, Some(0), "{}", said.err);
}

#[test]
fn mappings_are_the_same_on_any_number_of_ranks_and_have_the_costs_they_report() {
    let folder = Folder::new();
    let mesh = generate::mesh(60, 40, 3);
    folder.write_graph("mesh.graph", &mesh, GraphFormat::Metis);
    folder.write_graph("mesh.bin", &mesh, GraphFormat::Parhip32);
    let mut first: Option<String> = None;
    for (ranks, file) in
        [(1, "mesh.graph"), (2, "mesh.graph"), (4, "mesh.bin"), (8, "mesh.graph"), (8, "mesh.bin")]
    {
        let ranks = few(ranks);
        let options = format!("{file} {MACHINE} --coarsest=200 --output=result --json=report");
        let printed = folder.expect(ranks, &options);
        assert!(printed.contains(&format!("on {ranks} ranks")), "{printed}");
        let mapping = folder.read("result");
        let machine =
            MachineText { spec: "4:2", distances: Some("1:10"), file: None, pes: None, link_cycles: None };
        let audit = audit_many(&folder.read("mesh.graph"), &mapping, &machine).unwrap();
        let report = folder.report("report");
        // The head is that of the verbs.
        let head = (&report["program"], &report["input"], &report["seed"], &report["options"]["preset"]);
        assert_eq!(head, (&"viem_mpi".into(), &file.into(), &0.into(), &"eco".into()));
        let machine = &report["machine"];
        assert_eq!((&machine["spec"], &machine["num_pes"]), (&"4:2".into(), &8.into()));
        assert_eq!(machine["hierarchy"], serde_json::json!([4, 2]));
        assert_eq!(report["cost"], audit.cost as u64);
        assert_eq!(report["loads"]["greatest"], *audit.loads.iter().max().unwrap() as u64);
        assert!(audit.loads.iter().all(|&load| load <= 309), "{:?}", audit.loads);
        assert_eq!((&report["ranks"], &report["num_processes"]), (&ranks.into(), &2400.into()));
        assert_eq!(*first.get_or_insert(mapping.clone()), mapping, "{ranks} ranks");
    }
}

#[test]
fn partitions_are_printed_on_stdout_and_resumed() {
    let folder = Folder::new();
    let options = "--generate=30x20x4 --blocks=6 --coarsest=300 --imbalance=0";
    let printed = folder.expect(few(3), &format!("{options} -o -"));
    let blocks: Vec<usize> = printed.lines().map(|line| line.parse().unwrap()).collect();
    let mut loads = [0; 6];
    blocks.iter().for_each(|&block| loads[block] += 1);
    assert_eq!(loads, [400; 6]);
    folder.write("old", &printed);
    let resumed = "--previous old --migration-weight=5 --seed=3 -o old --json report --quiet";
    assert_eq!(folder.expect(few(4), &format!("{options} {resumed}")), "");
    let report = folder.report("report");
    assert!(report["migration"]["weight"].as_u64().unwrap() < 100, "{report}");
    assert_eq!(report["loads"]["overload"], 0);
}

#[test]
fn fixed_vertices_are_where_they_must_be() {
    let folder = Folder::new();
    // Every ninth vertex, and all of the last row, which one PE has more of than it may.
    let place = |v: i64| match v {
        1170.. => 7,
        v if v % 9 == 0 => v % 5,
        _ => -1,
    };
    let places: Vec<i64> = (0..1200).map(place).collect();
    folder.write("fixed", places.iter().map(|place| format!("{place}\n")).collect::<String>());
    let number = places.iter().filter(|place| **place >= 0).count();
    for divided in [MACHINE, "--blocks=8"] {
        let mut first: Option<String> = None;
        for ranks in [1, 3].map(few) {
            let given = "--generate=40x30 --coarsest=200 --fixed fixed -o result --json report";
            let printed = folder.expect(ranks, &format!("{given} {divided}"));
            assert!(printed.contains(&format!("{number} of 1200 vertices are fixed")), "{printed}");
            let text = folder.read("result");
            let blocks: Vec<i64> = text.lines().map(|line| line.parse().unwrap()).collect();
            assert!(places.iter().zip(&blocks).all(|(&place, &block)| place < 0 || place == block));
            let report = folder.report("report");
            let found = (&report["fixed"]["number"], &report["loads"]["overload"]);
            assert_eq!(found, (&number.into(), &0.into()));
            assert_eq!(*first.get_or_insert(text.clone()), text, "{ranks} ranks");
        }
    }
    // More than a block may weigh: all of them are there, and the program warns.
    folder.write("fixed", "1\n".repeat(20) + &"-1\n".repeat(10));
    let Said { code, out, err } = folder.run(few(3), "--generate=6x5 --blocks=3 --fixed fixed -o -");
    assert!(code == Some(0) && out.lines().take(20).all(|block| block == "1"), "{out}");
    assert!(err.contains("fixed to block 1 weigh 20, more than its bound of 10"), "{err}");
}

#[test]
fn there_may_be_more_ranks_than_vertices() {
    let folder = Folder::new();
    folder.write("empty.graph", "0 0\n");
    let refused = folder.run(4, "empty.graph --blocks=2 -o -");
    assert!(refused.err.contains("cannot partition 0 vertices into 2 blocks"), "{}", refused.err);
    folder.write("pair.graph", "% two vertices\n2 1\n2\n1\n");
    for options in ["--blocks=2 --imbalance=0", MACHINE] {
        let printed = folder.expect(8, &format!("pair.graph -o - {options}"));
        assert_eq!(printed.lines().count(), 2);
    }
}

#[test]
fn failures_end_all_ranks_with_one_message_and_no_file() {
    let folder = Folder::new();
    let grid = generate::grid(30, 30);
    folder.write_graph("grid.graph", &grid, GraphFormat::Metis);
    folder.write_graph("grid.bin", &grid, GraphFormat::Parhip);
    let whole = folder.read("grid.graph");
    folder.write("cut.graph", &whole[..whole.len() - 100]);
    let bytes = std::fs::read(folder.path("grid.bin")).unwrap();
    folder.write("cut.bin", &bytes[..bytes.len() - 100]);
    let mut bad = whole.clone();
    bad.insert(whole.len() - 3, 'x');
    folder.write("bad.graph", bad);
    folder.write("fixed", "0 1\n5 2\n");
    let before = folder.names();
    for (options, code, expected) in [
        ("cut.graph --blocks=2 -o result", 65, "cut.graph, line "),
        ("cut.bin --blocks=2 -o result", 65, "the file ends here"),
        ("bad.graph --blocks=2 -o result", 65, "bad.graph, line 901"),
        ("/no/such/graph --blocks=2 -o result", 66, "/no/such/graph"),
        ("grid.graph -o result", 2, "give --blocks or --machine"),
        ("grid.graph --blocks=0 -o result", 2, "0"),
        ("grid.graph --machine=mesh:8y8 -o result", 2, "8y8"),
        ("grid.graph --blocks=2 -o result --fixed fixed", 65, "there is no part 2; they are 0 to 1"),
        ("grid.graph --blocks=2 --output=none/result", 73, "cannot be created"),
        ("grid.graph --blocks=2 --output=/dev/full", 74, "cannot be written"),
    ] {
        let said = folder.run(few(4), options);
        assert_eq!(said.code, Some(code), "{options}\n{}", said.err);
        assert!(said.err.contains(expected), "{options}\n{}", said.err);
        assert!(said.err.matches("viem_mpi: ").count() <= 1, "{}", said.err);
        assert_eq!(folder.names(), before, "{options}");
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
    let folder = Folder::new();
    let count = few(3);
    let mut job = launcher(count)
        .arg(env!("CARGO_BIN_EXE_viem_mpi"))
        .args(["--generate=1500x1000", "--blocks=32", "-o", "result"])
        .current_dir(folder.0.path())
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
    assert!(!folder.path("result").exists());
}

/// Runs this test alone on this many ranks, unless this is one of them.
fn is_on_ranks(test: &str, ranks: usize) -> bool {
    const MARK: &str = "VIEM_TEST_ON_RANKS";
    if std::env::var_os(MARK).is_some() {
        return true;
    }
    let mut command = launcher(ranks);
    command.env(MARK, "1").arg(std::env::current_exe().unwrap()).args(["--exact", test, "--nocapture"]);
    let said = Said::by(&mut command);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
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
    assert!(parts.report.loads.of_blocks.iter().all(|&load| load <= 309));
    let machine = Hierarchy::parse("2:2", "1:10").unwrap();
    let mapped = viem_dist_map(&world, rows.clone(), &machine, None, &config).unwrap();
    assert!(mapped.report.cost.is_some() && mapped.report.loads.overload == 0);
    let mut old = mapped.blocks.clone();
    old.iter_mut().step_by(20).for_each(|home| *home = PreviousAssignment::NONE);
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
