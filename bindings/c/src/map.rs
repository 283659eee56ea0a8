//! Mappings to machines.
#![allow(unsafe_code)] // a foreign interface

use std::ffi::{c_char, c_int};
use std::time::Instant;

use viem::partition::{FixedVertices, PreviousAssignment, Remapping};
use viem::{PreparedMachine, Request, Solution, score};
use viem_ffi::{memory_of_run, put, rounded_least, text};
use viem_workload::contention::{ReliefConfig, SecondaryObjective, relieve};

use crate::error::{Error, Status, call, create, given, note};
use crate::graph::Graph;
use crate::machine::Machine;
use crate::mapping::{Mapping, Report, VIEM_UNKNOWN};
use crate::partition::{fixed_vertices, migration_weight_of};
use crate::settings::{Settings, or_default};

/// Fails if there is not enough memory for a run on a graph and a machine.
fn check_memory(graph: &Graph, machine: &Machine) -> Result<(), Error> {
    let places = graph.csr.num_nodes() + machine.inner.num_pes();
    Ok(viem_ffi::check_memory(memory_of_run(places, graph.csr.num_arcs()))?)
}

/// The input of a run, checked.
struct Job<'a> {
    graph: &'a Graph,
    machine: &'a Machine,
    settings: &'a Settings,
    fixed: Option<FixedVertices>,
}

impl<'a> Job<'a> {
    /// # Safety
    ///
    /// `fixed` is null or has an entry for each vertex of the graph.
    unsafe fn new(
        graph: Option<&'a Graph>,
        machine: Option<&'a Machine>,
        settings: Option<&'a Settings>,
        fixed: *const i32,
    ) -> Result<Self, Error> {
        let (graph, machine, settings) =
            (given("graph", graph)?, given("machine", machine)?, or_default(settings));
        check_memory(graph, machine)?;
        // SAFETY: the caller's promise.
        let fixed = unsafe { fixed_vertices(fixed, graph, machine.inner.num_pes()) }?;
        Ok(Self { graph, machine, settings, fixed })
    }

    /// Makes the part that all requests have in common.
    fn request<'b>(&'b self, start: Option<&'b Mapping>, machine: &'b PreparedMachine<'b>) -> Request<'b> {
        Request::new(&self.graph.csr, machine)
            .start(start.map(|start| &start.inner))
            .fixed(self.fixed.as_ref())
    }

    fn solve(&self, request: Request<'_>) -> Result<Solution, Error> {
        Ok(request.observed(&self.settings.watcher()).solve(&self.settings.config())?)
    }

    /// Notes where a least load is rounded down to 0.
    fn note_rounded(&self) {
        note_rounded(self.graph, self.machine, self.settings);
    }

    fn num_pes(&self) -> usize {
        self.machine.inner.num_pes()
    }
}

/// The same for a mapping that is given.
fn note_rounded(graph: &Graph, machine: &Machine, settings: &Settings) {
    let rounded = rounded_least(&graph.csr, &machine.inner.capacities(), settings.balance.least_load);
    rounded.iter().for_each(|text| note(text));
}

fn mapping_of(Solution { mapping, report, .. }: Solution, num_pes: usize) -> Mapping {
    Mapping::new(mapping, num_pes, Report::from(&report))
}

/// Maps processes to the PEs of a machine, each PE up to its capacity, such that J is small: the sum of weight times distance over all edges of
/// the communication graph, each counted in both directions. The result is never worse than that of process `i` on the `i`-th PE.
///
/// - `graph`: the communication of n processes; weights of vertices have no effect
/// - `machine`: has room for n processes at least
/// - `start`: a mapping that the result must not be worse than; null for none
/// - `fixed`: n entries, the PE that each process must be on, or -1; null if all are free. The start must respect them
/// - `settings`: null for those of VIEM_PRESET_ECO; imbalance and least load mean nothing here
/// - `mapping`: gets the mapping, which `viem_mapping_free` frees; null on failure
///
/// # Safety
///
/// The array has this length. It does not change during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_map(
    graph: Option<&Graph>,
    machine: Option<&Machine>,
    start: Option<&Mapping>,
    fixed: *const i32,
    settings: Option<&Settings>,
    mapping: *mut *mut Mapping,
    error: *mut *mut Error,
) -> Status {
    create(("mapping", mapping), error, || {
        // SAFETY: the caller's promise.
        let job = unsafe { Job::new(graph, machine, settings, fixed) }?;
        let prepared = PreparedMachine::new(&job.machine.inner);
        Ok(mapping_of(job.solve(job.request(start, &prepared))?, job.num_pes()))
    })
}

/// Maps the vertices of an application graph to the PEs of a machine, many to each, such that J is small and no PE has more than
/// `(1 + imbalance) * ceil(its share of the weight of the graph)`. Shares are in proportion to the capacities of the PEs.
/// As far as bounds and vertices allow it, a PE has at least `least_load * its share`, rounded down; `viem_notes` says where that is 0, and `shortfall` in the report what
/// is missing.
///
/// - `graph`: n vertices with weights, and their communication
/// - `start`: a mapping that the result must not be worse than, first by overload, then by shortfall, then by J; null for none
/// - `fixed`: n entries, the PE that each vertex must be on, or -1; null if all are free. The start must respect them
/// - `settings`: null for those of VIEM_PRESET_ECO
/// - `mapping`: gets the mapping, which `viem_mapping_free` frees; null on failure
///
/// # Safety
///
/// The array has this length. It does not change during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_map_many_to_one(
    graph: Option<&Graph>,
    machine: Option<&Machine>,
    start: Option<&Mapping>,
    fixed: *const i32,
    settings: Option<&Settings>,
    mapping: *mut *mut Mapping,
    error: *mut *mut Error,
) -> Status {
    create(("mapping", mapping), error, || {
        // SAFETY: the caller's promise.
        let job = unsafe { Job::new(graph, machine, settings, fixed) }?;
        job.note_rounded();
        let prepared = PreparedMachine::new(&job.machine.inner);
        let request = job.request(start, &prepared).balanced(job.settings.balance);
        Ok(mapping_of(job.solve(request)?, job.num_pes()))
    })
}

/// Adapts a many-to-one mapping after machine, weights or edges have changed, with few moves: minimises J plus `migration_weight` times the
/// weight of the vertices that move. The graph has the vertices of the old mapping.
///
/// - `old`: the PE that each vertex is on, of those of this machine
/// - `migration_weight`: at least 0
/// - the rest as for `viem_map_many_to_one`; the fixed vertices go where they must, wherever they are
///
/// # Safety
///
/// The array has this length. It does not change during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_remap(
    graph: Option<&Graph>,
    machine: Option<&Machine>,
    old: Option<&Mapping>,
    migration_weight: f64,
    fixed: *const i32,
    settings: Option<&Settings>,
    mapping: *mut *mut Mapping,
    error: *mut *mut Error,
) -> Status {
    create(("mapping", mapping), error, || {
        // SAFETY: the caller's promise.
        let job = unsafe { Job::new(graph, machine, settings, fixed) }?;
        let homes = PreviousAssignment::new(given("old", old)?.inner.pes(), job.num_pes())?;
        let remapping = Remapping::new(&homes, migration_weight_of(migration_weight)?);
        job.note_rounded();
        let prepared = PreparedMachine::new(&job.machine.inner);
        let request = job.request(None, &prepared).balanced(job.settings.balance).previous(remapping);
        Ok(mapping_of(job.solve(request)?, job.num_pes()))
    })
}

/// The secondary objective with this name.
///
/// # Safety
///
/// The name ends with a zero byte, or is null.
unsafe fn objective_of(name: *const c_char) -> Result<SecondaryObjective, Error> {
    if name.is_null() {
        return Ok(SecondaryObjective::default());
    }
    // SAFETY: the caller's promise; it is not null.
    Ok(unsafe { text("objective", name) }?.parse()?)
}

/// Lowers a secondary objective, while J rises by at most a share: exchanges the processes of two PEs, nodes or racks. The result is the
/// mapping that is given unless its objective is lower. Where distances alone are known of a machine, `busiest_link` changes nothing.
///
/// - `start`: the mapping, one-to-one or many-to-one
/// - `objective`: what `viem --secondary` takes, such as `busiest_node`; null for `busiest_link`
/// - `excess`: from 0 to 1; 0.005 is half a percent of J
/// - `fixed`: n entries, the PE that each vertex must stay on, or -1; null if all are free
/// - `settings`: null for those of VIEM_PRESET_ECO; only the progress function means something here
/// - `mapping`: gets the mapping, which `viem_mapping_free` frees; null on failure. Its report has `cost` and `cost_of_start`, and what time it took
///
/// # Safety
///
/// The array has this length; `objective` ends with a zero byte. It does not change during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_relieve(
    graph: Option<&Graph>,
    machine: Option<&Machine>,
    start: Option<&Mapping>,
    objective: *const c_char,
    excess: f64,
    fixed: *const i32,
    settings: Option<&Settings>,
    mapping: *mut *mut Mapping,
    error: *mut *mut Error,
) -> Status {
    create(("mapping", mapping), error, || {
        // SAFETY: the caller's promise.
        let job = unsafe { Job::new(graph, machine, settings, fixed) }?;
        // SAFETY: the caller's promise.
        let objective = unsafe { objective_of(objective) }?;
        let config = ReliefConfig::default().with_objective(objective).with_excess(excess);
        config.validate()?;
        let start = &given("start", start)?.inner;
        let (csr, watcher) = (&job.graph.csr, job.settings.watcher());
        let prepared = PreparedMachine::new(&job.machine.inner);
        let begin = Instant::now();
        let relief = relieve(csr, &prepared, start, job.fixed.as_ref(), &config, &watcher)?;
        let seconds = begin.elapsed().as_secs_f64();
        let report = Report { cost_of_start: relief.cost_of_start, seconds, ..Report::of_cost(relief.cost) };
        Ok(Mapping::new(relief.mapping, job.num_pes(), report))
    })
}

/// Reports a secondary objective under a mapping. That of links is the sum of the weights of all edges whose routes use the busiest one, in each
/// direction.
///
/// - `objective`: as for `viem_relieve`
/// - `greatest`: gets the objective; VIEM_UNKNOWN for links where distances alone are known of the machine
///
/// # Safety
///
/// `objective` ends with a zero byte; `greatest` leads to memory for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_evaluate_secondary(
    graph: Option<&Graph>,
    machine: Option<&Machine>,
    mapping: Option<&Mapping>,
    objective: *const c_char,
    greatest: *mut i64,
    error: *mut *mut Error,
) -> Status {
    call(error, || {
        let (graph, machine, mapping) =
            (given("graph", graph)?, given("machine", machine)?, given("mapping", mapping)?);
        check_memory(graph, machine)?;
        // SAFETY: the caller's promise.
        let objective = unsafe { objective_of(objective) }?;
        let prepared = PreparedMachine::new(&machine.inner);
        let found = objective.evaluate(&graph.csr, &prepared, mapping.inner.pes())?;
        // SAFETY: the caller's promise.
        Ok(unsafe { put("greatest", greatest, found.unwrap_or(VIEM_UNKNOWN)) }?)
    })
}

/// Reports the cost of a mapping, without any search.
///
/// - `many_to_one`: 0 if no PE may have more processes than its capacity; else any number of vertices may be on a PE, and loads are reported
///   too, as the imbalance and the least load of the settings bound them
///
/// # Safety
///
/// `report` leads to memory for a report.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_evaluate(
    graph: Option<&Graph>,
    machine: Option<&Machine>,
    mapping: Option<&Mapping>,
    many_to_one: c_int,
    settings: Option<&Settings>,
    report: *mut Report,
    error: *mut *mut Error,
) -> Status {
    call(error, || {
        let (graph, machine, mapping) =
            (given("graph", graph)?, given("machine", machine)?, given("mapping", mapping)?);
        check_memory(graph, machine)?;
        let found = match many_to_one {
            0 => Report::of_cost(score(&graph.csr, &machine.inner, mapping.inner.pes())?),
            _ => {
                note_rounded(graph, machine, or_default(settings));
                let (settings, prepared) = (or_default(settings), PreparedMachine::new(&machine.inner));
                let request = Request::new(&graph.csr, &prepared).balanced(settings.balance);
                Report::from(&request.evaluate(&mapping.inner, &settings.config())?)
            }
        };
        // SAFETY: the caller's promise.
        Ok(unsafe { put("report", report, found) }?)
    })
}
