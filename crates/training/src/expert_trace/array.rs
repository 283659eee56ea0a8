//! Arrays as traces.

use std::io::Read;

use super::entry::{TakeEntry, TraceEntry, TraceFound, pairs};
use super::fault::{ExpertTraceFault, MOST_LAYERS, Stop, TraceKind, at_start};
use super::loads::Loads;
use viem::base::number;
use viem_io::array::{ArrayFault, Header};
use viem_io::scanner::Scanner;

/// Passes on the entries of an array of a kind that is given or recognised.
pub(super) fn read<R: Read>(
    scanner: &mut Scanner<R>,
    experts: u32,
    kind: Option<TraceKind>,
    take: TakeEntry<'_>,
) -> Result<TraceFound, Stop> {
    let header = Header::read(scanner).map_err(|fault| at_start(fault.into()))?;
    let shape = match header.shape[..] {
        [layers, rows, columns] => [layers, rows, columns],
        [rows, columns] => [1, rows, columns],
        [columns] if columns == u64::from(experts) => [1, 1, columns],
        _ => [0; 3],
    };
    let [layers, _, columns] = shape;
    let unfit = || at_start(ExpertTraceFault::Shape { shape: header.shape_in_words(), experts });
    if layers == 0 || layers > MOST_LAYERS || columns == 0 || columns > experts.into() {
        return Err(unfit());
    }
    let entries = Entries::read(scanner, &header, shape).map_err(at_start)?;
    let kind = kind.map_or_else(|| entries.kind(experts, header.shape.len()), Ok).map_err(at_start)?;
    let is_of_all = columns == u64::from(experts);
    match kind {
        TraceKind::Choices => entries.choices(experts, take).map_err(at_start)?,
        TraceKind::Pairs if is_of_all && shape[1] == columns => {
            entries.pairs(experts, take).map_err(at_start)?
        }
        TraceKind::Loads if is_of_all && layers > 1 && shape[1] > 1 => {
            return Err(at_start(ExpertTraceFault::Summands { shape: header.shape_in_words() }));
        }
        TraceKind::Loads if is_of_all => return entries.loads(take).map_err(at_start),
        TraceKind::Pairs | TraceKind::Loads => return Err(unfit()),
    }
    Ok(TraceFound::whole(kind))
}

/// An entry of an array.
#[derive(Clone, Copy, PartialEq)]
enum Entry {
    /// -1.
    None,
    Whole(u64),
    /// Above 0, and not whole.
    Fraction(f64),
}

impl Entry {
    fn of(entry: Result<u64, ArrayFault>) -> Result<Self, ArrayFault> {
        match entry {
            Ok(number) => Ok(Self::Whole(number)),
            Err(ArrayFault::Unexpected { text, expected }) => match number::real(text.as_bytes()) {
                Some(-1.0) => Ok(Self::None),
                Some(number) if number > 0.0 && number.fract() != 0.0 => Ok(Self::Fraction(number)),
                _ => Err(ArrayFault::Unexpected { text, expected }),
            },
            Err(fault) => Err(fault),
        }
    }

    fn text(self) -> String {
        match self {
            Self::None => "-1".to_owned(),
            Self::Whole(number) => number.to_string(),
            Self::Fraction(number) => number.to_string(),
        }
    }

    fn unexpected(self, expected: &'static str) -> ExpertTraceFault {
        ExpertTraceFault::Unexpected { text: self.text(), expected }
    }
}

/// The entries of an array, as the bytes that are in the file: other forms would take up to 16 times as much.
struct Entries<'a> {
    header: &'a Header,
    raw: Vec<u8>,
    count: usize,
    shape: [u64; 3],
    is_by_column: bool,
}

impl<'a> Entries<'a> {
    fn read<R: Read>(
        scanner: &mut Scanner<R>,
        header: &'a Header,
        shape: [u64; 3],
    ) -> Result<Self, ExpertTraceFault> {
        let count = shape.iter().fold(1u64, |product, &length| product.saturating_mul(length));
        let raw = header.entries(scanner, count)?;
        if scanner.has_bytes() {
            return Err(ExpertTraceFault::Unexpected {
                text: "what follows the last entry".to_owned(),
                expected: "a part of the array",
            });
        }
        let entries = Self { header, raw, count: count as usize, shape, is_by_column: header.is_by_column };
        for place in 0..entries.count {
            Entry::of(header.entry_at(&entries.raw, place))
                .map_err(|fault| entries.fault(place as u64, fault.into()))?;
        }
        Ok(entries)
    }

    /// All entries, which have been checked.
    fn all(&self) -> impl Iterator<Item = Entry> {
        (0..self.count).map(|place| self.entry(place))
    }

    fn entry(&self, place: usize) -> Entry {
        Entry::of(self.header.entry_at(&self.raw, place)).unwrap_or(Entry::None)
    }

    fn fault(&self, place: u64, fault: ExpertTraceFault) -> ExpertTraceFault {
        let [layers, rows, columns] = self.shape;
        let (layer, row, column) = if self.is_by_column {
            (place % layers, place / layers % rows, place / layers / rows)
        } else {
            (place / columns / rows, place / columns % rows, place % columns)
        };
        ExpertTraceFault::InEntry { layer, row, column, fault: Box::new(fault) }
    }

    fn place(&self, layer: u64, row: u64, column: u64) -> u64 {
        let [layers, rows, columns] = self.shape;
        if self.is_by_column {
            (column * rows + row) * layers + layer
        } else {
            (layer * rows + row) * columns + column
        }
    }

    fn at(&self, layer: u64, row: u64, column: u64) -> Entry {
        self.entry(self.place(layer, row, column) as usize)
    }

    /// The kind that shape and entries show.
    fn kind(&self, experts: u32, dimensions: usize) -> Result<TraceKind, ExpertTraceFault> {
        let [_, rows, columns] = self.shape;
        if columns != u64::from(experts) || self.all().any(|entry| entry == Entry::None) {
            return Ok(TraceKind::Choices);
        }
        let is_square = rows == columns;
        if is_square && self.is_symmetric() {
            return Ok(TraceKind::Pairs);
        }
        let zeros = self.all().filter(|&entry| entry == Entry::Whole(0)).count();
        let is_only_whether = self.all().all(|entry| matches!(entry, Entry::Whole(0 | 1))) && zeros > 0;
        let ambiguous =
            |other, why| Err(ExpertTraceFault::Ambiguous { kinds: [other, TraceKind::Loads], why });
        if is_square {
            return ambiguous(
                TraceKind::Pairs,
                "it is square, as pairs are, but experts have other numbers of tokens the other way round",
            );
        }
        match (dimensions, is_only_whether) {
            (1, _) => Ok(TraceKind::Loads),
            (_, true) => Ok(TraceKind::Choices),
            _ if 2 * zeros > self.count => {
                ambiguous(TraceKind::Choices, "it has entries above 1, but most are 0")
            }
            _ if self.has_shares() => {
                ambiguous(TraceKind::Choices, "each row sums to 1, as probabilities of a token do")
            }
            _ => Ok(TraceKind::Loads),
        }
    }

    fn is_symmetric(&self) -> bool {
        let [layers, rows, _] = self.shape;
        let is_same = |layer, row, column| {
            let (one, other) = (self.at(layer, row, column), self.at(layer, column, row));
            one == other && matches!(one, Entry::Whole(_))
        };
        (0..layers).all(|layer| (0..rows).all(|row| (0..=row).all(|column| is_same(layer, row, column))))
    }

    /// Returns whether each row sums to 1.
    fn has_shares(&self) -> bool {
        let [layers, rows, columns] = self.shape;
        let number = |entry| match entry {
            Entry::None => 0.0,
            Entry::Whole(number) => number as f64,
            Entry::Fraction(number) => number,
        };
        let sum = |layer, row| (0..columns).map(|column| number(self.at(layer, row, column))).sum::<f64>();
        (0..layers).all(|layer| (0..rows).all(|row| (sum(layer, row) - 1.0).abs() < 1e-3))
    }

    /// Passes on the pairs of each layer.
    fn pairs(&self, experts: u32, take: TakeEntry<'_>) -> Result<(), ExpertTraceFault> {
        if let Some(place) = self.all().position(|entry| !matches!(entry, Entry::Whole(_))) {
            let fault = self.entry(place).unexpected("a whole number from 0");
            return Err(self.fault(place as u64, fault));
        }
        (0..self.shape[0]).try_for_each(|layer| {
            let number = |row, column| match self.at(layer, row, column) {
                Entry::Whole(number) => number,
                _ => 0,
            };
            pairs(layer, experts, &number, take)
        })
    }

    /// Passes on the experts of each token.
    fn choices(&self, experts: u32, take: TakeEntry<'_>) -> Result<(), ExpertTraceFault> {
        let [layers, rows, columns] = self.shape;
        for layer in 0..layers {
            for token in 0..rows {
                let entries = (0..columns).map(|column| (column, self.at(layer, token, column)));
                let chosen: Vec<u32> = if columns == u64::from(experts) {
                    let is_chosen = |&(_, entry): &(u64, Entry)| entry != Entry::Whole(0);
                    entries.filter(is_chosen).map(|(expert, _)| expert as u32).collect()
                } else {
                    let expert = |(column, entry)| self.expert([layer, token, column], entry, experts);
                    entries.filter_map(|entry| expert(entry).transpose()).collect::<Result<_, _>>()?
                };
                take(layer, TraceEntry::Token(&chosen)).map_err(|fault| ExpertTraceFault::InToken {
                    layer,
                    token,
                    fault,
                })?;
            }
        }
        Ok(())
    }

    fn expert(
        &self,
        [layer, row, column]: [u64; 3],
        entry: Entry,
        experts: u32,
    ) -> Result<Option<u32>, ExpertTraceFault> {
        let fault = |fault| self.fault(self.place(layer, row, column), fault);
        match entry {
            Entry::None => Ok(None),
            Entry::Whole(expert) if expert < experts.into() => Ok(Some(expert as u32)),
            Entry::Whole(expert) => {
                Err(fault(ExpertTraceFault::NoExpertInArray { text: expert.to_string(), experts }))
            }
            Entry::Fraction(_) => Err(fault(entry.unexpected("an expert (a whole number from 0, or -1)"))),
        }
    }

    /// Passes on the loads of layers, which are the rows unless there is one row in each.
    fn loads(&self, take: TakeEntry<'_>) -> Result<TraceFound, ExpertTraceFault> {
        let [layers, rows, columns] = self.shape;
        let mut loads = Loads::default();
        for (place, entry) in self.all().enumerate() {
            let load = match entry {
                Entry::None => Err(entry.unexpected("a load (a number from 0)")),
                Entry::Whole(number) => Ok(number.into()),
                Entry::Fraction(number) => {
                    number::decimal_of(number).map_err(|_| entry.unexpected("a load (a number from 0)"))
                }
            };
            let load = load.map_err(|fault| self.fault(place as u64, fault))?;
            let place = place as u64;
            let (row, column) = if self.is_by_column {
                (place % (layers * rows), place / (layers * rows))
            } else {
                (place / columns, place % columns)
            };
            if row >= MOST_LAYERS {
                return Err(ExpertTraceFault::TooManyLayers);
            }
            loads.add(row, column as u32, load);
        }
        loads.pass_on(take).map_err(ExpertTraceFault::Refused)
    }
}
