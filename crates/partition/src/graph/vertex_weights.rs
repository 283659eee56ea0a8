//! Several weights of each vertex, such as time and memory.
//!
//! They lie beside a [`CsrGraph`], whose own weights they replace: graphs whose vertices have one weight pay nothing for them. Memory: 8 c n bytes.

use super::csr::CsrGraph;
use crate::base::error::{ErrorKind, HasKind};
use crate::base::types::{BlockId, NodeId, Weight};

/// Two or more weights of each vertex, none of them negative. The sum of each weight over all vertices fits [`Weight`].
///
/// ```
/// use viem::graph::VertexWeights;
///
/// // Time and memory of three vertices.
/// let weights = VertexWeights::new(2, vec![5, 1, 3, 2, 4, 0])?;
/// assert_eq!((weights.of(1), weights.totals()), (&[3, 2][..], &[12, 3][..]));
/// # Ok::<(), viem::graph::VertexWeightsError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VertexWeights {
    num_weights: usize,
    /// Vertex by vertex.
    values: Vec<Weight>,
    totals: Vec<Weight>,
}

/// The reason why several weights of the vertices were refused. Vertices and weights are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // the messages are the documentation of the fields
#[non_exhaustive]
pub enum VertexWeightsError {
    #[error("each vertex has {found} weights; a single one belongs to the graph, so there are at least 2")]
    TooFew { found: usize },
    #[error("{found} numbers are not {num_weights} weights for each vertex")]
    Length { found: usize, num_weights: usize },
    #[error("weight {weight} of vertex {vertex} is {value}; weights must not be negative")]
    Negative { vertex: NodeId, weight: usize, value: Weight },
    #[error("the sum of weight {weight} over all vertices exceeds {}", Weight::MAX)]
    Overflow { weight: usize },
    #[error("there are weights of {found} vertices, but the graph has {expected}")]
    Vertices { found: usize, expected: usize },
}

impl HasKind for VertexWeightsError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::TooFew { .. }
            | Self::Length { .. }
            | Self::Negative { .. }
            | Self::Overflow { .. }
            | Self::Vertices { .. } => ErrorKind::BadData,
        }
    }
}

impl VertexWeights {
    /// The weights of the vertices, one vertex after the other; O(c n).
    ///
    /// # Errors
    ///
    /// There are fewer than two weights per vertex, one is negative, or a sum does not fit.
    pub fn new(num_weights: usize, values: Vec<Weight>) -> Result<Self, VertexWeightsError> {
        if num_weights < 2 {
            return Err(VertexWeightsError::TooFew { found: num_weights });
        }
        let found = values.len();
        if !found.is_multiple_of(num_weights) || found / num_weights > u32::MAX as usize {
            return Err(VertexWeightsError::Length { found, num_weights });
        }
        if let Some((at, &value)) = values.iter().enumerate().find(|(_, value)| **value < 0) {
            let (vertex, weight) = ((at / num_weights) as NodeId, at % num_weights);
            return Err(VertexWeightsError::Negative { vertex, weight, value });
        }
        let mut totals = vec![0 as Weight; num_weights];
        for row in values.chunks_exact(num_weights) {
            for (weight, (total, value)) in totals.iter_mut().zip(row).enumerate() {
                *total = total.checked_add(*value).ok_or(VertexWeightsError::Overflow { weight })?;
            }
        }
        Ok(Self { num_weights, values, totals })
    }

    /// The weights of the vertices of a graph, one for each: for limits that only several weights have. O(n).
    pub fn of_graph(graph: &CsrGraph) -> Self {
        let values = graph.node_weights().to_vec();
        Self { num_weights: 1, values, totals: vec![graph.total_node_weight()] }
    }

    /// Fails unless these are the weights of as many vertices.
    ///
    /// # Errors
    ///
    /// There are more or fewer.
    pub fn check(&self, num_vertices: usize) -> Result<(), VertexWeightsError> {
        let (found, expected) = (self.num_vertices(), num_vertices);
        if found == expected { Ok(()) } else { Err(VertexWeightsError::Vertices { found, expected }) }
    }

    /// Number of weights of each vertex, c.
    #[inline]
    pub fn num_weights(&self) -> usize {
        self.num_weights
    }

    /// Number of vertices.
    pub fn num_vertices(&self) -> usize {
        self.values.len() / self.num_weights
    }

    /// The weights of a vertex.
    #[inline]
    pub fn of(&self, node: NodeId) -> &[Weight] {
        let begin = node as usize * self.num_weights;
        &self.values[begin..begin + self.num_weights]
    }

    /// The weights of all vertices, one vertex after the other.
    pub fn values(&self) -> &[Weight] {
        &self.values
    }

    /// The sum of each weight over all vertices.
    pub fn totals(&self) -> &[Weight] {
        &self.totals
    }

    /// The vertices with one of their weights and without edges; O(n). What is said of one weight can be asked of them.
    ///
    /// # Panics
    ///
    /// There is no such weight.
    pub fn alone(&self, weight: usize) -> CsrGraph {
        assert!(weight < self.num_weights);
        let own = self.values.iter().skip(weight).step_by(self.num_weights).copied().collect();
        CsrGraph::from_symmetric(vec![0; self.num_vertices() + 1], Vec::new(), Vec::new(), own)
            .expect("the sum fits")
    }

    /// The loads of `num_blocks` blocks, all weights of one block after the other; O(c (n + k)).
    ///
    /// # Panics
    ///
    /// There are vertices of blocks from `num_blocks` on.
    pub fn loads(&self, blocks: &[BlockId], num_blocks: usize) -> Vec<Weight> {
        self.summed(blocks, num_blocks)
    }

    /// The weights after a contraction; O(c n).
    pub(crate) fn contracted(&self, coarse_of: &[NodeId], num_coarse: usize) -> Self {
        let values = self.summed(coarse_of, num_coarse);
        Self { num_weights: self.num_weights, values, totals: self.totals.clone() }
    }

    /// The weights of some of the vertices, in this order.
    pub(crate) fn of_vertices(&self, nodes: &[NodeId]) -> Self {
        let values: Vec<Weight> = nodes.iter().flat_map(|&node| self.of(node)).copied().collect();
        let mut totals = vec![0; self.num_weights];
        for row in values.chunks_exact(self.num_weights) {
            totals.iter_mut().zip(row).for_each(|(total, value)| *total += value);
        }
        Self { num_weights: self.num_weights, values, totals }
    }

    /// The greatest value of each weight.
    pub(crate) fn greatest(&self) -> Vec<Weight> {
        let mut greatest = vec![0; self.num_weights];
        for row in self.values.chunks_exact(self.num_weights) {
            greatest.iter_mut().zip(row).for_each(|(most, &value)| *most = value.max(*most));
        }
        greatest
    }

    fn summed(&self, group_of: &[u32], num_groups: usize) -> Vec<Weight> {
        let mut sums = vec![0; num_groups * self.num_weights];
        for (row, &group) in self.values.chunks_exact(self.num_weights).zip(group_of) {
            let begin = group as usize * self.num_weights;
            let own = &mut sums[begin..begin + self.num_weights];
            own.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;

    #[test]
    fn sums_of_groups_agree_with_the_definition() {
        let mut rng = Rng::new(5);
        for num_weights in 2..5 {
            let values = (0..60 * num_weights).map(|_| Weight::from(rng.below(9))).collect();
            let weights = VertexWeights::new(num_weights, values).unwrap();
            let groups: Vec<u32> = (0..60).map(|_| rng.below(7)).collect();
            let coarse = weights.contracted(&groups, 7);
            for (group, weight) in (0..7).flat_map(|group| (0..num_weights).map(move |w| (group, w))) {
                let members = (0..60).filter(|&node| groups[node as usize] == group);
                let sum: Weight = members.map(|node| weights.of(node)[weight]).sum();
                assert_eq!(coarse.of(group)[weight], sum);
                assert_eq!(weights.loads(&groups, 7)[group as usize * num_weights + weight], sum);
            }
            assert_eq!(coarse.totals(), weights.totals());
            let alone: Vec<CsrGraph> = (0..num_weights).map(|weight| weights.alone(weight)).collect();
            let totals: Vec<Weight> = alone.iter().map(CsrGraph::total_node_weight).collect();
            assert_eq!(totals, weights.totals());
        }
    }

    #[test]
    fn faults_are_named() {
        let max = Weight::MAX;
        for (num_weights, values, expected) in [
            (1, vec![1, 2], VertexWeightsError::TooFew { found: 1 }),
            (2, vec![1, 2, 3], VertexWeightsError::Length { found: 3, num_weights: 2 }),
            (2, vec![1, 2, 3, -4], VertexWeightsError::Negative { vertex: 1, weight: 1, value: -4 }),
            (2, vec![1, max, 3, 1], VertexWeightsError::Overflow { weight: 1 }),
        ] {
            assert_eq!(VertexWeights::new(num_weights, values), Err(expected));
        }
    }
}
