/* The header alone, as C and as C++. */
#include <viem.h>

int main(void) {
  viem_error *error = 0;
  viem_graph *graph = 0;
  int64_t offsets[3] = {0, 1, 2}, targets[2] = {1, 0};
  if (viem_graph_new64(2, offsets, targets, 0, 0, &graph, &error) != VIEM_STATUS_OK) return 1;
  viem_graph_free(graph);
  return VIEM_VERSION_MAJOR == viem_version()[0] - '0' ? 0 : 1;
}
