//! Rounds: the bench runs itself again for each, so that every round has fresh addresses and fresh
//! pages. Inside a round every sample has its yardstick taken right before or after it, and the
//! variants take turns: a disturbance affects all of them alike.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use super::table::verdict;

/// The column heads of [`Pairs::nanos_row`].
pub const NANOS: [&str; 8] =
    ["", "bare", "iotui", "over: least", "lower quartile", "paired", "target", ""];

/// The environment variable that is set in a process that runs one round.
pub const ROUND: &str = "IOTUI_BENCH_ROUND";

/// A function that takes one sample.
pub type Sample<'a> = Box<dyn FnMut() -> f64 + 'a>;

/// A named variant to measure, and the yardstick it is compared with.
pub struct Variant<'a> {
    pub name: String,
    pub yardstick: usize,
    pub sample: Sample<'a>,
}

/// The pairs (yardstick, sample) of every variant, by its name.
#[derive(Default)]
pub struct Pairs(BTreeMap<String, Vec<(f64, f64)>>);

/// Runs `rounds` rounds of `measure` and returns their pairs; `None` in a process that ran a round
/// itself.
pub fn gather(rounds: usize, measure: fn(usize)) -> Option<Pairs> {
    if let Some(round) = std::env::var(ROUND).ok().and_then(|r| r.parse().ok()) {
        measure(round);
        return None;
    }
    let mut pairs = Pairs::default();
    for round in 0..rounds {
        let me = std::env::current_exe().expect("a running program has a path");
        let child = Command::new(me)
            .env(ROUND, round.to_string())
            .stderr(Stdio::inherit())
            .output()
            .expect("run itself");
        assert!(child.status.success(), "round {round} failed");
        for line in String::from_utf8_lossy(&child.stdout).lines() {
            let mut parts = line.split('\t');
            let name = parts.next().unwrap_or_default();
            let mut number = || {
                parts.next().and_then(|n| n.parse().ok()).expect("a round prints names and numbers")
            };
            pairs.0.entry(name.into()).or_default().push((number(), number()));
        }
    }
    Some(pairs)
}

/// Takes `count` pairs for each variant, in turns; each turn begins with another one.
pub fn interleave(mut yardsticks: Vec<Sample>, mut variants: Vec<Variant>, count: usize) {
    let all = variants.len();
    // Turn 0 is not counted: it touches code and data for the first time.
    for turn in 0..=count {
        for place in 0..all {
            let Variant { name, yardstick, sample } = &mut variants[(place + turn) % all];
            let yardstick = &mut yardsticks[*yardstick];
            // The first of a pair finds the caches filled by other variants, so the order
            // alternates.
            let (bare, own) = if turn % 2 == 0 {
                let bare = yardstick();
                (bare, sample())
            } else {
                let own = sample();
                (yardstick(), own)
            };
            if turn > 0 {
                println!("{name}\t{bare}\t{own}");
            }
        }
    }
}

/// Takes `count` samples of each, in turns that go forwards and backwards, and pairs samples of the
/// same turn by `rows`: the name, the yardstick and the sample. For samples so slow that several
/// rows must share them.
pub fn cycle(mut samples: Vec<Sample>, rows: &[(String, usize, usize)], count: usize) {
    // Turn 0 is not counted: it touches code and data for the first time.
    for turn in 0..=count {
        let mut taken = vec![0.0; samples.len()];
        for place in 0..samples.len() {
            let place = if turn % 2 == 0 { place } else { samples.len() - 1 - place };
            taken[place] = samples[place]();
        }
        for (name, yardstick, sample) in rows.iter().filter(|_| turn > 0) {
            println!("{name}\t{}\t{}", taken[*yardstick], taken[*sample]);
        }
    }
}

/// One quantile of a variant next to its yardstick's.
#[derive(Clone, Copy)]
pub struct Beside {
    pub bare: f64,
    pub own: f64,
}

impl Beside {
    pub fn over(self) -> f64 {
        self.own - self.bare
    }
}

impl Pairs {
    /// Returns the minimum of each: the undisturbed samples.
    pub fn min(&self, name: &str) -> Beside {
        self.quantile(name, 0.0)
    }

    /// Returns the lower quartiles: the usual values with little disturbance.
    pub fn low(&self, name: &str) -> Beside {
        self.quantile(name, 0.25)
    }

    /// Returns the median of `of` over all pairs: neighbours in time share their disturbances.
    pub fn paired(&self, name: &str, of: fn(Beside) -> f64) -> f64 {
        nth(self.of(name).iter().map(|&(bare, own)| of(Beside { bare, own })).collect(), 0.5)
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Returns the number of pairs of the variant with the fewest.
    pub fn count(&self) -> usize {
        self.0.values().map(Vec::len).min().unwrap_or(0)
    }

    /// Builds a row of a table headed [`NANOS`]: met if both the lower quartiles and the pairs meet
    /// it.
    pub fn nanos_row(&self, name: &str, target: Option<f64>) -> Vec<String> {
        let (min, low, paired) = (self.min(name), self.low(name), self.paired(name, Beside::over));
        let mut row = vec![name.to_string()];
        row.extend([low.bare, low.own, min.over(), low.over(), paired].map(|x| format!("{x:.1}")));
        row.push(target.map_or(String::new(), |t| format!("<= {t}")));
        row.push(
            target.map_or("for reference".into(), |t| verdict(low.over() <= t && paired <= t)),
        );
        row
    }

    fn quantile(&self, name: &str, q: f64) -> Beside {
        let (bare, own) = self.of(name).iter().copied().unzip();
        Beside { bare: nth(bare, q), own: nth(own, q) }
    }

    fn of(&self, name: &str) -> &[(f64, f64)] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }
}

fn nth(mut all: Vec<f64>, q: f64) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get((q * all.len() as f64) as usize).copied().unwrap_or(f64::NAN)
}
