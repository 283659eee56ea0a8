/* The functions of KaHIP, with offsets, neighbours, weights of edges and cuts of 32 bits, or of 64 with IDX64. */
#include <fenv.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef IDX64
typedef int64_t kahip_idx;
#else
typedef int32_t kahip_idx;
#endif

void kaffpa(int *n, int *vwgt, kahip_idx *xadj, kahip_idx *adjcwgt, kahip_idx *adjncy, int *nparts, double *imbalance, bool suppress_output, int seed, int mode,
            kahip_idx *edgecut, int *part);
void kaffpa_balance(int *n, int *vwgt, kahip_idx *xadj, kahip_idx *adjcwgt, kahip_idx *adjncy, int *nparts, double *imbalance, bool perfectly_balance,
                    bool suppress_output, int seed, int mode, kahip_idx *edgecut, int *part);
void process_mapping(int *n, int *vwgt, kahip_idx *xadj, kahip_idx *adjcwgt, kahip_idx *adjncy, int *hierarchy_parameter, int *distance_parameter,
                     int hierarchy_depth, int mode_partitioning, int mode_mapping, double *imbalance, bool suppress_output, int seed,
                     kahip_idx *edgecut, int *qap, int *part);
void kaffpa_balance_NE(int *n, int *vwgt, kahip_idx *xadj, kahip_idx *adjcwgt, kahip_idx *adjncy, int *nparts, double *imbalance, bool suppress_output, int seed,
                       int mode, kahip_idx *edgecut, int *part);
void node_separator(int *n, int *vwgt, kahip_idx *xadj, kahip_idx *adjcwgt, kahip_idx *adjncy, int *nparts, double *imbalance, bool suppress_output, int seed, int mode,
                    int *num_separator_vertices, int **separator);
void reduced_nd(int *n, kahip_idx *xadj, kahip_idx *adjncy, bool suppress_output, int seed, int mode, int *ordering);
void edge_partitioning(int *n, int *vwgt, kahip_idx *xadj, kahip_idx *adjcwgt, kahip_idx *adjncy, int *nparts, double *imbalance, bool suppress_output,
                       int seed, int mode, int *vertexcut, int *part, kahip_idx infinity_edge_weight);
int kahip_sizeof_idx(void);
const char *viem_kahip_error(void);
int feenableexcept(int);

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, viem_kahip_error());     \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

enum { SIDE = 24, CELLS = SIDE * SIDE };
static kahip_idx xadj[CELLS + 1], adjncy[4 * CELLS];
static int part[CELLS], n = CELLS;

static void fill_grid(void) {
  int arcs = 0;
  for (int v = 0; v < CELLS; v++) {
    xadj[v] = arcs;
    if (v / SIDE > 0) adjncy[arcs++] = v - SIDE;
    if (v % SIDE > 0) adjncy[arcs++] = v - 1;
    if (v % SIDE < SIDE - 1) adjncy[arcs++] = v + 1;
    if (v / SIDE < SIDE - 1) adjncy[arcs++] = v + SIDE;
  }
  xadj[CELLS] = arcs;
}

/* The sum of a distance over all arcs between parts. */
static int cost(int (*distance)(int, int)) {
  int sum = 0;
  for (int v = 0; v < CELLS; v++)
    for (kahip_idx arc = xadj[v]; arc < xadj[v + 1]; arc++) sum += distance(part[v], part[adjncy[arc]]);
  return sum;
}

static int differ(int a, int b) { return a != b; }

/* A tree of 4:2:2 with distances 1:10:100. */
static int in_tree(int a, int b) { return a == b ? 0 : a / 4 == b / 4 ? 1 : a / 8 == b / 8 ? 10 : 100; }

int main(void) {
  kahip_idx edgecut, big[4 * CELLS];
  int nparts = 6, qap, tree[3] = {4, 2, 2}, distances[3] = {1, 10, 100}, loads[16], none = 0, vertexcut = 0;
  double imbalance = 0.03, perfect = 0, negative = -1;
  feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
  fill_grid();
  CHECK(kahip_sizeof_idx() == sizeof(kahip_idx));
  kaffpa_balance_NE(&n, NULL, xadj, NULL, adjncy, &nparts, &imbalance, true, 0, 1, &edgecut, part);
  CHECK(viem_kahip_error()[0] == 0 && 2 * edgecut == cost(differ));
  memset(loads, 0, sizeof loads);
  for (int v = 0; v < CELLS; v++) loads[part[v]] += 1 + xadj[v + 1] - xadj[v];
  for (int p = 0; p < nparts; p++) CHECK(100 * loads[p] <= 103 * ((CELLS + xadj[CELLS] + nparts - 1) / nparts));
  for (int p = 0; p < nparts; p++) CHECK(100 * nparts * loads[p] >= 95 * (CELLS + xadj[CELLS]) - 100 * nparts);
  int separated = 0, *separator = part;
  node_separator(&n, NULL, xadj, NULL, adjncy, &nparts, &imbalance, true, 0, 1, &separated, &separator);
  CHECK(separated == -1 && separator == NULL && strstr(viem_kahip_error(), "link KaHIP itself") != NULL);
  reduced_nd(&n, xadj, adjncy, true, 0, 1, part);
  CHECK(part[0] == -1 && strstr(viem_kahip_error(), "link KaHIP itself") != NULL);
  edge_partitioning(&n, NULL, xadj, NULL, adjncy, &nparts, &imbalance, true, 0, 1, &vertexcut, part, 1000);
  CHECK(vertexcut == -1 && strstr(viem_kahip_error(), "link KaHIP itself") != NULL);
  for (int mode = 0; mode <= 5; mode++) {
    kaffpa(&n, NULL, xadj, NULL, adjncy, &nparts, &imbalance, true, 1, mode, &edgecut, part);
    CHECK(viem_kahip_error()[0] == 0 && 2 * edgecut == cost(differ) && edgecut > 0);
  }
  nparts = 7;
  kaffpa_balance(&n, NULL, xadj, NULL, adjncy, &nparts, &perfect, true, false, 0, 0, &edgecut, part);
  memset(loads, 0, sizeof loads);
  for (int v = 0; v < CELLS; v++) loads[part[v]]++;
  for (int p = 0; p < 7; p++) CHECK(loads[p] == CELLS / 7 || loads[p] == CELLS / 7 + 1);
  process_mapping(&n, NULL, xadj, NULL, adjncy, tree, distances, 3, 1, 0, &imbalance, true, 0, &edgecut, &qap, part);
  CHECK(2 * edgecut == cost(differ) && qap == cost(in_tree));
  memset(loads, 0, sizeof loads);
  for (int v = 0; v < CELLS; v++) loads[part[v]]++;
  for (int p = 0; p < 16; p++) CHECK(loads[p] > 0 && loads[p] <= 37);

  /* Faults are reported, and nothing is written but -1. */
  part[0] = 77;
  kaffpa(&n, NULL, xadj, NULL, adjncy, &none, &imbalance, true, 0, 1, &edgecut, part);
  CHECK(edgecut == -1 && part[0] == 77 && strstr(viem_kahip_error(), "at least one block") != NULL);
  kaffpa(&n, NULL, xadj, NULL, adjncy, &nparts, &negative, true, 0, 1, &edgecut, part);
  CHECK(edgecut == -1 && strstr(viem_kahip_error(), "imbalance") != NULL);
  kaffpa(&n, NULL, xadj, NULL, adjncy, &nparts, &imbalance, true, 0, 6, &edgecut, part);
  CHECK(edgecut == -1 && strstr(viem_kahip_error(), "mode") != NULL);
  kaffpa(&n, NULL, NULL, NULL, adjncy, &nparts, &imbalance, true, 0, 1, &edgecut, part);
  CHECK(edgecut == -1 && strstr(viem_kahip_error(), "`xadj`") != NULL);
  process_mapping(&n, NULL, xadj, NULL, adjncy, tree, NULL, 3, 1, 0, &imbalance, true, 0, &edgecut, &qap, part);
  CHECK(edgecut == -1 && qap == -1 && strstr(viem_kahip_error(), "`distance_parameter`") != NULL);
  adjncy[0] = 9;
  kaffpa(&n, NULL, xadj, NULL, adjncy, &nparts, &imbalance, true, 0, 1, &edgecut, part);
  CHECK(edgecut == -1 && part[0] == 77);
  fill_grid();
  /* Costs that do not fit do not wrap. */
  for (int arc = 0; arc < 4 * CELLS; arc++) big[arc] = INT_MAX;
  process_mapping(&n, NULL, xadj, big, adjncy, tree, distances, 3, 0, 0, &imbalance, true, 0, &edgecut, &qap, part);
  if (sizeof(kahip_idx) > sizeof(int)) {
    CHECK(2 * edgecut == (kahip_idx)cost(differ) * INT_MAX && qap == -1 && strstr(viem_kahip_error(), "J is ") != NULL);
  } else {
    CHECK(edgecut == -1 && qap == -1);
  }
  CHECK(strstr(viem_kahip_error(), "does not fit an int") != NULL && part[0] < 16);
  /* More parts than vertices are accepted, as KaHIP does, and said. */
  nparts = CELLS + 5;
  kaffpa(&n, NULL, xadj, NULL, adjncy, &nparts, &imbalance, true, 0, 0, &edgecut, part);
  CHECK(2 * edgecut == cost(differ) && strstr(viem_kahip_error(), "576 vertices for 581 parts: 5 stay empty") != NULL);
  return 0;
}
