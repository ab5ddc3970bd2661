//! The session: the log of one run of one plan.
//!
//! A run is written line by line by a [`Recorder`], found by [`find`], listed by [`list`] and read
//! back by [`load`] into a [`Session`]. What it shows is made by [`crate::analysis`].

mod check;
mod damage;
mod edit;
mod end_line;
mod error;
mod fio;
mod head;
mod header_line;
mod label;
mod line;
mod list;
mod load;
mod loading;
mod log;
mod naming;
mod portable;
mod publish;
mod reader;
mod references;
mod salvage;
mod seal;
mod sink;
mod store;
mod timeline;
mod unrestored;
mod write;

#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(any(test, feature = "testing"))]
pub use seal::seal;

pub use edit::{Imported, delete, import, rename};
pub use error::SessionError;
pub use label::label;
pub use line::{Worst, target as target_of};
pub use list::{Listed, State, headers, list, newest};
pub use load::{Samples, load, samples};
pub use log::{CellLogs, Session};
pub use naming::{check_name, path_of};
pub use portable::{INDEX, portable_lines};
pub use references::{OTHER_EXPERIMENT, Reference, reference, references};
pub use store::{find, folder, open};
pub use timeline::{DEMO_ID, Timeline, demo, demo_lines, timeline};
pub use unrestored::{Unrestored, find_unrestored};
pub use write::{NewSession, Recorder, Rewrite, finite_findings, finite_verdict};

/// The version of the file format that this program reads and writes.
const SCHEMA: u64 = 1;
/// The extension of session files.
const SUFFIX: &str = "jsonl";
/// The longest name of a session, characters.
pub const NAME_LENGTH: usize = 80;
