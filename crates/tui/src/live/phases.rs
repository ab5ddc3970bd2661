//! Time of a run by what it was spent on, in bounded memory.

use crate::record::Phase;

/// A use of run time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spent {
    /// Timed trials: what results are made of.
    Measuring,
    /// Filling or dropping the page cache, opening, checking.
    Preparing,
    /// Reading back what a trial wrote.
    Verifying,
    Calibrating,
    /// Writing the scratch file, or opening the file.
    Filling,
    /// Bare loops that tell what this machine can do.
    Ceilings,
    /// Commands of variants, cache-drop levels.
    Switching,
    /// Steps that a pause cut.
    Discarded,
}

impl Spent {
    /// Each, in the order of [`Seconds`].
    pub const ALL: [Spent; 8] = [
        Spent::Measuring,
        Spent::Preparing,
        Spent::Verifying,
        Spent::Calibrating,
        Spent::Filling,
        Spent::Ceilings,
        Spent::Switching,
        Spent::Discarded,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Spent::Measuring => "measure",
            Spent::Preparing => "prepare",
            Spent::Verifying => "verify",
            Spent::Calibrating => "calibrate",
            Spent::Filling => "fill",
            Spent::Ceilings => "ceilings",
            Spent::Switching => "switch",
            Spent::Discarded => "discarded",
        }
    }

    fn in_phase(phase: Phase) -> Spent {
        match phase {
            Phase::Fill => Spent::Filling,
            Phase::Machine => Spent::Ceilings,
            Phase::Levels | Phase::Switch => Spent::Switching,
            Phase::Calibrate => Spent::Calibrating,
            Phase::Trial | Phase::Pause => Spent::Preparing,
        }
    }
}

/// Parts of the run; with more time they become longer, not more.
const MAX_PARTS: usize = 256;

/// Seconds by what they were spent on.
type Seconds = [f64; Spent::ALL.len()];

#[derive(Debug, Clone, PartialEq)]
pub struct Phases {
    /// Equal parts of the run, by what they were spent on.
    parts: Vec<Seconds>,
    part_seconds: f64,
    total: Seconds,
    /// The current phase, and when it began, in seconds of the run.
    now: Spent,
    since: f64,
}

impl Default for Phases {
    fn default() -> Phases {
        Phases {
            parts: Vec::new(),
            part_seconds: 0.1,
            total: Seconds::default(),
            now: Spent::Preparing,
            since: 0.0,
        }
    }
}

impl Phases {
    /// Begins a phase at `now`. What a pause cut does not count: `sampled` seconds of a trial.
    pub fn begin(&mut self, phase: Phase, now: f64, sampled: f64) {
        self.spend(now, sampled, Spent::Discarded);
        self.now = Spent::in_phase(phase);
    }

    /// Notes that a trial has ended at `now`, of which `measured` seconds were timed, before what
    /// it wrote was read back in `verified` seconds.
    pub fn end_trial(&mut self, now: f64, measured: f64, verified: f64) {
        let read_back = verified.clamp(0.0, (now - self.since).max(0.0));
        self.spend(now - read_back, measured, Spent::Measuring);
        self.spend(now, read_back, Spent::Verifying);
    }

    /// Adds the time up to `now`: its last `seconds` to `last`, the rest to the current phase.
    fn spend(&mut self, now: f64, seconds: f64, last: Spent) {
        let now = now.max(self.since);
        let from = (now - seconds.max(0.0)).max(self.since);
        self.add(self.since, from, self.now);
        self.add(from, now, last);
        self.since = now;
    }

    fn add(&mut self, from: f64, to: f64, spent: Spent) {
        if !(from.is_finite() && to.is_finite() && to > from) {
            return;
        }
        self.total[spent as usize] += to - from;
        while to > self.part_seconds * MAX_PARTS as f64 {
            self.part_seconds *= 2.0;
            self.parts = self
                .parts
                .chunks(2)
                .map(|pair| {
                    let mut sum = pair[0];
                    if let Some(second) = pair.get(1) {
                        sum.iter_mut().zip(second).for_each(|(sum, more)| *sum += more);
                    }
                    sum
                })
                .collect();
        }
        let last = ((to / self.part_seconds) as usize).min(MAX_PARTS - 1);
        self.parts.resize(self.parts.len().max(last + 1), Seconds::default());
        let first = (from / self.part_seconds) as usize;
        for (at, part) in self.parts.iter_mut().enumerate().take(last + 1).skip(first) {
            let low = (at as f64 * self.part_seconds).max(from);
            let high = ((at + 1) as f64 * self.part_seconds).min(to);
            part[spent as usize] += (high - low).max(0.0);
        }
    }

    /// Returns a copy with the current phase up to `now`, of which `sampled` seconds are of a
    /// trial.
    pub fn until(&self, now: f64, sampled: f64) -> Phases {
        let mut all = self.clone();
        all.spend(now, sampled, Spent::Measuring);
        all
    }

    /// Returns the shares of the time, the largest first, without those below half a percent.
    pub fn shares(&self) -> Vec<(Spent, f64)> {
        let all: f64 = self.total.iter().sum();
        let mut shares: Vec<(Spent, f64)> = Spent::ALL
            .into_iter()
            .zip(self.total)
            .map(|(spent, seconds)| (spent, if all > 0.0 { seconds / all } else { 0.0 }))
            .filter(|(_, share)| *share >= 0.005)
            .collect();
        shares.sort_by(|a, b| b.1.total_cmp(&a.1));
        shares
    }

    /// Returns the main use of each of `columns` equal parts of the run.
    pub fn ribbon(&self, columns: usize) -> Vec<Option<Spent>> {
        let each = self.since / self.part_seconds / columns.max(1) as f64;
        let most = |column: usize| {
            let first = (column as f64 * each) as usize;
            let last = (((column + 1) as f64 * each).ceil() as usize).max(first + 1);
            let parts = self.parts.iter().take(last).skip(first);
            let sum = parts.fold(Seconds::default(), |mut sum, part| {
                sum.iter_mut().zip(part).for_each(|(sum, more)| *sum += more);
                sum
            });
            let (spent, seconds) =
                Spent::ALL.into_iter().zip(sum).max_by(|a, b| a.1.total_cmp(&b.1))?;
            (seconds > 0.0).then_some(spent)
        };
        (0..columns).map(most).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(phases: &Phases) -> Vec<(Spent, i64)> {
        let round = |(spent, share): (Spent, f64)| (spent, (share * 100.0).round() as i64);
        phases.shares().into_iter().map(round).collect()
    }

    #[test]
    fn phases_share_the_run_time() {
        let mut phases = Phases::default();
        assert_eq!((shares(&phases), phases.ribbon(4)), (Vec::new(), vec![None; 4]));
        phases.begin(Phase::Fill, 0.0, 0.0);
        phases.begin(Phase::Calibrate, 2.0, 0.0);
        phases.begin(Phase::Trial, 3.0, 0.0);
        phases.end_trial(7.0, 3.0, 0.0);
        phases.begin(Phase::Trial, 8.0, 0.0);
        let all = phases.until(10.0, 1.0);
        use Spent::{Calibrating, Filling, Measuring, Preparing};
        assert_eq!(
            shares(&all),
            [(Measuring, 40), (Preparing, 30), (Filling, 20), (Calibrating, 10)]
        );
        let ribbon = all.ribbon(10).into_iter().flatten().collect::<Vec<_>>();
        assert_eq!(ribbon[..4], [Filling, Filling, Calibrating, Preparing]);
        assert_eq!(ribbon[4..], [Measuring, Measuring, Measuring, Preparing, Preparing, Measuring]);
        // A step cut by a pause is repeated.
        phases.begin(Phase::Pause, 10.0, 1.0);
        assert!(shares(&phases).contains(&(Spent::Discarded, 10)));
        assert!(shares(&phases).contains(&(Measuring, 30)));
    }

    #[test]
    fn reading_back_follows_the_trial() {
        let mut phases = Phases::default();
        phases.begin(Phase::Trial, 0.0, 0.0);
        phases.end_trial(10.0, 3.0, 5.0);
        use Spent::{Measuring, Preparing, Verifying};
        assert_eq!(shares(&phases), [(Verifying, 50), (Measuring, 30), (Preparing, 20)]);
        let ribbon: Vec<Spent> = phases.ribbon(10).into_iter().flatten().collect();
        assert_eq!((ribbon[1], ribbon[3], ribbon[8]), (Preparing, Measuring, Verifying));
        // More than there was time for.
        phases.begin(Phase::Trial, 10.0, 0.0);
        phases.end_trial(11.0, 3.0, 50.0);
        let sum: f64 = phases.total.iter().sum();
        assert!((sum - 11.0).abs() < 1e-9);
    }

    #[test]
    fn phases_keep_flat_memory() {
        let mut phases = Phases::default();
        for second in 0..100_000 {
            let now = f64::from(second);
            phases.begin(Phase::Trial, now, 0.0);
            phases.end_trial(now + 0.75, 0.25, 0.0);
        }
        assert!(phases.parts.len() <= MAX_PARTS);
        assert_eq!(shares(&phases), [(Spent::Preparing, 75), (Spent::Measuring, 25)]);
        let sum: f64 = phases.parts.iter().flatten().sum();
        assert!((sum - phases.since).abs() < 1.0, "{sum} {}", phases.since);
        // A clock that stands still or jumps breaks nothing.
        phases.begin(Phase::Trial, 3.0, 9.0);
        phases.begin(Phase::Trial, f64::NAN, f64::NAN);
        phases.end_trial(f64::INFINITY, 1.0, 1.0);
        assert_eq!(phases.ribbon(0), []);
    }
}
