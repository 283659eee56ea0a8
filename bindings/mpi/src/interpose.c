/* The four calls that make topologies, in place of those of MPI. Fortran calls them too: its functions call those of C, under
 * one of their two names. */
#include "reorder.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

void *find_next(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) {
        fprintf(stderr, "viem_reorder: this MPI has no %s\n", name);
        abort();
    }
    return function;
}

/* Defines `real`, the function of MPI, in a function of its type. */
#define REAL(name, parameters)       \
    static int(*real) parameters;    \
    if (!real) *(void **)&real = find_next(name)

/* Defines an interposed function under both of its names. */
#define INTERPOSED(name, parameters) \
    EXPORTED int P##name parameters __attribute__((alias(#name))); \
    EXPORTED int name parameters

/* Whether a process takes part: all processes of a communicator answer alike. */
static int is_wanted(MPI_Comm comm, int reorder)
{
    int is_inter = 1, size = 0;
    if (!reorder || comm == MPI_COMM_NULL || viem_reorder_depth > 0) return 0;
    if (PMPI_Comm_test_inter(comm, &is_inter) != MPI_SUCCESS || is_inter) return 0;
    return PMPI_Comm_size(comm, &size) == MPI_SUCCESS && size > 1;
}

static int size_of(MPI_Comm comm)
{
    int size = 0;
    PMPI_Comm_size(comm, &size);
    return size;
}

static int rank_of(MPI_Comm comm)
{
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    return rank;
}

/* ---- topologies that every process knows ------------------------------------------------------------------------ */

/* The graph is given by rank 0 alone; the others only check it. */
static int begin_whole(session *session, MPI_Comm comm, const char *name, int num_vertices, edges *part, fault fault)
{
    if (rank_of(comm) != 0) part->num = 0;
    return begin(session, comm, name, num_vertices, part, fault);
}

INTERPOSED(MPI_Cart_create, (MPI_Comm comm, int num_dims, const int dims[], const int periods[], int reorder, MPI_Comm *result))
{
    REAL("PMPI_Cart_create", (MPI_Comm, int, const int[], const int[], int, MPI_Comm *));
    comm = world_of(comm);
    if (!is_wanted(comm, reorder)) return real(comm, num_dims, dims, periods, reorder, result);
    session session;
    edges part = no_edges;
    int num_vertices = 0;
    fault fault = cart_edges(size_of(comm), num_dims, dims, periods, &part, &num_vertices);
    if (begin_whole(&session, comm, "MPI_Cart_create", num_vertices, &part, fault)) {
        int is_success = real(session.reordered, num_dims, dims, periods, 0, result) == MPI_SUCCESS;
        if (end(&session, is_success, result)) return MPI_SUCCESS;
    }
    return real(comm, num_dims, dims, periods, 0, result);
}

INTERPOSED(MPI_Graph_create, (MPI_Comm comm, int num_nodes, const int index[], const int targets[], int reorder, MPI_Comm *result))
{
    REAL("PMPI_Graph_create", (MPI_Comm, int, const int[], const int[], int, MPI_Comm *));
    comm = world_of(comm);
    if (!is_wanted(comm, reorder)) return real(comm, num_nodes, index, targets, reorder, result);
    session session;
    edges part = no_edges;
    int num_vertices = 0;
    fault fault = graph_edges(size_of(comm), num_nodes, index, targets, &part, &num_vertices);
    if (begin_whole(&session, comm, "MPI_Graph_create", num_vertices, &part, fault)) {
        int is_success = real(session.reordered, num_nodes, index, targets, 0, result) == MPI_SUCCESS;
        if (end(&session, is_success, result)) return MPI_SUCCESS;
    }
    return real(comm, num_nodes, index, targets, 0, result);
}

/* ---- distributed graphs ----------------------------------------------------------------------------------------- */

/* Weights as MPI wants them, of a list that has been exchanged. */
static const int *weights_of(const lists *lists, int i)
{
    if (lists->num[i] < 0) return MPI_UNWEIGHTED;
    return lists->num[i] == 0 ? MPI_WEIGHTS_EMPTY : lists->list[i];
}

static int num_weights(const int *weights, int count)
{
    return weights == MPI_UNWEIGHTED ? -1 : count;
}

/* Process r of the new communicator gives what process r of the old one has given: the edges of vertex r, in their order. */
INTERPOSED(MPI_Dist_graph_create_adjacent,
           (MPI_Comm comm, int num_sources, const int sources[], const int *source_weights, int num_targets,
            const int targets[], const int *target_weights, MPI_Info info, int reorder, MPI_Comm *result))
{
    REAL("PMPI_Dist_graph_create_adjacent",
         (MPI_Comm, int, const int[], const int[], int, const int[], const int[], MPI_Info, int, MPI_Comm *));
    comm = world_of(comm);
    if (!is_wanted(comm, reorder)) {
        return real(comm, num_sources, sources, source_weights, num_targets, targets, target_weights, info, reorder, result);
    }
    session session;
    edges part = no_edges;
    int size = size_of(comm);
    fault fault = adjacent_edges(size, rank_of(comm), num_targets, targets, target_weights, &part);
    if (!are_neighbours(size, num_sources, sources, source_weights)) fault = FAULT_ARGUMENTS;
    if (begin(&session, comm, "MPI_Dist_graph_create_adjacent", size, &part, fault)) {
        lists mine = {{num_sources, num_weights(source_weights, num_sources), num_targets, num_weights(target_weights, num_targets)},
                      {(int *)sources, (int *)source_weights, (int *)targets, (int *)target_weights}};
        lists new;
        int is_success = exchange(&session, &mine, &new);
        if (is_success) {
            is_success = real(session.reordered, new.num[0], new.list[0], weights_of(&new, 1), new.num[2], new.list[2],
                              weights_of(&new, 3), info, 0, result) == MPI_SUCCESS;
        }
        free_lists(&new);
        if (end(&session, is_success, result)) return MPI_SUCCESS;
    }
    return real(comm, num_sources, sources, source_weights, num_targets, targets, target_weights, info, 0, result);
}

static int sum_of(int count, const int numbers[])
{
    int sum = 0;
    for (int i = 0; i < count; i++) sum += numbers[i];
    return sum;
}

/* Any process may give any edge. That process r gives what process r gave keeps neighbours in the order that the library has
 * for them. */
INTERPOSED(MPI_Dist_graph_create,
           (MPI_Comm comm, int num_sources, const int sources[], const int degrees[], const int targets[],
            const int *weights, MPI_Info info, int reorder, MPI_Comm *result))
{
    REAL("PMPI_Dist_graph_create",
         (MPI_Comm, int, const int[], const int[], const int[], const int[], MPI_Info, int, MPI_Comm *));
    comm = world_of(comm);
    if (!is_wanted(comm, reorder)) return real(comm, num_sources, sources, degrees, targets, weights, info, reorder, result);
    session session;
    edges part = no_edges;
    int size = size_of(comm);
    fault fault = listed_edges(size, num_sources, sources, degrees, targets, weights, &part);
    if (begin(&session, comm, "MPI_Dist_graph_create", size, &part, fault)) {
        int num_targets = sum_of(num_sources, degrees);
        lists mine = {{num_sources, num_sources, num_targets, num_weights(weights, num_targets)},
                      {(int *)sources, (int *)degrees, (int *)targets, (int *)weights}};
        lists new;
        int is_success = exchange(&session, &mine, &new);
        if (is_success) {
            is_success = real(session.reordered, new.num[0], new.list[0], new.list[1], new.list[2], weights_of(&new, 3),
                              info, 0, result) == MPI_SUCCESS;
        }
        free_lists(&new);
        if (end(&session, is_success, result)) return MPI_SUCCESS;
    }
    return real(comm, num_sources, sources, degrees, targets, weights, info, 0, result);
}
