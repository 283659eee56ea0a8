//! Machines and loads that change: unequal speeds, orders that are cut anew, remapping.
//!
//! ```text
//! VIEM_GRAPHS=folder cargo bench --bench change -- [options]
//!     only=paper,speed  draws=20  way=rsb,hilbert  threads=1
//! ```
//!
//! | table | what it measures |
//! |---|---|
//! | `paper` | cut edges and setups on `3elt` for parts of unequal speeds, beside the printed ones |
//! | `speed` | the time of curves, of coordinate bisection, of cutting an index, and of spectral bisection |
//!
//! The folder holds `3elt.graph` and `3elt.xyz`. With one thread, times are CPU times; with more, times of the clock.

mod common;
#[path = "change/paper.rs"]
mod paper;
#[path = "change/speed.rs"]
mod speed;

use common::{Options, fail};
use viem::threads;

/// What is asked for.
struct Run {
    /// Random speeds for each ratio and number of parts.
    draws: u64,
    /// Names of algorithms; all if empty.
    ways: Vec<String>,
    threads: usize,
}

type Measure = fn(&Run);

const TABLES: [(&str, Measure); 2] = [("paper", paper::measure), ("speed", speed::measure)];

fn main() {
    let (tables, run) = Options::read(|options| {
        let tables = options.members("only", &TABLES, |(name, _)| name, &TABLES)?;
        Ok((
            tables,
            Run {
                draws: options.value("draws", 20)?,
                ways: options.list("way", Vec::new())?,
                threads: options.value("threads", 1)?,
            },
        ))
    });
    let measure = || tables.iter().for_each(|(_, measure)| measure(&run));
    threads::run(run.threads, measure).unwrap_or_else(|error| fail(error));
}
