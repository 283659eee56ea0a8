//! Rank reordering inside MPI jobs as its users see it: `make install`, then programs in C, Fortran and Python that the library is loaded
//! before, under every installed MPI.

use std::path::Path;

mod decisions;
mod distributed;
mod fortran;
#[path = "../../../tests/common/mpi.rs"]
#[allow(dead_code, unused_imports)]
mod mpi;
mod named;
mod parmetis;
mod ptscotch;
mod reading;
mod tools;
mod topologies;
mod world;

/// The folder of the project, in which `mpi` finds what it compiles.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).expect("the tests are three folders below")
}
