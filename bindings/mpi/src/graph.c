/* The edges of a topology. */
#include "reorder.h"

#include <stdlib.h>

const edges no_edges = {0, 0, NULL, NULL, NULL};

static int resize(int64_t **array, int64_t capacity)
{
    int64_t *resized = realloc(*array, (size_t)capacity * sizeof(int64_t));
    if (resized) *array = resized;
    return resized != NULL;
}

fault reserve(edges *edges, int64_t capacity)
{
    if (capacity <= edges->capacity) return FAULT_NONE;
    if (!resize(&edges->from, capacity) || !resize(&edges->to, capacity) || !resize(&edges->weights, capacity)) {
        return FAULT_NO_MEMORY;
    }
    edges->capacity = capacity;
    return FAULT_NONE;
}

fault add_edge(edges *edges, int64_t from, int64_t to, int64_t weight)
{
    if (edges->num == edges->capacity) {
        fault full = reserve(edges, 2 * edges->capacity + 16);
        if (full) return full;
    }
    edges->from[edges->num] = from;
    edges->to[edges->num] = to;
    edges->weights[edges->num++] = weight;
    return FAULT_NONE;
}

void free_edges(edges *edges)
{
    free(edges->from);
    free(edges->to);
    free(edges->weights);
    *edges = (__typeof__(*edges)){0};
}

/* From each vertex to the next one in each dimension. The edges to the previous ones are the same. */
fault cart_edges(int size, int num_dims, const int dims[], const int periods[], edges *edges, int *num_vertices)
{
    int64_t num = 1;
    if (num_dims < 0 || (num_dims > 0 && (!dims || !periods))) return FAULT_ARGUMENTS;
    for (int i = 0; i < num_dims; i++) {
        if (dims[i] < 1 || num * dims[i] > size) return FAULT_ARGUMENTS;
        num *= dims[i];
    }
    *num_vertices = (int)num;
    int64_t stride = num;
    for (int i = 0; i < num_dims; i++) {
        int64_t length = stride;
        stride /= dims[i];
        for (int64_t vertex = 0; vertex < num; vertex++) {
            int is_last = vertex % length / stride == dims[i] - 1;
            if (is_last && !periods[i]) continue;
            fault fault = add_edge(edges, vertex, is_last ? vertex - length + stride : vertex + stride, 1);
            if (fault) return fault;
        }
    }
    return FAULT_NONE;
}

int are_neighbours(int size, int count, const int ranks[], const int *weights)
{
    int is_weighted = weights != MPI_UNWEIGHTED && weights != MPI_WEIGHTS_EMPTY;
    if (count < 0 || (count > 0 && (!ranks || !weights || weights == MPI_WEIGHTS_EMPTY))) return 0;
    for (int i = 0; i < count; i++) {
        if (ranks[i] < 0 || ranks[i] >= size || (is_weighted && weights[i] < 0)) return 0;
    }
    return 1;
}

static fault add_neighbours(edges *edges, int rank, int count, const int targets[], const int *weights)
{
    for (int i = 0; i < count; i++) {
        fault fault = add_edge(edges, rank, targets[i], weights == MPI_UNWEIGHTED ? 1 : weights[i]);
        if (fault) return fault;
    }
    return FAULT_NONE;
}

fault graph_edges(int size, int num_nodes, const int index[], const int targets[], edges *edges, int *num_vertices)
{
    if (num_nodes < 0 || num_nodes > size || (num_nodes > 0 && (!index || (index[num_nodes - 1] > 0 && !targets)))) {
        return FAULT_ARGUMENTS;
    }
    *num_vertices = num_nodes;
    for (int node = 0, first = 0; node < num_nodes; first = index[node++]) {
        int degree = index[node] < first ? -1 : index[node] - first;
        if (degree != 0 && !are_neighbours(num_nodes, degree, targets + first, MPI_UNWEIGHTED)) return FAULT_ARGUMENTS;
        fault fault = add_neighbours(edges, node, degree, targets + first, MPI_UNWEIGHTED);
        if (fault) return fault;
    }
    return FAULT_NONE;
}

/* Only where edges begin: where they end they are given once more. */
fault adjacent_edges(int size, int rank, int num_targets, const int targets[], const int *weights, edges *edges)
{
    if (!are_neighbours(size, num_targets, targets, weights)) return FAULT_ARGUMENTS;
    return add_neighbours(edges, rank, num_targets, targets, weights);
}

fault listed_edges(int size, int num_sources, const int sources[], const int degrees[], const int targets[],
                   const int *weights, edges *edges)
{
    int64_t total = 0;
    if (num_sources < 0 || (num_sources > 0 && (!sources || !degrees))) return FAULT_ARGUMENTS;
    for (int i = 0; i < num_sources; i++) {
        if (sources[i] < 0 || sources[i] >= size || degrees[i] < 0) return FAULT_ARGUMENTS;
        total += degrees[i];
    }
    if (total > INT32_MAX) return FAULT_TOO_MANY_EDGES;
    if (!are_neighbours(size, (int)total, targets, weights)) return FAULT_ARGUMENTS;
    for (int i = 0, first = 0; i < num_sources; first += degrees[i++]) {
        const int *some = weights == MPI_UNWEIGHTED || weights == MPI_WEIGHTS_EMPTY ? weights : weights + first;
        fault fault = degrees[i] ? add_neighbours(edges, sources[i], degrees[i], targets + first, some) : FAULT_NONE;
        if (fault) return fault;
    }
    return FAULT_NONE;
}
