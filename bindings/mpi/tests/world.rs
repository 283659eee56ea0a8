//! `MPI_COMM_WORLD` with other ranks.

use std::fs;

use crate::fortran::{has_fortran, interfaces};
use crate::mpi::Mpi;
use crate::tools::{MACHINE, STRICT, compile, installed, run_with};

/// Reads the process of each rank, as the program prints it.
fn processes(out: &str) -> Vec<usize> {
    let line = out.lines().find_map(|line| line.strip_prefix("processes ")).unwrap();
    line.split(' ').map(|number| number.parse().unwrap()).collect()
}

/// A graph of the pairs r and r + 4 of 8 ranks, as a variable that asks for it.
fn asked(mpi: &Mpi) -> String {
    let graph = mpi.folder.path().join("pairs.graph");
    fs::write(&graph, "8 4\n5\n6\n7\n8\n1\n2\n3\n4\n").unwrap();
    format!("VIEM_REORDER_WORLD={}", graph.display())
}

fn preload(mpi: &Mpi) -> String {
    format!("LD_PRELOAD={}", installed(mpi).join("lib/libviem_world.so").display())
}

fn assert_pairs(ranks: &[usize], mpi: &Mpi) {
    assert!((0..4).all(|rank| ranks[rank] / 2 == ranks[rank + 4] / 2), "{}: {ranks:?}", mpi.kind);
}

#[test]
fn a_program_in_fortran_gets_them_too() {
    for mpi in Mpi::all().iter().filter(|mpi| has_fortran(mpi)) {
        for &interface in interfaces(mpi) {
            let program = compile(mpi, "mpif90", "tests/programs/world.F90", &["-w", interface]);
            let variables = [&preload(mpi), MACHINE[0], MACHINE[1], &asked(mpi)];
            assert_pairs(&processes(&run_with(mpi, 8, &variables, &program, &[]).out), mpi);
        }
    }
}

#[test]
fn a_program_that_never_asks_gets_other_ranks() {
    for mpi in Mpi::all() {
        let program = compile(&mpi, "mpicc", "tests/programs/world.c", &STRICT);
        let (preload, asked) = (preload(&mpi), asked(&mpi));
        let run = |variables: &[&str]| {
            let all = [&[preload.as_str(), MACHINE[0], MACHINE[1]], variables].concat();
            run_with(&mpi, 8, &all, &program, &[])
        };
        let ranks = processes(&run(&[&asked]).out);
        assert_pairs(&ranks, &mpi);
        let identity: Vec<_> = (0..8).collect();
        for stays in [&[][..], &[asked.as_str(), "VIEM_REORDER=0"], &["VIEM_REORDER_WORLD=/no/such/file"]] {
            let output = run(stays);
            assert_eq!(processes(&output.out), identity, "{}: {output:?}", mpi.kind);
            assert_eq!(output.said().len(), usize::from(stays.len() == 1), "{}: {output:?}", mpi.kind);
        }
    }
}
