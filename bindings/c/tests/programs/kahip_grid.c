/* Partitions a grid of 24 x 24 into eight parts by KaHIP's function, and prints the part of each vertex. */

#include <stdbool.h>
#include <stdio.h>

void kaffpa(int *n, int *vwgt, int *xadj, int *adjcwgt, int *adjncy, int *nparts, double *imbalance, bool suppress_output, int seed, int mode,
            int *edgecut, int *part);

#define SIDE 24

int main(void) {
  static int xadj[SIDE * SIDE + 1], adjncy[4 * SIDE * SIDE], part[SIDE * SIDE];
  int n = SIDE * SIDE, nparts = 8, cut = 0, count = 0;
  double imbalance = 0.03;
  for (int v = 0; v < n; v++) {
    if (v % SIDE > 0) adjncy[count++] = v - 1;
    if (v % SIDE < SIDE - 1) adjncy[count++] = v + 1;
    if (v >= SIDE) adjncy[count++] = v - SIDE;
    if (v + SIDE < n) adjncy[count++] = v + SIDE;
    xadj[v + 1] = count;
  }
  kaffpa(&n, NULL, xadj, NULL, adjncy, &nparts, &imbalance, true, 0, 1, &cut, part);
  for (int v = 0; v < n; v++) printf("%d\n", part[v]);
  return cut > 0 ? 0 : 1;
}
