"""For scipy: functions with the arguments and results of `scipy.optimize` and `scipy.sparse.csgraph`.

`quadratic_assignment` takes the place of that of `scipy.optimize`: an import is all that changes. `partition` and `map` take graphs as the functions of
`scipy.sparse.csgraph` do, and return a number and an array, as `connected_components` does:

>>> from scipy.sparse import diags_array
>>> from viem.scipy import partition
>>> path = diags_array([1, 1, 1, 1, 1], offsets=1, dtype=int)
>>> cut, labels = partition(path, 2, directed=False)
>>> cut, abs(labels - labels[0])
(1, array([0, 0, 0, 1, 1, 1], dtype=int32))
"""

from __future__ import annotations

import sys
from collections.abc import Mapping as Dict
from typing import TYPE_CHECKING, Any, Optional

import numpy as np
from numpy.typing import NDArray

from ._errors import DataError
from ._graph import Weights
from ._machine import Machine
from ._qap import quadratic_assignment as _quadratic_assignment
from ._settings import Imbalance, Preset
from ._solve import map as _map
from ._solve import partition as _partition

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

__all__ = ["map", "partition", "quadratic_assignment"]

Labels = NDArray[np.int32]


def partition(
    csgraph: Any,
    n_parts: int,
    directed: bool = True,
    *,
    weights: Weights = None,
    imbalance: Imbalance = 0.03,
    preset: Preset = "eco",
    rng: Optional[int] = None,
    workers: int = 1,
) -> tuple[int, Labels]:
    """Divides a graph into parts of about equal weight with few edges between them.

    Parameters
    ----------
    csgraph : array_like or sparse, n x n
        Whole numbers from 0 on. Of a dense array of floats, infinite, missing and masked entries are no edges.
    n_parts : int
        The number of parts.
    directed : bool
        If True, entry (i, j) is an edge of its own. If False, entries (i, j) and (j, i) are one edge, and one of them is enough; if they differ, the
        greater is its weight.
    weights, imbalance, preset
        As for `viem.partition`.
    rng : int, optional
        A seed.
    workers : int
        The number of threads.

    Returns
    -------
    The sum of the weights of the edges between parts, and the part of each node, an array of n int32.
    """
    found = _partition(
        _edges(csgraph, directed),
        n_parts,
        directed=True,
        weights=weights,
        imbalance=imbalance,
        preset=preset,
        seed=rng or 0,
        threads=workers,
    )
    return found.cut, found.blocks.astype(np.int32)


def map(
    csgraph: Any,
    machine: Any,
    directed: bool = True,
    *,
    preset: Preset = "eco",
    rng: Optional[int] = None,
    workers: int = 1,
) -> tuple[int, Labels]:
    """Maps the nodes of a graph to the PEs of a machine, one to each, so that heavy edges are short.

    Parameters
    ----------
    csgraph, directed, preset, rng, workers
        As for `partition`.
    machine : Machine, or array_like, n x n
        A machine, or the symmetric distances of its PEs.

    Returns
    -------
    The sum of the weight of each edge times its distance, and the PE of each node, an array of n int32.

    Examples
    --------
    >>> from viem.scipy import map
    >>> traffic = [[0, 9, 0], [0, 0, 1], [0, 0, 0]]
    >>> map(traffic, [[0, 5, 1], [5, 0, 5], [1, 5, 0]])[0]
    14
    """
    target = machine if isinstance(machine, Machine) else Machine.from_matrix(machine)
    found = _map(_edges(csgraph, directed), target, directed=True, preset=preset, seed=rng or 0, threads=workers)
    # J has each edge in both directions.
    return found.cost // 2, found.pe.astype(np.int32)


def quadratic_assignment(
    A: Any,
    B: Any,
    method: str = "faq",
    options: Optional[Dict[str, Any]] = None,
    *,
    preset: Preset = "eco",
    workers: int = 1,
    time_limit: Optional[float] = None,
) -> OptimizeResult:
    """Solves the quadratic assignment problem, in place of `scipy.optimize.quadratic_assignment`.

    Parameters
    ----------
    A, B, options
        As for scipy, and for `viem.quadratic_assignment`; matrices may also be sparse.
    method : {"faq", "2opt", "viem"}
        The method that makes the first assignment, which the result is not worse than; "viem" spares the time of it.
    preset, time_limit
        As for `viem.map`.
    workers : int
        The number of threads.

    Returns
    -------
    The same as `viem.quadratic_assignment`; `fun` and `nit` are called as scipy calls them.

    Examples
    --------
    >>> from viem.scipy import quadratic_assignment
    >>> A = [[0, 5, 8, 6], [5, 0, 5, 1], [8, 5, 0, 2], [6, 1, 2, 0]]
    >>> B = [[0, 1, 8, 4], [1, 0, 5, 2], [8, 5, 0, 5], [4, 2, 5, 0]]
    >>> quadratic_assignment(A, B).fun
    176
    """
    from scipy import optimize  # noqa: F401

    # What scipy of this version says of random states, in versions that say it.
    says = getattr(sys.modules.get("scipy.optimize._qap"), "_spec007_transition", None)
    if says is not None:
        says((options or {}).get("rng"))
    return _quadratic_assignment(A, B, method.lower(), options, preset=preset, threads=workers, time_limit=time_limit)


def _edges(csgraph: Any, directed: bool) -> Any:
    """A sparse matrix with an entry for each edge."""
    from scipy.sparse import csr_array, issparse, triu
    from scipy.sparse.csgraph import csgraph_from_dense

    if not issparse(csgraph):
        csgraph = csgraph if isinstance(csgraph, np.ma.MaskedArray) else np.asarray(csgraph)
    if csgraph.ndim != 2 or csgraph.shape[0] != csgraph.shape[1]:
        raise DataError(f"`csgraph` must be a square matrix, not of shape {csgraph.shape}")
    has_holes = isinstance(csgraph, np.ma.MaskedArray) or (not issparse(csgraph) and csgraph.dtype.kind == "f")
    matrix = csr_array(csgraph_from_dense(csgraph) if has_holes else csgraph)
    return matrix if directed else triu(matrix.maximum(matrix.T))
