/* What must not change for a program, at 4 ranks of the machine 2:2:16. */
#include "check.h"

#include <mpi.h>
#include <stdio.h>

static int rank, num_copies;

static int copy(MPI_Comm comm, int keyval, void *extra, void *value, void *copied, int *flag)
{
    (void)comm, (void)keyval, (void)extra, (void)value, (void)copied;
    num_copies++;
    *flag = 0;
    return MPI_SUCCESS;
}

/* Rank 0 and 2, 1 and 3: always reordered. */
static void create_pairs(MPI_Comm comm, MPI_Comm *graph)
{
    int partner = rank ^ 2, weight = 1;
    MPI_Dist_graph_create_adjacent(comm, 1, &partner, &weight, 1, &partner, &weight, MPI_INFO_NULL, 1, graph);
}

static void test_messages_of_the_program(MPI_Comm comm)
{
    int received = -1, sent = rank + 100;
    MPI_Request request;
    MPI_Comm graph;
    MPI_Irecv(&received, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request);
    create_pairs(comm, &graph);
    MPI_Send(&sent, 1, MPI_INT, (rank + 1) % 4, 7, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(received == (rank + 3) % 4 + 100);
    MPI_Comm_free(&graph);
}

static void test_attributes(MPI_Comm comm)
{
    int keyval;
    MPI_Comm graph;
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    MPI_Comm_set_attr(comm, keyval, &rank);
    create_pairs(comm, &graph);
    CHECK(num_copies == 0);
    MPI_Comm_free(&graph);
    MPI_Comm_delete_attr(comm, keyval);
    MPI_Comm_free_keyval(&keyval);
}

static void test_errors(MPI_Comm comm)
{
    int too_many[] = {3, 3}, periods[] = {0, 0};
    MPI_Comm cart;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK(MPI_Cart_create(comm, 2, too_many, periods, 1, &cart) != MPI_SUCCESS);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
}

static void test_small(void)
{
    int dims[] = {1}, periods[] = {1}, size;
    MPI_Comm cart;
    MPI_Cart_create(MPI_COMM_SELF, 1, dims, periods, 1, &cart);
    MPI_Comm_size(cart, &size);
    CHECK(size == 1);
    MPI_Comm_free(&cart);
    MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 1, &cart);
    int is_mine = cart != MPI_COMM_NULL, num;
    MPI_Allreduce(&is_mine, &num, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(num == 1);
    if (is_mine) MPI_Comm_free(&cart);
}

/* A reordered communicator is one to reorder again. */
static void test_nested(void)
{
    int dims[] = {2, 2}, periods[] = {0, 0}, coords[2], me;
    MPI_Comm graph, cart;
    create_pairs(MPI_COMM_WORLD, &graph);
    MPI_Cart_create(graph, 2, dims, periods, 1, &cart);
    MPI_Comm_rank(cart, &me);
    MPI_Cart_coords(cart, me, 2, coords);
    CHECK(me == 2 * coords[0] + coords[1]);
    MPI_Comm_free(&graph);
    int sum;
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, cart);
    CHECK(sum == 6);
    MPI_Comm_free(&cart);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    test_messages_of_the_program(comm);
    test_attributes(comm);
    test_errors(comm);
    test_small();
    test_nested();
    MPI_Comm_free(&comm);
    if (rank == 0) printf("passed\n");
    MPI_Finalize();
    return 0;
}
