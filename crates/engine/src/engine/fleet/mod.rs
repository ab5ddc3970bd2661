//! Several processes that measure one plan together, its ranks, on one machine or on many.
//!
//! Rank 0 runs the plan and decides everything: which cell, how much, when to end. For each part of
//! a trial it sends an [`order`] to all. Each rank prepares, says that it is ready, starts at the
//! time that rank 0 appoints, and reports what it measured; rank 0 [merges](merge) the reports into
//! one trial. Whatever happens to a rank, it calls the same methods of its [`Link`] in the same
//! order as the others, or they would wait for ever.
//!
//! Ranks that have nothing to do wait asleep: a link that spins would slow down its neighbours.

mod clock;
mod crew;
mod ending;
mod follow;
mod join;
mod link;
mod machine;
mod merge;
mod nodes;
mod order;
mod part;
mod site;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod threads;

pub use crew::{Crew, dismiss};
pub use follow::follow;
pub use link::{Link, Started, boot_id};
