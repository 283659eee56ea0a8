//! The operations of MPI as C has them.
#![allow(unsafe_code)] // a foreign interface

use std::ffi::c_void;

use viem_distributed::comm::{Reduction, starts_of};
use viem_distributed::rounds::Exchange;

/// A communicator, as `operations.h` declares it. The functions do not fail: an error of MPI ends the job.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Operations {
    comm: *mut c_void,
    rank: i32,
    size: i32,
    all_to_all: unsafe extern "C" fn(comm: *mut c_void, words: *const u64, received: *mut u64),
    all_to_all_v: unsafe extern "C" fn(
        comm: *mut c_void,
        words: *const u64,
        counts: *const i32,
        starts: *const i32,
        received: *mut u64,
        from: *const i32,
        from_starts: *const i32,
    ),
    all_gather_v: unsafe extern "C" fn(
        comm: *mut c_void,
        words: *const u64,
        count: i32,
        received: *mut u64,
        from: *const i32,
        from_starts: *const i32,
    ),
    all_reduce:
        unsafe extern "C" fn(comm: *mut c_void, numbers: *const i64, all: *mut i64, count: i32, how: i32),
    broadcast: unsafe extern "C" fn(comm: *mut c_void, words: *mut u64, count: i32, root: i32),
}

/// A communicator for as long as a call.
pub struct Mpi(Operations);

impl Mpi {
    /// # Safety
    ///
    /// The functions do what their namesakes of [`Exchange`] do, and the communicator is not freed before this.
    pub unsafe fn new(operations: Operations) -> Self {
        Self(operations)
    }
}

impl Exchange for Mpi {
    fn rank(&self) -> usize {
        self.0.rank as usize
    }

    fn size(&self) -> usize {
        self.0.size as usize
    }

    fn all_to_all(&self, words: &[u64], received: &mut [u64]) {
        // SAFETY: both have a word for each rank.
        unsafe { (self.0.all_to_all)(self.0.comm, words.as_ptr(), received.as_mut_ptr()) };
    }

    fn all_to_all_v(&self, words: &[u64], counts: &[i32], received: &mut [u64], from: &[i32]) {
        let (starts, from_starts) = (starts_of(counts), starts_of(from));
        // SAFETY: the arrays have the lengths that the counts say.
        unsafe {
            (self.0.all_to_all_v)(
                self.0.comm,
                words.as_ptr(),
                counts.as_ptr(),
                starts.as_ptr(),
                received.as_mut_ptr(),
                from.as_ptr(),
                from_starts.as_ptr(),
            );
        }
    }

    fn all_gather_v(&self, words: &[u64], received: &mut [u64], from: &[i32]) {
        let from_starts = starts_of(from);
        // SAFETY: as above.
        unsafe {
            (self.0.all_gather_v)(
                self.0.comm,
                words.as_ptr(),
                words.len() as i32,
                received.as_mut_ptr(),
                from.as_ptr(),
                from_starts.as_ptr(),
            );
        }
    }

    fn all_reduce(&self, numbers: &[i64], all: &mut [i64], how: Reduction) {
        let how = match how {
            Reduction::Sum => 0,
            Reduction::Least => 1,
            Reduction::Greatest => 2,
        };
        // SAFETY: both have this length.
        unsafe {
            (self.0.all_reduce)(self.0.comm, numbers.as_ptr(), all.as_mut_ptr(), numbers.len() as i32, how);
        }
    }

    fn broadcast(&self, root: usize, words: &mut [u64]) {
        // SAFETY: the array has this length.
        unsafe { (self.0.broadcast)(self.0.comm, words.as_mut_ptr(), words.len() as i32, root as i32) };
    }
}
