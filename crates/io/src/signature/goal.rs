//! The beginning of GOAL schedules.

/// The word that a schedule begins with, before the number of its ranks.
pub const NUM_RANKS: &[u8] = b"num_ranks";

/// Returns whether a file that starts with these bytes is a schedule: the number of ranks comes first, behind blanks and comments.
pub fn is_goal(start: &[u8]) -> bool {
    let mut rest = start;
    loop {
        rest = skip_blanks(rest);
        let end: &[u8] = match rest {
            [b'/', b'/', ..] => b"\n",
            [b'/', b'*', ..] => b"*/",
            _ => break,
        };
        let behind = &rest[2..];
        let Some(length) = behind.windows(end.len()).position(|bytes| bytes == end) else { return false };
        rest = &behind[length + end.len()..];
    }
    let is_longer = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    rest.strip_prefix(NUM_RANKS).is_some_and(|rest| !rest.first().is_some_and(is_longer))
}

fn skip_blanks(text: &[u8]) -> &[u8] {
    let blanks = text.iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == b'\x0b').count();
    &text[blanks..]
}

#[test]
fn comments_are_passed_over() {
    for text in ["num_ranks 2", " \n// a\n/* b\nnum_ranks // */ num_ranks 2\n", "/*/ */num_ranks"] {
        assert!(is_goal(text.as_bytes()), "{text}");
    }
    for text in ["", "num_ranks2", "// num_ranks 2", "/* num_ranks 2", "/*/ num_ranks", "rank 0 {"] {
        assert!(!is_goal(text.as_bytes()), "{text}");
    }
}
