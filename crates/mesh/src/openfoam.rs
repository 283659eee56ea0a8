//! Meshes of OpenFOAM: a folder with the points, the faces, and the cells on either side of each face.
//!
//! A file begins with a dictionary that says whether what follows is text or binary, and of what widths numbers are. Each may be packed with gzip.
//! (OpenFOAM user guide, "Mesh description"; the program's `IOobject` and `List`.)

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::binary::{Form, Numbers};
use crate::cursor::{Cursor, Outcome, Word, parse, push};
use crate::fault::{MeshFault, Stop};
use crate::mesh::{ElementKind, Mesh, Rows};
use viem::base::text::counted;
use viem::base::types::BlockId;
use viem_io::{ReadError, Source};

/// The word with which its files begin.
const START: &str = "FoamFile";

/// Returns the folder of the mesh if a path is that, or that of a case.
fn folder(path: &Path) -> Option<PathBuf> {
    let folders = ["", "polyMesh", "constant/polyMesh"];
    folders.iter().map(|inner| path.join(inner)).find(|folder| file(folder, "owner").is_file())
}

/// The file of a name, or the packed one.
fn file(folder: &Path, name: &str) -> PathBuf {
    let plain = folder.join(name);
    let packed = folder.join(format!("{name}.gz"));
    if !plain.is_file() && packed.is_file() { packed } else { plain }
}

/// Returns whether a path is the folder of a mesh, or that of a case that has one.
pub fn is_mesh_folder(path: &Path) -> bool {
    folder(path).is_some()
}

/// Reads the mesh in a folder, or in that of a case. O(files).
pub fn read_folder(path: &Path) -> Result<Mesh, ReadError> {
    let folder = folder(path).ok_or_else(|| {
        let message = "it is a folder without a mesh of OpenFOAM (constant/polyMesh)";
        let source = io::Error::new(io::ErrorKind::NotFound, message);
        ReadError::Unreadable { file: path.display().to_string(), source }
    })?;
    let open = |name: &str| Source::open(&file(&folder, name));
    let owner = parse(open("owner")?, |cursor| labels(cursor, u32::MAX - 2))?;
    let neighbour = parse(open("neighbour")?, |cursor| neighbours(cursor, &owner))?;
    let points = parse(open("points")?, points)?;
    let faces = parse(open("faces")?, |cursor| faces(cursor, (owner.len(), points.len())))?;
    let num_cells = num_cells(&owner, &neighbour);
    let mesh = cells((&owner, &neighbour), num_cells, &faces).map(|(elements, kinds)| {
        let inner = owner.iter().copied().zip(neighbour.iter().copied()).filter(|(one, other)| one != other);
        let inner = inner.map(|(one, other)| (one.min(other), one.max(other))).collect();
        Mesh { elements, kinds, num_nodes: points.len(), points, faces: Some(inner), ..Mesh::default() }
    });
    mesh.map_err(|stop| stop.of_file(folder.display().to_string(), &[]))
}

/// The number of cells on either side of the faces.
fn num_cells(owner: &[u32], neighbour: &[u32]) -> usize {
    owner.iter().chain(neighbour).max().map_or(0, |&cell| cell as usize + 1)
}

/// Reads the second cell of each inner face.
fn neighbours(cursor: &mut Cursor<'_>, owner: &[u32]) -> Outcome<Vec<u32>> {
    let offset = cursor.offset();
    let malformed = |reason| Err(Stop::text(offset, MeshFault::Malformed { reason }));
    let neighbour = labels(cursor, u32::MAX - 2)?;
    let (inner, all) = (neighbour.len(), owner.len());
    let cells = num_cells(owner, &neighbour);
    if inner > all {
        return malformed(format!("{inner} neighbours are more than the faces, which have {all} owners"));
    }
    // Cells are numbered without gaps.
    if cells > inner + all {
        return malformed(format!("{cells} cells are more than {} have", counted(all, "face", "faces")));
    }
    if cells == 0 { Err(Stop::text(offset, MeshFault::NoElements)) } else { Ok(neighbour) }
}

/// The nodes of each cell in ascending order, and its kind, which the numbers of its faces and nodes show.
fn cells(
    (owner, neighbour): (&[u32], &[u32]),
    num_cells: usize,
    faces: &Rows,
) -> Outcome<(Rows, Vec<ElementKind>)> {
    let mut sides = Rows::default();
    for (face, &own) in owner.iter().enumerate() {
        let both = [own, neighbour.get(face).copied().unwrap_or(own)];
        sides.push(if both[0] == both[1] { &both[..1] } else { &both })?;
    }
    let faces_of = sides.transposed(num_cells)?;
    let (mut elements, mut kinds) = (Rows::default(), Vec::new());
    let mut nodes = Vec::new();
    for cell in 0..num_cells {
        let of_cell = faces_of.row(cell);
        nodes.clear();
        nodes.extend(of_cell.iter().flat_map(|&face| faces.row(face as usize)));
        nodes.sort_unstable();
        nodes.dedup();
        elements.push(&nodes)?;
        push(
            &mut kinds,
            match (of_cell.len(), nodes.len()) {
                (4, 4) => ElementKind::Tetrahedron,
                (5, 5) => ElementKind::Pyramid,
                (5, 6) => ElementKind::Prism,
                (6, 8) => ElementKind::Hexahedron,
                _ => ElementKind::Polyhedron,
            },
        )?;
    }
    Ok((elements, kinds))
}

/// What the dictionary of a file says.
struct Header {
    form: Form,
    /// Bytes of whole numbers and of others in a binary file.
    label: usize,
    scalar: usize,
    is_compact: bool,
}

/// Skips blanks and comments.
fn skip(cursor: &mut Cursor<'_>) {
    loop {
        cursor.skip_blanks();
        let rest = cursor.rest();
        if rest.starts_with(b"//") {
            cursor.line();
        } else if rest.starts_with(b"/*") {
            let end = rest[2..].windows(2).position(|window| window == b"*/");
            cursor.pass(end.map_or(rest.len(), |end| end + 4));
        } else {
            return;
        }
    }
}

/// The next word, up to a sign of the format.
fn word<'a>(cursor: &mut Cursor<'a>) -> Word<'a> {
    skip(cursor);
    cursor.word_before(b"(){};")
}

/// Passes over a sign.
fn sign(cursor: &mut Cursor<'_>, expected: u8) -> Outcome<()> {
    skip(cursor);
    if cursor.rest().first() == Some(&expected) {
        cursor.pass(1);
        return Ok(());
    }
    let found = Word { text: &cursor.rest()[..cursor.rest().len().min(1)], offset: cursor.offset() };
    Err(found.unexpected(format!("`{}`", char::from(expected))))
}

fn header(cursor: &mut Cursor<'_>) -> Outcome<Header> {
    let start = word(cursor);
    if start.text != START.as_bytes() {
        return Err(start.unexpected(START));
    }
    sign(cursor, b'{')?;
    let mut header = Header { form: Form::Text, label: 4, scalar: 8, is_compact: false };
    loop {
        let key = word(cursor);
        if key.text.is_empty() {
            sign(cursor, b'}')?;
            return Ok(header);
        }
        cursor.skip_blanks();
        let (value, offset) = (value(cursor)?, cursor.offset());
        let unsupported = |hint| {
            let what =
                format!("a file of the {} {}", String::from_utf8_lossy(key.text), value.escape_debug());
            Err(Stop::text(offset, MeshFault::Unsupported { what, hint }))
        };
        match (key.text, value.as_str()) {
            (b"format", "ascii") => {}
            (b"format", "binary") => header.form = Form::LittleEndian,
            (b"format", _) => return unsupported("write it as ascii or binary"),
            (b"class", "faceCompactList") => header.is_compact = true,
            (b"class", "decomposedBlockData") => {
                return unsupported("write it uncollated, or with reconstructParMesh");
            }
            (b"arch", arch) => {
                let has = |part: &str| arch.split(';').any(|other| other.trim() == part);
                header.label = if has("label=64") { 8 } else { 4 };
                header.scalar = if has("scalar=32") { 4 } else { 8 };
                if has("MSB") && header.form.is_binary() {
                    header.form = Form::BigEndian;
                }
            }
            _ => {}
        }
    }
}

/// The value of an entry of a dictionary, without quotes, up to its semicolon.
fn value(cursor: &mut Cursor<'_>) -> Outcome<String> {
    let (rest, offset) = (cursor.rest(), cursor.offset());
    let mut is_quoted = false;
    let end = rest.iter().position(|&byte| {
        is_quoted ^= byte == b'"';
        !is_quoted && matches!(byte, b';' | b'}')
    });
    let end = end.filter(|&end| rest[end] == b';');
    let end = end.ok_or_else(|| Word { text: b"", offset }.unexpected("`;`"))?;
    cursor.pass(end + 1);
    Ok(String::from_utf8_lossy(&rest[..end]).replace('"', "").trim().to_owned())
}

/// The number of the entries of a list; what opens it is next.
fn length(cursor: &mut Cursor<'_>, what: &'static str) -> Outcome<usize> {
    let word = word(cursor);
    let count = word.whole(what, 0, u64::from(u32::MAX) - 1)? as usize;
    skip(cursor);
    // A list of equal entries has one for all, and is no longer than any list that a mesh has for its other files.
    if cursor.rest().first() == Some(&b'{') {
        Ok(count)
    } else {
        cursor.check_count(count, what, word.offset)
    }
}

/// Reads a file with a list of whole numbers up to `greatest`.
fn labels(cursor: &mut Cursor<'_>, greatest: u32) -> Outcome<Vec<u32>> {
    let header = header(cursor)?;
    list(cursor, &header, greatest)
}

/// Reads a list of whole numbers.
fn list(cursor: &mut Cursor<'_>, header: &Header, greatest: u32) -> Outcome<Vec<u32>> {
    const WHAT: &str = "an entry of the list";
    let count = length(cursor, "the number of entries")?;
    let mut entries = Vec::new();
    if count == 0 && cursor.rest().first() != Some(&b'(') {
        return Ok(entries);
    }
    let is_uniform = cursor.rest().first() == Some(&b'{');
    sign(cursor, if is_uniform { b'{' } else { b'(' })?;
    let entry = |cursor: &mut Cursor<'_>| match header.form {
        Form::Text => word(cursor).whole(WHAT, 0, greatest.into()),
        form => Numbers { cursor, form }.whole(WHAT, header.label, 0, greatest.into()),
    };
    if is_uniform {
        let (offset, value) = (cursor.offset(), entry(cursor)? as u32);
        sign(cursor, b'}')?;
        if count > MOST_EQUAL {
            let fault = MeshFault::CutOff { what: "the number of equal entries", count: count as u64 };
            return Err(Stop::text(offset, fault));
        }
        return Ok(vec![value; count]);
    }
    for _ in 0..count {
        let value = entry(cursor)? as u32;
        push(&mut entries, value)?;
    }
    sign(cursor, b')')?;
    Ok(entries)
}

/// Equal entries that a list may have, so that a few bytes do not take all memory.
const MOST_EQUAL: usize = 1 << 24;

fn points(cursor: &mut Cursor<'_>) -> Outcome<Vec<[f64; 3]>> {
    let header = header(cursor)?;
    let count = length(cursor, "the number of points")?;
    let mut points = Vec::new();
    if count == 0 {
        return Ok(points);
    }
    sign(cursor, b'(')?;
    for _ in 0..count {
        let point = match header.form {
            Form::Text => {
                sign(cursor, b'(')?;
                let mut real = || {
                    let word = word(cursor);
                    viem::base::number::real(word.text).ok_or_else(|| word.unexpected("a coordinate"))
                };
                let point = [real()?, real()?, real()?];
                sign(cursor, b')')?;
                point
            }
            form => Numbers { cursor, form }.point(header.scalar)?,
        };
        push(&mut points, point)?;
    }
    sign(cursor, b')')?;
    Ok(points)
}

/// Reads the points of each face.
fn faces(cursor: &mut Cursor<'_>, (num_faces, num_points): (usize, usize)) -> Outcome<Rows> {
    let start = cursor.offset();
    let header = header(cursor)?;
    let greatest = (num_points as u32).saturating_sub(1);
    let malformed = |reason| Err(Stop::text(start, MeshFault::Malformed { reason }));
    let mut faces = Rows::default();
    if header.is_compact {
        let offsets = list(cursor, &header, u32::MAX - 1)?;
        faces.entries = list(cursor, &header, greatest)?;
        faces.offsets = offsets.iter().map(|&offset| offset as usize).collect();
        let are_valid = faces.offsets.is_sorted()
            && faces.offsets.first() == Some(&0)
            && faces.offsets.last() == Some(&faces.entries.len());
        if !are_valid {
            return malformed(
                "the offsets of the faces do not run from 0 to the number of their points".to_owned(),
            );
        }
    } else {
        let count = length(cursor, "the number of faces")?;
        if count > 0 {
            sign(cursor, b'(')?;
            for _ in 0..count {
                faces.push(&list(cursor, &header, greatest)?)?;
            }
            sign(cursor, b')')?;
        }
    }
    if faces.len() != num_faces {
        return malformed(format!("{} faces, but {num_faces} owners of faces", faces.len()));
    }
    Ok(faces)
}

/// The name of the file with the part of each cell, in the folder `constant` of a case.
pub const DECOMPOSITION: &str = "cellDecomposition";

/// The entries of `system/decomposeParDict` with which `decomposePar` takes this file.
pub fn decomposition_entries(num_parts: usize) -> [String; 3] {
    [
        format!("numberOfSubdomains {num_parts};"),
        "method manual;".to_owned(),
        format!("manualCoeffs {{ dataFile \"{DECOMPOSITION}\"; }}"),
    ]
}

/// Writes the part of each cell as a file that OpenFOAM reads.
pub fn write_decomposition(out: &mut (impl Write + ?Sized), parts: &[BlockId]) -> io::Result<()> {
    write!(out, "{START}\n{{\n    version     2.0;\n    format      ascii;\n    class       labelList;\n")?;
    write!(
        out,
        "    location    \"constant\";\n    object      {DECOMPOSITION};\n}}\n\n{}\n(\n",
        parts.len()
    )?;
    for part in parts {
        writeln!(out, "{part}")?;
    }
    writeln!(out, ")")
}

/// Reads such a file; none if a source starts otherwise.
pub fn read_decomposition(mut source: Source<'_>) -> Result<Option<Vec<BlockId>>, ReadError> {
    let start = source.start();
    if word(&mut Cursor::new(&start)).text != START.as_bytes() {
        return Ok(None);
    }
    parse(source, |cursor| labels(cursor, u32::MAX - 1)).map(Some)
}
