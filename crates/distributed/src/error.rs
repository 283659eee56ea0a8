//! Errors that all ranks return alike.

use viem::base::error::{ErrorKind, HasKind};

use crate::comm::Comm;

/// The reason why a call has failed, the same on all ranks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct DistError {
    /// The first rank on which something was wrong.
    pub rank: usize,
    /// Its kind.
    pub kind: ErrorKind,
    /// The text of the message.
    pub message: String,
}

impl HasKind for DistError {
    fn kind(&self) -> ErrorKind {
        self.kind
    }
}

/// The kinds, by the number under which they are sent.
const KINDS: [ErrorKind; 7] = [
    ErrorKind::Usage,
    ErrorKind::BadData,
    ErrorKind::NoInput,
    ErrorKind::CannotCreate,
    ErrorKind::CannotWrite,
    ErrorKind::NoResources,
    ErrorKind::Internal,
];

/// Returns the result of a rank, if all ranks have one; otherwise the error of the first rank that has none.
pub fn agree<T, E: HasKind>(comm: &impl Comm, result: Result<T, E>) -> Result<T, DistError> {
    let failed = u64::from(result.is_err());
    let Some(rank) = comm.all_gather(&[failed]).words.iter().position(|&failed| failed == 1) else {
        return Ok(result.unwrap_or_else(|_| unreachable!("no rank has failed")));
    };
    let mut words = match &result {
        Err(error) if rank == comm.rank() => letter(error.kind(), &error.to_string()),
        _ => Vec::new(),
    };
    comm.broadcast(rank, &mut words);
    let kind = KINDS[words[0] as usize];
    Err(DistError { rank, kind, message: text(&words[1..]) })
}

/// Kind and message of an error as words.
fn letter(kind: ErrorKind, message: &str) -> Vec<u64> {
    let number = KINDS.iter().position(|&listed| listed == kind).unwrap_or(KINDS.len() - 1);
    std::iter::once(number as u64).chain(words(message)).collect()
}

/// A text as words: its length, then its bytes.
pub fn words(text: &str) -> impl Iterator<Item = u64> {
    let word = |bytes: &[u8]| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(word)
    };
    std::iter::once(text.len() as u64).chain(text.as_bytes().chunks(8).map(word))
}

/// The text that these words hold.
pub fn text(words: &[u64]) -> String {
    let Some((&length, words)) = words.split_first() else { return String::new() };
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).take(length as usize).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads;

    #[derive(Debug, thiserror::Error)]
    #[error("rank {0} has no such file — none")]
    struct Missing(usize);

    impl HasKind for Missing {
        fn kind(&self) -> ErrorKind {
            ErrorKind::NoInput
        }
    }

    #[test]
    fn the_first_error_is_that_of_all() {
        let try_on = |failing: &'static [usize]| {
            threads::run(4, move |comm| {
                let own = comm.rank();
                agree(comm, if failing.contains(&own) { Err(Missing(own)) } else { Ok(own) })
            })
        };
        assert_eq!(try_on(&[]), (0..4).map(Ok).collect::<Vec<_>>());
        let message = "rank 2 has no such file — none".to_owned();
        let expected = Err(DistError { rank: 2, kind: ErrorKind::NoInput, message });
        assert_eq!(try_on(&[3, 2]), vec![expected; 4]);
    }

    #[test]
    fn texts_of_any_length_survive() {
        for text in ["", "1234567", "12345678", "äöü and more"] {
            assert_eq!(super::text(&words(text).collect::<Vec<_>>()), text);
        }
    }
}
