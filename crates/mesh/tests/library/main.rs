//! Tests of meshes.

mod dual;
mod formats;
mod grid;
mod hostile;
mod tools;
mod written;
