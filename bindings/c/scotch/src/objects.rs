//! What structures of the program stand for, by their addresses: graphs, architectures and strategies where Scotch itself is not there, and mappings.
#![allow(unsafe_code)] // pointers of a program

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::Num;
use crate::graph::Arrays;

/// What a structure stands for.
#[derive(Clone)]
pub(crate) enum Object {
    Graph(Arrays),
    /// An architecture as Scotch writes it.
    Arch(String),
    /// The imbalance that a strategy asks for.
    Strategy(f64),
    Mapping(Mapping),
}

/// A mapping of a graph, between `SCOTCH_graphMapInit` and `SCOTCH_graphMapExit`.
#[derive(Clone, Copy)]
pub(crate) struct Mapping {
    pub arch: *const c_void,
    /// The table of the program, or [`Owned`] one.
    pub parts: *mut Num,
}

// SAFETY: pointers of the program, which are followed in its calls only.
unsafe impl Send for Object {}

/// The memory that an object has here.
type Owned = Vec<Vec<Num>>;

static OBJECTS: Mutex<BTreeMap<usize, (Object, Owned)>> = Mutex::new(BTreeMap::new());

fn objects() -> MutexGuard<'static, BTreeMap<usize, (Object, Owned)>> {
    OBJECTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets a structure stand for an object, with memory that is freed when it no longer does.
pub(crate) fn put(structure: *const c_void, object: Object, owned: Owned) {
    objects().insert(structure as usize, (object, owned));
}

/// Lets a structure stand for nothing.
pub(crate) fn remove(structure: *const c_void) {
    objects().remove(&(structure as usize));
}

/// Changes the graph that a structure stands for; its memory stays.
pub(crate) fn set_graph(structure: *const c_void, arrays: Arrays) {
    if let Some(entry) = objects().get_mut(&(structure as usize)) {
        entry.0 = Object::Graph(arrays);
    }
}

/// What a structure stands for.
pub(crate) fn get(structure: *const c_void) -> Option<Object> {
    objects().get(&(structure as usize)).map(|found| found.0.clone())
}

/// The graph that a structure stands for.
pub(crate) fn graph(structure: *const c_void) -> Result<Arrays, String> {
    match get(structure) {
        Some(Object::Graph(arrays)) => Ok(arrays),
        _ => Err("there is no graph: it was not built".into()),
    }
}

/// The architecture that a structure stands for, as Scotch writes it.
pub(crate) fn arch(structure: *const c_void) -> Result<String, String> {
    match get(structure) {
        Some(Object::Arch(arch)) => Ok(arch),
        _ => Err("there is no architecture: none was defined".into()),
    }
}

/// The mapping that a structure stands for.
pub(crate) fn mapping(structure: *const c_void) -> Result<Mapping, String> {
    match get(structure) {
        Some(Object::Mapping(mapping)) => Ok(mapping),
        _ => Err("there is no mapping: it was not initialised".into()),
    }
}
