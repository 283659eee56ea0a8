//! The same functions under the names by which compilers of Fortran call them, as METIS has them: in capitals, in small letters, and with one or two
//! underscores behind.
#![allow(unsafe_code, non_snake_case, clippy::too_many_arguments)] // a foreign interface

use std::ffi::c_int;

use crate::Idx;
use crate::exports;

/// Declares a function under each of some names.
macro_rules! named {
    (@one $of:ident $name:ident ($($argument:ident: $type:ty),*)) => {
        #[doc = concat!("[`", stringify!($of), "`](exports::", stringify!($of), ")")]
        ///
        /// # Safety
        ///
        /// The arrays are as long as METIS says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> c_int {
            // SAFETY: the caller's promise is the same.
            unsafe { exports::$of($($argument),*) }
        }
    };
    ($of:ident as [$($name:ident)*] $arguments:tt) => {
        $(named!(@one $of $name $arguments);)*
    };
}

named!(METIS_PartGraphKway as [METIS_PARTGRAPHKWAY metis_partgraphkway metis_partgraphkway_ metis_partgraphkway__] (
    nvtxs: *const Idx, ncon: *const Idx, xadj: *const Idx, adjncy: *const Idx, vwgt: *const Idx, vsize: *const Idx, adjwgt: *const Idx,
    nparts: *const Idx, tpwgts: *const f32, ubvec: *const f32, options: *const Idx, objval: *mut Idx, part: *mut Idx
));
named!(METIS_PartGraphRecursive as [METIS_PARTGRAPHRECURSIVE metis_partgraphrecursive metis_partgraphrecursive_ metis_partgraphrecursive__] (
    nvtxs: *const Idx, ncon: *const Idx, xadj: *const Idx, adjncy: *const Idx, vwgt: *const Idx, vsize: *const Idx, adjwgt: *const Idx,
    nparts: *const Idx, tpwgts: *const f32, ubvec: *const f32, options: *const Idx, objval: *mut Idx, part: *mut Idx
));
named!(METIS_PartMeshDual as [METIS_PARTMESHDUAL metis_partmeshdual metis_partmeshdual_ metis_partmeshdual__] (
    ne: *const Idx, nn: *const Idx, eptr: *const Idx, eind: *const Idx, vwgt: *const Idx, vsize: *const Idx, ncommon: *const Idx,
    nparts: *const Idx, tpwgts: *const f32, options: *const Idx, objval: *mut Idx, epart: *mut Idx, npart: *mut Idx
));
named!(METIS_PartMeshNodal as [METIS_PARTMESHNODAL metis_partmeshnodal metis_partmeshnodal_ metis_partmeshnodal__] (
    ne: *const Idx, nn: *const Idx, eptr: *const Idx, eind: *const Idx, vwgt: *const Idx, vsize: *const Idx, nparts: *const Idx,
    tpwgts: *const f32, options: *const Idx, objval: *mut Idx, epart: *mut Idx, npart: *mut Idx
));
named!(METIS_MeshToDual as [METIS_MESHTODUAL metis_meshtodual metis_meshtodual_ metis_meshtodual__] (
    ne: *const Idx, nn: *const Idx, eptr: *const Idx, eind: *const Idx, ncommon: *const Idx, numflag: *const Idx,
    r_xadj: *mut *mut Idx, r_adjncy: *mut *mut Idx
));
named!(METIS_MeshToNodal as [METIS_MESHTONODAL metis_meshtonodal metis_meshtonodal_ metis_meshtonodal__] (
    ne: *const Idx, nn: *const Idx, eptr: *const Idx, eind: *const Idx, numflag: *const Idx, r_xadj: *mut *mut Idx, r_adjncy: *mut *mut Idx
));
named!(METIS_NodeND as [METIS_NODEND metis_nodend metis_nodend_ metis_nodend__] (
    nvtxs: *mut Idx, xadj: *mut Idx, adjncy: *mut Idx, vwgt: *mut Idx, options: *mut Idx, perm: *mut Idx, iperm: *mut Idx
));
