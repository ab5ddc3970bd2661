//! The control groups of this process: where their files are.

use std::path::Path;

use super::root::Root;

/// Returns the folders of this process's groups of a controller of version 1, or of version 2 if
/// it is empty: its own first, then those above it, as far as they can be seen.
pub(super) fn folders(root: &Root, controller: &str) -> Vec<String> {
    let groups = root.text("/proc/self/cgroup").unwrap_or_default();
    let group = groups.lines().take(64).find_map(|line| {
        let (controllers, group) = line.split_once(':')?.1.split_once(':')?;
        controllers.split(',').any(|name| name == controller).then_some(group)
    });
    let Some(group) = group.filter(|group| !group.contains("..")) else { return Vec::new() };
    let base = match controller {
        // Next to version 1.
        "" if root.exists("/sys/fs/cgroup/unified") => "/sys/fs/cgroup/unified".into(),
        "" => "/sys/fs/cgroup".into(),
        name => format!("/sys/fs/cgroup/{name}"),
    };
    let all = Path::new(group.trim_start_matches('/')).ancestors().take(64);
    all.filter_map(|folder| Some(format!("{base}/{}", folder.to_str()?)))
        .filter(|folder| root.exists(folder))
        .collect()
}
