//! The gate: whether a run is slower than its baseline by more than the limit.

use crate::analysis::compare::{Outcome, Pair, Versus, results_in, times};
use crate::analysis::{CellResult, SummaryOf, results};
use crate::plan::Job;
use crate::session::Session;
use crate::stats::Ratio;
use crate::units::{counted, show_share, verb};

/// Trials required for the interval of a median.
pub const MIN_TRIALS: usize = 5;

/// Cells that the summary line names.
const MAX_NAMED: usize = 3;

/// The verdict of the gate on a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ruling {
    /// The share of its speed that a cell may lose, 0 to 1.
    pub limit: f64,
    /// Cells with an interval on both sides.
    pub judged: usize,
    /// Cells slower by more than the limit, the slowest first.
    pub slower: Vec<Pair>,
    /// Cells of the baseline for which this run allows no verdict.
    pub open: Vec<UnjudgedCell>,
    /// The smallest and the largest loss that a cell needed to be reported as slower, as shares of
    /// its speed: how wide the intervals are.
    pub seen: Option<(f64, f64)>,
    /// Cells for which the baseline itself has no valid figure: they are not judged.
    pub unheld: usize,
    /// How much of the machine's own variation the intervals include.
    pub drift: Option<String>,
    /// Both sides are of one run, so no other baseline can be recorded.
    pub one_run: bool,
}

/// A cell that the gate could not judge.
#[derive(Debug, Clone, PartialEq)]
pub struct UnjudgedCell {
    pub cell: Job,
    pub why: String,
    /// It was measured and is marked wrong; with `--strict` that decides the exit code.
    pub wrong: bool,
    /// It is slower, as are all cells like it, which the machine may have done.
    pub together: bool,
}

/// Judges the run of `versus` against `base`, its baseline.
///
/// A cell is slower by more than `limit` if the whole 95 % interval of its ratio lies below 1 -
/// `limit`: an equal cell is then reported in less than 2.5 % of cases, and hardly ever if it
/// scatters by less than the limit. The interval includes the machine's own variation between runs,
/// as far as it is known.
pub fn judge_run(base: &Session, versus: &Versus, limit: f64) -> Ruling {
    let sound = judgeable(base);
    let unheld = base.plan.cells.len() - sound.len();
    Ruling { unheld, ..judge(sound, versus, limit) }
}

/// Judges a variant of a run against the first one, its baseline, like [`judge_run`].
pub fn judge_variants(session: &Session, versus: &Versus, limit: f64) -> Ruling {
    let measured = session.plan.variants.first().map(|base| results_in(base, &results(session)));
    let measured = measured.unwrap_or_default();
    let sound: Vec<Job> =
        measured.iter().filter(|result| is_sound(result)).map(|of| of.cell.clone()).collect();
    let unheld = measured.len() - sound.len();
    Ruling { unheld, one_run: true, ..judge(sound, versus, limit) }
}

/// Judges the cells of `versus` that have a sound baseline.
fn judge(sound: Vec<Job>, versus: &Versus, limit: f64) -> Ruling {
    let drift = versus.drift.as_ref().map(|drift| drift.text.clone());
    let mut ruling = Ruling { limit, drift, ..Ruling::default() };
    for cell in sound {
        match versus.cells.iter().find(|pair| pair.cell == cell) {
            Some(pair) => match open(pair).or_else(|| moved_together(pair, limit)) {
                Some(open) => ruling.open.push(open),
                None => {
                    ruling.judged += 1;
                    ruling.seen = ruling
                        .seen
                        .into_iter()
                        .chain(least_visible_loss(pair, limit))
                        .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
                    if beyond(pair, limit) {
                        ruling.slower.push(pair.clone());
                    }
                }
            },
            None => {
                let lone = versus.alone.iter().find(|alone| alone.cell == cell);
                let why = lone.and_then(|alone| alone.reason.clone());
                let why = why.unwrap_or_else(|| "it was not measured".into());
                ruling.open.push(UnjudgedCell { cell, why, wrong: false, together: false });
            }
        }
    }
    fn speed(pair: &Pair) -> f64 {
        pair.ratio.map_or(1.0, |ratio| ratio.ratio)
    }
    ruling.slower.sort_by(|a, b| speed(a).total_cmp(&speed(b)));
    ruling
}

fn beyond(pair: &Pair, limit: f64) -> bool {
    is_below(pair.ratio, limit)
}

fn is_below(ratio: Option<Ratio>, limit: f64) -> bool {
    ratio.and_then(|ratio| ratio.high).is_some_and(|high| high < 1.0 - limit)
}

/// Returns a cell that is slower by more than the limit only because all cells like it are.
fn moved_together(pair: &Pair, limit: f64) -> Option<UnjudgedCell> {
    let step = pair.step.filter(|_| !beyond(pair, limit))?;
    is_below(pair.ratio_without_step(), limit).then(|| UnjudgedCell {
        cell: pair.cell.clone(),
        why: format!(
            "all cells like it moved together, to {}x or further, which the machine may have done",
            times(step)
        ),
        wrong: false,
        together: true,
    })
}

/// Returns the loss that would have put an interval of this width beyond the limit, twice: as the
/// minimum and the maximum.
fn least_visible_loss(pair: &Pair, limit: f64) -> Option<(f64, f64)> {
    let ratio = pair.ratio?;
    let loss = 1.0 - (1.0 - limit) * ratio.ratio / ratio.high?;
    Some((loss, loss))
}

fn open(pair: &Pair) -> Option<UnjudgedCell> {
    let why = || pair.reason.clone().unwrap_or_else(|| "it has no figure".into());
    let (why, wrong) = match pair.outcome {
        Outcome::Faster
        | Outcome::Slower
        | Outcome::Same
        | Outcome::Unclear
        | Outcome::Larger
        | Outcome::Smaller => return None,
        Outcome::TooFew if pair.other_trials < MIN_TRIALS => (
            format!("{} of the {MIN_TRIALS} trials that an interval needs", pair.other_trials),
            false,
        ),
        Outcome::TooFew => {
            ("its interval reaches down to 0: some trial moved nothing".into(), false)
        }
        Outcome::Wrong => (why(), true),
        Outcome::Failed | Outcome::OtherJob => (why(), false),
    };
    Some(UnjudgedCell { cell: pair.cell.clone(), why, wrong, together: false })
}

impl Ruling {
    /// Returns whether some cell has no verdict, so that "nothing slower" does not mean that all is
    /// well.
    pub fn is_open(&self) -> bool {
        self.judged == 0 || !self.open.is_empty()
    }

    /// Returns which losses the intervals could show: "none slower" means little if they are wide.
    fn describe_detectable(&self) -> String {
        let Some((least, most)) = self.seen else { return String::new() };
        let [least, most] = [least, most].map(|loss| format!("{:.0} %", (loss * 100.0).ceil()));
        let widest =
            if least == most { String::new() } else { format!(", the widest of {most} or more") };
        format!("; the intervals detect losses of {least} or more{widest}")
    }

    /// Returns the ruling in one line.
    pub fn text(&self) -> String {
        let limit = show_share(self.limit);
        let cells = |count: usize| counted(count, "cell");
        let mut said = match self.slower.len() {
            0 => format!(
                "Gate: none of {} is slower than the baseline by more than {limit}{}.",
                cells(self.judged),
                self.describe_detectable()
            ),
            slower => {
                let mut named: Vec<String> =
                    self.slower.iter().take(MAX_NAMED).map(Pair::describe).collect();
                named.extend((slower > MAX_NAMED).then(|| format!("{} more", slower - MAX_NAMED)));
                let verb = verb(slower, "is", "are");
                format!(
                    "Gate: {slower} of {} {verb} slower than the baseline by more than {limit}: {}.",
                    cells(self.judged),
                    named.join("; ")
                )
            }
        };
        if let Some(first) = self.open.first() {
            let more = match self.open.len() - 1 {
                0 => String::new(),
                more => format!(", and {more} more"),
            };
            let (cell, why) = (first.cell.label(), first.why.trim_end_matches('.'));
            said += &format!(" Not judged: {cell}{more}: {why}.");
        }
        if let Some(drift) = self.drift.as_ref().filter(|_| self.judged > 0) {
            said += &format!(" {drift}");
        }
        if self.unheld > 0 {
            said += &format!(" The baseline has no valid figure for {}.", cells(self.unheld));
        }
        if self.is_open() {
            said += &format!(" The gate did not pass: {}.", self.remedy());
        }
        said
    }

    /// Returns what would let the gate pass or fail.
    fn remedy(&self) -> &'static str {
        match self.open.iter().any(|open| open.together) {
            true => {
                "measure both in turns with --between, or save 5 runs of the baseline, which show how far this machine moves"
            }
            false if !self.open.is_empty() && self.open.iter().all(|open| open.wrong) => {
                "do what the warnings of these cells advise"
            }
            false if self.one_run => "use a longer --budget or more --trials",
            false => "use a longer --budget or more --trials, or record a new baseline",
        }
    }
}

/// Returns the cells of a session that another run can be judged against.
pub fn judgeable(session: &Session) -> Vec<Job> {
    results(session).into_iter().filter(is_sound).map(|result| result.cell).collect()
}

fn is_sound(result: &CellResult) -> bool {
    let above_0 =
        |of: SummaryOf| of.summary.median > 0.0 && of.summary.low.is_some_and(|low| low > 0.0);
    result.is_sound()
        && result.counted_trials().len() >= MIN_TRIALS
        && result.throughput.or(result.operations).is_some_and(above_0)
}

#[cfg(test)]
mod tests;
