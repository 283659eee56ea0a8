//! The one parser of graph files, under the reader, the checker and the repair.
//!
//! It makes one pass over the text and takes memory as it reads, for the content: 8 bytes a vertex, 4 an arc
//! (its head), and 8 an arc with a weight; up to 4 more an arc for its [column](super::columns), so that faults found later can be
//! named by their place. Vertices are numbered from 1. A file that numbers from 0 is detected. Each row is put into ascending order as it is read, which costs next to nothing
//! where it already is, and makes parallel arcs neighbours and the symmetry check a merge.

use std::collections::BinaryHeap;
use std::io::Read;
use std::ops::{ControlFlow, Range};

use super::columns::{Arcs, Columns};
use super::fault::{FaultKind, Faults, Role};
use super::header::Header;
use crate::scanner::{Scanner, TextKind, Token};
use viem::base::memory::{self, OutOfMemory};
use viem::base::number::NumberFault;
use viem::base::threads;
use viem::base::types::{NodeId, Weight};
use viem::graph::fingerprint::is_surely_symmetric;
use viem::graph::validation::{Asymmetry, visit_asymmetries};

/// The sizes and weights of vertices that are kept; all are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    Nothing,
    FirstWeight,
    /// The first weight where there are more vertices than this, else nothing.
    FirstWeightBeyond(usize),
    AllWeights,
    /// All weights where there are more vertices than this, else nothing.
    AllWeightsBeyond(usize),
    Everything,
}

/// The rows of a graph file.
pub(super) struct Rows {
    pub(super) header: Header,
    pub(super) offsets: Vec<usize>,
    pub(super) targets: Vec<NodeId>,
    /// The weights by arc; empty unless the header declares edge weights. 0 where the file has no valid one.
    pub(super) weights: Vec<Weight>,
    /// The kept sizes and weights, vertex after vertex.
    pub(super) node_values: Vec<Weight>,
    /// Column of each arc.
    pub(super) columns: Columns,
    pub(super) lines: Lines,
    /// Neighbours listed, those included that are no arcs.
    pub(super) entries: u64,
    /// The number of the first vertex.
    pub(super) first: u64,
    /// The sums over the rows before the first of these.
    before: Before,
    /// Sum of the kept weights, those before included; 0 again after each overflow.
    weight_sum: Weight,
    has_overflowed: bool,
}

/// The sums over the rows before a part of a file.
#[derive(Clone, Copy, Default)]
pub(super) struct Before {
    pub(super) rows: usize,
    pub(super) arcs: usize,
    pub(super) weight_sum: Weight,
}

/// Working memory of a row.
#[derive(Default)]
struct RowMemory {
    /// Column of each arc; the greatest one stands for all beyond 2^32.
    columns: Vec<u32>,
    /// Buffer for sorting: heads and columns.
    unweighted: Vec<u64>,
    /// The same, and weights.
    weighted: Vec<(u64, Weight)>,
}

/// Lines of the vertices: where a run of vertices on consecutive lines starts.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines {
    runs: Vec<(usize, u64)>,
    next: u64,
}

impl Lines {
    /// The line of the next of `num_nodes` vertices.
    fn push(&mut self, node: usize, line: u64, num_nodes: usize) -> Result<(), OutOfMemory> {
        if line != self.next || node == 0 {
            if self.runs.len() == self.runs.capacity() {
                memory::grow(&mut self.runs, num_nodes)?;
            }
            self.runs.push((node, line));
        }
        self.next = line + 1;
        Ok(())
    }

    /// Appends the lines of vertices that follow.
    fn append(&mut self, later: &Self, num_nodes: usize) -> Result<(), OutOfMemory> {
        // The first run may go on with the last one here.
        let goes_on = later.runs.first().is_some_and(|&(node, line)| node > 0 && line == self.next);
        for &run in &later.runs[usize::from(goes_on)..] {
            if self.runs.len() == self.runs.capacity() {
                memory::grow(&mut self.runs, num_nodes)?;
            }
            self.runs.push(run);
        }
        self.next = if later.next > 0 { later.next } else { self.next };
        Ok(())
    }

    pub(super) fn line(&self, node: usize) -> u64 {
        let run = self.runs.partition_point(|&(first, _)| first <= node) - 1;
        let (first, line) = self.runs[run];
        line + (node - first) as u64
    }
}

impl Rows {
    /// No rows yet of a file with this header, whose vertices are counted from `first`.
    pub(super) fn new(header: Header, first: u64, before: Before) -> Self {
        Self {
            header,
            offsets: vec![0],
            targets: Vec::new(),
            weights: Vec::new(),
            node_values: Vec::new(),
            columns: Columns::default(),
            lines: Lines::default(),
            entries: 0,
            first,
            before,
            weight_sum: before.weight_sum,
            has_overflowed: false,
        }
    }

    /// Returns the sums over all rows up to the end of these.
    pub(super) fn reached(&self) -> Before {
        Before {
            rows: self.before.rows + self.offsets.len() - 1,
            arcs: self.before.arcs + self.targets.len(),
            weight_sum: self.weight_sum,
        }
    }

    /// Returns whether rows that follow these were parsed as they would be after them, though without knowing their sums: no sum overflows, and
    /// there are not too many arcs.
    pub(super) fn can_append(&self, later: &Self) -> bool {
        let arcs = self.targets.len() + later.targets.len();
        !later.has_overflowed
            && self.weight_sum.checked_add(later.weight_sum).is_some()
            && arcs < u32::MAX as usize
    }

    /// Forgets all rows, but not the memory they took.
    pub(super) fn restart(&mut self, before: Before) {
        let Self { offsets, targets, weights, node_values, columns, .. } = self;
        offsets.truncate(1);
        targets.clear();
        weights.clear();
        node_values.clear();
        columns.clear();
        (self.lines, self.entries) = (Lines::default(), 0);
        (self.before, self.weight_sum, self.has_overflowed) = (before, before.weight_sum, false);
    }

    /// Appends rows that follow these, parsed with the sums before them if `knows_sum`.
    pub(super) fn append(&mut self, later: &Self, knows_sum: bool) -> Result<(), OutOfMemory> {
        let (rows, arcs, base) = (self.header.num_nodes, self.promised_arcs(), self.targets.len());
        threads::append(&mut self.targets, &later.targets, arcs)?;
        self.columns.append(&later.columns, base, arcs)?;
        threads::append(&mut self.weights, &later.weights, arcs)?;
        let each = later.node_values.len().div_ceil((later.offsets.len() - 1).max(1));
        threads::append(&mut self.node_values, &later.node_values, rows.saturating_mul(each))?;
        memory::make_room(&mut self.offsets, later.offsets.len() - 1, rows + 1)?;
        self.offsets.extend(later.offsets[1..].iter().map(|offset| base + offset));
        self.lines.append(&later.lines, rows)?;
        self.entries += later.entries;
        self.weight_sum = later.weight_sum + if knows_sum { 0 } else { self.weight_sum };
        Ok(())
    }

    /// Returns the number of arcs that the header promises.
    fn promised_arcs(&self) -> usize {
        usize::try_from(self.header.num_edges.saturating_mul(2)).unwrap_or(usize::MAX)
    }

    /// Makes room for more arcs, in all arrays that have an entry for each.
    #[cold]
    fn grow(&mut self, row: &mut RowMemory) -> Result<(), OutOfMemory> {
        let promised = self.promised_arcs();
        if self.targets.len() == self.targets.capacity() {
            memory::grow(&mut self.targets, promised)?;
            if self.header.has_edge_weights {
                memory::grow(&mut self.weights, promised)?;
            }
        }
        if row.columns.len() == row.columns.capacity() {
            memory::grow(&mut row.columns, promised)?;
        }
        Ok(())
    }

    /// Notes that the last row, whose arcs begin at `start`, is spelled plainly from this column on, in ascending order.
    #[inline(always)]
    fn push_plain_columns(&mut self, start: usize, column: u32) -> Result<(), OutOfMemory> {
        let is_empty = self.targets.len() == start;
        if is_empty { Ok(()) } else { self.columns.push_plain(start, column, self.promised_arcs()) }
    }

    /// Notes the columns of arcs from `from` on, the last ones so far, which are spelled plainly from `column` on.
    fn spell_columns(&self, from: usize, column: u64, row: &mut RowMemory) -> Result<(), OutOfMemory> {
        let arcs = self.arcs(from..self.targets.len());
        memory::make_room(&mut row.columns, arcs.heads.len(), self.promised_arcs())?;
        row.columns.extend(arcs.columns(column));
        Ok(())
    }

    /// Notes the columns of the last row, whose arcs begin at `start`.
    fn push_columns(&mut self, start: usize, columns: &[u32], is_ascending: bool) -> Result<(), OutOfMemory> {
        let (promised, before_last) = (self.promised_arcs(), start..start + columns.len().saturating_sub(1));
        let is_plain = is_ascending && self.arcs(before_last).are_plain(columns);
        self.columns.push_row(start, columns, is_plain, promised)
    }

    /// Some arcs of a row.
    #[inline(always)]
    fn arcs(&self, arcs: Range<usize>) -> Arcs<'_> {
        let weights = self.header.has_edge_weights.then(|| &self.weights[arcs.clone()]);
        Arcs { heads: &self.targets[arcs], weights, first: self.first as NodeId }
    }

    /// The column of an arc of a vertex.
    fn column(&self, node: NodeId, arc: usize) -> u64 {
        let start = self.offsets[node as usize];
        self.columns.of(start, self.arcs(start..arc))
    }

    fn add_asymmetry(&self, asymmetry: Asymmetry, faults: &mut Faults) -> ControlFlow<()> {
        let from_one = |node: NodeId| u64::from(node) + self.first;
        match asymmetry {
            Asymmetry::MissingBackward { node, arc } => {
                let target = self.targets[arc];
                let kind = FaultKind::MissingBackwardArc {
                    node: from_one(node),
                    target: from_one(target),
                    target_line: self.lines.line(target as usize),
                };
                let line = self.lines.line(node as usize);
                faults.add(line, self.column(node, arc), kind, || from_one(target).to_string())
            }
            Asymmetry::UnequalWeights { node, arc, backward } => {
                let target = self.targets[arc];
                let kind = FaultKind::UnequalWeights {
                    node: from_one(node),
                    target: from_one(target),
                    forward: self.weights[arc],
                    backward: self.weights[backward],
                    backward_line: self.lines.line(target as usize),
                };
                let text = || format!("{} {}", from_one(target), self.weights[arc]);
                faults.add(self.lines.line(node as usize), self.column(node, arc), kind, text)
            }
        }
    }
}

/// Parses a text whose first vertex has this number. `None` if a fault stopped it; then `faults` holds at least one.
pub(super) fn parse<R: Read>(
    scanner: &mut Scanner<R>,
    keep: Keep,
    first: u64,
    faults: &mut Faults,
) -> Result<Option<Rows>, OutOfMemory> {
    parse_with(scanner, keep, first, faults, |parser, rows, keep| parser.rows(rows, keep, true))
}

/// The same where `read_rows` parses the lines of all vertices.
pub(super) fn parse_with<R: Read>(
    scanner: &mut Scanner<R>,
    keep: Keep,
    first: u64,
    faults: &mut Faults,
    read_rows: impl FnOnce(&mut Parser<'_, R>, &mut Rows, Keep) -> ControlFlow<()>,
) -> Result<Option<Rows>, OutOfMemory> {
    let mut parser = Parser { scanner, faults, lack: None };
    match (parser.parse(keep, first, read_rows), parser.lack) {
        (_, Some(lack)) => Err(lack),
        (ControlFlow::Continue(rows), None) => Ok(Some(rows)),
        (ControlFlow::Break(()), None) => Ok(None),
    }
}

/// The numbering of vertices with which the start of a file is read as a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FitsGraph {
    /// Vertices count from 1, as they should.
    FromOne,
    /// Vertices count from 0.
    FromZero,
}

/// Returns whether a file that starts like this is a graph as far as its start shows: it has only faults that the rest of the file may explain.
pub(crate) fn fits_graph(start: &[u8], is_whole: bool, how: FitsGraph) -> bool {
    let end = if is_whole {
        start.len()
    } else {
        start.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1)
    };
    let mut faults = Faults::all(3);
    let first = u64::from(how == FitsGraph::FromOne);
    let rows = parse(&mut Scanner::new(&start[..end]), Keep::Nothing, first, &mut faults);
    let is_explained = |fault: &FaultKind| {
        matches!(fault, FaultKind::TooFewLines { .. } | FaultKind::WrongEdgeCount { .. }) && !is_whole
    };
    matches!(rows, Ok(Some(_)))
        && faults.total == faults.kept.len() as u64
        && faults.kept.iter().all(|fault| is_explained(&fault.kind))
}

/// Returns whether a graph counts its vertices from 0, as far as its start shows.
pub(super) fn counts_from_zero(start: &[u8], is_whole: bool) -> bool {
    !fits_graph(start, is_whole, FitsGraph::FromOne) && fits_graph(start, is_whole, FitsGraph::FromZero)
}

/// The meanings of the numbers of the header, in their order.
const ROLES: [Role; 4] = [Role::NumNodes, Role::NumEdges, Role::Format, Role::NumConstraints];

/// The numbers of the header as they are read.
struct HeaderNumbers {
    /// Those there are; 0 where there is none.
    numbers: Vec<u64>,
    /// The column of each, from 1.
    columns: [u64; ROLES.len()],
    /// True if there was no fault.
    is_valid: bool,
}

pub(super) struct Parser<'a, R> {
    pub(super) scanner: &'a mut Scanner<R>,
    pub(super) faults: &'a mut Faults,
    /// The allocation that failed, if it is that which stopped the parser.
    pub(super) lack: Option<OutOfMemory>,
}

impl<R: Read> Parser<'_, R> {
    fn parse(
        &mut self,
        keep: Keep,
        first: u64,
        read_rows: impl FnOnce(&mut Self, &mut Rows, Keep) -> ControlFlow<()>,
    ) -> ControlFlow<(), Rows> {
        let (header, place_of_count) = self.header()?;
        let keep = match keep {
            Keep::FirstWeightBeyond(most) if header.num_nodes > most => Keep::FirstWeight,
            Keep::AllWeightsBeyond(most) if header.num_nodes > most => Keep::AllWeights,
            Keep::FirstWeightBeyond(_) | Keep::AllWeightsBeyond(_) => Keep::Nothing,
            keep => keep,
        };
        self.scanner.allow_blank_rows(header.num_nodes);
        let mut rows = Rows::new(header, first, Before::default());
        read_rows(self, &mut rows, keep)?;
        self.check_edges(&rows, place_of_count)?;
        ControlFlow::Continue(rows)
    }

    /// Goes on if there was enough memory.
    #[inline(always)]
    pub(super) fn or_stop_if(&mut self, result: Result<(), OutOfMemory>) -> ControlFlow<()> {
        if result.is_err() { self.or_stop(result) } else { ControlFlow::Continue(()) }
    }

    /// The same where memory was asked for.
    #[cold]
    fn or_stop(&mut self, result: Result<(), OutOfMemory>) -> ControlFlow<()> {
        self.lack = result.err();
        if self.lack.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// The header, and line and column of its number of edges; a fault in it ends the search, as nothing after it has
    /// a meaning.
    pub(super) fn header(&mut self) -> ControlFlow<(), (Header, (u64, u64))> {
        if !self.scanner.has_line() {
            self.fault_here(Token::End, FaultKind::MissingHeader)?;
            return ControlFlow::Break(());
        }
        let line = self.scanner.line();
        let HeaderNumbers { numbers, columns, mut is_valid } = self.header_numbers()?;
        if numbers.len() < 2 {
            let kind = match numbers.len() {
                0 => FaultKind::MissingHeader,
                _ => FaultKind::ShortHeader { missing: Role::NumEdges },
            };
            self.fault_here(Token::LineEnd, kind)?;
            return ControlFlow::Break(());
        }
        let format = numbers.get(2).copied().unwrap_or(0);
        let constraints = numbers.get(3).copied().unwrap_or(0);
        let has_node_weights = format / 10 % 10 == 1;
        if constraints > 0 && !has_node_weights && is_valid {
            let kind = FaultKind::ConstraintsWithoutWeights { constraints };
            self.faults.add(line, columns[3], kind, || constraints.to_string())?;
            is_valid = false;
        }
        self.scanner.skip_line();
        if !is_valid {
            return ControlFlow::Break(());
        }
        let header = Header {
            num_nodes: numbers[0] as usize,
            num_edges: numbers[1],
            has_node_sizes: format / 100 == 1,
            num_constraints: if has_node_weights { constraints.max(1) } else { 0 },
            has_edge_weights: format % 10 == 1,
        };
        ControlFlow::Continue((header, (line, columns[1])))
    }

    /// The numbers of the header, up to the end of the line or to what is too much.
    fn header_numbers(&mut self) -> ControlFlow<(), HeaderNumbers> {
        let mut header = HeaderNumbers { numbers: Vec::new(), columns: [1; ROLES.len()], is_valid: true };
        loop {
            let token = self.scanner.next_token();
            if matches!(token, Token::LineEnd | Token::End) {
                return ControlFlow::Continue(header);
            }
            let index = header.numbers.len();
            let Some(&role) = ROLES.get(index) else {
                self.fault_here(token, FaultKind::LongHeader)?;
                header.is_valid = false;
                return ControlFlow::Continue(header);
            };
            if token == Token::Text(TextKind::CarriageReturn) {
                self.bad_number(token, role)?;
                return ControlFlow::Break(());
            }
            header.columns[index] = self.scanner.column();
            if role == Role::Format && !self.is_format(token) {
                self.fault_here(token, FaultKind::BadFormat)?;
                header.is_valid = false;
            }
            let number = if role == Role::Format { Some(0) } else { self.number(token, role)? };
            header.is_valid &= number.is_some();
            header.numbers.push(match token {
                Token::Number(number) => number,
                _ => 0,
            });
        }
    }

    /// Returns whether the last token, which was `token`, is a format: up to three digits, each 0 or 1.
    fn is_format(&self, token: Token) -> bool {
        let Token::Number(number) = token else { return false };
        let spelling = self.scanner.spelling();
        spelling.len() <= 3
            && spelling.bytes().all(|byte| byte.is_ascii_digit())
            && [number / 100, number / 10 % 10, number % 10].iter().all(|&d| d < 2)
    }

    /// The lines of the vertices, and what follows the last of them; of a part of a text the rows that it has, which need not be all
    /// unless the part is the last.
    pub(super) fn rows(&mut self, rows: &mut Rows, keep: Keep, is_last: bool) -> ControlFlow<()> {
        if rows.header.has_edge_weights {
            self.rows_with::<true>(rows, keep, is_last)
        } else {
            self.rows_with::<false>(rows, keep, is_last)
        }
    }

    fn rows_with<const WEIGHTED: bool>(
        &mut self,
        rows: &mut Rows,
        keep: Keep,
        is_last: bool,
    ) -> ControlFlow<()> {
        let expected = rows.header.num_nodes;
        let mut row = RowMemory::default();
        for node in rows.reached().rows..expected {
            if !self.scanner.has_line() {
                if !is_last {
                    return ControlFlow::Continue(());
                }
                let kind = FaultKind::TooFewLines { expected: expected as u64, found: node as u64 };
                return self.fault_here(Token::End, kind);
            }
            let result = rows.lines.push(node, self.scanner.line(), expected);
            self.or_stop_if(result)?;
            self.node_values(rows, node, keep)?;
            self.arcs::<WEIGHTED>(rows, node, &mut row)?;
            self.scanner.skip_line();
        }
        while self.scanner.has_line() {
            match self.scanner.next_token() {
                Token::LineEnd | Token::End => self.scanner.skip_line(),
                token => {
                    let kind = FaultKind::TooManyLines { expected: expected as u64 };
                    return self.fault_here(token, kind);
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// The size and the weights at the start of a line.
    fn node_values(&mut self, rows: &mut Rows, node: usize, keep: Keep) -> ControlFlow<()> {
        let Header { has_node_sizes, num_constraints, .. } = rows.header;
        let first_weight = u64::from(has_node_sizes);
        for index in 0..first_weight + num_constraints {
            let role = if index < first_weight { Role::NodeSize } else { Role::NodeWeight };
            let token = self.scanner.next_token();
            if matches!(token, Token::LineEnd | Token::End) {
                return self.fault_here(token, FaultKind::MissingNodeValue { role, node: node as u64 + 1 });
            }
            let value = self.number(token, role)?.unwrap_or(0) as Weight;
            if rows.node_values.len() == rows.node_values.capacity() && keep != Keep::Nothing {
                let each = match keep {
                    Keep::Everything => first_weight + num_constraints,
                    Keep::AllWeights => num_constraints,
                    _ => 1,
                };
                let promised = rows.header.num_nodes.saturating_mul(each as usize);
                let result = memory::grow(&mut rows.node_values, promised);
                self.or_stop(result)?;
            }
            let is_weight = index >= first_weight && keep == Keep::AllWeights;
            let is_summed = index == first_weight && matches!(keep, Keep::FirstWeight | Keep::AllWeights);
            if keep == Keep::Everything || is_weight || is_summed {
                rows.node_values.push(value);
            }
            if is_summed {
                let (sum, overflows) = rows.weight_sum.overflowing_add(value);
                if overflows {
                    rows.has_overflowed = true;
                    self.fault_here(token, FaultKind::NodeWeightOverflow)?;
                }
                rows.weight_sum = if overflows { 0 } else { sum };
            }
        }
        ControlFlow::Continue(())
    }

    /// The neighbours that a line lists, put into ascending order.
    #[inline(always)]
    fn arcs<const WEIGHTED: bool>(
        &mut self,
        rows: &mut Rows,
        node: usize,
        row: &mut RowMemory,
    ) -> ControlFlow<()> {
        let count = rows.header.num_nodes as u64;
        let (own, first) = (node as u64 + rows.first, rows.first);
        let start = rows.targets.len();
        let (mut last, mut is_ascending) = (0, true);
        row.columns.clear();
        loop {
            // Most arcs are spelled plainly. Whatever else there is, and each fault, comes after them.
            let (from, Rows { targets, weights, .. }) = (rows.targets.len(), &mut *rows);
            let (column, ends_line) = self.scanner.plain_arcs::<WEIGHTED>(|target, weight| {
                let is_plain = target.wrapping_sub(first) < count && target != own && weight > 0;
                if !is_plain || targets.len() == targets.capacity() {
                    return false;
                }
                is_ascending &= last < target;
                last = target;
                targets.push((target - first) as NodeId);
                if WEIGHTED {
                    weights.push(weight as Weight);
                }
                true
            });
            if ends_line && from == start && is_ascending && column < u64::from(u32::MAX) {
                let result = rows.push_plain_columns(start, column as u32);
                return self.end_row(rows, start, result);
            }
            let result = rows.spell_columns(from, column, row);
            self.or_stop_if(result)?;
            if ends_line {
                break;
            }
            let token = self.scanner.next_token();
            if matches!(token, Token::LineEnd | Token::End) {
                break;
            }
            let column = self.scanner.column().min(u64::from(u32::MAX)) as u32;
            let target = self.neighbour(token, first, count)?;
            if target == Some(own) {
                let leads = rows.targets.len() == start;
                self.fault_here(token, FaultKind::SelfLoop { node: own, leads })?;
            }
            let weight = if WEIGHTED { self.edge_weight(own, target)? } else { 0 };
            let Some(target) = target else {
                rows.entries += 1;
                continue;
            };
            is_ascending &= last < target;
            last = target;
            if rows.targets.len() == rows.targets.capacity() || row.columns.len() == row.columns.capacity() {
                let result = rows.grow(row);
                self.or_stop(result)?;
            }
            rows.targets.push((target - first) as NodeId);
            row.columns.push(column);
            if WEIGHTED {
                rows.weights.push(weight);
            }
        }
        if !is_ascending {
            self.sort_row::<WEIGHTED>(rows, node, start, row)?;
        }
        let result = rows.push_columns(start, &row.columns, is_ascending);
        self.end_row(rows, start, result)
    }

    /// The vertex that a token of a row names, counted as in the file; what is none is a fault.
    #[inline(always)]
    fn neighbour(&mut self, token: Token, first: u64, count: u64) -> ControlFlow<(), Option<u64>> {
        match token {
            Token::Number(target) if target.wrapping_sub(first) < count => {
                ControlFlow::Continue(Some(target))
            }
            _ => {
                self.bad_neighbour(token, count)?;
                ControlFlow::Continue(None)
            }
        }
    }

    /// Ends the row whose arcs begin at `start`, once its columns are noted.
    #[inline(always)]
    fn end_row(&mut self, rows: &mut Rows, start: usize, noted: Result<(), OutOfMemory>) -> ControlFlow<()> {
        self.or_stop_if(noted)?;
        rows.entries += (rows.targets.len() - start) as u64;
        if rows.before.arcs + rows.targets.len() >= u32::MAX as usize {
            self.fault_here(Token::LineEnd, FaultKind::TooManyArcs)?;
            return ControlFlow::Break(());
        }
        if rows.offsets.len() == rows.offsets.capacity() {
            let result = memory::grow(&mut rows.offsets, rows.header.num_nodes + 1);
            self.or_stop(result)?;
        }
        rows.offsets.push(rows.targets.len());
        ControlFlow::Continue(())
    }

    #[cold]
    fn bad_neighbour(&mut self, token: Token, count: u64) -> ControlFlow<()> {
        match token {
            Token::Number(0) => self.fault_here(token, FaultKind::NeighbourZero { count }),
            Token::Number(_) => self.fault_here(token, FaultKind::NeighbourOutOfRange { count }),
            _ => self.bad_number(token, Role::Neighbour),
        }
    }

    /// The weight after a neighbour; 0 if there is no valid one.
    #[inline(always)]
    fn edge_weight(&mut self, node: u64, target: Option<u64>) -> ControlFlow<(), Weight> {
        match self.scanner.next_token() {
            token @ (Token::LineEnd | Token::End) => {
                if let Some(target) = target {
                    self.fault_here(token, FaultKind::MissingEdgeWeight { node, target })?;
                }
                ControlFlow::Continue(0)
            }
            token => {
                let weight = self.number(token, Role::EdgeWeight)?;
                ControlFlow::Continue(weight.unwrap_or(0) as Weight)
            }
        }
    }

    /// Puts the last row into ascending order and looks for parallel arcs in it.
    fn sort_row<const WEIGHTED: bool>(
        &mut self,
        rows: &mut Rows,
        node: usize,
        start: usize,
        row: &mut RowMemory,
    ) -> ControlFlow<()> {
        // Rows are short, so what counts is that the items compared are small: one word each, the head
        // above the column, which keeps parallel arcs in the order of the line.
        let keys = rows.targets[start..].iter().zip(&row.columns);
        let keys = keys.map(|(&target, &column)| u64::from(target) << 32 | u64::from(column));
        if WEIGHTED {
            row.weighted.clear();
            row.weighted.extend(keys.zip(rows.weights[start..].iter().copied()));
            row.weighted.sort_unstable_by_key(|&(key, _)| key);
            for ((arc, &(key, weight)), column) in (start..).zip(&row.weighted).zip(&mut row.columns) {
                (rows.targets[arc], *column) = ((key >> 32) as NodeId, key as u32);
                rows.weights[arc] = weight;
            }
        } else {
            row.unweighted.clear();
            row.unweighted.extend(keys);
            row.unweighted.sort_unstable();
            for ((arc, &key), column) in (start..).zip(&row.unweighted).zip(&mut row.columns) {
                (rows.targets[arc], *column) = ((key >> 32) as NodeId, key as u32);
            }
        }
        for arc in start + 1..rows.targets.len() {
            let target = rows.targets[arc];
            if target == rows.targets[arc - 1] && target as usize != node {
                let (node, target) = (node as u64 + rows.first, u64::from(target) + rows.first);
                let (line, column) = (self.scanner.line(), u64::from(row.columns[arc - start]));
                let kind = FaultKind::ParallelEdge { node, target };
                self.faults.add(line, column, kind, || target.to_string())?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Returns whether both ends of each edge agree, and the header with the number of edges.
    ///
    /// When the entries are as many as the edges declared, that explains whatever else is found and comes
    /// first; otherwise a wrong count follows from the other faults and comes last.
    fn check_edges(&mut self, rows: &Rows, (line, column): (u64, u64)) -> ControlFlow<()> {
        let (declared, arcs) = (rows.header.num_edges, rows.entries);
        let is_wrong = u128::from(declared) * 2 != u128::from(arcs);
        let kind = FaultKind::WrongEdgeCount { declared, arcs };
        let add = |faults: &mut Faults| faults.add(line, column, kind.clone(), || declared.to_string());
        if is_wrong && declared == arcs {
            add(self.faults)?;
        }
        self.check_symmetry(rows)?;
        if is_wrong && declared != arcs {
            add(self.faults)?;
        }
        self.check_sum(rows)
    }

    fn check_symmetry(&mut self, rows: &Rows) -> ControlFlow<()> {
        let weights = &rows.weights;
        if is_surely_symmetric(&rows.offsets, &rows.targets, rows.header.has_edge_weights.then_some(weights))
        {
            return ControlFlow::Continue(());
        }
        // A weight of 0 stands for one that was refused already.
        let same_weight = |a: usize, b: usize| {
            weights.is_empty() || weights[a] == weights[b] || weights[a] == 0 || weights[b] == 0
        };
        // They are met in an order of its own; those that come first in the file are kept.
        let room = self.faults.room();
        let mut first: BinaryHeap<(usize, Asymmetry)> = BinaryHeap::with_capacity(room.min(1024));
        let mut count = 0;
        let _ = visit_asymmetries(&rows.offsets, &rows.targets, same_weight, |asymmetry| {
            count += 1;
            let place = (asymmetry.arc(), asymmetry);
            if first.len() < room {
                first.push(place);
            } else if let Some(mut last) = first.peek_mut().filter(|last| place < **last) {
                *last = place;
            }
            ControlFlow::Continue(())
        });
        self.faults.count_repairable(count - first.len() as u64);
        first
            .into_sorted_vec()
            .into_iter()
            .try_for_each(|(_, asymmetry)| rows.add_asymmetry(asymmetry, self.faults))
    }

    fn check_sum(&mut self, rows: &Rows) -> ControlFlow<()> {
        let mut sum: Weight = 0;
        for (arc, &weight) in rows.weights.iter().enumerate() {
            match sum.checked_add(weight) {
                Some(larger) => sum = larger,
                None => {
                    let node = rows.offsets.partition_point(|&offset| offset <= arc) - 1;
                    let (line, column) = (rows.lines.line(node), rows.column(node as NodeId, arc));
                    let text = || format!("{} {weight}", u64::from(rows.targets[arc]) + rows.first);
                    return self.faults.add(line, column, FaultKind::EdgeWeightOverflow, text);
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Adds a fault at the last token, which was `token`.
    #[cold]
    fn fault_here(&mut self, token: Token, kind: FaultKind) -> ControlFlow<()> {
        let text = || match token {
            Token::Number(_) => self.scanner.spelling(),
            Token::Text(_) => self.scanner.text(),
            Token::LineEnd | Token::End => String::new(),
        };
        self.faults.add(self.scanner.line(), self.scanner.column(), kind, text)
    }

    /// The number at the last token, which was `token`; `None` and a fault if it is not one of its role.
    #[inline(always)]
    fn number(&mut self, token: Token, role: Role) -> ControlFlow<(), Option<u64>> {
        match token {
            Token::Number(number) if role.admits(number) => ControlFlow::Continue(Some(number)),
            _ => {
                self.bad_number(token, role)?;
                ControlFlow::Continue(None)
            }
        }
    }

    #[cold]
    fn bad_number(&mut self, token: Token, role: Role) -> ControlFlow<()> {
        let is_weight = matches!(role, Role::NodeSize | Role::NodeWeight | Role::EdgeWeight);
        if is_weight && token == Token::Text(TextKind::Fractional) {
            let text = self.scanner.text();
            return self.fault_here(token, FaultKind::FractionalWeight { role, text });
        }
        let fault = match token {
            Token::Number(0) => NumberFault::Zero,
            Token::Number(_) => NumberFault::TooLarge,
            Token::Text(kind) => kind.into(),
            Token::LineEnd | Token::End => NumberFault::NotANumber,
        };
        self.fault_here(token, FaultKind::Number { role, fault })
    }
}
