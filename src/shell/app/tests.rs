//! The loop with keys from a script, a handler that only notes, and a clock that jumps.

use ratatui::backend::TestBackend;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::*;
use crate::record::Event;
use crate::tui::msg::{Copied, Query};
use crate::tui::testing::{self, Stage};

#[derive(Default)]
struct Notes {
    effects: Vec<Effect>,
    draws: usize,
    samples: usize,
}

impl EffectHandler for Notes {
    fn perform(&mut self, effect: Effect) -> Done {
        self.effects.push(effect.clone());
        match effect {
            Effect::Quit(code) => Done::Quit(code),
            Effect::Redraw => Done::Repaint,
            _ => Done::Yes,
        }
    }
    fn on_message(&mut self, msg: &Msg) {
        self.samples += usize::from(matches!(msg, Msg::Event(Event::Sample { .. })));
    }
    fn begin_draw(&mut self) {
        self.draws += 1;
    }
}

fn press(to: &UnboundedSender<Msg>, script: &str) {
    for key in crate::tui::keys::script(script) {
        to.send(Msg::Key(key)).unwrap();
    }
}

/// Runs the loop on a clock that jumps over every wait.
fn run(
    stage: &mut Stage,
    script: impl AsyncFnOnce(UnboundedSender<Msg>, UnboundedSender<Msg>),
) -> (u8, Notes, String) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let mut terminal = Terminal::new(TestBackend::new(100, 30)).unwrap();
    let mut notes = Notes::default();
    let code = runtime.block_on(async {
        let (keys, pressed) = unbounded_channel();
        let (sender, receiver) = unbounded_channel();
        let mut app = App::new(&mut terminal, &mut stage.model, &mut notes);
        let (code, ()) = tokio::join!(
            app.run(vec![Effect::Ask(Query::Host)], pressed, receiver),
            script(keys, sender)
        );
        code.unwrap()
    });
    (code, notes, terminal.backend().to_string())
}

#[test]
fn keys_draw_at_once_data_periodically() {
    let mut stage = Stage::new();
    let (code, notes, _) = run(&mut stage, async |keys, sender| {
        press(&keys, "6");
        tokio::time::sleep(Duration::from_secs(1)).await;
        for _ in 0..1000 {
            sender.send(Msg::Copied(Copied::Known("x".into()))).unwrap();
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        press(&keys, "q");
        tokio::time::sleep(Duration::from_secs(1)).await;
    });
    assert_eq!(code, 0);
    assert_eq!(notes.effects.first(), Some(&Effect::Ask(Query::Host)));
    // First frame, one for the key, at most 11 in the second of data (its toast ticks too).
    assert!((3..=14).contains(&notes.draws), "{} draws", notes.draws);
}

#[test]
fn nothing_is_drawn_when_nothing_changes() {
    let mut stage = Stage::new();
    let (_, notes, _) = run(&mut stage, async |keys, _tell| {
        tokio::time::sleep(Duration::from_secs(3600)).await;
        press(&keys, "q");
        tokio::time::sleep(Duration::from_secs(1)).await;
    });
    assert_eq!(notes.draws, 1);
}

#[test]
fn motions_over_charts_are_rate_limited() {
    use crossterm::event::{KeyModifiers, MouseEvent, MouseEventKind};
    let storm = |rows: std::ops::Range<u16>| {
        let mut stage = Stage::new();
        stage.tell(Msg::Opened(Ok(Box::new(testing::shown())))).keys("b");
        let (_, notes, _) = run(&mut stage, async |keys, _tell| {
            for at in 0..10_000u16 {
                let (column, row) = (5 + at % 80, rows.start + at % rows.len() as u16);
                let event = MouseEvent {
                    kind: MouseEventKind::Moved,
                    column,
                    row,
                    modifiers: KeyModifiers::NONE,
                };
                keys.send(Msg::Mouse(event)).unwrap();
                if at % 10 == 0 {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            }
            press(&keys, "q");
            tokio::time::sleep(Duration::from_secs(1)).await;
        });
        notes.draws
    };
    assert!((5..=14).contains(&storm(3..10)), "a second of it over the chart");
    assert_eq!(storm(29..30), 1, "nothing depends on the pointer below it");
}

#[test]
fn samples_are_acknowledged_and_runs_shown() {
    let mut stage = Stage::new();
    crate::tui::update::run::start(&mut stage.model, std::sync::Arc::new(testing::plan()));
    let (code, notes, picture) = run(&mut stage, async |keys, sender| {
        for at in 1..=20 {
            let sample = crate::record::Sample {
                at: at * 100_000_000,
                nanos: 100_000_000,
                bytes: 1 << 30,
                ops: 1000,
                syscalls: 1000,
            };
            sender
                .send(Msg::Event(Event::Sample {
                    cell: 0,
                    round: 1,
                    sample,
                    parts: Default::default(),
                }))
                .unwrap();
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        press(&keys, "qy");
        sender.send(Msg::Over { error: None, unsaved: None }).unwrap();
        tokio::time::sleep(Duration::from_secs(2)).await;
    });
    assert_eq!((code, notes.samples), (0, 20));
    assert!(picture.contains("iotui"));
}

#[test]
fn end_of_input_is_a_hangup() {
    let mut stage = Stage::new();
    let (code, _, _) = run(&mut stage, async |keys, _tell| drop(keys));
    assert_eq!(code, 129);
}

/// Plans and runs for real, and saves nothing.
struct Real {
    sender: UnboundedSender<Msg>,
    runs: crate::shell::run::Runs,
    over: std::rc::Rc<tokio::sync::Notify>,
    host: crate::facts::Host,
    trials: usize,
}

impl EffectHandler for Real {
    fn perform(&mut self, effect: Effect) -> Done {
        match effect {
            Effect::Quit(code) => return Done::Quit(code),
            Effect::Ask(Query::Propose(question)) => {
                let mut msg = crate::shell::look_up::propose(&question, &self.host);
                // Ignore other runs on this machine: the run must not wait for an answer.
                if let Msg::Proposed { findings, .. } = &mut msg {
                    findings.retain(|finding| finding.id != crate::doctor::OTHER_RUN);
                }
                drop(self.sender.send(msg))
            }
            Effect::Start { plan, name, earlier } => {
                self.runs.start(plan, name.as_deref(), &earlier)
            }
            Effect::Stop => self.runs.stop(),
            _ => {}
        }
        Done::Yes
    }
    fn on_message(&mut self, msg: &Msg) {
        self.trials += usize::from(matches!(msg, Msg::Event(Event::Trial { .. })));
        if matches!(msg, Msg::Over { .. }) {
            self.over.notify_one();
        }
    }
}

#[test]
fn null_backend_runs_to_its_results() {
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(1 << 20).unwrap();
    let mut settings = crate::plan::Settings::default();
    for (name, text) in
        [("backend", "null"), ("block-size", "4k,8k"), ("count", "0"), ("trials", "3")]
    {
        settings.set(name, text).unwrap();
    }
    let presets = crate::plan::Presets::built_in();
    let quick = presets.get("quick").unwrap().clone();
    let setup = crate::tui::setup::Setup::new(Some(file.path().into()), None, quick, settings);
    let mut model = Model::new(Default::default(), presets.iter().cloned().collect(), setup);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let mut terminal = Terminal::new(TestBackend::new(100, 30)).unwrap();
    let (code, trials) = runtime.block_on(async {
        let (keys, pressed) = unbounded_channel();
        let (sender, receiver) = unbounded_channel();
        let over = std::rc::Rc::new(tokio::sync::Notify::new());
        let runs = crate::shell::run::Runs::new(sender.clone(), Default::default(), false);
        let mut real = Real {
            sender,
            runs,
            over: std::rc::Rc::clone(&over),
            host: Default::default(),
            trials: 0,
        };
        let first: Vec<Effect> = model.setup.request_plan().into_iter().collect();
        let mut app = App::new(&mut terminal, &mut model, &mut real);
        let script = async {
            press(&keys, "r");
            over.notified().await;
            press(&keys, "q");
        };
        let (code, ()) = tokio::join!(app.run(first, pressed, receiver), script);
        (code.unwrap(), real.trials)
    });
    assert_eq!((code, trials), (0, 6));
    assert_eq!(model.screen, crate::tui::screen::Screen::Results);
    assert!(terminal.backend().to_string().contains("null"), "{}", terminal.backend());
}
