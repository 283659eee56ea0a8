//! PEs of a machine as blocks: their distances and parts.

use std::ops::Range;

use hashbrown::HashMap;

use crate::base::types::{BlockId, Distance, PeId};
use crate::machine::{DistanceOracle, Distances, Parts, with_oracle};
use crate::partition::{BlockDistances, BlockTree};

/// Upper limit on the parts of a machine that is not a tree that are divided at once. Balances the sum of all
/// cuts against time: such parts are repeatedly halved, and distances within them hardly differ.
const MOST_CHILDREN: usize = 16;

/// The block of each PE; block i is the i-th PE of `order`.
pub(super) fn block_of_each_pe(order: &[PeId]) -> Vec<BlockId> {
    let mut block_of = vec![0; order.len()];
    for (block, &pe) in order.iter().enumerate() {
        block_of[pe as usize] = block as BlockId;
    }
    block_of
}

/// The distances of the PEs in this order.
pub(in crate::solve) fn between<'a>(
    distances: &'a Distances,
    order: &[PeId],
) -> Box<dyn BlockDistances + 'a> {
    with_oracle!(distances, |oracle| {
        Box::new(Between { oracle, keys: order.iter().map(|&pe| oracle.key(pe)).collect() })
    })
}

struct Between<'a, O: DistanceOracle> {
    oracle: &'a O,
    keys: Vec<O::Key>,
}

impl<O: DistanceOracle> BlockDistances for Between<'_, O> {
    fn num_blocks(&self) -> usize {
        self.keys.len()
    }

    fn between(&self, a: BlockId, b: BlockId) -> Distance {
        self.oracle.between(self.keys[a as usize], self.keys[b as usize])
    }

    fn greatest(&self) -> Distance {
        self.oracle.max_distance()
    }

    fn has_triangle_inequality(&self) -> bool {
        self.oracle.has_triangle_inequality()
    }
}

/// The parts of a machine as steps of multisection: each level separately in a tree, several levels of halves
/// at once otherwise.
pub(super) fn block_tree(parts: &Parts, is_tree: bool) -> BlockTree {
    let part_of: HashMap<(usize, usize), usize> =
        (0..parts.num_parts()).map(|part| ((parts.range(part).start, parts.range(part).end), part)).collect();
    BlockTree::new(parts.order().len(), |range: Range<usize>| {
        let part = part_of[&(range.start, range.end)];
        let children = if is_tree { parts.children(part).collect() } else { descendants(parts, part) };
        children.into_iter().map(|child| parts.range(child).len()).collect()
    })
}

/// The parts below a part in the last generation of at most [`MOST_CHILDREN`] parts, or its children if there
/// are more.
fn descendants(parts: &Parts, part: usize) -> Vec<usize> {
    let mut children: Vec<usize> = parts.children(part).collect();
    loop {
        let divided = |&part: &usize| match parts.children(part) {
            none if none.is_empty() => part..part + 1,
            children => children,
        };
        let next: Vec<usize> = children.iter().flat_map(divided).collect();
        if next.len() == children.len() || next.len() > MOST_CHILDREN {
            return children;
        }
        children = next;
    }
}
