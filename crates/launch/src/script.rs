//! Scripts that do for a rank what its launcher cannot, and start the program: bind it to its CPUs, or order the GPUs of its host.

use super::files::LaunchFile;
use super::job::Job;
use super::shell::cpu_list;
use super::template;

/// The environment variables in which launchers other than Slurm pass the rank of a process. Those that start daemons by a resource manager
/// come before the resource managers, whose variables their ranks inherit from the daemons.
const RANKS: [&str; 5] = ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "PALS_RANKID", "PMIX_RANK", "FLUX_TASK_RANK"];

/// The variable of Slurm.
pub(super) const SLURM_RANK: &str = "SLURM_PROCID";

/// The lines of a script that set a variable of the shell to what the launcher says, with [places](template::fill) to fill. `mpirun` in a job of
/// Slurm starts daemons by `srun`, and ranks inherit the variables of these: they count where no other launcher says anything, or where `srun` has
/// started the very process. The batch script has no step or a special number, as an interactive step has: below 0 from Slurm 26.05 on.
const LAUNCHED: &str = r#"case ${SLURM_STEP_ID:-${SLURM_JOB_ID:+batch}} in
batch | -* | 42949?????) slurm= ;;
*) slurm=${@SLURM@:-} ;;
esac
@VARIABLE@=@VALUE@
[ "${SLURM_TASK_PID:-}" != $$ ] || @VARIABLE@=${slurm:-$@VARIABLE@}"#;

/// The first part of a script, with [places](template::fill) to fill. The lines of the ranks follow.
const HEAD: &str = r#"#!/bin/sh
# @ABOUT@ and starts the program given. Written by viem for @RANKS@ ranks.
@LAUNCHED@
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
@TABLE@
"#;

/// The action of a script for the line of a rank.
struct Action {
    /// A description.
    about: &'static str,
    /// The line before those of the ranks.
    table: &'static str,
    /// The commands that start the program; the line is `$own`.
    start: &'static str,
}

/// The line before the CPUs of the ranks.
pub(super) const CPUS: &str = "# The CPUs of each rank:";

const BIND: Action =
    Action { about: "Binds a rank to its CPUs", table: CPUS, start: r#"exec taskset -c "$own" "$@""# };

const ORDER_GPUS: Action = Action {
    about: "Lists the GPUs of a host in the order of its ranks",
    table: "# The GPUs of the host of each rank:",
    // A list that is there already has the GPUs of the job.
    start: r#"CUDA_VISIBLE_DEVICES=$(echo "$own" | awk -F, -v all="${CUDA_VISIBLE_DEVICES:-}" '{
    count = split(all, gpu, ",")
    for (i = 1; i <= NF; i++) printf "%s%s", (i > 1 ? "," : ""), (count ? gpu[$i + 1] : $i)
}')
export CUDA_VISIBLE_DEVICES
exec "$@""#,
};

/// The script that binds the ranks of a job. `own` is the variable of its launcher, which comes first unless it is that of Slurm.
pub(super) fn of(job: &Job<'_>, own: &str) -> LaunchFile {
    let cpus = job.ranks().map(|rank| cpu_list(job.site(rank).cpus, ","));
    script(job, own, &BIND, cpus)
}

/// The same with a script that lists the GPUs of the host of each rank as given.
pub(super) fn of_gpus(job: &Job<'_>, own: &str, gpus: &[String]) -> LaunchFile {
    script(job, own, &ORDER_GPUS, gpus.iter().cloned())
}

fn script(job: &Job<'_>, own: &str, action: &Action, lines: impl Iterator<Item = String>) -> LaunchFile {
    let mut names = RANKS;
    names.sort_by_key(|&name| name != own);
    let (launched, ranks) = (launched("rank", &names, SLURM_RANK), job.num_ranks().to_string());
    let head = |first: &str| {
        let values = [
            ("ABOUT", action.about),
            ("TABLE", action.table),
            ("START", action.start),
            ("LAUNCHED", &launched),
            ("FIRST", first),
            ("RANKS", &ranks),
        ];
        template::fill(HEAD, &values)
    };
    let first = head("").lines().count() + 1;
    let mut content = head(&first.to_string());
    lines.for_each(|line| content += &(line + "\n"));
    LaunchFile { content, is_program: true }
}

/// The lines of a script that set `variable` to what the first of the variables `names` says that is set, or else to that of Slurm.
pub(super) fn launched(variable: &str, names: &[&str], of_slurm: &str) -> String {
    let value = names.iter().rev().fold("$slurm".to_owned(), |rest, name| format!("${{{name}:-{rest}}}"));
    template::fill(LAUNCHED, &[("SLURM", of_slurm), ("VARIABLE", variable), ("VALUE", &value)])
}

/// A file with the host of each rank, one per line, followed by `suffix`.
pub(super) fn hosts(job: &Job<'_>, suffix: &str) -> LaunchFile {
    LaunchFile::text(job.ranks().map(|rank| format!("{}{suffix}\n", job.host_of(rank))).collect())
}

#[cfg(test)]
pub(super) use tests::read;

#[cfg(test)]
mod tests {
    use crate::Launch;
    use crate::tests::{Cluster, Seats, numbers};

    pub(crate) fn read(lines: &[&str], launch: &Launch, _machine: &Cluster) -> Seats {
        let script: Vec<&str> = launch.files[1].content.lines().collect();
        let cpus = script[script.len() - lines.len()..].iter().map(|line| numbers(line, ','));
        lines.iter().map(|host| host.to_string()).zip(cpus).collect()
    }
}
