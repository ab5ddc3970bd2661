//! Font sizes, and the area of the curves.

/// Font sizes.
pub const TITLE_HEIGHT: f64 = 24.0;

pub const HEADER_HEIGHT: f64 = 16.0;

pub const TEXT: f64 = 13.5;

pub const SMALL: f64 = 12.5;

pub const NOTE: f64 = 12.0;

/// The area of a panel's curves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}
