//! The recorder `bindings/mpi/trace/viem_trace.c` under every installed MPI: the recorded traffic is the traffic that was
//! sent.
//!
//! Without an MPI these tests print to stderr that they were skipped, and succeed. If VIEM_REQUIRE_MPI is
//! set, as in CI, they fail unless all MPIs known to the tests are installed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::common::{Folder, Mpi, is_required, names, says, skipped};
use viem::machine::Grid;
use viem_io::Source;
use viem_io::metis::{self, NodeWeights};
use viem_traffic::{Act, Recording};
use viem_workload::routing::Routing;
use viem_workload::simulate::{SimulationConfig, simulate};
use viem_workload::{recorded, text};

/// Messages and bytes, by class, sender and receiver.
type Counts = BTreeMap<(String, u64, u64), (u64, u64)>;

/// A program in C of `tests/mpi/`, compiled for an MPI, and the recorder.
struct Program<'a> {
    mpi: &'a Mpi,
    path: PathBuf,
    recorder: PathBuf,
}

impl<'a> Program<'a> {
    fn compiled(mpi: &'a Mpi, name: &str) -> Self {
        let options = ["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"];
        let recorder = mpi.compile("mpicc", &options, "bindings/mpi/trace/viem_trace.c");
        let compiler = if name.ends_with(".f90") { "mpifort" } else { "mpicc" };
        Self { mpi, path: mpi.compile(compiler, &["-w"], &format!("tests/mpi/{name}")), recorder }
    }

    /// Runs a part of the program under the recorder; returns the folder with its files, and its stderr.
    fn record_with_stderr(&self, num_ranks: usize, part: &str, variables: &[&str]) -> (Folder, String) {
        let folder = Folder::new();
        let mut launcher = self.mpi.oversubscribed_launcher();
        let preload = format!("LD_PRELOAD={}", self.recorder.display());
        launcher.current_dir(folder.path()).args(["-n", &num_ranks.to_string(), "env", &preload]);
        let output = launcher.args(variables).arg(&self.path).arg(part).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{errors}");
        (folder, errors)
    }

    fn record(&self, num_ranks: usize, part: &str) -> Folder {
        self.record_with_stderr(num_ranks, part, &[]).0
    }
}

/// Runs a check of a program of `tests/mpi/` under every MPI.
fn under_every_mpi(name: &str, check: impl Fn(&Program<'_>)) {
    Mpi::all().iter().for_each(|mpi| check(&Program::compiled(mpi, name)));
}

/// Reads the files with code independent of the reader.
fn counts(folder: &Folder) -> Counts {
    let mut counts = Counts::new();
    for name in names(folder.path()) {
        let text = folder.read(&name);
        let me = text.lines().nth(1).unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        for line in text.lines().skip(2).filter(|line| line.split(' ').count() == 4) {
            let words: Vec<_> = line.split(' ').collect();
            let numbers: Vec<u64> = words[1..].iter().map(|word| word.parse().unwrap()).collect();
            counts.insert((words[0].to_string(), me, numbers[0]), (numbers[1], numbers[2]));
        }
    }
    counts
}

/// Collects the expected traffic.
#[derive(Default)]
struct Expected(Counts);

impl Expected {
    fn send(&mut self, class: &str, from: u64, to: u64, messages: u64, bytes: u64) {
        let sum = self.0.entry((class.to_string(), from, to)).or_insert((0, 0));
        *sum = (sum.0 + messages, sum.1 + bytes);
    }

    /// One message of a collective.
    fn one(&mut self, from: u64, to: u64, bytes: u64) {
        self.send("collective", from, to, 1, bytes);
    }
}

/// The edges (parent, child, ranks in the subtree of the child) of a binomial tree, by definition through
/// doubling: in the step of distance 2^k, every rank in the tree gets a child at that distance.
fn binomial(p: u64) -> Vec<(u64, u64, u64)> {
    let mut edges = Vec::new();
    let mut distance = p.next_power_of_two() / 2;
    while distance > 0 {
        for parent in (0..p).step_by(2 * distance as usize) {
            let child = parent + distance;
            if child < p {
                edges.push((parent, child, distance.min(p - child)));
            }
        }
        distance /= 2;
    }
    edges
}

/// The traffic of `traffic collective` on p ranks.
fn collectives(p: u64) -> Counts {
    let mut all = Expected::default();
    let root = 1 % p;
    let real = |rank: u64| (rank + root) % p;
    for (parent, child, below) in binomial(p) {
        let (parent, child) = (real(parent), real(child));
        all.one(parent, child, 1000); // Bcast
        all.one(parent, child, 1000); // Ibcast
        all.one(child, parent, 1001); // Reduce
        all.one(child, parent, 105 * below); // Gather
        all.one(parent, child, 106 * below); // Scatter
    }
    let powers = || (0..).map(|k| 1u64 << k).take_while(|&distance| distance < p);
    for rank in 0..p {
        for distance in powers() {
            all.one(rank, (rank + distance) % p, 0); // Barrier
            if rank + distance < p {
                all.one(rank, rank + distance, 1003); // Scan
                all.one(rank, rank + distance, 1004); // Exscan
            }
        }
        let next = (rank + 1) % p;
        if p > 1 {
            all.send("collective", rank, next, 2 * (p - 1), 2 * (p - 1) * 107); // Allgather, twice
            // The large Allreduce: all parts but one until they are reduced, and again until they are gathered.
            let part = |index: u64| 12001 / p + u64::from(index % p < 12001 % p);
            let bytes = 2 * 12001 - part(rank + 1) - part(rank + 2);
            all.send("collective", rank, next, 2 * (p - 1), bytes);
        }
        for other in (0..p).filter(|&other| other != rank) {
            all.one(rank, other, 108); // Alltoall, twice
            all.one(rank, other, 108);
            all.one(rank, other, 109); // Reduce_scatter_block
            if other > 0 {
                all.one(rank, other, other); // Reduce_scatter
                all.one(rank, other, other); // Alltoallv
                all.one(rank, other, other); // Alltoallw
            }
            if other != next && other > 0 {
                all.one(rank, next, other); // Allgatherv: every block but that of the next rank
            }
        }
        if rank > 0 && p > 1 && rank != next {
            all.one(rank, next, rank); // Allgatherv: its own block
        }
        if rank != root && rank > 0 {
            all.one(rank, root, rank); // Gatherv
            all.one(root, rank, rank); // Scatterv
        }
    }
    let power = 1 << p.ilog2();
    let rest = p - power;
    for pair in 0..rest {
        all.one(2 * pair, 2 * pair + 1, 1002); // Allreduce: result, and the part before it
        all.one(2 * pair + 1, 2 * pair, 1002);
    }
    let place = |index: u64| if index < rest { 2 * index } else { index + rest };
    for index in 0..power {
        for bit in powers().filter(|&bit| bit < power) {
            all.one(place(index), place(index ^ bit), 1002);
        }
    }
    all.0
}

/// The traffic of each call of `exchange` in tests/mpi/traffic.c to each target, and the number of calls.
const EXCHANGES: (u64, u64) = (6, 1 + 2 + 4 + 8 + 8 + 8);

fn neighbours(p: u64) -> Counts {
    let mut all = Expected::default();
    let (messages, bytes) = EXCHANGES;
    for rank in 0..p {
        for target in [rank.checked_sub(1), Some(rank + 1).filter(|&next| next < p)].into_iter().flatten() {
            all.send("neighbour", rank, target, messages, bytes);
        }
        for (step, own) in [(1, 10), (2, 20)] {
            all.send("neighbour", rank, (rank + step) % p, messages + 1, bytes + own);
        }
    }
    all.0
}

#[test]
fn point_to_point_messages_are_counted_persistent_ones_too() {
    under_every_mpi("traffic.c", |traffic| {
        let found = counts(&traffic.record(4, "p2p"));
        // Isend, Issend, Ibsend, Bsend, Sendrecv, Sendrecv_replace, Send, Ssend, and persistent requests.
        let messages = 8 + 5 + 3 + 3;
        let bytes = 1 + 2 + 4 + 8 + 16 + 32 + 64 + 128 + 5 * 1000 + 3 * 1000 + 3 * 10;
        assert_eq!(found.len(), 8, "{found:?}");
        for rank in 0..4 {
            let to_next = found[&("p2p".to_string(), rank, (rank + 1) % 4)];
            // With MPI 4 there is another one, of 256 bytes, through a function with large counts.
            assert!([(messages, bytes), (messages + 1, bytes + 256)].contains(&to_next), "{to_next:?}");
            assert_eq!(found[&("p2p".to_string(), rank, rank)], (1, 3));
        }
    });
}

#[test]
fn neighbourhood_collectives_go_to_the_targets_of_the_topology() {
    under_every_mpi("traffic.c", |traffic| {
        for num_ranks in [4, 5] {
            let found = counts(&traffic.record(num_ranks, "neighbour"));
            assert_eq!(found, neighbours(num_ranks as u64), "{}", traffic.mpi.kind);
        }
    });
}

#[test]
fn collectives_are_counted_as_textbook_algorithms_or_not_at_all() {
    under_every_mpi("traffic.c", |traffic| {
        for num_ranks in [1, 2, 4, 5, 7] {
            let found = counts(&traffic.record(num_ranks, "collective"));
            assert_eq!(found, collectives(num_ranks as u64), "{num_ranks} ranks, {}", traffic.mpi.kind);
        }
        let (folder, _) = traffic.record_with_stderr(4, "collective", &["VIEM_TRACE_COLLECTIVES=0"]);
        assert_eq!(counts(&folder), Counts::new());
    });
}

#[test]
fn ranks_are_those_of_the_world_whatever_the_communicator() {
    under_every_mpi("traffic.c", |traffic| {
        let (folder, _) = traffic.record_with_stderr(4, "split", &["VIEM_TRACE=named"]);
        let mut expected = Expected::default();
        (0..4).for_each(|rank| expected.send("p2p", rank, 3, 1, 50));
        expected.send("p2p", 0, 1, 1, 60);
        assert_eq!(counts(&folder), expected.0);
        let text = folder.read("named.2");
        assert_eq!(text, "viem_trace 1\nrank 2 of 4\np2p 3 1 50\nuncounted 1\nend 2\n");
    });
}

#[test]
fn fortran_programs_are_recorded() {
    let mut recorded = 0;
    for mpi in Mpi::all() {
        if mpi.command("mpifort").arg("--version").output().is_err() {
            skipped(&format!("no mpifort of {} is installed", mpi.kind));
            continue;
        }
        recorded += 1;
        let folder = Program::compiled(&mpi, "traffic.f90").record(2, "");
        let mut expected = Expected::default();
        for (from, to) in [(0, 1), (1, 0)] {
            expected.send("p2p", from, to, 1, 100);
            expected.one(from, to, 4);
        }
        assert_eq!(counts(&folder), expected.0);
    }
    assert!(recorded >= 2 || !is_required(), "mpifort of Open MPI and of MPICH must be installed");
}

#[test]
fn the_files_become_a_communication_graph() {
    under_every_mpi("traffic.c", |traffic| {
        let folder = traffic.record(5, "collective");
        let files = "viem_trace.0 viem_trace.1 viem_trace.2 viem_trace.3 viem_trace.4";
        let text = folder.stdout(format!("viem traffic {files} --weight=msgs -o job.graph"));
        says(&text, ["files of kind trace: 5"]);
        let source = Source::open(&folder.file("job.graph")).unwrap();
        let graph = metis::read(source, NodeWeights::Ignore).unwrap();
        let mut expected = BTreeMap::new();
        for ((_, from, to), (messages, _)) in collectives(5) {
            *expected.entry((from.min(to), from.max(to))).or_insert(0) += messages;
        }
        let found = graph.nodes().flat_map(|u| graph.arcs(u).map(move |(v, weight)| ((u, v), weight)));
        let found = found.filter(|&((u, v), _)| u < v);
        let found = found.map(|((u, v), weight)| ((u64::from(u), u64::from(v)), weight as u64));
        assert_eq!(found.collect::<BTreeMap<_, _>>(), expected);
    });
}

/// Messages and bytes by sender and receiver.
type Pairs = BTreeMap<(u64, u64), (u64, u64)>;

/// Counts of all classes together.
fn pairs(counts: &Counts) -> Pairs {
    let mut pairs = Pairs::new();
    for (&(_, from, to), &(messages, bytes)) in counts {
        let sum = pairs.entry((from, to)).or_default();
        *sum = (sum.0 + messages, sum.1 + bytes);
    }
    pairs
}

/// What the ranks send in order, and how many messages are empty.
fn sent_in_order(recording: &Recording) -> (Pairs, u64) {
    let (mut pairs, mut empty) = (Pairs::new(), 0);
    for rank in 0..recording.num_ranks() {
        for step in recording.steps(rank).unwrap() {
            let (Act::Send(bytes) | Act::SynchronousSend(bytes)) = step.act else { continue };
            let sum = pairs.entry((rank, u64::from(step.peer))).or_default();
            *sum = (sum.0 + 1, sum.1 + bytes);
            empty += u64::from(bytes == 0);
        }
    }
    (pairs, empty)
}

/// The workload of what a program does under the recorder has the messages that are counted, and answers if `is_answered`.
fn check_order(program: &Program<'_>, part: &str, num_ranks: usize, is_answered: bool) {
    let (folder, _) = program.record_with_stderr(num_ranks, part, &["VIEM_TRACE_ORDER=1"]);
    let mut recording = Recording::default();
    let files: Vec<String> = (0..num_ranks).map(|rank| format!("viem_trace.order.{rank}")).collect();
    for file in &files {
        recording.read(Source::open(&folder.file(file)).unwrap()).unwrap();
    }
    let made = recorded::workload(&recording, 1).unwrap();
    let line = format!("viem traffic {} --workload --flit-bytes=1 -o job.workload", files.join(" "));
    says(&folder.stdout(line), [format!("workload has {num_ranks} tasks")]);
    let written = text::read(Source::open(&folder.file("job.workload")).unwrap()).unwrap();
    assert_eq!(written, made.workload);
    files.iter().for_each(|file| std::fs::remove_file(folder.file(file)).unwrap());
    std::fs::remove_file(folder.file("job.workload")).unwrap();

    let what = format!("{part}, {}", program.mpi.kind);
    let counted = pairs(&counts(&folder));
    let (sent, empty) = sent_in_order(&recording);
    assert_eq!(sent, counted, "{what}");
    let sum = |is_own: bool| {
        let of = counted.iter().filter(|((from, to), _)| (from == to) == is_own);
        of.fold((0, 0), |sum, (_, &(messages, bytes))| (sum.0 + messages, sum.1 + bytes))
    };
    let (messages, bytes) = sum(false);
    assert_eq!((made.unreceived, made.unsent, made.to_itself), (0, 0, sum(true).0), "{what}");
    let answers = made.answers.unwrap();
    assert_eq!(answers > 0, is_answered, "{what}");
    assert_eq!(made.workload.num_messages(), messages + answers, "{what}");
    assert_eq!(made.workload.num_flits(), bytes + empty + answers, "{what}");

    let routing = Routing::new(&Grid::mesh(&[8]).unwrap()).unwrap();
    let pe_of: Vec<u32> = (0..num_ranks as u32).collect();
    let simulated = simulate(&made.workload, &routing, &pe_of, SimulationConfig::default()).unwrap();
    assert_eq!(simulated.latency.messages, messages + answers, "{what}");
}

#[test]
fn the_order_of_messages_becomes_a_workload_with_all_of_them() {
    under_every_mpi("traffic.c", |traffic| {
        // Synchronous sends are answered.
        check_order(traffic, "p2p", 4, true);
        for (part, num_ranks) in
            [("neighbour", 5), ("collective", 5), ("collective", 8), ("split", 4), ("completion", 5)]
        {
            check_order(traffic, part, num_ranks, false);
        }
    });
    under_every_mpi("seldom.c", |seldom| check_order(seldom, "new", 4, false));
}

#[test]
fn arguments_that_mpi_ignores_may_be_no_types() {
    under_every_mpi("seldom.c", |seldom| {
        let folder = seldom.record(4, "ignored");
        let mut expected = Expected::default();
        for (parent, child, below) in binomial(4) {
            expected.one(child, parent, below); // Gather
            expected.one(parent, child, below); // Scatter
        }
        (0..4).for_each(|rank| expected.send("collective", rank, (rank + 1) % 4, 3, 3)); // Allgather
        assert_eq!(counts(&folder), expected.0, "{}", seldom.mpi.kind);
        says(&folder.read("viem_trace.2"), ["\nuncounted 2\n"]);
    });
}

/// Four ranks run a part of `seldom`, under every MPI: each sends one message of this many bytes to the next
/// rank, in addition to `others`.
fn check_seldom(part: &str, bytes: u64, others: impl Fn(&mut Expected)) {
    under_every_mpi("seldom.c", |seldom| {
        let mut expected = Expected::default();
        (0..4).for_each(|rank| expected.send("p2p", rank, (rank + 1) % 4, 1, bytes));
        others(&mut expected);
        assert_eq!(counts(&seldom.record(4, part)), expected.0, "{part}, {}", seldom.mpi.kind);
    });
}

/// Programs that handle errors themselves may send to ranks that do not exist, and to nobody.
#[test]
fn sends_that_fail_are_not_counted() {
    check_seldom("outside", 5, |_| ());
    check_seldom("null", 5, |_| ());
}

#[test]
fn calls_that_came_with_mpi_4_are_counted() {
    check_seldom("new", 7, |expected| {
        for (parent, child, _) in binomial(4) {
            expected.send("collective", parent, child, 2, 18);
        }
        (0..4).for_each(|rank| expected.send("p2p", rank, (rank + 1) % 4, 1, 10));
    });
}

#[test]
fn programs_without_mpi_init_run_and_leave_no_files() {
    under_every_mpi("seldom.c", |seldom| {
        let (folder, errors) = seldom.record_with_stderr(2, "session", &[]);
        let kind = seldom.mpi.kind;
        assert_eq!(counts(&folder), Counts::new(), "{kind}");
        let reports = errors.matches("programs without MPI_Init are not recorded").count();
        assert!(reports <= 1, "{kind}: {errors}");
        assert!(reports == 1 || !["openmpi5", "mpich"].contains(&kind), "{kind}: {errors}");
    });
}

/// Debian's MPICH and Intel MPI cannot spawn on one machine, and later MPICHs sometimes fail.
#[test]
fn spawned_processes_leave_the_files_of_their_parents_alone() {
    for mpi in Mpi::all().iter().filter(|mpi| mpi.is_open_mpi()) {
        let (folder, errors) = Program::compiled(mpi, "seldom.c").record_with_stderr(2, "spawn", &[]);
        let mut expected = Expected::default();
        (0..2).for_each(|rank| expected.send("p2p", rank, 1 - rank, 1, 5));
        assert_eq!(counts(&folder), expected.0, "{}", mpi.kind);
        let report = "viem_trace: processes started by MPI_Comm_spawn are not recorded";
        assert_eq!(errors.matches(report).count(), 1, "{errors}");
    }
}

#[test]
fn mpi_io_is_counted_if_it_uses_messages() {
    under_every_mpi("seldom.c", |seldom| {
        let found = counts(&seldom.record(4, "file"));
        // Open MPI writes files in another way.
        assert_eq!(found.is_empty(), seldom.mpi.is_open_mpi(), "{}: {found:?}", seldom.mpi.kind);
    });
}
