"""Mapping and partitioning."""

from __future__ import annotations

from typing import Any, Optional, Union, overload

import numpy as np
from numpy.typing import ArrayLike

from . import _viem
from ._errors import UsageError
from ._graph import Weights, as_graph, places, vector
from ._machine import Machine, core_of
from ._results import Mapping, Partition
from ._settings import Imbalance, LeastLoad, NodeCapacity, OnInterrupt, Preset, Progress, Settings


def map(
    traffic: Any,
    machine: Machine,
    *,
    directed: bool = False,
    start: Any = None,
    fixed: Any = None,
    objective: str = "J",
    excess: float = 0.03,
    preset: Preset = "eco",
    seed: int = 0,
    threads: int = 1,
    time_limit: Optional[float] = None,
    progress: Optional[Progress] = None,
    on_interrupt: OnInterrupt = "raise",
) -> Mapping:
    """Maps processes to the PEs of a machine, one per PE, such that those that communicate heavily are close to each other.

    The cost J is the sum of weight times distance over all edges, each counted in both directions. The result is never worse than that of
    process i on the i-th PE.

    Parameters
    ----------
    traffic : graph of n processes
        How much each two communicate: whatever `Graph` takes.
    machine : Machine
        With room for n processes at least.
    directed : bool
        True if entry (u, v) of a matrix is the traffic from u to v, as for `Graph`.
    start : array of n PEs, or dict of PEs by label, optional
        A mapping that the result must not be worse than.
    fixed : array of n PEs with -1 for free processes, or dict of PEs by label, optional
        The PEs of fixed processes.
    objective : str
        The objective, as `viem map --objective` names it. "bottleneck" is the load of the busiest link, or the traffic that leaves the busiest node
        where links are not known, and then J; "busiest_node" is that traffic, and then J; "mixed" is J and a norm of the loads. `Mapping.busiest` has
        these loads.
    excess : float
        The share of J by which it may rise for another objective, from 0 to 1. A simple order with a lower maximum than all mappings
        found within that limit may cost more.
    preset : {"eco", "fast", "strong"}
        Trade-off of time and quality: a third of the effort of "eco", or thirty times as much.
    seed : int
        Of all random choices. The same seed gives the same result, with any number of threads.
    threads : int
        At least 1, or 0 for one per processor.
    time_limit : float, optional
        In seconds. The mapping is improved until then.
    progress : callable, optional
        Called up to 50 times a second, in the calling thread, with the best J so far or None; the run ends soon if it returns True.
    on_interrupt : {"raise", "return"}
        Ctrl-C ends the run within a fraction of a second; then KeyboardInterrupt is raised, or the best mapping so far is returned. It is
        looked at in the main thread only, as everywhere in Python.

    Other threads of Python run meanwhile.

    Examples
    --------
    >>> import viem
    >>> ring = ([0, 2, 4, 6, 8], [1, 3, 0, 2, 1, 3, 2, 0])
    >>> mapping = viem.map(ring, viem.Machine("2:2", distances="1:10"))
    >>> mapping.cost, mapping.cost_of_identity
    (44, 44)
    """
    graph = as_graph(traffic, directed=directed)
    settings = Settings(preset, seed, threads, time_limit, progress, on_interrupt, objective=objective, excess=excess)
    found = _viem.map(
        graph._core,
        core_of(machine),
        places("start", start, graph, machine._labels),
        places("fixed", fixed, graph, machine._labels, partial=True),
        settings,
    )
    return Mapping(graph, machine, *found, False)


def map_many_to_one(
    graph: Any,
    machine: Machine,
    *,
    weights: Weights = None,
    imbalance: Imbalance = 0.03,
    imbalance_per_division: bool = False,
    least_load: LeastLoad = 0.0,
    capacities: Optional[ArrayLike] = None,
    node_capacity: NodeCapacity = None,
    connected: bool = False,
    directed: bool = False,
    start: Any = None,
    fixed: Any = None,
    objective: str = "J",
    excess: float = 0.03,
    preset: Preset = "eco",
    seed: int = 0,
    threads: int = 1,
    time_limit: Optional[float] = None,
    progress: Optional[Progress] = None,
    on_interrupt: OnInterrupt = "raise",
) -> Mapping:
    """Maps the vertices of an application, such as a mesh, to the PEs of a machine, many to each, with balanced loads and small J.

    Parameters
    ----------
    graph : graph of n vertices
        The communication of the vertices: anything that `Graph` takes.
    machine : Machine
        Each PE gets a load in proportion to its capacity.
    weights :
        Weights of the vertices, as for `Graph`.
    imbalance : float, or one for each weight of the vertices
        No PE gets more than `(1 + imbalance) * ceil(its share)`; 0 asks for perfect balance.
    imbalance_per_division : bool
        True if the imbalance is that of each division of the PEs in two, as for METIS' recursive bisection, which gives heavy vertices more room.
    least_load : float, or array with a weight for each PE; of several weights of the vertices one for each, or an array with a column for each
        No PE gets less than `least_load * its share`, rounded down: 0.9 asks for 90 % at least. From 0 to 1. An array has the least weight of each PE,
        which is not above its share, rounded up. Bounds take precedence over least loads, and
        `report["loads"]` says how many are below (`below_least`) and what they lack (`shortfall`).
    capacities : array with a row for each PE, and a column for each weight of the vertices, optional
        The capacities of the PEs by each weight, such as speed and memory, instead of those of the machine; at least 0. Loads are in proportion to them.
    node_capacity : int, array with a number for each node, or of several weights of the vertices a sequence with that of each, optional
        The most that all vertices on a node may weigh together, such as its memory; None for a weight without such a bound. The bounds of PEs hold, too; a large
        imbalance lifts them. Machines that know no nodes have one for each PE. `report["loads_by_weight"][i]["nodes"]` has the loads of the nodes.
    connected : bool
        True if the vertices of each PE are connected by edges between them, as far as the bounds allow it; `report["in_pieces"]` counts the others.
        Vertices have one weight then, and the objective is J.

    The rest is as for `map`; the result is not worse than a start, first by overload, then by shortfall, then by J.

    Examples
    --------
    >>> import networkx as nx, viem
    >>> mesh = nx.grid_2d_graph(8, 8)
    >>> mapping = viem.map_many_to_one(mesh, viem.Machine("2:2", distances="1:10"))
    >>> mapping.loads
    array([16, 16, 16, 16])
    """
    converted = as_graph(graph, weights, directed)
    settings = Settings(preset, seed, threads, time_limit, progress, on_interrupt, objective, excess, connected)
    limits = (imbalance, imbalance_per_division, least_load, capacities, node_capacity)
    found = _viem.map_many_to_one(
        converted._core,
        core_of(machine),
        places("start", start, converted, machine._labels),
        places("fixed", fixed, converted, machine._labels, partial=True),
        settings.balanced(converted.num_weights, *limits),
    )
    return Mapping(converted, machine, *found, True)


def partition(
    graph: Any,
    num_blocks: int,
    *,
    weights: Weights = None,
    imbalance: Imbalance = 0.03,
    imbalance_per_division: bool = False,
    least_load: LeastLoad = 0.0,
    connected: bool = False,
    shares: Optional[ArrayLike] = None,
    directed: bool = False,
    fixed: Any = None,
    preset: Preset = "eco",
    seed: int = 0,
    threads: int = 1,
    time_limit: Optional[float] = None,
    progress: Optional[Progress] = None,
    on_interrupt: OnInterrupt = "raise",
) -> Partition:
    """Partitions a graph into blocks of balanced weights such that the cut, the weight of the edges between blocks, is small.

    Parameters
    ----------
    graph : graph of n vertices
        Whatever `Graph` takes.
    num_blocks : int
        At least 1.
    weights :
        Weights of the vertices, as for `Graph`.
    imbalance : float, or one for each weight of the vertices
        No block gets more than `(1 + imbalance) * ceil(its share)`; 0 asks for perfect balance.
    imbalance_per_division : bool
        True if the imbalance is that of each division of the blocks in two, as for METIS' recursive bisection, which gives heavy vertices more room.
    least_load : float, or array with a weight for each block; of several weights of the vertices one for each, or an array with a column for each
        No block gets less than `least_load * its share`, rounded down: 0.9 asks for 90 % at least. From 0 to 1. An array has the least weight of each block,
        which is not above its share, rounded up. Bounds take precedence over least loads, and
        `report["loads"]` says how many are below (`below_least`) and what they lack (`shortfall`).
    connected : bool
        True if the vertices of each block are connected by edges between them, as far as the bounds allow it; `report["in_pieces"]` counts the others.
        Vertices have one weight then.
    shares : array of num_blocks int, optional
        The weights of the blocks in proportion to each other; equal by default. With a column for each weight of the vertices, each has shares of its own.
    fixed : array of n blocks with -1 for free vertices, or dict of blocks by label, optional
        The blocks of fixed vertices.
    preset : {"eco", "fast", "strong", "ecosocial", "fastsocial", "strongsocial"}
        Trade-off of time and quality; those for graphs with heavy-tailed degrees, such as social networks.

    The rest is as for `map`.

    Examples
    --------
    >>> import networkx as nx, viem
    >>> partition = viem.partition(nx.grid_2d_graph(8, 8), 2)
    >>> partition.cut, partition.loads
    (8, array([32, 32]))

    The cells on the left take memory, too, which is balanced as well as time:

    >>> weights = {(row, column): (1, 10 if column < 4 else 0) for row in range(8) for column in range(8)}
    >>> viem.partition(nx.grid_2d_graph(8, 8), 2, weights=weights).loads
    array([[ 32, 160],
           [ 32, 160]])
    """
    converted = as_graph(graph, weights, directed)
    settings = Settings(preset, seed, threads, time_limit, progress, on_interrupt, connected=connected)
    limits = (imbalance, imbalance_per_division, least_load, _by_weight(shares))
    found = _viem.partition(
        converted._core,
        _count(num_blocks),
        _common(shares),
        None,
        0.0,
        places("fixed", fixed, converted, None, partial=True),
        settings.balanced(converted.num_weights, *limits),
    )
    return Partition(converted, num_blocks, *found)


@overload
def remap(
    graph: Any,
    target: Machine,
    old: Any,
    *,
    migration_weight: float = 1.0,
    weights: Weights = None,
    imbalance: Imbalance = 0.03,
    imbalance_per_division: bool = False,
    least_load: LeastLoad = 0.0,
    capacities: Optional[ArrayLike] = None,
    node_capacity: NodeCapacity = None,
    directed: bool = False,
    fixed: Any = None,
    preset: Preset = "eco",
    seed: int = 0,
    threads: int = 1,
    time_limit: Optional[float] = None,
    progress: Optional[Progress] = None,
    on_interrupt: OnInterrupt = "raise",
) -> Mapping: ...
@overload
def remap(
    graph: Any,
    target: int,
    old: Any,
    *,
    migration_weight: float = 1.0,
    weights: Weights = None,
    imbalance: Imbalance = 0.03,
    imbalance_per_division: bool = False,
    least_load: LeastLoad = 0.0,
    shares: Optional[ArrayLike] = None,
    directed: bool = False,
    fixed: Any = None,
    preset: Preset = "eco",
    seed: int = 0,
    threads: int = 1,
    time_limit: Optional[float] = None,
    progress: Optional[Progress] = None,
    on_interrupt: OnInterrupt = "raise",
) -> Partition: ...
def remap(
    graph: Any,
    target: Union[Machine, int],
    old: Any,
    *,
    migration_weight: float = 1.0,
    weights: Weights = None,
    imbalance: Imbalance = 0.03,
    imbalance_per_division: bool = False,
    least_load: LeastLoad = 0.0,
    shares: Optional[ArrayLike] = None,
    capacities: Optional[ArrayLike] = None,
    node_capacity: NodeCapacity = None,
    directed: bool = False,
    fixed: Any = None,
    preset: Preset = "eco",
    seed: int = 0,
    threads: int = 1,
    time_limit: Optional[float] = None,
    progress: Optional[Progress] = None,
    on_interrupt: OnInterrupt = "raise",
) -> Union[Mapping, Partition]:
    """Adapts a many-to-one mapping or a partition after machine, weights or edges have changed, with few moves.

    Minimises J, or the cut, plus `migration_weight` times the weight of the vertices that move.

    Parameters
    ----------
    graph : graph of n vertices
    target : Machine or int
        A machine or a number of blocks; the result is a Mapping or a Partition.
    old : array of n PEs or blocks, dict of them by label, Mapping, or Partition
        The present PE or block of each vertex.
    migration_weight : float
        At least 0.

    The rest is as for `map_many_to_one` and `partition`. What migrates is counted by the first weight of the vertices. What has moved is in `report["migration"]`.

    Examples
    --------
    >>> import networkx as nx, viem
    >>> mesh = nx.grid_2d_graph(8, 8)
    >>> old = viem.partition(mesh, 4)
    >>> new = viem.remap(mesh, 4, old, shares=[1, 2, 2, 2])
    >>> new.loads[0] < old.loads[0]
    np.True_
    """
    converted = as_graph(graph, weights, directed)
    limits = (imbalance, imbalance_per_division, least_load, *_capacities(target, shares, capacities, node_capacity))
    settings = Settings(preset, seed, threads, time_limit, progress, on_interrupt)
    settings.balanced(converted.num_weights, *limits)
    if isinstance(target, Machine):
        found = _viem.remap(
            converted._core,
            target._core,
            _old(old, converted, target),
            migration_weight,
            places("fixed", fixed, converted, target._labels, partial=True),
            settings,
        )
        return Mapping(converted, target, *found, True)
    found = _viem.partition(
        converted._core,
        _count(target),
        _common(shares),
        _old(old, converted, None),
        migration_weight,
        places("fixed", fixed, converted, None, partial=True),
        settings,
    )
    return Partition(converted, target, *found)


@overload
def evaluate(
    graph: Any,
    target: Machine,
    placement: Any,
    *,
    many_to_one: bool = False,
    weights: Weights = None,
    imbalance: Imbalance = 0.03,
    imbalance_per_division: bool = False,
    least_load: LeastLoad = 0.0,
    capacities: Optional[ArrayLike] = None,
    node_capacity: NodeCapacity = None,
    directed: bool = False,
) -> Mapping: ...
@overload
def evaluate(
    graph: Any,
    target: int,
    placement: Any,
    *,
    weights: Weights = None,
    imbalance: Imbalance = 0.03,
    imbalance_per_division: bool = False,
    least_load: LeastLoad = 0.0,
    shares: Optional[ArrayLike] = None,
    directed: bool = False,
) -> Partition: ...
def evaluate(
    graph: Any,
    target: Union[Machine, int],
    placement: Any,
    *,
    many_to_one: bool = False,
    weights: Weights = None,
    imbalance: Imbalance = 0.03,
    imbalance_per_division: bool = False,
    least_load: LeastLoad = 0.0,
    shares: Optional[ArrayLike] = None,
    capacities: Optional[ArrayLike] = None,
    node_capacity: NodeCapacity = None,
    directed: bool = False,
) -> Union[Mapping, Partition]:
    """Scores a mapping or a partition that is given, without any search.

    Parameters
    ----------
    graph : graph of n vertices
    target : Machine or int
        A machine, or a number of blocks, and the result is a Mapping or a Partition.
    placement : array of n PEs or blocks, dict of them by label, Mapping, or Partition
    many_to_one : bool
        True if PEs may have more processes than their capacity. Then the loads are reported, too.

    The rest is as for `map_many_to_one` and `partition`.

    Examples
    --------
    >>> import viem
    >>> path = ([0, 1, 3, 4], [1, 0, 2, 1])
    >>> viem.evaluate(path, viem.Machine(mesh=[3]), [0, 2, 1]).cost
    6
    >>> viem.evaluate(path, 2, [0, 1, 1]).cut
    1
    """
    converted = as_graph(graph, weights, directed)
    limits = (imbalance, imbalance_per_division, least_load, *_capacities(target, shares, capacities, node_capacity))
    settings = Settings().balanced(converted.num_weights, *limits)
    if isinstance(target, Machine):
        if np.any(least_load) and not many_to_one:
            raise UsageError("least_load is for many-to-one mappings and partitions")
        pes = _old(placement, converted, target)
        cost, report = _viem.evaluate(converted._core, target._core, pes, many_to_one, settings)
        return Mapping(converted, target, pes.astype("int64"), cost, report, many_to_one)
    found = _viem.evaluate_partition(
        converted._core,
        _count(target),
        _common(shares),
        _old(placement, converted, None),
        settings,
    )
    return Partition(converted, target, *found)


def _by_weight(shares: Optional[ArrayLike]) -> Optional[ArrayLike]:
    """The shares of blocks, if they have a column for each weight."""
    return shares if shares is not None and np.ndim(shares) == 2 else None


def _common(shares: Optional[ArrayLike]) -> Any:
    """The shares of blocks that all weights have in common."""
    return None if shares is None or np.ndim(shares) == 2 else vector("shares", shares)


def _capacities(
    target: Union[Machine, int],
    shares: Optional[ArrayLike],
    capacities: Optional[ArrayLike],
    node_capacity: NodeCapacity,
) -> tuple[Optional[ArrayLike], NodeCapacity]:
    """The capacities by weight of the PEs or blocks, and those of the nodes."""
    if isinstance(target, Machine):
        if shares is not None:
            raise UsageError("the shares of a machine are its capacities")
        return capacities, node_capacity
    if capacities is not None:
        raise UsageError("the capacities of blocks are their shares")
    if node_capacity is not None:
        raise UsageError("node_capacity is for machines, which have nodes")
    return _by_weight(shares), None


def _old(placement: Any, graph: Any, machine: Optional[Machine]) -> Any:
    """The PE or block of each vertex, from whatever says that."""
    if isinstance(placement, Mapping):
        return placement.pe
    if isinstance(placement, Partition):
        return placement.blocks
    return places("placement", placement, graph, None if machine is None else machine._labels)


def _count(num_blocks: int) -> int:
    if num_blocks < 1:
        raise UsageError(f"there are {num_blocks} blocks; there must be at least 1")
    return num_blocks
