"""Functions that are called as those of scipy are."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

import viem
import viem.scipy


def traffic(n, seed):
    rng = np.random.default_rng(seed)
    return rng.integers(1, 9, (n, n)) * (rng.random((n, n)) < 0.5)


def between(matrix, labels):
    return matrix[labels[:, None] != labels].sum()


def undirected(matrix):
    return np.triu(np.maximum(matrix, matrix.T))


@settings(max_examples=30, deadline=None)
@given(n=st.integers(2, 8), seed=st.integers(0, 10**6), directed=st.booleans())
def test_partitions_are_optimal_and_as_labels_of_scipy(n, seed, directed):
    matrix = traffic(n, seed)
    cut, labels = viem.scipy.partition(matrix, 2, directed, imbalance=0, rng=seed)
    edges = matrix if directed else undirected(matrix)
    assert cut == between(edges, labels) and np.abs(labels.sum() * 2 - n) <= 1
    assert labels.dtype == connected_components(matrix)[1].dtype
    halves = [np.isin(np.arange(n), half) for half in itertools.combinations(range(n), n // 2)]
    assert cut == min(between(edges, half) for half in halves)


@settings(max_examples=30, deadline=None)
@given(n=st.integers(1, 6), seed=st.integers(0, 10**6), directed=st.booleans())
def test_mappings_are_optimal(n, seed, directed):
    matrix, distances = traffic(n, seed), traffic(n, seed + 1)
    distances = np.triu(distances, 1) + np.triu(distances, 1).T
    cost, pe = viem.scipy.map(matrix, distances, directed)
    edges = matrix if directed else undirected(matrix)
    costs = {p: (edges * distances[np.ix_(p, p)]).sum() for p in itertools.permutations(range(n))}
    assert cost == costs[tuple(pe.tolist())] == min(costs.values())


def test_a_machine_takes_the_place_of_distances(seed):
    machine = viem.Machine("4:4", distances="1:10")
    graph = sp.csr_array(traffic(16, seed))
    cost, pe = viem.scipy.map(graph, machine, rng=seed)
    assert cost == (graph.toarray() * machine.distances()[np.ix_(pe, pe)]).sum()


def test_formats_and_missing_entries(seed):
    matrix = traffic(20, seed).astype(float)
    np.fill_diagonal(matrix, 0)
    expected = viem.scipy.partition(matrix, 3)
    with_holes = np.where(matrix == 0, np.inf, matrix)
    with_holes[0, 0] = np.nan
    masked = np.ma.masked_equal(matrix, 0)
    for same in [
        *(sp.csr_array(matrix).asformat(name) for name in ("csr", "csc", "coo")),
        with_holes,
        masked,
        matrix.tolist(),
    ]:
        cut, labels = viem.scipy.partition(same, 3)
        assert cut == expected[0] and (labels == expected[1]).all()


def test_an_import_is_all_that_changes(seed):
    a, b = np.random.default_rng(seed).integers(0, 9, (2, 9, 9))
    ours, theirs = (
        module.quadratic_assignment(a, b, method="2opt", options={"maximize": True, "rng": np.random.default_rng(seed)})
        for module in (viem.scipy, scipy.optimize)
    )
    assert ours.fun >= theirs.fun and ours.keys() >= theirs.keys()


their_tests = pytest.importorskip("scipy.optimize.tests.test_quadratic_assignment")


class InPlaceOfScipy:
    """The function in scipy's own tests of its one. Where they name an assignment or a sum, one that is as good or better will do."""

    def solve(self, A, B, method="faq", options=None):
        self.a, self.b, self.maximize = np.asarray(A), np.asarray(B), bool((options or {}).get("maximize"))
        self.found = viem.scipy.quadratic_assignment(A, B, method, options)
        return self.found

    def equal(self, actual, expected):
        if actual is self.found.col_ind:
            expected = self.sum_of(expected)
        elif actual is not self.found.fun:
            np.testing.assert_equal(actual, expected)
            return
        assert self.found.fun == self.sum_of(self.found.col_ind)
        assert self.found.fun >= expected if self.maximize else self.found.fun <= expected

    def sum_of(self, place):
        return (self.a * self.b[np.ix_(place, place)]).sum()


@pytest.mark.parametrize(
    ("suite", "name"),
    [
        (suite, name)
        for suite in (their_tests.TestFAQ, their_tests.Test2opt, their_tests.TestQAPOnce)
        for name in dir(suite)
        if name.startswith("test_")
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
@pytest.mark.filterwarnings("ignore:The NumPy global RNG was seeded by calling")
def test_those_of_scipy_pass(monkeypatch, suite, name):
    in_place = InPlaceOfScipy()
    monkeypatch.setattr(their_tests, "quadratic_assignment", in_place.solve)
    monkeypatch.setattr(their_tests, "assert_equal", in_place.equal)
    getattr(suite(), name)()


@pytest.mark.parametrize("csgraph", [np.ones(3), np.ones((2, 3)), [[0, -1], [1, 0]], [[0, 0.5], [1, 0]]])
def test_refusals(csgraph):
    with pytest.raises(viem.DataError):
        viem.scipy.partition(csgraph, 2)
    with pytest.raises(viem.DataError):
        viem.scipy.map(csgraph, [[0, 1], [1, 0]])
