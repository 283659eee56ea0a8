/* A program that never asks for other ranks: a ring of pairs by MPI_COMM_WORLD alone, in which rank r and r + size / 2 exchange. Prints which
 * process, by the name that its launcher has given it, is which rank. */
#include "check.h"
#include "launched.h"

#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, received = -1, sum, half_rank, is_known = 0, *limit, result, all[64], launched;
    MPI_Comm half, copy;
    MPI_Group group;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Group_size((MPI_Comm_group(MPI_COMM_WORLD, &group), group), &result);
    CHECK(result == size);
    MPI_Group_rank(group, &result);
    CHECK(result == rank);
    MPI_Group_free(&group);
    int other = (rank + size / 2) % size;
    MPI_Sendrecv(&rank, 1, MPI_INT, other, 0, &received, 1, MPI_INT, (rank + size - size / 2) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(received == (rank + size - size / 2) % size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size * (size - 1) / 2);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_rank(half, &half_rank);
    CHECK(half_rank == rank / 2);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_compare(MPI_COMM_WORLD, copy, &result);
    CHECK(result == MPI_CONGRUENT);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &limit, &is_known);
    CHECK(is_known && *limit >= 32767);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&half);
    launched = launched_rank();
    MPI_Gather(&launched, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("processes");
        for (int r = 0; r < size; r++) printf(" %d", all[r]);
        printf("\n");
    }
    MPI_Finalize();
    return 0;
}
