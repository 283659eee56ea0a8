//! The numbers of PEs only, for other launchers.

use super::error::LaunchError;
use super::files::{Launch, LaunchFile};
use super::job::Job;
use super::kind::{BindsTo, LauncherKind};

pub(super) const KIND: LauncherKind = LauncherKind {
    name: "plain",
    about: "the processing element of each rank, by its number in the whole machine",
    files: &["pes"],
    needs_hosts: false,
    binds_to: BindsTo::Nothing,
    make,
    #[cfg(test)]
    read: tests::read,
};

fn make(job: &Job<'_>) -> Result<Launch, LaunchError> {
    let pes = job.ranks().map(|rank| job.machine.number(job.mapping.pe_of(rank)));
    let content = pes.map(|pe| format!("{pe}\n")).collect();
    Ok(Launch { files: vec![LaunchFile::text(content)], line: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{Cluster, Seats, numbers, seats};
    use viem::Mapping;

    pub(crate) fn read(lines: &[&str], _launch: &Launch, machine: &Cluster) -> Seats {
        let mapping = Mapping::on(machine, numbers(&lines.join(","), ',')).unwrap();
        seats(machine, &mapping)
    }
}
