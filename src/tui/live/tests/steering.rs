//! Pause, suspension, skip; the state and the title.

use super::*;

#[test]
fn the_state_tells_how_far_the_run_is() {
    let mut bench = Bench::idle();
    assert_eq!(bench.state(), "idle");
    bench = Bench::new(plan(Some(2)));
    assert_eq!(bench.state(), "running 0 of 12");
    bench.phase(Phase::Fill, None, 0, 0.0);
    assert_eq!(bench.state(), "running 0 of 12");
    let order = crate::engine::order(&crate::plan::Plan { seed: 7, ..plan(None) }, 2);
    bench.phase(Phase::Trial, Some(order[3] as u32), 2, 0.7);
    assert_eq!(bench.state(), "running 10 of 12");
    bench = Bench::new(plan(None));
    bench.phase(Phase::Trial, Some(order[3] as u32), 2, 0.7);
    assert_eq!(bench.state(), "running round 2, 4 of 6");
    bench.key("x");
    assert_eq!(bench.state(), "stopping…");
}

#[test]
fn a_pause_is_no_time_and_says_when_it_is_there() {
    let mut bench = Bench::new(plan(Some(1)));
    bench.phase(Phase::Trial, Some(0), 1, 0.1);
    bench.sample(0, 1, 1, 1 << 20);
    assert_eq!(bench.key("space"), [Effect::Pause(true)]);
    assert_eq!(bench.state(), "pausing…");
    bench.wait(50);
    bench.phase(Phase::Pause, Some(0), 1, 0.1);
    assert_eq!(bench.state(), "paused");
    let before = bench.run().view.now;
    bench.wait(60_000);
    bench.say(Msg::Tick);
    assert_eq!(bench.run().view.now, before);
    assert_eq!(bench.key("space"), [Effect::Pause(false)]);
    bench.wait(10);
    bench.phase(Phase::Trial, Some(0), 1, 0.1);
    assert!(bench.state().starts_with("running"));
    bench.sample(0, 1, 1, 1 << 20);
    assert!((bench.run().view.now - before - 0.1).abs() < 1e-6);
    let pieces: Vec<u32> = bench.slices().iter().map(|s| s.piece).collect();
    assert_eq!(pieces, [1, 2], "the trial that was cut is not the one that is repeated");
}

#[test]
fn a_suspension_ends_its_pause_when_the_engine_has_taken_it() {
    // The engine's word comes before the return, or after it.
    for before in [true, false] {
        let mut bench = Bench::new(plan(Some(1)));
        bench.phase(Phase::Trial, Some(0), 1, 0.1);
        bench.sample(0, 1, 1, 1 << 20);
        assert_eq!(bench.key("ctrl-z"), [Effect::Pause(true), Effect::Suspend]);
        if before {
            bench.phase(Phase::Pause, Some(0), 1, 0.1);
        }
        let at = bench.run().clock;
        bench.wait(3_600_000);
        // What the trial says that spans the suspension is no measurement.
        bench.sample(0, 1, 36_000, 1);
        assert_eq!(bench.slices().len(), 1);
        let effects = bench.say(Msg::Resumed);
        assert_eq!(effects.contains(&Effect::Pause(false)), before);
        assert_eq!(bench.say(Msg::Resumed), [Effect::Redraw], "told twice: by the signal too");
        if !before {
            assert_eq!(bench.key("space"), [], "it goes on by itself");
            bench.sample(0, 1, 36_001, 1);
            assert_eq!(bench.slices().len(), 1);
            assert!(bench.phase(Phase::Pause, Some(0), 1, 0.1).contains(&Effect::Pause(false)));
        }
        assert_eq!(bench.run().clock, at);
        bench.phase(Phase::Trial, Some(0), 1, 0.1);
        bench.sample(0, 1, 1, 1);
        assert_eq!(bench.slices().len(), 2);
        assert!(bench.run().view.now < 1.0);
    }
}

#[test]
fn a_run_that_a_person_paused_stays_paused_over_a_suspension() {
    let mut bench = Bench::new(plan(Some(1)));
    bench.phase(Phase::Trial, Some(0), 1, 0.1);
    bench.key("space");
    bench.phase(Phase::Pause, Some(0), 1, 0.1);
    assert_eq!(bench.key("ctrl-z"), [Effect::Suspend]);
    assert_eq!(bench.say(Msg::Resumed), [Effect::Redraw]);
    assert_eq!(bench.phase(Phase::Pause, Some(0), 1, 0.1), []);
    assert_eq!(bench.state(), "paused");
}

#[test]
fn skip_is_taken_once_per_cell() {
    let mut bench = Bench::new(plan(Some(1)));
    assert_eq!(bench.key("s"), [], "no cell is running yet");
    bench.phase(Phase::Trial, Some(0), 1, 0.1);
    assert_eq!(bench.key("s"), [Effect::Skip]);
    assert_eq!(bench.key("s"), []);
    assert!(bench.screen(80, 24).contains("skipping"));
    bench.phase(Phase::Trial, Some(1), 1, 0.1);
    assert!(!bench.screen(80, 24).contains("skipping"));
    assert_eq!(bench.key("s"), [Effect::Skip]);
}

#[test]
fn the_title_changes_with_the_percent_and_the_cell_only() {
    let mut bench = Bench::new(plan(Some(1)));
    assert_eq!(
        titles(&bench.phase(Phase::Trial, Some(0), 1, 0.42)),
        ["iotui 42 %: read 4 KiB warm"]
    );
    assert_eq!(titles(&bench.phase(Phase::Trial, Some(0), 1, 0.424)), [""; 0]);
    assert_eq!(
        titles(&bench.phase(Phase::Trial, Some(3), 1, 0.425)),
        ["iotui 42 %: pread 4 KiB warm"]
    );
    // Time alone brings it on: 10 s are left.
    bench.wait(5000);
    assert_eq!(titles(&bench.say(Msg::Tick)), ["iotui 71 %: pread 4 KiB warm"]);
    assert_eq!(titles(&bench.say(Msg::Tick)), [""; 0]);
    assert_eq!(titles(&bench.say(Msg::Over { error: None, unsaved: None })), ["iotui"]);
}

#[test]
fn a_run_that_is_not_saved_says_so_until_it_is() {
    let mut bench = Bench::new(plan(Some(5)));
    bench.say(Msg::Begun {
        path: Some("/s/x.jsonl".into()),
        id: "x".into(),
        name: String::new(),
        created: "now".into(),
    });
    bench.trial(0, 1, 2);
    let why = "3 lines not yet saved: No space left on device";
    bench.say(Msg::Saving { id: "x".into(), unsaved: Some(why.into()) });
    for (columns, rows) in [(60, 16), (80, 24), (120, 40), (200, 60)] {
        let screen = bench.screen(columns, rows);
        assert!(screen.contains("NOT SAVED: 3 lines not yet"), "{screen}");
        // All of it, there or in the toast.
        let is_frame = |c: char| "│╭╮╰╯─".contains(c);
        let words: Vec<&str> =
            screen.split_whitespace().map(|w| w.trim_matches(is_frame)).collect();
        let text = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        assert!(text.contains(why), "{screen}");
        // A narrow screen has no room for the state.
        assert!(columns < 80 || screen.lines().next().unwrap().contains("not saved"), "{screen}");
    }
    assert!(bench.model.toasts.iter().any(|toast| toast.text.contains("saving is retried")));
    // The file of a run before this one is not this one's.
    bench.say(Msg::Saving { id: "older".into(), unsaved: None });
    assert!(bench.screen(80, 24).contains("NOT SAVED"));
    bench.say(Msg::Saving { id: "x".into(), unsaved: None });
    assert!(!bench.screen(80, 24).contains("NOT SAVED"));
    assert!(bench.model.toasts.iter().any(|toast| toast.text.contains("saved again")));
    // At the end it is told too, and on the normal screen.
    bench.handle(Event::End { reason: End::Finished, seconds: None });
    bench.say(Msg::Over { error: None, unsaved: Some(why.into()) });
    let said = bench.model.farewell().lines.join("\n");
    assert!(
        said.contains("this run is saved only in part: 3 lines not yet saved")
            && !said.contains("saved   /s"),
        "{said}"
    );
    assert!(bench.screen(120, 40).lines().next().unwrap().contains("not saved"));
    bench.say(Msg::Saving { id: "x".into(), unsaved: None });
    assert!(bench.model.farewell().lines.join("\n").contains("saved   /s/x.jsonl"));
}

#[test]
fn a_run_without_a_file_says_why_all_along() {
    let mut bench = Bench::new(plan(Some(5)));
    bench.say(Msg::Begun {
        path: None,
        id: String::new(),
        name: String::new(),
        created: "now".into(),
    });
    bench.say(Msg::Saving {
        id: String::new(),
        unsaved: Some("cannot make the folder /s: Not a directory".into()),
    });
    bench.trial(0, 1, 2);
    assert!(
        bench.screen(120, 40).contains("NOT SAVED: cannot make the folder /s"),
        "{}",
        bench.screen(120, 40)
    );
    bench.handle(Event::End { reason: End::Finished, seconds: None });
    bench.say(Msg::Over { error: None, unsaved: None });
    assert!(bench.screen(120, 40).lines().next().unwrap().contains("not saved"));
}
