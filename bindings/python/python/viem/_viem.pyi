"""The extension module, in Rust: numbers and arrays only. What users call is in the modules beside it."""

from os import PathLike
from typing import Optional, Union, final

import numpy as np
from numpy.typing import NDArray

from ._settings import Settings

__all__ = [
    "Graph",
    "Machine",
    "Workload",
    "busiest",
    "check_qap",
    "evaluate",
    "evaluate_partition",
    "loads",
    "map",
    "map_many_to_one",
    "partition",
    "picture",
    "read_graph",
    "read_mapping",
    "read_mesh",
    "read_qap",
    "read_traffic",
    "remap",
    "run_program",
    "simulate",
    "solve_qap",
    "traffic_by_distance",
    "write_decomposition",
    "write_graph",
    "write_launch",
    "write_mapping",
    "write_qap",
]

_Path = Union[str, PathLike[str]]
_Numbers = Union[NDArray[np.integer], NDArray[np.floating]]
_Ids = NDArray[np.int64]
_Found = tuple[_Ids, int, str]

@final
class Graph:
    @staticmethod
    def from_csr(
        indptr: _Numbers,
        indices: _Numbers,
        data: Optional[_Numbers],
        weights: Optional[_Numbers],
        directed: bool,
    ) -> Graph: ...
    @staticmethod
    def from_edges(
        num_vertices: int,
        sources: _Numbers,
        targets: _Numbers,
        data: Optional[_Numbers],
        weights: Optional[_Numbers],
    ) -> Graph: ...
    @staticmethod
    def from_dense(matrix: _Numbers, weights: Optional[_Numbers], directed: bool) -> Graph: ...
    @property
    def num_vertices(self) -> int: ...
    @property
    def num_edges(self) -> int: ...
    @property
    def total_weight(self) -> int: ...
    @property
    def num_weights(self) -> int: ...
    def with_weights(self, weights: _Numbers) -> Graph: ...
    def arrays(self) -> tuple[_Ids, _Ids, _Ids, _Ids]: ...

@final
class Machine:
    @staticmethod
    def build(
        spec: str,
        distances: Optional[str],
        pes: Optional[str],
        pe: str,
        latency: Optional[_Path],
        link_cycles: Optional[_Path],
    ) -> Machine: ...
    @staticmethod
    def from_matrix(distances: _Numbers) -> Machine: ...
    @staticmethod
    def from_network(graph: Graph) -> Machine: ...
    def with_capacities(self, capacities: _Numbers) -> Machine: ...
    @property
    def num_pes(self) -> int: ...
    @property
    def room(self) -> int: ...
    @property
    def description(self) -> str: ...
    def capacities(self) -> _Ids: ...
    def distances(self, rows: _Numbers, columns: _Numbers) -> _Ids: ...

@final
class Workload:
    @staticmethod
    def read(path: _Path) -> Workload: ...
    @staticmethod
    def of_graph(graph: Graph) -> Workload: ...
    def write(self, path: _Path) -> None: ...
    def graph(self) -> Graph: ...
    @property
    def num_tasks(self) -> int: ...
    @property
    def num_messages(self) -> int: ...

def map(
    graph: Graph,
    machine: Machine,
    start: Optional[_Numbers],
    fixed: Optional[_Numbers],
    settings: Settings,
) -> _Found: ...
def map_many_to_one(
    graph: Graph,
    machine: Machine,
    start: Optional[_Numbers],
    fixed: Optional[_Numbers],
    settings: Settings,
) -> _Found: ...
def remap(
    graph: Graph,
    machine: Machine,
    old: _Numbers,
    migration_weight: float,
    fixed: Optional[_Numbers],
    settings: Settings,
) -> _Found: ...
def evaluate(
    graph: Graph, machine: Machine, pes: _Numbers, many_to_one: bool, settings: Settings
) -> tuple[int, Optional[str]]: ...
def partition(
    graph: Graph,
    num_blocks: int,
    shares: Optional[_Numbers],
    old: Optional[_Numbers],
    migration_weight: float,
    fixed: Optional[_Numbers],
    settings: Settings,
) -> _Found: ...
def evaluate_partition(
    graph: Graph,
    num_blocks: int,
    shares: Optional[_Numbers],
    blocks: _Numbers,
    settings: Settings,
) -> _Found: ...
def check_qap(a: _Numbers, b: _Numbers) -> None: ...
def solve_qap(
    a: _Numbers, b: _Numbers, start: Optional[_Numbers], fixed: Optional[_Numbers], settings: Settings
) -> _Found: ...
def read_qap(path: _Path) -> tuple[int, _Ids, _Ids, list[str]]: ...
def write_qap(path: _Path, a: _Numbers, b: _Numbers) -> None: ...
def read_mesh(
    path: _Path, common: Optional[int], nodal: bool, element_weights: list[tuple[str, int]]
) -> tuple[Graph, Optional[NDArray[np.float64]], list[tuple[str, int]], list[tuple[str, int]]]: ...
def write_decomposition(path: _Path, parts: _Numbers) -> None: ...
def read_graph(path: _Path) -> tuple[Graph, list[str]]: ...
def write_graph(path: _Path, graph: Graph) -> None: ...
def read_mapping(path: _Path) -> _Ids: ...
def write_mapping(path: _Path, pes: _Numbers) -> None: ...
def read_traffic(
    paths: list[_Path],
    kind: Optional[str],
    weight: str,
    ranks: Optional[int],
    include: Optional[list[str]],
    renumber: bool,
    nics: Optional[int],
) -> tuple[Graph, str, Optional[list[int]], list[str]]: ...
def write_launch(kind: str, machine: Machine, pes: _Numbers, folder: _Path) -> tuple[list[str], Optional[str]]: ...
def busiest(graph: Graph, machine: Machine, pes: _Numbers) -> str: ...
def loads(graph: Graph, machine: Machine, pes: _Numbers, many_to_one: bool) -> str: ...
def traffic_by_distance(graph: Graph, machine: Machine, pes: _Numbers) -> str: ...
def picture(graph: Graph, machine: Machine, pes: _Numbers, many_to_one: bool) -> str: ...
def simulate(
    workload: Workload,
    machine: Machine,
    pes: _Numbers,
    costs: tuple[int, int],
    fair: Optional[int],
    settings: Settings,
) -> str: ...
def run_program(name: str, command_line: list[str]) -> None: ...
