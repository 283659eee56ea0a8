//! Mappings to machines.
#![allow(unsafe_code)] // a foreign interface

use std::ffi::c_int;

use viem::machine::Nodes;
use viem::partition::{FixedVertices, PreviousAssignment, Remapping};
use viem::solve::Secondary;
use viem::{PreparedMachine, Request, Solution, score};
use viem_ffi::{Limits, memory_of_run, put};
use viem_workload::contention::{BottleneckConfig, JobObjective, routing_of};

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
    bottleneck: Option<BottleneckConfig>,
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
        Ok(Self { graph, machine, settings, fixed, bottleneck: settings.bottleneck() })
    }

    /// Makes the part that all requests have in common.
    fn request<'b>(&'b self, start: Option<&'b Mapping>, machine: &'b PreparedMachine<'b>) -> Request<'b> {
        Request::new(&self.graph.csr, machine)
            .start(start.map(|start| &start.inner))
            .fixed(self.fixed.as_ref())
            .then_lower(self.bottleneck.as_ref().map(|bottleneck| bottleneck as &dyn Secondary))
    }

    fn solve(&self, request: Request<'_>) -> Result<Solution, Error> {
        Ok(request.observed(&self.settings.watcher()).solve(&self.settings.config())?)
    }

    /// The limits of the loads. Notes where a least load is rounded down to 0.
    fn limits(&self) -> Result<Limits<'_>, Error> {
        noted_limits(self.graph, self.machine, self.settings)
    }

    fn num_pes(&self) -> usize {
        self.machine.inner.num_pes()
    }
}

/// The same for a mapping that is given.
fn noted_limits<'a>(
    graph: &'a Graph,
    machine: &Machine,
    settings: &'a Settings,
) -> Result<Limits<'a>, Error> {
    let num_nodes = || Nodes::of(&machine.inner).hosts().len();
    let limits = settings.limits(graph, &num_nodes)?;
    limits.rounded_least(&graph.csr, &machine.inner.capacities()).iter().for_each(|text| note(text));
    Ok(limits)
}

fn mapping_of(Solution { mapping, report, .. }: Solution, num_pes: usize) -> Mapping {
    Mapping::new(mapping, num_pes, Report::from(&report))
}

/// Maps processes to the PEs of a machine, each PE up to its capacity, such that J, or the objective of the settings, is small: the sum of weight times distance over all edges of
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
        let (limits, prepared) = (job.limits()?, PreparedMachine::new(&job.machine.inner));
        let request = limits.bound(job.request(start, &prepared)).connected(job.settings.is_connected());
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
        let (limits, prepared) = (job.limits()?, PreparedMachine::new(&job.machine.inner));
        let request = limits.bound(job.request(None, &prepared)).previous(remapping);
        let request = request.connected(job.settings.is_connected());
        Ok(mapping_of(job.solve(request)?, job.num_pes()))
    })
}

/// Reports how much the busiest node and the busiest link carry under a mapping.
///
/// - `node`: gets the weight of all edges that leave the busiest node; each PE is a node if the machine does not know its nodes
/// - `link`: gets the load of the busiest link: the weight of all messages over it, in one direction, times its distance; VIEM_UNKNOWN where distances
///   alone are known of the machine
///
/// # Safety
///
/// `node` and `link` lead to memory for a number each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_busiest(
    graph: Option<&Graph>,
    machine: Option<&Machine>,
    mapping: Option<&Mapping>,
    node: *mut i64,
    link: *mut i64,
    error: *mut *mut Error,
) -> Status {
    call(error, || {
        let (graph, machine, mapping) =
            (given("graph", graph)?, given("machine", machine)?, given("mapping", mapping)?);
        check_memory(graph, machine)?;
        let (prepared, pe_of) = (PreparedMachine::new(&machine.inner), mapping.inner.pes());
        let of = |objective: JobObjective| objective.greatest_load(&graph.csr, &prepared, pe_of);
        let busiest_node = of(JobObjective::BusiestNode)?;
        let busiest_link = match routing_of(&machine.inner)? {
            Some(_) => of(JobObjective::Bottleneck)?,
            None => VIEM_UNKNOWN,
        };
        // SAFETY: the caller's promise.
        unsafe { put("node", node, busiest_node) }?;
        // SAFETY: the caller's promise.
        Ok(unsafe { put("link", link, busiest_link) }?)
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
                let (settings, prepared) = (or_default(settings), PreparedMachine::new(&machine.inner));
                let limits = noted_limits(graph, machine, settings)?;
                let request = limits.bound(Request::new(&graph.csr, &prepared));
                Report::from(&request.evaluate(&mapping.inner, &settings.config())?)
            }
        };
        // SAFETY: the caller's promise.
        Ok(unsafe { put("report", report, found) }?)
    })
}
