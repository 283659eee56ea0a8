//! Graphs as node-link JSON, as NetworkX and D3 write them: `{"nodes": [{"id": ...}], "links": [{"source": ..., "target": ...}]}`.
//!
//! The list of edges may be called `edges`, as NetworkX does from version 3.4 on. Ids are numbers or texts. An edge weighs what it has
//! under a name that edge lists know (`weight`, `bytes`, ...), which must be a number, otherwise 1; parallel edges are summed, and so are both directions of a
//! directed graph. Where no node has an id, edges name places in the list of nodes.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::collector::FlowSink;
use super::edges::may_be_of_each;
use super::fault::{Stop, TrafficFault};
use super::format::Format;
use super::kind::Kind;
use super::named::{Edge, Names, stop};
use viem::base::text::{Place, place};
use viem_io::Source;
use viem_io::scanner::Scanner;
use viem_io::signature::{
    EDGE_LISTS,
    columns::{MESSAGES, WEIGHT, meaning},
};
use viem_io::table::shortened;

pub(super) const FORMAT: Format = Format {
    kind: Kind { name: "json", title: "a graph as node-link JSON", is_graph: true, ..Kind::PLAIN },
    read,
    #[cfg(test)]
    sample: tests::SAMPLE,
};

fn read(scanner: &mut Scanner<Source<'_>>, inlet: &mut FlowSink<'_>) -> Result<(), Stop> {
    let text = scanner.rest();
    let parsed: Value = serde_json::from_slice(&text).map_err(|error| {
        let fault = TrafficFault::Json { reason: error.to_string() };
        stop(error.line().max(1) as u64, error.column().max(1) as u64)(fault)
    })?;
    graph(&parsed, inlet).map_err(|fault| {
        let edge =
            if let TrafficFault::InEdge { number, .. } = fault { place_of_edge(&text, number) } else { None };
        let Place { line, column } = edge.unwrap_or(Place { line: 1, column: 1 });
        stop(line, column)(fault)
    })
}

/// The edges as they are in a file.
#[derive(Deserialize)]
struct Edges<'a> {
    #[serde(borrow, alias = "edges")]
    links: Vec<&'a RawValue>,
}

/// Returns the place of an edge, counted from 1.
fn place_of_edge(text: &[u8], number: u64) -> Option<Place> {
    let edges: Edges<'_> = serde_json::from_slice(text).ok()?;
    let edge = edges.links.get(number as usize - 1)?.get();
    Some(place(text, edge.as_ptr() as usize - text.as_ptr() as usize))
}

fn graph(parsed: &Value, inlet: &mut FlowSink<'_>) -> Result<(), TrafficFault> {
    let missing = |expected| TrafficFault::Missing { expected };
    let nodes = parsed.get("nodes").and_then(Value::as_array).ok_or(missing("the list `nodes`"))?;
    let links = EDGE_LISTS.iter().find_map(|list| parsed.get(list)?.as_array());
    let links = links.ok_or(missing("the list `links` or `edges`"))?;
    let has_ids = nodes.iter().any(|node| node.get("id").is_some());
    let id = |(place, node): (usize, &Value)| match node.get("id") {
        Some(id) => name(id),
        None if has_ids => Err(TrafficFault::Missing { expected: "the id of a node" }),
        None => Ok(place.to_string()),
    };
    let names = Names::new(nodes.iter().enumerate().map(id).collect::<Result<_, _>>()?)?;
    inlet.name_ranks(names.count())?;
    for (place, link) in links.iter().enumerate() {
        let in_edge =
            |fault: TrafficFault| TrafficFault::InEdge { number: place as u64 + 1, fault: Box::new(fault) };
        edge(link, &names).and_then(|edge| edge.add_to(inlet)).map_err(in_edge)?;
    }
    Ok(())
}

fn edge(link: &Value, names: &Names) -> Result<Edge, TrafficFault> {
    let end = |key: &str, expected| match link.get(key) {
        Some(id) => names.rank(&name(id)?),
        None => Err(TrafficFault::Missing { expected }),
    };
    let empty = Map::new();
    let fields = link.as_object().unwrap_or(&empty);
    let field = |column: usize| fields.iter().find(|(key, _)| meaning(key.as_bytes()) == Some(column));
    // What is there and no number stays a text that is none, and is refused as such.
    let number = |column: usize| field(column).map(|(_, value)| value.to_string());
    Ok(Edge {
        from: end("source", "the source of an edge")?,
        to: end("target", "the target of an edge")?,
        weight: number(WEIGHT),
        messages: number(MESSAGES),
        is_size: field(WEIGHT).is_some_and(|(key, _)| may_be_of_each(key.as_bytes())),
    })
}

/// The name that an id is.
fn name(id: &Value) -> Result<String, TrafficFault> {
    match id {
        Value::String(text) => Ok(text.clone()),
        Value::Number(_) | Value::Bool(_) | Value::Array(_) => Ok(id.to_string()),
        _ => {
            let text = shortened(id.to_string().as_bytes());
            Err(TrafficFault::Unexpected { text, expected: "an id: a number or a text" })
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{Flows, Sample, lines};
    use std::fmt::Write;

    pub(super) const SAMPLE: Sample = Sample {
        text: "{\"nodes\": [{\"id\": 0}, {\"id\": 1}],\n \"links\": [{\"source\": 0, \"target\": 1, \"weight\": 7}]}\n",
        write: Some(write),
        has_messages: true,
        ..Sample::NONE
    };

    fn write(n: u32, flows: &Flows) -> Vec<Vec<u8>> {
        let mut text = String::new();
        let nodes: Vec<_> = (0..n).map(|node| format!("{{\"id\": \"p{node}\"}}")).collect();
        let link = |(from, to, bytes, messages)| {
            format!(
                "{{\"source\": \"p{from}\", \"target\": \"p{to}\", \"weight\": {bytes}, \"messages\": {messages}}}"
            )
        };
        let links: Vec<_> = lines(flows).map(link).collect();
        write!(
            text,
            "{{\"directed\": true, \"nodes\": [{}],\n\"links\": [{}]}}",
            nodes.join(", "),
            links.join(",\n")
        )
        .unwrap();
        vec![text.into()]
    }
}
