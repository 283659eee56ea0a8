//! A simple reader of workloads.

use std::collections::HashMap;

use super::error::AuditError;
use super::number::number;

/// Upper limit on the steps followed. Accepted workloads have at most 2^27 steps, and a waiting task is
/// visited again when a message is sent to it and at the end, so no accepted workload reaches the limit.
const MOST_STEPS: u64 = 1 << 29;

/// A step of a task.
#[derive(Clone, Copy)]
pub(super) enum Step {
    Compute(u64),
    /// Receiver, and number of flits.
    Send(usize, u64),
    /// Sender.
    Receive(usize),
    Repeat(u64),
    End,
}

/// The steps of each task.
pub(super) fn read(text: &str) -> Result<Vec<Vec<Step>>, AuditError> {
    let words: Vec<&str> = text
        .lines()
        .flat_map(|line| line.split_whitespace().take_while(|word| !word.starts_with(['#', '%'])))
        .collect();
    let number = |at: usize| -> Result<u64, AuditError> {
        let word = words.get(at).and_then(|word| number(word));
        word.ok_or(AuditError::Workload { word: at + 1, reason: "not a number" })
    };
    let count = words.iter().filter(|word| word.eq_ignore_ascii_case("PROCESS")).count();
    let exists = |at: usize| match number(at)? {
        task if task < count as u64 => Ok(task as usize),
        _ => Err(AuditError::Workload { word: at + 1, reason: "no such task" }),
    };
    let mut tasks = vec![Vec::new(); count];
    let mut task = 0;
    for (at, word) in words.iter().enumerate() {
        let step = match word.to_ascii_uppercase().as_str() {
            "PROCESS" => {
                task = exists(at + 1)?;
                continue;
            }
            "INT_OP" => Step::Compute(number(at + 1)?),
            "SEND" => Step::Send(exists(at + 1)?, number(at + 2)?),
            "RECEIVE" => Step::Receive(exists(at + 1)?),
            "REPEAT" => Step::Repeat(number(at + 1)?),
            "END" => Step::End,
            _ => continue,
        };
        let steps: &mut Vec<Step> =
            tasks.get_mut(task).ok_or(AuditError::Workload { word: at + 1, reason: "no task before it" })?;
        steps.push(step);
    }
    Ok(tasks)
}

/// The total flits from each sender to each receiver, by sender.
pub(super) fn messages(tasks: &[Vec<Step>]) -> Result<Vec<(usize, usize, u128)>, AuditError> {
    let mut sums: HashMap<(usize, usize), u128> = HashMap::new();
    for (task, steps) in tasks.iter().enumerate() {
        // For each enclosing repetition, how often its content runs.
        let mut times: Vec<u128> = vec![1];
        for &step in steps {
            let now = *times.last().unwrap_or(&1);
            match step {
                Step::Send(to, flits) => {
                    let flits = u128::from(flits).checked_mul(now).ok_or(AuditError::Overflow)?;
                    let sum = sums.entry((task, to)).or_default();
                    *sum = sum.checked_add(flits).ok_or(AuditError::Overflow)?;
                }
                Step::Repeat(count) => {
                    times.push(u128::from(count).checked_mul(now).ok_or(AuditError::Overflow)?);
                }
                Step::End => drop(times.pop()),
                Step::Compute(_) | Step::Receive(_) => {}
            }
        }
    }
    let mut messages: Vec<(usize, usize, u128)> =
        sums.into_iter().map(|((from, to), flits)| (from, to, flits)).collect();
    messages.sort_unstable();
    Ok(messages)
}

/// A running task.
pub(super) struct Walk<'a> {
    steps: &'a [Step],
    at: usize,
    /// The start of each enclosing repetition, and its remaining number of runs.
    around: Vec<(usize, u64)>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(steps: &'a [Step]) -> Self {
        Self { steps, at: 0, around: Vec::new() }
    }

    /// The next step that does something, until it is [`passed`](Self::pass).
    pub(super) fn next(&mut self, taken: &mut u64) -> Result<Option<Step>, AuditError> {
        loop {
            *taken += 1;
            if *taken > MOST_STEPS {
                return Err(AuditError::Workload { word: 1, reason: "too many steps" });
            }
            match self.steps.get(self.at) {
                Some(&Step::Repeat(times)) => self.around.push((self.at, times)),
                Some(Step::End) => {
                    if let Some((begin, left)) = self.around.pop().filter(|&(_, left)| left > 1) {
                        self.around.push((begin, left - 1));
                        self.at = begin;
                    }
                }
                step => return Ok(step.copied()),
            }
            self.at += 1;
        }
    }

    pub(super) fn pass(&mut self) {
        self.at += 1;
    }
}
