//! Latencies between hosts: a matrix of numbers, fractional ones allowed, in any unit.
//!
//! The names of the hosts may be in the first line, or at the start of each line, or both; without names the hosts are those of
//! the machine, in its order. What starts with `#` is a comment. The diagonal is not asked for.

use std::collections::HashSet;

use crate::files::{ClusterFault, Fault, Text, fields, lines, shown};
use viem::base::number;
use viem_io::{ReadError, Source};

/// Hosts at most: a matrix of as many takes 128 MiB.
const MOST_HOSTS: usize = 1 << 12;

/// A matrix of latencies.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Latencies {
    /// The names of the hosts, if the file has some.
    pub hosts: Option<Vec<String>>,
    /// Number of hosts.
    pub num_hosts: usize,
    /// Row by row; above 0 except from a host to itself.
    pub entries: Vec<f64>,
}

/// Reads a matrix of latencies.
pub fn read(source: Source<'_>) -> Result<Latencies, ReadError> {
    Text::read(source)?.parse(latencies)
}

fn latencies(text: &str) -> Result<Latencies, Fault> {
    let mut table = Table::default();
    for (at, line) in lines(text) {
        let cells: Vec<Cell<'_>> = fields(at, line).flat_map(|(at, field)| parts(at, field)).collect();
        let Some(&first) = cells.first() else {
            return Err((at, ClusterFault::Latency { text: shown(line) }));
        };
        if table.num_rows == 0
            && table.header.is_empty()
            && cells.iter().all(|(_, cell)| latency(cell).is_none())
        {
            table.header = cells;
        } else {
            table.add_row(at, first, &cells)?;
        }
    }
    table.finish(text.len())
}

/// A field with its offset.
type Cell<'a> = (usize, &'a str);

/// A matrix as read so far.
#[derive(Default)]
struct Table<'a> {
    /// The first line, if it holds names.
    header: Vec<Cell<'a>>,
    /// The names at the starts of rows.
    names: Vec<Cell<'a>>,
    num_rows: usize,
    /// The number of columns of the first row.
    num_columns: Option<usize>,
    entries: Vec<f64>,
}

impl<'a> Table<'a> {
    /// Adds a line of latencies that starts at an offset; a name may be in its first cell.
    fn add_row(&mut self, at: usize, first: Cell<'a>, cells: &[Cell<'a>]) -> Result<(), Fault> {
        let has_name = latency(first.1).is_none();
        let values = &cells[usize::from(has_name)..];
        if has_name {
            self.check_order(first, values.len())?;
        }
        let expected = *self.num_columns.get_or_insert(values.len());
        if values.len() != expected {
            return Err((at, ClusterFault::Uneven { found: values.len(), expected }));
        }
        if expected > MOST_HOSTS {
            return Err((at, ClusterFault::TooManyHosts));
        }
        if has_name {
            self.names.push(first);
        }
        for (column, &cell) in values.iter().enumerate() {
            let entry = self.entry(column, cell)?;
            self.entries.push(entry);
        }
        self.num_rows += 1;
        if self.num_rows > expected {
            return Err((at, ClusterFault::Rows { found: self.num_rows, expected }));
        }
        Ok(())
    }

    /// An error if the column of the same number as the next row has another name.
    fn check_order(&self, (at, row): Cell<'a>, num_values: usize) -> Result<(), Fault> {
        let columns = self.columns(num_values, true);
        match columns.get(self.num_rows) {
            Some(&(_, column)) if columns.len() == num_values && column != row => {
                Err((at, ClusterFault::OtherOrder { row: shown(row), column: shown(column) }))
            }
            _ => Ok(()),
        }
    }

    /// The latency in a column of the next row, which is above 0 except on the diagonal.
    fn entry(&self, column: usize, (at, field): Cell<'a>) -> Result<f64, Fault> {
        let value = latency(field).ok_or_else(|| (at, ClusterFault::Latency { text: shown(field) }))?;
        if value == 0.0 && column != self.num_rows {
            let (from, to) = (format!("row {}", self.num_rows + 1), format!("column {}", column + 1));
            return Err((at, ClusterFault::NoLatency { from, to }));
        }
        Ok(value)
    }

    /// The names of this many columns: the first cell of a header may be above the names of the rows, if they have some.
    fn columns(&self, count: usize, are_rows_named: bool) -> &[Cell<'a>] {
        &self.header[usize::from(are_rows_named && self.header.len() == count + 1)..]
    }

    /// The matrix, whose text ends at an offset.
    fn finish(self, end: usize) -> Result<Latencies, Fault> {
        let num_hosts = self.num_columns.unwrap_or(0);
        if self.num_rows == 0 || self.num_rows != num_hosts {
            return Err((end, ClusterFault::Rows { found: self.num_rows, expected: num_hosts }));
        }
        let columns = self.columns(num_hosts, !self.names.is_empty());
        let found = [columns, &self.names].into_iter().filter(|names| !names.is_empty());
        let found = found.map(|names| names_of(names, num_hosts)).collect::<Result<Vec<_>, _>>()?;
        let hosts = found.into_iter().next();
        Ok(Latencies { hosts, num_hosts, entries: self.entries })
    }
}

/// The names of all hosts, each another one.
fn names_of(hosts: &[Cell<'_>], num_hosts: usize) -> Result<Vec<String>, Fault> {
    if hosts.len() != num_hosts {
        let at = hosts.first().map_or(0, |&(at, _)| at);
        return Err((at, ClusterFault::Names { found: hosts.len(), expected: num_hosts }));
    }
    let mut seen = HashSet::new();
    match hosts.iter().find(|(_, host)| !seen.insert(host)) {
        Some(&(at, host)) => Err((at, ClusterFault::NamedTwice { host: shown(host) })),
        None => Ok(hosts.iter().map(|&(_, host)| host.to_owned()).collect()),
    }
}

/// The parts of a field that commas and semicolons divide.
fn parts(at: usize, field: &str) -> impl Iterator<Item = (usize, &str)> {
    let parts = field.split([',', ';']).filter(|part| !part.is_empty());
    parts.map(move |part| (at + (part.as_ptr() as usize - field.as_ptr() as usize), part))
}

/// A finite number that is not negative.
fn latency(text: &str) -> Option<f64> {
    let number = number::real(text.as_bytes());
    number.filter(|number| !number.is_sign_negative() && (*number == 0.0 || (1e-30..1e30).contains(number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_with_and_without_names() {
        let plain = latencies("# us\n0 1.5\n1.5 0\n").unwrap();
        assert_eq!((plain.hosts, plain.num_hosts, plain.entries), (None, 2, vec![0.0, 1.5, 1.5, 0.0]));
        for text in
            ["n1 n2\n0 1\n1 0\n", "n1 0 1\nn2 1 0\n", "host n1 n2\nn1 0 1\nn2 1 0\n", "n1,n2\n0,1\n1,0\n"]
        {
            let named = latencies(text).unwrap();
            assert_eq!(named.hosts.unwrap(), ["n1", "n2"], "{text}");
            assert_eq!(named.entries, [0.0, 1.0, 1.0, 0.0]);
        }
    }

    #[test]
    fn what_is_no_matrix_is_refused() {
        let files = [
            "",
            "# x\n",
            "0 1\n",
            "0 1\n1 0\n1 1\n",
            "0 1\n1\n",
            "0 -1\n-1 0\n",
            "0 x\nx 0\n",
            "0 nan\nnan 0\n",
            "0 inf\ninf 0\n",
            "0 0\n0 0\n",
            "n1\n0 1\n1 0\n",
            "n1 n1\n0 1\n1 0\n",
            "n1 0 1\nn1 1 0\n",
            "0 1e99\n1e99 0\n",
            ",\n",
            "n1 n2\nn2 0 1\nn1 1 0\n",
            "host n1 n2 n3\nn1 0 1\nn2 1 0\n",
        ];
        for file in files {
            assert!(latencies(file).is_err(), "{file:?}");
        }
        let swapped = latencies("# us\nhost n1 n2\nn2 1 0\nn1 0 1\n").unwrap_err();
        assert_eq!(swapped, (16, ClusterFault::OtherOrder { row: "n2".into(), column: "n1".into() }));
        let more = latencies("# us\nn1 n2 n3\n0 1\n1 0\n").unwrap_err();
        assert_eq!(more, (5, ClusterFault::Names { found: 3, expected: 2 }));
    }
}
