//! A Slurm of eight nodes on this machine, brought up for the tests that run at a time and taken down behind them.
//!
//! Each node is a `slurmd` in namespaces of its own: with its name as that of the system. Nodes have more CPUs than this machine, so
//! `taskset` has a stand-in that notes its list.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use crate::common::skipped;

/// Nodes of a kind.
type Kind = (&'static [&'static str], &'static str);

/// Nodes of two sockets with four cores each, and such with two cores of two hardware threads each.
const LARGE: [Kind; 2] = [
    (&["n1", "n2", "n3", "n4", "n5", "n6"], "Sockets=2 CoresPerSocket=4 ThreadsPerCore=1"),
    (&["t1", "t2"], "Sockets=2 CoresPerSocket=2 ThreadsPerCore=2"),
];

/// Nodes of two cores, which this machine has.
const SMALL: [Kind; 1] = [(&["c1", "c2"], "Sockets=1 CoresPerSocket=2 ThreadsPerCore=1")];

fn names(kinds: &[Kind]) -> impl Iterator<Item = &'static str> {
    kinds.iter().flat_map(|&(names, _)| names.iter().copied())
}

/// The switches are not in the order of the names of nodes.
const TOPOLOGY: &str = "SwitchName=leaf1 Nodes=n[5-6]\nSwitchName=leaf2 Nodes=n[3-4]\nSwitchName=leaf3 Nodes=n[1-2],t[1-2]\n\
                        SwitchName=spine1 Switches=leaf[1-2]\nSwitchName=core Switches=spine1,leaf3\n";

/// The same, and other topologies for some partitions, as Slurm from 25.05 on has them.
const TOPOLOGIES: &str = "- topology: tree\n  cluster_default: true\n  tree:\n    switches:\n\
    \x20     - {switch: leaf1, nodes: 'n[5-6]'}\n\
    \x20     - {switch: leaf2, nodes: 'n[3-4]'}\n\
    \x20     - {switch: leaf3, nodes: 'n[1-2],t[1-2]'}\n\
    \x20     - {switch: spine1, children: 'leaf[1-2]'}\n\
    \x20     - {switch: core, children: 'spine1,leaf3'}\n\
    - topology: plain\n  cluster_default: false\n  flat: true\n\
    - topology: torus\n  cluster_default: false\n  torus3d:\n    toruses:\n\
    \x20     - {name: t1, dims: {x: 3, y: 2, z: 1}, nodes: 'n[1-6]'}\n";

/// Partitions with a topology of their own.
const PARTITIONS: &str =
    "PartitionName=plain Nodes=n[1-6] Topology=plain\nPartitionName=torus Nodes=n[1-6] Topology=torus\n";

/// The switches above each leaf, by [`TOPOLOGY`]: the leaves below a switch of the first level, and below one of the second.
pub const LEAVES: [&[&str]; 3] = [&["n5", "n6"], &["n3", "n4"], &["n1", "n2", "t1", "t2"]];

/// Notes the CPUs and starts the program.
const TASKSET: &str = "#!/bin/sh\n[ \"$1\" = -c ] || exit 1\nexport CPUS=\"$2\"\nshift 2\nexec \"$@\"\n";

pub struct Cluster {
    pub folder: tempfile::TempDir,
    kinds: &'static [Kind],
    daemons: Vec<Child>,
}

/// The cluster that the tests share as long as one of them has it.
static SHARED: Mutex<Weak<Cluster>> = Mutex::new(Weak::new());

impl Cluster {
    /// The cluster. Without VIEM_REQUIRE_SLURM there is none, and a message; with it there must be one.
    pub fn shared() -> Option<Arc<Self>> {
        let mut shared = SHARED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(cluster) = shared.upgrade() {
            return Some(cluster);
        }
        if !is_wanted() {
            return None;
        }
        let cluster = Arc::new(Self::new(&LARGE));
        *shared = Arc::downgrade(&cluster);
        Some(cluster)
    }

    /// A cluster whose nodes confine jobs to their CPUs.
    pub fn confined() -> Option<Self> {
        is_wanted().then(|| Self::new(&SMALL))
    }

    fn new(kinds: &'static [Kind]) -> Self {
        let folder = tempfile::Builder::new().prefix("viem-slurm-").tempdir().unwrap();
        // munge wants others to be able to reach its socket.
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        for name in ["bin", "etc", "log", "munge", "run", "spool", "state"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        for name in names(kinds) {
            fs::create_dir_all(folder.path().join("tmp").join(name)).unwrap();
        }
        let mut cluster = Self { folder, kinds, daemons: Vec::new() };
        let taskset = cluster.path("bin/taskset");
        fs::write(&taskset, TASKSET).unwrap();
        fs::set_permissions(taskset, fs::Permissions::from_mode(0o755)).unwrap();
        cluster.configure();
        cluster.start_munge();
        cluster.start("slurmctld", Command::new("slurmctld").arg("-D"));
        for name in names(kinds) {
            let start = "hostname \"$0\" && mount --bind \"$1\" /etc/hosts && exec slurmd -D -N \"$0\"";
            let mut node = Command::new("unshare");
            node.args(["--uts", "--mount", "--propagation", "private", "sh", "-c", start, name]);
            node.arg(cluster.path("etc/hosts"));
            cluster.start(name, &mut node);
        }
        cluster.wait_until_idle();
        cluster
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A command of Slurm.
    pub fn command(&self, name: &str) -> Command {
        let mut command = Command::new(name);
        crate::common::without_job(&mut command);
        command.env("SLURM_CONF", self.path("etc/slurm.conf"));
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", self.path("bin").display()));
        command
    }

    fn configure(&self) {
        let root = self.folder.path().display();
        let ports = free_ports(1 + names(self.kinds).count());
        let version = version();
        let mut conf = format!(
            "ClusterName=viem\nSlurmctldHost={}(127.0.0.1)\nSlurmctldPort={}\nAuthType=auth/munge\n\
             AuthInfo=socket={root}/run/munge\nSlurmUser=root\nSlurmdUser=root\nStateSaveLocation={root}/state\n\
             SlurmdSpoolDir={root}/spool/%n\nTmpFS={root}/tmp/%n\nSlurmctldPidFile={root}/run/slurmctld.pid\n\
             SlurmdPidFile={root}/run/slurmd-%n.pid\nSlurmctldLogFile={root}/log/slurmctld.log\n\
             SlurmdLogFile={root}/log/slurmd-%n.log\nProctrackType=proctrack/linuxproc\nTaskPlugin={}\n\
             JobAcctGatherType=jobacct_gather/none\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n\
             SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1\nMpiDefault=none\nReturnToService=2\n\
             SlurmdParameters=config_overrides\nKillWait=2\nPropagateResourceLimits=NONE\n\
             LaunchParameters=use_interactive_step\n\
             InteractiveStepOptions=\"--interactive --preserve-env bash ./job.sh\"\n",
            host_name(),
            ports[0],
            self.task_plugin(),
        );
        if version < 24 {
            conf += "SwitchType=switch/none\n";
        }
        let nodes =
            self.kinds.iter().flat_map(|(names, inside)| names.iter().map(move |name| (name, inside)));
        for ((name, inside), port) in nodes.zip(&ports[1..]) {
            writeln!(conf, "NodeName={name} NodeAddr=127.0.0.1 Port={port} {inside}").unwrap();
        }
        conf += "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n";
        let (topology, text) = if self.is_confined() {
            ("topology.conf", "")
        } else if has_topologies() {
            conf += PARTITIONS;
            ("topology.yaml", TOPOLOGIES)
        } else {
            conf += "TopologyPlugin=topology/tree\n";
            ("topology.conf", TOPOLOGY)
        };
        let cgroups = match version {
            _ if self.is_confined() && has_cpusets() => "CgroupPlugin=cgroup/v1\nConstrainCores=yes\n",
            ..24 => "CgroupPlugin=cgroup/v1\n",
            _ => "CgroupPlugin=disabled\n",
        };
        let hosts = fs::read_to_string("/etc/hosts").unwrap_or_default();
        let hosts =
            names(self.kinds).fold(hosts + "\n", |hosts, name| hosts + &format!("127.0.0.1 {name}\n"));
        for (name, text) in
            [("slurm.conf", &*conf), (topology, text), ("cgroup.conf", cgroups), ("hosts", &hosts)]
        {
            fs::write(self.path("etc").join(name), text).unwrap();
        }
    }

    fn is_confined(&self) -> bool {
        self.kinds == SMALL
    }

    /// What confines jobs: nothing on nodes with more CPUs than this machine.
    fn task_plugin(&self) -> &'static str {
        match self.is_confined() {
            true if has_cpusets() => "task/affinity,task/cgroup",
            true => "task/affinity",
            false => "task/none",
        }
    }

    /// A munge of its own, so that one of the system is left alone.
    fn start_munge(&mut self) {
        let key = self.path("munge/key");
        let random: Vec<u8> = (0..1024).map(|byte| (byte * 151 % 251) as u8).collect();
        fs::write(&key, random).unwrap();
        fs::set_permissions(&key, fs::Permissions::from_mode(0o400)).unwrap();
        fs::set_permissions(self.path("munge"), fs::Permissions::from_mode(0o700)).unwrap();
        let option = |name: &str, file: &str| format!("--{name}={}", self.path(file).display());
        let mut munged = Command::new("munged");
        munged.arg("--foreground").args([
            option("key-file", "munge/key"),
            option("socket", "run/munge"),
            option("pid-file", "munge/pid"),
            option("seed-file", "munge/seed"),
            option("log-file", "munge/log"),
        ]);
        self.start("munged", &mut munged);
        let socket = self.path("run/munge");
        wait(Duration::from_secs(20), "munged has no socket", || socket.exists().then_some(()));
    }

    /// Starts a daemon in the foreground, which is a child of the tests.
    fn start(&mut self, name: &str, command: &mut Command) {
        let log = File::create(self.path("log").join(format!("{name}.out"))).unwrap();
        crate::common::without_job(command);
        command.env("SLURM_CONF", self.path("etc/slurm.conf")).stdin(Stdio::null());
        command.stdout(log.try_clone().unwrap()).stderr(log);
        command.env("PATH", path_of_daemons());
        self.daemons.push(command.spawn().unwrap_or_else(|error| panic!("{name}: {error}")));
    }

    fn wait_until_idle(&self) {
        let count = names(self.kinds).count();
        wait(Duration::from_secs(60), "the nodes are not idle", || {
            let output = self.command("sinfo").args(["-h", "-N", "-p", "all", "-o", "%t"]).output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            (text.lines().filter(|state| *state == "idle").count() == count).then_some(())
        });
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // Jobs end with the cluster. Nodes first: they would wait for their controller.
        let _ = self.command("scancel").args(["--state=running", "--partition=all"]).output();
        for daemon in self.daemons.iter().rev() {
            let _ = Command::new("kill").arg(daemon.id().to_string()).status();
        }
        let end = Instant::now() + Duration::from_secs(10);
        for daemon in self.daemons.iter_mut().rev() {
            while matches!(daemon.try_wait(), Ok(None)) && Instant::now() < end {
                std::thread::sleep(Duration::from_millis(20));
            }
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

/// Asks until there is an answer; fails with `what` if that takes too long.
pub fn wait<T>(most: Duration, what: &str, ask: impl Fn() -> Option<T>) -> T {
    let end = Instant::now() + most;
    loop {
        match ask() {
            Some(answer) => return answer,
            None => assert!(Instant::now() < end, "{what} after {} s", most.as_secs()),
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Whether a Slurm is to be brought up, which must then work.
pub fn is_wanted() -> bool {
    if std::env::var_os("VIEM_REQUIRE_SLURM").is_none() {
        skipped("VIEM_REQUIRE_SLURM is not set; nothing was launched under Slurm");
        return false;
    }
    can_run().unwrap_or_else(|why| panic!("{why}"));
    true
}

fn can_run() -> Result<(), &'static str> {
    let path = path_of_daemons();
    let is_there = |name: &str| path.split(':').any(|folder| Path::new(folder).join(name).is_file());
    if !["slurmctld", "slurmd", "srun", "munged"].into_iter().all(is_there) {
        return Err("Slurm is not installed (slurmctld, slurmd, slurm-client, munge)");
    }
    let namespaces = Command::new("unshare").args(["--uts", "--mount", "true"]).output();
    match namespaces.is_ok_and(|output| output.status.success()) {
        true => Ok(()),
        false => Err("the nodes of Slurm need namespaces of their own, so run the tests as root"),
    }
}

fn free_ports(count: usize) -> Vec<u16> {
    let listeners: Vec<TcpListener> = (0..count).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    listeners.iter().map(|listener| listener.local_addr().unwrap().port()).collect()
}

/// Whether this machine has control groups of version 1 for CPUs.
fn has_cpusets() -> bool {
    Path::new("/sys/fs/cgroup/cpuset/cpuset.cpus").exists()
}

/// Whether partitions may have topologies of their own: from Slurm 25.05 on.
pub fn has_topologies() -> bool {
    version() >= 25
}

/// The year of the release, such as 24. Commands of users would look for a configuration first.
fn version() -> u32 {
    let output = Command::new("slurmctld").arg("-V").env("PATH", path_of_daemons()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let year = text.split([' ', '.']).find_map(|word| word.trim().parse().ok());
    year.unwrap_or_else(|| panic!("no version in {text}"))
}

/// Daemons may be where users have none.
fn path_of_daemons() -> String {
    std::env::var("PATH").unwrap_or_default() + ":/usr/sbin:/sbin"
}

/// The short name of this machine.
fn host_name() -> String {
    let output = Command::new("uname").arg("-n").output().unwrap();
    String::from_utf8_lossy(&output.stdout).trim().split('.').next().unwrap_or_default().to_owned()
}
