//! The dual graph of a distributed mesh.
//!
//! *Problem.* Each rank has some elements, each a list of nodes with numbers of their own. Elements are neighbours if they have a given number of nodes in
//! common.
//!
//! *Algorithm.* The nodes are dealt to the ranks. Each element tells the ranks of its nodes that it has them, and these answer every rank that has elements
//! at a node with all elements there. So each rank counts for each of its elements how often it has met any other one.
//!
//! *Cost.* O(the sum over nodes of the square of their elements), divided among the ranks; messages of that size at most, and memory for them.

use viem::base::error::{ErrorKind, HasKind};
use viem::base::types::NodeId;

use crate::comm::{Comm, Outbox, Ranges};
use crate::error::{DistError, agree};
use crate::graph::{Rows, ranges_of};

/// The elements of a rank, which follow those of the rank before it.
#[derive(Clone, Debug, Default)]
pub struct Elements {
    /// The start of the nodes of each element (`eptr`), and the end of the last.
    pub offsets: Vec<usize>,
    /// Numbers of the nodes, in any order (`eind`). Those that occur twice in an element count once.
    pub nodes: Vec<u64>,
}

/// The reason why elements are no mesh.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum ElementsError {
    #[error("the nodes of element {element} do not follow those of the element before it")]
    Order { element: NodeId },
    #[error("the nodes end at {last}, but {found} are given")]
    Length { last: usize, found: usize },
    #[error("elements have at least 1 node in common with a neighbour, not 0")]
    NoCommonNodes,
}

impl HasKind for ElementsError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Order { .. } | Self::Length { .. } => ErrorKind::BadData,
            Self::NoCommonNodes => ErrorKind::Usage,
        }
    }
}

impl Elements {
    fn check(&self, first: NodeId, common: usize) -> Result<(), ElementsError> {
        if common == 0 {
            return Err(ElementsError::NoCommonNodes);
        }
        let falls = self.offsets.windows(2).position(|pair| pair[0] > pair[1]);
        if let Some(local) = falls.or((self.offsets.first() != Some(&0)).then_some(0)) {
            return Err(ElementsError::Order { element: first + local as NodeId });
        }
        let (last, found) = (self.offsets[self.offsets.len() - 1], self.nodes.len());
        if last == found { Ok(()) } else { Err(ElementsError::Length { last, found }) }
    }

    /// The nodes of each element in ascending order, each once.
    fn sorted(&self) -> Vec<Vec<u64>> {
        let row = |pair: &[usize]| {
            let mut row = self.nodes[pair[0]..pair[1]].to_vec();
            row.sort_unstable();
            row.dedup();
            row
        };
        self.offsets.windows(2).map(row).collect()
    }
}

/// The rows of the graph whose vertices are the elements; two are neighbours if they have at least `common` nodes in common.
///
/// ```
/// use viem_distributed::comm::Comm;
/// use viem_distributed::mesh::{Elements, dual};
/// use viem_distributed::threads;
///
/// // A strip of triangles, two on each rank.
/// let triangles = [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5]];
/// let rows = threads::run(2, |comm| {
///     let own = &triangles[2 * comm.rank()..][..2];
///     let elements = Elements { offsets: vec![0, 3, 6], nodes: own.concat() };
///     Ok::<_, viem_distributed::error::DistError>(dual(comm, &elements, 2)?.targets)
/// });
/// assert_eq!(rows, [Ok(vec![1, 0, 2]), Ok(vec![1, 3, 2])]);
/// ```
pub fn dual(comm: &impl Comm, elements: &Elements, common: usize) -> Result<Rows, DistError> {
    let ranges = ranges_of(comm, elements.offsets.len().saturating_sub(1))?;
    let own = ranges.own();
    agree(comm, elements.check(own.start, common))?;
    let nodes_of = elements.sorted();
    let at_nodes = AtNodes::learn(comm, &ranges, &nodes_of);
    let mut rows = Rows { offsets: vec![0], ..Rows::default() };
    let mut met = Vec::new();
    for (element, nodes) in own.zip(&nodes_of) {
        met.clear();
        met.extend(nodes.iter().flat_map(|&node| at_nodes.elements(node)).filter(|&other| other != element));
        met.sort_unstable();
        let near = met.chunk_by(|a, b| a == b).filter(|same| same.len() >= common);
        rows.targets.extend(near.map(|same| same[0]));
        rows.offsets.push(rows.targets.len());
    }
    Ok(rows)
}

/// The elements at each node that an element of this rank has.
struct AtNodes {
    /// Ascending.
    nodes: Vec<u64>,
    offsets: Vec<usize>,
    elements: Vec<NodeId>,
}

impl AtNodes {
    /// Collective; `ranges` are the elements of all ranks.
    fn learn(comm: &impl Comm, ranges: &Ranges, nodes_of: &[Vec<u64>]) -> Self {
        let mut outbox = Outbox::default();
        for (element, nodes) in ranges.own().zip(nodes_of) {
            for &node in nodes {
                outbox.push((node % comm.size() as u64) as usize, [node, u64::from(element)]);
            }
        }
        let told = outbox.send(comm);
        let mut pairs: Vec<(u64, NodeId)> =
            told.records().map(|&[node, element]| (node, element as NodeId)).collect();
        drop(told);
        pairs.sort_unstable();
        Self::of_sorted(&Self::answers(comm, ranges, &pairs))
    }

    /// The elements of all nodes of this rank's elements, given those of the nodes that are dealt to each rank.
    fn answers(comm: &impl Comm, ranges: &Ranges, pairs: &[(u64, NodeId)]) -> Vec<(u64, NodeId)> {
        let mut outbox = Outbox::default();
        for group in pairs.chunk_by(|a, b| a.0 == b.0) {
            // Elements ascend, so do their ranks.
            for of_rank in group.chunk_by(|a, b| ranges.owner(a.1) == ranges.owner(b.1)) {
                let rank = ranges.owner(of_rank[0].1);
                group.iter().for_each(|&(node, element)| outbox.push(rank, [node, u64::from(element)]));
            }
        }
        let answers = outbox.send(comm);
        let mut pairs: Vec<(u64, NodeId)> =
            answers.records().map(|&[node, element]| (node, element as NodeId)).collect();
        pairs.sort_unstable();
        pairs
    }

    fn of_sorted(pairs: &[(u64, NodeId)]) -> Self {
        let mut at = Self { nodes: Vec::new(), offsets: vec![0], elements: Vec::with_capacity(pairs.len()) };
        for group in pairs.chunk_by(|a, b| a.0 == b.0) {
            at.nodes.push(group[0].0);
            at.elements.extend(group.iter().map(|&(_, element)| element));
            at.offsets.push(at.elements.len());
        }
        at
    }

    fn elements(&self, node: u64) -> impl Iterator<Item = NodeId> + '_ {
        let place = self.nodes.partition_point(|&other| other < node);
        self.elements[self.offsets[place]..self.offsets[place + 1]].iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use viem::base::rng::Rng;

    use super::*;
    use crate::threads;

    #[test]
    fn neighbours_are_those_by_definition_on_any_number_of_ranks() {
        let mut rng = Rng::new(5);
        for round in 0..80 {
            let (n, nodes) = (rng.below(14), 3 + rng.below(12));
            let meshes: Vec<Vec<u64>> =
                (0..n).map(|_| (0..rng.below(5)).map(|_| rng.below(nodes).into()).collect()).collect();
            let common = 1 + round % 3;
            let shared = |a: &Vec<u64>, b: &Vec<u64>| {
                let mut nodes: Vec<u64> = a.iter().copied().filter(|node| b.contains(node)).collect();
                nodes.sort_unstable();
                nodes.dedup();
                nodes.len()
            };
            let near = |a: usize| {
                let is_near = |&b: &usize| b != a && shared(&meshes[a], &meshes[b]) >= common;
                (0..meshes.len()).filter(is_near).map(|b| b as NodeId).collect()
            };
            let expected: Vec<Vec<NodeId>> = (0..meshes.len()).map(near).collect();
            for size in [1, 2, 3, 7] {
                let rows = threads::run(size, |comm| {
                    let own = Ranges::equal(n, comm).own();
                    let own = &meshes[own.start as usize..own.end as usize];
                    let ends = own.iter().scan(0, |end, element| {
                        *end += element.len();
                        Some(*end)
                    });
                    let offsets = std::iter::once(0).chain(ends).collect();
                    dual(comm, &Elements { offsets, nodes: own.concat() }, common).expect("a mesh")
                });
                let lists = rows.iter().flat_map(|rows| {
                    rows.offsets.windows(2).map(|pair| rows.targets[pair[0]..pair[1]].to_vec())
                });
                assert_eq!(lists.collect::<Vec<_>>(), expected, "round {round}, {size} ranks");
            }
        }
    }

    #[test]
    fn a_fault_of_one_rank_is_that_of_all() {
        for (offsets, common, message) in [
            (vec![0, 2, 1], 1, "the nodes of element 5 do not follow"),
            (vec![0, 1, 3], 1, "the nodes end at 3, but 2 are given"),
            (vec![0, 1, 2], 0, "at least 1 node"),
        ] {
            let results = threads::run(3, |comm| {
                let offsets = if comm.rank() == 2 { offsets.clone() } else { vec![0, 1, 2] };
                dual(comm, &Elements { offsets, nodes: vec![4, 7] }, common).map(|_| ())
            });
            let are_same = results.iter().all(|result| *result == results[0]);
            assert!(
                are_same && results[0].as_ref().is_err_and(|error| error.message.contains(message)),
                "{results:?}"
            );
        }
    }
}
