//! The order in which the ranks of a schedule send, receive and compute.
//!
//! The operations of a rank are partly ordered; a task of a workload has one after the other. Of those that wait for nothing, sends come
//! first, since they delay nothing, and then the first in the file. An operation that waits for the start of a receive does not wait:
//! all receives are taken to begin at once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use hashbrown::HashMap;

use super::schedule::{Part, Schedule, Statement, Tag};
use crate::fault::{Stop, TrafficFault, check_ranks, read_whole};
use crate::fields::ScannerExt;
use crate::order::{Act, Recording, Step};
use crate::ranks::is_sparse;
use viem::base::types::NodeId;
use viem_io::scanner::Scanner;
use viem_io::table::shortened;
use viem_io::{ReadError, Source};

/// The steps of each rank of a schedule, of which `workload::recorded` makes a workload. A `calc` takes as many cycles as its number says.
///
/// Errors name file, line and column; among them are labels that are missing or are in a block twice, operations that wait for
/// each other, and receives from any rank or of any tag: nothing says which message they get. O(file · log operations).
///
/// ```
/// use viem_io::Source;
/// use viem_traffic::{Act, Step, read_goal};
///
/// let schedule = "num_ranks 2\nrank 0 {\na: calc 5\nb: send 8b to 1\nb requires a\n}\nrank 1 {\nrecv 8b from 0\n}\n";
/// let recording = read_goal(Source::new("job.goal", schedule.as_bytes())?)?;
/// let steps = [Step::new(Act::Compute(5), 0, 0), Step::new(Act::Send(8), 1, 0)];
/// assert_eq!(recording.steps(0), Some(&steps[..]));
/// # Ok::<(), viem_io::ReadError>(())
/// ```
pub fn read_goal(source: Source<'_>) -> Result<Recording, ReadError> {
    read_whole(source, read)
}

fn read(scanner: &mut Scanner<Source<'_>>) -> Result<Recording, Stop> {
    let (mut schedule, mut blocks) = (Schedule::default(), Blocks::default());
    while let Some((number, line)) = scanner.next_line() {
        schedule.read(number, line, &mut |part| blocks.add(part, line))?;
    }
    schedule.end().map_err(|fault| scanner.stop(fault))?;
    let count = blocks.num_ranks.unwrap_or(0);
    let lines = blocks.steps.values().map(|steps| 1 + steps.len() as u64).sum();
    if is_sparse(count, lines) {
        return Err(scanner.stop(TrafficFault::Sparse { count, lines }));
    }
    Ok(Recording::whole(count, blocks.steps, blocks.greatest_adapter))
}

/// The blocks that have been read, and the current one.
#[derive(Default)]
struct Blocks {
    num_ranks: Option<u64>,
    steps: HashMap<u64, Vec<Step>>,
    last: Block,
    greatest_adapter: u64,
}

impl Blocks {
    /// Adds the statements of a line.
    fn add(&mut self, part: Part, line: &[u8]) -> Result<(), TrafficFault> {
        let text = |range: Range<usize>| line[range].to_vec();
        let rank = self.last.rank;
        self.greatest_adapter = self.greatest_adapter.max(part.statement.adapter().unwrap_or(0));
        let step = match part.statement {
            Statement::NumRanks(count) => {
                check_ranks(count.value, self.num_ranks)?;
                self.num_ranks = Some(count.value);
                return Ok(());
            }
            Statement::Open(rank) => {
                self.last = Block { rank: rank.value as NodeId, ..Block::default() };
                let is_second = self.steps.insert(rank.value, Vec::new()).is_some();
                return if is_second { Err(TrafficFault::RankTwice { rank: rank.value }) } else { Ok(()) };
            }
            Statement::Close => {
                self.steps.insert(rank.into(), std::mem::take(&mut self.last).steps()?);
                return Ok(());
            }
            Statement::Requires { later, earlier, is_start } => {
                self.last.requires.push(Requires { later: text(later), earlier: text(earlier), is_start });
                return Ok(());
            }
            Statement::Compute(time) => Step::new(Act::Compute(time), rank, 0),
            Statement::Send { to, bytes, tag, .. } => {
                Step::new(Act::Send(bytes), to.value as NodeId, certain(tag)?)
            }
            Statement::Receive { from, tag, .. } => {
                let from = from.ok_or(TrafficFault::AnyMessage { of: "from any rank" })?;
                Step::new(Act::Receive, from.value as NodeId, certain(tag)?)
            }
        };
        self.last.add(step, part.label.map(text))
    }
}

/// A tag that one message has.
fn certain(tag: Tag) -> Result<u64, TrafficFault> {
    tag.ok_or(TrafficFault::AnyMessage { of: "of any tag" })
}

type Label = Vec<u8>;

/// The operation of a label waits for the end of that of another, or for its start.
struct Requires {
    later: Label,
    earlier: Label,
    is_start: bool,
}

/// The operations of a rank.
#[derive(Default)]
struct Block {
    rank: NodeId,
    steps: Vec<Step>,
    labels: HashMap<Label, usize>,
    requires: Vec<Requires>,
}

impl Block {
    fn add(&mut self, step: Step, label: Option<Label>) -> Result<(), TrafficFault> {
        if let Some(label) = label {
            if self.labels.contains_key(&label) {
                return Err(TrafficFault::LabelTwice { label: shortened(&label) });
            }
            self.labels.insert(label, self.steps.len());
        }
        self.steps.push(step);
        Ok(())
    }

    fn labelled(&self, label: &Label) -> Result<usize, TrafficFault> {
        let found = self.labels.get(label).copied();
        found.ok_or_else(|| TrafficFault::NoSuchLabel { label: shortened(label) })
    }

    /// The operations, one after the other.
    fn steps(self) -> Result<Vec<Step>, TrafficFault> {
        let mut waiting = vec![0u32; self.steps.len()];
        let mut later_of = vec![Vec::new(); self.steps.len()];
        for Requires { later, earlier, is_start } in &self.requires {
            let (later, earlier) = (self.labelled(later)?, self.labelled(earlier)?);
            if !(*is_start && self.steps[earlier].act == Act::Receive) {
                later_of[earlier].push(later);
                waiting[later] += 1;
            }
        }
        let key = |step: usize| Reverse((self.steps[step].act.bytes().is_none(), step));
        let mut ready: BinaryHeap<_> =
            (0..waiting.len()).filter(|&step| waiting[step] == 0).map(key).collect();
        let mut ordered = Vec::with_capacity(self.steps.len());
        while let Some(Reverse((_, step))) = ready.pop() {
            ordered.push(self.steps[step]);
            for &later in &later_of[step] {
                waiting[later] -= 1;
                ready.extend((waiting[later] == 0).then(|| key(later)));
            }
        }
        match ordered.len() == self.steps.len() {
            true => Ok(ordered),
            false => Err(TrafficFault::LabelsInCircle { rank: self.rank.into() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(text: &str) -> Result<Vec<Step>, String> {
        let text = format!("num_ranks 3\nrank 1 {{\n{text}}}\n");
        let read =
            read_goal(Source::new("test", text.as_bytes()).unwrap()).map_err(|error| error.to_string())?;
        assert_eq!((read.num_ranks(), read.steps(0)), (3, Some(&[][..])));
        Ok(read.steps(1).unwrap().to_vec())
    }

    const SEND: Step = Step::new(Act::Send(8), 2, 4);
    const RECEIVE: Step = Step::new(Act::Receive, 0, 0);

    fn compute(cycles: u64) -> Step {
        Step::new(Act::Compute(cycles), 1, 0)
    }

    #[test]
    fn operations_follow_those_that_they_wait_for() {
        let free = "a: calc 1\nb: recv 8b from 0\nc: send 8b to 2 tag 4 cpu 1\ncalc 2\n";
        assert_eq!(block(free).unwrap(), [SEND, compute(1), RECEIVE, compute(2)]);
        let after = |more: &str| block(&format!("{free}{more}")).unwrap();
        assert_eq!(after("c requires b\n"), [compute(1), RECEIVE, SEND, compute(2)]);
        assert_eq!(after("a requires b\nb requires c\n"), [SEND, RECEIVE, compute(1), compute(2)]);
        // The start of a receive is at once, that of anything else when its turn comes.
        assert_eq!(after("c irequires b\n"), [SEND, compute(1), RECEIVE, compute(2)]);
        assert_eq!(after("c irequires a\n"), [compute(1), SEND, RECEIVE, compute(2)]);
        assert_eq!(
            after("b requires c\na requires b\nb requires c\n"),
            [SEND, RECEIVE, compute(1), compute(2)]
        );
    }

    #[test]
    fn what_has_no_order_is_refused() {
        for (text, fault) in [
            ("a: calc 1\na: calc 2\n", "line 4, column 1: a second operation of the rank is called a"),
            ("a: calc 1\na requires b\n", "line 5, column 1: no operation of the rank is called b"),
            (
                "a: calc 1\nb: calc 2\na requires b\nb requires a\n",
                "line 7, column 1: operations of rank 1 wait for each other",
            ),
            ("a: calc 1\na requires a\n", "wait for each other"),
            ("recv 8b from -1\n", "line 3, column 1: a receive from any rank"),
            ("recv 8b from 0 tag -1\n", "a receive of any tag"),
        ] {
            let error = block(text).unwrap_err();
            assert!(error.contains(fault), "{text}: {error}");
        }
        for twice in ["num_ranks 1\nrank 0 {\n}\nrank 0 {\n}\n", "num_ranks 1\nrank 0 {\n}\nnum_ranks 2\n"] {
            let error = read_goal(Source::new("test", twice.as_bytes()).unwrap()).unwrap_err();
            assert!(error.to_string().contains("line 4, column 1"), "{error}");
        }
    }
}
