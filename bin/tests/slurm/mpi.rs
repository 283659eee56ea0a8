//! Launchers of MPI in jobs of Slurm: they start daemons by `srun`, whose variables the ranks inherit.

use std::cell::Cell;
use std::process::Command;

use crate::IN_ORDER;
use crate::cluster::{Cluster, is_wanted};
use crate::common::Mpi;
use crate::job::Job;

/// Two cores of each node are used: this machine has them.
const OPTIONS: &str = "-w n1,n2,n3,n4 -N4 --ntasks-per-node=2";

/// All MPIs, and each time a job with its `mpirun` and `mpiexec` in the folder `mpi`.
fn for_each(test: &str, check: impl Fn(&Mpi, &Job<'_>)) {
    let Some(cluster) = Cluster::shared() else { return };
    for (number, mpi) in Mpi::all().into_iter().enumerate() {
        let job = Job::new(&cluster, &format!("{test}-{number}-{}", mpi.kind), 8);
        std::fs::create_dir(job.path("mpi")).unwrap();
        let command = mpi.command("mpirun");
        let variables =
            command.get_envs().filter_map(|(name, value)| Some((name.to_str()?, value?.to_str()?)));
        let mut exports: String =
            variables.map(|(name, value)| format!("export {name}='{value}'\n")).collect();
        exports += &format!("export PATH='{}':$PATH\n", cluster.path("bin").display());
        let program = command.get_program().to_str().unwrap();
        for name in ["mpirun", "mpiexec"] {
            // All nodes have the address of this machine. Open MPI 5.0.11 sometimes waits for ever when all ranks have ended.
            let end = if mpi.kind == "openmpi5" { " || [ $? = 124 ]" } else { "" };
            let text = format!(
                "#!/bin/sh\n{exports}export OMPI_MCA_oob_tcp_if_include=lo\ntimeout 20 {program} \"$@\"{end}\n"
            );
            job.write_program(&format!("mpi/{name}"), &text);
        }
        check(&mpi, &job);
    }
}

fn script(lines: &str) -> String {
    format!("export PATH=$PWD/mpi:$PATH TMPDIR=$PWD\n{lines}")
}

/// A launch of a mapping to hosts that are listed in another order than that of Slurm: it is right or refused.
#[test]
fn hosts_are_those_of_the_mapping_in_any_order() {
    for_each("order", |mpi, job| {
        std::fs::write(job.path("hosts.txt"), "n4 slots=2\nn2 slots=2\nn3 slots=2\nn1 slots=2\n").unwrap();
        let machine = "--machine=hosts:hosts.txt,node=2";
        job.run("sbatch", OPTIONS, &script(&format!("map {machine} --launch={} && launch", mpi.kind)));
        if ["mpich40", "intel"].contains(&mpi.kind) {
            job.expect("viem.err", &format!("in a job of Slurm, {} starts its ranks by srun", mpi.kind));
            assert!(!job.path("ran").exists(), "{}", job.text("ran"));
        } else {
            let hosts = ["n4", "n2", "n3", "n1"].map(str::to_owned);
            job.check_hosts(&job.seats(), &hosts, &[2, 2, 2, 2]);
        }
    });
}

/// What can be expressed is launched by every kind.
#[test]
fn hosts_in_the_order_of_slurm_are_launched() {
    for_each("in-order", |mpi, job| {
        let map = format!("map --machine=slurm:node=2 {IN_ORDER} --launch={}", mpi.kind);
        job.run("sbatch", OPTIONS, &script(&format!("{map} && launch")));
        job.check_hosts(&job.seats(), &job.hosts(), &[2, 2, 2, 2]);
    });
}

/// The options that make a launcher start two processes on each of four hosts.
fn two_on_each(mpi: &Mpi) -> &'static str {
    match mpi.kind {
        "openmpi" | "openmpi5" => "-H n1:2,n2:2,n3:2,n4:2",
        "intel" => "-hosts n1,n2,n3,n4 -ppn 2",
        _ => "-hosts n1:2,n2:2,n3:2,n4:2",
    }
}

/// The scripts go by the variables of the launcher, not by those of its daemons.
#[test]
fn scripts_take_the_rank_of_the_launcher() {
    for_each("rank", |mpi, job| {
        let start = format!(
            "timeout 60 mpirun -n 8 {} ./rank.sh ./app > ran 2> ran.err < /dev/null",
            two_on_each(mpi)
        );
        job.run(
            "sbatch",
            OPTIONS,
            &script(&format!("map --machine=slurm:node=2 --launch=torchrun && {start}")),
        );
        job.check_hosts(&job.seats(), &job.hosts(), &[2, 2, 2, 2]);
    });
    for_each("bind", |mpi, job| {
        let start = format!(
            "timeout 60 mpirun -n 8 {} ./bind.sh ./app > ran 2> ran.err < /dev/null",
            two_on_each(mpi)
        );
        job.run("sbatch", OPTIONS, &script(&format!("map --machine=slurm:node=2 --launch=slurm && {start}")));
        let script = job.text("bind.sh");
        let lines: Vec<&str> = script.lines().collect();
        for (seat, line) in job.seats().iter().zip(&lines[lines.len() - 8..]) {
            let cpus: Vec<u32> = line.split(',').map(|cpu| cpu.parse().unwrap()).collect();
            assert!(seat.cpus.iter().eq(&cpus), "{seat:?} {line}");
        }
    });
}

/// How `srun` starts programs of an MPI here, if it can.
fn starter(mpi: &Mpi, cluster: &Cluster) -> Option<&'static str> {
    let name = match mpi.kind {
        "mpich40" | "mpich" => "pmi2",
        "openmpi" => "pmix",
        // All nodes have one address, by which Open MPI 5 does not find them; and Intel MPI needs a library of Slurm.
        _ => return None,
    };
    let output = cluster.command("srun").arg("--mpi=list").output().unwrap();
    let known = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&known).split_whitespace().any(|word| word == name).then_some(name)
}

/// Programs of MPI that `srun` itself starts, by the line of kind `slurm`.
#[test]
fn programs_of_mpi_are_started_by_srun() {
    let has_run = Cell::new(false);
    for_each("srun", |mpi, job| {
        let Some(starter) = starter(mpi, job.cluster) else { return };
        std::fs::copy(mpi.compile("mpicc", &[], "bin/tests/slurm/rank.c"), job.path("program")).unwrap();
        // On a busy machine, Open MPI 4.1 now and then crashes while PMIx of Slurm starts it; then it is started once more.
        let again = "! grep -q 'Signal: Segmentation fault' ran.err || launch";
        let launch = format!(
            "map --machine=slurm:node=4:2 --launch=slurm && sed -i 's/ srun / srun --mpi={starter} /; s/app$/program/' viem.out && launch && {{ {again}; }}"
        );
        job.run("sbatch", "-w n1,n3,n4,n6 -N4 --ntasks-per-node=2 --exclusive", &launch);
        job.check(&[2, 2, 2, 2], 4);
        has_run.set(true);
    });
    assert!(has_run.get() || !is_wanted(), "no MPI has run");
}

/// The library that reorders ranks, in a program that is itself a step on some of the nodes.
#[test]
fn ranks_of_a_step_are_reordered() {
    let has_run = Cell::new(false);
    for_each("reorder", |mpi, job| {
        if starter(mpi, job.cluster) != Some("pmi2") {
            return;
        }
        let compiler = mpi.command("mpicc");
        let mut make = Command::new("make");
        make.envs(compiler.get_envs().filter_map(|(name, value)| Some((name, value?))));
        make.arg("-C").arg(crate::common::root().join("bindings/mpi")).arg("install");
        make.arg(format!("PREFIX={}", job.path("prefix").display()));
        let output = make.arg(format!("MPICC={}", compiler.get_program().display())).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        std::fs::copy(mpi.compile("mpicc", &[], "bin/tests/slurm/rank.c"), job.path("program")).unwrap();
        let start = "VIEM_MACHINE=slurm:node=4:2 VIEM_REORDER_VERBOSE=1 LD_PRELOAD=$PWD/prefix/lib/libviem_reorder.so srun --mpi=pmi2";
        let step = format!("{start} -N 2 -n 8 -w n6,n3 -m plane=4 ./program step > ran 2> said");
        job.run("sbatch", "-w n1,n3,n4,n6 -N4 --ntasks-per-node=4", &step);
        assert_eq!(job.text("pairs"), "4 of 4\n", "{}", job.text("said"));
        job.expect("said", "ranks are reordered");
        has_run.set(true);
    });
    assert!(has_run.get() || !is_wanted(), "no MPI has run");
}
