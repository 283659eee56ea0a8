"""MPI jobs that reorder their ranks while they run, and graphs that are distributed over ranks; with mpi4py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, cast

import numpy as np

from ._distributed import Distributed, map_distributed, partition_distributed, remap_distributed
from ._graph import Graph, Ids, as_graph
from ._machine import Machine
from ._settings import Preset
from ._solve import map as _map

if TYPE_CHECKING:
    from mpi4py import MPI

__all__ = ["Distributed", "map_distributed", "partition_distributed", "remap_distributed", "reordered"]


def reordered(
    comm: MPI.Intracomm,
    traffic: Any = None,
    machine: Optional[Machine] = None,
    *,
    directed: bool = False,
    preset: Preset = "eco",
    seed: int = 0,
    threads: int = 1,
    time_limit: Optional[float] = None,
) -> MPI.Intracomm:
    """A communicator of the same processes whose ranks are numbered such that those that communicate heavily are close to each other.

    All processes of `comm` call it. Rank 0 computes the mapping. In the new communicator, rank u does what row u of `traffic` says.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
    traffic : graph of as many vertices as there are ranks, optional
        How much each two ranks communicate: whatever `viem.Graph` takes, only looked at on rank 0. Without, the topology of `comm`, which must be
        Cartesian, a graph or a distributed graph, and is not carried over.
    machine : viem.Machine, optional
        Its PE i is where rank i of `comm` is; only looked at on rank 0. By default, two ranks are at a distance of 1 on one host and of 10 on
        different hosts.

    The rest is as for `viem.map`. If rank 0 raises an error, all ranks do.

    Examples
    --------
    ::

        from mpi4py import MPI
        import viem

        grid = MPI.COMM_WORLD.Create_cart([8, 8], periods=[True, True])
        comm = viem.mpi.reordered(grid).Create_cart([8, 8], periods=[True, True], reorder=False)
    """
    rank = comm.Get_rank()
    edges = comm.gather(_neighbours(comm), root=0) if traffic is None else None
    hosts = comm.gather(_host(), root=0)
    order: Any = None
    if rank == 0:
        try:
            graph = _of_topology(edges) if edges is not None else as_graph(traffic, directed=directed)
            if machine is None:
                machine = _of_hosts(hosts or [])
            options = {"preset": preset, "seed": seed, "threads": threads, "time_limit": time_limit}
            order = _map(graph, machine, **options).process_on  # type: ignore[arg-type]
        except Exception as error:
            order = error
    order = comm.bcast(order, root=0)
    if isinstance(order, Exception):
        raise order
    # Rank u of the new communicator is the process on the PE of u, whose rank in `comm` is that PE.
    return cast("MPI.Intracomm", comm.Split(0, int(order[rank])))


def _host() -> str:
    from mpi4py import MPI

    return str(MPI.Get_processor_name())


def _neighbours(comm: MPI.Intracomm) -> list[tuple[int, int]]:
    """The ranks that this one sends to by the topology, each with a weight."""
    from mpi4py import MPI

    topology = comm.Get_topology()
    if topology == MPI.CART:
        cart: Any = comm
        steps = [cart.Shift(dimension, 1) for dimension in range(cart.Get_dim())]
        ranks = [rank for step in steps for rank in step if rank != MPI.PROC_NULL]
        return [(rank, 1) for rank in ranks]
    if topology == MPI.GRAPH:
        graph: Any = comm
        return [(rank, 1) for rank in graph.Get_neighbors(graph.Get_rank())]
    if topology == MPI.DIST_GRAPH:
        distributed: Any = comm
        _, targets, weights = distributed.Get_dist_neighbors()
        return list(zip(targets, [1] * len(targets) if weights is None else weights[1]))
    raise TypeError("the communicator has no topology: give the traffic")


def _of_topology(edges: list[list[tuple[int, int]]]) -> Graph:
    size = len(edges)
    sent: Ids = np.zeros((size, size), np.int64)
    for rank, row in enumerate(edges):
        for other, weight in row:
            sent[rank, other] += weight
    return as_graph(sent, directed=True)


def _of_hosts(hosts: list[str]) -> Machine:
    _, host_of = np.unique(hosts, return_inverse=True)
    distances = np.where(host_of[:, None] == host_of[None, :], 1, 10)
    np.fill_diagonal(distances, 0)
    return Machine.from_matrix(distances)
