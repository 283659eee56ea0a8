//! Process mapping: which process runs on which core, so that processes that communicate heavily are placed close to each other.
//!
//! A [`CsrGraph`] tells how much the processes communicate, a [`Machine`] how far its processing elements (PEs) are from
//! each other, and [`solve()`] finds a [`Mapping`] of small cost
//! `J = sum over ordered pairs (u, v) of traffic[u][v] · distance[PE of u][PE of v]`.
//!
//! # From traffic to a mapping
//!
//! ```
//! use viem::{GraphBuilder, Hierarchy, MapConfig, solve};
//!
//! // Eight processes in a ring; process i sends 10 messages to process i + 1.
//! let mut traffic = GraphBuilder::new(8);
//! for i in 0..8 {
//!     traffic.add_edge(i, (i + 1) % 8, 10);
//! }
//! // Two nodes of two processors of two cores, with distances 1 inside of a processor, 10 and 100.
//! let machine = Hierarchy::parse("2:2:2", "1:10:100")?;
//! let solution = solve(&traffic.build()?, &machine, &MapConfig::default())?;
//! // Each edge counts twice: four stay in a processor, two in a node, two lead from node to node.
//! assert_eq!(solution.report.cost, 2 * 10 * (4 * 1 + 2 * 10 + 2 * 100));
//! println!("process 0 runs on core {}", solution.mapping.pe_of(0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`io::metis::read`] reads a graph from a file, [`io::traffic::Collector`] sums what was recorded of a job, and
//! [`solve_watched`] takes a mapping to start from and an [`Observer`] who can end the run.
//!
//! # Machines
//!
//! | machine | what it is |
//! |---|---|
//! | [`Hierarchy`] | a regular tree, such as 4 cores a processor, 16 processors a node |
//! | [`Grid`], [`Hypercube`] | meshes, tori, hypercubes |
//! | [`Network`] | PEs and routers with links of any cost |
//! | [`DistanceMatrix`] | any distances |
//! | [`Listed`] | some PEs of another machine: what a batch system gave to a job |
//! | [`Capacities`] | PEs with room for several processes |
//!
//! A type of one's own is a machine once it implements [`Machine`]: it tells the number of PEs, and one of the metrics of
//! [`mod@machine`] that tells its distances. [`machine::build`] makes any of these from what people write, such as `torus:8x4`.
//!
//! # To score a mapping
//!
//! [`score`] computes J of any mapping to any machine. [`report::traffic`] tells how it is spread over levels and distances.
//!
//! # To partition a graph
//!
//! ```
//! use viem::{PartitionPreset, Partitioner, Targets, graph::generate};
//!
//! let graph = generate::grid(32, 32);
//! let targets = Targets::equal(&graph, 4, 0.03)?;
//! let partition = Partitioner::new(PartitionPreset::Eco, 0).partition(&graph, &targets);
//! assert_eq!(partition.overload(), 0);
//! println!("{} edges are cut", partition.cut());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`PartitionAlgorithm`](partition::PartitionAlgorithm) names other ways: by coordinates, along curves, by spectra. [`Targets::proportional`] makes parts of unequal weights, [`OrderIndex`](partition::OrderIndex)
//! cuts an order of the vertices anew whenever they change, and [`PartitionQuality`](partition::PartitionQuality) tells what a partition costs besides its cut.
//!
//! The folder `examples/` has a program for each of these.
//!
//! # Features
//!
//! None is needed, and none is on unless it is asked for.
//!
//! | feature | what it adds |
//! |---|---|
//! | `io` | the module [`io`]: reading and writing files; machines from files, and clusters; workloads as text |
//! | `serde` | settings that can be serialised and deserialised, reports that can be serialised |
//! | `petgraph` | [`CsrGraph::from_petgraph`]: graphs of the crate `petgraph` |
//! | `sprs` | [`CsrGraph::from_sprs_symmetric`], [`CsrGraph::from_sprs_summed`]: sparse matrices of the crate `sprs` |

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod graph;
pub mod ground;
#[cfg(feature = "io")]
pub mod io;
pub mod launch;
pub mod machine;
pub mod mapping;
pub mod partition;
pub mod qap;
pub mod report;
pub mod workload;

pub use graph::{CsrGraph, GraphBuilder};
pub use ground::observer::Observer;
pub use machine::{Capacities, DistanceMatrix, Grid, Hierarchy, Hypercube, Listed, Machine, Network};
pub use mapping::Mapping;
pub use mapping::objective::score;
pub use mapping::solve::{MapConfig, MapPreset, Solution, SolveError, solve, solve_watched};
pub use partition::{Partition, PartitionPreset, Partitioner, Targets};

/// The examples of the README are tried as those of this documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Helpers of the tests, the same as those of `tests/`; they know the library from outside, by its name.
#[cfg(test)]
#[path = "../tests/common/problems.rs"]
mod testing;

#[cfg(test)]
extern crate self as viem;
