//! What collectives send: the formula that computed and recorded traffic share.

/// Bytes that each rank of a ring of `ranks` sends to the next one in `passes` passes over `bytes` of data:
/// `passes · bytes · (ranks - 1) / ranks`, rounded up. An all-gather or a reduce-scatter is one pass, an all-reduce two.
/// `None` if that is beyond 128 bits, or if there are no ranks.
pub fn ring_bytes(ranks: u128, bytes: u128, passes: u128) -> Option<u128> {
    let all = bytes.checked_mul(passes)?.checked_mul(ranks.checked_sub(1)?)?;
    Some(all.div_ceil(ranks))
}

#[cfg(test)]
mod tests {
    use super::ring_bytes;

    #[test]
    fn passes_leave_out_the_own_part() {
        assert_eq!(ring_bytes(4, 400, 1), Some(300));
        assert_eq!(ring_bytes(4, 400, 2), Some(600));
        assert_eq!(ring_bytes(3, 10, 1), Some(7));
        assert_eq!(ring_bytes(1, 10, 2), Some(0));
        assert_eq!(ring_bytes(0, 10, 2), None);
        assert_eq!(ring_bytes(3, u128::MAX, 1), None);
    }
}
