//! The whole screen: random messages never break it, and what it looks like.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::export::{ExportOver, Outcome};
use super::keys::Key;
use super::msg::{Msg, NewRun, Outlook};
use super::remember::Remembered;
use super::screen::Screen;
use super::setup::{self, EntryKind, FolderEntry, Setup};
use super::testing::{self, Stage};
use super::theme::{Colours, Glyphs, Look, Themes};
use super::{lab, sessions, update, view};
use crate::catalog::infos;
use crate::experiment::Proposed;
use crate::plan::{Plan, Settings, TargetSpec};
use crate::record::{End, Event, Grounds, LaneSample, Phase, ProbeTrial, Progress, Sample};
use iotui_core::doctor::{Planned, examine};

/// Any key that means something somewhere, and some that mean nothing.
const KEYS: &str = "! M P < > { } 1 2 3 4 5 6 r x s f p d w e m c y t L v S a b B o n i u R D / . + - 0 : ? q h j k l g G \
    enter esc space tab shift-tab up down left right home end pgup pgdn ctrl-u ctrl-d ctrl-p ctrl-l ctrl-z backspace delete f1 f5 z ä 9";

/// A message that cannot be cloned, made again each time.
fn built_by(make: fn() -> Msg) -> impl Strategy<Value = Msg> {
    Just(()).prop_map(move |()| make())
}

fn key() -> impl Strategy<Value = Msg> {
    let keys: Vec<Key> = KEYS.split_whitespace().filter_map(Key::parse).collect();
    prop::sample::select(keys).prop_map(Msg::Key)
}

fn mouse() -> impl Strategy<Value = Msg> {
    let kinds = vec![
        MouseEventKind::Down(MouseButton::Left),
        MouseEventKind::Down(MouseButton::Right),
        MouseEventKind::ScrollDown,
        MouseEventKind::ScrollUp,
        MouseEventKind::Moved,
        MouseEventKind::Drag(MouseButton::Left),
        MouseEventKind::Up(MouseButton::Left),
        MouseEventKind::ScrollLeft,
    ];
    (prop::sample::select(kinds), 0..250u16, 0..80u16).prop_map(|(kind, column, row)| {
        Msg::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE })
    })
}

/// Messages of an engine about a run, in any order and number.
fn engine() -> impl Strategy<Value = Msg> {
    prop_oneof![
        6 => cell_event(),
        4 => probe_event(),
        1 => built_by(|| Msg::Event(Event::Note { text: "a note".into() })),
        1 => built_by(|| Msg::Event(Event::End { reason: End::Goal, seconds: None })),
        1 => built_by(|| Msg::Dropped(3)),
    ]
}

fn cell_event() -> impl Strategy<Value = Msg> {
    let cell = 0..40u32;
    let number = prop_oneof![Just(0u64), Just(1), 1..1_000_000_000_000u64, Just(u64::MAX / 4)];
    let phase =
        prop::sample::select(vec![Phase::Fill, Phase::Calibrate, Phase::Trial, Phase::Pause]);
    prop_oneof![
        built_by(|| Msg::Event(Event::Plan { plan: Arc::new(testing::plan()) })),
        built_by(|| Msg::Event(Event::Grounds { grounds: Arc::new(Grounds::default()) })),
        (number.clone(), number.clone(), number.clone(), cell.clone()).prop_map(
            |(at, nanos, bytes, cell)| {
                let sample = Sample { at, nanos, bytes, ops: bytes / 3, syscalls: bytes / 7 };
                let lanes = vec![LaneSample { bytes, ops: 1, syscalls: 1 }; (cell % 5) as usize];
                Msg::Event(Event::Sample { cell, round: 1, sample, parts: lanes.into() })
            }
        ),
        (phase, prop::option::of(cell.clone()), -1.0..2.0f64, number).prop_map(
            |(phase, cell, share, left)| {
                Msg::Event(Event::Progress(Progress {
                    phase,
                    cell,
                    probe: None,
                    round: 1,
                    share,
                    left,
                }))
            }
        ),
        (0..24u32, 1..9u32).prop_map(|(cell, round)| {
            let trial = Arc::new(testing::trial(&testing::plan(), cell, round));
            Msg::Event(Event::Trial { trial, samples: Vec::new(), latency: None })
        }),
        (0..24u32).prop_map(|cell| {
            let plan = testing::plan();
            let verdict = Arc::new(testing::verdict(plan.cells[cell as usize].cache, cell));
            Msg::Event(Event::Verdict { cell, verdict })
        }),
        cell.prop_map(|cell| Msg::Event(Event::Failed { cell, error: "EIO".into() })),
    ]
}

fn probe_event() -> impl Strategy<Value = Msg> {
    prop_oneof![
        built_by(|| Msg::Event(Event::Plan { plan: Arc::new(lab::tests::plan()) })),
        built_by(|| Msg::Event(Event::Grounds { grounds: Arc::new(Grounds::default()) })),
        (0..60u32, 1..9u32).prop_map(|(cell, round)| {
            let trial = ProbeTrial { cell, ..lab::tests::trial(cell % 40, round) };
            Msg::Event(Event::Probe { trial })
        }),
        (0..60u32).prop_map(|cell| Msg::Event(Event::Findings {
            cell,
            findings: Arc::new(lab::tests::findings(cell))
        })),
        (0..60u32, -1.0..2.0f64).prop_map(|(probe, share)| {
            Msg::Event(Event::Progress(Progress {
                phase: Phase::Trial,
                cell: None,
                probe: Some(probe),
                round: 1,
                share,
                left: 1,
            }))
        }),
    ]
}

/// Answers of the shell, in any order and number.
fn answer() -> impl Strategy<Value = Msg> {
    prop_oneof![
        built_by(|| Msg::Tick),
        built_by(|| Msg::Opened(Ok(Box::new(testing::shown())))),
        built_by(|| Msg::Opened(Err("no such session".into()))),
        built_by(|| Msg::Replay(Ok(Box::new(testing::replay_input())))),
        built_by(|| Msg::Replay(Err("it cannot be replayed".into()))),
        built_by(|| Msg::Again(Ok(Box::new(testing::plan().into())))),
        built_by(|| Msg::Again(Ok(Box::new(lab::tests::plan().into())))),
        built_by(|| Msg::Again(Ok(Box::new(NewRun {
            other_run: Some("another iotui measures".into()),
            ..testing::plan().into()
        })))),
        built_by(|| Msg::OtherRun(None)),
        built_by(|| Msg::OtherRun(Some("another iotui measures".into()))),
        built_by(|| Msg::Opened(Ok(Box::new(lab::tests::lab_session())))),
        built_by(|| Msg::Lab(Box::new(lab::tests::here()))),
        built_by(|| Msg::MarkedOnLab(Ok(Box::new(lab::MarkedSession::from_session(
            &lab::tests::session(),
            "mine".into()
        ))))),
        built_by(|| Msg::MarkedOnLab(Err("gone".into()))),
        (0..20u64).prop_map(|number| Msg::LabPlanned {
            number,
            result: Ok(Box::new(lab::tests::plan().into()))
        }),
        built_by(|| Msg::Host(Box::default(), testing::XOR_LOOP)),
        built_by(|| Msg::Doctor(vec![testing::warning("x", crate::record::Severity::Wrong)])),
        built_by(|| Msg::Sessions(Err("unreadable".into()))),
        built_by(|| Msg::Over { error: None, unsaved: None }),
        built_by(|| Msg::Saving { id: "x".into(), unsaved: Some("no space".into()) }),
        built_by(|| Msg::Saving { id: "x".into(), unsaved: None }),
        (0..9u64).prop_map(|number| Msg::Exported { number, result: Outcome::Failed("no".into()) }),
        (0..9u64).prop_map(|number| {
            let over = ExportOver { path: "/x".into(), detail: "lost".into() };
            Msg::Exported { number, result: Outcome::Exists(Box::new(over)) }
        }),
        built_by(|| Msg::Imported { id: "x".into(), text: "imported".into() }),
        built_by(|| Msg::NotBegun("no thread".into())),
        built_by(|| Msg::Suspend),
        built_by(|| Msg::Resumed),
        built_by(|| Msg::Interrupt),
        (0..20u64).prop_map(|number| Msg::Proposed {
            number,
            result: Err("the file is empty".into()),
            findings: Vec::new(),
            outlook: Box::default(),
        }),
        "[ -~äé日\n\t]{0,20}".prop_map(Msg::Paste),
        "[ -~]{0,300}".prop_map(Msg::Failed),
        "[ -~]{0,30}".prop_map(Msg::Panicked),
    ]
}

fn look() -> impl Strategy<Value = Look> {
    let colours = prop::sample::select(vec![
        Colours::None,
        Colours::Sixteen,
        Colours::TwoFiftySix,
        Colours::True,
    ]);
    let glyphs = prop::sample::select(vec![Glyphs::Unicode, Glyphs::Ascii]);
    let themes = Themes::built_in();
    (0..themes.iter().len(), colours, glyphs).prop_map(|(theme, colours, glyphs)| {
        let id = &themes.iter().nth(theme).unwrap().id;
        let theme = themes.theme(id, colours);
        Look { theme, colours, glyphs, ..Look::default() }
    })
}

fn any_message() -> impl Strategy<Value = Msg> {
    prop_oneof![6 => key(), 1 => mouse(), 2 => engine(), 1 => answer(), 1 => (0..250u16, 0..80u16).prop_map(|(w, h)| Msg::Resize(w, h))]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, max_shrink_iters: 400, ..ProptestConfig::default() })]

    #[test]
    fn random_messages_never_break_the_screen(
        messages in prop::collection::vec(any_message(), 1..120),
        sizes in prop::collection::vec((0..220u16, 0..70u16), 4),
        look in look(),
    ) {
        let mut stage = Stage::new();
        stage.model.look = look;
        for (at, message) in messages.into_iter().enumerate() {
            stage.tell(message);
            let (columns, rows) = sizes[at % sizes.len()];
            let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
            view::draw(&stage.model, &mut buffer);
            // No effect is performed: whatever is asked for never comes, or comes unasked.
            stage.effects.clear();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn mouse_is_harmless_at_any_size(
        events in prop::collection::vec((mouse(), prop::option::weighted(0.2, key())), 1..40),
        sizes in prop::collection::vec((0..220u16, 0..70u16), 3),
    ) {
        for (_, mut stage) in stages() {
            for (at, (event, key)) in events.iter().enumerate() {
                let (columns, rows) = sizes[at % sizes.len()];
                stage.tell(Msg::Resize(columns, rows));
                if let Msg::Mouse(event) = event {
                    stage.tell(Msg::Mouse(*event));
                }
                if let Some(Msg::Key(key)) = key {
                    stage.tell(Msg::Key(*key));
                }
                stage.drawn(columns, rows);
                stage.effects.clear();
            }
        }
    }
}

#[test]
fn large_pastes_leave_the_screen_usable() {
    let paste = "ä日\u{202e}\n; rm -rf / \u{1b}[31m".repeat(100_000);
    for (name, mut stage) in stages() {
        for keys in ["", "/", ":", "?/", "e", "i", "w"] {
            stage.keys(keys).tell(Msg::Paste(paste.clone()));
            let picture = stage.picture(80, 24);
            assert!(picture.contains("iotui"), "{name} {keys}: {picture}");
            stage.keys("<esc><esc><esc>").effects.clear();
        }
    }
}

/// Every screen, with something on it.
fn stages() -> Vec<(&'static str, Stage)> {
    let mut all = Vec::new();
    for screen in Screen::ALL {
        let mut stage = Stage::new();
        set_up(&mut stage);
        stage.tell(Msg::Opened(Ok(Box::new(testing::shown()))));
        stage.tell(Msg::Host(Box::new(testing::host()), testing::XOR_LOOP));
        stage.tell(Msg::Doctor(examine(&testing::host(), Some(&testing::facts()), None)));
        stage.tell(Msg::Sessions(Ok(sessions::tests::four())));
        if *screen == Screen::Lab {
            stage
                .tell(Msg::Lab(Box::new(lab::tests::here())))
                .tell(Msg::Opened(Ok(Box::new(lab::tests::lab_session()))));
        }
        if *screen == Screen::Live {
            update::run::start(&mut stage.model, Arc::new(testing::plan()));
            a_little_run(&mut stage);
        }
        stage.tell(Msg::Key(
            Key::parse(&(Screen::ALL.iter().position(|s| s == screen).unwrap() + 1).to_string())
                .unwrap(),
        ));
        if *screen == Screen::Sessions {
            let here = stage.model.sessions.current().unwrap().id.clone();
            stage.tell(sessions::tests::answer(&here));
        }
        all.push((screen.title(), stage));
    }
    all
}

/// Setup has read its folder and has a plan.
fn set_up(stage: &mut Stage) {
    let preset = stage.model.setup.preset.clone();
    let setup = Setup::new(Some("/data/ubuntu.iso".into()), None, preset, Settings::default());
    stage.model.setup = setup.with_remembered(&Remembered::default(), Path::new("/data"), false);
    stage.model.setup.start();
    let mut listing = setup::tests::listing("/data");
    let file = FolderEntry {
        path: "/data/ubuntu.iso".into(),
        name: "ubuntu.iso".into(),
        kind: EntryKind::File,
        size: 1 << 30,
        readable: true,
    };
    listing.result.as_mut().unwrap().push(file);
    stage.tell(Msg::Listed(listing));
    let plan = Plan {
        target: TargetSpec::File { path: "/data/ubuntu.iso".into(), size: 1 << 30 },
        ..testing::plan()
    };
    let findings = examine(
        &testing::host(),
        Some(&testing::facts()),
        Some(Planned { plan: &plan, infos: &infos() }),
    );
    let unavailable =
        vec![("uring", "io_uring is switched off (kernel.io_uring_disabled = 2)".into())];
    let proposed =
        Proposed { plan, facts: testing::facts(), unavailable, instead: None, common_span: None };
    let number = stage.model.setup.planning.number;
    let expected = "expected: 3.4 GB/s cold, 15 GB/s warm".into();
    let outlook = Outlook { expected, ..Outlook::default() }.into();
    stage.tell(Msg::Proposed { number, result: Ok(Box::new(proposed)), findings, outlook });
}

/// Two rounds of four cells, and a trial under way.
fn a_little_run(stage: &mut Stage) {
    let plan = Arc::new(testing::plan());
    stage.tell(Msg::Begun {
        path: None,
        id: "x".into(),
        name: String::new(),
        created: "2026-11-21T09:30:11Z".into(),
    });
    stage.tell(Msg::Event(Event::Plan { plan: Arc::clone(&plan) }));
    stage.tell(Msg::Event(Event::Grounds { grounds: Arc::new(Grounds::default()) }));
    for round in 1..=2 {
        for cell in 0..4 {
            let progress = Progress {
                phase: Phase::Trial,
                cell: Some(cell),
                probe: None,
                round,
                share: 0.1 * f64::from(cell),
                left: 30_000_000_000,
            };
            stage.tell(Msg::Event(Event::Progress(progress)));
            for at in 1..=3u64 {
                stage.now += Duration::from_millis(100);
                let bytes = (1 << 28) * (u64::from(cell) + at % 2 + 1);
                let sample = Sample {
                    at: at * 100_000_000,
                    nanos: 100_000_000,
                    bytes,
                    ops: bytes / 65536,
                    syscalls: bytes / 65536,
                };
                stage.tell(Msg::Event(Event::Sample {
                    cell,
                    round,
                    sample,
                    parts: Default::default(),
                }));
            }
            if round == 1 || cell < 3 {
                let trial = Arc::new(testing::trial(&plan, cell, round));
                stage.tell(Msg::Event(Event::Trial { trial, samples: Vec::new(), latency: None }));
            }
        }
    }
    stage.wait(Duration::from_millis(100));
}

#[test]
fn small_screen_shows_the_needed_size() {
    for (name, mut stage) in stages() {
        for (columns, rows) in [(40, 12), (20, 5)] {
            let picture = stage.snapshot(columns, rows);
            assert!(picture.contains("80x24"), "{name} at {columns}x{rows}: {picture}");
        }
        stage.snapshot(1, 1);
    }
}

#[test]
fn tabs_and_keys_show_everywhere() {
    for (name, mut stage) in stages() {
        for (columns, rows) in [(80, 24), (120, 40), (200, 60)] {
            let picture = stage.snapshot(columns, rows);
            let (first, last) = (
                picture.lines().next().unwrap(),
                picture.lines().nth(usize::from(rows) - 1).unwrap(),
            );
            assert!(first.contains("iotui") && first.contains("1 Setup"), "{name}: {first}");
            assert!(
                last.contains("? help") && last.contains("q quit"),
                "{name} at {columns}: {last}"
            );
        }
    }
}

#[test]
fn a_name_reorders_no_line() {
    let mut stage = Stage::new();
    let toast = "a\u{202e}b\u{2066}c\u{200f}d";
    stage.tell(Msg::Failed(toast.into()));
    let text = stage.picture(100, 30);
    assert!(
        text.contains("abcd") && !text.contains(['\u{202e}', '\u{2066}', '\u{200f}']),
        "{text}"
    );
}

#[test]
fn ascii_draws_no_other_glyph() {
    for (name, mut stage) in stages() {
        stage.model.look.glyphs = Glyphs::Ascii;
        let buffer = stage.drawn(120, 40);
        for cell in buffer.content() {
            assert!(cell.symbol().is_ascii(), "{name}: {:?}", cell.symbol());
        }
    }
}

mod sizes;

#[test]
fn what_every_screen_looks_like() {
    for (name, mut stage) in stages() {
        for (columns, rows) in [(80, 24), (120, 40)] {
            let picture = stage.snapshot(columns, rows);
            insta::assert_snapshot!(format!("{}_{columns}x{rows}", name.to_lowercase()), picture);
        }
    }
}

#[test]
fn popups_look_as_recorded() {
    for (name, keys) in [
        ("help", "?"),
        ("help_found", "?/pause"),
        ("palette", ":go to"),
        ("presets", "p"),
        ("save_preset", "w"),
    ] {
        let mut stage = Stage::new();
        stage.keys(keys);
        insta::assert_snapshot!(name, stage.snapshot(80, 24));
    }
}

#[test]
fn second_help_page_explains_signs() {
    let mut stage = Stage::new();
    stage.tell(Msg::Resize(100, 60)).keys("??");
    let picture = stage.picture(100, 60);
    assert!(picture.contains("Signs") && picture.contains("Words"), "{picture}");
    assert!(picture.contains("one timed execution of a cell"), "{picture}");
    stage.keys("/interval");
    assert!(!stage.picture(100, 60).contains("one visit of every cell"));
    stage.keys("zzz");
    assert!(stage.picture(100, 60).contains("nothing here has intervalzzz"));
    stage.keys("<enter><esc>?<tab>?");
    assert!(stage.model.popups.is_empty(), "the second ? of a page of words closes it");
}
