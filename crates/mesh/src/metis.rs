//! Meshes of METIS: a line with the number of elements and perhaps of their weights, and one for each element with its weights and its nodes, from 1.
//!
//! The files do not say what kind the elements are. It follows from the number of their nodes; those of four are tetrahedra if any two of them have three in
//! common, else quadrilaterals. ("METIS, a software package", version 5.1, manual, 4.1.2.)

use crate::cursor::{Cursor, Outcome, Word, push};
use crate::dual::DualError;
use crate::fault::{MeshFault, Stop};
use crate::format::Format;
use crate::mesh::{ElementKind, Mesh};
use viem::base::memory;
use viem::base::types::Weight;
use viem::graph::VertexWeights;
use viem_io::table::{Fields, is_blank};

pub(crate) const FORMAT: Format = Format { name: "metis", read };

/// The greatest number of a node, which bounds the memory for those that no element has.
const MOST_NODES: u64 = 1 << 31;

fn read(cursor: &mut Cursor<'_>) -> Outcome<Mesh> {
    let header = line(cursor).ok_or_else(|| ends(cursor, "the number of elements"))?;
    let mut words = words(header);
    let first = words.next().ok_or_else(|| header.unexpected("the number of elements"))?;
    let count = first.whole("the number of elements", 1, u64::from(u32::MAX))? as usize;
    let count = cursor.check_count(count, "the number of elements", first.offset)?;
    let num_weights =
        words.next().map_or(Ok(0), |word| word.whole("the number of weights", 0, 1 << 10))? as usize;
    if let Some(word) = words.next() {
        return Err(word.unexpected("the end of the line"));
    }
    let mut mesh = Mesh::default();
    let mut greatest = (0, 0);
    let (mut weights, mut nodes) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let line = line(cursor).ok_or_else(|| ends(cursor, "an element"))?;
        element(line, num_weights, (&mut weights, &mut nodes), &mut greatest)?;
        mesh.push(kind(nodes.len()), &nodes)?;
    }
    if let Some(word) = std::iter::from_fn(|| line(cursor)).find(|word| !word.text.is_empty()) {
        return Err(word.unexpected("the end of the file"));
    }
    mesh.num_nodes = greatest.0 as usize;
    // A gap in the numbers is legal, a number out of proportion is not: it would take memory for nothing.
    if greatest.0 > 16 * mesh.elements.entries.len() as u64 + 1024 {
        let (number, greatest) = (greatest.0, greatest.1);
        let reason = format!("node {number} is far beyond the number of nodes that the elements have");
        return Err(Stop::text(greatest, MeshFault::Malformed { reason }));
    }
    mesh.several = several_weights(header, num_weights, &mut weights)?;
    mesh.weights = (num_weights > 0).then_some(weights);
    if mesh.kinds.contains(&ElementKind::Tetrahedron) && !has_tetrahedra(&mesh)? {
        let is_flat = |kind: &&mut ElementKind| **kind == ElementKind::Tetrahedron;
        mesh.kinds.iter_mut().filter(is_flat).for_each(|kind| *kind = ElementKind::Quadrilateral);
    }
    Ok(mesh)
}

fn has_tetrahedra(mesh: &Mesh) -> Outcome<bool> {
    mesh.has_tetrahedra().map_err(|error| match error {
        DualError::Memory(lack) => lack.into(),
        DualError::Graph(error) => Stop::text(0, MeshFault::Malformed { reason: error.to_string() }),
    })
}

/// Takes all weights of the elements, if there are several, and leaves the first of each.
fn several_weights(
    header: Word<'_>,
    num_weights: usize,
    weights: &mut Vec<Weight>,
) -> Outcome<Option<VertexWeights>> {
    if num_weights < 2 {
        return Ok(None);
    }
    let mut first = memory::with_room(weights.len() / num_weights)?;
    first.extend(weights.iter().step_by(num_weights));
    let several = VertexWeights::new(num_weights, std::mem::replace(weights, first));
    several
        .map(Some)
        .map_err(|error| Stop::text(header.offset, MeshFault::Malformed { reason: error.to_string() }))
}

/// Reads an element: adds its weights, and replaces the nodes by its own. `greatest` is the greatest node so far, and its place.
fn element(
    line: Word<'_>,
    num_weights: usize,
    (weights, nodes): (&mut Vec<Weight>, &mut Vec<u32>),
    greatest: &mut (u64, usize),
) -> Outcome<()> {
    nodes.clear();
    for (index, word) in words(line).enumerate() {
        if index < num_weights {
            push(weights, word.whole("the weight of an element", 0, Weight::MAX as u64)? as Weight)?;
        } else {
            let node = word.whole("a node", 1, MOST_NODES)?;
            *greatest = (*greatest).max((node, word.offset));
            push(nodes, node as u32 - 1)?;
        }
    }
    if nodes.is_empty() {
        let end = Word { text: b"", offset: line.offset + line.text.len() };
        return Err(end.unexpected("the nodes of an element"));
    }
    Ok(())
}

fn kind(num_nodes: usize) -> ElementKind {
    match num_nodes {
        1 => ElementKind::Point,
        2 => ElementKind::Line,
        3 => ElementKind::Triangle,
        4 => ElementKind::Tetrahedron,
        5 => ElementKind::Pyramid,
        6 => ElementKind::Prism,
        8 => ElementKind::Hexahedron,
        _ => ElementKind::Polyhedron,
    }
}

/// The next line that is no comment.
fn line<'a>(cursor: &mut Cursor<'a>) -> Option<Word<'a>> {
    std::iter::from_fn(|| cursor.line()).find(|line| !line.text.starts_with(b"%"))
}

fn words<'a>(line: Word<'a>) -> impl Iterator<Item = Word<'a>> {
    Fields::new(0, line.text, is_blank)
        .map(move |field| Word { text: field.text, offset: line.offset + field.column as usize - 1 })
}

fn ends(cursor: &Cursor<'_>, expected: &str) -> Stop {
    Word { text: b"", offset: cursor.offset() }.unexpected(expected)
}
