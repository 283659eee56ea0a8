"""The partitioner and the solver of quadratic assignment problems beside the peers that are installed.

    pip install pymetis kahip kaminpar mtkahypar chszlablib scipy
    python bindings/python/benches/peers.py [k=8,64] [epsilon=0.03] [seeds=2] [graphs=FOLDER] [qaplib=FOLDER] [problems=30] [largest=60]
        [preset=eco]

Without a folder of METIS graphs, meshes are generated. Cuts are recomputed here, and are relative to viem eco in the geometric mean over
graphs, k and seeds; times are the sum of all calls with one thread. A partition that exceeds its bound is counted.

The folder of QAPLIB has a table `best_known.tsv`: file, n and best known value. For each problem, scipy's methods run again until they have
taken as long as viem, and keep their best.
"""

from __future__ import annotations

import math
import platform
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import numpy as np

import viem

Partitioner = Callable[[int, float, int], Any]


def peers(graph: viem.Graph, name: str) -> Iterator[tuple[str, Partitioner]]:
    """Each partitioner that is installed, as a function of k, epsilon and seed."""
    for preset in ("fast", "eco", "strong"):
        yield f"viem {preset}", lambda k, e, s, p=preset: viem.partition(graph, k, imbalance=e, seed=s, preset=p).blocks  # type: ignore[misc,arg-type]
    for peer in (_metis, _kahip, _kaminpar, _mtkahypar, _chszlablib):
        try:
            yield from peer(graph, name)
        except ImportError:
            continue


def _metis(graph: viem.Graph, name: str) -> Iterator[tuple[str, Partitioner]]:
    import pymetis

    xadj, adjncy, data, weights = graph.arrays()
    adjacency = pymetis.CSRAdjacency(xadj, adjncy)

    def partition(k: int, epsilon: float, seed: int) -> Any:
        options = pymetis.Options(ufactor=int(1000 * epsilon), seed=seed)
        return pymetis.part_graph(k, adjacency, vweights=weights, eweights=data, options=options)[1]

    yield "METIS", partition


def _kahip(graph: viem.Graph, name: str) -> Iterator[tuple[str, Partitioner]]:
    import kahip

    xadj, adjncy, data, weights = (array.tolist() for array in graph.arrays())
    for mode in ("FAST", "ECO"):
        number = getattr(kahip, mode)
        yield (
            f"KaHIP {mode.lower()}",
            lambda k, e, s, m=number: kahip.kaffpa(weights, xadj, data, adjncy, k, e, True, s, m)[1],  # type: ignore[misc]
        )


def _kaminpar(graph: viem.Graph, name: str) -> Iterator[tuple[str, Partitioner]]:
    import kaminpar

    loaded = kaminpar.load_graph(name, kaminpar.GraphFileFormat.METIS)
    for preset in ("default", "strong"):
        context = getattr(kaminpar, f"{preset}_context")()
        instance = kaminpar.KaMinPar(1, context)

        def partition(k: int, epsilon: float, seed: int, instance: Any = instance) -> Any:
            kaminpar.reseed(seed)
            return instance.compute_partition(loaded, k, epsilon)

        yield f"KaMinPar {preset}", partition


_MTKAHYPAR: list[Any] = []


def _mtkahypar(graph: viem.Graph, name: str) -> Iterator[tuple[str, Partitioner]]:
    import mtkahypar

    if not _MTKAHYPAR:
        _MTKAHYPAR.append(mtkahypar.initialize(1))
    library = _MTKAHYPAR[0]
    context = library.context_from_preset(mtkahypar.PresetType.DEFAULT)
    context.logging = False
    loaded = library.graph_from_file(name, context, mtkahypar.FileFormat.METIS)

    def partition(k: int, epsilon: float, seed: int) -> Any:
        mtkahypar.set_seed(seed)
        context.set_partitioning_parameters(k, epsilon, mtkahypar.Objective.CUT)
        return loaded.partition(context).get_partition()

    yield "Mt-KaHyPar default", partition


def _chszlablib(graph: viem.Graph, name: str) -> Iterator[tuple[str, Partitioner]]:
    import chszlablib

    xadj, adjncy, data, weights = graph.arrays()
    loaded = chszlablib.Graph.from_csr(xadj, adjncy, weights, data)

    def partition(k: int, epsilon: float, seed: int) -> Any:
        return chszlablib.Decomposition.partition(
            loaded, num_parts=k, mode="eco", imbalance=epsilon, seed=seed
        ).assignment

    yield "CHSZLabLib eco", partition


def meshes() -> Iterator[tuple[str, viem.Graph]]:
    """Triangulations and grids."""
    import networkx
    import scipy.spatial

    for count in (4000, 20000):
        points = np.random.default_rng(count).random((count, 2))
        sides = scipy.spatial.Delaunay(points).simplices
        edges = {tuple(sorted(map(int, side))) for a, b, c in sides for side in ((a, b), (b, c), (a, c))}
        yield f"delaunay{count}", viem.Graph(networkx.Graph(sorted(edges)))
    yield "grid100x80", viem.Graph(networkx.grid_2d_graph(100, 80))
    yield "torus20x20x20", viem.Graph(networkx.grid_graph((20, 20, 20), periodic=True))


def read(folder: str) -> Iterator[tuple[str, viem.Graph]]:
    for path in sorted(Path(folder).glob("*.graph*")):
        yield path.name.split(".")[0], viem.read(path)


def cut_and_excess(graph: viem.Graph, blocks: Any, k: int, epsilon: float) -> tuple[int, bool]:
    indptr, indices, data, weights = graph.arrays()
    blocks = np.asarray(blocks, dtype=np.int64)
    cut = int(data[blocks.repeat(np.diff(indptr)) != blocks[indices]].sum()) // 2
    loads = np.bincount(blocks, weights=weights, minlength=k)
    return cut, bool(loads.max() > (1 + epsilon) * math.ceil(weights.sum() / k) + 1e-6)


def partitions(graphs: Iterator[tuple[str, viem.Graph]], ks: list[int], epsilon: float, seeds: int) -> None:
    cuts: dict[str, list[int]] = {}
    seconds: dict[str, float] = {}
    exceeded: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        for title, graph in graphs:
            name = f"{folder}/{title}.graph"
            viem.write(name, graph)
            for peer, partition in peers(graph, name):
                for k in ks:
                    for seed in range(seeds):
                        begin = time.process_time()
                        blocks = partition(k, epsilon, seed)
                        seconds[peer] = seconds.get(peer, 0.0) + time.process_time() - begin
                        cut, exceeds = cut_and_excess(graph, blocks, k, epsilon)
                        cuts.setdefault(peer, []).append(cut)
                        exceeded[peer] = exceeded.get(peer, 0) + exceeds
    base = np.log(cuts["viem eco"])
    print("| | cut | seconds | outside the bound |\n|---|---|---|---|")
    for peer, found in cuts.items():
        ratio = math.exp(float((np.log(found) - base).mean()))
        print(f"| {peer} | {ratio:.3f} | {seconds[peer]:.1f} | {exceeded[peer]} of {len(found)} |")


def best_of_scipy(a: Any, b: Any, method: str, limit: float, first_seed: int = 0) -> int:
    """The best of as many runs as the time is enough for, and of one at least."""
    from scipy.optimize import quadratic_assignment

    begin, best, seed = time.perf_counter(), None, first_seed
    while best is None or time.perf_counter() - begin < limit:
        found = int(quadratic_assignment(a, b, method=method, options={"rng": np.random.default_rng(seed)}).fun)
        best = found if best is None else min(best, found)
        seed += 1
    return best


def problems(folder: str, most: int, largest: int, preset: Any) -> None:
    lines = [line.split("\t") for line in (Path(folder) / "best_known.tsv").read_text().splitlines()[1:]]
    known = {Path(line[0]).stem: int(line[2]) for line in lines}
    files = [path for path in sorted(Path(folder).glob("*.dat")) if path.stem in known]
    files = [path for path in files if len(viem.read(path, "qap")[0]) <= largest]
    chosen = files[:: max(1, len(files) // most)][:most]
    print(f"| problem | best known | viem {preset} | seconds | scipy faq | scipy 2opt |\n|---|---|---|---|---|---|")
    at_best = worse = 0
    for path in chosen:
        a, b = viem.read(path, "qap")
        begin = time.perf_counter()
        ours = int(viem.quadratic_assignment(a, b, preset=preset).fun)
        limit = time.perf_counter() - begin
        theirs = [best_of_scipy(a, b, method, limit) for method in ("faq", "2opt")]
        at_best += ours <= known[path.stem]
        worse += ours > min(theirs)
        print(f"| {path.stem} | {known[path.stem]} | {ours} | {limit:.2f} | {theirs[0]} | {theirs[1]} |", flush=True)
    print(f"\nviem is at the best known in {at_best} of {len(chosen)}, and worse than scipy in {worse}.")


def main() -> None:
    options = dict(argument.split("=", 1) for argument in sys.argv[1:])
    unknown = options.keys() - {"k", "epsilon", "seeds", "graphs", "qaplib", "problems", "largest", "preset"}
    if unknown:
        sys.exit(f"unknown: {', '.join(sorted(unknown))}\n{__doc__}")
    print(
        f"{time.strftime('%d %B %Y')}, {platform.processor() or platform.machine()}, Python {platform.python_version()}"
    )
    print(f"{' '.join(sys.argv)}, viem {viem.__version__}\n")
    ks = [int(k) for k in options.get("k", "8,64").split(",")]
    graphs = read(options["graphs"]) if "graphs" in options else meshes()
    partitions(graphs, ks, float(options.get("epsilon", "0.03")), int(options.get("seeds", "2")))
    if "qaplib" in options:
        print()
        most, largest = int(options.get("problems", "30")), int(options.get("largest", "60"))
        problems(options["qaplib"], most, largest, options.get("preset", "eco"))


if __name__ == "__main__":
    main()
