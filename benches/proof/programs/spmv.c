/*
 * Sparse matrix times vector: FILE is a METIS graph without weights, whose vertices are distributed in stretches of equal
 * length. A rank sends each of its entries once to every rank that has a neighbour of it; BYTES is the size of an entry.
 */
#include "proof.h"

#include <stdio.h>
#include <stdlib.h>

static neighbours list;

/* Rows `first` to `last` of the graph, from 0; ends[i] is where row first + i ends in `columns`. */
typedef struct {
    long n, first, last;
    long *ends, *columns;
} rows;

static long first_of(long n, int size, long rank) { return n * rank / size; }

static int owner_of(long n, int size, long vertex)
{
    int rank = (int)(vertex * size / n);
    while (first_of(n, size, rank + 1) <= vertex) rank++;
    while (first_of(n, size, rank) > vertex) rank--;
    return rank;
}

static rows read_rows(job *job)
{
    FILE *file = fopen(job->file, "r");
    char *line = NULL, *end;
    size_t capacity = 0;
    rows rows;
    long m, format = 0;
    if (!file || !next_line(file, &line, &capacity) || sscanf(line, "%ld %ld %ld", &rows.n, &m, &format) < 2 || format) {
        fail("not a graph without weights: ", job->file);
    }
    if (rows.n < job->size) fail("fewer vertices than ranks: ", job->file);
    rows.first = first_of(rows.n, job->size, job->rank);
    rows.last = first_of(rows.n, job->size, job->rank + 1);
    rows.ends = allocate(rows.last - rows.first, sizeof(long));
    rows.columns = allocate(2 * m, sizeof(long));
    for (long u = 0, count = 0; u < rows.last; u++) {
        if (!next_line(file, &line, &capacity)) fail("the graph ends early: ", job->file);
        if (u < rows.first) continue;
        char *at = line;
        for (long v; v = strtol(at, &end, 10), end != at; at = end) {
            if (v < 1 || v > rows.n || count >= 2 * m) fail("a bad line in ", job->file);
            rows.columns[count++] = v - 1;
        }
        rows.ends[u - rows.first] = count;
    }
    free(line);
    fclose(file);
    return rows;
}

static void start(job *job)
{
    if (!job->file) fail("spmv needs a FILE", "");
    rows rows = read_rows(job);
    long *sent = allocate(job->size, sizeof(long)), *received = allocate(job->size, sizeof(long));
    /* The vertex that was sent to a rank last, plus 1; and whether an entry was received. */
    long *last = allocate(job->size, sizeof(long));
    char *known = allocate(rows.n, 1);
    for (long u = rows.first, at = 0; u < rows.last; u++) {
        for (; at < rows.ends[u - rows.first]; at++) {
            int owner = owner_of(rows.n, job->size, rows.columns[at]);
            sent[owner] += last[owner] != u + 1;
            last[owner] = u + 1;
            received[owner] += !known[rows.columns[at]];
            known[rows.columns[at]] = 1;
        }
    }
    list = neighbours_new(job->size);
    for (int rank = 0; rank < job->size; rank++) {
        if (rank != job->rank && sent[rank]) {
            neighbours_add(&list, rank, sent[rank] * job->bytes, received[rank] * job->bytes);
        }
    }
    need(job, list.largest);
    free(rows.ends), free(rows.columns), free(sent), free(received), free(last), free(known);
}

static void step(job *job) { exchange(job, &list); }

const pattern spmv = {"spmv", start, step};
