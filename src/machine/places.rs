//! The places of a machine.

use std::borrow::Cow;

use super::axes::axes_of;
use crate::base::memory;
use crate::base::types::PeId;
use crate::machine::{Axis, Distances, Hierarchy, Machine, MachineError, Metric as _, Parts, distances_of};

/// Bytes per PE that mapping needs at least: 36 for parts, 4 for the list of places, 24 for mappings and for the graph, which has a
/// process for each place.
const PE_BYTES: u128 = 64;

/// Distances to about this many nodes decide whether the places of a part have the same distances to the outside.
const WITNESSES: usize = 32;

/// Makes sure that there is memory for that many PEs, whatever represents their distances. Called before any of it is allocated.
pub fn check_memory(machine: &dyn Machine) -> Result<(), MachineError> {
    check_memory_of(machine.num_pes())
}

fn check_memory_of(num_pes: usize) -> Result<(), MachineError> {
    let (bytes, available) = (num_pes as u128 * PE_BYTES, memory::available());
    if bytes > u128::from(available) {
        return Err(MachineError::TooLarge { num_pes, bytes, available });
    }
    Ok(())
}

/// One place for each process that a machine has room for: a PE of capacity c is c places at distance 0 from each other.
///
/// Places are numbered so that every part of the machine is a range of them. So algorithms always look for a permutation of
/// places; a free place holds a process without edges.
#[derive(Clone, Debug)]
pub struct Places {
    pe_of: Vec<PeId>,
    parts: Parts,
    distances: Distances,
    hierarchy: Option<Hierarchy>,
    axes: Vec<Axis>,
}

/// The nodes of a machine: parts of equal size, in the order of their places, which are all places of the machine.
#[derive(Clone, Debug)]
pub(crate) struct EqualNodes {
    /// The part that each node is.
    pub parts: Vec<usize>,
    /// A place for each node, at the distances between the nodes.
    pub places: Places,
}

/// The places at which groups of some number of processes fit whole.
#[derive(Clone, Debug)]
pub(crate) struct GroupSlots {
    /// A place for each group, at the distances between the first places of the groups.
    pub places: Places,
    /// The parts that the groups do not cross, in the order of their places. They have all places of the machine.
    pub parts: Vec<usize>,
    /// The part of each place for a group, by its index.
    pub part_of: Vec<PeId>,
}

impl Places {
    /// The places of a machine with these distances and parts of its own, computed in parallel on the current rayon pool.
    ///
    /// # Errors
    ///
    /// The machine has more places than can be numbered, or than memory holds.
    pub fn new(
        machine: &dyn Machine,
        distances: Cow<'_, Distances>,
        parts: Parts,
    ) -> Result<Self, MachineError> {
        check_memory(machine)?;
        let count = machine.room();
        if count >= u64::from(PeId::MAX) {
            return Err(MachineError::TooMuchRoom { room: count });
        }
        check_memory_of(count as usize)?;
        let is_plain = (0..machine.num_pes() as PeId).all(|pe| machine.capacity(pe) == 1);
        let parts = if is_plain { parts } else { parts.with_capacities(|pe| machine.capacity(pe)) };
        let (pe_of, axes) = (parts.order().to_vec(), axes_of(machine));
        if let Some(hierarchy) = machine.hierarchy().filter(|_| is_plain) {
            let distances = distances.into_owned();
            return Ok(Self { pe_of, parts, distances, hierarchy: Some(hierarchy.clone()), axes });
        }
        Ok(Self { distances: distances.listed(&pe_of).tabulated(), pe_of, parts, hierarchy: None, axes })
    }

    /// The places of a machine with its own distances.
    pub fn of(machine: &dyn Machine) -> Result<Self, MachineError> {
        let distances = distances_of(machine)?;
        let parts = Parts::of(machine, &distances);
        Self::new(machine, Cow::Owned(distances), parts)
    }

    /// Number of places.
    pub fn len(&self) -> usize {
        self.pe_of.len()
    }

    /// Returns whether there is no place.
    pub fn is_empty(&self) -> bool {
        self.pe_of.is_empty()
    }

    /// The PE of each place.
    pub fn pe_of(&self) -> &[PeId] {
        &self.pe_of
    }

    /// The places in the order of their PEs, the n-th place of a PE after its first n - 1.
    pub fn by_pe(&self) -> Vec<PeId> {
        let mut places: Vec<PeId> = (0..self.pe_of.len() as PeId).collect();
        places.sort_by_key(|&place| self.pe_of[place as usize]);
        places
    }

    /// The place of each process if process i is on PE `pe_of[i]`, and no PE has more processes than room. Processes beyond
    /// these take the free places, in order. O(places).
    pub fn seats(&self, pe_of: &[PeId]) -> Vec<PeId> {
        let by_pe = self.by_pe();
        let pes = self.pe_of.iter().copied().max().map_or(0, |pe| pe as usize + 1);
        // Where the places of each PE begin in their order.
        let mut next = vec![0; pes + 1];
        for &pe in &self.pe_of {
            next[pe as usize + 1] += 1;
        }
        for pe in 0..pes {
            next[pe + 1] += next[pe];
        }
        let mut is_taken = vec![false; self.len()];
        let mut seats = Vec::with_capacity(self.len());
        for &pe in pe_of {
            is_taken[next[pe as usize]] = true;
            seats.push(by_pe[next[pe as usize]]);
            next[pe as usize] += 1;
        }
        seats.extend(by_pe.iter().zip(is_taken).filter(|&(_, is_taken)| !is_taken).map(|(&place, _)| place));
        seats
    }

    /// The nodes of the machine, as far as its distances show them: the largest parts of equal size whose places
    /// have the same distance to each place outside. `None` if there are no such parts.
    ///
    /// Takes O(n log n) for n places: the distances to the next nodes and to [`WITNESSES`] others stand for those to all.
    pub(crate) fn nodes(&self) -> Option<EqualNodes> {
        let mut part = 0;
        while let Some(child) = self.parts.children(part).next() {
            part = child;
            let size = self.parts.range(part).len();
            if size > 1 && self.len().is_multiple_of(size) && self.look_alike_inside(size) {
                return self.nodes_of(size);
            }
        }
        None
    }

    /// Returns whether the places of each range of this size have the same distances to places outside.
    fn look_alike_inside(&self, size: usize) -> bool {
        let count = self.len() / size;
        let stride = count.div_ceil(WITNESSES);
        let place = |node: usize, member: usize| (node * size + member) as PeId;
        let are_alike = |node: usize, witness: usize| {
            let distance = |member| self.distances.between(place(node, member), place(witness, 0));
            node == witness || (1..size).all(|member| distance(member) == distance(0))
        };
        (0..count).all(|node| {
            let witnesses = [(node + 1) % count, (node + count - 1) % count];
            let witnesses = witnesses.into_iter().chain((node % stride..count).step_by(stride));
            witnesses.into_iter().all(|witness| are_alike(node, witness))
        })
    }

    /// The ranges of this size as nodes, if each is a part.
    fn nodes_of(&self, size: usize) -> Option<EqualNodes> {
        let count = self.len() / size;
        let mut parts = vec![None; count];
        for part in 0..self.parts.num_parts() {
            let range = self.parts.range(part);
            if range.len() == size && range.start.is_multiple_of(size) {
                parts[range.start / size] = Some(part);
            }
        }
        let first_places: Vec<PeId> = (0..count).map(|node| (node * size) as PeId).collect();
        let places = self.at(&first_places);
        Some(EqualNodes { parts: parts.into_iter().collect::<Option<_>>()?, places })
    }

    /// Some of the places, in ascending order, as a machine of their own.
    fn at(&self, places: &[PeId]) -> Self {
        Self {
            pe_of: (0..places.len() as PeId).collect(),
            parts: self.parts.at(places),
            distances: self.distances.listed(places).tabulated(),
            hierarchy: None,
            axes: Vec::new(),
        }
    }

    /// Slots for groups of `size` places in the smallest parts that have at least `count` together. `None` if not even the whole machine
    /// has. O(height · parts + n) for n places.
    pub(crate) fn slots(&self, size: usize, count: usize) -> Option<GroupSlots> {
        let room = |part: &usize| self.parts.range(*part).len() / size;
        let heights = self.parts.heights();
        let parts = (0..=heights[0])
            .map(|height| self.parts.up_to(&heights, height))
            .find(|parts| parts.iter().map(room).sum::<usize>() >= count)?;
        let (mut first_places, mut part_of) = (Vec::new(), Vec::new());
        for (index, part) in parts.iter().enumerate() {
            let begin = self.parts.range(*part).start;
            first_places.extend((0..room(part)).map(|slot| (begin + slot * size) as PeId));
            part_of.resize(first_places.len(), index as PeId);
        }
        Some(GroupSlots { places: self.at(&first_places), parts, part_of })
    }

    /// The parts, over the places in the order of their numbers.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// The distances between places.
    pub fn distances(&self) -> &Distances {
        &self.distances
    }

    /// The machine as a regular tree, if it is one; places are its PEs then.
    pub fn hierarchy(&self) -> Option<&Hierarchy> {
        self.hierarchy.as_ref()
    }

    /// The axes of the PEs, the fastest varying one in their numbers first; empty if the machine has none.
    pub(crate) fn axes(&self) -> &[Axis] {
        &self.axes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Capacities, Grid, Listed, build};

    #[test]
    fn nodes_are_parts_whose_places_look_alike_from_outside() {
        let cases = [
            ("torus:4x4/2:4", Some("1:3:30"), Some((8, 16))),
            ("mesh:5x3/6", Some("2:9"), Some((6, 15))),
            ("hypercube:4", None, None),
            ("mesh:8x8", None, None),
            ("tree:4:16", Some("1:10"), Some((4, 16))),
            ("complete:6", None, None),
        ];
        for (spec, distances, expected) in cases {
            let machine = build(spec, distances).unwrap();
            let places = Places::of(&machine).unwrap();
            let nodes = places.nodes();
            let size = |nodes: &EqualNodes| places.parts().range(nodes.parts[0]).len();
            assert_eq!(nodes.as_ref().map(|nodes| (size(nodes), nodes.places.len())), expected, "{spec}");
            let Some(nodes) = nodes else { continue };
            let size = size(&nodes);
            let EqualNodes { parts, places: nodes } = nodes;
            assert_eq!(nodes.parts().order(), nodes.pe_of(), "{spec}");
            for (p, &part) in parts.iter().enumerate() {
                assert_eq!(places.parts().range(part), p * size..(p + 1) * size, "{spec}");
                for q in (0..parts.len()).filter(|&q| q != p) {
                    let between =
                        |p: usize, q: usize, distances: &Distances| distances.between(p as PeId, q as PeId);
                    let distance = between(p, q, nodes.distances());
                    let alike = (0..size).all(|at| {
                        between(p * size + at, q * size + size - 1 - at, places.distances()) == distance
                    });
                    assert!(alike, "{spec} {p} {q}");
                }
            }
        }
    }

    #[test]
    fn pes_with_room_for_several_processes_are_nodes() {
        let mesh = Grid::mesh(&[3, 4]).unwrap();
        let places = Places::of(&Capacities::new(mesh, vec![2; 12]).unwrap()).unwrap();
        let EqualNodes { parts, places: nodes } = places.nodes().unwrap();
        assert_eq!((parts.len(), nodes.len()), (12, 12));
        assert!(parts.iter().all(|&part| places.parts().range(part).len() == 2));
        let order: Vec<PeId> = (0..12).collect();
        assert_eq!(nodes.parts().order(), order);
        let mut leaves =
            (0..nodes.parts().num_parts()).filter(|&part| nodes.parts().children(part).is_empty());
        assert!(leaves.all(|part| nodes.parts().range(part).len() <= 2));
    }

    #[test]
    fn slots_are_in_the_smallest_parts_with_room_for_all_groups() {
        // Nodes of 4, 3 and 4 PEs under one switch, of 2 and 4 under the other.
        let list = vec![0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 16, 17, 18, 19];
        let machine = Listed::new(build("4:3:2", "1:10:100").unwrap(), list).unwrap();
        let places = Places::of(&machine).unwrap();
        let slots = |size, count| {
            let slots = places.slots(size, count)?;
            let ranges = slots.parts.iter().map(|&part| places.parts().range(part).len());
            assert_eq!(slots.places.len(), slots.part_of.len());
            Some((ranges.collect::<Vec<_>>(), slots.part_of))
        };
        assert_eq!(slots(2, 7).unwrap(), (vec![4, 3, 4, 2, 4], vec![0, 0, 1, 2, 2, 3, 4, 4]));
        assert_eq!(slots(4, 3).unwrap(), (vec![4, 3, 4, 2, 4], vec![0, 2, 4]));
        assert_eq!(slots(5, 3).unwrap(), (vec![11, 6], vec![0, 0, 1]));
        assert_eq!(slots(8, 2).unwrap(), (vec![17], vec![0, 0]));
        assert_eq!(slots(9, 2), None);
        let two = places.slots(2, 8).unwrap().places;
        let between = |a, b| two.distances().between(a, b);
        assert_eq!([between(0, 1), between(0, 2), between(1, 5)], [1, 10, 100]);
    }

    #[test]
    fn nodes_of_different_sizes_are_none() {
        let machine = build("torus:4x4/4", "1:9").unwrap();
        let listed = Listed::new(machine, (0..63).collect()).unwrap();
        assert!(Places::of(&listed).unwrap().nodes().is_none());
    }
}
