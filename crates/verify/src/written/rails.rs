//! Rail-optimised fabrics: `rails:8:4:16`.

use super::shape::{Lane, Result, Route, Written, numbers, product};
use super::tree::{tree_distance, tree_hops};
use crate::error::AuditError;

/// Levels innermost first, and the distance of the same place in different groups of the second one.
struct Rails {
    arities: Vec<u64>,
    distances: Vec<u64>,
    same_rail: u64,
}

pub(super) fn read(text: &str, mut distances: Vec<u64>) -> Result<Box<dyn Written>> {
    let arities = numbers(text, ':')?;
    if arities.len() < 2 || distances.len() != arities.len() + 1 {
        return Err(AuditError::Levels { levels: arities.len() + 1, distances: distances.len() });
    }
    let same_rail = distances.remove(1);
    Ok(Box::new(Rails { arities, distances, same_rail }))
}

impl Written for Rails {
    fn num_pes(&self) -> u64 {
        product(&self.arities)
    }

    fn distance(&self, p: u64, q: u64) -> u64 {
        let (of_node, of_pod) = (self.arities[0], self.arities[0].saturating_mul(self.arities[1]));
        let is_rail = p % of_node == q % of_node && p != q && p / of_pod == q / of_pod;
        if is_rail { self.same_rail } else { tree_distance(p, q, &self.arities, &self.distances) }
    }

    fn route(&self, p: u64, q: u64) -> Route {
        let hops = rail_hops((p, q), &self.arities, &self.distances, self.same_rail);
        Route { hops, is_worm: false }
    }
}

/// Inside a node as in a tree; else in the tree of GPUs in rails, rails in pods, and so on.
fn rail_hops((p, q): (u64, u64), arities: &[u64], distances: &[u64], same_rail: u64) -> Vec<(Lane, u64)> {
    let (gpus, nodes) = (arities[0], arities[1]);
    if p / gpus == q / gpus {
        return tree_hops(p / gpus, p % gpus, q % gpus, &arities[..1], &distances[..1]);
    }
    let place = |pe: u64| {
        let (rail, node, pod) = (pe % gpus, pe / gpus % nodes, pe / (gpus * nodes));
        node + nodes * rail + nodes * gpus * pod
    };
    let of_fabric = [&[nodes, gpus], &arities[2..]].concat();
    tree_hops(u64::MAX, place(p), place(q), &of_fabric, &[&[same_rail], &distances[1..]].concat())
}
