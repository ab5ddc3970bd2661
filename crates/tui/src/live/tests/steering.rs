//! Pause, suspension, skip; the state, what the time goes to, and the title.

use super::*;
use crate::live::run_view::RunStep;
use crate::record::Verified;

#[test]
fn every_part_shows_one_counter() {
    let mut bench = Bench::idle();
    assert_eq!(bench.state(), "idle");
    bench = Bench::new(plan(Some(2)));
    assert_eq!(bench.state(), "0 of 6 cells known");
    bench.phase(Phase::Fill, None, 0, 0.0);
    assert_eq!(bench.state(), "0 of 6 cells known · 10 s left");
    bench.trial(0, 1, 2);
    bench.trial(1, 1, 2);
    bench.phase(Phase::Trial, Some(3), 2, 0.72);
    assert_eq!(bench.state(), "trial 3 · 2 of 6 cells known · 10 s left");
    // Header, pane and bar say the same.
    let screen = bench.screen(140, 40);
    let first = screen.lines().next().unwrap();
    assert!(first.contains("trial 3 · 2 of 6 cells known · 10 s left"), "{first}");
    assert_eq!(screen.matches("trial 3 · 2 of 6 cells known").count(), 2, "{screen}");
    assert_eq!(screen.matches("cells").count(), 2, "{screen}");
    assert!(screen.contains(" 72 %  10 s left"), "{screen}");
    let narrow = bench.screen(80, 24);
    assert!(narrow.lines().next().unwrap().ends_with(" 10 s left "), "{narrow}");
    bench.key("x");
    assert_eq!(bench.state(), "stopping…");
    assert!(bench.screen(80, 24).lines().next().unwrap().contains("stopping…"));
}

#[test]
fn small_terminals_show_the_state() {
    let mut bench = Bench::new(plan(Some(3)));
    assert_eq!(bench.screen(60, 16).trim(), "needs 80x24 · 0 of 6 cells known");
    bench.trial(0, 1, 2);
    bench.phase(Phase::Trial, Some(2), 1, 0.72);
    let line = |columns| bench.screen(columns, 10).trim().to_string();
    let cell = bench.run().view.label(RunStep::Cell(2)).unwrap();
    assert_eq!(line(60), format!("needs 80x24 · 72 % · {cell} · 1000 MiB/s"));
    assert!(line(20).starts_with("needs 80x24"), "{}", line(20));
}

#[test]
fn progress_never_runs_backwards() {
    let mut bench = Bench::new(plan(Some(2)));
    bench.phase(Phase::Trial, Some(0), 1, 0.72);
    let percent = |bench: &Bench| bench.run().view.counter().percent();
    assert_eq!(percent(&bench), 72);
    bench.wait(1000);
    bench.say(Msg::Tick);
    let before = percent(&bench);
    assert!(before > 72);
    // The pause takes back what the cut trial took.
    bench.key("space");
    bench.phase(Phase::Pause, Some(0), 1, 0.66);
    assert_eq!(percent(&bench), before);
    bench.wait(60_000);
    bench.say(Msg::Tick);
    assert_eq!(percent(&bench), before);
    assert!(bench.screen(120, 40).contains(&format!(" {before} %")));
    bench.key("space");
    bench.phase(Phase::Trial, Some(0), 1, 0.66);
    assert_eq!(percent(&bench), before);
    bench.phase(Phase::Trial, Some(0), 1, 0.9);
    assert_eq!(percent(&bench), 90);
}

#[test]
fn pauses_take_no_run_time() {
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
    assert!(bench.state().starts_with("trial 1"));
    bench.sample(0, 1, 1, 1 << 20);
    assert!((bench.run().view.now - before - 0.1).abs() < 1e-6);
    assert_eq!(bench.slices().len(), 1, "the trial that was cut is repeated in full");
}

#[test]
fn suspensions_resume_once_paused() {
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
        // A sample across the suspension is not a measurement.
        bench.sample(0, 1, 36_000, 1);
        assert_eq!(bench.slices().len(), usize::from(!before));
        let effects = bench.say(Msg::Resumed);
        assert_eq!(effects.contains(&Effect::Pause(false)), before);
        assert_eq!(bench.say(Msg::Resumed), [Effect::Redraw], "resumed twice: by the signal too");
        if !before {
            assert_eq!(bench.key("space"), [], "it goes on by itself");
            bench.sample(0, 1, 36_001, 1);
            assert_eq!(bench.slices().len(), 1);
            assert!(bench.phase(Phase::Pause, Some(0), 1, 0.1).contains(&Effect::Pause(false)));
        }
        assert_eq!(bench.run().clock, at);
        bench.phase(Phase::Trial, Some(0), 1, 0.1);
        bench.sample(0, 1, 1, 1);
        assert_eq!(bench.slices().len(), 1);
        assert!(bench.run().view.now < 1.0);
    }
}

#[test]
fn paused_runs_stay_paused_when_suspended() {
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
    assert_eq!(bench.key("s"), [Effect::Skip(0)]);
    assert_eq!(bench.key("s"), []);
    assert!(bench.screen(80, 24).contains("skipping"));
    bench.phase(Phase::Trial, Some(1), 1, 0.1);
    assert!(!bench.screen(80, 24).contains("skipping"));
    assert_eq!(bench.key("s"), [Effect::Skip(1)], "the cell that the screen names");
}

#[test]
fn goals_count_narrow_cells() {
    let (until, budget) = (true, Plan::UNTIL_BUDGET);
    let mut bench = Bench::new(Plan { until, budget, goal: 0.05, ..plan(None) });
    for cell in 0..6 {
        // Five of six cells have an interval.
        for round in 1..=if cell < 5 { 5 } else { 2 } {
            bench.trial(cell, round, 1);
        }
    }
    bench.wait(1000);
    bench.say(Msg::Tick);
    bench.say(Msg::Tick);
    let counter = bench.run().view.counter();
    assert_eq!((counter.left, counter.percent()), (None, 83));
    assert!(!bench.screen(120, 40).contains(" left"), "{}", bench.screen(120, 40));
}

#[test]
fn results_offer_no_run_during_one() {
    let mut bench = Bench::new(plan(Some(3)));
    bench.trial(0, 1, 3);
    bench.key("3");
    let screen = bench.screen(200, 40);
    assert!(!screen.contains("run again") && !screen.contains("refine"), "{screen}");
}

#[test]
fn the_title_shows_the_share_done() {
    let mut bench = Bench::new(plan(Some(1)));
    assert_eq!(titles(&bench.phase(Phase::Trial, Some(0), 1, 0.42)), ["iotui 42 %"]);
    assert_eq!(titles(&bench.phase(Phase::Trial, Some(0), 1, 0.424)), [""; 0]);
    // A terminal is not written to with each of a thousand trials a second.
    assert_eq!(titles(&bench.phase(Phase::Trial, Some(3), 1, 0.425)), [""; 0]);
    // Time alone brings it on: 10 s are left.
    bench.wait(5000);
    assert_eq!(titles(&bench.say(Msg::Tick)), ["iotui 71 %"]);
    assert_eq!(titles(&bench.say(Msg::Tick)), [""; 0]);
    assert_eq!(titles(&bench.say(Msg::Over { error: None, unsaved: None })), ["iotui"]);
}

#[test]
fn keys_say_what_they_do() {
    let mut bench = Bench::new(plan(Some(1)));
    let toasted = |bench: &Bench, text: &str| {
        assert!(bench.model.toasts.iter().any(|toast| toast.text.contains(text)), "{text}");
    };
    let footer = |bench: &Bench| bench.screen(140, 40).lines().last().unwrap().to_string();
    bench.key("+");
    toasted(&bench, "zoom needs two trials");
    bench.trial(0, 1, 1);
    bench.trial(1, 1, 1);
    bench.phase(Phase::Trial, Some(2), 1, 0.1);
    bench.say(Msg::Tick);
    bench.key("s");
    toasted(&bench, "read 1 MiB warm: left out of the rest of the run; results so far are kept");
    // Both messages have had their time.
    for _ in 0..2 {
        bench.now += Duration::from_secs(60);
        bench.say(Msg::Tick);
    }
    let shown = footer(&bench);
    assert!(shown.contains("space pause") && !shown.contains("reset zoom"), "{shown}");
    bench.key("+");
    assert!(footer(&bench).contains("0 reset zoom"), "{}", footer(&bench));
    assert!(bench.screen(140, 40).contains("the last of 2 trials"));
    bench.key("0");
    assert!(!footer(&bench).contains("reset zoom"));
    bench.key("-");
    toasted(&bench, "all trials are shown already");
    bench.now += Duration::from_secs(60);
    bench.key("space");
    bench.say(Msg::Tick);
    assert!(footer(&bench).contains("space resume"), "{}", footer(&bench));
}

#[test]
fn unsaved_runs_say_so() {
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
    for (columns, rows) in [(80, 24), (120, 40), (200, 60)] {
        let screen = bench.screen(columns, rows);
        assert!(screen.contains("NOT SAVED: 3 lines not yet"), "{screen}");
        // All of it, there or among the messages.
        let is_frame = |c: char| "│╭╮╰╯─".contains(c);
        let text = |screen: &str| {
            let words = screen.split_whitespace().map(|word| word.trim_matches(is_frame));
            words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
        };
        bench
            .model
            .popups
            .push(crate::popup::Popup::Messages(crate::popup::MessageList { scroll: 0 }));
        let messages = bench.screen(columns, rows);
        bench.model.popups.clear();
        assert!(text(&screen).contains(why) || text(&messages).contains(why), "{messages}");
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
    // The end reports it too, and so does the farewell.
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
fn runs_without_files_say_why() {
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

#[test]
fn live_and_results_share_signs() {
    let mut bench = Bench::new(plan(Some(3)));
    bench.phase(Phase::Calibrate, Some(0), 1, 0.0);
    bench.key("3");
    // The first backend was not measured at all.
    bench.trial(3, 1, 3);
    bench.trial(5, 1, 3);
    bench.say(Msg::Tick);
    let live = [3, 5].map(|cell| bench.run().view.sign(cell).unwrap());
    assert_eq!(bench.model.results.data.as_ref().unwrap().signs, live);
    assert_ne!(bench.run().view.sign(0), Some(live[0]));
}

#[test]
fn results_grow_during_a_run() {
    let mut bench = Bench::new(plan(Some(3)));
    bench.phase(Phase::Calibrate, Some(0), 1, 0.0);
    bench.key("3");
    assert!(bench.model.results.data.is_none());
    bench.trial(0, 1, 3);
    bench.trial(1, 1, 3);
    bench.say(Msg::Tick);
    let known = |bench: &Bench| bench.model.results.view().map(|view| view.results.len());
    assert_eq!(known(&bench), Some(2));
    bench.key("v");
    let screen = bench.screen(120, 40);
    assert!(screen.contains("not measured yet"), "{screen}");
    let under = |bench: &Bench| bench.model.results.under_cursor();
    bench.model.results.go_to(1);
    // The selected cell stays selected, and Results is not rebuilt after every trial.
    bench.trial(2, 1, 3);
    bench.say(Msg::Tick);
    assert_eq!((known(&bench), under(&bench)), (Some(2), Some(1)));
    bench.wait(1000);
    bench.say(Msg::Tick);
    assert_eq!((known(&bench), under(&bench)), (Some(3), Some(1)));
    bench.key("w");
    assert!(bench.model.popups.is_empty());
    assert!(bench.model.toasts.iter().any(|toast| toast.text.contains("it is being recorded")));
    bench.handle(Event::End { reason: End::Finished, seconds: None });
    bench.say(Msg::Over { error: None, unsaved: None });
    assert!(!bench.model.results.follows_run);
    assert_eq!(known(&bench), Some(3));
}

#[test]
fn results_of_runs_have_not_ended() {
    let mut bench = Bench::new(plan(Some(3)));
    bench.phase(Phase::Calibrate, Some(0), 1, 0.0);
    bench.key("3");
    let screen = bench.screen(120, 40);
    assert!(!screen.contains("start a run") && screen.contains("first trial"), "{screen}");
    bench.handle(Event::Skipped { cell: 5 });
    bench.trial(0, 1, 3);
    bench.say(Msg::Tick);
    for (key, said) in
        [("b", "5 skipped (not measured yet, ..)"), ("A", "first look"), ("b", "read")]
    {
        bench.key(key);
        let screen = bench.screen(120, 40);
        assert!(screen.contains(said) && !screen.contains("stopped early"), "{screen}");
    }
    bench.key("v");
    let screen = bench.screen(120, 40);
    for said in ["4 cells skipped: not measured yet", "skipped: it was skipped by the user"] {
        assert!(screen.contains(said), "{said}: {screen}");
    }
    bench.handle(Event::End { reason: End::Interrupted, seconds: None });
    bench.say(Msg::Over { error: None, unsaved: None });
    let screen = bench.screen(120, 40);
    assert!(screen.contains("the run was stopped before its first trial"), "{screen}");
    bench.key("b");
    assert!(bench.screen(120, 40).contains("the run was stopped early"));
}

#[test]
fn long_runs_ring_at_the_end() {
    let ends = |seconds: u64, reason: End, rings: bool| {
        let mut bench = Bench::new(plan(Some(3)));
        bench.model.rings = rings;
        bench.trial(0, 1, 3);
        bench.wait(seconds * 1000);
        bench.say(Msg::Tick);
        bench.handle(Event::End { reason, seconds: None });
        let effects = bench.say(Msg::Over { error: None, unsaved: None });
        effects.into_iter().find_map(|effect| match effect {
            Effect::Ring(text) => Some(text),
            _ => None,
        })
    };
    assert_eq!(ends(60, End::Finished, true).as_deref(), Some("iotui: done, scratch file"));
    assert_eq!(ends(60, End::Failed, true).as_deref(), Some("iotui: failed, scratch file"));
    assert_eq!(ends(60, End::Budget, false), None);
    assert_eq!(ends(60, End::Interrupted, true), None);
    assert_eq!(ends(5, End::Finished, true), None);
}

#[test]
fn reading_back_has_its_share() {
    let mut bench = Bench::new(Plan { verify: true, ..plan(Some(3)) });
    bench.phase(Phase::Trial, Some(0), 1, 0.1);
    for at in 1..=10 {
        bench.sample(0, 1, at, 100 << 20);
    }
    bench.wait(400);
    bench.say(Msg::Tick);
    assert!(bench.screen(120, 40).contains("measuring"));
    bench.wait(2600);
    bench.say(Msg::Tick);
    assert!(bench.screen(120, 40).contains("reading back what was written"));
    let Event::Trial { trial, samples, latency } = trial_event(0, 1, 10) else { panic!() };
    let mut trial = (*trial).clone();
    trial.evidence.verified =
        Some(Box::new(Verified { nanos: 3_000_000_000, ..Verified::default() }));
    bench.handle(Event::Trial { trial: trial.into(), samples, latency });
    let screen = bench.screen(120, 40);
    assert!(screen.contains("verify 75 %") && screen.contains("measure 25 %"), "{screen}");
    // A trial that is too short for a sample.
    bench.phase(Phase::Trial, Some(1), 1, 0.1);
    bench.wait(2000);
    bench.say(Msg::Tick);
    assert!(bench.screen(120, 40).contains("preparing, or reading back"));
}
