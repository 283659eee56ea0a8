//! Meshes and graphs of other programs, where they are installed.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use viem_io::Source;
use viem_io::metis::{NodeWeights, read as read_graph};
use viem_mesh::{Mesh, Neighbours, read};

use crate::grid::{Grid, edges};

/// Returns whether a tool is installed; without it, a test is skipped, or fails if `VIEM_REQUIRE_TOOLS` is set.
fn has(tool: &str) -> bool {
    let has = Command::new(tool).arg("--version").output().is_ok();
    assert!(has || std::env::var_os("VIEM_REQUIRE_TOOLS").is_none(), "{tool} is not installed");
    has
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn mesh(path: &Path) -> Mesh {
    read(Source::open(path).unwrap()).unwrap()
}

const SHAPES: [&str; 3] = [
    "Cylinder(1) = {0, 0, 0, 1, 1, 2, 0.5}; Mesh.MeshSizeMax = 0.3;",
    "Disk(1) = {0, 0, 0, 1}; Mesh.MeshSizeMax = 0.2; Mesh.ElementOrder = 2;",
    "Rectangle(1) = {0, 0, 0, 1, 1}; Mesh.MeshSizeMax = 0.3; Extrude {0, 0, 1} { Surface{1}; Layers{3}; Recombine; }",
];

#[test]
fn gmsh_writes_the_same_mesh_in_all_formats() {
    if !has("gmsh") {
        return;
    }
    for shape in SHAPES {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("shape.geo"), format!("SetFactory(\"OpenCASCADE\");\n{shape}\n"))
            .unwrap();
        let dimension = if shape.starts_with("Disk") { "-2" } else { "-3" };
        let mut first = None;
        for format in ["msh22", "msh41", "vtk"] {
            for binary in ["0", "1"] {
                let mut gmsh = Command::new("gmsh");
                gmsh.current_dir(folder.path()).args([dimension, "shape.geo", "-format", format]);
                run(gmsh.args(["-setnumber", "Mesh.Binary", binary, "-o", "shape"]));
                let mesh = mesh(&folder.path().join("shape"));
                let found = (mesh.kinds(), edges(&mesh.dual(Neighbours::Faces, &[]).unwrap()));
                assert!(!mesh.left_out().is_empty() && found.1.len() >= mesh.num_elements() - 1, "{shape}");
                let centres = mesh.centres().unwrap();
                let first = first.get_or_insert((found.clone(), centres.clone()));
                assert!(found == first.0, "{shape} {format} {binary}");
                let is_near = centres
                    .points()
                    .zip(first.1.points())
                    .all(|(a, b)| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9));
                assert!(is_near, "{shape} {format} {binary}");
            }
        }
    }
}

#[test]
fn graphs_of_meshes_are_those_of_m2gmetis() {
    if !has("m2gmetis") {
        return;
    }
    let grid = Grid::new([6, 5, 4], |x, y| (x + y) % 3 == 1);
    let folder = tempfile::tempdir().unwrap();
    let mut text = format!("{}\n", grid.elements.len());
    for element in &grid.elements {
        element.iter().for_each(|node| write!(text, "{} ", node + 1).unwrap());
        text += "\n";
    }
    let path = folder.path().join("mesh");
    fs::write(&path, text).unwrap();
    let mesh = mesh(&path);
    let of_metis = |options: &[&str]| {
        run(Command::new("m2gmetis").current_dir(folder.path()).args(options).args(["mesh", "graph"]));
        edges(&read_graph(Source::open(&folder.path().join("graph")).unwrap(), NodeWeights::Ignore).unwrap())
    };
    for common in 1..=4 {
        let dual = mesh.dual(Neighbours::Common(common), &[]).unwrap();
        assert_eq!(edges(&dual), of_metis(&["-gtype=dual", &format!("-ncommon={common}")]), "{common}");
    }
    assert_eq!(edges(&mesh.dual(Neighbours::Faces, &[]).unwrap()), of_metis(&["-gtype=dual", "-ncommon=3"]));
    assert_eq!(edges(&mesh.nodal().unwrap()), of_metis(&["-gtype=nodal"]));
}
