//! The auditor's own machines: distances directly from the definitions.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::text::{Row, read_rows};
use crate::written::{self, Cube, Grid, Result, Tree, Written, fault, number};

/// The name of a machine that stands for an outline. The content of its file is a text with the digits of all
/// PEs.
pub const OUTLINE: &str = "outline";

/// A machine as given by the user.
#[derive(Clone, Copy, Debug)]
pub struct MachineText<'a> {
    /// The machine, such as `torus:4x4x2/4:16`, or the name of its file.
    pub spec: &'a str,
    /// The distances, such as `1:10:100`, if some are given.
    pub distances: Option<&'a str>,
    /// The content of the file, if the machine is in one.
    pub file: Option<&'a str>,
    /// The list of PEs, such as `0-15,32`, or the content of the file with the list, if given.
    pub pes: Option<&'a str>,
    /// The content of the file with the times of links, if given: the graph of the network, whose edges weigh as many cycles as a flit
    /// takes over the link.
    pub link_cycles: Option<&'a str>,
}

/// Distances and capacities.
pub(super) struct Machine {
    pub(super) shape: Shape,
    /// The capacities by PE of the shape; 1 if there are none.
    capacities: Option<Vec<u64>>,
    /// The PEs of the shape that belong to the machine, if not all.
    list: Option<Vec<u64>>,
}

pub(super) enum Shape {
    /// One that can be written in full.
    Written(Box<dyn Written>),
    Matrix {
        num_pes: u64,
        entries: Vec<u64>,
    },
    /// The part of a matrix below its diagonal, row by row.
    Triangle {
        num_pes: u64,
        entries: Vec<u64>,
    },
    Network {
        links: Vec<Row>,
        vertices: Vec<usize>,
        /// The same links with cycles instead of costs, if they differ.
        times: Option<Vec<Row>>,
    },
    Outline {
        /// The distances by level, innermost first.
        distances: Vec<u64>,
        /// The digits of each PE, innermost first.
        digits: Vec<Vec<u64>>,
        /// Distances of the groups at the outermost level, if each pair has its own.
        between: Vec<Vec<u64>>,
        network: ToNetwork,
    },
}

impl Machine {
    pub(super) fn tree(arities: &[u64], distances: &[u64]) -> Result<Self> {
        Ok(Self::written(Tree::new(arities.to_vec(), distances.to_vec())?))
    }

    fn written(machine: impl Written + 'static) -> Self {
        Self::whole(Shape::Written(Box::new(machine)))
    }

    fn whole(shape: Shape) -> Self {
        Self { shape, capacities: None, list: None }
    }

    pub(super) fn read(text: &MachineText<'_>) -> Result<Self> {
        let machine = match text.file {
            Some(file) if text.spec == OUTLINE => read_outline(file)?,
            Some(file) => read_file(text.spec, file)?,
            None => Self::whole(Shape::Written(written::read(text.spec, text.distances)?)),
        };
        let machine = match text.link_cycles {
            Some(times) => machine.with_times(read_rows(times, |_| Ok(()))?)?,
            None => machine,
        };
        match text.pes {
            Some(pes) => {
                let list = read_list(pes, machine.num_pes())?;
                machine.listed(&list)
            }
            None => Ok(machine),
        }
    }

    /// A network with the times of its links.
    fn with_times(mut self, rows: Vec<Row>) -> Result<Self> {
        let ends = |row: &Row| {
            let mut ends: Vec<usize> = row.arcs.iter().map(|&(end, _)| end).collect();
            ends.sort_unstable();
            ends
        };
        let Shape::Network { links, times, .. } = &mut self.shape else {
            return fault("only networks have times of links");
        };
        if !links.iter().map(ends).eq(rows.iter().map(ends)) {
            return fault("the file of times has other links than the network");
        }
        *times = Some(rows);
        Ok(self)
    }

    /// Restricts the machine to the listed PEs.
    fn listed(self, list: &[u64]) -> Result<Self> {
        let mut sorted = list.to_vec();
        sorted.sort_unstable();
        if sorted.windows(2).any(|pair| pair[0] == pair[1]) || sorted.last() >= Some(&self.num_pes()) {
            return fault("a processing element of the list does not exist or is listed twice");
        }
        let list = list.iter().map(|&pe| self.inner(pe)).collect();
        Ok(Self { list: Some(list), ..self })
    }

    /// The PE of the shape that corresponds to a PE of the machine.
    pub(super) fn inner(&self, pe: u64) -> u64 {
        self.list.as_ref().map_or(pe, |list| list[pe as usize])
    }

    pub(super) fn num_pes(&self) -> u64 {
        match (&self.list, &self.shape) {
            (Some(list), _) => list.len() as u64,
            (None, Shape::Written(written)) => written.num_pes(),
            (None, Shape::Matrix { num_pes, .. } | Shape::Triangle { num_pes, .. }) => *num_pes,
            (None, Shape::Network { vertices, .. }) => vertices.len() as u64,
            (None, Shape::Outline { digits, .. }) => digits.len() as u64,
        }
    }

    pub(super) fn capacity(&self, pe: u64) -> u64 {
        self.capacities.as_ref().map_or(1, |capacities| capacities[self.inner(pe) as usize])
    }

    /// The start of all paths from a PE: in a network the vertex, or the other end of its only link;
    /// otherwise the PE.
    pub(super) fn origin(&self, pe: u64) -> u64 {
        let pe = self.inner(pe);
        match &self.shape {
            Shape::Network { links, vertices, .. } => first_step(links, vertices[pe as usize]).0 as u64,
            _ => pe,
        }
    }
}

/// A vertex and the cost of reaching it; for a vertex with a single link, the other end of the link.
fn first_step(links: &[Row], vertex: usize) -> (usize, u64) {
    match links[vertex].arcs[..] {
        [only] => only,
        _ => (vertex, 0),
    }
}

/// The distances from one PE after another. PEs with the same [origin](Machine::origin) should be queried
/// consecutively.
pub(super) struct Distances<'a> {
    machine: &'a Machine,
    /// The costs of the cheapest paths from the vertex that was searched last.
    paths: Option<(usize, Vec<Option<u64>>)>,
    /// Number of searches.
    pub(super) searches: usize,
}

impl<'a> Distances<'a> {
    pub(super) fn new(machine: &'a Machine) -> Self {
        Self { machine, paths: None, searches: 0 }
    }

    /// The distances from one PE to several others.
    pub(super) fn from(&mut self, from: u64, to: &[u64]) -> Result<Vec<u64>> {
        let machine = self.machine;
        let (from, to) = (machine.inner(from), to.iter().map(|&pe| machine.inner(pe)));
        let Shape::Network { links, vertices, .. } = &machine.shape else {
            return Ok(to.map(|to| machine.shape.distance(from, to)).collect());
        };
        let (origin, link) = first_step(links, vertices[from as usize]);
        if self.paths.as_ref().is_none_or(|&(searched, _)| searched != origin) {
            self.paths = Some((origin, cheapest_paths(links, origin)));
            self.searches += 1;
        }
        let paths = self.paths.as_ref().map_or(&[][..], |(_, paths)| paths);
        let reached = to.map(|pe| match pe == from {
            true => Some(0),
            false => paths[vertices[pe as usize]].map(|rest| rest.saturating_add(link)),
        });
        reached.collect::<Option<_>>().map_or(fault("there is no path between two PEs"), Ok)
    }
}

impl Shape {
    pub(super) fn distance(&self, p: u64, q: u64) -> u64 {
        match self {
            Shape::Written(written) => written.distance(p, q),
            Shape::Matrix { num_pes, entries } => entries[(p * num_pes + q) as usize],
            Shape::Triangle { .. } if p == q => 0,
            Shape::Triangle { entries, .. } => {
                let (row, column) = (p.max(q), p.min(q));
                entries[(row * (row - 1) / 2 + column) as usize]
            }
            Shape::Outline { distances, digits, between, network } => {
                let (of_p, of_q) = (&digits[p as usize], &digits[q as usize]);
                outline_distance(of_p, of_q, distances, between) + network.distance(p, q, of_p, of_q)
            }
            Shape::Network { .. } => unreachable!("networks are searched from one PE to all"),
        }
    }
}

/// The distance of the outermost level at which the digits differ; 0 if they are equal.
fn outline_distance(p: &[u64], q: &[u64], distances: &[u64], between: &[Vec<u64>]) -> u64 {
    if let (false, Some(&p), Some(&q)) = (between.is_empty(), p.last(), q.last())
        && p != q
    {
        return between[p as usize][q as usize];
    }
    (0..distances.len()).rev().find(|&level| p[level] != q[level]).map_or(0, |level| distances[level])
}

/// The distances of PEs from the network that they use to reach those from which they differ at some level.
#[derive(Clone, Debug, Default)]
pub(super) struct ToNetwork {
    level: usize,
    /// The distances by PE; none if all are at it.
    distances: Vec<u64>,
}

impl ToNetwork {
    /// Returns the distance from one PE to the network, and from there to another.
    fn distance(&self, p: u64, q: u64, of_p: &[u64], of_q: &[u64]) -> u64 {
        if self.distances.is_empty() || of_p[self.level..] == of_q[self.level..] {
            return 0;
        }
        self.distances[p as usize].saturating_add(self.distances[q as usize])
    }
}

/// The distances of the levels, the digits of each PE, the rows of a matrix, and how far each PE is from the network.
fn read_outline(text: &str) -> Result<Machine> {
    let row = |line: &str| line.split_whitespace().map(number).collect::<Result<Vec<u64>>>();
    let mut lines = text.lines();
    let distances = row(lines.next().unwrap_or_default())?;
    let (mut digits, mut between) = (Vec::new(), Vec::new());
    let mut network = ToNetwork::default();
    for line in lines {
        match line.split_once(' ') {
            Some(("between", line)) => between.push(row(line)?),
            Some(("network", line)) => network = read_network(&row(line)?)?,
            _ => digits.push(row(line)?),
        }
    }
    if digits.iter().any(|digits: &Vec<u64>| digits.len() != distances.len()) {
        return fault("a processing element of the outline does not have a digit for each level");
    }
    let groups = between.len() as u64;
    let exists = |digits: &Vec<u64>| digits.last().is_none_or(|&group| group < groups);
    if groups > 0 && !(digits.iter().all(exists) && between.iter().all(|row| row.len() as u64 == groups)) {
        return fault("the groups of the outline do not have a distance for each pair");
    }
    let num_pes = network.distances.len();
    if num_pes > 0 && (num_pes != digits.len() || network.level > distances.len()) {
        return fault("the outline does not have a distance from the network for each processing element");
    }
    Ok(Machine::whole(Shape::Outline { distances, digits, between, network }))
}

/// The level of nodes, and the distances of the PEs.
fn read_network(row: &[u64]) -> Result<ToNetwork> {
    let Some((&level, distances)) = row.split_first() else { return fault("a level of nodes is missing") };
    let level = usize::try_from(level).unwrap_or(usize::MAX);
    Ok(ToNetwork { level, distances: distances.to_vec() })
}

/// The costs of the cheapest paths from a vertex to all reachable ones.
pub(super) fn cheapest_paths(links: &[Row], from: usize) -> Vec<Option<u64>> {
    let mut cost: Vec<Option<u64>> = vec![None; links.len()];
    let mut waiting = BinaryHeap::from([Reverse((0u64, from))]);
    while let Some(Reverse((so_far, vertex))) = waiting.pop() {
        if cost[vertex].is_some() {
            continue;
        }
        cost[vertex] = Some(so_far);
        for &(next, link) in &links[vertex].arcs {
            if links[next].arcs.len() == 1 && cost[next].is_none() {
                // Nothing lies beyond a dead end.
                cost[next] = Some(so_far.saturating_add(link));
            } else if cost[next].is_none() {
                waiting.push(Reverse((so_far.saturating_add(link), next)));
            }
        }
    }
    cost
}

/// Numbers and ranges of them, all below `num_pes`.
fn read_list(text: &str, num_pes: u64) -> Result<Vec<u64>> {
    let mut list = Vec::new();
    for line in text.lines() {
        let line = line.split(['#', '%']).next().unwrap_or("");
        for entry in
            line.split(|c: char| c == ',' || c.is_ascii_whitespace()).filter(|entry| !entry.is_empty())
        {
            let (first, last) = entry.split_once('-').unwrap_or((entry, entry));
            let (first, last) = (number(first)?, number(last)?);
            if last >= num_pes {
                return fault("a processing element of the list does not exist");
            }
            list.extend(first..=last);
        }
    }
    Ok(list)
}

/// A file with a target, a network or a matrix.
fn read_file(name: &str, text: &str) -> Result<Machine> {
    if let Some(machine) = read_numa(text).or_else(|| read_gpus(text)) {
        return machine;
    }
    let lines = rows(text, is_separator);
    let Some(first) = lines.first() else { return fault("the file of the machine is empty") };
    if let Some(entries) = within_names(&table_of(text)) {
        return read_matrix(entries);
    }
    if first[0].starts_with(char::is_alphabetic) {
        return read_target(&mut lines.iter().flatten().copied());
    }
    let name = name.to_ascii_lowercase();
    let name = name.trim_end_matches(".gz");
    let named_so = [".matrix", ".mat", ".dist"].iter().any(|ending| name.ends_with(ending));
    // As many lines as fields with one number on the diagonal, and not one more than a graph promises.
    let is_row = |(row, line): (usize, &Vec<&str>)| line.len() == lines.len() && line[row] == first[0];
    let is_square = lines.iter().enumerate().all(is_row) && number(first[0])? + 1 != lines.len() as u64;
    if number(first[0])? == 0 || !(2..=4).contains(&first.len()) || is_square || named_so {
        return read_matrix(lines.concat());
    }
    let links = read_rows(text, |_| Ok(()))?;
    let vertices: Vec<usize> = (0..links.len()).filter(|&vertex| links[vertex].weight > 0).collect();
    let capacities = vertices.iter().map(|&vertex| links[vertex].weight).collect();
    Ok(Machine {
        shape: Shape::Network { links, vertices, times: None },
        capacities: Some(capacities),
        list: None,
    })
}

/// Returns whether a character separates numbers.
fn is_separator(c: char) -> bool {
    c.is_whitespace() || matches!(c, ',' | ';')
}

/// The fields of each line up to a comment; lines without fields are left out.
fn rows(text: &str, separates: impl Fn(char) -> bool) -> Vec<Vec<&str>> {
    let fields = |line| -> Vec<&str> {
        let fields = str::split(line, &separates).map(str::trim).filter(|field| !field.is_empty());
        fields.take_while(|field| !field.starts_with(['#', '%'])).collect()
    };
    text.lines().map(fields).filter(|fields| !fields.is_empty()).collect()
}

/// The fields of a table. If its first line has commas, semicolons or tabulators, they separate fields, and names may contain blanks.
pub(super) fn table_of(text: &str) -> Vec<Vec<&str>> {
    let is_blank = |line: &&str| rows(line, is_separator).is_empty();
    let first = text.lines().find(|line| !is_blank(line)).unwrap_or("");
    match [',', ';', '\t'].into_iter().find(|&separator| first.contains(separator)) {
        Some(separator) => rows_of_cells(text, separator),
        None => rows(text, char::is_whitespace),
    }
}

/// The cells of each line that has one; lines are read up to a comment.
fn rows_of_cells(text: &str, separator: char) -> Vec<Vec<&str>> {
    let has_one = |cells: &Vec<&str>| cells.iter().any(|cell| !cell.is_empty());
    text.lines().map(|line| cells_of(line, separator)).filter(has_one).collect()
}

/// The cells of a line, of which all but the last may be empty.
fn cells_of(line: &str, separator: char) -> Vec<&str> {
    let cells = line.split(separator).map(str::trim);
    let mut cells: Vec<&str> = cells.take_while(|cell| !cell.starts_with(['#', '%'])).collect();
    cells.pop_if(|last| last.is_empty());
    cells
}

/// The entries of a square table with names over its columns, beside its rows, or both. Columns may be numbered instead if rows are
/// named.
fn within_names<'a>(lines: &[Vec<&'a str>]) -> Option<Vec<&'a str>> {
    let (first, rest) = lines.split_first()?;
    let is_square =
        |rows: &[Vec<&str>], names| rows.len() > 1 && rows.iter().all(|row| row.len() == rows.len() + names);
    let counts_from = |start: u64| {
        (start..).zip(first).all(|(index, field)| number(field).is_ok_and(|found| found == index))
    };
    let has_name = first.iter().any(|field| number(field).is_err());
    let is_header_of_names = has_name || first.len() == rest.len() && (counts_from(0) || counts_from(1));
    let (rows, names) = if has_name && is_square(lines, 1) {
        (lines, 1)
    } else if has_name && is_square(rest, 0) {
        (rest, 0)
    } else if is_header_of_names && is_square(rest, 1) {
        (rest, 1)
    } else {
        return None;
    };
    Some(rows.iter().flat_map(|row| &row[names..]).copied().collect())
}

fn read_matrix(fields: Vec<&str>) -> Result<Machine> {
    let mut entries: Vec<u64> = fields.into_iter().map(number).collect::<Result<_>>()?;
    let rows =
        |count: usize| (0..=count as u64).find(|n| n * n >= count as u64).filter(|n| n * n == count as u64);
    // The first line may contain the number of rows.
    if entries[0] > 0 && rows(entries.len() - 1) == Some(entries[0]) {
        entries.remove(0);
    }
    match rows(entries.len()) {
        Some(num_pes) => Ok(matrix(num_pes, entries)),
        None => fault("the matrix is not square"),
    }
}

/// A matrix whose diagonal does not count.
fn matrix(num_pes: u64, mut entries: Vec<u64>) -> Machine {
    entries.iter_mut().step_by(num_pes as usize + 1).for_each(|entry| *entry = 0);
    Machine::whole(Shape::Matrix { num_pes, entries })
}

/// The distances of NUMA nodes, if the text is what numactl, likwid-topology or lstopo prints.
fn read_numa(text: &str) -> Option<Result<Machine>> {
    let mut rows: Vec<Vec<&str>> = Vec::new();
    let mut is_table = false;
    for line in text.lines().map(str::trim) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some((&first, rest)) = words.split_first() else { continue };
        let are_numbers = rest.iter().all(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
        if first == "Distances:" {
            rows.push(rest.to_vec());
        } else if first == "node" && are_numbers && !rest.is_empty() || line.contains(" matrix ") {
            is_table = first == "node" || line.to_lowercase().contains("latency matrix");
        } else if is_table && first != "index" {
            rows.push(rest.to_vec());
        }
    }
    let first = rows.first()?;
    let (width, mut table) = (first.len(), rows.concat());
    table.truncate(width * width); // what follows is no part of it
    let most = table.iter().map(|cell| decimals(cell).len()).max().unwrap_or(0);
    let scaled = |cell: &&str| {
        let (whole, own) = (cell.split('.').next().unwrap_or_default(), decimals(cell));
        number(&format!("{whole}{own}{}", "0".repeat(most - own.len())))
    };
    let entries: Result<Vec<u64>> = table.iter().map(scaled).collect();
    Some(entries.and_then(|entries| match entries.len() == width * width && width > 0 {
        true => Ok(matrix(width as u64, entries)),
        false => fault("there are not as many rows as columns"),
    }))
}

/// The GPUs of a node, if the text is what nvidia-smi or rocm-smi prints about them.
fn read_gpus(text: &str) -> Option<Result<Machine>> {
    let lines: Vec<Vec<String>> = text.lines().map(plain_words).filter(|words| !words.is_empty()).collect();
    let of_nvidia = |words: &Vec<String>| words[0] == "GPU0" && words.join(" ").contains(" CPU Affinity");
    let of_rocm = |words: &Vec<String>| words.join(" ").trim_matches(['=', ' ']) == "Weight between two GPUs";
    let (header, is_nvidia) = match lines.iter().position(of_nvidia) {
        Some(header) => (header, true),
        None => (lines.iter().position(of_rocm)? + 1, false),
    };
    let count =
        lines.get(header)?.iter().take_while(|word| word.starts_with("GPU") && word.len() > 3).count();
    let mut entries = Vec::new();
    for (row, words) in lines.iter().skip(header + 1).take(count).enumerate() {
        for (column, cell) in words.iter().skip(1).take(count).enumerate() {
            let entry = match (row == column, is_nvidia) {
                (true, _) => Ok(0),
                (false, true) => distance_of_link(cell),
                (false, false) => number(cell),
            };
            match entry {
                Ok(entry) => entries.push(entry),
                Err(fault) => return Some(Err(fault)),
            }
        }
    }
    Some(match entries.len() == count * count && count > 0 {
        true => Ok(matrix(count as u64, entries)),
        false => fault("there are not as many rows as GPUs"),
    })
}

/// The words of a line without the sequences that set a terminal's style: an escape character, and all up to a letter.
fn plain_words(line: &str) -> Vec<String> {
    let mut plain = String::new();
    let mut is_style = false;
    for character in line.chars() {
        match character {
            '\u{1b}' => is_style = true,
            _ if is_style => is_style = !character.is_ascii_alphabetic(),
            _ => plain.push(character),
        }
        if is_style {
            plain.push(' ');
        }
    }
    plain.split_whitespace().map(str::to_owned).collect()
}

/// Returns the assumed distance of a link of NVIDIA: 36 is an NVLink or a PCIe switch.
fn distance_of_link(link: &str) -> Result<u64> {
    const LINKS: [(&str, u64); 6] =
        [("PIX", 36), ("PXB", 40), ("PHB", 44), ("NODE", 48), ("SYS", 72), ("SOC", 72)];
    if let Some((_, distance)) = LINKS.iter().find(|(name, _)| *name == link) {
        return Ok(*distance);
    }
    match link.strip_prefix("NV").map(number) {
        Some(Ok(count)) if count > 0 => Ok(36u64.div_ceil(count)),
        _ => fault("a link between GPUs is unknown"),
    }
}

/// The decimals of a number, without zeros at their end.
fn decimals(cell: &str) -> &str {
    cell.split_once('.').map_or("", |(_, decimals)| decimals.trim_end_matches('0'))
}

/// A Scotch target file, field by field.
fn read_target<'a>(fields: &mut impl Iterator<Item = &'a str>) -> Result<Machine> {
    let mut lists = Vec::new();
    let mut kind = word(fields)?;
    while kind == "sub" {
        let count = next(fields)?;
        lists.push((0..count).map(|_| next(fields)).collect::<Result<Vec<u64>>>()?);
        kind = word(fields)?;
    }
    let mut machine = read_base(&kind, fields)?;
    while let Some(list) = lists.pop() {
        machine = machine.listed(&list)?;
    }
    Ok(machine)
}

fn word<'a>(fields: &mut impl Iterator<Item = &'a str>) -> Result<String> {
    fields.next().map_or(fault("the target ends early"), |field| Ok(field.to_ascii_lowercase()))
}

fn next<'a>(fields: &mut impl Iterator<Item = &'a str>) -> Result<u64> {
    fields.next().map_or(fault("the target ends early"), number)
}

fn read_base<'a>(kind: &str, fields: &mut impl Iterator<Item = &'a str>) -> Result<Machine> {
    match kind {
        "tleaf" => read_leaves(fields),
        "ltleaf" => {
            let tree = read_leaves(fields)?;
            let count = next(fields)?;
            let labels = (0..count).map(|_| next(fields)).collect::<Result<Vec<u64>>>()?;
            // The leaf of each label, in each stretch of as many leaves.
            let leaf = |label: u64| labels.iter().position(|&other| other == label % count);
            let list = (0..tree.num_pes()).map(|pe| Some(pe - pe % count + leaf(pe)? as u64));
            match list.collect::<Option<Vec<u64>>>() {
                Some(list) => tree.listed(&list),
                None => fault("a label is missing"),
            }
        }
        "mesh2d" | "torus2d" => read_grid(kind, 2, fields),
        "mesh3d" | "torus3d" => read_grid(kind, 3, fields),
        "meshxd" | "torusxd" => {
            let dimensions = next(fields)?;
            read_grid(kind, dimensions, fields)
        }
        "hcub" => Ok(Machine::written(Cube::new(next(fields)?)?)),
        "cmplt" => Machine::tree(&[next(fields)?], &[1]),
        "cmpltw" => {
            let count = next(fields)?;
            let capacities = (0..count).map(|_| next(fields)).collect::<Result<_>>()?;
            Ok(Machine { capacities: Some(capacities), ..Machine::tree(&[count], &[1])? })
        }
        "deco" => read_decomposition(fields),
        _ => fault("unknown kind of target"),
    }
}

/// A tree, outermost level first.
fn read_leaves<'a>(fields: &mut impl Iterator<Item = &'a str>) -> Result<Machine> {
    let (mut arities, mut costs) = (Vec::new(), Vec::new());
    for _ in 0..next(fields)? {
        arities.insert(0, next(fields)?);
        costs.insert(0, next(fields)?);
    }
    let sum = |costs: &[u64]| costs.iter().fold(0, |sum: u64, &cost| sum.saturating_add(cost));
    let distances: Vec<u64> = (1..=costs.len()).map(|inner| sum(&costs[..inner])).collect();
    Machine::tree(&arities, &distances)
}

fn read_grid<'a>(kind: &str, dimensions: u64, fields: &mut impl Iterator<Item = &'a str>) -> Result<Machine> {
    let lengths = (0..dimensions).map(|_| next(fields)).collect::<Result<_>>()?;
    let is_closed = kind.starts_with("torus");
    Ok(Machine::written(Grid::plain(lengths, is_closed)))
}

fn read_decomposition<'a>(fields: &mut impl Iterator<Item = &'a str>) -> Result<Machine> {
    if next(fields)? != 0 {
        return fault("only version 0 of decompositions is supported");
    }
    let (num_pes, _largest) = (next(fields)?, next(fields)?);
    let mut capacities = Vec::new();
    for _ in 0..num_pes {
        let [_label, weight, _domain] = [next(fields)?, next(fields)?, next(fields)?];
        capacities.push(weight);
    }
    let mut entries = Vec::new();
    for row in 0..num_pes {
        for _ in 0..row {
            entries.push(next(fields)?);
        }
    }
    let shape = Shape::Triangle { num_pes, entries };
    Ok(Machine { shape, capacities: Some(capacities), list: None })
}
