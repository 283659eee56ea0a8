//! Embedding of one graph, the pattern, in another, the host: each vertex of the pattern gets a vertex of the host for itself, its place, such that
//! the places of neighbours are neighbours.
//!
//! | member | pattern and host | search |
//! |---|---|---|
//! | `isomorphism` | graphs with the same degrees | backtracking; goes on with the vertex that has the fewest places left |
//! | `monomorphism` | a graph, and any host of as many vertices or more | backtracking in a fixed order, with look-ahead; some restarts |
//! | `relation` | directed relations, given as matrices | backtracking in a fixed order, vertices of rare degrees first |
//!
//! All are searches with a budget, not decision procedures: they find grids, tori, rings, trees and hypercubes in hosts of their kind nearly without going
//! back, and give up soon elsewhere.
//!
//! They are three engines because none of them does the work of another. The degrees of an isomorphism decide at each vertex which
//! places are left, so that its search needs no look-ahead and takes time for the frontier only; where the host is larger that test is void. A
//! monomorphism with restarts finds mappings that a fixed order of rare degrees does not, while the latter sees the direction of edges, which neither of
//! the others does.

pub mod isomorphism;
pub mod monomorphism;
mod placement;
pub mod relation;
