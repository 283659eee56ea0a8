/* The functions of viem_dist.h. */
#include "distributed.h"

#define EXPORTED __attribute__((visibility("default")))

/* ---- calls ------------------------------------------------------------------------------------------------------ */

static viem_status run(MPI_Comm comm, const arguments *arguments, viem_error **error)
{
    const char *why = operations_refusal(comm);
    if (why) return distributed_refuse(why, error);
    operations operations;
    MPI_Comm ours;
    why = operations_begin(comm, &ours, &operations);
    if (why) return distributed_refuse(why, error);
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

EXPORTED viem_status viem_dist_partition_f(MPI_Fint comm, const viem_dist_graph *graph, int64_t num_blocks, const int32_t fixed[],
                                           const viem_settings *settings, int32_t blocks[], viem_report *report,
                                           viem_error **error)
{
    return viem_dist_partition(operations_comm(comm), graph, num_blocks, fixed, settings, blocks, report, error);
}

EXPORTED viem_status viem_dist_map_f(MPI_Fint comm, const viem_dist_graph *graph, const viem_machine *machine, const int32_t fixed[],
                                     const viem_settings *settings, int32_t pes[], viem_report *report, viem_error **error)
{
    return viem_dist_map(operations_comm(comm), graph, machine, fixed, settings, pes, report, error);
}

EXPORTED viem_status viem_dist_remap_f(MPI_Fint comm, const viem_dist_graph *graph, const viem_machine *machine, int64_t num_blocks,
                                       const int32_t old[], double migration_weight, const int32_t fixed[],
                                       const viem_settings *settings, int32_t blocks[], viem_report *report, viem_error **error)
{
    return viem_dist_remap(operations_comm(comm), graph, machine, num_blocks, old, migration_weight, fixed, settings, blocks, report,
                           error);
}
