//! Arrays of NumPy (`.npy`, versions 1 to 3): a square matrix, or rows of source, target, and perhaps weight and messages.
//!
//! Entry (i, j) of a square array is what rank i sends to rank j. An array of one dimension holds a square one row by row. Ranks in
//! rows of edges count from 0. Entries are integers, truth values or floating-point numbers of any size and byte order, and whole
//! numbers all the same. (NumPy Enhancement Proposal 1, "A Simple File Format for NumPy Arrays".)

use super::collector::FlowSink;
use super::fault::{Stop, TrafficFault, expected};
use super::format::Format;
use super::kind::Kind;
use super::mirror::Mirror;
use viem_io::Source;
use viem_io::array::{ArrayFault, Header};
use viem_io::scanner::Scanner;

pub(super) const FORMAT: Format = Format {
    kind: Kind { name: "npy", title: "an array of NumPy", ..Kind::PLAIN },
    read,
    #[cfg(test)]
    sample: tests::SAMPLE,
};

fn read(scanner: &mut Scanner<Source<'_>>, inlet: &mut FlowSink<'_>) -> Result<(), Stop> {
    let header = Header::read(scanner).map_err(|fault| at_start(fault.into()))?;
    let unfit = || {
        let shape = header.shape_in_words();
        let expected =
            "the shape of a square matrix, or of rows of 2 to 4 numbers: source, target, weight, messages";
        at_start(TrafficFault::Unexpected { text: shape, expected })
    };
    match header.shape[..] {
        [rows, columns] if rows == columns => matrix(scanner, inlet, &header, rows),
        [rows, columns @ 2..=4] => edges(scanner, inlet, &header, rows, columns),
        [entries] if entries.isqrt().pow(2) == entries => matrix(scanner, inlet, &header, entries.isqrt()),
        _ => Err(unfit()),
    }
}

fn matrix(
    scanner: &mut Scanner<Source<'_>>,
    inlet: &mut FlowSink<'_>,
    header: &Header,
    size: u64,
) -> Result<(), Stop> {
    inlet.name_ranks(size).map_err(at_start)?;
    let mut mirror = Mirror::new(size);
    for first in 0..size {
        for second in 0..size {
            let (row, column) = if header.is_by_column { (second, first) } else { (first, second) };
            let weight = entry(scanner, header, row, column)?;
            if weight > 0 {
                mirror.add(row, column, weight);
                inlet.add(0, row, column, weight, 0).map_err(at_start)?;
            }
        }
    }
    if mirror.is_upside_down() {
        inlet.is_upside_down();
    }
    end(scanner)
}

fn edges(
    scanner: &mut Scanner<Source<'_>>,
    inlet: &mut FlowSink<'_>,
    header: &Header,
    rows: u64,
    columns: u64,
) -> Result<(), Stop> {
    // Memory for the content, not for what the header promises.
    let mut numbers = Vec::new();
    for place in 0..rows.saturating_mul(columns) {
        let (row, column) = if header.is_by_column {
            (place % rows, place / rows)
        } else {
            (place / columns, place % columns)
        };
        numbers.push(entry(scanner, header, row, column)?);
    }
    for row in 0..rows {
        let number = |column: u64| {
            let place = if header.is_by_column { column * rows + row } else { row * columns + column };
            (column < columns).then(|| numbers[place as usize])
        };
        let (from, to) = (number(0).unwrap_or(0), number(1).unwrap_or(0));
        inlet.add(0, from, to, number(2).unwrap_or(1), number(3).unwrap_or(0)).map_err(at_start)?;
    }
    end(scanner)
}

/// A fault that has no place in a text.
fn at_start(fault: TrafficFault) -> Stop {
    Stop { line: 1, column: 1, fault }
}

impl From<ArrayFault> for TrafficFault {
    fn from(fault: ArrayFault) -> Self {
        match fault {
            ArrayFault::Unexpected { text, expected } => Self::Unexpected { text, expected },
            ArrayFault::Missing { expected } => Self::Missing { expected },
        }
    }
}

fn end(scanner: &mut Scanner<Source<'_>>) -> Result<(), Stop> {
    let text = "what follows the last entry".to_owned();
    if scanner.has_bytes() { Err(at_start(TrafficFault::TooMuch { text })) } else { Ok(()) }
}

/// The next entry, which is that of a row and a column.
fn entry(scanner: &mut Scanner<Source<'_>>, header: &Header, row: u64, column: u64) -> Result<u64, Stop> {
    header.entry(scanner).map_err(|fault| {
        at_start(match fault {
            ArrayFault::Unexpected { text, .. } => {
                let text = format!("{text} (row {row}, column {column}, from 0)");
                TrafficFault::Unexpected { text, expected: expected::WEIGHT }
            }
            fault => fault.into(),
        })
    })
}

#[cfg(test)]
mod tests {
    use crate::tests::{Flows, Sample};

    pub(super) const SAMPLE: Sample = Sample { text: Sample::BINARY, write: Some(write), ..Sample::NONE };

    fn write(n: u32, flows: &Flows) -> Vec<Vec<u8>> {
        let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({n}, {n}), }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        for (from, to) in (0..n).flat_map(|from| (0..n).map(move |to| (from, to))) {
            bytes.extend((flows.get(&(from, to)).map_or(0, |flow| flow.0) as f64).to_le_bytes());
        }
        vec![bytes]
    }
}
