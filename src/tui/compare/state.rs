//! What is compared, and what is seen of it.

use super::data::Compared;
use super::overlay::Overlay;
use crate::tui::curves::Metric;

/// What is seen of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum View {
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
    pub got: Option<Compared>,
    pub view: View,
    /// Which of the others is held against the baseline.
    pub other: usize,
    pub scroll: usize,
    pub overlay: Overlay,
    /// Metrics whose axis is the other one than usual.
    pub turned: Vec<Metric>,
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
    pub fn log(&self) -> bool {
        self.overlay.metric.usually_log() != self.turned.contains(&self.overlay.metric)
    }
}
