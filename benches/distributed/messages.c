/* Writes what an MPI program says as a time-independent trace, which SimGrid replays: a file for each rank, RANK.ti in the folder that
 * MESSAGES names. Loaded before the MPI:
 *
 *     mpicc -shared -fPIC -O2 messages.c -o messages.so
 *     MESSAGES=folder LD_PRELOAD=./messages.so mpirun ... viem_mpi ...
 *
 * It has the collective operations that viem_mpi calls, on communicators of all ranks; sizes are in bytes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static FILE *trace;
static int rank, num_ranks;

static long bytes(int count, MPI_Datatype type)
{
    int size;
    PMPI_Type_size(type, &size);
    return (long)count * size;
}

static void list(const int counts[], MPI_Datatype type)
{
    long sum = 0;
    for (int r = 0; r < num_ranks; r++) sum += bytes(counts[r], type);
    fprintf(trace, " %ld", sum);
    for (int r = 0; r < num_ranks; r++) fprintf(trace, " %ld", bytes(counts[r], type));
}

static void begin(void)
{
    char name[4096];
    const char *folder = getenv("MESSAGES");
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
    snprintf(name, sizeof name, "%s/%d.ti", folder ? folder : ".", rank);
    trace = fopen(name, "w");
    if (!trace) {
        perror(name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    fprintf(trace, "%d init\n", rank);
}

int MPI_Init(int *argc, char ***argv)
{
    int status = PMPI_Init(argc, argv);
    begin();
    return status;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int status = PMPI_Init_thread(argc, argv, required, provided);
    begin();
    return status;
}

int MPI_Finalize(void)
{
    fprintf(trace, "%d finalize\n", rank);
    fclose(trace);
    return PMPI_Finalize();
}

int MPI_Barrier(MPI_Comm comm)
{
    fprintf(trace, "%d barrier\n", rank);
    return PMPI_Barrier(comm);
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    fprintf(trace, "%d bcast %ld %d\n", rank, bytes(count, type), root);
    return PMPI_Bcast(buffer, count, type, root, comm);
}

int MPI_Allreduce(const void *sent, void *received, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    fprintf(trace, "%d allreduce %ld 0\n", rank, bytes(count, type));
    return PMPI_Allreduce(sent, received, count, type, op, comm);
}

int MPI_Alltoall(const void *sent, int count, MPI_Datatype type, void *received, int from, MPI_Datatype their_type, MPI_Comm comm)
{
    fprintf(trace, "%d alltoall %ld %ld\n", rank, bytes(count, type), bytes(from, their_type));
    return PMPI_Alltoall(sent, count, type, received, from, their_type, comm);
}

int MPI_Alltoallv(const void *sent, const int counts[], const int starts[], MPI_Datatype type, void *received, const int from[],
                  const int from_starts[], MPI_Datatype their_type, MPI_Comm comm)
{
    fprintf(trace, "%d alltoallv", rank);
    list(counts, type);
    list(from, their_type);
    fputc('\n', trace);
    return PMPI_Alltoallv(sent, counts, starts, type, received, from, from_starts, their_type, comm);
}

int MPI_Allgatherv(const void *sent, int count, MPI_Datatype type, void *received, const int from[], const int starts[],
                   MPI_Datatype their_type, MPI_Comm comm)
{
    fprintf(trace, "%d allgatherv %ld", rank, bytes(count, type));
    for (int r = 0; r < num_ranks; r++) fprintf(trace, " %ld", bytes(from[r], their_type));
    fputc('\n', trace);
    return PMPI_Allgatherv(sent, count, type, received, from, starts, their_type, comm);
}
