//! Sizes of letters, and where curves are.

/// Sizes of letters.
pub const TITLE: f64 = 24.0;

pub const HEAD: f64 = 16.0;

pub const TEXT: f64 = 13.5;

pub const SMALL: f64 = 12.5;

pub const NOTE: f64 = 12.0;

/// Where the curves of a panel are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}
