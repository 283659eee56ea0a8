//! The libraries that stand in for METIS and KaHIP: alone, and in programs that were linked to METIS.

use std::path::Path;
use std::process::Command;

use crate::programs::SANITIZED;
use crate::tools::{Program, STRICT, expect, folder, has, lib};

/// A program in C under sanitizers, linked to one of the libraries.
fn linked(source: &str, library: &str, options: &[&str]) -> Program {
    Program::link("cc", source, &[&STRICT[..], &["-std=c99"], &SANITIZED[..], options].concat(), library)
}

#[test]
fn metis_keeps_its_promises() {
    let program = linked("tests/programs/metis.c", "viem_metis", &[]);
    expect(program.command().env("VIEM_METIS", "/no/such/library"));
    if has("gpmetis") {
        program.run(&["installed"]);
    }
}

#[test]
fn metis_of_64_bits_keeps_its_promises() {
    // METIS with integers of 32 bits may be installed: it is not asked.
    linked("tests/programs/metis.c", "viem_metis64", &["-DIDX64"]).run(&[]);
}

#[test]
fn kahip_keeps_its_promises() {
    linked("tests/programs/kahip.c", "viem_kahip", &[]).run(&[]);
}

/// Returns the output of a program with METIS, and with the library in its place.
fn both(command: impl Fn() -> Command) -> [String; 2] {
    let mut replaced = command();
    replaced.env("LD_PRELOAD", lib().join("libviem_metis.so"));
    [expect(&mut command()), expect(&mut replaced)]
}

/// A grid as a METIS file.
fn grid(width: usize, height: usize) -> String {
    let mut text = format!("{} {}\n", width * height, (width - 1) * height + width * (height - 1));
    for v in 1..=width * height {
        let (x, y) = ((v - 1) % width, (v - 1) / width);
        let near = [
            (y > 0, v.wrapping_sub(width)),
            (x > 0, v - 1),
            (x + 1 < width, v + 1),
            (y + 1 < height, v + width),
        ];
        let near = near.iter().filter(|(exists, _)| *exists).map(|(_, other)| other.to_string());
        text += &(near.collect::<Vec<_>>().join(" ") + "\n");
    }
    text
}

/// The number after a text.
fn number_after(text: &str, label: &str) -> f64 {
    let rest = text.split_once(label).unwrap_or_else(|| panic!("no {label} in {text}")).1.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    rest[..end].trim_end_matches('.').parse().unwrap()
}

#[test]
fn gpmetis_partitions_better_within_the_same_balance() {
    if !has("gpmetis") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("grid"), grid(200, 150)).unwrap();
    let gpmetis = |options: &[&str]| {
        let mut command = Command::new("gpmetis");
        command.current_dir(folder.path()).arg("-nooutput").args(options);
        command
    };
    // The bounds are those that `gpmetis` asks for. It counts cut, volume and loads itself.
    for (options, label, bound) in [
        (&["grid", "8"][..], "Edgecut:", 1.031),
        (&["-ptype=rb", "grid", "32"], "Edgecut:", 1.002),
        (&["-contig", "grid", "24"], "Edgecut:", 1.031),
        (&["-ufactor=100", "grid", "64"], "Edgecut:", 1.101),
        (&["-objtype=vol", "grid", "16"], "communication volume:", 1.031),
    ] {
        let [metis, viem] = both(|| gpmetis(options)).map(|text| {
            assert!(!options.contains(&"-contig") || text.contains("Each partition is contiguous"), "{text}");
            (number_after(&text, label), number_after(&text, "constraint #0:"))
        });
        assert!(viem.0 < metis.0 && viem.1 <= bound, "{options:?}: {metis:?}, {viem:?}");
    }
}

#[test]
fn several_constraints_are_passed_to_metis() {
    if !has("gpmetis") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let graph = grid(20, 20).replacen('\n', " 010 2\n", 1);
    let (header, rows) = graph.split_once('\n').unwrap();
    let rows: Vec<String> = rows.lines().map(|row| format!("1 2 {row}")).collect();
    std::fs::write(folder.path().join("two"), format!("{header}\n{}\n", rows.join("\n"))).unwrap();
    let gpmetis = || {
        let mut command = Command::new("gpmetis");
        command.current_dir(folder.path()).args(["-nooutput", "two", "4"]);
        command
    };
    let [metis, viem] = both(gpmetis);
    let cut = |text: &str| number_after(text, "Edgecut:");
    assert!(cut(&viem) <= 1.5 * cut(&metis), "{viem}");
}

#[test]
fn mpmetis_and_ndmetis_work() {
    if !has("mpmetis") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // Hexahedra in a block of 12 x 12 x 12.
    let at = |x: usize, y: usize, z: usize| 1 + x + 13 * (y + 13 * z);
    let cells = (0..12 * 12 * 12).map(|cell| (cell % 12, cell / 12 % 12, cell / 144));
    let corner =
        |bits: [usize; 3], (x, y, z): (usize, usize, usize)| at(x + bits[0], y + bits[1], z + bits[2]);
    let corners = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]];
    let line = |cell| corners.map(|bits| corner(bits, cell).to_string()).join(" ");
    let mesh = format!("{}\n{}\n", 12 * 12 * 12, cells.map(line).collect::<Vec<_>>().join("\n"));
    std::fs::write(folder.path().join("mesh"), mesh).unwrap();
    std::fs::write(folder.path().join("grid"), grid(30, 30)).unwrap();
    let command = |program: &str, options: &[&str]| {
        let mut command = Command::new(program);
        command.current_dir(folder.path()).args(options);
        command
    };
    for (options, label) in [
        (&["-gtype=dual", "-ncommon=4", "-nooutput", "mesh", "8"][..], "Edgecut:"),
        (&["-gtype=nodal", "-nooutput", "mesh", "8"], "Edgecut:"),
        (&["-objtype=vol", "-nooutput", "mesh", "8"], "olume:"),
    ] {
        let [metis, viem] = both(|| command("mpmetis", options)).map(|text| number_after(&text, label));
        assert!(viem > 0.0 && viem <= 1.02 * metis, "{options:?}: {metis} {viem}");
    }
    // Orders of vertices come from METIS itself.
    let [metis, viem] =
        both(|| command("ndmetis", &["-nooutput", "grid"])).map(|text| number_after(&text, "Nonzeros:"));
    assert_eq!(metis, viem);
}

/// A mesh that gmsh makes in the same way each time.
struct Shape {
    geometry: &'static str,
    dimension: usize,
    parts: usize,
}

const SHAPES: [Shape; 5] = [
    Shape { geometry: "Box(1) = {0, 0, 0, 1, 1, 1}; Mesh.MeshSizeMax = 0.07;", dimension: 3, parts: 8 },
    Shape { geometry: "Sphere(1) = {0, 0, 0, 1}; Mesh.MeshSizeMax = 0.15;", dimension: 3, parts: 16 },
    Shape { geometry: "Torus(1) = {0, 0, 0, 2, 0.5}; Mesh.MeshSizeMax = 0.2;", dimension: 3, parts: 12 },
    Shape { geometry: "Rectangle(1) = {0, 0, 0, 3, 1}; Mesh.MeshSizeMax = 0.02;", dimension: 2, parts: 24 },
    Shape { geometry: "Disk(1) = {0, 0, 0, 1}; Mesh.MeshSizeMax = 0.02;", dimension: 2, parts: 7 },
];

/// Reads the record of the last call that the witness has written: the cut edges, and the greatest load relative to its bound.
fn witnessed(path: &Path) -> (f64, f64) {
    let text = std::fs::read_to_string(path).unwrap();
    let numbers: Vec<f64> = text.split_whitespace().map(|number| number.parse().unwrap()).collect();
    assert_eq!(numbers.len(), 2, "one call: {text}");
    (numbers[0], numbers[1])
}

#[test]
fn gmsh_partitions_better_within_the_same_balance() {
    if !has("gmsh") {
        return;
    }
    let own = tempfile::tempdir().unwrap();
    let witness = own.path().join("witness.so");
    let mut compiler = Command::new("cc");
    compiler.args(STRICT).args(["-shared", "-fPIC", "-Wno-pedantic", "-o"]).arg(&witness);
    expect(compiler.arg(folder().join("tests/programs/witness.c")).arg("-ldl"));
    // A link with the name of METIS, which gmsh is linked to, is found before METIS itself.
    std::os::unix::fs::symlink(lib().join("libviem_metis.so"), own.path().join("libmetis.so.5")).unwrap();
    let mut ratios = Vec::new();
    for Shape { geometry, dimension, parts } in SHAPES {
        let folder = tempfile::tempdir().unwrap();
        let geometry = format!("SetFactory(\"OpenCASCADE\");\n{geometry}\n");
        std::fs::write(folder.path().join("shape.geo"), &geometry).unwrap();
        let [metis, viem] = ["", "viem"].map(|library| {
            let mut gmsh = Command::new("gmsh");
            gmsh.current_dir(folder.path()).arg(format!("-{dimension}")).arg("shape.geo");
            gmsh.args(["-part", &parts.to_string(), "-format", "msh41", "-o", "shape.msh"]);
            let written = folder.path().join(format!("witness{library}"));
            gmsh.env("LD_PRELOAD", &witness);
            if !library.is_empty() {
                gmsh.env("LD_LIBRARY_PATH", own.path());
            }
            expect(gmsh.env("WITNESS", &written));
            let mesh = std::fs::read_to_string(folder.path().join("shape.msh")).unwrap();
            assert!(mesh.contains("$PartitionedEntities"), "{geometry}");
            witnessed(&written)
        });
        assert!(viem.1 <= 1.0, "{geometry}: METIS {metis:?}, viem {viem:?}");
        ratios.push(viem.0 / metis.0);
    }
    let mean = ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64;
    println!("cuts relative to METIS: {ratios:.3?}, mean {:.3}", mean.exp());
    assert!(mean.exp() <= 0.95, "{ratios:?}");
}
