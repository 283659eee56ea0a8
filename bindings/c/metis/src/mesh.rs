//! Meshes: elements, each a list of nodes.

use viem::base::types::BlockId;
use viem_ffi::{arcs_from, check_memory};

use crate::{Fault, Idx};

/// A mesh, checked; element `e` has the nodes `nodes[offsets[e]..offsets[e + 1]]`.
pub(crate) struct Mesh {
    offsets: Vec<usize>,
    nodes: Vec<usize>,
    num_nodes: usize,
}

/// Lists of neighbours, from 0.
pub(crate) struct Adjacency {
    pub offsets: Vec<usize>,
    pub targets: Vec<Idx>,
}

impl Mesh {
    /// `eptr` and `eind` of METIS, which count from `base`. `eind` is asked for once its length is known.
    pub fn new<'a>(
        num_nodes: usize,
        base: i64,
        eptr: &[Idx],
        eind: impl FnOnce(usize) -> Result<&'a [Idx], Fault>,
    ) -> Result<Self, Fault> {
        let offsets = arcs_from(eptr, base).ok_or(Fault::Input)?;
        let count = offsets[offsets.len() - 1];
        check_memory(24 * count as u128 + 8 * num_nodes as u128)?;
        let node =
            |&node: &Idx| i64::from(node).checked_sub(base).and_then(|node| usize::try_from(node).ok());
        let node = |index: &Idx| node(index).filter(|&node| node < num_nodes);
        let nodes = eind(count)?.iter().map(node).collect::<Option<_>>().ok_or(Fault::Input)?;
        Ok(Self { offsets, nodes, num_nodes })
    }

    fn num_elements(&self) -> usize {
        self.offsets.len() - 1
    }

    fn nodes_of(&self, element: usize) -> &[usize] {
        &self.nodes[self.offsets[element]..self.offsets[element + 1]]
    }

    /// The same with elements and nodes exchanged: the elements of each node, ascending.
    fn transposed(&self) -> Self {
        let mut offsets = vec![0; self.num_nodes + 1];
        for &node in &self.nodes {
            offsets[node + 1] += 1;
        }
        for node in 0..self.num_nodes {
            offsets[node + 1] += offsets[node];
        }
        let mut next = offsets.clone();
        let mut elements = vec![0; self.nodes.len()];
        for element in 0..self.num_elements() {
            for &node in self.nodes_of(element) {
                elements[next[node]] = element;
                next[node] += 1;
            }
        }
        Self { offsets, nodes: elements, num_nodes: self.num_elements() }
    }

    /// The dual graph: elements are neighbours if they have `common` nodes in common, or all but one of the nodes of either.
    pub fn dual(&self, common: usize) -> Result<Adjacency, Fault> {
        let of_node = self.transposed();
        let size = |element: usize| self.nodes_of(element).len();
        self.neighbours(&of_node, self.num_elements(), |element, other, shared| {
            shared >= common || shared + 1 >= size(element) || shared + 1 >= size(other)
        })
    }

    /// The nodal graph: nodes are neighbours if an element has both.
    pub fn nodal(&self) -> Result<Adjacency, Fault> {
        let of_node = self.transposed();
        of_node.neighbours(self, self.num_nodes, |_, _, _| true)
    }

    /// Lists which of `count` rows share enough entries; `back` has the rows of each entry.
    fn neighbours(
        &self,
        back: &Self,
        count: usize,
        are_near: impl Fn(usize, usize, usize) -> bool,
    ) -> Result<Adjacency, Fault> {
        let mut found = Adjacency { offsets: vec![0], targets: Vec::new() };
        let mut shared = vec![0usize; count];
        let mut met: Vec<usize> = Vec::new();
        for row in 0..count {
            for &entry in self.nodes_of(row) {
                for &other in back.nodes_of(entry).iter().filter(|&&other| other != row) {
                    if shared[other] == 0 {
                        met.push(other);
                    }
                    shared[other] += 1;
                }
            }
            met.sort_unstable();
            for other in met.drain(..) {
                if are_near(row, other, std::mem::take(&mut shared[other])) {
                    found.targets.push(Idx::try_from(other).map_err(|_| Fault::Memory)?);
                }
            }
            found.offsets.push(found.targets.len());
        }
        Ok(found)
    }

    /// The part of each node, from those of the elements: that of most of its elements which has room, else the one with the most room.
    pub fn parts_of_nodes(&self, parts: &[BlockId], shares: &[f64]) -> Vec<BlockId> {
        self.transposed().induced(parts, shares)
    }

    /// The part of each element, from those of its nodes.
    pub fn parts_of_elements(&self, parts: &[BlockId], shares: &[f64]) -> Vec<BlockId> {
        self.induced(parts, shares)
    }

    fn induced(&self, parts: &[BlockId], shares: &[f64]) -> Vec<BlockId> {
        let count = self.num_elements();
        let sum: f64 = shares.iter().sum();
        let room: Vec<f64> = shares.iter().map(|share| (count as f64 * share / sum).ceil() + 1.0).collect();
        let mut loads = vec![0.0; shares.len()];
        let free = |loads: &[f64], part: usize| room[part] - loads[part];
        let mut part_of = vec![0; count];
        let mut undecided = Vec::new();
        // Rows of one part first, so the others even out the loads.
        for (row, own) in part_of.iter_mut().enumerate() {
            let mut of_row = self.nodes_of(row).iter().map(|&entry| parts[entry]);
            match of_row.next() {
                Some(first) if of_row.all(|part| part == first) => {
                    *own = first;
                    loads[first as usize] += 1.0;
                }
                _ => undecided.push(row),
            }
        }
        for row in undecided {
            let mut of_row: Vec<BlockId> = self.nodes_of(row).iter().map(|&entry| parts[entry]).collect();
            of_row.sort_unstable();
            let mut counted: Vec<(usize, BlockId)> =
                of_row.chunk_by(|a, b| a == b).map(|run| (run.len(), run[0])).collect();
            counted.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
            let has_room = |&&(_, part): &&(usize, BlockId)| free(&loads, part as usize) >= 1.0;
            let near = counted.iter().find(has_room).map(|&(_, part)| part);
            let most = (0..shares.len())
                .max_by(|&a, &b| free(&loads, a).total_cmp(&free(&loads, b)).then(b.cmp(&a)));
            let part = near.unwrap_or_else(|| most.unwrap_or(0) as BlockId);
            part_of[row] = part;
            loads[part as usize] += 1.0;
        }
        part_of
    }
}
