"""Files: graphs, mappings, problems, workloads, recorded traffic; and simulation."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping as Dict
from collections.abc import Sequence
from os import PathLike, fspath
from typing import Any, Literal, Optional, Union, overload

import numpy as np
from numpy.typing import NDArray

from . import _viem
from ._errors import DataError, UsageError
from ._graph import Graph, Ids, as_graph, numbers, vector
from ._machine import Machine, core_of
from ._results import Facts, Mapping, Partition, Simulation
from ._settings import Settings

Path = Union[str, "PathLike[str]"]
Kind = Literal["graph", "mapping", "qap", "workload"]
KindToWrite = Literal["graph", "mapping", "qap", "workload", "decomposition"]


def warn(notes: Sequence[str]) -> None:
    """Warns of what the files of a call of the user leave open."""
    for note in notes:
        warnings.warn(note, stacklevel=3)


class Workload:
    """Tasks that compute, send and receive in time; `read` makes one of a file, see `docs/guide/workloads.md`.

    >>> import viem
    >>> viem.Workload([[0, 5], [5, 0]]).num_tasks
    2
    """

    __slots__ = ("_core",)

    _core: _viem.Workload

    def __init__(self, graph: Any) -> None:
        """One phase of a communication graph, in which each process sends to all its neighbours."""
        self._core = _viem.Workload.of_graph(as_graph(graph)._core)

    @property
    def num_tasks(self) -> int:
        """The number of tasks."""
        return self._core.num_tasks

    @property
    def num_messages(self) -> int:
        """The number of messages of a run."""
        return self._core.num_messages

    def graph(self) -> Graph:
        """The communication graph of the tasks."""
        return Graph._of(self._core.graph())

    def __repr__(self) -> str:
        return f"Workload({self.num_tasks} tasks, {self.num_messages} messages)"


@overload
def read(path: Path, kind: Literal["graph"] = "graph") -> Graph: ...
@overload
def read(path: Path, kind: Literal["mapping"]) -> Ids: ...
@overload
def read(path: Path, kind: Literal["qap"]) -> tuple[Ids, Ids]: ...
@overload
def read(path: Path, kind: Literal["workload"]) -> Workload: ...
def read(path: Path, kind: Kind = "graph") -> Any:
    """Reads a file, compressed with gzip or not.

    Parameters
    ----------
    path :
        Its name.
    kind : {"graph", "mapping", "qap", "workload"}
        The kind of the file and of the result: a graph in the format of METIS, or the binary one of ParHIP, as a Graph; a mapping or partition, a number per line or a `cellDecomposition` of OpenFOAM, as an array of
        int64; a problem of QAPLIB as two matrices of int64, n x n; a workload as a Workload.

    Errors name file, line and column. A graph has all weights of its vertices. Likely mistakes in a problem are warned of.

    Examples
    --------
    >>> import os, tempfile, viem
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     name = os.path.join(folder, "path.graph")
    ...     viem.write(name, ([0, 1, 3, 4], [1, 0, 2, 1]))
    ...     viem.read(name)
    Graph(3 vertices, 2 edges)
    """
    if kind == "graph":
        core, notes = _viem.read_graph(path)
        warn(notes)
        return Graph._of(core)
    if kind == "mapping":
        return _viem.read_mapping(path)
    if kind == "qap":
        size, a, b, notes = _viem.read_qap(path)
        warn(notes)
        return a.reshape(size, size), b.reshape(size, size)
    if kind == "workload":
        workload = Workload.__new__(Workload)
        workload._core = _viem.Workload.read(path)
        return workload
    raise UsageError(f'kind is {kind!r}; it must be "graph", "mapping", "qap" or "workload"')


def write(path: Path, what: Any, kind: Optional[KindToWrite] = None) -> None:
    """Writes a file, whole or not at all, which `read` and the programs read.

    Parameters
    ----------
    path :
        Its name.
    what :
        A Mapping, Partition or one-dimensional array, a number per line; a Workload; else whatever `Graph` takes, in the format of METIS.
    kind : {"graph", "mapping", "qap", "workload", "decomposition"}, optional
        The kind, if the values do not show it: two matrices are a problem of QAPLIB if `kind` is "qap". "decomposition" is for a partition or mapping
        of the cells of OpenFOAM, whose file is `constant/cellDecomposition`.

    Examples
    --------
    >>> import os, tempfile, viem
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     name = os.path.join(folder, "problem.dat")
    ...     viem.write(name, ([[0, 1], [1, 0]], [[0, 2], [2, 0]]), "qap")
    ...     print(viem.read(name, "qap")[1])
    [[0 2]
     [2 0]]
    """
    if kind == "qap":
        a, b = what
        _viem.write_qap(path, numbers("A", a), numbers("B", b))
    elif kind == "workload" or isinstance(what, Workload):
        what._core.write(path)
    elif kind == "decomposition":
        _viem.write_decomposition(
            path, what._places if isinstance(what, (Mapping, Partition)) else vector("parts", what)
        )
    elif isinstance(what, (Mapping, Partition)):
        _viem.write_mapping(path, what._places)
    elif kind == "mapping" or getattr(what, "ndim", 0) == 1:
        _viem.write_mapping(path, vector("mapping", what))
    elif kind in (None, "graph"):
        _viem.write_graph(path, as_graph(what)._core)
    else:
        raise UsageError(f'kind is {kind!r}; it must be "graph", "mapping", "qap", "workload" or "decomposition"')


class Mesh(Graph):
    """The graph of the elements or nodes of a mesh.

    Attributes
    ----------
    coordinates : array of n x 3 or n x 2 float, or None
        The centre of each element, or each node, if the file has coordinates; without an axis along which all are the same.
    kinds : dict
        The number of elements by kind.
    left_out : dict
        The number of elements of lower dimensions, which are left out.
    """

    __slots__ = ("coordinates", "kinds", "left_out")

    coordinates: Optional[NDArray[np.float64]]
    kinds: dict[str, int]
    left_out: dict[str, int]


def read_mesh(
    path: Path,
    *,
    common: Optional[int] = None,
    nodal: bool = False,
    element_weights: Optional[Dict[str, int]] = None,
) -> Mesh:
    """Reads a mesh of METIS, Gmsh, VTK or OpenFOAM as the graph of its elements, two of which are neighbours if they share a face.

    Parameters
    ----------
    path :
        The name of a file, or of a folder of OpenFOAM; see `docs/guide/meshes.md`.
    common : int, optional
        The nodes that neighbouring elements share, in place of a face.
    nodal : bool
        If True, the vertices are the nodes. Two are neighbours if an element has both.
    element_weights : dict, optional
        The weights of elements by kind, such as `{"hexahedron": 3}`; others weigh 1. By default, elements have the weights of the file, or 1.

    Vertices are in the order of the file. Of elements of several dimensions, those of the highest one are taken.

    Examples
    --------
    >>> import os, tempfile, viem
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     name = os.path.join(folder, "triangles.mesh")
    ...     with open(name, "w") as file:
    ...         _ = file.write("2\\n1 2 3\\n2 3 4\\n")
    ...     mesh = viem.read_mesh(name)
    >>> mesh, mesh.kinds
    (Mesh(2 vertices, 1 edges), {'triangle': 2})
    """
    weights = list((element_weights or {}).items())
    core, coordinates, kinds, left_out = _viem.read_mesh(path, common, nodal, weights)
    mesh = Mesh.__new__(Mesh)
    mesh._core = core
    mesh._labels = mesh._index = None
    mesh.coordinates = coordinates
    mesh.kinds, mesh.left_out = dict(kinds), dict(left_out)
    return mesh


class Traffic(Graph):
    """A communication graph of recorded traffic.

    Attributes
    ----------
    report : dict
        What was read and what was left out, as `viem traffic` reports it.
    """

    __slots__ = ("report",)

    report: Facts


def traffic(
    files: Union[Path, Sequence[Path]],
    *,
    kind: Optional[str] = None,
    weight: str = "bytes",
    ranks: Optional[int] = None,
    include: Optional[Sequence[str]] = None,
    renumber: bool = False,
    nics: Optional[int] = None,
) -> Traffic:
    """Sums recorded traffic into a communication graph, whose vertices are the ranks.

    Parameters
    ----------
    files :
        One name or several: of the recorder, Open MPI's monitoring, Intel APS, matrices, edge lists and others, see `docs/guide/traffic.md`.
    kind : str, optional
        Their kind, such as "edges"; by default it is recognised by the content.
    weight : str
        "bytes", "msgs", or a cost of a message and one of a byte such as "100+0.5".
    ranks : int, optional
        Their number, if there are more than those that occur.
    include : sequence of str, optional
        Classes of traffic, such as "p2p".
    renumber : bool
        Edge lists with arbitrary numbers: vertices are those that occur, in ascending order, and the numbers are their labels.
    nics : int, optional
        Network adapters of each rank of a GOAL schedule, each of which is a vertex: adapter a of rank r is r * nics + a.

    A recording without traffic, ranks without a recording and the like are warned of.

    Examples
    --------
    >>> import os, tempfile, viem
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     name = os.path.join(folder, "edges.csv")
    ...     with open(name, "w") as file:
    ...         _ = file.write("source,target,weight\\n0,1,5\\n1,2,7\\n")
    ...     viem.traffic(name)
    Traffic(3 vertices, 2 edges)
    """
    names = [files] if isinstance(files, (str, PathLike)) else list(files)
    if not names:
        raise UsageError("there is no file")
    if nics is not None and nics < 1:
        raise UsageError(f"nics is at least 1, not {nics}")
    classes = None if include is None else list(include)
    core, text, ids, notes = _viem.read_traffic(
        [fspath(name) for name in names], kind, weight, ranks, classes, renumber, nics
    )
    warn(notes)
    graph = Traffic.__new__(Traffic)
    graph._core = core
    graph.report = json.loads(text)
    graph._labels = None if ids is None else list(ids)
    graph._index = None
    return graph


def simulate(
    workload: Any,
    machine: Machine,
    mapping: Any,
    *,
    send: Optional[int] = None,
    receive: Optional[int] = None,
    sharing: str = "turns",
    latency: int = 0,
) -> Simulation:
    """Simulates a workload in time: which messages wait for which links, and when all is done.

    Parameters
    ----------
    workload : Workload, or graph
        Of a graph, one phase is simulated, in which each process sends to all its neighbours.
    machine : Machine
    mapping : Mapping, or array of PEs
        The PE of each task.
    send, receive : int, optional
        Cycles that a PE needs to start and to finish a message: 1 by default, 0 for a graph, whose messages all start at once.
    sharing : {"turns", "fair"}
        How messages share a link: one after the other, or at the same time in max-min fair shares.
    latency : int
        Cycles until the first flit of a message arrives, for each unit of distance; only with fair shares.

    Examples
    --------
    >>> import viem
    >>> machine = viem.Machine(mesh=[2])
    >>> viem.simulate([[0, 5], [5, 0]], machine, [0, 1]).completion_time > 0
    True
    """
    is_workload = isinstance(workload, Workload)
    program = workload if is_workload else Workload(workload)
    pes = mapping.pe if isinstance(mapping, Mapping) else vector("mapping", mapping)
    default = 1 if is_workload else 0
    costs = (default if send is None else send, default if receive is None else receive)
    if min(*costs, latency) < 0:
        raise DataError("send, receive and latency must not be negative")
    if sharing not in ("turns", "fair"):
        raise DataError(f'sharing is "turns" or "fair", not {sharing!r}')
    if sharing == "turns" and latency:
        raise DataError('latency is for sharing="fair"')
    fair = latency if sharing == "fair" else None
    return Simulation(_viem.simulate(program._core, core_of(machine), pes, costs, fair, Settings()))
