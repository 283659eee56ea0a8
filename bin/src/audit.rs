//! `--verify`: what was written, recomputed by the independent auditor.

use std::path::Path;

use crate::console::Console;
use crate::error::{Failure, Result, VerificationError};
use crate::files;
use crate::fixed::Fixed;
use crate::machine::MachineOptions;
use crate::remap::Remapped;
use viem::base::types::{BlockId, Cost, Weight};
use viem::graph::{CsrGraph, VertexWeights};
use viem::machine::{Machine, Nodes};
use viem::partition::Migration;
use viem::solve::{Loads, Report};
use viem_io as io;
use viem_io::partition as partitions;
use viem_verify as verify;

/// Models carry both weights, format 11, as VieM writes them.
pub(crate) const MODEL: io::metis::GraphContent = io::metis::GraphContent::ALL_WEIGHTS;

/// A machine, and J on it.
pub(crate) type On<'a> = (&'a MachineOptions, &'a dyn Machine, Cost);

/// Recomputes J of a one-to-one mapping from its files, and says so.
pub(crate) fn one_to_one(
    (graph, mapping): ((&Path, Option<&str>), &Path),
    (options, machine, cost): On<'_>,
    fixed: Option<&Fixed>,
    console: Console,
) -> Result<()> {
    let audited = files::with_texts(graph, mapping, (options, machine), verify::audit_on)?;
    files::compare(i128::try_from(audited).unwrap_or(i128::MAX), cost)?;
    console.line(format_args!("verified: J of the files is {cost} too"));
    fixed.map_or(Ok(()), |fixed| fixed.check(&files::text(mapping)?, console, "processes"))
}

/// A partition, or a many-to-one mapping, and what was computed of it.
pub(crate) struct Claim<'a> {
    /// The file of the graph.
    pub(crate) file: &'a Path,
    /// The graph as a METIS file, if that is none.
    pub(crate) text: Option<&'a str>,
    pub(crate) graph: &'a CsrGraph,
    /// All weights of the vertices, if they have several.
    pub(crate) weights: Option<&'a VertexWeights>,
    /// What nodes have, if they have bounds.
    pub(crate) nodes: Option<NodeClaim<'a>>,
    /// The block or PE of each vertex.
    pub(crate) blocks: &'a [BlockId],
    pub(crate) num_blocks: usize,
    /// The quotient graph, and the cut.
    pub(crate) model: Option<(&'a CsrGraph, Cost)>,
    pub(crate) on: Option<On<'a>>,
    pub(crate) migration: Option<(&'a Remapped<'a>, Migration)>,
    pub(crate) fixed: Option<&'a Fixed>,
}

/// The nodes of a machine with their bounds by each weight of the vertices, and what a report says of them.
pub(crate) struct NodeClaim<'a> {
    nodes: &'a Nodes,
    bounds: &'a [Option<Vec<Weight>>],
    loads: &'a [Loads],
}

impl<'a> NodeClaim<'a> {
    /// What a report says of nodes, if they have bounds.
    pub(crate) fn new(
        nodes: &'a Nodes,
        bounds: &'a [Option<Vec<Weight>>],
        report: &'a Report,
    ) -> Option<Self> {
        let loads = &report.loads_by_weight[..];
        (!bounds.is_empty()).then_some(Self { nodes, bounds, loads })
    }

    /// Compares it with the loads of the PEs by each weight, which the auditor has found.
    fn check(&self, audited: &[Vec<u128>]) -> Result<()> {
        for (weight, (bounds, loads)) in self.bounds.iter().zip(self.loads).enumerate() {
            let Some((bounds, loads)) = bounds.as_ref().zip(loads.nodes) else { continue };
            let mut sums = vec![0u128; bounds.len()];
            for (pe, own) in (0..).zip(audited) {
                sums[self.nodes.node(pe)] += own.get(weight).copied().unwrap_or(0);
            }
            let greatest = sums.iter().copied().max().unwrap_or(0);
            let excess = sums.iter().zip(bounds).map(|(&sum, &bound)| sum.saturating_sub(bound as u128));
            if (greatest, excess.sum()) != (loads.greatest as u128, loads.overload as u128) {
                let weight = weight + 1;
                return Err(wrong(format!(
                    "the loads of the nodes by weight {weight} differ from those computed"
                )));
            }
        }
        Ok(())
    }
}

/// The files that were written, where they are files of their own.
pub(crate) struct Written<'a> {
    pub(crate) blocks: Option<&'a Path>,
    pub(crate) model: Option<&'a Path>,
}

impl Claim<'_> {
    /// Recomputes all from the files and says so. What is not written to a file is taken as it would be.
    pub(crate) fn check(&self, written: &Written<'_>, console: Console) -> Result<()> {
        let graph = match self.text {
            Some(text) => text.to_owned(),
            None => files::text(self.file)?,
        };
        let blocks = match written.blocks {
            Some(path) => files::text(path)?,
            None => as_text(|out| partitions::write(out, self.blocks)),
        };
        if let Some((model, cut)) = self.model {
            let model = match written.model {
                Some(path) => files::text(path)?,
                None => as_text(|out| io::metis::write(out, model, MODEL)),
            };
            self.check_cut((&graph, &blocks, &model), cut)?;
            let model = if written.model.is_some() { " and the model" } else { "" };
            console.line(format_args!(
                "verified: the cut of the files is {cut} too, and so are all loads{model}"
            ));
        }
        if let Some((options, machine, cost)) = self.on {
            let audit = files::with_machine((options, machine), |machine| {
                Ok(verify::audit_many(&graph, &blocks, machine)?)
            })?;
            files::compare(i128::try_from(audit.cost).unwrap_or(i128::MAX), cost)?;
            self.check_loads(&audit.loads)?;
            console.line(format_args!("verified: J of the files is {cost} too, and so are all loads"));
        }
        if let Some(weights) = self.weights {
            self.check_several(weights, &verify::audit_loads(&graph, &blocks, self.num_blocks)?)?;
            let count = weights.num_weights();
            console.line(format_args!("verified: so are the loads by all {count} weights"));
        }
        if let Some(nodes) = &self.nodes {
            nodes.check(&verify::audit_loads(&graph, &blocks, self.num_blocks)?)?;
            console.line(format_args!("verified: so are the loads of the nodes"));
        }
        if let Some((remapped, migration)) = self.migration {
            remapped.check(&graph, &blocks, migration)?;
            console.line(format_args!("verified: so is the migration, {}", migration.weight));
        }
        self.fixed.map_or(Ok(()), |fixed| fixed.check(&blocks, console, "vertices"))
    }

    fn check_cut(&self, (graph, blocks, model): (&str, &str, &str), cut: Cost) -> Result<()> {
        let audit = verify::audit_partition(graph, blocks, model)?;
        if audit.cut != cut as u128 {
            return Err(wrong(format!(
                "the cut of what was written is {}, but {cut} was computed",
                audit.cut
            )));
        }
        if audit.loads.len() != self.num_blocks {
            let message =
                format!("the model has {} vertices instead of {}", audit.loads.len(), self.num_blocks);
            return Err(wrong(message));
        }
        self.check_loads(&audit.loads)
    }

    fn check_several(&self, weights: &VertexWeights, audited: &[Vec<u128>]) -> Result<()> {
        let loads = weights.loads(self.blocks, self.num_blocks);
        let count = weights.num_weights();
        for (at, &load) in loads.iter().enumerate() {
            let (block, weight) = (at / count, at % count);
            if audited.get(block).and_then(|loads| loads.get(weight)) != Some(&(load as u128)) {
                return Err(wrong(format!(
                    "the load of block {block} by weight {} differs from {load}",
                    weight + 1
                )));
            }
        }
        Ok(())
    }

    fn check_loads(&self, audited: &[u128]) -> Result<()> {
        let mut loads: Vec<Weight> = vec![0; self.num_blocks];
        for (&weight, &block) in self.graph.node_weights().iter().zip(self.blocks) {
            loads[block as usize] += weight;
        }
        let differs = |block: &usize| audited.get(*block).copied().unwrap_or(0) != loads[*block] as u128;
        match (0..loads.len()).find(differs) {
            Some(block) => Err(wrong(format!("the load of block {block} differs from {}", loads[block]))),
            None => Ok(()),
        }
    }
}

fn as_text(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut text = Vec::new();
    write(&mut text).expect("memory takes what is written to it");
    String::from_utf8_lossy(&text).into_owned()
}

fn wrong(message: String) -> Failure {
    VerificationError::Differs(message).into()
}
