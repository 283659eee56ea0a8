//! Launch files: they describe the mapping, as checked by independent readers, and by real launches where
//! launchers are installed.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::kind::BindsTo;
use crate::{KINDS, Launch, LaunchError, LauncherKind};
use viem::Mapping;
use viem::base::rng::Rng;
use viem::base::types::PeId;
use viem::machine::{CoreRange, Distances, Located, Location, Machine, MachineError, Nodes, SlurmJob};

#[path = "../../../../tests/common/files.rs"]
#[allow(dead_code)] // each test program uses a part of it
mod files;
#[path = "../../../../tests/common/mpi.rs"]
#[allow(dead_code)] // each test program uses a part of it
mod mpi;

use files::root;
use mpi::{Mpi, is_required, skipped, without_job};

/// A machine that is given by where its PEs are.
pub(crate) struct Cluster {
    pub(crate) hosts: Vec<String>,
    pub(crate) pes: Vec<Location>,
    slurm: Option<SlurmJob>,
}

impl Machine for Cluster {
    fn num_pes(&self) -> usize {
        self.pes.len()
    }
    fn distances(&self) -> Result<Distances, MachineError> {
        viem::DistanceMatrix::from_fn(self.num_pes(), |_, _| 1)?.distances()
    }
    fn located(&self) -> Option<&dyn Located> {
        Some(self)
    }
}

impl Located for Cluster {
    fn location(&self, pe: PeId) -> Location {
        self.pes[pe as usize].clone()
    }
    fn host(&self, node: u32) -> Option<&str> {
        self.hosts.get(node as usize).map(String::as_str)
    }
    fn slurm_job(&self) -> Option<&SlurmJob> {
        self.slurm.as_ref()
    }
}

impl Cluster {
    /// Nodes of this number of packages, cores per package and threads per core; CPUs are numbered threads
    /// last.
    fn regular(nodes: u32, packages: u32, cores: u32, threads: u32) -> Self {
        let mut pes = Vec::new();
        for node in 0..nodes {
            for number in 0..packages * cores {
                let cpus = (0..threads).map(|thread| number + thread * packages * cores).collect();
                pes.push(Location::new(node, cpus).with_core(number / cores, number % cores));
            }
        }
        Self { hosts: (0..nodes).map(|node| format!("n{}", node + 1)).collect(), pes, slurm: None }
    }

    /// The same with other names of hosts.
    fn named<const N: usize>(self, hosts: [&str; N]) -> Self {
        Self { hosts: hosts.map(str::to_owned).to_vec(), ..self }
    }

    /// The same with other PEs.
    fn with(&self, pes: Vec<Location>) -> Self {
        Self { hosts: self.hosts.clone(), pes, slurm: None }
    }

    /// Nodes with any number of cores, and CPUs in any order.
    fn random(rng: &mut Rng) -> Self {
        let (nodes, mut pes) = (1 + rng.below(4), Vec::new());
        for node in 0..nodes {
            let (packages, cores, threads) = (1 + rng.below(2), 1 + rng.below(4), 1 + rng.below(2));
            let mut cpus: Vec<u32> = (0..packages * cores * threads).collect();
            rng.shuffle(&mut cpus);
            for (number, cpus) in cpus.chunks_mut(threads as usize).enumerate() {
                cpus.sort_unstable();
                let number = number as u32;
                pes.push(Location::new(node, cpus.to_vec()).with_core(number / cores, number % cores));
            }
        }
        Self { hosts: (0..nodes).map(|node| format!("host-{node}")).collect(), pes, slurm: None }
    }

    /// The same with two adjacent cores of a package for each PE; a single last core stays single.
    fn in_pairs(&self) -> Self {
        let mut pes = Vec::new();
        let package = |pe: &Location| (pe.node, pe.cores[0].package);
        for package in self.pes.chunk_by(|a, b| package(a) == package(b)) {
            for pair in package.chunks(2) {
                let mut cpus: Vec<u32> = pair.iter().flat_map(|pe| pe.cpus.clone()).collect();
                cpus.sort_unstable();
                let CoreRange { package, first, .. } = pair[0].cores[0];
                let cores = CoreRange::new(package, first, pair.len() as u32);
                pes.push(Location::new(pair[0].node, cpus).with_cores(vec![cores]));
            }
        }
        self.with(pes)
    }

    /// Two PEs for each node, of every other of its cores each: cores of several packages, with gaps between them.
    fn in_combs(&self) -> Self {
        let mut pes = Vec::new();
        for node in self.pes.chunk_by(|a, b| a.node == b.node) {
            for comb in [0, 1].map(|start| node.iter().skip(start).step_by(2)) {
                let mut cpus: Vec<u32> = comb.clone().flat_map(|pe| pe.cpus.clone()).collect();
                cpus.sort_unstable();
                let cores: Vec<CoreRange> = comb.flat_map(|pe| pe.cores.clone()).collect();
                if !cores.is_empty() {
                    pes.push(Location::new(node[0].node, cpus).with_cores(cores));
                }
            }
        }
        self.with(pes)
    }

    /// A PE for each node, of all its cores, each of which is a range of its own.
    fn in_nodes(&self) -> Self {
        let whole = |node: &[Location]| {
            let mut cpus: Vec<u32> = node.iter().flat_map(|pe| pe.cpus.clone()).collect();
            cpus.sort_unstable();
            let cores = node.iter().flat_map(|pe| pe.cores.clone()).collect();
            Location::new(node[0].node, cpus).with_cores(cores)
        };
        self.with(self.pes.chunk_by(|a, b| a.node == b.node).map(whole).collect())
    }

    /// The same with a GPU beside each PE, in any order, whose near cores are those of the PE.
    fn with_gpus(&self, rng: &mut Rng) -> Self {
        let mut pes = Vec::new();
        for node in self.pes.chunk_by(|a, b| a.node == b.node) {
            let mut numbers: Vec<u32> = (0..node.len() as u32).collect();
            rng.shuffle(&mut numbers);
            let of_gpu = |(pe, number): (&Location, u32)| {
                Location::of_gpus(pe.node, vec![number]).with_near(pe.cores.clone(), pe.cpus.clone())
            };
            pes.extend(node.iter().zip(numbers).map(of_gpu));
        }
        self.with(pes)
    }

    /// The same with long names of hosts, which differ behind the first dot only.
    fn with_long_names(&self) -> Self {
        let hosts = (1..=self.hosts.len()).map(|host| format!("worker.{host}.lab.example")).collect();
        Self { hosts, pes: self.pes.clone(), slurm: None }
    }

    fn random_mapping(&self, num_ranks: usize, rng: &mut Rng) -> Mapping {
        let mut pes: Vec<PeId> = (0..self.num_pes() as PeId).collect();
        rng.shuffle(&mut pes);
        pes.truncate(num_ranks);
        Mapping::on(self, pes).unwrap()
    }
}

/// Returns the output or the message of a script that ends with this code, or with success.
fn ended(command: &mut Command) -> (Option<i32>, String) {
    let output = command.output().unwrap();
    let text = if output.status.success() { &output.stdout } else { &output.stderr };
    (output.status.code(), String::from_utf8_lossy(text).trim().to_owned())
}

/// Asserts that a text holds this.
#[track_caller]
fn says(text: impl std::fmt::Display, expected: &str) {
    let text = text.to_string();
    assert!(text.contains(expected), "`{expected}` is not in: {text}");
}

/// The launch of a kind with its default file names.
fn launch(kind: &str, machine: &dyn Machine, mapping: &Mapping) -> Result<Launch, LaunchError> {
    let kind = crate::kind(kind).unwrap();
    let files: Vec<String> = kind.files.iter().map(|&name| name.to_owned()).collect();
    kind.launch(machine, mapping, &files)
}

/// The host and the CPUs of each rank.
pub(crate) type Seats = Vec<(String, Vec<u32>)>;

pub(crate) fn seats(machine: &Cluster, mapping: &Mapping) -> Seats {
    let of = |&pe: &PeId| {
        let Location { node, cpus, .. } = machine.location(pe);
        (machine.hosts[node as usize].clone(), cpus)
    };
    mapping.pes().iter().map(of).collect()
}

pub(crate) fn numbers(text: &str, separator: char) -> Vec<u32> {
    text.split(separator).map(|number| number.parse().unwrap()).collect()
}

/// The value of an option in a command line.
pub(crate) fn option<'a>(line: &'a str, name: &str) -> &'a str {
    let mut words = line.split(' ').skip_while(|&word| word != name);
    words.nth(1).unwrap_or_else(|| panic!("no {name} in {line}"))
}

/// Reads a launch by the rules of its launcher.
fn read(kind: &LauncherKind, launch: &Launch, machine: &Cluster) -> Seats {
    let lines = launch.files[0].content.lines();
    let lines: Vec<&str> = lines.filter(|line| !line.starts_with('#')).collect();
    (kind.read)(&lines, launch, machine)
}

/// The CPUs of ranks as MPICH has them: `user:0+4,1+5`.
pub(crate) fn bindings(text: &str) -> Vec<Vec<u32>> {
    text.strip_prefix("user:").unwrap().split(',').map(|cpus| numbers(cpus, '+')).collect()
}

/// The seats of ranks from the host and the number of its PE there, by GPUs or else by CPUs.
pub(crate) fn by_rank(ranks: impl Iterator<Item = (u32, String, u32)>, machine: &Cluster) -> Seats {
    let mut ranks: Vec<_> = ranks.collect();
    ranks.sort();
    assert!(ranks.iter().map(|rank| rank.0).eq(0..ranks.len() as u32), "{ranks:?}");
    let seat = |(_, host, number): (u32, String, u32)| {
        let is_here = |pe: &&Location| machine.hosts[pe.node as usize] == host;
        let mut pes: Vec<(&[u32], &[u32])> =
            machine.pes.iter().filter(is_here).map(|pe| (pe.gpus.as_slice(), pe.cpus.as_slice())).collect();
        pes.sort();
        (host, pes[number as usize].1.to_vec())
    };
    ranks.into_iter().map(seat).collect()
}

#[test]
fn every_kind_describes_the_mapping() {
    let mut rng = Rng::new(1);
    let mut refused = 0;
    for case in 0..200 {
        let machine = if case % 2 == 0 { Cluster::random(&mut rng) } else { Cluster::regular(3, 2, 2, 2) };
        let machine = if case % 3 == 0 { machine.in_pairs() } else { machine };
        let machine = if case % 5 == 0 { machine.in_combs() } else { machine };
        let machine = if case % 7 < 3 { machine.with_gpus(&mut rng) } else { machine };
        let spare = if case % 4 < 2 { 0 } else { rng.below(machine.num_pes() as u32) as usize };
        let mapping = machine.random_mapping(machine.num_pes() - spare, &mut rng);
        for kind in &KINDS {
            let launch = launch(kind.name, &machine, &mapping);
            if matches!(launch, Err(LaunchError::Uneven { .. } | LaunchError::OtherCpus { .. })) {
                assert_eq!(kind.name, "cray");
                refused += 1;
                continue;
            }
            let launch = launch.unwrap();
            assert_eq!(launch.files.len(), kind.files.len());
            assert!(
                launch.files.iter().all(|file| file.content.ends_with('\n') && !file.content.contains('\r'))
            );
            assert_eq!(read(kind, &launch, &machine), seats(&machine, &mapping), "{}", kind.name);
        }
    }
    assert!((20..150).contains(&refused), "{refused}");
}

/// The exact text of formats that are not launched here.
#[test]
fn formats_are_those_of_the_launchers() {
    let machine = Cluster::regular(2, 2, 2, 1);
    let mapping = Mapping::on(&machine, vec![5, 0, 7, 2, 1, 4, 3, 6]).unwrap();
    let of = |kind| launch(kind, &machine, &mapping).unwrap();
    let openmpi5 = of("openmpi5");
    let ranks = "rank 0=n2 slot=0:1\nrank 1=n1 slot=0:0\nrank 2=n2 slot=1:1\n";
    assert!(openmpi5.files[0].content.starts_with(ranks));
    let line = "mpirun -n 8 -H n1:4,n2:4 --map-by rankfile:file=rankfile --report-bindings ./app";
    assert_eq!(openmpi5.line.unwrap(), line);
    let mpich = of("mpich");
    let hosts = "n1:4 binding=user:0,2,1,3\nn2:4 binding=user:1,3,0,2\n# rank map: 1,0,1,0,0,1,0,1\n";
    assert_eq!(mpich.files[0].content, hosts);
    assert_eq!(mpich.line.unwrap(), "mpiexec -f hosts -rankmap 1,0,1,0,0,1,0,1 -n 8 ./app");
    let in_order = launch("mpich", &machine, &Mapping::identity(8)).unwrap();
    assert_eq!(in_order.files[0].content, "n1:4\nn2:4\n");
    let line = "mpiexec -f hosts -rankmap 0,0,0,0,1,1,1,1 -bind-to user:0,1,2,3 -n 8 ./app";
    assert_eq!(in_order.line.unwrap(), line);
    let cray = of("cray");
    assert_eq!(cray.files[0].content, "1,4,3,6,5,0,7,2\n");
    let line = "MPICH_RANK_REORDER_METHOD=3 MPICH_RANK_REORDER_FILE=MPICH_RANK_ORDER srun -N 2 -w n1,n2 -n 8 \
                -m plane=4 --cpu-bind=mask_cpu:0x1,0x2,0x4,0x8 ./app";
    assert_eq!(cray.line.unwrap(), line);
    let flux = of("flux").line.unwrap();
    let line = "flux run -N 2 -n 8 --exclusive --requires=host:n1,n2 --taskmap=hostfile:hosts -o cpu-affinity=off \
                ./bind.sh ./app";
    assert_eq!(flux, line);
    assert_eq!(of("intel").line.unwrap(), "mpirun -machinefile hosts -n 8 -genv I_MPI_PIN=0 ./bind.sh ./app");
    let slurm = of("slurm");
    assert_eq!(slurm.files[0].content, "n2\nn1\nn2\nn1\nn1\nn2\nn1\nn2\n");
    let line = "SLURM_HOSTFILE=hosts srun -n 8 -m arbitrary --cpu-bind=none ./bind.sh ./app";
    assert_eq!(slurm.line.unwrap(), line);
    let torchrun = of("torchrun");
    let ranks = "each rank:\nn1 0 1\nn1 1 4\nn1 2 3\nn1 3 6\nn2 0 5\nn2 1 0\nn2 2 7\nn2 3 2\n";
    assert!(torchrun.files[0].content.ends_with(ranks));
    let line = "torchrun --nnodes=2 --nproc-per-node=4 --rdzv-backend=c10d --rdzv-endpoint=n2:29500 --no-python \
                ./rank.sh ./app";
    assert_eq!(torchrun.line.unwrap(), line);
    let uneven = launch("torchrun", &machine, &Mapping::identity(7)).unwrap().line.unwrap();
    assert!(uneven.contains(" --nproc-per-node=$(./rank.sh --count) "), "{uneven}");
    let mpijob = of("mpijob");
    assert_eq!(mpijob.files[0].content, slurm.files[0].content);
    let gpus = "\n1,3,0,2\n0,2,1,3\n1,3,0,2\n0,2,1,3\n0,2,1,3\n1,3,0,2\n0,2,1,3\n1,3,0,2\n";
    assert!(mpijob.files[1].content.ends_with(gpus));
    let line = "mpirun -n 8 --hostfile hostfile --map-by seq --bind-to none ./gpus.sh ./app";
    assert_eq!(mpijob.line.unwrap(), line);
    let pods = "{\n  \"ranks\": 8,\n  \"pods\": [\n    \
                {\"index\": 0, \"host\": \"n2\", \"gpus\": [0, 1, 2, 3], \"ranks\": [5, 0, 7, 2]},\n    \
                {\"index\": 1, \"host\": \"n1\", \"gpus\": [0, 1, 2, 3], \"ranks\": [1, 4, 3, 6]}\n  ]\n}\n";
    assert_eq!(of("pods").files[0].content, pods);
}

#[test]
fn rankfiles_have_cores_of_several_packages() {
    let machine = Cluster::regular(1, 2, 3, 1).in_combs();
    for kind in ["openmpi", "openmpi5"] {
        let rankfile = &launch(kind, &machine, &Mapping::identity(2)).unwrap().files[0].content;
        assert_eq!(rankfile, "rank 0=n1 slot=0:0;0:2;1:1\nrank 1=n1 slot=0:1;1:0;1:2\n");
    }
}

/// Open MPI cuts names at the first dot.
#[test]
fn names_are_kept_where_hosts_could_be_mistaken() {
    let keeps = |kind, hosts: [&str; 3], ranks: usize| {
        let machine = Cluster::regular(3, 1, 1, 1).named(hosts);
        let line = launch(kind, &machine, &Mapping::identity(ranks)).unwrap().line.unwrap();
        line.contains("keep_fqdn_hostnames 1")
    };
    for kind in ["openmpi", "openmpi5"] {
        assert!(keeps(kind, ["a.x", "a.y", "b.x"], 3) && keeps(kind, ["a", "b", "a.y"], 3));
        assert!(keeps(kind, ["a.x", "b.x", "a.y"], 2), "the launcher may run on the last");
        assert!(!keeps(kind, ["n1.x", "n2.x", "n3.x"], 3) && !keeps(kind, ["a", "b", "c"], 3));
        assert!(!keeps(kind, ["10.0.0.1", "10.0.0.2", "10.0.0.3"], 3));
    }
}

#[test]
fn unsupported_launches_are_rejected_with_a_reason() {
    let error = |kind, machine: &dyn Machine, pes: Vec<PeId>| {
        let mapping = Mapping::on(machine, pes).unwrap();
        launch(kind, machine, &mapping).unwrap_err().to_string()
    };
    // Hosts without names: but a single one is that where one is.
    let unnamed = Cluster { hosts: Vec::new(), ..Cluster::regular(2, 1, 2, 1) };
    for kind in &KINDS {
        let launch = launch(kind.name, &unnamed, &Mapping::identity(4));
        let has_none = matches!(launch, Err(LaunchError::NoHosts { nodes: 2, .. }));
        assert_eq!(has_none, kind.needs_hosts, "{}", kind.name);
    }
    let single = Cluster { hosts: Vec::new(), ..Cluster::regular(1, 1, 2, 1) };
    let rankfile = &launch("openmpi", &single, &Mapping::identity(2)).unwrap().files[0];
    assert_eq!(rankfile.content, "rank 0=localhost slot=0:0\nrank 1=localhost slot=0:1\n");
    // Two hardware threads of a core.
    let mut threads = Cluster::regular(1, 1, 2, 1);
    threads.pes[1].cores[0].first = 0;
    says(error("openmpi", &threads, vec![0, 1]), "ranks 0 and 1 are both on core 0 of n1");
    says(error("openmpi5", &threads, vec![1, 0]), "use slurm");
    launch("slurm", &threads, &Mapping::identity(2)).unwrap();
    // Nodes that are filled unevenly.
    let machine = Cluster::regular(3, 1, 2, 1);
    says(error("cray", &machine, vec![0, 2, 3, 4, 5]), "n1 has 1 and n2 has 2");
    says(error("cray", &machine, vec![0, 3, 4]), "but those of n2 and n1 differ");
    launch("cray", &machine, &Mapping::identity(5)).unwrap();
    // Nodes without names are called something, each its own.
    let nameless = Cluster { hosts: Vec::new(), ..Cluster::regular(3, 1, 2, 1) };
    says(error("cray", &nameless, vec![0, 2, 3, 4, 5]), "node0 has 1 and node1 has 2");
    // Hosts in another order than that of Slurm.
    let turned = Cluster::regular(3, 1, 2, 1).named(["n2", "n10", "n9"]);
    says(error("cray", &turned, (0..6).collect()), "n10 comes before n9");
    launch("cray", &turned, &Mapping::identity(4)).unwrap();
    // Several ranks on a PE.
    let shared = viem::Capacities::new(Cluster::regular(2, 1, 1, 1), vec![2, 1]).unwrap();
    says(error("inverse", &shared, vec![0, 1, 0]), "ranks 0 and 2 are both on 0");
    for kind in ["torchrun", "mpijob", "pods"] {
        let message =
            format!("{kind} allows one rank per processing element, but ranks 0 and 2 are both on 0");
        assert_eq!(error(kind, &shared, vec![0, 1, 0]), message);
    }
    says(error("openmpi", &shared, vec![0, 1, 0]), "ranks 0 and 2 are both on core 0 of n1");
    let mapping = Mapping::on(&shared, vec![0, 1, 0]).unwrap();
    let script = &launch("slurm", &shared, &mapping).unwrap().files[1].content;
    assert!(script.ends_with("\n0\n0\n0\n"));
    let mut pairs = Cluster::regular(1, 1, 4, 1).in_pairs();
    pairs.pes[1].cores[0].first = 1;
    says(error("openmpi", &pairs, vec![1, 0]), "ranks 0 and 1 are both on core 1 of n1");
    for kind in &KINDS {
        assert_eq!(launch(kind.name, &machine, &Mapping::identity(0)), Err(LaunchError::NoRanks));
    }
}

/// Kinds that bind ranks to cores are refused if the cores near GPUs are not known; the other kinds need only the numbers of GPUs.
#[test]
fn ranks_on_gpus_are_bound_to_near_cores_or_not_at_all() {
    let with = |near: fn(Location) -> Location| {
        let pes = [2, 0, 1, 3].map(|gpu| near(Location::of_gpus(gpu / 2, vec![gpu % 2]))).to_vec();
        Cluster { hosts: vec!["n1".to_owned(), "n2".to_owned()], pes, slurm: None }
    };
    let unknown = with(|gpu| gpu);
    let cpus_only = with(|gpu| {
        let first = 8 * gpu.gpus[0];
        gpu.with_near(Vec::new(), vec![first, first + 1])
    });
    let mapping = Mapping::identity(4);
    for kind in &KINDS {
        let name = kind.name;
        let binds = kind.binds_to > BindsTo::Nothing;
        let needs_cores = kind.binds_to == BindsTo::Cores;
        let of_unknown = launch(name, &unknown, &mapping);
        assert_eq!(of_unknown.is_err(), binds, "{name}");
        if let Err(error) = of_unknown {
            let message = error.to_string();
            assert!(matches!(error, LaunchError::NoCoresOfGpus { kind, .. } if kind == name), "{error}");
            assert!(message.contains("GPUs of n1") || message.contains("GPUs of n2"), "{message}");
            assert!(message.contains("use torchrun, mpijob, pods,"), "{message}");
            assert!(!error.depends_on_mapping());
        }
        let of_cpus = launch(name, &cpus_only, &mapping);
        assert_eq!(of_cpus.is_err(), needs_cores, "{name}");
        if let Err(error) = of_cpus {
            assert!(matches!(error, LaunchError::OnlyCpusOfGpus { kind, .. } if kind == name), "{error}");
            assert!(error.to_string().contains("use mpich, mpich40, intel, slurm,"), "{error}");
        }
    }
    // PE 0 is GPU 0 of n2, PE 1 GPU 0 of n1, PE 2 GPU 1 of n1.
    let slurm = launch("slurm", &cpus_only, &mapping).unwrap();
    assert_eq!(slurm.files[0].content, "n2\nn1\nn1\nn2\n");
    assert!(slurm.files[1].content.ends_with("each rank:\n0,1\n0,1\n8,9\n8,9\n"));
    let rails = viem_cluster::build("rails:4:2:2", "1:5:6:10").unwrap();
    assert!(matches!(
        launch("cray", &rails, &Mapping::identity(16)),
        Err(LaunchError::NoCoresOfGpus { kind: "cray", .. })
    ));
}

/// A host such as `-n1` would be taken for an option, in files and on command lines alike.
#[test]
fn hosts_that_look_like_options_are_refused() {
    for names in [["-n1", "n2"], ["n1", "-"], ["a", "--hostfile=x"]] {
        let machine = Cluster::regular(2, 1, 2, 1).named(names);
        let odd = names.iter().find(|name| name.starts_with('-')).unwrap();
        for kind in &KINDS {
            let error = launch(kind.name, &machine, &Mapping::identity(4)).unwrap_err();
            assert_eq!(error, LaunchError::HostLikeOption { host: odd.to_string() }, "{}", kind.name);
            says(error, &format!("`{odd}` begins with a dash"));
        }
    }
    let machine = Cluster::regular(2, 1, 2, 1).named(["n1-", "n2-3"]);
    for kind in &KINDS {
        launch(kind.name, &machine, &Mapping::identity(4)).unwrap();
    }
}

/// Cores of this machine that the test may use, each with its CPUs, by first CPU; only those of the first
/// package.
fn cores() -> Vec<Vec<u32>> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let allowed = cpu_list(allowed.unwrap_or_default().trim());
    let about = |cpu: u32, what: &str| {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/{what}");
        fs::read_to_string(path).unwrap_or_default().trim().to_owned()
    };
    let package = allowed.first().map(|&cpu| about(cpu, "physical_package_id"));
    let here = allowed.iter().filter(|&&cpu| Some(about(cpu, "physical_package_id")) == package);
    let mut cores: Vec<Vec<u32>> = here.map(|&cpu| cpu_list(&about(cpu, "thread_siblings_list"))).collect();
    cores.retain(|cpus| !cpus.is_empty() && cpus.iter().all(|cpu| allowed.contains(cpu)));
    cores.dedup();
    cores.sort_unstable();
    cores.dedup();
    cores
}

/// `0-2,5` as numbers.
fn cpu_list(text: &str) -> Vec<u32> {
    let ranges = text.split(',').filter(|range| !range.is_empty()).map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        first.parse().unwrap_or(0)..=last.parse().unwrap_or(0)
    });
    ranges.flatten().collect()
}

/// Several hosts on this machine, with its cores.
fn hosts_here(hosts: u32) -> Option<Cluster> {
    let cores = cores();
    if cores.is_empty() || Command::new("taskset").arg("-V").output().is_err() {
        skipped("the cores of this machine are not known, or there is no taskset; nothing was launched");
        assert!(!is_required());
        return None;
    }
    let mut pes = Vec::new();
    for node in 0..hosts {
        for (core, cpus) in cores.iter().take(2).enumerate() {
            pes.push(Location::new(node, cpus.clone()).with_core(0, core as u32));
        }
    }
    Some(Cluster { hosts: (0..hosts).map(|node| format!("n{}", node + 1)).collect(), pes, slurm: None })
}

fn write_program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Prints the rank, the host name seen by the launcher, and the CPUs.
const SHOW: &str = r#"#!/bin/sh
cpus=$(taskset -pc $$)
echo "rank ${PMI_RANK:-$OMPI_COMM_WORLD_RANK} host $SHOWN_HOST cpus ${cpus##*: }"
"#;

/// Replaces ssh: every host name stands for this machine. Daemons of Open MPI on one machine conflict when
/// they create the same folder at the same time, so each has its own.
const AGENT: &str = r#"#!/bin/sh
while case $1 in -*) true ;; *) false ;; esac; do shift; done
export SHOWN_HOST=$1 TMPDIR=$TMPDIR/$1
mkdir -p "$TMPDIR"
shift
exec sh -c "$*"
"#;

/// The output of ranks, by rank.
fn shown(output: &str) -> Seats {
    let ranks = output.lines().filter_map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let ["rank", rank, "host", host, "cpus", cpus] = words[..] else { return None };
        Some((rank.parse::<u32>().unwrap(), (host.to_owned(), cpu_list(cpus))))
    });
    let ranks: BTreeMap<_, _> = ranks.collect();
    assert!(ranks.keys().copied().eq(0..ranks.len() as u32), "{output}");
    ranks.into_values().collect()
}

/// The launcher with the settings that make it take this machine for all hosts.
fn launcher_here(mpi: &Mpi, folder: &Path) -> Command {
    // It takes a second at most, unless daemons do not start.
    let (agent, mut launcher) = (folder.join("agent"), mpi.launcher(20));
    launcher.current_dir(folder);
    let options: &[&str] = match mpi.kind {
        "openmpi" => &["--mca", "plm_rsh_agent"],
        "openmpi5" => &["--prtemca", "plm_ssh_agent"],
        "intel" => &["-bootstrap", "ssh", "-bootstrap-exec"],
        _ => &["-launcher", "ssh", "-launcher-exec"],
    };
    launcher.args(options).arg(agent);
    launcher
}

/// Returns whether the launcher works here at all, on two hosts.
fn works(mpi: &Mpi, folder: &Path) -> bool {
    let hosts: &[&str] = match mpi.kind {
        "openmpi" | "openmpi5" => &["-H", "n1:1,n2:1"],
        "intel" => &["-hosts", "n1,n2", "-ppn", "1"],
        _ => &["-hosts", "n1:1,n2:1"],
    };
    let probe = || {
        let output = launcher_here(mpi, folder).args(hosts).args(["-n", "2", "./show"]).output().unwrap();
        let works = output.status.success() && String::from_utf8_lossy(&output.stdout).contains("host n2");
        (works, output)
    };
    let (works, output) = (0..2).map(|_| probe()).find(|(works, _)| *works).unwrap_or_else(probe);
    if !works {
        let why = String::from_utf8_lossy(&output.stderr);
        skipped(&format!("mpirun of {} does not work here: {why}", mpi.kind));
        assert!(!is_required());
    }
    works
}

/// Returns the output of the ranks of a launch, as started by the launcher of its line in the folder of an MPI, with `./show` as the program.
fn launched(mpi: &Mpi, kind: &str, launch: &Launch) -> String {
    let folder = mpi.folder.path();
    for (name, file) in crate::kind(kind).unwrap().files.iter().zip(&launch.files) {
        let path = folder.join(name);
        if file.is_program {
            write_program(&path, &file.content);
        } else {
            fs::write(path, &file.content).unwrap();
        }
    }
    let line = launch.line.as_deref().unwrap();
    let mut words = line.split(' ').skip(1).collect::<Vec<_>>();
    assert_eq!(words.pop(), Some("./app"));
    // On a machine under load, daemons sometimes do not start in time. That is not the fault of the
    // files.
    let run = || launcher_here(mpi, folder).args(&words).arg("./show").output().unwrap();
    let output = (0..3).map(|_| run()).find(|output| output.status.success()).unwrap_or_else(run);
    assert!(output.status.success(), "{line}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Each rank reports its position, which must be that of the mapping, on several hosts that are all this
/// machine.
#[test]
fn launched_ranks_are_where_the_mapping_has_them() {
    let Some(machine) = hosts_here(3) else { return };
    let mut rng = Rng::new(4);
    for mpi in &Mpi::all() {
        let folder = mpi.folder.path();
        write_program(&folder.join("agent"), AGENT);
        write_program(&folder.join("show"), SHOW);
        if !works(mpi, folder) {
            continue;
        }
        let (pairs, long) = (machine.in_pairs(), machine.with_long_names());
        let whole = machine.in_nodes();
        for (machine, spare) in
            [(&machine, 0), (&machine, 0), (&machine, 1), (&pairs, 0), (&whole, 0), (&long, 0)]
        {
            let mapping = machine.random_mapping(machine.num_pes() - spare, &mut rng);
            let launch = launch(mpi.kind, &machine, &mapping).unwrap();
            let stdout = launched(mpi, mpi.kind, &launch);
            assert_eq!(
                shown(&stdout),
                seats(machine, &mapping),
                "{:?}\n{}\n{stdout}",
                launch.line,
                launch.files[0].content
            );
        }
    }
}

/// Under Open MPI, the GPU of each rank is that of its local rank in the list that the script makes.
#[test]
fn ranks_of_mpi_jobs_see_their_gpus_first() {
    let machine = Cluster::regular(3, 1, 4, 1);
    let mapping = Mapping::on(&machine, vec![8, 7, 0, 9, 4, 3, 11, 5, 10, 1]).unwrap();
    let show = "#!/bin/sh\necho \"$OMPI_COMM_WORLD_RANK $SHOWN_HOST $OMPI_COMM_WORLD_LOCAL_RANK $CUDA_VISIBLE_DEVICES\"\n";
    for mpi in Mpi::all().iter().filter(|mpi| mpi.is_open_mpi()) {
        let folder = mpi.folder.path();
        write_program(&folder.join("agent"), AGENT);
        write_program(&folder.join("show"), SHOW);
        if !works(mpi, folder) {
            continue;
        }
        write_program(&folder.join("show"), show);
        let stdout = launched(mpi, "mpijob", &launch("mpijob", &machine, &mapping).unwrap());
        let rank = |line: &str| {
            let words: Vec<&str> = line.split(' ').collect();
            let gpus = numbers(words[3], ',');
            (words[0].parse().unwrap(), words[1].to_owned(), gpus[words[2].parse::<usize>().unwrap()])
        };
        assert_eq!(by_rank(stdout.lines().map(rank), &machine), seats(&machine, &mapping), "{stdout}");
    }
}

/// The variables of what `srun` has started: the process itself, or a daemon whose children inherit them.
fn of_step<'a>(variables: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    [&[("SLURM_JOB_ID", "7"), ("SLURM_STEP_ID", "0")], variables].concat()
}

/// Runs a command as `srun` does: the variable `SLURM_TASK_PID` has the number of the process.
const AS_TASK: [&str; 3] = ["sh", "-c", "SLURM_TASK_PID=$$ exec \"$0\" \"$@\""];

/// A command in a folder with these variables and none of other jobs; started as a task of `srun` or not.
fn run_in(
    folder: &Path,
    program: &str,
    arguments: &[&str],
    variables: &[(&str, &str)],
    is_task: bool,
) -> Output {
    let words: Vec<&str> =
        AS_TASK.into_iter().filter(|_| is_task).chain([program]).chain(arguments.iter().copied()).collect();
    let mut command = Command::new(words[0]);
    without_job(&mut command);
    command.args(&words[1..]).current_dir(folder).envs(variables.iter().copied()).output().unwrap()
}

/// The binding script, run as each launcher runs it: by its variable, inside another launcher or not.
#[test]
fn the_binding_script_binds_by_the_rank_of_the_launcher() {
    let Some(machine) = hosts_here(2) else { return };
    let mapping = machine.random_mapping(machine.num_pes(), &mut Rng::new(2));
    let folder = tempfile::tempdir().unwrap();
    let show = ["sh", "-c", "echo \"$1\"; taskset -pc $$", "sh", "two words"];
    for kind in ["slurm", "intel", "flux"] {
        let launch = launch(kind, &machine, &mapping).unwrap();
        write_program(&folder.path().join("bind.sh"), &launch.files[1].content);
        let run = |variables: &[(&str, &str)], is_task| {
            run_in(folder.path(), "./bind.sh", &show, variables, is_task)
        };
        for (rank, (_, cpus)) in seats(&machine, &mapping).into_iter().enumerate() {
            for (variables, is_task) in ranks_of_launchers(&rank.to_string(), kind) {
                let output = run(&variables, is_task);
                let text = String::from_utf8(output.stdout).unwrap();
                let errors = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{kind} {variables:?}: {errors}");
                let (words, found) = text.trim().split_once('\n').unwrap();
                assert_eq!(words, "two words");
                assert_eq!(cpu_list(found.rsplit(' ').next().unwrap()), cpus, "{kind} {variables:?}");
            }
        }
        let refused = |variables: &[(&str, &str)], is_task, expected| {
            let output = run(variables, is_task);
            assert_eq!(output.status.code(), Some(64), "{variables:?}");
            says(String::from_utf8(output.stderr).unwrap(), expected);
        };
        // In a batch script and an interactive step, nothing has been launched, although both are tasks.
        let batch = [("SLURM_JOB_ID", "7"), ("SLURM_PROCID", "0")];
        for special in [None, Some("4294967291"), Some("4294967290"), Some("-5"), Some("-6")] {
            let step = special.map(|step| ("SLURM_STEP_ID", step));
            let variables: Vec<_> = batch.into_iter().chain(step).collect();
            for is_task in [false, true] {
                refused(&variables, is_task, "no launcher has set a rank");
            }
        }
        refused(&[], false, "no launcher has set a rank");
        let few = of_step(&[("SLURM_PROCID", "99")]);
        refused(&few, true, "this is rank 99, but the job was mapped for");
    }
}

/// The variables with which launchers start a rank, whatever they run in, and whether it is a task of `srun`. `kind` is that of the script.
fn ranks_of_launchers<'a>(rank: &'a str, kind: &str) -> Vec<(Vec<(&'a str, &'a str)>, bool)> {
    const OTHERS: [&str; 5] =
        ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "PALS_RANKID", "PMIX_RANK", "FLUX_TASK_RANK"];
    let daemon = of_step(&[("SLURM_PROCID", "99"), ("SLURM_TASK_PID", "1")]);
    let batch = vec![("SLURM_JOB_ID", "7"), ("SLURM_PROCID", "99"), ("SLURM_TASK_PID", "1")];
    let mut cases = Vec::new();
    for other in OTHERS {
        for outer in [&[][..], &daemon, &batch] {
            cases.push(([outer, &[(other, rank)]].concat(), false));
        }
    }
    // By srun itself, in a job of another launcher or not, and by a script that srun has started.
    let task = of_step(&[("SLURM_PROCID", rank)]);
    cases.extend(OTHERS.map(|other| ([&task[..], &[(other, "99")]].concat(), true)));
    cases.push((task.clone(), true));
    cases.push(([&task[..], &[("SLURM_TASK_PID", "1")]].concat(), false));
    // Daemons that resource managers have started, and the own launcher of the script in any other.
    cases.push((vec![("OMPI_COMM_WORLD_RANK", rank), ("PMIX_RANK", "99")], false));
    match kind {
        "intel" => cases.push((vec![("OMPI_COMM_WORLD_RANK", "99"), ("PMI_RANK", rank)], false)),
        "flux" => cases.push((vec![("OMPI_COMM_WORLD_RANK", "99"), ("FLUX_TASK_RANK", rank)], false)),
        _ => cases.push((vec![("OMPI_COMM_WORLD_RANK", rank), ("PMI_RANK", "99")], false)),
    }
    cases
}

/// The script of torchrun, run as its processes are, on hosts that are known by whatever name.
#[test]
fn the_script_of_torchrun_sets_the_rank_of_each_gpu() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("rank.sh");
    write_program(&folder.path().join("uname"), "#!/bin/sh\necho \"$THIS_HOST\"\n");
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let run = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = Command::new(&script);
        without_job(&mut command);
        for name in ["RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "NODE_NAME", "MASTER_ADDR", "MASTER_PORT"] {
            command.env_remove(name);
        }
        ended(command.args(arguments).env("PATH", &path).envs(variables.iter().copied()))
    };
    let refused = |arguments: &[&str], variables: &[(&str, &str)], expected: &str| {
        let (code, message) = run(arguments, variables);
        assert_eq!(code, Some(64), "{variables:?}");
        says(message, expected);
    };
    const SHOW: &str =
        "echo $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $MASTER_ADDR $MASTER_PORT \"$1\"";
    let show = ["sh", "-c", SHOW, "sh", "two  words"];
    let write = |hosts| {
        let machine = Cluster::regular(3, 1, 4, 1).named(hosts);
        let mapping = Mapping::on(&machine, vec![8, 7, 0, 9, 4, 3, 11, 5, 10, 1]).unwrap();
        write_program(&script, &launch("torchrun", &machine, &mapping).unwrap().files[0].content);
    };
    write(["a.site", "b.site", "c"]);
    for (host, names, ranks) in [
        ("a.site", ["a.site", "a"], vec![(2, 0), (9, 1), (5, 3)]),
        ("b.site", ["b.site", "b"], vec![(4, 0), (7, 1), (1, 3)]),
        ("c", ["c", "c.other"], vec![(0, 0), (3, 1), (8, 2), (6, 3)]),
    ] {
        let count = ranks.len().to_string();
        for name in names {
            assert_eq!(run(&["--count"], &[("THIS_HOST", name)]), (Some(0), count.clone()), "{host}");
            for (local, (rank, gpu)) in ranks.iter().enumerate() {
                let local = local.to_string();
                for (variable, value) in [("LOCAL_RANK", &local), ("SLURM_LOCALID", &local)] {
                    let found = run(&show, &[("THIS_HOST", name), (variable, value)]);
                    assert_eq!(found, (Some(0), format!("{rank} 10 {gpu} {count} c 29500 two  words")));
                }
                for variables in local_ranks_of_launchers(name, &local) {
                    let found = run(&show, &variables);
                    let expected = format!("{rank} 10 {gpu} {count} c 29500 two  words");
                    assert_eq!(found, (Some(0), expected), "{variables:?}");
                }
                let torchrun = [
                    ("NODE_NAME", name),
                    ("THIS_HOST", "pod-17"),
                    ("LOCAL_RANK", &local),
                    ("LOCAL_WORLD_SIZE", &count),
                    ("TORCHELASTIC_USE_AGENT_STORE", "True"),
                    ("MASTER_ADDR", "other"),
                    ("MASTER_PORT", "1234"),
                ];
                let found = run(&show, &torchrun);
                assert_eq!(found, (Some(0), format!("{rank} 10 {gpu} {count} other 1234 two  words")));
            }
            let here = ("THIS_HOST", name);
            refused(&show, &[here, ("LOCAL_RANK", &count)], &format!("this host has {count} ranks"));
            let sizes = [here, ("LOCAL_RANK", "0"), ("LOCAL_WORLD_SIZE", "8")];
            refused(&show, &sizes, &format!("has {count} ranks, but 8 processes"));
            refused(&show, &[here], "no launcher has set a local rank");
            let batch = [here, ("SLURM_JOB_ID", "7"), ("SLURM_LOCALID", "0")];
            refused(&show, &batch, "no launcher has set a local rank");
        }
    }
    for stranger in ["d", "a.elsewhere", "site", ""] {
        let variables = [("THIS_HOST", stranger), ("LOCAL_RANK", "0")];
        refused(&show, &variables, "mapped to other hosts than this one");
    }
    // A short name that two hosts have is none.
    write(["a.x", "a.y", "c"]);
    assert_eq!(run(&["--count"], &[("THIS_HOST", "a")]).0, Some(64));
    assert_eq!(run(&["--count"], &[("THIS_HOST", "a.y")]).1, "3");
    // The names of the variables that are filled in are names, too.
    write(["ADDRESS", "RANKS", "NUMBER7"]);
    let found = run(&show, &[("THIS_HOST", "RANKS"), ("LOCAL_RANK", "0")]);
    assert_eq!(found, (Some(0), "4 10 0 3 NUMBER7 29500 two  words".to_owned()));
}

/// The variables with which launchers start a rank on a host, in a job of Slurm whose nodes have other variables.
fn local_ranks_of_launchers<'a>(host: &'a str, local: &'a str) -> Vec<Vec<(&'a str, &'a str)>> {
    let here = ("THIS_HOST", host);
    let batch = [("SLURM_JOB_ID", "7"), ("SLURM_LOCALID", "0"), ("SLURMD_NODENAME", "a"), here];
    let daemon = of_step(&[("SLURM_LOCALID", "0"), ("SLURM_TASK_PID", "1"), ("SLURMD_NODENAME", host)]);
    let mut cases = Vec::new();
    for other in [
        "OMPI_COMM_WORLD_LOCAL_RANK",
        "MPI_LOCALRANKID",
        "PALS_LOCAL_RANKID",
        "FLUX_TASK_LOCAL_ID",
        "LOCAL_RANK",
    ] {
        cases.push([&batch[..], &[(other, local)]].concat());
        cases.push([&daemon[..], &[here, (other, local)]].concat());
    }
    // Hydra passes on what the first host has.
    let passed = of_step(&[("SLURM_LOCALID", "0"), ("SLURMD_NODENAME", "a.site")]);
    cases.push([&passed[..], &[here, ("MPI_LOCALRANKID", local)]].concat());
    // Slurm may have another name for a node than its system.
    cases.push(of_step(&[("SLURM_LOCALID", local), ("SLURMD_NODENAME", host), ("THIS_HOST", "vm")]));
    cases.push([&daemon[..], &[("THIS_HOST", "vm"), ("OMPI_COMM_WORLD_LOCAL_RANK", local)]].concat());
    cases
}

/// Hydra passes the name of the first host on to all, so that it says nothing of this one.
#[test]
fn the_script_of_torchrun_does_not_believe_what_hydra_passes_on() {
    let folder = tempfile::tempdir().unwrap();
    write_program(&folder.path().join("uname"), "#!/bin/sh\necho vm\n");
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let launch = launch("torchrun", &Cluster::regular(2, 1, 2, 1), &Mapping::identity(4)).unwrap();
    write_program(&folder.path().join("rank.sh"), &launch.files[0].content);
    let hydra = [("PATH", path.as_str()), ("SLURMD_NODENAME", "n1"), ("MPI_LOCALRANKID", "0")];
    let output = run_in(folder.path(), "./rank.sh", &["true"], &hydra, false);
    assert_eq!(output.status.code(), Some(64));
    assert!(String::from_utf8(output.stderr).unwrap().contains("mapped to other hosts than this one: vm"));
}

/// Lists of hosts in a job of Slurm are in its order, or are refused; elsewhere they are in that of the machine.
#[test]
fn hydra_and_cray_take_hosts_in_the_order_of_slurm() {
    let machine = Cluster::regular(3, 1, 2, 1).named(["n9", "n10", "n1"]);
    let mapping = Mapping::on(&machine, vec![0, 4, 3, 1, 2, 5]).unwrap();
    let in_order = |order: [&str; 3], pes: &[PeId], kind| {
        let slurm = SlurmJob { hosts: order.map(str::to_owned).to_vec(), ..SlurmJob::default() };
        let machine = Cluster { slurm: Some(slurm), hosts: machine.hosts.clone(), pes: machine.pes.clone() };
        let mapping = Mapping::on(&machine, pes.to_vec()).unwrap();
        let launch = launch(kind, &machine, &mapping);
        launch.inspect(|launch| {
            assert_eq!(read(crate::kind(kind).unwrap(), launch, &machine), seats(&machine, &mapping))
        })
    };
    let pes = mapping.pes();
    let mpich = in_order(["n1", "n9", "n10"], pes, "mpich").unwrap();
    let hosts = "n1:2 binding=user:0,1\nn9:2 binding=user:0,1\nn10:2 binding=user:1,0\n";
    assert_eq!(mpich.files[0].content, format!("{hosts}# rank map: 1,0,2,1,2,0\n"));
    assert_eq!(mpich.line.unwrap(), "mpiexec -f hosts -rankmap 1,0,2,1,2,0 -n 6 ./app");
    let elsewhere = launch("mpich", &machine, &mapping).unwrap();
    assert!(elsewhere.files[0].content.starts_with("n9:2 "));
    // The slots of n1 come first, whatever the names are.
    let cray = in_order(["n1", "n9", "n10"], pes, "cray").unwrap();
    assert_eq!(cray.files[0].content, "1,5,0,3,4,2\n");
    assert!(cray.line.unwrap().contains(" srun -N 3 -w n1,n9,n10 -n 6 -m plane=2 "));
    // Intel MPI takes the hosts as they first occur: n9, n1, n10.
    in_order(["n9", "n1", "n10"], pes, "intel").unwrap();
    for (order, rank, host) in [
        (["n9", "n10", "n1"], 2, "n10"),
        (["n1", "n9", "n10"], 1, "n1"),
        (["n1", "n10", "n9"], 1, "n1"),
        (["n10", "n9", "n1"], 2, "n10"),
    ] {
        let error = in_order(order, pes, "intel").unwrap_err();
        let text = error.to_string();
        let order = "intel starts its ranks by srun, which takes each host once and in an order of its own";
        says(&text, &format!("{order}: rank {rank} would not be on {host}"));
        assert!(text.contains("use slurm") && error.depends_on_mapping(), "{text}");
    }
    // MPICH 4.0 takes each host once.
    assert!(in_order(["n9", "n1", "n10"], pes, "mpich40").is_err());
    assert!(in_order(["n1", "n9", "n10"], &[5, 4, 0, 1, 3, 2], "mpich40").is_ok());
    assert!(in_order(["n9", "n1", "n10"], &[5, 4, 0, 1, 3, 2], "mpich40").is_err());
    launch("mpich40", &machine, &mapping).unwrap();
}

/// Options of the job of Slurm do not change the step, and each part of the line is in its place.
#[test]
fn lines_of_srun_fit_the_job() {
    let line = |kind, change: fn(&mut SlurmJob)| {
        let mut machine = Cluster::regular(2, 1, 2, 1);
        let mut slurm = SlurmJob::default();
        slurm.hosts.clone_from(&machine.hosts);
        change(&mut slurm);
        machine.slurm = Some(slurm);
        launch(kind, &machine, &Mapping::identity(4)).unwrap().line.unwrap()
    };
    let slurm = |change| line("slurm", change);
    let rest = "-n 4 -m arbitrary --cpu-bind=none ./bind.sh ./app";
    type Change = fn(&mut SlurmJob);
    let cases: [(Change, &str); 4] = [
        (|_| (), ""),
        (|job| job.het_group = Some(1), " --het-group=1"),
        (|job| job.is_in_step = true, " --overlap"),
        (|job| job.is_overcommitted = true, " --overcommit"),
    ];
    for (change, option) in cases {
        assert_eq!(slurm(change), format!("SLURM_HOSTFILE=hosts srun{option} {rest}"));
    }
    let variables = |job: &mut SlurmJob| job.variables = vec!["SLURM_CPUS_PER_TASK", "SLURM_TRES_PER_TASK"];
    let unset = "env -u SLURM_CPUS_PER_TASK -u SLURM_TRES_PER_TASK srun";
    assert_eq!(slurm(variables), format!("SLURM_HOSTFILE=hosts {unset} {rest}"));
    for kind in ["mpich", "mpich40", "intel"] {
        let (inside, outside) = (line(kind, |job| job.is_in_step = true), line(kind, |_| ()));
        assert_eq!(inside, format!("SLURM_OVERLAP=1 {outside}"));
    }
    let cray = line("cray", variables);
    assert!(cray.contains(&format!("=MPICH_RANK_ORDER {unset} -N 2 -w n1,n2 -n 4 -m plane=2 ")), "{cray}");
}

/// Hosts may have the names of what is filled in.
#[test]
fn names_of_hosts_are_never_filled_in() {
    let plain = ["quail1", "quail2", "quail3", "quail4"];
    let with = |hosts: [&str; 4], kind| {
        let machine = Cluster::regular(4, 1, 2, 1).named(hosts);
        launch(kind, &machine, &Mapping::on(&machine, vec![2, 1, 0, 3, 5, 4, 6, 7]).unwrap()).unwrap()
    };
    for odd in [
        ["ADDRESS", "FIRST.site", "NUMBER7", "RANKS"],
        ["ABOUT", "START", "VARIABLE", "WHAT"],
        ["@PORT@", "@RANKS@", "@START@", "x@FIRST@"],
    ] {
        for kind in &KINDS {
            let rename = |text: String| {
                plain.iter().zip(odd).fold(text, |text, (plain, odd)| text.replace(plain, odd))
            };
            let (found, expected) = (with(odd, kind.name), with(plain, kind.name));
            assert_eq!(found.line, expected.line.map(rename), "{}", kind.name);
            for (found, expected) in found.files.into_iter().zip(expected.files) {
                assert_eq!(found.content, rename(expected.content), "{}", kind.name);
            }
        }
    }
}

/// The script of GPUs: what is seen already is put into order.
#[test]
fn the_script_of_gpus_orders_them_as_the_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("gpus.sh");
    let machine = Cluster::regular(2, 1, 4, 1);
    let mapping = Mapping::on(&machine, vec![3, 5, 0, 7, 1]).unwrap();
    write_program(&script, &launch("mpijob", &machine, &mapping).unwrap().files[1].content);
    let run = |rank: u32, seen: Option<&str>| {
        let mut command = Command::new(&script);
        without_job(&mut command);
        command.env_remove("CUDA_VISIBLE_DEVICES").env("OMPI_COMM_WORLD_RANK", rank.to_string());
        command.envs(seen.map(|seen| ("CUDA_VISIBLE_DEVICES", seen)));
        ended(command.args(["sh", "-c", "echo $CUDA_VISIBLE_DEVICES"])).1
    };
    for rank in [0, 2, 4] {
        assert_eq!(run(rank, None), "3,0,1");
        assert_eq!(run(rank, Some("GPU-a,GPU-b,GPU-c,GPU-d")), "GPU-d,GPU-a,GPU-b");
    }
    assert_eq!((run(1, None), run(3, Some("4,5,6,7"))), ("1,3".to_owned(), "5,7".to_owned()));
}

#[test]
fn an_mpi_program_can_reorder_its_ranks_by_itself() {
    for mpi in Mpi::all() {
        let program = mpi.compile("mpicc", &["-Wall", "-Wextra", "-Werror"], "examples/reorder.c");
        let run = |mapping: &str| {
            fs::write(mpi.folder.path().join("permutation"), mapping).unwrap();
            let mut launcher = mpi.oversubscribed_launcher();
            launcher.current_dir(&mpi.folder).args(["-n", "6"]).arg(&program).arg("permutation");
            ended(&mut launcher)
        };
        let (code, text) = run("3\n0\n5\n1\n2\n4\n");
        assert_eq!(code, Some(0), "{text}");
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        let expected = [3, 0, 5, 1, 2, 4].iter().enumerate();
        let expected: Vec<String> =
            expected.map(|(rank, pe)| format!("process {rank} is on PE {pe}")).collect();
        assert_eq!(lines, expected);
        for wrong in ["3\n0\n5\n1\n2\n3\n", "0\n1\n2\n", "0\n1\n2\n3\n4\n6\n"] {
            let (code, message) = run(wrong);
            assert_ne!(code, Some(0));
            says(message, "permutation: not a mapping of 6 processes");
        }
    }
}

/// The nodes of a regular tree are its outermost groups.
#[test]
fn trees_have_nodes() {
    let tree = viem_cluster::build("2:2:2", "1:2:3").unwrap();
    let nodes = Nodes::of(&tree);
    assert_eq!(nodes.hosts().len(), 2);
    let launch = launch("cray", &tree, &Mapping::from_pes(vec![7, 6, 5, 4, 3, 2, 1, 0]).unwrap()).unwrap();
    assert_eq!(launch.files[0].content, "7,6,5,4,3,2,1,0\n");
}
