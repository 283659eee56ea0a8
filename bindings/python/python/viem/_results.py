"""Results: mappings, partitions, simulations."""

from __future__ import annotations

import html
import json
from collections.abc import Hashable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, TypedDict, Union

import numpy as np

from . import _viem
from ._errors import DataError
from ._graph import Graph, Ids
from ._machine import Machine
from ._settings import Settings

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

Facts = dict[str, Any]
"""The report of a file or a simulation."""


class Loads(TypedDict):
    """The loads of PEs or blocks, and how they compare with the balance that was asked for."""

    least: int
    mean: float
    greatest: int
    bound: int
    """The greatest bound of any."""
    fullest: float
    """The greatest ratio of a load to its bound."""
    overload: int
    """The sum of what loads exceed their bounds by."""
    below_half: int
    """The number of those with less than half of their share."""
    below_least: int
    """The number of those below the least load."""
    shortfall: int
    """The sum of their deficits."""
    empty: int
    """The number of those without a vertex, except those of capacity 0."""
    nodes: NodeLoads
    """Of nodes, if these have bounds of their own."""


class NodeLoads(TypedDict):
    """The loads of nodes, each the sum over its PEs."""

    greatest: int
    bound: int
    """The greatest bound of any."""
    fullest: float
    """The greatest ratio of a load to its bound."""
    overload: int
    """The sum of what loads exceed their bounds by."""


class Migration(TypedDict):
    """The vertices that leave where they were: their number, and the sum of their weights."""

    vertices: int
    weight: int


class Seconds(TypedDict):
    """Time of each phase."""

    distances: float
    construction: float
    search: float
    total: float


class Report(TypedDict, total=False):
    """The report of a mapping or a partition. Entries that do not apply are None, or missing if nothing was solved.

    >>> import networkx as nx, viem
    >>> report: viem.Report = viem.map(nx.path_graph(4), viem.Machine("2:2", distances="1:10")).report
    >>> report["num_processes"], report["cost"], report["cut"]
    (4, 24, 3)
    """

    num_processes: int
    num_edges: int
    cost: int
    """J."""
    cut: int
    """The weight of the edges between different PEs or blocks, each once."""
    cost_of_identity: int
    """J where process i is on the i-th place, or of equal strips of the vertices."""
    cost_of_start: Optional[int]
    cost_of_construction: Optional[int]
    construction: Optional[str]
    loads: Optional[Loads]
    """Of several weights of the vertices: those by the weight whose bound is exceeded most, or is nearest."""
    loads_by_weight: list[Loads]
    """Of several weights of the vertices: those by each weight."""
    in_pieces: Optional[int]
    """The number of PEs or blocks whose vertices are not connected by edges between them."""
    migration: Optional[Migration]
    swaps_tried: int
    swaps_made: int
    stopped: bool
    seconds: Seconds
    bounds: Union[list[int], list[list[int]]]
    """Of a partition: the greatest load of each block; of several weights, a row for each block."""


class BusiestLink(TypedDict):
    """The link with the greatest load."""

    name: str
    load: int


class Busiest(TypedDict):
    """What the busiest node and the busiest link of a mapping carry."""

    node: int
    """The weight of the edges that leave the busiest node; each PE is a node if the machine does not know its nodes."""
    link: Optional[BusiestLink]
    """None where links are not known, or nothing travels."""


class CarrierLoads(TypedDict):
    """The loads of nodes or of switches, in the order of the machine: entry i of each list belongs to the same node or switch."""

    names: list[str]
    before: list[int]
    after: list[int]
    left_out: int
    """The number of nodes or switches that are not listed. Of more than 256, those with the greatest loads are listed."""


class LoadTable(TypedDict, total=False):
    """The load of each node and each switch, before and after a mapping."""

    nodes: CarrierLoads
    """The weight of the edges that leave each node; each PE is a node if the machine does not know its nodes."""
    switches: CarrierLoads
    """The weight of all messages that pass each switch between nodes; missing if no switches are known."""


class Launch(NamedTuple):
    """The files and the line with which a launcher starts a job as it was mapped."""

    files: list[str]
    """The names of the files that were written."""
    command: Optional[str]
    """The command line to paste into a shell, if this launcher has one; `./app` stands for the program."""


class _Placed:
    """The common part of mappings and partitions."""

    graph: Graph
    _places: Ids
    _json: Optional[str]

    @cached_property
    def loads(self) -> Ids:
        """The sum of the weights of the vertices, by PE or block; of several weights, a row for each PE or block."""
        weights = self.graph.arrays()[3]
        loads: Ids = np.zeros((self._count(), *weights.shape[1:]), np.int64)
        np.add.at(loads, self._places, weights)
        return loads

    def _count(self) -> int:
        raise NotImplementedError

    @cached_property
    def report(self) -> Report:
        """The report of the run and its result, as `docs/guide/reports.md` explains it; times in seconds."""
        report: Report = json.loads(self._json) if self._json is not None else {}
        return report

    @property
    def stopped(self) -> bool:
        """True if the progress function, Ctrl-C or the time limit ended the run early."""
        return bool(self.report.get("stopped", False))


class Mapping(_Placed):
    """The PE of each process.

    Attributes
    ----------
    pe : array of n int64
        The PE of each process or vertex, both counted from 0.
    cost : int
        J: the sum of weight times distance over all edges, each counted in both directions.
    graph : Graph
    machine : Machine

    Notebooks show it as a picture of the traffic before and after.
    """

    def __init__(
        self, graph: Graph, machine: Machine, pe: Ids, cost: int, report: Optional[str], many_to_one: bool
    ) -> None:
        self.graph = graph
        self.machine = machine
        self.pe = pe
        self.cost = cost
        self._places = pe
        self._json = report
        self._many_to_one = many_to_one

    def _count(self) -> int:
        return self.machine.num_pes

    def pe_of(self, label: Hashable) -> Hashable:
        """The PE of the process with a label; by its label, if PEs have any.

        >>> import networkx as nx, viem
        >>> mapping = viem.map(nx.path_graph(["a", "b"]), viem.Machine(mesh=[2]))
        >>> sorted([mapping.pe_of("a"), mapping.pe_of("b")])
        [0, 1]
        """
        return self.machine.labels[int(self.pe[self.graph.index(label)])]

    def to_dict(self) -> dict[Hashable, Hashable]:
        """The PE of each process, both by label."""
        pes = self.machine.labels
        return {label: pes[pe] for label, pe in zip(self.graph.labels, self.pe.tolist())}

    @cached_property
    def process_on(self) -> Ids:
        """The process on each PE, by PE; -1 where there is none. DataError if there are several on a PE."""
        processes: Ids = np.full(self.machine.num_pes, -1, np.int64)
        processes[self.pe] = np.arange(len(self.pe))
        if np.count_nonzero(processes >= 0) != len(self.pe):
            raise DataError("several processes are on one PE; ask processes_on(pe)")
        return processes

    def processes_on(self, pe: int) -> Ids:
        """The processes on a PE, in ascending order; O(n)."""
        return np.flatnonzero(self.pe == pe)

    @cached_property
    def cost_of_identity(self) -> Optional[int]:
        """J where process i is on the i-th PE, each PE up to its capacity; of many-to-one mappings, of equal strips of the vertices, None if that
        is not known."""
        known: Optional[int] = self.report.get("cost_of_identity")
        if known is not None or self._many_to_one:
            return known
        pes = np.arange(self.machine.num_pes).repeat(self.machine.capacities)[: len(self.pe)]
        return _viem.evaluate(self.graph._core, self.machine._core, pes, False, Settings())[0]

    @cached_property
    def cut(self) -> int:
        """The sum of the weights of the edges between different PEs, each once."""
        indptr, indices, data, _ = self.graph.arrays()
        pe_of_row = self.pe.repeat(np.diff(indptr))
        return int(data[pe_of_row != self.pe[indices]].sum()) // 2

    @cached_property
    def busiest(self) -> Busiest:
        """What the busiest node and the busiest link carry.

        >>> import viem
        >>> path = ([0, 1, 3, 5, 6], [1, 0, 2, 1, 3, 2])
        >>> viem.evaluate(path, viem.Machine(mesh=[4]), [0, 2, 1, 3]).busiest
        {'node': 2, 'link': {'name': '(1) -> (2)', 'load': 3}}
        """
        found: Busiest = json.loads(_viem.busiest(self.graph._core, self.machine._core, self.pe))
        return found

    @cached_property
    def traffic_loads(self) -> LoadTable:
        """The traffic that leaves each node and passes each switch: before, in the order of the numbers, and after, under the mapping.

        >>> import viem
        >>> ring = ([0, 2, 4, 6, 8], [1, 3, 0, 2, 1, 3, 2, 0])
        >>> viem.evaluate(ring, viem.Machine("2:2", distances="1:10"), [0, 2, 1, 3]).traffic_loads["nodes"]
        {'names': ['node0', 'node1'], 'before': [2, 2], 'after': [4, 4], 'left_out': 0}
        """
        found: LoadTable = json.loads(_viem.loads(self.graph._core, self.machine._core, self.pe, self._many_to_one))
        return found

    def frame(self) -> pandas.DataFrame:
        """The traffic at each distance, or range of distances, as a data frame of pandas.

        Its columns are least, greatest (distance), weight (of the edges, each once), share (from 0 to 1), cost (adds up to J).

        >>> import viem
        >>> ring = ([0, 2, 4, 6, 8], [1, 3, 0, 2, 1, 3, 2, 0])
        >>> viem.map(ring, viem.Machine("2:2", distances="1:10")).frame()[["least", "weight", "cost"]]
           least  weight  cost
        0      1       2     4
        1     10       2    40
        """
        import pandas

        columns = ["least", "greatest", "weight", "share", "cost"]
        rows = json.loads(_viem.traffic_by_distance(self.graph._core, self.machine._core, self.pe))
        return pandas.DataFrame(rows, columns=columns)

    def launch(self, kind: str, directory: Union[str, Path] = ".") -> Launch:
        """Writes the files that start the job as it was mapped; all of them, each whole, or none.

        Parameters
        ----------
        kind : str
            The launcher, such as `slurm`; any other name is refused by a message with all names.
        directory :
            The names of the files.

        >>> import tempfile, viem
        >>> mapping = viem.map([[0, 1], [1, 0]], viem.Machine(mesh=[2]))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     files, command = mapping.launch("plain", folder)
        """
        files, command = _viem.write_launch(kind, self.machine._core, self.pe, directory)
        return Launch(files, command)

    def svg(self) -> str:
        """A picture of the traffic before and after, as SVG: its matrix, the share of each level, what leaves each node."""
        return _viem.picture(self.graph._core, self.machine._core, self.pe, self._many_to_one)

    def plot(self, axes: Optional[Axes] = None) -> Axes:
        """Draws the traffic matrix by PE with matplotlib: the closer its entries are to the diagonal, the more traffic stays near.

        Returns the axes, which are new ones if none are given.
        """
        import matplotlib.pyplot

        if axes is None:
            axes = matplotlib.pyplot.subplots()[1]
        indptr, indices, data, _ = self.graph.arrays()
        rows, columns = self.pe.repeat(np.diff(indptr)), self.pe[indices]
        axes.scatter(columns, rows, c=data, s=4, marker="s", cmap="viridis_r", norm="log")
        most = self.machine.num_pes
        axes.set(xlim=(-0.5, most - 0.5), ylim=(most - 0.5, -0.5), aspect="equal", xlabel="PE", ylabel="PE")
        axes.set_title(f"J = {self.cost}")
        return axes

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>{self.svg()}"

    def __repr__(self) -> str:
        text = f"Mapping({len(self.pe)} processes, {self.machine.num_pes} PEs, cost={self.cost}"
        if self._many_to_one:
            return f"{text}, loads={self.loads.min()}..{self.loads.max()})"
        return f"{text}, cost_of_identity={self.cost_of_identity})"


class Partition(_Placed):
    """The block of each vertex.

    Attributes
    ----------
    blocks : array of n int64
        The block of each vertex, both counted from 0.
    cut : int
        The sum of the weights of the edges between different blocks, each once.
    num_blocks : int
    graph : Graph
    """

    def __init__(self, graph: Graph, num_blocks: int, blocks: Ids, cut: int, report: str) -> None:
        self.graph = graph
        self.num_blocks = num_blocks
        self.blocks = blocks
        self.cut = cut
        self._places = blocks
        self._json = report

    def _count(self) -> int:
        return self.num_blocks

    def _loads(self) -> list[Loads]:
        """The loads by each weight."""
        loads = self.report["loads"]
        assert loads is not None, "a partition has loads"
        return self.report.get("loads_by_weight", [loads])

    @property
    def bounds(self) -> Ids:
        """The greatest load that each block may have; of several weights, a row for each block."""
        return np.array(self.report["bounds"], np.int64)

    @property
    def overload(self) -> int:
        """The sum of what loads exceed their bounds by: 0 if all bounds are met."""
        return sum(loads["overload"] for loads in self._loads())

    @property
    def shortfall(self) -> int:
        """The sum of the deficits of blocks below their least loads: 0 if all have them."""
        return sum(loads["shortfall"] for loads in self._loads())

    def block_of(self, label: Hashable) -> int:
        """The block of the vertex with a label."""
        return int(self.blocks[self.graph.index(label)])

    def to_dict(self) -> dict[Hashable, int]:
        """The block of each vertex by label, as `networkx.set_node_attributes` takes it."""
        return dict(zip(self.graph.labels, self.blocks.tolist()))

    def frame(self) -> pandas.DataFrame:
        """Loads and bounds of the blocks as a data frame of pandas, a row per block; of several weights, columns with the number of the weight."""
        import pandas

        if self.graph.num_weights > 1:
            columns = {
                f"{name}{weight}": values[:, weight]
                for weight in range(self.graph.num_weights)
                for name, values in (("load", self.loads), ("bound", self.bounds))
            }
            return pandas.DataFrame(columns).rename_axis("block")
        return pandas.DataFrame({"load": self.loads, "bound": self.bounds}).rename_axis("block")

    def __repr__(self) -> str:
        loads = f"{self.loads.min()}..{self.loads.max()}" if self.num_blocks else "none"
        return f"Partition({len(self.blocks)} vertices, {self.num_blocks} blocks, cut={self.cut}, loads={loads})"


class Simulation:
    """The result of a simulation. Times are in cycles.

    Attributes
    ----------
    completion_time : int
    latency : dict
        `messages`, `local`, `mean`, `mean_alone`, `longest`: how long messages took.
    report : dict
        All of it.
    """

    def __init__(self, report: str) -> None:
        self.report: Facts = json.loads(report)
        self.completion_time: int = self.report["completion_time"]
        self.latency: Facts = self.report["latency"]

    def links(self) -> pandas.DataFrame:
        """The links as a data frame of pandas: name, messages, flits, busy, held, waited."""
        import pandas

        return pandas.DataFrame(self.report["links"])

    def pes(self) -> pandas.DataFrame:
        """The PEs as a data frame of pandas: busy, blocked, idle."""
        import pandas

        return pandas.DataFrame(self.report["pes"])

    def __repr__(self) -> str:
        return f"Simulation(completion_time={self.completion_time})"
