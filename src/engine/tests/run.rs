//! Why a run ended, where a system call does not return.

use std::sync::atomic::AtomicBool;
use std::sync::{Condvar, Mutex};

use super::*;
use crate::backend::testing;
use crate::engine::Way;
use crate::engine::tests::faulty::{Act, Faulty, OPENING};
use crate::plan::{Job, TargetSpec};
use crate::stats::Histogram;

static GO: AtomicBool = AtomicBool::new(false);

/// How a run of one cell ends, whose operations never return, the first of them with a stop; and what was noted.
fn ends(budget: Duration, stop: Option<&'static AtomicBool>) -> (End, Vec<String>) {
    let hold = Arc::new((Mutex::new(true), Condvar::new()));
    let held = Arc::clone(&hold);
    let script = move |_, request| {
        if request != OPENING {
            stop.iter().for_each(|stop| stop.store(true, Relaxed));
            drop(held.1.wait_while(held.0.lock().unwrap(), |held| *held).unwrap());
        }
        Act::Whole
    };
    let backend = Faulty::over(&[7; 65536], Box::new(script));
    let (file, _, _) = testing::file(65536, 1);
    let target = TargetSpec::File { path: file.path().into(), size: 65536 };
    let bench = Bench::open(&target, 1, &|| false, &mut |_| {}).unwrap();
    let job = Job { cache: Cache::AsIs, ..testing::job() };
    let cells = vec![job.clone()];
    let plan = Plan { cells, trials: Some(1), goal: 0.0, budget, seed: 1, ..Plan::plain("sweep", target) };
    let (plan, control, begin) = (Arc::new(plan), Control::new(stop.unwrap_or(&GO)), Instant::now());
    let mut notes = Vec::new();
    let mut sink = |event| {
        if let Event::Note { text } = event {
            notes.push(text);
        }
    };
    let cell = Cell { job, way: Way::Backend(backend), amount: None, trials: vec![], histogram: Histogram::new(), every: 0, out: false };
    let deadline = begin + budget;
    let mut run = Run {
        plan: &plan,
        control: &control,
        sink: &mut sink,
        bench,
        grounds: Arc::default(),
        cells: vec![Some(cell)],
        pace: &mut Pace::new(begin, deadline, 1, Some(1)),
        origin: 0,
    };
    let end = run.all();
    *hold.0.lock().unwrap() = false;
    hold.1.notify_all();
    (end, notes)
}

#[test]
fn a_call_that_outlives_the_budget_does_not_make_it_an_interruption() {
    let (end, notes) = ends(Duration::from_millis(50), None);
    assert_eq!(end, End::Budget);
    assert!(notes.len() == 1 && notes[0].contains("was left behind"), "{notes:?}");
}

#[test]
fn a_call_that_outlives_a_stop_is_an_interruption() {
    static STOP: AtomicBool = AtomicBool::new(false);
    assert_eq!(ends(Duration::from_secs(3600), Some(&STOP)).0, End::Interrupted);
}
