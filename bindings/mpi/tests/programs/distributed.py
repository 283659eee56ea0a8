"""A grid, of which each rank has some vertices, is mapped, partitioned and remapped. Prints J if all is right.

With the argument `foreign`, the library is that of another MPI; prints why it is refused."""

import sys

import numpy as np
import viem
from mpi4py import MPI

comm = MPI.COMM_WORLD
if sys.argv[1:] == ["foreign"]:
    try:
        viem.mpi.partition_distributed(comm, ([0], []), 1)
    except viem.UsageError as error:
        print(error)
    sys.exit()

WIDTH, HEIGHT = 40, 30
TOTAL = WIDTH * HEIGHT
ends = [TOTAL * (rank + 1) ** 2 // comm.size**2 for rank in range(comm.size)]
first, last = ([0, *ends])[comm.rank], ends[comm.rank]


def neighbours(v):
    sides = [
        (v >= WIDTH, v - WIDTH),
        (v % WIDTH > 0, v - 1),
        (v % WIDTH < WIDTH - 1, v + 1),
        (v + WIDTH < TOTAL, v + WIDTH),
    ]
    return [to for exists, to in sides if exists]


rows = [neighbours(v) for v in range(first, last)]
graph = (np.cumsum([0, *map(len, rows)]), np.concatenate([*rows, []]).astype(np.int32))
fixed = np.where(np.arange(first, last) % 11 == 0, 3, -1)
machine = viem.Machine("4:2", distances="1:10")


def all_of(found):
    return np.concatenate(comm.allgather(found.places))


found = viem.mpi.map_distributed(comm, graph, machine, fixed=fixed, preset="fast", seed=1)
pes = all_of(found)
assert (pes[::11] == 3).all() and found.report["loads"]["overload"] == 0
whole = [neighbours(v) for v in range(TOTAL)]
score = viem.evaluate((np.cumsum([0, *map(len, whole)]), np.concatenate(whole)), machine, pes, many_to_one=True)
assert score.cost == found.report["cost"]
# The same from a matrix, and with the weights that are the default.
matrix = viem.Machine.from_matrix(machine.distances())
weights = np.ones(last - first)
weighted = (*graph, np.ones(len(graph[1])))
same = viem.mpi.map_distributed(comm, weighted, matrix, weights=weights, fixed=fixed, preset="fast", seed=1)
assert same.report["loads"]["overload"] == 0
wide = viem.mpi.map_distributed(comm, graph, machine.with_capacities([3, 1, 1, 1, 1, 1, 1, 1]), preset="fast")
assert np.bincount(all_of(wide))[0] > 2 * TOTAL // 10
parts = viem.mpi.partition_distributed(comm, graph, 6, imbalance=0, preset="fast")
assert (np.bincount(all_of(parts)) == TOTAL // 6).all() and parts.report["cost"] == parts.report["cut"]
again = viem.mpi.remap_distributed(comm, graph, parts.places, 10, num_blocks=6, preset="fast")
assert again.report["migration"]["weight"] < 50
# Each vertex takes the same time, those on the left also memory, of which the first block has most, as of the time.
numbers = np.arange(first, last)
several = np.stack([np.ones(last - first, np.int64), numbers % WIDTH < WIDTH // 2], axis=1)
limits = {"imbalance": [0.05, 0.1], "capacities": [[2, 3], [1, 1], [1, 1]], "least_load": [0.9, 0]}
both = viem.mpi.partition_distributed(comm, graph, 3, weights=several, preset="fast", **limits)
places = all_of(both)
time = np.bincount(places)
memory = np.bincount(places, np.arange(TOTAL) % WIDTH < WIDTH // 2, minlength=3)
assert (time <= [630, 315, 315]).all() and (time >= [540, 270, 270]).all(), time
assert (memory <= [396, 132, 132]).all() and both.report["loads"]["overload"] == 0, memory
least = viem.mpi.partition_distributed(comm, graph, 2, imbalance=0.5, least_load=[600, 500], preset="fast")
assert (np.bincount(all_of(least)) >= [600, 500]).all()
for wrong in (
    lambda: viem.mpi.map_distributed(comm, graph, machine, fixed=fixed + 8 * (comm.rank == comm.size - 1)),
    lambda: viem.mpi.map_distributed(comm, graph, 3),
    lambda: viem.mpi.map_distributed(comm, graph, machine, weights=weights[comm.rank :]) if comm.size > 1 else 1 / 0,
    lambda: viem.mpi.partition_distributed(comm, graph, -1),
    lambda: viem.mpi.partition_distributed(comm, graph, 2, preset="fastsocial"),
    lambda: viem.mpi.partition_distributed(comm, graph, 2, imbalance=[0.1, 0.2]),
    lambda: viem.mpi.partition_distributed(comm, graph, 2, least_load=[10, 10, 10]),
    lambda: viem.mpi.partition_distributed(comm, graph, 2, weights=several, imbalance=[0.1, 0.1, 0.1]),
    lambda: viem.mpi.remap_distributed(comm, graph, parts.places, 10),
    lambda: viem.mpi.remap_distributed(comm, graph, parts.places, float("nan"), num_blocks=6),
):
    try:
        wrong()
    except (viem.Error, TypeError, ZeroDivisionError) as error:
        messages = comm.allgather(str(error))
        assert messages == [messages[0]] * comm.size, messages
    else:
        raise AssertionError("no error")
if comm.rank == 0:
    print(f"J = {found.report['cost']}")
