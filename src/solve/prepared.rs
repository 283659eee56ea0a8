//! Everything that runs ask of a machine, computed once.

use std::borrow::Cow;
use std::sync::OnceLock;

use crate::base::observer::Observer;
use crate::machine::{Distances, Machine, MachineError, Nodes, Parts, Places, distances_of, divide};

/// A machine and data that are derived from it: distances, parts, places and nodes. Each is computed when it is first asked for, and then lent to
/// everybody, so one of these serves any number of requests, also from several threads.
///
/// Nothing is computed in advance, since a mapping of few processes looks at a part of a large machine only.
///
/// ```
/// use viem::graph::generate;
/// use viem::{Config, Hierarchy, PreparedMachine, Request};
///
/// let tree = Hierarchy::parse("4:4", "1:10")?;
/// let machine = PreparedMachine::new(&tree);
/// for seed in 0..3 {
///     let graph = generate::mesh(4, 4, seed);
///     let solution = Request::new(&graph, &machine).solve(&Config::fast())?;
///     assert!(solution.report.cost <= solution.report.cost_of_identity);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PreparedMachine<'a> {
    machine: &'a dyn Machine,
    distances: OnceLock<Distances>,
    parts: OnceLock<Parts>,
    places: OnceLock<Places>,
    nodes: OnceLock<Nodes>,
}

impl<'a> PreparedMachine<'a> {
    /// A machine of which nothing is computed yet.
    pub fn new(machine: &'a dyn Machine) -> Self {
        Self {
            machine,
            distances: OnceLock::new(),
            parts: OnceLock::new(),
            places: OnceLock::new(),
            nodes: OnceLock::new(),
        }
    }

    /// The machine itself.
    pub fn machine(&self) -> &'a dyn Machine {
        self.machine
    }

    /// The distances between all PEs.
    ///
    /// # Errors
    ///
    /// Those of [`Machine::distances`].
    pub fn distances(&self) -> Result<&Distances, MachineError> {
        if let Some(distances) = self.distances.get() {
            return Ok(distances);
        }
        let distances = distances_of(self.machine)?;
        Ok(self.distances.get_or_init(|| distances))
    }

    /// The nodes of the PEs.
    pub fn nodes(&self) -> &Nodes {
        self.nodes.get_or_init(|| Nodes::of(self.machine))
    }

    /// The parts of the machine. Once the observer asks to stop, the machine is not divided further; such parts are not kept.
    ///
    /// # Errors
    ///
    /// Those of [`distances`](Self::distances).
    pub(super) fn parts(&self, observer: &dyn Observer) -> Result<Cow<'_, Parts>, MachineError> {
        kept(&self.parts, observer, || Ok(divide(self.machine, self.distances()?, observer)))
    }

    /// The places of the machine, with its parts as in [`parts`](Self::parts).
    ///
    /// # Errors
    ///
    /// Those of [`distances`](Self::distances), and those of [`Places::new`].
    pub(super) fn places(&self, observer: &dyn Observer) -> Result<Cow<'_, Places>, MachineError> {
        kept(&self.places, observer, || {
            let parts = self.parts(observer)?.into_owned();
            Places::new(self.machine, Cow::Borrowed(self.distances()?), parts)
        })
    }
}

/// The value that is kept, or else one computed now, which is kept unless the observer may have cut it short.
fn kept<'a, T: Clone>(
    cell: &'a OnceLock<T>,
    observer: &dyn Observer,
    compute: impl FnOnce() -> Result<T, MachineError>,
) -> Result<Cow<'a, T>, MachineError> {
    if let Some(known) = cell.get() {
        return Ok(Cow::Borrowed(known));
    }
    let computed = compute()?;
    Ok(if observer.should_stop() {
        Cow::Owned(computed)
    } else {
        Cow::Borrowed(cell.get_or_init(|| computed))
    })
}
