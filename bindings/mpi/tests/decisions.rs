//! Cases in which ranks stay, and the messages; the cache; machines that are not specified.

use std::fs;

use crate::mpi::Mpi;
use crate::reading::{printed, said};
use crate::tools::{MACHINE, Output, STRICT, compile, expect, folder, installed, libviem, run};

/// The graph of `topologies` with which all of this is tried: 5 ranks, one seed.
fn job(mpi: &Mpi, variables: &[&str]) -> Output {
    let program = compile(mpi, "mpicc", "tests/programs/topologies.c", &STRICT);
    let output = run(mpi, 5, variables, &program, &["1", "1"]);
    assert!(output.out.contains("passed"), "{output:?}");
    output
}

fn stays(output: &Output) -> bool {
    printed(&output.out).iter().all(|topology| topology.costs[0] == topology.costs[1])
}

#[test]
fn whatever_fails_is_one_line_and_ranks_stay() {
    for mpi in Mpi::two() {
        for (variables, why) in [
            (&["VIEM_MACHINE=no such machine"][..], "no such machine"),
            (&["VIEM_MACHINE=tree:1", "VIEM_DISTANCES=1"], "no processing element"),
            (&[MACHINE[0], "VIEM_DISTANCES=1:10"], "distance"),
            (
                &[MACHINE[0], MACHINE[1], "VIEM_REORDER_OBJECTIVE=busiest"],
                "VIEM_REORDER_OBJECTIVE: no objective is called `busiest`; there are J, bottleneck",
            ),
        ] {
            let output = job(&mpi, variables);
            // Communicators of one process are not looked at: 6 topologies of the whole, 6 of each part.
            let said = output.said();
            assert!(stays(&output) && !said.is_empty() && said.len() <= 18, "{output:?}");
            assert!(said.iter().all(|line| line.contains(" ranks stay: ") && line.contains(why)), "{said:?}");
        }
    }
}

#[test]
fn nothing_is_said_where_nothing_fails() {
    for mpi in Mpi::two() {
        for variables in [
            &[MACHINE[0], MACHINE[1], "VIEM_REORDER=0", "VIEM_REORDER_VERBOSE=1"][..],
            &[MACHINE[0], MACHINE[1], "VIEM_REORDER_THRESHOLD=1"],
            &["VIEM_MACHINE=complete:8"],
        ] {
            let output = job(&mpi, variables);
            assert!(stays(&output) && output.said().is_empty(), "{output:?}");
        }
    }
}

#[test]
fn every_objective_moves_ranks_and_a_higher_bottleneck_never_does() {
    for mpi in Mpi::two() {
        for objective in ["J", "bottleneck", "busiest_node", "mixed"] {
            let asked = format!("VIEM_REORDER_OBJECTIVE={objective}");
            let output = job(&mpi, &[MACHINE[0], MACHINE[1], &asked, "VIEM_REORDER_VERBOSE=1"]);
            assert!(!stays(&output), "{objective}: {output:?}");
            for line in
                output.said().into_iter().filter(|line| line.contains("the busiest link or node carries"))
            {
                let numbers: Vec<i64> = line.split([' ', ',']).filter_map(|word| word.parse().ok()).collect();
                let &[.., before, after] = &numbers[..] else { panic!("{line}") };
                let is_moved = line.contains("are reordered");
                assert!(objective == "J" || !is_moved || after <= before, "{objective}: {line}");
            }
        }
    }
}

#[test]
fn ranks_that_share_their_cores_are_reported_once_and_stay() {
    for mpi in Mpi::two() {
        let output = job(&mpi, &["VIEM_REORDER_VERBOSE=1"]);
        let said = output.said();
        assert!(stays(&output), "{output:?}");
        let binding =
            said.iter().filter(|line| line.contains("share fewer CPUs") || line.contains("not bound"));
        // None if there are enough cores and the MPI has bound the ranks to them.
        assert!(binding.count() <= 1, "{said:?}");
        assert!(said.iter().any(|line| line.ends_with("all are equally far apart")), "{said:?}");
    }
}

#[test]
fn cached_mappings_are_used_and_never_trusted() {
    for mpi in Mpi::two() {
        let cache = mpi.folder.path().join("cache");
        fs::create_dir(&cache).unwrap();
        let asked = format!("VIEM_REORDER_CACHE={}", cache.display());
        let variables = [MACHINE[0], MACHINE[1], &asked, "VIEM_REORDER_VERBOSE=1"];
        let first = job(&mpi, &variables);
        let files: Vec<_> = fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(!stays(&first) && !files.is_empty());
        let sorted = |output: &Output| {
            let mut all = said(&output.said());
            all.sort();
            all
        };
        assert_eq!(sorted(&job(&mpi, &variables)), sorted(&first));
        // Other mappings than those that were found, such that the ranks of the whole job stay: they are used.
        let identity = |len: usize| (0..len).map(|rank| format!("{rank}\n")).collect::<String>();
        let lengths: Vec<_> =
            files.iter().map(|file| fs::read_to_string(file).unwrap().lines().count()).collect();
        for (file, &length) in files.iter().zip(&lengths) {
            fs::write(file, identity(length)).unwrap();
        }
        let output = job(&mpi, &variables);
        let mut whole = output.said().into_iter().filter(|line| line.contains(" of 5 ranks: "));
        assert!(whole.all(|line| line.contains("ranks stay")), "{output:?}");
        // What is no mapping is computed again, and put right.
        for (file, &length) in files.iter().zip(&lengths) {
            fs::write(file, "0\n".repeat(length)).unwrap();
        }
        assert!(!stays(&job(&mpi, &variables)));
        assert!(files.iter().all(|file| fs::read_to_string(file).unwrap().contains('1')));
    }
}

#[test]
fn a_cache_that_cannot_be_written_is_reported() {
    for mpi in Mpi::two() {
        let output = job(
            &mpi,
            &[MACHINE[0], MACHINE[1], "VIEM_REORDER_CACHE=/no/such/folder", "VIEM_REORDER_VERBOSE=1"],
        );
        assert!(
            output.said().iter().any(|line| line.contains("; not cached: ")) && !stays(&output),
            "{output:?}"
        );
    }
}

#[test]
fn hosts_and_switches_make_the_machine() {
    for mpi in Mpi::all() {
        let program = compile(&mpi, "mpicc", "tests/programs/hosts.c", &STRICT);
        let output = run(&mpi, 8, &["VIEM_REORDER_SECONDS=5"], &program, &["switches"]);
        let words: Vec<_> = output.out.split_whitespace().collect();
        assert_eq!(&words[..4], ["8", "beside", "their", "partners:"], "{output:?}");
        // Ranks 0 to 3 communicate a little, and so do 4 to 7: they are at one switch each.
        let switch = |rank: usize| words[4 + rank].trim_start_matches('n').parse::<usize>().unwrap() % 2;
        assert!((0..4).all(|rank| switch(rank) == switch(0)), "{}: {output:?}", mpi.kind);
        assert!(run(&mpi, 8, &[], &program, &["plain"]).out.starts_with("8 beside"));
    }
}

#[test]
fn sites_and_machines_are_what_the_kernel_says() {
    // It starts no job, so one MPI will do.
    for mpi in Mpi::all().into_iter().take(1) {
        installed(&mpi);
        let at = |name: &str| folder().join(name).display().to_string();
        let (own, c) = (format!("-I{}", at("src")), format!("-I{}", at("../c/include")));
        let (files, viem) = (["site", "machine"].map(|name| at(&format!("src/{name}.c"))), libviem());
        let mut options = vec!["-std=c99", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", &own, &c];
        let libraries = [viem.to_str().unwrap(), "-lpthread", "-lm"];
        options.extend(crate::tools::SANITIZED);
        options.extend(files.iter().map(String::as_str));
        let program = mpi.compile(
            "mpicc",
            &[&options[..], &[&at("tests/programs/sites.c")], &libraries].concat(),
            "bindings/mpi/src/graph.c",
        );
        let mut command = std::process::Command::new(program);
        command.current_dir(mpi.folder.path()).env("ASAN_OPTIONS", "detect_leaks=1");
        assert_eq!(expect(&mut command).out, "passed\n");
    }
}
