//! A trial by a peer: its process in the place of the lanes.
//!
//! What it did and how long that took are its own words, held against what was seen from outside:
//! it cannot have read for longer than it ran. Everything around it, the state of the cache before
//! and what the device gave, is as for lanes: the kernel counts what a child read to its parent
//! once it is gone.

use std::fs::File;
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::control::Cut;
use super::error::Failure;
use super::workers::{LaneDone, Ran, Spec, Watch};
use crate::backend::order::Share;
use crate::backend::work::Tally;
use crate::peer::{self, ThreadResult, Output, Part, Peer, Task};
use crate::record::{LaneSample, Note, Sample};
use crate::sys::child::{self, Ask, Ended};
use crate::sys::usage::Usage;
use crate::units::show_nanos;

/// A run that takes so many times as long as it should hangs; and so long before that is thought
/// of.
const OVERDUE: u32 = 20;
const PATIENCE: Duration = Duration::from_secs(20);

/// The lanes as they were for the job, each a part of the peer's task.
struct Plan {
    shares: Vec<Share>,
    parts: Vec<Part>,
}

/// Runs the trial; `spec.job` is of whole blocks. `expected` is how long it should read.
pub(super) fn run(
    peer: &dyn Peer,
    spec: &Spec,
    file: &File,
    expected: Duration,
    at_go: &mut dyn FnMut(),
    cut: &dyn Fn() -> Option<Cut>,
    sample: &mut Watch,
) -> Result<Ran, Failure> {
    let program =
        peer::find_program(peer, std::env::var_os("PATH").as_deref()).map_err(Failure::Cell)?;
    // By our own open file: whatever its name is, it is that file.
    let path = PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()));
    let lanes = lanes(spec);
    let task = Task {
        job: &spec.job,
        file: &path,
        parts: &lanes.parts,
        passes: spec.passes,
        seed: spec.seed,
        limit: spec.limit,
    };
    let most = spec.limit.unwrap_or(expected).saturating_mul(OVERDUE).saturating_add(PATIENCE);
    let (mut stopped, mut late) = (false, false);
    let mut watch = |since: Duration| {
        stopped |= cut().is_some();
        late |= since > most;
        match spec.limit.filter(|_| !peer.obeys_limit()) {
            _ if stopped || late => Ask::Kill,
            Some(limit) if since > limit => Ask::Interrupt,
            _ => Ask::GoOn,
        }
    };
    load(&program, cut)?;
    at_go();
    let id = peer.info().id;
    let ended = match child::run(&program, &peer.command(&task), &mut watch) {
        Err(error) if error.kind() == ErrorKind::TimedOut => Err(Failure::Abandoned),
        Err(error) => Err(Failure::Cell(format!("cannot run {}: {error}", program.display()))),
        Ok(_) if stopped => Err(Failure::Stopped),
        Ok(_) if late => Err(Failure::Cell(format!(
            "{id} did not end in {} and was killed",
            show_nanos(most.as_nanos() as f64)
        ))),
        Ok(ended) => refuse_flood(id, ended),
    }?;
    let done = told(peer, &task, &ended)?;
    let ran = Ran {
        samples: vec![told_at_end(&done, sample)],
        lanes: joined(spec, &lanes.shares, &done, &ended),
    };
    Ok(ran)
}

fn refuse_flood(id: &str, ended: Ended) -> Result<Ended, Failure> {
    if ended.flooded {
        return Err(Failure::Cell(format!(
            "{id} printed more than {} MiB and was killed",
            child::MOST_OUTPUT >> 20
        )));
    }
    Ok(ended)
}

/// Brings the program and its libraries into the page cache: fio's are 60 MB, and would count as
/// bytes of the device.
fn load(program: &Path, cut: &dyn Fn() -> Option<Cut>) -> Result<(), Failure> {
    let mut stopped = false;
    let mut watch = |since: Duration| {
        stopped |= cut().is_some();
        if stopped || since > PATIENCE / 4 { Ask::Kill } else { Ask::GoOn }
    };
    // What is wrong with it shows when it is to work.
    let _ = child::run(program, &["--version".to_string()], &mut watch);
    if stopped { Err(Failure::Stopped) } else { Ok(()) }
}

fn lanes(spec: &Spec) -> Plan {
    let share = |lane| Share::of(&spec.job, lane, spec.count, spec.seed);
    // What has no block has no part: to fio a size of 0 is the whole file.
    let shares: Vec<Share> =
        (0..spec.job.threads).map(share).filter(|share| share.quota > 0).collect();
    let part = |share: &Share| Part {
        offset: share.range().start,
        len: share.range().end - share.range().start,
        ops: share.quota,
    };
    Plan { parts: shares.iter().map(part).collect(), shares }
}

/// What it says, where that can be.
fn told(peer: &dyn Peer, task: &Task, ended: &Ended) -> Result<Vec<ThreadResult>, Failure> {
    let id = peer.info().id;
    let (stdout, stderr) =
        (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
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
    let (wall, most) =
        (ended.ended - ended.started, done.iter().map(|done| done.nanos).max().unwrap_or(0));
    let step = done.iter().map(|done| done.step).max().unwrap_or(0);
    if most > wall.saturating_add(2 * step) {
        let (said, ran) = (show_nanos(most as f64), show_nanos(wall as f64));
        return Err(Failure::Cell(format!(
            "{id} says that it read for {said}, and it ran for {ran} only: do not trust it"
        )));
    }
    let (read, wanted) = (
        done.iter().map(|done| done.ops).sum::<u64>(),
        task.parts.iter().map(|part| part.ops * task.passes).sum::<u64>(),
    );
    if task.limit.is_none() && read != wanted {
        return Err(Failure::Cell(format!("{id} read {read} blocks, {wanted} were asked for")));
    }
    Ok(done)
}

/// There is nothing to see of it before it has ended.
fn told_at_end(done: &[ThreadResult], sample: &mut Watch) -> Sample {
    let lane = |done: &ThreadResult| LaneSample {
        bytes: done.bytes,
        ops: done.ops,
        syscalls: done.syscalls.unwrap_or(0),
    };
    let lanes: Vec<LaneSample> = done.iter().map(lane).collect();
    let nanos = done.iter().map(|done| done.nanos).max().unwrap_or(0);
    let mut all = Sample { at: nanos, nanos, ..Sample::default() };
    for lane in &lanes {
        (all.bytes, all.ops, all.syscalls) =
            (all.bytes + lane.bytes, all.ops + lane.ops, all.syscalls + lane.syscalls);
    }
    sample(all, lanes);
    all
}

/// Its words as what lanes did.
fn joined(spec: &Spec, shares: &[Share], done: &[ThreadResult], ended: &Ended) -> Vec<LaneDone> {
    let one = |(at, (share, done)): (usize, (&Share, &ThreadResult))| {
        let (passes, rest) = (done.ops / share.quota.max(1), done.ops % share.quota.max(1));
        let mut notes = Vec::new();
        if done.syscalls.is_none() {
            notes.push(Note::CallsUnknown);
        }
        if done.step.saturating_mul(100) > done.nanos {
            notes.push(Note::CoarseClock(done.step));
        }
        // Of the whole process only once.
        let usage = done.usage.unwrap_or(if at == 0 { ended.usage } else { Usage::default() });
        let (syscalls, passes) = (done.syscalls.unwrap_or(0), passes.min(spec.passes));
        let tally = Tally {
            bytes: done.bytes,
            ops: done.ops,
            syscalls,
            passes,
            rest,
            notes,
            ..Tally::default()
        };
        let end = ended.started + done.nanos;
        LaneDone { share: *share, tally, start: ended.started, ran: end, end, usage, queued: None }
    };
    shares.iter().zip(done).enumerate().map(one).collect()
}
