//! Distributed graphs in programs in C, C++ and Python.

use std::path::PathBuf;

use crate::fortran::has_fortran;
use crate::mpi::Mpi;
use crate::tools::{STRICT, compile_linked, folder, made, run_with};

/// Compiles a program with the installed library.
fn compile(mpi: &Mpi, compiler: &str, source: &str, options: &[&str]) -> PathBuf {
    compile_linked(mpi, ("install_distributed", "viem_dist"), compiler, source, options)
}

#[test]
fn results_are_the_same_on_any_number_of_ranks_and_under_every_mpi_and_errors_on_all_ranks() {
    let mut first: Option<String> = None;
    for mpi in Mpi::all() {
        let program = compile(&mpi, "mpicc", "tests/programs/distributed.c", &STRICT);
        // Ranks of MPICH keep a core busy while they wait.
        let sizes: &[usize] = if mpi.is_open_mpi() { &[1, 3, 5] } else { &[2] };
        for &size in sizes {
            let output = run_with(&mpi, size, &[], &program, &[]);
            assert!(output.out.starts_with("passed "), "{output:?}");
            assert_eq!(*first.get_or_insert(output.out.clone()), output.out, "{} {size}", mpi.kind);
        }
    }
}

#[test]
fn the_example_in_c_works_and_the_header_is_cpp() {
    for mpi in Mpi::all() {
        let program = compile(&mpi, "mpicc", "examples/distributed.c", &STRICT);
        let output = run_with(&mpi, 2, &[], &program, &[]);
        assert!(output.out.starts_with("J = "), "{output:?}");
        let strict =
            ["-std=c++98", "-Wall", "-Wextra", "-Werror", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"];
        let program = compile(&mpi, "mpicxx", "tests/programs/header.cpp", &strict);
        assert_eq!(run_with(&mpi, 2, &[], &program, &[]).out, "cut 1 of 2\n");
    }
}

#[test]
fn the_example_in_fortran_works_and_finds_what_that_in_c_finds() {
    // The modules of Intel's package are for another compiler.
    for mpi in Mpi::all().iter().filter(|mpi| has_fortran(mpi) && mpi.kind != "intel") {
        let include = made(mpi, "install_distributed").join("include");
        let modules = ["viem.f90", "viem_dist.f90"].map(|name| include.join(name).display().to_string());
        let options = ["-J", mpi.folder.path().to_str().unwrap(), &modules[0], &modules[1]];
        let in_fortran = compile(mpi, "mpif90", "examples/distributed.f90", &options);
        let in_c = compile(mpi, "mpicc", "examples/distributed.c", &STRICT);
        let [fortran, c] = [in_fortran, in_c].map(|program| run_with(mpi, 2, &[], &program, &[]).out);
        let cost = fortran.lines().next().unwrap();
        assert!(fortran.lines().count() == 2 && c.starts_with(&format!("{cost},")), "{fortran}{c}");
    }
}

/// `VIEM_MPI4PY` is a Python that has this project's package, mpi4py and the package `openmpi`.
#[test]
fn python_calls_the_library() {
    let Some(python) = std::env::var_os("VIEM_MPI4PY").map(PathBuf::from) else {
        crate::mpi::skipped("VIEM_MPI4PY names no Python with mpi4py");
        return;
    };
    for mpi in Mpi::all().iter().filter(|mpi| mpi.kind == "openmpi5") {
        let script = folder().join("tests/programs/distributed.py");
        let run = |library: &Mpi, size, arguments: &[&str]| {
            let library = made(library, "install_distributed").join("lib/libviem_dist.so");
            let library = format!("VIEM_DIST_LIBRARY={}", library.display());
            run_with(mpi, size, &[&library], &python, &[&[script.to_str().unwrap()], arguments].concat()).out
        };
        let first = run(mpi, 1, &[]);
        assert!(first.starts_with("J = "), "{first}");
        assert_eq!(run(mpi, 3, &[]), first);
        for other in Mpi::all().iter().filter(|other| other.kind == "mpich") {
            let refused = run(other, 1, &["foreign"]);
            assert!(
                refused.contains("was built with another MPI than mpi4py, which has Open MPI"),
                "{refused}"
            );
        }
    }
}
