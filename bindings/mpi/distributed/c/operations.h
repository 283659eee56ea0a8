/* MPI for the parts in Rust, and for the functions in C around them. Nothing of it is visible outside. */
#ifndef VIEM_OPERATIONS_H
#define VIEM_OPERATIONS_H

#include <mpi.h>
#include <stdint.h>

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

/* Why nothing can be sent on a communicator; null if it can. All ranks find the same. */
const char *operations_refusal(MPI_Comm comm);

/* Copies a communicator for the operations of a call, so that no message of the program is mixed up with ours; `ours` is freed after it. Why that fails; null
 * if it does not. */
const char *operations_begin(MPI_Comm comm, MPI_Comm *ours, operations *operations);

/* The communicator of a handle of Fortran; none while MPI is not initialised, which `operations_refusal` then says. */
MPI_Comm operations_comm(MPI_Fint handle);

#endif
