//! How a trial of several ranks ends: for all at the same time, or when each has done an amount.

use std::time::Duration;

use crate::engine::calibrate::needs_single_pass;
use crate::engine::cells::Amount;
use crate::engine::executor::Executor;
use crate::engine::trial::Work;

/// Passes that no trial reaches: time ends it.
const ENDLESS: u64 = u32::MAX as u64;

/// The work of a part of a trial, and when it ends in any case.
pub struct Ending {
    pub amount: Amount,
    /// All ranks stop this long after their start; `None` = each does the whole amount.
    pub after: Option<Duration>,
}

/// Returns how a part of a trial ends. By amount: a count that was requested, another program, a
/// step of a calibration, and one pass over a file that is too small for the trial time.
pub fn of(work: &Work) -> Ending {
    let Work { cell, amount, .. } = *work;
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
    fn trials_end_by_time_where_there_is_more_to_do() {
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
            let Ending { amount, after } = of(&Work { cell: &cell, amount, observed: true });
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
