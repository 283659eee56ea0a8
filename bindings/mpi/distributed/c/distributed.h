/* What the part in Rust and the part in C of libviem_dist share. Nothing of it is visible outside. */
#ifndef VIEM_DISTRIBUTED_H
#define VIEM_DISTRIBUTED_H

#include <stdint.h>

#include "viem_dist.h"

/* How numbers are combined. */
enum { REDUCE_SUM, REDUCE_LEAST, REDUCE_GREATEST };

/* Collective operations, as the trait `Exchange` has them. */
typedef struct {
    void *comm;
    int32_t rank, size;
    void (*all_to_all)(void *comm, const uint64_t *words, uint64_t *received);
    void (*all_to_all_v)(void *comm, const uint64_t *words, const int32_t *counts, const int32_t *starts, uint64_t *received,
                         const int32_t *from, const int32_t *from_starts);
    void (*all_gather_v)(void *comm, const uint64_t *words, int32_t count, uint64_t *received, const int32_t *from,
                         const int32_t *from_starts);
    void (*all_reduce)(void *comm, const int64_t *numbers, int64_t *all, int32_t count, int32_t how);
    void (*broadcast)(void *comm, uint64_t *words, int32_t count, int32_t root);
} operations;

/* The arguments of a call. */
typedef struct {
    const viem_dist_graph *graph;
    const viem_machine *machine; /* null for blocks */
    int32_t needs_machine;       /* 1 if null is wrong */
    int64_t num_blocks;
    const int32_t *old;
    double migration_weight;
    int32_t remaps; /* 1 if there are old blocks */
    const int32_t *fixed;
    const viem_settings *settings;
    int32_t *blocks;
    viem_report *report;
} arguments;

viem_status distributed_divide(const operations *operations, const arguments *arguments, viem_error **error);
viem_status distributed_refuse(const char *message, viem_error **error);

#endif
