"""Machines."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from os import PathLike
from typing import Any, NamedTuple, Optional, Union

import numpy as np
from numpy.typing import ArrayLike

from . import _viem
from ._errors import UsageError
from ._graph import Graph, Ids, joined, numbers, vector

PES = ("core", "thread", "gpu")
"""The kinds of PEs, in the order of the C library."""

FileName = Union[str, PathLike[str]]


class Text(NamedTuple):
    """The text of a machine, and what accompanies it."""

    spec: str
    distances: Optional[str]
    pes: Optional[str]
    pe: str
    latency: Optional[FileName]
    link_cycles: Optional[FileName]


class Machine:
    """Processing elements (PEs), numbered from 0, and their distances.

    Parameters
    ----------
    spec : str or sequence of int, optional
        A machine as the programs read it: a tree such as `"4:16:8"` or `(4, 16, 8)`, innermost first, `"torus:8x8x4"`, `"mesh:16x16"`,
        `"hypercube:10"`, rails of GPUs `"rails:8:4:16"`, a cluster such as `"slurm"` or `"hosts:FILE,node=16:2"`, or the name of a file with
        a network, a matrix or a target of Scotch. The chapter `docs/guide/machines.md` lists all.
    distances : str or sequence of int, optional
        Those of the levels of a tree, `"1:10:100"` or `(1, 10, 100)`, innermost first.
    torus, mesh : sequence of int, optional
        Lengths of a grid, closed or open, in place of `spec`.
    hypercube : int, optional
        Its dimension, in place of `spec`.
    pes : str or sequence of int, optional
        The machine has only these PEs, renumbered in this order: a list such as `"0-63,128"`, or the name of a file with one.
    capacities : array of int, optional
        The number of processes that each PE has room for, at least 1; many-to-one mappings give it a load in proportion.
    pe : {"core", "thread", "gpu"}, default "core"
        The hardware unit that is a PE of a cluster: cores, hardware threads, or the GPUs in files of hwloc.
    latency : path, optional
        A file with the latencies between the hosts of a cluster, from which distances are derived.
    link_cycles : path, optional
        A file with the times of the links of a network in a file: the same graph, whose edges weigh as many cycles as a flit takes over the
        link.

    Examples
    --------
    >>> import viem
    >>> viem.Machine("4:16:8", distances="1:10:100").num_pes
    512
    >>> viem.Machine(torus=(16, 8, 8)).distance(0, 15)
    1
    """

    __slots__ = ("_core", "_labels", "_text")

    _core: _viem.Machine
    _labels: Optional[list[Hashable]]
    _text: Optional[Text]
    """The text from which it was built, without capacities; None if it was not built from a text."""

    def __init__(
        self,
        spec: Union[str, Sequence[int], None] = None,
        *,
        distances: Union[str, Sequence[int], None] = None,
        torus: Optional[Sequence[int]] = None,
        mesh: Optional[Sequence[int]] = None,
        hypercube: Optional[int] = None,
        pes: Union[str, Iterable[int], None] = None,
        capacities: Optional[ArrayLike] = None,
        pe: str = "core",
        latency: Optional[FileName] = None,
        link_cycles: Optional[FileName] = None,
    ) -> None:
        specs = [
            None if spec is None else spec if isinstance(spec, str) else joined(spec, ":"),
            None if torus is None else "torus:" + joined(torus, "x"),
            None if mesh is None else "mesh:" + joined(mesh, "x"),
            None if hypercube is None else f"hypercube:{hypercube}",
        ]
        given = [text for text in specs if text is not None]
        if len(given) != 1:
            raise UsageError("a machine is given by exactly one of spec, torus, mesh and hypercube")
        if distances is not None and not isinstance(distances, str):
            distances = joined(distances, ":")
        if pes is not None and not isinstance(pes, str):
            pes = joined(pes, ",")
        self._labels = None
        self._text = Text(given[0], distances, pes, pe, latency, link_cycles)
        self._core = _viem.Machine.build(*self._text)
        if capacities is not None:
            self._core = self._core.with_capacities(vector("capacities", capacities))

    @classmethod
    def _of(cls, core: _viem.Machine, labels: Optional[list[Hashable]] = None) -> Machine:
        machine = cls.__new__(cls)
        machine._core = core
        machine._labels = labels
        machine._text = None
        return machine

    @classmethod
    def from_matrix(cls, distances: ArrayLike) -> Machine:
        """A machine with any distances: a symmetric matrix of whole numbers from 0 on, n x n, 0 on the diagonal. O(n^2).

        >>> import viem
        >>> viem.Machine.from_matrix([[0, 2, 7], [2, 0, 5], [7, 5, 0]]).distance(0, 2)
        7
        """
        return cls._of(_viem.Machine.from_matrix(numbers("distances", distances)))

    @classmethod
    def from_networkx(cls, graph: Any, *, pes: Union[str, Collection[Hashable], None] = None) -> Machine:
        """A network: distances are the costs of cheapest paths, the attribute `weight` of the links, 1 where there is none.

        Parameters
        ----------
        graph : networkx.Graph
            Routers and PEs.
        pes : collection of nodes, or name of an attribute, optional
            Which nodes are PEs, the others being routers; or the attribute with the number of processes that a node has room for, 0 for a
            router. All nodes are PEs by default. PEs are numbered in the order of the nodes, whose names are their labels.

        >>> import networkx as nx, viem
        >>> machine = viem.Machine.from_networkx(nx.star_graph(4), pes=[1, 2, 3, 4])
        >>> machine.num_pes, machine.distance(0, 1), machine.labels
        (4, 2, [1, 2, 3, 4])
        """
        if pes is None or isinstance(pes, str):
            weights: Any = pes
            counts = [1 if pes is None else data for _, data in graph.nodes(data=pes, default=1)]
        else:
            chosen = set(pes)
            unknown = chosen.difference(graph)
            if unknown:
                raise UsageError(f"the network has no node {next(iter(unknown))!r}")
            counts = [int(node in chosen) for node in graph]
            weights = counts
        network = Graph(graph, weights=weights)
        labels = [node for node, count in zip(graph, counts) if count > 0]
        return cls._of(_viem.Machine.from_network(network._core), labels)

    @property
    def num_pes(self) -> int:
        """The number of PEs."""
        return self._core.num_pes

    @property
    def room(self) -> int:
        """The number of processes that it has room for: the sum of the capacities."""
        return self._core.room

    @property
    def capacities(self) -> Ids:
        """The number of processes that each PE has room for, by PE."""
        return self._core.capacities()

    @property
    def labels(self) -> Sequence[Hashable]:
        """The labels of its PEs, by PE: the nodes of networkx, else their numbers."""
        return range(self.num_pes) if self._labels is None else self._labels

    def distance(self, a: int, b: int) -> int:
        """The distance between two PEs. Takes as long as the distances of the whole machine need to be prepared: for a look, not for loops."""
        return int(self.distances([a], [b])[0, 0])

    def distances(self, rows: Optional[ArrayLike] = None, columns: Optional[ArrayLike] = None) -> Ids:
        """The distances between some PEs, all by default: an array of the lengths of `rows` and `columns`.

        >>> import viem
        >>> viem.Machine("2:2", distances="1:10").distances([0])
        array([[ 0,  1, 10, 10]])
        """
        everything = np.arange(self.num_pes)
        chosen = [everything if part is None else vector("pes", part) for part in (rows, columns)]
        found = self._core.distances(chosen[0], chosen[1])
        return found.reshape(len(chosen[0]), len(chosen[1]))

    def with_capacities(self, capacities: ArrayLike) -> Machine:
        """The same machine with room for several processes per PE: an array by PE, at least 1 each.

        >>> import viem
        >>> viem.Machine("2:2", distances="1:10").with_capacities([2, 1, 2, 1]).room
        6
        """
        machine = Machine._of(self._core.with_capacities(vector("capacities", capacities)), self._labels)
        machine._text = self._text
        return machine

    def __repr__(self) -> str:
        return f"Machine({self._core.description}, {self.num_pes} PEs)"


def core_of(machine: Machine) -> _viem.Machine:
    """The machine of the extension; the argument must be a machine."""
    if not isinstance(machine, Machine):
        raise TypeError(f"the machine must be a viem.Machine, not {type(machine).__name__}")
    return machine._core
