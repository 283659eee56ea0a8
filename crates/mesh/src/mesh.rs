//! Meshes: elements, each a list of nodes.

use crate::cursor::{Outcome, append, push};
use crate::fault::{MeshFault, Stop};
use viem::base::memory;
use viem::base::settings::named;
use viem::base::types::Weight;
use viem::graph::{Coordinates, VertexWeights};

named! {
    /// A kind of element. Those of a higher order have the same kind.
    pub enum ElementKind: "kind of element" {
        /// A node by itself.
        Point = "point",
        /// Two nodes.
        Line = "line",
        /// Three nodes.
        Triangle = "triangle",
        /// Four nodes in a plane.
        Quadrilateral = "quadrilateral",
        /// Any number of nodes in a plane.
        Polygon = "polygon",
        /// Four triangles.
        Tetrahedron = "tetrahedron",
        /// A quadrilateral and four triangles.
        Pyramid = "pyramid",
        /// Two triangles and three quadrilaterals.
        Prism = "prism",
        /// Six quadrilaterals.
        Hexahedron = "hexahedron",
        /// Any faces.
        Polyhedron = "polyhedron",
    }
}

impl ElementKind {
    /// Returns the name of several of them.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Point => "points",
            Self::Line => "lines",
            Self::Triangle => "triangles",
            Self::Quadrilateral => "quadrilaterals",
            Self::Polygon => "polygons",
            Self::Tetrahedron => "tetrahedra",
            Self::Pyramid => "pyramids",
            Self::Prism => "prisms",
            Self::Hexahedron => "hexahedra",
            Self::Polyhedron => "polyhedra",
        }
    }

    /// Returns the number of its dimensions.
    pub fn dimension(self) -> usize {
        match self {
            Self::Point => 0,
            Self::Line => 1,
            Self::Triangle | Self::Quadrilateral | Self::Polygon => 2,
            Self::Tetrahedron | Self::Pyramid | Self::Prism | Self::Hexahedron | Self::Polyhedron => 3,
        }
    }

    /// Returns the number of its corners, which are its first nodes; none if it may have any number.
    pub fn corners(self) -> Option<usize> {
        match self {
            Self::Point => Some(1),
            Self::Line => Some(2),
            Self::Triangle => Some(3),
            Self::Quadrilateral | Self::Tetrahedron => Some(4),
            Self::Pyramid => Some(5),
            Self::Prism => Some(6),
            Self::Hexahedron => Some(8),
            Self::Polygon | Self::Polyhedron => None,
        }
    }

    /// Returns the corners that two such elements have in common if they share a face, which is an edge in the plane. A hexahedron with fewer
    /// than eight different corners has triangles among its faces.
    pub(crate) fn face(self, corners: usize) -> usize {
        match self {
            Self::Hexahedron if corners == 8 => 4,
            kind => kind.dimension().max(1),
        }
    }
}

/// A mesh.
///
/// If its file has elements of several dimensions, such as tetrahedra and the triangles of their boundary, those of the highest dimension are its
/// elements, in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct Mesh {
    pub(crate) elements: Rows,
    pub(crate) kinds: Vec<ElementKind>,
    pub(crate) num_nodes: usize,
    /// The coordinates of each node; none if the file has none.
    pub(crate) points: Vec<[f64; 3]>,
    /// The first weight of each element, if the file has any.
    pub(crate) weights: Option<Vec<Weight>>,
    pub(crate) several: Option<VertexWeights>,
    /// The pairs of elements that share a face, if the file lists them.
    pub(crate) faces: Option<Vec<(u32, u32)>>,
    /// The elements of lower dimensions: how many there are of each kind.
    pub(crate) left_out: Vec<(ElementKind, usize)>,
}

/// Lists of numbers.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    pub offsets: Vec<usize>,
    pub entries: Vec<u32>,
}

impl Default for Rows {
    fn default() -> Self {
        Self { offsets: vec![0], entries: Vec::new() }
    }
}

impl Rows {
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    pub fn row(&self, index: usize) -> &[u32] {
        &self.entries[self.offsets[index]..self.offsets[index + 1]]
    }

    pub fn push(&mut self, row: &[u32]) -> Outcome<()> {
        append(&mut self.entries, row)?;
        push(&mut self.offsets, self.entries.len())
    }

    /// The rows in which each of `count` entries occurs, ascending.
    pub fn transposed(&self, count: usize) -> Result<Self, memory::OutOfMemory> {
        let mut offsets = memory::filled(count + 1, 0usize)?;
        for &entry in &self.entries {
            offsets[entry as usize + 1] += 1;
        }
        for entry in 0..count {
            offsets[entry + 1] += offsets[entry];
        }
        let mut next = offsets.clone();
        let mut entries = memory::filled(self.entries.len(), 0u32)?;
        for row in 0..self.len() {
            for &entry in self.row(row) {
                entries[next[entry as usize]] = row as u32;
                next[entry as usize] += 1;
            }
        }
        Ok(Self { offsets, entries })
    }
}

impl Mesh {
    /// Adds an element.
    pub(crate) fn push(&mut self, kind: ElementKind, nodes: &[u32]) -> Outcome<()> {
        push(&mut self.kinds, kind)?;
        self.elements.push(nodes)
    }

    /// Leaves the elements of the highest dimension. Where there are none, the fault is at this place of the file.
    pub(crate) fn of_highest_dimension(self, offset: usize) -> Outcome<Self> {
        let count = self.kinds.len();
        if count >= u32::MAX as usize {
            return Err(Stop::text(offset, MeshFault::TooMany { what: "elements", count }));
        }
        let highest = self.kinds.iter().map(|kind| kind.dimension()).max();
        let highest = highest.ok_or_else(|| Stop::text(offset, MeshFault::NoElements))?;
        let (kept, left_out): (Vec<_>, Vec<_>) =
            self.kinds().into_iter().partition(|(kind, _)| kind.dimension() == highest);
        if left_out.is_empty() {
            return Ok(self);
        }
        let count = kept.iter().map(|(_, count)| count).sum();
        let Self { elements, kinds, .. } = self;
        let mut mesh = Self { kinds: memory::with_room(count)?, elements: Rows::default(), left_out, ..self };
        for (index, kind) in kinds.into_iter().enumerate() {
            if kind.dimension() == highest {
                mesh.push(kind, elements.row(index))?;
            }
        }
        Ok(mesh)
    }

    /// Returns the number of its elements.
    pub fn num_elements(&self) -> usize {
        self.kinds.len()
    }

    /// Returns the number of its nodes.
    pub fn num_nodes(&self) -> usize {
        self.num_nodes
    }

    /// The number of elements of each kind that it has.
    pub fn kinds(&self) -> Vec<(ElementKind, usize)> {
        let mut counts = [0; ElementKind::ALL.len()];
        self.kinds.iter().for_each(|&kind| counts[kind as usize] += 1);
        ElementKind::ALL.into_iter().zip(counts).filter(|&(_, count)| count > 0).collect()
    }

    /// All weights of its elements, if the file has several of each, as those of METIS may.
    pub fn several_weights(&self) -> Option<&VertexWeights> {
        self.several.as_ref()
    }

    /// Those of lower dimensions that its file has besides, and which are left out.
    pub fn left_out(&self) -> &[(ElementKind, usize)] {
        &self.left_out
    }

    /// The corners of an element.
    pub(crate) fn corners(&self, element: usize) -> &[u32] {
        let nodes = self.elements.row(element);
        &nodes[..self.kinds[element].corners().unwrap_or(nodes.len()).min(nodes.len())]
    }

    /// The centre of each element, the mean of its corners; none if the file has no coordinates.
    pub fn centres(&self) -> Option<Coordinates> {
        let centre = |element: usize| {
            let corners = self.corners(element);
            let sum = |axis: usize| corners.iter().map(|&node| self.points[node as usize][axis]).sum::<f64>();
            let count = corners.len().max(1) as f64;
            [0, 1, 2].map(|axis| sum(axis) / count)
        };
        (!self.points.is_empty()).then(|| coordinates((0..self.num_elements()).map(centre)))?
    }

    /// The coordinates of each node; none if the file has none.
    pub fn points(&self) -> Option<Coordinates> {
        (!self.points.is_empty()).then(|| coordinates(self.points.iter().copied()))?
    }
}

/// Points without the axes along which they are all the same, such as the third one of a mesh in the plane. No sum overflows where coordinates are
/// of reasonable size; those that do are no points.
fn coordinates(points: impl Iterator<Item = [f64; 3]>) -> Option<Coordinates> {
    let points: Vec<[f64; 3]> = points.collect();
    let first = points.first()?;
    let differs = |axis: &usize| points.iter().any(|point| point[*axis] != first[*axis]);
    let mut axes: Vec<usize> = (0..3).filter(differs).collect();
    if axes.len() < 2 {
        axes = vec![0, 1];
    }
    let values = points.iter().flat_map(|point| axes.iter().map(|&axis| point[axis])).collect();
    Coordinates::new(axes.len(), values).ok()
}
