//! Strategies.
#![allow(unsafe_code, non_snake_case)] // a foreign interface

use std::ffi::{c_char, c_int};

use super::functions;
use super::graphs::allocated;
use crate::objects::{self, Object};
use crate::read::Structure;
use crate::{Num, text};
use viem_ffi::strategy;

fn put(structure: Structure, imbalance: f64) -> Result<c_int, String> {
    objects::put(structure, Object::Strategy(imbalance), Vec::new());
    Ok(0)
}

functions! {
    /// Allocates a strategy.
    SCOTCH_stratAlloc() -> Structure { allocated(size_of::<f64>()) }
    /// The bytes of a strategy.
    SCOTCH_stratSizeof() -> c_int { Ok(size_of::<f64>() as c_int) }
    /// Initialises a strategy.
    SCOTCH_stratInit(strategy: Structure) -> c_int { objects::remove(strategy); Ok(0) }
    /// Frees what belongs to a strategy.
    SCOTCH_stratExit(strategy: Structure) -> () { objects::remove(strategy); Ok(()) }
    /// Empties a strategy.
    SCOTCH_stratFree(strategy: Structure) -> () { objects::remove(strategy); Ok(()) }
    /// Sets a strategy for mappings from a text.
    SCOTCH_stratGraphMap(strategy: Structure, string: *const c_char) -> c_int {
        // SAFETY: the caller's promise.
        let string = unsafe { viem_ffi::text("string", string) }.map_err(text)?;
        put(strategy, strategy::imbalance(string).ok_or_else(|| format!("`{string}` is no strategy"))?)
    }
    /// Sets a strategy for mappings of an imbalance.
    SCOTCH_stratGraphMapBuild(strategy: Structure, _flags: Num, _number: Num, imbalance: f64) -> c_int {
        match imbalance >= 0.0 && imbalance.is_finite() {
            true => put(strategy, imbalance),
            false => Err(format!("the imbalance is {imbalance}; it must not be negative")),
        }
    }
    /// Sets a strategy for bisections, of which nothing means something here.
    SCOTCH_stratGraphBipart(strategy: Structure, _string: *const c_char) -> c_int { put(strategy, strategy::DEFAULT) }
}
