//! The label of a session without a name: its target, and what was measured on it.

use crate::plan::{Job, Op, Plan, Presets, TargetSpec};
use crate::text::{clean, unique};

/// More backends than these are counted, not named.
const MAX_NAMED: usize = 3;
/// The longest label, characters.
const MAX_LENGTH: usize = 60;
/// Between the target and what was measured.
const BETWEEN: &str = " · ";

/// Returns the label of a plan: `big.iso · read,mmap`, `scratch · peak`.
pub fn label(plan: &Plan) -> String {
    let parts: Vec<String> =
        [target(plan), special(plan)].into_iter().filter(|part| !part.is_empty()).collect();
    clean::brief(&parts.join(BETWEEN), MAX_LENGTH)
}

fn target(plan: &Plan) -> String {
    if !plan.others.is_empty() {
        return format!("{} files", plan.targets().count());
    }
    match &plan.target {
        TargetSpec::Scratch { .. } => "scratch".into(),
        TargetSpec::File { path, .. }
        | TargetSpec::New { path, .. }
        | TargetSpec::Files { dir: path, .. } => {
            path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
        }
        TargetSpec::None => String::new(),
    }
}

/// Returns the preset unless it is the default one, else the backends, and what they do if that is
/// not reading.
fn special(plan: &Plan) -> String {
    let presets: Vec<&str> =
        plan.presets.iter().map(String::as_str).filter(|id| *id != Presets::DEFAULT).collect();
    if !presets.is_empty() {
        return presets.join(",");
    }
    if plan.cells.is_empty() {
        let mut probes: Vec<&str> = plan.probes.iter().map(|cell| cell.probe.as_str()).collect();
        probes.dedup();
        return listed(&probes, "probes");
    }
    let backends = unique(plan.cells.iter().map(Job::way));
    let names: Vec<&str> = backends.iter().map(String::as_str).collect();
    let writes = plan.cells.iter().all(|job| job.op == Op::Write);
    let names = listed(&names, "backends");
    let is_call = names == Op::Write.name();
    if writes && !is_call { format!("write with {names}") } else { names }
}

fn listed(names: &[&str], what: &str) -> String {
    if names.len() > MAX_NAMED { format!("{} {what}", names.len()) } else { names.join(",") }
}

/// Returns the label of a session of an earlier version, whose first line has none: the name of its
/// file.
pub(super) fn from_target(target: &str) -> String {
    let target = if target.starts_with("scratch ") { "scratch" } else { target };
    let name = target.rsplit('/').find(|part| !part.is_empty()).unwrap_or(target);
    if name == "-" { String::new() } else { clean::brief(name, MAX_LENGTH) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Cache;
    use crate::session::testing;

    fn labelled(presets: &[&str], backends: &[&str]) -> String {
        let mut plan = testing::plan(0);
        plan.presets = presets.iter().map(|id| (*id).to_string()).collect();
        plan.cells = backends
            .iter()
            .flat_map(|backend| [4096, 8192].map(|size| testing::job(backend, size, Cache::Warm)))
            .collect();
        label(&plan)
    }

    #[test]
    fn labels_have_target_and_specialty() {
        assert_eq!(labelled(&["quick"], &["read", "mmap"]), "file · read,mmap");
        assert_eq!(labelled(&[], &["read", "mmap", "uring", "aio"]), "file · 4 backends");
        assert_eq!(labelled(&["peak"], &["read"]), "file · peak");
        let scratch = TargetSpec::Scratch { dir: "/tmp".into(), size: 1 << 29, keep: false };
        let mut plan = Plan { target: scratch, ..testing::plan(1) };
        assert_eq!(label(&plan), "scratch · read");
        plan.cells[0] = testing::job("uring", 4096, Cache::AsIs);
        plan.cells[0].op = Op::Write;
        assert_eq!(label(&plan), "scratch · write with uring");
        plan.target = TargetSpec::File { path: "/a/x\u{1b}y".into(), size: 1 };
        assert!(!label(&plan).contains('\u{1b}'));
        plan.target = TargetSpec::None;
        plan.presets = vec!["lab/memory".into()];
        assert_eq!(label(&plan), "lab/memory");
    }

    #[test]
    fn old_sessions_are_labelled_by_file() {
        for (target, expected) in
            [("/data/big.iso", "big.iso"), ("scratch 512 MiB", "scratch"), ("-", ""), ("/", "/")]
        {
            assert_eq!(from_target(target), expected);
        }
    }
}
