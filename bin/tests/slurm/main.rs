//! Launches in jobs of a real Slurm: every rank runs once, where the mapping has it.
//!
//! Runs with VIEM_REQUIRE_SLURM set and is skipped without. Needs `slurmctld`, `slurmd`, `slurm-client`, `munge` and `jq`, and root for
//! namespaces. No daemon of the system is touched. `bin/tests/slurm/other FOLDER SUITE` runs the same with the Slurm of another Debian.

#![cfg(target_os = "linux")]

#[path = "../../../tests/common/mod.rs"]
mod common;

mod cluster;
mod job;
mod mpi;

use cluster::Cluster;
use job::{Job, Seat};

/// The mapping in the order of the PEs.
const IN_ORDER: &str = "--construction=identity --neighbourhood=none";

/// Maps and launches by kind `slurm`.
fn slurm(machine: &str) -> String {
    format!("map --machine={machine} --launch=slurm && launch")
}

/// Jobs of many shapes. A case has options, a number of ranks, the ranks of each host that the job has room for, and the cores of each.
#[test]
fn ranks_run_where_they_are_mapped() {
    let Some(cluster) = Cluster::shared() else { return };
    let cases: [(&str, &str, usize, &[usize], usize); 12] = [
        ("fragmented", "-w n1,n3,n4,n6 -N4 -n24", 24, &[], 1),
        ("four-a-node", "-w n1,n3,n4,n6 -N4 --ntasks-per-node=4", 16, &[4, 4, 4, 4], 1),
        ("two-cpus", "-w n1,n3,n4,n6 -N4 -n16 --cpus-per-task=2", 16, &[4, 4, 4, 4], 2),
        ("three-cpus", "-w n2,n3,n6 -N3 --ntasks-per-node=2 --cpus-per-task=3", 5, &[2, 2, 2], 3),
        ("backwards", "-w n6,n4,n3,n1 -N4 -n32", 32, &[8, 8, 8, 8], 1),
        ("no-tasks", "-w n1,n3,n4 -N3 --exclusive", 24, &[8, 8, 8], 1),
        ("fewer-ranks", "-w n1,n3,n4,n6 -N4 -n32", 10, &[8, 8, 8, 8], 1),
        ("fewer-ranks-each", "-w n1,n3,n4,n6 -N4 --ntasks-per-node=8", 10, &[8, 8, 8, 8], 1),
        ("one-used", "-w n1,n3,n4,n6 -N4 --ntasks-per-node=8", 8, &[8, 8, 8, 8], 1),
        ("one-node", "-w n1 -N1 -n8", 8, &[8], 1),
        ("plane", "-w n1,n3,n4,n6 -N4 -n16 --distribution=plane=2", 16, &[], 1),
        ("all", "-w n1,n2,n3,n4,n5,n6 -N6 -n48", 48, &[8; 6], 1),
    ];
    for (name, options, ranks, pes, cores) in cases {
        let job = Job::new(&cluster, name, ranks);
        job.run("sbatch", options, &slurm("slurm:node=4:2"));
        let tasks = job.tasks();
        let pes = if pes.is_empty() { &tasks } else { pes };
        job.check(pes, cores);
    }
}

/// The step has all CPUs of the job, and Slurm has nothing to say, whatever the job was asked for.
#[test]
fn steps_have_all_cpus_of_the_job() {
    let Some(cluster) = Cluster::shared() else { return };
    let job = Job::new(&cluster, "exact", 6);
    let options = "-w n3,n4 -N2 --ntasks-per-node=4 --cpus-per-task=2";
    job.run("sbatch", options, &slurm("slurm:node=4:2"));
    assert!(job.line().contains(" env -u SLURM_CPUS_PER_TASK "), "{}", job.line());
    job.check(&[4, 4], 2);
    assert!(job.seats().iter().all(|seat| seat.step_cpus == Some(8)), "{:?}", job.seats());
}

/// The line of a step must not wait for the end of the step that it is printed in.
#[test]
fn lines_run_inside_steps() {
    let Some(cluster) = Cluster::shared() else { return };
    let job = Job::new(&cluster, "inside", 12);
    let script = format!(
        "if [ \"${{SLURM_STEP_ID:-}}\" != 0 ]; then srun -N1 -n1 bash ./job.sh; exit; fi\n{}",
        slurm("slurm:node=4:2")
    );
    job.run("sbatch", "-w n5,n6 -N2 -n12", &script);
    assert!(job.line().contains("srun --overlap -n 12 "), "{}", job.line());
    job.check_hosts(&job.seats(), &job.hosts(), &job.tasks());
}

#[test]
fn interactive_steps_are_the_whole_job() {
    let Some(cluster) = Cluster::shared() else { return };
    let job = Job::new(&cluster, "interactive", 16);
    job.run("salloc", "-w n1,n3,n4,n6 -N4 --ntasks-per-node=4 --exclusive", &slurm("slurm:node=4:2"));
    assert!(!job.line().contains("--overlap"), "{}", job.line());
    job.check(&[4, 4, 4, 4], 2);
}

#[test]
fn groups_of_heterogeneous_jobs_are_launched_by_themselves() {
    let Some(cluster) = Cluster::shared() else { return };
    let job = Job::new(&cluster, "groups", 12);
    let options = "-w n1 -N1 -n4 : -w n3,n5 -N2 --ntasks-per-node=6";
    job.run("sbatch", options, &slurm("slurm:node=4:2,group=1"));
    assert!(job.line().contains(" srun --het-group=1 -n 12 "), "{}", job.line());
    job.check_hosts(&job.seats(), &job.hosts_in("SLURM_JOB_NODELIST_HET_GROUP_1"), &[6, 6]);
}

/// Steps that are the ranks themselves, on some of the nodes: rank r is on PE r, or the machine is refused. Slurm 26.05 numbers the tasks of
/// blocks in the order of the switches.
#[test]
fn machines_of_steps_have_their_ranks_in_order() {
    let Some(cluster) = Cluster::shared() else { return };
    let cases = [
        ("some-nodes", "-n 6 -N 3 -w n1,n3,n6", 6),
        ("backwards", "-n 5 -N 2 -w n6,n1", 5),
        ("without", "-n 7 -N 3 -x n1", 7),
        ("whole", "-n 20", 20),
        ("one-each", "-n 4 -N 4", 4),
        ("wide-planes", "-n 8 -N 4 -m plane=2", 8),
        ("cyclic", "-n 8 -N 4 -m cyclic", 8),
        ("planes", "-n 10 -N 3 -m plane=2", 10),
    ];
    let map = format!(
        "\"$VIEM\" map job.graph --machine=slurm:node=4:2 {IN_ORDER} --launch=slurm -o perm > viem.out 2> viem.err"
    );
    for (name, options, ranks) in cases {
        let job = Job::new(&cluster, &format!("step-{name}"), ranks);
        job.write_program(
            "rank.sh",
            &format!("#!/bin/sh\n[ \"$SLURM_PROCID\" != 0 ] || {map}\nexec ./app\n"),
        );
        let step = format!("srun {options} ./rank.sh > ran 2> ran.err");
        job.run("sbatch", "-w n1,n3,n4,n6 -N4 -n20 --exclusive", &step);
        let (seats, hosts) = (job.seats(), job.hosts());
        let is_in_order =
            seats.iter().map(|seat| hosts.iter().position(|host| *host == seat.host)).is_sorted();
        if is_in_order {
            assert!(job.text("hosts").lines().eq(seats.iter().map(|seat| &seat.host)), "{name} {seats:?}");
        } else {
            job.expect(
                "viem.err",
                "so ranks are not where the machine has them; start the step by srun -m plane=",
            );
        }
    }
}

/// What the program runs in is not the job: a step of one task with all CPUs of its node.
#[test]
fn steps_of_one_task_map_the_whole_job() {
    let Some(cluster) = Cluster::shared() else { return };
    let job = Job::new(&cluster, "one-task", 32);
    let map = "map() { srun -n1 -N1 -c8 \"$VIEM\" map job.graph \"$@\" -o perm --verify --json=report > viem.out 2> viem.err; }";
    job.run("sbatch", "-w n1,n2,n3,n4 -N4 -n32", &format!("{map}\n{}", slurm("slurm:node=4:2")));
    job.check(&[8, 8, 8, 8], 1);
}

/// The variables of the job are those of the step where that is started from outside of the job.
#[test]
fn steps_that_are_started_from_outside_map_the_whole_job() {
    let Some(cluster) = Cluster::shared() else { return };
    let mut salloc = cluster.command("salloc");
    let output = salloc.args(["--no-shell", "-w", "n5,n6", "-N2", "-n9"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let id = said.lines().find_map(|line| line.split("Granted job allocation ").nth(1)).expect(&said);
    let job = Job::new(&cluster, "outside", 9);
    let options = format!("--jobid={id} --overlap -N1 -n1 bash ./job.sh");
    job.run("srun", &options, &slurm("slurm:node=4:2"));
    cluster.command("scancel").arg(id).output().unwrap();
    let seats = job.seats();
    let on_each = job.cpus_of_job().into_values().map(|cpus| cpus.len()).collect::<Vec<_>>();
    job.check_hosts(&seats, &["n5".to_owned(), "n6".to_owned()], &on_each);
    job.check_objective(&seats, 1);
}

/// Two jobs share nodes: each binds to CPUs of its own.
#[test]
fn jobs_that_share_nodes_have_cpus_of_their_own() {
    let Some(cluster) = Cluster::shared() else { return };
    let other = Job::new(&cluster, "occupant", 3);
    let script = "touch started; until [ -e ../shared-done ]; do sleep 0.1; done";
    other.start("sbatch", "-w n5 -N1 -n3", script);
    cluster::wait(std::time::Duration::from_secs(60), "the other job has not started", || {
        other.path("started").exists().then_some(())
    });
    let job = Job::new(&cluster, "shared", 9);
    job.run("sbatch", "-w n5,n6 -N2 -n9", &slurm("slurm:node=4:2"));
    std::fs::write(cluster.path("shared-done"), "").unwrap();
    job.check(&job.tasks(), 1);
}

/// Two jobs at once on parts of the same nodes, each confined to its CPUs by Slurm: ranks are bound by the real `taskset`.
#[test]
fn jobs_that_are_confined_bind_to_what_they_have() {
    let Some(cluster) = Cluster::confined() else { return };
    let jobs = ["confined-first", "confined-second"].map(|name| Job::new(&cluster, name, 2));
    let script =
        "PATH=${PATH#*:}\ntouch started\nuntil [ -e ../confined-second/started ]; do sleep 0.1; done\n";
    for job in &jobs {
        let script = format!("{script}{}\nsleep 2", slurm("slurm"));
        job.start("sbatch", "-w c1,c2 -N2 --ntasks-per-node=1", &script);
    }
    jobs.iter().for_each(Job::wait);
    let [first, second] = jobs.each_ref().map(Job::cpus_of_job);
    for job in &jobs {
        let (seats, own) = (job.seats(), job.cpus_of_job());
        job.check_hosts(&seats, &job.hosts(), &[1, 1]);
        assert!(seats.iter().all(|seat| seat.cpus == own[&seat.host]), "{seats:?} {own:?}");
    }
    assert!(["c1", "c2"].iter().all(|&host| first[host].is_disjoint(&second[host])), "{first:?} {second:?}");
}

/// Slurm counts hardware threads here: a half of a node is a half of its cores.
#[test]
fn halves_of_nodes_with_hardware_threads_have_half_of_the_cores() {
    let Some(cluster) = Cluster::shared() else { return };
    let job = Job::new(&cluster, "threads", 6);
    job.run("sbatch", "-w t1,t2 -N2 -n6", &slurm("'slurm:node=pack:2 core:2 pu:2'"));
    let seats = job.seats();
    job.check_hosts(&seats, &job.hosts(), &job.tasks());
    for (host, cpus) in job.cpus_of_job() {
        let used: Vec<u32> =
            seats.iter().filter(|seat| seat.host == host).flat_map(|seat| seat.cpus.clone()).collect();
        assert!(used.len() <= cpus.len(), "{host}: {used:?} of {cpus:?}");
        let distinct: std::collections::BTreeSet<u32> = used.iter().copied().collect();
        assert_eq!(distinct.len(), used.len(), "{host}: {used:?}");
    }
}

/// A partition of Slurm from 25.05 on may have a topology of its own, which `topology.yaml` has beside others.
#[test]
fn partitions_have_their_topology() {
    let Some(cluster) = Cluster::shared() else { return };
    if !cluster::has_topologies() {
        return common::skipped("this Slurm has one topology for all partitions");
    }
    let cases = [
        ("all", "of cores:sockets:nodes:switches:groups of switches"),
        ("plain", "machine: 6 nodes x 2 sockets x 2 cores = 2:2:6"),
        ("torus", "(hops on a torus of 3x2x1)"),
    ];
    for (partition, machine) in cases {
        let job = Job::new(&cluster, &format!("partition-{partition}"), 24);
        job.run(
            "sbatch",
            &format!("-p {partition} -w n1,n2,n3,n4,n5,n6 -N6 --ntasks-per-node=4 --exclusive"),
            &slurm("slurm:node=4:2"),
        );
        job.expect("viem.out", machine);
        job.check_hosts(&job.seats(), &job.hosts(), &[4; 6]);
    }
    let printed = |name: &str| {
        let output = cluster.command("scontrol").args(["show", "topology", name]).output().unwrap();
        std::fs::write(cluster.path(name), output.stdout).unwrap();
        let topology = cluster.path(name);
        let mut viem = std::process::Command::new(assert_cmd::cargo::cargo_bin!("viem"));
        std::fs::write(cluster.path("hosts6"), "n1\nn2\nn3\nn4\nn5\nn6\n").unwrap();
        viem.arg("map").arg(cluster.path("partition-all/job.graph")).current_dir(cluster.path(""));
        viem.arg(format!("--machine=hosts:hosts6,node=4,topology={}", topology.display()));
        let output = viem.args(["-o", "printed"]).output().unwrap();
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    for (name, part) in
        [("tree", "groups of switches"), ("torus", "torus of 3x2x1"), ("plain", "give topology=none")]
    {
        assert!(printed(name).contains(part), "{name}: {}", printed(name));
    }
}

/// Slots go node by node, as many as the mapping has there.
#[test]
fn slots_of_cray_are_given_out_as_the_order_says() {
    let Some(cluster) = Cluster::shared() else { return };
    for (name, ranks, on_each) in [("cray", 17, [8, 8, 1]), ("cray-even", 24, [8, 8, 8])] {
        let job = Job::new(&cluster, name, ranks);
        let map = format!("map --machine=slurm:node=4:2 --launch=cray {IN_ORDER}");
        job.run("sbatch", "-w n1,n4,n6 -N3 --ntasks-per-node=8", &format!("{map} && launch"));
        let line = job.line();
        let masks = line.split("mask_cpu:").nth(1).unwrap().split(' ').next().unwrap();
        let masks: Vec<u32> =
            masks.split(',').map(|mask| u32::from_str_radix(&mask[2..], 16).unwrap()).collect();
        // The program reports slots, which have the ranks of the file.
        let (slots, order) = (job.seats(), job.text("MPICH_RANK_ORDER"));
        let mut seats = slots.clone();
        for (slot, rank) in slots.into_iter().zip(order.trim().split(',')) {
            let mask = masks[slot.local.unwrap()];
            let cpus = (0..32).filter(|cpu| mask >> cpu & 1 == 1).collect();
            seats[rank.parse::<usize>().unwrap()] = Seat { cpus, ..slot };
        }
        job.check_hosts(&seats, &job.hosts(), &[8, 8, 8]);
        job.check_objective(&seats, 1);
        for (host, ranks) in job.hosts().into_iter().zip(on_each) {
            assert_eq!(seats.iter().filter(|seat| seat.host == host).count(), ranks, "{host}");
        }
    }
}

/// Ranks on GPUs by a script in a job, started by `srun` and by a shell that `srun` starts.
#[test]
fn the_script_of_torchrun_knows_tasks_of_srun() {
    let Some(cluster) = Cluster::shared() else { return };
    let job = Job::new(&cluster, "tasks", 8);
    let start = |command: &str, file: &str| {
        format!("srun -n 8 -m plane=2 {command} > {file} 2> {file}.err; sort -n -k2 {file} > {file}.sorted")
    };
    let script = format!(
        "map --machine=slurm:node=4:2 --launch=torchrun\n{}\n{}",
        start("./rank.sh ./app", "ran"),
        start("bash -c './rank.sh ./app; true'", "again")
    );
    job.run("sbatch", "-w n1,n2,n3,n4 -N4 --ntasks-per-node=2", &script);
    job.check_hosts(&job.seats(), &job.hosts(), &[2, 2, 2, 2]);
    assert_eq!(job.text("ran.sorted"), job.text("again.sorted"), "{}", job.text("again.err"));
}

#[test]
fn models_with_too_many_ranks_are_refused_by_numbers() {
    let Some(cluster) = Cluster::shared() else { return };
    let job = Job::new(&cluster, "too-many", 24);
    job.run("sbatch", "-w n1,n2,n3,n4 -N4 -n20", &slurm("slurm:node=4:2"));
    job.expect("viem.err", "24");
    job.expect("viem.err", "20");
}

/// What was launched is read again, with the CPUs that the script has.
#[test]
fn the_evaluator_reads_what_was_launched() {
    let Some(cluster) = Cluster::shared() else { return };
    let job = Job::new(&cluster, "read-again", 12);
    let evaluate = "\"$VIEM\" score job.graph hosts,bind.sh --machine=slurm:node=4:2 > again.out 2>&1";
    job.run("sbatch", "-w n1,n4 -N2 -n12", &format!("{}\n{evaluate}", slurm("slurm:node=4:2")));
    job.check(&job.tasks(), 1);
    assert_eq!(job.objective("again.out"), job.objective("viem.out"));
}

/// The script of the guide, twice in one folder at the same time.
#[test]
fn the_script_of_the_guide_launches_a_job() {
    let Some(cluster) = Cluster::shared() else { return };
    let guide = std::fs::read_to_string(common::root().join("docs/guide/launch.md")).unwrap();
    let start = guide.find("#!/bin/bash\n#SBATCH").expect("a batch script");
    let script = guide[start..].split("```").next().unwrap();
    let folder = Job::new(&cluster, "guide", 16);
    folder.write_program("guide.sh", script);
    let submit = || {
        let viem = assert_cmd::cargo::cargo_bin!("viem");
        let path = format!("{}:{}", viem.parent().unwrap().display(), std::env::var("PATH").unwrap());
        let mut command = cluster.command("sbatch");
        let path = format!("{}:{path}", cluster.path("bin").display());
        command.current_dir(folder.path("")).env("PATH", path);
        let options = ["--parsable", "-N2", "--ntasks-per-node=8", "-o", "log.%j", "guide.sh"];
        let output = command.args(options).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let jobs = [submit(), submit()];
    for id in jobs {
        let log = format!("log.{id}");
        let ranks = || folder.text(&log).lines().filter(|line| line.starts_with("rank ")).count();
        cluster::wait(std::time::Duration::from_secs(90), &log, || (ranks() == 16).then_some(()));
    }
}
