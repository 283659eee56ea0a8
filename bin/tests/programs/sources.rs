//! What people have at hand as machines, hosts and mappings, as a user runs the programs on it: outputs of tools, lists of batch systems,
//! names in several spellings, and files of launchers.

use crate::common::{Folder, failure_of, objective, said_by, says, stdout_of};

/// Paths of 8 and 4 processes, and these files.
fn folder(files: &[(&str, &str)]) -> Folder {
    let folder = Folder::with(files);
    folder.write("job.graph", path(8));
    folder.write("four.graph", path(4));
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

/// Maps a model to a machine with `--verify`. What is printed must hold the expected text.
#[track_caller]
fn map(folder: &Folder, model: &str, machine: &str, expected: &str) -> String {
    let text = folder.stdout(format!("viem map {model} --threads=1 --verify --machine={machine} -o p"));
    let verified = format!("verified: J of the files is {} too", objective(&text));
    says(&text, [&*verified, expected]);
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
    let latencies =
        "n1 n2 n3 n4\n0 1.3e-6 2e-6 2e-6\n1.3e-6 0 2e-6 2e-6\n2e-6 2e-6 0 1.3e-6\n2e-6 2e-6 1.3e-6 0\n";
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
        ("latencies", latencies),
    ]);
    let two = "2 switches x 2 nodes x 2 cores = 2:2:2, distances 1:30:60 (assumed)";
    for (machine, expected) in [
        ("hosts:list", "4 nodes x 2 cores = 2:4"),
        ("hosts:lsf", "3 nodes, 8 cores, uneven"),
        ("hosts:sge", "2 nodes x 4 cores = 4:2"),
        ("hosts:hosts,node=2,topology=fabric", two),
        ("hosts:full,node=2,topology=fabric", two),
        ("hosts:hosts,node=2,topology=blocks", "2 blocks x 2 nodes x 2 cores = 2:2:2"),
        ("hosts:hosts,node=2,topology=switches", two),
        ("hosts:full,node=2,topology=conf", two),
        ("hosts:full,node=2 --latencies=latencies", "the least is 1.3e-6"),
    ] {
        map(&folder, "job.graph", machine, expected);
    }
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
    let text = map(&folder, "four.graph", "numa", "4 NUMA nodes with the distances of numactl");
    for machine in ["table", "csv"] {
        let other = map(&folder, "four.graph", machine, "");
        assert_eq!(objective(&other), objective(&text), "{machine}");
    }
    let tree = "tree of 16 processing elements in the order of their labels";
    map(&folder, "job.graph", "m.tgt", tree);
}

#[test]
fn matrices_with_names_are_machines() {
    let quoted = "\"\",\"a\",\"b\",\"c\",\"d\"\n\"a\",0,10,30,30\n\"b\",10,0,30,30\n\"c\",30,30,0,10\n\"d\",30,30,10,0\n";
    let files = [
        ("plain", "0 10 30 30\n10 0 30 30\n30 30 0 10\n30 30 10 0\n"),
        ("header", "a,b,c,d\n0,10,30,30\n10,0,30,30\n30,30,0,10\n30,30,10,0\n"),
        ("labels", "a 0 10 30 30\nb 10 0 30 30\nc 30 30 0 10\nd 30 30 10 0\n"),
        ("both", ";a;b;c;d\na;0;10;30;30\nb;10;0;30;30\nc;30;30;0;10\nd;30;30;10;0\n"),
        ("numbers", "     0  1  2  3\n0    0 10 30 30\n1   10  0 30 30\n2   30 30  0 10\n3   30 30 10  0\n"),
        ("quoted", quoted),
    ];
    let folder = folder(&files);
    for (machine, _) in files {
        let text = map(&folder, "four.graph", machine, "distance matrix of 4 processing elements");
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
        ("hosts", "n1\nn2\n"),
        ("conf", "SwitchName=s0 Nodes=n1.a.example,n1.b.example,n2\n"),
        ("lost", "SwitchName=s0 Nodes=n1,x2\n"),
    ]);
    for (machine, expected) in [
        ("none", "none: this is no machine; a machine is a target file of Scotch, a network"),
        ("cut", "cut: this is no machine"),
        ("misspelt", "`mesh4D` is no target that is known here; known are tleaf"),
        ("dot", "this looks like a Graphviz (DOT) file"),
        // Names that could be several hosts are named.
        ("hosts:hosts,node=2,topology=conf", "host n1 could be n1.a.example or n1.b.example"),
        ("hosts:hosts,node=2,topology=lost", "host n2 is not in the topology"),
    ] {
        folder.fails(format!("viem map four.graph --machine={machine} -o p"), 65, expected);
    }
}

#[test]
fn hosts_of_batch_systems_come_from_the_environment() {
    let folder = folder(&[
        ("nodefile", "n1\nn1\nn2\nn2\n"),
        ("pe", "n1 2 all.q@n1 UNDEFINED\nn2 2 all.q@n2 UNDEFINED\n"),
    ]);
    let variables = "LSB_MCPU_HOSTS LSB_DJOB_HOSTFILE LSB_HOSTS PE_HOSTFILE PBS_NODEFILE CSM_ALLOCATION_ID";
    let viem = |machine: &str, name: &str, value: &str| {
        let mut viem = folder.command(format!("viem map four.graph --machine={machine} -o p"));
        for variable in variables.split(' ') {
            viem.env_remove(variable);
        }
        viem.env(name, value);
        viem
    };
    let shape = "2 nodes x 2 cores = 2:2";
    let cases = [
        ("hosts:lsf", "LSB_MCPU_HOSTS", "n1 2 n2 2"),
        ("hosts:lsf", "LSB_DJOB_HOSTFILE", "nodefile"),
        ("hosts:lsf", "LSB_HOSTS", "n1 n1 n2 n2"),
        ("hosts:sge", "PE_HOSTFILE", "pe"),
        ("hosts:pbs", "PBS_NODEFILE", "nodefile"),
        ("'hwloc:core:2 pu:1,hosts=lsf'", "LSB_MCPU_HOSTS", "n1 2 n2 2"),
    ];
    for (machine, name, value) in cases {
        let text = stdout_of(&mut viem(machine, name, value));
        assert!(text.contains(shape), "{machine} {name}: {text}");
    }
    // The first host of the Job Step Manager only starts jobs.
    let lsf = |hosts: &str| viem("hosts:lsf", "LSB_MCPU_HOSTS", hosts);
    let launched = "batch1 1 n1 2 n2 2";
    let text = stdout_of(lsf(launched).env("CSM_ALLOCATION_ID", "7"));
    says(&text, [shape, "batch1, the first host in LSB_MCPU_HOSTS, only starts the job"]);
    let (_, text) = said_by(&mut lsf(launched));
    says(&text, ["batch1, the first host in LSB_MCPU_HOSTS, has one slot"]);
    let text = failure_of(&mut viem("hosts:lsf", "OTHER", "1"), 66);
    says(&text, ["no job of LSF here: LSB_MCPU_HOSTS or"]);
    says(&failure_of(&mut lsf("n1 2 n2 x"), 65), ["LSB_MCPU_HOSTS, line 1, column 9"]);
}

#[test]
fn files_of_launchers_are_scored_and_improved() {
    let rankfile: String =
        (0..8).map(|rank| format!("rank {rank}=n{} slot=0:{}\n", 1 + rank % 2, rank / 2)).collect();
    let folder = folder(&[
        ("MPICH_RANK_ORDER", "0,2,4,6,1,3,5,7\n"),
        ("rankfile", &rankfile),
        ("list", &"n1\nn2\n".repeat(4)),
        ("inverse", "0\n2\n4\n6\n1\n3\n5\n7\n"),
        ("p", "0\n4\n1\n5\n2\n6\n3\n7\n"),
        ("hosts", "n1 slots=4\nn2 slots=4\n"),
    ]);
    let on = |machine: &str, mapping: &str| {
        let machine = format!("--machine={machine} --distances=1:10");
        format!("viem score job.graph {machine} {mapping}")
    };
    let score = |mapping: &str| folder.stdout(on("hosts:hosts", mapping));
    let plain = objective(&score("p"));
    for (mapping, said) in [
        ("MPICH_RANK_ORDER", "MPICH_RANK_ORDER is a rank order of Cray MPICH"),
        ("rankfile", "rankfile is a rankfile of Open MPI"),
        ("list", "list is a list of hosts in the order of the ranks"),
        ("inverse:inverse", "inverse is the rank on each processing element"),
    ] {
        let text = score(mapping);
        says(&text, [said]);
        assert_eq!(objective(&text), plain, "{mapping}");
    }
    let text = score("p --compare=rankfile,list,inverse:inverse,block");
    let rows: Vec<&str> =
        text.lines().filter(|line| line.split_whitespace().nth(1) == Some(&plain.to_string())).collect();
    assert_eq!(rows.len(), 4, "{text}");
    // Without named hosts, a rank order still says where ranks are, and hosts do not.
    assert_eq!(objective(&folder.stdout(on("4:2", "MPICH_RANK_ORDER"))), plain);
    let nameless = "list, line 1, column 1: this file names hosts, but the machine has none";
    folder.fails(on("4:2", "list"), 65, nameless);
    let improve = "--initial=rankfile --launch=openmpi:better -o q";
    let text = folder.stdout(format!("viem map job.graph --machine=hosts:hosts {improve}"));
    says(&text, ["rankfile is a rankfile of Open MPI"]);
    let better = score("better");
    assert!(objective(&better) < plain, "{better}");
    assert_eq!(objective(&score("q")), objective(&better));
}
