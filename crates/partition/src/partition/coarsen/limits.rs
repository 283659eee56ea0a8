//! What a contraction must keep to.

use crate::base::types::{BlockId, NodeId, Weight};

/// What may be contracted together.
pub(crate) struct Limits<'a> {
    /// The greatest weight of a coarse vertex.
    pub max_weight: Weight,
    /// The number of vertices to which the next level need not shrink further.
    pub enough: usize,
    /// Only vertices of the same class may be contracted together.
    pub classes: Option<&'a [BlockId]>,
}

impl Limits<'_> {
    #[inline]
    pub fn compatible(&self, u: NodeId, v: NodeId) -> bool {
        self.classes.is_none_or(|classes| classes[u as usize] == classes[v as usize])
    }
}
