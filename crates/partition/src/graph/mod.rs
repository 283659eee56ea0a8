//! Undirected weighted graphs in compressed sparse row form, and what is derived from them.
//!
//! | member | what it does |
//! |---|---|
//! | [`CsrGraph`] | the graph, checked when it is built |
//! | [`VertexWeights`] | several weights of each vertex, beside the graph |
//! | [`Coordinates`] | where the vertices lie |
//! | [`subgraph`] | the subgraph that a set of vertices induces |
//! | [`quotient`] | contraction of the blocks of a partition |
//! | [`relabel`] | the same graph with other vertex numbers |
//! | `canonical` | an order of the vertices that does not depend on their numbers |
//! | `adjacency` | the maximum adjacency order, in which each vertex communicates most with those before |
//! | [`bfs`] | breadth-first order, and search that stops at a given distance |
//! | `embedding` | one graph in another, such that neighbours stay neighbours |
//! | `closeness` | weights that favour edges inside of dense regions |
//! | `components` | what is connected |
//! | `groups` | components, and what heavy edges join, in breadth-first order |
//! | `hubs` | vertices with far more arcs than others |
//! | [`stencil`] | Cartesian grids with a stencil, recognised by their edges |
//! | [`generate`] | grids, meshes and random geometric graphs |
//! | [`validation`] | on which edges their ends do not agree |
//! | [`fingerprint`] | whether they do on all, by one number |

pub mod adjacency;
pub mod bfs;
pub mod canonical;
mod closeness;
pub mod components;
mod convert;
mod coordinates;
mod csr;
pub mod embedding;
pub mod fingerprint;
pub mod generate;
pub mod groups;
pub mod hubs;
pub mod quotient;
pub mod relabel;
pub mod stencil;
pub mod subgraph;
pub mod validation;
mod vertex_weights;

pub use convert::{CsrSlices, check_num_nodes};
pub use coordinates::{Coordinates, CoordinatesError, MOST_DIMENSIONS};
pub use csr::{CsrGraph, GraphBuilder, GraphError};
pub use vertex_weights::{VertexWeights, VertexWeightsError};
