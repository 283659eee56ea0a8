/*
 * Halo exchanges on a grid of ranks without wrap-around, the last dimension varying fastest. BYTES is the size of a
 * face; with 27 neighbours faces are squares of numbers of 8 bytes, and there are edges and corners.
 */
#include "proof.h"

enum { MOST = 26 };

static neighbours list;

/* The bytes between two ranks whose places differ in so many dimensions. */
static long size_of(long face, int differ)
{
    long side = 1;
    while (8 * (side + 1) * (side + 1) <= face) side++;
    return differ == 1 ? face : differ == 2 ? 8 * side : 8;
}

/* In how many dimensions a step leads elsewhere. */
static int differences(const int step[3])
{
    return !!step[0] + !!step[1] + !!step[2];
}

static int rank_at(const int dims[3], const int place[3], const int step[3])
{
    int rank = 0;
    for (int d = 0; d < 3; d++) {
        int at = place[d] + step[d];
        if (at < 0 || at >= dims[d]) return -1;
        rank = rank * dims[d] + at;
    }
    return rank;
}

static void start(job *job, int dimensions, int most)
{
    int dims[3] = {0, 0, dimensions == 2};
    MPI_Dims_create(job->size, 3, dims);
    int place[3] = {job->rank / (dims[1] * dims[2]), job->rank / dims[2] % dims[1], job->rank % dims[2]};
    list = neighbours_new(MOST);
    for (int index = 0; index < 27; index++) {
        int step[3] = {index / 9 - 1, index / 3 % 3 - 1, index % 3 - 1};
        int differ = differences(step), rank = rank_at(dims, place, step);
        long bytes = size_of(job->bytes, differ);
        if (differ && differ <= most && rank >= 0) neighbours_add(&list, rank, bytes, bytes);
    }
}

static void start2(job *job) { start(job, 2, 1); }
static void start3(job *job) { start(job, 3, 1); }
static void start27(job *job) { start(job, 3, 3); }
static void step(job *job) { exchange(job, &list); }

const pattern halo2 = {"halo2", start2, step};
const pattern halo3 = {"halo3", start3, step};
const pattern halo27 = {"halo27", start27, step};
