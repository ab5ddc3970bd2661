//! Statistics on plain slices: what a set of trials shows, and how far it can be trusted.
//!
//! This module knows nothing about files, units or sessions, and never panics: values that are not
//! finite are skipped, and a result that the values cannot support is `None`.

pub mod compare;
pub mod cost;
pub mod course;
pub mod drift;
pub mod histogram;
pub mod knee;
pub mod outlier;
pub mod paired;
pub mod plateau;
pub mod random;
pub mod series;
pub mod sign_test;
pub mod summary;
pub mod tail;

mod order;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use compare::{Ratio, may_be_chance};
pub use cost::Cost;
pub use course::{Course, course};
pub use histogram::Histogram;
pub use knee::Knees;
pub use order::median;
pub use outlier::{outliers, two_modes};
pub use plateau::{Plateau, plateaus};
pub use series::{merge_neighbours, reduce};
pub use sign_test::sign_test;
pub use summary::Summary;
pub use tail::tail_limits;
