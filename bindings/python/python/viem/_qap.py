"""Quadratic assignment problems, as scipy has them."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping as Dict
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from . import _viem
from ._errors import DataError, UsageError
from ._graph import Ids, Numbers, numbers, vector
from ._scale import Scaled, scaled
from ._settings import OnInterrupt, Preset, Progress, Settings
from ._starts import METHODS, Random, pairs

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult


def quadratic_assignment(
    A: Any,
    B: Any,
    method: str = "viem",
    options: Optional[Dict[str, Any]] = None,
    *,
    start: Any = None,
    preset: Preset = "eco",
    seed: int = 0,
    threads: int = 1,
    time_limit: Optional[float] = None,
    progress: Optional[Progress] = None,
    on_interrupt: OnInterrupt = "raise",
) -> OptimizeResult:
    """Solves the quadratic assignment problem; takes and returns what `scipy.optimize.quadratic_assignment` does.

    Minimises `(A * B[perm][:, perm]).sum()` over all permutations.

    Parameters
    ----------
    A, B : square matrices of one size n, at most 65536
        Dense or sparse, of numbers of any sign, not necessarily symmetric. Floats are multiplied by powers of two, and rounded only where the sum
        would need more than 53 digits; `rounding` says so.
    method : {"viem", "faq", "2opt"}
        "faq" and "2opt" make an assignment by the method that scipy has by this name, which the result is then not worse than: each takes O(n³)
        several times.
    options : dict, optional
        - maximize : bool, whether the sum shall be large instead of small
        - partial_match : m x 2 array; row (i, j) says that `perm[i]` must be j
        - rng : int, a seed, a generator of numpy, or None
        - P0, maxiter and tol, of "faq", and partial_guess, of "2opt": as for scipy

        scipy's shuffle_input has no effect. There is a warning of others.
    start : array of n int, optional
        A permutation that the result must not be worse than.

    The rest is as for `map`.

    Returns
    -------
    scipy.optimize.OptimizeResult
        With `col_ind`, the permutation, an array of n int64; `fun`, the sum; and `nit`, the number of iterations of "faq" or "2opt", 1 with "viem",
        and 0 if `partial_match` leaves nothing to choose. Besides, `lower_bound`, a proven lower bound of `fun` (an upper one if it is maximized) or
        None; `optimal`, whether nothing better is possible, False if that is not known; `rounding`, by how much the sums that were compared may
        differ from those of the given matrices, 0 if floats are exact; `stopped`, whether the run was ended early; and `seconds`.

    Examples
    --------
    >>> import viem
    >>> A = [[0, 5, 1], [5, 0, 2], [1, 2, 0]]
    >>> B = [[0, 9, 2], [9, 0, 3], [2, 3, 0]]
    >>> result = viem.quadratic_assignment(A, B)
    >>> result.fun, result.optimal
    (50, True)
    """
    from scipy.optimize import OptimizeResult

    if method not in ("viem", *METHODS):
        raise UsageError(f'method is {method!r}; it must be "viem", "faq" or "2opt"')
    given = dict(options or {})
    maximize = bool(given.pop("maximize", False))
    match = given.pop("partial_match", None)
    rng = given.pop("rng", None)
    _warn_of_unknown(given, method)
    of_a, of_b = _matrix("A", A), _matrix("B", B)
    if of_a.shape != of_b.shape:
        raise DataError("`A` and `B` matrices must be of equal size")
    match = pairs("partial_match", match, len(of_a), "seeds")
    problem = scaled(of_a, of_b)
    # Exact: the entries are whole numbers of 64 bits, of which the least has no negative.
    a, b = np.negative(_signed("A", problem.a)) if maximize else problem.a, problem.b
    seed = _seed(rng, seed)
    fixed, first = _fixed(match, len(a)), None if start is None else vector("start", start)
    count = int(len(match) < len(a))
    if method in METHODS:
        _viem.check_qap(a, b)
        made, count = METHODS[method][0](a.astype(np.int64), b.astype(np.int64), match, given, _random(rng, seed))
        first = made if first is None else first
    if len(a) == 0:
        nothing = {"lower_bound": 0, "is_optimal": True, "stopped": False, "seconds": 0.0}
        place, cost, report = np.empty(0, np.int64), 0, nothing
    else:
        settings = Settings(preset, seed, threads, time_limit, progress, on_interrupt)
        place, cost, text = _viem.solve_qap(a, b, first, fixed, settings)
        report = json.loads(text)
    return OptimizeResult(
        **{"col_ind": place, "nit": count, **_sums(problem, (of_a, of_b), maximize, place, cost, report)}
    )


def _sums(
    problem: Scaled, matrices: tuple[Numbers, Numbers], maximize: bool, place: Ids, cost: int, report: Dict[str, Any]
) -> dict[str, Any]:
    """What is known of the sum, as the caller has it."""
    sign = -1 if maximize else 1
    bound, optimal = report["lower_bound"], report["is_optimal"]
    a, b = matrices
    fun: Any = sign * cost
    if a.dtype.kind == "f" or b.dtype.kind == "f":
        fun = problem.unscaled(fun)
        bound = None if bound is None else problem.unscaled(bound) - problem.error
    if problem.error > 0:
        fun = float((a * b[np.ix_(place, place)]).sum())
        optimal = bound is not None and sign * fun <= bound
    return {
        "fun": fun,
        "lower_bound": None if bound is None else sign * bound,
        "optimal": optimal,
        "rounding": problem.error,
        "stopped": report["stopped"],
        "seconds": report["seconds"],
    }


def _warn_of_unknown(given: Dict[str, Any], method: str) -> None:
    from scipy.optimize import OptimizeWarning

    known = METHODS[method][1] if method in METHODS else frozenset().union(*(names for _, names in METHODS.values()))
    unknown = [name for name in given if name not in known]
    if unknown:
        warnings.warn(f"Unknown solver options: {', '.join(map(str, unknown))}", OptimizeWarning, stacklevel=3)


def _matrix(name: str, matrix: Any) -> Numbers:
    array = numbers(name, matrix.toarray() if hasattr(matrix, "toarray") else np.atleast_2d(matrix))
    if array.shape[0] != array.shape[1]:
        raise DataError(f"`{name}` must be square")
    if array.ndim != 2:
        raise DataError("`A` and `B` must have exactly two dimensions")
    return array


def _signed(name: str, array: Numbers) -> Numbers:
    if array.dtype.kind == "f":
        return array
    least = np.iinfo(np.int64).min
    too_large = array > np.iinfo(np.int64).max if array.dtype.kind == "u" else array == least
    if too_large.any():
        index = int(np.argmax(too_large))
        raise DataError(f"entry {index} of `{name}` is {array.flat[index]}, which is out of range", index=index)
    return array.astype(np.int64)


def _random(rng: Any, seed: int) -> Random:
    return rng if isinstance(rng, (np.random.Generator, np.random.RandomState)) else np.random.default_rng(seed)


def _seed(rng: Any, seed: int) -> int:
    if rng is None:
        return seed
    if isinstance(rng, (int, np.integer)):
        return int(rng)
    return int(rng.integers(1 << 32) if isinstance(rng, np.random.Generator) else rng.randint(1 << 31))


def _fixed(match: Ids, size: int) -> Optional[Ids]:
    """The place of each object that has one, by object; -1 for the others."""
    if len(match) == 0:
        return None
    fixed: Ids = np.full(size, -1, np.int64)
    fixed[match[:, 0]] = match[:, 1]
    return fixed
