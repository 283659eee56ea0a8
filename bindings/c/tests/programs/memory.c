/* A process without enough memory gets an error, and goes on. */
#include "check.h"

#include <sys/resource.h>

int main(void) {
  viem_error *error = NULL;
  viem_graph *grid = new_grid(250, 250), *graph = NULL;
  viem_mapping *partition = NULL;
  const int32_t vertices = 20 << 20;
  int32_t *offsets = calloc((size_t)vertices + 1, sizeof *offsets);
  struct rlimit limit = {512 << 20, 512 << 20};
  CHECK(offsets != NULL && setrlimit(RLIMIT_AS, &limit) == 0);
  FAIL(viem_graph_new32(vertices, offsets, NULL, NULL, NULL, &graph, &error), VIEM_STATUS_NO_RESOURCES, "bytes of memory");
  CHECK(graph == NULL && failed_at == -1);
  SUCCEED(viem_partition(grid, 4, NULL, NULL, NULL, &partition, &error));
  viem_mapping_free(partition);

  /* No more than there is already. */
  limit.rlim_cur = 1 << 20;
  CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
  FAIL(viem_partition(grid, 4, NULL, NULL, NULL, &partition, &error), VIEM_STATUS_NO_RESOURCES, "bytes of memory");
  limit.rlim_cur = limit.rlim_max;
  CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
  SUCCEED(viem_partition(grid, 4, NULL, NULL, NULL, &partition, &error));
  viem_mapping_free(partition);
  viem_graph_free(grid);
  free(offsets);
  return 0;
}
