//! Requests: all combinations of constraints; limits of loads.

mod limits;
mod requests;
