//! A part of a trial as one rank runs it: prepared, started by appointment, and reported.

use std::cell::Cell as Flag;
use std::time::Duration;

use super::link::Link;
use crate::engine::error::Failure;
use crate::engine::trial::{self, Stage, Work};
use crate::engine::trial_outcome::TrialOutcome;
use crate::engine::workers::Watch;
use crate::sys::clock::monotonic_nanos;
use crate::sys::pause;

/// How long before the start it is appointed: long enough for the message to reach all ranks, which
/// wait asleep.
const NOTICE: Duration = Duration::from_millis(5);
/// The same for each rank more.
const NOTICE_PER_RANK: Duration = Duration::from_micros(20);
/// Wakes up this long before the start, and spins until then.
const SPIN: u64 = 200_000;

/// Runs a part of a trial on this rank; `offset`: by how much its clock is ahead of that of rank 0.
/// All ranks call it together. A rank that fails before the start still keeps the appointment, so
/// that no other begins.
pub fn take_part(
    link: &dyn Link,
    offset: i64,
    stage: &Stage,
    work: Work,
    sample: &mut Watch,
) -> Result<TrialOutcome, Failure> {
    let kept = Flag::new(false);
    let meet = || {
        kept.set(true);
        appoint(link, Presence::Ready, offset)
    };
    let stage = Stage { crew: None, meet: Some(&meet), part: None, ..*stage };
    let result = trial::run_part_alone(&stage, work, sample);
    if !kept.get() {
        appoint(link, Presence::Failed, offset);
    }
    result
}

/// How a rank comes to the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    Failed,
    Ready,
    /// It does not measure, and does not wait.
    Idle,
}

/// Waits until the time at which all ranks start; returns whether they do: not if one failed.
pub fn appoint(link: &dyn Link, presence: Presence, offset: i64) -> bool {
    let all = link.gather(vec![presence as u8]);
    let notice = NOTICE + NOTICE_PER_RANK * link.size();
    let start = match all.iter().all(|of| of != &[Presence::Failed as u8]) {
        true => monotonic_nanos() + notice.as_nanos() as u64,
        false => 0,
    };
    let sent = link.broadcast(start.to_le_bytes().to_vec());
    let start = sent.try_into().map_or(0, u64::from_le_bytes);
    if start > 0 && presence == Presence::Ready {
        wait_until(start.saturating_add_signed(offset));
    }
    start > 0
}

fn wait_until(time: u64) {
    let left = time.saturating_sub(monotonic_nanos());
    if left > SPIN {
        pause::sleep(Duration::from_nanos(left - SPIN));
    }
    while monotonic_nanos() < time {
        std::hint::spin_loop();
    }
}
