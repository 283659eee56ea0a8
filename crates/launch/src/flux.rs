//! Flux: a file with the host of each rank, and a script that binds the ranks.

use super::error::LaunchError;
use super::files::Launch;
use super::job::Job;
use super::kind::{BindsTo, LauncherKind};
use super::script;
use super::shell::list_option;

pub(super) const KIND: LauncherKind = LauncherKind {
    name: "flux",
    about: "task map and binding script for Flux",
    files: &["hosts", "bind.sh"],
    needs_hosts: true,
    binds_to: BindsTo::Cpus,
    make,
    #[cfg(test)]
    read: script::read,
};

fn make(job: &Job<'_>) -> Result<Launch, LaunchError> {
    let (ranks, nodes) = (job.num_ranks(), job.used_nodes().len());
    let (hosts, bind) = (job.file(0), job.program(1));
    // The file only assigns ranks to nodes that the job has: Flux would give it any.
    let names = job.used_nodes().into_iter().map(|node| node.host.to_owned());
    let requires = if job.nodes.are_named() { list_option("--requires=host:", names) } else { String::new() };
    let line = format!(
        "flux run -N {nodes} -n {ranks} --exclusive{requires} --taskmap=hostfile:{hosts} -o cpu-affinity=off {bind} ./app"
    );
    Ok(Launch { files: vec![script::hosts(job, ""), script::of(job, "FLUX_TASK_RANK")], line: Some(line) })
}
