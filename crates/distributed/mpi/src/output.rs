//! The result as one file, written whole or not at all.
//!
//! Rank 0 writes it, as it receives the others' parts block by block, so it never has all of it in memory. Whatever fails there, it takes all
//! blocks that are sent, so no rank waits for ever.

use std::cell::{Cell, RefCell};
use std::io::{self, Write};

use viem::base::types::BlockId;
use viem_distributed::comm::{Comm, Ranges};
use viem_distributed::error::{DistError, agree};
use viem_io::Outputs;
use viem_io::output::OutputId;

/// Vertices of a block.
const BLOCK: usize = 1 << 20;

/// The files of result and report; known to rank 0.
pub(crate) struct Places {
    pub(crate) outputs: Outputs,
    pub(crate) result: OutputId,
    pub(crate) report: Option<OutputId>,
}

/// Writes the result, of which each rank has the part of its vertices, and the report.
pub(crate) fn write(
    comm: &impl Comm,
    ranges: &Ranges,
    blocks: &[BlockId],
    report: &[u8],
    places: Option<&Places>,
) -> Result<(), DistError> {
    let Some(places) = places else {
        parts(comm, ranges, blocks, |_| {});
        return agree(comm, Ok::<_, viem_io::WriteError>(()));
    };
    let is_done = Cell::new(false);
    let fill = |out: &mut dyn Write| -> io::Result<()> {
        let result = RefCell::new(Ok(()));
        is_done.set(true);
        parts(comm, ranges, blocks, |part| {
            let mut result = result.borrow_mut();
            if result.is_ok() {
                *result = viem_io::partition::write(out, part);
            }
        });
        result.into_inner()
    };
    let fill_report = |out: &mut dyn Write| out.write_all(report);
    let result =
        places.outputs.write(&[(Some(places.result), &fill as _), (places.report, &fill_report as _)]);
    if !is_done.get() {
        parts(comm, ranges, blocks, |_| {});
    }
    agree(comm, result)
}

/// Has rank 0 take all parts, in their order.
fn parts(comm: &impl Comm, ranges: &Ranges, blocks: &[BlockId], mut take: impl FnMut(&[BlockId])) {
    let is_first = comm.rank() == 0;
    for rank in 0..comm.size() {
        let count = ranges.of(rank).len();
        for start in (0..count).step_by(BLOCK) {
            let end = (start + BLOCK).min(count);
            if rank == 0 {
                if is_first {
                    take(&blocks[start..end]);
                }
                continue;
            }
            let mut counts = vec![0; comm.size()];
            let words: Vec<u64> = match comm.rank() == rank {
                true => blocks[start..end].iter().map(|&block| u64::from(block)).collect(),
                false => Vec::new(),
            };
            counts[0] = words.len();
            let received = comm.all_to_all(&words, &counts).words;
            if is_first {
                take(&received.into_iter().map(|word| word as BlockId).collect::<Vec<_>>());
            }
        }
    }
}
