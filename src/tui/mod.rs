//! The full-screen front end.

pub mod plot;
pub mod remember;
pub mod theme;
