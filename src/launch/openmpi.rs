//! Open MPI: a rankfile, `rank 3=host slot=PACKAGE:CORE` or `slot=PACKAGE:FIRST-LAST`, with logical numbers
//! of packages and cores.

use std::collections::HashMap;
use std::fmt::Write;

use crate::launch::{Job, Launch, LaunchError, LaunchFile, LauncherKind, hosts_option};

const FILES: &[&str] = &["rankfile"];

pub(super) const FOUR: LauncherKind = LauncherKind {
    name: "openmpi",
    about: "rankfile of Open MPI, up to version 4",
    files: FILES,
    needs_hosts: true,
    make: |job| make(job, "--rankfile "),
};

pub(super) const FIVE: LauncherKind = LauncherKind {
    name: "openmpi5",
    about: "rankfile of Open MPI 5",
    files: FILES,
    needs_hosts: true,
    make: |job| make(job, "--map-by rankfile:file="),
};

fn make(job: &Job<'_>, option: &str) -> Result<Launch, LaunchError> {
    let mut content = String::new();
    let mut on_core = HashMap::new();
    for rank in job.ranks() {
        let site = job.site(rank);
        let (host, last) = (job.host_of(rank), site.core + site.num_cores.saturating_sub(1));
        for core in site.core..=last {
            if let Some(first) = on_core.insert((site.node, site.package, core), rank) {
                let (kind, host) = (job.kind, host.to_owned());
                return Err(LaunchError::SharedCore { kind, first, second: rank, core, host });
            }
        }
        let cores = if last > site.core { format!("{}-{last}", site.core) } else { site.core.to_string() };
        writeln!(content, "rank {rank}={host} slot={}:{cores}", site.package).expect("strings have room");
    }
    let hosts = job.used_nodes().into_iter().map(|node| format!("{}:{}", node.host, node.ranks.len()));
    let (ranks, hosts, file) = (job.num_ranks(), hosts_option("-H", hosts), job.file(0));
    let line = format!("mpirun -n {ranks}{hosts} {option}{file} --report-bindings ./app");
    Ok(Launch { files: vec![LaunchFile::text(content)], line: Some(line) })
}
