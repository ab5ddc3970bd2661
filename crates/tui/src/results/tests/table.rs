use super::{TabKind, opened, results, row, stage, stage_of};
use crate::msg::Msg;
use crate::plan::{Cache, Skipped};
use crate::session::testing as sessions;
use crate::session_view::SessionView;
use crate::testing::{self, Stage};

#[test]
fn sorting_keeps_the_row() {
    let mut stage = stage();
    stage.keys("v");
    fn first(stage: &mut Stage) -> String {
        stage.keys("g");
        row(stage)
    }
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
fn filter_words_match_in_any_order() {
    for (text, count) in [
        ("", 25),
        ("mmap", 12),
        ("cold mm", 6),
        ("uring", 1),
        ("eperm", 1),
        ("failed", 1),
        ("holes", 1),
        ("64 kib", 4),
        ("nonsense", 0),
    ] {
        let mut stage = stage();
        stage.keys("/").keys(text).keys("<enter>");
        assert_eq!(results(&stage).kind, TabKind::Table);
        assert!(!results(&stage).table.typing);
        assert_eq!(results(&stage).table.rows.len(), count, "{text}");
        let picture = stage.picture(100, 30);
        assert!(count > 0 || picture.contains("no cell matches the filter"), "{picture}");
    }
    let mut stage = stage();
    stage.keys("/qq");
    assert_eq!(results(&stage).table.filter.value(), "qq", "letters are no commands here");
    stage.keys("<esc>");
    assert_eq!(results(&stage).table.rows.len(), 25);
    stage.keys("/cold<enter>q");
    assert_eq!(results(&stage).table.filter.value(), "", "q closes the filter first");
    assert_eq!(stage.take(), []);
    stage.keys("/cold").tell(Msg::Paste(" mmap".into()));
    assert_eq!(results(&stage).table.rows.len(), 6);
}

#[test]
fn missing_cells_are_listed() {
    let mut stage = stage();
    let chart = stage.picture(100, 30);
    assert!(
        chart.contains("1 of 24 cells failed, 2 skipped (io_uring: EPERM): v lists them"),
        "{chart}"
    );
    stage.keys("vG");
    let table = stage.picture(100, 30);
    for text in [
        "skipped: io_uring: EPERM",
        "failed: pread(2): EIO at 4 KiB",
        "26 cells, 1 failed, 2 skipped",
    ] {
        assert!(table.contains(text), "{text} in {table}");
    }
    stage.keys("<enter>");
    assert_eq!(opened(&stage), "-");
    assert!(stage.model.toasts.iter().any(|toast| toast.text.contains("EPERM")));
}

/// The command line says `--size`, the screen has a row of that name.
#[test]
fn reasons_name_the_rows_of_setup() {
    let mut session = testing::session();
    session.plan.skipped = vec![Skipped {
        cell: sessions::job("uring", 4096, Cache::Warm),
        reason: "a span of 1 GiB exceeds the file's 1 MiB; use a smaller --size".into(),
    }];
    *session.errors.last_mut().unwrap() = Some("EINVAL; leave out --direct".into());
    let mut stage = stage_of(SessionView::new(session, None));
    let mut glance =
        stage_of(SessionView::new(stage.model.results.view().unwrap().session.clone(), None));
    glance.model.results.kind = TabKind::Glance;
    assert!(!glance.picture(160, 60).contains("--"), "{}", glance.picture(160, 60));
    for keys in ["", "v", "v/uring<enter><enter>", "v/failed<enter><enter>"] {
        stage.keys("<esc><esc>b").keys(keys);
        let picture = stage.picture(160, 60);
        assert!(!picture.contains("--"), "{keys}\n{picture}");
        let text = match keys {
            "v/failed<enter><enter>" => "leave out Direct I/O",
            _ => "use a smaller Size",
        };
        assert!(picture.contains(text), "{keys}\n{picture}");
    }
}
