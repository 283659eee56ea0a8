//! Contention: how much each link of a machine carries under a mapping, and mappings whose busiest link carries less.
//!
//! The load of a link is the weight of the traffic that its routes bring, times the cost of the link. A message
//! from process u to process v follows the [route](crate::routing) between their PEs, so the loads of
//! all links add up to J, and the greatest load is a second objective beside it: the time in which the busiest
//! link carries its traffic, if the cost of a link is the time for a unit of weight. Messages of different times
//! count as if all were sent at once.
//!
//! | member | purpose |
//! |---|---|
//! | [`LinkLoads`] | the load of each link |
//! | [`Switches`] | the traffic that passes each switch between nodes |
//! | [`JobObjective`] | the table of objectives of jobs: J, the greatest load of a link or of a node, or a mix |
//! | [`BottleneckConfig`] | the search for such an objective, from a mapping of small J |
//!
//! A member of the table names the carriers of traffic (`Carriers`). Loads from scratch, their changes by moves, and the objective (the greatest load,
//! and then J) follow from that.

mod annealed;
mod bottleneck;
mod config;
mod link;
mod loads;
mod objective;
mod placed;
mod scale;
mod slots;
mod switch;

pub use config::BottleneckConfig;
pub use link::{BusiestLink, LinkLoads, routing_of};
pub use objective::JobObjective;
pub use switch::Switches;
