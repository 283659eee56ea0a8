//! Files of launchers, read back as mappings: round trips over all launchers, files that others write, and errors.

use std::fs;

use proptest::prelude::*;
use viem::Mapping;
use viem::base::rng::Rng;
use viem::base::types::PeId;
use viem::machine::{Machine, Nodes};
use viem_cluster::{MachineSpec, PeKind};
use viem_io::mapping::Room;
use viem_io::{ReadError, Source};
use viem_launch as launch;
use viem_launch::placement::{self, Placement};
use viem_launch::{Launch, LaunchError};

/// A machine of named hosts: `hosts` is a file of them, `node` describes each.
fn machine(hosts: &str, node: &str) -> Box<dyn Machine> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hosts");
    fs::write(&path, hosts).unwrap();
    viem_cluster::build(&format!("hosts:{},node={node}", path.display()), None).unwrap()
}

/// A machine of named hosts whose PEs are the GPUs of `node`, a file of hwloc or of `nvidia-smi`.
fn machine_of_gpus(hosts: &str, node: &str) -> Box<dyn Machine> {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("hosts"), hosts).unwrap();
    fs::write(path("node"), node).unwrap();
    let spec = format!("hosts:{},node={}", path("hosts").display(), path("node").display());
    viem_cluster::build_wanted(&MachineSpec::new(&spec).with_pe(PeKind::Gpu)).unwrap()
}

/// Two packages of four cores, each with two GPUs; those of the second package have the lower addresses.
fn node_of_gpus() -> String {
    let package = |first: u32, bus: u32| {
        let core = |cpu: u32| {
            format!(
                "<object type=\"Core\"><object type=\"PU\" os_index=\"{cpu}\"/><object type=\"PU\" os_index=\"{}\"/></object>",
                cpu + 8
            )
        };
        let gpu = |bus: u32| {
            format!("<object type=\"PCIDev\" pci_busid=\"0000:{bus:02x}:00.0\" pci_type=\"0302\"/>")
        };
        let cores: String = (first..first + 4).map(core).collect();
        let gpus = gpu(bus + 1) + &gpu(bus);
        format!(
            "<object type=\"Package\">{cores}<object type=\"Bridge\" bridge_type=\"0-1\">{gpus}</object></object>"
        )
    };
    let packages = package(0, 0xc0) + &package(4, 0x10);
    format!("<topology version=\"2.0\"><object type=\"Machine\">{packages}</object></topology>")
}

fn read_as(
    text: &str,
    ranks: usize,
    machine: &dyn Machine,
    kind: Option<&str>,
) -> Result<Placement, ReadError> {
    let capacity = |pe| machine.capacity(pe);
    let room = Room::new(machine.num_pes(), &capacity);
    let kind = kind.map(|name| placement::kind(name).unwrap());
    placement::read(Source::new("test", text.as_bytes()).unwrap(), ranks, machine, room, kind)
}

fn read(text: &str, ranks: usize, machine: &dyn Machine) -> Placement {
    read_as(text, ranks, machine, None).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn fault(text: &str, ranks: usize, machine: &dyn Machine) -> (u64, u64, String) {
    match read_as(text, ranks, machine, None) {
        Err(ReadError::Invalid { line, column, kind, .. }) => (line, column, kind.to_string()),
        other => panic!("{text}: {other:?}"),
    }
}

fn launch(kind: &str, machine: &dyn Machine, mapping: &Mapping) -> Result<Launch, LaunchError> {
    let kind = launch::kind(kind).unwrap();
    let files: Vec<String> = kind.files.iter().map(|&name| name.to_owned()).collect();
    kind.launch(machine, mapping, &files)
}

fn random_mapping(machine: &dyn Machine, ranks: usize, rng: &mut Rng) -> Mapping {
    let mut pes: Vec<PeId> = (0..machine.num_pes() as PeId).collect();
    rng.shuffle(&mut pes);
    pes.truncate(ranks);
    Mapping::on(machine, pes).unwrap()
}

/// Hosts with the script that binds their ranks.
fn read_bound(
    hosts: &str,
    script: &str,
    ranks: usize,
    machine: &dyn Machine,
) -> Result<Placement, ReadError> {
    let capacity = |pe| machine.capacity(pe);
    let room = Room::new(machine.num_pes(), &capacity);
    let hosts = Source::new("hosts", hosts.as_bytes()).unwrap();
    let script = Source::new("bind.sh", script.as_bytes()).unwrap();
    placement::read_bound(hosts, script, ranks, machine, room)
}

/// Both files of a launcher together have the whole mapping.
#[test]
fn lists_of_hosts_with_their_scripts_are_read_back() {
    let mut rng = Rng::new(3);
    for (node, spare) in [("4:2", 0), ("4:2", 5), ("2:2:2", 3), ("3", 1)] {
        let machine = machine("n1\nn2\nn3\n", node);
        let mapping = random_mapping(machine.as_ref(), machine.num_pes() - spare, &mut rng);
        for kind in ["slurm", "intel", "flux"] {
            let files = launch(kind, machine.as_ref(), &mapping).unwrap().files;
            let read =
                read_bound(&files[0].content, &files[1].content, mapping.num_processes(), machine.as_ref());
            let read = read.unwrap();
            assert_eq!((read.pes.as_slice(), &*read.notes), (mapping.pes(), &[][..]), "{kind} {node}");
            assert!(read.kind.unwrap().contains("hosts"));
        }
    }
}

#[test]
fn faults_of_scripts_are_placed() {
    let machine = machine("n1\nn2\n", "2");
    let script = |cpus: &str| format!("#!/bin/sh\n# The CPUs of each rank:\n{cpus}");
    for (hosts, script, expected) in [
        ("n1\nn2\n", "#!/bin/sh\n0\n1\n".to_owned(), ("bind.sh", 1, 1, "this is no script that binds ranks")),
        ("n1\nn2\n", script("0\n"), ("bind.sh", 4, 1, "has places for 1 of 2 ranks")),
        ("n1\nn2\n", script("0\n1\n0\n"), ("bind.sh", 5, 1, "places for more than 2 ranks")),
        ("n1\nn2\n", script("0\n 1,x\n"), ("bind.sh", 4, 2, "`1,x` is no list of CPUs")),
        ("n1\nn2\n", script("0\n7\n"), ("hosts", 2, 1, "no processing element on the cores or CPUs `7`")),
        ("n1\nn1\n", script("1\n1\n"), ("hosts", 2, 1, "that rank 1 may be on are taken")),
        ("n1\nn9\n", script("1\n1\n"), ("hosts", 2, 1, "host n9 is not in the machine")),
        ("0,1\n", script("1\n1\n"), ("hosts", 1, 1, "belong to a list of hosts, but this is a rank order")),
    ] {
        match read_bound(hosts, &script, 2, machine.as_ref()) {
            Err(ReadError::Invalid { file, line, column, kind }) => {
                let kind = kind.to_string();
                assert_eq!((&*file, line, column), (expected.0, expected.1, expected.2), "{kind}");
                assert!(kind.contains(expected.3), "{kind}");
            }
            other => panic!("{script}: {other:?}"),
        }
    }
}

/// Files written for every launcher are read back: the same PEs, or at least the same hosts if the file has no more.
#[test]
fn what_is_written_is_read_again() {
    let mut rng = Rng::new(1);
    let machines = [
        machine("n1\nn2\nn3\n", "4:2"),
        machine("n[1-3].site.example slots=8\n", "pack:2 numa:2 core:2 pu:2"),
        machine("n1:3\nn2:5\nn3:1\n", "4:2"),
        machine("localhost\n", "4"),
        machine_of_gpus("n1\nn2\nn3\n", &node_of_gpus()),
    ];
    let mut refused = 0;
    for case in 0..120 {
        let machine = machines[case % machines.len()].as_ref();
        let spare = if case % 3 == 0 { rng.below(machine.num_pes() as u32) as usize } else { 0 };
        let ranks = machine.num_pes() - spare;
        let mapping = random_mapping(machine, ranks, &mut rng);
        let nodes = Nodes::of(machine);
        for kind in &launch::KINDS {
            let launch = match launch(kind.name, machine, &mapping) {
                Ok(launch) => launch,
                Err(LaunchError::Uneven { .. } | LaunchError::OtherCpus { .. }) if kind.name == "cray" => {
                    refused += 1;
                    continue;
                }
                Err(error) => panic!("{error}"),
            };
            // The rest of what says where ranks of Cray MPICH are is in the command line.
            if kind.name == "cray" && spare > 0 {
                continue;
            }
            let text = &launch.files[0].content;
            // Without -1 only the user knows the direction.
            let given = (kind.name == "inverse" && spare == 0).then_some("inverse");
            let placement =
                read_as(text, ranks, machine, given).unwrap_or_else(|error| panic!("{text}: {error}"));
            let is_exact = !matches!(kind.name, "mpich" | "intel" | "slurm" | "flux" | "mpijob");
            if is_exact {
                assert_eq!(placement.pes, mapping.pes(), "{}: {text}", kind.name);
            } else {
                let hosts = |pes: &[PeId]| pes.iter().map(|&pe| nodes.node(pe)).collect::<Vec<_>>();
                assert_eq!(hosts(&placement.pes), hosts(mapping.pes()), "{}: {text}", kind.name);
                assert!(Mapping::on(machine, placement.pes.clone()).is_ok());
            }
            assert_eq!(placement.kind.is_none(), kind.name == "plain", "{}", kind.name);
        }
    }
    assert!(refused < 80, "{refused}");
}

/// Lines that name the cores or CPUs of a GPU, or only some of them, are that GPU. Of lines that name several GPUs each gets one.
#[test]
fn cores_near_gpus_are_those_gpus() {
    let machine = machine_of_gpus("n1\nn2\n", &node_of_gpus());
    let nodes = Nodes::of(machine.as_ref());
    let gpus = |text: &str, ranks: usize| -> Vec<(usize, u32)> {
        let pes = read(text, ranks, machine.as_ref()).pes;
        pes.iter().map(|&pe| (nodes.node(pe), nodes.site(pe).gpus[0])).collect()
    };
    // GPUs 0 and 1 are on the second package.
    assert_eq!(gpus("rank 0=n2 slot=1:0-1\nrank 1=n1 slot=0:3\n", 2), [(1, 0), (0, 3)]);
    assert_eq!(gpus("n1:2 binding=user:6+7+14+15,0\n", 2), [(0, 1), (0, 2)]);
    assert_eq!(gpus("rank 0=n1 slot=1:*\nrank 1=n1 slot=1:0\n", 2), [(0, 1), (0, 0)]);
    let table = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tSYS\t8-15\nGPU1\tSYS\t X \t0-7\n";
    let machine = machine_of_gpus("n1\n", table);
    for kind in ["mpich40", "cray"] {
        let mapping = Mapping::from_pes(vec![1, 0]).unwrap();
        let text = &launch(kind, machine.as_ref(), &mapping).unwrap().files[0].content;
        assert_eq!(read(text, 2, machine.as_ref()).pes, [1, 0], "{kind}: {text}");
    }
    let (line, _, message) = fault("rank 0=n1 slot=0:1\n", 1, machine.as_ref());
    assert!(
        line == 1 && message.contains("n1 of the machine has no processing element on the cores"),
        "{message}"
    );
}

#[test]
fn files_of_others_are_understood() {
    let machine = machine("n1\nn2\n", "4:2");
    let cases: [(&str, &[PeId]); 18] = [
        ("rank 0=n1 slot=0:1\nrank 1=n2 slot=1:0\n", &[1, 12]),
        ("# by hand\nrank 1 = n2.site slot = 1:0-1\r\nrank 0=+n0 slots=5\r\n", &[5, 12]),
        ("rank 0=n1 slot=0:*\nrank 1=n1 slot=0:0\n", &[1, 0]),
        ("rank 0=n2 slot=0:2,3;1:1\nrank 1=+n1 slot=0:2\n", &[11, 10]),
        ("rank 0=n2\nrank 1=n2\n", &[8, 9]),
        ("1,0\n", &[1, 0]),
        ("0-1\n", &[0, 1]),
        ("# order\n1,\n0\n", &[1, 0]),
        ("n2\nn1\n", &[8, 0]),
        ("n2:1\nn2:1\n", &[8, 9]),
        ("n2 slots=2\n", &[8, 9]),
        ("n[1-2]\n", &[0, 8]),
        ("n1:2 binding=user:3,1\n", &[3, 1]),
        ("n1:1\nn2:1\n# rank map: 1,0\n", &[8, 0]),
        ("-1\n1\n0\n-1\n-1\n-1\n-1\n-1\n-1\n-1\n-1\n-1\n-1\n-1\n-1\n-1\n", &[2, 1]),
        ("9\n3\n", &[9, 3]),
        ("{\"pods\": [{\"host\": \"n2\", \"gpus\": [3, 0], \"ranks\": [1, 0]}]}", &[8, 11]),
        ("#!/bin/bash\n# The host, the GPU and the number of each rank:\nn2.site 1 1\r\nn1 7 0\n", &[7, 9]),
    ];
    for (text, pes) in cases {
        let placement = read(text, 2, machine.as_ref());
        assert_eq!(placement.pes, pes, "{text}");
    }
    assert_eq!(read("n1:5\n", 2, machine.as_ref()).notes.len(), 2);
    assert_eq!(read("0,1\n", 2, machine.as_ref()).notes.len(), 1);
    // A part of a machine, by its own numbers and by those of the whole.
    let part = viem_cluster::restricted(viem_cluster::build("4:2:2", "1:3:30").unwrap(), "9,3,12").unwrap();
    assert_eq!(read("1\n0\n2\n", 3, part.as_ref()).pes, [1, 0, 2]);
    let whole = read("3\n9\n12\n", 3, part.as_ref());
    assert_eq!((whole.pes, whole.kind.is_some()), (vec![1, 0, 2], true));
    // Where processes share PEs, the ranks of a host are spread over it in order.
    let room = Room::new(16, &|_| u32::MAX);
    let source = Source::new("many", "n2:16\n".as_bytes()).unwrap();
    let many = placement::read(source, 16, machine.as_ref(), room, None).unwrap();
    assert_eq!(many.pes, (0..16).map(|rank| 8 + rank / 2).collect::<Vec<PeId>>());
}

/// The head of a script that sets ranks.
const SCRIPT: &str = "#!/bin/sh\n# The host, the GPU and the number of each rank:\n";

#[test]
fn faults_name_the_place() {
    let machine = machine("n1\nn2\n", "4:2");
    let cases = [
        ("rank 0=n1 slot=0:1\nrank 2=n1 slot=0:1\n", 2, 6, "`2` is no rank; the ranks are 0 to 1"),
        ("rank 0=n1 slot=0:1\nrank 0=n1 slot=0:2\n", 2, 6, "rank 0 is listed here a second time"),
        ("rank 0=n1 slot=0:1\nrank 1=n3 slot=0:1\n", 2, 8, "host n3 is not in the machine, which has n1, n2"),
        ("rank 0=n1 slot=0:1\n", 2, 1, "places for 1 of 2 ranks"),
        (
            "rank 0=n1 slot=0:9\nrank 1=n1 slot=0:1\n",
            1,
            8,
            "no processing element on the cores or CPUs `0:9`",
        ),
        ("rank 0=n1 slot=0:1\nrank 1=n1 slot=0:1\n", 2, 8, "are taken"),
        ("rank 0=n1 slot=0:1\nrank 1=n1 slot=p1\n", 2, 16, "`p1` is no slot"),
        ("rank 0=n1 slot=0:1\nrang 1=n1\n", 2, 1, "no line of a rankfile"),
        ("0,0\n", 1, 3, "rank 0 is listed here a second time"),
        ("0,2\n", 1, 3, "`2` is no rank"),
        ("0-4294967295\n", 1, 1, "is no rank"),
        ("1,\n", 2, 1, "places for 1 of 2 ranks"),
        ("n1\n", 2, 1, "places for 1 of 2 ranks"),
        ("n1\nn3\n", 2, 1, "host n3 is not in the machine"),
        ("n1\nn2 what=1\n", 2, 4, "is not understood"),
        ("n1:2 binding=user:3,x\n", 1, 1, "`x` is no slot"),
        ("n1:2 binding=user:3,9\n", 1, 1, "no processing element on the cores or CPUs `9`"),
        ("n1:1\nn2:1\n# rank map: 1,2\n", 3, 15, "`2` is no rank"),
        ("{\"pods\": 1}", 1, 1, "this has no list `pods`"),
        ("{\"pods\": [", 1, 10, "this is not JSON"),
        (
            "{\"pods\": [{\"host\": \"n1\", \"gpus\": [0], \"ranks\": []}]}",
            1,
            1,
            "pod 0, counted from 0, needs",
        ),
        (
            "{\"pods\": [{\"host\": \"n3\", \"gpus\": [0], \"ranks\": [0]}]}",
            1,
            20,
            "host n3 is not in the machine",
        ),
        (
            "{\"pods\": [\n{\"host\": \"n1\", \"gpus\": [8, 0], \"ranks\": [0, 1]}]}",
            2,
            10,
            "has no processing element 8",
        ),
        ("{\"pods\": [{\"host\": \"n1\", \"gpus\": [0], \"ranks\": [2]}]}", 1, 20, "`2` is no rank"),
        ("{\"pods\": [{\"host\": \"n1\", \"gpus\": [0, 0], \"ranks\": [0, 1]}]}", 1, 20, "are taken"),
        (&format!("{SCRIPT}n1 0\n"), 3, 1, "`n1 0` is no line of a host"),
        (&format!("{SCRIPT}n1 x 0\n"), 3, 4, "`x` is no line of a host"),
        (&format!("{SCRIPT}n1 0 0\nn1 1 0\n"), 4, 6, "rank 0 is listed here a second time"),
        (&format!("{SCRIPT}n1 0 0\nn2 99 1\n"), 4, 1, "host n2 has no processing element 99"),
        (&format!("{SCRIPT}n1 0 0\n"), 4, 1, "places for 1 of 2 ranks"),
        ("0\n-1\n1\n", 2, 1, "`-1` is not a PE"),
        ("0,2\n1,3\n", 1, 1, "with separators (CSV)"),
        ("0\n5\n9\n", 3, 1, "goes on after 2 processes"),
        ("source,target\n1,2\n", 1, 1, "an edge list with separators (CSV)"),
        ("PROCESS 1\n", 1, 1, "this looks like a workload"),
    ];
    for (text, line, column, message) in cases {
        let found = fault(text, 2, machine.as_ref());
        assert_eq!((found.0, found.1), (line, column), "{text}: {}", found.2);
        assert!(found.2.contains(message), "{text}: {}", found.2);
    }
    let short = read_as("0\n-1\n1\n", 2, machine.as_ref(), Some("inverse")).unwrap_err().to_string();
    assert!(short.contains("line 4, column 1: the file has 3 lines, but the machine has 16"), "{short}");
    let nameless = viem_cluster::build("4:2", "1:10").unwrap();
    assert!(fault("n1\nn2\n", 2, nameless.as_ref()).2.contains("the machine has none"));
    let nine = machine_of_one();
    assert!(fault("n1:9\n", 9, nine.as_ref()).2.contains("are taken"));
}

fn machine_of_one() -> Box<dyn Machine> {
    machine("n1\n", "4:2")
}

proptest! {
    #[test]
    fn any_text_is_read_or_rejected(
        text in "[a-z0-9=,:;*+#. \n-]{0,80}",
        start in "(|rank 0=n1 slot=|0,1,|n1:2 binding=user:|-1\n|# rank map: |n[1-2])",
        ranks in 0..5usize,
    ) {
        let machine = machine_of_one();
        let text = start + &text;
        for kind in placement::KINDS.iter().map(|kind| Some(kind.name)).chain([None]) {
            match read_as(&text, ranks, machine.as_ref(), kind) {
                Ok(placement) => {
                    prop_assert_eq!(placement.pes.len(), ranks);
                    prop_assert!(Mapping::on(&machine, placement.pes).is_ok());
                }
                Err(ReadError::Invalid { line, column, kind, .. }) => {
                    prop_assert!(line > 0 && column > 0 && !kind.to_string().is_empty());
                }
                Err(other) => prop_assert!(false, "{}", other),
            }
        }
    }
}
