/* Prints the nanoseconds per small message: rank 0 sends windows of messages to rank 1, or a single rank to itself.
 * To measure the overhead of bindings/mpi/trace/viem_trace.c, run it with and without in turn, and compare the minimum of many runs. */
#include <mpi.h>
#include <stdio.h>

enum { WINDOW = 64, WINDOWS = 500, ROUNDS = 200 };

int main(int argc, char **argv)
{
    int rank, size;
    char sent[8] = {0}, received[WINDOW][8];
    double best = 1e9;
    MPI_Request requests[2 * WINDOW];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int receiver = size > 1;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        for (int window = 0; window < WINDOWS; window++) {
            for (int i = 0; i < WINDOW; i++) {
                requests[i] = MPI_REQUEST_NULL;
                requests[WINDOW + i] = MPI_REQUEST_NULL;
                if (rank == 0) MPI_Isend(sent, 8, MPI_BYTE, receiver, 0, MPI_COMM_WORLD, &requests[i]);
                if (rank == receiver) {
                    MPI_Irecv(received[i], 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[WINDOW + i]);
                }
            }
            MPI_Waitall(2 * WINDOW, requests, MPI_STATUSES_IGNORE);
            if (size > 1 && rank == 0) MPI_Recv(sent, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (size > 1 && rank == 1) MPI_Send(sent, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
        double seconds = MPI_Wtime() - begin;
        if (seconds < best) best = seconds;
    }
    if (rank == 0) printf("%.2f\n", best / WINDOWS / WINDOW * 1e9);
    MPI_Finalize();
    return 0;
}
