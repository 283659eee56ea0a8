"""Partitions, compared with networkx."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import viem
from conftest import random_graph


def cut_of(graph, blocks):
    parts = {node: block for node, block in zip(graph, blocks)}
    return sum(weight for u, v, weight in graph.edges(data="weight", default=1) if parts[u] != parts[v])


@settings(max_examples=40, deadline=None)
@given(n=st.integers(2, 40), k=st.integers(1, 5), seed=st.integers(0, 1000), epsilon=st.sampled_from([0, 0.03, 0.5]))
def test_cut_and_balance(n, k, seed, epsilon):
    graph = random_graph(max(n, 5), seed)
    found = viem.partition(graph, k, imbalance=epsilon, seed=seed, preset="fast")
    assert found.cut == cut_of(graph, found.blocks)
    assert (found.loads == np.bincount(found.blocks, minlength=k)).all()
    assert found.overload == 0 and (found.loads <= found.bounds).all()
    assert found.loads.max() <= (1 + epsilon) * np.ceil(len(graph) / k)
    assert viem.evaluate(graph, k, found, imbalance=epsilon).cut == found.cut


def test_small_bisections_are_optimal(seed):
    graph = random_graph(8, seed)
    halves = itertools.combinations(range(8), 4)
    best = min(cut_of(graph, [int(node in half) for node in range(8)]) for half in halves)
    assert viem.partition(graph, 2, imbalance=0, preset="strong").cut == best


def test_better_than_networkx(seed):
    graph = nx.grid_2d_graph(20, 20)
    halves = nx.community.kernighan_lin_bisection(graph, seed=seed)
    assert viem.partition(graph, 2).cut <= nx.cut_size(graph, halves[0])


def test_shares_fixed_and_labels():
    graph = nx.grid_2d_graph(10, 10)
    found = viem.partition(graph, 3, shares=[1, 1, 2], fixed={(0, 0): 2, (9, 9): 0})
    assert found.block_of((0, 0)) == 2 and found.block_of((9, 9)) == 0
    assert found.loads[2] > 40 and found.overload == 0
    nx.set_node_attributes(graph, found.to_dict(), "block")
    assert graph.nodes[0, 0]["block"] == 2
    assert len(found.frame()) == 3


def test_remap(seed):
    graph = nx.grid_2d_graph(20, 20)
    old = viem.partition(graph, 4, seed=seed)
    new = viem.remap(graph, 4, old.to_dict(), migration_weight=2, shares=[1, 2, 2, 2])
    assert new.report["migration"]["vertices"] == (old.blocks != new.blocks).sum()
    assert new.overload == 0
    assert (viem.remap(graph, 4, old, migration_weight=1000).blocks == old.blocks).all()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"num_blocks": 0}, viem.UsageError),
        ({"num_blocks": 2, "imbalance": -1}, viem.Error),
        ({"num_blocks": 2, "imbalance": np.nan}, viem.Error),
        ({"num_blocks": 2, "preset": "quick"}, viem.UsageError),
        ({"num_blocks": 2, "seed": -1}, viem.UsageError),
        ({"num_blocks": 2, "threads": 1 << 40}, viem.UsageError),
        ({"num_blocks": 2, "time_limit": -1}, viem.UsageError),
        ({"num_blocks": 2, "on_interrupt": "ignore"}, viem.UsageError),
        ({"num_blocks": 2, "shares": [1]}, viem.Error),
        ({"num_blocks": 2, "fixed": [0]}, viem.DataError),
        ({"num_blocks": 2, "fixed": [5, -1, -1, -1]}, viem.Error),
        ({"num_blocks": 2, "fixed": [-2, -1, -1, -1]}, viem.DataError),
        ({"num_blocks": 2, "fixed": {9: 1}}, viem.DataError),
    ],
)
def test_refusals(options, error):
    with pytest.raises(error):
        viem.partition(nx.path_graph(4), **options)
