/* Arguments that no honest program passes: each is an error that says what is wrong and where. */
#include "check.h"

#include <math.h>

static viem_error *error;
static viem_graph *graph;
static viem_machine *machine;
static viem_mapping *mapping;
static viem_settings *settings;
static viem_qap *qap;

/* An array at an address where no integer may be. */
static const void *misaligned(const void *array) { return (const char *)array + 1; }

static void test_graphs(void) {
  int32_t offsets[] = {0, 1, 3, 4}, targets[] = {1, 0, 2, 1}, weights[] = {1, 1, 1, 1};
  int32_t falling[] = {0, 3, 1, 4}, late[] = {1, 1, 3, 4}, negative[] = {0, 1, -3, 4};
  int32_t outside[] = {1, 0, 3, 1}, below[] = {1, 0, -2, 1}, loop[] = {1, 1, 2, 1}, twice[] = {1, 2, 2, 1};
  int32_t zero[] = {1, 1, 0, 0}, unequal[] = {1, 2, 1, 1}, minus[] = {1, -1, 1};
  int64_t huge[] = {INT64_MAX, INT64_MAX, 1, 1}, far[] = {0, 1, INT64_MAX, 4}, many[] = {0, 1, 2, (int64_t)1 << 33};
  int64_t wide[] = {0, 1, 3, 4}, ends[] = {1, 0, 2, 1}, from[] = {0, 5}, to[] = {1, 1}, sums[] = {INT64_MAX, 2};
#define NEW(n, o, t, e, v) viem_graph_new32(n, o, t, e, v, &graph, &error)
  FAIL(NEW(-1, offsets, targets, NULL, NULL), VIEM_STATUS_USAGE, "`num_vertices` is -1");
  FAIL(NEW(INT64_MAX, offsets, targets, NULL, NULL), VIEM_STATUS_USAGE, "at most 4294967295");
  FAIL(NEW(3, NULL, targets, NULL, NULL), VIEM_STATUS_USAGE, "`offsets` must not be null");
  FAIL(NEW(3, offsets, NULL, NULL, NULL), VIEM_STATUS_USAGE, "`targets` must not be null");
  FAIL(NEW(3, misaligned(offsets), targets, NULL, NULL), VIEM_STATUS_USAGE, "not aligned");
  FAIL(NEW(3, offsets, targets, misaligned(weights), NULL), VIEM_STATUS_USAGE, "`edge_weights` is not aligned");
  FAIL(NEW(3, falling, targets, NULL, NULL), VIEM_STATUS_BAD_DATA, "must not fall");
  CHECK(failed_at == 2);
  FAIL(NEW(3, late, targets, NULL, NULL), VIEM_STATUS_BAD_DATA, "the first is 0");
  FAIL(NEW(3, negative, targets, NULL, NULL), VIEM_STATUS_BAD_DATA, "is -3");
  FAIL(NEW(3, offsets, outside, NULL, NULL), VIEM_STATUS_BAD_DATA, "0..3");
  CHECK(failed_at == 1);
  FAIL(NEW(3, offsets, below, NULL, NULL), VIEM_STATUS_BAD_DATA, "entry 2 of the targets is -2");
  CHECK(failed_at == 2);
  FAIL(NEW(3, offsets, loop, NULL, NULL), VIEM_STATUS_BAD_DATA, "edge to itself");
  FAIL(NEW(3, offsets, twice, NULL, NULL), VIEM_STATUS_BAD_DATA, "more than once");
  FAIL(NEW(2, offsets, targets, NULL, NULL), VIEM_STATUS_BAD_DATA, "0..2");
  FAIL(NEW(3, offsets, targets, zero, NULL), VIEM_STATUS_BAD_DATA, "must be positive");
  FAIL(NEW(3, offsets, targets, unequal, NULL), VIEM_STATUS_BAD_DATA, "in one direction");
  FAIL(NEW(3, offsets, targets, NULL, minus), VIEM_STATUS_BAD_DATA, "vertex 1 has weight -1");
  CHECK(failed_at == 1);
  targets[2] = 0;
  FAIL(NEW(3, offsets, targets, NULL, NULL), VIEM_STATUS_BAD_DATA, "vertex 1");
  targets[2] = 2;
  FAIL(viem_graph_new64(3, wide, ends, huge, NULL, &graph, &error), VIEM_STATUS_BAD_DATA, "sum of the edge weights");
  FAIL(viem_graph_new64(3, far, ends, NULL, NULL, &graph, &error), VIEM_STATUS_BAD_DATA, "entry 2");
  FAIL(viem_graph_new64(3, many, ends, NULL, NULL, &graph, &error), VIEM_STATUS_BAD_DATA, "entry 3");
  FAIL(viem_graph_new32(3, offsets, targets, NULL, NULL, NULL, &error), VIEM_STATUS_USAGE, "`graph` must not be null");
  FAIL(viem_graph_from_edges(3, 2, from, to, NULL, &graph, &error), VIEM_STATUS_BAD_DATA, "entry 1 of `from` is 5");
  CHECK(failed_at == 1);
  from[1] = 1, to[1] = 2;
  FAIL(viem_graph_from_edges(3, 2, from, to, sums, &graph, &error), VIEM_STATUS_BAD_DATA, "sum of the edge weights");
  FAIL(viem_graph_from_edges(3, -2, from, to, NULL, &graph, &error), VIEM_STATUS_USAGE, "negative");
  CHECK(graph == NULL);
  /* The error is not asked for. */
  CHECK(NEW(-1, NULL, NULL, NULL, NULL) == VIEM_STATUS_USAGE);
  viem_error_free(error);
  error = NULL;
  CHECK(viem_graph_new32(-1, NULL, NULL, NULL, NULL, NULL, NULL) == VIEM_STATUS_USAGE);
}

static void write_text(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void test_files(void) {
  const char *missing[] = {"no such file"}, *nothing[] = {NULL}, *faulty[] = {"faulty.0"};
  FAIL(viem_graph_read_traffic(1, missing, 0, &graph, &error), VIEM_STATUS_NO_INPUT, "no such file");
  FAIL(viem_graph_read_traffic(1, nothing, 0, &graph, &error), VIEM_STATUS_USAGE, "must not be null");
  FAIL(viem_graph_read_traffic(1, NULL, 0, &graph, &error), VIEM_STATUS_USAGE, "`paths` must not be null");
  FAIL(viem_graph_read_traffic(1, missing, -1, &graph, &error), VIEM_STATUS_USAGE, "`num_ranks`");
  write_text("faulty.0", "viem_trace 1\nrank 0 of 2\np2p 7 1 9\nend 1\n");
  CHECK(viem_graph_read_traffic(1, faulty, 0, &graph, &error) == VIEM_STATUS_BAD_DATA && graph == NULL);
  viem_error_free(error);
  error = NULL;
  FAIL(viem_graph_read("no such file", 0, &graph, &error), VIEM_STATUS_NO_INPUT, "no such file");
  FAIL(viem_graph_read(NULL, 0, &graph, &error), VIEM_STATUS_USAGE, "`path` must not be null");
  FAIL(viem_graph_read("\xff\xfe", 0, &graph, &error), VIEM_STATUS_USAGE, "not UTF-8 from byte 0");
  write_text("faulty.graph", "3 2\n2\n1 3\n9\n");
  CHECK(viem_graph_read("faulty.graph", 0, &graph, &error) == VIEM_STATUS_BAD_DATA);
  CHECK(viem_error_line(error) == 4 && viem_error_column(error) == 1 && strcmp(viem_error_file(error), "faulty.graph") == 0);
  viem_error_free(error);
  error = NULL;
  write_text("faulty.dat", "2\n0 1\n1 x\n0 1 1 0\n");
  CHECK(viem_qap_read("faulty.dat", &qap, &error) == VIEM_STATUS_BAD_DATA);
  CHECK(viem_error_line(error) == 3 && viem_error_column(error) == 3);
  viem_error_free(error);
  error = NULL;
  FAIL(viem_graph_write(NULL, "x", &error), VIEM_STATUS_USAGE, "`graph` must not be null");
  graph = new_grid(2, 2);
  FAIL(viem_graph_write(graph, "no/such/folder", &error), VIEM_STATUS_CANNOT_CREATE, "no/such/folder");
  FAIL(viem_mapping_read("faulty.graph", 4, 4, &mapping, &error), VIEM_STATUS_BAD_DATA, "line 1");
  FAIL(viem_mapping_read("faulty.graph", -4, 4, &mapping, &error), VIEM_STATUS_USAGE, "`num_pes` is -4");
  viem_graph_free(graph);
}

static int64_t negative(void *data, uint32_t a, uint32_t b) { (void)data, (void)a, (void)b; return -1; }

static void test_machines(void) {
  int64_t asymmetric[] = {0, 1, 2, 0}, unset[] = {1, 1, 1, 0}, below[] = {0, -1, -1, 0}, distance;
  uint32_t capacities[] = {1, 0, 1, 1};
  FAIL(viem_machine_new(NULL, NULL, NULL, &machine, &error), VIEM_STATUS_USAGE, "`spec` must not be null");
  FAIL(viem_machine_new("torus:0x0", NULL, NULL, &machine, &error), VIEM_STATUS_USAGE, "torus:0x0");
  FAIL(viem_machine_new("4:4", "1:x", NULL, &machine, &error), VIEM_STATUS_USAGE, "`x`");
  FAIL(viem_machine_new("4:4", "1:10", "99", &machine, &error), VIEM_STATUS_USAGE, "99");
  FAIL(viem_machine_from_text("4:4", "1:10", NULL, 7, NULL, NULL, &machine, &error), VIEM_STATUS_USAGE, "`pe`");
  FAIL(viem_machine_from_text("4:4", "1:10", NULL, VIEM_PE_GPU, NULL, NULL, &machine, &error), VIEM_STATUS_USAGE, "clusters");
  FAIL(viem_machine_from_text("4:4", "1:10", NULL, VIEM_PE_CORE, "no", NULL, &machine, &error), VIEM_STATUS_USAGE, "clusters");
  FAIL(viem_machine_from_text("4:4", "1:10", NULL, VIEM_PE_CORE, NULL, "no", &machine, &error), VIEM_STATUS_USAGE, "networks");
  FAIL(viem_machine_new("99999999:99999999", "1:10", NULL, &machine, &error), VIEM_STATUS_USAGE, "processing elements");
  FAIL(viem_machine_from_matrix(2, asymmetric, &machine, &error), VIEM_STATUS_BAD_DATA, "on the way back");
  FAIL(viem_machine_from_matrix(2, unset, &machine, &error), VIEM_STATUS_BAD_DATA, "must be 0");
  FAIL(viem_machine_from_matrix(2, below, &machine, &error), VIEM_STATUS_BAD_DATA, "not negative");
  FAIL(viem_machine_from_matrix(0, below, &machine, &error), VIEM_STATUS_BAD_DATA, "at least 1");
  FAIL(viem_machine_from_matrix(INT64_MAX, below, &machine, &error), VIEM_STATUS_BAD_DATA, "more than");
  FAIL(viem_machine_from_matrix((int64_t)1 << 31, below, &machine, &error), VIEM_STATUS_NO_RESOURCES, "bytes of memory");
  FAIL(viem_machine_from_function(4, NULL, NULL, 1, 0, &machine, &error), VIEM_STATUS_USAGE, "`distance`");
  FAIL(viem_machine_from_function(4, negative, NULL, -1, 0, &machine, &error), VIEM_STATUS_USAGE, "`max_distance`");
  machine = new_machine("2:2", "1:10");
  viem_machine *other = NULL;
  FAIL(viem_machine_with_capacities(machine, 4, capacities, &other, &error), VIEM_STATUS_BAD_DATA, "capacity 0");
  CHECK(failed_at == 1);
  FAIL(viem_machine_with_capacities(machine, 3, capacities, &other, &error), VIEM_STATUS_BAD_DATA, "3 capacities");
  FAIL(viem_machine_distance(machine, 0, 4, &distance, &error), VIEM_STATUS_USAGE, "no PE 4");
  FAIL(viem_machine_distance(machine, 0, 1, NULL, &error), VIEM_STATUS_USAGE, "`distance`");
  viem_machine_free(machine);
}

static void test_runs(void) {
  int32_t pes[] = {0, 1, 2, 4}, taken[] = {0, 1, 1, 2}, fixed[] = {-1, -2, -1, -1}, outside[] = {-1, -1, -1, 4};
  int64_t shares[] = {1, -1}, none[] = {0, 0};
  viem_report report;
  graph = new_grid(2, 2);
  machine = new_machine("2:2", "1:10");
  settings = new_settings(VIEM_PRESET_ECO);
  viem_machine *small = new_machine("complete:3", NULL), *pair = new_machine("complete:2", NULL);
  FAIL(viem_partition(NULL, 2, NULL, NULL, NULL, &mapping, &error), VIEM_STATUS_USAGE, "`graph`");
  FAIL(viem_partition(graph, 0, NULL, NULL, NULL, &mapping, &error), VIEM_STATUS_USAGE, "at least one block");
  FAIL(viem_partition(graph, -1, NULL, NULL, NULL, &mapping, &error), VIEM_STATUS_USAGE, "`num_blocks`");
  FAIL(viem_partition(graph, INT64_MAX, NULL, NULL, NULL, &mapping, &error), VIEM_STATUS_USAGE, "too many");
  FAIL(viem_partition(graph, INT32_MAX, NULL, NULL, NULL, &mapping, &error), VIEM_STATUS_NO_RESOURCES, "bytes of memory");
  FAIL(viem_partition(graph, 2, shares, NULL, NULL, &mapping, &error), VIEM_STATUS_USAGE, "share of block 1");
  CHECK(failed_at == 1);
  FAIL(viem_partition(graph, 2, none, NULL, NULL, &mapping, &error), VIEM_STATUS_USAGE, "speed 0");
  FAIL(viem_partition(graph, 2, NULL, fixed, NULL, &mapping, &error), VIEM_STATUS_BAD_DATA, "-2");
  CHECK(failed_at == 1);
  FAIL(viem_partition(graph, 4, NULL, outside, NULL, &mapping, &error), VIEM_STATUS_BAD_DATA, "block 4");
  CHECK(failed_at == 3);
  FAIL(viem_mapping_new32(4, 4, pes, &mapping, &error), VIEM_STATUS_BAD_DATA, "PE 4");
  CHECK(failed_at == 3);
  pes[3] = -4;
  FAIL(viem_mapping_new32(4, 4, pes, &mapping, &error), VIEM_STATUS_BAD_DATA, "PE -4");
  SUCCEED(viem_mapping_new32(4, 4, taken, &mapping, &error));
  FAIL(viem_mapping_copy32(mapping, 3, pes, &error), VIEM_STATUS_USAGE, "3 entries");
  FAIL(viem_mapping_copy32(mapping, 4, NULL, &error), VIEM_STATUS_USAGE, "`pe_of`");
  FAIL(viem_evaluate(graph, machine, mapping, 0, NULL, &report, &error), VIEM_STATUS_BAD_DATA, "so is process 1");
  CHECK(failed_at == 2);
  FAIL(viem_evaluate(graph, machine, mapping, 0, NULL, NULL, &error), VIEM_STATUS_BAD_DATA, "so is process 1");
  FAIL(viem_evaluate(graph, machine, mapping, 1, NULL, NULL, &error), VIEM_STATUS_USAGE, "`report`");
  viem_mapping *result = NULL;
  FAIL(viem_map(graph, machine, mapping, NULL, NULL, &result, &error), VIEM_STATUS_BAD_DATA, "the start mapping");
  CHECK(failed_at == 2);
  FAIL(viem_map(graph, small, NULL, NULL, NULL, &result, &error), VIEM_STATUS_BAD_DATA, "4");
  FAIL(viem_map(graph, machine, NULL, outside, NULL, &result, &error), VIEM_STATUS_BAD_DATA, "4");
  FAIL(viem_remap(graph, machine, mapping, NAN, NULL, NULL, &result, &error), VIEM_STATUS_USAGE, "`migration_weight`");
  FAIL(viem_remap(graph, machine, mapping, -1, NULL, NULL, &result, &error), VIEM_STATUS_USAGE, "`migration_weight`");
  FAIL(viem_remap(graph, machine, NULL, 1, NULL, NULL, &result, &error), VIEM_STATUS_USAGE, "`old`");
  int64_t node, link;
  FAIL(viem_busiest(graph, machine, NULL, &node, &link, &error), VIEM_STATUS_USAGE, "`mapping`");
  FAIL(viem_busiest(graph, pair, mapping, &node, &link, &error), VIEM_STATUS_BAD_DATA, "PE 2");
  FAIL(viem_busiest(graph, machine, mapping, NULL, &link, &error), VIEM_STATUS_USAGE, "`node`");
  FAIL(viem_busiest(graph, machine, mapping, &node, NULL, &error), VIEM_STATUS_USAGE, "`link`");
  FAIL(viem_settings_set_objective(settings, "busiest", 0.1, &error), VIEM_STATUS_USAGE, "`busiest`");
  FAIL(viem_settings_set_objective(settings, NULL, 0.1, &error), VIEM_STATUS_USAGE, "`objective`");
  FAIL(viem_settings_set_objective(settings, "mixed", NAN, &error), VIEM_STATUS_USAGE, "excess");
  FAIL(viem_settings_set_objective(settings, "mixed", 1.5, &error), VIEM_STATUS_USAGE, "excess");
  FAIL(viem_settings_set_objective(NULL, "mixed", 0.1, &error), VIEM_STATUS_USAGE, "`settings`");
  FAIL(viem_repartition(graph, 2, NULL, NULL, mapping, 1, NULL, &result, &error), VIEM_STATUS_BAD_DATA, "block 2");
  CHECK(failed_at == 3 && result == NULL);
  FAIL(viem_settings_set_threads(settings, -1, &error), VIEM_STATUS_USAGE, "`threads`");
  FAIL(viem_settings_set_threads(settings, INT64_MAX, &error), VIEM_STATUS_USAGE, "too many");
  FAIL(viem_settings_set_imbalance(settings, -0.1, &error), VIEM_STATUS_USAGE, "imbalance");
  FAIL(viem_settings_set_imbalance(settings, NAN, &error), VIEM_STATUS_USAGE, "imbalance");
  FAIL(viem_settings_set_imbalance(settings, INFINITY, &error), VIEM_STATUS_USAGE, "imbalance");
  FAIL(viem_settings_set_least_load(settings, -0.1, &error), VIEM_STATUS_USAGE, "least load");
  FAIL(viem_settings_set_least_load(settings, 1.01, &error), VIEM_STATUS_USAGE, "from 0 to 1 times the share, not 1.01");
  FAIL(viem_settings_set_least_load(settings, NAN, &error), VIEM_STATUS_USAGE, "least load");
  FAIL(viem_settings_set_least_load(settings, INFINITY, &error), VIEM_STATUS_USAGE, "least load");
  FAIL(viem_settings_set_least_load(NULL, 0.5, &error), VIEM_STATUS_USAGE, "`settings`");
  FAIL(viem_settings_set_time_limit(settings, -1, &error), VIEM_STATUS_USAGE, "time limit");
  FAIL(viem_settings_set_time_limit(settings, NAN, &error), VIEM_STATUS_USAGE, "time limit");
  FAIL(viem_settings_set_seed(NULL, 1, &error), VIEM_STATUS_USAGE, "`settings`");
  viem_settings *unknown = NULL;
  FAIL(viem_settings_new(9, &unknown, &error), VIEM_STATUS_USAGE, "`preset`");
  viem_settings_free(settings);
  viem_mapping_free(mapping);
  viem_machine_free(small);
  viem_machine_free(pair);
  viem_machine_free(machine);
  viem_graph_free(graph);
}

static void test_qap(void) {
  int64_t a[4] = {0, INT64_MAX, 1, 0}, b[4] = {0, 2, 2, 0}, cost;
  int32_t twice[2] = {0, 0};
  FAIL(viem_qap_new(2, a, b, &qap, &error), VIEM_STATUS_BAD_DATA, "too large");
  FAIL(viem_qap_new(-2, a, b, &qap, &error), VIEM_STATUS_USAGE, "`size`");
  FAIL(viem_qap_new(INT64_MAX, a, b, &qap, &error), VIEM_STATUS_USAGE, "65536");
  FAIL(viem_qap_new(2, NULL, b, &qap, &error), VIEM_STATUS_USAGE, "`a`");
  a[1] = 1;
  SUCCEED(viem_qap_new(2, a, b, &qap, &error));
  SUCCEED(viem_mapping_new32(2, 2, twice, &mapping, &error));
  FAIL(viem_qap_cost(qap, mapping, &cost, &error), VIEM_STATUS_BAD_DATA, "so is process 0");
  FAIL(viem_qap_cost(qap, NULL, &cost, &error), VIEM_STATUS_USAGE, "`assignment`");
  viem_mapping_free(mapping);
  viem_qap_free(qap);
}

static void test_launch(void) {
  const char *paths[2] = {"ranks", NULL};
  int32_t pes[2] = {0, 1};
  int64_t files;
  char *command = NULL;
  machine = new_machine("2:2", "1:10");
  SUCCEED(viem_mapping_new32(4, 2, pes, &mapping, &error));
  FAIL(viem_launch_num_files("nobody", &files, &error), VIEM_STATUS_USAGE, "no launcher is called `nobody`");
  FAIL(viem_launch_write("plain", machine, mapping, 0, paths, &command, &error), VIEM_STATUS_USAGE, "1 files, but 0");
  FAIL(viem_launch_write("plain", machine, mapping, 1, paths + 1, &command, &error), VIEM_STATUS_USAGE, "`paths`");
  FAIL(viem_launch_write("plain", NULL, mapping, 1, paths, &command, &error), VIEM_STATUS_USAGE, "`machine`");
  viem_mapping_free(mapping);
  FAIL(viem_launch_read("no such file", machine, 2, &mapping, &error), VIEM_STATUS_NO_INPUT, "no such file");
  CHECK(mapping == NULL);
  viem_machine_free(machine);
}

static void test_null(void) {
  viem_error_free(NULL);
  viem_graph_free(NULL);
  viem_machine_free(NULL);
  viem_mapping_free(NULL);
  viem_settings_free(NULL);
  viem_qap_free(NULL);
  viem_string_free(NULL);
  CHECK(viem_graph_num_vertices(NULL) == 0 && viem_graph_offsets(NULL) == NULL);
  CHECK(viem_mapping_pes(NULL) == NULL && viem_mapping_num_pes(NULL) == 0 && viem_machine_num_pes(NULL) == 0);
  CHECK(viem_error_line(NULL) == 0 && viem_error_index(NULL) == -1 && viem_error_file(NULL) == NULL);
}

int main(void) {
  test_graphs();
  test_files();
  test_machines();
  test_runs();
  test_qap();
  test_launch();
  test_null();
  return 0;
}
