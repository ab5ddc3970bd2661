//! Counts how often a cache below this machine is found where one is planted, and reported without
//! one; and what the comparison of first and second reads costs.

mod common;
#[path = "../tests/common/mod.rs"]
mod program;

use std::time::{Duration, Instant};

use common::table::{Table, verdict};
use program::slow_first::SlowFirst;
use program::{Home, warnings};

const RUN: &str = "--batch --no-save -b pread -s 64k --direct --trials 1 --trial-time 1ms \
                   --ceilings never";
const PLANTED: usize = 50;
const NONE: usize = 200;

fn main() {
    // `cargo test --benches` only checks whether it starts.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let home = Home::new();
    // A budget of less than 5 s has no room for the comparison.
    let run = |first: Duration, budget: &str| {
        let slow = SlowFirst::mount(first)?;
        let begin = Instant::now();
        let line = format!("{RUN} --budget {budget} --format json {}", slow.file().display());
        let output = home.std(&line).output().expect("iotui runs");
        if !output.status.success() {
            // A machine that stands still ends the budget.
            eprintln!("left out: {}", String::from_utf8_lossy(&output.stderr).trim());
            return None;
        }
        let document = serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("JSON");
        let called = warnings(&document["results"][0]).contains(&"first-visit");
        Some((called, begin.elapsed().as_secs_f64()))
    };
    let mut table = Table::new(&["", "runs", "called", "least s", "median s", "most s", ""]);
    let mut row = |name: &str, runs: usize, first: Duration, target: Option<usize>| {
        let results: Vec<_> = (0..runs).filter_map(|_| run(first, "1m")).collect();
        let without: Vec<_> = (0..runs.min(20)).filter_map(|_| run(first, "4s")).collect();
        let called = results.iter().filter(|(called, _)| *called).count();
        let sorted = |of: &[(bool, f64)]| {
            let mut all: Vec<f64> = of.iter().map(|(_, seconds)| *seconds).collect();
            all.sort_by(f64::total_cmp);
            all
        };
        let (all, bare) = (sorted(&results), sorted(&without));
        let Some(base) = bare.get(bare.len() / 2) else { return };
        let cost = |at: usize| format!("{:.3}", all[at] - base);
        table.add(vec![
            name.into(),
            results.len().to_string(),
            called.to_string(),
            cost(0),
            cost(all.len() / 2),
            cost(all.len() - 1),
            target.map_or("for reference".into(), |wanted| verdict(called == wanted)),
        ]);
    };
    row("first reads 1 ms slower", PLANTED, Duration::from_millis(1), Some(PLANTED));
    row("no cache", NONE, Duration::ZERO, Some(0));
    table.print();
}
