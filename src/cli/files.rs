//! Reading inputs and writing results, as every program does it.

use std::io::{Read as _, Write};
use std::path::Path;

use serde::Serialize;

use super::exit::{UsageError, VerificationError};
use super::machine::MachineOptions;
use crate::graph::CsrGraph;
use crate::io::mapping::Room;
use crate::io::metis::{self, NodeWeights};
use crate::io::{self, ReadError, Source};
use crate::mapping::Mapping;
use crate::topology::Machine;
use crate::types::Cost;
use crate::verify::{self, MachineText};

/// Reads a graph: a model, whose vertex weights mean nothing, or an application graph.
pub(crate) fn read_graph(path: &Path, node_weights: NodeWeights) -> Result<CsrGraph, ReadError> {
    metis::read(Source::open(path)?, node_weights)
}

/// Reads a mapping of so many processes to a machine.
pub(crate) fn read_mapping(
    path: &Path,
    num_processes: usize,
    machine: &dyn Machine,
) -> Result<Mapping, ReadError> {
    let room = Room { num_pes: machine.num_pes(), capacity: &|pe| machine.capacity(pe) };
    let pe_of = io::mapping::read(Source::open(path)?, num_processes, room)?;
    Ok(Mapping::on(machine, pe_of).expect("the reader has found room for each"))
}

/// Writes a report as indented JSON.
pub(crate) fn write_json(out: &mut dyn Write, report: &impl Serialize) -> std::io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, report)?;
    writeln!(out)
}

/// What messages and reports call an input.
pub(crate) fn name(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".to_owned() } else { path.display().to_string() }
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

/// Reads model, mapping and machine again from their files and has the independent auditor recompute J.
pub(crate) fn verify(
    model: &Path,
    mapping: &Path,
    (options, machine): (&MachineOptions, &dyn Machine),
    cost: Cost,
) -> anyhow::Result<()> {
    let text = |path: &Path| -> anyhow::Result<String> {
        let failed = |source| ReadError::Unreadable { file: path.display().to_string(), source };
        let mut bytes = Vec::new();
        Source::open(path)?.read_to_end(&mut bytes).map_err(failed)?;
        // Comments may be in any encoding.
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let file_of_pes = options.file_of_pes().map(text).transpose()?;
    let pes = file_of_pes.as_deref().or(options.pes());
    let (outline, file) = (machine.outline(), options.file().map(text).transpose()?);
    let spec = options.spec();
    let machine = match &outline {
        Some(outline) => MachineText { spec: verify::OUTLINE, distances: None, file: Some(outline), pes },
        None => MachineText { spec: &spec, distances: options.distances(), file: file.as_deref(), pes },
    };
    let audited = verify::audit_on(&text(model)?, &text(mapping)?, &machine)?;
    if audited != cost as u128 {
        let message = format!("J of the mapping written is {audited}, but {cost} was computed");
        return Err(VerificationError(message).into());
    }
    Ok(())
}
