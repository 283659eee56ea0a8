"""Graphs, from whatever their users have."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from collections.abc import Mapping as Dict
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _viem
from ._errors import DataError, UsageError

if TYPE_CHECKING:
    import networkx
    import scipy.sparse

Ids = NDArray[np.int64]
Numbers = Union[NDArray[np.integer], NDArray[np.floating]]
Weights = Union[None, str, ArrayLike, Dict[Any, Any]]

_KNOWN = frozenset(map(np.dtype, (np.int32, np.int64, np.uint32, np.uint64, np.float32, np.float64)))


def numbers(name: str, values: ArrayLike) -> Numbers:
    """An array that the extension can borrow: `values` itself if its layout allows it, else a copy."""
    if isinstance(values, np.ma.MaskedArray):
        raise UsageError(f"`{name}` has a mask; fill it first")
    array: NDArray[Any] = np.asarray(values)
    if array.dtype not in _KNOWN:
        if array.dtype.newbyteorder("=") in _KNOWN:
            array = array.astype(array.dtype.newbyteorder("="))
        elif array.dtype.kind in "biu":
            array = array.astype(np.int64)
        elif array.dtype == np.float16:
            array = array.astype(np.float32)
        else:
            raise UsageError(f"`{name}` must hold numbers of at most 64 bits, not {array.dtype}")
    return array if array.flags.aligned else array.copy()


def vector(name: str, values: ArrayLike) -> Numbers:
    """The same for an array of one dimension."""
    array = numbers(name, values)
    if array.ndim != 1:
        raise UsageError(f"`{name}` must have one dimension, not {array.ndim}")
    return array


class Graph:
    """An undirected graph with weights of edges and vertices: a communication graph, or what is partitioned.

    All functions that take a graph take what this class takes, too. A graph that is used several times is converted once this way.

    Parameters
    ----------
    source :
        One of

        - a sparse matrix or array of scipy, n x n: the entry in row u and column v is the weight of the edge u - v
        - a dense matrix, n x n, which numpy understands
        - a graph of networkx, weights of edges in the attribute `weight`, 1 where there is none; parallel edges are summed
        - a data frame of pandas, an edge per row: the columns `source`, `target` and perhaps `weight`, else the first two or three. An edge may
          come several times, in either direction: its weights are summed
        - a tuple `(indptr, indices)` or `(indptr, indices, data)` of compressed sparse rows, as scipy, METIS and KaHIP have them
    weights : array of n numbers or n x c numbers, dict by label, or name of an attribute of networkx, optional
        Weights of the vertices, 1 by default. The rows of a matrix are several weights of each vertex, such as time and memory, which are all balanced;
        the values of a dict or an attribute may be such rows, too.
    directed : bool
        True if entry (u, v) of a matrix is the traffic from u to v: it need not be symmetric, and the weight of u - v is the sum of both directions. For directed
        graphs of networkx, it always is.

    Notes
    -----
    Weights are whole numbers from 0 on; floats that hold whole numbers are fine, and others are refused with the index of the first. Edges of
    weight 0 and from a vertex to itself are left out: neither a cut nor J depends on them. O(n + m); arrays of 32 and 64 bits are read where
    they lie, and the graph takes 12 bytes per stored entry and 16 per vertex.

    Examples
    --------
    >>> import viem
    >>> graph = viem.Graph(([0, 1, 3, 4], [1, 0, 2, 1]))
    >>> graph.num_vertices, graph.num_edges
    (3, 2)
    """

    __slots__ = ("_core", "_index", "_labels")

    _core: _viem.Graph
    _labels: Optional[list[Hashable]]
    _index: Optional[dict[Hashable, int]]

    def __init__(self, source: Any, *, weights: Weights = None, directed: bool = False) -> None:
        self._labels = None
        self._index = None
        if isinstance(source, Graph):
            self._labels = source._labels
            self._core = source._core
            if weights is not None:
                self._core = self._core.with_weights(self._weights(weights))
        elif hasattr(source, "tocsr"):
            self._from_sparse(source, weights, directed)
        elif hasattr(source, "is_multigraph"):
            self._from_networkx(source, weights)
        elif hasattr(source, "columns"):
            self._from_frame(source, weights)
        elif isinstance(source, tuple):
            self._from_rows(source, weights, directed)
        else:
            self._from_dense(source, weights, directed)

    @classmethod
    def _of(cls, core: _viem.Graph, labels: Optional[list[Hashable]] = None) -> Graph:
        graph = cls.__new__(cls)
        graph._core = core
        graph._labels = labels
        graph._index = None
        return graph

    def _from_sparse(self, matrix: Any, weights: Weights, directed: bool) -> None:
        rows, columns = matrix.shape
        if rows != columns:
            raise DataError(f"the matrix has {rows} rows and {columns} columns; a graph needs a square one")
        # Columns instead of rows make the transpose, which is the same graph.
        matrix = matrix if matrix.format in ("csr", "csc") else matrix.tocsr()
        self._core = _viem.Graph.from_csr(
            vector("indptr", matrix.indptr),
            vector("indices", matrix.indices),
            vector("data", matrix.data),
            self._weights_of(rows, weights),
            directed,
        )

    def _from_rows(self, rows: tuple[Any, ...], weights: Weights, directed: bool) -> None:
        if len(rows) not in (2, 3):
            raise UsageError("a tuple must be (indptr, indices) or (indptr, indices, data)")
        indptr = vector("indptr", rows[0])
        data = rows[2] if len(rows) == 3 else None
        self._core = _viem.Graph.from_csr(
            indptr,
            vector("indices", rows[1]),
            None if data is None else vector("data", data),
            self._weights_of(max(len(indptr) - 1, 0), weights),
            directed,
        )

    def _from_dense(self, matrix: ArrayLike, weights: Weights, directed: bool) -> None:
        array = numbers("matrix", matrix)
        vertex_weights = self._weights_of(array.shape[0] if array.ndim else 0, weights)
        self._core = _viem.Graph.from_dense(array, vertex_weights, directed)

    def _from_networkx(self, graph: Any, weights: Weights) -> None:
        self._labels = list(graph)
        index = self._positions()
        edges = list(graph.edges(data="weight", default=1))
        count = len(edges)
        if isinstance(weights, str):
            weights = {label: data for label, data in graph.nodes(data=weights) if data is not None}
        self._core = _viem.Graph.from_edges(
            len(self._labels),
            np.fromiter((index[u] for u, _, _ in edges), np.int64, count),
            np.fromiter((index[v] for _, v, _ in edges), np.int64, count),
            vector("weight", [weight for _, _, weight in edges]),
            self._weights_of(len(self._labels), weights),
        )

    def _from_frame(self, frame: Any, weights: Weights) -> None:
        columns = list(frame.columns)
        if len(columns) < 2:
            raise DataError("a data frame of edges needs a column for each end")
        named = {"source", "target"} <= set(columns)
        source, target = ("source", "target") if named else columns[:2]
        others = columns if named else columns[2:]
        weight = "weight" if "weight" in others else (None if named else next(iter(others), None))
        sources, targets = frame[source].to_numpy(), frame[target].to_numpy()
        try:
            labels, codes = np.unique(np.concatenate([sources, targets]), return_inverse=True)
        except TypeError as error:
            raise DataError("the ends of edges cannot be sorted: their types differ") from error
        self._labels = labels.tolist()
        self._core = _viem.Graph.from_edges(
            len(labels),
            codes[: len(sources)],
            codes[len(sources) :],
            None if weight is None else vector("weight", frame[weight].to_numpy()),
            self._weights_of(len(labels), weights),
        )

    def _weights_of(self, count: int, weights: Weights) -> Optional[Numbers]:
        if weights is None:
            return None
        if isinstance(weights, str):
            raise UsageError("only graphs of networkx have attributes that can be weights")
        if isinstance(weights, Dict):
            labels = range(count) if self._labels is None else self._labels
            unknown = weights.keys() - set(labels)
            if unknown:
                raise DataError(f"`weights`: there is no vertex {next(iter(unknown))!r}")
            values = list(weights.values())
            default = 1 if not values or np.ndim(values[0]) == 0 else [1] * len(values[0])
            weights = [weights.get(label, default) for label in labels]
        try:
            return numbers("weights", weights)
        except ValueError as error:
            raise DataError("`weights`: vertices have different numbers of weights") from error

    def _weights(self, weights: Weights) -> Numbers:
        found = self._weights_of(self.num_vertices, weights)
        assert found is not None
        return found

    def _positions(self) -> dict[Hashable, int]:
        if self._index is None:
            assert self._labels is not None
            self._index = {label: index for index, label in enumerate(self._labels)}
        return self._index

    @property
    def num_vertices(self) -> int:
        """The number of vertices, n."""
        return self._core.num_vertices

    @property
    def num_edges(self) -> int:
        """The number of edges, m; each counts once."""
        return self._core.num_edges

    @property
    def total_weight(self) -> int:
        """The sum of the weights of all edges, each once."""
        return self._core.total_weight

    @property
    def num_weights(self) -> int:
        """The number of weights of each vertex.

        >>> import viem
        >>> viem.Graph([[0, 3], [3, 0]], weights=[[1, 5], [1, 0]]).num_weights
        2
        """
        return self._core.num_weights

    @property
    def labels(self) -> Sequence[Hashable]:
        """The labels of its vertices, by vertex: the nodes of networkx, the ends of edges of a data frame, else their numbers."""
        return range(self.num_vertices) if self._labels is None else self._labels

    def index(self, label: Hashable) -> int:
        """The vertex with a label.

        >>> import networkx as nx, viem
        >>> viem.Graph(nx.Graph([("a", "b"), ("b", "c")])).index("c")
        2
        """
        if self._labels is None:
            if isinstance(label, (int, np.integer)) and 0 <= label < self.num_vertices:
                return int(label)
        elif label in self._positions():
            return self._positions()[label]
        raise DataError(f"there is no vertex {label!r}")

    def arrays(self) -> tuple[Ids, Ids, Ids, Ids]:
        """Copies of its arrays: indptr (n + 1), indices and data (2 m), weights (n, or n x c). Each edge is in the rows of both of its ends.

        >>> import viem
        >>> viem.Graph([[0, 3], [3, 0]]).arrays()[:3]
        (array([0, 1, 2]), array([1, 0]), array([3, 3]))
        """
        return self._core.arrays()

    def to_scipy(self) -> scipy.sparse.csr_array:
        """The symmetric matrix of the weights of its edges, n x n.

        >>> import viem
        >>> viem.Graph([[0, 3], [3, 0]]).to_scipy().sum()
        np.int64(6)
        """
        import scipy.sparse

        indptr, indices, data, _ = self.arrays()
        size = self.num_vertices
        return scipy.sparse.csr_array((data, indices, indptr), shape=(size, size))

    def to_networkx(self) -> networkx.Graph[Any]:
        """The graph with its labels, and the attribute `weight` of edges and vertices.

        >>> import viem
        >>> viem.Graph([[0, 3], [3, 0]]).to_networkx().edges(data="weight")
        EdgeDataView([(0, 1, 3)])
        """
        import networkx

        indptr, indices, data, weights = self.arrays()
        labels = self.labels
        graph: networkx.Graph[Any] = networkx.Graph()
        graph.add_nodes_from((label, {"weight": weight}) for label, weight in zip(labels, weights.tolist()))
        sources = np.repeat(np.arange(self.num_vertices), np.diff(indptr))
        for u, v, weight in zip(sources.tolist(), indices.tolist(), data.tolist()):
            if u < v:
                graph.add_edge(labels[u], labels[v], weight=weight)
        return graph

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.num_vertices} vertices, {self.num_edges} edges)"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.arrays(), self._labels)


def _restored(arrays: tuple[Ids, Ids, Ids, Ids], labels: Optional[list[Hashable]]) -> Graph:
    indptr, indices, data, weights = arrays
    return Graph._of(_viem.Graph.from_csr(indptr, indices, data, weights, False), labels)


def as_graph(source: Any, weights: Weights = None, directed: bool = False) -> Graph:
    """The graph itself, or one that is made of what is given."""
    if isinstance(source, Graph) and weights is None:
        return source
    return Graph(source, weights=weights, directed=directed)


def places(
    name: str, given: Any, graph: Graph, labels: Optional[Sequence[Hashable]], *, partial: bool = False
) -> Optional[Numbers]:
    """An array of PEs or blocks by vertex: from such an array, or a dict by label. With `partial`, entries that are not given are -1."""
    if given is None:
        return None
    if not isinstance(given, Dict):
        return vector(name, given)
    found: list[Any] = [-1] * graph.num_vertices
    known = None if labels is None else {label: pe for pe, label in enumerate(labels)}
    for label, place in given.items():
        if known is not None and place not in known:
            raise DataError(f"`{name}`: there is no PE {place!r}")
        found[graph.index(label)] = place if known is None else known[place]
    if not partial and -1 in found:
        vertex = found.index(-1)
        raise DataError(f"`{name}` lacks the vertex {graph.labels[vertex]!r}", index=vertex)
    return vector(name, found)


def joined(values: Iterable[Any], separator: str) -> str:
    """Numbers as the programs read them: `4:16:8`, `8x8`."""
    return separator.join(str(value) for value in values)
