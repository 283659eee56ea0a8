/* A grid of 24 x 20 cells, for the tests of libraries that stand in for others. INDEX is their type of integers. */

enum { WIDTH = 24, HEIGHT = 20, CELLS = WIDTH * HEIGHT };
static INDEX xadj[CELLS + 1], adjncy[4 * CELLS], part[CELLS];

static void fill_grid(INDEX base) {
  INDEX arcs = 0;
  for (INDEX v = 0; v < CELLS; v++) {
    xadj[v] = arcs + base;
    if (v / WIDTH > 0) adjncy[arcs++] = v - WIDTH + base;
    if (v % WIDTH > 0) adjncy[arcs++] = v - 1 + base;
    if (v % WIDTH < WIDTH - 1) adjncy[arcs++] = v + 1 + base;
    if (v / WIDTH < HEIGHT - 1) adjncy[arcs++] = v + WIDTH + base;
  }
  xadj[CELLS] = arcs + base;
}
