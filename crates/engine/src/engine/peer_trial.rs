//! Runs a trial by a peer: its process takes the place of the lanes.
//!
//! The peer's figures are checked from outside: it cannot have read for longer than it ran.
//! Everything around the trial is as for lanes, the cache state before it and
//! the device counters alike: the kernel adds a child's I/O to its parent's once the child is gone.

use std::fs::File;
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::control::Cut;
use super::error::Failure;
use super::workers::{LaneResult, LaneResults, Spec, Watch};
use crate::backend::access_pattern::Share;
use crate::backend::work::Tally;
use crate::peer::{self, Output, Part, Peer, Task, ThreadResult};
use crate::record::{LaneSample, Note, Sample};
use crate::sys::child::{self, ChildAction, ChildExit};
use crate::sys::usage::Usage;
use crate::units::show_nanos;

/// A run is killed once it takes this many times as long as expected, plus [`MIN_TIMEOUT`].
const TIMEOUT_FACTOR: u32 = 20;
const MIN_TIMEOUT: Duration = Duration::from_secs(20);

/// Runs the trial; all blocks of `spec.job` are full ones. `expected` is its expected duration.
pub(super) fn run(
    peer: &dyn Peer,
    spec: &Spec,
    file: &File,
    expected: Duration,
    at_go: &mut dyn FnMut() -> bool,
    cut: &dyn Fn() -> Option<Cut>,
    sample: &mut Watch,
) -> Result<LaneResults, Failure> {
    let program =
        peer::find_program(peer, std::env::var_os("PATH").as_deref()).map_err(Failure::Cell)?;
    // Through our own descriptor: it is that file, whatever its name is now.
    let path = PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()));
    let (shares, parts) = plan_lanes(spec);
    let task = Task {
        job: &spec.job,
        file: &path,
        parts: &parts,
        passes: spec.passes,
        seed: spec.seed,
        limit: spec.limit,
    };
    let timeout =
        spec.limit.unwrap_or(expected).saturating_mul(TIMEOUT_FACTOR).saturating_add(MIN_TIMEOUT);
    let mut stopped = false;
    let mut late = false;
    let mut watch = |since: Duration| {
        stopped |= cut().is_some();
        late |= since > timeout;
        if stopped || late {
            return ChildAction::Kill;
        }
        match spec.limit {
            Some(limit) if since > limit && !peer.obeys_limit() => ChildAction::Interrupt,
            _ => ChildAction::Continue,
        }
    };
    preload(&program, cut)?;
    if !at_go() {
        return Err(Failure::Stopped);
    }
    let id = peer.info().id;
    let ended = match child::run(&program, &peer.command(&task), &mut watch) {
        Err(error) if error.kind() == ErrorKind::TimedOut => Err(Failure::Abandoned),
        Err(error) => Err(Failure::Cell(format!("cannot run {}: {error}", program.display()))),
        Ok(_) if stopped => Err(Failure::Stopped),
        Ok(_) if late => Err(Failure::Cell(format!(
            "{id} did not finish within {} and was killed",
            show_nanos(timeout.as_nanos() as f64)
        ))),
        Ok(ended) => check_output_size(id, ended),
    }?;
    let done = parse_output(peer, &task, &ended)?;
    Ok(LaneResults {
        samples: vec![send_final_sample(&done, sample)],
        lanes: to_lane_results(spec, &shares, &done, &ended),
        ..LaneResults::default()
    })
}

fn check_output_size(id: &str, ended: ChildExit) -> Result<ChildExit, Failure> {
    if ended.overflowed {
        return Err(Failure::Cell(format!(
            "{id} printed more than {} MiB and was killed",
            child::MAX_OUTPUT >> 20
        )));
    }
    Ok(ended)
}

/// Reads the program and its libraries into the page cache: fio's are 60 MB and would count as
/// device bytes.
fn preload(program: &Path, cut: &dyn Fn() -> Option<Cut>) -> Result<(), Failure> {
    let mut stopped = false;
    let mut watch = |since: Duration| {
        stopped |= cut().is_some();
        if stopped || since > MIN_TIMEOUT / 4 { ChildAction::Kill } else { ChildAction::Continue }
    };
    // Its failures show up in the trial itself.
    let _ = child::run(program, &["--version".to_string()], &mut watch);
    if stopped { Err(Failure::Stopped) } else { Ok(()) }
}

/// Returns the shares of the job's lanes, and the same as parts of the peer's task.
fn plan_lanes(spec: &Spec) -> (Vec<Share>, Vec<Part>) {
    // A share without blocks has no part: fio takes a size of 0 for the whole file.
    let shares: Vec<Share> = (0..spec.job.threads)
        .map(|lane| Share::for_lane(&spec.job, lane, spec.count, spec.seed))
        .filter(|share| share.quota > 0)
        .collect();
    let parts = shares.iter().map(|share| Part {
        offset: share.range().start,
        len: share.range().end - share.range().start,
        ops: share.quota,
    });
    let parts = parts.collect();
    (shares, parts)
}

/// Parses what the peer printed, and rejects figures that cannot be true.
fn parse_output(
    peer: &dyn Peer,
    task: &Task,
    ended: &ChildExit,
) -> Result<Vec<ThreadResult>, Failure> {
    let id = peer.info().id;
    let stdout = String::from_utf8_lossy(&ended.stdout);
    let stderr = String::from_utf8_lossy(&ended.stderr);
    let done = peer.parse(task, &Output { stdout: &stdout, stderr: &stderr });
    let interrupted = task.limit.is_some() && !peer.obeys_limit();
    if !ended.status.success() && !interrupted {
        let why = match done {
            Err(error) => error.to_string(),
            Ok(_) => peer::first_line(&stderr).unwrap_or_default(),
        };
        return Err(Failure::Cell(format!("{id} failed ({}): {why}", ended.status)));
    }
    let done = done.map_err(|error| Failure::Cell(error.to_string()))?;
    let wall = ended.ended - ended.started;
    let longest = done.iter().map(|done| done.nanos).max().unwrap_or(0);
    let step = done.iter().map(|done| done.step).max().unwrap_or(0);
    if longest > wall.saturating_add(2 * step) {
        return Err(Failure::Cell(format!(
            "{id} reported reading for {} but ran for only {}; do not trust its figures",
            show_nanos(longest as f64),
            show_nanos(wall as f64)
        )));
    }
    let read: u64 = done.iter().map(|done| done.ops).sum();
    let planned: u64 = task.parts.iter().map(|part| part.ops * task.passes).sum();
    if task.limit.is_none() && read != planned {
        return Err(Failure::Cell(format!("{id} read {read} blocks instead of {planned}")));
    }
    Ok(done)
}

/// Sends the only sample of a peer: nothing is known before it has ended.
fn send_final_sample(done: &[ThreadResult], sample: &mut Watch) -> Sample {
    fn lane_sample(done: &ThreadResult) -> LaneSample {
        LaneSample { bytes: done.bytes, ops: done.ops, syscalls: done.syscalls.unwrap_or(0) }
    }
    let lanes: Vec<LaneSample> = done.iter().map(lane_sample).collect();
    let nanos = done.iter().map(|done| done.nanos).max().unwrap_or(0);
    let mut all = Sample { at: nanos, nanos, ..Sample::default() };
    for lane in &lanes {
        all.bytes += lane.bytes;
        all.ops += lane.ops;
        all.syscalls += lane.syscalls;
    }
    sample(all, lanes.into());
    all
}

/// Returns the part of the usage of a process that falls in its window of `nanos`, of the `wall`
/// time that it ran: it also started and prepared, of which only the sum is known.
fn in_window(usage: Usage, nanos: u64, wall: u64) -> Usage {
    let part =
        |of: u64| (u128::from(of) * u128::from(nanos.min(wall)) / u128::from(wall.max(1))) as u64;
    Usage { user_nanos: part(usage.user_nanos), system_nanos: part(usage.system_nanos), ..usage }
}

/// Converts the peer's figures to results of lanes.
fn to_lane_results(
    spec: &Spec,
    shares: &[Share],
    done: &[ThreadResult],
    ended: &ChildExit,
) -> Vec<LaneResult> {
    let to_lane = |(index, (share, done)): (usize, (&Share, &ThreadResult))| {
        let quota = share.quota.max(1);
        let mut notes = Vec::new();
        if done.syscalls.is_none() {
            notes.push(Note::CallsUnknown);
        }
        if done.step.saturating_mul(100) > done.nanos {
            notes.push(Note::CoarseClock(done.step));
        }
        // The usage of the whole process counts only once.
        let wall = ended.ended.saturating_sub(ended.started);
        let own =
            || if index == 0 { in_window(ended.usage, done.nanos, wall) } else { Usage::default() };
        let usage = done.usage.unwrap_or_else(own);
        let tally = Tally {
            bytes: done.bytes,
            ops: done.ops,
            syscalls: done.syscalls.unwrap_or(0),
            passes: (done.ops / quota).min(spec.passes),
            rest: done.ops % quota,
            notes,
            ..Tally::default()
        };
        let end = ended.started + done.nanos;
        LaneResult {
            lane: 0,
            share: *share,
            legs: Vec::new(),
            tally,
            start: ended.started,
            ran: end,
            end,
            usage,
            queued: None,
        }
    };
    shares.iter().zip(done).enumerate().map(to_lane).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_scaled_to_the_window() {
        let usage =
            Usage { user_nanos: 900, system_nanos: 2_700, minor_faults: 9, ..Usage::default() };
        let part = in_window(usage, 500, 4_000);
        assert_eq!((part.user_nanos, part.system_nanos, part.minor_faults), (112, 337, 9));
        // A window that the peer rounded up, and a process that took no time.
        assert_eq!(in_window(usage, 5_000, 4_000), usage);
        assert_eq!(in_window(usage, 5_000, 0).user_nanos, 0);
    }
}
