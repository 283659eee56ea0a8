//! Random topologies: every neighbour's data arrive where the reordered topology says, and J is what the library says.

use crate::mpi::Mpi;
use crate::reading::{Topology, printed, said};
use crate::tools::{MACHINE, Output, SANITIZED, STRICT, compile, folder, installed, libviem, run, run_with};

const VERBOSE: [&str; 3] = [MACHINE[0], MACHINE[1], "VIEM_REORDER_VERBOSE=1"];

/// The number of ranks, and the number of seeds. MPICH and its kin take seconds to create a communicator of more ranks than cores.
fn sizes(mpi: &Mpi) -> &'static [(usize, &'static str)] {
    match mpi.kind {
        "openmpi" | "openmpi5" => &[(2, "10"), (3, "10"), (5, "6"), (8, "6"), (16, "2"), (64, "1")],
        _ => &[(2, "10"), (3, "4"), (5, "2"), (8, "1")],
    }
}

/// Returns the common lines of both in an order of its own: the lines of two communicators come in any order.
fn sorted(mut topologies: Vec<Topology>) -> Vec<Topology> {
    topologies.retain(|topology| topology.costs[0] != 0);
    topologies.sort();
    topologies
}

fn check(output: &Output) {
    assert!(output.out.contains("passed"), "{output:?}");
    let (printed, said) = (printed(&output.out), said(&output.said()));
    assert!(printed.iter().all(|Topology { costs, .. }| costs[1] <= costs[0]), "{printed:?}");
    assert_eq!(sorted(printed), sorted(said));
}

#[test]
fn data_arrive_where_the_topology_says_and_j_falls_as_it_is_said() {
    for mpi in Mpi::two() {
        let program = compile(&mpi, "mpicc", "tests/programs/topologies.c", &STRICT);
        let mut moves = 0;
        for &(num_ranks, seeds) in sizes(&mpi) {
            let output = run(&mpi, num_ranks, &VERBOSE, &program, &["1", seeds]);
            check(&output);
            moves +=
                printed(&output.out).iter().filter(|topology| topology.costs[1] < topology.costs[0]).count();
        }
        assert!(moves > 20, "{}: only {moves} topologies were reordered", mpi.kind);
    }
}

#[test]
fn messages_attributes_and_errors_of_the_program_are_its_own() {
    for mpi in Mpi::all() {
        let program = compile(&mpi, "mpicc", "tests/programs/corners.c", &STRICT);
        let output = run(&mpi, 4, &VERBOSE, &program, &[]);
        assert!(output.out.contains("passed"), "{output:?}");
        assert!(
            said(&output.said()).iter().filter(|topology| topology.costs == [80, 8]).count() == 3,
            "{output:?}"
        );
    }
}

#[test]
fn without_the_library_ranks_stay() {
    for mpi in Mpi::all() {
        let program = compile(&mpi, "mpicc", "tests/programs/topologies.c", &STRICT);
        // Open MPI reorders distributed graphs itself, if it can.
        let output = run_with(&mpi, 4, &["OMPI_MCA_topo=basic"], &program, &["1", "1"]);
        assert!(
            printed(&output.out).iter().all(|topology| topology.costs[0] == topology.costs[1]),
            "{output:?}"
        );
    }
}

#[test]
fn a_program_may_be_linked_to_the_library() {
    for mpi in Mpi::all() {
        let lib = installed(&mpi).join("lib");
        let (search, rpath) = (format!("-L{}", lib.display()), format!("-Wl,-rpath,{}", lib.display()));
        let options = [&STRICT[..], &[&search, &rpath, "-Wl,--no-as-needed", "-lviem_reorder"]].concat();
        let program = compile(&mpi, "mpicc", "tests/programs/topologies.c", &options);
        check(&run_with(&mpi, 4, &VERBOSE, &program, &["1", "2"]));
    }
}

/// All of the library in one program with the test, so that every access and every allocation of it is looked at.
#[test]
fn no_fault_under_sanitizers() {
    for mpi in Mpi::two() {
        installed(&mpi);
        let source = std::fs::read_dir(folder().join("src")).unwrap();
        let mut files: Vec<_> = source.map(|entry| entry.unwrap().path().display().to_string()).collect();
        files.retain(|file| file.ends_with(".c") && !file.ends_with("world.c"));
        let include = format!("-I{}", folder().join("../c/include").display());
        let own = format!("-I{}", folder().join("include").display());
        let mut options = vec!["-std=c99", "-D_GNU_SOURCE", &include, &own];
        options.extend(SANITIZED);
        options.extend(files.iter().map(String::as_str));
        let viem = libviem();
        options.extend([viem.to_str().unwrap(), "-lpthread", "-lm"]);
        let program = compile(&mpi, "mpicc", "tests/programs/topologies.c", &options);
        let log = mpi.folder.path().join("sanitizer");
        let logged = format!("ASAN_OPTIONS=exitcode=0:log_path={}", log.display());
        let variables = [&VERBOSE[..], &[logged.as_str()]].concat();
        check(&run_with(&mpi, 5, &variables, &program, &["1", "2"]));
        assert_clean(&mpi);
    }
}

/// Asserts that no log of a sanitizer reports an error, or a leak of ours. MPI may keep what it allocates for us.
fn assert_clean(mpi: &Mpi) {
    for entry in std::fs::read_dir(mpi.folder.path()).unwrap() {
        let entry = entry.unwrap();
        if !entry.file_name().to_string_lossy().starts_with("sanitizer") {
            continue;
        }
        let log = String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap()).into_owned();
        assert!(!log.contains("ERROR: AddressSanitizer"), "{log}");
        let of_mpi = |leak: &str| {
            ["libmpi", "libopen-", "mca_", "unknown module"].iter().any(|name| leak.contains(name))
        };
        let ours = log.split("\n\n").find(|leak| leak.contains("bindings/mpi/src/") && !of_mpi(leak));
        assert_eq!(ours, None, "{}", mpi.kind);
    }
}
