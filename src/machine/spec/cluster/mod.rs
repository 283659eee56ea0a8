//! Clusters: `slurm`, `hwloc:node.xml,hosts=hosts.txt`, `hosts:hosts.txt,node=16:2`.
//!
//! Behind the colon stands what the kind needs, then options with commas between them: `hosts=`, `node=`, `topology=`, `group=`.

mod batch;
mod hosts;
mod hwloc;
mod inside;
mod slurm;

pub(super) use hosts::HOSTS;
pub(super) use hwloc::HWLOC;
pub(super) use slurm::SLURM;

use std::path::Path;

use crate::io::Source;
use crate::io::cluster::latency;
use crate::io::cluster::topology::{self, Topology};
use crate::machine::Machine;
use crate::machine::cluster::{Cluster, ClusterError, Draft, DraftNode, Unit};
use crate::machine::spec::{Request, SpecError};

/// What stands behind the colon: what comes first, and the options.
struct Parts<'a> {
    first: &'a str,
    options: Vec<(&'static str, &'a str)>,
}

impl<'a> Parts<'a> {
    /// Options begin where `,key=` of one of the keys stands, or `key=` at the start.
    fn new(rest: &'a str, keys: &[&'static str]) -> Self {
        let mut starts: Vec<(usize, usize, &'static str)> = Vec::new();
        for &key in keys {
            let named = format!("{key}=");
            for (at, found) in rest.match_indices(&named) {
                if at == 0 || rest[..at].ends_with(',') {
                    starts.push((at, at + found.len(), key));
                }
            }
        }
        starts.sort_unstable();
        let end_of = |index: usize| starts.get(index).map_or(rest.len(), |&(at, ..)| at.saturating_sub(1));
        let options = starts
            .iter()
            .enumerate()
            .map(|(index, &(_, value, key))| (key, &rest[value..end_of(index + 1).max(value)]));
        Self { first: &rest[..end_of(0)], options: options.collect() }
    }

    fn option(&self, key: &str) -> Option<&'a str> {
        self.options.iter().find(|(name, _)| *name == key).map(|&(_, value)| value)
    }

    /// The file of an option, unless it is none.
    fn file(&self, key: &str) -> Option<&'a Path> {
        self.option(key).map(Path::new)
    }

    /// The file with the topology; `none` says that there is none.
    fn topology(&self) -> Option<&'a Path> {
        self.file("topology").filter(|path| path.as_os_str() != "none")
    }
}

impl Request<'_> {
    fn unit(&self) -> Unit {
        if self.count_pus { Unit::Pu } else { Unit::Core }
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
            bundle: 1,
            topology: Topology::Flat,
            distances: self.distances,
            latencies: None,
            notes: Vec::new(),
        }
    }

    /// The machine of a draft, once latencies are read if there are some.
    fn cluster(&self, mut draft: Draft<'_>) -> Result<Box<dyn Machine>, SpecError> {
        if let Some(path) = self.latency {
            draft.latencies = Some(latency::read(Source::open(path)?)?);
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
}
