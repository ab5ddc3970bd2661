//! The control groups of this process: where their files are.

use std::path::PathBuf;

use super::root::Root;
use crate::sys::memory_limit::group_path;

/// The control groups of this process at one moment.
pub(super) struct Groups<'a> {
    root: &'a Root,
    /// The text of `/proc/self/cgroup`.
    text: String,
}

impl Groups<'_> {
    pub fn of_process(root: &Root) -> Groups<'_> {
        Groups { root, text: root.text("/proc/self/cgroup").unwrap_or_default() }
    }

    /// Returns the folders of this process's groups of a controller of version 1, or of version 2
    /// if it is empty: its own first, then those above it, as far as they can be seen.
    pub fn folders(&self, controller: &str) -> Vec<String> {
        let is_inside = |group: &PathBuf| group.to_str().is_some_and(|group| !group.contains(".."));
        let Some(group) = group_path(&self.text, controller).filter(is_inside) else {
            return Vec::new();
        };
        let base = match controller {
            // Next to version 1.
            "" if self.root.exists("/sys/fs/cgroup/unified") => "/sys/fs/cgroup/unified".into(),
            "" => "/sys/fs/cgroup".into(),
            name => format!("/sys/fs/cgroup/{name}"),
        };
        let all = group.strip_prefix("/").unwrap_or(&group).ancestors().take(64);
        all.filter_map(|folder| Some(format!("{base}/{}", folder.to_str()?)))
            .filter(|folder| self.root.exists(folder))
            .collect()
    }
}
