//! Metrics that serve several machines, and searches in them.

mod any;
pub(super) mod balls;
pub(super) mod differences;
pub(super) mod own;
pub(super) mod paths;
pub(super) mod small;
pub(super) mod stored;
