//! Programs in time, read by the plainest means.

use std::collections::HashMap;

use super::AuditError;

/// Who sends how many flits to whom, in sum.
pub(super) fn messages(text: &str) -> Result<Vec<(usize, usize, u128)>, AuditError> {
    let words: Vec<&str> = text
        .lines()
        .flat_map(|line| line.split_whitespace().take_while(|word| !word.starts_with(['#', '%'])))
        .collect();
    let number = |at: usize| -> Result<u128, AuditError> {
        let word = words.get(at).and_then(|word| word.parse().ok());
        word.ok_or(AuditError::Program { word: at + 1, reason: "not a number" })
    };
    let mut sums: HashMap<(usize, usize), u128> = HashMap::new();
    let (mut task, mut at) = (0, 0);
    // How often what stands here runs, for each repetition around.
    let mut times: Vec<u128> = vec![1];
    while at < words.len() {
        let now = *times.last().unwrap_or(&1);
        match words[at].to_ascii_uppercase().as_str() {
            "PROCESS" => task = number(at + 1)? as usize,
            "SEND" => {
                let flits = number(at + 2)?.checked_mul(now).ok_or(AuditError::Overflow)?;
                *sums.entry((task, number(at + 1)? as usize)).or_default() += flits;
            }
            "REPEAT" => times.push(number(at + 1)?.checked_mul(now).ok_or(AuditError::Overflow)?),
            "END" => drop(times.pop()),
            _ => {}
        }
        at += 1;
    }
    let mut messages: Vec<(usize, usize, u128)> =
        sums.into_iter().map(|((from, to), flits)| (from, to, flits)).collect();
    messages.sort_unstable();
    Ok(messages)
}
