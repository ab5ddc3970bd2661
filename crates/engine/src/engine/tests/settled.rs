//! A run that ends when its answer is settled.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::*;
use crate::engine::Control;
use crate::plan::{Cache, Plan, TargetSpec, TrialTime};
use crate::record::{End, Event, MachineEvidence};

#[test]
fn settled_answer_ends_the_run() {
    static NEVER: AtomicBool = AtomicBool::new(false);
    let (file, ..) = testing::file(1 << 20, 9);
    let job = Job { count: None, cache: Cache::AsIs, xor: false, ..testing::job() };
    let plan = Plan {
        // Single bytes are far slower, whatever the machine does, and cannot change the answer.
        cells: [65536, 1].map(|block| Job { block, ..job.clone() }).to_vec(),
        trial_time: TrialTime::from_duration(Duration::from_millis(1)),
        settle: Some(0.5),
        budget: Duration::from_secs(600),
        ..Plan::plain("sweep", TargetSpec::File { path: file.path().into(), size: 1 << 20 })
    };
    let (mut trials, mut end) = ([0, 0], None);
    let mut sink = |event: Event| match event {
        Event::Trial { trial, .. } => trials[trial.cell as usize] += 1,
        Event::End { reason, .. } => end = Some(reason),
        _ => {}
    };
    let control = Control::new(&NEVER);
    crate::engine::run(&Arc::new(plan), MachineEvidence::default, &control, &mut sink).unwrap();
    assert_eq!((trials[1], end), (Plan::ROUNDS, Some(End::Goal)), "{trials:?}");
    assert!(trials[0] >= Plan::ROUNDS, "{trials:?}");
}
