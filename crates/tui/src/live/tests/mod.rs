//! Live driven by messages, as the shell does it.

mod pictures;
mod replay;
mod steering;

use std::sync::Arc;
use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::series;
use crate::keys::Key;
use crate::model::Model;
use crate::msg::{Effect, Msg};
use crate::plan::{Cache, Choice, Job, Op, Plan, Settings, TargetSpec};
use crate::record::{
    End, Event, Grounds, LaneSample, Latency, Phase, Progress, Sample, Severity, Trial, Verdict,
    Warning,
};
use crate::screen::Screen;
use crate::setup::Setup;
use crate::theme::Look;
use crate::update::run;
use crate::view;

fn job(backend: &str, block: u64) -> Job {
    let plain = Job::plain(Choice::parse(backend).unwrap(), Op::Read);
    Job { block, span: 1 << 30, count: None, cache: Cache::Warm, ..plain }
}

fn plan(trials: Option<u32>) -> Plan {
    let blocks = [4096, 65536, 1 << 20];
    Plan {
        cells: ["read", "pread"]
            .iter()
            .flat_map(|backend| blocks.map(|block| job(backend, block)))
            .collect(),
        trials,
        seed: 7,
        ..Plan::plain(
            "sweep",
            TargetSpec::Scratch { dir: "/tmp".into(), size: 1 << 30, keep: false },
        )
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
        bench.say(Msg::Begun {
            path: None,
            id: "x".into(),
            name: "x".into(),
            created: "now".into(),
        });
        bench.handle(Event::Plan { plan });
        bench.handle(Event::Grounds { grounds: Arc::new(Grounds::default()) });
        bench
    }

    fn say(&mut self, msg: Msg) -> Vec<Effect> {
        crate::testing::tell(&mut self.model, self.now, msg)
    }

    fn handle(&mut self, event: Event) -> Vec<Effect> {
        self.say(Msg::Event(event))
    }

    fn key(&mut self, key: &str) -> Vec<Effect> {
        self.say(Msg::Key(Key::parse(key).unwrap()))
    }

    fn wait(&mut self, millis: u64) {
        self.now += Duration::from_millis(millis);
    }

    fn phase(&mut self, phase: Phase, cell: Option<u32>, round: u32, share: f64) -> Vec<Effect> {
        self.handle(Event::Progress(Progress {
            phase,
            cell,
            probe: None,
            round,
            share,
            left: 10_000_000_000,
        }))
    }

    /// 100 ms of `bytes` on two threads.
    fn sample(&mut self, cell: u32, round: u32, at: u64, bytes: u64) {
        self.wait(100);
        let sample = Sample {
            at: at * 100_000_000,
            nanos: 100_000_000,
            bytes,
            ops: bytes / 4096,
            syscalls: bytes / 4096,
        };
        let lane = LaneSample { bytes: bytes / 2, ops: bytes / 8192, syscalls: bytes / 8192 };
        self.handle(Event::Sample { cell, round, sample, parts: vec![lane; 2].into() });
    }

    fn trial(&mut self, cell: u32, round: u32, samples: u64) {
        self.phase(Phase::Trial, Some(cell), round, 0.5);
        for at in 1..=samples {
            self.sample(cell, round, at, 100 << 20);
        }
        self.handle(trial_event(cell, round, samples.max(1)));
    }

    fn state(&self) -> String {
        self.model.live.describe(&self.model.look, usize::MAX)
    }

    fn run(&self) -> &super::run::LiveRun {
        self.model.live.run.as_ref().unwrap()
    }

    fn slices(&self) -> Vec<series::Slice> {
        self.run().view.series.slices().to_vec()
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
    let trial = Trial {
        cell,
        round,
        bytes,
        ops: bytes / 4096,
        syscalls: (bytes / 4096).into(),
        nanos: tenths * 100_000_000,
        ..Trial::default()
    };
    let trial = Trial { user_nanos: trial.nanos / 20, system_nanos: trial.nanos / 2, ..trial };
    let buckets = vec![(3000, 100), (4000, 900), (90_000, 10)];
    let latency = Latency {
        count: 1010,
        every: 1,
        mean: 4e3,
        p50: Some(4e3),
        p99: Some(9e4),
        max: 1e5,
        buckets,
        ..Latency::default()
    };
    Event::Trial { trial: Arc::new(trial), samples: Vec::new(), latency: Some(Arc::new(latency)) }
}

fn titles(effects: &[Effect]) -> Vec<&str> {
    effects
        .iter()
        .filter_map(
            |effect| if let Effect::Title(title) = effect { Some(title.as_str()) } else { None },
        )
        .collect()
}
