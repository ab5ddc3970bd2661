//! Live driven by messages, as the shell does it.

use std::sync::Arc;
use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::series;
use crate::plan::{Cache, Choice, Job, Op, Plan, Settings, TargetSpec, TrialTime};
use crate::record::{End, Event, Grounds, LaneSample, Latency, Phase, Progress, Sample, Severity, Trial, Verdict, Warning};
use crate::tui::keys::Key;
use crate::tui::model::{Model, Screen};
use crate::tui::msg::{Effect, Msg};
use crate::tui::setup::Setup;
use crate::tui::theme::Look;
use crate::tui::update::{run, update};
use crate::tui::view;

fn job(backend: &str, block: u64) -> Job {
    let plain = Job::plain(Choice::parse(backend).unwrap(), Op::Read);
    Job { block, span: 1 << 30, count: None, cache: Cache::Warm, ..plain }
}

fn plan(trials: Option<u32>) -> Plan {
    let blocks = [4096, 65536, 1 << 20];
    Plan {
        experiment: "sweep".into(),
        presets: Vec::new(),
        target: TargetSpec::Scratch { dir: "/tmp".into(), size: 1 << 30, keep: false },
        cells: ["read", "pread"].iter().flat_map(|backend| blocks.map(|block| job(backend, block))).collect(),
        trials,
        goal: Plan::GOAL,
        trial_time: TrialTime::default(),
        budget: Plan::BUDGET,
        seed: 7,
        skipped: Vec::new(),
    }
}

/// A model with a run, and its clock.
struct Bench {
    model: Model,
    now: Duration,
}

impl Bench {
    fn idle() -> Bench {
        let preset = crate::plan::preset("quick").unwrap();
        let setup = Setup::new(None, None, preset.clone(), Settings::default());
        Bench { model: Model::new(Look::default(), vec![preset], setup), now: Duration::ZERO }
    }

    fn new(plan: Plan) -> Bench {
        let mut bench = Bench::idle();
        let plan = Arc::new(plan);
        let effects = run::start(&mut bench.model, Arc::clone(&plan));
        assert!(matches!(effects.last(), Some(Effect::Start { .. })));
        assert_eq!(bench.model.screen, Screen::Live);
        bench.say(Msg::Begun { path: None, id: "x".into(), name: "x".into(), created: "now".into() });
        bench.told(Event::Started { plan, grounds: Arc::new(Grounds::default()) });
        bench
    }

    fn say(&mut self, msg: Msg) -> Vec<Effect> {
        update(&mut self.model, self.now, msg)
    }

    fn told(&mut self, event: Event) -> Vec<Effect> {
        self.say(Msg::Event(event))
    }

    fn key(&mut self, key: &str) -> Vec<Effect> {
        self.say(Msg::Key(Key::parse(key).unwrap()))
    }

    fn wait(&mut self, millis: u64) {
        self.now += Duration::from_millis(millis);
    }

    fn phase(&mut self, phase: Phase, cell: Option<u32>, round: u32, share: f64) -> Vec<Effect> {
        self.told(Event::Progress(Progress { phase, cell, round, share, left: 10_000_000_000 }))
    }

    /// 100 ms of `bytes` on two threads.
    fn sample(&mut self, cell: u32, round: u32, at: u64, bytes: u64) {
        self.wait(100);
        let sample = Sample { at: at * 100_000_000, nanos: 100_000_000, bytes, ops: bytes / 4096, syscalls: bytes / 4096 };
        let lane = LaneSample { bytes: bytes / 2, ops: bytes / 8192, syscalls: bytes / 8192 };
        self.told(Event::Sample { cell, round, sample, lanes: vec![lane; 2] });
    }

    fn trial(&mut self, cell: u32, round: u32, samples: u64) {
        self.phase(Phase::Trial, Some(cell), round, 0.5);
        for at in 1..=samples {
            self.sample(cell, round, at, 100 << 20);
        }
        self.told(trial_event(cell, round, samples.max(1)));
    }

    fn state(&self) -> String {
        super::state(&self.model)
    }

    fn run(&self) -> &super::Run {
        self.model.live.run.as_ref().unwrap()
    }

    fn slices(&self) -> Vec<series::Slice> {
        self.run().picture.series.since(f64::NEG_INFINITY).to_vec()
    }

    fn screen(&self, columns: u16, rows: u16) -> String {
        let mut buf = Buffer::empty(Rect::new(0, 0, columns, rows));
        view::draw(&self.model, &mut buf);
        let row = |y| (0..columns).map(|x| buf[(x, y)].symbol()).collect::<String>() + "\n";
        (0..rows).map(row).collect()
    }
}

fn trial_event(cell: u32, round: u32, tenths: u64) -> Event {
    let bytes = tenths * (100 << 20);
    let trial = Trial { cell, round, bytes, ops: bytes / 4096, syscalls: bytes / 4096, nanos: tenths * 100_000_000, ..Trial::default() };
    let trial = Trial { user_nanos: trial.nanos / 20, system_nanos: trial.nanos / 2, ..trial };
    let buckets = vec![(3000, 100), (4000, 900), (90_000, 10)];
    let latency = Latency { count: 1010, every: 1, mean: 4e3, p50: Some(4e3), p99: Some(9e4), max: 1e5, buckets, ..Latency::default() };
    Event::Trial { trial: Arc::new(trial), samples: Vec::new(), latency: Some(Arc::new(latency)) }
}

fn titles(effects: &[Effect]) -> Vec<&str> {
    effects.iter().filter_map(|effect| if let Effect::Title(title) = effect { Some(title.as_str()) } else { None }).collect()
}

#[test]
fn the_state_tells_how_far_the_run_is() {
    let mut bench = Bench::idle();
    assert_eq!(bench.state(), "idle");
    bench = Bench::new(plan(Some(2)));
    assert_eq!(bench.state(), "running 0 of 12");
    bench.phase(Phase::Fill, None, 0, 0.0);
    assert_eq!(bench.state(), "running 0 of 12");
    let order = crate::engine::order(&plan(None).cells, 7, 2);
    bench.phase(Phase::Trial, Some(order[3] as u32), 2, 0.7);
    assert_eq!(bench.state(), "running 10 of 12");
    bench = Bench::new(plan(None));
    bench.phase(Phase::Trial, Some(order[3] as u32), 2, 0.7);
    assert_eq!(bench.state(), "running 4 of 6");
    bench.key("x");
    assert_eq!(bench.state(), "stopping…");
}

#[test]
fn samples_become_a_line_with_gaps_between_trials() {
    let mut bench = Bench::new(plan(Some(2)));
    bench.wait(1000);
    bench.trial(0, 1, 3);
    bench.wait(700);
    bench.trial(1, 1, 2);
    let slices = bench.slices();
    assert_eq!(slices.len(), 5);
    assert_eq!(slices.iter().map(|s| s.piece).collect::<Vec<_>>(), [1, 1, 1, 2, 2]);
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-6, "{a} {b}");
    for (slice, from) in slices.iter().zip([1.0, 1.1, 1.2, 2.0, 2.1]) {
        near(slice.from, from);
        near(slice.to, from + 0.1);
        near(slice.rate(series::Measure::Bytes).0, 1000.0 * 1_048_576.0);
    }
    // A trial too short for a sample is told as a whole.
    bench.wait(300);
    bench.trial(2, 1, 0);
    assert_eq!(bench.slices().last().map(|s| (s.piece, s.nanos)), Some((3, 100_000_000)));
    // What was dropped is a gap too.
    bench.phase(Phase::Trial, Some(3), 1, 0.5);
    bench.sample(3, 1, 1, 1);
    bench.wait(400);
    bench.sample(3, 1, 6, 1);
    assert_eq!(bench.slices().iter().rev().take(2).map(|s| s.piece).collect::<Vec<_>>(), [5, 4]);
    assert!(bench.run().picture.measured == 3 && !bench.run().picture.curves.is_empty());
}

#[test]
fn memory_is_flat_however_long_it_runs() {
    let mut bench = Bench::new(plan(None));
    bench.phase(Phase::Trial, Some(0), 1, 0.1);
    let (mut most, mut total) = (0, 0u64);
    for n in 0..100_000u64 {
        if n % 50 == 0 {
            bench.wait(200);
            bench.phase(Phase::Trial, Some((n / 50 % 6) as u32), 1, 0.1);
        }
        bench.sample((n / 50 % 6) as u32, 1, n % 50 + 1, 1 << 20);
        total += 1 << 20;
        most = most.max(bench.run().picture.series.since(f64::NEG_INFINITY).len());
    }
    assert!(most <= series::MOST + 1, "{most}");
    let slices = bench.slices();
    assert!(slices.len() > 600, "{}", slices.len());
    assert_eq!(slices.iter().map(|s| s.bytes).sum::<u64>(), total);
    assert!(slices.windows(2).all(|w| w[0].to <= w[1].from + 1e-9));
    // The last minute is as fine as it came, with its gaps.
    let last = bench.run().picture.series.since(bench.run().picture.now - 59.0);
    assert!(last.len() > 500 && last.iter().all(|s| s.nanos == 100_000_000 && s.hue.is_some()));
    // Without time nothing is finer than anything: the bound holds all the same.
    let now = bench.now;
    for n in 0..10_000 {
        bench.now = now;
        bench.sample(0, 1, n % 7 + 1, 1);
        assert!(bench.run().picture.series.since(f64::NEG_INFINITY).len() <= series::MOST + 1);
    }
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
    let before = bench.run().picture.now;
    bench.wait(60_000);
    bench.say(Msg::Tick);
    assert_eq!(bench.run().picture.now, before);
    assert_eq!(bench.key("space"), [Effect::Pause(false)]);
    bench.wait(10);
    bench.phase(Phase::Trial, Some(0), 1, 0.1);
    assert!(bench.state().starts_with("running"));
    bench.sample(0, 1, 1, 1 << 20);
    assert!((bench.run().picture.now - before - 0.1).abs() < 1e-6);
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
        assert!(bench.run().picture.now < 1.0);
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
    assert_eq!(bench.key("s"), [], "no cell runs yet");
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
    assert_eq!(titles(&bench.phase(Phase::Trial, Some(0), 1, 0.42)), ["iotui 42 %: read 4 KiB warm"]);
    assert_eq!(titles(&bench.phase(Phase::Trial, Some(0), 1, 0.424)), [""; 0]);
    assert_eq!(titles(&bench.phase(Phase::Trial, Some(3), 1, 0.425)), ["iotui 42 %: pread 4 KiB warm"]);
    // Time alone brings it on: 10 s are left.
    bench.wait(5000);
    assert_eq!(titles(&bench.say(Msg::Tick)), ["iotui 71 %: pread 4 KiB warm"]);
    assert_eq!(titles(&bench.say(Msg::Tick)), [""; 0]);
    assert_eq!(titles(&bench.say(Msg::Over { error: None, unsaved: None })), ["iotui"]);
}

#[test]
fn a_frozen_picture_holds_still() {
    let mut bench = Bench::new(plan(Some(3)));
    bench.trial(0, 1, 3);
    bench.say(Msg::Tick);
    bench.key("f");
    let picture = |bench: &Bench| bench.screen(120, 40).lines().skip(1).collect::<Vec<_>>().join("\n");
    let frozen = picture(&bench);
    assert!(frozen.contains("frozen"));
    bench.trial(1, 1, 5);
    bench.wait(900);
    bench.say(Msg::Tick);
    assert_eq!(picture(&bench), frozen);
    bench.key("f");
    assert_ne!(picture(&bench), frozen);
    assert!(!picture(&bench).contains("frozen"));
}

#[test]
fn zoom_goes_through_the_windows() {
    let mut bench = Bench::new(plan(Some(3)));
    bench.trial(0, 1, 3);
    for (key, shown) in [("+", "10 s"), ("-", "30 s"), ("-", "60 s"), ("-", "5 min"), ("+", "60 s")] {
        bench.key(key);
        assert!(bench.screen(120, 40).contains(shown), "{key} {shown}");
    }
    bench.key("0");
    assert!(!bench.screen(120, 40).contains(" now"));
    assert!(bench.screen(120, 40).contains("10 s"));
}

#[test]
fn every_size_shows_what_goes_on() {
    let mut bench = Bench::new(plan(Some(3)));
    for (cell, samples) in [(0, 3), (1, 9), (3, 4), (4, 2)] {
        bench.trial(cell, 1, samples);
    }
    bench.say(Msg::Dropped(7));
    let warning = |id: &'static str| Warning {
        id: id.into(),
        severity: Severity::Wrong,
        message: "half of it was a hole".into(),
        evidence: String::new(),
        remedy: String::new(),
    };
    let verdict = Verdict { warnings: vec![warning("holes"), warning("few")], ..Verdict::default() };
    bench.told(Event::Verdict { cell: 0, verdict: Arc::new(verdict) });
    bench.phase(Phase::Trial, Some(5), 1, 0.5);
    for (columns, rows) in [(60, 16), (80, 24), (120, 40), (200, 60), (70, 50), (300, 20)] {
        let screen = bench.screen(columns, rows);
        for wanted in ["Throughput", "System calls", "pread 1 MiB warm", "trial 1 of 3", "50 %", "10 s left", "half of"] {
            assert!(screen.contains(wanted), "{wanted} at {columns}x{rows}\n{screen}");
        }
        assert!(screen.chars().any(|c| ('\u{2801}'..='\u{28ff}').contains(&c)), "{columns}x{rows}");
    }
    let screen = bench.screen(120, 40);
    for wanted in ["By block size", "Threads", "Latency", "Warnings", "p99", "50\u{a0}% system", "4 of 6 cells", "7 samples"] {
        assert!(screen.contains(wanted), "{wanted}\n{screen}");
    }
}

#[test]
fn phases_are_told() {
    let mut bench = Bench::new(plan(Some(3)));
    for (phase, cell, wanted) in [
        (Phase::Fill, None, "filling 1 GiB with random data"),
        (Phase::Calibrate, Some(2), "calibrating"),
        (Phase::Trial, Some(2), "measuring"),
        (Phase::Pause, Some(2), "paused"),
    ] {
        bench.phase(phase, cell, 1, 0.1);
        assert!(bench.screen(80, 24).contains(wanted), "{wanted}");
    }
    bench.phase(Phase::Trial, Some(2), 1, 0.1);
    bench.wait(2000);
    bench.say(Msg::Tick);
    assert!(bench.screen(80, 24).contains("preparing"));
}

#[test]
fn what_failed_is_told_and_the_last_picture_stays() {
    let mut bench = Bench::idle();
    bench.key("2");
    assert!(bench.screen(80, 24).contains("Nothing runs"));
    bench = Bench::new(plan(Some(3)));
    bench.told(Event::Failed { cell: 5, error: "no such device".into() });
    bench.trial(0, 1, 3);
    bench.key("f");
    bench.told(Event::End { reason: End::Finished });
    bench.say(Msg::Over { error: None, unsaved: None });
    assert_eq!((bench.state().as_str(), bench.model.screen), ("idle", Screen::Results));
    bench.key("2");
    let screen = bench.screen(120, 40);
    assert!(!screen.contains("frozen"));
    for wanted in ["over: all trials are done", "100 %", "no such device", "Throughput"] {
        assert!(screen.contains(wanted), "{wanted}\n{screen}");
    }
    assert_eq!((bench.key("space"), bench.key("s"), bench.key("x")), (vec![], vec![], vec![]));
    run::start(&mut bench.model, Arc::new(plan(None)));
    assert!(!bench.screen(120, 40).contains("no such device"));
}
