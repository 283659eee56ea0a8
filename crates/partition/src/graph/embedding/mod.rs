//! Embedding of one graph, the pattern, in another, the host: each vertex of the pattern gets a vertex of the host for itself, its place, such that
//! the places of neighbours are neighbours.
//!
//! | member | pattern and host | search |
//! |---|---|---|
//! | `isomorphism` | graphs with the same degrees | backtracking; goes on with the vertex that has the fewest places left |
//! | `monomorphism` | a graph, and any host of as many vertices or more | backtracking in a fixed order, with look-ahead; some restarts |
//! | `relation` | directed relations, given as matrices | backtracking in a fixed order, vertices of rare degrees first |
//!
//! All are searches with a budget, not decision procedures: they find grids, tori, rings, trees and hypercubes in hosts of their kind nearly without going
//! back, and give up soon elsewhere.
//!
//! They are three engines because none of them does the work of another. The degrees of an isomorphism decide at each vertex which
//! places are left, so that its search needs no look-ahead and takes time for the frontier only; where the host is larger that test is void. A
//! monomorphism with restarts finds mappings that a fixed order of rare degrees does not, while the latter sees the direction of edges, which neither of
//! the others does.

pub mod isomorphism;
pub mod monomorphism;
pub mod relation;

/// Neither a vertex nor a place.
const NONE: u32 = u32::MAX;

/// Which vertices of the pattern have which places.
struct Placement {
    place_of: Vec<u32>,
    vertex_at: Vec<u32>,
}

impl Placement {
    /// None has a place.
    fn new(num_vertices: usize, num_places: usize) -> Self {
        Self { place_of: vec![NONE; num_vertices], vertex_at: vec![NONE; num_places] }
    }

    fn put(&mut self, vertex: u32, place: u32) {
        self.place_of[vertex as usize] = place;
        self.vertex_at[place as usize] = vertex;
    }

    /// Takes a vertex from its place, which is returned, if it has one.
    fn take_back(&mut self, vertex: u32) -> Option<u32> {
        let place = std::mem::replace(&mut self.place_of[vertex as usize], NONE);
        if place == NONE {
            return None;
        }
        self.vertex_at[place as usize] = NONE;
        Some(place)
    }

    fn place(&self, vertex: u32) -> Option<u32> {
        Some(self.place_of[vertex as usize]).filter(|&place| place != NONE)
    }

    fn is_placed(&self, vertex: u32) -> bool {
        self.place_of[vertex as usize] != NONE
    }

    fn is_free(&self, place: u32) -> bool {
        self.vertex_at[place as usize] == NONE
    }
}
