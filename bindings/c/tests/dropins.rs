//! The libraries that stand in for METIS and KaHIP: alone, and in programs that were linked to METIS.

use std::path::Path;
use std::process::Command;

use crate::programs::SANITIZED;
use crate::tools::{Program, STRICT, expect, folder, has, lib};

/// A program in C under sanitizers, linked to one of the libraries.
pub fn linked(source: &str, library: &str, options: &[&str]) -> Program {
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
    for (library, options) in [("viem_kahip", &[][..]), ("viem_kahip64", &["-DIDX64"])] {
        linked("tests/programs/kahip.c", library, options).run(&[]);
    }
}

/// Returns the output of a program with METIS, and with the library in its place.
fn both(command: impl Fn() -> Command) -> [String; 2] {
    let mut replaced = command();
    replaced.env("LD_PRELOAD", lib().join("libviem_metis.so"));
    [expect(&mut command()), expect(&mut replaced)]
}

/// A grid as a METIS file.
pub fn grid(width: usize, height: usize) -> String {
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

pub fn number(text: &str) -> usize {
    text.parse().unwrap()
}

/// The geometric mean.
pub fn mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp()
}

/// The part of each vertex, as `gpmetis` writes it, and the edges of its graph.
pub struct Parts {
    edges: Vec<(usize, usize)>,
    pub of: Vec<usize>,
}

impl Parts {
    fn read(folder: &Path, graph: &str, num_parts: usize) -> Self {
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        let of = read(&format!("{graph}.part.{num_parts}")).lines().map(number).collect();
        Self::new(&read(graph), of)
    }

    /// Those of a graph in the format of METIS.
    pub fn new(graph: &str, of: Vec<usize>) -> Self {
        let rows = graph.lines().filter(|line| !line.starts_with('%')).skip(1).enumerate();
        let row = |(u, line): (usize, &str)| {
            line.split_whitespace().map(|v| (u, number(v) - 1)).filter(|(u, v)| u < v).collect::<Vec<_>>()
        };
        Self { edges: rows.flat_map(row).collect(), of }
    }

    /// The sum of a distance over the edges.
    pub fn sum(&self, distance: impl Fn(usize, usize) -> usize) -> usize {
        self.edges.iter().map(|&(u, v)| distance(self.of[u], self.of[v])).sum()
    }

    /// The edges between groups of so many parts with successive numbers.
    fn between_groups(&self, size: usize) -> usize {
        self.sum(|a, b| usize::from(a / size != b / size))
    }
}

#[test]
fn recursive_bisection_gives_near_parts_near_numbers() {
    if !has("gpmetis") {
        return;
    }
    let own = tempfile::tempdir().unwrap();
    std::fs::write(own.path().join("mesh"), with_holes(160, 120)).unwrap();
    let (mut groups, mut cuts) = (Vec::new(), Vec::new());
    for (num_parts, size) in [(32, 8), (64, 16), (128, 16), (48, 16), (30, 6), (22, 11)] {
        let run = |method: &str, is_own: bool| {
            let mut gpmetis = Command::new("gpmetis");
            gpmetis.current_dir(own.path()).args([method, "mesh", &num_parts.to_string()]);
            if is_own {
                gpmetis.env("LD_PRELOAD", lib().join("libviem_metis.so"));
            }
            expect(&mut gpmetis);
            let parts = Parts::read(own.path(), "mesh", num_parts);
            (parts.between_groups(size) as f64, parts.between_groups(1) as f64)
        };
        let (metis, viem) = (run("-ptype=rb", false), run("-ptype=rb", true));
        println!("{num_parts} parts: METIS {metis:?}, viem {viem:?}");
        groups.push(viem.0 / metis.0);
        cuts.push(viem.1 / metis.1);
    }
    println!(
        "between groups {groups:.3?}, mean {:.3}; cuts {cuts:.3?}, mean {:.3}",
        mean(&groups),
        mean(&cuts)
    );
    assert!(mean(&groups) <= 0.9 && mean(&cuts) <= 0.92, "{groups:?}, {cuts:?}");
}

/// A triangulated grid from which three of ten vertices are taken, as a METIS file.
pub fn with_holes(width: usize, height: usize) -> String {
    let mut state = 12_345u64;
    let is_kept: Vec<bool> = (0..width * height)
        .map(|_| {
            state = (state * 1_103_515_245 + 12_345) % (1 << 31);
            (state >> 16) % 10 < 7
        })
        .collect();
    let numbers: Vec<usize> = is_kept
        .iter()
        .scan(0, |count, &kept| {
            *count += usize::from(kept);
            Some(*count)
        })
        .collect();
    let near = |v: usize| {
        let (x, y) = ((v % width) as isize, (v / width) as isize);
        let steps = [(-1, -1), (0, -1), (-1, 0), (1, 0), (0, 1), (1, 1)];
        let near = steps.map(|(right, down)| (x + right, y + down));
        let is_inside =
            |&(x, y): &(isize, isize)| (0..width as isize).contains(&x) && (0..height as isize).contains(&y);
        let near = near.into_iter().filter(is_inside).map(|(x, y)| x as usize + y as usize * width);
        near.filter(|&u| is_kept[u]).map(|u| numbers[u]).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<usize>> = (0..width * height).filter(|&v| is_kept[v]).map(near).collect();
    let mut text = format!("{} {}\n", rows.len(), rows.iter().map(Vec::len).sum::<usize>() / 2);
    for row in rows {
        text += &(row.iter().map(usize::to_string).collect::<Vec<_>>().join(" ") + "\n");
    }
    text
}

#[test]
fn parts_are_mapped_to_the_machine_of_the_environment() {
    if !has("gpmetis") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("grid"), grid(60, 50)).unwrap();
    let gpmetis = |num_parts: usize, options: &[&str], machine: Option<(&str, &str)>| {
        let mut command = Command::new("gpmetis");
        command.current_dir(folder.path()).args(options).args(["grid", &num_parts.to_string()]);
        command.env("LD_PRELOAD", lib().join("libviem_metis.so"));
        if let Some((machine, distances)) = machine {
            command.env("VIEM_MACHINE", machine).env("VIEM_DISTANCES", distances);
        }
        let output = command.output().unwrap();
        assert!(output.status.success());
        (Parts::read(folder.path(), "grid", num_parts), String::from_utf8(output.stderr).unwrap())
    };
    let on_mesh = |a: usize, b: usize| (a % 8).abs_diff(b % 8) + (a / 8).abs_diff(b / 8);
    let on_tree = |a: usize, b: usize| match (a == b, a / 4 == b / 4, a / 8 == b / 8) {
        (true, ..) => 0,
        (_, true, _) => 1,
        (.., true) => 10,
        _ => 100,
    };
    for options in [&[][..], &["-ptype=rb"], &["-objtype=vol"]] {
        let machines =
            [("mesh:8x4", "1", &on_mesh as &dyn Fn(usize, usize) -> usize), ("4:2:4", "1:10:100", &on_tree)];
        for (machine, distances, distance) in machines {
            let (plain, silent) = gpmetis(32, options, None);
            let (mapped, said) = gpmetis(32, options, Some((machine, distances)));
            assert_eq!((silent.as_str(), said.as_str()), ("", ""), "{machine}");
            let (plain, mapped) = (plain.sum(distance), mapped.sum(distance));
            // Parts of recursive bisection are near each other on many machines anyway: about as near as can be.
            let share = if options == ["-ptype=rb"] { 1.02 } else { 0.9 };
            assert!(mapped as f64 <= share * plain as f64, "{machine}, {options:?}: {plain}, {mapped}");
        }
    }
    for (machine, part) in [
        ("mesh:4x4", "VIEM_MACHINE has 16 PEs, but 8 parts are asked for"),
        ("mesh:4y", "VIEM_MACHINE=mesh:4y: "),
    ] {
        let (mapped, said) = gpmetis(8, &[], Some((machine, "1")));
        assert!(said.contains(part) && said.lines().count() == 1, "{said}");
        assert_eq!(mapped.of, gpmetis(8, &[], None).0.of);
    }
}

#[test]
fn kahip_maps_to_the_machine_of_the_environment() {
    const SIDE: usize = 24;
    let program = linked("tests/programs/kahip_grid.c", "viem_kahip", &[]);
    let parts = |machine: &str| {
        let output = expect(program.command().env("VIEM_MACHINE", machine).env("VIEM_DISTANCES", "1"));
        output.lines().map(|line| line.parse::<usize>().unwrap()).collect::<Vec<_>>()
    };
    let right = (0..SIDE * SIDE).filter(|v| v % SIDE + 1 < SIDE).map(|v| (v, v + 1));
    let edges: Vec<(usize, usize)> = right.chain((SIDE..SIDE * SIDE).map(|v| (v - SIDE, v))).collect();
    let on_line = |parts: &[usize]| edges.iter().map(|&(u, v)| parts[u].abs_diff(parts[v])).sum::<usize>();
    let (plain, mapped, other) = (parts(""), parts("mesh:8"), parts("mesh:9"));
    assert!(10 * on_line(&mapped) <= 9 * on_line(&plain), "{} {}", on_line(&mapped), on_line(&plain));
    assert_eq!(plain, other);
}

#[test]
fn several_constraints_are_balanced_in_place_of_metis() {
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
    println!("cuts relative to METIS: {ratios:.3?}, mean {:.3}", mean(&ratios));
    assert!(mean(&ratios) <= 0.95, "{ratios:?}");
}
