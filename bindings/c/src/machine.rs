//! Machines.
#![allow(unsafe_code)] // a foreign interface

use std::ffi::{c_char, c_int, c_void};
use std::path::Path;
use std::ptr::null;
use std::sync::Arc;

use viem::base::types::PeId;
use viem::graph::generate;
use viem::machine::Nodes;
use viem::machine::{self, Distances, MachineError, OwnDistances};
use viem::{Capacities, DistanceMatrix};
use viem_cluster::{MachineSpec, PeKind};
use viem_ffi::{array, check_memory, count, put, text};

use crate::error::{Error, Status, call, create, free, given, note};

/// A machine: processing elements (PEs), numbered from 0, and their distances. It does not change, so any number of threads may use it at
/// once.
pub struct Machine {
    pub(crate) inner: Arc<dyn viem::Machine>,
}

impl Machine {
    /// A machine as C has it.
    pub fn new(machine: impl viem::Machine + 'static) -> Self {
        Self { inner: Arc::new(machine) }
    }

    /// The machine as the library has it.
    pub fn inner(&self) -> &dyn viem::Machine {
        &*self.inner
    }
}

/// Returns the distance between two PEs `a < b`, the same both ways, from 0 to the greatest distance of the machine; anything less counts as 0,
/// anything greater as that. It depends on nothing but its arguments. The threads of a run call it, several at once, so it must not change
/// what they share. It returns normally: no exception and no `longjmp` may leave it.
pub type DistanceFunction = Option<unsafe extern "C" fn(data: *mut c_void, a: u32, b: u32) -> i64>;

/// Makes a machine from a text: a tree `4:16:8` with distances `1:10:100` (both innermost first), `torus:8x8x4`, `mesh:16x16`, `hypercube:10`, rails
/// of GPUs `rails:8:4:16`, a cluster such as `slurm` or `hosts:FILE,node=16:2`, or the name of a file with a network, a matrix or a target of
/// Scotch. The chapter docs/guide/machines.md lists all.
///
/// - `spec`: the text, in UTF-8
/// - `distances`: those of the levels of a tree; null where the text says all
/// - `pes`: a list such as `0-63,128`, or the file with one: the machine has only these PEs, renumbered in this order. Null for all
/// - `machine`: gets the machine, which `viem_machine_free` frees; null on failure
///
/// # Safety
///
/// The texts end with zero bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_machine_new(
    spec: *const c_char,
    distances: *const c_char,
    pes: *const c_char,
    machine: *mut *mut Machine,
    error: *mut *mut Error,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { viem_machine_from_text(spec, distances, pes, Pe::Core as c_int, null(), null(), machine, error) }
}

/// The hardware unit that is a PE.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pe {
    /// Cores with all their hardware threads, or other units that the description of a machine has.
    Core = 0,
    /// Hardware threads.
    Thread = 1,
    /// The GPUs in files of hwloc.
    Gpu = 2,
}

/// Makes a machine as `viem_machine_new` does, with all that may accompany a text.
///
/// - `spec`, `distances`, `pes`: as there
/// - `pe`: one of `viem_pe`; other than VIEM_PE_CORE of clusters only
/// - `latency`: a file with the latencies between hosts, of clusters only; null for none
/// - `link_cycles`: a file with the times of links, of networks in files only; null for none
/// - `machine`: gets the machine, which `viem_machine_free` frees; null on failure
///
/// # Safety
///
/// The texts end with zero bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_machine_from_text(
    spec: *const c_char,
    distances: *const c_char,
    pes: *const c_char,
    pe: c_int,
    latency: *const c_char,
    link_cycles: *const c_char,
    machine: *mut *mut Machine,
    error: *mut *mut Error,
) -> Status {
    create(("machine", machine), error, || {
        // SAFETY: the caller's promise.
        let spec = unsafe { text("spec", spec) }?;
        // SAFETY: the caller's promise.
        let wanted = |name, pointer: *const c_char| {
            (!pointer.is_null()).then(|| unsafe { text(name, pointer) }).transpose()
        };
        let wanted = MachineSpec::new(spec)
            .with_distances(wanted("distances", distances)?)
            .with_pes(wanted("pes", pes)?)
            .with_pe(pe_kind(pe)?)
            .with_latency(wanted("latency", latency)?.map(Path::new))
            .with_link_cycles(wanted("link_cycles", link_cycles)?.map(Path::new));
        let machine = viem_cluster::build_wanted(&wanted)?;
        let notes = machine.audited().map(|audited| audited.notes());
        notes.unwrap_or_default().iter().for_each(|assumed| note(&assumed.text));
        Ok(Machine::new(machine))
    })
}

/// The kind of PEs of this number.
fn pe_kind(pe: c_int) -> Result<PeKind, Error> {
    let kinds = [(Pe::Core, PeKind::Core), (Pe::Thread, PeKind::Thread), (Pe::Gpu, PeKind::Gpu)];
    let kind = kinds.into_iter().find(|&(known, _)| known as c_int == pe).map(|(_, kind)| kind);
    kind.ok_or_else(|| Error::usage("the argument `pe` is none of the kinds of PEs"))
}

/// Makes a machine from a symmetric matrix of distances, which is copied.
///
/// - `num_pes`: the number of rows, at least 1
/// - `distances`: `num_pes * num_pes` entries, row by row, at least 0; those on the diagonal are 0
///
/// # Safety
///
/// The array has this length. It does not change during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_machine_from_matrix(
    num_pes: i64,
    distances: *const i64,
    machine: *mut *mut Machine,
    error: *mut *mut Error,
) -> Status {
    create(("machine", machine), error, || {
        let num_pes = pes(num_pes)?;
        let entries = num_pes.checked_mul(num_pes).ok_or_else(too_many)?;
        check_memory(16 * entries as u128)?;
        // SAFETY: the caller's promise.
        let distances = unsafe { array("distances", distances, entries) }?;
        Ok(Machine::new(DistanceMatrix::new(num_pes, distances.to_vec())?))
    })
}

/// Makes a machine whose distances a function computes, so no table of all pairs is needed. 4 bytes per PE; a table of a byte per pair where
/// there are at most 2048 PEs.
///
/// - `num_pes`: at least 1
/// - `distance`, `data`: the function, and its first argument; both must work as long as the machine does
/// - `max_distance`: an upper bound on all distances, at least 0; the closer the better
/// - `has_triangle_inequality`: not 0 if `d(a, c) <= d(a, b) + d(b, c)` for all PEs; runs are faster then
///
/// # Safety
///
/// The function may be called with `data` from any thread until the machine is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_machine_from_function(
    num_pes: i64,
    distance: DistanceFunction,
    data: *mut c_void,
    max_distance: i64,
    has_triangle_inequality: c_int,
    machine: *mut *mut Machine,
    error: *mut *mut Error,
) -> Status {
    create(("machine", machine), error, || {
        let num_pes = pes(num_pes)?;
        let function = distance.ok_or_else(|| Error::usage("the argument `distance` must not be null"))?;
        if max_distance < 0 {
            return Err(Error::usage(format!(
                "the argument `max_distance` is {max_distance}; it must not be negative"
            )));
        }
        let function =
            Function { function, data, max_distance, has_triangle_inequality: has_triangle_inequality != 0 };
        Ok(Machine::new(Computed { num_pes, function }))
    })
}

/// A function of C and its data.
#[derive(Clone, Copy, Debug)]
struct Function {
    function: unsafe extern "C" fn(data: *mut c_void, a: u32, b: u32) -> i64,
    data: *mut c_void,
    max_distance: i64,
    has_triangle_inequality: bool,
}

// SAFETY: who gave function and data promised that any thread may call it.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

impl OwnDistances for Function {
    fn distance(&self, a: PeId, b: PeId) -> i64 {
        // SAFETY: the function works until the machine is freed, which outlives its distances.
        unsafe { (self.function)(self.data, a, b) }
    }

    fn max_distance(&self) -> i64 {
        self.max_distance
    }

    fn has_triangle_inequality(&self) -> bool {
        self.has_triangle_inequality
    }
}

/// PEs whose distances a function of C computes.
struct Computed {
    num_pes: usize,
    function: Function,
}

impl viem::Machine for Computed {
    fn num_pes(&self) -> usize {
        self.num_pes
    }

    fn distances(&self) -> Result<Distances, MachineError> {
        Distances::own(self.num_pes, self.function)
    }
}

/// Makes the same machine with room for several processes on each PE. Many-to-one mappings give each PE a load in proportion to its capacity.
///
/// - `num_capacities`: the number of PEs of the machine
/// - `capacities`: by PE, at least 1
/// - `with_capacities`: gets the new machine; the old one stays as it is and may be freed
///
/// # Safety
///
/// The array has this length. It does not change during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_machine_with_capacities(
    machine: Option<&Machine>,
    num_capacities: i64,
    capacities: *const u32,
    with_capacities: *mut *mut Machine,
    error: *mut *mut Error,
) -> Status {
    create(("with_capacities", with_capacities), error, || {
        let machine = given("machine", machine)?;
        // SAFETY: the caller's promise.
        let capacities =
            unsafe { array("capacities", capacities, count("num_capacities", num_capacities)?) }?;
        Ok(Machine::new(Capacities::new(Arc::clone(&machine.inner), capacities.to_vec())?))
    })
}

/// Number of PEs; 0 for null.
#[unsafe(no_mangle)]
pub extern "C" fn viem_machine_num_pes(machine: Option<&Machine>) -> i64 {
    machine.map_or(0, |machine| machine.inner.num_pes() as i64)
}

/// Number of nodes that the PEs are on, whose memory `viem_settings_set_node_capacities` bounds; 0 for null. If the machine knows no nodes, each PE is one.
#[unsafe(no_mangle)]
pub extern "C" fn viem_machine_num_nodes(machine: Option<&Machine>) -> i64 {
    machine.map_or(0, |machine| Nodes::of(&machine.inner).hosts().len() as i64)
}

/// The distance between two PEs. Takes as long as the distances of the whole machine need to be prepared: for a look, not for loops.
///
/// - `distance`: gets the distance
///
/// # Safety
///
/// `distance` is null, which is an error, or leads to an integer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_machine_distance(
    machine: Option<&Machine>,
    a: i64,
    b: i64,
    distance: *mut i64,
    error: *mut *mut Error,
) -> Status {
    call(error, || {
        let machine = given("machine", machine)?.inner.as_ref();
        let pe = |pe: i64| {
            let known = PeId::try_from(pe).ok().filter(|&pe| (pe as usize) < machine.num_pes());
            known.ok_or_else(|| {
                Error::usage(format!("there is no PE {pe}; the PEs are 0..{}", machine.num_pes()))
            })
        };
        let (a, b) = (pe(a)?, pe(b)?);
        machine::check_memory(machine)?;
        // J of two processes that exchange one message counts it both ways.
        let cost = if a == b { 0 } else { viem::score(&generate::grid(2, 1), machine, &[a, b])? };
        // SAFETY: the caller's promise.
        Ok(unsafe { put("distance", distance, cost / 2) }?)
    })
}

/// Frees a machine. Null is ignored.
///
/// # Safety
///
/// The machine is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_machine_free(machine: *mut Machine) {
    // SAFETY: the caller's promise is the same.
    unsafe { free(machine) };
}

/// A number of PEs, from 1 on.
fn pes(num_pes: i64) -> Result<usize, Error> {
    let num_pes = count("num_pes", num_pes)?;
    match num_pes {
        0 => Err(MachineError::NoPes.into()),
        _ if num_pes > PeId::MAX as usize => Err(too_many()),
        _ => Ok(num_pes),
    }
}

fn too_many() -> Error {
    MachineError::TooManyPes.into()
}
