//! The functions that programs call, with the names and arguments of METIS 5.
#![allow(unsafe_code, non_snake_case, clippy::too_many_arguments)] // a foreign interface

use std::ffi::{CStr, c_int, c_void};
use std::mem::transmute;

use viem::base::types::{BlockId, Weight};
use viem_ffi::{LooseGraph, arcs_from, array, array_mut, optional, put};

use crate::mesh::{Adjacency, Mesh};
use crate::options::{COUNT, Objective, Options, Way};
use crate::several::Several;
use crate::task::{Solution, Task};
use crate::{Fault, Idx, OK, call, real};

/// Calls the function of METIS itself that has this name. The types of the arguments are those of its parameters.
macro_rules! ask_real {
    ($name:expr, $($argument:expr),* $(,)?) => {{
        let function = transmute::<*mut c_void, unsafe extern "C" fn($(ask_real!(@any $argument)),*) -> c_int>(real::function($name)?);
        Ok(function($($argument),*))
    }};
    (@any $argument:expr) => { _ };
}

/// The value at a pointer.
///
/// # Safety
///
/// It is null or leads to an integer.
unsafe fn value(name: &'static str, pointer: *const Idx) -> Result<Idx, Fault> {
    // SAFETY: the caller's promise.
    Ok(unsafe { array(name, pointer, 1) }?[0])
}

/// The same for a count, from `least` on.
///
/// # Safety
///
/// As for [`value`].
unsafe fn count(name: &'static str, pointer: *const Idx, least: usize) -> Result<usize, Fault> {
    // SAFETY: the caller's promise.
    let count = usize::try_from(unsafe { value(name, pointer) }?).map_err(|_| Fault::Input)?;
    if count >= least && count < u32::MAX as usize { Ok(count) } else { Err(Fault::Input) }
}

/// The array of options.
///
/// # Safety
///
/// It is null or leads to 40 integers.
unsafe fn options(pointer: *const Idx, way: Option<Way>) -> Result<Options, Fault> {
    // SAFETY: the caller's promise.
    Options::new(unsafe { optional("options", pointer, COUNT) }?, way)
}

/// The shares of parts, each above 0.
///
/// # Safety
///
/// It is null or leads to `num_parts` numbers.
unsafe fn shares(pointer: *const f32, num_parts: usize) -> Result<Option<Vec<f64>>, Fault> {
    // SAFETY: the caller's promise.
    let Some(shares) = unsafe { optional("tpwgts", pointer, num_parts) }? else { return Ok(None) };
    let are_valid = shares.iter().all(|&share| share > 0.0 && share.is_finite());
    if are_valid { Ok(Some(shares.iter().map(|&share| share.into()).collect())) } else { Err(Fault::Input) }
}

/// The common part of both functions that partition graphs.
///
/// # Safety
///
/// The arrays are as long as METIS says.
#[allow(clippy::too_many_lines)] // arguments
unsafe fn part_graph(
    way: Way,
    real_name: &CStr,
    (nvtxs, ncon, xadj, adjncy): (*const Idx, *const Idx, *const Idx, *const Idx),
    (vwgt, vsize, adjwgt): (*const Idx, *const Idx, *const Idx),
    (nparts, tpwgts, ubvec): (*const Idx, *const f32, *const f32),
    given_options: *const Idx,
    (objval, part): (*mut Idx, *mut Idx),
) -> Result<c_int, Fault> {
    // SAFETY: this and what follows: the caller's promise.
    let ask_real = || unsafe {
        ask_real!(
            real_name,
            nvtxs,
            ncon,
            xadj,
            adjncy,
            vwgt,
            vsize,
            adjwgt,
            nparts,
            tpwgts,
            ubvec,
            given_options,
            objval,
            part
        )
    };
    let num_vertices = unsafe { count("nvtxs", nvtxs, 0) }?;
    let num_parts = unsafe { count("nparts", nparts, 1) }?;
    if num_vertices == 0 {
        unsafe { put_objective(objval, 0) }?;
        return Ok(OK);
    }
    let num_weights = unsafe { count("ncon", ncon, 1) }?;
    let options = unsafe { options(given_options, Some(way)) }?;
    // Several weights are known for the cut, of parts that need not be connected.
    if num_weights > 1 && (options.is_contiguous || options.objective != Objective::Cut) {
        return ask_real();
    }
    let num_values = num_vertices.checked_mul(num_weights).ok_or(Fault::Memory)?;
    let offsets =
        arcs_from(unsafe { array("xadj", xadj, num_vertices + 1) }?, options.base).ok_or(Fault::Input)?;
    let num_arcs = offsets[num_vertices];
    let imbalances = unsafe { optional("ubvec", ubvec, num_weights) }?;
    let is_valid = |&imbalance: &f32| imbalance >= 1.0 && imbalance.is_finite();
    if !imbalances.is_none_or(|imbalances| imbalances.iter().all(is_valid)) {
        return Err(Fault::Input);
    }
    let weights = unsafe { optional("vwgt", vwgt, num_values) }?;
    let graph = LooseGraph {
        base: options.base,
        offsets: &offsets,
        targets: unsafe { array("adjncy", adjncy, num_arcs) }?,
        edge_weights: unsafe { optional("adjwgt", adjwgt, num_arcs) }?,
        vertex_weights: weights.filter(|_| num_weights == 1),
    };
    let sizes = unsafe { optional("vsize", vsize, num_vertices) }?;
    let num_shares = num_parts.checked_mul(num_weights).ok_or(Fault::Memory)?;
    let shares = unsafe { shares(tpwgts, num_shares) }?;
    let shares = shares.as_deref();
    let parts = unsafe { array_mut("part", part, num_vertices) }?;
    let solution = if num_weights > 1 {
        Several { options, graph, num_weights, weights, num_parts, shares, imbalances }.solve()?
    } else {
        let imbalance = imbalances.map(|imbalances| imbalances[0]);
        Task { options, graph, sizes, num_parts, shares, imbalance }.solve()?
    };
    // Many programs ignore the code: they get this partition even where METIS is not there to make a connected one.
    fill(parts, &solution.parts, options.base)?;
    unsafe { put_objective(objval, solution.objective) }?;
    if solution.is_contiguous { Ok(OK) } else { ask_real() }
}

/// Writes the objective, or the greatest integer if that is less.
///
/// # Safety
///
/// It is null or leads to an integer.
unsafe fn put_objective(objval: *mut Idx, objective: Weight) -> Result<(), Fault> {
    let objective = Idx::try_from(objective).unwrap_or(Idx::MAX);
    // SAFETY: the caller's promise.
    Ok(unsafe { put("objval", objval, objective) }?)
}

/// Writes parts, which count from `base`.
fn fill(out: &mut [Idx], parts: &[BlockId], base: i64) -> Result<(), Fault> {
    let number = |part: BlockId| Idx::try_from(i64::from(part) + base).map_err(|_| Fault::Other);
    number(parts.iter().copied().max().unwrap_or(0))?;
    for (entry, &part) in out.iter_mut().zip(parts) {
        *entry = number(part)?;
    }
    Ok(())
}

/// Partitions a graph into parts with few edges between them, or of small communication volume.
///
/// # Safety
///
/// The arrays are as long as METIS says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn METIS_PartGraphKway(
    nvtxs: *const Idx,
    ncon: *const Idx,
    xadj: *const Idx,
    adjncy: *const Idx,
    vwgt: *const Idx,
    vsize: *const Idx,
    adjwgt: *const Idx,
    nparts: *const Idx,
    tpwgts: *const f32,
    ubvec: *const f32,
    options: *const Idx,
    objval: *mut Idx,
    part: *mut Idx,
) -> c_int {
    let (graph, weights, wanted) =
        ((nvtxs, ncon, xadj, adjncy), (vwgt, vsize, adjwgt), (nparts, tpwgts, ubvec));
    // SAFETY: the caller's promise is the same.
    call(|| unsafe {
        part_graph(Way::KWay, c"METIS_PartGraphKway", graph, weights, wanted, options, (objval, part))
    })
}

/// Partitions a graph into parts with few edges between them; the defaults are those of bisection.
///
/// # Safety
///
/// The arrays are as long as METIS says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn METIS_PartGraphRecursive(
    nvtxs: *const Idx,
    ncon: *const Idx,
    xadj: *const Idx,
    adjncy: *const Idx,
    vwgt: *const Idx,
    vsize: *const Idx,
    adjwgt: *const Idx,
    nparts: *const Idx,
    tpwgts: *const f32,
    ubvec: *const f32,
    options: *const Idx,
    objval: *mut Idx,
    part: *mut Idx,
) -> c_int {
    let (graph, weights, wanted) =
        ((nvtxs, ncon, xadj, adjncy), (vwgt, vsize, adjwgt), (nparts, tpwgts, ubvec));
    // SAFETY: the caller's promise is the same.
    call(|| unsafe {
        part_graph(
            Way::Recursive,
            c"METIS_PartGraphRecursive",
            graph,
            weights,
            wanted,
            options,
            (objval, part),
        )
    })
}

/// The mesh of some arguments, and the number of its elements.
///
/// # Safety
///
/// The arrays are as long as METIS says.
unsafe fn mesh(
    (ne, nn): (*const Idx, *const Idx),
    (eptr, eind): (*const Idx, *const Idx),
    base: i64,
) -> Result<(Mesh, usize, usize), Fault> {
    // SAFETY: this and what follows: the caller's promise.
    let (elements, nodes) = unsafe { (count("ne", ne, 1)?, count("nn", nn, 1)?) };
    let eptr = unsafe { array("eptr", eptr, elements + 1) }?;
    let mesh = Mesh::new(nodes, base, eptr, |count| Ok(unsafe { array("eind", eind, count) }?))?;
    Ok((mesh, elements, nodes))
}

/// The nodes that neighbouring elements have in common, at least 1.
///
/// # Safety
///
/// It is null or leads to an integer.
unsafe fn common(ncommon: *const Idx) -> Result<usize, Fault> {
    // SAFETY: the caller's promise.
    let common = unsafe { value("ncommon", ncommon) }?;
    Ok(usize::try_from(common).unwrap_or(1).max(1))
}

/// Partitions the elements of a mesh by its dual graph, and then its nodes.
///
/// # Safety
///
/// The arrays are as long as METIS says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn METIS_PartMeshDual(
    ne: *const Idx,
    nn: *const Idx,
    eptr: *const Idx,
    eind: *const Idx,
    vwgt: *const Idx,
    vsize: *const Idx,
    ncommon: *const Idx,
    nparts: *const Idx,
    tpwgts: *const f32,
    given: *const Idx,
    objval: *mut Idx,
    epart: *mut Idx,
    npart: *mut Idx,
) -> c_int {
    // SAFETY: this and what follows: the caller's promise.
    call(|| {
        let options = unsafe { options(given, None) }?;
        let (mesh, elements, nodes) = unsafe { mesh((ne, nn), (eptr, eind), options.base) }?;
        let graph = mesh.dual(unsafe { common(ncommon) }?)?;
        let wanted = unsafe { PartMesh::new((vwgt, vsize), (nparts, tpwgts), elements) }?;
        let (epart, npart) =
            unsafe { (array_mut("epart", epart, elements)?, array_mut("npart", npart, nodes)?) };
        let solution = wanted.solve(options, &graph)?;
        let of_nodes = mesh.parts_of_nodes(&solution.parts, &wanted.shares());
        fill(epart, &solution.parts, options.base)?;
        fill(npart, &of_nodes, options.base)?;
        unsafe { put_objective(objval, solution.objective) }?;
        if solution.is_contiguous {
            return Ok(OK);
        }
        unsafe {
            ask_real!(
                c"METIS_PartMeshDual",
                ne,
                nn,
                eptr,
                eind,
                vwgt,
                vsize,
                ncommon,
                nparts,
                tpwgts,
                given,
                objval,
                epart.as_mut_ptr(),
                npart.as_mut_ptr()
            )
        }
    })
}

/// Partitions the nodes of a mesh by its nodal graph, and then its elements.
///
/// # Safety
///
/// The arrays are as long as METIS says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn METIS_PartMeshNodal(
    ne: *const Idx,
    nn: *const Idx,
    eptr: *const Idx,
    eind: *const Idx,
    vwgt: *const Idx,
    vsize: *const Idx,
    nparts: *const Idx,
    tpwgts: *const f32,
    given: *const Idx,
    objval: *mut Idx,
    epart: *mut Idx,
    npart: *mut Idx,
) -> c_int {
    // SAFETY: this and what follows: the caller's promise.
    call(|| {
        let options = unsafe { options(given, None) }?;
        let (mesh, elements, nodes) = unsafe { mesh((ne, nn), (eptr, eind), options.base) }?;
        let graph = mesh.nodal()?;
        let wanted = unsafe { PartMesh::new((vwgt, vsize), (nparts, tpwgts), nodes) }?;
        let (epart, npart) =
            unsafe { (array_mut("epart", epart, elements)?, array_mut("npart", npart, nodes)?) };
        let solution = wanted.solve(options, &graph)?;
        let of_elements = mesh.parts_of_elements(&solution.parts, &wanted.shares());
        fill(npart, &solution.parts, options.base)?;
        fill(epart, &of_elements, options.base)?;
        unsafe { put_objective(objval, solution.objective) }?;
        if solution.is_contiguous {
            return Ok(OK);
        }
        unsafe {
            ask_real!(
                c"METIS_PartMeshNodal",
                ne,
                nn,
                eptr,
                eind,
                vwgt,
                vsize,
                nparts,
                tpwgts,
                given,
                objval,
                epart.as_mut_ptr(),
                npart.as_mut_ptr()
            )
        }
    })
}

/// The division of the elements or nodes of a mesh.
struct PartMesh<'a> {
    weights: Option<&'a [Idx]>,
    sizes: Option<&'a [Idx]>,
    num_parts: usize,
    shares: Option<Vec<f64>>,
}

impl<'a> PartMesh<'a> {
    /// # Safety
    ///
    /// The arrays are as long as METIS says, for this number of vertices.
    unsafe fn new(
        (vwgt, vsize): (*const Idx, *const Idx),
        (nparts, tpwgts): (*const Idx, *const f32),
        num_vertices: usize,
    ) -> Result<Self, Fault> {
        // SAFETY: this and what follows: the caller's promise.
        let num_parts = unsafe { count("nparts", nparts, 1) }?;
        Ok(Self {
            weights: unsafe { optional("vwgt", vwgt, num_vertices) }?,
            sizes: unsafe { optional("vsize", vsize, num_vertices) }?,
            num_parts,
            shares: unsafe { shares(tpwgts, num_parts) }?,
        })
    }

    /// The parts of the vertices of a graph from 0.
    fn solve(&self, options: Options, graph: &Adjacency) -> Result<Solution, Fault> {
        let (offsets, targets) = (&graph.offsets, &graph.targets);
        let graph =
            LooseGraph { base: 0, offsets, targets, edge_weights: None, vertex_weights: self.weights };
        let (sizes, num_parts, shares) = (self.sizes, self.num_parts, self.shares.as_deref());
        Task { options, graph, sizes, num_parts, shares, imbalance: None }.solve()
    }

    fn shares(&self) -> Vec<f64> {
        self.shares.clone().unwrap_or_else(|| vec![1.0; self.num_parts])
    }
}

/// Makes the dual graph of a mesh; its arrays are freed by `METIS_Free`.
///
/// # Safety
///
/// The arrays are as long as METIS says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn METIS_MeshToDual(
    ne: *const Idx,
    nn: *const Idx,
    eptr: *const Idx,
    eind: *const Idx,
    ncommon: *const Idx,
    numflag: *const Idx,
    r_xadj: *mut *mut Idx,
    r_adjncy: *mut *mut Idx,
) -> c_int {
    // SAFETY: this and what follows: the caller's promise.
    call(|| {
        let base = unsafe { base(numflag) }?;
        let (mesh, ..) = unsafe { mesh((ne, nn), (eptr, eind), base) }?;
        let graph = mesh.dual(unsafe { common(ncommon) }?)?;
        unsafe { give(&graph, base, r_xadj, r_adjncy) }
    })
}

/// Makes the nodal graph of a mesh; its arrays are freed by `METIS_Free`.
///
/// # Safety
///
/// The arrays are as long as METIS says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn METIS_MeshToNodal(
    ne: *const Idx,
    nn: *const Idx,
    eptr: *const Idx,
    eind: *const Idx,
    numflag: *const Idx,
    r_xadj: *mut *mut Idx,
    r_adjncy: *mut *mut Idx,
) -> c_int {
    // SAFETY: this and what follows: the caller's promise.
    call(|| {
        let base = unsafe { base(numflag) }?;
        let (mesh, ..) = unsafe { mesh((ne, nn), (eptr, eind), base) }?;
        unsafe { give(&mesh.nodal()?, base, r_xadj, r_adjncy) }
    })
}

/// The number of the first element and node.
///
/// # Safety
///
/// It is null or leads to an integer.
unsafe fn base(numflag: *const Idx) -> Result<i64, Fault> {
    // SAFETY: the caller's promise.
    match unsafe { value("numflag", numflag) }? {
        0 => Ok(0),
        1 => Ok(1),
        _ => Err(Fault::Input),
    }
}

/// Gives a graph to the caller, in memory of `malloc`; all of it or nothing.
///
/// # Safety
///
/// Both pointers are null or lead to pointers.
unsafe fn give(
    graph: &Adjacency,
    base: i64,
    xadj: *mut *mut Idx,
    adjncy: *mut *mut Idx,
) -> Result<c_int, Fault> {
    let number = |value: usize| Idx::try_from(value as i64 + base).map_err(|_| Fault::Memory);
    let offsets = graph.offsets.iter().map(|&offset| number(offset)).collect::<Result<Vec<_>, _>>()?;
    let targets = graph.targets.iter().map(|&target| Idx::try_from(i64::from(target) + base));
    let targets = targets.collect::<Result<Vec<_>, _>>().map_err(|_| Fault::Memory)?;
    // SAFETY: this and what follows: the caller's promise.
    unsafe {
        put("r_xadj", xadj, std::ptr::null_mut())?;
        put("r_adjncy", adjncy, std::ptr::null_mut())?;
        let offsets = allocated(&offsets)?;
        let targets = allocated(&targets).inspect_err(|_| libc::free(offsets.cast()))?;
        put("r_xadj", xadj, offsets)?;
        put("r_adjncy", adjncy, targets)?;
    }
    Ok(OK)
}

/// A copy in memory of `malloc`.
fn allocated(values: &[Idx]) -> Result<*mut Idx, Fault> {
    // SAFETY: `malloc` takes any size; a slice is at most half of what can be addressed.
    let memory = unsafe { libc::malloc(size_of_val(values).max(1)) }.cast::<Idx>();
    if memory.is_null() {
        return Err(Fault::Memory);
    }
    // SAFETY: the memory is new and as large.
    unsafe { memory.copy_from_nonoverlapping(values.as_ptr(), values.len()) };
    Ok(memory)
}

/// Frees what a function of METIS has allocated.
///
/// # Safety
///
/// `pointer` is null or memory of `malloc` that is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn METIS_Free(pointer: *mut c_void) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { libc::free(pointer) };
    OK
}

/// Sets all options to their defaults.
///
/// # Safety
///
/// `options` leads to 40 integers, or to memory for them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn METIS_SetDefaultOptions(options: *mut Idx) -> c_int {
    // SAFETY: the caller's promise.
    call(|| Ok(unsafe { put("options", options.cast::<[Idx; COUNT]>(), [-1; COUNT]) }.map(|()| OK)?))
}

/// Orders the vertices of a graph to reduce fill; METIS itself does it.
///
/// # Safety
///
/// The arrays are as long as METIS says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn METIS_NodeND(
    nvtxs: *mut Idx,
    xadj: *mut Idx,
    adjncy: *mut Idx,
    vwgt: *mut Idx,
    options: *mut Idx,
    perm: *mut Idx,
    iperm: *mut Idx,
) -> c_int {
    // SAFETY: it is this function of METIS, and the arguments are the caller's promise.
    call(|| unsafe { ask_real!(c"METIS_NodeND", nvtxs, xadj, adjncy, vwgt, options, perm, iperm) })
}

/// The same for ParMETIS; METIS itself does it.
///
/// # Safety
///
/// The arrays are as long as METIS says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn METIS_NodeNDP(
    nvtxs: Idx,
    xadj: *mut Idx,
    adjncy: *mut Idx,
    vwgt: *mut Idx,
    npes: Idx,
    options: *mut Idx,
    perm: *mut Idx,
    iperm: *mut Idx,
    sizes: *mut Idx,
) -> c_int {
    // SAFETY: it is this function of METIS, and the arguments are the caller's promise.
    call(|| unsafe {
        ask_real!(c"METIS_NodeNDP", nvtxs, xadj, adjncy, vwgt, npes, options, perm, iperm, sizes)
    })
}

/// Separates a graph by vertices; METIS itself does it.
///
/// # Safety
///
/// The arrays are as long as METIS says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn METIS_ComputeVertexSeparator(
    nvtxs: *mut Idx,
    xadj: *mut Idx,
    adjncy: *mut Idx,
    vwgt: *mut Idx,
    options: *mut Idx,
    sepsize: *mut Idx,
    part: *mut Idx,
) -> c_int {
    // SAFETY: it is this function of METIS, and the arguments are the caller's promise.
    call(|| unsafe {
        ask_real!(c"METIS_ComputeVertexSeparator", nvtxs, xadj, adjncy, vwgt, options, sepsize, part)
    })
}

/// Refines a separator for ParMETIS; METIS itself does it.
///
/// # Safety
///
/// The arrays are as long as METIS says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn METIS_NodeRefine(
    nvtxs: Idx,
    xadj: *mut Idx,
    vwgt: *mut Idx,
    adjncy: *mut Idx,
    parts: *mut Idx,
    hmarker: *mut Idx,
    ubfactor: f32,
) -> c_int {
    // SAFETY: it is this function of METIS, and the arguments are the caller's promise.
    call(|| unsafe { ask_real!(c"METIS_NodeRefine", nvtxs, xadj, vwgt, adjncy, parts, hmarker, ubfactor) })
}
