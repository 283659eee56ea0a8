//! Flux: a file with the host of each rank, and a script that binds the ranks.

use crate::launch::{Job, Launch, LaunchError, LauncherKind, script};

pub(super) const KIND: LauncherKind = LauncherKind {
    name: "flux",
    about: "task map and binding script for Flux",
    files: &["hosts", "bind.sh"],
    needs_hosts: true,
    make,
};

fn make(job: &Job<'_>) -> Result<Launch, LaunchError> {
    let (ranks, nodes) = (job.num_ranks(), job.used_nodes().len());
    let (hosts, bind) = (job.file(0), job.program(1));
    let line = format!(
        "flux run -N {nodes} -n {ranks} --exclusive --taskmap=hostfile:{hosts} -o cpu-affinity=off {bind} ./app"
    );
    Ok(Launch { files: vec![script::hosts(job, ""), script::of(job, "FLUX_TASK_RANK")], line: Some(line) })
}
