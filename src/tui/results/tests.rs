use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

use super::super::curves::Metric;
use super::super::model::Screen;
use super::super::msg::{Effect, Msg};
use super::super::popup::{Popup, Purpose};
use super::super::shown::Shown;
use super::super::testing::{self, Stage};
use super::super::theme::{Colours, Glyphs, Look};
use super::state::Results;
use crate::plan::{Cache, Skipped};
use crate::session::{Session, testing as sessions};

fn stage_of(shown: Shown) -> Stage {
    let mut stage = Stage::new();
    stage.tell(Msg::Resize(100, 30)).tell(Msg::Opened(Ok(Box::new(shown))));
    stage.take();
    assert_eq!(stage.model.screen, Screen::Results);
    stage
}

/// `read` and `mmap`, cold and warm, 4 KiB to 4 MiB; the last cell failed, and two were skipped.
fn stage() -> Stage {
    let mut shown = testing::shown();
    let skip = |block, reason: &str| Skipped { cell: sessions::job("uring", block, Cache::Warm), reason: reason.into() };
    shown.skipped = vec![skip(4096, "io_uring: EPERM"), skip(8192, "io_uring: EPERM")];
    stage_of(shown)
}

fn results(stage: &Stage) -> &Results {
    &stage.model.results
}

/// Curve and place under the cursor.
fn at(stage: &Stage) -> String {
    let results = results(stage);
    let x = results.x().map_or(0, |x| x as u64);
    format!("{} {}", results.curve().map_or("-", |curve| curve.name.as_str()), crate::units::short_bytes(x))
}

/// The row of the table under the cursor.
fn row(stage: &Stage) -> String {
    let results = results(stage);
    let data = results.data.as_ref().unwrap();
    let row = results.table.rows[results.table.cursor];
    data.results().get(row).map_or_else(|| data.shown.skipped[row - data.results().len()].cell.label(), |result| result.cell.label())
}

fn opened(stage: &Stage) -> String {
    let results = results(stage);
    results.open.map_or("-".into(), |open| results.data.as_ref().unwrap().results()[open.result].cell.label())
}

fn click(stage: &mut Stage, column: u16, row: u16) {
    let kind = MouseEventKind::Down(MouseButton::Left);
    stage.tell(Msg::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }));
}

/// Where a text is on the screen.
fn find(stage: &Stage, text: &str) -> (u16, u16) {
    let picture = stage.picture(100, 30);
    let place = picture.lines().enumerate().find_map(|(y, line)| {
        let at = line.find(text)?;
        Some((line[..at].chars().count() as u16, y as u16))
    });
    place.unwrap_or_else(|| panic!("no {text} in\n{picture}"))
}

#[test]
fn keys_move_the_cursors() {
    let from = "mmap warm 1m";
    for (keys, wanted) in [
        ("", from),
        ("<right>", "mmap warm 4m"),
        ("ll", "mmap warm 4m"),
        ("h", "mmap warm 256k"),
        ("g", "mmap warm 4k"),
        ("G", "mmap warm 4m"),
        ("k", "mmap cold 1m"),
        ("<up><up><up><up><up>", "read cold 1m"),
        ("kj", from),
        ("<pgup><pgdn>", from),
        // Another metric has the same cell under the cursor.
        ("khohi", "mmap cold 64k"),
    ] {
        let mut stage = stage();
        stage.keys(keys);
        assert_eq!(at(&stage), wanted, "{keys}");
    }
}

#[test]
fn metrics_have_a_key_each_and_latencies_a_logarithmic_axis() {
    for (key, metric, log) in [
        ("b", Metric::Throughput, false),
        ("o", Metric::Operations, false),
        ("n", Metric::SystemCalls, false),
        ("i", Metric::Latency, true),
        ("u", Metric::Cpu, false),
    ] {
        let mut stage = stage();
        stage.keys(key);
        assert_eq!(results(&stage).data.as_ref().unwrap().metric, metric);
        assert_eq!(results(&stage).log(metric), log, "{key}");
        stage.keys("L");
        assert_eq!(results(&stage).log(metric), !log, "{key}");
        // It stays so when one comes back.
        stage.keys("bioL").keys(key);
        assert_eq!(results(&stage).log(metric), if key == "o" { log } else { !log }, "{key}");
    }
}

#[test]
fn curves_are_switched_off_and_the_best_is_among_the_others() {
    let mut stage = stage();
    let best = |stage: &Stage| {
        stage.picture(100, 30).lines().find(|line| line.contains("best  ") && !line.contains("of best")).unwrap_or_default().to_string()
    };
    assert!(best(&stage).contains("mmap warm"), "{}", best(&stage));
    stage.keys("< >");
    assert!(best(&stage).contains("read warm"), "{}", best(&stage));
    assert!(stage.picture(100, 30).contains(" off "));
    stage.keys("k< >k< >k< >");
    assert!(stage.picture(100, 30).contains("every curve is off"));
    stage.keys("< >u");
    assert!(best(&stage).contains("read cold"), "off is off for every metric: {}", best(&stage));
}

#[test]
fn zoom_follows_the_cursor() {
    let mut stage = stage();
    for (keys, wanted) in [
        ("+", Some((3, 5))),
        ("+", Some((3, 5))),
        ("ggh", Some((0, 2))),
        ("lll", Some((1, 3))),
        ("-", Some((1, 5))),
        ("-", None),
        ("+0", None),
    ] {
        stage.keys(keys);
        assert_eq!(results(&stage).chart.zoom, wanted, "{keys}");
        stage.picture(80, 24);
    }
}

#[test]
fn chart_and_table_stand_on_the_same_cell() {
    let mut stage = stage();
    stage.keys("kh<tab>");
    assert_eq!(row(&stage), "mmap 256 KiB cold");
    stage.keys("jv");
    assert_eq!(at(&stage), "mmap cold 1m");
}

#[test]
fn the_table_sorts_by_any_column_and_keeps_its_row() {
    let mut stage = stage();
    stage.keys("v");
    let first = |stage: &mut Stage| {
        stage.keys("g");
        row(stage)
    };
    let own = row(&stage);
    // Backend, block, cache, throughput.
    stage.keys("SSS<right>");
    assert_eq!(row(&stage), own);
    assert_eq!(first(&mut stage), "mmap 1 MiB warm");
    stage.keys("< >");
    assert_eq!(first(&mut stage), "read 4 KiB cold", "reversed");
    stage.keys("G");
    assert!(row(&stage).starts_with("uring"), "what has no value is last: {}", row(&stage));
    stage.keys("< >G");
    assert!(row(&stage).starts_with("uring"), "in both directions: {}", row(&stage));
    stage.keys("hh");
    assert!(first(&mut stage).contains(" 4 KiB "), "by block");
    stage.keys("hh");
    assert_eq!(results(&stage).table.sort, None);
    assert_eq!(first(&mut stage), "read 4 KiB cold");
    stage.keys("h");
    assert!(results(&stage).table.sort.is_some(), "the last column comes before the first");
}

#[test]
fn the_filter_takes_words_in_any_order() {
    for (text, count) in
        [("", 26), ("mmap", 12), ("cold mm", 6), ("uring", 2), ("eperm", 2), ("failed", 1), ("holes", 1), ("64 kib", 4), ("nothing", 0)]
    {
        let mut stage = stage();
        stage.keys("/").keys(text).keys("<enter>");
        assert!(results(&stage).table.on && !results(&stage).table.typing);
        assert_eq!(results(&stage).table.rows.len(), count, "{text}");
        let picture = stage.picture(100, 30);
        assert!(count > 0 || picture.contains("no cell has all of these words"), "{picture}");
    }
    let mut stage = stage();
    stage.keys("/qq");
    assert_eq!(results(&stage).table.filter.value(), "qq", "letters are no commands here");
    stage.keys("<esc>");
    assert_eq!(results(&stage).table.rows.len(), 26);
    stage.keys("/cold<enter>q");
    assert_eq!(results(&stage).table.filter.value(), "", "q closes the filter first");
    assert_eq!(stage.take(), []);
    stage.keys("/cold").tell(Msg::Paste(" mmap".into()));
    assert_eq!(results(&stage).table.rows.len(), 6);
}

#[test]
fn a_cell_opens_and_leads_to_its_neighbours() {
    let mut stage = stage();
    stage.keys("<enter>");
    assert_eq!(opened(&stage), "mmap 1 MiB warm");
    stage.keys("lll");
    assert_eq!(opened(&stage), "mmap 1 MiB warm", "the last one failed and is no point of the curve");
    stage.keys("hh");
    assert_eq!(opened(&stage), "mmap 64 KiB warm");
    stage.keys("G");
    let most = results(&stage).open.unwrap().scroll;
    assert!(most > 0);
    stage.keys("jjjj");
    assert_eq!(results(&stage).open.unwrap().scroll, most, "it ends with the last line");
    stage.keys("k<pgup><pgup><pgup>");
    assert_eq!(results(&stage).open.unwrap().scroll, 0);
    stage.keys("q");
    assert_eq!((opened(&stage).as_str(), at(&stage).as_str()), ("-", "mmap warm 64k"));
    stage.keys("v<enter>j<esc>v");
    assert_eq!(opened(&stage), "-");
    assert_eq!(stage.take(), [], "nothing of that quits");
    stage.keys("q");
    assert_eq!(stage.take(), [Effect::Quit(0)]);
}

#[test]
fn an_opened_cell_tells_everything() {
    let mut stage = stage();
    stage.keys("v/not-cold<enter><enter>");
    let wide = stage.snapshot(160, 60);
    for text in [
        "read 64 KiB cold",
        "median",
        "stddev",
        "5 trials",
        "Trials",
        "round",
        "Where the bytes came from",
        "device 100 %",
        "counted",
        "p50 800 ns",
        "p99 3.00",
        "5000 operations timed",
        "not-cold: what was seen",
        "3 of 5 trials",
        "use more --trials",
        "user",
        "page faults",
    ] {
        assert!(wide.contains(text), "{text} in {wide}");
    }
    stage.keys("<esc>/failed<enter>");
    stage.keys("<esc>v").keys("v/failed<enter><enter>");
    let failed = stage.snapshot(100, 30);
    assert!(failed.contains("This cell failed") && failed.contains("pread(2): EIO at 4 KiB"), "{failed}");
}

#[test]
fn what_was_not_measured_is_said() {
    let mut stage = stage();
    let chart = stage.picture(100, 30);
    assert!(chart.contains("1 of 24 cells failed, 2 skipped (io_uring: EPERM): v lists them"), "{chart}");
    stage.keys("vG");
    let table = stage.picture(100, 30);
    for text in ["skipped: io_uring: EPERM", "failed: pread(2): EIO at 4 KiB", "26 cells, 1 failed, 2 skipped"] {
        assert!(table.contains(text), "{text} in {table}");
    }
    stage.keys("<enter>");
    assert_eq!(opened(&stage), "-");
    assert!(stage.model.toasts.iter().any(|toast| toast.text.contains("EPERM")));
}

#[test]
fn points_carry_the_sign_of_their_worst_warning() {
    let stage = stage();
    let picture = stage.picture(100, 30);
    // The chart ends above the legend, whose title names the place.
    let chart: String = picture.lines().skip(2).take_while(|line| !line.contains("At 1 MiB")).collect();
    assert_eq!((chart.matches('!').count(), chart.matches('✖').count()), (1, 1), "{picture}");
    let mut stage = stage;
    stage.keys("g");
    let data = results(&stage).data.as_ref().unwrap();
    assert_eq!(data.curves[0].points[2].worst, Some(crate::record::Severity::Misleading));
    stage.keys("ll");
    assert!(stage.picture(100, 30).lines().any(|line| line.contains("read cold") && line.contains("▲ not-cold")));
}

#[test]
fn without_an_axis_there_are_bars() {
    let mut session = testing::session();
    let cells = [0usize, 6, 12, 18];
    let kept: Vec<_> = cells.iter().map(|cell| (session.plan.cells[*cell].clone(), session.verdicts[*cell].clone())).collect();
    let trials = session.trials.clone();
    let mut plan = session.plan.clone();
    plan.cells = kept.iter().map(|(cell, _)| cell.clone()).collect();
    session = Session::new(session.id, session.name, session.created, session.host, plan);
    for (new, old) in cells.iter().enumerate() {
        let own = trials.iter().filter(|trial| trial.cell as usize == *old);
        session.trials.extend(own.map(|trial| crate::record::Trial { cell: new as u32, ..(**trial).clone() }.into()));
        session.verdicts[new] = kept[new].1.clone();
    }
    let mut stage = stage_of(Shown::of(session, None));
    assert!(!results(&stage).data.as_ref().unwrap().is_curve());
    let picture = stage.picture(100, 30);
    assert!(picture.contains("███") && picture.contains("Cells"), "{picture}");
    stage.keys("gj+-hl< >");
    assert!(stage.picture(100, 30).contains("off"));
    stage.keys("k<enter>");
    assert_eq!(opened(&stage), "read 4 KiB cold");
}

#[test]
fn the_session_is_named_run_again_marked_and_copied() {
    let mut stage = stage();
    let id = "20261121-093011-ubuntu-iso".to_string();
    assert_eq!(stage.keys("r").take(), [Effect::Again(id.clone())]);
    let answer = results(&stage).shown().unwrap().answer.text.clone();
    assert!(!answer.is_empty());
    assert_eq!(stage.keys("y").take(), [Effect::Copy(answer)]);
    stage.keys("<enter>y");
    let copied = stage.take();
    assert!(
        matches!(&copied[..], [Effect::Copy(text)] if text.starts_with("mmap 1 MiB warm: ") && text.contains("from cache 100 %")),
        "{copied:?}"
    );
    stage.keys("m");
    assert_eq!(stage.model.sessions.marks, [id.clone()]);
    stage.keys("m");
    assert_eq!(stage.model.sessions.marks, [""; 0]);
    stage.keys("w");
    assert!(matches!(stage.model.popups.last(), Some(Popup::Line { purpose: Purpose::Rename { .. }, .. })));
    assert_eq!(stage.keys("-2<enter>").take(), [Effect::Rename { id, name: "first-2".into() }]);
    assert_eq!(results(&stage).shown().unwrap().name(), "first-2");
    let mut nowhere = stage_of(Shown { path: None, ..testing::shown() });
    nowhere.keys("wm");
    assert!(nowhere.model.popups.is_empty() && nowhere.model.sessions.marks.is_empty());
}

#[test]
fn another_session_is_shown_the_same_way() {
    let mut stage = stage();
    stage.keys("oa");
    stage.tell(Msg::Opened(Ok(Box::new(testing::shown()))));
    let results = results(&stage);
    assert!(results.chart.mean);
    assert_eq!(results.data.as_ref().unwrap().metric, Metric::Operations);
}

#[test]
fn the_mouse_selects_switches_and_sorts() {
    let mut stage = stage();
    let (x, y) = find(&stage, "16 KiB");
    click(&mut stage, x + 3, y - 3);
    assert_eq!(at(&stage), "mmap warm 16k");
    let (x, y) = find(&stage, "●  read cold");
    click(&mut stage, x + 5, y);
    assert_eq!(at(&stage), "read cold 16k");
    click(&mut stage, x + 5, y);
    assert!(results(&stage).is_off(results(&stage).curve().unwrap()), "a second click switches");
    click(&mut stage, x, y);
    assert!(!results(&stage).is_off(results(&stage).curve().unwrap()));
    let (x, y) = find(&stage, "Operations");
    click(&mut stage, x, y);
    assert_eq!(results(&stage).data.as_ref().unwrap().metric, Metric::Operations);
    stage.keys("v");
    let (x, y) = find(&stage, "throughput");
    click(&mut stage, x, y);
    assert_eq!(results(&stage).table.sort.map(|(_, reversed)| reversed), Some(true));
    click(&mut stage, x, y + 1);
    assert_eq!(results(&stage).table.sort.map(|(_, reversed)| reversed), Some(false));
    click(&mut stage, x, y + 5);
    assert_eq!(results(&stage).table.cursor, 3);
    click(&mut stage, x, y + 5);
    assert_ne!(opened(&stage), "-");
}

#[test]
fn nothing_measured_is_no_trouble() {
    let mut empty = Stage::new();
    empty.keys("3jklh v/<enter>+L");
    assert!(empty.picture(80, 24).contains("nothing was measured yet"));
    let session = Session::new("x".into(), String::new(), "2026-11-21T09:30:11Z".into(), Default::default(), testing::plan());
    let mut stage = stage_of(Shown::of(session, None));
    let picture = stage.picture(100, 30);
    assert!(picture.contains("nothing was measured") && picture.contains("24 skipped"), "{picture}");
    stage.keys("jklhg< >+-0La<enter>bonius");
    assert_eq!(opened(&stage), "-");
    stage.keys("vG");
    assert!(row(&stage).starts_with("mmap"), "{}", row(&stage));
}

#[test]
fn every_picture_fits_every_terminal() {
    for look in [Look::default(), Look { glyphs: Glyphs::Ascii, ..Look::default() }, Look { colours: Colours::None, ..Look::default() }] {
        for keys in ["", "ooaL+", "v", "vSS/mmap", "<enter>", "<enter>G", "< >kk< >"] {
            let mut stage = stage();
            stage.model.look = look;
            stage.keys(keys);
            for size in [(60, 16), (61, 17), (80, 24), (113, 30), (150, 30), (149, 29), (200, 60), (20, 5)] {
                stage.tell(Msg::Resize(size.0, size.1));
                let picture = stage.picture(size.0, size.1);
                // The header cuts a path in its own way.
                let body = picture.split_once('\n').map_or("", |(_, body)| body);
                assert!(look.glyphs == Glyphs::Unicode || body.is_ascii(), "{keys} {size:?}\n{picture}");
                assert!(size.0 < 60 || picture.contains('3'), "{keys} {size:?}");
            }
        }
    }
}

#[test]
fn pictures() {
    for (name, keys, size) in
        [("chart_80", "", (80, 24)), ("chart_120", "a", (120, 40)), ("table_80", "vSSSS", (80, 24)), ("cell_120", "<enter>", (120, 40))]
    {
        let mut stage = stage();
        stage.tell(Msg::Resize(size.0, size.1)).keys(keys);
        insta::assert_snapshot!(name, stage.picture(size.0, size.1));
    }
}

/// Run by hand, optimised: `cargo test --release --lib results::tests::many -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn many() {
    let mut session = testing::session();
    session.plan.cells.clear();
    for block in 1..=1250u64 {
        for backend in ["read", "mmap", "pread", "uring"] {
            session.plan.cells.extend([Cache::Cold, Cache::Warm].map(|cache| sessions::job(backend, block * 4096, cache)));
        }
    }
    let cells = session.plan.cells.len();
    session.verdicts = (0..cells).map(|cell| Some(testing::verdict(Cache::Cold, cell as u32 % 24))).collect();
    session.errors = vec![None; cells];
    session.trials = (1..=5)
        .flat_map(|round| (0..cells as u32).map(move |cell| (cell, round)))
        .map(|(cell, round)| testing::trial(&session.plan, cell, round).into())
        .collect();
    let start = std::time::Instant::now();
    let shown = Shown::of(session, None);
    println!("{cells} cells: results and answer {:?}", start.elapsed());
    let start = std::time::Instant::now();
    let mut stage = stage_of(shown);
    println!("shown {:?}", start.elapsed());
    for keys in ["", "l", "o", "i", "a", "v", "SSSS", "/mmap", "<enter>", "<enter>"] {
        for size in [(80, 24), (200, 60)] {
            stage.tell(Msg::Resize(size.0, size.1));
            let start = std::time::Instant::now();
            if size.0 == 80 {
                stage.keys(keys);
            }
            let update = start.elapsed();
            let start = std::time::Instant::now();
            stage.drawn(size.0, size.1);
            println!("{keys:8} {size:?} update {update:?} draw {:?}", start.elapsed());
        }
    }
}
