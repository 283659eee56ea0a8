//! Jobs that map and launch, and what is checked of them from scratch: where every rank ran, on which CPUs, and J.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use crate::cluster::{Cluster, LEAVES, wait};

/// What each job begins with. `map` makes a mapping, and `launch` runs the line that it has printed.
const HEAD: &str = r#"#!/bin/bash
trap 'touch done' EXIT
[ -e env ] || { env | grep '^SLURM' | sort > env && scontrol show job -d "$SLURM_JOB_ID" > job; }
map() { "$VIEM" map job.graph "$@" -o perm --verify --json=report > viem.out 2> viem.err; }
launch() {
    line=$(sed -n 's/^launch with: //p' viem.out)
    [ -n "$line" ] || { cat viem.err; exit 1; }
    timeout 60 bash -c "$line" > ran 2> ran.err < /dev/null || echo "exit code $?" >> ran.err
}
"#;

/// Prints where a rank is: its number, host, CPUs and local rank, and how many CPUs the step has here. Open MPI may put the real `taskset`
/// first, and that binds to CPUs that this machine has.
const APP: &str = "#!/bin/sh\n\
    own=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)\n\
    rank=${RANK:-${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-$SLURM_PROCID}}}\n\
    echo \"rank $rank on $(uname -n) cpus ${CPUS:-$own} local ${SLURM_LOCALID:-none} of ${SLURM_CPUS_ON_NODE:-none}\"\n";

/// A job to run.
pub struct Job<'a> {
    pub cluster: &'a Cluster,
    folder: PathBuf,
    ranks: usize,
}

/// Where a rank ran.
#[derive(Clone, Debug)]
pub struct Seat {
    pub host: String,
    pub cpus: BTreeSet<u32>,
    pub local: Option<usize>,
    pub step_cpus: Option<usize>,
}

impl<'a> Job<'a> {
    /// A job of a model of so many ranks, in a folder of its own.
    pub fn new(cluster: &'a Cluster, name: &str, ranks: usize) -> Self {
        let folder = cluster.path(name);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("job.graph"), graph(ranks).text()).unwrap();
        let job = Self { cluster, folder, ranks };
        job.write_program("app", APP);
        job
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    pub fn write_program(&self, name: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt;
        fs::write(self.path(name), text).unwrap();
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Starts a script with `sbatch`, or as an interactive step with `salloc`, and waits until it has ended.
    pub fn run(&self, command: &str, options: &str, script: &str) -> &Self {
        self.start(command, options, script);
        self.wait();
        self
    }

    /// Waits until the job has ended.
    pub fn wait(&self) {
        let what = format!("the job in {} has not ended", self.folder.display());
        wait(Duration::from_secs(100), &what, || self.path("done").exists().then_some(()));
    }

    pub fn start(&self, command: &str, options: &str, script: &str) {
        self.write_program("job.sh", &format!("{HEAD}{script}\n"));
        let mut submit = self.cluster.command(command);
        submit.current_dir(&self.folder).args(options.split_whitespace());
        submit.env("VIEM", assert_cmd::cargo::cargo_bin!("viem")).env("OMPI_ALLOW_RUN_AS_ROOT", "1");
        submit.env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1").stdin(std::process::Stdio::null());
        if command == "sbatch" {
            submit.args(["--output=log", "job.sh"]);
        }
        let output = submit.output().unwrap();
        assert!(output.status.success(), "{options}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// What is known of a job that failed.
    fn about(&self) -> String {
        ["job.sh", "env", "log", "viem.err", "viem.out", "perm", "ran", "ran.err"]
            .map(|name| format!("--- {name}\n{}", self.text(name)))
            .concat()
    }

    pub fn line(&self) -> String {
        assert!(self.path("report").exists(), "{}", self.about());
        let report: serde_json::Value = serde_json::from_str(&self.text("report")).unwrap();
        report["launch"]["line"].as_str().unwrap().to_owned()
    }

    /// The PE of each rank.
    fn pes(&self) -> Vec<usize> {
        self.text("perm").lines().map(|line| line.parse().unwrap()).collect()
    }

    /// A variable of the job.
    fn variable(&self, name: &str) -> String {
        let (text, name) = (self.text("env"), format!("{name}="));
        let value = text.lines().find_map(|line| line.strip_prefix(&name));
        value.unwrap_or_else(|| panic!("no {name}\n{}", self.about())).to_owned()
    }

    /// The hosts of the job in the order of Slurm.
    pub fn hosts(&self) -> Vec<String> {
        self.hosts_in("SLURM_JOB_NODELIST")
    }

    pub fn hosts_in(&self, variable: &str) -> Vec<String> {
        expand(self.cluster, &self.variable(variable))
    }

    /// The tasks that Slurm has planned for each host: `8(x2),3`.
    pub fn tasks(&self) -> Vec<usize> {
        let runs = self.variable("SLURM_TASKS_PER_NODE");
        let of_run = |run: &str| {
            let (tasks, times) = run.split_once("(x").unwrap_or((run, "1)"));
            vec![tasks.parse().unwrap(); times.trim_end_matches(')').parse().unwrap()]
        };
        runs.split(',').flat_map(of_run).collect()
    }

    /// The CPUs of the job on each host, as Slurm numbers them.
    pub fn cpus_of_job(&self) -> BTreeMap<String, BTreeSet<u32>> {
        let job = self.text("job");
        let mut cpus = BTreeMap::new();
        for line in job.lines().map(str::trim).filter(|line| line.starts_with("Nodes=")) {
            let value =
                |key: &str| line.split(' ').find_map(|word| word.strip_prefix(key)).unwrap().to_owned();
            for host in expand(self.cluster, &value("Nodes=")) {
                cpus.insert(host, numbers(&value("CPU_IDs=")));
            }
        }
        cpus
    }

    /// Where each rank ran: each exactly once, and without a word from Slurm.
    pub fn seats(&self) -> Vec<Seat> {
        let mut seats = BTreeMap::new();
        for line in self.text("ran").lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let ["rank", rank, "on", host, "cpus", cpus, "local", local, "of", all] = words[..] else {
                panic!("{line}\n{}", self.about())
            };
            let seat = Seat {
                host: host.to_owned(),
                cpus: numbers(cpus),
                local: local.parse().ok(),
                step_cpus: all.parse().ok(),
            };
            let rank: usize = rank.parse().unwrap_or_else(|_| panic!("{line}\n{}", self.about()));
            assert!(seats.insert(rank, seat).is_none(), "rank {rank} ran twice\n{}", self.about());
        }
        assert!(seats.keys().copied().eq(0..self.ranks), "not every rank ran\n{}", self.about());
        let errors = self.text("ran.err");
        // There is no plugin for binding here: nodes have more CPUs than this machine. Open MPI reports what it binds, and starts its daemons
        // in a way that Slurm warns of.
        let by_mpirun = ["job.sh", "viem.out"].iter().any(|file| {
            let text = self.text(file);
            text.contains("mpirun") || text.contains("mpiexec")
        });
        let of_mpirun: &[&str] = match by_mpirun {
            true => &["MCW rank", "bound to package[", "can't honor --ntasks-per-node set to"],
            false => &[],
        };
        let is_expected = |line: &str| {
            line.contains("lacks support for cpu binding") || of_mpirun.iter().any(|part| line.contains(part))
        };
        let said: Vec<&str> = errors.lines().filter(|line| !is_expected(line)).collect();
        assert!(said.is_empty(), "{said:?}\n{}", self.about());
        seats.into_values().collect()
    }

    /// Checks a launch with so many PEs on each host: hosts as mapped, CPUs as many as `cores` for each rank and no rank's twice, all of them
    /// the job's, and J as printed.
    pub fn check(&self, pes: &[usize], cores: usize) {
        let (seats, hosts) = (self.seats(), self.hosts());
        self.check_hosts(&seats, &hosts, pes);
        let (of_job, mut taken) = (self.cpus_of_job(), BTreeMap::new());
        for (rank, Seat { host, cpus, .. }) in seats.iter().enumerate() {
            assert_eq!(cpus.len(), cores, "rank {rank}\n{}", self.about());
            for &cpu in cpus {
                let other = taken.insert((host, cpu), rank);
                assert_eq!(other, None, "CPU {cpu} of {host} has rank {rank}, too\n{}", self.about());
                assert!(
                    of_job[host].contains(&cpu),
                    "CPU {cpu} of {host} is not the job's\n{}",
                    self.about()
                );
            }
        }
        // Where no two ranks share a socket, that is the innermost level, and its distance is 1.
        self.check_objective(&seats, if 2 * cores > CORES_OF_SOCKET { 3 } else { 1 });
    }

    /// Checks that each rank is on the host of its PE, where the hosts have so many PEs.
    pub fn check_hosts(&self, seats: &[Seat], hosts: &[String], pes: &[usize]) {
        assert_eq!(hosts.len(), pes.len(), "{}", self.about());
        let host_of: Vec<&String> =
            hosts.iter().zip(pes).flat_map(|(host, &pes)| std::iter::repeat_n(host, pes)).collect();
        for (rank, pe) in self.pes().into_iter().enumerate() {
            assert_eq!(&seats[rank].host, host_of[pe], "rank {rank}\n{}", self.about());
        }
    }

    /// Compares J with the sum over all pairs of where they ran, in units of some distance.
    pub fn check_objective(&self, seats: &[Seat], unit: i64) {
        let graph = graph(self.ranks);
        // Each edge counts in both directions.
        let objective: i64 =
            graph.edges.iter().map(|&((a, b), weight)| 2 * weight * distance(&seats[a], &seats[b])).sum();
        assert_eq!(self.objective("viem.out") * unit, objective, "{}", self.about());
    }

    /// J as a program has printed it.
    pub fn objective(&self, file: &str) -> i64 {
        let text = self.text(file);
        let printed = text
            .lines()
            .find_map(|line| line.strip_prefix("J "))
            .and_then(|row| row.split_whitespace().nth(1));
        printed.unwrap_or_else(|| panic!("{text}\n{}", self.about())).parse().unwrap()
    }

    /// Fails with all that is known unless a text of the job holds another.
    pub fn expect(&self, file: &str, part: &str) {
        assert!(self.text(file).contains(part), "no `{part}` in {file}\n{}", self.about());
    }
}

/// Cores of a socket of the nodes.
const CORES_OF_SOCKET: usize = 4;

/// The distance by the guide: 1 in a socket, 3 in a node, 30 below a leaf switch, and 30 more for each further level of switches.
fn distance(a: &Seat, b: &Seat) -> i64 {
    let sockets = |seat: &Seat| -> BTreeSet<u32> { seat.cpus.iter().map(|cpu| cpu / 4).collect() };
    if a.host == b.host {
        let both: BTreeSet<u32> = sockets(a).union(&sockets(b)).copied().collect();
        return if both.len() == 1 { 1 } else { 3 };
    }
    let leaf = |seat: &Seat| LEAVES.iter().position(|leaf| leaf.contains(&seat.host.as_str())).unwrap();
    match (leaf(a), leaf(b)) {
        (a, b) if a == b => 30,
        (0 | 1, 0 | 1) => 60,
        _ => 90,
    }
}

/// A model: a ring whose edges are heavy, with lighter ones between its ranks that are further apart.
struct Graph {
    ranks: usize,
    edges: Vec<((usize, usize), i64)>,
}

fn graph(ranks: usize) -> Graph {
    // A stride without a common divisor shuffles the ranks.
    let stride = [7, 5, 3, 11].into_iter().find(|stride| !ranks.is_multiple_of(*stride)).unwrap_or(1);
    let mut edges = BTreeMap::new();
    for rank in 0..ranks {
        for (step, weight) in [(1, if rank % 4 == 3 { 5 } else { 50 }), (2, 20), (4, 3)] {
            let ends = [rank, rank + step].map(|at| at % ranks * stride % ranks);
            if ends[0] != ends[1] {
                *edges.entry((ends[0].min(ends[1]), ends[0].max(ends[1]))).or_insert(0) += weight;
            }
        }
    }
    Graph { ranks, edges: edges.into_iter().collect() }
}

impl Graph {
    /// In METIS format.
    fn text(&self) -> String {
        let mut lines = vec![String::new(); self.ranks];
        for &((a, b), weight) in &self.edges {
            lines[a] += &format!("{} {weight} ", b + 1);
            lines[b] += &format!("{} {weight} ", a + 1);
        }
        format!("{} {} 1\n{}\n", self.ranks, self.edges.len(), lines.join("\n"))
    }
}

/// A list of hosts, as `scontrol` understands it.
fn expand(cluster: &Cluster, list: &str) -> Vec<String> {
    let output = cluster.command("scontrol").args(["show", "hostnames", list]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// `0-2,5` as numbers.
fn numbers(text: &str) -> BTreeSet<u32> {
    let ranges = text.split(',').map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        first.parse::<u32>().unwrap()..=last.parse().unwrap()
    });
    ranges.flatten().collect()
}
