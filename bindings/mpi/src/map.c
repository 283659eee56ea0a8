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

/* Balances J against what the creation of a communicator may cost: tori of up to 64 ranks are optimal or nearly so by then, those of 1024 to 4096
 * are finished, and larger ones are within 10 % of where they would end. Measured with benches/inner.c on one core. */
static double budget(int num_ranks)
{
    double seconds = 0.005 + 1.5e-4 * num_ranks;
    return seconds < 1 ? seconds : 1;
}

options read_options(int num_ranks)
{
    options options;
    options.seconds = number_of_variable("VIEM_REORDER_SECONDS", budget(num_ranks));
    options.threshold = number_of_variable("VIEM_REORDER_THRESHOLD", 0.01);
    options.cache = getenv("VIEM_REORDER_CACHE");
    if (options.cache && !*options.cache) options.cache = NULL;
    return options;
}

/* What a run needs; all of it is freed together. */
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

/* The PEs of the ranks as libviem reads them: `0-63,128`. */
static char *list_of_pes(const machine *machine)
{
    size_t size = (size_t)machine->num_ranks * 2 * sizeof "-9223372036854775807" + 1, used = 0;
    char *text = malloc(size);
    for (int first = 0, last; text && first < machine->num_ranks; first = last + 1) {
        const int64_t *pes = machine->pes;
        last = first;
        while (last + 1 < machine->num_ranks && pes[last + 1] == pes[last] + 1) last++;
        used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, first ? "," : "", pes[first]);
        if (last > first) used += (size_t)snprintf(text + used, size - used, "-%" PRId64, pes[last]);
    }
    return text;
}

static viem_status make_machine(const machine *machine, run *run)
{
    char *pes = list_of_pes(machine);
    viem_status status = VIEM_STATUS_NO_RESOURCES;
    if (pes) status = viem_machine_new(machine->spec, machine->distances, pes, &run->machine, &run->error);
    free(pes);
    return status;
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

/* A limit of the settings would be used up by every run. */
static viem_status make_settings(double *deadline, run *run)
{
    viem_status status = viem_settings_new(VIEM_PRESET_FAST, &run->settings, &run->error);
    if (status) return status;
    return viem_settings_set_progress(run->settings, is_late, deadline, &run->error);
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

/* The cost of ranks that stay. */
static viem_status evaluate_identity(int num_vertices, const run *run, int64_t *cost)
{
    viem_mapping *identity = NULL;
    viem_report report;
    viem_status status = VIEM_STATUS_NO_RESOURCES;
    int32_t *pe_of = malloc((size_t)(num_vertices + 1) * sizeof *pe_of);
    for (int vertex = 0; pe_of && vertex < num_vertices; vertex++) pe_of[vertex] = vertex;
    if (pe_of) status = viem_mapping_new32(viem_machine_num_pes(run->machine), num_vertices, pe_of, &identity, NULL);
    if (!status) status = viem_evaluate(run->graph, run->machine, identity, 0, NULL, &report, NULL);
    if (!status) *cost = report.cost;
    viem_mapping_free(identity);
    free(pe_of);
    return status;
}

/* Reads a mapping and its costs. Whatever the file holds, the costs are those of this graph on this machine. */
static int read_cached(const char *path, int num_vertices, run *run, viem_report *report)
{
    int64_t num_pes = viem_machine_num_pes(run->machine);
    if (viem_mapping_read(path, num_pes, num_vertices, &run->mapping, NULL) != VIEM_STATUS_OK) return 0;
    viem_status status = viem_evaluate(run->graph, run->machine, run->mapping, 0, NULL, report, NULL);
    if (!status) status = evaluate_identity(num_vertices, run, &report->cost_of_identity);
    if (!status) return 1;
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

static viem_status find_mapping(double *deadline, run *run, viem_report *report)
{
    viem_status status = make_settings(deadline, run);
    if (!status) status = viem_map(run->graph, run->machine, NULL, NULL, run->settings, &run->mapping, &run->error);
    if (!status) status = viem_mapping_report(run->mapping, report, &run->error);
    return status;
}

static void number_ranks(int num_vertices, const viem_mapping *mapping, int num_ranks, int new_rank[])
{
    const uint32_t *rank_of = viem_mapping_pes(mapping);
    int next = num_vertices;
    for (int rank = 0; rank < num_ranks; rank++) new_rank[rank] = -1;
    for (int vertex = 0; vertex < num_vertices; vertex++) new_rank[rank_of[vertex]] = vertex;
    for (int rank = 0; rank < num_ranks; rank++) {
        if (new_rank[rank] < 0) new_rank[rank] = next++;
    }
}

static void say(decision *decision, const char *message)
{
    snprintf(decision->message, MESSAGE_SIZE, "%s", message);
}

/* Whether a cost is lower by more than the threshold, and what is said about it. */
static void weigh(const options *options, decision *decision)
{
    double gain = 1 - (double)decision->cost_after / (double)(decision->cost_before ? decision->cost_before : 1);
    decision->moves = decision->cost_after < decision->cost_before && gain >= options->threshold;
    snprintf(decision->message, MESSAGE_SIZE, "%s: J is %" PRId64 ", would be %" PRId64 " (%.1f %% less)",
             decision->moves ? "ranks are reordered" : "ranks stay", decision->cost_before, decision->cost_after, 100 * gain);
    if (!decision->moves) decision->cost_after = decision->cost_before;
}

static void fail(const run *run, decision *decision)
{
    const char *message = viem_error_message(run->error);
    decision->is_fault = 1;
    say(decision, *message ? message : "not enough memory");
}

void map_vertices(int num_vertices, const edges *edges, const machine *machine, const options *options, int new_rank[],
                  decision *decision)
{
    double deadline = now() + options->seconds;
    run run = {NULL, NULL, NULL, NULL, NULL};
    viem_report report;
    *decision = (__typeof__(*decision)){0};
    if (machine->is_flat) {
        say(decision, "ranks stay: all are equally far apart");
        return;
    }
    viem_status status = viem_graph_from_edges(num_vertices, edges->num, edges->from, edges->to, edges->weights, &run.graph, &run.error);
    if (!status && viem_graph_num_edges(run.graph) == 0) {
        say(decision, "ranks stay: no two of them communicate");
        free_run(&run);
        return;
    }
    if (!status) status = make_machine(machine, &run);
    char *cached = status ? NULL : cached_file(num_vertices, edges, machine, options);
    int is_cached = cached && read_cached(cached, num_vertices, &run, &report);
    if (!status && !is_cached) status = find_mapping(&deadline, &run, &report);
    if (status) {
        fail(&run, decision);
    } else {
        decision->cost_before = report.cost_of_identity;
        decision->cost_after = report.cost;
        weigh(options, decision);
        if (cached && !is_cached) write_cached(cached, run.mapping, decision);
        if (decision->moves) number_ranks(num_vertices, run.mapping, machine->num_ranks, new_rank);
    }
    free(cached);
    free_run(&run);
}
