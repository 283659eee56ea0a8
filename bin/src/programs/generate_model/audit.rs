//! `generate_model --verify`: what was written, recomputed by the independent auditor.

use std::path::Path;

use crate::console::Console;
use crate::error::{Failure, Result, VerificationError};
use crate::files;
use crate::fixed::Fixed;
use crate::machine::MachineOptions;
use crate::remap::Remap;
use viem::graph::CsrGraph;
use viem::ground::types::{BlockId, Cost, Weight};
use viem::machine::Machine;
use viem::partition::Migration;
use viem_io::partition as partitions;
use viem_verify as verify;

/// A partition, or a many-to-one mapping, and what was computed of it.
pub(super) struct Claim<'a> {
    /// The file of the graph.
    pub file: &'a Path,
    /// The graph as a METIS file, if that is none.
    pub text: Option<&'a str>,
    pub graph: &'a CsrGraph,
    /// The block or PE of each vertex.
    pub blocks: &'a [BlockId],
    pub num_blocks: usize,
    pub cut: Cost,
    /// A machine, and J on it.
    pub on: Option<(&'a MachineOptions, &'a dyn Machine, Cost)>,
    pub migration: Option<(&'a Remap<'a>, Migration)>,
    pub fixed: Option<&'a Fixed>,
}

/// The files that were written, where they are files of their own.
pub(super) struct Written<'a> {
    pub model: Option<&'a Path>,
    pub blocks: Option<&'a Path>,
}

impl Claim<'_> {
    /// Recomputes all from the files and says so. Blocks that are not written to a file are taken as they would be.
    pub(super) fn check(&self, written: &Written<'_>, console: Console) -> Result<()> {
        let graph = match self.text {
            Some(text) => text.to_owned(),
            None => files::text(self.file)?,
        };
        let model = written.model.map(files::text).transpose()?.unwrap_or_default();
        let blocks = match written.blocks {
            Some(path) => files::text(path)?,
            None => {
                let mut text = Vec::new();
                partitions::write(&mut text, self.blocks).expect("memory takes what is written to it");
                String::from_utf8_lossy(&text).into_owned()
            }
        };
        let audit = verify::audit_partition(&graph, &blocks, &model)?;
        if audit.cut != self.cut as u128 {
            return Err(wrong(format!(
                "the cut of what was written is {}, but {} was computed",
                audit.cut, self.cut
            )));
        }
        self.check_loads(&audit.loads)?;
        console.line(format_args!(
            "verified: the cut of the files is {} too, and so are all loads and the model",
            self.cut
        ));
        if let Some((options, machine, cost)) = self.on {
            let audit = files::with_machine((options, machine), |machine| {
                Ok(verify::audit_many(&graph, &blocks, machine)?)
            })?;
            files::compare(i128::try_from(audit.cost).unwrap_or(i128::MAX), cost)?;
            console.line(format_args!("verified: J of the files is {cost} too"));
        }
        if let Some((remap, migration)) = self.migration {
            remap.check(&graph, &blocks, migration)?;
            console.line(format_args!("verified: so is the migration, {}", migration.weight));
        }
        self.fixed.map_or(Ok(()), |fixed| fixed.check(&blocks, console, "vertices"))
    }

    fn check_loads(&self, audited: &[u128]) -> Result<()> {
        let mut loads: Vec<Weight> = vec![0; self.num_blocks];
        for (&weight, &block) in self.graph.node_weights().iter().zip(self.blocks) {
            loads[block as usize] += weight;
        }
        if audited.len() != loads.len() {
            let message = format!("the model has {} vertices instead of {}", audited.len(), loads.len());
            return Err(wrong(message));
        }
        match (0..loads.len()).find(|&block| audited[block] != loads[block] as u128) {
            Some(block) => Err(wrong(format!("the load of block {block} differs from {}", loads[block]))),
            None => Ok(()),
        }
    }
}

fn wrong(message: String) -> Failure {
    VerificationError::Differs(message).into()
}
