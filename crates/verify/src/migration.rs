//! The migration, recomputed from the texts of the graph, the mapping and the older mapping.

use crate::error::AuditError;
use crate::text::{read_mapping, read_rows};

/// An older partition or mapping.
#[derive(Clone, Copy, Debug)]
pub struct OldText<'a> {
    /// Line i: the block of vertex i of the older graph.
    pub blocks: &'a str,
    /// Line i: the vertex of the older graph that vertex i comes from.
    pub parents: Option<&'a str>,
    /// The blocks that have been removed: numbers and ranges.
    pub left: Option<&'a str>,
}

/// The total weight and the number of the vertices that have migrated. These include the vertices of removed
/// blocks; the new block of any other vertex is compared with the number of its old block among the remaining
/// blocks. O(n l) for l removed blocks.
///
/// ```
/// use viem_verify::{OldText, audit_migration};
///
/// let old = OldText { blocks: "0\n1\n2\n2\n", parents: None, left: Some("1") };
/// assert_eq!(audit_migration("4 0 10\n5\n6\n7\n8\n", "0\n1\n1\n0\n", &old), Ok((6 + 8, 2)));
/// ```
pub fn audit_migration(graph: &str, mapping: &str, old: &OldText<'_>) -> Result<(u128, usize), AuditError> {
    let now = read_mapping(mapping)?;
    let lines = now.len();
    let rows = read_rows(graph, |processes| {
        if lines == processes { Ok(()) } else { Err(AuditError::Sizes { lines, processes }) }
    })?;
    // Ignore blank lines at the end.
    let old_blocks = read_mapping(old.blocks.trim_end())?;
    let parents = match old.parents {
        Some(text) => read_mapping(text.trim_end())?,
        None => (0..lines as u64).collect(),
    };
    let left = ranges(old.left.unwrap_or(""))?;
    let (mut weight, mut vertices) = (0, 0);
    for (vertex, row) in rows.iter().enumerate() {
        let missing = AuditError::Mapping { line: vertex + 1 };
        let parent = *parents.get(vertex).ok_or(missing.clone())?;
        let block = *old_blocks.get(parent as usize).ok_or(missing)?;
        let has_left = left.iter().any(|&(first, last)| (first..=last).contains(&block));
        let before: u64 = left
            .iter()
            .filter(|&&(first, _)| first < block)
            .map(|&(first, last)| last.min(block.saturating_sub(1)) - first + 1)
            .sum();
        if has_left || now[vertex] != block - before {
            weight += u128::from(row.weight);
            vertices += 1;
        }
    }
    Ok((weight, vertices))
}

/// The first and last numbers of the ranges in a list.
fn ranges(text: &str) -> Result<Vec<(u64, u64)>, AuditError> {
    let fault = AuditError::Machine { reason: "the list of removed blocks is malformed" };
    let lines = text.lines().map(|line| line.split(['#', '%']).next().unwrap_or(""));
    let entries = lines
        .flat_map(|line| line.split(|c: char| c == ',' || c.is_ascii_whitespace()))
        .filter(|entry| !entry.is_empty());
    let range = |entry: &str| {
        let (first, last) = entry.split_once('-').unwrap_or((entry, entry));
        let ends = first.parse().ok().zip(last.parse().ok());
        ends.filter(|(first, last): &(u64, u64)| first <= last).ok_or(fault.clone())
    };
    let mut ranges = entries.map(range).collect::<Result<Vec<_>, _>>()?;
    ranges.sort_unstable();
    if ranges.windows(2).any(|pair| pair[1].0 <= pair[0].1) { Err(fault) } else { Ok(ranges) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_and_removed_blocks_are_followed() {
        let old =
            OldText { blocks: "0\n1\n2\n3\n", parents: Some("3\n3\n0\n2\n1\n"), left: Some("0,2-2 # gone") };
        // Old blocks 1 and 3 are now 0 and 1.
        let graph = "5 0 10\n1\n2\n4\n8\n16\n";
        assert_eq!(audit_migration(graph, "1\n0\n0\n1\n0\n", &old), Ok((2 + 4 + 8, 3)));
        let short = OldText { parents: Some("3\n"), ..old };
        assert_eq!(audit_migration(graph, "1\n0\n0\n1\n0\n", &short), Err(AuditError::Mapping { line: 2 }));
        let list = OldText { left: Some("x"), ..old };
        assert!(matches!(audit_migration(graph, "1\n0\n0\n1\n0\n", &list), Err(AuditError::Machine { .. })));
    }
}
