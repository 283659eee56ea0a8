//! Requests: all combinations of constraints; limits of loads; what is stopped early.

mod limits;
mod requests;
mod stopped;
