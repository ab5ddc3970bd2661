mod messages;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

use crate::msg::{Effect, Msg, Query};
use crate::popup::{Help, Palette, Popup};
use crate::record::{End, Event, Phase, Progress};
use crate::screen::Screen;
use crate::testing::{self, Stage};
use crate::theme::Role;

/// A stage on which a run goes on.
fn running() -> Stage {
    let mut stage = Stage::new();
    super::run::start(&mut stage.model, Arc::new(testing::plan()));
    stage.tell(Msg::Begun {
        path: Some("/s/x.jsonl".into()),
        id: "x".into(),
        name: String::new(),
        created: "2026-11-21T09:30:11Z".into(),
    });
    stage
}

fn some_trials(stage: &mut Stage) {
    let plan = testing::plan();
    for cell in 0..4 {
        let trial = Arc::new(testing::trial(&plan, cell, 1));
        stage.tell(Msg::Event(Event::Trial { trial, samples: Vec::new(), latency: None }));
    }
}

fn quits(stage: &mut Stage) -> Option<u8> {
    stage.take().into_iter().find_map(|effect| match effect {
        Effect::Quit(code) => Some(code),
        _ => None,
    })
}

#[test]
fn digits_go_to_screens() {
    let mut stage = Stage::new();
    for (key, screen) in ["1", "2", "3", "4", "5", "6"].iter().zip(Screen::ALL) {
        stage.keys(key);
        assert_eq!(stage.model.screen, *screen);
    }
    assert!(stage.take().contains(&Effect::Ask(Query::Sessions)));
}

#[test]
fn q_quits_closes_or_asks() {
    assert_eq!(quits(Stage::new().keys("q")), Some(0));
    let mut stage = Stage::new();
    assert_eq!(quits(stage.keys("?q")), None);
    assert!(stage.model.popups.is_empty());
    let mut stage = running();
    stage.take();
    assert_eq!(quits(stage.keys("q")), None);
    assert!(matches!(stage.model.popups.last(), Some(Popup::Question(_))));
    stage.keys("n");
    assert!(stage.model.popups.is_empty() && stage.model.running());
    stage.keys("q<esc>");
    assert!(stage.model.popups.is_empty() && stage.model.leaving.is_none());
    let effects = stage.keys("qq").take();
    let leaves = effects.iter().any(|effect| matches!(effect, Effect::Quit(_)));
    assert!(!leaves && effects.contains(&Effect::Stop), "the run is stopped first: {effects:?}");
    assert!(stage.model.leaving.is_some());
    assert_eq!(quits(stage.tell(Msg::Over { error: None, unsaved: None })), Some(0));
}

#[test]
fn hanging_run_does_not_block_quitting() {
    let mut stage = running();
    stage.keys("qy").take();
    assert_eq!(quits(stage.wait(Duration::from_millis(900))), None);
    assert_eq!(quits(stage.wait(Duration::from_millis(900))), Some(0));
}

#[test]
fn ctrl_c_stops_runs_or_quits() {
    let mut stage = running();
    stage.take();
    assert_eq!(stage.keys("<ctrl-c>").take(), [Effect::Stop]);
    some_trials(&mut stage);
    stage.tell(Msg::Event(Event::End { reason: End::Interrupted, seconds: None }));
    stage.tell(Msg::Over { error: None, unsaved: None });
    assert_eq!(stage.model.screen, Screen::Results);
    let farewell = stage.model.farewell();
    assert!(farewell.lines.iter().any(|line| line.contains("/s/x.jsonl")));
    let glance = &stage.model.results.data.as_ref().unwrap().view.glance;
    let board = crate::report::glance_text(glance, &stage.model.look.report());
    assert!(board.lines().count() > 3 && board.lines().any(|line| line.contains("  ")), "{board}");
    assert_eq!(farewell.wrap(80).join("\n"), format!("{board}saved   /s/x.jsonl"));
    stage.take();
    assert_eq!(quits(stage.keys("<ctrl-c>")), Some(0));
    // Whatever has the focus.
    assert_eq!(quits(Stage::new().keys(":quit<ctrl-c>")), Some(0));
}

#[test]
fn signals_lead_out_with_their_code() {
    assert_eq!(quits(Stage::new().tell(Msg::Leave(143))), Some(143));
    let mut stage = running();
    stage.take();
    stage.tell(Msg::Leave(129));
    assert_eq!(stage.take(), [Effect::Stop]);
    stage.tell(Msg::Over { error: None, unsaved: None });
    assert_eq!(quits(&mut stage), Some(129));
}

#[test]
fn runs_without_results_are_not_saved() {
    let mut stage = running();
    stage.tell(Msg::Over { error: None, unsaved: None });
    let toasts = |stage: &Stage| -> Vec<String> {
        stage.model.toasts.iter().map(|toast| toast.text.clone()).collect()
    };
    assert_eq!(toasts(&stage), ["nothing was measured: no session is saved"]);
    assert!(stage.model.farewell().lines.iter().all(|line| !line.contains("/s/x.jsonl")));
    let mut stage = running();
    stage.tell(Msg::Over { error: Some("no such file".into()), unsaved: None });
    assert_eq!(toasts(&stage), ["no such file"]);
}

#[test]
fn immediate_failure_returns_to_setup() {
    let mut stage = running();
    stage.tell(Msg::Over { error: Some("no space".into()), unsaved: None });
    assert_eq!(stage.model.screen, Screen::Setup);
    assert!(stage.model.toasts.iter().any(|toast| toast.text.contains("no space")));
    let mut stage = running();
    stage.tell(Msg::NotBegun("cannot start a thread".into()));
    assert!(!stage.model.running() && stage.model.screen == Screen::Setup);
}

#[test]
fn run_end_keeps_another_screen() {
    let mut stage = running();
    some_trials(&mut stage);
    stage.keys("6");
    stage.tell(Msg::Over { error: None, unsaved: None });
    assert_eq!(stage.model.screen, Screen::Host);
}

#[test]
fn one_run_at_a_time() {
    let mut stage = running();
    stage.take();
    let effects = super::run::start(&mut stage.model, Arc::new(testing::plan()));
    assert!(!effects.iter().any(|e| matches!(e, Effect::Start { .. })));
}

#[test]
fn suspending_pauses_a_run() {
    let mut stage = running();
    stage.take();
    stage.keys("<ctrl-z>");
    assert_eq!(stage.take(), [Effect::Pause(true), Effect::Suspend]);
    stage.tell(Msg::Resumed);
    let resumed = stage.take();
    assert!(
        resumed.contains(&Effect::Redraw) && !resumed.contains(&Effect::Pause(false)),
        "the engine has not said that it waits"
    );
    let pause =
        Progress { phase: Phase::Pause, cell: None, probe: None, round: 1, share: 0.1, left: 1 };
    stage.tell(Msg::Event(Event::Progress(pause)));
    assert!(stage.take().contains(&Effect::Pause(false)));
    assert_eq!(Stage::new().keys("<ctrl-z>").take(), [Effect::Suspend]);
    // SIGTSTP is Ctrl-Z.
    let mut idle = Stage::new();
    idle.tell(Msg::Suspend);
    assert_eq!(idle.take(), [Effect::Suspend]);
}

#[test]
fn the_palette_does_what_it_finds() {
    let mut stage = Stage::new();
    stage.keys(":go to host<enter>");
    assert!(stage.model.popups.is_empty());
    assert_eq!(stage.model.screen, Screen::Host);
    stage.keys("<ctrl-p>zzz<enter>");
    assert_eq!(stage.model.popups.len(), 1);
    stage.keys("<esc>");
    assert!(stage.model.popups.is_empty());
}

#[test]
fn a_paste_is_text_or_nothing() {
    let mut stage = Stage::new();
    stage.tell(Msg::Paste("q\nr".into()));
    assert_eq!((stage.model.screen, quits(&mut stage)), (Screen::Setup, None));
    stage.keys(":").tell(Msg::Paste("the\nme\x1b".into()));
    let Some(Popup::Palette(Palette { input, .. })) = stage.model.popups.last() else { panic!() };
    assert_eq!(input.value(), "theme");
}

#[test]
fn themes_are_previewed_and_can_revert() {
    let mut stage = Stage::new();
    stage.model.look.colours = crate::theme::Colours::True;
    let id = |stage: &Stage| stage.model.look.theme.id.clone();
    let first = id(&stage);
    stage.keys("tj");
    assert_ne!(id(&stage), first);
    stage.keys("<esc>");
    assert_eq!((id(&stage), stage.take()), (first.clone(), Vec::new()));
    stage.keys("tj<enter>");
    let kept = id(&stage);
    assert!(kept != first && stage.model.popups.is_empty());
    assert!(matches!(stage.take().as_slice(), [Effect::Remember(_)]));
    stage.keys("t");
    let count = stage.model.themes.iter().len();
    for _ in 0..count {
        stage.keys("t");
    }
    stage.keys("<enter>");
    assert_eq!(id(&stage), kept, "they come round");
}

#[test]
fn popup_scrolls_back_from_its_end() {
    let mut stage = Stage::new();
    stage.tell(Msg::Resize(80, 24));
    stage.keys("?G");
    let end = stage.picture(80, 24);
    stage.keys("<ctrl-u>");
    assert_ne!(stage.picture(80, 24), end);
}

#[test]
fn run_end_closes_its_question() {
    let mut stage = running();
    stage.keys("q").tell(Msg::Over { error: None, unsaved: None });
    assert!(stage.model.popups.is_empty());
    let mut stage = running();
    stage.keys("<ctrl-c>q");
    assert!(stage.model.popups.is_empty() && stage.model.leaving.is_some());
    assert_eq!(quits(stage.tell(Msg::Over { error: None, unsaved: None })), Some(0));
}

#[test]
fn answer_after_quitting_wraps_between_words() {
    let path = "/home/me/.local/share/iotui/sessions/a-rather-long-name-of-a-session.jsonl";
    let lines =
        vec!["Fastest: mmap at 1 MiB, warm, 24 GiB/s.".to_string(), format!("saved   {path}")];
    let farewell = crate::model::Farewell { lines };
    assert_eq!(
        farewell.wrap(20),
        ["Fastest: mmap at 1", "MiB, warm, 24 GiB/s.", &format!("saved   {path}")]
    );
}

#[test]
fn help_runs_the_selected_action() {
    let mut stage = Stage::new();
    stage.keys("?/go to host<enter>");
    assert!(stage.model.popups.is_empty());
    assert_eq!(stage.model.screen, Screen::Host);
    // Two rows down in what was found, which has more.
    stage.keys("?/go to<down><down><enter>");
    assert_ne!(stage.model.screen, Screen::Host);
    stage.keys("?/zzz<enter>");
    assert_eq!(stage.model.popups.len(), 1, "nothing is found, nothing is done");
}

#[test]
fn palette_opens_the_screen_of_actions() {
    let mut stage = Stage::new();
    stage.keys(":export<enter>");
    assert_eq!(stage.model.screen, Screen::Results);
    let said = stage.model.toasts.current().unwrap().text.clone();
    assert!(said.contains("open a session first"), "{said}");
    stage.tell(Msg::Opened(Ok(Box::new(testing::shown())))).keys("1:export<enter>");
    assert_eq!(stage.model.screen, Screen::Results);
    assert!(matches!(stage.model.popups.last(), Some(Popup::Export(_))));
    stage.keys("<esc>:threads 4<enter>");
    assert_eq!(stage.model.screen, Screen::Setup);
    assert_eq!(stage.model.setup.settings.text("threads").as_deref(), Some("4"));
    stage.keys("6:preset peak<enter>");
    assert_eq!((stage.model.setup.preset.id.as_str(), stage.model.screen), ("peak", Screen::Setup));
    let before = stage.model.setup.settings.text("backend");
    stage.keys("6:uring<enter>");
    assert_ne!(stage.model.setup.settings.text("backend"), before);
    assert_eq!(stage.model.screen, Screen::Setup);
    // The last choice is on top.
    stage.keys("6:");
    let top = stage.picture(80, 24).lines().take(6).collect::<Vec<_>>().join("\n");
    assert!(top.contains("uring"), "{top}");
}

#[test]
fn palette_messages_fit_the_opened_screen() {
    for (keys, screen, wanted) in [
        ("3:compare<enter>", Screen::Sessions, "mark two sessions or more first"),
        ("3:rename<enter>", Screen::Sessions, "there are no sessions yet"),
        ("3:undo the changes<enter>", Screen::Setup, "nothing has changed"),
        ("3:replay slower<enter>", Screen::Live, "a replay must be shown"),
    ] {
        let mut stage = Stage::new();
        stage.keys(keys);
        let said = stage.model.toasts.current().map_or("", |toast| toast.text.as_str());
        assert!(said.contains(wanted), "{keys} {said}");
        assert_eq!(stage.model.screen, screen, "{keys}");
    }
    let mut stage = Stage::new();
    stage.tell(Msg::Sessions(Ok(crate::sessions::tests::four())));
    stage.keys("4/zzz<enter>1:rename<enter>");
    let said = &stage.model.toasts.current().unwrap().text;
    assert!(said.contains("no session matches the filter"), "{said}");
    // Rounds are added on Results, whatever Live could do; the first of two screens is meant.
    stage.tell(Msg::Opened(Ok(Box::new(testing::shown())))).keys("1:refine<enter>");
    assert_eq!(stage.model.screen, Screen::Results);
    assert!(matches!(stage.model.popups.last(), Some(Popup::Refine(_))));
    // Without changes, the default preset comes back.
    stage.keys("<esc>:preset peak<enter>3:undo the changes<enter>");
    assert_eq!(stage.model.setup.preset.id, "quick");
}

#[test]
fn palette_accepts_file_paths() {
    use std::os::unix::ffi::OsStrExt;
    let path = Path::new(std::ffi::OsStr::from_bytes(b"/data/\xff one \x1b.bin")).to_path_buf();
    let mut listing = crate::setup::tests::listing("/data");
    let mut entry = listing.result.as_ref().unwrap()[2].clone();
    entry.path = path.clone();
    listing.result = Ok(vec![entry]);
    let mut stage = Stage::new();
    stage.model.setup.browser.loading = Some("/data".into());
    stage.tell(Msg::Listed(listing)).keys("6:one<enter>");
    assert_eq!((stage.model.setup.file.as_ref(), stage.model.screen), (Some(&path), Screen::Setup));
    let said = &stage.model.toasts.current().unwrap().text;
    assert!(said.starts_with("target: /data/") && !said.contains('\x1b'), "{said}");
}

#[test]
fn what_a_popup_covers_is_dim() {
    let mut stage = Stage::new();
    stage.tell(Msg::Opened(Ok(Box::new(testing::shown()))));
    let dim = stage.model.look.style(Role::Dim);
    let plain = ratatui::style::Color::Reset;
    // On Setup and in the table of Results there is a cursor, whose row is reversed.
    for (keys, screen) in [("1:", Screen::Setup), ("<esc>3v:", Screen::Results)] {
        stage.keys(keys);
        assert_eq!(stage.model.screen, screen);
        let buffer = stage.drawn(120, 40);
        let is_lit = |(x, y): &(u16, u16)| {
            let cell = &buffer[(*x, *y)];
            (cell.fg, cell.modifier) != (dim.fg.unwrap_or(plain), dim.add_modifier)
        };
        // All but the header and the footer.
        let lit: Vec<(u16, u16)> =
            (1..39).flat_map(|y| (0..120).map(move |x| (x, y))).filter(is_lit).collect();
        let (left, right) = (lit.iter().map(|at| at.0).min(), lit.iter().map(|at| at.0).max());
        let (top, bottom) = (lit[0].1, lit[lit.len() - 1].1);
        let corners = [(left, top), (right, top), (left, bottom), (right, bottom)]
            .map(|(x, y)| buffer[(x.unwrap(), y)].symbol());
        assert_eq!(corners, ["╭", "╮", "╰", "╯"], "the window alone is lit");
        assert!(left > Some(0) && right < Some(119), "{left:?} {right:?}");
    }
}

#[test]
fn refused_run_keeps_the_shown_session() {
    let mut stage = Stage::new();
    stage.tell(Msg::Opened(Ok(Box::new(testing::shown()))));
    let name = |stage: &Stage| stage.model.results.view().map(|view| view.session.id.clone());
    let before = name(&stage);
    assert!(before.is_some());
    super::run::start(&mut stage.model, Arc::new(testing::plan()));
    assert_eq!(name(&stage), None, "nothing of the run is known yet");
    stage.tell(Msg::NotBegun("cannot start a thread".into()));
    assert_eq!(name(&stage), before);
    assert!(!stage.model.results.follows_run);
}

#[test]
fn recordings_cannot_be_named_or_marked() {
    let mut stage = running();
    some_trials(&mut stage);
    stage.keys("3").take();
    for (key, what) in [("w", "name"), ("P", "replay"), ("m", "mark")] {
        assert_eq!(stage.keys(key).take(), []);
        let said = &stage.model.toasts.current().unwrap().text;
        assert_eq!(said, &format!("it is being recorded: {what} it when its run has ended"));
    }
    assert_eq!(stage.keys("r").take(), [], "no file is read during a run");
    assert!(stage.model.toasts.current().unwrap().text.contains("stop it first"));
    assert!(stage.model.popups.is_empty());
}

#[test]
fn messages_over_popups_name_valid_keys() {
    let mut stage = Stage::new();
    let now = stage.model.now;
    stage.model.toasts.note(now, "one");
    stage.model.toasts.note(now, "two");
    let last = |stage: &Stage| stage.picture(80, 24).lines().last().unwrap_or("").to_string();
    assert!(last(&stage).contains("1 more: M"), "{}", last(&stage));
    stage.model.popups.push(Popup::Palette(Palette::default()));
    assert!(last(&stage).contains("1 more") && !last(&stage).contains("more: M"));
}

#[test]
fn help_acts_and_scrolls_within_bounds() {
    let mut stage = Stage::new();
    stage.tell(Msg::Resize(80, 24)).keys("3?/G");
    let shown = crate::keymap::find_listed(Screen::Results, "G").len();
    let rows = |stage: &Stage| {
        let picture = stage.picture(80, 24);
        picture.lines().filter(|line| line.contains("to the last")).count()
    };
    stage.keys(&"<down>".repeat(shown));
    assert_eq!(rows(&stage), 1, "{}", stage.picture(80, 24));
    // Few words are found: there is nothing to scroll.
    stage.keys("<esc>??/queue depth<down><down><down>");
    let Some(Popup::Help(Help { words: true, scroll, .. })) = stage.model.popups.last() else {
        panic!()
    };
    assert_eq!(*scroll, 0);
}

/// Clicks on the first place where this text is drawn.
fn click(stage: &mut Stage, text: &str) {
    let picture = stage.picture(120, 40);
    let place = picture.lines().enumerate().find_map(|(row, line)| {
        Some((line[..line.find(text)?].chars().count() as u16, row as u16))
    });
    let (column, row) = place.unwrap_or_else(|| panic!("no {text} in\n{picture}"));
    let kind = MouseEventKind::Down(MouseButton::Left);
    let modifiers = KeyModifiers::NONE;
    stage.tell(Msg::Mouse(MouseEvent { kind, column, row, modifiers }));
}

#[test]
fn popup_rows_select_then_act() {
    let mut stage = Stage::new();
    stage.tell(Msg::Resize(120, 40)).keys("?");
    click(&mut stage, "go to Host");
    assert_eq!((stage.model.screen, stage.model.popups.len()), (Screen::Setup, 1));
    click(&mut stage, "go to Host");
    assert_eq!((stage.model.screen, stage.model.popups.len()), (Screen::Host, 0));
    stage.keys(":go to");
    click(&mut stage, "go to Sessions");
    click(&mut stage, "go to Sessions");
    assert_eq!((stage.model.screen, stage.model.popups.len()), (Screen::Sessions, 0));
    stage.keys("1p");
    click(&mut stage, "peak  ");
    assert_ne!(stage.model.setup.preset.id, "peak");
    click(&mut stage, "peak  ");
    assert_eq!((stage.model.setup.preset.id.as_str(), stage.model.popups.len()), ("peak", 0));
    stage.model.look.colours = crate::theme::Colours::True;
    stage.keys("t");
    click(&mut stage, "paper");
    assert_eq!(stage.model.look.theme.id, "paper", "it is previewed");
    let below = |stage: &Stage| stage.drawn(120, 40)[(1, 1)].clone();
    let shown = below(&stage);
    let popups = std::mem::take(&mut stage.model.popups);
    assert_eq!(shown, below(&stage), "it is judged by the screen, which is not dimmed");
    stage.model.popups = popups;
    assert_eq!(stage.model.popups.len(), 1);
    // A click chooses the format; it writes no file.
    stage.keys("<esc>").tell(Msg::Opened(Ok(Box::new(testing::shown()))));
    stage.keys("e").take();
    for _ in 0..2 {
        click(&mut stage, "csv ");
        assert_eq!(stage.take(), []);
    }
    let Some(Popup::Export(form)) = stage.model.popups.last() else { panic!() };
    assert_eq!(form.choices[form.cursor].id, "csv");
    // Texts and questions have no rows.
    stage.tell(Msg::Sessions(Ok(crate::sessions::tests::four())));
    for keys in ["<esc>d", "<esc>M", "<esc>??", "<esc>4D"] {
        stage.keys(keys).take();
        for row in 0..40 {
            let kind = MouseEventKind::Down(MouseButton::Left);
            let modifiers = KeyModifiers::NONE;
            stage.tell(Msg::Mouse(MouseEvent { kind, column: 60, row, modifiers }));
        }
        assert_eq!((stage.model.popups.len(), stage.take()), (1, Vec::new()), "{keys}");
    }
    assert!(matches!(stage.model.popups.last(), Some(Popup::Question(_))));
}
