//! Several processes that measure one plan together, its ranks, on one machine or on many.
//!
//! Rank 0 runs the plan and decides everything: which cell, how much, when to end. For each part of
//! a trial it sends a [command](messages) to all. Each rank prepares, says that it is ready, starts
//! at the time that rank 0 appoints, and replies with its outcome; rank 0 [merges](merge) the
//! outcomes into one trial. Whatever happens to a rank, it calls the same methods of its [`Link`]
//! in the same order as the others, or they would wait for ever.
//!
//! Ranks that have nothing to do wait asleep: a link that spins would slow down its neighbours.

mod clock;
mod files;
mod follow;
mod leader;
mod link;
mod merge;
mod messages;
mod nodes;
mod part;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod threads;

pub use follow::follow;
pub use leader::{Ranks, dismiss};
pub use link::{Link, Roll, Started, boot_id};
