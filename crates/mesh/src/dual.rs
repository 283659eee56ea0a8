//! Graphs of meshes.
//!
//! *Problem.* The dual graph has a vertex for each element; two are neighbours if they share a face, or a given number of nodes. The nodal graph has a vertex
//! for each node; two are neighbours if an element has both.
//!
//! *Algorithm.* Elements that share `t` of the `s` corners of one of them share one of any `s - t + 1` of these. So only the elements at the corners with
//! the fewest elements are looked at, and the corners that both have are counted by merging two sorted lists. A node of very many elements, such as
//! the centre of a disc, costs nothing where two nodes must be shared. Of polyhedra, files list the faces themselves, or three common nodes are taken for one.
//!
//! *Cost.* O(the sum over elements of the elements at these corners), in practice linear; memory for two numbers of each edge.

use std::ops::ControlFlow;

use crate::mesh::{ElementKind, Mesh, Rows};
use viem::base::error::{ErrorKind, HasKind};
use viem::base::memory::{self, OutOfMemory};
use viem::base::types::{NodeId, Weight};
use viem::graph::{CsrGraph, GraphError};

/// Which elements are neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Neighbours {
    /// Those that share a face; in the plane, an edge.
    #[default]
    Faces,
    /// Those that have this many nodes in common, or all but one of the nodes of either.
    Common(usize),
}

/// The reason why a mesh has no graph.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation
pub enum DualError {
    #[error(transparent)]
    Graph(#[from] GraphError),
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
}

impl HasKind for DualError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Graph(_) => ErrorKind::BadData,
            Self::Memory(_) => ErrorKind::NoResources,
        }
    }
}

impl Mesh {
    /// The graph of its elements. They have the first weight of the file, or else what `weights` says of their kinds, or else 1.
    ///
    /// ```
    /// use viem_io::Source;
    /// use viem_mesh::{Neighbours, read};
    ///
    /// // Two triangles with a common edge, and two that have only node 4 in common with the second and with each other.
    /// let mesh = read(Source::new("mesh", "4\n1 2 3\n2 3 4\n4 5 6\n4 7 8\n".as_bytes())?)?;
    /// assert_eq!(mesh.dual(Neighbours::Faces, &[])?.num_edges(), 1);
    /// assert_eq!(mesh.dual(Neighbours::Common(1), &[])?.num_edges(), 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn dual(
        &self,
        neighbours: Neighbours,
        weights: &[(ElementKind, Weight)],
    ) -> Result<CsrGraph, DualError> {
        let by_kind = |kind: &ElementKind| {
            let given = weights.iter().find(|(other, _)| other == kind);
            given.map_or(1, |&(_, weight)| weight)
        };
        let node_weights = match &self.weights {
            Some(of_file) if weights.is_empty() => of_file.clone(),
            _ => self.kinds.iter().map(by_kind).collect(),
        };
        let pairs = match (neighbours, &self.faces) {
            (Neighbours::Faces, Some(faces)) => faces.clone(),
            (Neighbours::Faces, None) => self.pairs(|element, size| self.kinds[element].face(size))?,
            (Neighbours::Common(common), _) => self.pairs(|_, size| common.min(size.saturating_sub(1)))?,
        };
        graph(pairs, node_weights)
    }

    /// The graph of its nodes, all of weight 1.
    pub fn nodal(&self) -> Result<CsrGraph, DualError> {
        let elements_of = self.elements.transposed(self.num_nodes)?;
        let mut pairs = Vec::new();
        let mut near = Vec::new();
        for node in 0..self.num_nodes {
            let elements = elements_of.row(node).iter();
            let others = elements.flat_map(|&element| self.elements.row(element as usize));
            near.extend(others.copied().filter(|&other| other as usize > node));
            near.sort_unstable();
            near.dedup();
            for other in near.drain(..) {
                put(&mut pairs, (node as u32, other))?;
            }
        }
        graph(pairs, vec![1; self.num_nodes])
    }

    /// Returns whether two elements of four nodes have three in common, as tetrahedra have and quadrilaterals have not.
    pub(crate) fn has_tetrahedra(&self) -> Result<bool, DualError> {
        let has_four = |element: usize| self.elements.row(element).len() == 4;
        let needs = |element: usize, _| if has_four(element) { 3 } else { usize::MAX };
        let mut is_found = false;
        self.visit_pairs(needs, |element, other| {
            is_found = has_four(element as usize) && has_four(other as usize);
            Ok(if is_found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok(is_found)
    }

    /// The pairs that [`Self::visit_pairs`] visits.
    fn pairs(&self, needs: impl Fn(usize, usize) -> usize) -> Result<Vec<(u32, u32)>, DualError> {
        let mut pairs = Vec::new();
        self.visit_pairs(needs, |element, other| {
            put(&mut pairs, (element, other))?;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(pairs)
    }

    /// Visits the pairs of elements that share as many corners as one of them needs, in ascending order. `needs` is told an element and the number of
    /// its corners.
    fn visit_pairs(
        &self,
        needs: impl Fn(usize, usize) -> usize,
        mut visit: impl FnMut(u32, u32) -> Result<ControlFlow<()>, DualError>,
    ) -> Result<(), DualError> {
        let corners = self.sorted_corners()?;
        let elements_of = corners.transposed(self.num_nodes)?;
        let needs = |element: usize| needs(element, corners.row(element).len()).max(1);
        let least = (0..self.num_elements()).map(needs).min().unwrap_or(1);
        let mut met = memory::filled(self.num_elements(), u32::MAX)?;
        let (mut few, mut near) = (Vec::new(), Vec::new());
        for element in 0..self.num_elements() {
            let row = corners.row(element);
            few.clear();
            few.extend_from_slice(row);
            few.sort_by_key(|&node| elements_of.row(node as usize).len());
            few.truncate((row.len() + 1).saturating_sub(least));
            for &other in few.iter().flat_map(|&node| elements_of.row(node as usize)) {
                let index = other as usize;
                if index > element && std::mem::replace(&mut met[index], element as u32) != element as u32 {
                    near.push(other);
                }
            }
            near.sort_unstable();
            for other in near.drain(..) {
                let shared = num_common(row, corners.row(other as usize));
                if shared >= needs(element).min(needs(other as usize))
                    && visit(element as u32, other)?.is_break()
                {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The corners of each element in ascending order, each once.
    fn sorted_corners(&self) -> Result<Rows, OutOfMemory> {
        let mut sorted = Rows { offsets: memory::with_room(self.num_elements() + 1)?, entries: Vec::new() };
        sorted.offsets.push(0);
        memory::reserve(&mut sorted.entries, self.elements.entries.len())?;
        let mut row = Vec::new();
        for element in 0..self.num_elements() {
            row.clear();
            row.extend_from_slice(self.corners(element));
            row.sort_unstable();
            row.dedup();
            sorted.entries.extend_from_slice(&row);
            sorted.offsets.push(sorted.entries.len());
        }
        Ok(sorted)
    }
}

/// The number of entries of both ascending lists.
fn num_common(one: &[u32], other: &[u32]) -> usize {
    let (mut i, mut j, mut count) = (0, 0, 0);
    while let (Some(a), Some(b)) = (one.get(i), other.get(j)) {
        count += usize::from(a == b);
        i += usize::from(a <= b);
        j += usize::from(b <= a);
    }
    count
}

/// Adds an edge, unless there are more than a graph may have.
fn put(pairs: &mut Vec<(u32, u32)>, pair: (u32, u32)) -> Result<(), DualError> {
    check_arcs(2 * pairs.len() + 2)?;
    if pairs.len() == pairs.capacity() {
        memory::reserve(pairs, 1)?;
    }
    pairs.push(pair);
    Ok(())
}

fn check_arcs(count: usize) -> Result<(), GraphError> {
    if count >= u32::MAX as usize { Err(GraphError::TooManyArcs { count }) } else { Ok(()) }
}

/// The graph of edges of weight 1, which may come several times.
fn graph(mut pairs: Vec<(NodeId, NodeId)>, node_weights: Vec<Weight>) -> Result<CsrGraph, DualError> {
    if !pairs.is_sorted_by(|a, b| a < b) {
        pairs.sort_unstable();
        pairs.dedup();
    }
    let arcs = 2 * pairs.len();
    check_arcs(arcs)?;
    let mut offsets = memory::filled(node_weights.len() + 1, 0usize)?;
    for &(u, v) in &pairs {
        offsets[u as usize + 1] += 1;
        offsets[v as usize + 1] += 1;
    }
    for node in 0..node_weights.len() {
        offsets[node + 1] += offsets[node];
    }
    let mut next = offsets.clone();
    let mut targets = memory::filled(arcs, 0)?;
    let mut put = |u: NodeId, v: NodeId| {
        targets[next[u as usize]] = v;
        next[u as usize] += 1;
    };
    // The first pass gives each row its lesser neighbours in ascending order, the second the greater ones.
    pairs.iter().for_each(|&(u, v)| put(v, u));
    pairs.iter().for_each(|&(u, v)| put(u, v));
    Ok(CsrGraph::from_symmetric_unweighted(offsets, targets, node_weights)?)
}
