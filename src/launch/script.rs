//! A script that binds a rank to its CPUs and starts the program, for launchers that cannot set the CPUs of
//! each rank.

use crate::launch::{Job, LaunchFile, cpu_list};

/// The environment variables in which launchers pass the rank of a process.
const VARIABLES: [&str; 5] =
    ["SLURM_PROCID", "PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "FLUX_TASK_RANK"];

/// The first part of the script. The CPUs follow, one line per rank.
const HEAD: &str = r#"#!/bin/sh
# Binds a rank to its CPUs and starts the program given. Written by viem for RANKS ranks.
rank=VARIABLE
case $rank in
'' | *[!0-9]*)
    echo "$0: no launcher has set a rank; start it with the line that viem printed" >&2
    exit 64
    ;;
esac
cpus=$(sed -n "$((rank + FIRST)){p;q;}" "$0")
if [ -z "$cpus" ]; then
    echo "$0: this is rank $rank, but the job was mapped for RANKS ranks" >&2
    exit 64
fi
exec taskset -c "$cpus" "$@"
# The CPUs of each rank:
"#;

/// The script for a job whose launcher sets the variable `own`. If the job runs inside another launcher, the
/// variables of both are set.
pub(super) fn of(job: &Job<'_>, own: &str) -> LaunchFile {
    let others = VARIABLES.iter().rev().filter(|&&variable| variable != own);
    let fallback = others.fold(String::new(), |rest, variable| format!("${{{variable}:-{rest}}}"));
    let first = HEAD.lines().count() + 1;
    let mut content = HEAD
        .replace("VARIABLE", &format!("${{{own}:-{fallback}}}"))
        .replace("FIRST", &first.to_string())
        .replace("RANKS", &job.num_ranks().to_string());
    for rank in job.ranks() {
        content += &cpu_list(job.site(rank).cpus, ",");
        content.push('\n');
    }
    LaunchFile { content, is_program: true }
}

/// A file with the host of each rank, one per line, followed by `suffix`.
pub(super) fn hosts(job: &Job<'_>, suffix: &str) -> LaunchFile {
    LaunchFile::text(job.ranks().map(|rank| format!("{}{suffix}\n", job.host_of(rank))).collect())
}
