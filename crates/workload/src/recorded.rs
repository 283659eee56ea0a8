//! Workloads of recorded jobs: what each rank has sent and received, in order.
//!
//! A [`Recording`] has the steps of all ranks, and [`workload`] makes a workload of them, with a task for each rank. A receive is matched with the first send to its rank with the same peer and key that is not matched yet. Tags and communicators
//! are part of keys, so MPI matches them in that way, too.
//!
//! # What a workload cannot say
//!
//! - The next message of a pair is always received first. A receive of a later one therefore receives all before it.
//! - Sends do not wait. A synchronous send whose receive is blocking is therefore answered, as in a rendezvous: the receiver sends a
//!   message of one flit when it is ready, and another one when it has received; the sender waits for the first before it sends, and for
//!   the second before it goes on. Where a rank waits for a send that did not wait, the receiver sends the second one only. If tasks would then wait for each other forever, nothing is answered; a program may rely on buffers
//!   that were larger than assumed.
//! - Our recorder does not record computation; schedules of GOAL have it.
//!
//! O(steps), 40 bytes each.

use hashbrown::HashMap;
use std::collections::VecDeque;

use crate::{TaskId, Workload, WorkloadBuilder, WorkloadError, WorkloadFault};
use viem::base::error::{ErrorKind, HasKind};
use viem_traffic::{Act, Recording, Step};

/// The reason why a recording is no workload. Ranks are numbered from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum RecordingError {
    #[error("nothing is recorded")]
    Empty,
    #[error("of rank {rank} nothing is recorded: give the files of all {count} ranks")]
    MissingRank { rank: u64, count: u64 },
    #[error("rank {rank}, step {step}: there is no rank {peer}; the job has {count}")]
    UnknownPeer { rank: u64, step: usize, peer: TaskId, count: u64 },
    #[error("a flit must have at least one byte")]
    NoBytes,
    #[error("rank {}: {}", .0.task, .0.fault)]
    Workload(#[from] WorkloadError),
}

impl HasKind for RecordingError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::BadData
    }
}

/// The workload of a recording, and what is different in it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedWorkload {
    /// The workload.
    pub workload: Workload,
    /// Messages that no step receives; they are received at the end.
    pub unreceived: u64,
    /// Receives that no step sends a message for, left out.
    pub unsent: u64,
    /// Messages of a rank to itself, left out.
    pub to_itself: u64,
    /// Messages of one flit each by which receives are answered; `None` if tasks would wait for each other forever with them.
    pub answers: Option<u64>,
}

/// The workload of all ranks. A message of b bytes has ⌈b / `bytes_per_flit`⌉ flits, at least one.
///
/// ```
/// use viem_traffic::{Act, Recording, Step};
/// use viem_workload::recorded::workload;
///
/// let (send, receive) = (Step::new(Act::Send(640), 1, 7), Step::new(Act::Receive, 0, 7));
/// let recorded = workload(&Recording::of(vec![vec![send], vec![receive]]), 64)?;
/// assert_eq!(recorded.workload.num_flits(), 10);
/// # Ok::<(), viem_workload::recorded::RecordingError>(())
/// ```
pub fn workload(recording: &Recording, bytes_per_flit: u64) -> Result<RecordedWorkload, RecordingError> {
    if bytes_per_flit == 0 {
        return Err(RecordingError::NoBytes);
    }
    let matching = Matching::of(&ranks(recording)?, bytes_per_flit);
    match matching.workload(true) {
        Err(WorkloadError { fault: WorkloadFault::Deadlock { .. }, .. }) if matching.has_answers() => {
            Ok(matching.workload(false)?)
        }
        made => Ok(made?),
    }
}

/// The steps by rank.
fn ranks(recording: &Recording) -> Result<Vec<&[Step]>, RecordingError> {
    let count = recording.num_ranks();
    if count == 0 {
        return Err(RecordingError::Empty);
    }
    let mut ranks = Vec::new();
    for rank in 0..count {
        let steps = recording.steps(rank).ok_or(RecordingError::MissingRank { rank, count })?;
        let unknown = |step: &Step| u64::from(step.peer) >= count;
        if let Some(step) = steps.iter().position(unknown) {
            return Err(RecordingError::UnknownPeer { rank, step, peer: steps[step].peer, count });
        }
        ranks.push(steps);
    }
    Ok(ranks)
}

/// A step with its message.
#[derive(Clone, Copy)]
enum Move {
    Send(usize),
    Receive(usize),
    /// Waits until a message is received.
    Sent(usize),
    Compute(u64),
}

#[derive(Clone, Copy)]
struct Message {
    from: TaskId,
    to: TaskId,
    key: u64,
    flits: u64,
    is_synchronous: bool,
    is_received: bool,
    /// True if its receiver says that it is ready, and that it has received.
    says_ready: bool,
    says_done: bool,
}

impl Message {
    /// The message that a step sends, if it is a send.
    fn of(from: TaskId, step: &Step, bytes_per_flit: u64) -> Option<Self> {
        Some(Self {
            from,
            to: step.peer,
            key: step.key,
            flits: step.act.bytes()?.div_ceil(bytes_per_flit).max(1),
            is_synchronous: matches!(step.act, Act::SynchronousSend(_)),
            is_received: false,
            says_ready: false,
            says_done: false,
        })
    }
}

/// The moves of all ranks, and their messages.
struct Matching {
    moves: Vec<Vec<Move>>,
    messages: Vec<Message>,
    unsent: u64,
    to_itself: u64,
}

impl Matching {
    fn of(ranks: &[&[Step]], bytes_per_flit: u64) -> Self {
        let moves = vec![Vec::new(); ranks.len()];
        let mut matching = Self { moves, messages: Vec::new(), unsent: 0, to_itself: 0 };
        for (rank, steps) in (0..).zip(ranks) {
            let sends = steps.iter().filter_map(|step| Message::of(rank, step, bytes_per_flit));
            let (own, others): (Vec<_>, Vec<_>) = sends.partition(|message| message.to == rank);
            matching.to_itself += own.len() as u64;
            matching.messages.extend(others);
        }
        matching.match_steps(ranks);
        matching.expect_answers();
        matching
    }

    /// Finds the message of each step.
    fn match_steps(&mut self, ranks: &[&[Step]]) {
        let mut sent: HashMap<(TaskId, TaskId, u64), VecDeque<usize>> = HashMap::new();
        for (number, message) in self.messages.iter().enumerate() {
            sent.entry((message.from, message.to, message.key)).or_default().push_back(number);
        }
        let mut numbers = 0..self.messages.len();
        for (rank, steps) in (0..).zip(ranks) {
            let mut last: HashMap<(TaskId, u64), usize> = HashMap::new();
            for step in *steps {
                let found = match step.act {
                    Act::Compute(cycles) => Some(Move::Compute(cycles)),
                    _ if step.peer == rank => None,
                    Act::Send(_) | Act::SynchronousSend(_) => {
                        let number = numbers.next();
                        last.extend(number.map(|number| ((step.peer, step.key), number)));
                        number.map(Move::Send)
                    }
                    Act::Sent => {
                        let message = last.remove(&(step.peer, step.key));
                        message.filter(|&message| !self.messages[message].is_synchronous).map(Move::Sent)
                    }
                    Act::Receive | Act::Completion => {
                        let key = (step.peer, rank, step.key);
                        let message = sent.get_mut(&key).and_then(VecDeque::pop_front);
                        self.unsent += u64::from(message.is_none());
                        message.map(|message| self.receive(message, step.act == Act::Receive))
                    }
                };
                self.moves[rank as usize].extend(found);
            }
        }
    }

    fn receive(&mut self, message: usize, is_blocking: bool) -> Move {
        let own = &mut self.messages[message];
        own.is_received = true;
        own.says_ready = own.is_synchronous && is_blocking;
        own.says_done = own.says_ready;
        Move::Receive(message)
    }

    /// Whoever receives a message for whose sending a rank waits says so.
    fn expect_answers(&mut self) {
        for step in self.moves.iter().flatten() {
            if let Move::Sent(message) = *step {
                self.messages[message].says_done = self.messages[message].is_received;
            }
        }
    }

    fn has_answers(&self) -> bool {
        self.messages.iter().any(|message| message.says_done)
    }

    fn workload(&self, is_answered: bool) -> Result<RecordedWorkload, WorkloadError> {
        let mut pairs = Pairs::of(self, is_answered);
        let mut builder = WorkloadBuilder::new(self.moves.len());
        for (rank, moves) in (0..).zip(&self.moves) {
            for &step in moves {
                match step {
                    Move::Compute(cycles) => builder.compute(rank, cycles),
                    Move::Send(index) => pairs.sends(&mut builder, index, &self.messages[index]),
                    Move::Receive(index) => pairs.receives(&mut builder, index, &self.messages[index]),
                    Move::Sent(index) => {
                        let Message { from, to, .. } = self.messages[index];
                        pairs.receive(&mut builder, (to, from), pairs.answers(index).done);
                    }
                }
            }
        }
        pairs.receive_rest(&mut builder);
        let answers = pairs.answers.values().map(|answers| answers.count());
        Ok(RecordedWorkload {
            answers: is_answered.then_some(answers.sum()),
            workload: builder.build()?,
            unreceived: self.messages.iter().filter(|message| !message.is_received).count() as u64,
            unsent: self.unsent,
            to_itself: self.to_itself,
        })
    }
}

/// The places of the answers to a message in their pair.
#[derive(Clone, Copy, Default)]
struct Answers {
    ready: Option<usize>,
    done: Option<usize>,
}

impl Answers {
    fn count(self) -> u64 {
        u64::from(self.ready.is_some()) + u64::from(self.done.is_some())
    }
}

/// The messages from one rank to another.
#[derive(Default)]
struct Pair {
    /// In the order in which they are sent.
    flits: Vec<u64>,
    /// How many have been received.
    received: usize,
}

/// The messages of all pairs of ranks in the order in which they are sent.
struct Pairs {
    pairs: HashMap<(TaskId, TaskId), Pair>,
    /// The place of each message in its pair.
    places: Vec<usize>,
    /// By message.
    answers: HashMap<usize, Answers>,
}

impl Pairs {
    fn of(matching: &Matching, is_answered: bool) -> Self {
        let places = vec![0; matching.messages.len()];
        let mut pairs = Self { pairs: HashMap::new(), places, answers: HashMap::new() };
        for &step in matching.moves.iter().flatten() {
            match step {
                Move::Send(index) => {
                    let Message { from, to, flits, .. } = matching.messages[index];
                    pairs.places[index] = pairs.push((from, to), flits);
                }
                Move::Receive(index) if is_answered && matching.messages[index].says_done => {
                    let Message { from, to, says_ready, .. } = matching.messages[index];
                    let ready = says_ready.then(|| pairs.push((to, from), 1));
                    let done = Some(pairs.push((to, from), 1));
                    pairs.answers.insert(index, Answers { ready, done });
                }
                Move::Receive(_) | Move::Sent(_) | Move::Compute(_) => {}
            }
        }
        pairs
    }

    fn push(&mut self, pair: (TaskId, TaskId), flits: u64) -> usize {
        let pair = self.pairs.entry(pair).or_default();
        pair.flits.push(flits);
        pair.flits.len() - 1
    }

    fn answers(&self, index: usize) -> Answers {
        self.answers.get(&index).copied().unwrap_or_default()
    }

    /// The sender of a message sends it, and waits for the answers to it.
    fn sends(&mut self, builder: &mut WorkloadBuilder, index: usize, message: &Message) {
        let &Message { from, to, flits, is_synchronous, .. } = message;
        let Answers { ready, done } = self.answers(index);
        self.receive(builder, (to, from), ready);
        builder.send(from, to, flits);
        self.receive(builder, (to, from), done.filter(|_| is_synchronous));
    }

    /// The receiver of a message receives it, and answers.
    fn receives(&mut self, builder: &mut WorkloadBuilder, index: usize, message: &Message) {
        let &Message { from, to, .. } = message;
        let Answers { ready, done } = self.answers(index);
        ready.iter().for_each(|_| builder.send(to, from, 1));
        self.receive(builder, (from, to), Some(self.places[index]));
        done.iter().for_each(|_| builder.send(to, from, 1));
    }

    /// Receives the messages of a pair up to this place, unless they have been received.
    fn receive(&mut self, builder: &mut WorkloadBuilder, (from, to): (TaskId, TaskId), place: Option<usize>) {
        let Some((place, pair)) = place.zip(self.pairs.get_mut(&(from, to))) else { return };
        for &flits in pair.flits.iter().take(place + 1).skip(pair.received) {
            builder.receive(to, from, flits);
        }
        pair.received = pair.received.max(place + 1);
    }

    /// Receives what no step has received.
    fn receive_rest(&mut self, builder: &mut WorkloadBuilder) {
        let mut rest: Vec<(TaskId, TaskId)> = self.pairs.keys().copied().collect();
        rest.sort_unstable();
        for pair in rest {
            self.receive(builder, pair, self.pairs[&pair].flits.len().checked_sub(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Instruction;
    use viem::base::rng::Rng;
    use viem_io::Source;

    fn recorded(ranks: Vec<Vec<(Act, TaskId, u64)>>) -> Result<RecordedWorkload, RecordingError> {
        let steps = |steps: Vec<(Act, TaskId, u64)>| {
            steps.into_iter().map(|(act, peer, key)| Step::new(act, peer, key)).collect()
        };
        workload(&Recording::of(ranks.into_iter().map(steps).collect()), 10)
    }

    /// Senders and lengths of what a task receives, in order.
    fn received(workload: &Workload, task: TaskId) -> Vec<(TaskId, u64)> {
        let receive = |&instruction: &Instruction| match instruction {
            Instruction::Receive { channel, flits } => {
                Some((workload.channels()[channel as usize].from, flits))
            }
            _ => None,
        };
        workload.instructions(task).iter().filter_map(receive).collect()
    }

    #[test]
    fn a_receive_of_a_later_message_receives_those_before_it() {
        let sends = vec![(Act::Send(10), 1, 7), (Act::Send(20), 1, 8), (Act::Send(0), 1, 7)];
        let receives = vec![(Act::Receive, 0, 8), (Act::Completion, 0, 7), (Act::Receive, 0, 7)];
        let made = recorded(vec![sends, receives]).unwrap();
        assert_eq!(received(&made.workload, 1), [(0, 1), (0, 2), (0, 1)]);
        assert_eq!((made.unreceived, made.unsent, made.to_itself, made.answers), (0, 0, 0, Some(0)));
    }

    #[test]
    fn synchronous_sends_to_blocking_receives_are_answered() {
        let made = recorded(vec![
            vec![(Act::SynchronousSend(95), 1, 1), (Act::SynchronousSend(5), 1, 2), (Act::Send(1), 0, 1)],
            vec![(Act::Receive, 0, 1), (Act::Completion, 0, 2), (Act::Receive, 0, 9)],
        ])
        .unwrap();
        assert_eq!(made.answers, Some(2));
        assert_eq!(received(&made.workload, 0), [(1, 1), (1, 1)]);
        assert_eq!(received(&made.workload, 1), [(0, 10), (0, 1)]);
        assert_eq!((made.unsent, made.to_itself), (1, 1));
    }

    #[test]
    fn a_rank_waits_until_what_it_sent_is_received() {
        let exchange =
            |peer| vec![(Act::Send(50), peer, 1), (Act::Completion, peer, 1), (Act::Sent, peer, 1)];
        let made = recorded(vec![exchange(1), exchange(0)]).unwrap();
        assert_eq!(made.answers, Some(2));
        assert_eq!(received(&made.workload, 0), [(1, 5), (1, 1)]);
        // Only the last of both is waited for.
        let twice = |peer| {
            let small = [(Act::Send(1), peer, 1), (Act::Completion, peer, 1)];
            [small.to_vec(), exchange(peer)].concat()
        };
        let made = recorded(vec![twice(1), twice(0)]).unwrap();
        assert_eq!(made.answers, Some(2));
        assert_eq!(received(&made.workload, 0), [(1, 1), (1, 5), (1, 1)]);
        let instructions = made.workload.instructions(0);
        let answer =
            instructions.iter().rposition(|instruction| matches!(instruction, Instruction::Send { .. }));
        assert_eq!(
            answer,
            Some(instructions.len() - 2),
            "it is sent after the second message has been received"
        );
        // Nobody receives it.
        let made = recorded(vec![vec![(Act::Send(50), 1, 1), (Act::Sent, 1, 1)], vec![]]).unwrap();
        assert_eq!((made.answers, made.unreceived), (Some(0), 1));
    }

    #[test]
    fn nothing_is_answered_if_all_would_wait() {
        let both = |peer| vec![(Act::SynchronousSend(50), peer, 1), (Act::Receive, peer, 1)];
        let made = recorded(vec![both(1), both(0)]).unwrap();
        assert_eq!((made.answers, made.workload.num_messages()), (None, 2));
    }

    #[test]
    fn what_nothing_receives_is_received_at_the_end() {
        let made = recorded(vec![
            vec![(Act::Send(10), 1, 1), (Act::Send(30), 1, 2)],
            vec![(Act::Receive, 0, 1), (Act::Send(10), 0, 1)],
        ])
        .unwrap();
        assert_eq!(made.unreceived, 2);
        assert_eq!(received(&made.workload, 1), [(0, 1), (0, 3)]);
        assert_eq!(received(&made.workload, 0), [(1, 1)]);
    }

    #[test]
    fn bad_recordings_are_refused() {
        assert_eq!(workload(&Recording::default(), 1), Err(RecordingError::Empty));
        assert_eq!(recorded(vec![vec![]]).unwrap().workload.num_tasks(), 1);
        let mut recording = Recording::default();
        let text = "viem_order 1\nrank 1 of 3\nend 0\n";
        recording.read(Source::new("file", text.as_bytes()).unwrap()).unwrap();
        assert_eq!(workload(&recording, 1), Err(RecordingError::MissingRank { rank: 0, count: 3 }));
        assert_eq!(workload(&recording, 0), Err(RecordingError::NoBytes));
        let unknown = recorded(vec![vec![], vec![(Act::Receive, 2, 0)]]);
        assert_eq!(unknown, Err(RecordingError::UnknownPeer { rank: 1, step: 0, peer: 2, count: 2 }));
        // Each receives before it sends.
        let waiting = |peer| vec![(Act::Receive, peer, 1), (Act::Send(1), peer, 1)];
        let error = recorded(vec![waiting(1), waiting(0)]).unwrap_err();
        assert!(matches!(error, RecordingError::Workload(_)), "{error}");
    }

    /// Random programs that end: each message is sent before it is received, in one order of all steps.
    #[test]
    fn all_messages_of_random_programs_are_in_the_workload() {
        let mut rng = Rng::new(8);
        let mut ways = [0; 3];
        for _ in 0..300 {
            let count = 2 + rng.below(6);
            let mut ranks = vec![Vec::new(); count as usize];
            let mut traffic: HashMap<(TaskId, TaskId), (u64, u64)> = HashMap::new();
            let mut pending: Vec<(TaskId, TaskId, u64)> = Vec::new();
            for _ in 0..rng.below(60) {
                if rng.below(2) == 0 && !pending.is_empty() {
                    let (from, to, key) = pending.swap_remove(rng.below(pending.len() as u32) as usize);
                    let act = if rng.below(2) == 0 { Act::Receive } else { Act::Completion };
                    ranks[to as usize].push((act, from, key));
                    continue;
                }
                let from = rng.below(count);
                let to = (from + 1 + rng.below(count - 1)) % count;
                let (key, bytes) = (u64::from(rng.below(3)), u64::from(rng.below(100)));
                let steps = &mut ranks[from as usize];
                match rng.below(16) {
                    0 => steps.push((Act::SynchronousSend(bytes), to, key)),
                    1 => steps.extend([(Act::Send(bytes), to, key), (Act::Sent, to, key)]),
                    _ => steps.push((Act::Send(bytes), to, key)),
                }
                pending.push((from, to, key));
                let sum = traffic.entry((from, to)).or_default();
                *sum = (sum.0 + 1, sum.1 + bytes.div_ceil(10).max(1));
            }
            let unreceived = pending.len() as u64;
            let made = recorded(ranks).unwrap();
            assert_eq!((made.unreceived, made.unsent), (unreceived, 0));
            ways[made.answers.map_or(0, |answers| 1 + usize::from(answers > 0))] += 1;
            let answers = made.answers.unwrap_or(0);
            let sum = traffic.values().fold((answers, answers), |sum, own| (sum.0 + own.0, sum.1 + own.1));
            assert_eq!((made.workload.num_messages(), made.workload.num_flits()), sum);
            let channels = made.workload.channels().iter().zip(made.workload.traffic());
            let found: HashMap<_, _> = channels
                .map(|(channel, sum)| ((channel.from, channel.to), (sum.messages, sum.flits)))
                .collect();
            if answers == 0 {
                assert_eq!(found, traffic);
            }
        }
        assert!(ways.iter().all(|&count| count > 10), "not answered, without and with answers: {ways:?}");
    }
}
