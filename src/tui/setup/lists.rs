//! The lists of backends and of settings on Setup: the common ones, those that are chosen, and a
//! last line that shows the rest or hides it again.

use super::rows;
use super::state::Setup;
use crate::plan::{Info, Setting};

/// A line of the backends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackendLine {
    /// The index of a backend.
    Backend(usize),
    /// Shows or hides those that are rarely needed; the number that is hidden.
    Fold(usize),
}

impl Setup {
    /// Returns the lines of the workload.
    pub fn workload_lines(&self) -> Vec<rows::Line> {
        let parts = self.preset.parts();
        rows::lines(self.all_settings, |name| {
            self.settings.text(name).is_some() || parts.iter().any(|part| part.text(name).is_some())
        })
    }

    /// Returns the line of a setting, if it is shown.
    pub fn find_line(&self, name: &str) -> Option<usize> {
        let is_it =
            |line: &rows::Line| matches!(line, rows::Line::Setting(row) if row.name == name);
        self.workload_lines().iter().position(is_it)
    }

    /// Returns the line of the workload with the cursor: the last one if there are fewer now.
    pub fn workload_cursor(&self) -> usize {
        self.row.min(self.workload_lines().len() - 1)
    }

    /// Returns the setting under the cursor; `None` on the line that folds.
    pub fn current_setting(&self) -> Option<&'static Setting> {
        match self.workload_lines().get(self.workload_cursor()) {
            Some(rows::Line::Setting(row)) => Some(row),
            _ => None,
        }
    }

    /// Returns the lines of the backends: the common ones, those that are `selected`, and if they
    /// are unfolded all; the last line folds.
    pub fn backend_lines(&self) -> Vec<BackendLine> {
        let selected = self.selected_ids();
        let is_shown = |info: &Info| {
            self.all_backends || info.common || selected.iter().any(|id| id == info.id)
        };
        let rows = self.infos.iter().enumerate().filter(|(_, info)| is_shown(info));
        // The common ones come first.
        let mut lines: Vec<BackendLine> = rows.map(|(at, _)| BackendLine::Backend(at)).collect();
        lines.sort_by_key(|line| match line {
            BackendLine::Backend(at) => !self.infos[*at].common,
            BackendLine::Fold(_) => true,
        });
        lines.push(BackendLine::Fold(self.infos.len() - lines.len()));
        lines
    }

    /// Returns the line of the backends with the cursor: the last one if there are fewer now.
    pub fn backend_cursor(&self) -> usize {
        self.backend.min(self.backend_lines().len() - 1)
    }

    /// Returns the backend under the cursor; `None` on the line that folds.
    pub fn current_backend(&self) -> Option<&'static Info> {
        match self.backend_lines().get(self.backend_cursor()) {
            Some(BackendLine::Backend(at)) => self.infos.get(*at).copied(),
            _ => None,
        }
    }

    /// Returns the ids of the backends of the plan, in any sweep.
    fn selected_ids(&self) -> Vec<String> {
        let effective = self.effective_settings();
        let sweeps = self.preset.sweeps.iter().filter_map(|sweep| sweep.backend.as_ref());
        let backends = effective.backend.iter().chain(sweeps);
        backends.flat_map(|list| list.choices(&self.infos)).map(|choice| choice.id).collect()
    }
}
