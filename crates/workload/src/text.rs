//! Text files of workloads: tasks and their instructions.
//!
//! ```text
//! PROCESS 0            # a task; tasks are counted from 0
//!   REPEAT 10          # our addition: runs what follows, up to END, ten times
//!     INT_OP 800       # computes for 800 cycles
//!     SEND 1 64        # sends 64 flits to task 1, and goes on
//!     RECEIVE 1 16     # waits for a message of 16 flits from task 1
//!   END
//! STOP                 # ends the task
//! ```
//!
//! Words may be in lower case, and line breaks do not matter. A word that starts with `#` or `%` begins a
//! comment, up to the end of its line.

use std::io::{self, Write};

use crate::{Instruction, TaskId, Workload, WorkloadBuilder, WorkloadError, WorkloadFault};
use viem_io::fields::{Fields, Misplaced, Place};
pub use viem_io::scanner::Token;
use viem_io::{FieldFault, ReadError, Reading, Source, readings};

/// What is wrong with the text of a workload. Lines are numbered from 1, tasks from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum TextFault {
    #[error("this looks like {}, not like a workload, which begins with PROCESS", Reading::listed(readings))]
    OtherFormat { readings: Vec<Reading> },
    #[error("expected {expected}, found `{text}`")]
    Unexpected { text: String, expected: &'static str },
    #[error("the file ends, but task {task} has no STOP")]
    MissingStop { task: TaskId },
    #[error("PROCESS begins a task, but task {task} before it has no STOP")]
    MissingStopBefore { task: TaskId },
    #[error("STOP ends task {task}, but a REPEAT in line {line} has no END")]
    MissingEnd { task: TaskId, line: u64 },
    #[error("END without a REPEAT before it in task {task}")]
    EndWithoutRepeat { task: TaskId },
    #[error("task {task} is already described in line {earlier}")]
    TaskTwice { task: TaskId, earlier: u64 },
    #[error("this is task {task}, but {count} are described; tasks are numbered from 0 to {}", count - 1)]
    TaskOutOfRange { task: TaskId, count: usize },
    #[error("the workload has no tasks; a task begins with PROCESS and ends with STOP")]
    Empty,
    #[error(transparent)]
    Field(#[from] FieldFault),
    #[error(transparent)]
    Workload(WorkloadFault),
}

/// The largest task number.
const LAST_TASK: u64 = (1 << 31) - 1;

const INSTRUCTION: &str = "INT_OP, SEND, RECEIVE, REPEAT, END or STOP";
const PROCESS: &str = "PROCESS";

/// The words of the language.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    Process,
    IntOp,
    Send,
    Receive,
    Repeat,
    End,
    Stop,
}

const WORDS: [(&str, Word); 7] = [
    (PROCESS, Word::Process),
    ("INT_OP", Word::IntOp),
    ("SEND", Word::Send),
    ("RECEIVE", Word::Receive),
    ("REPEAT", Word::Repeat),
    ("END", Word::End),
    ("STOP", Word::Stop),
];

/// Returns whether a file that starts with these bytes is a workload: its first words are `PROCESS` and a number.
///
/// ```
/// use viem_workload::text::is_workload;
///
/// assert!(is_workload(b"# two tasks\nprocess\n0 STOP"));
/// assert!(!is_workload(b"Process mapping places processes."));
/// ```
pub fn is_workload(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start);
    let is_comment = |word: &&str| word.starts_with(['#', '%']);
    let mut words =
        text.lines().flat_map(|line| line.split_whitespace().take_while(move |word| !is_comment(word)));
    let is_process = words.next().is_some_and(|word| word.eq_ignore_ascii_case(PROCESS));
    is_process && words.next().is_none_or(|word| word.starts_with(|c: char| c.is_ascii_digit()))
}

/// Reads a workload, and checks that every message sent is received and that there is no deadlock. O(text +
/// instructions, repetitions unrolled).
///
/// # Errors
/// The first fault, with its line and column. For a file of another kind, the error names that kind.
///
/// ```
/// use viem_io::Source;
/// use viem_workload::text;
///
/// let text = "PROCESS 0 INT_OP 100 SEND 1 16 STOP\nPROCESS 1 RECEIVE 0 16 STOP";
/// let workload = text::read(Source::new("two tasks", text.as_bytes())?)?;
/// assert_eq!(workload.num_flits(), 16);
/// # Ok::<(), viem_io::ReadError>(())
/// ```
pub fn read(mut source: Source<'_>) -> Result<Workload, ReadError> {
    let start = source.start();
    let mut readings = readings(&start, start.len() < Source::START);
    readings.retain(|&reading| reading != Reading::TEXT);
    let mut reader = Reader { fields: Fields::new(source), readings, tasks: Vec::new() };
    let read = reader.tasks();
    let result = read.and_then(|()| build(&reader.tasks));
    reader.fields.finish(result)
}

/// A task in the text.
struct Task {
    number: TaskId,
    place: Place,
    instructions: Vec<(Place, Written)>,
}

/// An instruction in the text.
enum Written {
    IntOp(u64),
    Send(TaskId, u64),
    Receive(TaskId, u64),
    Repeat(u64),
    End,
}

type Fault = Misplaced<TextFault>;

struct Reader<'a> {
    fields: Fields<'a>,
    /// The kinds of file that the text may be by its content, except for a text of words.
    readings: Vec<Reading>,
    tasks: Vec<Task>,
}

impl Reader<'_> {
    /// Reads tasks up to the end of the text.
    fn tasks(&mut self) -> Result<(), Fault> {
        loop {
            match self.word(PROCESS)? {
                Some(Word::Process) => {}
                Some(_) => return Err(self.unexpected(PROCESS)),
                None if self.tasks.is_empty() => return Err(self.fields.fault(TextFault::Empty)),
                None => return Ok(()),
            }
            let place = self.fields.place();
            let number = self.task()?;
            self.tasks.push(Task { number, place, instructions: Vec::new() });
            while self.instruction()? {}
        }
    }

    /// Reads an instruction of the last task; returns whether it was not STOP.
    fn instruction(&mut self) -> Result<bool, Fault> {
        let task = self.tasks.len() - 1;
        let number = self.tasks[task].number;
        let Some(word) = self.word(INSTRUCTION)? else {
            return Err(self.fields.fault(TextFault::MissingStop { task: number }));
        };
        let place = self.fields.place();
        let written = match word {
            Word::Process => {
                return Err(self.fields.fault(TextFault::MissingStopBefore { task: number }));
            }
            Word::Stop => return Ok(false),
            Word::IntOp => Written::IntOp(self.fields.number("a number of cycles", 0, u64::MAX)?),
            Word::Send => Written::Send(self.task()?, self.flits()?),
            Word::Receive => Written::Receive(self.task()?, self.flits()?),
            Word::Repeat => Written::Repeat(self.fields.number("a number of repetitions", 1, u64::MAX)?),
            Word::End => Written::End,
        };
        self.tasks[task].instructions.push((place, written));
        Ok(true)
    }

    fn task(&mut self) -> Result<TaskId, Fault> {
        Ok(self.fields.number("the number of a task", 0, LAST_TASK)? as TaskId)
    }

    fn flits(&mut self) -> Result<u64, Fault> {
        self.fields.number("a number of flits", 1, u64::MAX)
    }

    /// The next word, or nothing at the end of the text.
    fn word(&mut self, expected: &'static str) -> Result<Option<Word>, Fault> {
        let text = match self.fields.token() {
            Token::End | Token::LineEnd => return Ok(None),
            Token::Number(number) => number.to_string(),
            Token::Text(_) => self.fields.text(),
        };
        let word = WORDS.iter().find(|(name, _)| name.eq_ignore_ascii_case(&text));
        match word {
            Some(&(_, word)) => Ok(Some(word)),
            None if self.tasks.is_empty() && !self.readings.is_empty() => {
                Err(self.fields.fault(TextFault::OtherFormat { readings: self.readings.clone() }))
            }
            None => Err(self.fields.fault(TextFault::Unexpected { text, expected })),
        }
    }

    fn unexpected(&self, expected: &'static str) -> Fault {
        self.fields.fault(TextFault::Unexpected { text: self.fields.text(), expected })
    }
}

/// Builds the workload from the tasks.
fn build(tasks: &[Task]) -> Result<Workload, Fault> {
    let count = tasks.len();
    let misplaced = |place: Place, fault: TextFault| Misplaced { place, fault };
    // The task of each number.
    let mut task_of: Vec<Option<&Task>> = vec![None; count];
    for task in tasks {
        let (number, place) = (task.number, task.place);
        match task_of.get_mut(number as usize) {
            None => return Err(misplaced(place, TextFault::TaskOutOfRange { task: number, count })),
            Some(Some(earlier)) => {
                let earlier = earlier.place.line;
                return Err(misplaced(place, TextFault::TaskTwice { task: number, earlier }));
            }
            Some(free) => *free = Some(task),
        }
    }
    let mut builder = WorkloadBuilder::new(count);
    for task in tasks {
        for (_, written) in &task.instructions {
            match *written {
                Written::IntOp(cycles) => builder.compute(task.number, cycles),
                Written::Send(to, flits) => builder.send(task.number, to, flits),
                Written::Receive(from, flits) => builder.receive(task.number, from, flits),
                Written::Repeat(times) => builder.repeat(task.number, times),
                Written::End => builder.end(task.number),
            }
        }
    }
    builder.build().map_err(|WorkloadError { task, index, fault }| {
        let place = task_of[task as usize].expect("all tasks are there").instructions[index].0;
        misplaced(
            place,
            match fault {
                WorkloadFault::Open => TextFault::MissingEnd { task, line: place.line },
                WorkloadFault::NotOpen => TextFault::EndWithoutRepeat { task },
                fault => TextFault::Workload(fault),
            },
        )
    })
}

/// Writes a workload in the format of [`read`].
pub fn write(out: &mut dyn Write, workload: &Workload) -> io::Result<()> {
    for task in 0..workload.num_tasks() as TaskId {
        writeln!(out, "PROCESS {task}")?;
        let mut depth = 1;
        for &instruction in workload.instructions(task) {
            let channel = |channel: u32| workload.channels()[channel as usize];
            depth -= usize::from(matches!(instruction, Instruction::End { .. }));
            write!(out, "{:1$}", "", 2 * depth)?;
            match instruction {
                Instruction::Compute(cycles) => writeln!(out, "INT_OP {cycles}")?,
                Instruction::Send { channel: at, flits } => writeln!(out, "SEND {} {flits}", channel(at).to)?,
                Instruction::Receive { channel: at, flits } => {
                    writeln!(out, "RECEIVE {} {flits}", channel(at).from)?;
                }
                Instruction::Repeat { times, .. } => writeln!(out, "REPEAT {times}")?,
                Instruction::End { .. } => writeln!(out, "END")?,
            }
            depth += usize::from(matches!(instruction, Instruction::Repeat { .. }));
        }
        writeln!(out, "STOP")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Pattern, Size, workload};

    fn read_text(text: &str) -> Result<Workload, ReadError> {
        read(Source::new("test", text.as_bytes()).unwrap())
    }

    #[test]
    fn written_workloads_are_read_again() {
        for (pattern, lengths) in [
            (Pattern::Ring, vec![5]),
            (Pattern::Mesh, vec![3, 4]),
            (Pattern::Tree, vec![7]),
            (Pattern::Random, vec![20]),
        ] {
            let workload = workload(pattern, &lengths, Size::default(), 3).unwrap();
            let mut text = Vec::new();
            write(&mut text, &workload).unwrap();
            assert!(is_workload(&text));
            assert_eq!(read_text(std::str::from_utf8(&text).unwrap()).unwrap(), workload);
        }
    }

    #[test]
    fn comments_small_letters_and_any_line_ends() {
        let text = "# two tasks\r\n% in one line\nprocess 1 Receive 0 5 stop process 0 repeat 1 send 1 5 #five\nend stop\n";
        let workload = read_text(text).unwrap();
        assert_eq!((workload.num_tasks(), workload.num_messages()), (2, 1));
        assert!(is_workload(text.as_bytes()));
        for other in ["", "3 2\n2\n1 3\n2\n", "PROCESSES 1", "# PROCESS 0\n1"] {
            assert!(!is_workload(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn faults_have_a_position_and_a_hint() {
        let cases = [
            (
                "",
                "line 1, column 1: the workload has no tasks; a task begins with PROCESS and ends with STOP",
            ),
            ("STOP", "line 1, column 1: expected PROCESS, found `STOP`"),
            ("Two tasks\n", "line 1, column 1: expected PROCESS, found `Two`"),
            (
                "% a path\n3 2\n2\n1 3\n2\n",
                "line 2, column 1: this looks like a graph in METIS format, not like a workload, which begins with PROCESS",
            ),
            (
                "num_ranks 2\nrank 0 {\n",
                "line 1, column 1: this looks like a GOAL schedule, not like a workload, which begins with PROCESS",
            ),
            ("PROCESS 0 STOP\n3 2", "line 2, column 1: expected PROCESS, found `3`"),
            ("PROCESS 0\n INT_OP 5\n", "line 3, column 1: the file ends, but task 0 has no STOP"),
            (
                "PROCESS 0\nPROCESS 1 STOP",
                "line 2, column 1: PROCESS begins a task, but task 0 before it has no STOP",
            ),
            (
                "PROCESS 0\n JUMP 3 STOP",
                "line 2, column 2: expected INT_OP, SEND, RECEIVE, REPEAT, END or STOP, found `JUMP`",
            ),
            ("PROCESS 0 STOP\nPROCESS 0 STOP", "line 2, column 1: task 0 is already described in line 1"),
            (
                "PROCESS 0 STOP PROCESS 2 STOP",
                "line 1, column 16: this is task 2, but 2 are described; tasks are numbered from 0 to 1",
            ),
            ("PROCESS 0\n SEND 3 4 STOP", "line 2, column 2: there is no task 3; the workload has 1"),
            (
                "PROCESS 0\n SEND 0 4 STOP",
                "line 2, column 2: task 0 exchanges a message with itself; remove the instruction",
            ),
            ("PROCESS 0 SEND 1 0 STOP", "line 1, column 18: expected a number of flits, found `0`"),
            ("PROCESS 0 INT_OP -3 STOP", "line 1, column 18: `-3` is negative"),
            (
                "PROCESS 0\n REPEAT 3 INT_OP 1 STOP",
                "line 2, column 2: STOP ends task 0, but a REPEAT in line 2 has no END",
            ),
            ("PROCESS 0\nEND STOP", "line 2, column 1: END without a REPEAT before it in task 0"),
            (
                "PROCESS 0 SEND 1 4 SEND 1 4 STOP\nPROCESS 1 RECEIVE 0 4 STOP",
                "line 1, column 11: task 0 sends 2 messages to task 1, which receives 1 of them",
            ),
            (
                "PROCESS 0 SEND 1 4 STOP\nPROCESS 1\nRECEIVE 0 4\nRECEIVE 0 4 STOP",
                "line 3, column 1: task 0 sends 1 message to task 1, which receives 2 of them",
            ),
            (
                "PROCESS 0 SEND 1 4 STOP\nPROCESS 1 RECEIVE 0 5 STOP",
                "line 2, column 11: message 1 from task 0 to task 1 has 4 flits where it is sent and 5 where it is received",
            ),
            (
                "PROCESS 0 RECEIVE 1 5 SEND 1 5 STOP PROCESS 1 RECEIVE 0 5 SEND 0 5 STOP",
                "line 1, column 11: deadlock: task 0 waits for task 1 which waits for task 0",
            ),
        ];
        for (text, message) in cases {
            let error = read_text(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("test, {message}")), "{text:?}: {error}");
        }
    }
}
