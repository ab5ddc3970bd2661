//! What is drawn: lines with gaps, bounded memory, freeze, zoom, panes.

use super::*;

#[test]
fn samples_become_a_line_with_gaps_between_trials() {
    let mut bench = Bench::new(plan(Some(2)));
    bench.wait(1000);
    bench.trial(0, 1, 3);
    bench.wait(700);
    bench.trial(1, 1, 2);
    let slices = bench.slices();
    assert_eq!(slices.len(), 5);
    assert_eq!(slices.iter().map(|s| s.piece).collect::<Vec<_>>(), [1, 1, 1, 2, 2]);
    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-6, "{a} {b}")
    }
    for (slice, from) in slices.iter().zip([1.0, 1.1, 1.2, 2.0, 2.1]) {
        near(slice.from, from);
        near(slice.to, from + 0.1);
        near(slice.rate(series::Measure::Bytes).0, 1000.0 * 1_048_576.0);
    }
    // A trial too short for a sample is told as a whole.
    bench.wait(300);
    bench.trial(2, 1, 0);
    assert_eq!(bench.slices().last().map(|s| (s.piece, s.nanos)), Some((3, 100_000_000)));
    // What was dropped is a gap too.
    bench.phase(Phase::Trial, Some(3), 1, 0.5);
    bench.sample(3, 1, 1, 1);
    bench.wait(400);
    bench.sample(3, 1, 6, 1);
    assert_eq!(bench.slices().iter().rev().take(2).map(|s| s.piece).collect::<Vec<_>>(), [5, 4]);
    bench.wait(100);
    bench.say(Msg::Tick);
    assert!(bench.run().view.measured == 3 && !bench.run().view.curves.is_empty());
}

#[test]
fn memory_is_flat_however_long_it_runs() {
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
        most = most.max(bench.run().view.series.slices_since(f64::NEG_INFINITY).len());
    }
    assert!(most <= series::MAX_SLICES + 1, "{most}");
    let slices = bench.slices();
    assert!(slices.len() > 600, "{}", slices.len());
    assert_eq!(slices.iter().map(|s| s.bytes).sum::<u64>(), total);
    assert!(slices.windows(2).all(|w| w[0].to <= w[1].from + 1e-9));
    // The last minute is as fine as it came, with its gaps.
    let last = bench.run().view.series.slices_since(bench.run().view.now - 59.0);
    assert!(last.len() > 500 && last.iter().all(|s| s.nanos == 100_000_000 && s.hue.is_some()));
    // Without time nothing is finer than anything: the bound holds all the same.
    let now = bench.now;
    for n in 0..10_000 {
        bench.now = now;
        bench.sample(0, 1, n % 7 + 1, 1);
        assert!(
            bench.run().view.series.slices_since(f64::NEG_INFINITY).len() <= series::MAX_SLICES + 1
        );
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
fn zoom_goes_through_the_windows() {
    let mut bench = Bench::new(plan(Some(3)));
    bench.trial(0, 1, 3);
    // What has just begun fills no window: there is no time before the start.
    assert!(bench.screen(120, 40).contains("5 s") && !bench.screen(120, 40).contains(" now"));
    bench.wait(400_000);
    bench.say(Msg::Tick);
    for (key, shown) in [("+", "10 s"), ("-", "30 s"), ("-", "60 s"), ("-", "5 min"), ("+", "60 s")]
    {
        bench.key(key);
        assert!(bench.screen(120, 40).contains(shown), "{key} {shown}");
    }
    bench.key("0");
    assert!(!bench.screen(120, 40).contains(" now"));
    assert!(bench.screen(120, 40).contains("5 min"));
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
            remedy: String::new(),
        }
    }
    let verdict =
        Verdict { warnings: vec![warning("holes"), warning("few")], ..Verdict::default() };
    bench.handle(Event::Verdict { cell: 0, verdict: Arc::new(verdict) });
    bench.phase(Phase::Trial, Some(5), 1, 0.5);
    bench.say(Msg::Tick);
    for (columns, rows) in [(60, 16), (80, 24), (120, 40), (200, 60), (70, 50), (300, 20)] {
        let screen = bench.screen(columns, rows);
        for wanted in [
            "Throughput",
            "System calls",
            "pread 1 MiB warm",
            "trial 1 of 3",
            "50 %",
            "10 s left",
            "half of",
        ] {
            assert!(screen.contains(wanted), "{wanted} at {columns}x{rows}\n{screen}");
        }
        assert!(screen.chars().any(|c| ('\u{2801}'..='\u{28ff}').contains(&c)), "{columns}x{rows}");
    }
    let screen = bench.screen(120, 40);
    for wanted in [
        "By block size",
        "Threads",
        "Latency",
        "Warnings",
        "p99",
        "50 % system",
        "4 of 6 cells",
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
fn what_failed_is_told_and_the_last_picture_stays() {
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
    for wanted in ["finished", "100 %", "no such device", "Throughput"] {
        assert!(screen.contains(wanted), "{wanted}\n{screen}");
    }
    assert_eq!((bench.key("space"), bench.key("s"), bench.key("x")), (vec![], vec![], vec![]));
    run::start(&mut bench.model, Arc::new(plan(None)));
    assert!(!bench.screen(120, 40).contains("no such device"));
}

#[test]
fn what_is_expected_is_drawn_before_anything_is_measured() {
    let mut bench = Bench::new(plan(Some(2)));
    let mut grounds = Grounds::default();
    grounds.machine.ceilings = Some(crate::tui::testing::ceilings());
    let plan = Arc::clone(&bench.run().view.plan);
    assert!(!bench.screen(160, 45).contains("estimate"));
    bench.handle(Event::Plan { plan });
    bench.handle(Event::Grounds { grounds: Arc::new(grounds) });
    bench.say(Msg::Tick);
    let picture = bench.screen(160, 45);
    assert!(picture.contains("estimate: ") && picture.contains("copy, 1 thread"), "{picture}");
    assert!(bench.run().view.curves.is_empty());
    bench.trial(0, 1, 3);
    assert!(bench.screen(160, 45).contains("estimate: "));
}
