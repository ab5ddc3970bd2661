mod best;

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::state::Sort;
use crate::keys::{Key, script};
use crate::model::Model;
use crate::msg::{Effect, Msg, Query};
use crate::plan::{Cache, Settings};
use crate::popup::{Popup, Purpose, TextLine};
use crate::screen::Screen;
use crate::session::{self, Listed, Session, State, Worst, testing};
use crate::session_view::{Preview, SessionView};
use crate::setup::Setup;
use crate::theme::Look;
use crate::update::update;
use crate::view;

fn listed(number: usize, name: &str, target: &str) -> Listed {
    Listed {
        id: format!("20261121-0930{number:02}-data"),
        name: name.into(),
        target: target.into(),
        created: format!("2026-11-21T09:30:{number:02}Z"),
        seconds: Some(5.0),
        cells: 2 + number as u64 % 3,
        probes: 0,
        measured: Some(2),
        failed: 0,
        lost_lines: None,
        nanos: 0,
        label: format!("{} · read", target.rsplit('/').next().unwrap_or(target)),
        curve: [vec![], vec![1, 5, 8], vec![400, 900, 1500, 2500]][number % 3].clone(),
        best: [None, Some(1.5e9), Some(2.5e9)][number % 3],
        verdict: [Some(Worst::Ok), Some(Worst::Wrong), None][number % 3],
        worst_cells: None,
        state: [State::Finished, State::Budget, State::Interrupted][number % 3],
    }
}

/// Newest first: delta, gamma, beta, alpha.
pub fn four() -> Vec<Listed> {
    [
        (3, "delta", "/b/two.iso"),
        (2, "gamma", "/b/one.iso"),
        (1, "", "/a/two.bin"),
        (0, "alpha", "/a/one.bin"),
    ]
    .map(|(number, name, target)| listed(number, name, target))
    .into()
}

fn measured(id: &str, backend: &str, blocks: &[u64]) -> Session {
    let mut plan = testing::plan(0);
    plan.cells = blocks.iter().map(|block| testing::job(backend, *block, Cache::Warm)).collect();
    let mut session = Session::new(
        id.into(),
        String::new(),
        "2026-11-21T09:30:11Z".into(),
        Default::default(),
        plan,
    );
    for cell in 0..blocks.len() as u32 {
        for round in 1..=5 {
            session
                .trials
                .push(testing::trial(cell, round, (1 << 30) * u64::from(cell + 1)).into());
        }
    }
    session
}

/// The preview of a session.
pub fn answer(id: &str) -> Msg {
    preview_of(measured(id, "read", &[4096, 65536]))
}

fn preview_of(session: Session) -> Msg {
    let id = session.id.clone();
    Msg::Preview(Preview { id, result: Ok(Box::new(SessionView::new(session, None))) })
}

struct Play(Model);

impl Play {
    fn new(all: Vec<Listed>) -> Play {
        let mut play = Play(empty());
        play.tell(Msg::Sessions(Ok(all)));
        play
    }

    fn tell(&mut self, msg: Msg) -> Vec<Effect> {
        crate::testing::draw(&mut self.0);
        update(&mut self.0, Duration::ZERO, msg)
    }

    fn keys(&mut self, text: &str) -> Vec<Effect> {
        script(text).into_iter().flat_map(|key| self.tell(Msg::Key(key))).collect()
    }

    /// Numbers of the sessions in the list.
    fn order(&self) -> Vec<usize> {
        self.0.sessions.listed().map(|listed| listed.id[13..15].parse().unwrap()).collect()
    }

    fn here(&self) -> &str {
        self.0.sessions.current().map_or("", |listed| &listed.id)
    }

    fn screen(&self, columns: u16, rows: u16) -> String {
        let mut buf = Buffer::empty(Rect::new(0, 0, columns, rows));
        view::draw(&self.0, &mut buf);
        let row = |y| (0..columns).map(|x| buf[(x, y)].symbol()).collect::<String>() + "\n";
        (0..rows).map(row).collect()
    }

    fn toast(&self) -> String {
        self.0.toasts.iter().map(|toast| toast.text.clone()).collect()
    }
}

fn empty() -> Model {
    let preset = crate::plan::preset("quick").unwrap();
    let mut model = Model::new(
        Look::default(),
        Vec::new(),
        Setup::new(None, None, preset, Settings::default()),
    );
    model.size = (120, 40);
    model.screen = Screen::Sessions;
    model
}

const ID: [&str; 4] = [
    "20261121-093000-data",
    "20261121-093001-data",
    "20261121-093002-data",
    "20261121-093003-data",
];

fn preview(id: &str) -> Effect {
    Effect::Ask(Query::Preview(id.into()))
}

#[test]
fn filter_applies_while_typing() {
    for (keys, expected) in [
        ("/iso", vec![3, 2]),
        ("/TWO", vec![3, 1]),
        ("/one iso", vec![2]),
        ("/interrupted", vec![2]),
        ("/alpha", vec![0]),
        ("/093001", vec![1]),
        ("/zzz", vec![]),
        ("/zzz<esc>", vec![3, 2, 1, 0]),
        ("/iso<enter><esc>", vec![3, 2, 1, 0]),
        ("/q<backspace>two<enter>", vec![3, 1]),
    ] {
        let mut play = Play::new(four());
        play.keys(keys);
        assert_eq!(play.order(), expected, "{keys}");
        assert!(play.screen(80, 24).contains("Sessions"));
    }
}

#[test]
fn sorting_keeps_the_selected_session() {
    let mut play = Play::new(four());
    play.keys("j");
    let here = play.here().to_string();
    for (sort, expected) in [
        (Sort::Name, vec![0, 3, 2, 1]),
        (Sort::Target, vec![0, 1, 2, 3]),
        (Sort::Cells, vec![2, 1, 3, 0]),
        (Sort::Best, vec![2, 1, 3, 0]),
        (Sort::Verdict, vec![1, 3, 0, 2]),
        (Sort::State, vec![1, 3, 0, 2]),
        (Sort::When, vec![3, 2, 1, 0]),
    ] {
        play.keys("S");
        assert_eq!((play.0.sessions.sort, play.order()), (sort, expected));
        assert_eq!(play.here(), here);
    }
}

#[test]
fn late_previews_are_dropped() {
    let mut play = Play(empty());
    assert_eq!(play.tell(Msg::Sessions(Ok(four()))), [preview(ID[3])]);
    assert_eq!(play.keys("jj"), [], "the first is still awaited");
    assert_eq!(play.tell(answer(ID[3])), [preview(ID[1])], "the cursor went on");
    assert!(play.0.sessions.preview.is_none());
    assert_eq!(play.tell(answer(ID[1])), []);
    assert!(play.screen(120, 40).contains("still getting"), "{}", play.screen(120, 40));
    assert_eq!(play.tell(answer(ID[0])), [], "nobody asked for it");
    assert_eq!(play.0.sessions.preview.as_ref().map(|p| p.id.as_str()), Some(ID[1]));
    let late = Msg::Preview(Preview { id: ID[0].into(), result: Err("damaged in line 7".into()) });
    assert_eq!(play.keys("j"), [preview(ID[0])]);
    play.tell(late);
    assert!(play.screen(120, 40).contains("damaged in line 7"));
}

#[test]
fn reloading_keeps_the_selected_session() {
    let mut play = Play::new(four());
    play.tell(answer(ID[3]));
    play.keys("j");
    play.tell(answer(ID[2]));
    let mut more = four();
    more.insert(0, listed(9, "new", "/x"));
    play.tell(Msg::Sessions(Ok(more)));
    assert_eq!(play.here(), ID[2]);
    assert!(play.0.sessions.preview.is_some(), "it did not change");
    let mut renamed = four();
    renamed[1].name = "other".into();
    assert_eq!(play.tell(Msg::Sessions(Ok(renamed))), [preview(ID[2])], "it did");
    let mut fewer = four();
    fewer.remove(1);
    play.tell(Msg::Sessions(Ok(fewer)));
    assert_eq!(play.here(), ID[1], "the session that took its place");
    play.tell(Msg::Sessions(Ok(Vec::new())));
    assert!(play.screen(80, 24).contains("No sessions yet"));
}

#[test]
fn marks_and_what_is_compared() {
    let compares = |ids: &[&str]| {
        [Effect::Ask(Query::Compare {
            ids: ids.iter().map(|id| (*id).into()).collect(),
            look: crate::report::Look::default(),
        })]
    };
    let mut play = Play::new(four());
    play.tell(answer(ID[3]));
    assert_eq!(play.keys("c"), []);
    assert!(play.toast().contains("mark two sessions"), "{}", play.toast());
    assert_eq!(play.keys("mc"), [], "a session is not held against itself");
    assert_eq!(play.0.screen, Screen::Sessions);
    assert_eq!(play.keys("m<space>j<space>"), [preview(ID[2])]);
    assert_eq!(play.0.sessions.marks, [ID[3], ID[2]]);
    play.tell(answer(ID[2]));
    // The oldest is the baseline, and that is shown.
    let screen = play.screen(80, 24);
    let row = |name: &str| screen.lines().find(|line| line.contains(name)).unwrap().to_string();
    assert!(row("gamma").contains(" A ") && row("delta").contains(" B "), "{screen}");
    assert_eq!(play.keys("c"), compares(&[ID[2], ID[3]]));
    assert_eq!(play.0.screen, Screen::Compare);
    assert_eq!(play.keys("q"), [Effect::Ask(Query::Sessions)]);
    assert_eq!((play.0.screen, play.0.leaving), (Screen::Sessions, None));
    assert_eq!(play.0.sessions.marks, [ID[3], ID[2]], "they stay marked");
    play.keys("<esc>");
    assert_eq!(play.0.sessions.marks, [""; 0]);
    assert!(play.toast().contains("2 sessions unmarked"), "{}", play.toast());
    // One mark and the cursor are enough.
    play.keys("gmG");
    assert_eq!(play.keys("c"), compares(&[ID[0], ID[3]]));
}

#[test]
fn imported_session_gets_the_cursor() {
    let mut play = Play::new(four());
    play.keys("/alpha<enter>i");
    assert!(play.screen(80, 24).contains("an export as jsonl, or the JSON of fio"));
    assert_eq!(play.keys("<enter>"), []);
    assert!(matches!(play.0.popups.last(), Some(Popup::Line(TextLine { error: Some(_), .. }))));
    assert_eq!(
        play.keys("~/run one.jsonl<enter>"),
        [Effect::Ask(Query::Import("~/run one.jsonl".into()))]
    );
    assert!(play.0.popups.is_empty());
    let mut more = four();
    more.push(listed(9, "brought", "/x"));
    let id = more[4].id.clone();
    assert_eq!(
        play.tell(Msg::Imported { id: id.clone(), text: "imported".into() }),
        [Effect::Ask(Query::Sessions)]
    );
    play.tell(Msg::Sessions(Ok(more)));
    assert_eq!(play.here(), id);
    assert_eq!(play.toast(), "imported");
    // Where nothing is listed yet too.
    assert_eq!(Play::new(Vec::new()).keys("ix<enter>"), [Effect::Ask(Query::Import("x".into()))]);
}

#[test]
fn rename_checks_the_name() {
    let mut play = Play::new(four());
    play.keys("w");
    let shown = matches!(play.0.popups.last(), Some(Popup::Line(TextLine { input, .. })) if input.value() == "delta");
    assert!(shown, "the old name is there to be changed");
    assert_eq!(play.keys("<ctrl-u><enter>"), []);
    assert!(matches!(
        play.0.popups.last(),
        Some(Popup::Line(TextLine { error: Some(_), purpose: Purpose::Rename { .. }, .. }))
    ));
    assert_eq!(
        play.keys("new one<enter>"),
        [Effect::Ask(Query::Rename { id: ID[3].into(), name: "new one".into() })]
    );
    assert!(play.0.popups.is_empty());
    let renamed =
        Msg::Renamed { id: ID[3].into(), name: "new one".into(), text: "named new one".into() };
    assert_eq!(play.tell(renamed), [Effect::Ask(Query::Sessions)]);
}

#[test]
fn references_are_hidden_after_a_question() {
    let mut all = four();
    all[0] = session::reference("macbook-2017").unwrap().to_listed();
    let mut play = Play::new(all);
    play.keys("G<enter>j");
    for keys in ["D", "w", "r", "P"] {
        assert!(!play.screen(200, 24).contains("r run again"));
        (play.0.toasts, play.0.popups) = Default::default();
        assert_eq!((play.keys(keys), play.0.popups.len()), (vec![], 0));
        assert!(play.toast().contains("a reference"));
    }
    let name = Effect::Ask(Query::Rename { id: ID[2].into(), name: "macbook-2017".into() });
    play.keys("gw<ctrl-u>");
    assert_eq!(play.keys("macbook-2017<enter>"), []);
    let screen = play.screen(80, 24);
    assert!(screen.contains("Name it macbook-2017?") && screen.contains("hidden"), "{screen}");
    assert_eq!(play.keys("y"), [name]);
}

#[test]
fn the_peak_has_a_column() {
    let play = Play::new(four());
    let rows = |columns, rows| play.screen(columns, rows);
    let wide = rows(120, 40);
    assert!(wide.contains("2.33 GiB/s") && wide.contains("best"), "{wide}");
    assert!(rows(80, 24).contains("1.40 GiB/s"), "{}", rows(80, 24));
}

#[test]
fn delete_asks_first() {
    for key in ["D", "<delete>"] {
        let mut play = Play::new(four());
        assert_eq!(play.keys(&format!("{key}n")), []);
        assert_eq!(play.keys(&format!("{key}<esc>")), []);
        assert!(play.0.popups.is_empty());
        assert_eq!(play.keys(key), []);
        let screen = play.screen(80, 24);
        assert!(screen.contains("Delete delta?") && screen.contains("This cannot be undone."));
        assert_eq!(play.keys("y"), [Effect::Ask(Query::Delete(ID[3].into()))]);
        assert_eq!(play.tell(Msg::Deleted(ID[3].into())), [Effect::Ask(Query::Sessions)]);
        assert_eq!(play.toast(), "deleted delta");
    }
}

#[test]
fn visible_sessions_are_compared_with_predecessors() {
    let mut all = four();
    for (listed, target) in all.iter_mut().zip(["/x", "/y", "/x", "/x"]) {
        (listed.target, listed.label, listed.cells) = (target.into(), "x · read".into(), 3);
    }
    let mut play = Play::new(all.clone());
    let change = |id: &str, before: &str| {
        Effect::Ask(Query::Change { id: id.into(), before: before.into() })
    };
    assert_eq!(play.tell(answer(ID[3])), [change(ID[3], ID[1])], "after the preview");
    let changed = |id: &str, before: &str, ratio| Msg::Changed {
        id: id.into(),
        before: before.into(),
        ratio,
    };
    assert_eq!(play.tell(changed(ID[3], ID[1], Some(0.88))), [change(ID[1], ID[0])]);
    assert_eq!(play.tell(changed(ID[1], ID[0], None)), []);
    let screen = play.screen(120, 40);
    assert_eq!(screen.matches("-12 %").count(), 2, "in the list and the preview: {screen}");
    // They are known, until another run is the one before.
    assert_eq!(play.tell(Msg::Sessions(Ok(all.clone()))), []);
    all.remove(2);
    assert_eq!(play.tell(Msg::Sessions(Ok(all))), [change(ID[3], ID[0])]);
    assert!(!play.screen(80, 24).contains("-12 %"));
}

#[test]
fn sessions_with_a_time_have_ages() {
    let mut play = Play::new(four());
    assert!(play.screen(80, 24).contains("2026-11-21"));
    let later = |hours: u64| {
        let created = crate::session::testing::CREATED;
        std::time::UNIX_EPOCH + created + Duration::from_secs(hours * 3600)
    };
    play.tell(Msg::Clock(later(2)));
    assert_eq!(play.screen(80, 24).matches(" 2 h ago").count(), 4);
    play.tell(Msg::Clock(later(24 * 400)));
    assert!(play.screen(80, 24).contains("2026-11-21 "), "with its year");
}

#[test]
fn actions_use_the_session_under_cursor() {
    for (keys, effect) in [
        ("<enter>", Effect::Ask(Query::Open(ID[3].into()))),
        ("r", Effect::Ask(Query::Again(ID[3].into()))),
        ("y", Effect::Copy(format!("iotui sessions show {}", ID[3]))),
        ("G<enter>", Effect::Ask(Query::Open(ID[0].into()))),
        ("Ggj<enter>", Effect::Ask(Query::Open(ID[2].into()))),
        ("<pgdn><ctrl-u><pgup><enter>", Effect::Ask(Query::Open(ID[3].into()))),
        ("/alpha<enter><enter>", Effect::Ask(Query::Open(ID[0].into()))),
    ] {
        assert_eq!(Play::new(four()).keys(keys), [effect], "{keys}");
    }
    let mut none = Play::new(Vec::new());
    assert_eq!(none.keys("<enter>rRDmycSe/x<esc>jkGg"), []);
}

#[test]
fn unreadable_files_can_only_be_deleted() {
    let mut all = four();
    all[0].state = State::Unreadable;
    let mut play = Play::new(all);
    for (columns, rows) in [(80, 24), (200, 60)] {
        let screen = play.screen(columns, rows);
        assert!(screen.contains("cannot be read") || screen.contains("unreadable"), "{screen}");
    }
    play.keys("w");
    assert!(play.0.popups.is_empty() && play.toast().contains("cannot be renamed"));
    play.keys("e");
    assert!(play.0.popups.is_empty() && play.toast().contains("cannot be exported"));
    assert_eq!(play.keys("Dy"), [Effect::Ask(Query::Delete(ID[3].into()))]);
}

#[test]
fn no_preview_loads_during_a_run() {
    let mut play = Play::new(four());
    play.tell(answer(ID[3]));
    crate::testing::begin(&mut play.0);
    assert_eq!(play.keys("j"), []);
    assert!(play.screen(120, 40).contains("No preview during a run"));
    assert_eq!(
        play.keys("<enter>"),
        [Effect::Ask(Query::Open(ID[2].into()))],
        "opening is a request, not a preview"
    );
    let effects = play.tell(Msg::Over { error: None, unsaved: None });
    assert!(effects.contains(&Effect::Ask(Query::Sessions)), "{effects:?}");
    assert_eq!(play.tell(Msg::Sessions(Ok(four()))), [preview(ID[2])]);
}

#[test]
fn click_selects_and_second_click_opens() {
    use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
    let mut play = Play::new(four());
    let click = |row| MouseEvent {
        kind: MouseEventKind::Down(MouseButton::Left),
        column: 10,
        row,
        modifiers: KeyModifiers::NONE,
    };
    play.tell(Msg::Mouse(click(5)));
    assert_eq!(play.here(), ID[1]);
    assert_eq!(play.tell(Msg::Mouse(click(5))), [Effect::Ask(Query::Open(ID[1].into()))]);
    assert_eq!(play.tell(Msg::Mouse(click(30))), []);
}

#[test]
fn ten_thousand_sessions_and_every_size() {
    let many = (0..10_000).map(|n| Listed {
        id: format!("20261121-093000-data-{n}"),
        ..listed(n % 60, "a name", "/a/long/path/to/file.iso")
    });
    let mut play = Play::new(many.collect());
    play.keys("G");
    for columns in (0..130).step_by(7).chain([200]) {
        for rows in [0, 3, 16, 20, 24, 40] {
            play.0.size = (columns, rows);
            play.screen(columns, rows);
        }
    }
    assert!(play.screen(80, 24).contains("10000"));
    assert!(Key::parse("S").is_some());
    play.keys("SSSSSS/7");
    assert!(play.0.sessions.lines() < 10_000);
}
