/*
 * Traffic of a job that was recorded: FILE is a METIS graph with weights of edges and as many vertices as ranks. Every rank
 * sends a message to each neighbour, and all at once; their sizes are in proportion to the weights. BYTES is what a rank sends
 * in the mean.
 */
#include "proof.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static neighbours list;

/* The next edge of a line, or 0 at its end. */
static int next_edge(char **at, long *neighbour, double *weight)
{
    char *end;
    *neighbour = strtol(*at, &end, 10);
    if (end == *at) return 0;
    *weight = strtod(end, at);
    if (end == *at || *neighbour < 1 || !(*weight > 0)) fail("a bad line in a graph", "");
    return 1;
}

static void start(job *job)
{
    FILE *file = job->file ? fopen(job->file, "r") : NULL;
    char *line = NULL, *own = NULL, *at;
    size_t capacity = 0, own_capacity = 0;
    long n, m, format, neighbour;
    double weight, total = 0;
    if (!file || !next_line(file, &line, &capacity) || sscanf(line, "%ld %ld %ld", &n, &m, &format) != 3 || format != 1) {
        fail("replay needs a graph with weights of edges", "");
    }
    if (n != job->size) fail("another number of vertices than ranks: ", job->file);
    for (int rank = 0; rank < job->size; rank++) {
        int is_own = rank == job->rank;
        if (!next_line(file, is_own ? &own : &line, is_own ? &own_capacity : &capacity)) fail("the graph ends early: ", job->file);
        for (at = is_own ? own : line; next_edge(&at, &neighbour, &weight);) total += weight;
    }
    list = neighbours_new(job->size);
    for (at = own; next_edge(&at, &neighbour, &weight);) {
        long bytes = (long)ceil(weight / total * job->bytes * job->size);
        neighbours_add(&list, (int)neighbour - 1, bytes, bytes);
    }
    need(job, list.largest);
    free(line), free(own);
    fclose(file);
}

static void step(job *job) { exchange(job, &list); }

const pattern replay = {"replay", start, step};
