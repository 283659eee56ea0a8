//! The libraries in place of ParMETIS, in programs in C.

use std::path::PathBuf;

use crate::mpi::Mpi;
use crate::tools::{STRICT, compile_linked, run_with};

/// The program, linked to the library for numbers of these widths.
fn compile(mpi: &Mpi, (integers, reals): (u32, u32), library: &str) -> PathBuf {
    let widths = [format!("-DIDXTYPEWIDTH={integers}"), format!("-DREALTYPEWIDTH={reals}")];
    let options = [&STRICT[..], &[&widths[0], &widths[1], "-DVIEM_PARMETIS_WITHOUT_METIS"]].concat();
    let linked = ("install_parmetis", library);
    compile_linked(mpi, linked, "mpicc", "tests/programs/parmetis.c", &options)
}

#[test]
fn results_are_as_parmetis_promises_and_the_same_on_any_number_of_ranks_and_under_two_mpis() {
    let mut first: Option<String> = None;
    // The suite of distributed graphs has the same calls of MPI under all others.
    for mpi in Mpi::two() {
        let program = compile(&mpi, (32, 32), "viem_parmetis");
        // Ranks of MPICH keep a core busy while they wait.
        let sizes: &[usize] = if mpi.kind == "openmpi" { &[1, 2, 4, 8] } else { &[2] };
        for &size in sizes {
            let output = run_with(&mpi, size, &[], &program, &[]);
            assert!(output.out.starts_with("passed "), "{output:?}");
            assert_eq!(*first.get_or_insert(output.out.clone()), output.out, "{} {size}", mpi.kind);
        }
    }
}

#[test]
fn numbers_have_any_width() {
    for mpi in Mpi::all().iter().take(1) {
        let widths = [
            ((64, 32), "viem_parmetis64"),
            ((32, 64), "viem_parmetis_double"),
            ((64, 64), "viem_parmetis64_double"),
        ];
        for (widths, library) in widths {
            let output = run_with(mpi, 3, &[], &compile(mpi, widths, library), &[]);
            assert!(output.out.starts_with("passed "), "{library}: {output:?}");
        }
    }
}
