//! Scripts that do for a rank what its launcher cannot, and start the program: bind it to its CPUs, or order the GPUs of its host.

use crate::launch::{Job, LaunchFile, cpu_list, template};

/// The environment variables in which launchers pass the rank of a process.
const VARIABLES: [&str; 5] =
    ["SLURM_PROCID", "PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "FLUX_TASK_RANK"];

/// The first part of a script, with [places](template::fill) to fill. The lines of the ranks follow.
const HEAD: &str = r#"#!/bin/sh
# @ABOUT@ and starts the program given. Written by viem for @RANKS@ ranks.
rank=@RANK@
case $rank in
'' | *[!0-9]*)
    echo "$0: no launcher has set a rank; start it with the line that viem printed" >&2
    exit 64
    ;;
esac
own=$(sed -n "$((rank + @FIRST@)){p;q;}" "$0")
if [ -z "$own" ]; then
    echo "$0: this is rank $rank, but the job was mapped for @RANKS@ ranks" >&2
    exit 64
fi
@START@
# The @WHAT@ of each rank:
"#;

/// What a script does with the line of a rank.
struct Action {
    /// What it is for.
    about: &'static str,
    /// What is in the line.
    what: &'static str,
    /// The commands that start the program; the line is `$own`.
    start: &'static str,
}

const BIND: Action =
    Action { about: "Binds a rank to its CPUs", what: "CPUs", start: r#"exec taskset -c "$own" "$@""# };

const ORDER_GPUS: Action = Action {
    about: "Lists the GPUs of a host in the order of its ranks",
    what: "GPUs of the host",
    // A list that is there already has the GPUs of the job.
    start: r#"CUDA_VISIBLE_DEVICES=$(echo "$own" | awk -F, -v all="${CUDA_VISIBLE_DEVICES:-}" '{
    count = split(all, gpu, ",")
    for (i = 1; i <= NF; i++) printf "%s%s", (i > 1 ? "," : ""), (count ? gpu[$i + 1] : $i)
}')
export CUDA_VISIBLE_DEVICES
exec "$@""#,
};

/// The script that binds the ranks of a job whose launcher sets the variable `own`. If the job runs inside another launcher, the
/// variables of both are set.
pub(super) fn of(job: &Job<'_>, own: &str) -> LaunchFile {
    let cpus = job.ranks().map(|rank| cpu_list(job.site(rank).cpus, ","));
    script(job, own, &BIND, cpus)
}

/// The same with a script that lists the GPUs of the host of each rank as given.
pub(super) fn of_gpus(job: &Job<'_>, own: &str, gpus: &[String]) -> LaunchFile {
    script(job, own, &ORDER_GPUS, gpus.iter().cloned())
}

fn script(job: &Job<'_>, own: &str, action: &Action, lines: impl Iterator<Item = String>) -> LaunchFile {
    let others = VARIABLES.iter().rev().filter(|&&variable| variable != own);
    let fallback = others.fold(String::new(), |rest, variable| format!("${{{variable}:-{rest}}}"));
    // The line of `@START@` becomes those of the action.
    let first = HEAD.lines().count() + action.start.lines().count();
    let mut content = template::fill(
        HEAD,
        &[
            ("ABOUT", action.about),
            ("WHAT", action.what),
            ("START", action.start),
            ("RANK", &format!("${{{own}:-{fallback}}}")),
            ("FIRST", &first.to_string()),
            ("RANKS", &job.num_ranks().to_string()),
        ],
    );
    lines.for_each(|line| content += &(line + "\n"));
    LaunchFile { content, is_program: true }
}

/// A file with the host of each rank, one per line, followed by `suffix`.
pub(super) fn hosts(job: &Job<'_>, suffix: &str) -> LaunchFile {
    LaunchFile::text(job.ranks().map(|rank| format!("{}{suffix}\n", job.host_of(rank))).collect())
}
