//! Communication graphs from what other crates keep: graphs of `petgraph`, sparse matrices of `sprs`.

mod petgraph;
mod sprs;

pub use petgraph::from_petgraph;
pub use sprs::{from_sprs_summed, from_sprs_symmetric};
