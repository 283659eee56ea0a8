//! The library that stands in for PT-Scotch, with Debian's PT-Scotch behind it: called directly, and by Zoltan.

use std::path::Path;

use crate::mpi::{Mpi, skipped};
use crate::tools::{STRICT, made, run_with};

#[test]
fn graphs_are_divided_in_the_same_way_on_any_number_of_ranks() {
    if !Path::new("/usr/include/scotch/ptscotch.h").exists() {
        skipped("PT-Scotch is not installed");
        return;
    }
    // Debian's PT-Scotch is for its Open MPI.
    for mpi in Mpi::all().iter().filter(|mpi| mpi.kind == "openmpi") {
        let library = made(mpi, "install_ptscotch").join("lib/libviem_ptscotch.so");
        let linked =
            ["-isystem/usr/include/scotch", "-Wl,--no-as-needed", "-lptscotch", "-lscotch", "-lptscotcherr"];
        let program =
            mpi.compile("mpicc", &[&STRICT[..], &linked].concat(), "bindings/mpi/tests/programs/ptscotch.c");
        let preload = format!("LD_PRELOAD={}", library.display());
        let run = |ranks, arguments: &[&str]| {
            run_with(mpi, ranks, &[&preload, "VIEM_PRESET=fast"], &program, arguments).out
        };
        let first = run(1, &[]);
        let costs: Vec<u32> = first.split_whitespace().map(|cost| cost.parse().unwrap()).collect();
        // Straight cuts into 4 x 4, 1 x 3 and 1 x 7 parts cost 324, 96 and 288 edges; PT-Scotch maps to no tree on several ranks.
        assert!(costs[0] <= 360 && costs[2] <= 96 && costs[3] <= 200 && costs[1] <= 6600, "{first}");
        assert_eq!([run(2, &[]), run(3, &["empty"])], [first.clone(), first]);
        let misfit = [&preload, "VIEM_MACHINE=4:4", "VIEM_DISTANCES=1:10"];
        let said = run_with(mpi, 2, &misfit, &program, &[]).err;
        assert_eq!(said.matches("viem: VIEM_MACHINE has 16 PEs, but ").count(), 1, "{said}");
    }
}

#[test]
fn zoltan_divides_graphs_in_the_same_way_on_any_number_of_ranks() {
    if !Path::new("/usr/include/trilinos/zoltan.h").exists() {
        skipped("Zoltan is not installed");
        return;
    }
    // Debian's Zoltan is for its Open MPI.
    for mpi in Mpi::all().iter().filter(|mpi| mpi.kind == "openmpi") {
        let preload =
            format!("LD_PRELOAD={}", made(mpi, "install_ptscotch").join("lib/libviem_ptscotch.so").display());
        let linked = ["-isystem/usr/include/trilinos", "-Wl,--no-as-needed", "-ltrilinos_zoltan"];
        let program =
            mpi.compile("mpicc", &[&STRICT[..], &linked].concat(), "bindings/mpi/tests/programs/zoltan.c");
        // Straight cuts into 4 x 2 and 6 x 5 parts cost 460 and 980 edges.
        for (parts, most) in [("8", 460), ("30", 1060)] {
            let run = |ranks| run_with(mpi, ranks, &[&preload, "VIEM_PRESET=fast"], &program, &[parts]).out;
            let first = run(1);
            assert!(first.trim().parse::<u32>().unwrap() <= most, "{parts}: {first}");
            assert_eq!([run(2), run(4)], [first.clone(), first]);
        }
    }
}
