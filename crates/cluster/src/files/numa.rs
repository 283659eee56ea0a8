//! Distances between the NUMA nodes of a machine, in what tools print about it.
//!
//! | tool | where the distances are |
//! |---|---|
//! | `numactl --hardware` | `node distances:`, then a line with the numbers of the nodes, then `0:  10  21` for each node |
//! | `likwid-topology` | `Distances:  10 21` for each `Domain:` |
//! | `lstopo --distances` | `Relative latency matrix … between 2 NUMANodes …`, then a line `index  0  1`, then `0  10  21` for each object |
//!
//! All else that they print is skipped. Numbers may have decimals: then all are multiplied by the same power of 10.

use crate::files::{ClusterFault, Fault, Text, fields, lines, shown};
use viem::base::types::Distance;
use viem_io::{ReadError, Source};

/// Objects at most.
const MOST: usize = 1 << 12;

/// Decimals of a number at most.
const MOST_DECIMALS: usize = 6;

/// Distances between the NUMA nodes of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NumaDistances {
    /// The tool that has printed them.
    pub tool: &'static str,
    /// The objects between which they are.
    pub what: String,
    /// The factor of all distances, so that they are whole numbers.
    pub factor: Distance,
    /// Row by row. The diagonal is as it was printed, 10 most often.
    pub entries: Vec<Distance>,
}

/// A tool, and how its distances are found.
struct Tool {
    name: &'static str,
    /// Returns whether only this tool prints such a line.
    marks: fn(&str) -> bool,
    read: fn(&mut Table, (usize, &str)) -> Result<(), Fault>,
}

const TOOLS: [Tool; 3] = [
    Tool { name: "numactl", marks: is_numactl, read: numactl },
    Tool {
        name: "likwid-topology",
        marks: |line| line == "NUMA Topology" || line.starts_with("Distances:"),
        read: likwid,
    },
    Tool { name: "lstopo", marks: |line| title(line).is_some(), read: lstopo },
];

/// The tool that has printed a text, or the text that begins so.
pub fn tool(start: &str) -> Option<&'static str> {
    found(start).map(|tool| tool.name)
}

fn found(start: &str) -> Option<&'static Tool> {
    const ALL: &[Tool] = &TOOLS;
    ALL.iter().find(|tool| lines(start).any(|(_, line)| (tool.marks)(line)))
}

/// Reads the distances in the output of a tool.
pub fn read(source: Source<'_>) -> Result<NumaDistances, ReadError> {
    Text::read(source)?.parse(distances)
}

fn distances(text: &str) -> Result<NumaDistances, Fault> {
    let Some(tool) = found(text) else { return fault(0, text, "no tool is known that prints this") };
    let mut table = Table::default();
    for line in lines(text) {
        (tool.read)(&mut table, line)?;
    }
    table.finish(text, tool.name)
}

fn fault<T>(at: usize, text: &str, reason: &'static str) -> Result<T, Fault> {
    Err((at, ClusterFault::Numa { text: shown(text.lines().next().unwrap_or_default()), reason }))
}

/// A table as read so far.
#[derive(Default)]
struct Table {
    what: Option<String>,
    /// True if the next lines are rows.
    is_open: bool,
    /// Columns with a name, if they have some.
    columns: Option<usize>,
    rows: Vec<(usize, Vec<Decimal>)>,
}

impl Table {
    fn add(&mut self, at: usize, cells: &[(usize, &str)]) -> Result<(), Fault> {
        let decimal = |&(at, cell): &(usize, &str)| match Decimal::new(cell) {
            Some(decimal) => Ok(decimal),
            None => fault(at, cell, "this is no distance"),
        };
        let row = cells.iter().map(decimal).collect::<Result<Vec<_>, _>>()?;
        let expected = self.columns.or(self.rows.first().map(|(_, row)| row.len()));
        if expected.is_some_and(|expected| expected != row.len()) {
            return fault(
                at,
                cells.first().map_or("", |cell| cell.1),
                "this row has another number of distances than there are columns",
            );
        }
        if row.len() > MOST {
            return fault(at, cells[0].1, "a row has more than 4096 distances");
        }
        self.rows.push((at, row));
        // The table is square.
        self.is_open = self.rows.len() < expected.unwrap_or(usize::MAX);
        Ok(())
    }

    fn finish(self, text: &str, tool: &'static str) -> Result<NumaDistances, Fault> {
        let width = self.rows.first().map_or(0, |(_, row)| row.len());
        if width == 0 {
            return fault(
                text.len(),
                tool,
                "the distances between NUMA nodes are missing in what this tool prints",
            );
        }
        if self.rows.len() != width {
            return fault(text.len(), tool, "there are not as many rows of distances as columns");
        }
        let decimals = self.rows.iter().flat_map(|(_, row)| row).map(|decimal| decimal.decimals).max();
        let decimals = decimals.unwrap_or(0);
        let mut entries = Vec::with_capacity(width * width);
        for (at, row) in &self.rows {
            for decimal in row {
                match decimal.scaled(decimals) {
                    Some(entry) => entries.push(entry),
                    None => return fault(*at, "row", "a distance is too large"),
                }
            }
        }
        let what = self.what.unwrap_or_else(|| "NUMA nodes".to_owned());
        Ok(NumaDistances { tool, what, factor: Distance::pow(10, decimals), entries })
    }
}

/// A number that is not negative, without zeros at the end of its decimals.
struct Decimal {
    pub digits: Distance,
    decimals: u32,
}

impl Decimal {
    fn new(text: &str) -> Option<Self> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let decimals = decimals.trim_end_matches('0');
        let all = format!("{whole}{decimals}");
        let is_number = !whole.is_empty() && all.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number || decimals.len() > MOST_DECIMALS {
            return None;
        }
        Some(Self { digits: all.parse().ok()?, decimals: decimals.len() as u32 })
    }

    /// The number times a power of 10.
    fn scaled(&self, decimals: u32) -> Option<Distance> {
        self.digits.checked_mul(Distance::pow(10, decimals - self.decimals))
    }
}

fn are_numbers(cells: &[(usize, &str)]) -> bool {
    !cells.is_empty() && cells.iter().all(|(_, cell)| cell.bytes().all(|byte| byte.is_ascii_digit()))
}

/// `node distances:`, or `node   0   1` above the table.
fn is_numactl(line: &str) -> bool {
    line == "node distances:"
        || line.strip_prefix("node ").is_some_and(|rest| are_numbers(&fields(0, rest).collect::<Vec<_>>()))
}

fn numactl(table: &mut Table, (at, line): (usize, &str)) -> Result<(), Fault> {
    if line == "node distances:" {
        return Ok(());
    }
    if is_numactl(line) {
        if !table.rows.is_empty() {
            return fault(at, line, "a second table of distances");
        }
        (table.columns, table.is_open) = (Some(fields(at, line).count() - 1), true);
        return Ok(());
    }
    let cells: Vec<(usize, &str)> = fields(at, line).collect();
    match cells[..] {
        [(_, name), ref cells @ ..] if table.is_open => match name.strip_suffix(':') {
            Some(name) if name.bytes().all(|byte| byte.is_ascii_digit()) => table.add(at, cells),
            _ => fault(at, line, "a row begins with the number of a node and a colon"),
        },
        _ => Ok(()),
    }
}

fn likwid(table: &mut Table, (at, line): (usize, &str)) -> Result<(), Fault> {
    match line.strip_prefix("Distances:") {
        Some(rest) => table.add(at, &fields(at + line.len() - rest.len(), rest).collect::<Vec<_>>()),
        None => Ok(()),
    }
}

/// Reads the title of a table: whether it has latencies, and between which objects.
fn title(line: &str) -> Option<(bool, &str)> {
    let (kind, rest) = line.split_once(" matrix ")?;
    let what = rest.split_once("between ")?.1.split(" by ").next()?;
    rest.contains("index").then_some(())?;
    let what = what.split(" (").next()?.trim_start_matches(|c: char| c.is_ascii_digit()).trim();
    Some((kind.to_ascii_lowercase().contains("latency"), what))
}

fn lstopo(table: &mut Table, (at, line): (usize, &str)) -> Result<(), Fault> {
    if let Some((is_latency, what)) = title(line) {
        if is_latency && table.what.is_some() {
            return fault(at, line, "a second matrix of latencies; keep the one that counts");
        }
        if is_latency {
            (table.what, table.is_open) = (Some(what.to_owned()), true);
        }
        return Ok(());
    }
    if !table.is_open {
        return Ok(());
    }
    let cells: Vec<(usize, &str)> = fields(at, line).collect();
    match cells[..] {
        [(_, "index"), ref names @ ..] => {
            table.columns = Some(names.len());
            Ok(())
        }
        [_, ref cells @ ..] => table.add(at, cells),
        [] => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMACTL: &str = "available: 2 nodes (0-1)\nnode 0 cpus: 0 1 2 3\nnode 0 size: 32151 MB\nnode 0 free: 1 MB\nnode 1 cpus:\n\
        node 1 size: 0 MB\nnode distances:\nnode   0   1 \n  0:  10  21 \n  1:  21  10 \n";
    const LIKWID: &str = "--------\nCPU name:\tX\n****\nNUMA Topology\n****\nNUMA domains:\t\t2\n----\nDomain:\t\t\t0\nProcessors:\t\t( 0 1 )\n\
        Distances:\t\t10 21\nFree memory:\t\t1 MB\n----\nDomain:\t\t\t1\nDistances:\t\t21 10\n";
    const LSTOPO: &str = "Relative latency matrix (name NUMALatency kind 5) between 2 NUMANodes (depth -3) by logical indexes:\n  index     0     1\n\
          0    10    21\n      1    21    10\nRelative bandwidth matrix (name NVLinkBandwidth kind 25) between 2 heterogeneous objects by logical \
        indexes:\n index nvml0 nvml1\n nvml0 1 0\n nvml1 0 1\n";

    #[test]
    fn what_each_tool_prints() {
        for (name, text) in [("numactl", NUMACTL), ("likwid-topology", LIKWID), ("lstopo", LSTOPO)] {
            let read = distances(text).unwrap();
            assert_eq!((tool(text), read.tool, read.factor), (Some(name), name, 1));
            let what = if name == "lstopo" { "NUMANodes" } else { "NUMA nodes" };
            assert_eq!((read.what.as_str(), read.entries), (what, vec![10, 21, 21, 10]), "{name}");
            assert_eq!(distances(&text.replace('\n', "\r\n")).unwrap().entries, [10, 21, 21, 10]);
        }
        // Only the table, and the table of hwloc 1.
        assert_eq!(distances("node 0 1\n0: 10 21\n1: 21 10\n").unwrap().entries, [10, 21, 21, 10]);
        let older = "Relative latency matrix between 2 NUMANodes (depth 2) by logical indexes:\n  index     0     1\n      0 1.000 2.150\n      1 2.150 1.000\n";
        let read = distances(older).unwrap();
        assert_eq!((read.factor, read.entries), (100, vec![100, 215, 215, 100]));
        assert_eq!(tool("0 10 20\n10 0 20\n20 20 0\n"), None);
        assert_eq!(tool("node0 node1\n10 20\n"), None);
    }

    #[test]
    fn faults_name_the_place() {
        for (text, line, column, reason) in [
            (NUMACTL.replace("10  21", "10"), 9, 3, "another number"),
            (NUMACTL.replace("10  21", "10  x"), 9, 11, "no distance"),
            (NUMACTL.replace("  1:  21  10", "  1;  21  10"), 10, 3, "begins with the number"),
            (NUMACTL.replace("  1:  21  10 \n", ""), 10, 1, "not as many rows"),
            ("node distances:\n".to_owned(), 2, 1, "are missing"),
            (LSTOPO.repeat(2), 9, 1, "second matrix"),
            (LIKWID.replace("21 10", "21 -1"), 14, 16, "no distance"),
        ] {
            match read(Source::new("test", text.as_bytes()).unwrap()) {
                Err(ReadError::Invalid { line: found, column: at, kind, .. }) => {
                    assert_eq!((found, at), (line, column), "{text}");
                    assert!(kind.to_string().contains(reason), "{kind}");
                }
                other => panic!("{text}: {other:?}"),
            }
        }
    }
}
