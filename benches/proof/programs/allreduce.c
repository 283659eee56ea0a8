/*
 * What training of a large network sends, by rank t + 4 (d + D p): all-reduce in tensor groups (t) of 4, activations along
 * pipelines (p) of 4 stages, and all-reduce of gradients between data-parallel replicas (d). Eight batches follow each other
 * through a pipeline, forward, then backward. BYTES is the size of the activations of one; gradients are four times as large.
 */
#include "proof.h"

enum { TENSOR = 4, PIPELINE = 4, BATCHES = 8 };

static MPI_Comm tensor, data;
static int previous, next;

static void start(job *job)
{
    if (job->size % (TENSOR * PIPELINE)) fail("allreduce needs a multiple of 16 ranks", "");
    int stage = job->size / PIPELINE;
    tensor = group(job->rank / TENSOR);
    data = group(job->rank / stage * TENSOR + job->rank % TENSOR);
    previous = job->rank < stage ? MPI_PROC_NULL : job->rank - stage;
    next = job->rank + stage >= job->size ? MPI_PROC_NULL : job->rank + stage;
    need(job, 4 * job->bytes);
}

static void sum(job *job, long bytes, MPI_Comm group)
{
    MPI_Allreduce(job->out, job->in, (int)(bytes / 8), MPI_DOUBLE, MPI_SUM, group);
}

/* All batches, forward or backward. */
static void pass(job *job, int from, int to)
{
    for (int batch = 0; batch < BATCHES; batch++) {
        MPI_Recv(job->in, (int)job->bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum(job, job->bytes, tensor);
        MPI_Send(job->out, (int)job->bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD);
    }
}

static void step(job *job)
{
    pass(job, previous, next);
    pass(job, next, previous);
    sum(job, 4 * job->bytes, data);
}

const pattern allreduce = {"allreduce", start, step};
