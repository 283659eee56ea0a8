//! Scotch source graphs (`.grf`): undirected, each edge listed at both ends with the same load.
//!
//! A version 0, then the numbers of vertices and arcs, then the number of the first vertex and three flags:
//! labels, edge loads, vertex loads. Then for each vertex its label and its load if the flags say so, its
//! degree, and for each neighbour the load of the edge, if the flags say so, and the neighbour; where
//! vertices have labels, by its label. An edge weighs its load, or 1. Line ends are blanks like any other.
//! (Pellegrini, Scotch and libScotch user's guide.)

use hashbrown::HashMap;

use super::collector::FlowSink;
use super::fault::{Stop, TrafficFault, expected};
use super::fields::ScannerExt;
use super::format::Format;
use super::kind::Kind;
use viem_io::Source;
use viem_io::scanner::{Scanner, Token};

pub(super) const FORMAT: Format = Format {
    kind: Kind { name: "scotch", title: "a Scotch graph", ..Kind::PLAIN },
    read,
    #[cfg(test)]
    sample: tests::SAMPLE,
};

/// An arc as it is in the file.
struct Arc {
    from: u64,
    to: u64,
    weight: u64,
    line: u64,
    column: u64,
}

/// The content of the first lines.
struct Header {
    num_nodes: u64,
    num_arcs: u64,
    first: u64,
    has_labels: bool,
    has_edge_loads: bool,
    has_node_loads: bool,
}

fn read(scanner: &mut Scanner<Source<'_>>, inlet: &mut FlowSink<'_>) -> Result<(), Stop> {
    let header = header(scanner)?;
    inlet.name_ranks(header.num_nodes).map_err(|fault| scanner.stop(fault))?;
    let (mut arcs, labels) = read_arcs(scanner, &header)?;
    for arc in &mut arcs {
        arc.to = match (header.has_labels, labels.get(&arc.to)) {
            (true, Some(&node)) => node,
            (false, _) if (header.first..header.first + header.num_nodes).contains(&arc.to) => {
                arc.to - header.first
            }
            _ => {
                let last = (header.first + header.num_nodes).saturating_sub(1);
                let fault = TrafficFault::NoSuchRank { rank: arc.to, first: header.first, last };
                return Err(Stop { line: arc.line, column: arc.column, fault });
            }
        };
    }
    check_symmetry(&mut arcs, header.first)?;
    for arc in arcs.iter().filter(|arc| arc.from <= arc.to) {
        let added = inlet.add(0, arc.from, arc.to, arc.weight, 0);
        added.map_err(|fault| Stop { line: arc.line, column: arc.column, fault })?;
    }
    Ok(())
}

fn header(scanner: &mut Scanner<Source<'_>>) -> Result<Header, Stop> {
    let version = number(scanner, "the version of the Scotch format, which is 0")?;
    let refused = |scanner: &Scanner<_>, number: u64, expected| {
        Err(scanner.stop(TrafficFault::Unexpected { text: number.to_string(), expected }))
    };
    if version != 0 {
        return refused(scanner, version, "0, the version with which a Scotch graph starts");
    }
    let num_nodes = number(scanner, "the number of vertices")?;
    let num_arcs = number(scanner, "the number of arcs")?;
    let first = number(scanner, "the number of the first vertex")?;
    if first > 1 {
        return refused(scanner, first, "0 or 1, the number of the first vertex");
    }
    let flags = number(scanner, "three flags, each 0 or 1")?;
    let digits = [flags / 100, flags / 10 % 10, flags % 10];
    if digits.iter().any(|&digit| digit > 1) {
        return refused(scanner, flags, "three flags, each 0 or 1");
    }
    let [has_labels, has_edge_loads, has_node_loads] = digits.map(|digit| digit == 1);
    Ok(Header { num_nodes, num_arcs, first, has_labels, has_edge_loads, has_node_loads })
}

/// All arcs, with their heads as they are called, and the vertex of each label.
fn read_arcs(
    scanner: &mut Scanner<Source<'_>>,
    header: &Header,
) -> Result<(Vec<Arc>, HashMap<u64, u64>), Stop> {
    let (mut arcs, mut labels) = (Vec::new(), HashMap::new());
    for from in 0..header.num_nodes {
        if header.has_labels {
            let label = number(scanner, "the label of a vertex")?;
            if labels.insert(label, from).is_some() {
                let expected = "a label of its own: an earlier vertex has it already";
                return Err(scanner.stop(TrafficFault::Unexpected { text: label.to_string(), expected }));
            }
        }
        if header.has_node_loads {
            number(scanner, "the load of a vertex")?;
        }
        for _ in 0..number(scanner, "the degree of a vertex")? {
            let weight = if header.has_edge_loads { number(scanner, expected::WEIGHT)? } else { 1 };
            let to = number(scanner, "a neighbour")?;
            arcs.push(Arc { from, to, weight, line: scanner.line(), column: scanner.column() });
        }
    }
    let rest = scanner.next_of_any_line();
    if rest != Token::End {
        return Err(scanner.unexpected(rest, "the end of the file, as all vertices have been listed"));
    }
    if arcs.len() as u64 != header.num_arcs {
        let expected = "the number of arcs in the second line is another one";
        return Err(scanner.stop(TrafficFault::Unexpected { text: arcs.len().to_string(), expected }));
    }
    Ok((arcs, labels))
}

/// Sorts the arcs and finds one that has no counterpart.
fn check_symmetry(arcs: &mut [Arc], first: u64) -> Result<(), Stop> {
    let mut backwards: Vec<_> = arcs.iter().map(|arc| (arc.to, arc.from, arc.weight)).collect();
    backwards.sort_unstable();
    arcs.sort_unstable_by_key(|arc| (arc.from, arc.to, arc.weight));
    let is_lonely = |(arc, back): &(&Arc, &_)| (arc.from, arc.to, arc.weight) != **back;
    match arcs.iter().zip(&backwards).find(is_lonely) {
        None => Ok(()),
        Some((arc, &(from, to, weight))) => {
            // The lesser of the two is the one whose counterpart is not there.
            let arc = if (arc.from, arc.to, arc.weight) < (from, to, weight) {
                arc
            } else {
                arcs.iter().find(|arc| (arc.to, arc.from, arc.weight) == (from, to, weight)).unwrap_or(arc)
            };
            let fault =
                TrafficFault::Asymmetric { from: arc.from + first, to: arc.to + first, weight: arc.weight };
            Err(Stop { line: arc.line, column: arc.column, fault })
        }
    }
}

/// The next number, in whatever line.
fn number(scanner: &mut Scanner<Source<'_>>, expected: &'static str) -> Result<u64, Stop> {
    match scanner.next_of_any_line() {
        Token::Number(number) => Ok(number),
        token => Err(scanner.unexpected(token, expected)),
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{Flows, Sample};
    use std::fmt::Write;

    pub(super) const SAMPLE: Sample = Sample {
        text: "0\n3 4\n0 010\n1 7 1\n2 7 0 8 2\n1 8 1\n",
        numbers_from: Some(3),
        write: Some(write),
        ..Sample::NONE
    };

    fn write(n: u32, flows: &Flows) -> Vec<Vec<u8>> {
        // Undirected: the load of an edge is the sum of both directions.
        let load = |u: u32, v: u32| {
            let way = |pair| flows.get(&pair).map_or(0, |flow| flow.0);
            way((u, v)) + if u == v { 0 } else { way((v, u)) }
        };
        let is_edge = |u, v| flows.contains_key(&(u, v)) || flows.contains_key(&(v, u));
        let arcs = (0..n).flat_map(|u| (0..n).map(move |v| (u, v))).filter(|&(u, v)| is_edge(u, v)).count();
        let mut text = format!("0\n{n} {arcs}\n1 111\n");
        for u in 0..n {
            let ends: Vec<_> = (0..n).filter(|&v| is_edge(u, v)).collect();
            write!(text, "{} 1 {}", 1000 - u, ends.len()).unwrap();
            ends.iter().for_each(|&v| write!(text, " {} {}", load(u, v), 1000 - v).unwrap());
            text.push('\n');
        }
        vec![text.into()]
    }
}
