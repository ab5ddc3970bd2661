use super::{opened, results, stage, stage_of};
use crate::msg::Msg;
use crate::session::{Session, testing as sessions};
use crate::session_view::SessionView;
use crate::testing::{self, Stage};
use crate::theme::{Colours, Glyphs, Look};

#[test]
fn without_an_axis_there_are_bars() {
    let mut session = testing::session();
    let cells = [0usize, 6, 12, 18];
    let kept: Vec<_> = cells
        .iter()
        .map(|cell| (session.plan.cells[*cell].clone(), session.verdicts[*cell].clone()))
        .collect();
    let trials = session.trials.clone();
    let mut plan = session.plan.clone();
    plan.cells = kept.iter().map(|(cell, _)| cell.clone()).collect();
    session = Session::new(session.id, session.name, session.created, session.host, plan);
    for (new, old) in cells.iter().enumerate() {
        let own = trials.iter().filter(|trial| trial.cell as usize == *old);
        session.trials.extend(
            own.map(|trial| crate::record::Trial { cell: new as u32, ..(**trial).clone() }.into()),
        );
        session.verdicts[new] = kept[new].1.clone();
    }
    let mut stage = stage_of(SessionView::new(session, None));
    assert!(!results(&stage).data.as_ref().unwrap().is_curve());
    let picture = stage.picture(100, 30);
    assert!(picture.contains("███") && picture.contains("Cells"), "{picture}");
    stage.keys("gj+-hl< >");
    assert!(stage.picture(100, 30).contains("off"));
    stage.keys("k<enter>");
    assert_eq!(opened(&stage), "read 4 KiB cold");
}

#[test]
fn tried_methods_stand_below_the_pick() {
    let mut session = sessions::session(0);
    sessions::picked().iter().for_each(|event| session.apply(event));
    let mut stage = stage_of(SessionView::new(session, None));
    let picture = stage.picture(100, 30);
    let lines: Vec<&str> = picture.lines().collect();
    let row = |text: &str| {
        lines
            .iter()
            .position(|line| line.contains(text))
            .unwrap_or_else(|| panic!("{text}:\n{picture}"))
    };
    let (own, title) = (row("20.0 GiB/s"), row("briefly tried:"));
    let (tried, bound) =
        (row("mmap+shared 2 MiB 2 threads"), row("2 threads can read from memory"));
    let winner = row("* pread 2 MiB 2 threads");
    assert!(own < bound && bound < title && title < winner && winner < tried, "{picture}");
    for (row, text) in [
        (title, "at most 5 times each, with 95 % interval; * picked"),
        (winner, "20.0 GiB/s [19.2-20.8]"),
        (tried, "10.0 GiB/s [9.80-10.2]"),
        (bound, "49.9 % of 40.0 GiB/s"),
    ] {
        assert!(lines[row].contains(text), "{text}:\n{picture}");
    }
    let bar = |row: usize| lines[row].matches('█').count();
    assert!(bar(bound) > bar(own) && bar(own) > bar(tried), "{picture}");
    // Other figures have no tries; where room is short, the picked way is shown.
    stage.keys("o");
    assert!(!stage.picture(100, 30).contains("briefly tried:"));
    stage.keys("b");
    for rows in 24..30 {
        stage.tell(Msg::Resize(80, rows));
        let picture = stage.picture(80, rows);
        assert!(picture.contains("20.0 GiB/s") && picture.contains("2 threads can"), "{picture}");
        assert_eq!(picture.contains("briefly tried:"), picture.contains("10.0 GiB/s"), "{picture}");
    }
}

#[test]
fn empty_sessions_are_shown() {
    let mut empty = Stage::new();
    empty.keys("3jklh v/<enter>+L");
    assert!(empty.picture(80, 24).contains("no results yet"));
    let session = Session::new(
        "x".into(),
        String::new(),
        "2026-11-21T09:30:11Z".into(),
        Default::default(),
        testing::plan(),
    );
    for place in ["of the run", "of a cell"] {
        let (mut gone, why) = (session.clone(), "/data/gone.bin: no such file");
        match place {
            "of the run" => gone.notes.push(why.into()),
            _ => gone.errors = vec![Some(why.into())],
        }
        let view = SessionView::new(gone, None);
        assert_eq!(view.describe_nothing(), format!("nothing was measured: {why}"), "{place}");
    }
    let mut stage = stage_of(SessionView::new(session, None));
    let picture = stage.picture(100, 30);
    assert!(
        picture.contains("nothing was measured") && picture.contains("24 skipped"),
        "{picture}"
    );
    stage.keys("jklhg< >+-0La<enter>bonius");
    assert_eq!(opened(&stage), "-");
    stage.keys("vG");
    let picture = stage.picture(100, 30);
    assert!(picture.contains("24 cells skipped: the run was stopped"), "{picture}");
}

#[test]
fn every_picture_fits_every_terminal() {
    for look in [
        Look::default(),
        Look { glyphs: Glyphs::Ascii, ..Look::default() },
        Look { colours: Colours::None, ..Look::default() },
    ] {
        for keys in ["", "ooaL+", "v", "vSS/mmap", "<enter>", "<enter>G", "< >kk< >"] {
            let mut stage = stage();
            stage.model.look = look;
            stage.keys(keys);
            for size in [(80, 24), (81, 25), (113, 30), (150, 30), (149, 29), (200, 60), (20, 5)] {
                stage.tell(Msg::Resize(size.0, size.1));
                let picture = stage.picture(size.0, size.1);
                // The header cuts a path in its own way.
                let body = picture.split_once('\n').map_or("", |(_, body)| body);
                assert!(
                    look.glyphs == Glyphs::Unicode || body.is_ascii(),
                    "{keys} {size:?}\n{picture}"
                );
                assert!(size.0 < 80 || picture.contains('3'), "{keys} {size:?}");
            }
        }
    }
}

#[test]
fn pictures() {
    for (name, keys, size) in [
        ("chart_80", "", (80, 24)),
        ("chart_120", "a", (120, 40)),
        ("table_80", "vSSSS", (80, 24)),
        ("cell_120", "<enter>", (120, 40)),
    ] {
        let mut stage = stage();
        stage.tell(Msg::Resize(size.0, size.1)).keys(keys);
        insta::assert_snapshot!(name, stage.picture(size.0, size.1));
    }
}
