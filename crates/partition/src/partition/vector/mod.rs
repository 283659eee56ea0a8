//! Partitions of graphs whose vertices have several weights.
//!
//! *Problem.* Each vertex has c weights, such as time and memory. Each block has a bound and a least load for each of them. Find a partition within
//! all bounds whose cut, or J, is small.
//!
//! *Algorithm.* The multilevel scheme, as for one weight. Coarsening, projection, gains, FM searches and flows are those of one weight; they
//! see the [size](super::loads::sizes) of a vertex, and ask [`Loads`](super::loads::Loads) whether a move keeps all bounds.
//!
//! | part | what it does | time |
//! |---|---|---|
//! | `scheme` | one run down and up the levels | as for one weight, times c where loads are compared |
//! | `bisection` | the first partition: recursive bisection within the bounds of all weights | O((n + m) log k) on the coarsest graph |
//! | `balance` | overload lowered by single moves, then by swaps | O((n + m) log n + n k c), O(k c) if bounds hold |
//! | `packing` | first fit decreasing; the best assignment of few vertices | O(n k c); a search within a budget |
//! | `places` | one vertex on each place of a block: exchanges that keep the bounds | O(n m) for each sweep |
//! | `remap`, `enumeration` | partitions from an older one; tiny graphs | |
//! | `targets` | shares, bounds and least loads for each weight | O(c k) |
//!
//! *Which overload is least.* Partitions are compared by the bound that is exceeded most relative to itself, then by the sum of all such excesses
//! ([`Excess`](super::loads::Excess)). The search lowers the sum: it has fewer plateaus, and both are 0 at the same time.
//!
//! *Clusters.* The size of a vertex is the sum of its shares of all weights. So a cluster of at most a given size has at most this share
//! of each weight, and no cluster outgrows a block in one of them.
//!
//! *Memory.* 8 c n bytes for each level, and 8 c k for the loads.
//!
//! Karypis, Kumar: Multilevel algorithms for multi-constraint graph partitioning. SC 1998.
//! Schloegel, Karypis, Kumar: A new algorithm for multi-objective graph partitioning. Euro-Par 1999.

mod balance;
mod bisection;
mod enumeration;
mod packing;
mod partitioner;
mod places;
mod remap;
mod scheme;
mod targets;
#[cfg(test)]
mod tests;

pub use partitioner::{VectorPartition, VectorPartitioner, VectorProblem};
pub use targets::VectorTargets;
