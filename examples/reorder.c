/* How an MPI program uses a mapping by itself, whatever the launcher: it gives its processes other ranks.
 *
 *     viem job.graph --machine=... -o permutation
 *     mpicc -o reorder examples/reorder.c
 *     mpirun -n 64 --map-by core --bind-to core ./reorder permutation
 *
 * The launcher puts the ranks of MPI_COMM_WORLD on the processing elements in their order, rank p on PE p. Line i of the
 * mapping is the PE of process i. So the process on PE p becomes the process i whose line holds p: its rank in the new
 * communicator. MPI_Comm_split orders the processes by the key that each gives, and that key is i. Then the program uses the
 * new communicator wherever it has used MPI_COMM_WORLD, before it distributes any data.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* A communicator of all processes in which the process on PE p has the rank that the mapping puts there. */
static MPI_Comm reordered(const char *mapping)
{
    int place, count, *process_on, error = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &place);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    process_on = malloc(count * sizeof *process_on);
    /* One process reads the file, and turns it round. */
    if (place == 0) {
        FILE *file = fopen(mapping, "r");
        int process, pe;
        for (pe = 0; pe < count; pe++)
            process_on[pe] = -1;
        error = !file;
        for (process = 0; process < count && !error; process++) {
            error = fscanf(file, "%d", &pe) != 1 || pe < 0 || pe >= count || process_on[pe] >= 0;
            if (!error)
                process_on[pe] = process;
        }
        if (file)
            fclose(file);
        if (error)
            fprintf(stderr, "%s: not a mapping of %d processes to as many processing elements\n", mapping, count);
    }
    MPI_Bcast(&error, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (error) {
        MPI_Finalize();
        exit(1);
    }
    MPI_Bcast(process_on, count, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Comm mapped;
    MPI_Comm_split(MPI_COMM_WORLD, 0, process_on[place], &mapped);
    free(process_on);
    return mapped;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc != 2) {
        fprintf(stderr, "usage: %s MAPPING\n", argv[0]);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Comm job = reordered(argv[1]);
    int place, rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &place);
    MPI_Comm_rank(job, &rank);
    printf("process %d is on PE %d\n", rank, place);
    MPI_Comm_free(&job);
    MPI_Finalize();
    return 0;
}
