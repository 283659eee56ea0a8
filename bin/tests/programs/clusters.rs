//! `viem` and `evaluator` on clusters, as a user runs them: in a Slurm job, with host files, and with hwloc's
//! description of a node.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::common::{failure_of, objective, program, random_graph, stdout_of, text_of};
use assert_cmd::Command;
use viem::ground::rng::Rng;

/// A folder with a graph of 12 processes and these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let graph = random_graph(12, 4, 60, &mut Rng::new(5));
    fs::write(folder.path().join("graph"), text_of(&graph)).unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// A program without Slurm variables except these. The only `lstopo` in its path is the one of the tests.
fn in_job(name: &str, folder: &Path, job: &[(&str, &str)]) -> Command {
    let mut command = program(name, folder);
    for (variable, _) in std::env::vars_os() {
        if variable.to_string_lossy().starts_with("SLURM") {
            command.env_remove(variable);
        }
    }
    command.env("PATH", Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools"));
    // Hide the topology of the cluster on which the tests may run.
    command.env("SLURM_CONF", folder.join("slurm.conf"));
    command.envs(job.iter().copied());
    command
}

fn viem(folder: &Path, job: &[(&str, &str)], machine: &[&str]) -> Command {
    let mut viem = in_job("viem", folder, job);
    viem.args(["graph", "--threads=1", "--preconfiguration_mapping=fast"]).args(machine);
    viem
}

/// Maps with `--verify`, evaluates the mapping, and returns the output of the program, stdout followed by
/// stderr.
fn map(folder: &Path, job: &[(&str, &str)], machine: &[&str]) -> String {
    let mut viem = viem(folder, job, machine);
    let output = viem.arg("--verify").assert().success().get_output().clone();
    let text = String::from_utf8(output.stdout).unwrap();
    let cost = objective(&text);
    assert!(text.contains(&format!("verified: J of the files is {cost} too")), "{text}");
    let mut evaluator = in_job("evaluator", folder, job);
    evaluator.args(["graph", "--input_mapping=permutation"]).args(machine);
    assert_eq!(objective(&stdout_of(&mut evaluator)), cost, "{machine:?}");
    text + &String::from_utf8(output.stderr).unwrap()
}

const JOB: [(&str, &str); 3] =
    [("SLURM_JOB_NODELIST", "n[1-3]"), ("SLURM_JOB_CPUS_PER_NODE", "16(x3)"), ("SLURMD_NODENAME", "n1")];

/// The job with changes to these variables.
fn job<'a>(others: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    JOB.iter().chain(others).copied().collect()
}

#[test]
fn the_nodes_of_a_job_are_like_this_one() {
    let folder = folder(&[]);
    let text = map(folder.path(), &JOB, &["--machine=slurm"]);
    assert!(
        text.contains("machine: 3 nodes x 2 sockets x 4 cores = 4:2:3, distances 1:3:30 (assumed)"),
        "{text}"
    );
    assert!(text.contains("no topology of the cluster is found"), "{text}");
    assert!(!text.contains("warning"), "{text}");
    let text = map(folder.path(), &JOB, &["--machine=slurm", "--pu"]);
    assert!(text.contains("3 nodes x 2 sockets x 4 cores x 2 hardware threads = 2:4:2:3"), "{text}");
    let text = map(folder.path(), &JOB, &["--machine=slurm", "--distance_parameter_string=1:5:50"]);
    assert!(text.contains("distances 1:5:50 (given)"), "{text}");
    let elsewhere = job(&[("SLURMD_NODENAME", "login")]);
    let text = map(folder.path(), &elsewhere, &["--machine=slurm"]);
    assert!(text.contains("login is no node of the job"), "{text}");
    let two = job(&[("SLURM_CPUS_PER_TASK", "4")]);
    let text = map(folder.path(), &two, &["--machine=slurm"]);
    assert!(text.contains("3 nodes x 2 sockets x 2 cores = 2:2:3"), "{text}");
}

#[test]
fn the_network_is_that_of_the_cluster() {
    let conf = "SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[3-9]\nSwitchName=c Switches=a,b\n";
    let folder = folder(&[("topology.conf", conf), ("flat.yaml", "- topology: t\n  flat: true\n")]);
    let uneven = "2 switches, 3 nodes, 6 sockets, 24 cores, uneven, distances 1:3:30:60 of cores:sockets:nodes:switches";
    let text = map(folder.path(), &JOB, &["--machine=slurm"]);
    assert!(text.contains(uneven), "{text}");
    let text = map(folder.path(), &JOB, &["--machine=slurm:topology=flat.yaml"]);
    assert!(text.contains("3 nodes x 2 sockets x 4 cores = 4:2:3"), "{text}");
    let addresses = job(&[("SLURM_TOPOLOGY_ADDR", "c.a.n1 c.a.n2 c.b.n3")]);
    fs::remove_file(folder.path().join("topology.conf")).unwrap();
    let text = map(folder.path(), &addresses, &["--machine=slurm"]);
    assert!(text.contains(uneven), "{text}");
    // The user is not responsible for what he has not given.
    for other in ["SwitchName=a Nodes=x\n", "SwitchName=a Nodes=x[\n"] {
        fs::write(folder.path().join("topology.conf"), other).unwrap();
        let text = map(folder.path(), &JOB, &["--machine=slurm"]);
        assert!(text.contains("all nodes are taken to be alike"), "{text}");
        let given =
            failure_of(&mut viem(folder.path(), &JOB, &["--machine=slurm:topology=topology.conf"]), 65);
        assert!(given.contains("host n1 is not in the topology") || given.contains("line 1"), "{given}");
    }
}

#[test]
fn nodes_that_are_not_like_this_one_are_described_or_plain() {
    let folder = folder(&[]);
    let other = job(&[("SLURM_JOB_CPUS_PER_NODE", "64(x2),8")]);
    let text = map(folder.path(), &other, &["--machine=slurm"]);
    assert!(text.contains("this node has 16 CPUs, nodes of the job have 64"), "{text}");
    assert!(text.contains("3 nodes, 136 cores, uneven, distances 1:30 of cores:nodes (assumed)"), "{text}");
    let text = map(folder.path(), &other, &["--machine=slurm:node=32:2"]);
    assert!(text.contains("3 nodes, 5 sockets, 136 cores, uneven"), "{text}");
    let tasks = [("SLURM_JOB_NODELIST", "n[1-3]"), ("SLURM_TASKS_PER_NODE", "4(x3)")];
    let text = map(folder.path(), &tasks, &["--machine=slurm:node=2:2"]);
    assert!(text.contains("3 nodes x 2 sockets x 2 cores = 2:2:3"), "{text}");
    let text = map(folder.path(), &tasks, &["--machine=slurm:node=8:2"]);
    assert!(text.contains("3 nodes x 2 sockets x 2 cores = 2:2:3"), "{text}");
    assert!(text.contains("ranks per node: 4; cores per rank: 4; empty nodes: none"), "{text}");
}

#[test]
fn without_lstopo_there_is_a_clear_message() {
    let folder = folder(&[]);
    let nowhere = folder.path().join("nowhere");
    let run = |machine: &str| {
        let mut viem = viem(folder.path(), &JOB, &[&format!("--machine={machine}")]);
        viem.env("PATH", &nowhere);
        viem
    };
    let text = failure_of(&mut run("hwloc"), 66);
    assert!(text.contains("lstopo cannot be run") && text.contains("install hwloc"), "{text}");
    let output = run("slurm").assert().success().get_output().clone();
    let (text, warning) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("3 nodes x 16 cores = 16:3, distances 1:30 (assumed)"), "{text}");
    assert!(warning.contains("install hwloc") && warning.contains("slurm:node=16:2"), "{warning}");
}

#[test]
fn heterogeneous_jobs_are_mapped_a_group_at_a_time() {
    let folder = folder(&[]);
    let groups = [
        ("SLURM_HET_SIZE", "2"),
        ("SLURM_JOB_NODELIST_HET_GROUP_0", "a1"),
        ("SLURM_JOB_CPUS_PER_NODE_HET_GROUP_0", "16"),
        ("SLURM_JOB_NODELIST_HET_GROUP_1", "b[1-2]"),
        ("SLURM_JOB_CPUS_PER_NODE_HET_GROUP_1", "8(x2)"),
    ];
    let text = failure_of(&mut viem(folder.path(), &job(&groups), &["--machine=slurm"]), 2);
    assert!(text.contains("heterogeneous job of 2 groups") && text.contains("slurm:group=0"), "{text}");
    let text = map(folder.path(), &job(&groups), &["--machine=slurm:group=1,node=4:2"]);
    assert!(text.contains("2 nodes x 2 sockets x 4 cores = 4:2:2"), "{text}");
    for (variables, group, code, expected) in [
        (job(&groups), "2", 2, "the heterogeneous job has the groups 0 to 1, but not group=2"),
        (job(&groups), "x", 2, "`x` is no number of a group; give a number of at least 0"),
        (JOB.to_vec(), "0", 2, "this job is not heterogeneous, so it has no group=0"),
        (Vec::new(), "0", 66, "there is no Slurm job here: SLURM_JOB_NODELIST is not set"),
    ] {
        let machine = format!("--machine=slurm:group={group}");
        let text = failure_of(&mut viem(folder.path(), &variables, &[&machine]), code);
        assert!(text.contains(expected), "{text}");
    }
}

/// The changed variables, the machine, the exit code, and the expected message.
type Refusal<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str], i32, &'a str);

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
    let nodes = "SLURM_JOB_NODELIST";
    let twice = [(nodes, "n[1-2],n1")];
    let slurm = &["--machine=slurm:node=8:2"][..];
    let cases: [Refusal<'_>; 20] = [
        (&[(nodes, "")], slurm, 66, "SLURM_JOB_NODELIST is not set"),
        (&twice, slurm, 65, "host n1 is listed more than once"),
        (&[(nodes, "n[1-[2-3]]")], slurm, 65, "a list of hosts is written like"),
        (&[(nodes, "n[]")], slurm, 65, "a bracket holds numbers"),
        (&[(nodes, "n[3-1]")], slurm, 65, "runs backwards"),
        (&[(nodes, "n[1-3")], slurm, 65, "left open"),
        (&[(nodes, "n[1-99999999]")], slurm, 65, "too long"),
        (
            &[(nodes, "n[1-4]")],
            slurm,
            65,
            "SLURM_JOB_CPUS_PER_NODE has numbers of 3 nodes, but the job has 4",
        ),
        (&[("SLURM_JOB_CPUS_PER_NODE", "16(x")], slurm, 65, "no list of numbers"),
        (
            &[("SLURM_JOB_CPUS_PER_NODE", "64(x3)")],
            slurm,
            65,
            "has 64 CPUs, but the node described has 16 cores",
        ),
        (
            &[("SLURM_JOB_CPUS_PER_NODE", "64(x3)"), ("SLURM_CPUS_PER_TASK", "4")],
            slurm,
            65,
            "has 64 CPUs, but the node described has 16 cores",
        ),
        // More ranks than tasks cannot be launched.
        (
            &[("SLURM_NTASKS", "6")],
            &["--machine=slurm:node=8:2", "--launch=slurm:h,b"],
            2,
            "--launch is for one-to-one mappings and workloads",
        ),
        (&[], &["--machine=slurm:8:2"], 2, "no option of slurm"),
        (
            &[],
            &["--machine=hosts:few", "--launch=openmpi"],
            2,
            "--launch is for one-to-one mappings and workloads",
        ),
        (&[], &["--machine=hosts:bad"], 65, "bad, line 1, column 4"),
        (&[], &["--machine=hosts:late"], 65, "late, line 2, column 14"),
        (
            &[],
            &["--machine=hosts:hosts", "--latency=turned"],
            65,
            "turned, line 2, column 1: this row is of host n2",
        ),
        (&[], &["--machine=hwloc:torn.xml"], 65, "torn.xml, line 1"),
        (&[], &["--machine=hosts:hosts", "--output_filename=hosts"], 2, "hosts"),
        (
            &[],
            &["--machine=4:4", "--distance_parameter_string=1:2", "--pu"],
            2,
            "--pe and --pu are for clusters",
        ),
    ];
    for (others, machine, code, expected) in cases {
        let text = failure_of(&mut viem(folder.path(), &job(others), machine), code);
        assert!(text.contains(expected), "{others:?} {machine:?}: {text}");
        assert_eq!(text.trim().lines().count(), 1, "{text}");
    }
    assert!(fs::read_to_string(folder.path().join("hosts")).unwrap().contains("slots=4"));
}

#[test]
fn hosts_and_latencies_come_from_files() {
    let folder = folder(&[
        ("hosts", "n1 slots=4\nn2 slots=4\nn3 slots=4\n"),
        ("lat", "0 1.5 4.5\n1.5 0 3\n4.5 3 0\n"),
        ("uneven", "n1:9\nn2:2\nn3:7\n"),
    ]);
    let text = map(folder.path(), &[], &["--machine=hosts:hosts,node=2:2"]);
    assert!(text.contains("machine: 3 nodes x 2 sockets x 2 cores = 2:2:3"), "{text}");
    let text = map(folder.path(), &[], &["--machine=hosts:hosts,node=2:2", "--latency=lat"]);
    assert!(text.contains("distances 10:30 inside a node (assumed), 300 to 900 between nodes"), "{text}");
    let text = map(folder.path(), &[], &["--machine=hosts:uneven"]);
    assert!(text.contains("3 nodes, 18 cores, uneven"), "{text}");
    let text = map(folder.path(), &[], &["--machine=hwloc", "--pu"]);
    assert!(text.contains("2 sockets x 4 cores x 2 hardware threads = 2:4:2"), "{text}");
}

#[test]
fn nodes_are_not_made_before_they_are_counted() {
    let folder = folder(&[]);
    let many = job(&[("SLURM_JOB_CPUS_PER_NODE", "4294967295(x3)")]);
    let text = failure_of(&mut viem(folder.path(), &many, &["--machine=slurm"]), 65);
    assert!(text.contains("more than 4294967295 processing elements"), "{text}");
}

#[test]
fn ranks_of_several_cores_are_bound_to_all_of_them() {
    let folder = folder(&[]);
    let launched = |cpus: &str, machine: &[&str]| {
        let variables = job(&[("SLURM_CPUS_PER_TASK", "2"), ("SLURM_JOB_CPUS_PER_NODE", cpus)]);
        let mut hybrid = viem(folder.path(), &variables, machine);
        stdout_of(hybrid.arg("--launch=openmpi:ranks"));
        let ranks = fs::read_to_string(folder.path().join("ranks")).unwrap();
        let mut slots: Vec<String> =
            ranks.lines().map(|line| line.split_once('=').unwrap().1.to_owned()).collect();
        slots.sort();
        slots
    };
    let cores = launched("8(x3)", &["--machine=slurm:node=4:2"]);
    assert_eq!(cores[..4], ["n1 slot=0:0-1", "n1 slot=0:2-3", "n1 slot=1:0-1", "n1 slot=1:2-3"]);
    // Nodes of 2 packages of 4 cores of 2 threads.
    let threads = launched("16(x3)", &["--machine=slurm", "--pu"]);
    assert_eq!(threads.len(), 12);
    assert!(threads.iter().all(|slot| !slot.contains('-') && slot[slot.len() - 1..] < *"4"), "{threads:?}");
}

#[test]
fn ranks_of_several_cores_stay_within_the_cores_of_the_job() {
    let folder = folder(&[]);
    let some = job(&[("SLURM_CPUS_PER_TASK", "3"), ("SLURM_JOB_CPUS_PER_NODE", "12(x3)")]);
    let text = launched(folder.path(), &some, "slurm:node=8:2").0;
    assert!(text.contains("3 cores do not fill the sockets of n1 and 2 more: 1 of 4 ranks"), "{text}");
    let mut bound: Vec<Vec<u32>> = ranks(folder.path()).into_iter().map(|(_, cpus)| cpus).collect();
    bound.sort_unstable();
    bound.dedup();
    // The job has all of the first package and half of the second: what is left over in both makes up a rank.
    assert_eq!(bound, [vec![0, 1, 2], vec![3, 4, 5], vec![6, 7, 11], vec![8, 9, 10]]);
}

/// Maps as many processes as there are and launches them with scripts. Returns stdout and stderr.
fn launched(folder: &Path, job: &[(&str, &str)], machine: &str) -> (String, String) {
    let mut viem = viem(folder, job, &[&format!("--machine={machine}")]);
    let output = viem.arg("--launch=slurm:hosts_of_ranks,bind").assert().success().get_output().clone();
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

/// The host and the CPUs of each rank, from the files of a launch.
fn ranks(folder: &Path) -> Vec<(String, Vec<u32>)> {
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let (hosts, script) = (read("hosts_of_ranks"), read("bind"));
    let cpus = script.lines().skip_while(|line| !line.starts_with("# The CPUs")).skip(1);
    let cpus = cpus.map(|line| line.split(',').map(|cpu| cpu.parse().unwrap()).collect());
    hosts.lines().map(str::to_owned).zip(cpus).collect()
}

/// The CPUs of the ranks of each host, sorted.
fn cpus_by_host(folder: &Path) -> BTreeMap<String, Vec<Vec<u32>>> {
    let mut by_host: BTreeMap<String, Vec<Vec<u32>>> = BTreeMap::new();
    for (host, cpus) in ranks(folder) {
        by_host.entry(host).or_default().push(cpus);
    }
    by_host.values_mut().for_each(|all| all.sort_unstable());
    by_host
}

/// A graph of so many processes in a row.
fn write_row(folder: &Path, processes: usize) {
    let line = |v: usize| {
        let neighbours = [v.wrapping_sub(1), v + 1];
        neighbours.iter().filter(|&&u| u < processes).map(|u| format!("{} ", u + 1)).collect::<String>()
            + "\n"
    };
    let lines: String = (0..processes).map(line).collect();
    fs::write(folder.join("graph"), format!("{processes} {}\n{lines}", processes - 1)).unwrap();
}

/// Two nodes of 32 CPUs.
const TWO: [(&str, &str); 2] = [("SLURM_JOB_NODELIST", "x[1-2]"), ("SLURM_JOB_CPUS_PER_NODE", "32(x2)")];

/// Variables, options of the machine, ranks on each node, and cores of a rank; 0 if they are a share of the node.
type Asked<'a> = (&'a [(&'a str, &'a str)], &'a str, [usize; 2], usize);

#[test]
fn a_job_has_as_many_ranks_on_each_node_as_it_asked_for() {
    let folder = folder(&[]);
    let cases: [Asked<'_>; 10] = [
        (
            &[("SLURM_TASKS_PER_NODE", "4(x2)"), ("SLURM_NTASKS", "8"), ("SLURM_NTASKS_PER_NODE", "4")],
            "",
            [4, 4],
            8,
        ),
        (&[("SLURM_TASKS_PER_NODE", "4(x2)")], "", [4, 4], 8),
        (&[("SLURM_TASKS_PER_NODE", "8,4")], "", [8, 4], 0),
        (&[("SLURM_NTASKS_PER_NODE", "4"), ("SLURM_NTASKS", "7")], "", [4, 3], 0),
        (&[("SLURM_NTASKS_PER_NODE", "2")], "", [2, 2], 16),
        (&[("SLURM_NTASKS", "8")], "", [4, 4], 8),
        (&[("SLURM_TASKS_PER_NODE", "4(x2)"), ("SLURM_CPUS_PER_TASK", "2")], "", [4, 4], 2),
        (&[("SLURM_CPUS_PER_TASK", "8")], "", [4, 4], 8),
        (&[("SLURM_TASKS_PER_NODE", "16(x2)")], ",ranks=4", [4, 4], 8),
        (&[("SLURM_TASKS_PER_NODE", "32(x2)")], ",ranks=2,cores=8", [2, 2], 8),
    ];
    for (others, options, per_node, cores) in cases {
        let variables: Vec<_> = TWO.iter().chain(others).copied().collect();
        write_row(folder.path(), per_node.iter().sum());
        let machine = format!("slurm:node=16:2,topology=none{options}");
        let (text, _) = launched(folder.path(), &variables, &machine);
        let by_host = cpus_by_host(folder.path());
        let counts: Vec<usize> = by_host.values().map(Vec::len).collect();
        assert_eq!(
            (by_host.keys().map(String::as_str).collect::<Vec<_>>(), counts),
            (vec!["x1", "x2"], per_node.to_vec()),
            "{others:?}"
        );
        for (all, of_node) in by_host.values().zip(per_node) {
            let cores = if cores == 0 { 32 / of_node } else { cores };
            let mut used = all.concat();
            used.sort_unstable();
            used.dedup();
            assert_eq!(used.len(), of_node * cores, "{others:?}");
            assert!(all.iter().all(|cpus| cpus.len() == cores), "{others:?}");
            if of_node % 2 == 0 {
                let of_socket =
                    |socket: u32| all.iter().filter(|cpus| cpus.iter().all(|cpu| cpu / 16 == socket)).count();
                assert_eq!([of_socket(0), of_socket(1)], [of_node / 2; 2], "{others:?}");
            }
        }
        assert!(text.contains("; empty nodes: none\n"), "{text}");
        if cores > 0 {
            let line = format!("ranks per node: {}; cores per rank: {cores};", per_node[0]);
            assert!(text.contains(&line), "{text}");
        }
    }
}

#[test]
fn nodes_that_stay_empty_are_named() {
    let folder = folder(&[("hosts", "a\nb\nc\n")]);
    let text = map(folder.path(), &TWO, &["--machine=slurm:node=16:2"]);
    assert!(text.contains("ranks per node: 12; cores per rank: 1; empty nodes: x2\n"), "{text}");
    let text = map(folder.path(), &[], &["--machine=hosts:hosts,node=16:2,ranks=6(x2),3"]);
    assert!(text.contains("ranks per node: 6; cores per rank: 5; empty nodes: c\n"), "{text}");
    let text = map(folder.path(), &[], &["--machine=hosts:hosts,node=16:2", "--pes=0-5,32-37"]);
    assert!(text.contains("ranks per node: 6; cores per rank: 1; empty nodes: c\n"), "{text}");
    let text = map(folder.path(), &[], &["--machine=4:4", "--distance_parameter_string=1:2"]);
    assert!(!text.contains("ranks per node"), "{text}");
    write_row(folder.path(), 2);
    let text = map(folder.path(), &job(&[("SLURM_NTASKS", "2")]), &["--machine=slurm"]);
    assert!(text.contains("ranks per node: 1; cores per rank: 8; empty nodes: n3\n"), "{text}");
}

#[test]
fn ranks_of_hosts_of_gpus_have_gpus() {
    let all = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\tX\tNV18\t0-7\nGPU1\tNV18\tX\t0-7\n";
    let folder = folder(&[("hosts", "n[1-7]\n"), ("all", all)]);
    let text = map(folder.path(), &[], &["--machine=hosts:hosts,node=all"]);
    assert!(text.contains("; GPUs per rank: 1; empty nodes: "), "{text}");
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
    write_row(folder.path(), 12);
    let gpus = |machine: &str, job: &[(&str, &str)]| {
        map(folder.path(), job, &[&format!("--machine={machine}"), "--pe=gpu"])
    };
    let text = gpus("hosts:hosts,node=gpus.xml", &[]);
    let shape = "machine: 3 nodes x 2 groups of GPUs x 2 GPUs = 2:2:3, distances 18:144:145 (assumed)";
    assert!(text.contains(shape), "{text}");
    assert!(text.contains("ranks per node: 4; GPUs per rank: 1; empty nodes: none"), "{text}");
    // Slurm counts CPUs.
    let asked = [("SLURM_TASKS_PER_NODE", "4(x3)"), ("SLURM_NTASKS", "12"), ("SLURM_CPUS_PER_TASK", "4")];
    let text = gpus("slurm:node=gpus.xml", &job(&asked));
    assert!(text.contains("ranks per node: 4; GPUs per rank: 1; empty nodes: none"), "{text}");
    let text = gpus("slurm:node=4", &job(&asked));
    assert!(text.contains("machine: 3 nodes x 4 cores = 4:3, distances 1:30 (assumed)"), "{text}");
    for (machine, reason) in [
        ("--machine=hwloc:pack:2 core:4 pu:1", "a synthetic node has no GPUs"),
        ("--machine=4:4", "--pe and --pu are for clusters"),
    ] {
        let stderr = failure_of(&mut viem(folder.path(), &[], &[machine, "--pe=gpu"]), 2);
        assert!(stderr.contains(reason), "{stderr}");
    }
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
    let folder =
        folder(&[("hosts", "n[1-3]\n"), ("node.xml", TURNED), ("table", table), ("unknown", &unknown)]);
    write_row(folder.path(), 6);
    let asked =
        job(&[("SLURM_TASKS_PER_NODE", "2(x3)"), ("SLURM_NTASKS", "6"), ("SLURM_CPUS_PER_TASK", "2")]);
    for machine in
        ["slurm:node=node.xml", "slurm:node=table", "hosts:hosts,node=node.xml", "hosts:hosts,node=table"]
    {
        let machine = format!("--machine={machine}");
        let launch = |kind: &str| {
            let mut viem = viem(folder.path(), &asked, &[&machine, "--pe=gpu"]);
            stdout_of(viem.arg(format!("--launch={kind}")))
        };
        // Whatever binds and whatever numbers GPUs means the same place on each node.
        launch("slurm:hosts_of_ranks,bind");
        let bound = ranks(folder.path());
        let text = launch("torchrun:rank.sh");
        assert!(text.contains("ranks per node: 2; GPUs per rank: 1; empty nodes: none"), "{text}");
        let script = fs::read_to_string(folder.path().join("rank.sh")).unwrap();
        for line in script.lines().skip_while(|line| !line.starts_with("# The host, the GPU")).skip(1) {
            let words: Vec<&str> = line.split(' ').collect();
            let cpus = [[2, 3], [0, 1]][words[1].parse::<usize>().unwrap()].to_vec();
            assert_eq!(bound[words[2].parse::<usize>().unwrap()], (words[0].to_owned(), cpus), "{machine}");
        }
        // What was written is read as the mapping that it was made of.
        let cost = objective(&launch("mpich40:placed"));
        let mut evaluator = in_job("evaluator", folder.path(), &asked);
        evaluator.args(["graph", "--input_mapping=placed", &machine, "--pe=gpu"]);
        assert_eq!(objective(&stdout_of(&mut evaluator)), cost, "{machine}");
    }
    for (node, kind, reason) in [
        (
            "unknown",
            "slurm:near,bind",
            "slurm binds ranks to cores, but those near the GPUs of n1 are not known, or not in the job; use torchrun, mpijob,",
        ),
        ("2", "cray:near", "cray binds ranks to cores, but those near the GPUs of n1 are not known"),
        (
            "table",
            "openmpi5:near",
            "openmpi5 needs packages and cores, but only the numbers of the CPUs near the GPUs of n1",
        ),
    ] {
        let arguments = [format!("--machine=hosts:hosts,node={node}"), "--pe=gpu".to_owned()];
        let mut viem = viem(folder.path(), &[], &[&arguments[0], &arguments[1]]);
        let stderr = failure_of(viem.arg(format!("--launch={kind}")), 2);
        assert!(stderr.contains(reason), "{stderr}");
    }
    fs::write(folder.path().join("odd"), "n1\n-n2\nn3\n").unwrap();
    let mut viem = viem(folder.path(), &[], &["--machine=hosts:odd,node=2"]);
    let stderr = failure_of(viem.arg("--launch=openmpi:near"), 2);
    assert!(stderr.contains("host `-n2` begins with a dash"), "{stderr}");
}

#[test]
fn tasks_that_are_more_than_cores_are_on_hardware_threads() {
    let folder = folder(&[]);
    write_row(folder.path(), 48);
    // Nodes of 2 packages of 4 cores of 2 threads.
    let asked = job(&[("SLURM_TASKS_PER_NODE", "16(x3)"), ("SLURM_NTASKS", "48")]);
    let (text, _) = launched(folder.path(), &asked, "slurm");
    assert!(text.contains("processing elements are hardware threads"), "{text}");
    assert!(text.contains("ranks per node: 16; hardware threads per rank: 1; empty nodes: none"), "{text}");
    // Slurm notes a task for each CPU if nothing is asked for.
    write_row(folder.path(), 24);
    let (text, _) = launched(folder.path(), &job(&[("SLURM_TASKS_PER_NODE", "16(x3)")]), "slurm");
    assert!(text.contains("ranks per node: 8; cores per rank: 1; empty nodes: none"), "{text}");
    // Three threads each: whole cores do not suffice.
    write_row(folder.path(), 15);
    let odd = job(&[("SLURM_TASKS_PER_NODE", "5(x3)"), ("SLURM_CPUS_PER_TASK", "3")]);
    let (text, _) = launched(folder.path(), &odd, "slurm");
    assert!(text.contains("ranks per node: 5; hardware threads per rank: 3; empty nodes: none"), "{text}");
    // Slurm 22.05 does so for ten tasks of three CPUs on two nodes.
    write_row(folder.path(), 10);
    let many = [
        ("SLURM_JOB_NODELIST", "n[1-2]"),
        ("SLURM_JOB_CPUS_PER_NODE", "16,12"),
        ("SLURM_TASKS_PER_NODE", "6,4"),
        ("SLURM_NTASKS", "10"),
        ("SLURM_CPUS_PER_TASK", "3"),
        ("SLURMD_NODENAME", "n1"),
    ];
    let (text, warnings) = launched(folder.path(), &many, "slurm");
    assert!(text.contains("ranks per node: 6,4; cores per rank: 1; empty nodes: none"), "{text}");
    assert!(warnings.contains("n1 and 1 more: too few CPUs for SLURM_CPUS_PER_TASK"), "{warnings}");
}

#[test]
fn cpus_that_are_hardware_threads_need_a_description_with_them() {
    let folder = folder(&[]);
    write_row(folder.path(), 8);
    let job = [
        ("SLURM_JOB_NODELIST", "x[1-2]"),
        ("SLURM_JOB_CPUS_PER_NODE", "64(x2)"),
        ("SLURM_TASKS_PER_NODE", "4(x2)"),
    ];
    let mut without = viem(folder.path(), &job, &["--machine=slurm:node=16:2,topology=none"]);
    let text = failure_of(&mut without, 65);
    assert!(text.contains("host x1 has 64 CPUs, but the node described has 32 cores"), "{text}");
    assert!(text.contains("with its hardware threads if these are counted (pack:2 core:16 pu:2)"), "{text}");
    let (text, _) = launched(folder.path(), &job, "slurm:node=pack:2 core:16 pu:2,topology=none");
    assert!(text.contains("ranks per node: 4; cores per rank: 8; empty nodes: none"), "{text}");
}

#[test]
fn the_tasks_of_a_step_are_not_those_of_the_job() {
    let folder = folder(&[]);
    let step = job(&[("SLURM_TASKS_PER_NODE", "1"), ("SLURM_NTASKS", "1"), ("SLURM_STEP_NUM_TASKS", "1")]);
    let (text, warnings) = launched(folder.path(), &step, "slurm:node=8:2");
    assert!(text.contains("3 nodes x 2 sockets x 8 cores = 8:2:3"), "{text}");
    assert!(warnings.contains("the tasks of this step are not those of the job"), "{warnings}");
    let odd = job(&[("SLURM_TASKS_PER_NODE", "1")]);
    let (_, warnings) = launched(folder.path(), &odd, "slurm:node=8:2");
    let left_out = "SLURM_TASKS_PER_NODE has numbers of 1 nodes, but the job has 3; it is left out";
    assert!(warnings.contains(left_out), "{warnings}");
}

/// Puts a `scontrol` into a folder that prints the files `show.job`, `show.node` and `show.partition` of the folder, and the `lstopo` of the
/// tests if it is to be there. Returns the path to both.
fn with_scontrol(folder: &Path, job: &str, nodes: &str, has_lstopo: bool) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let bin = folder.join("bin");
    fs::create_dir_all(&bin).unwrap();
    let script =
        format!("#!/bin/sh\ntest \"$1\" = show && exec /bin/cat '{}'/show.\"$2\"\n", folder.display());
    fs::write(bin.join("scontrol"), script).unwrap();
    fs::set_permissions(bin.join("scontrol"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(folder.join("show.job"), job).unwrap();
    fs::write(folder.join("show.node"), nodes).unwrap();
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

/// What `scontrol show node` prints of a node of so many sockets, cores in each and threads in each.
fn shown_node(name: &str, sockets: u32, cores: u32, threads: u32) -> String {
    format!(
        "NodeName={name} Arch=x86_64 CoresPerSocket={cores} \n   RealMemory=1 Sockets={sockets} Boards=1\n   \
         State=ALLOCATED ThreadsPerCore={threads} TmpDisk=0\n\n"
    )
}

/// The environment in steps, as Slurm 22.05 sets it; lines of the job and tasks on the nodes as `scontrol` has them, if it is there; ranks
/// on each node and cores of each; and a warning.
type InStep<'a> = (&'a [(&'a str, &'a str)], Option<(u32, u32, u32)>, &'a str, &'a str);

#[test]
fn ranks_are_those_of_the_job_from_inside_its_steps() {
    let folder = folder(&[]);
    let four = [
        ("SLURM_JOB_ID", "1"),
        ("SLURM_JOB_NODELIST", "n[1,3-4,6]"),
        ("SLURM_JOB_CPUS_PER_NODE", "8(x4)"),
        ("SLURM_STEP_NUM_TASKS", "1"),
        ("SLURM_STEP_TASKS_PER_NODE", "1"),
        ("SLURM_STEP_NODELIST", "n1"),
    ];
    let single = [("SLURM_STEP_ID", "0"), ("SLURM_NTASKS", "1"), ("SLURM_TASKS_PER_NODE", "1")];
    let with = |others: &[(&'static str, &'static str)]| [&single[..], others].concat();
    let interactive = [
        ("SLURM_STEP_ID", "4294967290"),
        ("SLURM_NTASKS", "16"),
        ("SLURM_TASKS_PER_NODE", "4(x4)"),
        ("SLURM_NTASKS_PER_NODE", "4"),
    ];
    let (plain, two, eight) =
        (with(&[]), with(&[("SLURM_CPUS_PER_TASK", "2")]), with(&[("SLURM_CPUS_PER_TASK", "8")]));
    let per_node = with(&[("SLURM_NTASKS_PER_NODE", "4"), ("SLURM_CPUS_PER_TASK", "8")]);
    let daemons = [
        ("SLURM_STEP_ID", "0"),
        ("SLURM_NTASKS", "3"),
        ("SLURM_STEP_NUM_TASKS", "3"),
        ("SLURM_STEP_TASKS_PER_NODE", "1(x3)"),
        ("SLURM_STEP_NODELIST", "n[3-4,6]"),
        ("SLURM_TASKS_PER_NODE", "1(x3)"),
        ("OMPI_COMM_WORLD_SIZE", "16"),
    ];
    let unknown = "the tasks of this step are not those of the job";
    let cases: [InStep<'_>; 11] = [
        (&interactive, None, "ranks per node: 4; cores per rank: 2;", ""),
        (&plain, None, "ranks per node: 8; cores per rank: 1;", unknown),
        (&two, None, "ranks per node: 8; cores per rank: 1;", unknown),
        (&eight, None, "ranks per node: 8; cores per rank: 1;", unknown),
        (&per_node, None, "ranks per node: 4; cores per rank: 2;", ""),
        (&eight, Some((16, 4, 1)), "ranks per node: 4; cores per rank: 1;", ""),
        (&plain, Some((16, 0, 2)), "ranks per node: 4; cores per rank: 2;", ""),
        (&plain, Some((10, 0, 1)), "ranks per node: 3(x2),2(x2); cores per rank: 1;", ""),
        // Nobody asked for tasks.
        (&plain, Some((4, 0, 1)), "ranks per node: 8; cores per rank: 1;", ""),
        (&plain, Some((4, 0, 4)), "ranks per node: 2; cores per rank: 4;", ""),
        (&daemons, Some((16, 4, 2)), "ranks per node: 4; cores per rank: 2;", ""),
    ];
    for (others, job, expected, warning) in cases {
        let variables: Vec<_> = four.iter().chain(others).copied().collect();
        let ranks = expected.trim_start_matches("ranks per node: ").split(';').next().unwrap();
        let processes = if ranks.len() == 1 { 4 * ranks.parse::<usize>().unwrap() } else { 10 };
        write_row(folder.path(), processes);
        let mut viem = viem(folder.path(), &variables, &["--machine=slurm:node=4:2,topology=none"]);
        if let Some((tasks, per_node, cpus)) = job {
            let nodes: String = ["n1", "n3", "n4", "n6"].map(|name| shown_node(name, 2, 4, 1)).concat();
            let job = shown_job(tasks, per_node, cpus, &["n[1,3-4,6] CPU_IDs=0-7"]);
            viem.env("PATH", with_scontrol(folder.path(), &job, &nodes, false));
        }
        let output = viem.arg("--launch=slurm:hosts_of_ranks,bind").assert().success().get_output().clone();
        let (text, warnings) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(text.contains(expected) && text.contains("empty nodes: none"), "{others:?} {job:?}: {text}");
        assert!(
            if warning.is_empty() { !warnings.contains("warning") } else { warnings.contains(warning) },
            "{others:?} {job:?}: {warnings}"
        );
    }
}

#[test]
fn a_program_that_is_a_step_has_its_ranks_where_the_step_is() {
    let folder = folder(&[]);
    let step = [
        ("SLURM_JOB_ID", "1"),
        ("SLURM_JOB_NODELIST", "n[1-4]"),
        ("SLURM_JOB_CPUS_PER_NODE", "8,4(x3)"),
        ("SLURM_NTASKS", "5"),
        ("SLURM_TASKS_PER_NODE", "3,2"),
        ("SLURM_STEP_ID", "2"),
        ("SLURM_STEP_NUM_TASKS", "5"),
        ("SLURM_STEP_NODELIST", "n[4,1]"),
        ("SLURM_STEP_TASKS_PER_NODE", "3,2"),
    ];
    write_row(folder.path(), 5);
    launched(folder.path(), &step, "slurm:node=4:2,topology=none");
    let counts: Vec<_> =
        cpus_by_host(folder.path()).into_iter().map(|(host, all)| (host, all.concat().len())).collect();
    assert_eq!(counts, [("n1".to_owned(), 8), ("n4".to_owned(), 3)]);
    // A step of two groups of a heterogeneous job.
    let groups = [
        ("SLURM_HET_SIZE", "2"),
        ("SLURM_JOB_NODELIST", "n[1,4]"),
        ("SLURM_JOB_NODELIST_HET_GROUP_0", "n1"),
        ("SLURM_JOB_NODELIST_HET_GROUP_1", "n[3-4]"),
        ("SLURM_JOB_CPUS_PER_NODE_HET_GROUP_0", "4"),
        ("SLURM_JOB_CPUS_PER_NODE_HET_GROUP_1", "8,6"),
    ];
    let step: Vec<_> = step.iter().chain(&groups).copied().collect();
    launched(folder.path(), &step, "slurm:node=4:2,topology=none");
    let counts: Vec<_> =
        cpus_by_host(folder.path()).into_iter().map(|(host, all)| (host, all.concat().len())).collect();
    assert_eq!(counts, [("n1".to_owned(), 4), ("n4".to_owned(), 6)]);
}

/// Rank r is on the PE of that number only where Slurm has numbered the tasks node by node.
#[test]
fn steps_that_are_not_in_blocks_are_refused() {
    let folder = folder(&[]);
    write_row(folder.path(), 4);
    let step = |distribution: &'static str, plane: &'static str, tasks: &'static str| {
        [
            ("SLURM_JOB_NODELIST", "n[1-2]"),
            ("SLURM_JOB_CPUS_PER_NODE", "8(x2)"),
            ("SLURM_NTASKS", "4"),
            ("SLURM_STEP_NUM_TASKS", "4"),
            ("SLURM_STEP_NODELIST", "n[1-2]"),
            ("SLURM_STEP_TASKS_PER_NODE", tasks),
            ("SLURM_DISTRIBUTION", distribution),
            ("SLURM_DIST_PLANESIZE", plane),
        ]
    };
    let machine = "slurm:node=4:2,topology=none";
    for (distribution, plane) in [("cyclic", ""), ("cyclic:block", ""), ("plane", "1"), ("arbitrary", "")] {
        let text = failure_of(
            &mut viem(folder.path(), &step(distribution, plane, "2(x2)"), &[&format!("--machine={machine}")]),
            2,
        );
        assert!(text.contains(&format!("(SLURM_DISTRIBUTION={distribution})")), "{text}");
    }
    for (distribution, plane) in [("block", ""), ("block:cyclic,NoPack", ""), ("plane", "2")] {
        launched(folder.path(), &step(distribution, plane, "2(x2)"), machine);
    }
    // Slurm may number the tasks of blocks in the order of the switches. Its release is not known here.
    std::fs::write(folder.path().join("leaves"), "SwitchName=a Nodes=n2\nSwitchName=b Nodes=n1\n").unwrap();
    let by_switches = "--machine=slurm:node=4:2,topology=leaves";
    let text = failure_of(&mut viem(folder.path(), &step("block", "", "2(x2)"), &[by_switches]), 2);
    assert!(text.contains("(Slurm numbers tasks in the order of the topology)"), "{text}");
    launched(folder.path(), &step("plane", "2", "2(x2)"), "slurm:node=4:2,topology=leaves");
    // What a node knows of its own tasks.
    let other = [&step("block", "", "2(x2)")[..], &[("SLURM_NODEID", "1"), ("SLURM_GTIDS", "0,1")]].concat();
    let text = failure_of(&mut viem(folder.path(), &other, &[&format!("--machine={machine}")]), 2);
    assert!(text.contains("(node 1 has the tasks 0,1)"), "{text}");
    let job = [
        ("SLURM_JOB_NODELIST", "n[1-2]"),
        ("SLURM_JOB_CPUS_PER_NODE", "8(x2)"),
        ("SLURM_TASKS_PER_NODE", "2(x2)"),
        ("SLURM_NTASKS", "4"),
        ("SLURM_DISTRIBUTION", "cyclic"),
    ];
    let (text, _) = launched(folder.path(), &job, machine);
    assert!(text.contains("SLURM_DISTRIBUTION=cyclic: a job that is not mapped"), "{text}");
}

#[test]
fn ranks_on_gpus_are_bound_to_cores_of_the_job_only() {
    let table = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\tX\tSYS\t0-3,8-11\nGPU1\tSYS\tX\t4-7,12-15\n";
    let odd = table.replace("0-3,8-11", "0,2,4,6").replace("4-7,12-15", "1,3,5,7");
    let folder = folder(&[("table", table), ("odd", &odd), ("node.xml", TURNED)]);
    write_row(folder.path(), 4);
    let run = |node: &str, cpus: &str, path: &str, kind: &str| {
        let job = [
            ("SLURM_JOB_ID", "1"),
            ("SLURM_JOB_NODELIST", "n[1-2]"),
            ("SLURM_JOB_CPUS_PER_NODE", cpus),
            ("SLURM_NTASKS", "4"),
            ("SLURM_TASKS_PER_NODE", "2(x2)"),
            ("SLURMD_NODENAME", "login"),
        ];
        let machine = format!("--machine=slurm:topology=none,node={node}");
        let mut viem = viem(folder.path(), &job, &[&machine, "--pe=gpu"]);
        viem.env("PATH", path).arg(format!("--launch={kind}"));
        let output = viem.output().unwrap();
        let notes = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), notes, cpus_by_host(folder.path()))
    };
    // Slurm numbers the threads of a core one after the other: cores 1, 2, 4 and 5, and on the other node half of each socket.
    let nodes = ["n1", "n2"].map(|name| shown_node(name, 2, 4, 2)).concat();
    let parts = shown_job(4, 0, 1, &["n1 CPU_IDs=2-5,8-11", "n2 CPU_IDs=4-7,12-15"]);
    let path = with_scontrol(folder.path(), &parts, &nodes, false);
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
    let path = with_scontrol(folder.path(), &one, &nodes, false);
    let (code, notes, _) = run("table", "8,16", &path, bind);
    assert!(
        code == Some(2) && notes.contains("near the GPUs of n1 are not known, or not in the job"),
        "{notes}"
    );
    let nodes = ["n1", "n2"].map(|name| shown_node(name, 2, 2, 1)).concat();
    let parts = shown_job(4, 0, 1, &["n[1-2] CPU_IDs=1-2"]);
    let path = with_scontrol(folder.path(), &parts, &nodes, false);
    let (code, notes, by_host) = run("node.xml", "2(x2)", &path, bind);
    assert_eq!((code, &by_host["n1"]), (Some(0), &vec![vec![1], vec![2]]), "{notes}");
    let (code, notes, _) = run("node.xml", "2(x2)", &path, "openmpi5:near");
    assert!(code == Some(2) && notes.contains("only the numbers of the CPUs near the GPUs of n1"), "{notes}");
}

#[test]
fn ranks_are_on_the_cpus_that_slurm_gave() {
    let folder = folder(&[]);
    let run = |machine: &str, job: &[(&str, &str)], path: &str| {
        let mut viem = viem(folder.path(), job, &[&format!("--machine={machine}")]);
        viem.env("PATH", path);
        let output = viem.arg("--launch=slurm:hosts_of_ranks,bind").assert().success().get_output().clone();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr), cpus_by_host(folder.path()))
    };
    // Slurm gives CPUs of sockets by turns.
    let nodes = ["n1", "n2"].map(|name| shown_node(name, 2, 4, 1)).concat();
    let shared = [
        ("SLURM_JOB_ID", "1"),
        ("SLURM_JOB_NODELIST", "n[1-2]"),
        ("SLURM_JOB_CPUS_PER_NODE", "4,1"),
        ("SLURM_NTASKS", "5"),
        ("SLURM_TASKS_PER_NODE", "4,1"),
    ];
    write_row(folder.path(), 5);
    let job = shown_job(5, 0, 1, &["n1 CPU_IDs=0-1,4-5", "n2 CPU_IDs=6"]);
    let path = with_scontrol(folder.path(), &job, &nodes, false);
    for machine in ["slurm:topology=none", "slurm:node=4:2,topology=none"] {
        let (_, notes, by_host) = run(machine, &shared, &path);
        assert_eq!(by_host["n1"], [[0], [1], [4], [5]], "{machine}");
        assert_eq!(by_host["n2"], [[6]], "{machine}");
        assert!(!notes.contains("warning"), "{notes}");
    }
    let (notes, _, _) = run("slurm:topology=none", &shared, &path);
    assert!(
        notes.contains("n1 and 1 more are each taken to be as Slurm describes it: 2 x 4 cores"),
        "{notes}"
    );
    let (_, warnings, by_host) = run("slurm:node=4:2,topology=none", &shared, "/nowhere");
    assert_eq!(by_host["n1"], [[0], [1], [2], [3]]);
    assert!(
        warnings
            .contains("which CPUs of n1 and 1 more belong to the job is not known (scontrol cannot be run"),
        "{warnings}"
    );
    // CPUs are hardware threads: 4 cores of the first node, and one of the second.
    let nodes = ["t5", "t6"].map(|name| shown_node(name, 2, 4, 2)).concat();
    let threads = [
        ("SLURM_JOB_ID", "1"),
        ("SLURM_JOB_NODELIST", "t[5-6]"),
        ("SLURM_JOB_CPUS_PER_NODE", "8,2"),
        ("SLURM_NTASKS", "10"),
        ("SLURM_TASKS_PER_NODE", "8,2"),
        ("SLURMD_NODENAME", "t5"),
    ];
    write_row(folder.path(), 10);
    let job = shown_job(10, 0, 1, &["t5 CPU_IDs=0-3,8-11", "t6 CPU_IDs=0-1"]);
    for has_lstopo in [true, false] {
        let path = with_scontrol(folder.path(), &job, &nodes, has_lstopo);
        let (text, notes, by_host) = run("slurm:topology=none", &threads, &path);
        assert!(
            text.contains("ranks per node: 8,2; hardware threads per rank: 1; empty nodes: none"),
            "{text}"
        );
        assert_eq!(by_host["t5"], [[0], [1], [4], [5], [8], [9], [12], [13]]);
        assert_eq!(by_host["t6"], [[0], [8]]);
        assert!(!notes.contains("warning"), "{notes}");
    }
    let (_, warnings, _) = run("slurm:node=pack:2 core:4 pu:2,topology=none", &threads, "/nowhere");
    assert!(warnings.contains("so these may be either; they are taken to be cores"), "{warnings}");
    // They are cores with --hint=nomultithread.
    let cores: Vec<_> = threads
        .iter()
        .copied()
        .chain([
            ("SLURM_JOB_CPUS_PER_NODE", "7,1"),
            ("SLURM_THREADS_PER_CORE", "1"),
            ("SLURM_NTASKS", "8"),
            ("SLURM_TASKS_PER_NODE", "7,1"),
        ])
        .collect();
    write_row(folder.path(), 8);
    let job = shown_job(8, 0, 1, &["t5 CPU_IDs=0-13", "t6 CPU_IDs=0-1"]);
    let path = with_scontrol(folder.path(), &job, &nodes, true);
    let (text, notes, by_host) = run("slurm:topology=none", &cores, &path);
    assert!(text.contains("ranks per node: 7,1; cores per rank: 1; empty nodes: none"), "{text}");
    assert_eq!((by_host["t5"][6].as_slice(), by_host["t6"][0].as_slice()), (&[6, 14][..], &[0, 8][..]));
    assert!(!notes.contains("warning"), "{notes}");
}

#[test]
fn nodes_are_as_large_as_slurm_says() {
    let folder = folder(&[]);
    write_row(folder.path(), 28);
    // This node has 2 x 4 cores of 2 hardware threads.
    let nodes = shown_node("a1", 2, 4, 2) + &shown_node("b1", 1, 12, 1) + &shown_node("c1", 4, 2, 1);
    let job = [
        ("SLURM_JOB_ID", "1"),
        ("SLURM_JOB_NODELIST", "a1,b1,c1"),
        ("SLURM_JOB_CPUS_PER_NODE", "16,12,8"),
        ("SLURMD_NODENAME", "a1"),
    ];
    let shown = shown_job(3, 0, 1, &["a1 CPU_IDs=0-15", "b1 CPU_IDs=0-11", "c1 CPU_IDs=0-7"]);
    let mut viem =
        viem(folder.path(), &job, &["--machine=slurm:topology=none", "--launch=slurm:hosts_of_ranks,bind"]);
    viem.env("PATH", with_scontrol(folder.path(), &shown, &nodes, true));
    let output = viem.assert().success().get_output().clone();
    let (text, notes) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("3 nodes, 5 sockets, 28 cores, uneven"), "{text}");
    assert!(text.contains("b1 is taken to be as Slurm describes it: 1 x 12 cores"), "{text}");
    assert!(!notes.contains("warning") && !text.contains("c1 is"), "{notes}");
}

#[test]
fn partitions_choose_a_topology() {
    let yaml = "- topology: a\n  cluster_default: true\n  flat: true\n- topology: b\n  tree:\n    switches:\n    - {switch: s, nodes: 'n[1-2]'}\n    - {switch: t, nodes: n3}\n";
    let folder =
        folder(&[("topology.yaml", yaml), ("show.partition", "PartitionName=p\n   State=UP Topology=b\n")]);
    let shown = shown_job(3, 0, 1, &["n[1-3] CPU_IDs=0-15"]);
    let nodes = ["n1", "n2", "n3"].map(|name| shown_node(name, 2, 4, 2)).concat();
    for (others, expected) in [
        (&[][..], "3 nodes x 2 sockets x 4 cores"),
        (
            &[("SLURM_JOB_PARTITION", "p"), ("SLURM_JOB_ID", "1")][..],
            "2 switches, 3 nodes, 6 sockets, 24 cores, uneven",
        ),
    ] {
        for machine in ["--machine=slurm", "--machine=slurm:topology=topology.yaml"] {
            let mut viem = viem(folder.path(), &job(others), &[machine]);
            viem.env("PATH", with_scontrol(folder.path(), &shown, &nodes, true));
            let text = stdout_of(&mut viem);
            assert!(text.contains(expected), "{machine} {others:?}: {text}");
        }
    }
}

#[test]
fn models_that_are_larger_than_the_job_are_explained() {
    let folder = folder(&[(
        "node.txt",
        "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\nGPU0\tX\tNV18\tSYS\tSYS\t0-3\nGPU1\tNV18\tX\tSYS\tSYS\t0-3\nGPU2\tSYS\tSYS\tX\tNV18\t4-7\nGPU3\tSYS\tSYS\tNV18\tX\t4-7\n",
    )]);
    write_row(folder.path(), 24);
    let four =
        [("SLURM_JOB_NODELIST", "n[1-4]"), ("SLURM_NTASKS", "20"), ("SLURM_TASKS_PER_NODE", "8(x2),3,1")];
    let shown = |job: &[(&str, &str)], machine: &str, code| {
        let mut viem = viem(folder.path(), job, &[machine]);
        failure_of(viem.arg("--launch=slurm:h,b"), code)
    };
    let cpus: Vec<_> = four.into_iter().chain([("SLURM_JOB_CPUS_PER_NODE", "8(x2),3,1")]).collect();
    let text = shown(&cpus, "--machine=slurm:node=4:2,topology=none", 2);
    let expected = "the model has 24 processes, and there is room for 20 in the Slurm job (SLURM_TASKS_PER_NODE=8(x2),3,1): ask Slurm for 24 tasks";
    assert!(text.contains(expected), "{text}");
    let many: Vec<_> = four.into_iter().chain([("SLURM_JOB_CPUS_PER_NODE", "1(x4)")]).collect();
    let text = shown(&many, "--machine=slurm:node=4:2,topology=none", 65);
    assert!(text.contains("more tasks than CPUs: 8 of them on n1"), "{text}");
    assert_eq!(text.trim().lines().count(), 1, "{text}");
    // A task that starts a process for each GPU.
    write_row(folder.path(), 16);
    let torchrun = [
        ("SLURM_JOB_NODELIST", "n[1-4]"),
        ("SLURM_NTASKS", "4"),
        ("SLURM_NTASKS_PER_NODE", "1"),
        ("SLURM_TASKS_PER_NODE", "1(x4)"),
        ("SLURM_JOB_CPUS_PER_NODE", "8(x4)"),
    ];
    for (gpus, processes, expected) in [
        (("SLURM_GPUS_PER_NODE", "a100:4"), 16, "ranks per node: 4; GPUs per rank: 1; empty nodes: none"),
        (("SLURM_GPUS_ON_NODE", "2"), 8, "ranks per node: 2; GPUs per rank: 1; empty nodes: none"),
        (("SLURM_JOB_GPUS", "0,1,3"), 12, "ranks per node: 3; GPUs per rank: 1; empty nodes: none"),
        (("SLURM_GPUS_ON_NODE", "1"), 4, "ranks per node: 1; GPUs per rank: 1; empty nodes: none"),
    ] {
        write_row(folder.path(), processes);
        let job: Vec<_> = torchrun.into_iter().chain([gpus]).collect();
        let mut viem =
            viem(folder.path(), &job, &["--machine=slurm:node=node.txt,topology=none", "--pe=gpu"]);
        let output = viem.arg("--launch=torchrun:rank.sh").assert().success().get_output().clone();
        fs::remove_file(folder.path().join("rank.sh")).unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains(expected), "{gpus:?}: {text}");
        assert_eq!(text.contains("taken to be a launcher"), processes > 4, "{text}");
    }
}

#[test]
fn slots_of_hosts_are_ranks_that_share_the_cores() {
    let folder =
        folder(&[("hosts", "n1 slots=4\nn2 slots=4\nn3:4\n"), ("most", "n1 max_slots=4\nn2:4\nn3:4\n")]);
    for hosts in ["hosts", "most"] {
        let (text, warnings) = launched(folder.path(), &[], &format!("hosts:{hosts},node=8:2"));
        assert!(text.contains("ranks per node: 4; cores per rank: 4; empty nodes: none"), "{text}");
        assert!(!warnings.contains("fewer slots"), "{warnings}");
        let expected: [Vec<u32>; 4] = [0, 4, 8, 12].map(|first| (first..first + 4).collect());
        assert!(cpus_by_host(folder.path()).values().all(|cpus| cpus[..] == expected));
    }
    let text = map(folder.path(), &[], &["--machine=hosts:hosts,node=8:2,ranks=8,cores=1"]);
    assert!(text.contains("3 nodes x 2 sockets x 4 cores = 4:2:3"), "{text}");
}

#[test]
fn two_kinds_of_nodes_have_a_description_each() {
    let folder = folder(&[("hosts", "old1 slots=32\nold2 slots=32\nnew1 slots=44\nnew2 slots=44\n")]);
    write_row(folder.path(), 152);
    let rankfile = |machine: &str| {
        let mut viem = viem(folder.path(), &[], &[machine]);
        let output = viem.arg("--launch=openmpi:rf").assert().success().get_output().clone();
        let file = fs::read_to_string(folder.path().join("rf")).unwrap();
        let slots = file.lines().map(|line| {
            let (host, slot) = line.split_once('=').unwrap().1.split_once(" slot=").unwrap();
            let (socket, core) = slot.split_once(':').unwrap();
            (host.to_owned(), socket.parse::<u32>().unwrap(), core.parse::<u32>().unwrap())
        });
        let slots: Vec<_> = slots.collect();
        assert_eq!(slots.len(), 152);
        // No host has a core of another kind of node.
        assert!(
            slots.iter().all(|(host, _, core)| *core < if host.starts_with("old") { 16 } else { 22 }),
            "{machine}"
        );
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    for machine in [
        "--machine=hosts:hosts,node[old*]=16:2,node=22:2",
        "--machine=hosts:hosts,node[new[1-2]]=pack:2 core:22,node[old1,old2]=16:2",
        "--machine=hwloc:pack:2 core:22,hosts=hosts,node[old*]=16:2",
    ] {
        let (text, warnings) = rankfile(machine);
        assert!(text.contains("4 nodes, 8 sockets, 152 cores, uneven"), "{text}");
        assert!(
            text.contains("ranks per node: 32(x2),44(x2); cores per rank: 1; empty nodes: none"),
            "{text}"
        );
        assert_eq!(warnings, "");
    }
    let (_, warnings) = rankfile("--machine=hosts:hosts,node=22:2");
    let expected = "old1, old2 have fewer slots than the 44 cores of the description, unlike other hosts; if old1 is another kind of \
                    node, describe it: node[old1]=";
    assert!(warnings.contains(expected), "{warnings}");
    let text = failure_of(&mut viem(folder.path(), &[], &["--machine=hosts:hosts,node=16:2"]), 65);
    assert!(text.contains("host new1 has 44 slots, but the node described has 32 cores"), "{text}");
    let slurm = [
        ("SLURM_JOB_NODELIST", "a[1-2],b1"),
        ("SLURM_JOB_CPUS_PER_NODE", "16(x2),8"),
        ("SLURM_TASKS_PER_NODE", "4(x2),2"),
    ];
    write_row(folder.path(), 10);
    let text = map(folder.path(), &slurm, &["--machine=slurm:node[b*]=8,node=8:2"]);
    assert!(text.contains("ranks per node: 4(x2),2; cores per rank: 4; empty nodes: none"), "{text}");
}

#[test]
fn launch_lines_name_the_hosts_that_are_needed() {
    let four: String = (1..5).map(|host| format!("f{host} slots=4\n")).collect();
    let folder =
        folder(&[("hosts", &four), ("long", "worker.1.lab.example slots=6\nworker.2.lab.example slots=6\n")]);
    write_row(folder.path(), 8);
    let line = |hosts: &str, launch: &str| {
        let mut viem = viem(folder.path(), &[], &[&format!("--machine=hosts:{hosts}")]);
        let text = stdout_of(viem.arg(format!("--launch={launch}")));
        text.lines().find(|line| line.starts_with("launch with: ")).unwrap().to_owned()
    };
    assert!(line("hosts", "flux:h,b").contains(" -N 2 -n 8 --exclusive --requires=host:f1,f2 "));
    assert!(line("long", "openmpi:rf").contains("mpirun --mca orte_keep_fqdn_hostnames 1 -n 8 "));
    assert!(line("long", "openmpi5:rf").contains("mpirun --prtemca prte_keep_fqdn_hostnames 1 -n 8 "));
    assert!(!line("hosts", "openmpi:rf").contains("--mca"));
}

#[test]
fn weights_of_pes_leave_them_where_they_are() {
    let hosts = "n1 slots=3\nn2 slots=3\nn3 slots=3\n";
    let folder =
        folder(&[("hosts", hosts), ("weights", "1\n2\n1\n2\n1\n2\n1\n2\n1\n"), ("ones", &"1\n".repeat(9))]);
    let machine = ["--machine=hosts:hosts,node=1:3", "--distance_parameter_string=9:1"];
    let output = viem(folder.path(), &[], &machine)
        .args(["--pe_weights=weights", "--picture=p.svg"])
        .assert()
        .success();
    let warnings = String::from_utf8(output.get_output().stderr.clone()).unwrap();
    assert!(warnings.contains("fall from the inside out"), "{warnings}");
    let cyclic = |weights: &str| {
        let mut evaluator = in_job("evaluator", folder.path(), &[]);
        evaluator.args(["graph", "--input_mapping=permutation", weights, "--compare=cyclic"]).args(machine);
        let text = stdout_of(&mut evaluator);
        text.lines().find(|line| line.trim_start().starts_with("cyclic")).unwrap().to_owned()
    };
    // With both arrangements, ranges of vertices go to the nodes in turn.
    assert_ne!(cyclic("--pe_weights=weights"), cyclic("--pe_weights=ones"));
    assert!(!cyclic("--pe_weights=weights").contains(" 0.00 %"));
}

#[test]
fn where_threads_stay_free_the_mapping_is_written_even_if_it_cannot_be_launched() {
    let folder = folder(&[]);
    let mut full = viem(folder.path(), &[], &["--machine=hwloc", "--pu", "--launch=openmpi:ranks"]);
    let text = failure_of(&mut full, 2);
    assert!(text.contains("are both on core"), "{text}");
    assert!(folder.path().join("permutation").exists() && !folder.path().join("ranks").exists());
}

#[test]
fn hierarchies_typed_outermost_first_cause_a_warning() {
    let folder = folder(&[("hosts", "n1\nn2\n")]);
    let warnings = |machine: &[&str]| {
        let output = viem(folder.path(), &[], machine).assert().success().get_output().clone();
        String::from_utf8(output.stderr).unwrap()
    };
    let falling = warnings(&["--machine=8:2:16", "--distance_parameter_string=30:3:1"]);
    assert!(falling.contains("give 16:2:8 and 1:3:30"), "{falling}");
    assert!(warnings(&["--machine=hosts:hosts,node=2:16"]).contains("it is 16:2"));
    assert_eq!(warnings(&["--machine=hosts:hosts,node=16:2"]), "");
}
