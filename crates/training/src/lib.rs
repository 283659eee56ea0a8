//! Models that are trained or served in parallel.
//!
//! | module | purpose |
//! |---|---|
//! | [`jobs`] | the traffic between the ranks of a training job, as a graph or a workload |
//! | [`experts`] | places the experts of a model on GPUs |
//! | [`expert_trace`] | reads which experts tokens have chosen |

pub mod expert_trace;
pub mod experts;
pub mod jobs;

#[cfg(test)]
#[path = "../../../tests/common/problems.rs"]
mod testing;
