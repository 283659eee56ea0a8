//! Reading inputs and writing results, as every program does it.

use std::io::Read as _;
use std::path::Path;

use serde::Serialize;

use super::console::is_standard_stream;
use super::exit::{UsageError, VerificationError};
use crate::graph::CsrGraph;
use crate::io::metis::{self, NodeWeights};
use crate::io::{self, ReadError, Source, WriteError, output};
use crate::mapping::Mapping;
use crate::topology::Hierarchy;
use crate::types::Cost;
use crate::verify;

/// Reads a graph: a model, whose vertex weights mean nothing, or an application graph.
pub(crate) fn read_graph(path: &Path, node_weights: NodeWeights) -> Result<CsrGraph, ReadError> {
    metis::read(Source::open(path)?, node_weights)
}

/// Reads a mapping of as many processes to as many PEs.
pub(crate) fn read_mapping(path: &Path, num_processes: usize) -> Result<Mapping, ReadError> {
    let pe_of = io::mapping::read(Source::open(path)?, num_processes)?;
    Ok(Mapping::new(pe_of).expect("the reader has found a permutation"))
}

/// Writes a report as indented JSON.
pub(crate) fn write_json(path: &Path, report: &impl Serialize) -> Result<(), WriteError> {
    output::write(path, |out| {
        serde_json::to_writer_pretty(&mut *out, report)?;
        writeln!(out)
    })
}

/// Checks before any work that at most one of the inputs is stdin.
pub(crate) fn probe_inputs(inputs: &[Option<&Path>]) -> Result<(), UsageError> {
    if inputs.iter().flatten().filter(|path| is_standard_stream(path)).count() > 1 {
        let message = "only one input can come from standard input (-); name a file for the other";
        return Err(UsageError(message.to_string()));
    }
    Ok(())
}

/// Checks before any work that the outputs can be created, and that no two are the same file or both stdout.
pub(crate) fn probe_outputs(outputs: &[Option<&Path>]) -> anyhow::Result<()> {
    let outputs = || outputs.iter().flatten();
    if outputs().filter(|path| is_standard_stream(path)).count() > 1 {
        let message = "only one output can go to standard output (-); name a file for the others";
        return Err(UsageError(message.to_string()).into());
    }
    let mut files = Vec::new();
    for path in outputs() {
        if let Some(file) = output::probe(path)? {
            if files.contains(&file) {
                let message = format!("two outputs cannot go to the same file, {}", path.display());
                return Err(UsageError(message).into());
            }
            files.push(file);
        }
    }
    Ok(())
}

/// Reads model and mapping again from their files and has the independent auditor recompute J.
pub(crate) fn verify(model: &Path, mapping: &Path, hierarchy: &Hierarchy, cost: Cost) -> anyhow::Result<()> {
    let text = |path: &Path| -> anyhow::Result<String> {
        let failed = |source| ReadError::Unreadable { file: path.display().to_string(), source };
        let mut bytes = Vec::new();
        Source::open(path)?.read_to_end(&mut bytes).map_err(failed)?;
        // Comments may be in any encoding.
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let arities: Vec<u64> = hierarchy.arities().iter().map(|&arity| u64::from(arity)).collect();
    let distances: Vec<u64> = hierarchy.distances().iter().map(|&distance| distance as u64).collect();
    let audited = verify::audit(&text(model)?, &text(mapping)?, &arities, &distances)?;
    if audited != cost as u128 {
        let message = format!("J of {} is {audited}, but {cost} was computed", mapping.display());
        return Err(VerificationError(message).into());
    }
    Ok(())
}
