/*
 * viem: partitioning and process mapping of graphs that are distributed over the ranks of an MPI job. The guide is
 * docs/guide/distributed.md.
 *
 * Link with -lviem_dist. It has all of viem.h too, so link no -lviem beside it. MPI must be initialised.
 *
 * All functions are collective over `comm`: all ranks call them, with the same machine or number of blocks, migration weight and settings. They
 * return the same status on all ranks, and take an error last, as those of viem.h do: if something is wrong on one rank, all ranks get the
 * message of the first such rank. The result is the same for any number of ranks and threads. An error of MPI itself ends the job.
 */
#ifndef VIEM_DIST_H
#define VIEM_DIST_H

#include <mpi.h>
#include <stdint.h>

#include "viem.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The vertices of a rank and their edges, with the names and the meaning that they have for ParMETIS; all numbers count from 0. Rank r has the
 * n = vtxdist[r + 1] - vtxdist[r] vertices from vtxdist[r] on. Each edge is in the lists of both its ends, with the same weight; none
 * leads from a vertex to itself, and none occurs twice in a list.
 */
typedef struct {
    const void *vtxdist; /* an entry for each rank and one more, the same on all ranks; the first is 0, the last the number of vertices,
                            below 2^32 - 1 */
    const void *xadj;    /* n + 1 entries: the neighbours of own vertex i are adjncy[xadj[i]] to adjncy[xadj[i + 1] - 1] */
    const void *adjncy;  /* xadj[n] entries, the global numbers of neighbours, in any order */
    const void *vwgt;    /* n entries, at least 0, for each weight: those of one vertex after the other; null if all are 1 */
    const void *adjwgt;  /* xadj[n] entries, at least 1; null if all are 1, and then on all ranks */
    int32_t bits;        /* of each entry of these arrays, which are int64_t or int32_t: 64, for which 0 stands too, or 32. With ParMETIS,
                            8 * sizeof(idx_t) */
    int32_t num_weights; /* of each vertex, such as time and memory, the same on all ranks: `ncon` of ParMETIS. 0 stands for 1, too */
} viem_dist_graph;

/*
 * Divides a graph into blocks of bounded weight with few edges between them. A block weighs at most `(1 + imbalance) * ceil(its share of the
 * weight of the graph)`, if the weights of the vertices allow it, and no block is empty. That holds for each of several weights, with the limits of
 * `viem_settings_set_limits_of_weights` and the functions beside it. Each rank needs memory for its part of the graph, and for a coarse graph of
 * at most 100000 vertices, or 40 for each block.
 *
 * - `comm`: an intracommunicator
 * - `graph`: the part of this rank
 * - `num_blocks`: k, at least 1 and at most the number of vertices
 * - `fixed`: n entries, the block that each own vertex must be in, or -1 if it is free; null if all of this rank are free
 * - `settings`: null for those of VIEM_PRESET_ECO. There are no time limits, progress functions, and social networks for distributed
 *   graphs: they are refused
 * - `blocks`: gets n entries, the block of each own vertex. Not written on failure
 * - `report`: gets the report of the result, the same on all ranks but for the time; may be null
 * - `error`: gets the error, which viem_error_free frees; null on success. May be null
 *
 *     int32_t blocks[1000];
 *     viem_dist_graph part = {vtxdist, xadj, adjncy, NULL, NULL, 8 * sizeof(idx_t), 1};
 *     viem_status status = viem_dist_partition(MPI_COMM_WORLD, &part, 64, NULL, NULL, blocks, NULL, NULL);
 */
viem_status viem_dist_partition(MPI_Comm comm, const viem_dist_graph *graph, int64_t num_blocks, const int32_t fixed[],
                                const viem_settings *settings, int32_t blocks[], viem_report *report, viem_error **error);

/*
 * Maps a graph to the PEs of a machine, many vertices to each, such that J is small: the sum of weight times distance over all edges, each
 * counted in both directions. Loads are bounded as those of blocks are, in proportion to the capacities of the PEs.
 *
 * - `machine`: as viem_machine_new makes it, the same on all ranks
 * - `fixed`, `pes`: as `fixed` and `blocks` of viem_dist_partition
 * - the rest as for viem_dist_partition
 */
viem_status viem_dist_map(MPI_Comm comm, const viem_dist_graph *graph, const viem_machine *machine, const int32_t fixed[],
                          const viem_settings *settings, int32_t pes[], viem_report *report, viem_error **error);

/*
 * Adapts a mapping or a partition after weights, edges or machine have changed, with few moves: minimises J, or the cut, plus
 * `migration_weight` times the weight of the vertices that move. Fixed vertices go where they must, wherever they are.
 *
 * - `machine`: null for blocks instead of PEs
 * - `num_blocks`: the number of blocks; ignored if there is a machine
 * - `old`: n entries, the PE or block where each own vertex is, or -1 for a new one
 * - `migration_weight`: at least 0
 * - the rest as for viem_dist_partition and viem_dist_map. The report has the weight of its `migration`
 */
viem_status viem_dist_remap(MPI_Comm comm, const viem_dist_graph *graph, const viem_machine *machine, int64_t num_blocks,
                            const int32_t old[], double migration_weight, const int32_t fixed[], const viem_settings *settings,
                            int32_t blocks[], viem_report *report, viem_error **error);

/*
 * The same for handles of Fortran, which mpi4py has too (py2f). viem_dist.f90 declares them.
 */
viem_status viem_dist_partition_f(MPI_Fint comm, const viem_dist_graph *graph, int64_t num_blocks, const int32_t fixed[],
                                  const viem_settings *settings, int32_t blocks[], viem_report *report, viem_error **error);
viem_status viem_dist_map_f(MPI_Fint comm, const viem_dist_graph *graph, const viem_machine *machine, const int32_t fixed[],
                            const viem_settings *settings, int32_t pes[], viem_report *report, viem_error **error);
viem_status viem_dist_remap_f(MPI_Fint comm, const viem_dist_graph *graph, const viem_machine *machine, int64_t num_blocks,
                              const int32_t old[], double migration_weight, const int32_t fixed[], const viem_settings *settings,
                              int32_t blocks[], viem_report *report, viem_error **error);

#ifdef __cplusplus
}
#endif

#endif
