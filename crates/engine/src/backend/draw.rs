//! Blocks that are drawn with replacement, the popular ones more often (`--pattern zipf`, `hot`).
//!
//! Each draw is a pure function of (seed, index), as every order is, so that a trial can be
//! replayed. Which block has which rank is up to the caller.

use crate::plan::Pattern;
use crate::stats::random::mix;

/// Draws ranks of popularity, 0 to n - 1: 0 is the most popular.
#[derive(Debug, Clone, Copy)]
pub struct Draw {
    n: u64,
    seed: u64,
    odds: Odds,
}

#[derive(Debug, Clone, Copy)]
enum Odds {
    Zipf(Zipf),
    /// The first `hot` ranks get `accesses` percent of the draws.
    Hot {
        hot: u64,
        accesses: u64,
    },
}

impl Draw {
    /// Returns the draws of one pass over `n` blocks; `None` for a pattern that draws none.
    pub fn new(pattern: Pattern, n: u64, seed: u64) -> Option<Draw> {
        let n = n.max(1);
        let odds = match pattern {
            Pattern::Seq | Pattern::Random | Pattern::Reverse | Pattern::Stride(_) => return None,
            Pattern::Zipf(thousandths) => Odds::Zipf(Zipf::new(n, f64::from(thousandths) / 1e3)),
            Pattern::Hot { share, accesses } => {
                let hot = (u128::from(n) * u128::from(share)).div_ceil(100) as u64;
                Odds::Hot { hot: hot.clamp(1, n.max(2) - 1), accesses: accesses.into() }
            }
        };
        Some(Draw { n, seed, odds })
    }

    /// Draws a rank. By value, as the loop of a lane keeps its order in registers; outlined, so
    /// that a replay computes by the same instructions.
    #[inline(never)]
    pub fn rank(self, index: u64) -> u64 {
        let chance = mix(self.seed.wrapping_add(index));
        match self.odds {
            _ if self.n == 1 => 0,
            Odds::Zipf(zipf) => zipf.rank(chance),
            Odds::Hot { hot, accesses } if chance % 100 < accesses => below(mix(chance), hot),
            Odds::Hot { hot, .. } => hot + below(mix(chance), self.n - hot),
        }
    }

    /// Returns how many different ranks this many draws are expected to have.
    pub fn expect_different(self, draws: u64) -> u64 {
        // 1 - (1 - p)^draws, exact for small p.
        let drawn = |p: f64| -(draws as f64 * (-p).ln_1p()).exp_m1();
        let expected = match self.odds {
            _ if self.n == 1 || draws == 0 => draws.min(1) as f64,
            Odds::Zipf(zipf) => {
                let all: f64 = zipf.groups().map(|(ranks, weight)| ranks * weight).sum();
                zipf.groups().map(|(ranks, weight)| ranks * drawn(weight / all)).sum()
            }
            Odds::Hot { hot, accesses } => {
                let of = |ranks: u64, percent: u64| {
                    ranks as f64 * drawn(percent as f64 / 100.0 / ranks as f64)
                };
                of(hot, accesses) + of(self.n - hot, 100 - accesses)
            }
        };
        (expected.round() as u64).min(self.n).min(draws)
    }
}

/// Returns a number from 0 to `n` - 1.
fn below(chance: u64, n: u64) -> u64 {
    ((u128::from(chance) * u128::from(n)) >> 64) as u64
}

/// Rank k, from 1, with a probability proportional to 1 / k^theta: by rejection-inversion
/// (Hoermann, Derflinger 1996), exact for any n and theta, without a table.
#[derive(Debug, Clone, Copy)]
struct Zipf {
    n: u64,
    theta: f64,
    /// The integral of the weight up to 1.5, less the weight of rank 1; and up to n + 0.5.
    low: f64,
    high: f64,
    /// A rank this far below the drawn point needs no test.
    sure: f64,
}

impl Zipf {
    fn new(n: u64, theta: f64) -> Zipf {
        let mut zipf = Zipf { n, theta, low: 0.0, high: 0.0, sure: 0.0 };
        zipf.low = zipf.integral(1.5) - 1.0;
        zipf.high = zipf.integral(n as f64 + 0.5);
        zipf.sure = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.weight(2.0));
        zipf
    }

    fn rank(&self, mut chance: u64) -> u64 {
        loop {
            // 53 bits: a number from 0 to below 1.
            let part = (chance >> 11) as f64 / (1u64 << 53) as f64;
            let at = self.high + part * (self.low - self.high);
            let x = self.inverse(at);
            let k = (x.round() as u64).clamp(1, self.n);
            let rank = k as f64;
            if rank - x <= self.sure || at >= self.integral(rank + 0.5) - self.weight(rank) {
                return k - 1;
            }
            chance = mix(chance);
        }
    }

    fn weight(&self, x: f64) -> f64 {
        (-self.theta * x.ln()).exp()
    }

    /// Returns the integral of the weight from 1 to `x`: (x^(1-theta) - 1) / (1-theta), or ln x.
    fn integral(&self, x: f64) -> f64 {
        let (log, rest) = (x.ln(), 1.0 - self.theta);
        let exponent = rest * log;
        // By its series where both parts of the quotient are close to 0.
        if exponent.abs() > 1e-8 { exponent.exp_m1() / rest } else { log * (1.0 + exponent / 2.0) }
    }

    /// Returns the `x` up to which the integral is `area`.
    fn inverse(&self, area: f64) -> f64 {
        let rest = 1.0 - self.theta;
        // Rounding may lead below the pole.
        let product = (area * rest).max(-1.0);
        let log = if product.abs() > 1e-8 {
            product.ln_1p() / rest
        } else {
            area * (1.0 - product / 2.0)
        };
        log.exp()
    }

    /// Returns the ranks in groups of nearly equal weight: the number of each, and the weight.
    fn groups(&self) -> impl Iterator<Item = (f64, f64)> {
        let mut next = 1u64;
        std::iter::from_fn(move || {
            let left = self.n.checked_sub(next - 1).filter(|left| *left > 0)?;
            let ranks = (next / 1024).clamp(1, left);
            let middle = next as f64 + (ranks - 1) as f64 / 2.0;
            next += ranks;
            Some((ranks as f64, self.weight(middle)))
        })
    }
}

#[cfg(test)]
mod tests;
