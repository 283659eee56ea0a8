/* How the processes of a communicator decide together.
 *
 * Every step is collective, and no process leaves before all know that it ends: a fault of one is gathered like a result. */
#include "reorder.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

__thread int viem_reorder_depth;

/* ---- agreement -------------------------------------------------------------------------------------------------- */

static int all_succeed(MPI_Comm comm, int is_success)
{
    int all = 0;
    return PMPI_Allreduce(&is_success, &all, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS && all;
}

static const char *message_of(fault fault)
{
    switch (fault) {
    case FAULT_NO_MEMORY: return "not enough memory";
    case FAULT_TOO_MANY_EDGES: return "the graph has more than 2^31 - 1 edges";
    case FAULT_NO_PES: return "VIEM_MACHINE has no PEs for processes outside of MPI_COMM_WORLD";
    case FAULT_NOT_RECORDED: return "nothing has been recorded; is viem_trace.so loaded?";
    /* MPI itself reports wrong arguments, and readers the faults of files. */
    default: return "";
    }
}

static int is_verbose(void)
{
    const char *text = getenv("VIEM_REORDER_VERBOSE");
    return text && *text && strcmp(text, "0") != 0;
}

void say_why(const char *name, int size, const char *why)
{
    fprintf(stderr, "viem_reorder: %s of %d ranks: ranks stay: %s\n", name, size, why);
}

/* Rank 0 says why ranks stay if something has failed, and the rest if that is asked for. */
static void report(const session *session, const char *name)
{
    const decision *decision = &session->decision;
    if (session->rank != 0 || !decision->message[0]) return;
    if (decision->is_fault) {
        say_why(name, session->size, decision->message);
    } else if (is_verbose()) {
        fprintf(stderr, "viem_reorder: %s of %d ranks: %s\n", name, session->size, decision->message);
    }
}

static void fail(session *session, fault fault)
{
    session->decision.is_fault = 1;
    snprintf(session->decision.message, MESSAGE_SIZE, "%s", message_of(fault));
}

/* ---- gathering at rank 0 ---------------------------------------------------------------------------------------- */

/* The data that rank 0 gathers. */
typedef struct {
    int *counts, *first;
    edges edges;
    site *sites;
    int *world_ranks, *positions, *new_rank;
    int64_t *answers; /* NUM_ANSWERS for each rank */
} gathered;

static void free_gathered(gathered *all)
{
    free(all->counts);
    free(all->first);
    free_edges(&all->edges);
    free(all->sites);
    free(all->world_ranks);
    free(all->positions);
    free(all->new_rank);
    free(all->answers);
}

/* The decision for each rank. A new rank of -1 means that ranks stay. */
enum { NEW_RANK, HEIR, COST_BEFORE, COST_AFTER, NUM_ANSWERS };

/* The requests of rank 0. */
enum { ORDER_STOP = 0, ORDER_GO = 1, ORDER_SITES = 2, ORDER_EDGES = 4 };

static int is_off(void)
{
    const char *text = getenv("VIEM_REORDER");
    return text && strcmp(text, "0") == 0;
}

static const char *specified_machine(void)
{
    const char *spec = getenv("VIEM_MACHINE");
    return spec && *spec ? spec : NULL;
}

/* Makes room for everything at rank 0, and looks at the counts, negative ones of which are faults. */
static fault prepare(const session *session, gathered *all)
{
    size_t size = (size_t)session->size;
    int64_t total = 0;
    fault worst = FAULT_NONE;
    for (int rank = 0; rank < session->size; rank++) {
        int count = all->counts[rank];
        if (count < 0 && (fault)-count > worst) worst = (fault)-count;
        all->first[rank] = (int)total;
        total += count > 0 ? count : 0;
        if (total > INT_MAX) worst = worst ? worst : FAULT_TOO_MANY_EDGES;
        if (total > INT_MAX) break;
    }
    if (worst) return worst;
    all->edges.num = total;
    all->world_ranks = malloc(size * sizeof(int));
    all->positions = malloc(size * sizeof(int));
    all->new_rank = malloc(size * sizeof(int));
    all->answers = malloc(NUM_ANSWERS * size * sizeof(int64_t));
    if (!specified_machine()) all->sites = malloc(size * sizeof(site));
    int64_t capacity = total > all->counts[0] ? total + 1 : 0;
    int has_memory = all->world_ranks && all->positions && all->new_rank && all->answers && (all->sites || specified_machine());
    return has_memory ? reserve(&all->edges, capacity) : FAULT_NO_MEMORY;
}

/* Rank 0 learns whether all can take part, and informs them. */
static int open_gathering(session *session, gathered *all, int count)
{
    int order = ORDER_STOP, is_first = session->rank == 0;
    if (is_first) {
        all->counts = malloc((size_t)session->size * sizeof(int));
        all->first = malloc((size_t)session->size * sizeof(int));
    }
    /* Without these two arrays rank 0 cannot even hear the others. */
    int has_arrays = !is_first || (all->counts && all->first);
    if (!all_succeed(session->ours, has_arrays)) return ORDER_STOP;
    PMPI_Gather(&count, 1, MPI_INT, all->counts, 1, MPI_INT, 0, session->ours);
    if (is_first && !is_off()) {
        fault fault = prepare(session, all);
        if (fault) fail(session, fault);
        if (!fault) order = ORDER_GO | (specified_machine() ? 0 : ORDER_SITES) | (all->edges.num > count ? ORDER_EDGES : 0);
    }
    PMPI_Bcast(&order, 1, MPI_INT, 0, session->ours);
    return order;
}

static int gather_edges(const session *session, gathered *all, const edges *part)
{
    int is_success = 1;
    const int64_t *sent[] = {part->from, part->to, part->weights};
    int64_t *received[] = {all->edges.from, all->edges.to, all->edges.weights};
    for (int i = 0; i < 3; i++) {
        is_success &= PMPI_Gatherv((void *)sent[i], (int)part->num, MPI_INT64_T, received[i], all->counts, all->first,
                                   MPI_INT64_T, 0, session->ours) == MPI_SUCCESS;
    }
    return is_success;
}

/* A graph that rank 0 has is not gathered. */
static int gather(const session *session, gathered *all, int order, edges *part)
{
    int is_success = 1;
    if (order & ORDER_EDGES) {
        is_success = gather_edges(session, all, part);
    } else if (session->rank == 0) {
        free_edges(&all->edges);
        all->edges = *part;
        *part = (__typeof__(*part)){0};
    }
    if (order & ORDER_SITES) {
        site mine;
        int num = (int)(sizeof mine / sizeof(int64_t));
        find_site(&mine);
        is_success &= PMPI_Gather(&mine, num, MPI_INT64_T, all->sites, num, MPI_INT64_T, 0, session->ours) == MPI_SUCCESS;
    }
    return is_success;
}

/* ---- the decision of rank 0 ------------------------------------------------------------------------------------- */

void ranks_in_world(MPI_Comm comm, int size, int positions[], int world_ranks[])
{
    MPI_Group group, world;
    for (int rank = 0; rank < size; rank++) positions[rank] = rank;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_translate_ranks(group, size, positions, world, world_ranks);
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
}

/* The machine that VIEM_MACHINE specifies: rank r of MPI_COMM_WORLD is on PE r. */
static fault specify(const session *session, gathered *all, const char *spec, const char *distances, machine *machine)
{
    ranks_in_world(session->ours, session->size, all->positions, all->world_ranks);
    for (int rank = 0; rank < session->size; rank++) {
        if (all->world_ranks[rank] == MPI_UNDEFINED) return FAULT_NO_PES;
    }
    return machine_of_spec(spec, distances, all->world_ranks, session->size, machine);
}

/* Prints once how ranks are bound, as far as it is known, at rank 0 of the job. */
static void report_binding(const session *session, const site sites[])
{
    static int is_said;
    char text[MESSAGE_SIZE];
    int world_rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    if (!is_verbose() || is_said || world_rank != 0) return;
    is_said = 1;
    describe_binding(sites, session->size, text, sizeof text);
    if (text[0]) fprintf(stderr, "viem_reorder: %s\n", text);
}

static void decide(session *session, int num_vertices, gathered *all)
{
    machine machine = {0, NULL, NULL, NULL, 0};
    options options = read_options(session->size);
    const char *spec = specified_machine(), *distances = getenv("VIEM_DISTANCES");
    fault fault;
    if (spec) {
        fault = specify(session, all, spec, distances, &machine);
    } else {
        report_binding(session, all->sites);
        fault = machine_of_sites(all->sites, session->size, distances, &machine);
    }
    if (fault) {
        fail(session, fault);
    } else {
        map_vertices(num_vertices, &all->edges, &machine, &options, all->new_rank, &session->decision);
    }
    free_machine(&machine);
}

static void answer(const session *session, gathered *all)
{
    const decision *decision = &session->decision;
    for (int rank = 0; rank < session->size; rank++) {
        int64_t *answers = all->answers + NUM_ANSWERS * rank;
        answers[NEW_RANK] = decision->moves ? all->new_rank[rank] : -1;
        answers[COST_BEFORE] = decision->cost_before;
        answers[COST_AFTER] = decision->cost_after;
        answers[HEIR] = rank;
    }
    for (int rank = 0; decision->moves && rank < session->size; rank++) {
        all->answers[NUM_ANSWERS * all->new_rank[rank] + HEIR] = rank;
    }
}

/* Waits for what rank 0 decides, without taking its processor from it where ranks share some. */
static int receive(const session *session, const gathered *all, int64_t answers[NUM_ANSWERS])
{
    MPI_Request request;
    struct timespec pause = {0, 50000};
    int is_done = 0;
    int result = PMPI_Iscatter(all->answers, NUM_ANSWERS, MPI_INT64_T, answers, NUM_ANSWERS, MPI_INT64_T, 0, session->ours,
                               &request);
    while (result == MPI_SUCCESS && !is_done) {
        result = PMPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
        if (!is_done) nanosleep(&pause, NULL);
    }
    return result == MPI_SUCCESS;
}

/* All learn what rank 0 has decided; whether ranks move. */
static int learn(session *session, const gathered *all, int is_success)
{
    int64_t answers[NUM_ANSWERS] = {-1, 0, 0, 0};
    is_success &= receive(session, all, answers);
    session->new_rank = (int)answers[NEW_RANK];
    session->heir = (int)answers[HEIR];
    session->decision.cost_before = answers[COST_BEFORE];
    session->decision.cost_after = answers[COST_AFTER];
    return all_succeed(session->ours, is_success && session->new_rank >= 0);
}

/* ---- begin and end ---------------------------------------------------------------------------------------------- */

static void close_session(session *session)
{
    if (session->reordered != MPI_COMM_NULL && session->reordered != session->ours) PMPI_Comm_free(&session->reordered);
    if (session->ours != MPI_COMM_NULL) PMPI_Comm_free(&session->ours);
    viem_reorder_depth--;
}

/* A copy of the communicator of the program without its attributes. It returns errors. */
static int open_session(session *session, MPI_Comm comm)
{
    *session = (__typeof__(*session)){.comm = comm, .ours = MPI_COMM_NULL, .reordered = MPI_COMM_NULL, .new_rank = -1};
    viem_reorder_depth++;
    PMPI_Comm_rank(comm, &session->rank);
    PMPI_Comm_size(comm, &session->size);
    if (PMPI_Comm_split(comm, 0, session->rank, &session->ours) != MPI_SUCCESS) return 0;
    PMPI_Comm_set_errhandler(session->ours, MPI_ERRORS_RETURN);
    return 1;
}

/* Ranks that stay are those of the copy. The topology is made there too: versions of Open MPI 4 and 5 may hang in
 * MPI_Dist_graph_create on a communicator of which others have been made before (open-mpi/ompi issue 13918). */
static void keep_ranks(session *session)
{
    session->reordered = session->ours;
    session->new_rank = session->heir = session->rank;
}

static void split(session *session)
{
    int result = PMPI_Comm_split(session->ours, 0, session->new_rank, &session->reordered);
    if (result != MPI_SUCCESS) session->reordered = MPI_COMM_NULL;
    if (result == MPI_SUCCESS) PMPI_Comm_set_errhandler(session->reordered, MPI_ERRORS_RETURN);
    if (all_succeed(session->ours, result == MPI_SUCCESS)) return;
    if (result == MPI_SUCCESS) PMPI_Comm_free(&session->reordered);
    keep_ranks(session);
}

int begin(session *session, MPI_Comm comm, const char *name, int num_vertices, edges *part, fault fault)
{
    gathered all = {.counts = NULL};
    if (!open_session(session, comm)) {
        close_session(session);
        free_edges(part);
        return 0;
    }
    if (part->num > INT_MAX) fault = FAULT_TOO_MANY_EDGES;
    int order = open_gathering(session, &all, fault ? -(int)fault : (int)part->num);
    if (order != ORDER_STOP) {
        int is_success = gather(session, &all, order, part);
        if (session->rank == 0) {
            decide(session, num_vertices, &all);
            answer(session, &all);
        }
        if (learn(session, &all, is_success)) {
            split(session);
        } else {
            keep_ranks(session);
        }
    }
    report(session, name);
    free_gathered(&all);
    free_edges(part);
    if (order == ORDER_STOP) close_session(session);
    return order != ORDER_STOP;
}

/* The new communicator inherits what it would have inherited from that of the program. */
static void inherit_errhandler(MPI_Comm from, MPI_Comm to)
{
    MPI_Errhandler handler;
    if (to == MPI_COMM_NULL || PMPI_Comm_get_errhandler(from, &handler) != MPI_SUCCESS) return;
    PMPI_Comm_set_errhandler(to, handler);
    PMPI_Errhandler_free(&handler);
}

int end(session *session, int is_success, MPI_Comm *result)
{
    int all = all_succeed(session->ours, is_success);
    if (all) {
        inherit_errhandler(session->comm, *result);
    } else if (is_success && *result != MPI_COMM_NULL) {
        PMPI_Comm_free(result);
    }
    if (!all && session->rank == 0) {
        fprintf(stderr, "viem_reorder: ranks stay: the new communicator cannot be created\n");
    }
    close_session(session);
    return all;
}

void take(session *session, MPI_Comm *result)
{
    *result = session->reordered;
    inherit_errhandler(session->comm, *result);
    if (session->ours == session->reordered) session->ours = MPI_COMM_NULL;
    session->reordered = MPI_COMM_NULL;
    close_session(session);
}

/* ---- arguments that move with ranks ----------------------------------------------------------------------------- */

void free_lists(lists *lists)
{
    for (int i = 0; i < NUM_LISTS; i++) free(lists->list[i]);
}

int exchange(const session *session, const lists *given, lists *received)
{
    int is_success = 1, to = session->heir, from = session->new_rank;
    for (int i = 0; i < NUM_LISTS; i++) received->list[i] = NULL;
    is_success &= PMPI_Sendrecv((void *)given->num, NUM_LISTS, MPI_INT, to, 0, received->num, NUM_LISTS, MPI_INT, from, 0,
                                session->ours, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    for (int i = 0; is_success && i < NUM_LISTS; i++) {
        size_t length = received->num[i] > 0 ? (size_t)received->num[i] : 0;
        received->list[i] = malloc((length + 1) * sizeof(int));
        is_success = received->list[i] != NULL;
    }
    if (!all_succeed(session->ours, is_success)) return 0;
    for (int i = 0; i < NUM_LISTS; i++) {
        int sent = given->num[i] > 0 ? given->num[i] : 0, length = received->num[i] > 0 ? received->num[i] : 0;
        is_success &= PMPI_Sendrecv(given->list[i], sent, MPI_INT, to, 1, received->list[i], length, MPI_INT, from, 1,
                                    session->ours, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    }
    return all_succeed(session->ours, is_success);
}
