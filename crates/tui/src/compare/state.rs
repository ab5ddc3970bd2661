//! The compared sessions and how they are shown.

use super::data::LoadedComparison;
use super::overlay::Overlay;
use crate::curves::Metric;

/// The visible part of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum View {
    /// The cells, below the first differences in settings and environment.
    #[default]
    Cells,
    /// The full explanation as text.
    Words,
    /// The curves of all sessions in one chart.
    Chart,
}

#[derive(Debug, Default)]
pub struct Compare {
    /// Ids, the baseline first.
    pub requested: Vec<String>,
    /// The last comparison that finished; it stays while another is being computed.
    pub got: Option<LoadedComparison>,
    pub view: View,
    /// Index of the session that is compared with the baseline.
    pub other: usize,
    pub scroll: usize,
    pub overlay: Overlay,
    /// Metrics whose axis is switched from its default scale.
    pub turned: Vec<Metric>,
}

impl Compare {
    /// Creates an empty screen; `turned`: metrics whose axis is switched from its default scale.
    pub fn with_turned_axes(turned: Vec<Metric>) -> Compare {
        Compare { turned, ..Compare::default() }
    }

    /// Returns whether sessions are being loaded or compared.
    pub fn is_waiting(&self) -> bool {
        self.got.as_ref().is_none_or(|got| got.requested != self.requested)
    }

    /// Returns whether the value axis is logarithmic, as it is for latencies by default.
    pub fn log(&self) -> bool {
        self.overlay.metric.usually_log() != self.turned.contains(&self.overlay.metric)
    }
}
