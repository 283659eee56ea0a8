//! Output of `scontrol show` about jobs, nodes and partitions of Slurm: settings `Key=value` with blanks between them.
//!
//! A job has a line for nodes of which it has the same, and the CPUs and GPUs that it has there:
//! `Nodes=n[1-2] CPU_IDs=0-1,4-5 Mem=0 GRES=gpu:a100:2(IDX:0-1)`. These CPUs are numbered socket by socket, core by core, thread by thread,
//! whatever the operating system calls them.
//!
//! Only what is asked for is read; a value that is not understood is as if it were not there.

use std::cell::Cell;

use super::{MOST_HOSTS, hostlist};

/// CPUs of a node at most.
const MOST_CPUS: u32 = 1 << 16;

/// A job, or one group of a heterogeneous one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct JobRecord {
    pub(crate) id: u32,
    /// The list of its nodes.
    pub(crate) nodes: Option<String>,
    /// All its tasks; as many as nodes if none were asked for.
    pub(crate) tasks: Option<u32>,
    /// Tasks of a node, if they were asked for.
    pub(crate) tasks_per_node: Option<u32>,
    pub(crate) cpus_per_task: Option<u32>,
    pub(crate) shares: Vec<Share>,
}

/// The part of some nodes that a job has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) hosts: Vec<String>,
    /// The CPUs by the numbers of Slurm, ascending.
    pub(crate) cpus: Vec<u32>,
    pub(crate) gpus: u32,
}

/// The size of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Hardware {
    pub(crate) sockets: u32,
    pub(crate) cores_per_socket: u32,
    pub(crate) threads_per_core: u32,
}

impl Hardware {
    pub(crate) fn cores(self) -> u32 {
        self.sockets * self.cores_per_socket
    }

    pub(crate) fn threads(self) -> u32 {
        self.cores() * self.threads_per_core
    }
}

/// The jobs in what `scontrol show job -d` prints.
pub(crate) fn jobs(text: &str) -> Vec<JobRecord> {
    let room = Cell::new(MOST_HOSTS);
    let mut jobs: Vec<JobRecord> = Vec::new();
    for line in text.lines() {
        // Names and comments may hold anything, so each setting counts only in the line that begins as its line does.
        match (first_key(line), jobs.last_mut()) {
            ("JobId", _) => {
                jobs.extend(number(line, "JobId").map(|id| JobRecord { id, ..JobRecord::default() }));
            }
            ("NodeList", Some(job)) => {
                job.nodes = value(line, "NodeList").filter(|&list| list != "(null)").map(str::to_owned);
            }
            ("NumNodes", Some(job)) => {
                (job.tasks, job.cpus_per_task) = (number(line, "NumTasks"), number(line, "CPUs/Task"));
            }
            ("Socks/Node", Some(job)) => {
                let per_node = value(line, "NtasksPerN:B:S:C").and_then(|text| text.split(':').next());
                job.tasks_per_node =
                    per_node.and_then(|text| text.parse().ok()).filter(|&tasks: &u32| tasks > 0);
            }
            ("Nodes", Some(job)) => job.shares.extend(share(line, &room)),
            _ => {}
        }
    }
    jobs
}

/// The names and sizes of the nodes in what `scontrol show node` prints.
pub(crate) fn nodes(text: &str) -> Vec<(String, Hardware)> {
    let mut nodes = Vec::new();
    let mut name: Option<&str> = None;
    let (mut sockets, mut cores_per_socket) = (None, None);
    for line in text.lines() {
        match first_key(line) {
            "NodeName" => {
                name = value(line, "NodeName");
                (sockets, cores_per_socket) = (None, number(line, "CoresPerSocket"));
            }
            "RealMemory" => sockets = number(line, "Sockets"),
            "State" => {
                let sizes = (sockets, cores_per_socket, number(line, "ThreadsPerCore"));
                if let (Some(name), (Some(sockets), Some(cores_per_socket), Some(threads_per_core))) =
                    (name, sizes)
                {
                    let hardware = Hardware { sockets, cores_per_socket, threads_per_core };
                    nodes.extend(is_possible(hardware).then(|| (name.to_owned(), hardware)));
                }
            }
            _ => {}
        }
    }
    nodes
}

/// The name of the topology of a partition in what `scontrol show partition` prints, if it has one of its own.
pub(crate) fn topology_of_partition(text: &str) -> Option<String> {
    let name = text.lines().find_map(|line| value(line, "Topology"))?;
    Some(name.to_owned()).filter(|name| name != "(null)" && !name.is_empty())
}

fn is_possible(hardware: Hardware) -> bool {
    let Hardware { sockets, cores_per_socket, threads_per_core } = hardware;
    let product = [sockets, cores_per_socket, threads_per_core].map(u64::from);
    (1..=u64::from(MOST_CPUS)).contains(&product.into_iter().fold(1, u64::saturating_mul))
}

fn first_key(line: &str) -> &str {
    line.trim_start().split('=').next().unwrap_or_default()
}

fn value<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.split_whitespace().find_map(|setting| setting.strip_prefix(key)?.strip_prefix('='))
}

fn number(line: &str, key: &str) -> Option<u32> {
    value(line, key)?.parse().ok()
}

fn share(line: &str, room: &Cell<usize>) -> Option<Share> {
    let hosts = hostlist::expand(value(line, "Nodes")?, 0, room).ok()?;
    let cpus = cpus(value(line, "CPU_IDs")?)?;
    Some(Share { hosts, cpus, gpus: value(line, "GRES").map_or(0, gpus) })
}

/// Numbers and ranges such as `0-1,4`, ascending.
pub(crate) fn cpus(text: &str) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    for range in text.trim().split(',').filter(|range| !range.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if last >= MOST_CPUS || last < first || cpus.last().is_some_and(|&before| before >= first) {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

/// The number of GPUs in resources such as `gpu:a100:2(IDX:0-1),nic:1`.
pub(crate) fn gpus(text: &str) -> u32 {
    let mut depth = 0u32;
    let resources = text.split(|c| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    let count = |resource: &str| {
        let (kind, count) = resource.split('(').next()?.rsplit_once(':')?;
        (kind.split(':').next() == Some("gpu")).then(|| count.parse::<u32>().ok()).flatten()
    };
    resources.filter_map(count).fold(0, u32::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output of Slurm 22.05, without lines that are not read.
    const JOBS: &str = "JobId=2 HetJobId=2 HetJobOffset=0 JobName=NumNodes=7 CPU_IDs=9\n   \
        NumNodes=1 NumCPUs=4 NumTasks=4 CPUs/Task=1 ReqB:S:C:T=0:0:*:*\n   \
        Socks/Node=* NtasksPerN:B:S:C=0:0:*:* CoreSpec=*\n     \
        Nodes=n1 CPU_IDs=0-1,4-5 Mem=0 GRES=\n\n\
        JobId=3 HetJobId=2 HetJobOffset=1 JobName=job.sh\n   \
        NumNodes=3 NumCPUs=20 NumTasks=12 CPUs/Task=2 ReqB:S:C:T=0:0:*:*\n   \
        Socks/Node=* NtasksPerN:B:S:C=4:0:*:* CoreSpec=*\n     \
        Nodes=n[3-4] CPU_IDs=0-7 Mem=0 GRES=gpu:a100:2(IDX:0,3),nic:1(IDX:0)\n     \
        Nodes=n7 CPU_IDs=0-1,4-5 Mem=0 GRES=gpu:1(IDX:0)\n   Features=(null)\n";

    #[test]
    fn jobs_have_cpus_on_their_nodes() {
        let jobs = jobs(JOBS);
        assert_eq!(jobs.iter().map(|job| job.id).collect::<Vec<_>>(), [2, 3]);
        assert_eq!((jobs[0].tasks, jobs[0].tasks_per_node, jobs[0].cpus_per_task), (Some(4), None, Some(1)));
        assert_eq!(
            (jobs[1].tasks, jobs[1].tasks_per_node, jobs[1].cpus_per_task),
            (Some(12), Some(4), Some(2))
        );
        assert_eq!(jobs[0].shares, [Share { hosts: vec!["n1".into()], cpus: vec![0, 1, 4, 5], gpus: 0 }]);
        let both = Share { hosts: vec!["n3".into(), "n4".into()], cpus: (0..8).collect(), gpus: 2 };
        assert_eq!((&jobs[1].shares[0], jobs[1].shares[1].gpus), (&both, 1));
    }

    #[test]
    fn nodes_have_sockets_cores_and_threads() {
        let node = |name: &str, sockets: u32, threads: u32| {
            format!(
                "NodeName={name} Arch=x86_64 CoresPerSocket=4 \n   CPUAlloc=8 CPUTot=8\n   RealMemory=1 Sockets={sockets} Boards=1\n   \
                 State=ALLOCATED ThreadsPerCore={threads} TmpDisk=0 Weight=1\n   Reason=State=x ThreadsPerCore=9\n\n"
            )
        };
        let found =
            nodes(&(node("n1", 2, 1) + &node("bad", 0, 1) + &node("huge", 99999, 9) + &node("t5", 1, 2)));
        let hardware =
            |sockets, threads_per_core| Hardware { sockets, cores_per_socket: 4, threads_per_core };
        assert_eq!(found, [("n1".to_owned(), hardware(2, 1)), ("t5".to_owned(), hardware(1, 2))]);
        assert_eq!((hardware(2, 2).cores(), hardware(2, 2).threads()), (8, 16));
    }

    #[test]
    fn partitions_may_have_a_topology() {
        assert_eq!(
            topology_of_partition("PartitionName=a\n   State=UP Topology=fat TRES=x\n"),
            Some("fat".into())
        );
        for text in ["", "PartitionName=a\n   State=UP\n", "   Topology=(null)\n"] {
            assert_eq!(topology_of_partition(text), None);
        }
    }

    #[test]
    fn what_is_not_understood_is_not_there() {
        for text in ["", "JobId=x\n", "NumNodes=1 NumTasks=4\n", "Nodes=n1 CPU_IDs=0\n"] {
            assert!(jobs(text).is_empty(), "{text}");
        }
        for line in ["Nodes=n[ CPU_IDs=0", "Nodes=n1", "Nodes=n1 CPU_IDs=x", "Nodes=n1 CPU_IDs=3-1,0"] {
            assert!(jobs(&format!("JobId=1\n{line}\n"))[0].shares.is_empty(), "{line}");
        }
        assert_eq!(cpus("0-99999999"), None);
        assert_eq!(cpus(""), Some(Vec::new()));
        assert_eq!([gpus("gpu"), gpus("gpu:x"), gpus("shard:4"), gpus("gpu:2,gpu:h100:1")], [0, 0, 0, 3]);
    }
}
