"""Process mapping, graph partitioning and quadratic assignment.

=================================================  ==========================================
to                                                 use
=================================================  ==========================================
map the processes of a job, one per PE             `map`
map a mesh, many vertices per PE                   `map_many_to_one`
partition a graph                                  `partition`
adapt what was computed, with few moves            `remap`
score what is given                                `evaluate`
solve a quadratic assignment problem               `quadratic_assignment`
describe a machine, convert a graph once           `Machine`, `Graph`
read and write files, sum recorded traffic         `read`, `write`, `traffic`
simulate a mapping in time                         `simulate`, `Workload`
reorder the ranks of an MPI job                    `viem.mpi.reordered`
map a graph that is distributed over ranks         `viem.mpi.map_distributed`
=================================================  ==========================================

Examples
--------
>>> import numpy as np, viem
>>> traffic = np.ones((8, 8))
>>> mapping = viem.map(traffic, viem.Machine("4:2", distances="1:10"))
>>> mapping
Mapping(8 processes, 8 PEs, cost=344, cost_of_identity=344)
"""

from __future__ import annotations

import importlib
from importlib.metadata import version as _version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import mpi as mpi
    from ._errors import DataError, Error, InputError, InternalError, OutputError, ResourceError, UsageError
    from ._files import Mesh, Traffic, Workload, read, read_mesh, simulate, traffic, write
    from ._graph import Graph
    from ._machine import Machine
    from ._qap import quadratic_assignment
    from ._results import Launch, Mapping, Partition, Report, Simulation
    from ._solve import evaluate, map, map_many_to_one, partition, remap

__version__: str = _version("viem")

_MODULES = {
    "_errors": "DataError Error InputError InternalError OutputError ResourceError UsageError",
    "_files": "Mesh Traffic Workload read read_mesh simulate traffic write",
    "_graph": "Graph",
    "_machine": "Machine",
    "_qap": "quadratic_assignment",
    "_results": "Launch Mapping Partition Report Simulation",
    "_solve": "evaluate map map_many_to_one partition remap",
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = [
    "DataError",
    "Error",
    "Graph",
    "InputError",
    "InternalError",
    "Launch",
    "Machine",
    "Mapping",
    "Mesh",
    "OutputError",
    "Partition",
    "Report",
    "ResourceError",
    "Simulation",
    "Traffic",
    "UsageError",
    "Workload",
    "evaluate",
    "map",
    "map_many_to_one",
    "mpi",
    "partition",
    "quadratic_assignment",
    "read",
    "read_mesh",
    "remap",
    "simulate",
    "traffic",
    "write",
]


# The programs come with the package and start without numpy, so what needs it is imported when it is used.
def __getattr__(name: str) -> Any:
    if name == "mpi":
        return importlib.import_module("viem.mpi")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'viem' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"viem.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
