//! Machines and loads that change: unequal speeds, repartitioning along an order, remapping.
//!
//! ```text
//! VIEM_GRAPHS=folder cargo bench --bench change -- [options]
//!     only=paper,speed,remap  draws=20  way=rsb,hilbert  threads=1  preset=eco  weight=0.125,0.5,2
//! ```
//!
//! | table | what it measures |
//! |---|---|
//! | `paper` | cut edges and setups on `3elt` for parts of unequal speeds, compared with the printed ones |
//! | `speed` | the time of curves, of coordinate bisection, of cutting an index, and of spectral bisection |
//! | `remap` | cut and J, migration and time of remapping, compared with partitions from scratch and diffusion; `preset`, and `weight` in multiples of the cost divided by the weight of all vertices |
//!
//! The folder contains `3elt.graph` and `3elt.xyz`. With one thread, times are CPU times; with more,
//! wall-clock times.

mod common;
#[path = "change/diffusion.rs"]
mod diffusion;
#[path = "change/paper.rs"]
mod paper;
#[path = "change/remap.rs"]
mod remap;
#[path = "change/speed.rs"]
mod speed;

use common::{Options, fail};
use viem::base::threads;
use viem::partition::PartitionPreset;

/// The options of a run.
struct Run {
    /// Random draws of speeds for each ratio and number of parts.
    draws: u64,
    /// Names of algorithms; all if empty.
    ways: Vec<String>,
    threads: usize,
    /// The preset of partitions that are remapped.
    preset: PartitionPreset,
    /// Weights of migration, in multiples of the cost divided by the vertex weight.
    weights: Vec<f64>,
}

type Measure = fn(&Run);

const TABLES: [(&str, Measure); 3] =
    [("paper", paper::measure), ("speed", speed::measure), ("remap", remap::measure)];

fn main() {
    let (tables, run) = Options::read(|options| {
        let tables = options.members("only", &TABLES, |(name, _)| name, &TABLES)?;
        let run = Run {
            draws: options.value("draws", 20)?,
            ways: options.list("way", Vec::new())?,
            threads: options.value("threads", 1)?,
            preset: options.value("preset", PartitionPreset::Eco)?,
            weights: options.list("weight", vec![0.125, 0.5, 2.0])?,
        };
        Ok((tables, run))
    });
    let measure = || tables.iter().for_each(|(_, measure)| measure(&run));
    threads::run(run.threads, measure).unwrap_or_else(|error| fail(error));
}
