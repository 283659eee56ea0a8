/* The functions of parmetis.h, for integers and real numbers of one width. */
#include "parmetis.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"

#define EXPORTED __attribute__((visibility("default")))

static int run(MPI_Comm comm, const arguments *arguments)
{
    const char *why = operations_refusal(comm);
    if (why) return parmetis_refuse(why);
    operations operations;
    MPI_Comm ours;
    why = operations_begin(comm, &ours, &operations);
    if (why) return parmetis_refuse(why);
    int code = parmetis_call(&operations, arguments);
    PMPI_Comm_free(&ours);
    return code;
}

/* ---- parameters ------------------------------------------------------------------------------------------------- */

/* The parameters of each function but the communicator, and their names as arguments. */
#define KWAY_PARAMETERS                                                                                                                      \
    idx_t *vtxdist, idx_t *xadj, idx_t *adjncy, idx_t *vwgt, idx_t *adjwgt, idx_t *wgtflag, idx_t *numflag, idx_t *ncon, idx_t *nparts,      \
        real_t *tpwgts, real_t *ubvec, idx_t *options, idx_t *edgecut, idx_t *part
#define KWAY_ARGUMENTS vtxdist, xadj, adjncy, vwgt, adjwgt, wgtflag, numflag, ncon, nparts, tpwgts, ubvec, options, edgecut, part
#define GEOM_KWAY_PARAMETERS                                                                                                                 \
    idx_t *vtxdist, idx_t *xadj, idx_t *adjncy, idx_t *vwgt, idx_t *adjwgt, idx_t *wgtflag, idx_t *numflag, idx_t *ndims, real_t *xyz,       \
        idx_t *ncon, idx_t *nparts, real_t *tpwgts, real_t *ubvec, idx_t *options, idx_t *edgecut, idx_t *part
#define GEOM_KWAY_ARGUMENTS \
    vtxdist, xadj, adjncy, vwgt, adjwgt, wgtflag, numflag, ndims, xyz, ncon, nparts, tpwgts, ubvec, options, edgecut, part
#define GEOM_PARAMETERS idx_t *vtxdist, idx_t *ndims, real_t *xyz, idx_t *part
#define GEOM_ARGUMENTS vtxdist, ndims, xyz, part
#define ADAPTIVE_PARAMETERS                                                                                                                  \
    idx_t *vtxdist, idx_t *xadj, idx_t *adjncy, idx_t *vwgt, idx_t *vsize, idx_t *adjwgt, idx_t *wgtflag, idx_t *numflag, idx_t *ncon,       \
        idx_t *nparts, real_t *tpwgts, real_t *ubvec, real_t *ipc2redist, idx_t *options, idx_t *edgecut, idx_t *part
#define ADAPTIVE_ARGUMENTS \
    vtxdist, xadj, adjncy, vwgt, vsize, adjwgt, wgtflag, numflag, ncon, nparts, tpwgts, ubvec, ipc2redist, options, edgecut, part
#define MESH_KWAY_PARAMETERS                                                                                                                 \
    idx_t *elmdist, idx_t *eptr, idx_t *eind, idx_t *elmwgt, idx_t *wgtflag, idx_t *numflag, idx_t *ncon, idx_t *ncommonnodes,               \
        idx_t *nparts, real_t *tpwgts, real_t *ubvec, idx_t *options, idx_t *edgecut, idx_t *part
#define MESH_KWAY_ARGUMENTS elmdist, eptr, eind, elmwgt, wgtflag, numflag, ncon, ncommonnodes, nparts, tpwgts, ubvec, options, edgecut, part
#define DUAL_PARAMETERS idx_t *elmdist, idx_t *eptr, idx_t *eind, idx_t *numflag, idx_t *ncommonnodes, idx_t **xadj, idx_t **adjncy
#define DUAL_ARGUMENTS elmdist, eptr, eind, numflag, ncommonnodes, xadj, adjncy
#define ORDER_PARAMETERS idx_t *vtxdist, idx_t *xadj, idx_t *adjncy, idx_t *numflag, idx_t *options, idx_t *order, idx_t *sizes
#define ORDER_ARGUMENTS vtxdist, xadj, adjncy, numflag, options, order, sizes
#define ORDER_V32_PARAMETERS                                                                                                                 \
    idx_t *vtxdist, idx_t *xadj, idx_t *adjncy, idx_t *vwgt, idx_t *numflag, idx_t *mtype, idx_t *rtype, idx_t *p_nseps, idx_t *s_nseps,     \
        real_t *ubfrac, idx_t *seed, idx_t *dbglvl, idx_t *order, idx_t *sizes
#define ORDER_V32_ARGUMENTS vtxdist, xadj, adjncy, vwgt, numflag, mtype, rtype, p_nseps, s_nseps, ubfrac, seed, dbglvl, order, sizes

/* ---- functions -------------------------------------------------------------------------------------------------- */

#define WIDTHS .idx_bits = IDXTYPEWIDTH, .real_bits = REALTYPEWIDTH
#define GRAPH WIDTHS, .vtxdist = vtxdist, .xadj = xadj, .adjncy = adjncy, .vwgt = vwgt, .adjwgt = adjwgt, .wgtflag = wgtflag, .numflag = numflag
#define MESH WIDTHS, .vtxdist = elmdist, .xadj = eptr, .adjncy = eind, .numflag = numflag, .ncommonnodes = ncommonnodes
#define PARTS .ncon = ncon, .nparts = nparts, .tpwgts = tpwgts, .ubvec = ubvec, .options = options, .edgecut = edgecut, .part = part

static int part_kway(KWAY_PARAMETERS, MPI_Comm comm)
{
    return run(comm, &(arguments){.function = PART_KWAY, GRAPH, PARTS});
}

static int part_geom_kway(GEOM_KWAY_PARAMETERS, MPI_Comm comm)
{
    return run(comm, &(arguments){.function = PART_GEOM_KWAY, GRAPH, PARTS, .ndims = ndims, .xyz = xyz});
}

static int part_geom(GEOM_PARAMETERS, MPI_Comm comm)
{
    return run(comm, &(arguments){.function = PART_GEOM, WIDTHS, .vtxdist = vtxdist, .ndims = ndims, .xyz = xyz, .part = part});
}

static int refine_kway(KWAY_PARAMETERS, MPI_Comm comm)
{
    return run(comm, &(arguments){.function = REFINE_KWAY, GRAPH, PARTS});
}

static int adaptive_repart(ADAPTIVE_PARAMETERS, MPI_Comm comm)
{
    return run(comm, &(arguments){.function = ADAPTIVE_REPART, GRAPH, PARTS, .vsize = vsize, .ipc2redist = ipc2redist});
}

static int part_mesh_kway(MESH_KWAY_PARAMETERS, MPI_Comm comm)
{
    return run(comm, &(arguments){.function = PART_MESH_KWAY, MESH, PARTS, .vwgt = elmwgt, .wgtflag = wgtflag});
}

static int mesh_to_dual(DUAL_PARAMETERS, MPI_Comm comm)
{
    return run(comm, &(arguments){.function = MESH_TO_DUAL, MESH, .r_xadj = xadj, .r_adjncy = adjncy});
}

/* ---- orders ----------------------------------------------------------------------------------------------------- */

/* The function of ParMETIS itself with this name: of the library that the variable VIEM_PARMETIS names, else of the one that the program is linked to. Null
 * unless all ranks have it. */
static void *real(const char *name, MPI_Comm comm)
{
    static void *library;
    const char *file = getenv("VIEM_PARMETIS");
    if (!library && file && *file) library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    void *function = library ? dlsym(library, name) : dlsym(RTLD_NEXT, name);
    if (operations_refusal(comm)) return 0;
    int is_there = function != 0, are_there = 0;
    PMPI_Allreduce(&is_there, &are_there, 1, MPI_INT, MPI_MIN, comm);
    return are_there ? function : 0;
}

static const char NO_ORDERS[] = "viem has no orders that reduce fill, and ParMETIS itself is not there on all ranks";

/* A function that ParMETIS itself does. */
#define ASKED(name, list)                                           \
    EXPORTED int name(list##_PARAMETERS, MPI_Comm *comm)            \
    {                                                               \
        void *found = comm ? real(#name, *comm) : 0;                \
        if (!found) return parmetis_refuse(NO_ORDERS);              \
        int (*function)(list##_PARAMETERS, MPI_Comm *comm);         \
        memcpy(&function, &found, sizeof function);                 \
        return function(list##_ARGUMENTS, comm);                    \
    }

ASKED(ParMETIS_V3_NodeND, ORDER)
ASKED(ParMETIS_SerialNodeND, ORDER)
ASKED(ParMETIS_V32_NodeND, ORDER_V32)

/* ---- names ------------------------------------------------------------------------------------------------------ */

#define NO_COMM "the argument `comm` must not be null"

/* A function under its own name and under those by which compilers of Fortran call it; these have handles of communicators. `list` leads to the parameters and
 * to the arguments without the communicator. */
#define NAMED(function, c, capitals, small, list)             \
    NAMED_C(function, c, list)                                \
    NAMED_FORTRAN(function, capitals, list)                   \
    NAMED_FORTRAN(function, small, list)                      \
    NAMED_FORTRAN(function, small##_, list)                   \
    NAMED_FORTRAN(function, small##__, list)
#define NAMED_C(function, name, list)                                                       \
    EXPORTED int name(list##_PARAMETERS, MPI_Comm *comm)                                    \
    {                                                                                       \
        return comm ? function(list##_ARGUMENTS, *comm) : parmetis_refuse(NO_COMM);         \
    }
#define NAMED_FORTRAN(function, name, list)                                                               \
    int name(list##_PARAMETERS, MPI_Fint *comm);                                                          \
    EXPORTED int name(list##_PARAMETERS, MPI_Fint *comm)                                                  \
    {                                                                                                     \
        return comm ? function(list##_ARGUMENTS, operations_comm(*comm)) : parmetis_refuse(NO_COMM);      \
    }

NAMED(part_kway, ParMETIS_V3_PartKway, PARMETIS_V3_PARTKWAY, parmetis_v3_partkway, KWAY)
NAMED(part_geom_kway, ParMETIS_V3_PartGeomKway, PARMETIS_V3_PARTGEOMKWAY, parmetis_v3_partgeomkway, GEOM_KWAY)
NAMED(part_geom, ParMETIS_V3_PartGeom, PARMETIS_V3_PARTGEOM, parmetis_v3_partgeom, GEOM)
NAMED(refine_kway, ParMETIS_V3_RefineKway, PARMETIS_V3_REFINEKWAY, parmetis_v3_refinekway, KWAY)
NAMED(adaptive_repart, ParMETIS_V3_AdaptiveRepart, PARMETIS_V3_ADAPTIVEREPART, parmetis_v3_adaptiverepart, ADAPTIVE)
NAMED(part_mesh_kway, ParMETIS_V3_PartMeshKway, PARMETIS_V3_PARTMESHKWAY, parmetis_v3_partmeshkway, MESH_KWAY)
NAMED(mesh_to_dual, ParMETIS_V3_Mesh2Dual, PARMETIS_V3_MESH2DUAL, parmetis_v3_mesh2dual, DUAL)

static int node_nd(ORDER_PARAMETERS, MPI_Comm comm)
{
    return ParMETIS_V3_NodeND(ORDER_ARGUMENTS, &comm);
}
NAMED_FORTRAN(node_nd, PARMETIS_V3_NODEND, ORDER)
NAMED_FORTRAN(node_nd, parmetis_v3_nodend, ORDER)
NAMED_FORTRAN(node_nd, parmetis_v3_nodend_, ORDER)
NAMED_FORTRAN(node_nd, parmetis_v3_nodend__, ORDER)
