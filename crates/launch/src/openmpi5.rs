//! Open MPI from version 5 on: the [rankfile of earlier versions](super::openmpi), by another option.

use super::kind::{BindsTo, LauncherKind};
use super::openmpi;

pub(super) const KIND: LauncherKind = LauncherKind {
    name: "openmpi5",
    about: "rankfile of Open MPI 5",
    files: openmpi::FILES,
    needs_hosts: true,
    binds_to: BindsTo::Cores,
    make: |job| openmpi::make(job, "--map-by rankfile:file=", "--prtemca prte_keep_fqdn_hostnames 1"),
    #[cfg(test)]
    read: openmpi::read_rankfile,
};
