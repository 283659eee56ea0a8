"""Settings of all runs: preset, seed, threads, time limit, progress."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Callable, Literal, Optional, Union

import numpy as np
from numpy.typing import ArrayLike

from ._errors import UsageError
from ._graph import vector

Preset = Literal["fast", "eco", "strong", "fastsocial", "ecosocial", "strongsocial"]
"""Trade-offs of time and quality. Those for social networks are for partitions."""

Progress = Callable[[Optional[int]], Optional[bool]]
"""Called with the best J so far, or None before there is one; the run ends soon if it returns True."""

Imbalance = Union[float, Sequence[float]]
"""The excess over a share that is allowed, or one for each of several weights of the vertices."""

LeastLoad = Union[float, ArrayLike]
"""A fraction of the share of each PE or block, or an array with a weight for each; of several weights of the vertices, a fraction for each weight."""

OnInterrupt = Literal["raise", "return"]
"""The effect of Ctrl-C on a run, besides ending it."""


class Settings:
    """Settings of a run, as the extension reads them."""

    __slots__ = (
        "connected",
        "excess",
        "imbalances",
        "least_loads",
        "least_shares",
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
        imbalance: Imbalance = 0.03,
        least_load: LeastLoad = 0.0,
        num_weights: int = 1,
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
        are_shares = num_weights > 1 or np.ndim(least_load) == 0
        self.imbalances = vector("imbalance", np.atleast_1d(imbalance)).tolist()
        self.least_shares = vector("least_load", np.atleast_1d(least_load)).tolist() if are_shares else [0.0]
        self.least_loads = None if are_shares else vector("least_load", least_load)
        self.objective = objective
        self.excess = excess
        self.connected = connected
