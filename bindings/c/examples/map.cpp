// Maps the 16 processes of a ring to a machine: two nodes of two processors of four cores. Handles free themselves, errors are exceptions.
//
//     c++ -o map map.cpp $(pkg-config --cflags --libs viem)

#include <cstdint>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <vector>

#include <viem.h>

namespace {

template <typename T, void (*release)(T *)>
struct Release {
  void operator()(T *handle) const { release(handle); }
};
using Graph = std::unique_ptr<viem_graph, Release<viem_graph, viem_graph_free>>;
using Machine = std::unique_ptr<viem_machine, Release<viem_machine, viem_machine_free>>;
using Mapping = std::unique_ptr<viem_mapping, Release<viem_mapping, viem_mapping_free>>;
using Error = std::unique_ptr<viem_error, Release<viem_error, viem_error_free>>;

// Throws unless a call has succeeded.
void check(viem_error *raw) {
  Error error(raw);
  if (error) throw std::runtime_error(viem_error_message(error.get()));
}

}  // namespace

int main() try {
  // Process i exchanges 10 messages with process i + 1.
  const std::int64_t processes = 16;
  std::vector<std::int64_t> from, to, messages;
  for (std::int64_t i = 0; i < processes; i++) {
    from.push_back(i);
    to.push_back((i + 1) % processes);
    messages.push_back(10);
  }

  viem_error *error = nullptr;
  viem_graph *graph = nullptr;
  viem_graph_from_edges(processes, processes, from.data(), to.data(), messages.data(), &graph, &error);
  const Graph owned_graph(graph);
  check(error);

  viem_machine *machine = nullptr;
  viem_machine_new("4:2:2", "1:10:100", nullptr, &machine, &error);
  const Machine owned_machine(machine);
  check(error);

  viem_mapping *mapping = nullptr;
  viem_map(graph, machine, nullptr, nullptr, nullptr, &mapping, &error);
  const Mapping owned_mapping(mapping);
  check(error);

  viem_report report;
  viem_mapping_report(mapping, &report, &error);
  check(error);
  std::cout << "J = " << report.cost << "; process 0 runs on core " << viem_mapping_pes(mapping)[0] << "\n";
  return 0;
} catch (const std::exception &failure) {
  std::cerr << failure.what() << "\n";
  return 1;
}
