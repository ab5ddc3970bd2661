use std::io::{self, Write};
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::analysis;
use crate::plan::{Cache, Job, Pattern, Profiles, TargetSpec};
use crate::record::{Severity, Source};
use crate::session::Session;

struct Closed;

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn formats_are_found_by_id() {
    for (i, known) in FORMATS.iter().enumerate() {
        assert!(std::ptr::eq(find_format(known.id).unwrap(), &FORMATS[i]), "{}", known.id);
        assert!(
            !known.about.is_empty() && known.about.len() <= 80 && !known.extension.starts_with('.'),
            "{}",
            known.id
        );
    }
    assert!(find_format("jason").err().unwrap().to_string().contains("did you mean json"));
}

#[test]
fn every_format_writes_every_session() {
    for (name, session) in testing::all() {
        for format in FORMATS.iter().filter(|format| !format.binary) {
            let mut out = Vec::new();
            (format.write)(&session, &Look::default(), &mut out).unwrap();
            let text = String::from_utf8(out).unwrap();
            assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{name} {}", format.id);
            assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{name} {}", format.id);
        }
    }
}

#[test]
fn every_format_writes_every_reference() {
    let schema = jsonschema::draft202012::new(&serde_json::from_str(SCHEMA).unwrap()).unwrap();
    for reference in crate::session::references() {
        for format in FORMATS {
            let mut out = Vec::new();
            (format.write)(reference.session(), &Look::default(), &mut out).unwrap();
            assert!(format.binary || out.ends_with(b"\n"), "{} {}", reference.id, format.id);
            if format.id == "json" {
                let document = serde_json::from_slice(&out).unwrap();
                let faults: Vec<String> = schema
                    .iter_errors(&document)
                    .map(|e| format!("{}: {e}", e.instance_path()))
                    .collect();
                assert_eq!(faults, Vec::<String>::new(), "{}", reference.id);
            }
        }
    }
}

#[test]
fn every_format_has_its_golden_text() {
    for format in FORMATS.iter().filter(|format| !format.binary) {
        let mut out = Vec::new();
        (format.write)(&testing::every(), &Look::default(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap().replace(env!("CARGO_PKG_VERSION"), "VERSION");
        let text = text
            .replace("\"library_build_type\": \"release\"", "\"library_build_type\": \"debug\"");
        // Snapshots need not repeat the assets.
        let text = text.replace(html::STYLE, "STYLE\n").replace(html::SCRIPT, "SCRIPT\n");
        insta::assert_snapshot!(format!("golden_{}", format.id), text);
    }
}

#[test]
fn a_closed_output_is_reported() {
    for format in FORMATS {
        let error = (format.write)(&testing::quick(), &Look::default(), &mut Closed).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe, "{}", format.id);
    }
}

/// Returns a session with arbitrary figures and texts.
fn odd(figures: Vec<[u64; 6]>, [name, message, error]: [String; 3], share: f64) -> Session {
    let mut session = testing::troubled();
    session.trials.truncate(figures.len());
    for (trial, [bytes, ops, nanos, user, cell, short]) in session.trials.iter_mut().zip(figures) {
        let trial = std::sync::Arc::make_mut(trial);
        (trial.bytes, trial.ops, trial.nanos, trial.user_nanos, trial.cell) =
            (bytes, ops, nanos, user, (cell % 24) as u32);
        trial.short = short % 2 == 0;
    }
    testing::warn(&mut session, 0, "odd", Severity::Misleading, [&message, &message, ""]);
    Arc::make_mut(session.verdicts[0].as_mut().unwrap()).source = Some(Source {
        device: share,
        page_cache: -share,
        hole: f64::NAN,
        unknown: 0.5,
        below: 0.0,
    });
    (session.errors[3], session.plan.target) =
        (Some(error), TargetSpec::New { path: name.into(), size: 0 });
    session
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn formats_accept_any_values(
        figures in prop::collection::vec(any::<[u64; 6]>(), 1..8),
        texts in any::<[String; 3]>(),
        share: f64,
        width in 0usize..200,
        ascii: bool,
    ) {
        let session = odd(figures, texts, share);
        for format in FORMATS.iter().filter(|format| !format.binary) {
            let mut out = Vec::new();
            let look = Look { width, ascii, ..Look::default() };
            prop_assert!((format.write)(&session, &look, &mut out).is_ok(), "{}", format.id);
            let text = String::from_utf8(out).unwrap();
            prop_assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{}", format.id);
        }
    }
}

proptest! {
    // Rendering takes longer than writing.
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn pictures_accept_any_values(
        figures in prop::collection::vec(any::<[u64; 6]>(), 1..8),
        texts in any::<[String; 3]>(),
        share: f64,
        spread in prop::sample::select(vec![Spread::Auto, Spread::Linear, Spread::Log]),
    ) {
        let session = odd(figures, texts, share);
        for format in FORMATS.iter().filter(|format| format.binary) {
            let mut out = Vec::new();
            let written = (format.write)(&session, &Look { scale: spread, ..Look::default() }, &mut out);
            prop_assert!(written.is_ok() && tiny_skia::Pixmap::decode_png(&out).is_ok(), "{}", format.id);
        }
    }
}

#[test]
fn reports_show_outcomes_of_expectations() {
    let mut session = testing::quick();
    let wanted = ["p99<10ms".parse().unwrap()];
    session.plan.expect = Profiles::built_in().expectations(&wanted).unwrap();
    for format in ["table", "markdown", "html"] {
        let mut out = Vec::new();
        let format = find_format(format).unwrap();
        (format.write)(&session, &Look::default(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("p99"), "{}: {text}", format.id);
    }
}

/// Returns a session of these cells; the rates of their trials scatter by this share on both sides.
fn scattered(cells: Vec<Job>, rate: f64, spread: f64) -> Session {
    let like = testing::Like::new(cells[0].block as f64 / rate * 1e9, 0.0, Some(testing::DEVICE));
    let mut session = testing::measured(cells, 5, like);
    for trial in session.trials.iter_mut().map(Arc::make_mut) {
        // No order: a rise would be a change during the run.
        let off = [0.0, 1.0, -0.5, -1.0, 0.5][trial.round as usize % 5];
        trial.nanos = (trial.bytes as f64 / rate / (1.0 + spread * off) * 1e9) as u64;
    }
    session
}

/// Returns a session in a format of text, on one line.
fn written(session: &Session, id: &str) -> String {
    let mut out = Vec::new();
    let format = if id == "svg card" { &card::AS_SVG } else { find_format(id).unwrap() };
    (format.write)(session, &Look { width: 200, details: false, ..Look::default() }, &mut out)
        .unwrap();
    String::from_utf8(out).unwrap().replace('\n', " ")
}

fn glance_text(session: &Session) -> String {
    let (results, probes) = (analysis::results(session), analysis::probes(session));
    let answer = analysis::answer_with(session, &results, &probes);
    let glance = analysis::glance(session, &results, &probes, &answer);
    card::glance_text(&glance, &Look::default())
}

/// Half widths of intervals, and `3.72` and `3722` with the digits that they allow.
const WIDTHS: [(f64, &str, &str); 4] =
    [(0.04, "3.72", "3722"), (0.14, "3.7", "3700"), (0.25, "3.7", "3700"), (0.41, "~3.7", "~3700")];

#[test]
fn every_writer_rounds_wide_figures() {
    let job = || vec![Job { direct: true, ..testing::job("uring", 1 << 20, Cache::AsIs) }];
    for (spread, number, _) in WIDTHS {
        let session = scattered(job(), 3.72 * 1_073_741_824.0, spread);
        let rate = format!("{number} GiB/s");
        for (writer, text) in [
            ("text", glance_text(&session)),
            ("page", written(&session, "table")),
            ("markdown", written(&session, "markdown").replace('\\', "")),
            ("html", written(&session, "html")),
        ] {
            assert!(
                text.contains(&format!(" {rate}")) || text.contains(&format!(">{rate}")),
                "{writer}: {rate}: {text}"
            );
        }
        let card = written(&session, "svg card");
        assert!(card.contains(&format!(">{number}</text>")), "{number}: {card}");
        assert_eq!(card.contains("±25 %, 2.8 to "), spread == 0.25, "{card}");
        // Data for programs keeps its digits.
        for id in ["json", "csv"] {
            assert!(written(&session, id).contains("399431"), "{id}");
        }
    }
}

#[test]
fn scoreboards_round_wide_figures() {
    let row = |depth, block| Job {
        depth,
        block,
        direct: true,
        ..testing::job("uring", block, Cache::AsIs)
    };
    for (spread, _, number) in WIDTHS {
        let cells = vec![row(8, 1 << 20), row(32, 128 << 10)];
        let session = scattered(cells, 3722e6, spread);
        for (writer, text) in
            [("text", glance_text(&session)), ("page", written(&session, "table"))]
        {
            assert!(text.contains(&format!(" {number} ±")), "{writer}: {text}");
        }
        let html = written(&session, "html");
        assert!(html.contains(&format!(">{number} MB/s<")), "{html}");
        assert_eq!(html.contains("tile wide"), spread > 0.2, "{html}");
    }
}

#[test]
fn tables_of_questions_round_wide_figures() {
    for (spread, _, _) in WIDTHS {
        let read =
            |block| Job { pattern: Pattern::Random, ..testing::job("pread", block, Cache::Cold) };
        let session = scattered(vec![read(4096), read(65536)], 4096.0 / 63.7e-6, spread);
        let wanted = match spread {
            ..0.1 => "63.7",
            0.3.. => "~64",
            _ => "64",
        };
        for (writer, text) in [
            ("text", glance_text(&session)),
            ("page", written(&session, "table")),
            ("html", written(&session, "html")),
            ("card", written(&session, "svg card")),
        ] {
            let found = [" ", ">"].iter().any(|before| {
                [" ", "<"].iter().any(|after| text.contains(&format!("{before}{wanted}{after}")))
            });
            assert!(found, "{writer}: {wanted}: {text}");
        }
    }
}
