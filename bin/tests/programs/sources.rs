//! What people have at hand as machines, hosts and mappings, as a user runs the programs on it: outputs of tools, lists of batch systems,
//! names in several spellings, and files of launchers.

use std::fs;
use std::path::Path;

use crate::common::{failure_of, objective, program, stdout_of};

/// A path of 8 processes, and these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("job.graph", &path(8));
    write("four.graph", &path(4));
    files.iter().for_each(|(name, text)| write(name, text));
    folder
}

fn path(count: usize) -> String {
    let line = |v: usize| match v {
        1 => "2\n".to_owned(),
        v if v == count => format!("{}\n", v - 1),
        v => format!("{} {}\n", v - 1, v + 1),
    };
    format!("{count} {}\n{}", count - 1, (1..=count).map(line).collect::<String>())
}

/// Maps a model to a machine with `--verify`, and returns what was printed.
fn map(folder: &Path, model: &str, machine: &str) -> String {
    let mut viem = program("viem", folder);
    viem.args([model, "--threads=1", "--verify", &format!("--machine={machine}"), "-o", "p"]);
    let text = stdout_of(&mut viem);
    assert!(text.contains(&format!("verified: J of the files is {} too", objective(&text))), "{text}");
    text
}

const FABRIC: &str = "vendid=0x2c9\nswitchguid=0x0001(0001)\nSwitch\t4 \"S-0001\"\t# \"leaf1\" base port 0 lid 1 lmc 0\n\
     [1]\t\"H-0a\"[1](0a)\t# \"n1 mlx5_0\" lid 11 4xHDR\n[2]\t\"H-0b\"[1](0b)\t# \"n2 mlx5_0\" lid 12 4xHDR\n\
     [3]\t\"S-0003\"[1]\t# \"spine\" lid 3 4xHDR\n\nSwitch\t4 \"S-0002\"\t# \"leaf2\" base port 0 lid 2 lmc 0\n\
     [1]\t\"H-0c\"[1](0c)\t# \"n3 mlx5_0\" lid 13 4xHDR\n[2]\t\"H-0d\"[1](0d)\t# \"n4 mlx5_0\" lid 14 4xHDR\n\
     [3]\t\"S-0003\"[2]\t# \"spine\" lid 3 4xHDR\n";

#[test]
fn machines_of_hosts_and_networks() {
    let blocks = "BlockName=b1 BlockIndex=0 Nodes=n[1-2] BlockSize=2\nBlockName=b2 BlockIndex=1 Nodes=n[3-4] BlockSize=2\n\
                  AggregatedBlock=b[1-2] BlockIndex=2 Nodes=n[1-4] BlockSize=4\n";
    let switches = "SwitchName=s2 Level=1 LinkSpeed=1 Nodes=n[1-4] Switches=s[0-1]\nSwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[1-2]\n\
                    SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[3-4]\n";
    let folder = folder(&[
        ("list", "nid[000123-000126] slots=2\n"),
        ("lsf", "hostA 2 hostB 2 hostC 4\n"),
        ("sge", "a.site 4 all.q@a.site UNDEFINED\nb.site 4 all.q@b.site UNDEFINED\n"),
        ("hosts", "n1\nn2\nn3\nn4\n"),
        ("full", "n[1-4].site.example\n"),
        ("fabric", FABRIC),
        ("blocks", blocks),
        ("switches", switches),
        ("conf", "SwitchName = s0 Nodes = n[1-2]\nSwitchName = s1 Nodes = n[3-4]\n"),
        (
            "latencies",
            "n1 n2 n3 n4\n0 1.3e-6 2e-6 2e-6\n1.3e-6 0 2e-6 2e-6\n2e-6 2e-6 0 1.3e-6\n2e-6 2e-6 1.3e-6 0\n",
        ),
    ]);
    let two = "2 switches x 2 nodes x 2 cores = 2:2:2, distances 1:30:60 (assumed)";
    let cases = [
        ("hosts:list", "4 nodes x 2 cores = 2:4"),
        ("hosts:lsf", "3 nodes, 8 cores, uneven"),
        ("hosts:sge", "2 nodes x 4 cores = 4:2"),
        ("hosts:hosts,node=2,topology=fabric", two),
        ("hosts:full,node=2,topology=fabric", two),
        ("hosts:hosts,node=2,topology=blocks", "2 blocks x 2 nodes x 2 cores = 2:2:2"),
        ("hosts:hosts,node=2,topology=switches", two),
        ("hosts:full,node=2,topology=conf", two),
    ];
    for (machine, expected) in cases {
        let text = map(folder.path(), "job.graph", machine);
        assert!(text.contains(expected), "{machine}: {text}");
    }
    let mut viem = program("viem", folder.path());
    viem.args(["job.graph", "--machine=hosts:full,node=2", "--latency=latencies", "--verify", "-o", "p"]);
    let text = stdout_of(&mut viem);
    assert!(text.contains("the least is 1.3e-6"), "{text}");
}

#[test]
fn tables_of_tools_are_machines() {
    let numactl = "node distances:\nnode   0   1   2   3\n  0:  10  12  20  20\n  1:  12  10  20  20\n  2:  20  20  10  12\n  3:  20  20  12  10\n";
    let folder = folder(&[
        ("numa", numactl),
        ("table", "10 12 20 20\n12 10 20 20\n20 20 10 12\n20 20 12 10\n"),
        ("csv", "10,12,20,20\n12,10,20,20\n20,20,10,12\n20,20,12,10\n"),
        ("m.tgt", "ltleaf 2 4 9 4 1 4 2 0 3 1"),
    ]);
    let text = map(folder.path(), "four.graph", "numa");
    assert!(text.contains("4 NUMA nodes with the distances of numactl"), "{text}");
    for machine in ["table", "csv"] {
        assert_eq!(objective(&map(folder.path(), "four.graph", machine)), objective(&text), "{machine}");
    }
    let text = map(folder.path(), "job.graph", "m.tgt");
    assert!(text.contains("tree of 16 processing elements in the order of their labels"), "{text}");
}

#[test]
fn matrices_with_names_are_machines() {
    let folder = folder(&[
        ("plain", "0 10 30 30\n10 0 30 30\n30 30 0 10\n30 30 10 0\n"),
        ("header", "a,b,c,d\n0,10,30,30\n10,0,30,30\n30,30,0,10\n30,30,10,0\n"),
        ("labels", "a 0 10 30 30\nb 10 0 30 30\nc 30 30 0 10\nd 30 30 10 0\n"),
        ("both", ";a;b;c;d\na;0;10;30;30\nb;10;0;30;30\nc;30;30;0;10\nd;30;30;10;0\n"),
        ("numbers", "     0  1  2  3\n0    0 10 30 30\n1   10  0 30 30\n2   30 30  0 10\n3   30 30 10  0\n"),
        (
            "quoted",
            "\"\",\"a\",\"b\",\"c\",\"d\"\n\"a\",0,10,30,30\n\"b\",10,0,30,30\n\"c\",30,30,0,10\n\"d\",30,30,10,0\n",
        ),
    ]);
    for machine in ["plain", "header", "labels", "both", "numbers", "quoted"] {
        let text = map(folder.path(), "four.graph", machine);
        assert!(text.contains("distance matrix of 4 processing elements"), "{machine}: {text}");
        assert_eq!(objective(&text), 2 * (10 + 30 + 10), "{machine}");
    }
}

#[test]
fn what_is_no_machine_is_told_what_machines_are() {
    let folder = folder(&[
        ("none", "No NUMA available on this system\n"),
        ("cut", "available: 2 nodes (0-1)\nnode 0 cpus: 0 1 2 3\nnode 0 size: 64216 MB\n"),
        ("misspelt", "mesh4D 2 2 2 2\n"),
        ("dot", "graph {\n0 -- 1;\n}\n"),
    ]);
    for (file, says) in [
        ("none", "none: this is no machine; a machine is a target file of Scotch, a network"),
        ("cut", "cut: this is no machine"),
        ("misspelt", "`mesh4D` is no target that is known here; known are tleaf"),
        ("dot", "this looks like a Graphviz (DOT) file"),
    ] {
        let mut viem = program("viem", folder.path());
        let text = failure_of(viem.args(["four.graph", &format!("--machine={file}"), "-o", "p"]), 65);
        assert!(text.contains(says), "{file}: {text}");
    }
}

#[test]
fn hosts_of_batch_systems_come_from_the_environment() {
    let folder = folder(&[
        ("nodefile", "n1\nn1\nn2\nn2\n"),
        ("pe", "n1 2 all.q@n1 UNDEFINED\nn2 2 all.q@n2 UNDEFINED\n"),
    ]);
    let variables = ["LSB_MCPU_HOSTS", "LSB_DJOB_HOSTFILE", "LSB_HOSTS", "PE_HOSTFILE", "PBS_NODEFILE"];
    let viem = |machine: &str, name: &str, value: &str| {
        let mut viem = program("viem", folder.path());
        variables.iter().for_each(|variable| {
            viem.env_remove(variable).env_remove("CSM_ALLOCATION_ID");
        });
        viem.args(["four.graph", &format!("--machine={machine}"), "-o", "p"]).env(name, value);
        viem
    };
    let cases = [
        ("hosts:lsf", "LSB_MCPU_HOSTS", "n1 2 n2 2"),
        ("hosts:lsf", "LSB_DJOB_HOSTFILE", "nodefile"),
        ("hosts:lsf", "LSB_HOSTS", "n1 n1 n2 n2"),
        ("hosts:sge", "PE_HOSTFILE", "pe"),
        ("hosts:pbs", "PBS_NODEFILE", "nodefile"),
        ("hwloc:core:2 pu:1,hosts=lsf", "LSB_MCPU_HOSTS", "n1 2 n2 2"),
    ];
    for (machine, name, value) in cases {
        let text = stdout_of(&mut viem(machine, name, value));
        assert!(text.contains("2 nodes x 2 cores = 2:2"), "{machine} {name}: {text}");
    }
    // The first host of the Job Step Manager only starts jobs.
    let launched = "batch1 1 n1 2 n2 2";
    let text = stdout_of(viem("hosts:lsf", "LSB_MCPU_HOSTS", launched).env("CSM_ALLOCATION_ID", "7"));
    assert!(text.contains("2 nodes x 2 cores = 2:2"), "{text}");
    assert!(text.contains("batch1, the first host in LSB_MCPU_HOSTS, only starts the job"), "{text}");
    let output = viem("hosts:lsf", "LSB_MCPU_HOSTS", launched).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("batch1, the first host in LSB_MCPU_HOSTS, has one slot"), "{text}");
    let text = failure_of(&mut viem("hosts:lsf", "OTHER", "1"), 66);
    assert!(text.contains("no job of LSF here: LSB_MCPU_HOSTS or"), "{text}");
    let text = failure_of(&mut viem("hosts:lsf", "LSB_MCPU_HOSTS", "n1 2 n2 x"), 65);
    assert!(text.contains("LSB_MCPU_HOSTS, line 1, column 9"), "{text}");
}

#[test]
fn files_of_launchers_are_scored_and_improved() {
    let folder = folder(&[
        ("MPICH_RANK_ORDER", "0,2,4,6,1,3,5,7\n"),
        (
            "rankfile",
            "rank 0=n1 slot=0:0\nrank 1=n2 slot=0:0\nrank 2=n1 slot=0:1\nrank 3=n2 slot=0:1\nrank 4=n1 slot=0:2\nrank 5=n2 slot=0:2\nrank 6=n1 slot=0:3\nrank 7=n2 slot=0:3\n",
        ),
        ("list", "n1\nn2\nn1\nn2\nn1\nn2\nn1\nn2\n"),
        ("inverse", "0\n2\n4\n6\n1\n3\n5\n7\n"),
        ("p", "0\n4\n1\n5\n2\n6\n3\n7\n"),
        ("hosts", "n1 slots=4\nn2 slots=4\n"),
    ]);
    let score = |mapping: &str, more: &[&str]| {
        let mut evaluator = program("evaluator", folder.path());
        evaluator.args(["job.graph", "--machine=hosts:hosts", "--distance_parameter_string=1:10"]).args(more);
        stdout_of(evaluator.arg(format!("--input_mapping={mapping}")))
    };
    let plain = objective(&score("p", &[]));
    let kinds = [
        ("MPICH_RANK_ORDER", "MPICH_RANK_ORDER is a rank order of Cray MPICH"),
        ("rankfile", "rankfile is a rankfile of Open MPI"),
        ("list", "list is a list of hosts in the order of the ranks"),
        ("inverse:inverse", "inverse is the rank on each processing element"),
    ];
    for (mapping, said) in kinds {
        let text = score(mapping, &[]);
        assert!(text.contains(said), "{text}");
        assert_eq!(objective(&text), plain, "{mapping}");
    }
    let text = score("p", &["--compare=rankfile,list,inverse:inverse,block"]);
    let rows: Vec<&str> =
        text.lines().filter(|line| line.split_whitespace().nth(1) == Some(&plain.to_string())).collect();
    assert_eq!(rows.len(), 4, "{text}");
    // Without named hosts, a rank order still says where ranks are, and hosts do not.
    let mut tree = program("evaluator", folder.path());
    tree.args([
        "job.graph",
        "--machine=4:2",
        "--distance_parameter_string=1:10",
        "--input_mapping=MPICH_RANK_ORDER",
    ]);
    assert_eq!(objective(&stdout_of(&mut tree)), plain);
    let mut nameless = program("evaluator", folder.path());
    nameless.args(["job.graph", "--machine=4:2", "--distance_parameter_string=1:10", "--input_mapping=list"]);
    let text = failure_of(&mut nameless, 65);
    assert!(
        text.contains("list, line 1, column 1: this file names hosts, but the machine has none"),
        "{text}"
    );
    let mut viem = program("viem", folder.path());
    viem.args([
        "job.graph",
        "--machine=hosts:hosts",
        "--input_mapping=rankfile",
        "--launch=openmpi:better",
        "-o",
        "q",
    ]);
    let text = stdout_of(&mut viem);
    assert!(text.contains("rankfile is a rankfile of Open MPI"), "{text}");
    let better = score("better", &[]);
    assert!(objective(&better) < plain, "{better}");
    assert_eq!(objective(&score("q", &[])), objective(&better));
}

#[test]
fn names_that_could_be_several_hosts_are_named() {
    let folder = folder(&[
        ("hosts", "n1\nn2\n"),
        ("conf", "SwitchName=s0 Nodes=n1.a.example,n1.b.example,n2\n"),
        ("lost", "SwitchName=s0 Nodes=n1,x2\n"),
    ]);
    for (topology, expected) in [
        ("conf", "host n1 could be n1.a.example or n1.b.example"),
        ("lost", "host n2 is not in the topology"),
    ] {
        let mut viem = program("viem", folder.path());
        viem.args(["four.graph", &format!("--machine=hosts:hosts,node=2,topology={topology}"), "-o", "p"]);
        let text = failure_of(&mut viem, 65);
        assert!(text.contains(expected), "{text}");
    }
}
