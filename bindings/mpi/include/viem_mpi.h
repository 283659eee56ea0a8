/*
 * viem: rank reordering inside an MPI job. The guide is docs/guide/mpi.md.
 *
 * Link with -lviem_reorder, before the MPI: then MPI_Cart_create, MPI_Graph_create, MPI_Dist_graph_create and
 * MPI_Dist_graph_create_adjacent reorder ranks if their `reorder` is true. The functions below do so for programs that use none of
 * them.
 *
 * Functions return MPI_SUCCESS or a class of errors of MPI, and call no error handler for it. It is no error if ranks cannot be reordered, or
 * if that would gain nothing: the new communicator then has the ranks of the old one.
 */
#ifndef VIEM_MPI_H
#define VIEM_MPI_H

#include <mpi.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The result of a call, the same on all ranks. */
typedef struct {
    int64_t cost_before; /* J of the ranks of the old communicator; 0 if it was not computed */
    int64_t cost_after;  /* J of the ranks of the new one; 0 if it was not computed */
    int32_t is_reordered; /* 1 if any rank has changed, else 0 */
} viem_MPI_report;

/*
 * Makes a communicator of the same processes, with ranks such that those that communicate heavily are close to each other: process i of the
 * graph becomes rank i. Collective over `comm`. O((n + m) log n) at rank 0 for n ranks and m edges, and at most the time that
 * VIEM_REORDER_SECONDS allows, by default a second.
 *
 * - `comm`: an intracommunicator
 * - `graph`: the traffic of a job with these ranks: the name of a METIS file, or the common beginning of the names of the
 *   recorder's files: `job` for job.0, job.1 and so on. Read at rank 0. Null on all ranks for the traffic that this job has had so far, if
 *   bindings/mpi/trace/viem_trace.c records it
 * - `report`: gets the result; may be null
 * - `newcomm`: gets the new communicator, which MPI_Comm_free frees. It has the error handler of `comm`, and no attributes
 *
 * Errors: MPI_ERR_COMM if `comm` is null or an intercommunicator, MPI_ERR_ARG if `newcomm` is null, or one that MPI returns.
 *
 *     MPI_Comm comm;
 *     viem_MPI_Comm_reorder(MPI_COMM_WORLD, "job.graph", NULL, &comm);
 */
int viem_MPI_Comm_reorder(MPI_Comm comm, const char *graph, viem_MPI_report *report, MPI_Comm *newcomm);

/*
 * The same for a graph of which each process gives a part.
 *
 * - `degree`: the number of neighbours of the process; at least 0
 * - `neighbours`: their ranks in `comm`, in any order. Each edge may be given by one end or by both: all weights of a pair are summed
 * - `weights`: of the edges to them, at least 0, such as bytes; null if all are 1
 *
 * Errors: also MPI_ERR_ARG on a process whose arguments are wrong. The others then get a communicator, and so does it.
 */
int viem_MPI_Comm_reorder_adjacent(MPI_Comm comm, int degree, const int neighbours[], const int64_t weights[],
                                   viem_MPI_report *report, MPI_Comm *newcomm);

/*
 * The same for handles of Fortran, which mpi4py has too (py2f, f2py).
 */
int viem_MPI_Comm_reorder_f(MPI_Fint comm, const char *graph, viem_MPI_report *report, MPI_Fint *newcomm);
int viem_MPI_Comm_reorder_adjacent_f(MPI_Fint comm, int degree, const int neighbours[], const int64_t weights[],
                                     viem_MPI_report *report, MPI_Fint *newcomm);

#ifdef __cplusplus
}
#endif

#endif
