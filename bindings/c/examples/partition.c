/* Divides a mesh of 32 x 32 cells into four blocks of equal weight.
 *
 *     cc -o partition partition.c $(pkg-config --cflags --libs viem)
 */
#include <stdio.h>
#include <stdlib.h>
#include <viem.h>

/* Ends the program unless a call has succeeded. */
static void check(viem_error *error) {
  if (error == NULL) return;
  fprintf(stderr, "%s\n", viem_error_message(error));
  viem_error_free(error);
  exit(EXIT_FAILURE);
}

int main(void) {
  enum { SIDE = 32, CELLS = SIDE * SIDE, BLOCKS = 4 };
  static int32_t offsets[CELLS + 1], neighbours[4 * CELLS], block_of[CELLS];
  int32_t arcs = 0;
  for (int32_t cell = 0; cell < CELLS; cell++) {
    int32_t x = cell % SIDE, y = cell / SIDE;
    if (y > 0) neighbours[arcs++] = cell - SIDE;
    if (x > 0) neighbours[arcs++] = cell - 1;
    if (x < SIDE - 1) neighbours[arcs++] = cell + 1;
    if (y < SIDE - 1) neighbours[arcs++] = cell + SIDE;
    offsets[cell + 1] = arcs;
  }

  viem_error *error;
  viem_graph *graph;
  viem_settings *settings;
  viem_mapping *partition;
  viem_report report;
  viem_graph_new32(CELLS, offsets, neighbours, NULL, NULL, &graph, &error);
  check(error);
  viem_settings_new(VIEM_PRESET_ECO, &settings, &error);
  check(error);
  viem_settings_set_imbalance(settings, 0, &error);
  check(error);
  viem_partition(graph, BLOCKS, NULL, NULL, settings, &partition, &error);
  check(error);
  viem_mapping_copy32(partition, CELLS, block_of, &error);
  check(error);
  viem_mapping_report(partition, &report, &error);
  check(error);

  printf("%d blocks of %lld vertices, %lld edges are cut; cell 0 is in block %d\n", BLOCKS,
         (long long)report.loads.greatest, (long long)report.cut, (int)block_of[0]);
  viem_mapping_free(partition);
  viem_settings_free(settings);
  viem_graph_free(graph);
  return EXIT_SUCCESS;
}
