"""The documentation is tried: docstrings, the guide, the README, the notebook; and the types."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import viem

ROOT = Path(__file__).parents[3]
PACKAGE = Path(viem.__path__[0])
MODULES = ["viem", *(f"viem.{module.name}" for module in pkgutil.iter_modules(viem.__path__))]


@pytest.mark.parametrize("name", [name for name in MODULES if name != "viem._viem"])
def test_docstrings(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("document", ["README.md", "bindings/python/README.md", "docs/guide/python.md"])
def test_code_of_documents(document, tmp_path, monkeypatch):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(), re.DOTALL)
    assert blocks, document
    (tmp_path / "instances").symlink_to(ROOT / "instances")
    monkeypatch.chdir(tmp_path)
    scope: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, document, "exec"), scope)


def test_notebook(tmp_path):
    import nbclient
    import nbformat

    notebook = nbformat.read(ROOT / "bindings/python/examples/viem.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("image/svg+xml" in output.get("data", {}) for output in outputs)


def test_public_docstrings_have_examples():
    for name in viem.__all__:
        value = getattr(viem, name)
        is_exception = isinstance(value, type) and issubclass(value, viem.Error) and value is not viem.Error
        if is_exception or name in (
            "InternalError",
            "Launch",
            "Mapping",
            "Mesh",
            "Partition",
            "Simulation",
            "Traffic",
            "mpi",
        ):
            continue
        assert ">>>" in value.__doc__, name


def test_types(tmp_path):
    environment = {**os.environ, "MYPY_CACHE_DIR": str(tmp_path)}
    strict = [sys.executable, "-m", "mypy", "--strict", "-p", "viem"]
    done = subprocess.run(strict, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stdout
    allowed = Path(__file__).with_name("stubtest.txt")
    stubs = [sys.executable, "-m", "mypy.stubtest", "viem", f"--allowlist={allowed}"]
    done = subprocess.run(stubs, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stdout
    user = tmp_path / "user.py"
    user.write_text(
        "import viem\n"
        "mapping = viem.map([[0, 1], [1, 0]], viem.Machine(mesh=(2,)), preset='eco')\n"
        "reveal_type(mapping.pe)\nreveal_type(mapping.cost)\n"
        "viem.evaluate([[0]], 1, [0]).cut\n"
        "viem.remap([[0]], viem.Machine(mesh=(2,)), [0], preset='fast').cost\n"
        "viem.map([[0]], 3)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", str(user)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
    )
    assert "numpy.ndarray" in done.stdout and 'int"' in done.stdout
    assert done.stdout.count("error:") == 1
