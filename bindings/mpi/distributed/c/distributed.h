/* What the part in Rust and the part in C of libviem_dist share. Nothing of it is visible outside. */
#ifndef VIEM_DISTRIBUTED_H
#define VIEM_DISTRIBUTED_H

#include <stdint.h>

#include "operations.h"
#include "viem_dist.h"

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

/* For stand-ins: the settings of the environment and of a strategy of Scotch for so many parts of this total weight, null if it is no strategy; the machine of
 * the environment if it has so many PEs, or null, for which rank 0 says why. */
viem_settings *distributed_settings(const char *strategy, int64_t total, int64_t num_parts);
viem_machine *distributed_machine(int64_t num_parts, int rank);

#endif
