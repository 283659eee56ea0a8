"""Tests of whole processes: signals, the programs, MPI, types, the documentation."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import viem

ROOT = Path(__file__).parents[3]
SCRIPTS = Path(sys.executable).parent
GRAPH = ROOT / "instances" / "gromacs_water_pme_128.msgs.graph"
MACHINE = ["--machine=4:16:2", "--distances=1:10:100"]

RUN = """
import sys, viem
graph = viem.read({graph!r})
machine = viem.Machine("4:16:2", distances="1:10:100")
print("begin", flush=True)
mapping = viem.map(graph, machine, preset="strong", time_limit=60, threads={threads}, on_interrupt={on!r})
print(mapping.stopped, mapping.cost <= mapping.cost_of_identity)
"""


def interrupted(code: list[str], **options) -> tuple[int, str, str, float]:
    """Starts a process, sends SIGINT after it has printed a line, and returns how it ended and how long that took."""
    process = subprocess.Popen(
        code,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell that runs the tests in the background lets them ignore SIGINT.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **options,
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.3)
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    return process.returncode, out, err, time.monotonic() - begin


@pytest.mark.parametrize("threads", [1, 2])
def test_interrupt_raises(threads):
    code = RUN.format(graph=str(GRAPH), threads=threads, on="raise")
    status, _, err, seconds = interrupted([sys.executable, "-c", code])
    assert status != 0 and "KeyboardInterrupt" in err and seconds < 5


def test_interrupt_returns_the_best():
    code = RUN.format(graph=str(GRAPH), threads=1, on="return")
    status, out, err, seconds = interrupted([sys.executable, "-c", code])
    assert (status, out.strip()) == (0, "True True"), err
    assert seconds < 5


def run(*arguments: object, **options) -> subprocess.CompletedProcess[str]:
    command = [str(SCRIPTS / str(arguments[0])), *map(str, arguments[1:])]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


def test_programs_are_installed(tmp_path):
    for name in ("viem", "evaluator", "generate_model", "graphchecker"):
        found = run(name, "--version")
        assert (found.returncode, found.stdout) == (0, f"{name} {viem.__version__}\n")
    done = run("viem", "map", GRAPH, *MACHINE, "--output=p", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    pe = viem.read(tmp_path / "p", "mapping")
    ours = viem.map(viem.read(GRAPH), viem.Machine("4:16:2", distances="1:10:100"))
    assert (pe == ours.pe).all()
    scored = run("viem", "score", GRAPH, "p", *MACHINE, cwd=tmp_path)
    assert str(ours.cost) in scored.stdout


def test_programs_end_as_the_native_ones(tmp_path):
    wrong = run("viem", "--nonsense")
    assert (wrong.returncode, wrong.stdout) == (2, "") and "--nonsense" in wrong.stderr
    assert run("graphchecker", tmp_path / "missing").returncode == 66
    (tmp_path / "bad").write_text("2 1\n2\n1 x\n")
    assert run("graphchecker", tmp_path / "bad").returncode == 65
    full = run("graphchecker", "/dev/stdin", input="2 1\n2\n1\n")
    assert full.returncode == 0
    if os.path.exists("/dev/full"):
        assert run("viem", "map", GRAPH, *MACHINE, "--output=/dev/full").returncode in (73, 74)
    lost = f"{SCRIPTS / 'viem'} map {GRAPH} {' '.join(MACHINE)} --output=- >&-"
    assert subprocess.run(["bash", "-c", lost], capture_output=True).returncode == 73
    quiet = f"{SCRIPTS / 'viem'} map {GRAPH} {' '.join(MACHINE)} --output={tmp_path / 'p'} >&- 2>&-"
    assert subprocess.run(["bash", "-c", quiet], capture_output=True).returncode == 0
    assert len(viem.read(tmp_path / "p", "mapping")) == 128
    piped = f"{SCRIPTS / 'viem'} --man | head -n 1; exit ${{PIPESTATUS[0]}}"
    assert subprocess.run(["bash", "-c", piped], capture_output=True).returncode == 0


def test_an_interrupted_program_ends_by_the_signal(tmp_path):
    command = [str(SCRIPTS / "viem"), "map", str(GRAPH), *MACHINE, "--preset=strong", "--time-limit=60"]
    status, _, err, seconds = interrupted([*command, f"--output={tmp_path / 'p'}"])
    assert status == -signal.SIGINT, err
    assert seconds < 5 and len((tmp_path / "p").read_text().split()) == 128


def test_programs_start_without_numpy():
    code = "import sys, viem._programs; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_names():
    assert set(viem.__all__) <= set(dir(viem))
    for name in viem.__all__:
        assert getattr(viem, name).__doc__, name
    with pytest.raises(AttributeError):
        _ = viem.nothing
    assert viem.__version__ == "2.0.0"


REORDER = """
from mpi4py import MPI
import numpy as np, viem
comm = MPI.COMM_WORLD
n, rank = comm.size, comm.rank
# Rank i talks to rank i + n/2; hosts are pairs of neighbours.
traffic = np.zeros((n, n), int)
for i in range(n // 2):
    traffic[i, i + n // 2] = traffic[i + n // 2, i] = 9
machine = viem.Machine((2, n // 2), distances=(1, 10))
new = viem.mpi.reordered(comm, traffic, machine)
olds = new.allgather(rank)
assert sorted(olds) == list(range(n)) and new.allgather(new.rank) == list(range(n))
assert all(olds[i] // 2 == olds[i + n // 2] // 2 for i in range(n // 2)), olds
cart = comm.Create_cart([n // 2, 2], periods=[True, False])
assert viem.mpi.reordered(cart).size == n
ring = comm.Create_dist_graph_adjacent([(rank - 1) % n], [(rank + 1) % n])
assert viem.mpi.reordered(ring).size == n
try:
    viem.mpi.reordered(comm, traffic, viem.Machine(mesh=[2]))
except viem.Error:
    if rank == 0: print("good")
"""


def test_mpi(tmp_path):
    mpirun = shutil.which("mpirun", path=f"{SCRIPTS}:{os.environ['PATH']}")
    try:
        import mpi4py.MPI  # noqa: F401
    except (ImportError, RuntimeError):
        mpirun = None
    if mpirun is None:
        if os.environ.get("VIEM_REQUIRE_TOOLS"):
            pytest.fail("mpi4py and an MPI are missing")
        pytest.skip("mpi4py and an MPI are missing")
    script = tmp_path / "reorder.py"
    script.write_text(textwrap.dedent(REORDER))
    command = [mpirun, "--allow-run-as-root", "--oversubscribe", "-n", "8", sys.executable, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "good" in done.stdout, done.stderr
