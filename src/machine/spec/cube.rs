//! Hypercubes: `hypercube:10`.

use super::MachineKind;
use crate::machine::Hypercube;

pub(super) const HYPERCUBE: MachineKind = MachineKind {
    name: "hypercube",
    example: "hypercube:10",
    about: "2 to the power of 10 processing elements; the distance is the number of bits that differ",
    make: |request| {
        request.no_distances()?;
        let dimension = request.number(request.rest, "a dimension", 0, u32::BITS - 1, HYPERCUBE.example)?;
        request.machine(Hypercube::new(dimension))
    },
};
