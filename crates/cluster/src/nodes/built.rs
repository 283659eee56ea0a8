//! The machine that the levels and the network of a cluster make up.
//!
//! If all nodes and switches are alike and in the order of the tree, the machine is a [`Hierarchy`], with all that is fast for it. Else it
//! is an [`UnevenTree`]; or [`NodeMatrix`], if nodes have a distance for each pair, or PEs a distance from the network of their node.

use super::error::ClusterError;
use super::levels::{self, Level, Members};
use super::network::{self, Network};
use viem::base::types::Distance;
use viem::machine::{
    DistanceMatrix, Hierarchy, Machine, MachineError, Metric as _, NodeMatrix, Parts, UnevenTree,
};

/// The simplest machine that has all distances.
pub(super) struct Outline {
    pub(super) distances: Vec<Distance>,
    /// The digits by PE, innermost first.
    digits: Vec<u32>,
    /// The distances by pair of nodes, if they have one each; the outermost digit is the node then.
    between: Vec<Distance>,
    /// The distance of each PE from the network of its node; none if all are as far.
    to_network: Vec<Distance>,
    /// The innermost level at which PEs of different nodes differ.
    level_of_nodes: usize,
}

impl Outline {
    /// Returns the text for an auditor.
    pub(super) fn text(&self) -> String {
        let Outline { distances, digits, between, to_network, level_of_nodes } = self;
        let row = |numbers: &[i64]| numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(" ");
        let mut text = format!("{}\n", row(distances));
        for pe in digits.chunks_exact(distances.len().max(1)) {
            text += &pe.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
            text.push('\n');
        }
        if distances.is_empty() {
            text += "\n";
        }
        let nodes = between.len().isqrt();
        for nodes in between.chunks_exact(nodes.max(1)) {
            text += &format!("between {}\n", row(nodes));
        }
        if !to_network.is_empty() {
            text += &format!("network {level_of_nodes} {}\n", row(to_network));
        }
        text
    }
}

/// The machine without names.
pub(super) struct Built {
    pub(super) tree: Box<dyn Machine>,
    /// The machine with the same links, where these are not those of `tree`.
    pub(super) links: Option<Box<dyn Machine>>,
    pub(super) outline: Outline,
    is_regular: bool,
}

/// Distances between nodes, row by row, and how the nodes fall into parts.
struct BetweenNodes {
    distances: Vec<Distance>,
    parts: Parts,
}

impl BetweenNodes {
    /// Makes a machine of nodes with factors for pairs.
    fn of_pairs(factors: &[f64], nearest: Distance, num_nodes: usize) -> Result<Self, MachineError> {
        let distances = network::scaled(factors, nearest).ok_or(MachineError::DistanceOverflow)?;
        let matrix = DistanceMatrix::new(num_nodes, distances.clone())?;
        let parts = Parts::of(&matrix, &matrix.distances()?);
        Ok(Self { distances, parts })
    }

    /// Makes a machine of nodes in a tree, given its distances and the digits of each node.
    fn of_tree(distances: &[Distance], digits: &[u32]) -> Result<Self, MachineError> {
        let tree = UnevenTree::new(distances, digits)?;
        let (metric, codes) = (tree.prefixes(), tree.codes());
        let row = |&a: &u64| codes.iter().map(move |&b| (a, b));
        let distances = codes.iter().flat_map(row).map(|(a, b)| metric.between(a, b)).collect();
        Ok(Self { distances, parts: tree.parts() })
    }
}

impl Built {
    /// `digits` are those of all PEs, `sizes` the numbers of PEs of the nodes that have any.
    pub(super) fn new(
        kept: &[Level],
        digits: Vec<u32>,
        network: &Network,
        sizes: &[usize],
        to_network: Vec<Distance>,
    ) -> Result<Self, ClusterError> {
        let distances: Vec<Distance> = kept.iter().map(|level| level.distance).collect();
        let is_regular = is_regular(kept, &digits, sizes.iter().sum());
        let level_of_nodes = kept.iter().filter(|level| matches!(level.members, Members::Inside(_))).count();
        let mut outline =
            Outline { distances: distances.clone(), digits, between: Vec::new(), to_network, level_of_nodes };
        let (digits, to_network) = (&outline.digits, &outline.to_network);
        if let Network::Pairs { factors, .. } = network
            && sizes.len() > 1
        {
            let nearest = distances.last().copied().unwrap_or(0);
            let between = BetweenNodes::of_pairs(factors, nearest, sizes.len())?;
            let of_pairs = between.distances.clone();
            let inside = UnevenTree::new(&distances, digits)?;
            let tree = Box::new(node_matrix(inside, between, sizes, to_network)?);
            outline.between = of_pairs;
            return Ok(Self { tree, links: None, outline, is_regular });
        }
        let tree: Box<dyn Machine> = if is_regular {
            let arities = kept.iter().map(|level| level.arity).collect();
            Box::new(Hierarchy::new(arities, distances.clone()).map_err(MachineError::from)?)
        } else {
            Box::new(UnevenTree::new(&distances, digits)?)
        };
        if to_network.is_empty() {
            return Ok(Self { tree, links: None, outline, is_regular });
        }
        let of_nodes = digits_of_nodes(digits, kept.len(), level_of_nodes, sizes);
        let between = BetweenNodes::of_tree(&distances[level_of_nodes..], &of_nodes)?;
        let farther = node_matrix(UnevenTree::new(&distances, digits)?, between, sizes, to_network)?;
        Ok(Self { tree: Box::new(farther), links: Some(tree), outline, is_regular })
    }

    /// Describes the machine in one line.
    pub(super) fn describe(
        &self,
        kept: &[Level],
        network: &Network,
        how: &str,
        num_nodes: usize,
        num_pes: usize,
    ) -> String {
        let shape = if self.is_regular { levels::chain(kept) } else { self.count(kept, num_pes) };
        if kept.is_empty() {
            return "1 processing element".to_owned();
        }
        if let (Network::Pairs { from, .. }, true) = (network, num_nodes > 1) {
            let (_, inside) = kept.split_last().expect("there are levels");
            let inside = match inside {
                [] => String::new(),
                inside => format!("{} inside a node ({how}), ", levels::distances(inside)),
            };
            let pairs = self.outline.between.iter().filter(|&&distance| distance > 0);
            let (least, greatest) = (pairs.clone().min().unwrap_or(&0), pairs.max().unwrap_or(&0));
            return format!("{shape}, distances {inside}{least} to {greatest} between nodes ({from})");
        }
        let distances = levels::distances(kept);
        if self.is_regular {
            let arities: Vec<String> = kept.iter().map(|level| level.arity.to_string()).collect();
            return format!("{shape} = {}, distances {distances} ({how})", arities.join(":"));
        }
        let names: Vec<String> = kept.iter().map(|level| level.members.name(2)).collect();
        format!("{shape}, uneven, distances {distances} of {} ({how})", names.join(":"))
    }

    /// Describes what PEs that are far from a network adapter add to the distances.
    pub(super) fn describe_network(&self) -> String {
        match self.outline.to_network.iter().max() {
            Some(most) => format!(
                ", and up to {most} more from each GPU to other nodes, by its distance from a network adapter"
            ),
            None => String::new(),
        }
    }

    /// Counts the members of each level: `3 nodes, 5 sockets, 40 cores`.
    fn count(&self, kept: &[Level], num_pes: usize) -> String {
        let width = kept.len();
        let mut rows: Vec<&[u32]> = self.outline.digits.chunks_exact(width).collect();
        rows.sort_unstable_by(|a, b| a.iter().rev().cmp(b.iter().rev()));
        debug_assert_eq!(rows.len(), num_pes);
        let count = |level: usize| {
            1 + rows.windows(2).filter(|pair| pair[0][level..] != pair[1][level..]).count() as u64
        };
        let counts = (0..width)
            .rev()
            .map(|level| format!("{} {}", count(level), kept[level].members.name(count(level))));
        counts.collect::<Vec<_>>().join(", ")
    }
}

/// The digits of the first PE of each node, from the level of nodes on.
fn digits_of_nodes(digits: &[u32], num_levels: usize, level_of_nodes: usize, sizes: &[usize]) -> Vec<u32> {
    let first = sizes.iter().scan(0, |next, &size| Some(std::mem::replace(next, *next + size)));
    first
        .flat_map(|pe| digits[pe * num_levels + level_of_nodes..(pe + 1) * num_levels].iter().copied())
        .collect()
}

/// Nodes of these sizes with a distance for each pair.
fn node_matrix(
    inside: UnevenTree,
    between: BetweenNodes,
    sizes: &[usize],
    to_network: &[Distance],
) -> Result<NodeMatrix, MachineError> {
    let node_of = (0..).zip(sizes).flat_map(|(node, &size)| std::iter::repeat_n(node, size)).collect();
    let node_matrix = NodeMatrix::new(inside, node_of, between.distances, between.parts)?;
    if to_network.is_empty() {
        return Ok(node_matrix);
    }
    let narrow = to_network.iter().map(|&distance| u32::try_from(distance));
    node_matrix.with_distances_to_network(
        narrow.collect::<Result<_, _>>().map_err(|_| MachineError::DistanceOverflow)?,
    )
}

/// Returns whether the PEs are those of a regular tree in its order: all digits count up like a number, innermost fastest.
fn is_regular(kept: &[Level], digits: &[u32], num_pes: usize) -> bool {
    let size = kept.iter().try_fold(1usize, |size, level| size.checked_mul(level.arity as usize));
    size == Some(num_pes)
        && digits.chunks_exact(kept.len().max(1)).enumerate().all(|(pe, digits)| {
            let mut rest = pe;
            kept.iter().zip(digits).all(|(level, &digit)| {
                let expected = rest % level.arity as usize;
                rest /= level.arity as usize;
                expected == digit as usize
            })
        })
}
