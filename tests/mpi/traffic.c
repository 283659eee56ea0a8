/* Sends the traffic that bin/tests/programs/recorder.rs expects. Usage:
 * traffic p2p|neighbour|collective|split|completion */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 1 << 16 };
static char sent[LARGEST], received[LARGEST];
static int rank, size;

/* Receives a number of messages of any kind from any rank. */
static void receive(int count)
{
    for (int i = 0; i < count; i++) {
        MPI_Recv(received, LARGEST, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* All to the next rank. */
static void p2p(void)
{
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    MPI_Request requests[4];
    MPI_Comm world = MPI_COMM_WORLD;
    char buffer[4096];

    MPI_Buffer_attach(buffer, sizeof buffer);
    MPI_Isend(sent, 1, MPI_BYTE, next, 0, world, &requests[0]);
    MPI_Issend(sent, 2, MPI_BYTE, next, 0, world, &requests[1]);
    MPI_Ibsend(sent, 4, MPI_BYTE, next, 0, world, &requests[2]);
    MPI_Bsend(sent, 8, MPI_BYTE, next, 0, world);
    receive(4);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(sent, 2, MPI_DOUBLE, next, 0, received, 2, MPI_DOUBLE, previous, 0, world, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(sent, 32, MPI_BYTE, next, 0, previous, 0, world, MPI_STATUS_IGNORE);
    if (rank % 2 == 0) {
        MPI_Send(sent, 64, MPI_BYTE, next, 0, world);
        MPI_Ssend(sent, 128, MPI_BYTE, next, 0, world);
    }
    receive(previous % 2 == 0 ? 2 : 0);
    if (rank % 2 == 1) {
        MPI_Send(sent, 64, MPI_BYTE, next, 0, world);
        MPI_Ssend(sent, 128, MPI_BYTE, next, 0, world);
    }
    receive(previous % 2 == 1 ? 2 : 0);

    /* Persistent: 5 times 1000 bytes by Start, 3 times 1000 and 3 times 10 by Startall; one is never started. */
    MPI_Send_init(sent, 1000, MPI_BYTE, next, 1, world, &requests[0]);
    MPI_Ssend_init(sent, 10, MPI_BYTE, next, 2, world, &requests[1]);
    MPI_Recv_init(received, 1000, MPI_BYTE, previous, 1, world, &requests[2]);
    MPI_Recv_init(received, 10, MPI_BYTE, previous, 2, world, &requests[3]);
    for (int i = 0; i < 5; i++) {
        MPI_Start(&requests[2]);
        MPI_Start(&requests[0]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 3; i++) {
        MPI_Startall(4, requests);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 4; i++) MPI_Request_free(&requests[i]);
    MPI_Send_init(sent, 5000, MPI_BYTE, next, 1, world, &requests[0]);
    MPI_Request_free(&requests[0]);

    /* To MPI_PROC_NULL, and to itself. */
    MPI_Send(sent, 7, MPI_BYTE, MPI_PROC_NULL, 0, world);
    MPI_Sendrecv(sent, 3, MPI_BYTE, rank, 0, received, 3, MPI_BYTE, rank, 0, world, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(received, &(int){0});
#if MPI_VERSION >= 4
    MPI_Send_c(sent, 256, MPI_BYTE, MPI_PROC_NULL, 0, world);
    MPI_Isend_c(sent, 256, MPI_BYTE, next, 0, world, &requests[0]);
    receive(1);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
#endif
}

/* Each kind of call on a communicator with a topology of at most two neighbours. */
static void exchange(MPI_Comm comm)
{
    int counts[2] = {8, 8}, places[2] = {0, 0};
    MPI_Aint displacements[2] = {0, 0};
    MPI_Datatype types[2] = {MPI_BYTE, MPI_BYTE};
    MPI_Request request;
    MPI_Neighbor_allgather(sent, 1, MPI_BYTE, received, 1, MPI_BYTE, comm);
    MPI_Neighbor_alltoall(sent, 2, MPI_BYTE, received, 2, MPI_BYTE, comm);
    MPI_Ineighbor_alltoall(sent, 4, MPI_BYTE, received, 4, MPI_BYTE, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Neighbor_allgatherv(sent, 8, MPI_BYTE, received, counts, places, MPI_BYTE, comm);
    MPI_Neighbor_alltoallv(sent, counts, places, MPI_BYTE, received, counts, places, MPI_BYTE, comm);
    MPI_Neighbor_alltoallw(sent, counts, displacements, types, received, counts, displacements, types, comm);
}

/* A line of ranks, then a graph: each rank to the next and the one after that. */
static void neighbour(void)
{
    MPI_Comm row, graph;
    int sources[2] = {(rank + size - 1) % size, (rank + size - 2) % size};
    int targets[2] = {(rank + 1) % size, (rank + 2) % size};
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){0}, 0, &row);
    exchange(row);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, MPI_UNWEIGHTED, 2, targets, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &graph);
    exchange(graph);
    /* Blocks of individual sizes: 10 bytes to the first target, 20 to the second. */
    MPI_Neighbor_alltoallv(sent, (int[]){10, 20}, (int[]){0, 0}, MPI_BYTE, received, (int[]){10, 20}, (int[]){0, 100},
                           MPI_BYTE, graph);
    MPI_Comm_free(&row);
    MPI_Comm_free(&graph);
}

static void collective(void)
{
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Request request;
    int root = 1 % size;
    int counts[64], places[64];
    MPI_Datatype types[64];
    /* Rank i has i bytes in the variants where counts differ; rank 0 has none. */
    for (int i = 0; i < size; i++) counts[i] = i, places[i] = 100 * i, types[i] = MPI_BYTE;
    MPI_Barrier(world);
    MPI_Bcast(sent, 1000, MPI_BYTE, root, world);
    MPI_Ibcast(sent, 1000, MPI_BYTE, root, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Reduce(sent, received, 1001, MPI_BYTE, MPI_BOR, root, world);
    MPI_Allreduce(sent, received, 1002, MPI_BYTE, MPI_BOR, world);
    MPI_Allreduce(sent, received, 12001, MPI_BYTE, MPI_BOR, world);
    MPI_Scan(sent, received, 1003, MPI_BYTE, MPI_BOR, world);
    MPI_Exscan(sent, received, 1004, MPI_BYTE, MPI_BOR, world);
    MPI_Gather(sent, 105, MPI_BYTE, received, 105, MPI_BYTE, root, world);
    MPI_Scatter(sent, 106, MPI_BYTE, received, 106, MPI_BYTE, root, world);
    MPI_Allgather(sent, 107, MPI_BYTE, received, 107, MPI_BYTE, world);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, received, 107, MPI_BYTE, world);
    MPI_Alltoall(sent, 108, MPI_BYTE, received, 108, MPI_BYTE, world);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_BYTE, received, 108, MPI_BYTE, world);
    MPI_Reduce_scatter_block(sent, received, 109, MPI_BYTE, MPI_BOR, world);
    MPI_Reduce_scatter(sent, received, counts, MPI_BYTE, MPI_BOR, world);
    MPI_Gatherv(sent, rank, MPI_BYTE, received, counts, places, MPI_BYTE, root, world);
    MPI_Scatterv(sent, counts, places, MPI_BYTE, received, rank, MPI_BYTE, root, world);
    MPI_Allgatherv(sent, rank, MPI_BYTE, received, counts, places, MPI_BYTE, world);
    /* Rank i gets i bytes from every rank. */
    int mine[64];
    for (int i = 0; i < size; i++) mine[i] = rank;
    MPI_Alltoallv(sent, counts, places, MPI_BYTE, received, mine, places, MPI_BYTE, world);
    MPI_Alltoallw(sent, counts, places, types, received, mine, places, types, world);
}

/* Communicators whose ranks differ from those of the world; an additional group. */
static void split(void)
{
    MPI_Comm reversed, half, both;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    /* Local rank 0 is the last one of the world. */
    MPI_Request request;
    MPI_Isend(sent, 50, MPI_BYTE, 0, 0, reversed, &request);
    if (rank == size - 1) {
        for (int i = 0; i < size; i++) {
            MPI_Recv(received, 50, MPI_BYTE, MPI_ANY_SOURCE, 0, reversed, MPI_STATUS_IGNORE);
        }
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&reversed);

    /* Even and odd ranks; rank 0 sends 60 bytes to the first odd one over the intercommunicator. */
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 9, &both);
    if (rank == 0) MPI_Send(sent, 60, MPI_BYTE, 0, 0, both);
    if (rank == 1) MPI_Recv(received, 60, MPI_BYTE, 0, 0, both, MPI_STATUS_IGNORE);
    MPI_Barrier(both);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

/* Ends of nonblocking receives: each way to wait for them, tags out of order, any source, a freed communicator, and a receive that is
 * cancelled. Each rank sends tags 0 to 15 to the next one, and tag 16 to rank 0. */
static void completion(void)
{
    enum { NUM_TAGS = 16 };
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    int index, flag, count, indices[NUM_TAGS];
    MPI_Request requests[NUM_TAGS], sends[NUM_TAGS], one;
    MPI_Comm ring;
    MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &ring);
    MPI_Irecv(received, 1, MPI_BYTE, size - 1 - previous, 0, ring, &requests[0]);
    for (int tag = 1; tag < NUM_TAGS; tag++) {
        int source = tag % 4 == 0 ? MPI_ANY_SOURCE : previous;
        MPI_Irecv(received + tag * 100, 100, MPI_BYTE, source, tag, MPI_COMM_WORLD, &requests[tag]);
    }
    MPI_Isend(sent, 1, MPI_BYTE, size - 1 - next, 0, ring, &sends[0]);
    MPI_Comm_free(&ring);
    for (int tag = NUM_TAGS - 1; tag > 0; tag--) {
        MPI_Isend(sent, tag, MPI_BYTE, next, tag, MPI_COMM_WORLD, &sends[tag]);
    }
    MPI_Wait(&requests[3], MPI_STATUS_IGNORE);
    do MPI_Test(&requests[2], &flag, MPI_STATUS_IGNORE);
    while (!flag);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    do MPI_Testany(2, requests, &index, &flag, MPI_STATUS_IGNORE);
    while (!flag);
    MPI_Waitsome(4, requests + 4, &count, indices, MPI_STATUSES_IGNORE);
    MPI_Waitall(4, requests + 4, MPI_STATUSES_IGNORE);
    do MPI_Testall(4, requests + 8, &flag, MPI_STATUSES_IGNORE);
    while (!flag);
    for (int left = 4; left > 0; left -= count) MPI_Testsome(4, requests + 12, &count, indices, MPI_STATUSES_IGNORE);
    MPI_Waitall(NUM_TAGS, sends, MPI_STATUSES_IGNORE);

    MPI_Irecv(received, 100, MPI_BYTE, previous, 99, MPI_COMM_WORLD, &one);
    MPI_Cancel(&one);
    MPI_Wait(&one, MPI_STATUS_IGNORE);

    MPI_Isend(sent, 100, MPI_BYTE, 0, 16, MPI_COMM_WORLD, &one);
    if (rank == 0) {
        MPI_Request any;
        MPI_Recv_init(received, 100, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &any);
        for (int i = 0; i < size; i++) {
            MPI_Start(&any);
            MPI_Wait(&any, MPI_STATUS_IGNORE);
            MPI_Wait(&any, MPI_STATUS_IGNORE);
        }
        MPI_Request_free(&any);
    }
    MPI_Wait(&one, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(what, "p2p") == 0) {
        p2p();
    } else if (strcmp(what, "neighbour") == 0) {
        neighbour();
    } else if (strcmp(what, "collective") == 0) {
        collective();
    } else if (strcmp(what, "split") == 0) {
        split();
    } else if (strcmp(what, "completion") == 0) {
        completion();
    } else {
        fprintf(stderr, "traffic: `%s` is none of p2p, neighbour, collective, split, completion\n", what);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Finalize();
    return 0;
}
