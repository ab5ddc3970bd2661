//! Everything that is neither a run nor a screen: sessions, host, the far end of the network
//! probes, lists, completions.

mod args;
pub mod generate;
pub mod host;
pub mod list;
pub mod serve;
pub mod sessions;

pub use args::{ExportTo, Generate, Lists, Sessions};
pub use serve::Serve;
