//! Blocks of hexahedra and prisms, and their dual graphs by the faces themselves.

use std::collections::{BTreeMap, BTreeSet};

/// A mesh as tests know it.
#[derive(Clone, Debug)]
pub struct Grid {
    pub points: Vec<[f64; 3]>,
    /// Elements, of eight nodes or of six.
    pub elements: Vec<Vec<u32>>,
    /// The quadrilaterals and triangles of the boundary.
    pub boundary: Vec<Vec<u32>>,
}

/// The faces of an element by the places of its nodes.
fn faces(num_nodes: usize) -> &'static [&'static [usize]] {
    match num_nodes {
        8 => &[&[0, 1, 2, 3], &[4, 5, 6, 7], &[0, 1, 5, 4], &[1, 2, 6, 5], &[2, 3, 7, 6], &[3, 0, 4, 7]],
        6 => &[&[0, 1, 2], &[3, 4, 5], &[0, 1, 4, 3], &[1, 2, 5, 4], &[2, 0, 3, 5]],
        _ => unreachable!("there are hexahedra and prisms only"),
    }
}

impl Grid {
    /// A block of cells. A column of them is divided into prisms where `is_divided` says so.
    pub fn new(lengths: [u32; 3], is_divided: impl Fn(u32, u32) -> bool) -> Self {
        let [nx, ny, nz] = lengths;
        let node = |x: u32, y: u32, z: u32| x + (nx + 1) * (y + (ny + 1) * z);
        let mut points = Vec::new();
        for z in 0..=nz {
            for y in 0..=ny {
                points.extend((0..=nx).map(|x| [f64::from(x), 0.5 * f64::from(y), 0.25 * f64::from(z)]));
            }
        }
        let mut elements = Vec::new();
        for z in 0..nz {
            for y in 0..ny {
                for x in 0..nx {
                    let ring =
                        |z| [node(x, y, z), node(x + 1, y, z), node(x + 1, y + 1, z), node(x, y + 1, z)];
                    let (low, high) = (ring(z), ring(z + 1));
                    if is_divided(x, y) {
                        for corners in [[0, 1, 2], [0, 2, 3]] {
                            let pick = |ring: [u32; 4]| corners.map(|corner| ring[corner]);
                            elements.push([pick(low), pick(high)].concat());
                        }
                    } else {
                        elements.push([low, high].concat());
                    }
                }
            }
        }
        let mut grid = Self { points, elements, boundary: Vec::new() };
        let sides = grid.sides();
        grid.boundary =
            sides.into_values().filter(|(_, cells)| cells.len() == 1).map(|(face, _)| face).collect();
        grid
    }

    /// The faces by their nodes in ascending order: their nodes around, and the elements on either side.
    pub fn sides(&self) -> BTreeMap<Vec<u32>, (Vec<u32>, Vec<u32>)> {
        let mut sides = BTreeMap::new();
        for (element, nodes) in self.elements.iter().enumerate() {
            for places in faces(nodes.len()) {
                let face: Vec<u32> = places.iter().map(|&place| nodes[place]).collect();
                let mut sorted = face.clone();
                sorted.sort_unstable();
                sides.entry(sorted).or_insert((face, Vec::new())).1.push(element as u32);
            }
        }
        sides
    }

    /// The pairs of elements that share a face.
    pub fn edges(&self) -> BTreeSet<(u32, u32)> {
        let sides = self.sides();
        let pairs = sides.values().filter(|(_, cells)| cells.len() == 2);
        pairs.map(|(_, cells)| (cells[0].min(cells[1]), cells[0].max(cells[1]))).collect()
    }
}

/// The edges of a graph.
pub fn edges(graph: &viem::CsrGraph) -> BTreeSet<(u32, u32)> {
    let arcs = graph.nodes().flat_map(|u| graph.neighbours(u).iter().map(move |&v| (u, v)));
    arcs.filter(|(u, v)| u < v).collect()
}
