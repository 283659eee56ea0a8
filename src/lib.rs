//! Process mapping: which process runs on which core, so that processes that communicate heavily are placed close to each other.
//!
//! A [`CsrGraph`] has the communication of the processes, a [`Machine`] the distances of its processing elements (PEs) from each
//! other. A [`Request`] finds a [`Mapping`] with a small cost `J = sum over ordered pairs (u, v) of traffic[u][v] · distance[PE of u][PE of v]`: the
//! sparse quadratic assignment problem.
//!
//! ```
//! use viem::{Config, GraphBuilder, Hierarchy, PreparedMachine, Request};
//!
//! // Eight processes in a ring; process i sends 10 messages to process i + 1.
//! let mut traffic = GraphBuilder::new(8);
//! for i in 0..8 {
//!     traffic.add_edge(i, (i + 1) % 8, 10);
//! }
//! let traffic = traffic.build()?;
//! // Two nodes of two processors of two cores, with distances 1 inside a processor, 10 inside a node and 100 between nodes.
//! let tree = Hierarchy::parse("2:2:2", "1:10:100")?;
//! let machine = PreparedMachine::new(&tree);
//! let solution = Request::new(&traffic, &machine).solve(&Config::eco())?;
//! // Each edge counts twice: four edges stay in a processor, two in a node, two lead from node to node.
//! assert_eq!(solution.report.cost, 2 * 10 * (4 * 1 + 2 * 10 + 2 * 100));
//! println!("process 0 runs on core {}", solution.mapping.pe_of(0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What do you want to do?
//!
//! | task | start with |
//! |---|---|
//! | map processes to PEs, one to one | [`Request`] |
//! | map a mesh, many vertices per PE with balanced loads | [`Request::balanced`] |
//! | balance several weights of the vertices, such as time and memory | [`SeveralWeights`](solve::SeveralWeights) |
//! | map again after a change, with few moves | [`Request::previous`] |
//! | fix processes, or let groups of them share a node | [`Request::fixed`], [`Request::together`] |
//! | partition a graph | [`Request::minimise`]; by coordinates or along curves: [`Request::initial`]; with a share, bound and least load of each block: [`Targets`] |
//! | make a model of an application that is divided | [`Mapping::quotient`] |
//! | score a mapping | [`score`], [`Request::evaluate`]; by levels and distances: `viem_report::traffic` |
//! | solve a dense quadratic assignment problem | [`qap::QapRequest`] |
//! | map tasks that compute and communicate in time | `viem_workload::map::TaskRequest` |
//! | read and write files | `viem_io` |
//! | read meshes, and make graphs of them | `viem_mesh` |
//! | start a job as it was mapped | `viem_launch` |
//! | describe the machine by files, hwloc, or the job of a batch system | `viem_cluster` |
//!
//! Each has an example where it is documented; the folder `examples/` has complete programs.
//!
//! Settings are values of types named `...Config`: `preset` makes them, `with_...` changes them, `validate` checks them. An [`Observer`] can follow
//! a run and end it early. Same seed, same result, with any number of threads.
//!
//! # Which modules matter
//!
//! [`graph`] and [`machine`] make the input, [`solve`] and [`qap`] solve problems. The rest can be ignored in the beginning: [`tuning`] has the settings inside
//! settings, [`base`] what everything is built on, [`partition`] and [`mapping`] the parts of a run, many of which are public for experiments.
//!
//! # Machines
//!
//! | machine | meaning |
//! |---|---|
//! | [`Hierarchy`] | a regular tree, such as 4 cores per processor, 16 processors per node |
//! | [`Grid`], [`Hypercube`] | meshes, tori, hypercubes |
//! | [`Network`] | PEs and routers with links of any cost |
//! | [`DistanceMatrix`] | any distances |
//! | [`Listed`] | some PEs of another machine: those that a batch system gave to a job |
//! | [`Capacities`] | PEs with room for several processes |
//! | [`Blocks`](machine::Blocks) | the blocks of a partition |
//!
//! [`machine::build`] makes machines from text such as `torus:8x4`; the package `viem-cluster` also reads networks, matrices and clusters from files. A type of your own is a machine once it implements [`Machine`]:
//!
//! ```
//! use viem::base::types::PeId;
//! use viem::machine::{Distances, MachineError, OwnDistances};
//! use viem::{Config, Machine, PreparedMachine, Request, graph::generate};
//!
//! /// PEs on a line, ten to a rack.
//! #[derive(Clone, Copy, Debug)]
//! struct Racks(u32);
//!
//! impl OwnDistances for Racks {
//!     fn distance(&self, a: PeId, b: PeId) -> i64 {
//!         1 + 9 * i64::from((a / 10).abs_diff(b / 10))
//!     }
//!     fn max_distance(&self) -> i64 {
//!         self.distance(0, self.0 - 1)
//!     }
//! }
//!
//! impl Machine for Racks {
//!     fn num_pes(&self) -> usize {
//!         self.0 as usize
//!     }
//!     fn distances(&self) -> Result<Distances, MachineError> {
//!         Distances::own(self.num_pes(), *self)
//!     }
//! }
//!
//! let (graph, machine) = (generate::grid(40, 1), PreparedMachine::new(&Racks(40)));
//! let solution = Request::new(&graph, &machine).solve(&Config::default())?;
//! # assert!(solution.report.cost <= solution.report.cost_of_identity);
//! # Ok::<(), viem::SolveError>(())
//! ```
//!
//! # Bounds of your own
//!
//! The partitioner takes any sizes and bounds of the blocks.
//!
//! ```
//! use viem::{PartitionPreset, Partitioner, Targets, graph::generate};
//!
//! let graph = generate::grid(32, 32);
//! let targets = Targets::equal(&graph, 4, 0.03)?.with_bounds(vec![260, 260, 270, 300])?;
//! let partition = Partitioner::new(PartitionPreset::Eco, 0).partition(&graph, &targets);
//! assert_eq!(partition.overload(), 0);
//! println!("{} edges are cut", partition.cut());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`partition::OrderIndex`] cuts an order of the vertices again whenever their weights change, and [`partition::PartitionQuality`] reports what a
//! partition costs besides its cut.
//!
//! # The cost of a mapping
//!
//! ```
//! use viem::{Grid, graph::generate, score};
//!
//! // Process i of a path on PE i of a line: two edges of distance 1, each counted in both directions.
//! let pe_of = [0, 1, 2];
//! assert_eq!(score(&generate::grid(3, 1), &Grid::mesh(&[3])?, &pe_of)?, 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Quadratic assignment
//!
//! ```
//! use viem::qap::{Qap, QapConfig, QapRequest};
//!
//! // Flow between three objects, distances between three places.
//! let qap = Qap::from_matrices(3, vec![0, 5, 1, 5, 0, 2, 1, 2, 0], vec![0, 9, 2, 9, 0, 3, 2, 3, 0])?;
//! let solution = QapRequest::new(&qap).solve(&QapConfig::default())?;
//! assert!(solution.is_optimal);
//! println!("object 0 is at place {}", solution.mapping.pe_of(0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing here is optional: what can be left out is a package of its own. `viem-convert` has graphs of `petgraph` and matrices of `sprs`.

pub mod machine;
pub mod mapping;
pub mod qap;
pub mod solve;

pub use viem_partition::{base, graph, partition};

pub use base::observer::Observer;
pub use graph::{CsrGraph, GraphBuilder};
pub use machine::{Capacities, DistanceMatrix, Grid, Hierarchy, Hypercube, Listed, Machine, Network};
pub use mapping::Mapping;
pub use mapping::objective::score;
pub use partition::{Partition, PartitionPreset, Partitioner, Targets};
pub use solve::{Config, MapPreset, PreparedMachine, Report, Request, Solution, SolveError};

/// Settings inside settings: what each phase of a run does. Presets choose them well; only those who tune the algorithms need them.
pub mod tuning {
    pub use crate::mapping::annealing::{Cooling, TreeCooling};
    pub use crate::mapping::construct::{ConstructionConfig, Multilevel};
    pub use crate::mapping::search::{Anywhere, Improvement, SearchConfig, SmallInstance};
    pub use crate::partition::{
        BalanceConfig, BisectionConfig, Contraction, DivisionConfig, FlatConfig, FlowConfig,
        HeavyTailedConfig, InitialConfig, KWayConfig, LargeConfig, ManyToOnePartitionConfig, PartitionConfig,
        PoolConfig, UnconstrainedConfig,
    };
    pub use crate::qap::{QapImprovement, QapQuick, QapWay};
    pub use crate::solve::{Constructions, ManyToOneConfig, OneToOneConfig, SmallProblemConfig};
}

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
