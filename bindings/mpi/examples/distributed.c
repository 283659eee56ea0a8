/* A grid of which each rank has some rows is mapped to the PEs of a machine, one for each rank, with its corners fixed:
 *
 *     mpicc distributed.c -I$HOME/.local/include -L$HOME/.local/lib -lviem_dist -Wl,-rpath,$HOME/.local/lib -o distributed
 *     mpirun -n 4 ./distributed */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <viem_dist.h>

enum { LENGTH = 300 };

static void *allocate(int64_t count, size_t size)
{
    void *array = malloc(((size_t)count + 1) * size);
    if (!array) MPI_Abort(MPI_COMM_WORLD, 1);
    return array;
}

int main(int argc, char **argv)
{
    int rank, num_ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);

    /* Vertex v is at row v / LENGTH. Rank r has the vertices from vtxdist[r] on. */
    int64_t *vtxdist = allocate(num_ranks, sizeof *vtxdist), total = LENGTH * LENGTH;
    for (int r = 0; r <= num_ranks; r++) vtxdist[r] = LENGTH * ((int64_t)LENGTH * r / num_ranks);
    int64_t first = vtxdist[rank], count = vtxdist[rank + 1] - first;
    int64_t *xadj = allocate(count, sizeof *xadj), *adjncy = allocate(4 * count, sizeof *adjncy);
    int32_t *fixed = allocate(count, sizeof *fixed), *pes = allocate(count, sizeof *pes);
    int64_t num_arcs = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t v = first + i, column = v % LENGTH;
        xadj[i] = num_arcs;
        if (v >= LENGTH) adjncy[num_arcs++] = v - LENGTH;
        if (column > 0) adjncy[num_arcs++] = v - 1;
        if (column < LENGTH - 1) adjncy[num_arcs++] = v + 1;
        if (v + LENGTH < total) adjncy[num_arcs++] = v + LENGTH;
        /* The first vertex must be on the first PE, and the last on the last one. */
        fixed[i] = v == 0 ? 0 : v == total - 1 ? 2 * ((num_ranks + 1) / 2) - 1 : -1;
    }
    xadj[count] = num_arcs;

    /* Hosts of two PEs each. */
    char spec[64];
    snprintf(spec, sizeof spec, "2:%d", (num_ranks + 1) / 2);
    viem_machine *machine = NULL;
    viem_error *error = NULL;
    viem_report report;
    viem_dist_graph graph = {vtxdist, xadj, adjncy, NULL, NULL, 64, 1};
    viem_status status = viem_machine_new(spec, "1:10", NULL, &machine, &error);
    if (status == VIEM_STATUS_OK) status = viem_dist_map(MPI_COMM_WORLD, &graph, machine, fixed, NULL, pes, &report, &error);
    if (rank == 0 && status != VIEM_STATUS_OK) fprintf(stderr, "%s\n", viem_error_message(error));
    if (rank == 0 && status == VIEM_STATUS_OK) {
        printf("J = %" PRId64 ", the greatest load is %" PRId64 " of at most %" PRId64 "\n", report.cost, report.loads.greatest,
               report.loads.bound);
    }
    viem_error_free(error);
    viem_machine_free(machine);
    free(pes);
    free(fixed);
    free(adjncy);
    free(xadj);
    free(vtxdist);
    MPI_Finalize();
    return status != VIEM_STATUS_OK;
}
