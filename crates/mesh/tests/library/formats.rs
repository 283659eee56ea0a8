//! The same mesh in each kind of file.

use std::fs;

use viem_io::Source;
use viem_mesh::{
    ElementKind, Format, Mesh, Neighbours, read, read_decomposition, read_folder, write_decomposition,
};

use crate::grid::{Grid, edges};
use crate::written;

fn grid() -> Grid {
    Grid::new([3, 2, 2], |x, y| (x + y) % 2 == 1)
}

fn check(name: &str, mesh: &Mesh, grid: &Grid) {
    assert_eq!(mesh.num_elements(), grid.elements.len(), "{name}");
    let dual = mesh.dual(Neighbours::Faces, &[]).unwrap();
    assert_eq!(edges(&dual), grid.edges(), "{name}");
    let weights = [(ElementKind::Prism, 5)];
    let weighed = mesh.dual(Neighbours::Faces, &weights).unwrap();
    let expected: Vec<i64> = grid.elements.iter().map(|nodes| if nodes.len() == 6 { 5 } else { 1 }).collect();
    assert_eq!(weighed.node_weights(), expected, "{name}");
    if name == "metis" {
        assert_eq!(mesh.centres(), None);
        return;
    }
    let centres = mesh.centres().expect("the file has coordinates");
    for (element, nodes) in grid.elements.iter().enumerate() {
        let mean = |axis: usize| {
            nodes.iter().map(|&node| grid.points[node as usize][axis]).sum::<f64>() / nodes.len() as f64
        };
        for (axis, &value) in centres.point(element as u32).iter().enumerate() {
            assert!((value - mean(axis)).abs() < 1e-12, "{name}: {element}");
        }
    }
}

#[test]
fn each_kind_of_file_has_the_same_mesh() {
    let grid = grid();
    for file in written::all(&grid) {
        let start = &file.bytes[..file.bytes.len().min(Source::START)];
        let format = Format::recognise(start).unwrap_or_else(|| panic!("{} is not recognised", file.name));
        assert!(file.name.starts_with(format.name()), "{}", file.name);
        for bytes in [file.bytes.clone(), written::packed(&file.bytes)] {
            let mesh = read(Source::new(file.name, &bytes[..]).unwrap()).unwrap();
            check(file.name, &mesh, &grid);
            let left_out: usize = mesh.left_out().iter().map(|(_, count)| count).sum();
            assert_eq!(left_out, if file.name == "metis" { 0 } else { grid.boundary.len() }, "{}", file.name);
        }
    }
}

#[test]
fn a_case_of_openfoam_is_a_folder() {
    let grid = grid();
    for (is_binary, is_packed, inner) in [
        (false, false, "constant/polyMesh"),
        (true, false, "polyMesh"),
        (false, true, ""),
        (true, true, "polyMesh"),
    ] {
        let case = tempfile::tempdir().unwrap();
        let folder = case.path().join(inner);
        fs::create_dir_all(&folder).unwrap();
        for (name, bytes) in written::foam(&grid, is_binary) {
            let (name, bytes) = if is_packed {
                (format!("{name}.gz"), written::packed(&bytes))
            } else {
                (name.to_owned(), bytes)
            };
            fs::write(folder.join(name), bytes).unwrap();
        }
        let mesh = read_folder(case.path()).unwrap();
        let name = format!("openfoam, binary: {is_binary}, packed: {is_packed}");
        check(&name, &mesh, &grid);
        assert_eq!(
            mesh.kinds().iter().map(|(kind, _)| *kind).collect::<Vec<_>>(),
            [ElementKind::Prism, ElementKind::Hexahedron]
        );
        fs::remove_file(folder.join(if is_packed { "faces.gz" } else { "faces" })).unwrap();
        assert!(read_folder(case.path()).unwrap_err().to_string().contains("faces: cannot be read"));
    }
    let empty = tempfile::tempdir().unwrap();
    assert!(read_folder(empty.path()).unwrap_err().to_string().contains("without a mesh of OpenFOAM"));
}

#[test]
fn a_decomposition_is_read_as_it_was_written() {
    for parts in [vec![], vec![3], vec![0, 2, 1, 1, 0]] {
        let mut written = Vec::new();
        write_decomposition(&mut written, &parts).unwrap();
        let read = read_decomposition(Source::new("parts", &written[..]).unwrap()).unwrap();
        assert_eq!(read, Some(parts));
    }
    assert_eq!(read_decomposition(Source::new("parts", &b"0\n1\n"[..]).unwrap()).unwrap(), None);
}

#[test]
fn meshes_of_metis_have_kinds_by_their_nodes() {
    let kinds = |text: &str| read(Source::new("mesh", text.as_bytes()).unwrap()).unwrap().kinds();
    // Two quadrilaterals with a common edge, two tetrahedra with a common triangle.
    assert_eq!(kinds("2\n1 2 3 4\n3 4 5 6\n"), [(ElementKind::Quadrilateral, 2)]);
    assert_eq!(kinds("2\n1 2 3 4\n2 3 4 5\n"), [(ElementKind::Tetrahedron, 2)]);
    assert_eq!(
        kinds("3\n1 2 3 4\n3 4 5 6\n5 6 7\n"),
        [(ElementKind::Triangle, 1), (ElementKind::Quadrilateral, 2)]
    );
}

#[test]
fn weights_of_metis_are_those_of_elements() {
    let format = Format::ALL.into_iter().find(|format| format.name() == "metis").unwrap();
    let mesh = format.read(Source::new("mesh", &b"2 2\n5 1 1 2 3\n7 1 2 3 4\n"[..]).unwrap()).unwrap();
    assert_eq!(mesh.dual(Neighbours::Faces, &[]).unwrap().node_weights(), [5, 7]);
    let weights = [(ElementKind::Triangle, 2)];
    assert_eq!(mesh.dual(Neighbours::Faces, &weights).unwrap().node_weights(), [2, 2]);
    assert_eq!(mesh.several_weights().unwrap().values(), [5, 1, 7, 1]);
    let one = format.read(Source::new("mesh", &b"2 1\n5 1 2 3\n7 2 3 4\n"[..]).unwrap()).unwrap();
    assert_eq!(one.several_weights(), None);
    let heavy = &b"% heavy\n2 2\n5 9223372036854775807 1 2 3\n7 1 2 3 4\n"[..];
    let error = format.read(Source::new("heavy", heavy).unwrap()).unwrap_err();
    assert!(error.to_string().starts_with("heavy, line 2, column 1: the sum of weight 1"), "{error}");
}
