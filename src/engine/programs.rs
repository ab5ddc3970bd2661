//! What measures: iotui and the peers of a plan, each with its version.

use std::time::Duration;

use super::control::Control;
use crate::peer;
use crate::plan::Plan;
use crate::sys::child::{self, Ask};

/// A program that has not told its version by then is not waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// Longer first lines say something else.
const LONGEST: usize = 80;

/// iotui, then each peer that the plan asks for and that is here, as it names itself.
pub(super) fn of(plan: &Plan, control: &Control) -> Vec<String> {
    let mut ids: Vec<&str> = plan.cells.iter().map(|job| job.backend.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    let peers = ids.into_iter().filter_map(|id| version(id, control));
    [concat!("iotui ", env!("CARGO_PKG_VERSION")).to_string()].into_iter().chain(peers).collect()
}

/// The first line of what a peer says to `--version`.
fn version(id: &str, control: &Control) -> Option<String> {
    let program =
        peer::find_program(peer::peer(id).ok()?, std::env::var_os("PATH").as_deref()).ok()?;
    let mut watch = |since: Duration| {
        if control.stopping() || since > PATIENCE { Ask::Kill } else { Ask::GoOn }
    };
    let said = child::run(&program, &["--version".to_string()], &mut watch).ok()?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    let line = text.lines().next()?.trim();
    let plain = said.status.success()
        && !line.is_empty()
        && line.len() <= LONGEST
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
        let programs = of(&plan, &Control::new(&NEVER));
        assert!(programs[0].starts_with("iotui ") && programs[0].len() > 8, "{programs:?}");
        let here =
            peer::find_program(peer::peer("dd").unwrap(), std::env::var_os("PATH").as_deref()).is_ok();
        // One of another family of tools may have no --version.
        assert!(programs.len() <= if here { 2 } else { 1 }, "{programs:?}");
        assert!(programs[1..].iter().all(|program| program.contains("dd")), "{programs:?}");
    }
}
