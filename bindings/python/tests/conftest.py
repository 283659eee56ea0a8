"""Helpers of tests: results that do not come from the package."""

from __future__ import annotations

import itertools
from typing import Any

import networkx as nx
import numpy as np
import pytest


def random_graph(n: int, seed: int, most: int = 9) -> nx.Graph[Any]:
    """A connected graph with weights from 1 on."""
    rng = np.random.default_rng(seed)
    graph: nx.Graph[Any] = nx.connected_watts_strogatz_graph(n, min(4, n - 1), 0.4, seed=seed)
    for _, _, data in graph.edges(data=True):
        data["weight"] = int(rng.integers(1, most + 1))
    return graph


def matrix_of(graph: nx.Graph[Any]) -> Any:
    return nx.to_numpy_array(graph, weight="weight").astype(np.int64)


def objective(traffic: Any, distances: Any, pe: Any) -> int:
    """J by its definition."""
    return int((np.asarray(traffic) * np.asarray(distances)[np.ix_(pe, pe)]).sum())


def optimum(traffic: Any, distances: Any) -> int:
    """The least J of all permutations."""
    everything = itertools.permutations(range(len(traffic)))
    return min(objective(traffic, distances, pe) for pe in everything)


@pytest.fixture(params=range(3))
def seed(request: pytest.FixtureRequest) -> int:
    return int(request.param)
