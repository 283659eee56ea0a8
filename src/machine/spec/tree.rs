//! Regular trees: `4:16:8`, and those of one level: `complete:64`.

use super::MachineKind;
use crate::machine::Hierarchy;

pub(super) const TREE: MachineKind = MachineKind {
    name: "tree",
    example: "4:16:8",
    about: "nested groups, innermost first",
    make: |request| {
        let distances = request.distances(request.rest.split(':').count())?;
        request.machine(Hierarchy::parse(request.rest, distances))
    },
};

pub(super) const COMPLETE: MachineKind = MachineKind {
    name: "complete",
    example: "complete:64",
    about: "processing elements that are all next to each other",
    make: |request| {
        let num_pes =
            request.number(request.rest, "a number of processing elements", 1, u32::MAX, COMPLETE.example)?;
        let distance = request.only_distance()?;
        request.machine(Hierarchy::new(vec![num_pes], vec![distance]))
    },
};
