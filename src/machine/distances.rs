//! What can be done with distances without knowing how they are represented.
//!
//! Each distance that [`Distances`] is asked for costs a look at its representation. Code that asks for many is compiled for each
//! representation instead ([`with_oracle`](super::with_oracle)).

use std::ops::Range;

use crate::ground::types::{Distance, PeId};
use crate::machine::metric::small::Tabulate;
use crate::machine::{
    DistanceMatrix, DistanceOracle, DistanceVisitor, Distances, Machine, MachineError, Metric, Ultrametric,
    with_oracle,
};

/// The distances of a machine, possibly a user's own. Fails if their number of PEs differs.
pub fn distances_of<M: Machine + ?Sized>(machine: &M) -> Result<Distances, MachineError> {
    let distances = machine.distances()?;
    let (num_pes, found) = (machine.num_pes(), distances.num_pes());
    if num_pes == found { Ok(distances) } else { Err(MachineError::DistancesDiffer { num_pes, found }) }
}

/// Most PEs of which all distances are stored in four bytes each: what a search reads is in cache. Annealing on 64 PEs of a mesh of
/// 20000 x 50 takes a third of the time.
const MOST_STORED: usize = 1 << 10;

impl Distances {
    /// Passes the oracle inside to a visitor.
    pub fn visit<V: DistanceVisitor>(&self, visitor: V) -> V::Output {
        with_oracle!(self, |oracle| visitor.visit(oracle))
    }

    /// Sets each entry of a row to the distance between a PE and that of the entry.
    pub(in crate::machine) fn fill_row(&self, from: PeId, row: &mut [Distance]) {
        with_oracle!(self, |oracle| {
            let here = oracle.key(from);
            (0..).zip(row).for_each(|(pe, entry)| *entry = oracle.between(here, oracle.key(pe)));
        });
    }

    /// The distances between some PEs: PE i of the result is PE `list[i]` of this. The list may name a PE more than once.
    pub fn listed(&self, list: &[PeId]) -> Self {
        match self {
            Distances::Tree(oracle) => Distances::Prefixes(oracle.widened().placed(list)),
            Distances::WideTree(oracle) => Distances::Prefixes(oracle.placed(list)),
            Distances::StoredTree(oracle) => Distances::Prefixes(oracle.computed().placed(list)),
            Distances::Prefixes(oracle) => Distances::Prefixes(oracle.listed(list)),
            Distances::Hops(oracle) => Distances::Hops(oracle.listed(list)),
            Distances::WideHops(oracle) => Distances::WideHops(oracle.listed(list)),
            Distances::Hamming(oracle) => Distances::Hamming(oracle.listed(list)),
            Distances::Differences(oracle) => Distances::Differences(oracle.listed(list)),
            Distances::Routes(oracle) => Distances::Routes(oracle.listed(list)),
            Distances::WideRoutes(oracle) => Distances::WideRoutes(oracle.listed(list)),
            Distances::Table(oracle) => Distances::Table(oracle.listed(list)),
            Distances::WideTable(oracle) => Distances::WideTable(oracle.listed(list)),
            Distances::BetweenHosts(oracle) => Distances::BetweenHosts(oracle.listed(list)),
            Distances::SmallTable(oracle) => Distances::SmallTable(oracle.listed(list)),
            Distances::Own(oracle) => Distances::Own(oracle.listed(list)),
        }
    }

    /// The same distances, as a table of all pairs if there are few PEs and all are near, unless there is a smaller table already.
    pub fn tabulated(self) -> Self {
        match self {
            Distances::Differences(_) => self,
            _ => match self.visit(Tabulate) {
                Some(table) => Distances::SmallTable(table),
                None => self.stored_if_slow(),
            },
        }
    }

    /// The same distances, as a table of all pairs if there are few PEs whose keys are so wide that copying them takes longer than looking up
    /// a distance.
    fn stored_if_slow(self) -> Self {
        if !matches!(self, Distances::WideHops(_)) || self.num_pes() > MOST_STORED {
            return self;
        }
        let matrix = DistanceMatrix::from_fn(self.num_pes(), |a, b| self.distance(a, b));
        matrix.and_then(|matrix| matrix.distances()).unwrap_or(self)
    }
}

impl Metric for Distances {
    type Key = PeId;

    fn between(&self, a: PeId, b: PeId) -> Distance {
        with_oracle!(self, |oracle| oracle.distance(a, b))
    }

    fn max_distance(&self) -> Distance {
        with_oracle!(self, |oracle| oracle.max_distance())
    }

    fn interchangeable(&self, a: PeId, b: PeId) -> bool {
        with_oracle!(self, |oracle| oracle.interchangeable(oracle.key(a), oracle.key(b)))
    }

    fn has_triangle_inequality(&self) -> bool {
        with_oracle!(self, |oracle| oracle.has_triangle_inequality())
    }
}

impl DistanceOracle for Distances {
    fn num_pes(&self) -> usize {
        with_oracle!(self, |oracle| oracle.num_pes())
    }

    fn key(&self, pe: PeId) -> PeId {
        pe
    }

    fn row(&self, pe: PeId) -> Option<&[u8]> {
        with_oracle!(self, |oracle| oracle.row(pe))
    }

    fn nearer_than(&self, pe: PeId, distance: Distance) -> Range<PeId> {
        with_oracle!(self, |oracle| oracle.nearer_than(pe, distance))
    }

    fn ultrametric(&self) -> Option<Ultrametric> {
        with_oracle!(self, |oracle| oracle.ultrametric())
    }
}
