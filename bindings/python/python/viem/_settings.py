"""Settings of all runs: preset, seed, threads, time limit, progress."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from typing import Any, Callable, Literal, Optional, Union, cast

import numpy as np
from numpy.typing import ArrayLike

from ._errors import UsageError
from ._graph import Numbers, vector

Preset = Literal["fast", "eco", "strong", "fastsocial", "ecosocial", "strongsocial"]
"""Trade-offs of time and quality. Those for social networks are for partitions."""

Progress = Callable[[Optional[int]], Optional[bool]]
"""Called with the best J so far, or None before there is one; the run ends soon if it returns True."""

Imbalance = Union[float, Sequence[float]]
"""The excess over a share that is allowed, or one for each of several weights of the vertices."""

LeastLoad = Union[float, ArrayLike]
"""A fraction of the share of each PE or block, or an array with a weight for each; of several weights of the vertices, a fraction for each weight, or an
array with a column for each weight."""

NodeCapacity = Union[None, int, ArrayLike, Sequence[Union[int, ArrayLike, None]]]
"""The most that all vertices on a node may weigh together: a number for every node, or an array with one for each; of several weights of the vertices, a
sequence with that of each weight, or None where it has no bound."""

OnInterrupt = Literal["raise", "return"]
"""The effect of Ctrl-C on a run, besides ending it."""


class Settings:
    """Settings of a run, as the extension reads them."""

    __slots__ = (
        "capacities",
        "connected",
        "excess",
        "imbalance_per_division",
        "imbalances",
        "least_loads",
        "least_shares",
        "node_capacities",
        "objective",
        "preset",
        "progress",
        "returns_on_interrupt",
        "seed",
        "threads",
        "time_limit",
    )

    def __init__(
        self,
        preset: str = "eco",
        seed: int = 0,
        threads: int = 1,
        time_limit: Optional[float] = None,
        progress: Optional[Progress] = None,
        on_interrupt: str = "raise",
        objective: str = "J",
        excess: float = 0.03,
        connected: bool = False,
    ) -> None:
        if on_interrupt not in ("raise", "return"):
            raise UsageError(f'on_interrupt is {on_interrupt!r}; it must be "raise" or "return"')
        if not 0 <= seed < 1 << 64:
            raise UsageError(f"seed is {seed}; it must be a number of 64 bits from 0 on")
        if threads < 0:
            raise UsageError(f"threads is {threads}; it must be at least 1, or 0 for one per processor")
        self.preset = preset
        self.seed = seed
        self.threads = threads
        self.time_limit = time_limit
        self.progress = progress
        self.returns_on_interrupt = on_interrupt == "return"
        self.objective = objective
        self.excess = excess
        self.connected = connected
        self.balanced(1)

    def balanced(
        self,
        num_weights: int,
        imbalance: Imbalance = 0.03,
        imbalance_per_division: bool = False,
        least_load: LeastLoad = 0.0,
        capacities: Optional[ArrayLike] = None,
        node_capacity: NodeCapacity = None,
    ) -> Settings:
        """Sets the limits of loads by this many weights of the vertices."""
        are_shares = np.ndim(least_load) < (2 if num_weights > 1 else 1)
        self.imbalances = vector("imbalance", np.atleast_1d(imbalance)).tolist()
        self.imbalance_per_division = imbalance_per_division
        self.least_shares = vector("least_load", np.atleast_1d(least_load)).tolist() if are_shares else [0.0]
        self.least_loads = [] if are_shares else [_integers("least_load", each) for each in _columns(least_load)]
        self.capacities = [] if capacities is None else [_whole("capacities", each) for each in _columns(capacities)]
        self.node_capacities = _of_nodes(node_capacity, num_weights)
        return self


def _columns(values: ArrayLike) -> Iterable[ArrayLike]:
    """The numbers by weight, from an array with a row for each PE or block."""
    array = np.asarray(values)
    if array.ndim not in (1, 2):
        raise UsageError(
            "least loads and capacities are arrays with a row for each PE or block, and a column for each weight"
        )
    return array.T if array.ndim == 2 else [array]


def _of_nodes(capacity: NodeCapacity, num_weights: int) -> list[Optional[list[int]]]:
    """The bounds of the nodes by weight, or none."""
    if capacity is None:
        return []
    if num_weights > 1 and not (isinstance(capacity, Sized) and len(capacity) == num_weights):
        raise UsageError("node_capacity of several weights has an entry for each weight, None where there is no bound")
    each: Iterable[Any] = [capacity] if num_weights == 1 else cast("Iterable[Any]", capacity)
    return [None if own is None else _whole("node_capacity", np.atleast_1d(own)) for own in each]


def _whole(name: str, numbers: ArrayLike) -> list[int]:
    """Whole numbers from 0 on."""
    array = _integers(name, numbers)
    if array.size and array.min() < 0:
        raise UsageError(f"{name} must be whole numbers from 0 on")
    return [int(number) for number in array]


def _integers(name: str, numbers: ArrayLike) -> Numbers:
    """Whole numbers."""
    array = vector(name, numbers)
    if array.dtype.kind not in "iu":
        raise UsageError(f"{name} must be whole numbers")
    return array
