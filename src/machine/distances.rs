//! The distances of a machine in the representations there are, and what can be done without knowing which it is.
//!
//! Each distance that [`Distances`] is asked for costs a look at its representation; so does a whole row, or a sum of many. The loops that take most
//! of the time are compiled separately for each of the common representations ([`with_oracle`]).

use std::ops::Range;

use crate::base::memory;
use crate::base::threads;
use crate::base::types::{Cost, Distance, NodeId, PeId, Weight};
use crate::machine::metric::table::AnyTable;
use crate::machine::{
    BetweenHosts, Differences, DistanceOracle, Hamming, HierarchyOnline, Hops, MachineError, Metric, Own,
    OwnDistances, Placed, Prefixes, Routes, SmallTable, StoredDistances, Table, Ultrametric,
};

/// The distances between all PEs of a machine, in one of the representations there are. `Wide` ones hold larger numbers.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[allow(missing_docs)] // each is named after what it holds
pub enum Distances {
    Tree(HierarchyOnline<u32>),
    WideTree(HierarchyOnline<u64>),
    StoredTree(StoredDistances),
    Prefixes(Placed<Prefixes<u64>>),
    Hops(Placed<Hops<i16, 8>>),
    WideHops(Placed<Hops<i32, 32>>),
    Hamming(Placed<Hamming>),
    Differences(Placed<Differences>),
    Routes(Placed<Routes<u8>>),
    WideRoutes(Placed<Routes<u32>>),
    Table(Placed<Table<u8>>),
    WideTable(Placed<Table<u32>>),
    BetweenHosts(Placed<BetweenHosts>),
    SmallTable(SmallTable),
    Own(Placed<Own>),
}

/// Evaluates an expression with the oracle inside some [`Distances`], compiled for each representation. For expressions of a few lines.
macro_rules! with_each {
    ($distances:expr, |$oracle:ident| $body:expr) => {
        match $distances {
            Distances::Tree($oracle) => $body,
            Distances::WideTree($oracle) => $body,
            Distances::StoredTree($oracle) => $body,
            Distances::Prefixes($oracle) => $body,
            Distances::Hops($oracle) => $body,
            Distances::WideHops($oracle) => $body,
            Distances::Hamming($oracle) => $body,
            Distances::Differences($oracle) => $body,
            Distances::Routes($oracle) => $body,
            Distances::WideRoutes($oracle) => $body,
            Distances::Table($oracle) => $body,
            Distances::WideTable($oracle) => $body,
            Distances::BetweenHosts($oracle) => $body,
            Distances::SmallTable($oracle) => $body,
            Distances::Own($oracle) => $body,
        }
    };
}

/// Evaluates an expression with the oracle inside some [`Distances`], compiled for each of the common representations, and once for all others.
/// These are asked through [`Distances`] itself, which takes about a tenth longer.
///
/// Each use compiles twelve copies of everything it calls, so it belongs around loops that ask for distances, and nowhere higher.
macro_rules! with_oracle {
    ($distances:expr, |$oracle:ident| $body:expr) => {
        match $distances {
            $crate::machine::Distances::Tree($oracle) => $body,
            $crate::machine::Distances::StoredTree($oracle) => $body,
            $crate::machine::Distances::Prefixes($oracle) => $body,
            $crate::machine::Distances::Hops($oracle) => $body,
            $crate::machine::Distances::Hamming($oracle) => $body,
            $crate::machine::Distances::Differences($oracle) => $body,
            $crate::machine::Distances::Routes($oracle) => $body,
            $crate::machine::Distances::WideRoutes($oracle) => $body,
            $crate::machine::Distances::Table($oracle) => $body,
            $crate::machine::Distances::WideTable($oracle) => $body,
            $crate::machine::Distances::SmallTable($oracle) => $body,
            $oracle => $body,
        }
    };
}
pub(crate) use with_oracle;

/// Most PEs whose distances are stored in a byte each: the table of that many takes four megabytes, and most of what a search reads is in
/// cache. On tori of 512 to 2048 PEs, annealing takes about half the time that it takes with computed distances.
const MOST_IN_BYTES: usize = 1 << 11;

/// Most PEs of which all distances are stored in four bytes each: what a search reads is in cache. Annealing on 64 PEs of a mesh of
/// 20000 x 50 takes a third of the time.
const MOST_STORED: usize = 1 << 10;

impl Distances {
    /// The distances of a machine of your own with this number of PEs. Fails if there is no memory for 4 bytes per PE.
    pub fn own(num_pes: usize, distances: impl OwnDistances + 'static) -> Result<Self, MachineError> {
        Own::placed(num_pes, distances).map(Self::Own)
    }

    /// Fills a row: entry i becomes the distance from a PE to PE `pes[i]`.
    pub(crate) fn fill_row(&self, from: PeId, pes: &[PeId], row: &mut [Distance]) {
        with_each!(self, |oracle| {
            let here = oracle.key(from);
            pes.iter().zip(row).for_each(|(&pe, entry)| *entry = oracle.between(here, oracle.key(pe)));
        });
    }

    /// The distances of each PE to all PEs, row by row.
    pub fn rows(&self) -> impl Iterator<Item = Vec<Distance>> {
        let all: Vec<PeId> = (0..self.num_pes() as PeId).collect();
        (0..all.len() as PeId).map(move |pe| self.row_of(pe, &all))
    }

    /// The distances of a PE to some PEs.
    pub fn row_of(&self, from: PeId, pes: &[PeId]) -> Vec<Distance> {
        let mut row = vec![0; pes.len()];
        self.fill_row(from, pes, &mut row);
        row
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
            _ => match self.small_table() {
                Some(table) => Distances::SmallTable(table),
                None => self.stored_if_slow(),
            },
        }
    }

    /// A table of all pairs, if there are few PEs and all are near; O(n²).
    fn small_table(&self) -> Option<SmallTable> {
        let num_pes = self.num_pes();
        if num_pes > MOST_IN_BYTES || self.max_distance() > Distance::from(u8::MAX) {
            return None;
        }
        let all: Vec<PeId> = (0..num_pes as PeId).collect();
        let row = |pe: usize| -> Vec<u8> {
            self.row_of(pe as PeId, &all).into_iter().map(|distance| distance as u8).collect()
        };
        let distances = threads::map(num_pes, 64, &row).concat();
        let is_like_last = |pe: PeId| pe > 0 && self.interchangeable(pe - 1, pe);
        Some(SmallTable::new(distances, is_like_last, self.max_distance(), self.has_triangle_inequality()))
    }

    /// The same distances, as a table of all pairs if there are few PEs whose keys are so wide that copying them takes longer than looking up
    /// a distance.
    fn stored_if_slow(self) -> Self {
        let num_pes = self.num_pes();
        if !matches!(self, Distances::WideHops(_)) || !(1..=MOST_STORED).contains(&num_pes) {
            return self;
        }
        let Ok(mut distances) = memory::zeroed(num_pes * num_pes) else { return self };
        let all: Vec<PeId> = (0..num_pes as PeId).collect();
        (0..).zip(distances.chunks_exact_mut(num_pes)).for_each(|(pe, row)| self.fill_row(pe, &all, row));
        Self::looked_up(AnyTable::new(num_pes, &distances), num_pes)
    }

    /// Those that a table of all pairs holds.
    pub(in crate::machine) fn looked_up(table: AnyTable, num_pes: usize) -> Self {
        let keys = (0..num_pes as PeId).collect();
        match table {
            AnyTable::Narrow(table) => Self::Table(Placed::new(table, keys)),
            AnyTable::Wide(table) => Self::WideTable(Placed::new(table, keys)),
        }
    }
}

impl Metric for Distances {
    type Key = PeId;

    fn between(&self, a: PeId, b: PeId) -> Distance {
        with_each!(self, |oracle| oracle.distance(a, b))
    }

    #[inline(always)]
    fn costs<W: Copy + Into<Weight>, const N: usize>(
        &self,
        from: [PeId; N],
        arcs: &[(NodeId, W)],
        pes: &[PeId],
    ) -> [Cost; N] {
        with_each!(self, |oracle| {
            let (from, mut costs) = (from.map(|pe| oracle.key(pe)), [0; N]);
            for &(head, weight) in arcs {
                let there = oracle.key(pes[head as usize]);
                costs
                    .iter_mut()
                    .zip(from)
                    .for_each(|(cost, here)| *cost += weight.into() * oracle.between(here, there));
            }
            costs
        })
    }

    fn max_distance(&self) -> Distance {
        with_each!(self, |oracle| oracle.max_distance())
    }

    fn interchangeable(&self, a: PeId, b: PeId) -> bool {
        with_each!(self, |oracle| oracle.interchangeable(oracle.key(a), oracle.key(b)))
    }

    fn has_triangle_inequality(&self) -> bool {
        with_each!(self, |oracle| oracle.has_triangle_inequality())
    }
}

impl DistanceOracle for Distances {
    fn num_pes(&self) -> usize {
        with_each!(self, |oracle| oracle.num_pes())
    }

    fn key(&self, pe: PeId) -> PeId {
        pe
    }

    fn row(&self, pe: PeId) -> Option<&[u8]> {
        with_each!(self, |oracle| oracle.row(pe))
    }

    fn nearer_than(&self, pe: PeId, distance: Distance) -> Range<PeId> {
        with_each!(self, |oracle| oracle.nearer_than(pe, distance))
    }

    fn ultrametric(&self) -> Option<Ultrametric> {
        with_each!(self, |oracle| oracle.ultrametric())
    }
}
