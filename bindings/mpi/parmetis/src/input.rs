//! What a rank gives to a function that partitions, checked and copied, and what it gets.
#![allow(unsafe_code)] // a foreign interface

use viem::base::types::{BlockId, Cost, NodeId, Weight};
use viem_dist_c::Refused;
use viem_ffi::{Integers, check_memory};

use crate::arguments::{Arguments, Function, Layout, Lists};

/// The parts that are asked for, the same on all ranks.
pub(crate) struct Parts {
    pub num_weights: usize,
    pub num_parts: usize,
    /// The shares of each part of all weights, part by part; all equal without.
    pub shares: Option<Vec<f64>>,
    /// By weight: 1.05 lets parts be 5 % heavier than their share.
    pub imbalances: Vec<f64>,
    pub seed: u64,
    /// The cost of moving a vertex of size 1, in units of the cut.
    pub price: f64,
    /// Vertices are in the part with the number of their rank.
    pub is_coupled: bool,
}

/// The input of a rank.
pub(crate) struct Input {
    pub function: Function,
    pub layout: Layout,
    pub parts: Parts,
    pub lists: Lists,
    /// The nodes that neighbouring elements have in common.
    pub common: usize,
    pub edge_weights: Option<Vec<Weight>>,
    /// Those of one vertex after the other.
    pub vertex_weights: Option<Vec<Weight>>,
    /// The amount that migrates with each vertex; `None` if that is 1.
    pub sizes: Option<Vec<Weight>>,
    /// The part of each vertex, if the function starts from one.
    pub old: Option<Vec<BlockId>>,
}

/// The parts of the vertices of this rank, and the cut.
pub(crate) struct Found {
    pub parts: Vec<BlockId>,
    pub cut: Cost,
}

/// `ubvec` where there is none.
const IMBALANCE: f64 = 1.05;

/// The range of `ipc2redist`.
const ITR: std::ops::RangeInclusive<f64> = 1e-6..=1e6;

impl Input {
    /// # Safety
    ///
    /// The arrays are as long as ParMETIS says, and do not change during the call.
    pub unsafe fn new(arguments: &Arguments, rank: usize, size: usize) -> Result<Self, Refused> {
        let function = arguments.function()?;
        // SAFETY: the caller's promise, for this and what follows.
        let layout = unsafe { arguments.layout(rank, size) }?;
        // SAFETY: as above.
        let parts = unsafe { parts(arguments, function, size) }?;
        // SAFETY: as above.
        let lists = unsafe { arguments.lists(&layout) }?;
        if function == Function::PartGeomKway {
            // SAFETY: as above.
            unsafe { arguments.points(&layout) }?;
        }
        let common = match function.is_of_mesh() {
            // SAFETY: as above.
            true => unsafe { common_nodes(arguments) }?,
            false => 1,
        };
        // SAFETY: as above.
        let (vertex_weights, edge_weights) =
            unsafe { weights(arguments, &layout, &lists, parts.num_weights) }?;
        let sizes = match arguments.vsize.is_null() {
            true => None,
            // SAFETY: as above.
            false => Some(unsafe { arguments.integers("vsize", arguments.vsize, layout.count) }?.to_vec()),
        };
        // SAFETY: as above.
        unsafe { arguments.check_places(layout.count, true) }?;
        let old = match (function.resumes(), parts.is_coupled) {
            (false, _) => None,
            (true, true) => Some(vec![rank as BlockId; layout.count]),
            // SAFETY: as above.
            (true, false) => Some(unsafe { old_parts(arguments, &layout, parts.num_parts) }?),
        };
        Ok(Self { function, layout, parts, lists, common, edge_weights, vertex_weights, sizes, old })
    }

    /// The amount that migrates with each vertex of this rank.
    pub fn sizes(&self) -> Vec<Weight> {
        self.sizes.clone().unwrap_or_else(|| vec![1; self.layout.count])
    }

    /// The neighbours of the vertices of this rank.
    pub fn neighbours(&self) -> Result<Vec<NodeId>, Refused> {
        let total = self.layout.starts[self.layout.starts.len() - 1];
        let neighbour = |(index, &entry): (usize, &i64)| match NodeId::try_from(entry) {
            Ok(known) if entry < total => Ok(known),
            _ => {
                let base = self.layout.base;
                let what = format!("there are {total} vertices, counted from {base}");
                Err(Refused::entry("adjncy", index, entry + base, &what))
            }
        };
        self.lists.entries.iter().enumerate().map(neighbour).collect()
    }
}

/// The number of nodes that neighbouring elements have in common.
///
/// # Safety
///
/// As for [`Input::new`].
pub(crate) unsafe fn common_nodes(arguments: &Arguments) -> Result<usize, Refused> {
    // SAFETY: the caller's promise.
    unsafe { arguments.count("ncommonnodes", arguments.ncommonnodes) }
}

/// # Safety
///
/// As for [`Input::new`].
unsafe fn parts(arguments: &Arguments, function: Function, size: usize) -> Result<Parts, Refused> {
    // SAFETY: the caller's promise, for this and what follows.
    let (num_weights, num_parts) =
        unsafe { (arguments.count("ncon", arguments.ncon)?, arguments.count("nparts", arguments.nparts)?) };
    let num_shares = num_weights.checked_mul(num_parts).filter(|&number| number < u32::MAX as usize);
    let num_shares = num_shares.ok_or_else(|| Refused::because("`ncon` times `nparts` is too large"))?;
    check_memory(256 * num_shares as u128)?;
    // SAFETY: as above.
    let shares = unsafe { arguments.reals("tpwgts", arguments.tpwgts, num_shares) }?;
    if let Some(shares) = &shares {
        check_shares(shares, num_weights)?;
    }
    // SAFETY: as above.
    let imbalances = unsafe { arguments.reals("ubvec", arguments.ubvec, num_weights) }?;
    let imbalances = imbalances.unwrap_or_else(|| vec![IMBALANCE; num_weights]);
    if let Some(index) = imbalances.iter().position(|imbalance| !(1.0..1e9).contains(imbalance)) {
        let message = format!("entry {index} of `ubvec` is {}; it must be 1 or more", imbalances[index]);
        return Err(Refused::because(message));
    }
    // SAFETY: as above.
    let (seed, coupling) = unsafe { options(arguments, function) }?;
    let price = match function {
        // SAFETY: as above.
        Function::AdaptiveRepart => unsafe { price(arguments) }?,
        _ => 0.0,
    };
    let is_coupled = function.resumes() && num_parts == size && coupling != UNCOUPLED;
    Ok(Parts { num_weights, num_parts, shares, imbalances, seed, price, is_coupled })
}

fn check_shares(shares: &[f64], num_weights: usize) -> Result<(), Refused> {
    let is_share = |share: &f64| (0.0..1e18).contains(share);
    if let Some(index) = shares.iter().position(|share| !is_share(share)) {
        let message = format!("entry {index} of `tpwgts` is {}; it must not be negative", shares[index]);
        return Err(Refused::because(message));
    }
    let is_nothing =
        |weight: &usize| shares.iter().skip(*weight).step_by(num_weights).all(|&share| share == 0.0);
    match (0..num_weights).find(is_nothing) {
        Some(weight) => Err(Refused::because(format!("all `tpwgts` of constraint {weight} are 0"))),
        None => Ok(()),
    }
}

/// `PARMETIS_PSR_COUPLED`, the default.
const COUPLED: i64 = 1;
/// `PARMETIS_PSR_UNCOUPLED`.
const UNCOUPLED: i64 = 2;

/// The seed, and how parts and ranks are coupled.
///
/// # Safety
///
/// As for [`Input::new`].
unsafe fn options(arguments: &Arguments, function: Function) -> Result<(u64, i64), Refused> {
    if arguments.options.is_null() {
        return Ok((0, COUPLED));
    }
    // SAFETY: the caller's promise.
    if unsafe { arguments.value("options", arguments.options) }? == 0 {
        return Ok((0, COUPLED));
    }
    let length = if function.resumes() { 4 } else { 3 };
    // SAFETY: as above.
    let options = unsafe { arguments.integers("options", arguments.options, length) }?;
    Ok((options.at(2) as u64, if function.resumes() { options.at(3) } else { COUPLED }))
}

/// # Safety
///
/// As for [`Input::new`].
unsafe fn price(arguments: &Arguments) -> Result<f64, Refused> {
    // SAFETY: the caller's promise.
    let itr = unsafe { arguments.reals("ipc2redist", arguments.ipc2redist, 1) }?;
    let itr = itr.ok_or_else(|| Refused::because("the argument `ipc2redist` must not be null"))?[0];
    // As a number of 32 bits, a millionth is less than that.
    if ITR.contains(&(itr * (1.0 + f64::from(f32::EPSILON)))) || ITR.contains(&itr) {
        return Ok(1.0 / itr);
    }
    let message = format!("`ipc2redist` is {itr}; it is a number from {} to {}", ITR.start(), ITR.end());
    Err(Refused::because(message))
}

/// Weights of vertices or edges of a rank, if there are any.
type Weights = Option<Vec<Weight>>;

/// The weights of the vertices and of the edges of this rank.
///
/// # Safety
///
/// As for [`Input::new`].
unsafe fn weights(
    arguments: &Arguments,
    layout: &Layout,
    lists: &Lists,
    num_weights: usize,
) -> Result<(Weights, Weights), Refused> {
    // SAFETY: the caller's promise.
    let flag = unsafe { arguments.value("wgtflag", arguments.wgtflag) }?;
    let most = if arguments.function()?.is_of_mesh() { 2 } else { 3 };
    if !(0..=most).contains(&flag) {
        return Err(Refused::because(format!(
            "the argument `wgtflag` is {flag}; it is a number from 0 to {most}"
        )));
    }
    let length = layout.count.checked_mul(num_weights);
    let length = length.ok_or_else(|| Refused::because("`ncon` is too large"))?;
    check_memory(8 * length as u128)?;
    let name = if arguments.function()?.is_of_mesh() { "elmwgt" } else { "vwgt" };
    let array = |name, first, length| {
        // SAFETY: as above.
        unsafe { arguments.integers(name, first, length) }.map(Integers::to_vec)
    };
    let of_vertices = (flag & 2 != 0).then(|| array(name, arguments.vwgt, length)).transpose()?;
    let is_of_edges = flag & 1 != 0 && !arguments.function()?.is_of_mesh();
    let of_edges = is_of_edges.then(|| array("adjwgt", arguments.adjwgt, lists.entries.len())).transpose()?;
    Ok((of_vertices, of_edges))
}

/// The parts where vertices are.
///
/// # Safety
///
/// As for [`Input::new`].
unsafe fn old_parts(
    arguments: &Arguments,
    layout: &Layout,
    num_parts: usize,
) -> Result<Vec<BlockId>, Refused> {
    // SAFETY: the caller's promise.
    let old = unsafe { arguments.integers("part", arguments.part, layout.count) }?;
    let base = layout.base;
    old.each(|index, part| match usize::try_from(part - base) {
        Ok(known) if known < num_parts => Ok(known as BlockId),
        _ => {
            let what = format!("there are {num_parts} parts, counted from {base}");
            Err(Refused::entry("part", index, part, &what))
        }
    })
}
