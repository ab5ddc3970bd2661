//! How many equal cells a comparison calls different, and how often it finds a true difference of
//! 10 %: for runs in a row, for runs minutes apart, and for variants that alternate in one run.
//!
//! The same plan is run again and again on one file, so every difference that is found is wrong. To
//! see which true ones are found, the times of one side are divided by 1.1.

mod common;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use common::file::{Pieces, Temporary};
use common::table::{Table, verdict};
use iotui::analysis::{
    Comparison, Outcome, Pair, SavedRuns, compare, compare_variants, compare_with, results,
};
use iotui::engine::{Control, Proposal, propose, run};
use iotui::host;
use iotui::plan::{Plan, Settings, Variant, preset};
use iotui::session::Session;
use iotui::stats::Ratio;

const FILE: u64 = 256 << 20;
/// Runs of each of the two series; between them the variants alternate for minutes.
const SERIES: usize = 8;
const INTERLEAVED: usize = 8;
const CELLS: &str = "backend=read,mmap block-size=4k,64k,1m cache=cold,warm ceilings=never";
const ALONE: &str = "trials=7 trial-time=100ms";
/// The time in which variants alternate; by default a run of two has twice as much.
const BOTH: &str = "budget=50s";
/// The largest share of equal cells that may be called different.
const MOST_DIFFERENT: f64 = 0.05;
/// The true difference that is looked for.
const GAIN: f64 = 1.1;

fn main() {
    let file = Temporary::new("equal", FILE, Pieces::Large);
    let alone = plan(&file.path, &[], ALONE);
    let variants = ["A:true", "B:true"].map(|text| text.parse().expect("a variant"));
    let both = plan(&file.path, &variants, BOTH);
    let mut runs: Vec<Session> = (0..SERIES).map(|_| measure(&alone)).collect();
    let interleaved: Vec<Session> = (0..INTERLEAVED).map(|_| measure(&both)).collect();
    runs.extend((0..SERIES).map(|_| measure(&alone)));

    println!(
        "\n{} cells, {} trials of each; {} runs in two series of {SERIES}, minutes apart, around \
         {INTERLEAVED} runs of two variants",
        alone.cells.len(),
        alone.trials.unwrap_or(0),
        runs.len()
    );
    let row: Vec<[usize; 2]> = pairs(|a, b| b == a + 1 && b != SERIES);
    let apart: Vec<[usize; 2]> = pairs(|a, b| b == a + SERIES);
    let mut table = Table::new(&["", "cells", "called different", "10 % found", "target", ""]);
    for (name, pairs) in [("in a row", &row), ("minutes apart", &apart)] {
        add(&mut table, &format!("{name}, intervals of the runs alone"), false, &|gain| {
            judge(&runs, pairs, gain, &|sessions, _| unwidened(sessions))
        });
        add(&mut table, &format!("{name}, no other saved runs"), true, &|gain| {
            judge(&runs, pairs, gain, &|sessions, _| cells(compare(sessions)))
        });
        add(&mut table, &format!("{name}, the others saved"), true, &|gain| {
            judge(&runs, pairs, gain, &|sessions, kept| cells(compare_with(sessions, kept)))
        });
    }
    let trials = interleaved.iter().map(|session| session.trials.len()).sum::<usize>();
    let pairs = trials / INTERLEAVED / both.cells.len();
    add(&mut table, &format!("alternating in one run, {pairs} pairs"), true, &|gain| {
        let faster = |session: &Session| with_gain(session, gain, |job| is_second(&variants, job));
        interleaved.iter().flat_map(|session| cells(compare_variants(&faster(session)))).collect()
    });
    table.print();
    println!("\nranges of the ratios of equal cells, 5th to 95th of 100:");
    for (name, pairs) in [("in a row", &row), ("minutes apart", &apart)] {
        print_range(name, &judge(&runs, pairs, 1.0, &|sessions, _| unwidened(sessions)));
    }
    let alternating: Vec<Pair> =
        interleaved.iter().flat_map(|session| cells(compare_variants(session))).collect();
    print_range("alternating", &alternating);
}

fn plan(path: &Path, variants: &[Variant], how_long: &str) -> Arc<Plan> {
    let mut settings = Settings::default();
    let all = CELLS.split_whitespace().chain(how_long.split_whitespace());
    for (name, text) in all.filter_map(|word| word.split_once('=')) {
        settings.set(name, text).expect("a setting");
    }
    let presets = [preset("quick").expect("a preset")];
    let asked = Proposal { file: Some(path), variants, ..Proposal::new(&presets, &settings) };
    Arc::new(propose(&asked).expect("a plan").plan)
}

/// Runs the plan as a front end does, with another order each time.
fn measure(plan: &Arc<Plan>) -> Session {
    static NEVER: AtomicBool = AtomicBool::new(false);
    let seed = iotui::sys::clock::monotonic_nanos() & ((1 << 53) - 1);
    let plan = Arc::new(Plan { seed, ..Plan::clone(plan) });
    let host = host::collect();
    let evidence = host.evidence();
    let mut session =
        Session::new(seed.to_string(), String::new(), String::new(), host, Plan::clone(&plan));
    run(&plan, || evidence, &Control::new(&NEVER), &mut |event| session.apply(&event))
        .expect("a run");
    session
}

fn is_second(variants: &[Variant], job: &iotui::plan::Job) -> bool {
    job.variant.as_ref() == variants.get(1).map(|variant| &variant.name)
}

fn pairs(wanted: impl Fn(usize, usize) -> bool) -> Vec<[usize; 2]> {
    let all = (0..2 * SERIES).flat_map(|a| (a..2 * SERIES).map(move |b| [a, b]));
    all.filter(|[a, b]| wanted(*a, *b)).collect()
}

/// Returns the session as if some of its cells had been faster by a factor.
fn with_gain(session: &Session, gain: f64, of: impl Fn(&iotui::plan::Job) -> bool) -> Session {
    let mut session = session.clone();
    for trial in &mut session.trials {
        if of(&session.plan.cells[trial.cell as usize]) {
            let trial = Arc::make_mut(trial);
            trial.nanos = (trial.nanos as f64 / gain) as u64;
        }
    }
    session
}

type Judge<'a> = &'a dyn Fn(&[Session; 2], &SavedRuns) -> Vec<Pair>;

/// Compares pairs of runs, the second of each made faster by `gain`.
fn judge(runs: &[Session], pairs: &[[usize; 2]], gain: f64, judge: Judge) -> Vec<Pair> {
    let of = |&[a, b]: &[usize; 2]| {
        let mut kept = SavedRuns::default();
        for (index, run) in runs.iter().enumerate().filter(|(index, _)| ![a, b].contains(index)) {
            assert!(kept.add(run, &run.plan.cells, &[]), "run {index} has results");
        }
        judge(&[runs[a].clone(), with_gain(&runs[b], gain, |_| true)], &kept)
    };
    pairs.iter().flat_map(of).collect()
}

/// Compares by the intervals of the runs alone.
fn unwidened(sessions: &[Session; 2]) -> Vec<Pair> {
    let others = results(&sessions[1]);
    let alone = |mut pair: Pair| {
        let base = pair.base?;
        let other = others.iter().find(|other| other.cell == pair.cell)?.throughput?;
        pair.ratio = Ratio::from_summaries(&other.summary, &base.summary);
        pair.outcome = Outcome::from_ratio(false, false, pair.ratio, true);
        Some(pair)
    };
    cells(compare(sessions)).into_iter().filter_map(alone).collect()
}

fn cells(comparison: Option<Comparison>) -> Vec<Pair> {
    comparison.expect("two sides").others.into_iter().flat_map(|other| other.cells).collect()
}

/// Adds a row; `pairs` returns the compared cells with a true gain.
fn add(table: &mut Table, name: &str, judged: bool, pairs: &dyn Fn(f64) -> Vec<Pair>) {
    let share = |pairs: &[Pair], outcomes: &[Outcome]| {
        let found = pairs.iter().filter(|pair| outcomes.contains(&pair.outcome)).count();
        found as f64 / pairs.len().max(1) as f64
    };
    let (equal, faster) = (pairs(1.0), pairs(GAIN));
    let different = share(&equal, &[Outcome::Faster, Outcome::Slower]);
    let found = share(&faster, &[Outcome::Faster]);
    table.add(vec![
        name.into(),
        equal.len().to_string(),
        format!("{:.1} %", different * 100.0),
        format!("{:.0} %", found * 100.0),
        if judged { format!("<= {:.0} %", MOST_DIFFERENT * 100.0) } else { "-".into() },
        if judged { verdict(different <= MOST_DIFFERENT) } else { String::new() },
    ]);
}

fn print_range(name: &str, pairs: &[Pair]) {
    let mut ratios: Vec<f64> = pairs.iter().filter_map(|pair| Some(pair.ratio?.ratio)).collect();
    ratios.sort_by(f64::total_cmp);
    if let (false, last) = (ratios.is_empty(), ratios.len().saturating_sub(1)) {
        let at = |share: f64| ratios[(last as f64 * share) as usize];
        println!("  {name}: {:.2} to {:.2}", at(0.05), at(0.95));
    }
}
