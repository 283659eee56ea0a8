//! The rows of long files, parsed by all threads of a pool.
//!
//! The text is read in pieces of whole lines, some at a time. Their lines are counted, so each piece knows the vertex that it begins with, and is
//! parsed like a whole file. Then the rows of the pieces are put together in the order of the file, and so are their faults.
//! What depends on all rows before, such as a sum that overflows, shows only there: a piece where it does is parsed again. While some
//! pieces are parsed, those behind them are read and those before them are put together.
//!
//! Memory: three blocks of text, each of some pieces, and the rows of two.

use std::io::Read;
use std::ops::ControlFlow;

use super::fault::Faults;
use super::header::Header;
use super::parse::{Before, Keep, Parser, Rows, parse_with};
use crate::scanner::Scanner;
use viem::base::memory::OutOfMemory;
use viem::base::threads;

/// Bytes of a piece. Balances the cost of a task against memory and caches.
const PIECE: usize = 1 << 18;

/// Pieces of a block for each thread, and at most. Balance idle threads against memory. One thread reads, about as fast as so many parse.
const PIECES: usize = 4;
const MOST_PIECES: usize = 32;

/// Pieces of a block.
fn num_pieces() -> usize {
    (PIECES * threads::count()).min(MOST_PIECES)
}

/// The length of a line in pieces that is allowed for each piece of a block. Longer ones, and what follows them, are parsed by one thread.
const LONGEST_LINE: usize = 4;

/// A part of a text: whole lines, the last of which may have no end.
struct Piece {
    text: Vec<u8>,
    /// The line of its first byte, from 1.
    line: u64,
    /// True if the text ends with it.
    is_last: bool,
    /// Its rows. They know which row comes first.
    rows: Rows,
}

/// A piece that was parsed.
struct Parsed {
    piece: Piece,
    faults: Faults,
    flow: ControlFlow<()>,
    lack: Option<OutOfMemory>,
    /// Line and column of the parser at the end.
    place: (u64, u64),
    /// True if that is before the end of the piece.
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
    parse_in_pieces(scanner, keep, first, faults, PIECE)
}

/// The same in pieces of about `size` bytes, however long the text is.
fn parse_in_pieces<R: Read + Send>(
    scanner: &mut Scanner<R>,
    keep: Keep,
    first: u64,
    faults: &mut Faults,
    size: usize,
) -> Result<Option<Rows>, OutOfMemory> {
    parse_with(scanner, keep, first, faults, |parser, rows, keep| parser.pieces(rows, keep, size))
}

impl<R: Read + Send> Parser<'_, R> {
    /// All rows, and what follows them, in pieces of about `size` bytes.
    fn pieces(&mut self, rows: &mut Rows, keep: Keep, size: usize) -> ControlFlow<()> {
        if !self.scanner.has_bytes() {
            return self.rows(rows, keep, true);
        }
        let none = self.faults.alike();
        let mut numbering = Numbering { line: self.scanner.line(), row: rows.reached().rows };
        let mut reader = Reader::new(self.scanner, rows, size);
        let mut sum = Sum { rows, faults: self.faults, keep, stop: None, lack: None, place: None };
        let (mut pieces, mut parsed) = (reader.next_pieces(), Vec::new());
        while !pieces.is_empty() && sum.stop.is_none() {
            numbering.apply(&mut pieces);
            let (now, (following, spare)) = threads::join(
                || threads::map_each(pieces, &|piece| parse_piece(piece, keep, none.alike())),
                || threads::join(|| reader.next_pieces(), || sum.append_all(parsed)),
            );
            reader.spare.extend(spare.into_iter().map(|Piece { text, rows, .. }| (text, rows)));
            (pieces, parsed) = (following, now);
        }
        sum.append_all(parsed);
        let Sum { stop, lack, place, .. } = sum;
        let Reader { end, .. } = reader;
        if let Some((line, column)) = place {
            self.scanner.stand_at(line, column);
        }
        self.lack = lack;
        match (stop, end) {
            (Some(Stop::Break { is_in_last_piece }), _) => {
                // What could not be read lies behind the fault.
                let _ = if is_in_last_piece { None } else { self.scanner.failure() };
                ControlFlow::Break(())
            }
            (Some(Stop::Rest), _) | (None, None | Some(End::OfText)) => ControlFlow::Continue(()),
            (None, Some(End::Lack(lack))) => self.or_stop_if(Err(lack)),
            (None, Some(End::LongLine(text))) => {
                let result = self.scanner.put_back(&text);
                self.or_stop_if(result)?;
                self.rows(rows, keep, true)
            }
        }
    }
}

/// The reason why no more pieces are read.
enum End {
    OfText,
    /// A line that is too long begins with this.
    LongLine(Vec<u8>),
    Lack(OutOfMemory),
}

/// Line and row of the next piece.
struct Numbering {
    line: u64,
    row: usize,
}

impl Numbering {
    /// Sets the first lines and rows of pieces that follow.
    fn apply(&mut self, pieces: &mut [Piece]) {
        let counts = threads::map(pieces.len(), 1, &|index| count_lines(&pieces[index].text));
        for (piece, (lines, rows)) in pieces.iter_mut().zip(counts) {
            piece.line = self.line;
            piece.rows.restart(Before { rows: self.row, ..Before::default() });
            (self.line, self.row) = (self.line + lines, self.row + rows);
        }
    }
}

/// Reads pieces.
struct Reader<'a, R> {
    scanner: &'a mut Scanner<R>,
    /// Bytes of a piece.
    size: usize,
    header: Header,
    /// The number of the first vertex.
    first: u64,
    end: Option<End>,
    /// Texts and rows of pieces that are done with: their memory serves the next ones.
    spare: Vec<(Vec<u8>, Rows)>,
}

impl<'a, R: Read> Reader<'a, R> {
    /// Reads pieces that follow these rows.
    fn new(scanner: &'a mut Scanner<R>, rows: &Rows, size: usize) -> Self {
        Self { scanner, size, header: rows.header, first: rows.first, end: None, spare: Vec::new() }
    }

    /// The pieces of a block, not numbered yet; none at the end.
    fn next_pieces(&mut self) -> Vec<Piece> {
        (0..num_pieces()).map_while(|_| self.next_piece()).collect()
    }

    fn next_piece(&mut self) -> Option<Piece> {
        if self.end.is_some() {
            return None;
        }
        let new = || (Vec::new(), Rows::new(self.header, self.first, Before::default()));
        let (mut text, rows) = self.spare.pop().unwrap_or_else(new);
        let most = self.size * LONGEST_LINE * num_pieces();
        if let Err(lack) = self.scanner.take_lines(self.size, most, &mut text) {
            self.end = Some(End::Lack(lack));
            return None;
        }
        let is_last = self.scanner.has_all_at_hand() && self.scanner.at_hand().is_empty();
        if !is_last && text.last() != Some(&b'\n') {
            self.end = Some(End::LongLine(text));
            return None;
        }
        self.end = is_last.then_some(End::OfText);
        Some(Piece { text, line: 0, is_last, rows })
    }
}

/// The reason why no more pieces are put together.
enum Stop {
    /// A fault, or too little memory.
    Break { is_in_last_piece: bool },
    /// All rows there should be are there.
    Rest,
}

/// Puts pieces together.
struct Sum<'a> {
    rows: &'a mut Rows,
    faults: &'a mut Faults,
    keep: Keep,
    stop: Option<Stop>,
    lack: Option<OutOfMemory>,
    /// Line and column of the parser of the last piece at the end.
    place: Option<(u64, u64)>,
}

impl Sum<'_> {
    /// Appends the rows and the faults of pieces that follow, unless something has stopped it. Returns the pieces.
    fn append_all(&mut self, pieces: Vec<Parsed>) -> Vec<Piece> {
        pieces.into_iter().map(|parsed| self.append(parsed)).collect()
    }

    fn append(&mut self, mut parsed: Parsed) -> Piece {
        if self.stop.is_some() {
            return parsed.piece;
        }
        let is_as_after_all = self.rows.can_append(&parsed.piece.rows);
        if !is_as_after_all {
            parsed.piece.rows.restart(self.rows.reached());
            parsed = parse_piece(parsed.piece, self.keep, self.faults.alike());
        }
        let Parsed { piece, faults, flow, lack, place, has_rest } = parsed;
        self.place = Some(place);
        self.lack = lack;
        let mut breaks = self.faults.append(faults).is_break() || flow.is_break();
        if !breaks {
            self.lack = self.rows.append(&piece.rows, !is_as_after_all).err();
            breaks = self.lack.is_some();
        }
        self.stop = match breaks {
            true => Some(Stop::Break { is_in_last_piece: piece.is_last }),
            false => has_rest.then_some(Stop::Rest),
        };
        piece
    }
}

/// Parses a piece, into rows and faults of its own.
fn parse_piece(piece: Piece, keep: Keep, mut faults: Faults) -> Parsed {
    let Piece { text, line, is_last, mut rows } = piece;
    let mut scanner = Scanner::of_text(text);
    scanner.stand_at(line, 1);
    let mut parser = Parser { scanner: &mut scanner, faults: &mut faults, lack: None };
    let flow = parser.rows(&mut rows, keep, is_last);
    let lack = parser.lack;
    let (place, has_rest) = ((scanner.line(), scanner.column()), scanner.has_bytes());
    let piece = Piece { text: scanner.into_text(), line, is_last, rows };
    Parsed { piece, faults, flow, lack, place, has_rest }
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
    use viem::base::rng::Rng;

    /// All that a parser finds in a text: in pieces of this size by two threads, or as a whole.
    type Found = (Vec<Fault>, u64, u64, Option<(Vec<usize>, Vec<u32>, Vec<i64>, Vec<i64>)>, (u64, u64));

    fn find(text: &[u8], size: Option<usize>, keep: Keep, mut faults: Faults) -> Found {
        let work = || {
            let mut scanner = Scanner::new(text);
            let parsed = match size {
                Some(size) => parse_in_pieces(&mut scanner, keep, 1, &mut faults, size),
                None => super::super::parse::parse(&mut scanner, keep, 1, &mut faults),
            };
            let rows =
                parsed.unwrap().map(|rows| (rows.offsets, rows.targets, rows.weights, rows.node_values));
            (faults.kept, faults.total, faults.irreparable, rows, (scanner.line(), scanner.column()))
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
    fn pieces_hold_what_the_whole_holds() {
        let mut rng = Rng::new(3);
        let (mut valid, mut overflows) = (0, 0);
        for round in 0..4000 {
            let text = text(&mut rng);
            let size = 1 + rng.below(400) as usize;
            let keep = [Keep::Nothing, Keep::FirstWeight, Keep::Everything][rng.below(3) as usize];
            let limit = [1, 3, usize::MAX][rng.below(3) as usize];
            let collect = || if limit == 1 { Faults::first() } else { Faults::all(limit) };
            let (whole, pieces) =
                (find(&text, None, keep, collect()), find(&text, Some(size), keep, collect()));
            assert_eq!(pieces.0, whole.0, "round {round}: {}", String::from_utf8_lossy(&text));
            assert!(pieces == whole, "round {round}: {}", String::from_utf8_lossy(&text));
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
