//! Workloads: what each task computes, sends and receives, in order.
//!
//! A [`Workload`] is the description of a parallel program by Perego and De Petris (1994): tasks that compute
//! for a number of cycles, and send and receive messages of a number of flits (the smallest unit that a link
//! carries). Repetitions are our addition. Sends do not wait; a receive waits for the next message of its
//! sender.
//!
//! | member | purpose |
//! |---|---|
//! | [`WorkloadBuilder`] | builds a workload, instruction by instruction |
//! | [`Cursor`] | walks through the instructions of a task, repetitions unrolled |
//! | [`check`] | proves that every message sent is received, and that there is no deadlock |
//! | [`generate`] | workloads of regular and random patterns |
//! | [`contention`] | the load of each link of a machine, and mappings whose busiest link carries less |
//! | [`recorded`] | workloads of recorded jobs |
//!
//! # Guarantees
//!
//! A [`Workload`] is always consistent. Its tasks exist, the n-th message from one task to another is
//! received with the length with which it is sent, there is no deadlock, and all sums of cycles and flits fit
//! 64 bits with a margin ([`MOST_WORK`]). Sends do not wait, so a deadlock does not depend on times: it is
//! detected by running the workload once, O(instructions, repetitions unrolled).
//!
//! # Reference
//!
//! R. Perego and G. De Petris, *A new mapping heuristic for last generation multicomputers*, CNUCE C94-09,
//! 1994.
//!
//! # Design
//!
//! ```text
//!  text ─▶ workload ─────────────────────────┐
//!          (checked by running it once)      ├─▶ simulator: completion time, loads, timeline
//!  machine ─▶ interconnect ─▶ routing ───────┤
//!                                            └─▶ estimate F ◀── model: w, q, m, l, phases
//!                                                   ▲
//!  starts ─▶ local search on F, loads, time ────────┘
//! ```
//!
//! - *A machine declares what joins its PEs* (`machine::Interconnect`), and `workload/routing/` derives links and routes from it; nothing else
//!   asks what kind of machine it is. A route states how messages travel, as worms or hop by hop, so a torus of trees has both.
//! - *A worm moves as a whole or not at all.* So a message over d links takes 2 d events, whatever its length, and no flit is ever moved by
//!   itself. `tests/common/flits/` does move flits individually, and hundreds of random cases agree to the cycle.
//! - *Links are taken in turns or shared* (`workload/simulate/turns.rs`, `shares.rs`). Tasks, calendar and report know nothing of that: what
//!   carries messages is a `Network`. Shares are max-min fair, found anew whenever a message starts or ends; of all that is simulated so, the
//!   completion times of recorded jobs differ from SimGrid's by a few per cent.
//! - *What MPI does is said in the language that is there* (`workload/recorded.rs`). A rendezvous is two messages of one flit, so neither the
//!   simulator nor F knows of MPI.
//! - *Events of a cycle come in a fixed order*: arrivals, ends, starts, requests, grants. Of simultaneous requests, that of the lowest sender
//!   is first. The order of events in a list decides nothing.
//! - *When a task moves, interference classes are taken apart and rebuilt*: those of its channels and those that its new routes touch.
//!   Union-find cannot undo a union; a table of who passes each link in each phase shows which classes are touched. Sums are whole numbers in
//!   fractions of a cycle, so the result equals that from scratch.
//! - *Where a PE has several tasks, F departs from the paper*: while one task waits, the others work, so R is the work of all or the longest of
//!   them, not the sum of both. On random workloads with four tasks per PE the sum is off by 60 %, this by 2 %.
//! - *One table for F* (`workload/map/search.rs`). It may take 1 GiB, so the mapper has one estimate, into which one mapping after the other is
//!   loaded. Loading one scans the whole workload, so whether to stop is checked before each.
//! - *F underestimates congestion*: by equation 9 a delay hardly grows with the number of messages in a class. So local search also evens out
//!   the loads of links, and continues in the simulator where that is affordable. One local search (`workload/map/descent.rs`) serves all three
//!   measures.

pub mod check;
pub mod contention;
pub mod estimate;
pub mod generate;
mod instruction;
pub mod map;
pub mod recorded;
pub mod routing;
pub mod simulate;
pub mod text;
mod workload;

pub use check::{WorkloadError, WorkloadFault};
pub use instruction::{Channel, Cursor, Instruction, MOST_INSTRUCTIONS, MOST_WORK, TaskId, Traffic};
pub use workload::{Workload, WorkloadBuilder};
