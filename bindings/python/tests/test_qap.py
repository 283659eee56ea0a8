"""Quadratic assignment, compared with scipy and enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import OptimizeResult, OptimizeWarning
from scipy.optimize import quadratic_assignment as of_scipy

import viem
from conftest import optimum
from viem._starts import faq, two_opt


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


def brute_force(a, b):
    places = [np.array(place) for place in itertools.permutations(range(len(a)))]
    return min(cost(a, b, place) for place in places)


@settings(max_examples=40, deadline=None)
@given(n=st.integers(1, 6), seed=st.integers(0, 10**6), powers=st.tuples(*[st.integers(-300, 300)] * 2))
def test_floats_of_few_digits_are_exact(n, seed, powers):
    rng = np.random.default_rng(seed)
    a, b = (np.ldexp(rng.integers(-(2**20), 2**20, (n, n)).astype(float), power) for power in powers)
    result = viem.quadratic_assignment(a, b)
    assert result.rounding == 0 and result.optimal
    assert result.fun == cost(a, b, result.col_ind) == brute_force(a, b)
    assert result.lower_bound in (result.fun, None)


@settings(max_examples=40, deadline=None)
@given(n=st.integers(2, 6), seed=st.integers(0, 10**6), maximize=st.booleans(), spread=st.integers(0, 60))
def test_floats_of_all_digits_are_rounded_and_say_so(n, seed, maximize, spread):
    rng = np.random.default_rng(seed)
    a, b = (np.ldexp(rng.random((n, n)) - 0.3, rng.integers(-spread, spread + 1, (n, n))) for _ in range(2))
    result = viem.quadratic_assignment(a, b, options={"maximize": maximize})
    best = -brute_force(-a, b) if maximize else brute_force(a, b)
    assert 0 < result.rounding <= 1e-6 * np.abs(a).sum() * np.abs(b).max()
    assert result.fun == cost(a, b, result.col_ind)
    assert abs(result.fun - best) <= 2 * result.rounding
    assert result.lower_bound >= best if maximize else result.lower_bound <= best


def test_matrices_of_integers_and_floats():
    a, b = np.arange(9).reshape(3, 3), np.full((3, 3), 0.25)
    result = viem.quadratic_assignment(a, b)
    assert (result.fun, result.rounding) == (9.0, 0)
    large = viem.quadratic_assignment(a.astype(float) * 2.0**80, b)
    assert (large.fun, large.rounding) == (9 * 2.0**80, 0)
    zero = viem.quadratic_assignment(np.zeros((3, 3)), np.array([[1e300, 1, 0], [0, 0, 0], [0, 0, 1e-300]]))
    assert (zero.fun, zero.rounding) == (0, 0)


@pytest.mark.parametrize("maximize", [False, True])
def test_methods_of_scipy_begin(seed, maximize):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 50, (2, 14, 14))
    match = np.array([[3, 5], [7, 0]])
    sign = -1 if maximize else 1
    theirs = of_scipy(a, b, options={"maximize": maximize, "partial_match": match, "rng": rng})
    place, count = faq(sign * a, b, match, {}, rng)
    assert (cost(a, b, place), count) == (theirs.fun, theirs.nit)
    guess = np.array([[0, 1], [3, 2], [5, 4]])
    place, count = two_opt(sign * a, b, match, {"partial_guess": guess}, rng)
    assert sorted(place) == list(range(14)) and place[3] == 5 and place[7] == 0
    options = {
        "maximize": maximize,
        "partial_match": match,
        "partial_guess": np.array(list(enumerate(place))),
        "rng": rng,
    }
    again = of_scipy(a, b, method="2opt", options=options)
    assert (again.col_ind == place).all() and again.nit == 12 * 13 / 2 < count
    assert two_opt(sign * a, b, match, options, rng)[1] == again.nit


def test_unknown_options_warn():
    a = np.ones((3, 3))
    for method, options in [("viem", {"magic": 1}), ("faq", {"partial_guess": None}), ("2opt", {"tol": 1})]:
        with pytest.warns(OptimizeWarning, match=f"Unknown solver options: {next(iter(options))}"):
            viem.quadratic_assignment(a, a, method=method, options=options)


def test_nothing_to_choose():
    for method in ("viem", "faq", "2opt"):
        empty = viem.quadratic_assignment(np.empty((0, 0)), np.empty((0, 0)), method=method)
        assert (len(empty.col_ind), empty.fun, empty.nit, empty.optimal) == (0, 0, 0, True)
        match = [[0, 1], [1, 0]]
        result = viem.quadratic_assignment(np.eye(2), np.eye(2), method=method, options={"partial_match": match})
        assert (result.col_ind.tolist(), result.fun, result.nit) == ([1, 0], 2, 0)


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
        ({"A": np.full((3, 3), np.nan)}, viem.DataError),
        ({"A": np.full((3, 3), np.inf)}, viem.DataError),
        ({"A": np.full((3, 3), 2**62)}, viem.DataError),
        ({"A": np.full((3, 3), np.iinfo(np.int64).min), "options": {"maximize": True}}, viem.DataError),
        ({"method": "magic"}, viem.UsageError),
        ({"method": "faq", "options": {"maxiter": 0}}, viem.UsageError),
        ({"options": {"partial_match": [[0, 7]]}}, viem.DataError),
        ({"options": {"partial_match": [[0, 1], [0, 2]]}}, viem.DataError),
        ({"options": {"partial_match": [[0, 1], [1, 1]]}}, viem.DataError),
        ({"options": {"partial_match": [[0.5, 1]]}}, viem.DataError),
        ({"start": [0, 0, 1]}, viem.DataError),
    ],
)
def test_refusals(change, error):
    with pytest.raises(error):
        viem.quadratic_assignment(**{"A": np.ones((3, 3), int), "B": np.ones((3, 3), int), **change})
