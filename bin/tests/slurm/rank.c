/* Prints where a rank is, as `app` does. Each rank talks to the one half of all ranks further on, and asks for a numbering that suits this:
 * rank 0 then writes how many of these pairs are on one host. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "none";
}

static void write_pairs(MPI_Comm comm, const char *host, int size)
{
    int rank, pairs = 0;
    char(*hosts)[MPI_MAX_PROCESSOR_NAME] = calloc((size_t)size, sizeof *hosts);
    MPI_Comm_rank(comm, &rank);
    MPI_Allgather(host, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, hosts, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, comm);
    for (int i = 0; i < size / 2; i++) pairs += strcmp(hosts[i], hosts[i + size / 2]) == 0;
    FILE *file = rank == 0 ? fopen("pairs", "w") : NULL;
    if (file) fprintf(file, "%d of %d\n", pairs, size / 2), fclose(file);
    free(hosts);
}

int main(int argc, char **argv)
{
    int rank, size, length, weight = 100;
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(host, &length);
    printf("rank %d on %s cpus %s local %s of %s\n", rank, host, argc > 1 ? "0" : text("CPUS"), text("SLURM_LOCALID"), text("SLURM_CPUS_ON_NODE"));
    int peer = (rank + size / 2) % size;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &peer, &weight, 1, &peer, &weight, MPI_INFO_NULL, 1, &comm);
    write_pairs(comm, host, size);
    MPI_Finalize();
    return 0;
}
