"""Quadratic assignment problems, as scipy has them."""

from __future__ import annotations

import json
from collections.abc import Mapping as Dict
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from . import _viem
from ._errors import DataError, UsageError
from ._graph import Ids, Numbers, numbers, vector
from ._settings import OnInterrupt, Preset, Progress, Settings

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

# What scipy's options tune its own algorithms with.
_OF_SCIPY = frozenset({"P0", "maxiter", "partial_guess", "shuffle_input", "tol"})


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
        Dense or sparse, of whole numbers of any sign, not necessarily symmetric; floats that hold whole numbers are fine.
    method : {"viem", "faq", "2opt"}
        For calls that were written for scipy. The problem is solved in the same way whatever is given.
    options : dict, optional
        - maximize : bool, whether the sum shall be large instead of small
        - partial_match : m x 2 array; row (i, j) says that `perm[i]` must be j
        - rng : int, a seed, or None

        The others of scipy tune its own algorithms and mean nothing here; unknown ones are refused.
    start : array of n int, optional
        A permutation that the result must not be worse than.

    The rest is as for `map`.

    Returns
    -------
    scipy.optimize.OptimizeResult
        With `col_ind`, the permutation, an array of n int64; `fun`, the sum; and `nit`, the number of runs, 1. Besides, `lower_bound`, a proven
        lower bound of `fun` (an upper one if it is maximized) or None; `optimal`, whether nothing better is possible, False if that is not
        known; `stopped`, whether the run was ended early; and `seconds`.

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

    if method not in ("viem", "faq", "2opt"):
        raise UsageError(f'method is {method!r}; it must be "viem", "faq" or "2opt"')
    given = dict(options or {})
    maximize = bool(given.pop("maximize", False))
    partial_match = given.pop("partial_match", None)
    rng = given.pop("rng", None)
    unknown = sorted(given.keys() - _OF_SCIPY)
    if unknown:
        raise UsageError(f"quadratic_assignment has no option {unknown[0]!r}")
    a, b = _matrix("A", A), _matrix("B", B)
    if maximize:
        # Exact: the entries are whole numbers of 64 bits, of which the least has no negative.
        a = np.negative(_signed("A", a))
    settings = Settings(preset, _seed(rng, seed), threads, time_limit, progress, on_interrupt)
    place, cost, text = _viem.solve_qap(
        a, b, None if start is None else vector("start", start), _fixed(partial_match, a.shape[0]), settings
    )
    report = json.loads(text)
    sign = -1 if maximize else 1
    bound = report["lower_bound"]
    fields: dict[str, Any] = {
        "col_ind": place,
        "fun": sign * cost,
        "nit": 1,
        "lower_bound": None if bound is None else sign * bound,
        "optimal": report["is_optimal"],
        "stopped": report["stopped"],
        "seconds": report["seconds"],
    }
    return OptimizeResult(**fields)


def _matrix(name: str, matrix: Any) -> Numbers:
    array = numbers(name, matrix.toarray() if hasattr(matrix, "toarray") else matrix)
    if array.ndim != 2:
        raise DataError(f"`{name}` must have two dimensions")
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


def _seed(rng: Any, seed: int) -> int:
    if rng is None:
        return seed
    if isinstance(rng, (int, np.integer)):
        return int(rng)
    return int(rng.integers(1 << 32) if isinstance(rng, np.random.Generator) else rng.randint(1 << 31))


def _fixed(partial_match: Any, size: int) -> Optional[Ids]:
    """The place of each object that has one, by object; -1 for the others."""
    if partial_match is None or len(partial_match) == 0:
        return None
    pairs: Ids = np.asarray(partial_match)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise DataError("`partial_match` must be an array of two columns of indices")
    if pairs.min() < 0 or pairs.max() >= size:
        raise DataError(f"`partial_match` has an index that is not in 0..{size}")
    for column in pairs.T:
        if len(np.unique(column)) != len(column):
            raise DataError("`partial_match` names an index twice in a column")
    fixed: Ids = np.full(size, -1, np.int64)
    fixed[pairs[:, 0]] = pairs[:, 1]
    return fixed
