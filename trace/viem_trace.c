/*
 * viem_trace.c: records the communication between the ranks of an MPI job. MIT licence; copyright: see LICENSE of viem.
 *
 * Build it with the MPI of the job, and load it before the job's libraries:
 *
 *     mpicc -O2 -shared -fPIC -o viem_trace.so viem_trace.c -ldl
 *     mpirun -x LD_PRELOAD=$PWD/viem_trace.so ./app                 (Open MPI)
 *     mpirun -genv LD_PRELOAD $PWD/viem_trace.so ./app              (MPICH, Intel MPI)
 *     generate_model viem_trace.[0-9]* -o job.graph
 *
 * In MPI_Finalize each rank writes one small file, viem_trace.RANK. A job that ends without MPI_Finalize writes none.
 * Environment variables:
 *
 *     VIEM_TRACE=PREFIX             files are PREFIX.RANK instead of viem_trace.RANK
 *     VIEM_TRACE_COLLECTIVES=0      collectives are not counted
 *
 * Counted, at the sender, by ranks of MPI_COMM_WORLD, whatever the communicator:
 *
 *   p2p          blocking, nonblocking and persistent sends of all modes, partitioned sends, sendrecv. Persistent
 *                sends count when they are started.
 *   neighbour    neighbourhood collectives: one message to each target of the topology.
 *   collective   the messages of a textbook algorithm, since MPI does not reveal its own:
 *
 *       Barrier                               dissemination: to rank + 1, 2, 4, ... (no bytes)
 *       Bcast, Reduce                         binomial tree
 *       Gather, Scatter                       binomial tree; a message carries the blocks of a subtree
 *       Gatherv, Scatterv                     every rank exchanges directly with the root
 *       Allreduce                             recursive doubling; if p is not a power of two, odd ranks among
 *                                             the first ones send their part to the preceding rank and receive
 *                                             the result from it
 *       Allgather, Allgatherv                 ring
 *       Alltoall, Alltoallv, Alltoallw        pairwise exchange
 *       Reduce_scatter, Reduce_scatter_block  pairwise exchange
 *       Scan, Exscan                          recursive doubling: to rank + 1, 2, 4, ...
 *
 *     In variants with one count per rank, empty blocks are not sent. Nonblocking and persistent forms count as the
 *     blocking ones.
 *
 * Not counted: one-sided communication, and collectives on intercommunicators; for the latter the number of calls is
 * recorded. Traffic with processes outside MPI_COMM_WORLD is recorded as a sum. MPI-IO is not counted if the MPI
 * handles it internally, as Open MPI does by default. ROMIO, the implementation of MPICH, exchanges data and metadata
 * by MPI calls, which count like those of the program.
 *
 * Also not counted: messages of a program in sessions without MPI_Init, which is reported on stderr, and messages
 * sent by callbacks inside MPI_Finalize.
 *
 * Processes started by MPI_Comm_spawn have a world of their own with ranks from 0. They write no files, and the first
 * of them reports that on stderr.
 *
 * The functions are interposed under both of their names, MPI_X and PMPI_X, because some Fortran bindings call the
 * latter. Needs MPI 3 and a C11 compiler with the extensions of GCC and Clang.
 */
#ifndef VIEM_TRACE_CALLS
#define VIEM_TRACE_CALLS
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
#include <inttypes.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Open MPI 5 has the new calls of MPI 4, except those with large counts, and reports MPI 3.1. */
#if MPI_VERSION >= 4
#define HAS_CALLS_OF_MPI_4
#elif defined(OPEN_MPI)
#if OMPI_MAJOR_VERSION >= 5
#define HAS_CALLS_OF_MPI_4
#endif
#endif

/* ---- counters -------------------------------------------------------------------------------------------------- */

enum class { P2P, NEIGHBOUR, COLLECTIVE, NUM_CLASSES };

static const char *const class_names[NUM_CLASSES] = {"p2p", "neighbour", "collective"};

typedef struct {
    uint64_t messages, bytes;
} counter;

/* For each class, by rank of MPI_COMM_WORLD. */
static counter *counters[NUM_CLASSES];
static counter elsewhere;
static uint64_t uncounted;

static int world_rank, world_size;
static MPI_Group world_group;
static int group_keyval = MPI_KEYVAL_INVALID;
static int counts_collectives = 1;
/* Whether several threads may call MPI at the same time. */
static int is_threaded;
static int is_started;
/* Whether MPI_Init was called. */
static int has_world;
/* Whether MPI_Comm_spawn started this process. */
static int is_spawned;

/* Protects the table of persistent requests and the creation of groups. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void lock(void)
{
    if (is_threaded) pthread_mutex_lock(&mutex);
}

static void unlock(void)
{
    if (is_threaded) pthread_mutex_unlock(&mutex);
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory) {
        fprintf(stderr, "viem_trace: out of memory\n");
        abort();
    }
    return memory;
}

static inline void add(counter *counter, uint64_t messages, uint64_t bytes)
{
    if (is_threaded) {
        __atomic_fetch_add(&counter->messages, messages, __ATOMIC_RELAXED);
        __atomic_fetch_add(&counter->bytes, bytes, __ATOMIC_RELAXED);
    } else {
        counter->messages += messages;
        counter->bytes += bytes;
    }
}

static inline void add_to_rank(int class, int world, uint64_t messages, uint64_t bytes)
{
    add(world < 0 ? &elsewhere : &counters[class][world], messages, bytes);
}

/* ---- communicators -------------------------------------------------------------------------------------------- */

/* Cached properties of a communicator, stored as an attribute of it. */
typedef struct {
    int rank, size;
    int is_inter;
    /* Rank in MPI_COMM_WORLD of each possible target, -1 outside; NULL if they are the same. */
    int *world;
    /* Targets of neighbourhood collectives; a number of -1 means not determined yet. */
    int num_targets;
    int *targets;
} group;

/* Changes when a communicator or a type is freed, since cached handles may then be invalid. */
static unsigned generation = 1;

static void forget_handles(void)
{
    __atomic_fetch_add(&generation, 1, __ATOMIC_RELAXED);
}

static int free_group(MPI_Comm comm, int keyval, void *value, void *extra)
{
    group *freed = value;
    (void)comm, (void)keyval, (void)extra;
    forget_handles();
    free(freed->world);
    free(freed->targets);
    free(freed);
    return MPI_SUCCESS;
}

static void start(void)
{
    const char *collectives = getenv("VIEM_TRACE_COLLECTIVES");
    int level;
    MPI_Comm parent;
    counts_collectives = !(collectives && strcmp(collectives, "0") == 0);
    PMPI_Initialized(&has_world);
    if (has_world) {
        PMPI_Query_thread(&level);
        is_threaded = level == MPI_THREAD_MULTIPLE;
        PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
        PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
        PMPI_Comm_group(MPI_COMM_WORLD, &world_group);
        /* Determined now, because a program that disconnects from its parent no longer has one. */
        PMPI_Comm_get_parent(&parent);
        is_spawned = parent != MPI_COMM_NULL;
    } else {
        /* Sessions have no ranks in MPI_COMM_WORLD, and may have any number of threads. */
        is_threaded = 1;
        world_group = MPI_GROUP_EMPTY;
    }
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_group, &group_keyval, NULL);
    for (int class = 0; class < NUM_CLASSES; class++) counters[class] = allocate(world_size, sizeof(counter));
    is_started = 1;
}

static group *make_group(MPI_Comm comm)
{
    group *made = allocate(1, sizeof(group));
    MPI_Group peers;
    int is_identity;
    made->num_targets = -1;
    PMPI_Comm_rank(comm, &made->rank);
    PMPI_Comm_test_inter(comm, &made->is_inter);
    if (made->is_inter) {
        PMPI_Comm_remote_group(comm, &peers);
    } else {
        PMPI_Comm_group(comm, &peers);
    }
    PMPI_Group_size(peers, &made->size);
    int *ranks = allocate(made->size, sizeof(int));
    made->world = allocate(made->size, sizeof(int));
    for (int rank = 0; rank < made->size; rank++) ranks[rank] = rank;
    PMPI_Group_translate_ranks(peers, made->size, ranks, world_group, made->world);
    PMPI_Group_free(&peers);
    is_identity = 1;
    for (int rank = 0; rank < made->size; rank++) {
        if (made->world[rank] == MPI_UNDEFINED) made->world[rank] = -1;
        is_identity &= made->world[rank] == rank;
    }
    free(ranks);
    if (is_identity) {
        free(made->world);
        made->world = NULL;
    }
    PMPI_Comm_set_attr(comm, group_keyval, made);
    return made;
}

/* The last communicator and type used, while `generation` does not change: looking them up in the library
 * would double the overhead of a send. */
static __thread struct {
    MPI_Comm comm;
    group *group;
    MPI_Datatype type;
    int64_t type_size;
    unsigned generation;
} last __attribute__((tls_model("initial-exec")));

static inline int is_last_current(void)
{
    return last.generation == __atomic_load_n(&generation, __ATOMIC_RELAXED);
}

__attribute__((noinline)) static group *look_up_group(MPI_Comm comm)
{
    /* A call with it fails; the MPI library reports the error. */
    static group nobody = {.is_inter = 1};
    int is_known = 0;
    group *found = NULL;
    if (comm == MPI_COMM_NULL) return &nobody;
    if (!is_started) {
        int rank;
        start();
        PMPI_Comm_rank(comm, &rank);
        if (!has_world && rank == 0) fprintf(stderr, "viem_trace: programs without MPI_Init are not recorded\n");
    }
    lock();
    PMPI_Comm_get_attr(comm, group_keyval, &found, &is_known);
    if (!is_known) found = make_group(comm);
    unlock();
    last.comm = comm;
    last.group = found;
    return found;
}

__attribute__((noinline)) static int64_t look_up_size(MPI_Datatype type)
{
    MPI_Count size = 0;
    PMPI_Type_size_x(type, &size);
    last.type = type;
    last.type_size = size;
    return size;
}

static void forget_last(void)
{
    last.group = NULL;
    last.type = MPI_DATATYPE_NULL;
    last.generation = __atomic_load_n(&generation, __ATOMIC_RELAXED);
}

static inline group *group_of(MPI_Comm comm)
{
    if (!is_last_current()) forget_last();
    return last.group && last.comm == comm ? last.group : look_up_group(comm);
}

/* Only for arguments that MPI does not ignore at this rank: the size of an invalid type is a fatal error. */
static inline uint64_t bytes_of(int64_t count, MPI_Datatype type)
{
    if (count == 0 || type == MPI_DATATYPE_NULL) return 0;
    if (!is_last_current()) forget_last();
    return (uint64_t)count * (uint64_t)(last.type == type ? last.type_size : look_up_size(type));
}

/* MPI_PROC_NULL is not a rank, and a program that handles errors itself may pass any number. */
static inline int has_rank(const group *group, int rank)
{
    return rank >= 0 && rank < group->size;
}

static int world_of(const group *group, int rank)
{
    return group->world ? group->world[rank] : rank;
}

/* Finds the targets of neighbourhood collectives, in the order of the send buffer. */
static void find_targets(MPI_Comm comm, group *group)
{
    int topology, count = 0, *targets = NULL;
    PMPI_Topo_test(comm, &topology);
    if (topology == MPI_CART) {
        int dimensions;
        PMPI_Cartdim_get(comm, &dimensions);
        count = 2 * dimensions;
        targets = allocate(count, sizeof(int));
        for (int i = 0; i < dimensions; i++) PMPI_Cart_shift(comm, i, 1, &targets[2 * i], &targets[2 * i + 1]);
    } else if (topology == MPI_GRAPH) {
        PMPI_Graph_neighbors_count(comm, group->rank, &count);
        targets = allocate(count, sizeof(int));
        PMPI_Graph_neighbors(comm, group->rank, count, targets);
    } else if (topology == MPI_DIST_GRAPH) {
        int sources, is_weighted;
        PMPI_Dist_graph_neighbors_count(comm, &sources, &count, &is_weighted);
        int *unused = allocate(2 * sources + count, sizeof(int));
        targets = allocate(count, sizeof(int));
        PMPI_Dist_graph_neighbors(comm, sources, unused, unused + sources, count, targets, unused + 2 * sources);
        free(unused);
    }
    group->targets = targets;
    group->num_targets = count;
}

/* ---- persistent requests -------------------------------------------------------------------------------------- */

typedef struct {
    int class, world;
    uint64_t messages, bytes;
} item;

/* The messages of a persistent request each time it is started. */
typedef struct plan {
    struct plan *next;
    MPI_Request request;
    int num_items, capacity;
    item *items;
} plan;

enum { NUM_BUCKETS = 4096 };
static plan *plans[NUM_BUCKETS];

/* The plan under construction; if set, messages are added to it. */
static __thread plan *open_plan;

static plan **bucket_of(MPI_Request request)
{
    uint64_t key = 0;
    memcpy(&key, &request, sizeof request < sizeof key ? sizeof request : sizeof key);
    return &plans[(key * 0x9e3779b97f4a7c15u) >> 52];
}

/* The slot of the plan of a request, or the one where it would be inserted. */
static plan **find_plan(MPI_Request request)
{
    plan **place = bucket_of(request);
    while (*place && (*place)->request != request) place = &(*place)->next;
    return place;
}

static void forget_plan(MPI_Request request)
{
    lock();
    plan **place = find_plan(request), *found = *place;
    if (found) *place = found->next;
    unlock();
    if (found) free(found->items), free(found);
}

static void begin_plan(void)
{
    open_plan = allocate(1, sizeof(plan));
}

static void end_plan(MPI_Request request)
{
    plan *ended = open_plan;
    open_plan = NULL;
    forget_plan(request);
    ended->request = request;
    lock();
    plan **bucket = bucket_of(request);
    ended->next = *bucket;
    *bucket = ended;
    unlock();
}

static void follow_plan(MPI_Request request)
{
    lock();
    plan *found = *find_plan(request);
    for (int i = 0; found && i < found->num_items; i++) {
        item item = found->items[i];
        add_to_rank(item.class, item.world, item.messages, item.bytes);
    }
    unlock();
}

/* Counts a message to a rank of a communicator, or adds it to the plan. */
static void emit(const group *group, int class, int rank, uint64_t messages, uint64_t bytes)
{
    if (!has_rank(group, rank) || messages == 0) return;
    int world = world_of(group, rank);
    plan *plan = open_plan;
    if (!plan) {
        add_to_rank(class, world, messages, bytes);
        return;
    }
    if (plan->num_items == plan->capacity) {
        plan->capacity = plan->capacity ? 2 * plan->capacity : 1;
        plan->items = realloc(plan->items, plan->capacity * sizeof(item));
        if (!plan->items) abort();
    }
    plan->items[plan->num_items++] = (item){class, world, messages, bytes};
}

/* ---- point-to-point and neighbourhood collectives ------------------------------------------------------------- */

static inline void record_send(int64_t count, MPI_Datatype type, int dest, MPI_Comm comm)
{
    const group *group = group_of(comm);
    if (has_rank(group, dest)) add_to_rank(P2P, world_of(group, dest), 1, bytes_of(count, type));
}

static void record_persistent_send(int64_t count, MPI_Datatype type, int dest, MPI_Comm comm)
{
    emit(group_of(comm), P2P, dest, 1, bytes_of(count, type));
}

/* The group of a communicator with its targets. */
static group *neighbours_of(MPI_Comm comm)
{
    group *group = group_of(comm);
    if (group->num_targets < 0) {
        lock();
        if (group->num_targets < 0) find_targets(comm, group);
        unlock();
    }
    return group;
}

static void record_neighbours(int64_t count, MPI_Datatype type, MPI_Comm comm)
{
    group *group = neighbours_of(comm);
    for (int i = 0; i < group->num_targets; i++) emit(group, NEIGHBOUR, group->targets[i], 1, bytes_of(count, type));
}

/* ---- collectives ---------------------------------------------------------------------------------------------- */

/* The group of a communicator whose collectives are counted, or NULL. */
static group *collective_group(MPI_Comm comm)
{
    if (!counts_collectives) return NULL;
    group *group = group_of(comm);
    if (!group->is_inter) return group;
    __atomic_fetch_add(&uncounted, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void send(const group *group, int rank, uint64_t messages, uint64_t bytes)
{
    emit(group, COLLECTIVE, rank, messages, bytes);
}

/* Unless it is empty. */
static void send_block(const group *group, int rank, uint64_t bytes)
{
    if (rank != group->rank && bytes > 0) send(group, rank, 1, bytes);
}

/* A binomial tree: ranks are relative to the root; the parent of a rank is the rank without its lowest bit. */
static int from_root(const group *group, int root)
{
    return (group->rank - root + group->size) % group->size;
}

static int to_rank(const group *group, int from_root, int root)
{
    return (int)(((int64_t)from_root + root) % group->size);
}

/* Number of ranks in the subtree of a rank other than the root. */
static int subtree(const group *group, int from_root)
{
    int whole = from_root & -from_root, rest = group->size - from_root;
    return whole < rest ? whole : rest;
}

/* Whether a rank has a child at this distance. */
static int has_child(const group *group, int from_root, int64_t distance)
{
    return (from_root == 0 || distance < (from_root & -from_root)) && from_root + distance < group->size;
}

/* Sends `count` elements to each child, times the ranks in its subtree if `per_rank`. */
static void record_down(int64_t count, MPI_Datatype type, int per_rank, int root, MPI_Comm comm)
{
    group *group = collective_group(comm);
    if (!group || !has_rank(group, root)) return;
    int own = from_root(group, root);
    uint64_t bytes = bytes_of(count, type);
    for (int64_t distance = 1; has_child(group, own, distance); distance *= 2) {
        int child = own + (int)distance;
        send(group, to_rank(group, child, root), 1, bytes * (per_rank ? subtree(group, child) : 1));
    }
}

/* Sends `count` elements to the parent, times the ranks in the own subtree if `per_rank`. */
static void record_up(int64_t count, MPI_Datatype type, int per_rank, int root, MPI_Comm comm)
{
    group *group = collective_group(comm);
    int own = group && has_rank(group, root) ? from_root(group, root) : 0;
    if (own == 0) return;
    uint64_t bytes = bytes_of(count, type);
    send(group, to_rank(group, own & (own - 1), root), 1, bytes * (per_rank ? subtree(group, own) : 1));
}

/* Sends to rank + 1, 2, 4, ..., modulo the size if `is_cyclic`. */
static void record_doubling(int64_t count, MPI_Datatype type, int is_cyclic, MPI_Comm comm)
{
    group *group = collective_group(comm);
    if (!group) return;
    uint64_t bytes = bytes_of(count, type);
    for (int64_t distance = 1; distance < group->size; distance *= 2) {
        int64_t target = group->rank + distance;
        if (target < group->size || is_cyclic) send(group, (int)(target % group->size), 1, bytes);
    }
}

static void record_allreduce(int64_t count, MPI_Datatype type, MPI_Comm comm)
{
    group *group = collective_group(comm);
    if (!group) return;
    uint64_t bytes = bytes_of(count, type);
    int64_t power = 1;
    while (2 * power <= group->size) power *= 2;
    int rest = group->size - (int)power, rank = group->rank;
    /* The first 2 * rest ranks form pairs, of which only the even rank takes part. */
    if (rank < 2 * rest) send(group, rank ^ 1, 1, bytes);
    if (rank < 2 * rest && rank % 2 == 1) return;
    int own = rank < 2 * rest ? rank / 2 : rank - rest;
    for (int64_t bit = 1; bit < power; bit *= 2) {
        int partner = own ^ (int)bit;
        send(group, partner < rest ? 2 * partner : partner + rest, 1, bytes);
    }
}

static void record_pairwise(int64_t count, MPI_Datatype type, MPI_Comm comm)
{
    group *group = collective_group(comm);
    for (int rank = 0; group && rank < group->size; rank++) {
        if (rank != group->rank) send(group, rank, 1, bytes_of(count, type));
    }
}

/* Sends all blocks except the neighbour's own to the right neighbour. */
static void record_ring(int64_t count, MPI_Datatype type, MPI_Comm comm)
{
    group *group = collective_group(comm);
    if (!group || group->size == 1) return;
    uint64_t others = (uint64_t)group->size - 1;
    send(group, (group->rank + 1) % group->size, others, others * bytes_of(count, type));
}

/* ---- the file ------------------------------------------------------------------------------------------------- */

static void write_file(void)
{
    const char *prefix = getenv("VIEM_TRACE") ? getenv("VIEM_TRACE") : "viem_trace";
    size_t length = strlen(prefix) + 32;
    char *name = allocate(length, 1), *temporary = allocate(length, 1);
    uint64_t lines = 0;
    snprintf(name, length, "%s.%d", prefix, world_rank);
    snprintf(temporary, length, "%s.%d.tmp", prefix, world_rank);
    FILE *file = fopen(temporary, "w");
    if (file) {
        fprintf(file, "viem_trace 1\nrank %d of %d\n", world_rank, world_size);
        for (int class = 0; class < NUM_CLASSES; class++) {
            for (int rank = 0; rank < world_size; rank++) {
                counter counter = counters[class][rank];
                if (counter.messages == 0) continue;
                fprintf(file, "%s %d %" PRIu64 " %" PRIu64 "\n", class_names[class], rank, counter.messages,
                        counter.bytes);
                lines++;
            }
        }
        if (elsewhere.messages > 0) {
            fprintf(file, "elsewhere %" PRIu64 " %" PRIu64 "\n", elsewhere.messages, elsewhere.bytes);
            lines++;
        }
        if (uncounted > 0) {
            fprintf(file, "uncounted %" PRIu64 "\n", uncounted);
            lines++;
        }
        fprintf(file, "end %" PRIu64 "\n", lines);
    }
    int has_failed = !file || ferror(file);
    if (file && fclose(file) != 0) has_failed = 1;
    if (has_failed || rename(temporary, name) != 0) {
        perror(name);
        fprintf(stderr, "viem_trace: rank %d: %s cannot be written\n", world_rank, name);
    }
    free(name);
    free(temporary);
}

static void finish(void)
{
    if (!is_started) return;
    if (!is_spawned) {
        write_file();
    } else if (world_rank == 0) {
        fprintf(stderr, "viem_trace: processes started by MPI_Comm_spawn are not recorded\n");
    }
}

/* For viem_MPI_Comm_reorder: the bytes that this process has sent so far to the first `length` ranks of MPI_COMM_WORLD. Returns the number of
 * ranks, 0 if nothing is recorded. */
int viem_trace_bytes(uint64_t *bytes, int length)
{
    if (!is_started || !has_world || is_spawned) return 0;
    for (int rank = 0; rank < length && rank < world_size; rank++) {
        bytes[rank] = 0;
        for (int class = 0; class < NUM_CLASSES; class++) bytes[rank] += counters[class][rank].bytes;
    }
    return world_size;
}

/* ---- interposed functions ------------------------------------------------------------------------------------- */

static void *find(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) {
        fprintf(stderr, "viem_trace: this MPI has no %s\n", name);
        abort();
    }
    return function;
}

#define UNPACK(...) __VA_ARGS__
#define DO_NOTHING (void)0

/* Calls the library function, with code before it and, if it succeeds, after it. */
#define WRAP(name, parameters, arguments, before, after) WRAP_EXPANDED(name, parameters, arguments, before, after)
#define WRAP_EXPANDED(name, parameters, arguments, before, after)         \
    int MPI_##name parameters                                             \
    {                                                                     \
        static int(*real) parameters;                                     \
        if (!real) *(void **)&real = find("PMPI_" #name);                 \
        before;                                                           \
        int result = real arguments;                                      \
        if (result == MPI_SUCCESS) {                                      \
            after;                                                        \
        }                                                                 \
        return result;                                                    \
    }                                                                     \
    int PMPI_##name parameters __attribute__((alias("MPI_" #name)));

WRAP(Init, (int *argc, char ***argv), (argc, argv), DO_NOTHING, start())
WRAP(Init_thread, (int *argc, char ***argv, int required, int *provided), (argc, argv, required, provided), DO_NOTHING,
     start())
WRAP(Finalize, (void), (), finish(), DO_NOTHING)

WRAP(Type_free, (MPI_Datatype * type), (type), forget_handles(), DO_NOTHING)

static void follow_plans(int count, const MPI_Request requests[])
{
    for (int i = 0; i < count; i++) follow_plan(requests[i]);
}

WRAP(Start, (MPI_Request * request), (request), follow_plan(*request), DO_NOTHING)
WRAP(Startall, (int count, MPI_Request requests[]), (count, requests), follow_plans(count, requests), DO_NOTHING)
WRAP(Request_free, (MPI_Request * request), (request), forget_plan(*request), DO_NOTHING)

/* All functions with counts, with counts of type int. */
#define FORM(name) name
#define COUNT int
#define DISPLACEMENT int
#include "viem_trace.c"

#ifdef HAS_CALLS_OF_MPI_4
WRAP(Psend_init,
     (const void *buffer, int partitions, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
      MPI_Info info, MPI_Request *request),
     (buffer, partitions, count, type, dest, tag, comm, info, request), DO_NOTHING,
     begin_plan(); record_persistent_send((int64_t)partitions *count, type, dest, comm); end_plan(*request))

#endif

/* The same with counts of type MPI_Count. */
#if MPI_VERSION >= 4
#undef FORM
#undef COUNT
#undef DISPLACEMENT
#define HAS_LARGE_COUNTS
#define FORM(name) name##_c
#define COUNT MPI_Count
#define DISPLACEMENT MPI_Aint
#include "viem_trace.c"
#endif

#else /* ---- functions with counts: this part is included once for each type of count  ---------------------------- */

#define NAME(function) FORM(function)

#define SEND_PARAMETERS const void *buffer, COUNT count, MPI_Datatype type, int dest, int tag, MPI_Comm comm
#define SEND_ARGUMENTS buffer, count, type, dest, tag, comm
#define SEND(name) \
    WRAP(NAME(name), (SEND_PARAMETERS), (SEND_ARGUMENTS), record_send(count, type, dest, comm), DO_NOTHING)
#define ISEND(name)                                                                    \
    WRAP(NAME(name), (SEND_PARAMETERS, MPI_Request * request), (SEND_ARGUMENTS, request), \
         record_send(count, type, dest, comm), DO_NOTHING)
#define SEND_INIT(name)                                                                            \
    WRAP(NAME(name), (SEND_PARAMETERS, MPI_Request * request), (SEND_ARGUMENTS, request), DO_NOTHING, \
         begin_plan(); record_persistent_send(count, type, dest, comm); end_plan(*request))

SEND(Send)
SEND(Bsend)
SEND(Ssend)
SEND(Rsend)
ISEND(Isend)
ISEND(Ibsend)
ISEND(Issend)
ISEND(Irsend)
SEND_INIT(Send_init)
SEND_INIT(Bsend_init)
SEND_INIT(Ssend_init)
SEND_INIT(Rsend_init)

#define SENDRECV_PARAMETERS                                                                                          \
    const void *buffer, COUNT count, MPI_Datatype type, int dest, int tag, void *received, COUNT num_received,      \
        MPI_Datatype type_received, int source, int tag_received, MPI_Comm comm
#define SENDRECV_ARGUMENTS \
    buffer, count, type, dest, tag, received, num_received, type_received, source, tag_received, comm
#define REPLACE_PARAMETERS \
    void *buffer, COUNT count, MPI_Datatype type, int dest, int tag, int source, int tag_received, MPI_Comm comm
#define REPLACE_ARGUMENTS buffer, count, type, dest, tag, source, tag_received, comm

WRAP(NAME(Sendrecv), (SENDRECV_PARAMETERS, MPI_Status *status), (SENDRECV_ARGUMENTS, status),
     record_send(count, type, dest, comm), DO_NOTHING)
WRAP(NAME(Sendrecv_replace), (REPLACE_PARAMETERS, MPI_Status *status), (REPLACE_ARGUMENTS, status),
     record_send(count, type, dest, comm), DO_NOTHING)
#ifdef HAS_CALLS_OF_MPI_4
WRAP(NAME(Isendrecv), (SENDRECV_PARAMETERS, MPI_Request *request), (SENDRECV_ARGUMENTS, request),
     record_send(count, type, dest, comm), DO_NOTHING)
WRAP(NAME(Isendrecv_replace), (REPLACE_PARAMETERS, MPI_Request *request), (REPLACE_ARGUMENTS, request),
     record_send(count, type, dest, comm), DO_NOTHING)
#endif

/* Functions with arrays of counts. */

static void NAME(record_gatherv)(COUNT count, MPI_Datatype type, int root, MPI_Comm comm)
{
    group *group = collective_group(comm);
    if (group && group->rank != root) send_block(group, root, bytes_of(count, type));
}

/* Sends an individual number of elements to each rank, from the root or, if that is -1, from every rank. */
static void NAME(record_blocks)(const COUNT counts[], MPI_Datatype type, int root, MPI_Comm comm)
{
    group *group = collective_group(comm);
    if (!group || (root >= 0 && group->rank != root)) return;
    for (int rank = 0; rank < group->size; rank++) send_block(group, rank, bytes_of(counts[rank], type));
}

static void NAME(record_typed_blocks)(const COUNT counts[], const MPI_Datatype types[], MPI_Comm comm)
{
    group *group = collective_group(comm);
    for (int rank = 0; group && rank < group->size; rank++) {
        send_block(group, rank, bytes_of(counts[rank], types[rank]));
    }
}

static void NAME(record_ring_of_blocks)(const COUNT counts[], MPI_Datatype type, MPI_Comm comm)
{
    group *group = collective_group(comm);
    if (!group || group->size == 1) return;
    uint64_t messages = 0, bytes = 0;
    for (int rank = 0; rank < group->size; rank++) {
        if (rank == (group->rank + 1) % group->size || counts[rank] == 0) continue;
        messages++;
        bytes += bytes_of(counts[rank], type);
    }
    send(group, (group->rank + 1) % group->size, messages, bytes);
}

static void NAME(record_neighbour_blocks)(const COUNT counts[], MPI_Datatype type, MPI_Comm comm)
{
    group *group = neighbours_of(comm);
    for (int i = 0; i < group->num_targets; i++) {
        emit(group, NEIGHBOUR, group->targets[i], 1, bytes_of(counts[i], type));
    }
}

static void NAME(record_typed_neighbour_blocks)(const COUNT counts[], const MPI_Datatype types[], MPI_Comm comm)
{
    group *group = neighbours_of(comm);
    for (int i = 0; i < group->num_targets; i++) {
        emit(group, NEIGHBOUR, group->targets[i], 1, bytes_of(counts[i], types[i]));
    }
}

/* A collective: blocking, nonblocking and, from MPI 4 on, persistent. */
#define NONPERSISTENT(name, nonblocking, parameters, arguments, record)                                              \
    WRAP(NAME(name), (UNPACK parameters), (UNPACK arguments), record, DO_NOTHING)                                   \
    WRAP(NAME(nonblocking), (UNPACK parameters, MPI_Request * request), (UNPACK arguments, request), record, DO_NOTHING)
#ifdef HAS_CALLS_OF_MPI_4
#define COLLECTIVE_CALLS(name, nonblocking, parameters, arguments, record)                          \
    NONPERSISTENT(name, nonblocking, parameters, arguments, record)                                 \
    WRAP(NAME(name##_init), (UNPACK parameters, MPI_Info info, MPI_Request * request),               \
         (UNPACK arguments, info, request), DO_NOTHING, begin_plan(); record; end_plan(*request))
#else
#define COLLECTIVE_CALLS NONPERSISTENT
#endif

#ifndef HAS_LARGE_COUNTS
COLLECTIVE_CALLS(Barrier, Ibarrier, (MPI_Comm comm), (comm), record_doubling(0, MPI_BYTE, 1, comm))
#endif
COLLECTIVE_CALLS(Bcast, Ibcast, (void *buffer, COUNT count, MPI_Datatype type, int root, MPI_Comm comm),
                 (buffer, count, type, root, comm), record_down(count, type, 0, root, comm))

#define REDUCE_PARAMETERS const void *buffer, void *result_buffer, COUNT count, MPI_Datatype type, MPI_Op op
#define REDUCE_ARGUMENTS buffer, result_buffer, count, type, op
COLLECTIVE_CALLS(Reduce, Ireduce, (REDUCE_PARAMETERS, int root, MPI_Comm comm), (REDUCE_ARGUMENTS, root, comm),
                 record_up(count, type, 0, root, comm))
COLLECTIVE_CALLS(Allreduce, Iallreduce, (REDUCE_PARAMETERS, MPI_Comm comm), (REDUCE_ARGUMENTS, comm),
                 record_allreduce(count, type, comm))
COLLECTIVE_CALLS(Scan, Iscan, (REDUCE_PARAMETERS, MPI_Comm comm), (REDUCE_ARGUMENTS, comm),
                 record_doubling(count, type, 0, comm))
COLLECTIVE_CALLS(Exscan, Iexscan, (REDUCE_PARAMETERS, MPI_Comm comm), (REDUCE_ARGUMENTS, comm),
                 record_doubling(count, type, 0, comm))
COLLECTIVE_CALLS(Reduce_scatter_block, Ireduce_scatter_block, (REDUCE_PARAMETERS, MPI_Comm comm),
                 (REDUCE_ARGUMENTS, comm), record_pairwise(count, type, comm))
COLLECTIVE_CALLS(Reduce_scatter, Ireduce_scatter,
                 (const void *buffer, void *result_buffer, const COUNT counts[], MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm),
                 (buffer, result_buffer, counts, type, op, comm), NAME(record_blocks)(counts, type, -1, comm))

#define BLOCK_PARAMETERS \
    const void *sent, COUNT num_sent, MPI_Datatype type_sent, void *received, COUNT count, MPI_Datatype type
#define BLOCK_ARGUMENTS sent, num_sent, type_sent, received, count, type
/* With MPI_IN_PLACE, only the arguments of the other buffer are valid. */
#define IF_IN_PLACE(received_value, sent_value) (sent == MPI_IN_PLACE ? (received_value) : (sent_value))
#define ELEMENTS_SENT IF_IN_PLACE(count, num_sent), IF_IN_PLACE(type, type_sent)
/* Only the root knows the amounts. */
#define IF_ROOT(root_value, other_value) (group_of(comm)->rank == root ? (root_value) : (other_value))
#define ELEMENTS_SCATTERED IF_ROOT(num_sent, count), IF_ROOT(type_sent, type)

/* Only the root may gather in place, and it sends nothing. */
COLLECTIVE_CALLS(Gather, Igather, (BLOCK_PARAMETERS, int root, MPI_Comm comm), (BLOCK_ARGUMENTS, root, comm),
                 record_up(num_sent, type_sent, 1, root, comm))
COLLECTIVE_CALLS(Scatter, Iscatter, (BLOCK_PARAMETERS, int root, MPI_Comm comm), (BLOCK_ARGUMENTS, root, comm),
                 record_down(ELEMENTS_SCATTERED, 1, root, comm))
COLLECTIVE_CALLS(Allgather, Iallgather, (BLOCK_PARAMETERS, MPI_Comm comm), (BLOCK_ARGUMENTS, comm),
                 record_ring(ELEMENTS_SENT, comm))
COLLECTIVE_CALLS(Alltoall, Ialltoall, (BLOCK_PARAMETERS, MPI_Comm comm), (BLOCK_ARGUMENTS, comm),
                 record_pairwise(ELEMENTS_SENT, comm))
COLLECTIVE_CALLS(Neighbor_allgather, Ineighbor_allgather, (BLOCK_PARAMETERS, MPI_Comm comm),
                 (BLOCK_ARGUMENTS, comm), record_neighbours(num_sent, type_sent, comm))
COLLECTIVE_CALLS(Neighbor_alltoall, Ineighbor_alltoall, (BLOCK_PARAMETERS, MPI_Comm comm), (BLOCK_ARGUMENTS, comm),
                 record_neighbours(num_sent, type_sent, comm))

#define GATHERV_PARAMETERS                                                                                   \
    const void *sent, COUNT num_sent, MPI_Datatype type_sent, void *received, const COUNT counts[],         \
        const DISPLACEMENT displacements[], MPI_Datatype type
#define GATHERV_ARGUMENTS sent, num_sent, type_sent, received, counts, displacements, type

COLLECTIVE_CALLS(Gatherv, Igatherv, (GATHERV_PARAMETERS, int root, MPI_Comm comm), (GATHERV_ARGUMENTS, root, comm),
                 NAME(record_gatherv)(num_sent, type_sent, root, comm))
COLLECTIVE_CALLS(Allgatherv, Iallgatherv, (GATHERV_PARAMETERS, MPI_Comm comm), (GATHERV_ARGUMENTS, comm),
                 NAME(record_ring_of_blocks)(counts, type, comm))
COLLECTIVE_CALLS(Neighbor_allgatherv, Ineighbor_allgatherv, (GATHERV_PARAMETERS, MPI_Comm comm),
                 (GATHERV_ARGUMENTS, comm), record_neighbours(num_sent, type_sent, comm))
COLLECTIVE_CALLS(Scatterv, Iscatterv,
                 (const void *sent, const COUNT counts[], const DISPLACEMENT displacements[], MPI_Datatype type_sent,
                  void *received, COUNT count, MPI_Datatype type, int root, MPI_Comm comm),
                 (sent, counts, displacements, type_sent, received, count, type, root, comm),
                 NAME(record_blocks)(counts, type_sent, root, comm))

#define BLOCKS_PARAMETERS(displacement, one_type)                                                           \
    const void *sent, const COUNT counts_sent[], const displacement displacements_sent[], one_type type_sent, \
        void *received, const COUNT counts[], const displacement displacements[], one_type type, MPI_Comm comm
#define BLOCKS_ARGUMENTS \
    sent, counts_sent, displacements_sent, type_sent, received, counts, displacements, type, comm
typedef const MPI_Datatype *NAME(types);

COLLECTIVE_CALLS(Alltoallv, Ialltoallv, (BLOCKS_PARAMETERS(DISPLACEMENT, MPI_Datatype)), (BLOCKS_ARGUMENTS),
                 NAME(record_blocks)(IF_IN_PLACE(counts, counts_sent), IF_IN_PLACE(type, type_sent), -1, comm))
COLLECTIVE_CALLS(Alltoallw, Ialltoallw, (BLOCKS_PARAMETERS(DISPLACEMENT, NAME(types))), (BLOCKS_ARGUMENTS),
                 NAME(record_typed_blocks)(IF_IN_PLACE(counts, counts_sent), IF_IN_PLACE(type, type_sent), comm))
COLLECTIVE_CALLS(Neighbor_alltoallv, Ineighbor_alltoallv, (BLOCKS_PARAMETERS(DISPLACEMENT, MPI_Datatype)),
                 (BLOCKS_ARGUMENTS), NAME(record_neighbour_blocks)(counts_sent, type_sent, comm))
COLLECTIVE_CALLS(Neighbor_alltoallw, Ineighbor_alltoallw, (BLOCKS_PARAMETERS(MPI_Aint, NAME(types))),
                 (BLOCKS_ARGUMENTS), NAME(record_typed_neighbour_blocks)(counts_sent, type_sent, comm))

#endif
