//! `--dry-run`: the plan in words.

use std::fmt::Write;

use crate::experiment::estimate;
use crate::plan::{Plan, TargetSpec};
use crate::units::{show_bytes, show_wait};

/// `expected`: what the plan should give, where facts tell.
pub(super) fn text(plan: &Plan, expected: &str) -> String {
    let mut text = String::new();
    let size = show_bytes(plan.target.size());
    let target = match &plan.target {
        TargetSpec::Scratch { dir, .. } => {
            format!("a scratch file of {size} in {}, filled with random data, removed afterwards", dir.display())
        }
        TargetSpec::File { path, .. } => format!("{}, {size}, read-only", path.display()),
        TargetSpec::New { path, .. } => format!("{}, a new file of {size}, kept", path.display()),
        TargetSpec::None => "no file".into(),
    };
    let rounds = match plan.trials {
        Some(n) => format!("{n} trials of each"),
        None => format!("rounds until every interval is within {:.0} % or the budget ends", plan.goal * 100.0),
    };
    let _ = writeln!(text, "target  {target}");
    let _ = writeln!(text, "cells   {}, {rounds}, in random order (seed {})", plan.cells.len(), plan.seed);
    let _ = writeln!(text, "time    about {}, at most {}", show_wait(estimate(plan)), show_wait(plan.budget));
    let buffers = plan.cells.iter().map(|c| c.block.saturating_mul(c.depth.into()).saturating_mul(c.threads.into())).max().unwrap_or(0);
    let _ = writeln!(text, "memory  {} of buffers at most", show_bytes(buffers));
    if plan.target.is_ours() {
        let _ = writeln!(text, "writes  {size} to make the file");
    }
    if let Some((name, said)) = expected.split_once(": ") {
        let _ = writeln!(text, "{name} {said}");
    }
    text.push('\n');
    for cell in &plan.cells {
        let count = cell.count.map_or(String::new(), |n| if n == 0 { ", one pass".into() } else { format!(", {n} operations") });
        let _ = writeln!(text, "  {}{count}", cell.label());
    }
    let mut reasons: Vec<&str> = plan.skipped.iter().map(|s| s.reason.as_str()).collect();
    reasons.sort_unstable();
    reasons.dedup();
    for reason in reasons {
        let mut cells = plan.skipped.iter().filter(|s| s.reason == reason).map(|s| s.cell.label());
        let (first, more) = (cells.next().unwrap_or_default(), cells.count());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let _ = writeln!(text, "  skipped: {first}{more}: {reason}");
    }
    text
}
