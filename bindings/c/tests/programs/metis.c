/* The functions of METIS: what they promise, the faults of the original, and hostile arguments. Compiled for both widths of idx_t. */
#include "condition.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef IDX64
typedef int64_t idx_t;
#define IDX_MAX INT64_MAX
#else
typedef int32_t idx_t;
#define IDX_MAX INT32_MAX
#endif
typedef float real_t;

enum { METIS_OK = 1, METIS_ERROR_INPUT = -2, METIS_ERROR_MEMORY = -3, METIS_ERROR = -4 };
enum { OPTION_OBJTYPE = 1, OPTION_CONTIG = 11, OPTION_UFACTOR = 16, OPTION_NUMBERING = 17, NOPTIONS = 40 };

int METIS_PartGraphKway(idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, real_t *, real_t *, idx_t *, idx_t *, idx_t *);
int METIS_PartGraphRecursive(idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, real_t *, real_t *, idx_t *, idx_t *, idx_t *);
int METIS_MeshToDual(idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t **, idx_t **);
int METIS_MeshToNodal(idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t **, idx_t **);
int METIS_PartMeshDual(idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, real_t *, idx_t *, idx_t *, idx_t *, idx_t *);
int METIS_PartMeshNodal(idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, real_t *, idx_t *, idx_t *, idx_t *, idx_t *);
int METIS_NodeND(idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *);
int METIS_SetDefaultOptions(idx_t *);
int METIS_Free(void *);

#define INDEX idx_t
#include "cells.h"

static idx_t one = 1, cells = CELLS;

/* The weight of a part. */
static idx_t load(const idx_t *vwgt, idx_t of) {
  idx_t sum = 0;
  for (idx_t v = 0; v < CELLS; v++) sum += part[v] == of ? (vwgt ? vwgt[v] : 1) : 0;
  return sum;
}

static idx_t cut(idx_t base) {
  idx_t sum = 0;
  for (idx_t v = 0; v < CELLS; v++)
    for (idx_t arc = xadj[v] - base; arc < xadj[v + 1] - base; arc++) sum += part[v] != part[adjncy[arc] - base];
  return sum / 2;
}

static idx_t volume(void) {
  idx_t sum = 0;
  for (idx_t v = 0; v < CELLS; v++) {
    idx_t seen[4], count = 0;
    for (idx_t arc = xadj[v]; arc < xadj[v + 1]; arc++) {
      idx_t other = part[adjncy[arc]], is_new = other != part[v];
      for (idx_t i = 0; i < count; i++) is_new = is_new && seen[i] != other;
      if (is_new) seen[count++] = other;
    }
    sum += count;
  }
  return sum;
}

static int kway(idx_t nparts, idx_t *vwgt, real_t *tpwgts, real_t *ubvec, idx_t *options, idx_t *objval) {
  return METIS_PartGraphKway(&cells, &one, xadj, adjncy, vwgt, NULL, NULL, &nparts, tpwgts, ubvec, options, objval, part);
}

static void test_balance(void) {
  idx_t objval, options[NOPTIONS], vwgt[CELLS];
  real_t tight[1] = {1.0f}, shares[2] = {1.0f / 56, 55.0f / 56};
  fill_grid(0);
  for (idx_t nparts = 1; nparts <= CELLS; nparts = nparts * 3 / 2 + 1) {
    idx_t most = 103 * CELLS / (100 * nparts), fair = (CELLS + nparts - 1) / nparts;
    CHECK(kway(nparts, NULL, NULL, NULL, NULL, &objval) == METIS_OK);
    CHECK(objval == cut(0) && (nparts > 1 || objval == 0));
    for (idx_t p = 0; p < nparts; p++) CHECK(load(NULL, p) > 0 && load(NULL, p) <= (most > fair ? most : fair));
  }
  CHECK(kway(7, NULL, NULL, tight, NULL, &objval) == METIS_OK);
  for (idx_t p = 0; p < 7; p++) CHECK(load(NULL, p) == CELLS / 7 || load(NULL, p) == CELLS / 7 + 1);
  /* Weights 1:55, without and with slack. */
  CHECK(kway(2, NULL, shares, tight, NULL, &objval) == METIS_OK);
  CHECK(load(NULL, 0) == 9 && load(NULL, 1) == CELLS - 9);
  CHECK(kway(2, NULL, shares, NULL, NULL, &objval) == METIS_OK);
  CHECK(load(NULL, 0) >= 1 && load(NULL, 0) <= 9);
  /* Weights that are all 0, and some that are. */
  memset(vwgt, 0, sizeof vwgt);
  CHECK(kway(4, vwgt, NULL, NULL, NULL, &objval) == METIS_OK);
  for (idx_t p = 0; p < 4; p++) CHECK(load(NULL, p) > 0);
  for (idx_t v = 0; v < CELLS; v++) vwgt[v] = v % 3;
  CHECK(kway(4, vwgt, NULL, NULL, NULL, &objval) == METIS_OK);
  for (idx_t p = 0; p < 4; p++) CHECK(load(vwgt, p) <= 103 * CELLS / 400);
  /* The default of bisection is a thousandth. */
  idx_t nparts = 8;
  CHECK(METIS_PartGraphRecursive(&cells, &one, xadj, adjncy, NULL, NULL, NULL, &nparts, NULL, NULL, NULL, &objval, part) == METIS_OK);
  for (idx_t p = 0; p < 8; p++) CHECK(load(NULL, p) == CELLS / 8);
  CHECK(METIS_SetDefaultOptions(options) == METIS_OK);
  for (int i = 0; i < NOPTIONS; i++) CHECK(options[i] == -1);
  options[OPTION_UFACTOR] = 200;
  options[OPTION_CONTIG] = 1;
  CHECK(kway(6, NULL, NULL, NULL, options, &objval) == METIS_OK);
  for (idx_t p = 0; p < 6; p++) CHECK(load(NULL, p) <= CELLS / 5);
}

static void test_options(void) {
  idx_t objval, of_cut, options[NOPTIONS], zero[4 * CELLS], loops[6] = {0, 1, 1, 1, 0, 0}, starts[3] = {0, 3, 6}, two = 2;
  METIS_SetDefaultOptions(options);
  fill_grid(1);
  options[OPTION_NUMBERING] = 1;
  CHECK(kway(5, NULL, NULL, NULL, options, &objval) == METIS_OK);
  for (idx_t v = 0; v < CELLS; v++) CHECK(part[v] >= 1 && part[v] <= 5);
  CHECK(objval == cut(1));
  fill_grid(0);
  CHECK(kway(5, NULL, NULL, NULL, options, &objval) == METIS_ERROR_INPUT);
  options[OPTION_NUMBERING] = 0;
  CHECK(kway(8, NULL, NULL, NULL, options, &objval) == METIS_OK);
  of_cut = volume();
  options[OPTION_OBJTYPE] = 1;
  CHECK(kway(8, NULL, NULL, NULL, options, &objval) == METIS_OK);
  CHECK(objval == volume() && objval <= of_cut);
  for (idx_t p = 0; p < 8; p++) CHECK(load(NULL, p) > 0 && load(NULL, p) <= 103 * CELLS / 800);
  /* Edges of weight 0 cost nothing; loops and edges that are listed twice are taken as they are meant. */
  memset(zero, 0, sizeof zero);
  idx_t nparts = 3;
  CHECK(METIS_PartGraphKway(&cells, &one, xadj, adjncy, NULL, NULL, zero, &nparts, NULL, NULL, NULL, &objval, part) == METIS_OK);
  CHECK(objval == 0);
  CHECK(METIS_PartGraphKway(&two, &one, starts, loops, NULL, NULL, NULL, &two, NULL, NULL, NULL, &objval, part) == METIS_OK);
  CHECK(objval == 2 && part[0] != part[1]);
  /* Connected parts of a graph that is not connected are not asked for. */
  idx_t isolated[4] = {0, 0, 0, 0}, three = 3;
  options[OPTION_OBJTYPE] = 0;
  options[OPTION_CONTIG] = 1;
  CHECK(METIS_PartGraphKway(&three, &one, isolated, NULL, NULL, NULL, NULL, &one, NULL, NULL, options, &objval, part) == METIS_OK);
  CHECK(objval == 0 && part[2] == 0);
}

static void test_meshes(void) {
  /* A strip of four quadrilaterals, and a triangle at its end. */
  idx_t ne = 5, nn = 11, eptr[6] = {0, 4, 8, 12, 16, 19}, numflag = 0, common = 2, nparts = 2, objval;
  idx_t eind[19] = {0, 1, 6, 5, 1, 2, 7, 6, 2, 3, 8, 7, 3, 4, 9, 8, 4, 9, 10}, epart[5], npart[11];
  idx_t *offsets = NULL, *targets = NULL;
  CHECK(METIS_MeshToDual(&ne, &nn, eptr, eind, &common, &numflag, &offsets, &targets) == METIS_OK);
  CHECK(offsets[0] == 0 && offsets[1] == 1 && offsets[5] == 8 && targets[0] == 1 && targets[7] == 3);
  CHECK(METIS_Free(offsets) == METIS_OK && METIS_Free(targets) == METIS_OK);
  CHECK(METIS_MeshToNodal(&ne, &nn, eptr, eind, &numflag, &offsets, &targets) == METIS_OK);
  CHECK(offsets[1] == 3 && targets[0] == 1 && targets[1] == 5 && targets[2] == 6 && offsets[11] - offsets[10] == 2);
  METIS_Free(offsets);
  METIS_Free(targets);
  CHECK(METIS_PartMeshDual(&ne, &nn, eptr, eind, NULL, NULL, &common, &nparts, NULL, NULL, &objval, epart, npart) == METIS_OK);
  CHECK(objval == 1 && epart[0] == epart[1] && epart[3] == epart[4] && epart[0] != epart[4]);
  CHECK(npart[0] == epart[0] && npart[10] == epart[4]);
  CHECK(METIS_PartMeshNodal(&ne, &nn, eptr, eind, NULL, NULL, &nparts, NULL, NULL, &objval, epart, npart) == METIS_OK);
  CHECK(npart[0] == npart[5] && epart[0] == npart[0] && epart[4] == npart[10] && objval > 0);
  eind[3] = 11;
  CHECK(METIS_MeshToDual(&ne, &nn, eptr, eind, &common, &numflag, &offsets, &targets) == METIS_ERROR_INPUT);
  eind[3] = -1;
  CHECK(METIS_PartMeshDual(&ne, &nn, eptr, eind, NULL, NULL, &common, &nparts, NULL, NULL, &objval, epart, npart) == METIS_ERROR_INPUT);
  eptr[2] = 3;
  CHECK(METIS_MeshToNodal(&ne, &nn, eptr, eind, &numflag, &offsets, &targets) == METIS_ERROR_INPUT);
  eptr[2] = 8, eptr[5] = IDX_MAX;
  CHECK(METIS_MeshToNodal(&ne, &nn, eptr, eind, &numflag, &offsets, &targets) == METIS_ERROR_INPUT ||
        METIS_MeshToNodal(&ne, &nn, eptr, eind, &numflag, &offsets, &targets) == METIS_ERROR_MEMORY);
}

static void test_hostile(void) {
  idx_t objval, minus = -1, none = 0, nparts = 2, vwgt[CELLS], big[4 * CELLS], options[NOPTIONS];
  real_t bad[2] = {0.0f, 1.0f}, below[1] = {0.5f};
  fill_grid(0);
  CHECK(METIS_PartGraphKway(NULL, &one, xadj, adjncy, NULL, NULL, NULL, &nparts, NULL, NULL, NULL, &objval, part) == METIS_ERROR_INPUT);
  CHECK(METIS_PartGraphKway(&minus, &one, xadj, adjncy, NULL, NULL, NULL, &nparts, NULL, NULL, NULL, &objval, part) == METIS_ERROR_INPUT);
  objval = 77;
  CHECK(METIS_PartGraphKway(&none, &one, xadj, NULL, NULL, NULL, NULL, &nparts, NULL, NULL, NULL, &objval, NULL) == METIS_OK && objval == 0);
  CHECK(METIS_PartGraphKway(&cells, &none, xadj, adjncy, NULL, NULL, NULL, &nparts, NULL, NULL, NULL, &objval, part) == METIS_ERROR_INPUT);
  CHECK(METIS_PartGraphKway(&cells, &one, NULL, adjncy, NULL, NULL, NULL, &nparts, NULL, NULL, NULL, &objval, part) == METIS_ERROR_INPUT);
  CHECK(METIS_PartGraphKway(&cells, &one, xadj, NULL, NULL, NULL, NULL, &nparts, NULL, NULL, NULL, &objval, part) == METIS_ERROR_INPUT);
  CHECK(METIS_PartGraphKway(&cells, &one, xadj, adjncy, NULL, NULL, NULL, &nparts, NULL, NULL, NULL, &objval, NULL) == METIS_ERROR_INPUT);
  CHECK(METIS_PartGraphKway(&cells, &one, xadj, adjncy, NULL, NULL, NULL, &nparts, NULL, NULL, NULL, NULL, part) == METIS_ERROR_INPUT);
  CHECK(kway(0, NULL, NULL, NULL, NULL, &objval) == METIS_ERROR_INPUT);
  CHECK(kway(-2, NULL, NULL, NULL, NULL, &objval) == METIS_ERROR_INPUT);
  CHECK(kway(2, NULL, bad, NULL, NULL, &objval) == METIS_ERROR_INPUT);
  CHECK(kway(2, NULL, NULL, below, NULL, &objval) == METIS_ERROR_INPUT);
  memset(vwgt, 0, sizeof vwgt);
  vwgt[3] = -1;
  CHECK(kway(2, vwgt, NULL, NULL, NULL, &objval) == METIS_ERROR_INPUT);
  adjncy[0] = CELLS;
  CHECK(kway(2, NULL, NULL, NULL, NULL, &objval) == METIS_ERROR_INPUT);
  adjncy[0] = CELLS - 1; /* no edge back, and one from vertex 1 that has none either: both are edges */
  CHECK(kway(2, NULL, NULL, NULL, NULL, &objval) == METIS_OK);
  CHECK(objval >= HEIGHT && load(NULL, 0) >= 9 * CELLS / 20 && load(NULL, 1) >= 9 * CELLS / 20);
  CHECK(objval == cut(0) + ((part[0] != part[CELLS - 1]) + (part[0] != part[1]) + 1) / 2);
  fill_grid(0);
  xadj[3] = xadj[2] - 1;
  CHECK(kway(2, NULL, NULL, NULL, NULL, &objval) == METIS_ERROR_INPUT);
  fill_grid(0);
  METIS_SetDefaultOptions(options);
  options[OPTION_OBJTYPE] = 77;
  CHECK(kway(2, NULL, NULL, NULL, options, &objval) == METIS_ERROR_INPUT);
  /* A cut that no idx_t holds, or sums that overflow. */
  for (int i = 0; i < 4 * CELLS; i++) big[i] = IDX_MAX;
  nparts = CELLS;
  int code = METIS_PartGraphKway(&cells, &one, xadj, adjncy, NULL, NULL, big, &nparts, NULL, NULL, NULL, &objval, part);
  CHECK(sizeof(idx_t) == 4 ? code == METIS_OK && objval == IDX_MAX : code < 0);
  /* METIS accepts more parts than vertices. */
  CHECK(kway(CELLS + 5, NULL, NULL, NULL, NULL, &objval) == METIS_OK && objval == cut(0));
  CHECK(METIS_SetDefaultOptions(NULL) == METIS_ERROR_INPUT);
  CHECK(METIS_Free(NULL) == METIS_OK);
}

/* A cut that does not fit is the greatest integer, and the parts are those found. */
static void test_large(void) {
  static idx_t adjwgt[4 * CELLS];
  idx_t nparts = 4, objval = 77;
  fill_grid(0);
  for (int arc = 0; arc < 4 * CELLS; arc++) adjwgt[arc] = INT32_MAX;
  for (int way = 0; way < 2; way++) {
    for (int v = 0; v < CELLS; v++) part[v] = -1;
    int code = (way ? METIS_PartGraphKway : METIS_PartGraphRecursive)(&cells, &one, xadj, adjncy, NULL, NULL, adjwgt, &nparts, NULL, NULL, NULL, &objval, part);
    CHECK(code == METIS_OK && objval == (sizeof(idx_t) == 4 ? IDX_MAX : cut(0) * INT32_MAX));
    for (idx_t of = 0; of < nparts; of++) CHECK(load(NULL, of) > 100);
  }
}

/* No part is far below its share: what a bound allows the others does not empty one. */
static void test_least(void) {
  real_t shares[8], loose[1] = {1.3f};
  idx_t objval;
  fill_grid(0);
  for (idx_t p = 0; p < 8; p++) shares[p] = (real_t)(p + 1) / 36;
  for (int way = 0; way < 2; way++) {
    CHECK(kway(8, NULL, shares, way ? loose : NULL, NULL, &objval) == METIS_OK);
    for (idx_t p = 0; p < 8; p++) CHECK(load(NULL, p) >= (way ? 90 : 97) * (p + 1) * CELLS / 3600 - 1);
  }
}

/* Programs of Fortran call the same function by other names. */
int metis_partgraphkway_(idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, real_t *, real_t *, idx_t *, idx_t *, idx_t *);

static void test_fortran(void) {
  idx_t objval, again, nparts = 6;
  fill_grid(0);
  CHECK(kway(6, NULL, NULL, NULL, NULL, &objval) == METIS_OK);
  CHECK(metis_partgraphkway_(&cells, &one, xadj, adjncy, NULL, NULL, NULL, &nparts, NULL, NULL, NULL, &again, part) == METIS_OK);
  CHECK(again == objval && again == cut(0));
}

/* Connected parts that METIS is not there to make: the code says so, and the parts are written. */
static void test_pieces(int is_installed) {
  idx_t spokes[2 * 8], centre[10] = {0, 8, 9, 10, 11, 12, 13, 14, 15, 16}, star = 9, nparts = 4, objval = -1, options[NOPTIONS], found[9];
  for (idx_t leaf = 1; leaf < star; leaf++) spokes[leaf - 1] = leaf, spokes[7 + leaf] = 0;
  METIS_SetDefaultOptions(options);
  options[OPTION_CONTIG] = 1;
  for (idx_t v = 0; v < star; v++) found[v] = -1;
  int code = METIS_PartGraphKway(&star, &one, centre, spokes, NULL, NULL, NULL, &nparts, NULL, NULL, options, &objval, found);
  CHECK(is_installed || code == METIS_ERROR);
  for (idx_t v = 0; v < star; v++) CHECK(found[v] >= 0 && found[v] < nparts);
}

static idx_t two = 2, pairs[2 * CELLS];

/* Two weights of each vertex, each of which is balanced. */
static void test_several(void) {
  idx_t nparts = 4, objval;
  fill_grid(0);
  for (idx_t v = 0; v < CELLS; v++) pairs[2 * v] = 1, pairs[2 * v + 1] = v % 3;
  CHECK(METIS_PartGraphKway(&cells, &two, xadj, adjncy, pairs, NULL, NULL, &nparts, NULL, NULL, NULL, &objval, part) == METIS_OK);
  CHECK(objval == cut(0));
  for (idx_t p = 0; p < nparts; p++) {
    idx_t loads[2] = {0, 0}, all[2] = {0, 0};
    for (idx_t i = 0; i < 2 * CELLS; i++) {
      all[i % 2] += pairs[i];
      loads[i % 2] += part[i / 2] == p ? pairs[i] : 0;
    }
    CHECK(400 * loads[0] <= 103 * all[0] && 400 * loads[1] <= 103 * all[1]);
  }
}

/* What METIS itself does, if it is installed. */
static void test_real(int is_installed) {
  idx_t nparts = 2, objval, perm[CELLS], iperm[CELLS], options[NOPTIONS];
  fill_grid(0);
  int expected = is_installed ? METIS_OK : METIS_ERROR;
  METIS_SetDefaultOptions(options);
  options[OPTION_CONTIG] = 1;
  for (idx_t i = 0; i < 2 * CELLS; i++) pairs[i] = 1;
  CHECK(METIS_PartGraphKway(&cells, &two, xadj, adjncy, pairs, NULL, NULL, &nparts, NULL, NULL, options, &objval, part) == expected);
  CHECK(METIS_NodeND(&cells, xadj, adjncy, NULL, NULL, perm, iperm) == expected);
  for (idx_t v = 0; is_installed && v < CELLS; v++) CHECK(perm[iperm[v]] == v);
}

int main(int argc, char **argv) {
  (void)argv;
  trap_exceptions();
  test_balance();
  test_options();
  test_meshes();
  test_hostile();
  test_large();
  test_least();
  test_fortran();
  test_pieces(argc > 1);
  test_several();
  CHECK(exceptions_trap());
  test_real(argc > 1);
  return 0;
}
