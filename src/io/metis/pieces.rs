//! The rows of long files, parsed by all threads of a pool.
//!
//! The text is read in blocks of whole lines, the next one while one is parsed. A block is cut into pieces of whole lines. Their lines
//! are counted first, so each piece knows the vertex that it begins with, and is parsed like a whole file. Then the pieces are put
//! together in the order of the file, and so are their faults. What depends on all rows before, such as a sum that overflows, shows only
//! there: a piece where it does is parsed again.
//!
//! Memory: two blocks of text, and the rows of one.

use std::io::Read;
use std::ops::ControlFlow;

use super::fault::Faults;
use super::parse::{Before, Keep, Parser, Rows, parse_with};
use crate::ground::memory::OutOfMemory;
use crate::ground::threads;
use crate::io::scanner::Scanner;

/// Bytes of a block for each thread. Balances the cost of tasks against memory and caches.
const BLOCK: usize = 1 << 20;

/// Pieces of a block for each thread. Balances idle threads against the cost of a piece.
const PIECES: usize = 4;

/// A part of a text: whole lines, the last of which may have no end.
#[derive(Clone, Copy)]
struct Piece<'a> {
    text: &'a [u8],
    /// The line of its first byte, from 1.
    line: u64,
    /// The vertex of its first row, from 0.
    row: usize,
    /// Whether the text ends with it.
    is_last: bool,
}

/// What stands in a piece.
struct Part {
    rows: Rows,
    faults: Faults,
    flow: ControlFlow<()>,
    lack: Option<OutOfMemory>,
    /// Line and column where the parser stood in the end.
    place: (u64, u64),
    /// Whether it stood before the end of the piece.
    has_rest: bool,
}

/// Parses a text as [`parse`](super::parse::parse) does, by all threads of the pool that this runs in if it is long.
pub(super) fn parse<R: Read + Send>(
    scanner: &mut Scanner<R>,
    keep: Keep,
    first: u64,
    faults: &mut Faults,
) -> Result<Option<Rows>, OutOfMemory> {
    if scanner.has_all_at_hand() || threads::count() == 1 {
        return super::parse::parse(scanner, keep, first, faults);
    }
    parse_in_blocks(scanner, keep, first, faults, BLOCK * threads::count())
}

/// The same in blocks of about `size` bytes, however long the text is.
fn parse_in_blocks<R: Read + Send>(
    scanner: &mut Scanner<R>,
    keep: Keep,
    first: u64,
    faults: &mut Faults,
    size: usize,
) -> Result<Option<Rows>, OutOfMemory> {
    parse_with(scanner, keep, first, faults, |parser, rows, keep| parser.blocks(rows, keep, size))
}

impl<R: Read + Send> Parser<'_, R> {
    /// All rows, and what follows them, in blocks of about `size` bytes.
    fn blocks(&mut self, rows: &mut Rows, keep: Keep, size: usize) -> ControlFlow<()> {
        if !self.scanner.has_bytes() {
            return self.rows(rows, keep, true);
        }
        let (mut block, mut next) = (Vec::new(), Vec::new());
        // Rows of pieces that are done with: their memory serves the next ones.
        let mut spare: Vec<Rows> = Vec::new();
        let result = self.scanner.take_lines(size, &mut block);
        self.or_stop_if(result)?;
        loop {
            let is_last = self.scanner.has_all_at_hand() && self.scanner.at_hand().is_empty();
            if !is_last && block.last() != Some(&b'\n') {
                // A line that is too long for a block.
                let result = self.scanner.put_back(&block);
                self.or_stop_if(result)?;
                return self.rows(rows, keep, true);
            }
            let pieces = pieces(&block, (self.scanner.line(), rows.reached().rows), is_last);
            let mut tasks: Vec<(Piece<'_>, Rows)> = Vec::with_capacity(pieces.len());
            for &piece in &pieces {
                let before = Before { rows: piece.row, ..Before::default() };
                let mut own = spare.pop().unwrap_or_else(|| Rows::new(rows.header, rows.first, before));
                own.restart(before);
                tasks.push((piece, own));
            }
            let (scanner, following, found) = (&mut *self.scanner, &mut next, &*self.faults);
            let (parts, read) = rayon::join(
                || threads::map_each(tasks, &|(piece, own)| parse_piece(piece, keep, own, found.alike())),
                || if is_last { Ok(()) } else { scanner.take_lines(size, following) },
            );
            let goes_on = self.put_together(rows, keep, pieces.into_iter().zip(parts), &mut spare)?;
            self.or_stop_if(read)?;
            if is_last || !goes_on {
                return ControlFlow::Continue(());
            }
            std::mem::swap(&mut block, &mut next);
        }
    }

    /// Appends the rows and the faults of pieces; whether more may follow.
    fn put_together<'t>(
        &mut self,
        rows: &mut Rows,
        keep: Keep,
        parts: impl Iterator<Item = (Piece<'t>, Part)>,
        spare: &mut Vec<Rows>,
    ) -> ControlFlow<(), bool> {
        for (piece, mut part) in parts {
            let is_as_after_all = rows.can_append(&part.rows);
            if !is_as_after_all {
                part.rows.restart(rows.reached());
                part = parse_piece(piece, keep, part.rows, self.faults.alike());
            }
            let Part { rows: later, faults, flow, lack, place: (line, column), has_rest } = part;
            self.scanner.stand_at(line, column);
            let stops = self.faults.append(faults).is_break() || flow.is_break();
            self.lack = lack;
            if stops {
                // What could not be read lies behind the fault.
                let _ = if piece.is_last { None } else { self.scanner.failure() };
                return ControlFlow::Break(());
            }
            let result = rows.append(&later, !is_as_after_all);
            self.or_stop_if(result)?;
            spare.push(later);
            if has_rest {
                return ControlFlow::Continue(false);
            }
        }
        ControlFlow::Continue(true)
    }

    /// Goes on if there was enough memory.
    fn or_stop_if(&mut self, result: Result<(), OutOfMemory>) -> ControlFlow<()> {
        if result.is_err() { self.or_stop(result) } else { ControlFlow::Continue(()) }
    }
}

/// Parses a piece, into rows and faults of its own.
fn parse_piece(piece: Piece<'_>, keep: Keep, mut rows: Rows, mut faults: Faults) -> Part {
    let mut scanner = Scanner::new(piece.text);
    scanner.stand_at(piece.line, 1);
    let mut parser = Parser { scanner: &mut scanner, faults: &mut faults, lack: None };
    let flow = parser.rows(&mut rows, keep, piece.is_last);
    let lack = parser.lack;
    let place = (scanner.line(), scanner.column());
    Part { rows, faults, flow, lack, place, has_rest: scanner.has_bytes() }
}

/// A block that begins at this line with this row, in pieces.
fn pieces(block: &[u8], (mut line, mut row): (u64, usize), is_last: bool) -> Vec<Piece<'_>> {
    let count = PIECES * threads::count();
    let mut ends: Vec<usize> =
        (1..count).map(|index| end_of_line(block, block.len() / count * index)).collect();
    ends.push(block.len());
    ends.dedup();
    let starts: Vec<usize> = std::iter::once(0).chain(ends.iter().copied()).collect();
    let text = |index: usize| &block[starts[index]..ends[index]];
    let counts = threads::map(ends.len(), 1, &|index| count_lines(text(index)));
    let mut pieces = Vec::with_capacity(ends.len());
    for (index, (lines, rows)) in counts.into_iter().enumerate() {
        pieces.push(Piece { text: text(index), line, row, is_last: is_last && index + 1 == ends.len() });
        (line, row) = (line + lines, row + rows);
    }
    pieces
}

/// Where the line of a byte ends, behind its end.
fn end_of_line(block: &[u8], place: usize) -> usize {
    block[place..].iter().position(|&byte| byte == b'\n').map_or(block.len(), |length| place + length + 1)
}

/// Number of lines that end in a text, and of those that are no comments.
pub(super) fn count_lines(text: &[u8]) -> (u64, usize) {
    // A sum of bytes counts many at once.
    let ends = |chunk: &[u8]| chunk.iter().map(|&byte| u8::from(byte == b'\n')).sum::<u8>();
    let lines = text.chunks(255).map(|chunk| usize::from(ends(chunk))).sum::<usize>();
    let comments = if text.contains(&b'%') {
        text.split_inclusive(|&byte| byte == b'\n').filter(|line| line[0] == b'%').count()
    } else {
        0
    };
    (lines as u64, lines.saturating_sub(comments))
}

#[cfg(test)]
mod tests {
    use super::super::fault::{Fault, FaultKind};
    use super::*;
    use crate::ground::rng::Rng;

    /// All that a parser finds in a text: in blocks of this size by two threads, or as a whole.
    type Found = (Vec<Fault>, u64, u64, Option<(Vec<usize>, Vec<u32>, Vec<i64>, Vec<i64>)>, (u64, u64));

    fn find(text: &[u8], size: Option<usize>, keep: Keep, mut faults: Faults) -> Found {
        let work = || {
            let mut scanner = Scanner::new(text);
            let parsed = match size {
                Some(size) => parse_in_blocks(&mut scanner, keep, 1, &mut faults, size),
                None => super::super::parse::parse(&mut scanner, keep, 1, &mut faults),
            };
            let rows =
                parsed.unwrap().map(|rows| (rows.offsets, rows.targets, rows.weights, rows.node_values));
            (faults.kept, faults.total, faults.unmendable, rows, (scanner.line(), scanner.column()))
        };
        threads::run(2, work).unwrap()
    }

    /// A graph file, perhaps with faults of all kinds.
    fn text(rng: &mut Rng) -> Vec<u8> {
        let n = 1 + rng.below(40) as usize;
        let (node_weights, edge_weights) = (rng.below(2) == 1, rng.below(2) == 1);
        let mut rows: Vec<Vec<String>> = vec![Vec::new(); n];
        for row in rows.iter_mut().filter(|_| node_weights) {
            row.push(if rng.below(60) == 0 { i64::MAX.to_string() } else { rng.below(9).to_string() });
        }
        let mut edges = 0;
        for u in 0..n {
            for v in 0..u {
                if rng.below(n as u32) < 3 {
                    edges += 1;
                    for (tail, head) in [(u, v), (v, u)] {
                        rows[tail].push((head + 1).to_string());
                        rows[tail].extend(edge_weights.then(|| "123456789".to_string()));
                    }
                }
            }
        }
        let mut lines = vec![format!("{n} {edges} {}{}", u8::from(node_weights), u8::from(edge_weights))];
        for row in rows {
            lines.extend((rng.below(6) == 0).then(|| "% a comment".to_string()));
            lines.push(row.join(if rng.below(9) == 0 { "  " } else { " " }));
        }
        lines.extend((rng.below(4) == 0).then(String::new));
        let mut text = lines.join("\n").into_bytes();
        if rng.below(2) == 0 {
            text.push(b'\n');
        }
        for _ in 0..[0, 0, 1, 4][rng.below(4) as usize] {
            let place = rng.below(text.len() as u32) as usize;
            text[place] = b"\n 0123456789x-%\r"[rng.below(16) as usize];
        }
        text
    }

    #[test]
    fn blocks_hold_what_the_whole_holds() {
        let mut rng = Rng::new(3);
        let (mut valid, mut overflows) = (0, 0);
        for round in 0..4000 {
            let text = text(&mut rng);
            let size = 1 + rng.below(400) as usize;
            let keep = [Keep::Nothing, Keep::FirstWeight, Keep::Everything][rng.below(3) as usize];
            let limit = [1, 3, usize::MAX][rng.below(3) as usize];
            let collect = || if limit == 1 { Faults::first() } else { Faults::all(limit) };
            let (whole, blocks) =
                (find(&text, None, keep, collect()), find(&text, Some(size), keep, collect()));
            assert_eq!(blocks.0, whole.0, "round {round}: {}", String::from_utf8_lossy(&text));
            assert!(blocks == whole, "round {round}: {}", String::from_utf8_lossy(&text));
            valid += u32::from(whole.1 == 0);
            overflows += u32::from(whole.0.iter().any(|fault| fault.kind == FaultKind::NodeWeightOverflow));
        }
        assert!(valid > 500 && overflows > 20, "{valid} {overflows}");
    }

    #[test]
    fn lines_are_counted() {
        assert_eq!(count_lines(b""), (0, 0));
        assert_eq!(count_lines(b"1 2\n\n%x\n3%\n"), (4, 3));
        assert_eq!(count_lines("\n".repeat(100_000).as_bytes()), (100_000, 100_000));
    }
}
