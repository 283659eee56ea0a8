/* Ranks that communicate with those half a job away get places beside each other:
 *
 *     mpicc reorder.c -I$HOME/.local/include -L$HOME/.local/lib -lviem_reorder -Wl,-rpath,$HOME/.local/lib -o reorder
 *     mpirun -n 8 -x VIEM_MACHINE=2:2:2 -x VIEM_DISTANCES=1:10:100 ./reorder */
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <viem_mpi.h>

int main(int argc, char **argv)
{
    int rank, num, new_rank;
    MPI_Comm comm;
    viem_MPI_report report;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &num);
    int partner = (rank + num / 2) % num;
    int64_t bytes = 1000;
    if (viem_MPI_Comm_reorder_adjacent(MPI_COMM_WORLD, 1, &partner, &bytes, &report, &comm) != MPI_SUCCESS) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    /* From here on all data of rank r belong to the process whose new rank that is. */
    MPI_Comm_rank(comm, &new_rank);
    if (new_rank == 0) printf("J falls from %" PRId64 " to %" PRId64 "\n", report.cost_before, report.cost_after);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
