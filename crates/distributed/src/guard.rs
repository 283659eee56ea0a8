//! A panic on one rank as an error on all.
//!
//! Before each collective operation, the ranks say whether they are all there. One that has panicked comes there too, and says no: so no rank waits for
//! it in an operation that it never calls. That costs a reduction of one word for each operation.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use viem::base::error::{ErrorKind, HasKind};

use crate::comm::{Comm, Received, Reduction, greatest};
use crate::error::{DistError, agree};

/// The ranks of a communicator, none of which has panicked.
pub struct Guarded<'a, C> {
    inner: &'a C,
}

/// The panic of a rank that learns that another rank has panicked.
struct Lost;

/// The panic of a rank.
#[derive(Debug, thiserror::Error)]
#[error("this is a mistake of the library; please report it: {0}")]
struct Panicked(String);

impl HasKind for Panicked {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Internal
    }
}

/// Returns the result of `work`. If it panics on a rank, all ranks return that as an error. Collective.
///
/// All that it does on other ranks goes through the communicator that it is given.
///
/// ```
/// use viem_distributed::comm::{Comm, sum};
/// use viem_distributed::{guard, threads};
///
/// let results = threads::run(3, |comm| {
///     guard::guarded(comm, |comm| {
///         assert!(comm.rank() != 1, "no luck");
///         Ok(sum(comm, 1))
///     })
/// });
/// assert!(results.iter().all(|result| result.as_ref().is_err_and(|error| error.message.contains("no luck"))));
/// ```
pub fn guarded<C: Comm, T>(
    comm: &C,
    work: impl FnOnce(&Guarded<'_, C>) -> Result<T, DistError>,
) -> Result<T, DistError> {
    let guarded = Guarded { inner: comm };
    let outcome = catch_unwind(AssertUnwindSafe(|| work(&guarded)));
    let own = match outcome {
        Ok(result) if guarded.are_all_there(true) => return result,
        Ok(_) => Ok(()),
        Err(panic) if panic.is::<Lost>() => Ok(()),
        Err(panic) => {
            guarded.are_all_there(false);
            Err(Panicked(message(panic)))
        }
    };
    // All ranks have learned at the same time that one has panicked.
    agree(comm, own)?;
    Err(DistError { rank: comm.rank(), kind: ErrorKind::Internal, message: "another rank has failed".into() })
}

fn message(panic: Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    // Dropping the payload of a panic may panic again.
    std::mem::forget(panic);
    text.unwrap_or_else(|| "a panic without a message".into())
}

impl<C: Comm> Guarded<'_, C> {
    fn are_all_there(&self, am_there: bool) -> bool {
        greatest(self.inner, u64::from(!am_there)) == 0
    }

    /// Goes no further if a rank has panicked.
    fn meet(&self) {
        if !self.are_all_there(true) {
            resume_unwind(Box::new(Lost));
        }
    }
}

impl<C: Comm> Comm for Guarded<'_, C> {
    fn rank(&self) -> usize {
        self.inner.rank()
    }

    fn size(&self) -> usize {
        self.inner.size()
    }

    fn all_to_all(&self, words: &[u64], counts: &[usize]) -> Received {
        self.meet();
        self.inner.all_to_all(words, counts)
    }

    fn all_gather(&self, words: &[u64]) -> Received {
        self.meet();
        self.inner.all_gather(words)
    }

    fn all_reduce(&self, words: &mut [u64], how: Reduction) {
        self.meet();
        self.inner.all_reduce(words, how);
    }

    fn broadcast(&self, root: usize, words: &mut Vec<u64>) {
        self.meet();
        self.inner.broadcast(root, words);
    }

    fn barrier(&self) {
        self.meet();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::sum;
    use crate::threads;

    #[test]
    fn a_panic_at_any_place_is_an_error_on_all_ranks() {
        for place in 0..=3 {
            for panicking in [&[2][..], &[0, 3], &[0, 1, 2, 3]] {
                let results = threads::run(4, |comm| {
                    guarded(comm, |comm| {
                        for step in 0..=3 {
                            assert!(
                                step != place || !panicking.contains(&comm.rank()),
                                "rank {}",
                                comm.rank()
                            );
                            if step < 3 {
                                assert_eq!(sum(comm, 1), 4);
                            }
                        }
                        Ok(())
                    })
                });
                for error in results.into_iter().map(Result::unwrap_err) {
                    assert_eq!((error.rank, error.kind), (panicking[0], ErrorKind::Internal));
                    assert!(error.message.ends_with(&format!("rank {}", panicking[0])), "{error}");
                }
            }
        }
    }

    #[test]
    fn what_does_not_panic_is_returned() {
        let error = DistError { rank: 0, kind: ErrorKind::Usage, message: "wrong".into() };
        let results = threads::run(3, |comm| {
            let fine = guarded(comm, |comm| Ok(sum(comm, 2)));
            let failed: Result<(), _> = guarded(comm, |_| Err(error.clone()));
            (fine, failed)
        });
        assert!(results.iter().all(|result| *result == (Ok(6), Err(error.clone()))));
    }
}
