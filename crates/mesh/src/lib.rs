//! Meshes of finite elements and volumes, read from files and made into graphs.
//!
//! | member | purpose |
//! |---|---|
//! | [`read`] | a mesh from a file of any kind that is known here |
//! | [`read_folder`] | a mesh of OpenFOAM |
//! | [`Mesh::dual`], [`Mesh::nodal`] | its elements or its nodes as a graph |
//! | [`Mesh::centres`], [`Mesh::points`] | the coordinates of either |
//! | [`write_decomposition`], [`read_decomposition`] | the parts of cells, as OpenFOAM reads them |
//!
//! A kind of file is a module with a reader, and a line in the table of formats; its signature is in [`viem_io::signature`], so that readers of graphs and
//! mappings can name it.
//!
//! # Design
//!
//! - *The bytes of a file are held as a whole*, because texts and binary sections alternate in most kinds. No number of things is believed
//!   for which the file has too few bytes, and all other memory is in proportion to what was read.
//! - *Elements of lower dimensions are left out*, such as the triangles in which conditions on the boundary of tetrahedra are given: the programs
//!   distribute the elements of the highest dimension, and give each process those of the boundary that it needs.
//! - *Elements of a higher order count as those of their corners.* All known kinds of files list corners first.

mod binary;
mod cursor;
mod dual;
mod encoded;
mod fault;
mod format;
mod ids;
mod mesh;
mod openfoam;
mod recognise;

pub use dual::{DualError, Neighbours};
pub use fault::MeshFault;
pub use format::Format;
pub use mesh::{ElementKind, Mesh};
pub use openfoam::{
    DECOMPOSITION, decomposition_entries, is_mesh_folder, read_decomposition, read_folder,
    write_decomposition,
};
pub use recognise::read;

viem::base::settings::listed! {
    /// The kinds of files.
    const FORMATS: [Format] = FORMAT in {
        mod metis;
        mod gmsh;
        mod vtk;
        mod vtu;
    }
}
