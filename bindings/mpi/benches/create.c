/* Times the creation of a Cartesian communicator without reordering and with it, under libviem_reorder.so.
 *
 *     mpicc -O2 -o create create.c
 *     mpirun -n 64 -x LD_PRELOAD=$HOME/.local/lib/libviem_reorder.so -x VIEM_MACHINE=4:4:4 -x VIEM_DISTANCES=1:10:100 ./create 10
 *
 * Prints the median over the repeats of the time that the slowest rank needs, in milliseconds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1000 };

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(int reorder, int repeats)
{
    static double times[MOST];
    int size, dims[3] = {0, 0, 0}, periods[3] = {1, 1, 1};
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 3, dims);
    for (int i = 0; i < repeats; i++) {
        MPI_Comm cart;
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime(), time;
        MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, reorder, &cart);
        time = MPI_Wtime() - start;
        MPI_Allreduce(&time, &times[i], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        MPI_Comm_free(&cart);
    }
    qsort(times, (size_t)repeats, sizeof *times, compare);
    return 1000 * times[repeats / 2];
}

int main(int argc, char **argv)
{
    int rank, repeats = argc > 1 ? atoi(argv[1]) : 10;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (repeats < 1 || repeats > MOST) MPI_Abort(MPI_COMM_WORLD, 2);
    double plain = median(0, repeats), reordered = median(1, repeats);
    if (rank == 0) printf("%.2f ms without reordering, %.2f ms with it\n", plain, reordered);
    MPI_Finalize();
    return 0;
}
