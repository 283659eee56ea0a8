/* The functions of viem_dist.h, and MPI for the part in Rust.
 *
 * All communication is on a copy of the communicator of the program, so no message of the program is mixed up with ours. */
#include "distributed.h"

#define EXPORTED __attribute__((visibility("default")))

/* ---- operations ------------------------------------------------------------------------------------------------- */

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

/* ---- calls ------------------------------------------------------------------------------------------------------ */

/* Why nothing can be sent on a communicator; null if it can. All ranks find the same. */
static const char *refusal(MPI_Comm comm)
{
    int is_initialised = 0, is_finalised = 0, is_inter = 0;
    PMPI_Initialized(&is_initialised);
    PMPI_Finalized(&is_finalised);
    if (!is_initialised || is_finalised) return "MPI is not initialised, or finalised already";
    if (comm == MPI_COMM_NULL) return "the argument `comm` must not be MPI_COMM_NULL";
    PMPI_Comm_test_inter(comm, &is_inter);
    return is_inter ? "the argument `comm` must not be an intercommunicator" : 0;
}

static viem_status run(MPI_Comm comm, const arguments *arguments, viem_error **error)
{
    const char *why = refusal(comm);
    if (why) return distributed_refuse(why, error);
    MPI_Comm ours;
    if (PMPI_Comm_dup(comm, &ours) != MPI_SUCCESS) return distributed_refuse("the communicator cannot be copied", error);
    PMPI_Comm_set_errhandler(ours, MPI_ERRORS_ARE_FATAL);
    int rank, size;
    PMPI_Comm_rank(ours, &rank);
    PMPI_Comm_size(ours, &size);
    operations operations = {&ours, rank, size, all_to_all, all_to_all_v, all_gather_v, all_reduce, broadcast};
    viem_status status = distributed_divide(&operations, arguments, error);
    PMPI_Comm_free(&ours);
    return status;
}

EXPORTED viem_status viem_dist_partition(MPI_Comm comm, const viem_dist_graph *graph, int64_t num_blocks, const int32_t fixed[],
                                         const viem_settings *settings, int32_t blocks[], viem_report *report,
                                         viem_error **error)
{
    arguments arguments = {graph, 0, 0, num_blocks, 0, 0.0, 0, fixed, settings, blocks, report};
    return run(comm, &arguments, error);
}

EXPORTED viem_status viem_dist_map(MPI_Comm comm, const viem_dist_graph *graph, const viem_machine *machine, const int32_t fixed[],
                                   const viem_settings *settings, int32_t pes[], viem_report *report, viem_error **error)
{
    arguments arguments = {graph, machine, 1, 0, 0, 0.0, 0, fixed, settings, pes, report};
    return run(comm, &arguments, error);
}

EXPORTED viem_status viem_dist_remap(MPI_Comm comm, const viem_dist_graph *graph, const viem_machine *machine, int64_t num_blocks,
                                     const int32_t old[], double migration_weight, const int32_t fixed[],
                                     const viem_settings *settings, int32_t blocks[], viem_report *report, viem_error **error)
{
    arguments arguments = {graph, machine, 0, num_blocks, old, migration_weight, 1, fixed, settings, blocks, report};
    return run(comm, &arguments, error);
}

/* ---- the same for Fortran --------------------------------------------------------------------------------------- */

/* The communicator of a handle; none while MPI is not initialised, which `refusal` then says. */
static MPI_Comm comm_of_handle(MPI_Fint handle)
{
    int is_initialised = 0;
    PMPI_Initialized(&is_initialised);
    return is_initialised ? MPI_Comm_f2c(handle) : MPI_COMM_NULL;
}

EXPORTED viem_status viem_dist_partition_f(MPI_Fint comm, const viem_dist_graph *graph, int64_t num_blocks, const int32_t fixed[],
                                           const viem_settings *settings, int32_t blocks[], viem_report *report,
                                           viem_error **error)
{
    return viem_dist_partition(comm_of_handle(comm), graph, num_blocks, fixed, settings, blocks, report, error);
}

EXPORTED viem_status viem_dist_map_f(MPI_Fint comm, const viem_dist_graph *graph, const viem_machine *machine, const int32_t fixed[],
                                     const viem_settings *settings, int32_t pes[], viem_report *report, viem_error **error)
{
    return viem_dist_map(comm_of_handle(comm), graph, machine, fixed, settings, pes, report, error);
}

EXPORTED viem_status viem_dist_remap_f(MPI_Fint comm, const viem_dist_graph *graph, const viem_machine *machine, int64_t num_blocks,
                                       const int32_t old[], double migration_weight, const int32_t fixed[],
                                       const viem_settings *settings, int32_t blocks[], viem_report *report, viem_error **error)
{
    return viem_dist_remap(comm_of_handle(comm), graph, machine, num_blocks, old, migration_weight, fixed, settings, blocks, report,
                           error);
}
