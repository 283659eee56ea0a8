//! How a partition is found as a whole: on several levels, in several steps, from several attempts.

pub(super) mod bound;
pub(super) mod enumeration;
pub(super) mod groups;
pub(super) mod initial;
pub(super) mod isolated;
pub(super) mod multilevel;
pub(super) mod pool;
