//! The capacities of PEs, blocks and nodes.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use crate::error::{Result, UsageError};
use crate::files;
use crate::options::NONE;
use viem::base::text::counted;
use viem::base::types::Weight;
use viem::machine::{Machine, Nodes};
use viem::solve::greatest_capacities;
use viem_io::{ReadError, Source, pe_weights};

/// The capacities of PEs or blocks, relative to each other.
#[derive(Clone, Debug)]
pub(crate) enum Capacities {
    List { numbers: Vec<u32>, text: String },
    File(PathBuf),
}

impl Capacities {
    /// Parses a list of numbers, which may be empty; anything else is the name of a file.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
        let is_list = may_be_list(text) && (has_digit || text.is_empty());
        if !is_list {
            return Ok(Self::File(PathBuf::from(text)));
        }
        let numbers = pe_weights::speeds_of(text).map_err(|fault| fault.to_string())?;
        Ok(Self::List { numbers, text: text.to_owned() })
    }

    /// The file from which they are read, if there is one.
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::List { .. } => None,
        }
    }

    /// Their name in reports: the name of the file, or the list.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::File(path) => files::name(path),
            Self::List { text, .. } => text.clone(),
        }
    }

    /// The capacity of each block; each number is that of one block.
    pub(crate) fn of_blocks(&self) -> Result<Vec<u32>, ReadError> {
        self.read(pe_weights::read_speeds)
    }

    /// The capacity of each PE, at least 1, or at least 0 if it `may_be_none`.
    fn of_pes(&self, num_pes: usize, may_be_none: bool) -> Result<Vec<u32>> {
        let least = if may_be_none { 0 } else { 1 };
        let is_list =
            |numbers: &[u32]| numbers.len() == num_pes && numbers.iter().all(|&number| number >= least);
        match self {
            Self::List { numbers, text } if !is_list(numbers) => {
                let pes = counted(num_pes, "PE", "PEs");
                let message =
                    format!("--capacities={text} is not a list of a number from {least} for each of {pes}");
                Err(UsageError(message).into())
            }
            _ if may_be_none => Ok(self.read(|source| pe_weights::read_speeds_of(source, num_pes))?),
            _ => Ok(self.read(|source| pe_weights::read(source, num_pes))?),
        }
    }

    fn read(
        &self,
        read: impl FnOnce(Source<'_>) -> Result<Vec<u32>, ReadError>,
    ) -> Result<Vec<u32>, ReadError> {
        match self {
            Self::List { numbers, .. } => Ok(numbers.clone()),
            Self::File(path) => {
                read(Source::open(path).map_err(|error| error.or_else_is("a list such as 1,2,4"))?)
            }
        }
    }
}

/// Returns whether a text consists of what may stand in a list of numbers; anything else is the name of a file.
fn may_be_list(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || b",.- ".contains(&byte))
}

/// The capacities of PEs or blocks for all weights of the vertices together: those of each weight, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct CapacitiesByWeight(Vec<Vec<u32>>);

impl CapacitiesByWeight {
    /// Reads the capacities of PEs. With one list, each is at least 1.
    pub(crate) fn of_pes(lists: &[Capacities], num_pes: usize) -> Result<Self> {
        let several = lists.len() > 1;
        lists.iter().map(|list| list.of_pes(num_pes, several)).collect::<Result<_>>().map(Self)
    }

    /// Reads the capacities of blocks.
    pub(crate) fn of_blocks(lists: &[Capacities]) -> Result<Self> {
        let read: Vec<Vec<u32>> = lists.iter().map(Capacities::of_blocks).collect::<Result<_, _>>()?;
        match read.windows(2).find(|pair| pair[0].len() != pair[1].len()) {
            Some(pair) => {
                let [one, other] = [pair[0].len(), pair[1].len()];
                let message =
                    format!("--capacities has {one} numbers for one weight, and {other} for another");
                Err(UsageError(message).into())
            }
            None => Ok(Self(read)),
        }
    }

    /// The lists of each weight.
    pub(crate) fn each(&self) -> &[Vec<u32>] {
        &self.0
    }

    /// The greatest capacity of each PE or block by any weight, if there are any.
    pub(crate) fn greatest(&self) -> Option<Vec<u32>> {
        greatest_capacities(&self.0)
    }
}

/// One of something, or one for each weight of the vertices, in reports.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum OneOrEach<T> {
    One(T),
    Each(Vec<T>),
}

impl<T> OneOrEach<T> {
    /// One if there is one.
    pub(crate) fn of(mut all: Vec<T>) -> Option<Self> {
        match all.len() {
            0 => None,
            1 => all.pop().map(Self::One),
            _ => Some(Self::Each(all)),
        }
    }
}

/// Checks that an option is given once for each weight of the vertices, or not at all.
pub(crate) fn check_each(option: &str, found: usize, num_weights: usize) -> Result<(), UsageError> {
    if found == 0 || found == num_weights {
        return Ok(());
    }
    let times = counted(found, "time", "times");
    let weights = counted(num_weights, "weight", "weights");
    let message = format!(
        "{option} is given {times}, but each vertex has {weights}; give it once for each, as none where there is no such limit"
    );
    Err(UsageError(message))
}

/// What nodes may have.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Balance")]
pub(crate) struct NodeOptions {
    /// Most that the vertices on a node weigh, such as its memory. A whole number for every node, a list or a file with one for each node, or none. Where
    /// vertices have several weights, given once for each
    #[arg(hide_short_help = true, long, value_name = "LIST", value_parser = NodeCapacity::parse)]
    node_capacity: Vec<NodeCapacity>,
}

/// What nodes may have of one weight.
#[derive(Clone, Debug)]
enum NodeCapacity {
    None,
    List { numbers: Vec<Weight>, text: String },
    File(PathBuf),
}

impl NodeCapacity {
    fn parse(text: &str) -> Result<Self, String> {
        if text == NONE {
            return Ok(Self::None);
        }
        if !may_be_list(text) {
            return Ok(Self::File(PathBuf::from(text)));
        }
        let number = |text: &str| text.trim().parse::<Weight>().ok().filter(|&number| number >= 0);
        let numbers = text.split(',').map(number).collect::<Option<_>>();
        let numbers = numbers.ok_or_else(|| format!("`{text}` is not a list of whole numbers from 0 on"))?;
        Ok(Self::List { numbers, text: text.to_owned() })
    }

    fn read(&self, num_nodes: usize) -> Result<Option<Vec<Weight>>> {
        match self {
            Self::None => Ok(None),
            Self::List { numbers, .. } if numbers.len() == 1 => Ok(Some(vec![numbers[0]; num_nodes])),
            Self::List { numbers, text } if numbers.len() != num_nodes => {
                let (found, nodes) = (numbers.len(), counted(num_nodes, "node", "nodes"));
                let message =
                    format!("--node-capacity={text} has {found} numbers, but the machine has {nodes}");
                Err(UsageError(message).into())
            }
            Self::List { numbers, .. } => Ok(Some(numbers.clone())),
            Self::File(path) => {
                let source =
                    Source::open(path).map_err(|error| error.or_else_is("a number, a list, or none"))?;
                Ok(Some(pe_weights::read_node_capacities(source, num_nodes)?))
            }
        }
    }

    fn name(&self) -> String {
        match self {
            Self::None => NONE.to_owned(),
            Self::List { text, .. } => text.clone(),
            Self::File(path) => files::name(path),
        }
    }
}

impl NodeOptions {
    /// Returns whether a capacity is given.
    pub(crate) fn is_given(&self) -> bool {
        !self.node_capacity.is_empty()
    }

    /// The files that are read.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.node_capacity.iter().filter_map(|capacity| match capacity {
            NodeCapacity::File(path) => Some(path.as_path()),
            NodeCapacity::None | NodeCapacity::List { .. } => None,
        })
    }

    /// The names in reports.
    pub(crate) fn names(&self) -> Option<OneOrEach<String>> {
        OneOrEach::of(self.node_capacity.iter().map(NodeCapacity::name).collect())
    }

    /// By weight, the bound of each node of a machine; empty if none is given.
    pub(crate) fn read(&self, machine: &dyn Machine, num_weights: usize) -> Result<Vec<Option<Vec<Weight>>>> {
        let (found, nodes) = (self.node_capacity.len(), Nodes::of(machine).hosts().len());
        check_each("--node-capacity", found, num_weights)?;
        self.node_capacity.iter().map(|capacity| capacity.read(nodes)).collect()
    }
}
