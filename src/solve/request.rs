//! Requests: a graph, a machine and constraints.

use std::time::{Duration, Instant};

use super::config::Config;
use super::error::{RequestError, SolveError};
use super::groups::{self, ProcessGroups};
use super::initial::{Along, Initial, Order};
use super::limits::LimitsByWeight;
use super::many_to_one::{self, Origin, Run, SeveralRun};
use super::one_to_one::{Given, Task, check_size, identity, solve_within};
use super::prepared::PreparedMachine;
use super::report::{Report, Seconds, Solution};
use super::secondary::{Lowering, Secondary};
use crate::base::observer::{Limited, Observer, Phase};
use crate::base::threads;
use crate::graph::CsrGraph;
use crate::mapping::Mapping;
use crate::mapping::objective::evaluate;
use crate::mapping::problem::check_room;
use crate::mapping::search::Neighbourhood;
use crate::partition::{
    Envelope, FixedVertices, MigrationWeight, PartitionPreset, Remapping, cut, in_pieces,
};

/// The objective of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Objective {
    /// J: the weight of each edge times the distance of its ends, in both directions.
    #[default]
    J,
    /// The weight of all edges between different PEs, whatever their distance: PEs are the blocks of a partition.
    Cut,
}

/// A problem: a communication graph, a machine, and constraints that compose.
///
/// By itself, a request asks for a one-to-one mapping: each PE takes as many processes as its [capacity](crate::Machine::capacity), by default one.
/// [`balanced`](Self::balanced) lets PEs take any number of vertices, with loads in proportion to the capacities, by one weight of the vertices or by
/// several. [`in_places`](Self::in_places) keeps such limits where each process has a place of its own.
///
/// | constraint | one-to-one | balanced |
/// |---|---|---|
/// | [`fixed`](Self::fixed) | these processes are on these PEs | the same |
/// | [`together`](Self::together) | groups of processes share a node | refused |
/// | [`previous`](Self::previous) | refused | few vertices leave their PEs |
/// | [`start`](Self::start) | the result is not worse | the same, but for the cut |
/// | [`initial`](Self::initial) | the search begins there | the same; of the cut, only an order, whose blocks are the result |
/// | [`minimise`](Self::minimise) | J | J or the cut |
/// | [`then_lower`](Self::then_lower) | a secondary objective is lowered | the same, but for the cut |
/// | [`connected`](Self::connected) | refused | the vertices of each PE are connected; refused with several weights |
///
/// ```
/// use viem::graph::generate;
/// use viem::{Config, Grid, PreparedMachine, Request};
///
/// let (graph, torus) = (generate::mesh(16, 8, 1), Grid::torus(&[8, 4, 4])?);
/// let machine = PreparedMachine::new(&torus);
/// let solution = Request::new(&graph, &machine).solve(&Config::eco())?;
/// assert!(solution.report.cost <= solution.report.cost_of_identity);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Request<'a> {
    graph: &'a CsrGraph,
    machine: &'a PreparedMachine<'a>,
    objective: Objective,
    limits: Option<LimitsByWeight<'a>>,
    fixed: Option<&'a FixedVertices>,
    together: Option<&'a ProcessGroups>,
    previous: Option<Remapping<'a>>,
    start: Option<&'a Mapping>,
    initial: Option<Initial<'a>>,
    secondary: Option<&'a dyn Secondary>,
    is_connected: bool,
    has_places: bool,
    observer: &'a dyn Observer,
}

impl<'a> Request<'a> {
    /// A one-to-one mapping of small J without constraints.
    pub fn new(graph: &'a CsrGraph, machine: &'a PreparedMachine<'a>) -> Self {
        Self {
            graph,
            machine,
            objective: Objective::J,
            limits: None,
            fixed: None,
            together: None,
            previous: None,
            start: None,
            initial: None,
            secondary: None,
            is_connected: false,
            has_places: false,
            observer: &(),
        }
    }

    /// Lets PEs take many vertices. With a [`Balance`](super::Balance), loads are in proportion to the capacities; with
    /// [`Targets`](crate::partition::Targets), each PE has a share, a bound and a least load of its own; with [`SeveralWeights`](super::SeveralWeights), vertices
    /// have several weights, each with its limits. A vertex heavier than every bound is not an error: [`Loads::overload`](super::Loads::overload) is then positive. Each PE with capacity has a vertex, unless there are too few vertices, or
    /// a vertex there would increase the overload. J is not above that of equal ranges of the numbering, unless these have a greater overload.
    ///
    /// ```
    /// use viem::graph::generate;
    /// use viem::solve::Balance;
    /// use viem::{Config, Hierarchy, PreparedMachine, Request};
    ///
    /// let (mesh, tree) = (generate::mesh(40, 30, 1), Hierarchy::parse("4:2", "1:10")?);
    /// let machine = PreparedMachine::new(&tree);
    /// let solution = Request::new(&mesh, &machine).balanced(Balance::default()).solve(&Config::fast())?;
    /// assert!(solution.report.loads.unwrap().greatest <= 154); // 3 % above 150
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Here, the bound of the last PE is almost twice that of the others, and the least load of all PEs is the same:
    ///
    /// ```
    /// use viem::graph::generate;
    /// use viem::{Config, Hierarchy, PreparedMachine, Request, Targets};
    ///
    /// let (mesh, tree) = (generate::mesh(40, 30, 1), Hierarchy::parse("2:2", "1:10")?);
    /// let targets = Targets::sizes(&mesh, vec![300; 4], 0.0)?;
    /// let targets = targets.with_bounds(vec![310, 310, 310, 600])?.with_least_loads(vec![200; 4])?;
    /// let machine = PreparedMachine::new(&tree);
    /// let solution = Request::new(&mesh, &machine).balanced(&targets).solve(&Config::fast())?;
    /// let loads = solution.report.loads.unwrap();
    /// assert!(loads.overload == 0 && loads.least >= 200);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    /// With several weights, all limits are met if first fit decreasing finds a mapping within them; otherwise the bound that is exceeded most, relative to
    /// itself, is exceeded as little as possible. A secondary objective and connected blocks are then refused; an initial mapping along an order has its ranges by
    /// the first weight.
    #[must_use]
    pub fn balanced(self, limits: impl Into<LimitsByWeight<'a>>) -> Self {
        Self { limits: Some(limits.into()), ..self }
    }

    /// Asks for connected blocks, or no longer: the vertices of each PE are connected by edges between them, as far as the bounds allow it. See
    /// [`Partition::connected`](crate::partition::Partition::connected). [`Report::in_pieces`] counts the others.
    ///
    /// ```
    /// use viem::graph::generate;
    /// use viem::solve::Balance;
    /// use viem::{Config, Hierarchy, PreparedMachine, Request};
    ///
    /// let (mesh, tree) = (generate::mesh(40, 30, 1), Hierarchy::parse("4:4", "1:10")?);
    /// let machine = PreparedMachine::new(&tree);
    /// let request = Request::new(&mesh, &machine).balanced(Balance::default()).connected(true);
    /// assert_eq!(request.solve(&Config::fast())?.report.in_pieces, Some(0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn connected(self, is_connected: bool) -> Self {
        Self { is_connected, ..self }
    }

    /// Sets whether each vertex has a place of its own within the limits of [`balanced`](Self::balanced). A PE then takes no more vertices than its capacity, and
    /// the limits bound the weights of those on a PE or node, such as their memory. A mapping without these limits comes first, so they cost nothing if it
    /// keeps them. All limits are met for up to ten processes if that is possible; otherwise, they are exceeded by as little as was found. The result may be
    /// worse than the identity if that exceeds the limits. Least loads, a secondary objective and what one-to-one mappings refuse are refused.
    ///
    /// ```
    /// use viem::graph::{VertexWeights, generate};
    /// use viem::solve::{Balance, SeveralWeights};
    /// use viem::{Config, Hierarchy, PreparedMachine, Request};
    ///
    /// // Every third process needs much memory, of which a node has 26.
    /// let (mesh, tree) = (generate::mesh(8, 4, 1), Hierarchy::parse("8:4", "1:10")?);
    /// let weights = VertexWeights::new(2, mesh.nodes().flat_map(|u| [1, if u % 3 == 0 { 7 } else { 1 }]).collect())?;
    /// let lifted = Balance::default().with_imbalance(32.0);
    /// let several = SeveralWeights::new(&weights, &[lifted.into()])?;
    /// let several = several.with_node_bounds(vec![None, Some(vec![26; 4])])?;
    /// let machine = PreparedMachine::new(&tree);
    /// let request = Request::new(&mesh, &machine).balanced(&several).in_places(true);
    /// let solution = request.solve(&Config::fast())?;
    /// assert_eq!(solution.report.violation().overload, 0);
    /// let mut pes = solution.mapping.pes().to_vec();
    /// pes.sort_unstable();
    /// assert!(pes.into_iter().eq(0..32));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn in_places(self, has_places: bool) -> Self {
        Self { has_places, ..self }
    }

    /// Sets the objective. With the cut as the objective, PEs are the blocks of a partition.
    ///
    /// ```
    /// use viem::graph::generate;
    /// use viem::machine::Blocks;
    /// use viem::solve::{Balance, Objective};
    /// use viem::{Config, PreparedMachine, Request};
    ///
    /// let (grid, blocks) = (generate::grid(32, 32), Blocks::equal(4)?);
    /// let machine = PreparedMachine::new(&blocks);
    /// let request = Request::new(&grid, &machine).balanced(Balance::default()).minimise(Objective::Cut);
    /// let solution = request.solve(&Config::eco())?;
    /// assert_eq!(solution.report.cut, 64);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn minimise(self, objective: Objective) -> Self {
        Self { objective, ..self }
    }

    /// Processes that must be on given PEs, or none. The start must respect them. The result does.
    ///
    /// ```
    /// use viem::graph::generate;
    /// use viem::partition::FixedVertices;
    /// use viem::{Config, Grid, PreparedMachine, Request};
    ///
    /// let (graph, torus) = (generate::grid(8, 8), Grid::torus(&[8, 8])?);
    /// let machine = PreparedMachine::new(&torus);
    /// let mut fixed = FixedVertices::none(64, 64);
    /// fixed.fix(0, 0)?;
    /// fixed.fix(63, 9)?;
    /// let mapping = Request::new(&graph, &machine).fixed(&fixed).solve(&Config::eco())?.mapping;
    /// assert_eq!((mapping.pe_of(0), mapping.pe_of(63)), (0, 9));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn fixed(self, fixed: impl Into<Option<&'a FixedVertices>>) -> Self {
        Self { fixed: fixed.into(), ..self }
    }

    /// Groups of processes, each of which must be on one node, or none. The start must keep them.
    ///
    /// ```
    /// use viem::graph::generate;
    /// use viem::machine;
    /// use viem::solve::ProcessGroups;
    /// use viem::{Config, PreparedMachine, Request};
    ///
    /// let (graph, tree) = (generate::grid(8, 4), machine::build("8:4", "1:10")?);
    /// let (machine, groups) = (PreparedMachine::new(&*tree), ProcessGroups::of_size(32, 4)?);
    /// let mapping = Request::new(&graph, &machine).together(&groups).solve(&Config::eco())?.mapping;
    /// let node = |process| machine.nodes().node(mapping.pe_of(process));
    /// assert!((0..32).all(|process| node(process) == node(process / 4 * 4)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn together(self, groups: impl Into<Option<&'a ProcessGroups>>) -> Self {
        Self { together: groups.into(), ..self }
    }

    /// The present PEs of the vertices, and the price of leaving them: the objective plus that weight times the weight of the vertices that migrate
    /// is minimised. With weight 0, the objective is not above that of a mapping from scratch, whose equivalent PEs and parts of a tree are
    /// permuted to reduce migration. A time limit ends the run early; the run does not continue until then.
    ///
    /// On [small graphs](crate::partition::remap), results for different weights do not contradict each other: with a greater one and
    /// everything else as it was, no more migrates, and no result for another weight has a lower objective plus weight times migration.
    ///
    /// ```
    /// use viem::graph::generate;
    /// use viem::partition::{PreviousAssignment, Remapping};
    /// use viem::solve::Balance;
    /// use viem::{Capacities, Config, Hierarchy, PreparedMachine, Request};
    ///
    /// let (mesh, tree) = (generate::mesh(40, 30, 1), Hierarchy::parse("4:2", "1:10")?);
    /// let machine = PreparedMachine::new(&tree);
    /// let old = Request::new(&mesh, &machine).balanced(Balance::default()).solve(&Config::eco())?.mapping;
    /// // PE 2 has become slow.
    /// let slower = Capacities::new(tree.clone(), vec![2, 2, 1, 2, 2, 2, 2, 2])?;
    /// let (slower, homes) = (PreparedMachine::new(&slower), PreviousAssignment::new(old.pes(), 8)?);
    /// let request = Request::new(&mesh, &slower).balanced(Balance::default());
    /// let new = request.previous(Remapping::new(&homes, "5".parse()?)).solve(&Config::eco())?;
    /// assert!(new.report.migration.unwrap().vertices < 400);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn previous(self, remapping: impl Into<Option<Remapping<'a>>>) -> Self {
        Self { previous: remapping.into(), ..self }
    }

    /// A mapping that the result must not be worse than, or none: with balanced loads first by the total excess over the bounds, then by what PEs
    /// deficit below the least loads, then by the number of PEs without a vertex, then by J.
    #[must_use]
    pub fn start(self, start: impl Into<Option<&'a Mapping>>) -> Self {
        Self { start: start.into(), ..self }
    }

    /// Sets where the search begins, instead of at a construction. If the [neighbourhood](Config::with_neighbourhood) is `None`, that is the result.
    /// If the cut is minimised, the blocks along an order are the result.
    ///
    /// ```
    /// use viem::graph::{Coordinates, generate};
    /// use viem::machine::Blocks;
    /// use viem::partition::{Grouping, PartitionAlgorithm};
    /// use viem::solve::{Balance, Initial, Objective, Order};
    /// use viem::{Config, PreparedMachine, Request};
    ///
    /// let (grid, blocks) = (generate::grid(8, 8), Blocks::proportional(vec![2, 1, 1])?);
    /// let points = Coordinates::new(2, (0..64).flat_map(|u| [(u % 8) as f64, (u / 8) as f64]).collect())?;
    /// let (algorithm, grouping) = (PartitionAlgorithm::Hilbert, Grouping::default());
    /// let curve = Order::Algorithm { algorithm, coordinates: Some(&points), grouping };
    /// let machine = PreparedMachine::new(&blocks);
    /// let request = Request::new(&grid, &machine).balanced(Balance::default()).minimise(Objective::Cut);
    /// let solution = request.initial(Initial::Along(curve)).solve(&Config::eco())?;
    /// assert_eq!((solution.report.cut, solution.report.loads.unwrap().greatest), (12, 32));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn initial(self, initial: impl Into<Option<Initial<'a>>>) -> Self {
        Self { initial: initial.into(), ..self }
    }

    /// A secondary objective that is lowered at the end, or none.
    #[must_use]
    pub fn then_lower(self, secondary: impl Into<Option<&'a dyn Secondary>>) -> Self {
        Self { secondary: secondary.into(), ..self }
    }

    /// An observer that receives the progress of the run, and may ask it to stop.
    #[must_use]
    pub fn observed(self, observer: &'a dyn Observer) -> Self {
        Self { observer, ..self }
    }

    /// Solves the request. If an observer asks to stop, the result is the best that was found so far; bounds are met all the same.
    ///
    /// # Errors
    ///
    /// Constraints that contradict each other, settings out of their ranges, processes without room, and inputs that do not fit graph or machine.
    pub fn solve(&self, config: &Config) -> Result<Solution, SolveError> {
        let weight = self.previous.map_or(MigrationWeight::ZERO, |previous| previous.weight);
        Ok(self.solve_for_weights(config)?.into_best(weight)?)
    }

    /// Solves the request for several weights of migration at once, if there is a previous assignment: see [`Remapping::with_curve`].
    ///
    /// # Errors
    ///
    /// Those of [`solve`](Self::solve).
    pub fn solve_for_weights(&self, config: &Config) -> Result<Envelope<Solution>, SolveError> {
        config.validate()?;
        self.check()?;
        let attempt = Attempt { request: self, config, observer: self.observer, begin: Instant::now() };
        threads::run(config.threads, || match self.limits.filter(|_| !self.has_places) {
            None => Ok(Envelope::single(attempt.one_to_one()?)),
            Some(limits) => attempt.balanced(limits),
        })?
    }

    /// The report of a given mapping, without any search. Its loads are compared with their limits, if there are any; otherwise no PE may have more
    /// processes than its capacity.
    ///
    /// ```
    /// use viem::graph::generate;
    /// use viem::solve::Balance;
    /// use viem::{Config, Hierarchy, Mapping, PreparedMachine, Request};
    ///
    /// let (path, pair) = (generate::grid(4, 1), Hierarchy::parse("2", "1")?);
    /// let machine = PreparedMachine::new(&pair);
    /// let request = Request::new(&path, &machine).balanced(Balance::default());
    /// let report = request.evaluate(&Mapping::many(2, vec![0, 0, 1, 1])?, &Config::eco())?;
    /// assert_eq!((report.cut, report.loads.unwrap().greatest), (1, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The mapping does not fit graph and machine, J does not fit 64 bits, or the limits of the loads are impossible.
    pub fn evaluate(&self, mapping: &Mapping, config: &Config) -> Result<Report, SolveError> {
        config.validate()?;
        self.check()?;
        let attempt = Attempt { request: self, config, observer: &(), begin: Instant::now() };
        threads::run(config.threads, || attempt.report_of(mapping))?
    }

    /// Checks that the constraints mean something together.
    fn check(&self) -> Result<(), SolveError> {
        let is_cut = self.objective == Objective::Cut;
        let has_several = matches!(self.limits, Some(LimitsByWeight::Several(_)));
        let is_bounded = self.limits.is_some();
        let (is_balanced, is_placed) = (is_bounded && !self.has_places, is_bounded && self.has_places);
        let has_least_load = self.limits.is_some_and(|limits| limits.has_least_loads());
        let is_grouped = self.together.is_some_and(|groups| groups.size() > 1);
        let has_place = self.start.is_some() || self.initial.is_some();
        let is_mapping = matches!(self.initial, Some(Initial::Mapping(_)));
        let is_order = matches!(self.initial, Some(Initial::Along(_)));
        let is_index = matches!(self.initial, Some(Initial::Along(Order::Index(_))));
        let refused = [
            (has_several && is_cut && is_order, RequestError::RangesHaveSeveral),
            (has_several && self.secondary.is_some(), RequestError::SeveralHaveSecondary),
            (is_bounded && self.together.is_some(), RequestError::GroupsAreBalanced),
            (is_placed && self.secondary.is_some(), RequestError::PlacesHaveSecondary),
            (is_placed && has_least_load, RequestError::PlacesHaveLeastLoads),
            (!is_balanced && self.previous.is_some(), RequestError::PreviousIsOneToOne),
            (!is_balanced && is_cut, RequestError::CutIsOneToOne),
            (is_cut && (self.start.is_some() || is_mapping), RequestError::CutHasStart),
            (is_cut && self.secondary.is_some(), RequestError::CutHasSecondary),
            (self.is_connected && !is_balanced, RequestError::ConnectedIsOneToOne),
            (self.is_connected && has_several, RequestError::SeveralAreConnected),
            (self.is_connected && self.previous.is_some(), RequestError::ConnectedHasPrevious),
            (self.is_connected && self.secondary.is_some(), RequestError::ConnectedHasSecondary),
            (self.is_connected && is_cut && is_index, RequestError::RangesAreConnected),
            (self.previous.is_some() && has_place, RequestError::PreviousHasStart),
            (self.fixed.is_some() && is_index, RequestError::RangesAreFixed),
            (has_least_load && is_cut && is_index, RequestError::RangesHaveLeastLoads),
            (self.previous.is_some() && self.secondary.is_some(), RequestError::PreviousHasSecondary),
            (is_grouped && self.initial.is_some(), RequestError::GroupsHaveInitial),
            (is_balanced && self.start.is_some() && self.initial.is_some(), RequestError::StartAndInitial),
        ];
        if let Some((_, error)) = refused.into_iter().find(|(is_refused, _)| *is_refused) {
            return Err(error.into());
        }
        self.secondary.map_or(Ok(()), |secondary| secondary.validate())?;
        let machine = self.machine.machine();
        self.limits.map_or(Ok(()), |limits| limits.check(self.graph, machine))
    }
}

/// A request on its way to a solution.
struct Attempt<'a> {
    request: &'a Request<'a>,
    config: &'a Config,
    observer: &'a dyn Observer,
    begin: Instant,
}

impl Attempt<'_> {
    fn one_to_one(&self) -> Result<Solution, SolveError> {
        let &Self { request, config, observer, begin } = self;
        let &Request { graph, machine, fixed, start, .. } = request;
        let (made, spent) = self.initial_along(|along| along.one_to_one())?;
        let given = Given { start, initial: made.as_ref().or(self.given_initial()), fixed };
        let task = Task {
            graph,
            machine,
            config: &config.one_to_one,
            seed: config.seed,
            given,
            begin,
            time_limit: self.limit_of_j(),
            observer,
        };
        let mut solution = match request.together {
            Some(together) => groups::solve(task, together)?,
            None => match request.limits {
                Some(limits) => solve_within(task, limits, config.partition)?,
                None => task.solve()?,
            },
        };
        let seconds = &mut solution.report.seconds;
        (seconds.distances, seconds.construction) = (seconds.distances - spent, seconds.construction + spent);
        self.lowered(solution)
    }

    fn balanced(&self, limits: LimitsByWeight<'_>) -> Result<Envelope<Solution>, SolveError> {
        let &Request { fixed, start, previous, objective, is_connected, .. } = self.request;
        let from = previous.map_or(Origin::Nothing, Origin::PreviousAssignment);
        if objective == Objective::Cut {
            return self.searched(limits, from);
        }
        let (made, spent) = self.initial_along(|along| limits.along(along, fixed))?;
        let initial = made.as_ref().or(self.given_initial());
        let is_kept = self.config.one_to_one.search.neighbourhood == Neighbourhood::None;
        if is_kept && initial.is_some() && is_connected {
            return Err(RequestError::ConnectedIsKept.into());
        }
        let found = match initial.filter(|_| is_kept) {
            Some(initial) => {
                Envelope::single(Solution { mapping: initial.clone(), report: self.report_of(initial)? })
            }
            None => self.searched(limits, initial.or(start).map_or(from, Origin::Start))?,
        };
        found.try_map(|mut solution| {
            let report = &mut solution.report;
            if initial.is_some() {
                report.cost_of_construction = report.cost_of_start.take().or(Some(report.cost));
            }
            report.seconds.construction += spent;
            self.lowered(solution)
        })
    }

    /// The best mappings or partitions within the limits of the loads.
    fn searched(
        &self,
        limits: LimitsByWeight<'_>,
        from: Origin<'_>,
    ) -> Result<Envelope<Solution>, SolveError> {
        let &Self { request, config, observer, begin } = self;
        let &Request { graph, machine, fixed, objective, is_connected, .. } = request;
        let (is_cut, time_limit) = (objective == Objective::Cut, self.limit_of_j());
        match limits {
            LimitsByWeight::Several(several) => SeveralRun {
                graph,
                machine,
                config,
                several,
                from,
                fixed,
                is_cut,
                observer,
                begin,
                time_limit,
            }
            .solve(),
            LimitsByWeight::One(limits) => {
                let (seed, search) = (config.seed, &config.many_to_one);
                let run = Run {
                    graph,
                    machine,
                    config: search,
                    seed,
                    limits,
                    from,
                    fixed,
                    is_connected,
                    observer,
                    begin,
                    time_limit,
                };
                match objective {
                    Objective::Cut => many_to_one::partition(&run, config.partition, self.order()),
                    Objective::J => run.solve(),
                }
            }
        }
    }

    /// The initial mapping if it is given.
    fn given_initial(&self) -> Option<&Mapping> {
        match self.request.initial {
            Some(Initial::Mapping(mapping)) => Some(mapping),
            _ => None,
        }
    }

    /// The order along which an initial mapping is asked for, if there is one.
    fn order(&self) -> Option<Order<'_>> {
        match self.request.initial {
            Some(Initial::Along(order)) => Some(order),
            _ => None,
        }
    }

    /// The initial mapping along an order, if one is asked for, and the seconds that it took.
    fn initial_along(
        &self,
        make: impl FnOnce(&Along<'_>) -> Result<Mapping, SolveError>,
    ) -> Result<(Option<Mapping>, f64), SolveError> {
        let Some(order) = self.order() else { return Ok((None, 0.0)) };
        let &Request { graph, machine, .. } = self.request;
        // It decides only where the search begins, so it is the same for all presets.
        let (seed, preset, begin) = (self.config.seed, PartitionPreset::Eco, Instant::now());
        self.observer.begins(Phase::Construction);
        let observer = &Limited::silent(self.observer, self.begin, self.config.time_limit);
        let made = make(&Along { graph, machine, order, preset, seed, observer })?;
        Ok((Some(made), begin.elapsed().as_secs_f64()))
    }

    /// The time limit of the search for a small J: half of it if a secondary objective takes the rest.
    fn limit_of_j(&self) -> Option<Duration> {
        let parts = if self.request.secondary.is_some() { 2 } else { 1 };
        self.config.time_limit.map(|limit| limit / parts)
    }

    /// The solution with a lower secondary objective, if there is one, which is a part of the search.
    fn lowered(&self, solution: Solution) -> Result<Solution, SolveError> {
        let &Request { graph, machine, fixed, together, secondary, .. } = self.request;
        let Some(secondary) = secondary else { return Ok(solution) };
        let limits = self.request.limits.and_then(LimitsByWeight::one);
        let observer = &Limited::silent(self.observer, self.begin, self.config.time_limit);
        let (begin, Solution { mapping, mut report }) = (Instant::now(), solution);
        let cost = report.cost;
        let unbound = Lowering::new(graph, machine, &mapping, cost).observed(observer);
        let given = Lowering { limits, fixed, together, ..unbound };
        let lowered = secondary.lower(&given)?;
        report.stopped |= observer.should_stop();
        let pe_of = lowered.mapping.pes();
        report.cost = lowered.cost;
        report.cut = cut(graph, pe_of);
        report.loads = limits.map(|limits| limits.loads(graph, machine.machine(), pe_of));
        report.in_pieces = limits.map(|_| in_pieces(graph, pe_of, machine.machine().num_pes()));
        report.swaps_made += lowered.exchanges;
        report.seconds.search += begin.elapsed().as_secs_f64();
        report.seconds.total = self.begin.elapsed().as_secs_f64();
        Ok(Solution { mapping: lowered.mapping, report })
    }

    /// The report of a mapping that nothing was done for.
    fn report_of(&self, mapping: &Mapping) -> Result<Report, SolveError> {
        let &Request { graph, machine, limits, fixed, previous, .. } = self.request;
        let (whole, distances, pe_of) = (machine.machine(), machine.distances()?, mapping.pes());
        check_size(mapping, graph.num_nodes())?;
        let identity = match limits {
            Some(limits) => limits.identity(graph, whole, fixed)?,
            None => {
                check_room(graph.num_nodes(), whole)?;
                Given { fixed, ..Given::default() }.check_fixed(graph.num_nodes(), whole)?;
                Mapping::on(whole, pe_of.to_vec())?;
                identity(graph, whole, fixed)
            }
        };
        let cost = evaluate(graph, distances, mapping)?;
        let cost_of_identity = evaluate(graph, distances, &identity)?;
        let report = Report {
            in_pieces: limits.map(|_| in_pieces(graph, pe_of, whole.num_pes())),
            migration: previous.map(|previous| previous.homes.migration(graph, pe_of)),
            seconds: Seconds { total: self.begin.elapsed().as_secs_f64(), ..Seconds::default() },
            ..Report::new(graph, (cost, cut(graph, pe_of)), cost_of_identity)
        };
        Ok(match limits {
            Some(limits) => limits.report(report, limits.loads(graph, whole, pe_of)),
            None => report,
        })
    }
}
