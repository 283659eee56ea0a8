//! Unstructured grids of VTK in its legacy format (`.vtk`), versions 2 to 5.1, as text or binary.
//!
//! Data of points and cells are not read. ("VTK file formats", legacy file formats.)

use crate::binary::{Form, Numbers};
use crate::cursor::{Cursor, Outcome, Word, append, push};
use crate::fault::{MeshFault, Stop};
use crate::format::Format;
use crate::mesh::{ElementKind, Mesh, Rows};

pub(crate) const FORMAT: Format = Format { name: "vtk", read };

/// The kind of the cells of a type of VTK.
pub(crate) fn kind(cell_type: u64) -> Option<ElementKind> {
    Some(match cell_type {
        1 | 2 => ElementKind::Point,
        3 | 4 | 21 | 35 | 68 | 75 => ElementKind::Line,
        5 | 22 | 34 | 69 | 76 => ElementKind::Triangle,
        8 | 9 | 23 | 28 | 30 | 70 | 77 => ElementKind::Quadrilateral,
        6 | 7 | 36 => ElementKind::Polygon,
        10 | 24 | 71 | 78 => ElementKind::Tetrahedron,
        14 | 27 | 37 | 74 | 81 => ElementKind::Pyramid,
        13 | 26 | 31 | 32 | 73 | 80 => ElementKind::Prism,
        11 | 12 | 25 | 29 | 33 | 72 | 79 => ElementKind::Hexahedron,
        15 | 16 | 41 | POLYHEDRON => ElementKind::Polyhedron,
        _ => return None,
    })
}

/// The type of a cell that is given by its faces.
pub(crate) const POLYHEDRON: u64 = 42;

/// What was read so far.
#[derive(Default)]
struct Parts {
    points: Vec<[f64; 3]>,
    cells: Rows,
    /// The place of the list of cells.
    cells_at: usize,
    types: Vec<u64>,
    types_at: usize,
}

fn read(cursor: &mut Cursor<'_>) -> Outcome<Mesh> {
    let form = header(cursor)?;
    let mut parts = Parts::default();
    while section(cursor, form, &mut parts)? {}
    let Parts { points, cells, cells_at, types, types_at } = parts;
    let malformed = |offset, reason| Stop::text(offset, MeshFault::Malformed { reason });
    if types.len() != cells.len() {
        let reason = format!("there are {} cells, but {} types of cells", cells.len(), types.len());
        return Err(malformed(types_at.max(cells_at), reason));
    }
    let mut mesh = Mesh { num_nodes: points.len(), points, ..Mesh::default() };
    for (index, &cell_type) in types.iter().enumerate() {
        let of_faces;
        let mut nodes = cells.row(index);
        if cell_type == POLYHEDRON {
            let found = nodes_of_faces(nodes);
            let reason = || format!("the faces of cell {index} do not fit its numbers");
            of_faces = found.ok_or_else(|| malformed(cells_at, reason()))?;
            nodes = &of_faces;
        }
        let kind = check(cell_type, nodes, mesh.num_nodes).map_err(|fault| Stop::text(cells_at, fault))?;
        mesh.push(kind, nodes)?;
    }
    mesh.of_highest_dimension(cells_at)
}

/// The kind of a cell of a type with these nodes, of which there are so many.
pub(crate) fn check(cell_type: u64, nodes: &[u32], num_nodes: usize) -> Result<ElementKind, MeshFault> {
    let kind = kind(cell_type).ok_or(MeshFault::UnknownType { number: cell_type })?;
    let count = nodes.len();
    if count == 0 || kind.corners().is_some_and(|corners| count < corners) {
        return Err(MeshFault::NodesOfKind { count, kind: kind.name() });
    }
    match nodes.iter().find(|&&node| node as usize >= num_nodes) {
        Some(&node) => Err(MeshFault::NoSuchNode { node: node.into() }),
        None => Ok(kind),
    }
}

/// The nodes of the faces of a polyhedron, each once: `number-of-faces, number-of-nodes nodes, ...`.
fn nodes_of_faces(stream: &[u32]) -> Option<Vec<u32>> {
    let (&faces, mut rest) = stream.split_first()?;
    let mut nodes = Vec::new();
    for _ in 0..faces {
        let (&count, behind) = rest.split_first()?;
        let (face, behind) = behind.split_at_checked(count as usize)?;
        nodes.extend_from_slice(face);
        rest = behind;
    }
    nodes.sort_unstable();
    nodes.dedup();
    rest.is_empty().then_some(nodes)
}

/// Reads the lines up to the first section.
fn header(cursor: &mut Cursor<'_>) -> Outcome<Form> {
    let (_version, _title) = (cursor.line(), cursor.line());
    let word = cursor.word();
    let form = match word.text {
        b"ASCII" => Form::Text,
        b"BINARY" => Form::BigEndian,
        _ => return Err(word.unexpected("ASCII or BINARY")),
    };
    cursor.line();
    cursor.expect("DATASET")?;
    let kind = cursor.word();
    cursor.line();
    match kind.text {
        b"UNSTRUCTURED_GRID" => Ok(form),
        b"POLYDATA" | b"STRUCTURED_GRID" | b"STRUCTURED_POINTS" | b"RECTILINEAR_GRID" | b"FIELD" => {
            let what = format!("a data set of the kind {}", String::from_utf8_lossy(kind.text));
            let hint = "save it as an unstructured grid";
            Err(Stop::text(kind.offset, MeshFault::Unsupported { what, hint }))
        }
        _ => Err(kind.unexpected("UNSTRUCTURED_GRID")),
    }
}

/// The words of the next line that is not blank.
fn words<'a>(cursor: &mut Cursor<'a>) -> Option<Vec<Word<'a>>> {
    cursor.skip_blanks();
    let line = cursor.line()?;
    let mut within = Cursor::new(line.text);
    let words = std::iter::from_fn(|| Some(within.word()).filter(|word| !word.text.is_empty()));
    Some(words.map(|word| Word { offset: line.offset + word.offset, ..word }).collect())
}

/// The word of a line at a place.
fn nth<'a>(words: &[Word<'a>], index: usize, end: usize) -> Word<'a> {
    words.get(index).copied().unwrap_or(Word { text: b"", offset: end })
}

/// Reads a section; false if the rest of the file are data of points and cells, or there is none.
fn section(cursor: &mut Cursor<'_>, form: Form, parts: &mut Parts) -> Outcome<bool> {
    let Some(words) = words(cursor) else { return Ok(false) };
    let (name, end) = (words[0], cursor.offset().saturating_sub(1));
    let number = |index: usize, what| nth(&words, index, end).whole(what, 0, u64::from(u32::MAX));
    match name.text {
        b"POINTS" => {
            let count = number(1, "the number of points")? as usize;
            points(cursor, (form, count, nth(&words, 2, end)), parts)?;
        }
        b"CELLS" => {
            parts.cells_at = name.offset;
            let (cells, size) = (number(1, "the number of cells")?, number(2, "the size of the cells")?);
            parts.cells = Rows::default();
            self::cells(cursor, form, (cells as usize, size as usize), &mut parts.cells)?;
        }
        b"CELL_TYPES" => {
            parts.types_at = name.offset;
            let count = number(1, "the number of cells")? as usize;
            let (mut numbers, count) = checked(cursor, form, count, 4, name.offset)?;
            for _ in 0..count {
                push(&mut parts.types, numbers.whole("the type of a cell", 4, 0, 255)?)?;
            }
        }
        b"FIELD" => {
            for _ in 0..number(2, "the number of arrays")? {
                skip_array(cursor, form)?;
            }
        }
        b"METADATA" => while cursor.line().is_some_and(|line| !line.text.is_empty()) {},
        b"CELL_DATA" | b"POINT_DATA" => return Ok(false),
        _ => return Err(name.unexpected("a section such as POINTS or CELLS")),
    }
    Ok(true)
}

/// Numbers of which there should be so many, each of so many bytes.
fn checked<'c, 'a>(
    cursor: &'c mut Cursor<'a>,
    form: Form,
    count: usize,
    bytes: usize,
    offset: usize,
) -> Outcome<(Numbers<'c, 'a>, usize)> {
    let bytes = if form.is_binary() { bytes } else { 1 };
    if count.saturating_mul(bytes) > cursor.rest().len() {
        let fault = MeshFault::CutOff { what: "the number of entries", count: count as u64 };
        return Err(Stop::text(offset, fault));
    }
    Ok((Numbers { cursor, form }, count))
}

fn points(
    cursor: &mut Cursor<'_>,
    (form, count, data_type): (Form, usize, Word<'_>),
    parts: &mut Parts,
) -> Outcome<()> {
    let bytes = match data_type.text {
        b"float" => 4,
        b"double" => 8,
        _ => return Err(data_type.unexpected("float or double")),
    };
    let (mut numbers, count) = checked(cursor, form, count, 3 * bytes, data_type.offset)?;
    for _ in 0..count {
        push(&mut parts.points, numbers.point(bytes)?)?;
    }
    Ok(())
}

/// Reads the points of cells: of each the number of its points and these, or, since version 5, two arrays.
fn cells(
    cursor: &mut Cursor<'_>,
    form: Form,
    (count, size): (usize, usize),
    cells: &mut Rows,
) -> Outcome<()> {
    let mut ahead = cursor.clone();
    if let Some(words) = words(&mut ahead).filter(|words| words[0].text == b"OFFSETS") {
        let bytes = size_of_type(nth(&words, 1, ahead.offset()))?;
        *cursor = ahead;
        return arrays(cursor, form, (count, size, bytes), cells);
    }
    let (mut numbers, size) = checked(cursor, form, size, 4, cursor.offset())?;
    let mut left = size as u64;
    let mut cell = Vec::new();
    for _ in 0..count {
        let length = numbers.whole("the number of points of a cell", 4, 0, left.saturating_sub(1))?;
        left -= length + 1;
        cell.clear();
        for _ in 0..length {
            cell.push(numbers.whole("a point of a cell", 4, 0, u64::from(u32::MAX))? as u32);
        }
        cells.push(&cell)?;
    }
    Ok(())
}

/// Reads the offsets of cells, one more than there are, and their points.
fn arrays(
    cursor: &mut Cursor<'_>,
    form: Form,
    (count, size, bytes): (usize, usize, usize),
    cells: &mut Rows,
) -> Outcome<()> {
    let start = cursor.offset();
    let (mut numbers, count) = checked(cursor, form, count, bytes, start)?;
    let mut offsets = Vec::new();
    for _ in 0..count {
        let least = offsets.last().copied().unwrap_or(0) as u64;
        push(&mut offsets, numbers.whole("an offset of the cells", bytes, least, size as u64)? as usize)?;
    }
    let header = words(cursor).unwrap_or_default();
    let end = cursor.offset();
    if nth(&header, 0, end).text != b"CONNECTIVITY" {
        return Err(nth(&header, 0, end).unexpected("CONNECTIVITY"));
    }
    let bytes = size_of_type(nth(&header, 1, end))?;
    let (mut numbers, size) = checked(cursor, form, size, bytes, end)?;
    let mut entries = Vec::new();
    for _ in 0..size {
        push(&mut entries, numbers.whole("a point of a cell", bytes, 0, u64::from(u32::MAX))? as u32)?;
    }
    if offsets.first().is_none_or(|&first| first > 0) || offsets.last() != Some(&entries.len()) {
        let reason = "the offsets of the cells do not run from 0 to the number of their points".to_owned();
        return Err(Stop::text(start, MeshFault::Malformed { reason }));
    }
    append(&mut cells.entries, &entries)?;
    cells.offsets = offsets;
    Ok(())
}

/// The bytes of a number of a type.
fn size_of_type(data_type: Word<'_>) -> Outcome<usize> {
    Ok(match data_type.text {
        b"char" | b"unsigned_char" | b"vtktypeint8" | b"vtktypeuint8" => 1,
        b"short" | b"unsigned_short" | b"vtktypeint16" | b"vtktypeuint16" => 2,
        b"int" | b"unsigned_int" | b"float" | b"vtktypeint32" | b"vtktypeuint32" => 4,
        b"long" | b"unsigned_long" | b"double" | b"vtktypeint64" | b"vtktypeuint64" | b"vtkIdType" => 8,
        _ => return Err(data_type.unexpected("a type of numbers such as int or double")),
    })
}

/// Passes over an array of a field: `name components tuples type`, and its numbers.
fn skip_array(cursor: &mut Cursor<'_>, form: Form) -> Outcome<()> {
    let header = words(cursor).unwrap_or_default();
    let end = cursor.offset();
    if header.first().is_some_and(|word| word.text == b"METADATA") {
        while cursor.line().is_some_and(|line| !line.text.is_empty()) {}
        return skip_array(cursor, form);
    }
    let number =
        |index: usize| nth(&header, index, end).whole("the size of an array", 0, u64::from(u32::MAX));
    let (components, tuples) = (number(1)?, number(2)?);
    let bytes = size_of_type(nth(&header, 3, end))?;
    let count = usize::try_from(components.saturating_mul(tuples)).unwrap_or(usize::MAX);
    let (mut numbers, count) = checked(cursor, form, count, bytes, end)?;
    numbers.skip(count, bytes, "an entry of an array")
}
