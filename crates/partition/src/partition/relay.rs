//! Vertices that are passed on from block to block so that an empty one gets one.
//!
//! Where bounds differ, an empty block may be too small for all vertices but those that are alone in their blocks. One of these moves to it, and
//! its block, which may be larger, takes another one. If no such way ends at a block with several vertices, no partition within the bounds has fewer
//! empty blocks: all vertices that fit the blocks on the ways are alone in them already.

use crate::base::types::{BlockId, NodeId, Weight};

/// A free vertex that is alone in its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Single {
    /// Its block.
    pub block: BlockId,
    /// What it weighs.
    pub weight: Weight,
    /// Its number.
    pub vertex: NodeId,
}

/// Which of these vertices move so that `empty` gets one: the first to it, and each other one to the block of the one before. The last block
/// then has room for a vertex of weight `spare`. Nothing if there is no such way. O(k) for each step.
pub fn relay(most: &[Weight], singles: &[Single], spare: Weight, empty: BlockId) -> Option<Vec<Single>> {
    let most_of = |single: &Single| most[single.block as usize];
    let (mut path, mut bound) = (Vec::new(), most[empty as usize]);
    while spare > bound {
        let light = singles.iter().filter(|single| single.weight <= bound);
        let largest =
            light.rev().max_by_key(|single| most_of(single)).filter(|&single| most_of(single) > bound)?;
        bound = most_of(largest);
        path.push(*largest);
    }
    Some(path)
}

/// The moves along a way to the block `empty`: each vertex, and the block that it moves to. `last` is the vertex of a block with several.
pub fn along(path: &[Single], last: NodeId, empty: BlockId) -> impl Iterator<Item = (NodeId, BlockId)> + '_ {
    let vertices = path.iter().map(|single| single.vertex).chain([last]);
    vertices.zip(std::iter::once(empty).chain(path.iter().map(|single| single.block)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertices_are_passed_on_from_smaller_blocks_to_larger_ones() {
        let single = |block, weight| Single { block, weight, vertex: 10 + block };
        let most = [1, 3, 8, 2];
        let singles = [single(1, 1), single(2, 3), single(3, 1)];
        // Block 0 takes that of block 1, block 1 that of block 2, and this has room for a vertex of weight 8.
        let path = relay(&most, &singles, 8, 0).unwrap();
        assert_eq!(path, [single(1, 1), single(2, 3)]);
        assert_eq!(along(&path, 7, 0).collect::<Vec<_>>(), [(11, 0), (12, 1), (7, 2)]);
        assert_eq!(relay(&most, &singles, 1, 0), Some(vec![]));
        assert_eq!(relay(&most, &singles, 9, 0), None);
    }
}
