//! The speed of a disk in saved runs.

use crate::analysis::{CellResult, results};
use crate::experiment::{DiskRate, DiskSpeed};
use crate::facts::TargetFacts;
use crate::plan::{Job, Op, Sync};
use crate::record::TargetEvidence;
use crate::session::Session;
use crate::stats;

/// Returns whether a target of the session was on the disk and file system of these facts.
pub fn was_on_disk(session: &Session, facts: &TargetFacts) -> bool {
    let mut targets = session.grounds.iter().flat_map(|grounds| grounds.targets());
    targets.any(|target| is_on_disk(target, facts))
}

fn is_on_disk(target: &TargetEvidence, facts: &TargetFacts) -> bool {
    !target.device.is_empty() && target.fs == facts.fs && target.device == facts.device_line()
}

/// Returns the speed of this disk: the median over runs of the fastest cell that the disk served.
pub fn disk_speed<'a>(
    sessions: impl Iterator<Item = &'a Session>,
    facts: &TargetFacts,
) -> DiskSpeed {
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    for session in sessions.filter(|session| was_on_disk(session, facts)) {
        let Some(grounds) = &session.grounds else { continue };
        let results = results(session);
        let fastest = |is_of: fn(&CellResult) -> bool| {
            let of_disk =
                results.iter().filter(|result| is_on_disk(grounds.target_of(&result.cell), facts));
            let figures = of_disk.filter(|result| !result.cell.is_paced() && is_of(result));
            let figures = figures.filter(|result| result.is_sound());
            let figures = figures.filter_map(|result| Some(result.throughput?.summary.median));
            figures.filter(|rate| *rate > 0.0).reduce(f64::max)
        };
        reads.extend(fastest(|result| result.cell.op == Op::Read && result.is_from_device()));
        writes.extend(fastest(|result| is_written_to_disk(&result.cell)));
    }
    let rate = |of_runs: &[f64]| match stats::median(of_runs) {
        Some(bytes_per_second) => DiskRate { bytes_per_second, runs: of_runs.len() },
        None => DiskRate::default(),
    };
    DiskSpeed { read: rate(&reads), write: rate(&writes) }
}

fn is_written_to_disk(job: &Job) -> bool {
    job.op == Op::Write && job.mix.is_none() && (job.direct || job.sync != Sync::None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::DiskSpeed;
    use crate::record::{Grounds, Source, TargetEvidence, Verdict};
    use crate::session::testing;

    fn facts(name: &str) -> TargetFacts {
        let disk = serde_json::json!({
            "name": name, "kind": "disk", "major": 254, "minor": 0, "depth": 0,
        });
        let devices = vec![serde_json::from_value(disk).unwrap()];
        TargetFacts { fs: "ext4".into(), devices, ..TargetFacts::default() }
    }

    /// A run on `vda` whose first cell reads from the device at this speed; the second is faster,
    /// from memory.
    fn run(bytes_per_second: u64) -> Session {
        let mut session = testing::session(2);
        let target = TargetEvidence {
            fs: "ext4".into(),
            device: facts("vda").device_line(),
            ..TargetEvidence::default()
        };
        session.grounds = Some(Grounds { target, ..Grounds::default() });
        for (cell, device) in [(0, 1.0), (1, 0.0)] {
            let source =
                Source { device, page_cache: 1.0 - device, hole: 0.0, unknown: 0.0, below: 0.0 };
            let verdict = Verdict { source: Some(source), ..Verdict::default() };
            session.verdicts[cell as usize] = Some(verdict.into());
            let mut trial = testing::trial(cell, 1, bytes_per_second * u64::from(1 + 9 * cell));
            trial.nanos = 1_000_000_000;
            session.trials.push(trial.into());
        }
        session
    }

    #[test]
    fn fastest_cells_give_the_disk_speed() {
        let runs = [run(100 << 20), run(300 << 20), run(200 << 20)];
        let speed = disk_speed(runs.iter(), &facts("vda"));
        assert_eq!(speed.read, DiskRate { bytes_per_second: f64::from(200 << 20), runs: 3 });
        assert_eq!(speed.write, DiskRate::default(), "nothing was written");
        for unknown in
            [facts("vdb"), TargetFacts::default(), TargetFacts { fs: "xfs".into(), ..facts("vda") }]
        {
            assert_eq!(disk_speed(runs.iter(), &unknown), DiskSpeed::default());
        }
        let mut writes = run(1 << 30);
        for job in &mut writes.plan.cells {
            (job.op, job.direct) = (Op::Write, true);
        }
        let speed = disk_speed([writes].iter(), &facts("vda"));
        assert_eq!((speed.read.runs, speed.write.runs), (0, 1));
    }
}
