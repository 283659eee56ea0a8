//! How a partition is found as a whole: on several levels, in several steps, from several tries.

pub(super) mod enumeration;
pub(super) mod initial;
pub(super) mod many_to_one;
pub(super) mod multilevel;
pub(super) mod multisection;
pub(super) mod pool;
