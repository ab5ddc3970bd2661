//! Statistics on plain slices.

mod summary;

pub use summary::Summary;
