//! Commits at a glance.

use super::*;
use crate::analysis::answer::testing::committed;
use crate::plan::Writes;
use crate::record::Reach;

#[test]
fn commits_are_grouped_by_method() {
    let glance = of(&[
        committed(|_| {}, 900, Reach::Flushed),
        committed(|job| job.writes = Writes::Append, 800, Reach::Flushed),
        committed(|job| job.sync = Sync::Dsync, 1200, Reach::Flushed),
        committed(|job| job.threads = 8, 2000, Reach::Flushed),
        committed(|job| job.sync_every = 64, 1800, Reach::Flushed),
    ]);
    assert_eq!(titles(&glance), ["durable commits by 1 writer", "durable commits by 8 writers"]);
    let names: Vec<&str> = glance.rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["pwrite fdatasync", "pwrite O_DSYNC"]);
    let single = glance.columns[0].best_bar().unwrap();
    assert_eq!(single.figure.summary.median.round(), 1250.0, "commits, not writes of a group");
    assert_eq!(single.at, "4 KiB, append");
    let several = glance.columns[1].best_bar().unwrap();
    assert_eq!(several.figure.summary.median.round(), 4000.0);
    assert_eq!(several.at, "4 KiB, 8 threads");
    let caption = "p99 4.00 ms, pwrite fdatasync, 4 KiB, 8 threads";
    assert_eq!(glance.caption(&glance.columns[1]), caption);
    assert!(glance.facts[0].starts_with("The cheapest durable commit here:"), "{:?}", glance.facts);
    let text = "every commit is durable: sda was flushed once";
    assert_eq!(glance.origin, Statement { grade: Grade::Good, text: text.into() });
}

#[test]
fn non_durable_commits_are_never_best() {
    let glance = of(&[
        committed(|_| {}, 900, Reach::Flushed),
        committed(|job| job.sync = Sync::Dsync, 9, Reach::NotReached),
    ]);
    assert_eq!(titles(&glance), ["durable commits by 1 writer", "non-durable commits by 1 writer"]);
    let text = "commits are not durable in 1 of 2 cells: sda was flushed once";
    assert_eq!(glance.origin, Statement { grade: Grade::Misleading, text: text.into() });
    let unknown = of(&[committed(|_| {}, 900, Reach::Unknown)]);
    assert_eq!(titles(&unknown), ["commits by 1 writer"]);
    let text = "whether commits are durable is unknown: sda was flushed once";
    assert_eq!(unknown.origin, Statement { grade: Grade::Unfinished, text: text.into() });
}

#[test]
fn large_commits_are_judged_by_bytes() {
    let large = committed(|job| job.block = 1 << 20, 900, Reach::Flushed);
    assert_eq!(titles(&of(&[large])), ["written to the device"]);
    let two = [
        committed(|_| {}, 900, Reach::Flushed),
        committed(|job| job.block = 16384, 900, Reach::Flushed),
    ];
    assert_eq!(titles(&of(&two)), ["written to the device"]);
}
