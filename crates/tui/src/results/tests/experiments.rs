//! Figures that only experiments have: counts, XOR and times, cache-drop levels.

use std::sync::Arc;

use proptest::prelude::*;

use super::{results, stage_of};
use crate::analysis::Axis;
use crate::experiment::MEASURE;
use crate::plan::{Cache, Job};
use crate::record::{DropLevel, Level, Reading, Trial, Xor};
use crate::session::Session;
use crate::session::testing::{job, plan, session};
use crate::session_view::SessionView;
use crate::testing::Stage;

/// Three trials of each job, at 300 ns an operation.
fn of(cells: Vec<Job>) -> Session {
    let mut plan = plan(0);
    plan.cells = cells;
    let host = session(0).host;
    let mut session = Session::new(
        "20261121-093011-x".into(),
        String::new(),
        "2026-11-21T09:30:11Z".into(),
        host,
        plan,
    );
    let cells = session.plan.cells.clone();
    for round in 1..=3 {
        for (cell, job) in (0..).zip(&cells) {
            let ops = job.count.filter(|count| *count > 0).unwrap_or(4096);
            let xor = job.xor.then_some(Xor(0x213d_4629));
            let nanos = ops * (300 + u64::from(round));
            let trial = Trial {
                cell,
                round,
                ops,
                bytes: ops * job.block,
                syscalls: ops.into(),
                nanos,
                xor,
                ..Trial::default()
            };
            session.trials.push(Arc::new(trial));
        }
    }
    session
}

/// As `syscalls`: 1 and 2 bytes, counts from 1024 to 4 Mi.
fn calls() -> Session {
    let counts = (0..5).map(|n| 1024 << (3 * n));
    of(counts
        .flat_map(|count| {
            [1, 2].map(|block| Job { count: Some(count), ..job("read", block, Cache::Warm) })
        })
        .collect())
}

fn shown(session: Session) -> Stage {
    stage_of(SessionView::new(session, None))
}

#[test]
fn x_switches_to_the_next_axis() {
    let mut stage = shown(calls());
    fn data(stage: &Stage) -> (Axis, Vec<(String, usize)>) {
        let data = results(stage).data.as_ref().unwrap();
        (
            data.places.axis,
            data.curves
                .iter()
                .map(|curve| (curve.name.clone(), curve.points.len()))
                .collect::<Vec<_>>(),
        )
    }
    let curves = |names: &[&str], points| {
        names.iter().map(|name| (name.to_string(), points)).collect::<Vec<_>>()
    };
    assert_eq!(data(&stage), (Axis::Count, curves(&["read 1 B", "read 2 B"], 5)));
    let picture = stage.picture(120, 40);
    assert!(picture.contains("X over number of operations") && picture.contains("4m"), "{picture}");
    let under = results(&stage).under_cursor();
    stage.keys("X");
    let names = [10, 13, 16, 19, 22].map(|power| format!("read {} operations", 1u64 << power));
    assert_eq!(data(&stage), (Axis::Block, curves(&names.each_ref().map(String::as_str), 2)));
    assert_eq!(results(&stage).under_cursor(), under, "the cursor stays on its cell");
    // A result has the sign of its curve, whatever the axis.
    let data_now = results(&stage).data.as_ref().unwrap();
    for curve in &data_now.curves {
        assert!(curve.points.iter().all(|point| data_now.signs[point.result] == curve.sign));
    }
    stage.keys("X");
    assert_eq!(data(&stage).0, Axis::Count);
}

#[test]
fn table_and_cell_show_the_xor() {
    let jobs = [1, 2, 4].map(|threads| Job {
        threads,
        count: Some(0),
        xor: true,
        ..job("pread", 2 << 20, Cache::Warm)
    });
    let mut stage = shown(of(jobs.to_vec()));
    stage.keys("v");
    let table = stage.picture(80, 24);
    for text in ["XOR", "time", "213d4629", "XOR 213d4629 in all cells"] {
        assert!(table.contains(text), "{text}\n{table}");
    }
    stage.keys("<enter>");
    let cell = stage.picture(120, 40);
    assert!(
        cell.contains("213d4629, same in every cell") && cell.contains("4096 \u{d7} 2 MiB"),
        "{cell}"
    );
    // One that differs is no longer called the same.
    let mut session = of(jobs.to_vec());
    for trial in session.trials.iter_mut().filter(|trial| trial.cell == 1) {
        Arc::make_mut(trial).xor = Some(Xor(1));
    }
    let mut stage = shown(session);
    stage.keys("v");
    let table = stage.picture(80, 24);
    assert!(table.contains("00000001") && !table.contains("in all cells"), "{table}");
}

#[test]
fn measure_has_a_table_of_work() {
    let mut session = of([1, 512, 4096].map(|block| job("read", block, Cache::Warm)).to_vec());
    session.plan.experiment = MEASURE.into();
    for trial in &mut session.trials {
        let trial = Arc::make_mut(trial);
        // Two passes: the count is that of one.
        (trial.ops, trial.bytes, trial.nanos, trial.passes) =
            (trial.ops * 2, trial.bytes * 2, trial.nanos * 2, 2);
    }
    let mut stage = shown(session);
    stage.keys("v");
    let table = stage.picture(80, 24);
    for text in ["block", "count", "size", "time", " 4096 ", "16 MiB", "Counts", "to repeat one"] {
        assert!(table.contains(text), "{text}\n{table}");
    }
}

#[test]
fn cold_levels_stand_below_the_table() {
    let mut session = calls();
    let reading = |open| Reading { open, first: 20_000, whole: 3_000_000 };
    let level = |dropped, open| Level {
        dropped,
        readings: vec![reading(open); 3],
        bytes: 1 << 20,
        reason: None,
    };
    session.levels = vec![
        level(DropLevel::Nothing, 81_600),
        level(DropLevel::Data, 84_700),
        level(DropLevel::Meta, 239_000),
        level(DropLevel::All, 3_700_000),
    ];
    let mut stage = shown(session);
    assert!(stage.picture(150, 44).contains("v cache-drop levels"));
    stage.keys("v");
    for (columns, rows) in [(80, 24), (120, 40), (150, 44)] {
        let table = stage.picture(columns, rows);
        for text in ["What each cache-drop level costs", "dropped", "open", "whole read", "nothing"]
        {
            assert!(table.contains(text), "{text}\n{table}");
        }
    }
    assert!(!stage.picture(80, 12).contains("What each level"), "the rows come first");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_size_and_key_works(columns in 1u16..200, rows in 1u16..60, keys in "[xvLajkhl+0biogG]{0,12}", which in 0usize..3) {
        let mut session = match which {
            0 => calls(),
            1 => of([1, 2].map(|threads| Job { threads, xor: true, ..job("pread", 4096, Cache::Warm) }).to_vec()),
            _ => of([0, 30, 100].map(|mix| Job { mix: Some(mix), op: crate::plan::Op::Write, ..job("pread", 4096, Cache::AsIs) }).to_vec()),
        };
        session.levels = vec![Level { dropped: DropLevel::Data, readings: vec![Reading { open: 1, first: 2, whole: 0 }], bytes: 9, reason: None }];
        let mut stage = shown(session);
        stage.tell(super::Msg::Resize(columns, rows));
        stage.keys(&keys).keys("<enter>");
        stage.picture(columns, rows);
    }
}
