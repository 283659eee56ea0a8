//! Latencies between hosts: a matrix of numbers, fractional ones allowed, in any unit.
//!
//! The names of the hosts may stand in the first line, or at the start of each line, or both; without names the hosts are those of
//! the machine, in its order. What starts with `#` is a comment. The diagonal is not asked for.

use std::collections::HashSet;

use crate::io::cluster::{ClusterFault, Fault, Text, fields, lines, shown};
use crate::io::{ReadError, Source};

/// Hosts at most: a matrix of as many takes 128 MiB.
const MOST_HOSTS: usize = 1 << 12;

/// A matrix of latencies.
#[derive(Clone, Debug, PartialEq)]
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
    let (mut header, mut names) = (None, Vec::new());
    let (mut rows, mut num_hosts, mut entries) = (0, None, Vec::new());
    for (at, line) in lines(text) {
        let separated: Vec<(usize, &str)> =
            fields(at, line).flat_map(|(at, field)| parts(at, field)).collect();
        let Some(&(first_at, first)) = separated.first() else {
            return Err((at, ClusterFault::Latency { text: shown(line) }));
        };
        if rows == 0 && header.is_none() && separated.iter().all(|(_, field)| latency(field).is_none()) {
            header = Some(separated);
            continue;
        }
        let has_name = latency(first).is_none();
        let values = &separated[usize::from(has_name)..];
        let columns = columns_of(&header, values.len(), has_name);
        if let Some(&(_, column)) = columns.get(rows)
            && has_name
            && columns.len() == values.len()
            && column != first
        {
            return Err((first_at, ClusterFault::OtherOrder { row: shown(first), column: shown(column) }));
        }
        let expected = *num_hosts.get_or_insert(values.len());
        if values.len() != expected {
            return Err((at, ClusterFault::Uneven { found: values.len(), expected }));
        }
        if expected > MOST_HOSTS {
            return Err((at, ClusterFault::TooManyHosts));
        }
        if has_name {
            names.push((first_at, first));
        }
        for (column, &(at, field)) in values.iter().enumerate() {
            let value = latency(field).ok_or_else(|| (at, ClusterFault::Latency { text: shown(field) }))?;
            if value == 0.0 && column != rows {
                let (from, to) = (format!("row {}", rows + 1), format!("column {}", column + 1));
                return Err((at, ClusterFault::NoLatency { from, to }));
            }
            entries.push(value);
        }
        rows += 1;
        if rows > expected {
            return Err((at, ClusterFault::Rows { found: rows, expected }));
        }
    }
    let end = text.len();
    let num_hosts = num_hosts.unwrap_or(0);
    if rows == 0 || rows != num_hosts {
        return Err((end, ClusterFault::Rows { found: rows, expected: num_hosts }));
    }
    let columns = columns_of(&header, num_hosts, !names.is_empty());
    let found = [columns, &names].into_iter().filter(|names| !names.is_empty());
    let found = found.map(|names| names_of(names, num_hosts)).collect::<Result<Vec<_>, _>>()?;
    let hosts = found.into_iter().next();
    Ok(Latencies { hosts, num_hosts, entries })
}

/// The names of so many columns: the first cell of a header may stand above the names of the rows, if they have some.
fn columns_of<'a, 'b>(
    header: &'b Option<Vec<(usize, &'a str)>>,
    count: usize,
    are_rows_named: bool,
) -> &'b [(usize, &'a str)] {
    let names = header.as_deref().unwrap_or_default();
    &names[usize::from(are_rows_named && names.len() == count + 1)..]
}

/// The names of all hosts, each another one.
fn names_of(hosts: &[(usize, &str)], num_hosts: usize) -> Result<Vec<String>, Fault> {
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
    let starts_well = text.starts_with(|c: char| c.is_ascii_digit() || c == '.' || c == '+');
    let number = starts_well.then(|| text.parse::<f64>().ok()).flatten();
    number.filter(|number| number.is_finite() && (*number == 0.0 || (1e-30..1e30).contains(number)))
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
