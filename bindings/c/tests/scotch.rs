//! The library that stands in for Scotch: alone, in front of Scotch, and in Scotch's own programs.

use std::path::Path;
use std::process::Command;

use crate::dropins::{Parts, grid, linked, mean, number, with_holes};
use crate::tools::{Program, expect, has, lib};

/// Where the header of Scotch is, for integers of 32 and of 64 bits.
const HEADERS: [&str; 2] = ["-isystem/usr/include/scotch", "-isystem/usr/include/scotch-int64"];

#[test]
fn scotch_keeps_its_promises_alone() {
    if !has("scotch_gpart") {
        return;
    }
    for (library, header) in ["viem_scotch", "viem_scotch64"].into_iter().zip(HEADERS) {
        let program = linked("tests/programs/scotch.c", library, &["-DALONE", header]);
        // Scotch with integers of 32 bits is not asked by the library for 64, and that is said once.
        let mut command = program.command();
        command.env("VIEM_PRESET", "fast");
        if library == "viem_scotch64" {
            command.env("VIEM_SCOTCH", "libscotch-7.0.so");
        }
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{library}: {text}");
        for part in [
            "ERROR: SCOTCH_graphOrder: only Scotch itself does this",
            "scotch.c: ERROR: expected: text 7 8 0.25\n",
            "scotch.c: ERROR: %d %d %d %d %d %s\n",
        ] {
            assert!(text.contains(part), "{library}: {text}");
        }
        let said = text.matches("use libviem_scotch.so").count();
        assert_eq!(said, usize::from(library == "viem_scotch64"), "{text}");
    }
}

#[test]
fn scotch_keeps_its_promises_in_front_of_scotch() {
    if !has("scotch_gpart") {
        return;
    }
    let behind = ["-Wl,--no-as-needed", "-lviem_scotch", "-lscotch", "-lscotcherr", HEADERS[0]];
    let program = linked("tests/programs/scotch.c", "viem_scotch", &behind);
    expect(program.command().env("VIEM_PRESET", "fast").env("ASAN_OPTIONS", "detect_leaks=0"));
}

#[test]
fn programs_that_are_linked_to_scotch_find_the_library_under_its_name() {
    if !has("scotch_gpart") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let real =
        Path::new(&expect(Command::new("cc").arg("-print-file-name=libscotch-7.0.so")).trim().to_owned())
            .canonicalize()
            .unwrap();
    std::os::unix::fs::symlink(lib().join("libviem_scotch.so"), folder.path().join("libscotch-7.0.so"))
        .unwrap();
    for (options, behind) in [(&["-DALONE"][..], None), (&[], Some(&real))] {
        let program =
            linked("tests/programs/scotch.c", "scotch", &[options, &["-lscotcherr", HEADERS[0]]].concat());
        let mut command = program.command();
        command.env("LD_LIBRARY_PATH", folder.path()).env("VIEM_PRESET", "fast");
        command.env("ASAN_OPTIONS", "detect_leaks=0");
        behind.map(|real| command.env("VIEM_SCOTCH", real));
        expect(&mut command);
        // Without the folder, Scotch itself answers, whose bounds are others.
        assert!(!program.command().output().unwrap().status.success());
    }
}

#[test]
fn programs_of_fortran_call_scotch() {
    if !has("gfortran") {
        return;
    }
    Program::link("gfortran", "tests/programs/scotch.f90", &["-Wall", "-Werror"], "viem_scotch").run(&[]);
}

/// A folder with a mesh for METIS, the same for Scotch, and its text.
fn mesh(text: String) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mesh"), &text).unwrap();
    expect(Command::new("gcv").current_dir(folder.path()).args(["-ic", "-os", "mesh", "mesh.grf"]));
    (folder, text)
}

/// Runs a program of Scotch in a folder, itself or with viem; it writes the file `result`.
fn run(folder: &Path, program: &str, arguments: &[&str], is_own: bool) -> String {
    let mut command = Command::new(program);
    command.current_dir(folder).args(arguments);
    if is_own {
        command.env("LD_PRELOAD", lib().join("libviem_scotch.so"));
    }
    expect(&mut command);
    std::fs::read_to_string(folder.join("result")).unwrap()
}

/// The part of each vertex in a file of Scotch, whose vertices are in order.
fn parts_in(text: &str) -> Vec<usize> {
    text.lines().skip(1).map(|line| number(line.split_whitespace().nth(1).unwrap())).collect()
}

/// Fails unless each load is from 0.9 of its share to 1 + `imbalance` of it.
fn check_loads(parts: &Parts, num_parts: usize, imbalance: f64) {
    let fair = parts.of.len() as f64 / num_parts as f64;
    for part in 0..num_parts {
        let load = parts.of.iter().filter(|&&of| of == part).count() as f64;
        assert!(
            (0.9 * fair - 1.0..=(1.0 + imbalance) * fair + 1e-9).contains(&load),
            "{part}: {load} of {fair}"
        );
    }
}

#[test]
fn programs_of_scotch_partition_and_map_better() {
    if !has("scotch_gpart") {
        return;
    }
    let in_tree = |a: usize, b: usize| match (a == b, a / 4 == b / 4, a / 8 == b / 8) {
        (true, ..) => 0,
        (_, true, _) => 1,
        (.., true) => 11,
        _ => 111,
    };
    let in_mesh = |a: usize, b: usize| (a % 8).abs_diff(b % 8) + (a / 8).abs_diff(b / 8);
    let differ = |a: usize, b: usize| usize::from(a != b);
    let (mut ratios, mut meshes) = (Vec::new(), vec![mesh(grid(90, 70)), mesh(with_holes(120, 90))]);
    for (folder, text) in &mut meshes {
        let folder = folder.path();
        std::fs::write(folder.join("tree"), "tleaf 3 4 100 2 10 4 1\n").unwrap();
        std::fs::write(folder.join("grid"), "mesh2D 8 4\n").unwrap();
        for (program, arguments, distance) in [
            (
                "scotch_gpart",
                &["-b0.03", "32", "mesh.grf", "result"][..],
                &differ as &dyn Fn(usize, usize) -> usize,
            ),
            ("scotch_gmap", &["-b0.03", "mesh.grf", "tree", "result"], &in_tree),
            ("scotch_gmap", &["-b0.03", "mesh.grf", "grid", "result"], &in_mesh),
        ] {
            let [scotch, viem] = [false, true].map(|is_own| {
                let parts = Parts::new(text, parts_in(&run(folder, program, arguments, is_own)));
                if is_own {
                    check_loads(&parts, 32, 0.03);
                }
                parts.sum(distance) as f64
            });
            println!("{arguments:?}: Scotch {scotch}, viem {viem}");
            ratios.push(viem / scotch);
        }
        // Scotch itself orders.
        let mut order = parts_in(&run(folder, "gord", &["mesh.grf", "result"], true));
        order.sort_unstable();
        assert!(order.iter().copied().eq(1..=order.len()));
    }
    println!("relative to Scotch: {ratios:.3?}, mean {:.3}", mean(&ratios));
    assert!(mean(&ratios) <= 0.95, "{ratios:?}");
}
