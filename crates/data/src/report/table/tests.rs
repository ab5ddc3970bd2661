use super::grid::Column;
use super::*;
use crate::plan::{Cache, Job, Op, Sync};
use crate::record::{Severity, Xor};
use crate::report::testing;
use proptest::prelude::*;

const ANSWER: &str = "Fastest: mmap at 2 MiB, warm, 28.0 GiB/s. Cold costs 11×: the device gives 2.50 GiB/s from 256 KiB on.";

fn show(session: &Session, look: Look) -> Vec<String> {
    let (results, probes) = (analysis::results(session), analysis::probes(session));
    let mut content = content(session, &results, &probes, &look);
    content.answer.text = ANSWER.into();
    format_lines(content, &look)
}

fn look(width: usize) -> Look {
    Look { width, ..Look::default() }
}

#[test]
fn tables_at_80_columns() {
    for (name, session) in testing::all() {
        insta::assert_snapshot!(format!("{name}_80"), show(&session, look(80)).join("\n"));
    }
}

#[test]
fn only_measure_has_counts() {
    insta::assert_snapshot!("measured_80", show(&testing::measured_session(), look(80)).join("\n"));
    let told =
        |session: &Session| show(session, look(80)).iter().any(|line| line.starts_with("counts: "));
    assert!(
        told(&testing::measured_session())
            && testing::all().iter().all(|(_, session)| !told(session))
    );
}

#[test]
fn xors_of_parts_are_explained() {
    let cold = Job { xor: true, ..testing::single().plan.cells[0].clone() };
    let cells = vec![cold.clone(), Job { cache: Cache::Warm, ..cold }];
    let like = testing::Like::new(450.0, 1.0, Some(testing::CACHE));
    let mut session = testing::measured(cells, 5, like);
    let mut set = |from: usize, bytes: u64, xor: u32| {
        session.trials.iter_mut().skip(from).take(5).for_each(|trial| {
            let trial = std::sync::Arc::make_mut(trial);
            (trial.evidence.unique_bytes, trial.xor) = (bytes, Some(Xor(xor)));
        });
        show(&session, look(200))
            .into_iter()
            .find(|line| line.starts_with("XOR: "))
            .unwrap_or_default()
    };
    set(0, 512 << 20, 1);
    assert_eq!(set(5, 512 << 20, 2), "", "the file changed, or it is an error");
    let said = set(0, 256 << 20, 1);
    assert!(
        said.starts_with(
            "XOR: of 256 MiB (read 512 B) to 512 MiB (read 512 B warm): a trial that ends"
        ),
        "{said}"
    );
    assert!(set(5, 256 << 20, 2).starts_with("XOR: of 256 MiB; which part of the file that is"));
    assert_eq!(set(5, 256 << 20, 1), "");
}

#[test]
fn padded_xors_are_explained() {
    let cell = Job { xor: true, ..testing::job("read", 4096, Cache::Warm) };
    let mut session = testing::measured(vec![cell], 5, testing::Like::new(450.0, 1.0, None));
    let mut said = |bytes: u64| {
        session
            .trials
            .iter_mut()
            .for_each(|trial| std::sync::Arc::make_mut(trial).evidence.unique_bytes = bytes);
        show(&session, look(80)).into_iter().find(|line| line.starts_with("XOR: "))
    };
    assert_eq!(said(1_000_000), None);
    assert_eq!(
        said(1_000_003).unwrap(),
        "XOR: 1000003 bytes are not a multiple of 4: the last word has 3 of them and is"
    );
}

#[test]
fn requested_columns_are_never_dropped() {
    let threads = |threads| Job {
        xor: true,
        count: Some(0),
        threads,
        ..testing::job("pread", 2 << 20, Cache::Cold)
    };
    let cells = vec![threads(1), Job { cache: Cache::Warm, ..threads(2) }];
    let like = testing::Like::new(450e3, 1.0, Some(testing::DEVICE));
    let session = testing::measured(cells, 5, like);
    for width in 40..200 {
        let head = show(&session, look(width))
            .into_iter()
            .find(|line| line.contains("throughput"))
            .unwrap();
        assert!(head.contains("time") && head.contains("XOR"), "{width}: {head}");
        assert!(width < 80 || head.contains("from"), "{width}: {head}");
    }
    let first =
        show(&session, look(80)).into_iter().find(|line| line.starts_with("pread")).unwrap();
    let figures: Vec<&str> =
        first.split_whitespace().filter(|word| word.len() == 6 && word.starts_with("0.")).collect();
    assert!(figures.len() == 1 && first.contains("5eed0001"), "a time of four digits: {first}");
}

#[test]
fn wide_tables_show_more_columns() {
    for (name, session) in [("troubled", testing::troubled()), ("calls", testing::calls())] {
        insta::assert_snapshot!(format!("{name}_120"), show(&session, look(120)).join("\n"));
    }
    let ascii = Look { ascii: true, ..look(80) };
    insta::assert_snapshot!("troubled_80_ascii", show(&testing::troubled(), ascii).join("\n"));
}

#[test]
fn lines_fit_the_terminal() {
    for (name, session) in testing::all() {
        for width in (80..200).step_by(3) {
            for ascii in [false, true] {
                let lines = show(&session, Look { ascii, ..look(width) });
                for line in &lines {
                    assert!(
                        text::width(line) <= width && !line.ends_with(' '),
                        "{name} {width}: {line:?}"
                    );
                    assert!(!ascii || line.is_ascii(), "{name} {width}: {line:?}");
                }
            }
        }
    }
}

#[test]
fn colour_adds_nothing_but_codes() {
    for (name, session) in testing::all() {
        let plain = show(&session, look(100)).join("\n");
        let mut coloured = show(&session, Look { color: true, ..look(100) }).join("\n");
        for code in ["0", "1", "2", "31", "33"] {
            coloured = coloured.replace(&format!("\x1b[{code}m"), "");
        }
        assert_eq!(coloured, plain, "{name}");
    }
    assert!(
        show(&testing::troubled(), Look { color: true, ..look(80) })
            .iter()
            .any(|line| line.contains("\x1b[31m× 1"))
    );
}

#[test]
fn narrow_terminals_drop_what_matters_least() {
    let lines = show(&testing::quick(), look(48));
    assert!(lines.iter().all(|line| text::width(line) <= 48), "{lines:#?}");
    assert!(lines.iter().any(|line| line.starts_with("mmap")
        && line.contains("27.8  ±2.0")
        && line.ends_with("ok")));
    // No column that distinguishes cells is dropped, however narrow the table.
    assert!(
        show(&testing::axes(), look(1))
            .iter()
            .any(|line| line.contains("stride:16") && line.contains("100 MiB"))
    );
}

#[test]
fn curves_read_downwards() {
    let mut cells = Vec::new();
    for block in [4u64 << 10, 64 << 10, 1 << 20] {
        for cache in [Cache::Warm, Cache::Cold] {
            cells.extend(["read", "mmap"].map(|backend| testing::job(backend, block, cache)));
        }
    }
    let session = testing::measured(cells, 5, testing::Like::new(1000.0, 1.0, None));
    let lines = show(&session, look(80));
    let start = lines.iter().position(|line| line.starts_with("backend")).unwrap() + 2;
    let heads: Vec<String> = lines[start..start + 7]
        .iter()
        .map(|l| l.split_whitespace().take(4).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        heads,
        [
            "read 4 KiB warm",
            "read 64 KiB warm",
            "read 1 MiB warm",
            "",
            "mmap 4 KiB warm",
            "mmap 64 KiB warm",
            "mmap 1 MiB warm"
        ]
    );
}

#[test]
fn repeated_notes_appear_once() {
    let mut session = testing::quick();
    (0..12).for_each(|cell| {
        testing::warn(
            &mut session,
            cell,
            "read-ahead",
            Severity::Note,
            ["readahead fetched the data", "8 MiB", "wait"],
        )
    });
    let lines = show(&session, look(80));
    assert_eq!(lines.iter().filter(|l| l.ends_with("  ok")).count(), 24, "{lines:#?}");
    assert_eq!(
        lines
            .iter()
            .filter(
                |l| l.starts_with("note: readahead fetched the data (read-ahead): read 4 KiB cold")
            )
            .count(),
        1,
        "{lines:#?}"
    );
}

#[test]
fn a_cut_trial_is_told_once() {
    let mut session = testing::troubled();
    let told =
        |session: &Session| show(session, look(80)).iter().filter(|l| l.contains("cut")).count();
    assert_eq!(told(&session), 1);
    testing::warn(
        &mut session,
        19,
        "cut",
        Severity::Note,
        ["the budget cut trials short", "rates of 4 trials", "be patient"],
    );
    assert_eq!(told(&session), 1);
}

/// Returns the page without details.
fn brief(session: &Session) -> Vec<String> {
    let mut out = Vec::new();
    write(session, &Look { details: false, ..look(80) }, &mut out).unwrap();
    String::from_utf8(out).unwrap().lines().map(String::from).collect()
}

#[test]
fn a_brief_page_fits_a_screen() {
    let quick = brief(&testing::quick());
    insta::assert_snapshot!("brief_80", quick.join("\n"));
    assert!(quick.len() <= 45, "{}", quick.len());
    assert!(quick.iter().all(|line| text::width(line) <= 80));
    let troubled = brief(&testing::troubled()).join("\n");
    insta::assert_snapshot!("brief_troubled_80", troubled);
    assert!(!troubled.contains("Evidence") && troubled.contains("--details"), "{troubled}");
}

#[test]
fn commits_have_one_table() {
    let job = testing::job("pread", 4 << 10, Cache::AsIs);
    let commit = |sync| Job { op: Op::Write, sync, ..job.clone() };
    let cells = vec![commit(Sync::Fdatasync), commit(Sync::Dsync)];
    let like = testing::Like::new(90_000.0, 1.0, None);
    let session = testing::measured(cells, 6, like);
    let page = brief(&session);
    let heads: Vec<&String> = page.iter().filter(|line| line.starts_with("method")).collect();
    let [head] = heads[..] else { panic!("{page:?}") };
    assert!(head.contains("commits") && head.contains('±'), "{page:?}");
    assert!(page.iter().any(|line| line.starts_with("dsync") && line.ends_with("ok")), "{page:?}");
    assert!(!page.iter().any(|line| line.contains("throughput")), "{page:?}");
    // The whole page has the throughput too.
    assert!(show(&session, look(80)).iter().any(|line| line.contains("throughput")));
}

#[test]
fn pages_without_valid_results_say_so() {
    let mut session = testing::quick();
    for cell in 0..session.plan.cells.len() as u32 {
        let texts = ["the bytes were still in memory", "counted", "write more"];
        testing::warn(&mut session, cell as usize, "not-on-device", Severity::Wrong, texts);
    }
    let page = brief(&session);
    assert_eq!(page[0], "No valid result: the bytes were still in memory.");
}

#[test]
fn the_answer_comes_first() {
    let session = testing::quick();
    let mut out = Vec::new();
    write(&session, &look(80), &mut out).unwrap();
    fn words(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
    let answer = analysis::answer(&analysis::results(&session)).text;
    assert!(
        !answer.is_empty() && words(&String::from_utf8(out).unwrap()).starts_with(&words(&answer))
    );
}

proptest! {
    #[test]
    fn columns_are_aligned(cells in prop::collection::vec("\\PC{0,12}", 1..8), right: bool) {
        let cells: Vec<String> = cells.iter().map(|cell| text::clean(cell)).collect();
        let (rows, marks) = (cells.len(), vec!["|".to_string(); cells.len()]);
        let columns = [Column { right, ..Column::text_column("name", 0, cells) }, Column::text_column("|", 0, marks)];
        let lines = grid::format_lines(&columns, &[], &Look::default());
        let places: Vec<usize> = lines.iter().filter_map(|l| l.rfind('|').map(|at| text::width(&l[..at]))).collect();
        prop_assert!(places.len() > rows);
        prop_assert!(places.windows(2).all(|p| p[0] == p[1]), "{lines:#?}");
    }
}

#[test]
fn cells_skipped_by_users_are_listed() {
    let mut session = testing::single();
    session.skipped = vec![0];
    let page = show(&session, look(80)).join("\n");
    assert!(page.contains(": skipped by the user after "), "{page}");
}
