/*
 * The transposes of a three-dimensional Fourier transform in pencils: all-to-all in the rows of a grid of ranks, then in its
 * columns, and back. BYTES is the size of the pencil of a rank.
 */
#include "proof.h"

static MPI_Comm row, column;

static void start(job *job)
{
    int dims[2] = {0, 0};
    MPI_Dims_create(job->size, 2, dims);
    row = group(job->rank / dims[1]);
    column = group(job->rank % dims[1]);
}

static void all_to_all(job *job, MPI_Comm group)
{
    int size;
    MPI_Comm_size(group, &size);
    int block = (int)(job->bytes / size);
    MPI_Alltoall(job->out, block, MPI_BYTE, job->in, block, MPI_BYTE, group);
}

static void step(job *job)
{
    all_to_all(job, row);
    all_to_all(job, column);
    all_to_all(job, column);
    all_to_all(job, row);
}

const pattern transpose = {"transpose", start, step};
