mod cell;
mod experiments;
mod glance;
mod mouse;
mod pictures;
mod table;
mod trust;

use super::state::{Results, TabKind};
use crate::curves::Metric;
use crate::msg::{Effect, Msg, Query};
use crate::plan::{Cache, Skipped};
use crate::popup::{Popup, Purpose, TextLine};
use crate::record::{Severity, Warning};
use crate::report::Spread;
use crate::screen::Screen;
use crate::session::testing as sessions;
use crate::session_view::SessionView;
use crate::testing::{self, Stage};
use crate::theme::Look;
use crate::units::Rates;

fn stage_of(shown: SessionView) -> Stage {
    let mut stage = Stage::new();
    stage.tell(Msg::Resize(100, 30)).tell(Msg::Opened(Ok(Box::new(shown))));
    stage.take();
    assert_eq!(stage.model.screen, Screen::Results);
    // Most tests are about the charts.
    stage.model.results.kind = TabKind::Chart;
    stage
}

/// `read` and `mmap`, cold and warm, 4 KiB to 4 MiB; the last cell failed, and two were skipped.
fn stage() -> Stage {
    let mut shown = testing::shown();
    let skip = |block, reason: &str| Skipped {
        cell: sessions::job("uring", block, Cache::Warm),
        reason: reason.into(),
    };
    shown.skipped = vec![skip(4096, "io_uring: EPERM"), skip(8192, "io_uring: EPERM")];
    stage_of(shown)
}

fn results(stage: &Stage) -> &Results {
    &stage.model.results
}

/// Curve and place under the cursor.
fn cell_under_cursor(stage: &Stage) -> String {
    let results = results(stage);
    let x = results.x().map_or(0, |x| x as u64);
    format!(
        "{} {}",
        results.curve().map_or("-", |curve| curve.name.as_str()),
        crate::units::short_bytes(x)
    )
}

/// The row of the table under the cursor.
fn row(stage: &Stage) -> String {
    let results = results(stage);
    let data = results.data.as_ref().unwrap();
    let row = results.table.rows[results.table.cursor];
    data.results().get(row).map_or_else(
        || data.view.skipped[row - data.results().len()].cell.label(),
        |result| result.cell.label(),
    )
}

fn opened(stage: &Stage) -> String {
    let results = results(stage);
    results.open.map_or("-".into(), |open| {
        results.data.as_ref().unwrap().results()[open.result].cell.label()
    })
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
        assert_eq!(cell_under_cursor(&stage), wanted, "{keys}");
    }
}

#[test]
fn keys_plot_metrics() {
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
        assert_eq!(results(&stage).is_log(metric), log, "{key}");
        stage.keys("L");
        assert_eq!(results(&stage).is_log(metric), !log, "{key}");
        // It stays so when one comes back.
        stage.keys("bioL").keys(key);
        assert_eq!(results(&stage).is_log(metric), if key == "o" { log } else { !log }, "{key}");
    }
}

/// The stage's session with what its machine and disk reach.
fn bounded() -> Stage {
    let mut session = testing::session();
    let mut grounds = crate::record::Grounds::default();
    grounds.machine.ceilings = Some(testing::ceilings());
    session.grounds = Some(grounds);
    session.plan.rated = Some(1 << 30);
    stage_of(SessionView::new(session, None))
}

#[test]
fn estimates_are_dotted_and_hidable() {
    let mut stage = bounded();
    let picture = stage.picture(160, 45);
    for name in [
        "estimate: call and copy",
        "estimate: memory",
        "estimate: rated speed",
        "rated",
        "copy, 1 thread",
    ] {
        assert!(picture.contains(name), "{name}\n{picture}");
    }
    let rows = results(&stage).data.as_ref().unwrap().legend_rows();
    stage.keys(&"j".repeat(rows));
    assert_eq!(results(&stage).chart.series, rows - 1);
    let picture = stage.picture(160, 45);
    assert!(
        picture.contains("Computed before the run, from the disk's rated 1.00 GiB/s"),
        "{picture}"
    );
    // There is nothing to open, and nothing to lose.
    assert_eq!(results(&stage).under_cursor(), None);
    stage.keys("<enter>");
    assert_eq!(opened(&stage), "-");
    fn chart(stage: &Stage) -> Vec<String> {
        stage.picture(160, 45).lines().map(|line| line.chars().take(86).collect()).collect()
    }
    let before = chart(&stage);
    stage.keys("< >");
    assert_eq!(
        results(&stage).chart.hidden_estimates.iter().collect::<Vec<_>>(),
        ["estimate: rated speed"]
    );
    let without = chart(&stage);
    assert_ne!(without, before, "its line is gone");
    stage.keys("< >");
    assert_eq!(chart(&stage), before);
    // Only bytes per second are estimated.
    stage.keys("o");
    assert!(!stage.picture(160, 45).contains("estimate"));
}

#[test]
fn hidden_curves_are_never_the_best() {
    let mut stage = stage();
    fn best(stage: &Stage) -> String {
        stage
            .picture(100, 30)
            .lines()
            .find(|line| line.contains("best  ") && !line.contains("of best"))
            .unwrap_or_default()
            .to_string()
    }
    assert!(best(&stage).contains("mmap warm"), "{}", best(&stage));
    stage.keys("< >");
    assert!(best(&stage).contains("read warm"), "{}", best(&stage));
    assert!(stage.picture(100, 30).contains(" off "));
    stage.keys("k< >k< >k< >");
    assert!(stage.picture(100, 30).contains("all curves are hidden"));
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
        ("-", Some((0, 4))),
        ("-", None),
        ("+0", None),
    ] {
        stage.keys(keys);
        assert_eq!(results(&stage).chart.zoom, wanted, "{keys}");
        let picture = stage.picture(200, 30);
        let offered = picture.lines().last().unwrap_or_default().contains("0 all");
        assert_eq!(offered, wanted.is_some(), "{keys}: {picture}");
    }
}

#[test]
fn chart_and_table_share_the_cursor() {
    let mut stage = stage();
    stage.keys("khv");
    assert_eq!(row(&stage), "mmap 256 KiB cold");
    stage.keys("jv");
    assert_eq!(cell_under_cursor(&stage), "mmap cold 1m");
}

#[test]
fn points_have_their_worst_warning_sign() {
    let stage = stage();
    let picture = stage.picture(100, 30);
    // The chart ends above the legend, whose title names the place.
    let chart: String =
        picture.lines().skip(2).take_while(|line| !line.contains("At 1 MiB")).collect();
    assert_eq!((chart.matches('!').count(), chart.matches('×').count()), (1, 1), "{picture}");
    let mut stage = stage;
    stage.keys("g");
    let data = results(&stage).data.as_ref().unwrap();
    assert_eq!(data.curves[0].points[2].worst, Some(Severity::Misleading));
    stage.keys("ll");
    assert!(
        stage
            .picture(100, 30)
            .lines()
            .any(|line| line.contains("read cold") && line.contains("! not cold"))
    );
}

#[test]
fn shared_warnings_are_shown_once() {
    let mut shown = testing::shown();
    for (at, result) in shown.results.iter_mut().enumerate() {
        fn warning(id: &'static str) -> Warning {
            Warning {
                id: id.into(),
                severity: Severity::Misleading,
                message: String::new(),
                evidence: String::new(),
                remedy: "".into(),
            }
        }
        result.warnings = vec![warning(if at % 2 == 0 { "few" } else { "wide" })];
        result.warnings.extend((at == 1).then(|| warning("disturbed")));
    }
    let picture = stage_of(shown).picture(100, 30);
    let chart: String = picture.lines().skip(2).take_while(|line| !line.contains("At ")).collect();
    assert_eq!(chart.matches('!').count(), 1, "{picture}");
    assert!(picture.contains("! 12: wide interval · others used the disk"), "{picture}");
}

#[test]
fn the_axis_of_throughput_is_remembered() {
    let mut stage = stage();
    let effects = stage.keys("L").take();
    assert!(matches!(&effects[..], [Effect::Remember(kept)] if kept.log_y), "{effects:?}");
    assert!(stage.keys("iL").take().is_empty());
    let results = Results::with_axes(vec![Metric::Throughput], Rates::default());
    assert!(results.is_log(Metric::Throughput) && !results.is_log(Metric::Operations));
}

#[test]
fn requested_unit_and_scale_apply_everywhere() {
    let look = Look { unit: "MB/s".parse().unwrap(), scale: Spread::Log, ..Look::default() };
    let mut stage = Stage::looking(look);
    stage.tell(Msg::Resize(120, 40)).tell(Msg::Opened(Ok(Box::new(testing::shown()))));
    for (screen, keys) in [("chart", ""), ("table", "v"), ("cell", "<enter>")] {
        let picture = stage.keys(keys).picture(120, 40);
        // The sentences choose their own.
        let figures: String = picture
            .lines()
            .take_while(|line| !line.contains("─ Answer"))
            .filter(|line| !line.starts_with("│ ·"))
            .collect();
        assert!(figures.contains("MB/s") && !figures.contains("iB/s"), "{screen}\n{picture}");
    }
    assert!(results(&stage).is_log(Metric::Operations) && results(&stage).is_log(Metric::Latency));
    let linear = Stage::looking(Look { scale: Spread::Linear, ..look });
    assert!(Metric::ALL.iter().all(|metric| !results(&linear).is_log(*metric)));
    // A scale set by an option is not remembered as set by a key.
    assert!(
        stage.take().iter().all(|effect| !matches!(effect, Effect::Remember(kept) if kept.log_y))
    );
}

#[test]
fn references_can_only_be_compared() {
    let reference = crate::session::reference("macbook-2017").unwrap().session().clone();
    let mut stage = stage_of(SessionView::new(reference, None));
    for keys in ["r", "P", "w"] {
        stage.model.toasts = Default::default();
        assert_eq!(stage.keys(keys).take(), [], "{keys}");
        let picture = stage.picture(80, 24);
        assert!(picture.contains("a reference") && stage.model.popups.is_empty(), "{picture}");
    }
    stage.model.toasts = Default::default();
    let picture = stage.picture(200, 24);
    let footer = picture.lines().last().unwrap();
    for offer in ["run again", "replay", "name"] {
        assert!(!footer.contains(offer), "{offer}: {footer}");
    }
    stage.keys("m");
    assert_eq!(stage.model.sessions.marks, ["macbook-2017"]);
}

#[test]
fn sessions_are_named_rerun_and_marked() {
    let mut stage = stage();
    let id = "20261121-093011-ubuntu-iso".to_string();
    assert_eq!(stage.keys("r").take(), [Effect::Ask(Query::Again(id.clone()))]);
    stage.keys("m");
    assert_eq!(stage.model.sessions.marks, std::slice::from_ref(&id));
    stage.keys("m");
    assert_eq!(stage.model.sessions.marks, [""; 0]);
    stage.keys("w");
    assert!(matches!(
        stage.model.popups.last(),
        Some(Popup::Line(TextLine { purpose: Purpose::Rename { .. }, .. }))
    ));
    let rename = Effect::Ask(Query::Rename { id: id.clone(), name: "first-2".into() });
    assert_eq!(stage.keys("-2<enter>").take(), [rename]);
    stage.tell(Msg::Failed("the disk is full".into()));
    assert_eq!(results(&stage).view().unwrap().name(), "first", "only what was stored is shown");
    stage.tell(Msg::Renamed { id, name: "first-3".into(), text: "named first-3".into() });
    assert_eq!(results(&stage).view().unwrap().name(), "first-3");
    assert_eq!(stage.take(), [Effect::Ask(Query::Sessions)]);
    let mut nowhere = stage_of(SessionView { path: None, ..testing::shown() });
    nowhere.keys("wm");
    assert!(nowhere.model.popups.is_empty() && nowhere.model.sessions.marks.is_empty());
}

#[test]
fn another_session_keeps_the_tab() {
    let mut stage = stage();
    stage.keys("oa");
    stage.tell(Msg::Opened(Ok(Box::new(testing::shown()))));
    let results = results(&stage);
    assert!(results.chart.mean);
    assert_eq!(results.data.as_ref().unwrap().metric, Metric::Operations);
}

#[test]
fn results_and_tables_are_copied() {
    fn copied(stage: &mut Stage) -> String {
        match stage.keys("y").take().pop() {
            Some(Effect::Copy(text)) => text,
            other => panic!("{other:?}"),
        }
    }
    let mut stage = stage();
    let line = copied(&mut stage);
    assert!(
        line.starts_with("mmap 1 MiB warm: 21.8 GiB/s (21.3 GiB/s to 22.2 GiB/s, ")
            && line.contains("95 % of 5 trials")
            && line.contains("p50 800 ns"),
        "{line}"
    );
    assert!(
        line.contains("from cache 100 %")
            && line.contains("/data/file of 1 GiB")
            && line.contains("2026-11-21 09:30 UTC"),
        "{line}"
    );
    assert_eq!(line.lines().count(), 1);
    // An opened cell, what it is warned of, and what failed.
    stage.keys("kg<enter>");
    assert!(copied(&mut stage).starts_with("mmap 4 KiB cold: "), "{}", copied(&mut stage));
    stage.keys("<esc>kkll");
    assert!(
        copied(&mut stage).contains("[misleading: not-cold: what was seen]"),
        "{}",
        copied(&mut stage)
    );
    stage.keys("v");
    let table = copied(&mut stage);
    assert!(
        table.lines().count() > 24 && table.contains("read ") && table.starts_with("Fastest: "),
        "{table}"
    );
    stage.keys("/failed<enter><enter>");
    let failed = copied(&mut stage);
    assert!(failed.starts_with("mmap 4 MiB warm: failed: pread(2): EIO at 4 KiB; "), "{failed}");
}

#[test]
fn failed_cells_leave_a_gap() {
    let mut shown = testing::shown();
    shown.session.trials.retain(|trial| trial.cell != 21);
    (shown.session.errors[21], shown.session.verdicts[21]) = (Some("EIO".into()), None);
    let mut stage = stage_of(SessionView::new(shown.session, None));
    fn data(stage: &Stage) -> (Vec<f64>, Vec<bool>) {
        let data = results(stage).data.as_ref().unwrap();
        let (curve, drawn) = data
            .curves
            .iter()
            .zip(&data.points)
            .find(|(curve, _)| curve.name == "mmap warm")
            .unwrap();
        (curve.gaps.clone(), drawn.medians.iter().map(|point| point.y.is_nan()).collect::<Vec<_>>())
    }
    assert_eq!(
        data(&stage),
        (vec![262_144.0, 4_194_304.0], vec![false, false, false, true, false, true])
    );
    stage.keys("i");
    assert_eq!(data(&stage).0.len(), 2);
}

#[test]
fn few_requested_trials_have_columns() {
    fn titles(trials: Option<u32>) -> (Vec<String>, Vec<String>) {
        let mut session = testing::session();
        session.plan.trials = trials;
        let sheet = super::sheet::Sheet::new(&SessionView::new(session, None), Rates::default());
        let all = |fit: Vec<usize>| {
            fit.into_iter().map(|at| sheet.columns[at].title.clone()).collect::<Vec<String>>()
        };
        (all(sheet.fit(1000)), all(sheet.fit(100)))
    }
    fn runs(titles: &[String]) -> usize {
        titles
            .iter()
            .filter(|title| ["1st", "2nd", "3rd", "4th", "mean"].contains(&title.as_str()))
            .count()
    }
    let (wide, narrow) = titles(Some(4));
    assert!(runs(&wide) >= 3 && wide.contains(&"mean".into()), "{wide:?}");
    assert_eq!(runs(&narrow), 0, "{narrow:?}");
    assert_eq!([None, Some(1), Some(7)].map(|trials| runs(&titles(trials).0)), [0; 3]);
}
