//! The load of each link.

use super::loads::{Carriers, CarriersVisitor, Loads};
use crate::routing::{Hop, LaneId, Routing, TreeLevel};
use viem::base::types::{Cost, PeId};
use viem::graph::CsrGraph;
use viem::machine::{Interconnect, Machine, MachineError};
use viem::mapping::objective::ScoreError;
use viem::mapping::problem::ProblemError;

/// The routes of a machine, or `None` if only its distances are known.
pub fn routing_of(machine: &dyn Machine) -> Result<Option<Routing>, MachineError> {
    match machine.interconnect() {
        Interconnect::Ports => Ok(None),
        _ => Routing::new(machine).map(Some),
    }
}

/// Runs a visitor over the links of a machine.
pub(super) fn visit<V: CarriersVisitor>(routing: &Routing, visitor: V) -> Result<V::Output, ScoreError> {
    match routing.levels() {
        Some(levels) => visitor.visit(TreeLinks { levels, whole: Links::new(routing) }),
        None => visitor.visit(KnownLinks::new(Links::new(routing))),
    }
}

/// The links of a machine. Each has the number of its first lane.
#[derive(Clone, Debug)]
struct Links<'a> {
    routing: &'a Routing,
    hops: Vec<Hop>,
}

impl<'a> Links<'a> {
    fn new(routing: &'a Routing) -> Self {
        Self { routing, hops: Vec::new() }
    }
}

impl Carriers for Links<'_> {
    fn num_pes(&self) -> usize {
        self.routing.num_pes()
    }

    fn count(&self) -> usize {
        self.routing.num_lanes()
    }

    fn most(&self) -> Cost {
        Cost::try_from(self.routing.longest().1).unwrap_or(Cost::MAX)
    }

    #[inline]
    fn both_ways(&mut self, one: PeId, other: PeId, mut carried: impl FnMut(usize, Cost)) {
        self.hops.clear();
        self.routing.route(one, other, &mut self.hops);
        self.routing.route(other, one, &mut self.hops);
        for hop in self.hops.iter().filter(|hop| hop.cycles > 0) {
            carried(self.routing.link_of(hop.lane) as usize, hop.cycles as Cost);
        }
    }
}

/// Largest numbers of pairs of PEs, and of links on routes between them, that are remembered. Balances time against 50 MB.
const MOST_PAIRS: usize = 1 << 20;
const MOST_HOPS: usize = 1 << 21;

/// The same links, with each route looked up only once.
struct KnownLinks<'a> {
    links: Links<'a>,
    /// The first entry in the next list, and the number of entries, for the links of each pair of PEs; no entries before they are first needed.
    of_pair: Vec<(u32, u32)>,
    hops: Vec<(u32, Cost)>,
}

impl<'a> KnownLinks<'a> {
    fn new(links: Links<'a>) -> Self {
        let pairs = links.num_pes().saturating_mul(links.num_pes());
        let of_pair = vec![(0, 0); if pairs <= MOST_PAIRS { pairs } else { 0 }];
        Self { links, of_pair, hops: Vec::new() }
    }
}

impl Carriers for KnownLinks<'_> {
    fn num_pes(&self) -> usize {
        self.links.num_pes()
    }

    fn count(&self) -> usize {
        self.links.count()
    }

    fn most(&self) -> Cost {
        self.links.most()
    }

    #[inline]
    fn both_ways(&mut self, one: PeId, other: PeId, mut carried: impl FnMut(usize, Cost)) {
        let pair = one.min(other) as usize * self.num_pes() + one.max(other) as usize;
        let Self { links, of_pair, hops } = self;
        match of_pair.get(pair) {
            Some(&(begin, count)) if count > 0 => {
                let known = &hops[begin as usize..][..count as usize];
                known.iter().for_each(|&(link, cycles)| carried(link as usize, cycles));
            }
            _ => {
                let begin = hops.len();
                let is_kept = pair < of_pair.len() && begin < MOST_HOPS;
                links.both_ways(one, other, |link, cycles| {
                    if is_kept {
                        hops.push((link as u32, cycles));
                    }
                    carried(link, cycles);
                });
                if is_kept {
                    of_pair[pair] = (begin as u32, (hops.len() - begin) as u32);
                }
            }
        }
    }
}

/// The links of a tree, in tables. Look-ups of routes are several times as fast, and find both directions at once.
struct TreeLinks<'a> {
    whole: Links<'a>,
    levels: Vec<TreeLevel>,
}

impl Carriers for TreeLinks<'_> {
    fn num_pes(&self) -> usize {
        self.whole.num_pes()
    }

    fn count(&self) -> usize {
        self.whole.count()
    }

    fn most(&self) -> Cost {
        self.whole.most()
    }

    #[inline]
    fn both_ways(&mut self, one: PeId, other: PeId, mut carried: impl FnMut(usize, Cost)) {
        let (one, other) = (one as usize, other as usize);
        let mut inwards = self.levels.iter().rposition(|level| level.group_of[one] != level.group_of[other]);
        while let Some(number) = inwards {
            let level = &self.levels[number];
            let [up, down] = level.cycles;
            for group in [level.group_of[one], level.group_of[other]] {
                let link = (level.first + 2 * group) as usize;
                if up > 0 {
                    carried(link, up as Cost);
                }
                if down > 0 {
                    carried(link + 1, down as Cost);
                }
            }
            inwards = level.inside;
        }
    }

    fn add_up(&self) -> bool {
        true
    }

    fn are_few(&self) -> bool {
        true
    }
}

/// The link with the greatest load.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct BusiestLink {
    /// Its name.
    pub name: String,
    /// Its load, a part of J. If links have [cycles of their own](viem::machine::Network::with_link_cycles), these count instead.
    pub load: Cost,
}

/// The load of each link.
///
/// ```
/// use viem_workload::contention::LinkLoads;
/// use viem::graph::generate;
/// use viem::machine::Grid;
/// use viem_workload::routing::Routing;
///
/// let routing = Routing::new(&Grid::mesh(&[4])?)?;
/// let loads = LinkLoads::of(&generate::grid(4, 1), &routing, &[0, 2, 1, 3])?;
/// let busiest = loads.busiest().expect("there is traffic");
/// assert_eq!((busiest.name.as_str(), busiest.load), ("(1) -> (2)", 3));
/// // The loads of all links add up to J.
/// assert_eq!(loads.total(), 2 * (2 + 1 + 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LinkLoads<'a>(Loads<Links<'a>>);

impl<'a> LinkLoads<'a> {
    /// The loads under a mapping, process i on PE `pe_of[i]`; O(links + m · links of a route). Both directions of an
    /// edge carry its weight.
    ///
    /// Fails if a process has no PE, if a PE does not exist, or if the loads could overflow.
    pub fn of(graph: &CsrGraph, routing: &'a Routing, pe_of: &[PeId]) -> Result<Self, ProblemError> {
        Loads::of(graph, Links::new(routing), pe_of).map(Self)
    }

    /// The load of a link, given by its first lane.
    pub fn load(&self, link: LaneId) -> Cost {
        self.0.all()[link as usize]
    }

    /// The sum of all loads: J of the mapping, unless links have [cycles of their
    /// own](viem::machine::Network::with_link_cycles); [`Cost::MAX`] if it is greater than that.
    pub fn total(&self) -> Cost {
        self.0.all().iter().fold(0, |sum, load| sum.saturating_add(*load))
    }

    /// The greatest load; 0 without traffic. O(1).
    pub fn greatest(&self) -> Cost {
        self.0.greatest()
    }

    /// The link with the greatest load, of several the first; `None` without traffic.
    pub fn busiest(&self) -> Option<BusiestLink> {
        let load = self.greatest();
        let link = self.0.all().iter().position(|&other| other == load).filter(|_| load > 0)?;
        Some(BusiestLink { name: self.0.carriers.routing.name(link as LaneId), load })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use viem::machine::{Listed, build};

    fn both_ways(carriers: &mut impl Carriers, one: PeId, other: PeId) -> Vec<(usize, Cost)> {
        let mut all = Vec::new();
        carriers.both_ways(one, other, |link, load| all.push((link, load)));
        all.sort_unstable();
        all
    }

    /// Tables and remembered links agree with both routes, also on repeated look-ups.
    #[test]
    fn links_from_tables_are_those_of_routes() {
        let specs = [
            ("2:3:2", Some("1:10:100")),
            ("2:3:2", Some("0:1:3")),
            ("2:3:2", Some("5:2:7")),
            ("torus:4x3", None),
            ("mesh:3x2/2", Some("1:5")),
            ("rails:3:2:2", Some("1:2:5:9")),
            ("hypercube:4", None),
        ];
        for (spec, distances) in specs {
            let whole = build(spec, distances).unwrap();
            let list = (0..whole.num_pes() as PeId).filter(|pe| pe % 5 != 1).collect();
            let machine = Listed::new(whole, list).unwrap();
            let routing = routing_of(&machine).unwrap().unwrap();
            let mut links = Links::new(&routing);
            let mut known = KnownLinks::new(links.clone());
            let mut tree = routing.levels().map(|levels| TreeLinks { levels, whole: Links::new(&routing) });
            assert_eq!(tree.is_some(), spec.starts_with('2'), "{spec}");
            let pes = 0..machine.num_pes() as PeId;
            for (one, other) in pes.clone().flat_map(|one| pes.clone().map(move |other| (one, other))) {
                let expected = both_ways(&mut links, one, other);
                assert_eq!(both_ways(&mut known, one, other), expected, "{spec}: {one} {other}");
                if let Some(tree) = &mut tree {
                    assert_eq!(both_ways(tree, one, other), expected, "{spec}: {one} {other}");
                }
            }
        }
    }
}
