/* Hosts and switches as the program says: rank r is on host r % 4, hosts 0 and 2 are at one switch, 1 and 3 at another. Pairs of ranks r and
 * r + 1, for even r, communicate; then hosts 0 and 1.
 *
 *     hosts switches | hosts plain */
#include "launched.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the four hosts; 0 without a launcher. */
static int own_host(void)
{
    int rank = launched_rank();
    return rank < 0 ? 0 : rank % 4;
}

/* In place of that of MPI. */
int MPI_Get_processor_name(char *name, int *length)
{
    *length = sprintf(name, "n%d", own_host());
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    char address[64], name[MPI_MAX_PROCESSOR_NAME], all[64 * 8], other[8] = "";
    int rank, size, length, new_rank;
    MPI_Comm graph;
    int host = own_host();
    if (argc == 2 && strcmp(argv[1], "switches") == 0) {
        sprintf(address, "top.s%d.n%d", host % 2, host);
        setenv("SLURM_TOPOLOGY_ADDR", address, 1);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int partners[] = {rank ^ 1, (rank ^ 2) % size}, weights[] = {100, 1};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, partners, weights, 2, partners, weights, MPI_INFO_NULL, 1, &graph);
    MPI_Comm_rank(graph, &new_rank);
    memset(name, 0, sizeof name);
    MPI_Get_processor_name(name, &length);
    MPI_Sendrecv(name, 8, MPI_CHAR, new_rank ^ 1, 0, other, 8, MPI_CHAR, new_rank ^ 1, 0, graph, MPI_STATUS_IGNORE);
    int is_close = strcmp(name, other) == 0, num_close;
    MPI_Reduce(&is_close, &num_close, 1, MPI_INT, MPI_SUM, 0, graph);
    MPI_Gather(name, 8, MPI_CHAR, all, 8, MPI_CHAR, 0, graph);
    if (new_rank == 0) {
        printf("%d beside their partners:", num_close);
        for (int r = 0; r < size; r++) printf(" %s", all + 8 * r);
        printf("\n");
    }
    MPI_Comm_free(&graph);
    MPI_Finalize();
    return 0;
}
