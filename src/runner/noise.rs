//! The noise of this machine, by its saved runs.

use std::path::Path;

use super::saved_runs::open_newest;
use crate::analysis::{Noise, is_same_machine};
use crate::host::Host;
use crate::session::{Session, folder};

/// Runs that are used, the newest first, and files that are opened for them.
const MAX_RUNS: usize = 5;
const MAX_OPENED: usize = 15;
/// Larger files are skipped: the plan should not wait for them.
const MAX_BYTES: u64 = 2 << 20;

/// Returns the noise of the newest saved runs of this machine; `None` without any.
pub fn saved_noise(host: &Host) -> Option<Noise> {
    folder().ok().and_then(|dir| noise_in(&dir, host))
}

fn noise_in(dir: &Path, host: &Host) -> Option<Noise> {
    let runs: Vec<Session> = open_newest(dir, MAX_OPENED, MAX_BYTES, |_| true)
        .filter(|run| run.reference.is_none() && is_same_machine(&run.host, host))
        .take(MAX_RUNS)
        .collect();
    Noise::from_sessions(runs.iter())
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::record::End;
    use crate::session::{NewSession, Recorder, testing};

    #[test]
    fn only_runs_of_this_machine_count() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(noise_in(dir.path(), &Host::default()), None);
        let host = Host::default();
        let new = NewSession {
            name: None,
            slug: "x",
            host: &host,
            plan: &testing::plan(1),
            created: SystemTime::now(),
        };
        let mut recorder = Recorder::create(dir.path(), &new).unwrap();
        for round in 1..=6 {
            recorder.record(&testing::trial_event(0, round, (1 << 20) + (u64::from(round) << 12)));
        }
        recorder.finish(End::Finished);
        let noise = noise_in(dir.path(), &host).expect("a run of this machine");
        assert_eq!(noise.runs, 1);
        let mut other = host.clone();
        other.kernel += "x";
        assert_eq!(noise_in(dir.path(), &other), None);
    }
}
