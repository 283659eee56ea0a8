//! Matrix Market, coordinate form: entry (i, j) is what rank i - 1 sends to rank j - 1.
//!
//! Of a symmetric matrix the file holds one triangle; an entry outside the diagonal stands for both
//! directions, so that a matrix means the same whichever way it is written. Values are whole numbers, also of
//! a real matrix; those of a pattern are 1. (Boisvert, Pozo, Remington, "The Matrix Market exchange formats",
//! NISTIR 5935, 1996.)

use super::fields::{Fields, is_blank};
use crate::io::Source;
use crate::io::scanner::Scanner;
use crate::io::traffic::{ALL_TRAFFIC, Format, Inlet, Stop, TrafficFault, expected};

pub(super) const FORMAT: Format = Format {
    name: "mtx",
    title: "a Matrix Market file",
    classes: ALL_TRAFFIC,
    tells_recorders: false,
    guesses_first_rank: false,
    recognise: |start| start.len() >= MARK.len() && start[..MARK.len()].eq_ignore_ascii_case(MARK.as_bytes()),
    read,
};

const MARK: &str = "%%MatrixMarket";

/// What the first line says.
struct Banner {
    has_values: bool,
    is_symmetric: bool,
}

fn read(scanner: &mut Scanner<Source<'_>>, inlet: &mut Inlet<'_>) -> Result<(), Stop> {
    let Banner { has_values, is_symmetric } = banner(scanner)?;
    start_entry(scanner, "the size of the matrix")?;
    let rows = scanner.number("the number of rows")?;
    inlet.state_ranks(rows).map_err(|fault| scanner.stop(fault))?;
    let columns = scanner.number("the number of columns")?;
    if columns != rows {
        let expected = "as many columns as rows: traffic makes a square matrix";
        return Err(scanner.stop(TrafficFault::Unexpected { text: columns.to_string(), expected }));
    }
    let entries = scanner.number("the number of entries")?;
    scanner.end_line()?;
    for _ in 0..entries {
        start_entry(scanner, "an entry of the matrix")?;
        let from = index(scanner, rows)?;
        let to = index(scanner, rows)?;
        let weight = if has_values { scanner.weight()? } else { 1 };
        inlet.add(0, from, to, weight, 0).map_err(|fault| scanner.stop(fault))?;
        if is_symmetric && from != to {
            inlet.add(0, to, from, weight, 0).map_err(|fault| scanner.stop(fault))?;
        }
        scanner.end_line()?;
    }
    while scanner.has_line() {
        scanner.end_line()?;
    }
    Ok(())
}

/// `%%MatrixMarket matrix coordinate FIELD SYMMETRY`, in letters of either case.
fn banner(scanner: &mut Scanner<Source<'_>>) -> Result<Banner, Stop> {
    let (number, line) = scanner.next_line().unwrap_or((1, b""));
    let line = line.to_ascii_lowercase();
    let mut fields = Fields::new(number, &line, is_blank);
    let mut choose = |expected: &'static str, choices: &[&[u8]]| {
        let field = fields.field(expected)?;
        let choice = choices.iter().position(|&choice| choice == field.text);
        choice.ok_or_else(|| fields.unexpected(field, expected))
    };
    choose(
        "%%MatrixMarket, with which a Matrix Market file starts",
        &[MARK.to_ascii_lowercase().as_bytes()],
    )?;
    choose("`matrix`", &[b"matrix"])?;
    choose("`coordinate` (dense matrices are files of kind `matrix`)", &[b"coordinate"])?;
    let field = choose("`integer`, `real` or `pattern`", &[b"pattern", b"integer", b"real"])?;
    let symmetry = choose("`general` or `symmetric`", &[b"general", b"symmetric"])?;
    fields.end()?;
    Ok(Banner { has_values: field > 0, is_symmetric: symmetry > 0 })
}

/// Goes to the next line that is neither empty nor a comment.
fn start_entry(scanner: &mut Scanner<Source<'_>>, expected: &'static str) -> Result<(), Stop> {
    while scanner.has_line() {
        if !scanner.is_rest_blank() {
            return Ok(());
        }
        scanner.skip_line();
    }
    Err(scanner.stop(TrafficFault::Missing { expected }))
}

/// A row or a column, counted from 0.
fn index(scanner: &mut Scanner<Source<'_>>, count: u64) -> Result<u64, Stop> {
    let rank = scanner.number(expected::RANK)?;
    if !(1..=count).contains(&rank) {
        return Err(scanner.stop(TrafficFault::NoSuchRank { rank, first: 1, last: count }));
    }
    Ok(rank - 1)
}
