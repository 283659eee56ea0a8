//! MPI as a [`Comm`](viem_distributed::comm::Comm).

use mpi::Count;
use mpi::collective::SystemOperation;
use mpi::datatype::{Partition, PartitionMut};
use mpi::traits::{Communicator, CommunicatorCollectives, Root};
use viem_distributed::comm::{Reduction, starts_of};
use viem_distributed::rounds::{Exchange, Rounds};

/// A communicator of MPI.
pub type MpiComm<'a, C> = Rounds<Mpi<'a, C>>;

/// The operations of a communicator of MPI.
pub struct Mpi<'a, C>(&'a C);

impl<'a, C: Communicator> Mpi<'a, C> {
    /// The ranks of a communicator.
    pub fn comm(inner: &'a C) -> MpiComm<'a, C> {
        Rounds::new(Self(inner))
    }
}

impl<C: Communicator> Exchange for Mpi<'_, C> {
    fn rank(&self) -> usize {
        self.0.rank() as usize
    }

    fn size(&self) -> usize {
        self.0.size() as usize
    }

    fn all_to_all(&self, words: &[u64], received: &mut [u64]) {
        self.0.all_to_all_into(words, received);
    }

    fn all_to_all_v(&self, words: &[u64], counts: &[Count], received: &mut [u64], from: &[Count]) {
        let send = Partition::new(words, counts, starts_of(counts));
        let mut receive = PartitionMut::new(received, from, starts_of(from));
        self.0.all_to_all_varcount_into(&send, &mut receive);
    }

    fn all_gather_v(&self, words: &[u64], received: &mut [u64], from: &[Count]) {
        let mut receive = PartitionMut::new(received, from, starts_of(from));
        self.0.all_gather_varcount_into(words, &mut receive);
    }

    fn all_reduce(&self, numbers: &[i64], all: &mut [i64], how: Reduction) {
        let operation = match how {
            Reduction::Sum => SystemOperation::sum(),
            Reduction::Least => SystemOperation::min(),
            Reduction::Greatest => SystemOperation::max(),
        };
        self.0.all_reduce_into(numbers, all, operation);
    }

    fn broadcast(&self, root: usize, words: &mut [u64]) {
        self.0.process_at_rank(root as i32).broadcast_into(words);
    }
}
