//! Properties of all readers, for those of this package.

use viem_cluster::{SpecError, files};

use crate::reader::{Reader, check, reader};
use crate::table;

/// A file of a machine: its distances.
fn machine(name: &'static str, text: &str) -> Reader {
    reader(name, text, |source| {
        let machine = viem_cluster::read(source, "test".as_ref())?;
        Ok::<_, SpecError>(table(machine.as_ref()))
    })
}

fn all() -> Vec<Reader> {
    vec![
        reader("hosts", "n1 slots=4\nn2 slots=4\n", files::hostfile::read).numbers_from(None),
        reader("topology", "SwitchName=s0 Nodes=n[1-4]\nSwitchName=s1 Nodes=n[5-8]\nSwitchName=s2 Switches=s[0-1]\n", files::topology::read)
            .numbers_from(None),
        reader("printed topology", "BlockName=b1 BlockIndex=0 Nodes=c[1-2] BlockSize=2\nBlockName=b2 BlockIndex=1 Nodes=c[3-4] BlockSize=2\n", files::topology::read)
            .numbers_from(None),
        reader(
            "fabric",
            "vendid=0x2c9\nSwitch\t4 \"S-1\"\t# \"leaf1\" base port 0\n[1]\t\"H-a\"[1](a)\t# \"n1 mlx5_0\" lid 11 4xHDR\n[2]\t\"H-b\"[1]\t# \"n2 mlx5_0\"\n",
            files::topology::read,
        )
        .numbers_from(None),
        reader(
            "topograph",
            "{\n  \"instances\": [\n    {\"id\": \"n1\", \"network_layers\": [\"leaf1\", \"spine\"], \"labels\": {\"accelerator.topograph.run/domain\": \"d\"}},\n    \
             {\"id\": \"n2\", \"network_layers\": [\"leaf2\", \"spine\"]}\n  ]\n}\n",
            files::topology::read,
        )
        .numbers_from(None),
        reader("NUMA distances", "node distances:\nnode   0   1\n  0:  10  21\n  1:  21  10\n", files::numa::read)
            .numbers_from(None),
        reader("likwid-topology", "NUMA domains:\t\t2\nDomain:\t\t\t0\nDistances:\t\t10 21\nDomain:\t\t\t1\nDistances:\t\t21 10\n", files::numa::read)
            .numbers_from(None),
        reader(
            "nvidia-smi topo -m",
            "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV18\tPIX\t0-31\t0\nGPU1\tNV18\t X \tSYS\t0-31\t0\n",
            files::gpus::read,
        )
        .numbers_from(None),
        reader(
            "rocm-smi --showtopo",
            "==== Weight between two GPUs ====\n       GPU0         GPU1\nGPU0   0            15\nGPU1   15           0\n",
            files::gpus::read,
        )
        .numbers_from(None),
        reader(
            "lstopo --distances",
            "Relative latency matrix (name NUMALatency kind 5) between 2 NUMANodes (depth -3) by logical indexes:\n  index     0     1\n\
             \x20     0    10    21\n      1    21    10\n",
            files::numa::read,
        )
        .numbers_from(None),
        reader("hosts of LSF", "n1 4 n2 4 n3 2\n", files::hostfile::read).numbers_from(None),
        reader("hosts of Grid Engine", "n1.site 4 all.q@n1.site UNDEFINED\nn2.site 4 all.q@n2.site UNDEFINED\n", files::hostfile::read)
            .numbers_from(None),
        reader("addresses", "s0.s1.n1\ns0.s1.n2\ns0.s2.n3\n", files::topology::read).numbers_from(None),
        reader(
            "topology.yaml",
            "---\n- topology: t\n  cluster_default: true\n  tree:\n    switches:\n      - switch: s0\n        nodes: n[1-2]\n\
             \x20     - switch: s1\n        nodes: n[3-4]\n      - switch: s2\n        children: s[0-1]\n",
            files::topology::read,
        )
        .numbers_from(None),
        reader(
            "hwloc",
            "<?xml version=\"1.0\"?>\n<topology version=\"2.0\">\n<object type=\"Machine\" os_index=\"0\">\n\
             <object type=\"Core\" os_index=\"0\"><object type=\"PU\" os_index=\"0\"/></object>\n\
             <object type=\"Core\" os_index=\"1\"><object type=\"PU\" os_index=\"1\"/></object>\n</object>\n</topology>\n",
            files::hwloc::read,
        )
        .numbers_from(None),
        machine("machine: target", "tleaf 2 4 10 2 1\n"),
        machine("machine: network", "3 2 11\n1 2 7\n0 1 7 3 8\n1 2 8\n").numbers_from(1),
        machine("machine: matrix", "0 10 3\n10 0 4\n3 4 0\n").with_separators(),
        machine("machine: matrix with names", "pe a b c\na 0 10 3\nb 10 0 4\nc 3 4 0\n").numbers_from(1).with_separators(),
        reader("latencies", "0 10 3\n10 0 4\n3 4 0\n", files::latency::read).with_separators(),
    ]
}

#[test]
fn spellings_encodings_and_damage_are_treated_alike() {
    check(&all());
}
