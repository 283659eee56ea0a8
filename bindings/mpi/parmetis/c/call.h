/* What the part in Rust and the part in C of libviem_parmetis share. Nothing of it is visible outside. */
#ifndef VIEM_PARMETIS_CALL_H
#define VIEM_PARMETIS_CALL_H

#include "operations.h"

enum { PART_KWAY, PART_GEOM_KWAY, PART_GEOM, REFINE_KWAY, ADAPTIVE_REPART, PART_MESH_KWAY, MESH_TO_DUAL };

/* The arguments of a call; null where the function has none. */
typedef struct {
    int32_t function;
    int32_t idx_bits, real_bits;  /* of idx_t and real_t */
    const void *vtxdist, *xadj, *adjncy; /* or elmdist, eptr, eind */
    const void *vwgt, *vsize, *adjwgt;
    const void *wgtflag, *numflag, *ncon, *ncommonnodes, *nparts;
    const void *tpwgts, *ubvec, *ipc2redist;
    const void *options;
    const void *ndims, *xyz;
    void *edgecut, *part;
    void *r_xadj, *r_adjncy; /* lead to pointers */
} arguments;

/* METIS_OK or METIS_ERROR. */
int parmetis_call(const operations *operations, const arguments *arguments);
/* Refuses a call; METIS_ERROR. */
int parmetis_refuse(const char *message);

#endif
