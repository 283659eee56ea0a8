/*
 * viem in place of ParMETIS 4: its functions, with the names and arguments of its manual. The guide is docs/guide/parmetis.md.
 *
 * Link with -lviem_parmetis in place of -lparmetis. MPI must be initialised. All functions are collective over `comm`, and return METIS_OK or, on all ranks,
 * METIS_ERROR. IDXTYPEWIDTH and REALTYPEWIDTH are the bits of `idx_t` and `real_t`, 32 without; those of metis.h if it is installed. Integers of 64 bits take
 * -lviem_parmetis64, and real numbers of 64 bits -lviem_parmetis_double or -lviem_parmetis64_double.
 */
#ifndef __parmetis_h__
#define __parmetis_h__

#include <mpi.h>

#if !defined(VIEM_PARMETIS_WITHOUT_METIS) && defined(__has_include)
#if __has_include(<metis.h>)
#include <metis.h>
#define VIEM_PARMETIS_HAS_METIS
#endif
#endif

#ifndef VIEM_PARMETIS_HAS_METIS
#include <stdint.h>
#ifndef IDXTYPEWIDTH
#define IDXTYPEWIDTH 32
#endif
#ifndef REALTYPEWIDTH
#define REALTYPEWIDTH 32
#endif
#if IDXTYPEWIDTH == 64
typedef int64_t idx_t;
#else
typedef int32_t idx_t;
#endif
#if REALTYPEWIDTH == 64
typedef double real_t;
#else
typedef float real_t;
#endif
enum { METIS_OK = 1, METIS_ERROR_INPUT = -2, METIS_ERROR_MEMORY = -3, METIS_ERROR = -4 };
#endif

/* The version whose interface this is. */
#define PARMETIS_MAJOR_VERSION 4
#define PARMETIS_MINOR_VERSION 0
#define PARMETIS_SUBMINOR_VERSION 3

/* options[3] of ParMETIS_V3_RefineKway and ParMETIS_V3_AdaptiveRepart: vertices are in the part with the number of their rank, or `part` has their parts. */
#define PARMETIS_PSR_COUPLED 1
#define PARMETIS_PSR_UNCOUPLED 2

/* options[1]; nothing is printed. */
#define PARMETIS_DBGLVL_TIME 1
#define PARMETIS_DBGLVL_INFO 2
#define PARMETIS_DBGLVL_PROGRESS 4
#define PARMETIS_DBGLVL_REFINEINFO 8
#define PARMETIS_DBGLVL_MATCHINFO 16
#define PARMETIS_DBGLVL_RMOVEINFO 32
#define PARMETIS_DBGLVL_REMAP 64

/* Arguments of ParMETIS_V32_NodeND, for ParMETIS itself. */
#define PARMETIS_MTYPE_LOCAL 1
#define PARMETIS_MTYPE_GLOBAL 2
#define PARMETIS_SRTYPE_GREEDY 1
#define PARMETIS_SRTYPE_2PHASE 2

#ifdef __cplusplus
extern "C" {
#endif

/* Partitions a graph. */
int ParMETIS_V3_PartKway(idx_t *vtxdist, idx_t *xadj, idx_t *adjncy, idx_t *vwgt, idx_t *adjwgt, idx_t *wgtflag, idx_t *numflag, idx_t *ncon,
                         idx_t *nparts, real_t *tpwgts, real_t *ubvec, idx_t *options, idx_t *edgecut, idx_t *part, MPI_Comm *comm);

/* The same; the coordinates are checked, and mean nothing. */
int ParMETIS_V3_PartGeomKway(idx_t *vtxdist, idx_t *xadj, idx_t *adjncy, idx_t *vwgt, idx_t *adjwgt, idx_t *wgtflag, idx_t *numflag, idx_t *ndims,
                             real_t *xyz, idx_t *ncon, idx_t *nparts, real_t *tpwgts, real_t *ubvec, idx_t *options, idx_t *edgecut, idx_t *part,
                             MPI_Comm *comm);

/* Divides points into as many parts as there are ranks. */
int ParMETIS_V3_PartGeom(idx_t *vtxdist, idx_t *ndims, real_t *xyz, idx_t *part, MPI_Comm *comm);

/* Improves a partition. */
int ParMETIS_V3_RefineKway(idx_t *vtxdist, idx_t *xadj, idx_t *adjncy, idx_t *vwgt, idx_t *adjwgt, idx_t *wgtflag, idx_t *numflag, idx_t *ncon,
                           idx_t *nparts, real_t *tpwgts, real_t *ubvec, idx_t *options, idx_t *edgecut, idx_t *part, MPI_Comm *comm);

/* Partitions a graph again, with few vertices that move: minimises `ipc2redist` times the cut plus the sizes of the vertices that move. */
int ParMETIS_V3_AdaptiveRepart(idx_t *vtxdist, idx_t *xadj, idx_t *adjncy, idx_t *vwgt, idx_t *vsize, idx_t *adjwgt, idx_t *wgtflag, idx_t *numflag,
                               idx_t *ncon, idx_t *nparts, real_t *tpwgts, real_t *ubvec, real_t *ipc2redist, idx_t *options, idx_t *edgecut, idx_t *part,
                               MPI_Comm *comm);

/* Partitions the elements of a mesh. */
int ParMETIS_V3_PartMeshKway(idx_t *elmdist, idx_t *eptr, idx_t *eind, idx_t *elmwgt, idx_t *wgtflag, idx_t *numflag, idx_t *ncon, idx_t *ncommonnodes,
                             idx_t *nparts, real_t *tpwgts, real_t *ubvec, idx_t *options, idx_t *edgecut, idx_t *part, MPI_Comm *comm);

/* Makes the graph of the elements of a mesh, in arrays for free(). */
int ParMETIS_V3_Mesh2Dual(idx_t *elmdist, idx_t *eptr, idx_t *eind, idx_t *numflag, idx_t *ncommonnodes, idx_t **xadj, idx_t **adjncy, MPI_Comm *comm);

/* Orders to reduce fill: ParMETIS itself makes them, if it is there. */
int ParMETIS_V3_NodeND(idx_t *vtxdist, idx_t *xadj, idx_t *adjncy, idx_t *numflag, idx_t *options, idx_t *order, idx_t *sizes, MPI_Comm *comm);
int ParMETIS_V32_NodeND(idx_t *vtxdist, idx_t *xadj, idx_t *adjncy, idx_t *vwgt, idx_t *numflag, idx_t *mtype, idx_t *rtype, idx_t *p_nseps,
                        idx_t *s_nseps, real_t *ubfrac, idx_t *seed, idx_t *dbglvl, idx_t *order, idx_t *sizes, MPI_Comm *comm);
int ParMETIS_SerialNodeND(idx_t *vtxdist, idx_t *xadj, idx_t *adjncy, idx_t *numflag, idx_t *options, idx_t *order, idx_t *sizes, MPI_Comm *comm);

/* The message of the last call of this thread; empty if it succeeded. Valid until its next call. ParMETIS itself has no such function. */
const char *viem_parmetis_error(void);

#ifdef __cplusplus
}
#endif

#endif
