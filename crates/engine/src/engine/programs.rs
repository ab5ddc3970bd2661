//! The versions of the programs that measure: iotui and the peers of a plan.

use std::time::Duration;

use super::control::Control;
use crate::peer;
use crate::plan::Plan;
use crate::sys::child::{self, ChildAction};

/// Time limit of `--version`.
const VERSION_TIMEOUT: Duration = Duration::from_secs(5);

/// Longer first lines are not versions.
const MAX_VERSION_LEN: usize = 80;

/// Returns the version of iotui, then that of each installed peer of the plan, as it names itself.
pub(super) fn versions(plan: &Plan, control: &Control) -> Vec<String> {
    let mut ids: Vec<&str> = plan.cells.iter().map(|job| job.backend.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    let peers = ids.into_iter().filter_map(|id| version(id, control));
    [concat!("iotui ", env!("CARGO_PKG_VERSION")).to_string()].into_iter().chain(peers).collect()
}

/// Returns the first line that a peer prints for `--version`.
fn version(id: &str, control: &Control) -> Option<String> {
    let program =
        peer::find_program(peer::peer(id).ok()?, std::env::var_os("PATH").as_deref()).ok()?;
    let mut watch = |since: Duration| {
        if control.stopping() || since > VERSION_TIMEOUT {
            ChildAction::Kill
        } else {
            ChildAction::Continue
        }
    };
    let output = child::run(&program, &["--version".to_string()], &mut watch).ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().next()?.trim();
    let plain = output.status.success()
        && !line.is_empty()
        && line.len() <= MAX_VERSION_LEN
        && line.chars().all(|c| c == ' ' || c.is_ascii_graphic());
    plain.then(|| line.to_string())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::plan::{Choice, Job, Op, TargetSpec};

    #[test]
    fn iotui_is_first_and_a_peer_names_itself() {
        static NEVER: AtomicBool = AtomicBool::new(false);
        let job = |id: &str| Job::plain(Choice::plain(id), Op::Read);
        let plan = Plan {
            cells: ["dd", "pread", "dd"].map(job).into(),
            ..Plan::plain("sweep", TargetSpec::None)
        };
        let programs = versions(&plan, &Control::new(&NEVER));
        assert!(programs[0].starts_with("iotui ") && programs[0].len() > 8, "{programs:?}");
        let here =
            peer::find_program(peer::peer("dd").unwrap(), std::env::var_os("PATH").as_deref())
                .is_ok();
        // A dd that is not from GNU may have no --version.
        assert!(programs.len() <= if here { 2 } else { 1 }, "{programs:?}");
        assert!(programs[1..].iter().all(|program| program.contains("dd")), "{programs:?}");
    }
}
