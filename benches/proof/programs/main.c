/*
 * Runs a pattern of communication: proof PATTERN BYTES ITERATIONS [FILE]
 *
 * There is no computation, so that a simulator's time is that of the messages alone.
 */
#include "proof.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const pattern *const patterns[] = {&halo2, &halo3, &halo27, &spmv, &transpose, &wavefront, &workers, &allreduce,
                                          &replay};

void fail(const char *message, const char *about)
{
    fprintf(stderr, "proof: %s%s\n", message, about);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

void *allocate(long count, long size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory) fail("out of memory", "");
    return memory;
}

void need(job *job, long bytes)
{
    free(job->out);
    free(job->in);
    job->out = allocate(bytes, 1);
    job->in = allocate(bytes, 1);
}

neighbours neighbours_new(int capacity)
{
    neighbours list = {0, allocate(capacity, sizeof(int)), allocate(capacity, sizeof(long)), allocate(capacity, sizeof(long)), 0};
    return list;
}

void neighbours_add(neighbours *list, int rank, long out, long in)
{
    list->ranks[list->count] = rank;
    list->out[list->count] = out;
    list->in[list->count++] = in;
    if (out > list->largest) list->largest = out;
    if (in > list->largest) list->largest = in;
}

void exchange(job *job, const neighbours *list)
{
    MPI_Request *requests = allocate(2 * list->count, sizeof *requests);
    for (int i = 0; i < list->count; i++) {
        MPI_Irecv(job->in, list->in[i], MPI_BYTE, list->ranks[i], 0, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < list->count; i++) {
        MPI_Isend(job->out, list->out[i], MPI_BYTE, list->ranks[i], 0, MPI_COMM_WORLD, &requests[list->count + i]);
    }
    MPI_Waitall(2 * list->count, requests, MPI_STATUSES_IGNORE);
    free(requests);
}

char *next_line(FILE *file, char **line, size_t *capacity)
{
    do {
        if (getline(line, capacity, file) < 0) return NULL;
    } while (**line == '%');
    return *line;
}

MPI_Comm group(int color)
{
    MPI_Comm result;
    MPI_Comm_split(MPI_COMM_WORLD, color, 0, &result);
    return result;
}

static const pattern *pattern_of(const char *name)
{
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        if (!strcmp(patterns[i]->name, name)) return patterns[i];
    }
    fail("no such pattern: ", name);
    return NULL;
}

static long number(const char *text, long most)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (*end || value < 1 || value > most) fail("not a number in range: ", text);
    return value;
}

int main(int argc, char **argv)
{
    job job = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.size);
    if (argc < 4 || argc > 5) fail("usage: proof PATTERN BYTES ITERATIONS [FILE]", "");

    const pattern *pattern = pattern_of(argv[1]);
    job.bytes = number(argv[2], 1L << 26);
    long iterations = number(argv[3], 1000000);
    job.file = argc == 5 ? argv[4] : NULL;
    need(&job, job.bytes);
    if (pattern->start) pattern->start(&job);
    for (long i = 0; i < iterations; i++) pattern->step(&job);
    MPI_Finalize();
    return 0;
}
