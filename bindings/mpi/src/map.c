/* Which rank becomes which: what one process decides. */
#include "reorder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "viem.h"

static double number_of_variable(const char *name, double otherwise)
{
    const char *text = getenv(name);
    char *rest;
    double number = text ? strtod(text, &rest) : otherwise;
    return text && (rest == text || *rest || !(number >= 0)) ? otherwise : number;
}

/* Balances J against what the creation of a communicator may cost: tori of up to 64 ranks are optimal or nearly so by then,
 * those of 1024 to 4096 are finished, and larger ones are within 10 % of where they would end. Measured with benches/inner.c
 * on one core. */
static double budget(int num_ranks)
{
    double seconds = 0.01 + 1.5e-4 * num_ranks;
    return seconds < 1 ? seconds : 1;
}

options read_options(int num_ranks)
{
    options options;
    options.seconds = number_of_variable("VIEM_REORDER_SECONDS", budget(num_ranks));
    options.threshold = number_of_variable("VIEM_REORDER_THRESHOLD", 0.01);
    options.objective = getenv("VIEM_REORDER_OBJECTIVE");
    if (!options.objective || !*options.objective) options.objective = "bottleneck";
    options.cache = getenv("VIEM_REORDER_CACHE");
    if (options.cache && !*options.cache) options.cache = NULL;
    return options;
}

/* The handles of a run, which are freed together. */
typedef struct {
    viem_graph *graph;
    viem_machine *machine;
    viem_settings *settings;
    viem_mapping *mapping;
    viem_error *error;
} run;

static void free_run(run *run)
{
    viem_mapping_free(run->mapping);
    viem_settings_free(run->settings);
    viem_machine_free(run->machine);
    viem_graph_free(run->graph);
    viem_error_free(run->error);
}

/* ---- the inputs ------------------------------------------------------------------------------------------------- */

typedef struct {
    int64_t pe;
    int rank;
} seat;

static int compare_seats(const void *a, const void *b)
{
    const seat *first = a, *second = b;
    return (first->pe > second->pe) - (first->pe < second->pe);
}

/* The PEs of the ranks in increasing order. libviem numbers those that are used so, and finds the structure of a machine best
 * in that order. */
static seat *sorted_seats(const machine *machine)
{
    seat *seats = malloc((size_t)(machine->num_ranks + 1) * sizeof *seats);
    for (int rank = 0; seats && rank < machine->num_ranks; rank++) seats[rank] = (seat){machine->pes[rank], rank};
    if (seats) qsort(seats, (size_t)machine->num_ranks, sizeof *seats, compare_seats);
    return seats;
}

/* PEs as libviem reads them: `0-63,128`. */
static char *list_of_pes(const seat seats[], int num)
{
    size_t size = (size_t)num * 2 * sizeof "-9223372036854775807" + 1, used = 0;
    char *text = malloc(size);
    for (int first = 0, last; text && first < num; first = last + 1) {
        last = first;
        while (last + 1 < num && seats[last + 1].pe == seats[last].pe + 1) last++;
        used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, first ? "," : "", seats[first].pe);
        if (last > first) used += (size_t)snprintf(text + used, size - used, "-%" PRId64, seats[last].pe);
    }
    return text;
}

static viem_status make_part(const machine *machine, const seat seats[], run *run)
{
    char *pes = list_of_pes(seats, machine->num_ranks);
    viem_status status = VIEM_STATUS_NO_RESOURCES;
    if (pes) status = viem_machine_new(machine->spec, machine->distances, pes, &run->machine, &run->error);
    free(pes);
    return status;
}

/* The machine of these PEs. A part of a machine takes longer to map to than the whole. */
static viem_status make_machine(const machine *machine, const seat seats[], run *run)
{
    int num = machine->num_ranks;
    if (seats[0].pe != 0 || seats[num - 1].pe != num - 1) return make_part(machine, seats, run);
    viem_status status = viem_machine_new(machine->spec, machine->distances, NULL, &run->machine, &run->error);
    if (status || viem_machine_num_pes(run->machine) == num) return status;
    viem_machine_free(run->machine);
    run->machine = NULL;
    return make_part(machine, seats, run);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int is_late(void *deadline, int64_t cost)
{
    (void)cost;
    return now() > *(double *)deadline;
}

/* By how much J may rise for another objective. */
#define EXCESS 0.03

/* A limit of the settings would be used up by every run. */
static viem_status make_settings(const options *options, double *deadline, run *run)
{
    viem_status status = viem_settings_new(VIEM_PRESET_FAST, &run->settings, &run->error);
    if (!status) status = viem_settings_set_objective(run->settings, options->objective, EXCESS, &run->error);
    if (!status) status = viem_settings_set_progress(run->settings, is_late, deadline, &run->error);
    return status;
}

/* ---- the cache -------------------------------------------------------------------------------------------------- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return text ? hash_bytes(hash, text, strlen(text) + 1) : hash_bytes(hash, "-", 1);
}

/* Machines may be files: their time of change stands for their content. */
static uint64_t hash_file(uint64_t hash, const char *name)
{
    struct stat status;
    if (stat(name, &status) != 0) return hash;
    int64_t state[] = {(int64_t)status.st_size, (int64_t)status.st_mtim.tv_sec, (int64_t)status.st_mtim.tv_nsec};
    return hash_bytes(hash, state, sizeof state);
}

static uint64_t hash_problem(int num_vertices, const edges *edges, const machine *machine, const options *options)
{
    size_t size = (size_t)edges->num * sizeof(int64_t);
    uint64_t hash = hash_text(HASH_START, viem_version());
    hash = hash_bytes(hash, &options->seconds, sizeof options->seconds);
    hash = hash_text(hash, options->objective);
    hash = hash_bytes(hash, &num_vertices, sizeof num_vertices);
    hash = hash_bytes(hash, edges->from, size);
    hash = hash_bytes(hash, edges->to, size);
    hash = hash_bytes(hash, edges->weights, size);
    hash = hash_file(hash_text(hash_text(hash, machine->spec), machine->distances), machine->spec);
    return hash_bytes(hash, machine->pes, (size_t)machine->num_ranks * sizeof(int64_t));
}

/* The file of a problem; NULL without a cache. */
static char *cached_file(int num_vertices, const edges *edges, const machine *machine, const options *options)
{
    if (!options->cache) return NULL;
    size_t size = strlen(options->cache) + sizeof "/0123456789abcdef.mapping";
    char *path = malloc(size);
    uint64_t hash = hash_problem(num_vertices, edges, machine, options);
    if (path) snprintf(path, size, "%s/%016" PRIx64 ".mapping", options->cache, hash);
    return path;
}

/* J of a mapping, and its bottleneck: what the busiest link carries, or the busiest node if links are not known or that is the objective. */
static viem_status evaluate(const run *run, const viem_mapping *mapping, const options *options, int64_t *cost, int64_t *load,
                            viem_error **error)
{
    viem_report report;
    int64_t node, link;
    viem_status status = viem_evaluate(run->graph, run->machine, mapping, 0, NULL, &report, error);
    if (!status) status = viem_busiest(run->graph, run->machine, mapping, &node, &link, error);
    if (status) return status;
    *cost = report.cost;
    *load = link == VIEM_UNKNOWN || strcmp(options->objective, "busiest_node") == 0 ? node : link;
    return status;
}

/* Reads a mapping and its cost. Whatever the file holds, the cost is that of this graph on this machine. */
static int read_cached(const char *path, int num_vertices, const options *options, run *run, decision *decision)
{
    int64_t num_pes = viem_machine_num_pes(run->machine);
    if (viem_mapping_read(path, num_pes, num_vertices, &run->mapping, NULL) != VIEM_STATUS_OK) return 0;
    if (evaluate(run, run->mapping, options, &decision->cost_after, &decision->load_after, NULL) == VIEM_STATUS_OK) return 1;
    viem_mapping_free(run->mapping);
    run->mapping = NULL;
    return 0;
}

/* ---- the decision ----------------------------------------------------------------------------------------------- */

/* A cache that cannot be written is not worth a failure; the message ends with why. */
static void write_cached(const char *path, const viem_mapping *mapping, decision *decision)
{
    viem_error *error = NULL;
    size_t length = strlen(decision->message);
    if (viem_mapping_write(mapping, path, &error) != VIEM_STATUS_OK) {
        snprintf(decision->message + length, MESSAGE_SIZE - length, "; not cached: %s", viem_error_message(error));
    }
    viem_error_free(error);
}

static viem_status find_mapping(const options *options, run *run, decision *decision)
{
    viem_status status = viem_map(run->graph, run->machine, NULL, NULL, run->settings, &run->mapping, &run->error);
    if (status) return status;
    return evaluate(run, run->mapping, options, &decision->cost_after, &decision->load_after, &run->error);
}

/* Ranks that stay: vertex i at rank i. */
static viem_status evaluate_ranks(int num_vertices, const seat seats[], int num_ranks, const options *options, run *run,
                                  decision *decision)
{
    viem_mapping *ranks = NULL;
    int64_t *pe_of = calloc((size_t)num_vertices + 1, sizeof *pe_of);
    viem_status status = pe_of ? VIEM_STATUS_OK : VIEM_STATUS_NO_RESOURCES;
    for (int i = 0; pe_of && i < num_ranks; i++) {
        if (seats[i].rank < num_vertices) pe_of[seats[i].rank] = i;
    }
    if (!status) status = viem_mapping_new64(num_ranks, num_vertices, pe_of, &ranks, &run->error);
    if (!status) status = evaluate(run, ranks, options, &decision->cost_before, &decision->load_before, &run->error);
    viem_mapping_free(ranks);
    free(pe_of);
    return status;
}

static void number_ranks(int num_vertices, const viem_mapping *mapping, const seat seats[], int num_ranks, int new_rank[])
{
    const uint32_t *pe_of = viem_mapping_pes(mapping);
    int next = num_vertices;
    for (int rank = 0; rank < num_ranks; rank++) new_rank[rank] = -1;
    for (int vertex = 0; vertex < num_vertices; vertex++) new_rank[seats[pe_of[vertex]].rank] = vertex;
    for (int rank = 0; rank < num_ranks; rank++) {
        if (new_rank[rank] < 0) new_rank[rank] = next++;
    }
}

static void say(decision *decision, const char *message)
{
    snprintf(decision->message, MESSAGE_SIZE, "%s", message);
}

/* The part by which a number falls. */
static double fall(int64_t before, int64_t after)
{
    return 1 - (double)after / (double)(before ? before : 1);
}

/* Whether the objective falls by more than the threshold, and the line about it: J, or the bottleneck and then J. */
static void weigh(const options *options, decision *decision)
{
    int64_t before = decision->cost_before, after = decision->cost_after;
    double gain = fall(before, after), relief = fall(decision->load_before, decision->load_after);
    int falls = after < before && gain >= options->threshold;
    if (strcmp(options->objective, "J") != 0) {
        int is_lower = decision->load_after < decision->load_before && relief >= options->threshold;
        falls = is_lower || (falls && decision->load_after <= decision->load_before);
    }
    decision->moves = falls;
    snprintf(decision->message, MESSAGE_SIZE,
             "%s: J is %" PRId64 ", would be %" PRId64 " (%.1f %% %s); the busiest link or node carries %" PRId64 ", would carry %" PRId64,
             falls ? "ranks are reordered" : "ranks stay", before, after, 100 * (gain < 0 ? -gain : gain), gain < 0 ? "more" : "less",
             decision->load_before, decision->load_after);
    if (!falls) decision->cost_after = before;
}

static void fail(const run *run, decision *decision)
{
    const char *message = viem_error_message(run->error);
    *decision = (__typeof__(*decision)){.is_fault = 1};
    say(decision, *message ? message : "not enough memory");
}

/* Maps a graph with edges; the machine and all else is made here. */
static viem_status map_graph(int num_vertices, const edges *edges, const machine *machine, const seat seats[],
                             const options *options, run *run, int new_rank[], decision *decision)
{
    viem_status status = make_machine(machine, seats, run);
    if (!status) status = evaluate_ranks(num_vertices, seats, machine->num_ranks, options, run, decision);
    char *cached = status ? NULL : cached_file(num_vertices, edges, machine, options);
    int is_cached = cached && read_cached(cached, num_vertices, options, run, decision);
    if (!status && !is_cached) status = find_mapping(options, run, decision);
    if (!status) {
        weigh(options, decision);
        if (cached && !is_cached) write_cached(cached, run->mapping, decision);
        if (decision->moves) number_ranks(num_vertices, run->mapping, seats, machine->num_ranks, new_rank);
    }
    free(cached);
    return status;
}

void map_vertices(int num_vertices, const edges *edges, const machine *machine, const options *options, int new_rank[],
                  decision *decision)
{
    double deadline = now() + options->seconds;
    run run = {NULL, NULL, NULL, NULL, NULL};
    *decision = (__typeof__(*decision)){0};
    if (make_settings(options, &deadline, &run) != VIEM_STATUS_OK) {
        decision->is_fault = 1;
        snprintf(decision->message, MESSAGE_SIZE, "VIEM_REORDER_OBJECTIVE: %s", viem_error_message(run.error));
        free_run(&run);
        return;
    }
    if (machine->is_flat) {
        say(decision, "ranks stay: all are equally far apart");
        free_run(&run);
        return;
    }
    seat *seats = sorted_seats(machine);
    viem_status status = seats ? VIEM_STATUS_OK : VIEM_STATUS_NO_RESOURCES;
    if (!status) {
        status = viem_graph_from_edges(num_vertices, edges->num, edges->from, edges->to, edges->weights, &run.graph, &run.error);
    }
    if (!status && viem_graph_num_edges(run.graph) == 0) {
        say(decision, "ranks stay: no two of them communicate");
    } else if (!status) {
        status = map_graph(num_vertices, edges, machine, seats, options, &run, new_rank, decision);
    }
    if (status) fail(&run, decision);
    free(seats);
    free_run(&run);
}
