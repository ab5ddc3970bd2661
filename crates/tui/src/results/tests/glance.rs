use super::{opened, results, stage};
use crate::curves::Metric;
use crate::msg::{Effect, Msg, Query};
use crate::plan::{Cache, Choice, Job, Op, Pattern, Plan, TargetSpec};
use crate::popup::Popup;
use crate::record::{Latency, Source, Verdict};
use crate::report::Graph;
use crate::results::state::Tab;
use crate::session::Session;
use crate::session_view::SessionView;
use crate::testing::{self, Stage};
use crate::theme::{Colours, Glyphs, Look};

/// On the tab that is shown first.
fn glance_of(shown: SessionView) -> Stage {
    let mut stage = Stage::new();
    stage.tell(Msg::Resize(100, 30)).tell(Msg::Opened(Ok(Box::new(shown))));
    stage.take();
    stage
}

/// The eight rows of the preset `peak`, of two backends.
fn peak() -> Session {
    let mut cells = Vec::new();
    for op in [Op::Read, Op::Write] {
        for (pattern, block, depth, threads) in [
            (Pattern::Seq, 1 << 20, 8, 1),
            (Pattern::Seq, 128 << 10, 32, 1),
            (Pattern::Random, 4 << 10, 32, 16),
            (Pattern::Random, 4 << 10, 1, 1),
        ] {
            for backend in ["uring", "aio"] {
                let plain = Job::plain(Choice::plain(backend), op);
                cells.push(Job { pattern, block, depth, threads, direct: true, ..plain });
            }
        }
    }
    let target = TargetSpec::Scratch { dir: "/data".into(), size: 512 << 20, keep: false };
    let plan = Plan { presets: vec!["peak".into()], cells, ..Plan::plain("sweep", target) };
    let created = "2026-11-21T09:30:11Z".into();
    let id = "20261121-093011-scratch".into();
    let mut session = Session::new(id, String::new(), created, testing::host(), plan);
    let rates = [2.6e9, 2.4e9, 0.98e9, 0.045e9, 4.4e9, 3.7e9, 0.6e9, 0.018e9];
    for cell in 0..session.plan.cells.len() as u32 {
        let job = session.plan.cells[cell as usize].clone();
        let rate = rates[cell as usize / 2] * if cell % 2 == 0 { 1.0 } else { 0.9 };
        for round in 1..=5 {
            let nanos = 1_000_000_000 + u64::from((round * 7 + cell * 3) % 5) * 4_000_000;
            let bytes = rate as u64 / job.block * job.block;
            session.trials.push(
                crate::record::Trial {
                    cell,
                    round,
                    bytes,
                    ops: bytes / job.block,
                    syscalls: 1.into(),
                    nanos,
                    device_bytes: Some(bytes),
                    ..Default::default()
                }
                .into(),
            );
        }
        let p50 = Some(1e9 * job.block as f64 * f64::from(job.depth * job.threads) / rate);
        let latency = Latency { p50, count: 5000, every: 1, ..Latency::default() };
        let source = Source { device: 1.0, page_cache: 0.0, hole: 0.0, unknown: 0.0, below: 0.0 };
        session.verdicts[cell as usize] = Some(
            Verdict { source: Some(source), latency: Some(latency), ..Verdict::default() }.into(),
        );
    }
    session.end = Some(crate::record::End::Goal);
    session
}

#[test]
fn sessions_open_at_a_glance() {
    let stage = glance_of(testing::shown());
    assert_eq!(results(&stage).tab(), Some(Tab::Glance));
    let picture = stage.picture(80, 24);
    for text in ["from the device", "from memory", "GiB/s", "mmap", "5 trials of each"] {
        assert!(picture.contains(text), "{text}\n{picture}");
    }
}

#[test]
fn tab_walks_through_the_tabs() {
    let mut stage = glance_of(testing::shown());
    let mut seen = Vec::new();
    for _ in 0..7 {
        stage.keys("<tab>");
        seen.extend(results(&stage).tab());
    }
    // Nothing was committed.
    let plots = Metric::ALL.iter().filter(|metric| **metric != Metric::Commits);
    let plots = plots.map(|metric| Tab::Plot(*metric));
    let all: Vec<Tab> = plots.chain([Tab::Table, Tab::Glance]).collect();
    assert_eq!(seen, all);
    stage.keys("[");
    assert_eq!(results(&stage).tab(), Some(Tab::Table));
    stage.keys("]]]");
    assert_eq!(results(&stage).tab(), Some(Tab::Plot(Metric::Operations)));
    stage.keys("v");
    assert_eq!(results(&stage).tab(), Some(Tab::Table));
    stage.keys("v");
    assert_eq!(results(&stage).tab(), Some(Tab::Plot(Metric::Operations)));
    stage.keys("A");
    assert_eq!(results(&stage).tab(), Some(Tab::Glance));
    stage.keys("<enter>");
    assert_eq!(opened(&stage), "mmap 1 MiB warm", "the best cell");
    stage.keys("<esc>");
    assert_eq!(results(&stage).tab(), Some(Tab::Glance));
    // Wherever the cursors of the chart and the table were.
    stage.keys("bggkkkA<enter>");
    assert_eq!(opened(&stage), "mmap 1 MiB warm");
    stage.keys("<esc>vGA<enter>");
    assert_eq!(opened(&stage), "mmap 1 MiB warm");
    stage.keys("<esc>");
    stage.keys("/mm");
    assert!(results(&stage).table.typing && results(&stage).tab() == Some(Tab::Table));
}

#[test]
fn glance_is_copied_and_exported() {
    let mut stage = glance_of(testing::shown());
    stage.keys("y");
    let effects = stage.take();
    let [Effect::Copy(text)] = effects.as_slice() else { panic!("{effects:?}") };
    for said in ["read from memory", "every byte accounted for", "mmap"] {
        assert!(text.contains(said), "{said}\n{text}");
    }
    stage.keys("e");
    let Some(Popup::Export(form)) = stage.model.popups.last() else { panic!("no form") };
    assert_eq!(form.choices[form.cursor].id, "card");
    assert!(form.path.value().ends_with(".png"), "{}", form.path.value());
}

#[test]
fn header_names_the_session() {
    let stage = glance_of(SessionView::new(peak(), None));
    let picture = stage.picture(120, 40);
    let header = picture.lines().next().unwrap();
    assert!(header.contains("scratch file") && !header.contains("ubuntu"), "{header}");
}

#[test]
fn scoreboard_rows_are_measured_again() {
    let mut session = peak();
    session.seconds = Some(40.0);
    let path = Some("/s/peak.jsonl".into());
    let mut stage = glance_of(SessionView::new(session, path));
    assert_eq!(results(&stage).board, None, "no mark before a key asks for it");
    // The first key shows the cursor; then the second row, written.
    stage.keys("jjl");
    assert_eq!(results(&stage).board, Some((1, 1)));
    assert!(stage.picture(120, 40).contains("► "), "{}", stage.picture(120, 40));
    stage.keys("<enter>");
    let open = results(&stage).open.unwrap().result;
    let job = results(&stage).data.as_ref().unwrap().results()[open].cell.clone();
    assert_eq!((job.op, job.block), (Op::Write, 128 << 10));
    stage.keys("R");
    let picture = stage.picture(100, 30);
    assert!(picture.contains("5 more trials of this cell alone"), "{picture}");
    stage.take();
    stage.keys("<enter>");
    let effects = stage.take();
    let [Effect::Ask(Query::Refine(request))] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!((request.cell, request.settings.trials), (Some(10), Some(5)));
    // Of all cells where none is opened.
    stage.keys("<esc>R");
    assert!(!stage.picture(100, 30).contains("this cell alone"));
}

#[test]
fn pictures_at_a_glance() {
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let mut stage = glance_of(testing::shown());
        insta::assert_snapshot!(format!("glance_{width}"), stage.snapshot(width, height));
        let mut stage = glance_of(SessionView::new(peak(), None));
        insta::assert_snapshot!(format!("glance_peak_{width}"), stage.snapshot(width, height));
    }
    for (name, look) in [
        ("plain", Look { colours: Colours::None, ..Look::default() }),
        ("ascii", Look { glyphs: Glyphs::Ascii, ..Look::default() }),
    ] {
        for (what, session) in [("", testing::session()), ("_peak", peak())] {
            let mut stage = Stage::looking(look);
            stage.tell(Msg::Opened(Ok(Box::new(SessionView::new(session, None)))));
            insta::assert_snapshot!(format!("glance{what}_{name}"), stage.snapshot(80, 24));
        }
    }
}

#[test]
fn plain_digits_leave_no_empty_rows() {
    let plain_bars = Look { graph: Graph::Ascii, ..Look::default() };
    let plain = Look { glyphs: Glyphs::Ascii, ..Look::default() };
    // The row below the digits has what they are of.
    let rows = [plain_bars, plain].map(|look| {
        let mut stage = Stage::looking(look);
        stage.tell(Msg::Opened(Ok(Box::new(testing::shown()))));
        let picture = stage.picture(200, 60);
        let row = |of: &str| picture.lines().position(|line| line.contains(of));
        (row("|_|").unwrap(), row("mmap, 1 MiB").unwrap())
    });
    assert_eq!(rows[0], rows[1]);
}

#[test]
fn every_reference_fits_every_size() {
    for reference in crate::session::references() {
        let view = SessionView::new(reference.session().clone(), None);
        let stage = glance_of(view);
        for (width, height) in [(0, 0), (1, 1), (20, 6), (80, 24), (131, 33), (250, 70)] {
            stage.picture(width, height);
        }
        let is_here = stage.model.screen == crate::screen::Screen::Results;
        let picture = stage.picture(80, 24);
        assert!(!is_here || picture.contains("published report"), "{picture}");
    }
}

#[test]
fn skipped_cells_share_a_row() {
    let mut stage = stage();
    stage.keys("vG");
    let picture = stage.picture(100, 30);
    assert!(picture.contains("2 cells skipped: io_uring: EPERM"), "{picture}");
    assert_eq!(picture.matches("EPERM").count(), 1, "{picture}");
    assert!(picture.contains("26 cells"), "all are counted: {picture}");
}

#[test]
fn legend_rows_have_values() {
    let mut stage = Stage::new();
    stage
        .tell(Msg::Resize(100, 30))
        .tell(Msg::Opened(Ok(Box::new(SessionView::new(peak(), None)))));
    stage.keys("b");
    let listed = results(&stage).listed();
    assert!(listed.len() < 16, "{listed:?}");
    let picture = stage.picture(120, 40);
    assert!(picture.contains("curves have no point here"), "{picture}");
    // Every row that is shown can be reached.
    for step in 0..20 {
        stage.keys(if step % 2 == 0 { "j" } else { "l" });
        assert!(results(&stage).listed().contains(&results(&stage).chart.series));
    }
}

#[test]
fn lines_break_at_skipped_cells() {
    let mut shown = testing::shown();
    let kept = |cell: &Job| !(cell.backend.id == "read" && cell.block == 64 << 10);
    let skipped = shown.results.iter().filter(|result| !kept(&result.cell));
    let skip =
        |cell: &Job| crate::plan::Skipped { cell: cell.clone(), reason: "the budget ended".into() };
    shown.skipped = skipped.map(|result| skip(&result.cell)).collect();
    shown.results.retain(|result| kept(&result.cell));
    let curves = crate::curves::curves(
        &shown.session.plan.cells,
        &shown.results,
        &shown.skipped,
        crate::analysis::Axis::Block,
        Metric::Throughput,
        false,
    );
    let warm = curves.iter().find(|curve| curve.name == "read warm").unwrap();
    assert_eq!((warm.cache, warm.gaps.as_slice()), (Cache::Warm, &[65536.0][..]));
    let drawn = crate::curves::chart_points(warm);
    let at = drawn.iter().position(|point| point.x == 65536.0).unwrap();
    assert!(drawn[at].y.is_nan(), "a gap");
}

#[test]
fn hidden_curves_name_only_bound_keys() {
    let mut stage = stage();
    stage.keys("< >k< >k< >k< >");
    assert!(stage.picture(200, 60).contains("all curves are hidden: space"));
    stage.keys("A");
    let picture = stage.picture(200, 60);
    assert!(picture.contains("all curves are hidden") && !picture.contains("space"), "{picture}");
}

#[test]
fn expectations_are_shown_with_their_outcome() {
    let mut session = testing::session();
    let expect =
        |text: &str| crate::plan::Expectation { by: None, conditions: vec![text.parse().unwrap()] };
    // Some of its cells failed, or have warnings.
    session.plan.expect = vec![expect(">=1"), expect(">=1000GB/s")];
    let stage = glance_of(SessionView::new(session, None));
    let picture = stage.picture(120, 40);
    let line = picture.lines().find(|line| line.contains("expected >=1: cannot tell: "));
    assert!(line.is_some_and(|line| line.contains("!")), "{picture}");
    // The large word above says how the gravest one ended, once.
    assert!(picture.contains("Does every figure meet >=1 and >=1000GB/s?"), "{picture}");
    assert!(!picture.contains("expected >=1000GB/s: fail"), "{picture}");
}

/// Scatters the trials of each cell by this share on both sides.
fn scatter(session: &mut Session, spread: f64) {
    for trial in session.trials.iter_mut().map(std::sync::Arc::make_mut) {
        // No order: a rise would be a change during the run.
        let off = [0.0, 1.0, -0.5, -1.0, 0.5][trial.round as usize % 5];
        trial.nanos = (1e9 / (1.0 + spread * off)) as u64;
    }
}

#[test]
fn wide_figures_are_no_large_digits() {
    for (spread, row, shown) in [
        (0.15, "2600", None),
        (0.25, "2600", Some("1900 to 3200")),
        (0.41, "~2600", Some("1500 to 3700")),
    ] {
        let mut session = peak();
        scatter(&mut session, spread);
        let stage = glance_of(SessionView::new(session, None));
        let (small, large) = (stage.picture(80, 24), stage.picture(120, 40));
        assert!(small.contains(&format!(" {row} ")), "{row}\n{small}");
        // Digits of blocks have no text.
        assert_eq!(large.contains(&format!(" {row} ")), shown.is_some(), "{large}");
        assert!(shown.is_none_or(|range| large.contains(range)), "{large}");
    }
}

#[test]
fn wide_columns_show_their_ends() {
    let mut session = testing::session();
    session.plan.cells.truncate(2);
    session.trials.retain(|trial| trial.cell < 2);
    scatter(&mut session, 0.25);
    let stage = glance_of(SessionView::new(session, None));
    let picture = stage.picture(120, 40);
    assert!(picture.contains("16 MiB/s ") && picture.contains("12 to 20"), "{picture}");
}

#[test]
fn scoreboards_name_their_warnings() {
    let mut session = peak();
    let verdict = session.verdicts[0].as_mut().map(std::sync::Arc::make_mut).unwrap();
    verdict.warnings.push(crate::record::Warning {
        id: "two-modes".into(),
        severity: crate::record::Severity::Misleading,
        message: String::new(),
        evidence: String::new(),
        remedy: "".into(),
    });
    let stage = glance_of(SessionView::new(session, None));
    let picture = stage.picture(120, 40);
    assert!(picture.contains("! two groups of trials"), "{picture}");
    assert!(stage.picture(80, 24).contains("2579!"), "{}", stage.picture(80, 24));
}

#[test]
fn answers_end_with_whole_sentences() {
    for (columns, rows) in [(60, 16), (80, 24), (100, 30), (120, 40)] {
        let picture = glance_of(testing::shown()).picture(columns, rows);
        let facts = &testing::shown().glance.facts;
        let squeezed = picture.replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" ");
        for line in picture.lines().filter(|line| line.starts_with("│ · ")) {
            let begin: String = line.trim_matches(['│', ' ', '·']).chars().take(20).collect();
            let fact = facts.iter().find(|fact| fact.starts_with(&begin)).unwrap();
            assert!(squeezed.contains(fact.as_str()), "{fact}\n{picture}");
        }
    }
}
