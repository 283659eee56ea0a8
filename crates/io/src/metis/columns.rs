//! The columns of arcs. They name the places of faults that show only when all rows are read.
//!
//! Most rows are spelled plainly: in ascending order, with one blank between two numbers. Their columns follow from the numbers, and take no
//! memory beside the column that the rows begin with.

use viem::base::memory::{self, OutOfMemory};
use viem::base::threads;
use viem::base::types::{NodeId, Weight};

/// The columns of the arcs of some rows; the greatest one stands for all beyond 2^32.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    /// Ascending by arc.
    runs: Vec<Run>,
    stored: Vec<u32>,
}

/// Arcs of rows in sequence.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// The first of them.
    arc: usize,
    begin: Begin,
}

#[derive(Clone, Copy, Debug)]
enum Begin {
    /// All rows are plain, and begin with this column.
    Plain(u32),
    /// The columns are stored from this place on.
    Stored(usize),
}

/// Some arcs of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arcs<'a> {
    /// Their heads.
    pub heads: &'a [NodeId],
    /// Their weights; nothing if the file has none.
    pub weights: Option<&'a [Weight]>,
    /// The number of the first vertex in the file, 0 or 1.
    pub first: NodeId,
}

impl Columns {
    /// Appends a row. It begins with the arc `start`, and its arcs have these columns. There will be no more than `promised` arcs.
    #[inline]
    pub fn push_row(
        &mut self,
        start: usize,
        columns: &[u32],
        is_plain: bool,
        promised: usize,
    ) -> Result<(), OutOfMemory> {
        let Some(&begin) = columns.first() else { return Ok(()) };
        if is_plain {
            return self.push_plain(start, begin, promised);
        }
        let place = self.stored.len();
        threads::append(&mut self.stored, columns, promised)?;
        self.push(start, Begin::Stored(place), promised)
    }

    /// Appends a row that is spelled plainly from this column on, in ascending order.
    #[inline]
    pub fn push_plain(&mut self, start: usize, column: u32, promised: usize) -> Result<(), OutOfMemory> {
        self.push(start, Begin::Plain(column), promised)
    }

    #[inline]
    fn push(&mut self, arc: usize, begin: Begin, promised: usize) -> Result<(), OutOfMemory> {
        let goes_on = match (self.runs.last().map(|run| run.begin), begin) {
            (Some(Begin::Plain(last)), Begin::Plain(next)) => last == next,
            (Some(Begin::Stored(_)), Begin::Stored(_)) => true,
            _ => false,
        };
        if !goes_on {
            if self.runs.len() == self.runs.capacity() {
                memory::grow(&mut self.runs, promised)?;
            }
            self.runs.push(Run { arc, begin });
        }
        Ok(())
    }

    /// Appends the columns of rows that follow these, which have `arcs` arcs.
    pub fn append(&mut self, later: &Self, arcs: usize, promised: usize) -> Result<(), OutOfMemory> {
        let stored = self.stored.len();
        threads::append(&mut self.stored, &later.stored, promised)?;
        for &Run { arc, begin } in &later.runs {
            let begin = match begin {
                Begin::Plain(column) => Begin::Plain(column),
                Begin::Stored(place) => Begin::Stored(stored + place),
            };
            self.push(arcs + arc, begin, promised)?;
        }
        Ok(())
    }

    /// Forgets all, but not the memory.
    pub fn clear(&mut self) {
        self.runs.clear();
        self.stored.clear();
    }

    /// The column of an arc, given the first arc of its row and those from there up to it. O(log n + d).
    pub fn of(&self, start: usize, before: Arcs<'_>) -> u64 {
        let Run { arc, begin } = self.runs[self.runs.partition_point(|run| run.arc <= start) - 1];
        match begin {
            Begin::Plain(column) => u64::from(column) + before.length(),
            Begin::Stored(place) => u64::from(self.stored[place + start + before.heads.len() - arc]),
        }
    }
}

impl Arcs<'_> {
    /// Returns whether these and an arc behind them, with these columns, are spelled plainly. They are in ascending order.
    #[inline]
    pub fn are_plain(self, columns: &[u32]) -> bool {
        let (Some(&begin), Some(&last)) = (columns.first(), columns.last()) else { return true };
        // Nothing is shorter than what is plain, so all columns are right if the last is.
        last < u32::MAX && u64::from(last) == u64::from(begin) + self.length()
    }

    /// The column of each where they are spelled plainly from this one on, in any order.
    pub fn columns(self, begin: u64) -> impl Iterator<Item = u32> {
        let mut column = begin;
        (0..self.heads.len()).map(move |place| {
            let own = column.min(u64::from(u32::MAX)) as u32;
            column +=
                self.of_head(self.heads[place]) + self.weights.map_or(0, |weights| of_weight(weights[place]));
            own
        })
    }

    /// Returns the number of bytes of the entries if they are spelled plainly, in ascending order, with a blank behind each number.
    #[inline]
    fn length(self) -> u64 {
        let (Some(&least), Some(&greatest)) = (self.heads.first(), self.heads.last()) else { return 0 };
        let each = self.of_head(least);
        let of_heads = match each == self.of_head(greatest) {
            true => each * self.heads.len() as u64,
            false => self.heads.iter().map(|&head| self.of_head(head)).sum(),
        };
        of_heads + self.weights.map_or(0, |weights| weights.iter().map(|&weight| of_weight(weight)).sum())
    }

    /// Returns the number of bytes of a head and a blank behind it.
    #[inline]
    fn of_head(self, head: NodeId) -> u64 {
        length(u64::from(head.saturating_add(self.first)))
    }
}

/// Returns the number of bytes of a weight and a blank behind it.
#[inline]
fn of_weight(weight: Weight) -> u64 {
    length(weight.unsigned_abs())
}

/// Returns the number of bytes of a number and a blank behind it.
#[inline]
fn length(number: u64) -> u64 {
    u64::from(number.max(1).ilog10()) + 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use viem::base::rng::Rng;

    /// A row as it is spelled: its columns, heads and weights.
    type Row = (Vec<u32>, Vec<NodeId>, Vec<Weight>);

    fn row(rng: &mut Rng, is_weighted: bool, first: u32) -> Row {
        let (mut columns, mut heads, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        let is_plain = rng.below(3) > 0;
        let mut column = 1 + rng.below(3);
        for _ in 0..rng.below(6) {
            let head = 10u32.pow(rng.below(6)) - 1 + rng.below(3);
            let weight = Weight::from(rng.below(1200));
            columns.push(column);
            let digits = |number: u64| number.to_string().len() as u32;
            column += digits(u64::from(head + first)) + 1 + u32::from(!is_plain && rng.below(2) == 0);
            column += if is_weighted { digits(weight as u64) + 1 } else { 0 };
            heads.push(head);
            weights.extend(is_weighted.then_some(weight));
        }
        if is_plain && !is_weighted {
            heads.sort_unstable();
            for place in 1..heads.len() {
                columns[place] = columns[place - 1] + (heads[place - 1] + first).to_string().len() as u32 + 1;
            }
        }
        (columns, heads, weights)
    }

    #[test]
    fn columns_are_those_that_were_given() {
        let mut rng = Rng::new(19);
        for round in 0..600 {
            let (is_weighted, first) = (round % 2 == 0, round / 2 % 2);
            let rows: Vec<Row> = (0..rng.below(30)).map(|_| row(&mut rng, is_weighted, first)).collect();
            let arcs = |row: usize, end: usize| {
                let (_, heads, weights) = &rows[row];
                let weights = is_weighted.then(|| &weights[..end]);
                Arcs { heads: &heads[..end], weights, first }
            };
            // In two parts, of which one follows the other.
            let middle = rng.below(rows.len() as u32 + 1) as usize;
            let part = |range: std::ops::Range<usize>| {
                let (mut columns, mut start) = (Columns::default(), 0);
                for row in range {
                    let before_last = arcs(row, rows[row].0.len().saturating_sub(1));
                    let is_plain = rows[row].1.is_sorted() && before_last.are_plain(&rows[row].0);
                    columns.push_row(start, &rows[row].0, is_plain, 200).unwrap();
                    start += rows[row].0.len();
                }
                (columns, start)
            };
            let ((mut columns, count), (later, _)) = (part(0..middle), part(middle..rows.len()));
            columns.append(&later, count, 200).unwrap();
            let mut start = 0;
            for (row, (expected, ..)) in rows.iter().enumerate() {
                for (place, &column) in expected.iter().enumerate() {
                    assert_eq!(columns.of(start, arcs(row, place)), u64::from(column), "round {round}");
                }
                start += expected.len();
            }
        }
    }

    #[test]
    fn columns_of_plain_arcs_follow_from_the_numbers() {
        let mut rng = Rng::new(23);
        for round in 0..600 {
            let (is_weighted, first) = (round % 2 == 0, round / 2 % 2);
            let (mut text, begin) = (String::new(), 1 + u64::from(rng.below(3)));
            let (mut expected, mut heads, mut weights) = (Vec::new(), Vec::new(), Vec::new());
            for _ in 0..rng.below(6) {
                expected.push(begin as u32 + text.len() as u32);
                heads.push(10u32.pow(rng.below(6)) - 1 + rng.below(3));
                text += &format!("{} ", heads[heads.len() - 1] + first);
                if is_weighted {
                    weights.push(Weight::from(1 + rng.below(1200)));
                    text += &format!("{} ", weights[weights.len() - 1]);
                }
            }
            let arcs = Arcs { heads: &heads, weights: is_weighted.then_some(&weights), first };
            assert_eq!(arcs.columns(begin).collect::<Vec<_>>(), expected, "{text}");
        }
    }

    #[test]
    fn plain_rows_take_no_memory() {
        let mut columns = Columns::default();
        for row in 0..1000 {
            let arcs = Arcs { heads: &[8, 9], weights: None, first: 1 };
            columns.push_row(3 * row, &[2, 4, 7], arcs.are_plain(&[2, 4, 7]), 3000).unwrap();
        }
        assert_eq!((columns.runs.len(), columns.stored.len()), (1, 0));
        assert_eq!(columns.of(2997, Arcs { heads: &[8, 9], weights: None, first: 1 }), 7);
    }
}
