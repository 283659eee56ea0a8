/* MPI_COMM_WORLD with other ranks, for programs that never ask for it. Only in libviem_world.so.
 *
 * The ranks of MPI_COMM_WORLD itself cannot be changed. So a communicator with the new ranks is made in MPI_Init, and every
 * function that gets MPI_COMM_WORLD works on that one: the wrappers are made of mpi.h by world.awk. */
#include "world.h"

#include <stddef.h>

/* That of viem_mpi.h for all processes; MPI_COMM_NULL if ranks stay. */
MPI_Comm viem_reorder_world(void);

static MPI_Comm permuted_world;
static int is_permuted;

MPI_Comm world_of(MPI_Comm comm)
{
    return is_permuted && viem_reorder_depth == 0 && comm == MPI_COMM_WORLD ? permuted_world : comm;
}

static int permute(int result)
{
    if (result != MPI_SUCCESS || is_permuted) return result;
    permuted_world = viem_reorder_world();
    is_permuted = permuted_world != MPI_COMM_NULL;
    return result;
}

static int restore(void)
{
    if (is_permuted) PMPI_Comm_free(&permuted_world);
    is_permuted = 0;
    return MPI_SUCCESS;
}

WRAP(MPI_Init, (int *argc, char ***argv), permute(real(argc, argv)))
WRAP(PMPI_Init, (int *argc, char ***argv), permute(real(argc, argv)))
WRAP(MPI_Init_thread, (int *argc, char ***argv, int wanted, int *given), permute(real(argc, argv, wanted, given)))
WRAP(PMPI_Init_thread, (int *argc, char ***argv, int wanted, int *given), permute(real(argc, argv, wanted, given)))
WRAP(MPI_Finalize, (void), (restore(), real()))
WRAP(PMPI_Finalize, (void), (restore(), real()))
