//! Meshes of Gmsh (`.msh`), versions 2 and 4.1, as text or binary.
//!
//! Sections other than those of nodes and elements are skipped. (Gmsh reference manual, "MSH file format".)

use crate::binary::{Form, Numbers};
use crate::cursor::{Cursor, Outcome, Word, push};
use crate::fault::{MeshFault, Stop};
use crate::format::Format;
use crate::ids::{Given, Ids};
use crate::mesh::{ElementKind, Mesh};

pub(crate) const FORMAT: Format = Format { name: "gmsh", read };

/// The types of elements that Gmsh writes, their kinds and the numbers of their nodes.
const TYPES: [(u64, ElementKind, usize); 43] = {
    use ElementKind::{Hexahedron, Line, Point, Prism, Pyramid, Quadrilateral, Tetrahedron, Triangle};
    [
        (1, Line, 2),
        (2, Triangle, 3),
        (3, Quadrilateral, 4),
        (4, Tetrahedron, 4),
        (5, Hexahedron, 8),
        (6, Prism, 6),
        (7, Pyramid, 5),
        (8, Line, 3),
        (9, Triangle, 6),
        (10, Quadrilateral, 9),
        (11, Tetrahedron, 10),
        (12, Hexahedron, 27),
        (13, Prism, 18),
        (14, Pyramid, 14),
        (15, Point, 1),
        (16, Quadrilateral, 8),
        (17, Hexahedron, 20),
        (18, Prism, 15),
        (19, Pyramid, 13),
        (20, Triangle, 9),
        (21, Triangle, 10),
        (22, Triangle, 12),
        (23, Triangle, 15),
        (24, Triangle, 15),
        (25, Triangle, 21),
        (26, Line, 4),
        (27, Line, 5),
        (28, Line, 6),
        (29, Tetrahedron, 20),
        (30, Tetrahedron, 35),
        (31, Tetrahedron, 56),
        (36, Quadrilateral, 16),
        (37, Quadrilateral, 25),
        (38, Quadrilateral, 36),
        (39, Quadrilateral, 12),
        (40, Quadrilateral, 16),
        (41, Quadrilateral, 20),
        (90, Prism, 40),
        (91, Prism, 75),
        (92, Hexahedron, 64),
        (93, Hexahedron, 125),
        (118, Pyramid, 30),
        (119, Pyramid, 55),
    ]
};

/// Bytes of an `int` in binary files.
const INT: usize = 4;
const REAL: usize = 8;
const TAG: &str = "the number of a node";

/// What the first section says.
#[derive(Clone, Copy)]
struct Header {
    is_old: bool,
    form: Form,
    /// Bytes of a `size_t`.
    size: usize,
}

/// What was read so far.
#[derive(Default)]
struct Parts {
    mesh: Mesh,
    given: Given,
    ids: Option<Ids>,
}

fn read(cursor: &mut Cursor<'_>) -> Outcome<Mesh> {
    let header = header(cursor)?;
    let mut parts = Parts::default();
    loop {
        cursor.skip_blanks();
        let Some(line) = cursor.line() else { break };
        match line.text {
            b"$Nodes" => {
                nodes(cursor, header, &mut parts)?;
                cursor.expect("$EndNodes")?;
            }
            b"$Elements" => {
                if parts.ids.is_none() {
                    let found = Ids::new(&parts.given.ids)?;
                    let at = |place: usize| parts.given.offsets[place];
                    let is_binary = header.form.is_binary();
                    parts.ids = Some(found.map_err(|(place, fault)| Stop::new(is_binary, at(place), fault))?);
                }
                elements(cursor, header, &mut parts)?;
                cursor.expect("$EndElements")?;
            }
            _ => skip(cursor, line)?,
        }
    }
    let Parts { mut mesh, given, .. } = parts;
    mesh.num_nodes = given.ids.len();
    mesh.of_highest_dimension(cursor.offset())
}

fn header(cursor: &mut Cursor<'_>) -> Outcome<Header> {
    cursor.expect("$MeshFormat")?;
    let version = cursor.word();
    let is_old = version.text.starts_with(b"2");
    if !is_old && version.text != b"4.1" {
        if version.text.first().is_some_and(u8::is_ascii_digit) {
            let what = format!("version {} of the format", String::from_utf8_lossy(version.text));
            let hint = "save the mesh in version 4.1 or 2.2";
            return Err(Stop::text(version.offset, MeshFault::Unsupported { what, hint }));
        }
        return Err(version.unexpected("the version of the format"));
    }
    let is_binary = cursor.whole("the kind of the file (0 for text, 1 for binary)", 0, 1)? == 1;
    let size = cursor.whole("the size of a number", 4, 8)? as usize;
    cursor.line();
    let mut form = Form::Text;
    if is_binary {
        let offset = cursor.offset();
        let one = cursor.take(INT, "the number 1, which shows the order of bytes")?;
        form = match one {
            [1, 0, 0, 0] => Form::LittleEndian,
            [0, 0, 0, 1] => Form::BigEndian,
            _ => {
                let reason = "the order of bytes is not known: the number here is not 1".to_owned();
                return Err(Stop::binary(offset, MeshFault::Malformed { reason }));
            }
        };
    }
    cursor.expect("$EndMeshFormat")?;
    Ok(Header { is_old, form, size })
}

/// Passes over a section.
fn skip(cursor: &mut Cursor<'_>, line: Word<'_>) -> Outcome<()> {
    let name = line.text.strip_prefix(b"$").filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| line.unexpected("a section such as $Nodes"))?;
    let end = [b"$End", name].concat();
    let behind = cursor.behind_line(&end).ok_or_else(|| {
        let expected = String::from_utf8_lossy(&end[..end.len().min(40)]).escape_debug().to_string();
        Stop::text(line.offset, MeshFault::Ends { expected })
    })?;
    *cursor = cursor.at(behind);
    Ok(())
}

fn nodes(cursor: &mut Cursor<'_>, header: Header, parts: &mut Parts) -> Outcome<()> {
    let Header { is_old, form, size } = header;
    if is_old {
        let count = cursor.count("the number of nodes")?;
        cursor.line();
        let mut numbers = Numbers { cursor, form };
        for _ in 0..count {
            node(&mut numbers, INT, parts)?;
            push(&mut parts.mesh.points, numbers.point(REAL)?)?;
        }
        return Ok(());
    }
    let mut numbers = Numbers { cursor, form };
    let blocks = numbers.count("the number of blocks of nodes", size, 1)?;
    numbers.skip(3, size, "the numbers of nodes")?;
    for _ in 0..blocks {
        let dimension = numbers.whole("the dimension of a block", INT, 0, 3)? as usize;
        numbers.skip(1, INT, "the number of an entity")?;
        let is_parametric = numbers.whole("whether nodes have parameters", INT, 0, 1)? == 1;
        let count = numbers.count("the number of nodes", size, size)?;
        for _ in 0..count {
            node(&mut numbers, size, parts)?;
        }
        for _ in 0..count {
            push(&mut parts.mesh.points, numbers.point(REAL)?)?;
            numbers.skip(if is_parametric { dimension } else { 0 }, REAL, "a parameter")?;
        }
    }
    Ok(())
}

/// Reads the number of a node.
fn node(numbers: &mut Numbers<'_, '_>, bytes: usize, parts: &mut Parts) -> Outcome<()> {
    numbers.find();
    let offset = numbers.cursor.offset();
    let id = numbers.whole(TAG, bytes, 0, u64::MAX)?;
    parts.given.push(id, offset)
}

fn elements(cursor: &mut Cursor<'_>, header: Header, parts: &mut Parts) -> Outcome<()> {
    let Header { is_old, form, size } = header;
    if is_old {
        let count = cursor.count("the number of elements")?;
        cursor.line();
        let numbers = &mut Numbers { cursor, form };
        return if form.is_binary() {
            old_blocks(numbers, count, parts)
        } else {
            old_lines(numbers, count, parts)
        };
    }
    let numbers = &mut Numbers { cursor, form };
    let blocks = numbers.count("the number of blocks of elements", size, 1)?;
    numbers.skip(3, size, "the numbers of elements")?;
    for _ in 0..blocks {
        numbers.skip(2, INT, "the entity of a block")?;
        let kind = kind(numbers)?;
        let count = numbers.count("the number of elements", size, size)?;
        for _ in 0..count {
            numbers.skip(1, size, "the number of an element")?;
            element(numbers, size, kind, parts)?;
        }
    }
    Ok(())
}

/// Elements of version 2 as text: `number type number-of-tags tags nodes`.
fn old_lines(numbers: &mut Numbers<'_, '_>, count: usize, parts: &mut Parts) -> Outcome<()> {
    for _ in 0..count {
        numbers.skip(1, INT, "the number of an element")?;
        let kind = kind(numbers)?;
        let tags = numbers.count("the number of tags", INT, INT)?;
        numbers.skip(tags, INT, "a tag")?;
        element(numbers, INT, kind, parts)?;
    }
    Ok(())
}

/// Elements of version 2 in binary form: blocks of one type, each with a header.
fn old_blocks(numbers: &mut Numbers<'_, '_>, count: usize, parts: &mut Parts) -> Outcome<()> {
    let mut left = count as u64;
    while left > 0 {
        let kind = kind(numbers)?;
        let of_block = numbers.whole("the number of elements of a block", INT, 1, left)?;
        let tags = numbers.count("the number of tags", INT, INT)?;
        for _ in 0..of_block {
            numbers.skip(1 + tags, INT, "the number and the tags of an element")?;
            element(numbers, INT, kind, parts)?;
        }
        left -= of_block;
    }
    Ok(())
}

/// Reads the type of elements.
fn kind(numbers: &mut Numbers<'_, '_>) -> Outcome<(ElementKind, usize)> {
    numbers.find();
    let offset = numbers.cursor.offset();
    let number = numbers.whole("the type of elements", INT, 0, u64::from(u32::MAX))?;
    let known = TYPES.iter().find(|&&(other, _, _)| other == number);
    let unknown = || Stop::new(numbers.form.is_binary(), offset, MeshFault::UnknownType { number });
    known.map(|&(_, kind, nodes)| (kind, nodes)).ok_or_else(unknown)
}

/// Reads the nodes of an element.
fn element(
    numbers: &mut Numbers<'_, '_>,
    bytes: usize,
    (kind, count): (ElementKind, usize),
    parts: &mut Parts,
) -> Outcome<()> {
    const MOST: usize = 125;
    let mut nodes = [0; MOST];
    let ids = parts.ids.as_ref();
    for entry in &mut nodes[..count] {
        numbers.find();
        let offset = numbers.cursor.offset();
        let node = numbers.whole(TAG, bytes, 0, u64::MAX)?;
        let missing = || Stop::new(numbers.form.is_binary(), offset, MeshFault::NoSuchNode { node });
        *entry = ids.and_then(|ids| ids.get(node)).ok_or_else(missing)?;
    }
    parts.mesh.push(kind, &nodes[..count])
}
