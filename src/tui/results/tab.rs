//! The tabs of Results: at a glance, a chart per metric, the table.

use super::data::Data;
use crate::tui::curves::Metric;
use crate::tui::keymap::Action;

/// The kinds of tabs: of charts there are several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TabKind {
    #[default]
    Glance,
    Chart,
    Table,
}

/// What is shown of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    Glance,
    Plot(Metric),
    Table,
}

impl Tab {
    /// Every tab in its order, with its action and its name at three widths.
    pub const ALL: [(Tab, Action, [&'static str; 3]); 8] = [
        (Tab::Glance, Action::Glance, ["At a glance", "at a glance", "glance"]),
        (Tab::Plot(Metric::Throughput), Action::Throughput, ["Throughput", "bytes/s", "bytes"]),
        (Tab::Plot(Metric::Operations), Action::Operations, ["Operations", "ops/s", "ops"]),
        (Tab::Plot(Metric::Commits), Action::Commits, ["Commits", "commits/s", "commits"]),
        (Tab::Plot(Metric::SystemCalls), Action::SystemCalls, ["System calls", "calls/s", "calls"]),
        (Tab::Plot(Metric::Latency), Action::Latency, ["Latency", "latency", "latency"]),
        (Tab::Plot(Metric::Cpu), Action::Cpu, ["CPU per byte", "CPU", "CPU"]),
        (Tab::Table, Action::Table, ["Table", "table", "table"]),
    ];

    pub fn kind(self) -> TabKind {
        match self {
            Tab::Glance => TabKind::Glance,
            Tab::Plot(_) => TabKind::Chart,
            Tab::Table => TabKind::Table,
        }
    }

    /// Returns whether there is something to show on it.
    pub fn has_value(self, data: &Data) -> bool {
        match self {
            Tab::Plot(metric) => metric.has_value(data.results().iter()),
            Tab::Glance | Tab::Table => true,
        }
    }

    /// Returns the tab after this one or before it; metrics without a value are passed over.
    pub fn next(self, data: &Data, back: bool) -> Tab {
        let tabs: Vec<Tab> = Tab::ALL
            .into_iter()
            .map(|(tab, ..)| tab)
            .filter(|tab| *tab == self || tab.has_value(data))
            .collect();
        let at = tabs.iter().position(|tab| *tab == self).unwrap_or(0);
        let step = if back { tabs.len() - 1 } else { 1 };
        tabs.get((at + step) % tabs.len()).copied().unwrap_or(self)
    }
}
