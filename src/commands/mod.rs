//! Everything that is neither a run nor a screen: sessions, host, lists, completions.

mod args;
pub mod generate;
pub mod host;
pub mod list;
pub mod sessions;

pub use args::{CompareTo, ExportTo, Generate, Lists, Sessions};
