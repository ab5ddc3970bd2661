use std::sync::Arc;

use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

use super::{cell_under_cursor, opened, results, stage, stage_of};
use crate::msg::{Effect, Msg, Query};
use crate::plan::Cache;
use crate::record::{
    BadBlock, Ceilings, Found, LatencyLog, LogBuckets, LogEntry, Sample, Source, Verified,
};
use crate::session::Session;
use crate::session_view::SessionView;
use crate::testing::{self, Stage};
use crate::theme::{Colours, Glyphs, Look, Role};

#[test]
fn arrows_walk_through_opened_cells() {
    let mut stage = stage();
    stage.keys("<enter>");
    assert_eq!(opened(&stage), "mmap 1 MiB warm");
    stage.keys("lll");
    assert_eq!(opened(&stage), "mmap 1 MiB warm", "the last one failed and is not on the curve");
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
    assert_eq!(
        (opened(&stage).as_str(), cell_under_cursor(&stage).as_str()),
        ("-", "mmap warm 64k")
    );
    stage.keys("v<enter>j<esc>v");
    assert_eq!(opened(&stage), "-");
    let done = stage.take();
    assert!(
        done.iter().all(|effect| matches!(effect, Effect::Ask(Query::Course { .. }))),
        "nothing of that quits: {done:?}"
    );
    stage.keys("q");
    assert_eq!(stage.take(), [Effect::Quit(0)]);
}

#[test]
fn opened_cells_show_samples_over_time() {
    let (mut stage, path) = (stage(), testing::shown().path.unwrap());
    let sample = |at: u64, bytes| Sample {
        at,
        nanos: 100_000_000,
        bytes,
        ops: bytes / 4096,
        syscalls: bytes / 4096,
    };
    let trial = |cell, round| {
        (cell, round, (1..=40).map(|n| sample(n * 100_000_000, (n * 8) << 20)).collect())
    };
    let samples = |cell: u32| Msg::Course {
        path: path.clone(),
        cell,
        samples: (1..=5).map(|round| trial(cell, round)).collect(),
    };
    stage.keys("<enter>");
    let done = stage.take();
    let [Effect::Ask(Query::Course { path: asked, cell })] = &done[..] else {
        panic!("nothing was asked: {done:?}")
    };
    assert_eq!((asked, *cell), (&path, 22));
    // One question at a time; the answer to another one is ignored.
    stage.keys("h").tell(samples(3));
    assert_eq!(stage.take(), []);
    stage.tell(samples(22));
    let [Effect::Ask(Query::Course { cell: 21, .. })] = stage.take()[..] else {
        panic!("the neighbour was not asked for")
    };
    assert!(
        !stage.picture(160, 60).contains("Over time, trial"),
        "that of the neighbour is not here yet"
    );
    stage.tell(samples(21));
    let picture = stage.snapshot(160, 60);
    assert!(
        picture.contains("Over time, trial after trial") && picture.contains("20 s"),
        "{picture}"
    );
    stage.tell(Msg::Resize(80, 24)).keys("G");
    assert!(stage.picture(80, 24).contains("10 s   12 s"), "{}", stage.picture(80, 24));
    assert_eq!(stage.take(), [], "it is known");
    // Another session: what was of the first is not of it. One that is kept nowhere has none.
    stage.tell(Msg::Opened(Ok(Box::new(testing::shown())))).keys("<enter>");
    assert!(matches!(stage.take()[..], [Effect::Ask(Query::Course { cell: 22, .. })]));
    stage
        .tell(Msg::Opened(Ok(Box::new(SessionView { path: None, ..testing::shown() }))))
        .keys("<enter>")
        .tell(samples(22));
    assert!(stage.take().is_empty() && !stage.picture(160, 60).contains("Over time, trial"));
}

#[test]
fn opened_cells_show_the_verification() {
    let mut shown = testing::shown();
    let mut read_back = |bad: &[Found]| {
        let mut session = shown.session.clone();
        for trial in &mut session.trials {
            let trial = Arc::make_mut(trial);
            let (bytes, blocks) = (trial.bytes, trial.ops);
            let mut verified =
                Verified { written: bytes, bytes, blocks, left: Some(0), ..Verified::default() };
            for (block, found) in (1u64..).zip(bad) {
                let offset = block * 4096;
                verified.add(BadBlock::new(offset, None, *found));
            }
            trial.evidence.verified = Some(Box::new(verified));
        }
        shown = SessionView::new(session, None);
        let mut stage = stage_of(shown.clone());
        stage.keys("<enter>");
        stage.picture(160, 60)
    };
    let good = read_back(&[]);
    assert!(good.contains("Verified") && good.contains("hold what was written"), "{good}");
    assert!(good.contains("a trial, not timed"), "{good}");
    let bad = read_back(&[Found::Zeros, Found::Elsewhere { of: 8192, of_file: None }]);
    for wanted in ["Data is wrong: of ", "5 hold zeros, 5 data of another", "offset 4096"] {
        assert!(bad.contains(wanted), "{wanted}\n{bad}");
    }
}

#[test]
fn short_trials_have_no_chart() {
    let path = testing::shown().path.unwrap();
    let odd = Sample {
        at: u64::MAX,
        nanos: u64::MAX,
        bytes: u64::MAX,
        ops: u64::MAX,
        syscalls: u64::MAX,
    };
    for samples in [
        Vec::new(),
        vec![(22, 1, Vec::new())],
        vec![(22, 1, vec![Sample::default()])],
        vec![(22, 1, vec![odd; 5000]); 3],
    ] {
        let mut stage = stage();
        let many = samples.first().is_some_and(|(.., own)| own.len() > 1);
        stage.keys("<enter>").tell(Msg::Course { path: path.clone(), cell: 22, samples });
        for (columns, rows) in [(80, 24), (160, 60)] {
            stage.tell(Msg::Resize(columns, rows));
            assert!(!stage.picture(columns, rows).contains("Over time, trial") || many);
        }
    }
}

#[test]
fn opened_cells_show_every_section() {
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
        "use more Trials",
        "user",
        "page faults",
    ] {
        assert!(wide.contains(text), "{text} in {wide}");
    }
    stage.keys("<esc>/failed<enter>");
    stage.keys("<esc>v").keys("v/failed<enter><enter>");
    let failed = stage.snapshot(100, 30);
    assert!(
        failed.contains("This cell failed") && failed.contains("pread(2): EIO at 4 KiB"),
        "{failed}"
    );
}

#[test]
fn limits_and_ceilings_are_shown() {
    let shown = |ceilings: Option<Ceilings>| {
        let mut session = testing::session();
        let grounds = session.grounds.get_or_insert_default();
        grounds.machine.ceilings = ceilings;
        stage_of(SessionView::new(session, None))
    };
    let ceilings = Ceilings {
        copy: Some(2.0 * 1_073_741_824.0),
        read: Some(3.0 * 1_073_741_824.0),
        ..Ceilings::default()
    };
    let mut stage = shown(Some(ceilings));
    assert!(stage.picture(120, 40).contains("copy, 1 thread"), "{}", stage.picture(120, 40));
    stage.keys("v/cold<enter><enter>");
    let open = stage.picture(160, 60);
    assert!(open.contains("What limits it") && open.contains("device"), "{open}");
    let bare = shown(None).picture(120, 40);
    assert!(!bare.contains("1 thread"), "{bare}");
}

#[test]
fn one_trial_shows_cost_not_chart() {
    let column = |rounds: u32| {
        let mut session = testing::session();
        session.trials.retain(|trial| trial.round <= rounds);
        let mut stage = stage_of(SessionView::new(session, None));
        stage.keys("v/cold<enter><enter>");
        let open = stage.picture(160, 60);
        assert!(open.contains("5000 operations timed; logarithmic bars"), "{open}");
        let line = open.lines().find(|line| line.contains("Cost of a trial")).unwrap();
        line.find("Cost of a trial").map(|at| line[..at].chars().count())
    };
    assert_eq!((column(1), column(5)), (Some(2), Some(81)));
}

/// Where there is no colour, and where several of sixteen may look the same.
/// A session whose bytes came from everywhere.
fn from_four_sources() -> Session {
    let mut session = testing::session();
    let mut verdict = testing::verdict(Cache::Cold, 0);
    verdict.source =
        Some(Source { device: 0.3, page_cache: 0.4, hole: 0.2, unknown: 0.1, below: 0.0 });
    session.verdicts.fill(Some(verdict.into()));
    session
}

#[test]
fn sources_have_their_colours() {
    let mut stage = stage_of(SessionView::new(from_four_sources(), None));
    stage.keys("<enter>").tell(Msg::Resize(80, 60));
    let (buffer, picture) = (stage.drawn(80, 60), stage.picture(80, 60));
    let head = picture.lines().position(|line| line.contains("Where the bytes came")).unwrap();
    let bar = (0..80).map(|x| &buffer[(x, head as u16 + 1)]);
    let mut colours: Vec<_> = bar.filter(|c| "▓█▒░".contains(c.symbol())).map(|c| c.fg).collect();
    colours.dedup();
    let look = &stage.model.look;
    let roles = [Role::PageCache, Role::Device, Role::Hole, Role::Unknown];
    assert_eq!(colours, roles.map(|role| look.style(role).fg.unwrap()), "{picture}");
}

#[test]
fn sources_have_equal_textures_in_legend() {
    let session = from_four_sources();
    let plain = Look { colours: Colours::None, ..Look::default() };
    for (look, textures) in [
        (plain, "▓█▒░"),
        (Look { colours: Colours::Sixteen, ..plain }, "▓█▒░"),
        (Look { glyphs: Glyphs::Ascii, ..plain }, "=#-."),
    ] {
        let mut stage = stage_of(SessionView::new(session.clone(), None));
        stage.model.look = look;
        stage.keys("<enter>").tell(Msg::Resize(80, 60));
        let open = stage.picture(80, 60);
        let mut lines = open.lines().skip_while(|line| !line.contains("Where the bytes came"));
        let mut signs = || {
            let line = lines.next().unwrap_or_default();
            let mut signs: Vec<char> = line.chars().filter(|c| textures.contains(*c)).collect();
            signs.dedup();
            signs.into_iter().collect::<String>()
        };
        signs();
        assert_eq!((signs().as_str(), signs().as_str()), (textures, textures), "{open}");
    }
}

/// Opens a cell with two trials of 1 s: 100 operations of 100 µs in each interval, and one of 20 ms
/// in the third interval of the second trial.
fn with_latencies() -> Stage {
    let mut session = testing::session();
    for round in 1..=2 {
        let mut log = LatencyLog::new(1);
        for index in 0..10 {
            let slow = u32::from((round, index) == (2, 2));
            let of = |nanos, count| (LogBuckets::of(nanos) as u16, count);
            let latency = [of(100_000, 100), of(20_000_000, slow)];
            let latency = latency.into_iter().filter(|(_, count)| *count > 0).collect();
            log.add(LogEntry { index, ops: 100, latency, ..LogEntry::default() });
        }
        session.latencies.extend(log.encode(22, round).into_iter().map(Arc::new));
    }
    for trial in session.trials.iter_mut().filter(|trial| trial.cell == 22) {
        let trial = Arc::make_mut(trial);
        // The rate stays: it is the best cell.
        let longer = 1e9 / trial.nanos as f64;
        (trial.nanos, trial.bytes) = (1_000_000_000, (trial.bytes as f64 * longer) as u64);
        trial.ops = (trial.ops as f64 * longer) as u64;
    }
    let mut stage = stage_of(SessionView::new(session, None));
    stage.keys("<enter>");
    stage
}

#[test]
fn latencies_over_time_are_read_out() {
    let mut stage = with_latencies();
    stage.tell(Msg::Resize(120, 60));
    let open = stage.picture(120, 60);
    assert!(open.contains("Latencies over time") && open.contains("enter latencies"), "{open}");
    stage.keys("<enter>").tell(Msg::Resize(80, 24));
    let whole = stage.snapshot(80, 24);
    let line = |text: &str, at: &str| {
        let found = text.lines().find(|line| line.contains(at)).unwrap_or_default();
        found.trim_matches(['│', ' ', '|']).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let where_to = line(&whole, "time 1");
    assert!(where_to.starts_with("time 1.20 to 1.30 s trial 2 latency 1"), "{whole}");
    assert!(where_to.ends_with(" ms"), "{whole}");
    assert_eq!(
        line(&whole, "count"),
        "count 1 operation, 1 % here percentile p100 here, p100 in all"
    );
    stage.keys("j");
    assert_eq!(
        line(&stage.picture(80, 24), "count"),
        "count 0 operations percentile p99 here, p99.95 in all"
    );
    stage.keys("gk");
    assert!(line(&stage.picture(80, 24), "time 0").starts_with("time 0 ns to 100 ms trial 1"));
    stage.keys("GGlkkkk<pgup><pgup><pgup>");
    assert!(line(&stage.picture(80, 24), "time 1").starts_with("time 1.90 to 2.00 s trial 2"));
    stage.keys("<esc>");
    assert!(opened(&stage) == "mmap 1 MiB warm" && !stage.picture(80, 24).contains("read out"));
    stage.keys("<esc>");
    assert_eq!(opened(&stage), "-");
}

#[test]
fn the_pointer_reads_latencies() {
    let mut stage = with_latencies();
    stage.keys("<enter>").tell(Msg::Resize(80, 24));
    testing::draw(&mut stage.model);
    let mouse = |kind| {
        let (column, row, modifiers) = (77, 16, KeyModifiers::NONE);
        Msg::Mouse(MouseEvent { kind, column, row, modifiers })
    };
    stage.tell(mouse(MouseEventKind::Moved));
    let read = stage.picture(80, 24);
    assert!(read.contains("time 1.90 to 2.00 s") && read.contains("100 operations"), "{read}");
    let zoom = results(&stage).chart.zoom;
    stage.tell(mouse(MouseEventKind::ScrollUp));
    assert_eq!(results(&stage).chart.zoom, zoom);
    stage.tell(mouse(MouseEventKind::Down(MouseButton::Left)));
    assert_eq!(results(&stage).open.and_then(|open| open.heat), Some((19, 0)));
    stage.tell(mouse(MouseEventKind::Moved)).keys("h");
    let read = stage.picture(80, 24);
    assert!(read.contains("time 1.80 to 1.90 s"), "the pointer rests: {read}");
}

#[test]
fn cells_without_latencies_say_so() {
    let mut stage = stage();
    stage.keys("<enter><enter>");
    let open = stage.picture(120, 60);
    assert!(open.contains("over time are not known") && !open.contains("enter lat"), "{open}");
    assert_eq!(results(&stage).open.unwrap().heat, None);
}
