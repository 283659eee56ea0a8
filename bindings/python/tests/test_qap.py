"""Quadratic assignment, compared with scipy and enumeration."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import OptimizeResult
from scipy.optimize import quadratic_assignment as of_scipy

import viem
from conftest import optimum


def cost(a, b, permutation):
    return (a * b[np.ix_(permutation, permutation)]).sum()


@settings(max_examples=30, deadline=None)
@given(n=st.integers(1, 6), seed=st.integers(0, 10**6), maximize=st.booleans())
def test_small_ones_are_optimal(n, seed, maximize):
    a, b = np.random.default_rng(seed).integers(-9, 10, (2, n, n))
    result = viem.quadratic_assignment(a, b, options={"maximize": maximize})
    assert isinstance(result, OptimizeResult) and result.nit == 1
    assert result.fun == cost(a, b, result.col_ind)
    assert result.fun == (-optimum(-a, b) if maximize else optimum(a, b))
    if result.lower_bound is not None:
        assert (result.lower_bound >= result.fun) if maximize else (result.lower_bound <= result.fun)


@pytest.mark.parametrize("method", ["faq", "2opt"])
def test_never_worse_than_scipy(method, seed):
    a, b = np.random.default_rng(seed).integers(0, 50, (2, 16, 16))
    options = {"rng": np.random.default_rng(seed), "partial_match": np.array([[3, 5], [7, 0]])}
    theirs = of_scipy(a, b, method=method, options=options)
    ours = viem.quadratic_assignment(a, b, method=method, options=options)
    assert ours.fun <= theirs.fun == cost(a, b, theirs.col_ind)
    assert ours.col_ind[3] == 5 and ours.col_ind[7] == 0 and ours.fun == cost(a, b, ours.col_ind)
    assert ours.keys() >= theirs.keys()


def test_sparse_and_floats():
    rng = np.random.default_rng(0)
    a = sp.csr_array(rng.integers(1, 9, (12, 12)) * (rng.random((12, 12)) < 0.2))
    b = np.random.default_rng(1).integers(0, 9, (12, 12)).astype(float)
    result = viem.quadratic_assignment(a, b)
    assert result.fun == cost(a.toarray(), b, result.col_ind)


def test_start():
    a, b = np.random.default_rng(5).integers(0, 50, (2, 20, 20))
    good = viem.quadratic_assignment(a, b, preset="fast")
    again = viem.quadratic_assignment(a, b, start=good.col_ind, preset="fast", time_limit=0.01)
    assert again.fun <= good.fun


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"A": np.zeros((2, 3))}, viem.DataError),
        ({"B": np.zeros((4, 4))}, viem.DataError),
        ({"A": np.zeros(3)}, viem.DataError),
        ({"A": np.full((3, 3), 0.5)}, viem.DataError),
        ({"A": np.full((3, 3), 2**62)}, viem.DataError),
        ({"A": np.full((3, 3), np.iinfo(np.int64).min), "options": {"maximize": True}}, viem.DataError),
        ({"method": "magic"}, viem.UsageError),
        ({"options": {"magic": 1}}, viem.UsageError),
        ({"options": {"partial_match": [[0, 7]]}}, viem.DataError),
        ({"options": {"partial_match": [[0, 1], [0, 2]]}}, viem.DataError),
        ({"options": {"partial_match": [[0, 1], [1, 1]]}}, viem.DataError),
        ({"options": {"partial_match": [[0.5, 1]]}}, viem.DataError),
        ({"start": [0, 0, 1]}, viem.DataError),
    ],
)
def test_refusals(change, error):
    with pytest.raises(error):
        viem.quadratic_assignment(**{"A": np.ones((3, 3)), "B": np.ones((3, 3)), **change})
