"""Graphs that are distributed over the ranks of an MPI job, by the C library `libviem_dist`."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Optional, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._errors import DataError, Error, InputError, InternalError, OutputError, ResourceError, UsageError
from ._graph import vector
from ._machine import PES, Machine
from ._settings import Imbalance, LeastLoad, Preset, Settings

if TYPE_CHECKING:
    from mpi4py import MPI

T = TypeVar("T")
Make = Callable[..., ctypes.c_void_p]

_PRESETS = ("fast", "eco", "strong")
_ERRORS = (UsageError, DataError, InputError, OutputError, OutputError, ResourceError, InternalError)
_UNKNOWN = -(1 << 63)
_COSTS = ("cost", "cost_of_identity", "cost_of_start", "lower_bound", "cut")
_LOADS = ("least", "greatest", "bound", "overload", "below_half", "below_least", "shortfall", "empty")
_MIGRATION = ("vertices", "weight")
_REPORT = np.dtype(
    [
        *((name, "i8") for name in _COSTS),
        ("loads", [(name, "i8") for name in _LOADS]),
        ("in_pieces", "i8"),
        ("migration", [(name, "i8") for name in _MIGRATION]),
        ("seconds", "f8"),
        ("stopped", "i4"),
        ("optimal", "i4"),
    ]
)
"""The fields of `viem_report`."""
_ARRAYS = ("vtxdist", "xadj", "adjncy", "vwgt", "adjwgt")
_GRAPH = np.dtype([*((name, "u8") for name in _ARRAYS), ("bits", "i4"), ("num_weights", "i4")], align=True)
"""The fields of `viem_dist_graph`: addresses of arrays, the bits of their entries, and the number of weights of each vertex."""

_Limits = tuple[Imbalance, LeastLoad, Optional[ArrayLike]]
"""Imbalance, least load and capacities."""


class Distributed(NamedTuple):
    """The blocks of a distributed graph."""

    places: NDArray[np.int32]
    """The PE, or block, of each vertex of this rank."""
    report: dict[str, Any]
    """The same on all ranks, but for the time: `cost` (J, or the cut), `cut`, `loads` (a dict with `least`, `greatest`, `bound`, `overload`, `below_half`,
    `below_least`, `shortfall`; of several weights, by the one whose bound is exceeded most, or comes nearest to it), `migration` of a remapping (with `weight`), `seconds`."""


def _known(report: NDArray[Any], names: Iterable[str]) -> dict[str, Any]:
    """The fields of a report of which something is known."""
    values = {name: report[name][0].item() for name in names}
    return {name: value for name, value in values.items() if value != _UNKNOWN}


def _known_of_all(report: NDArray[Any]) -> dict[str, Any]:
    """The report of a distributed result."""
    migration = _known(report["migration"], _MIGRATION)
    return {
        **_known(report, _COSTS),
        "loads": _known(report["loads"], _LOADS),
        **({"migration": migration} if migration else {}),
        "seconds": report["seconds"][0].item(),
    }


class _Rank(NamedTuple):
    """The arrays of this rank, as the library takes them."""

    library: ctypes.CDLL
    xadj: NDArray[np.int64]
    adjncy: NDArray[np.int64]
    weights: Optional[NDArray[np.int64]]
    num_weights: int
    edge_weights: Optional[NDArray[np.int64]]
    fixed: Optional[NDArray[np.int32]]
    old: Optional[NDArray[np.int32]]
    settings: Settings


def map_distributed(
    comm: MPI.Intracomm,
    graph: tuple[ArrayLike, ...],
    machine: Machine,
    *,
    weights: Optional[ArrayLike] = None,
    fixed: Optional[ArrayLike] = None,
    imbalance: Imbalance = 0.03,
    least_load: LeastLoad = 0.0,
    capacities: Optional[ArrayLike] = None,
    preset: Preset = "eco",
    seed: int = 0,
    threads: int = 1,
) -> Distributed:
    """Maps a graph that is distributed over the ranks of `comm` to the PEs of a machine, many vertices to each, such that J is small.

    All ranks call it, with the same machine and settings. If something is wrong on one, all raise its error. The result is the same for any
    number of ranks.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
    graph : tuple `(indptr, indices)` or `(indptr, indices, data)`
        The rows of this rank, as ParMETIS has them: vertices have global numbers, and those of rank r follow those of rank r - 1. Each edge
        is in the rows of both its ends. The weights of edges, `data`, are given on all ranks or none.
    machine : viem.Machine
    weights : array of n numbers, or with n rows of c numbers, optional
        Weights of the vertices of this rank, 1 by default. The rows of a matrix are several weights of each vertex, such as time and memory, which are all
        balanced.
    fixed : array of n numbers, optional
        The PE where each vertex of this rank must be, or -1 if it is free, as all are by default.

    The rest is as for `viem.map_many_to_one`; the preset is `"fast"`, `"eco"` or `"strong"`.

    Notes
    -----
    The library `libviem_dist.so` does the work: `make -C bindings/mpi install_distributed` installs it, with the MPI of mpi4py. It is loaded from
    where the environment variable VIEM_DIST_LIBRARY says, else from where the system finds libraries.

    Examples
    --------
    ::

        from mpi4py import MPI
        import viem

        rows = (indptr, indices)  # of the vertices of this rank
        pes = viem.mpi.map_distributed(MPI.COMM_WORLD, rows, viem.Machine("4:16", distances="1:10")).places
    """
    limits = (imbalance, least_load, capacities)
    settings = (preset, seed, threads)
    return _divide(comm, "map", lambda: _rank(graph, weights, fixed, None, limits, settings), machine=machine)


def partition_distributed(
    comm: MPI.Intracomm,
    graph: tuple[ArrayLike, ...],
    num_blocks: int,
    *,
    weights: Optional[ArrayLike] = None,
    fixed: Optional[ArrayLike] = None,
    imbalance: Imbalance = 0.03,
    least_load: LeastLoad = 0.0,
    capacities: Optional[ArrayLike] = None,
    preset: Preset = "eco",
    seed: int = 0,
    threads: int = 1,
) -> Distributed:
    """The same for blocks of equal weight with a small cut, `num_blocks` of them. No more than there are vertices; none is empty."""
    limits = (imbalance, least_load, capacities)
    settings = (preset, seed, threads)
    return _divide(
        comm, "partition", lambda: _rank(graph, weights, fixed, None, limits, settings), num_blocks=num_blocks
    )


def remap_distributed(
    comm: MPI.Intracomm,
    graph: tuple[ArrayLike, ...],
    old: ArrayLike,
    migration_weight: float,
    *,
    machine: Optional[Machine] = None,
    num_blocks: Optional[int] = None,
    weights: Optional[ArrayLike] = None,
    fixed: Optional[ArrayLike] = None,
    imbalance: Imbalance = 0.03,
    least_load: LeastLoad = 0.0,
    capacities: Optional[ArrayLike] = None,
    preset: Preset = "eco",
    seed: int = 0,
    threads: int = 1,
) -> Distributed:
    """The same from where the vertices are: minimises J, or the cut, plus `migration_weight` times the weight of those that move.

    `old` has the PE, or block, where each vertex of this rank is, or -1 for a new one. Either a machine or a number of blocks is given.
    """
    limits = (imbalance, least_load, capacities)
    settings = (preset, seed, threads)

    def rank() -> _Rank:
        if (machine is None) == (num_blocks is None):
            raise UsageError("either a machine or a number of blocks is given")
        return _rank(graph, weights, fixed, old, limits, settings)

    return _divide(comm, "remap", rank, machine=machine, num_blocks=num_blocks or 0, migration_weight=migration_weight)


def _rank(
    graph: tuple[ArrayLike, ...],
    weights: Optional[ArrayLike],
    fixed: Optional[ArrayLike],
    old: Optional[ArrayLike],
    limits: _Limits,
    settings: tuple[str, int, int],
) -> _Rank:
    """The arrays of this rank, checked as far as the library cannot."""
    imbalance, least_load, capacities = limits
    preset, seed, threads = settings
    if preset not in _PRESETS:
        raise UsageError(f'the preset of distributed graphs is {preset!r}; it must be "fast", "eco" or "strong"')
    if not isinstance(graph, tuple) or len(graph) not in (2, 3):
        raise UsageError("the rows of a rank are a tuple (indptr, indices) or (indptr, indices, data)")
    xadj, adjncy = (_whole(name, values, np.int64) for name, values in zip(("indptr", "indices"), graph))
    count = len(xadj) - 1
    if count < 0:
        raise UsageError("`indptr` has no entry; it has one more than this rank has vertices")
    num_arcs = int(xadj[-1])
    edge_weights = _whole("data", graph[2], np.int64) if len(graph) == 3 else None
    num_weights, weights = _flat(weights)
    own = {"weights": weights, "fixed": fixed, "old": old}
    types = {"weights": np.int64, "fixed": np.int32, "old": np.int32}
    arrays = {name: None if values is None else _whole(name, values, types[name]) for name, values in own.items()}
    lengths = {"indices": (adjncy, num_arcs), "data": (edge_weights, num_arcs)}
    counts = {"weights": num_weights * count, "fixed": count, "old": count}
    lengths.update((name, (array, counts[name])) for name, array in arrays.items())
    for name, (array, expected) in lengths.items():
        if array is not None and len(array) != expected:
            raise DataError(f"`{name}` has {len(array)} entries, not {expected}")
    return _Rank(
        _library(),
        xadj,
        adjncy,
        cast("Optional[NDArray[np.int64]]", arrays["weights"]),
        num_weights,
        edge_weights,
        cast("Optional[NDArray[np.int32]]", arrays["fixed"]),
        cast("Optional[NDArray[np.int32]]", arrays["old"]),
        Settings(preset, seed, threads).balanced(num_weights, imbalance, least_load=least_load, capacities=capacities),
    )


def _flat(weights: Optional[ArrayLike]) -> tuple[int, Optional[ArrayLike]]:
    """The number of weights of each vertex, and those of one vertex after the other."""
    array = None if weights is None else np.asarray(weights)
    if array is None or array.ndim != 2:
        return 1, weights
    return array.shape[1], array.reshape(-1)


def _whole(name: str, values: ArrayLike, kind: Any) -> NDArray[Any]:
    """An array of whole numbers of one type, side by side in memory."""
    array = vector(name, values)
    with np.errstate(invalid="ignore"):
        whole = np.ascontiguousarray(array, dtype=kind)
    differs = np.flatnonzero(whole != array)
    if len(differs):
        index = int(differs[0])
        bits = 8 * whole.itemsize
        raise DataError(
            f"entry {index} of `{name}` is {array[index]}, which is not a whole number of {bits} bits", index=index
        )
    return whole


def _library() -> ctypes.CDLL:
    name = os.environ.get("VIEM_DIST_LIBRARY", "libviem_dist.so")
    try:
        library = ctypes.CDLL(name)
    except OSError as error:
        message = f"{name} cannot be loaded ({error}); `make -C bindings/mpi install_distributed` installs it, and VIEM_DIST_LIBRARY says where it is"
        raise InputError(message, file=name) from None
    _check_mpi(library, name)
    library.viem_error_message.restype = ctypes.c_char_p
    library.viem_error_index.restype = ctypes.c_int64
    return library


def _check_mpi(library: ctypes.CDLL, name: str) -> None:
    """Refuses a library whose MPI is not that of mpi4py: handles of one mean nothing to the other."""
    from mpi4py import MPI

    is_initialised = ctypes.c_int()
    library.MPI_Initialized(ctypes.byref(is_initialised))
    if MPI.Is_initialized() and not is_initialised.value:
        own = MPI.Get_library_version().splitlines()[0]
        raise UsageError(
            f"{name} was built with another MPI than mpi4py, which has {own}; build it with that one's mpicc"
        )


def _divide(
    comm: MPI.Intracomm,
    kind: str,
    rank: Callable[[], _Rank],
    machine: Optional[Machine] = None,
    num_blocks: int = 0,
    migration_weight: float = 0.0,
) -> Distributed:
    """Prepares a call on all ranks, then makes it."""
    own = _agreed(comm, rank)
    library = own.library
    counts = comm.allgather(len(own.xadj) - 1)
    vtxdist = np.cumsum([0, *counts], dtype=np.int64)
    blocks = np.empty(len(own.xadj) - 1, np.int32)
    graph = np.zeros(1, _GRAPH)
    for name, array in zip(_ARRAYS, (vtxdist, own.xadj, own.adjncy, own.weights, own.edge_weights)):
        graph[name] = _address(array).value or 0
    graph["bits"], graph["num_weights"] = 64, own.num_weights
    report = np.zeros(1, _REPORT)
    with ExitStack() as stack:
        make = partial(_make, stack, library)
        settings, its_machine = _agreed(comm, lambda: (_settings(make, library, own.settings), _machine(make, machine)))
        goal = {
            "map": (its_machine,),
            "partition": (ctypes.c_int64(num_blocks),),
            "remap": (its_machine, ctypes.c_int64(num_blocks), _address(own.old), ctypes.c_double(migration_weight)),
        }[kind]
        call = getattr(library, f"viem_dist_{kind}")
        _checked(
            library,
            call,
            _handle_of(comm),
            _address(graph),
            *goal,
            _address(own.fixed),
            settings,
            _address(blocks),
            _address(report),
        )
    return Distributed(blocks, _known_of_all(report))


def _agreed(comm: MPI.Intracomm, work: Callable[[], T]) -> T:
    """The result of `work`; if it fails on a rank, the error of the first such rank on all."""
    error: Optional[Exception] = None
    try:
        made = work()
    except Exception as found:
        error = found
    for other in comm.allgather(error):
        if other is not None:
            raise other
    return made


def _address(array: Optional[NDArray[Any]]) -> ctypes.c_void_p:
    return ctypes.c_void_p(None if array is None else array.ctypes.data)


def _handle_of(comm: MPI.Intracomm) -> Any:
    """The communicator as C has it: a pointer or a number, as the MPI has them."""
    from mpi4py import MPI

    kind: Any = ctypes.c_void_p if MPI._sizeof(MPI.Comm) == ctypes.sizeof(ctypes.c_void_p) else ctypes.c_int
    return kind.from_address(MPI._addressof(comm))


def _checked(library: ctypes.CDLL, call: Any, *arguments: Any) -> None:
    """Calls a function of the library, and raises its error."""
    error = ctypes.c_void_p()
    status = call(*arguments, ctypes.byref(error))
    if status == 0:
        return
    message = library.viem_error_message(error).decode()
    index = library.viem_error_index(error)
    library.viem_error_free(error)
    kind: type[Error] = _ERRORS[status - 1]
    raise kind(message, index=index if index >= 0 else None)


def _make(stack: ExitStack, library: ctypes.CDLL, kind: str, suffix: str, *arguments: Any) -> ctypes.c_void_p:
    """A handle of the library, which is freed with the stack."""
    handle = ctypes.c_void_p()
    _checked(library, getattr(library, f"viem_{kind}_{suffix}"), *arguments, ctypes.byref(handle))
    stack.callback(getattr(library, f"viem_{kind}_free"), handle)
    return handle


def _settings(make: Make, library: ctypes.CDLL, settings: Settings) -> ctypes.c_void_p:
    handle = make("settings", "new", ctypes.c_int(_PRESETS.index(settings.preset)))

    def put(name: str, *values: Any) -> None:
        _checked(library, getattr(library, f"viem_settings_set_{name}"), handle, *values)

    put("seed", ctypes.c_uint64(settings.seed))
    put("threads", ctypes.c_int64(settings.threads))
    imbalances, shares = settings.imbalances, settings.least_shares
    count = max(len(imbalances), len(shares))
    if count == 1:
        put("imbalance", ctypes.c_double(imbalances[0]))
        put("least_load", ctypes.c_double(shares[0]))
    else:
        each = [np.array(values * (count if len(values) == 1 else 1), float) for values in (imbalances, shares)]
        if len(each[0]) != len(each[1]):
            raise UsageError(f"there are {len(each[0])} imbalances, but {len(each[1])} least loads")
        put("limits_of_weights", ctypes.c_int64(count), *map(_address, each))
    tables = (("least_loads", settings.least_loads, np.int64), ("capacities", settings.capacities, np.uint32))
    for name, lists, kind in tables:
        if lists:
            table = _whole(name, np.stack(lists, axis=1).reshape(-1), kind)
            put(f"{name}_of_weights", ctypes.c_int64(len(lists)), ctypes.c_int64(len(lists[0])), _address(table))
    return handle


def _machine(make: Make, machine: Optional[Machine]) -> Optional[ctypes.c_void_p]:
    """The machine in the library for distributed graphs: by its text, or by the distances of all pairs. None for blocks."""
    if machine is None:
        return None
    if not isinstance(machine, Machine):
        raise TypeError(f"the machine must be a viem.Machine, not {type(machine).__name__}")
    if machine._text is not None:
        given = machine._text
        spec, distances, pes, latency, link_cycles = (
            ctypes.c_char_p(None if text is None else os.fsencode(text))
            for text in (given.spec, given.distances, given.pes, given.latency, given.link_cycles)
        )
        pe = ctypes.c_int(PES.index(given.pe))
        handle = make("machine", "from_text", spec, distances, pes, pe, latency, link_cycles)
    else:
        matrix = np.ascontiguousarray(machine.distances(), np.int64)
        handle = make("machine", "from_matrix", ctypes.c_int64(machine.num_pes), _address(matrix))
    capacities = np.ascontiguousarray(machine.capacities, np.uint32)
    if (capacities != 1).any():
        count = ctypes.c_int64(len(capacities))
        handle = make("machine", "with_capacities", handle, count, _address(capacities))
    return handle
