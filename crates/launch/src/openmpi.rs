//! Open MPI: a rankfile, `rank 3=host slot=PACKAGE:CORE` or `slot=PACKAGE:FIRST-LAST`, with logical numbers
//! of packages and cores. Semicolons separate several ranges: behind a comma, version 5 ignores a package, and
//! version 4 expects one.
//!
//! Both versions cut the names of hosts at the first dot, unless an option forbids it.

use std::collections::HashMap;
use std::fmt::Write;

use super::error::LaunchError;
use super::files::{Launch, LaunchFile};
use super::job::Job;
use super::kind::{BindsTo, LauncherKind};
use super::shell::hosts_option;
use viem::machine::CoreRange;

pub(super) const FILES: &[&str] = &["rankfile"];

pub(super) const KIND: LauncherKind = LauncherKind {
    name: "openmpi",
    about: "rankfile of Open MPI, up to version 4",
    files: FILES,
    needs_hosts: true,
    binds_to: BindsTo::Cores,
    make: |job| make(job, "--rankfile ", "--mca orte_keep_fqdn_hostnames 1"),
    #[cfg(test)]
    read: tests::read,
};

pub(super) fn make(job: &Job<'_>, option: &str, keep_names: &str) -> Result<Launch, LaunchError> {
    let mut content = String::new();
    let mut on_core = HashMap::new();
    for rank in job.ranks() {
        let (site, host) = (job.site(rank), job.host_of(rank));
        let all = site
            .cores
            .iter()
            .flat_map(|cores| (cores.first..=cores.last()).map(|core| (cores.package, core)));
        for (package, core) in all {
            if let Some(first) = on_core.insert((site.node, package, core), rank) {
                let (kind, host) = (job.kind, host.to_owned());
                return Err(LaunchError::SharedCore { kind, first, second: rank, core, host });
            }
        }
        let slots: Vec<String> = site.cores.iter().map(slot).collect();
        writeln!(content, "rank {rank}={host} slot={}", slots.join(";")).expect("strings have room");
    }
    let nodes = job.used_nodes();
    // Hosts without ranks count, too: the launcher may run on one of them.
    let keep_names =
        if share_first_label(job.nodes.hosts()) { format!(" {keep_names}") } else { String::new() };
    let hosts = nodes.iter().map(|node| format!("{}:{}", node.host, node.ranks.len()));
    let (ranks, hosts, file) = (job.num_ranks(), hosts_option("-H", hosts), job.file(0));
    let line = format!("mpirun{keep_names} -n {ranks}{hosts} {option}{file} --report-bindings ./app");
    Ok(Launch { files: vec![LaunchFile::text(content)], line: Some(line) })
}

/// Returns whether two hosts would have the same name if it ended at the first dot. Addresses are not cut.
fn share_first_label(hosts: &[String]) -> bool {
    let is_name = |host: &&String| host.parse::<std::net::IpAddr>().is_err();
    let mut labels: Vec<&str> =
        hosts.iter().filter(is_name).map(|host| host.split('.').next().unwrap_or(host)).collect();
    labels.sort_unstable();
    labels.windows(2).any(|pair| pair[0] == pair[1])
}

/// `0:3` or `0:0-3`.
fn slot(&CoreRange { package, first, count, .. }: &CoreRange) -> String {
    match count {
        0 | 1 => format!("{package}:{first}"),
        _ => format!("{package}:{first}-{}", first + count - 1),
    }
}

#[cfg(test)]
pub(super) use tests::read as read_rankfile;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{Cluster, Seats, numbers};
    use viem::machine::Location;

    pub(crate) fn read(lines: &[&str], _launch: &Launch, machine: &Cluster) -> Seats {
        let mut seats = Vec::new();
        for (rank, line) in lines.iter().enumerate() {
            let rest = line.strip_prefix(&format!("rank {rank}=")).unwrap();
            let (host, slots) = rest.split_once(" slot=").unwrap();
            let slot = |slot: &str| {
                let (package, cores) = slot.split_once(':').unwrap();
                let cores = numbers(cores, '-');
                let (first, last) = (cores[0], cores[cores.len() - 1]);
                CoreRange::new(package.parse().unwrap(), first, last + 1 - first)
            };
            let cores: Vec<CoreRange> = slots.split(';').map(slot).collect();
            let is_it = |pe: &&Location| machine.hosts[pe.node as usize] == host && pe.cores == cores;
            seats.push((host.to_string(), machine.pes.iter().find(is_it).unwrap().cpus.clone()));
        }
        seats
    }
}
