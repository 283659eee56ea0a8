"""For networkx: a backend, and the function `partition` of networkx-metis.

networkx finds the backend as "viem" once this package is installed. The backend computes `kernighan_lin_bisection` with the partitioner of viem:

>>> import networkx as nx
>>> grid = nx.grid_2d_graph(8, 8)
>>> one, other = nx.community.kernighan_lin_bisection(grid, backend="viem")
>>> len(one), len(other), nx.cut_size(grid, one)
(32, 32, 8)

With `nx.config.backend_priority.algos = ["viem"]`, or the variable `NETWORKX_BACKEND_PRIORITY=viem`, programs use it unchanged.
"""

from __future__ import annotations

from collections.abc import Hashable
from random import Random
from typing import Any, Optional, Union

from ._errors import UsageError
from ._graph import Graph
from ._results import Partition
from ._solve import partition as _partition

__all__ = ["partition"]


def partition(
    G: Any,
    nparts: int,
    node_weight: Optional[str] = "weight",
    edge_weight: Optional[str] = "weight",
    tpwgts: Optional[list[float]] = None,
    ubvec: Optional[list[float]] = None,
    recursive: bool = False,
) -> tuple[int, list[list[Hashable]]]:
    """Partitions a graph of networkx, with the arguments and results of `nxmetis.partition`.

    Parameters
    ----------
    G : graph of networkx
        Undirected.
    nparts : int
        The number of blocks.
    node_weight, edge_weight : str or None
        Attributes with weights, 1 where they are absent. None takes 1 for all.
    tpwgts : list of nparts floats, optional
        The share of each block; equal by default.
    ubvec : list of one float, optional
        The greatest load divided by its share, 1.03 by default.
    recursive : bool
        Accepted, but has no effect.

    Returns
    -------
    The weight of the edges between blocks, and the nodes of each block.

    Examples
    --------
    >>> import networkx as nx, viem.networkx
    >>> cut, blocks = viem.networkx.partition(nx.path_graph(6), 2)
    >>> cut, sorted(map(sorted, blocks))
    (1, [[0, 1, 2], [3, 4, 5]])
    """
    if ubvec is not None and len(ubvec) != 1:
        raise UsageError(f"`ubvec` has {len(ubvec)} bounds; it must have one, as each node has one weight")
    graph = Graph(_weighted(G, edge_weight), weights=node_weight)
    shares = None if tpwgts is None else _whole(tpwgts)
    imbalance = 0.03 if ubvec is None else ubvec[0] - 1
    found = _partition(graph, nparts, imbalance=imbalance, shares=shares)
    return found.cut, _nodes_of(found, nparts)


def _nodes_of(found: Partition, count: int) -> list[list[Hashable]]:
    """The nodes of each block."""
    blocks: list[list[Hashable]] = [[] for _ in range(count)]
    for node, block in found.to_dict().items():
        blocks[block].append(node)
    return blocks


def _whole(shares: list[float]) -> list[int]:
    """Shares as whole numbers, to a millionth of the greatest."""
    greatest = max(shares, default=0.0)
    if not greatest > 0:
        raise UsageError("`tpwgts` needs a share above 0")
    return [round(share / greatest * 1_000_000) for share in shares]


def _weighted(graph: Any, weight: Optional[str]) -> Any:
    """A graph whose edges have their weights in the attribute that `Graph` reads."""
    if weight == "weight":
        return graph
    copy = graph.__class__()
    copy.add_nodes_from(graph.nodes(data=True))
    edges = graph.edges(data=weight, default=1) if weight else ((u, v, 1) for u, v in graph.edges())
    copy.add_weighted_edges_from(edges)
    return copy


class _Converted:
    """A graph as networkx passes it to this backend. Each function converts it, with the weights that it needs."""

    __networkx_backend__ = "viem"

    def __init__(self, graph: Any) -> None:
        self.graph = graph

    def is_directed(self) -> bool:
        return bool(self.graph.is_directed())

    def is_multigraph(self) -> bool:
        return bool(self.graph.is_multigraph())


class _Backend:
    """The backend that networkx calls, with the interface of `networkx.backends`."""

    @staticmethod
    def convert_from_nx(graph: Any, **_: Any) -> _Converted:
        return _Converted(graph)

    @staticmethod
    def convert_to_nx(result: Any, **_: Any) -> Any:
        return result.graph if isinstance(result, _Converted) else result

    @staticmethod
    def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Union[bool, str]:
        """Returns True if a call can be served, or the reason why it cannot."""
        given = dict(zip(("G", "partition"), args)) | kwargs
        return given.get("partition") is None or "viem does not start from a given partition"

    @staticmethod
    def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Union[bool, str]:
        return True

    @staticmethod
    def kernighan_lin_bisection(
        G: Any,
        partition: None = None,
        max_iter: int = 10,
        weight: Optional[str] = "weight",
        seed: Union[int, Random, None] = None,
    ) -> tuple[set[Hashable], set[Hashable]]:
        """Halves of equal size with few edges between them."""
        graph = G.graph if isinstance(G, _Converted) else G
        # networkx converts a seed into a random number generator.
        number = seed.getrandbits(32) if isinstance(seed, Random) else abs(seed or 0)
        found = _partition(_weighted(graph, weight), 2, imbalance=0, seed=number)
        one, other = _nodes_of(found, 2)
        return set(one), set(other)


backend = _Backend


def backend_info() -> dict[str, Any]:
    """The description of this backend that networkx shows."""
    return {
        "backend_name": "viem",
        "project": "viem",
        "package": "viem",
        "short_summary": "Process mapping and graph partitioning",
        "functions": {
            "kernighan_lin_bisection": {
                "additional_docs": "The argument `partition` is not supported; `max_iter` has no effect."
            }
        },
    }
