//! Requests: all combinations of constraints.

mod requests;
