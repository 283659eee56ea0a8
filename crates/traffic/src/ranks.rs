//! The greatest number of ranks of a job.

/// Ranks that a job has at most: more than any machine has cores. It keeps a file with one absurd number in
/// it from taking all memory.
pub const MOST_RANKS: u64 = 1 << 24;

/// Ranks that files may speak of in a few lines.
const FREE_RANKS: u64 = 1 << 20;
/// Ranks of a larger job for each line, at most, so that memory is taken for the content of the files.
pub(super) const MOST_RANKS_OF_A_LINE: u64 = 64;

/// Returns whether this many lines are too few for a job of this many ranks.
pub(super) fn is_sparse(ranks: u64, lines: u64) -> bool {
    ranks > FREE_RANKS.max(lines.saturating_mul(MOST_RANKS_OF_A_LINE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_jobs_need_a_line_for_every_64_ranks() {
        for (ranks, lines, expected) in [
            (1 << 20, 1, false),
            ((1 << 20) + 1, 1, true),
            ((1 << 20) + 64, 1 << 14, true),
            ((1 << 20) + 64, (1 << 14) + 1, false),
            (1 << 24, (1 << 18) - 1, true),
            (1 << 24, 1 << 18, false),
            (1 << 24, u64::MAX, false),
        ] {
            assert_eq!(is_sparse(ranks, lines), expected, "{ranks} {lines}");
        }
    }
}
