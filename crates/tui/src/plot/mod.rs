//! Charts: what a terminal cell can show of a curve.
//!
//! A [`Chart`] draws curves with Braille dots, blocks or plain characters, on linear or logarithmic
//! axes, with gaps, intervals, rules and a cursor. [`Bars`], [`Track`], [`Histogram`] and
//! [`HeatPlot`] are its small relatives. All are pure: they get values and a
//! [`Look`](super::theme::Look), and draw into a buffer of any size.

mod axis;
mod bars;
mod canvas;
mod chart;
mod curve;
mod frame;
mod heat;
mod histogram;
mod overlay;
mod render;
mod sparkline;
mod strip;
mod track;

pub use axis::{Axis, Scale, Step, round_end};
pub use bars::{Bar, Bars, Part};
pub use chart::{Chart, Draw, Point, Rule, Series};
pub use heat::HeatPlot;
pub use histogram::Histogram;
pub use sparkline::sparkline;
pub use strip::{Fill, Strip, StripBar, StripRule};
pub use track::{Mark, Track, column};

#[cfg(test)]
mod names_tests;
#[cfg(test)]
mod pictures_tests;
#[cfg(test)]
mod property_tests;
