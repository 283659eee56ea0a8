//! The C interface as its users see it: `make install`, then programs in C, C++ and Fortran that are compiled against what was installed.

mod dropins;
mod examples;
mod fortran;
mod guard;
mod header;
mod packages;
mod programs;
mod scotch;
mod syrthes;
mod tools;
