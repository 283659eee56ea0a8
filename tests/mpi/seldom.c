/* Rare calls of programs. Usage: seldom ignored|outside|null|new|session|spawn|file */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char sent[64], received[64];
static int rank, size;

/* To the next rank of the world. */
static void pass(int count)
{
    MPI_Sendrecv(sent, count, MPI_BYTE, (rank + 1) % size, 0, received, count, MPI_BYTE, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* No type where MPI does not look at it: between even and odd ranks, with rank 0 as the root, and in the world. */
static void ignored(void)
{
    MPI_Datatype none = MPI_DATATYPE_NULL, byte = MPI_BYTE;
    MPI_Comm world = MPI_COMM_WORLD, half, both;
    MPI_Comm_split(world, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, world, 1 - rank % 2, 9, &both);
    if (rank % 2 == 1) {
        MPI_Gather(sent, 1, byte, NULL, 0, none, 0, both);
        MPI_Scatter(NULL, 0, none, received, 1, byte, 0, both);
    } else if (rank == 0) {
        MPI_Gather(NULL, 0, none, received, 1, byte, MPI_ROOT, both);
        MPI_Scatter(sent, 1, byte, NULL, 0, none, MPI_ROOT, both);
    } else {
        MPI_Gather(NULL, 7, none, NULL, 7, none, MPI_PROC_NULL, both);
        MPI_Scatter(NULL, 7, none, NULL, 7, none, MPI_PROC_NULL, both);
    }
    if (rank == 0) {
        MPI_Gather(MPI_IN_PLACE, 7, none, received, 1, byte, 0, world);
        MPI_Scatter(sent, 1, byte, MPI_IN_PLACE, 7, none, 0, world);
    } else {
        MPI_Gather(sent, 1, byte, NULL, 7, none, 0, world);
        MPI_Scatter(NULL, 7, none, received, 1, byte, 0, world);
    }
    MPI_Allgather(MPI_IN_PLACE, 7, none, received, 1, byte, world);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

/* Ranks that are none, in a program that goes on after errors. */
static void outside(void)
{
    MPI_Comm world = MPI_COMM_WORLD;
    int ranks[] = {50000000, size, -77};
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    for (int i = 0; i < 3; i++) {
        if (MPI_Send(sent, 1, MPI_BYTE, ranks[i], 0, world) == MPI_SUCCESS) MPI_Abort(world, 3);
        if (MPI_Bcast(sent, 1, MPI_BYTE, ranks[i], world) == MPI_SUCCESS) MPI_Abort(world, 4);
    }
    pass(5);
}

/* A communicator that is none, in a program that goes on after errors. */
static void null(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (MPI_Send(sent, 1, MPI_BYTE, 0, 0, MPI_COMM_NULL) == MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 3);
    if (MPI_Bcast(sent, 1, MPI_BYTE, 0, MPI_COMM_NULL) == MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 4);
    pass(5);
}

#if MPI_VERSION >= 4 || defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
#define HAS_CALLS_OF_MPI_4
#endif

/* Calls that came with MPI 4, or what amounts to the same. */
static void new(void)
{
    MPI_Comm world = MPI_COMM_WORLD;
#ifdef HAS_CALLS_OF_MPI_4
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Request request;
    MPI_Isendrecv(sent, 7, MPI_BYTE, next, 0, received, 7, MPI_BYTE, before, 0, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Bcast_init(sent, 9, MPI_BYTE, 0, world, MPI_INFO_NULL, &request);
    for (int i = 0; i < 2; i++) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    MPI_Request both[2];
    MPI_Psend_init(sent, 2, 5, MPI_BYTE, next, 0, world, MPI_INFO_NULL, &both[0]);
    MPI_Precv_init(received, 2, 5, MPI_BYTE, before, 0, world, MPI_INFO_NULL, &both[1]);
    MPI_Startall(2, both);
    MPI_Pready_range(0, 1, both[0]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
#else
    pass(7);
    MPI_Bcast(sent, 9, MPI_BYTE, 0, world);
    MPI_Bcast(sent, 9, MPI_BYTE, 0, world);
    pass(10);
#endif
}

/* A program without MPI_Init. */
static void session(void)
{
#ifdef HAS_CALLS_OF_MPI_4
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "viem", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Sendrecv(sent, 5, MPI_BYTE, (rank + 1) % size, 0, received, 5, MPI_BYTE, (rank + size - 1) % size, 0, comm,
                 MPI_STATUS_IGNORE);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    if (rank == 0) printf("exchanged\n");
#endif
}

/* Two parents start two children that send other sizes. Open MPI does not hand LD_PRELOAD on; `env` does. */
static void spawn(char *program)
{
    MPI_Comm parent, both;
    char preload[4096];
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", getenv("LD_PRELOAD"));
    MPI_Comm_get_parent(&parent);
    pass(parent == MPI_COMM_NULL ? 5 : 6);
    if (parent == MPI_COMM_NULL) {
        char *arguments[] = {preload, program, "spawn", NULL};
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        int error = MPI_Comm_spawn("env", arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &both, MPI_ERRCODES_IGNORE);
        if (error != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
        MPI_Comm_disconnect(&both);
    } else {
        MPI_Comm_disconnect(&parent);
    }
}

/* Ranks write in turns, so that the MPI moves data between them before it writes. */
static void file(void)
{
    MPI_File file;
    MPI_Datatype turns;
    int mode = MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE;
    MPI_File_open(MPI_COMM_WORLD, "out.bin", mode, MPI_INFO_NULL, &file);
    MPI_Type_vector(8, 4, 4 * size, MPI_BYTE, &turns);
    MPI_Type_commit(&turns);
    MPI_File_set_view(file, 4 * rank, MPI_BYTE, turns, "native", MPI_INFO_NULL);
    MPI_File_write_all(file, sent, 32, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Type_free(&turns);
}

int main(int argc, char **argv)
{
    if (strcmp(argv[1], "session") == 0) {
        session();
        return 0;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(argv[1], "ignored") == 0) ignored();
    if (strcmp(argv[1], "outside") == 0) outside();
    if (strcmp(argv[1], "null") == 0) null();
    if (strcmp(argv[1], "new") == 0) new();
    if (strcmp(argv[1], "spawn") == 0) spawn(argv[0]);
    if (strcmp(argv[1], "file") == 0) file();
    MPI_Finalize();
    return 0;
}
