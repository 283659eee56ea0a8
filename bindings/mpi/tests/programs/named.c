/* The functions of viem_mpi.h, under the machine 2:2:16 with distances 1:10:100. The graph joins rank r and r + size / 2 of an even number of
 * ranks.
 *
 *     named FILE      a graph file, or what the names of recorded files begin with
 *     named -         what has been recorded, if the recorder is loaded */
#include "check.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <viem_mpi.h>

static int rank, size;

/* Rank r + size / 2 of the new communicator is beside rank r. */
static int are_pairs_close(MPI_Comm comm)
{
    int me, world = rank, other = -1, is_close, all;
    MPI_Comm_rank(comm, &me);
    int partner = (me + size / 2) % size;
    MPI_Sendrecv(&world, 1, MPI_INT, partner, 0, &other, 1, MPI_INT, partner, 0, comm, MPI_STATUS_IGNORE);
    is_close = world / 2 == other / 2;
    MPI_Allreduce(&is_close, &all, 1, MPI_INT, MPI_MIN, comm);
    return all;
}

static void check(MPI_Comm comm, const viem_MPI_report *report)
{
    int new_size;
    MPI_Comm_size(comm, &new_size);
    CHECK(new_size == size);
    CHECK(report->is_reordered == 1 && report->cost_after < report->cost_before);
    CHECK(are_pairs_close(comm));
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    MPI_Fint handle;
    viem_MPI_report report;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int partner = (rank + size / 2) % size, nobody = size;
    int64_t weight = 1000000000000;
    CHECK(argc == 2 && !are_pairs_close(MPI_COMM_WORLD));

    CHECK(viem_MPI_Comm_reorder_adjacent(MPI_COMM_WORLD, 1, &partner, &weight, &report, &comm) == MPI_SUCCESS);
    check(comm, &report);
    CHECK(report.cost_after == 2 * size * weight);
    MPI_Comm_free(&comm);
    /* One end gives the edge. */
    CHECK(viem_MPI_Comm_reorder_adjacent(MPI_COMM_WORLD, rank < partner, &partner, NULL, &report, &comm) == MPI_SUCCESS);
    check(comm, &report);
    CHECK(report.cost_after == size);
    MPI_Comm_free(&comm);
    CHECK(viem_MPI_Comm_reorder_adjacent_f(MPI_Comm_c2f(MPI_COMM_WORLD), 1, &partner, NULL, &report, &handle) == MPI_SUCCESS);
    comm = MPI_Comm_f2c(handle);
    check(comm, &report);
    MPI_Comm_free(&comm);

    /* So that much is recorded. */
    static char data[1000000];
    MPI_Sendrecv(data, sizeof data / 2, MPI_CHAR, partner, 0, data + sizeof data / 2, sizeof data / 2, MPI_CHAR, partner, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const char *graph = strcmp(argv[1], "-") ? argv[1] : NULL;
    CHECK(viem_MPI_Comm_reorder(MPI_COMM_WORLD, graph, &report, &comm) == MPI_SUCCESS);
    check(comm, &report);
    MPI_Comm_free(&comm);

    /* What is wrong is an error, and never leaves others waiting. */
    int result = viem_MPI_Comm_reorder_adjacent(MPI_COMM_WORLD, 1, rank == 1 ? &nobody : &partner, NULL, &report, &comm);
    CHECK(result == (rank == 1 ? MPI_ERR_ARG : MPI_SUCCESS) && report.is_reordered == 0 && report.cost_before == 0);
    CHECK(!are_pairs_close(comm));
    MPI_Comm_free(&comm);
    CHECK(viem_MPI_Comm_reorder(MPI_COMM_NULL, graph, NULL, &comm) == MPI_ERR_COMM && comm == MPI_COMM_NULL);
    CHECK(viem_MPI_Comm_reorder(MPI_COMM_WORLD, graph, NULL, NULL) == MPI_ERR_ARG);
    CHECK(viem_MPI_Comm_reorder(MPI_COMM_WORLD, "no such file", &report, &comm) == MPI_SUCCESS && !report.is_reordered);
    MPI_Comm_free(&comm);
    if (rank == 0) printf("passed\n");
    MPI_Finalize();
    return 0;
}
