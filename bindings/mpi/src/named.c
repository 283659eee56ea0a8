/* The functions of viem_mpi.h. */
#include "viem_mpi.h"

#include "reorder.h"
#include "viem.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- graphs from files ------------------------------------------------------------------------------------------ */

/* The names of the recorder's files, one after the other in one block. */
static const char **names_of_files(const char *prefix, int num_ranks)
{
    size_t length = strlen(prefix) + 16;
    const char **names = malloc((size_t)num_ranks * (sizeof *names + length));
    char *text = names ? (char *)(names + num_ranks) : NULL;
    for (int rank = 0; names && rank < num_ranks; rank++, text += length) {
        snprintf(text, length, "%s.%d", prefix, rank);
        names[rank] = text;
    }
    return names;
}

static viem_status read_graph(const char *name, int num_ranks, viem_graph **graph, viem_error **error)
{
    struct stat status;
    if (stat(name, &status) == 0) return viem_graph_read(name, 1, graph, error);
    const char **names = names_of_files(name, num_ranks);
    if (!names) return VIEM_STATUS_NO_RESOURCES;
    viem_status result = viem_graph_read_traffic(num_ranks, names, num_ranks, graph, error);
    free(names);
    return result;
}

static fault edges_of(const viem_graph *graph, edges *edges)
{
    const size_t *offsets = viem_graph_offsets(graph);
    fault fault = reserve(edges, viem_graph_num_edges(graph) + 1);
    for (int64_t vertex = 0; !fault && vertex < viem_graph_num_vertices(graph); vertex++) {
        for (size_t arc = offsets[vertex]; !fault && arc < offsets[vertex + 1]; arc++) {
            int64_t target = viem_graph_targets(graph)[arc];
            if (vertex < target) fault = add_edge(edges, vertex, target, viem_graph_edge_weights(graph)[arc]);
        }
    }
    return fault;
}

/* Reads a graph and says why that fails. */
static fault edges_of_file(const char *function, const char *name, int num_ranks, edges *edges, int *num_vertices)
{
    viem_graph *graph = NULL;
    viem_error *error = NULL;
    fault fault = FAULT_FILE;
    if (read_graph(name, num_ranks, &graph, &error) != VIEM_STATUS_OK) {
        const char *message = viem_error_message(error);
        say_why(function, num_ranks, *message ? message : "not enough memory");
    } else if (viem_graph_num_vertices(graph) > num_ranks) {
        say_why(function, num_ranks, "the graph has more processes than there are ranks");
    } else {
        *num_vertices = (int)viem_graph_num_vertices(graph);
        fault = edges_of(graph, edges);
    }
    viem_error_free(error);
    viem_graph_free(graph);
    return fault;
}

/* ---- what has been recorded ------------------------------------------------------------------------------------- */

/* A function of bindings/mpi/trace/viem_trace.c: the bytes sent so far to each rank of MPI_COMM_WORLD; returns their number. */
typedef int recorded(uint64_t *bytes, int length);

static fault add_recorded(MPI_Comm comm, int rank, int size, const uint64_t *bytes, int world_size, edges *edges)
{
    int *numbers = malloc(2 * (size_t)size * sizeof(int)), *world_ranks = numbers + size;
    fault fault = numbers ? FAULT_NONE : FAULT_NO_MEMORY;
    if (fault) return fault;
    ranks_in_world(comm, size, numbers, world_ranks);
    for (int other = 0; !fault && other < size; other++) {
        int target = world_ranks[other];
        if (target < 0 || target >= world_size || bytes[target] == 0) continue;
        uint64_t sent = bytes[target] < INT64_MAX ? bytes[target] : INT64_MAX;
        fault = add_edge(edges, rank, other, (int64_t)sent);
    }
    free(numbers);
    return fault;
}

static fault recorded_edges(MPI_Comm comm, int rank, int size, edges *edges)
{
    recorded *recorded;
    *(void **)&recorded = dlsym(RTLD_DEFAULT, "viem_trace_bytes");
    int world_size = recorded ? recorded(NULL, 0) : 0;
    if (world_size == 0) return FAULT_NOT_RECORDED;
    uint64_t *bytes = calloc((size_t)world_size, sizeof *bytes);
    if (!bytes) return FAULT_NO_MEMORY;
    recorded(bytes, world_size);
    viem_reorder_depth++;
    fault fault = add_recorded(comm, rank, size, bytes, world_size, edges);
    viem_reorder_depth--;
    free(bytes);
    return fault;
}

/* ---- new communicators ------------------------------------------------------------------------------------------ */

static int check(MPI_Comm comm, MPI_Comm *newcomm)
{
    int is_inter = 1;
    if (!newcomm) return MPI_ERR_ARG;
    *newcomm = MPI_COMM_NULL;
    if (comm == MPI_COMM_NULL) return MPI_ERR_COMM;
    int result = PMPI_Comm_test_inter(comm, &is_inter);
    return result == MPI_SUCCESS && is_inter ? MPI_ERR_COMM : result;
}

static void place_of(MPI_Comm comm, int *rank, int *size)
{
    viem_reorder_depth++;
    PMPI_Comm_rank(comm, rank);
    PMPI_Comm_size(comm, size);
    viem_reorder_depth--;
}

/* Where a call begins: the communicator that stands for that of the program, and the place of the process in it. */
static int enter(MPI_Comm *comm, int *rank, int *size, MPI_Comm *newcomm)
{
    int result = check(*comm, newcomm);
    if (result != MPI_SUCCESS) return result;
    *comm = world_of(*comm);
    place_of(*comm, rank, size);
    return MPI_SUCCESS;
}

static int reorder(MPI_Comm comm, const char *name, int num_vertices, edges *part, fault fault, viem_MPI_report *report,
                   MPI_Comm *newcomm)
{
    session session;
    if (report) *report = (viem_MPI_report){0, 0, 0};
    if (begin(&session, comm, name, num_vertices, part, fault)) {
        const decision *decision = &session.decision;
        int is_reordered = session.reordered != session.ours;
        if (report) *report = (viem_MPI_report){decision->cost_before, decision->cost_after, is_reordered};
        take(&session, newcomm);
        return MPI_SUCCESS;
    }
    int rank, result;
    viem_reorder_depth++;
    PMPI_Comm_rank(comm, &rank);
    result = PMPI_Comm_split(comm, 0, rank, newcomm);
    viem_reorder_depth--;
    return result;
}

EXPORTED int viem_MPI_Comm_reorder(MPI_Comm comm, const char *graph, viem_MPI_report *report, MPI_Comm *newcomm)
{
    static const char name[] = "viem_MPI_Comm_reorder";
    int rank, size, result = enter(&comm, &rank, &size, newcomm);
    edges part = no_edges;
    fault fault = FAULT_NONE;
    if (result != MPI_SUCCESS) return result;
    int num_vertices = size;
    if (!graph) {
        fault = recorded_edges(comm, rank, size, &part);
    } else if (rank == 0) {
        fault = edges_of_file(name, graph, size, &part, &num_vertices);
    }
    return reorder(comm, name, num_vertices, &part, fault, report, newcomm);
}

EXPORTED int viem_MPI_Comm_reorder_adjacent(MPI_Comm comm, int degree, const int neighbours[], const int64_t weights[],
                                            viem_MPI_report *report, MPI_Comm *newcomm)
{
    int rank, size, result = enter(&comm, &rank, &size, newcomm);
    edges part = no_edges;
    fault fault = FAULT_NONE;
    if (result != MPI_SUCCESS) return result;
    if (degree < 0 || (degree > 0 && !neighbours)) fault = FAULT_ARGUMENTS;
    for (int i = 0; !fault && i < degree; i++) {
        int64_t weight = weights ? weights[i] : 1;
        int is_valid = neighbours[i] >= 0 && neighbours[i] < size && weight >= 0;
        fault = is_valid ? add_edge(&part, rank, neighbours[i], weight) : FAULT_ARGUMENTS;
    }
    result = reorder(comm, "viem_MPI_Comm_reorder_adjacent", size, &part, fault, report, newcomm);
    return fault == FAULT_ARGUMENTS && result == MPI_SUCCESS ? MPI_ERR_ARG : result;
}

EXPORTED int viem_MPI_Comm_reorder_f(MPI_Fint comm, const char *graph, viem_MPI_report *report, MPI_Fint *newcomm)
{
    MPI_Comm made;
    if (!newcomm) return MPI_ERR_ARG;
    int result = viem_MPI_Comm_reorder(MPI_Comm_f2c(comm), graph, report, &made);
    *newcomm = MPI_Comm_c2f(made);
    return result;
}

EXPORTED int viem_MPI_Comm_reorder_adjacent_f(MPI_Fint comm, int degree, const int neighbours[], const int64_t weights[],
                                              viem_MPI_report *report, MPI_Fint *newcomm)
{
    MPI_Comm made;
    if (!newcomm) return MPI_ERR_ARG;
    int result = viem_MPI_Comm_reorder_adjacent(MPI_Comm_f2c(comm), degree, neighbours, weights, report, &made);
    *newcomm = MPI_Comm_c2f(made);
    return result;
}

/* ---- MPI_COMM_WORLD --------------------------------------------------------------------------------------------- */

/* For src/world.c: a permuted MPI_COMM_WORLD, MPI_COMM_NULL if ranks stay. */
EXPORTED MPI_Comm viem_reorder_world(void);

EXPORTED MPI_Comm viem_reorder_world(void)
{
    static const char name[] = "MPI_COMM_WORLD";
    const char *profile = getenv("VIEM_REORDER_WORLD");
    viem_MPI_report report = {0, 0, 0};
    MPI_Comm world = MPI_COMM_NULL;
    edges part = no_edges;
    fault fault = FAULT_NONE;
    int rank, size;
    place_of(MPI_COMM_WORLD, &rank, &size);
    int num_vertices = size;
    if (rank == 0 && profile && *profile) fault = edges_of_file(name, profile, size, &part, &num_vertices);
    reorder(MPI_COMM_WORLD, name, num_vertices, &part, fault, &report, &world);
    if (!report.is_reordered && world != MPI_COMM_NULL) PMPI_Comm_free(&world);
    return world;
}
