/* MPI for the parts in Rust. */
#include "operations.h"

static MPI_Comm comm_of(void *comm)
{
    return *(MPI_Comm *)comm;
}

static void all_to_all(void *comm, const uint64_t *words, uint64_t *received)
{
    PMPI_Alltoall((void *)words, 1, MPI_UINT64_T, received, 1, MPI_UINT64_T, comm_of(comm));
}

static void all_to_all_v(void *comm, const uint64_t *words, const int32_t *counts, const int32_t *starts, uint64_t *received,
                         const int32_t *from, const int32_t *from_starts)
{
    PMPI_Alltoallv((void *)words, (int *)counts, (int *)starts, MPI_UINT64_T, received, (int *)from, (int *)from_starts,
                   MPI_UINT64_T, comm_of(comm));
}

static void all_gather_v(void *comm, const uint64_t *words, int32_t count, uint64_t *received, const int32_t *from,
                         const int32_t *from_starts)
{
    PMPI_Allgatherv((void *)words, count, MPI_UINT64_T, received, (int *)from, (int *)from_starts, MPI_UINT64_T, comm_of(comm));
}

static void all_reduce(void *comm, const int64_t *numbers, int64_t *all, int32_t count, int32_t how)
{
    MPI_Op operation = how == REDUCE_SUM ? MPI_SUM : how == REDUCE_LEAST ? MPI_MIN : MPI_MAX;
    PMPI_Allreduce((void *)numbers, all, count, MPI_INT64_T, operation, comm_of(comm));
}

static void broadcast(void *comm, uint64_t *words, int32_t count, int32_t root)
{
    PMPI_Bcast(words, count, MPI_UINT64_T, root, comm_of(comm));
}

const char *operations_refusal(MPI_Comm comm)
{
    int is_initialised = 0, is_finalised = 0, is_inter = 0;
    PMPI_Initialized(&is_initialised);
    PMPI_Finalized(&is_finalised);
    if (!is_initialised || is_finalised) return "MPI is not initialised, or finalised already";
    if (comm == MPI_COMM_NULL) return "the argument `comm` must not be MPI_COMM_NULL";
    PMPI_Comm_test_inter(comm, &is_inter);
    return is_inter ? "the argument `comm` must not be an intercommunicator" : 0;
}

const char *operations_begin(MPI_Comm comm, MPI_Comm *ours, operations *operations)
{
    if (PMPI_Comm_dup(comm, ours) != MPI_SUCCESS) return "the communicator cannot be copied";
    PMPI_Comm_set_errhandler(*ours, MPI_ERRORS_ARE_FATAL);
    operations->comm = ours;
    int rank, size;
    PMPI_Comm_rank(*ours, &rank);
    PMPI_Comm_size(*ours, &size);
    operations->rank = rank;
    operations->size = size;
    operations->all_to_all = all_to_all;
    operations->all_to_all_v = all_to_all_v;
    operations->all_gather_v = all_gather_v;
    operations->all_reduce = all_reduce;
    operations->broadcast = broadcast;
    return 0;
}

MPI_Comm operations_comm(MPI_Fint handle)
{
    int is_initialised = 0;
    PMPI_Initialized(&is_initialised);
    return is_initialised ? MPI_Comm_f2c(handle) : MPI_COMM_NULL;
}
