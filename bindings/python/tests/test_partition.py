"""Partitions, compared with networkx."""

from __future__ import annotations

import itertools
import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import viem
from conftest import random_graph


def cut_of(graph, blocks):
    parts = {node: block for node, block in zip(graph, blocks)}
    return sum(weight for u, v, weight in graph.edges(data="weight", default=1) if parts[u] != parts[v])


@settings(max_examples=40, deadline=None)
@given(n=st.integers(2, 40), k=st.integers(1, 5), seed=st.integers(0, 1000), epsilon=st.sampled_from([0, 0.03, 0.5]))
def test_cut_and_balance(n, k, seed, epsilon):
    graph = random_graph(max(n, 5), seed)
    found = viem.partition(graph, k, imbalance=epsilon, seed=seed, preset="fast")
    assert found.cut == cut_of(graph, found.blocks)
    assert (found.loads == np.bincount(found.blocks, minlength=k)).all()
    assert found.overload == 0 and (found.loads <= found.bounds).all()
    assert found.loads.max() <= (1 + epsilon) * np.ceil(len(graph) / k)
    assert viem.evaluate(graph, k, found, imbalance=epsilon).cut == found.cut


def test_small_bisections_are_optimal(seed):
    graph = random_graph(8, seed)
    halves = itertools.combinations(range(8), 4)
    best = min(cut_of(graph, [int(node in half) for node in range(8)]) for half in halves)
    assert viem.partition(graph, 2, imbalance=0, preset="strong").cut == best


def test_better_than_networkx(seed):
    graph = nx.grid_2d_graph(20, 20)
    halves = nx.community.kernighan_lin_bisection(graph, seed=seed)
    assert viem.partition(graph, 2).cut <= nx.cut_size(graph, halves[0])


def test_shares_fixed_and_labels():
    graph = nx.grid_2d_graph(10, 10)
    found = viem.partition(graph, 3, shares=[1, 1, 2], fixed={(0, 0): 2, (9, 9): 0})
    assert found.block_of((0, 0)) == 2 and found.block_of((9, 9)) == 0
    assert found.loads[2] > 40 and found.overload == 0
    nx.set_node_attributes(graph, found.to_dict(), "block")
    assert graph.nodes[0, 0]["block"] == 2
    assert len(found.frame()) == 3


def test_remap(seed):
    graph = nx.grid_2d_graph(20, 20)
    old = viem.partition(graph, 4, seed=seed)
    new = viem.remap(graph, 4, old.to_dict(), migration_weight=2, shares=[1, 2, 2, 2])
    assert new.report["migration"]["vertices"] == (old.blocks != new.blocks).sum()
    assert new.overload == 0
    assert (viem.remap(graph, 4, old, migration_weight=1000).blocks == old.blocks).all()


def check_low_loads(loads, report, share, least_load):
    least = int(least_load * share)
    loads_of = report["loads"]
    assert loads_of["below_half"] == (2 * loads < share).sum()
    assert loads_of["below_least"] == (loads < least).sum()
    assert loads_of["shortfall"] == np.maximum(least - loads, 0).sum()


def test_least_load(seed):
    graph = nx.grid_2d_graph(40, 40)
    options = {"imbalance": 1, "preset": "fast", "seed": seed}
    old = np.arange(1600) // 200
    for found in [
        viem.partition(graph, 16, **options),
        viem.remap(graph, 16, old, migration_weight=0.01, **options),
    ]:
        assert found.loads.min() < 50 and found.shortfall == 0
        check_low_loads(found.loads, found.report, 100, 0)
    for found in [
        viem.partition(graph, 16, least_load=0.75, **options),
        viem.remap(graph, 16, old, migration_weight=0.01, least_load=0.75, **options),
    ]:
        assert found.loads.min() >= 75 and found.loads.max() <= 200 and found.shortfall == 0
        check_low_loads(found.loads, found.report, 100, 0.75)
    shared = viem.partition(graph, 3, shares=[1, 1, 6], least_load=0.9, **options)
    assert (shared.loads >= [180, 180, 1080]).all() and shared.overload == 0


def test_each_block_and_pe_has_a_least_load():
    mesh = nx.grid_2d_graph(16, 8)
    least = np.array([32, 0, 17, 25])
    tree = viem.Machine("2:2", distances="1:10")
    old = np.zeros(128, dtype=int)
    for found in (
        viem.partition(mesh, 4, imbalance=1, least_load=least),
        viem.partition(mesh, 4, imbalance=1, least_load=list(least), shares=[1, 1, 1, 1]),
        viem.map_many_to_one(mesh, tree, imbalance=1, least_load=least),
        viem.remap(mesh, 4, old, imbalance=1, least_load=least, migration_weight=0.01),
        viem.remap(mesh, tree, old, imbalance=1, least_load=least, migration_weight=0.01),
    ):
        assert (found.loads >= least).all() and found.loads.max() <= 64
        assert found.report["loads"]["below_least"] == 0
    scored = viem.evaluate(mesh, 4, old, imbalance=3, least_load=least).report["loads"]
    assert (scored["below_least"], scored["shortfall"]) == (2, 42)
    with pytest.raises(viem.UsageError, match="block 1 has size 32, but shall weigh 33 at least"):
        viem.partition(mesh, 4, least_load=[0, 33, 0, 0])
    with pytest.raises(viem.UsageError, match="the list has 3 least loads, but the partition 4 blocks"):
        viem.map_many_to_one(mesh, tree, least_load=[1, 2, 3])
    with pytest.raises(viem.UsageError, match="least loads must not be negative"):
        viem.partition(mesh, 4, least_load=[0, -1, 0, 0])
    with pytest.raises(viem.UsageError, match="least_load is for many-to-one"):
        viem.evaluate(nx.path_graph(4), tree, [0, 1, 2, 3], least_load=[1, 1, 1, 1])
    with pytest.raises(viem.UsageError, match="least_load must be whole numbers"):
        viem.partition(mesh, 4, least_load=np.full(4, 0.9))


def test_each_weight_has_least_loads_of_its_own():
    mesh = nx.grid_2d_graph(16, 16)
    weights = {(row, column): (1, 3 if column < 8 else 0) for row, column in mesh}
    tree = viem.Machine("2:2", distances="1:10")
    least = np.array([[0, 20], [0, 0], [0, 0], [60, 90]])
    options = {"weights": weights, "imbalance": [1, 3], "least_load": least}
    old = np.arange(256) // 64
    for found in (
        viem.partition(mesh, 4, **options),
        viem.map_many_to_one(mesh, tree, **options),
        viem.remap(mesh, tree, old, migration_weight=0.01, **options),
    ):
        assert (found.loads >= least).all()
    with pytest.raises(viem.UsageError, match="3 limits for 2 weights"):
        viem.partition(mesh, 4, weights=weights, least_load=np.zeros((4, 3), dtype=int))
    begin = viem.map_many_to_one(mesh, tree, weights=weights, preset="strong")
    assert viem.map_many_to_one(mesh, tree, weights=weights, preset="fast", start=begin.pe).cost <= begin.cost


def test_missing_least_loads_are_reported():
    graph = nx.grid_2d_graph(40, 40)
    old = np.arange(1600) // 200
    scored = viem.evaluate(graph, 16, old, least_load=0.75)
    assert scored.shortfall == 8 * 75
    check_low_loads(scored.loads, scored.report, 100, 0.75)
    assert viem.evaluate(graph, 16, old).shortfall == 0
    assert viem.evaluate(graph, 16, old, shares=[1] * 8 + [0] * 8, least_load=1).report["loads"]["below_half"] == 0
    # Nothing can be divided: bounds take precedence over least loads.
    heavy = viem.partition(nx.path_graph(4), 3, weights=[10, 1, 1, 10], imbalance=0.5, least_load=1)
    assert heavy.overload == 0 and heavy.shortfall == 5 and heavy.report["loads"]["below_least"] == 1


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"num_blocks": 0}, viem.UsageError),
        ({"num_blocks": 5}, viem.DataError),
        ({"num_blocks": 2, "imbalance": -1}, viem.Error),
        ({"num_blocks": 2, "imbalance": np.nan}, viem.Error),
        ({"num_blocks": 2, "least_load": -0.1}, viem.UsageError),
        ({"num_blocks": 2, "least_load": 90}, viem.UsageError),
        ({"num_blocks": 2, "least_load": np.nan}, viem.UsageError),
        ({"num_blocks": 2, "preset": "quick"}, viem.UsageError),
        ({"num_blocks": 2, "seed": -1}, viem.UsageError),
        ({"num_blocks": 2, "threads": 1 << 40}, viem.UsageError),
        ({"num_blocks": 2, "time_limit": -1}, viem.UsageError),
        ({"num_blocks": 2, "on_interrupt": "ignore"}, viem.UsageError),
        ({"num_blocks": 2, "shares": [1]}, viem.Error),
        ({"num_blocks": 2, "fixed": [0]}, viem.DataError),
        ({"num_blocks": 2, "fixed": [5, -1, -1, -1]}, viem.Error),
        ({"num_blocks": 2, "fixed": [-2, -1, -1, -1]}, viem.DataError),
        ({"num_blocks": 2, "fixed": {9: 1}}, viem.DataError),
    ],
)
def test_refusals(options, error):
    with pytest.raises(error):
        viem.partition(nx.path_graph(4), **options)


def check_several(weights, result, count, imbalances):
    """The loads by each weight are what they are summed from scratch, and within their bounds."""
    places = result.blocks if isinstance(result, viem.Partition) else result.pe
    expected = np.stack([np.bincount(places, column, count) for column in weights.T], axis=1)
    assert np.array_equal(result.loads, expected)
    bounds = np.floor((1 + np.asarray(imbalances)) * np.ceil(weights.sum(axis=0) / count))
    assert (result.loads <= bounds).all()
    by_weight = result.report["loads_by_weight"]
    assert [loads["greatest"] for loads in by_weight] == expected.max(axis=0).tolist()
    assert all(loads["overload"] == 0 for loads in by_weight)


@pytest.mark.parametrize("seed", range(4))
def test_several_weights(seed):
    random = np.random.default_rng(seed)
    mesh = nx.grid_2d_graph(24, 24)
    weights = np.stack([random.integers(1, 4, 576), np.where(np.arange(576) % 24 < 8, 5, 0)], axis=1)
    options = {"weights": weights, "imbalance": [0.05, 0.2], "preset": "fast", "seed": seed}
    check_several(weights, viem.partition(mesh, 6, **options), 6, [0.05, 0.2])
    mapping = viem.map_many_to_one(mesh, viem.Machine("2:3", distances="1:10"), **options)
    check_several(weights, mapping, 6, [0.05, 0.2])
    assert mapping.cost == viem.evaluate(mesh, viem.Machine("2:3", distances="1:10"), mapping, many_to_one=True).cost


def test_several_weights_of_any_source(tmp_path):
    mesh = nx.grid_2d_graph(6, 4)
    rows = np.array([[1, 10 * (vertex < 12)] for vertex in range(24)])
    labels = dict(zip(mesh, map(tuple, rows.tolist())))
    nx.set_node_attributes(mesh, labels, "load")
    graphs = [
        viem.Graph(mesh, weights=rows),
        viem.Graph(mesh, weights=labels),
        viem.Graph(mesh, weights="load"),
        viem.Graph(viem.Graph(mesh), weights=rows.astype(float)),
        viem.Graph(viem.Graph(mesh).to_scipy(), weights=np.asfortranarray(rows)),
    ]
    viem.write(tmp_path / "mesh.graph", graphs[0])
    graphs.append(viem.read(tmp_path / "mesh.graph"))
    graphs.append(pickle.loads(pickle.dumps(graphs[0])))
    for graph in graphs:
        assert graph.num_weights == 2
        assert np.array_equal(graph.arrays()[3], rows)
        partition = viem.partition(graph, 2, imbalance=0)
        assert partition.loads.tolist() == [[12, 60], [12, 60]]
        assert partition.bounds.tolist() == [[12, 60], [12, 60]]
        assert list(partition.frame().columns) == ["load0", "bound0", "load1", "bound1"]
    assert viem.Graph(mesh, weights=rows[:, :1]).num_weights == 1


def test_overload_by_several_weights():
    found = viem.evaluate([[0, 1], [1, 0]], 2, [0, 0], weights=[[1, 2], [1, 2]], imbalance=0)
    assert found.overload == 1 + 2
    assert [loads["overload"] for loads in found.report["loads_by_weight"]] == [1, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": [[1, 2]] * 3}, "3 weights are given for 4 vertices"),
        ({"weights": [[1, 2], [1], [1, 2], [1, 2]]}, "different numbers of weights"),
        ({"weights": [[1, -2]] * 4}, "weight 1 of vertex 0 is -2"),
        ({"weights": [[]] * 4}, "one column at least"),
        ({"weights": [[1, 2]] * 4, "imbalance": [0.1, 0.1, 0.1]}, "3 limits for 2 weights"),
        ({"weights": [[1, 2]] * 4, "least_load": [0.1, 0.1, 0.1]}, "3 limits for 2 weights"),
        ({"weights": [[1, 2]] * 4, "imbalance": [0.1, 0.1], "least_load": [0.1] * 3}, "one for each weight"),
        ({"imbalance": [0.1, 0.1]}, "2 limits for 1 weight"),
        ({"imbalance": []}, "one for each weight"),
    ],
)
def test_several_weights_that_do_not_fit(options, message):
    with pytest.raises(viem.Error, match=message):
        viem.partition(nx.path_graph(4), 2, **options)


def grid_with_memory():
    """A grid, of which the left half takes memory, and its weights."""
    grid = nx.grid_2d_graph(16, 16)
    return grid, {(row, column): (1, 3 if column < 8 else 0) for row, column in grid}


def test_several_weights_are_remapped():
    grid, weights = grid_with_memory()
    columns = [column // 4 for _, column in grid]
    found = viem.remap(grid, 4, columns, weights=weights, imbalance=[0.05, 0.1], migration_weight=5)
    assert (found.loads <= [67, 105]).all()
    assert found.report["migration"]["vertices"] < 180
    machine = viem.Machine("2:2", distances="1:10")
    rows = [row // 4 for row, _ in grid]
    kept = viem.remap(grid, machine, rows, weights=weights, migration_weight=10)
    assert kept.report["migration"]["vertices"] == 0


def test_each_weight_has_capacities():
    grid, weights = grid_with_memory()
    shares = [[1, 3], [1, 1], [1, 1], [1, 1]]
    most = [[67, 201], [67, 69], [67, 69], [67, 69]]
    found = viem.partition(grid, 4, weights=weights, shares=shares, imbalance=0.05)
    assert (found.loads <= most).all()
    assert found.report["bounds"] == most
    machine = viem.Machine("2:2", distances="1:10")
    mapping = viem.map_many_to_one(grid, machine, weights=weights, capacities=shares, imbalance=0.05)
    assert (mapping.loads <= most).all()
    again = viem.evaluate(grid, machine, mapping, many_to_one=True, weights=weights, capacities=shares, imbalance=0.05)
    assert again.report["loads_by_weight"] == mapping.report["loads_by_weight"]


def test_nodes_have_capacities():
    grid, weights = grid_with_memory()
    machine = viem.Machine("4:2", distances="1:10")
    options = {"weights": weights, "imbalance": [0.03, 100], "node_capacity": [None, [120, 300]]}
    mapping = viem.map_many_to_one(grid, machine, **options)
    memory = mapping.loads[:, 1].reshape(2, 4).sum(axis=1)
    assert (memory <= [120, 300]).all() and (mapping.loads[:, 0] == 32).all()
    nodes = mapping.report["loads_by_weight"][1]["nodes"]
    assert (nodes["greatest"], nodes["bound"], nodes["overload"]) == (memory.max(), 300, 0)
    one = viem.map_many_to_one(grid, machine, imbalance=10, node_capacity=200)
    assert one.loads.reshape(2, 4).sum(axis=1).max() <= 200


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"node_capacity": [1, 2, 3]}, "bounds of 3 nodes, the machine has 2 nodes"),
        ({"node_capacity": -1}, "whole numbers from 0 on"),
        ({"node_capacity": 2.5}, "whole numbers"),
        ({"weights": [[1, 2]] * 4, "node_capacity": 5}, "an entry for each weight"),
        ({"weights": [[1, 2]] * 4, "node_capacity": [None]}, "an entry for each weight"),
        ({"weights": [[1, 2]] * 4, "capacities": [[1, 2, 3]] * 4}, "3 limits for 2 weights"),
        ({"capacities": [1, 2]}, "2 capacities, the machine has 4 PEs"),
    ],
)
def test_capacities_that_do_not_fit(options, message):
    with pytest.raises(viem.Error, match=message):
        viem.map_many_to_one(nx.path_graph(4), viem.Machine("2:2", distances="1:10"), **options)
    with pytest.raises(viem.UsageError, match=r"which have nodes|are their shares"):
        viem.remap(nx.path_graph(4), 2, [0, 0, 1, 1], node_capacity=5, capacities=[1, 1])


def test_imbalance_of_divisions():
    grid = nx.grid_2d_graph(20, 20)
    machine = viem.Machine("4:4", distances="1:10")
    old = np.arange(400) // 25
    for run in (
        lambda **options: viem.partition(grid, 16, preset="fast", **options),
        lambda **options: viem.map_many_to_one(grid, machine, preset="fast", **options),
        lambda **options: viem.remap(grid, 16, old, preset="fast", **options),
        lambda **options: viem.remap(grid, machine, old, preset="fast", **options),
        lambda **options: viem.evaluate(grid, 16, old, **options),
        lambda **options: viem.evaluate(grid, machine, old, many_to_one=True, **options),
    ):
        for weights in (None, dict.fromkeys(grid, (1, 1))):
            options = {"imbalance": 0.1, "weights": weights}
            found = [run(imbalance_per_division=is_so, **options) for is_so in (False, True)]
            assert [mapping.report["loads"]["bound"] for mapping in found] == [27, 36]
            blocks = [mapping for mapping in found if isinstance(mapping, viem.Partition)]
            assert all(mapping.bounds.max() == mapping.report["loads"]["bound"] for mapping in blocks)


def test_connected_blocks_and_pes():
    grid = nx.grid_2d_graph(20, 20)
    dealt = np.arange(400) % 16
    assert viem.evaluate(grid, 16, dealt).report["in_pieces"] == 16
    machine = viem.Machine("4:4", distances="1:10")
    assert viem.evaluate(grid, machine, dealt, many_to_one=True).report["in_pieces"] == 16
    for found in (
        viem.partition(grid, 16, connected=True, preset="fast").blocks,
        viem.map_many_to_one(grid, machine, connected=True, preset="fast").pe,
    ):
        places = dict(zip(grid, found))
        for place in range(16):
            assert nx.is_connected(grid.subgraph(vertex for vertex in grid if places[vertex] == place))
    with pytest.raises(viem.UsageError, match="one weight"):
        weights = dict.fromkeys(grid, (1, 2))
        viem.partition(grid, 4, weights=weights, connected=True)
