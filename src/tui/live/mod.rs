//! Live: what runs now, as it runs.
//!
//! | what | where |
//! |---|---|
//! | the run, its clock and what was asked of it | `run` |
//! | what is known and seen of it | `state` |
//! | what is drawn of it | `picture`, with `series`, `window`, `place`, `found` |
//! | messages and actions | `update` |
//! | the panes | `view` |

mod found;
mod layout;
mod picture;
mod place;
mod run;
mod series;
mod state;
mod step;
mod update;
mod view;
mod window;

#[cfg(test)]
mod tests;

pub use state::Live;
pub use update::{act, begin, end, handle_message, resume, stop, suspend, tick};
pub use view::{bar, draw};
