//! PyTorch: a script that gives a process its rank by its host and local rank, in the variables that `torchrun` sets.
//!
//! `torchrun` numbers ranks host by host, in an order of its own. The script replaces `RANK` by that of the mapping, whichever launcher has
//! started it, if only that starts as many processes on each host as it has ranks.

use super::error::LaunchError;
use super::files::{Launch, LaunchFile};
use super::job::Job;
use super::kind::{BindsTo, LauncherKind};
use super::shell::word;
use super::{script, template};

pub(super) const KIND: LauncherKind = LauncherKind {
    name: "torchrun",
    about: "script for torchrun that sets the rank of each GPU",
    files: &["rank.sh"],
    needs_hosts: true,
    binds_to: BindsTo::Nothing,
    make,
    #[cfg(test)]
    read: tests::read,
};

/// The line before the table.
pub(super) const TABLE: &str = "# The host, the GPU and the number of each rank:";

/// The first part of the script, before that line, with [places](template::fill) to fill. A host, the number of one of its GPUs and the rank
/// follow, one line per rank, by host and GPU.
const HEAD: &str = r#"#!/bin/sh
# Sets the rank of a process by its host and local rank and starts the program given; --count prints the number of
# ranks of this host. Written by viem for @RANKS@ ranks.
@LAUNCHED@
names="${NODE_NAME:-} $(uname -n)"
# Hydra passes the name that Slurm has for the first host on to all.
[ -n "${MPI_LOCALRANKID:-}" ] || names="$names ${SLURMD_NODENAME:-}"
names="$names localhost"
found=$(awk -v place="$local" -v names="$names" '
    function host_of(name) {
        split(name, part, ".")
        if (name in ranks) return name
        if (part[1] in ranks) return part[1]
        return name == part[1] && alike[name] == 1 ? full[name] : ""
    }
    NR < @FIRST@ { next }
    !($1 in ranks) { split($1, part, "."); alike[part[1]]++; full[part[1]] = $1 }
    { line[$1, ranks[$1]++] = $2 " " $3 }
    END {
        count = split(names, name, " ")
        for (i = 1; i <= count && host == ""; i++) host = host_of(name[i])
        print ranks[host] + 0, line[host, place]
    }' "$0")
read -r count gpu rank <<END
$found
END
if [ "$count" = 0 ]; then
    echo "$0: the job was mapped to other hosts than this one:$names" >&2
    exit 64
fi
if [ "$1" = --count ]; then
    echo "$count"
    exit
fi
case $local in
'' | *[!0-9]*)
    echo "$0: no launcher has set a local rank; start it with the line that viem printed" >&2
    exit 64
    ;;
esac
if [ -z "$rank" ] || [ "${LOCAL_WORLD_SIZE:-$count}" != "$count" ]; then
    echo "$0: this host has $count ranks, but ${LOCAL_WORLD_SIZE:-more} processes" >&2
    exit 64
fi
export RANK="$rank" WORLD_SIZE=@RANKS@ LOCAL_RANK="$gpu" LOCAL_WORLD_SIZE="$count"
# Where torchrun does not, rank 0 listens.
if [ "${TORCHELASTIC_USE_AGENT_STORE:-}" != True ]; then
    export MASTER_ADDR=@ADDRESS@ MASTER_PORT="${MASTER_PORT:-@PORT@}"
fi
exec "$@"
"#;

/// The environment variables in which launchers other than Slurm pass the rank of a process on its host.
const LOCAL_RANKS: [&str; 5] = [
    "LOCAL_RANK",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "MPI_LOCALRANKID",
    "PALS_LOCAL_RANKID",
    "FLUX_TASK_LOCAL_ID",
];

/// The port at which ranks meet.
const PORT: &str = "29500";

fn make(job: &Job<'_>) -> Result<Launch, LaunchError> {
    let numbers = job.pe_numbers()?;
    let mut nodes = job.used_nodes();
    let mut table = String::new();
    for node in &mut nodes {
        node.ranks.sort_by_key(|&rank| numbers[rank as usize]);
        for &rank in &node.ranks {
            table += &format!("{} {} {rank}\n", node.host, numbers[rank as usize]);
        }
    }
    let master = job.host_of(0);
    let launched = script::launched("local", &LOCAL_RANKS, "SLURM_LOCALID");
    let (ranks, address) = (job.num_ranks().to_string(), word(master));
    let head = |first: &str| {
        let values = [
            ("LAUNCHED", launched.as_str()),
            ("FIRST", first),
            ("RANKS", &ranks),
            ("ADDRESS", &address),
            ("PORT", PORT),
        ];
        template::fill(HEAD, &values)
    };
    // The line before the table follows.
    let first = head("").lines().count() + 2;
    let head = head(&first.to_string());
    let content = format!("{head}{TABLE}\n{table}");
    let (script, count) = (job.program(0), nodes[0].ranks.len());
    let are_alike = nodes.iter().all(|node| node.ranks.len() == count);
    let each = if are_alike { count.to_string() } else { format!("$({script} --count)") };
    let line = format!(
        "torchrun --nnodes={} --nproc-per-node={each} --rdzv-backend=c10d --rdzv-endpoint={address}:{PORT} --no-python {script} ./app",
        nodes.len()
    );
    Ok(Launch { files: vec![LaunchFile { content, is_program: true }], line: Some(line) })
}

#[cfg(test)]
mod tests {
    use crate::Launch;
    use crate::tests::{Cluster, Seats, by_rank};

    pub(crate) fn read(_lines: &[&str], launch: &Launch, machine: &Cluster) -> Seats {
        let script = &launch.files[0].content;
        let table = script.split("# The host, the GPU and the number of each rank:\n").nth(1).unwrap();
        let rank = |line: &str| {
            let words: Vec<&str> = line.split(' ').collect();
            (words[2].parse().unwrap(), words[0].to_owned(), words[1].parse().unwrap())
        };
        by_rank(table.lines().map(rank), machine)
    }
}
