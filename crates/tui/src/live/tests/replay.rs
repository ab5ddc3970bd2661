//! A replay: its pace and its keys; it never starts a run.

use super::*;
use crate::msg::{ReplayInput, Replayed, Speed};
use crate::session::demo;
use crate::session_view::SessionView;
use crate::testing;

fn playing(input: ReplayInput) -> Bench {
    let mut bench = Bench::idle();
    bench.model.screen = Screen::Sessions;
    bench.say(Msg::Replay(Ok(Box::new(input))));
    bench
}

/// A replay of the example: half a minute or more.
fn example(speed: u32) -> Bench {
    let (session, timeline) = demo().unwrap();
    let shown = SessionView::new(session, None);
    playing(ReplayInput { of: Replayed::Demo, speed: Speed::new(speed), shown, timeline })
}

fn tick(bench: &mut Bench, millis: u64) -> Vec<Effect> {
    bench.wait(millis);
    bench.say(Msg::Tick)
}

fn shown_at(bench: &Bench) -> f64 {
    bench.model.live.replay.as_ref().unwrap().times().0.as_secs_f64()
}

#[test]
fn replays_end_on_results() {
    let mut bench = example(10);
    assert_eq!((bench.model.screen, bench.state().as_str()), (Screen::Live, "replay 10x"));
    assert!(bench.model.ticks() && !bench.model.running());
    tick(&mut bench, 500);
    assert!((shown_at(&bench) - 5.0).abs() < 1e-6);
    let length = bench.model.live.replay.as_ref().unwrap().times().1;
    bench.key("<");
    assert_eq!(bench.state(), "replay 5x");
    tick(&mut bench, 1000);
    assert!((shown_at(&bench) - 10.0).abs() < 1e-6);
    let effects = tick(&mut bench, length.as_millis() as u64);
    assert_eq!(bench.model.screen, Screen::Results);
    assert!(bench.model.live.replay.is_none() && bench.model.results.view().is_some());
    assert_eq!(titles(&effects), ["iotui"]);
    assert!(!bench.model.live.is_playing() && bench.model.last_session.is_none());
}

#[test]
fn results_are_shown_during_replays() {
    let mut bench = example(10);
    tick(&mut bench, 500);
    bench.key("3");
    let shown = bench.model.results.view().map(|view| view.session.id.clone());
    assert_eq!(shown, Some(demo().unwrap().0.id));
    bench.key("2");
    assert_eq!(bench.state(), "replay 10x");
}

#[test]
fn double_clicks_ignore_other_sessions() {
    let mut bench = example(10);
    let mut other = bench.model.live.replay.as_ref().unwrap().shown().clone();
    other.session.id = "20260101-000000-other".into();
    bench.model.results.show(other);
    tick(&mut bench, 3000);
    bench.say(Msg::Resize(120, 40));
    for _ in 0..2 {
        bench.say(Msg::Mouse(crossterm::event::MouseEvent {
            kind: crossterm::event::MouseEventKind::Down(crossterm::event::MouseButton::Left),
            column: 20,
            row: 12,
            modifiers: crossterm::event::KeyModifiers::NONE,
        }));
    }
    assert_eq!(bench.model.screen, Screen::Results);
    assert!(bench.model.results.open.is_none());
    assert!(bench.screen(120, 40).contains("is not the one on Live"));
}

#[test]
fn it_is_marked_and_starts_nothing() {
    let mut bench = example(100);
    let mut effects = Vec::new();
    for key in ["space", "s", "f", ">", "<", "left", "right", "L", "+", "space"] {
        effects.extend(bench.key(key));
        effects.extend(tick(&mut bench, 10));
        for (columns, rows) in [(80, 24), (120, 40)] {
            let picture = bench.screen(columns, rows);
            let lines: Vec<&str> = picture.lines().collect();
            assert!(lines[0].contains("replay"), "{}", lines[0]);
            assert!(lines[lines.len() - 2].contains("replay"), "{picture}");
        }
    }
    assert!(effects.iter().all(|effect| matches!(effect, Effect::Title(_))), "{effects:?}");
    assert!(titles(&effects).iter().any(|title| title.starts_with("iotui replay ")));
}

#[test]
fn it_says_nothing_of_other_sessions() {
    let mut bench = example(1);
    // The last run was another one, and Results shows a third, which can be refined.
    bench.model.live.unsaved = Some("the disk is full".into());
    let mut other = testing::shown();
    other.session.verdicts.fill(Some(Arc::new(testing::verdict(Cache::Warm, 9))));
    bench.model.results = Default::default();
    run::show(&mut bench.model, SessionView::new(other.session, None));
    assert!(!bench.model.warnings().iter().any(|group| group.example.id == "holes"));
    bench.key("R");
    assert!(bench.model.popups.is_empty());
    let screen = bench.screen(120, 40);
    assert!(!screen.contains("refine") && !screen.contains("disk is full"), "{screen}");
}

#[test]
fn its_warnings_are_listed() {
    let shown = testing::shown();
    let timeline = crate::session::Timeline::of(&shown.session);
    let of = Replayed::Kept("x".into());
    let mut bench = playing(ReplayInput { of, speed: Speed::new(1), shown, timeline });
    bench.key("space");
    for _ in 0..19 {
        bench.key("right");
    }
    let found = bench.model.live.warnings().unwrap();
    assert!(found.iter().any(|group| group.example.id == "holes"), "{found:?}");
    assert_eq!(bench.model.warnings(), found);
}

#[test]
fn hidden_replays_wait() {
    let mut bench = example(10);
    tick(&mut bench, 200);
    bench.key("space");
    assert_eq!(bench.state(), "replay paused, 10x");
    bench.key(">");
    assert_eq!(bench.state(), "replay paused, 20x");
    bench.key("<");
    assert!(!bench.model.ticks());
    tick(&mut bench, 5000);
    assert!((shown_at(&bench) - 2.0).abs() < 1e-6);
    bench.key("space");
    bench.key("6");
    assert!(bench.model.live.replay.is_some());
    tick(&mut bench, 9000);
    bench.key("2");
    tick(&mut bench, 100);
    assert!((shown_at(&bench) - 3.0).abs() < 1e-6, "{}", shown_at(&bench));
}

#[test]
fn going_back_restores_the_picture() {
    let mut straight = example(1);
    straight.key("space");
    let mut back = example(1);
    back.key("space");
    back.key("right");
    straight.key("right");
    for _ in 0..12 {
        back.key("right");
    }
    for _ in 0..12 {
        back.key("left");
    }
    let [one, other] = [&straight, &back].map(|bench| {
        let view = &bench.model.live.replay.as_ref().unwrap().run().view;
        (view.series.clone(), view.known, view.now, view.progress)
    });
    assert_eq!(one, other);
    assert_eq!(straight.screen(120, 40), back.screen(120, 40));
    back.key("g");
    assert_eq!(shown_at(&back), 0.0);
}

#[test]
fn going_back_leaves_the_zoom() {
    let mut bench = example(1);
    bench.key("space");
    for _ in 0..12 {
        bench.key("right");
    }
    for key in ["+", "+", "{"] {
        bench.key(key);
    }
    assert!(bench.screen(120, 40).contains("Throughput, trials "), "{}", bench.screen(120, 40));
    for _ in 0..10 {
        bench.key("left");
        bench.screen(120, 40);
    }
    assert!(bench.model.live.run_view().unwrap().series.trials() > 0);
    let screen = bench.screen(120, 40);
    assert!(screen.contains(" Throughput ") && !screen.contains("Throughput, "), "{screen}");
    bench.key("g");
    assert!(bench.screen(120, 40).contains("a bar for each trial"), "{}", bench.screen(120, 40));
}

#[test]
fn clicks_on_the_bar_seek() {
    let mut bench = example(1);
    bench.key("space");
    bench.say(Msg::Resize(120, 40));
    let click = |column| {
        Msg::Mouse(crossterm::event::MouseEvent {
            kind: crossterm::event::MouseEventKind::Down(crossterm::event::MouseButton::Left),
            column,
            row: 38,
            modifiers: crossterm::event::KeyModifiers::NONE,
        })
    };
    bench.say(click(60));
    let there = shown_at(&bench);
    assert!(there > 5.0);
    bench.say(click(40));
    assert!(shown_at(&bench) < there);
    bench.say(click(0));
    assert!(shown_at(&bench) < there);
}

#[test]
fn paused_replays_stay_at_the_end() {
    let mut bench = example(1);
    bench.key("space");
    bench.key("G");
    assert_eq!(bench.model.screen, Screen::Live);
    tick(&mut bench, 1000);
    assert!(bench.model.live.replay.is_some(), "there is a way back");
    bench.key("left");
    bench.key("G");
    bench.key("space");
    assert_eq!(bench.model.screen, Screen::Results);
}

#[test]
fn it_ends_early_and_leads_back() {
    let mut bench = example(1);
    tick(&mut bench, 100);
    bench.key("esc");
    assert_eq!(bench.model.screen, Screen::Sessions);
    assert!(bench.model.live.replay.is_none());
    let mut bench = example(1);
    bench.key("x");
    assert_eq!(bench.model.screen, Screen::Results);
    let mut bench = example(1);
    bench.key("G");
    assert_eq!(bench.model.screen, Screen::Results);
}

#[test]
fn runs_end_and_refuse_replays() {
    let mut bench = example(1);
    let plan = Arc::new(plan(Some(1)));
    run::start(&mut bench.model, Arc::clone(&plan));
    assert!(bench.model.live.replay.is_none() && bench.model.running());
    bench.say(Msg::Replay(Ok(Box::new(testing::replay_input()))));
    assert!(bench.model.live.replay.is_none() && bench.state().contains("cells known"));
}

#[test]
fn going_back_repeats_few_events() {
    let mut shown = testing::shown();
    let trial = Arc::clone(&shown.session.trials[0]);
    shown.session.trials = vec![trial; 20_000];
    let timeline = crate::session::Timeline::of(&shown.session);
    let events = timeline.len();
    let of = Replayed::Kept("x".into());
    let mut bench = playing(ReplayInput { of, speed: Speed::new(100), shown, timeline });
    bench.key("space");
    for _ in 0..19 {
        bench.key("right");
    }
    let replay = bench.model.live.replay.as_mut().unwrap();
    assert!(replay.checkpoint_gap() <= events.div_ceil(16), "{}", replay.checkpoint_gap());
    assert!(replay.checkpoints() <= 16);
}

#[test]
fn replays_reset_the_view() {
    use crate::live::strip::TrialWindow;
    let mut bench = example(10);
    tick(&mut bench, 900);
    bench.key("+");
    bench.model.live.scroll = 2;
    assert_ne!(bench.model.live.window, TrialWindow::default());
    bench.say(Msg::Replay(Ok(Box::new(testing::replay_input()))));
    assert_eq!((bench.model.live.window, bench.model.live.scroll), (TrialWindow::default(), 0));
    tick(&mut bench, 900);
    bench.key("+");
    bench.key("esc");
    assert_eq!(bench.model.live.window, TrialWindow::default());
}
