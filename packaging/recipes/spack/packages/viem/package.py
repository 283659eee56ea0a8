# Copyright Spack Project Developers. See COPYRIGHT file for details.
#
# SPDX-License-Identifier: (Apache-2.0 OR MIT)

from spack.package import *


class Viem(Package):
    """Process mapping, graph partitioning and quadratic assignment: places processes that communicate heavily close to each other."""

    url = "@URL@/viem-@VERSION@.tar.gz"

    license("MIT")

    version("@VERSION@", sha256="@SHA256@")

    variant("c", default=True, description="The libraries for C, C++ and Fortran, and stand-ins for METIS and KaHIP")
    variant("mpi", default=False, description="The libraries that reorder the ranks of MPI jobs", when="+c")

    depends_on("c", type="build")
    depends_on("fortran", type="build", when="+c")
    depends_on("rust@1.88:", type="build")
    depends_on("gmake", type="build")
    depends_on("mpi", when="+mpi")

    def install(self, spec, prefix):
        cargo = Executable("cargo")
        cargo("build", "--locked", "--release", "-p", "viem-cli")
        Executable("packaging/install-programs")("target/release", prefix)
        if spec.satisfies("+c"):
            make("-C", "bindings/c", "install", f"PREFIX={prefix}", f"FC={spack_fc}")
        if spec.satisfies("+mpi"):
            make("-C", "bindings/mpi", "install", f"PREFIX={prefix}", f"MPICC={spec['mpi'].mpicc}")

    def test_program(self):
        """maps four processes to two nodes"""
        with open("ring.graph", "w") as graph:
            graph.write("4 4\n2 4\n1 3\n2 4\n1 3\n")
        viem = which(self.prefix.bin.viem)
        viem("map", "ring.graph", "-m", "2:2", "-d", "1:10", "-o", "permutation")
