"""The programs as scripts: they behave as the native ones do, in options, files, signals and exit codes."""

from __future__ import annotations

import os
import signal
import sys

from viem import _viem


def _run(name: str) -> None:
    # A file that is opened must not take the number of a closed stream. The extension has seen which are closed when it was imported.
    for stream in range(3):
        try:
            os.fstat(stream)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    # Python's own handler would only set a flag that is not looked at. A signal that was ignored when the process started stays ignored.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    _viem.run_program(name, [name, *sys.argv[1:]])


def viem() -> None:
    """Maps, partitions, scores: the program `viem` with its verbs."""
    _run("viem")


def evaluator() -> None:
    """Scores a mapping as VieM does: the program `evaluator`."""
    _run("evaluator")


def generate_model() -> None:
    """Partitions a graph as VieM does: the program `generate_model`."""
    _run("generate_model")


def graphchecker() -> None:
    """Checks a graph file as VieM does: the program `graphchecker`."""
    _run("graphchecker")
