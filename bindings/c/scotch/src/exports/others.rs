//! What only Scotch itself does: orders, meshes, colours, domains of architectures, contexts. The functions are there so that programs link; without Scotch they fail
//! with a message.
#![allow(unsafe_code, non_snake_case, clippy::too_many_arguments)] // a foreign interface

use std::ffi::{c_char, c_double, c_int};

use libc::FILE;

use super::functions;
use crate::Num;
use crate::read::Structure;
use crate::real::missing;

/// Declares such functions by the types of their arguments.
macro_rules! others {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        functions! {$(
            /// Scotch itself does it.
            $name($($argument: $type),*) -> $result {
                let _ = ($($argument,)*);
                missing()
            }
        )*}
    };
}

others! {
    SCOTCH_archVcmplt(a: Structure) -> c_int;
    SCOTCH_archVhcub(a: Structure) -> c_int;
    SCOTCH_archDomAlloc() -> Structure;
    SCOTCH_archDomSizeof() -> c_int;
    SCOTCH_archDomNum(a: Structure, b: Structure) -> Num;
    SCOTCH_archDomTerm(a: Structure, b: Structure, c: Num) -> c_int;
    SCOTCH_archDomSize(a: Structure, b: Structure) -> Num;
    SCOTCH_archDomWght(a: Structure, b: Structure) -> Num;
    SCOTCH_archDomDist(a: Structure, b: Structure, c: Structure) -> Num;
    SCOTCH_archDomFrst(a: Structure, b: Structure) -> c_int;
    SCOTCH_archDomBipart(a: Structure, b: Structure, c: Structure, d: Structure) -> c_int;
    SCOTCH_contextAlloc() -> Structure;
    SCOTCH_contextInit(a: Structure) -> c_int;
    SCOTCH_contextExit(a: Structure) -> ();
    SCOTCH_contextOptionGetNum(a: Structure, b: c_int, c: *mut Num) -> c_int;
    SCOTCH_contextOptionSetNum(a: Structure, b: c_int, c: Num) -> c_int;
    SCOTCH_contextOptionParse(a: Structure, b: *mut c_char) -> c_int;
    SCOTCH_contextRandomClone(a: Structure) -> c_int;
    SCOTCH_contextRandomReset(a: Structure) -> ();
    SCOTCH_contextRandomSeed(a: Structure, b: Num) -> ();
    SCOTCH_contextThreadImport1(a: Structure, b: c_int) -> c_int;
    SCOTCH_contextThreadImport2(a: Structure, b: c_int) -> c_int;
    SCOTCH_contextThreadSpawn(a: Structure, b: c_int, c: *mut c_int) -> c_int;
    SCOTCH_contextBindGraph(a: Structure, b: Structure, c: Structure) -> c_int;
    SCOTCH_contextBindMesh(a: Structure, b: Structure, c: Structure) -> c_int;
    SCOTCH_geomAlloc() -> Structure;
    SCOTCH_geomSizeof() -> c_int;
    SCOTCH_geomInit(a: Structure) -> c_int;
    SCOTCH_geomExit(a: Structure) -> ();
    SCOTCH_geomData(a: Structure, b: *mut Num, c: *mut *mut c_double) -> ();
    SCOTCH_graphCoarsen(a: Structure, b: Num, c: c_double, d: Num, e: Structure, f: *mut Num) -> c_int;
    SCOTCH_graphCoarsenMatch(a: Structure, b: *mut Num, c: c_double, d: Num, e: *mut Num) -> c_int;
    SCOTCH_graphCoarsenBuild(a: Structure, b: Num, c: *mut Num, d: Structure, e: *mut Num) -> c_int;
    SCOTCH_graphColor(a: Structure, b: *mut Num, c: *mut Num, d: Num) -> c_int;
    SCOTCH_graphStat(a: Structure, b: *mut Num, c: *mut Num, d: *mut Num, e: *mut c_double, f: *mut c_double, g: *mut Num, h: *mut Num, i: *mut c_double, j: *mut c_double, k: *mut Num, l: *mut Num, m: *mut Num, n: *mut c_double, o: *mut c_double) -> ();
    SCOTCH_graphDiamPV(a: Structure) -> Num;
    SCOTCH_graphDump(a: Structure, b: *mut c_char, c: *mut c_char, d: *mut FILE) -> c_int;
    SCOTCH_graphGeomLoadChac(a: Structure, b: Structure, c: *mut FILE, d: *mut FILE, e: *mut c_char) -> c_int;
    SCOTCH_graphGeomLoadHabo(a: Structure, b: Structure, c: *mut FILE, d: *mut FILE, e: *mut c_char) -> c_int;
    SCOTCH_graphGeomLoadMmkt(a: Structure, b: Structure, c: *mut FILE, d: *mut FILE, e: *mut c_char) -> c_int;
    SCOTCH_graphGeomLoadScot(a: Structure, b: Structure, c: *mut FILE, d: *mut FILE, e: *mut c_char) -> c_int;
    SCOTCH_graphGeomSaveChac(a: Structure, b: Structure, c: *mut FILE, d: *mut FILE, e: *mut c_char) -> c_int;
    SCOTCH_graphGeomSaveMmkt(a: Structure, b: Structure, c: *mut FILE, d: *mut FILE, e: *mut c_char) -> c_int;
    SCOTCH_graphGeomSaveScot(a: Structure, b: Structure, c: *mut FILE, d: *mut FILE, e: *mut c_char) -> c_int;
    SCOTCH_graphInduceList(a: Structure, b: Num, c: *mut Num, d: Structure) -> c_int;
    SCOTCH_graphInducePart(a: Structure, b: Num, c: *mut u8, d: u8, e: Structure) -> c_int;
    SCOTCH_graphMapView(a: Structure, b: Structure, c: *mut FILE) -> c_int;
    SCOTCH_graphPartOvl(a: Structure, b: Num, c: Structure, d: *mut Num) -> c_int;
    SCOTCH_graphPartOvlView(a: Structure, b: Num, c: *mut Num, d: *mut FILE) -> c_int;
    SCOTCH_graphRemapView(a: Structure, b: Structure, c: Structure, d: c_double, e: *mut Num, f: *mut FILE) -> c_int;
    SCOTCH_graphRemapViewRaw(a: Structure, b: Structure, c: Structure, d: c_double, e: *mut Num, f: *mut FILE) -> c_int;
    SCOTCH_graphOrderInit(a: Structure, b: Structure, c: *mut Num, d: *mut Num, e: *mut Num, f: *mut Num, g: *mut Num) -> c_int;
    SCOTCH_graphOrderExit(a: Structure, b: Structure) -> ();
    SCOTCH_graphOrderLoad(a: Structure, b: Structure, c: *mut FILE) -> c_int;
    SCOTCH_graphOrderSave(a: Structure, b: Structure, c: *mut FILE) -> c_int;
    SCOTCH_graphOrderSaveMap(a: Structure, b: Structure, c: *mut FILE) -> c_int;
    SCOTCH_graphOrderSaveTree(a: Structure, b: Structure, c: *mut FILE) -> c_int;
    SCOTCH_graphOrderCompute(a: Structure, b: Structure, c: Structure) -> c_int;
    SCOTCH_graphOrderComputeList(a: Structure, b: Structure, c: Num, d: *mut Num, e: Structure) -> c_int;
    SCOTCH_graphOrder(a: Structure, b: Structure, c: *mut Num, d: *mut Num, e: *mut Num, f: *mut Num, g: *mut Num) -> c_int;
    SCOTCH_graphOrderList(a: Structure, b: Num, c: *mut Num, d: Structure, e: *mut Num, f: *mut Num, g: *mut Num, h: *mut Num, i: *mut Num) -> c_int;
    SCOTCH_graphOrderCheck(a: Structure, b: Structure) -> c_int;
    SCOTCH_meshAlloc() -> Structure;
    SCOTCH_meshSizeof() -> c_int;
    SCOTCH_meshInit(a: Structure) -> c_int;
    SCOTCH_meshExit(a: Structure) -> ();
    SCOTCH_meshLoad(a: Structure, b: *mut FILE, c: Num) -> c_int;
    SCOTCH_meshSave(a: Structure, b: *mut FILE) -> c_int;
    SCOTCH_meshBuild(a: Structure, b: Num, c: Num, d: Num, e: Num, f: *mut Num, g: *mut Num, h: *mut Num, i: *mut Num, j: *mut Num, k: Num, l: *mut Num) -> c_int;
    SCOTCH_meshCheck(a: Structure) -> c_int;
    SCOTCH_meshSize(a: Structure, b: *mut Num, c: *mut Num, d: *mut Num) -> ();
    SCOTCH_meshData(a: Structure, b: *mut Num, c: *mut Num, d: *mut Num, e: *mut Num, f: *mut *mut Num, g: *mut *mut Num, h: *mut *mut Num, i: *mut *mut Num, j: *mut *mut Num, k: *mut Num, l: *mut *mut Num, m: *mut Num) -> ();
    SCOTCH_meshStat(a: Structure, b: *mut Num, c: *mut Num, d: *mut Num, e: *mut c_double, f: *mut c_double, g: *mut Num, h: *mut Num, i: *mut c_double, j: *mut c_double, k: *mut Num, l: *mut Num, m: *mut c_double, n: *mut c_double) -> ();
    SCOTCH_meshGraph(a: Structure, b: Structure) -> c_int;
    SCOTCH_meshGraphDual(a: Structure, b: Structure, c: Num) -> c_int;
    SCOTCH_meshGeomLoadHabo(a: Structure, b: Structure, c: *mut FILE, d: *mut FILE, e: *mut c_char) -> c_int;
    SCOTCH_meshGeomLoadScot(a: Structure, b: Structure, c: *mut FILE, d: *mut FILE, e: *mut c_char) -> c_int;
    SCOTCH_meshGeomSaveScot(a: Structure, b: Structure, c: *mut FILE, d: *mut FILE, e: *mut c_char) -> c_int;
    SCOTCH_meshOrderInit(a: Structure, b: Structure, c: *mut Num, d: *mut Num, e: *mut Num, f: *mut Num, g: *mut Num) -> c_int;
    SCOTCH_meshOrderExit(a: Structure, b: Structure) -> ();
    SCOTCH_meshOrderSave(a: Structure, b: Structure, c: *mut FILE) -> c_int;
    SCOTCH_meshOrderSaveMap(a: Structure, b: Structure, c: *mut FILE) -> c_int;
    SCOTCH_meshOrderSaveTree(a: Structure, b: Structure, c: *mut FILE) -> c_int;
    SCOTCH_meshOrderCompute(a: Structure, b: Structure, c: Structure) -> c_int;
    SCOTCH_meshOrderComputeList(a: Structure, b: Structure, c: Num, d: *mut Num, e: Structure) -> c_int;
    SCOTCH_meshOrder(a: Structure, b: Structure, c: *mut Num, d: *mut Num, e: *mut Num, f: *mut Num, g: *mut Num) -> c_int;
    SCOTCH_meshOrderList(a: Structure, b: Num, c: *mut Num, d: Structure, e: *mut Num, f: *mut Num, g: *mut Num, h: *mut Num, i: *mut Num) -> c_int;
    SCOTCH_meshOrderCheck(a: Structure, b: Structure) -> c_int;
    SCOTCH_orderAlloc() -> Structure;
    SCOTCH_orderSizeof() -> c_int;
    SCOTCH_stratSave(a: Structure, b: *mut FILE) -> c_int;
    SCOTCH_stratGraphClusterBuild(a: Structure, b: Num, c: Num, d: c_double, e: c_double) -> c_int;
    SCOTCH_stratGraphPartOvl(a: Structure, b: *mut c_char) -> c_int;
    SCOTCH_stratGraphPartOvlBuild(a: Structure, b: Num, c: Num, d: c_double) -> c_int;
    SCOTCH_stratGraphOrder(a: Structure, b: *mut c_char) -> c_int;
    SCOTCH_stratGraphOrderBuild(a: Structure, b: Num, c: Num, d: c_double) -> c_int;
    SCOTCH_stratMeshOrder(a: Structure, b: *mut c_char) -> c_int;
    SCOTCH_stratMeshOrderBuild(a: Structure, b: Num, c: c_double) -> c_int;
    SCOTCH_archLtleaf(a: Structure, b: Num, c: *mut Num, d: *mut Num, e: Num, f: *mut Num) -> c_int;
    SCOTCH_graphMapViewRaw(a: Structure, b: Structure, c: *mut FILE) -> c_int;
}
