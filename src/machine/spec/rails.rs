//! Rail-optimised fabrics: `rails:8:4:16`.

use super::MachineKind;
use crate::machine::Rails;

pub(super) const RAILS: MachineKind = MachineKind {
    name: "rails",
    example: "rails:8:4:16",
    about: "nodes of GPUs in pods, of which those with the same number in their nodes are on one rail",
    make: |request| {
        let distances = request.distances(request.rest.split(':').count() + 1)?;
        request.machine(Rails::parse(request.rest, distances))
    },
};
