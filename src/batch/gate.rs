//! `--baseline`: runs the plan of a session again and compares the result with it; `--between`:
//! compares the variants of a run. Also the exit code of all that a run must keep to.

use std::io::{self, Write};

use anyhow::Context;

use super::args::Args;
use crate::analysis;
use crate::analysis::{Comparison, Difference, Expected, Holds, Ruling};
use crate::experiment::{OtherCells, describes};
use crate::output::{failure, print_message};
use crate::plan::{Plan, Presets, Settings, Variant};
use crate::report::{self, Look};
use crate::runner;
use crate::runner::BaselineError;
use crate::session;
use crate::session::Session;

/// The baseline of a run, and the loss that fails it.
pub(super) struct Gate {
    with: Base,
    limit: Option<f64>,
}

enum Base {
    Session(Box<Session>),
    /// The first variant of the same run.
    Variant,
}

/// Returns the baseline's plan and the gate.
///
/// # Errors
/// A run of it cannot be compared, or given options do not describe its cells.
pub(super) fn plan(
    args: &Args,
    settings: &Settings,
    presets: &Presets,
    text: &str,
) -> anyhow::Result<(Plan, Gate)> {
    let base = load_named(text).context("--baseline")?;
    let Settings { seed, trials, until, trial_time, budget, remote, .. } = settings.clone();
    let free = Settings { seed, trials, until, trial_time, budget, remote, ..Settings::default() };
    let limit = args.fail_if_slower;
    let plan =
        runner::plan_baseline(&base, &args.files, &args.dir, args.keep, &free, limit.is_some())?;
    let chosen = match args.preset.is_empty() {
        true => Vec::new(),
        false => presets.select(&args.preset, settings).context("--preset")?,
    };
    let skipped: Vec<_> = plan.skipped.iter().map(|skipped| skipped.cell.clone()).collect();
    // These are not part of a cell, and a run of the baseline's plan would ignore them.
    fn show(value: Option<impl ToString>) -> Option<String> {
        value.map(|value| value.to_string())
    }
    for (option, asked, base) in [
        ("cold", show(settings.cold), show(Some(plan.cold))),
        ("cpus", show(settings.cpus.as_ref()), show(plan.cpus.as_ref())),
        (
            "latency-target",
            show(settings.latency_target.as_ref()),
            show(plan.latency_target.as_ref()),
        ),
        ("memory-share", show(settings.memory_share.as_ref()), None),
        ("compressible", show(settings.compressible), show(plan.compressible)),
        ("dedupe", show(settings.dedupe), show(plan.dedupe)),
        ("precondition", show(settings.precondition), show(plan.precondition)),
        ("verify", show(settings.verify), show(Some(plan.verify))),
        ("fresh", show(settings.fresh), show(Some(plan.fresh.is_some()))),
    ] {
        if let Some(value) = asked.filter(|value| Some(value) != base.as_ref()) {
            return Err(OtherCells::Added { option, value }.into());
        }
    }
    describes(settings, &chosen, &crate::catalog::infos(), &plan.cells, &skipped)?;
    Ok((plan, Gate { with: Base::Session(base.into()), limit }))
}

/// Loads a session by its name, id or path.
///
/// # Errors
/// No session has this name, or it cannot be read.
pub(super) fn load_named(text: &str) -> anyhow::Result<Session> {
    let path = session::folder().and_then(|dir| session::find(&dir, text)).map_err(failure)?;
    session::load(&path).map_err(failure)
}

/// Returns the gate of a plan with variants; `None` for others.
///
/// # Errors
/// The plan has too few trials for the requested limit.
pub(super) fn of_variants(args: &Args, plan: &Plan) -> anyhow::Result<Option<Gate>> {
    let limit = args.fail_if_slower;
    let few = plan.trials.filter(|trials| (*trials as usize) < analysis::MIN_TRIALS);
    if let (Some(trials), Some(_)) = (few, limit) {
        return Err(BaselineError::Trials(trials).into());
    }
    // The cost of neighbours is the answer itself.
    let is_compared = Variant::are_set_by_commands(&plan.variants);
    Ok(is_compared.then_some(Gate { with: Base::Variant, limit }))
}

impl Gate {
    /// Warns before the run if the baseline was measured on another machine.
    pub fn warn(&self, args: &Args, session: &Session) {
        let Base::Session(base) = &self.with else { return };
        let [base, here] = anonymize(args, [base, session]);
        let differing = analysis::machine_differences([&base, &here]);
        if differing.is_empty() || args.quiet {
            return;
        }
        let show = |d: &Difference| format!("{} {}: {} | {}", d.about, d.what, d.base, d.other);
        let differences = differing.iter().map(show).collect::<Vec<_>>().join("; ");
        print_message(format!(
            "iotui: this is not the machine of the baseline, which may explain differences: {differences}"
        ));
    }

    /// Compares this run with its baseline.
    pub fn compare(&self, args: &Args, session: &Session) -> GateResult {
        match &self.with {
            Base::Session(base) => self.compare_with(base, args, session),
            Base::Variant => self.compare_variants(args, session),
        }
    }

    fn compare_variants(&self, args: &Args, session: &Session) -> GateResult {
        let [session] = anonymize(args, [session]);
        let comparison = analysis::compare_variants(&session);
        let versus = comparison.as_ref().and_then(|comparison| comparison.others.first());
        let judge = |(limit, versus)| analysis::judge_variants(&session, versus, limit);
        let ruling = self.limit.zip(versus).map(judge);
        GateResult { comparison, ruling }
    }

    fn compare_with(&self, base: &Session, args: &Args, session: &Session) -> GateResult {
        let saved = session::folder()
            .map(|dir| runner::saved_runs(&dir, &[base, session]))
            .unwrap_or_default();
        let [base, session] = anonymize(args, [base, session]);
        let comparison = analysis::compare_with(&[base.clone(), session], &saved);
        let versus = comparison.as_ref().and_then(|comparison| comparison.others.first());
        let ruling =
            self.limit.zip(versus).map(|(limit, versus)| analysis::judge_run(&base, versus, limit));
        GateResult { comparison, ruling }
    }
}

/// Returns the sessions, anonymous if requested.
fn anonymize<const N: usize>(args: &Args, sessions: [&Session; N]) -> [Session; N] {
    sessions
        .map(|session| if args.anonymous { report::anonymize(session) } else { session.clone() })
}

/// A run compared with its baseline.
#[derive(Clone)]
pub(super) struct GateResult {
    comparison: Option<Comparison>,
    pub ruling: Option<Ruling>,
}

impl GateResult {
    /// Writes it below the table.
    pub fn write(&self, look: &Look, to: &mut dyn Write) -> io::Result<()> {
        let mut below = self.clone();
        let sides = below.comparison.iter_mut().flat_map(|comparison| &mut comparison.others);
        // The answer of the table has the summary of variants.
        sides.filter(|of| of.side.variant.is_some()).for_each(|of| of.text.clear());
        to.write_all(below.text(look).as_bytes())
    }

    /// Prints it on stderr, where stdout is data for programs.
    pub fn print(&self, args: &Args) {
        let look = Look { width: 80, color: false, ..args.out.look() };
        match &self.ruling {
            _ if !args.quiet => print_message(self.text(&look).trim_end()),
            // With --quiet only a run that does not pass is reported.
            Some(ruling) if ruling.is_open() || !ruling.slower.is_empty() => {
                print_message(format!("iotui: {}", ruling.text()))
            }
            _ => {}
        }
    }

    fn text(&self, look: &Look) -> String {
        let comparison = self.comparison.as_ref().map(|of| report::comparison_text(of, look));
        let ruling = self.ruling.as_ref();
        let ruling = ruling.map(|of| format!("\n{}", report::ruling_text(of, look)));
        format!("\n{}{}", comparison.unwrap_or_default(), ruling.unwrap_or_default())
    }
}

/// Prints on stderr whether the results are as expected, where stdout is data for programs; with
/// --quiet only what does not pass.
pub(super) fn print_expected(args: &Args, expected: &[Expected]) {
    let is_shown = |one: &&Expected| !args.quiet || one.outcome != Holds::Pass;
    expected
        .iter()
        .filter(is_shown)
        .for_each(|one| print_message(format!("iotui: expected {}", one.text())));
}

/// Returns the worst outcome of what is expected, of a search, and of a watch that was stopped;
/// `None` without any.
pub(super) fn outcome(session: &Session, expected: &[Expected]) -> Option<Holds> {
    let outcomes = expected.iter().map(|one| one.outcome);
    let stopped = session.trials.iter().any(|trial| trial.evidence.stopped.is_some());
    let stopped = stopped.then_some(Holds::Fail);
    outcomes.chain(analysis::target_outcome(session)).chain(stopped).max()
}

/// Returns the exit code; if several apply, a signal comes first, then 1, 4, 5 and 3.
pub(super) fn code(
    signal: Option<i32>,
    failed: bool,
    wrong: bool,
    ruling: Option<&Ruling>,
    expected: Option<Holds>,
) -> u8 {
    match signal {
        Some(signal) => 128 + signal as u8,
        // An incomplete comparison does not pass: a run that became too slow to reach its cells
        // must not look good.
        None if failed || ruling.is_some_and(|r| r.open.iter().any(|open| !open.wrong)) => 1,
        None if wrong => 4,
        None if expected.is_some_and(|outcome| outcome != Holds::Pass) => {
            expected.map_or(0, Holds::exit_code)
        }
        None if ruling.is_some_and(|ruling| !ruling.slower.is_empty()) => 3,
        None if ruling.is_some_and(Ruling::is_open) => 1,
        None => 0,
    }
}

#[cfg(test)]
mod tests;
