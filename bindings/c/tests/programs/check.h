/* What the test programs share. */
#ifndef CHECK_H
#define CHECK_H

#include "condition.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <viem.h>

/* Ends the program unless a call succeeds; it uses the variable `error`. */
#define SUCCEED(call)                                                           \
  do {                                                                          \
    if ((call) != VIEM_STATUS_OK || error != NULL) {                            \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, viem_error_message(error)); \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)

/* The index of the last error that was expected. */
static int64_t failed_at = -1;

/* Ends the program unless a call fails with a status and a message that contains a text. */
#define FAIL(call, expected, text)                                              \
  do {                                                                          \
    viem_status status_ = (call);                                               \
    if (status_ != (expected) || viem_error_status(error) != (expected) ||      \
        strstr(viem_error_message(error), (text)) == NULL) {                    \
      fprintf(stderr, "%s:%d: %d %s\n", __FILE__, __LINE__, (int)status_, viem_error_message(error)); \
      exit(1);                                                                  \
    }                                                                           \
    failed_at = viem_error_index(error);                                        \
    viem_error_free(error);                                                     \
    error = NULL;                                                               \
  } while (0)

/* A grid of width times height vertices, all weights 1; the arrays are static. */
#define MOST_CELLS 70000
static int32_t grid_offsets[MOST_CELLS + 1];
static int32_t grid_targets[4 * MOST_CELLS];

static inline void fill_grid(int32_t width, int32_t height) {
  int32_t arcs = 0;
  for (int32_t v = 0; v < width * height; v++) {
    int32_t x = v % width, y = v / width;
    grid_offsets[v] = arcs;
    if (y > 0) grid_targets[arcs++] = v - width;
    if (x > 0) grid_targets[arcs++] = v - 1;
    if (x < width - 1) grid_targets[arcs++] = v + 1;
    if (y < height - 1) grid_targets[arcs++] = v + width;
  }
  grid_offsets[width * height] = arcs;
}

static inline viem_graph *new_grid(int32_t width, int32_t height) {
  viem_graph *graph = NULL;
  viem_error *error = NULL;
  fill_grid(width, height);
  SUCCEED(viem_graph_new32(width * height, grid_offsets, grid_targets, NULL, NULL, &graph, &error));
  return graph;
}

static inline viem_machine *new_machine(const char *spec, const char *distances) {
  viem_machine *machine = NULL;
  viem_error *error = NULL;
  SUCCEED(viem_machine_new(spec, distances, NULL, &machine, &error));
  return machine;
}

static inline viem_settings *new_settings(viem_preset preset) {
  viem_settings *settings = NULL;
  viem_error *error = NULL;
  SUCCEED(viem_settings_new(preset, &settings, &error));
  return settings;
}

#endif
