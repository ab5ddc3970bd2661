//! Drawing: lines with gaps, bounded memory, freeze, zoom, panes.

use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::style::Color;

use super::*;
use crate::live::strip::TrialWindow;
use crate::plan::Sync;
use crate::record::{LatencyLog, LogBuckets, LogEntry, SampleParts, Source};
use crate::theme::Role;

#[test]
fn trials_become_bars() {
    let mut bench = Bench::new(plan(Some(2)));
    bench.wait(1000);
    bench.trial(0, 1, 3);
    bench.wait(700);
    bench.trial(1, 1, 2);
    let trials = |bench: &Bench| bench.slices().iter().map(|s| s.trial).collect::<Vec<_>>();
    assert_eq!(trials(&bench), [1, 1, 1, 2, 2]);
    for slice in bench.slices() {
        assert!((slice.rate(series::Measure::Bytes) - 1000.0 * 1_048_576.0).abs() < 1.0);
    }
    // A trial too short for a sample is shown as a whole.
    bench.wait(300);
    bench.trial(2, 1, 0);
    assert_eq!(bench.slices().last().map(|s| (s.trial, s.nanos)), Some((3, 100_000_000)));
    // Dropped samples make no second bar.
    bench.phase(Phase::Trial, Some(3), 1, 0.5);
    bench.sample(3, 1, 1, 1);
    bench.wait(400);
    bench.sample(3, 1, 6, 1);
    assert_eq!(trials(&bench)[6..], [4, 4]);
    // A trial that a pause cuts is repeated: nothing of it counts.
    bench.key("space");
    bench.phase(Phase::Pause, Some(3), 1, 0.5);
    assert_eq!(trials(&bench), [1, 1, 1, 2, 2, 3]);
    bench.wait(100);
    bench.say(Msg::Tick);
    assert!(bench.run().view.known == 3 && !bench.run().view.curves.is_empty());
}

#[test]
fn long_runs_keep_flat_memory() {
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
        most = most.max(bench.run().view.series.slices().len());
    }
    assert!(most <= series::MAX_SLICES + 1, "{most}");
    let slices = bench.slices();
    assert!(slices.len() > 600, "{}", slices.len());
    assert_eq!(slices.iter().map(|s| s.bytes).sum::<u64>(), total);
    assert!(slices.windows(2).all(|w| w[0].trial <= w[1].trial));
    assert_eq!(bench.run().view.series.trials(), 2000);
    // The last trials are as fine as they came.
    let last: Vec<_> = slices.iter().filter(|slice| slice.trial > 1990).collect();
    assert_eq!(last.len(), 500);
    assert!(last.iter().all(|s| s.nanos == 100_000_000 && s.cell.is_some()));
    // One trial without an end, and a thousand trials a second: the bound holds all the same.
    for n in 0..10_000 {
        bench.sample(0, 1, n + 51, 1);
        assert!(bench.run().view.series.slices().len() <= series::MAX_SLICES + 1);
    }
    for _ in 0..10_000 {
        bench.handle(trial_event(0, 1, 1));
        assert!(bench.run().view.series.slices().len() <= series::MAX_SLICES + 1);
    }
}

#[test]
fn a_frozen_picture_holds_still() {
    let mut bench = Bench::new(plan(Some(3)));
    bench.trial(0, 1, 3);
    bench.say(Msg::Tick);
    bench.key("f");
    let picture =
        |bench: &Bench| bench.screen(120, 40).lines().skip(1).collect::<Vec<_>>().join("\n");
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
fn zoom_shows_the_last_trials() {
    let mut bench = Bench::new(plan(Some(8)));
    for round in 1..=4 {
        for cell in 0..6 {
            bench.trial(cell, round, 1);
        }
    }
    bench.say(Msg::Tick);
    assert!(!bench.screen(120, 40).contains("of 24 trials"));
    for (key, shown) in [
        ("+", "the last 12 of 24 trials"),
        ("+", "the last 6 of 24 trials"),
        ("{", "trials 17 to 22 of 24"),
        ("-", "trials 12 to 22 of 24"),
        ("}}}", "the last 11 of 24 trials"),
    ] {
        for key in key.split_inclusive(|_| true) {
            bench.key(key);
        }
        let screen = bench.screen(120, 40);
        assert!(screen.contains(shown), "{key} {shown}\n{screen}");
    }
    bench.key("0");
    assert!(!bench.screen(120, 40).contains("of 24 trials"));
}

#[test]
fn axes_wait_for_values() {
    let mut bench = Bench::new(plan(Some(3)));
    bench.phase(Phase::Calibrate, Some(0), 1, 0.0);
    let screen = bench.screen(120, 40);
    for made_up in ["B/s", "0.25", "0.5", "┤0"] {
        assert!(!screen.contains(made_up), "{made_up}\n{screen}");
    }
    assert!(screen.contains("a bar for each trial appears here"), "{screen}");
    assert!(screen.contains("results appear here"), "{screen}");
    // 1000 MiB/s and 64 times as fast: linear would hide the slow one.
    bench.trial(0, 1, 3);
    bench.phase(Phase::Trial, Some(1), 1, 0.5);
    bench.sample(1, 1, 1, 6400 << 20);
    bench.say(Msg::Tick);
    let screen = bench.screen(120, 40);
    assert!(!screen.contains("0.5"), "{screen}");
    for tick in ["1 GiB", "4 GiB", "16 GiB", "64 GiB"] {
        assert!(screen.contains(tick), "{tick}\n{screen}");
    }
    bench.key("L");
    let screen = bench.screen(120, 40);
    assert!(!screen.contains("16 GiB") && screen.contains("GiB/s"), "{screen}");
}

#[test]
fn each_chart_chooses_its_axis() {
    let mut bench = Bench::new(plan(Some(3)));
    // As many bytes with 500 times as many calls.
    for (cell, ops) in [(0, 500_000), (1, 1000)] {
        bench.phase(Phase::Trial, Some(cell), 1, 0.5);
        let (nanos, bytes, syscalls) = (100_000_000, 100 << 20, ops);
        let sample = Sample { at: nanos, nanos, bytes, ops, syscalls };
        bench.handle(Event::Sample { cell, round: 1, sample, parts: Default::default() });
    }
    bench.phase(Phase::Calibrate, Some(2), 1, 0.5);
    let calls = |bench: &Bench| {
        let screen = bench.screen(120, 40);
        let lines = screen.lines().skip_while(|line| !line.contains("System calls"));
        lines.collect::<Vec<_>>().join("\n")
    };
    assert!(calls(&bench).contains("1 k/s"), "{}", bench.screen(120, 40));
    assert!(!bench.model.live.is_log());
    // A choice is for all.
    bench.key("L");
    bench.key("L");
    assert!(!calls(&bench).contains("1 k/s"), "{}", bench.screen(120, 40));
}

#[test]
fn unmeasured_sizes_become_gaps() {
    let mut one = plan(Some(3));
    one.cells.truncate(3);
    let mut bench = Bench::new(one);
    bench.trial(0, 1, 3);
    bench.trial(2, 1, 3);
    bench.say(Msg::Tick);
    let has_line = |bench: &Bench| {
        let screen = bench.screen(120, 40);
        screen.chars().any(|c| ('\u{2801}'..='\u{28ff}').contains(&c))
    };
    assert!(has_line(&bench), "{}", bench.screen(120, 40));
    bench.handle(Event::End { reason: End::Budget, seconds: None });
    bench.say(Msg::Over { error: None, unsaved: None });
    bench.key("2");
    assert!(!has_line(&bench), "{}", bench.screen(120, 40));
    assert_eq!(bench.model.live.run_view().unwrap().curves[0].gaps, [65536.0]);
}

#[test]
fn what_is_cold_is_dashed() {
    let dots = |cache: Cache| {
        let mut plan = plan(Some(3));
        plan.cells.truncate(3);
        plan.cells.iter_mut().for_each(|job| job.cache = cache);
        let mut bench = Bench::new(plan);
        (0..3).for_each(|cell| bench.trial(cell, 1, 3));
        bench.say(Msg::Tick);
        let screen = bench.screen(120, 40);
        screen.chars().filter(|c| ('\u{2801}'..='\u{28ff}').contains(c)).count()
    };
    let (cold, warm) = (dots(Cache::Cold), dots(Cache::Warm));
    assert!(0 < cold && cold < warm, "{cold} of {warm}");
}

/// Returns the colours of the bar in the row behind `name`.
fn colors_behind(bench: &Bench, name: &str) -> Vec<Color> {
    let mut buf = Buffer::empty(Rect::new(0, 0, 120, 40));
    view::draw(&bench.model, &mut buf);
    let text =
        |x: u16, y: u16| -> String { (x..120).map(|x| buf[(x, y)].symbol()).collect::<String>() };
    let at = (0..40).flat_map(|y| (0..120).map(move |x| (x, y)));
    let (x, y) = at.into_iter().find(|(x, y)| text(*x, *y).starts_with(name)).unwrap();
    let columns = x + name.len() as u16..120;
    let is_bar = |x: &u16| "━╍┅·".contains(buf[(*x, y)].symbol());
    columns.filter(is_bar).map(|x| buf[(x, y)].fg).collect()
}

#[test]
fn shares_have_their_sources_colours() {
    let mut bench = Bench::new(plan(Some(3)));
    bench.trial(0, 1, 3);
    bench.say(Msg::Tick);
    let last = bench.model.live.run.as_mut().unwrap().view.last.as_mut().unwrap();
    last.source =
        Some(Source { device: 0.25, page_cache: 0.25, hole: 0.25, unknown: 0.25, below: 0.0 });
    let look = bench.model.look;
    let roles = [Role::Device, Role::PageCache, Role::Hole, Role::Unknown];
    let mut colors = colors_behind(&bench, "bytes from");
    colors.dedup();
    assert_eq!(colors, roles.map(|role| look.style(role).fg.unwrap()));
}

#[test]
fn only_warnings_are_amber() {
    let mut bench = Bench::new(plan(Some(3)));
    bench.trial(0, 1, 3);
    bench.say(Msg::Tick);
    let amber = bench.model.look.style(Role::Misleading).fg.unwrap();
    let has_amber = |bench: &Bench| {
        let mut buf = Buffer::empty(Rect::new(0, 0, 120, 40));
        view::draw(&bench.model, &mut buf);
        buf.content().iter().any(|cell| cell.fg == amber && cell.symbol() != " ")
    };
    assert!(!has_amber(&bench), "{}", bench.screen(120, 40));
    bench.key("f");
    assert!(bench.screen(120, 40).contains("frozen") && !has_amber(&bench));
    bench.handle(Event::End { reason: End::Finished, seconds: None });
    bench.say(Msg::Over { error: None, unsaved: None });
    bench.key("2");
    assert!(bench.screen(120, 40).contains("done") && !has_amber(&bench));
}

#[test]
fn several_threads_have_a_pane() {
    let mut bench = Bench::new(plan(Some(3)));
    bench.trial(0, 1, 3);
    assert!(!bench.screen(120, 40).contains("Threads"));
    let mut several = plan(Some(3));
    several.cells.iter_mut().for_each(|job| job.threads = 2);
    let mut bench = Bench::new(several);
    let none = "a bar for each thread";
    bench.trial(0, 1, 0);
    assert!(bench.screen(200, 60).contains(none), "{}", bench.screen(200, 60));
    bench.trial(0, 1, 3);
    let screen = bench.screen(120, 40);
    let title = screen.lines().find(|line| line.contains("Threads")).unwrap();
    assert!(title.contains("─ read 4 KiB"), "{screen}");
    assert!(!bench.screen(200, 60).contains(none));
}

#[test]
fn the_ribbon_shows_time_spent() {
    let mut bench = Bench::new(plan(Some(3)));
    bench.phase(Phase::Calibrate, Some(0), 1, 0.0);
    bench.wait(1000);
    bench.trial(0, 1, 10);
    bench.say(Msg::Tick);
    let screen = bench.screen(120, 40);
    assert!(screen.contains("█ measure 50 %  ▒ calibrate 50 %"), "{screen}");
}

#[test]
fn every_size_shows_what_goes_on() {
    let mut bench = Bench::new(plan(Some(3)));
    for (cell, samples) in [(0, 3), (1, 9), (3, 4), (4, 2)] {
        bench.trial(cell, 1, samples);
    }
    bench.say(Msg::Dropped(7));
    fn warning(id: &'static str) -> Warning {
        Warning {
            id: id.into(),
            severity: Severity::Wrong,
            message: "half of it was a hole".into(),
            evidence: String::new(),
            remedy: "".into(),
        }
    }
    let verdict =
        Verdict { warnings: vec![warning("holes"), warning("few")], ..Verdict::default() };
    bench.handle(Event::Verdict { cell: 0, verdict: Arc::new(verdict) });
    bench.phase(Phase::Trial, Some(5), 1, 0.5);
    bench.say(Msg::Tick);
    for (columns, rows) in [(80, 24), (120, 40), (200, 60), (80, 50), (300, 24)] {
        let screen = bench.screen(columns, rows);
        for wanted in [
            "Throughput",
            "System calls",
            "pread 1 MiB warm",
            "round 1 of 3",
            " %  10 s left",
            "half of",
        ] {
            assert!(screen.contains(wanted), "{wanted} at {columns}x{rows}\n{screen}");
        }
        assert!(screen.chars().any(|c| ('▁'..='█').contains(&c)), "{columns}x{rows}");
    }
    let screen = bench.screen(120, 40);
    for wanted in [
        "By block size",
        "Latency",
        "Warnings",
        "p99",
        "50 % system",
        "4 of 6 cells known",
        "7 samples",
    ] {
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
fn failures_and_the_last_picture_stay() {
    let mut bench = Bench::idle();
    bench.key("2");
    assert!(bench.screen(80, 24).contains("Nothing is running"));
    bench = Bench::new(plan(Some(3)));
    bench.handle(Event::Failed { cell: 5, error: "no such device".into() });
    bench.trial(0, 1, 3);
    bench.key("f");
    bench.handle(Event::End { reason: End::Finished, seconds: None });
    bench.say(Msg::Over { error: None, unsaved: None });
    assert_eq!((bench.state().as_str(), bench.model.screen), ("idle", Screen::Results));
    bench.key("2");
    let screen = bench.screen(120, 40);
    assert!(!screen.contains("frozen"));
    for wanted in ["done", "100 %", "no such device", "Throughput"] {
        assert!(screen.contains(wanted), "{wanted}\n{screen}");
    }
    assert_eq!((bench.key("space"), bench.key("s"), bench.key("x")), (vec![], vec![], vec![]));
    run::start(&mut bench.model, Arc::new(plan(None)));
    assert!(!bench.screen(120, 40).contains("no such device"));
}

#[test]
fn estimates_are_drawn_before_trials() {
    let mut bench = Bench::new(plan(Some(2)));
    let mut grounds = Grounds::default();
    grounds.machine.ceilings = Some(crate::testing::ceilings());
    let plan = Arc::clone(&bench.run().view.plan);
    assert!(!bench.screen(160, 45).contains("estimate"));
    bench.handle(Event::Plan { plan });
    bench.handle(Event::Grounds { grounds: Arc::new(grounds) });
    bench.say(Msg::Tick);
    let picture = bench.screen(160, 45);
    assert!(picture.contains("estimate: "), "{picture}");
    assert!(!picture.contains("B/s") || picture.contains("iB/s"), "{picture}");
    assert!(!picture.contains("e10") && !picture.contains("e9"), "{picture}");
    assert!(bench.run().view.curves.is_empty());
    bench.trial(0, 1, 3);
    assert!(bench.screen(160, 45).contains("estimate: "));
}

fn mouse(bench: &mut Bench, kind: MouseEventKind, column: u16, row: u16) -> String {
    let modifiers = KeyModifiers::NONE;
    bench.say(Msg::Mouse(MouseEvent { kind, column, row, modifiers }));
    bench.screen(120, 40)
}

#[test]
fn the_pointer_reads_and_zooms() {
    let mut bench = Bench::new(plan(Some(40)));
    for round in 1..=16 {
        for cell in 0..6 {
            bench.trial(cell, round, 1);
        }
    }
    bench.say(Msg::Resize(120, 40));
    bench.say(Msg::Tick);
    // More than there are columns: the last ones are shown, and the title says which.
    let screen = bench.screen(120, 40);
    assert!(screen.contains(" of 96 trials"), "{screen}");
    let moved = mouse(&mut bench, MouseEventKind::Moved, 40, 8);
    let read = moved.lines().find(|line| line.contains("  trial ")).unwrap_or_default();
    assert!(read.contains("warm  trial ") && read.contains("  1000 MiB/s"), "{moved}");
    assert!(!mouse(&mut bench, MouseEventKind::Moved, 40, 0).contains("warm  trial "));
    // All of them share columns; the wheel zooms at the pointer.
    mouse(&mut bench, MouseEventKind::ScrollDown, 60, 8);
    let all = mouse(&mut bench, MouseEventKind::ScrollDown, 60, 8);
    assert!(!all.contains(" of 96 trials"), "{all}");
    assert!(mouse(&mut bench, MouseEventKind::Moved, 40, 8).contains("trials "));
    for _ in 0..2 {
        mouse(&mut bench, MouseEventKind::ScrollUp, 12, 8);
    }
    let TrialWindow::Between(first, last) = bench.model.live.window else { panic!("{all}") };
    assert!(first < 5 && last - first < 40, "{first} {last}");
    // A new trial does not move what is looked at; keys do.
    bench.trial(0, 17, 1);
    assert_eq!(bench.model.live.window, TrialWindow::Between(first, last));
    bench.key("}");
    let TrialWindow::Between(next, _) = bench.model.live.window else { panic!() };
    assert!(next > first);
    for _ in 0..8 {
        bench.key("}");
    }
    assert!(matches!(bench.model.live.window, TrialWindow::Last(_)), "the run is followed again");
    bench.key("0");
    assert_eq!(bench.model.live.window, TrialWindow::Fitting);
}

/// A run of two trials, and the columns in which the pointer reads one.
fn two_trials() -> (Bench, Vec<u16>) {
    let mut bench = Bench::new(plan(Some(1)));
    bench.trial(0, 1, 3);
    bench.trial(1, 1, 3);
    bench.say(Msg::Resize(120, 40));
    bench.say(Msg::Tick);
    let mut is_read =
        |column| mouse(&mut bench, MouseEventKind::Moved, column, 8).contains("warm  trial ");
    let columns = (0..60).filter(|column| is_read(*column)).collect();
    (bench, columns)
}

#[test]
fn the_pointer_skips_gaps() {
    let (_, bars) = two_trials();
    let sign = |column| if bars.contains(&column) { '#' } else { ' ' };
    let read: String = (0..60).map(sign).collect();
    assert_eq!(read.trim(), "###### ######");
}

#[test]
fn double_clicks_open_cells() {
    let (mut bench, bars) = two_trials();
    let (first, last) = (bars[0], bars[bars.len() - 1]);
    let mut double_click = |column| {
        mouse(&mut bench, MouseEventKind::Down(MouseButton::Left), column, 8);
        mouse(&mut bench, MouseEventKind::Down(MouseButton::Left), column, 8);
        let results = &bench.model.results;
        let cell =
            results.open.map(|open| results.view().unwrap().results[open.result].cell.clone());
        let screen = bench.model.screen;
        bench.key("2");
        (screen, cell)
    };
    let cells = plan(Some(1)).cells;
    assert_eq!(double_click(first), (Screen::Results, Some(cells[0].clone())));
    assert_eq!(double_click(last), (Screen::Results, Some(cells[1].clone())));
    // Between the two is a gap.
    let gap = (first..last).find(|column| !bars.contains(column)).unwrap();
    assert_eq!(double_click(gap).0, Screen::Live);
}

/// Returns the line of the pane So far that has this text.
fn row_with(bench: &Bench, text: &str) -> String {
    let screen = bench.screen(120, 40);
    let line = screen.lines().find(|line| line.contains(text));
    line.unwrap_or_else(|| panic!("no {text}\n{screen}")).rsplit('│').nth(1).unwrap().into()
}

#[test]
fn rows_keep_their_place() {
    let random = |block, depth| Job {
        pattern: crate::plan::Pattern::Random,
        direct: true,
        depth,
        ..job("uring", block)
    };
    let cells = vec![Job { depth: 8, direct: true, ..job("uring", 1 << 20) }, random(4096, 1)];
    let mut bench = Bench::new(Plan { cells, ..plan(None) });
    bench.say(Msg::Tick);
    let places = |bench: &Bench| {
        let screen = bench.screen(120, 40);
        let at = |text: &str| screen.lines().position(|line| line.contains(text));
        (at("SEQ1M Q8T1"), at("RND4K Q1T1"))
    };
    let before = places(&bench);
    assert!(before.0 < before.1 && before.0.is_some(), "{before:?}");
    for round in 1..=6 {
        bench.trial(1, round, 2);
    }
    bench.say(Msg::Tick);
    assert_eq!(places(&bench), before);
    let row = row_with(&bench, "RND4K Q1T1");
    assert!(row.contains("► read RND4K Q1T1") && row.contains("±<1 %"), "{row}");
    assert!(row.contains("1049") && row.contains('█'), "{row}");
}

#[test]
fn commits_have_rows_and_rates() {
    let commit =
        |threads, sync| Job { op: Op::Write, threads, sync, sync_every: 4, ..job("pread", 4096) };
    // Three of seven cells form a curve.
    let one = [Sync::Fdatasync, Sync::Fsync, Sync::Dsync].map(|sync| commit(1, sync));
    let several = [(2, Sync::Fdatasync), (4, Sync::Fdatasync), (8, Sync::Fsync), (8, Sync::Dsync)];
    let several = several.map(|(threads, sync)| commit(threads, sync));
    let cells = one.into_iter().chain(several).collect();
    let mut bench = Bench::new(Plan { cells, ..plan(None) });
    for round in 1..=5 {
        bench.trial(0, round, 1);
    }
    bench.say(Msg::Tick);
    // 100 MiB in 0.1 s are 256,000 writes of 4 KiB per second, and a quarter of that commits.
    let row = row_with(&bench, "pwrite fdatasync ");
    assert!(row.contains("64.0") && row.contains("±<1 %"), "{row}");
    assert!(bench.screen(120, 40).contains("commits, k/s"));
    assert!(row_with(&bench, "pwrite 8 threads fsync").contains('-'), "not measured yet");
}

#[test]
fn live_shows_its_questions_table() {
    let cells = [512, 4096]
        .map(|block| Job { pattern: crate::plan::Pattern::Random, ..job("pread", block) });
    let mut bench = Bench::new(Plan { cells: cells.into(), ..plan(None) });
    bench.say(Msg::Tick);
    assert!(row_with(&bench, "4 KiB ").contains('-'), "not measured yet");
    for round in 1..=5 {
        bench.trial(1, round, 1);
    }
    bench.say(Msg::Tick);
    assert!(bench.screen(120, 40).contains("one random read of 4 KiB, warm, takes"));
    assert!(row_with(&bench, "4 KiB ").contains("3.91"));
}

#[test]
fn live_rows_name_their_warning() {
    let row = |block, depth| Job { depth, direct: true, ..job("uring", block) };
    let mut bench =
        Bench::new(Plan { cells: vec![row(1 << 20, 8), row(128 << 10, 32)], ..plan(None) });
    for (round, tenths) in (1..).zip([8, 2, 6, 4, 5]) {
        let Event::Trial { mut trial, samples, latency } = trial_event(1, round, tenths) else {
            unreachable!()
        };
        Arc::make_mut(&mut trial).nanos = 1_000_000_000;
        bench.handle(Event::Trial { trial, samples, latency });
    }
    let warning = Warning {
        id: "two-modes".into(),
        severity: Severity::Misleading,
        message: "the trials form two groups".into(),
        evidence: String::new(),
        remedy: "".into(),
    };
    let verdict = Verdict { warnings: vec![warning], ..Verdict::default() };
    bench.handle(Event::Verdict { cell: 1, verdict: Arc::new(verdict) });
    bench.say(Msg::Tick);
    let row = row_with(&bench, "SEQ128K Q32T1");
    assert!(row.contains(" ~"), "the interval is wide: {row}");
    assert!(bench.screen(80, 24).contains("the trials form two groups"), "below the table");
    let wide = bench.screen(200, 60);
    let line = wide.lines().find(|line| line.contains("SEQ128K Q32T1")).unwrap();
    assert!(line.contains("! two groups of trials"), "{line}");
}

#[test]
fn a_key_shows_latencies_over_time() {
    let mut bench = Bench::new(plan(Some(2)));
    let shown = |bench: &Bench| {
        [(80, 24), (120, 40), (200, 60)].map(|(columns, rows)| bench.screen(columns, rows))
    };
    bench.key("v");
    assert!(shown(&bench).iter().all(|screen| screen.contains("no latency is known yet")));
    bench.phase(Phase::Trial, Some(0), 1, 0.5);
    for at in 1..=30u32 {
        let mut log = LatencyLog::new(1);
        let of = |nanos, count| (LogBuckets::of(nanos) as u16, count);
        let latency = vec![of(80_000, 1000), of(4_000_000, u32::from(at == 20))];
        log.add(LogEntry { index: at - 1, ops: 1001, latency, ..LogEntry::default() });
        let (nanos, at) = (LatencyLog::WIDTH, u64::from(at) * LatencyLog::WIDTH);
        let sample = Sample { at, nanos, bytes: 1 << 20, ops: 1001, syscalls: 1001 };
        let parts = SampleParts { log: Some(log), ..SampleParts::default() };
        bench.handle(Event::Sample { cell: 0, round: 1, sample, parts });
    }
    for screen in shown(&bench) {
        assert!(screen.contains("Latencies over time") && screen.contains("100 µs"), "{screen}");
        assert!(screen.contains("1 ms") && screen.contains("████"), "{screen}");
        assert!(screen.contains("1 ░▒▓█ 1000 operations") || screen.contains("k operations"));
    }
    let wide = bench.screen(120, 40);
    assert!(wide.contains("p50 81.2 µs  p99 81.2 µs  max 4.03 ms"), "{wide}");
    bench.key("v");
    assert!(shown(&bench).iter().all(|screen| !screen.contains("Latencies over time")));
}

#[test]
fn watches_begin_with_their_latencies() {
    let bench = Bench::new(Plan { watch: true, ..plan(Some(1)) });
    assert!(bench.screen(80, 24).contains("Latencies over time"));
    assert!(!Bench::new(plan(Some(1))).screen(80, 24).contains("Latencies over time"));
}
