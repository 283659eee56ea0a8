//! Graphs in GraphML: `node` and `edge` elements, the weights of edges as `data` of a key that edge lists know by its name.
//!
//! An edge weighs what its data of a key called `weight`, `bytes` or the like says, or else the default of that key, or else 1.
//! Parallel edges are summed, and so are both directions of a directed graph. Nodes of nested graphs are nodes like all others;
//! hyperedges are refused. (Brandes, Eiglsperger, Lerner, "GraphML Primer".)

use roxmltree::Node;

use super::collector::FlowSink;
use super::edges::may_be_of_each;
use super::fault::{Stop, TrafficFault};
use super::format::Format;
use super::kind::Kind;
use super::named::{Edge, Names, stop};
use viem::base::text::{Place, place};
use viem_io::scanner::Scanner;
use viem_io::signature::columns::{MESSAGES, WEIGHT, meaning};
use viem_io::{Source, xml};

pub(super) const FORMAT: Format = Format {
    kind: Kind { name: "graphml", title: "a graph in GraphML", is_graph: true, ..Kind::PLAIN },
    read,
    #[cfg(test)]
    sample: tests::SAMPLE,
};

/// The content of edges under a key.
struct Key<'a> {
    id: &'a str,
    name: &'a str,
    default: Option<&'a str>,
}

fn read(scanner: &mut Scanner<Source<'_>>, inlet: &mut FlowSink<'_>) -> Result<(), Stop> {
    let text = scanner.rest();
    let text = std::str::from_utf8(&text)
        .map_err(|error| stop(1, 1)(TrafficFault::Xml { reason: error.to_string() }))?;
    let stop_at = |offset: usize, fault: TrafficFault| {
        let Place { line, column } = place(text.as_bytes(), offset);
        stop(line, column)(fault)
    };
    let document = xml::open(text).map_err(|(at, reason)| stop_at(at, TrafficFault::Xml { reason }))?;
    // The place is searched for only if there is a fault.
    let at = |node: Node<'_, '_>| {
        let start = node.range().start;
        move |fault| stop_at(start, fault)
    };
    let elements = |name: &'static str| {
        document.descendants().filter(move |node| node.is_element() && node.tag_name().name() == name)
    };
    if let Some(hyperedge) = elements("hyperedge").next() {
        let expected = "an edge between two nodes";
        return Err(at(hyperedge)(TrafficFault::Unexpected { text: "hyperedge".to_owned(), expected }));
    }
    let attribute = |node: Node<'_, '_>, name: &'static str, expected: &'static str| {
        node.attribute(name).map(str::to_owned).ok_or_else(|| at(node)(TrafficFault::Missing { expected }))
    };
    let names: Result<Vec<String>, Stop> =
        elements("node").map(|node| attribute(node, "id", "the id of a node")).collect();
    let names = Names::new(names?).map_err(at(document.root_element()))?;
    inlet.name_ranks(names.count()).map_err(at(document.root_element()))?;
    let keys = [WEIGHT, MESSAGES].map(|column| elements("key").find_map(|key| key_of_edges(key, column)));
    let is_size = keys[0].as_ref().is_some_and(|key| may_be_of_each(key.name.as_bytes()));
    for edge in elements("edge") {
        let rank = |name, expected| names.rank(&attribute(edge, name, expected)?).map_err(at(edge));
        let [weight, messages] = keys.each_ref().map(|key| key.as_ref().and_then(|key| data(edge, key)));
        let from = rank("source", "the source of an edge")?;
        let to = rank("target", "the target of an edge")?;
        Edge { from, to, weight, messages, is_size }.add_to(inlet).map_err(at(edge))?;
    }
    Ok(())
}

/// A key of edges that is called as this column of edge lists is.
fn key_of_edges<'a>(key: Node<'a, '_>, column: usize) -> Option<Key<'a>> {
    let is_of_edges = matches!(key.attribute("for"), None | Some("edge" | "all"));
    let name = key.attribute("attr.name").or(key.attribute("id"))?;
    if !is_of_edges || meaning(name.as_bytes()) != Some(column) {
        return None;
    }
    let default =
        key.children().find(|child| child.tag_name().name() == "default").and_then(|child| child.text());
    Some(Key { id: key.attribute("id")?, name, default })
}

fn data(edge: Node<'_, '_>, key: &Key<'_>) -> Option<String> {
    let own = edge
        .children()
        .find(|child| child.tag_name().name() == "data" && child.attribute("key") == Some(key.id));
    own.map(|data| data.text().unwrap_or_default()).or(key.default).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use crate::tests::{Flows, Sample, lines};
    use std::fmt::Write;

    pub(super) const SAMPLE: Sample = Sample {
        text: "<?xml version=\"1.0\"?>\n<graphml>\n<key id=\"w\" for=\"edge\" attr.name=\"weight\"/>\n<graph>\n<node id=\"a\"/>\n\
             <node id=\"b\"/>\n<edge source=\"a\" target=\"b\"><data key=\"w\">7</data></edge>\n</graph>\n</graphml>\n",
        write: Some(write),
        has_messages: true,
        ..Sample::NONE
    };

    fn write(n: u32, flows: &Flows) -> Vec<Vec<u8>> {
        let mut text = String::new();
        text += "<?xml version=\"1.0\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n";
        text += "<key id=\"d0\" for=\"edge\" attr.name=\"bytes\"/><key id=\"d1\" for=\"edge\" attr.name=\"count\"/>\n<graph>\n";
        (0..n).for_each(|node| writeln!(text, "<node id=\"n{node}\"/>").unwrap());
        for (from, to, bytes, messages) in lines(flows) {
            write!(text, "<edge source=\"n{from}\" target=\"n{to}\"><data key=\"d0\">{bytes}</data>")
                .unwrap();
            writeln!(text, "<data key=\"d1\">{messages}</data></edge>").unwrap();
        }
        text += "</graph>\n</graphml>\n";
        vec![text.into()]
    }
}
