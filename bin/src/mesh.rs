//! Meshes as inputs: the graphs of their elements or nodes.

use std::num::NonZeroUsize;
use std::path::Path;

use clap::Args;
use serde::Serialize;

use crate::console::Console;
use crate::error::{Result, UsageError};
use crate::files;
use viem::base::text::counted;
use viem::base::types::Weight;
use viem::graph::{Coordinates, CsrGraph, VertexWeights};
use viem_io::Source;
use viem_mesh::{ElementKind, Format, Mesh, Neighbours};

/// The graph of a mesh.
#[derive(Args, Clone, Debug, Default, Serialize)]
#[command(next_help_heading = "Mesh")]
pub(crate) struct MeshOptions {
    /// Nodes that neighbouring elements of a mesh share. INT of them, or all but one of those of either; by default, those of a
    /// face, or of an edge in the plane [default: a face]
    #[arg(hide_short_help = true, long, value_name = "INT", conflicts_with = "nodal")]
    #[serde(skip_serializing_if = "Option::is_none")]
    common: Option<NonZeroUsize>,

    /// Make the nodes of a mesh the vertices. Two are neighbours if an element has both
    #[arg(hide_short_help = true, long)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    nodal: bool,

    /// Weights of the elements of a mesh by kind. Such as tetrahedron=1,hexahedron=3; others weigh 1, and by default they have
    /// the weights of their file, or 1
    #[arg(hide_short_help = true, long, value_name = "LIST", value_delimiter = ',', value_parser = weight_of_kind, conflicts_with = "nodal")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    element_weights: Vec<(ElementKind, Weight)>,
}

/// A mesh as a verb takes it.
pub(crate) struct MeshGraph {
    pub(crate) graph: CsrGraph,
    /// All weights of the vertices, if they have several.
    pub(crate) weights: Option<VertexWeights>,
    /// The coordinates of the vertices, if the file has any.
    pub(crate) coordinates: Option<Coordinates>,
    /// Whether it is one of OpenFOAM.
    pub(crate) is_foam: bool,
}

impl MeshOptions {
    /// The option that is given, if any is.
    fn given(&self) -> Option<&'static str> {
        let given = [
            ("--common", self.common.is_some()),
            ("--nodal", self.nodal),
            ("--element-weights", !self.element_weights.is_empty()),
        ];
        given.into_iter().find_map(|(name, is_given)| is_given.then_some(name))
    }

    /// An error if one of these options is given for a file that is no mesh.
    pub(crate) fn check_unused(&self) -> Result<(), UsageError> {
        let message = |name| UsageError(format!("{name} is for meshes; leave it out"));
        self.given().map_or(Ok(()), |name| Err(message(name)))
    }

    /// Reads the mesh in a folder.
    pub(crate) fn read_folder(&self, path: &Path, console: Console) -> Result<MeshGraph> {
        let mesh = viem_mesh::read_folder(path)?;
        self.graph(&files::name(path), &mesh, (true, console))
    }

    /// Reads a mesh of a format.
    pub(crate) fn read(&self, source: Source<'_>, format: Format, console: Console) -> Result<MeshGraph> {
        let name = source.name().to_owned();
        self.graph(&name, &format.read(source)?, (false, console))
    }

    /// Makes the graph of a mesh, and says what it has.
    fn graph(&self, name: &str, mesh: &Mesh, (is_foam, console): (bool, Console)) -> Result<MeshGraph> {
        let listed = |kinds: &[(ElementKind, usize)]| {
            let kinds = kinds.iter().map(|&(kind, count)| counted(count, kind.name(), kind.plural()));
            kinds.collect::<Vec<_>>().join(", ")
        };
        let elements = listed(&mesh.kinds());
        let neighbours = match (self.nodal, self.common) {
            (true, _) => {
                let nodes = counted(mesh.num_nodes(), "node", "nodes");
                format!("{nodes}, neighbours where an element has both")
            }
            (_, Some(common)) => format!("neighbours have {} in common", counted(common, "node", "nodes")),
            (_, None) => "neighbours share a face".to_owned(),
        };
        console.line(format_args!("{name} is a mesh: {elements}; {neighbours}"));
        if !mesh.left_out().is_empty() {
            let left_out = listed(mesh.left_out());
            console.line(format_args!("{name}: elements of lower dimensions are left out: {left_out}"));
        }
        let (graph, coordinates) = match self.nodal {
            true => (mesh.nodal()?, mesh.points()),
            false => {
                let common = self.common.map(|common| Neighbours::Common(common.get()));
                (mesh.dual(common.unwrap_or_default(), &self.element_weights)?, mesh.centres())
            }
        };
        self.note_unused(name, mesh, &graph, console);
        let is_of_file = !self.nodal && self.element_weights.is_empty();
        let weights = mesh.several_weights().filter(|_| is_of_file).cloned();
        Ok(MeshGraph { graph, weights, coordinates, is_foam })
    }

    /// Says which weights no element has, and that no elements are neighbours.
    fn note_unused(&self, name: &str, mesh: &Mesh, graph: &CsrGraph, console: Console) {
        let kinds = mesh.kinds();
        let is_unused = |kind: ElementKind| kinds.iter().all(|&(other, _)| other != kind);
        for &(kind, _) in self.element_weights.iter().filter(|&&(kind, _)| is_unused(kind)) {
            console.note(format_args!("{name} has no {}, so their weight has no effect", kind.plural()));
        }
        if !self.nodal && graph.num_edges() == 0 && graph.num_nodes() > 1 {
            console.note(format_args!(
                "{name}: no two elements are neighbours; ask for fewer nodes with --common"
            ));
        }
    }
}

/// Parses the weight of a kind of elements.
fn weight_of_kind(text: &str) -> Result<(ElementKind, Weight), String> {
    let (kind, weight) = text.split_once('=').ok_or("a weight is given as KIND=INT, such as hexahedron=3")?;
    let kind = kind.parse::<ElementKind>().map_err(|error| error.to_string())?;
    let weight = viem::base::number::unsigned(weight).and_then(|weight| Weight::try_from(weight).ok());
    Ok((kind, weight.ok_or("a weight is a whole number from 0")?))
}
