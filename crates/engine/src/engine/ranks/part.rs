//! A part of a trial on one rank: when it starts, together with all ranks, and when it ends.

use std::cell::Cell as Flag;
use std::time::Duration;

use super::link::Link;
use crate::engine::calibrate::needs_single_pass;
use crate::engine::cells::Amount;
use crate::engine::error::Failure;
use crate::engine::executor::Executor;
use crate::engine::trial::{self, PartWork, RankRole, TrialStage};
use crate::engine::trial_parts::TrialOutcome;
use crate::engine::workers::Watch;
use crate::sys::clock::monotonic_nanos;
use crate::sys::pause;

/// Time between the appointment and the start: the message reaches all ranks, which wait asleep.
const NOTICE: Duration = Duration::from_millis(5);
/// Additional time for each rank.
const NOTICE_PER_RANK: Duration = Duration::from_micros(20);
/// Wakes up this long before the start, and spins until then.
const SPIN: u64 = 200_000;

/// Runs a part of a trial on this rank, whose clock is `offset` ahead of that of rank 0. All ranks
/// call it together. A rank that fails before the start still keeps the appointment, so
/// that no other begins.
pub fn take_part(
    link: &dyn Link,
    offset: i64,
    stage: &TrialStage,
    work: PartWork,
    sample: &mut Watch,
) -> Result<TrialOutcome, Failure> {
    let kept = Flag::new(false);
    let meet = || {
        kept.set(true);
        appoint(link, Presence::Ready, offset)
    };
    let role = RankRole { together: None, meet: Some(&meet), ..stage.role };
    let stage = TrialStage { role, ..*stage };
    let result = trial::run_part_alone(&stage, work, sample);
    if !kept.get() {
        appoint(link, Presence::Failed, offset);
    }
    result
}

/// The state in which a rank arrives at the start.
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
    let failed = all.iter().any(|of| of == &[Presence::Failed as u8]);
    let start = if failed { 0 } else { monotonic_nanos() + notice.as_nanos() as u64 };
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

/// Passes that no trial reaches: time ends it.
const ENDLESS: u64 = u32::MAX as u64;

/// The work of a part of a trial of several ranks, and when it ends in any case.
pub struct Ending {
    pub amount: Amount,
    /// All ranks stop this long after their start; `None` = each does the whole amount.
    pub after: Option<Duration>,
}

/// Chooses the end of a part of a trial. By amount: a requested count, another program, a step of a
/// calibration, and one pass over a file that is too small for the trial time.
pub fn ending_of(work: &PartWork) -> Ending {
    let PartWork { cell, amount, .. } = *work;
    let single = cell.fresh_each_pass || needs_single_pass(&cell.job);
    let by_amount = amount.nanos == 0
        || cell.job.count.is_some()
        || matches!(cell.executor, Executor::Peer(_))
        || single && amount.whole;
    if by_amount {
        return Ending { amount: *amount, after: None };
    }
    let passes = if single { 1 } else { ENDLESS };
    Ending {
        amount: Amount { count: cell.job.blocks(), passes, ..*amount },
        after: Some(Duration::from_nanos(amount.nanos / amount.parts.max(1))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::cells::Cell;
    use crate::plan::{Cache, Choice, Job, Op};

    #[test]
    fn trials_end_by_time_if_possible() {
        let job = Job {
            count: None,
            span: 40_960,
            cache: Cache::Warm,
            ..Job::plain(Choice::plain("pread"), Op::Read)
        };
        let amount = Amount { nanos: 1_000_000, passes: 3, ..Amount::once(4) };
        let whole = Amount { whole: true, parts: 4, passes: 1, ..amount };
        let of = |job: &Job, amount: &Amount| {
            let executor = Executor::from_choice(&job.backend).unwrap();
            let cell = Cell::new(job.clone(), executor, false);
            let Ending { amount, after } =
                ending_of(&PartWork { cell: &cell, amount, observed: true });
            (amount.count, amount.passes, after)
        };
        let milli = Some(Duration::from_millis(1));
        assert_eq!(of(&job, &amount), (10, ENDLESS, milli));
        let cold = Job { cache: Cache::Cold, ..job.clone() };
        assert_eq!(of(&cold, &amount), (10, 1, milli));
        assert_eq!(of(&cold, &whole), (4, 1, None), "one pass");
        assert_eq!(of(&job, &whole), (10, ENDLESS, milli.map(|all| all / 4)));
        let counted = Job { count: Some(4), ..job.clone() };
        assert_eq!(of(&counted, &amount), (4, 3, None));
        assert_eq!(of(&job, &Amount::once(4)), (4, 1, None), "a step of a calibration");
    }
}
