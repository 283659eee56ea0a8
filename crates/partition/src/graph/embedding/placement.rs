//! Which vertices of a pattern have which places.

/// Neither a vertex nor a place.
pub(super) const NONE: u32 = u32::MAX;

/// Which vertices of the pattern have which places.
pub(super) struct Placement {
    pub place_of: Vec<u32>,
    pub vertex_at: Vec<u32>,
}

impl Placement {
    /// None has a place.
    pub fn new(num_vertices: usize, num_places: usize) -> Self {
        Self { place_of: vec![NONE; num_vertices], vertex_at: vec![NONE; num_places] }
    }

    pub fn put(&mut self, vertex: u32, place: u32) {
        self.place_of[vertex as usize] = place;
        self.vertex_at[place as usize] = vertex;
    }

    /// Takes a vertex from its place, which is returned, if it has one.
    pub fn take_back(&mut self, vertex: u32) -> Option<u32> {
        let place = std::mem::replace(&mut self.place_of[vertex as usize], NONE);
        if place == NONE {
            return None;
        }
        self.vertex_at[place as usize] = NONE;
        Some(place)
    }

    pub fn place(&self, vertex: u32) -> Option<u32> {
        Some(self.place_of[vertex as usize]).filter(|&place| place != NONE)
    }

    pub fn is_placed(&self, vertex: u32) -> bool {
        self.place_of[vertex as usize] != NONE
    }

    pub fn is_free(&self, place: u32) -> bool {
        self.vertex_at[place as usize] == NONE
    }
}
