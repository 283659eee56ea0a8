//! The recorder `bindings/mpi/trace/viem_trace.c` under every installed MPI: the recorded traffic is the traffic that was
//! sent.
//!
//! Without an MPI these tests print to stderr that they were skipped, and succeed. If VIEM_REQUIRE_MPI is
//! set, as in CI, they fail unless all MPIs known to the tests are installed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::common::{Mpi, is_required, program, skipped, stdout_of};
use viem::machine::Grid;
use viem_io::Source;
use viem_io::metis::{self, NodeWeights};
use viem_traffic::{Act, Recording};
use viem_workload::routing::Routing;
use viem_workload::simulate::{SimulationConfig, simulate};
use viem_workload::{recorded, text};

/// Messages and bytes, by class, sender and receiver.
type Counts = BTreeMap<(String, u64, u64), (u64, u64)>;

fn recorder(mpi: &Mpi) -> PathBuf {
    let options = ["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"];
    mpi.compile("mpicc", &options, "bindings/mpi/trace/viem_trace.c")
}

/// Runs a program under the recorder; returns the folder with its files, and its stderr.
fn record_with_stderr(
    mpi: &Mpi,
    num_ranks: usize,
    recorder: &Path,
    command: &[&str],
    variables: &[&str],
) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let mut launcher = mpi.oversubscribed_launcher();
    let preload = format!("LD_PRELOAD={}", recorder.display());
    launcher.current_dir(folder.path()).args(["-n", &num_ranks.to_string(), "env", &preload]);
    let output = launcher.args(variables).args(command).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    (folder, errors)
}

fn record(
    mpi: &Mpi,
    num_ranks: usize,
    recorder: &Path,
    command: &[&str],
    variables: &[&str],
) -> tempfile::TempDir {
    record_with_stderr(mpi, num_ranks, recorder, command, variables).0
}

/// Reads the files with code independent of the reader.
fn counts(folder: &Path) -> Counts {
    let mut counts = Counts::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
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
    for mpi in Mpi::all() {
        let (recorder, traffic) = (recorder(&mpi), mpi.compile("mpicc", &["-w"], "tests/mpi/traffic.c"));
        let folder = record(&mpi, 4, &recorder, &[traffic.to_str().unwrap(), "p2p"], &[]);
        // Isend, Issend, Ibsend, Bsend, Sendrecv, Sendrecv_replace, Send, Ssend, and persistent requests.
        let messages = 8 + 5 + 3 + 3;
        let bytes = 1 + 2 + 4 + 8 + 16 + 32 + 64 + 128 + 5 * 1000 + 3 * 1000 + 3 * 10;
        let found = counts(folder.path());
        assert_eq!(found.len(), 8, "{found:?}");
        for rank in 0..4 {
            let to_next = found[&("p2p".to_string(), rank, (rank + 1) % 4)];
            // With MPI 4 there is another one, of 256 bytes, through a function with large counts.
            assert!([(messages, bytes), (messages + 1, bytes + 256)].contains(&to_next), "{to_next:?}");
            assert_eq!(found[&("p2p".to_string(), rank, rank)], (1, 3));
        }
    }
}

#[test]
fn neighbourhood_collectives_go_to_the_targets_of_the_topology() {
    for mpi in Mpi::all() {
        let (recorder, traffic) = (recorder(&mpi), mpi.compile("mpicc", &["-w"], "tests/mpi/traffic.c"));
        for num_ranks in [4, 5] {
            let folder = record(&mpi, num_ranks, &recorder, &[traffic.to_str().unwrap(), "neighbour"], &[]);
            assert_eq!(counts(folder.path()), neighbours(num_ranks as u64), "{}", mpi.kind);
        }
    }
}

#[test]
fn collectives_are_counted_as_textbook_algorithms_or_not_at_all() {
    for mpi in Mpi::all() {
        let (recorder, traffic) = (recorder(&mpi), mpi.compile("mpicc", &["-w"], "tests/mpi/traffic.c"));
        let command = [traffic.to_str().unwrap(), "collective"];
        for num_ranks in [1, 2, 4, 5, 7] {
            let folder = record(&mpi, num_ranks, &recorder, &command, &[]);
            let (found, expected) = (counts(folder.path()), collectives(num_ranks as u64));
            assert_eq!(found, expected, "{num_ranks} ranks, {}", mpi.kind);
        }
        let folder = record(&mpi, 4, &recorder, &command, &["VIEM_TRACE_COLLECTIVES=0"]);
        assert_eq!(counts(folder.path()), Counts::new());
    }
}

#[test]
fn ranks_are_those_of_the_world_whatever_the_communicator() {
    for mpi in Mpi::all() {
        let (recorder, traffic) = (recorder(&mpi), mpi.compile("mpicc", &["-w"], "tests/mpi/traffic.c"));
        let variables = ["VIEM_TRACE=named"];
        let folder = record(&mpi, 4, &recorder, &[traffic.to_str().unwrap(), "split"], &variables);
        let mut expected = Expected::default();
        (0..4).for_each(|rank| expected.send("p2p", rank, 3, 1, 50));
        expected.send("p2p", 0, 1, 1, 60);
        assert_eq!(counts(folder.path()), expected.0);
        let text = std::fs::read_to_string(folder.path().join("named.2")).unwrap();
        assert_eq!(text, "viem_trace 1\nrank 2 of 4\np2p 3 1 50\nuncounted 1\nend 2\n");
    }
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
        let (recorder, traffic) = (recorder(&mpi), mpi.compile("mpifort", &["-w"], "tests/mpi/traffic.f90"));
        let folder = record(&mpi, 2, &recorder, &[traffic.to_str().unwrap()], &[]);
        let mut expected = Expected::default();
        for (from, to) in [(0, 1), (1, 0)] {
            expected.send("p2p", from, to, 1, 100);
            expected.one(from, to, 4);
        }
        assert_eq!(counts(folder.path()), expected.0);
    }
    assert!(recorded >= 2 || !is_required(), "mpifort of Open MPI and of MPICH must be installed");
}

#[test]
fn the_files_become_a_communication_graph() {
    for mpi in Mpi::all() {
        let (recorder, traffic) = (recorder(&mpi), mpi.compile("mpicc", &["-w"], "tests/mpi/traffic.c"));
        let folder = record(&mpi, 5, &recorder, &[traffic.to_str().unwrap(), "collective"], &[]);
        let mut command = program("generate_model", folder.path());
        command.args((0..5).map(|rank| format!("viem_trace.{rank}"))).args([
            "--weight=msgs",
            "-o",
            "job.graph",
        ]);
        assert!(stdout_of(&mut command).contains("files of kind trace: 5"));
        let source = Source::open(&folder.path().join("job.graph")).unwrap();
        let graph = metis::read(source, NodeWeights::Ignore).unwrap();
        let mut expected = BTreeMap::new();
        for ((_, from, to), (messages, _)) in collectives(5) {
            *expected.entry((from.min(to), from.max(to))).or_insert(0) += messages;
        }
        let found = graph.nodes().flat_map(|u| graph.arcs(u).map(move |(v, weight)| ((u, v), weight)));
        let found = found.filter(|&((u, v), _)| u < v);
        let found = found.map(|((u, v), weight)| ((u64::from(u), u64::from(v)), weight as u64));
        assert_eq!(found.collect::<BTreeMap<_, _>>(), expected);
    }
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
fn check_order(mpi: &Mpi, command: [&str; 2], num_ranks: usize, is_answered: bool) {
    let folder = record(mpi, num_ranks, &recorder(mpi), &command, &["VIEM_TRACE_ORDER=1"]);
    let mut recording = Recording::default();
    let files: Vec<PathBuf> =
        (0..num_ranks).map(|rank| folder.path().join(format!("viem_trace.order.{rank}"))).collect();
    for file in &files {
        recording.read(Source::open(file).unwrap()).unwrap();
    }
    let made = recorded::workload(&recording, 1).unwrap();
    let mut generator = program("generate_model", folder.path());
    generator.args(&files).args(["--flit_bytes=1", "-o", "job.workload"]);
    assert!(stdout_of(&mut generator).contains(&format!("workload has {num_ranks} tasks")));
    let written = text::read(Source::open(&folder.path().join("job.workload")).unwrap()).unwrap();
    assert_eq!(written, made.workload);
    files.iter().for_each(|file| std::fs::remove_file(file).unwrap());
    std::fs::remove_file(folder.path().join("job.workload")).unwrap();

    let what = format!("{}, {}", command[1], mpi.kind);
    let counted = pairs(&counts(folder.path()));
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
    for mpi in Mpi::all() {
        let (traffic, seldom) = (mpi.compile("mpicc", &["-w"], "tests/mpi/traffic.c"), seldom(&mpi));
        let (traffic, seldom) = (traffic.to_str().unwrap(), seldom.to_str().unwrap());
        // Synchronous sends are answered.
        check_order(&mpi, [traffic, "p2p"], 4, true);
        for (part, num_ranks) in
            [("neighbour", 5), ("collective", 5), ("collective", 8), ("split", 4), ("completion", 5)]
        {
            check_order(&mpi, [traffic, part], num_ranks, false);
        }
        check_order(&mpi, [seldom, "new"], 4, false);
    }
}

/// Rare calls of programs. Usage: seldom ignored|outside|null|new|session|spawn|file
const SELDOM: &str = r#"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char sent[64], received[64];
static int rank, size;

/* To the next rank of the world. */
static void pass(int count)
{
    MPI_Sendrecv(sent, count, MPI_BYTE, (rank + 1) % size, 0, received, count, MPI_BYTE, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* No type where MPI does not look at it: between even and odd ranks, with rank 0 as the root, and in the world. */
static void ignored(void)
{
    MPI_Datatype none = MPI_DATATYPE_NULL, byte = MPI_BYTE;
    MPI_Comm world = MPI_COMM_WORLD, half, both;
    MPI_Comm_split(world, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, world, 1 - rank % 2, 9, &both);
    if (rank % 2 == 1) {
        MPI_Gather(sent, 1, byte, NULL, 0, none, 0, both);
        MPI_Scatter(NULL, 0, none, received, 1, byte, 0, both);
    } else if (rank == 0) {
        MPI_Gather(NULL, 0, none, received, 1, byte, MPI_ROOT, both);
        MPI_Scatter(sent, 1, byte, NULL, 0, none, MPI_ROOT, both);
    } else {
        MPI_Gather(NULL, 7, none, NULL, 7, none, MPI_PROC_NULL, both);
        MPI_Scatter(NULL, 7, none, NULL, 7, none, MPI_PROC_NULL, both);
    }
    if (rank == 0) {
        MPI_Gather(MPI_IN_PLACE, 7, none, received, 1, byte, 0, world);
        MPI_Scatter(sent, 1, byte, MPI_IN_PLACE, 7, none, 0, world);
    } else {
        MPI_Gather(sent, 1, byte, NULL, 7, none, 0, world);
        MPI_Scatter(NULL, 7, none, received, 1, byte, 0, world);
    }
    MPI_Allgather(MPI_IN_PLACE, 7, none, received, 1, byte, world);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

/* Ranks that are none, in a program that goes on after errors. */
static void outside(void)
{
    MPI_Comm world = MPI_COMM_WORLD;
    int ranks[] = {50000000, size, -77};
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    for (int i = 0; i < 3; i++) {
        if (MPI_Send(sent, 1, MPI_BYTE, ranks[i], 0, world) == MPI_SUCCESS) MPI_Abort(world, 3);
        if (MPI_Bcast(sent, 1, MPI_BYTE, ranks[i], world) == MPI_SUCCESS) MPI_Abort(world, 4);
    }
    pass(5);
}

/* A communicator that is none, in a program that goes on after errors. */
static void null(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (MPI_Send(sent, 1, MPI_BYTE, 0, 0, MPI_COMM_NULL) == MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 3);
    if (MPI_Bcast(sent, 1, MPI_BYTE, 0, MPI_COMM_NULL) == MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 4);
    pass(5);
}

#if MPI_VERSION >= 4 || defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
#define HAS_CALLS_OF_MPI_4
#endif

/* Calls that came with MPI 4, or what amounts to the same. */
static void new(void)
{
    MPI_Comm world = MPI_COMM_WORLD;
#ifdef HAS_CALLS_OF_MPI_4
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Request request;
    MPI_Isendrecv(sent, 7, MPI_BYTE, next, 0, received, 7, MPI_BYTE, before, 0, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Bcast_init(sent, 9, MPI_BYTE, 0, world, MPI_INFO_NULL, &request);
    for (int i = 0; i < 2; i++) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    MPI_Request both[2];
    MPI_Psend_init(sent, 2, 5, MPI_BYTE, next, 0, world, MPI_INFO_NULL, &both[0]);
    MPI_Precv_init(received, 2, 5, MPI_BYTE, before, 0, world, MPI_INFO_NULL, &both[1]);
    MPI_Startall(2, both);
    MPI_Pready_range(0, 1, both[0]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
#else
    pass(7);
    MPI_Bcast(sent, 9, MPI_BYTE, 0, world);
    MPI_Bcast(sent, 9, MPI_BYTE, 0, world);
    pass(10);
#endif
}

/* A program without MPI_Init. */
static void session(void)
{
#ifdef HAS_CALLS_OF_MPI_4
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "viem", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Sendrecv(sent, 5, MPI_BYTE, (rank + 1) % size, 0, received, 5, MPI_BYTE, (rank + size - 1) % size, 0, comm,
                 MPI_STATUS_IGNORE);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    if (rank == 0) printf("exchanged\n");
#endif
}

/* Two parents start two children that send other sizes. Open MPI does not hand LD_PRELOAD on; `env` does. */
static void spawn(char *program)
{
    MPI_Comm parent, both;
    char preload[4096];
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", getenv("LD_PRELOAD"));
    MPI_Comm_get_parent(&parent);
    pass(parent == MPI_COMM_NULL ? 5 : 6);
    if (parent == MPI_COMM_NULL) {
        char *arguments[] = {preload, program, "spawn", NULL};
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        int error = MPI_Comm_spawn("env", arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &both, MPI_ERRCODES_IGNORE);
        if (error != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
        MPI_Comm_disconnect(&both);
    } else {
        MPI_Comm_disconnect(&parent);
    }
}

/* Ranks write in turns, so that the MPI moves data between them before it writes. */
static void file(void)
{
    MPI_File file;
    MPI_Datatype turns;
    int mode = MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE;
    MPI_File_open(MPI_COMM_WORLD, "out.bin", mode, MPI_INFO_NULL, &file);
    MPI_Type_vector(8, 4, 4 * size, MPI_BYTE, &turns);
    MPI_Type_commit(&turns);
    MPI_File_set_view(file, 4 * rank, MPI_BYTE, turns, "native", MPI_INFO_NULL);
    MPI_File_write_all(file, sent, 32, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Type_free(&turns);
}

int main(int argc, char **argv)
{
    if (strcmp(argv[1], "session") == 0) {
        session();
        return 0;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(argv[1], "ignored") == 0) ignored();
    if (strcmp(argv[1], "outside") == 0) outside();
    if (strcmp(argv[1], "null") == 0) null();
    if (strcmp(argv[1], "new") == 0) new();
    if (strcmp(argv[1], "spawn") == 0) spawn(argv[0]);
    if (strcmp(argv[1], "file") == 0) file();
    MPI_Finalize();
    return 0;
}
"#;

fn seldom(mpi: &Mpi) -> PathBuf {
    let source = mpi.folder.path().join("seldom.c");
    std::fs::write(&source, SELDOM).unwrap();
    mpi.compile("mpicc", &["-w"], source.to_str().unwrap())
}

#[test]
fn arguments_that_mpi_ignores_may_be_no_types() {
    for mpi in Mpi::all() {
        let (recorder, seldom) = (recorder(&mpi), seldom(&mpi));
        let folder = record(&mpi, 4, &recorder, &[seldom.to_str().unwrap(), "ignored"], &[]);
        let mut expected = Expected::default();
        for (parent, child, below) in binomial(4) {
            expected.one(child, parent, below); // Gather
            expected.one(parent, child, below); // Scatter
        }
        (0..4).for_each(|rank| expected.send("collective", rank, (rank + 1) % 4, 3, 3)); // Allgather
        assert_eq!(counts(folder.path()), expected.0, "{}", mpi.kind);
        let text = std::fs::read_to_string(folder.path().join("viem_trace.2")).unwrap();
        assert!(text.contains("\nuncounted 2\n"), "{text}");
    }
}

/// Four ranks run a part of `seldom`, under every MPI: each sends one message of this many bytes to the next
/// rank, in addition to `others`.
fn check_seldom(part: &str, bytes: u64, others: impl Fn(&mut Expected)) {
    for mpi in Mpi::all() {
        let (recorder, seldom) = (recorder(&mpi), seldom(&mpi));
        let folder = record(&mpi, 4, &recorder, &[seldom.to_str().unwrap(), part], &[]);
        let mut expected = Expected::default();
        (0..4).for_each(|rank| expected.send("p2p", rank, (rank + 1) % 4, 1, bytes));
        others(&mut expected);
        assert_eq!(counts(folder.path()), expected.0, "{}", mpi.kind);
    }
}

#[test]
fn sends_to_ranks_that_do_not_exist_are_not_counted() {
    check_seldom("outside", 5, |_| ());
}

#[test]
fn programs_that_handle_errors_themselves_may_send_to_nobody() {
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
    for mpi in Mpi::all() {
        let (recorder, seldom) = (recorder(&mpi), seldom(&mpi));
        let (folder, errors) =
            record_with_stderr(&mpi, 2, &recorder, &[seldom.to_str().unwrap(), "session"], &[]);
        assert_eq!(counts(folder.path()), Counts::new(), "{}", mpi.kind);
        let reports = errors.matches("programs without MPI_Init are not recorded").count();
        assert!(
            reports <= 1 && (reports == 1 || !["openmpi5", "mpich"].contains(&mpi.kind)),
            "{}: {errors}",
            mpi.kind
        );
    }
}

/// Debian's MPICH and Intel MPI cannot spawn on one machine, and later MPICHs sometimes fail.
#[test]
fn spawned_processes_leave_the_files_of_their_parents_alone() {
    for mpi in Mpi::all().iter().filter(|mpi| mpi.is_open_mpi()) {
        let (recorder, seldom) = (recorder(mpi), seldom(mpi));
        let command = [seldom.to_str().unwrap(), "spawn"];
        let (folder, errors) = record_with_stderr(mpi, 2, &recorder, &command, &[]);
        let mut expected = Expected::default();
        (0..2).for_each(|rank| expected.send("p2p", rank, 1 - rank, 1, 5));
        assert_eq!(counts(folder.path()), expected.0, "{}", mpi.kind);
        let report = "viem_trace: processes started by MPI_Comm_spawn are not recorded";
        assert_eq!(errors.matches(report).count(), 1, "{errors}");
    }
}

#[test]
fn mpi_io_is_counted_if_it_uses_messages() {
    for mpi in Mpi::all() {
        let (recorder, seldom) = (recorder(&mpi), seldom(&mpi));
        let folder = record(&mpi, 4, &recorder, &[seldom.to_str().unwrap(), "file"], &[]);
        let found = counts(folder.path());
        // Open MPI writes files in another way.
        assert_eq!(found.is_empty(), mpi.is_open_mpi(), "{}: {found:?}", mpi.kind);
    }
}
