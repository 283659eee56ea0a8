/* Functions of PT-Scotch that partition and map with viem. PT-Scotch itself is behind this library: it builds and checks graphs, and does what viem does not.
 *
 * `SCOTCH_dgraphPart`, `SCOTCH_dgraphMap`, and `SCOTCH_dgraphMapCompute` of mappings with a table of the program. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "distributed.h"

#define EXPORTED __attribute__((visibility("default")))

#if BITS == 64
typedef int64_t num;
#define MPI_NUM MPI_INT64_T
#else
typedef int32_t num;
#define MPI_NUM MPI_INT32_T
#endif

int SCOTCH_dgraphPart(void *, num, void *, num *);
int SCOTCH_dgraphMap(void *, void *, void *, num *);
int SCOTCH_dgraphMapInit(void *, void *, void *, num *);
int SCOTCH_dgraphMapCompute(void *, void *, void *);
void SCOTCH_dgraphMapExit(void *, void *);

/* ---- PT-Scotch itself ------------------------------------------------------------------------------------------- */

/* While PT-Scotch itself partitions, it calls its own functions by their names, which are those of this file. */
static __thread int depth;

/* A function of PT-Scotch, stored where a pointer to it is. */
static int find(const char *name, void *function)
{
    *(void **)function = dlsym(RTLD_NEXT, name);
    if (!*(void **)function) fprintf(stderr, "viem: there is no %s: load PT-Scotch behind this library\n", name);
    return *(void **)function != NULL;
}

/* Whether the integers of PT-Scotch have the width of those here. */
static int fits(void)
{
    int (*size)(void);
    return find("SCOTCH_numSizeof", &size) && size() == (int)sizeof(num);
}

/* What a function of PT-Scotch writes to a file, followed by a zero byte; null if it fails. The caller frees it. */
static char *saved(const char *name, const void *structure)
{
    int (*save)(const void *, FILE *);
    char *text = NULL;
    size_t length;
    if (!find(name, &save)) return NULL;
    FILE *file = open_memstream(&text, &length);
    int code = file ? save(structure, file) : 1;
    if (file && fclose(file) == 0 && code == 0) return text;
    free(text);
    return NULL;
}

/* The settings of the environment and of a strategy for parts of a total weight, null if that cannot be read. An empty one is a null pointer, which cannot be
 * written. */
static viem_settings *settings_of(const void *strategy, int64_t total, num parts)
{
    if (!strategy || !*(void *const *)strategy) return distributed_settings("", total, parts);
    char *text = saved("SCOTCH_stratSave", strategy);
    viem_settings *settings = text ? distributed_settings(text, total, parts) : NULL;
    free(text);
    return settings;
}

/* The machine that an architecture is; null if viem has none such. */
static viem_machine *machine_of(const void *arch)
{
    char path[] = "/tmp/viem-XXXXXX", *text = saved("SCOTCH_archSave", arch);
    viem_machine *machine = NULL;
    viem_error *error = NULL;
    int file = text ? mkstemp(path) : -1;
    if (file >= 0) {
        size_t length = strlen(text);
        if (write(file, text, length) == (ssize_t)length && viem_machine_new(path, NULL, NULL, &machine, &error) != VIEM_STATUS_OK)
            viem_error_free(error);
        close(file);
        unlink(path);
    }
    free(text);
    return machine;
}

/* ---- graphs ----------------------------------------------------------------------------------------------------- */

/* The vertices of this rank, with all numbers from 0. */
typedef struct {
    MPI_Comm comm;
    num n, *vtxdist, *xadj, *adjncy, *vwgt, *adjwgt;
} part;

static void free_part(part *part)
{
    free(part->vtxdist);
    free(part->xadj);
    free(part->adjncy);
    free(part->adjwgt);
}

/* Copies the arcs of this rank, whose rows may have gaps between them. Returns 0 if there is no memory. */
static int copy_arcs(part *part, num base, const num *begins, const num *ends, const num *targets, const num *weights)
{
    size_t arcs = 0;
    part->xadj = malloc(((size_t)part->n + 1) * sizeof(num));
    if (!part->xadj) return 0;
    for (num v = 0; v < part->n; v++) {
        part->xadj[v] = (num)arcs;
        arcs += (size_t)(ends[v] - begins[v]);
    }
    part->xadj[part->n] = (num)arcs;
    part->adjncy = malloc((arcs + 1) * sizeof(num));
    part->adjwgt = weights ? malloc((arcs + 1) * sizeof(num)) : NULL;
    if (!part->adjncy || (weights && !part->adjwgt)) return 0;
    for (num v = 0; v < part->n; v++) {
        for (num arc = 0; arc < ends[v] - begins[v]; arc++) {
            num from = begins[v] - base + arc, to = part->xadj[v] + arc;
            part->adjncy[to] = targets[from] - base;
            if (weights) part->adjwgt[to] = weights[from];
        }
    }
    return 1;
}

/* Whether all ranks say yes. */
static int everywhere(MPI_Comm comm, int here)
{
    int all = 0;
    MPI_Allreduce(&here, &all, 1, MPI_INT, MPI_MIN, comm);
    return all;
}

/* Reads the part of this rank of a graph. Returns 0 if that is not possible here, also if there are gaps between the numbers of ranks. */
static int read_part(const void *graph, part *part)
{
    void (*data)(const void *, num *, num *, num *, num *, num *, num **, num **, num **, num **, num *, num *, num *, num **, num **, num **,
                 MPI_Comm *);
    num base, all, size, ghosts, all_arcs, arcs, most, *begins, *ends, *labels, *targets, *local, *weights;
    memset(part, 0, sizeof *part);
    if (!find("SCOTCH_dgraphData", &data)) return 0;
    data(graph, &base, &all, &part->n, &size, &ghosts, &begins, &ends, &part->vwgt, &labels, &all_arcs, &arcs, &most, &targets, &local, &weights,
         &part->comm);
    int ranks;
    MPI_Comm_size(part->comm, &ranks);
    part->vtxdist = calloc((size_t)ranks + 1, sizeof(num));
    if (!everywhere(part->comm, part->vtxdist != NULL)) return 0;
    MPI_Allgather(&part->n, 1, MPI_NUM, part->vtxdist + 1, 1, MPI_NUM, part->comm);
    for (int rank = 0; rank < ranks; rank++) part->vtxdist[rank + 1] += part->vtxdist[rank];
    return size == part->n && copy_arcs(part, base, begins, ends, targets, weights);
}

/* The weight of the vertices of all ranks. */
static int64_t total_weight(const part *part)
{
    int64_t here = 0, all = 0;
    for (num v = 0; v < part->n; v++) here += part->vwgt ? part->vwgt[v] : 1;
    MPI_Allreduce(&here, &all, 1, MPI_INT64_T, MPI_SUM, part->comm);
    return all;
}

/* ---- mappings --------------------------------------------------------------------------------------------------- */

/* The target of a mapping. Returns 0 if viem has none such. */
static int read_target(MPI_Comm comm, const void *arch, num *parts, viem_machine **machine)
{
    char *(*name)(const void *);
    num (*size)(const void *);
    *machine = NULL;
    if (arch) {
        if (!find("SCOTCH_archName", &name) || !find("SCOTCH_archSize", &size)) return 0;
        const char *kind = name(arch);
        *parts = size(arch);
        if (!kind || strcmp(kind, "cmplt")) return (*machine = machine_of(arch)) != NULL;
    }
    int rank;
    MPI_Comm_rank(comm, &rank);
    *machine = distributed_machine(*parts, rank);
    return *parts > 0;
}

/* Maps a graph to an architecture, or to parts if it is null. Returns 0 on all ranks if that fails on one. */
static int map(const void *graph, const void *arch, num parts, const void *strategy, num *table)
{
    part part = {0};
    viem_machine *machine = NULL;
    void *data;
    if (depth > 0 || !fits() || !find("SCOTCH_dgraphData", &data)) return 0;
    viem_settings *settings = NULL;
    int is_read = read_part(graph, &part);
    int32_t *found = malloc(((size_t)part.n + 1) * sizeof *found);
    int is_ready = everywhere(part.comm, is_read && found && read_target(part.comm, arch, &parts, &machine));
    if (is_ready) {
        settings = settings_of(strategy, total_weight(&part), parts);
        is_ready = everywhere(part.comm, settings != NULL);
    }
    if (is_ready) {
        viem_dist_graph own = {part.vtxdist, part.xadj, part.adjncy, part.vwgt, part.adjwgt, 8 * sizeof(num), 1};
        viem_status status = machine ? viem_dist_map(part.comm, &own, machine, NULL, settings, found, NULL, NULL)
                                     : viem_dist_partition(part.comm, &own, parts, NULL, settings, found, NULL, NULL);
        is_ready = status == VIEM_STATUS_OK;
    }
    for (num v = 0; is_ready && v < part.n; v++) table[v] = (num)found[v];
    free(found);
    viem_settings_free(settings);
    viem_machine_free(machine);
    free_part(&part);
    return is_ready;
}

EXPORTED int SCOTCH_dgraphPart(void *graph, num parts, void *strategy, num *table)
{
    int (*real)(void *, num, void *, num *);
    if (map(graph, NULL, parts, strategy, table)) return 0;
    if (!find("SCOTCH_dgraphPart", &real)) return 1;
    depth++;
    int code = real(graph, parts, strategy, table);
    depth--;
    return code;
}

EXPORTED int SCOTCH_dgraphMap(void *graph, void *arch, void *strategy, num *table)
{
    int (*real)(void *, void *, void *, num *);
    if (map(graph, arch, 0, strategy, table)) return 0;
    if (!find("SCOTCH_dgraphMap", &real)) return 1;
    depth++;
    int code = real(graph, arch, strategy, table);
    depth--;
    return code;
}

/* ---- mappings in steps ------------------------------------------------------------------------------------------ */

/* A mapping that was initialised with a table of the program. */
typedef struct mapping {
    const void *structure;
    void *arch;
    num *table;
    struct mapping *next;
} mapping;

static mapping *mappings;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Forgets a mapping; a copy of it, which has no structure if there was none. */
static mapping taken(const void *structure)
{
    mapping found = {0};
    pthread_mutex_lock(&lock);
    for (mapping **at = &mappings; *at; at = &(*at)->next) {
        if ((*at)->structure == structure) {
            mapping *gone = *at;
            found = *gone;
            *at = gone->next;
            free(gone);
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static void keep(const void *structure, void *arch, num *table)
{
    mapping *added = malloc(sizeof *added);
    if (!added) return;
    pthread_mutex_lock(&lock);
    *added = (mapping){structure, arch, table, mappings};
    mappings = added;
    pthread_mutex_unlock(&lock);
}

EXPORTED int SCOTCH_dgraphMapInit(void *graph, void *structure, void *arch, num *table)
{
    int (*real)(void *, void *, void *, num *);
    taken(structure);
    if (depth == 0 && table) keep(structure, arch, table);
    return find("SCOTCH_dgraphMapInit", &real) ? real(graph, structure, arch, table) : 1;
}

/* Without a table, the result stays inside of PT-Scotch, so it is that of PT-Scotch. */
EXPORTED int SCOTCH_dgraphMapCompute(void *graph, void *structure, void *strategy)
{
    int (*real)(void *, void *, void *);
    mapping own = taken(structure);
    if (own.structure) {
        keep(structure, own.arch, own.table);
        if (map(graph, own.arch, 0, strategy, own.table)) return 0;
    }
    if (!find("SCOTCH_dgraphMapCompute", &real)) return 1;
    depth++;
    int code = real(graph, structure, strategy);
    depth--;
    return code;
}

EXPORTED void SCOTCH_dgraphMapExit(void *graph, void *structure)
{
    void (*real)(void *, void *);
    taken(structure);
    if (find("SCOTCH_dgraphMapExit", &real)) real(graph, structure);
}
