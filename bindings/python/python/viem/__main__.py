"""The program `viem`: `python -m viem map job.graph -m 4:16:2`."""

from ._programs import viem

# The guard keeps tools that import every module from running the program.
if __name__ == "__main__":
    viem()
