//! Compare: sessions against a baseline. Opened from Sessions with the marked ones.
//!
//! | what | where |
//! |---|---|
//! | what was compared, made off the screen's thread | [`data`] |
//! | curves over each other | [`overlay`] |
//! | what keys and messages do | [`update`] |
//! | the picture | [`view`], [`cells`], [`overlay_view`] |

mod cells;
mod data;
mod overlay;
mod overlay_view;
mod update;
mod view;

#[cfg(test)]
mod tests;

pub use data::{Compared, MOST};
pub use update::{act, begin, offered, told};
pub use view::draw;

use super::curves::Metric;
use overlay::Overlay;

/// What is seen of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum View {
    /// The cells, with the first of what differs above them.
    #[default]
    Cells,
    /// All that is said in words.
    Words,
    /// The curves over each other.
    Chart,
}

#[derive(Debug, Default)]
pub struct Compare {
    /// Ids, the baseline first.
    pub asked: Vec<String>,
    /// What is shown; while another one is awaited the last one stays.
    got: Option<Compared>,
    view: View,
    /// Which of the others is held against the baseline.
    other: usize,
    scroll: usize,
    overlay: Overlay,
    /// Metrics whose axis is the other one than usual.
    turned: Vec<Metric>,
}

impl Compare {
    /// Before anything is compared; `turned`: metrics whose axis is the other one than usual.
    pub fn begun(turned: Vec<Metric>) -> Compare {
        Compare { turned, ..Compare::default() }
    }

    /// Sessions are being loaded or compared.
    pub fn awaited(&self) -> bool {
        self.got.as_ref().is_none_or(|got| got.asked != self.asked)
    }

    /// Whether the axis of values is logarithmic; that of latencies is, unless it was changed.
    fn log(&self) -> bool {
        self.overlay.metric.usually_log() != self.turned.contains(&self.overlay.metric)
    }
}
