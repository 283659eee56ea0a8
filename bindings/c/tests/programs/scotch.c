/* The functions of Scotch, compiled against its header: with Scotch behind the library, and, if ALONE is defined, without it. */
#define _GNU_SOURCE
#include "condition.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <scotch.h>

#define INDEX SCOTCH_Num
#include "cells.h"

static void build(SCOTCH_Graph *graph, SCOTCH_Num base, SCOTCH_Num *vwgt) {
  fill_grid(base);
  CHECK(SCOTCH_graphInit(graph) == 0);
  CHECK(SCOTCH_graphBuild(graph, base, CELLS, xadj, xadj + 1, vwgt, NULL, xadj[CELLS] - base, adjncy, NULL) == 0);
  CHECK(SCOTCH_graphCheck(graph) == 0);
}

/* A strategy of this imbalance. */
static void allow(SCOTCH_Strat *strat, double imbalance) {
  CHECK(SCOTCH_stratInit(strat) == 0);
  CHECK(SCOTCH_stratGraphMapBuild(strat, SCOTCH_STRATDEFAULT, 8, imbalance) == 0);
}

/* The sum of a distance over all edges of a grid from 0 or 1. */
static long cost(const SCOTCH_Num *of, long (*distance)(SCOTCH_Num, SCOTCH_Num)) {
  long sum = 0, base = xadj[0];
  for (long v = 0; v < CELLS; v++)
    for (long arc = xadj[v] - base; arc < xadj[v + 1] - base; arc++) sum += distance(of[v], of[adjncy[arc] - base]);
  return sum / 2;
}

static long differ(SCOTCH_Num a, SCOTCH_Num b) { return a != b; }

/* The tree of 2 x 2 x 4 whose parts cost 100, 10 and 1 to leave. */
static long in_tree(SCOTCH_Num a, SCOTCH_Num b) { return a == b ? 0 : a / 4 == b / 4 ? 1 : a / 8 == b / 8 ? 11 : 111; }
/* The same tree with every second PE of either half in turn. */
static long in_turns(SCOTCH_Num a, SCOTCH_Num b) { return in_tree(a / 2 + a % 2 * 8, b / 2 + b % 2 * 8); }
static long in_mesh(SCOTCH_Num a, SCOTCH_Num b) { return labs((long)(a % 4 - b % 4)) + labs((long)(a / 4 - b / 4)); }
static long ring(long gap) { return gap < 4 - gap ? gap : 4 - gap; }
static long in_torus(SCOTCH_Num a, SCOTCH_Num b) { return ring(labs((long)(a % 4 - b % 4))) + ring(labs((long)(a / 4 - b / 4))); }
static long in_cube(SCOTCH_Num a, SCOTCH_Num b) { return __builtin_popcountll((unsigned long long)(a ^ b)); }
static long on_line(SCOTCH_Num a, SCOTCH_Num b) { return labs((long)(a - b)); }

/* Checks that loads are from 0.9 of their shares, or as far below as above or 5 %, to 1 + imbalance of them. */
static void check_loads(const SCOTCH_Num *of, const SCOTCH_Num *vwgt, long parts, const SCOTCH_Num *shares, double imbalance) {
  long loads[CELLS] = {0}, total = 0, sum = 0;
  for (long v = 0; v < CELLS; v++) {
    CHECK(of[v] >= 0 && of[v] < parts);
    loads[of[v]] += vwgt ? (long)vwgt[v] : 1;
    total += vwgt ? (long)vwgt[v] : 1;
  }
  for (long p = 0; p < parts; p++) sum += shares ? (long)shares[p] : 1;
  for (long p = 0; p < parts; p++) {
    double fair = (double)total * (shares ? (double)shares[p] : 1) / (double)sum, least = imbalance < 0.05 ? 0.95 : imbalance < 0.1 ? 1 - imbalance : 0.9;
    CHECK((double)loads[p] <= (1 + imbalance) * fair + 1e-6 || (double)loads[p] < fair + 1);
    CHECK((double)loads[p] > least * fair - 1);
  }
}

static void test_partitions(void) {
  SCOTCH_Graph graph;
  SCOTCH_Strat strat, text;
  SCOTCH_Num vwgt[CELLS], again[CELLS];
  for (SCOTCH_Num base = 0; base <= 1; base++) {
    build(&graph, base, NULL);
    CHECK(SCOTCH_stratInit(&strat) == 0);
    for (SCOTCH_Num parts = 1; parts <= CELLS; parts = parts * 3 / 2 + 1) {
      CHECK(SCOTCH_graphPart(&graph, parts, &strat, part) == 0);
      check_loads(part, NULL, parts, NULL, 0.01);
    }
    CHECK(SCOTCH_graphPart(&graph, 2, &strat, part) == 0 && cost(part, differ) <= HEIGHT + 4);
    SCOTCH_stratExit(&strat);
    SCOTCH_graphExit(&graph);
  }
  for (SCOTCH_Num v = 0; v < CELLS; v++) vwgt[v] = 1 + v % 3;
  build(&graph, 0, vwgt);
  allow(&strat, 0.1);
  CHECK(SCOTCH_graphPart(&graph, 7, &strat, part) == 0);
  check_loads(part, vwgt, 7, NULL, 0.1);
  CHECK(SCOTCH_stratInit(&text) == 0);
  CHECK(SCOTCH_stratGraphMap(&text, "r{job=t,bal=0.002,map=t,poli=S,sep=h{pass=10}f{bal=0.3}}") == 0);
  CHECK(SCOTCH_graphPart(&graph, 7, &text, part) == 0);
  check_loads(part, vwgt, 7, NULL, 0.002);
  /* The same call has the same result, whatever was called before. */
  SCOTCH_randomVal(7);
  CHECK(SCOTCH_graphPart(&graph, 7, &text, again) == 0 && memcmp(part, again, sizeof part) == 0);
  SCOTCH_randomSeed(9);
  CHECK(SCOTCH_graphPart(&graph, 7, &text, again) == 0 && memcmp(part, again, sizeof part) != 0);
  SCOTCH_randomSeed(0);
  CHECK(SCOTCH_graphPart(&graph, 7, &text, again) == 0 && memcmp(part, again, sizeof part) == 0);
  SCOTCH_stratExit(&text);
  SCOTCH_stratExit(&strat);
  SCOTCH_graphExit(&graph);
}

/* Maps the grid to an architecture, whose PEs have a distance, and checks that J is at most a share of that of a partition. */
static void check_map(SCOTCH_Arch *arch, long (*distance)(SCOTCH_Num, SCOTCH_Num), double share) {
  SCOTCH_Graph graph;
  SCOTCH_Strat strat;
  SCOTCH_Num plain[CELLS];
  build(&graph, 1, NULL);
  allow(&strat, 0.05);
  SCOTCH_Num size = SCOTCH_archSize(arch);
  CHECK(SCOTCH_graphPart(&graph, size, &strat, plain) == 0);
  CHECK(SCOTCH_graphMap(&graph, arch, &strat, part) == 0);
  check_loads(part, NULL, size, NULL, 0.05);
  CHECK((double)cost(part, distance) <= share * (double)cost(plain, distance));
  SCOTCH_stratExit(&strat);
  SCOTCH_graphExit(&graph);
  SCOTCH_archExit(arch);
}

static void test_maps(void) {
  SCOTCH_Arch arch, whole;
  SCOTCH_Num sizes[3] = {2, 2, 4}, costs[3] = {100, 10, 1}, lengths[3] = {2, 2, 4}, list[16], eight[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  CHECK(SCOTCH_archInit(&arch) == 0 && SCOTCH_archTleaf(&arch, 3, sizes, costs) == 0);
  CHECK(strcmp(SCOTCH_archName(&arch), "tleaf") == 0 && SCOTCH_archVar(&arch) == 0);
  check_map(&arch, in_tree, 1);
  CHECK(SCOTCH_archInit(&whole) == 0 && SCOTCH_archTleaf(&whole, 3, sizes, costs) == 0);
  for (SCOTCH_Num pe = 0; pe < 16; pe++) list[pe] = pe / 2 + pe % 2 * 8;
  CHECK(SCOTCH_archInit(&arch) == 0 && SCOTCH_archSub(&arch, &whole, 16, list) == 0);
  check_map(&arch, in_turns, 0.5);
  SCOTCH_archExit(&whole);
  CHECK(SCOTCH_archInit(&arch) == 0 && SCOTCH_archMesh2(&arch, 4, 4) == 0);
  check_map(&arch, in_mesh, 0.8);
  CHECK(SCOTCH_archInit(&arch) == 0 && SCOTCH_archTorus2(&arch, 4, 4) == 0);
  check_map(&arch, in_torus, 0.9);
  CHECK(SCOTCH_archInit(&arch) == 0 && SCOTCH_archHcub(&arch, 4) == 0);
  check_map(&arch, in_cube, 0.9);
  CHECK(SCOTCH_archInit(&arch) == 0 && SCOTCH_archMeshX(&arch, 3, lengths) == 0 && SCOTCH_archSize(&arch) == 16);
  SCOTCH_archExit(&arch);
  CHECK(SCOTCH_archInit(&arch) == 0 && SCOTCH_archTorus3(&arch, 2, 3, 4) == 0 && SCOTCH_archSize(&arch) == 24);
  SCOTCH_archExit(&arch);
  /* A line: the first row of a mesh, and a path as a graph. */
  CHECK(SCOTCH_archInit(&whole) == 0 && SCOTCH_archMesh2(&whole, 4, 4) == 0);
  CHECK(SCOTCH_archInit(&arch) == 0 && SCOTCH_archSub(&arch, &whole, 4, eight) == 0);
  check_map(&arch, on_line, 1);
  SCOTCH_archExit(&whole);
  SCOTCH_Graph path;
  SCOTCH_Num offsets[9] = {0, 1, 3, 5, 7, 9, 11, 13, 14}, targets[14] = {1, 0, 2, 1, 3, 2, 4, 3, 5, 4, 6, 5, 7, 6};
  CHECK(SCOTCH_graphInit(&path) == 0);
  CHECK(SCOTCH_graphBuild(&path, 0, 8, offsets, NULL, NULL, NULL, 14, targets, NULL) == 0);
  CHECK(SCOTCH_archInit(&arch) == 0 && SCOTCH_archBuild2(&arch, &path, 8, eight) == 0 && SCOTCH_archSize(&arch) == 8);
  check_map(&arch, on_line, 0.95);
  SCOTCH_graphExit(&path);
}

static void test_weighted(void) {
  SCOTCH_Graph graph;
  SCOTCH_Arch arch;
  SCOTCH_Strat strat;
  SCOTCH_Num weights[4] = {1, 2, 3, 6};
  build(&graph, 0, NULL);
  allow(&strat, 0.02);
  CHECK(SCOTCH_archInit(&arch) == 0 && SCOTCH_archCmpltw(&arch, 4, weights) == 0);
  CHECK(SCOTCH_graphMap(&graph, &arch, &strat, part) == 0);
  check_loads(part, NULL, 4, weights, 0.02);
  SCOTCH_archExit(&arch);
  SCOTCH_stratExit(&strat);
  SCOTCH_graphExit(&graph);
}

static void test_fixed_and_moved(void) {
  SCOTCH_Graph graph;
  SCOTCH_Strat strat;
  SCOTCH_Num old[CELLS], moved = 0;
  build(&graph, 1, NULL);
  allow(&strat, 0.05);
  for (SCOTCH_Num v = 0; v < CELLS; v++) part[v] = v % 50 == 0 ? v / 50 % 6 : -1;
  CHECK(SCOTCH_graphPartFixed(&graph, 6, &strat, part) == 0);
  check_loads(part, NULL, 6, NULL, 0.05);
  for (SCOTCH_Num v = 0; v < CELLS; v += 50) CHECK(part[v] == v / 50 % 6);
  /* Vertices without an old part join near ones; the others stay, as moving is dear. */
  for (SCOTCH_Num v = 0; v < CELLS; v++) old[v] = v % WIDTH == 7 ? -1 : v % WIDTH / 4;
  CHECK(SCOTCH_graphRepart(&graph, 6, old, 100, NULL, &strat, part) == 0);
  check_loads(part, NULL, 6, NULL, 0.05);
  for (SCOTCH_Num v = 0; v < CELLS; v++) moved += old[v] >= 0 && old[v] != part[v];
  CHECK(moved == 0 && cost(part, differ) == 5 * HEIGHT);
  SCOTCH_stratExit(&strat);
  SCOTCH_graphExit(&graph);
}

/* Mappings with a table of the program and without, saved to files. */
static void test_mappings(void) {
  SCOTCH_Graph graph;
  SCOTCH_Arch arch;
  SCOTCH_Strat strat;
  SCOTCH_Mapping mapping, old, again;
  SCOTCH_Num from_file[CELLS], moved = 0, *costs = NULL;
  build(&graph, 1, NULL);
  allow(&strat, 0.05);
  CHECK(SCOTCH_archInit(&arch) == 0 && SCOTCH_archCmplt(&arch, 5) == 0);
  CHECK(SCOTCH_graphMapInit(&graph, &old, &arch, NULL) == 0 && SCOTCH_graphMapCompute(&graph, &old, &strat) == 0);
  FILE *file = tmpfile();
  CHECK(file != NULL && SCOTCH_graphMapSave(&graph, &old, file) == 0);
  rewind(file);
  CHECK(SCOTCH_graphTabLoad(&graph, from_file, file) == 0);
  check_loads(from_file, NULL, 5, NULL, 0.05);
  CHECK(SCOTCH_graphMapInit(&graph, &mapping, &arch, part) == 0 && SCOTCH_graphMapCompute(&graph, &mapping, &strat) == 0);
  CHECK(memcmp(part, from_file, sizeof part) == 0);
  rewind(file);
  CHECK(SCOTCH_graphMapInit(&graph, &again, &arch, NULL) == 0 && SCOTCH_graphMapLoad(&graph, &again, file) == 0);
  CHECK(SCOTCH_graphRemapCompute(&graph, &mapping, &again, 1000, costs, &strat) == 0);
  for (long v = 0; v < CELLS; v++) moved += part[v] != from_file[v];
  CHECK(moved == 0);
  for (long v = 0; v < CELLS; v++) part[v] = v < 20 ? 4 : -1;
  CHECK(SCOTCH_graphMapFixedCompute(&graph, &mapping, &strat) == 0);
  for (long v = 0; v < 20; v++) CHECK(part[v] == 4);
  SCOTCH_graphMapExit(&graph, &again);
  SCOTCH_graphMapExit(&graph, &mapping);
  SCOTCH_graphMapExit(&graph, &old);
  fclose(file);
  SCOTCH_archExit(&arch);
  SCOTCH_stratExit(&strat);
  SCOTCH_graphExit(&graph);
}

/* Rows of arcs in any order with gaps, labels, weights; written and read. */
static void test_graphs(void) {
  SCOTCH_Graph graph, read;
  SCOTCH_Strat strat;
  static SCOTCH_Num begins[CELLS], ends[CELLS], labels[CELLS], weights[CELLS], targets[6 * CELLS], loads[6 * CELLS];
  SCOTCH_Num at = 0, base, n, m, *verttab, *vendtab, *velotab, *vlbltab, *edgetab, *edlotab;
  fill_grid(0);
  for (SCOTCH_Num v = CELLS - 1; v >= 0; v--) {
    begins[v] = at;
    for (SCOTCH_Num arc = xadj[v]; arc < xadj[v + 1]; arc++) {
      targets[at] = adjncy[arc];
      loads[at++] = 1 + (v + adjncy[arc]) % 5;
    }
    ends[v] = at;
    targets[at] = -7;
    at += 1;
    weights[v] = v % 4;
    labels[v] = 3 * (CELLS - v);
  }
  CHECK(SCOTCH_graphInit(&graph) == 0);
  CHECK(SCOTCH_graphBuild(&graph, 0, CELLS, begins, ends, weights, labels, xadj[CELLS], targets, loads) == 0);
  CHECK(SCOTCH_graphCheck(&graph) == 0);
  SCOTCH_graphSize(&graph, &n, &m);
  CHECK(n == CELLS && m == xadj[CELLS]);
  SCOTCH_stratInit(&strat);
  CHECK(SCOTCH_graphPart(&graph, 4, &strat, part) == 0);
  check_loads(part, weights, 4, NULL, 0.01);
  FILE *file = tmpfile();
  CHECK(file != NULL && SCOTCH_graphSave(&graph, file) == 0 && SCOTCH_graphTabSave(&graph, part, file) == 0);
  rewind(file);
  CHECK(SCOTCH_graphInit(&read) == 0 && SCOTCH_graphLoad(&read, file, 1, 0) == 0 && SCOTCH_graphCheck(&read) == 0);
  SCOTCH_graphData(&read, &base, &n, &verttab, &vendtab, &velotab, &vlbltab, &m, &edgetab, &edlotab);
  CHECK(base == 1 && n == CELLS && m == xadj[CELLS]);
  for (SCOTCH_Num v = 0; v < CELLS; v++) {
    CHECK(velotab[v] == weights[v] && vlbltab[v] == labels[v] && vendtab[v] - verttab[v] == ends[v] - begins[v]);
    for (SCOTCH_Num arc = 0; arc < ends[v] - begins[v]; arc++) {
      CHECK(edgetab[verttab[v] - 1 + arc] == targets[begins[v] + arc] + 1);
      CHECK(edlotab[verttab[v] - 1 + arc] == loads[begins[v] + arc]);
    }
  }
  SCOTCH_Num again[CELLS];
#ifdef ALONE
  /* Scotch 7.0.3 itself shifts the numbers of vertices with labels by the base. */
  CHECK(SCOTCH_graphTabLoad(&read, again, file) == 0 && memcmp(part, again, sizeof again) == 0);
#endif
  CHECK(SCOTCH_graphPart(&read, 4, &strat, again) == 0 && memcmp(part, again, sizeof again) == 0);
  CHECK(SCOTCH_graphBase(&read, 0) == 1);
  SCOTCH_graphData(&read, &base, NULL, &verttab, NULL, NULL, NULL, NULL, &edgetab, NULL);
  CHECK(base == 0 && verttab[0] == 0 && edgetab[0] == targets[begins[0]]);
  CHECK(SCOTCH_graphPart(&read, 4, &strat, again) == 0 && memcmp(part, again, sizeof again) == 0);
  fclose(file);
  SCOTCH_graphExit(&read);
  /* What is no graph is none. */
  loads[begins[0]] += 1;
  CHECK(SCOTCH_graphCheck(&graph) != 0);
  loads[begins[0]] -= 1;
  targets[begins[0]] = 0;
  CHECK(SCOTCH_graphCheck(&graph) != 0);
  targets[begins[0]] = CELLS;
  CHECK(SCOTCH_graphCheck(&graph) != 0);
  SCOTCH_graphExit(&graph);
  SCOTCH_stratExit(&strat);
}

static SCOTCH_Graph shared;

static void *partition(void *into) {
  SCOTCH_Strat strat;
  SCOTCH_Arch arch;
  SCOTCH_Mapping mapping;
  allow(&strat, 0.03);
  CHECK(SCOTCH_archInit(&arch) == 0 && SCOTCH_archCmplt(&arch, 9) == 0);
  CHECK(SCOTCH_graphMapInit(&shared, &mapping, &arch, into) == 0 && SCOTCH_graphMapCompute(&shared, &mapping, &strat) == 0);
  SCOTCH_graphMapExit(&shared, &mapping);
  SCOTCH_archExit(&arch);
  SCOTCH_stratExit(&strat);
  return NULL;
}

static void test_threads(void) {
  static SCOTCH_Num parts[4][CELLS];
  pthread_t threads[4];
  build(&shared, 0, NULL);
  for (int t = 0; t < 4; t++) CHECK(pthread_create(&threads[t], NULL, partition, parts[t]) == 0);
  for (int t = 0; t < 4; t++) CHECK(pthread_join(threads[t], NULL) == 0);
  partition(part);
  for (int t = 0; t < 4; t++) CHECK(memcmp(part, parts[t], sizeof part) == 0);
  SCOTCH_graphExit(&shared);
}

#ifdef ALONE
/* Errors are codes, and structures that stand for nothing are errors. */
static void test_alone(void) {
  SCOTCH_Graph graph;
  SCOTCH_Arch arch;
  SCOTCH_Strat strat;
  SCOTCH_Mapping mapping;
  SCOTCH_Num bad[2] = {1, 0}, before[CELLS];
  CHECK(SCOTCH_graphInit(&graph) == 0 && SCOTCH_archInit(&arch) == 0 && SCOTCH_stratInit(&strat) == 0);
  memset(part, 9, sizeof part);
  memcpy(before, part, sizeof part);
  CHECK(SCOTCH_graphPart(&graph, 2, &strat, part) == 1 && SCOTCH_graphCheck(&graph) == 1);
  CHECK(SCOTCH_graphMapInit(&graph, &mapping, &arch, part) == 1 && SCOTCH_graphMapCompute(&graph, &mapping, &strat) == 1);
  build(&graph, 0, NULL);
  CHECK(SCOTCH_graphMap(&graph, &arch, &strat, part) == 1);
  CHECK(SCOTCH_graphPart(&graph, 0, &strat, part) == 1 && SCOTCH_graphPart(&graph, -1, &strat, part) == 1);
  CHECK(SCOTCH_graphPart(&graph, 2, &strat, NULL) == 1);
  CHECK(SCOTCH_archCmplt(&arch, 0) == 1 && SCOTCH_archCmpltw(&arch, 2, bad) == 1 && SCOTCH_archMesh2(&arch, -4, 4) == 1);
  CHECK(SCOTCH_archTleaf(&arch, 1, bad, NULL) == 1 && SCOTCH_archHcub(&arch, 99) == 1 && SCOTCH_archVcmplt(&arch) == 1);
  CHECK(SCOTCH_archCmplt(&arch, 2) == 0 && SCOTCH_archSub(&arch, &arch, 1, &bad[0]) == 0 && SCOTCH_archSize(&arch) == 1);
  CHECK(SCOTCH_stratGraphMap(&strat, "r{bal=much}") == 1 && SCOTCH_stratGraphMapBuild(&strat, 0, 2, -0.5) == 1);
  CHECK(SCOTCH_graphOrder(&graph, &strat, part, NULL, NULL, NULL, NULL) == 1);
  for (long v = 0; v < CELLS; v++) part[v] = 2;
  CHECK(SCOTCH_graphPartFixed(&graph, 2, &strat, part) == 1);
  /* A vertex of an asymmetric graph is a neighbour of what has it as a neighbour. */
  adjncy[0] = CELLS - 1;
  CHECK(SCOTCH_graphCheck(&graph) == 1 && SCOTCH_graphPart(&graph, 4, &strat, part) == 0);
  check_loads(part, NULL, 4, NULL, 0.01);
  adjncy[0] = CELLS;
  memcpy(part, before, sizeof part);
  CHECK(SCOTCH_graphPart(&graph, 4, &strat, part) == 1 && memcmp(part, before, sizeof part) == 0);
  const char *wrong[] = {"", "1", "0 3 2 0 000 1 1 1 0", "0 2 2 0 000 1 1 1 99999999999999999999", "0 2 2 0 002 1 1 1 0", "0 2 4 0 000 1 1 1 0", "0 2 2 0 000 1 5 1 0", "0 2 2 0 100 3 1 4 3 1 3"};
  for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    char text[64];
    FILE *file = fmemopen(text, (size_t)snprintf(text, sizeof text, "%s ", wrong[i]), "r");
    CHECK(file != NULL && (SCOTCH_graphLoad(&graph, file, -1, 0) != 0 || SCOTCH_graphCheck(&graph) != 0));
    fclose(file);
  }
  SCOTCH_graphExit(&graph);
  SCOTCH_archExit(&arch);
  int version, release, patch;
  SCOTCH_version(&version, &release, &patch);
  CHECK(version == 7 && SCOTCH_archSizeof() == sizeof arch && SCOTCH_graphSizeof() == sizeof graph);
  CHECK(SCOTCH_mapSizeof() == sizeof mapping && SCOTCH_stratSizeof() == sizeof strat);
  SCOTCH_Graph *allocated = SCOTCH_graphAlloc();
  CHECK(allocated != NULL);
  SCOTCH_memFree(allocated);
  SCOTCH_errorProg("scotch.c");
  SCOTCH_errorPrint("expected: %s %d %ld %.2f", "text", 7, 8L, 0.25);
  SCOTCH_errorPrint("%d %d %d %d %d %s", 1, 2, 3, 4, 5, "too many");
}
#endif

int main(void) {
  CHECK(SCOTCH_numSizeof() == sizeof(SCOTCH_Num));
  for (int i = 0; i < 99; i++) CHECK(SCOTCH_randomVal(7) >= 0 && SCOTCH_randomVal(7) < 7);
#ifdef ALONE
  trap_exceptions();
#endif
  test_partitions();
  test_maps();
  test_weighted();
  test_fixed_and_moved();
  test_mappings();
  test_graphs();
  test_threads();
#ifdef ALONE
  test_alone();
#endif
  return 0;
}
