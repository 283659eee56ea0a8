//! The experts that tokens choose, layer by layer; and numbers of copies of experts.
//!
//! | file | contents | kind |
//! |---|---|---|
//! | `.npy`, or `.npz` with one array | layers x tokens x choices: the experts of each token; -1 is none | choices |
//! | | layers x tokens x experts: 0 for each expert that is not chosen | choices |
//! | | layers x experts x experts, symmetric: how many tokens have chosen both; on the diagonal, how many have chosen one | pairs |
//! | | layers x experts: how many tokens have chosen each | loads |
//! | text | a line for each token and layer: the layer, then the experts | choices |
//! | | or this many lines as there are experts for each layer, of as many numbers: how many tokens have chosen both | pairs |
//! | | or a line for each layer and expert: the layer, the expert, how many tokens have chosen it | loads |
//! | | or a line for each layer with a number for each expert: how many tokens have chosen it | loads |
//! | | or either kind of line for each step, which a further column names; loads are summed | loads |
//!
//! An array of two dimensions is a single layer of choices or pairs. Layers, tokens and experts count from 0. Fields of a text are between
//! blanks, commas or semicolons; a first line may name the columns. Which of the shapes it is follows from the number of experts, which must be
//! given, from these names, and from the numbers. A file that may be of two kinds is refused, unless the kind is given.
//!
//! | member | purpose |
//! |---|---|
//! | `array` | reads arrays |
//! | `text` | reads texts |
//! | `columns` | meanings of the names over columns |
//! | `loads` | loads that need not be whole numbers |

mod array;
mod columns;
mod entry;
mod fault;
mod loads;
mod text;

pub use entry::{TakeEntry, TraceEntry, TraceFound};
pub use fault::{ExpertTraceFault, MOST_LAYERS, TraceKind};

use std::io::Read;

use fault::{Stop, at_start};
use viem::base::number;
use viem_io::array::MARK;
use viem_io::npz::{self, ArchiveFault};
use viem_io::scanner::Scanner;
use viem_io::table::{Table, shortened};
use viem_io::{ContentError, ReadError, Source};

fn invalid(file: String, (line, column, fault): Stop) -> ReadError {
    ReadError::Invalid { file, line, column, kind: ContentError::new(fault) }
}

/// The bytes of a trace as other programs may read it: text as it is, or an array without the archive around it. O(file).
pub fn unpacked(source: Source<'_>) -> Result<Vec<u8>, ReadError> {
    let name = source.name().to_owned();
    let mut scanner = Scanner::new(source);
    let bytes = scanner.rest();
    if let Some(error) = scanner.early_end(&name) {
        return Err(error);
    }
    if !bytes.starts_with(npz::MARK) {
        return Ok(bytes);
    }
    let mut array = Vec::new();
    let read = npz::array(&bytes).and_then(|mut unpacked| Ok(unpacked.read_to_end(&mut array)?));
    read.map_err(|fault| invalid(name, at_start(fault.into())))?;
    Ok(array)
}

/// Reads a trace of `experts` experts, of a kind that is given or recognised, and passes on each of its entries with its layer, layer after layer
/// if it is an array. O(file).
pub fn read(
    source: Source<'_>,
    experts: u32,
    kind: Option<TraceKind>,
    take: TakeEntry<'_>,
) -> Result<TraceFound, ReadError> {
    let name = source.name().to_owned();
    let mut scanner = Scanner::new(source);
    let result = if scanner.at_hand().starts_with(MARK) {
        array::read(&mut scanner, experts, kind, take)
    } else if scanner.at_hand().starts_with(npz::MARK) {
        let archive = scanner.rest();
        npz::array(&archive).map_err(|fault| at_start(fault.into())).and_then(|unpacked| {
            let mut scanner = Scanner::new(unpacked);
            let result = array::read(&mut scanner, experts, kind, take);
            // A failed read ends the array, and is the reason for all that is missing then.
            let failure = scanner.failure().map(|error| at_start(ArchiveFault::from(error).into()));
            failure.map_or(result, Err)
        })
    } else {
        text::read(&mut scanner, experts, kind, take)
    };
    if let Some(error) = scanner.early_end(&name) {
        return Err(error);
    }
    result.map_err(|stop| invalid(name, stop))
}

/// Reads numbers of copies: a line for each layer, or one for all, with a number from 1 for each expert. O(file).
pub fn read_copies(source: Source<'_>) -> Result<Vec<Vec<u32>>, ReadError> {
    let name = source.name().to_owned();
    let mut scanner = Scanner::new(source);
    let mut table = Table::new(&mut scanner);
    let mut rows = Vec::new();
    let mut stop = None;
    'rows: while let Some(mut fields) = table.next_row() {
        let mut row = Vec::new();
        while let Some(field) = fields.next_of_table() {
            match number::whole(field.text) {
                Ok(copies @ 1..=0xffff) => row.push(copies as u32),
                _ => {
                    let (text, expected) = (shortened(field.text), "a number of copies, from 1 to 65535");
                    stop =
                        Some((fields.number, field.column, ExpertTraceFault::Unexpected { text, expected }));
                    break 'rows;
                }
            }
        }
        rows.push(row);
    }
    if let Some(error) = scanner.early_end(&name) {
        return Err(error);
    }
    match stop {
        Some(stop) => Err(invalid(name, stop)),
        None => Ok(rows),
    }
}
