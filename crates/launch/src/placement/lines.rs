//! Lines of texts, and ranks in them.

use super::fault::{Fault, PlacementFault};
use viem::base::text::{MESSAGE_TEXT, Place};
use viem::base::types::NodeId;

/// A text for a message.
pub(super) fn shown(text: &str) -> String {
    text.chars().take(MESSAGE_TEXT).flat_map(char::escape_debug).collect()
}

/// The lines of a text with their numbers, from 1, without comments that begin with `#`; no empty ones.
pub(super) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    (1..).zip(text.split('\n')).filter_map(|(number, whole)| {
        let line = Line { number, whole, text: whole.split('#').next().unwrap_or_default().trim() };
        Some(line).filter(|line| !line.text.is_empty())
    })
}

/// A line that says something.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) number: u64,
    pub(super) whole: &'a str,
    /// The text without comment and blanks around it.
    pub(super) text: &'a str,
}

impl Line<'_> {
    /// Returns the place at which a part of the line starts.
    pub(super) fn place(&self, part: &str) -> Place {
        let offset = (part.as_ptr() as usize).wrapping_sub(self.whole.as_ptr() as usize);
        Place { line: self.number, column: offset as u64 + 1 }
    }
}

/// The place behind a text.
pub(super) fn end_of(text: &str) -> Place {
    viem::base::text::place(text.as_bytes(), text.len())
}

/// A rank below `num_ranks`.
pub(super) fn rank(text: &str, place: Place, num_ranks: usize) -> Result<NodeId, Fault> {
    let number = text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<usize>().ok()).flatten();
    let number = number.filter(|&rank| rank < num_ranks);
    let fault = || PlacementFault::Rank { text: shown(text), last: num_ranks.saturating_sub(1) };
    number.map(|rank| rank as NodeId).ok_or_else(|| (place, fault()))
}
