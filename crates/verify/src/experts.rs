//! Placements of experts: J and loads from a trace and the slots of the GPUs.

use std::collections::BTreeMap;

use crate::error::AuditError;
use crate::machine::{Distances, Machine, MachineText, table_of};
use crate::number::number;

/// The costs of a placement of experts.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpertAudit {
    /// J, in tokens: expected lengths of trees, to the experts and back.
    pub cost: f64,
    /// The greatest load of a processing element in each layer, in tokens.
    pub loads: Vec<f64>,
}

type Result<T> = std::result::Result<T, AuditError>;

fn fault<T>(reason: &'static str) -> Result<T> {
    Err(AuditError::Experts { reason })
}

/// J and loads of a placement (JSON, the expert in each slot of each layer) of `experts` experts on a machine. The trace is text or an array of
/// NumPy: tokens with their experts, or numbers of tokens by pairs of experts if `are_pairs`.
///
/// A token is on any processing element with the same probability, and its vector goes along a minimum spanning tree of that and of those of its
/// experts. Each copy of an expert is used with the same probability.
///
/// ```
/// use viem_verify::{MachineText, audit_experts};
///
/// let machine = MachineText { spec: "2", distances: Some("5"), file: None, pes: None, link_cycles: None };
/// let placement = "{\"physical_to_logical_map\": [[0, 1]]}";
/// // The first token has experts on both processing elements; the second one is on the other one in half of the cases.
/// let audit = audit_experts(b"0 0 1\n0 0\n", false, 2, placement, &machine)?;
/// assert_eq!((audit.cost, audit.loads), (2.0 * (0.5 * 5.0 + 5.0), vec![2.0]));
/// # Ok::<(), viem_verify::AuditError>(())
/// ```
pub fn audit_experts(
    trace: &[u8],
    are_pairs: bool,
    experts: u64,
    placement: &str,
    machine: &MachineText<'_>,
) -> Result<ExpertAudit> {
    let machine = Machine::read(machine)?;
    let trace = Trace::read(trace, experts, are_pairs)?;
    let placement = read_placement(placement)?;
    if placement.len() != trace.layers.len() {
        return fault("the placement has another number of layers than the trace");
    }
    let groups = Groups::of(&machine, placement.iter().map(Vec::len).max().unwrap_or(0))?;
    let mut audit = ExpertAudit { cost: 0.0, loads: Vec::new() };
    for (layer, slots) in trace.layers.iter().zip(&placement) {
        let shares = shares(slots, experts, groups.num_pes)?;
        for (set, tokens) in &layer.sets {
            audit.cost += 2.0 * *tokens as f64 * groups.length(set, &shares);
        }
        let mut loads = vec![0.0; groups.num_pes];
        for (expert, tokens) in layer.loads(trace.has_loads) {
            shares[expert as usize].iter().for_each(|(&pe, share)| loads[pe] += tokens as f64 * share);
        }
        audit.loads.push(loads.into_iter().fold(0.0, f64::max));
    }
    Ok(audit)
}

/// The greatest load of a processing element in each layer, of a placement as above and a file of loads: how many tokens each expert has.
///
/// An array has layers x experts, a text a line with a number for each expert, perhaps behind the layer, or lines with a layer, an
/// expert and a number, or less of these. A first line may name the columns.
///
/// ```
/// use viem_verify::{MachineText, audit_expert_loads};
///
/// let machine = MachineText { spec: "2", distances: Some("5"), file: None, pes: None, link_cycles: None };
/// let placement = "{\"physical_to_logical_map\": [[0, 3, 1, 2]]}";
/// let loads = audit_expert_loads(b"expert,count\n0,9\n1,2\n2,1\n3,7\n", 4, placement, &machine)?;
/// assert_eq!(loads, vec![16.0]);
/// # Ok::<(), viem_verify::AuditError>(())
/// ```
pub fn audit_expert_loads(
    trace: &[u8],
    experts: u64,
    placement: &str,
    machine: &MachineText<'_>,
) -> Result<Vec<f64>> {
    let num_pes = Machine::read(machine)?.num_pes() as usize;
    let rows = if trace.starts_with(b"\x93NUMPY") {
        rows_of_array(trace, experts)?
    } else {
        rows_of_text(&String::from_utf8_lossy(trace), experts)?
    };
    let placement = read_placement(placement)?;
    if placement.len() != rows.len() {
        return fault("the placement has another number of layers than the trace");
    }
    let greatest = |(row, slots): (Vec<f64>, Vec<u64>)| {
        let mut loads = vec![0.0; num_pes];
        for (shares, tokens) in shares(&slots, experts, num_pes)?.iter().zip(row) {
            shares.iter().for_each(|(&pe, share)| loads[pe] += tokens * share);
        }
        Ok(loads.into_iter().fold(0.0, f64::max))
    };
    rows.into_iter().zip(placement).map(greatest).collect()
}

/// Counts the copies that are on a PE that did not have them in an older placement.
///
/// ```
/// use viem_verify::{MachineText, audit_expert_moves};
///
/// let machine = MachineText { spec: "2", distances: Some("5"), file: None, pes: None, link_cycles: None };
/// let [old, new] = ["[[0, 3, 1, 2]]", "[[3, 1, 0, 2]]"].map(|slots| format!("{{\"physical_to_logical_map\": {slots}}}"));
/// assert_eq!(audit_expert_moves(&old, &new, &machine)?, 2);
/// # Ok::<(), viem_verify::AuditError>(())
/// ```
pub fn audit_expert_moves(old: &str, new: &str, machine: &MachineText<'_>) -> Result<u64> {
    let num_pes = Machine::read(machine)?.num_pes() as usize;
    let (old, new) = (read_placement(old)?, read_placement(new)?);
    let sizes = |placement: &[Vec<u64>]| placement.iter().map(Vec::len).collect::<Vec<_>>();
    if sizes(&old) != sizes(&new) || new.iter().any(|slots| !slots.len().is_multiple_of(num_pes)) {
        return fault("the older placement has other layers or slots");
    }
    let mut moved = 0;
    for (old, new) in old.iter().zip(&new) {
        let size = (new.len() / num_pes).max(1);
        for (old, new) in old.chunks(size).zip(new.chunks(size)) {
            let mut left = old.to_vec();
            for expert in new {
                match left.iter().position(|other| other == expert) {
                    Some(place) => _ = left.swap_remove(place),
                    None => moved += 1,
                }
            }
        }
    }
    Ok(moved)
}

/// The loads of each layer of an array.
fn rows_of_array(bytes: &[u8], experts: u64) -> Result<Vec<Vec<f64>>> {
    let array = Array::read(bytes).map_or_else(|| fault("the array is malformed"), Ok)?;
    let [layers, rows, columns] = array.shape;
    if columns != experts || layers.min(rows) != 1 {
        return fault("the array has another shape than loads have");
    }
    let row = |at| (0..columns).map(|column| array.at(at % layers, at / layers, column)).collect();
    Ok((0..layers * rows).map(row).collect())
}

/// The loads of each layer of a text.
fn rows_of_text(text: &str, experts: u64) -> Result<Vec<Vec<f64>>> {
    let mut rows = table_of(text);
    rows.iter_mut().flatten().for_each(|field| *field = field.trim_matches('"'));
    let names = names_over(&rows);
    let (width, each) = (rows.first().map_or(0, Vec::len), experts as usize);
    rows.drain(..usize::from(names.is_some()));
    let place = |words: &[&str]| {
        let is_called = |name: &String| words.iter().any(|word| name.contains(word));
        names.as_ref().and_then(|names| names.iter().position(is_called))
    };
    let counts = [
        "count",
        "load",
        "tokens",
        "freq",
        "weight",
        "hits",
        "usage",
        "total",
        "value",
        "num",
        "activations",
        "cnt",
    ];
    let [layer, expert, count] = match &names {
        Some(_) => [place(&["layer"]), place(&["expert_id", "expert_idx", "expert"]), place(&counts)],
        None if width <= 3 && width != each => {
            [width.checked_sub(3), width.checked_sub(2), width.checked_sub(1)]
        }
        None => [(width > each).then_some(0), None, None],
    };
    let Columns { skipped, tokens, .. } = Columns::of(names.as_deref());
    let is_load = |place: &usize| Some(*place) != layer && !skipped.contains(place);
    let loads: Vec<usize> = (0..width).filter(is_load).collect();
    let mut layers: Vec<Vec<f64>> = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        let values: Vec<(usize, usize)> = match (count, expert) {
            (Some(count), Some(expert)) => vec![(whole(row, expert)?, count)],
            (Some(count), None) => vec![(number, count)],
            (None, _) => loads.iter().copied().enumerate().collect(),
        };
        let at = match (layer, count) {
            (Some(layer), _) => whole(row, layer)?,
            (None, None) if tokens.is_empty() => number,
            (None, _) => 0,
        };
        if at > usize::from(u16::MAX) {
            return fault("the trace has too many layers");
        }
        if layers.len() <= at {
            layers.resize(at + 1, vec![0.0; each]);
        }
        for (expert, place) in values {
            let load = row.get(place).and_then(|field| field.replace(['d', 'D'], "e").parse::<f64>().ok());
            let Some(load) = load.filter(|load| *load >= 0.0) else { return fault("the trace has no load") };
            *layers[at].get_mut(expert).map_or_else(|| fault("a load has no such expert"), Ok)? += load;
        }
    }
    Ok(layers)
}

/// The whole number in a field.
fn whole(row: &[&str], place: usize) -> Result<usize> {
    let number = row.get(place).and_then(|field| number(field));
    number.map_or_else(|| fault("the trace has no number"), |number| Ok(number as usize))
}

/// Returns the probability that a token uses an expert on each PE, by expert.
fn shares(slots: &[u64], experts: u64, num_pes: usize) -> Result<Vec<BTreeMap<usize, f64>>> {
    if slots.is_empty() || !slots.len().is_multiple_of(num_pes) {
        return fault("the slots of a layer cannot be shared equally by the processing elements");
    }
    let mut pes = vec![Vec::new(); experts as usize];
    for (slot, &expert) in slots.iter().enumerate() {
        let Some(pes) = pes.get_mut(expert as usize) else { return fault("a slot has no such expert") };
        pes.push(slot / (slots.len() / num_pes));
    }
    if pes.iter().any(Vec::is_empty) {
        return fault("an expert has no slot in a layer");
    }
    let of_expert = |pes: Vec<usize>| {
        let mut shares = BTreeMap::new();
        pes.iter().for_each(|&pe| *shares.entry(pe).or_default() += 1.0 / pes.len() as f64);
        shares
    };
    Ok(pes.into_iter().map(of_expert).collect())
}

/// The numbers in the inner lists.
fn read_placement(text: &str) -> Result<Vec<Vec<u64>>> {
    let list = text.split_once("physical_to_logical_map").and_then(|(_, rest)| rest.split_once('['));
    let Some((_, lists)) = list else { return fault("the placement has no list of slots") };
    let lists = lists.split('[').skip(1).map(|rest| rest.split(']').next().unwrap_or_default());
    let number = |field: &str| number(field.trim()).map_or_else(|| fault("a slot has no number"), Ok);
    lists.map(|list| list.split(',').map(number).collect()).collect()
}

/// Groups of PEs that are within each distance of the machine.
struct Groups {
    num_pes: usize,
    /// The levels by distance, ascending from 0: the increase up to the next one, the group of each PE, and the sizes of groups.
    levels: Vec<(f64, Vec<usize>, Vec<usize>)>,
}

impl Groups {
    /// Fails if there are more PEs than slots, as there may be very many.
    fn of(machine: &Machine, slots: usize) -> Result<Self> {
        let num_pes = machine.num_pes() as usize;
        if machine.num_pes() > slots as u64 {
            return fault("there are more processing elements than slots");
        }
        let all: Vec<u64> = (0..num_pes as u64).collect();
        let mut searched = Distances::new(machine);
        let rows: Vec<Vec<u64>> = all.iter().map(|&pe| searched.from(pe, &all)).collect::<Result<_>>()?;
        let mut distances: Vec<u64> = rows.iter().flatten().copied().chain([0]).collect();
        distances.sort_unstable();
        distances.dedup();
        let level = |pair: &[u64]| {
            let first = |pe: usize| (0..pe).find(|&other| rows[pe][other] <= pair[0]).unwrap_or(pe);
            let group_of: Vec<usize> = (0..num_pes).map(first).collect();
            let mut sizes = vec![0; num_pes];
            group_of.iter().for_each(|&group| sizes[group] += 1);
            ((pair[1] - pair[0]) as f64, group_of, sizes)
        };
        Ok(Self { num_pes, levels: distances.windows(2).map(level).collect() })
    }

    /// The expected length of the tree of a token with these experts. A minimum spanning tree has, for each distance, an edge longer than that
    /// for each group within it that the tree reaches, but one.
    fn length(&self, set: &[u64], shares: &[BTreeMap<usize, f64>]) -> f64 {
        let of_level = |(step, group_of, sizes): &(f64, Vec<usize>, Vec<usize>)| {
            // By group, the probability that no expert is there.
            let mut absent: BTreeMap<usize, f64> = BTreeMap::new();
            for &expert in set {
                let mut here: BTreeMap<usize, f64> = BTreeMap::new();
                shares[expert as usize]
                    .iter()
                    .for_each(|(&pe, share)| *here.entry(group_of[pe]).or_default() += share);
                for (group, share) in here {
                    *absent.entry(group).or_insert(1.0) *= (1.0 - share).max(0.0);
                }
            }
            // The token itself is in exactly one group; so those without experts are reached by it alone.
            let size = |group: &usize| sizes[*group] as f64 / self.num_pes as f64;
            let others = 1.0 - absent.keys().map(size).sum::<f64>();
            let reached: f64 = absent.iter().map(|(group, absent)| 1.0 - absent * (1.0 - size(group))).sum();
            step * (reached + others - 1.0)
        };
        self.levels.iter().map(of_level).sum()
    }
}

/// The choices of tokens.
struct Trace {
    layers: Vec<Layer>,
    /// True if numbers of tokens by expert are known where pairs are counted.
    has_loads: bool,
}

#[derive(Default)]
struct Layer {
    sets: BTreeMap<Vec<u64>, u64>,
    /// The diagonal by expert, where pairs are counted.
    diagonal: Option<BTreeMap<u64, u64>>,
}

impl Layer {
    /// The tokens of each expert.
    fn loads(&self, has_loads: bool) -> BTreeMap<u64, u64> {
        if let Some(loads) = self.diagonal.as_ref().filter(|_| has_loads) {
            return loads.clone();
        }
        let mut loads = BTreeMap::new();
        for (set, tokens) in &self.sets {
            set.iter().for_each(|&expert| *loads.entry(expert).or_default() += tokens);
        }
        loads
    }

    fn add(&mut self, mut set: Vec<u64>, experts: u64, tokens: u64) -> Result<()> {
        set.sort_unstable();
        if set.last().is_some_and(|&last| last >= experts) {
            return fault("a token has no such expert");
        }
        if !set.is_empty() && tokens > 0 {
            *self.sets.entry(set).or_default() += tokens;
        }
        Ok(())
    }

    /// Adds a square of numbers.
    fn add_pairs(&mut self, experts: u64, number: impl Fn(u64, u64) -> f64) -> Result<()> {
        self.diagonal = Some((0..experts).map(|expert| (expert, number(expert, expert) as u64)).collect());
        for row in 0..experts {
            (row + 1..experts)
                .try_for_each(|column| self.add(vec![row, column], experts, number(row, column) as u64))?;
        }
        Ok(())
    }
}

impl Trace {
    fn read(bytes: &[u8], experts: u64, are_pairs: bool) -> Result<Self> {
        let layers = if bytes.starts_with(b"\x93NUMPY") {
            read_array(bytes, experts, are_pairs)?
        } else {
            read_text(&String::from_utf8_lossy(bytes), experts, are_pairs)?
        };
        let mut diagonals = layers.iter().filter_map(|layer| layer.diagonal.as_ref());
        let has_loads = diagonals.any(|loads| loads.values().any(|&tokens| tokens > 0));
        Ok(Self { layers, has_loads })
    }
}

fn read_text(text: &str, experts: u64, are_pairs: bool) -> Result<Vec<Layer>> {
    let mut rows = table_of(text);
    rows.iter_mut().flatten().for_each(|field| *field = field.trim_matches('"'));
    let names = names_over(&rows);
    rows.drain(..usize::from(names.is_some()));
    let number = |field: &&str| number(field).map_or_else(|| fault("the trace has no number"), Ok);
    let mut layers = Vec::new();
    if are_pairs {
        // Names of rows precede the numbers.
        let start = rows.first().map_or(0, |row| row.len().saturating_sub(experts as usize));
        let cells = rows.iter().flat_map(|row| &row[start.min(row.len())..]);
        let numbers: Vec<u64> = cells.map(number).collect::<Result<_>>()?;
        for square in numbers.chunks((experts * experts) as usize) {
            let mut layer = Layer::default();
            let at = |row, column| square.get((row * experts + column) as usize).map_or(0.0, |&n| n as f64);
            layer.add_pairs(experts, at)?;
            layers.push(layer);
        }
        return Ok(layers);
    }
    let columns = Columns::of(names.as_deref());
    let mut last: Option<(u64, Vec<&str>, Vec<u64>)> = None;
    for row in &rows {
        let of_token: Vec<&str> =
            columns.tokens.iter().filter_map(|&place| row.get(place).copied()).collect();
        let is_expert = |&(place, field): &(usize, &&str)| {
            Some(place) != columns.layer && !columns.skipped.contains(&place) && !field.is_empty()
        };
        let set: Vec<u64> = row
            .iter()
            .enumerate()
            .filter(is_expert)
            .map(|(_, field)| number(field))
            .collect::<Result<_>>()?;
        let layer = columns.layer.map_or(Ok(0), |place| whole(row, place))? as u64;
        match &mut last {
            Some((other, token, more)) if columns.is_split && (*other, &*token) == (layer, &of_token) => {
                more.extend(set)
            }
            last => {
                last.replace((layer, of_token, set))
                    .map_or(Ok(()), |token| add_token(&mut layers, token, experts))?;
            }
        }
    }
    last.map_or(Ok(()), |token| add_token(&mut layers, token, experts))?;
    Ok(layers)
}

fn add_token(
    layers: &mut Vec<Layer>,
    (layer, _, set): (u64, Vec<&str>, Vec<u64>),
    experts: u64,
) -> Result<()> {
    if layer > u64::from(u16::MAX) {
        return fault("the trace has too many layers");
    }
    while layers.len() as u64 <= layer {
        layers.push(Layer::default());
    }
    layers[layer as usize].add(set, experts, 1)
}

/// The names over the columns, if there are any.
fn names_over(rows: &[Vec<&str>]) -> Option<Vec<String>> {
    let is_name = |field: &&str| field.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let first = rows.first().filter(|row| is_name(&row[0]) || row[0].is_empty())?;
    Some(first.iter().map(|name| name.to_ascii_lowercase()).collect())
}

/// The columns of layers and tokens in a file of tokens; all other columns hold experts.
struct Columns {
    layer: Option<usize>,
    tokens: Vec<usize>,
    /// Those of tokens and numbers of lines.
    skipped: Vec<usize>,
    /// True if a line has one expert of a token.
    is_split: bool,
}

impl Columns {
    fn of(names: Option<&[String]>) -> Self {
        const OF_TOKENS: [&str; 14] = [
            "tok", "pos", "step", "seq", "batch", "request", "req", "sample", "iter", "rank", "gpu",
            "device", "pass", "time",
        ];
        let names = names.unwrap_or_default();
        let is_layer = |name: &String| {
            name.contains("layer") || name.trim_end_matches(|c: char| c.is_ascii_digit()) == "l"
        };
        let is_expert =
            |name: &String| ["expert", "top", "cho", "selected"].iter().any(|word| name.contains(word));
        let is_index = |name: &String| {
            ["", "id", "idx", "index", "row"].contains(&name.as_str()) || name.starts_with("unnamed")
        };
        let is_token = |name: &String| {
            !is_expert(name) && !is_layer(name) && OF_TOKENS.iter().any(|word| name.starts_with(word))
        };
        let places = |is: &dyn Fn(&String) -> bool| {
            (0..names.len()).filter(|&place| is(&names[place])).collect::<Vec<_>>()
        };
        let (layers, tokens, indices) = (places(&is_layer), places(&is_token), places(&is_index));
        let is_known = layers.len() + tokens.len() + places(&is_expert).len() > 0;
        let others = names.len() - layers.len() - tokens.len() - indices.len();
        Self {
            layer: if is_known { layers.first().copied() } else { Some(0) },
            is_split: !tokens.is_empty() && others == 1,
            skipped: [&tokens[..], &indices[..]].concat(),
            tokens,
        }
    }
}

/// Layers, rows and columns of an array: pairs, tokens with their experts, or tokens with all experts.
fn read_array(bytes: &[u8], experts: u64, are_pairs: bool) -> Result<Vec<Layer>> {
    let array = Array::read(bytes).map_or_else(|| fault("the array is malformed"), Ok)?;
    let [layers, rows, columns] = array.shape;
    let read = |layer: u64| {
        let mut read = Layer::default();
        if are_pairs {
            if [rows, columns] != [experts; 2] {
                return fault("pairs of experts have another shape");
            }
            let number = |row, column| array.at(layer, row, column);
            read.add_pairs(experts, number)?;
            return Ok(read);
        }
        for token in 0..rows {
            let numbers = (0..columns).map(|column| (column, array.at(layer, token, column)));
            let set = if columns == experts {
                numbers.filter(|&(_, number)| number != 0.0).map(|(expert, _)| expert).collect()
            } else {
                numbers.filter(|&(_, number)| number >= 0.0).map(|(_, number)| number as u64).collect()
            };
            read.add(set, experts, 1)?;
        }
        Ok(read)
    };
    (0..layers).map(read).collect()
}

/// An array of NumPy of three dimensions, or two, which are one layer.
struct Array<'a> {
    shape: [u64; 3],
    is_by_column: bool,
    kind: char,
    size: usize,
    is_big_endian: bool,
    entries: &'a [u8],
}

impl<'a> Array<'a> {
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let short = |at: usize| Some(usize::from(*bytes.get(at)?) + 256 * usize::from(*bytes.get(at + 1)?));
        let (start, length) = match bytes.get(6)? {
            1 => (10, short(8)?),
            _ => (12, short(8)? + 65536 * short(10)?),
        };
        let header = String::from_utf8_lossy(bytes.get(start..start + length)?);
        let after = |key: &str| Some(header.split_once(key)?.1.split_once(':')?.1.trim_start());
        let kind = after("descr")?.get(1..)?.split(['\'', '"']).next()?;
        let kind_without_order = kind.trim_start_matches(['<', '>', '|', '=']);
        let size = kind_without_order.get(1..)?;
        let shape = after("shape")?.strip_prefix('(')?.split(')').next()?;
        let lengths: Vec<u64> =
            shape.split(',').filter_map(|length| length.trim().trim_end_matches('L').parse().ok()).collect();
        let shape = match lengths[..] {
            [columns] => [1, 1, columns],
            [rows, columns] => [1, rows, columns],
            [layers, rows, columns] => [layers, rows, columns],
            _ => return None,
        };
        let size =
            if size.is_empty() { 1 } else { size.parse().ok().filter(|size| (1..=8).contains(size))? };
        let count = shape.iter().try_fold(size as u64, |product, &length| product.checked_mul(length))?;
        Some(Self {
            shape,
            is_by_column: after("fortran_order")?.starts_with("True"),
            kind: kind_without_order.chars().next()?,
            size,
            is_big_endian: kind.starts_with('>'),
            entries: bytes.get(start + length..).filter(|entries| entries.len() as u64 == count)?,
        })
    }

    fn bits_at(&self, layer: u64, row: u64, column: u64) -> u64 {
        let [layers, rows, columns] = self.shape;
        let place = match self.is_by_column {
            true => (column * rows + row) * layers + layer,
            false => (layer * rows + row) * columns + column,
        };
        let mut entry = self.entries[place as usize * self.size..][..self.size].to_vec();
        if self.is_big_endian {
            entry.reverse();
        }
        entry.iter().rev().fold(0u64, |bits, &byte| bits << 8 | u64::from(byte))
    }

    fn at(&self, layer: u64, row: u64, column: u64) -> f64 {
        let bits = self.bits_at(layer, row, column);
        let unused = 64 - 8 * self.size as u32;
        match (self.kind, self.size) {
            ('f', 2) => {
                let (exponent, fraction) = (bits >> 10 & 31, (bits & 1023) as f64 / 1024.0);
                let value = if exponent == 0 {
                    fraction / 16384.0
                } else {
                    (1.0 + fraction) * 2f64.powi(exponent as i32 - 15)
                };
                if bits >> 15 == 1 { -value } else { value }
            }
            ('f', 4) => f64::from(f32::from_bits(bits as u32)),
            ('f', _) => f64::from_bits(bits),
            ('i', _) => ((bits << unused) as i64 >> unused) as f64,
            _ => bits as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The length of a minimum spanning tree by Prim's algorithm.
    fn spanning_tree(pes: &[u64], distance: impl Fn(u64, u64) -> u64) -> u64 {
        let (mut inside, mut outside, mut length) = (vec![pes[0]], pes[1..].to_vec(), 0);
        while !outside.is_empty() {
            let nearest =
                |&pe: &u64| inside.iter().map(|&other| distance(pe, other)).min().unwrap_or_default();
            let (place, &pe) = outside.iter().enumerate().min_by_key(|(_, pe)| nearest(pe)).unwrap();
            length += nearest(&pe);
            inside.push(pe);
            outside.remove(place);
        }
        length
    }

    #[test]
    fn lengths_are_those_of_spanning_trees() {
        let text = MachineText {
            spec: "2:3:2",
            distances: Some("1:10:35"),
            file: None,
            pes: None,
            link_cycles: None,
        };
        let machine = Machine::read(&text).unwrap();
        let distance = |p, q| Distances::new(&machine).from(p, &[q]).unwrap()[0];
        let groups = Groups::of(&machine, 24).unwrap();
        let slots: Vec<u64> = (0..24).map(|slot| slot * 7 % 24 % 18).collect();
        let shares = shares(&slots, 18, 12).unwrap();
        for set in [vec![0], vec![3, 17], vec![1, 2, 5], vec![6, 7, 8, 9, 16]] {
            // All ways to choose the copies, and the place of the token.
            let mut ways = vec![(1.0, Vec::new())];
            for &expert in &set {
                let more = ways.iter().flat_map(|(share, pes): &(f64, Vec<u64>)| {
                    let with = |(&pe, own): (&usize, &f64)| (share * own, [&pes[..], &[pe as u64]].concat());
                    shares[expert as usize].iter().map(with).collect::<Vec<_>>()
                });
                ways = more.collect();
            }
            let expected: f64 = (0..12u64)
                .flat_map(|token| ways.iter().map(move |(share, pes)| (share, [&pes[..], &[token]].concat())))
                .map(|(share, pes)| share / 12.0 * spanning_tree(&pes, distance) as f64)
                .sum();
            let found = groups.length(&set, &shares);
            assert!((found - expected).abs() < 1e-9, "{set:?}: {found} {expected}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let text = MachineText { spec: "2", distances: Some("5"), file: None, pes: None, link_cycles: None };
        let refused =
            |trace: &[u8], placement: &str| audit_experts(trace, false, 2, placement, &text).unwrap_err();
        let good = "{\"physical_to_logical_map\": [[0, 1]]}";
        for (trace, placement, reason) in [
            (&b"0 0 1\n"[..], "{}", "no list"),
            (b"0 0 1\n", "{\"physical_to_logical_map\": [[0, 0]]}", "no slot"),
            (b"0 0 1\n", "{\"physical_to_logical_map\": [[0, 1, 0]]}", "shared equally"),
            (b"0 0 1\n", "{\"physical_to_logical_map\": [[0]]}", "more processing elements"),
            (b"0 0 1\n", "{\"physical_to_logical_map\": [[0, 7]]}", "no such expert"),
            (b"0 0 0 7\n", good, "no such expert"),
            (b"1 0 1\n", good, "another number of layers"),
            (b"0 x 1\n", good, "no number"),
            (b"\x93NUMPY\x01\x00\xff\xffshort", good, "malformed"),
        ] {
            let error = refused(trace, placement).to_string();
            assert!(error.contains(reason), "{error} / {reason}");
        }
    }
}
