//! Running work on a given number of threads.

/// Why the threads cannot be created.
pub use rayon::ThreadPoolBuildError as ThreadsError;

/// Runs `work` where rayon uses `threads` threads, at least 1.
///
/// Even one thread is a pool of its own: outside of any pool, rayon would use every core. Work that is in such a pool already
/// stays there.
pub fn run<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> Result<R, ThreadsError> {
    if rayon::current_thread_index().is_some() && rayon::current_num_threads() == threads {
        return Ok(work());
    }
    Ok(rayon::ThreadPoolBuilder::new().num_threads(threads.max(1)).build()?.install(work))
}

#[cfg(test)]
mod tests {
    #[test]
    fn work_runs_on_as_many_threads_as_asked() {
        for threads in [1, 3] {
            assert_eq!(super::run(threads, rayon::current_num_threads).unwrap(), threads);
        }
    }
}
