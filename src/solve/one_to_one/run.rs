//! Constructions, improvement and the final local search.

use std::ops::Range;
use std::time::{Duration, Instant};

use super::config::OneToOneConfig;
use super::effort::{SMALL, SMALL_ANYWHERE, TINY, rebuilding, size};
use crate::base::observer::{Limited, Observer, Phase, Seeded};
use crate::base::rng::derive;
use crate::base::types::Cost;
use crate::base::{span, threads};
use crate::graph::CsrGraph;
use crate::machine::{Distances, Places};
use crate::mapping::Mapping;
use crate::mapping::construct::{Construction, ConstructionError, construct, identity_around, repaired};
use crate::mapping::objective::cost;
use crate::mapping::problem::Problem;
use crate::mapping::search::{
    Improvement, Neighbourhood, SearchOutcome, finds_optimum_around, improve, local_search, lower_bound,
    search_small_instance,
};
use crate::partition::FixedVertices;
use crate::solve::error::SolveError;
use crate::solve::preset::MapPreset;
use crate::solve::report::{Report, Seconds};

/// One part in this many of a time limit is reserved for the final local search.
const LAST_PART: u32 = 20;

/// A mapping with its J, if there is one.
pub(super) type Made = Result<Option<(Cost, Mapping)>, ConstructionError>;

/// A further initial mapping besides the constructions of a preset.
pub(super) struct Start {
    /// The test whether it is worth its time.
    pub applies: fn(&Run<'_>) -> bool,
    pub construct: fn(&Run<'_>, &Problem<'_>) -> Made,
}

/// The input of a run.
pub(super) struct Run<'a> {
    /// The communication graph, with as many processes as places.
    pub graph: &'a CsrGraph,
    pub machine: &'a Places,
    pub config: &'a OneToOneConfig,
    /// The further initial mappings that there are.
    pub starts: &'a [Start],
    pub seed: u64,
    /// The place of each process.
    pub start: Option<&'a Mapping>,
    /// The place of each process in the initial mapping, if none is to be constructed.
    pub initial: Option<&'a Mapping>,
    /// Processes that must be on given places.
    pub fixed: Option<&'a FixedVertices>,
    pub observer: &'a dyn Observer,
    pub begin: Instant,
    /// The time that the run may take.
    pub time_limit: Option<Duration>,
}

impl Run<'_> {
    /// The place of each process, and the report. `num_processes` is the number of processes requested.
    pub fn with(&self, distances: &Distances, num_processes: usize) -> Result<(Mapping, Report), SolveError> {
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
        let cost_of_start = start.map(|start| cost(&problem, start));
        let construction_done = Instant::now();

        observer.begins(Phase::Search);
        let given = [cost_of_start.zip(start), Some((cost_of_identity, &identity))];
        let given: Vec<(Cost, &Mapping)> = given.into_iter().flatten().collect();
        let outcome = self.search_with_rivals(&problem, &constructed, &given)?;
        let mapping = prefer_given(&given, outcome.cost, outcome.mapping);
        let search_done = Instant::now();

        let seconds = |from: Instant, to: Instant| (to - from).as_secs_f64();
        let report = Report {
            num_processes,
            cost_of_start,
            cost_of_construction: Some(cost_of_construction),
            construction: Some(self.config.construction.algorithm_on(self.machine)),
            swaps_tried: outcome.tried,
            swaps_made: outcome.made,
            stopped: outcome.stopped || is_cut_short,
            seconds: Seconds {
                distances: seconds(begin, distances_done),
                construction: seconds(distances_done, construction_done),
                search: seconds(construction_done, search_done),
                total: seconds(begin, search_done),
            },
            // The cut between PEs is not known here.
            ..Report::new(graph, (outcome.cost, 0), cost_of_identity)
        };
        Ok((mapping, report))
    }

    /// The observer, extended to ask to stop after this time.
    fn limited(&self, limit: Option<Duration>, bound: Cost) -> Limited<'_> {
        Limited::new(self.observer, self.begin, limit, bound)
    }

    /// As above, for everything before the final local search.
    pub(super) fn improving(&self, bound: Cost) -> Limited<'_> {
        self.limited(self.time_limit.map(|limit| limit - limit / LAST_PART), bound)
    }

    /// The initial constructions, each with its J.
    pub(super) fn constructed(
        &self,
        problem: &Problem<'_>,
    ) -> Result<Vec<(Cost, Mapping)>, ConstructionError> {
        if let Some(initial) = self.initial {
            let initial = repaired(problem, initial.clone());
            return Ok(vec![(cost(problem, &initial), initial)]);
        }
        let limited = self.improving(Cost::MAX);
        self.constructions(problem, 0..self.num_constructions(), &limited)
    }

    /// The further initial mappings that the run is worth, each with its J.
    fn further(&self, problem: &Problem<'_>) -> Result<Vec<(Cost, Mapping)>, ConstructionError> {
        let applying = self.starts.iter().filter(|start| (start.applies)(self));
        applying.filter_map(|start| (start.construct)(self, problem).transpose()).collect()
    }

    /// Returns whether no preset is quicker.
    pub(super) fn is_quickest(&self) -> bool {
        self.config.not_worse_than.is_none()
    }

    /// Returns whether the first mapping is a multilevel one, and the problem so small that others take little time.
    pub(super) fn is_small_multilevel(&self) -> bool {
        let is_multilevel = self.config.construction.algorithm_on(self.machine) == Construction::Multilevel;
        let is_small = self.graph.num_nodes() < SMALL_ANYWHERE;
        self.initial.is_none() && !self.is_final() && is_multilevel && is_small
    }

    /// Returns whether nothing is improved beyond the first mapping.
    pub(super) fn is_final(&self) -> bool {
        self.config.search.neighbourhood == Neighbourhood::None
    }

    /// The settings of the preset that the result must not be worse than.
    fn quicker(&self) -> Option<OneToOneConfig> {
        let is_cheap = |preset: &MapPreset| *preset != MapPreset::Fast || self.graph.num_nodes() < SMALL;
        self.config.not_worse_than.filter(is_cheap).map(|preset| self.config.with_effort_of(preset))
    }

    /// The settings that divide from the outermost parts, which fills parts exactly that the multilevel construction
    /// does not see. The quickest preset does without: it would take twice the time.
    fn divided(&self) -> Option<OneToOneConfig> {
        let divided = self.config.with_construction(Construction::HierarchyTopDown);
        (!self.is_quickest() && self.is_small_multilevel()).then_some(divided)
    }

    /// Improves the best of several constructions and given mappings. The result is not worse than that of
    /// the preset named by [`OneToOneConfig::not_worse_than`].
    pub(super) fn search_with_rivals(
        &self,
        problem: &Problem<'_>,
        constructed: &[(Cost, Mapping)],
        given: &[(Cost, &Mapping)],
    ) -> Result<SearchOutcome, ConstructionError> {
        if self.is_final() || finds_optimum_around(problem.fixed(), self.graph, self.machine) {
            return self.search(problem, constructed, given);
        }
        // Within the same time limit, but only once.
        let run = |config: OneToOneConfig, best: &Option<SearchOutcome>, is_quicker| {
            let limited = self.improving(best.as_ref().map_or(Cost::MAX, |best| best.cost));
            let rival = Run { config: &config, time_limit: None, observer: &limited, ..*self };
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
        let (config, seed) = (&self.config.improvement.small_instance, derive(self.seed, 2));
        let limited = self.improving(found.cost);
        let found = search_small_instance(problem, self.machine.hierarchy(), found, config, seed, &limited);
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
            None if config.improvement.small_instance.is_few(self.graph.num_nodes()) => {
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
        let (always, others) = threads::join(
            || (numbers.start == 0).then(|| construct(0)),
            || threads::map_until(first..numbers.end, &|| observer.should_stop(), &construct),
        );
        always.into_iter().chain(others).collect()
    }

    /// The construction of this number.
    pub(super) fn construct(
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
        let seed = derive(derive(self.seed, 0), number as u64);
        span::named("construction", || construct(problem, self.machine, &config, Seeded { seed, observer }))
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
        let others = self.further(problem)?;
        // Improvement helps constructions more than given mappings, so of the latter only better ones are
        // tried too.
        let least = constructed.iter().map(|&(cost, _)| cost).min();
        let mut starts: Vec<(Cost, &Mapping)> =
            constructed.iter().map(|(cost, mapping)| (*cost, mapping)).collect();
        let others = others.iter().map(|(cost, mapping)| (*cost, mapping));
        let given = given.iter().copied().chain(others);
        starts.extend(given.filter(|&(cost, _)| least.is_none_or(|least| cost < least)));
        let descend = |start| {
            let limited = self.limited(self.time_limit, Cost::MAX);
            let seeded = Seeded { seed: derive(derive(self.seed, 1), 0), observer: &limited };
            span::named("local search", || local_search(problem, start, &config.search, seeded))
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
            let seed = derive(derive(derive(self.seed, 1), 1), cycle as u64);
            let seeded = Seeded { seed, observer: limited };
            span::named("improvement", || improve(problem, machine, starts, improvement, seeded))
        };
        let mut best = run(0, starts, &improvement, &self.improving(Cost::MAX));
        let is_easy = || finds_optimum_around(problem.fixed(), problem.graph(), machine);
        let goes_on = self.time_limit.is_some() && !is_easy();
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

/// The given mapping of this J, or else the one that was found: at equal cost, a given mapping is kept.
pub(in crate::solve) fn prefer_given(given: &[(Cost, &Mapping)], cost: Cost, found: Mapping) -> Mapping {
    given.iter().find(|&&(of_given, _)| of_given == cost).map_or(found, |&(_, mapping)| mapping.clone())
}
