//! Noise and disk speed of this machine, from saved runs.

use std::path::Path;

use super::saved_runs::open_newest;
use crate::analysis::{Noise, disk_speed, is_same_machine, was_on_disk};
use crate::experiment::DiskSpeed;
use crate::facts::{Host, TargetFacts};
use crate::session::{Session, folder};

/// Runs that are used, the newest first, and files that are opened for them.
const MAX_RUNS: usize = 5;
const MAX_OPENED: usize = 15;
/// Larger files are skipped: the plan should not wait for them.
const MAX_BYTES: u64 = 2 << 20;

/// The scatter of trials on this machine, and the speed of the disk.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Experience {
    pub noise: Noise,
    /// Assumed where no run was on the disk.
    pub disk: DiskSpeed,
}

/// Returns the experience of this machine's newest saved runs; the disk speed from runs on the file
/// system of `facts`.
pub fn saved_experience(host: &Host, facts: Option<&TargetFacts>) -> Experience {
    folder().map_or_else(|_| Experience::default(), |dir| experience_in(&dir, host, facts))
}

fn experience_in(dir: &Path, host: &Host, facts: Option<&TargetFacts>) -> Experience {
    let is_on_disk = |run: &Session| facts.is_some_and(|facts| was_on_disk(run, facts));
    let (mut runs, mut on_disk): (Vec<Session>, usize) = (Vec::new(), 0);
    let opened = open_newest(dir, MAX_OPENED, MAX_BYTES, |_| true)
        .filter(|run| run.reference.is_none() && is_same_machine(&run.host, host));
    for run in opened {
        on_disk += usize::from(is_on_disk(&run));
        runs.push(run);
        if runs.len() >= MAX_RUNS && (facts.is_none() || on_disk >= MAX_RUNS) {
            break;
        }
    }
    let own = runs.iter().filter(|run| is_on_disk(run)).take(MAX_RUNS);
    Experience {
        noise: Noise::from_sessions(runs.iter().take(MAX_RUNS)),
        disk: facts.map_or_else(DiskSpeed::default, |facts| disk_speed(own, facts)),
    }
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
        assert_eq!(experience_in(dir.path(), &Host::default(), None), Experience::default());
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
        let noise =
            experience_in(dir.path(), &host, None).noise.reads.expect("a run of this machine");
        assert_eq!(noise.runs, 1);
        let mut other = host.clone();
        other.kernel += "x";
        assert_eq!(experience_in(dir.path(), &other, None), Experience::default());
    }
}
