//! Constructions, improvement and the final local search.

use std::ops::Range;
use std::time::{Duration, Instant};

use super::SolveError;
use super::effort::{SMALL, SMALL_ANYWHERE, TINY, rebuilding, size};
use super::presets::{MapConfig, MapPreset};
use super::report::{MapReport, MapSeconds};
use crate::graph::CsrGraph;
use crate::ground::observer::{Limited, Observer, Phase};
use crate::ground::rng::derive;
use crate::ground::threads;
use crate::ground::types::Cost;
use crate::machine::{Distances, Places};
use crate::mapping::Mapping;
use crate::mapping::construct::{
    ByGroups, Construction, ConstructionConfig, ConstructionError, InParts, construct, identity_around,
    repaired,
};
use crate::mapping::objective::cost;
use crate::mapping::problem::Problem;
use crate::mapping::search::{
    Improvement, Neighbourhood, SearchOutcome, finds_optimum_around, improve, local_search, lower_bound,
    search_few_places,
};
use crate::partition::FixedVertices;

/// One part in this many of a time limit is reserved for the final local search.
const LAST_PART: u32 = 20;

/// How many processes, edges and parts a construction by groups looks at. Balances groups that hardly fit against time: a few hundredths
/// of a second.
const MOST_REGROUPED: usize = 1 << 22;

/// Most processes and arcs of a graph whose groups are mapped to slots. Balances jobs of hundreds of thousands of ranks against the time in which
/// the weights of larger graphs are sorted.
const MOST_SLOTTED: usize = 1 << 22;

/// The input of a run.
pub(super) struct Run<'a> {
    /// The communication graph, with as many processes as places.
    pub graph: &'a CsrGraph,
    pub machine: &'a Places,
    pub config: &'a MapConfig,
    /// The place of each process.
    pub start: Option<&'a Mapping>,
    /// The place of each process in the first mapping, if none is to be constructed.
    pub first: Option<&'a Mapping>,
    /// Processes that must be on given places.
    pub fixed: Option<&'a FixedVertices>,
    pub observer: &'a dyn Observer,
    pub begin: Instant,
}

impl Run<'_> {
    /// The place of each process, and the report. `num_processes` is the number of processes requested.
    pub fn with(
        &self,
        distances: &Distances,
        num_processes: usize,
    ) -> Result<(Mapping, MapReport), SolveError> {
        let Run { graph, start, observer, begin, .. } = *self;
        let problem = Problem::new(graph, distances)?.with_parts(self.machine.parts());
        let problem = problem.with_known_fixed(self.fixed);
        let distances_done = Instant::now();

        observer.begins(Phase::Construction);
        let constructed = self.constructed(&problem)?;
        let is_cut_short = self.improving(Cost::MAX).should_stop();
        let costs = constructed.iter().map(|&(cost, _)| cost);
        let cost_of_construction = costs.min().expect("there is a construction");
        let identity = identity_around(self.fixed, self.machine.by_pe());
        let cost_of_identity = cost(&problem, &identity);
        // Places of one PE differ only in their numbers, so a start that respects fixed processes stays as it is.
        let start = start.map(|start| repaired(&problem, start.clone()));
        let start = start.as_ref();
        let cost_of_start = start.map(|start| cost(&problem, start));
        let construction_done = Instant::now();

        observer.begins(Phase::Search);
        let given = [cost_of_start.zip(start), Some((cost_of_identity, &identity))];
        let given: Vec<(Cost, &Mapping)> = given.into_iter().flatten().collect();
        let outcome = self.search_with_rivals(&problem, &constructed, &given)?;
        // Nobody moves for nothing.
        let kept = given.iter().find(|&&(cost, _)| cost == outcome.cost).map(|&(_, mapping)| mapping.clone());
        let search_done = Instant::now();

        let seconds = |from: Instant, to: Instant| (to - from).as_secs_f64();
        let report = MapReport {
            num_processes,
            num_edges: graph.num_edges(),
            algorithm: self.config.construction.algorithm_on(self.machine),
            cost_of_identity,
            cost_of_start,
            cost_of_construction,
            cost: outcome.cost,
            swaps_tried: outcome.tried,
            swaps_made: outcome.made,
            stopped: outcome.stopped || is_cut_short,
            seconds: MapSeconds {
                distances: seconds(begin, distances_done),
                construction: seconds(distances_done, construction_done),
                search: seconds(construction_done, search_done),
                total: seconds(begin, search_done),
            },
        };
        Ok((kept.unwrap_or(outcome.mapping), report))
    }

    /// The observer, extended to ask to stop after this time.
    fn limited(&self, limit: Option<Duration>, bound: Cost) -> Limited<'_> {
        Limited::new(self.observer, self.begin, limit, bound)
    }

    /// As above, for everything before the final local search.
    fn improving(&self, bound: Cost) -> Limited<'_> {
        self.limited(self.config.time_limit.map(|limit| limit - limit / LAST_PART), bound)
    }

    /// The initial constructions, each with its J.
    fn constructed(&self, problem: &Problem<'_>) -> Result<Vec<(Cost, Mapping)>, ConstructionError> {
        if let Some(first) = self.first {
            let first = repaired(problem, first.clone());
            return Ok(vec![(cost(problem, &first), first)]);
        }
        let limited = self.improving(Cost::MAX);
        self.constructions(problem, 0..self.num_constructions(), &limited)
    }

    /// Further constructions besides the multilevel ones, if they take little time. Each builds patterns perfectly
    /// that they miss: the greedy one some that are regular, division from the outermost parts groups that fill the
    /// parts of an uneven tree exactly, and that by nodes blocks of a grid.
    fn others(&self, problem: &Problem<'_>) -> Result<Vec<(Cost, Mapping)>, ConstructionError> {
        let mut others = if self.is_small_multilevel() { self.small_others(problem)? } else { Vec::new() };
        if self.first.is_none() && self.fixed.is_none() && !self.is_final() {
            others.extend(self.by_groups(problem));
            others.extend(self.by_slots(problem)?);
            others.extend(self.by_nodes(problem)?);
        }
        Ok(others)
    }

    /// The construction by groups, if there are any.
    fn by_groups(&self, problem: &Problem<'_>) -> Option<(Cost, Mapping)> {
        let effort = if self.is_quickest() { MOST_REGROUPED / 8 } else { MOST_REGROUPED };
        let (seed, observer) = (self.seed_of_other(1), &self.improving(Cost::MAX));
        ByGroups { parts: self.machine.parts(), effort, seed, observer }.construct(problem)
    }

    /// The construction by nodes, where that is worth its time.
    fn by_nodes(&self, problem: &Problem<'_>) -> Result<Option<(Cost, Mapping)>, ConstructionError> {
        let Run { graph, machine, config, .. } = *self;
        let is_worth_it = match config.construction.algorithm_on(machine) {
            Construction::Multilevel => true,
            // On so many places it takes half of the time of the quickest preset.
            Construction::DualRecursive => !self.is_quickest(),
            _ => false,
        };
        let Some(nodes) = is_worth_it.then(|| machine.nodes()).flatten() else { return Ok(None) };
        let (config, observer) = (&self.construction_in_parts(), &self.improving(Cost::MAX));
        let in_parts = InParts { machine, config, seed: self.seed_of_other(0), observer };
        let mapping = in_parts.by_nodes(&nodes, graph, |groups| self.map_groups(groups, &nodes.places))?;
        Ok(Some((cost(problem, &mapping), mapping)))
    }

    /// The construction by slots, if there are groups.
    fn by_slots(&self, problem: &Problem<'_>) -> Result<Option<(Cost, Mapping)>, ConstructionError> {
        let Run { graph, machine, .. } = *self;
        if size(graph) > MOST_SLOTTED {
            return Ok(None);
        }
        let (config, observer) = (&self.construction_in_parts(), &self.improving(Cost::MAX));
        let in_parts = InParts { machine, config, seed: self.seed_of_other(2), observer };
        let mapping = in_parts.by_slots(graph, |groups, slots| self.map_groups(groups, slots))?;
        Ok(mapping.map(|mapping| (cost(problem, &mapping), mapping)))
    }

    /// The seed of a further construction, by its number; counted from the end, as the multilevel ones are from the start.
    fn seed_of_other(&self, number: u64) -> u64 {
        derive(derive(self.config.seed, 0), u64::MAX - number)
    }

    /// Whether no preset is quicker.
    fn is_quickest(&self) -> bool {
        self.config.not_worse_than.is_none()
    }

    /// How parts of the machine are filled if it is known which processes they have.
    fn construction_in_parts(&self) -> ConstructionConfig {
        let ConstructionConfig { inner, partitions, .. } = self.config.construction;
        let partitions = if self.is_quickest() { inner } else { partitions };
        ConstructionConfig { undivided: 0, partitions, ..self.config.construction }
    }

    /// The mapping of groups, with the effort of the next quicker preset: the whole is improved afterwards.
    fn map_groups(&self, graph: &CsrGraph, machine: &Places) -> Result<Mapping, ConstructionError> {
        let quicker = self.config.with_effort_of(self.config.not_worse_than.unwrap_or(MapPreset::Fast));
        let (config, observer) = (&MapConfig { time_limit: None, ..quicker }, &self.improving(Cost::MAX));
        let run = Run { graph, machine, config, start: None, observer, ..*self };
        let problem = Problem::new(graph, machine.distances()).expect("J is a part of that of the whole");
        let problem = problem.with_parts(machine.parts());
        Ok(run.search_with_rivals(&problem, &run.constructed(&problem)?, &[])?.mapping)
    }

    /// Those for small problems.
    fn small_others(&self, problem: &Problem<'_>) -> Result<Vec<(Cost, Mapping)>, ConstructionError> {
        let construct = |algorithm| {
            let config = &self.config.with_construction(algorithm);
            let mapping = Run { config, ..*self }.construct(problem, 0, &self.improving(Cost::MAX))?;
            Ok((cost(problem, &mapping), mapping))
        };
        [Construction::GreedyAllC, Construction::HierarchyTopDown].into_iter().map(construct).collect()
    }

    /// Whether the first mapping is a multilevel one, and the problem so small that others take little time.
    fn is_small_multilevel(&self) -> bool {
        let is_multilevel = self.config.construction.algorithm_on(self.machine) == Construction::Multilevel;
        let is_small = self.graph.num_nodes() < SMALL_ANYWHERE;
        self.first.is_none() && !self.is_final() && is_multilevel && is_small
    }

    /// Whether nothing is improved beyond the first mapping.
    fn is_final(&self) -> bool {
        self.config.search.neighbourhood == Neighbourhood::None
    }

    /// The settings of the preset that the result must not be worse than.
    fn quicker(&self) -> Option<MapConfig> {
        let is_cheap = |preset: &MapPreset| *preset != MapPreset::Fast || self.graph.num_nodes() < SMALL;
        self.config.not_worse_than.filter(is_cheap).map(|preset| self.config.with_effort_of(preset))
    }

    /// The settings that divide from the outermost parts, which fills parts exactly that the multilevel construction
    /// does not see. The quickest preset does without: it would take twice the time.
    fn divided(&self) -> Option<MapConfig> {
        let divided = self.config.with_construction(Construction::HierarchyTopDown);
        (!self.is_quickest() && self.is_small_multilevel()).then_some(divided)
    }

    /// Improves the best of several constructions and given mappings. The result is not worse than that of
    /// the preset named by [`MapConfig::not_worse_than`].
    fn search_with_rivals(
        &self,
        problem: &Problem<'_>,
        constructed: &[(Cost, Mapping)],
        given: &[(Cost, &Mapping)],
    ) -> Result<SearchOutcome, ConstructionError> {
        if self.is_final() || finds_optimum_around(problem.fixed(), self.graph, self.machine) {
            return self.search(problem, constructed, given);
        }
        // Within the same time limit, but only once.
        let run = |config: MapConfig, best: &Option<SearchOutcome>, is_quicker| {
            let limited = self.improving(best.as_ref().map_or(Cost::MAX, |best| best.cost));
            let rival =
                Run { config: &MapConfig { time_limit: None, ..config }, observer: &limited, ..*self };
            let constructed = rival.constructed(problem)?;
            match is_quicker {
                true => rival.search_with_rivals(problem, &constructed, given),
                false => rival.search(problem, &constructed, given),
            }
        };
        let mut best = None;
        for (config, is_quicker) in [(self.quicker(), true), (self.divided(), false)] {
            if let Some(config) = config {
                let rival = run(config, &best, is_quicker)?;
                best = Some(best.map_or(rival.clone(), |best| best.or(rival)));
            }
        }
        let bound = best.as_ref().map_or(Cost::MAX, |best| best.cost);
        let quiet = Limited { observer: self.observer, deadline: None, bound };
        let own = Run { observer: &quiet, ..*self }.search(problem, constructed, given)?;
        let stopped = own.stopped;
        let best = best.map_or(own.clone(), |best| own.or(best));
        Ok(self.searched_as_few_places(problem, SearchOutcome { stopped, ..best }))
    }

    /// The dense search, if there are few places.
    fn searched_as_few_places(&self, problem: &Problem<'_>, found: SearchOutcome) -> SearchOutcome {
        let (config, seed) = (&self.config.improvement.few_places, derive(self.config.seed, 2));
        let limited = self.improving(found.cost);
        let found = search_few_places(problem, self.machine.hierarchy(), found, config, seed, &limited);
        SearchOutcome { stopped: found.stopped || self.observer.should_stop(), ..found }
    }

    /// The number of constructions before the best are improved.
    fn num_constructions(&self) -> usize {
        let config = self.config;
        // Without edges, all are equally good.
        if self.is_final() || self.graph.num_arcs() == 0 {
            return 1;
        }
        match self.machine.hierarchy() {
            Some(_) => config.constructions.number(self.graph),
            // The dense search that follows starts from many mappings of its own.
            None if config.improvement.few_places.is_few(self.graph.num_nodes()) => {
                config.constructions.anywhere.max(1)
            }
            None => config.constructions.number_anywhere(self.graph.num_nodes()),
        }
    }

    /// The constructions of these numbers, each with its J, as far as they start before the observer asks to
    /// stop. Number 0 is always included.
    fn constructions(
        &self,
        problem: &Problem<'_>,
        numbers: Range<usize>,
        observer: &dyn Observer,
    ) -> Result<Vec<(Cost, Mapping)>, ConstructionError> {
        let construct = |number: usize| {
            let mapping = self.construct(problem, number, observer)?;
            Ok((cost(problem, &mapping), mapping))
        };
        let first = numbers.start.max(1);
        let (always, others) = rayon::join(
            || (numbers.start == 0).then(|| construct(0)),
            || threads::map_until(first..numbers.end, &|| observer.should_stop(), &construct),
        );
        always.into_iter().chain(others).collect()
    }

    /// The construction of this number.
    fn construct(
        &self,
        problem: &Problem<'_>,
        number: usize,
        observer: &dyn Observer,
    ) -> Result<Mapping, ConstructionError> {
        let (n, mut config) = (self.graph.num_nodes(), self.config.construction);
        let algorithm = config.algorithm_on(self.machine);
        if self.is_final() {
            config.undivided = 0;
            config.inner = config.partitions;
        } else if size(self.graph) > self.config.constructions.careful {
            config.partitions = config.inner;
        } else if n < SMALL {
            config.undivided = 0;
            if n <= TINY {
                config.partitions = config.inner;
            }
            let is_tree = self.machine.hierarchy().is_some();
            if number == 1 && is_tree && algorithm == Construction::HierarchyTopDown {
                // Regular structures are sometimes built better from the other end.
                config.algorithm = Some(Construction::HierarchyBottomUp);
                config.partitions = config.inner;
            }
        }
        if number % 2 == 1 && algorithm == Construction::Multilevel {
            // Bisection sometimes finds what pairing hides.
            config.algorithm = Some(Construction::DualRecursive);
        }
        let seed = derive(derive(self.config.seed, 0), number as u64);
        construct(problem, self.machine, &config, seed, observer)
    }

    /// Improves the best of several mappings with the effort of the preset, then until no exchange of the
    /// neighbourhood improves it.
    fn search(
        &self,
        problem: &Problem<'_>,
        constructed: &[(Cost, Mapping)],
        given: &[(Cost, &Mapping)],
    ) -> Result<SearchOutcome, ConstructionError> {
        let config = self.config;
        let others = self.others(problem)?;
        // Improvement helps constructions more than given mappings, so of the latter only better ones are
        // tried too.
        let least = constructed.iter().map(|&(cost, _)| cost).min();
        let mut starts: Vec<(Cost, &Mapping)> =
            constructed.iter().map(|(cost, mapping)| (*cost, mapping)).collect();
        let others = others.iter().map(|(cost, mapping)| (*cost, mapping));
        let given = given.iter().copied().chain(others);
        starts.extend(given.filter(|&(cost, _)| least.is_none_or(|least| cost < least)));
        let descend = |start| {
            let limited = self.limited(config.time_limit, Cost::MAX);
            local_search(problem, start, &config.search, derive(derive(config.seed, 1), 0), &limited)
        };
        if self.is_final() {
            let best = starts.iter().min_by_key(|&(cost, _)| cost);
            return Ok(descend(best.expect("there always is a construction").1));
        }
        let starts: Vec<&Mapping> = starts.iter().map(|&(_, start)| start).collect();
        let best = self.improved(problem, &starts)?;
        let descended = descend(&best.mapping);
        let (tried, made) = (best.tried + descended.tried, best.made + descended.made);
        Ok(SearchOutcome { tried, made, ..descended })
    }

    /// Improves the best of several mappings with the effort of the preset. With a time limit, it continues
    /// until shortly before the limit, or until no mapping can be better, alternately from the best mapping and from
    /// new constructions, with increasing effort.
    fn improved(
        &self,
        problem: &Problem<'_>,
        starts: &[&Mapping],
    ) -> Result<SearchOutcome, ConstructionError> {
        let Run { machine, config, .. } = *self;
        let each = self.num_constructions();
        let mut improvement = config.improvement;
        improvement.rebuilding = rebuilding(improvement.rebuilding, each, problem.graph());
        let run = |cycle: usize, starts: &[&Mapping], improvement: &Improvement, limited: &Limited<'_>| {
            let seed = derive(derive(derive(config.seed, 1), 1), cycle as u64);
            improve(problem, machine, starts, improvement, seed, limited)
        };
        let mut best = run(0, starts, &improvement, &self.improving(Cost::MAX));
        let is_easy = || finds_optimum_around(problem.fixed(), problem.graph(), machine);
        let goes_on = config.time_limit.is_some() && !is_easy();
        let least = if goes_on { lower_bound(problem, &self.improving(best.cost)) } else { Cost::MIN };
        for cycle in 1usize.. {
            let limited = self.improving(best.cost);
            if !goes_on || best.cost <= least || limited.should_stop() {
                break;
            }
            let mut more = Vec::new();
            if cycle % 2 == 0 {
                improvement.rebuilding = improvement.rebuilding.saturating_mul(2);
                improvement.tournament = improvement.tournament.saturating_mul(2);
                let first = (cycle / 2).saturating_mul(each);
                more = self.constructions(problem, first..first.saturating_add(each), &limited)?;
                if more.is_empty() {
                    break;
                }
            }
            let starts: Vec<&Mapping> = match more.is_empty() {
                true => vec![&best.mapping],
                false => more.iter().map(|(_, mapping)| mapping).collect(),
            };
            let next = run(cycle, &starts, &improvement, &limited);
            best = best.or(next);
        }
        Ok(best)
    }
}
