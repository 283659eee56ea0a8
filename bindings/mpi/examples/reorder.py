"""Ranks that communicate with those half a job away get places beside each other.

    mpirun -n 8 -x VIEM_MACHINE=2:2:2 -x VIEM_DISTANCES=1:10:100 python reorder.py $HOME/.local/lib/libviem_reorder.so
"""

import ctypes
import sys

from mpi4py import MPI


class Report(ctypes.Structure):
    _fields_ = [("cost_before", ctypes.c_int64), ("cost_after", ctypes.c_int64), ("is_reordered", ctypes.c_int32)]


library = ctypes.CDLL(sys.argv[1])


def reorder(comm, weight_of):
    """A communicator of the same processes; `weight_of` has the bytes for each rank that this one sends to."""
    ranks = (ctypes.c_int * len(weight_of))(*weight_of)
    weights = (ctypes.c_int64 * len(weight_of))(*weight_of.values())
    report, made = Report(), ctypes.c_int()
    status = library.viem_MPI_Comm_reorder_adjacent_f(
        ctypes.c_int(comm.py2f()), len(weight_of), ranks, weights, ctypes.byref(report), ctypes.byref(made)
    )
    if status != MPI.SUCCESS:
        raise MPI.Exception(status)
    return MPI.Comm.f2py(made.value), report


world = MPI.COMM_WORLD
comm, report = reorder(world, {(world.rank + world.size // 2) % world.size: 1000})
if comm.rank == 0:
    print(f"J falls from {report.cost_before} to {report.cost_after}")
comm.Free()
