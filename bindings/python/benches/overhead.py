"""The cost of a call from Python beyond that of the Rust function, and the memory of graphs from scipy.

    python bindings/python/benches/overhead.py

The function of Rust reports its own time, so both figures are of the same calls. What is beyond it has the conversion of the graph, which a caller
of Rust needs as well, and the start of threads, which only such a caller needs for each run.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from typing import Any, Callable

import numpy as np
import scipy.sparse as sp

import viem


def grid(width: int, height: int) -> Any:
    """The matrix of a grid, weights 1, ids of 32 bits."""
    row, column = sp.eye_array(height), sp.eye_array(width)
    paths = [sp.diags_array([1.0, 1.0], offsets=[-1, 1], shape=(n, n)) for n in (width, height)]
    return sp.csr_array(sp.kron(row, paths[0]) + sp.kron(paths[1], column))


def overhead(call: Callable[[], Any], seconds_of: Callable[[Any], float], calls: int) -> tuple[float, float]:
    """The time of calls beyond the run, and that of the run, in seconds: of the fastest tenth, as others use the machine too."""
    beyond, runs = [], []
    for _ in range(calls):
        begin = time.perf_counter()
        result = call()
        whole = time.perf_counter() - begin
        runs.append(seconds_of(result))
        beyond.append(whole - runs[-1])
    return sorted(beyond)[calls // 10], sorted(runs)[calls // 10]


def memory(edges: int) -> None:
    """In a process of its own: the growth of the peak while a graph is made."""
    side = int((edges / 2) ** 0.5)
    matrix = grid(side, side)
    own = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    # The peak of what made the matrix must not hide that of the graph.
    filler = np.ones(max(0, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - resident()) // 8)
    before = resident()
    graph = viem.Graph(matrix)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    text = f"{graph.num_edges} edges: scipy {own / 2**20:.0f} MiB, the graph at its peak {grown / 2**20:.0f} MiB"
    print(f"{text}, ratio {grown / own:.2f}")
    del filler


def resident() -> int:
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()


def main() -> None:
    small = grid(8, 8)
    machine = viem.Machine("4:4:4", distances="1:10:100")
    whole = overhead(lambda: viem.map(small, machine), lambda m: m.report["seconds"]["total"], 300)
    print(f"map, 64 processes: {whole[0] * 1e6:.0f} us beyond a run of {whole[1] * 1e6:.0f} us")
    large = grid(400, 250)
    for name, call in (
        ("partition", lambda: viem.partition(large, 8, preset="fast")),
        ("map_many_to_one", lambda: viem.map_many_to_one(large, machine, preset="fast")),
    ):
        whole = overhead(call, lambda result: result.report["seconds"], 9)
        share = 100 * whole[0] / whole[1]
        print(
            f"{name}, 100000 vertices: {whole[0] * 1e3:.1f} ms beyond a run of {whole[1] * 1e3:.0f} ms, {share:.2f} %"
        )
    sys.stdout.flush()
    subprocess.run([sys.executable, __file__, "10000000"], check=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        memory(int(sys.argv[1]))
    else:
        main()
