//! Any bytes as an older partition, as parents and as a list of removed blocks: the auditor confirms the
//! migration, or there is an error.
#![no_main]

#[path = "../common/mod.rs"]
mod common;

use common::text_of_bytes;
use libfuzzer_sys::fuzz_target;
use viem::base::number_list::ListOf;
use viem::graph::{CsrGraph, generate};
use viem::partition::{PreviousAssignment, RemovedBlocks};
use viem_io::{Source, number_list, parents, partition};
use viem_verify::{OldText, audit_migration};

const NUM_NODES: usize = 6;
const NUM_BLOCKS: usize = 3;

/// The homes of the vertices, and the texts that define them.
fn homes(texts: [&[u8]; 3]) -> Option<PreviousAssignment> {
    let [old, of_vertices, left] = texts.map(|text| Source::new("fuzz", text));
    let old = partition::read(old.ok()?, None).ok()?;
    let left = number_list::read(left.ok()?, ListOf::Blocks, 9).unwrap_or_default();
    let homes = PreviousAssignment::after(&old, RemovedBlocks(&left), NUM_BLOCKS).ok()?;
    let parents = parents::read(of_vertices.ok()?, NUM_NODES, old.len()).ok()?;
    homes.of_children(&parents).ok()
}

fuzz_target!(|texts: [&[u8]; 3]| {
    let Some(homes) = homes(texts) else { return };
    let graph: CsrGraph = generate::grid(NUM_NODES, 1);
    let blocks: Vec<u32> = graph.nodes().map(|node| node % NUM_BLOCKS as u32).collect();
    let migration = homes.migration(&graph, &blocks);
    let [old, parents, left] = texts.map(text_of_bytes);
    let left_source = Source::new("fuzz", left.as_bytes()).unwrap();
    let is_list = number_list::read(left_source, ListOf::Blocks, 9).is_ok();
    let old = OldText { blocks: &old, parents: Some(&parents), left: is_list.then_some(&*left) };
    let path = "6 5\n2\n1 3\n2 4\n3 5\n4 6\n5\n";
    let audited = audit_migration(path, "0\n1\n2\n0\n1\n2\n", &old);
    assert_eq!(audited, Ok((migration.weight as u128, migration.vertices)));
});
