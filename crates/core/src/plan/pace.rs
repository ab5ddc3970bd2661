//! The pace of a job: its operations in a time under a rate, or the pauses between them.

use std::time::Duration;

use super::Job;

/// The operations of a trial under a rate, and the time in which they are intended to start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PacedAmount {
    /// 1 or more; with random arrivals this is the mean.
    pub operations: u64,
    pub time: Duration,
}

/// A rate is kept from this share of it on.
const KEPT_SHARE: f64 = 0.99;

impl Job {
    /// The longest pause between two operations.
    pub const MAX_THINK: Duration = Duration::from_secs(3600);
    /// The fewest operations of a trial under a rate.
    const LEAST_PACED: u64 = 10;

    /// Returns whether operations wait for their start: under a rate, or after a pause.
    pub fn is_paced(&self) -> bool {
        self.rate.is_some() || self.think > 0
    }

    /// Returns the operations per second that are intended; `None` without a rate.
    pub fn operations_per_second(&self) -> Option<f64> {
        self.rate.map(|rate| rate.per_second(self.block))
    }

    /// Returns whether a rate that was reached, per second, is the one that is asked for, but for
    /// one operation in a hundred; `None` without a rate.
    pub fn keeps_rate(&self, reached: f64) -> Option<bool> {
        Some(reached >= KEPT_SHARE * self.operations_per_second()?)
    }

    /// Returns the amount of a trial that is to take `asked`; `None` without a rate.
    pub fn paced_amount(&self, asked: Duration) -> Option<PacedAmount> {
        let rate = self.operations_per_second()?;
        let group = match self.syncs_after_writes() {
            true => u64::from(self.writes_per_commit()),
            false => 1,
        };
        let operations = match self.count {
            Some(0) => self.blocks(),
            Some(count) => count,
            None => {
                let wanted = (rate * asked.as_secs_f64()).round() as u64;
                wanted.max(Job::LEAST_PACED).div_ceil(group).saturating_mul(group)
            }
        };
        let operations = operations.max(1);
        let seconds = operations as f64 / rate;
        let time = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        Some(PacedAmount { operations, time })
    }

    /// Returns the time of a trial that is to take `asked`: under a low rate, it is longer.
    pub fn trial_time(&self, asked: Duration) -> Duration {
        self.paced_amount(asked).map_or(asked, |amount| amount.time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Choice, Op, Rate, Sync};

    #[test]
    fn trials_have_ten_operations() {
        let asked = Duration::from_millis(300);
        let amount = |rate, change: fn(&mut Job)| {
            let mut job = Job { count: None, ..Job::plain(Choice::plain("pread"), Op::Write) };
            job.rate = Some(rate);
            change(&mut job);
            job.paced_amount(asked).map(|PacedAmount { operations, time }| (operations, time))
        };
        let ms = Duration::from_millis;
        assert_eq!(amount(Rate::Operations(10_000), |_| {}), Some((3000, ms(300))));
        assert_eq!(amount(Rate::Operations(10), |_| {}), Some((10, ms(1000))));
        assert_eq!(amount(Rate::Bytes(4_096_000), |_| {}), Some((300, ms(300))));
        assert_eq!(amount(Rate::Operations(100), |job| job.count = Some(5)), Some((5, ms(50))));
        let groups = |job: &mut Job| (job.sync, job.sync_every) = (Sync::Fdatasync, 7);
        assert_eq!(amount(Rate::Operations(1000), groups), Some((301, ms(301))));
        assert_eq!(amount(Rate::Operations(1), |job| job.rate = None), None);
    }
}
