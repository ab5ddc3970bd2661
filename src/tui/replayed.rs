//! A kept session that is to be replayed.

use super::session_view::SessionView;
use crate::session::Timeline;

/// Which session is replayed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replayed {
    /// The one that ships with iotui, as an example.
    Demo,
    /// A kept one, by its id, name or path.
    Kept(String),
}

/// How often faster than the run a replay is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Speed(u32);

/// The steps of the keys.
const SPEEDS: [u32; 7] = [1, 2, 5, 10, 20, 50, Speed::MAX];

impl Speed {
    pub const MAX: u32 = 100;

    /// Returns the speed nearest to `times`.
    pub fn new(times: u32) -> Speed {
        Speed(times.clamp(1, Speed::MAX))
    }

    pub fn times(self) -> u32 {
        self.0
    }

    pub fn faster(self) -> Speed {
        Speed(SPEEDS.into_iter().find(|speed| *speed > self.0).unwrap_or(Speed::MAX))
    }

    pub fn slower(self) -> Speed {
        Speed(SPEEDS.into_iter().rev().find(|speed| *speed < self.0).unwrap_or(1))
    }
}

impl Default for Speed {
    fn default() -> Speed {
        Speed(10)
    }
}

/// A session with the events of its run.
#[derive(Debug, Clone)]
pub struct ReplayInput {
    pub of: Replayed,
    pub speed: Speed,
    /// What Results shows at the end.
    pub shown: SessionView,
    pub timeline: Timeline,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_go_in_steps_from_1_to_100() {
        let mut speed = Speed::new(0);
        let mut seen = vec![speed.times()];
        for _ in 0..9 {
            speed = speed.faster();
            seen.push(speed.times());
        }
        assert_eq!(seen, [1, 2, 5, 10, 20, 50, 100, 100, 100, 100]);
        assert_eq!(Speed::new(30).slower().times(), 20);
        assert_eq!((Speed::new(30).faster().times(), Speed::new(1).slower().times()), (50, 1));
        assert_eq!(Speed::new(u32::MAX).times(), 100);
    }
}
