//! Texts as traces.

use std::collections::BTreeSet;

use super::columns::{Columns, Role};
use super::entry::{TakeEntry, TraceEntry, TraceFound, pairs};
use super::fault::{ExpertTraceFault, MOST_LAYERS, Stop, TraceKind, at_start};
use super::loads::Loads;
use viem::base::number::{self, Decimal};
use viem_io::scanner::Scanner;
use viem_io::table::{Field, Fields, Separator, Table, shortened};
use viem_io::{NumberFault, Source};

/// Passes on the entries of a text of a kind that is given or recognised.
pub(super) fn read(
    scanner: &mut Scanner<Source<'_>>,
    experts: u32,
    kind: Option<TraceKind>,
    take: TakeEntry<'_>,
) -> Result<TraceFound, Stop> {
    let mut table = Table::new(scanner);
    let Some(first) = table.next_row() else { return Ok(TraceFound::whole(TraceKind::Choices)) };
    let has_names = has_names(&first, experts, kind);
    let mut form =
        if has_names { Form::named(first, experts, kind) } else { Form::unnamed(first, experts, kind) }?;
    if !has_names {
        form.row(first, take)?;
    }
    while let Some(fields) = table.next_row() {
        form.row(fields, take)?;
    }
    form.end(table.next_line(), take)
}

/// Returns whether a first line names the columns: its first field starts with a letter, or is empty and is beside such names or the numbers of experts.
fn has_names(first: &Fields<'_>, experts: u32, kind: Option<TraceKind>) -> bool {
    let mut fields = *first;
    let names: Vec<&[u8]> = std::iter::from_fn(|| fields.next_of_table()).map(|field| field.text).collect();
    let is_name = |name: &[u8]| {
        name.first().is_some_and(|byte| byte.is_ascii_alphabetic() || b"_".contains(byte) || *byte >= 128)
    };
    match names[..] {
        [[], ref rest @ ..] => {
            let is_counted = rest.len() == experts as usize && kind != Some(TraceKind::Choices);
            rest.iter().any(|name| is_name(name)) || is_counted && are_counted(rest)
        }
        [first, ..] => is_name(first),
        [] => false,
    }
}

/// Returns whether these are the numbers from 0 on.
fn are_counted(names: &[&[u8]]) -> bool {
    (0..).zip(names).all(|(number, name)| number::whole(name) == Ok(number))
}

/// The form of the lines of a file.
enum Form {
    /// A layer and experts.
    Choices(Choices),
    /// A number for each expert.
    Rows(Rows),
    /// A layer, an expert and a load.
    Loads(LoadLines),
    /// The columns have no names, and may hold either.
    Unsure(Unsure),
}

impl Form {
    fn named(fields: Fields<'_>, experts: u32, kind: Option<TraceKind>) -> Result<Self, Stop> {
        let number = fields.number;
        let columns = Columns::named(fields);
        let at_line = |fault| (number, 1, fault);
        let is_of_numbers = kind != Some(TraceKind::Choices);
        if is_of_numbers && columns.is_table(kind == Some(TraceKind::Loads)) {
            return LoadLines::named(columns, experts).map(Self::Loads).map_err(at_line);
        }
        let may_be_steps = kind != Some(TraceKind::Pairs) || !columns.has_steps();
        if is_of_numbers && columns.has_each(experts as usize) && may_be_steps {
            let label = columns.only(Role::Layer, "layers").map_err(at_line)?;
            return Ok(Self::Rows(Rows { label, ..Rows::new(columns, experts, kind) }));
        }
        if matches!(kind, Some(TraceKind::Pairs | TraceKind::Loads)) {
            return Err(at_line(ExpertTraceFault::NoColumn { what: "numbers of tokens" }));
        }
        let columns = columns.by_place();
        columns.check_choices().map_err(at_line)?;
        Ok(Self::Choices(Choices::new(columns, experts)))
    }

    fn unnamed(fields: Fields<'_>, experts: u32, kind: Option<TraceKind>) -> Result<Self, Stop> {
        let (count, each) = (fields.count_of_table(), experts as usize);
        let choices = || Self::Choices(Choices::new(Columns::unnamed(), experts));
        let rows = |label| Self::Rows(Rows { label, ..Rows::new(Columns::unnamed(), experts, kind) });
        Ok(match kind {
            Some(TraceKind::Choices) => choices(),
            Some(TraceKind::Pairs) => rows(None),
            _ if count == each => rows(None),
            Some(TraceKind::Loads) if count == each + 1 => rows(Some(0)),
            Some(TraceKind::Loads) if count <= 3 => Self::Loads(LoadLines::unnamed(count, experts)),
            Some(TraceKind::Loads) => {
                let fault = ExpertTraceFault::OtherLoads { found: count, experts };
                return Err((fields.number, 1, fault));
            }
            None if each > 2 && (count <= 3 || count == each + 1) => {
                let label = (count == each + 1).then_some(0);
                Self::Unsure(Unsure::new(count, label, experts, fields.separator()))
            }
            None => choices(),
        })
    }

    fn row(&mut self, fields: Fields<'_>, take: TakeEntry<'_>) -> Result<(), Stop> {
        match self {
            Self::Choices(choices) => choices.row(fields, take),
            Self::Rows(rows) => rows.row(fields),
            Self::Loads(loads) => loads.row(fields),
            Self::Unsure(unsure) => {
                if !unsure.takes(fields) {
                    let mut choices = unsure.choices(take)?;
                    choices.row(fields, take)?;
                    *self = Self::Choices(choices);
                }
                Ok(())
            }
        }
    }

    /// Ends the reading; `line` follows the last one.
    fn end(self, line: u64, take: TakeEntry<'_>) -> Result<TraceFound, Stop> {
        match self {
            Self::Choices(choices) => choices.end(take),
            Self::Rows(rows) => rows.end(line, take),
            Self::Loads(loads) => loads.end(line, take),
            Self::Unsure(unsure) => unsure.end(line, take),
        }
    }
}

/// A fault of a field that is not a whole number up to a greatest one.
fn not_a_number(
    what: &'static str,
    field: Field<'_>,
    reason: NumberFault,
    greatest: u64,
) -> ExpertTraceFault {
    ExpertTraceFault::NotANumber { what, text: shortened(field.text), reason, least: 0, greatest }
}

fn layer(field: Field<'_>) -> Result<u64, ExpertTraceFault> {
    let greatest = MOST_LAYERS - 1;
    let fault = |reason| Err(not_a_number("a layer", field, reason, greatest));
    match number::whole(field.text) {
        Ok(layer) if layer <= greatest => Ok(layer),
        Ok(_) => fault(NumberFault::TooLarge),
        Err(kind) => fault(kind.into()),
    }
}

fn expert(field: Field<'_>, experts: u32) -> Result<u32, ExpertTraceFault> {
    match number::whole(field.text) {
        Ok(expert) if expert < experts.into() => Ok(expert as u32),
        Ok(_) => Err(ExpertTraceFault::NoExpert { text: shortened(field.text), experts }),
        Err(kind) => Err(not_a_number("an expert", field, kind.into(), u64::from(experts) - 1)),
    }
}

fn load(field: Field<'_>) -> Result<Decimal, ExpertTraceFault> {
    number::decimal(field.text)
        .map_err(|kind| ExpertTraceFault::NoLoad { text: shortened(field.text), reason: kind.into() })
}

/// Lines with a layer and experts.
struct Choices {
    columns: Columns,
    experts: u32,
    has_layer: bool,
    /// True if a line has one of the experts of a token, so that successive lines of a token belong together.
    is_split: bool,
    /// The token that may go on, and those that were.
    token: Option<Token>,
    ended: BTreeSet<(u64, String)>,
}

/// A token and the experts that it has so far.
struct Token {
    layer: u64,
    name: String,
    experts: Vec<u32>,
    line: u64,
}

impl Choices {
    fn new(columns: Columns, experts: u32) -> Self {
        let is_split = columns.has_tokens() && columns.count(Role::Expert) == 1;
        let has_layer = columns.count(Role::Layer) > 0;
        Self { columns, experts, has_layer, is_split, token: None, ended: BTreeSet::new() }
    }

    /// Fields may be empty, but for the layer.
    fn row(&mut self, mut fields: Fields<'_>, take: TakeEntry<'_>) -> Result<(), Stop> {
        let line = fields.number;
        let (mut of_layer, mut chosen, mut name) = (None, Vec::new(), String::new());
        let mut place = 0;
        while let Some(field) = fields.next_of_table() {
            let at_field = |fault| (line, field.column, fault);
            match self.columns.role(place) {
                Role::Layer => of_layer = Some(layer(field).map_err(at_field)?),
                Role::Token | Role::Step if self.is_split => name = name + &shortened(field.text) + " ",
                Role::Token | Role::Step | Role::Index | Role::Count => {}
                Role::Expert | Role::Unknown if field.text.is_empty() => {}
                Role::Expert | Role::Unknown => chosen.push(expert(field, self.experts).map_err(at_field)?),
            }
            place += 1;
        }
        let layer = match of_layer {
            Some(layer) => layer,
            None if self.has_layer => {
                return Err((line, 1, ExpertTraceFault::Missing { expected: "a layer" }));
            }
            None => 0,
        };
        if !self.is_split {
            return pass_on(line, layer, &chosen, take);
        }
        match &mut self.token {
            Some(token) if (token.layer, token.name.as_str()) == (layer, name.trim_end()) => {
                token.experts.extend(chosen);
            }
            _ => {
                self.end_token(take)?;
                let name = name.trim_end().to_owned();
                if self.ended.contains(&(layer, name.clone())) {
                    return Err((line, 1, ExpertTraceFault::TokenAgain { layer, token: name }));
                }
                self.token = Some(Token { layer, name, experts: chosen, line });
            }
        }
        Ok(())
    }

    fn end_token(&mut self, take: TakeEntry<'_>) -> Result<(), Stop> {
        let Some(Token { layer, name, experts, line }) = self.token.take() else { return Ok(()) };
        pass_on(line, layer, &experts, take)?;
        self.ended.insert((layer, name));
        Ok(())
    }

    fn end(mut self, take: TakeEntry<'_>) -> Result<TraceFound, Stop> {
        self.end_token(take)?;
        Ok(TraceFound::whole(TraceKind::Choices))
    }
}

/// Passes on the experts of a token.
fn pass_on(line: u64, layer: u64, experts: &[u32], take: TakeEntry<'_>) -> Result<(), Stop> {
    take(layer, TraceEntry::Token(experts)).map_err(|fault| (line, 1, ExpertTraceFault::Refused(fault)))
}

/// Lines with a number for each expert: pairs or loads, and perhaps a layer.
struct Rows {
    columns: Columns,
    experts: u32,
    kind: Option<TraceKind>,
    /// The column of the layer.
    label: Option<usize>,
    labels: Vec<u64>,
    numbers: Vec<Decimal>,
    first_line: u64,
}

impl Rows {
    fn new(columns: Columns, experts: u32, kind: Option<TraceKind>) -> Self {
        Self { columns, experts, kind, label: None, labels: Vec::new(), numbers: Vec::new(), first_line: 1 }
    }

    fn row(&mut self, mut fields: Fields<'_>) -> Result<(), Stop> {
        let line = fields.number;
        if self.numbers.is_empty() {
            self.first_line = line;
        }
        let (mut place, start) = (0, self.numbers.len());
        while let Some(field) = fields.next_of_table() {
            let at_field = |fault| (line, field.column, fault);
            if self.label == Some(place) {
                self.labels.push(layer(field).map_err(at_field)?);
            } else if ![Role::Index, Role::Step].contains(&self.columns.role(place)) {
                self.numbers.push(self.number(field).map_err(at_field)?);
            }
            place += 1;
        }
        if self.label.is_none() && self.columns.has_steps() {
            // Steps of the only layer.
            self.labels.push(0);
        }
        let found = self.numbers.len() - start;
        if found != self.experts as usize {
            return Err((line, 1, ExpertTraceFault::Columns { found, experts: self.experts }));
        }
        Ok(())
    }

    fn number(&self, field: Field<'_>) -> Result<Decimal, ExpertTraceFault> {
        match (load(field), self.kind) {
            (Ok(number), Some(TraceKind::Pairs)) if number.whole().is_none() => {
                Err(not_a_number("a number of tokens", field, NumberFault::Fractional, u64::MAX))
            }
            (number, _) => number,
        }
    }

    fn num_rows(&self) -> usize {
        self.numbers.len() / self.experts as usize
    }

    fn rows(&self) -> impl Iterator<Item = &[Decimal]> {
        self.numbers.chunks_exact(self.experts as usize)
    }

    /// The number in a row and a column of a square.
    fn at(&self, layer: u64, row: u64, column: u64) -> Decimal {
        let experts = u64::from(self.experts);
        self.numbers[((layer * experts + row) * experts + column) as usize]
    }

    /// Returns whether layers are complete and symmetric.
    fn are_pairs(&self) -> bool {
        let experts = u64::from(self.experts);
        let layers = self.num_rows() as u64 / experts;
        let is_same = |layer, row, column| {
            let number = self.at(layer, row, column);
            number == self.at(layer, column, row) && number.whole().is_some()
        };
        self.num_rows() as u64 == layers * experts
            && (0..layers)
                .all(|layer| (0..experts).all(|row| (0..=row).all(|column| is_same(layer, row, column))))
    }

    /// Returns whether each line may hold a layer and all experts but one.
    fn may_be_choices(&self) -> bool {
        let layers: BTreeSet<u64> = self.rows().map(|row| row[0].digits).collect();
        layers.iter().copied().eq(0..layers.len() as u64)
            && self.rows().all(|row| row[0].whole().is_some() && are_different(&row[1..], self.experts))
    }

    /// The kind that the numbers show.
    fn found_kind(&self) -> Result<TraceKind, ExpertTraceFault> {
        let ambiguous =
            |other, why| Err(ExpertTraceFault::Ambiguous { kinds: [other, TraceKind::Loads], why });
        let is_named = !self.columns.roles.contains(&Role::Layer) || self.label.is_some();
        if !self.labels.is_empty() {
            return match self.rows().all(|row| are_different(row, self.experts)) {
                true => ambiguous(TraceKind::Choices, "each line has the number of each expert once"),
                false => Ok(TraceKind::Loads),
            };
        }
        if self.are_pairs() {
            return Ok(TraceKind::Pairs);
        }
        if self.num_rows().is_multiple_of(self.experts as usize) && self.num_rows() > 1 {
            return ambiguous(
                TraceKind::Pairs,
                "there are as many lines for a layer as pairs need, but experts have other numbers of tokens the other way round",
            );
        }
        if !is_named && self.may_be_choices() {
            return ambiguous(TraceKind::Choices, "each line may also be a layer and all experts but one");
        }
        let first: Vec<u64> =
            self.rows().next().unwrap_or_default().iter().filter_map(|number| number.whole()).collect();
        if self.experts > 2
            && self.num_rows() > 1
            && !is_named
            && first.iter().copied().eq(0..self.experts.into())
        {
            return Err(ExpertTraceFault::Unexpected {
                text: "0,1,2...".to_owned(),
                expected: "clearly a line of loads, nor one of the numbers of experts; let a first line name the columns, such as e0,e1,e2",
            });
        }
        Ok(TraceKind::Loads)
    }

    fn end(self, line: u64, take: TakeEntry<'_>) -> Result<TraceFound, Stop> {
        if self.numbers.is_empty() {
            return Ok(TraceFound::whole(self.kind.unwrap_or(TraceKind::Loads)));
        }
        let at_first = |fault| (self.first_line, 1, fault);
        let kind = self.kind.map_or_else(|| self.found_kind(), Ok).map_err(at_first)?;
        let experts = self.experts;
        if kind == TraceKind::Loads {
            let loads = self.loads().map_err(|fault| (line, 1, fault))?;
            let found = loads.pass_on(take).map_err(|fault| at_start(ExpertTraceFault::Refused(fault)))?;
            return Ok(TraceFound { summed_over: self.columns.summed_over(), ..found });
        }
        if !self.num_rows().is_multiple_of(experts as usize) {
            let rows = self.num_rows() % experts as usize;
            return Err((line, 1, ExpertTraceFault::Rows { rows, experts }));
        }
        for layer in 0..(self.num_rows() / experts as usize) as u64 {
            if layer >= MOST_LAYERS {
                return Err((line, 1, ExpertTraceFault::TooManyLayers));
            }
            let number = |row, column| self.at(layer, row, column).whole().unwrap_or(0);
            pairs(layer, experts, &number, take).map_err(at_first)?;
        }
        Ok(TraceFound::whole(kind))
    }

    /// The loads, a layer in each row.
    fn loads(&self) -> Result<Loads, ExpertTraceFault> {
        let mut loads = Loads::default();
        for (row, numbers) in self.rows().enumerate() {
            let layer = self.labels.get(row).copied().unwrap_or(row as u64);
            if layer >= MOST_LAYERS {
                return Err(ExpertTraceFault::TooManyLayers);
            }
            (0..).zip(numbers).for_each(|(expert, &load)| loads.add(layer, expert, load));
        }
        Ok(loads)
    }
}

/// Returns whether these are different experts.
fn are_different(numbers: &[Decimal], experts: u32) -> bool {
    let is_expert = |number: &Decimal| number.whole().is_some_and(|expert| expert < experts.into());
    let different: BTreeSet<u64> = numbers.iter().map(|number| number.digits).collect();
    numbers.iter().all(is_expert) && different.len() == numbers.len()
}

/// Lines with a layer, an expert and a load. Loads of an expert are summed.
struct LoadLines {
    layer: Option<usize>,
    /// The experts follow each other if there is none.
    expert: Option<usize>,
    count: usize,
    num_columns: usize,
    passed_over: Vec<String>,
    summed_over: Vec<String>,
    experts: u32,
    loads: Loads,
}

impl LoadLines {
    fn named(columns: Columns, experts: u32) -> Result<Self, ExpertTraceFault> {
        let count = columns.only(Role::Count, "numbers of tokens")?;
        Ok(Self {
            layer: columns.only(Role::Layer, "layers")?,
            expert: columns.only(Role::Expert, "experts")?,
            count: count.ok_or(ExpertTraceFault::NoColumn { what: "numbers of tokens" })?,
            num_columns: columns.roles.len(),
            passed_over: columns.passed_over(),
            summed_over: columns.summed_over(),
            experts,
            loads: Loads::default(),
        })
    }

    /// The last columns of three: a layer, an expert, a load.
    fn unnamed(count: usize, experts: u32) -> Self {
        Self {
            layer: (count > 2).then_some(0),
            expert: (count > 1).then(|| count - 2),
            count: count - 1,
            num_columns: count,
            passed_over: Vec::new(),
            summed_over: Vec::new(),
            experts,
            loads: Loads::default(),
        }
    }

    fn row(&mut self, fields: Fields<'_>) -> Result<(), Stop> {
        let (layer, expert, load) = self.read(fields)?;
        self.loads.add(layer, expert, load);
        Ok(())
    }

    fn read(&self, mut fields: Fields<'_>) -> Result<(u64, u32, Decimal), Stop> {
        let line = fields.number;
        let (mut of_layer, mut of_expert, mut count) = (0, None, None);
        let mut place = 0;
        while let Some(field) = fields.next_of_table() {
            let at_field = |fault| (line, field.column, fault);
            if self.layer == Some(place) {
                of_layer = layer(field).map_err(at_field)?;
            } else if self.expert == Some(place) {
                of_expert = Some(expert(field, self.experts).map_err(at_field)?);
            } else if self.count == place {
                count = Some(load(field).map_err(at_field)?);
            }
            place += 1;
        }
        if place != self.num_columns {
            let fault = ExpertTraceFault::OtherColumns { found: place, expected: self.num_columns };
            return Err((line, 1, fault));
        }
        let next = self.loads.len();
        let of_expert = match (self.expert, of_expert) {
            (None, _) if next < self.experts as usize => next as u32,
            (Some(_), Some(expert)) => expert,
            _ => {
                return Err((
                    line,
                    1,
                    ExpertTraceFault::OtherLoads { found: next + 1, experts: self.experts },
                ));
            }
        };
        Ok((of_layer, of_expert, count.unwrap_or(0.into())))
    }

    fn end(self, line: u64, take: TakeEntry<'_>) -> Result<TraceFound, Stop> {
        let (found, experts) = (self.loads.len(), self.experts);
        if self.expert.is_none() && found != experts as usize {
            return Err((line, 1, ExpertTraceFault::OtherLoads { found, experts }));
        }
        let (passed_over, summed_over) = (self.passed_over, self.summed_over);
        let found = self.loads.pass_on(take).map_err(|fault| at_start(ExpertTraceFault::Refused(fault)))?;
        Ok(TraceFound { passed_over, summed_over, ..found })
    }
}

/// Lines that may be those of loads or of choices.
struct Unsure {
    reader: LoadReader,
    experts: u32,
    separator: Separator,
    lines: Vec<(u64, Vec<u8>)>,
    /// The layers and experts whose loads there are.
    seen: BTreeSet<(u64, u32)>,
    /// True if each line may be one of a token.
    may_be_choices: bool,
}

/// The form of the lines if they hold loads.
enum LoadReader {
    Lines(LoadLines),
    Rows(Rows),
}

impl Unsure {
    fn new(count: usize, label: Option<usize>, experts: u32, separator: Separator) -> Self {
        let kind = Some(TraceKind::Loads);
        let reader = match label {
            None => LoadReader::Lines(LoadLines::unnamed(count, experts)),
            Some(_) => LoadReader::Rows(Rows { label, ..Rows::new(Columns::unnamed(), experts, kind) }),
        };
        Self { reader, experts, separator, lines: Vec::new(), seen: BTreeSet::new(), may_be_choices: true }
    }

    /// Returns whether a line may be one of loads, each of which there is once.
    fn takes(&mut self, fields: Fields<'_>) -> bool {
        let is_taken = match &mut self.reader {
            LoadReader::Lines(lines) => match lines.read(fields) {
                Ok((layer, expert, load)) => {
                    lines.loads.add(layer, expert, load);
                    let choice = load.whole().is_some_and(|load| load < self.experts.into());
                    let is_other = lines.num_columns < 3 || load.digits != u64::from(expert);
                    self.may_be_choices &= choice && is_other && lines.num_columns > 1;
                    self.seen.insert((layer, expert))
                }
                Err(_) => false,
            },
            LoadReader::Rows(rows) => rows.row(fields).is_ok(),
        };
        if is_taken {
            self.lines.push(fields.kept());
        }
        is_taken
    }

    /// The reader of choices, after the lines so far.
    fn choices(&mut self, take: TakeEntry<'_>) -> Result<Choices, Stop> {
        let mut choices = Choices::new(Columns::unnamed(), self.experts);
        for line in std::mem::take(&mut self.lines) {
            choices.row(Fields::of(&line, self.separator), take)?;
        }
        Ok(choices)
    }

    fn end(mut self, line: u64, take: TakeEntry<'_>) -> Result<TraceFound, Stop> {
        let first_line = self.lines.first().map_or(1, |line| line.0);
        let ambiguous = |why| {
            let kinds = [TraceKind::Choices, TraceKind::Loads];
            Err((first_line, 1, ExpertTraceFault::Ambiguous { kinds, why }))
        };
        let layers: BTreeSet<u64> = self.seen.iter().map(|&(layer, _)| layer).collect();
        let is_complete = self.seen.len() == layers.len() * self.experts as usize;
        match self.reader {
            LoadReader::Rows(ref rows) if rows.found_kind().is_err() => {
                ambiguous("each line has the number of each expert once")
            }
            LoadReader::Rows(rows) => rows.end(line, take),
            LoadReader::Lines(lines) if lines.num_columns == 1 => lines.end(line, take),
            LoadReader::Lines(_) if !is_complete => self.choices(take)?.end(take),
            LoadReader::Lines(_) if self.may_be_choices => {
                ambiguous("no line names the columns, as layer,expert,count or layer,expert,expert would")
            }
            LoadReader::Lines(lines) => lines.end(line, take),
        }
    }
}
