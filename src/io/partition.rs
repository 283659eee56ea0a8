//! Partition files: line i holds the block of vertex i, both counted from 0; one number a line.

use std::io::{self, Write};

use crate::types::BlockId;

/// Writes the block of each vertex; O(n).
pub fn write(out: &mut (impl Write + ?Sized), blocks: &[BlockId]) -> io::Result<()> {
    super::digits::write_lines(out, blocks)
}
