/*
 * viem_trace.c: records the communication between the ranks of an MPI job. MIT licence; copyright: see LICENSE of viem.
 *
 * Build it with the MPI of the job, and load it before the job's libraries:
 *
 *     mpicc -O2 -shared -fPIC -o viem_trace.so viem_trace.c -ldl
 *     mpirun -x LD_PRELOAD=$PWD/viem_trace.so ./app                 (Open MPI)
 *     mpirun -genv LD_PRELOAD $PWD/viem_trace.so ./app              (MPICH, Intel MPI)
 *     viem traffic viem_trace.[0-9]* -o job.graph
 *
 * In MPI_Finalize each rank writes one small file, viem_trace.RANK. A job that ends without MPI_Finalize writes none.
 * Environment variables:
 *
 *     VIEM_TRACE=PREFIX             files are PREFIX.RANK instead of viem_trace.RANK
 *     VIEM_TRACE_COLLECTIVES=0      collectives are not counted
 *     VIEM_TRACE_ORDER=1            the order of messages is recorded, too, in the files PREFIX.order.RANK
 *     VIEM_TRACE_EAGER=BYTES        blocking sends of at least this many bytes, 65536 by default, wait for their receiver
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
 *       Allreduce                             below 10 000 bytes or p elements recursive doubling; if p is not a power
 *                                             of two, odd ranks among the first ones send their part to the
 *                                             preceding rank and receive the result from it. From there on a
 *                                             ring, on which each p-th part is reduced, then gathered: 2 (p - 1)
 *                                             messages of a rank, as Open MPI does
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
 * The order of messages, from which `viem traffic --workload viem_trace.order.* -o job.workload` makes a workload, is what each rank sends and
 * receives one after the other: collectives as above, round by round; nonblocking receives where they are completed; nonblocking
 * collectives where they start. It takes 24 bytes a message and is recorded for the first 2^22 sends and receives of a rank; take a
 * short run. Not in it: receives that are cancelled, and those of matched probes (MPI_Mprobe) or of requests that are freed before they
 * are complete, whose messages are received at the end of the workload.
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
static int records_order;
static uint64_t eager = 65536;
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

/* ---- the order of messages ------------------------------------------------------------------------------------- */

/* A send that does not wait for its receiver, one that does, a receive, the completion of a nonblocking receive, and that of a send
 * that did not wait. */
enum kind { NOTHING, SEND_STEP, SSEND_STEP, RECV_STEP, WAIT_STEP, SENT_STEP };

static const char *const kind_names[] = {"", "send", "ssend", "recv", "wait", "sent"};

typedef struct {
    /* Equal at both ends of a message, and different for other communicators, tags and classes. */
    uint64_t key;
    /* Of sends. */
    uint64_t bytes;
    int world;
    enum kind kind;
} step;

enum { MOST_STEPS = 1 << 22 };
static step *steps;
static uint64_t num_steps, capacity_of_steps;
static int is_cut_off;
static pthread_mutex_t mutex_of_steps = PTHREAD_MUTEX_INITIALIZER;

static void add_step(step added)
{
    if (added.world < 0) return;
    if (is_threaded) pthread_mutex_lock(&mutex_of_steps);
    if (num_steps == MOST_STEPS) {
        is_cut_off = 1;
    } else {
        if (num_steps == capacity_of_steps) {
            capacity_of_steps = capacity_of_steps ? 2 * capacity_of_steps : 256;
            steps = realloc(steps, capacity_of_steps * sizeof(step));
            if (!steps) abort();
        }
        steps[num_steps++] = added;
    }
    if (is_threaded) pthread_mutex_unlock(&mutex_of_steps);
}

/* Mixes a number into a key. */
static uint64_t mixed(uint64_t key, uint64_t number)
{
    key = (key ^ number) * 0x9e3779b97f4a7c15u;
    return key ^ key >> 29;
}

/* ---- communicators -------------------------------------------------------------------------------------------- */

/* Cached properties of a communicator, stored as an attribute of it. */
typedef struct {
    int rank, size;
    int is_inter;
    /* Rank in MPI_COMM_WORLD of each possible target, -1 outside; NULL if they are the same. */
    int *world;
    /* Equal at all members, and different for other groups. */
    uint64_t key;
    /* Targets and sources of neighbourhood collectives; a number of -1 means not determined yet. */
    int num_targets, num_sources;
    int *targets, *sources;
    /* Receives that wait, and whether the communicator is freed. */
    int num_receives, is_freed;
} group;

/* Changes when a communicator or a type is freed, since cached handles may then be invalid. */
static unsigned generation = 1;

static void forget_handles(void)
{
    __atomic_fetch_add(&generation, 1, __ATOMIC_RELAXED);
}

/* Frees a group that neither its communicator nor a receive needs. */
static void release(group *freed)
{
    if (!freed->is_freed || freed->num_receives > 0) return;
    free(freed->world);
    free(freed->targets);
    free(freed->sources);
    free(freed);
}

static int free_group(MPI_Comm comm, int keyval, void *value, void *extra)
{
    group *freed = value;
    (void)comm, (void)keyval, (void)extra;
    forget_handles();
    freed->is_freed = 1;
    release(freed);
    return MPI_SUCCESS;
}

static void start(void)
{
    const char *collectives = getenv("VIEM_TRACE_COLLECTIVES");
    int level;
    MPI_Comm parent;
    const char *order = getenv("VIEM_TRACE_ORDER"), *most = getenv("VIEM_TRACE_EAGER");
    counts_collectives = !(collectives && strcmp(collectives, "0") == 0);
    records_order = order && strcmp(order, "1") == 0;
    if (most) eager = strtoull(most, NULL, 10);
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

/* The ranks of a group in MPI_COMM_WORLD. */
static int *world_ranks(MPI_Group peers, int size)
{
    int *ranks = allocate(size, sizeof(int)), *world = allocate(size, sizeof(int));
    for (int rank = 0; rank < size; rank++) ranks[rank] = rank;
    PMPI_Group_translate_ranks(peers, size, ranks, world_group, world);
    free(ranks);
    return world;
}

static uint64_t key_of_group(MPI_Group peers)
{
    int size;
    uint64_t key = 1;
    if (!records_order) return 0;
    PMPI_Group_size(peers, &size);
    int *world = world_ranks(peers, size);
    for (int rank = 0; rank < size; rank++) key = mixed(key, (uint64_t)world[rank]);
    free(world);
    return key;
}

static group *make_group(MPI_Comm comm)
{
    group *made = allocate(1, sizeof(group));
    MPI_Group peers;
    int is_identity;
    made->num_targets = made->num_sources = -1;
    PMPI_Comm_rank(comm, &made->rank);
    PMPI_Comm_test_inter(comm, &made->is_inter);
    if (made->is_inter) {
        PMPI_Comm_group(comm, &peers);
        made->key = key_of_group(peers);
        PMPI_Group_free(&peers);
        PMPI_Comm_remote_group(comm, &peers);
    } else {
        PMPI_Comm_group(comm, &peers);
    }
    PMPI_Group_size(peers, &made->size);
    made->world = world_ranks(peers, made->size);
    /* A sum, since both sides of an intercommunicator see the other's group first. */
    made->key += key_of_group(peers);
    PMPI_Group_free(&peers);
    is_identity = 1;
    for (int rank = 0; rank < made->size; rank++) {
        if (made->world[rank] == MPI_UNDEFINED) made->world[rank] = -1;
        is_identity &= made->world[rank] == rank;
    }
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

/* Finds the targets and sources of neighbourhood collectives, in the order of the buffers. */
static void find_targets(MPI_Comm comm, group *group)
{
    int topology, count = 0, *targets = NULL, num_sources = -1, *sources = NULL;
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
        int is_weighted;
        PMPI_Dist_graph_neighbors_count(comm, &num_sources, &count, &is_weighted);
        int *unused = allocate(num_sources + count, sizeof(int));
        targets = allocate(count, sizeof(int));
        sources = allocate(num_sources, sizeof(int));
        PMPI_Dist_graph_neighbors(comm, num_sources, sources, unused, count, targets, unused + num_sources);
        free(unused);
    }
    if (num_sources < 0) {
        /* Both directions are the same. */
        num_sources = count;
        sources = allocate(count, sizeof(int));
        if (count) memcpy(sources, targets, (size_t)count * sizeof(int));
    }
    group->sources = sources;
    group->num_sources = num_sources;
    group->targets = targets;
    group->num_targets = count;
}

/* ---- persistent requests -------------------------------------------------------------------------------------- */

/* Something to count, or a step. */
typedef struct {
    int class, world;
    uint64_t messages, bytes;
    uint64_t key;
    enum kind kind;
} item;

/* The messages of a persistent request each time it is started, or of a request that receives. */
typedef struct plan {
    struct plan *next;
    MPI_Request request;
    int num_items, capacity;
    item *items;
    /* The group of a receive, its source and tag, whether it is persistent, and if so whether it is started. */
    group *receives;
    int source, tag, is_persistent, is_active;
    /* Calls that may complete it now, and whether it is in no bucket any more. Another thread may get the handle of a request for a new one
     * before the call that completes the first one has returned. */
    int num_calls, is_forgotten;
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

/* Takes a plan out of its bucket, and frees it once no call needs it. Locked. */
static void forget(plan *gone)
{
    if (!gone->is_forgotten) {
        plan **place = bucket_of(gone->request);
        while (*place != gone) place = &(*place)->next;
        *place = gone->next;
        gone->is_forgotten = 1;
    }
    if (gone->num_calls > 0) return;
    if (gone->receives) {
        gone->receives->num_receives--;
        release(gone->receives);
    }
    free(gone->items);
    free(gone);
}

static void forget_plan(MPI_Request request)
{
    lock();
    plan *found = *find_plan(request);
    if (found) forget(found);
    unlock();
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

static void follow(item item)
{
    if (item.kind == NOTHING) {
        add_to_rank(item.class, item.world, item.messages, item.bytes);
    } else {
        add_step((step){item.key, item.bytes, item.world, item.kind});
    }
}

static void follow_plan(MPI_Request request)
{
    lock();
    plan *found = *find_plan(request);
    for (int i = 0; found && i < found->num_items; i++) follow(found->items[i]);
    if (found) found->is_active = 1;
    unlock();
}

/* Follows an item, or adds it to the plan. */
static void add_item(item item)
{
    plan *plan = open_plan;
    if (!plan) {
        follow(item);
        return;
    }
    if (plan->num_items == plan->capacity) {
        plan->capacity = plan->capacity ? 2 * plan->capacity : 1;
        plan->items = realloc(plan->items, plan->capacity * sizeof(item));
        if (!plan->items) abort();
    }
    plan->items[plan->num_items++] = item;
}

/* Counts messages to a rank of a communicator. */
static void emit(const group *group, int class, int rank, uint64_t messages, uint64_t bytes)
{
    if (!has_rank(group, rank) || messages == 0) return;
    add_item((item){.class = class, .world = world_of(group, rank), .messages = messages, .bytes = bytes});
}

static uint64_t key_of(const group *group, int class, int tag)
{
    return mixed(mixed(group->key, (uint64_t)class), (uint64_t)tag);
}

/* Records what comes next in the order of messages: `rank` is the other end. */
static void next_is(enum kind kind, const group *group, int class, int tag, int rank, uint64_t bytes)
{
    if (!records_order || !has_rank(group, rank)) return;
    add_item((item){.class = class, .world = world_of(group, rank), .bytes = bytes, .key = key_of(group, class, tag), .kind = kind});
}

/* ---- point-to-point and neighbourhood collectives ------------------------------------------------------------- */

/* How a send ends: when its buffer is free, when its receive has begun, or at once. */
enum mode { STANDARD, SYNCHRONOUS, DETACHED };

static void order_send(const group *group, int dest, int tag, uint64_t bytes, enum mode mode)
{
    int waits = mode == SYNCHRONOUS || (mode == STANDARD && bytes >= eager);
    next_is(waits ? SSEND_STEP : SEND_STEP, group, P2P, tag, dest, bytes);
}

/* A send that did not wait has ended. Only large ones need their receiver for that. */
static void order_sent(const group *group, int class, int dest, int tag, uint64_t bytes)
{
    if (bytes >= eager) next_is(SENT_STEP, group, class, tag, dest, 0);
}

static inline void record_send(int64_t count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, enum mode mode)
{
    const group *group = group_of(comm);
    if (!has_rank(group, dest)) return;
    uint64_t bytes = bytes_of(count, type);
    add_to_rank(P2P, world_of(group, dest), 1, bytes);
    if (records_order) order_send(group, dest, tag, bytes, mode);
}

static void record_persistent_send(int64_t count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    const group *group = group_of(comm);
    if (!has_rank(group, dest)) return;
    emit(group, P2P, dest, 1, bytes_of(count, type));
    order_send(group, dest, tag, bytes_of(count, type), DETACHED);
}

/* A message that has been received. The status counts for wildcards only: some MPIs leave it empty for MPI_Isendrecv. */
static void record_receive(enum kind kind, const group *group, int source, int tag, const MPI_Status *status)
{
    int is_cancelled = 0;
    PMPI_Test_cancelled(status, &is_cancelled);
    if (is_cancelled) return;
    if (source == MPI_ANY_SOURCE) source = status->MPI_SOURCE;
    if (tag == MPI_ANY_TAG) tag = status->MPI_TAG;
    next_is(kind, group, P2P, tag, source, 0);
}

static void record_recv(int source, int tag, MPI_Comm comm, const MPI_Status *status)
{
    if (records_order) record_receive(RECV_STEP, group_of(comm), source, tag, status);
}

/* Both ends of MPI_Sendrecv have ended. */
static void record_sendrecv(int64_t count, MPI_Datatype type, int dest, int tag, int source, int tag_received, MPI_Comm comm,
                            const MPI_Status *status)
{
    record_recv(source, tag_received, comm, status);
    if (records_order && has_rank(group_of(comm), dest)) order_sent(group_of(comm), P2P, dest, tag, bytes_of(count, type));
}

/* Remembers a request that receives. */
static void expect(MPI_Request request, int source, int tag, MPI_Comm comm, int is_persistent)
{
    if (!records_order || source == MPI_PROC_NULL) return;
    begin_plan();
    group *group = group_of(comm);
    open_plan->receives = group;
    open_plan->source = source;
    open_plan->tag = tag;
    open_plan->is_persistent = is_persistent;
    open_plan->is_active = !is_persistent;
    lock();
    group->num_receives++;
    unlock();
    end_plan(request);
}

/* ---- completion ------------------------------------------------------------------------------------------------- */

/* The plans and statuses of a call that completes requests; the program may ignore the latter. */
typedef struct {
    int count;
    /* By request; NULL for those that do not receive. */
    plan **plans;
    MPI_Status *statuses;
    int owns_statuses;
} completion;

static completion expect_completion(int count, const MPI_Request requests[], MPI_Status *statuses)
{
    completion made = {0, NULL, statuses, 0};
    if (!records_order || count <= 0) return made;
    made.count = count;
    made.plans = allocate(count, sizeof(plan *));
    made.owns_statuses = statuses == MPI_STATUSES_IGNORE || statuses == MPI_STATUS_IGNORE;
    if (made.owns_statuses) made.statuses = allocate(count, sizeof(MPI_Status));
    lock();
    for (int i = 0; i < count; i++) {
        plan *found = requests[i] == MPI_REQUEST_NULL ? NULL : *find_plan(requests[i]);
        if (!found || !found->receives) continue;
        found->num_calls++;
        made.plans[i] = found;
    }
    unlock();
    return made;
}

/* Request `index` is complete, and its status is the one at `place`. Nothing happens unless it receives and has begun. */
static void complete_one(const completion *done, int index, int place)
{
    plan *ended = done->plans ? done->plans[index] : NULL;
    if (!ended) return;
    lock();
    int is_active = ended->is_active;
    ended->is_active = 0;
    unlock();
    if (!is_active) return;
    record_receive(WAIT_STEP, ended->receives, ended->source, ended->tag, &done->statuses[place]);
    if (ended->is_persistent) return;
    lock();
    forget(ended);
    unlock();
}

static void end_completion(completion *done)
{
    if (!done->plans) return;
    lock();
    for (int i = 0; i < done->count; i++) {
        plan *held = done->plans[i];
        if (!held) continue;
        held->num_calls--;
        if (held->is_forgotten) forget(held);
    }
    unlock();
    free(done->plans);
    if (done->owns_statuses) free(done->statuses);
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

static void send_to_neighbour(const group *group, int index, uint64_t bytes)
{
    emit(group, NEIGHBOUR, group->targets[index], 1, bytes);
    next_is(SEND_STEP, group, NEIGHBOUR, 0, group->targets[index], bytes);
}

static void receive_from_neighbours(const group *group)
{
    for (int i = 0; i < group->num_sources; i++) next_is(WAIT_STEP, group, NEIGHBOUR, 0, group->sources[i], 0);
}

static void record_neighbours(int64_t count, MPI_Datatype type, MPI_Comm comm)
{
    group *group = neighbours_of(comm);
    for (int i = 0; i < group->num_targets; i++) send_to_neighbour(group, i, bytes_of(count, type));
    receive_from_neighbours(group);
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

static void send(const group *group, int rank, uint64_t bytes)
{
    emit(group, COLLECTIVE, rank, 1, bytes);
    next_is(SEND_STEP, group, COLLECTIVE, 0, rank, bytes);
}

static void receive(const group *group, int rank)
{
    next_is(WAIT_STEP, group, COLLECTIVE, 0, rank, 0);
}

/* Unless it is empty. */
static void send_block(const group *group, int rank, uint64_t bytes)
{
    if (rank != group->rank && bytes > 0) send(group, rank, bytes);
}

static void receive_block(const group *group, int rank, uint64_t bytes)
{
    if (rank != group->rank && bytes > 0) receive(group, rank);
}

/* Sends a block and receives one at the same time, unless they are empty. */
static void exchange_blocks(const group *group, int to, uint64_t bytes, int from, uint64_t bytes_received)
{
    send_block(group, to, bytes);
    receive_block(group, from, bytes_received);
    order_sent(group, COLLECTIVE, to, 0, bytes);
}

/* The order of a message that is sent and one that is received at the same time. */
static void order_exchange(const group *group, int to, int from, uint64_t bytes)
{
    next_is(SEND_STEP, group, COLLECTIVE, 0, to, bytes);
    receive(group, from);
    order_sent(group, COLLECTIVE, to, 0, bytes);
}

/* Sends and receives a message at the same time. */
static void exchange(const group *group, int to, int from, uint64_t bytes)
{
    emit(group, COLLECTIVE, to, 1, bytes);
    order_exchange(group, to, from, bytes);
}

/* The rank this many places behind the own one, modulo the size. */
static int ahead(const group *group, int64_t distance)
{
    return (int)((group->rank + distance + group->size) % group->size);
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

/* The distance of the child with the largest subtree, 0 without children. */
static int64_t farthest_child(const group *group, int from_root)
{
    int64_t distance = 1;
    while (has_child(group, from_root, distance)) distance *= 2;
    return distance / 2;
}

static int parent(const group *group, int from_root, int root)
{
    return to_rank(group, from_root & (from_root - 1), root);
}

/* Sends `count` elements to each child, times the ranks in its subtree if `per_rank`, the largest subtree first. */
static void record_down(int64_t count, MPI_Datatype type, int per_rank, int root, MPI_Comm comm)
{
    group *group = collective_group(comm);
    if (!group || !has_rank(group, root)) return;
    int own = from_root(group, root);
    uint64_t bytes = bytes_of(count, type);
    if (own > 0) receive(group, parent(group, own, root));
    for (int64_t distance = farthest_child(group, own); distance > 0; distance /= 2) {
        int child = own + (int)distance;
        send(group, to_rank(group, child, root), bytes * (per_rank ? subtree(group, child) : 1));
    }
}

/* Sends `count` elements to the parent, times the ranks in the own subtree if `per_rank`. */
static void record_up(int64_t count, MPI_Datatype type, int per_rank, int root, MPI_Comm comm)
{
    group *group = collective_group(comm);
    if (!group || !has_rank(group, root)) return;
    int own = from_root(group, root);
    for (int64_t distance = 1; has_child(group, own, distance); distance *= 2) {
        receive(group, to_rank(group, own + (int)distance, root));
    }
    if (own == 0) return;
    send(group, parent(group, own, root), bytes_of(count, type) * (per_rank ? subtree(group, own) : 1));
}

/* Sends to rank + 1, 2, 4, ..., modulo the size if `is_cyclic`. */
static void record_doubling(int64_t count, MPI_Datatype type, int is_cyclic, MPI_Comm comm)
{
    group *group = collective_group(comm);
    if (!group) return;
    uint64_t bytes = bytes_of(count, type);
    for (int64_t distance = 1; distance < group->size; distance *= 2) {
        if (group->rank + distance < group->size || is_cyclic) send(group, ahead(group, distance), bytes);
        if (group->rank >= distance || is_cyclic) receive(group, ahead(group, -distance));
    }
}

/* The number of elements of the part this many places behind that of the own rank. */
static int64_t part_ahead(const group *group, int64_t distance, int64_t count)
{
    return count / group->size + (ahead(group, distance) < count % group->size);
}

/* In each round a rank passes on the part that it received in the last one: all parts but the next one until they are reduced, and all but
 * the one after that until they are gathered. Rounds are gone through only where their order is recorded. */
static void record_ring_of_parts(const group *group, int64_t count, MPI_Datatype type)
{
    int others = group->size - 1, right = ahead(group, 1), left = ahead(group, -1);
    int64_t passed = 2 * count - part_ahead(group, 1, count) - part_ahead(group, 2, count);
    emit(group, COLLECTIVE, right, 2 * (uint64_t)others, bytes_of(passed, type));
    for (int round = 0; records_order && round < 2 * others; round++) {
        int64_t part = part_ahead(group, round / others - round % others, count);
        order_exchange(group, right, left, bytes_of(part, type));
    }
}

enum { LARGE_ALLREDUCE = 10000 };

static void record_allreduce(int64_t count, MPI_Datatype type, MPI_Comm comm)
{
    group *group = collective_group(comm);
    if (!group) return;
    uint64_t bytes = bytes_of(count, type);
    if (bytes >= LARGE_ALLREDUCE && count >= group->size) {
        record_ring_of_parts(group, count, type);
        return;
    }
    int64_t power = 1;
    while (2 * power <= group->size) power *= 2;
    int rest = group->size - (int)power, rank = group->rank;
    /* The first 2 * rest ranks form pairs, of which only the even rank takes part. */
    int is_paired = rank < 2 * rest;
    if (is_paired && rank % 2 == 1) {
        send(group, rank ^ 1, bytes);
        receive(group, rank ^ 1);
        return;
    }
    if (is_paired) receive(group, rank ^ 1);
    int own = is_paired ? rank / 2 : rank - rest;
    for (int64_t bit = 1; bit < power; bit *= 2) {
        int partner = own ^ (int)bit;
        partner = partner < rest ? 2 * partner : partner + rest;
        exchange(group, partner, partner, bytes);
    }
    if (is_paired) send(group, rank ^ 1, bytes);
}

static void record_pairwise(int64_t count, MPI_Datatype type, MPI_Comm comm)
{
    group *group = collective_group(comm);
    for (int round = 1; group && round < group->size; round++) {
        exchange(group, ahead(group, round), ahead(group, -round), bytes_of(count, type));
    }
}

/* Sends all blocks except the neighbour's own to the right neighbour. */
static void record_ring(int64_t count, MPI_Datatype type, MPI_Comm comm)
{
    group *group = collective_group(comm);
    if (!group || group->size == 1) return;
    uint64_t others = (uint64_t)group->size - 1, bytes = bytes_of(count, type);
    int right = ahead(group, 1), left = ahead(group, -1);
    emit(group, COLLECTIVE, right, others, others * bytes);
    for (uint64_t round = 0; records_order && round < others; round++) order_exchange(group, right, left, bytes);
}

/* ---- the file ------------------------------------------------------------------------------------------------- */

static void write_counters(FILE *file)
{
    uint64_t lines = 0;
    fprintf(file, "viem_trace 1\nrank %d of %d\n", world_rank, world_size);
    for (int class = 0; class < NUM_CLASSES; class++) {
        for (int rank = 0; rank < world_size; rank++) {
            counter counter = counters[class][rank];
            if (counter.messages == 0) continue;
            fprintf(file, "%s %d %" PRIu64 " %" PRIu64 "\n", class_names[class], rank, counter.messages, counter.bytes);
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

static void write_steps(FILE *file)
{
    fprintf(file, "viem_order 1\nrank %d of %d\n", world_rank, world_size);
    for (uint64_t i = 0; i < num_steps; i++) {
        step step = steps[i];
        fprintf(file, "%s %d %" PRIu64, kind_names[step.kind], step.world, step.key);
        if (step.kind == SEND_STEP || step.kind == SSEND_STEP) fprintf(file, " %" PRIu64, step.bytes);
        fputc('\n', file);
    }
    fprintf(file, "%s %" PRIu64 "\n", is_cut_off ? "cut" : "end", num_steps);
}

/* Writes a file whole or not at all. */
static void write_file(const char *infix, void (*write)(FILE *))
{
    const char *prefix = getenv("VIEM_TRACE") ? getenv("VIEM_TRACE") : "viem_trace";
    size_t length = strlen(prefix) + strlen(infix) + 32;
    char *name = allocate(length, 1), *temporary = allocate(length, 1);
    snprintf(name, length, "%s%s.%d", prefix, infix, world_rank);
    snprintf(temporary, length, "%s%s.%d.tmp", prefix, infix, world_rank);
    FILE *file = fopen(temporary, "w");
    if (file) write(file);
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
        write_file("", write_counters);
        if (records_order) write_file(".order", write_steps);
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

/* Calls the library function, with code before it and, if it succeeds, after it; and what follows in any case. */
#define WRAP(name, parameters, arguments, before, after) WRAP_EXPANDED(name, parameters, arguments, before, after, DO_NOTHING)
#define WRAP_EXPANDED(name, parameters, arguments, before, after, always) \
    int MPI_##name parameters                                             \
    {                                                                     \
        static int(*real) parameters;                                     \
        if (!real) *(void **)&real = find("PMPI_" #name);                 \
        before;                                                           \
        int result = real arguments;                                      \
        if (result == MPI_SUCCESS) {                                      \
            after;                                                        \
        }                                                                 \
        always;                                                           \
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

/* A status of our own if the program ignores it. */
#define NEED_STATUS    \
    MPI_Status own;    \
    if (records_order && status == MPI_STATUS_IGNORE) status = &own

/* Calls that complete requests: `record` says which, given `done`. */
#define COMPLETE(name, parameters, arguments, count, requests, status_of_each, record)                                    \
    WRAP_EXPANDED(name, parameters, arguments, completion done = expect_completion(count, requests, status_of_each);      \
                  status_of_each = done.statuses, record, end_completion(&done))

#define COMPLETE_ALL for (int i = 0; i < count; i++) complete_one(&done, i, i)
#define COMPLETE_SOME for (int i = 0; *completed != MPI_UNDEFINED && i < *completed; i++) complete_one(&done, indices[i], i)

COMPLETE(Wait, (MPI_Request * request, MPI_Status *status), (request, status), 1, request, status, complete_one(&done, 0, 0))
COMPLETE(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]), (count, requests, statuses), count, requests, statuses,
         COMPLETE_ALL)
COMPLETE(Waitany, (int count, MPI_Request requests[], int *index, MPI_Status *status), (count, requests, index, status), count,
         requests, status, if (*index != MPI_UNDEFINED) complete_one(&done, *index, 0))
COMPLETE(Waitsome, (int count, MPI_Request requests[], int *completed, int indices[], MPI_Status statuses[]),
         (count, requests, completed, indices, statuses), count, requests, statuses, COMPLETE_SOME)
COMPLETE(Test, (MPI_Request * request, int *flag, MPI_Status *status), (request, flag, status), 1, request, status,
         if (*flag) complete_one(&done, 0, 0))
COMPLETE(Testall, (int count, MPI_Request requests[], int *flag, MPI_Status statuses[]), (count, requests, flag, statuses), count,
         requests, statuses, if (*flag) COMPLETE_ALL)
COMPLETE(Testany, (int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status),
         (count, requests, index, flag, status), count, requests, status,
         if (*flag && *index != MPI_UNDEFINED) complete_one(&done, *index, 0))
COMPLETE(Testsome, (int count, MPI_Request requests[], int *completed, int indices[], MPI_Status statuses[]),
         (count, requests, completed, indices, statuses), count, requests, statuses, COMPLETE_SOME)

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
     begin_plan(); record_persistent_send((int64_t)partitions *count, type, dest, tag, comm); end_plan(*request))
WRAP(Precv_init,
     (void *buffer, int partitions, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Info info,
      MPI_Request *request),
     (buffer, partitions, count, type, source, tag, comm, info, request), DO_NOTHING, expect(*request, source, tag, comm, 1))

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
#define SEND(name, mode) \
    WRAP(NAME(name), (SEND_PARAMETERS), (SEND_ARGUMENTS), record_send(count, type, dest, tag, comm, mode), DO_NOTHING)
#define ISEND(name)                                                                    \
    WRAP(NAME(name), (SEND_PARAMETERS, MPI_Request * request), (SEND_ARGUMENTS, request), \
         record_send(count, type, dest, tag, comm, DETACHED), DO_NOTHING)
#define SEND_INIT(name)                                                                            \
    WRAP(NAME(name), (SEND_PARAMETERS, MPI_Request * request), (SEND_ARGUMENTS, request), DO_NOTHING, \
         begin_plan(); record_persistent_send(count, type, dest, tag, comm); end_plan(*request))

SEND(Send, STANDARD)
SEND(Bsend, DETACHED)
SEND(Ssend, SYNCHRONOUS)
SEND(Rsend, STANDARD)
ISEND(Isend)
ISEND(Ibsend)
ISEND(Issend)
ISEND(Irsend)
SEND_INIT(Send_init)
SEND_INIT(Bsend_init)
SEND_INIT(Ssend_init)
SEND_INIT(Rsend_init)

#define RECV_PARAMETERS void *buffer, COUNT count, MPI_Datatype type, int source, int tag, MPI_Comm comm
#define RECV_ARGUMENTS buffer, count, type, source, tag, comm

WRAP(NAME(Recv), (RECV_PARAMETERS, MPI_Status *status), (RECV_ARGUMENTS, status), NEED_STATUS, record_recv(source, tag, comm, status))
WRAP(NAME(Irecv), (RECV_PARAMETERS, MPI_Request *request), (RECV_ARGUMENTS, request), DO_NOTHING, expect(*request, source, tag, comm, 0))
WRAP(NAME(Recv_init), (RECV_PARAMETERS, MPI_Request *request), (RECV_ARGUMENTS, request), DO_NOTHING,
     expect(*request, source, tag, comm, 1))

#define SENDRECV_PARAMETERS                                                                                          \
    const void *buffer, COUNT count, MPI_Datatype type, int dest, int tag, void *received, COUNT num_received,      \
        MPI_Datatype type_received, int source, int tag_received, MPI_Comm comm
#define SENDRECV_ARGUMENTS \
    buffer, count, type, dest, tag, received, num_received, type_received, source, tag_received, comm
#define REPLACE_PARAMETERS \
    void *buffer, COUNT count, MPI_Datatype type, int dest, int tag, int source, int tag_received, MPI_Comm comm
#define REPLACE_ARGUMENTS buffer, count, type, dest, tag, source, tag_received, comm

WRAP(NAME(Sendrecv), (SENDRECV_PARAMETERS, MPI_Status *status), (SENDRECV_ARGUMENTS, status),
     NEED_STATUS; record_send(count, type, dest, tag, comm, DETACHED), record_sendrecv(count, type, dest, tag, source, tag_received, comm, status))
WRAP(NAME(Sendrecv_replace), (REPLACE_PARAMETERS, MPI_Status *status), (REPLACE_ARGUMENTS, status),
     NEED_STATUS; record_send(count, type, dest, tag, comm, DETACHED), record_sendrecv(count, type, dest, tag, source, tag_received, comm, status))
#ifdef HAS_CALLS_OF_MPI_4
WRAP(NAME(Isendrecv), (SENDRECV_PARAMETERS, MPI_Request *request), (SENDRECV_ARGUMENTS, request),
     record_send(count, type, dest, tag, comm, DETACHED), expect(*request, source, tag_received, comm, 0))
WRAP(NAME(Isendrecv_replace), (REPLACE_PARAMETERS, MPI_Request *request), (REPLACE_ARGUMENTS, request),
     record_send(count, type, dest, tag, comm, DETACHED), expect(*request, source, tag_received, comm, 0))
#endif

/* Functions with arrays of counts. */

/* Every rank sends its block to the root, which alone knows all of `counts`. */
static void NAME(record_gatherv)(COUNT count, MPI_Datatype type, const COUNT counts[], MPI_Datatype type_received, int root, MPI_Comm comm)
{
    group *group = collective_group(comm);
    if (!group || !has_rank(group, root)) return;
    if (group->rank != root) {
        send_block(group, root, bytes_of(count, type));
        return;
    }
    for (int rank = 0; rank < group->size; rank++) {
        if (rank != root) receive_block(group, rank, bytes_of(counts[rank], type_received));
    }
}

/* The root sends an individual number of elements to each rank. */
static void NAME(record_scatterv)(const COUNT counts[], MPI_Datatype type_sent, COUNT count, MPI_Datatype type, int root, MPI_Comm comm)
{
    group *group = collective_group(comm);
    if (!group || !has_rank(group, root)) return;
    if (group->rank != root) {
        receive_block(group, root, bytes_of(count, type));
        return;
    }
    for (int rank = 0; rank < group->size; rank++) send_block(group, rank, bytes_of(counts[rank], type_sent));
}

/* Pairwise exchange: each rank sends `counts[rank]` elements to each other one, and receives `counts[own]`. */
static void NAME(record_reduce_scatter)(const COUNT counts[], MPI_Datatype type, MPI_Comm comm)
{
    group *group = collective_group(comm);
    for (int round = 1; group && round < group->size; round++) {
        int to = ahead(group, round);
        exchange_blocks(group, to, bytes_of(counts[to], type), ahead(group, -round), bytes_of(counts[group->rank], type));
    }
}

/* Pairwise exchange with individual numbers of elements. The types of all are the same if `is_same`, or one for each rank. */
static void NAME(record_blocks)(const COUNT counts_sent[], const MPI_Datatype types_sent[], const COUNT counts[], const MPI_Datatype types[],
                                int is_same, MPI_Comm comm)
{
    group *group = collective_group(comm);
    for (int round = 1; group && round < group->size; round++) {
        int to = ahead(group, round), from = ahead(group, -round);
        uint64_t bytes = bytes_of(counts_sent[to], types_sent[is_same ? 0 : to]);
        exchange_blocks(group, to, bytes, from, bytes_of(counts[from], types[is_same ? 0 : from]));
    }
}

/* A block travels around the ring; in each round a rank passes on what it received in the last one. */
static void NAME(record_ring_of_blocks)(const COUNT counts[], MPI_Datatype type, MPI_Comm comm)
{
    group *group = collective_group(comm);
    for (int round = 0; group && round + 1 < group->size; round++) {
        uint64_t bytes = bytes_of(counts[ahead(group, -round)], type);
        exchange_blocks(group, ahead(group, 1), bytes, ahead(group, -1), bytes_of(counts[ahead(group, -round - 1)], type));
    }
}

/* The types of all targets are the same if `is_same`, or one for each. */
static void NAME(record_neighbour_blocks)(const COUNT counts[], const MPI_Datatype types[], int is_same, MPI_Comm comm)
{
    group *group = neighbours_of(comm);
    for (int i = 0; i < group->num_targets; i++) {
        send_to_neighbour(group, i, bytes_of(counts[i], types[is_same ? 0 : i]));
    }
    receive_from_neighbours(group);
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
                 (buffer, result_buffer, counts, type, op, comm), NAME(record_reduce_scatter)(counts, type, comm))

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
                 NAME(record_gatherv)(num_sent, type_sent, counts, type, root, comm))
COLLECTIVE_CALLS(Allgatherv, Iallgatherv, (GATHERV_PARAMETERS, MPI_Comm comm), (GATHERV_ARGUMENTS, comm),
                 NAME(record_ring_of_blocks)(counts, type, comm))
COLLECTIVE_CALLS(Neighbor_allgatherv, Ineighbor_allgatherv, (GATHERV_PARAMETERS, MPI_Comm comm),
                 (GATHERV_ARGUMENTS, comm), record_neighbours(num_sent, type_sent, comm))
COLLECTIVE_CALLS(Scatterv, Iscatterv,
                 (const void *sent, const COUNT counts[], const DISPLACEMENT displacements[], MPI_Datatype type_sent,
                  void *received, COUNT count, MPI_Datatype type, int root, MPI_Comm comm),
                 (sent, counts, displacements, type_sent, received, count, type, root, comm),
                 NAME(record_scatterv)(counts, type_sent, count, type, root, comm))

#define BLOCKS_PARAMETERS(displacement, one_type)                                                           \
    const void *sent, const COUNT counts_sent[], const displacement displacements_sent[], one_type type_sent, \
        void *received, const COUNT counts[], const displacement displacements[], one_type type, MPI_Comm comm
#define BLOCKS_ARGUMENTS \
    sent, counts_sent, displacements_sent, type_sent, received, counts, displacements, type, comm
typedef const MPI_Datatype *NAME(types);

COLLECTIVE_CALLS(Alltoallv, Ialltoallv, (BLOCKS_PARAMETERS(DISPLACEMENT, MPI_Datatype)), (BLOCKS_ARGUMENTS),
                 NAME(record_blocks)(IF_IN_PLACE(counts, counts_sent), IF_IN_PLACE(&type, &type_sent), counts, &type, 1, comm))
COLLECTIVE_CALLS(Alltoallw, Ialltoallw, (BLOCKS_PARAMETERS(DISPLACEMENT, NAME(types))), (BLOCKS_ARGUMENTS),
                 NAME(record_blocks)(IF_IN_PLACE(counts, counts_sent), IF_IN_PLACE(type, type_sent), counts, type, 0, comm))
COLLECTIVE_CALLS(Neighbor_alltoallv, Ineighbor_alltoallv, (BLOCKS_PARAMETERS(DISPLACEMENT, MPI_Datatype)),
                 (BLOCKS_ARGUMENTS), NAME(record_neighbour_blocks)(counts_sent, &type_sent, 1, comm))
COLLECTIVE_CALLS(Neighbor_alltoallw, Ineighbor_alltoallw, (BLOCKS_PARAMETERS(MPI_Aint, NAME(types))),
                 (BLOCKS_ARGUMENTS), NAME(record_neighbour_blocks)(counts_sent, type_sent, 0, comm))

#endif
