//! Mappings and partitions.
#![allow(unsafe_code, non_snake_case, clippy::too_many_arguments)] // a foreign interface

use std::ffi::c_int;

use viem_ffi::{array, array_mut, optional};

use super::functions;
use super::graphs::allocated;
use crate::arch::Target;
use crate::objects::{self, Mapping, Object};
use crate::read::{self, Structure};
use crate::real::{is_inside, own, real, served};
use crate::task::{Previous, Task};
use crate::{Num, text};

/// The bytes of a mapping.
const MAPPING: usize = 32;

functions! {
    /// Allocates a mapping.
    SCOTCH_mapAlloc() -> Structure { allocated(MAPPING) }
    /// The bytes of a mapping.
    SCOTCH_mapSizeof() -> c_int { Ok(MAPPING as c_int) }
}

/// The target of a mapping, as programs name it.
#[derive(Clone, Copy)]
enum Onto {
    Parts(Num),
    Arch(Structure),
}

/// A mapping from which few vertices should leave, as programs name it.
#[derive(Clone, Copy)]
struct Old {
    parts: *const Num,
    cost: f64,
    costs: *const Num,
}

/// The arguments of a mapping.
#[derive(Clone, Copy)]
struct Call {
    graph: Structure,
    onto: Onto,
    strategy: Structure,
    /// Where the numbers of the PEs are written, and read from if vertices are fixed.
    parts: *mut Num,
    is_fixed: bool,
    old: Option<Old>,
}

impl Call {
    fn new(graph: Structure, onto: Onto, strategy: Structure, parts: *mut Num) -> Self {
        Self { graph, onto, strategy, parts, is_fixed: false, old: None }
    }

    fn fixed(self) -> Self {
        Self { is_fixed: true, ..self }
    }

    fn after(self, parts: *const Num, cost: f64, costs: *const Num) -> Self {
        Self { old: Some(Old { parts, cost, costs }), ..self }
    }

    /// Maps the graph and writes the result.
    ///
    /// # Safety
    ///
    /// Structures were initialised, and arrays have an entry for each vertex.
    unsafe fn solve(self) -> Result<(), String> {
        // SAFETY: this and what follows: the caller's promise.
        let view = unsafe { read::graph(self.graph)?.view() }?;
        let target = match self.onto {
            Onto::Arch(arch) => unsafe { read::target(arch) }?,
            Onto::Parts(number) => {
                let number = u32::try_from(number).ok().filter(|&number| number > 0 && number < u32::MAX);
                Target::parts(number.ok_or("the number of parts is not positive")? as usize)?
            }
        };
        let (imbalance, n) = (unsafe { read::imbalance(self.strategy) }?, view.num_vertices());
        let parts = unsafe { array_mut("parttab", self.parts, n) }.map_err(text)?;
        let fixed = self.is_fixed.then(|| parts.to_vec());
        let previous = match self.old {
            None => None,
            Some(Old { parts, cost, costs }) => Some(Previous {
                parts: unsafe { array("parotab", parts, n) }.map_err(text)?,
                cost,
                costs: unsafe { optional("vmlotab", costs, n) }.map_err(text)?,
            }),
        };
        let graph = view.graph()?;
        let (seed, fixed) = (super::common::seed(), fixed.as_deref());
        let task = Task { graph: &graph, target: &target, imbalance, seed, fixed, previous };
        parts.copy_from_slice(&task.solve()?);
        Ok(())
    }
}

/// Declares functions that map with viem: each names the call that it is.
macro_rules! mapping {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),* $(,)?) $call:block)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// Structures and arrays are as Scotch documents them.
        #[unsafe(export_name = suffixed!($name))]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> c_int {
            // SAFETY: this and what follows: the caller's promise is the same.
            let real = real!($name($($type),*) -> c_int).map(|real| move || unsafe { real($($argument),*) });
            let work = || -> Result<(), String> {
                let call: Call = $call;
                unsafe { call.solve() }
            };
            served(suffixed!($name), work, real.as_ref().map(|real| real as &dyn Fn() -> c_int))
        }
    )*};
}

mapping! {
    /// Maps a graph to an architecture.
    SCOTCH_graphMap(graph: Structure, arch: Structure, strategy: Structure, parts: *mut Num) {
        Call::new(graph, Onto::Arch(arch), strategy, parts)
    }
    /// The same; vertices whose numbers are not negative stay where they are.
    SCOTCH_graphMapFixed(graph: Structure, arch: Structure, strategy: Structure, parts: *mut Num) {
        Call::new(graph, Onto::Arch(arch), strategy, parts).fixed()
    }
    /// Partitions a graph.
    SCOTCH_graphPart(graph: Structure, number: Num, strategy: Structure, parts: *mut Num) {
        Call::new(graph, Onto::Parts(number), strategy, parts)
    }
    /// The same; vertices whose numbers are not negative stay where they are.
    SCOTCH_graphPartFixed(graph: Structure, number: Num, strategy: Structure, parts: *mut Num) {
        Call::new(graph, Onto::Parts(number), strategy, parts).fixed()
    }
    /// Maps a graph so that few vertices leave an older mapping.
    SCOTCH_graphRemap(
        graph: Structure,
        arch: Structure,
        old: *mut Num,
        cost: f64,
        costs: *const Num,
        strategy: Structure,
        parts: *mut Num,
    ) {
        Call::new(graph, Onto::Arch(arch), strategy, parts).after(old, cost, costs)
    }
    /// The same; vertices whose numbers are not negative stay where they are.
    SCOTCH_graphRemapFixed(
        graph: Structure,
        arch: Structure,
        old: *mut Num,
        cost: f64,
        costs: *const Num,
        strategy: Structure,
        parts: *mut Num,
    ) {
        Call::new(graph, Onto::Arch(arch), strategy, parts).after(old, cost, costs).fixed()
    }
    /// Partitions a graph so that few vertices leave an older partition.
    SCOTCH_graphRepart(
        graph: Structure,
        number: Num,
        old: *mut Num,
        cost: f64,
        costs: *const Num,
        strategy: Structure,
        parts: *mut Num,
    ) {
        Call::new(graph, Onto::Parts(number), strategy, parts).after(old, cost, costs)
    }
    /// The same; vertices whose numbers are not negative stay where they are.
    SCOTCH_graphRepartFixed(
        graph: Structure,
        number: Num,
        old: *mut Num,
        cost: f64,
        costs: *const Num,
        strategy: Structure,
        parts: *mut Num,
    ) {
        Call::new(graph, Onto::Parts(number), strategy, parts).after(old, cost, costs).fixed()
    }
    /// Computes a mapping that was initialised.
    SCOTCH_graphMapCompute(graph: Structure, mapping: Structure, strategy: Structure) {
        computed(graph, mapping, strategy)?
    }
    /// The same; vertices whose numbers are not negative stay where they are.
    SCOTCH_graphMapFixedCompute(graph: Structure, mapping: Structure, strategy: Structure) {
        computed(graph, mapping, strategy)?.fixed()
    }
    /// Computes a mapping that was initialised so that few vertices leave an older one.
    SCOTCH_graphRemapCompute(
        graph: Structure,
        mapping: Structure,
        old: Structure,
        cost: f64,
        costs: *const Num,
        strategy: Structure,
    ) {
        computed(graph, mapping, strategy)?.after(objects::mapping(old)?.parts, cost, costs)
    }
    /// The same; vertices whose numbers are not negative stay where they are.
    SCOTCH_graphRemapFixedCompute(
        graph: Structure,
        mapping: Structure,
        old: Structure,
        cost: f64,
        costs: *const Num,
        strategy: Structure,
    ) {
        computed(graph, mapping, strategy)?.after(objects::mapping(old)?.parts, cost, costs).fixed()
    }
}

/// The call that computes a mapping.
fn computed(graph: Structure, mapping: Structure, strategy: Structure) -> Result<Call, String> {
    let Mapping { arch, parts } = objects::mapping(mapping)?;
    Ok(Call::new(graph, Onto::Arch(arch.cast_mut()), strategy, parts))
}

/// Initialises a mapping of a graph to an architecture, whose numbers are written to a table of the program or to one of this library.
///
/// # Safety
///
/// Structures and arrays are as Scotch documents them.
#[unsafe(export_name = suffixed!(SCOTCH_graphMapInit))]
pub unsafe extern "C" fn SCOTCH_graphMapInit(
    graph: Structure,
    mapping: Structure,
    arch: Structure,
    parts: *mut Num,
) -> c_int {
    let real = real!(SCOTCH_graphMapInit(Structure, Structure, Structure, *mut Num) -> c_int);
    // SAFETY: this and what follows: the caller's promise is the same.
    if let Some(real) = real.filter(|_| is_inside()) {
        return unsafe { real(graph, mapping, arch, parts) };
    }
    own(suffixed!(SCOTCH_graphMapInit), || {
        let n = usize::try_from(unsafe { read::graph(graph) }?.num_vertices).map_err(text)?;
        let mut owned = if parts.is_null() { vec![vec![0; n]] } else { Vec::new() };
        let parts = owned.first_mut().map_or(parts, |table| table.as_mut_ptr());
        let code = real.map_or(0, |real| unsafe { real(graph, mapping, arch, parts) });
        objects::put(mapping, Object::Mapping(Mapping { arch, parts }), owned);
        Ok(code)
    })
}

/// Frees what belongs to a mapping.
///
/// # Safety
///
/// Structures are as Scotch documents them.
#[unsafe(export_name = suffixed!(SCOTCH_graphMapExit))]
pub unsafe extern "C" fn SCOTCH_graphMapExit(graph: Structure, mapping: Structure) {
    if let Some(real) = real!(SCOTCH_graphMapExit(Structure, Structure) -> ()) {
        // SAFETY: the caller's promise is the same.
        unsafe { real(graph, mapping) };
    }
    if !is_inside() {
        objects::remove(mapping);
    }
}
