/* Random graphs of which some entries are changed at random: a call succeeds with a valid result, or says what is wrong. */
#include "check.h"

enum { MOST = 24, CALLS = 300 };

static uint64_t state = 1;

static uint32_t below(uint32_t bound) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((state >> 33) % bound);
}

static int64_t any(void) {
  static const int64_t values[] = {INT64_MIN, INT32_MIN, -2, -1, 0, 1, 2, 3, INT32_MAX, (int64_t)1 << 32, INT64_MAX / 2, INT64_MAX};
  return values[below(sizeof values / sizeof values[0])];
}

static int64_t offsets[MOST + 1], targets[MOST * MOST], edge_weights[MOST * MOST], vertex_weights[MOST];

/* A random symmetric graph; its number of vertices. */
static int64_t fill(void) {
  static int64_t weight[MOST][MOST];
  int64_t n = 1 + below(MOST), arcs = 0;
  offsets[0] = 0;
  for (int64_t u = 0; u < n; u++)
    for (int64_t v = 0; v < u; v++) weight[u][v] = weight[v][u] = below(3) ? 0 : 1 + below(9);
  for (int64_t u = 0; u < n; u++) {
    vertex_weights[u] = below(4);
    for (int64_t v = 0; v < n; v++)
      if (u != v && weight[u][v]) targets[arcs] = v, edge_weights[arcs++] = weight[u][v];
    offsets[u + 1] = arcs;
  }
  return n;
}

/* Changes one entry; the last offset stays within the arrays, whose length the library cannot know. */
static void change(int64_t n) {
  int64_t arcs = offsets[n];
  switch (below(4)) {
    case 0: vertex_weights[below((uint32_t)n)] = any(); break;
    case 1: if (arcs) targets[below((uint32_t)arcs)] = any(); break;
    case 2: if (arcs) edge_weights[below((uint32_t)arcs)] = any(); break;
    default: offsets[below((uint32_t)n)] = any();
  }
}

static void check_result(const viem_mapping *mapping, int64_t n, int64_t num_pes) {
  CHECK(viem_mapping_num_processes(mapping) == n);
  for (int64_t v = 0; v < n; v++) CHECK(viem_mapping_pes(mapping)[v] < num_pes);
}

/* A call has either made something or failed with a message. */
static int made(viem_status status, const void *handle, viem_error **error) {
  CHECK((status == VIEM_STATUS_OK) == (handle != NULL) && (*error == NULL) == (handle != NULL));
  CHECK(status != VIEM_STATUS_INTERNAL);
  CHECK(handle != NULL || viem_error_message(*error)[0] != '\0');
  viem_error_free(*error);
  *error = NULL;
  return handle != NULL;
}

int main(void) {
  viem_error *error = NULL;
  viem_machine *machine = new_machine("3:2:4", "1:10:100");
  viem_settings *settings = new_settings(VIEM_PRESET_FAST);
  int succeeded = 0;
  for (int call = 0; call < CALLS; call++) {
    viem_graph *graph = NULL;
    viem_mapping *mapping = NULL, *many = NULL;
    int64_t n = fill(), k = 1 + below(n > 0 && below(8) ? (uint32_t)n : 2 * MOST), shares[2 * MOST];
    int32_t fixed[MOST];
    int is_changed = below(2);
    if (is_changed) change(n);
    viem_status status = viem_graph_new64(n, offsets, targets, edge_weights, vertex_weights, &graph, &error);
    CHECK(is_changed || status == VIEM_STATUS_OK);
    if (!made(status, graph, &error)) continue;
    for (int64_t block = 0; block < k; block++) shares[block] = below(40) ? (int64_t)below(5) : any();
    for (int64_t v = 0; v < n; v++) fixed[v] = below(4) ? -1 : below(60) ? (int32_t)below((uint32_t)k) : (int32_t)any();
    status = viem_partition(graph, k, below(2) ? shares : NULL, below(2) ? fixed : NULL, settings, &mapping, &error);
    if (made(status, mapping, &error)) {
      check_result(mapping, n, k);
      status = viem_remap(graph, machine, mapping, below(3), NULL, settings, &many, &error);
      if (made(status, many, &error)) check_result(many, n, 24);
      viem_mapping_free(many);
      succeeded++;
    }
    viem_mapping_free(mapping);
    status = viem_map(graph, machine, NULL, below(2) ? fixed : NULL, settings, &mapping, &error);
    if (made(status, mapping, &error)) check_result(mapping, n, 24);
    viem_mapping_free(mapping);
    viem_graph_free(graph);
  }
  CHECK(succeeded > CALLS / 4 && failed_at == -1);
  viem_settings_free(settings);
  viem_machine_free(machine);
  return 0;
}
