//! The objectives: what a partition costs.
//!
//! *Problem.* Refiners move vertices to where their edges cost less. An edge of weight w between blocks a and b costs
//! w times `between(a, b)`: 1 for the cut, the distance of the two PEs for J. An edge inside a block costs nothing. Each
//! edge counts once, so the cost is half of J, which sums over ordered pairs.
//!
//! *Gains.* Moving a vertex from a to b gains the sum over all blocks c adjacent to it of
//! `affinity(c) · (between(a, c) - between(b, c))`. For the cut, only two terms of it remain.
//!
//! | member | `between` | memory | time of a gain |
//! |---|---|---|---|
//! | [`Cut`] | 1 | none | O(1) |
//! | [`StoredCost`] | a table of 32 bits per entry | 4 k² bytes | O(q) for q adjacent blocks |
//! | [`ComputedCost`] | what the machine computes | none | O(q) calls |
//! | [`Migrating`] | a multiple of another objective's | 12 bytes per vertex | that of the other objective |
//!
//! Besides its edges, a vertex may cost something by itself in each block: a linear term, which only migration uses so far.
//!
//! What an edge costs depends on its two blocks only, so the gain of a vertex changes only when a neighbour moves; all refiners
//! rely on that. A cost of whole blocks, such as the weight of the heaviest one, is no member of this family but a bound
//! ([`Targets`](super::targets::Targets)).
//!
//! A member for J is a file of its own and a line of the table below, which the tests of the family run over as well.
//!
//! All sums fit 64 bits: the cut is at most the weight of all edges, and whoever asks for J has checked that this weight times
//! the greatest distance fits.

mod computed;
mod cut;
mod distances;
mod interface;
mod migration;
mod stored;
#[cfg(test)]
pub(crate) mod tests;

#[cfg(test)]
pub(crate) use computed::ComputedCost;
pub(crate) use cut::Cut;
pub use distances::BlockDistances;
pub(crate) use interface::{Objective, ObjectiveVisitor};
pub(crate) use migration::Migrating;
pub(crate) use stored::StoredCost;

/// The members that minimise J, by one table: the first that accepts the distances is used, the last accepts all.
macro_rules! table {
    ($(try $member:ty,)+ else $last:ty) => {
        /// Visits the objective for J with these distances.
        pub(crate) fn visit_cost<V: ObjectiveVisitor>(distances: &dyn BlockDistances, visitor: V) -> V::Output {
            $(if let Some(objective) = <$member>::new(distances) {
                return visitor.visit(objective);
            })+
            visitor.visit(<$last>::new(distances))
        }

        /// Visits every objective that accepts these distances.
        #[cfg(test)]
        pub(crate) fn visit_each_cost<V: ObjectiveVisitor + Copy>(distances: &dyn BlockDistances, visitor: V) {
            $(<$member>::new(distances).map(|objective| visitor.visit(objective));)+
            visitor.visit(<$last>::new(distances));
        }
    };
}

table! {
    try stored::StoredCost,
    else computed::ComputedCost
}
