//! How a trial kept its pace: a rate of intended starts, or pauses between operations.

use serde::{Deserialize, Serialize};

/// The pace of a trial; times in nanoseconds, summed over all lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Paced {
    /// Operations whose start was intended within the trial.
    pub intended: u64,
    /// The part of them that was not begun when the trial ended.
    pub unstarted: u64,
    /// Operations that were held back: at their intended start, every slot of their lane was taken.
    pub held: u64,
    /// How late these began.
    pub held_nanos: u64,
    /// How late the latest operation began.
    pub most_late: u64,
    /// How late all others began: what waiting for a start itself costs.
    pub start_lag: u64,
    /// Sum of the response times; 0 for pauses.
    pub response_nanos: u64,
    /// Time spent spinning until starts, in which a busy machine may have run others.
    pub spin_nanos: u64,
    /// Sleeps, and calls that only waited.
    pub waits: u64,
    /// How late the kernel returned from sleeps: what it takes until an idle CPU runs again.
    /// `None` with too few sleeps.
    pub wake_p50: Option<u64>,
    pub wake_p99: Option<u64>,
}

impl Paced {
    /// Adds a later part of the trial.
    pub fn join(&mut self, more: &Paced) {
        let sums = [
            (&mut self.intended, more.intended),
            (&mut self.unstarted, more.unstarted),
            (&mut self.held, more.held),
            (&mut self.held_nanos, more.held_nanos),
            (&mut self.start_lag, more.start_lag),
            (&mut self.response_nanos, more.response_nanos),
            (&mut self.spin_nanos, more.spin_nanos),
            (&mut self.waits, more.waits),
        ];
        for (sum, part) in sums {
            *sum = sum.saturating_add(part);
        }
        self.most_late = self.most_late.max(more.most_late);
        // The part that was woken later.
        self.wake_p50 = self.wake_p50.max(more.wake_p50);
        self.wake_p99 = self.wake_p99.max(more.wake_p99);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_pace_add_up() {
        let part = |n| Paced {
            intended: 100 * n,
            held: n,
            most_late: 7 * n,
            wake_p50: (n > 1).then_some(n),
            ..Paced::default()
        };
        let mut all = part(1);
        all.join(&part(3));
        all.join(&part(2));
        let want = Paced { intended: 600, held: 6, most_late: 21, wake_p50: Some(3), ..part(0) };
        assert_eq!(all, want);
        all.join(&Paced { intended: u64::MAX, ..part(0) });
        assert_eq!(all.intended, u64::MAX);
        let json = serde_json::to_string(&all).unwrap();
        assert_eq!(serde_json::from_str::<Paced>(&json).unwrap(), all);
        assert_eq!(serde_json::from_str::<Paced>("{}").unwrap(), Paced::default());
    }
}
