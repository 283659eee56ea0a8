//! Grids as files of all kinds.

use std::fmt::Write as _;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};

use crate::grid::Grid;

/// A file of a kind.
pub struct Written {
    pub name: &'static str,
    pub bytes: Vec<u8>,
}

/// A grid in each kind of file.
pub fn all(grid: &Grid) -> Vec<Written> {
    let file = |name, bytes: Vec<u8>| Written { name, bytes };
    let mut files = vec![file("metis", metis(grid).into_bytes())];
    for (name, is_old, is_binary) in [
        ("gmsh 2.2 text", true, false),
        ("gmsh 2.2 binary", true, true),
        ("gmsh 4.1 text", false, false),
        ("gmsh 4.1 binary", false, true),
    ] {
        files.push(file(name, gmsh(grid, is_old, is_binary)));
    }
    for (name, is_old, is_binary) in [
        ("vtk 3 text", true, false),
        ("vtk 3 binary", true, true),
        ("vtk 5 text", false, false),
        ("vtk 5 binary", false, true),
    ] {
        files.push(file(name, vtk(grid, is_old, is_binary)));
    }
    for (name, form) in [
        ("vtu text", Form::Text),
        ("vtu base 64", Form::Base64 { is_packed: false }),
        ("vtu packed", Form::Base64 { is_packed: true }),
        ("vtu appended", Form::Appended { is_packed: false, is_base64: false }),
        ("vtu appended packed", Form::Appended { is_packed: true, is_base64: false }),
        ("vtu appended base 64", Form::Appended { is_packed: true, is_base64: true }),
    ] {
        files.push(file(name, vtu(grid, form)));
    }
    files
}

fn metis(grid: &Grid) -> String {
    let mut text = format!("% a grid\n{}\n", grid.elements.len());
    for element in &grid.elements {
        text += &element.iter().map(|node| (node + 1).to_string()).collect::<Vec<_>>().join(" ");
        text += "\n";
    }
    text
}

/// The elements and those of the boundary, which come first as Gmsh has them, with their types in Gmsh and in VTK.
fn cells(grid: &Grid) -> Vec<(u32, u32, &[u32])> {
    let types = |nodes: &[u32]| match nodes.len() {
        3 => (2, 5),
        4 => (3, 9),
        6 => (6, 13),
        8 => (5, 12),
        _ => unreachable!("these are all"),
    };
    let cells = grid.boundary.iter().chain(&grid.elements);
    cells.map(|nodes| (types(nodes).0, types(nodes).1, nodes.as_slice())).collect()
}

/// The number of a node in files of Gmsh, which need not be in a row.
fn tag(node: u32) -> u32 {
    7 + 3 * node
}

fn gmsh(grid: &Grid, is_old: bool, is_binary: bool) -> Vec<u8> {
    let mut out = Sink { bytes: Vec::new(), is_binary, is_big: false };
    let version = if is_old { "2.2" } else { "4.1" };
    out.text(&format!("$MeshFormat\n{version} {} 8\n", u8::from(is_binary)));
    if is_binary {
        out.whole(4, 1);
        out.text("\n");
    }
    out.text("$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"all of it\"\n$EndPhysicalNames\n$Nodes\n");
    if is_old {
        old_gmsh(grid, &mut out)
    } else {
        new_gmsh(grid, &mut out)
    }
    out.text("$NodeData\n1\n\"nothing\"\n$EndNodeData\n");
    out.bytes
}

fn old_gmsh(grid: &Grid, out: &mut Sink) {
    out.text(&format!("{}\n", grid.points.len()));
    for (node, point) in grid.points.iter().enumerate() {
        out.whole(4, u64::from(tag(node as u32)));
        point.iter().for_each(|&value| out.real(value));
        out.end();
    }
    let cells = cells(grid);
    out.text(&format!("\n$EndNodes\n$Elements\n{}\n", cells.len()));
    for (index, (of_gmsh, _, nodes)) in cells.into_iter().enumerate() {
        // In binary files, a block of one element each.
        let header = if is_text(out) {
            vec![index as u64 + 1, of_gmsh.into(), 2, 1, 1]
        } else {
            vec![of_gmsh.into(), 1, 2, index as u64 + 1, 1, 1]
        };
        header
            .into_iter()
            .chain(nodes.iter().map(|&node| tag(node).into()))
            .for_each(|number| out.whole(4, number));
        out.end();
    }
    out.text("\n$EndElements\n");
}

fn is_text(out: &Sink) -> bool {
    !out.is_binary
}

fn new_gmsh(grid: &Grid, out: &mut Sink) {
    let count = grid.points.len();
    // Two blocks, of which the first is parametric.
    let cut = count / 3;
    [2, count as u64, 1, 10_000].into_iter().for_each(|number| out.whole(8, number));
    out.end();
    for (range, is_parametric) in [(0..cut, true), (cut..count, false)] {
        [2, 1, is_parametric.into()].into_iter().for_each(|number| out.whole(4, number));
        out.whole(8, range.len() as u64);
        out.end();
        for node in range.clone() {
            out.whole(8, tag(node as u32).into());
            out.end();
        }
        for node in range {
            grid.points[node].iter().for_each(|&value| out.real(value));
            if is_parametric {
                [0.5, -0.5].into_iter().for_each(|value| out.real(value));
            }
            out.end();
        }
    }
    out.text("\n$EndNodes\n$Elements\n");
    let cells = cells(grid);
    [cells.len() as u64, cells.len() as u64, 1, 10_000].into_iter().for_each(|number| out.whole(8, number));
    out.end();
    for (index, (of_gmsh, _, nodes)) in cells.into_iter().enumerate() {
        [3, 1, of_gmsh.into()].into_iter().for_each(|number| out.whole(4, number));
        out.whole(8, 1);
        out.end();
        out.whole(8, index as u64 + 1);
        nodes.iter().for_each(|&node| out.whole(8, tag(node).into()));
        out.end();
    }
    out.text("\n$EndElements\n");
}

fn vtk(grid: &Grid, is_old: bool, is_binary: bool) -> Vec<u8> {
    let mut out = Sink { bytes: Vec::new(), is_binary, is_big: true };
    let (version, form) = (if is_old { "3.0" } else { "5.1" }, if is_binary { "BINARY" } else { "ASCII" });
    out.text(&format!("# vtk DataFile Version {version}\na grid\n{form}\nDATASET UNSTRUCTURED_GRID\n"));
    out.text("FIELD FieldData 1\ntime 1 1 double\n");
    out.real(0.5);
    out.text(&format!("\nPOINTS {} double\n", grid.points.len()));
    grid.points.iter().flatten().for_each(|&value| out.real(value));
    out.text("\nMETADATA\nINFORMATION 0\n\n");
    let cells = cells(grid);
    let size: usize = cells.iter().map(|(_, _, nodes)| nodes.len()).sum();
    if is_old {
        out.text(&format!("CELLS {} {}\n", cells.len(), size + cells.len()));
        for (_, _, nodes) in &cells {
            out.whole(4, nodes.len() as u64);
            nodes.iter().for_each(|&node| out.whole(4, node.into()));
            out.end();
        }
    } else {
        out.text(&format!("CELLS {} {size}\nOFFSETS vtktypeint64\n", cells.len() + 1));
        out.whole(8, 0);
        ends(&cells).into_iter().for_each(|end| out.whole(8, end));
        out.text("\nCONNECTIVITY vtktypeint64\n");
        cells.iter().flat_map(|(_, _, nodes)| nodes.iter()).for_each(|&node| out.whole(8, node.into()));
    }
    out.text(&format!("\nCELL_TYPES {}\n", cells.len()));
    cells.iter().for_each(|&(_, of_vtk, _)| out.whole(4, of_vtk.into()));
    out.text(&format!("\nCELL_DATA {}\nwhatever this is", cells.len()));
    out.bytes
}

fn ends(cells: &[(u32, u32, &[u32])]) -> Vec<u64> {
    let lengths = cells.iter().map(|(_, _, nodes)| nodes.len() as u64);
    lengths
        .scan(0, |sum, length| {
            *sum += length;
            Some(*sum)
        })
        .collect()
}

/// How the arrays of a file in XML are written.
#[derive(Clone, Copy)]
enum Form {
    Text,
    Base64 { is_packed: bool },
    Appended { is_packed: bool, is_base64: bool },
}

fn vtu(grid: &Grid, form: Form) -> Vec<u8> {
    let cells = cells(grid);
    let is_packed = matches!(form, Form::Base64 { is_packed: true } | Form::Appended { is_packed: true, .. });
    let mut text = "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\"".to_owned();
    text += if is_packed { " compressor=\"vtkZLibDataCompressor\">\n" } else { ">\n" };
    let mut appended = Vec::new();
    write!(
        text,
        "<UnstructuredGrid>\n<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n",
        grid.points.len(),
        cells.len()
    )
    .unwrap();
    text += "<PointData><DataArray type=\"String\" Name=\"unread\"/></PointData>\n<Points>\n";
    let points = grid.points.iter().flatten().map(|&value| Number::Real(value));
    array(
        &mut text,
        &mut appended,
        form,
        "type=\"Float64\" Name=\"Points\" NumberOfComponents=\"3\"",
        points.collect(),
    );
    text += "</Points>\n<Cells>\n";
    let nodes =
        cells.iter().flat_map(|(_, _, nodes)| nodes.iter()).map(|&node| Number::Whole(8, node.into()));
    array(&mut text, &mut appended, form, "type=\"Int64\" Name=\"connectivity\"", nodes.collect());
    let ends = ends(&cells).into_iter().map(|end| Number::Whole(4, end)).collect();
    array(&mut text, &mut appended, form, "type=\"Int32\" Name=\"offsets\"", ends);
    let types = cells.iter().map(|&(_, of_vtk, _)| Number::Whole(1, of_vtk.into())).collect();
    array(&mut text, &mut appended, form, "type=\"UInt8\" Name=\"types\"", types);
    text += "</Cells>\n</Piece>\n</UnstructuredGrid>\n";
    if let Form::Appended { is_base64, .. } = form {
        writeln!(text, "<AppendedData encoding=\"{}\">\n _", if is_base64 { "base64" } else { "raw" })
            .unwrap();
        text.pop();
        return [text.as_bytes(), &appended, b"\n</AppendedData>\n</VTKFile>\n"].concat();
    }
    (text + "</VTKFile>\n").into_bytes()
}

enum Number {
    Real(f64),
    Whole(usize, u64),
}

fn array(text: &mut String, appended: &mut Vec<u8>, form: Form, attributes: &str, numbers: Vec<Number>) {
    let mut bytes = Sink { bytes: Vec::new(), is_binary: !matches!(form, Form::Text), is_big: false };
    for number in numbers {
        match number {
            Number::Real(value) => bytes.real(value),
            Number::Whole(size, value) => bytes.whole(size, value),
        }
    }
    let bytes = bytes.bytes;
    match form {
        Form::Text => {
            let content = String::from_utf8(bytes).unwrap();
            writeln!(text, "<DataArray {attributes} format=\"ascii\">\n{content}</DataArray>").unwrap();
        }
        Form::Base64 { is_packed } => {
            let content: String = encoded(&bytes, is_packed).iter().map(|part| base64(part)).collect();
            writeln!(text, "<DataArray {attributes} format=\"binary\">\n  {content}\n</DataArray>").unwrap();
        }
        Form::Appended { is_packed, is_base64 } => {
            writeln!(text, "<DataArray {attributes} format=\"appended\" offset=\"{}\"/>", appended.len())
                .unwrap();
            for part in encoded(&bytes, is_packed) {
                if is_base64 { appended.extend(base64(&part).bytes()) } else { appended.extend(part) }
            }
        }
    }
}

/// The parts of an array that are encoded by themselves.
fn encoded(bytes: &[u8], is_packed: bool) -> Vec<Vec<u8>> {
    let length = |length: usize| (length as u64).to_le_bytes();
    if !is_packed {
        return vec![[&length(bytes.len())[..], bytes].concat()];
    }
    const BLOCK: usize = 100;
    let blocks: Vec<Vec<u8>> = bytes
        .chunks(BLOCK)
        .map(|block| {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(block).unwrap();
            encoder.finish().unwrap()
        })
        .collect();
    let lengths = [blocks.len(), BLOCK, bytes.len() % BLOCK].into_iter().chain(blocks.iter().map(Vec::len));
    vec![lengths.flat_map(length).collect(), blocks.concat()]
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let number = (0..3).fold(0u32, |number, i| number << 8 | u32::from(*group.get(i).unwrap_or(&0)));
        for place in 0..4 {
            let digit = DIGITS[(number >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= group.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

/// Numbers as text or binary.
struct Sink {
    bytes: Vec<u8>,
    is_binary: bool,
    is_big: bool,
}

impl Sink {
    fn text(&mut self, text: &str) {
        self.bytes.extend(text.bytes());
    }

    fn whole(&mut self, size: usize, number: u64) {
        if !self.is_binary {
            return self.text(&format!("{number} "));
        }
        match self.is_big {
            true => self.bytes.extend(&number.to_be_bytes()[8 - size..]),
            false => self.bytes.extend(&number.to_le_bytes()[..size]),
        }
    }

    fn real(&mut self, number: f64) {
        match (self.is_binary, self.is_big) {
            (false, _) => self.text(&format!("{number:?} ")),
            (true, true) => self.bytes.extend(number.to_be_bytes()),
            (true, false) => self.bytes.extend(number.to_le_bytes()),
        }
    }

    /// The end of a line, which binary files do not have.
    fn end(&mut self) {
        if !self.is_binary {
            self.text("\n");
        }
    }
}

/// The files of a case of OpenFOAM, by their names.
pub fn foam(grid: &Grid, is_binary: bool) -> Vec<(&'static str, Vec<u8>)> {
    let (mut faces, mut outer) = (Vec::new(), Vec::new());
    for (face, cells) in grid.sides().into_values() {
        if cells.len() == 2 { faces.push((face, cells)) } else { outer.push((face, cells)) }
    }
    let num_inner = faces.len();
    faces.extend(outer);
    let header = |class: &str, object: &str| {
        let form = if is_binary { "binary" } else { "ascii" };
        format!(
            "/*--- C++ ---*\\\n \\*---*/\nFoamFile\n{{\n    version 2.0;\n    format {form};\n    arch \"LSB;label=32;scalar=64\";\n    class {class};\n    note \"nFaces: 7; x\";\n    object {object}; // this file\n}}\n// * * //\n\n"
        )
    };
    let list = |numbers: &[u32]| {
        let mut out = Sink { bytes: Vec::new(), is_binary, is_big: false };
        out.text(&format!("{}\n(", numbers.len()));
        numbers.iter().for_each(|&number| out.whole(4, number.into()));
        out.text(")\n");
        out.bytes
    };
    let labels =
        |object: &str, numbers: Vec<u32>| [header("labelList", object).into_bytes(), list(&numbers)].concat();
    let mut points = Sink { bytes: header("vectorField", "points").into_bytes(), is_binary, is_big: false };
    points.text(&format!("{}\n(", grid.points.len()));
    for point in &grid.points {
        if !is_binary {
            points.text("(")
        }
        point.iter().for_each(|&value| points.real(value));
        if !is_binary {
            points.text(")\n")
        }
    }
    points.text(")\n");
    let of_faces = if is_binary {
        let ends = faces.iter().scan(0, |sum, (face, _)| {
            *sum += face.len() as u32;
            Some(*sum)
        });
        let offsets: Vec<u32> = [0].into_iter().chain(ends).collect();
        let nodes: Vec<u32> = faces.iter().flat_map(|(face, _)| face.clone()).collect();
        [header("faceCompactList", "faces").into_bytes(), list(&offsets), list(&nodes)].concat()
    } else {
        let mut text = header("faceList", "faces") + &format!("{}\n(\n", faces.len());
        for (face, _) in &faces {
            let nodes = face.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
            writeln!(text, "{}({nodes})", face.len()).unwrap();
        }
        (text + ")\n").into_bytes()
    };
    vec![
        ("owner", labels("owner", faces.iter().map(|(_, cells)| cells[0]).collect())),
        ("neighbour", labels("neighbour", faces[..num_inner].iter().map(|(_, cells)| cells[1]).collect())),
        ("points", points.bytes),
        ("faces", of_faces),
    ]
}

pub fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
