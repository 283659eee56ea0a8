//! Clusters: `slurm`, `hwloc:node.xml,hosts=hosts.txt`, `hosts:hosts.txt,node=16:2`.
//!
//! The colon is followed by what the kind needs, then by options with commas between them: `hosts=`, `node=`, `node[n1,n2]=`, `ranks=`,
//! `cores=`, `topology=`, `group=`.

mod batch;
mod command;
mod described;
mod hosts;
mod hwloc;
mod inside;
mod parts;
mod request;
mod slurm;

pub(super) use hosts::HOSTS;
pub(super) use hwloc::HWLOC;
pub(super) use slurm::SLURM;
