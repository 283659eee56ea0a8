//! Clusters: `slurm`, `hwloc:node.xml,hosts=hosts.txt`, `hosts:hosts.txt,node=16:2`.
//!
//! Behind the colon stands what the kind needs, then options with commas between them: `hosts=`, `node=`, `node[n1,n2]=`, `ranks=`,
//! `cores=`, `topology=`, `group=`.

mod batch;
mod command;
mod described;
mod hosts;
mod hwloc;
mod inside;
mod slurm;

pub(super) use hosts::HOSTS;
pub(super) use hwloc::HWLOC;
pub(super) use slurm::SLURM;

use std::path::{Path, PathBuf};

use crate::files::hwloc::Object;
use crate::files::topology::{self, Topology};
use crate::files::{hostlist, latency};
use crate::nodes::{Cluster, ClusterError, Draft, DraftNode, Unit};
use crate::spec::{PeKind, Request, SpecError};
use viem::machine::Machine;
use viem_io::Source;

/// The option that may name the hosts that it is about: `node[n1,n2]=16:2`.
const NODE: &str = "node";

/// What stands behind the colon: what comes first, and the options.
struct Parts<'a> {
    first: &'a str,
    options: Vec<PartOption<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PartOption<'a> {
    key: &'static str,
    /// What stands in brackets behind the key.
    hosts: Option<&'a str>,
    value: &'a str,
}

/// Where an option begins and its value begins.
#[derive(Clone, Copy)]
struct OptionStart<'a> {
    at: usize,
    value_at: usize,
    key: &'static str,
    hosts: Option<&'a str>,
}

impl<'a> OptionStart<'a> {
    /// The option of this key that begins at an offset, if one does.
    fn find(rest: &'a str, at: usize, key: &'static str) -> Option<Self> {
        let behind = rest[at..].strip_prefix(key)?;
        let (hosts, behind) = match behind.strip_prefix('[') {
            Some(list) if key == NODE => {
                let (hosts, behind) = list.split_at(end_of_list(list)?);
                (Some(hosts), &behind[1..])
            }
            _ => (None, behind),
        };
        let value = behind.strip_prefix('=')?;
        Some(Self { at, value_at: rest.len() - value.len(), key, hosts })
    }
}

/// Where the bracket stands that closes a list of hosts. There may be brackets in the list.
fn end_of_list(list: &str) -> Option<usize> {
    let mut depth = 0usize;
    list.char_indices().find_map(|(at, c)| {
        match c {
            '[' => depth += 1,
            ']' if depth == 0 => return Some(at),
            ']' => depth -= 1,
            _ => {}
        }
        None
    })
}

impl<'a> Parts<'a> {
    /// Options begin where `,key=` of one of the keys stands, or `key=` at the start.
    fn new(rest: &'a str, keys: &[&'static str]) -> Self {
        let at = std::iter::once(0).chain(rest.match_indices(',').map(|(at, _)| at + 1));
        let start = |at| keys.iter().find_map(|&key| OptionStart::find(rest, at, key));
        let mut starts: Vec<OptionStart<'_>> = Vec::new();
        for start in at.filter_map(start) {
            // Not in the brackets of the last one.
            if starts.last().is_none_or(|last| last.value_at <= start.at) {
                starts.push(start);
            }
        }
        let end_of = |index: usize| starts.get(index).map_or(rest.len(), |start| start.at.saturating_sub(1));
        let option = |(index, &OptionStart { value_at, key, hosts, .. }): (usize, &OptionStart<'a>)| {
            PartOption { key, hosts, value: &rest[value_at..end_of(index + 1).max(value_at)] }
        };
        Self { first: &rest[..end_of(0)], options: starts.iter().enumerate().map(option).collect() }
    }

    /// The value of an option about all hosts.
    fn option(&self, key: &str) -> Option<&'a str> {
        self.options
            .iter()
            .find(|option| option.key == key && option.hosts.is_none())
            .map(|option| option.value)
    }

    /// The files that descriptions of nodes are in.
    fn files_of_nodes(&self) -> impl Iterator<Item = PathBuf> {
        self.options
            .iter()
            .filter(|option| option.key == NODE)
            .filter_map(|option| inside::read_for(option.value))
    }

    /// The file of an option, unless it is none.
    fn file(&self, key: &str) -> Option<&'a Path> {
        self.option(key).map(Path::new)
    }

    /// The file with the topology; `none` says that there is none.
    fn topology(&self) -> Option<&'a Path> {
        self.file("topology").filter(|path| path.as_os_str() != "none")
    }

    /// The files with hosts, nodes and topology, if the hosts are those that this text stands for.
    fn files(&self, hosts: Option<&str>) -> Vec<PathBuf> {
        let topology = self.topology().map(Path::to_path_buf);
        hosts.and_then(batch::read_for).into_iter().chain(self.files_of_nodes()).chain(topology).collect()
    }
}

impl Request<'_> {
    fn unit(&self) -> Unit {
        match self.pe {
            // A GPU is read as a core.
            PeKind::Core | PeKind::Gpu => Unit::Core,
            PeKind::Thread => Unit::Pu,
        }
    }

    fn refused(&self, error: ClusterError) -> SpecError {
        SpecError::Cluster { spec: self.spec.to_owned(), source: Box::new(error) }
    }

    /// A draft of these nodes, all of them alike to the network.
    fn draft(&self, nodes: Vec<DraftNode>) -> Draft<'_> {
        Draft {
            nodes,
            insides: Vec::new(),
            unit: self.unit(),
            topology: Topology::Flat,
            distances: self.distances,
            latencies: None,
            slurm_job: None,
            notes: Vec::new(),
        }
    }

    /// Gives the nodes of a draft the ranks, and the ranks the cores, that the options say. Slots are no more ranks than there are cores for.
    fn set_ranks(&self, draft: &mut Draft<'_>, parts: &Parts<'_>) -> Result<(), SpecError> {
        if let Some(text) = parts.option("ranks") {
            let or = ", or one for each node, such as 4(x2),3";
            let bad = || ClusterError::BadNumber { text: text.to_owned(), what: "ranks", or };
            let counts = hostlist::read_counts("ranks", text).map_err(|_| self.refused(bad()))?;
            let hosts = draft.nodes.len();
            if ![1, hosts].contains(&counts.len()) {
                let (name, found) = (format!("ranks={text}"), counts.len());
                return Err(self.refused(ClusterError::Counts { name, found, hosts }));
            }
            draft
                .nodes
                .iter_mut()
                .zip(counts.into_iter().cycle())
                .for_each(|(node, ranks)| node.ranks = Some(ranks));
        }
        if let Some(text) = parts.option("cores") {
            let cores = text.parse().ok().filter(|&cores: &u32| cores > 0);
            let bad = || ClusterError::BadNumber { text: text.to_owned(), what: "cores", or: "" };
            let cores = cores.ok_or_else(|| self.refused(bad()))?;
            let usable: Vec<u32> = draft.nodes.iter().map(|node| inside::usable(draft, node)).collect();
            for (index, node) in draft.nodes.iter_mut().enumerate() {
                // Files and batch systems often give a slot for each core.
                let most = usable[index] / cores;
                node.slots = node.slots.map(|slots| slots.min(most));
                node.cores_per_rank = Some(cores);
            }
        }
        Ok(())
    }

    /// The machine of a draft, once latencies are read if there are some. Where PEs are GPUs, so are the cores of nodes that are not described by
    /// their GPUs. Hosts from a file may be those of a job of Slurm, too.
    fn cluster(&self, mut draft: Draft<'_>) -> Result<Box<dyn Machine>, SpecError> {
        let hosts: Option<Vec<&str>> = draft.nodes.iter().map(|node| node.host.as_deref()).collect();
        if draft.slurm_job.is_none() {
            draft.slurm_job = hosts.and_then(|hosts| slurm::job_of(&hosts));
        }
        if let Some(path) = self.latency {
            draft.latencies = Some(latency::read(Source::open(path)?)?);
        }
        if self.pe == PeKind::Gpu {
            draft.insides = draft.insides.into_iter().map(Object::of_gpus).collect();
        }
        Ok(Box::new(Cluster::new(draft).map_err(|error| self.refused(error))?))
    }
}

fn read_topology(path: Option<&Path>) -> Result<Topology, SpecError> {
    path.map_or(Ok(Topology::Flat), |path| Ok(topology::read(Source::open(path)?)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_stand_behind_what_comes_first() {
        let keys = ["hosts", "node"];
        let parts = Parts::new("a,b.xml,hosts=c,d,node=pack:2 core:4", &keys);
        assert_eq!(
            (parts.first, parts.option("hosts"), parts.option("node")),
            ("a,b.xml", Some("c,d"), Some("pack:2 core:4"))
        );
        let parts = Parts::new("node=", &keys);
        assert_eq!((parts.first, parts.option("node"), parts.option("hosts")), ("", Some(""), None));
        let parts = Parts::new("x", &keys);
        assert_eq!((parts.first, parts.options.len()), ("x", 0));
    }

    #[test]
    fn a_description_may_be_of_some_hosts() {
        let keys = ["node", "ranks"];
        let parts =
            Parts::new("a.txt,node[old[1-2,5],x,ranks=2]=pack:2 core:4,node=16:2,ranks=4(x2),3", &keys);
        let hosts: Vec<_> =
            parts.options.iter().map(|option| (option.key, option.hosts, option.value)).collect();
        let some = ("node", Some("old[1-2,5],x,ranks=2"), "pack:2 core:4");
        assert_eq!(hosts, [some, ("node", None, "16:2"), ("ranks", None, "4(x2),3")]);
        assert_eq!((parts.first, parts.option("node")), ("a.txt", Some("16:2")));
        // A bracket that is not closed, and brackets of what has none, are no options.
        for text in ["a.txt,node[old=16:2", "a.txt,ranks[old]=16", "a.txt,node[old]16:2"] {
            assert_eq!((Parts::new(text, &keys).first, Parts::new(text, &keys).options.len()), (text, 0));
        }
    }
}
