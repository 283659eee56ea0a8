//! The arguments of a call, as C has them.
#![allow(unsafe_code)] // a foreign interface

use std::ffi::c_void;

use viem::base::types::{BlockId, Cost, NodeId};
use viem_dist_c::Refused;
use viem_distributed::alike;
use viem_ffi::{Integers, array_mut, check_memory, memory_of_graph, put, reals};

/// The functions, by the numbers that `call.h` gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    PartKway,
    PartGeomKway,
    PartGeom,
    RefineKway,
    AdaptiveRepart,
    PartMeshKway,
    MeshToDual,
}

impl Function {
    const ALL: [Self; 7] = [
        Self::PartKway,
        Self::PartGeomKway,
        Self::PartGeom,
        Self::RefineKway,
        Self::AdaptiveRepart,
        Self::PartMeshKway,
        Self::MeshToDual,
    ];

    /// Returns whether it starts from an older partition.
    pub fn resumes(self) -> bool {
        matches!(self, Self::RefineKway | Self::AdaptiveRepart)
    }

    /// Returns whether it takes elements in place of vertices.
    pub fn is_of_mesh(self) -> bool {
        matches!(self, Self::PartMeshKway | Self::MeshToDual)
    }
}

/// The arguments of a call, as `call.h` declares them. Those that the function does not have are null.
#[repr(C)]
pub struct Arguments {
    function: i32,
    idx_bits: i32,
    real_bits: i32,
    vtxdist: *const c_void,
    xadj: *const c_void,
    adjncy: *const c_void,
    pub(crate) vwgt: *const c_void,
    pub(crate) vsize: *const c_void,
    pub(crate) adjwgt: *const c_void,
    pub(crate) wgtflag: *const c_void,
    numflag: *const c_void,
    pub(crate) ncon: *const c_void,
    pub(crate) ncommonnodes: *const c_void,
    pub(crate) nparts: *const c_void,
    pub(crate) tpwgts: *const c_void,
    pub(crate) ubvec: *const c_void,
    pub(crate) ipc2redist: *const c_void,
    pub(crate) options: *const c_void,
    ndims: *const c_void,
    xyz: *const c_void,
    edgecut: *mut c_void,
    pub(crate) part: *mut c_void,
    r_xadj: *mut c_void,
    r_adjncy: *mut c_void,
}

/// The vertices of the ranks.
pub(crate) struct Layout {
    /// The number of the first vertex of each rank, counted from 0, and that of all vertices.
    pub starts: Vec<i64>,
    /// The number of vertices of this rank.
    pub count: usize,
    /// The number of the first vertex in all arrays.
    pub base: i64,
}

impl Layout {
    /// The arguments that are the same on all ranks, with their names.
    pub fn shared(&self) -> [(&'static str, u64); 2] {
        let starts = alike::digest(self.starts.iter().map(|&start| start as u64));
        [("`vtxdist`", starts), ("`numflag`", self.base as u64)]
    }
}

/// A list for each vertex of this rank, counted from 0.
#[derive(Default)]
pub(crate) struct Lists {
    pub offsets: Vec<usize>,
    pub entries: Vec<i64>,
}

impl Arguments {
    /// The function that is called.
    pub(crate) fn function(&self) -> Result<Function, Refused> {
        let function = usize::try_from(self.function).ok().and_then(|number| Function::ALL.get(number));
        function.copied().ok_or_else(|| Refused::because("there is no such function"))
    }

    fn is_short(&self) -> bool {
        self.idx_bits == 32
    }

    /// An array of integers.
    ///
    /// # Safety
    ///
    /// It is null or has this length, and does not change during the call.
    pub(crate) unsafe fn integers(
        &self,
        name: &'static str,
        first: *const c_void,
        length: usize,
    ) -> Result<Integers<'_>, Refused> {
        // SAFETY: the caller's promise.
        Ok(unsafe { Integers::at_pointer(name, first, length, self.is_short()) }?)
    }

    /// An integer.
    ///
    /// # Safety
    ///
    /// As for [`integers`](Self::integers).
    pub(crate) unsafe fn value(&self, name: &'static str, pointer: *const c_void) -> Result<i64, Refused> {
        // SAFETY: the caller's promise.
        Ok(unsafe { self.integers(name, pointer, 1) }?.at(0))
    }

    /// A number from 1 to 2^32 - 1.
    ///
    /// # Safety
    ///
    /// As for [`integers`](Self::integers).
    pub(crate) unsafe fn count(&self, name: &'static str, pointer: *const c_void) -> Result<usize, Refused> {
        // SAFETY: the caller's promise.
        let value = unsafe { self.value(name, pointer) }?;
        let count = u32::try_from(value).ok().filter(|&count| count > 0);
        let wrong = || Refused::because(format!("the argument `{name}` is {value}; it must be positive"));
        Ok(count.ok_or_else(wrong)? as usize)
    }

    /// An array of real numbers, if it is not null.
    ///
    /// # Safety
    ///
    /// As for [`integers`](Self::integers).
    pub(crate) unsafe fn reals(
        &self,
        name: &'static str,
        first: *const c_void,
        length: usize,
    ) -> Result<Option<Vec<f64>>, Refused> {
        if first.is_null() {
            return Ok(None);
        }
        // SAFETY: the caller's promise.
        Ok(Some(unsafe { reals(name, first, length, self.real_bits == 32) }?))
    }

    /// The vertices of the ranks.
    ///
    /// # Safety
    ///
    /// The arrays are as long as ParMETIS says.
    pub(crate) unsafe fn layout(&self, rank: usize, size: usize) -> Result<Layout, Refused> {
        let (name, base) = match self.function()? {
            Function::PartGeom => ("vtxdist", 0),
            // SAFETY: the caller's promise.
            Function::PartMeshKway | Function::MeshToDual => ("elmdist", unsafe { self.base() }?),
            // SAFETY: as above.
            _ => ("vtxdist", unsafe { self.base() }?),
        };
        let most = i64::from(NodeId::MAX) - 1;
        // SAFETY: as above.
        let starts = unsafe { self.integers(name, self.vtxdist, size + 1) }?;
        let starts = starts.each(|index, start| {
            let wrong = |what: &str| Err(Refused::entry(name, index, start, what));
            match index {
                0 if start != base => wrong(&format!("the first is {base}")),
                1.. if start < starts.at(index - 1) => wrong("the entries must not fall"),
                _ if start - base > most => wrong(&format!("there are at most {most} vertices")),
                _ => Ok(start - base),
            }
        })?;
        let count = (starts[rank + 1] - starts[rank]) as usize;
        Ok(Layout { starts, count, base })
    }

    /// The number of the first vertex.
    ///
    /// # Safety
    ///
    /// As for [`integers`](Self::integers).
    unsafe fn base(&self) -> Result<i64, Refused> {
        // SAFETY: the caller's promise.
        match unsafe { self.value("numflag", self.numflag) }? {
            base @ 0..=1 => Ok(base),
            other => Err(Refused::because(format!("the argument `numflag` is {other}; it must be 0 or 1"))),
        }
    }

    /// The neighbours of the vertices of this rank, or the nodes of its elements.
    ///
    /// # Safety
    ///
    /// As for [`layout`](Self::layout).
    pub(crate) unsafe fn lists(&self, layout: &Layout) -> Result<Lists, Refused> {
        let &Layout { count, base, .. } = layout;
        let [of_offsets, of_entries] = match self.function()?.is_of_mesh() {
            true => ["eptr", "eind"],
            false => ["xadj", "adjncy"],
        };
        if count == 0 {
            return Ok(Lists { offsets: vec![0], entries: Vec::new() });
        }
        check_memory(memory_of_graph(count, 0))?;
        // SAFETY: the caller's promise.
        let offsets = unsafe { self.integers(of_offsets, self.xadj, count + 1) }?;
        let offsets = offsets.each(|index, offset| match index {
            0 if offset != base => {
                Err(Refused::entry(of_offsets, index, offset, &format!("the first is {base}")))
            }
            1.. if offset < offsets.at(index - 1) => {
                Err(Refused::entry(of_offsets, index, offset, "offsets must not fall"))
            }
            _ => Ok((offset - base) as usize),
        })?;
        check_memory(memory_of_graph(count, offsets[count]))?;
        // SAFETY: as above, and the offsets are checked.
        let entries = unsafe { self.integers(of_entries, self.adjncy, offsets[count]) }?;
        let entries = entries.each(|index, entry| match entry.checked_sub(base) {
            Some(known) if known >= 0 => Ok(known),
            _ => Err(Refused::entry(of_entries, index, entry, &format!("numbers count from {base}"))),
        })?;
        Ok(Lists { offsets, entries })
    }

    /// The coordinates of the points of this rank, and the number of dimensions.
    ///
    /// # Safety
    ///
    /// As for [`layout`](Self::layout).
    pub(crate) unsafe fn points(&self, layout: &Layout) -> Result<(Vec<f64>, usize), Refused> {
        // SAFETY: the caller's promise.
        let dimensions = unsafe { self.count("ndims", self.ndims) }?;
        let length = layout.count.checked_mul(dimensions);
        let length =
            length.ok_or_else(|| Refused::because(format!("`ndims` is {dimensions}, which is too large")))?;
        check_memory(24 * length as u128)?;
        // SAFETY: as above.
        match unsafe { self.reals("xyz", self.xyz, length) }? {
            Some(points) => Ok((points, dimensions)),
            None if length == 0 => Ok((Vec::new(), dimensions)),
            None => Err(Refused::because("the argument `xyz` must not be null")),
        }
    }

    /// Checks where the result goes, before any work.
    ///
    /// # Safety
    ///
    /// As for [`layout`](Self::layout).
    pub(crate) unsafe fn check_places(&self, count: usize, has_cut: bool) -> Result<(), Refused> {
        // SAFETY: the caller's promise, for all.
        unsafe {
            self.integers("part", self.part, count)?;
            if has_cut {
                self.integers("edgecut", self.edgecut, 1)?;
            }
        }
        Ok(())
    }

    /// Writes the parts of the vertices of this rank, which count from `base`.
    ///
    /// # Safety
    ///
    /// The array has as many entries, and is not in use elsewhere.
    pub(crate) unsafe fn put_parts(&self, parts: &[BlockId], base: i64) -> Result<(), Refused> {
        let numbers = parts.iter().map(|&part| i64::from(part) + base);
        // SAFETY: the caller's promise.
        unsafe { self.put_integers("part", self.part, numbers, parts.len()) }
    }

    /// Writes the cut, or the greatest integer if that is less.
    ///
    /// # Safety
    ///
    /// It leads to an integer.
    pub(crate) unsafe fn put_cut(&self, cut: Cost) -> Result<(), Refused> {
        // SAFETY: the caller's promise.
        unsafe { self.put_integers("edgecut", self.edgecut, std::iter::once(cut), 1) }
    }

    /// # Safety
    ///
    /// The array has as many entries, and is not in use elsewhere.
    unsafe fn put_integers(
        &self,
        name: &'static str,
        first: *mut c_void,
        numbers: impl Iterator<Item = i64>,
        length: usize,
    ) -> Result<(), Refused> {
        if self.is_short() {
            // SAFETY: the caller's promise.
            let places = unsafe { array_mut::<i32>(name, first.cast(), length) }?;
            places.iter_mut().zip(numbers).for_each(|(place, number)| {
                *place = number.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
            });
        } else {
            // SAFETY: as above.
            let places = unsafe { array_mut::<i64>(name, first.cast(), length) }?;
            places.iter_mut().zip(numbers).for_each(|(place, number)| *place = number);
        }
        Ok(())
    }

    /// Copies numbers into memory of `malloc`.
    ///
    /// # Errors
    ///
    /// A number does not fit an integer, or there is not enough memory.
    pub(crate) fn allocated(&self, numbers: &[i64]) -> Result<Allocated, Refused> {
        let width = if self.is_short() { size_of::<i32>() } else { size_of::<i64>() };
        if self.is_short() && numbers.iter().any(|&number| i32::try_from(number).is_err()) {
            return Err(Refused::because(
                "the graph of the mesh has more arcs than integers of 32 bits count",
            ));
        }
        // SAFETY: `malloc` takes any size; numbers of 64 bits are at most half of what can be addressed.
        let memory = unsafe { libc::malloc((width * numbers.len()).max(1)) };
        if memory.is_null() {
            return Err(Refused::because("there is not enough memory for the graph of the mesh"));
        }
        let allocated = Allocated(memory);
        // SAFETY: the memory is new and as large.
        unsafe {
            match self.is_short() {
                true => (0..).zip(numbers).for_each(|(index, &number)| {
                    memory.cast::<i32>().add(index).write(number as i32);
                }),
                false => memory.cast::<i64>().copy_from_nonoverlapping(numbers.as_ptr(), numbers.len()),
            }
        }
        Ok(allocated)
    }

    /// Checks where the arrays of a graph go.
    ///
    /// # Safety
    ///
    /// They are null or lead to pointers.
    pub(crate) unsafe fn clear_graph(&self) -> Result<(), Refused> {
        // SAFETY: the caller's promise.
        unsafe {
            put("xadj", self.r_xadj.cast::<*mut c_void>(), std::ptr::null_mut())?;
            put("adjncy", self.r_adjncy.cast::<*mut c_void>(), std::ptr::null_mut())?;
        }
        Ok(())
    }

    /// Gives the arrays of a graph to the caller, who frees them.
    ///
    /// # Safety
    ///
    /// As for [`clear_graph`](Self::clear_graph).
    pub(crate) unsafe fn put_graph(&self, xadj: Allocated, adjncy: Allocated) -> Result<(), Refused> {
        // SAFETY: the caller's promise.
        unsafe {
            put("xadj", self.r_xadj.cast::<*mut c_void>(), xadj.released())?;
            put("adjncy", self.r_adjncy.cast::<*mut c_void>(), adjncy.released())?;
        }
        Ok(())
    }
}

/// Memory of `malloc`, freed unless it is released.
pub(crate) struct Allocated(*mut c_void);

impl Allocated {
    fn released(self) -> *mut c_void {
        let memory = self.0;
        std::mem::forget(self);
        memory
    }
}

impl Drop for Allocated {
    fn drop(&mut self) {
        // SAFETY: it is memory of `malloc` that nobody else has.
        unsafe { libc::free(self.0) };
    }
}
