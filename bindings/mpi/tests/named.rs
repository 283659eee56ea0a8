//! The functions of `viem_mpi.h`, their examples, and what they read.

use std::fs;
use std::path::{Path, PathBuf};

use crate::mpi::Mpi;
use crate::tools::{MACHINE, Output, STRICT, compile, installed, run_with};

/// Compiles a program that is linked to the library.
fn linked(mpi: &Mpi, compiler: &str, source: &str, options: &[&str]) -> PathBuf {
    let lib = installed(mpi).join("lib");
    let (search, rpath) = (format!("-L{}", lib.display()), format!("-Wl,-rpath,{}", lib.display()));
    compile(
        mpi,
        compiler,
        source,
        &[options, &[&search, &rpath, "-Wl,--no-as-needed", "-lviem_reorder"]].concat(),
    )
}

/// Files of the pairs that `named.c` makes of 8 ranks: a graph, and what the recorder would write.
fn files(folder: &Path) -> [String; 2] {
    let pair = |rank: usize| (rank + 4) % 8;
    let lines: String = (0..8).map(|rank| format!("{} 100\n", pair(rank) + 1)).collect();
    fs::write(folder.join("pairs.graph"), format!("8 4 1\n{lines}")).unwrap();
    for rank in 0..8 {
        let text = format!("viem_trace 1\nrank {rank} of 8\np2p {} 3 900\nend 1\n", pair(rank));
        fs::write(folder.join(format!("recorded.{rank}")), text).unwrap();
    }
    ["pairs.graph", "recorded"].map(|name| folder.join(name).display().to_string())
}

fn check(output: &Output) {
    assert!(output.out.contains("passed"), "{output:?}");
    let said = output.said();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("ranks stay: no such file"), "{said:?}");
}

#[test]
fn graphs_from_files_and_from_ranks_reorder() {
    for mpi in Mpi::all() {
        let program = linked(&mpi, "mpicc", "tests/programs/named.c", &STRICT);
        for file in files(mpi.folder.path()) {
            check(&run_with(&mpi, 8, &MACHINE, &program, &[&file]));
        }
    }
}

#[test]
fn recorded_traffic_reorders() {
    for mpi in Mpi::all() {
        let recorder = mpi.compile("mpicc", &["-O2", "-shared", "-fPIC"], "bindings/mpi/trace/viem_trace.c");
        let program = linked(&mpi, "mpicc", "tests/programs/named.c", &STRICT);
        let preload = format!("LD_PRELOAD={}", recorder.display());
        check(&run_with(&mpi, 8, &[MACHINE[0], MACHINE[1], &preload], &program, &["-"]));
    }
}

#[test]
fn the_example_in_c_works() {
    for mpi in Mpi::all() {
        let program = linked(&mpi, "mpicc", "examples/reorder.c", &STRICT);
        assert_eq!(run_with(&mpi, 8, &MACHINE, &program, &[]).out, "J falls from 1600000 to 16000\n");
    }
}

#[test]
fn the_example_in_fortran_works() {
    // The modules of Intel's package are for another compiler.
    for mpi in Mpi::all().iter().filter(|mpi| crate::fortran::has_fortran(mpi) && mpi.kind != "intel") {
        let program = linked(mpi, "mpif90", "examples/reorder.f90", &[]);
        assert_eq!(run_with(mpi, 8, &MACHINE, &program, &[]).out, "J falls from 1600000 to 16000\n");
    }
}

/// `VIEM_MPI4PY` is a Python that has mpi4py and the package `openmpi`.
#[test]
fn the_example_in_python_works() {
    let Some(python) = std::env::var_os("VIEM_MPI4PY").map(PathBuf::from) else {
        crate::mpi::skipped("VIEM_MPI4PY names no Python with mpi4py");
        return;
    };
    for mpi in Mpi::all().iter().filter(|mpi| mpi.kind == "openmpi5") {
        let script = crate::tools::folder().join("examples/reorder.py");
        let library = installed(mpi).join("lib/libviem_reorder.so");
        let arguments = [script.to_str().unwrap(), library.to_str().unwrap()];
        assert_eq!(run_with(mpi, 8, &MACHINE, &python, &arguments).out, "J falls from 1600000 to 16000\n");
    }
}
