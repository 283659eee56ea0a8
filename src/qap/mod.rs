//! The general quadratic assignment problem: two matrices of integers, which need be neither sparse nor
//! symmetric.
//!
//! | member | contents |
//! |---|---|
//! | `machine` | problems with the distances of a machine, which are mapped to it |
//! | `settings` | all settings, and the presets as whole values of them |
//! | `run` | a whole run |
//!
//! Searches and proofs are in `mapping::dense`: small mappings use them too.
//!
//! Objects (facilities, processes) are the indices of the first matrix, places (locations) those of the
//! second.
//!
//! # Design
//!
//! ```text
//!  shape: one graph embedded ──▶ lower bound ──▶ distances of ──▶ annealing, ──▶ children of two: ──▶ branch and bound ──▶ assignment
//!  in the other: optimal                         a machine:       tabu search    the same             (few objects)        and what is proved
//!                                                mapped to it
//! ```
//!
//! `qap/` handles any two matrices. Its search, `mapping/dense/`, shares little with that for sparse graphs: on dense matrices the change of J
//! by an exchange is a product of rows, and graphs would be in the way. Mappings with few places use it too.
//!
//! - *Machines are recognised, not assumed* (`machine/recognise/`). A member of that family looks at a few rows and proposes a machine and the
//!   PE of each row; one check of all pairs, for all members, makes it exact. Trees are found by rows that are alike, level by level; grids by
//!   the lines through a corner; hypercubes by the neighbours of one PE. O(n²).
//! - *Problems are mapped to a recognised machine* (`qap/machine.rs`) by `solve`, with the other matrix as the graph of processes.
//!   Sparse problems gain most, and those for which a table of all exchanges is too large. On dense problems of a few hundred objects the dense
//!   search is better, and has all the time.
//! - *Numbers as narrow as is exact* (`mapping/dense/width.rs`). Single precision is exact for whole numbers below 2^24, double below 2^53; which of
//!   these, or 64-bit integers, holds every sum of a search is proved for each problem. Single precision has the fastest vector instructions on
//!   every x86-64 processor, where 32-bit integers cannot even be multiplied without SSE 4.1. So results are exact, and the same on every
//!   processor.
//! - *A pair counts once where possible* (`mapping/dense/narrow.rs`). If either matrix is symmetric, the other is added to its transpose; common factors
//!   are divided out.
//! - *Sparse rows entry by entry* (`mapping/dense/sparse.rs`). If at most one entry in twelve of A is non-zero, a delta is summed over the entries of two
//!   rows only. The number is the same, so assignments do not change.
//! - *Places in the order of the objects* (`mapping/dense/arrangement.rs`). A row of the matrix of places is read in step with one of the matrix of
//!   objects, without look-ups.
//! - *Only one of the two rows from scratch* (`mapping/dense/table.rs`). After an exchange of r and s the deltas of the pairs with r are computed from
//!   scratch; those with s follow, as there are only two ways to rotate three objects.
//! - *Annealing changes over to the table* (`mapping/annealing/dense.rs`). While many exchanges are made, each change of J is a product of
//!   rows; once few are, it is looked up in the table of all exchanges, with which tabu search continues. Both ways make the same exchanges.
//! - *The shape first* (`mapping/dense/embed.rs`). If the entries of one matrix fit on the least entries of the other, the problem is to embed one graph
//!   in another. On sparse graphs that takes milliseconds, and searches by exchanges fail: the optimum has no neighbours of similar J.
//! - *Two populations* (`mapping/dense/memetic.rs`). Members of the thorough one are annealed or searched for long, those of the quick one by a few
//!   hundred iterations of tabu search. Both get the same amount of work. A population whose members have become alike starts again, and its
//!   best member joins the next generation. Quick generations find the optimum of structured problems (clusters of clusters), and of those with
//!   many local optima far from each other.
//! - *Vectors as wide as the processor's* (`base/vector.rs`). Loops along rows are compiled twice, for any x86-64 processor and for those
//!   with AVX2, and chosen at run time. Sums are exact, so results are the same.
//! - *Batches.* Members are improved four at a time, in parallel, and enter the population in a fixed order.

mod machine;
mod run;
mod settings;

pub use crate::mapping::dense::{
    Qap, QapError, QapImprovement, QapQuick, QapWay, gilmore_lawler, lower_bound,
};
pub use machine::QapMachine;
pub use run::{QapRequest, QapSolution, QapSolveError};
pub use settings::QapConfig;
