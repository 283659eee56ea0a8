//! Workloads of regular and random patterns, for experiments and benchmarks.
//!
//! In all patterns but the tree, each task computes in every round, sends a message to each partner of the
//! round, and receives one from each task that has it as a partner. It computes for [`Size::cycles`] cycles
//! per flit that it sends or receives.

use super::{MOST_INSTRUCTIONS, MOST_WORK, TaskId, Workload, WorkloadBuilder, WorkloadError, WorkloadFault};
use viem::base::error::{ErrorKind, HasKind};
use viem::base::rng::Rng;
use viem::base::settings::named;

named! {
    /// Who exchanges messages with whom.
    pub enum Pattern: "pattern" {
        /// Each task with the next one, the last with the first.
        Ring = "ring",
        /// Each task with its neighbours in a grid of any number of dimensions; the first dimension varies
        /// fastest.
        Mesh = "mesh",
        /// In round k with the task whose number differs in bit k, as in a fast Fourier transform.
        Butterfly = "butterfly",
        /// From the leaves of a binary tree to its root: a reduction.
        Tree = "tree",
        /// Task (x, y) of a square with task (y, x).
        Transpose = "transpose",
        /// Random partners, about seven per task.
        Random = "random",
    }
}

/// How much a generated workload does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Size {
    /// Rounds, at least 1.
    pub rounds: u64,
    /// Length of a message; for random workloads, the mean length.
    pub flits: u64,
    /// Cycles of computation per flit sent or received.
    pub cycles: u64,
}

impl Size {
    /// The number of rounds, the flits per message, and the cycles per flit.
    pub const fn new(rounds: u64, flits: u64, cycles: u64) -> Self {
        Self { rounds, flits, cycles }
    }
}

impl Default for Size {
    /// The heaviest communication that Perego and De Petris try: one flit every eight cycles.
    fn default() -> Self {
        Self { rounds: 4, flits: 64, cycles: 8 }
    }
}

/// The reason why there is no workload of a pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum GenerateError {
    #[error("a workload of pattern {pattern} needs {needed}, but {} is given", lengths_of(lengths))]
    Size { pattern: Pattern, needed: &'static str, lengths: Vec<u32> },
    #[error("a workload of {tasks} tasks is too large; at most 2^20 tasks can be generated")]
    TooLarge { tasks: u64 },
    #[error("{}", excess(&.0.fault))]
    Workload(#[from] WorkloadError),
}

impl HasKind for GenerateError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Size { .. } | Self::TooLarge { .. } | Self::Workload(_) => ErrorKind::Usage,
        }
    }
}

/// What is too much, and what to reduce.
fn excess(fault: &WorkloadFault) -> String {
    match fault {
        WorkloadFault::TooLong => format!(
            "the workload has more than {MOST_INSTRUCTIONS} instructions with repetitions unrolled; generate fewer tasks or rounds"
        ),
        WorkloadFault::TooMuchWork => format!(
            "the total cycles or the total flits of the workload exceed {MOST_WORK}; generate fewer tasks or rounds, shorter \
             messages, or fewer cycles for each flit"
        ),
        fault => fault.to_string(),
    }
}

fn lengths_of(lengths: &[u32]) -> String {
    let lengths: Vec<String> = lengths.iter().map(u32::to_string).collect();
    lengths.join("x")
}

/// Upper limit on the tasks of a generated workload.
const MOST_TASKS: u64 = 1 << 20;

/// Mean number of partners of a task in a random workload.
const RANDOM_PARTNERS: u32 = 7;

/// A workload of a pattern. `lengths` are the side lengths of a mesh; other patterns take only the number of
/// tasks. The seed is used only by random workloads.
///
/// ```
/// use viem_workload::generate::{Pattern, Size, workload};
///
/// let ring = workload(Pattern::Ring, &[16], Size::default(), 0)?;
/// assert_eq!(ring.graph().num_edges(), 16);
/// # Ok::<(), viem_workload::generate::GenerateError>(())
/// ```
pub fn workload(pattern: Pattern, lengths: &[u32], size: Size, seed: u64) -> Result<Workload, GenerateError> {
    let tasks = lengths.iter().fold(1u64, |tasks, &length| tasks.saturating_mul(length.into()));
    if tasks > MOST_TASKS {
        return Err(GenerateError::TooLarge { tasks });
    }
    let n = tasks as TaskId;
    let is_one = lengths.len() == 1 && n > 0;
    let side = n.isqrt();
    let (is_fitting, needed) = match pattern {
        Pattern::Ring => (is_one && n > 2, "a number of tasks from 3"),
        Pattern::Mesh => (n > 0 && !lengths.is_empty(), "lengths from 1, such as 8x8"),
        Pattern::Butterfly => (is_one && n.is_power_of_two(), "a power of two"),
        Pattern::Tree => (is_one, "a number of tasks from 1"),
        Pattern::Transpose => (is_one && side * side == n, "a square number"),
        Pattern::Random => (is_one && n > 1, "a number of tasks from 2"),
    };
    if !is_fitting {
        return Err(GenerateError::Size { pattern, needed, lengths: lengths.to_vec() });
    }
    let workload = match pattern {
        Pattern::Ring => rounds(n, size, &[Box::new(move |task| vec![(task + n - 1) % n, (task + 1) % n])]),
        Pattern::Mesh => rounds(n, size, &[neighbours_in_mesh(lengths)]),
        Pattern::Butterfly => {
            let stages: Vec<Partners> = (0..n.ilog2())
                .map(|bit| Box::new(move |task: TaskId| vec![task ^ (1 << bit)]) as Partners)
                .collect();
            rounds(n, Size { rounds: 1, ..size }, &stages)
        }
        Pattern::Tree => tree(n, size),
        Pattern::Transpose => {
            let other = move |task: TaskId| task % side * side + task / side;
            rounds(
                n,
                size,
                &[Box::new(move |task| Some(other(task)).filter(|&to| to != task).into_iter().collect())],
            )
        }
        Pattern::Random => random(n, size, seed),
    };
    Ok(workload?)
}

/// The partners of a task.
type Partners = Box<dyn Fn(TaskId) -> Vec<TaskId>>;

fn neighbours_in_mesh(lengths: &[u32]) -> Partners {
    let lengths = lengths.to_vec();
    Box::new(move |task| {
        let (mut stride, mut partners) = (1, Vec::new());
        for &length in &lengths {
            let coordinate = task / stride % length;
            partners.extend((coordinate > 0).then(|| task - stride));
            partners.extend((coordinate + 1 < length).then(|| task + stride));
            stride *= length;
        }
        partners
    })
}

/// Rounds in which each stage occurs once. Partners are mutual.
fn rounds(n: TaskId, size: Size, stages: &[Partners]) -> Result<Workload, WorkloadError> {
    let mut builder = WorkloadBuilder::new(n as usize);
    for task in 0..n {
        if size.rounds > 1 {
            builder.repeat(task, size.rounds);
        }
        for partners in stages {
            let partners = partners(task);
            builder.compute(task, size.cycles * size.flits * 2 * partners.len() as u64);
            partners.iter().for_each(|&partner| builder.send(task, partner, size.flits));
            partners.iter().for_each(|&partner| builder.receive(task, partner, size.flits));
        }
        if stages.is_empty() {
            builder.compute(task, size.cycles * size.flits);
        }
        if size.rounds > 1 {
            builder.end(task);
        }
    }
    builder.build()
}

/// A reduction: task i combines the results of tasks 2 i + 1 and 2 i + 2 with its own and sends them to task
/// (i - 1) / 2.
fn tree(n: TaskId, size: Size) -> Result<Workload, WorkloadError> {
    let mut builder = WorkloadBuilder::new(n as usize);
    for task in 0..n {
        let children = [2 * task + 1, 2 * task + 2].into_iter().filter(|&child| child < n);
        builder.repeat(task, size.rounds.max(1));
        builder.compute(task, size.cycles * size.flits * 2);
        children.for_each(|child| builder.receive(task, child, size.flits));
        if task > 0 {
            builder.compute(task, size.cycles * size.flits);
            builder.send(task, (task - 1) / 2, size.flits);
        }
        builder.end(task);
    }
    builder.build()
}

/// Each task has random partners. In each round it computes for a random time and sends them messages of
/// random lengths. No two rounds are equal, so all are written out.
fn random(n: TaskId, size: Size, seed: u64) -> Result<Workload, WorkloadError> {
    let mut rng = Rng::new(seed);
    // Half of the partners, alternately rounded down and up, are chosen by the task; the others have chosen
    // it.
    let chosen = |task: TaskId| ((RANDOM_PARTNERS + task % 2) / 2).min(n - 1);
    let mut partners: Vec<Vec<TaskId>> = vec![Vec::new(); n as usize];
    for task in 0..n {
        for _ in 0..chosen(task) {
            let other = rng.below(n);
            if other != task && !partners[task as usize].contains(&other) {
                partners[task as usize].push(other);
                partners[other as usize].push(task);
            }
        }
    }
    // Checked before the instructions are made.
    let in_round: usize = partners.iter().map(|partners| 1 + 2 * partners.len()).sum();
    if size.rounds.saturating_mul(in_round as u64) > MOST_INSTRUCTIONS {
        return Err(WorkloadError { task: 0, index: 0, fault: WorkloadFault::TooLong });
    }
    let mut builder = WorkloadBuilder::new(n as usize);
    for _ in 0..size.rounds.max(1) {
        // In the order of tasks, so that the length of a message is drawn once, by its sender.
        let about = |mean: u64, rng: &mut Rng| mean / 2 + 1 + rng.below(mean.clamp(1, 1 << 31) as u32) as u64;
        let mut lengths: Vec<(TaskId, TaskId, u64)> = Vec::new();
        for task in 0..n {
            for &to in &partners[task as usize] {
                lengths.push((task, to, about(size.flits, &mut rng)));
            }
        }
        let mut received = vec![0; n as usize];
        lengths.iter().for_each(|&(_, to, flits)| received[to as usize] += flits);
        for task in 0..n {
            let own = lengths.partition_point(|&(from, ..)| from < task)
                ..lengths.partition_point(|&(from, ..)| from <= task);
            let sent: u64 = lengths[own.clone()].iter().map(|&(_, _, flits)| flits).sum();
            builder.compute(task, about(size.cycles * (sent + received[task as usize]), &mut rng));
            lengths[own].iter().for_each(|&(_, to, flits)| builder.send(task, to, flits));
        }
        for &(from, to, flits) in &lengths {
            builder.receive(to, from, flits);
        }
    }
    builder.build()
}

/// The congested workloads on which mappings are compared. In their phases, messages must share links with
/// any mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Congestion {
    /// Every task exchanges with its mirror image in a square. In the rounds in between, it exchanges
    /// alternately with the next in its row and in its column.
    Transpose,
    /// All tasks send to a few.
    HotSpots,
    /// Each round is another random permutation.
    Permutations,
    /// Rounds of neighbours, of a transposition and of a random permutation in turn.
    Changing,
}

impl Congestion {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Transpose, Self::HotSpots, Self::Permutations, Self::Changing];
}

/// A congested workload of `side` times `side` tasks with little computation: most of its time is
/// communication. Panics if it exceeds the limits of a workload.
pub fn congested(kind: Congestion, side: TaskId, size: Size, seed: u64) -> Workload {
    let n = side * side;
    let mut rng = Rng::new(seed);
    let mut permutation = || {
        let mut order: Vec<TaskId> = (0..n).collect();
        rng.shuffle(&mut order);
        order
    };
    let transpose: Vec<TaskId> = (0..n).map(|task| task % side * side + task / side).collect();
    let shift: Vec<TaskId> = (0..n).map(|task| (task + 1) % n).collect();
    let rounds: Vec<Vec<TaskId>> = match kind {
        Congestion::Transpose => {
            let below: Vec<TaskId> = (0..n).map(|task| (task + side) % n).collect();
            let turns = [transpose, shift, below];
            (0..size.rounds as usize).map(|round| turns[[0, 1, 0, 2][round % 4]].clone()).collect()
        }
        Congestion::HotSpots => {
            let spots = permutation();
            let spots = &spots[..(side as usize).div_ceil(2)];
            vec![(0..n).map(|task| spots[task as usize % spots.len()]).collect(); size.rounds as usize]
        }
        Congestion::Permutations => (0..size.rounds).map(|_| permutation()).collect(),
        Congestion::Changing => (0..size.rounds)
            .map(|round| [shift.clone(), transpose.clone(), permutation()][round as usize % 3].clone())
            .collect(),
    };
    let mut builder = WorkloadBuilder::new(n as usize);
    for targets in &rounds {
        for task in 0..n {
            let to = targets[task as usize];
            builder.compute(task, size.cycles * size.flits);
            if to != task {
                builder.send(task, to, size.flits);
            }
        }
        for task in 0..n {
            let to = targets[task as usize];
            if to != task {
                builder.receive(to, task, size.flits);
            }
        }
    }
    builder.build().expect("all is sent before anything is received")
}

/// The same workload with its tasks numbered at random, so that the numbers say nothing about the pattern.
pub fn shuffled(workload: &Workload, seed: u64) -> Workload {
    let mut order: Vec<TaskId> = (0..workload.num_tasks() as TaskId).collect();
    Rng::new(seed).shuffle(&mut order);
    workload.renumbered(&order)
}

#[cfg(test)]
mod tests {
    use super::super::Instruction;
    use super::*;

    #[test]
    fn patterns_have_the_edges_they_are_named_for() {
        let edges = |pattern, lengths: &[u32]| {
            workload(pattern, lengths, Size::default(), 1).unwrap().graph().num_edges()
        };
        assert_eq!(edges(Pattern::Ring, &[7]), 7);
        assert_eq!(edges(Pattern::Mesh, &[4, 3, 2]), 3 * 3 * 2 + 4 * 2 * 2 + 4 * 3);
        assert_eq!(edges(Pattern::Butterfly, &[16]), 32);
        assert_eq!(edges(Pattern::Tree, &[15]), 14);
        assert_eq!(edges(Pattern::Transpose, &[25]), 10);
        let random = workload(Pattern::Random, &[200], Size::default(), 1).unwrap();
        assert!((1200..1500).contains(&(2 * random.graph().num_edges())));
        assert!(workload(Pattern::Butterfly, &[12], Size::default(), 1).is_err());
        assert!(workload(Pattern::Mesh, &[1 << 16, 1 << 16], Size::default(), 1).is_err());
    }

    #[test]
    fn excess_is_reported() {
        for (pattern, tasks) in [(Pattern::Ring, 64), (Pattern::Tree, 256), (Pattern::Random, 64)] {
            let refused = |size| workload(pattern, &[tasks], size, 1).unwrap_err().to_string();
            let long = refused(Size { rounds: 1 << 20, ..Size::default() });
            assert!(long.ends_with("generate fewer tasks or rounds"), "{long}");
            let much = refused(Size { rounds: 2000, flits: 1 << 20, cycles: 1 << 20 });
            assert!(much.contains("shorter messages"), "{much}");
        }
    }

    #[test]
    fn a_shuffled_workload_is_the_same_with_other_numbers() {
        let workload = workload(Pattern::Mesh, &[3, 4], Size::default(), 0).unwrap();
        let shuffled = shuffled(&workload, 5);
        assert_ne!(workload, shuffled);
        assert_eq!(workload.num_instructions(), shuffled.num_instructions());
        assert_eq!(workload.num_flits(), shuffled.num_flits());
        let repeats = |workload: &Workload| {
            let repeat = |instruction: &&Instruction| matches!(instruction, Instruction::Repeat { .. });
            workload.instructions(0).iter().filter(repeat).count()
        };
        assert_eq!(repeats(&workload), repeats(&shuffled));
    }
}
