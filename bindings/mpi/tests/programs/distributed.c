/* Partitions, maps and remaps a grid that is distributed unevenly, and makes each mistake that a rank can make. Prints a hash of all results. */
#include "check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <viem_dist.h>

enum { WIDTH = 60, HEIGHT = 40, TOTAL = WIDTH * HEIGHT, MOST_RANKS = 16, NUM_BLOCKS = 8 };

static int rank, num_ranks;
static int64_t vtxdist[MOST_RANKS + 1], xadj[TOTAL + 1], adjncy[4 * TOTAL], vwgt[TOTAL], adjwgt[4 * TOTAL];
static int32_t fixed[TOTAL], blocks[TOTAL], old[TOTAL];
static int64_t first, count;

/* Rank 1 has no vertex; the others have the more, the higher they are. */
static void make_grid(void)
{
    int64_t parts = 0, sum = 0;
    for (int r = 0; r < num_ranks; r++) parts += r == 1 ? 0 : r + 1;
    for (int r = 0; r < num_ranks; r++) {
        sum += r == 1 ? 0 : r + 1;
        vtxdist[r + 1] = TOTAL * sum / parts;
    }
    first = vtxdist[rank];
    count = vtxdist[rank + 1] - first;
    int64_t num_arcs = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t v = first + i, neighbours[4] = {v - WIDTH, v - 1, v + 1, v + WIDTH};
        int exists[4] = {v >= WIDTH, v % WIDTH > 0, v % WIDTH < WIDTH - 1, v + WIDTH < TOTAL};
        xadj[i] = num_arcs;
        for (int side = 0; side < 4; side++) {
            if (!exists[side]) continue;
            /* Edges between rows weigh more. */
            adjwgt[num_arcs] = side == 0 || side == 3 ? 3 : 1;
            adjncy[num_arcs++] = neighbours[side];
        }
        vwgt[i] = 1 + v % 2;
        fixed[i] = v % 7 == 0 ? (int32_t)(v / 7 % NUM_BLOCKS) : -1;
    }
    xadj[count] = num_arcs;
}

/* The blocks of all vertices. */
static void gather(int32_t all[TOTAL])
{
    int counts[MOST_RANKS], starts[MOST_RANKS];
    for (int r = 0; r < num_ranks; r++) {
        starts[r] = (int)vtxdist[r];
        counts[r] = (int)(vtxdist[r + 1] - vtxdist[r]);
    }
    MPI_Allgatherv(blocks, (int)count, MPI_INT32_T, all, counts, starts, MPI_INT32_T, MPI_COMM_WORLD);
}

static int64_t distance_of(int32_t a, int32_t b)
{
    return a == b ? 0 : a / 4 == b / 4 ? 1 : 10;
}

/* Compares a report with the result, and adds the result to a hash. */
static void check(const viem_report *report, int is_mapped, uint64_t *hash)
{
    static int32_t all[TOTAL];
    int64_t loads[NUM_BLOCKS] = {0}, cost = 0, cut = 0, greatest = 0;
    gather(all);
    for (int64_t v = 0; v < TOTAL; v++) {
        CHECK(all[v] >= 0 && all[v] < NUM_BLOCKS);
        loads[all[v]] += 1 + v % 2;
        if (v % 7 == 0) CHECK(all[v] == v / 7 % NUM_BLOCKS);
        *hash = (*hash ^ (uint64_t)all[v]) * 0x100000001b3u;
        if (v % WIDTH < WIDTH - 1) {
            cut += all[v] != all[v + 1];
            cost += 2 * distance_of(all[v], all[v + 1]);
        }
        if (v + WIDTH < TOTAL) {
            cut += 3 * (all[v] != all[v + WIDTH]);
            cost += 6 * distance_of(all[v], all[v + WIDTH]);
        }
    }
    for (int b = 0; b < NUM_BLOCKS; b++) greatest = loads[b] > greatest ? loads[b] : greatest;
    CHECK(report->cut == cut);
    CHECK(report->cost == (is_mapped ? cost : cut));
    CHECK(report->loads.greatest == greatest && greatest <= report->loads.bound && report->loads.overload == 0);
}

/* A call has failed on all ranks, with this text in its message. */
static void expect(viem_status status, viem_status expected, viem_error **error, const char *text)
{
    const char *message = viem_error_message(*error);
    int is_right = status == expected && viem_error_status(*error) == expected && strstr(message, text) != NULL;
    if (!is_right) fprintf(stderr, "rank %d: status %d, \"%s\" instead of \"%s\"\n", rank, (int)status, message, text);
    CHECK(is_right);
    viem_error_free(*error);
    *error = NULL;
}

/* Whether this rank is the one that makes mistakes: the last with vertices. */
static int errs(void)
{
    return rank == (num_ranks == 2 ? 0 : num_ranks - 1);
}

/* What one rank does wrong, all get to know. */
static void check_errors(const viem_machine *machine)
{
    viem_error *error = NULL;
    viem_dist_graph graph = {vtxdist, xadj, adjncy, vwgt, adjwgt, 0, 0};
    int is_wrong = errs();
    const viem_dist_graph *given = is_wrong ? NULL : &graph;
    expect(viem_dist_partition(MPI_COMM_WORLD, given, 2, NULL, NULL, blocks, NULL, &error), VIEM_STATUS_USAGE, &error, "`graph`");
    graph.bits = is_wrong ? 16 : 64;
    expect(viem_dist_partition(MPI_COMM_WORLD, &graph, 2, NULL, NULL, blocks, NULL, &error), VIEM_STATUS_USAGE, &error, "16 bits");
    graph.bits = 64;
    expect(viem_dist_partition(MPI_COMM_WORLD, &graph, 0, NULL, NULL, blocks, NULL, &error), VIEM_STATUS_USAGE, &error, "block");
    if (num_ranks > 1) {
        expect(viem_dist_partition(MPI_COMM_WORLD, &graph, is_wrong ? 3 : 2, NULL, NULL, blocks, NULL, &error), VIEM_STATUS_USAGE, &error,
               "than rank 0");
    }
    expect(viem_dist_partition(MPI_COMM_NULL, &graph, 2, NULL, NULL, blocks, NULL, &error), VIEM_STATUS_USAGE, &error, "MPI_COMM_NULL");
    expect(viem_dist_map(MPI_COMM_WORLD, &graph, is_wrong ? NULL : machine, NULL, NULL, blocks, NULL, &error), VIEM_STATUS_USAGE, &error,
           "`machine`");
    expect(viem_dist_remap(MPI_COMM_WORLD, &graph, machine, 0, old, -1.0, NULL, NULL, blocks, NULL, &error), VIEM_STATUS_USAGE, &error,
           "migration_weight");
    expect(viem_dist_partition(MPI_COMM_WORLD, &graph, 2, NULL, NULL, is_wrong ? NULL : blocks, NULL, &error), VIEM_STATUS_USAGE, &error,
           "`blocks`");
    if (num_ranks > 1) {
        /* A machine with as many PEs, but other distances. */
        viem_machine *other = NULL;
        const int64_t near[] = {0, 1, 1, 0}, far[] = {0, 2, 2, 0};
        CHECK(viem_machine_from_matrix(2, is_wrong ? far : near, &other, NULL) == VIEM_STATUS_OK);
        expect(viem_dist_map(MPI_COMM_WORLD, &graph, other, NULL, NULL, blocks, NULL, &error), VIEM_STATUS_USAGE, &error, "than rank 0");
        viem_machine_free(other);
    }
    if (is_wrong) adjncy[0] += TOTAL;
    expect(viem_dist_map(MPI_COMM_WORLD, &graph, machine, NULL, NULL, blocks, NULL, &error), VIEM_STATUS_BAD_DATA, &error,
           "entry 0 of `adjncy`");
    if (is_wrong) adjncy[0] -= TOTAL;
    if (is_wrong) xadj[1] = 100;
    expect(viem_dist_map(MPI_COMM_WORLD, &graph, machine, NULL, NULL, blocks, NULL, &error), VIEM_STATUS_BAD_DATA, &error,
           "entry 2 of `xadj`");
    make_grid();
    if (is_wrong) adjwgt[0] = 4;
    expect(viem_dist_map(MPI_COMM_WORLD, &graph, machine, NULL, NULL, blocks, NULL, &error), VIEM_STATUS_BAD_DATA, &error, "weighs");
    make_grid();
    if (is_wrong) fixed[3] = NUM_BLOCKS;
    expect(viem_dist_map(MPI_COMM_WORLD, &graph, machine, fixed, NULL, blocks, NULL, &error), VIEM_STATUS_BAD_DATA, &error,
           "is fixed to block 8, but the blocks are 0..8");
    if (is_wrong) fixed[3] = -2;
    expect(viem_dist_map(MPI_COMM_WORLD, &graph, machine, fixed, NULL, blocks, NULL, &error), VIEM_STATUS_BAD_DATA, &error,
           "entry 3 of `fixed` is -2");
    make_grid();
    viem_settings *settings = NULL;
    CHECK(viem_settings_new(VIEM_PRESET_FAST, &settings, NULL) == VIEM_STATUS_OK);
    CHECK(viem_settings_set_least_load(settings, 0.5, NULL) == VIEM_STATUS_OK);
    viem_report report;
    CHECK(viem_dist_map(MPI_COMM_WORLD, &graph, machine, NULL, settings, blocks, &report, NULL) == VIEM_STATUS_OK);
    CHECK(report.loads.shortfall == 0 && report.loads.below_least == 0);
    CHECK(viem_settings_set_time_limit(settings, 9.0, NULL) == VIEM_STATUS_OK);
    expect(viem_dist_map(MPI_COMM_WORLD, &graph, machine, NULL, settings, blocks, NULL, &error), VIEM_STATUS_USAGE, &error, "time limit");
    expect(viem_dist_partition(MPI_COMM_WORLD, &graph, 1 << 20, NULL, NULL, blocks, NULL, &error), VIEM_STATUS_BAD_DATA, &error,
           "cannot partition");
    viem_settings_free(settings);
}

/* Arrays of 32 bits give what those of 64 bits have given. */
static void check_short(const viem_machine *machine, const viem_settings *settings)
{
    static int32_t starts[MOST_RANKS + 1], offsets[TOTAL + 1], targets[4 * TOTAL], weights[TOTAL], edge_weights[4 * TOTAL];
    for (int r = 0; r <= num_ranks; r++) starts[r] = (int32_t)vtxdist[r];
    for (int64_t i = 0; i <= count; i++) offsets[i] = (int32_t)xadj[i];
    for (int64_t i = 0; i < count; i++) weights[i] = (int32_t)vwgt[i];
    for (int64_t arc = 0; arc < xadj[count]; arc++) {
        targets[arc] = (int32_t)adjncy[arc];
        edge_weights[arc] = (int32_t)adjwgt[arc];
    }
    viem_dist_graph graph = {starts, offsets, targets, weights, edge_weights, 32, 1};
    memcpy(old, blocks, sizeof blocks);
    memset(blocks, 0, sizeof blocks);
    viem_error *error = NULL;
    /* By the handle that Fortran has for the communicator. */
    MPI_Fint comm = MPI_Comm_c2f(MPI_COMM_WORLD);
    CHECK(viem_dist_map_f(comm, &graph, machine, fixed, settings, blocks, NULL, &error) == VIEM_STATUS_OK);
    CHECK(memcmp(blocks, old, (size_t)count * sizeof *blocks) == 0);
    if (errs()) targets[0] = -1;
    expect(viem_dist_map_f(comm, &graph, machine, NULL, NULL, blocks, NULL, &error), VIEM_STATUS_BAD_DATA, &error,
           "entry 0 of `adjncy` is -1");
}

/* Two weights: the same time for each vertex, and memory for those on the left, of which the first block has most, as of the time. */
static void check_several(uint64_t *hash)
{
    static int64_t weights[2 * TOTAL];
    static int32_t all[TOTAL];
    for (int64_t i = 0; i < count; i++) {
        weights[2 * i] = 1;
        weights[2 * i + 1] = (first + i) % WIDTH < WIDTH / 2;
    }
    const double imbalances[] = {0.05, 0.1}, least_loads[] = {0.9, 0};
    const uint32_t capacities[] = {2, 3, 1, 1, 1, 1};
    const int64_t greatest[] = {1260, 630, 630, 792, 264, 264}, least[] = {1080, 540, 540, 0, 0, 0};
    viem_dist_graph graph = {vtxdist, xadj, adjncy, weights, adjwgt, 64, 2};
    viem_settings *settings = NULL;
    viem_report report;
    viem_error *error = NULL;
    CHECK(viem_settings_new(VIEM_PRESET_FAST, &settings, NULL) == VIEM_STATUS_OK);
    CHECK(viem_settings_set_limits_of_weights(settings, 2, imbalances, least_loads, NULL) == VIEM_STATUS_OK);
    CHECK(viem_settings_set_capacities_of_weights(settings, 2, 3, capacities, NULL) == VIEM_STATUS_OK);
    CHECK(viem_dist_partition(MPI_COMM_WORLD, &graph, 3, NULL, settings, blocks, &report, NULL) == VIEM_STATUS_OK);
    int64_t loads[6] = {0};
    gather(all);
    for (int64_t v = 0; v < TOTAL; v++) {
        loads[all[v]]++;
        loads[3 + all[v]] += v % WIDTH < WIDTH / 2;
        *hash = (*hash ^ (uint64_t)all[v]) * 0x100000001b3u;
    }
    for (int i = 0; i < 6; i++) CHECK(loads[i] <= greatest[i] && loads[i] >= least[i]);
    CHECK(report.loads.overload == 0 && report.loads.shortfall == 0);
    graph.num_weights = errs() ? -1 : 2;
    expect(viem_dist_partition(MPI_COMM_WORLD, &graph, 3, NULL, settings, blocks, NULL, &error), VIEM_STATUS_USAGE, &error, "-1 weights");
    graph.num_weights = errs() && num_ranks > 1 ? 1 : 2;
    viem_status status = viem_dist_partition(MPI_COMM_WORLD, &graph, 4, NULL, NULL, blocks, NULL, &error);
    if (num_ranks > 1) {
        expect(status, VIEM_STATUS_BAD_DATA, &error, "the same number on all");
    }
    graph.num_weights = 2;
    expect(viem_dist_partition(MPI_COMM_WORLD, &graph, 4, NULL, settings, blocks, NULL, &error), VIEM_STATUS_USAGE, &error, "3 capacities");
    graph.num_weights = 1;
    expect(viem_dist_partition(MPI_COMM_WORLD, &graph, 3, NULL, settings, blocks, NULL, &error), VIEM_STATUS_USAGE, &error, "2 limits for 1 weight");
    viem_settings_free(settings);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
    CHECK(num_ranks <= MOST_RANKS);
    make_grid();
    uint64_t hash = 0xcbf29ce484222325u;
    viem_error *error = NULL;
    viem_machine *machine = NULL;
    viem_settings *settings = NULL;
    viem_report report;
    CHECK(viem_machine_new("4:2", "1:10", NULL, &machine, NULL) == VIEM_STATUS_OK);
    CHECK(viem_settings_new(VIEM_PRESET_FAST, &settings, NULL) == VIEM_STATUS_OK);
    CHECK(viem_settings_set_seed(settings, 5, NULL) == VIEM_STATUS_OK);
    viem_dist_graph graph = {vtxdist, xadj, adjncy, vwgt, adjwgt, 64, 1};
    /* Ranks without vertices need no arrays, and those without fixed ones no list of them. */
    if (count == 0) graph.xadj = graph.adjncy = graph.vwgt = NULL;
    const int32_t *own_fixed = count == 0 ? NULL : fixed;
    CHECK(viem_dist_partition(MPI_COMM_WORLD, &graph, NUM_BLOCKS, own_fixed, settings, blocks, &report, &error) == VIEM_STATUS_OK);
    CHECK(error == NULL);
    check(&report, 0, &hash);
    CHECK(viem_dist_map(MPI_COMM_WORLD, &graph, machine, own_fixed, settings, blocks, &report, &error) == VIEM_STATUS_OK);
    check(&report, 1, &hash);
    check_short(machine, settings);
    memcpy(blocks, old, sizeof blocks);
    for (int64_t i = 0; i < count; i++) old[i] = (first + i) % 50 == 1 ? -1 : blocks[i];
    int64_t cost = report.cost;
    CHECK(viem_dist_remap(MPI_COMM_WORLD, &graph, machine, 0, old, 100.0, own_fixed, settings, blocks, &report, &error) == VIEM_STATUS_OK);
    check(&report, 1, &hash);
    CHECK(report.migration.weight < 50 && report.cost < 2 * cost);
    CHECK(viem_dist_remap(MPI_COMM_WORLD, &graph, NULL, NUM_BLOCKS, old, 100.0, own_fixed, settings, blocks, &report, &error)
          == VIEM_STATUS_OK);
    check(&report, 0, &hash);
    check_several(&hash);
    check_errors(machine);
    viem_settings_free(settings);
    viem_machine_free(machine);
    if (rank == 0) printf("passed %016" PRIx64 "\n", hash);
    MPI_Finalize();
    return 0;
}
