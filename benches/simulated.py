"""Simulations by SimGrid, and options, for the scripts in the folders here."""
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILDS = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
# Messages alone take time.
FLAGS = ["--cfg=smpi/simulate-computation:no", "--cfg=smpi/display-timing:yes"]


def options(arguments, defaults, script):
    """The options of a script as texts, which arguments KEY=VALUE set."""
    given = dict(defaults)
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if not equals or key not in given:
            sys.exit(f"no option is called `{key}`; see the head of {script}")
        given[key] = value
    return given


def seconds(name, arguments, **how):
    """The time that smpirun simulates with these arguments; `how` is for its process."""
    run = subprocess.run(["smpirun", *FLAGS, *map(str, arguments)], capture_output=True, text=True, check=False, **how)
    found = re.search(r"Simulated time: (\S+) seconds", run.stdout + run.stderr)
    if run.returncode or not found:
        sys.exit(f"{name}: the simulation failed:\n{run.stderr[-2000:]}")
    return float(found[1])
