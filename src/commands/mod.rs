//! The commands other than a run: sessions, host, the far end of the network probes, lists.

mod args;
pub mod host;
pub mod list;
pub mod serve;
pub mod sessions;

pub use args::{ExportTo, Generate, Lists, Sessions};
pub use serve::Serve;
