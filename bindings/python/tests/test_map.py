"""Mappings, compared with numpy and enumeration."""

from __future__ import annotations

import pickle
import threading

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import viem
from conftest import matrix_of, objective, optimum, random_graph

TREE = viem.Machine("4:4:2", distances="1:10:100")


def test_cost_is_the_definition(seed):
    traffic = matrix_of(random_graph(32, seed))
    mapping = viem.map(traffic, TREE, seed=seed)
    assert sorted(mapping.pe) == list(range(32))
    assert mapping.cost == objective(traffic, TREE.distances(), mapping.pe)
    assert mapping.cost_of_identity == objective(traffic, TREE.distances(), np.arange(32))
    assert mapping.cost <= mapping.cost_of_identity
    assert (mapping.process_on[mapping.pe] == np.arange(32)).all()
    assert mapping.report["num_processes"] == 32 and not mapping.stopped


@pytest.mark.parametrize("n", [4, 6, 8])
def test_small_ones_are_optimal(n, seed):
    traffic = matrix_of(random_graph(n, seed))
    machine = viem.Machine(torus=(n // 2, 2))
    assert viem.map(traffic, machine, preset="strong").cost == optimum(traffic, machine.distances())


@settings(max_examples=40, deadline=None)
@given(n=st.integers(2, 7), seed=st.integers(0, 10**6), data=st.data())
def test_any_matrix_on_any_machine(n, seed, data):
    rng = np.random.default_rng(seed)
    traffic = np.triu(rng.integers(0, 5, (n, n)), 1)
    distances = np.triu(rng.integers(0, 9, (n + 1, n + 1)), 1)
    traffic, distances = traffic + traffic.T, distances + distances.T
    machine = viem.Machine.from_matrix(distances)
    fixed = {0: data.draw(st.integers(0, n))}
    mapping = viem.map(traffic, machine, fixed=fixed, preset="fast")
    assert len(set(mapping.pe)) == n and mapping.pe[0] == fixed[0]
    assert mapping.cost == objective(traffic, distances, mapping.pe)
    assert viem.evaluate(traffic, machine, mapping).cost == mapping.cost


def test_seed_and_threads(seed):
    graph = random_graph(32, seed)
    first = viem.map(graph, TREE, seed=seed)
    assert (viem.map(graph, TREE, seed=seed, threads=2).pe == first.pe).all()
    assert (viem.map(graph, TREE, seed=seed, threads=0).pe == first.pe).all()


def test_start_is_never_worsened(seed):
    traffic = matrix_of(random_graph(32, seed))
    start = viem.map(traffic, TREE, preset="strong")
    again = viem.map(traffic, TREE, start=start.pe, preset="fast", time_limit=0)
    assert again.cost <= start.cost


def test_labels_survive():
    graph = nx.relabel_nodes(random_graph(16, 1), lambda node: f"rank {node}")
    network = nx.relabel_nodes(nx.grid_2d_graph(4, 4), {(0, 0): "corner"})
    machine = viem.Machine.from_networkx(network)
    mapping = viem.map(graph, machine, fixed={"rank 3": "corner"})
    assert mapping.pe_of("rank 3") == "corner"
    placed = mapping.to_dict()
    lengths = dict(nx.all_pairs_shortest_path_length(network))
    cost = sum(2 * w * lengths[placed[u]][placed[v]] for u, v, w in graph.edges(data="weight"))
    assert cost == mapping.cost
    assert viem.evaluate(graph, machine, placed).cost == mapping.cost


def test_many_to_one(seed):
    mesh = nx.grid_2d_graph(12, 10)
    machine = viem.Machine("2:3", distances="1:10")
    mapping = viem.map_many_to_one(mesh, machine, imbalance=0.05, seed=seed)
    order = list(mesh)
    assert mapping.cost == objective(nx.to_numpy_array(mesh), machine.distances(), mapping.pe)
    assert mapping.loads.max() <= 1.05 * np.ceil(120 / 6)
    assert (mapping.loads == np.bincount(mapping.pe, minlength=6)).all()
    assert mapping.cut == sum(mapping.pe_of(u) != mapping.pe_of(v) for u, v in mesh.edges)
    assert mapping.pe_of(order[7]) == mapping.pe[7]
    assert set(mapping.processes_on(0)) == {i for i in range(120) if mapping.pe[i] == 0}
    assert mapping.cost <= mapping.cost_of_identity
    with pytest.raises(viem.DataError):
        _ = mapping.process_on


def test_least_load(seed):
    mesh = nx.grid_2d_graph(40, 40)
    machine = viem.Machine("4:2:2", distances="1:10:100")
    options = {"imbalance": 1, "preset": "fast", "seed": seed}
    old = np.arange(1600) // 200
    for least_load in [0, 0.75]:
        for mapping in [
            viem.map_many_to_one(mesh, machine, least_load=least_load, **options),
            viem.remap(mesh, machine, old, migration_weight=0.01, least_load=least_load, **options),
        ]:
            loads = mapping.report["loads"]
            assert mapping.loads.min() >= 75 if least_load else mapping.loads.min() < 50
            assert mapping.loads.max() <= 200 and loads["below_half"] == (mapping.loads < 50).sum()
            assert loads["below_least"] == loads["shortfall"] == 0
    scored = viem.evaluate(mesh, machine, old, many_to_one=True, imbalance=1, least_load=0.75)
    loads = scored.report["loads"]
    assert (loads["below_half"], loads["below_least"], loads["shortfall"]) == (8, 8, 600)


@pytest.mark.parametrize("least_load", [-0.1, 1.01, 90, np.nan, np.inf])
def test_bad_least_loads_are_refused(least_load):
    mesh = nx.grid_2d_graph(4, 4)
    for run in [
        lambda: viem.map_many_to_one(mesh, TREE, least_load=least_load),
        lambda: viem.remap(mesh, TREE, [0] * 16, least_load=least_load),
        lambda: viem.remap(mesh, 4, [0] * 16, least_load=least_load),
        lambda: viem.evaluate(mesh, 4, [0] * 16, least_load=least_load),
        lambda: viem.evaluate(mesh, TREE, [0] * 16, many_to_one=True, least_load=least_load),
    ]:
        with pytest.raises(viem.UsageError, match=r"least.load.* from 0 to 1"):
            run()
    with pytest.raises(viem.UsageError, match="many-to-one"):
        viem.evaluate(mesh, TREE, np.arange(16), least_load=0.5)


def test_weights_and_capacities():
    mesh = nx.grid_2d_graph(8, 8)
    weights = {node: 1 + (node[0] < 2) for node in mesh}
    machine = viem.Machine(mesh=[2], capacities=[1, 3])
    mapping = viem.map_many_to_one(mesh, machine, weights=weights, imbalance=0)
    total = sum(weights.values())
    assert mapping.loads.sum() == total
    assert mapping.loads[0] <= np.ceil(total / 4) + 2
    assert viem.map(nx.path_graph(4), machine).pe.tolist().count(1) == 3


def test_remap_moves_little(seed):
    mesh = sp.csr_array(nx.to_scipy_sparse_array(nx.grid_2d_graph(16, 16)))
    machine = viem.Machine("2:2", distances="1:10")
    old = viem.map_many_to_one(mesh, machine, seed=seed)
    slower = machine.with_capacities([1, 2, 2, 2])
    new = viem.remap(mesh, slower, old, migration_weight=5)
    moved = int((new.pe != old.pe).sum())
    assert moved == new.report["migration"]["vertices"] < 100
    assert new.loads[0] <= 1.03 * np.ceil(256 / 7)


def test_directed_traffic():
    sent = np.array([[0, 7, 0], [2, 0, 0], [0, 4, 0]])
    machine = viem.Machine(mesh=[3])
    both = viem.map(sent, machine, directed=True)
    assert both.cost == viem.map(sent + sent.T, machine).cost == 2 * (9 + 4)
    sparse = viem.map(sp.csr_array(sent), machine, directed=True)
    graph = nx.from_numpy_array(sent, create_using=nx.DiGraph)
    assert sparse.cost == viem.map(graph, machine).cost == both.cost
    with pytest.raises(viem.DataError, match="directed=True") as caught:
        viem.map(sent, machine)
    assert caught.value.index == 0


def test_other_threads_run_meanwhile():
    counted = 0
    done = threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.wait(0.01):
            counted += 1

    counter = threading.Thread(target=count)
    counter.start()
    viem.map(random_graph(32, 0), TREE, time_limit=0.5, preset="strong", seed=3)
    done.set()
    counter.join()
    assert counted > 10


def test_runs_in_several_threads(seed):
    graph = viem.Graph(random_graph(32, seed))
    results = []
    threads = [threading.Thread(target=lambda: results.append(viem.map(graph, TREE).pe)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and all((pe == results[0]).all() for pe in results)


def test_forks_have_threads_of_their_own():
    import multiprocessing

    graph = random_graph(32, 0)
    expected = viem.map(graph, TREE).cost
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(_cost, [graph, graph]) == [expected, expected]


def _cost(graph):
    return viem.map(graph, TREE).cost


def test_progress_can_stop():
    seen = []
    graph = random_graph(128, 0)
    machine = viem.Machine("4:16:2", distances="1:10:100")

    def progress(cost):
        seen.append(cost)
        return len(seen) == 3

    mapping = viem.map(graph, machine, preset="strong", time_limit=60, progress=progress)
    assert len(seen) == 3 and mapping.stopped and mapping.report["seconds"]["total"] < 30
    assert mapping.cost <= mapping.cost_of_identity

    with pytest.raises(ZeroDivisionError):
        viem.map(graph, machine, preset="strong", time_limit=60, progress=lambda cost: 1 // 0)


def test_graphs_can_be_pickled():
    graph = viem.Graph(nx.relabel_nodes(nx.path_graph(3), str), weights={"0": 5})
    again = pickle.loads(pickle.dumps(graph))
    assert list(again.labels) == ["0", "1", "2"]
    assert all((a == b).all() for a, b in zip(graph.arrays(), again.arrays()))


def test_objectives():
    mesh = nx.gnm_random_graph(64, 140, seed=3)
    tree = viem.Machine("8:8", distances="1:10")
    plain = viem.map(mesh, tree, fixed={3: 5})
    lowered = viem.map(mesh, tree, objective="bottleneck", excess=0.1, fixed={3: 5})
    assert lowered.busiest["link"]["load"] < plain.busiest["link"]["load"]
    assert lowered.cost <= 1.1 * plain.cost and lowered.pe[3] == 5
    assert lowered.cost == viem.evaluate(mesh, tree, lowered.pe).cost
    leaving = viem.map(mesh, tree, objective="busiest_node", excess=0.1)
    assert leaving.busiest["node"] < viem.map(mesh, tree).busiest["node"]
    table = viem.evaluate(mesh, tree, leaving.pe).traffic_loads
    assert max(table["nodes"]["after"]) == leaving.busiest["node"]
    assert sum(table["nodes"]["before"]) == table["switches"]["before"][0]
    # Many vertices on a PE, with bounds.
    torus, grid = viem.Machine(torus=[4, 2]), nx.grid_2d_graph(12, 10)
    plain = viem.map_many_to_one(grid, torus)
    lowered = viem.map_many_to_one(grid, torus, objective="bottleneck", excess=0.1)
    assert lowered.busiest["link"]["load"] <= plain.busiest["link"]["load"]
    assert lowered.loads.max() <= 15
    # Links are unknown where distances alone are.
    unknown = viem.evaluate(nx.path_graph(4), viem.Machine.from_matrix(1 - np.eye(4, dtype=int)), [0, 1, 2, 3])
    assert unknown.busiest == {"node": 2, "link": None}
    with pytest.raises(viem.UsageError, match="excess"):
        viem.map(mesh, tree, objective="mixed", excess=2)
    with pytest.raises(viem.UsageError, match="there are J, bottleneck"):
        viem.map(mesh, tree, objective="busiest")
