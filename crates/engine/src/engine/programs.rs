//! The versions of the programs that measure: iotui and the peers of a plan.

use super::control::Control;
use crate::peer;
use crate::plan::Plan;

/// Returns the version of iotui, then that of each installed peer of the plan, as it names itself.
pub(super) fn versions(plan: &Plan, control: &Control) -> Vec<String> {
    let mut ids: Vec<&str> = plan.cells.iter().map(|job| job.backend.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    let peers = ids.into_iter().filter_map(|id| version(id, control));
    [concat!("iotui ", env!("CARGO_PKG_VERSION")).to_string()].into_iter().chain(peers).collect()
}

/// Returns how an installed peer names itself.
fn version(id: &str, control: &Control) -> Option<String> {
    let program =
        peer::find_program(peer::peer(id).ok()?, std::env::var_os("PATH").as_deref()).ok()?;
    peer::version(&program, &|| control.stopping())
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
