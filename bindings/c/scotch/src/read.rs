//! Graphs, architectures and strategies, read by the functions of Scotch itself if it is there.
#![allow(unsafe_code)] // a foreign interface

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null_mut;

use libc::FILE;

use crate::Num;
use crate::arch::{Listed, MOST_LISTED, Target};
use crate::graph::Arrays;
use crate::objects::{self, Object};
use crate::real::real;
use viem_ffi::strategy;

/// A structure of the program.
pub(crate) type Structure = *mut c_void;

/// The arrays of a graph.
///
/// # Safety
///
/// The structure was initialised.
pub(crate) unsafe fn graph(structure: Structure) -> Result<Arrays, String> {
    type Out = *mut *mut Num;
    let data =
        real!(SCOTCH_graphData(Structure, *mut Num, *mut Num, Out, Out, Out, Out, *mut Num, Out, Out) -> ());
    let Some(data) = data else { return objects::graph(structure) };
    let (mut base, mut num_vertices, mut num_arcs) = (0, 0, 0);
    let [mut begins, mut ends, mut vertex_weights, mut labels, mut targets, mut edge_weights] =
        [null_mut(); 6];
    // SAFETY: the structure is the caller's promise, and there is room for all that is written.
    unsafe {
        data(
            structure,
            &raw mut base,
            &raw mut num_vertices,
            &raw mut begins,
            &raw mut ends,
            &raw mut vertex_weights,
            &raw mut labels,
            &raw mut num_arcs,
            &raw mut targets,
            &raw mut edge_weights,
        );
    }
    Ok(Arrays { base, num_vertices, num_arcs, begins, ends, vertex_weights, labels, targets, edge_weights })
}

/// The imbalance that a strategy asks for.
///
/// # Safety
///
/// The structure is null or was initialised.
pub(crate) unsafe fn imbalance(structure: Structure) -> Result<f64, String> {
    let Some(save) = real!(SCOTCH_stratSave(Structure, *mut FILE) -> c_int) else {
        return Ok(match objects::get(structure) {
            Some(Object::Strategy(imbalance)) => imbalance,
            _ => strategy::DEFAULT,
        });
    };
    // SAFETY: a strategy of Scotch is a pointer, null as long as the strategy is empty; saving that would crash.
    if structure.is_null() || unsafe { *structure.cast::<*const c_void>() }.is_null() {
        return Ok(strategy::DEFAULT);
    }
    // SAFETY: the structure is the caller's promise.
    let text = saved(|file| unsafe { save(structure, file) })?;
    strategy::imbalance(&text).ok_or_else(|| format!("`{text}` is no strategy"))
}

/// An architecture as a target.
///
/// # Safety
///
/// The structure was initialised.
pub(crate) unsafe fn target(structure: Structure) -> Result<Target, String> {
    let name = real!(SCOTCH_archName(Structure) -> *mut c_char);
    let is_variable = real!(SCOTCH_archVar(Structure) -> c_int);
    let save = real!(SCOTCH_archSave(Structure, *mut FILE) -> c_int);
    let (Some(name), Some(is_variable), Some(save)) = (name, is_variable, save) else {
        return Target::of_text(&objects::arch(structure)?);
    };
    // SAFETY: the structure is the caller's promise; names are texts of Scotch.
    let (name, is_variable) = unsafe { (name(structure), is_variable(structure) != 0) };
    if name.is_null() || is_variable {
        return Err("the architecture has no size".into());
    }
    // SAFETY: it is not null.
    match unsafe { CStr::from_ptr(name) }.to_bytes() {
        // Scotch itself does not write all decompositions.
        // SAFETY: the structure is the caller's promise.
        b"deco" => Target::of_pairs(unsafe { listed(structure) }?),
        // SAFETY: as above.
        _ => Target::of_text(&saved(|file| unsafe { save(structure, file) })?),
    }
}

/// A domain of Scotch, which has at most 10 numbers.
type Domain = [f64; 16];

/// The terminal domains of an architecture, found by bisection as Scotch does, and their distances.
///
/// # Safety
///
/// The structure was initialised.
unsafe fn listed(arch: Structure) -> Result<Listed, String> {
    let whole = real!(SCOTCH_archDomFrst(Structure, *mut Domain) -> c_int);
    let halves = real!(SCOTCH_archDomBipart(Structure, *const Domain, *mut Domain, *mut Domain) -> c_int);
    let size = real!(SCOTCH_archDomSize(Structure, *const Domain) -> Num);
    let number = real!(SCOTCH_archDomNum(Structure, *const Domain) -> Num);
    let weight = real!(SCOTCH_archDomWght(Structure, *const Domain) -> Num);
    let distance = real!(SCOTCH_archDomDist(Structure, *const Domain, *const Domain) -> Num);
    let functions = whole.zip(halves).zip(size.zip(number)).zip(weight.zip(distance));
    let (((whole, halves), (size, number)), (weight, distance)) = functions.ok_or("Scotch has no domains")?;
    let mut first = Domain::default();
    // SAFETY: this and what follows: the structure is the caller's promise, domains have room and were made by Scotch.
    unsafe { whole(arch, &raw mut first) };
    let (mut open, mut domains) = (vec![first], Vec::new());
    while let Some(domain) = open.pop() {
        let [mut one, mut two] = [Domain::default(); 2];
        if unsafe { size(arch, &raw const domain) } <= 1 {
            domains.push(domain);
        } else if unsafe { halves(arch, &raw const domain, &raw mut one, &raw mut two) } == 0 {
            open.extend([two, one]);
        }
        if domains.len() + open.len() > MOST_LISTED {
            return Err("the architecture is too large".into());
        }
    }
    domains.sort_by_cached_key(|domain| unsafe { number(arch, domain) });
    let between = |p: &Domain, q: &Domain| unsafe { distance(arch, p, q) }.into();
    let row = |p| domains.iter().map(move |q| between(p, q));
    Ok(Listed {
        numbers: domains.iter().map(|domain| unsafe { number(arch, domain) }.into()).collect(),
        weights: domains.iter().map(|domain| unsafe { weight(arch, domain) }.into()).collect(),
        distances: domains.iter().flat_map(row).collect(),
    })
}

/// The text that a function writes to a file.
fn saved(save: impl FnOnce(*mut FILE) -> c_int) -> Result<String, String> {
    let (mut memory, mut length) = (null_mut::<c_char>(), 0);
    // SAFETY: the stream is open until it is closed; then its memory has a text that ends with a zero byte.
    unsafe {
        let file = libc::open_memstream(&raw mut memory, &raw mut length);
        if file.is_null() {
            return Err("there is no memory for a text".into());
        }
        let code = save(file);
        libc::fclose(file);
        let text = CStr::from_ptr(memory).to_string_lossy().into_owned();
        libc::free(memory.cast());
        if code == 0 { Ok(text) } else { Err("Scotch does not write it".into()) }
    }
}
