"""Reports, pictures, files, launchers, simulation."""

from __future__ import annotations

import gzip
import pickle
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import matplotlib
import networkx as nx
import numpy as np
import pytest

import viem
from conftest import matrix_of, random_graph

matplotlib.use("Agg")
MACHINE = viem.Machine("4:4", distances="1:10")


@pytest.fixture
def mapping():
    return viem.map(random_graph(16, 0), MACHINE)


def test_frame_adds_up(mapping):
    frame = mapping.frame()
    assert frame.cost.sum() == mapping.cost and frame.weight.sum() == mapping.graph.total_weight
    assert np.isclose(frame.share.sum(), 1)
    assert viem.map(nx.empty_graph(4), MACHINE).frame().empty


def test_pictures(mapping):
    assert ElementTree.fromstring(mapping._repr_svg_()).tag.endswith("svg")
    assert "<svg" in mapping._repr_html_() and str(mapping.cost) in mapping._repr_html_()
    axes = mapping.plot()
    assert str(mapping.cost) in axes.get_title()
    assert mapping.plot(axes) is axes
    mesh = viem.map_many_to_one(nx.grid_2d_graph(8, 8), MACHINE)
    assert ElementTree.fromstring(mesh.svg()) is not None and "loads" in repr(mesh)


def test_launch(mapping, tmp_path):
    files, command = mapping.launch("plain", tmp_path)
    assert Path(files[0]).parent == tmp_path and command is None
    assert (viem.read(files[0], "mapping") == mapping.pe).all()
    files, command = mapping.launch("inverse", directory=tmp_path)
    assert [int(line) for line in Path(files[0]).read_text().split()] == mapping.process_on.tolist()
    with pytest.raises(viem.UsageError, match="slurm"):
        mapping.launch("rocket", tmp_path)
    with pytest.raises(viem.OutputError):
        mapping.launch("plain", tmp_path / "nowhere")


def test_launch_on_hosts(tmp_path):
    hosts = tmp_path / "hosts"
    hosts.write_text("alpha\nbeta\n")
    machine = viem.Machine(f"hosts:{hosts},node=4", distances="1:10")
    found = viem.map(random_graph(8, 0), machine)
    files, command = found.launch("slurm", tmp_path)
    assert command is not None and "srun" in command
    assert "alpha" in "".join(Path(file).read_text() for file in files)


def test_files(tmp_path, seed):
    graph = random_graph(20, seed)
    name = tmp_path / "x.graph"
    viem.write(name, graph)
    assert (viem.read(name).to_scipy().toarray() == matrix_of(graph)).all()
    packed = tmp_path / "x.graph.gz"
    packed.write_bytes(gzip.compress(name.read_bytes()))
    assert viem.read(packed).num_edges == graph.number_of_edges()
    weighted = viem.Graph(graph, weights=range(20))
    viem.write(str(name), weighted)
    assert viem.read(name).arrays()[3].tolist() == list(range(20))
    viem.write(name, np.array([2, 0, 1]))
    assert viem.read(name, "mapping").tolist() == [2, 0, 1]
    found = viem.partition(graph, 3)
    viem.write(name, found)
    assert (viem.read(name, "mapping") == found.blocks).all()
    a, b = np.random.default_rng(seed).integers(-5, 6, (2, 4, 4))
    viem.write(name, (a, b), "qap")
    again = viem.read(name, "qap")
    assert (again[0] == a).all() and (again[1] == b).all()


def test_errors_name_the_place(tmp_path):
    name = tmp_path / "bad.graph"
    name.write_text("2 1\n2\n1 x\n")
    with pytest.raises(viem.DataError) as caught:
        viem.read(name)
    error = caught.value
    assert (error.file, error.line, error.column) == (str(name), 3, 3) and error.message == str(error)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is viem.DataError and again.line == 3 and str(again) == str(error)
    with pytest.raises(OSError) as missing:
        viem.read(tmp_path / "missing")
    assert isinstance(missing.value, viem.InputError) and "missing" in str(missing.value)
    with pytest.raises(viem.OutputError):
        viem.write(tmp_path / "no" / "folder", [0, 1], "mapping")
    for call in (lambda: viem.read(name, "x"), lambda: viem.write(name, [0], "x")):
        with pytest.raises(viem.UsageError):
            call()


def test_what_is_left_open_is_warned_of(tmp_path):
    name = tmp_path / "file"
    name.write_text("0 0 0 0 0\n" * 5)
    with pytest.warns(UserWarning, match="nothing is exchanged") as caught:
        assert viem.traffic(name).num_edges == 0
    assert caught[0].filename == __file__
    schedule = "num_ranks 2\nrank 0 {\nsend 5b to 1 nic 1\n}\nrank 1 {\nrecv 5b from 0 nic 1\n}\n"
    name.write_text(schedule)
    with pytest.warns(UserWarning, match="nics=2"):
        assert viem.traffic(name).num_vertices == 2
    assert viem.traffic(name, nics=2).num_vertices == 4
    with pytest.raises(viem.UsageError, match="nics"):
        viem.traffic(name, nics=0)
    name.write_text("2 1 010 2\n1 5 2\n1 7 1\n")
    assert viem.read(name).arrays()[3].tolist() == [[1, 5], [1, 7]]
    name.write_text("3\n0 1 1\n1 7 1\n1 1 0\n\n0 1 1\n1 0 1\n1 1 0\n")
    with pytest.warns(UserWarning, match="line 3: entry 7"):
        viem.read(name, "qap")
    path = viem.Graph([[int(abs(u - v) == 1) for v in range(8)] for u in range(8)])
    for call in (
        lambda: viem.partition(path, 8, least_load=0.9),
        lambda: viem.map_many_to_one(path, viem.Machine("4:2", distances="1:10"), least_load=0.9),
    ):
        with pytest.warns(UserWarning, match="a least load of 90 % of 1 is 0, as it is rounded down") as caught:
            call()
        assert caught[0].filename == __file__


def test_traffic(tmp_path):
    name = tmp_path / "edges.csv"
    name.write_text("source,target,weight\n10,20,5\n20,30,7\n20,10,1\n")
    graph = viem.traffic([name], kind="edges", renumber=True)
    assert list(graph.labels) == [10, 20, 30] and graph.total_weight == 13
    assert graph.report["files"] == 1 and graph.index(20) == 1
    assert viem.map(graph, viem.Machine(mesh=[3])).cost == 26
    with pytest.raises(viem.UsageError, match="edges"):
        viem.traffic(name, kind="magic")
    with pytest.raises(viem.UsageError):
        viem.traffic([])
    with pytest.raises(viem.Error):
        viem.traffic(name, weight="tons")


def test_simulation(tmp_path):
    machine = viem.Machine(mesh=[2, 2])
    near = viem.simulate([[0, 9], [9, 0]], machine, [0, 1])
    far = viem.simulate([[0, 9], [9, 0]], machine, [0, 3])
    assert near.completion_time < far.completion_time
    assert near.latency["messages"] == 2 and len(near.pes()) == 4 and not near.links().empty
    workload = viem.Workload([[0, 9], [9, 0]])
    viem.write(tmp_path / "w", workload)
    again = viem.read(tmp_path / "w", "workload")
    assert again.num_tasks == 2 and again.graph().num_edges == 1
    assert viem.simulate(again, machine, [0, 1]).completion_time >= near.completion_time
    with pytest.raises(viem.Error):
        viem.simulate(workload, machine, [0])
    with pytest.raises(viem.Error):
        viem.simulate(workload, machine, [0, 9])


def test_messages_share_links():
    # Two messages from node to node over one link.
    machine = viem.Machine("2:2", distances=[2, 20])
    graph = [[0, 0, 100, 0], [0, 0, 0, 100], [100, 0, 0, 0], [0, 100, 0, 0]]
    turns = viem.simulate(graph, machine, [0, 1, 2, 3])
    fair = viem.simulate(graph, machine, [0, 1, 2, 3], sharing="fair")
    late = viem.simulate(graph, machine, [0, 1, 2, 3], sharing="fair", latency=3)
    # Each link between the nodes takes 9 cycles per flit.
    assert fair.completion_time == 2 * 100 * 9 < turns.completion_time
    assert late.completion_time == fair.completion_time + 3 * 20
    for options in ({"sharing": "magic"}, {"latency": 3}, {"sharing": "fair", "latency": -1}):
        with pytest.raises(viem.DataError):
            viem.simulate(graph, machine, [0, 1, 2, 3], **options)


def test_evaluate_refuses():
    path = nx.path_graph(3)
    for placement in ([0, 1], [0, 1, 9], [0, 0, 1], {0: 1}):
        with pytest.raises(viem.Error):
            viem.evaluate(path, viem.Machine(mesh=[3]), placement)
    many = viem.evaluate(path, viem.Machine(mesh=[3]), [0, 0, 1], many_to_one=True)
    assert many.cost == 2 and many.cut == 1 and many.report["loads"]["greatest"] == 2
    with pytest.raises(viem.Error):
        viem.evaluate(path, 2, [0, 1])
    with pytest.raises(viem.Error):
        viem.evaluate(path, 2, [0, 1, 2])


def test_a_mapping_that_was_changed_is_refused(mapping):
    mapping.pe = mapping.pe[:5]
    for call in (mapping.svg, mapping.frame):
        with pytest.raises(viem.DataError):
            call()
