"""Inputs of graphs and machines."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import viem
from conftest import matrix_of, random_graph

TYPES = ["int32", "int64", "uint32", "uint64", "float32", "float64", "int8", "uint16", "float16", ">i4", ">f8"]


def dense(graph: viem.Graph):
    return graph.to_scipy().toarray()


@pytest.mark.parametrize("dtype", TYPES)
def test_types_of_numbers(dtype):
    matrix = matrix_of(random_graph(20, 0))
    for source in (matrix.astype(dtype), np.asfortranarray(matrix.astype(dtype)), matrix.astype(dtype)[::1, :].T):
        assert (dense(viem.Graph(source)) == matrix).all()


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("make", [sp.coo_array, sp.coo_matrix])
def test_sparse_formats(form, make):
    matrix = matrix_of(random_graph(20, 1))
    assert (dense(viem.Graph(make(matrix).asformat(form))) == matrix).all()


def test_all_sources_are_one_graph(seed):
    graph = random_graph(24, seed)
    matrix = matrix_of(graph)
    sparse = sp.csr_array(matrix)
    frame = nx.to_pandas_edgelist(graph)
    sources = [
        graph,
        matrix.tolist(),
        sparse,
        (sparse.indptr, sparse.indices, sparse.data),
        (sparse.indptr.astype("int64"), sparse.indices, sparse.data.astype("float64")),
        viem.Graph(matrix),
    ]
    for source in sources:
        assert (dense(viem.Graph(source)) == matrix).all()
    ordered = viem.Graph(frame)
    assert nx.utils.graphs_equal(ordered.to_networkx().subgraph(graph), viem.Graph(graph).to_networkx())


def test_entries_that_mean_nothing():
    # The diagonal, a zero, an entry that occurs twice, and rows that are not sorted.
    indptr, indices = [0, 5, 6, 8], [2, 0, 1, 2, 1, 0, 0, 2]
    graph = viem.Graph((indptr, indices, [1, 9, 3, 2, 0, 3, 3, 7]))
    assert dense(graph).tolist() == [[0, 3, 3], [3, 0, 0], [3, 0, 0]]
    multi = nx.MultiGraph([("a", "b"), ("a", "b"), ("b", "b")])
    assert viem.Graph(multi).arrays()[2].tolist() == [2, 2]
    frame = pd.DataFrame({"from": ["x", "y", "x"], "to": ["y", "x", "z"], "bytes": [1.0, 2.0, 5.0]})
    assert dict(viem.Graph(frame).to_networkx()["x"]) == {"y": {"weight": 3}, "z": {"weight": 5}}


def test_what_accompanies_the_text_of_a_machine(tmp_path):
    network, times = tmp_path / "n.graph", tmp_path / "t.graph"
    network.write_text("3 2 11\n0 2 5 3 5\n1 1 5\n1 1 5\n")
    times.write_text("3 2 11\n0 2 2 3 2\n1 1 2\n1 1 2\n")
    machine = viem.Machine(str(network), link_cycles=times)
    assert machine.distance(0, 1) == 10
    with pytest.raises(viem.UsageError, match="networks"):
        viem.Machine("4:4", distances="1:10", link_cycles=times)
    with pytest.raises(viem.UsageError, match="clusters"):
        viem.Machine("4:4", distances="1:10", pe="gpu")
    with pytest.raises(viem.UsageError, match="clusters"):
        viem.Machine("4:4", distances="1:10", latency=times)
    with pytest.raises(viem.UsageError, match='"core"'):
        viem.Machine("4:4", distances="1:10", pe="gpus")


def test_empty_and_single():
    assert viem.Graph(np.zeros((0, 0))).num_vertices == 0
    assert viem.Graph([[0]]).num_edges == 0
    assert viem.Graph(nx.empty_graph(3)).num_vertices == 3


@pytest.mark.parametrize("value", [0.5, np.nan, np.inf, 1e30, -np.inf])
def test_what_is_not_whole_is_refused_by_its_index(value):
    matrix = np.zeros((3, 3))
    matrix[0, 2] = matrix[2, 0] = value
    with pytest.raises(viem.DataError, match="entry 2 of `matrix`") as caught:
        viem.Graph(matrix)
    assert caught.value.index == 2
    sparse = sp.csr_array(([1.0, 1.0, value, value], ([0, 1, 1, 2], [1, 0, 2, 1])))
    with pytest.raises(ValueError, match="entry 2 of `data`") as caught:
        viem.Graph(sparse)
    assert caught.value.index == 2


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (np.zeros((2, 3)), "rows"),
        (sp.csr_array((2, 3)), "square"),
        (([0, 1], [0, 1]), "indptr"),
        (([0, 2, 1, 2], [1, 0]), "falls"),
        (([0, 1, 2], [1, 5]), "vertices are"),
        (([0, 1, 2], [1, -1]), "out of range"),
        (([1, 1, 2], [1, 0]), "run from 0"),
        (([0, 1, 2], [1, 0], [1]), "`data`"),
        (([0, 1, 2], [1, 0], [-1, -1]), "negative"),
        (([0, 1, 2], [1, 0], [1, 2]), "directed=True"),
        (([], []), "indptr"),
        (([0],), "tuple"),
        (np.zeros(3), "two dimensions"),
        (np.zeros((2, 2), complex), "complex"),
        (np.array([[None]]), "object"),
        (np.full((2, 2), -1), "negative"),
        ("mesh.graph", "numbers"),
        (pd.DataFrame({"a": [1]}), "column"),
        (pd.DataFrame({"a": [1], "b": ["x"]}), None),
    ],
)
def test_what_is_no_graph_is_refused(source, message):
    if message is None:
        viem.Graph(pd.DataFrame({"a": ["1"], "b": ["x"]}))
        return
    with pytest.raises(viem.Error, match=message):
        viem.Graph(source)


@pytest.mark.parametrize("dtype", ["uint64", ">u8"])
def test_large_numbers_do_not_wrap(dtype):
    matrix = np.array([[0, 2**63 + 5], [2**63 + 5, 0]], dtype)
    with pytest.raises(viem.DataError) as caught:
        viem.Graph(matrix)
    assert caught.value.index == 1


def test_the_sum_must_fit():
    with pytest.raises(viem.DataError, match="exceeds"):
        viem.Graph([[0, 2**62], [2**62, 0]])


def test_weights():
    path = nx.path_graph(3)
    nx.set_node_attributes(path, {0: 4, 1: 5, 2: 6}, "load")
    for weights in ("load", {0: 4, 1: 5, 2: 6}, [4, 5, 6], np.array([4.0, 5.0, 6.0])):
        assert viem.Graph(path, weights=weights).arrays()[3].tolist() == [4, 5, 6]
    again = viem.Graph(viem.Graph(path), weights={1: 7})
    assert again.arrays()[3].tolist() == [1, 7, 1]
    for weights in ([1, 2], [1, 2, -1], [1, 2, 0.5]):
        with pytest.raises(viem.DataError):
            viem.Graph(path, weights=weights)
    with pytest.raises(viem.UsageError):
        viem.Graph(np.zeros((3, 3)), weights="load")


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: viem.Graph(np.ma.array([[0, 1], [1, 0]], mask=[[0, 1], [1, 0]])), viem.UsageError),
        (lambda: viem.Graph(nx.path_graph(2), weights={7: 1}), viem.DataError),
        (lambda: viem.Graph(([[0, 1, 2]], [1, 0])), viem.UsageError),
        (lambda: viem.map(nx.path_graph(2), "2:2"), TypeError),
        (lambda: viem.map(nx.path_graph(2), viem.Machine(mesh=[2]), start=[[0, 1]]), viem.UsageError),
        (lambda: viem.map(nx.path_graph(2), viem.Machine(mesh=[2]), start={0: 1}), viem.DataError),
        (lambda: viem.map(nx.path_graph(2), viem.Machine(mesh=[2]), fixed={0: 0.5}), viem.DataError),
        (lambda: viem.map(nx.path_graph(2), viem.Machine(mesh=[2]), fixed={0: "x"}), viem.UsageError),
        (lambda: viem.map(nx.path_graph(3), viem.Machine(mesh=[2])), viem.DataError),
    ],
)
def test_nothing_is_guessed(call, error):
    with pytest.raises(error):
        call()


def test_nothing_is_copied_where_the_layout_allows_it():
    from viem._graph import numbers

    for dtype in TYPES[:6]:
        array = np.zeros(5, dtype)
        assert numbers("x", array) is array
    assert numbers("x", np.zeros((4, 4))[:, 1]).base is not None


def test_machines():
    assert viem.Machine((4, 16, 8), distances=(1, 10, 100)).num_pes == 512
    tree = viem.Machine("2:2", distances="1:10")
    assert tree.distances().tolist() == [[0, 1, 10, 10], [1, 0, 10, 10], [10, 10, 0, 1], [10, 10, 1, 0]]
    assert viem.Machine("2:2", distances="1:10", pes=[3, 0]).distances().tolist() == [[0, 10], [10, 0]]
    lengths = dict(nx.all_pairs_shortest_path_length(nx.grid_graph((5, 4), periodic=True)))
    torus = viem.Machine(torus=(4, 5))
    nodes = [(i, j) for j in range(5) for i in range(4)]
    for row, a in enumerate(nodes):
        assert torus.distances([row])[0].tolist() == [lengths[a][b] for b in nodes]
    assert viem.Machine(hypercube=4).distance(0, 15) == 4
    assert tree.capacities.tolist() == [1] * 4 and tree.room == 4
    assert "PEs" in repr(tree)


def test_networks():
    network = nx.Graph()
    network.add_edge("switch", "a", weight=3)
    network.add_edge("switch", "b", weight=4)
    nx.set_node_attributes(network, {"switch": 0, "a": 2, "b": 1}, "cores")
    for pes in (["a", "b"], "cores"):
        machine = viem.Machine.from_networkx(network, pes=pes)
        assert machine.labels == ["a", "b"] and machine.distance(0, 1) == 7
    assert machine.capacities.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: viem.Machine(), viem.UsageError),
        (lambda: viem.Machine("2:2", torus=(2, 2)), viem.UsageError),
        (lambda: viem.Machine("nowhere"), viem.UsageError),
        (lambda: viem.Machine("2:2"), viem.UsageError),
        (lambda: viem.Machine.from_matrix([[0, 1], [2, 0]]), viem.DataError),
        (lambda: viem.Machine.from_matrix([[0, 1]]), viem.DataError),
        (lambda: viem.Machine.from_matrix([[1]]), viem.DataError),
        (lambda: viem.Machine(mesh=[2], capacities=[1]), viem.Error),
        (lambda: viem.Machine(mesh=[2], capacities=[1, 0]), viem.Error),
        (lambda: viem.Machine(mesh=[2]).distance(0, 2), viem.DataError),
        (lambda: viem.Machine.from_networkx(nx.empty_graph(2)), viem.Error),
        (lambda: viem.Machine.from_networkx(nx.path_graph(2), pes=[7]), viem.UsageError),
    ],
)
def test_what_is_no_machine_is_refused(make, error):
    with pytest.raises(error):
        make()
