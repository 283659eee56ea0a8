//! Files that are cut or changed: an error with its place, or a mesh, and never a panic.

use std::fs;

use proptest::prelude::*;
use viem_io::{ReadError, Source};
use viem_mesh::{Format, Mesh, Neighbours, read_folder};

use crate::grid::Grid;
use crate::written;

fn is_placed(result: &Result<Mesh, ReadError>, name: &str) {
    match result {
        Ok(mesh) => {
            for neighbours in [Neighbours::Faces, Neighbours::Common(1)] {
                let dual = mesh.dual(neighbours, &[]).unwrap();
                assert_eq!(dual.num_nodes(), mesh.num_elements(), "{name}");
            }
            assert_eq!(mesh.nodal().unwrap().num_nodes(), mesh.num_nodes(), "{name}");
            let _ = (mesh.centres(), mesh.points());
        }
        Err(ReadError::Invalid { line, column, kind, .. }) => {
            assert!(*line > 0 && *column > 0 && !kind.to_string().is_empty(), "{name}");
        }
        Err(ReadError::InvalidBytes { kind, .. }) => assert!(!kind.to_string().is_empty(), "{name}"),
        Err(error) => panic!("{name}: {error}"),
    }
}

/// Some bytes with changes: a place, and what is there instead; or the file is cut there.
fn changed(bytes: &[u8], changes: &[(usize, Option<u8>)]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for &(place, byte) in changes {
        let place = place % bytes.len().max(1);
        match byte {
            Some(byte) if !bytes.is_empty() => bytes[place] = byte,
            _ => bytes.truncate(place),
        }
    }
    bytes
}

fn change() -> impl Strategy<Value = (usize, Option<u8>)> {
    let byte = prop_oneof![any::<u8>(), prop::sample::select(b"0129 -.(){}\n<>$\xff".to_vec())];
    (any::<usize>(), prop::option::weighted(0.9, byte))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_file_of_a_mesh_leads_to_a_panic(changes in prop::collection::vec(change(), 1..4)) {
        let grid = Grid::new([2, 1, 1], |x, _| x == 1);
        for file in written::all(&grid) {
            let bytes = changed(&file.bytes, &changes);
            let format = Format::ALL.into_iter().find(|format| file.name.starts_with(format.name())).unwrap();
            is_placed(&format.read(Source::new(file.name, &bytes[..]).unwrap()), file.name);
        }
    }

    #[test]
    fn no_case_leads_to_a_panic(which in 0usize..4, is_binary: bool, changes in prop::collection::vec(change(), 1..4)) {
        let grid = Grid::new([2, 1, 1], |x, _| x == 1);
        let case = tempfile::tempdir().unwrap();
        for (index, (name, bytes)) in written::foam(&grid, is_binary).into_iter().enumerate() {
            let bytes = if index == which { changed(&bytes, &changes) } else { bytes };
            fs::write(case.path().join(name), bytes).unwrap();
        }
        is_placed(&read_folder(case.path()), "openfoam");
    }
}

#[test]
fn every_file_may_be_cut_anywhere() {
    let grid = Grid::new([1, 1, 1], |_, _| true);
    for file in written::all(&grid) {
        let format = Format::ALL.into_iter().find(|format| file.name.starts_with(format.name())).unwrap();
        for length in 0..file.bytes.len() {
            is_placed(&format.read(Source::new(file.name, &file.bytes[..length]).unwrap()), file.name);
        }
    }
}

#[test]
fn faults_have_their_places() {
    for (text, line, column, part) in [
        ("3\n1 2 3\n2 x 4\n", 3, 3, "expected a node, found `x`"),
        ("2\n1 2 3\n", 3, 1, "ends where an element should be"),
        ("1\n1 2 0\n", 2, 5, "a node is 0"),
        ("1\n1 2 3\n\n4\n", 4, 1, "expected the end of the file"),
        ("1\n1 2 2000000000\n", 2, 5, "far beyond"),
    ] {
        let error = Format::ALL[0].read(Source::new("mesh", text.as_bytes()).unwrap()).unwrap_err();
        let place = format!("mesh, line {line}, column {column}: ");
        let error = error.to_string();
        assert!(error.starts_with(&place) && error.contains(part), "{text:?}: {error}");
    }
    let gmsh = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n5 0 0 0\n$EndNodes\n$Elements\n1\n1 15 0 5\n$EndElements\n";
    for (text, part) in [
        (gmsh.replace("15 0 5", "15 0 6"), "line 10, column 8: there is no node 6"),
        (gmsh.replace("1 15 0", "1 99 0"), "line 10, column 3: elements of type 99 are not known"),
        (gmsh.replace("5 0 0 0", "5 0 nan 0"), "line 6, column 5: expected a coordinate, found `nan`"),
        (gmsh.replace("2.2", "1"), "line 2, column 1: version 1 of the format is not read"),
        (gmsh.replace("$EndElements", ""), "ends where $EndElements should be"),
        (gmsh.replace("\n1\n5", "\n999999\n5"), "for which the file is too short"),
    ] {
        let error = viem_mesh::read(Source::new("mesh", text.as_bytes()).unwrap()).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}
