//! Settings of runs.
#![allow(unsafe_code)] // a foreign interface

use std::ffi::{c_char, c_int, c_void};
use std::num::NonZero;
use std::time::Duration;

use viem::base::types::Weight;
use viem::qap::QapConfig;
use viem::solve::{Balance, LoadLimits};
use viem::{Config, MapPreset, PartitionPreset, Targets};
use viem_ffi::{AskedLimits, Limits, array, count, environment, optional, text};
use viem_workload::contention::{BottleneckConfig, JobObjective};

use crate::error::{Error, Status, call, create, free};
use crate::graph::Graph;
use crate::progress::{Callback, Watcher};

/// Trade-offs of time and quality.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// About a third of the effort of VIEM_PRESET_ECO.
    Fast = 0,
    /// Good results; the default.
    Eco = 1,
    /// The best results, in about thirty times the effort of VIEM_PRESET_ECO.
    Strong = 2,
}

/// A function that is called during a run: `cost` is the best J or cut so far, VIEM_UNKNOWN before there is one. The run ends soon with the best it
/// has if it returns anything but 0; then `stopped` is set in the report. One call at a time, at most a hundred a second, from any thread. It
/// returns normally: no exception and no `longjmp` may leave it.
pub type ProgressFunction = Option<unsafe extern "C" fn(data: *mut c_void, cost: i64) -> c_int>;

/// Settings of a run. Several runs may use them at once, unless one of the functions `viem_settings_set_...` changes them.
pub struct Settings {
    preset: Preset,
    is_social: bool,
    seed: u64,
    threads: usize,
    balance: Balance,
    /// By weight, the least load of each block or PE, instead of that of the balance; empty if not given.
    least_loads: Vec<Vec<Weight>>,
    /// The limits of each of several weights; empty if all have those of the balance.
    limits_of_weights: Vec<Balance>,
    /// By weight, the capacity of each block or PE; empty if all weights have those of the machine.
    capacities_of_weights: Vec<Vec<u32>>,
    /// By weight, the greatest load of each node; empty if nodes have no bounds.
    node_capacities: Vec<Option<Vec<Weight>>>,
    pub(crate) time_limit: Option<Duration>,
    is_connected: bool,
    /// None for J alone.
    bottleneck: Option<BottleneckConfig>,
    callback: Option<Callback>,
}

impl Settings {
    const fn new(preset: Preset) -> Self {
        Self {
            preset,
            is_social: false,
            seed: 0,
            threads: 1,
            balance: Balance { imbalance: 0.03, least_load: 0.0, per_division: false },
            least_loads: Vec::new(),
            limits_of_weights: Vec::new(),
            capacities_of_weights: Vec::new(),
            node_capacities: Vec::new(),
            time_limit: None,
            is_connected: false,
            bottleneck: None,
            callback: None,
        }
    }

    /// The preset and the threads that the environment says, with an imbalance and a least load.
    pub fn of_environment(imbalance: f64, least_load: f64) -> Self {
        let preset = match environment::preset() {
            Some(PartitionPreset::Fast) => Preset::Fast,
            Some(PartitionPreset::Strong) => Preset::Strong,
            _ => Preset::Eco,
        };
        let settings = Self::new(preset);
        let balance = settings.balance.with_imbalance(imbalance).with_least_load(least_load);
        Self { threads: environment::threads(), balance, ..settings }
    }

    pub(crate) fn watcher(&self) -> Watcher {
        Watcher::new(self.callback)
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The seed of all random choices.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    pub(crate) fn partition_preset(&self) -> PartitionPreset {
        match (self.preset, self.is_social) {
            (Preset::Fast, false) => PartitionPreset::Fast,
            (Preset::Eco, false) => PartitionPreset::Eco,
            (Preset::Strong, false) => PartitionPreset::Strong,
            (Preset::Fast, true) => PartitionPreset::FastSocial,
            (Preset::Eco, true) => PartitionPreset::EcoSocial,
            (Preset::Strong, true) => PartitionPreset::StrongSocial,
        }
    }

    /// The trade-off of time and quality.
    pub fn map_preset(&self) -> MapPreset {
        self.partition_preset().into()
    }

    /// Returns the bounds of the loads.
    pub fn balance(&self) -> Balance {
        self.balance
    }

    /// Returns the limits of the loads of a graph, whose vertices may have several weights.
    pub(crate) fn limits<'a>(
        &'a self,
        graph: &'a Graph,
        num_nodes: &dyn Fn() -> usize,
    ) -> Result<Limits<'a>, Error> {
        let least_loads = self.least_loads();
        let asked = AskedLimits { nodes: &self.node_capacities, ..self.asked(&least_loads) };
        Ok(Limits::new((&graph.csr, graph.several.as_ref()), asked, num_nodes)?)
    }

    /// By weight, the least load of each block or PE, if they are given.
    fn least_loads(&self) -> Vec<&[Weight]> {
        self.least_loads.iter().map(Vec::as_slice).collect()
    }

    /// The limits without those of nodes.
    fn asked<'a, 'b>(&'a self, least_loads: &'b [&'a [Weight]]) -> AskedLimits<'a, 'b>
    where
        'a: 'b,
    {
        let common = std::slice::from_ref(&self.balance);
        let each = Some(&self.limits_of_weights[..]).filter(|each| !each.is_empty());
        let (balances, capacities) = (each.unwrap_or(common), &self.capacities_of_weights[..]);
        AskedLimits { balances, least_loads, capacities, nodes: &[] }
    }

    /// The limits by each of this many weights of the vertices; none if the [balance](Self::balance) says all.
    pub fn limits_by_weight(&self, num_weights: usize) -> Result<Vec<LoadLimits<'_>>, Error> {
        let is_plain = self.least_loads.is_empty()
            && self.limits_of_weights.is_empty()
            && self.capacities_of_weights.is_empty();
        if is_plain {
            return Ok(Vec::new());
        }
        Ok(self.asked(&self.least_loads()).by_weight(num_weights)?)
    }

    /// Whether blocks should be connected.
    pub(crate) fn is_connected(&self) -> bool {
        self.is_connected
    }

    /// A setting that is not the default and that distributed graphs do not have, if there is one.
    pub fn not_distributed(&self) -> Option<&'static str> {
        let settings = [
            (self.time_limit.is_some(), "time limit"),
            (self.callback.is_some(), "progress function"),
            (self.is_social, "recognition of social networks"),
            (self.bottleneck.is_some(), "objective"),
            (!self.node_capacities.is_empty(), "capacities of nodes"),
            (self.is_connected, "connected blocks"),
            (self.balance.per_division, "imbalance of divisions"),
        ];
        settings.into_iter().find(|(is_set, _)| *is_set).map(|(_, name)| name)
    }

    pub(crate) fn config(&self) -> Config {
        let config = Config::from(self.partition_preset()).with_seed(self.seed).with_threads(self.threads);
        config.with_time_limit(self.time_limit)
    }

    /// The search for the objective, if that is not J alone.
    pub(crate) fn bottleneck(&self) -> Option<BottleneckConfig> {
        self.bottleneck.map(|bottleneck| bottleneck.with_seed(self.seed))
    }

    pub(crate) fn qap(&self) -> QapConfig {
        let config = QapConfig::preset(self.map_preset()).with_seed(self.seed).with_threads(self.threads);
        config.with_time_limit(self.time_limit)
    }
}

/// Returns the settings, or the default for null.
pub fn or_default(settings: Option<&Settings>) -> &Settings {
    static DEFAULT: Settings = Settings::new(Preset::Eco);
    settings.unwrap_or(&DEFAULT)
}

/// Makes settings: those of a preset, with seed 0, one thread, an imbalance of 3 %, no least load, no time limit and no progress function.
///
/// - `preset`: one of `viem_preset`
/// - `settings`: gets the settings, which `viem_settings_free` frees; null on failure
///
/// # Safety
///
/// `settings` leads to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_settings_new(
    preset: c_int,
    settings: *mut *mut Settings,
    error: *mut *mut Error,
) -> Status {
    create(("settings", settings), error, || {
        let presets = [Preset::Fast, Preset::Eco, Preset::Strong];
        let preset = presets.into_iter().find(|&known| known as c_int == preset);
        preset.map(Settings::new).ok_or_else(|| Error::usage("the argument `preset` is none of the presets"))
    })
}

/// Sets the seed of all random choices. The same seed gives the same result, with any number of threads.
///
/// # Safety
///
/// The settings are not in use elsewhere.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_settings_set_seed(
    settings: Option<&mut Settings>,
    seed: u64,
    error: *mut *mut Error,
) -> Status {
    change(settings, error, |settings| {
        settings.seed = seed;
        Ok(())
    })
}

/// Sets the number of threads: at least 1, or 0 for one per processor that the process may use.
///
/// # Safety
///
/// The settings are not in use elsewhere.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_settings_set_threads(
    settings: Option<&mut Settings>,
    threads: i64,
    error: *mut *mut Error,
) -> Status {
    change(settings, error, |settings| {
        settings.threads = match count("threads", threads)? {
            0 => std::thread::available_parallelism().map_or(1, NonZero::get),
            threads if threads > MOST_THREADS => {
                return Err(Error::usage(format!(
                    "{threads} threads are too many; there are at most {MOST_THREADS}"
                )));
            }
            threads => threads,
        };
        Ok(())
    })
}

/// More threads than any machine has; each takes memory.
const MOST_THREADS: usize = 1 << 14;

/// Sets the imbalance: 0.03 allows blocks and PEs 3 % more than their share. 0 asks for perfect balance.
///
/// # Safety
///
/// The settings are not in use elsewhere.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_settings_set_imbalance(
    settings: Option<&mut Settings>,
    imbalance: f64,
    error: *mut *mut Error,
) -> Status {
    change(settings, error, |settings| {
        if !(imbalance >= 0.0 && imbalance.is_finite()) {
            return Err(Error::usage(format!(
                "the imbalance is {imbalance}; it must be a finite number from 0 on"
            )));
        }
        settings.balance.imbalance = imbalance;
        Ok(())
    })
}

/// Sets the least load: 0.9 asks for 90 % of its share at least in each block and on each PE, rounded down. 0 asks for nothing. Where both cannot
/// be met, bounds take precedence over least loads: the report says how many loads are below, and by how much.
///
/// - `least_load`: from 0 to 1
///
/// # Safety
///
/// The settings are not in use elsewhere.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_settings_set_least_load(
    settings: Option<&mut Settings>,
    least_load: f64,
    error: *mut *mut Error,
) -> Status {
    change(settings, error, |settings| {
        Targets::check_least_load(least_load)?;
        settings.balance.least_load = least_load;
        Ok(())
    })
}

/// Sets the least load of each block or PE as a weight, instead of a share that all have in common. Each is at most the share of its block or PE,
/// rounded up. Partitions and many-to-one mappings must have the same number of blocks or PEs.
///
/// - `num_blocks`: the number of blocks or PEs; 0 removes these least loads
/// - `least_loads`: by block or PE, at least 0
///
/// # Safety
///
/// The array has this length. It does not change during the call. The settings are not in use elsewhere.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_settings_set_least_loads(
    settings: Option<&mut Settings>,
    num_blocks: i64,
    least_loads: *const i64,
    error: *mut *mut Error,
) -> Status {
    change(settings, error, |settings| {
        // SAFETY: the caller's promise.
        let least_loads = unsafe { array("least_loads", least_loads, count("num_blocks", num_blocks)?) }?;
        settings.least_loads = if least_loads.is_empty() { Vec::new() } else { vec![least_loads.to_vec()] };
        Ok(())
    })
}

/// Sets the least load of each block or PE as a weight, for each of several weights of the vertices. Each is at most the share of its block or PE, rounded
/// up. Graphs of another number of weights, and another number of blocks or PEs, are refused.
///
/// - `num_weights`: the number of weights; 0 removes these least loads
/// - `num_blocks`: the number of blocks or PEs
/// - `least_loads`: `num_weights` numbers for each block or PE, one block after the other, at least 0
///
/// # Safety
///
/// The array has the length `num_weights * num_blocks`. It does not change during the call. The settings are not in use elsewhere.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_settings_set_least_loads_of_weights(
    settings: Option<&mut Settings>,
    num_weights: i64,
    num_blocks: i64,
    least_loads: *const i64,
    error: *mut *mut Error,
) -> Status {
    change(settings, error, |settings| {
        let (num_weights, num_blocks) =
            (count("num_weights", num_weights)?, count("num_blocks", num_blocks)?);
        // SAFETY: the caller's promise.
        let all = unsafe { array("least_loads", least_loads, product(num_weights, num_blocks)?) }?;
        settings.least_loads = columns(all, num_weights);
        Ok(())
    })
}

/// Sets imbalance and least load for each of several weights of the vertices, as `viem_graph_with_weights` takes them, in place of those that all
/// have in common. Graphs of another number of weights are refused.
///
/// - `num_weights`: the number of weights; 0 removes these limits
/// - `imbalances`: by weight, finite and at least 0
/// - `least_loads`: by weight, from 0 to 1; null for 0
///
/// # Safety
///
/// The arrays have this length. They do not change during the call. The settings are not in use elsewhere.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_settings_set_limits_of_weights(
    settings: Option<&mut Settings>,
    num_weights: i64,
    imbalances: *const f64,
    least_loads: *const f64,
    error: *mut *mut Error,
) -> Status {
    change(settings, error, |settings| {
        let num_weights = count("num_weights", num_weights)?;
        // SAFETY: the caller's promise.
        let imbalances = unsafe { array("imbalances", imbalances, num_weights) }?;
        // SAFETY: the caller's promise.
        let least_loads = unsafe { optional("least_loads", least_loads, num_weights) }?;
        let per_division = settings.balance.per_division;
        let balance = |(weight, &imbalance)| Balance {
            imbalance,
            least_load: least_loads.map_or(0.0, |least_loads: &[f64]| least_loads[weight]),
            per_division,
        };
        let limits: Vec<Balance> = imbalances.iter().enumerate().map(balance).collect();
        limits.iter().try_for_each(Balance::validate)?;
        settings.limits_of_weights = limits;
        Ok(())
    })
}

/// Sets the capacities of blocks or PEs for each of several weights of the vertices, such as speed and memory, in place of the capacities of a machine or the
/// shares of a partition. Shares of each weight are in proportion to them. Graphs of another number of weights, and machines of another number of PEs, are
/// refused.
///
/// - `num_weights`: the number of weights; 0 removes these capacities
/// - `num_blocks`: the number of blocks or PEs
/// - `capacities`: `num_weights` numbers for each block or PE, one block after the other; of no weight all are 0
///
/// # Safety
///
/// The array has the length `num_weights * num_blocks`. It does not change during the call. The settings are not in use elsewhere.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_settings_set_capacities_of_weights(
    settings: Option<&mut Settings>,
    num_weights: i64,
    num_blocks: i64,
    capacities: *const u32,
    error: *mut *mut Error,
) -> Status {
    change(settings, error, |settings| {
        let (num_weights, num_blocks) =
            (count("num_weights", num_weights)?, count("num_blocks", num_blocks)?);
        // SAFETY: the caller's promise.
        let all = unsafe { array("capacities", capacities, product(num_weights, num_blocks)?) }?;
        settings.capacities_of_weights = columns(all, num_weights);
        Ok(())
    })
}

/// Sets the most that all vertices on a node of a machine may weigh together, such as its memory, by each of their weights. The bounds of PEs hold, too; a
/// large imbalance lifts them. The nodes are those that `viem_machine_num_nodes` counts. Each block of a partition is a node of its own.
///
/// - `num_weights`: the number of weights of the vertices; 0 removes these bounds
/// - `num_nodes`: the number of nodes, or 1 if the numbers hold for all
/// - `capacities`: `num_weights` numbers for each node, one node after the other, each at least 0, or -1 for a weight that has no bound; of such a weight all are
///   -1
///
/// # Safety
///
/// The array has the length `num_weights * num_nodes`. It does not change during the call. The settings are not in use elsewhere.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_settings_set_node_capacities(
    settings: Option<&mut Settings>,
    num_weights: i64,
    num_nodes: i64,
    capacities: *const i64,
    error: *mut *mut Error,
) -> Status {
    change(settings, error, |settings| {
        let (num_weights, num_nodes) = (count("num_weights", num_weights)?, count("num_nodes", num_nodes)?);
        // SAFETY: the caller's promise.
        let all = unsafe { array("capacities", capacities, product(num_weights, num_nodes)?) }?;
        let is_bound = |own: &Vec<Weight>| own.iter().any(|&capacity| capacity != -1);
        let bounds: Vec<_> =
            columns(all, num_weights).into_iter().map(|own| Some(own).filter(is_bound)).collect();
        if let Some(capacity) = bounds.iter().flatten().flatten().find(|&&capacity| capacity < 0) {
            return Err(Error::usage(format!(
                "the capacity of a node is {capacity}; it must be at least 0, or -1 for all nodes"
            )));
        }
        settings.node_capacities = bounds;
        Ok(())
    })
}

/// The lists of each column of rows of this length.
fn columns<T: Copy>(rows: &[T], length: usize) -> Vec<Vec<T>> {
    (0..length).map(|column| rows.iter().skip(column).step_by(length).copied().collect()).collect()
}

fn product(one: usize, other: usize) -> Result<usize, Error> {
    one.checked_mul(other).ok_or_else(|| Error::usage("the array is too large".to_owned()))
}

/// Says whether the imbalance of partitions and many-to-one mappings is that of each division of the blocks or PEs in two, as for the recursive bisection of
/// METIS, instead of that of each block or PE. Distributed graphs refuse it.
///
/// # Safety
///
/// The settings are not in use elsewhere.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_settings_set_imbalance_per_division(
    settings: Option<&mut Settings>,
    per_division: c_int,
    error: *mut *mut Error,
) -> Status {
    change(settings, error, |settings| {
        let all = std::iter::once(&mut settings.balance).chain(&mut settings.limits_of_weights);
        all.for_each(|balance| balance.per_division = per_division != 0);
        Ok(())
    })
}

/// Says whether partitions and many-to-one mappings have connected blocks: the vertices of each block or PE are connected by edges between them, as far as
/// the bounds allow it. `in_pieces` in the report counts the others. Remappings, several weights and other objectives than J refuse it.
///
/// # Safety
///
/// The settings are not in use elsewhere.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_settings_set_connected(
    settings: Option<&mut Settings>,
    is_connected: c_int,
    error: *mut *mut Error,
) -> Status {
    change(settings, error, |settings| {
        settings.is_connected = is_connected != 0;
        Ok(())
    })
}

/// Sets what mappings minimise, one-to-one and many-to-one. Partitions and remappings minimise the cut or J.
///
/// - `objective`: a name, as `viem map --objective` takes it, such as `bottleneck`
/// - `excess`: the share of J by which it may rise for another objective, from 0 to 1; 0.03 is 3 %. A simple order with a lower maximum than all
///   mappings found within that limit may cost more
///
/// # Safety
///
/// The text ends with a zero byte. The settings are not in use elsewhere.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_settings_set_objective(
    settings: Option<&mut Settings>,
    objective: *const c_char,
    excess: f64,
    error: *mut *mut Error,
) -> Status {
    change(settings, error, |settings| {
        // SAFETY: the caller's promise.
        let objective: JobObjective = unsafe { text("objective", objective) }?.parse()?;
        let bottleneck = BottleneckConfig::default().with_objective(objective).with_excess(excess);
        bottleneck.validate()?;
        settings.bottleneck = Some(bottleneck).filter(|_| objective != JobObjective::J);
        Ok(())
    })
}

/// Sets a time limit in seconds; 0 removes it. Mappings and quadratic assignment problems are improved until then, and end soon after it.
/// Partitions and remappings end early if they would take longer.
///
/// # Safety
///
/// The settings are not in use elsewhere.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_settings_set_time_limit(
    settings: Option<&mut Settings>,
    seconds: f64,
    error: *mut *mut Error,
) -> Status {
    change(settings, error, |settings| {
        let limit = Duration::try_from_secs_f64(seconds).map_err(|_| {
            Error::usage(format!("the time limit is {seconds} seconds; it must be a number from 0 on"))
        })?;
        settings.time_limit = Some(limit).filter(|limit| !limit.is_zero());
        Ok(())
    })
}

/// Says whether every graph is taken for one with heavy-tailed degrees, such as social networks and the web: 0 if such graphs are
/// recognised by their degrees. Only partitions depend on it.
///
/// # Safety
///
/// The settings are not in use elsewhere.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_settings_set_social(
    settings: Option<&mut Settings>,
    is_social: c_int,
    error: *mut *mut Error,
) -> Status {
    change(settings, error, |settings| {
        settings.is_social = is_social != 0;
        Ok(())
    })
}

/// Sets the function that is called while a run goes on, and its first argument; null for none.
///
/// # Safety
///
/// The settings are not in use elsewhere. The function may be called with `data` from any thread during all runs with these settings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_settings_set_progress(
    settings: Option<&mut Settings>,
    progress: ProgressFunction,
    data: *mut c_void,
    error: *mut *mut Error,
) -> Status {
    change(settings, error, |settings| {
        settings.callback = progress.map(|function| Callback { function, data });
        Ok(())
    })
}

/// Frees settings. Null is ignored.
///
/// # Safety
///
/// The settings are not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_settings_free(settings: *mut Settings) {
    // SAFETY: the caller's promise is the same.
    unsafe { free(settings) };
}

fn change(
    settings: Option<&mut Settings>,
    error: *mut *mut Error,
    change: impl FnOnce(&mut Settings) -> Result<(), Error>,
) -> Status {
    call(error, || change(settings.ok_or_else(|| Error::usage("the argument `settings` must not be null"))?))
}
