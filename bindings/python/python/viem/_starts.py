"""The methods of `scipy.optimize.quadratic_assignment`, which make assignments to start from.

Each takes matrices of whole numbers, of which the sum is minimised, and returns an assignment and the number of its iterations. Arguments are checked
as scipy checks them, in its words.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping as Dict
from typing import Any, Callable, Union

import numpy as np
from numpy.typing import NDArray

from ._errors import DataError, UsageError
from ._graph import Ids

Matrix = NDArray[Any]
Random = Union[np.random.Generator, np.random.RandomState]
Start = tuple[Ids, int]


def pairs(name: str, given: Any, size: int, what: str) -> Ids:
    """Pairs of an object and its place, each at most once."""
    rows = np.atleast_2d(np.empty((0, 2)) if given is None or len(given) == 0 else np.asarray(given))
    fault = None
    if rows.shape[0] > size:
        fault = f"can have only as many {what} as there are nodes"
    elif rows.shape[1] != 2:
        fault = "must have two columns"
    elif rows.ndim != 2:
        fault = "must have exactly two dimensions"
    elif (rows != np.floor(rows)).any():
        fault = "must contain only whole numbers"
    elif (rows < 0).any():
        fault = "must contain only positive indices"
    elif (rows >= size).any():
        fault = "entries must be less than number of nodes"
    elif any(len(np.unique(column)) != len(column) for column in rows.T):
        fault = "column entries must be unique"
    if fault is not None:
        raise DataError(f"`{name}` {fault}")
    return rows.astype(np.int64)


def faq(a: Matrix, b: Matrix, match: Ids, options: Dict[str, Any], rng: Random) -> Start:
    """The assignment nearest to a stationary point among doubly stochastic matrices, by the method of Frank and Wolfe (Vogelstein et al., "Fast
    Approximate Quadratic Programming for Graph Matching", PLOS ONE 2015). An iteration takes O(n³)."""
    from scipy.optimize import linear_sum_assignment

    limit, tolerance = operator.index(options.get("maxiter", 30)), options.get("tol", 0.03)
    size = len(a) - len(match)
    first = options.get("P0", "barycenter")
    if isinstance(first, str) and first not in ("barycenter", "randomized"):
        raise UsageError("Invalid 'P0' parameter string")
    if limit <= 0:
        raise UsageError("'maxiter' must be a positive integer")
    if tolerance <= 0:
        raise UsageError("'tol' must be a positive float")
    shares = _shares(first, size, rng)
    start, rows, columns = _free(match, len(a))
    if size == 0:
        return start, 0
    a, b = a.astype(float), b.astype(float)
    whole = np.zeros(a.shape)
    whole[match[:, 0], match[:, 1]] = 1
    block = np.ix_(rows, columns)
    count, moved = 0, np.inf
    while count < limit and moved >= tolerance:
        whole[block] = shares
        gradient = (a @ whole @ b.T + a.T @ whole @ b)[block]
        corner = np.zeros((size, size))
        corner[linear_sum_assignment(gradient)] = 1
        way = corner - shares
        slope = (gradient * way).sum()
        curvature = (a[np.ix_(rows, rows)] * (way @ b[np.ix_(columns, columns)] @ way.T)).sum()
        step = float(np.clip(-slope / (2 * curvature), 0, 1)) if curvature > 0 else float(slope + curvature < 0)
        shares = shares + step * way
        count, moved = count + 1, step * np.linalg.norm(way) / np.sqrt(size)
    start[rows] = columns[linear_sum_assignment(shares, maximize=True)[1]]
    return start, count


def _shares(first: Any, size: int, rng: Random) -> Matrix:
    """The doubly stochastic matrix to begin with."""
    if isinstance(first, str):
        even = np.full((size, size), 1 / max(size, 1))
        return even if first == "barycenter" else (even + _stochastic(rng.uniform(size=(size, size)))) / 2
    shares = np.atleast_2d(first)
    if shares.shape != (size, size):
        raise DataError("`P0` matrix must have shape m' x m', where m'=n-m")
    if (shares < 0).any() or not all(np.allclose(shares.sum(axis=axis), 1) for axis in (0, 1)):
        raise DataError("`P0` matrix must be doubly stochastic")
    return shares.astype(float)


def _stochastic(matrix: Matrix) -> Matrix:
    """A doubly stochastic matrix: rows and columns are scaled in turn (Sinkhorn and Knopp)."""
    for _ in range(100):
        matrix = matrix / matrix.sum(axis=1, keepdims=True)
        matrix = matrix / matrix.sum(axis=0)
    return matrix


def two_opt(a: Matrix, b: Matrix, match: Ids, options: Dict[str, Any], rng: Random) -> Start:
    """An assignment that the exchange of no two objects improves, from a guess. Iterations are pairs that are compared, an object with itself among
    them; a pass over all pairs takes O(n³)."""
    guess = pairs("partial_guess", options.get("partial_guess"), len(a), "entries")
    clashes = np.isin(guess[:, 0], match[:, 0]) | np.isin(guess[:, 1], match[:, 1])
    known = np.concatenate([match, guess[~clashes]])
    start, rows, columns = _free(known, len(a))
    start[rows] = rng.permutation(columns)
    free = np.setdiff1d(np.arange(len(a)), match[:, 0])
    count, improves = 0, True
    while improves and len(free) > 0:
        improves = False
        for at, one in enumerate(free):
            others, compared = free[at:], 0
            while compared < len(others):
                gains = np.flatnonzero(_changes(a, b, start, one, others[compared:]) < 0)
                compared += int(gains[0]) + 1 if len(gains) else len(others) - compared
                if len(gains):
                    other = others[compared - 1]
                    start[[one, other]] = start[[other, one]]
                    improves = True
            count += len(others)
    return start, count


def _changes(a: Matrix, b: Matrix, place: Ids, one: int, others: Ids) -> Matrix:
    """The changes of the sum if an object is exchanged with each of others. O(n) each."""
    here, there = place[one], place[others]
    total: Matrix = np.zeros(len(others), a.dtype)
    for of, to in ((a, b), (a.T, b.T)):
        flow, distance = of[one] - of[others], to[np.ix_(there, place)] - to[here][place]
        terms = (flow * distance).sum(axis=1)
        # Both of them move.
        terms = terms - (of[one, one] - of[others, one]) * (to[there, here] - to[here, here])
        total += terms - (of[one, others] - of[others, others]) * (to[there, there] - to[here, there])
    total += (a[one, one] - a[others, others]) * (b[there, there] - b[here, here])
    total += (a[one, others] - a[others, one]) * (b[there, here] - b[here, there])
    return total


def _free(known: Ids, size: int) -> tuple[Ids, Ids, Ids]:
    """An assignment with some known places, the other objects, and the other places."""
    place = np.full(size, -1, np.int64)
    place[known[:, 0]] = known[:, 1]
    everything = np.arange(size)
    return place, np.setdiff1d(everything, known[:, 0]), np.setdiff1d(everything, known[:, 1])


METHODS: Dict[str, tuple[Callable[[Matrix, Matrix, Ids, Dict[str, Any], Random], Start], frozenset[str]]] = {
    "faq": (faq, frozenset({"P0", "maxiter", "shuffle_input", "tol"})),
    "2opt": (two_opt, frozenset({"partial_guess"})),
}
"""The methods, and the options of each."""
