//! Programs in Fortran: their calls go through functions of C.

use crate::mpi::Mpi;
use crate::tools::{MACHINE, compile, run};

/// Returns whether an MPI has a compiler for Fortran. The packages of Open MPI and MPICH on PyPI have none.
pub fn has_fortran(mpi: &Mpi) -> bool {
    mpi.command("mpif90").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Macros of the programs for the interfaces that an MPI has. The package of Intel MPI on PyPI has modules for another compiler only.
pub fn interfaces(mpi: &Mpi) -> &'static [&'static str] {
    if mpi.kind == "intel" { &["-DMPIFH"] } else { &["-DMPIFH", "-DF08"] }
}

/// The number of ranks that have changed in each of the four topologies.
fn changes(out: &str) -> Vec<usize> {
    out.lines().map(|line| line.split_whitespace().last().unwrap().parse().unwrap()).collect()
}

#[test]
fn both_interfaces_reorder() {
    for mpi in Mpi::all().iter().filter(|mpi| has_fortran(mpi)) {
        for &interface in interfaces(mpi) {
            let program = compile(mpi, "mpif90", "tests/programs/topologies.F90", &["-w", interface]);
            let with = run(mpi, 12, &MACHINE, &program, &[]);
            let without = run(mpi, 12, &[MACHINE[0], MACHINE[1], "VIEM_REORDER=0"], &program, &[]);
            let (with, without) = (changes(&with.out), changes(&without.out));
            assert!(with.len() == 4 && with.iter().all(|&num| num > 0), "{} {interface}: {with:?}", mpi.kind);
            assert_eq!(without, [0; 4], "{} {interface}", mpi.kind);
        }
    }
}
