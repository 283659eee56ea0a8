/*
 * Sweeps of a transport solver over a grid of ranks, one from each corner, in blocks: a rank waits for both preceding ranks,
 * then sends to both following ones. BYTES is the size of the message of a block.
 */
#include "proof.h"

enum { BLOCKS = 8 };

static int dims[2], place[2];

static void start(job *job)
{
    MPI_Dims_create(job->size, 2, dims);
    place[0] = job->rank / dims[1];
    place[1] = job->rank % dims[1];
}

/* The rank one step further in a dimension, or MPI_PROC_NULL. */
static int beside(int dimension, int step)
{
    int at[2] = {place[0], place[1]};
    at[dimension] += step;
    return at[dimension] < 0 || at[dimension] >= dims[dimension] ? MPI_PROC_NULL : at[0] * dims[1] + at[1];
}

static void sweep(job *job, const int steps[2])
{
    for (int d = 0; d < 2; d++) {
        MPI_Recv(job->in, (int)job->bytes, MPI_BYTE, beside(d, -steps[d]), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int d = 0; d < 2; d++) {
        MPI_Send(job->out, (int)job->bytes, MPI_BYTE, beside(d, steps[d]), 0, MPI_COMM_WORLD);
    }
}

static void step(job *job)
{
    static const int corners[4][2] = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
    for (int corner = 0; corner < 4; corner++) {
        for (int block = 0; block < BLOCKS; block++) sweep(job, corners[corner]);
    }
}

const pattern wavefront = {"wavefront", start, step};
