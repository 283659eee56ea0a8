/*
 * A master, rank 0, and workers: a worker asks for a task, is sent it, and sends its result with the next question. In one
 * iteration there are as many tasks as workers; who gets more of them depends on who is near. BYTES is the size of a task and
 * of a result.
 */
#include "proof.h"

enum { TASK, END };

static void serve(job *job)
{
    for (int served = 0; served < 2 * (job->size - 1); served++) {
        MPI_Status status;
        MPI_Recv(job->in, (int)job->bytes, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
        int is_task = served < job->size - 1;
        MPI_Send(job->out, is_task ? (int)job->bytes : 0, MPI_BYTE, status.MPI_SOURCE, is_task ? TASK : END, MPI_COMM_WORLD);
    }
}

static void work(job *job)
{
    MPI_Status status;
    int result = 0;
    do {
        MPI_Send(job->out, result, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        MPI_Recv(job->in, (int)job->bytes, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        result = (int)job->bytes;
    } while (status.MPI_TAG == TASK);
}

static void step(job *job)
{
    if (job->rank == 0) serve(job);
    else work(job);
}

const pattern workers = {"workers", 0, step};
