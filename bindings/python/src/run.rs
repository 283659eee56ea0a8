//! Runs: the interpreter's lock is released, signals and the progress function are looked after.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use viem::base::threads::ThreadsError;
use viem::base::types::{Cost, Weight};
use viem::qap::QapConfig;
use viem::solve::Balance;
use viem::{Config, MapPreset, Observer, PartitionPreset};
use viem_ffi::{AskedLimits, Limits, guarded};
use viem_workload::contention::{BottleneckConfig, JobObjective};

use crate::error::{Fault, OrRaise};
use crate::graph::Graph;
use crate::numbers::Numbers;

/// Settings of a run, as `viem._settings.Settings` has them.
#[derive(FromPyObject)]
pub(crate) struct Settings {
    preset: String,
    seed: u64,
    threads: usize,
    time_limit: Option<f64>,
    imbalances: Vec<f64>,
    least_shares: Vec<f64>,
    least_loads: Vec<LeastLoads>,
    capacities: Vec<Vec<u32>>,
    node_capacities: Vec<Option<Vec<Weight>>>,
    objective: String,
    excess: f64,
    pub connected: bool,
    imbalance_per_division: bool,
    progress: Option<Py<PyAny>>,
    returns_on_interrupt: bool,
}

/// The least load of each block or PE by a weight, from an array.
struct LeastLoads(Vec<Weight>);

impl<'py> FromPyObject<'_, 'py> for LeastLoads {
    type Error = PyErr;

    fn extract(array: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(Numbers::of("least_load", &array)?.collect("least_load")?))
    }
}

/// More threads than any machine has; each takes memory.
const MOST_THREADS: usize = 1 << 14;

impl Settings {
    pub fn time_limit(&self) -> Result<Option<Duration>, Fault> {
        let Some(seconds) = self.time_limit else { return Ok(None) };
        let limit = Duration::try_from_secs_f64(seconds).map_err(|_| {
            Fault::usage(format!("time_limit is {seconds} seconds; it must be a number from 0 on"))
        })?;
        Ok(Some(limit))
    }

    fn threads(&self) -> Result<usize, Fault> {
        match self.threads {
            0 => Ok(std::thread::available_parallelism().map_or(1, NonZero::get)),
            threads if threads > MOST_THREADS => {
                let message = format!("{threads} threads are too many; there are at most {MOST_THREADS}");
                Err(Fault::usage(message))
            }
            threads => Ok(threads),
        }
    }

    /// The limits of the loads of a graph, whose vertices may have several weights.
    pub fn limits<'a>(
        &'a self,
        graph: &'a Graph,
        num_nodes: &dyn Fn() -> usize,
    ) -> Result<Limits<'a>, Fault> {
        let count = self.imbalances.len().max(self.least_shares.len());
        if [&self.imbalances, &self.least_shares].iter().any(|each| ![1, count].contains(&each.len())) {
            return Err(Fault::usage("imbalance and least_load are each one number, or one for each weight"));
        }
        let (imbalances, least) = (self.imbalances.iter().cycle(), self.least_shares.iter().cycle());
        let balances = imbalances.zip(least).take(count);
        let per_division = self.imbalance_per_division;
        let balances: Vec<Balance> = balances
            .map(|(&imbalance, &least_load)| Balance { imbalance, least_load, per_division })
            .collect();
        let least_loads: Vec<&[Weight]> =
            self.least_loads.iter().map(|LeastLoads(least_loads)| &least_loads[..]).collect();
        let (capacities, nodes) = (&self.capacities[..], &self.node_capacities[..]);
        let asked = AskedLimits { balances: &balances, least_loads: &least_loads, capacities, nodes };
        Ok(Limits::new((&graph.csr, graph.several.as_deref()), asked, num_nodes)?)
    }

    /// The search for the objective, if that is not J alone.
    pub fn bottleneck(&self) -> Result<Option<BottleneckConfig>, Fault> {
        let objective: JobObjective = self.objective.parse()?;
        let config = BottleneckConfig::default().with_objective(objective).with_excess(self.excess);
        config.validate()?;
        Ok(Some(config.with_seed(self.seed)).filter(|_| objective != JobObjective::J))
    }

    fn map_preset(&self) -> Result<MapPreset, Fault> {
        Ok(self.preset.parse::<MapPreset>()?)
    }

    pub fn config(&self) -> Result<Config, Fault> {
        let config = Config::preset(self.map_preset()?).with_seed(self.seed).with_threads(self.threads()?);
        Ok(config.with_time_limit(self.time_limit()?))
    }

    /// The settings of a partition, which has presets of its own.
    pub fn of_partition(&self) -> Result<Config, Fault> {
        let preset = self.preset.parse::<PartitionPreset>()?;
        let config = Config::from(preset).with_seed(self.seed).with_threads(self.threads()?);
        Ok(config.with_time_limit(self.time_limit()?))
    }

    pub fn qap(&self) -> Result<QapConfig, Fault> {
        let config = QapConfig::preset(self.map_preset()?).with_seed(self.seed).with_threads(self.threads()?);
        Ok(config.with_time_limit(self.time_limit()?))
    }

    /// Does the work of a run. Other threads of Python go on meanwhile; the calling one looks after signals and the progress function.
    ///
    /// The work is in a pool as the library would make one for each run; there, it finds it made.
    pub fn run<R: Send, E: Into<Fault> + Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Watcher) -> Result<R, E> + Send,
    ) -> PyResult<R> {
        let pool = Pool::take(self.threads()?)?;
        let watcher = Watcher::default();
        let caller = Caller { settings: self, watcher: &watcher, interruption: None };
        let done = Done::default();
        let interruption = py.detach(|| {
            pool.threads.in_place_scope(|scope| {
                scope.spawn(|_| done.put(guarded(|| work(&watcher))));
                caller.wait(&done)
            })
        });
        pool.put_back();
        if let Some(error) = interruption {
            return Err(error);
        }
        done.take()
            .unwrap_or_else(|| Err("the run ended without a result".to_owned()))
            .map_err(|message| PyErr::from(Fault::internal(&message)))?
            .or_raise()
    }
}

/// The pool of the last run, for the next one: to start threads takes longer than small runs may cost more in Python than in Rust.
static IDLE: Mutex<Option<Pool>> = Mutex::new(None);

/// Threads of a process.
struct Pool {
    threads: rayon::ThreadPool,
    /// A fork has the pool and none of its threads.
    process: u32,
}

impl Pool {
    /// The idle pool, if it has this many threads, or a new one.
    fn take(count: usize) -> Result<Self, Fault> {
        let process = std::process::id();
        match IDLE.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(pool) if pool.process != process => std::mem::forget(pool),
            Some(pool) if pool.threads.current_num_threads() == count => return Ok(pool),
            _ => {}
        }
        let threads = rayon::ThreadPoolBuilder::new().num_threads(count).build();
        Ok(Self { threads: threads.map_err(ThreadsError::from)?, process })
    }

    fn put_back(self) {
        *IDLE.lock().unwrap_or_else(PoisonError::into_inner) = Some(self);
    }
}

/// Time between two looks at signals and calls of the progress function.
const PAUSE: Duration = Duration::from_millis(20);

/// The state that the threads of a run share with the one that waits for them.
pub(crate) struct Watcher {
    stops: AtomicBool,
    best: AtomicI64,
}

/// No cost is known.
const UNKNOWN: i64 = i64::MAX;

impl Default for Watcher {
    fn default() -> Self {
        Self { stops: AtomicBool::new(false), best: AtomicI64::new(UNKNOWN) }
    }
}

impl Watcher {
    /// Returns whether the run was asked to end.
    pub fn has_stopped(&self) -> bool {
        self.stops.load(Ordering::Relaxed)
    }
}

impl Observer for Watcher {
    fn should_stop(&self) -> bool {
        self.has_stopped()
    }

    fn reached(&self, cost: Cost) {
        self.best.store(cost, Ordering::Relaxed);
    }
}

/// The result of a run, once there is one.
struct Done<T> {
    result: Mutex<Option<T>>,
    changed: Condvar,
}

impl<T> Default for Done<T> {
    fn default() -> Self {
        Self { result: Mutex::new(None), changed: Condvar::new() }
    }
}

impl<T> Done<T> {
    fn lock(&self) -> MutexGuard<'_, Option<T>> {
        self.result.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, result: T) {
        *self.lock() = Some(result);
        self.changed.notify_one();
    }

    fn take(&self) -> Option<T> {
        self.lock().take()
    }

    /// Waits a while; whether there is a result.
    fn wait(&self) -> bool {
        let wait = self.changed.wait_timeout_while(self.lock(), PAUSE, |result| result.is_none());
        wait.unwrap_or_else(PoisonError::into_inner).0.is_some()
    }
}

/// The thread that has called, while others work.
struct Caller<'a> {
    settings: &'a Settings,
    watcher: &'a Watcher,
    interruption: Option<PyErr>,
}

impl Caller<'_> {
    /// Waits for the result. Returns what shall be raised instead of it.
    fn wait<T>(mut self, done: &Done<T>) -> Option<PyErr> {
        while !done.wait() {
            Python::attach(|py| self.look(py));
        }
        self.interruption
    }

    /// Handles signals, and calls the progress function.
    fn look(&mut self, py: Python<'_>) {
        if let Err(error) = py.check_signals().and_then(|()| self.report(py)) {
            self.watcher.stops.store(true, Ordering::Relaxed);
            let is_kept =
                self.settings.returns_on_interrupt && error.is_instance_of::<PyKeyboardInterrupt>(py);
            if !is_kept {
                self.interruption.get_or_insert(error);
            }
        }
    }

    fn report(&self, py: Python<'_>) -> PyResult<()> {
        let Some(progress) = self.settings.progress.as_ref().filter(|_| !self.watcher.has_stopped()) else {
            return Ok(());
        };
        let best = Some(self.watcher.best.load(Ordering::Relaxed)).filter(|&best| best != UNKNOWN);
        if progress.call1(py, (best,))?.is_truthy(py)? {
            self.watcher.stops.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}
