//! Reading inputs and writing results, as every program does it.

use std::borrow::Cow;
use std::io::{Read as _, Write};
use std::path::Path;

use crate::console::Console;
use crate::error::{self, UsageError, VerificationError};
use crate::machine::MachineOptions;
use viem::base::text::printable;
use viem::base::threads;
use viem::base::types::{Cost, PeId};
use viem::graph::{CsrGraph, VertexWeights};
use viem::machine::Machine;
use viem::mapping::Mapping;
use viem_io as io;
use viem_io::mapping::Room;
use viem_io::metis::{GraphNote, NodeWeights};
use viem_io::output::OutputId;
use viem_io::{ReadError, Source};
use viem_launch::placement::{self, PlacementKind};
use viem_verify::{self as verify, AuditError, MachineText};

/// Reads a graph in any format with so many threads, with all weights of its vertices if they have several, and says what it leaves out of its file.
pub(crate) fn read_several(
    source: Source<'_>,
    weights: NodeWeights,
    threads: usize,
    console: Console,
) -> error::Result<(CsrGraph, Option<VertexWeights>)> {
    let name = source.name().to_owned();
    let (graph, weights, notes) = threads::run(threads, || io::read_several_graph(source, weights))??;
    notes.iter().for_each(|note| console.warn(format_args!("{name}: {note}")));
    Ok((graph, weights))
}

/// Says that all weights of the vertices but the first are left out.
pub(crate) fn warn_of_weights(name: &str, weights: &VertexWeights, console: Console) {
    let note = GraphNote::MoreWeights { count: weights.num_weights() as u64 };
    console.warn(format_args!("{name}: {note}"));
}

/// Reads a mapping of `num_processes` processes to a machine, or a file of a launcher that says where they are.
pub(crate) fn read_mapping(
    path: &Path,
    num_processes: usize,
    machine: &dyn Machine,
    console: Console,
) -> Result<Mapping, ReadError> {
    let capacity = |pe| machine.capacity(pe);
    let room = Room::new(machine.num_pes(), &capacity);
    let pe_of = read_placement(path, num_processes, machine, room, console)?;
    Ok(Mapping::on(machine, pe_of).expect("the reader has found room for each"))
}

/// Reads a mapping that may put any number of vertices on a PE.
pub(crate) fn read_many(
    path: &Path,
    num_nodes: usize,
    machine: &dyn Machine,
    console: Console,
) -> Result<Mapping, ReadError> {
    let room = Room::new(machine.num_pes(), &|_| u32::MAX);
    let pe_of = read_placement(path, num_nodes, machine, room, console)?;
    Ok(Mapping::many(machine.num_pes(), pe_of).expect("the reader has checked each"))
}

/// Reads a mapping, or a file of a launcher, and says what it was taken for.
fn read_placement(
    path: &Path,
    num_processes: usize,
    machine: &dyn Machine,
    room: Room<'_>,
    console: Console,
) -> Result<Vec<PeId>, ReadError> {
    let MappingFiles { kind, file, script } = MappingFiles::of(path);
    let source = Source::open(file)?;
    let read = match script {
        Some(script) => placement::read_bound(source, Source::open(script)?, num_processes, machine, room)?,
        None => placement::read(source, num_processes, machine, room, kind)?,
    };
    if let Some(kind) = read.kind {
        console.line(format_args!("{} is {kind}", name(file)));
    }
    for note in read.notes {
        console.line(format_args!("{}: {note}", name(file)));
    }
    Ok(read.pes)
}

/// What an option names that takes a mapping.
struct MappingFiles<'a> {
    /// The kind, where it is given, as in `inverse:FILE`.
    kind: Option<&'static PlacementKind>,
    file: &'a Path,
    /// The script that binds the ranks of a list of hosts: `hosts,bind.sh`.
    script: Option<&'a Path>,
}

impl<'a> MappingFiles<'a> {
    fn of(path: &'a Path) -> Self {
        let whole = Self { kind: None, file: path, script: None };
        let Some(text) = path.to_str().filter(|_| !path.exists()) else { return whole };
        let of_kind = text.split_once(':').and_then(|(kind, file)| Some((placement::kind(kind)?, file)));
        let both = text.split_once(',').filter(|(file, script)| !file.is_empty() && !script.is_empty());
        match (of_kind, both) {
            (Some((kind, file)), _) => Self { kind: Some(kind), file: Path::new(file), ..whole },
            (None, Some((file, script))) => {
                Self { file: Path::new(file), script: Some(Path::new(script)), ..whole }
            }
            (None, None) => whole,
        }
    }
}

/// The files of a mapping, whose kind may be named before it.
pub(crate) fn files_of_mapping(path: &Path) -> impl Iterator<Item = &Path> {
    let MappingFiles { file, script, .. } = MappingFiles::of(path);
    [file].into_iter().chain(script)
}

/// What writes each of some texts.
pub(crate) fn fills<'a>(
    texts: &[(OutputId, &'a str)],
) -> Vec<(OutputId, impl Fn(&mut dyn Write) -> std::io::Result<()> + use<'a>)> {
    let fill = |text: &'a str| move |out: &mut dyn Write| out.write_all(text.as_bytes());
    texts.iter().map(|&(id, text)| (id, fill(text))).collect()
}

/// What messages and reports call an input.
pub(crate) fn name(path: &Path) -> String {
    match path.as_os_str() == "-" {
        true => "standard input".to_owned(),
        false => printable(&path.display().to_string()).into_owned(),
    }
}

/// Checks before any work that no two inputs read what only one can get, such as stdin.
pub(crate) fn probe_inputs(inputs: &[&Path]) -> Result<(), UsageError> {
    for (index, second) in inputs.iter().enumerate() {
        if inputs[..index].iter().any(|first| io::are_one_stream(first, second)) {
            let message = format!("only one input can come from {}; name a file for the other", name(second));
            return Err(UsageError(message));
        }
    }
    Ok(())
}

/// Checks before any work that what `--verify` reads again can be read again: inputs, and a result that goes to a file or does not.
pub(crate) fn probe_verifiable<'a>(
    mut inputs: impl Iterator<Item = &'a Path>,
    is_file: bool,
) -> Result<(), UsageError> {
    if !is_file || inputs.any(|path| !path.is_dir() && io::is_stream(path)) {
        let message = "--verify reads the files again, so none of them can be a stream; name files";
        return Err(UsageError(message.to_owned()));
    }
    Ok(())
}

/// All bytes of a file, unpacked.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, ReadError> {
    let failed = |source| ReadError::Unreadable { file: name(path), source };
    let mut bytes = Vec::new();
    Source::open(path)?.read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// The text of a file, as the auditor takes it; of a binary graph or a file of OpenFOAM, what it would be as text.
pub(crate) fn text(path: &Path) -> error::Result<String> {
    if let Some(parts) = viem_mesh::read_decomposition(Source::open(path)?)? {
        return Ok(parts.iter().map(|part| format!("{part}\n")).collect());
    }
    let bytes = bytes(path)?;
    if verify::is_parhip(&bytes) {
        return Ok(verify::text_of_parhip(&bytes).map_err(VerificationError::from)?);
    }
    // Comments may be in any encoding.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// All that the auditor needs to know of a machine.
struct MachineFiles<'a> {
    spec: &'a str,
    distances: Option<&'a str>,
    file: Option<String>,
    pes: Option<Cow<'a, str>>,
    link_cycles: Option<String>,
    /// What stands for a machine that the auditor cannot read itself.
    outline: Option<String>,
}

impl<'a> MachineFiles<'a> {
    /// Reads the files of a machine.
    fn read(options: &'a MachineOptions, machine: &dyn Machine) -> error::Result<Self> {
        let pes = options.file_of_pes().map(text).transpose()?;
        Ok(Self {
            spec: options.spec(),
            distances: options.distances(),
            file: options.file().map(text).transpose()?,
            pes: pes.map(Cow::Owned).or(options.pes().map(Cow::Borrowed)),
            link_cycles: options.link_cycles().map(text).transpose()?,
            outline: machine.audited().map(|audited| audited.outline()),
        })
    }

    /// The same as the auditor takes it.
    fn machine_text(&self) -> MachineText<'_> {
        let (pes, link_cycles) = (self.pes.as_deref(), self.link_cycles.as_deref());
        match &self.outline {
            Some(outline) => {
                MachineText { spec: verify::OUTLINE, distances: None, file: Some(outline), pes, link_cycles }
            }
            None => {
                let (distances, file) = (self.distances, self.file.as_deref());
                MachineText { spec: self.spec, distances, file, pes, link_cycles }
            }
        }
    }
}

/// An error unless the auditor has found the J that was computed.
pub(crate) fn compare(audited: i128, cost: Cost) -> error::Result<()> {
    if audited != i128::from(cost) {
        let message = format!("J of the mapping written is {audited}, but {cost} was computed");
        return Err(VerificationError::Differs(message).into());
    }
    Ok(())
}

/// Reads the texts of model, mapping and machine, and hands them to an audit. The model may be there as a text already.
pub(crate) fn with_texts<R>(
    (model, of_model): (&Path, Option<&str>),
    mapping: &Path,
    (options, machine): (&MachineOptions, &dyn Machine),
    audit: impl Fn(&str, &str, &MachineText<'_>) -> Result<R, AuditError>,
) -> error::Result<R> {
    let model = of_model.map_or_else(|| text(model), |text| Ok(text.to_owned()))?;
    let mapping = text(mapping)?;
    with_machine((options, machine), |machine| Ok(audit(&model, &mapping, machine)?))
}

/// Reads the texts of a machine again for an audit.
pub(crate) fn with_machine<R>(
    (options, machine): (&MachineOptions, &dyn Machine),
    audit: impl FnOnce(&MachineText<'_>) -> error::Result<R>,
) -> error::Result<R> {
    audit(&MachineFiles::read(options, machine)?.machine_text())
}
