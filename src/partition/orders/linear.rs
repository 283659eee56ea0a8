//! The vertices in the order of their numbers, which often is that of a mesh generator.

use crate::ground::types::NodeId;
use crate::partition::orders::{AlgorithmError, Input, Method};

pub(super) fn method() -> Method {
    Method { order, parts: None, is_recursive: false, needs_coordinates: false }
}

fn order(input: &Input<'_>) -> Result<Vec<NodeId>, AlgorithmError> {
    Ok(input.graph.nodes().collect())
}
