//! Options that several programs share.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::exit::UsageError;
use crate::topology::{Hierarchy, HierarchyError};

/// The machine: a hierarchy and its distances.
#[derive(Args, Clone, Debug)]
#[command(rename_all = "snake_case")]
pub(crate) struct MachineOptions {
    /// The machine, innermost level first: 4:16:8 is 4 cores a processor, 16 processors a node, 8 nodes.
    /// The product of the numbers must be the number of vertices of the model
    #[arg(long, value_name = "a1:a2:...")]
    pub(crate) hierarchy_parameter_string: String,

    /// Distances, innermost level first: with 1:10:100 two cores of a processor have distance 1, two
    /// processors of a node 10, two nodes 100
    #[arg(long, value_name = "d1:d2:...")]
    pub(crate) distance_parameter_string: String,
}

impl MachineOptions {
    /// The hierarchy that the two strings describe.
    pub(crate) fn hierarchy(&self) -> Result<Hierarchy, HierarchyError> {
        Hierarchy::parse(&self.hierarchy_parameter_string, &self.distance_parameter_string)
    }
}

/// What a program tells, and where.
#[derive(Args, Clone, Debug)]
#[command(rename_all = "snake_case")]
pub(crate) struct ReportOptions {
    /// Print nothing but errors
    #[arg(long)]
    pub(crate) quiet: bool,

    /// Also write a machine-readable report to FILE; - is standard output, which then carries nothing else
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

/// A parser of option values that accepts the names of `all` and nothing else: what is listed works.
pub(crate) fn one_of<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|&choice| name(choice))).map(move |text: String| {
        let chosen = all.iter().copied().find(|&choice| name(choice) == text);
        chosen.expect("the parser lets only listed names through")
    })
}

/// Threads that are started at most, unless there are more cores: starting a hundred thousand of them can bring a
/// system down.
const MOST_THREADS: usize = 256;

/// The number of threads asked for, or else one for each core that the process may use.
pub(crate) fn threads(asked: Option<usize>) -> Result<usize, UsageError> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    match asked {
        Some(0) => Err(UsageError("--threads must be at least 1".to_string())),
        Some(threads) => Ok(threads.min(MOST_THREADS.max(cores))),
        None => Ok(cores),
    }
}
