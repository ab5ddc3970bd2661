mod chart;

use std::collections::HashSet;
use std::sync::Arc;

use super::{Compare, LoadedComparison};
use crate::analysis::SavedRuns;
use crate::context::Request;
use crate::msg::{Effect, Msg, Query};
use crate::popup::Popup;
use crate::report::Look;
use crate::screen::Screen;
use crate::session::Session;
use crate::session_view::SessionView;
use crate::testing::{self, Stage};
use crate::theme::{Colours, Glyphs, Role};
use crate::update::screens::perform;

/// The usual session under another id and name, each of its trials changed.
fn changed(
    id: &str,
    name: &str,
    change: impl Fn(&mut crate::record::Trial, &crate::plan::Job),
) -> Session {
    let mut session = Session { id: id.into(), name: name.into(), ..testing::session() };
    for trial in &mut session.trials {
        let job = session.plan.cells[trial.cell as usize].clone();
        change(Arc::make_mut(trial), &job);
    }
    session
}

/// `before`; `after` with mmap twice as fast on another kernel; `later` as before, with a cell that
/// only it has.
pub fn three() -> [Session; 3] {
    let before = changed("a", "before", |_, _| {});
    let mut after = changed("b", "after", |trial, job| {
        trial.nanos /= if job.backend.id == "mmap" { 2 } else { 1 }
    });
    (after.host.kernel, after.host.name) = ("6.19.1".into(), "lab-7".into());
    after.created = "2026-11-22T08:00:00Z".into();
    let mut later = changed("c", "later", |_, _| {});
    later.plan.cells[1].block = 512;
    [before, after, later]
}

fn compared(sessions: &[Session], ascii: bool) -> LoadedComparison {
    let loaded =
        |session: &Session| (session.id.clone(), Ok(SessionView::new(session.clone(), None)));
    LoadedComparison::new(
        sessions.iter().map(loaded).collect(),
        &SavedRuns::default(),
        &Look { ascii, ..Look::default() },
    )
}

/// Opens the comparison of these sessions.
fn compare_sessions(stage: &mut Stage, ids: Vec<String>) {
    perform(&mut stage.model, Request::Compare(ids));
}

/// On Compare, with these sessions.
pub fn stage(sessions: &[Session]) -> Stage {
    let mut stage = Stage::new();
    stage.tell(Msg::Resize(80, 24));
    compare_sessions(&mut stage, sessions.iter().map(|session| session.id.clone()).collect());
    stage.tell(Msg::Compared(Box::new(compared(sessions, false))));
    stage
}

fn compare(stage: &Stage) -> &Compare {
    &stage.model.compare
}

fn asks(ids: &[&str]) -> [Effect; 1] {
    [Effect::Ask(Query::Compare {
        ids: ids.iter().map(|id| (*id).into()).collect(),
        look: Look::default(),
    })]
}

#[test]
fn summary_precedes_differences_and_cells() {
    let stage = stage(&three());
    for (columns, rows) in [(80, 24), (120, 40), (200, 60)] {
        let picture = stage.picture(columns, rows);
        let at = |text: &str| {
            picture.find(text).unwrap_or_else(|| panic!("{text} at {columns}x{rows}:\n{picture}"))
        };
        let places = ["before", "Sum", "B against A: ", "What differs", "host ", "Cells"].map(at);
        assert!(places.is_sorted(), "{picture}");
        let cells = picture.lines().skip_while(|line| !line.contains("Cells")).skip(3);
        let rows = cells.filter(|line| line.contains("faster") || line.contains(" KiB")).count();
        assert!(rows >= 3, "{columns}x{rows}:\n{picture}");
    }
    let picture = stage.picture(120, 40);
    assert!(picture.contains("faster") && picture.contains("no difference"), "{picture}");
}

#[test]
fn any_session_can_become_the_baseline() {
    let mut stage = stage(&three());
    assert!(stage.picture(120, 40).contains("B against A · 1 of 2"));
    stage.keys("l").take();
    assert!(stage.picture(120, 40).contains("C against A · 2 of 2"));
    stage.keys("l");
    assert_eq!(compare(&stage).other, 1, "there is no further one");
    assert_eq!(stage.keys("B").take(), asks(&["c", "a", "b"]));
    assert!(stage.picture(120, 40).contains("comparing ..."), "the last one is still there");
    assert_eq!(stage.keys("B").take(), [], "one at a time");
    let [before, after, later] = three();
    // One that was asked for before is late.
    stage.tell(Msg::Compared(Box::new(compared(
        &[before.clone(), after.clone(), later.clone()],
        false,
    ))));
    assert!(compare(&stage).is_waiting());
    stage.tell(Msg::Compared(Box::new(compared(&[later, before, after], false))));
    assert!(!compare(&stage).is_waiting());
    let picture = stage.picture(120, 40);
    let heads: Vec<&str> = picture.lines().filter(|line| line.contains(" UTC")).collect();
    assert!(
        heads[0].contains("A") && heads[0].contains("later") && heads[1].contains("before"),
        "{picture}"
    );
}

#[test]
fn equal_names_are_followed_by_times() {
    let at = |created: &str| {
        let session = changed(created, "", |_, _| {});
        Session { created: created.into(), ..session }
    };
    let names = |times: [&str; 3]| {
        let compared = compared(&times.map(at), false);
        [0, 1, 2].map(|at| compared.name(at).to_string())
    };
    let label = "file · read,mmap";
    assert_eq!(
        names(["2026-11-20T09:30:11Z", "2026-11-21T09:30:11Z", "2026-11-22T09:30:11Z"]),
        ["11-20", "11-21", "11-22"].map(|day| format!("{label} {day}"))
    );
    assert_eq!(
        names(["2026-11-20T09:30:11Z", "2026-11-20T09:31:11Z", "2026-11-20T09:32:11Z"]),
        ["09:30", "09:31", "09:32"].map(|time| format!("{label} {time}"))
    );
    assert_eq!(compared(&three(), false).name(1), "after");
}

#[test]
fn too_few_trials_are_mentioned_once() {
    let [before, mut after, _] = three();
    after.trials.retain(|trial| trial.round <= 2);
    let picture = stage(&[before, after]).picture(120, 40);
    assert!(!picture.contains("too few trials"), "{picture}");
    assert!(picture.contains("fewer than 5 trials on one side"), "{picture}");
    assert!(picture.contains("add trials to B: open it, then R refines it"), "{picture}");
    assert!(!stage(&three()).picture(120, 40).contains("refines"));
}

#[test]
fn bars_fill_the_remaining_width() {
    let stage = stage(&three());
    let head =
        |picture: &str| picture.lines().find(|line| line.contains(" 0.4")).unwrap().to_string();
    let axis = |columns| {
        let head = head(&stage.picture(columns, 40));
        let from = head.find(" 0.4").unwrap() + 1;
        head[from..].trim_end_matches(['│', ' ']).chars().count()
    };
    let (narrow, wide) = (axis(90), axis(120));
    assert!(wide >= narrow + 20 && axis(200) == 61, "{narrow} {wide} {}", axis(200));
    let picture = stage.picture(120, 40);
    let head = picture.lines().position(|line| *line == head(&picture)).unwrap();
    let lines: Vec<&str> = picture.lines().collect();
    let column = |line: &str, sign: &str| {
        line.rfind(sign).map(|at| line[..at].chars().count()).unwrap_or_default()
    };
    let one = column(lines[head], " 1 ") + 1;
    let unity: Vec<char> = lines[head + 1].chars().collect();
    assert!(['│', '─', '●'].contains(&unity[one]), "{picture}");
}

#[test]
fn trials_are_offered_where_possible() {
    let [mut base, mut other, _] = three();
    base.trials.truncate(40);
    other.trials.truncate(40);
    let offer = |base: &Session, other: &Session| {
        let picture = stage(&[base.clone(), other.clone()]).picture(120, 40);
        let line = picture.lines().find(|line| line.contains("For a verdict"));
        line.map(|line| line.trim_matches(['│', ' ']).to_string())
    };
    let said = offer(&base, &other).expect("an offer");
    assert_eq!(said, "For a verdict, add trials to A and B: open it, then R refines it.");
    // A report has no trials, nor can it get more.
    base.plan.pick = true;
    assert_eq!(offer(&base, &other), None);
}

#[test]
fn keys_switch_between_the_views() {
    let mut stage = stage(&three());
    stage.keys("l< >");
    let words = stage.picture(120, 40);
    assert!(
        words.contains("In words")
            && words.contains("only in A: ")
            && words.contains("only in C: "),
        "{words}"
    );
    stage.keys("v");
    let chart = stage.picture(120, 40);
    assert!(
        chart.contains("Throughput by block size")
            && chart.contains("before")
            && chart.contains("later"),
        "{chart}"
    );
    let lines: Vec<_> = compare(&stage)
        .overlay
        .lines
        .iter()
        .map(|line| (line.session, line.curve.name.as_str()))
        .collect();
    assert_eq!(lines[..3], [(0, "read cold"), (1, "read cold"), (2, "read cold")]);
    // Metrics and the logarithmic axis as on Results, the read-out by arrows.
    stage.keys("i");
    assert!(
        stage.picture(120, 40).contains("Latency by block size, median to 99th percentile")
            && compare(&stage).log()
    );
    stage.keys("bL");
    assert!(compare(&stage).log() && stage.picture(120, 40).contains("log, 3 sessions"));
    stage.keys("<right><right>");
    assert!(stage.picture(120, 40).contains("at 4 KiB"), "{}", stage.picture(120, 40));
    assert_eq!(stage.keys("j<enter>").take(), [Effect::Ask(Query::Open("b".into()))]);
    stage.keys("<tab>");
    assert!(stage.picture(120, 40).contains("What differs"));
    // The key of the metric has no effect there.
    stage.keys("o");
    assert!(stage.picture(120, 40).contains("What differs"));
    assert_eq!(stage.keys("<enter>").take(), [Effect::Ask(Query::Open("c".into()))]);
}

#[test]
fn curves_of_sessions_look_different() {
    let mut stage = stage(&three());
    stage.keys("v");
    for glyphs in [Glyphs::Unicode, Glyphs::Ascii] {
        stage.model.look.glyphs = glyphs;
        let picture = stage.picture(120, 40);
        // The sample of a line is before the letter of its session.
        let sample = |session: &str| -> String {
            let line = picture.lines().find(|line| line.contains(session)).unwrap();
            let before = &line[..line.find(session).unwrap()];
            before.chars().rev().take(3).collect()
        };
        let samples = [" A before", " B after", " C later"].map(sample);
        let different: HashSet<&String> = samples.iter().collect();
        assert_eq!(different.len(), 3, "{samples:?}");
        let plot: Vec<String> =
            picture.lines().take(38).skip(2).map(|line| line.chars().take(83).collect()).collect();
        for letter in ["A", "B", "C"] {
            let words = plot.iter().flat_map(|row| row.split(|c: char| !c.is_alphanumeric()));
            let count = words.filter(|word| *word == letter).count();
            assert!((2..=4).contains(&count), "at most one at each curve of {letter}:\n{picture}");
        }
        // Curves that share all their places are named together.
        assert!(plot.iter().any(|row| row.contains(" A, C ")), "{picture}");
    }
}

#[test]
fn session_letters_have_no_backend_colour() {
    let stage = stage(&three());
    let buffer = stage.drawn(120, 40);
    let rows: Vec<u16> = (0..40)
        .filter(|row| (0..120).any(|column| buffer[(column, *row)].symbol() == "●"))
        .collect();
    let title = stage.model.look.style(Role::Title);
    for (row, letter) in (2..).zip(["A", "B", "C"]) {
        let cell = &buffer[(2, row)];
        assert_eq!((cell.symbol(), cell.fg), (letter, title.fg.unwrap()));
        assert!(!rows.contains(&row), "a marker is of a backend");
    }
}

#[test]
fn single_figures_are_only_counted() {
    let reference = crate::session::reference("macbook-2017").unwrap().session();
    let again = Session { id: "again".into(), ..reference.clone() };
    let mut stage = stage(&[reference.clone(), again]);
    stage.keys("v");
    let overlay = &compare(&stage).overlay;
    assert!(overlay.lines.iter().all(|line| line.curve.points.len() > 1));
    assert_eq!((overlay.lines.len(), overlay.singles), (4, 34));
    let picture = stage.picture(120, 40);
    assert!(picture.contains("34 single figures: v lists them"), "{picture}");
    assert!(stage.keys("v").picture(120, 40).contains("What differs"));
}

#[test]
fn other_thread_counts_are_laid_together() {
    let two = ["m1-container", "m5d-metal"]
        .map(|id| crate::session::reference(id).unwrap().session().clone());
    let picture = stage(&two).tell(Msg::Resize(120, 40)).keys("").picture(120, 40);
    for said in [
        "not the same job: pread 2 MiB cold: A 20 threads: 1.58 GiB/s | B 192 threads: 2.95 GiB/s",
        "not the same job: pread 2 MiB warm: A 20 threads: 6.78 GiB/s | B 192 threads: 27.8 GiB/s",
    ] {
        assert!(picture.contains(said), "{picture}");
    }
}

#[test]
fn single_figures_of_named_curves_stay() {
    let mut few = changed("b", "few", |_, _| {});
    // One size of each curve.
    few.trials.retain(|trial| few.plan.cells[trial.cell as usize].block == 4096);
    let mut stage = stage(&[changed("a", "whole", |_, _| {}), few.clone()]);
    stage.keys("v");
    let overlay = &compare(&stage).overlay;
    assert_eq!((overlay.lines.len(), overlay.singles), (8, 0));
    let mut stage = self::stage(&[few.clone(), Session { id: "c".into(), ..few }]);
    stage.keys("v");
    let overlay = &compare(&stage).overlay;
    assert_eq!((overlay.lines.len(), overlay.singles), (8, 0));
}

#[test]
fn scrolling_ends_with_the_last_line() {
    for keys in ["", "< >"] {
        let mut stage = stage(&three());
        stage.tell(Msg::Resize(80, 24)).keys("l").keys(keys).keys("G");
        let end = stage.picture(80, 24);
        assert!(end.contains("only in C"), "{end}");
        stage.keys("jjj<pgdn><ctrl-d>");
        assert_eq!(stage.picture(80, 24), end);
        stage.keys("k");
        // The words fit.
        assert_eq!(stage.picture(80, 24) != end, keys.is_empty());
        stage.keys("g");
        assert_eq!(compare(&stage).scroll, 0);
    }
}

#[test]
fn comparisons_are_copied_and_exported() {
    let mut stage = stage(&three());
    let copied = stage.keys("y").take();
    let [Effect::Copy(text)] = &copied[..] else { panic!("{copied:?}") };
    assert!(
        text.contains("Differences between A and B:")
            && text.contains("C against A")
            && text.contains("only in C"),
        "{text}"
    );
    stage.keys("e");
    let picture = stage.picture(80, 24);
    assert!(
        picture.contains("Export after against before")
            && picture.contains("after-against-before.txt"),
        "{picture}"
    );
    for format in crate::report::COMPARISONS {
        assert!(picture.contains(format.about), "{picture}");
    }
    stage.keys("j<enter>");
    let Some(Effect::Ask(Query::Export(export))) = stage.take().pop() else { panic!() };
    assert_eq!(
        (export.format, export.path.as_str(), export.replace),
        ("json", "after-against-before.json", false)
    );
    assert_eq!(
        export.what,
        crate::export::What::LoadedComparison(vec!["a".into(), "b".into(), "c".into()])
    );
}

#[test]
fn unreadable_sessions_are_listed() {
    let [before, after, _] = three();
    let mut stage = Stage::new();
    compare_sessions(&mut stage, vec!["gone".into(), "a".into(), "b".into()]);
    assert!(stage.picture(80, 24).contains("comparing 3 sessions"));
    let gone = ("gone".to_string(), Err("no session 'gone'".to_string()));
    let [a, b] =
        [before, after].map(|session| (session.id.clone(), Ok(SessionView::new(session, None))));
    stage.tell(Msg::Compared(Box::new(LoadedComparison::new(
        vec![gone.clone(), a.clone(), b],
        &SavedRuns::default(),
        &Look::default(),
    ))));
    let picture = stage.picture(80, 24);
    assert!(
        picture.contains("gone: no session 'gone'") && picture.contains("B against A"),
        "{picture}"
    );
    compare_sessions(&mut stage, vec!["gone".into(), "a".into()]);
    stage.take();
    stage.tell(Msg::Compared(Box::new(LoadedComparison::new(
        vec![gone, a],
        &SavedRuns::default(),
        &Look::default(),
    ))));
    let picture = stage.picture(80, 24);
    assert!(
        picture.contains("Nothing to compare") && picture.contains("no session 'gone'"),
        "{picture}"
    );
    assert_eq!(stage.keys("yevB<enter>< >jl").take(), []);
    assert!(stage.model.popups.is_empty());
    assert_eq!(stage.keys("<esc>").take(), [Effect::Ask(Query::Sessions)]);
    assert_eq!(stage.model.screen, Screen::Sessions);
}

#[test]
fn plain_terminals_get_plain_text() {
    let mut stage = Stage::new();
    (stage.model.look.glyphs, stage.model.look.colours) = (Glyphs::Ascii, Colours::None);
    let sessions = three();
    let ids = sessions.iter().map(|session| session.id.clone()).collect();
    compare_sessions(&mut stage, ids);
    assert!(matches!(
        &stage.take()[..],
        [] | [Effect::Ask(Query::Compare { look: Look { ascii: true, .. }, .. })]
    ));
    stage.tell(Msg::Compared(Box::new(compared(&sessions, true))));
    for keys in ["", "< >", "v", "ve"] {
        stage.keys(keys);
        // A question mark replaces a character that such a terminal lacks; the last line, which has
        // the help key, is left out.
        for cell in &stage.drawn(120, 40).content()[..120 * 39] {
            assert!(
                cell.symbol().is_ascii() && cell.symbol() != "?",
                "{keys}: {:?}",
                cell.symbol()
            );
            assert_eq!(
                (cell.fg, cell.bg),
                (ratatui::style::Color::Reset, ratatui::style::Color::Reset)
            );
        }
    }
}

#[test]
fn eight_sessions_fit_every_size() {
    let many: Vec<Session> =
        (0..8).map(|n| changed(&format!("s{n}"), &"long name ".repeat(n), |_, _| {})).collect();
    let mut stage = stage(&many);
    for keys in ["", "< >", "v"] {
        stage.keys(keys);
        for columns in (0..130).step_by(9).chain([200]) {
            for rows in [0, 5, 12, 16, 20, 24, 40] {
                stage.tell(Msg::Resize(columns, rows));
                stage.keys("jG");
                stage.picture(columns, rows);
            }
        }
    }
}

#[test]
fn what_it_looks_like() {
    for (name, keys) in [("cells", ""), ("words", "< >"), ("chart", "v")] {
        let mut stage = stage(&three());
        stage.keys(keys);
        for (columns, rows) in [(80, 24), (120, 40)] {
            insta::assert_snapshot!(
                format!("{name}_{columns}x{rows}"),
                stage.snapshot(columns, rows)
            );
        }
    }
    let mut stage = Stage::new();
    stage.tell(Msg::Opened(Ok(Box::new(testing::shown()))));
    stage.keys("ej<tab><tab>< >");
    insta::assert_snapshot!("export_80x24", stage.snapshot(80, 24));
    assert!(matches!(stage.model.popups.last(), Some(Popup::Export(_))));
}
