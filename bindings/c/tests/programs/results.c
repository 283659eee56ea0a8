/* What each function returns on small inputs whose results are known. */
#include "check.h"

#include <pthread.h>

static void write_text(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* A report is that of a partition computed here. */
static void check_partition(const viem_mapping *partition, int32_t vertices, int32_t blocks) {
  viem_error *error = NULL;
  viem_report report;
  int64_t cut = 0, *loads = calloc((size_t)blocks, sizeof *loads);
  const uint32_t *block_of = viem_mapping_pes(partition);
  CHECK(viem_mapping_num_processes(partition) == vertices && viem_mapping_num_pes(partition) == blocks);
  for (int32_t v = 0; v < vertices; v++) {
    CHECK(block_of[v] < (uint32_t)blocks);
    loads[block_of[v]]++;
    for (int32_t arc = grid_offsets[v]; arc < grid_offsets[v + 1]; arc++) cut += block_of[v] != block_of[grid_targets[arc]];
  }
  SUCCEED(viem_mapping_report(partition, &report, &error));
  CHECK(report.cut == cut / 2 && report.cost == report.cut && report.loads.overload == 0 && report.loads.empty == 0);
  for (int32_t block = 0; block < blocks; block++) {
    CHECK(report.loads.least <= loads[block] && loads[block] <= report.loads.greatest);
    CHECK(loads[block] <= report.loads.bound);
  }
  free(loads);
}

static void test_partition(void) {
  viem_error *error = NULL;
  viem_mapping *partition = NULL, *again = NULL;
  viem_settings *settings = new_settings(VIEM_PRESET_FAST);
  viem_graph *grid = new_grid(30, 20);
  viem_report report;
  int64_t shares[3] = {1, 0, 3};
  int32_t *fixed = malloc(600 * sizeof *fixed), narrow[600];
  int64_t wide[600];

  SUCCEED(viem_partition(grid, 7, NULL, NULL, settings, &partition, &error));
  check_partition(partition, 600, 7);
  SUCCEED(viem_mapping_copy32(partition, 600, narrow, &error));
  SUCCEED(viem_mapping_copy64(partition, 600, wide, &error));
  for (int v = 0; v < 600; v++) CHECK(narrow[v] == wide[v] && (uint32_t)narrow[v] == viem_mapping_pes(partition)[v]);

  /* The same seed gives the same result with any number of threads, another one may not. */
  SUCCEED(viem_settings_set_threads(settings, 3, &error));
  SUCCEED(viem_partition(grid, 7, NULL, NULL, settings, &again, &error));
  CHECK(memcmp(viem_mapping_pes(again), viem_mapping_pes(partition), 600 * sizeof(uint32_t)) == 0);
  viem_mapping_free(again);

  /* A partition with one vertex moved is adapted by moving few. */
  narrow[0] = (narrow[0] + 1) % 7;
  SUCCEED(viem_mapping_new32(7, 600, narrow, &again, &error));
  SUCCEED(viem_mapping_report(again, &report, &error));
  CHECK(report.cost == VIEM_UNKNOWN && report.cut == VIEM_UNKNOWN && report.loads.overload == VIEM_UNKNOWN);
  viem_mapping_free(partition);
  SUCCEED(viem_repartition(grid, 7, NULL, NULL, again, 1.0, settings, &partition, &error));
  check_partition(partition, 600, 7);
  SUCCEED(viem_mapping_report(partition, &report, &error));
  CHECK(report.migration.vertices >= 0 && report.migration.vertices < 300 && report.migration.weight == report.migration.vertices);
  SUCCEED(viem_evaluate_partition(grid, 7, NULL, partition, settings, &report, &error));
  CHECK(report.loads.overload == 0);
  viem_mapping_free(again);
  viem_mapping_free(partition);

  /* Shares and fixed vertices; perfect balance. */
  for (int v = 0; v < 600; v++) fixed[v] = -1;
  fixed[0] = fixed[599] = 2;
  fixed[300] = 0;
  SUCCEED(viem_settings_set_imbalance(settings, 0, &error));
  SUCCEED(viem_partition(grid, 3, shares, fixed, settings, &partition, &error));
  SUCCEED(viem_mapping_report(partition, &report, &error));
  CHECK(report.loads.least == 0 && report.loads.greatest == 450 && report.loads.overload == 0);
  CHECK(viem_mapping_pes(partition)[0] == 2 && viem_mapping_pes(partition)[599] == 2);
  CHECK(viem_mapping_pes(partition)[300] == 0);
  viem_mapping_free(partition);

  /* One block; more blocks than vertices. */
  SUCCEED(viem_partition(grid, 1, NULL, NULL, NULL, &partition, &error));
  SUCCEED(viem_mapping_report(partition, &report, &error));
  CHECK(report.cut == 0 && report.loads.greatest == 600);
  viem_mapping_free(partition);
  CHECK(viem_partition(grid, 1000, NULL, NULL, NULL, &partition, &error) != VIEM_STATUS_OK && !partition);
  CHECK(strstr(viem_error_message(error), "600 vertices into 1000 blocks"));
  viem_error_free(error);
  error = NULL;
  free(fixed);
  viem_graph_free(grid);
  viem_settings_free(settings);
}

static void test_graph(void) {
  viem_error *error = NULL;
  viem_graph *graph = NULL, *read = NULL;
  int32_t ids[] = {0, 1, 3, 4}, targets[] = {1, 0, 2, 1};
  int64_t edge_weights[] = {5000000000, 5000000000, 7, 7}, vertex_weights[] = {0, 1, 2};
  int64_t from[] = {0, 1, 2, 1}, to[] = {1, 0, 1, 1}, weights[] = {2, 3, 4, 9};
  SUCCEED(viem_graph_new32w64(3, ids, targets, edge_weights, vertex_weights, &graph, &error));
  CHECK(viem_graph_num_vertices(graph) == 3 && viem_graph_num_edges(graph) == 2);
  SUCCEED(viem_graph_write(graph, "path.graph", &error));
  SUCCEED(viem_graph_read("path.graph", 0, &read, &error));
  CHECK(memcmp(viem_graph_edge_weights(read), edge_weights, sizeof edge_weights) == 0);
  CHECK(memcmp(viem_graph_vertex_weights(read), vertex_weights, sizeof vertex_weights) == 0);
  for (int i = 0; i < 4; i++) CHECK(viem_graph_targets(read)[i] == (uint32_t)targets[i] && viem_graph_offsets(read)[i] == (size_t)ids[i]);
  viem_graph_free(read);
  SUCCEED(viem_graph_read("path.graph", 1, &read, &error));
  CHECK(viem_graph_vertex_weights(read)[0] == 1);
  viem_graph_free(read);
  viem_graph_free(graph);
  const char *recorded[] = {"trace.0", "trace.1"};
  write_text(recorded[0], "viem_trace 1\nrank 0 of 3\np2p 1 2 50\nend 1\n");
  write_text(recorded[1], "viem_trace 1\nrank 1 of 3\np2p 0 1 7\np2p 2 1 9\nend 2\n");
  SUCCEED(viem_graph_read_traffic(2, recorded, 3, &graph, &error));
  CHECK(viem_graph_num_vertices(graph) == 3 && viem_graph_num_edges(graph) == 2);
  CHECK(viem_graph_edge_weights(graph)[0] == 57 && viem_graph_edge_weights(graph)[2] == 9);
  viem_graph_free(graph);
  SUCCEED(viem_graph_from_edges(3, 4, from, to, weights, &graph, &error));
  CHECK(viem_graph_num_edges(graph) == 2 && viem_graph_edge_weights(graph)[0] == 5);
  viem_graph_free(graph);
  SUCCEED(viem_graph_new32(0, ids, NULL, NULL, NULL, &graph, &error));
  CHECK(viem_graph_num_vertices(graph) == 0);
  viem_graph_free(graph);
}

/* PEs on a line. */
static int64_t on_a_line(void *data, uint32_t a, uint32_t b) { return *(int64_t *)data * (int64_t)(b - a); }

/* What falls outside of the bounds counts as the bounds. */
static int64_t wild(void *data, uint32_t a, uint32_t b) { (void)data; return a % 2 ? INT64_MIN : INT64_MAX - b; }

/* The busiest link or node carries less if that is the objective. */
static void test_objectives(const viem_graph *grid, const viem_machine *matrix) {
  viem_error *error = NULL;
  viem_machine *tree = new_machine("8:8", "1:10"), *torus = new_machine("torus:4x2", NULL);
  viem_settings *settings = new_settings(VIEM_PRESET_FAST);
  viem_graph *mesh = NULL;
  viem_mapping *plain = NULL, *lowered = NULL;
  viem_report before, after;
  int64_t nodes[2], links[2];
  int64_t from[126], to[126];
  for (int i = 0; i < 63; i++) {
    from[i] = i, to[i] = i + 1;
    from[63 + i] = i, to[63 + i] = (7 * i + 20) % 64;
  }
  SUCCEED(viem_graph_from_edges(64, 126, from, to, NULL, &mesh, &error));
  SUCCEED(viem_settings_set_seed(settings, 1, &error));

  SUCCEED(viem_map(mesh, tree, NULL, NULL, settings, &plain, &error));
  SUCCEED(viem_busiest(mesh, tree, plain, &nodes[0], &links[0], &error));
  SUCCEED(viem_mapping_report(plain, &before, &error));
  const char *const objectives[] = {"bottleneck", "busiest_node"};
  for (int i = 0; i < 2; i++) {
    SUCCEED(viem_settings_set_objective(settings, objectives[i], 0.05, &error));
    SUCCEED(viem_map(mesh, tree, NULL, NULL, settings, &lowered, &error));
    SUCCEED(viem_busiest(mesh, tree, lowered, &nodes[1], &links[1], &error));
    SUCCEED(viem_mapping_report(lowered, &after, &error));
    CHECK(i ? nodes[1] < nodes[0] : links[1] < links[0]);
    CHECK((double)after.cost <= 1.05 * (double)before.cost);
    viem_mapping_free(lowered);
  }
  viem_mapping_free(plain);

  /* Many vertices on a PE, with links and without. */
  SUCCEED(viem_settings_set_objective(settings, "J", 0, &error));
  SUCCEED(viem_map_many_to_one(grid, torus, NULL, NULL, settings, &plain, &error));
  SUCCEED(viem_settings_set_objective(settings, "bottleneck", 0.1, &error));
  SUCCEED(viem_map_many_to_one(grid, torus, NULL, NULL, settings, &lowered, &error));
  SUCCEED(viem_busiest(grid, torus, plain, &nodes[0], &links[0], &error));
  SUCCEED(viem_busiest(grid, torus, lowered, &nodes[1], &links[1], &error));
  SUCCEED(viem_mapping_report(lowered, &after, &error));
  CHECK(links[1] <= links[0] && after.loads.overload == 0);
  viem_mapping_free(plain);
  viem_mapping_free(lowered);
  SUCCEED(viem_map_many_to_one(grid, matrix, NULL, NULL, settings, &plain, &error));
  SUCCEED(viem_busiest(grid, matrix, plain, &nodes[0], &links[0], &error));
  CHECK(links[0] == VIEM_UNKNOWN && nodes[0] > 0);
  viem_mapping_free(plain);
  viem_graph_free(mesh);
  viem_settings_free(settings);
  viem_machine_free(tree);
  viem_machine_free(torus);
}

static void test_map(void) {
  viem_error *error = NULL;
  viem_graph *path = new_grid(16, 1), *grid = new_grid(40, 40);
  viem_machine *tree = new_machine("4:2:2", "1:10:100"), *line = NULL, *matrix = NULL, *slow = NULL, *listed = NULL;
  viem_mapping *mapping = NULL, *many = NULL, *moved = NULL;
  viem_report report, again;
  int64_t step = 3, distance, distances[16] = {0, 1, 2, 3, 1, 0, 4, 5, 2, 4, 0, 6, 3, 5, 6, 0};
  int32_t fixed[16];
  uint32_t capacities[16];

  SUCCEED(viem_map(path, tree, NULL, NULL, NULL, &mapping, &error));
  SUCCEED(viem_mapping_report(mapping, &report, &error));
  CHECK(report.cost == 2 * (12 + 2 * 10 + 100) && report.cost_of_identity == report.cost);
  SUCCEED(viem_evaluate(path, tree, mapping, 0, NULL, &again, &error));
  CHECK(again.cost == report.cost);
  SUCCEED(viem_mapping_write(mapping, "mapping", &error));
  SUCCEED(viem_mapping_read("mapping", 16, 16, &moved, &error));
  CHECK(memcmp(viem_mapping_pes(mapping), viem_mapping_pes(moved), 16 * sizeof(uint32_t)) == 0);

  /* Never worse than a start. */
  viem_mapping_free(mapping);
  SUCCEED(viem_map(path, tree, moved, NULL, NULL, &mapping, &error));
  SUCCEED(viem_mapping_report(mapping, &again, &error));
  CHECK(again.cost_of_start == report.cost && again.cost <= report.cost);
  viem_mapping_free(mapping);
  viem_mapping_free(moved);

  for (int i = 0; i < 16; i++) fixed[i] = -1;
  fixed[3] = 9;
  SUCCEED(viem_map(path, tree, NULL, fixed, NULL, &mapping, &error));
  CHECK(viem_mapping_pes(mapping)[3] == 9);
  viem_mapping_free(mapping);

  /* Distances from a function and from a matrix. */
  SUCCEED(viem_machine_from_function(16, on_a_line, &step, 45, 1, &line, &error));
  SUCCEED(viem_machine_distance(line, 15, 0, &distance, &error));
  CHECK(distance == 45 && viem_machine_num_pes(line) == 16);
  SUCCEED(viem_map(path, line, NULL, NULL, NULL, &mapping, &error));
  SUCCEED(viem_mapping_report(mapping, &report, &error));
  CHECK(report.cost == 2 * 15 * 3);
  viem_mapping_free(mapping);
  viem_machine_free(line);
  SUCCEED(viem_machine_from_function(16, wild, NULL, 7, 1, &line, &error));
  SUCCEED(viem_machine_distance(line, 0, 2, &distance, &error));
  CHECK(distance == 7);
  SUCCEED(viem_map(path, line, NULL, NULL, NULL, &mapping, &error));
  viem_mapping_free(mapping);
  SUCCEED(viem_machine_from_matrix(4, distances, &matrix, &error));
  SUCCEED(viem_machine_distance(matrix, 2, 3, &distance, &error));
  CHECK(distance == 6);
  SUCCEED(viem_machine_new("torus:4x4", NULL, "0-3,8", &listed, &error));
  CHECK(viem_machine_num_pes(listed) == 5);
  viem_machine_free(listed);
  SUCCEED(viem_machine_from_text("torus:4x4", NULL, "0-3,8", VIEM_PE_CORE, NULL, NULL, &listed, &error));
  CHECK(viem_machine_num_pes(listed) == 5);

  /* Many vertices per PE, and a PE that becomes slow. */
  SUCCEED(viem_map_many_to_one(grid, tree, NULL, NULL, NULL, &many, &error));
  SUCCEED(viem_mapping_report(many, &report, &error));
  CHECK(report.loads.overload == 0 && report.loads.greatest <= 103 && report.cut > 0 && report.cost > report.cut);
  for (int pe = 0; pe < 16; pe++) capacities[pe] = pe == 5 ? 1 : 2;
  SUCCEED(viem_machine_with_capacities(tree, 16, capacities, &slow, &error));
  viem_machine_free(tree);
  SUCCEED(viem_remap(grid, slow, many, 5.0, NULL, NULL, &moved, &error));
  SUCCEED(viem_mapping_report(moved, &report, &error));
  CHECK(report.loads.overload == 0 && report.migration.vertices > 0 && report.migration.vertices < 800);
  SUCCEED(viem_evaluate(grid, slow, moved, 1, NULL, &again, &error));
  CHECK(again.cost == report.cost && again.cut == report.cut && again.loads.greatest == report.loads.greatest);
  test_objectives(grid, matrix);
  viem_mapping_free(many);
  viem_mapping_free(moved);
  viem_machine_free(slow);
  viem_machine_free(listed);
  viem_machine_free(matrix);
  viem_machine_free(line);
  viem_graph_free(path);
  viem_graph_free(grid);
}

/* The low loads of a report are those computed here, for 1600 vertices of weight 1 and 16 equal shares. Returns the smallest load. */
static int64_t check_low_loads(const viem_mapping *mapping, const viem_report *report, int64_t least) {
  int64_t loads[16] = {0}, smallest = 1600, half = 0, below = 0, shortfall = 0;
  for (int v = 0; v < 1600; v++) loads[viem_mapping_pes(mapping)[v]]++;
  for (int pe = 0; pe < 16; pe++) {
    if (loads[pe] < smallest) smallest = loads[pe];
    half += loads[pe] < 50;
    below += loads[pe] < least;
    if (loads[pe] < least) shortfall += least - loads[pe];
  }
  CHECK(report->loads.least == smallest && report->loads.below_half == half);
  CHECK(report->loads.below_least == below && report->loads.shortfall == shortfall);
  return smallest;
}

/* Notes are returned once, and errors have none. */
static void test_notes(void) {
  viem_error *error = NULL;
  viem_graph *graph = NULL;
  viem_settings *settings = new_settings(VIEM_PRESET_FAST);
  viem_mapping *partition = NULL;
  viem_machine *tree = new_machine("4:2", "1:10");
  const char *path = "two_weights.graph";
  FILE *file = fopen(path, "w");
  CHECK(file != NULL && fputs("8 0 010 2\n1 5\n1 5\n1 5\n1 5\n1 5\n1 5\n1 5\n1 5\n", file) >= 0 && fclose(file) == 0);
  SUCCEED(viem_graph_read(path, 0, &graph, &error));
  CHECK(strcmp(viem_notes(), "") == 0 && viem_graph_num_weights(graph) == 2);
  SUCCEED(viem_settings_set_least_load(settings, 0.9, &error));
  CHECK(strcmp(viem_notes(), "") == 0);
  SUCCEED(viem_partition(graph, 8, NULL, NULL, settings, &partition, &error));
  CHECK(strcmp(viem_notes(), "a least load of 90 % of 1 is 0, as it is rounded down") == 0);
  viem_mapping_free(partition);
  SUCCEED(viem_map_many_to_one(graph, tree, NULL, NULL, settings, &partition, &error));
  CHECK(strcmp(viem_notes(), "a least load of 90 % of 1 is 0, as it is rounded down") == 0);
  viem_mapping_free(partition);
  SUCCEED(viem_partition(graph, 4, NULL, NULL, settings, &partition, &error));
  CHECK(strcmp(viem_notes(), "") == 0);
  viem_mapping_free(partition);
  viem_graph_free(graph);
  SUCCEED(viem_graph_read(path, 1, &graph, &error));
  CHECK(strcmp(viem_notes(), "") == 0);
  viem_graph_free(graph);
  CHECK(remove(path) == 0);
  CHECK(viem_graph_read(path, 0, &graph, &error) != VIEM_STATUS_OK && strcmp(viem_notes(), "") == 0);
  viem_error_free(error);
  viem_machine_free(tree);
  viem_settings_free(settings);
}

/* Loads of up to twice the share, without a least load and with one of 75 % of it. */
static void test_least_load(void) {
  viem_error *error = NULL;
  viem_graph *grid = new_grid(40, 40);
  viem_machine *tree = new_machine("4:2:2", "1:10:100");
  viem_settings *settings = new_settings(VIEM_PRESET_FAST);
  viem_mapping *old = NULL, *found[4] = {NULL, NULL, NULL, NULL};
  viem_report report;
  int64_t shares[16];
  int32_t half[1600];
  /* All is in the first half of the blocks. */
  for (int v = 0; v < 1600; v++) half[v] = v / 200;
  for (int block = 0; block < 16; block++) shares[block] = block < 8;
  SUCCEED(viem_mapping_new32(16, 1600, half, &old, &error));
  SUCCEED(viem_mapping_report(old, &report, &error));
  CHECK(report.loads.below_half == VIEM_UNKNOWN && report.loads.below_least == VIEM_UNKNOWN && report.loads.shortfall == VIEM_UNKNOWN);
  SUCCEED(viem_settings_set_imbalance(settings, 1, &error));
  for (int least = 0; least <= 75; least += 75) {
    SUCCEED(viem_settings_set_least_load(settings, least / 100.0, &error));
    SUCCEED(viem_partition(grid, 16, NULL, NULL, settings, &found[0], &error));
    SUCCEED(viem_repartition(grid, 16, NULL, NULL, old, 0.01, settings, &found[1], &error));
    SUCCEED(viem_map_many_to_one(grid, tree, NULL, NULL, settings, &found[2], &error));
    SUCCEED(viem_remap(grid, tree, old, 0.01, NULL, settings, &found[3], &error));
    for (int i = 0; i < 4; i++) {
      SUCCEED(viem_mapping_report(found[i], &report, &error));
      CHECK(report.loads.overload == 0);
      CHECK(least == 0 ? check_low_loads(found[i], &report, 0) < 50 : check_low_loads(found[i], &report, 75) >= 75);
      viem_mapping_free(found[i]);
    }
    SUCCEED(viem_evaluate_partition(grid, 16, NULL, old, settings, &report, &error));
    CHECK(check_low_loads(old, &report, least) == 0 && report.loads.below_half == 8 && report.loads.shortfall == 8 * least);
    SUCCEED(viem_evaluate(grid, tree, old, 1, settings, &report, &error));
    CHECK(check_low_loads(old, &report, least) == 0 && report.loads.below_half == 8 && report.loads.shortfall == 8 * least);
    SUCCEED(viem_evaluate_partition(grid, 16, shares, old, settings, &report, &error));
    CHECK(report.loads.below_half == 0 && report.loads.below_least == 0 && report.loads.shortfall == 0);
  }
  /* One that each block and PE has for itself: from 25 to 100. */
  int64_t least[16];
  for (int block = 0; block < 16; block++) least[block] = 25 + 5 * block;
  SUCCEED(viem_settings_set_least_loads(settings, 16, least, &error));
  SUCCEED(viem_partition(grid, 16, NULL, NULL, settings, &found[0], &error));
  SUCCEED(viem_map_many_to_one(grid, tree, NULL, NULL, settings, &found[1], &error));
  for (int i = 0; i < 2; i++) {
    int64_t loads[16] = {0};
    for (int v = 0; v < 1600; v++) loads[viem_mapping_pes(found[i])[v]]++;
    for (int block = 0; block < 16; block++) CHECK(loads[block] >= least[block] && loads[block] <= 200);
    viem_mapping_free(found[i]);
  }
  FAIL(viem_partition(grid, 15, NULL, NULL, settings, &found[0], &error), VIEM_STATUS_USAGE, "16 least loads");
  least[3] = 101;
  SUCCEED(viem_settings_set_least_loads(settings, 16, least, &error));
  FAIL(viem_partition(grid, 16, NULL, NULL, settings, &found[0], &error), VIEM_STATUS_USAGE, "block 3 has size 100");
  FAIL(viem_settings_set_least_loads(settings, 16, NULL, &error), VIEM_STATUS_USAGE, "`least_loads`");
  SUCCEED(viem_settings_set_least_loads(settings, 0, NULL, &error));
  SUCCEED(viem_partition(grid, 15, NULL, NULL, settings, &found[0], &error));
  viem_mapping_free(found[0]);
  viem_mapping_free(old);
  viem_settings_free(settings);
  viem_machine_free(tree);
  viem_graph_free(grid);
}

/* Blocks and PEs are connected if that is asked for, and the report counts those that are not. */
static void test_connected(void) {
  viem_error *error = NULL;
  viem_graph *grid = new_grid(20, 20);
  viem_machine *tree = new_machine("4:4", "1:10");
  viem_settings *settings = new_settings(VIEM_PRESET_FAST);
  viem_mapping *found = NULL, *dealt = NULL;
  viem_report report;
  int32_t alternating[400];
  for (int v = 0; v < 400; v++) alternating[v] = v % 16;
  SUCCEED(viem_mapping_new32(16, 400, alternating, &dealt, &error));
  SUCCEED(viem_evaluate_partition(grid, 16, NULL, dealt, settings, &report, &error));
  CHECK(report.in_pieces == 16);
  SUCCEED(viem_evaluate(grid, tree, dealt, 1, settings, &report, &error));
  CHECK(report.in_pieces == 16);
  SUCCEED(viem_settings_set_imbalance_per_division(settings, 1, &error));
  SUCCEED(viem_partition(grid, 16, NULL, NULL, settings, &found, &error));
  SUCCEED(viem_mapping_report(found, &report, &error));
  const int64_t bound = report.loads.bound;
  viem_mapping_free(found);
  SUCCEED(viem_settings_set_imbalance_per_division(settings, 0, &error));
  SUCCEED(viem_partition(grid, 16, NULL, NULL, settings, &found, &error));
  SUCCEED(viem_mapping_report(found, &report, &error));
  CHECK(report.loads.bound < bound);
  viem_mapping_free(found);
  SUCCEED(viem_settings_set_connected(settings, 1, &error));
  SUCCEED(viem_partition(grid, 16, NULL, NULL, settings, &found, &error));
  SUCCEED(viem_mapping_report(found, &report, &error));
  CHECK(report.in_pieces == 0 && report.loads.overload == 0);
  viem_mapping_free(found);
  SUCCEED(viem_map_many_to_one(grid, tree, NULL, NULL, settings, &found, &error));
  SUCCEED(viem_mapping_report(found, &report, &error));
  CHECK(report.in_pieces == 0 && report.loads.overload == 0);
  viem_mapping_free(found);
  FAIL(viem_remap(grid, tree, dealt, 1, NULL, settings, &found, &error), VIEM_STATUS_USAGE, "joining what lies apart");
  FAIL(viem_repartition(grid, 16, NULL, NULL, dealt, 1, settings, &found, &error), VIEM_STATUS_USAGE, "joining what lies apart");
  viem_mapping_free(dealt);
  viem_settings_free(settings);
  viem_machine_free(tree);
  viem_graph_free(grid);
}

/* Time and memory of each of four blocks or PEs. */
static void sum_up(const viem_mapping *found, const int64_t *weights, int64_t loads[4][2]) {
  memset(loads, 0, 8 * sizeof(int64_t));
  for (int v = 0; v < 400; v++) {
    for (int weight = 0; weight < 2; weight++) loads[viem_mapping_pes(found)[v]][weight] += weights[2 * v + weight];
  }
}

/* Memory of 1400 in all: in proportion to capacities of its own, then within that of two nodes. */
static void test_capacities_of_weights(const viem_graph *weighted, const viem_machine *tree, const int64_t *weights) {
  viem_error *error = NULL;
  viem_settings *settings = new_settings(VIEM_PRESET_FAST);
  viem_mapping *found = NULL, *moved = NULL;
  viem_report report;
  uint32_t capacities[8] = {1, 2, 1, 1, 1, 1, 1, 1};
  int64_t loads[4][2], memory[4] = {-1, 500, -1, 1000}, most[4] = {576, 288, 288, 288};
  double imbalances[2] = {0.03, 100};
  CHECK(viem_machine_num_nodes(tree) == 2 && viem_machine_num_nodes(NULL) == 0);
  SUCCEED(viem_settings_set_capacities_of_weights(settings, 2, 4, capacities, &error));
  SUCCEED(viem_partition(weighted, 4, NULL, NULL, settings, &found, &error));
  sum_up(found, weights, loads);
  for (int block = 0; block < 4; block++) CHECK(loads[block][0] <= 103 && loads[block][1] <= most[block]);
  CHECK(loads[0][1] > 350);
  viem_mapping_free(found);
  FAIL(viem_partition(weighted, 5, NULL, NULL, settings, &found, &error), VIEM_STATUS_USAGE, "4 capacities");
  SUCCEED(viem_settings_set_capacities_of_weights(settings, 0, 0, NULL, &error));
  int64_t least[8] = {0, 20, 0, 0, 0, 0, 90, 300};
  double wide[2] = {0.5, 3};
  FAIL(viem_settings_set_least_loads_of_weights(settings, 2, 4, NULL, &error), VIEM_STATUS_USAGE, "`least_loads`");
  SUCCEED(viem_settings_set_limits_of_weights(settings, 2, wide, NULL, &error));
  SUCCEED(viem_settings_set_least_loads_of_weights(settings, 2, 4, least, &error));
  SUCCEED(viem_partition(weighted, 4, NULL, NULL, settings, &found, &error));
  sum_up(found, weights, loads);
  for (int block = 0; block < 4; block++) CHECK(loads[block][0] >= least[2 * block] && loads[block][1] >= least[2 * block + 1]);
  viem_mapping_free(found);
  SUCCEED(viem_settings_set_least_loads_of_weights(settings, 0, 0, NULL, &error));
  SUCCEED(viem_settings_set_limits_of_weights(settings, 2, imbalances, NULL, &error));
  SUCCEED(viem_settings_set_node_capacities(settings, 2, 2, memory, &error));
  SUCCEED(viem_map_many_to_one(weighted, tree, NULL, NULL, settings, &found, &error));
  SUCCEED(viem_remap(weighted, tree, found, 1, NULL, settings, &moved, &error));
  sum_up(moved, weights, loads);
  for (int pe = 0; pe < 4; pe++) CHECK(loads[pe][0] <= 103);
  CHECK(loads[0][1] + loads[1][1] <= 500 && loads[2][1] + loads[3][1] <= 1000);
  SUCCEED(viem_mapping_report(moved, &report, &error));
  CHECK(report.loads.overload == 0);
  viem_mapping_free(moved);
  viem_mapping_free(found);
  memory[1] = 5, memory[3] = 5;
  SUCCEED(viem_settings_set_node_capacities(settings, 2, 2, memory, &error));
  SUCCEED(viem_map_many_to_one(weighted, tree, NULL, NULL, settings, &found, &error));
  SUCCEED(viem_mapping_report(found, &report, &error));
  CHECK(report.loads.overload == 1390);
  viem_mapping_free(found);
  memory[2] = 4;
  FAIL(viem_settings_set_node_capacities(settings, 2, 2, memory, &error), VIEM_STATUS_USAGE, "the capacity of a node is -1");
  FAIL(viem_settings_set_node_capacities(settings, 2, 2, NULL, &error), VIEM_STATUS_USAGE, "`capacities`");
  FAIL(viem_settings_set_capacities_of_weights(settings, INT64_MAX, INT64_MAX, capacities, &error), VIEM_STATUS_USAGE, "");
  FAIL(viem_settings_set_capacities_of_weights(NULL, 2, 4, capacities, &error), VIEM_STATUS_USAGE, "`settings`");
  viem_settings_free(settings);
}

/* A grid of 20 x 20 whose left half has memory, too. */
static void test_several_weights(void) {
  viem_error *error = NULL;
  viem_graph *grid = new_grid(20, 20), *weighted = NULL, *read = NULL;
  viem_machine *tree = new_machine("2:2", "1:10");
  viem_settings *settings = new_settings(VIEM_PRESET_FAST);
  viem_mapping *found[3] = {NULL};
  viem_report report;
  int64_t weights[800];
  double imbalances[2] = {0.02, 0.1}, least_loads[2] = {0, 0.9};
  for (int v = 0; v < 400; v++) weights[2 * v] = 1, weights[2 * v + 1] = v % 20 < 10 ? 7 : 0;
  SUCCEED(viem_graph_with_weights(grid, 2, weights, &weighted, &error));
  CHECK(viem_graph_num_weights(grid) == 1 && viem_graph_num_weights(weighted) == 2 && viem_graph_num_weights(NULL) == 0);
  CHECK(memcmp(viem_graph_vertex_weights(weighted), weights, sizeof weights) == 0);
  SUCCEED(viem_graph_write(weighted, "several.graph", &error));
  SUCCEED(viem_graph_read("several.graph", 0, &read, &error));
  CHECK(memcmp(viem_graph_vertex_weights(read), weights, sizeof weights) == 0);
  SUCCEED(viem_settings_set_limits_of_weights(settings, 2, imbalances, least_loads, &error));
  SUCCEED(viem_partition(weighted, 4, NULL, NULL, settings, &found[0], &error));
  SUCCEED(viem_map_many_to_one(weighted, tree, NULL, NULL, settings, &found[1], &error));
  SUCCEED(viem_partition(read, 4, NULL, NULL, settings, &found[2], &error));
  CHECK(memcmp(viem_mapping_pes(found[0]), viem_mapping_pes(found[2]), 400 * sizeof(uint32_t)) == 0);
  for (int i = 0; i < 3; i++) {
    int64_t loads[4][2] = {{0}};
    for (int v = 0; v < 400; v++) {
      uint32_t block = viem_mapping_pes(found[i])[v];
      for (int weight = 0; weight < 2; weight++) loads[block][weight] += weights[2 * v + weight];
    }
    for (int block = 0; block < 4; block++) CHECK(loads[block][0] <= 102 && loads[block][1] <= 385 && loads[block][1] >= 315);
    SUCCEED(viem_mapping_report(found[i], &report, &error));
    CHECK(report.loads.overload == 0 && report.loads.shortfall == 0);
    viem_mapping_free(found[i]);
  }
  FAIL(viem_partition(grid, 4, NULL, NULL, settings, &found[0], &error), VIEM_STATUS_USAGE, "2 limits for 1 weight");
  SUCCEED(viem_settings_set_limits_of_weights(settings, 0, NULL, NULL, &error));
  SUCCEED(viem_partition(weighted, 4, NULL, NULL, settings, &found[0], &error));
  SUCCEED(viem_repartition(weighted, 4, NULL, NULL, found[0], 1000, settings, &found[1], &error));
  SUCCEED(viem_mapping_report(found[1], &report, &error));
  CHECK(report.migration.vertices == 0 && report.loads.overload == 0);
  viem_mapping_free(found[1]);
  viem_mapping_free(found[0]);
  test_capacities_of_weights(weighted, tree, weights);
  imbalances[1] = -1;
  FAIL(viem_settings_set_limits_of_weights(settings, 2, imbalances, NULL, &error), VIEM_STATUS_USAGE, "imbalance");
  FAIL(viem_settings_set_limits_of_weights(settings, 2, NULL, NULL, &error), VIEM_STATUS_USAGE, "`imbalances`");
  viem_graph *none = NULL;
  FAIL(viem_graph_with_weights(grid, 0, weights, &none, &error), VIEM_STATUS_USAGE, "has 0 weights");
  FAIL(viem_graph_with_weights(grid, INT64_MAX, weights, &none, &error), VIEM_STATUS_USAGE, "weights");
  weights[5] = -1;
  FAIL(viem_graph_with_weights(grid, 2, weights, &none, &error), VIEM_STATUS_BAD_DATA, "weight 1 of vertex 2 is -1");
  viem_settings_free(settings);
  viem_machine_free(tree);
  viem_graph_free(read);
  viem_graph_free(weighted);
  viem_graph_free(grid);
}

static void test_qap(void) {
  viem_error *error = NULL;
  viem_qap *qap = NULL, *read = NULL;
  viem_mapping *assignment = NULL, *again = NULL;
  viem_report report;
  int64_t a[9] = {0, 5, 1, 5, 0, 2, 1, 2, 0}, b[9] = {0, 9, 2, 9, 0, 3, 2, 3, 0}, cost;
  SUCCEED(viem_qap_new(3, a, b, &qap, &error));
  SUCCEED(viem_qap_write(qap, "small.dat", &error));
  SUCCEED(viem_qap_read("small.dat", &read, &error));
  CHECK(viem_qap_size(read) == 3);
  SUCCEED(viem_qap_solve(read, NULL, NULL, &assignment, &error));
  SUCCEED(viem_mapping_report(assignment, &report, &error));
  /* The heaviest flow over the shortest distance: 2 (5 * 2 + 2 * 3 + 1 * 9). */
  CHECK(report.optimal == 1 && report.cost == 50);
  SUCCEED(viem_qap_cost(qap, assignment, &cost, &error));
  CHECK(cost == 50);
  SUCCEED(viem_qap_solve(qap, assignment, NULL, &again, &error));
  SUCCEED(viem_qap_write_solution(qap, assignment, "small.sln", &error));
  viem_mapping_free(again);
  viem_mapping_free(assignment);
  viem_qap_free(read);
  viem_qap_free(qap);
}

static void test_launch(void) {
  viem_error *error = NULL;
  viem_machine *machine = new_machine("2:2", "1:10");
  viem_mapping *mapping = NULL, *read = NULL;
  int32_t pes[4] = {3, 0, 2, 1};
  const char *paths[1] = {"ranks"};
  int64_t files;
  char *command = NULL;
  SUCCEED(viem_mapping_new32(4, 4, pes, &mapping, &error));
  SUCCEED(viem_launch_num_files("plain", &files, &error));
  CHECK(files == 1);
  SUCCEED(viem_launch_write("plain", machine, mapping, 1, paths, &command, &error));
  CHECK(command == NULL);
  SUCCEED(viem_launch_read("ranks", machine, 4, &read, &error));
  for (int rank = 0; rank < 4; rank++) CHECK(viem_mapping_pes(read)[rank] == (uint32_t)pes[rank]);
  FAIL(viem_launch_write("openmpi", machine, mapping, 1, paths, &command, &error), VIEM_STATUS_USAGE, "names of the hosts");
  viem_mapping_free(read);
  viem_mapping_free(mapping);
  viem_machine_free(machine);
}

static int calls;

static int stop_at_third(void *data, int64_t cost) {
  (void)cost;
  CHECK(data == &calls);
  return ++calls >= 3;
}

static void test_progress(void) {
  viem_error *error = NULL;
  viem_graph *grid = new_grid(256, 256);
  viem_machine *machine = new_machine("4:4:4", "1:10:100");
  viem_settings *settings = new_settings(VIEM_PRESET_STRONG);
  viem_mapping *mapping = NULL;
  viem_report report;
  SUCCEED(viem_settings_set_progress(settings, stop_at_third, &calls, &error));
  SUCCEED(viem_partition(grid, 64, NULL, NULL, settings, &mapping, &error));
  check_partition(mapping, 65536, 64);
  SUCCEED(viem_mapping_report(mapping, &report, &error));
  CHECK(report.stopped == 1 && calls == 3);
  viem_mapping_free(mapping);
  calls = 0;
  SUCCEED(viem_map_many_to_one(grid, machine, NULL, NULL, settings, &mapping, &error));
  SUCCEED(viem_mapping_report(mapping, &report, &error));
  CHECK(report.stopped == 1 && calls == 3 && report.loads.overload == 0);
  viem_mapping_free(mapping);
  SUCCEED(viem_settings_set_progress(settings, NULL, NULL, &error));
  SUCCEED(viem_settings_set_time_limit(settings, 0.05, &error));
  SUCCEED(viem_partition(grid, 64, NULL, NULL, settings, &mapping, &error));
  SUCCEED(viem_mapping_report(mapping, &report, &error));
  CHECK(report.stopped == 1 && report.loads.overload == 0);
  viem_mapping_free(mapping);
  viem_settings_free(settings);
  viem_machine_free(machine);
  viem_graph_free(grid);
}

static viem_graph *shared;

static void *partition_shared(void *expected) {
  viem_error *error = NULL;
  viem_mapping *partition = NULL;
  SUCCEED(viem_partition(shared, 5, NULL, NULL, NULL, &partition, &error));
  CHECK(memcmp(viem_mapping_pes(partition), expected, 900 * sizeof(uint32_t)) == 0);
  viem_mapping_free(partition);
  CHECK(viem_partition(shared, 0, NULL, NULL, NULL, &partition, &error) == VIEM_STATUS_USAGE && partition == NULL);
  CHECK(strstr(viem_error_message(error), "at least one block") != NULL);
  viem_error_free(error);
  return NULL;
}

static void test_threads(void) {
  viem_error *error = NULL;
  viem_mapping *partition = NULL;
  pthread_t threads[4];
  shared = new_grid(30, 30);
  SUCCEED(viem_partition(shared, 5, NULL, NULL, NULL, &partition, &error));
  for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, partition_shared, (void *)viem_mapping_pes(partition)) == 0);
  for (int i = 0; i < 4; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  viem_mapping_free(partition);
  viem_graph_free(shared);
}

int main(void) {
  trap_exceptions();
  test_graph();
  test_partition();
  test_map();
  test_least_load();
  test_notes();
  test_connected();
  test_several_weights();
  test_qap();
  test_launch();
  test_progress();
  test_threads();
  CHECK(exceptions_trap());
  return 0;
}
