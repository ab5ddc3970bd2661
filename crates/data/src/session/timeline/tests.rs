use std::io::Cursor;
use std::path::Path;

use proptest::prelude::*;

use super::read::of_lines;
use super::*;
use crate::record::{Evidence, Verified};
use crate::session::reader::Lines;
use crate::session::{SessionError, find, load, testing};

const OLD: &[u8] = include_bytes!("../../../../../tests/golden/session-v1.jsonl");

fn read(bytes: &[u8]) -> Result<(Session, Timeline), SessionError> {
    of_lines(&mut Lines::new(Cursor::new(bytes)), Path::new("x"))
}

/// Returns the session that the events make.
fn grown(session: &Session, timeline: &Timeline) -> Session {
    let Session { id, name, created, host, plan, .. } = session.clone();
    let mut grown = Session::new(id, name, created, host, plan);
    (0..timeline.len()).for_each(|at| grown.apply(&timeline.event(at).unwrap()));
    assert!(timeline.event(timeline.len()).is_none());
    grown
}

fn assert_in_order(timeline: &Timeline) {
    let times: Vec<Duration> = (0..timeline.len()).filter_map(|at| timeline.time(at)).collect();
    assert!(times.is_sorted() && times.last() == Some(&timeline.length()));
}

#[test]
fn the_demo_is_complete_and_anonymous() {
    let (session, timeline) = demo().unwrap();
    assert_eq!((session.id.as_str(), session.lost, timeline.remark()), (DEMO_ID, 0, None));
    let lines = demo_lines();
    assert!(lines.len() < 384 << 10, "{} bytes", lines.len());
    assert!(!timeline.samples.is_empty() && session.end.is_some() && session.host.name.is_empty());
    let text = String::from_utf8_lossy(&lines);
    for private in ["/home", "/root", "/tmp", "/work", "boot_id"] {
        assert!(!text.contains(private), "{private}");
    }
    assert_in_order(&timeline);
    // As it ran: no gap had to be cut.
    let ran = session.seconds.unwrap();
    assert!((timeline.length().as_secs_f64() - ran).abs() < 0.2 * ran, "{ran} s");
}

#[test]
fn replayed_events_rebuild_the_session() {
    for bytes in [&demo_lines()[..], OLD] {
        let (session, timeline) = read(bytes).unwrap();
        assert_in_order(&timeline);
        assert_eq!(grown(&session, &timeline), session);
    }
}

#[test]
fn latencies_over_time_follow_their_trial() {
    let mut session = testing::session(2);
    for (cell, round) in [(0, 1), (1, 1), (0, 2)] {
        session.apply(&testing::trial_event(cell, round, 1 << 20));
        session.apply(&Event::Latencies { log: testing::latencies(cell, round) });
        session.apply(&Event::Latencies { log: testing::latencies(cell, round) });
    }
    assert_eq!(grown(&session, &Timeline::of(&session)), session);
}

#[test]
fn calibrations_precede_trials() {
    let (_, timeline) = demo().unwrap();
    let (mut calibrated, mut running) = (Vec::new(), None);
    for at in 0..timeline.len() {
        match timeline.event(at).unwrap() {
            Event::Progress(Progress { phase: Phase::Calibrate, cell, .. }) => {
                calibrated.extend(cell)
            }
            Event::Progress(Progress { phase: Phase::Trial, cell, .. }) => running = cell,
            Event::Sample { cell, .. } => assert_eq!(running, Some(cell)),
            Event::Trial { trial, .. } => {
                assert_eq!(running, Some(trial.cell));
                assert!(calibrated.contains(&trial.cell), "{}", trial.cell);
            }
            _ => {}
        }
    }
}

#[test]
fn torn_sessions_replay_to_the_tear() {
    let lines = demo_lines();
    let last = lines[..lines.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap();
    let (_, killed) = read(&lines[..=last]).unwrap();
    assert!(killed.remark().unwrap().contains("killed"), "{:?}", killed.remark());
    for part in 1..20 {
        // A file without a plan is not a session; from the first trial on it is replayed.
        if let Ok((session, timeline)) = read(&lines[..lines.len() * part / 20]) {
            assert!(timeline.remark().is_some() && !session.trials.is_empty());
            assert_in_order(&timeline);
        }
    }
}

#[test]
fn old_sessions_replay_by_trials() {
    let mut text = String::from_utf8(OLD.to_vec()).unwrap();
    while let Some(from) = text.find(",\"samples\":[{") {
        let to = from + text[from..].find(']').unwrap();
        text.replace_range(from..=to, "");
    }
    let (session, timeline) = read(text.as_bytes()).unwrap();
    assert!(timeline.samples.is_empty() && timeline.remark().is_some());
    assert_eq!(grown(&session, &timeline).trials, session.trials);
}

#[test]
fn unreplayable_sessions_say_why() {
    let dir = tempfile::tempdir().unwrap();
    let said = find(dir.path(), "xeon-os").unwrap_err().into_replay().to_string();
    assert!(said.contains("cannot be replayed") && said.lines().count() == 1, "{said}");
    let begin = OLD.iter().position(|byte| *byte == b'\n').unwrap();
    let said = read(&OLD[..=begin]).unwrap_err().to_string();
    assert!(said.contains("nothing was measured"), "{said}");
    assert!(timeline(&dir.path().join("none.jsonl")).is_err());
}

#[test]
fn running_sessions_are_not_called_killed() {
    let dir = tempfile::tempdir().unwrap();
    let mut recorder = testing::recorder(dir.path(), &testing::plan(1));
    let trial = Arc::new(testing::trial(0, 1, 1 << 20));
    recorder.record(&Event::Trial { trial, samples: Vec::new(), latency: None });
    let path = recorder.path().to_path_buf();
    assert!(matches!(timeline(&path), Err(SessionError::Busy(_))));
    drop(recorder);
    let (_, killed) = timeline(&path).unwrap();
    assert!(killed.remark().unwrap().contains("killed"), "{:?}", killed.remark());
}

#[test]
fn saved_samples_match_recorded_ones() {
    let dir = tempfile::tempdir().unwrap();
    let id = testing::recorded(dir.path(), None, "x");
    let path = find(dir.path(), &id).unwrap();
    let (session, timeline) = timeline(&path).unwrap();
    assert_eq!((timeline.samples.len(), session), (20, load(&path).unwrap()));
}

#[test]
fn reading_back_delays_a_trials_end() {
    let mut session = testing::session(1);
    let verified = Some(Box::new(Verified { nanos: 5_000_000_000, ..Verified::default() }));
    let second = |round: u32| u64::from(round) * 10_000_000_000;
    for round in 1..=2 {
        let (started, verified) = (second(round), verified.clone());
        let evidence =
            Evidence { started, prepared: started, verified, parts: 1, ..Evidence::default() };
        let trial = testing::trial(0, round, 1 << 20);
        session.trials.push(Arc::new(Trial { nanos: 1_000_000_000, evidence, ..trial }));
    }
    let timeline = Timeline::of(&session);
    let at = |wanted: fn(&Event) -> bool| -> Vec<u64> {
        let events = (0..timeline.len()).filter(|at| wanted(&timeline.event(*at).unwrap()));
        events.map(|at| timeline.time(at).unwrap().as_secs()).collect()
    };
    let began = at(|event| matches!(event, Event::Progress(Progress { phase: Phase::Trial, .. })));
    let ended = at(|event| matches!(event, Event::Trial { .. }));
    // A second of work and five of reading back, then four until the next trial.
    assert_eq!(ended, began.iter().map(|began| began + 6).collect::<Vec<_>>());
    assert_eq!(began[1] - ended[0], 4);
}

proptest! {
    #[test]
    fn any_times_are_put_in_order(
        times in prop::collection::vec(
            prop::array::uniform5(prop_oneof![0..10_000_000_000u64, any::<u64>()]), 1..40),
    ) {
        let mut session = testing::session(3);
        let mut samples = Vec::new();
        for (n, [started, prepared, prepare_nanos, nanos, at]) in times.iter().enumerate() {
            let evidence = Evidence {
                started: *started,
                prepared: *prepared,
                prepare_nanos: *prepare_nanos,
                verified: Some(Box::new(Verified { nanos: *at, ..Verified::default() })),
                ..Evidence::default()
            };
            let trial = testing::trial(n as u32 % 3, n as u32 / 3 + 1, 1 << 20);
            session.trials.push(Arc::new(Trial { nanos: *nanos, evidence, ..trial }));
            samples.push(vec![Sample { at: *at, nanos: 1, ..Sample::default() }; 3]);
        }
        let timeline = place(&session, Marks::default(), samples);
        assert_in_order(&timeline);
        prop_assert!(timeline.length() < Duration::from_nanos(u64::MAX / 1000));
        prop_assert_eq!(grown(&session, &timeline).trials, session.trials);
    }
}
