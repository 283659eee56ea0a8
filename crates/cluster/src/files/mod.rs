//! Descriptions of clusters: lists of hosts, the network of Slurm, the inside of a node by hwloc, measured latencies.
//!
//! | member | reads |
//! |---|---|
//! | [`hostlist`] | lists of hosts as Slurm writes them: `n[01-04,7],gpu1`, and numbers such as `2(x4),3` |
//! | [`hostfile`] | host files of Open MPI (`n1 slots=4`), MPICH (`n1:4`), batch systems, and plain ones |
//! | [`names`] | which names are those of one host |
//! | [`hwloc`] | the inside of a node, or its GPUs: XML files of hwloc 1, 2 and 3 |
//! | [`synthetic`] | the same as a line: `pack:2 numa:4 core:16 pu:1` |
//! | [`topology`] | `topology.conf` and `topology.yaml` of Slurm, what `scontrol show topology` prints, and lists of addresses (`s0.s1.n1`) |
//! | [`fabric`] | InfiniBand networks as `ibnetdiscover` prints them |
//! | `topograph` | networks and accelerator domains as topograph writes them, for schedulers or as labels of nodes of Kubernetes |
//! | `scontrol` | jobs, nodes and partitions of Slurm as `scontrol show` prints them |
//! | [`latency`] | latencies between hosts |
//! | [`gpus`] | links between GPUs as `nvidia-smi` and `rocm-smi` print them |
//! | [`numa`] | distances between NUMA nodes as `numactl`, `likwid-topology` and `lstopo` print them |
//!
//! All of them read the whole text, which is small against the graph, and say line and column of the first fault.

pub mod fabric;
pub mod gpus;
pub mod hostfile;
pub mod hostlist;
pub mod hwloc;
pub mod latency;
pub mod names;
pub mod near;
pub mod numa;
pub(crate) mod scontrol;
pub mod synthetic;
mod topograph;
pub mod topology;
mod yaml;

use viem::base::text::counted;
pub use viem_io::Text;

/// Hosts that a file or a list may name at most.
pub const MOST_HOSTS: usize = 1 << 20;

/// A fault in a file that describes a cluster.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum ClusterFault {
    #[error("`{text}`: {reason}; a list of hosts is written like n[01-04,7],gpu1")]
    Hostlist { text: String, reason: &'static str },
    #[error("`{text}` is no list of numbers such as 16(x4),8")]
    Counts { text: String },
    #[error("more than {MOST_HOSTS} hosts")]
    TooManyHosts,
    #[error("host {host} is listed again after other hosts; give each host one line")]
    HostTwice { host: String },
    #[error("`{text}` is no number of {what} from 1 to {most}")]
    BadCount { text: String, what: &'static str, most: u32 },
    #[error("{slots} slots are more than max_slots={most}")]
    MaxSlots { slots: u32, most: u32 },
    #[error(
        "`{text}` is not understood; a host file has a line per host: `n1`, `n1 slots=4` or `n1:4`; lists such as n[01-04] may stand for hosts"
    )]
    Hostfile { text: String },
    #[error("there are no hosts in this file")]
    NoHosts,
    #[error("this cannot be read as XML: {reason}")]
    Xml { reason: String },
    #[error("this XML is not of hwloc: {reason}; make it by `lstopo FILE.xml`")]
    NotHwloc { reason: String },
    #[error("a {what} has no `{attribute}` or a bad one")]
    Attribute { what: String, attribute: &'static str },
    #[error("PU {index} is in the machine twice")]
    PuTwice { index: u32 },
    #[error("the machine has no PU that may be used")]
    NoPus,
    #[error(
        "the machine has no GPUs that hwloc knows; write the file where it finds their driver (NVML, CUDA, ROCm SMI, Level Zero or OpenCL), \
         or give what nvidia-smi or rocm-smi prints about them"
    )]
    NoGpus,
    #[error("a node has more than {most} GPUs")]
    TooManyGpus { most: usize },
    #[error("objects lie more than {most} deep in each other")]
    TooDeep { most: usize },
    #[error(
        "`{text}`: {reason}; a synthetic machine is written from the outside in, like `pack:2 numa:4 core:16 pu:1`"
    )]
    Synthetic { text: String, reason: &'static str },
    #[error("{reason}: `{text}`")]
    Topology { text: String, reason: &'static str },
    #[error(
        "this is no topology of Slurm (a topology.conf, a topology.yaml, what scontrol show topology prints, or a list of addresses such \
         as s0.s1.n1), nor what ibnetdiscover prints or topograph writes"
    )]
    NotTopology,
    #[error(
        "this topology is empty; scontrol show topology prints nothing where all nodes are alike: give topology=none"
    )]
    EmptyTopology,
    #[error(
        "{reason}: `{text}`; ibnetdiscover writes a line for each switch, and one for each link below it"
    )]
    Fabric { text: String, reason: &'static str },
    #[error("this YAML is not understood: {reason}")]
    Yaml { reason: String },
    #[error("{reason}: `{text}`")]
    Gpus { text: String, reason: &'static str },
    #[error("{reason}: `{text}`")]
    Numa { text: String, reason: &'static str },
    #[error("`{text}` is no latency; give numbers that are not negative")]
    Latency { text: String },
    #[error(
        "this row has {latencies}, but the matrix has {columns}",
        latencies = counted(found, "latency", "latencies"),
        columns = counted(expected, "column", "columns")
    )]
    Uneven { found: usize, expected: usize },
    #[error(
        "the matrix of latencies has {rows}, but {columns}",
        rows = counted(found, "row", "rows"),
        columns = counted(expected, "column", "columns")
    )]
    Rows { found: usize, expected: usize },
    #[error("there are {found} names of hosts, but latencies of {expected}")]
    Names { found: usize, expected: usize },
    #[error(
        "this row is of host {row}, but the column of the same number is of host {column}; write both in one order"
    )]
    OtherOrder { row: String, column: String },
    #[error("host {host} is listed twice in this matrix of latencies")]
    NamedTwice { host: String },
    #[error("the latency from {from} to {to} is 0; latencies between hosts are above 0")]
    NoLatency { from: String, to: String },
}

/// A fault and where in the text it is: the offset of a byte.
type Fault = (usize, ClusterFault);

/// The lines of a text with their offsets, up to comments that begin with `#`, without blanks around them; no empty ones.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut offset = 0;
    text.split_inclusive('\n').filter_map(move |whole| {
        let start = offset;
        offset += whole.len();
        let line = whole.split('#').next().unwrap_or_default();
        let trimmed = line.trim_start();
        let at = start + line.len() - trimmed.len();
        Some((at, trimmed.trim_end())).filter(|(_, line)| !line.is_empty())
    })
}

/// The fields of a line that starts at an offset, with their offsets.
fn fields(at: usize, line: &str) -> impl Iterator<Item = (usize, &str)> {
    line.split_whitespace().map(move |field| (at + (field.as_ptr() as usize - line.as_ptr() as usize), field))
}

/// A text for a message: short, and without characters that are not printed.
fn shown(text: &str) -> String {
    text.chars().take(viem_io::scanner::TEXT_LENGTH).flat_map(char::escape_debug).collect()
}
