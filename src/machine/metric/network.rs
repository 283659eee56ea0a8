//! Networks of routers and PEs: the distance of two PEs is that of the cheapest path.
//!
//! # Distances
//!
//! Most PEs hang on one router by one link. What is stored is the distance of every pair of attachments (routers that
//! PEs hang on, and PEs that are part of the network themselves), and for each PE the cost of its link: for R
//! attachments R² entries instead of n². They are found when the network is made ([`paths`]).

use super::table::{AnyTable, Entry, Table};
use crate::base::types::{Distance, NodeId, PeId, Weight};
use crate::graph::CsrGraph;
use crate::machine::metric::paths;
use crate::machine::{MachineError, Metric, Placed};

/// Most attachments: the distances between that many take 256 MiB while the table is built, and the searches from all of them a few
/// seconds.
const MOST_ATTACHMENTS: usize = 1 << 12;

/// A network. Vertices of weight 0 are routers, the others are PEs, whose weight is the number of processes they have room for.
/// The weight of an edge is the cost of the link. PEs are numbered in the order of the vertices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    graph: CsrGraph,
    /// The vertex of each PE.
    pub(in crate::machine) vertices: Vec<NodeId>,
    /// Distances between the attachments, in the order of their numbers.
    pub(in crate::machine) table: AnyTable,
    /// The cycles that a flit takes over each arc, if they are not its cost.
    cycles: Option<Vec<Weight>>,
}

/// The position at which a PE is attached to the network.
#[derive(Clone, Copy)]
struct Attachment {
    vertex: NodeId,
    /// Cost of the link to it; 0 if the PE is that vertex.
    link: Distance,
}

impl Network {
    /// A network with at least one PE, in which all PEs are connected.
    ///
    /// Finds the cheapest paths between all R attachments: O(R m log m) for m links, in parallel on the current rayon pool. Fails
    /// if R is more than 4096.
    pub fn new(graph: CsrGraph) -> Result<Self, MachineError> {
        if graph.num_nodes() == 0 {
            return Err(MachineError::NoPes);
        }
        let vertices: Vec<NodeId> = graph.nodes().filter(|&node| graph.node_weight(node) > 0).collect();
        if vertices.is_empty() {
            return Err(MachineError::RoutersOnly { routers: graph.num_nodes() });
        }
        let none = AnyTable::new(0, &[]);
        let network = Self { graph, vertices, table: none, cycles: None };
        network.check_capacities()?;
        network.check_connected()?;
        let attachments = network.attachments();
        let count = attachments.len();
        if count > MOST_ATTACHMENTS {
            return Err(MachineError::TooManyAttachments { count, most: MOST_ATTACHMENTS });
        }
        let table = AnyTable::new(count, &paths::cheapest(&network.graph, &attachments));
        Ok(Self { table, ..network })
    }

    /// The same with the times of its links: the weight of each edge of `times`, which has the same edges, is the number of cycles
    /// that a flit takes over the link. Without them it is the link's cost. Distances and routes stay those of the costs, so a link
    /// may be avoided and fast. O(m); fails if there are other edges.
    ///
    /// ```
    /// use viem::graph::GraphBuilder;
    /// use viem::machine::Network;
    ///
    /// // Two PEs at one router, by links of cost 5 over which a flit takes 2 cycles.
    /// let links = |weight| {
    ///     let mut builder = GraphBuilder::new(3);
    ///     (0..3).for_each(|vertex| builder.set_node_weight(vertex, i64::from(vertex < 2)));
    ///     (0..2).for_each(|pe| builder.add_edge(pe, 2, weight));
    ///     builder.build()
    /// };
    /// let network = Network::new(links(5)?)?.with_link_cycles(&links(2)?)?;
    /// assert_eq!(network.link_cycles(0), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_link_cycles(self, times: &CsrGraph) -> Result<Self, MachineError> {
        let (own, found) = (self.graph.num_nodes(), times.num_nodes());
        if own != found {
            return Err(MachineError::VerticesDiffer { own, found });
        }
        let mut cycles = Vec::with_capacity(self.graph.num_arcs());
        for node in self.graph.nodes() {
            let mut row: Vec<(NodeId, Weight)> = times.arcs(node).collect();
            row.sort_unstable();
            let find = |&end: &NodeId| row.binary_search_by_key(&end, |&(other, _)| other).ok();
            let found = self.graph.neighbours(node).iter().map_while(find).map(|at| row[at].1);
            cycles.extend(found);
            if row.len() != self.graph.degree(node) || cycles.len() != self.graph.offsets()[node as usize + 1]
            {
                return Err(MachineError::LinksDiffer { vertex: node });
            }
        }
        Ok(Self { cycles: Some(cycles), ..self })
    }

    /// The cycles that a flit takes over a link, given by an arc of the graph.
    pub fn link_cycles(&self, arc: usize) -> Weight {
        self.cycles.as_ref().map_or_else(|| self.graph.arc_weight(arc), |cycles| cycles[arc])
    }

    /// The vertex of the graph that a PE is, from 0.
    pub fn vertex(&self, pe: PeId) -> NodeId {
        self.vertices[pe as usize]
    }

    /// The network: routers and PEs, edge weights are the costs of links.
    pub fn graph(&self) -> &CsrGraph {
        &self.graph
    }

    /// The vertex at which a PE is attached to the rest: the other end of its link if it has only one, else the PE itself.
    pub fn attached_to(&self, pe: PeId) -> NodeId {
        self.attachment(pe).vertex
    }

    fn check_capacities(&self) -> Result<(), MachineError> {
        let room = self.graph.total_node_weight();
        if room >= i64::from(PeId::MAX) {
            return Err(MachineError::TooMuchRoom { room: room as u64 });
        }
        Ok(())
    }

    fn check_connected(&self) -> Result<(), MachineError> {
        let mut is_reached = vec![false; self.graph.num_nodes()];
        let first = self.vertices[0];
        is_reached[first as usize] = true;
        let mut waiting = vec![first];
        while let Some(node) = waiting.pop() {
            for &next in self.graph.neighbours(node) {
                if !std::mem::replace(&mut is_reached[next as usize], true) {
                    waiting.push(next);
                }
            }
        }
        match self.vertices.iter().position(|&vertex| !is_reached[vertex as usize]) {
            Some(pe) => Err(MachineError::Disconnected { first, pe, vertex: self.vertices[pe] }),
            None => Ok(()),
        }
    }

    /// A PE with one link is attached to the other end, unless that has no other link either; all others are attached to
    /// themselves.
    fn attachment(&self, pe: PeId) -> Attachment {
        let own = self.vertex(pe);
        let mut arcs = self.graph.arcs(own);
        match (arcs.next(), arcs.next()) {
            (Some((vertex, link)), None) if self.graph.degree(vertex) > 1 => Attachment { vertex, link },
            _ => Attachment { vertex: own, link: 0 },
        }
    }

    /// The vertices that PEs are attached to, ascending.
    fn attachments(&self) -> Vec<NodeId> {
        let mut attachments: Vec<NodeId> =
            (0..self.vertices.len() as PeId).map(|pe| self.attachment(pe).vertex).collect();
        attachments.sort_unstable();
        attachments.dedup();
        attachments
    }

    /// The distances between all PEs, whose attachments are the places of the table.
    pub(in crate::machine) fn placed<E: Entry>(&self, table: Table<E>) -> Placed<Routes<E>> {
        let attachments = self.attachments();
        let key = |pe: PeId| {
            let Attachment { vertex, link } = self.attachment(pe);
            RouteKey { pe, at: attachments.partition_point(|&other| other < vertex) as u32, link }
        };
        let keys: Vec<RouteKey> = (0..self.vertices.len() as PeId).map(key).collect();
        let longest = keys.iter().map(|key| key.link).max().unwrap_or(0);
        let max_distance = table.greatest().saturating_add(longest.saturating_mul(2));
        Placed::new(Routes { table, max_distance }, keys)
    }
}

/// The position of a PE in a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteKey {
    pe: PeId,
    /// Its attachment.
    at: u32,
    /// Cost of the link to that.
    link: Distance,
}

/// Distances between attachments, and the links to them.
#[derive(Clone, Debug)]
pub struct Routes<E> {
    table: Table<E>,
    max_distance: Distance,
}

impl<E: Entry> Metric for Routes<E> {
    type Key = RouteKey;

    #[inline]
    fn between(&self, a: RouteKey, b: RouteKey) -> Distance {
        if a.pe == b.pe { 0 } else { a.link + self.table.distance(a.at, b.at) + b.link }
    }

    fn max_distance(&self) -> Distance {
        self.max_distance
    }

    #[inline]
    fn interchangeable(&self, a: RouteKey, b: RouteKey) -> bool {
        a.at == b.at && a.link == b.link
    }

    fn has_triangle_inequality(&self) -> bool {
        true
    }
}
