//! The version of the internet protocol.

/// The internet protocol; IPv4 unless the cell has a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ip {
    V4,
    V6,
}
