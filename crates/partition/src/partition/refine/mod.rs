//! Local improvement of partitions.

pub(crate) mod balance;
pub(crate) mod connect;
pub(crate) mod cycles;
pub(crate) mod fill;
pub(crate) mod flow;
pub(crate) mod k_way;
pub(crate) mod two_way;
pub(crate) mod unconstrained;
pub(crate) mod volume;
