"""The backend of networkx, as networkx finds and calls it, and the functions of networkx-metis."""

from __future__ import annotations

import subprocess
import sys

import networkx as nx
import pytest

import viem
import viem.networkx
from conftest import random_graph


def test_the_backend_is_found_and_called(seed):
    graph = random_graph(30, seed)
    one, other = nx.community.kernighan_lin_bisection(graph, backend="viem", seed=seed)
    assert one | other == set(graph) and not one & other and abs(len(one) - len(other)) <= 1
    halves = nx.community.kernighan_lin_bisection(graph, seed=seed, backend="networkx")
    assert nx.cut_size(graph, one, weight="weight") <= nx.cut_size(graph, halves[0], weight="weight")
    assert (one, other) == nx.community.kernighan_lin_bisection(graph, backend="viem", seed=seed)


def test_priorities_choose_the_backend(seed):
    grid = nx.grid_2d_graph(20, 20)
    with nx.config.backend_priority(algos=["viem"]):
        one, _ = nx.community.kernighan_lin_bisection(grid, seed=seed)
        assert nx.cut_size(grid, one) == 20
        # What the backend cannot do is done by networkx.
        start = (set(list(grid)[:200]), set(list(grid)[200:]))
        assert nx.community.kernighan_lin_bisection(grid, start, seed=seed)


def test_an_attribute_with_another_name():
    graph = nx.cycle_graph(8)
    nx.set_edge_attributes(graph, {edge: 1 + (edge[0] % 4 != 3) * 9 for edge in graph.edges()}, "traffic")
    graph.edges[7, 0]["traffic"] = 1
    one, _ = nx.community.kernighan_lin_bisection(graph, weight="traffic", backend="viem")
    assert nx.cut_size(graph, one, weight="traffic") == 2


def test_partition_of_networkx_metis(seed):
    graph = random_graph(40, seed)
    cut, blocks = viem.networkx.partition(graph, 4)
    block_of = {node: block for block, nodes in enumerate(blocks) for node in nodes}
    assert block_of.keys() == set(graph)
    assert cut == sum(w for u, v, w in graph.edges(data="weight", default=1) if block_of[u] != block_of[v])
    _, (small, large) = viem.networkx.partition(graph, 2, tpwgts=[0.25, 0.75], ubvec=[1.001], edge_weight=None)
    assert len(small) <= 11 and len(large) <= 31
    with pytest.raises(viem.UsageError, match="tpwgts"):
        viem.networkx.partition(graph, 2, tpwgts=[0, 0])


def test_the_module_is_a_program():
    found = subprocess.run([sys.executable, "-m", "viem", "--version"], capture_output=True, text=True, check=True)
    assert found.stdout == f"viem {viem.__version__}\n"
