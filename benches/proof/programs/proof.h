/* What the programs of this folder share: each is a pattern of communication without computation. */
#ifndef PROOF_H
#define PROOF_H

#include <mpi.h>
#include <stdio.h>

/* An MPI job that runs one pattern. */
typedef struct {
    int rank, size;
    /* The size of a message in bytes; what it is the size of, each pattern says. */
    long bytes;
    /* The file of a pattern that reads one, or NULL. */
    const char *file;
    /* Room for the largest message that was asked for by `need`. Contents do not matter. */
    char *out, *in;
} job;

/* A pattern: `start` is called once and may be NULL, `step` once per iteration. */
typedef struct {
    const char *name;
    void (*start)(job *);
    void (*step)(job *);
} pattern;

extern const pattern halo2, halo3, halo27, spmv, transpose, wavefront, workers, allreduce, replay;

/* Makes room for messages of so many bytes. */
void need(job *job, long bytes);

/* Memory, zeroed; ends the job if there is none. */
void *allocate(long count, long size);

/* Ends the job with a message. */
void fail(const char *message, const char *about);

/* A message to each of some ranks, and one from each of them; out[i] and in[i] are their sizes in bytes, `largest` is the largest. */
typedef struct {
    int count;
    int *ranks;
    long *out, *in, largest;
} neighbours;

/* Room for neighbours. */
neighbours neighbours_new(int capacity);

/* One more neighbour. */
void neighbours_add(neighbours *list, int rank, long out, long in);

/*
 * All messages at once. There must be room for the largest. All ranks are in the memory of one process, so all messages are
 * received in the same place; MPI does not allow that, SimGrid does.
 */
void exchange(job *job, const neighbours *list);

/* The next line that is no comment, in a buffer that grows; NULL at the end. */
char *next_line(FILE *file, char **line, size_t *capacity);

/* Splits MPI_COMM_WORLD into groups of the ranks of equal color, in the order of their ranks. */
MPI_Comm group(int color);

#endif
