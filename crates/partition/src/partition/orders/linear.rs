//! The vertices in the order of their numbers, which often is that of a mesh generator.

use crate::base::types::NodeId;
use crate::partition::orders::input::{Method, PartitionAlgorithmError, PartitionInput};

pub(super) fn method() -> Method {
    Method { order, parts: None, is_recursive: false, needs_coordinates: false }
}

fn order(input: &PartitionInput<'_>) -> Result<Vec<NodeId>, PartitionAlgorithmError> {
    Ok(input.graph.nodes().collect())
}
