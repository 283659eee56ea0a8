//! Regular trees as machines.

use crate::base::types::PeId;
use crate::machine::parts::{Members, Parts};
use crate::machine::spec::MachineKind;
use crate::machine::{
    Distances, Division, Hierarchy, Interconnect, Located, Location, Machine, MachineError,
};

impl Machine for Hierarchy {
    fn num_pes(&self) -> usize {
        Hierarchy::num_pes(self)
    }

    fn distances(&self) -> Result<Distances, MachineError> {
        Ok(match self.online32() {
            Some(oracle) => Distances::Tree(oracle),
            None => Distances::WideTree(self.online64()),
        })
    }

    fn division(&self) -> Division {
        let simple = self.simplified();
        let order = (0..self.num_pes() as PeId).collect();
        Division::Parts(Parts::divide(order, |pes| simple.children_of(pes.len())))
    }

    fn division_among(&self, list: &[PeId]) -> Division {
        let members = Members::all_of(list);
        Division::Parts(Parts::from_tree(&self.simplified().tree_of(&members)))
    }

    fn room(&self) -> u64 {
        self.num_pes() as u64
    }

    fn interconnect(&self) -> Interconnect {
        Interconnect::Tree(self.clone())
    }

    fn first_pes(&self, least: usize) -> Option<Box<dyn Machine>> {
        self.first_groups(least).map(|part| Box::new(part) as Box<dyn Machine>)
    }

    fn hierarchy(&self) -> Option<&Hierarchy> {
        Some(self)
    }

    fn describe(&self) -> String {
        let arities: Vec<String> = self.arities().iter().map(u32::to_string).collect();
        format!("hierarchy {}", arities.join(":"))
    }

    fn located(&self) -> Option<&dyn Located> {
        Some(self)
    }
}

impl Located for Hierarchy {
    /// The groups of the outermost level are nodes, those of the next one packages; a tree of one level is one node.
    fn location(&self, pe: PeId) -> Location {
        let levels_of_node = match self.arities().len() {
            levels @ 0..=1 => levels,
            levels => levels - 1,
        };
        location_in(&self.arities()[..levels_of_node], pe)
    }
}

/// Returns the location of a PE if nodes are trees of these arities. The groups of the outermost level are packages; a tree of one level is one package.
pub(in crate::machine) fn location_in(arities: &[u32], pe: PeId) -> Location {
    let of_node: u32 = arities.iter().product();
    let of_package = match arities {
        [inner @ .., outermost] if !inner.is_empty() => of_node / outermost,
        _ => of_node,
    };
    let cpu = pe % of_node;
    Location::new(pe / of_node, vec![cpu]).with_core(cpu / of_package, cpu % of_package)
}

pub(super) const KINDS: &[MachineKind] = &[
    MachineKind {
        name: "complete",
        example: "complete:64",
        distances: None,
        about: "processing elements that are all next to each other",
        make: |request| {
            let num_pes = request.number(
                request.rest,
                "a number of processing elements",
                1,
                u32::MAX,
                "complete:64",
            )?;
            let distance = request.only_distance()?;
            request.machine(Hierarchy::new(vec![num_pes], vec![distance]))
        },
    },
    MachineKind {
        name: "tree",
        example: "4:16:8",
        distances: Some("1:10:100"),
        about: "nested groups, innermost first",
        make: |request| {
            let distances = request.distances(request.rest.split(':').count())?;
            request.machine(Hierarchy::parse(request.rest, distances))
        },
    },
];
