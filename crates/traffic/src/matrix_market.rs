//! Matrix Market, coordinate form: entry (i, j) is what rank i - 1 sends to rank j - 1.
//!
//! Of a symmetric matrix the file holds one triangle; an entry outside the diagonal stands for both
//! directions, so that a matrix means the same whichever way it is written. Values are whole numbers, also of
//! a real matrix; those of a pattern are 1. Where only the pattern counts ([`Collector::of_pattern`](super::Collector::of_pattern)),
//! values are any numbers, complex ones too, and a matrix may also be an array, skew-symmetric or Hermitian: entries outside the diagonal are
//! edges, of an array those that are not zero. (Boisvert, Pozo, Remington, "The Matrix Market exchange formats", NISTIR 5935, 1996.)

use super::collector::FlowSink;
use super::fault::{Stop, TrafficFault, expected};
use super::fields::{FieldsExt, ScannerExt};
use super::format::Format;
use super::kind::Kind;
use viem_io::Source;
use viem_io::scanner::Scanner;
use viem_io::signature::MATRIX_MARKET;
use viem_io::table::{Fields, is_blank};

pub(super) const FORMAT: Format = Format {
    kind: Kind { name: "mtx", title: "a Matrix Market file", is_graph: true, ..Kind::PLAIN },
    read,
    #[cfg(test)]
    sample: tests::SAMPLE,
};

/// The content of the first line.
struct Banner {
    /// Every entry is listed, column by column; otherwise each has its row and its column.
    is_array: bool,
    field: Field,
    symmetry: Symmetry,
}

/// The content of an entry besides its place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Pattern,
    Number,
    /// Two numbers.
    Complex,
}

/// The entries that stand for another one, too.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Symmetry {
    General,
    Symmetric,
    /// Skew-symmetric, without a diagonal.
    Skew,
    Hermitian,
}

fn read(scanner: &mut Scanner<Source<'_>>, inlet: &mut FlowSink<'_>) -> Result<(), Stop> {
    let banner = banner(scanner, inlet.is_pattern())?;
    start_entry(scanner, "the size of the matrix")?;
    let rows = scanner.number("the number of rows")?;
    inlet.state_ranks(rows).map_err(|fault| scanner.stop(fault))?;
    let columns = scanner.number("the number of columns")?;
    if columns != rows {
        let expected = "as many columns as rows: the matrix of a graph is square";
        return Err(scanner.stop(TrafficFault::Unexpected { text: columns.to_string(), expected }));
    }
    if banner.is_array {
        scanner.end_line()?;
        read_array(scanner, inlet, &banner, rows)?;
    } else {
        let entries = scanner.number("the number of entries")?;
        scanner.end_line()?;
        for _ in 0..entries {
            start_entry(scanner, "an entry of the matrix")?;
            let from = index(scanner, rows)?;
            let to = index(scanner, rows)?;
            add_entry(scanner, inlet, &banner, from, to)?;
            scanner.end_line()?;
        }
    }
    while scanner.has_line() {
        scanner.end_line()?;
    }
    Ok(())
}

/// Entries column by column, one a line; of a matrix with a symmetry the lower triangle.
fn read_array(
    scanner: &mut Scanner<Source<'_>>,
    inlet: &mut FlowSink<'_>,
    banner: &Banner,
    rows: u64,
) -> Result<(), Stop> {
    for column in 0..rows {
        let first = match banner.symmetry {
            Symmetry::General => 0,
            Symmetry::Symmetric | Symmetry::Hermitian => column,
            Symmetry::Skew => column + 1,
        };
        for row in first..rows {
            start_entry(scanner, "an entry of the matrix")?;
            add_entry(scanner, inlet, banner, row, column)?;
            if scanner.is_rest_blank() {
                scanner.skip_line();
            }
        }
    }
    Ok(())
}

/// Reads the entry of a row and a column, and adds it.
fn add_entry(
    scanner: &mut Scanner<Source<'_>>,
    inlet: &mut FlowSink<'_>,
    banner: &Banner,
    row: u64,
    column: u64,
) -> Result<(), Stop> {
    let numbers = match banner.field {
        Field::Pattern => 0,
        Field::Number => 1,
        Field::Complex => 2,
    };
    let mut weight = 1;
    if inlet.is_pattern() {
        let mut is_zero = true;
        for _ in 0..numbers {
            is_zero &= scanner.is_zero("an entry of the matrix, a number")?;
        }
        // Each entry of a sparse matrix is part of its pattern.
        if banner.is_array && is_zero || row == column {
            return Ok(());
        }
    } else if numbers > 0 {
        weight = scanner.weight()?;
    }
    inlet.add(0, row, column, weight, 0).map_err(|fault| scanner.stop(fault))?;
    if banner.symmetry != Symmetry::General && row != column {
        inlet.add(0, column, row, weight, 0).map_err(|fault| scanner.stop(fault))?;
    }
    Ok(())
}

/// `%%MatrixMarket matrix FORMAT FIELD SYMMETRY`, in letters of either case.
fn banner(scanner: &mut Scanner<Source<'_>>, is_pattern: bool) -> Result<Banner, Stop> {
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
        &[MATRIX_MARKET.to_ascii_lowercase().as_bytes()],
    )?;
    choose("`matrix`", &[b"matrix"])?;
    let formats: &[&[u8]] = &[b"coordinate", b"array"];
    let format = if is_pattern {
        choose("`coordinate` or `array`", formats)?
    } else {
        choose("`coordinate` (dense matrices are files of kind `matrix`)", &formats[..1])?
    };
    let names: &[&[u8]] = &[b"pattern", b"integer", b"real", b"double", b"complex"];
    let field = if is_pattern {
        choose("`integer`, `real`, `complex` or `pattern`", names)?
    } else {
        choose("`integer`, `real` or `pattern`: traffic is a number", &names[..4])?
    };
    let names: &[&[u8]] = &[b"general", b"symmetric", b"skew-symmetric", b"hermitian"];
    let symmetry = if is_pattern {
        choose("`general`, `symmetric`, `skew-symmetric` or `hermitian`", names)?
    } else {
        choose("`general` or `symmetric`: traffic is not negative", &names[..2])?
    };
    fields.end()?;
    Ok(Banner {
        is_array: format == 1,
        field: [Field::Pattern, Field::Number, Field::Number, Field::Number, Field::Complex][field],
        symmetry: [Symmetry::General, Symmetry::Symmetric, Symmetry::Skew, Symmetry::Hermitian][symmetry],
    })
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

#[cfg(test)]
mod tests {
    use crate::tests::{Flows, Sample, lines};
    use std::fmt::Write;

    pub(super) const SAMPLE: Sample = Sample {
        text: "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 100\n3 1 5\n",
        numbers_from: Some(1),
        write: Some(write),
        ..Sample::NONE
    };

    fn write(n: u32, flows: &Flows) -> Vec<Vec<u8>> {
        let mut text = String::new();
        writeln!(text, "%%MatrixMarket matrix coordinate integer general\n% x\n{n} {n} {}", flows.len())
            .unwrap();
        for (from, to, bytes, _) in lines(flows) {
            writeln!(text, "{} {} {bytes}", from + 1, to + 1).unwrap();
        }
        vec![text.into()]
    }
}
