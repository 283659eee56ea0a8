//! Ids and weights used everywhere.
//!
//! Weights, distances and costs are signed 64-bit integers that are never negative where they are
//! stored; the sign is there for gains and deltas. Every place that builds a sum of them proves once
//! that the greatest possible sum fits (see [`CsrGraph`](crate::graph::CsrGraph) and
//! `viem::mapping::problem::Problem`), so the hot loops add without checks.

/// A vertex of a graph (a process), counted from 0.
pub type NodeId = u32;

/// A processing element of the machine, counted from 0.
pub type PeId = u32;

/// A block of a partition, counted from 0.
pub type BlockId = u32;

/// Weight of a vertex or of an edge; not negative.
pub type Weight = i64;

/// Distance of two processing elements; not negative.
pub type Distance = i64;

/// Value of the objective J (not negative) or a change of it (any sign).
pub type Cost = i64;

/// The greatest common divisor of two numbers that are not negative; that of a number and 0 is the number.
pub fn greatest_common_divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}
