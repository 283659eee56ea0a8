//! `viem map` and `viem score` on clusters, as a user runs them: in a Slurm job, with host files, and with hwloc's
//! description of a node.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::common::{Folder, failure_of, objective, random_graph, said_by, says, stdout_of, text_of, words};
use assert_cmd::Command;
use viem::base::rng::Rng;

/// A folder with a graph of 12 processes and these files.
fn folder(files: &[(&str, &str)]) -> Folder {
    let folder = Folder::with(files);
    folder.write("graph", text_of(&random_graph(12, 4, 60, &mut Rng::new(5))));
    folder
}

/// A program without Slurm variables except these, `NAME=VALUE`. The only `lstopo` in its path is the one of the tests.
fn in_job(folder: &Folder, job: &str, line: &str) -> Command {
    let mut command = folder.command(line);
    for (variable, _) in std::env::vars_os() {
        if variable.to_string_lossy().starts_with("SLURM") {
            command.env_remove(variable);
        }
    }
    command.env("PATH", Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools"));
    // Hide the topology of the cluster on which the tests may run.
    command.env("SLURM_CONF", folder.file("slurm.conf"));
    for variable in words(job) {
        let (name, value) = variable.split_once('=').unwrap();
        command.env(name, value);
    }
    command
}

/// `viem` in a job, on a machine with further options.
fn viem(folder: &Folder, job: &str, machine: &str) -> Command {
    let line = format!("viem map graph --threads=1 --preset=fast --machine={machine}");
    in_job(folder, job, &line)
}

/// Maps with `--verify` and evaluates the mapping. What the program prints, stdout followed by stderr, must hold the expected lines.
#[track_caller]
fn map<const N: usize>(folder: &Folder, job: &str, machine: &str, expected: [&str; N]) -> String {
    let (text, notes) = said_by(viem(folder, job, machine).arg("--verify"));
    let cost = objective(&text);
    says(&text, [format!("verified: J of the files is {cost} too")]);
    let line = format!("viem score graph permutation --machine={machine}");
    assert_eq!(objective(&stdout_of(&mut in_job(folder, job, &line))), cost, "{machine}");
    says(&(text.clone() + &notes), expected);
    text + &notes
}

/// Asserts that a run is refused with a code and this message.
#[track_caller]
fn refused(folder: &Folder, job: &str, machine: &str, code: i32, expected: &str) -> String {
    let message = failure_of(&mut viem(folder, job, machine), code);
    assert!(message.contains(expected), "{job} {machine}: `{expected}` is not in:\n{message}");
    message
}

const JOB: &str = "SLURM_JOB_NODELIST=n[1-3] SLURM_JOB_CPUS_PER_NODE=16(x3) SLURMD_NODENAME=n1";

/// The job with changes to these variables.
fn job(others: &str) -> String {
    format!("{JOB} {others}")
}

#[test]
fn the_nodes_of_a_job_are_like_this_one() {
    let folder = folder(&[]);
    let shape = "machine: 3 nodes x 2 sockets x 4 cores = 4:2:3, distances 1:3:30 (assumed)";
    let text = map(&folder, JOB, "slurm", [shape, "no topology of the cluster is found"]);
    assert!(!text.contains("warning"), "{text}");
    let shape = "3 nodes x 2 sockets x 4 cores x 2 hardware threads = 2:4:2:3";
    map(&folder, JOB, "slurm --pe=thread", [shape]);
    map(&folder, JOB, "slurm --distances=1:5:50", ["distances 1:5:50 (given)"]);
    map(&folder, &job("SLURMD_NODENAME=login"), "slurm", ["login is no node of the job"]);
    map(&folder, &job("SLURM_CPUS_PER_TASK=4"), "slurm", ["3 nodes x 2 sockets x 2 cores = 2:2:3"]);
}

#[test]
fn the_network_is_that_of_the_cluster() {
    let conf = "SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[3-9]\nSwitchName=c Switches=a,b\n";
    let folder = folder(&[("topology.conf", conf), ("flat.yaml", "- topology: t\n  flat: true\n")]);
    let uneven = "2 switches, 3 nodes, 6 sockets, 24 cores, uneven, distances 1:3:30:60 of cores:sockets:nodes:switches";
    map(&folder, JOB, "slurm", [uneven]);
    map(&folder, JOB, "slurm:topology=flat.yaml", ["3 nodes x 2 sockets x 4 cores = 4:2:3"]);
    fs::remove_file(folder.file("topology.conf")).unwrap();
    map(&folder, &job("SLURM_TOPOLOGY_ADDR='c.a.n1 c.a.n2 c.b.n3'"), "slurm", [uneven]);
    // The user is not responsible for what he has not given.
    for other in ["SwitchName=a Nodes=x\n", "SwitchName=a Nodes=x[\n"] {
        folder.write("topology.conf", other);
        map(&folder, JOB, "slurm", ["all nodes are taken to be alike"]);
        let given = failure_of(&mut viem(&folder, JOB, "slurm:topology=topology.conf"), 65);
        assert!(given.contains("host n1 is not in the topology") || given.contains("line 1"), "{given}");
    }
}

#[test]
fn nodes_that_are_not_like_this_one_are_described_or_plain() {
    let folder = folder(&[]);
    let other = job("SLURM_JOB_CPUS_PER_NODE=64(x2),8");
    let plain = "3 nodes, 136 cores, uneven, distances 1:30 of cores:nodes (assumed)";
    map(&folder, &other, "slurm", ["this node has 16 CPUs, nodes of the job have 64", plain]);
    map(&folder, &other, "slurm:node=32:2", ["3 nodes, 5 sockets, 136 cores, uneven"]);
    let tasks = "SLURM_JOB_NODELIST=n[1-3] SLURM_TASKS_PER_NODE=4(x3)";
    let shape = "3 nodes x 2 sockets x 2 cores = 2:2:3";
    map(&folder, tasks, "slurm:node=2:2", [shape]);
    let ranks = "ranks per node: 4; cores per rank: 4; empty nodes: none";
    map(&folder, tasks, "slurm:node=8:2", [shape, ranks]);
}

#[test]
fn without_lstopo_there_is_a_clear_message() {
    let folder = folder(&[]);
    let run = |machine: &str| {
        let mut viem = viem(&folder, JOB, machine);
        viem.env("PATH", folder.file("nowhere"));
        viem
    };
    says(&failure_of(&mut run("hwloc"), 66), ["lstopo cannot be run", "install hwloc"]);
    let (text, warning) = said_by(&mut run("slurm"));
    says(&text, ["3 nodes x 16 cores = 16:3, distances 1:30 (assumed)"]);
    says(&warning, ["install hwloc", "slurm:node=16:2"]);
}

#[test]
fn heterogeneous_jobs_are_mapped_a_group_at_a_time() {
    let folder = folder(&[]);
    let groups = job("SLURM_HET_SIZE=2 \
         SLURM_JOB_NODELIST_HET_GROUP_0=a1 SLURM_JOB_CPUS_PER_NODE_HET_GROUP_0=16 \
         SLURM_JOB_NODELIST_HET_GROUP_1=b[1-2] SLURM_JOB_CPUS_PER_NODE_HET_GROUP_1=8(x2)");
    let text = refused(&folder, &groups, "slurm", 2, "heterogeneous job of 2 groups");
    says(&text, ["slurm:group=0"]);
    map(&folder, &groups, "slurm:group=1,node=4:2", ["2 nodes x 2 sockets x 4 cores = 4:2:2"]);
    for (variables, group, code, expected) in [
        (&*groups, "2", 2, "the heterogeneous job has the groups 0 to 1, but not group=2"),
        (&groups, "x", 2, "`x` is no number of a group; give a number of at least 0"),
        (JOB, "0", 2, "this job is not heterogeneous, so it has no group=0"),
        ("", "0", 66, "there is no Slurm job here: SLURM_JOB_NODELIST is not set"),
    ] {
        refused(&folder, variables, &format!("slurm:group={group}"), code, expected);
    }
}

#[test]
fn hostile_jobs_and_files_get_one_message() {
    let folder = folder(&[
        ("hosts", "n1 slots=4\nn2 slots=4\nn3 slots=4\n"),
        ("torn.xml", "<topology version=\"2.0\"><object type=\"Machine\"><object ty"),
        ("few", "n1 slots=2\n"),
        ("bad", "n1 slots=two\n"),
        ("late", "n1 slots=2\n  n2 slots=2 cores=4\n"),
        ("turned", "n1 n2 n3\nn2 1 0 2\nn1 0 1 3\nn3 3 2 0\n"),
    ]);
    let slurm = "slurm:node=8:2";
    let few_cpus = "SLURM_JOB_CPUS_PER_NODE has numbers of 3 nodes, but the job has 4";
    let many_cpus = "has 64 CPUs, but the node described has 16 cores";
    let launched = "--launch is for one-to-one mappings";
    // The changed variables, the machine, the exit code, and the expected message.
    let cases = [
        ("SLURM_JOB_NODELIST=", slurm, 66, "SLURM_JOB_NODELIST is not set"),
        ("SLURM_JOB_NODELIST=n[1-2],n1", slurm, 65, "host n1 is listed more than once"),
        ("SLURM_JOB_NODELIST=n[1-[2-3]]", slurm, 65, "a list of hosts is written like"),
        ("SLURM_JOB_NODELIST=n[]", slurm, 65, "a bracket holds numbers"),
        ("SLURM_JOB_NODELIST=n[3-1]", slurm, 65, "runs backwards"),
        ("SLURM_JOB_NODELIST=n[1-3", slurm, 65, "left open"),
        ("SLURM_JOB_NODELIST=n[1-99999999]", slurm, 65, "too long"),
        ("SLURM_JOB_NODELIST=n[1-4]", slurm, 65, few_cpus),
        ("SLURM_JOB_CPUS_PER_NODE=16(x", slurm, 65, "no list of numbers"),
        ("SLURM_JOB_CPUS_PER_NODE=64(x3)", slurm, 65, many_cpus),
        ("SLURM_JOB_CPUS_PER_NODE=64(x3) SLURM_CPUS_PER_TASK=4", slurm, 65, many_cpus),
        // More ranks than tasks cannot be launched.
        ("SLURM_NTASKS=6", "slurm:node=8:2 --launch=slurm:h,b", 2, launched),
        ("", "slurm:8:2", 2, "no option of slurm"),
        ("", "hosts:few --launch=openmpi", 2, launched),
        ("", "hosts:bad", 65, "bad, line 1, column 4"),
        ("", "hosts:late", 65, "late, line 2, column 14"),
        ("", "hosts:hosts --latencies=turned", 65, "turned, line 2, column 1: this row is of host n2"),
        ("", "hwloc:torn.xml", 65, "torn.xml, line 1"),
        ("", "hosts:hosts --output=hosts", 2, "hosts"),
        ("", "4:4 --distances=1:2 --pe=thread", 2, "--pe is for clusters"),
    ];
    for (others, machine, code, expected) in cases {
        let text = refused(&folder, &job(others), machine, code, expected);
        assert_eq!(text.trim().lines().count(), 1, "{text}");
    }
    says(&folder.read("hosts"), ["slots=4"]);
}

#[test]
fn hosts_and_latencies_come_from_files() {
    let folder = folder(&[
        ("hosts", "n1 slots=4\nn2 slots=4\nn3 slots=4\n"),
        ("lat", "0 1.5 4.5\n1.5 0 3\n4.5 3 0\n"),
        ("uneven", "n1:9\nn2:2\nn3:7\n"),
    ]);
    map(&folder, "", "hosts:hosts,node=2:2", ["machine: 3 nodes x 2 sockets x 2 cores = 2:2:3"]);
    let distances = "distances 10:30 inside a node (assumed), 300 to 900 between nodes";
    map(&folder, "", "hosts:hosts,node=2:2 --latencies=lat", [distances]);
    map(&folder, "", "hosts:uneven", ["3 nodes, 18 cores, uneven"]);
    map(&folder, "", "hwloc --pe=thread", ["2 sockets x 4 cores x 2 hardware threads = 2:4:2"]);
}

#[test]
fn nodes_are_not_made_before_they_are_counted() {
    let many = job("SLURM_JOB_CPUS_PER_NODE=4294967295(x3)");
    refused(&folder(&[]), &many, "slurm", 65, "more than 4294967295 processing elements");
}

#[test]
fn ranks_of_several_cores_are_bound_to_all_of_them() {
    let folder = folder(&[]);
    let launched = |cpus: &str, machine: &str| {
        let job = job(&format!("SLURM_CPUS_PER_TASK=2 SLURM_JOB_CPUS_PER_NODE={cpus}"));
        stdout_of(viem(&folder, &job, machine).arg("--launch=openmpi:ranks"));
        let ranks = folder.read("ranks");
        let mut slots: Vec<String> =
            ranks.lines().map(|line| line.split_once('=').unwrap().1.to_owned()).collect();
        slots.sort();
        slots
    };
    let cores = launched("8(x3)", "slurm:node=4:2");
    assert_eq!(cores[..4], ["n1 slot=0:0-1", "n1 slot=0:2-3", "n1 slot=1:0-1", "n1 slot=1:2-3"]);
    // Nodes of 2 packages of 4 cores of 2 threads.
    let threads = launched("16(x3)", "slurm --pe=thread");
    assert_eq!(threads.len(), 12);
    assert!(threads.iter().all(|slot| !slot.contains('-') && slot[slot.len() - 1..] < *"4"), "{threads:?}");
}

#[test]
fn ranks_of_several_cores_stay_within_the_cores_of_the_job() {
    let folder = folder(&[]);
    let some = job("SLURM_CPUS_PER_TASK=3 SLURM_JOB_CPUS_PER_NODE=12(x3)");
    let expected = "3 cores do not fill the sockets of n1 and 2 more: 1 of 4 ranks";
    says(&launched(&folder, &some, "slurm:node=8:2").0, [expected]);
    let mut bound: Vec<Vec<u32>> = ranks(&folder).into_iter().map(|(_, cpus)| cpus).collect();
    bound.sort_unstable();
    bound.dedup();
    // The job has all of the first package and half of the second: what is left over in both makes up a rank.
    assert_eq!(bound, [vec![0, 1, 2], vec![3, 4, 5], vec![6, 7, 11], vec![8, 9, 10]]);
}

/// Maps as many processes as there are and launches them with scripts. Returns stdout and stderr.
fn launched(folder: &Folder, job: &str, machine: &str) -> (String, String) {
    said_by(viem(folder, job, machine).arg("--launch=slurm:hosts_of_ranks,bind"))
}

/// The host and the CPUs of each rank, from the files of a launch.
fn ranks(folder: &Folder) -> Vec<(String, Vec<u32>)> {
    let (hosts, script) = (folder.read("hosts_of_ranks"), folder.read("bind"));
    let cpus = script.lines().skip_while(|line| !line.starts_with("# The CPUs")).skip(1);
    let cpus = cpus.map(|line| line.split(',').map(|cpu| cpu.parse().unwrap()).collect());
    hosts.lines().map(str::to_owned).zip(cpus).collect()
}

/// The CPUs of the ranks of each host, sorted.
fn cpus_by_host(folder: &Folder) -> BTreeMap<String, Vec<Vec<u32>>> {
    let mut by_host: BTreeMap<String, Vec<Vec<u32>>> = BTreeMap::new();
    for (host, cpus) in ranks(folder) {
        by_host.entry(host).or_default().push(cpus);
    }
    by_host.values_mut().for_each(|all| all.sort_unstable());
    by_host
}

/// A graph of so many processes in a row.
fn write_row(folder: &Folder, processes: usize) {
    let line = |v: usize| {
        let neighbours = [v.wrapping_sub(1), v + 1];
        neighbours.iter().filter(|&&u| u < processes).map(|u| format!("{} ", u + 1)).collect::<String>()
            + "\n"
    };
    let lines: String = (0..processes).map(line).collect();
    folder.write("graph", format!("{processes} {}\n{lines}", processes - 1));
}

/// Two nodes of 32 CPUs.
const TWO: &str = "SLURM_JOB_NODELIST=x[1-2] SLURM_JOB_CPUS_PER_NODE=32(x2)";

#[test]
fn a_job_has_as_many_ranks_on_each_node_as_it_asked_for() {
    let folder = folder(&[]);
    // Variables, options of the machine, ranks on each node, and cores of a rank; 0 if they are a share of the node.
    let cases = [
        ("SLURM_TASKS_PER_NODE=4(x2) SLURM_NTASKS=8 SLURM_NTASKS_PER_NODE=4", "", [4, 4], 8),
        ("SLURM_TASKS_PER_NODE=4(x2)", "", [4, 4], 8),
        ("SLURM_TASKS_PER_NODE=8,4", "", [8, 4], 0),
        ("SLURM_NTASKS_PER_NODE=4 SLURM_NTASKS=7", "", [4, 3], 0),
        ("SLURM_NTASKS_PER_NODE=2", "", [2, 2], 16),
        ("SLURM_NTASKS=8", "", [4, 4], 8),
        ("SLURM_TASKS_PER_NODE=4(x2) SLURM_CPUS_PER_TASK=2", "", [4, 4], 2),
        ("SLURM_CPUS_PER_TASK=8", "", [4, 4], 8),
        ("SLURM_TASKS_PER_NODE=16(x2)", ",ranks=4", [4, 4], 8),
        ("SLURM_TASKS_PER_NODE=32(x2)", ",ranks=2,cores=8", [2, 2], 8),
    ];
    for (others, options, per_node, cores) in cases {
        write_row(&folder, per_node.iter().sum());
        let machine = format!("slurm:node=16:2,topology=none{options}");
        let (text, _) = launched(&folder, &format!("{TWO} {others}"), &machine);
        let by_host = cpus_by_host(&folder);
        let counts: Vec<(&str, usize)> = by_host.iter().map(|(host, all)| (&**host, all.len())).collect();
        assert_eq!(counts, [("x1", per_node[0]), ("x2", per_node[1])], "{others}");
        for (all, of_node) in by_host.values().zip(per_node) {
            let cores = if cores == 0 { 32 / of_node } else { cores };
            let mut used = all.concat();
            used.sort_unstable();
            used.dedup();
            assert_eq!(used.len(), of_node * cores, "{others}");
            assert!(all.iter().all(|cpus| cpus.len() == cores), "{others}");
            if of_node % 2 == 0 {
                let of_socket =
                    |socket: u32| all.iter().filter(|cpus| cpus.iter().all(|cpu| cpu / 16 == socket)).count();
                assert_eq!([of_socket(0), of_socket(1)], [of_node / 2; 2], "{others}");
            }
        }
        says(&text, ["; empty nodes: none\n"]);
        if cores > 0 {
            says(&text, [format!("ranks per node: {}; cores per rank: {cores};", per_node[0])]);
        }
    }
}

#[test]
fn nodes_that_stay_empty_are_named() {
    let folder = folder(&[("hosts", "a\nb\nc\n")]);
    let empty = |job: &str, machine: &str, expected| map(&folder, job, machine, [expected]);
    empty(TWO, "slurm:node=16:2", "ranks per node: 12; cores per rank: 1; empty nodes: x2\n");
    let six = "ranks per node: 6; cores per rank: 5; empty nodes: c\n";
    empty("", "hosts:hosts,node=16:2,ranks=6(x2),3", six);
    let listed = "ranks per node: 6; cores per rank: 1; empty nodes: c\n";
    empty("", "hosts:hosts,node=16:2 --pes=0-5,32-37", listed);
    let text = map(&folder, "", "4:4 --distances=1:2", []);
    assert!(!text.contains("ranks per node"), "{text}");
    write_row(&folder, 2);
    let one = "ranks per node: 1; cores per rank: 8; empty nodes: n3\n";
    empty(&job("SLURM_NTASKS=2"), "slurm", one);
}

#[test]
fn ranks_of_hosts_of_gpus_have_gpus() {
    let all = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\tX\tNV18\t0-7\nGPU1\tNV18\tX\t0-7\n";
    let folder = folder(&[("hosts", "n[1-7]\n"), ("all", all)]);
    map(&folder, "", "hosts:hosts,node=all", ["; GPUs per rank: 1; empty nodes: "]);
}

/// Two packages with two GPUs each, which have four NVLinks.
const GPUS: &str = r#"<topology version="2.0"><object type="Machine">
  <object type="Package"><object type="NUMANode"/><object type="Bridge" bridge_type="0-1">
    <object type="Bridge" bridge_type="1-1"><object type="PCIDev" gp_index="1" pci_type="0302"/><object type="PCIDev" gp_index="2" pci_type="0302"/></object>
  </object></object>
  <object type="Package"><object type="NUMANode"/><object type="Bridge" bridge_type="0-1">
    <object type="Bridge" bridge_type="1-1"><object type="PCIDev" gp_index="3" pci_type="0302"/><object type="PCIDev" gp_index="4" pci_type="0302"/></object>
  </object></object></object>
  <distances2 type="PCIDev" kind="9"><indexes>1 2 3 4</indexes>
    <u64values>0 100000 0 0 100000 0 0 0 0 0 0 100000 0 0 100000 0</u64values></distances2></topology>"#;

#[test]
fn files_of_hwloc_have_gpus() {
    let folder = folder(&[("hosts", "n[1-3]\n"), ("gpus.xml", GPUS)]);
    write_row(&folder, 12);
    let shape = "machine: 3 nodes x 2 groups of GPUs x 2 GPUs = 2:2:3, distances 18:144:145 (assumed)";
    let ranks = "ranks per node: 4; GPUs per rank: 1; empty nodes: none";
    map(&folder, "", "hosts:hosts,node=gpus.xml --pe=gpu", [shape, ranks]);
    // Slurm counts CPUs.
    let asked = job("SLURM_TASKS_PER_NODE=4(x3) SLURM_NTASKS=12 SLURM_CPUS_PER_TASK=4");
    map(&folder, &asked, "slurm:node=gpus.xml --pe=gpu", [ranks]);
    let plain = "machine: 3 nodes x 4 cores = 4:3, distances 1:30 (assumed)";
    map(&folder, &asked, "slurm:node=4 --pe=gpu", [plain]);
    refused(&folder, "", "'hwloc:pack:2 core:4 pu:1' --pe=gpu", 2, "a synthetic node has no GPUs");
    refused(&folder, "", "4:4 --pe=gpu", 2, "--pe is for clusters");
}

/// Two packages of two cores; the GPU of the second one has the lower address.
const TURNED: &str = r#"<topology version="2.0"><object type="Machine">
  <object type="Package"><object type="NUMANode"/>
    <object type="Core"><object type="PU" os_index="0"/></object><object type="Core"><object type="PU" os_index="1"/></object>
    <object type="Bridge" bridge_type="0-1"><object type="PCIDev" pci_busid="0000:e1:00.0" pci_type="0302"/></object></object>
  <object type="Package"><object type="NUMANode"/>
    <object type="Core"><object type="PU" os_index="2"/></object><object type="Core"><object type="PU" os_index="3"/></object>
    <object type="Bridge" bridge_type="0-1"><object type="PCIDev" pci_busid="0000:25:00.0" pci_type="0302"/></object></object>
  </object></topology>"#;

/// In a job of Slurm and with a file of hosts alike, and whatever describes the node.
#[test]
fn ranks_on_gpus_are_bound_to_the_cores_near_them() {
    let table = "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\tX\tSYS\t2-3\t1\nGPU1\tSYS\tX\t0-1\t0\n";
    let unknown = table.replace("2-3\t1", "N/A\tN/A");
    let odd = "n1\n-n2\nn3\n";
    let files = [("hosts", "n[1-3]\n"), ("odd", odd), ("node.xml", TURNED), ("table", table)];
    let folder = folder(&files);
    folder.write("unknown", &unknown);
    write_row(&folder, 6);
    let asked = job("SLURM_TASKS_PER_NODE=2(x3) SLURM_NTASKS=6 SLURM_CPUS_PER_TASK=2");
    for machine in
        ["slurm:node=node.xml", "slurm:node=table", "hosts:hosts,node=node.xml", "hosts:hosts,node=table"]
    {
        let launch = |kind: &str| {
            said_by(&mut viem(&folder, &asked, &format!("{machine} --pe=gpu --launch={kind}"))).0
        };
        // Whatever binds and whatever numbers GPUs means the same place on each node.
        launch("slurm:hosts_of_ranks,bind");
        let bound = ranks(&folder);
        says(&launch("torchrun:rank.sh"), ["ranks per node: 2; GPUs per rank: 1; empty nodes: none"]);
        let script = folder.read("rank.sh");
        for line in script.lines().skip_while(|line| !line.starts_with("# The host, the GPU")).skip(1) {
            let words: Vec<&str> = line.split(' ').collect();
            let cpus = [[2, 3], [0, 1]][words[1].parse::<usize>().unwrap()].to_vec();
            assert_eq!(bound[words[2].parse::<usize>().unwrap()], (words[0].to_owned(), cpus), "{machine}");
        }
        // What was written is read as the mapping that it was made of.
        let cost = objective(&launch("mpich40:placed"));
        let line = format!("viem score graph placed --machine={machine} --pe=gpu");
        assert_eq!(objective(&stdout_of(&mut in_job(&folder, &asked, &line))), cost, "{machine}");
    }
    let near = "but those near the GPUs of n1 are not known";
    let slurm = format!("slurm binds ranks to cores, {near}, or not in the job; use torchrun, mpijob,");
    let numbers = "openmpi5 needs packages and cores, but only the numbers of the CPUs near the GPUs of n1";
    for (machine, reason) in [
        ("hosts,node=unknown --pe=gpu --launch=slurm:near,bind", slurm),
        ("hosts,node=2 --pe=gpu --launch=cray:near", format!("cray binds ranks to cores, {near}")),
        ("hosts,node=table --pe=gpu --launch=openmpi5:near", numbers.to_owned()),
        ("odd,node=2 --launch=openmpi:near", "host `-n2` begins with a dash".to_owned()),
    ] {
        refused(&folder, "", &format!("hosts:{machine}"), 2, &reason);
    }
}

#[test]
fn tasks_that_are_more_than_cores_are_on_hardware_threads() {
    let folder = folder(&[]);
    write_row(&folder, 48);
    // Nodes of 2 packages of 4 cores of 2 threads.
    let (text, _) = launched(&folder, &job("SLURM_TASKS_PER_NODE=16(x3) SLURM_NTASKS=48"), "slurm");
    says(&text, ["processing elements are hardware threads"]);
    says(&text, ["ranks per node: 16; hardware threads per rank: 1; empty nodes: none"]);
    // Slurm notes a task for each CPU if nothing is asked for.
    write_row(&folder, 24);
    let (text, _) = launched(&folder, &job("SLURM_TASKS_PER_NODE=16(x3)"), "slurm");
    says(&text, ["ranks per node: 8; cores per rank: 1; empty nodes: none"]);
    // Three threads each: whole cores do not suffice.
    write_row(&folder, 15);
    let (text, _) = launched(&folder, &job("SLURM_TASKS_PER_NODE=5(x3) SLURM_CPUS_PER_TASK=3"), "slurm");
    says(&text, ["ranks per node: 5; hardware threads per rank: 3; empty nodes: none"]);
    // Slurm 22.05 does so for ten tasks of three CPUs on two nodes.
    write_row(&folder, 10);
    let many = "SLURM_JOB_NODELIST=n[1-2] SLURM_JOB_CPUS_PER_NODE=16,12 SLURM_TASKS_PER_NODE=6,4 \
                SLURM_NTASKS=10 SLURM_CPUS_PER_TASK=3 SLURMD_NODENAME=n1";
    let (text, warnings) = launched(&folder, many, "slurm");
    says(&text, ["ranks per node: 6,4; cores per rank: 1; empty nodes: none"]);
    says(&warnings, ["n1 and 1 more: too few CPUs for SLURM_CPUS_PER_TASK"]);
}

#[test]
fn cpus_that_are_hardware_threads_need_a_description_with_them() {
    let folder = folder(&[]);
    write_row(&folder, 8);
    let job = "SLURM_JOB_NODELIST=x[1-2] SLURM_JOB_CPUS_PER_NODE=64(x2) SLURM_TASKS_PER_NODE=4(x2)";
    let expected = "host x1 has 64 CPUs, but the node described has 32 cores";
    let text = refused(&folder, job, "slurm:node=16:2,topology=none", 65, expected);
    says(&text, ["with its hardware threads if these are counted (pack:2 core:16 pu:2)"]);
    let (text, _) = launched(&folder, job, "'slurm:node=pack:2 core:16 pu:2,topology=none'");
    says(&text, ["ranks per node: 4; cores per rank: 8; empty nodes: none"]);
}

#[test]
fn the_tasks_of_a_step_are_not_those_of_the_job() {
    let folder = folder(&[]);
    let step = job("SLURM_TASKS_PER_NODE=1 SLURM_NTASKS=1 SLURM_STEP_NUM_TASKS=1");
    let (text, warnings) = launched(&folder, &step, "slurm:node=8:2");
    says(&text, ["3 nodes x 2 sockets x 8 cores = 8:2:3"]);
    says(&warnings, ["the tasks of this step are not those of the job"]);
    let (_, warnings) = launched(&folder, &job("SLURM_TASKS_PER_NODE=1"), "slurm:node=8:2");
    says(&warnings, ["SLURM_TASKS_PER_NODE has numbers of 1 node, but the job has 3; it is left out"]);
}

/// Puts a `scontrol` into a folder that prints the files `show.job`, `show.node` and `show.partition` of the folder, and the `lstopo` of the
/// tests if it is to be there. Returns the path to both.
fn with_scontrol(folder: &Folder, job: &str, nodes: &str, has_lstopo: bool) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let bin = folder.file("bin");
    fs::create_dir_all(&bin).unwrap();
    let shown = folder.file("show");
    folder.write(
        "bin/scontrol",
        format!("#!/bin/sh\ntest \"$1\" = show && exec /bin/cat '{}'.\"$2\"\n", shown.display()),
    );
    fs::set_permissions(bin.join("scontrol"), fs::Permissions::from_mode(0o755)).unwrap();
    folder.write("show.job", job);
    folder.write("show.node", nodes);
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools");
    if has_lstopo { format!("{}:{}", bin.display(), tools.display()) } else { bin.display().to_string() }
}

/// What `scontrol show job -d` prints of job 1: tasks in all and on each node, CPUs of a task, and lines of nodes.
fn shown_job(tasks: u32, per_node: u32, cpus: u32, nodes: &[&str]) -> String {
    let lines: String = nodes.iter().map(|line| format!("     Nodes={line} Mem=0 GRES=\n")).collect();
    format!(
        "JobId=1 JobName=x\n   NumNodes=2 NumCPUs=8 NumTasks={tasks} CPUs/Task={cpus} ReqB:S:C:T=0:0:*:*\n   \
         Socks/Node=* NtasksPerN:B:S:C={per_node}:0:*:* CoreSpec=*\n{lines}"
    )
}

/// What `scontrol show node` prints of nodes of so many sockets, cores in each and threads in each.
fn shown_nodes(names: &[&str], sockets: u32, cores: u32, threads: u32) -> String {
    let shown = |name| {
        format!(
            "NodeName={name} Arch=x86_64 CoresPerSocket={cores} \n   RealMemory=1 Sockets={sockets} Boards=1\n   \
             State=ALLOCATED ThreadsPerCore={threads} TmpDisk=0\n\n"
        )
    };
    names.iter().map(shown).collect()
}

/// The environment in steps, as Slurm 22.05 sets it; tasks in all and on the nodes and CPUs of a task as `scontrol` has them, if it is there;
/// ranks on each node and cores of each; and a warning.
type InStep<'a> = (&'a str, Option<(u32, u32, u32)>, &'a str, &'a str);

#[test]
fn ranks_are_those_of_the_job_from_inside_its_steps() {
    let folder = folder(&[]);
    let four = "SLURM_JOB_ID=1 SLURM_JOB_NODELIST=n[1,3-4,6] SLURM_JOB_CPUS_PER_NODE=8(x4) \
                SLURM_STEP_NUM_TASKS=1 SLURM_STEP_TASKS_PER_NODE=1 SLURM_STEP_NODELIST=n1";
    let interactive =
        "SLURM_STEP_ID=4294967290 SLURM_NTASKS=16 SLURM_TASKS_PER_NODE=4(x4) SLURM_NTASKS_PER_NODE=4";
    let plain = "SLURM_STEP_ID=0 SLURM_NTASKS=1 SLURM_TASKS_PER_NODE=1";
    let two = format!("{plain} SLURM_CPUS_PER_TASK=2");
    let eight = format!("{plain} SLURM_CPUS_PER_TASK=8");
    let per_node = format!("{eight} SLURM_NTASKS_PER_NODE=4");
    let daemons = "SLURM_STEP_ID=0 SLURM_NTASKS=3 SLURM_STEP_NUM_TASKS=3 SLURM_STEP_TASKS_PER_NODE=1(x3) \
                   SLURM_STEP_NODELIST=n[3-4,6] SLURM_TASKS_PER_NODE=1(x3) OMPI_COMM_WORLD_SIZE=16";
    let unknown = "the tasks of this step are not those of the job";
    let cases: [InStep<'_>; 11] = [
        (interactive, None, "ranks per node: 4; cores per rank: 2;", ""),
        (plain, None, "ranks per node: 8; cores per rank: 1;", unknown),
        (&two, None, "ranks per node: 8; cores per rank: 1;", unknown),
        (&eight, None, "ranks per node: 8; cores per rank: 1;", unknown),
        (&per_node, None, "ranks per node: 4; cores per rank: 2;", ""),
        (&eight, Some((16, 4, 1)), "ranks per node: 4; cores per rank: 1;", ""),
        (plain, Some((16, 0, 2)), "ranks per node: 4; cores per rank: 2;", ""),
        (plain, Some((10, 0, 1)), "ranks per node: 3(x2),2(x2); cores per rank: 1;", ""),
        // Nobody asked for tasks.
        (plain, Some((4, 0, 1)), "ranks per node: 8; cores per rank: 1;", ""),
        (plain, Some((4, 0, 4)), "ranks per node: 2; cores per rank: 4;", ""),
        (daemons, Some((16, 4, 2)), "ranks per node: 4; cores per rank: 2;", ""),
    ];
    for (others, job, expected, warning) in cases {
        let ranks = expected.trim_start_matches("ranks per node: ").split(';').next().unwrap();
        let processes = if ranks.len() == 1 { 4 * ranks.parse::<usize>().unwrap() } else { 10 };
        write_row(&folder, processes);
        let mut viem = viem(&folder, &format!("{four} {others}"), "slurm:node=4:2,topology=none");
        if let Some((tasks, per_node, cpus)) = job {
            let nodes = shown_nodes(&["n1", "n3", "n4", "n6"], 2, 4, 1);
            let job = shown_job(tasks, per_node, cpus, &["n[1,3-4,6] CPU_IDs=0-7"]);
            viem.env("PATH", with_scontrol(&folder, &job, &nodes, false));
        }
        let (text, warnings) = said_by(viem.arg("--launch=slurm:hosts_of_ranks,bind"));
        assert!(text.contains(expected) && text.contains("empty nodes: none"), "{others} {job:?}: {text}");
        let is_warned = !warning.is_empty();
        assert_eq!(warnings.contains("warning"), is_warned, "{others} {job:?}: {warnings}");
        assert!(warnings.contains(warning), "{others} {job:?}: {warnings}");
    }
}

#[test]
fn a_program_that_is_a_step_has_its_ranks_where_the_step_is() {
    let folder = folder(&[]);
    let step = "SLURM_JOB_ID=1 SLURM_JOB_NODELIST=n[1-4] SLURM_JOB_CPUS_PER_NODE=8,4(x3) SLURM_NTASKS=5 \
                SLURM_TASKS_PER_NODE=3,2 SLURM_STEP_ID=2 SLURM_STEP_NUM_TASKS=5 SLURM_STEP_NODELIST=n[4,1] \
                SLURM_STEP_TASKS_PER_NODE=3,2";
    write_row(&folder, 5);
    let counts = |job: &str| -> Vec<(String, usize)> {
        launched(&folder, job, "slurm:node=4:2,topology=none");
        cpus_by_host(&folder).into_iter().map(|(host, all)| (host, all.concat().len())).collect()
    };
    assert_eq!(counts(step), [("n1".to_owned(), 8), ("n4".to_owned(), 3)]);
    // A step of two groups of a heterogeneous job.
    let groups = "SLURM_HET_SIZE=2 SLURM_JOB_NODELIST=n[1,4] \
                  SLURM_JOB_NODELIST_HET_GROUP_0=n1 SLURM_JOB_CPUS_PER_NODE_HET_GROUP_0=4 \
                  SLURM_JOB_NODELIST_HET_GROUP_1=n[3-4] SLURM_JOB_CPUS_PER_NODE_HET_GROUP_1=8,6";
    assert_eq!(counts(&format!("{step} {groups}")), [("n1".to_owned(), 4), ("n4".to_owned(), 6)]);
}

/// Rank r is on the PE of that number only where Slurm has numbered the tasks node by node.
#[test]
fn steps_that_are_not_in_blocks_are_refused() {
    let folder = folder(&[]);
    write_row(&folder, 4);
    let two = "SLURM_JOB_NODELIST=n[1-2] SLURM_JOB_CPUS_PER_NODE=8(x2) SLURM_NTASKS=4";
    let step = |distribution: &str, plane: &str| {
        format!(
            "{two} SLURM_STEP_NUM_TASKS=4 SLURM_STEP_NODELIST=n[1-2] SLURM_STEP_TASKS_PER_NODE=2(x2) \
             SLURM_DISTRIBUTION={distribution} SLURM_DIST_PLANESIZE={plane}"
        )
    };
    let machine = "slurm:node=4:2,topology=none";
    for (distribution, plane) in [("cyclic", ""), ("cyclic:block", ""), ("plane", "1"), ("arbitrary", "")] {
        let expected = format!("(SLURM_DISTRIBUTION={distribution})");
        refused(&folder, &step(distribution, plane), machine, 2, &expected);
    }
    for (distribution, plane) in [("block", ""), ("block:cyclic,NoPack", ""), ("plane", "2")] {
        launched(&folder, &step(distribution, plane), machine);
    }
    // Slurm may number the tasks of blocks in the order of the switches. Its release is not known here.
    folder.write("leaves", "SwitchName=a Nodes=n2\nSwitchName=b Nodes=n1\n");
    let by_switches = "slurm:node=4:2,topology=leaves";
    let expected = "(Slurm numbers tasks in the order of the topology)";
    refused(&folder, &step("block", ""), by_switches, 2, expected);
    launched(&folder, &step("plane", "2"), by_switches);
    // What a node knows of its own tasks.
    let other = step("block", "") + " SLURM_NODEID=1 SLURM_GTIDS=0,1";
    refused(&folder, &other, machine, 2, "(node 1 has the tasks 0,1)");
    let job = format!("{two} SLURM_TASKS_PER_NODE=2(x2) SLURM_DISTRIBUTION=cyclic");
    says(&launched(&folder, &job, machine).0, ["SLURM_DISTRIBUTION=cyclic: a job that is not mapped"]);
}

#[test]
fn ranks_on_gpus_are_bound_to_cores_of_the_job_only() {
    let table = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\tX\tSYS\t0-3,8-11\nGPU1\tSYS\tX\t4-7,12-15\n";
    let odd = table.replace("0-3,8-11", "0,2,4,6").replace("4-7,12-15", "1,3,5,7");
    let folder = folder(&[("table", table), ("odd", &odd), ("node.xml", TURNED)]);
    write_row(&folder, 4);
    let run = |node: &str, cpus: &str, path: &str, kind: &str| {
        let job = format!(
            "SLURM_JOB_ID=1 SLURM_JOB_NODELIST=n[1-2] SLURM_JOB_CPUS_PER_NODE={cpus} SLURM_NTASKS=4 \
             SLURM_TASKS_PER_NODE=2(x2) SLURMD_NODENAME=login PATH='{path}'"
        );
        let machine = format!("slurm:topology=none,node={node} --pe=gpu --launch={kind}");
        let output = viem(&folder, &job, &machine).output().unwrap();
        let notes = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), notes, cpus_by_host(&folder))
    };
    // Slurm numbers the threads of a core one after the other: cores 1, 2, 4 and 5, and on the other node half of each socket.
    let nodes = shown_nodes(&["n1", "n2"], 2, 4, 2);
    let parts = shown_job(4, 0, 1, &["n1 CPU_IDs=2-5,8-11", "n2 CPU_IDs=4-7,12-15"]);
    let path = with_scontrol(&folder, &parts, &nodes, false);
    let bind = "slurm:hosts_of_ranks,bind";
    let (code, notes, by_host) = run("table", "8(x2)", &path, bind);
    assert!(code == Some(0) && !notes.contains("warning"), "{notes}");
    assert_eq!(by_host["n1"], [[1, 2, 9, 10], [4, 5, 12, 13]]);
    assert_eq!(by_host["n2"], [[2, 3, 10, 11], [6, 7, 14, 15]]);
    let unknown = "which CPUs of n1 and 1 more belong to the job is not known";
    for (node, cpus, path) in [("odd", "8(x2)", &*path), ("table", "8(x2)", "/nowhere")] {
        let (code, notes, _) = run(node, cpus, path, bind);
        assert!(code == Some(0) && notes.contains(unknown), "{notes}");
    }
    let (code, notes, _) = run("table", "16(x2)", "/nowhere", bind);
    assert!(code == Some(0) && !notes.contains("warning"), "{notes}");
    // The job has nothing near the second GPU, and what is said of its cores holds for the whole node only.
    let one = shown_job(4, 0, 1, &["n1 CPU_IDs=0-7", "n2 CPU_IDs=0-15"]);
    let path = with_scontrol(&folder, &one, &nodes, false);
    let (code, notes, _) = run("table", "8,16", &path, bind);
    let missing = "near the GPUs of n1 are not known, or not in the job";
    assert!(code == Some(2) && notes.contains(missing), "{notes}");
    let parts = shown_job(4, 0, 1, &["n[1-2] CPU_IDs=1-2"]);
    let path = with_scontrol(&folder, &parts, &shown_nodes(&["n1", "n2"], 2, 2, 1), false);
    let (code, notes, by_host) = run("node.xml", "2(x2)", &path, bind);
    assert_eq!((code, &by_host["n1"]), (Some(0), &vec![vec![1], vec![2]]), "{notes}");
    let (code, notes, _) = run("node.xml", "2(x2)", &path, "openmpi5:near");
    assert!(code == Some(2) && notes.contains("only the numbers of the CPUs near the GPUs of n1"), "{notes}");
}

#[test]
fn ranks_are_on_the_cpus_that_slurm_gave() {
    let folder = folder(&[]);
    let run = |machine: &str, job: &str, path: &str| {
        let (text, notes) = launched(&folder, &format!("{job} PATH='{path}'"), machine);
        (text, notes, cpus_by_host(&folder))
    };
    // Slurm gives CPUs of sockets by turns.
    let nodes = shown_nodes(&["n1", "n2"], 2, 4, 1);
    let shared = "SLURM_JOB_ID=1 SLURM_JOB_NODELIST=n[1-2] SLURM_JOB_CPUS_PER_NODE=4,1 SLURM_NTASKS=5 \
                  SLURM_TASKS_PER_NODE=4,1";
    write_row(&folder, 5);
    let job = shown_job(5, 0, 1, &["n1 CPU_IDs=0-1,4-5", "n2 CPU_IDs=6"]);
    let path = with_scontrol(&folder, &job, &nodes, false);
    for machine in ["slurm:topology=none", "slurm:node=4:2,topology=none"] {
        let (_, notes, by_host) = run(machine, shared, &path);
        assert_eq!(by_host["n1"], [[0], [1], [4], [5]], "{machine}");
        assert_eq!(by_host["n2"], [[6]], "{machine}");
        assert!(!notes.contains("warning"), "{notes}");
    }
    let (notes, _, _) = run("slurm:topology=none", shared, &path);
    says(&notes, ["n1 and 1 more are each taken to be as Slurm describes it: 2 x 4 cores"]);
    let (_, warnings, by_host) = run("slurm:node=4:2,topology=none", shared, "/nowhere");
    assert_eq!(by_host["n1"], [[0], [1], [2], [3]]);
    says(&warnings, ["which CPUs of n1 and 1 more belong to the job is not known (scontrol cannot be run"]);
    // CPUs are hardware threads: 4 cores of the first node, and one of the second.
    let nodes = shown_nodes(&["t5", "t6"], 2, 4, 2);
    let threads = "SLURM_JOB_ID=1 SLURM_JOB_NODELIST=t[5-6] SLURM_JOB_CPUS_PER_NODE=8,2 SLURM_NTASKS=10 \
                   SLURM_TASKS_PER_NODE=8,2 SLURMD_NODENAME=t5";
    write_row(&folder, 10);
    let job = shown_job(10, 0, 1, &["t5 CPU_IDs=0-3,8-11", "t6 CPU_IDs=0-1"]);
    for has_lstopo in [true, false] {
        let path = with_scontrol(&folder, &job, &nodes, has_lstopo);
        let (text, notes, by_host) = run("slurm:topology=none", threads, &path);
        says(&text, ["ranks per node: 8,2; hardware threads per rank: 1; empty nodes: none"]);
        assert_eq!(by_host["t5"], [[0], [1], [4], [5], [8], [9], [12], [13]]);
        assert_eq!(by_host["t6"], [[0], [8]]);
        assert!(!notes.contains("warning"), "{notes}");
    }
    let (_, warnings, _) = run("'slurm:node=pack:2 core:4 pu:2,topology=none'", threads, "/nowhere");
    says(&warnings, ["so these may be either; they are taken to be cores"]);
    // They are cores with --hint=nomultithread.
    let cores = format!(
        "{threads} SLURM_JOB_CPUS_PER_NODE=7,1 SLURM_THREADS_PER_CORE=1 SLURM_NTASKS=8 SLURM_TASKS_PER_NODE=7,1"
    );
    write_row(&folder, 8);
    let job = shown_job(8, 0, 1, &["t5 CPU_IDs=0-13", "t6 CPU_IDs=0-1"]);
    let path = with_scontrol(&folder, &job, &nodes, true);
    let (text, notes, by_host) = run("slurm:topology=none", &cores, &path);
    says(&text, ["ranks per node: 7,1; cores per rank: 1; empty nodes: none"]);
    assert_eq!((by_host["t5"][6].as_slice(), by_host["t6"][0].as_slice()), (&[6, 14][..], &[0, 8][..]));
    assert!(!notes.contains("warning"), "{notes}");
}

#[test]
fn nodes_are_as_large_as_slurm_says() {
    let folder = folder(&[]);
    write_row(&folder, 28);
    // This node has 2 x 4 cores of 2 hardware threads.
    let nodes = [("a1", 2, 4, 2), ("b1", 1, 12, 1), ("c1", 4, 2, 1)];
    let nodes = nodes.map(|(name, sockets, cores, threads)| shown_nodes(&[name], sockets, cores, threads));
    let shown = shown_job(3, 0, 1, &["a1 CPU_IDs=0-15", "b1 CPU_IDs=0-11", "c1 CPU_IDs=0-7"]);
    let path = with_scontrol(&folder, &shown, &nodes.concat(), true);
    let job = format!(
        "SLURM_JOB_ID=1 SLURM_JOB_NODELIST=a1,b1,c1 SLURM_JOB_CPUS_PER_NODE=16,12,8 SLURMD_NODENAME=a1 PATH='{path}'"
    );
    let (text, notes) = launched(&folder, &job, "slurm:topology=none");
    says(&text, ["3 nodes, 5 sockets, 28 cores, uneven"]);
    says(&text, ["b1 is taken to be as Slurm describes it: 1 x 12 cores"]);
    assert!(!notes.contains("warning") && !text.contains("c1 is"), "{notes}");
}

#[test]
fn partitions_choose_a_topology() {
    let yaml = "- topology: a\n  cluster_default: true\n  flat: true\n- topology: b\n  tree:\n    switches:\n    - {switch: s, nodes: 'n[1-2]'}\n    - {switch: t, nodes: n3}\n";
    let folder =
        folder(&[("topology.yaml", yaml), ("show.partition", "PartitionName=p\n   State=UP Topology=b\n")]);
    let shown = shown_job(3, 0, 1, &["n[1-3] CPU_IDs=0-15"]);
    let path = with_scontrol(&folder, &shown, &shown_nodes(&["n1", "n2", "n3"], 2, 4, 2), true);
    for (others, expected) in [
        ("", "3 nodes x 2 sockets x 4 cores"),
        ("SLURM_JOB_PARTITION=p SLURM_JOB_ID=1", "2 switches, 3 nodes, 6 sockets, 24 cores, uneven"),
    ] {
        for machine in ["slurm", "slurm:topology=topology.yaml"] {
            let job = job(&format!("{others} PATH='{path}'"));
            let text = stdout_of(&mut viem(&folder, &job, machine));
            assert!(text.contains(expected), "{machine} {others}: {text}");
        }
    }
}

#[test]
fn models_that_are_larger_than_the_job_are_explained() {
    let folder = folder(&[(
        "node.txt",
        "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\nGPU0\tX\tNV18\tSYS\tSYS\t0-3\nGPU1\tNV18\tX\tSYS\tSYS\t0-3\nGPU2\tSYS\tSYS\tX\tNV18\t4-7\nGPU3\tSYS\tSYS\tNV18\tX\t4-7\n",
    )]);
    write_row(&folder, 24);
    let shown = |cpus: &str, code, expected| {
        let job = format!(
            "SLURM_JOB_NODELIST=n[1-4] SLURM_NTASKS=20 SLURM_TASKS_PER_NODE=8(x2),3,1 SLURM_JOB_CPUS_PER_NODE={cpus}"
        );
        refused(&folder, &job, "slurm:node=4:2,topology=none --launch=slurm:h,b", code, expected)
    };
    let expected = "the graph has 24 processes, and there is room for 20 in the Slurm job (SLURM_TASKS_PER_NODE=8(x2),3,1): ask Slurm for 24 tasks";
    shown("8(x2),3,1", 2, expected);
    let text = shown("1(x4)", 65, "more tasks than CPUs: 8 of them on n1");
    assert_eq!(text.trim().lines().count(), 1, "{text}");
    // A task that starts a process for each GPU.
    let torchrun = "SLURM_JOB_NODELIST=n[1-4] SLURM_NTASKS=4 SLURM_NTASKS_PER_NODE=1 SLURM_TASKS_PER_NODE=1(x4) \
                    SLURM_JOB_CPUS_PER_NODE=8(x4)";
    for (gpus, per_node) in [
        ("SLURM_GPUS_PER_NODE=a100:4", 4),
        ("SLURM_GPUS_ON_NODE=2", 2),
        ("SLURM_JOB_GPUS=0,1,3", 3),
        ("SLURM_GPUS_ON_NODE=1", 1),
    ] {
        write_row(&folder, 4 * per_node);
        let machine = "slurm:node=node.txt,topology=none --pe=gpu --launch=torchrun:rank.sh";
        let text = stdout_of(&mut viem(&folder, &format!("{torchrun} {gpus}"), machine));
        fs::remove_file(folder.file("rank.sh")).unwrap();
        let expected = format!("ranks per node: {per_node}; GPUs per rank: 1; empty nodes: none");
        assert!(text.contains(&expected), "{gpus}: {text}");
        assert_eq!(text.contains("taken to be a launcher"), per_node > 1, "{text}");
    }
}

#[test]
fn slots_of_hosts_are_ranks_that_share_the_cores() {
    let folder =
        folder(&[("hosts", "n1 slots=4\nn2 slots=4\nn3:4\n"), ("most", "n1 max_slots=4\nn2:4\nn3:4\n")]);
    for hosts in ["hosts", "most"] {
        let (text, warnings) = launched(&folder, "", &format!("hosts:{hosts},node=8:2"));
        says(&text, ["ranks per node: 4; cores per rank: 4; empty nodes: none"]);
        assert!(!warnings.contains("fewer slots"), "{warnings}");
        let expected: [Vec<u32>; 4] = [0, 4, 8, 12].map(|first| (first..first + 4).collect());
        assert!(cpus_by_host(&folder).values().all(|cpus| cpus[..] == expected));
    }
    let shape = "3 nodes x 2 sockets x 4 cores = 4:2:3";
    map(&folder, "", "hosts:hosts,node=8:2,ranks=8,cores=1", [shape]);
}

#[test]
fn two_kinds_of_nodes_have_a_description_each() {
    let folder = folder(&[("hosts", "old1 slots=32\nold2 slots=32\nnew1 slots=44\nnew2 slots=44\n")]);
    write_row(&folder, 152);
    let rankfile = |machine: &str| {
        let said = said_by(viem(&folder, "", machine).arg("--launch=openmpi:rf"));
        let file = folder.read("rf");
        let slots = file.lines().map(|line| {
            let (host, slot) = line.split_once('=').unwrap().1.split_once(" slot=").unwrap();
            (host.to_owned(), slot.split_once(':').unwrap().1.parse::<u32>().unwrap())
        });
        let slots: Vec<_> = slots.collect();
        assert_eq!(slots.len(), 152);
        // No host has a core of another kind of node.
        let cores = |host: &str| if host.starts_with("old") { 16 } else { 22 };
        assert!(slots.iter().all(|(host, core)| *core < cores(host)), "{machine}");
        said
    };
    for machine in [
        "hosts:hosts,node[old*]=16:2,node=22:2",
        "'hosts:hosts,node[new[1-2]]=pack:2 core:22,node[old1,old2]=16:2'",
        "'hwloc:pack:2 core:22,hosts=hosts,node[old*]=16:2'",
    ] {
        let (text, warnings) = rankfile(machine);
        says(&text, ["4 nodes, 8 sockets, 152 cores, uneven"]);
        says(&text, ["ranks per node: 32(x2),44(x2); cores per rank: 1; empty nodes: none"]);
        assert_eq!(warnings, "");
    }
    let (_, warnings) = rankfile("hosts:hosts,node=22:2");
    let expected = "old1, old2 have fewer slots than the 44 cores of the description, unlike other hosts; if old1 is another kind of \
                    node, describe it: node[old1]=";
    says(&warnings, [expected]);
    let expected = "host new1 has 44 slots, but the node described has 32 cores";
    refused(&folder, "", "hosts:hosts,node=16:2", 65, expected);
    let slurm = "SLURM_JOB_NODELIST=a[1-2],b1 SLURM_JOB_CPUS_PER_NODE=16(x2),8 SLURM_TASKS_PER_NODE=4(x2),2";
    write_row(&folder, 10);
    let ranks = "ranks per node: 4(x2),2; cores per rank: 4; empty nodes: none";
    map(&folder, slurm, "slurm:node[b*]=8,node=8:2", [ranks]);
}

#[test]
fn launch_lines_name_the_hosts_that_are_needed() {
    let four: String = (1..5).map(|host| format!("f{host} slots=4\n")).collect();
    let folder =
        folder(&[("hosts", &four), ("long", "worker.1.lab.example slots=6\nworker.2.lab.example slots=6\n")]);
    write_row(&folder, 8);
    let line = |machine: &str| {
        let text = stdout_of(&mut viem(&folder, "", &format!("hosts:{machine}")));
        text.lines().find(|line| line.starts_with("launch with: ")).unwrap().to_owned()
    };
    says(&line("hosts --launch=flux:h,b"), [" -N 2 -n 8 --exclusive --requires=host:f1,f2 "]);
    says(&line("long --launch=openmpi:rf"), ["mpirun --mca orte_keep_fqdn_hostnames 1 -n 8 "]);
    says(&line("long --launch=openmpi5:rf"), ["mpirun --prtemca prte_keep_fqdn_hostnames 1 -n 8 "]);
    assert!(!line("hosts --launch=openmpi:rf").contains("--mca"));
}

#[test]
fn weights_of_pes_leave_them_where_they_are() {
    let folder = folder(&[
        ("hosts", "n1 slots=3\nn2 slots=3\nn3 slots=3\n"),
        ("weights", "1\n2\n1\n2\n1\n2\n1\n2\n1\n"),
        ("ones", &"1\n".repeat(9)),
    ]);
    let machine = "hosts:hosts,node=1:3 --distances=9:1";
    let (_, warnings) = said_by(viem(&folder, "", machine).args(["--capacities=weights", "--picture=p.svg"]));
    says(&warnings, ["fall from the inside out"]);
    let cyclic = |weights: &str| {
        let line = "viem score graph permutation --compare=cyclic";
        let line = format!("{line} --capacities={weights} --machine={machine}");
        let text = stdout_of(&mut in_job(&folder, "", &line));
        text.lines().find(|line| line.trim_start().starts_with("cyclic")).unwrap().to_owned()
    };
    // With both arrangements, ranges of vertices go to the nodes in turn.
    assert_ne!(cyclic("weights"), cyclic("ones"));
    assert!(!cyclic("weights").contains(" 0.00 %"));
}

#[test]
fn where_threads_stay_free_the_mapping_is_written_even_if_it_cannot_be_launched() {
    let folder = folder(&[]);
    refused(&folder, "", "hwloc --pe=thread --launch=openmpi:ranks", 2, "are both on core");
    assert!(folder.has("permutation") && !folder.has("ranks"));
}

#[test]
fn hierarchies_typed_outermost_first_cause_a_warning() {
    let folder = folder(&[("hosts", "n1\nn2\n")]);
    let warnings = |machine: &str| said_by(&mut viem(&folder, "", machine)).1;
    says(&warnings("8:2:16 --distances=30:3:1"), ["give 16:2:8 and 1:3:30"]);
    says(&warnings("hosts:hosts,node=2:16"), ["it is 16:2"]);
    assert_eq!(warnings("hosts:hosts,node=16:2"), "");
}

/// A machine of one PE has no links and no switches.
#[test]
fn a_job_of_one_core_is_mapped_and_scored() {
    let folder = folder(&[("hosts", "n0\n"), ("one", "1 0\n\n")]);
    let machine = "-m hosts:hosts,node=1";
    for graph in ["one", "graph"] {
        folder.stdout(format!(
            "viem map {graph} {machine} -o permutation -v --json=report --picture=picture.svg"
        ));
        folder
            .stdout(format!("viem score {graph} permutation {machine} --json=report --picture=picture.svg"));
    }
    folder.stdout(format!("viem remap graph permutation {machine} --migration-weight=1 -o again"));
}
