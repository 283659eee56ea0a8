//! Meshes as inputs of the verbs.

use std::fs;

use crate::common::{Folder, says};

/// A row of hexahedra in version 2.2 of Gmsh, with two quadrilaterals of its boundary.
fn row(length: usize) -> String {
    let mut text = format!("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{}\n", 4 * (length + 1));
    for node in 0..4 * (length + 1) {
        text += &format!("{} {} {} {}\n", node + 1, node / 4, node % 4 / 2, node % 2);
    }
    text += &format!("$EndNodes\n$Elements\n{}\n1 3 2 1 1 1 2 4 3\n", length + 1);
    for cell in 0..length {
        let corners = [0, 1, 3, 2, 4, 5, 7, 6].map(|corner| (4 * cell + corner + 1).to_string());
        text += &format!("{} 5 2 1 1 {}\n", cell + 2, corners.join(" "));
    }
    text + "$EndElements\n"
}

/// The same row as a case of OpenFOAM.
fn case(folder: &Folder, length: usize) {
    let list = |class: &str, entries: Vec<String>| {
        let header = format!("FoamFile\n{{\n    format ascii;\n    class {class};\n}}\n");
        format!("{header}{}\n(\n{}\n)\n", entries.len(), entries.join("\n"))
    };
    let inner = (1..length).map(|x| ([0, 1, 3, 2].map(|corner| 4 * x + corner), x - 1, Some(x)));
    let ends = [0, length].map(|x| ([0, 1, 3, 2].map(|corner| 4 * x + corner), x.saturating_sub(1), None));
    let sides = (0..length).flat_map(|x| {
        let face = move |corners: [usize; 4]| (corners.map(|corner| 4 * x + corner), x, None);
        [[0, 1, 5, 4], [1, 3, 7, 5], [3, 2, 6, 7], [2, 0, 4, 6]].map(face)
    });
    let faces: Vec<_> = inner.chain(ends).chain(sides).collect();
    let text = |corners: &[usize; 4]| format!("4({})", corners.map(|corner| corner.to_string()).join(" "));
    let points = (0..4 * (length + 1)).map(|node| format!("({} {} {})", node / 4, node % 4 / 2, node % 2));
    fs::create_dir_all(folder.file("case/constant/polyMesh")).unwrap();
    for (name, content) in [
        ("faces", list("faceList", faces.iter().map(|(corners, ..)| text(corners)).collect())),
        ("owner", list("labelList", faces.iter().map(|(_, owner, _)| owner.to_string()).collect())),
        (
            "neighbour",
            list("labelList", faces.iter().filter_map(|face| face.2).map(|it| it.to_string()).collect()),
        ),
        ("points", list("vectorField", points.collect())),
    ] {
        folder.write(&format!("case/constant/polyMesh/{name}"), content);
    }
}

#[test]
fn every_verb_of_graphs_reads_meshes() {
    let folder = Folder::new();
    folder.write("row.msh", row(12));
    case(&folder, 12);
    for mesh in ["row.msh", "case"] {
        says(
            &folder.stdout(format!("viem check {mesh}")),
            [
                &format!("{mesh} is a mesh: 12 hexahedra; neighbours share a face")[..],
                "is valid: 12 vertices, 11 edges",
            ],
        );
        folder.stdout(format!("viem convert {mesh} -o {mesh}.graph"));
        says(&folder.stdout(format!("viem check {mesh}.graph")), ["is valid: 12 vertices, 11 edges"]);
        says(&folder.stdout(format!("viem partition {mesh} -k 4 -o parts --verify")), ["cut", "verified"]);
        assert_eq!(folder.numbers("parts").len(), 12);
        let machine = "-m 2:2 -d 1:10";
        says(&folder.stdout(format!("viem map {mesh} {machine} -o places --verify")), ["verified: J"]);
        let [of_mesh, of_graph] = [mesh.to_owned(), format!("{mesh}.graph")].map(|file| {
            let text = folder.stdout(format!("viem score {file} places {machine}"));
            text.lines().filter(|line| !line.starts_with(mesh)).map(str::to_owned).collect::<Vec<_>>()
        });
        assert_eq!(of_mesh, of_graph);
        folder.stdout(format!("viem remap {mesh} parts -k 5 --migration-weight=1 -o more --verify"));
        folder.stdout(format!("viem remap {mesh} places {machine} --migration-weight=1 -o moved --verify"));
        // One element on each PE.
        folder.stdout(format!("viem map {mesh} -m complete:12 -o one --verify"));
    }
    says(&folder.stdout("viem check row.msh"), ["left out: 1 quadrilateral"]);
}

#[test]
fn meshes_have_coordinates() {
    let folder = Folder::new();
    folder.write("row.msh", row(12));
    for algorithm in ["rcb", "hilbert", "zcurve"] {
        folder.stdout(format!("viem partition row.msh -k 3 --algorithm={algorithm} -o parts"));
        let mut parts = folder.numbers("parts");
        assert!(parts.is_sorted() || parts.iter().rev().is_sorted(), "{algorithm}: {parts:?}");
        parts.dedup();
        assert_eq!(parts.len(), 3, "{algorithm}");
    }
    folder.stdout("viem map row.msh -m 3:2 -d 1:10 --construction=rcb -o places");
    folder.stdout("viem partition row.msh -k 3 --picture=parts.svg -o parts");
    assert!(folder.read("parts.svg").contains("<svg"));
    folder.stdout("viem convert row.msh -o row.graph");
    let needs = "needs the coordinates of the vertices";
    folder.fails("viem partition row.graph -k 3 --algorithm=rcb -o parts", 2, needs);
    folder.fails("viem partition row.graph -k 3 --picture=parts.svg -o parts", 2, needs);
    folder.fails("viem map row.graph -m 3:2 -d 1:10 --construction=rcb", 2, "needs the coordinates");
}

#[test]
fn openfoam_gets_its_file_and_its_dictionary() {
    let folder = Folder::new();
    case(&folder, 12);
    for command in
        ["partition case -k 4", "map case -m 2:2 -d 1:10", "remap case old -k 4 --migration-weight=1"]
    {
        folder.write_lines("old", (0..12).map(|cell| cell / 6));
        let text = folder.stdout(format!("viem {command} -o case/constant/cellDecomposition --verify"));
        says(
            &text,
            ["numberOfSubdomains 4;", "method manual;", "dataFile \"cellDecomposition\";", "verified"],
        );
        let written = folder.read("case/constant/cellDecomposition");
        let (header, list) = written.split_once("\n12\n(\n").expect("a list of twelve");
        says(header, ["class       labelList;", "object      cellDecomposition;"]);
        assert_eq!(list.lines().filter(|line| line.parse::<u32>().is_ok_and(|part| part < 4)).count(), 12);
    }
    // Under another name, the usual lines.
    let text = folder.stdout("viem partition case -k 4 -o parts");
    assert!(!text.contains("manual"), "{text}");
    assert_eq!(folder.numbers("parts").len(), 12);
}

#[test]
fn options_of_meshes_are_for_meshes() {
    let folder = Folder::new();
    folder.write("row.msh", row(3));
    folder.write("graph", "2 1\n2\n1\n");
    for option in ["--common=2", "--nodal", "--element-weights=hexahedron=2"] {
        folder.fails(format!("viem partition graph -k 2 {option}"), 2, "is for meshes; leave it out");
        folder.fails(format!("viem convert graph -o other {option}"), 2, "is for meshes; leave it out");
    }
    says(&folder.stdout("viem convert row.msh --nodal -o nodes"), ["16 vertices"]);
    folder.stdout("viem convert row.msh --element-weights=hexahedron=7 -o weighed");
    assert_eq!(folder.read("weighed"), "3 2 10\n7 2\n7 1 3\n7 2\n");
    folder.fails("viem convert row.msh --element-weights=cube=7 -o weighed", 2, "hexahedron");
    let unused = folder.stderr("viem convert row.msh --element-weights=prism=7 -o weighed");
    says(&unused, ["row.msh has no prisms"]);
    says(&folder.stderr("viem convert row.msh --common=9 -o apart"), ["no two elements are neighbours"]);
    folder.fails("viem check row.msh --fix=fixed", 2, "not meshes");
}

#[test]
fn faults_of_meshes_have_their_places() {
    let folder = Folder::new();
    folder.write("row.msh", row(3).replace("5 2 1 1 1 2 4 3", "5 2 1 1 1 2 99 3"));
    folder.fails("viem partition row.msh -k 2", 65, "row.msh, line 26, column 15: there is no node 99");
    folder.fails("viem check row.msh", 65, "there is no node 99");
    fs::create_dir(folder.file("empty")).unwrap();
    folder.fails("viem partition empty -k 2", 66, "without a mesh of OpenFOAM");
    case(&folder, 3);
    fs::remove_file(folder.file("case/constant/polyMesh/faces")).unwrap();
    folder.fails("viem partition case -k 2", 66, "faces: cannot be read");
    folder.write("case/constant/polyMesh/faces", "FoamFile { format binary; class faceList; }\n9");
    folder.fails("viem partition case -k 2", 65, "faces, ");
    let message = folder.fails("viem partition case/constant/polyMesh/owner -k 2", 65, "a file of OpenFOAM");
    says(&message, ["line 1"]);
}

/// A row of quadrilaterals in METIS format: each takes time 1, and those of the first half memory.
#[test]
fn all_weights_of_elements_are_balanced() {
    let folder = Folder::new();
    let element = |at: usize| {
        let [a, b] = [2 * at + 1, 2 * at + 2];
        format!("1 {} {a} {b} {} {}", if at < 32 { 5 } else { 0 }, b + 2, a + 2)
    };
    folder.write_lines("row.mesh", std::iter::once("64 2".to_owned()).chain((0..64).map(element)));
    let text = folder.stdout("viem partition row.mesh -k 4 --imbalance=0 --verify --json=report -o blocks");
    says(&text, ["row.mesh is a mesh: 64 quadrilaterals", "verified: so are the loads by all 2 weights"]);
    let blocks = folder.numbers("blocks");
    for block in 0..4 {
        let own: Vec<usize> = (0..64).filter(|&at| blocks[at] == block).collect();
        assert_eq!((own.len(), own.iter().filter(|&&at| at < 32).count()), (16, 8), "{blocks:?}");
    }
    assert_eq!(folder.report("report")["loads_by_weight"][1]["bound"], 40);
    let mapped =
        "viem map row.mesh -m 2:2 -d 1:10 --imbalance=0,none --node-capacity=none --node-capacity=50,120";
    folder.stdout(format!("{mapped} -o mapping --verify"));
    let on_first = folder.numbers("mapping")[..32].iter().filter(|&&pe| pe < 2).count();
    assert!((8..=10).contains(&on_first), "{on_first}");
    // What the user says of the elements counts more than the file.
    let one = folder.stdout("viem partition row.mesh -k 4 --element-weights=quadrilateral=3 -o blocks");
    assert!(!one.contains("weight 2"), "{one}");
}
