/* Is between a program and the library of METIS that it has: preloaded first, it forwards calls and writes to the file that WITNESS names,
 * for each, the edges that are cut and the greatest load relative to what the program has allowed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef int (*function)(int32_t *, int32_t *, int32_t *, int32_t *, int32_t *, int32_t *, int32_t *, int32_t *, float *, float *, int32_t *, int32_t *, int32_t *);

static void write_down(const int32_t *n, const int32_t *xadj, const int32_t *adjncy, const int32_t *vwgt, const int32_t *adjwgt, int32_t nparts,
                       const float *tpwgts, double allowed, int32_t base, const int32_t *part) {
  int64_t cut = 0, total = 0, *loads = calloc((size_t)nparts, sizeof *loads);
  double greatest = 0;
  const char *path = getenv("WITNESS");
  FILE *file = path ? fopen(path, "a") : NULL;
  if (loads == NULL || file == NULL) exit(99);
  for (int32_t v = 0; v < *n; v++) {
    int64_t weight = vwgt ? vwgt[v] : 1;
    total += weight;
    loads[part[v] - base] += weight;
    for (int32_t arc = xadj[v] - base; arc < xadj[v + 1] - base; arc++)
      if (part[adjncy[arc] - base] != part[v]) cut += adjwgt ? adjwgt[arc] : 1;
  }
  for (int32_t p = 0; p < nparts; p++) {
    double share = tpwgts ? tpwgts[p] : 1.0 / nparts, bound = allowed * share * (double)total;
    /* A part may always have its share, rounded up. */
    double whole = (double)(int64_t)(share * (double)total + 0.999999), ratio = (double)loads[p] / (bound > whole ? bound : whole);
    if (ratio > greatest) greatest = ratio;
  }
  fprintf(file, "%lld %.6f\n", (long long)cut / 2, greatest);
  fclose(file);
  free(loads);
}

static int pass_on(const char *name, int ufactor, int32_t *n, int32_t *ncon, int32_t *xadj, int32_t *adjncy, int32_t *vwgt, int32_t *vsize,
                   int32_t *adjwgt, int32_t *nparts, float *tpwgts, float *ubvec, int32_t *options, int32_t *objval, int32_t *part) {
  /* METIS calls its own function on its coarsest graph; only calls of the program count. */
  static int depth;
  function next = (function)dlsym(RTLD_NEXT, name);
  if (next == NULL) exit(98);
  depth++;
  int code = next(n, ncon, xadj, adjncy, vwgt, vsize, adjwgt, nparts, tpwgts, ubvec, options, objval, part);
  depth--;
  if (code == 1 && *ncon == 1 && depth == 0) {
    int given = options && options[16] != -1 ? options[16] : ufactor;
    double allowed = (ubvec ? ubvec[0] : 1 + 0.001 * given) + 0.00005;
    write_down(n, xadj, adjncy, vwgt, adjwgt, *nparts, tpwgts, allowed, options && options[17] == 1, part);
  }
  return code;
}

int METIS_PartGraphKway(int32_t *a, int32_t *b, int32_t *c, int32_t *d, int32_t *e, int32_t *f, int32_t *g, int32_t *h, float *i, float *j,
                        int32_t *k, int32_t *l, int32_t *m) {
  return pass_on("METIS_PartGraphKway", 30, a, b, c, d, e, f, g, h, i, j, k, l, m);
}

int METIS_PartGraphRecursive(int32_t *a, int32_t *b, int32_t *c, int32_t *d, int32_t *e, int32_t *f, int32_t *g, int32_t *h, float *i,
                             float *j, int32_t *k, int32_t *l, int32_t *m) {
  return pass_on("METIS_PartGraphRecursive", 1, a, b, c, d, e, f, g, h, i, j, k, l, m);
}
